//! `Driver` over the HIP runtime API: one native call a method.
//!
//! Nothing here decides anything: no caching, no retry, no switching of devices. The few branches translate what
//! one status means in one call alone.
//!
//! # Which calls look at the thread's current device
//! From the sources of AMD's runtime (ROCm/clr, `hipamd/src`, 5.2 to 7.1); the engine opens a scope for the first
//! two groups and for nothing else:
//!
//! | call | current device |
//! |---|---|
//! | `hipStreamCreateWithPriority`, `hipEventCreateWithFlags`, `hipMalloc`, `hipHostMalloc`, `hipMallocManaged`, `hipMemGetInfo`, `hipDeviceGetStreamPriorityRange`, `hipModuleLoadDataEx`, `hipModuleOccupancyMaxPotentialBlockSize`, `hipDeviceSynchronize` | is what they are about |
//! | `hipModuleGetFunction` | must be the module's; 5.x ends the process otherwise |
//! | `hipFuncGetAttribute`, `hipFuncSetAttribute` | chooses whose code is looked at; that of another device is not there |
//! | `hipMemcpyAsync`, `hipMemset*Async` | run on the stream's device, but check access to virtually mapped memory (pools may be made of it) for the current one: `TRANSFERS_NEED_PLACE` |
//! | `hipModuleLaunchKernel`, `hipEventRecord`, `hipStreamWaitEvent`, `hipLaunchHostFunc`, `hipStreamWaitValue32`, `hipMallocFromPoolAsync`, `hipFreeAsync`, `hipStream*`, `hipEvent*`, `hipFree`, `hipHostFree`, `hipMemPool*`, `hipPointerGetAttributes`, `hipMemGetAddressRange`, `hipModuleUnload` | not looked at: stream, event, pool or pointer name the device |

use core::ffi::{CStr, c_int, c_uint, c_void};

use ur_adapter::backend::*;
use ur_adapter::driver::{MemoryKind, PoolAttribute};
use ur_adapter::native_call as call;
use ur_ffi::{ur_backend_t, ur_result_t};

use crate::map::memory_kind;
use crate::program::Loader;
use crate::sys::{
    self, DevicePointer, HipError, HipEvent, HipFunction, HipMemPool, HipModule, HipStream, MemAccess, MemLocation,
    Ordinal, PointerAttributes, PoolProperties, Symbols, flag,
};
use crate::{device_info, program};

/// The one adapter of this library.
pub(crate) static CELL: AdapterCell<Hip> = AdapterCell::new();

/// The opened runtime.
pub(crate) struct Hip {
    pub(crate) symbols: Symbols,
    /// `hipRuntimeGetVersion`: major * 10 000 000 + minor * 100 000 + patch.
    version: u32,
    /// Whether the runtime found a device at all; without one its calls fail.
    has_devices: bool,
    /// What its module loader takes.
    loader: Loader,
}

impl Hip {
    /// Takes an opened library into use.
    fn start(symbols: Symbols, library: &str) -> core::result::Result<Self, OpenError> {
        // SAFETY: the symbol has the API's signature; flags must be 0.
        let status = unsafe { (symbols.init)(0) };
        let has_devices = match status {
            HipError::hipSuccess => true,
            // 5.x has the second word for it.
            HipError::hipErrorNoDevice | HipError::hipErrorInvalidDevice => false,
            _ => return Err(cannot_start(&symbols, library, "hipInit", status)),
        };
        let mut version: c_int = 0;
        // SAFETY: as above, and `version` is a live local.
        let status = unsafe { (symbols.runtime_version)(&raw mut version) };
        if status != HipError::hipSuccess {
            return Err(cannot_start(&symbols, library, "hipRuntimeGetVersion", status));
        }
        let mut this = Self { version: version.unsigned_abs(), has_devices, loader: Loader::Amd, symbols };
        // Of what cannot be asked, the devices' own reading fails with the call's name later.
        if this.device_count().is_ok_and(|count| count > 0)
            && let Ok(identity) = device_info::identity(&this, Ordinal(0))
        {
            this.loader = Loader::of(&identity.architecture);
        }
        Ok(this)
    }

    /// Whether pools keep to a limit; before, the bytes of it are reserved and ignored.
    fn limits_pools(&self) -> bool {
        self.version >= 60_200_000
    }

    /// Whether structures and enumerations are those that ROCm 6 changed.
    fn is_rocm_6(&self) -> bool {
        self.version >= 60_000_000
    }

    fn function_attribute(&self, function: HipFunction, attribute: c_int) -> Result<u32> {
        let mut value: c_int = 0;
        call!(self.function_attribute(&raw mut value, attribute, function), "hipFuncGetAttribute")?;
        // The runtime computes sizes with a subtraction and lets -1 out.
        Ok(u32::try_from(value).unwrap_or(0))
    }
}

impl Driver for Hip {
    type Device = Ordinal;
    type Place = Ordinal;
    type Stream = HipStream;
    type Event = HipEvent;
    type Module = HipModule;
    type Function = HipFunction;
    type Pool = HipMemPool;

    const BACKEND: ur_backend_t = ur_backend_t::HIP;
    const PLATFORM_NAME: &'static str = "AMD HIP BACKEND";
    const VENDOR: &'static str = "Advanced Micro Devices";
    const VENDOR_ID: u32 = 0x1002;
    const LIBRARY_VARIABLE: &'static str = sys::LIBRARY_VARIABLE;
    const TRANSFERS_NEED_PLACE: bool = true;
    // The runtime compares bytes with the limit and rounds nothing (ROCm 6.2 to 7.1); CUDA's step makes the same limits
    // of the same requests on both backends.
    const POOL_STEP: usize = 32 << 20;
    // The fills of wider units are new in ROCm 7 and count a row's width now in bytes and now in units.
    const STRIDED_WIDTHS: &'static [usize] = &[1];

    fn cell() -> &'static AdapterCell<Hip> {
        &CELL
    }

    fn open() -> core::result::Result<Self, OpenError> {
        sys::open().and_then(|(symbols, library)| Self::start(symbols, &library))
    }

    fn version(&self) -> Result<String> {
        let (major, minor, patch) = (self.version / 10_000_000, self.version / 100_000 % 100, self.version % 100_000);
        Ok(format!("HIP {major}.{minor}.{patch}"))
    }

    fn device_count(&self) -> Result<u32> {
        let mut count: c_int = 0;
        if !self.has_devices {
            return Ok(0);
        }
        // SAFETY: the symbol has the API's signature and the output is a live local.
        match unsafe { (self.symbols.device_count)(&raw mut count) } {
            // A library that initialises without a device says so here.
            HipError::hipErrorNoDevice => Ok(0),
            status => check(&self.symbols, "hipGetDeviceCount", status).map(|()| count.unsigned_abs()),
        }
    }

    fn device(&self, ordinal: u32) -> Result<Ordinal> {
        c_int::try_from(ordinal).map(Ordinal).map_err(|_| Error::code_only(ur_result_t::ERROR_INVALID_DEVICE))
    }

    fn properties(&self, device: Ordinal) -> Result<DeviceProperties> {
        device_info::read(self, device)
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        call!(self.memory_info(&raw mut free, &raw mut total), "hipMemGetInfo")?;
        Ok((free, total))
    }

    fn can_access_peer(&self, device: Ordinal, peer: Ordinal) -> Result<bool> {
        let mut can: c_int = 0;
        call!(self.device_can_access_peer(&raw mut can, device, peer), "hipDeviceCanAccessPeer")?;
        Ok(can != 0)
    }

    fn retain_place(&self, device: Ordinal) -> Result<Ordinal> {
        Ok(device)
    }

    fn release_place(&self, _device: Ordinal) -> Result<()> {
        Ok(())
    }

    fn current_place(&self) -> Result<Ordinal> {
        let mut device = Ordinal(0);
        call!(self.device_current(&raw mut device), "hipGetDevice")?;
        Ok(device)
    }

    fn set_place(&self, place: Ordinal) -> Result<()> {
        call!(self.device_set(place), "hipSetDevice")
    }

    fn create_stream(&self, priority: i32) -> Result<HipStream> {
        let mut stream = HipStream::default();
        // The range counts downwards, and 0 lies in it on every device.
        let native = if priority == 0 {
            0
        } else {
            let (mut least, mut greatest): (c_int, c_int) = (0, 0);
            call!(self.device_priority_range(&raw mut least, &raw mut greatest), "hipDeviceGetStreamPriorityRange")?;
            if priority < 0 { greatest } else { least }
        };
        call!(self.stream_create(&raw mut stream, flag::hipStreamNonBlocking, native), "hipStreamCreateWithPriority")?;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: HipStream) -> Result<()> {
        call!(self.stream_destroy(stream), "hipStreamDestroy")
    }

    fn synchronize_stream(&self, stream: HipStream) -> Result<()> {
        call!(self.stream_synchronize(stream), "hipStreamSynchronize")
    }

    fn stream_is_idle(&self, stream: HipStream) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the stream is alive.
        done(&self.symbols, "hipStreamQuery", unsafe { (self.symbols.stream_query)(stream) })
    }

    fn stream_wait(&self, stream: HipStream, event: HipEvent) -> Result<()> {
        call!(self.stream_wait_event(stream, event, 0), "hipStreamWaitEvent")
    }

    unsafe fn launch_host_function(
        &self,
        stream: HipStream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        let Some(launch) = self.symbols.launch_host_function else {
            return Err(Error::unsupported("a runtime without hipLaunchHostFunc"));
        };
        // SAFETY: the symbol has the API's signature, the stream is alive and the caller vouches for the function.
        check(&self.symbols, "hipLaunchHostFunc", unsafe { launch(stream, function, data) })
    }

    unsafe fn stream_wait_value(&self, stream: HipStream, word: usize, value: u32) -> Result<()> {
        let Some(wait) = self.symbols.stream_wait_value else {
            return Err(Error::unsupported("a runtime without hipStreamWaitValue32"));
        };
        // SAFETY: the symbol has the API's signature, the stream is alive and the caller vouches for the word.
        let status = unsafe { wait(stream, word, value, flag::hipStreamWaitValueGte, u32::MAX) };
        check(&self.symbols, "hipStreamWaitValue32", status)
    }

    fn synchronize_place(&self) -> Result<()> {
        call!(self.device_synchronize(), "hipDeviceSynchronize")
    }

    fn create_event(&self, timing: bool) -> Result<HipEvent> {
        let flags: c_uint = if timing { 0 } else { flag::hipEventDisableTiming };
        let mut event = HipEvent::default();
        call!(self.event_create(&raw mut event, flags), "hipEventCreateWithFlags")?;
        Ok(event)
    }

    fn destroy_event(&self, event: HipEvent) -> Result<()> {
        call!(self.event_destroy(event), "hipEventDestroy")
    }

    fn record_event(&self, event: HipEvent, stream: HipStream) -> Result<()> {
        call!(self.event_record(event, stream), "hipEventRecord")
    }

    fn event_is_complete(&self, event: HipEvent) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the event is alive.
        done(&self.symbols, "hipEventQuery", unsafe { (self.symbols.event_query)(event) })
    }

    fn synchronize_event(&self, event: HipEvent) -> Result<()> {
        call!(self.event_synchronize(event), "hipEventSynchronize")
    }

    fn elapsed_ns(&self, start: HipEvent, end: HipEvent) -> Result<i64> {
        let mut milliseconds: f32 = 0.0;
        call!(self.event_elapsed(&raw mut milliseconds, start, end), "hipEventElapsedTime")?;
        #[allow(clippy::cast_possible_truncation, reason = "a float's cast saturates")]
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
    }

    fn allocate_device(&self, size: usize) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        call!(self.memory_allocate(&raw mut pointer, size), "hipMalloc")?;
        Ok(pointer)
    }

    fn allocate_host(&self, size: usize) -> Result<usize> {
        const FLAGS: c_uint = flag::hipHostMallocPortable | flag::hipHostMallocMapped;
        let mut pointer: DevicePointer = 0;
        call!(self.memory_allocate_host(&raw mut pointer, size, FLAGS), "hipHostMalloc")?;
        Ok(pointer)
    }

    fn allocate_shared(&self, size: usize) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        call!(self.memory_allocate_managed(&raw mut pointer, size, flag::hipMemAttachGlobal), "hipMallocManaged")?;
        Ok(pointer)
    }

    fn free_device(&self, pointer: usize) -> Result<()> {
        call!(self.memory_free(pointer), "hipFree")
    }

    fn free_host(&self, pointer: usize) -> Result<()> {
        call!(self.memory_free_host(pointer), "hipHostFree")
    }

    fn pointer_info(&self, pointer: usize) -> Result<Option<PointerInfo<Self>>> {
        let mut known = PointerAttributes::default();
        // SAFETY: the symbol has the API's signature and the output is a live local of the structure's size.
        match unsafe { (self.symbols.pointer_attributes)(&raw mut known, pointer) } {
            // How 5.x says that it does not know the pointer.
            HipError::hipErrorInvalidValue => return Ok(None),
            status => check(&self.symbols, "hipPointerGetAttributes", status)?,
        }
        let Some(kind) = memory_kind(&known, self.is_rocm_6()) else { return Ok(None) };
        // `hipPointerGetAttribute` knows base and size too, but looks at the current device for one and writes
        // only 32 bits of the other.
        let (mut base, mut size) = (0, 0);
        call!(self.pointer_range(&raw mut base, &raw mut size, pointer), "hipMemGetAddressRange")?;
        // The runtime does not tell the pool.
        Ok(Some(PointerInfo { kind, base, size, device: Ordinal(known.device), pool: None }))
    }

    fn create_pool(&self, kind: MemoryKind, device: Ordinal, max_size: usize) -> Result<HipMemPool> {
        let unsupported = |what: &str| Err(Error::new(ur_result_t::ERROR_UNSUPPORTED_FEATURE, what));
        if kind != MemoryKind::Device {
            return unsupported("HIP has pools of device memory only");
        }
        if max_size != 0 && !self.limits_pools() {
            return unsupported("pools with a maximum size need ROCm 6.2 or newer; make the pool without a limit");
        }
        let properties = PoolProperties {
            allocation_type: flag::hipMemAllocationTypePinned,
            handle_types: 0,
            location: MemLocation { kind: flag::hipMemLocationTypeDevice, device },
            security_attributes: 0,
            max_size,
            reserved: [0; 56],
        };
        let mut pool = HipMemPool::default();
        call!(self.pool_create(&raw mut pool, &raw const properties), "hipMemPoolCreate")?;
        Ok(pool)
    }

    fn destroy_pool(&self, pool: HipMemPool) -> Result<()> {
        call!(self.pool_destroy(pool), "hipMemPoolDestroy")
    }

    fn pool_attribute(&self, pool: HipMemPool, attribute: PoolAttribute) -> Result<u64> {
        // An `int` fills the lower half and leaves the other 0.
        let mut value = 0_u64;
        call!(self.pool_attribute(pool, attribute as c_int, (&raw mut value).cast()), "hipMemPoolGetAttribute")?;
        Ok(value)
    }

    fn set_pool_attribute(&self, pool: HipMemPool, attribute: PoolAttribute, value: u64) -> Result<()> {
        // Of an `int` the runtime reads the lower half.
        let mut value = value;
        call!(self.pool_set_attribute(pool, attribute as c_int, (&raw mut value).cast()), "hipMemPoolSetAttribute")
    }

    fn allow_pool_access(&self, pool: HipMemPool, device: Ordinal) -> Result<()> {
        let location = MemLocation { kind: flag::hipMemLocationTypeDevice, device };
        let access = MemAccess { location, flags: flag::hipMemAccessFlagsProtReadWrite };
        call!(self.pool_set_access(pool, &raw const access, 1), "hipMemPoolSetAccess")
    }

    fn allocate_from_pool(&self, pool: HipMemPool, size: usize, stream: HipStream) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        call!(self.pool_allocate(&raw mut pointer, size, pool, stream), "hipMallocFromPoolAsync")?;
        // 5.x answers success and gives null when the memory is used up.
        if pointer == 0 {
            return Err(failed(&self.symbols, "hipMallocFromPoolAsync", HipError::hipErrorOutOfMemory));
        }
        Ok(pointer)
    }

    fn trim_pool(&self, pool: HipMemPool, keep: usize) -> Result<()> {
        call!(self.pool_trim(pool, keep), "hipMemPoolTrimTo")
    }

    fn free_async(&self, pointer: usize, stream: HipStream) -> Result<()> {
        call!(self.free_async(pointer, stream), "hipFreeAsync")
    }

    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, stream: HipStream) -> Result<()> {
        call!(self.copy_async(to, from, size, flag::hipMemcpyDefault, stream), "hipMemcpyAsync")
    }

    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, stream: HipStream) -> Result<()> {
        let [low, next, ..] = value.to_le_bytes();
        match width {
            1 => call!(self.fill8_async(to, low, count, stream), "hipMemsetD8Async"),
            2 => call!(self.fill16_async(to, u16::from_le_bytes([low, next]), count, stream), "hipMemsetD16Async"),
            4 => call!(self.fill32_async(to, value.cast_signed(), count, stream), "hipMemsetD32Async"),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }

    unsafe fn fill_strided_async(&self, rows: Rows, width: usize, value: u32, stream: HipStream) -> Result<()> {
        if width != 1 {
            return Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE));
        }
        let value = value.cast_signed() & 0xff;
        call!(self.fill2d_async(rows.first, rows.pitch, value, 1, rows.count, stream), "hipMemset2DAsync")
    }

    fn check_image(&self, image: &[u8]) -> Result<()> {
        program::check(image, self.loader)
    }

    fn load_module(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<HipModule> {
        program::load(&self.symbols, self.loader, image, request)
    }

    fn unload_module(&self, module: HipModule) -> Result<()> {
        call!(self.module_unload(module), "hipModuleUnload")
    }

    fn function(&self, module: HipModule, name: &CStr) -> Result<Option<HipFunction>> {
        let mut function = HipFunction::default();
        let found = call!(self.module_function(&raw mut function, module, name.as_ptr()), "hipModuleGetFunction");
        match found {
            Ok(()) => Ok(Some(function)),
            Err(error) if error.native_status() == HipError::hipErrorNotFound.0 => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn function_attributes(&self, function: HipFunction) -> Result<FunctionAttributes> {
        use sys::function as of;
        let number = |attribute| self.function_attribute(function, attribute);
        Ok(FunctionAttributes {
            max_threads_per_block: number(of::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared: number(of::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? as usize,
            private_memory: number(of::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)? as usize,
            registers: number(of::HIP_FUNC_ATTRIBUTE_NUM_REGS)?,
            constant_memory: number(of::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)? as usize,
            binary_version: number(of::HIP_FUNC_ATTRIBUTE_BINARY_VERSION)?,
        })
    }

    fn function_parameters(&self, _function: HipFunction) -> Result<Option<Vec<usize>>> {
        // No call of the runtime tells them.
        Ok(None)
    }

    fn allow_dynamic_shared(&self, function: HipFunction, bytes: usize) -> Result<()> {
        // AMD's devices have no limit to raise, so this is called where HIP runs on another vendor's library.
        let limit = sys::function::hipFuncAttributeMaxDynamicSharedMemorySize;
        let bytes = c_int::try_from(bytes).map_err(|_| Error::code_only(ur_result_t::ERROR_OUT_OF_RESOURCES))?;
        call!(self.function_set_attribute(function, limit, bytes), "hipFuncSetAttribute")
    }

    fn suggested_block_size(&self, function: HipFunction, dynamic_shared: usize, limit: u32) -> Result<u32> {
        let (mut grid, mut block): (c_int, c_int) = (0, 0);
        let most = c_int::try_from(limit).unwrap_or(c_int::MAX);
        call!(
            self.occupancy_block_size(&raw mut grid, &raw mut block, function, dynamic_shared, most),
            "hipModuleOccupancyMaxPotentialBlockSize"
        )
        .map(|()| block.unsigned_abs())
    }

    #[inline]
    unsafe fn launch(
        &self,
        function: HipFunction,
        shape: LaunchShape,
        stream: HipStream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let ([x, y, z], [tx, ty, tz]) = (shape.grid, shape.block);
        // The runtime reads the arguments only; C has no `const` there.
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        let (shared, extra) = (shape.dynamic_shared, core::ptr::null_mut());
        call!(self.launch(function, x, y, z, tx, ty, tz, shared, stream, arguments, extra), "hipModuleLaunchKernel")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every library of AMD's that is installed here, by the names that the adapter tries.
    fn installed() -> Vec<(&'static str, Symbols)> {
        let open = |name: &&'static str| match Symbols::open(name, sys::LIBRARY_VARIABLE) {
            Ok(symbols) => Some((*name, symbols)),
            Err(OpenError::Library { .. }) => None,
            Err(other) => panic!("{other}"),
        };
        sys::DEFAULT_LIBRARIES.iter().filter_map(open).collect()
    }

    #[test]
    fn amds_own_library_has_every_required_symbol_and_starts_with_or_without_a_device() {
        let installed = installed();
        if installed.is_empty() {
            println!("skipped: none of {:?} is installed", sys::DEFAULT_LIBRARIES);
        }
        for (name, symbols) in installed {
            let hip = Hip::start(symbols, name).unwrap_or_else(|error| panic!("{name}: {error}"));
            let count = hip.device_count().unwrap();
            println!("{name}: {}, {count} devices", hip.version().unwrap());
            for ordinal in 0..count {
                let properties = hip.properties(hip.device(ordinal).unwrap()).unwrap();
                assert!(properties.architecture.starts_with("gfx") && properties.global_memory > 0, "{properties:?}");
            }
            assert_eq!(hip.loader, Loader::Amd);
        }
    }

    /// The driver over a library whose functions all answer success and do nothing.
    fn idle() -> Hip {
        let folder = tempfile::tempdir().unwrap();
        let library = ur_adapter::testing::fake_library(folder.path(), Symbols::REQUIRED);
        let symbols = Symbols::open(library.to_str().unwrap(), sys::LIBRARY_VARIABLE).unwrap();
        Hip::start(symbols, "fake").unwrap()
    }

    #[test]
    fn a_version_reads_as_amd_writes_it() {
        let mut hip = idle();
        for (version, text, rocm_6) in [(50_221_153, "HIP 5.2.21153", false), (70_125_424, "HIP 7.1.25424", true)] {
            hip.version = version;
            assert_eq!((hip.version().unwrap().as_str(), hip.is_rocm_6()), (text, rocm_6));
        }
    }

    #[test]
    fn a_pool_that_answers_success_and_no_memory_is_out_of_memory() {
        let error = idle().allocate_from_pool(HipMemPool(1), 256, HipStream(1)).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY);
        assert_eq!(error.native_status(), 2);
    }

    #[test]
    fn an_image_that_nobody_recognises_is_refused_before_the_library_sees_it() {
        assert_eq!(idle().check_image(b"hello").unwrap_err().code(), ur_result_t::ERROR_INVALID_BINARY);
    }
}
