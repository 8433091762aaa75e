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
use crate::graph::recording::dependencies::{Dependencies, SyncPoints};
use crate::kernel::argument_list::INLINE_ARGUMENTS;
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

/// A launch that is kept.
struct KeptLaunch<D: Driver> {
    function: D::Function,
    shape: LaunchShape,
    /// Where what it comes after ends; it begins where that of the launch before ends.
    after_end: u32,
    /// The same of its values.
    values_end: u32,
}

/// Room of fixed sizes, so that keeping a launch allocates nothing and looks at each limit once.
struct Room<D: Driver> {
    launches: Vec<KeptLaunch<D>>,
    /// Indices of the commands that they come after.
    after: Box<[u32]>,
    after_end: usize,
    /// Where values begin in the words.
    values: Box<[u32]>,
    values_end: usize,
    words: Box<[u64]>,
    words_end: usize,
    /// What of `after` and of `values` belongs to launches that have their nodes.
    begin: (usize, usize),
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
    /// Keeps a launch that comes after the commands named, with copies of its arguments' values. Answers whether it did: else the
    /// launch has its node at once, and no launch before it is without.
    ///
    /// # Errors
    /// As [`Dependencies::read`] and [`LaunchBatch::make_nodes`].
    #[inline(always)]
    pub(crate) fn keep(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
        after: &SyncPoints<'_>,
        launch: &Launch<'_, D>,
    ) -> Result<bool> {
        if self.next != Next::Keep {
            if self.next == Next::MakeOne {
                self.next = Next::Keep;
            }
            return Ok(false);
        }
        if unlikely(after.count() > MOST_AFTER) {
            self.make_nodes(device, graph, commands)?;
            return Ok(false);
        }
        commands.read(after)?;
        if let Some(room) = &mut self.room
            && room.keep(launch, commands.before())
        {
            return Ok(true);
        }
        self.make_room_and_keep(device, graph, commands, launch)
    }

    /// Makes the nodes of the launches before, and keeps this one if it fits.
    ///
    /// # Errors
    /// As [`LaunchBatch::make_nodes`].
    #[cold]
    fn make_room_and_keep(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
        launch: &Launch<'_, D>,
    ) -> Result<bool> {
        self.make_nodes(device, graph, commands)?;
        Ok(self.room.get_or_insert_with(Room::new).keep(launch, commands.before()))
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
            after: vec![0; MOST_AFTER].into_boxed_slice(),
            after_end: 0,
            values: vec![0; MOST_VALUES].into_boxed_slice(),
            values_end: 0,
            words: vec![0; MOST_WORDS].into_boxed_slice(),
            words_end: 0,
            begin: (0, 0),
        })
    }

    /// Keeps a launch if there is room for all of it.
    #[inline(always)]
    fn keep(&mut self, launch: &Launch<'_, D>, after: &[u32]) -> bool {
        let (after_end, values_end) = (self.after_end + after.len(), self.values_end + launch.count());
        let Some(places) = self.after.get_mut(self.after_end..after_end) else { return false };
        let Some(begins) = self.values.get_mut(self.values_end..values_end) else { return false };
        if self.launches.len() == MOST_LAUNCHES {
            return false;
        }
        let mut at = self.words_end;
        for (index, begin) in begins.iter_mut().enumerate() {
            *begin = at as u32;
            let Some(next) = store(launch.value(index), &mut self.words, at) else { return false };
            at = next;
        }
        for (place, index) in places.iter_mut().zip(after) {
            *place = *index;
        }
        (self.after_end, self.values_end, self.words_end) = (after_end, values_end, at);
        let (function, shape) = (launch.function(), launch.shape);
        // The room's sizes are small.
        self.launches.push(KeptLaunch { function, shape, after_end: after_end as u32, values_end: values_end as u32 });
        true
    }

    #[inline(never)]
    fn make_nodes(
        &mut self,
        device: &Arc<DeviceState<D>>,
        graph: &D::Graph,
        commands: &mut Dependencies<D::GraphNode>,
    ) -> Result<()> {
        let (mut made, mut begin) = (0, self.begin);
        // A plain launch has no more.
        let mut list = [core::ptr::null(); INLINE_ARGUMENTS];
        let mut several = Vec::new();
        let scope = device.enter()?;
        let result = self.launches.iter().try_for_each(|launch| {
            let end = (launch.after_end as usize, launch.values_end as usize);
            for (pointer, at) in list.iter_mut().zip(&self.values[begin.1..end.1]) {
                *pointer = self.words[*at as usize..].as_ptr().cast::<c_void>();
            }
            let node = NodeLaunch::new(launch.function, launch.shape, list.as_ptr());
            let after = commands.nodes_of(&self.after[begin.0..end.0], &mut several);
            let node = node.add_in(&scope, device, graph, after)?;
            commands.add_node(node);
            (made, begin) = (made + 1, end);
            Ok(())
        });
        drop(scope);
        if result.is_ok() {
            self.launches.clear();
            (self.after_end, self.values_end, self.words_end, self.begin) = (0, 0, 0, (0, 0));
        } else {
            self.launches.drain(..made);
            self.begin = begin;
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
