//! Queues: flags and properties, finishing, which commands may overtake which, and what must not wait for a native call
//! that blocks; timelines.

mod blocked_launches;
mod blocking;
mod blocking_enqueues;
mod deferred_memory;
mod deferring;
mod device_wait;
mod kept;
mod many_calls;
mod order;
mod overtaking;
mod ownership;
mod queue;
mod thread_ends;
mod timelines;
