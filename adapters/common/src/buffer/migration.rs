//! A buffer at several places: one allocation for each device of the context that used it, perhaps the application's
//! own memory, and which of them are current for which bytes.
//!
//! A command that reads bytes where they are not current copies them there first, on its own stream, after whatever
//! still writes them where they come from. Such copies are nobody's commands, so no event orders them for the
//! application; they are remembered and waited for here by every command at the place they go to. A command that writes
//! where such a copy comes from needs no wait: either the application has it after the reader, or it writes bytes beside
//! the reader's, and those are stale in the copy from then on.
//!
//! The copies go on the command's own stream because only there they come after everything that the application put
//! before the command, work on native addresses included. So a kernel that needs bytes which another queue of its device
//! is bringing waits for that queue.
//!
//! Must never: block (but for the end of the buffer), or take a stream's lock; commands call in with theirs held.

use core::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::ur_result_t;

use crate::buffer::block::Block;
use crate::buffer::pending_uses::{PendingUses, Site};
use crate::buffer::residency::{Locations, MOST_PLACES, ResidencyMap};
use crate::buffer::scratch::ScratchStream;
use crate::context::Context;
use crate::device::Device;
use crate::device::deferred;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::log;

/// What a command does with bytes of a buffer.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which bytes, counted from the start of the whole buffer.
    pub range: Range<usize>,
    /// Whether it needs what they are. A command that overwrites all of them does not.
    pub reads: bool,
    /// Whether it changes them.
    pub writes: bool,
}

struct Place<D: Driver> {
    block: Option<Block<D>>,
    /// Commands that change the bytes here.
    writes: PendingUses<D>,
    /// Copies into this place.
    fills: PendingUses<D>,
    /// Copies out of this place, and other reads from elsewhere.
    borrows: PendingUses<D>,
}

impl<D: Driver> Place<D> {
    fn new(block: Option<Block<D>>) -> Self {
        Self { block, writes: PendingUses::default(), fills: PendingUses::default(), borrows: PendingUses::default() }
    }
}

/// A part of a buffer where it can be read.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Which bytes, counted from the start of the whole buffer.
    pub range: Range<usize>,
    /// Where the first of them is.
    pub address: usize,
    place: usize,
}

impl Piece {
    /// A part of a buffer that is where it always was.
    #[must_use]
    pub fn fixed(range: Range<usize>, address: usize) -> Self {
        Self { range, address, place: 0 }
    }
}

/// Parts of a buffer; more than one only while its parts are current at different places.
pub type Pieces = SmallVec<[Piece; 2]>;

/// Where a buffer is.
pub struct Places<D: Driver> {
    size: usize,
    residency: ResidencyMap,
    /// The context's devices in their order, then the host.
    places: Vec<Place<D>>,
}

impl<D: Driver> Places<D> {
    /// A buffer that is nowhere yet, or in host memory: the application's own, or a copy of it.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for a context of very many devices.
    ///
    /// # Unsupported
    /// - needs: a context of at most 127 devices
    pub fn new(context: &Context<D>, size: usize, host: Option<Block<D>>) -> Result<Self> {
        let devices = context.devices().count();
        if devices >= MOST_PLACES {
            return Err(Error::unsupported("a buffer in a context of more than 127 devices"));
        }
        let locations = if host.is_some() { Locations::only(devices) } else { Locations::NONE };
        let places = (0..devices).map(|_| Place::new(None)).chain([Place::new(host)]).collect();
        Ok(Self { size, residency: ResidencyMap::new(size, locations), places })
    }

    /// Puts the whole buffer into memory that one of the devices has already.
    pub fn settle_at(&mut self, place: usize, block: Block<D>) {
        self.places[place].block = Some(block);
        self.residency.change(0..self.size, |_| Locations::only(place));
    }

    /// The index of the host.
    #[must_use]
    pub fn host(&self) -> usize {
        self.places.len() - 1
    }

    /// The first byte of the application's own memory, if the buffer uses that.
    #[must_use]
    pub fn host_pointer(&self) -> Option<usize> {
        self.places.last().and_then(|host| host.block.as_ref()).filter(|block| !block.is_heap()).map(Block::address)
    }

    /// Makes ready for a command at a place: its memory is there, current where the command reads, and the stream comes
    /// after the copies that nobody else waits for. Gives the address of the buffer's first byte there.
    ///
    /// # Errors
    /// What the native library answers. Copies that were made before the failure are remembered.
    pub fn prepare(&mut self, site: &Site<'_, D>, place: usize, access: &Access) -> Result<usize> {
        self.forget_copy()?;
        let address = self.address(site, place)?;
        self.places[place].fills.wait(site, &access.range)?;
        if access.reads {
            self.fetch(site, place, address, &access.range)?;
        }
        Ok(address)
    }

    /// Notes that a command at a place is on the stream.
    ///
    /// # Errors
    /// What the native library answers when the command can be neither marked nor waited for.
    pub fn commit(&mut self, site: &Site<'_, D>, place: usize, access: &Access) -> Result<()> {
        if !access.writes {
            return Ok(());
        }
        self.residency.change(access.range.clone(), |_| Locations::only(place));
        let marker = site.record_marker()?;
        self.places[place].writes.add(site, &access.range, marker.as_ref());
        Ok(())
    }

    /// Notes that bytes are the same at another place too.
    pub fn also_at(&mut self, place: usize, range: Range<usize>) {
        self.residency.change(range, |locations| locations.with(place));
    }

    /// Where a command may read bytes without moving them. The stream comes after whatever still brings or writes them
    /// there.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn pieces(&mut self, site: &Site<'_, D>, range: &Range<usize>) -> Result<Pieces> {
        let mut pieces = Pieces::new();
        for (part, locations) in self.residency.within(range.clone()) {
            // Bytes that were never written are anything: what the device has will do.
            let place = self.source(site, &part, locations)?.unwrap_or(site.here);
            pieces.push(Piece { range: part, address: 0, place });
        }
        for piece in &mut pieces {
            piece.address = self.address(site, piece.place)? + piece.range.start;
            let source = &mut self.places[piece.place];
            source.fills.wait(site, &piece.range)?;
            if piece.place != site.here {
                source.writes.wait(site, &piece.range)?;
            }
        }
        Ok(pieces)
    }

    /// Which of its holders bytes are taken from: the command's own device, then any other. One that they are only on
    /// their way to waits for the queue which brings them, so it comes last.
    fn source(&self, site: &Site<'_, D>, part: &Range<usize>, locations: Locations) -> Result<Option<usize>> {
        let own = Some(site.here).filter(|here| locations.contains(*here));
        for place in own.into_iter().chain(locations.without(site.here).iter()) {
            if !self.places[place].fills.pend(site, part)? {
                return Ok(Some(place));
            }
        }
        Ok(locations.iter().next())
    }

    /// Notes that a command which reads pieces is on the stream.
    ///
    /// # Errors
    /// As [`Places::commit`].
    pub fn borrowed(&mut self, site: &Site<'_, D>, pieces: &Pieces) -> Result<()> {
        let mut foreign = pieces.iter().filter(|piece| piece.place != site.here).peekable();
        if foreign.peek().is_none() {
            return Ok(());
        }
        let marker = site.record_marker()?;
        for piece in foreign {
            self.places[piece.place].borrows.add(site, &piece.range, marker.as_ref());
        }
        Ok(())
    }

    /// The buffer's memory at a place, made now at the site's device if need be.
    fn address(&mut self, site: &Site<'_, D>, place: usize) -> Result<usize> {
        if let Some(block) = &self.places[place].block {
            return Ok(block.address());
        }
        let block = Block::on_device(site.device, self.size)?;
        Ok(self.places[place].block.insert(block).address())
    }

    /// Copies what is not current at a place from where it is.
    fn fetch(&mut self, site: &Site<'_, D>, place: usize, address: usize, range: &Range<usize>) -> Result<()> {
        let mut missing: SmallVec<[(Range<usize>, usize); 4]> = SmallVec::new();
        for (part, locations) in self.residency.within(range.clone()) {
            if !locations.contains(place)
                && let Some(source) = self.source(site, &part, locations)?
            {
                missing.push((part, source));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let mut done = 0;
        let copied = missing.iter().try_for_each(|(part, source)| {
            self.copy(site, address, part, *source)?;
            done += 1;
            Ok(())
        });
        if done > 0 {
            let marker = site.record_marker()?;
            for (part, source) in &missing[..done] {
                self.residency.change(part.clone(), |locations| locations.with(place));
                self.places[place].fills.add(site, part, marker.as_ref());
                self.places[*source].borrows.add(site, part, marker.as_ref());
            }
        }
        copied
    }

    fn copy(&mut self, site: &Site<'_, D>, to: usize, part: &Range<usize>, source: usize) -> Result<()> {
        let Place { block, writes, fills, .. } = &mut self.places[source];
        let from = block.as_ref().map(Block::address).ok_or(ur_result_t::ERROR_UNKNOWN)?;
        writes.wait(site, part)?;
        fills.wait(site, part)?;
        let _scope = site.device.enter_for_transfer()?;
        // SAFETY: both are the buffer's own memory, as large as the buffer, which holds the part; each lives until its
        // borrows, this copy among them, are over.
        unsafe { site.device.driver.copy_async(to + part.start, from + part.start, part.len(), site.stream) }
    }

    /// Lets a copy of the application's bytes go once all of them are at devices.
    fn forget_copy(&mut self) -> Result<()> {
        let host = self.host();
        let place = &mut self.places[host];
        if place.block.as_ref().is_some_and(Block::is_heap)
            && self.residency.can_lose(host)
            && place.borrows.are_over()?
        {
            self.residency.change(0..self.size, |locations| locations.without(host));
            place.block = None;
        }
        Ok(())
    }

    /// Brings the application's own memory up to date; blocks.
    fn write_back(&mut self) -> Result<()> {
        let host = self.host();
        let Some(address) = self.host_pointer() else { return Ok(()) };
        let newer = self.residency.within(0..self.size).find(|(_, locations)| !locations.contains(host));
        let Some(source) = newer.and_then(|(_, locations)| locations.iter().next()) else { return Ok(()) };
        let state = self.places[source].block.as_ref().and_then(Block::state).cloned();
        let Some(state) = state else { return Ok(()) };
        let size = self.size;
        ScratchStream::new(&state, source)?.run(|site| self.fetch(site, host, address, &(0..size)))
    }

    /// Whether nothing that was put on a stream uses the buffer any more.
    fn is_idle(&mut self) -> bool {
        let over = |uses: &mut PendingUses<D>| uses.are_over().unwrap_or(false);
        self.places
            .iter_mut()
            .all(|place| over(&mut place.writes) && over(&mut place.fills) && over(&mut place.borrows))
    }

    /// Writes back what is to be, and waits for what uses the places.
    fn finish(&mut self) {
        if let Err(error) = self.write_back() {
            log::warning(|| format!("a buffer's bytes could not be written back to its host pointer: {error}"));
        }
        // A native free waits for work of its own device alone.
        for place in &mut self.places {
            place.borrows.finish();
            place.fills.finish();
        }
    }
}

impl<D: Driver> Drop for Places<D> {
    fn drop(&mut self) {
        if self.places.is_empty() {
            return;
        }
        // In a host task, work that comes after the task must not be waited for. Where there is none, the bytes are in the
        // application's memory on return there too.
        if deferred::must_not_wait() && !self.is_idle() {
            let residency = core::mem::replace(&mut self.residency, ResidencyMap::new(self.size, Locations::NONE));
            let moved = Self { size: self.size, residency, places: core::mem::take(&mut self.places) };
            return deferred::wait(move || drop(moved));
        }
        self.finish();
    }
}

/// The index of a device among a context's.
///
/// # Errors
/// `INVALID_DEVICE` for a device of another context.
pub fn place_of<D: Driver>(context: &Context<D>, device: &Arc<Object<Device<D>>>) -> Result<usize> {
    context.devices().position(|known| Arc::ptr_eq(known, device)).ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_DEVICE, "the queue's device is not one of the buffer's context")
    })
}
