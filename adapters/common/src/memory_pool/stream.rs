//! What the memory of pools needs of a stream.
//!
//! The commands that take and free blocks know their stream's type and call it directly; through a trait object go only those
//! that seek other streams out: a full device, a pool that ends, an arena that looks for room. None of these methods waits
//! for a native call that another thread is inside of.

use std::sync::{Arc, Weak};

use crate::device::Device;
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::registry::{Claimed, Registry};
use crate::object::Object;
use crate::object::error::Result;

/// A stream that blocks are allocated and freed on.
pub trait PoolStream<D: Driver>: Send + Sync + 'static {
    /// The native stream.
    fn native(&self) -> &D::Stream;

    /// A number that no other stream of the process has.
    fn key(&self) -> u64;

    /// Whether its positions tell all the work that is on it: nobody else puts any there, and it does not capture.
    fn is_exact(&self) -> bool;

    /// Whether somebody else may put work on it, which has no position.
    fn has_foreign_work(&self) -> bool;

    /// The device that it is on.
    fn device(&self) -> &Arc<Object<Device<D>>>;

    /// Where its context finds blocks.
    fn registry(&self) -> &Arc<Registry<D>>;

    /// The stream for somebody who must not keep it alive.
    fn weak(&self) -> Weak<dyn PoolStream<D>>;

    /// Whether command `position` is known to have finished, without asking the device.
    fn is_completed(&self, position: u64) -> bool;

    /// The number of the last command that was enqueued.
    fn published_position(&self) -> u64;

    /// Whether nothing that was enqueued so far runs any more: it has finished, or the device is lost. So a lost device does not keep
    /// memory of the others for good, nor fails what is asked of them.
    ///
    /// # Errors
    /// What else the native library answers.
    fn runs_nothing(&self) -> Result<bool>;

    /// A native event for everything enqueued so far, with the position that it covers; `None` when all has finished and
    /// while a native call that can block is on its way.
    ///
    /// # Errors
    /// What the native library answers.
    fn record_marker_unless_calling(&self) -> Result<Option<(u64, PooledEvent<D>)>>;

    /// Takes the stream's lock once; `false` if its holder is inside a native call that can block.
    fn pass(&self) -> bool;

    /// Empties the free lists that `which` names. When the stream had nothing to do, what it freed in these backends is the
    /// pool's on return.
    ///
    /// # Errors
    /// What the native library answers; what could not be given back stays kept.
    fn flush(&self, which: &dyn Fn(&PoolBackend<D>) -> bool) -> Result<()>;

    /// Empties a pool's free lists and keeps nothing more of it.
    fn close_pool(&self, pool: u64);

    /// Takes a block of a backend that the stream keeps and whose last use comes before command `position` or is that command;
    /// without a position, one whose last use is known to have ended.
    /// Only tries the stream's lock, since the caller holds another stream's, and leaves a stream alone that another thread
    /// alone uses.
    fn take_freed_before(&self, backend: &PoolBackend<D>, size: usize, position: Option<u64>) -> Option<usize>;

    /// Takes a block back that nobody uses any more. Gives it back to the caller if the stream's queue is gone.
    ///
    /// # Errors
    /// What the native library answers; the block is nowhere then.
    fn take_back(&self, claimed: Claimed<D>, pointer: usize) -> Result<Option<Claimed<D>>>;
}
