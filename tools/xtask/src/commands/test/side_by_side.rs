//! Runs steps two at a time, since many leave one of two cores idle. What a step prints stays together: one step prints as it
//! goes, and what ran beside it is printed when that one has ended. It must not be given steps that need each other.

use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::Step;
use super::report::{Outcome, Report, TestResults};
use crate::support::failure::{Context, Result};
use crate::support::process;

/// A step that has ended, and what it printed.
type Ended = (Outcome, Vec<u8>);

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
    let waiting = Mutex::new(steps.iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let ended = Mutex::new(Vec::<Result<Ended>>::new());
    let print_ended = |out: &mut _, report: &mut Report| -> Result {
        let ended = std::mem::take(&mut *ended.lock().unwrap_or_else(PoisonError::into_inner));
        for one in ended {
            let (outcome, text) = one?;
            Write::write_all(out, &text).context(UNPRINTED)?;
            report.add(outcome);
        }
        Ok(())
    };
    let all = thread::scope(|scope| {
        if steps.len() > 1 {
            scope.spawn(|| {
                while let Some(step) = next() {
                    let mut text = Vec::new();
                    let outcome = run_one(step, command_of(step), &mut text);
                    let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                    ended.push(outcome.map(|outcome| (outcome, text)));
                }
            });
        }
        let mut one_more = |step: &Step| {
            report.add(run_one(step, command_of(step), out)?);
            print_ended(out, report)
        };
        let mut all = Ok(());
        while let (Ok(()), Some(step)) = (&all, next()) {
            all = one_more(step);
        }
        // Nobody reads what more of them would print.
        if all.is_err() {
            *waiting.lock().unwrap_or_else(PoisonError::into_inner) = [].iter();
        }
        all
    });
    all?;
    print_ended(out, report)
}

const UNPRINTED: &str = "what a step printed cannot be printed";

/// Runs a step to its end, and passes on each line that it prints.
fn run_one(step: &Step, mut command: Command, out: &mut impl Write) -> Result<Outcome> {
    let mut tests = TestResults::new(step.word);
    let mut printed = writeln!(out, "\n== {} ==", step.name);
    let start = Instant::now();
    let result = process::follow_both(&mut command, |line| {
        printed = std::mem::replace(&mut printed, Ok(())).and_then(|()| writeln!(out, "{line}"));
        tests.read(line);
    });
    let seconds = start.elapsed().as_secs_f64();
    if let Err(failure) = &result {
        printed = printed.and_then(|()| writeln!(out, "{failure}"));
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
