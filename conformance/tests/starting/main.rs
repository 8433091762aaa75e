//! Starting and stopping, and the suite's own promises. Nearly every test here runs in a child process of its own,
//! because it needs another environment, a library that is broken, or a process that has not started yet.

mod harness;
mod loader;
mod unloading;
