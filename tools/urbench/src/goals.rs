//! What the project promises about its speed, and whether rows keep it: one goal a row of the table. It judges what was
//! measured as it was measured, without rounding; it measures nothing.

use serde::Serialize;

use crate::calls::Kind;
use crate::dispatch::ATOMICS;
use crate::outcome::{Case, Outcome};
use crate::stats::Summary;
use crate::threads::MANY_CASE;

/// What is appended to a case that was measured with magazines off.
pub const OFF: &str = ", magazine off";

/// Which figure of a case.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// Time over the raw calls' time.
    Ratio,
    /// Throughput over one thread's.
    Throughput,
    /// Nanoseconds of so many measured calls.
    Nanoseconds(f64),
    /// Native calls an iteration.
    Calls(Kind),
}

/// What is promised.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Most(f64),
    Least(f64),
    /// Nothing: for comparison.
    None,
}

/// A promise about a case.
struct Goal {
    work: &'static str,
    case: &'static str,
    off: bool,
    figure: Figure,
    limit: Limit,
    /// What the C++ runtime is known for.
    known: &'static str,
}

const fn goal(work: &'static str, case: &'static str, figure: Figure, limit: Limit, known: &'static str) -> Goal {
    Goal { work, case, off: false, figure, limit, known }
}

const fn off(work: &'static str, case: &'static str, figure: Figure, limit: Limit, known: &'static str) -> Goal {
    Goal { work, case, off: true, figure, limit, known }
}

use Figure::{Calls, Nanoseconds, Ratio, Throughput};
use Limit::{Least, Most};

const ALLOC: &str = "work: alloc + free 1 MiB";
const EVENTS: &str = "work: alloc + free 1 MiB, events";
const LIBSYCL: &str = "work: alloc + free 1 MiB, libsycl";
const RETAIN: &str = "dispatch: urContextRetain + Release";

#[rustfmt::skip]
const GOALS: [Goal; 22] = [
    off("alloc + free 1 MiB, magazine off", ALLOC, Ratio, Most(1.06), "1.09-1.47"),
    goal("alloc + free 1 MiB, magazine on", ALLOC, Ratio, Most(0.25), "1.09-1.47"),
    goal("alloc + free with events", EVENTS, Ratio, Most(0.35), "2.8-4.2"),
    off("alloc + free with events, magazine off", EVENTS, Ratio, Limit::None, "2.8-4.2"),
    goal("libsycl pattern", LIBSYCL, Ratio, Most(0.60), "6.4-6.9"),
    off("libsycl pattern, magazine off", LIBSYCL, Ratio, Limit::None, "6.4-6.9"),
    goal("libsycl: event calls", LIBSYCL, Calls(Kind::Event), Most(0.0), ""),
    goal("libsycl: context calls", LIBSYCL, Calls(Kind::Context), Most(0.0), ""),
    goal("libsycl: pool calls on a magazine hit", LIBSYCL, Calls(Kind::Pool), Most(0.0), ""),
    off("libsycl: event calls, magazine off", LIBSYCL, Calls(Kind::Event), Most(0.0), ""),
    off("libsycl: context calls, magazine off", LIBSYCL, Calls(Kind::Context), Most(0.0), ""),
    off("libsycl: pool calls, magazine off", LIBSYCL, Calls(Kind::Pool), Most(2.0), ""),
    goal("kernel launch", "work: launch", Ratio, Most(1.02), "1.06"),
    goal("kernel launch, event released", "work: launch, event released", Ratio, Most(1.03), "1.26"),
    goal("kernel launch, chained", "work: launch, chained", Ratio, Most(1.03), "1.25"),
    goal("launch + finish", "work: launch, finish", Ratio, Most(1.02), ""),
    goal("launch + event wait", "work: launch, event waited for", Ratio, Most(1.05), ""),
    goal("copy 4 KiB, pinned host to device", "work: copy 4 KiB host to device", Ratio, Most(1.02), ""),
    goal("8 threads, alloc + free: throughput", MANY_CASE, Throughput, Least(6.0), "x0.23"),
    goal("retain + release of a handle", RETAIN, Nanoseconds(2.0), Most(14.0), "16-19 ns"),
    goal("two atomic additions on this machine", ATOMICS, Nanoseconds(1.0), Limit::None, ""),
    goal("raw launch against itself (the error)", "work: raw launch against itself", Ratio, Limit::None, ""),
];

/// Whether the table has a row of this case.
pub fn names_case(name: &str) -> bool {
    GOALS.iter().any(|goal| goal.case == name)
}

/// Whether the table has a row of this group.
pub fn names_group(group: &str) -> bool {
    GOALS.iter().any(|goal| goal.case.starts_with(group))
}

/// How a goal fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Kept.
    Pass,
    /// Not kept.
    Fail,
    /// Nothing is promised.
    Compare,
    /// The UR or the device cannot do the work.
    Unsupported,
    /// The work failed.
    Error,
    /// There is no such figure, for example no raw side.
    Unknown,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was done.
    pub work: &'static str,
    /// The median of the rounds.
    pub value: Option<f64>,
    /// The quartiles, where rounds were made.
    pub quartiles: Option<[f64; 2]>,
    /// The promise, in words.
    pub goal: String,
    /// Kept or not.
    pub verdict: Verdict,
    /// The C++ runtime's known figure.
    pub known: &'static str,
    /// Median nanoseconds of the UR and of the raw side, for figures of time.
    pub nanoseconds: Option<(f64, Option<f64>)>,
    /// Native calls an iteration of the UR and of the raw side; where events were counted apart, that kind alone.
    pub calls: Option<(f64, Option<f64>)>,
    /// The same figure of the raw side, where it has one.
    pub raw: Option<f64>,
    #[serde(skip)]
    figure: Figure,
}

impl Row {
    /// A value of this row's figure, as it is read.
    pub fn shown(&self, value: f64) -> String {
        match self.figure {
            Ratio => format!("{value:.3}"),
            Throughput => format!("x{value:.2}"),
            Nanoseconds(_) => format!("{value:.1} ns"),
            Calls(_) => count(value),
        }
    }
}

/// A number of calls: whole where it is whole.
pub fn count(calls: f64) -> String {
    if calls.fract() == 0.0 { format!("{calls:.0}") } else { format!("{calls:.2}") }
}

/// The rows of what was asked for.
pub fn rows(outcome: &Outcome, wants: impl Fn(&str) -> bool) -> Vec<Row> {
    GOALS.iter().filter(|goal| wants(goal.case)).map(|goal| row(goal, outcome)).collect()
}

fn row(goal: &Goal, outcome: &Outcome) -> Row {
    let name = if goal.off { format!("{}{OFF}", goal.case) } else { goal.case.to_owned() };
    let case = outcome.case(&name);
    let (value, quartiles) = case.map_or((None, None), |case| figure(goal.figure, case));
    let is_time = matches!(goal.figure, Ratio | Throughput);
    let mut row = Row {
        work: goal.work,
        value,
        quartiles,
        goal: String::new(),
        verdict: match (case, value) {
            (None, _) => without(outcome, &name),
            (Some(_), None) => Verdict::Unknown,
            (Some(_), Some(value)) => judge(goal.limit, value),
        },
        known: goal.known,
        nanoseconds: case
            .filter(|_| is_time)
            .map(|case| (case.measured.median, case.raw.as_ref().map(|raw| raw.median))),
        calls: case.and_then(|case| calls(goal.figure, case)),
        raw: case.and_then(|case| case.raw_throughput.as_ref()).map(|raw| raw.median),
        figure: goal.figure,
    };
    row.goal = words(goal.limit, goal.figure);
    row
}

fn figure(figure: Figure, case: &Case) -> (Option<f64>, Option<[f64; 2]>) {
    let of = |summary: Option<&Summary>, factor: f64| match summary {
        Some(row) => (Some(row.median * factor), Some([row.lower * factor, row.upper * factor])),
        None => (None, None),
    };
    match figure {
        Ratio => of(case.ratio.as_ref(), 1.0),
        Throughput => of(case.throughput.as_ref(), 1.0),
        Nanoseconds(calls) => of(Some(&case.measured), calls),
        Calls(kind) => (case.calls.as_ref().map(|calls| calls.of(kind)), None),
    }
}

/// Native calls of the row: all, or those of the kind that it is about.
fn calls(figure: Figure, case: &Case) -> Option<(f64, Option<f64>)> {
    let count = |calls: &crate::calls::Calls| match figure {
        Calls(kind) => calls.of(kind),
        _ => calls.total(),
    };
    case.calls.as_ref().map(|calls| (count(calls), case.raw_calls.as_ref().map(count)))
}

fn judge(limit: Limit, value: f64) -> Verdict {
    let kept = match limit {
        Most(most) => value <= most,
        Least(least) => value >= least,
        Limit::None => return Verdict::Compare,
    };
    if kept { Verdict::Pass } else { Verdict::Fail }
}

/// Why a case has no row; a group that failed as a whole goes by its own name.
fn without(outcome: &Outcome, name: &str) -> Verdict {
    let group = name.split(':').next();
    let missing = outcome.missing.iter().find(|missing| missing.name == name || Some(missing.name.as_str()) == group);
    match missing {
        Some(missing) if missing.unsupported => Verdict::Unsupported,
        Some(_) => Verdict::Error,
        None => Verdict::Unknown,
    }
}

fn words(limit: Limit, figure: Figure) -> String {
    let number = |value: f64| match figure {
        Ratio => format!("{value:.2}"),
        Throughput => format!("x{value}"),
        Nanoseconds(_) => format!("{value} ns"),
        Calls(_) => count(value),
    };
    match limit {
        Most(most) => format!("<= {}", number(most)),
        Least(least) => format!(">= {}", number(least)),
        Limit::None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;
    use crate::calls;

    fn with(case: Case) -> Outcome {
        Outcome { cases: vec![case], missing: Vec::new() }
    }

    fn only(outcome: &Outcome, work: &str) -> Row {
        rows(outcome, |_| true).into_iter().find(|row| row.work == work).expect("the table has the row")
    }

    #[test]
    fn a_ratio_is_judged_by_its_median_without_rounding() {
        let launch = |median: f64| {
            let ratio = Some(Summary::of(vec![0.5, median, 9.0]));
            only(&with(Case { name: "work: launch".into(), ratio, ..Case::default() }), "kernel launch")
        };
        assert_eq!(launch(1.02).verdict, Verdict::Pass);
        let missed = launch(1.021);
        assert_eq!((missed.verdict, missed.goal.as_str(), missed.known), (Verdict::Fail, "<= 1.02", "1.06"));
        assert_eq!(missed.shown(missed.value.expect("measured")), "1.021");
    }

    #[test]
    fn throughput_must_be_reached_and_a_pair_of_calls_is_twice_a_call() {
        let throughput = |times| {
            let throughput = Some(Summary::of(vec![times]));
            only(&with(Case { name: MANY_CASE.into(), throughput, ..Case::default() }), GOALS[18].work).verdict
        };
        assert_eq!((throughput(6.0), throughput(5.9)), (Verdict::Pass, Verdict::Fail));
        let retain = Case { name: RETAIN.into(), measured: Summary::of(vec![7.1]), ..Case::default() };
        let row = only(&with(retain), "retain + release of a handle");
        assert_eq!((row.value, row.verdict), (Some(14.2), Verdict::Fail));
    }

    #[test]
    fn calls_are_judged_by_kind_and_the_magazine_off_is_a_case_of_its_own() {
        let functions = [("cuMemAllocFromPoolAsync".to_owned(), 1.0), ("cuMemFreeAsync".to_owned(), 1.0)];
        let calls = Some(calls::Calls { functions: functions.into() });
        let case = |name: String| Case { name, calls: calls.clone(), ..Case::default() };
        let on = with(case(LIBSYCL.to_owned()));
        assert_eq!(only(&on, "libsycl: pool calls on a magazine hit").verdict, Verdict::Fail);
        assert_eq!(only(&on, "libsycl: event calls").verdict, Verdict::Pass);
        assert_eq!(only(&on, "libsycl: pool calls, magazine off").verdict, Verdict::Unknown);
        let off = only(&with(case(format!("{LIBSYCL}{OFF}"))), "libsycl: pool calls, magazine off");
        assert_eq!((off.verdict, off.value, off.calls), (Verdict::Pass, Some(2.0), Some((2.0, None))));
    }

    #[test]
    fn a_row_without_a_case_says_why() {
        let mut outcome = Outcome::default();
        outcome.add("work: launch", Err(Failure::Unavailable("no kernel".into())));
        outcome.add("threads", Err(Failure::Other("broken".into())));
        assert_eq!(only(&outcome, "kernel launch").verdict, Verdict::Unsupported);
        assert_eq!(only(&outcome, GOALS[18].work).verdict, Verdict::Error);
        assert_eq!(only(&outcome, "retain + release of a handle").verdict, Verdict::Unknown);
        let unmeasured = Case { name: "work: launch".into(), ..Case::default() };
        assert_eq!(only(&with(unmeasured), "kernel launch").verdict, Verdict::Unknown, "no raw side");
    }

    #[test]
    fn a_row_without_a_promise_is_a_comparison_and_only_wanted_rows_are_there() {
        assert_eq!(judge(Limit::None, 3.0), Verdict::Compare);
        let some = rows(&Outcome::default(), |case| case == LIBSYCL);
        assert!(!some.is_empty() && some.iter().all(|row| row.work.starts_with("libsycl")));
    }
}
