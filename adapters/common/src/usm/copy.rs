//! Copies between any two ranges of memory that a queue's device or the host can reach.

use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::deferral::{Deferring, Owned, by_function_that_may_block};
use crate::command::graph::GraphBuilder;
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased};
use crate::context::{Context, DeviceState};
use crate::driver::graphs::CopyNode;
use crate::driver::{Driver, MemoryKind};
use crate::object::error::{Error, Result};
use crate::object::params::Address;
use crate::pool::extent::known_kind;
use crate::stream::capture::Capture;
use crate::usm::from_application::submit_from;
use crate::usm::graph_writes;

/// `urEnqueueUSMMemcpy`.
///
/// # Errors
/// `INVALID_SIZE` for no bytes; what the native library answers.
pub fn memcpy<D: Driver>(
    enqueue: Enqueue<'_, D>,
    blocking: bool,
    to: Address,
    from: Address,
    size: usize,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::USM_MEMCPY);
    check_size("urEnqueueUSMMemcpy", size)?;
    // An `Address` is as the manual says: `size` bytes that stay valid until the copy has finished.
    let copy = Copy { device: &request.queue.device, to: to.addr(), from: from.addr(), size };
    // What goes past the last address is the native library's to refuse.
    submit_from(&request, blocking, from.addr()..from.addr().wrapping_add(size), copy)
}

/// Refuses a copy of no bytes.
///
/// # Errors
/// `INVALID_SIZE`.
#[inline(always)]
pub(crate) fn check_size(name: &str, size: usize) -> Result<()> {
    if size == 0 { Err(no_bytes(name)) } else { Ok(()) }
}

#[cold]
fn no_bytes(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{name}: size is 0"))
}

/// Whether the caller of the native copy could be made to wait until its stream gets there. The native library does so for memory
/// that it does not know, and between host memory (docs/native-facts.md): so a copy does not wait if it is known to have device
/// memory on one side and USM on the other.
pub(crate) fn may_wait<D: Driver>(context: &Context<D>, to: usize, from: usize) -> bool {
    let kinds = [to, from].map(|address| known_kind(context, address));
    kinds.contains(&None) || !kinds.contains(&Some(MemoryKind::Device))
}

/// A copy between ranges that are valid until it has finished.
pub(crate) struct Copy<'a, D: Driver> {
    pub(crate) device: &'a DeviceState<D>,
    pub(crate) to: usize,
    pub(crate) from: usize,
    pub(crate) size: usize,
}

impl<D: Driver> Command<D> for Copy<'_, D> {
    type Output = ();

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        // SAFETY: the ranges are valid, as whoever made the command was promised.
        self.device.transfer(move || unsafe { driver.copy_async(self.to, self.from, self.size, stream) })
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        graph_writes::note(self.device.driver, self.to..self.to.saturating_add(self.size));
        Ok(())
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let Self { to, from, size, .. } = self;
        let place = move |request: &Request<'_, D>| {
            erased::submit(request, Copy { device: &request.queue.device, to, from, size })
        };
        let may_wait = may_wait(&deferring.request.queue.context, to, from);
        Ok((by_function_that_may_block(may_wait, place), ()))
    }

    fn add_to(self, graph: &mut GraphBuilder<'_, D>) -> Result<()> {
        let Self { to, from, size, .. } = self;
        // SAFETY: the ranges are valid, as whoever made the command was promised.
        unsafe { graph.copy(&CopyNode::Range { to, from, size }) }.map(|_| ())
    }
}
