//! `races [loom|sanitizer]`: the engine's threads under ThreadSanitizer, and its lock-free books under loom.
//!
//! Both need another build of the engine, each in a folder of its own below `target`. The sanitizer is an unstable switch
//! of a stable compiler, so it is asked for by `RUSTC_BOOTSTRAP`; its runtime comes with the toolchain.

use std::process::Command;

use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::process;
use xtask::support::workspace::Workspace;

const ENGINE: &str = "ur-adapter";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    match arguments {
        [] => loom(workspace).and_then(|()| sanitizer(workspace)),
        [word] if word == "loom" => loom(workspace),
        [word] if word == "sanitizer" => sanitizer(workspace),
        _ => fail!("it takes `loom` or `sanitizer`, and nothing else"),
    }
}

/// Every interleaving of what `sync.rs` of the engine stands for.
fn loom(workspace: &Workspace) -> Result {
    let mut command = cargo(workspace, "loom");
    command.env("RUSTFLAGS", "--cfg loom").args(["test", "--package", ENGINE, "--lib", "model"]);
    process::run(&mut command)
}

/// `adapters/common/tests/noop/threads.rs` and `timelines.rs`, with every unordered access reported.
fn sanitizer(workspace: &Workspace) -> Result {
    let suppressions = workspace.path("adapters/common/tests/tsan.supp");
    let mut command = cargo(workspace, "tsan");
    command.env("RUSTC_BOOTSTRAP", "1");
    command.env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer");
    // Its reports name lines.
    command.env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    // One test at a time: the harness's own hand-overs are not instrumented.
    command.env("RUST_TEST_THREADS", "1");
    command.env("TSAN_OPTIONS", format!("suppressions={}", suppressions.display()));
    // A target named apart keeps the sanitizer out of build scripts.
    command.args([
        "test",
        "--target",
        "x86_64-unknown-linux-gnu",
        "--package",
        ENGINE,
        "--test",
        "noop",
        "--",
        "threads::",
        "timelines::",
    ]);
    process::run(&mut command)
}

fn cargo(workspace: &Workspace, folder: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace.root()).env("CARGO_TARGET_DIR", workspace.target().join(folder));
    command
}
