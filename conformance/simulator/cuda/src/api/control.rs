//! The control API for tests: `include/simcuda.h` documents it.
//!
//! None of these counts as a native call, and all of them may be called at any time from any thread, but for
//! callbacks, which run on the calling thread before the function returns.

use super::args::{Raw, Text};
use crate::external_semaphore::Shared;
use crate::pool::{self, Thresholds};
use crate::{context, counts, device, faults, leaks, reports, stream, vmm, waiting};
use core::ffi::{c_char, c_int, c_void};
use core::time::Duration;
use std::ffi::CString;
use std::os::fd::IntoRawFd;
use std::time::Instant;

/// Receives a name and a number.
pub type CountCallback = Option<unsafe extern "C" fn(name: *const c_char, count: u64, data: *mut c_void)>;
/// Receives a kind and a text.
pub type ReportCallback = Option<unsafe extern "C" fn(kind: *const c_char, text: *const c_char, data: *mut c_void)>;

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

fn each_count<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>, callback: CountCallback, data: Raw) {
    let Some(callback) = callback else { return };
    for (name, count) in counts {
        let name = c_string(name);
        // SAFETY: the client gave callback and data for this call.
        unsafe { callback(name.as_ptr(), count, data.ptr()) };
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaCallCount(name: Text) -> u64 {
    name.get().map_or(0, counts::of)
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaCallCountTotal() -> u64 {
    counts::total()
}

/// How often calls of this thread found work unfinished that they waited for.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaThreadWaits() -> u64 {
    waiting::of_thread()
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaResetCallCounts() {
    counts::reset();
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaCallCounts(callback: CountCallback, data: Raw) {
    each_count(counts::all(), callback, data);
}

/// Answers 0, or 1 when no function of that name is exported.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaInjectFault(name: Text, nth: u64, error: c_int, count: u64) -> c_int {
    match name.get() {
        Ok(name) if super::exports::address(name).is_some() => {
            faults::inject(name, nth, error, count);
            0
        }
        _ => 1,
    }
}

/// Answers 0, or 1 when no function of that name is exported.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaInjectDelay(name: Text, micros: u64) -> c_int {
    on_exported(name, |name| faults::inject_delay(name, Duration::from_micros(micros)))
}

/// Answers 0, or 1 when no function of that name is exported.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaHoldCalls(name: Text) -> c_int {
    on_exported(name, faults::hold_calls)
}

/// Answers 0, or 1 when no function of that name is exported.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaHoldReturns(name: Text) -> c_int {
    on_exported(name, faults::hold_returns)
}

/// Answers 0, or 1 when no function of that name is exported.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaReleaseCalls(name: Text) -> c_int {
    on_exported(name, faults::release_calls)
}

fn on_exported(name: Text, work: impl FnOnce(&str)) -> c_int {
    match name.get() {
        Ok(name) if super::exports::address(name).is_some() => {
            work(name);
            0
        }
        _ => 1,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaClearFaults() {
    faults::clear();
    pool::set_thresholds(device::config().map_or(Thresholds::Obeyed, |config| config.thresholds));
    for device in device::all() {
        device.set_lost(false);
    }
}

/// Answers 0, or 1 when there is no such device.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaLoseDevice(ordinal: c_int) -> c_int {
    match device::get(ordinal) {
        Ok(device) => {
            device.set_lost(true);
            0
        }
        Err(_) => 1,
    }
}

/// Answers 0, or 1 for a number of no meaning.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaSetThresholds(meaning: c_int) -> c_int {
    let meaning = match meaning {
        0 => Thresholds::Obeyed,
        1 => Thresholds::KeepAll,
        2 => Thresholds::ReturnAll,
        _ => return 1,
    };
    pool::set_thresholds(meaning);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaHoldWork() {
    stream::hold();
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaReleaseWork() {
    stream::release();
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaReportCount() -> u64 {
    reports::count()
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaReports(callback: ReportCallback, data: Raw) {
    let Some(callback) = callback else { return };
    for report in reports::all() {
        let (kind, text) = (c_string(report.kind.name()), c_string(&report.text));
        // SAFETY: the client gave callback and data for this call.
        unsafe { callback(kind.as_ptr(), text.as_ptr(), data.ptr()) };
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaClearReports() {
    reports::clear();
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaLeakCount() -> u64 {
    leaks::counts().iter().map(|&(_, count)| count as u64).sum()
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaLeaks(callback: CountCallback, data: Raw) {
    each_count(leaks::counts().into_iter().map(|(kind, count)| (kind, count as u64)), callback, data);
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaThreadCount() -> u64 {
    stream::threads_started()
}

#[unsafe(no_mangle)]
pub extern "C" fn simcudaContextCount() -> u64 {
    context::CONTEXTS.len() as u64
}

/// Answers a descriptor, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaForeignMemory(size: u64, ordinal: c_int) -> c_int {
    let file = usize::try_from(ordinal).ok().and_then(|ordinal| vmm::memory_file(size as usize, Some(ordinal)));
    file.map_or(-1, IntoRawFd::into_raw_fd)
}

/// Answers a descriptor, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaForeignSemaphore(timeline: c_int) -> c_int {
    Shared::file(timeline != 0).map_or(-1, IntoRawFd::into_raw_fd)
}

/// Answers 0, or 1 for a descriptor of something else.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaForeignSignal(descriptor: c_int, value: u64) -> c_int {
    match Shared::of(descriptor) {
        Some(semaphore) => {
            semaphore.signal(value);
            0
        }
        None => 1,
    }
}

/// Answers 0, 1 for a descriptor of something else, or 2 when the time is over.
#[unsafe(no_mangle)]
pub extern "C" fn simcudaForeignWait(descriptor: c_int, value: u64, milliseconds: u64) -> c_int {
    let Some(semaphore) = Shared::of(descriptor) else { return 1 };
    let (begun, most) = (Instant::now(), Duration::from_millis(milliseconds));
    if semaphore.wait(value, || begun.elapsed() < most) { 0 } else { 2 }
}
