//! What the cases work on: one device of the UR under test with a context, an in-order queue, an empty kernel and two
//! small buffers, and the raw side beside it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ur_client::ffi::{
    ur_adapter_handle_t, ur_adapter_info_t, ur_backend_t, ur_context_handle_t, ur_context_handle_t_,
    ur_device_handle_t, ur_device_info_t, ur_device_type_t, ur_kernel_handle_t, ur_kernel_handle_t_,
    ur_program_handle_t, ur_program_handle_t_, ur_queue_flags_t, ur_queue_handle_t, ur_queue_handle_t_,
    ur_usm_pool_handle_t, ur_usm_pool_info_t,
};
use ur_client::{Held, Listed, NativeCalls, Ur, call};

use crate::Failure;
use crate::options::Options;
use crate::raw::{Api, COPY, Raw};

/// Everything that is made once. The order of the fields is the order in which it is given back.
pub struct Fixture<'u> {
    /// The UR under test.
    pub ur: &'u Ur,
    /// Its native calls, if the native library counts.
    pub calls: Option<NativeCalls>,
    /// The raw side; none for a backend that is neither CUDA nor HIP.
    pub raw: Option<Raw>,
    /// Why there is no raw side.
    pub no_raw: Option<String>,
    /// The adapter's backend.
    pub backend: ur_backend_t,
    /// What became of the release threshold of the UR's default pool.
    pub threshold: String,
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
    kernel: Result<Kernel<'u>, String>,
    /// The context.
    pub context: Held<'u, ur_context_handle_t_>,
    /// The device.
    pub listed: Listed<'u>,
}

/// The empty kernel and what it is of, in the order in which they are given back.
struct Kernel<'u> {
    kernel: Held<'u, ur_kernel_handle_t_>,
    program: Held<'u, ur_program_handle_t_>,
}

/// Another device, in the order in which it is given back.
pub struct Other<'u> {
    /// Its raw side.
    pub raw: Option<Raw>,
    /// Its queue.
    pub queue: Held<'u, ur_queue_handle_t_>,
    /// Its empty kernel.
    pub kernel: Held<'u, ur_kernel_handle_t_>,
    _program: Held<'u, ur_program_handle_t_>,
    _context: Held<'u, ur_context_handle_t_>,
    _listed: Listed<'u>,
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
        let kernel = make_kernel(ur, context.handle(), device, &image).map_err(|failure| failure.to_string());
        let backend = ur.adapter_info(listed.adapter, ur_adapter_info_t::BACKEND)?.u32().unwrap_or(0);
        let backend = ur_backend_t(backend);
        let api = Api::of(backend);
        let libraries = match api {
            Some(Api::Hip) => ur_client::hip_libraries(),
            _ => vec![options.native.clone()],
        };
        // Before the raw side opens it too: what the adapter does not use cannot count the adapter's calls.
        let calls = libraries.iter().find_map(|library| NativeCalls::of_loaded(library));
        let uuid = ur.device_info(device, ur_device_info_t::UUID).ok().and_then(|uuid| uuid.0.try_into().ok());
        let (raw, no_raw) = match api.map(|api| Raw::new(api, &libraries, uuid, &options.kernels)) {
            Some(Ok(raw)) => (Some(raw), None),
            Some(Err(failure)) => (None, Some(failure.to_string())),
            None => (None, Some(format!("{backend:?} has no raw side here"))),
        };
        let text = |query| ur.device_info(device, query).map_or_else(|_| "?".to_owned(), |answer| answer.text());
        let mut this = Self {
            ur,
            calls,
            raw,
            no_raw,
            threshold: lift_threshold(ur, context.handle(), device),
            backend,
            device_name: text(ur_device_info_t::NAME),
            driver: text(ur_device_info_t::DRIVER_VERSION),
            host: null_mut(),
            memory: null_mut(),
            queue,
            kernel,
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
        if let Some(raw) = &mut self.raw {
            raw.copy_between(self.memory, self.host);
        }
        Ok(())
    }

    /// The empty kernel.
    ///
    /// # Errors
    /// Why there is none. Kernels are PTX: a device whose native library does not take it cannot launch here, and that is
    /// no failure of the UR.
    pub fn kernel(&self) -> Result<ur_kernel_handle_t, Failure> {
        match &self.kernel {
            Ok(kernel) => Ok(kernel.kernel.handle()),
            Err(reason) => Err(self.without_kernel(reason)),
        }
    }

    /// The program that the empty kernel is of.
    ///
    /// # Errors
    /// As [`Self::kernel`].
    pub fn program(&self) -> Result<ur_program_handle_t, Failure> {
        match &self.kernel {
            Ok(kernel) => Ok(kernel.program.handle()),
            Err(reason) => Err(self.without_kernel(reason)),
        }
    }

    #[cold]
    fn without_kernel(&self, reason: &str) -> Failure {
        let reason = format!("no kernel: {reason}");
        let takes_it = self.raw.as_ref().is_none_or(Raw::can_launch);
        if takes_it { Failure::Other(reason) } else { Failure::Unavailable(reason) }
    }

    /// Launches the empty kernel on a queue, without an event.
    #[inline]
    pub fn launch_on(&self, queue: ur_queue_handle_t) -> Result<(), Failure> {
        let (kernel, offset, size) = (self.kernel()?, 0_usize, 1_usize);
        let (sizes, none) = (&raw const size, null_mut());
        // SAFETY: live handles, one dimension, no arguments, no lists.
        unsafe {
            call!(
                self.ur,
                EnqueueExp.pfnKernelLaunchWithArgsExp(
                    queue,
                    kernel,
                    1,
                    &raw const offset,
                    sizes,
                    sizes,
                    0,
                    null(),
                    null(),
                    0,
                    null(),
                    none
                )
            )
        }?;
        Ok(())
    }

    /// One more in-order queue.
    pub fn new_queue(&self) -> Result<Held<'u, ur_queue_handle_t_>, Failure> {
        Ok(self.ur.queue(self.context.handle(), self.listed.device.handle(), ur_queue_flags_t::empty())?)
    }

    /// Another device with a context, queue, kernel and raw side of its own.
    ///
    /// # Errors
    /// That there is none.
    pub fn other_device(&self, options: &Options) -> Result<Other<'u>, Failure> {
        let uuid = |device| self.ur.device_info(device, ur_device_info_t::UUID).ok().map(|uuid| uuid.0);
        let own = uuid(self.listed.device.handle());
        let mut devices = self.ur.all_devices(&[self.listed.adapter])?;
        devices.retain(|listed| uuid(listed.device.handle()) != own);
        let Some(listed) = devices.into_iter().next() else {
            return Err(Failure::Unavailable("there is one device".to_owned()));
        };
        let device = listed.device.handle();
        let context = self.ur.context(&[device])?;
        let queue = self.ur.queue(context.handle(), device, ur_queue_flags_t::empty())?;
        let image =
            std::fs::read(options.kernels.join("basic.ptx")).map_err(|error| Failure::Other(error.to_string()))?;
        let Kernel { kernel, program } = make_kernel(self.ur, context.handle(), device, &image)?;
        let raw = Api::of(self.backend).map(|api| {
            let libraries = match api {
                Api::Hip => ur_client::hip_libraries(),
                Api::Cuda => vec![options.native.clone()],
            };
            let uuid = uuid(device).and_then(|uuid| uuid.try_into().ok());
            Raw::new(api, &libraries, uuid, &options.kernels)
        });
        let raw = raw.transpose()?.filter(Raw::can_launch);
        Ok(Other { raw, queue, kernel, _program: program, _context: context, _listed: listed })
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

fn make_kernel<'u>(
    ur: &'u Ur,
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    image: &[u8],
) -> Result<Kernel<'u>, Failure> {
    let program = ur.program(context, device, image)?;
    Ok(Kernel { kernel: ur.kernel(program.handle(), c"empty")?, program })
}

/// Lets the UR's default pool keep what it has, as the raw side does with the driver's. Pools of a UR that cannot be asked
/// are the driver's, or stay as they are; answers which.
fn lift_threshold(ur: &Ur, context: ur_context_handle_t, device: ur_device_handle_t) -> String {
    let mut pool: ur_usm_pool_handle_t = null_mut();
    let mut most = usize::MAX;
    // SAFETY: live handles, a writable output, a value of the property's size.
    let lifted = unsafe {
        call!(ur, USMExp.pfnPoolGetDefaultDevicePoolExp(context, device, &raw mut pool)).and_then(|()| {
            let (property, value) = (ur_usm_pool_info_t::RELEASE_THRESHOLD_EXP, (&raw mut most).cast());
            call!(ur, USMExp.pfnPoolSetInfoExp(pool, property, value, size_of::<usize>()))
        })
    };
    lifted.map_or_else(|error| format!("as it was: {error}"), |()| "lifted".to_owned())
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
