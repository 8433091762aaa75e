//! `Driver` over the CUDA driver API: one native call a method.
//!
//! Nothing here decides anything: no caching, no retry, no switching of contexts. The few branches translate
//! what one status means in one call alone.

use core::ffi::{CStr, c_int, c_uint, c_void};
use std::ffi::CString;
use std::sync::OnceLock;

use ur_adapter::api::backend::*;
use ur_adapter::driver::memory_calls::{Access, Advice, Copy2D, IpcHandle, MemoryLocation};
use ur_adapter::driver::native_image::{BoxCopy, ResourceDescriptor};
use ur_adapter::driver::{EventPurpose, MemoryKind, Sensor, StreamKind};
use ur_adapter::native_call as call;
use ur_adapter::program::device_image::check_nvidia;
use ur_adapter::{
    plain_image_calls, plain_memory_calls, plain_module_calls, plain_pool_calls, plain_stream_calls,
    plain_virtual_memory_calls,
};
use ur_ffi::{ur_backend_t, ur_result_t};

use crate::map::{memory_kind, native_access, native_advice, physical_properties, pool_properties, spot_device};
use crate::nvml::Nvml;
use crate::sys::{
    self, CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUipcEventHandle, CUipcMemHandle, CUlaunchAttribute,
    CUlaunchConfig, CUmemAccessDesc, CUmemLocation, CUmemoryPool, CUmodule, CUphysical, CUresult, CUstream,
    CudaMemcpy2D, Symbols,
};
use crate::{device_info, program};

/// The one adapter of this library.
pub(crate) static CELL: AdapterCell<Cuda> = AdapterCell::new();

/// The opened driver.
pub(crate) struct Cuda {
    pub(crate) symbols: Symbols,
    /// `cuDriverGetVersion`: major * 1000 + minor * 10.
    pub(crate) version: u32,
    /// Opened when somebody first asks it.
    management: OnceLock<core::result::Result<Nvml, OpenError>>,
    /// Whether the driver found a device at all; without one it refuses to be initialised.
    has_devices: bool,
}

impl Cuda {
    /// Takes an opened library into use.
    fn start(symbols: Symbols, library: &str) -> core::result::Result<Self, OpenError> {
        // SAFETY: the symbol has the API's signature; flags must be 0.
        let status = unsafe { (symbols.init)(0) };
        if status != CUresult::SUCCESS && status != CUresult::NO_DEVICE {
            return Err(cannot_start(&symbols, library, "cuInit", status));
        }
        let has_devices = status == CUresult::SUCCESS;
        let mut version: c_int = 0;
        // SAFETY: as above, and `version` is a live local.
        let status = unsafe { (symbols.driver_version)(&raw mut version) };
        if status != CUresult::SUCCESS {
            return Err(cannot_start(&symbols, library, "cuDriverGetVersion", status));
        }
        Ok(Self { version: version.unsigned_abs(), has_devices, management: OnceLock::new(), symbols })
    }

    /// Whether the driver implements that version of CUDA.
    pub(crate) fn at_least(&self, major: u32, minor: u32) -> bool {
        self.version >= major * 1000 + minor * 10
    }

    fn function_attribute(&self, function: CUfunction, attribute: i32) -> Result<c_int> {
        let mut value: c_int = 0;
        call!(self.function_attribute(&raw mut value, attribute, function), "cuFuncGetAttribute")?;
        Ok(value)
    }
}

/// Says which pools the driver does not have.
///
/// # Unsupported
/// - pools of shared memory with a maximum size: the driver takes no limit for them
/// - needs: CUDA 12.2 for a pool with a maximum size, and a driver that has pools of host or shared memory for these
#[cold]
fn no_pool(kind: MemoryKind, max_size: usize, reason: &str) -> Error {
    let memory = match kind {
        MemoryKind::Device => "device",
        MemoryKind::Host => "host",
        MemoryKind::Shared => "shared",
    };
    let limit = if max_size == 0 { "" } else { " with a maximum size" };
    Error::new(
        ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        format!("this CUDA driver has no pools of {memory} memory{limit}: {reason}"),
    )
}

impl Driver for Cuda {
    type Device = CUdevice;
    type Place = CUcontext;
    type Stream = CUstream;
    type Event = CUevent;
    type Module = CUmodule;
    type Function = CUfunction;
    type Pool = CUmemoryPool;
    type Physical = CUphysical;

    const BACKEND: ur_backend_t = ur_backend_t::CUDA;
    const PLATFORM_NAME: &'static str = "NVIDIA CUDA BACKEND";
    const VENDOR: &'static str = "NVIDIA Corporation";
    const VENDOR_ID: u32 = 0x10de;
    const LIBRARY_VARIABLE: &'static str = sys::LIBRARY_VARIABLE;
    const TRANSFERS_NEED_PLACE: bool = false;
    const POOL_STEP: usize = 32 << 20;
    const PLACES_ARE_CONTEXTS: bool = true;
    const STRIDED_WIDTHS: &'static [usize] = &[4, 2, 1];
    const ADVISES_COHERENCE: bool = false;

    fn cell() -> &'static AdapterCell<Self> {
        &CELL
    }

    fn open() -> core::result::Result<Self, OpenError> {
        let (symbols, library) = sys::open()?;
        Self::start(symbols, &library)
    }

    fn version(&self) -> Result<String> {
        Ok(format!("CUDA {}.{}", self.version / 1000, self.version % 1000 / 10))
    }

    fn device_count(&self) -> Result<u32> {
        if !self.has_devices {
            return Ok(0);
        }
        let mut count: c_int = 0;
        call!(self.device_count(&raw mut count), "cuDeviceGetCount")?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    fn device(&self, ordinal: u32) -> Result<CUdevice> {
        let mut device = CUdevice::default();
        let ordinal = c_int::try_from(ordinal).map_err(|_| Error::code_only(ur_result_t::ERROR_INVALID_DEVICE))?;
        call!(self.device_get(&raw mut device, ordinal), "cuDeviceGet")?;
        Ok(device)
    }

    fn properties(&self, device: CUdevice) -> Result<DeviceProperties> {
        device_info::read(self, device)
    }

    plain_memory_calls! {
        memory_info = "cuMemGetInfo",
        can_access_peer = "cuDeviceCanAccessPeer",
        disable_peer = "cuCtxDisablePeerAccess",
        allocate_device = "cuMemAlloc",
        free_device = "cuMemFree",
        allocate_pitched = "cuMemAllocPitch",
        unregister_host = "cuMemHostUnregister",
        close_ipc = "cuIpcCloseMemHandle",
    }

    fn retain_place(&self, device: CUdevice) -> Result<CUcontext> {
        let mut context = CUcontext::default();
        call!(self.primary_context_retain(&raw mut context, device), "cuDevicePrimaryCtxRetain").map_err(|error| {
            match CUresult(error.native_status()) {
                // Before there is a context, the device is not lost but taken: another process has it exclusively.
                CUresult::DEVICE_UNAVAILABLE => error.with_code(ur_result_t::ERROR_DEVICE_NOT_AVAILABLE),
                _ => error,
            }
        })?;
        Ok(context)
    }

    fn release_place(&self, device: CUdevice) -> Result<()> {
        call!(self.primary_context_release(device), "cuDevicePrimaryCtxRelease")
    }

    fn place_is_active(&self, device: CUdevice) -> Result<bool> {
        let (mut flags, mut active): (c_uint, c_int) = (0, 0);
        call!(self.primary_context_state(device, &raw mut flags, &raw mut active), "cuDevicePrimaryCtxGetState")?;
        Ok(active != 0)
    }

    fn current_place(&self) -> Result<CUcontext> {
        let mut context = CUcontext::default();
        call!(self.context_current(&raw mut context), "cuCtxGetCurrent")?;
        Ok(context)
    }

    fn set_place(&self, place: CUcontext) -> Result<()> {
        call!(self.context_set_current(place), "cuCtxSetCurrent")
    }

    fn create_stream(&self, kind: StreamKind) -> Result<CUstream> {
        let StreamKind { priority, follows_default } = kind;
        // The range counts downwards, and 0 lies in it on every device.
        let (mut least, mut greatest): (c_int, c_int) = (0, 0);
        if priority != 0 {
            call!(self.context_priority_range(&raw mut least, &raw mut greatest), "cuCtxGetStreamPriorityRange")?;
        }
        let native = match priority {
            ..0 => greatest,
            0 => 0,
            1.. => least,
        };
        let mut stream = CUstream::default();
        let flags = if follows_default { 0 } else { sys::STREAM_NON_BLOCKING };
        call!(self.stream_create(&raw mut stream, flags, native), "cuStreamCreateWithPriority")?;
        Ok(stream)
    }

    plain_stream_calls! {
        destroy_stream = "cuStreamDestroy",
        synchronize_stream = "cuStreamSynchronize",
        stream_is_idle = "cuStreamQuery",
        destroy_event = "cuEventDestroy",
        record_event = "cuEventRecord",
        event_is_complete = "cuEventQuery",
        synchronize_event = "cuEventSynchronize",
    }

    fn stream_place(&self, stream: CUstream) -> Result<Option<CUcontext>> {
        let mut context = CUcontext::default();
        call!(self.stream_context(stream, &raw mut context), "cuStreamGetCtx")?;
        Ok(Some(context))
    }

    fn stream_wait(&self, stream: CUstream, event: CUevent) -> Result<()> {
        call!(self.stream_wait_event(stream, event, sys::EVENT_WAIT_DEFAULT), "cuStreamWaitEvent")
    }

    unsafe fn launch_host_function(
        &self,
        stream: CUstream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        call!(self.launch_host_function(stream, function, data), "cuLaunchHostFunc")
    }

    /// # Unsupported
    /// - needs: a driver with `cuStreamWaitValue32_v2`
    unsafe fn stream_wait_value(&self, stream: CUstream, word: usize, value: u32) -> Result<()> {
        let Some(wait) = self.symbols.stream_wait_value else {
            return Err(Error::unsupported("a driver without cuStreamWaitValue32_v2"));
        };
        // SAFETY: the symbol has the API's signature, the stream is alive and the caller vouches for the word.
        check(&self.symbols, "cuStreamWaitValue32", unsafe { wait(stream, word, value, sys::WAIT_VALUE_AT_LEAST) })
    }

    fn synchronize_place(&self) -> Result<()> {
        call!(self.context_synchronize(), "cuCtxSynchronize")
    }

    fn create_event(&self, purpose: EventPurpose) -> Result<CUevent> {
        let flags: c_uint = match purpose {
            EventPurpose::Order => sys::EVENT_DISABLE_TIMING,
            EventPurpose::Times => sys::EVENT_DEFAULT,
            EventPurpose::Processes => sys::EVENT_DISABLE_TIMING | sys::EVENT_INTERPROCESS,
        };
        let mut event = CUevent::default();
        call!(self.event_create(&raw mut event, flags), "cuEventCreate")?;
        Ok(event)
    }

    fn elapsed_ns(&self, start: CUevent, end: CUevent) -> Result<i64> {
        let elapsed = self.symbols.event_elapsed_v2.unwrap_or(self.symbols.event_elapsed);
        let mut milliseconds: f32 = 0.0;
        // SAFETY: the symbol has the API's signature, the output is a live local and both events are alive.
        let status = unsafe { elapsed(&raw mut milliseconds, start, end) };
        check(&self.symbols, "cuEventElapsedTime", status)?;
        #[allow(clippy::cast_possible_truncation, reason = "a float's cast saturates")]
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
    }

    fn allocate_host(&self, size: usize) -> Result<usize> {
        let mut pointer: *mut c_void = core::ptr::null_mut();
        call!(self.memory_allocate_host(&raw mut pointer, size, sys::HOST_ALLOC_PORTABLE_MAPPED), "cuMemHostAlloc")
            // The same status as for device memory, but here it is the host's that ran out.
            .map_err(|error| match error.code() {
                ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_HOST_MEMORY),
                _ => error,
            })?;
        Ok(pointer.addr())
    }

    fn allocate_shared(&self, size: usize) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        call!(self.memory_allocate_managed(&raw mut pointer, size, sys::MEM_ATTACH_GLOBAL), "cuMemAllocManaged")?;
        Ok(pointer)
    }

    fn free_host(&self, pointer: usize) -> Result<()> {
        call!(self.memory_free_host(core::ptr::with_exposed_provenance_mut(pointer)), "cuMemFreeHost")
    }

    fn pointer_info(&self, pointer: usize) -> Result<Option<PointerInfo<Self>>> {
        use sys::pointer::{DEVICE_ORDINAL, IS_MANAGED, MEMORY_TYPE, POOL, RANGE_SIZE, RANGE_START};
        const ASKED: [u32; 6] = [MEMORY_TYPE, IS_MANAGED, RANGE_START, RANGE_SIZE, DEVICE_ORDINAL, POOL];
        // An old driver refuses the whole question for one attribute it does not know.
        let count: c_uint = if self.at_least(11, 3) { 6 } else { 5 };
        // Each attribute writes up to 8 bytes of its own; shorter ones leave the rest 0.
        let mut values = [0_u64; ASKED.len()];
        let mut slots = values.each_mut().map(|value| core::ptr::from_mut(value).cast::<c_void>());
        call!(self.pointer_attributes(count, ASKED.as_ptr(), slots.as_mut_ptr(), pointer), "cuPointerGetAttributes")?;
        let [memory_type, managed, base, size, ordinal, pool] = values;
        let Some(kind) = memory_kind(memory_type, managed & 0xff != 0) else { return Ok(None) };
        #[allow(clippy::cast_possible_truncation, reason = "addresses of a 64-bit driver in a 64-bit process")]
        let (base, size, pool) = (base as usize, size as usize, pool as usize);
        // A device is named by its ordinal; memory of no device has a negative one, which no device equals.
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "an `int` in 8 bytes")]
        let device = CUdevice(ordinal as u32 as c_int);
        let pool = (pool != 0).then_some(CUmemoryPool(pool));
        Ok(Some(PointerInfo { kind, base, size, device, pool }))
    }

    fn create_pool(&self, kind: MemoryKind, device: CUdevice, max_size: usize) -> Result<CUmemoryPool> {
        // Before 12.2 the limit's bytes are reserved, and nobody says that they are looked at.
        if max_size != 0 && (kind == MemoryKind::Shared || !self.at_least(12, 2)) {
            return Err(no_pool(kind, max_size, "the driver takes no limit"));
        }
        let properties = pool_properties(kind, device, max_size);
        let mut pool = CUmemoryPool::default();
        call!(self.pool_create(&raw mut pool, &raw const properties), "cuMemPoolCreate").map_err(|error| {
            // How a driver refuses a type or a place that its version does not have.
            let refused = matches!(CUresult(error.native_status()), CUresult::INVALID_VALUE | CUresult::NOT_SUPPORTED);
            if refused && kind != MemoryKind::Device { no_pool(kind, max_size, error.message()) } else { error }
        })?;
        Ok(pool)
    }

    plain_pool_calls! {
        destroy_pool = "cuMemPoolDestroy",
        pool_attribute = "cuMemPoolGetAttribute",
        set_pool_attribute = "cuMemPoolSetAttribute",
        trim_pool = "cuMemPoolTrimTo",
        free_async = "cuMemFreeAsync",
    }

    fn allow_pool_access(&self, pool: CUmemoryPool, device: CUdevice) -> Result<()> {
        let location = CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 };
        let access = CUmemAccessDesc { location, flags: sys::ACCESS_READ_WRITE };
        call!(self.pool_set_access(pool, &raw const access, 1), "cuMemPoolSetAccess")
    }

    #[inline(always)]
    fn allocate_from_pool(&self, pool: CUmemoryPool, size: usize, stream: CUstream) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        call!(self.pool_allocate(&raw mut pointer, size, pool, stream), "cuMemAllocFromPoolAsync")?;
        Ok(pointer)
    }

    #[inline(always)]
    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, stream: CUstream) -> Result<()> {
        call!(self.copy_async(to, from, size, stream), "cuMemcpyAsync")
    }

    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, stream: CUstream) -> Result<()> {
        #[allow(clippy::cast_possible_truncation, reason = "the width says how much of the value counts")]
        match width {
            1 => call!(self.fill8_async(to, value as u8, count, stream), "cuMemsetD8Async"),
            2 => call!(self.fill16_async(to, value as u16, count, stream), "cuMemsetD16Async"),
            4 => call!(self.fill32_async(to, value, count, stream), "cuMemsetD32Async"),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }

    unsafe fn fill_strided_async(&self, rows: Rows, width: usize, value: u32, stream: CUstream) -> Result<()> {
        let Rows { first, length, pitch, count } = rows;
        #[allow(clippy::cast_possible_truncation, reason = "the width says how much of the value counts")]
        match width {
            1 => call!(self.fill2d8_async(first, pitch, value as u8, length, count, stream), "cuMemsetD2D8Async"),
            2 => call!(self.fill2d16_async(first, pitch, value as u16, length, count, stream), "cuMemsetD2D16Async"),
            4 => call!(self.fill2d32_async(first, pitch, value, length, count, stream), "cuMemsetD2D32Async"),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }

    unsafe fn copy_2d_async(&self, copy: &Copy2D, stream: CUstream) -> Result<()> {
        let native = CudaMemcpy2D {
            from_type: sys::MEMORY_TYPE_UNIFIED,
            from_device: copy.from.address,
            from_pitch: copy.from.pitch,
            to_type: sys::MEMORY_TYPE_UNIFIED,
            to_device: copy.to.address,
            to_pitch: copy.to.pitch,
            width: copy.width,
            height: copy.height,
            ..CudaMemcpy2D::default()
        };
        call!(self.copy_2d_async(&raw const native, stream), "cuMemcpy2DAsync")
    }

    fn register_host(&self, address: usize, size: usize, read_only: bool) -> Result<()> {
        let flags = sys::REGISTER_PORTABLE_MAPPED | if read_only { sys::REGISTER_READ_ONLY } else { 0 };
        call!(self.memory_register(address, size, flags), "cuMemHostRegister")
    }

    fn prefetch_async(
        &self,
        address: usize,
        size: usize,
        to: MemoryLocation<CUdevice>,
        stream: CUstream,
    ) -> Result<()> {
        call!(self.memory_prefetch(address, size, spot_device(to), stream), "cuMemPrefetchAsync")
    }

    fn advise(&self, address: usize, size: usize, advice: Advice<CUdevice>) -> Result<()> {
        let Some((advice, device)) = native_advice(advice) else {
            return Err(Error::code_only(ur_result_t::ERROR_UNSUPPORTED_FEATURE));
        };
        call!(self.memory_advise(address, size, advice, device), "cuMemAdvise")
    }

    fn ipc_handle(&self, address: usize) -> Result<IpcHandle> {
        let mut handle = CUipcMemHandle([0; 64]);
        call!(self.ipc_get(&raw mut handle, address), "cuIpcGetMemHandle")?;
        Ok(handle.0)
    }

    fn open_ipc(&self, handle: &IpcHandle) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        call!(self.ipc_open(&raw mut pointer, CUipcMemHandle(*handle), sys::IPC_LAZY_PEER), "cuIpcOpenMemHandle")?;
        Ok(pointer)
    }

    fn event_ipc_handle(&self, event: CUevent) -> Result<IpcHandle> {
        let mut handle = CUipcEventHandle([0; 64]);
        call!(self.ipc_event_get(&raw mut handle, event), "cuIpcGetEventHandle")?;
        Ok(handle.0)
    }

    fn open_event_ipc(&self, handle: &IpcHandle) -> Result<CUevent> {
        let mut event = CUevent::default();
        call!(self.ipc_event_open(&raw mut event, CUipcEventHandle(*handle)), "cuIpcOpenEventHandle")?;
        Ok(event)
    }

    /// # Unsupported
    /// - needs: NVML, which comes with the driver, for throttle reasons, fan speed and power limits
    fn sensor(&self, device: &DeviceProperties, sensor: Sensor) -> Result<u32> {
        match self.management.get_or_init(Nvml::open) {
            Ok(nvml) => nvml.read(device, sensor),
            Err(error) => Err(Error::new(
                ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
                format!("urDeviceGetInfo: {sensor:?} is for NVML to tell: {error}"),
            )),
        }
    }

    fn has_peer_atomics(&self, device: CUdevice, peer: CUdevice) -> Result<bool> {
        let mut has: c_int = 0;
        call!(self.peer_attribute(&raw mut has, sys::P2P_NATIVE_ATOMICS, device, peer), "cuDeviceGetP2PAttribute")?;
        Ok(has != 0)
    }

    fn enable_peer(&self, peer: CUcontext) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the peer's context is alive; flags must be 0.
        match unsafe { (self.symbols.peer_enable)(peer, 0) } {
            CUresult::PEER_ACCESS_ALREADY_ENABLED => Ok(false),
            status => check(&self.symbols, "cuCtxEnablePeerAccess", status).map(|()| true),
        }
    }

    fn granularity(&self, device: CUdevice, recommended: bool) -> Result<usize> {
        let (properties, mut bytes) = (physical_properties(device, false), 0);
        call!(
            self.granularity(&raw mut bytes, &raw const properties, recommended.into()),
            "cuMemGetAllocationGranularity"
        )?;
        Ok(bytes)
    }

    plain_virtual_memory_calls! {
        described by physical_properties, shared as sys::HANDLE_POSIX;
        reserve_addresses = "cuMemAddressReserve",
        free_addresses = "cuMemAddressFree",
        create_physical = "cuMemCreate",
        release_physical = "cuMemRelease",
        map = "cuMemMap",
        unmap = "cuMemUnmap",
        export_physical = "cuMemExportToShareableHandle",
        import_physical = "cuMemImportFromShareableHandle",
    }

    fn set_access(&self, address: usize, size: usize, device: CUdevice, access: Access) -> Result<()> {
        let location = CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 };
        let access = CUmemAccessDesc { location, flags: native_access(access) };
        call!(self.physical_set_access(address, size, &raw const access, 1), "cuMemSetAccess")
    }

    fn access(&self, address: usize, device: CUdevice) -> Result<Access> {
        let (location, mut flags) = (CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 }, 0);
        call!(self.physical_access(&raw mut flags, &raw const location, address), "cuMemGetAccess")?;
        Ok(match c_int::try_from(flags) {
            Ok(sys::ACCESS_NONE) => Access::None,
            Ok(sys::ACCESS_READ) => Access::ReadOnly,
            _ => Access::ReadWrite,
        })
    }

    plain_image_calls! {
        create_array = "cuArray3DCreate",
        destroy_array = "cuArrayDestroy",
        create_texture = "cuTexObjectCreate",
        destroy_texture = "cuTexObjectDestroy",
    }

    fn create_surface(&self, array: usize) -> Result<u64> {
        let (mut surface, resource) = (0, ResourceDescriptor::array(array));
        call!(self.surface_create(&raw mut surface, &raw const resource), "cuSurfObjectCreate")?;
        Ok(surface)
    }

    fn destroy_surface(&self, surface: u64) -> Result<()> {
        call!(self.surface_destroy(surface), "cuSurfObjectDestroy")
    }

    unsafe fn copy_box_async(&self, copy: &BoxCopy, stream: CUstream) -> Result<()> {
        let [width, height, depth] = copy.extent;
        let described = sys::Memcpy3D { src: copy.from.into(), dst: copy.to.into(), width, height, depth };
        call!(self.copy_3d_async(&raw const described, stream), "cuMemcpy3DAsync")
    }

    fn check_image(&self, image: &[u8]) -> Result<()> {
        check_nvidia(image)
    }

    fn load_module(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<CUmodule> {
        program::load(&self.symbols, image, request)
    }

    fn compile(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<()> {
        program::compile(&self.symbols, image, request)
    }

    fn link(&self, images: &[&[u8]], request: &mut BuildRequest<'_>) -> Result<Vec<u8>> {
        program::link(&self.symbols, images, request)
    }

    /// # Unsupported
    /// - note: the kernels of a module are told where the driver has `cuModuleEnumerateFunctions`
    fn function_names(&self, module: CUmodule) -> Result<Option<Vec<String>>> {
        let (Some(count), Some(list)) = (self.symbols.module_function_count, self.symbols.module_functions) else {
            return Ok(None);
        };
        let mut number: c_uint = 0;
        // SAFETY: the symbol has the API's signature, the output is a live local and the module is loaded.
        check(&self.symbols, "cuModuleGetFunctionCount", unsafe { count(&raw mut number, module) })?;
        let mut functions = vec![CUfunction::default(); number as usize];
        // SAFETY: as above; the list has room for as many as are asked for.
        check(&self.symbols, "cuModuleEnumerateFunctions", unsafe { list(functions.as_mut_ptr(), number, module) })?;
        let mut names = Vec::with_capacity(functions.len());
        for function in functions {
            let Some(name) = self.function_name(function)? else { return Ok(None) };
            names.push(name.to_string_lossy().into_owned());
        }
        Ok(Some(names))
    }

    plain_module_calls! {
        unload_module = "cuModuleUnload",
        resident_blocks = "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        allow_dynamic_shared(sys::function::MAX_DYNAMIC_SHARED) = "cuFuncSetAttribute",
    }

    fn function(&self, module: CUmodule, name: &CStr) -> Result<Option<CUfunction>> {
        let mut function = CUfunction::default();
        // SAFETY: the symbol has the API's signature, the output is a live local, the module is loaded and
        // the name ends with a NUL.
        let status = unsafe { (self.symbols.module_function)(&raw mut function, module, name.as_ptr()) };
        match status {
            CUresult::SUCCESS => Ok(Some(function)),
            CUresult::NOT_FOUND => Ok(None),
            _ => Err(failed(&self.symbols, "cuModuleGetFunction", status)),
        }
    }

    fn global(&self, module: CUmodule, name: &CStr) -> Result<Option<(usize, usize)>> {
        let (mut address, mut size): (CUdeviceptr, usize) = (0, 0);
        // SAFETY: the symbol has the API's signature, the outputs are live locals, the module is loaded and the name
        // ends with a NUL.
        let status = unsafe { (self.symbols.module_global)(&raw mut address, &raw mut size, module, name.as_ptr()) };
        match status {
            CUresult::SUCCESS => Ok(Some((address, size))),
            CUresult::NOT_FOUND => Ok(None),
            _ => Err(failed(&self.symbols, "cuModuleGetGlobal", status)),
        }
    }

    fn function_attributes(&self, function: CUfunction) -> Result<FunctionAttributes> {
        let number = |attribute| -> Result<u32> { Ok(self.function_attribute(function, attribute)?.unsigned_abs()) };
        let bytes = |attribute| -> Result<usize> { Ok(number(attribute)? as usize) };
        Ok(FunctionAttributes {
            max_threads_per_block: number(sys::function::MAX_THREADS_PER_BLOCK)?,
            static_shared: bytes(sys::function::SHARED_SIZE)?,
            private_memory: bytes(sys::function::LOCAL_SIZE)?,
            registers: number(sys::function::REGISTERS)?,
            constant_memory: bytes(sys::function::CONST_SIZE)?,
            binary_version: number(sys::function::BINARY_VERSION)?,
        })
    }

    fn function_name(&self, function: CUfunction) -> Result<Option<CString>> {
        let Some(ask) = self.symbols.function_name else { return Ok(None) };
        let mut name = core::ptr::null();
        // SAFETY: the symbol has the API's signature, the output is a live local and the function's module is loaded.
        check(&self.symbols, "cuFuncGetName", unsafe { ask(&raw mut name, function) })?;
        // SAFETY: the driver's name is NUL-terminated and lives as long as the module.
        Ok((!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned()))
    }

    /// # Unsupported
    /// - note: the module of a function is told where the driver has `cuFuncGetModule`
    fn function_module(&self, function: CUfunction) -> Result<Option<CUmodule>> {
        let Some(ask) = self.symbols.function_module else { return Ok(None) };
        let mut module = CUmodule::default();
        // SAFETY: the symbol has the API's signature, the output is a live local and the function's module is loaded.
        check(&self.symbols, "cuFuncGetModule", unsafe { ask(&raw mut module, function) })?;
        Ok(Some(module))
    }

    fn prefer_cache(&self, function: CUfunction, preference: CachePreference) -> Result<()> {
        let native = match preference {
            CachePreference::None => sys::cache::PREFER_NONE,
            CachePreference::WorkGroupMemory => sys::cache::PREFER_SHARED,
            CachePreference::DataCache => sys::cache::PREFER_L1,
        };
        call!(self.function_set_cache(function, native), "cuFuncSetCacheConfig")
    }

    /// # Unsupported
    /// - note: the parameters of a function are told where the driver has `cuFuncGetParamInfo`
    fn function_parameters(&self, function: CUfunction) -> Result<Option<Vec<usize>>> {
        let Some(parameter) = self.symbols.function_parameter else { return Ok(None) };
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the symbol has the API's signature, both outputs are live locals and the function's
            // module is loaded.
            let status = unsafe { parameter(function, sizes.len(), &raw mut offset, &raw mut size) };
            match status {
                CUresult::SUCCESS => sizes.push(size),
                // How the driver says that there are no more.
                CUresult::INVALID_VALUE => return Ok(Some(sizes)),
                // Code that a driver's own compiler did not make carries no parameter table.
                CUresult::NOT_SUPPORTED => return Ok(None),
                _ => return Err(failed(&self.symbols, "cuFuncGetParamInfo", status)),
            }
        }
    }

    fn allow_large_clusters(&self, function: CUfunction) -> Result<()> {
        call!(self.function_set_attribute(function, sys::function::NON_PORTABLE_CLUSTERS, 1), "cuFuncSetAttribute")
    }

    fn suggested_block_size(&self, function: CUfunction, dynamic_shared: usize, limit: u32) -> Result<u32> {
        let (mut grid, mut block): (c_int, c_int) = (0, 0);
        let limit = c_int::try_from(limit).unwrap_or(c_int::MAX);
        call!(
            self.occupancy_block_size(&raw mut grid, &raw mut block, function, None, dynamic_shared, limit),
            "cuOccupancyMaxPotentialBlockSize"
        )?;
        Ok(block.unsigned_abs())
    }

    #[inline]
    unsafe fn launch(
        &self,
        function: CUfunction,
        shape: LaunchShape,
        stream: CUstream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let LaunchShape { grid: [gx, gy, gz], block: [bx, by, bz], dynamic_shared } = shape;
        // The driver reads the arguments only; C has no `const` there.
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        call!(
            self.launch(function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, arguments, core::ptr::null_mut()),
            "cuLaunchKernel"
        )
    }

    unsafe fn launch_cooperative(
        &self,
        function: CUfunction,
        shape: LaunchShape,
        stream: CUstream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let LaunchShape { grid: [gx, gy, gz], block: [bx, by, bz], dynamic_shared } = shape;
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        call!(
            self.launch_cooperative(function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, arguments),
            "cuLaunchCooperativeKernel"
        )
    }

    /// # Unsupported
    /// - needs: a driver with `cuLaunchKernelEx`, for a launch in clusters
    unsafe fn launch_clusters(
        &self,
        function: CUfunction,
        shape: LaunchShape,
        cluster: [u32; 3],
        cooperative: bool,
        stream: CUstream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let Some(launch) = self.symbols.launch_extended else {
            return Err(Error::unsupported("a launch in clusters by this driver"));
        };
        let attributes = [
            CUlaunchAttribute::new(sys::launch_attribute::CLUSTER_DIMENSION, &cluster),
            CUlaunchAttribute::new(sys::launch_attribute::COOPERATIVE, &[1]),
        ];
        let config = CUlaunchConfig {
            grid: shape.grid,
            block: shape.block,
            shared: shape.dynamic_shared,
            stream,
            attributes: attributes.as_ptr(),
            count: if cooperative { 2 } else { 1 },
        };
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        // SAFETY: the symbol has the API's signature, configuration and attributes are live locals, and the caller
        // vouches for the arguments.
        let status = unsafe { launch(&raw const config, function, arguments, core::ptr::null_mut()) };
        check(&self.symbols, "cuLaunchKernelEx", status)
    }
}
