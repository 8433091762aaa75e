//! Who gives commands to a stream, as far as the events of those commands care.

use std::sync::Arc;

use ur_ffi::ur_queue_handle_t;

use crate::context::Context;
use crate::driver::Driver;
use crate::object::Object;

/// A queue, as the events of its commands know it and keep it alive.
pub trait Submitter<D: Driver>: Send + Sync {
    /// Its handle, without a new reference.
    fn handle(&self) -> ur_queue_handle_t;

    /// The address of what the handle's object holds, by which it is told apart while somebody holds it.
    fn address(&self) -> usize;

    /// Its context.
    fn context(&self) -> &Arc<Object<Context<D>>>;

    /// Another reference of the engine's own.
    fn to_submitter(&self) -> Arc<dyn Submitter<D>>;
}
