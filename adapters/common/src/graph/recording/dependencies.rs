//! Sync points: what a command of a buffer comes after.
//!
//! Each command ends with one node of the native graph, and its sync point is the number of that node. The edges into a
//! command are exactly the sync points that the caller named, each once; in a buffer that runs in order the command before
//! is the only one. Nothing is searched: a sync point is an index, so a list costs as much as it is long.
//!
//! Nodes are made in the commands' order and may be made later than their commands are appended
//! ([`super::launch_batch`]), so what a command comes after is kept as indices until somebody makes its node.
//!
//! A sync point carries a mark of its buffer in its upper bits, so that nearly every number of another buffer's is refused.

use std::sync::atomic::{AtomicU32, Ordering};

use ur_ffi::{ur_exp_command_buffer_sync_point_t, ur_result_t};

use crate::object::error::{Error, Result};
use crate::object::params;
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

/// Bits of a sync point that say which command it is.
const INDEX_BITS: u32 = 24;
/// The most commands that a buffer has.
const MOST_COMMANDS: u32 = 1 << INDEX_BITS;

/// The sync points that a command was told to come after: the caller's own list.
#[derive(Clone, Copy)]
pub struct SyncPoints<'a> {
    points: &'a [ur_exp_command_buffer_sync_point_t],
}

impl<'a> SyncPoints<'a> {
    /// Checks a list against its length.
    ///
    /// # Safety
    /// The C contract: `points` is null or holds `count` sync points, which nobody changes during `'a`.
    ///
    /// # Errors
    /// `INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP` when list and count contradict each other.
    #[inline(always)]
    pub unsafe fn new(
        parameter: &'static str,
        count: u32,
        points: *const ur_exp_command_buffer_sync_point_t,
    ) -> Result<Self> {
        let code = ur_result_t::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP;
        params::list_or_none(parameter, count, points, code)?;
        // SAFETY: the caller's promise is the same.
        Ok(Self { points: unsafe { params::optional_slice(parameter, count, points) }? })
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.points.len()
    }
}

/// What a command comes after. Most come after one command or none, of which no list is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// No command.
    Nothing,
    /// The command of that index.
    One(u32),
    /// Several, which [`Dependencies::several`] has until the next list is read.
    Several,
}

/// The commands of a buffer, by their sync points.
pub struct Dependencies<N> {
    /// The nodes that commands end with, in the commands' order. The last commands may have none yet.
    nodes: Vec<N>,
    /// How many commands there are.
    commands: u32,
    is_in_order: bool,
    mark: u32,
    /// The commands that the next one comes after where the list is of several points, each once.
    several: Vec<u32>,
    /// Room for their nodes.
    nodes_before: Vec<N>,
    /// How many lists of several points were read.
    lists: u64,
    /// For each command the last such list that named it, to which it is not told twice. As long as such a list needed it.
    named_by: Vec<u64>,
}

impl<N: Copy> Dependencies<N> {
    /// Those of a new buffer.
    pub fn new(is_in_order: bool) -> Self {
        static BUFFERS: AtomicU32 = AtomicU32::new(0);
        let mark = BUFFERS.fetch_add(1, Ordering::Relaxed) << INDEX_BITS;
        Self {
            nodes: Vec::new(),
            commands: 0,
            is_in_order,
            mark,
            several: Vec::new(),
            nodes_before: Vec::new(),
            lists: 0,
            named_by: Vec::new(),
        }
    }

    /// Reads which commands the next one comes after, for a launch whose node may come later.
    ///
    /// # Errors
    /// `INVALID_COMMAND_BUFFER_SYNC_POINT_EXP` for a number that is no sync point of this buffer; `OUT_OF_RESOURCES` for a
    /// buffer that is full.
    #[inline(always)]
    pub fn read(&mut self, named: SyncPoints<'_>) -> Result<After> {
        if unlikely!(self.commands == MOST_COMMANDS) {
            return Err(full());
        }
        let named = match *named.points {
            [] => After::Nothing,
            // Named once, so there is nothing to compare.
            [point] => After::One(self.index_of(point)?),
            _ => self.read_several(named.points)?,
        };
        let after = match (self.is_in_order, self.commands.checked_sub(1)) {
            (false, _) => named,
            (true, Some(last)) => After::One(last),
            (true, None) => After::Nothing,
        };
        if mutation::is(mutation::Bug::GraphMissingEdge) {
            return Ok(self.without_last(after));
        }
        Ok(after)
    }

    #[inline(never)]
    fn read_several(&mut self, points: &[ur_exp_command_buffer_sync_point_t]) -> Result<After> {
        self.lists += 1;
        self.named_by.resize(self.commands as usize, 0);
        self.several.clear();
        for &point in points {
            let index = self.index_of(point)?;
            let named_by = &mut self.named_by[index as usize];
            if *named_by != self.lists {
                *named_by = self.lists;
                self.several.push(index);
            }
        }
        Ok(After::Several)
    }

    /// The bug of one edge that is missing.
    #[cold]
    fn without_last(&mut self, after: After) -> After {
        if after == After::Several {
            self.several.pop();
            return after;
        }
        After::Nothing
    }

    /// The command of a sync point.
    #[inline(always)]
    fn index_of(&self, point: ur_exp_command_buffer_sync_point_t) -> Result<u32> {
        let index = point ^ self.mark;
        if unlikely!(index >= self.commands) {
            return Err(unknown(point));
        }
        Ok(index)
    }

    /// Reads the nodes that the next command comes after. No command is without its node now. Long lists have their nodes in one
    /// pass (`urbench`'s row "recording 10000 kernels over 100 times 100").
    ///
    /// # Errors
    /// As [`Dependencies::read`].
    #[inline]
    pub fn read_nodes(&mut self, named: SyncPoints<'_>) -> Result<&[N]> {
        let is_plain = named.points.len() < 2 || self.is_in_order || self.commands == MOST_COMMANDS;
        if is_plain || mutation::is(mutation::Bug::GraphMissingEdge) {
            return Ok(match self.read(named)? {
                After::Nothing => &[],
                After::One(index) => core::slice::from_ref(&self.nodes[index as usize]),
                After::Several => nodes_of(&self.nodes, &self.several, &mut self.nodes_before),
            });
        }
        self.lists += 1;
        self.named_by.resize(self.commands as usize, 0);
        let (named_by, nodes) = (&mut self.named_by[..], &self.nodes[..self.commands as usize]);
        self.nodes_before.clear();
        self.nodes_before.reserve(named.points.len());
        for &point in named.points {
            let index = (point ^ self.mark) as usize;
            let Some(named_by) = named_by.get_mut(index) else { return Err(unknown(point)) };
            if *named_by != self.lists {
                *named_by = self.lists;
                self.nodes_before.push(nodes[index]);
            }
        }
        Ok(&self.nodes_before)
    }

    /// The commands that [`Dependencies::read`] found where it answered [`After::Several`].
    pub fn several(&self) -> &[u32] {
        &self.several
    }

    /// The node of a command, which has one.
    #[inline(always)]
    pub fn node_of(&self, command: u32) -> &N {
        &self.nodes[command as usize]
    }

    /// The nodes of some commands, which have theirs.
    pub fn nodes_of<'n>(&self, commands: &[u32], room: &'n mut Vec<N>) -> &'n [N] {
        nodes_of(&self.nodes, commands, room)
    }

    /// Makes room for the nodes of all commands that have none.
    pub fn reserve_nodes(&mut self) {
        self.nodes.reserve(self.commands as usize - self.nodes.len());
    }

    /// Notes the node that a new command ends with; gives its sync point. No command is without its node now.
    #[inline]
    pub fn add(&mut self, node: N) -> ur_exp_command_buffer_sync_point_t {
        self.add_node(node);
        self.add_without_node()
    }

    /// Notes a new command, whose node comes later; gives its sync point.
    #[inline]
    pub fn add_without_node(&mut self) -> ur_exp_command_buffer_sync_point_t {
        let index = self.commands;
        // Not more than `MOST_COMMANDS`, since its list was read.
        self.commands += 1;
        self.mark ^ index
    }

    /// Notes the node of the first command that has none.
    #[inline]
    pub fn add_node(&mut self, node: N) {
        self.nodes.push(node);
    }
}

fn nodes_of<'n, N: Copy>(nodes: &[N], commands: &[u32], room: &'n mut Vec<N>) -> &'n [N] {
    room.clear();
    room.extend(commands.iter().map(|&index| nodes[index as usize]));
    room
}

#[cold]
fn unknown(point: ur_exp_command_buffer_sync_point_t) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
        format!(
            "pSyncPointWaitList: {point:#x} is no sync point of this command buffer; give what its append functions returned"
        ),
    )
}

#[cold]
fn full() -> Error {
    Error::new(
        ur_result_t::ERROR_OUT_OF_RESOURCES,
        format!("a command buffer has at most {MOST_COMMANDS} commands; record the others in another one"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(buffer: &mut Dependencies<char>, points: &[u32]) -> Result<Vec<char>> {
        buffer.read_nodes(SyncPoints { points }).map(<[_]>::to_vec)
    }

    #[test]
    fn a_command_comes_after_the_named_sync_points_each_once_and_after_nothing_else() {
        let mut buffer = Dependencies::new(false);
        assert_eq!(before(&mut buffer, &[]).unwrap(), []);
        let a = buffer.add('a');
        let b = buffer.add('b');
        assert_eq!(before(&mut buffer, &[]).unwrap(), []);
        assert_eq!(before(&mut buffer, &[b, a, b, b, a]).unwrap(), ['b', 'a']);
        let c = buffer.add('c');
        assert_eq!(before(&mut buffer, &[a]).unwrap(), ['a']);
        assert_eq!(before(&mut buffer, &[c, c]).unwrap(), ['c']);
    }

    #[test]
    fn a_list_that_failed_is_read_anew() {
        let mut buffer = Dependencies::new(false);
        let (a, other) = (buffer.add('a'), Dependencies::new(false).add('x'));
        assert!(before(&mut buffer, &[a, other]).is_err());
        for _ in 0..2 {
            assert_eq!(before(&mut buffer, &[a, a]).unwrap(), ['a']);
        }
    }

    #[test]
    fn in_order_the_command_before_is_the_only_edge() {
        let mut buffer = Dependencies::new(true);
        assert_eq!(before(&mut buffer, &[]).unwrap(), []);
        let a = buffer.add('a');
        assert_eq!(before(&mut buffer, &[a]).unwrap(), ['a']);
        buffer.add('b');
        assert_eq!(before(&mut buffer, &[a, a]).unwrap(), ['b']);
        assert_eq!(before(&mut buffer, &[]).unwrap(), ['b']);
    }

    #[test]
    fn a_command_may_come_after_one_whose_node_is_made_later() {
        let mut buffer = Dependencies::new(false);
        let a = buffer.add('a');
        let (b, c) = (buffer.add_without_node(), buffer.add_without_node());
        assert_eq!(buffer.read(SyncPoints { points: &[b] }).unwrap(), After::One(1));
        assert_eq!(buffer.read(SyncPoints { points: &[] }).unwrap(), After::Nothing);
        assert_eq!(buffer.read(SyncPoints { points: &[c, a, c, b] }).unwrap(), After::Several);
        assert_eq!(buffer.several(), [2, 0, 1]);
        buffer.add_node('b');
        buffer.add_node('c');
        assert_eq!(*buffer.node_of(1), 'b');
        assert_eq!(buffer.nodes_of(&[2, 0, 1], &mut Vec::new()), ['c', 'a', 'b']);
        assert_eq!(before(&mut buffer, &[b]).unwrap(), ['b']);
        let d = buffer.add('d');
        assert_eq!(before(&mut buffer, &[d, c]).unwrap(), ['d', 'c']);
    }

    #[test]
    fn sync_points_of_no_command_and_of_another_buffer_are_refused() {
        let (mut one, mut other) = (Dependencies::new(false), Dependencies::new(true));
        let (a, x) = (one.add('a'), other.add('x'));
        for wrong in [x, a ^ 1, u32::MAX] {
            let code = before(&mut one, &[a, wrong]).unwrap_err().code();
            assert_eq!(code, ur_result_t::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP, "{wrong:#x}");
        }
        assert!(before(&mut other, &[a]).is_err());
    }
}
