//! Kernels: properties, arguments, work sizes, launches, and launches in clusters or of groups that are resident
//! together.

mod arguments;
mod arguments_one_by_one;
mod cluster;
mod cooperative;
mod fixed_work_group;
mod kernel;
mod launch;
mod local_size;
