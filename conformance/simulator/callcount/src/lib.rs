//! A CUDA driver library that counts: it exports the driver API's symbols, adds one to a counter and jumps on to the
//! library that `UR_CALLCOUNT_LIBRARY` names (`libcuda.so.1` without it). What an adapter really asks of the native
//! library can so be counted on any driver, the real one and simcuda, without a change to either side.
//!
//! It must never change a call: arguments, stack and answer pass through untouched, and a symbol that the real library
//! lacks is missing here too. The second needs a trick, since exports are fixed when a library is linked: at load, the
//! entries of this library's own dynamic symbol table that have nothing behind them are turned into undefined ones
//! ([`hide`]), so `dlsym` answers as it would for the real library. Stubs with an error code would have been simpler, but
//! adapters tell by a symbol's presence what a driver can do, and would take another path than on the real one.
//!
//! Three limits. Calls through the addresses of `cuGetExportTable`, and of symbols that are not in `symbols.txt`, are not
//! counted. Loading it takes some milliseconds for all the lookups, so a program's start is timed without it. And it is
//! for Linux with glibc on x86-64: the trampolines are two instructions of that machine.

#![allow(non_snake_case, reason = "exports keep their C names")]

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
compile_error!("callcount is for x86-64 Linux with glibc: its trampolines are machine code");

mod control;
mod hide;
mod load;
mod procs;
mod trampolines;
