//! The seam between the engine and a native library: one method for one native call, no policy.
//!
//! A backend implements [`Driver`] over its symbol table; everything above decides *when* to call.
//! Methods must not cache, retry, switch the thread's current place or take locks of their own, and must not
//! be called inside a native host callback. A method whose documentation says **needs the place** is called
//! with the device's place current on the calling thread ([`crate::device::scope::Scope`] sees to that); all others
//! work whatever is current.

pub mod cell;
pub mod library;
pub mod memory_calls;
pub mod native_image;
pub mod plain_calls;
pub mod symbols;

use core::ffi::{c_char, c_void};
use core::fmt::Debug;
use core::hash::Hash;

use ur_ffi::ur_backend_t;

use crate::driver::cell::AdapterCell;
use crate::driver::memory_calls::{Access, Advice, Copy2D, IpcHandle, MemoryLocation};
use crate::driver::native_image::{ArrayShape, BoxCopy, Sampling};
use crate::object::error::{Error, OpenError, Result};
use crate::properties::DeviceProperties;

/// A native handle as the engine carries it: a plain number that it never looks into.
pub trait Raw: Copy + Eq + Hash + Debug + Send + Sync + 'static {
    /// The number that `ur_native_handle_t` carries.
    fn number(self) -> usize;
    /// The handle of a number that came through the ABI.
    fn of_number(number: usize) -> Self;
}

impl Raw for usize {
    fn number(self) -> usize {
        self
    }
    fn of_number(number: usize) -> Self {
        number
    }
}

/// Which on-chip memory a function would rather have more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePreference {
    /// The library chooses.
    None,
    /// Work-group memory.
    WorkGroupMemory,
    /// The data cache.
    DataCache,
}

/// What a native event is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPurpose {
    /// Order alone.
    Order,
    /// Order, and the time between two of them.
    Times,
    /// Order among processes; no times.
    Processes,
}

/// What a management library tells of a device's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensor {
    /// `ur_device_throttle_reasons_flags_t`.
    ThrottleReasons,
    /// Percent of the most.
    FanSpeed,
    /// The lowest limit of power that can be set, in milliwatts.
    MinPowerLimit,
    /// The highest.
    MaxPowerLimit,
}

/// What memory a native pointer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Pinned host memory that the native library allocated or registered.
    Host,
    /// Memory of one device.
    Device,
    /// Managed memory that migrates between host and devices.
    Shared,
}

/// What the native library knows of a pointer into one of its allocations.
#[derive(Debug)]
pub struct PointerInfo<D: Driver> {
    /// Host, device or managed.
    pub kind: MemoryKind,
    /// First byte of the allocation.
    pub base: usize,
    /// Size of the allocation in bytes.
    pub size: usize,
    /// The device that owns or last bound the memory.
    pub device: D::Device,
    /// The native pool it was allocated from, if any.
    pub pool: Option<D::Pool>,
}

/// What can be asked of a native pool; some of it can be set. The number is `CU_MEMPOOL_ATTR_*`'s and
/// `hipMemPoolAttr*`'s alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum PoolAttribute {
    /// Whether a block freed on a stream serves another that already waits for an event behind the free.
    FollowEventDependencies = 1,
    /// Whether a block serves another stream once its free is seen to have been reached.
    Opportunistic = 2,
    /// Whether an allocation may be made to wait for another stream's free.
    InternalDependencies = 3,
    /// Bytes that the pool keeps at a synchronisation although nobody uses them.
    ReleaseThreshold = 4,
    /// Bytes that the pool holds.
    ReservedCurrent = 5,
    /// The most bytes that the pool held; 0 resets it.
    ReservedHigh = 6,
    /// Bytes allocated and not freed, by the sizes asked for and the calls made.
    UsedCurrent = 7,
    /// The most of those; 0 resets it.
    UsedHigh = 8,
}

impl PoolAttribute {
    /// Whether the native value is a C `int`; it is 64 bits wide otherwise.
    #[must_use]
    pub const fn is_int(self) -> bool {
        (self as i32) < 4
    }
}

/// Resources and limits of a loaded function.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionAttributes {
    /// Most threads a block may have for this function on its device.
    pub max_threads_per_block: u32,
    /// Statically declared work-group memory, bytes.
    pub static_shared: usize,
    /// Private (local) memory of one thread, bytes.
    pub private_memory: usize,
    /// Registers of one thread.
    pub registers: u32,
    /// Constant memory the function's module set aside, bytes.
    pub constant_memory: usize,
    /// Instruction-set version the function's machine code was made for, major * 10 + minor.
    pub binary_version: u32,
}

/// What a stream is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamKind {
    /// -1 (high), 0 or 1 (low), clamped to the device's range.
    pub priority: i32,
    /// Whether it keeps an order with the library's default stream: each waits for what the other was given before.
    pub follows_default: bool,
}

/// Shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamically sized work-group memory, bytes.
    pub dynamic_shared: u32,
}

/// The rows that a strided fill writes to, each from its start.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Address of the first row.
    pub first: usize,
    /// Units that are written of a row.
    pub length: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// How many there are.
    pub count: usize,
}

/// Text that a module's load or link left behind, and the options it is given.
#[derive(Debug, Default)]
pub struct BuildRequest<'a> {
    /// The build options of `urProgramBuild`, already split at white space and quotes.
    pub options: &'a [String],
    /// What the native compiler said: warnings after success, the errors after failure.
    pub log: String,
}

/// A native GPU library: the CUDA driver API or the HIP runtime API.
///
/// Sources are named per method as `CUDA call / HIP call`.
pub trait Driver: Sized + Send + Sync + 'static {
    /// `CUdevice` / device ordinal.
    type Device: Raw;
    /// What a thread has current: `CUcontext` (possibly null) / device ordinal.
    type Place: Raw;
    /// `CUstream` / `hipStream_t`.
    type Stream: Raw;
    /// `CUevent` / `hipEvent_t`.
    type Event: Raw;
    /// `CUmodule` / `hipModule_t`.
    type Module: Raw;
    /// `CUfunction` / `hipFunction_t`.
    type Function: Raw;
    /// `CUmemoryPool` / `hipMemPool_t`.
    type Pool: Raw;
    /// Physical memory: `CUmemGenericAllocationHandle` / `hipMemGenericAllocationHandle_t`.
    type Physical: Raw;

    /// What `UR_ADAPTER_INFO_BACKEND` and `UR_PLATFORM_INFO_BACKEND` answer.
    const BACKEND: ur_backend_t;
    /// What `UR_PLATFORM_INFO_NAME` answers.
    const PLATFORM_NAME: &'static str;
    /// What `UR_PLATFORM_INFO_VENDOR_NAME` answers.
    const VENDOR: &'static str;
    /// PCI vendor number, `UR_DEVICE_INFO_VENDOR_ID`.
    const VENDOR_ID: u32;
    /// The environment variable that names another native library, e.g. `UR_CUDA_LIBRARY`.
    const LIBRARY_VARIABLE: &'static str;

    /// Whether copies and fills, which take their device from the stream, look at the thread's current device too.
    /// HIP's do: they check access to virtually mapped memory for the current device.
    const TRANSFERS_NEED_PLACE: bool;
    /// Granularity in bytes of a pool's maximum size.
    const POOL_STEP: usize;
    /// Whether what a thread has current is an object that applications hold handles of. CUDA's contexts are; HIP has
    /// ordinals.
    const PLACES_ARE_CONTEXTS: bool;
    /// Widths in bytes that [`Driver::fill_strided_async`] takes, widest first; the last is 1.
    const STRIDED_WIDTHS: &'static [usize];
    /// Whether [`Advice::CoarseGrain`] means something to the library.
    const ADVISES_COHERENCE: bool;

    /// The one adapter of this backend in the process, a static of the backend's crate.
    fn cell() -> &'static AdapterCell<Self>;

    /// Opens the native library and initialises it (`cuInit` / `hipInit`).
    ///
    /// # Errors
    /// Which library or symbol is missing, or what the initialisation answered. No device at all is no error:
    /// [`Driver::device_count`] is then 0.
    fn open() -> core::result::Result<Self, OpenError>;

    /// The version of the native driver as text for `UR_PLATFORM_INFO_VERSION`, e.g. `CUDA 13.0`.
    fn version(&self) -> Result<String>;

    /// `cuDeviceGetCount` / `hipGetDeviceCount`.
    fn device_count(&self) -> Result<u32>;
    /// `cuDeviceGet` / the ordinal itself.
    fn device(&self, ordinal: u32) -> Result<Self::Device>;
    /// Everything about a device that does not change, read once.
    fn properties(&self, device: Self::Device) -> Result<DeviceProperties>;
    /// Free and total bytes of the device. **Needs the place.** `cuMemGetInfo` / `hipMemGetInfo`.
    fn memory_info(&self) -> Result<(usize, usize)>;
    /// Whether `device` can reach memory of `peer`. `cuDeviceCanAccessPeer` / `hipDeviceCanAccessPeer`.
    fn can_access_peer(&self, device: Self::Device, peer: Self::Device) -> Result<bool>;

    /// Keeps the device's own context alive and gives its place. `cuDevicePrimaryCtxRetain` / the ordinal.
    fn retain_place(&self, device: Self::Device) -> Result<Self::Place>;
    /// Undoes one [`Driver::retain_place`]. `cuDevicePrimaryCtxRelease` / nothing.
    fn release_place(&self, device: Self::Device) -> Result<()>;
    /// Whether the device's own context exists, made by this library or by somebody else in the process.
    /// `cuDevicePrimaryCtxGetState` / always.
    fn place_is_active(&self, device: Self::Device) -> Result<bool>;
    /// What the thread has current. `cuCtxGetCurrent` / `hipGetDevice`.
    fn current_place(&self) -> Result<Self::Place>;
    /// Makes a place current. `cuCtxSetCurrent` / `hipSetDevice`.
    fn set_place(&self, place: Self::Place) -> Result<()>;

    /// A stream. **Needs the place.** `cuStreamCreateWithPriority`.
    fn create_stream(&self, kind: StreamKind) -> Result<Self::Stream>;
    /// `cuStreamDestroy`; work in flight still runs to its end.
    fn destroy_stream(&self, stream: Self::Stream) -> Result<()>;
    /// Blocks until everything submitted so far has finished. `cuStreamSynchronize`.
    fn synchronize_stream(&self, stream: Self::Stream) -> Result<()>;
    /// Whether everything submitted so far has finished. `cuStreamQuery`.
    fn stream_is_idle(&self, stream: Self::Stream) -> Result<bool>;
    /// The place that a stream belongs to, `None` when the library cannot tell. `cuStreamGetCtx` /
    /// `hipStreamGetDevice`.
    fn stream_place(&self, stream: Self::Stream) -> Result<Option<Self::Place>>;
    /// Later work of `stream` waits for what `event` was last recorded for. `cuStreamWaitEvent`.
    fn stream_wait(&self, stream: Self::Stream, event: Self::Event) -> Result<()>;
    /// Calls `function` with `data` on a thread of the library's once everything submitted so far has finished; later
    /// work waits for its return. It is not called when the device is lost before. `cuLaunchHostFunc`.
    ///
    /// # Safety
    /// `function` may be called with `data` on any thread, makes no native call and does not unwind.
    unsafe fn launch_host_function(
        &self,
        stream: Self::Stream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()>;
    /// Later work of `stream` waits until the word is at least `value`, counted in a circle. Only for devices with
    /// [`DeviceProperties::stream_value_waits`]. `cuStreamWaitValue32_v2(GEQ)` / `hipStreamWaitValue32`.
    ///
    /// # Safety
    /// `word` lies in host memory of [`Driver::allocate_host`], is a multiple of 4 and stays valid until the wait is over.
    unsafe fn stream_wait_value(&self, stream: Self::Stream, word: usize, value: u32) -> Result<()>;
    /// Blocks until all work of the device's place has finished. **Needs the place.** `cuCtxSynchronize` /
    /// `hipDeviceSynchronize`.
    fn synchronize_place(&self) -> Result<()>;

    /// **Needs the place.** `cuEventCreate`, with timing, without, or `INTERPROCESS`.
    fn create_event(&self, purpose: EventPurpose) -> Result<Self::Event>;
    /// `cuEventDestroy`.
    fn destroy_event(&self, event: Self::Event) -> Result<()>;
    /// `cuEventRecord`.
    fn record_event(&self, event: Self::Event, stream: Self::Stream) -> Result<()>;
    /// `cuEventQuery`: whether the recorded work has finished.
    fn event_is_complete(&self, event: Self::Event) -> Result<bool>;
    /// `cuEventSynchronize`.
    fn synchronize_event(&self, event: Self::Event) -> Result<()>;
    /// Nanoseconds between two completed timing events, negative when `end` came first. `cuEventElapsedTime`.
    fn elapsed_ns(&self, start: Self::Event, end: Self::Event) -> Result<i64>;

    /// **Needs the place.** `cuMemAlloc`; aligned to at least 256 bytes.
    fn allocate_device(&self, size: usize) -> Result<usize>;
    /// **Needs the place.** Host memory every device can reach. `cuMemHostAlloc(PORTABLE | DEVICEMAP)`.
    fn allocate_host(&self, size: usize) -> Result<usize>;
    /// **Needs the place.** `cuMemAllocManaged(ATTACH_GLOBAL)`.
    fn allocate_shared(&self, size: usize) -> Result<usize>;
    /// Frees device or managed memory. `cuMemFree`.
    fn free_device(&self, pointer: usize) -> Result<()>;
    /// Frees host memory. `cuMemFreeHost`.
    fn free_host(&self, pointer: usize) -> Result<()>;
    /// What a sensor of a device shows, by the backend's management library.
    ///
    /// # Errors
    /// `UNSUPPORTED_ENUMERATION` without such a library, and for a device that has no such sensor.
    fn sensor(&self, device: &DeviceProperties, sensor: Sensor) -> Result<u32>;
    /// What a pointer names; `None` when the library does not know it. `cuPointerGetAttributes`.
    fn pointer_info(&self, pointer: usize) -> Result<Option<PointerInfo<Self>>>;

    /// A pool of memory that the device can reach. `max_size` is the most bytes it may reserve, a multiple of
    /// [`Driver::POOL_STEP`], or 0 for no limit. `cuMemPoolCreate` / `hipMemPoolCreate`.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` where the library has no pools of this kind, or none with a limit.
    fn create_pool(&self, kind: MemoryKind, device: Self::Device, max_size: usize) -> Result<Self::Pool>;
    /// Destroys a pool; blocks that are out stay valid until they are freed. `cuMemPoolDestroy`.
    fn destroy_pool(&self, pool: Self::Pool) -> Result<()>;
    /// `cuMemPoolGetAttribute`.
    fn pool_attribute(&self, pool: Self::Pool, attribute: PoolAttribute) -> Result<u64>;
    /// `cuMemPoolSetAttribute`.
    fn set_pool_attribute(&self, pool: Self::Pool, attribute: PoolAttribute, value: u64) -> Result<()>;
    /// Lets a device read and write the pool's memory. `cuMemPoolSetAccess`.
    fn allow_pool_access(&self, pool: Self::Pool, device: Self::Device) -> Result<()>;
    /// `cuMemAllocFromPoolAsync`.
    fn allocate_from_pool(&self, pool: Self::Pool, size: usize, stream: Self::Stream) -> Result<usize>;
    /// Gives what the pool keeps beyond `keep` bytes and nobody uses back to the device. `cuMemPoolTrimTo`.
    fn trim_pool(&self, pool: Self::Pool, keep: usize) -> Result<()>;
    /// `cuMemFreeAsync`.
    fn free_async(&self, pointer: usize, stream: Self::Stream) -> Result<()>;

    /// Copies between any two pointers the library can reach, pageable host memory included. Needs the place where
    /// [`Driver::TRANSFERS_NEED_PLACE`] says so, like the fills. `cuMemcpyAsync`.
    ///
    /// # Safety
    /// Both ranges of `size` bytes are readable or writable by host or device until the copy has finished.
    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, stream: Self::Stream) -> Result<()>;
    /// Writes the `width`-byte (1, 2 or 4) `value` `count` times. `cuMemsetD8/16/32Async`.
    ///
    /// # Safety
    /// `width * count` bytes at `to` are writable by the device until the fill has finished; `to` is a multiple
    /// of `width`.
    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, stream: Self::Stream) -> Result<()>;
    /// Writes a `value` of one of the [`Driver::STRIDED_WIDTHS`] so often to the start of each row.
    /// `cuMemsetD2D8/16/32Async` / `hipMemset2DAsync`.
    ///
    /// # Safety
    /// As [`Driver::fill_async`], for every row; so is the pitch a multiple of `width`, if there is more than one row.
    unsafe fn fill_strided_async(&self, rows: Rows, width: usize, value: u32, stream: Self::Stream) -> Result<()>;

    /// Copies rows between any two pointers the library can reach, pageable host memory included; pitches are at most
    /// [`crate::usm::rows::MAX_PITCH`]. `cuMemcpy2DAsync` / `hipMemcpy2DAsync`.
    ///
    /// # Safety
    /// As [`Driver::copy_async`], for every row.
    unsafe fn copy_2d_async(&self, copy: &Copy2D, stream: Self::Stream) -> Result<()>;

    /// **Needs the place.** Rows of device memory, each from a good boundary on: address and pitch. `element` is 4, 8
    /// or 16. `cuMemAllocPitch` / `hipMemAllocPitch`.
    fn allocate_pitched(&self, width: usize, height: usize, element: u32) -> Result<(usize, usize)>;
    /// **Needs the place.** Page-locks memory of the process and maps it for every device; `read_only` says that devices
    /// only read it, where the library has a word for that. `cuMemHostRegister(PORTABLE | DEVICEMAP)`.
    fn register_host(&self, address: usize, size: usize, read_only: bool) -> Result<()>;
    /// **Needs the place** (HIP's looks at the current device). `cuMemHostUnregister`.
    fn unregister_host(&self, address: usize) -> Result<()>;
    /// Moves managed memory in the stream's order. `cuMemPrefetchAsync`.
    fn prefetch_async(
        &self,
        address: usize,
        size: usize,
        to: MemoryLocation<Self::Device>,
        stream: Self::Stream,
    ) -> Result<()>;
    /// **Needs the place.** Advice about managed memory, at once. `cuMemAdvise`.
    fn advise(&self, address: usize, size: usize, advice: Advice<Self::Device>) -> Result<()>;

    /// **Needs the place** of the memory's device. What stands for a device allocation in other processes.
    /// `cuIpcGetMemHandle`.
    fn ipc_handle(&self, address: usize) -> Result<IpcHandle>;
    /// **Needs the place.** Maps another process's allocation; once more for the same one gives the same address.
    /// `cuIpcOpenMemHandle(LAZY_ENABLE_PEER_ACCESS)`.
    fn open_ipc(&self, handle: &IpcHandle) -> Result<usize>;
    /// **Needs the place** that it was opened with. Undoes one [`Driver::open_ipc`]. `cuIpcCloseMemHandle`.
    fn close_ipc(&self, address: usize) -> Result<()>;
    /// **Needs the place** of the event. What stands for an event of [`EventPurpose::Processes`] in other processes; only
    /// the process that made it can tell. `cuIpcGetEventHandle`.
    fn event_ipc_handle(&self, event: Self::Event) -> Result<IpcHandle>;
    /// **Needs the place** of the device that the event was made on. Another process's event, to be destroyed like one's
    /// own. `cuIpcOpenEventHandle`.
    fn open_event_ipc(&self, handle: &IpcHandle) -> Result<Self::Event>;

    /// Whether atomic operations of `device` are native on memory of `peer`. `cuDeviceGetP2PAttribute`.
    fn has_peer_atomics(&self, device: Self::Device, peer: Self::Device) -> Result<bool>;
    /// **Needs the place** of the device that gets access. Lets its kernels reach plain memory of the peer's place;
    /// `false` when they could already. `cuCtxEnablePeerAccess` / `hipDeviceEnablePeerAccess`.
    fn enable_peer(&self, peer: Self::Place) -> Result<bool>;
    /// **Needs the place** as [`Driver::enable_peer`], which it undoes. `cuCtxDisablePeerAccess`.
    fn disable_peer(&self, peer: Self::Place) -> Result<()>;

    /// What sizes and addresses of physical memory and mappings are multiples of. `cuMemGetAllocationGranularity`.
    fn granularity(&self, device: Self::Device, recommended: bool) -> Result<usize>;
    /// Reserves addresses, near `wish` if that is not 0 and possible. `cuMemAddressReserve`.
    fn reserve_addresses(&self, size: usize, wish: usize) -> Result<usize>;
    /// Gives a whole reservation back, in which nothing is mapped. `cuMemAddressFree`.
    fn free_addresses(&self, address: usize, size: usize) -> Result<()>;
    /// Memory of a device without an address; `shareable` as a file descriptor if asked. `cuMemCreate`.
    fn create_physical(&self, device: Self::Device, size: usize, shareable: bool) -> Result<Self::Physical>;
    /// Gives the handle back; the memory lives while it is mapped. `cuMemRelease`.
    fn release_physical(&self, physical: Self::Physical) -> Result<()>;
    /// Maps physical memory into a reservation, accessible to nobody. `cuMemMap`.
    fn map(&self, address: usize, size: usize, offset: usize, physical: Self::Physical) -> Result<()>;
    /// `cuMemUnmap`.
    fn unmap(&self, address: usize, size: usize) -> Result<()>;
    /// What a device may do with whole mappings from now on. `cuMemSetAccess`.
    fn set_access(&self, address: usize, size: usize, device: Self::Device, access: Access) -> Result<()>;
    /// What a device may do with the mapping at an address. `cuMemGetAccess`.
    fn access(&self, address: usize, device: Self::Device) -> Result<Access>;
    /// A new file descriptor, the caller's to close, for shareable physical memory. `cuMemExportToShareableHandle`.
    fn export_physical(&self, physical: Self::Physical) -> Result<i32>;
    /// The physical memory behind a descriptor, which stays the caller's. `cuMemImportFromShareableHandle`.
    fn import_physical(&self, descriptor: i32) -> Result<Self::Physical>;

    /// An array for images of up to three dimensions, which textures and surfaces can be made of. Its number is the
    /// native handle. **Needs the place.** `cuArray3DCreate` / `hipArray3DCreate`.
    fn create_array(&self, shape: &ArrayShape) -> Result<usize>;
    /// `cuArrayDestroy` / `hipArrayDestroy`.
    fn destroy_array(&self, array: usize) -> Result<()>;
    /// An object by which kernels read and write an array. **Needs the place.**
    /// `cuSurfObjectCreate` / `hipCreateSurfaceObject`.
    fn create_surface(&self, array: usize) -> Result<u64>;
    /// **Needs the place.** `cuSurfObjectDestroy` / `hipDestroySurfaceObject`.
    fn destroy_surface(&self, surface: u64) -> Result<()>;
    /// An object by which kernels sample an array. **Needs the place.** `cuTexObjectCreate` / `hipTexObjectCreate`.
    fn create_texture(&self, array: usize, sampling: &Sampling) -> Result<u64>;
    /// **Needs the place.** `cuTexObjectDestroy` / `hipTexObjectDestroy`.
    fn destroy_texture(&self, texture: u64) -> Result<()>;
    /// Copies a box between arrays and memory, of another device too. Needs the place where
    /// [`Driver::TRANSFERS_NEED_PLACE`] says so. No pitch is above `i32::MAX`. `cuMemcpy3DAsync` /
    /// `hipDrvMemcpy3DAsync`.
    ///
    /// # Safety
    /// Every row of the box in memory is readable or writable by host or device until the copy has finished.
    unsafe fn copy_box_async(&self, copy: &BoxCopy, stream: Self::Stream) -> Result<()>;

    /// Checks that `image` is whole and of a format this backend takes, without a native call: native loaders
    /// are given no length and would read past a truncated image.
    fn check_image(&self, image: &[u8]) -> Result<()>;
    /// **Needs the place.** Loads an image that [`Driver::check_image`] accepted and that a NUL byte follows.
    /// `cuModuleLoadDataEx` / `hipModuleLoadDataEx`.
    fn load_module(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<Self::Module>;
    /// **Needs the place.** Compiles an image without loading it, for its errors. `cuLinkCreate`, `cuLinkAddData`,
    /// `cuLinkDestroy` / unsupported.
    fn compile(&self, image: &[u8], request: &mut BuildRequest<'_>) -> Result<()>;
    /// **Needs the place.** Links images that [`Driver::check_image`] accepted, each with its NUL, into one image.
    /// `cuLinkCreate`, `cuLinkAddData`, `cuLinkComplete`, `cuLinkDestroy` / unsupported.
    fn link(&self, images: &[&[u8]], request: &mut BuildRequest<'_>) -> Result<Vec<u8>>;
    /// Names of a module's kernels, `None` when the library cannot list them. **Needs the place.**
    /// `cuModuleEnumerateFunctions`, `cuFuncGetName` / not told.
    fn function_names(&self, module: Self::Module) -> Result<Option<Vec<String>>>;
    /// `cuModuleUnload`.
    fn unload_module(&self, module: Self::Module) -> Result<()>;
    /// The function of that name, `None` when the module has none. **Needs the place** (HIP's ends the process when
    /// the current device is not the module's). `cuModuleGetFunction`.
    fn function(&self, module: Self::Module, name: &core::ffi::CStr) -> Result<Option<Self::Function>>;
    /// Address and size of the module's variable of that name, `None` when it has none. **Needs the place** (HIP's looks
    /// the module's code of the current device up). `cuModuleGetGlobal`.
    fn global(&self, module: Self::Module, name: &core::ffi::CStr) -> Result<Option<(usize, usize)>>;
    /// **Needs the place** (HIP's reads the code of the current device). `cuFuncGetAttribute`.
    fn function_attributes(&self, function: Self::Function) -> Result<FunctionAttributes>;
    /// A function's name, `None` when the library cannot tell. `cuFuncGetName` / `hipKernelNameRef`.
    fn function_name(&self, function: Self::Function) -> Result<Option<std::ffi::CString>>;
    /// The module a function is of, `None` when the library cannot tell. `cuFuncGetModule` / not told.
    fn function_module(&self, function: Self::Function) -> Result<Option<Self::Module>>;
    /// `cuFuncSetCacheConfig` / nothing: AMD's devices have no such choice, and HIP's call takes host functions only.
    fn prefer_cache(&self, function: Self::Function, preference: CachePreference) -> Result<()>;
    /// **Needs the place.** How many blocks of that many threads run on one compute unit at once.
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    fn resident_blocks(&self, function: Self::Function, threads: u32, dynamic_shared: usize) -> Result<u32>;
    /// Size in bytes of each parameter, `None` when the library cannot tell. `cuFuncGetParamInfo`.
    fn function_parameters(&self, function: Self::Function) -> Result<Option<Vec<usize>>>;
    /// Raises a function's limit of dynamic work-group memory. **Needs the place**. `cuFuncSetAttribute`.
    fn allow_dynamic_shared(&self, function: Self::Function, bytes: usize) -> Result<()>;
    /// Lets a function's launches have clusters of more blocks than every device with clusters has. **Needs the place**.
    /// `cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)` / unsupported.
    fn allow_large_clusters(&self, function: Self::Function) -> Result<()>;
    /// **Needs the place.** The block size that fills the device best, at most `limit` threads (0: no limit).
    /// `cuOccupancyMaxPotentialBlockSize`.
    fn suggested_block_size(&self, function: Self::Function, dynamic_shared: usize, limit: u32) -> Result<u32>;
    /// Launches; `arguments` holds a pointer to each parameter's value. `cuLaunchKernel`.
    ///
    /// # Safety
    /// `arguments` has as many entries as the function has parameters, each readable for its parameter's size.
    unsafe fn launch(
        &self,
        function: Self::Function,
        shape: LaunchShape,
        stream: Self::Stream,
        arguments: *const *const c_void,
    ) -> Result<()>;
    /// As [`Driver::launch`], with all blocks resident at once. **Needs the place** (HIP's). `cuLaunchCooperativeKernel`
    /// / `hipModuleLaunchCooperativeKernel`.
    ///
    /// # Safety
    /// As [`Driver::launch`].
    unsafe fn launch_cooperative(
        &self,
        function: Self::Function,
        shape: LaunchShape,
        stream: Self::Stream,
        arguments: *const *const c_void,
    ) -> Result<()>;
    /// As [`Driver::launch`], with blocks in clusters, all resident at once where `cooperative`. `cuLaunchKernelEx` /
    /// unsupported.
    ///
    /// # Safety
    /// As [`Driver::launch`].
    unsafe fn launch_clusters(
        &self,
        function: Self::Function,
        shape: LaunchShape,
        cluster: [u32; 3],
        cooperative: bool,
        stream: Self::Stream,
        arguments: *const *const c_void,
    ) -> Result<()>;
}

/// Builds the error of a native status that no UR code names, keeping number and text for
/// `urAdapterGetLastError`.
pub fn adapter_specific(call: &str, code: i32, text: &str) -> Error {
    Error::native(ur_ffi::ur_result_t::ERROR_ADAPTER_SPECIFIC, call, code, text)
}

/// A C string from the native library as text; empty when null.
///
/// # Safety
/// `text` is null or a NUL-terminated string.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the terminating NUL.
    unsafe { core::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
