//! A context's own stream on a device, for memory that comes and goes without a queue.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::context::Context;
use crate::device::Device;
use crate::driver::{Driver, StreamKind};
use crate::object::Object;
use crate::object::error::Result;
use crate::stream::Stream;

/// The stream as the context keeps it: what it keeps of pools goes back with the context.
struct Service<D: Driver> {
    stream: Mutex<Option<Arc<Stream<D>>>>,
}

impl<D: Driver> Drop for Service<D> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.get_mut().take() {
            // The context has ended, and with it everybody who would ask the stream.
            drop(stream.retire());
        }
    }
}

/// The stream for memory of a device that comes and goes without a queue, made when it is first asked for.
///
/// # Errors
/// As [`Context::state`]; what the native library answers to a new stream.
pub fn service_stream<D: Driver>(context: &Context<D>, device: &Object<Device<D>>) -> Result<Arc<Stream<D>>> {
    let state = context.state(device)?;
    let service = context.service(device)?.get_or_make(|| Service::<D> { stream: Mutex::new(None) });
    let mut stream = service.stream.lock();
    if let Some(stream) = &*stream {
        return Ok(Arc::clone(stream));
    }
    Ok(Arc::clone(stream.insert(Stream::new(state, &context.registry, StreamKind::default())?)))
}
