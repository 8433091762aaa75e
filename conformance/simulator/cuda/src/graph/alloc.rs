//! Memory that graphs allocate: each allocation node has one block, at one address for all launches.
//!
//! A block is in the map of memory only while it is allocated, so that a node that is not ordered after its allocation, or
//! not before its free, fails like any other bad access. Whether a block is still allocated is known when a graph is
//! launched, before the launch runs: a launch that would allocate what nobody freed is refused. What the nodes of a device
//! have reserved stays reserved until it is trimmed.

use crate::clock::{Milestone, Point};
use crate::command;
use crate::device;
use crate::memory::{self, Allocation, Kind, Make};
use crate::region::{self, Region};
use crate::reports::{self, Kind as Misuse};
use crate::sys::*;
use core::sync::atomic::{AtomicBool, Ordering};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// Bytes that the driver reserves of a usual device at a time.
const PAGE: u64 = 32 << 20;
/// Least bytes it reserves of a small one.
const LEAST_PAGE: u64 = 2 << 20;
/// Granularity of blocks.
const BLOCK_STEP: u64 = 512;

/// Bytes that are reserved of a device at a time.
fn page(ordinal: usize) -> u64 {
    PAGE.min((device::all()[ordinal].memory / 128).next_multiple_of(LEAST_PAGE))
}

/// What one allocation node allocates.
pub struct Block {
    /// Its address.
    pub address: u64,
    /// Bytes asked for.
    pub size: usize,
    /// Its device.
    pub device: usize,
    region: Arc<Region>,
    /// Whether a launch allocated it and nobody freed it since, in the order of the calls.
    allocated: AtomicBool,
    /// Whether its bytes are reserved on the device.
    reserved: AtomicBool,
}

static BLOCKS: RwLock<BTreeMap<u64, Weak<Block>>> = RwLock::new(BTreeMap::new());

/// What the graphs of a device have. Reserved memory counts as used until it is trimmed, as the driver's does.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Bytes of the blocks that have memory behind them.
    blocks: u64,
    reserved: u64,
    used_high: u64,
    reserved_high: u64,
}

static USAGE: Mutex<BTreeMap<usize, Usage>> = Mutex::new(BTreeMap::new());

impl Block {
    /// Finds an address for a node's memory. Only memory of a device can be had.
    pub fn create(props: &CUmemPoolProps, size: usize) -> Result<Arc<Block>> {
        if props.location.kind != CU_MEM_LOCATION_TYPE_DEVICE || props.handle_types != 0 {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        if !matches!(props.alloc_type, CU_MEM_ALLOCATION_TYPE_PINNED | CU_MEM_ALLOCATION_TYPE_MANAGED) || size == 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let device = device::get(props.location.id).map_err(|_| CUDA_ERROR_INVALID_VALUE)?.ordinal;
        if size as u64 > device::all()[device].memory {
            return Err(CUDA_ERROR_OUT_OF_MEMORY);
        }
        let region = Region::new(size).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let address = region.base();
        let (allocated, reserved) = (AtomicBool::new(false), AtomicBool::new(false));
        let block = Arc::new(Block { address, size, device, region, allocated, reserved });
        BLOCKS.write().insert(address, Arc::downgrade(&block));
        Ok(block)
    }

    /// The parameters that it was made with, as far as they matter.
    pub fn params(&self) -> CUDA_MEM_ALLOC_NODE_PARAMS {
        CUDA_MEM_ALLOC_NODE_PARAMS {
            pool_props: CUmemPoolProps {
                alloc_type: CU_MEM_ALLOCATION_TYPE_PINNED,
                handle_types: 0,
                location: CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: self.device as i32 },
                win32_security_attributes: core::ptr::null_mut(),
                max_size: 0,
                usage: 0,
                reserved: [0; 54],
            },
            access_descs: core::ptr::null(),
            access_desc_count: 0,
            byte_size: self.size,
            dptr: self.address,
        }
    }

    fn bytes(&self) -> u64 {
        (self.size as u64).next_multiple_of(BLOCK_STEP)
    }

    /// Whether a launch allocated it and nobody freed it since.
    pub fn is_allocated(&self) -> bool {
        self.allocated.load(Ordering::Acquire)
    }

    /// Says that a launch allocates it, or that somebody frees it.
    pub fn set_allocated(&self, allocated: bool) {
        self.allocated.store(allocated, Ordering::Release);
    }

    /// Puts memory behind it, which stays until it is trimmed.
    pub fn reserve(&self) -> Result {
        if self.reserved.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let mut all = USAGE.lock();
        let usage = all.entry(self.device).or_default();
        let needed = (usage.blocks + self.bytes()).next_multiple_of(page(self.device));
        if needed > usage.reserved {
            if let Err(error) = crate::alloc::reserve(&device::all()[self.device], needed - usage.reserved) {
                self.reserved.store(false, Ordering::Release);
                return Err(error);
            }
            usage.reserved = needed;
            usage.reserved_high = usage.reserved_high.max(needed);
            usage.used_high = usage.used_high.max(needed);
        }
        usage.blocks += self.bytes();
        Ok(())
    }

    /// Enters it into the map of memory, with what a fresh block contains.
    pub fn allocate(&self, born: Milestone) -> Arc<Allocation> {
        // SAFETY: the region is the block's own, and whatever used the block before was ordered before its free.
        unsafe { region::poison(self.address, self.size) };
        let make = Make {
            base: self.address,
            size: self.size,
            kind: Kind::Graph,
            device: Some(self.device),
            context: 0,
            flags: 0,
            pool: None,
            region: Some(self.region.clone()),
        };
        memory::add(make, born)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut blocks = BLOCKS.write();
        if blocks.get(&self.address).is_some_and(|known| known.strong_count() == 0) {
            blocks.remove(&self.address);
        }
        drop(blocks);
        if self.reserved.load(Ordering::Acquire) {
            USAGE.lock().entry(self.device).or_default().blocks -= self.bytes();
        }
    }
}

/// The block that an address lies in.
pub fn block_at(address: u64) -> Option<Arc<Block>> {
    let blocks = BLOCKS.read();
    let block = blocks.range(..=address).next_back()?.1.upgrade()?;
    drop(blocks);
    (address - block.address < block.size as u64).then_some(block)
}

/// The block that begins at an address.
pub fn block(address: u64) -> Option<Arc<Block>> {
    BLOCKS.read().get(&address)?.upgrade()
}

/// Notes that a call frees what begins at an address.
pub fn note_free(address: u64) {
    if let Some(block) = block(address) {
        block.set_allocated(false);
    }
}

/// A free node's turn.
pub fn free(address: u64, point: &Point) {
    let Some(allocation) = memory::starting_at(address, |found| found.kind == Kind::Graph) else {
        reports::add(Misuse::DoubleFree, format!("a graph frees {address:#x}, which is not allocated"));
        return;
    };
    if memory::free_in_order(&allocation, Milestone::pending(point.clone())) {
        command::free(allocation);
    }
}

/// Gives back what a device's graphs reserved and no longer use.
pub fn trim(ordinal: usize) {
    let blocks: Vec<_> = BLOCKS.read().values().filter_map(Weak::upgrade).collect();
    let mut all = USAGE.lock();
    let usage = all.entry(ordinal).or_default();
    for block in blocks.iter().filter(|block| block.device == ordinal && !block.is_allocated()) {
        let gone = memory::starting_at(block.address, |found| found.kind == Kind::Graph).is_none();
        if gone && block.reserved.swap(false, Ordering::AcqRel) {
            usage.blocks -= block.bytes();
        }
    }
    let needed = usage.blocks.next_multiple_of(page(ordinal));
    let bytes = usage.reserved.saturating_sub(needed);
    usage.reserved -= bytes;
    // What is dropped behind this may be the last of a block, which takes the lock.
    drop(all);
    device::all()[ordinal].release(bytes);
}

/// `cuDeviceGetGraphMemAttribute`
pub fn attribute(ordinal: usize, attribute: i32) -> Result<u64> {
    let usage = USAGE.lock().get(&ordinal).copied().unwrap_or_default();
    match attribute {
        0 | 2 => Ok(usage.reserved),
        1 => Ok(usage.used_high),
        3 => Ok(usage.reserved_high),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

/// `cuDeviceSetGraphMemAttribute`: high-water marks can be reset.
pub fn reset(ordinal: usize, attribute: i32) -> Result {
    let mut all = USAGE.lock();
    let usage = all.entry(ordinal).or_default();
    match attribute {
        1 => usage.used_high = usage.reserved,
        3 => usage.reserved_high = usage.reserved,
        _ => return Err(CUDA_ERROR_INVALID_VALUE),
    }
    Ok(())
}
