//! What most programs do, in the fewest steps: a block of the pool that the stream has always used, for a command that waits
//! for nothing and of which nobody wants an event.
//!
//! Either the whole of it happens here or nothing does: `None` says that the usual way has to be gone, and nothing has
//! changed then. What is handed out, counted and refused is the same on both ways.

use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;
use crate::pool::free_lists::block_size;
use crate::stream::Stream;

use crate::pool::stream_cache::{StreamCache, come_back, return_event, set_out};

/// The mutation bugs lie on the usual way.
const IS_OFF: bool = cfg!(feature = "mutation");

impl<D: Driver> StreamCache<D> {
    /// A block for a command after which the stream needs to know of no other.
    #[inline(always)]
    pub fn quick_take(
        &mut self,
        stream: &Stream<D>,
        sequence: &mut u64,
        pool: u64,
        kind: MemoryKind,
        size: usize,
    ) -> Option<Result<usize>> {
        if IS_OFF {
            return None;
        }
        let slot = self.slots.first_mut()?.as_mut().filter(|slot| slot.keeps)?;
        let source = &*slot.source;
        if source.pool != pool || source.kind != kind || source.zeroed {
            return None;
        }
        let kept = if source.keeps > 0 { slot.free_lists.take(block_size(size)?) } else { None };
        let pointer = match kept {
            Some(pointer) => pointer,
            None if source.may_wait_now() || source.hides_starts() => return None,
            None => {
                *sequence += 1;
                match source.take(stream, size) {
                    Ok(pointer) => pointer,
                    Err(error) => return Some(Err(error)),
                }
            }
        };
        return_event(slot, size);
        set_out(&mut self.live, slot, pointer, size);
        Some(Ok(pointer))
    }

    /// Frees a block that came through the first slot.
    #[inline(always)]
    pub fn quick_give(&mut self, stream: &Stream<D>, sequence: &mut u64, pointer: usize) -> Option<Result<()>> {
        if IS_OFF {
            return None;
        }
        let slot = self.slots.first_mut()?.as_mut().filter(|slot| slot.keeps)?;
        let entry = self.live.entry(pointer)?;
        let size = entry.is_out_of(slot.owner)?;
        let bytes = block_size(size)?;
        let keeps = slot.source.keeps;
        if bytes > keeps {
            if slot.source.hides_starts() {
                return None;
            }
            // From the native call on the address may be somebody else's.
            entry.clear();
            *sequence += 1;
            if let Err(error) = slot.source.give_back(stream, *sequence, pointer, size) {
                entry.set_out(size, slot.owner);
                return Some(Err(error));
            }
        } else if slot.free_lists.has_room(bytes, keeps) {
            slot.free_lists.keep(bytes, pointer);
            entry.set_kept(bytes, slot.owner);
        } else {
            return None;
        }
        come_back(slot, size);
        Some(Ok(()))
    }
}
