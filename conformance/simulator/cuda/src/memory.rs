//! The map of all memory that the driver has handed out, and what may touch it.
//!
//! Every copy, fill and kernel access is checked here against the allocation it falls into and against the order
//! of the streams. Memory is host memory; an address that is not in this map is none of the device's business and
//! must never be touched for it. Lock order: `live`, then `freed`; neither is held while another module is called.

use crate::clock::{Milestone, Point, Uses};
use crate::pool::Pool;
use crate::region::Region;
use crate::reports::{self, Kind as Misuse};
use crate::stream;
use core::sync::atomic::{AtomicU64, Ordering};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What sort of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `cuMemAlloc`, on one device.
    Device,
    /// `cuArray3DCreate`, on one device; clients never have its address.
    Array,
    /// `cuMemHostAlloc`: the driver's page-locked host memory.
    Host,
    /// `cuMemHostRegister`: the client's memory, page-locked.
    Registered,
    /// `cuMemAllocManaged`.
    Managed,
    /// From a pool, stream-ordered.
    Pool,
    /// From an allocation node of a graph.
    Graph,
    /// A module's variables.
    Module,
    /// Physical memory mapped into a reserved range.
    Mapped,
    /// Device memory of another process, opened here.
    Opened,
    /// Imported memory of another API, mapped here.
    External,
}

impl Kind {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Device => "device memory",
            Kind::Array => "an array's memory",
            Kind::Host => "host memory",
            Kind::Registered => "registered host memory",
            Kind::Managed => "managed memory",
            Kind::Pool => "pool memory",
            Kind::Graph => "graph memory",
            Kind::Module => "module memory",
            Kind::Mapped => "mapped memory",
            Kind::Opened => "memory of another process",
            Kind::External => "memory of another API",
        }
    }
}

/// One allocation.
#[derive(Debug)]
pub struct Allocation {
    /// A number that is never given twice.
    pub id: u64,
    /// First address.
    pub base: u64,
    /// Bytes asked for.
    pub size: usize,
    /// What sort it is.
    pub kind: Kind,
    /// Device it lies on; `None` is the host.
    pub device: Option<usize>,
    /// Handle of the context it was made in; 0 for none.
    pub context: u64,
    /// Flags it was made with.
    pub flags: u32,
    /// The pool it came from.
    pub pool: Option<Arc<Pool>>,
    /// The mapping that carries it; `None` where the client or the address map owns the memory.
    pub region: Option<Arc<Region>>,
    /// When it becomes usable.
    pub born: Milestone,
    /// When it stops being usable, once somebody freed it.
    pub freed: OnceLock<Milestone>,
    /// Who used it, of memory that is freed in stream order.
    pub uses: Mutex<Uses>,
}

impl Allocation {
    /// Whether `[address, address + len)` lies inside.
    pub fn holds(&self, address: u64, len: usize) -> bool {
        address >= self.base
            && (address - self.base) as usize <= self.size
            && self.size - (address - self.base) as usize >= len
    }

    /// Its addresses.
    pub fn range(&self) -> Range<u64> {
        self.base..self.base + self.size as u64
    }

    fn describe(&self) -> String {
        format!("{} {:#x} of {} bytes", self.kind.name(), self.base, self.size)
    }
}

/// Why memory may not be touched.
#[derive(Debug)]
pub struct Denied {
    /// The kind of misuse.
    pub kind: Misuse,
    /// In words.
    pub message: String,
}

struct Retired {
    tick: u64,
    /// Held for its `Drop`: unmaps what in-flight work may still have used.
    _region: Option<Arc<Region>>,
    allocation: Option<Arc<Allocation>>,
    bytes: usize,
}

#[derive(Default)]
struct Freed {
    /// Freed in stream order; the streams have not got there yet.
    pending: Vec<Arc<Allocation>>,
    /// Freed for good, oldest first.
    retired: VecDeque<Retired>,
    retired_bytes: usize,
}

/// How much freed memory is kept aside so that late uses are recognised.
const QUARANTINE_BYTES: usize = 64 << 20;
const QUARANTINE_ENTRIES: usize = 1024;

static LIVE: RwLock<BTreeMap<u64, Arc<Allocation>>> = RwLock::new(BTreeMap::new());
static FREED: Mutex<Freed> = Mutex::new(Freed { pending: Vec::new(), retired: VecDeque::new(), retired_bytes: 0 });
static IDS: AtomicU64 = AtomicU64::new(1);

/// What an allocation is made of.
pub struct Make {
    /// See [`Allocation`].
    pub base: u64,
    /// See [`Allocation`].
    pub size: usize,
    /// See [`Allocation`].
    pub kind: Kind,
    /// See [`Allocation`].
    pub device: Option<usize>,
    /// See [`Allocation`].
    pub context: u64,
    /// See [`Allocation`].
    pub flags: u32,
    /// See [`Allocation`].
    pub pool: Option<Arc<Pool>>,
    /// See [`Allocation`].
    pub region: Option<Arc<Region>>,
}

/// Enters an allocation into the map.
pub fn add(make: Make, born: Milestone) -> Arc<Allocation> {
    let Make { base, size, kind, device, context, flags, pool, region } = make;
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    let allocation = Arc::new(Allocation {
        id,
        base,
        size,
        kind,
        device,
        context,
        flags,
        pool,
        region,
        born,
        freed: OnceLock::new(),
        uses: Mutex::default(),
    });
    LIVE.write().insert(base, allocation.clone());
    allocation
}

/// The allocation that an address lies in (one past the end does not).
pub fn find(address: u64) -> Option<Arc<Allocation>> {
    let live = LIVE.read();
    let (_, allocation) = live.range(..=address).next_back()?;
    (address == allocation.base || allocation.holds(address, 1)).then(|| allocation.clone())
}

/// Whether any part of `[address, address + len)` is in the map.
pub fn overlaps(address: u64, len: usize) -> bool {
    let end = address.saturating_add(len as u64);
    LIVE.read().range(..end).next_back().is_some_and(|(_, allocation)| allocation.range().end > address)
}

/// The live allocation that begins at `base`, if `wanted` agrees.
pub fn starting_at(base: u64, wanted: impl FnOnce(&Allocation) -> bool) -> Option<Arc<Allocation>> {
    LIVE.read().get(&base).filter(|found| found.freed.get().is_none() && wanted(found)).cloned()
}

/// Takes the allocation that begins at `base` out of the map if `wanted` agrees, without any memory of it.
pub fn take(base: u64, wanted: impl FnOnce(&Allocation) -> bool) -> Option<Arc<Allocation>> {
    let mut live = LIVE.write();
    if !wanted(live.get(&base)?) {
        return None;
    }
    live.remove(&base)
}

/// Ends an allocation in stream order. False if somebody else has done so. Work that is in flight finds the
/// allocation all the while: it is entered among the freed ones before it leaves the live ones.
pub fn free_in_order(allocation: &Arc<Allocation>, at: Milestone) -> bool {
    if allocation.freed.set(at).is_err() {
        return false;
    }
    if let Some(free) = allocation.freed.get()
        && !allocation.uses.lock().are_before(&free.point)
    {
        report_unordered_free(allocation);
    }
    FREED.lock().pending.push(allocation.clone());
    remove_live(allocation);
    true
}

/// Ends an allocation at once, by the host. False if somebody else has done so.
pub fn free_at_once(allocation: &Arc<Allocation>) -> bool {
    if allocation.freed.set(Milestone::immediate()).is_err() {
        return false;
    }
    retire(allocation.clone());
    remove_live(allocation);
    true
}

fn remove_live(allocation: &Allocation) {
    let mut live = LIVE.write();
    if live.get(&allocation.base).is_some_and(|found| found.id == allocation.id) {
        live.remove(&allocation.base);
    }
}

/// Retires an allocation for good: the stream got to its free, or the host freed it at once.
pub fn retire(allocation: Arc<Allocation>) {
    let mut freed = FREED.lock();
    freed.pending.retain(|pending| pending.id != allocation.id);
    let bytes = if allocation.pool.is_some() { 0 } else { allocation.size };
    let tick = crate::clock::tick();
    let retired = Retired { tick, _region: allocation.region.clone(), allocation: Some(allocation), bytes };
    quarantine(&mut freed, retired);
}

/// Keeps a region mapped until the work now in flight is done.
pub fn retire_region(region: Arc<Region>) {
    let bytes = region.size;
    let retired = Retired { tick: crate::clock::tick(), _region: Some(region), allocation: None, bytes };
    quarantine(&mut FREED.lock(), retired);
}

/// Forgets what was freed in a range that gets another meaning.
pub fn forget(range: &Range<u64>) {
    FREED
        .lock()
        .retired
        .retain_mut(|entry| entry.allocation.as_ref().is_none_or(|allocation| !range.contains(&allocation.base)));
}

fn quarantine(freed: &mut Freed, entry: Retired) {
    freed.retired_bytes += entry.bytes;
    freed.retired.push_back(entry);
    if freed.retired_bytes <= QUARANTINE_BYTES && freed.retired.len() <= QUARANTINE_ENTRIES {
        return;
    }
    let oldest = stream::oldest_in_flight();
    while freed.retired_bytes > QUARANTINE_BYTES / 2 || freed.retired.len() > QUARANTINE_ENTRIES / 2 {
        match freed.retired.front() {
            Some(first) if first.tick < oldest => freed.retired_bytes -= first.bytes,
            _ => break,
        }
        freed.retired.pop_front();
    }
}

/// Why a pointer that is not in the map is not there, for reports.
pub fn history(address: u64) -> Option<Arc<Allocation>> {
    let freed = FREED.lock();
    let retired = freed.retired.iter().rev().filter_map(|entry| entry.allocation.as_ref());
    freed.pending.iter().rev().chain(retired).find(|old| old.holds(address, 1) || old.base == address).cloned()
}

/// Checks that work at `point`, running on `device`, may touch `[address, address + len)`. `None` is work of the
/// copy engines, which reach every device. Answers the allocation.
pub fn check(
    address: u64,
    len: usize,
    point: &Point,
    device: Option<&stream::Reach>,
) -> Result<Arc<Allocation>, Denied> {
    if let Some(allocation) = find(address) {
        let end = allocation.range().end;
        if allocation.kind == Kind::Mapped && !allocation.holds(address, len) && find(end).is_some() {
            // Mappings that follow each other are one piece of memory to who may touch both.
            let here = (end - address) as usize;
            check(address, here, point, device)?;
            return check(end, len - here, point, device);
        }
        if !allocation.holds(address, len) {
            // A smaller block may begin where one did that work submitted before the free still uses.
            if let Some(older) = still_usable(address, len, point) {
                return reachable(older, device);
            }
            let over = address + len as u64 - allocation.range().end;
            return Err(Denied {
                kind: Misuse::InvalidPointer,
                message: format!("out of bounds: {over} bytes past the end of {}", allocation.describe()),
            });
        }
        // One that is being freed this moment is still usable by work submitted before.
        let free_tick = allocation.freed.get().map_or(u64::MAX, |freed| freed.point.tick);
        if allocation.born.is_before(point) && free_tick > point.tick {
            note_use(&allocation, point);
            return reachable(allocation, device);
        }
        if let Some(older) = still_usable(address, len, point) {
            return reachable(older, device);
        }
        reports::add(
            Misuse::UseBeforeAlloc,
            format!("{address:#x}: not ordered after the allocation of {}", allocation.describe()),
        );
        return reachable(allocation, device);
    }
    if let Some(older) = still_usable(address, len, point) {
        return reachable(older, device);
    }
    Err(match history(address) {
        Some(old) => Denied {
            kind: Misuse::UseAfterFree,
            message: format!("use after {}free: {address:#x} in {}", stream_ordered(&old), old.describe()),
        },
        None => Denied {
            kind: Misuse::InvalidPointer,
            message: format!("{address:#x} is in no allocation{}", near(address)),
        },
    })
}

/// Remembers a use of a pool's memory for its free, which must be ordered after it. Whichever of the two comes second
/// sees the other: the free is set before it looks at the uses, the use is added before the free is looked for.
fn note_use(allocation: &Allocation, point: &Point) {
    if !matches!(allocation.kind, Kind::Pool | Kind::Graph) {
        return;
    }
    allocation.uses.lock().add(point);
    if let Some(free) = allocation.freed.get()
        && !free.point.knows(point.stream, point.seq)
    {
        report_unordered_free(allocation);
    }
}

fn report_unordered_free(allocation: &Allocation) {
    let text = format!("{} is freed on a stream not ordered after a use of it", allocation.describe());
    reports::add(Misuse::UnorderedFree, text);
}

fn stream_ordered(old: &Allocation) -> &'static str {
    if old.freed.get().is_some_and(|freed| freed.point.stream != 0) { "stream-ordered " } else { "" }
}

fn near(address: u64) -> String {
    match LIVE.read().range(..address).next_back() {
        Some((_, below)) if address - below.range().end < 1 << 20 => {
            format!("; {} bytes past the end of {}", address - below.range().end, below.describe())
        }
        _ => String::new(),
    }
}

/// A freed allocation that work at `point` was still entitled to, because its free is submitted later.
fn still_usable(address: u64, len: usize, point: &Point) -> Option<Arc<Allocation>> {
    let freed = FREED.lock();
    let retired = freed.retired.iter().rev().filter_map(|entry| entry.allocation.as_ref());
    let old = freed.pending.iter().rev().chain(retired).find(|old| {
        old.holds(address, len)
            && old.born.is_before(point)
            && old.freed.get().is_some_and(|milestone| milestone.point.tick > point.tick)
    })?;
    let old = old.clone();
    drop(freed);
    let free = &old.freed.get()?.point;
    // A free by the host waits for work in flight; one on a stream must be ordered after the work itself.
    if free.stream != 0 && !free.knows(point.stream, point.seq) {
        reports::add(
            Misuse::UnorderedFree,
            format!("{address:#x}: {} is freed on a stream not ordered after this use", old.describe()),
        );
    }
    Some(old)
}

fn reachable(allocation: Arc<Allocation>, device: Option<&stream::Reach>) -> Result<Arc<Allocation>, Denied> {
    match device {
        None if allocation.kind == Kind::Mapped && !crate::vmm::accessible_by_any(allocation.base) => Err(Denied {
            kind: Misuse::PeerAccess,
            message: format!("nobody was given access to {}", allocation.describe()),
        }),
        Some(reach) if !reach.includes(&allocation) => Err(Denied {
            kind: Misuse::PeerAccess,
            message: format!("device {} has no access to {}", reach.device, allocation.describe()),
        }),
        _ => Ok(allocation),
    }
}

/// All live allocations.
pub fn all() -> Vec<Arc<Allocation>> {
    LIVE.read().values().cloned().collect()
}

/// Number of live allocations for which `count` is true.
pub fn count(count: impl Fn(&Allocation) -> bool) -> usize {
    LIVE.read().values().filter(|allocation| count(allocation)).count()
}
