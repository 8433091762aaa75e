//! `generator --root . [--check]`: the library from the command line. Nothing is decided here.

use std::path::PathBuf;
use std::process::ExitCode;

use generator::{Mode, generate};

fn main() -> ExitCode {
    let (root, mode) = match arguments() {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("generator: {message}\nusage: generator [--root FOLDER] [--check]");
            return ExitCode::from(2);
        }
    };
    match generate(&root, mode) {
        Ok(report) => {
            println!(
                "{} files written, {} unchanged, {} removed",
                report.written.len(),
                report.unchanged.len(),
                report.removed.len()
            );
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<(PathBuf, Mode), String> {
    let mut root = PathBuf::from(".");
    let mut mode = Mode::Write;
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--check" => mode = Mode::Check,
            "--root" => root = given.next().ok_or("--root needs a folder")?.into(),
            other => return Err(format!("unknown argument `{other}`")),
        }
    }
    Ok((root, mode))
}
