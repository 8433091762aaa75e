//! The smallest driver there is: one device without hardware, whose streams complete at once and whose memory is the host's
//! heap. Everything else keeps the traits' defaults and answers `UNSUPPORTED_FEATURE`.
//!
//! It is the template of a new backend, which has the same `impl`s over its native calls, and lets the engine's own tests
//! run in one process under a sanitizer (feature `testing`). It must not imitate a GPU: what a GPU does is the matter of
//! `conformance/simulator`. What a test can set of it is in [`Controls`].

use core::ffi::{CStr, c_void};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use ur_ffi::{ur_backend_t, ur_result_t};

use crate::device::clock::host_time_ns;
use crate::driver::native::cell::AdapterCell;
use crate::driver::{
    BuildRequest, CheckedImage, Contexts, DeviceProperties, Devices, Driver, EventPurpose, Events, External,
    FunctionAttributes, Graphs, Images, Interprocess, Kernels, LaunchShape, Memory, MemoryKind, Modules, PointerInfo,
    PoolAttribute, Pools, StreamKind, Streams, Transfers, VirtualMemory, unsupported,
};
use crate::object::error::{Error, OpenError, Result};

/// Bytes of memory that the device says it has.
const MEMORY_BYTES: usize = 1 << 40;
/// Alignment of every allocation, which is also the granularity of a pool's limit.
const ALIGNMENT: usize = size_of::<Line>();

/// The unit that memory is taken from the heap by.
#[derive(Clone, Copy, Debug)]
#[repr(align(512))]
struct Line {
    _bytes: [u8; 512],
}

crate::native_ordinals! {
    /// The device, 0; also what a thread has current.
    NoopDevice;
}

crate::native_handles! {
    /// A stream.
    NoopStream;
    /// An event.
    NoopEvent;
    /// A pool.
    NoopPool;
    /// A module, of which there are none.
    NoopModule;
    /// A function, of which there are none.
    NoopFunction;
    /// Physical memory, of which there is none.
    NoopPhysical;
    /// Memory of another API, of which there is none.
    NoopExternalMemory;
    /// A semaphore of another API, of which there are none.
    NoopExternalSemaphore;
    /// A graph, of which there are none.
    NoopGraph;
    /// An executable graph, of which there are none.
    NoopGraphExec;
    /// A node, of which there are none.
    NoopGraphNode;
}

/// What a test can set of the driver, and see of what the engine did with it.
#[derive(Debug, Default)]
pub struct Controls {
    /// The device's time in nanoseconds, which events are recorded at.
    pub time_ns: AtomicU64,
    /// What each recorded event adds to it.
    pub time_step_ns: AtomicU64,
    /// Whether calls that record an event stay inside, as a native call may.
    pub holds_records: AtomicBool,
    /// Calls that have stayed there.
    pub held_records: AtomicUsize,
    /// Whether events say that they are not complete yet.
    pub is_slow: AtomicBool,
    /// How often events still say so before they are complete.
    pub looks_until_complete: AtomicUsize,
    /// When an event last said that it is complete, nanoseconds of [`host_time_ns`].
    pub complete_at_ns: AtomicU64,
    /// Events that were made.
    pub events_made: AtomicUsize,
    /// Handle values of all pools in the order they were made.
    pub pools: Mutex<Vec<usize>>,
    /// Attributes of pools that were set, by handle value and attribute.
    pub attributes: Mutex<HashMap<(usize, i32), u64>>,
    /// Memory of the device that pools hold although nobody uses it, by handle value; while there is any, the device is full.
    pub held: Mutex<HashMap<usize, u64>>,
    /// Whether frees were seen, so that pools can be trimmed.
    pub frees_are_seen: AtomicBool,
    /// Attributes that can still be set before one is refused; 0 refuses none.
    pub attributes_until_refusal: AtomicUsize,
}

/// Memory that is out.
#[derive(Debug)]
struct Allocation {
    /// The memory itself, which goes back to the heap with the entry.
    _lines: Vec<Line>,
    size: usize,
    kind: MemoryKind,
    /// Handle value of the pool that it is a block of.
    pool: Option<usize>,
}

/// The driver.
#[derive(Debug, Default)]
pub struct Noop {
    /// What a test can set.
    pub controls: Controls,
    last_handle: AtomicUsize,
    /// When each event was last recorded.
    recorded: Mutex<HashMap<usize, u64>>,
    kinds: Mutex<HashMap<usize, MemoryKind>>,
    allocations: Mutex<BTreeMap<usize, Allocation>>,
}

static CELL: AdapterCell<Noop> = AdapterCell::new();

impl Noop {
    fn new_handle(&self) -> usize {
        self.last_handle.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn allocate(&self, size: usize, kind: MemoryKind, pool: Option<usize>) -> Result<usize> {
        let mut lines = Vec::new();
        let count = size.div_ceil(ALIGNMENT).max(1);
        lines.try_reserve_exact(count).map_err(|_| ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY)?;
        lines.resize(count, Line { _bytes: [0; ALIGNMENT] });
        let address = lines.as_mut_ptr().expose_provenance();
        let before = self.allocations.lock().insert(address, Allocation { _lines: lines, size, kind, pool });
        assert!(before.is_none(), "{address:#x} is out already");
        Ok(address)
    }

    fn free(&self, address: usize) -> Result<()> {
        let freed = self.allocations.lock().remove(&address);
        freed
            .map(drop)
            .ok_or_else(|| Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{address:#x} is no allocation")))
    }
}

impl Driver for Noop {
    const BACKEND: ur_backend_t = ur_backend_t::UNKNOWN;
    const PLATFORM_NAME: &'static str = "no-op";
    const VENDOR: &'static str = "none";
    const VENDOR_ID: u32 = 0;
    const LIBRARY_VARIABLE: &'static str = "UR_NOOP_LIBRARY";
    const TRANSFERS_NEED_CONTEXT: bool = false;
    const LAUNCHES_NEED_CONTEXT: bool = false;
    const STREAM_ENDS_WAIT: bool = false;
    const TELLS_REGISTRATIONS: bool = true;
    const TELLS_POOLS: bool = true;
    const REGISTERS_IN_PLACE: bool = true;
    const POOL_STEP: usize = ALIGNMENT;
    const CONTEXTS_HAVE_HANDLES: bool = false;
    const STRIDED_WIDTHS: &'static [usize] = &[1];
    const ADVISES_COHERENCE: bool = false;

    fn cell() -> &'static AdapterCell<Self> {
        &CELL
    }

    fn open() -> core::result::Result<Self, OpenError> {
        Ok(Self::default())
    }

    fn version(&self) -> Result<String> {
        Ok("no-op".to_owned())
    }
}

impl Devices for Noop {
    type Device = NoopDevice;

    fn device_count(&self) -> Result<u32> {
        Ok(1)
    }

    fn device(&self, _ordinal: u32) -> Result<NoopDevice> {
        Ok(NoopDevice(0))
    }

    fn properties(&self, _device: NoopDevice) -> Result<DeviceProperties> {
        Ok(DeviceProperties {
            name: "no-op device".to_owned(),
            global_memory: MEMORY_BYTES as u64,
            memory_pools: true,
            integrated: true,
            managed_memory: true,
            ..DeviceProperties::default()
        })
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        let used: usize = self.allocations.lock().values().map(|allocation| allocation.size).sum();
        Ok((MEMORY_BYTES.saturating_sub(used), MEMORY_BYTES))
    }
}

impl Contexts for Noop {
    type Context = NoopDevice;

    fn retain_context(&self, device: NoopDevice) -> Result<NoopDevice> {
        Ok(device)
    }

    unsafe fn release_context(&self, _device: NoopDevice) -> Result<()> {
        Ok(())
    }

    fn context_is_active(&self, _device: NoopDevice) -> Result<bool> {
        Ok(true)
    }

    fn current_context(&self) -> Result<NoopDevice> {
        Ok(NoopDevice(0))
    }

    fn set_context(&self, _context: NoopDevice) -> Result<()> {
        Ok(())
    }

    fn synchronize_context(&self) -> Result<()> {
        Ok(())
    }
}

impl Streams for Noop {
    type Stream = NoopStream;

    fn create_stream(&self, _kind: StreamKind) -> Result<NoopStream> {
        Ok(NoopStream(self.new_handle()))
    }

    fn destroy_stream(&self, _stream: NoopStream) -> Result<()> {
        Ok(())
    }

    fn synchronize_stream(&self, _stream: &NoopStream) -> Result<()> {
        Ok(())
    }

    fn stream_is_idle(&self, _stream: &NoopStream) -> Result<bool> {
        Ok(true)
    }

    unsafe fn launch_host_function(
        &self,
        _stream: &NoopStream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller lets any thread call it, and everything before it has finished.
        unsafe { function(data) };
        Ok(())
    }
}

impl Events for Noop {
    type Event = NoopEvent;

    fn create_event(&self, _purpose: EventPurpose) -> Result<NoopEvent> {
        self.controls.events_made.fetch_add(1, Ordering::Relaxed);
        Ok(NoopEvent(self.new_handle()))
    }

    fn destroy_event(&self, event: NoopEvent) -> Result<()> {
        self.recorded.lock().remove(&event.0);
        Ok(())
    }

    fn record_event(&self, event: &NoopEvent, _stream: &NoopStream) -> Result<()> {
        if self.controls.holds_records.load(Ordering::Acquire) {
            self.controls.held_records.fetch_add(1, Ordering::AcqRel);
            while self.controls.holds_records.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
        let step = self.controls.time_step_ns.load(Ordering::Relaxed);
        self.recorded.lock().insert(event.0, self.controls.time_ns.fetch_add(step, Ordering::Relaxed));
        Ok(())
    }

    fn event_is_complete(&self, _event: &NoopEvent) -> Result<bool> {
        let left = &self.controls.looks_until_complete;
        let must_wait = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if must_wait || self.controls.is_slow.load(Ordering::Relaxed) {
            return Ok(false);
        }
        self.controls.complete_at_ns.store(host_time_ns(), Ordering::Relaxed);
        Ok(true)
    }

    fn synchronize_event(&self, _event: &NoopEvent) -> Result<()> {
        Ok(())
    }

    fn stream_wait(&self, _stream: &NoopStream, _event: &NoopEvent) -> Result<()> {
        Ok(())
    }

    /// In milliseconds and as a float, as native libraries count.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "what native libraries do, too")]
    fn elapsed_ns(&self, start: &NoopEvent, end: &NoopEvent) -> Result<i64> {
        let recorded = self.recorded.lock();
        let (Some(start), Some(end)) = (recorded.get(&start.0), recorded.get(&end.0)) else {
            return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, "an event that was never recorded has no time"));
        };
        let milliseconds = ((*end as f64 - *start as f64) / 1e6) as f32;
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
    }
}

impl Pools for Noop {
    type Pool = NoopPool;

    fn create_pool(&self, kind: MemoryKind, _device: NoopDevice, max_size: usize) -> Result<NoopPool> {
        if max_size != 0 {
            return unsupported("a pool with a maximum size");
        }
        let pool = self.new_handle();
        self.kinds.lock().insert(pool, kind);
        self.controls.pools.lock().push(pool);
        // The call takes long in native libraries: other threads get something done meanwhile.
        (0..50).for_each(|_| std::thread::yield_now());
        Ok(NoopPool(pool))
    }

    unsafe fn destroy_pool(&self, pool: NoopPool) -> Result<()> {
        assert!(!self.controls.held.lock().contains_key(&pool.0), "a pool is destroyed before its frees were seen");
        self.controls.pools.lock().retain(|known| *known != pool.0);
        self.kinds.lock().remove(&pool.0);
        Ok(())
    }

    fn pool_attribute(&self, pool: &NoopPool, attribute: PoolAttribute) -> Result<u64> {
        match attribute {
            PoolAttribute::ReservedCurrent | PoolAttribute::UsedCurrent => {
                let allocations = self.allocations.lock();
                let blocks = allocations.values().filter(|allocation| allocation.pool == Some(pool.0));
                let used: u64 = blocks.map(|block| block.size as u64).sum();
                let held = self.controls.held.lock().get(&pool.0).copied().unwrap_or(0);
                Ok(if attribute == PoolAttribute::ReservedCurrent { used + held } else { used })
            }
            PoolAttribute::ReservedHigh | PoolAttribute::UsedHigh => unsupported("the most that a pool held"),
            _ => Ok(self.controls.attributes.lock().get(&(pool.0, attribute as i32)).copied().unwrap_or(0)),
        }
    }

    fn set_pool_attribute(&self, pool: &NoopPool, attribute: PoolAttribute, value: u64) -> Result<()> {
        let left = &self.controls.attributes_until_refusal;
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) == Ok(1) {
            return unsupported("the attribute, this time");
        }
        self.controls.attributes.lock().insert((pool.0, attribute as i32), value);
        Ok(())
    }

    fn allow_pool_access(&self, _pool: &NoopPool, _device: NoopDevice) -> Result<()> {
        Ok(())
    }

    fn allocate_from_pool(&self, pool: &NoopPool, size: usize, _stream: &NoopStream) -> Result<usize> {
        if !self.controls.held.lock().is_empty() {
            return Err(ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY.into());
        }
        let kind = self.kinds.lock().get(&pool.0).copied().ok_or(ur_result_t::ERROR_INVALID_VALUE)?;
        self.allocate(size, kind, Some(pool.0))
    }

    fn trim_pool(&self, pool: &NoopPool, _keep: usize) -> Result<()> {
        if self.controls.frees_are_seen.load(Ordering::Relaxed) {
            self.controls.held.lock().remove(&pool.0);
        }
        Ok(())
    }

    unsafe fn free_async(&self, pointer: usize, _stream: &NoopStream) -> Result<()> {
        self.free(pointer)
    }
}

impl Memory for Noop {
    fn allocate_device(&self, size: usize) -> Result<usize> {
        self.allocate(size, MemoryKind::Device, None)
    }

    fn allocate_host(&self, size: usize) -> Result<usize> {
        self.allocate(size, MemoryKind::Host, None)
    }

    fn allocate_shared(&self, size: usize) -> Result<usize> {
        self.allocate(size, MemoryKind::Shared, None)
    }

    unsafe fn free_device(&self, pointer: usize) -> Result<()> {
        self.free(pointer)
    }

    unsafe fn free_host(&self, pointer: usize) -> Result<()> {
        self.free(pointer)
    }

    fn pointer_info(&self, pointer: usize) -> Result<Option<PointerInfo<Self>>> {
        let allocations = self.allocations.lock();
        let around = allocations.range(..=pointer).next_back();
        let found = around.filter(|(base, allocation)| pointer - *base < allocation.size.max(1));
        Ok(found.map(|(base, allocation)| {
            let &Allocation { size, kind, pool, .. } = allocation;
            PointerInfo { kind, base: *base, size, device: NoopDevice(0), pool }
        }))
    }
}

impl Transfers for Noop {
    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, _stream: &NoopStream) -> Result<()> {
        let (to, from) = (core::ptr::with_exposed_provenance_mut::<u8>(to), core::ptr::with_exposed_provenance(from));
        // SAFETY: the caller vouches for both ranges, and all memory is the host's.
        unsafe { core::ptr::copy(from, to, size) };
        Ok(())
    }

    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, _stream: &NoopStream) -> Result<()> {
        let (to, pattern) = (core::ptr::with_exposed_provenance_mut::<u8>(to), value.to_le_bytes());
        for index in 0..count {
            // SAFETY: the caller vouches for `width * count` bytes, and all memory is the host's; a pattern has up to 4.
            unsafe { core::ptr::copy_nonoverlapping(pattern.as_ptr(), to.add(index * width), width) };
        }
        Ok(())
    }
}

impl External for Noop {
    type ExternalMemory = NoopExternalMemory;
    type ExternalSemaphore = NoopExternalSemaphore;
}

impl Images for Noop {}

impl Graphs for Noop {
    type Graph = NoopGraph;
    type GraphExec = NoopGraphExec;
    type GraphNode = NoopGraphNode;
}

impl VirtualMemory for Noop {
    type Physical = NoopPhysical;
}

impl Interprocess for Noop {}

impl Modules for Noop {
    type Module = NoopModule;
    type Function = NoopFunction;

    fn check_image(&self, _image: &[u8]) -> Result<()> {
        unsupported("device code")
    }

    fn load_module(&self, _image: &CheckedImage<Self>, _request: &mut BuildRequest<'_>) -> Result<NoopModule> {
        unsupported("device code")
    }

    unsafe fn unload_module(&self, _module: NoopModule) -> Result<()> {
        unsupported("device code")
    }

    fn function(&self, _module: &NoopModule, _name: &CStr) -> Result<Option<NoopFunction>> {
        unsupported("device code")
    }
}

impl Kernels for Noop {
    fn function_attributes(&self, _function: NoopFunction) -> Result<FunctionAttributes> {
        unsupported("device code")
    }

    unsafe fn launch(
        &self,
        _function: NoopFunction,
        _shape: LaunchShape,
        _stream: &NoopStream,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        unsupported("device code")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Handle as _;

    #[test]
    fn memory_is_known_by_every_address_in_it_until_it_is_freed() {
        let driver = Noop::default();
        let address = driver.allocate_shared(100).unwrap();
        let kind = |at| driver.pointer_info(at).unwrap().map(|info| (info.kind, info.base, info.size));
        let known = Some((MemoryKind::Shared, address, 100));
        assert_eq!(
            [kind(address), kind(address + 99), kind(address + 100), kind(address - 1)],
            [known, known, None, None]
        );
        // SAFETY: allocated above and not used.
        unsafe { driver.free_device(address) }.unwrap();
        assert_eq!(kind(address), None);
        // SAFETY: refused, since it is no allocation any more.
        assert_eq!(unsafe { driver.free_device(address) }.unwrap_err().code(), ur_result_t::ERROR_INVALID_VALUE);
    }

    #[test]
    fn copies_and_fills_are_done_when_the_call_returns() {
        let (driver, stream) = (Noop::default(), NoopStream::default());
        let [from, to] = [0; 2].map(|_: i32| driver.allocate_device(8).unwrap());
        // SAFETY: both have 8 bytes of host memory, which is initialised by the fill.
        let bytes = unsafe {
            driver.fill_async(from, 2, 0x1234_abcd, 4, &stream).unwrap();
            driver.copy_async(to, from, 8, &stream).unwrap();
            let bytes = core::ptr::with_exposed_provenance::<[u8; 8]>(to).read();
            driver.free_device(from).unwrap();
            driver.free_device(to).unwrap();
            bytes
        };
        assert_eq!(bytes, [0xcd, 0xab, 0xcd, 0xab, 0xcd, 0xab, 0xcd, 0xab]);
    }

    #[test]
    fn what_the_driver_lacks_is_unsupported_by_default() {
        let (driver, stream) = (Noop::default(), NoopStream::default());
        // SAFETY: nothing is done with any of the arguments.
        let waited = unsafe { driver.stream_wait_value(&stream, 0, 0) };
        let mut request = BuildRequest::default();
        let code = [
            waited.unwrap_err(),
            driver.unmap(0, 0).unwrap_err(),
            driver.load_module(&CheckedImage::none(), &mut request).unwrap_err(),
            driver.compile(&CheckedImage::none(), &mut request).unwrap_err(),
            driver.granularity(NoopDevice(0), true).unwrap_err(),
            driver.enable_peer(NoopDevice(0)).unwrap_err(),
        ];
        assert!(code.iter().all(|error| error.code() == ur_result_t::ERROR_UNSUPPORTED_FEATURE), "{code:?}");
        // SAFETY: the null handle.
        let stream = unsafe { NoopStream::from_value(0) };
        assert_eq!(driver.stream_context(&stream).unwrap(), None);
    }
}
