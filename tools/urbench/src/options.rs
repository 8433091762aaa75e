//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::{Failure, goals};

/// What `--help` prints.
pub const HELP: &str = "\
Measures a Unified Runtime against the raw native calls, in one process.

usage: urbench [options]
  --loader PATH     the loader (libur_loader.so.0)
  --adapter PATH    the adapter to load, and no other
  --native PATH     the CUDA driver that both sides use (UR_CUDA_LIBRARY, or libcuda.so.1)
  --hip PATH        the HIP runtime that both sides use with a HIP adapter (UR_HIP_LIBRARY, or libamdhip64.so.7, 6 or 5)
  --callcount PATH  the library that counts calls of the CUDA driver in a second process (libcallcount.so beside this
                    program's lib folder, unless the driver counts itself)
  --kernels DIR     the folder with basic.ptx
  --table           only what the table of goals needs, and only that table
  --only NAME       a case or a group: init, lifetimes, dispatch, work, objects, graphs, timelines, programs, growth,
                    threads, replays; may be repeated
  --rounds N        rounds of each case (41)
  --round-time MS   time of one round (5)
  --processes N     processes that measure, whose rounds count together (1): addresses and streams that one happens
                    to get move a ratio by up to 0.02
  --beside PATH     another adapter, whose processes take turns with those of this one: a table with the figures of both
  --quick           3 rounds of 1 ms: to see that it works, not to measure
  --json FILE       the results as JSON\n";

/// What a process that this program starts is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// One start of the UR.
    Init,
    /// Contexts that come and go as the only objects.
    Lifetimes,
    /// Cases whose rows are sent.
    Cases,
    /// The native calls of cases.
    Counts,
    /// Cases whose rounds are added to those of the same cases: their native calls are known.
    Rounds,
}

impl Child {
    /// The option's value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Lifetimes => "lifetimes",
            Self::Cases => "cases",
            Self::Counts => "counts",
            Self::Rounds => "rounds",
        }
    }
}

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The loader.
    pub loader: OsString,
    /// The adapter, if not by the loader's search.
    pub adapter: Option<PathBuf>,
    /// The CUDA driver.
    pub native: OsString,
    /// The HIP runtime, if not by the usual names.
    pub hip: Option<OsString>,
    /// The library that counts, if it was named.
    pub callcount: Option<PathBuf>,
    /// Where the kernels lie.
    pub kernels: PathBuf,
    /// The table of goals alone.
    pub table: bool,
    /// Cases and groups; all when empty.
    pub only: Vec<String>,
    /// Rounds of each case.
    pub rounds: usize,
    /// Time of one round.
    pub round_time: Duration,
    /// Processes whose rounds count together.
    pub processes: usize,
    /// Another adapter that is measured beside it.
    pub beside: Option<PathBuf>,
    /// To see that it works: cases with many objects have few.
    pub quick: bool,
    /// Where the JSON goes.
    pub json: Option<PathBuf>,
    /// What this process does for the one that started it.
    pub child: Option<Child>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            loader: ur_client::loader(),
            adapter: None,
            native: ur_client::native_library(),
            hip: None,
            callcount: None,
            kernels: ur_client::kernel_folder(),
            table: false,
            only: Vec::new(),
            rounds: 41,
            round_time: Duration::from_millis(5),
            processes: 1,
            beside: None,
            quick: false,
            json: None,
            child: None,
        }
    }
}

impl Options {
    /// Reads the process's arguments; `None` when help was asked for.
    pub fn from_process() -> Result<Option<Self>, lexopt::Error> {
        Self::read(lexopt::Parser::from_env())
    }

    fn read(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Options::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("loader") => options.loader = parser.value()?,
                Long("adapter") => options.adapter = Some(parser.value()?.into()),
                Long("native") => options.native = parser.value()?,
                Long("hip") => options.hip = Some(parser.value()?),
                Long("callcount") => options.callcount = Some(parser.value()?.into()),
                Long("kernels") => options.kernels = parser.value()?.into(),
                Long("table") => options.table = true,
                Long("only") => options.only.push(parser.value()?.string()?),
                Long("rounds") => options.rounds = parser.value()?.parse()?,
                Long("round-time") => options.round_time = Duration::from_micros(micros(parser.value()?.parse()?)),
                Long("processes") => options.processes = parser.value()?.parse()?,
                Long("beside") => options.beside = Some(parser.value()?.into()),
                Long("quick") => {
                    (options.quick, options.rounds, options.round_time) = (true, 3, Duration::from_millis(1));
                }
                Long("json") => options.json = Some(parser.value()?.into()),
                Long("child") => {
                    let name = parser.value()?.string()?;
                    let all = [Child::Init, Child::Lifetimes, Child::Cases, Child::Counts, Child::Rounds];
                    let child = all.into_iter().find(|child| child.name() == name);
                    options.child = Some(child.ok_or("--child is for this program's own processes")?);
                }
                Short('h') | Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        if options.rounds == 0 || options.round_time.is_zero() || options.processes == 0 {
            return Err("--rounds, --round-time and --processes take more than 0".into());
        }
        Ok(Some(options))
    }

    /// The arguments that make another process of this program measure the same thing, but for `--only`.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["--loader".into(), self.loader.clone()];
        arguments.extend(["--native".into(), self.native.clone(), "--kernels".into(), self.kernels.clone().into()]);
        let optional = [
            ("--adapter", self.adapter.clone().map(OsString::from)),
            ("--hip", self.hip.clone()),
            ("--callcount", self.callcount.clone().map(OsString::from)),
        ];
        for (name, value) in optional {
            arguments.extend(value.into_iter().flat_map(|value| [name.into(), value]));
        }
        // It comes first: what follows says the same or something else.
        arguments.extend(self.quick.then(|| "--quick".into()));
        let milliseconds = self.round_time.as_secs_f64() * 1e3;
        arguments.extend(["--rounds".into(), self.rounds.to_string().into()]);
        arguments.extend(["--round-time".into(), milliseconds.to_string().into()]);
        arguments
    }

    /// Sets the variables that the loader and our adapters read. Before any thread is started, and before the loader.
    pub fn steer(&self) {
        // SAFETY: called first thing in `main`, while this process has one thread.
        unsafe {
            if let Some(adapter) = &self.adapter {
                std::env::set_var("UR_ADAPTERS_FORCE_LOAD", adapter);
            }
            if let Some(hip) = &self.hip {
                std::env::set_var("UR_HIP_LIBRARY", hip);
            }
            std::env::set_var("UR_CUDA_LIBRARY", &self.native);
            // What is measured does not fill the user's own cache.
            if std::env::var_os("UR_CACHE_DIR").is_none() {
                let folder = std::env::temp_dir().join(format!("urbench-cache-{}", libc::getuid()));
                std::env::set_var("UR_CACHE_DIR", folder);
                std::env::set_var("UR_CACHE_MAX_SIZE", "16M");
            }
        }
    }

    /// The library that counts: the one that was named, or the one of this installation.
    pub fn callcount(&self) -> Option<PathBuf> {
        self.callcount.clone().or_else(|| {
            let program = std::env::current_exe().ok()?;
            Some(program.parent()?.parent()?.join("lib/libcallcount.so")).filter(|path| path.exists())
        })
    }

    /// What to say where no case is among those that were asked for.
    pub fn nothing_is_named(&self) -> Failure {
        let table = if self.table { " of the table of goals" } else { "" };
        Failure::Other(format!(
            "no case{table} has a name that begins with {}; try `urbench --help`",
            self.only.join(" or ")
        ))
    }

    /// Whether a case or a whole group was asked for.
    pub fn wants(&self, name: &str) -> bool {
        (!self.table || goals::names_case(name))
            && (self.only.is_empty() || self.only.iter().any(|only| name.starts_with(only.as_str())))
    }

    /// Whether anything of a group was asked for.
    pub fn wants_some_of(&self, group: &str) -> bool {
        (!self.table || goals::names_group(group))
            && (self.only.is_empty()
                || self.only.iter().any(|only| group.starts_with(only.as_str()) || only.starts_with(group)))
    }
}

/// Of milliseconds; what is no time is 0, which is refused.
fn micros(milliseconds: f64) -> u64 {
    (milliseconds * 1e3).round().clamp(0.0, 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Options {
        // The first one is the program's name.
        let all = std::iter::once("urbench").chain(arguments.iter().copied());
        Options::read(lexopt::Parser::from_iter(all)).expect("valid").expect("no help")
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
    fn the_table_wants_what_its_goals_name_and_nothing_else() {
        let options = read(&["--table"]);
        assert!(options.wants("work: launch") && options.wants("dispatch: urContextRetain + Release"));
        assert!(!options.wants("init") && !options.wants("dispatch: urQueueFlush") && !options.wants_some_of("init"));
        assert!(options.wants_some_of("threads"));
    }

    #[test]
    fn quick_is_few_and_short_and_zero_is_refused() {
        let options = read(&["--quick"]);
        assert_eq!((options.rounds, options.round_time), (3, Duration::from_millis(1)));
        for zero in [["--rounds", "0"], ["--round-time", "0"], ["--round-time", "-1"], ["--processes", "0"]] {
            assert!(Options::read(lexopt::Parser::from_args(zero)).is_err(), "{zero:?}");
        }
    }

    #[test]
    fn another_process_is_told_the_same() {
        let one = ["--adapter", "a", "--hip", "h", "--round-time", "2.5", "--rounds", "7", "--loader", "l"];
        let options = read(&[&one[..], &["--processes", "3"]].concat());
        let again = options.arguments();
        let again = Options::read(lexopt::Parser::from_args(again)).expect("valid").expect("no help");
        assert_eq!((again.loader, again.adapter, again.hip), (options.loader, options.adapter, options.hip));
        assert_eq!((again.rounds, again.round_time), (7, Duration::from_micros(2500)));
        assert_eq!((options.processes, again.processes), (3, 1), "it is one of the processes");
    }
}
