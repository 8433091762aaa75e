//! Timelines over semaphores of another API that have values: what [`crate::timeline::foreign`] promises of them, by the
//! import that [`super::external_semaphore`] made.

use std::sync::Arc;

use ur_ffi::{ur_ext_timeline_handle_t, ur_result_t};

use crate::command::Request;
use crate::context::Context;
use crate::driver::Driver;
use crate::ipc::external_semaphore::ExternalSemaphore;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::timeline::Timeline;
use crate::timeline::foreign::{Foreign, Use};
use crate::timeline::values::Values;

/// A timeline's hold on the import, which must not be released before.
struct OverSemaphore<D: Driver>(Arc<Object<ExternalSemaphore<D>>>);

impl<D: Driver> Foreign<D> for OverSemaphore<D> {
    fn put(&self, request: &Request<'_, D>, value: u64, what: Use) -> Result<()> {
        let name = if what == Use::Wait { "urEnqueueTimelineWaitExt" } else { "urEnqueueTimelineSignalExt" };
        ExternalSemaphore::put(&self.0, name, request, value, what == Use::Signal)
    }

    fn signal(&self, value: u64) -> Result<()> {
        self.0.signal_from_host(value)
    }
}

impl<D: Driver> Drop for OverSemaphore<D> {
    fn drop(&mut self) {
        self.0.count_timeline(false);
    }
}

/// `urTimelineCreateWithExternalSemaphoreExt`.
///
/// # Errors
/// `INVALID_CONTEXT` for another context than the import's, `INVALID_VALUE` for a binary semaphore; what the native library
/// answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    semaphore: &Object<ExternalSemaphore<D>>,
    out: Out<'_, ur_ext_timeline_handle_t>,
) -> Result<()> {
    const NAME: &str = "urTimelineCreateWithExternalSemaphoreExt";
    if !semaphore.is_of(context) {
        let text = format!("{NAME}: hContext is not the context that hSemaphore was imported for; give that one");
        return Err(Error::new(ur_result_t::ERROR_INVALID_CONTEXT, text));
    }
    if !semaphore.is_timeline() {
        let text = format!("{NAME}: hSemaphore is binary; import a timeline semaphore");
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, text));
    }
    semaphore.count_timeline(true);
    let values = Values::of_foreign(context, Box::new(OverSemaphore(semaphore.to_arc())))?;
    out.write_object(Object::new(Timeline::over(values)));
    Ok(())
}
