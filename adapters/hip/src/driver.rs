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
//! | `hipStreamCreateWithPriority`, `hipEventCreateWithFlags`, `hipMalloc`, `hipHostMalloc`, `hipMallocManaged`, `hipMemGetInfo`, `hipDeviceGetStreamPriorityRange`, `hipModuleLoadDataEx`, `hipModuleOccupancyMaxPotentialBlockSize`, `hipArray3DCreate`, `hipCreateSurfaceObject`, `hipDestroySurfaceObject`, `hipTexObjectCreate`, `hipTexObjectDestroy`, `hipDeviceSynchronize` | is what they are about |
//! | `hipMemAllocPitch`, `hipHostRegister`, `hipHostUnregister`, `hipMemAdvise`, `hipIpc*MemHandle`, `hipDeviceEnablePeerAccess`, `hipDeviceDisablePeerAccess` | is what they are about, or looked at on the way |
//! | `hipModuleGetFunction`, `hipModuleGetGlobal` | must be the module's; 5.x ends the process otherwise |
//! | `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`, `hipModuleLaunchCooperativeKernel` | must be the module's, the stream's |
//! | `hipFuncGetAttribute`, `hipFuncSetAttribute` | chooses whose code is looked at; that of another device is not there |
//! | `hipMemcpyAsync`, `hipMemcpy2DAsync`, `hipDrvMemcpy3DAsync`, `hipMemset*Async` | run on the stream's device, but check access to virtually mapped memory (pools may be made of it) for the current one: `TRANSFERS_NEED_PLACE` |
//! | `hipModuleLaunchKernel`, `hipEventRecord`, `hipStreamWaitEvent`, `hipLaunchHostFunc`, `hipStreamWaitValue32`, `hipMallocFromPoolAsync`, `hipFreeAsync`, `hipStream*`, `hipEvent*`, `hipFree`, `hipHostFree`, `hipMemPool*`, `hipMemPrefetchAsync`, `hipMemAddress*`, `hipMemCreate`, `hipMemMap` and the rest of virtual memory, `hipPointerGetAttributes`, `hipMemGetAddressRange`, `hipModuleUnload`, `hipArrayDestroy` | not looked at: stream, event, pool or pointer name the device |

use core::ffi::{CStr, c_int, c_uint, c_void};
use std::ffi::CString;

use ur_adapter::api::backend::*;
use ur_adapter::driver::memory_calls::{Access, Advice, Copy2D, IpcHandle, MemoryLocation};
use ur_adapter::driver::native_image::{BoxCopy, ResourceDescriptor};
use ur_adapter::driver::{EventPurpose, MemoryKind, Sensor, StreamKind};
use ur_adapter::native_call as call;
use ur_adapter::{
    plain_image_calls, plain_memory_calls, plain_module_calls, plain_pool_calls, plain_stream_calls,
    plain_virtual_memory_calls,
};
use ur_ffi::{ur_backend_t, ur_result_t};

use crate::map::{memory_kind, native_access, native_advice, physical_properties, spot_device};
use crate::program::Loader;
use crate::sys::{
    self, BoxTypes, DevicePointer, HipError, HipEvent, HipFunction, HipMemPool, HipModule, HipPhysical, HipStream,
    IpcEventHandle, IpcMemHandle, MemAccess, MemLocation, Ordinal, PointerAttributes, PoolProperties, Symbols, flag,
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
    type Physical = HipPhysical;

    const BACKEND: ur_backend_t = ur_backend_t::HIP;
    const PLATFORM_NAME: &'static str = "AMD HIP BACKEND";
    const VENDOR: &'static str = "Advanced Micro Devices";
    const VENDOR_ID: u32 = 0x1002;
    const LIBRARY_VARIABLE: &'static str = sys::LIBRARY_VARIABLE;
    const TRANSFERS_NEED_PLACE: bool = true;
    // The runtime compares bytes with the limit and rounds nothing (ROCm 6.2 to 7.1); CUDA's step makes the same limits
    // of the same requests on both backends.
    const POOL_STEP: usize = 32 << 20;
    const PLACES_ARE_CONTEXTS: bool = false;
    // The fills of wider units are new in ROCm 7 and count a row's width now in bytes and now in units.
    const STRIDED_WIDTHS: &'static [usize] = &[1];
    const ADVISES_COHERENCE: bool = true;

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

    plain_memory_calls! {
        memory_info = "hipMemGetInfo",
        can_access_peer = "hipDeviceCanAccessPeer",
        disable_peer = "hipDeviceDisablePeerAccess",
        allocate_device = "hipMalloc",
        free_device = "hipFree",
        allocate_pitched = "hipMemAllocPitch",
        unregister_host = "hipHostUnregister",
        close_ipc = "hipIpcCloseMemHandle",
    }

    fn retain_place(&self, device: Ordinal) -> Result<Ordinal> {
        Ok(device)
    }

    fn release_place(&self, _device: Ordinal) -> Result<()> {
        Ok(())
    }

    fn place_is_active(&self, _device: Ordinal) -> Result<bool> {
        Ok(true)
    }

    fn current_place(&self) -> Result<Ordinal> {
        let mut device = Ordinal(0);
        call!(self.device_current(&raw mut device), "hipGetDevice")?;
        Ok(device)
    }

    fn set_place(&self, place: Ordinal) -> Result<()> {
        call!(self.device_set(place), "hipSetDevice")
    }

    fn create_stream(&self, kind: StreamKind) -> Result<HipStream> {
        let StreamKind { priority, follows_default } = kind;
        let mut stream = HipStream::default();
        // The range counts downwards, and 0 lies in it on every device.
        let native = if priority == 0 {
            0
        } else {
            let (mut least, mut greatest): (c_int, c_int) = (0, 0);
            call!(self.device_priority_range(&raw mut least, &raw mut greatest), "hipDeviceGetStreamPriorityRange")?;
            if priority < 0 { greatest } else { least }
        };
        let flags = if follows_default { 0 } else { flag::hipStreamNonBlocking };
        call!(self.stream_create(&raw mut stream, flags, native), "hipStreamCreateWithPriority")?;
        Ok(stream)
    }

    plain_stream_calls! {
        destroy_stream = "hipStreamDestroy",
        synchronize_stream = "hipStreamSynchronize",
        stream_is_idle = "hipStreamQuery",
        destroy_event = "hipEventDestroy",
        record_event = "hipEventRecord",
        event_is_complete = "hipEventQuery",
        synchronize_event = "hipEventSynchronize",
    }

    /// # Unsupported
    /// - note: a stream's device is told by `hipStreamGetDevice`, where the runtime has it
    fn stream_place(&self, stream: HipStream) -> Result<Option<Ordinal>> {
        let Some(ask) = self.symbols.stream_device else { return Ok(None) };
        let mut device = Ordinal(0);
        // SAFETY: the symbol has the API's signature, the output is a live local and the stream is alive.
        check(&self.symbols, "hipStreamGetDevice", unsafe { ask(stream, &raw mut device) })?;
        Ok(Some(device))
    }

    fn stream_wait(&self, stream: HipStream, event: HipEvent) -> Result<()> {
        call!(self.stream_wait_event(stream, event, 0), "hipStreamWaitEvent")
    }

    /// # Unsupported
    /// - needs: a runtime with `hipLaunchHostFunc`
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

    /// # Unsupported
    /// - needs: a runtime with `hipStreamWaitValue32`
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

    fn create_event(&self, purpose: EventPurpose) -> Result<HipEvent> {
        let flags: c_uint = match purpose {
            EventPurpose::Order => flag::hipEventDisableTiming,
            EventPurpose::Times => 0,
            EventPurpose::Processes => flag::hipEventDisableTiming | flag::hipEventInterprocess,
        };
        let mut event = HipEvent::default();
        call!(self.event_create(&raw mut event, flags), "hipEventCreateWithFlags")?;
        Ok(event)
    }

    fn elapsed_ns(&self, start: HipEvent, end: HipEvent) -> Result<i64> {
        let mut milliseconds: f32 = 0.0;
        call!(self.event_elapsed(&raw mut milliseconds, start, end), "hipEventElapsedTime")?;
        #[allow(clippy::cast_possible_truncation, reason = "a float's cast saturates")]
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
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

    /// # Unsupported
    /// - pools of host and of shared memory: the runtime has pools of device memory alone
    /// - needs: ROCm 6.2 for a pool with a maximum size
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

    plain_pool_calls! {
        destroy_pool = "hipMemPoolDestroy",
        pool_attribute = "hipMemPoolGetAttribute",
        set_pool_attribute = "hipMemPoolSetAttribute",
        trim_pool = "hipMemPoolTrimTo",
        free_async = "hipFreeAsync",
    }

    fn allow_pool_access(&self, pool: HipMemPool, device: Ordinal) -> Result<()> {
        let location = MemLocation { kind: flag::hipMemLocationTypeDevice, device };
        let access = MemAccess { location, flags: flag::hipMemAccessFlagsProtReadWrite };
        call!(self.pool_set_access(pool, &raw const access, 1), "hipMemPoolSetAccess")
    }

    #[inline(always)]
    fn allocate_from_pool(&self, pool: HipMemPool, size: usize, stream: HipStream) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        call!(self.pool_allocate(&raw mut pointer, size, pool, stream), "hipMallocFromPoolAsync")?;
        // 5.x answers success and gives null when the memory is used up.
        if pointer == 0 {
            return Err(failed(&self.symbols, "hipMallocFromPoolAsync", HipError::hipErrorOutOfMemory));
        }
        Ok(pointer)
    }

    #[inline(always)]
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
        call!(self.fill2d_async(rows.first, rows.pitch, value, rows.length, rows.count, stream), "hipMemset2DAsync")
    }

    unsafe fn copy_2d_async(&self, copy: &Copy2D, stream: HipStream) -> Result<()> {
        let Copy2D { to, from, width, height } = *copy;
        call!(
            self.copy_2d_async(
                to.address,
                to.pitch,
                from.address,
                from.pitch,
                width,
                height,
                flag::hipMemcpyDefault,
                stream
            ),
            "hipMemcpy2DAsync"
        )
    }

    /// # Unsupported
    /// - note: that devices only read the memory is not told to the runtime
    fn register_host(&self, address: usize, size: usize, _read_only: bool) -> Result<()> {
        // The runtimes have no flag for memory that is only read that means the same in every release.
        const FLAGS: c_uint = flag::hipHostRegisterPortable | flag::hipHostRegisterMapped;
        call!(self.memory_register(address, size, FLAGS), "hipHostRegister")
    }

    fn prefetch_async(
        &self,
        address: usize,
        size: usize,
        to: MemoryLocation<Ordinal>,
        stream: HipStream,
    ) -> Result<()> {
        call!(self.memory_prefetch(address, size, spot_device(to), stream), "hipMemPrefetchAsync")
    }

    fn advise(&self, address: usize, size: usize, advice: Advice<Ordinal>) -> Result<()> {
        let (advice, device) = native_advice(advice);
        call!(self.memory_advise(address, size, advice, device), "hipMemAdvise")
    }

    fn ipc_handle(&self, address: usize) -> Result<IpcHandle> {
        let mut handle = IpcMemHandle([0; 64]);
        call!(self.ipc_get(&raw mut handle, address), "hipIpcGetMemHandle")?;
        Ok(handle.0)
    }

    fn open_ipc(&self, handle: &IpcHandle) -> Result<usize> {
        let flags = if self.is_rocm_6() { sys::IPC_LAZY_PEER_6 } else { sys::IPC_LAZY_PEER_5 };
        let mut pointer: DevicePointer = 0;
        call!(self.ipc_open(&raw mut pointer, IpcMemHandle(*handle), flags), "hipIpcOpenMemHandle")?;
        Ok(pointer)
    }

    fn event_ipc_handle(&self, event: HipEvent) -> Result<IpcHandle> {
        let mut handle = IpcEventHandle([0; 64]);
        call!(self.ipc_event_get(&raw mut handle, event), "hipIpcGetEventHandle")?;
        Ok(handle.0)
    }

    fn open_event_ipc(&self, handle: &IpcHandle) -> Result<HipEvent> {
        let mut event = HipEvent::default();
        call!(self.ipc_event_open(&raw mut event, IpcEventHandle(*handle)), "hipIpcOpenEventHandle")?;
        Ok(event)
    }

    /// # Unsupported
    /// - throttle reasons, fan speed and power limits: the runtime does not tell them, and AMD's management library is not
    ///   opened
    fn sensor(&self, _device: &DeviceProperties, sensor: Sensor) -> Result<u32> {
        Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
            format!("urDeviceGetInfo: {sensor:?} is for AMD's management library to tell, which is not opened"),
        ))
    }

    fn has_peer_atomics(&self, device: Ordinal, peer: Ordinal) -> Result<bool> {
        let mut has: c_int = 0;
        call!(
            self.peer_attribute(&raw mut has, flag::hipDevP2PAttrNativeAtomicSupported, device, peer),
            "hipDeviceGetP2PAttribute"
        )?;
        Ok(has != 0)
    }

    fn enable_peer(&self, peer: Ordinal) -> Result<bool> {
        // SAFETY: the symbol has the API's signature; flags must be 0.
        match unsafe { (self.symbols.peer_enable)(peer, 0) } {
            HipError::hipErrorPeerAccessAlreadyEnabled => Ok(false),
            status => check(&self.symbols, "hipDeviceEnablePeerAccess", status).map(|()| true),
        }
    }

    fn granularity(&self, device: Ordinal, recommended: bool) -> Result<usize> {
        let (properties, mut bytes) = (physical_properties(device, false), 0);
        let which = if recommended {
            flag::hipMemAllocationGranularityRecommended
        } else {
            flag::hipMemAllocationGranularityMinimum
        };
        call!(self.granularity(&raw mut bytes, &raw const properties, which), "hipMemGetAllocationGranularity")?;
        Ok(bytes)
    }

    plain_virtual_memory_calls! {
        described by physical_properties, shared as flag::hipMemHandleTypePosixFileDescriptor;
        reserve_addresses = "hipMemAddressReserve",
        free_addresses = "hipMemAddressFree",
        create_physical = "hipMemCreate",
        release_physical = "hipMemRelease",
        map = "hipMemMap",
        unmap = "hipMemUnmap",
        export_physical = "hipMemExportToShareableHandle",
        import_physical = "hipMemImportFromShareableHandle",
    }

    fn set_access(&self, address: usize, size: usize, device: Ordinal, access: Access) -> Result<()> {
        let location = MemLocation { kind: flag::hipMemLocationTypeDevice, device };
        let access = MemAccess { location, flags: native_access(access) };
        call!(self.physical_set_access(address, size, &raw const access, 1), "hipMemSetAccess")
    }

    fn access(&self, address: usize, device: Ordinal) -> Result<Access> {
        let (location, mut flags) = (MemLocation { kind: flag::hipMemLocationTypeDevice, device }, 0);
        call!(self.physical_access(&raw mut flags, &raw const location, address), "hipMemGetAccess")?;
        Ok(match u32::try_from(flags) {
            Ok(flag::hipMemAccessFlagsProtNone) => Access::None,
            Ok(flag::hipMemAccessFlagsProtRead) => Access::ReadOnly,
            _ => Access::ReadWrite,
        })
    }

    plain_image_calls! {
        create_array = "hipArray3DCreate",
        destroy_array = "hipArrayDestroy",
        create_texture = "hipTexObjectCreate",
        destroy_texture = "hipTexObjectDestroy",
    }

    /// # Unsupported
    /// - needs: ROCm 6 for images that kernels write
    fn create_surface(&self, array: usize) -> Result<u64> {
        // 5.x exports it under a C++ name alone.
        let create = self.symbols.surface_create.ok_or_else(|| Error::unsupported("a surface before ROCm 6"))?;
        let (mut surface, resource) = (0, ResourceDescriptor::array(array));
        // SAFETY: the symbol has the API's signature, the output is a live local and the array is alive.
        let status = unsafe { create(&raw mut surface, &raw const resource) };
        check(&self.symbols, "hipCreateSurfaceObject", status).map(|()| surface)
    }

    fn destroy_surface(&self, surface: u64) -> Result<()> {
        let destroy = self.symbols.surface_destroy.ok_or_else(|| Error::unsupported("a surface before ROCm 6"))?;
        // SAFETY: the symbol has the API's signature; `create_surface` gave the object out.
        check(&self.symbols, "hipDestroySurfaceObject", unsafe { destroy(surface) })
    }

    unsafe fn copy_box_async(&self, copy: &BoxCopy, stream: HipStream) -> Result<()> {
        // Pinned memory is the device's too, and copies between two sides that are called the host's keep no order.
        if self.is_rocm_6() {
            use sys::memory_type_6::{ARRAY, DEVICE, HOST};
            let types = BoxTypes { process: HOST, other: DEVICE, array: ARRAY };
            let Ok(described) = sys::Memcpy3D::<usize>::new(copy, &types);
            return call!(self.copy_3d_async((&raw const described).cast(), stream), "hipDrvMemcpy3DAsync");
        }
        use sys::memory_type_5::{ARRAY, DEVICE, HOST};
        let types = BoxTypes { process: HOST, other: DEVICE, array: ARRAY };
        let described = sys::Memcpy3D::<c_uint>::new(copy, &types)
            .map_err(|_| Error::new(ur_result_t::ERROR_INVALID_SIZE, "ROCm 5 copies no region of 2^32 slices"))?;
        call!(self.copy_3d_async((&raw const described).cast(), stream), "hipDrvMemcpy3DAsync")
    }

    fn check_image(&self, image: &[u8]) -> Result<()> {
        program::check(image, self.loader)
    }

    fn load_module(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<HipModule> {
        program::load(&self.symbols, self.loader, image, request)
    }

    /// # Unsupported
    /// - always: its images are machine code, which is compiled
    fn compile(&self, _image: &[u8], _request: &mut BuildRequest<'_>) -> Result<()> {
        Err(Error::unsupported("compiling without linking (HIP's images are machine code)"))
    }

    /// # Unsupported
    /// - always: its images are machine code, which the runtime links no further
    fn link(&self, _images: &[&[u8]], _request: &mut BuildRequest<'_>) -> Result<Vec<u8>> {
        Err(Error::unsupported("linking (HIP's images are machine code, which its runtime links no further)"))
    }

    /// # Unsupported
    /// - note: the kernels of a module are not told
    fn function_names(&self, _module: HipModule) -> Result<Option<Vec<String>>> {
        // No call of the runtime lists them.
        Ok(None)
    }

    // AMD's devices have no limit of work-group memory to raise, so that is called where HIP runs on another vendor's
    // library.
    plain_module_calls! {
        unload_module = "hipModuleUnload",
        resident_blocks = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        allow_dynamic_shared(sys::function::hipFuncAttributeMaxDynamicSharedMemorySize) = "hipFuncSetAttribute",
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

    fn global(&self, module: HipModule, name: &CStr) -> Result<Option<(usize, usize)>> {
        let (mut address, mut size): (DevicePointer, usize) = (0, 0);
        let found =
            call!(self.module_global(&raw mut address, &raw mut size, module, name.as_ptr()), "hipModuleGetGlobal");
        match found {
            Ok(()) => Ok(Some((address, size))),
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

    fn function_name(&self, function: HipFunction) -> Result<Option<CString>> {
        // SAFETY: the symbol has the API's signature and the function's module is loaded.
        let name = unsafe { (self.symbols.function_name)(function) };
        // SAFETY: null, or the runtime's own NUL-terminated name, which lives as long as the module.
        Ok((!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned()))
    }

    /// # Unsupported
    /// - note: the module of a function is not told
    fn function_module(&self, _function: HipFunction) -> Result<Option<HipModule>> {
        // No call of the runtime tells it.
        Ok(None)
    }

    /// # Unsupported
    /// - note: a preference for a cache changes nothing
    fn prefer_cache(&self, _function: HipFunction, _preference: CachePreference) -> Result<()> {
        Ok(())
    }

    /// # Unsupported
    /// - note: the parameters of a function are not told
    fn function_parameters(&self, _function: HipFunction) -> Result<Option<Vec<usize>>> {
        // No call of the runtime tells them.
        Ok(None)
    }

    fn allow_large_clusters(&self, _function: HipFunction) -> Result<()> {
        Err(Error::unsupported("clusters of work-groups (AMD's devices have none)"))
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

    /// # Unsupported
    /// - needs: a runtime with `hipModuleLaunchCooperativeKernel`, for a cooperative launch
    unsafe fn launch_cooperative(
        &self,
        function: HipFunction,
        shape: LaunchShape,
        stream: HipStream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let Some(launch) = self.symbols.launch_cooperative else {
            return Err(Error::unsupported("a cooperative launch by this release of HIP"));
        };
        let ([x, y, z], [tx, ty, tz]) = (shape.grid, shape.block);
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        // SAFETY: the symbol has the API's signature, and the caller vouches for the arguments.
        let status = unsafe { launch(function, x, y, z, tx, ty, tz, shape.dynamic_shared, stream, arguments) };
        check(&self.symbols, "hipModuleLaunchCooperativeKernel", status)
    }

    /// # Unsupported
    /// - launches in clusters: AMD's devices have none
    unsafe fn launch_clusters(
        &self,
        _function: HipFunction,
        _shape: LaunchShape,
        _cluster: [u32; 3],
        _cooperative: bool,
        _stream: HipStream,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        Err(Error::unsupported("a launch in clusters (AMD's devices have none)"))
    }
}

#[cfg(test)]
mod tests {
    use ur_adapter::driver::native_image::{BoxSide, RectSide};

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
    fn a_region_of_more_slices_than_rocm_5_counts_is_refused_there_alone() {
        let mut hip = idle();
        let side = BoxSide::Memory(RectSide { address: 1, row_pitch: 1, slice_pitch: 1, of_process: false });
        let copy = BoxCopy { to: side, from: side, extent: [1, 1, 1 << 32] };
        for (version, code) in [(50_221_153, Some(ur_result_t::ERROR_INVALID_SIZE)), (70_125_424, None)] {
            hip.version = version;
            // SAFETY: the library's functions do nothing.
            let answer = unsafe { hip.copy_box_async(&copy, HipStream(1)) };
            assert_eq!(answer.err().map(|error| error.code()), code);
        }
    }

    #[test]
    fn an_image_that_nobody_recognises_is_refused_before_the_library_sees_it() {
        assert_eq!(idle().check_image(b"hello").unwrap_err().code(), ur_result_t::ERROR_INVALID_BINARY);
    }
}
