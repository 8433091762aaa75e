//! Where a context finds stream-ordered memory: its lanes, and the blocks whose lane is gone.
//!
//! Only what is rare comes here: a free on another queue, a query, a trim, a full device. Lanes are locked one after the
//! other, never two at a time and never with the registry's own lock held.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::context::DeviceState;
use crate::driver::Driver;
use crate::error::Result;
use crate::lane::Lane;
use crate::pool::source::Source;
use crate::pool::stock::{AddressMap, Claimed};

/// The lanes of a context.
pub struct Registry<D: Driver> {
    lanes: Mutex<Vec<Weak<Lane<D>>>>,
    orphans: Mutex<AddressMap<Claimed<D>>>,
}

/// The lane that a block was out through; `None` when it is gone.
pub type Owner<D> = Option<Arc<Lane<D>>>;

/// What is known of the block that an address lies in.
pub enum Block<D: Driver> {
    /// It is out.
    Out {
        /// Its start.
        base: usize,
        /// Bytes that were asked for.
        size: usize,
        /// Where it came from.
        source: Arc<Source<D>>,
    },
    /// It was freed and a magazine keeps it.
    Kept,
}

impl<D: Driver> Default for Registry<D> {
    fn default() -> Self {
        Self { lanes: Mutex::new(Vec::new()), orphans: Mutex::new(AddressMap::default()) }
    }
}

impl<D: Driver> Registry<D> {
    /// Notes a new lane.
    pub fn add(&self, lane: &Arc<Lane<D>>) {
        let mut lanes = self.lanes.lock();
        lanes.retain(|known| known.strong_count() > 0);
        lanes.push(Arc::downgrade(lane));
    }

    /// Every lane that lives.
    pub fn lanes(&self) -> Vec<Arc<Lane<D>>> {
        self.lanes.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Takes the blocks of a lane that ends. The caller holds that lane's lock, so that a search finds each block
    /// either there or here.
    pub fn adopt(&self, blocks: Vec<(usize, Claimed<D>)>) {
        if blocks.is_empty() {
            return;
        }
        // Frees by somebody without a purse.
        let mut orphans = self.orphans.lock();
        orphans.extend(blocks);
    }

    /// Takes a block off the books of whatever lane it is out through, with that lane. The lane is `None` when it is
    /// gone.
    pub fn claim(&self, pointer: usize) -> Option<(Claimed<D>, Owner<D>)> {
        for lane in self.lanes() {
            let claimed = lane.lock().stock.claim(pointer);
            if let Some(claimed) = claimed {
                return Some((claimed, Some(lane)));
            }
        }
        let orphan = self.orphans.lock().remove(&pointer)?;
        if let Some(account) = orphan.source.account() {
            account.refund(orphan.size as u64);
        }
        Some((orphan, None))
    }

    /// Puts a claimed block back that could not be freed.
    pub fn unclaim(&self, pointer: usize, claimed: Claimed<D>, lane: Option<&Arc<Lane<D>>>) {
        match lane {
            Some(lane) => {
                let mut state = lane.lock();
                let at = state.stock.open(lane, Arc::clone(&claimed.source));
                state.stock.put_back(at, pointer, claimed.size);
            }
            None => {
                if let Some(account) = claimed.source.account() {
                    let purse = account.open();
                    account.spend(&purse, claimed.size as u64);
                    account.close(&purse);
                }
                self.orphans.lock().insert(pointer, claimed);
            }
        }
    }

    /// What is known of an address.
    pub fn find(&self, address: usize) -> Option<Block<D>> {
        let lanes = self.lanes();
        for lane in &lanes {
            let state = lane.lock();
            if state.stock.is_unused() {
                continue;
            }
            if let Some((base, size, source)) = state.stock.out_around(address) {
                return Some(Block::Out { base, size, source: Arc::clone(source) });
            }
            if state.stock.is_kept(address) {
                return Some(Block::Kept);
            }
        }
        let orphans = self.orphans.lock();
        let found = orphans.iter().find(|(base, one)| (**base..**base + one.size).contains(&address));
        found.map(|(base, one)| Block::Out { base: *base, size: one.size, source: Arc::clone(&one.source) })
    }

    /// Empties the magazines of the sources that `which` names into the native pools. Where a lane had nothing to do,
    /// what it gave back is the pool's when this returns.
    ///
    /// # Errors
    /// What the native library answers; what could not be given back stays kept.
    pub fn flush(&self, which: impl Fn(&Source<D>) -> bool) -> Result<()> {
        let mut result = Ok(());
        for lane in self.lanes() {
            let flushed = lane.flush(&which);
            if result.is_ok() {
                result = flushed;
            }
        }
        result
    }

    /// Empties every magazine of a pool and keeps nothing more of it.
    pub fn close(&self, pool: u64) {
        for lane in self.lanes() {
            lane.close_pool(pool);
        }
    }

    /// Passes every lane's lock once: what was published before is seen by all allocations after.
    pub fn pass_all(&self, state: &DeviceState<D>) {
        for lane in self.lanes().iter().filter(|lane| core::ptr::eq(&raw const *lane.device, state)) {
            drop(lane.lock());
        }
    }
}
