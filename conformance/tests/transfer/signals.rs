//! Signals of the process: the adapter's threads leave them to the application's, and run its functions with its mask.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use ur_conformance::ffi::{ur_event_handle_t, ur_execution_info_t};
use ur_conformance::{Event, Fixture, Gate, Kind, Timeline, child, has_function, needs_sim, ok, timeline};

/// Whether the calling thread blocks a signal.
fn blocks(signal: libc::c_int) -> bool {
    // SAFETY: a set of zeros is one; the calls write it and read it.
    unsafe {
        let mut mask: libc::sigset_t = core::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, null(), &raw mut mask);
        libc::sigismember(&raw const mask, signal) == 1
    }
}

extern "C" fn task(data: *mut c_void) {
    // SAFETY: the sender was given away for one call.
    let _ = unsafe { Box::from_raw(data.cast::<Sender<bool>>()) }.send(blocks(libc::SIGTERM));
}

extern "C" fn callback(_: ur_event_handle_t, _: ur_execution_info_t, data: *mut c_void) {
    task(data);
}

/// What a function of the application is to tell of its thread.
fn told() -> (*mut c_void, Receiver<bool>) {
    let (sender, told) = channel::<bool>();
    (Box::into_raw(Box::new(sender)).cast(), told)
}

/// The signals that each thread of the adapter blocks, by its name.
fn masks() -> BTreeMap<String, u64> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the process's threads").flatten();
    let mask = |task: std::fs::DirEntry| {
        let status = std::fs::read_to_string(task.path().join("status")).ok()?;
        let line = |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
        Some((line("Name:")?, u64::from_str_radix(&line("SigBlk:")?, 16).ok()?))
    };
    tasks.filter_map(mask).filter(|(name, _)| name.starts_with("ur-")).collect()
}

#[test]
fn the_adapter_s_own_threads_block_signals_and_those_for_functions_of_the_application_do_not() {
    let test = "the_adapter_s_own_threads_block_signals_and_those_for_functions_of_the_application_do_not";
    // Without what the adapter keeps of freed memory, every free is a native one.
    child::in_time(test, &[("UR_USM_POOL", "0")], || {
        let fixture = Fixture::new();
        needs_sim!(fixture);
        if !timeline::are_there() || !has_function("urEnqueueHostTaskExp") {
            return;
        }
        let (queue, shared, mut gate) = (fixture.in_order(), Timeline::shared(&fixture, 0), Gate::new(&fixture));
        let large = fixture.memory(Kind::Device, 64 << 20);
        let blocked: Event = gate.block_event(&queue);
        let (data, called) = told();
        // The thread that watches starts the one that calls.
        ok!(Event.pfnSetCallback(blocked.handle(), ur_execution_info_t::COMPLETE, Some(callback), data));
        gate.open();
        assert_eq!(called.recv(), Ok(blocks(libc::SIGTERM)), "the mask of a callback");
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        let (data, ran) = told();
        ok!(EnqueueExp.pfnHostTaskExp(queue.handle(), Some(task), data, null(), 0, null(), null_mut()));
        // While the task is in flight another thread frees.
        drop(large);
        let names = ["ur-loss", "ur-release", "ur-timeline", "ur-watch"];
        let found = loop {
            let found = masks();
            if names.iter().all(|name| found.contains_key(*name)) {
                break found;
            }
            std::thread::yield_now();
        };
        let has = |mask: u64, signal: libc::c_int| mask >> (signal - 1) & 1 == 1;
        for name in names {
            let mask = found[name];
            assert!(has(mask, libc::SIGTERM) && has(mask, libc::SIGCHLD), "{name} takes signals: {mask:x}");
            assert!(!has(mask, libc::SIGSEGV), "{name} hides its own faults: {mask:x}");
        }
        gate.open();
        assert_eq!(ran.recv(), Ok(blocks(libc::SIGTERM)), "the mask of a task");
        queue.finish();
        drop(shared);
    });
}
