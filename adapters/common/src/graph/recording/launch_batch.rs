//! Launches of a command buffer that have no node of the native graph yet.
//!
//! CUDA's driver adds a kernel only where a context is current, and asking for the thread's context, setting the device's and
//! putting the thread's back costs a third of an append. So plain launches that follow each other are checked, answered and
//! kept here with copies of their arguments, and their nodes are made many at a time, in the order of the appends.
//!
//! Whoever needs the native graph, or a node of a command, has the nodes made first: any other kind of command, the end of the
//! recording, a native handle, another buffer that takes this one as a part. From the first native handle on launches are not kept any
//! more, since the application may look at the graph at any time.
//!
//! If the native library refuses a node, that launch and those behind it stay here: the call that needed the nodes fails, what
//! was appended stays appended, and the next call that needs the nodes tries again. So nothing is ever missing from a graph
//! without its caller having been told.
//!
//! The first launch behind another kind of command has its node at once, so where commands of several kinds alternate nothing is
//! copied in vain; so has a launch that does not fit into the room.

use core::ffi::c_void;
use std::sync::Arc;

use crate::command::graph::NodeLaunch;
use crate::context::DeviceState;
use crate::driver::{Driver, LaunchShape};
use crate::graph::recording::dependencies::{After, Dependencies, SyncPoints};
use crate::kernel::fast::Launch;
use crate::object::error::Result;
use crate::sync::unlikely::unlikely;

/// Launches that are kept at once: the native calls for the context are then a tenth of one for each.
const MOST_LAUNCHES: usize = 32;
/// Commands that they come after, together.
const MOST_AFTER: usize = 2 * MOST_LAUNCHES;
/// Their arguments, together.
const MOST_VALUES: usize = 6 * MOST_LAUNCHES;
/// Words of those.
const MOST_WORDS: usize = 8 * MOST_LAUNCHES;

/// What becomes of the next plain launch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It has its node at once; those that follow it are kept.
    MakeOne,
    /// It is kept.
    Keep,
    /// All have their nodes at once.
    MakeAll,
}

/// What a kept launch comes after.
#[derive(Clone, Copy)]
enum KeptAfter {
    Nothing,
    /// The command of that index.
    One(u32),
    /// Those whose indices lie there in the room.
    Several {
        begin: u32,
        end: u32,
    },
}

/// A launch that is kept.
struct KeptLaunch<D: Driver> {
    function: D::Function,
    shape: LaunchShape,
    after: KeptAfter,
    /// Where the list of its values' addresses begins.
    list: u32,
}

/// Room of fixed sizes, so that keeping a launch allocates nothing. A launch is written once, as the native call reads it.
struct Room<D: Driver> {
    launches: Vec<KeptLaunch<D>>,
    /// Indices of the commands that launches behind several of them come after.
    after: Vec<u32>,
    /// The exposed addresses of values, which lie in the words.
    addresses: Box<[usize]>,
    addresses_end: usize,
    words: Box<[u64]>,
    words_end: usize,
}

/// The launches, the first appended first.
pub struct LaunchBatch<D: Driver> {
    next: Next,
    /// There once a launch was to be kept.
    room: Option<Box<Room<D>>>,
}

impl<D: Driver> Default for LaunchBatch<D> {
    fn default() -> Self {
        Self { next: Next::MakeOne, room: None }
    }
}

impl<D: Driver> LaunchBatch<D> {
    /// Keeps a launch that comes after the commands named, with copies of its arguments' values, where launches are being kept and
    /// there is room. Else nothing is done.
    ///
    /// # Errors
    /// As [`Dependencies::read`].
    #[inline(always)]
    pub(crate) fn keep(
        &mut self,
        commands: &mut Dependencies<D::GraphNode>,
        after: SyncPoints<'_>,
        launch: &Launch<'_, D>,
    ) -> Result<bool> {
        if unlikely!(self.next != Next::Keep) || unlikely!(after.count() > MOST_AFTER) {
            return Ok(false);
        }
        let after = commands.read(after)?;
        Ok(self.room.as_mut().is_some_and(|room| room.keep(launch, after, commands)))
    }

    /// Keeps a launch as [`LaunchBatch::keep`] does, and makes the nodes of those before if they leave no room for it. Answers
    /// whether it did: else the launch has its node at once, and no launch before it is without.
    ///
    /// # Errors
    /// As [`Dependencies::read`] and [`LaunchBatch::make_nodes`].
    pub(crate) fn make_room_and_keep(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
        after: SyncPoints<'_>,
        launch: &Launch<'_, D>,
    ) -> Result<bool> {
        if self.keep(commands, after, launch)? {
            return Ok(true);
        }
        self.make_nodes(device, graph, commands)?;
        if self.next == Next::Keep {
            self.room.get_or_insert_with(Room::new);
            return self.keep(commands, after, launch);
        }
        if self.next == Next::MakeOne {
            self.next = Next::Keep;
        }
        Ok(false)
    }

    /// Makes the nodes of all launches that are kept.
    ///
    /// # Errors
    /// What the native library answers. The launch that it refused and those behind it stay.
    #[inline]
    pub fn make_nodes(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
    ) -> Result<()> {
        match &mut self.room {
            Some(room) if !room.launches.is_empty() => room.make_nodes(device, graph, commands),
            _ => Ok(()),
        }
    }

    /// Makes the nodes of all launches that are kept, for a command of another kind behind them.
    ///
    /// # Errors
    /// As [`LaunchBatch::make_nodes`].
    #[inline]
    pub fn end_run(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
    ) -> Result<()> {
        self.make_nodes(device, graph, commands)?;
        if self.next == Next::Keep {
            self.next = Next::MakeOne;
        }
        Ok(())
    }

    /// From now on every launch has its node at once.
    pub fn keep_no_more(&mut self) {
        self.next = Next::MakeAll;
    }
}

impl<D: Driver> Room<D> {
    fn new() -> Box<Self> {
        Box::new(Self {
            launches: Vec::with_capacity(MOST_LAUNCHES),
            after: Vec::new(),
            addresses: vec![0; MOST_VALUES].into_boxed_slice(),
            addresses_end: 0,
            words: vec![0; MOST_WORDS].into_boxed_slice(),
            words_end: 0,
        })
    }

    /// Keeps a launch if there is room for all of it.
    #[inline(always)]
    fn keep(&mut self, launch: &Launch<'_, D>, after: After, commands: &Dependencies<D::GraphNode>) -> bool {
        // Full as its allocation, so that nothing is asked again by the push.
        if unlikely!(self.launches.len() == self.launches.capacity()) {
            return false;
        }
        let (list, list_end) = (self.addresses_end, self.addresses_end + launch.count());
        let Some(addresses) = self.addresses.get_mut(list..list_end) else { return false };
        let mut at = self.words_end;
        for (address, value) in addresses.iter_mut().zip(launch.values()) {
            let Some(next) = store(value, &mut self.words, at) else { return false };
            *address = self.words.as_ptr().wrapping_add(at).expose_provenance();
            at = next;
        }
        let after = match after {
            After::Nothing => KeptAfter::Nothing,
            After::One(index) => KeptAfter::One(index),
            After::Several => match self.keep_list(commands.several()) {
                Some(kept) => kept,
                None => return false,
            },
        };
        (self.addresses_end, self.words_end) = (list_end, at);
        // The room's sizes are small.
        let list = list as u32;
        self.launches.push(KeptLaunch { function: launch.function(), shape: launch.shape, after, list });
        true
    }

    #[inline(never)]
    fn keep_list(&mut self, commands: &[u32]) -> Option<KeptAfter> {
        let (begin, end) = (self.after.len(), self.after.len() + commands.len());
        if end > MOST_AFTER {
            return None;
        }
        self.after.extend_from_slice(commands);
        // Both are small.
        Some(KeptAfter::Several { begin: begin as u32, end: end as u32 })
    }

    #[inline(never)]
    fn make_nodes(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
    ) -> Result<()> {
        let (mut made, mut several) = (0, Vec::new());
        commands.reserve_nodes();
        let scope = device.enter()?;
        let result = self.launches.iter().try_for_each(|launch| {
            let list = self.addresses[launch.list as usize..].as_ptr().cast::<*const c_void>();
            let node = NodeLaunch::new(launch.function, launch.shape, list);
            let after = match launch.after {
                KeptAfter::Nothing => &[],
                KeptAfter::One(index) => core::slice::from_ref(commands.node_of(index)),
                KeptAfter::Several { begin, end } => {
                    commands.nodes_of(&self.after[begin as usize..end as usize], &mut several)
                }
            };
            let node = node.add_in(&scope, device, graph, after)?;
            commands.add_node(node);
            made += 1;
            Ok(())
        });
        drop(scope);
        if result.is_ok() {
            self.launches.clear();
            self.after.clear();
            (self.addresses_end, self.words_end) = (0, 0);
        } else {
            self.launches.drain(..made);
        }
        result
    }
}

/// Stores a value at a place of the words; gives the place behind it, or nothing where there is no room.
#[inline(always)]
fn store(value: &[u8], words: &mut [u64], at: usize) -> Option<usize> {
    let word = if let Ok(word) = value.try_into() {
        u64::from_ne_bytes(word)
    } else if let Ok([a, b, c, d]) = <[u8; 4]>::try_from(value) {
        u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0])
    } else {
        return store_in_parts(value, words, at);
    };
    *words.get_mut(at)? = word;
    Some(at + 1)
}

#[inline(never)]
fn store_in_parts(value: &[u8], words: &mut [u64], at: usize) -> Option<usize> {
    let end = at + value.len().div_ceil(size_of::<u64>());
    for (word, part) in words.get_mut(at..end)?.iter_mut().zip(value.chunks(size_of::<u64>())) {
        let mut bytes = [0; size_of::<u64>()];
        bytes[..part.len()].copy_from_slice(part);
        *word = u64::from_ne_bytes(bytes);
    }
    Some(end)
}
