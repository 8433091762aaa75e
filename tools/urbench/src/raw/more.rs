//! What only some cases do on the raw side: memory of three kinds, events of their own, waits between streams, launches of other
//! kernels, and what a thread has current. A library that lacks a function makes the case unavailable and nothing else.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr::null_mut;

use super::symbols::{
    ATTACH_GLOBAL, Address, BY_ADDRESS, Copying, DISABLE_TIMING, Handle, LaunchConfig, MEMORY_TYPE, Native, Place,
};
use super::{COPY, Raw, check, native};
use crate::Failure;

/// A kind of plain memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// On the device.
    Device,
    /// Pinned, on the host.
    Host,
    /// Managed.
    Shared,
}

/// A function of a module of its own, which goes with it.
pub struct Function<'r> {
    raw: &'r Raw,
    module: Handle,
    pub(super) function: Handle,
}

impl Drop for Function<'_> {
    fn drop(&mut self) {
        let module = self.module;
        // SAFETY: loaded once in `function`; nothing runs it any more by the case's word. Errors have nobody to go to.
        let _ = self.raw.current(|functions| unsafe { native!(functions, module_unload(module)) });
    }
}

pub(super) fn have<F: Copy>(function: &Option<Native<F>>, what: &str) -> Result<Native<F>, Failure> {
    function.ok_or_else(|| Failure::Unavailable(format!("the native library has no {what}")))
}

impl Raw {
    /// Runs something while the device or its context is current, as it is in a program that makes raw calls.
    pub fn while_current<T>(&self, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        self.current(|_| run())
    }

    /// What a thread may have current besides the raw side's own: no context in CUDA, the next device in HIP.
    pub fn leave(&self) -> Result<(), Failure> {
        match &self.functions.place {
            // SAFETY: null is no context.
            Place::Context { set, .. } => unsafe { check!(set, (null_mut())) },
            Place::Device { set, .. } => {
                let mut count = 0;
                // SAFETY: a writable output, and an ordinal below the count.
                unsafe {
                    native!(self.functions, device_count(&raw mut count))?;
                    check!(set, ((self.device + 1) % count.max(1)))
                }
            }
        }
    }

    /// Makes the raw side's own device or context current.
    pub fn come_back(&self) -> Result<(), Failure> {
        match &self.functions.place {
            // SAFETY: a live context.
            Place::Context { set, .. } => unsafe { check!(set, (self.context)) },
            // SAFETY: a device's ordinal.
            Place::Device { set, .. } => unsafe { check!(set, (self.device)) },
        }
    }

    /// Whether launches need the device to be current.
    pub fn launches_where_it_is_current(&self) -> bool {
        matches!(self.functions.place, Place::Device { .. })
    }

    /// Plain memory; something of the raw side's must be current.
    #[inline]
    pub fn allocate(&self, kind: Kind, size: usize) -> Result<Address, Failure> {
        let (more, mut address) = (&self.functions.more, 0);
        // SAFETY: a writable output; host memory and managed memory take a word of flags.
        unsafe {
            match kind {
                Kind::Device => check!(have(&more.allocate_device, "plain device memory")?, (&raw mut address, size)),
                Kind::Host => check!(have(&more.allocate_host, "host memory")?, (&raw mut address, size, 0)),
                Kind::Shared => {
                    check!(have(&more.allocate_shared, "managed memory")?, (&raw mut address, size, ATTACH_GLOBAL))
                }
            }
        }?;
        Ok(address)
    }

    /// Gives plain memory back.
    #[inline]
    pub fn free(&self, kind: Kind, address: Address) -> Result<(), Failure> {
        let more = &self.functions.more;
        // SAFETY: allocated by `allocate` of the same kind and freed once, by the case's word.
        unsafe {
            match kind {
                Kind::Host => check!(have(&more.free_host, "host memory")?, (address)),
                Kind::Device | Kind::Shared => check!(have(&more.free_device, "plain device memory")?, (address)),
            }
        }
    }

    /// Asks what kind of memory an address is of.
    #[inline]
    pub fn memory_type(&self, address: Address) -> Result<u32, Failure> {
        let mut value: u32 = 0;
        let ask = have(&self.functions.more.pointer_attribute, "question about an address")?;
        // SAFETY: the attribute is one word, and there is place for it.
        unsafe { check!(ask, ((&raw mut value).cast(), MEMORY_TYPE, address)) }?;
        Ok(value)
    }

    /// An allocation in a stream's order.
    #[inline]
    pub fn allocate_ordered(&self, size: usize, stream: Handle) -> Result<Address, Failure> {
        let mut address = 0;
        // SAFETY: a writable output and live objects.
        unsafe { native!(self.functions, pool_allocate(&raw mut address, size, self.pool, stream)) }?;
        Ok(address)
    }

    /// Its release.
    #[inline]
    pub fn free_ordered(&self, address: Address, stream: Handle) -> Result<(), Failure> {
        // SAFETY: allocated by `allocate_ordered` and freed once, by the case's word.
        unsafe { native!(self.functions, free_async(address, stream)) }
    }

    /// An event, which tells times or does not; something of the raw side's must be current.
    #[inline]
    pub fn new_event(&self, tells_times: bool) -> Result<Handle, Failure> {
        let (mut event, flags) = (null_mut(), if tells_times { 0 } else { DISABLE_TIMING });
        // SAFETY: a writable output.
        unsafe { native!(self.functions, event_create(&raw mut event, flags)) }?;
        Ok(event)
    }

    /// Ends an event.
    #[inline]
    pub fn destroy_event(&self, event: Handle) -> Result<(), Failure> {
        // SAFETY: made by `new_event`, destroyed once by the case's word.
        unsafe { native!(self.functions, event_destroy(event)) }
    }

    /// Records an event.
    #[inline]
    pub fn record(&self, event: Handle, stream: Handle) -> Result<(), Failure> {
        // SAFETY: live objects.
        unsafe { native!(self.functions, event_record(event, stream)) }
    }

    /// Waits here for an event.
    #[inline]
    pub fn wait_event(&self, event: Handle) -> Result<(), Failure> {
        // SAFETY: a live event.
        unsafe { native!(self.functions, event_synchronize(event)) }
    }

    /// Lets a stream wait for an event.
    #[inline]
    pub fn stream_wait(&self, stream: Handle, event: Handle) -> Result<(), Failure> {
        let wait = have(&self.functions.more.stream_wait, "wait of a stream")?;
        // SAFETY: live objects; no flags.
        unsafe { check!(wait, (stream, event, 0)) }
    }

    /// Nanoseconds between two events that are complete.
    pub fn elapsed_ns(&self, from: Handle, to: Handle) -> Result<f64, Failure> {
        let (elapsed, mut milliseconds) = (have(&self.functions.more.elapsed, "time between events")?, 0.0_f32);
        // SAFETY: a writable output and live events that tell times.
        unsafe { check!(elapsed, (&raw mut milliseconds, from, to)) }?;
        Ok(f64::from(milliseconds) * 1e6)
    }

    /// A function of an image of its own, which ends with a zero byte.
    pub fn function(&self, image: &[u8], name: &CStr) -> Result<Function<'_>, Failure> {
        let (mut module, mut function) = (null_mut(), null_mut());
        self.current(|functions| {
            // SAFETY: writable outputs; the image ends with a zero byte by the caller's word.
            unsafe {
                native!(functions, module_load(&raw mut module, image.as_ptr().cast()))?;
                native!(functions, module_function(&raw mut function, module, name.as_ptr()))
            }
        })?;
        Ok(Function { raw: self, module, function })
    }

    /// Launches a function of one thread with the addresses of its arguments.
    #[inline]
    pub fn launch_with(
        &self,
        function: &Function<'_>,
        arguments: &mut [*mut c_void],
        stream: Handle,
    ) -> Result<(), Failure> {
        let (function, list) = (function.function, arguments.as_mut_ptr());
        // SAFETY: a live function; the list has an address for each parameter by the caller's word.
        unsafe { native!(self.functions, launch(function, 1, 1, 1, 1, 1, 1, 0, stream, list, null_mut())) }
    }

    /// The empty kernel on any stream.
    #[inline]
    pub fn launch_on(&self, stream: Handle) -> Result<(), Failure> {
        let none = null_mut();
        // SAFETY: a live function without parameters.
        unsafe { native!(self.functions, launch(self.kernel, 1, 1, 1, 1, 1, 1, 0, stream, none, none)) }
    }

    /// The empty kernel by the extended call.
    #[inline]
    pub fn launch_extended(&self) -> Result<(), Failure> {
        let launch = have(&self.functions.more.launch_extended, "extended launch")?;
        let (grid, none): ([c_uint; 3], *mut *mut c_void) = ([1; 3], null_mut());
        let stream = self.stream;
        let config = LaunchConfig { grid, block: grid, shared: 0, stream, attributes: null_mut(), count: 0 };
        // SAFETY: a configuration without attributes, a live function without parameters.
        unsafe { check!(launch, (&raw const config, self.kernel, none, none)) }
    }

    /// A small copy to the host: [`Raw::copy`]'s way back.
    #[inline]
    pub fn copy_back(&self) -> Result<(), Failure> {
        let Some((device, host)) = self.buffers else {
            return Err(Failure::Other("the raw side has no buffers".to_owned()));
        };
        self.copy_any(host, device, COPY)
    }

    /// A copy between any two addresses.
    #[inline]
    pub fn copy_any(&self, to: Address, from: Address, size: usize) -> Result<(), Failure> {
        let stream = self.stream;
        // SAFETY: both have the size and outlive the copy, by the caller's word.
        unsafe {
            match &self.functions.copy {
                Copying::Plain(copy) => check!(copy, (to, from, size, stream)),
                Copying::WithKind(copy) => check!(copy, (to, from, size, BY_ADDRESS, stream)),
            }
        }
    }

    /// A context, stream, device memory, copy and all of them back, while the device's primary context is retained.
    pub fn lifetime(&self, from: Address, size: usize) -> Result<(), Failure> {
        let mut context = null_mut();
        if let Place::Context { retain, .. } = &self.functions.place {
            // SAFETY: a writable output; released below.
            unsafe { check!(retain, (&raw mut context, self.device)) }?;
        }
        let done = self.current(|functions| {
            let mut stream = null_mut();
            // SAFETY: a writable output.
            unsafe { native!(functions, stream_create(&raw mut stream, super::NON_BLOCKING, 0)) }?;
            let memory = self.allocate(Kind::Device, size)?;
            // SAFETY: both have the size; the stream is live and is waited for before they go.
            unsafe {
                match &functions.copy {
                    Copying::Plain(copy) => check!(copy, (memory, from, size, stream))?,
                    Copying::WithKind(copy) => check!(copy, (memory, from, size, BY_ADDRESS, stream))?,
                }
                native!(functions, stream_synchronize(stream))?;
            }
            self.free(Kind::Device, memory)?;
            self.destroy_stream(stream)
        });
        if let (Place::Context { release, .. }, false) = (&self.functions.place, context.is_null()) {
            // SAFETY: retained above.
            unsafe { check!(release, (self.device)) }?;
        }
        done
    }
}
