//! A stream of no queue, for moving a buffer's bytes on behalf of no command.
//!
//! Finishing it blocks, so this is for first uses, release and native handles alone.

use std::sync::Arc;

use crate::buffer::pending_uses::CommandStream;
use crate::context::DeviceState;
use crate::driver::{Driver, StreamKind};
use crate::object::error::Result;

/// A stream that is taken for one piece of work and given back.
pub struct ScratchStream<'s, D: Driver> {
    state: &'s Arc<DeviceState<D>>,
    stream: D::Stream,
    location: usize,
}

impl<'s, D: Driver> ScratchStream<'s, D> {
    /// A stream of the device that has that index in its context.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(state: &'s Arc<DeviceState<D>>, location: usize) -> Result<Self> {
        Ok(Self { state, stream: state.native.take_stream(StreamKind::default())?, location })
    }

    /// Puts work on the stream and waits until the device has done it, failed or not.
    ///
    /// # Errors
    /// The work's, or what the native library answers to the wait.
    pub fn run<R>(&self, work: impl FnOnce(&CommandStream<'_, D>) -> Result<R>) -> Result<R> {
        let result = work(&CommandStream::new(self.state, &self.stream, None, self.location));
        let finished = self.state.driver.synchronize_stream(&self.stream);
        result.and_then(|result| finished.map(|()| result))
    }
}

impl<D: Driver> Drop for ScratchStream<'_, D> {
    fn drop(&mut self) {
        let is_idle = self.state.driver.stream_is_idle(&self.stream).unwrap_or(false);
        self.state.native.put_stream(StreamKind::default(), core::mem::take(&mut self.stream), is_idle);
    }
}
