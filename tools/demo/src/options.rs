//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;

/// What `--help` prints.
pub const HELP: &str = "\
Runs saxpy on stream-ordered memory over several queues of each GPU, and checks every element.

usage: ur-demo [options]
  --loader PATH     the Unified Runtime loader (libur_loader.so.0)
  --kernels DIR     the folder with saxpy.ptx
  --queues N        in-order queues on each device (4)
  --elements N      elements for each queue (1000000)

UR_CUDA_LIBRARY names the native library; with libcallcount.so there and the library to count in
UR_CALLCOUNT_LIBRARY, the native calls of each step are shown.\n";

/// What was asked for.
#[derive(Debug)]
pub struct Options {
    /// The loader.
    pub loader: OsString,
    /// Where the kernels lie.
    pub kernels: PathBuf,
    /// Queues on each device.
    pub queues: usize,
    /// Elements for each queue.
    pub elements: u32,
}

impl Options {
    /// Reads the process's arguments; `None` when help was asked for.
    pub fn from_process() -> Result<Option<Self>, lexopt::Error> {
        let mut options = Options {
            loader: ur_client::loader(),
            kernels: ur_client::kernel_folder(),
            queues: 4,
            elements: 1_000_000,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("loader") => options.loader = parser.value()?,
                Long("kernels") => options.kernels = parser.value()?.into(),
                Long("queues") => options.queues = parser.value()?.parse()?,
                Long("elements") => options.elements = parser.value()?.parse()?,
                Short('h') | Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        // The values must be exact in single precision for the comparison to be one of equality.
        if options.queues == 0 || !(1..=2_000_000).contains(&options.elements) {
            return Err("--queues takes at least 1, --elements 1 to 2000000".into());
        }
        Ok(Some(options))
    }
}
