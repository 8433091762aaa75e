//! Random programs of one to eight threads on queues of both kinds: stream-ordered memory, copies, fills and kernels, blocks
//! that travel from thread to thread, ordered by events, barriers and waits. `UR_MODEL_THREADED` says how many programs,
//! `UR_MODEL_SEED` which, as in `runner/mod.rs`.

#![allow(non_snake_case, reason = "entry points are named as in C")]

use ur_conformance::{child, needs_sim};
use ur_model::Sabotage;

use crate::runner::fixture;
use crate::runner::threads::run;

#[test]
fn programs_of_several_threads_do_what_the_model_says() {
    run("programs_of_several_threads_do_what_the_model_says", 600, None);
}

#[test]
fn programs_of_several_threads_without_free_lists_do_what_the_model_says() {
    let test = "programs_of_several_threads_without_free_lists_do_what_the_model_says";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], || run(test, 400, None));
}

#[test]
fn a_program_of_several_threads_without_its_waits_is_caught() {
    let _ = needs_sim!(fixture());
    let test = "a_program_of_several_threads_without_its_waits_is_caught";
    let settings = [("UR_MODEL_THREADED", "500")];
    child::fails(test, &settings, "caught by program", || run(test, 500, Some(Sabotage::MissingWaits)));
}
