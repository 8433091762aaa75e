//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

const HELP: &str = "\
Measures a Unified Runtime against the raw driver calls, in one process.

usage: urbench [options]
  --loader PATH     the loader (libur_loader.so.0)
  --adapter PATH    the adapter to load, and no other
  --native PATH     the CUDA driver library that both sides use (UR_CUDA_LIBRARY, or libcuda.so.1);
                    with libcallcount.so, native calls are counted on any driver
  --kernels DIR     the folder with basic.ptx
  --only NAME       a case or a group: init, dispatch, work, threads; may be repeated
  --rounds N        rounds of each case (11)
  --round-time MS   time of one round (10)
  --quick           3 rounds of 1 ms: to see that it works, not to measure
  --json FILE       the results as JSON";

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The loader.
    pub loader: OsString,
    /// The adapter, if not by the loader's search.
    pub adapter: Option<PathBuf>,
    /// The native library.
    pub native: OsString,
    /// Where the kernels lie.
    pub kernels: PathBuf,
    /// Cases and groups; all when empty.
    pub only: Vec<String>,
    /// Rounds of each case.
    pub rounds: usize,
    /// Time of one round.
    pub round_time: Duration,
    /// Where the JSON goes.
    pub json: Option<PathBuf>,
    /// The one measurement that a child process makes.
    pub child_init: bool,
}

impl Options {
    /// Reads the process's arguments; `None` when help was asked for and given.
    pub fn from_process() -> Result<Option<Self>, lexopt::Error> {
        Self::read(lexopt::Parser::from_env())
    }

    fn read(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Options {
            loader: ur_client::DEFAULT_LOADER.into(),
            adapter: None,
            native: ur_client::native_library(),
            kernels: ur_client::kernel_folder(),
            only: Vec::new(),
            rounds: 11,
            round_time: Duration::from_millis(10),
            json: None,
            child_init: false,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Long("loader") => options.loader = parser.value()?,
                Long("adapter") => options.adapter = Some(parser.value()?.into()),
                Long("native") => options.native = parser.value()?,
                Long("kernels") => options.kernels = parser.value()?.into(),
                Long("only") => options.only.push(parser.value()?.string()?),
                Long("rounds") => options.rounds = parser.value()?.parse()?,
                Long("round-time") => options.round_time = Duration::from_millis(parser.value()?.parse()?),
                Long("quick") => (options.rounds, options.round_time) = (3, Duration::from_millis(1)),
                Long("json") => options.json = Some(parser.value()?.into()),
                Long("child-init") => options.child_init = true,
                Short('h') | Long("help") => {
                    println!("{HELP}");
                    return Ok(None);
                }
                other => return Err(other.unexpected()),
            }
        }
        if options.rounds == 0 || options.round_time.is_zero() {
            return Err("--rounds and --round-time take at least 1".into());
        }
        Ok(Some(options))
    }

    /// Sets the variables that the loader and our adapter read. Before any thread is started, and before the loader.
    pub fn steer(&self) {
        // SAFETY: called first thing in `main`, while this process has one thread.
        unsafe {
            if let Some(adapter) = &self.adapter {
                std::env::set_var("UR_ADAPTERS_FORCE_LOAD", adapter);
            }
            std::env::set_var("UR_CUDA_LIBRARY", &self.native);
        }
    }

    /// Whether a case or a whole group was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.starts_with(only.as_str()))
    }

    /// Whether anything of a group was asked for.
    pub fn wants_some_of(&self, group: &str) -> bool {
        self.wants(group) || self.only.iter().any(|only| only.starts_with(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Options {
        Options::read(lexopt::Parser::from_args(arguments)).expect("valid").expect("no help")
    }

    #[test]
    fn only_takes_groups_and_cases() {
        let options = read(&["--only", "dispatch", "--only", "work: launch"]);
        assert!(options.wants("dispatch: urQueueFlush") && options.wants("work: launch, finish"));
        assert!(!options.wants("work: copy") && !options.wants("init") && !options.wants("threads"));
        assert!(options.wants_some_of("work") && !options.wants_some_of("threads"));
        assert!(read(&[]).wants("anything"));
    }

    #[test]
    fn quick_is_few_and_short_and_zero_is_refused() {
        let options = read(&["--quick"]);
        assert_eq!((options.rounds, options.round_time), (3, Duration::from_millis(1)));
        assert!(Options::read(lexopt::Parser::from_args(["--rounds", "0"])).is_err());
    }
}
