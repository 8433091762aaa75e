//! Adapters, platforms, devices and contexts, and what holds for every entry point and every kind of object: counting
//! references, properties, native handles, bad handles, what is unsupported, many threads, and that the calling
//! thread's native state stays the application's.

mod adapter;
mod bad_handles;
mod context;
mod context_deleter;
mod coverage;
mod device;
mod every_property;
mod extensions;
mod lent_handles;
mod native_contexts;
mod native_handles;
mod peer_access;
mod platform;
mod select_binary;
mod thread_state;
mod threads;
mod unsupported;
