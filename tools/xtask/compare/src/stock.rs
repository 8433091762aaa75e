//! `stock`: both directions of compatibility with the loader and adapters that oneAPI ships. Our CUDA adapter runs on the
//! stock loader, and a stock adapter is loaded into ours; neither side is changed for it.

use std::path::Path;
use std::process::Command;

use xtask::commands::dist::{self, Dist, example};
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::process;
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};

const PACKAGES: [&str; 2] = ["intel-cmplr-lib-ur==2026.2.0", "intel-cmplr-lib-rt==2026.2.0"];

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let dist = dist::make(workspace, Release::R2026_2)?;
    let stock = Venv::with(&workspace.target().join("stock"), &PACKAGES)?.lib();
    let example = example::build(workspace, &dist, "saxpy")?;

    println!("== our CUDA adapter on the stock loader, over simcuda ==");
    let module = dist.kernels().join("saxpy.ptx");
    let printed = process::capture(on_stock(&stock, dist.on_simulated(120, &example)).arg(&module))?;
    print!("{}", printed.stdout);
    require(&printed.stdout, "verified", "the C example did not verify its result")?;
    loader_used(on_stock(&stock, dist.on_simulated(120, &example)).arg(&module), &stock)?;
    let printed = process::capture(&mut on_stock(&stock, dist.on_simulated(120, dist.program("urinfo"))))?;
    print!("{}", printed.stdout);
    require(&printed.stdout, "cuda", "urinfo saw no CUDA adapter through the stock loader")?;

    println!("== the stock Level Zero adapters on our loader, ours beside them ==");
    let level_zero = ["libur_adapter_level_zero.so.0", "libur_adapter_level_zero_v2.so.0"].map(|name| stock.join(name));
    for adapter in &level_zero {
        load_stock_adapters(&dist, &stock, &[adapter])?;
    }
    let ours = dist.library("libur_adapter_cuda.so.0");
    let printed = load_stock_adapters(&dist, &stock, &[&level_zero[0], &level_zero[1], &ours])?;
    require(&printed, "simcuda 0", "our adapter's device is missing beside the stock adapters")?;
    println!("stock: our adapter runs on the stock loader; the stock adapters load into ours and are torn down");
    Ok(())
}

/// Runs urinfo with these adapters on our loader and answers what it printed. No device is a fair answer of a machine
/// without an Intel GPU (exit code 1); a crash, or an adapter that was not opened, is not.
fn load_stock_adapters(dist: &Dist, stock: &Path, adapters: &[&Path]) -> Result<String> {
    let list: Vec<_> = adapters.iter().map(|adapter| adapter.to_string_lossy()).collect();
    let mut urinfo = dist.on_simulated(120, dist.program("urinfo"));
    urinfo.env("LD_LIBRARY_PATH", process::path_list(&[&dist.lib(), stock])?);
    urinfo.env("UR_ADAPTERS_FORCE_LOAD", list.join(","));
    urinfo.env("UR_LOG_LOADER", "level:info;output:stderr").arg("--why");
    let (status, printed) = process::outcome(&mut urinfo)?;
    print!("{}", printed.stdout);
    if !matches!(status.code(), Some(0 | 1)) {
        fail!("urinfo with {} on our loader ended with {status}:\n{}", list.join(","), printed.stderr);
    }
    for adapter in &list {
        if !printed.stderr.contains(&format!("loaded {adapter}")) {
            fail!("our loader did not load {adapter}:\n{}", printed.stderr);
        }
    }
    Ok(printed.stdout)
}

/// Puts the stock loader in the place of ours.
fn on_stock(stock: &Path, mut command: Command) -> Command {
    command.env("LD_LIBRARY_PATH", stock);
    command
}

fn require(printed: &str, text: &str, complaint: &str) -> Result {
    if printed.to_lowercase().contains(text) { Ok(()) } else { fail!("{complaint}:\n{printed}") }
}

/// Runs once more and asks the dynamic linker which loader it took.
fn loader_used(command: &mut Command, folder: &Path) -> Result {
    let printed = process::capture(command.env("LD_DEBUG", "libs"))?;
    let wanted = folder.join("libur_loader.so.0").canonicalize().context(folder.display())?;
    let taken = printed
        .stderr
        .lines()
        .find_map(|line| line.split_once("calling init: ")?.1.trim().strip_suffix("libur_loader.so.0"));
    match taken.and_then(|folder| Path::new(folder).join("libur_loader.so.0").canonicalize().ok()) {
        Some(path) if path == wanted => {
            println!("(loader: {})", wanted.display());
            Ok(())
        }
        other => fail!("the loader that ran is {other:?}, not {}", wanted.display()),
    }
}
