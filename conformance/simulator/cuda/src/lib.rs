//! The CUDA driver API over host memory: a GPU for machines that have none.
//!
//! `ptx` turns PTX text into checked, decoded functions; `exec` runs them; `api` and the modules beside it
//! are the driver: devices, contexts, streams, events, pools, modules. It must behave as the real driver
//! does where a client can tell the difference, and must report what the real driver would silently let
//! pass: wrong current context, native calls inside host functions, memory touched after its
//! stream-ordered free, objects leaked at exit. It is never loaded unless `UR_CUDA_LIBRARY` names it.

pub mod api;
pub mod exec;
pub mod ptx;
pub mod sys;

mod alloc;
mod array;
mod channel;
mod clock;
mod command;
mod config;
mod context;
mod copy;
mod counts;
mod device;
mod event;
mod external;
mod external_semaphore;
mod faults;
mod graph;
mod handles;
mod image;
mod ipc;
mod kernel;
mod leaks;
mod linker;
mod memory;
mod module;
mod occupancy;
mod pool;
mod region;
mod reports;
mod shared_event;
mod stream;
mod vmm;
mod waiting;
