//! Events: status, waiting, lifetimes, callbacks, times, events that are signalled again, and the native calls that an
//! event may cost. Events that two processes share are in `virtual_memory_and_ipc`.

mod callback;
mod cost;
mod event;
mod kept_signals;
mod profiling;
mod reusable;
