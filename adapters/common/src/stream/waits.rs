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
    #[inline(always)]
    pub fn wait_for(&mut self, stream: &Stream<D>, event: &Event<D>) -> Result<()> {
        if core::ptr::eq(Arc::as_ptr(&event.stream), stream) || event.is_known_complete() {
            return Ok(());
        }
        if unlikely!(event.is_off_stream()) {
            return self.wait_for_off_stream(stream, event);
        }
        self.wait_for_native(stream, event)
    }

    #[cold]
    #[inline(never)]
    fn wait_for_off_stream(&mut self, stream: &Stream<D>, event: &Event<D>) -> Result<()> {
        match event.as_deferred() {
            // Of what was never submitted nothing is to be waited for.
            Some(promise) => promise.event().map_or(Ok(()), |submitted| self.wait_for(stream, submitted)),
            None => match event.submitted_signal() {
                Some(signal) => self.wait_for(stream, &signal),
                None => event.let_wait(stream),
            },
        }
    }

    /// As [`StreamState::wait_for`], for an event of which is known that it is a command's of another stream and not complete.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline(always)]
    pub fn wait_for_native(&mut self, stream: &Stream<D>, event: &Event<D>) -> Result<()> {
        let Some(marker) = event.marker() else { return Ok(()) };
        let (key, position) = (event.stream.key, event.position);
        let before = self.waited.iter_mut().find(|(stream, _)| *stream == key);
        if before.as_ref().is_some_and(|(_, upto)| *upto >= position) {
            return Ok(());
        }
        stream.driver.stream_wait(&stream.native, marker.raw())?;
        match before {
            Some((_, upto)) => *upto = position,
            None => self.remember_wait(key, position),
        }
        Ok(())
    }

    /// Remembers the first wait for a stream.
    #[cold]
    fn remember_wait(&mut self, key: u64, position: u64) {
        if self.waited.len() == REMEMBERED_WAITS {
            self.waited.remove(0);
        }
        self.waited.push((key, position));
    }
}
