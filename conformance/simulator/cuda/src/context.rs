//! Contexts, and each thread's stack of current ones.
//!
//! A context that is destroyed stays recognisable: threads that still have it current get the API's answer for
//! that, and a report. A kernel's failure is sticky for its context, except for what frees and destroys.

use crate::device::{self, Device};
use crate::handles::{self, Registry};
use crate::reports::{self, Kind as Misuse};
use crate::stream::{self, Stream};
use crate::sys::*;
use core::cell::RefCell;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// All contexts.
pub static CONTEXTS: Registry<Context> = Registry::new(handles::Kind::Context);
static IDS: AtomicU64 = AtomicU64::new(1);

/// Limits that can be read and set (`CUlimit` 0 to 6), with their first values.
const LIMITS: [usize; 7] = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0];

/// One context.
pub struct Context {
    /// Its number in the process.
    pub id: u64,
    /// Its handle.
    pub handle: Handle,
    /// The device it is on.
    pub device: &'static Device,
    /// Whether it is the device's primary context.
    pub primary: bool,
    /// Flags it was made with.
    pub flags: AtomicU32,
    /// Its limits.
    pub limits: Mutex<[usize; 7]>,
    alive: AtomicBool,
    fault: AtomicI32,
    legacy: Mutex<Option<Arc<Stream>>>,
    /// Whether the legacy stream was ever used; spares the common path a lock.
    has_legacy: AtomicBool,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// Ids of the contexts whose memory this one may touch, with their devices.
    peers: Mutex<Vec<(u64, usize)>>,
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
    /// The stack of a thread whose own is gone: a process's exit handlers run after the thread's variables have ended.
    static LATE: ManuallyDrop<RefCell<Vec<Arc<Context>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

fn with_stack<R>(work: impl Fn(&mut Vec<Arc<Context>>) -> R) -> R {
    let own = STACK.try_with(|stack| work(&mut stack.borrow_mut()));
    own.unwrap_or_else(|_| LATE.with(|stack| work(&mut stack.borrow_mut())))
}

impl Context {
    /// Makes a context.
    pub fn create(device: &'static Device, primary: bool, flags: u32) -> Arc<Context> {
        let make = |handle| Context {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            handle,
            device,
            primary,
            flags: AtomicU32::new(flags),
            limits: Mutex::new(LIMITS),
            alive: AtomicBool::new(true),
            fault: AtomicI32::new(0),
            legacy: Mutex::new(None),
            has_legacy: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
            peers: Mutex::new(Vec::new()),
        };
        CONTEXTS.insert_with(make).1
    }

    /// Whether it can be used: alive, and neither failed nor on a lost device.
    pub fn usable(&self) -> Result {
        if !self.alive.load(Ordering::Acquire) {
            reports::add(Misuse::Context, format!("context {:#x} is destroyed", self.handle));
            return Err(CUDA_ERROR_CONTEXT_IS_DESTROYED);
        }
        match self.failure() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The error that all its work answers, if there is one.
    pub fn failure(&self) -> Option<CUresult> {
        if self.device.is_lost() {
            return Some(CUDA_ERROR_DEVICE_UNAVAILABLE);
        }
        Some(self.fault.load(Ordering::Acquire)).filter(|&fault| fault != CUDA_SUCCESS)
    }

    /// Makes all further work of the context fail; the first failure stays.
    pub fn fail(&self, error: CUresult) {
        let _ = self.fault.compare_exchange(CUDA_SUCCESS, error, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether it has not been destroyed.
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// The legacy default stream.
    pub fn legacy(self: &Arc<Self>) -> Arc<Stream> {
        let mut legacy = self.legacy.lock();
        let stream = legacy.get_or_insert_with(|| Stream::implicit(self.clone(), stream::Sort::Legacy));
        self.has_legacy.store(true, Ordering::Release);
        stream.clone()
    }

    /// The legacy default stream, if it was ever used.
    pub fn legacy_if_used(&self) -> Option<Arc<Stream>> {
        if self.has_legacy.load(Ordering::Acquire) { self.legacy.lock().clone() } else { None }
    }

    /// Notes a stream of this context.
    pub fn adopt(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock();
        streams.retain(|known| known.strong_count() > 0);
        streams.push(Arc::downgrade(stream));
    }

    /// Its streams that still exist, the legacy one not among them.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Waits for all work submitted so far.
    pub fn synchronize(&self) -> Result {
        for stream in self.streams().iter().chain(&self.legacy_if_used()) {
            stream.wait_submitted();
        }
        self.failure().map_or(Ok(()), Err)
    }

    /// Lets its kernels touch memory of `peer`'s device.
    pub fn enable_peer(&self, peer: &Context) -> Result {
        if peer.device.ordinal == self.device.ordinal {
            return Err(CUDA_ERROR_INVALID_CONTEXT);
        }
        if !device::are_linked() {
            return Err(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        }
        let mut peers = self.peers.lock();
        if peers.iter().any(|&(id, _)| id == peer.id) {
            return Err(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        }
        peers.push((peer.id, peer.device.ordinal));
        Ok(())
    }

    /// Ends that.
    pub fn disable_peer(&self, peer: &Context) -> Result {
        let mut peers = self.peers.lock();
        let index = peers.iter().position(|&(id, _)| id == peer.id).ok_or(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)?;
        peers.swap_remove(index);
        Ok(())
    }

    /// Whether its kernels may touch plain device memory of `device`.
    pub fn reaches(&self, device: usize) -> bool {
        device == self.device.ordinal || self.peers.lock().iter().any(|&(_, peer)| peer == device)
    }

    /// Ends the context: waits for its work, then makes it and all that is in it invalid.
    pub fn destroy(&self) {
        let _ = self.synchronize();
        self.alive.store(false, Ordering::Release);
        CONTEXTS.remove(self.handle);
        crate::leaks::end_of_context(self);
        for stream in self.streams() {
            stream.close();
        }
        if let Some(legacy) = self.legacy.lock().take() {
            legacy.close();
        }
        self.has_legacy.store(false, Ordering::Release);
    }
}

/// The context on top of this thread's stack, dead or alive.
pub fn top() -> Option<Arc<Context>> {
    with_stack(|stack| stack.last().cloned())
}

/// The context that a call needs: current, alive and not failed.
pub fn current() -> Result<Arc<Context>> {
    let Some(context) = top() else {
        reports::add(Misuse::Context, "needs a current context and there is none");
        return Err(CUDA_ERROR_INVALID_CONTEXT);
    };
    context.usable()?;
    Ok(context)
}

/// Puts a context on top of the stack.
pub fn push(context: Arc<Context>) {
    with_stack(|stack| stack.push(context.clone()));
}

/// Takes the top of the stack.
pub fn pop() -> Option<Arc<Context>> {
    with_stack(|stack| stack.pop())
}

/// Replaces the top of the stack; `None` removes it.
pub fn set(context: Option<Arc<Context>>) {
    with_stack(|stack| {
        stack.pop();
        stack.extend(context.clone());
    });
}

/// Retains the primary context of a device.
pub fn retain_primary(device: &'static Device) -> Result<Arc<Context>> {
    if device.is_lost() {
        return Err(CUDA_ERROR_DEVICE_UNAVAILABLE);
    }
    let mut primary = device.primary.lock();
    let flags = device.primary_flags.load(Ordering::Acquire);
    let context = primary.context.get_or_insert_with(|| Context::create(device, true, flags)).clone();
    primary.references += 1;
    Ok(context)
}

/// Releases it; the last release destroys it.
pub fn release_primary(device: &Device) -> Result {
    let mut primary = device.primary.lock();
    match primary.references {
        0 => {
            reports::add(Misuse::Context, format!("primary context of device {} is not retained", device.ordinal));
            return Err(CUDA_ERROR_INVALID_CONTEXT);
        }
        1 => {
            primary.references = 0;
            let context = primary.context.take();
            drop(primary);
            if let Some(context) = context {
                context.destroy();
            }
        }
        _ => primary.references -= 1,
    }
    Ok(())
}

/// Destroys a device's primary context whoever retains it.
pub fn reset_primary(device: &Device) {
    let context = {
        let mut primary = device.primary.lock();
        primary.references = 0;
        primary.context.take()
    };
    if let Some(context) = context {
        context.destroy();
    }
}

/// Resolves a context handle.
pub fn lookup(handle: Handle) -> Result<Arc<Context>> {
    CONTEXTS.lookup(handle, CUDA_ERROR_INVALID_CONTEXT)
}
