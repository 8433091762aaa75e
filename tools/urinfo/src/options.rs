//! The command line.

use std::ffi::OsString;

use lexopt::prelude::*;

/// What `--help` prints.
pub const HELP: &str = "\
Lists what a Unified Runtime loader finds.

usage: urinfo [options]
  --loader PATH   the loader (libur_loader.so.0)
  -v, --verbose   every property of every device
  --why           every library that the search considers, in order, and what became of it,
                  whatever fails afterwards
  --json          the same as JSON; a key `error` of the whole, an adapter or a platform says what failed

Exit code: 0 when there is a device, 1 when there is none, 2 when something failed.\n";

/// What was asked for.
#[derive(Debug)]
pub struct Options {
    /// The loader.
    pub loader: OsString,
    /// All properties.
    pub verbose: bool,
    /// The search.
    pub why: bool,
    /// For programs.
    pub json: bool,
    /// The search alone, as JSON: what `--why` runs in a process of its own.
    pub search_only: bool,
}

impl Options {
    /// Reads the process's arguments; `None` when help was asked for.
    pub fn from_process() -> Result<Option<Self>, lexopt::Error> {
        let mut options =
            Options { loader: ur_client::loader(), verbose: false, why: false, json: false, search_only: false };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("loader") => options.loader = parser.value()?,
                Short('v') | Long("verbose") => options.verbose = true,
                Long("why") => options.why = true,
                Long("json") => options.json = true,
                Long("search-only") => options.search_only = true,
                Short('h') | Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(options))
    }
}
