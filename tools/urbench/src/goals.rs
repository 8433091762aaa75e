//! What the project promises about its speed, and whether rows keep it: one goal a row of the table. It judges what was
//! measured as it was measured, without rounding; it measures nothing.

use serde::Serialize;

use crate::calls::Kind;
use crate::dispatch::{ATOMICS, RETAIN};
use crate::growth::{
    BUFFER, CONTEXT, FREE, FREE_OF_A_MILLION, KEPT_ALLOC, KEPT_LAUNCH, KEPT_WAIT, KERNEL, MARK, MEMORY, QUERY,
    QUERY_OF_A_MILLION, QUEUE, THREADS,
};
use crate::lifetimes;
use crate::outcome::{Case, Outcome};
use crate::stats::Summary;
use crate::threads::{MACHINE_CASE, MANY_CASE, PLAIN_CASES, SHARED_CASE};
use crate::work::{BEHIND, BEHIND_LAUNCH, HOST, SHARED, programs, timelines};

/// What is appended to a case that was measured with magazines off.
pub const OFF: &str = ", magazine off";

/// Which figure of a case.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// Time over the raw calls' time.
    Ratio,
    /// Nanoseconds more than the raw calls.
    Difference,
    /// Time with the most objects over time with the fewest.
    Growth,
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

use Figure::{Calls, Difference, Growth, Nanoseconds, Ratio, Throughput};
use Limit::{Least, Most};

const ALLOC: &str = "work: alloc + free 1 MiB";
const EVENTS: &str = "work: alloc + free 1 MiB, events";
const LIBSYCL: &str = "work: alloc + free 1 MiB, libsycl";

#[rustfmt::skip]
const GOALS: [Goal; 109] = [
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
    goal("kernel launch", "work: launch", Ratio, Most(1.00), "1.06"),
    goal("kernel launch, event released", "work: launch, event released", Ratio, Most(1.03), "1.26"),
    goal("kernel launch, chained", "work: launch, chained", Ratio, Most(1.10), "1.25"),
    goal("launch + finish", "work: launch, finish", Ratio, Most(1.02), ""),
    goal("launch + event wait", "work: launch, event waited for", Ratio, Most(1.05), ""),
    goal("copy 4 KiB, pinned host to device", "work: copy 4 KiB host to device", Ratio, Most(1.02), ""),
    goal("8 threads, alloc + free: throughput", MANY_CASE, Throughput, Least(6.0), "x0.23"),
    goal("8 threads, plain device memory 256 B: throughput", PLAIN_CASES[0], Throughput, Least(6.0), ""),
    goal("8 threads, plain device memory 64 KiB: throughput", PLAIN_CASES[1], Throughput, Least(6.0), ""),
    goal("8 threads, arithmetic alone: throughput", MACHINE_CASE, Throughput, Limit::None, ""),
    goal("retain + release of a handle", RETAIN, Nanoseconds(2.0), Limit::None, "16-19 ns"),
    goal("retain + release over two atomic additions", RETAIN, Ratio, Most(1.25), ""),
    goal("two atomic additions on this machine", ATOMICS, Nanoseconds(1.0), Limit::None, ""),
    goal("raw launch against itself (the error)", "work: raw launch against itself", Ratio, Limit::None, ""),
    goal("raw cuLaunchKernelEx over cuLaunchKernel", "work: raw launch by the extended call", Ratio, Limit::None, ""),
    goal("kernel launch, 20 arguments", "work: launch, 20 arguments", Ratio, Most(1.03), ""),
    goal("kernel launch, profiling queue", "work: launch, profiling queue", Ratio, Most(1.05), ""),
    goal("kernel launch behind another queue's", "work: launch behind another queue's", Ratio, Most(1.05), ""),
    goal("end of a wait to the next kernel, device time", "work: wait to next kernel, device time", Ratio, Most(1.05), ""),
    goal("kernel launch, current device changes", "work: launch, current device changes", Ratio, Most(1.05), ""),
    goal("kernel launches on two devices in turn", "work: launches on two devices in turn", Ratio, Most(1.03), ""),
    goal("4 threads launch on one queue", SHARED_CASE, Ratio, Most(1.05), "5.8 us a launch"),
    goal("map + unmap 4 KiB of a buffer", "objects: map + unmap 4 KiB", Ratio, Most(1.10), ""),
    goal("queue made and released", "objects: queue", Nanoseconds(1.0), Most(270.0), "270 ns"),
    goal("queue made and released, over a raw stream", "objects: queue", Ratio, Most(0.10), ""),
    goal("buffer 4 KiB made and released", "objects: buffer 4 KiB", Nanoseconds(1.0), Most(130.0), "130 ns"),
    goal("buffer 4 KiB, over raw memory", "objects: buffer 4 KiB", Ratio, Most(0.10), ""),
    goal("device memory 256 B, alloc + free", "objects: device 256 B", Ratio, Most(1.05), "5.2-7.2 us"),
    goal("device memory 256 B, alloc", "objects: device 256 B, alloc", Ratio, Most(1.05), "2.6-3.2 us"),
    goal("device memory 256 B, free", "objects: device 256 B, free", Ratio, Most(1.05), "2.6-4.0 us"),
    goal("device memory 4 KiB, alloc + free", "objects: device 4 KiB", Ratio, Most(1.05), ""),
    goal("host memory 256 B, alloc + free", "objects: host 256 B", Ratio, Most(1.05), ""),
    goal("host memory 4 KiB, alloc + free", "objects: host 4 KiB", Ratio, Most(1.05), ""),
    goal("shared memory 256 B, alloc + free", "objects: shared 256 B", Ratio, Most(1.05), ""),
    goal("shared memory 4 KiB, alloc + free", "objects: shared 4 KiB", Ratio, Most(1.05), ""),
    goal("device memory 256 B, nanoseconds", "objects: device 256 B", Nanoseconds(1.0), Most(100.0), ""),
    goal("device memory 4 KiB, nanoseconds", "objects: device 4 KiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("device memory 64 KiB, nanoseconds", "objects: device 64 KiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("device memory 1 MiB, nanoseconds", "objects: device 1 MiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("host memory 256 B, nanoseconds", "objects: host 256 B", Nanoseconds(1.0), Most(100.0), ""),
    goal("host memory 4 KiB, nanoseconds", "objects: host 4 KiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("host memory 64 KiB, nanoseconds", "objects: host 64 KiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("host memory 1 MiB, nanoseconds", "objects: host 1 MiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("host memory 16 MiB, one freed before", "objects: host 16 MiB", Nanoseconds(1.0), Most(1000.0), "8.9 ms"),
    goal("shared memory 256 B, nanoseconds", "objects: shared 256 B", Nanoseconds(1.0), Most(100.0), ""),
    goal("shared memory 4 KiB, nanoseconds", "objects: shared 4 KiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("shared memory 64 KiB, nanoseconds", "objects: shared 64 KiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("shared memory 1 MiB, nanoseconds", "objects: shared 1 MiB", Nanoseconds(1.0), Most(100.0), ""),
    goal("alloc with its event kept, 64000 kept", KEPT_ALLOC, Nanoseconds(1.0), Most(500.0), "2400-2800 ns"),
    goal("alloc with its event kept, 64000 over 1000", KEPT_ALLOC, Growth, Most(1.5), "flat"),
    goal("wait with its event kept, 64000 kept", KEPT_WAIT, Nanoseconds(1.0), Most(500.0), ""),
    goal("wait with its event kept, 64000 over 1000", KEPT_WAIT, Growth, Most(1.5), ""),
    goal("query of plain memory, 64000 blocks live", QUERY, Nanoseconds(1.0), Most(300.0), "120 ns"),
    goal("query of plain memory, 64000 over 1000", QUERY, Growth, Most(1.5), "flat"),
    goal("free of plain memory, 64000 blocks live, more than raw", FREE, Difference, Most(300.0), ""),
    goal("free of plain memory, 64000 over 1000", FREE, Growth, Most(1.5), "flat"),
    goal("query of plain memory, a million blocks live", QUERY_OF_A_MILLION, Nanoseconds(1.0), Most(300.0), "flat"),
    goal("query of plain memory, a million over 1000", QUERY_OF_A_MILLION, Growth, Most(1.5), "flat"),
    goal("free of plain memory, a million over 1000", FREE_OF_A_MILLION, Growth, Most(1.5), "flat"),
    goal("launch with its event kept, 64000 over 1000", KEPT_LAUNCH, Growth, Most(1.5), ""),
    goal("device memory 512 B, 64000 over 1000 live", MEMORY, Growth, Most(1.5), ""),
    goal("alloc that raises the mark, 64000 over 1000 queues that used the pool", MARK, Growth, Most(1.5), ""),
    goal("buffer made and released, 64000 over 1000 live", BUFFER, Growth, Most(1.5), ""),
    goal("queue made and released, 64000 over 1000 live", QUEUE, Growth, Most(1.5), ""),
    goal("kernel made and released, 64000 over 1000 live", KERNEL, Growth, Most(1.5), ""),
    goal("context made and released, 64000 over 1000 live", CONTEXT, Growth, Most(1.5), ""),
    goal("plain device memory, 4000 over 250 other threads that used some", THREADS, Growth, Most(1.5), ""),
    goal("command buffer of 1 kernel: launch", "graphs: launch 1 kernel", Ratio, Most(1.02), "1.06-1.18"),
    goal("command buffer of 10 kernels: launch", "graphs: launch 10 kernels", Ratio, Most(1.02), "1.06-1.18"),
    goal("command buffer of 100 kernels: launch", "graphs: launch 100 kernels", Ratio, Most(1.02), "1.06-1.18"),
    goal("command buffer of 1000 kernels: launch", "graphs: launch 1000 kernels", Ratio, Most(1.02), "1.06-1.18"),
    goal("recording 100 kernels in a chain", "graphs: record 100 kernels", Ratio, Most(1.15), "3.0 us a kernel"),
    goal("recording 10000 kernels in a chain", "graphs: record 10000 kernels", Ratio, Most(1.15), "grows with the square"),
    goal("recording 10000 kernels over 100 times 100", "graphs: record 10000 kernels at once", Ratio, Most(1.15), "grows with the square"),
    goal("the same of the raw calls", "graphs: raw record 10000 kernels at once", Ratio, Limit::None, ""),
    goal("all arguments of 100 kernels changed", "graphs: change 100 kernels", Ratio, Most(1.10), "44 us, one pointer each"),
    goal("diamonds of 2 x 64 kernels", "graphs: diamond", Ratio, Most(1.02), ""),
    goal("diamonds over the same kernels in a chain", "graphs: diamond over chain", Ratio, Most(0.60), "0.062 for 1 + 64 + 1"),
    goal("1000 kernels by command buffer over 1000 launches", "graphs: 1000 kernels at once", Ratio, Most(1.00), "588 us over 4228 us"),
    goal("first call of a SPIR-V kernel", programs::COLD, Nanoseconds(1.0), Most(60e6), ""),
    goal("first call of a SPIR-V kernel, from the disk cache", programs::FROM_DISK, Nanoseconds(1.0), Most(5e6), ""),
    goal("timeline: signal on one queue, wait on another", "timelines: signal, wait", Ratio, Most(1.05), ""),
    goal("timeline: the same over raw events in turn", "timelines: signal, wait, events in turn", Ratio, Limit::None, ""),
    goal("timeline: the same: event calls", "timelines: signal, wait", Calls(Kind::Event), Most(2.0), ""),
    goal("timeline: the same with a launch before and behind", "timelines: launch, signal, wait, launch", Ratio, Most(1.05), ""),
    goal("timeline: host signal to a kernel's end, more than a raw value", timelines::HOST_SIGNAL, Difference, Most(10_000.0), ""),
    goal("timeline: deferred launch, more than one that is not", timelines::DEFERRED_LAUNCH, Difference, Most(1000.0), ""),
    goal("timeline: deferred copy 4 KiB, more than one that is not", timelines::DEFERRED_COPY, Difference, Most(1000.0), ""),
    goal("timeline: ring of 8 queues, a round", "timelines: ring of 8 queues", Ratio, Limit::None, ""),
    goal("alloc + free 1 MiB behind another queue's free", BEHIND, Ratio, Limit::None, ""),
    goal("the same: pool calls", BEHIND, Calls(Kind::Pool), Most(0.0), ""),
    goal("alloc + launch + free 1 MiB behind another queue's free", BEHIND_LAUNCH, Ratio, Limit::None, ""),
    goal("the same with a launch: pool calls", BEHIND_LAUNCH, Calls(Kind::Pool), Most(0.0), ""),
    goal("alloc + free 1 MiB, host over device memory", HOST, Ratio, Most(1.10), ""),
    goal("alloc + free 1 MiB, shared over device memory", SHARED, Ratio, Most(1.10), ""),
    goal("context, queue, memory, copy come and go", lifetimes::CASE, Nanoseconds(1.0), Most(120_000.0), "117 us"),
    goal("the same, over raw calls with a context retained", lifetimes::CASE, Ratio, Limit::None, ""),
];

/// Whether the table has a row of this case.
pub fn names_case(name: &str) -> bool {
    GOALS.iter().any(|goal| goal.case == name)
}

/// Whether the table has a row of this group.
pub fn names_group(group: &str) -> bool {
    GOALS.iter().any(|goal| goal.case.starts_with(group))
}

/// Whether a goal of this case is about nanoseconds more than the raw calls.
pub fn judges_difference(name: &str) -> bool {
    GOALS.iter().any(|goal| goal.case == name && matches!(goal.figure, Difference))
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
            Ratio | Growth => format!("{value:.3}"),
            Difference => format!("{value:+.1} ns"),
            Throughput => format!("x{value:.2}"),
            Nanoseconds(_) => format!("{value:.1} ns"),
            Calls(_) => count(value),
        }
    }

    /// The quartiles, as they are read.
    pub fn shown_quartiles(&self) -> String {
        self.quartiles.map_or_else(String::new, |ends| ends.map(|end| self.shown(end)).join(" to "))
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
    let is_time = matches!(goal.figure, Ratio | Throughput | Growth | Difference);
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
        Difference => of(case.difference.as_ref(), 1.0),
        Growth => of(case.growth.as_ref(), 1.0),
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
        Ratio | Growth => format!("{value:.2}"),
        Difference => format!("{value} ns"),
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

    const THREADS: &str = "8 threads, alloc + free: throughput";

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
        assert_eq!(launch(1.0).verdict, Verdict::Pass);
        let missed = launch(1.001);
        assert_eq!((missed.verdict, missed.goal.as_str(), missed.known), (Verdict::Fail, "<= 1.00", "1.06"));
        assert_eq!(missed.shown(missed.value.expect("measured")), "1.001");
    }

    #[test]
    fn throughput_must_be_reached_and_a_pair_of_calls_is_twice_a_call() {
        let throughput = |times| {
            let throughput = Some(Summary::of(vec![times]));
            only(&with(Case { name: MANY_CASE.into(), throughput, ..Case::default() }), THREADS).verdict
        };
        assert_eq!((throughput(6.0), throughput(5.9)), (Verdict::Pass, Verdict::Fail));
        let retain = Case { name: RETAIN.into(), measured: Summary::of(vec![7.1]), ..Case::default() };
        let row = only(&with(retain), "retain + release of a handle");
        assert_eq!((row.value, row.verdict), (Some(14.2), Verdict::Compare));
    }

    #[test]
    fn growth_is_judged_by_the_most_objects_over_the_fewest() {
        let kept = |growth: f64| {
            let growth = Some(Summary::of(vec![growth]));
            let case = Case { name: KEPT_ALLOC.into(), measured: Summary::of(vec![480.0]), growth, ..Case::default() };
            let outcome = with(case);
            let row = |work| only(&outcome, work).verdict;
            (row("alloc with its event kept, 64000 kept"), row("alloc with its event kept, 64000 over 1000"))
        };
        assert_eq!(kept(1.5), (Verdict::Pass, Verdict::Pass));
        assert_eq!(kept(1.6), (Verdict::Pass, Verdict::Fail));
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
        assert_eq!(only(&outcome, THREADS).verdict, Verdict::Error);
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
