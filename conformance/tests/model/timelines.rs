//! Random programs of timelines against the model: queues in order and out of order, of one or two devices, and the host wait for
//! each other's values in any order of enqueues; some programs' host fails a timeline instead of signalling.

#![allow(non_snake_case, reason = "entry points are named as in C")]

use crate::runner::timelines::{count, run};

#[test]
fn programs_of_timelines_do_what_the_model_says() {
    run(count());
}
