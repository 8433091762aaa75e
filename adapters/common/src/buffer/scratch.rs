//! A stream for one errand: moving a buffer's bytes where no queue is at hand.
//!
//! Finishing it blocks, so this is for first uses, release and native handles alone.

use std::sync::Arc;

use crate::buffer::pending_uses::Site;
use crate::context::DeviceState;
use crate::driver::{Driver, StreamKind};
use crate::object::error::Result;

/// A stream that lives as long as its errand.
pub struct ScratchStream<'s, D: Driver> {
    state: &'s Arc<DeviceState<D>>,
    stream: D::Stream,
    here: usize,
}

impl<'s, D: Driver> ScratchStream<'s, D> {
    /// A stream of the device that has that index in its context.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(state: &'s Arc<DeviceState<D>>, here: usize) -> Result<Self> {
        Ok(Self { state, stream: state.native.take_stream(StreamKind::default())?, here })
    }

    /// Runs the errand and waits until the device has done it, failed or not.
    ///
    /// # Errors
    /// The errand's, or what the native library answers to the wait.
    pub fn run<R>(&self, errand: impl FnOnce(&Site<'_, D>) -> Result<R>) -> Result<R> {
        let result = errand(&Site { device: self.state, stream: self.stream, queue: None, here: self.here });
        let finished = self.state.driver.synchronize_stream(self.stream);
        result.and_then(|result| finished.map(|()| result))
    }
}

impl<D: Driver> Drop for ScratchStream<'_, D> {
    fn drop(&mut self) {
        let is_idle = self.state.driver.stream_is_idle(self.stream).unwrap_or(false);
        self.state.native.put_stream(StreamKind::default(), self.stream, is_idle);
    }
}
