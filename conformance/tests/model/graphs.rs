//! Random programs of command buffers against the model: fills, copies and kernels in a random graph, launched and changed
//! in turn; every kernel checks what lies in its cell, and every launch's results are compared.

#![allow(non_snake_case, reason = "entry points are named as in C")]

use crate::runner::graphs::{count, run};

#[test]
fn programs_of_command_buffers_do_what_the_model_says() {
    run(count());
}
