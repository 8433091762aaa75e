//! Making a stream wait for events of others, unless that is known to be needless.

use std::sync::Arc;

use crate::driver::Driver;
use crate::object::error::Result;
use crate::stream::event::Event;
use crate::stream::{Stream, StreamState};
use crate::sync::unlikely::unlikely;

/// Other streams whose progress a stream remembers to have waited for.
const REMEMBERED_WAITS: usize = 16;

impl<D: Driver> StreamState<D> {
    /// Makes the stream wait for an event of another stream that [`Stream::ensure_recorded`] has seen, unless that is
    /// known to be needless.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait_for(&mut self, stream: &Stream<D>, event: &Event<D>) -> Result<()> {
        if core::ptr::eq(Arc::as_ptr(&event.stream), stream) || event.is_known_complete() {
            return Ok(());
        }
        if unlikely(event.is_off_stream()) {
            return match event.as_deferred() {
                // Of what was never submitted nothing is to be waited for.
                Some(promise) => promise.event().map_or(Ok(()), |submitted| self.wait_for(stream, submitted)),
                None => event.let_wait(stream),
            };
        }
        if let Some(marker) = event.marker() {
            if self.has_waited(event.stream.key, event.position) {
                return Ok(());
            }
            stream.device.driver.stream_wait(&stream.native, marker.raw())?;
            self.remember_wait(event.stream.key, event.position);
        }
        Ok(())
    }

    fn has_waited(&self, key: u64, position: u64) -> bool {
        self.waited.iter().any(|(stream, upto)| *stream == key && *upto >= position)
    }

    fn remember_wait(&mut self, key: u64, position: u64) {
        if let Some(entry) = self.waited.iter_mut().find(|(stream, _)| *stream == key) {
            entry.1 = entry.1.max(position);
            return;
        }
        if self.waited.len() == REMEMBERED_WAITS {
            self.waited.remove(0);
        }
        self.waited.push((key, position));
    }
}
