//! Processes of this program that measure what a process can do only once or in one way: its start, the setting of an
//! environment variable that is read once, a native library that counts. Their answer is the last line they print. They
//! start no further processes of the same purpose.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;
use crate::options::{Child, Options};
use crate::outcome::{Counts, Outcome};

/// What our adapters read once: bytes that a queue keeps for each pool.
const MAGAZINE: &str = "UR_USM_MAGAZINE_BYTES";

/// Runs a process like this one and takes its answer.
pub fn ask<T: DeserializeOwned>(
    options: &Options,
    child: Child,
    only: &[String],
    environment: &[(&str, OsString)],
) -> Result<T, Failure> {
    let other = |error: std::io::Error| Failure::Other(error.to_string());
    let mut command = Command::new(std::env::current_exe().map_err(other)?);
    // The rest of the environment was set before and goes along.
    command.args(options.arguments()).args(["--child", child.name()]).envs(environment.iter().cloned());
    for only in only {
        command.args(["--only", only]);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(other)?;
    if !output.status.success() {
        return Err(Failure::Other(format!("the process for {}: {}", child.name(), output.status)));
    }
    parse(&output.stdout).map_err(|error| Failure::Other(format!("the answer of the process: {error}")))
}

/// The last line; whatever an adapter or a driver prints comes before.
fn parse<T: DeserializeOwned>(output: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(output.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default())
}

/// Prints this process's answer.
pub fn answer<T: Serialize>(value: &T) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(ur_client::print(&format!("{text}\n"))?)
}

/// The rows of cases in a process whose queues keep no freed blocks; what they are for says `child`.
pub fn without_magazines(options: &Options, child: Child, cases: &[String]) -> Result<Outcome, Failure> {
    ask(options, child, cases, &[(MAGAZINE, "0".into())])
}

/// The native calls of cases, in a process whose CUDA driver is called through a library that counts.
pub fn counts(options: &Options, callcount: OsString, cases: &[String]) -> Result<Counts, Failure> {
    let counted = ("UR_CALLCOUNT_LIBRARY", options.native.clone());
    let options = Options { native: callcount, ..options.clone() };
    ask(&options, Child::Counts, cases, &[counted])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_last_line() {
        assert_eq!(parse::<u32>(b"a driver says hello\n7\n").ok(), Some(7));
        assert_eq!(parse::<u32>(b"7").ok(), Some(7));
        assert!(parse::<u32>(b"").is_err());
    }
}
