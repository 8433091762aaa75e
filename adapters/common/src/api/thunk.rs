//! What the generated thunks name: C's types, the checks, the object behind each kind of handle, and parameters that belong
//! together.
//!
//! The specification's `ur_usm_pool_handle_t` is `UsmPool` here. Nothing but the thunks uses this module.

pub use ur_ffi::*;

pub use crate::adapter::Adapter;
pub use crate::context::Context;
pub use crate::device::Device;
pub use crate::driver::Driver;
pub use crate::enqueue::{Enqueue, EventOut};
pub use crate::error::Error;
pub use crate::event::{Event, WaitList};
pub use crate::guard;
pub use crate::kernel::Kernel;
pub use crate::mem::Mem;
pub use crate::object::params;
pub use crate::physical_memory::PhysicalMem;
pub use crate::platform::Platform;
pub use crate::pool::UsmPool;
pub use crate::program::Program;
pub use crate::queue::Queue;
pub use crate::sampler::Sampler;
