//! What a stream can be told to do, and the doing of it.
//!
//! Commands run on the stream's thread, or at once on the caller's when they take no time. In a failed context what
//! touches memory is skipped, while records, waits and frees still happen: nobody may hang on a failure.

use crate::clock::Point;
use crate::copy::{Copy, Fill};
use crate::event::Completion;
use crate::external_semaphore::Semaphore;
use crate::graph::run::Launch;
use crate::kernel::Kernel;
use crate::memory::{self, Allocation, Denied};
use crate::region;
use crate::reports::{self, Kind as Misuse};
use crate::stream::Stream;
use crate::sys::*;
use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

/// A client's pointer on its way to the client's own function.
#[derive(Clone, Copy)]
pub struct UserData(pub *mut c_void);

// SAFETY: never followed here; the API's contract is that the client's function may be called on another thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

/// A wait for, or write of, a value in memory.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Address.
    pub address: u64,
    /// Value to compare or write.
    pub value: u64,
    /// 4 or 8 bytes.
    pub width: usize,
    /// Comparison, for waits.
    pub compare: u32,
}

/// One command.
pub enum Command {
    /// Runs a kernel.
    Kernel(Box<Kernel>),
    /// Copies; with the places of the stream that it takes.
    Copy(Box<Copy>, u64),
    /// Fills.
    Fill(Box<Fill>),
    /// Reaches a record of an event.
    Record(Arc<Completion>),
    /// Waits for a record of an event.
    WaitEvent(Arc<Completion>),
    /// Waits for a command of another stream.
    WaitStream(Arc<Stream>, u64),
    /// Calls a host function.
    Host(CUhostFn, UserData),
    /// Calls a stream callback with the stream's handle.
    Callback(CUstreamCallback, UserData),
    /// A stream-ordered allocation begins.
    Allocated(Arc<Allocation>),
    /// A stream-ordered allocation ends.
    Freed(Arc<Allocation>),
    /// Waits for a value.
    WaitValue(Value),
    /// Writes a value.
    WriteValue(Value),
    /// Waits for another API's semaphore.
    WaitSemaphore(Arc<Semaphore>, u64),
    /// Signals another API's semaphore.
    SignalSemaphore(Arc<Semaphore>, u64),
    /// Runs a graph.
    Graph(Box<Launch>),
    /// Takes its place in the order and does nothing: hints.
    Nothing,
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a client's function for a stream.
pub fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

impl Command {
    /// Whether it ends at once when its turn comes.
    pub fn is_instant(&self) -> bool {
        match self {
            Command::Record(_) | Command::Allocated(_) | Command::Freed(_) | Command::Nothing => true,
            Command::WaitEvent(completion) => completion.is_done(),
            _ => false,
        }
    }

    /// How many places it takes of those that a stream has for work of the device ([`crate::waiting::LAUNCH_QUEUE`]).
    pub fn places(&self) -> u64 {
        match self {
            Command::Copy(_, places) => *places,
            Command::Kernel(_) | Command::Graph(_) | Command::Fill(_) | Command::WriteValue(_) => 1,
            _ => 0,
        }
    }

    /// Whether it may wait for something that nobody can see: whoever writes the value, whatever the client's function does.
    pub fn waits_unseen(&self) -> bool {
        match self {
            Command::Host(..) | Command::Callback(..) | Command::WaitValue(_) | Command::WaitSemaphore(..) => true,
            Command::Graph(launch) => launch.waits_unseen,
            Command::WaitEvent(completion) => completion.unseen,
            Command::WaitStream(other, _) => other.has_unseen(),
            _ => false,
        }
    }

    /// Whether it holds up what other streams have in the same hardware channel until it has ended: a wait does, and work
    /// that runs on the device or the host does not.
    pub fn holds_channel(&self) -> bool {
        matches!(
            self,
            Command::WaitEvent(_) | Command::WaitStream(..) | Command::WaitValue(_) | Command::WaitSemaphore(..)
        )
    }

    /// Does it.
    pub fn run(self, stream: &Arc<Stream>, point: &Point) {
        let healthy = stream.context.failure().is_none();
        match self {
            Command::Record(completion) => {
                // Whoever sees the event sees the stream get as far, and the other way round.
                completion.reach(stream.floor(), || stream.count_done(point.seq));
            }
            Command::WaitEvent(completion) => {
                completion.wait();
                stream.raise_floor(completion.floor());
            }
            Command::WaitStream(other, seq) => {
                other.wait_for(seq);
                stream.raise_floor(other.floor());
            }
            Command::Allocated(allocation) => {
                // SAFETY: the pool has the block mapped, and what used it before is ordered before this.
                unsafe { region::poison(allocation.base, allocation.size) };
                allocation.born.end();
            }
            Command::Freed(allocation) => free(allocation),
            Command::Callback(function, data) => {
                stream.tell_host_before(point);
                call_back(stream, function, data);
            }
            Command::Graph(launch) => launch.run(stream, point),
            Command::Nothing => {}
            _ if !healthy => {}
            Command::Kernel(kernel) => use_memory(stream, point, || kernel.run(point)),
            Command::Copy(copy, _) => {
                use_memory(stream, point, || copy.run(point).map_err(|denied| refuse("copy", denied)))
            }
            Command::Fill(fill) => {
                use_memory(stream, point, || fill.run(point).map_err(|denied| refuse("fill", denied)))
            }
            Command::Host(function, data) => {
                stream.tell_host_before(point);
                call_host(function, data);
            }
            Command::WaitValue(value) => wait_value(stream, value),
            Command::WriteValue(value) => write_value(stream, point, value),
            Command::WaitSemaphore(semaphore, value) => {
                semaphore.wait(value, || stream.context.is_alive() && stream.context.failure().is_none());
            }
            Command::SignalSemaphore(semaphore, value) => semaphore.signal(value),
        }
    }
}

/// Does what uses memory, unless the device is lost by now.
fn use_memory(stream: &Stream, point: &Point, work: impl FnOnce() -> Result) {
    if let Some(_at_work) = stream.context.device.begin_work(point.tick)
        && let Err(error) = work()
    {
        stream.context.fail(error);
    }
}

/// Reports a command's access that the map refused.
pub fn refuse(command: &str, denied: Denied) -> CUresult {
    reports::add(denied.kind, format!("{command}: {}", denied.message));
    CUDA_ERROR_ILLEGAL_ADDRESS
}

/// A free's turn: fills the memory with a pattern, and gives it back.
pub fn free(allocation: Arc<Allocation>) {
    if allocation.region.is_some() {
        // SAFETY: the region is held by the allocation, and work that is ordered before its free has ended.
        unsafe { region::poison(allocation.base, allocation.size) };
    }
    if let Some(freed) = allocation.freed.get() {
        freed.end();
    }
    if let Some(pool) = &allocation.pool {
        pool.settle();
    } else {
        crate::alloc::give_back(&allocation);
    }
    memory::retire(allocation);
}

/// Runs a client's function marked as such, so that native calls inside it are recognised.
fn as_host_function(call: impl FnOnce()) {
    IN_HOST_FUNCTION.set(true);
    call();
    IN_HOST_FUNCTION.set(false);
}

/// Calls a client's host function.
pub fn call_host(function: CUhostFn, data: UserData) {
    if let Some(function) = function {
        // SAFETY: the client gave function and data for this call.
        as_host_function(|| unsafe { function(data.0) });
    }
}

fn call_back(stream: &Stream, function: CUstreamCallback, data: UserData) {
    if let Some(function) = function {
        let status = stream.context.failure().unwrap_or(CUDA_SUCCESS);
        // SAFETY: the client gave function and data for this call.
        as_host_function(|| unsafe { function(stream.handle, status, data.0) });
    }
}

fn load(value: &Value) -> u64 {
    // SAFETY: the API checked address and alignment; the allocation is held by the client until the wait is over.
    unsafe {
        match value.width {
            4 => u64::from((*(value.address as *const AtomicU32)).load(Ordering::Acquire)),
            _ => (*(value.address as *const AtomicU64)).load(Ordering::Acquire),
        }
    }
}

fn is_reached(value: &Value) -> bool {
    let found = load(value);
    match value.compare {
        CU_STREAM_WAIT_VALUE_EQ => found == value.value,
        CU_STREAM_WAIT_VALUE_AND => found & value.value != 0,
        CU_STREAM_WAIT_VALUE_NOR if value.width == 4 => !(found | value.value) as u32 != 0,
        CU_STREAM_WAIT_VALUE_NOR => !(found | value.value) != 0,
        // "At least" is cyclic: the difference is taken as a signed number.
        _ if value.width == 4 => (found as u32).wrapping_sub(value.value as u32) as i32 >= 0,
        _ => found.wrapping_sub(value.value) as i64 >= 0,
    }
}

/// Memory has no way to wake anybody, so this looks again and again, as the hardware does.
pub fn wait_value(stream: &Stream, value: Value) {
    let mut pause = Duration::from_micros(1);
    while !is_reached(&value) && stream.context.is_alive() && stream.context.failure().is_none() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_micros(200));
    }
}

/// Writes a value.
pub fn write_value(stream: &Stream, point: &Point, value: Value) {
    match memory::check(value.address, value.width, point, None) {
        Err(denied) => stream.context.fail(refuse("value write", denied)),
        // SAFETY: checked and held just now; the API checked the alignment.
        Ok(_held) => unsafe {
            match value.width {
                4 => (*(value.address as *const AtomicU32)).store(value.value as u32, Ordering::Release),
                _ => (*(value.address as *const AtomicU64)).store(value.value, Ordering::Release),
            }
        },
    }
}

/// Reports a kernel's failure.
pub fn kernel_fault(text: String) {
    reports::add(Misuse::KernelFault, text);
}
