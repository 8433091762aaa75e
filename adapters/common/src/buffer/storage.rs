//! A buffer's memory as commands see it: one address for good, or places that it moves between.
//!
//! A buffer that every device of its context reaches at one address (one device alone, pinned host memory, a native
//! pointer) takes no lock and records nothing, once its memory is there. Only the others pay for knowing where they are.
//! A device's memory is made when a command first uses it, before the command takes its queue's lock.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use smallvec::{SmallVec, smallvec};

use crate::buffer::block::Block;
use crate::buffer::migration::{Access, Piece, Places, place_of};
use crate::buffer::pending_uses::Site;
use crate::buffer::scratch::ScratchStream;
use crate::command::submission::Submission;
use crate::command::{Command, Request, submit, submit_and_wait};
use crate::context::{Context, DeviceState};
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::Result;
use crate::queue::Queue;

/// Where the bytes are.
pub enum Home<D: Driver> {
    /// At one address that every device of the context uses.
    Fixed {
        /// The memory.
        block: Block<D>,
        /// Whether the host may touch it too.
        on_host: bool,
    },
    /// At one address of the context's only device, once there is one.
    Late(Late<D>),
    /// Now here, now there.
    Moving(Mutex<Places<D>>),
}

/// Memory of a context's only device that is made at its first use.
pub struct Late<D: Driver> {
    block: OnceLock<Block<D>>,
    /// What it begins with, until it is made. Locked while that happens, which waits for a stream of its own alone.
    initial: Mutex<Option<Block<D>>>,
}

impl<D: Driver> Late<D> {
    /// Memory that is not there yet, and a copy of the application's bytes that it begins with.
    #[must_use]
    pub fn new(initial: Option<Block<D>>) -> Self {
        Self { block: OnceLock::new(), initial: Mutex::new(initial) }
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
            ScratchStream::new(state, 0)?.run(|site| {
                let _scope = state.enter_for_transfer()?;
                // SAFETY: both are `size` bytes of the buffer's own and outlive `run`, which waits.
                unsafe { state.driver.copy_async(block.address(), copy.address(), size, site.stream) }
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
    /// Where it is.
    pub home: Home<D>,
}

impl<D: Driver> Storage<D> {
    /// The address that the host and the devices share, if the host may touch it.
    #[must_use]
    pub fn shared_with_host(&self) -> Option<usize> {
        match &self.home {
            Home::Fixed { block, on_host: true } => Some(block.address()),
            _ => None,
        }
    }

    /// The memory that the application made the buffer over with `UR_MEM_FLAG_USE_HOST_POINTER`.
    #[must_use]
    pub fn host_pointer(&self) -> Option<usize> {
        match &self.home {
            Home::Fixed { .. } | Home::Late(_) => None,
            Home::Moving(places) => places.lock().host_pointer(),
        }
    }

    /// Makes the memory that a command on the context's only device needs, if there is none yet.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    fn make(&self, state: &Arc<DeviceState<D>>) -> Result<()> {
        match &self.home {
            Home::Late(late) if late.block.get().is_none() => late.make(state, self.size),
            _ => Ok(()),
        }
    }

    /// The address of the first byte at a device, made current there; whoever gets it may write there unseen. Blocks
    /// until the bytes are there.
    ///
    /// # Errors
    /// `INVALID_DEVICE`; what the native library answers.
    pub fn native(&self, state: &Arc<DeviceState<D>>) -> Result<usize> {
        let places = match &self.home {
            Home::Fixed { block, .. } => return Ok(block.address()),
            Home::Late(late) => return self.make(state).map(|()| late.address()),
            Home::Moving(places) => places,
        };
        let here = place_of(&self.context, &state.device)?;
        let access = Access { range: 0..self.size, reads: true, writes: true };
        let mut places = places.lock();
        ScratchStream::new(state, here)?.run(|site| {
            let address = places.prepare(site, here, &access)?;
            places.commit(site, here, &access).map(|()| address)
        })
    }
}

/// A storage in use by a command that is being put on its stream.
enum Opened<'s, D: Driver> {
    Fixed(usize),
    Moving(MutexGuard<'s, Places<D>>),
}

/// The storages that a command uses, locked in the order of their addresses so that no two commands wait for each other.
pub struct Session<'s, 'q, D: Driver> {
    site: Site<'q, D>,
    opened: SmallVec<[(&'s Storage<D>, Opened<'s, D>); 2]>,
}

impl<'s, 'q, D: Driver> Session<'s, 'q, D> {
    /// Locks what a command at `site` uses.
    fn open(site: Site<'q, D>, mut list: SmallVec<[&'s Storage<D>; 2]>) -> Self {
        list.sort_unstable_by_key(|storage| core::ptr::from_ref(*storage).addr());
        list.dedup_by(|one, other| core::ptr::eq(*one, *other));
        let opened = list.into_iter().map(|storage| {
            let opened = match &storage.home {
                Home::Fixed { block, .. } => Opened::Fixed(block.address()),
                Home::Late(late) => Opened::Fixed(late.address()),
                Home::Moving(places) => Opened::Moving(places.lock()),
            };
            (storage, opened)
        });
        Self { site, opened: opened.collect() }
    }

    /// Finds what [`Session::open`] was given, with the site beside it.
    fn of(&mut self, storage: &Storage<D>) -> (&Site<'q, D>, &mut Opened<'s, D>) {
        let found = self.opened.iter_mut().find(|(known, _)| core::ptr::eq(*known, storage));
        let Some((_, opened)) = found else { unreachable!("a command opens every storage that it uses") };
        (&self.site, opened)
    }

    /// Makes ready for an access at the site's device; gives the address of its first byte.
    ///
    /// # Errors
    /// As [`Places::prepare`].
    pub fn prepare(&mut self, storage: &Storage<D>, access: &Access) -> Result<usize> {
        let base = match self.of(storage) {
            (_, Opened::Fixed(address)) => *address,
            (site, Opened::Moving(places)) => places.prepare(site, site.here, access)?,
        };
        Ok(base + access.range.start)
    }

    /// A native event for everything on the command's stream so far; none if it had to be waited for.
    ///
    /// # Errors
    /// As [`Site::mark`].
    pub fn record_marker(&self) -> Result<Option<Arc<PooledEvent<D>>>> {
        self.site.record_marker()
    }

    /// As [`Session::prepare`] in the application's own memory, if the buffer uses that.
    ///
    /// # Errors
    /// As [`Places::prepare`].
    pub fn prepare_on_host(&mut self, storage: &Storage<D>, access: &Access) -> Result<()> {
        match self.of(storage) {
            (_, Opened::Fixed(_)) => Ok(()),
            (site, Opened::Moving(places)) => {
                let host = places.host();
                places.prepare(site, host, access).map(|_| ())
            }
        }
    }

    /// Notes that the access is on the stream.
    ///
    /// # Errors
    /// As [`Places::commit`].
    pub fn commit(&mut self, storage: &Storage<D>, access: &Access) -> Result<()> {
        match self.of(storage) {
            (_, Opened::Fixed(_)) => Ok(()),
            (site, Opened::Moving(places)) => places.commit(site, site.here, access),
        }
    }

    /// As [`Session::commit`] for the application's own memory.
    ///
    /// # Errors
    /// As [`Places::commit`].
    pub fn commit_on_host(&mut self, storage: &Storage<D>, access: &Access) -> Result<()> {
        match self.of(storage) {
            (_, Opened::Fixed(_)) => Ok(()),
            (site, Opened::Moving(places)) => {
                let host = places.host();
                places.commit(site, host, access)
            }
        }
    }

    /// Notes that bytes which were written at the site's device are in the application's own memory already.
    pub fn same_on_host(&mut self, storage: &Storage<D>, range: Range<usize>) {
        if let (_, Opened::Moving(places)) = self.of(storage) {
            let host = places.host();
            places.also_at(host, range);
        }
    }

    /// Lets `copy` read bytes piece by piece where they are.
    ///
    /// # Errors
    /// As [`Places::pieces`]; what `copy` answers.
    pub fn read(
        &mut self,
        storage: &Storage<D>,
        range: &Range<usize>,
        mut copy: impl FnMut(&Piece) -> Result<()>,
    ) -> Result<()> {
        match self.of(storage) {
            (_, Opened::Fixed(address)) => copy(&Piece::fixed(range.clone(), *address + range.start)),
            (site, Opened::Moving(places)) => {
                let pieces = places.pieces(site, range)?;
                let copied = pieces.iter().try_for_each(copy);
                // Of several copies some may be on the stream when one fails.
                let noted = places.borrowed(site, &pieces);
                copied.and(noted)
            }
        }
    }
}

/// One buffer as a command uses it.
pub struct BufferAccess<'s, D: Driver> {
    /// The buffer's memory.
    pub storage: &'s Storage<D>,
    /// What the command does with it.
    pub access: Access,
}

/// Puts a command on its queue whose native call is given the addresses of the bytes that it uses at the queue's device.
///
/// # Errors
/// As [`submit`] and [`Places::prepare`].
pub fn submit_with_buffers<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    accesses: &[BufferAccess<'_, D>],
    call: impl FnOnce(&'static D, D::Stream, &[usize]) -> Result<()>,
) -> Result<()> {
    with_locked_buffers(request, blocking, accesses.iter().map(|touch| touch.storage), |driver, stream, locked| {
        let mut addresses: SmallVec<[usize; 4]> = smallvec![];
        for touch in accesses {
            addresses.push(locked.prepare(touch.storage, &touch.access)?);
        }
        call(driver, stream, &addresses)?;
        accesses.iter().try_for_each(|touch| locked.commit(touch.storage, &touch.access))
    })
}

/// Puts a command on its queue that works with storages of the queue's context in a way of its own.
///
/// # Errors
/// As [`submit`]; what `work` answers, and the native library to memory that is made for it.
pub fn with_locked_buffers<'s, D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    storages: impl IntoIterator<Item = &'s Storage<D>>,
    work: impl FnOnce(&'static D, D::Stream, &mut Session<'s, '_, D>) -> Result<()>,
) -> Result<()> {
    let queue = request.queue;
    let here = place_of(&queue.context, &queue.device.device)?;
    let storages: SmallVec<[&'s Storage<D>; 2]> = storages.into_iter().collect();
    storages.iter().try_for_each(|storage| storage.make(&queue.device))?;
    let command = OnBuffers { queue, here, storages, work };
    if blocking { submit_and_wait(request, command) } else { submit(request, command) }
}

/// A command that works with buffers, which it locks while it is put on the stream.
struct OnBuffers<'s, 'q, D: Driver, W> {
    queue: &'q Object<Queue<D>>,
    here: usize,
    storages: SmallVec<[&'s Storage<D>; 2]>,
    work: W,
}

impl<'s, D: Driver, W> Command<D> for OnBuffers<'s, '_, D, W>
where
    W: FnOnce(&'static D, D::Stream, &mut Session<'s, '_, D>) -> Result<()>,
{
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        let site = Site { device: &self.queue.device, stream, queue: Some(self.queue), here: self.here };
        (self.work)(driver, stream, &mut Session::open(site, self.storages))
    }
}
