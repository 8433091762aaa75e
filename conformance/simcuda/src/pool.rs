//! Memory pools: stream-ordered blocks cut from chunks that the pool keeps until it is trimmed.
//!
//! A block may be given out again as soon as the order of the streams allows it, under the pool's reuse policy. The
//! pool's statistics count blocks from the call that allocates to the command that frees. Nothing here submits
//! commands while the pool is locked. `pool/segments.rs` does the cutting.

mod segments;

use crate::clock::{Milestone, Point};
use crate::command::Command;
use crate::device;
use crate::handles::{self, Registry};
use crate::memory::{self, Allocation, Kind, Make};
use crate::reports::{self, Kind as Misuse};
use crate::stream::{self, Stream};
use crate::sys::*;
use core::fmt;
use parking_lot::Mutex;
use segments::{Chunks, Reuse};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All pools that have a handle, default pools included.
pub static POOLS: Registry<Pool> = Registry::new(handles::Kind::Pool);

/// Bytes a pool takes of its device at a time, unless a block needs more.
const CHUNK: u64 = 32 << 20;
/// Granularity of chunks.
const CHUNK_STEP: u64 = 2 << 20;
/// Granularity of blocks.
const BLOCK_STEP: usize = 512;

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
    state: Mutex<State>,
}

// SAFETY: the only non-Send part is the properties' security attributes pointer, kept to be compared with null alone.
unsafe impl Send for Pool {}
// SAFETY: as above; everything that changes is behind the lock.
unsafe impl Sync for Pool {}

struct State {
    chunks: Chunks,
    reserved: Level,
    used: Level,
    threshold: u64,
    reuse: Reuse,
    access: BTreeMap<usize, i32>,
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

/// How a block was found.
enum Found {
    Block(u64, Arc<crate::region::Region>),
    /// Only behind another stream's free that has not happened yet.
    After(u64, Arc<crate::region::Region>, u64),
    None,
}

impl Pool {
    /// A pool by `cuMemPoolCreate`'s rules.
    pub fn create(props: CUmemPoolProps) -> Result<Handle> {
        let location = match (props.alloc_type, props.location.kind) {
            (CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE) => {
                Location::Device(device::get(props.location.id)?.ordinal)
            }
            (
                CU_MEM_ALLOCATION_TYPE_PINNED,
                CU_MEM_LOCATION_TYPE_HOST | CU_MEM_LOCATION_TYPE_HOST_NUMA | CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
            ) => Location::Host,
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
            size => size.checked_next_multiple_of(CHUNK_STEP).unwrap_or(u64::MAX),
        };
        let state = State {
            chunks: Chunks::default(),
            reserved: Level::default(),
            used: Level::default(),
            threshold: 0,
            reuse: Reuse { follow_events: true, opportunistic: true, internal: true },
            access: BTreeMap::new(),
            destroyed: false,
        };
        POOLS.insert_with(|handle| Pool { handle, location, props, default, limit, state: Mutex::new(state) }).1
    }

    /// Allocates in stream order. Zero bytes are no block: the null pointer.
    pub fn allocate(self: &Arc<Self>, stream: &Arc<Stream>, size: usize) -> Result<u64> {
        if size == 0 {
            return Ok(0);
        }
        let bytes = size.checked_next_multiple_of(BLOCK_STEP).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let (base, region) = match self.find_block(&stream.next_point(), bytes) {
            Found::Block(base, region) => (base, region),
            Found::After(base, region, other) => {
                if let Some(other) = stream::STREAMS.all().into_iter().find(|known| known.id == other) {
                    stream.submit_wait_for(&other);
                }
                (base, region)
            }
            Found::None => return Err(CUDA_ERROR_OUT_OF_MEMORY),
        };
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

    fn find_block(&self, point: &Point, bytes: usize) -> Found {
        let mut state = self.state.lock();
        let reuse = state.reuse;
        let mut found = state.chunks.take(bytes, point, reuse);
        if found.is_none() && self.grow(&mut state, bytes as u64) {
            found = state.chunks.take(bytes, point, reuse);
        }
        let mut after = None;
        if found.is_none() && reuse.internal {
            (found, after) = state.chunks.take_after(bytes);
        }
        let Some(segments::Taken { base, region, replaced }) = found else { return Found::None };
        state.used.now -= replaced;
        state.used.add(bytes as u64);
        match after {
            Some(stream) => Found::After(base, region, stream),
            None => Found::Block(base, region),
        }
    }

    fn grow(&self, state: &mut State, bytes: u64) -> bool {
        let least = bytes.next_multiple_of(CHUNK_STEP);
        let machine = match self.location {
            Location::Device(ordinal) => device::all()[ordinal].memory,
            Location::Host | Location::Managed => u64::MAX,
        };
        let usual = CHUNK.min((machine / 128).next_multiple_of(CHUNK_STEP));
        for size in [usual.max(least), least] {
            if state.reserved.now.saturating_add(size) > self.limit {
                self.shrink(state, self.limit.saturating_sub(size));
            }
            if state.reserved.now.saturating_add(size) > self.limit || !self.take_of_device(state, size) {
                continue;
            }
            if state.chunks.add(size as usize) {
                state.reserved.add(size);
                return true;
            }
            self.return_to_device(size);
        }
        false
    }

    fn take_of_device(&self, state: &mut State, size: u64) -> bool {
        let Location::Device(ordinal) = self.location else { return true };
        let device = &device::all()[ordinal];
        if device.reserve(size) {
            return true;
        }
        self.shrink(state, 0);
        trim_others(self, ordinal);
        device.reserve(size)
    }

    fn return_to_device(&self, bytes: u64) {
        if let Location::Device(ordinal) = self.location {
            device::all()[ordinal].release(bytes);
        }
    }

    /// Gives unused chunks back until no more than `keep` bytes are reserved, or none is unused.
    fn shrink(&self, state: &mut State, keep: u64) {
        while state.reserved.now > keep {
            let Some(region) = state.chunks.remove_unused() else { break };
            state.reserved.now -= region.size as u64;
            self.return_to_device(region.size as u64);
            memory::retire_region(region);
        }
    }

    /// Notes that a block is freed at its allocation's `freed` milestone.
    pub fn release(&self, allocation: &Arc<Allocation>) {
        self.state.lock().chunks.release(allocation);
    }

    /// Notes that the stream got to the free.
    pub fn settle(&self, allocation: &Allocation) {
        let mut state = self.state.lock();
        let bytes = state.chunks.settle(allocation);
        state.used.now -= bytes;
        if state.destroyed {
            self.shrink(&mut state, 0);
        }
    }

    /// Gives back what is unused beyond `keep` bytes.
    pub fn trim_to(&self, keep: u64) {
        self.shrink(&mut self.state.lock(), keep);
    }

    /// What a synchronisation does: gives back what is unused beyond the release threshold.
    fn on_synchronize(&self) {
        let mut state = self.state.lock();
        let keep = state.threshold;
        if state.reserved.now > keep && state.reserved.now > state.used.now {
            self.shrink(&mut state, keep);
        }
    }

    /// Whether kernels of a device may touch the pool's memory.
    pub fn accessible(&self, device: usize) -> bool {
        match self.location {
            Location::Device(own) if own == device => true,
            Location::Device(_) => self.state.lock().access.get(&device).is_some_and(|&flags| flags != 0),
            Location::Host | Location::Managed => true,
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

    /// A device's access.
    pub fn access(&self, device: usize) -> i32 {
        match self.location {
            Location::Device(own) if own == device => CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            Location::Device(_) => self.state.lock().access.get(&device).copied().unwrap_or(0),
            Location::Host | Location::Managed => CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
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
    pool.shrink(&mut state, 0);
    Ok(())
}

/// Frees in stream order what the real driver's `cuMemFreeAsync` takes.
pub fn free_async(address: u64, stream: &Arc<Stream>) -> Result {
    if address == 0 {
        return Ok(());
    }
    let freeable = |found: &Allocation| matches!(found.kind, Kind::Pool | Kind::Device);
    let Some(allocation) = memory::starting_at(address, freeable) else {
        crate::alloc::report_bad_free(address);
        // The real driver lets a second free of the same block pass.
        let again = memory::find(address).is_none() && memory::history(address).is_some_and(|old| old.base == address);
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
        pool.trim_to(0);
    }
}

/// The same for all pools but one, whose lock the caller holds. Pools being used this moment are left alone.
fn trim_others(except: &Pool, ordinal: usize) {
    for pool in POOLS.all().iter().filter(|pool| pool.location == Location::Device(ordinal)) {
        if pool.handle != except.handle
            && let Some(mut state) = pool.state.try_lock()
        {
            pool.shrink(&mut state, 0);
        }
    }
}

/// Lets all pools give back what is beyond their thresholds, as a synchronisation does.
pub fn on_synchronize() {
    for pool in POOLS.all() {
        pool.on_synchronize();
    }
}
