//! `urbench`: what a Unified Runtime costs over the raw native calls. Loader and adapter are given by path, so any UR is
//! measured by the same binary; the raw calls run in the same process, on the same device and in rounds that alternate
//! with the measured ones, so what disturbs one disturbs the other. Replays, lifetimes, and one thread's and eight threads' memory are
//! measured one side after the other, and no verdict rests on their ratios. Only ratios and differences are meant to be
//! compared between machines. Goals are marked as kept or not, but a missed one is no failure: a call that fails is.

mod affinity;
mod beside;
mod calls;
mod children;
mod dispatch;
mod fixture;
mod goals;
mod growth;
mod init;
mod lifetimes;
mod measure;
mod options;
mod outcome;
mod raw;
mod replay;
mod report;
mod stats;
mod threads;
mod work;

use std::process::ExitCode;

use ur_client::Ur;

use beside::Beside;
use fixture::Fixture;
use options::{Child, Options};
use outcome::{Counts, Outcome};
use report::Report;

/// What stops the program, or a single case.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line.
    #[error("{0}; try `urbench --help`")]
    Options(#[from] lexopt::Error),
    /// The loader.
    #[error(transparent)]
    Open(#[from] ur_client::OpenError),
    /// A call of the API.
    #[error(transparent)]
    Call(#[from] ur_client::ClientError),
    /// A raw call.
    #[error("the raw call {call} answers {status}")]
    Raw {
        /// The native function.
        call: &'static str,
        /// Its status.
        status: i32,
    },
    /// What the device cannot do.
    #[error("{0}")]
    Unavailable(String),
    /// Standard output.
    #[error("cannot print: {0}")]
    Print(#[from] std::io::Error),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// Whether it only says that the UR or the device lacks the feature.
    pub fn is_unsupported(&self) -> bool {
        match self {
            Failure::Call(error) => error.is_unsupported(),
            Failure::Unavailable(_) => true,
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let result = match Options::from_process() {
        Ok(Some(options)) => run(&options),
        Ok(None) => ur_client::print(options::HELP).map(|()| true).map_err(Failure::from),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("urbench: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and reports; answers whether every case could be measured or is unsupported.
fn run(options: &Options) -> Result<bool, Failure> {
    options.steer();
    let mut report = Report::new(options);
    match options.child {
        Some(Child::Init) => init::child(options)?,
        Some(Child::Lifetimes) => lifetimes::child(options)?,
        Some(Child::Counts) => children::answer(&counts(options)?)?,
        Some(Child::Cases | Child::Rounds) => children::answer(&measure(options, &mut report)?)?,
        None => {
            let mut outcome = measure(options, &mut report)?;
            let beside = more_processes(options, &mut outcome);
            publish(&report, &outcome, beside.as_ref())?;
            if outcome.is_empty() {
                return Err(options.nothing_is_named());
            }
            return Ok(outcome.is_complete() && beside.is_none_or(|beside| beside.outcome.is_complete()));
        }
    }
    Ok(true)
}

/// Writes the JSON and prints the tables; neither is kept back because the other one fails.
fn publish(report: &Report<'_>, outcome: &Outcome, beside: Option<&Beside>) -> Result<(), Failure> {
    let written = report.write_json(outcome, beside);
    ur_client::print(&report.text(outcome, beside))?;
    written
}

/// What needs a device.
const GROUPS: [&str; 9] =
    ["dispatch", "work", "objects", "graphs", "timelines", "programs", "growth", "threads", "replays"];

/// All rows of this process, and those that need a process of another kind.
fn measure(options: &Options, report: &mut Report<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    if options.wants("init") {
        outcome.add("init", init::cases(options));
    }
    if options.wants(lifetimes::CASE) && options.child.is_none() {
        outcome.add(lifetimes::CASE, lifetimes::cases(options));
    }
    if GROUPS.iter().any(|group| options.wants_some_of(group)) {
        let may_count = with_device(options, |fixture| {
            report.describe(fixture);
            cases(fixture, options, &mut outcome);
            // Ours over HIP counts itself; another HIP library is no matter for a library that counts CUDA's calls.
            fixture.calls.is_none() && raw::Api::of(fixture.backend) == Some(raw::Api::Cuda)
        })?;
        if options.child != Some(Child::Rounds) && (may_count || options.callcount.is_some()) {
            count(options, report, &mut outcome);
        }
    }
    if options.child.is_none() {
        without_magazines(options, &mut outcome);
    }
    Ok(outcome)
}

/// The rounds of further processes, and of another adapter's if one was named.
fn more_processes(options: &Options, outcome: &mut Outcome) -> Option<Beside> {
    let beside = beside::measure(options, outcome);
    if beside.is_none() {
        for _ in 1..options.processes {
            once_more(options, outcome);
        }
    }
    beside
}

/// The same cases in one more process each way, whose rounds count with those there are.
fn once_more(options: &Options, outcome: &mut Outcome) {
    for (rows, suffix) in processes_of(options, outcome) {
        match rows {
            Ok(rows) => outcome.join(&rows, suffix),
            Err(failure) => outcome.add(&format!("one more process{suffix}"), Err(failure)),
        }
    }
}

/// The rows that an outcome has, measured in a process each way, and what belongs behind the names of each. Starts of the UR are
/// processes of their own already.
fn processes_of(options: &Options, outcome: &Outcome) -> Vec<(Result<Outcome, Failure>, &'static str)> {
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for name in outcome.cases.iter().map(|case| &case.name).filter(|name| !is_of_its_own(name)) {
        match name.strip_suffix(goals::OFF) {
            Some(name) => off.push(name.to_owned()),
            None => on.push(name.clone()),
        }
    }
    let mut answers = Vec::new();
    if !on.is_empty() {
        answers.push((children::ask(options, Child::Rounds, &on, &[]), ""));
    }
    if !off.is_empty() {
        answers.push((children::without_magazines(options, Child::Rounds, &off), goals::OFF));
    }
    answers
}

/// Whether a case makes processes of its own.
fn is_of_its_own(name: &str) -> bool {
    name.starts_with("init") || name == lifetimes::CASE
}

/// Native calls where the library that is measured does not count them.
fn count(options: &Options, report: &mut Report<'_>, outcome: &mut Outcome) {
    let names = work::names(options);
    let Some(library) = options.callcount().filter(|_| !names.is_empty()) else { return };
    match children::counts(options, library.clone().into(), &names) {
        Ok(counts) => {
            outcome.fill(&counts);
            report.counted_by(&library);
        }
        Err(failure) => outcome.add("native calls", Err(failure)),
    }
}

/// The rows of stream-ordered memory once more, in a process whose queues keep no freed blocks.
fn without_magazines(options: &Options, outcome: &mut Outcome) {
    let names: Vec<String> = work::names(options).into_iter().filter(|name| name.starts_with(work::MEMORY)).collect();
    if names.is_empty() {
        return;
    }
    match children::without_magazines(options, Child::Cases, &names) {
        Ok(rows) => outcome.merge(rows, goals::OFF),
        Err(failure) => {
            let reason = failure.to_string();
            for name in names {
                outcome.add(&format!("{name}{}", goals::OFF), Err(Failure::Other(reason.clone())));
            }
        }
    }
}

/// Native calls alone: what a child answers.
fn counts(options: &Options) -> Result<Counts, Failure> {
    with_device(options, |fixture| work::counts(fixture, options))
}

/// The groups that need a device.
fn cases(fixture: &Fixture<'_>, options: &Options, outcome: &mut Outcome) {
    let rows = [dispatch::cases(fixture, options), work::cases(fixture, options)];
    for (name, case) in rows.into_iter().flatten() {
        outcome.add(&name, case.map(|case| vec![case]));
    }
    for (name, cases) in growth::cases(fixture, options) {
        outcome.add(&name, cases);
    }
    if options.wants_some_of("threads") {
        outcome.add("threads", threads::cases(fixture, options));
        outcome.add(threads::SHARED_CASE, threads::shared(fixture, options));
        outcome.add("threads: plain memory", threads::plain(fixture, options));
        outcome.add(threads::MACHINE_CASE, threads::machine(options));
    }
    if options.wants_some_of("replays") {
        for (name, cases) in replay::cases(fixture, options) {
            outcome.add(&name, cases);
        }
    }
}

/// Runs something with a device of the UR; every handle is given back before the loader is torn down.
fn with_device<T>(options: &Options, run: impl FnOnce(&Fixture<'_>) -> T) -> Result<T, Failure> {
    let ur = Ur::open(&options.loader)?;
    ur.init()?;
    let result = {
        let adapters = ur.adapters()?;
        let _held = ur.hold_adapters(&adapters);
        let fixture = Fixture::new(&ur, &adapters, options)?;
        run(&fixture)
    };
    ur.tear_down()?;
    Ok(result)
}
