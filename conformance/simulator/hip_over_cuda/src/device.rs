//! The devices, and the CUDA context that stands for each.
//!
//! A HIP device is the CUDA device of the same ordinal in its primary context, retained by the first call that needs
//! it and released at exit, so that clients see no trace of it. The list is made once; only contexts come and go.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::cuda::{self, CUresult};
use crate::error;
use crate::sys::status::*;

/// CUDA's number of "threads of a block".
const MAX_THREADS_PER_BLOCK: c_int = 1;

/// One device.
pub struct Device {
    /// Its ordinal.
    pub ordinal: c_int,
    /// CUDA's name for it.
    pub cuda: c_int,
    /// Most threads of a block.
    pub max_threads: u64,
    /// `hipSetDeviceFlags`.
    pub flags: AtomicU32,
    /// The primary context while it is retained, else 0.
    context: AtomicUsize,
    /// Held to retain or release it.
    changing: Mutex<()>,
}

static DEVICES: OnceLock<Result<Vec<Device>>> = OnceLock::new();

/// All devices; the first call initialises the driver, and what that answers stays.
pub fn all() -> Result<&'static [Device]> {
    match DEVICES.get_or_init(find) {
        Ok(devices) => Ok(devices),
        Err(error) => Err(*error),
    }
}

/// The device of that ordinal.
pub fn get(ordinal: c_int) -> Result<&'static Device> {
    let devices = all()?;
    let missing = if devices.is_empty() { hipErrorNoDevice } else { hipErrorInvalidDevice };
    usize::try_from(ordinal).ok().and_then(|ordinal| devices.get(ordinal)).ok_or(missing)
}

fn find() -> Result<Vec<Device>> {
    let init = cuda::get()?.init.ok_or(hipErrorInsufficientDriver)?;
    // SAFETY: `cuInit`; flags must be 0.
    match unsafe { init(0) } {
        cuda::SUCCESS => (),
        cuda::NO_DEVICE => return Ok(Vec::new()),
        // Nothing of the driver works: it is not initialised, whatever it said.
        CUresult(46) => return Err(hipErrorNotInitialized),
        other => return Err(error::of(other)),
    }
    let mut count = 0;
    cu!(device_count(&raw mut count))?;
    let devices = (0..count).map(Device::new).collect();
    OWNER.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function is this library's, which is never unloaded. Registered after the driver's own handlers, it
    // runs before them.
    unsafe { libc::atexit(at_exit) };
    devices
}

/// The process that registered [`at_exit`].
static OWNER: AtomicU32 = AtomicU32::new(0);

extern "C" fn at_exit() {
    // In the child of a fork the driver does not work, and locks may be held by threads that are not there.
    if OWNER.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    // A process that ends has nobody to tell, and a panic may not cross into C.
    let _ = std::panic::catch_unwind(release_contexts);
}

/// Gives back every primary context; the next call retains its own again. No HIP call may be running.
pub fn release_contexts() {
    if let Some(Ok(devices)) = DEVICES.get() {
        for device in devices {
            let _ = device.release_context();
        }
    }
}

/// The ordinal of the device that a CUDA context stands for.
pub fn of_context(context: usize) -> Option<c_int> {
    let devices = all().ok()?;
    devices.iter().find(|device| device.context.load(Ordering::Acquire) == context).map(|device| device.ordinal)
}

impl Device {
    fn new(ordinal: c_int) -> Result<Self> {
        let (mut cuda, mut threads) = (0, 0);
        cu!(device_get(&raw mut cuda, ordinal))?;
        cu!(device_attribute(&raw mut threads, MAX_THREADS_PER_BLOCK, cuda))?;
        let max_threads = u64::from(threads.unsigned_abs());
        let (flags, context, changing) = Default::default();
        Ok(Self { ordinal, cuda, max_threads, flags, context, changing })
    }

    /// The CUDA context, retained if it is not yet.
    pub fn context(&self) -> Result<usize> {
        match self.context.load(Ordering::Acquire) {
            0 => self.retain_context(),
            context => Ok(context),
        }
    }

    #[cold]
    fn retain_context(&self) -> Result<usize> {
        let _changing = self.changing.lock();
        let mut context = self.context.load(Ordering::Acquire);
        if context == 0 {
            cu!(primary_retain(&raw mut context, self.cuda))?;
            self.context.store(context, Ordering::Release);
        }
        Ok(context)
    }

    /// Gives the CUDA context back if it is retained.
    pub fn release_context(&self) -> Result {
        let _changing = self.changing.lock();
        match self.context.swap(0, Ordering::AcqRel) {
            0 => Ok(()),
            _ => cu!(primary_release(self.cuda)),
        }
    }

    /// Whether anything used the device yet.
    pub fn is_active(&self) -> bool {
        self.context.load(Ordering::Acquire) != 0
    }

    /// What HIP calls the device's context: a handle that no other object has.
    pub fn handle(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// A CUDA attribute.
    pub fn cuda_attribute(&self, attribute: c_int) -> Result<c_int> {
        let mut value = 0;
        cu!(device_attribute(&raw mut value, attribute, self.cuda))?;
        Ok(value)
    }

    /// Bytes of memory.
    pub fn total_memory(&self) -> Result<usize> {
        let mut bytes = 0;
        cu!(device_total_memory(&raw mut bytes, self.cuda))?;
        Ok(bytes)
    }
}

/// The device whose context has that handle.
pub fn of_handle(handle: usize) -> Result<&'static Device> {
    all()?.iter().find(|device| device.handle() == handle).ok_or(hipErrorInvalidContext)
}
