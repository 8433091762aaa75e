//! Words of pinned host memory that streams wait for, each with the value that it has now.
//!
//! A word counts up with each wait, so it serves the next one as soon as it was written. Who took a word holds the words and
//! nothing else of the device. The end of the native context waits for the streams, and so for everybody whom a stream
//! waits for; who comes later still, of a device that was lost, finds the words gone ([`PinnedWords::write_and_put`]).

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::device::native_context::{Parts, own_memory};
use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;

/// Bytes of pinned memory that words are cut from.
const PAGE: usize = 4096;

/// A device's words.
#[derive(Default)]
pub struct PinnedWords {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pages: Vec<usize>,
    free: Vec<PinnedWord>,
    /// Whether the words are gone.
    is_over: bool,
}

/// A word that a stream waits for, and the value that it has now.
#[derive(Clone, Copy)]
pub struct PinnedWord {
    /// Where it lies.
    pub address: usize,
    /// Its value.
    pub value: u32,
}

impl PinnedWord {
    /// The same word when its next wait has ended.
    #[must_use]
    pub fn next(self) -> Self {
        Self { value: self.value.wrapping_add(1), ..self }
    }

    fn write(self) {
        let word = core::ptr::with_exposed_provenance_mut::<u32>(self.address);
        // SAFETY: an aligned word of a page, which is not freed before `PinnedWords::end` or before all words are back.
        unsafe { AtomicU32::from_ptr(word) }.store(self.value, Ordering::Release);
    }
}

impl PinnedWords {
    /// A word that nobody uses.
    ///
    /// # Errors
    /// What the native library answers to new memory.
    pub fn take<D: Driver>(&self, native: &Parts<D>) -> Result<PinnedWord> {
        if let Some(word) = self.state.lock().free.pop() {
            return Ok(word);
        }
        let page = native.allocate(MemoryKind::Host, PAGE)?;
        own_memory::add(page);
        let mut state = self.state.lock();
        state.pages.push(page);
        let words = (page..page + PAGE).step_by(size_of::<u32>()).map(|address| PinnedWord { address, value: 0 });
        for word in words {
            word.write();
            state.free.push(word);
        }
        state.free.pop().ok_or_else(|| ur_result_t::ERROR_OUT_OF_RESOURCES.into())
    }

    /// Takes a word back that no stream waits for, with the value that it had when it was taken.
    pub fn put(&self, word: PinnedWord) {
        self.state.lock().free.push(word);
    }

    /// Ends a stream's wait. The word is back before the application can see that, and written before anybody has it: the
    /// next wait's value must not be overwritten by this one's.
    pub fn write_and_put(&self, word: PinnedWord) {
        let mut state = self.state.lock();
        if !state.is_over {
            state.free.push(word);
            word.write();
        }
    }

    /// Whether there is any memory to give back.
    pub fn has_pages(&self) -> bool {
        !self.state.lock().pages.is_empty()
    }

    /// Takes the pages out if nobody uses any, for the caller to free when every stream has looked at its word.
    pub fn take_unused_pages(&self) -> Vec<usize> {
        let mut state = self.state.lock();
        if !state.is_over && state.free.len() < state.pages.len() * (PAGE / size_of::<u32>()) {
            return Vec::new();
        }
        state.free = Vec::new();
        core::mem::take(&mut state.pages)
    }

    /// No stream looks at a word any more, and nobody may write one: all pages can be taken out.
    pub fn end(&self) {
        self.state.lock().is_over = true;
    }
}
