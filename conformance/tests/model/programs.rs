//! Random programs of stream-ordered allocation, compared with an independent model: every kernel checks and overwrites its
//! block, so a block that was handed out too early is seen; every figure and every refusal is the model's.

#![allow(non_snake_case, reason = "entry points are named as in C")]

use ur_conformance::{child, needs_sim};
use ur_model::Sabotage;

use crate::runner::families::{Family, GATES, IN_ORDER, OUT_OF_ORDER, STATISTICS, TWO_DEVICES};
use crate::runner::{fixture, run, run_in};

#[test]
fn programs_of_in_order_queues_do_what_the_model_says() {
    run(IN_ORDER, None);
}

#[test]
fn programs_of_out_of_order_queues_do_what_the_model_says() {
    run(OUT_OF_ORDER, None);
}

#[test]
fn programs_over_two_devices_do_what_the_model_says() {
    run(TWO_DEVICES, None);
}

#[test]
fn pools_and_their_statistics_do_what_the_model_says() {
    run(STATISTICS, None);
}

#[test]
fn work_before_a_closed_gate_finishes_whatever_comes_behind_it() {
    run(GATES, None);
}

/// The suite's own sharpness: a program that breaks a rule is found out.
fn is_caught(test: &str, family: Family, sabotage: Sabotage, words: &str) {
    let settings = [("UR_MODEL_PROGRAMS", "2000"), ("UR_MODEL_PATIENCE", "2"), ("UR_MODEL_SHRINK", "0")];
    child::fails(test, &settings, words, || run(family, Some(sabotage)));
}

#[test]
fn a_program_without_its_waits_is_caught() {
    let _ = needs_sim!(fixture());
    is_caught("a_program_without_its_waits_is_caught", IN_ORDER, Sabotage::MissingWaits, "caught by program");
}

#[test]
fn a_kernel_that_uses_a_freed_block_is_caught() {
    let _ = needs_sim!(fixture());
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

/// What fails once and for all fails for the smaller programs too, and between them.
#[test]
fn a_native_call_that_fails_for_good_is_caught() {
    let fixture = fixture();
    let _ = needs_sim!(fixture);
    // The world around the programs trims its pools before the first of them.
    let fails = ("SIMCUDA_FAULTS", "cuMemPoolTrimTo:20:1:0");
    let settings = [fails, ("UR_MODEL_PATIENCE", "2"), ("UR_MODEL_SHRINK", "1")];
    child::fails("a_native_call_that_fails_for_good_is_caught", &settings, "\ncaught by program", || {
        run_in(&fixture, STATISTICS, 200, 0, None);
    });
}

/// Among them are frees of what a test's own objects end with, which panic.
#[test]
fn whichever_free_fails_is_caught() {
    let fixture = fixture();
    let _ = needs_sim!(fixture);
    for number in 4..16 {
        let fails = format!("cuMemFree_v2:{number}:1:1");
        // Memory that nothing keeps: each free is a native one.
        // What was not freed is looked for until patience ends.
        let patience = ("UR_MODEL_PATIENCE", "2");
        let settings = [("SIMCUDA_FAULTS", fails.as_str()), ("UR_USM_POOL", "0"), ("UR_MODEL_SHRINK", "0"), patience];
        child::fails("whichever_free_fails_is_caught", &settings, "\ncaught by program", || {
            run_in(&fixture, STATISTICS, 200, 0, None);
        });
    }
}
