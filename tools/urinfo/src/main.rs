//! `urinfo`: what a loader finds on this machine, and why it does not find more. It works on any loader; it asks and
//! prints, makes no context and starts no device. What fails hides nothing else: the search is printed before the loader
//! starts, and an adapter's failure stands where its list would. The answer is also the exit code: 0 with a device, 1
//! without, 2 when something failed.

mod inventory;
mod options;
mod print;
mod value;
mod why;

use std::io::{self, Write};
use std::process::ExitCode;

use ur_client::{OpenError, Ur};

use inventory::Inventory;
use options::Options;

/// What stops the program.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}; try `urinfo --help`")]
    Options(#[from] lexopt::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Call(#[from] ur_client::ClientError),
    #[error("the search did not end well: {0}")]
    Search(String),
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// The exit code when there is no device.
const NO_DEVICE: u8 = 1;
/// The exit code when something failed.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let result = match Options::from_process() {
        Ok(Some(options)) if options.search_only => search(&options),
        Ok(Some(options)) => run(&options),
        Ok(None) => ur_client::print(options::HELP).map(|()| ExitCode::SUCCESS).map_err(Failure::from),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("urinfo: {failure}");
            ExitCode::from(FAILED)
        }
    }
}

/// Prints everything; answers whether there is a device.
fn run(options: &Options) -> Result<ExitCode, Failure> {
    let ur = Ur::open(&options.loader)?;
    let search = match options.why {
        true => Some(why::explain(&options.loader).map_err(Failure::Search)?),
        false => None,
    };
    if !options.json {
        // Before the loader is asked: why it fails or crashes may be in the search.
        ur_client::print(&print::search_text(&options.loader, search.as_ref()))?;
    }
    let inventory = Inventory::take(&ur, options.verbose);
    ur_client::print(&match options.json {
        true => format!("{:#}\n", print::json(&options.loader, &inventory, search.as_ref())),
        false => print::text(&inventory, search.is_some()),
    })?;
    exit_code(inventory)
}

fn exit_code(inventory: Inventory) -> Result<ExitCode, Failure> {
    let (devices, lacks_lists) = (inventory.devices(), inventory.lacks_lists());
    match inventory.error {
        Some(error) => Err(error.into()),
        None if lacks_lists => Ok(ExitCode::from(FAILED)),
        None if devices == 0 => Ok(ExitCode::from(NO_DEVICE)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The part of `--why` that has a process of its own. The loader is opened for the sake of its directory.
fn search(options: &Options) -> Result<ExitCode, Failure> {
    let mut answer = why::take_output()?;
    let ur = Ur::open(&options.loader)?;
    let search = serde_json::to_string(&why::search(&options.loader, ur.release())).map_err(io::Error::from)?;
    answer.write_all(search.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
