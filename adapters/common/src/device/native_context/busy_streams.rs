//! Streams without an owner that still have work, for a library that waits for the work before it ends a stream
//! ([`Driver::STREAM_ENDS_WAIT`]).
//!
//! Whoever lets go of a stream must not wait: `urQueueRelease` may come before what opens the stream's gate, and a host task may
//! let go of the stream that waits for the task. So a stream ends here once it is found idle, when others come or queues are
//! made, or with the native context, whose end may wait.
//!
//! Must never hold the lock of the list over a native call.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::driver::Driver;

/// Streams that are looked at each time: more than come each time, so what is over does not pile up.
const FEW: usize = 2;

/// A device's streams, the one that was looked at last behind all others.
pub(super) struct BusyStreams<D: Driver> {
    list: Mutex<VecDeque<D::Stream>>,
}

impl<D: Driver> Default for BusyStreams<D> {
    fn default() -> Self {
        Self { list: Mutex::default() }
    }
}

impl<D: Driver> BusyStreams<D> {
    /// Takes a stream that nobody has.
    pub(super) fn put(&self, stream: D::Stream) {
        self.list.lock().push_back(stream);
    }

    /// Ends those that are idle of a few.
    pub(super) fn end_a_few(&self, driver: &D) {
        (0..FEW).for_each(|_| self.look_at_next(driver));
    }

    /// Ends all that are idle.
    pub(super) fn end_idle(&self, driver: &D) {
        let count = self.list.lock().len();
        (0..count).for_each(|_| self.look_at_next(driver));
    }

    /// Ends all, and waits for the work of those that have some.
    pub(super) fn end_all(&self, driver: &D) {
        let all = core::mem::take(&mut *self.list.lock());
        for stream in all {
            // Nobody is left to tell.
            let _ = driver.destroy_stream(stream);
        }
    }

    fn look_at_next(&self, driver: &D) {
        let Some(stream) = self.list.lock().pop_front() else { return };
        // A stream that cannot be asked runs nothing any more.
        if driver.stream_is_idle(&stream).unwrap_or(true) {
            // Nobody is left to tell.
            let _ = driver.destroy_stream(stream);
        } else {
            self.put(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::noop::Noop;
    use crate::driver::{StreamKind, Streams as _};

    #[test]
    fn streams_that_are_idle_go_a_few_at_a_time() {
        let (driver, streams) = (Noop::default(), BusyStreams::<Noop>::default());
        for _ in 0..5 {
            streams.put(driver.create_stream(StreamKind::default()).unwrap());
        }
        let left = |look: &dyn Fn()| {
            look();
            streams.list.lock().len()
        };
        assert_eq!(left(&|| streams.end_a_few(&driver)), 3);
        assert_eq!(left(&|| streams.end_idle(&driver)), 0);
        streams.put(driver.create_stream(StreamKind::default()).unwrap());
        assert_eq!(left(&|| streams.end_all(&driver)), 0);
    }
}
