//! Words of pinned host memory that streams wait for, each with the value that it has now.
//!
//! A word counts up with each wait, so it serves the next one as soon as it was written. One that has counted to [`LAST`] serves
//! nobody any more: libraries do not agree how they compare larger values. Who took a word holds the words and
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

/// The largest value of a word. Up to here all libraries compare alike: CUDA in a circle, AMD's kernel without a sign
/// (`docs/native-facts.md`).
const LAST: u32 = i32::MAX as u32;

/// A device's words.
#[derive(Default)]
pub struct PinnedWords {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pages: Vec<usize>,
    free: Vec<PinnedWord>,
    /// How many words of the pages have reached [`LAST`].
    used_up: usize,
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
        Self { value: self.value + 1, ..self }
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
            if word.value < LAST {
                state.free.push(word);
            } else {
                state.used_up += 1;
            }
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
        let unused = state.free.len() + state.used_up;
        if !state.is_over && unused < state.pages.len() * (PAGE / size_of::<u32>()) {
            return Vec::new();
        }
        (state.free, state.used_up) = (Vec::new(), 0);
        core::mem::take(&mut state.pages)
    }

    /// No stream looks at a word any more, and nobody may write one: all pages can be taken out.
    pub fn end(&self) {
        self.state.lock().is_over = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of one word that is free, and words that are in use.
    fn words(page: &mut [u32], value: u32) -> PinnedWords {
        let address = page.as_mut_ptr().expose_provenance();
        let free = vec![PinnedWord { address, value }];
        PinnedWords { state: Mutex::new(State { pages: vec![address], free, ..State::default() }) }
    }

    #[test]
    fn a_word_that_was_written_serves_the_next_wait_until_its_value_would_be_less_than_before_to_some_library() {
        let mut page = [0; PAGE / size_of::<u32>()];
        let words = words(&mut page, LAST - 2);
        let mut waits = 0;
        let mut last = LAST - 2;
        while let Some(word) = { words.state.lock().free.pop() } {
            let next = word.next();
            let (value, before) = (next.value, word.value);
            assert!(value > before && value as i32 > before as i32, "a wait for {value} of a word that is {before}");
            words.write_and_put(next);
            (waits, last) = (waits + 1, value);
        }
        assert_eq!((waits, page[0]), (2, last));
    }

    #[test]
    fn a_page_goes_though_some_of_its_words_are_used_up() {
        let mut page = [0; PAGE / size_of::<u32>()];
        let words = words(&mut page, 0);
        let first = { words.state.lock().free.pop() }.expect("a word");
        let at = |index: usize| first.address + index * size_of::<u32>();
        (1..page.len()).for_each(|index| words.put(PinnedWord { address: at(index), value: 0 }));
        assert!(words.take_unused_pages().is_empty(), "a word is in use");
        words.write_and_put(PinnedWord { value: LAST, ..first });
        assert_eq!(words.take_unused_pages(), [first.address]);
        assert!(!words.has_pages() && words.state.lock().used_up == 0);
    }
}
