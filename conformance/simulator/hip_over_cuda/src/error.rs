//! CUDA's statuses as HIP's, and each thread's last error.
//!
//! The one place where a CUDA status becomes a HIP one. A status that HIP has under the same number and meaning stays;
//! the rest is listed here.

use core::cell::Cell;

use crate::cuda::CUresult;
use crate::sys::status::*;

thread_local! {
    /// The last real error, until it is asked for.
    static LAST: Cell<hipError_t> = const { Cell::new(hipSuccess) };
    /// What the last call answered, success included.
    static LAST_CALL: Cell<hipError_t> = const { Cell::new(hipSuccess) };
}

/// Notes what a call answered. By ROCm 7's rule neither success nor "not ready" touches the last error.
pub fn note(status: hipError_t) {
    LAST_CALL.set(status);
    if status != hipSuccess && status != hipErrorNotReady {
        LAST.set(status);
    }
}

/// The thread's last error, forgotten by being asked for.
pub fn take_last() -> hipError_t {
    LAST_CALL.set(hipSuccess);
    LAST.replace(hipSuccess)
}

/// The thread's last error.
pub fn last() -> hipError_t {
    LAST.get()
}

/// What the thread's last call answered, forgotten by being asked for.
pub fn take_last_call() -> hipError_t {
    LAST_CALL.replace(hipSuccess)
}

/// The HIP status of a CUDA one.
#[cold]
pub fn of(status: CUresult) -> hipError_t {
    match status.0 {
        // A stub library, a driver that is too old or does not fit.
        34 | 36 | 803 | 804 => hipErrorInsufficientDriver,
        // A lost device; link and containment failures; code that went wrong in a way HIP does not name.
        46 | 220 | 226 | 703 | 714..=718 | 721 | 810 | 911 => hipErrorLaunchFailure,
        711 => hipErrorPeerAccessUnsupported,
        221 | 223..=225 | 811 | 812 => hipErrorNotSupported,
        222 => hipErrorInvalidKernelFile,
        // A call inside a host function.
        800 => hipErrorIllegalState,
        802 => hipErrorNotInitialized,
        912 => hipErrorInvalidConfiguration,
        same if (200..=219).contains(&same) && describe(hipError_t(same)).is_none() => hipErrorUnknown,
        same @ (0..=8 | 100 | 101 | 200..=219 | 300..=304 | 400 | 401 | 500 | 600 | 700..=702 | 704 | 705) => {
            hipError_t(same)
        }
        same @ (708..=710 | 712 | 713 | 719 | 720 | 801 | 900..=908 | 910) => hipError_t(same),
        _ => hipErrorUnknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_cuda_becomes_one_that_hip_names() {
        for status in -1..1100 {
            let hip = of(CUresult(status));
            assert!(describe(hip).is_some(), "CUDA {status} became {hip:?}, which HIP does not name");
            assert_eq!(hip == hipSuccess, status == 0, "CUDA {status}");
        }
    }

    #[test]
    fn statuses_with_hips_number_but_another_meaning_do_not_pass() {
        assert_eq!(of(CUresult(911)), hipErrorLaunchFailure);
        assert_eq!(of(CUresult(912)), hipErrorInvalidConfiguration);
        assert_eq!(of(CUresult(9)), hipErrorUnknown);
    }

    #[test]
    fn asking_for_the_last_error_forgets_it_and_success_does_not() {
        note(hipErrorInvalidDevice);
        note(hipErrorNotReady);
        note(hipSuccess);
        assert_eq!(take_last_call(), hipSuccess);
        assert_eq!(last(), hipErrorInvalidDevice);
        assert_eq!(take_last(), hipErrorInvalidDevice);
        assert_eq!(take_last(), hipSuccess);
    }
}
