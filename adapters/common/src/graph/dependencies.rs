//! Sync points: what a command of a buffer comes after.
//!
//! Each command ends with one node of the native graph, and its sync point is the number of that node. The edges into a
//! command are exactly the sync points that the caller named, each once; in a buffer that runs in order the command before
//! is the only one. Nothing is searched: a sync point is an index, so a list costs as much as it is long.
//!
//! A sync point carries a mark of its buffer in its upper bits, so that nearly every number of another buffer's is refused.

use std::sync::atomic::{AtomicU32, Ordering};

use ur_ffi::{ur_exp_command_buffer_sync_point_t, ur_result_t};

use crate::object::error::{Error, Result};
use crate::object::params;
use crate::sync::mutation;

/// Bits of a sync point that say which command it is.
const INDEX_BITS: u32 = 24;
/// The most commands that a buffer has.
const MOST_COMMANDS: usize = 1 << INDEX_BITS;

/// The sync points that a command was told to come after: the caller's own list.
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
    #[inline]
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
}

/// One command as those behind it see it.
struct Point<N> {
    /// The node that it ends with.
    node: N,
    /// The last list that named it, to which it is not told twice.
    list: u64,
}

/// The commands of a buffer, by their sync points.
pub struct Dependencies<N> {
    points: Vec<Point<N>>,
    is_in_order: bool,
    mark: u32,
    /// How many lists were read.
    lists: u64,
    /// The nodes of the last one.
    before: Vec<N>,
}

impl<N: Copy> Dependencies<N> {
    /// Those of a new buffer.
    pub fn new(is_in_order: bool) -> Self {
        static BUFFERS: AtomicU32 = AtomicU32::new(0);
        let mark = BUFFERS.fetch_add(1, Ordering::Relaxed) << INDEX_BITS;
        Self { points: Vec::new(), is_in_order, mark, lists: 0, before: Vec::new() }
    }

    /// The nodes that the next command comes after.
    ///
    /// # Errors
    /// `INVALID_COMMAND_BUFFER_SYNC_POINT_EXP` for a number that is no sync point of this buffer; `OUT_OF_RESOURCES` for a
    /// buffer that is full.
    #[inline(always)]
    pub fn before_next(&mut self, named: &SyncPoints<'_>) -> Result<&[N]> {
        if self.points.len() == MOST_COMMANDS {
            return Err(full());
        }
        self.lists += 1;
        let before = &mut self.before;
        before.clear();
        for &point in named.points {
            let index = (point ^ self.mark) as usize;
            let Some(command) = self.points.get_mut(index) else { return Err(unknown(point)) };
            if command.list != self.lists {
                command.list = self.lists;
                before.push(command.node);
            }
        }
        if self.is_in_order {
            before.clear();
            before.extend(self.points.last().map(|last| last.node));
        }
        if mutation::is(mutation::Bug::GraphMissingEdge) {
            before.pop();
        }
        Ok(before)
    }

    /// Notes the node that a new command ends with; gives its sync point.
    #[inline]
    pub fn add(&mut self, node: N) -> ur_exp_command_buffer_sync_point_t {
        // Less than `MOST_COMMANDS`, since there were nodes before it.
        let index = self.points.len() as u32;
        self.points.push(Point { node, list: 0 });
        self.mark ^ index
    }
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
        buffer.before_next(&SyncPoints { points }).map(|nodes| nodes.to_vec())
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
