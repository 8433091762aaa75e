//! Virtual and physical memory, memory that other APIs get, and memory and events that two processes share. The tests
//! of two processes start the second one themselves.

mod memory_export;
mod physical_memory;
mod shared_event;
mod shared_memory;
mod virtual_memory;
