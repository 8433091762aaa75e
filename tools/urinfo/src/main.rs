//! `urinfo`: what a loader finds on this machine, and why it does not find more. It works on any loader; it asks and
//! prints, makes no context and starts no device. The answer is also the exit code: 0 with a device, 1 without, 2 when
//! something failed.

mod inventory;
mod options;
mod print;
mod value;
mod why;

use std::io;
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
    ur.init()?;
    let adapters = ur.adapters()?;
    let held = ur.hold_adapters(&adapters);
    let inventory = Inventory::take(&ur, &adapters, options.verbose)?;
    drop(held);
    ur.tear_down()?;
    ur_client::print(&match options.json {
        true => format!("{:#}\n", print::json(&options.loader, &inventory, search.as_ref())),
        false => print::text(&options.loader, &inventory, search.as_ref()),
    })?;
    Ok(if inventory.devices() == 0 { ExitCode::from(NO_DEVICE) } else { ExitCode::SUCCESS })
}

/// The part of `--why` that has a process of its own. The loader is opened for the sake of its directory.
fn search(options: &Options) -> Result<ExitCode, Failure> {
    let ur = Ur::open(&options.loader)?;
    let search = serde_json::to_string(&why::search(&options.loader, ur.release())).map_err(io::Error::from)?;
    ur_client::print(&search)?;
    Ok(ExitCode::SUCCESS)
}
