//! What most programs do, in the fewest steps: a block of the pool that the lane has always used, for a command that waits
//! for nothing and of which nobody wants an event.
//!
//! Either the whole of it happens here or nothing does: `None` says that the usual way has to be gone, and nothing has
//! changed then. What is handed out, counted and refused is the same on both ways.

use crate::driver::{Driver, MemoryKind};
use crate::error::Result;
use crate::lane::Lane;
use crate::pool::ledger::Out;
use crate::pool::magazine::block_size;

use super::{Slot, Stock, come_back, hand_out};

/// The planted bugs lie on the usual way.
const IS_OFF: bool = cfg!(feature = "planted");

impl<D: Driver> Stock<D> {
    /// The first slot, if nothing about it is special.
    #[inline]
    fn plain_slot(&mut self) -> Option<&mut Slot<D>> {
        if IS_OFF {
            return None;
        }
        self.slots.first_mut()?.as_mut().filter(|slot| slot.keeps)
    }

    /// A block for a command after which the lane needs to know of no other.
    #[inline(always)]
    pub fn quick_take(
        &mut self,
        lane: &Lane<D>,
        sequence: &mut u64,
        pool: u64,
        kind: MemoryKind,
        size: usize,
    ) -> Option<Result<usize>> {
        let slot = self.plain_slot()?;
        let source = &*slot.source;
        if source.pool != pool || source.kind != kind || source.zeroed {
            return None;
        }
        let kept = if source.keeps > 0 { slot.magazine.take(block_size(size)?) } else { None };
        let pointer = match kept {
            Some(pointer) => pointer,
            None if source.may_wait_now() => return None,
            None => {
                *sequence += 1;
                match source.take(lane, *sequence, size) {
                    Ok(pointer) => pointer,
                    Err(error) => return Some(Err(error)),
                }
            }
        };
        hand_out(slot, size);
        self.out.insert(pointer, Out { size, slot: 0 });
        Some(Ok(pointer))
    }

    /// Frees the block that was handed out last, if it is this one.
    #[inline(always)]
    pub fn quick_give(&mut self, lane: &Lane<D>, sequence: &mut u64, pointer: usize) -> Option<Result<()>> {
        let out = self.out.last_is(pointer).filter(|out| out.slot == 0)?;
        let slot = self.plain_slot()?;
        let bytes = block_size(out.size)?;
        let keeps = slot.source.keeps;
        if bytes > keeps {
            *sequence += 1;
            if let Err(error) = slot.source.give_back(lane, *sequence, pointer, out.size) {
                return Some(Err(error));
            }
        } else if slot.magazine.has_room(bytes, keeps) {
            slot.magazine.keep(bytes, pointer);
        } else {
            return None;
        }
        come_back(slot, out.size);
        self.out.forget_last();
        Some(Ok(()))
    }
}
