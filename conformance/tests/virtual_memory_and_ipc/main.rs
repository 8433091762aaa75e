//! Virtual and physical memory, memory that other APIs get, and memory and events that two processes share. The tests
//! of two processes start the second one themselves.

mod closed_elsewhere;
mod memory_export;
mod peers;
mod physical_memory;
mod shared_event;
mod shared_memory;
mod shared_physical_memory;
mod shared_timeline;
mod shared_timeline_ends;
mod virtual_memory;
