//! Keeps panics inside: whatever goes wrong in the loader's own entry points comes out as a result. The child of a fork
//! gets no further than here.

use crate::fork;
use crate::log;
use std::panic::{AssertUnwindSafe, catch_unwind};
use ur_ffi::ur_result_t;

/// Runs the body of the entry point `name`. The body returns early with the error to answer.
pub fn guard(name: &str, body: impl FnOnce() -> Result<(), ur_result_t>) -> ur_result_t {
    if fork::is_child() {
        log::error_if_open(format_args!(
            "{name}: this process was forked from one that had initialised the loader, which does not work here; call \
             exec first, or fork before urLoaderInit"
        ));
        return ur_result_t::ERROR_UNINITIALIZED;
    }
    // Nothing of the loader's is left half-changed by a panic: state is replaced as a whole, under its lock.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ur_result_t::SUCCESS,
        Ok(Err(result)) => result,
        Err(payload) => {
            // The payload's own drop may panic too, so it is leaked.
            std::mem::forget(payload);
            log::error(format_args!("{name}: internal error of the loader (a panic); please report it"));
            ur_result_t::ERROR_UNKNOWN
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_pass_through_and_a_panic_becomes_one() {
        assert_eq!(guard("f", || Ok(())), ur_result_t::SUCCESS);
        assert_eq!(guard("f", || Err(ur_result_t::ERROR_INVALID_VALUE)), ur_result_t::ERROR_INVALID_VALUE);
        assert_eq!(guard("f", || panic!("on purpose")), ur_result_t::ERROR_UNKNOWN);
    }
}
