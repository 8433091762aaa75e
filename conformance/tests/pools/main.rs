//! Pools and stream-ordered memory: what a pool is made of and says of itself, limits and what happens when there is no
//! more memory, which blocks are given again to whom, and many threads on one pool. Random programs of the same are in
//! `model`, failures of native calls in `faults`.
//!
//! `limits` and `stream_ordered` fill the device, so on a real one nobody else may use it meanwhile.

mod blocks_as_memory;
mod create;
mod free_lists;
mod info;
mod limits;
mod many_threads;
mod order;
mod out_of_memory;
mod over_caller_memory;
mod policy;
mod prefill;
mod shared;
mod slab_peers;
mod slab_reuse;
mod slabs;
mod stream_ordered;
