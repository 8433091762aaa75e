//! Native events: recorded on one stream, waited for by others and by the host.
//!
//! Manuals: CUDA Driver API, Event Management and Stream Management (`cuStreamWaitEvent`); HIP runtime API, Event
//! Management and Stream Management. When an event is recorded at all is decided in [`crate::stream`].

use super::{Handle, Streams};
use crate::object::error::Result;

/// What a native event is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPurpose {
    /// Order alone.
    Order,
    /// Order, and the time between two of them.
    Times,
    /// Order among processes; no times.
    Processes,
}

/// Events.
pub trait Events: Streams {
    /// `CUevent` / `hipEvent_t`.
    type Event: Handle;

    /// An event that counts as completed until it is recorded. **Needs the context.** `cuEventCreate` with timing, without,
    /// or `INTERPROCESS` / `hipEventCreateWithFlags`.
    fn create_event(&self, purpose: EventPurpose) -> Result<Self::Event>;
    /// Ends an event; who waits for it already goes on to do so. `cuEventDestroy`.
    fn destroy_event(&self, event: Self::Event) -> Result<()>;
    /// The event stands for everything submitted to the stream so far. `cuEventRecord`.
    fn record_event(&self, event: &Self::Event, stream: &Self::Stream) -> Result<()>;
    /// Whether the recorded work has finished. `cuEventQuery`.
    fn event_is_complete(&self, event: &Self::Event) -> Result<bool>;
    /// Blocks until the recorded work has finished. `cuEventSynchronize`.
    fn synchronize_event(&self, event: &Self::Event) -> Result<()>;
    /// Later work of `stream` waits for what `event` was last recorded for. `cuStreamWaitEvent`.
    fn stream_wait(&self, stream: &Self::Stream, event: &Self::Event) -> Result<()>;
    /// Nanoseconds between two completed timing events, negative when `end` came first. `cuEventElapsedTime`.
    fn elapsed_ns(&self, start: &Self::Event, end: &Self::Event) -> Result<i64>;
}
