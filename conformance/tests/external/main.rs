//! Memory and semaphores of another API: Vulkan on hardware, the simulated driver's own elsewhere. What needs Vulkan is
//! ignored unless it is asked for (`-- --ignored`), and fails where there is none.

mod import;
mod memory;
mod round_trip;
mod semaphore;
