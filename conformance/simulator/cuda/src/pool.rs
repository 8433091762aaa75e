//! Memory pools: stream-ordered blocks cut from pages that the pool keeps until it is trimmed.
//!
//! A block may be given out again as soon as the order of the streams allows it, under the pool's reuse policy. The
//! pool's statistics count what was asked for, from the call that allocates to the call that frees. A page goes back
//! once the host has synchronised after the last free on it, or when memory runs out. Nothing here submits commands
//! while the pool is locked. `pool/segments.rs` does the cutting.

mod segments;

use crate::clock::{self, Milestone, Point};
use crate::command::Command;
use crate::device;
use crate::handles::{self, Registry};
use crate::memory::{self, Allocation, Kind, Make};
use crate::region::Region;
use crate::reports::{self, Kind as Misuse};
use crate::stream::{self, Stream};
use crate::sys::*;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};
use parking_lot::Mutex;
use segments::{Gone, Place, Reuse, Segments};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All pools that have a handle, default pools included.
pub static POOLS: Registry<Pool> = Registry::new(handles::Kind::Pool);

/// Bytes a pool takes of a usual device at a time, and the granularity of limits.
const PAGE: u64 = 32 << 20;
/// Least bytes it takes of a small one.
const LEAST_PAGE: u64 = 2 << 20;
/// Granularity of blocks.
const BLOCK_STEP: usize = 512;
/// Addresses of a pool whose memory is not one device's.
const HOST_SPAN: usize = 16 << 30;

/// Whether release thresholds have a meaning. There are releases of AMD's runtime that ignore them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thresholds {
    /// They are kept to.
    Obeyed,
    /// Pools keep everything until they are trimmed.
    KeepAll,
    /// Pools give back at once whatever nobody uses.
    ReturnAll,
}

static THRESHOLDS: AtomicU8 = AtomicU8::new(0);

/// Sets what release thresholds mean from now on.
pub fn set_thresholds(meaning: Thresholds) {
    THRESHOLDS.store(meaning as u8, Ordering::Relaxed);
}

fn thresholds() -> Thresholds {
    match THRESHOLDS.load(Ordering::Relaxed) {
        1 => Thresholds::KeepAll,
        2 => Thresholds::ReturnAll,
        _ => Thresholds::Obeyed,
    }
}

/// Where a pool's memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// On a device.
    Device(usize),
    /// On the host.
    Host,
    /// Managed memory, which moves.
    Managed,
}

/// One pool.
pub struct Pool {
    /// Its handle.
    pub handle: Handle,
    /// Where its memory lies.
    pub location: Location,
    /// What it was made with.
    pub props: CUmemPoolProps,
    /// Whether it came with its device.
    pub default: bool,
    /// Most bytes it may reserve; `u64::MAX` for no limit of its own.
    limit: u64,
    /// Bytes it takes at a time.
    page: u64,
    state: Mutex<State>,
}

// SAFETY: the only non-Send part is the properties' security attributes pointer, kept to be compared with null alone.
unsafe impl Send for Pool {}
// SAFETY: as above; everything that changes is behind the lock.
unsafe impl Sync for Pool {}

struct State {
    /// Made with the first block.
    segments: Option<Segments>,
    reserved: Level,
    used: Level,
    threshold: u64,
    reuse: Reuse,
    access: BTreeMap<usize, i32>,
    /// When the host synchronised last.
    synchronised: u64,
    destroyed: bool,
}

/// A level with its high-water mark.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    now: u64,
    high: u64,
}

impl Level {
    fn add(&mut self, bytes: u64) {
        self.now += bytes;
        self.high = self.high.max(self.now);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({:#x}, {:?})", self.handle, self.location)
    }
}

impl Pool {
    /// A pool by `cuMemPoolCreate`'s rules.
    pub fn create(props: CUmemPoolProps) -> Result<Handle> {
        if !device::has_pools() {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        let location = match (props.alloc_type, props.location.kind) {
            (CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE) => {
                Location::Device(device::get(props.location.id)?.ordinal)
            }
            (CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST | CU_MEM_LOCATION_TYPE_HOST_NUMA) => {
                Location::Host
            }
            (CU_MEM_ALLOCATION_TYPE_MANAGED, _) if props.max_size != 0 => return Err(CUDA_ERROR_INVALID_VALUE),
            (CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_DEVICE) => {
                device::get(props.location.id)?;
                Location::Managed
            }
            (CU_MEM_ALLOCATION_TYPE_MANAGED, 0 | CU_MEM_LOCATION_TYPE_HOST | CU_MEM_LOCATION_TYPE_HOST_NUMA) => {
                Location::Managed
            }
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        };
        if props.handle_types & !(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC) != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if props.handle_types != 0 {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        Ok(Self::new(props, location, false).handle)
    }

    /// The pool that comes with a device.
    pub fn default_of(ordinal: usize) -> Arc<Pool> {
        let props = CUmemPoolProps {
            alloc_type: CU_MEM_ALLOCATION_TYPE_PINNED,
            handle_types: 0,
            location: CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: ordinal as i32 },
            win32_security_attributes: core::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        };
        Self::new(props, Location::Device(ordinal), true)
    }

    fn new(props: CUmemPoolProps, location: Location, default: bool) -> Arc<Pool> {
        let limit = match props.max_size as u64 {
            0 => u64::MAX,
            size => size.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX),
        };
        let state = State {
            segments: None,
            reserved: Level::default(),
            used: Level::default(),
            threshold: 0,
            reuse: Reuse { follow_events: true, opportunistic: true, internal: true },
            access: BTreeMap::new(),
            synchronised: 0,
            destroyed: false,
        };
        let page = match location {
            Location::Device(ordinal) => PAGE.min((device::all()[ordinal].memory / 128).next_multiple_of(LEAST_PAGE)),
            Location::Host | Location::Managed => PAGE,
        };
        POOLS.insert_with(|handle| Pool { handle, location, props, default, limit, page, state: Mutex::new(state) }).1
    }

    /// Allocates in stream order. Zero bytes are no block: the null pointer.
    pub fn allocate(self: &Arc<Self>, stream: &Arc<Stream>, size: usize) -> Result<u64> {
        if size == 0 {
            return Ok(0);
        }
        let bytes = size.checked_next_multiple_of(BLOCK_STEP).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let (place, region) = self.find_block(&stream.next_point(), bytes, size).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let other = stream::STREAMS.all().into_iter().find(|known| Some(known.id) == place.after);
        if let Some(other) = other {
            stream.submit_wait_for(&other);
        }
        let base = place.range.start;
        let device = match self.location {
            Location::Device(ordinal) => Some(ordinal),
            Location::Host | Location::Managed => None,
        };
        stream.submit(|point| {
            let make = Make {
                base,
                size,
                kind: Kind::Pool,
                device,
                context: stream.context.handle,
                flags: 0,
                pool: Some(self.clone()),
                region: Some(region),
            };
            Command::Allocated(memory::add(make, Milestone::pending(point.clone())))
        });
        Ok(base)
    }

    /// Finds a place and takes it. Memory that nobody uses comes first, new memory next, another stream's last.
    fn find_block(&self, point: &Point, bytes: usize, size: usize) -> Option<(Place, Arc<Region>)> {
        let mut state = self.state.lock();
        let reuse = state.reuse;
        if state.segments.is_none() {
            let (span, skip) = match self.location {
                Location::Device(ordinal) => (device::all()[ordinal].memory as usize * 2, 0),
                Location::Managed => (HOST_SPAN, 0),
                // The real driver's blocks of host memory do not begin where the driver says that their range does.
                Location::Host => (HOST_SPAN, BLOCK_STEP),
            };
            let span = span.next_multiple_of(self.page as usize);
            state.segments = Segments::new(span, self.page, skip);
        }
        let mut place = state.segments.as_ref()?.place(bytes, point, reuse);
        if !place.as_ref().is_some_and(|place| self.grow(&mut state, place)) {
            place = None;
        }
        if place.is_none() && reuse.internal {
            place = state.segments.as_ref()?.place_after(bytes);
            if !place.as_ref().is_some_and(|place| self.grow(&mut state, place)) {
                place = None;
            }
        }
        let place = place?;
        state.used.add(size as u64);
        let segments = state.segments.as_mut()?;
        segments.take(&place.range);
        Some((place, segments.region.clone()))
    }

    /// Puts memory behind a place, if limit and device have it.
    fn grow(&self, state: &mut State, place: &Place) -> bool {
        let bytes = place.missing.len() as u64 * self.page;
        if bytes == 0 {
            return true;
        }
        // The place's own pages are filled first, so that what is given back for it is elsewhere.
        let room = |state: &State| state.reserved.now.saturating_add(bytes) <= self.limit;
        if !room(state) {
            self.shrink_around(state, place, self.limit.saturating_sub(bytes));
        }
        if !room(state) {
            // The driver takes what other pools keep also where that cannot help (`docs/probes/pool_trims.c`).
            if let Location::Device(ordinal) = self.location {
                trim_others(self, ordinal);
            }
            return false;
        }
        if !self.take_of_device(state, place, bytes) {
            return false;
        }
        if let Some(segments) = &mut state.segments {
            segments.fill(&place.missing);
        }
        state.reserved.add(bytes);
        true
    }

    fn take_of_device(&self, state: &mut State, place: &Place, bytes: u64) -> bool {
        let Location::Device(ordinal) = self.location else { return true };
        let device = &device::all()[ordinal];
        if device.reserve(bytes) {
            return true;
        }
        self.shrink_around(state, place, 0);
        trim_others(self, ordinal);
        device.reserve(bytes)
    }

    fn return_to_device(&self, bytes: u64) {
        if let Location::Device(ordinal) = self.location {
            device::all()[ordinal].release(bytes);
        }
    }

    /// Gives unused pages back as long as at least `keep` bytes stay reserved.
    fn shrink(&self, state: &mut State, keep: u64, gone: Gone) {
        let most = state.reserved.now.saturating_sub(keep) / self.page;
        let Some(segments) = &mut state.segments else { return };
        let bytes = segments.give_back(most as usize, gone) as u64 * self.page;
        state.reserved.now -= bytes;
        self.return_to_device(bytes);
    }

    /// Gives what was reached back until no more than `keep` bytes are reserved, but nothing of a place.
    fn shrink_around(&self, state: &mut State, place: &Place, keep: u64) {
        let Some(segments) = &mut state.segments else { return };
        let most = state.reserved.now.saturating_sub(keep).div_ceil(self.page);
        let bytes = segments.give_back_around(&place.range, most as usize) as u64 * self.page;
        state.reserved.now -= bytes;
        self.return_to_device(bytes);
    }

    /// Notes that a block is freed at its allocation's `freed` milestone.
    pub fn release(&self, allocation: &Arc<Allocation>) {
        let mut state = self.state.lock();
        state.used.now -= allocation.size as u64;
        if let Some(segments) = &mut state.segments {
            segments.release(allocation);
        }
    }

    /// The same for a block that was freed as if it came from no pool: the driver's account keeps it.
    pub fn release_uncounted(&self, allocation: &Arc<Allocation>) {
        if let Some(segments) = &mut self.state.lock().segments {
            segments.release(allocation);
        }
    }

    /// Notes that the stream got to a free.
    pub fn settle(&self) {
        let mut state = self.state.lock();
        if state.destroyed || thresholds() == Thresholds::ReturnAll {
            self.shrink(&mut state, 0, Gone::Reached);
        }
    }

    /// Gives back what is unused beyond `keep` bytes.
    pub fn trim_to(&self, keep: u64) {
        let mut state = self.state.lock();
        let gone = Gone::KnownAt(state.synchronised);
        self.shrink(&mut state, keep, gone);
    }

    /// What a synchronisation does: gives back what is unused beyond the release threshold.
    fn on_synchronize(&self) {
        let mut state = self.state.lock();
        state.synchronised = clock::tick();
        let keep = match thresholds() {
            Thresholds::Obeyed => state.threshold,
            Thresholds::KeepAll => return,
            Thresholds::ReturnAll => 0,
        };
        if state.reserved.now > keep && state.reserved.now > state.used.now {
            let gone = Gone::KnownAt(state.synchronised);
            self.shrink(&mut state, keep, gone);
        }
    }

    /// Whether kernels of a device may touch the pool's memory.
    pub fn accessible(&self, device: usize) -> bool {
        match self.location {
            Location::Device(own) if own == device => true,
            Location::Device(_) | Location::Host => {
                self.state.lock().access.get(&device).is_some_and(|&flags| flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
            }
            Location::Managed => true,
        }
    }

    /// Sets a device's access.
    pub fn set_access(&self, device: usize, flags: i32) -> Result {
        let known = [CU_MEM_ACCESS_FLAGS_PROT_NONE, CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE];
        if !known.contains(&flags) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if self.location == Location::Device(device) && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        self.state.lock().access.insert(device, flags);
        Ok(())
    }

    /// A device's access. Managed memory says that there is none until it is set, and is reached all the same.
    pub fn access(&self, device: usize) -> i32 {
        match self.location {
            Location::Device(own) if own == device => CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            _ => self.state.lock().access.get(&device).copied().unwrap_or(CU_MEM_ACCESS_FLAGS_PROT_NONE),
        }
    }

    /// An attribute by its number; the first three are C `int`s, the rest 64 bits wide.
    pub fn attribute(&self, attribute: i32) -> Result<u64> {
        let state = self.state.lock();
        Ok(match attribute {
            1 => state.reuse.follow_events.into(),
            2 => state.reuse.opportunistic.into(),
            3 => state.reuse.internal.into(),
            4 => state.threshold,
            5 => state.reserved.now,
            6 => state.reserved.high,
            7 => state.used.now,
            8 => state.used.high,
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        })
    }

    /// Sets an attribute; the high-water marks can only be reset.
    pub fn set_attribute(&self, attribute: i32, value: u64) -> Result {
        let mut state = self.state.lock();
        match (attribute, value) {
            (1, _) => state.reuse.follow_events = value != 0,
            (2, _) => state.reuse.opportunistic = value != 0,
            (3, _) => state.reuse.internal = value != 0,
            (4, _) => state.threshold = value,
            (6, 0) => state.reserved.high = state.reserved.now,
            (8, 0) => state.used.high = state.used.now,
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        }
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let reserved = self.state.get_mut().reserved.now;
        self.return_to_device(reserved);
    }
}

/// Destroys a pool; blocks still out keep it until they are freed.
pub fn destroy(handle: Handle) -> Result {
    let pool = POOLS.lookup(handle, CUDA_ERROR_INVALID_VALUE)?;
    if pool.default {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    for device in device::all() {
        let mut current = device.current_pool.lock();
        if current.as_ref().is_some_and(|current| current.handle == handle) {
            *current = None;
        }
    }
    POOLS.remove(handle);
    let mut state = pool.state.lock();
    state.destroyed = true;
    let gone = Gone::KnownAt(state.synchronised);
    pool.shrink(&mut state, 0, gone);
    // Nobody can wait for the frees of a lost device, on which nothing runs.
    let is_lost = device::all().iter().any(|device| device.is_lost());
    if state.used.now == 0 && state.reserved.now > 0 && !is_lost {
        reports::add(Misuse::EarlyPoolDestroy, format!("{pool:?} is destroyed before its frees were waited for"));
    }
    pool.shrink(&mut state, 0, Gone::Reached);
    Ok(())
}

/// Frees in stream order what the real driver's `cuMemFreeAsync` takes.
pub fn free_async(address: u64, stream: &Arc<Stream>) -> Result {
    if address == 0 {
        return Ok(());
    }
    let freeable = |found: &Allocation| matches!(found.kind, Kind::Pool | Kind::Device | Kind::Graph);
    let Some(allocation) = memory::starting_at(address, freeable) else {
        crate::alloc::report_bad_free(address);
        // The real driver lets a second free of the same block pass.
        let again = memory::find(address).is_none()
            && memory::history(address).is_some_and(|old| old.base == address && old.kind == Kind::Pool);
        return if again { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) };
    };
    stream.submit(|point| {
        if !allocation.born.is_before(point) {
            let text = format!("{address:#x} is freed on a stream not ordered after its allocation");
            reports::add(Misuse::UnorderedFree, text);
        }
        if !memory::free_in_order(&allocation, Milestone::pending(point.clone())) {
            reports::add(Misuse::DoubleFree, format!("{address:#x} is freed by two threads"));
            return Command::Nothing;
        }
        crate::graph::alloc::note_free(address);
        if let Some(pool) = &allocation.pool {
            pool.release(&allocation);
        }
        Command::Freed(allocation)
    });
    Ok(())
}

/// Gives back all that pools of a device do not use.
pub fn trim_all(ordinal: usize) {
    for pool in POOLS.all().iter().filter(|pool| pool.location == Location::Device(ordinal)) {
        pool.shrink(&mut pool.state.lock(), 0, Gone::Reached);
    }
}

/// The same for all pools but one, whose lock the caller holds. Pools being used this moment are left alone.
fn trim_others(except: &Pool, ordinal: usize) {
    for pool in POOLS.all().iter().filter(|pool| pool.location == Location::Device(ordinal)) {
        if pool.handle != except.handle
            && let Some(mut state) = pool.state.try_lock()
        {
            pool.shrink(&mut state, 0, Gone::Reached);
        }
    }
}

/// Lets all pools give back what is beyond their thresholds, as a synchronisation does.
pub fn on_synchronize() {
    for pool in POOLS.all() {
        pool.on_synchronize();
    }
}
