//! What ships, and what makes sure of it. One module a command, each with a `run` that takes the words behind the command's
//! name; [`compare`] leads to the commands of the other crate.

pub mod bundle;
pub mod compare;
pub mod dist;
pub mod generate;
pub mod test;
pub mod wheel;
