//! What was measured, and what could not be: rows that a process makes for itself or sends to the one that started it. It
//! measures nothing and prints nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::calls::Calls;
use crate::stats::Summary;

/// Something with the name of its case.
pub type Named<T> = (String, Result<T, Failure>);

/// One row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The group and what is measured; filled in by the outcome if empty.
    pub name: String,
    /// Nanoseconds of the UR.
    pub measured: Summary,
    /// Nanoseconds of what it is compared with.
    pub raw: Option<Summary>,
    /// The one over the other, round by round.
    pub ratio: Option<Summary>,
    /// The one less the other, where that says more.
    pub difference: Option<Summary>,
    /// With the most objects over with the fewest.
    pub growth: Option<Summary>,
    /// What many threads do in a time over what one does.
    pub throughput: Option<Summary>,
    /// The same of the raw side.
    pub raw_throughput: Option<Summary>,
    /// Native calls of the UR per iteration.
    pub calls: Option<Calls>,
    /// Native calls of the raw side per iteration.
    pub raw_calls: Option<Calls>,
    /// What else there is to know.
    pub note: String,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            name: String::new(),
            measured: Summary::of(vec![0.0]),
            raw: None,
            ratio: None,
            difference: None,
            growth: None,
            throughput: None,
            raw_throughput: None,
            calls: None,
            raw_calls: None,
            note: String::new(),
        }
    }
}

impl Case {
    /// Takes another row's rounds. What only one of them has is left out: half of the rounds would say it.
    fn join(&mut self, more: &Self) {
        let both = |one: &Option<Summary>, other: &Option<Summary>| Some(one.as_ref()?.with(other.as_ref()?));
        self.measured = self.measured.with(&more.measured);
        self.raw = both(&self.raw, &more.raw);
        self.ratio = both(&self.ratio, &more.ratio);
        self.difference = both(&self.difference, &more.difference);
        self.growth = both(&self.growth, &more.growth);
        self.throughput = both(&self.throughput, &more.throughput);
        self.raw_throughput = both(&self.raw_throughput, &more.raw_throughput);
    }
}

/// A case without a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The case.
    pub name: String,
    /// Why.
    pub reason: String,
    /// It is only that the UR or the device lacks the feature.
    pub unsupported: bool,
}

/// Native calls of the UR and of the raw side, by case.
pub type Counts = BTreeMap<String, (Option<Calls>, Option<Calls>)>;

/// All rows of a process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// What was measured.
    pub cases: Vec<Case>,
    /// What was not.
    pub missing: Vec<Missing>,
}

impl Outcome {
    /// Whether nothing was measured, and nothing was tried in vain.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty() && self.missing.is_empty()
    }

    /// Adds rows, or the reason why there are none.
    pub fn add(&mut self, name: &str, result: Result<Vec<Case>, Failure>) {
        match result {
            Ok(cases) => self.cases.extend(cases.into_iter().map(|case| match case.name.is_empty() {
                true => Case { name: name.to_owned(), ..case },
                false => case,
            })),
            Err(failure) => self.missing.push(Missing {
                name: name.to_owned(),
                reason: failure.to_string(),
                unsupported: failure.is_unsupported(),
            }),
        }
    }

    /// Takes the rows of another process, its names with this behind them.
    pub fn merge(&mut self, other: Self, suffix: &str) {
        self.cases.extend(other.cases.into_iter().map(|case| Case { name: case.name + suffix, ..case }));
        self.missing
            .extend(other.missing.into_iter().map(|missing| Missing { name: missing.name + suffix, ..missing }));
    }

    /// Takes the rounds of another process that measured cases of the same names, behind which it has this.
    pub fn join(&mut self, other: &Self, suffix: &str) {
        for more in &other.cases {
            let name = format!("{}{suffix}", more.name);
            if let Some(case) = self.cases.iter_mut().find(|case| case.name == name) {
                case.join(more);
            }
        }
        let missing = other.missing.iter().cloned();
        self.missing.extend(missing.map(|missing| Missing { name: missing.name + suffix, ..missing }));
    }

    /// Takes the native calls that another process counted.
    pub fn fill(&mut self, counts: &Counts) {
        for case in &mut self.cases {
            if let Some((calls, raw)) = counts.get(&case.name) {
                (case.calls, case.raw_calls) = (calls.clone(), raw.clone());
            }
        }
    }

    /// A row by its name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// Whether nothing failed; what a UR does not support is no failure.
    pub fn is_complete(&self) -> bool {
        self.missing.iter().all(|missing| missing.unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unsupported_is_no_failure_and_every_reason_is_kept() {
        let mut outcome = Outcome::default();
        outcome.add("a", Err(Failure::Unavailable("no kernel".into())));
        assert!(outcome.is_complete());
        outcome.add("b", Err(Failure::Other("broken".into())));
        assert!(!outcome.is_complete());
        let reasons: Vec<_> = outcome.missing.iter().map(|missing| missing.reason.as_str()).collect();
        assert_eq!(reasons, ["no kernel", "broken"]);
    }

    #[test]
    fn rounds_of_another_process_count_with_those_of_the_same_case() {
        let row = |name: &str, ratio| {
            let ratio = Some(Summary::of(vec![ratio]));
            Case { name: name.into(), measured: Summary::of(vec![1.0]), ratio, ..Case::default() }
        };
        let mut outcome = Outcome { cases: vec![row("work: x", 1.0), row("work: x, off", 5.0)], missing: Vec::new() };
        let mut other = Outcome { cases: vec![row("work: x", 3.0), row("work: z", 9.0)], missing: Vec::new() };
        other.add("work: y", Err(Failure::Other("broken".into())));
        outcome.join(&other, "");
        outcome.join(&Outcome { cases: vec![row("work: x", 6.0)], missing: Vec::new() }, ", off");
        let ratios: Vec<_> =
            outcome.cases.iter().map(|case| case.ratio.as_ref().expect("both have one").median).collect();
        assert_eq!(ratios, [2.0, 5.5]);
        assert_eq!((outcome.cases.len(), outcome.missing[0].name.as_str()), (2, "work: y"));
        let without = Outcome { cases: vec![Case { ratio: None, ..row("work: x", 0.0) }], missing: Vec::new() };
        outcome.join(&without, "");
        assert_eq!(outcome.cases[0].ratio, None);
    }

    #[test]
    fn rows_of_another_process_come_with_its_name_and_counts_go_to_their_case() {
        let mut outcome = Outcome::default();
        outcome.add("work: x", Ok(vec![Case::default()]));
        let mut other = outcome.clone();
        other.add("work: y", Err(Failure::Other("broken".into())));
        let text = serde_json::to_string(&other).expect("rows can be written");
        outcome.merge(serde_json::from_str(&text).expect("and read"), ", off");
        let calls = Calls { functions: [("cuLaunchKernel".to_owned(), 1.0)].into() };
        outcome.fill(&[("work: x".to_owned(), (Some(calls), None))].into());
        assert_eq!(outcome.case("work: x").and_then(|case| case.calls.as_ref()).map(Calls::total), Some(1.0));
        assert!(outcome.case("work: x, off").is_some_and(|case| case.calls.is_none()));
        assert_eq!(outcome.missing[0].name, "work: y, off");
    }
}
