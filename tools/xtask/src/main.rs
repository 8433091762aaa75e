//! `cargo xtask COMMAND`: everything that is done to this checkout beyond what cargo does by itself. This file only finds
//! the command; it must not depend on any other crate of the workspace, so that it builds while those are broken.

mod commands;
mod support;

use std::process::ExitCode;

use commands::{
    abi, bundle, coverage, demo, dist, generate, hip_headers, lines, planted, races, stock, sycl, sycl_cpu, test, wheel,
};
use support::failure::Result;
use support::workspace::Workspace;

struct Command {
    name: &'static str,
    arguments: &'static str,
    purpose: &'static str,
    run: fn(&Workspace, &[String]) -> Result,
}

const COMMANDS: [Command; 15] = [
    Command {
        name: "demo",
        arguments: "[--adapter cuda|hip] [--native LIBRARY]",
        purpose: "run the demonstration on a GPU, or a simulated one",
        run: demo::run,
    },
    Command {
        name: "test",
        arguments: "[FILTER...]",
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
        name: "coverage",
        arguments: "[--check]",
        purpose: "write docs/coverage.md from the code, or compare it",
        run: coverage::run,
    },
    Command {
        name: "dist",
        arguments: "[--release 2026.1|2026.2]",
        purpose: "build and lay out target/dist",
        run: dist::run,
    },
    Command {
        name: "abi",
        arguments: "",
        purpose: "compare our headers with those of oneAPI's packages",
        run: abi::run,
    },
    Command {
        name: "stock",
        arguments: "",
        purpose: "run our adapter on oneAPI's loader, and its adapter on ours",
        run: stock::run,
    },
    Command {
        name: "sycl-cpu",
        arguments: "[--stock]",
        purpose: "run dpctl's suite and a SYCL kernel on our loader",
        run: sycl_cpu::run,
    },
    Command {
        name: "sycl",
        arguments: "[--release R] [--no-suite] [PROGRAM...]",
        purpose: "run SYCL programs and dpctl's suite on our CUDA adapter",
        run: sycl::run,
    },
    Command {
        name: "wheel",
        arguments: "",
        purpose: "make Python packages of our adapters and try them",
        run: wheel::run,
    },
    Command {
        name: "hip-headers",
        arguments: "",
        purpose: "compare what we know of HIP with its public headers",
        run: hip_headers::run,
    },
    Command {
        name: "races",
        arguments: "",
        purpose: "run the engine's threads under ThreadSanitizer and loom",
        run: races::run,
    },
    Command {
        name: "planted",
        arguments: "",
        purpose: "build adapters with bugs for the model to find",
        run: planted::run,
    },
    Command {
        name: "bundle",
        arguments: "[--sycl [RELEASE]]",
        purpose: "put what another machine needs into .carry or .carry-sycl",
        run: bundle::run,
    },
    Command { name: "lines", arguments: "", purpose: "count the lines of each crate", run: lines::run },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(command) = words.first().and_then(|word| COMMANDS.iter().find(|c| c.name == word)) else {
        eprint!("{}", usage(words.first()));
        return ExitCode::from(2);
    };
    match Workspace::find().and_then(|workspace| (command.run)(&workspace, &words[1..])) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {}: {failure}", command.name);
            ExitCode::FAILURE
        }
    }
}

fn usage(word: Option<&String>) -> String {
    let mut text = word.map_or(String::new(), |word| format!("xtask: there is no command `{word}`\n"));
    text.push_str("usage: cargo xtask COMMAND\n");
    for command in &COMMANDS {
        let call = format!("{} {}", command.name, command.arguments);
        text.push_str(&format!("  {call:<34} {}\n", command.purpose));
    }
    text
}
