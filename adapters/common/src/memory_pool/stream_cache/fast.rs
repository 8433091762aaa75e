//! What most programs do, in the fewest steps: a block of the pool that the stream has always used, for a command that waits
//! for nothing and of which nobody wants an event. The row of `urbench` that pays for it is `work: alloc + free 1 MiB`.
//!
//! Either the whole of it happens here or nothing does: `None` says that the usual way has to be gone, and nothing has
//! changed then. What is returned, counted and refused is the same on both ways.

use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::free_lists::block_size;
use crate::memory_pool::stream::PoolStream;
use crate::object::error::Result;
use crate::sync::unlikely::{likely_some, unlikely};

use crate::memory_pool::stream_cache::{PoolCache, StreamCache, come_back, count_out, forget_taken, set_out, take_out};

/// The mutation bugs lie on the usual way.
const IS_OFF: bool = cfg!(feature = "mutation");

/// The cache of the first pool, if the pool's blocks may be kept.
#[inline(always)]
fn first_that_keeps<D: Driver>(pools: &mut [Option<PoolCache<D>>]) -> Option<&mut PoolCache<D>> {
    match pools {
        [Some(cache_of_pool), ..] if cache_of_pool.keeps => Some(cache_of_pool),
        _ => None,
    }
}

impl<D: Driver, S: PoolStream<D>> StreamCache<D, S> {
    /// Puts a block into `out` for a command after which the stream needs to know of no other. `has_waited` says whether other streams may
    /// keep a block that the stream is ordered behind; the usual way looks there. The address comes through `out` because in the result the
    /// compiler stores it as two words and loads them as one, and that load waits for both stores.
    #[inline(always)]
    pub fn quick_take(
        &mut self,
        stream: &S,
        position: &mut u64,
        pool: u64,
        kind: MemoryKind,
        size: usize,
        has_waited: impl FnOnce() -> bool,
        out: &mut usize,
    ) -> Option<Result<()>> {
        if IS_OFF {
            return None;
        }
        let cache_of_pool = likely_some!(first_that_keeps(&mut self.pools));
        let backend = &*cache_of_pool.backend;
        if unlikely!(backend.pool != pool || backend.kind != kind || backend.zeroed) {
            return None;
        }
        if backend.keeps == 0 {
            // The free lists hold nothing.
            if unlikely!(backend.may_wait_now() || backend.hides_starts()) {
                return None;
            }
            *position += 1;
            let pointer = match backend.take(stream, size, 0) {
                Ok(pointer) => pointer,
                Err(error) => {
                    core::hint::cold_path();
                    return Some(Err(error));
                }
            };
            cache_of_pool.out += 1;
            set_out(&mut self.live, cache_of_pool, pointer, size);
            *out = pointer;
            return Some(Ok(()));
        }
        if let Some(pointer) = cache_of_pool.free_lists.take(likely_some!(block_size(size))) {
            count_out(cache_of_pool, size);
            if let Some(entry) = self.live.entry(pointer) {
                entry.set_out_again(size);
            }
            *out = pointer;
            return Some(Ok(()));
        }
        let others_may_keep = || has_waited() || backend.keepers.has_other(self.key);
        if unlikely!(backend.may_wait_now() || backend.hides_starts() || others_may_keep()) {
            return None;
        }
        *position += 1;
        let pointer = match backend.take(stream, size, backend.keeps) {
            Ok(pointer) => pointer,
            Err(error) => {
                core::hint::cold_path();
                return Some(Err(error));
            }
        };
        count_out(cache_of_pool, size);
        set_out(&mut self.live, cache_of_pool, pointer, size);
        *out = pointer;
        Some(Ok(()))
    }

    /// Frees a block that came through the first pool cache.
    #[inline(always)]
    pub fn quick_give(&mut self, stream: &S, position: &mut u64, pointer: usize) -> Option<Result<()>> {
        if IS_OFF {
            return None;
        }
        let cache_of_pool = likely_some!(first_that_keeps(&mut self.pools));
        let entry = likely_some!(self.live.entry(pointer));
        let size = likely_some!(entry.is_out_of(cache_of_pool.owner));
        let keeps = cache_of_pool.backend.keeps;
        if keeps == 0 {
            if unlikely!(cache_of_pool.backend.hides_starts()) {
                return None;
            }
            // From the native call on the address may be somebody else's.
            take_out::<D>(entry);
            *position += 1;
            if let Err(error) = cache_of_pool.backend.give_back(stream, *position, pointer, size, 0) {
                core::hint::cold_path();
                entry.set_out(size, cache_of_pool.owner);
                return Some(Err(error));
            }
            forget_taken::<D>(entry);
            cache_of_pool.out -= 1;
            return Some(Ok(()));
        }
        let bytes = likely_some!(block_size(size));
        if bytes > keeps {
            if unlikely!(cache_of_pool.backend.hides_starts()) {
                return None;
            }
            take_out::<D>(entry);
            *position += 1;
            if let Err(error) = cache_of_pool.backend.give_back(stream, *position, pointer, size, keeps) {
                core::hint::cold_path();
                entry.set_out(size, cache_of_pool.owner);
                return Some(Err(error));
            }
            forget_taken::<D>(entry);
        } else if cache_of_pool.free_lists.has_room(bytes, keeps) {
            cache_of_pool.free_lists.keep(bytes, pointer, *position);
            entry.set_kept_again(bytes);
        } else {
            core::hint::cold_path();
            return None;
        }
        come_back(cache_of_pool, size);
        Some(Ok(()))
    }
}
