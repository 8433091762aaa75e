//! A buffer's memory as commands see it: one address for good, or places that it moves between.
//!
//! A buffer that every device of its context reaches at one address (one device alone, pinned host memory, a native
//! pointer) takes no lock and records nothing. Only the others pay for knowing where they are.

use core::ops::Range;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use smallvec::{SmallVec, smallvec};

use super::block::Block;
use super::migration::{Access, Piece, Places, place_of};
use super::passing::Passing;
use super::uses::Site;
use crate::context::{Context, DeviceState};
use crate::driver::Driver;
use crate::enqueue::{Request, submit, submit_blocking};
use crate::error::Result;
use crate::event_pool::Marker;
use crate::object::Object;

/// Where the bytes are.
pub enum Home<D: Driver> {
    /// At one address that every device of the context uses.
    Fixed {
        /// The memory.
        block: Block<D>,
        /// Whether the host may touch it too.
        on_host: bool,
    },
    /// Now here, now there.
    Moving(Mutex<Places<D>>),
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
            Home::Fixed { .. } => None,
            Home::Moving(places) => places.lock().host_pointer(),
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
            Home::Moving(places) => places,
        };
        let here = place_of(&self.context, &state.device)?;
        let access = Access { range: 0..self.size, reads: true, writes: true };
        let mut places = places.lock();
        Passing::new(state, here)?.run(|site| {
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
    pub fn open(site: Site<'q, D>, storages: impl IntoIterator<Item = &'s Storage<D>>) -> Self {
        let mut list: SmallVec<[&'s Storage<D>; 2]> = storages.into_iter().collect();
        list.sort_unstable_by_key(|storage| core::ptr::from_ref(*storage).addr());
        list.dedup_by(|one, other| core::ptr::eq(*one, *other));
        let opened = list.into_iter().map(|storage| {
            let opened = match &storage.home {
                Home::Fixed { block, .. } => Opened::Fixed(block.address()),
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
    pub fn mark(&self) -> Result<Option<Arc<Marker<D>>>> {
        self.site.mark()
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
pub struct Touch<'s, D: Driver> {
    /// The buffer's memory.
    pub storage: &'s Storage<D>,
    /// What the command does with it.
    pub access: Access,
}

/// Puts a command on its queue whose native call is given the addresses of the bytes that it uses at the queue's device.
///
/// # Errors
/// As [`submit`] and [`Places::prepare`].
pub fn carry_out<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    touches: &[Touch<'_, D>],
    call: impl FnOnce(&'static D, D::Stream, &[usize]) -> Result<()>,
) -> Result<()> {
    in_session(request, blocking, touches.iter().map(|touch| touch.storage), |driver, stream, session| {
        let mut addresses: SmallVec<[usize; 4]> = smallvec![];
        for touch in touches {
            addresses.push(session.prepare(touch.storage, &touch.access)?);
        }
        call(driver, stream, &addresses)?;
        touches.iter().try_for_each(|touch| session.commit(touch.storage, &touch.access))
    })
}

/// Puts a command on its queue that works with storages of the queue's context in a way of its own.
///
/// # Errors
/// As [`submit`]; what `work` answers.
pub fn in_session<'s, D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    storages: impl IntoIterator<Item = &'s Storage<D>>,
    work: impl FnOnce(&'static D, D::Stream, &mut Session<'s, '_, D>) -> Result<()>,
) -> Result<()> {
    let queue = request.queue;
    let here = place_of(&queue.context, &queue.device.device)?;
    let call = |driver: &'static D, stream| {
        let site = Site { device: &queue.device, stream, queue: Some(queue), here };
        work(driver, stream, &mut Session::open(site, storages))
    };
    if blocking { submit_blocking(request, call) } else { submit(request, call) }
}
