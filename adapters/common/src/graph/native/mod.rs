//! Native graphs of the application's own: what a queue captured, instantiated and launched as it is.
//!
//! [`capture`] begins and ends captures of queues, which are [`crate::stream::capture`]'s; [`graph`] has the objects behind
//! graph handles, [`executable`] those of what can be launched. Must not look into what was captured: which commands a capture
//! can hold is said by the commands themselves ([`crate::command::Command::check_capture`]).

pub mod capture;
pub mod executable;
pub mod graph;
