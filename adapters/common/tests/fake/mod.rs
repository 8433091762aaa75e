//! A driver that does nothing natively: streams have always finished, events are numbers, pool blocks are host memory.
//! It lets the engine's own tests run in one process under a sanitizer; what a GPU does is simcuda's matter
//! (`conformance/simulator/cuda`).

use core::ffi::{CStr, c_void};
use core::ptr::{null, null_mut};
use std::alloc::{Layout, alloc};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use ur_adapter::api::generated::*;
use ur_adapter::driver::cell::AdapterCell;
use ur_adapter::driver::memory_calls::{Access, Advice, Copy2D, IpcHandle, MemoryLocation};
use ur_adapter::driver::native_image::{ArrayShape, BoxCopy, Sampling};
use ur_adapter::driver::{
    BuildRequest, CachePreference, Driver, EventPurpose, FunctionAttributes, LaunchShape, MemoryKind, PointerInfo,
    PoolAttribute, Rows, Sensor, StreamKind,
};
use ur_adapter::object::error::{Error, OpenError, Result};
use ur_adapter::properties::DeviceProperties;
use ur_ffi::*;

static CELL: AdapterCell<Fake> = AdapterCell::new();

/// The driver.
#[derive(Default)]
pub struct Fake {
    numbers: AtomicUsize,
    /// The device's time in nanoseconds, which events are recorded at.
    pub time_ns: AtomicU64,
    /// Whether events take their time.
    pub is_slow: AtomicBool,
    recorded: Mutex<HashMap<usize, u64>>,
    free: Mutex<HashMap<usize, Vec<usize>>>,
    out: Mutex<HashMap<usize, usize>>,
    /// Native pools in the order they were made, and what was set of them.
    pub pools: Mutex<Vec<usize>>,
    /// Attributes of pools that were set, by pool and number.
    pub attributes: Mutex<HashMap<(usize, i32), u64>>,
    /// Memory of the device that pools hold although nobody uses it, by pool; while there is any, the device is full.
    pub held: Mutex<HashMap<usize, u64>>,
    /// Whether frees were seen, so that pools can be trimmed.
    pub frees_are_seen: AtomicBool,
    /// Attributes that can still be set before one is refused; 0 refuses none.
    pub attributes_until_refusal: AtomicUsize,
}

impl Fake {
    fn number(&self) -> Result<usize> {
        Ok(self.numbers.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Driver for Fake {
    type Device = usize;
    type Place = usize;
    type Stream = usize;
    type Event = usize;
    type Module = usize;
    type Function = usize;
    type Pool = usize;
    type Physical = usize;

    const BACKEND: ur_backend_t = ur_backend_t::UNKNOWN;
    const PLATFORM_NAME: &'static str = "nothing";
    const VENDOR: &'static str = "nobody";
    const VENDOR_ID: u32 = 0;
    const LIBRARY_VARIABLE: &'static str = "UR_NOTHING";
    const TRANSFERS_NEED_PLACE: bool = false;
    const PLACES_ARE_CONTEXTS: bool = false;
    const POOL_STEP: usize = 1 << 20;
    const STRIDED_WIDTHS: &'static [usize] = &[1];
    const ADVISES_COHERENCE: bool = false;

    fn cell() -> &'static AdapterCell<Self> {
        &CELL
    }
    fn open() -> core::result::Result<Self, OpenError> {
        Ok(Self::default())
    }
    fn version(&self) -> Result<String> {
        Ok("0".to_owned())
    }
    fn device_count(&self) -> Result<u32> {
        Ok(1)
    }
    fn device(&self, ordinal: u32) -> Result<usize> {
        Ok(ordinal as usize)
    }
    fn properties(&self, _device: usize) -> Result<DeviceProperties> {
        Ok(DeviceProperties {
            memory_pools: true,
            ipc_events: true,
            stream_value_waits: true,
            global_memory: 1 << 40,
            max_threads_per_block: 1024,
            max_block: [1024; 3],
            max_grid: [65535; 3],
            ..DeviceProperties::default()
        })
    }
    fn memory_info(&self) -> Result<(usize, usize)> {
        Ok((0, 0))
    }
    fn can_access_peer(&self, _device: usize, _peer: usize) -> Result<bool> {
        Ok(false)
    }
    fn retain_place(&self, device: usize) -> Result<usize> {
        Ok(device)
    }
    fn place_is_active(&self, _device: usize) -> Result<bool> {
        Ok(true)
    }
    fn release_place(&self, _device: usize) -> Result<()> {
        Ok(())
    }
    fn current_place(&self) -> Result<usize> {
        Ok(0)
    }
    fn set_place(&self, _place: usize) -> Result<()> {
        Ok(())
    }
    fn create_stream(&self, _kind: StreamKind) -> Result<usize> {
        self.number()
    }
    fn destroy_stream(&self, _stream: usize) -> Result<()> {
        Ok(())
    }
    fn synchronize_stream(&self, _stream: usize) -> Result<()> {
        Ok(())
    }
    fn stream_is_idle(&self, _stream: usize) -> Result<bool> {
        Ok(true)
    }
    fn stream_place(&self, _stream: usize) -> Result<Option<usize>> {
        Ok(None)
    }
    fn stream_wait(&self, _stream: usize, _event: usize) -> Result<()> {
        Ok(())
    }
    unsafe fn launch_host_function(
        &self,
        _stream: usize,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise; everything before has finished.
        unsafe { function(data) };
        Ok(())
    }
    unsafe fn stream_wait_value(&self, _stream: usize, _word: usize, _value: u32) -> Result<()> {
        Ok(())
    }
    fn synchronize_place(&self) -> Result<()> {
        Ok(())
    }
    fn create_event(&self, _purpose: EventPurpose) -> Result<usize> {
        self.number()
    }
    fn destroy_event(&self, event: usize) -> Result<()> {
        self.recorded.lock().remove(&event);
        Ok(())
    }
    fn record_event(&self, event: usize, _stream: usize) -> Result<()> {
        self.recorded.lock().insert(event, self.time_ns.load(Ordering::Relaxed));
        Ok(())
    }
    fn event_is_complete(&self, _event: usize) -> Result<bool> {
        Ok(!self.is_slow.load(Ordering::Relaxed))
    }
    fn synchronize_event(&self, _event: usize) -> Result<()> {
        Ok(())
    }
    /// As native libraries do: in milliseconds, as a float.
    fn elapsed_ns(&self, start: usize, end: usize) -> Result<i64> {
        let recorded = self.recorded.lock();
        let milliseconds = (recorded[&end] as f64 - recorded[&start] as f64) / 1e6;
        Ok((f64::from(milliseconds as f32) * 1e6).round() as i64)
    }
    fn allocate_device(&self, _size: usize) -> Result<usize> {
        Err(Error::unsupported("plain memory"))
    }
    fn allocate_host(&self, _size: usize) -> Result<usize> {
        Err(Error::unsupported("plain memory"))
    }
    fn allocate_shared(&self, _size: usize) -> Result<usize> {
        Err(Error::unsupported("plain memory"))
    }
    fn free_device(&self, _pointer: usize) -> Result<()> {
        Ok(())
    }
    fn free_host(&self, _pointer: usize) -> Result<()> {
        Ok(())
    }
    fn pointer_info(&self, _pointer: usize) -> Result<Option<PointerInfo<Self>>> {
        Ok(None)
    }
    fn create_pool(&self, _kind: MemoryKind, _device: usize, _max_size: usize) -> Result<usize> {
        let pool = self.number()?;
        self.pools.lock().push(pool);
        // As long as a native library takes: other threads get something done.
        (0..50).for_each(|_| std::thread::yield_now());
        Ok(pool)
    }
    fn destroy_pool(&self, pool: usize) -> Result<()> {
        assert!(!self.held.lock().contains_key(&pool), "a pool is destroyed before its frees were seen");
        self.pools.lock().retain(|known| *known != pool);
        Ok(())
    }
    fn pool_attribute(&self, pool: usize, attribute: PoolAttribute) -> Result<u64> {
        let held = self.held.lock().get(&pool).copied().unwrap_or(0);
        Ok(if attribute == PoolAttribute::ReservedCurrent { held } else { 0 })
    }
    fn set_pool_attribute(&self, pool: usize, attribute: PoolAttribute, value: u64) -> Result<()> {
        let counted = self
            .attributes_until_refusal
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if counted == Ok(1) {
            return Err(Error::unsupported("the attribute, this time"));
        }
        self.attributes.lock().insert((pool, attribute as i32), value);
        Ok(())
    }
    fn allow_pool_access(&self, _pool: usize, _device: usize) -> Result<()> {
        Ok(())
    }
    fn allocate_from_pool(&self, _pool: usize, size: usize, _stream: usize) -> Result<usize> {
        if !self.held.lock().is_empty() {
            return Err(Error::code_only(ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY));
        }
        let kept = self.free.lock().get_mut(&size).and_then(Vec::pop);
        let block = kept.unwrap_or_else(|| {
            let layout = Layout::from_size_align(size, 512).expect("a block");
            // SAFETY: the size is not 0.
            unsafe { alloc(layout) }.expose_provenance()
        });
        assert!(self.out.lock().insert(block, size).is_none(), "{block:#x} is out already");
        Ok(block)
    }
    fn trim_pool(&self, pool: usize, _keep: usize) -> Result<()> {
        if self.frees_are_seen.load(Ordering::Relaxed) {
            self.held.lock().remove(&pool);
        }
        Ok(())
    }
    fn free_async(&self, pointer: usize, _stream: usize) -> Result<()> {
        let size = self.out.lock().remove(&pointer).expect("a block that is out");
        self.free.lock().entry(size).or_default().push(pointer);
        Ok(())
    }
    unsafe fn copy_async(&self, _to: usize, _from: usize, _size: usize, _stream: usize) -> Result<()> {
        Ok(())
    }
    unsafe fn fill_async(&self, _to: usize, _width: usize, _value: u32, _count: usize, _stream: usize) -> Result<()> {
        Ok(())
    }
    unsafe fn fill_strided_async(&self, _rows: Rows, _width: usize, _value: u32, _stream: usize) -> Result<()> {
        Ok(())
    }
    unsafe fn copy_2d_async(&self, _copy: &Copy2D, _stream: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn create_array(&self, _shape: &ArrayShape) -> Result<usize> {
        Err(Error::unsupported("images"))
    }
    fn destroy_array(&self, _array: usize) -> Result<()> {
        Err(Error::unsupported("images"))
    }
    fn create_surface(&self, _array: usize) -> Result<u64> {
        Err(Error::unsupported("images"))
    }
    fn destroy_surface(&self, _surface: u64) -> Result<()> {
        Err(Error::unsupported("images"))
    }
    fn create_texture(&self, _array: usize, _sampling: &Sampling) -> Result<u64> {
        Err(Error::unsupported("images"))
    }
    fn destroy_texture(&self, _texture: u64) -> Result<()> {
        Err(Error::unsupported("images"))
    }
    unsafe fn copy_box_async(&self, _copy: &BoxCopy, _stream: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn allocate_pitched(&self, _width: usize, _height: usize, _element: u32) -> Result<(usize, usize)> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn register_host(&self, _address: usize, _size: usize, _read_only: bool) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn unregister_host(&self, _address: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn prefetch_async(&self, _address: usize, _size: usize, _to: MemoryLocation<usize>, _stream: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn advise(&self, _address: usize, _size: usize, _advice: Advice<usize>) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn ipc_handle(&self, _address: usize) -> Result<IpcHandle> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn open_ipc(&self, _handle: &IpcHandle) -> Result<usize> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn sensor(&self, _device: &DeviceProperties, _sensor: Sensor) -> Result<u32> {
        Err(Error::unsupported("sensors"))
    }
    fn event_ipc_handle(&self, _event: usize) -> Result<IpcHandle> {
        Err(Error::unsupported("other processes"))
    }
    fn open_event_ipc(&self, _handle: &IpcHandle) -> Result<usize> {
        Err(Error::unsupported("other processes"))
    }
    fn close_ipc(&self, _address: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn has_peer_atomics(&self, _device: usize, _peer: usize) -> Result<bool> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn enable_peer(&self, _peer: usize) -> Result<bool> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn disable_peer(&self, _peer: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn granularity(&self, _device: usize, _recommended: bool) -> Result<usize> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn reserve_addresses(&self, _size: usize, _wish: usize) -> Result<usize> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn free_addresses(&self, _address: usize, _size: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn create_physical(&self, _device: usize, _size: usize, _shareable: bool) -> Result<usize> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn release_physical(&self, _physical: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn map(&self, _address: usize, _size: usize, _offset: usize, _physical: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn unmap(&self, _address: usize, _size: usize) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn set_access(&self, _address: usize, _size: usize, _device: usize, _access: Access) -> Result<()> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn access(&self, _address: usize, _device: usize) -> Result<Access> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn export_physical(&self, _physical: usize) -> Result<i32> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn import_physical(&self, _descriptor: i32) -> Result<usize> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn global(&self, _module: usize, _name: &core::ffi::CStr) -> Result<Option<(usize, usize)>> {
        Err(Error::unsupported("memory beyond pools"))
    }
    fn check_image(&self, _image: &[u8]) -> Result<()> {
        Ok(())
    }
    fn load_module(&self, _image: &[u8], _request: &mut BuildRequest<'_>) -> Result<usize> {
        self.number()
    }
    fn compile(&self, _image: &[u8], _request: &mut BuildRequest<'_>) -> Result<()> {
        Err(Error::unsupported("code"))
    }
    fn link(&self, _images: &[&[u8]], _request: &mut BuildRequest<'_>) -> Result<Vec<u8>> {
        Err(Error::unsupported("code"))
    }
    fn function_names(&self, _module: usize) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
    fn unload_module(&self, _module: usize) -> Result<()> {
        Ok(())
    }
    fn function(&self, _module: usize, _name: &CStr) -> Result<Option<usize>> {
        self.number().map(Some)
    }
    fn function_attributes(&self, _function: usize) -> Result<FunctionAttributes> {
        Ok(FunctionAttributes { max_threads_per_block: 1024, ..FunctionAttributes::default() })
    }
    fn function_name(&self, _function: usize) -> Result<Option<std::ffi::CString>> {
        Ok(None)
    }
    fn function_module(&self, _function: usize) -> Result<Option<usize>> {
        Ok(None)
    }
    fn prefer_cache(&self, _function: usize, _preference: CachePreference) -> Result<()> {
        Ok(())
    }
    fn resident_blocks(&self, _function: usize, _threads: u32, _dynamic_shared: usize) -> Result<u32> {
        Err(Error::unsupported("code"))
    }
    fn function_parameters(&self, _function: usize) -> Result<Option<Vec<usize>>> {
        Ok(Some(Vec::new()))
    }
    fn allow_dynamic_shared(&self, _function: usize, _bytes: usize) -> Result<()> {
        Ok(())
    }
    fn allow_large_clusters(&self, _function: usize) -> Result<()> {
        Ok(())
    }
    fn suggested_block_size(&self, _function: usize, _dynamic_shared: usize, _limit: u32) -> Result<u32> {
        Ok(1)
    }
    unsafe fn launch(
        &self,
        _function: usize,
        _shape: LaunchShape,
        _stream: usize,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        Ok(())
    }
    unsafe fn launch_cooperative(
        &self,
        _function: usize,
        _shape: LaunchShape,
        _stream: usize,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        Err(Error::unsupported("a cooperative launch"))
    }
    unsafe fn launch_clusters(
        &self,
        _function: usize,
        _shape: LaunchShape,
        _cluster: [u32; 3],
        _cooperative: bool,
        _stream: usize,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        Err(Error::unsupported("a launch in clusters"))
    }
}

/// A context with its device.
pub struct Handles {
    adapter: ur_adapter_handle_t,
    device: ur_device_handle_t,
    context: ur_context_handle_t,
}

/// The calls here succeed, or the test has failed.
#[track_caller]
fn expect_success(code: ur_result_t) {
    assert_eq!(code, ur_result_t::SUCCESS);
}

impl Handles {
    /// Opens the driver and makes a context.
    pub fn new() -> Self {
        let (mut adapter, mut found, mut device, mut made) = (null_mut(), null_mut(), null_mut(), null_mut());
        // SAFETY: outputs are writable, handles live.
        unsafe {
            expect_success(urAdapterGet::<Fake>(1, &raw mut adapter, null_mut()));
            expect_success(urPlatformGet::<Fake>(adapter, 1, &raw mut found, null_mut()));
            expect_success(urDeviceGet::<Fake>(found, ur_device_type_t::ALL, 1, &raw mut device, null_mut()));
            expect_success(urContextCreate::<Fake>(1, &raw const device, null(), &raw mut made));
        }
        Self { adapter, device, context: made }
    }

    /// An in-order queue.
    pub fn queue(&self) -> ur_queue_handle_t {
        let mut made = null_mut();
        // SAFETY: live handles, a writable output.
        expect_success(unsafe { urQueueCreate::<Fake>(self.context, self.device, null(), &raw mut made) });
        made
    }

    /// A pool of the device.
    pub fn pool(&self) -> ur_usm_pool_handle_t {
        let mut desc = ur_usm_pool_desc_t::default();
        let mut made = null_mut();
        // SAFETY: live handles, a valid descriptor, a writable output.
        expect_success(unsafe { urUSMPoolCreateExp::<Fake>(self.context, self.device, &raw mut desc, &raw mut made) });
        made
    }

    /// A pool of the context, which makes its memory at first need.
    pub fn lazy_pool(&self) -> ur_usm_pool_handle_t {
        let mut desc = ur_usm_pool_desc_t::default();
        let mut made = null_mut();
        // SAFETY: live handles, a valid descriptor, a writable output.
        expect_success(unsafe { urUSMPoolCreate::<Fake>(self.context, &raw mut desc, &raw mut made) });
        made
    }

    /// Gives the pool's free memory back.
    pub fn trim(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: live handles.
        expect_success(unsafe { urUSMPoolTrimToExp::<Fake>(self.context, self.device, pool, 0) });
    }

    /// Releases a queue.
    pub fn release_queue(&self, queue: ur_queue_handle_t) {
        // SAFETY: a live queue, released once.
        expect_success(unsafe { urQueueRelease::<Fake>(queue) });
    }

    /// Releases a pool of the context.
    pub fn release_pool_of_context(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: a live pool, released once.
        expect_success(unsafe { urUSMPoolRelease::<Fake>(pool) });
    }

    /// Destroys a pool.
    pub fn release_pool(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: live handles.
        expect_success(unsafe { urUSMPoolDestroyExp::<Fake>(self.context, self.device, pool) });
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: a live context and the adapter's reference that `new` got, each released once.
        unsafe {
            expect_success(urContextRelease::<Fake>(self.context));
            expect_success(urAdapterRelease::<Fake>(self.adapter));
        }
    }
}
