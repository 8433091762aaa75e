//! What the cases work on: one device of the UR under test with a context, an in-order queue, an empty kernel and two
//! small buffers, and the raw side beside it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ur_client::ffi::{
    ur_adapter_handle_t, ur_adapter_info_t, ur_backend_t, ur_context_handle_t_, ur_device_info_t, ur_device_type_t,
    ur_kernel_handle_t_, ur_program_handle_t_, ur_queue_flags_t, ur_queue_handle_t, ur_queue_handle_t_,
};
use ur_client::{Held, Listed, NativeCalls, Ur, call};

use crate::Failure;
use crate::options::Options;
use crate::raw::{COPY, Raw};

/// Everything that is made once. The order of the fields is the order in which it is given back.
pub struct Fixture<'u> {
    /// The UR under test.
    pub ur: &'u Ur,
    /// Its native calls, if the native library counts.
    pub calls: Option<NativeCalls>,
    /// The raw side; none if the native library is not CUDA's.
    pub raw: Option<Raw>,
    /// Why there is no raw side.
    pub no_raw: Option<String>,
    /// The adapter's backend.
    pub backend: String,
    /// The device's name.
    pub device_name: String,
    /// The driver's version.
    pub driver: String,
    /// Host memory of the copy's size.
    pub host: *mut c_void,
    /// Device memory of the copy's size.
    pub memory: *mut c_void,
    /// The in-order queue.
    pub queue: Held<'u, ur_queue_handle_t_>,
    /// The empty kernel.
    pub kernel: Held<'u, ur_kernel_handle_t_>,
    _program: Held<'u, ur_program_handle_t_>,
    /// The context.
    pub context: Held<'u, ur_context_handle_t_>,
    /// The device.
    pub listed: Listed<'u>,
}

// SAFETY: handles may be used from every thread by the API's own rules; the buffers are only named, not touched.
unsafe impl Sync for Fixture<'_> {}

impl<'u> Fixture<'u> {
    /// Makes everything on the first GPU, or the first device if there is no GPU.
    pub fn new(ur: &'u Ur, adapters: &[ur_adapter_handle_t], options: &Options) -> Result<Self, Failure> {
        let listed = choose(ur, adapters)?;
        let device = listed.device.handle();
        let context = ur.context(&[device])?;
        let queue = ur.queue(context.handle(), device, ur_queue_flags_t::empty())?;
        let path = options.kernels.join("basic.ptx");
        let image = std::fs::read(&path)
            .map_err(|error| Failure::Other(format!("{}: {error}; --kernels names the folder", path.display())))?;
        let program = ur.program(context.handle(), device, &image)?;
        let kernel = ur.kernel(program.handle(), c"empty")?;
        let uuid = ur.device_info(device, ur_device_info_t::UUID).ok().and_then(|uuid| uuid.0.try_into().ok());
        let (raw, no_raw) = match Raw::new(&options.native, uuid, &options.kernels) {
            Ok(raw) => (Some(raw), None),
            Err(failure) => (None, Some(failure.to_string())),
        };
        let text = |query| ur.device_info(device, query).map_or_else(|_| "?".to_owned(), |answer| answer.text());
        let backend = ur.adapter_info(listed.adapter, ur_adapter_info_t::BACKEND)?.u32().unwrap_or(0);
        let mut this = Self {
            ur,
            calls: NativeCalls::of_loaded(&options.native),
            raw,
            no_raw,
            backend: format!("{:?}", ur_backend_t(backend)),
            device_name: text(ur_device_info_t::NAME),
            driver: text(ur_device_info_t::DRIVER_VERSION),
            host: null_mut(),
            memory: null_mut(),
            queue,
            kernel,
            _program: program,
            context,
            listed,
        };
        this.allocate()?;
        Ok(this)
    }

    fn allocate(&mut self) -> Result<(), Failure> {
        let (ur, context, device) = (self.ur, self.context.handle(), self.listed.device.handle());
        // SAFETY: live handles and writable outputs.
        unsafe {
            call!(ur, USM.pfnHostAlloc(context, null(), null_mut(), COPY, &raw mut self.host))?;
            call!(ur, USM.pfnDeviceAlloc(context, device, null(), null_mut(), COPY, &raw mut self.memory))?;
        }
        Ok(())
    }

    /// One more in-order queue.
    pub fn new_queue(&self) -> Result<Held<'u, ur_queue_handle_t_>, Failure> {
        Ok(self.ur.queue(self.context.handle(), self.listed.device.handle(), ur_queue_flags_t::empty())?)
    }

    /// One allocation and its release, both in the queue's order, without events.
    #[inline]
    pub fn allocate_and_free(&self, size: usize, queue: ur_queue_handle_t) -> Result<(), Failure> {
        let (ur, mut memory) = (self.ur, null_mut());
        // SAFETY: a live queue, no pool, no lists; nothing uses the memory.
        unsafe {
            call!(
                ur,
                EnqueueExp.pfnUSMDeviceAllocExp(
                    queue,
                    null_mut(),
                    size,
                    null(),
                    0,
                    null(),
                    &raw mut memory,
                    null_mut()
                )
            )?;
            call!(ur, EnqueueExp.pfnUSMFreeExp(queue, null_mut(), memory, 0, null(), null_mut()))?;
        }
        Ok(())
    }
}

impl Drop for Fixture<'_> {
    fn drop(&mut self) {
        let _ = self.ur.finish(self.queue.handle());
        for memory in [self.host, self.memory] {
            if !memory.is_null() {
                // SAFETY: allocated in this context, freed once, after the queue's work.
                let _ = unsafe { call!(self.ur, USM.pfnFree(self.context.handle(), memory)) };
            }
        }
    }
}

fn choose<'u>(ur: &'u Ur, adapters: &[ur_adapter_handle_t]) -> Result<Listed<'u>, Failure> {
    let mut devices = ur.all_devices(adapters)?;
    let gpu = devices.iter().position(|listed| {
        let ty = ur.device_info(listed.device.handle(), ur_device_info_t::TYPE);
        ty.ok().and_then(|answer| answer.u32()) == Some(ur_device_type_t::GPU.0)
    });
    if devices.is_empty() {
        let reasons: Vec<String> = adapters.iter().filter_map(|&a| ur.last_error(a)).map(|(text, _)| text).collect();
        return Err(Failure::Other(format!("the loader finds no device ({}); see `urinfo --why`", reasons.join("; "))));
    }
    Ok(devices.swap_remove(gpu.unwrap_or(0)))
}
