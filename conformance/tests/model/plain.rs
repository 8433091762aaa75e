//! Random programs of plain memory against what each block must hold: whatever is freed, and whenever, no block finds another's
//! bytes, and the context's figures add up.

#![allow(non_snake_case, reason = "entry points are named as in C")]

use crate::runner::plain::{count, run};

#[test]
fn programs_of_plain_memory_find_their_own_bytes_alone() {
    run(count());
}
