//! `cargo xtask COMMAND`: everything that is done to this checkout beyond what cargo does by itself. What is not a command of
//! this program is one of `xtask-compare`, which gets the words as they are.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use xtask::cli::{self, Command};
use xtask::commands::{bundle, compare, dist, generate, test, wheel};
use xtask::support::workspace::Workspace;

const COMMANDS: [Command; 5] = [
    Command {
        name: "test",
        arguments: "[--step NAME] [FILTER...]",
        purpose: "run every test that needs no download",
        run: test::run,
    },
    Command {
        name: "generate",
        arguments: "[--check]",
        purpose: "write what follows from the specification, or compare it",
        run: generate::run,
    },
    Command {
        name: "dist",
        arguments: "[--release 2026.1|2026.2]",
        purpose: "build and lay out target/dist",
        run: dist::run,
    },
    Command {
        name: "wheel",
        arguments: "",
        purpose: "make Python packages of our adapters and try them",
        run: wheel::run,
    },
    Command {
        name: "bundle",
        arguments: "[--sycl [RELEASE] | --dpnp]",
        purpose: "put what another machine needs into .carry, .carry-sycl or .carry-dpnp",
        run: bundle::run,
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = cli::run(&COMMANDS, &words) {
        return code;
    }
    if words.is_empty() {
        eprint!("usage: cargo xtask COMMAND\n{}", cli::list(&COMMANDS));
    }
    let failure = match Workspace::find() {
        // It lists its own commands, and says where there is none of a name.
        Ok(workspace) => format!("{}", compare::command(&workspace).args(&words).exec()),
        Err(failure) => failure.to_string(),
    };
    eprintln!("xtask: {failure}");
    ExitCode::FAILURE
}
