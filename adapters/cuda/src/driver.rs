//! `Driver` over the CUDA driver API: one native call a method.
//!
//! Nothing here decides anything: no caching, no retry, no switching of contexts. The few branches translate
//! what one status means in one call alone.

use core::ffi::{CStr, c_int, c_uint, c_void};

use ur_adapter::backend::*;
use ur_adapter::driver::{MemoryKind, PoolAttribute};
use ur_adapter::image::check_nvidia;
use ur_adapter::native_call as call;
use ur_ffi::{ur_backend_t, ur_result_t};

use crate::map::{memory_kind, pool_properties};
use crate::sys::{
    self, CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUmemAccessDesc, CUmemLocation, CUmemoryPool,
    CUmodule, CUresult, CUstream, Symbols,
};
use crate::{device_info, program};

/// The one adapter of this library.
pub(crate) static CELL: AdapterCell<Cuda> = AdapterCell::new();

/// The opened driver.
pub(crate) struct Cuda {
    pub(crate) symbols: Symbols,
    /// `cuDriverGetVersion`: major * 1000 + minor * 10.
    pub(crate) version: u32,
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
        Ok(Self { version: version.unsigned_abs(), has_devices, symbols })
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

    const BACKEND: ur_backend_t = ur_backend_t::CUDA;
    const PLATFORM_NAME: &'static str = "NVIDIA CUDA BACKEND";
    const VENDOR: &'static str = "NVIDIA Corporation";
    const VENDOR_ID: u32 = 0x10de;
    const LIBRARY_VARIABLE: &'static str = sys::LIBRARY_VARIABLE;
    const TRANSFERS_NEED_PLACE: bool = false;
    const POOL_STEP: usize = 32 << 20;
    const STRIDED_WIDTHS: &'static [usize] = &[4, 2, 1];

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

    fn memory_info(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        call!(self.memory_info(&raw mut free, &raw mut total), "cuMemGetInfo")?;
        Ok((free, total))
    }

    fn can_access_peer(&self, device: CUdevice, peer: CUdevice) -> Result<bool> {
        let mut can: c_int = 0;
        call!(self.device_can_access_peer(&raw mut can, device, peer), "cuDeviceCanAccessPeer")?;
        Ok(can != 0)
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

    fn current_place(&self) -> Result<CUcontext> {
        let mut context = CUcontext::default();
        call!(self.context_current(&raw mut context), "cuCtxGetCurrent")?;
        Ok(context)
    }

    fn set_place(&self, place: CUcontext) -> Result<()> {
        call!(self.context_set_current(place), "cuCtxSetCurrent")
    }

    fn create_stream(&self, priority: i32) -> Result<CUstream> {
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
        call!(self.stream_create(&raw mut stream, sys::STREAM_NON_BLOCKING, native), "cuStreamCreateWithPriority")?;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: CUstream) -> Result<()> {
        call!(self.stream_destroy(stream), "cuStreamDestroy")
    }

    fn synchronize_stream(&self, stream: CUstream) -> Result<()> {
        call!(self.stream_synchronize(stream), "cuStreamSynchronize")
    }

    fn stream_is_idle(&self, stream: CUstream) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the stream is alive.
        done(&self.symbols, "cuStreamQuery", unsafe { (self.symbols.stream_query)(stream) })
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

    fn create_event(&self, timing: bool) -> Result<CUevent> {
        let flags: c_uint = if timing { sys::EVENT_DEFAULT } else { sys::EVENT_DISABLE_TIMING };
        let mut event = CUevent::default();
        call!(self.event_create(&raw mut event, flags), "cuEventCreate")?;
        Ok(event)
    }

    fn destroy_event(&self, event: CUevent) -> Result<()> {
        call!(self.event_destroy(event), "cuEventDestroy")
    }

    fn record_event(&self, event: CUevent, stream: CUstream) -> Result<()> {
        call!(self.event_record(event, stream), "cuEventRecord")
    }

    fn event_is_complete(&self, event: CUevent) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the event is alive.
        done(&self.symbols, "cuEventQuery", unsafe { (self.symbols.event_query)(event) })
    }

    fn synchronize_event(&self, event: CUevent) -> Result<()> {
        call!(self.event_synchronize(event), "cuEventSynchronize")
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

    fn allocate_device(&self, size: usize) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        call!(self.memory_allocate(&raw mut pointer, size), "cuMemAlloc")?;
        Ok(pointer)
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

    fn free_device(&self, pointer: usize) -> Result<()> {
        call!(self.memory_free(pointer), "cuMemFree")
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

    fn destroy_pool(&self, pool: CUmemoryPool) -> Result<()> {
        call!(self.pool_destroy(pool), "cuMemPoolDestroy")
    }

    fn pool_attribute(&self, pool: CUmemoryPool, attribute: PoolAttribute) -> Result<u64> {
        // An `int` fills the lower half and leaves the other 0.
        let mut value = 0_u64;
        call!(self.pool_attribute(pool, attribute as c_int, (&raw mut value).cast()), "cuMemPoolGetAttribute")?;
        Ok(value)
    }

    fn set_pool_attribute(&self, pool: CUmemoryPool, attribute: PoolAttribute, value: u64) -> Result<()> {
        // Of an `int` the driver reads the lower half.
        let mut value = value;
        call!(self.pool_set_attribute(pool, attribute as c_int, (&raw mut value).cast()), "cuMemPoolSetAttribute")
    }

    fn allow_pool_access(&self, pool: CUmemoryPool, device: CUdevice) -> Result<()> {
        let location = CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 };
        let access = CUmemAccessDesc { location, flags: sys::ACCESS_READ_WRITE };
        call!(self.pool_set_access(pool, &raw const access, 1), "cuMemPoolSetAccess")
    }

    fn allocate_from_pool(&self, pool: CUmemoryPool, size: usize, stream: CUstream) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        call!(self.pool_allocate(&raw mut pointer, size, pool, stream), "cuMemAllocFromPoolAsync")?;
        Ok(pointer)
    }

    fn trim_pool(&self, pool: CUmemoryPool, keep: usize) -> Result<()> {
        call!(self.pool_trim(pool, keep), "cuMemPoolTrimTo")
    }

    fn free_async(&self, pointer: usize, stream: CUstream) -> Result<()> {
        call!(self.free_async(pointer, stream), "cuMemFreeAsync")
    }

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
        let Rows { first, pitch, count } = rows;
        #[allow(clippy::cast_possible_truncation, reason = "the width says how much of the value counts")]
        match width {
            1 => call!(self.fill2d8_async(first, pitch, value as u8, 1, count, stream), "cuMemsetD2D8Async"),
            2 => call!(self.fill2d16_async(first, pitch, value as u16, 1, count, stream), "cuMemsetD2D16Async"),
            4 => call!(self.fill2d32_async(first, pitch, value, 1, count, stream), "cuMemsetD2D32Async"),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }

    fn check_image(&self, image: &[u8]) -> Result<()> {
        check_nvidia(image)
    }

    fn load_module(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<CUmodule> {
        program::load(&self.symbols, image, request)
    }

    fn unload_module(&self, module: CUmodule) -> Result<()> {
        call!(self.module_unload(module), "cuModuleUnload")
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

    fn allow_dynamic_shared(&self, function: CUfunction, bytes: usize) -> Result<()> {
        let bytes = c_int::try_from(bytes).map_err(|_| Error::code_only(ur_result_t::ERROR_OUT_OF_RESOURCES))?;
        call!(self.function_set_attribute(function, sys::function::MAX_DYNAMIC_SHARED, bytes), "cuFuncSetAttribute")
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
}
