//! Plain memory in debug mode (`UR_USM_POOL_DEBUG=1`): guards behind blocks, and freed blocks that are filled.
//!
//! Each block ends with a few bytes that nobody may write. They are looked at when the block is freed; if they were changed, an
//! error is logged with the address, and the block is freed all the same. A freed block is filled with a pattern, so that
//! who still reads it sees what is no value of his. Every such step waits for the device, so this is no mode for measuring.

use crate::driver::Driver;
use crate::memory_pool::plain::{Heap, Live};
use crate::object::error::Result;
use crate::object::log;
use ur_ffi::ur_logger_level_t;

/// Bytes of a guard.
pub const BYTES: usize = 64;

/// What a guard is filled with.
const GUARD: u8 = 0xfd;

/// What a freed block is filled with.
const FREED: u8 = 0xdd;

/// Writes the guard of a new block of `size` bytes.
///
/// # Errors
/// What the native library answers; the block goes back then.
#[cold]
pub fn arm<D: Driver>(heap: &Heap<D>, block: usize, size: usize) -> Result<()> {
    fill(heap, block + size, GUARD, BYTES).inspect_err(|_| {
        if let Some(live) = heap.claim(block, false) {
            // The failure that led here is the one to tell.
            drop(heap.give_back(live.start, live.label));
        }
    })
}

/// Frees a block that was taken off the live blocks: reports a guard that was changed, and fills the block.
///
/// # Errors
/// As [`Heap::give_back`].
#[cold]
pub fn give_back<D: Driver>(heap: &Heap<D>, live: Live) -> Result<()> {
    let Live { start, size, label } = live;
    match read(heap, start + size) {
        Ok(guard) => {
            if let Some(at) = guard.iter().position(|byte| *byte != GUARD) {
                log::write(ur_logger_level_t::ERROR, || {
                    format!(
                        "urUSMFree: {:?} memory at {start:#x} was written beyond its {size} bytes, first at {:#x}",
                        heap.kind(),
                        start + size + at
                    )
                });
            }
        }
        // A device that is lost answers so to the free.
        Err(error) => log::warning(|| format!("urUSMFree: the guard of {start:#x} cannot be read: {error}")),
    }
    // What cannot be filled is freed all the same.
    let _ = fill(heap, start, FREED, size);
    heap.give_back(start, label)
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

fn read<D: Driver>(heap: &Heap<D>, address: usize) -> Result<[u8; BYTES]> {
    let mut bytes = [GUARD; BYTES];
    let Some(native) = heap.native() else { return Ok(bytes) };
    let to = bytes.as_mut_ptr().expose_provenance();
    native.on_scratch_stream(|stream| {
        let _scope = native.enter()?;
        // SAFETY: a guard is that long and so is what is written, which lives until this has waited.
        unsafe { native.driver.copy_async(to, address, BYTES, stream) }?;
        native.driver.synchronize_stream(stream)
    })?;
    Ok(bytes)
}
