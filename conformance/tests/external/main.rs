//! What other libraries of the process made: kernels of compiled host code, and memory and semaphores of another API: Vulkan on hardware, the simulated driver's own elsewhere. What needs Vulkan is
//! ignored unless it is asked for (`-- --ignored`), and fails where there is none.

mod host_symbol;
mod import;
mod memory;
mod round_trip;
mod semaphore;
mod timeline;
