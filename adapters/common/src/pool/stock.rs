//! What a lane has of stream-ordered memory: the blocks that are out through it, and the magazines.
//!
//! Everything here is behind the lane's lock, so the common allocation and free of a queue touch nothing that another
//! queue touches. A block belongs to the lane whose command allocated it; a free on another lane claims it from there
//! first ([`crate::pool::registry`]). Native frees happen on the lane's own stream, in its order.

mod quick;

use std::sync::Arc;

use crate::driver::{Driver, MemoryKind};
use crate::error::Result;
use crate::lane::Lane;
use crate::planted;
use crate::pool::account::PurseRef;
use crate::pool::ledger::{Ledger, Out};
use crate::pool::magazine::{Magazine, block_size};
use crate::pool::source::Source;

/// A lane's dealings with one source. What is read without a magazine comes first.
#[repr(C)]
pub struct Slot<D: Driver> {
    /// The source.
    pub source: Arc<Source<D>>,
    purse: Option<PurseRef>,
    out: usize,
    /// Whether blocks may be kept: not those of another device or of a pool that is gone.
    keeps: bool,
    closed: bool,
    magazine: Magazine,
}

/// A block taken from the books of its lane.
pub struct Claimed<D: Driver> {
    /// Where it came from.
    pub source: Arc<Source<D>>,
    /// Bytes that were asked for.
    pub size: usize,
}

/// What became of a request.
pub enum Served {
    /// A block, written down as handed out.
    Kept(usize),
    /// A block of a zero-initialising pool, not written down yet, with its slot.
    Zeroed(usize, usize),
    /// Nothing is kept of that size in this slot.
    Empty(usize),
    /// The lane has no slot for the pool.
    NoSlot,
}

/// One lane's stock.
#[repr(C)]
pub struct Stock<D: Driver> {
    slots: Vec<Option<Slot<D>>>,
    out: Ledger,
}

impl<D: Driver> Default for Stock<D> {
    fn default() -> Self {
        Self { slots: Vec::new(), out: Ledger::default() }
    }
}

impl<D: Driver> Stock<D> {
    /// Whether the lane never had to do with stream-ordered memory.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.slots.is_empty()
    }

    /// Serves a request of `size` bytes from what is kept. `proven` says that all the lane was given so far comes before
    /// the block's use.
    #[inline]
    pub fn serve(&mut self, pool: u64, kind: MemoryKind, size: usize, proven: bool) -> Served {
        let serves = |slot: &Slot<D>| slot.source.pool == pool && slot.source.kind == kind && slot.keeps;
        let found =
            self.slots.iter_mut().enumerate().find_map(|(at, slot)| Some((at, slot.as_mut().filter(|s| serves(s))?)));
        let Some((at, slot)) = found else { return Served::NoSlot };
        match take_kept(slot, size, proven) {
            None => Served::Empty(at),
            Some(pointer) if slot.source.zeroed => Served::Zeroed(at, pointer),
            Some(pointer) => {
                hand_out(slot, size);
                self.out.insert(pointer, Out { size, slot: at });
                Served::Kept(pointer)
            }
        }
    }

    /// The slot of a source, made now if there is none.
    pub fn open(&mut self, lane: &Lane<D>, source: Arc<Source<D>>) -> usize {
        let known = |slot: &Option<Slot<D>>| slot.as_ref().is_some_and(|slot| Arc::ptr_eq(&slot.source, &source));
        if let Some(at) = self.slots.iter().position(known) {
            return at;
        }
        let purse = source.account().map(super::account::Account::open);
        let closed = source.is_closed();
        let keeps = !closed && Arc::ptr_eq(&source.device, &lane.device.device);
        let slot = Slot { source, magazine: Magazine::default(), purse, out: 0, keeps, closed };
        match self.slots.iter().position(Option::is_none) {
            Some(at) => {
                self.slots[at] = Some(slot);
                at
            }
            None => {
                self.slots.push(Some(slot));
                self.slots.len() - 1
            }
        }
    }

    /// The source behind a slot.
    #[inline]
    pub fn source(&self, at: usize) -> Option<&Arc<Source<D>>> {
        self.slots.get(at)?.as_ref().map(|slot| &slot.source)
    }

    /// Writes a block down as handed out; undoes [`Stock::strike`].
    #[inline]
    pub fn enter(&mut self, at: usize, pointer: usize, size: usize) {
        let Some(Some(slot)) = self.slots.get_mut(at) else { return };
        hand_out(slot, size);
        self.out.insert(pointer, Out { size, slot: at });
    }

    /// Strikes a block of this lane off the books, to be given back through the same slot.
    #[inline]
    pub fn strike(&mut self, pointer: usize) -> Option<(usize, usize)> {
        let out = self.out.remove(pointer)?;
        let slot = self.slots[out.slot].as_mut()?;
        come_back(slot, out.size);
        Some((out.slot, out.size))
    }

    /// Strikes a block off for a free on another lane.
    pub fn claim(&mut self, pointer: usize) -> Option<Claimed<D>> {
        let (at, size) = self.strike(pointer)?;
        let source = Arc::clone(self.source(at)?);
        if planted::is(planted::Bug::StatisticsLeak)
            && let (Some(account), Some(Some(slot))) = (source.account(), self.slots.get(at))
            && let Some(purse) = &slot.purse
        {
            account.spend(purse, size as u64);
        }
        self.sweep(at);
        Some(Claimed { source, size })
    }

    /// Gives a struck block back: into the magazine if it may stay, else below.
    ///
    /// # Errors
    /// What the native library answers; the block is nowhere then.
    #[inline]
    pub fn give_back(
        &mut self,
        lane: &Lane<D>,
        sequence: &mut u64,
        at: usize,
        pointer: usize,
        size: usize,
    ) -> Result<()> {
        let Some(Some(slot)) = self.slots.get_mut(at) else { return Ok(()) };
        let bytes = block_size(size).unwrap_or(size);
        if bytes > slot.source.keeps || !slot.keeps {
            *sequence += 1;
            slot.source.give_back(lane, *sequence, pointer, size)?;
            self.sweep(at);
            return Ok(());
        }
        #[cfg(feature = "planted")]
        if planted::is(planted::Bug::MagazineIgnoresQueue) {
            planted::put(Arc::as_ptr(&slot.source).addr(), bytes, pointer);
            return Ok(());
        }
        if !slot.magazine.has_room(bytes, slot.source.keeps) {
            make_room(slot, lane, sequence, bytes);
        }
        slot.magazine.keep(bytes, pointer);
        Ok(())
    }

    /// Gives kept blocks back to their sources as long as `which` names these.
    ///
    /// # Errors
    /// The first failure; what could not be given back stays kept.
    pub fn flush(&mut self, lane: &Lane<D>, sequence: &mut u64, which: impl Fn(&Source<D>) -> bool) -> Result<()> {
        let mut result = Ok(());
        for slot in self.slots.iter_mut().flatten().filter(|slot| which(&slot.source)) {
            if let Err(error) = empty(slot, lane, sequence, &which)
                && result.is_ok()
            {
                result = Err(error);
            }
        }
        result
    }

    /// Whether [`Stock::flush`] would have something to give back.
    #[must_use]
    #[inline]
    pub fn keeps_any(&self, which: impl Fn(&Source<D>) -> bool) -> bool {
        self.slots.iter().flatten().any(|slot| slot.magazine.bytes() > 0 && which(&slot.source))
    }

    /// Empties a pool's magazines and keeps nothing more of it.
    pub fn close(&mut self, lane: &Lane<D>, sequence: &mut u64, pool: u64) {
        for at in 0..self.slots.len() {
            let Some(slot) = &mut self.slots[at] else { continue };
            if slot.source.pool == pool {
                // What the native library refuses to take back now goes with the native pool.
                while empty(slot, lane, sequence, |_| true).is_err() {
                    slot.magazine.give_up();
                }
                (slot.keeps, slot.closed) = (false, true);
                self.sweep(at);
            }
        }
    }

    /// The block that an address lies in.
    #[must_use]
    pub fn out_around(&self, address: usize) -> Option<(usize, usize, &Arc<Source<D>>)> {
        let (start, out) = self.out.around(address)?;
        Some((start, out.size, self.source(out.slot)?))
    }

    /// Whether an address lies in a block that a magazine keeps.
    #[must_use]
    pub fn is_kept(&self, address: usize) -> bool {
        self.slots.iter().flatten().any(|slot| slot.magazine.find(address).is_some())
    }

    /// The sources over memory of the application's.
    #[must_use]
    pub fn arenas(&self) -> Vec<Arc<Source<D>>> {
        let sources = self.slots.iter().flatten().map(|slot| &slot.source);
        sources.filter(|source| source.arena().is_some()).cloned().collect()
    }

    /// Ends the stock: empties every magazine and hands over the blocks that are out.
    pub fn end(&mut self, lane: &Lane<D>, sequence: &mut u64) -> Vec<(usize, Claimed<D>)> {
        let mut out = Vec::new();
        for (pointer, one) in self.out.iter() {
            let Some(Some(slot)) = self.slots.get(one.slot) else { continue };
            out.push((pointer, Claimed { source: Arc::clone(&slot.source), size: one.size }));
        }
        self.out.clear();
        for mut slot in self.slots.drain(..).flatten() {
            let _ = empty(&mut slot, lane, sequence, |_| true);
            close_books(&slot);
        }
        out
    }

    /// Drops a closed slot that has nothing out any more, and its hold on the source.
    fn sweep(&mut self, at: usize) {
        if let Some(slot) = &self.slots[at]
            && slot.closed
            && slot.out == 0
        {
            close_books(slot);
            self.slots[at] = None;
        }
    }
}

/// What is kept of a size, if it may be used.
#[inline]
fn take_kept<D: Driver>(slot: &mut Slot<D>, size: usize, proven: bool) -> Option<usize> {
    #[cfg(feature = "planted")]
    if planted::is(planted::Bug::MagazineIgnoresQueue) {
        return planted::take(Arc::as_ptr(&slot.source).addr(), block_size(size)?).map(|(pointer, _)| pointer);
    }
    if proven { slot.magazine.take(block_size(size)?) } else { None }
}

#[inline]
fn hand_out<D: Driver>(slot: &mut Slot<D>, size: usize) {
    slot.out += 1;
    if let Some(purse) = &slot.purse
        && let Some(account) = slot.source.account()
    {
        account.spend(purse, size as u64);
    }
}

#[inline]
fn come_back<D: Driver>(slot: &mut Slot<D>, size: usize) {
    slot.out -= 1;
    if let Some(purse) = &slot.purse
        && let Some(account) = slot.source.account()
    {
        account.earn(purse, size as u64);
    }
}

fn close_books<D: Driver>(slot: &Slot<D>) {
    if let (Some(account), Some(purse)) = (slot.source.account(), &slot.purse) {
        account.close(purse);
    }
}

/// Gives the sizes used longest ago back until `bytes` more have room. A block that the library refuses stays.
#[cold]
fn make_room<D: Driver>(slot: &mut Slot<D>, lane: &Lane<D>, sequence: &mut u64, bytes: usize) {
    slot.magazine.forget_empty();
    while !slot.magazine.has_room(bytes, slot.source.keeps) {
        if give_up_oldest(slot, lane, sequence).is_err() {
            return;
        }
    }
}

fn empty<D: Driver>(
    slot: &mut Slot<D>,
    lane: &Lane<D>,
    sequence: &mut u64,
    wanted: impl Fn(&Source<D>) -> bool,
) -> Result<()> {
    #[cfg(feature = "planted")]
    while let Some((pointer, size)) = planted::take(Arc::as_ptr(&slot.source).addr(), 0) {
        *sequence += 1;
        slot.source.give_back(lane, *sequence, pointer, size)?;
    }
    while slot.magazine.bytes() > 0 && wanted(&slot.source) {
        give_up_oldest(slot, lane, sequence)?;
    }
    Ok(())
}

fn give_up_oldest<D: Driver>(slot: &mut Slot<D>, lane: &Lane<D>, sequence: &mut u64) -> Result<()> {
    let Some((oldest, size)) = slot.magazine.oldest() else { return Ok(()) };
    *sequence += 1;
    slot.source.give_back(lane, *sequence, oldest, size)?;
    slot.magazine.give_up();
    Ok(())
}
