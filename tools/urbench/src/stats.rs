//! The few numbers that a row of rounds is told by. Medians and quartiles, because rounds on a shared machine have
//! outliers in one direction.

use serde::{Deserialize, Serialize};

/// A row of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Half of the rounds are below.
    pub median: f64,
    /// A quarter is below.
    pub lower: f64,
    /// A quarter is above.
    pub upper: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// All of them, in the order they were measured.
    pub rounds: Vec<f64>,
}

impl Summary {
    /// Of at least one round.
    pub fn of(rounds: Vec<f64>) -> Self {
        let mut sorted = rounds.clone();
        sorted.sort_by(f64::total_cmp);
        Self {
            median: quantile(&sorted, 0.5),
            lower: quantile(&sorted, 0.25),
            upper: quantile(&sorted, 0.75),
            min: quantile(&sorted, 0.0),
            max: quantile(&sorted, 1.0),
            rounds,
        }
    }

    /// Round by round: neighbours in time, which the machine treated alike.
    pub fn combine(&self, other: &Self, with: impl Fn(f64, f64) -> f64) -> Self {
        Self::of(self.rounds.iter().zip(&other.rounds).map(|(&a, &b)| with(a, b)).collect())
    }

    /// The rounds of both.
    pub fn with(&self, more: &Self) -> Self {
        Self::of(self.rounds.iter().chain(&more.rounds).copied().collect())
    }

    /// Every round changed alike.
    pub fn scale(&self, factor: f64) -> Self {
        Self::of(self.rounds.iter().map(|round| round * factor).collect())
    }

    /// Half the distance of the quartiles in percent of the median.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.upper - self.lower) / 2.0 / self.median.abs() * 100.0 }
    }
}

/// Between two neighbours if it falls there.
fn quantile(sorted: &[f64], at: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = at * last as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_quartiles_of_odd_and_even_rows() {
        let odd = Summary::of(vec![5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!((odd.min, odd.lower, odd.median, odd.upper, odd.max), (1.0, 2.0, 3.0, 4.0, 5.0));
        assert_eq!(odd.rounds, [5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!(Summary::of(vec![1.0, 2.0, 3.0, 10.0]).median, 2.5);
        assert_eq!(Summary::of(vec![7.0]).upper, 7.0);
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(Summary::of(vec![10.0, 11.0, 12.0, 13.0, 9000.0]).median, 12.0);
    }

    #[test]
    fn ratios_are_made_round_by_round() {
        let (ur, raw) = (Summary::of(vec![2.0, 40.0, 6.0]), Summary::of(vec![1.0, 20.0, 3.0]));
        let ratio = ur.combine(&raw, |a, b| a / b);
        assert_eq!((ratio.min, ratio.max), (2.0, 2.0));
        assert_eq!(ur.scale(0.5).rounds, [1.0, 20.0, 3.0]);
    }

    #[test]
    fn rounds_of_two_rows_count_together() {
        let both = Summary::of(vec![1.0, 9.0]).with(&Summary::of(vec![5.0]));
        assert_eq!((both.median, both.rounds.len()), (5.0, 3));
    }

    #[test]
    fn the_spread_is_half_the_quartiles_distance() {
        assert!((Summary::of(vec![90.0, 95.0, 100.0, 105.0, 110.0]).spread() - 5.0).abs() < 1e-9);
        assert_eq!(Summary::of(vec![0.0, 0.0]).spread(), 0.0);
    }
}
