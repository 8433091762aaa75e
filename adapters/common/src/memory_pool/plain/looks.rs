//! When a heap that keeps too much looks for what it can give back.
//!
//! Freed blocks among live ones hold their native memory, so a look may find nothing, and it goes through all that is kept. A
//! heap that looked at each stack of freed blocks would take time by the square of what it keeps. So after a look that found
//! too little the next one comes when an eighth more is kept, or an eighth of what was live has been freed: more than at that look,
//! or at any time since, as what was found to be in the way may have been used again. Plain numbers, which may be a little old;
//! nothing here looks itself.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Figures;

/// What there must be for the next look.
pub struct Looks {
    /// More bytes that are kept than these,
    above: AtomicUsize,
    /// or fewer live ones.
    below: AtomicUsize,
}

impl Default for Looks {
    fn default() -> Self {
        Self { above: AtomicUsize::new(0), below: AtomicUsize::new(usize::MAX) }
    }
}

impl Looks {
    /// Whether a look may find enough of what is kept beyond the bound.
    pub fn are_due(&self, figures: Figures, bound: usize) -> bool {
        let (above, below) = (self.above.load(Ordering::Relaxed), self.below.load(Ordering::Relaxed));
        if figures.kept() > above || figures.live < below {
            return figures.kept() > bound;
        }
        let (least, most) = next(figures);
        if least < above || most > below {
            self.above.store(least.min(above), Ordering::Relaxed);
            self.below.store(most.max(below), Ordering::Relaxed);
        }
        false
    }

    /// Notes a look after which these are the figures.
    pub fn note(&self, figures: Figures, bound: usize) {
        let (above, below) = if figures.kept() > bound { next(figures) } else { (0, usize::MAX) };
        self.above.store(above, Ordering::Relaxed);
        self.below.store(below, Ordering::Relaxed);
    }
}

/// What must be kept, or live, for the look behind one that found these.
fn next(figures: Figures) -> (usize, usize) {
    let (kept, live) = (figures.kept(), figures.live);
    (kept + kept / 8, live - live / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 1024;
    const BOUND: usize = 1 << 20;

    /// Frees so many of the blocks, one stack after the other, and finds nothing. Gives the blocks that were looked at.
    fn cost(blocks: usize, freed: usize) -> usize {
        let looks = Looks::default();
        let mut figures = Figures { reserved: blocks * BLOCK, live: blocks * BLOCK };
        let mut seen = 0;
        for _ in 0..freed / 64 {
            figures.live -= 64 * BLOCK;
            if looks.are_due(figures, BOUND) {
                seen += figures.kept() / BLOCK;
                looks.note(figures, BOUND);
            }
        }
        seen
    }

    #[test]
    fn looks_that_find_nothing_cost_a_free_as_much_among_many_blocks_as_among_few() {
        let (few, many) = (cost(20_000, 10_000) / 10_000, cost(2_000_000, 1_000_000) / 1_000_000);
        assert!(
            few > 0 && many <= few + 16,
            "{many} blocks are looked at for each free of a million, {few} of ten thousand"
        );
    }

    #[test]
    fn the_last_live_blocks_are_looked_for_however_few_they_are_beside_those_that_are_kept() {
        let looks = Looks::default();
        let reserved = 1 << 30;
        let figures = |live| Figures { reserved, live };
        assert!(looks.are_due(figures(16 << 20), BOUND));
        looks.note(figures(16 << 20), BOUND);
        assert!(!looks.are_due(figures(15 << 20), BOUND));
        assert!(looks.are_due(figures(13 << 20), BOUND) && looks.are_due(figures(0), BOUND));
    }

    #[test]
    fn what_was_kept_at_a_look_and_used_again_is_looked_for_when_it_is_freed() {
        let looks = Looks::default();
        let figures = |live: usize| Figures { reserved: 1 << 30, live };
        looks.note(figures(16 << 20), BOUND);
        for live in [512 << 20, 1020 << 20, 1 << 30] {
            assert!(!looks.are_due(figures(live), BOUND), "{live} of it are used again");
        }
        assert!(looks.are_due(figures(800 << 20), BOUND), "a fifth of it is freed");
    }

    #[test]
    fn a_heap_that_goes_to_its_bound_and_back_looks_no_more_often_than_by_eighths() {
        let looks = Looks::default();
        let figures = |kept: usize| Figures { reserved: kept + (8 << 20), live: 8 << 20 };
        looks.note(figures(BOUND + 1), BOUND);
        for kept in [BOUND - 1, BOUND + 1, BOUND - 64, BOUND + 64] {
            assert!(!looks.are_due(figures(kept), BOUND), "{kept} are kept");
        }
    }

    #[test]
    fn a_look_that_found_enough_is_forgotten_and_what_is_within_the_bound_is_not_looked_for() {
        let looks = Looks::default();
        let figures = |kept: usize| Figures { reserved: kept + (8 << 20), live: 8 << 20 };
        assert!(!looks.are_due(figures(BOUND), BOUND) && looks.are_due(figures(BOUND + 1), BOUND));
        looks.note(figures(4 * BOUND), BOUND);
        assert!(!looks.are_due(figures(4 * BOUND), BOUND) && looks.are_due(figures(5 * BOUND), BOUND));
        looks.note(figures(BOUND / 2), BOUND);
        assert!(looks.are_due(figures(BOUND + 1), BOUND));
    }
}
