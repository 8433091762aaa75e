//! Graphs that queues capture: what a capture records and a launch does, forks over events, queues out of order, memory, what is refused, and the
//! graph objects.

mod buffers;
mod capture;
mod forks;
mod graphs;
mod images;
mod memory;
mod out_of_order;
mod refused;
