//! Images of one to three dimensions and arrays of them, samplers, copies, and what kernels read and write.

mod arrays;
mod arrays_in_kernels;
mod copy;
mod image;
mod kernel_arguments;
mod release;
mod sampler;
