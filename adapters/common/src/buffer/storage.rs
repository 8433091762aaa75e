//! A buffer's memory as commands see it: one address for good, or locations that it moves between.
//!
//! A buffer that every device of its context reaches at one address (one device alone, pinned host memory, a native
//! pointer) takes no lock and records nothing, once its memory is there. Only the others pay for knowing where they are.
//! A device's memory is made when a command first uses it, before the command takes its stream's lock.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::buffer::block::Block;
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::moving::{Access, LockedMemory, MovingMemory, Piece, location_of};
use crate::buffer::pending_uses::CommandStream;
use crate::buffer::scratch::ScratchStream;
use crate::context::{Context, DeviceState};
use crate::device::relief::reclaiming;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::Result;
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::staging::Staging;
use crate::sync::mutation::{self, Bug};

/// The memory behind a buffer.
pub enum Memory<D: Driver> {
    /// At one address that every device of the context uses.
    Fixed {
        /// The memory.
        block: Block<D>,
        /// Whether the host may touch it too.
        on_host: bool,
    },
    /// At one address of the context's only device, once there is one.
    Late(Late<D>),
    /// At several locations, current at some of them. Apart, since it is much larger than the others.
    Moving(Box<MovingMemory<D>>),
}

impl<D: Driver> Memory<D> {
    /// The one address, if there is no other; 0 before it is made.
    #[inline]
    fn fixed_address(&self) -> Option<usize> {
        match self {
            Self::Fixed { block, .. } => Some(block.address()),
            Self::Late(late) => Some(late.address()),
            Self::Moving(_) => None,
        }
    }
}

/// Memory of a context's only device that is made at its first use.
pub struct Late<D: Driver> {
    block: OnceLock<Block<D>>,
    /// What it begins with, until it is made. Locked while that happens, which waits for a stream of its own alone. Boxed, since
    /// few buffers begin with anything, and all are moved to where they stay.
    initial: Mutex<Option<Box<Block<D>>>>,
}

impl<D: Driver> Late<D> {
    /// Memory that is not there yet, and a copy of the application's bytes that it begins with.
    #[must_use]
    pub fn new(initial: Option<Block<D>>) -> Self {
        Self { block: OnceLock::new(), initial: Mutex::new(initial.map(Box::new)) }
    }

    /// Its address, 0 before it is made.
    fn address(&self) -> usize {
        self.block.get().map_or(0, Block::address)
    }

    #[cold]
    fn make(&self, state: &Arc<DeviceState<D>>, size: usize) -> Result<()> {
        let mut initial = self.initial.lock();
        if self.block.get().is_some() {
            return Ok(());
        }
        let block = Block::on_device(state, size)?;
        if let Some(copy) = &*initial {
            ScratchStream::new(state, 0)?.run(|stream| {
                let _scope = state.enter_for_transfer()?;
                // Both outlive `run`, which waits.
                let [to, from] = [&block, &**copy].map(|side| CommandBytes::of_buffer(side.address(), size));
                command_bytes::copy(state.driver, stream.stream, to, from)
            })?;
        }
        *initial = None;
        // Nobody else sets it while the lock is held.
        let _ = self.block.set(block);
        Ok(())
    }
}

/// A buffer's memory, which its sub-buffers share.
pub struct Storage<D: Driver> {
    /// The context whose devices use it.
    pub context: Arc<Object<Context<D>>>,
    /// Its size in bytes.
    pub size: usize,
    /// Where the bytes are.
    pub memory: Memory<D>,
}

impl<D: Driver> Storage<D> {
    /// The memory of a new buffer.
    #[must_use]
    pub fn new(context: Arc<Object<Context<D>>>, size: usize, memory: Memory<D>) -> Self {
        Self { context, size, memory }
    }

    /// Whether its bytes move, so that commands lock them.
    #[must_use]
    pub fn moves(&self) -> bool {
        matches!(self.memory, Memory::Moving(_))
    }

    /// The address that the host and the devices share, if the host may touch it.
    #[must_use]
    pub fn shared_with_host(&self) -> Option<usize> {
        match &self.memory {
            Memory::Fixed { block, on_host: true } => Some(block.address()),
            _ => None,
        }
    }

    /// Some of the bytes, if they are at one address for good and that is there already: a command uses them as they are.
    #[inline]
    pub fn bytes_in_place(&self, range: &Range<usize>) -> Option<CommandBytes> {
        let address = self.memory.fixed_address().filter(|address| *address != 0)?;
        Some(CommandBytes::of_buffer(address + range.start, range.len()))
    }

    /// The memory that the application made the buffer over with `UR_MEM_FLAG_USE_HOST_POINTER`.
    #[must_use]
    pub fn host_pointer(&self) -> Option<usize> {
        match &self.memory {
            Memory::Fixed { .. } | Memory::Late(_) => None,
            Memory::Moving(moving) => moving.host_pointer(),
        }
    }

    /// Makes the memory that a command needs at the device of that location, if there is none yet.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub(super) fn make(&self, state: &Arc<DeviceState<D>>, location: usize) -> Result<()> {
        match &self.memory {
            Memory::Late(late) if late.block.get().is_none() => {
                reclaiming(&state.device, || late.make(state, self.size))
            }
            Memory::Moving(moving) => reclaiming(&state.device, || moving.make(state, location)).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// The address of the first byte at a device, which stays the same as long as there is the storage. Whether the bytes
    /// are there is not looked at.
    ///
    /// # Errors
    /// `INVALID_DEVICE`; what the native library answers to memory that is made now.
    pub fn address_at(&self, state: &Arc<DeviceState<D>>) -> Result<usize> {
        match &self.memory {
            Memory::Fixed { block, .. } => Ok(block.address()),
            Memory::Late(late) => {
                if late.block.get().is_none() {
                    reclaiming(&state.device, || late.make(state, self.size))?;
                }
                Ok(late.address())
            }
            Memory::Moving(moving) => {
                let location = location_of(&self.context, &state.device)?;
                reclaiming(&state.device, || moving.make(state, location))
            }
        }
    }

    /// Some of the bytes at a device, for commands that are recorded. Whoever records them keeps the storage, and makes the
    /// bytes current when they run.
    ///
    /// # Errors
    /// As [`Storage::address_at`].
    pub fn recorded_bytes(&self, state: &Arc<DeviceState<D>>, range: &Range<usize>) -> Result<CommandBytes> {
        Ok(CommandBytes::of_buffer(self.address_at(state)? + range.start, range.len()))
    }

    /// The address of the first byte at a device, made current there; whoever gets it may write there unseen. Blocks
    /// until the bytes are there.
    ///
    /// # Errors
    /// `INVALID_DEVICE`; what the native library answers.
    pub fn native(&self, state: &Arc<DeviceState<D>>) -> Result<usize> {
        let moving = match &self.memory {
            Memory::Fixed { block, .. } => return Ok(block.address()),
            Memory::Late(late) => {
                if late.block.get().is_none() {
                    reclaiming(&state.device, || late.make(state, self.size))?;
                }
                return Ok(late.address());
            }
            Memory::Moving(moving) => moving,
        };
        let location = location_of(&self.context, &state.device)?;
        let access = Access { range: 0..self.size, reads: true, writes: true };
        ScratchStream::new(state, location)?.run(|stream| {
            let locked = moving.lock(&[&access]);
            let address = locked.prepare(stream, location, &access)?;
            locked.commit(stream, location, &access).map(|()| address)
        })
    }
}

/// Where a command uses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// In the memory of the device that it runs on.
    Device,
    /// In the application's own memory.
    Host,
    /// Wherever the bytes are, which it only reads.
    Anywhere,
}

/// One buffer as a command uses it.
pub struct BufferAccess<'s, D: Driver> {
    /// The buffer's memory, which a command that is deferred keeps.
    pub storage: &'s Arc<Storage<D>>,
    /// What the command does with it.
    pub access: Access,
    pub(super) at: At,
}

impl<'s, D: Driver> BufferAccess<'s, D> {
    /// An access to the bytes at the device that the command runs on.
    #[must_use]
    pub fn on_device(storage: &'s Arc<Storage<D>>, access: Access) -> Self {
        Self { storage, access, at: At::Device }
    }

    /// An access to the bytes in the application's own memory.
    #[must_use]
    pub fn on_host(storage: &'s Arc<Storage<D>>, access: Access) -> Self {
        Self { storage, access, at: At::Host }
    }

    /// A read of the bytes wherever they are.
    #[must_use]
    pub fn anywhere(storage: &'s Arc<Storage<D>>, range: Range<usize>) -> Self {
        Self { storage, access: Access { range, reads: true, writes: false }, at: At::Anywhere }
    }
}

/// As [`BufferAccess`], of a command that is deferred.
pub(super) struct OwnedAccess<D: Driver> {
    storage: Arc<Storage<D>>,
    access: Access,
    at: At,
}

impl<D: Driver> BufferAccess<'_, D> {
    pub(super) fn to_owned(&self) -> OwnedAccess<D> {
        let mut access = self.access.clone();
        if mutation::is(Bug::DeferredWriteUnseen) {
            (access.reads, access.writes) = (true, false);
        }
        OwnedAccess { storage: Arc::clone(self.storage), access, at: self.at }
    }
}

impl<D: Driver> OwnedAccess<D> {
    /// Ends the use. If nobody else has the buffer any more, the application's memory is written now, which waits for the
    /// device: who waits for the command may give that memory back.
    pub(super) fn end(self) {
        if self.storage.host_pointer().is_some()
            && let Some(mut storage) = Arc::into_inner(self.storage)
            && let Memory::Moving(moving) = &mut storage.memory
        {
            moving.end();
        }
    }

    pub(super) fn borrow(&self) -> BufferAccess<'_, D> {
        BufferAccess { storage: &self.storage, access: self.access.clone(), at: self.at }
    }
}

/// What storages are ordered by.
fn address_of<D: Driver>(storage: &Storage<D>) -> usize {
    core::ptr::from_ref(storage).addr()
}

/// Bytes that a command of a capture uses, which the capture keeps.
pub struct CapturedBytes<D: Driver> {
    /// The memory.
    pub storage: Arc<Storage<D>>,
    /// What is done with which bytes.
    pub access: Access,
}

/// A storage in use by a command that is being put on its stream: at one address, or with its locked memory.
enum Opened<M> {
    Fixed(usize),
    Moving(M),
}

/// Storages in use, each once, ordered by their addresses.
type OpenedList<'s, D> = SmallVec<[(&'s Storage<D>, Opened<LockedMemory<'s, D>>); 2]>;

/// The storages that a command uses.
#[allow(clippy::large_enum_variant, reason = "it is made where it stays, and never moved")]
enum OpenedStorages<'s, D: Driver> {
    /// The only one, at one address: most commands have no more, and fill nothing of what the others need.
    Fixed(usize),
    /// Any.
    Each(OpenedList<'s, D>),
}

impl<'s, D: Driver> Opened<LockedMemory<'s, D>> {
    /// Locks what a command uses of one storage.
    fn new(storage: &'s Storage<D>, uses: &[&BufferAccess<'s, D>]) -> Self {
        let moving = match &storage.memory {
            Memory::Moving(moving) => moving,
            fixed => return Self::Fixed(fixed.fixed_address().unwrap_or_default()),
        };
        let wanted: SmallVec<[_; 2]> = uses.iter().map(|used| &used.access).collect();
        Self::Moving(moving.lock(&wanted))
    }
}

/// The buffers that a command uses, whose bytes stay locked until it is on its stream. They are locked before anything native
/// is done, in the order of their storages' addresses, so that no two commands wait for each other.
pub struct LockedBuffers<'s, 'q, 'u, D: Driver> {
    stream: CommandStream<'q, D>,
    /// The stream and the command's position there.
    place: (&'q Arc<Stream<D>>, u64),
    uses: &'u [BufferAccess<'s, D>],
    opened: OpenedStorages<'s, D>,
    is_captured: bool,
}

impl<'s, 'q, 'u, D: Driver> LockedBuffers<'s, 'q, 'u, D> {
    /// Locks what a command on the stream uses. What it uses at the device has its memory there.
    pub(crate) fn open(
        stream: CommandStream<'q, D>,
        place: (&'q Arc<Stream<D>>, u64),
        uses: &'u [BufferAccess<'s, D>],
    ) -> Self {
        // Each made in place: what is chosen first and stored then is copied, with the room for what it does not have.
        if let [used] = uses
            && let Some(address) = used.storage.memory.fixed_address()
        {
            return Self { stream, place, uses, opened: OpenedStorages::Fixed(address), is_captured: false };
        }
        Self { stream, place, uses, opened: Self::open_each(uses), is_captured: false }
    }

    #[inline(never)]
    fn open_each(uses: &'u [BufferAccess<'s, D>]) -> OpenedStorages<'s, D> {
        let open = |of_it: &[&BufferAccess<'s, D>]| {
            let storage = &**of_it[0].storage;
            (storage, Opened::new(storage, of_it))
        };
        let mut by_storage: SmallVec<[&BufferAccess<'s, D>; 2]> = uses.iter().collect();
        by_storage.sort_unstable_by_key(|used| address_of(used.storage));
        let by_storage = by_storage.chunk_by(|one, other| Arc::ptr_eq(one.storage, other.storage));
        OpenedStorages::Each(by_storage.map(open).collect())
    }

    /// The device that the command runs on.
    pub fn device(&self) -> &'q Arc<DeviceState<D>> {
        self.stream.device
    }

    /// The queue that the command was given to, where it is one's.
    pub fn queue(&self) -> Option<&'q Object<Queue<D>>> {
        self.stream.queue
    }

    /// Whether the command is recorded, so that nothing runs yet.
    pub fn is_captured(&self) -> bool {
        self.is_captured
    }

    /// What a command of a capture uses: memory at the stream's device, where nothing has to be ready yet.
    pub(super) fn in_capture(
        stream: CommandStream<'q, D>,
        place: (&'q Arc<Stream<D>>, u64),
        uses: &'u [BufferAccess<'s, D>],
    ) -> Result<Self> {
        let mut opened = SmallVec::new();
        for used in uses {
            opened.push((&**used.storage, Opened::Fixed(used.storage.address_at(stream.device)?)));
        }
        opened.sort_unstable_by_key(|(storage, _): &(&Storage<D>, _)| address_of(storage));
        Ok(Self { stream, place, uses, opened: OpenedStorages::Each(opened), is_captured: true })
    }

    #[inline]
    fn memory(&self, used: &BufferAccess<'s, D>) -> Opened<&LockedMemory<'s, D>> {
        match &self.opened {
            OpenedStorages::Fixed(address) => Opened::Fixed(*address),
            OpenedStorages::Each(opened) => {
                let found = opened.binary_search_by_key(&address_of(used.storage), |(known, _)| address_of(known));
                let Ok(at) = found else { unreachable!("a command opens every storage that it uses") };
                match &opened[at].1 {
                    Opened::Fixed(address) => Opened::Fixed(*address),
                    Opened::Moving(locked) => Opened::Moving(locked),
                }
            }
        }
    }

    /// Makes ready for the access of that index; gives its bytes.
    ///
    /// # Errors
    /// As [`LockedMemory::prepare`].
    pub fn prepare(&self, index: usize) -> Result<CommandBytes> {
        let used = &self.uses[index];
        let base = match (self.memory(used), used.at) {
            (Opened::Fixed(address), _) => address,
            (Opened::Moving(locked), At::Host) => locked.prepare(&self.stream, locked.host(), &used.access)?,
            (Opened::Moving(locked), _) => locked.prepare(&self.stream, self.stream.location, &used.access)?,
        };
        Ok(CommandBytes::of_buffer(base + used.access.range.start, used.access.range.len()))
    }

    /// Counts native copies and fills of the command beside the one that each command counts as: the stream's position tells how
    /// full it is.
    pub fn count_more(&self, calls: usize) {
        self.stream.count_more(calls);
    }

    /// How many native copies and fills were counted so, by the command or by what brought its bytes.
    pub fn further_calls(&self) -> usize {
        self.stream.further_calls()
    }

    /// Notes that the command copies from or to staged memory.
    pub fn note_use(&self, staging: &mut Staging<D>) {
        let (stream, position) = self.place;
        staging.used_by(stream, position);
    }

    /// Notes that the access of that index is on the stream.
    ///
    /// # Errors
    /// As [`LockedMemory::commit`].
    pub fn commit(&self, index: usize) -> Result<()> {
        let used = &self.uses[index];
        match (self.memory(used), used.at) {
            (Opened::Fixed(_), _) => Ok(()),
            (Opened::Moving(locked), At::Host) => locked.commit(&self.stream, locked.host(), &used.access),
            (Opened::Moving(locked), _) => locked.commit(&self.stream, self.stream.location, &used.access),
        }
    }

    /// Notes all accesses, also behind one whose end cannot be marked: the command that makes them is on the stream.
    ///
    /// # Errors
    /// The first of [`LockedBuffers::commit`].
    pub fn commit_all(&self) -> Result<()> {
        (0..self.uses.len()).map(|index| self.commit(index)).fold(Ok(()), Result::and)
    }

    /// Notes that bytes which were written at the device are in the application's own memory already.
    pub fn same_on_host(&self, index: usize) {
        let used = &self.uses[index];
        if let Opened::Moving(locked) = self.memory(used) {
            locked.also_at(locked.host(), used.access.range.clone());
        }
    }

    /// Copies the bytes of the access of that index to others, piece by piece from where they are.
    ///
    /// # Errors
    /// As [`LockedMemory::pieces`]; what the native library answers.
    pub fn copy_to(&self, to: CommandBytes, index: usize) -> Result<()> {
        let used = &self.uses[index];
        let range = &used.access.range;
        let copy = |part: Range<usize>, address: usize| {
            let from = CommandBytes::of_buffer(address, part.len());
            let to = to.part(part.start - range.start..part.end - range.start);
            command_bytes::copy(self.stream.device.driver, self.stream.stream, to, from)
        };
        match self.memory(used) {
            Opened::Fixed(address) => copy(range.clone(), address + range.start),
            Opened::Moving(locked) => {
                let pieces = locked.pieces(&self.stream, range)?;
                self.stream.count_more(pieces.len().saturating_sub(1));
                let copied = pieces.iter().try_for_each(|Piece { range, address, .. }| copy(range.clone(), *address));
                // Of several copies some may be on the stream when one fails.
                let noted = locked.borrowed(&self.stream, &pieces);
                copied.and(noted)
            }
        }
    }
}
