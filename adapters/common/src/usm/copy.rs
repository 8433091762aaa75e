//! Copies between any two ranges of memory that a queue's device or the host can reach.

use core::ffi::c_void;

use ur_ffi::{CBool, ur_command_t, ur_event_handle_t, ur_queue_handle_t, ur_result_t};

use crate::command::submission::Submission;
use crate::command::{Command, Request, submit, submit_and_wait};
use crate::context::DeviceState;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;
use crate::sync::unlikely::unlikely;

/// `urEnqueueUSMMemcpy`.
///
/// # Safety
/// The C contract: both ranges are valid for `size` bytes until the copy has finished.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; as [`Request::new`]; what the native library answers.
pub unsafe fn memcpy<D: Driver>(
    queue: ur_queue_handle_t,
    blocking: CBool,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::USM_MEMCPY, count, waits, event) }?;
    if to.is_null() || from.is_null() {
        return Err(null_pointer("urEnqueueUSMMemcpy"));
    }
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, "urEnqueueUSMMemcpy: size is 0"));
    }
    let (to, from) = (to.addr(), from.addr());
    let copy = Copy { device: &request.queue.device, to, from, size };
    if unlikely(blocking.get()) { submit_and_wait(&request, copy) } else { submit(&request, copy) }
}

/// A copy between ranges that are valid until it has finished.
struct Copy<'a, D: Driver> {
    device: &'a DeviceState<D>,
    to: usize,
    from: usize,
    size: usize,
}

impl<D: Driver> Command<D> for Copy<'_, D> {
    type Output = ();

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        // SAFETY: the ranges are valid, as whoever made the command was promised.
        self.device.transfer(move || unsafe { driver.copy_async(self.to, self.from, self.size, stream) })
    }
}
