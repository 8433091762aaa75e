//! Runs steps two at a time, since many leave one of two cores idle. What a step prints stays together: one step prints as it
//! goes, and what ran beside it is printed when that one has ended. It must not be given steps that need each other.

use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{slice, thread};

use super::Step;
use super::report::{Outcome, Report, TestResults};
use crate::support::failure::{Context, Result};
use crate::support::process;

const UNPRINTED: &str = "what a step printed cannot be printed";

/// A step that has ended, and what it printed.
type Ended = (Outcome, Vec<u8>);

/// What the two threads that run steps share.
struct Steps<'a> {
    waiting: Mutex<slice::Iter<'a, &'a Step>>,
    /// Those whose text is yet to be printed.
    ended: Mutex<Vec<Result<Ended>>>,
}

impl<'a> Steps<'a> {
    fn next(&self) -> Option<&'a Step> {
        lock(&self.waiting).next().copied()
    }

    /// Leaves the steps out that have not begun.
    fn stop(&self) {
        *lock(&self.waiting) = [].iter();
    }

    /// Runs steps as long as there are some, and keeps what they print.
    fn run_beside(&self, command_of: impl Fn(&Step) -> Command) {
        while let Some(step) = self.next() {
            let mut text = Vec::new();
            let outcome = run_one(step, command_of(step), &mut text);
            lock(&self.ended).push(outcome.map(|outcome| (outcome, text)));
        }
    }

    /// The same, and prints what they print and, behind each, what has ended beside it.
    fn run_in_front(&self, command_of: impl Fn(&Step) -> Command, report: &mut Report, out: &mut impl Write) -> Result {
        while let Some(step) = self.next() {
            report.add(run_one(step, command_of(step), out)?);
            self.print_ended(report, out)?;
        }
        Ok(())
    }

    fn print_ended(&self, report: &mut Report, out: &mut impl Write) -> Result {
        for ended in std::mem::take(&mut *lock(&self.ended)) {
            let (outcome, text) = ended?;
            out.write_all(&text).context(UNPRINTED)?;
            report.add(outcome);
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs each step as the program that `command_of` makes of it, begun in their order, and reports it.
///
/// # Errors
/// `out` takes no more.
pub fn run(
    steps: &[&Step],
    command_of: impl Fn(&Step) -> Command + Sync,
    report: &mut Report,
    out: &mut impl Write,
) -> Result {
    let shared = Steps { waiting: Mutex::new(steps.iter()), ended: Mutex::new(Vec::new()) };
    thread::scope(|scope| {
        if steps.len() > 1 {
            scope.spawn(|| shared.run_beside(&command_of));
        }
        // Nobody reads what more of them would print.
        shared.run_in_front(&command_of, report, out).inspect_err(|_| shared.stop())
    })?;
    shared.print_ended(report, out)
}

/// Runs a step to its end, and passes on each line that it prints.
fn run_one(step: &Step, mut command: Command, out: &mut impl Write) -> Result<Outcome> {
    let mut tests = TestResults::new(step.word);
    let mut printed = writeln!(out, "\n== {} ==", step.name);
    let mut print = |line: &str| {
        if printed.is_ok() {
            printed = writeln!(out, "{line}");
        }
    };
    let start = Instant::now();
    let result = process::follow_both(&mut command, |line| {
        print(line);
        tests.read(line);
    });
    let seconds = start.elapsed().as_secs_f64();
    if let Err(failure) = &result {
        print(&failure.to_string());
    }
    printed.context(UNPRINTED)?;
    Ok(Outcome { name: step.name, ok: result.is_ok(), seconds, tests })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_scripts(scripts: &[(&'static str, String)]) -> (Report, String) {
        let steps: Vec<Step> = scripts.iter().map(|(name, _)| Step::new(name, |_| Ok(()))).collect();
        let command_of = |step: &Step| {
            let script = scripts.iter().find(|(name, _)| *name == step.name).map(|(_, script)| script);
            let mut shell = process::limited(60, "sh");
            shell.arg("-c").arg(script.expect("each step has a script"));
            shell
        };
        let (mut report, mut out) = (Report::default(), Vec::new());
        run(&steps.iter().collect::<Vec<_>>(), command_of, &mut report, &mut out).expect("a list takes all");
        (report, String::from_utf8(out).expect("scripts print text"))
    }

    /// Each waits for the other by a pipe, which one after the other they could not.
    #[test]
    fn two_steps_run_at_once_and_what_each_prints_stays_together() {
        let folder = std::env::temp_dir().join(format!("xtask-side-by-side-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let [there, back] = ["there", "back"].map(|name| folder.join(name).display().to_string());
        process::run(Command::new("mkfifo").args([&there, &back])).expect("pipes can be made");
        let (report, out) = run_scripts(&[
            ("one", format!("echo a; read word <{there}; echo b; echo go >{back}; echo c >&2")),
            ("two", format!("echo d; echo go >{there}; read word <{back}; echo e; exit 3")),
            ("three", "echo f".to_owned()),
        ]);
        std::fs::remove_dir_all(&folder).expect("the folder can be removed");
        for (step, lines) in [("one", "a\nb\nc\n"), ("two", "d\ne\n`timeout"), ("three", "f\n")] {
            assert!(out.contains(&format!("\n== {step} ==\n{lines}")), "{step}: {out}");
        }
        assert_eq!(["one", "two", "three"].map(|step| report.failed(step)), [false, true, false]);
    }

    #[test]
    fn a_step_that_cannot_be_started_has_failed_and_says_why() {
        let step = Step::new("none", |_| Ok(()));
        let (mut report, mut out) = (Report::default(), Vec::new());
        run(&[&step], |_| Command::new("/nonexistent/program"), &mut report, &mut out).expect("a list takes all");
        assert!(report.failed("none"));
        assert!(String::from_utf8_lossy(&out).contains("`/nonexistent/program` cannot be started"));
    }
}
