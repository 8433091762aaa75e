//! Signals that are noted and not submitted yet, each with the signal that it comes behind.
//!
//! Of one that is not submitted after all nothing stays: the last signal is the one before it, and so it is for whoever came behind it.

/// Of one timeline, in this process.
#[derive(Default)]
pub(super) struct Reservations(Vec<Reservation>);

struct Reservation {
    value: u64,
    before: u64,
}

impl Reservations {
    /// Notes a signal that is about to be submitted, behind that one.
    pub(super) fn add(&mut self, value: u64, before: u64) {
        self.0.push(Reservation { value, before });
    }

    /// Notes that a signal was submitted.
    pub(super) fn end(&mut self, value: u64) {
        self.0.retain(|open| open.value != value);
    }

    /// Takes back a signal that was not submitted; gives the one before it.
    pub(super) fn take_back(&mut self, value: u64) -> Option<u64> {
        let at = self.0.iter().position(|open| open.value == value)?;
        let before = self.0.swap_remove(at).before;
        self.0.iter_mut().filter(|later| later.before == value).for_each(|later| later.before = before);
        Some(before)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn two() -> Reservations {
        let mut open = Reservations::default();
        open.add(5, 3);
        open.add(7, 5);
        open
    }

    #[test]
    fn behind_a_signal_that_was_taken_back_comes_the_one_before_it() {
        let mut open = two();
        assert_eq!((open.take_back(5), open.take_back(7)), (Some(3), Some(3)));
        let mut open = two();
        assert_eq!((open.take_back(7), open.take_back(5)), (Some(5), Some(3)));
    }

    #[test]
    fn behind_a_signal_that_was_submitted_it_stays() {
        let mut open = two();
        open.end(5);
        assert_eq!((open.take_back(7), open.take_back(5)), (Some(5), None));
    }
}
