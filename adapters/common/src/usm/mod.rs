//! Unified shared memory: plain allocation, release, and what a pointer names.
//!
//! Plain memory is blocks of the context's heaps ([`crate::memory_pool::plain`]). What those do not serve (large alignments, a
//! device that is nearly full, heaps that are switched off) has native allocations of its own, of which the engine keeps no
//! registry: the native library is asked what such a pointer names. Memory of a pool is the pool's streams' to know.

pub mod copy;
pub mod fill;
pub(crate) mod from_application;
pub(crate) mod graph_writes;
mod guard;
pub mod host_register;
pub mod prefetch;
pub mod rows;
pub mod virtual_memory;

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{ur_result_t, ur_usm_alloc_info_t, ur_usm_desc_t, ur_usm_type_t};

use crate::command::submission::Submission;
use crate::context::over_aligned::{NATIVE_ALIGNMENT, with_room};
use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::adapter;
use crate::device::deferred;
use crate::device::native_context::free_claim::FreeClaim;
use crate::device::native_context::owned;
use crate::device::native_context::{imported, own_memory, registrations};
use crate::device::relief::{is_full, reclaiming};
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::plain::{self, BlockRequest, Heap, Live, size_class};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::params::{Address, Out};
use crate::pool::UsmPool;
use crate::pool::extent::Extent;
use crate::pool::out_of_memory::with_relief;
use crate::pool::stream_ordered::Wanted;
use crate::pool::stream_ordered_free::free_unused_of_graph;
use crate::pool::unused_blocks::{free_unused, not_a_block};
use crate::stream::service::service_stream;
use crate::sync::unlikely::unlikely;

/// The parameters that the three allocations share, checked.
struct Plain<'a, D: Driver> {
    name: &'static str,
    context: &'a Object<Context<D>>,
    pool: Option<&'a Object<UsmPool<D>>>,
    size: usize,
    align: usize,
    out: Out<'a, *mut c_void>,
}

impl<'a, D: Driver> Plain<'a, D> {
    /// In its callers, so that what it makes is made in its place: each time it is moved, words are read in pairs that were stored one
    /// by one, and waited for (`docs/probes/hot_path.py plain`).
    #[inline(always)]
    fn new(
        name: &'static str,
        context: &'a Object<Context<D>>,
        device: Option<&Object<Device<D>>>,
        desc: Option<&ur_usm_desc_t>,
        pool: Option<&'a Object<UsmPool<D>>>,
        size: usize,
        out: Out<'a, *mut c_void>,
    ) -> Result<Self> {
        if let Some(pool) = pool {
            pool.check_owners(name, context, device)?;
        }
        if unlikely!(size == 0) {
            return Err(no_size(name));
        }
        // Clients leave `stype` 0, so the parameter's position tells the structure.
        let align = match desc {
            None => 0,
            Some(desc) => {
                check_power(name, desc.align)?;
                // A pool counts its blocks to the byte, so they have the native library's alignment.
                if pool.is_some() {
                    check_alignment(name, desc.align)?;
                }
                desc.align as usize
            }
        };
        Ok(Self { name, context, pool, size, align, out })
    }

    #[inline(always)]
    fn check_fits(&self, device: &Device<D>) -> Result<()> {
        if unlikely!(self.size as u64 > device.properties.global_memory) {
            return Err(too_large(self.name, self.size));
        }
        Ok(())
    }

    fn allocate(&self, state: &DeviceState<D>, kind: MemoryKind) -> Result<()> {
        let pointer = match self.pool {
            Some(pool) => self.draw(pool, state, kind),
            None => self.plain(state, kind),
        }?;
        self.out.set_address(pointer);
        Ok(())
    }

    #[inline]
    fn plain(&self, state: &DeviceState<D>, kind: MemoryKind) -> Result<usize> {
        match self.pooled(state, kind) {
            Some(pointer) => pointer,
            None => self.unpooled(state, kind),
        }
    }

    /// A block of the context's heap. `None` for what that does not serve, and where there is less memory left than a block
    /// takes.
    #[inline]
    fn pooled(&self, state: &DeviceState<D>, kind: MemoryKind) -> Option<Result<usize>> {
        if unlikely!(self.align > size_class::MOST_ALIGNED) {
            return None;
        }
        let heap = state.heap(kind)?;
        // Where a slab does not fit, the bytes that were asked for may; what is kept elsewhere goes back for those alone.
        let make = |bytes| state.allocate(kind, bytes);
        let taken = if unlikely!(heap.debugs()) {
            guard::take(heap, self.name, self.size, self.align, &make)
        } else {
            heap.take(BlockRequest { size: self.size, align: self.align, is_internal: false }, &make)
        };
        match taken? {
            Err(error) if is_full(&error) => None,
            taken => Some(taken),
        }
    }

    /// Memory with a native allocation of its own.
    #[cold]
    #[inline(never)]
    fn unpooled(&self, state: &DeviceState<D>, kind: MemoryKind) -> Result<usize> {
        let bytes = with_room(self.size, self.align).ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_USM_SIZE,
                format!("{}: {} bytes at an alignment of {} are too many", self.name, self.size, self.align),
            )
        })?;
        let native =
            reclaiming(&state.device, || state.allocate(kind, bytes)).map_err(|error| self.refused(error, kind))?;
        if self.align <= NATIVE_ALIGNMENT {
            return Ok(native);
        }
        Ok(self.context.over_aligned.place(native, self.size, self.align))
    }

    /// Names the request that a want of memory was of.
    #[cold]
    fn refused(&self, error: Error, kind: MemoryKind) -> Error {
        if !is_full(&error) {
            return error;
        }
        error.of_request(|| format!("{}: {} bytes of {kind} memory", self.name, self.size))
    }

    /// Allocates from a pool on the context's service stream and waits for it, so that every queue may use the memory at once.
    /// `state` is used where the pool is no device's: host memory too comes from where the pool has its own.
    fn draw(&self, pool: &Object<UsmPool<D>>, state: &DeviceState<D>, kind: MemoryKind) -> Result<usize> {
        let state = pool.device().map_or(Ok(state), |device| self.context.state_of(device).map(|state| &**state))?;
        let stream = service_stream(self.context, &state.device)?;
        let wanted = Wanted { kind, size: self.size, pool: Some(pool), context: self.context, in_order: true };
        let pointer = with_relief(
            self.context,
            state,
            || pool.backend(kind, state).ok().map(|backend| (backend, self.size)),
            || wanted.take(&mut Submission::over(&stream), true, None),
        )
        .map_err(|error| self.refused(error, kind))?;
        if let Err(error) = stream.wait_until_reached() {
            // The caller gets the wait's error and never sees the block.
            let _ = free_unused(self.context, pointer);
            return Err(error);
        }
        Ok(pointer)
    }
}

#[cold]
fn no_size(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{name}: size is 0"))
}

#[cold]
fn too_large(name: &str, size: usize) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{name}: {size} bytes are more than the device has"))
}

/// Refuses an alignment that native allocations do not have.
///
/// # Errors
/// `INVALID_VALUE` for no power of two, `UNSUPPORTED_ALIGNMENT` beyond [`NATIVE_ALIGNMENT`].
pub(crate) fn check_alignment(name: &str, align: u32) -> Result<()> {
    check_power(name, align)?;
    if align as usize > NATIVE_ALIGNMENT {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ALIGNMENT,
            format!("{name}: alignments above {NATIVE_ALIGNMENT} are for memory of no pool and without rows"),
        ));
    }
    Ok(())
}

fn check_power(name: &str, align: u32) -> Result<()> {
    if align != 0 && !align.is_power_of_two() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: an alignment of {align} is no power of two"),
        ));
    }
    Ok(())
}

/// `urUSMHostAlloc`.
///
/// # Errors
/// `INVALID_USM_SIZE`, `INVALID_VALUE` or, with a pool, `UNSUPPORTED_ALIGNMENT` for the alignment,
/// `OUT_OF_HOST_MEMORY`; what the native library answers.
pub fn host_alloc<D: Driver>(
    context: &Object<Context<D>>,
    desc: Option<&ur_usm_desc_t>,
    pool: Option<&Object<UsmPool<D>>>,
    size: usize,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    let plain = Plain::new("urUSMHostAlloc", context, None, desc, pool, size, out)?;
    plain.allocate(context.first()?, MemoryKind::Host).map_err(|error| match error.code() {
        ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_HOST_MEMORY),
        _ => error,
    })
}

/// `urUSMDeviceAlloc`.
///
/// # Errors
/// As [`host_alloc`]; `OUT_OF_DEVICE_MEMORY`.
pub fn device_alloc<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    desc: Option<&ur_usm_desc_t>,
    pool: Option<&Object<UsmPool<D>>>,
    size: usize,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    let plain = Plain::new("urUSMDeviceAlloc", context, Some(device), desc, pool, size, out)?;
    plain.check_fits(device)?;
    plain.allocate(context.state_of(device)?, MemoryKind::Device)
}

/// `urUSMSharedAlloc`; without a device the memory belongs to the context's first.
///
/// # Errors
/// As [`device_alloc`]; `UNSUPPORTED_FEATURE` on a device without managed memory.
pub fn shared_alloc<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    desc: Option<&ur_usm_desc_t>,
    pool: Option<&Object<UsmPool<D>>>,
    size: usize,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    let plain = Plain::new("urUSMSharedAlloc", context, Some(device), desc, pool, size, out)?;
    plain.check_fits(device)?;
    if !device.properties.managed_memory {
        return Err(Error::unsupported("managed memory on this device"));
    }
    plain.allocate(context.state_of(device)?, MemoryKind::Shared)
}

/// `urUSMFree`, for plain and stream-ordered pointers alike. No command may still use the memory, as every native library
/// demands.
///
/// # Errors
/// `INVALID_MEM_OBJECT` for a pointer that is not the start of a live allocation.
pub fn free<D: Driver>(context: &Object<Context<D>>, memory: Address) -> Result<()> {
    let registry = &context.registry;
    // The block of a pool that lies in a plain block and has its start goes first.
    if unlikely!(registry.has_arenas())
        && let Some(freed) = free_unused(context, memory.addr())
    {
        return freed;
    }
    match plain::claim(registry.plain_blocks(), memory.addr(), false) {
        Some(live) => match context.heap_of(live.label) {
            Some(heap) => give_back(heap, live),
            // A label names its context's own heaps.
            None => Err(ur_result_t::ERROR_UNKNOWN.into()),
        },
        None => free_other(context, memory),
    }
}

/// Gives a claimed block back to its heap, whoever had it: the application, or a buffer that owned it.
///
/// # Errors
/// As [`Heap::give_back`].
#[inline]
pub(crate) fn give_back<D: Driver>(heap: &Heap<D>, live: Live) -> Result<()> {
    // By its parts, so that it lies in registers.
    if unlikely!(heap.debugs()) {
        guard::give_back(heap, live.start, live.label)
    } else {
        heap.give_back(live.start, live.label)
    }
}

/// Frees what is no plain block of the context.
#[inline(never)]
fn free_other<D: Driver>(context: &Object<Context<D>>, memory: Address) -> Result<()> {
    if let Some(freed) = free_unused(context, memory.addr()) {
        return freed;
    }
    if let Some(freed) = free_unused_of_graph(context, memory.addr()) {
        return freed;
    }
    if let Some(moved) = context.over_aligned.take(memory.addr()) {
        let freed = free_plain(context, moved.native);
        if freed.is_err() {
            context.over_aligned.put_back(memory.addr(), moved);
        }
        return freed;
    }
    // Only the context knows where an allocation with a moved start begins for the native library.
    if context.over_aligned.within(memory.addr()).is_some() {
        return Err(not_a_block("urUSMFree", context, memory.addr()));
    }
    free_plain(context, memory.addr())
}

/// Frees what the native library knows as the start of plain memory.
fn free_plain<D: Driver>(context: &Object<Context<D>>, address: usize) -> Result<()> {
    // Another context's, or nobody's: the native library would take all of what blocks are cut from.
    if let Some(heap) = owned::heap_around::<Heap<D>>(address) {
        let live = heap.claim(address, false).ok_or_else(|| not_a_block("urUSMFree", context, address))?;
        return give_back(&heap, live);
    }
    if owned::contains(address) {
        return Err(not_a_block("urUSMFree", context, address));
    }
    if let Some(what) = ended_elsewhere(context, address) {
        return Err(Error::new(ur_result_t::ERROR_INVALID_MEM_OBJECT, format!("urUSMFree: {address:#x} is {what}")));
    }
    let driver = adapter::driver::<D>()?;
    let _claim = FreeClaim::of(address).ok_or_else(|| not_a_block("urUSMFree", context, address))?;
    // Who had the claim before may have handed it over.
    if own_memory::starts_at(address) || deferred::is_pending(address) {
        return Err(not_a_block("urUSMFree", context, address));
    }
    // The plain free would also take a block that a free list or another library of the process has. AMD's library does not
    // tell pools apart, but the table knows the blocks of free lists, and those that are on their way to the library: asked before
    // the library is, since that may have such a block when it answers and no more when it frees.
    let is_ours = || context.registry.find(address).is_some();
    let known = if is_ours() { None } else { driver.pointer_info(address)? };
    let plain = known.filter(|info| info.base == address && info.pool.is_none() && !is_ours());
    let info = plain.ok_or_else(|| not_a_block("urUSMFree", context, address))?;
    let home = home_of(context, info.device)?;
    deferred::free(driver, &home.native, info.kind, address, info.size)
}

/// What an address is and which function ends that, if it is known here and is no allocation.
fn ended_elsewhere<D: Driver>(context: &Context<D>, address: usize) -> Option<&'static str> {
    if context.external_mappings.around(address).is_some() {
        return Some("mapped external memory; free it with urBindlessImagesFreeMappedLinearMemoryExp");
    }
    if registrations::starts_at(address) {
        return Some(
            "registered memory; end that with urUSMHostAllocUnregisterExp, or urUSMReleaseExp if it is imported",
        );
    }
    imported::around(address).map(|_| "memory of another process; close it with urIPCCloseMemHandleExp")
}

/// The state of the device that has some memory, whose native context is kept until the memory is freed; no other device is needed.
/// Of memory of a device that the context has not, any state will do: it is kept for nobody.
fn home_of<D: Driver>(context: &Context<D>, device: D::Device) -> Result<Arc<DeviceState<D>>> {
    match context.devices().find(|known| known.raw == device) {
        Some(known) => context.state(known),
        None => context.known_states().next().map_or_else(|| context.first_state(), Ok),
    }
}

/// `urUSMGetMemAllocInfo`; a pointer no allocation contains is of type `UR_USM_TYPE_UNKNOWN`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_VALUE` for base, size or device of an unknown pointer.
pub fn get_alloc_info<D: Driver>(
    context: &Object<Context<D>>,
    memory: Address,
    property: ur_usm_alloc_info_t,
    writer: InfoWriter,
) -> Result<()> {
    let known = Extent::around(context, memory.addr())?;
    let live = || {
        known.as_ref().ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("urUSMGetMemAllocInfo: {:p} lies in no USM allocation", memory.as_ptr()),
            )
        })
    };
    match property {
        ur_usm_alloc_info_t::TYPE => writer.value(match known.as_ref().map(|known| known.kind) {
            None => ur_usm_type_t::UNKNOWN,
            Some(MemoryKind::Host) => ur_usm_type_t::HOST,
            Some(MemoryKind::Device) => ur_usm_type_t::DEVICE,
            Some(MemoryKind::Shared) => ur_usm_type_t::SHARED,
        }),
        ur_usm_alloc_info_t::BASE_PTR => writer.value(live()?.base),
        ur_usm_alloc_info_t::SIZE => writer.value(live()?.size),
        ur_usm_alloc_info_t::DEVICE => {
            let live = live()?;
            let owner = context.devices().find(|device| device.raw == live.device).or_else(|| context.devices().next());
            writer.value(owner.map_or(core::ptr::null_mut(), |device| device.handle()))
        }
        ur_usm_alloc_info_t::POOL => {
            let pool = live()?.backend.as_ref().and_then(|backend| UsmPool::of_backend(backend));
            let pool = pool.as_ref().map(|pool| pool.handle());
            writer.value(pool.unwrap_or(core::ptr::null_mut()))
        }
        _ => writer.unknown(property.0),
    }
}
