//! A model of stream-ordered allocation, made from the contract (`docs/stream-ordered.md`) alone: a plain list of queues,
//! blocks, pools and events, and which command happens before which.
//!
//! A random program is a list of [`Op`]s. Each is a handful of numbers without meaning of its own; [`Model::plan`] reads it
//! against what exists at that point and answers the [`Step`]s to take: legal calls with everything the contract says about
//! their answers. So every list of ops is a legal program, and so is every list with some ops left out, which makes
//! shrinking work. A command uses a block only if it is ordered after the block's allocation and after the uses that it
//! must not overtake, and a free only follows every use; where the order is missing, the step waits for the events that
//! give it.
//!
//! [`graphs`] plans command buffers, [`threads`] programs of several threads and [`timelines`] those of timelines, each from a seed.
//!
//! This crate must never know how an adapter works, and never call one: the conformance suite takes the steps
//! (`conformance/tests/model`).

mod blocks;
pub mod graphs;
pub mod op;
pub mod order;
pub mod plan;
mod pools;
pub mod set;
pub mod state;
pub mod step;
pub mod threads;
pub mod timelines;
mod wrong;

pub use op::{Op, Profile, program};
pub use plan::Model;
pub use state::{Abilities, Block, Content, Flavour, Kind, Sabotage};
pub use step::{Mistake, Step};
pub use threads::Threaded;
