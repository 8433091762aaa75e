//! A buffer that moves: one allocation for each device of the context that used it, perhaps the application's own memory,
//! and which of them are current for which bytes. A location is a device, by its index in the context, or the host.
//!
//! A command that reads bytes where they are not current copies them there first, on its own stream, after whatever
//! still writes them where they come from. Such copies are nobody's commands, so no event orders them for the
//! application; they are remembered and waited for here by every command at the location they go to. A command that writes
//! where such a copy comes from needs no wait: either the application has it after the reader, or it writes bytes beside
//! the reader's, and those are stale in the copy from then on.
//!
//! The copies go on the command's own stream because only there they come after everything that the application put
//! before the command, work on native addresses included. So a kernel that needs bytes which another queue of its device
//! is bringing waits for that queue.
//!
//! A command locks the bytes that it uses ([`crate::buffer::range_lock`]) until it is on its stream. Must never hold the lock
//! of the bookkeeping over a native call that can block, nor take a stream's lock: commands call in with theirs held.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};
use smallvec::SmallVec;
use ur_ffi::ur_result_t;

use crate::buffer::block::Block;
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::pending_uses::{CommandStream, PendingEvents, PendingUses};
use crate::buffer::range_lock::{LockedRanges, Purpose, RangeLocks};
use crate::buffer::residency::{Locations, MAX_LOCATIONS, ResidencyMap};
use crate::buffer::scratch::ScratchStream;
use crate::context::{Context, DeviceState};
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

impl Access {
    /// What it does with the bytes while the command is put on its stream. One that only reads them may bring them to where
    /// another one is bringing them: the bytes are the same, and who changes them comes after both.
    fn purpose(&self) -> Purpose {
        if self.writes { Purpose::Write } else { Purpose::Read }
    }
}

/// A part of a buffer where it can be read.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Which bytes, counted from the start of the whole buffer.
    pub range: Range<usize>,
    /// Where the first of them is.
    pub address: usize,
    location: usize,
}

/// Parts of a buffer; more than one only while its parts are current at different locations.
pub type Pieces = SmallVec<[Piece; 2]>;

/// What is in flight at one location.
struct InFlight<D: Driver> {
    /// Commands that change the bytes there.
    writes: PendingUses<D>,
    /// Copies to there.
    fills: PendingUses<D>,
    /// Copies from there, and other reads from elsewhere.
    borrows: PendingUses<D>,
}

impl<D: Driver> Default for InFlight<D> {
    fn default() -> Self {
        Self { writes: PendingUses::default(), fills: PendingUses::default(), borrows: PendingUses::default() }
    }
}

/// A device's memory for a buffer, made at its first use.
struct DeviceBlock<D: Driver> {
    block: OnceLock<Block<D>>,
    /// Held while the memory is made, by nobody who does not need it.
    making: Mutex<()>,
}

impl<D: Driver> Default for DeviceBlock<D> {
    fn default() -> Self {
        Self { block: OnceLock::new(), making: Mutex::new(()) }
    }
}

/// Where the bytes are and what is in flight.
struct State<D: Driver> {
    residency: ResidencyMap,
    /// The context's devices in their order, then the host.
    in_flight: Vec<InFlight<D>>,
    /// The application's memory, or a copy of what it was when the buffer was made.
    host: Option<Block<D>>,
    locks: RangeLocks,
}

/// A buffer's memory at several locations.
pub struct MovingMemory<D: Driver> {
    size: usize,
    host_pointer: Option<usize>,
    devices: Vec<DeviceBlock<D>>,
    /// Leaf but for event pools; locked for bookkeeping and questions about events alone.
    state: Mutex<State<D>>,
    /// Told whenever bytes are unlocked.
    unlocked: Condvar,
}

/// A copy that brings bytes to a location.
struct Fetch {
    part: Range<usize>,
    /// The location that it takes them from.
    from: usize,
    /// Where that location's memory begins.
    address: usize,
}

impl<D: Driver> State<D> {
    /// The index of the host.
    fn host(&self) -> usize {
        self.in_flight.len() - 1
    }

    /// Chooses the location that bytes are read at: the command's own device, then any other. A location that they are only
    /// on their way to comes last, because the command would wait for the queue which brings them; one that a lost device was to
    /// bring them to is none.
    ///
    /// # Errors
    /// That a device is lost, where the bytes are nowhere else; what else the native library answers.
    fn location_to_read(
        &self,
        stream: &CommandStream<'_, D>,
        part: &Range<usize>,
        locations: Locations,
    ) -> Result<Option<usize>> {
        let own = Some(stream.location).filter(|own| locations.contains(*own));
        let (mut pending, mut lost) = (None, None);
        for location in own.into_iter().chain(locations.without(stream.location).iter()) {
            match self.in_flight[location].fills.are_pending(stream, part) {
                Ok(false) => return Ok(Some(location)),
                Ok(true) => pending = pending.or(Some(location)),
                Err(error) if error.is_lost_device() => lost = Some(error),
                Err(error) => return Err(error),
            }
        }
        match (pending, lost) {
            (None, Some(error)) => Err(error),
            _ => Ok(pending),
        }
    }

    /// Takes out a copy of the application's bytes once all of them are at devices, and nobody uses it.
    fn take_copy(&mut self) -> Result<Option<Block<D>>> {
        let host = self.host();
        let is_copy = self.host.as_ref().is_some_and(Block::is_heap);
        if !is_copy || !self.residency.can_lose(host) || !self.locks.is_only() {
            return Ok(None);
        }
        // Whom a lost device was to bring the bytes has not got them.
        if !self.in_flight[host].borrows.are_reached()? {
            return Ok(None);
        }
        self.residency.change(0..self.residency.size(), |locations| locations.without(host));
        Ok(self.host.take())
    }

    /// Bytes that a lost device was to bring to a location are not there, if they are anywhere else.
    fn forget_lost_fills(&mut self, location: usize) {
        for range in self.in_flight[location].fills.lost() {
            self.residency
                .change(range, |at| if at.without(location) == Locations::NONE { at } else { at.without(location) });
        }
    }

    /// Whether nothing that was put on a stream uses the buffer any more.
    fn is_idle(&mut self) -> bool {
        let over = |uses: &mut PendingUses<D>| uses.are_over().unwrap_or(false);
        self.in_flight.iter_mut().all(|at| over(&mut at.writes) && over(&mut at.fills) && over(&mut at.borrows))
    }
}

impl<D: Driver> MovingMemory<D> {
    /// A buffer that is nowhere yet, or in host memory: the application's own, or a copy of it.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for a context of very many devices.
    pub fn new(context: &Context<D>, size: usize, host: Option<Block<D>>) -> Result<Self> {
        let devices = context.devices().count();
        if devices >= MAX_LOCATIONS {
            return Err(Error::unsupported("a buffer in a context of more than 127 devices"));
        }
        let locations = if host.is_some() { Locations::only(devices) } else { Locations::NONE };
        let host_pointer = host.as_ref().filter(|block| !block.is_heap()).map(Block::address);
        let in_flight = (0..=devices).map(|_| InFlight::default()).collect();
        let residency = ResidencyMap::new(size, locations);
        Ok(Self {
            size,
            host_pointer,
            devices: (0..devices).map(|_| DeviceBlock::default()).collect(),
            state: Mutex::new(State { residency, in_flight, host, locks: RangeLocks::default() }),
            unlocked: Condvar::new(),
        })
    }

    /// Puts the whole of a new buffer into memory that one of the devices has already.
    #[must_use]
    pub fn at_device(mut self, location: usize, block: Block<D>) -> Self {
        self.devices[location].block = OnceLock::from(block);
        self.state.get_mut().residency.change(0..self.size, |_| Locations::only(location));
        self
    }

    /// The index of the host.
    #[must_use]
    pub fn host(&self) -> usize {
        self.devices.len()
    }

    /// The first byte of the application's own memory, if the buffer uses that.
    #[must_use]
    pub fn host_pointer(&self) -> Option<usize> {
        self.host_pointer
    }

    /// Makes a device's memory, if there is none yet; gives its address.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn make(&self, device: &Arc<DeviceState<D>>, location: usize) -> Result<usize> {
        let DeviceBlock { block, making } = &self.devices[location];
        if let Some(block) = block.get() {
            return Ok(block.address());
        }
        let _making = making.lock();
        if block.get().is_none() {
            // Nobody else sets it while `making` is held.
            let _ = block.set(Block::on_device(device, self.size)?);
        }
        block.get().map(Block::address).ok_or_else(|| ur_result_t::ERROR_UNKNOWN.into())
    }

    /// The address of the memory at a location. A device's that is not there yet is made, at the stream's device.
    fn address(&self, stream: &CommandStream<'_, D>, location: usize) -> Result<usize> {
        if location == self.host() {
            let state = self.state.lock();
            return state.host.as_ref().map(Block::address).ok_or_else(|| ur_result_t::ERROR_UNKNOWN.into());
        }
        self.make(stream.device, location)
    }

    /// Locks bytes for a command; waits for commands that exclude it.
    pub fn lock<'s>(&'s self, uses: &[&Access]) -> LockedMemory<'s, D> {
        let mut state = self.state.lock();
        while uses.iter().any(|access| state.locks.excludes(&access.range, access.purpose())) {
            self.unlocked.wait(&mut state);
        }
        let locked = state.locks.lock(uses.iter().map(|access| (access.range.clone(), access.purpose())));
        LockedMemory { memory: self, locked }
    }

    /// Brings the application's own memory up to date; blocks. What one device cannot give any more does not keep back what others
    /// have.
    ///
    /// # Errors
    /// The first that a device answers.
    fn write_back(&mut self) -> Result<()> {
        let host = self.host();
        if self.host_pointer.is_none() {
            return Ok(());
        }
        self.state.get_mut().forget_lost_fills(host);
        let mut written = Ok(());
        for location in 0..host {
            let residency = &self.state.get_mut().residency;
            let newer = residency.within(0..self.size).filter(|(_, at)| at.contains(location) && !at.contains(host));
            let newer: Vec<_> = newer.map(|(range, _)| Access { range, reads: true, writes: false }).collect();
            let of_device = if newer.is_empty() { Ok(()) } else { self.write_back_from(location, &newer) };
            written = written.and(of_device);
        }
        written
    }

    fn write_back_from(&self, location: usize, newer: &[Access]) -> Result<()> {
        let device = self.devices[location].block.get().and_then(Block::state);
        let Some(device) = device else { return Ok(()) };
        let accesses: Vec<&Access> = newer.iter().collect();
        let locked = self.lock(&accesses);
        ScratchStream::new(device, location)?
            .run(|stream| newer.iter().try_for_each(|access| locked.prepare(stream, self.host(), access).map(drop)))
    }

    /// Writes back what is to be, and waits for what uses the memory.
    fn finish(&mut self) {
        if let Err(error) = self.write_back() {
            log::warning(|| format!("a buffer's bytes could not be written back to its host pointer: {error}"));
        }
        // A native free waits for work of its own device alone.
        for at in &mut self.state.get_mut().in_flight {
            at.borrows.finish();
            at.fills.finish();
        }
    }
}

impl<D: Driver> MovingMemory<D> {
    /// Ends it on a thread that waits for that.
    pub(super) fn end(&mut self) {
        self.finish();
        self.state.get_mut().in_flight.clear();
    }
}

impl<D: Driver> Drop for MovingMemory<D> {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if state.in_flight.is_empty() {
            return;
        }
        // In a host task, work that comes after the task must not be waited for. Where there is none, the bytes are in the
        // application's memory on return there too.
        if deferred::must_not_wait() && !state.is_idle() {
            let nothing = State {
                residency: ResidencyMap::new(self.size, Locations::NONE),
                in_flight: Vec::new(),
                host: None,
                locks: RangeLocks::default(),
            };
            let moved = Self {
                size: self.size,
                host_pointer: self.host_pointer,
                devices: core::mem::take(&mut self.devices),
                state: Mutex::new(core::mem::replace(state, nothing)),
                unlocked: Condvar::new(),
            };
            return deferred::wait(move || drop(moved));
        }
        self.finish();
    }
}

/// A buffer's memory, some of whose bytes are locked for a command that is being put on its stream.
pub struct LockedMemory<'s, D: Driver> {
    memory: &'s MovingMemory<D>,
    locked: LockedRanges,
}

impl<D: Driver> Drop for LockedMemory<'_, D> {
    fn drop(&mut self) {
        let locked = core::mem::take(&mut self.locked);
        self.memory.state.lock().locks.unlock(locked);
        self.memory.unlocked.notify_all();
    }
}

impl<D: Driver> LockedMemory<'_, D> {
    /// The index of the host.
    #[must_use]
    pub fn host(&self) -> usize {
        self.memory.host()
    }

    /// Makes ready for a command at a location: its memory is there, current where the command reads, and the stream comes
    /// after the copies that nobody else waits for. Gives the address of the buffer's first byte there.
    ///
    /// # Errors
    /// What the native library answers. Copies that were made before the failure are remembered.
    pub fn prepare(&self, stream: &CommandStream<'_, D>, location: usize, access: &Access) -> Result<usize> {
        let address = self.memory.address(stream, location)?;
        let mut before = PendingEvents::new();
        let (fetches, unused) = {
            let mut state = self.memory.state.lock();
            let unused = state.take_copy()?;
            {
                let State { residency, in_flight, .. } = &mut *state;
                let needs = |part| access.reads && residency.within(part).any(|(_, at)| at.contains(location));
                in_flight[location].fills.collect(stream, &access.range, &mut before, needs)?;
            }
            let fetches =
                if access.reads { self.fetches(&mut state, stream, location, access)? } else { SmallVec::new() };
            (fetches, unused)
        };
        drop(unused);
        stream.wait(&before)?;
        if !fetches.is_empty() {
            self.fetch(stream, location, address, &fetches)?;
        }
        Ok(address)
    }

    /// What is not current at a location, and where it is.
    fn fetches(
        &self,
        state: &mut State<D>,
        stream: &CommandStream<'_, D>,
        location: usize,
        access: &Access,
    ) -> Result<SmallVec<[Fetch; 2]>> {
        let mut fetches = SmallVec::new();
        for (part, locations) in state.residency.within(access.range.clone()) {
            if !locations.contains(location)
                && let Some(from) = state.location_to_read(stream, &part, locations)?
            {
                let block = match self.memory.devices.get(from) {
                    Some(device) => device.block.get(),
                    None => state.host.as_ref(),
                };
                let address = block.map(Block::address).ok_or(ur_result_t::ERROR_UNKNOWN)?;
                fetches.push(Fetch { part, from, address });
            }
        }
        Ok(fetches)
    }

    /// Copies what is not current at a location from where it is.
    fn fetch(&self, stream: &CommandStream<'_, D>, location: usize, address: usize, fetches: &[Fetch]) -> Result<()> {
        let mut done = 0;
        let copied = fetches.iter().try_for_each(|fetch| {
            self.copy(stream, address, fetch)?;
            done += 1;
            Ok(())
        });
        if done > 0 {
            stream.count_more(done);
            let marker = stream.record_marker()?;
            let mut state = self.memory.state.lock();
            for Fetch { part, from, .. } in &fetches[..done] {
                state.residency.change(part.clone(), |locations| locations.with(location));
                state.in_flight[location].fills.add(stream, part, marker.as_ref());
                state.in_flight[*from].borrows.add(stream, part, marker.as_ref());
            }
        }
        copied
    }

    fn copy(&self, stream: &CommandStream<'_, D>, to: usize, fetch: &Fetch) -> Result<()> {
        let Fetch { part, from, address } = fetch;
        let mut before = PendingEvents::new();
        {
            let mut state = self.memory.state.lock();
            let InFlight { writes, fills, .. } = &mut state.in_flight[*from];
            // What commands write at the host the application has written already.
            writes.collect(stream, part, &mut before, |_| *from != self.host())?;
            fills.collect(stream, part, &mut before, |_| true)?;
        }
        stream.wait(&before)?;
        let _scope = stream.device.enter_for_transfer()?;
        // Each side lives until its borrows, this copy among them, are over, and the range lock keeps it until this copy is
        // one of them.
        let bytes = |first: usize| CommandBytes::of_buffer(first + part.start, part.len());
        command_bytes::copy(stream.device.driver, stream.stream, bytes(to), bytes(*address))
    }

    /// Notes that a command at a location is on the stream.
    ///
    /// # Errors
    /// What the native library answers when the command can be neither marked nor waited for.
    pub fn commit(&self, stream: &CommandStream<'_, D>, location: usize, access: &Access) -> Result<()> {
        if !access.writes {
            return Ok(());
        }
        let marker = stream.record_marker();
        let mut state = self.memory.state.lock();
        state.residency.change(access.range.clone(), |_| Locations::only(location));
        state.in_flight[location].fills.supersede(&access.range);
        state.in_flight[location].writes.add(stream, &access.range, marker?.as_ref());
        Ok(())
    }

    /// Notes that bytes are the same at another location too.
    pub fn also_at(&self, location: usize, range: Range<usize>) {
        self.memory.state.lock().residency.change(range, |locations| locations.with(location));
    }

    /// Tells where a command may read bytes without moving them, and makes the stream come after whatever still brings or
    /// writes them there.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn pieces(&self, stream: &CommandStream<'_, D>, range: &Range<usize>) -> Result<Pieces> {
        let (mut pieces, mut before) = (Pieces::new(), PendingEvents::new());
        {
            let mut state = self.memory.state.lock();
            for (part, locations) in state.residency.within(range.clone()) {
                // Bytes that were never written are anything: what the device has will do.
                let location = state.location_to_read(stream, &part, locations)?.unwrap_or(stream.location);
                pieces.push(Piece { range: part, address: 0, location });
            }
            for piece in &pieces {
                let InFlight { writes, fills, .. } = &mut state.in_flight[piece.location];
                fills.collect(stream, &piece.range, &mut before, |_| true)?;
                if piece.location != stream.location {
                    // As in a copy that brings bytes elsewhere.
                    writes.collect(stream, &piece.range, &mut before, |_| piece.location != self.host())?;
                }
            }
        }
        for piece in &mut pieces {
            piece.address = self.memory.address(stream, piece.location)? + piece.range.start;
        }
        stream.wait(&before)?;
        Ok(pieces)
    }

    /// Notes that a command which reads pieces is on the stream.
    ///
    /// # Errors
    /// As [`LockedMemory::commit`].
    pub fn borrowed(&self, stream: &CommandStream<'_, D>, pieces: &Pieces) -> Result<()> {
        let mut foreign = pieces.iter().filter(|piece| piece.location != stream.location).peekable();
        if foreign.peek().is_none() {
            return Ok(());
        }
        let marker = stream.record_marker()?;
        let mut state = self.memory.state.lock();
        for piece in foreign {
            state.in_flight[piece.location].borrows.add(stream, &piece.range, marker.as_ref());
        }
        Ok(())
    }
}

/// The index of a device among a context's.
///
/// # Errors
/// `INVALID_DEVICE` for a device of another context.
pub fn location_of<D: Driver>(context: &Context<D>, device: &Arc<Object<Device<D>>>) -> Result<usize> {
    context.devices().position(|known| Arc::ptr_eq(known, device)).ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_DEVICE, "the queue's device is not one of the buffer's context")
    })
}
