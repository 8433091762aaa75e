//! Random programs of stream-ordered allocation, compared with an independent model: every kernel checks and overwrites its
//! block, so a block that was handed out too early is seen; every figure and every refusal is the model's.

#![allow(non_snake_case, reason = "entry points are named as in C")]

mod model_programs;

use model_programs::{Family, run};
use ur_conformance::{Fixture, child, needs_sim};
use ur_model::{Profile, Sabotage};

const IN_ORDER: Family = Family {
    profile: Profile {
        name: "in order",
        queues: 3,
        devices: 1,
        out_of_order: 0,
        ops: 40,
        churn: 10,
        pools: 0,
        gates: 0,
    },
    percent: 30,
};

const OUT_OF_ORDER: Family =
    Family { profile: Profile { name: "out of order", out_of_order: 6, ..IN_ORDER.profile }, percent: 20 };

const TWO_DEVICES: Family = Family {
    profile: Profile { name: "two devices", queues: 4, devices: 2, out_of_order: 2, ..IN_ORDER.profile },
    percent: 15,
};

const STATISTICS: Family =
    Family { profile: Profile { name: "statistics", out_of_order: 2, pools: 8, ..IN_ORDER.profile }, percent: 20 };

const GATES: Family =
    Family { profile: Profile { name: "gates", out_of_order: 2, gates: 8, ..IN_ORDER.profile }, percent: 15 };

#[test]
fn programs_of_in_order_queues_do_what_the_model_says() {
    run("programs_of_in_order_queues_do_what_the_model_says", IN_ORDER, None);
}

#[test]
fn programs_of_out_of_order_queues_do_what_the_model_says() {
    run("programs_of_out_of_order_queues_do_what_the_model_says", OUT_OF_ORDER, None);
}

#[test]
fn programs_over_two_devices_do_what_the_model_says() {
    run("programs_over_two_devices_do_what_the_model_says", TWO_DEVICES, None);
}

#[test]
fn pools_and_their_statistics_do_what_the_model_says() {
    run("pools_and_their_statistics_do_what_the_model_says", STATISTICS, None);
}

#[test]
fn work_before_a_closed_gate_finishes_whatever_comes_behind_it() {
    run("work_before_a_closed_gate_finishes_whatever_comes_behind_it", GATES, None);
}

/// The suite's own sharpness: a program that breaks a rule is found out.
fn is_caught(test: &str, family: Family, sabotage: Sabotage, words: &str) {
    let settings = [("UR_MODEL_PROGRAMS", "2000"), ("UR_MODEL_PATIENCE", "2"), ("UR_MODEL_SHRINK", "0")];
    child::fails(test, &settings, words, || run(test, family, Some(sabotage)));
}

#[test]
fn a_program_without_its_waits_is_caught() {
    let _ = needs_sim!(Fixture::new());
    is_caught("a_program_without_its_waits_is_caught", IN_ORDER, Sabotage::MissingWaits, "caught by program");
}

#[test]
fn a_kernel_that_uses_a_freed_block_is_caught() {
    let _ = needs_sim!(Fixture::new());
    is_caught("a_kernel_that_uses_a_freed_block_is_caught", IN_ORDER, Sabotage::UseAfterFree, "caught by program");
}

#[test]
fn books_that_miss_a_free_are_caught() {
    is_caught("books_that_miss_a_free_are_caught", STATISTICS, Sabotage::WrongBooks, "USED_");
}

#[test]
fn a_wait_for_what_cannot_have_finished_is_caught() {
    let words = "does not become complete";
    is_caught("a_wait_for_what_cannot_have_finished_is_caught", GATES, Sabotage::WaitBehindGate, words);
}
