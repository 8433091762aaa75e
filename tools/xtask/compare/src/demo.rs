//! `demo [--adapter cuda|hip] [--native LIBRARY]`: the demonstration on the real driver if it has a GPU to show, else on the
//! simulated one. It says which and why; it never passes the simulated driver off as a real one. With the HIP adapter, HIP's
//! API lies over that CUDA driver: the demonstration's kernel is PTX, which AMD's own runtime does not take.

use std::path::{Path, PathBuf};

use libloading::{Library, Symbol};

use xtask::commands::dist::{self, Dist};
use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::process;
use xtask::support::workspace::{Release, Workspace};

const REAL: &str = "libcuda.so.1";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let (mut named, mut adapter) = (None, "cuda");
    for pair in arguments.chunks(2) {
        match pair {
            [flag, path] if flag == "--native" => named = Some(path),
            [flag, name] if flag == "--adapter" && ["cuda", "hip"].contains(&name.as_str()) => adapter = name,
            _ => fail!("it takes `--adapter cuda`, `--adapter hip` and `--native LIBRARY`, and nothing else"),
        }
    }
    let dist = dist::make(workspace, Release::R2026_2)?;
    let native = match named {
        Some(path) => {
            println!("Native library: {path}, as asked.");
            PathBuf::from(path)
        }
        None => choose(&dist),
    };
    show(&dist, adapter, &native)
}

/// Runs the demonstration program over a native library, with the calls counted.
pub fn show(dist: &Dist, adapter: &str, native: &Path) -> Result {
    let mut command = dist.on_native(300, dist.program("ur-demo"), &dist.library("libcallcount.so"));
    command.env("UR_ADAPTERS_FORCE_LOAD", dist.library(&format!("libur_adapter_{adapter}.so.0")));
    command.env("UR_HIP_LIBRARY", dist.library("libhip_on_cuda.so"));
    process::run(command.env("UR_CALLCOUNT_LIBRARY", native))
}

fn choose(dist: &Dist) -> PathBuf {
    match count_gpus() {
        Ok(count) => {
            println!("Native library: {REAL}, which finds {count} GPU{}.", if count == 1 { "" } else { "s" });
            REAL.into()
        }
        Err(reason) => {
            println!("Native library: the simulated driver libsimcuda.so, because {reason}.");
            dist.library("libsimcuda.so")
        }
    }
}

/// How many GPUs the real driver finds; why it cannot be used, otherwise.
fn count_gpus() -> std::result::Result<i32, String> {
    // SAFETY: libcuda's initialisers are those of the driver that any CUDA program of this user loads.
    let library = unsafe { Library::new(REAL) }.map_err(|error| {
        let text = error.to_string();
        format!("{REAL} cannot be opened ({})", text.strip_prefix(&format!("{REAL}: ")).unwrap_or(&text))
    })?;
    let missing = |error| format!("{REAL} is no CUDA driver ({error})");
    // SAFETY: `CUresult cuInit(unsigned)` has this type.
    let init: Symbol<unsafe extern "C" fn(u32) -> i32> = unsafe { library.get(b"cuInit") }.map_err(missing)?;
    // SAFETY: `CUresult cuDeviceGetCount(int *)` has this type.
    let count: Symbol<unsafe extern "C" fn(*mut i32) -> i32> =
        unsafe { library.get(b"cuDeviceGetCount") }.map_err(missing)?;
    // SAFETY: 0 is the only value that cuInit takes.
    let status = unsafe { init(0) };
    if status != 0 {
        return Err(format!("{REAL} does not start (cuInit answers {status})"));
    }
    let mut found = 0;
    // SAFETY: the pointer is to a live integer.
    let status = unsafe { count(&raw mut found) };
    match (status, found) {
        (0, 1..) => Ok(found),
        (0, _) => Err(format!("{REAL} finds no GPU")),
        _ => Err(format!("{REAL} cannot count GPUs (cuDeviceGetCount answers {status})")),
    }
}
