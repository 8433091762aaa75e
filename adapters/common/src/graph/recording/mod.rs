//! What is known of a command buffer while it is recorded: which commands come after which ([`dependencies`]), and the launches
//! that have no node of the native graph yet ([`launch_batch`]).

pub mod dependencies;
pub mod launch_batch;
