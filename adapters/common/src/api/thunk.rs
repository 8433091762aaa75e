//! What the generated thunks name: C's types, the checks, the object behind each kind of handle, and parameters that belong
//! together.
//!
//! The specification's `ur_usm_pool_handle_t` is `UsmPool` here, and `ur_exp_command_buffer_handle_t` `ExpCommandBuffer`. Nothing but the thunks uses this module.

pub use ur_ffi::*;

pub use crate::api::guard;
pub use crate::command::{Enqueue, EventOut, event_input};
pub use crate::context::Context;
pub use crate::device::Device;
pub use crate::device::adapter::Adapter;
pub use crate::device::platform::Platform;
pub use crate::driver::Driver;
pub use crate::graph::append::Append;
pub use crate::graph::command::BufferCommand as ExpCommandBufferCommand;
pub use crate::graph::command_buffer::CommandBuffer as ExpCommandBuffer;
pub use crate::graph::native::executable::ExecutableGraph as ExpExecutableGraph;
pub use crate::graph::native::graph::Graph as ExpGraph;
pub use crate::graph::recording::dependencies::SyncPoints;
pub use crate::image::sampler::Sampler;
pub use crate::ipc::external_memory::ExternalMemory as ExpExternalMem;
pub use crate::ipc::external_semaphore::ExternalSemaphore as ExpExternalSemaphore;
pub use crate::kernel::Kernel;
pub use crate::memory_object::Mem;
pub use crate::object::error::Error;
pub use crate::object::info::InfoWriter;
pub use crate::object::{Held, params};
pub use crate::pool::UsmPool;
pub use crate::program::Program;
pub use crate::queue::Queue;
pub use crate::stream::event::{Event, WaitList};
pub use crate::timeline::Timeline as ExtTimeline;
pub use crate::usm::virtual_memory::physical::PhysicalMem;
