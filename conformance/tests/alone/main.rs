//! What needs a process in which no other test runs: a fork copies this process as it is, with the locks that its other
//! threads hold at that moment, so none of them may belong to a test that knows nothing of the fork. `main.rs` has one
//! module, and stays apart from the other binaries for that.

mod fork;
