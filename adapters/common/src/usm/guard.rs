//! Plain memory in debug mode (`UR_USM_POOL_DEBUG=1`): guards before and behind, and freed memory that is filled.
//!
//! The application's bytes lie inside of a block, between bytes that nobody may write. Those are looked at when the memory is
//! freed. Freed memory is filled with a pattern, so that who still reads it sees what is no value of his, and looked at when it
//! is used again. What was written is an error in the log, or on standard error where nobody listens, that names the memory, who
//! asked for it, and who freed it; the call succeeds all the same. Every such step waits for the device, so this is no mode for
//! measuring.

use crate::driver::Driver;
use crate::memory_pool::plain::guarded::{Filled, Guarded};
use crate::memory_pool::plain::label::Label;
use crate::memory_pool::plain::{BlockRequest, Heap, Make, PAGE, size_class};
use crate::object::error::Result;
use crate::object::log;
use ur_ffi::ur_logger_level_t;

/// Bytes of the guard behind.
const BEHIND: usize = 64;

/// Bytes of the guard before small memory, unless its alignment wants more.
const BEFORE: usize = 256;

/// What a guard is filled with.
const GUARD: u8 = 0xfd;

/// What freed memory is filled with.
const FREED: u8 = 0xdd;

/// Bytes that are looked at in one go.
const PIECE: usize = 1 << 20;

/// Memory between guards; `name` is who asks. `None` for what the heap does not serve.
///
/// # Errors
/// Those of `make`; what the native library answers to writing the guards.
#[cold]
pub fn take<D: Driver>(
    heap: &Heap<D>,
    name: &'static str,
    size: usize,
    align: usize,
    make: Make<'_>,
) -> Option<Result<usize>> {
    // Memory of a page or more begins with one, as it does without guards: advice is about pages.
    let least = if size < PAGE { BEFORE } else { PAGE.min(size_class::MOST_ALIGNED) };
    let before = align.max(least);
    let whole = size.checked_add(before + BEHIND)?;
    let block = match heap.take(BlockRequest { size: whole, align: before, is_internal: true }, make)? {
        Ok(block) => block,
        Err(error) => return Some(Err(error)),
    };
    if let Some(filled) = heap.take_filled(block) {
        look_at_freed(heap, block, &filled);
    }
    let start = block + before;
    let armed = fill(heap, block, GUARD, before).and_then(|()| fill(heap, start + size, GUARD, BEHIND));
    if let Err(error) = armed {
        if let Some(live) = heap.claim(block, true) {
            // The failure that led here is the one to tell.
            drop(heap.give_back(live.start, live.label));
        }
        return Some(Err(error));
    }
    heap.expose(start, Guarded { block, size, by: format!("{name} on {}", thread()) });
    Some(Ok(start))
}

/// Frees memory that was taken off the live blocks: reports guards that were changed, and fills all of it.
///
/// # Errors
/// As [`Heap::give_back`].
#[cold]
pub fn give_back<D: Driver>(heap: &Heap<D>, start: usize, label: Label) -> Result<()> {
    let Some(guarded) = heap.conceal(start) else { return heap.give_back(start, label) };
    let Guarded { block, size, by } = &guarded;
    let end = start + size;
    let report = |what: &str, at: usize| {
        tell(|| {
            let kind = heap.kind();
            format!(
                "urUSMFree on {}: {kind} memory at {start:#x}, {size} bytes of {by}, was written {what} at {at:#x}",
                thread()
            )
        });
    };
    match changed(heap, *block, start - block, GUARD) {
        Ok(Some((_, last))) => report("before its beginning, last", last),
        Ok(None) => {}
        Err(error) => log::warning(|| format!("urUSMFree: the guard of {:#x} cannot be read: {error}", start)),
    }
    // A device that is lost answers so to the free.
    if let Ok(Some((first, _))) = changed(heap, end, BEHIND, GUARD) {
        report("beyond its end, first", first);
    }
    let bytes = end + BEHIND - block;
    // What cannot be filled is freed all the same.
    if fill(heap, *block, FREED, bytes).is_ok() {
        heap.note_filled(*block, Filled { bytes, by: format!("urUSMFree on {}", thread()) });
    }
    match heap.claim(*block, true) {
        Some(own) => heap.give_back(own.start, own.label),
        None => Ok(()),
    }
}

/// Reports memory that was written since it was freed.
fn look_at_freed<D: Driver>(heap: &Heap<D>, block: usize, filled: &Filled) {
    for start in (block..block + filled.bytes).step_by(PIECE) {
        let bytes = PIECE.min(block + filled.bytes - start);
        if let Ok(Some((first, _))) = changed(heap, start, bytes, FREED) {
            let (kind, by) = (heap.kind(), &filled.by);
            tell(|| format!("{kind} memory at {block:#x} was written after it was freed by {by}, first at {first:#x}"));
            return;
        }
    }
}

/// The calling thread in the system's words: it is the application's, whose own Rust, if it has any, is not this one.
fn thread() -> String {
    let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
    let link = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    let number = link.file_name().unwrap_or_default().to_string_lossy();
    format!("thread {number} ({})", name.trim_end())
}

fn tell(text: impl FnOnce() -> String) {
    log::complain(ur_logger_level_t::ERROR, text);
}

/// The first and the last byte of a range that are not what they were filled with.
fn changed<D: Driver>(heap: &Heap<D>, start: usize, size: usize, byte: u8) -> Result<Option<(usize, usize)>> {
    let bytes = read(heap, start, size, byte)?;
    let other = |known: &u8| *known != byte;
    let (first, last) = (bytes.iter().position(other), bytes.iter().rposition(other));
    Ok(first.zip(last).map(|(first, last)| (start + first, start + last)))
}

fn fill<D: Driver>(heap: &Heap<D>, address: usize, byte: u8, size: usize) -> Result<()> {
    let Some(native) = heap.native() else { return Ok(()) };
    native.on_scratch_stream(|stream| {
        let _scope = native.enter()?;
        // SAFETY: the bytes are a block's that nobody uses, or its guard; this waits until they are written.
        unsafe { native.driver.fill_async(address, 1, u32::from(byte), size, stream) }?;
        native.driver.synchronize_stream(stream)
    })
}

/// Bytes of a block, or what they would be where the context is gone.
fn read<D: Driver>(heap: &Heap<D>, address: usize, size: usize, otherwise: u8) -> Result<Vec<u8>> {
    let mut bytes = vec![otherwise; size];
    let Some(native) = heap.native() else { return Ok(bytes) };
    let to = bytes.as_mut_ptr().expose_provenance();
    native.on_scratch_stream(|stream| {
        let _scope = native.enter()?;
        // SAFETY: the block is that long and so is what is written, which lives until this has waited.
        unsafe { native.driver.copy_async(to, address, size, stream) }?;
        native.driver.synchronize_stream(stream)
    })?;
    Ok(bytes)
}
