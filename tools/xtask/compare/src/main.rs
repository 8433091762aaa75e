//! Commands that measure this project or compare it with others' work: with oneAPI's packages, HIP's headers, stock SYCL
//! runtimes and programs, and under a race detector. `cargo xtask` runs this program for every command that
//! it does not have itself. Nothing that ships depends on it.

mod abi;
mod demo;
mod dpnp;
mod elf;
mod hip_headers;
mod lines;
mod nvvm;
mod planted;
mod races;
mod stock;
mod strangers;
mod sycl;
mod sycl_cpu;
mod travelling;
mod try_wheel;
mod wheel_images;

use std::process::ExitCode;

use xtask::cli::{self, Command};

const COMMANDS: [Command; 16] = [
    Command {
        name: "demo",
        arguments: "[--adapter cuda|hip] [--native LIBRARY]",
        purpose: "run the demonstration on a GPU, or a simulated one",
        run: demo::run,
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
        name: "strangers",
        arguments: "",
        purpose: "run our suite over oneAPI's OpenCL adapter",
        run: strangers::run,
    },
    Command {
        name: "sycl",
        arguments: "[--release R] [--no-suite] [--unpooled] [PROGRAM...]",
        purpose: "run SYCL programs and dpctl's suite on our CUDA adapter",
        run: sycl::run,
    },
    Command {
        name: "dpnp",
        arguments: "[TESTS...]",
        purpose: "run dpnp and its tests on our CUDA adapter",
        run: dpnp::run,
    },
    Command {
        name: "hip-headers",
        arguments: "",
        purpose: "compare what we know of HIP with its public headers",
        run: hip_headers::run,
    },
    Command {
        name: "wheel-images",
        arguments: "[--every N] [--sm N]",
        purpose: "translate, compile and assemble the images of dpnp's and dpctl's wheels",
        run: wheel_images::run,
    },
    Command { name: "nvvm", arguments: "", purpose: "test programs of SPIR-V over the real libnvvm", run: nvvm::run },
    Command {
        name: "races",
        arguments: "[loom|sanitizer]",
        purpose: "run the engine's threads under ThreadSanitizer and loom",
        run: races::run,
    },
    Command {
        name: "planted",
        arguments: "",
        purpose: "build adapters with bugs for the model to find",
        run: planted::run,
    },
    Command { name: "lines", arguments: "", purpose: "count the lines of each crate", run: lines::run },
    Command {
        name: "try-wheel",
        arguments: "RELEASE WHEEL",
        purpose: "install a Python package, use it and remove it",
        run: try_wheel::run,
    },
    Command {
        name: "bundle-sycl",
        arguments: "[RELEASE]",
        purpose: "put what SYCL needs on another machine into .carry-sycl",
        run: sycl::bundle::run,
    },
    Command {
        name: "bundle-dpnp",
        arguments: "",
        purpose: "put what dpnp needs on another machine into .carry-dpnp",
        run: dpnp::bundle::run,
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    cli::run(&COMMANDS, &words).unwrap_or_else(|| {
        match words.first() {
            Some(word) => eprintln!("xtask: there is no command `{word}`; `cargo xtask` lists them"),
            None => eprint!("{}", cli::list(&COMMANDS)),
        }
        ExitCode::from(2)
    })
}
