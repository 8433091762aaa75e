//! USM memory: allocations and what is told of them, memory in rows, registered and imported host memory, prefetch and
//! advice. Commands that copy and fill are in `transfer`, pools in `pools`.

mod allocation;
mod guards;
mod host_register;
mod out_of_memory;
mod plain;
mod plain_kept;
mod plain_order;
mod prefetch_advise;
mod rows;
mod rows_from_pools;
