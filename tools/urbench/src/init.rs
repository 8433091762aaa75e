//! From nothing to the first device: time, threads that are started on the way, native contexts and native calls. Every
//! round is a process of its own, since a process starts only once.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use ur_client::{NativeCalls, Ur};

use crate::Failure;
use crate::calls::Calls;
use crate::children;
use crate::options::{Child, Options};
use crate::outcome::Case;
use crate::stats::Summary;

/// Functions that make a context of the native library, or keep one.
const CONTEXTS: [&str; 5] =
    ["cuDevicePrimaryCtxRetain", "cuCtxCreate", "cuCtxCreate_v2", "cuCtxCreate_v3", "cuCtxCreate_v4"];

/// Processes are slow to start; more of them say no more.
const MOST: usize = 11;

/// What a child process tells.
#[derive(Debug, Serialize, Deserialize)]
struct Start {
    nanoseconds: f64,
    threads: usize,
    devices: usize,
    native_calls: Option<Calls>,
    contexts: Option<u64>,
}

/// Measures in this process, which has done nothing before, and prints the result.
pub fn child(options: &Options) -> Result<(), Failure> {
    let before = threads()?;
    let start = Instant::now();
    let ur = Ur::open(&options.loader)?;
    ur.init()?;
    let adapters = ur.adapters()?;
    let devices = ur.all_devices(&adapters)?;
    let nanoseconds = start.elapsed().as_nanos() as f64;
    let calls = NativeCalls::of_loaded(&options.native);
    let result = Start {
        nanoseconds,
        threads: threads()?.saturating_sub(before),
        devices: devices.len(),
        native_calls: calls.as_ref().map(|calls| Calls {
            functions: calls.each().into_iter().map(|(name, count)| (name, count as f64)).collect(),
        }),
        contexts: calls.as_ref().map(|calls| CONTEXTS.iter().map(|name| calls.of(name)).sum()),
    };
    children::answer(&result)?;
    drop((devices, ur.hold_adapters(&adapters)));
    ur.tear_down()?;
    Ok(())
}

/// Threads of this process.
fn threads() -> Result<usize, Failure> {
    let list = std::fs::read_dir("/proc/self/task").map_err(|error| Failure::Other(error.to_string()))?;
    Ok(list.count())
}

/// The case: one child a round.
pub fn cases(options: &Options) -> Result<Vec<Case>, Failure> {
    let starts = (0..options.rounds.min(MOST))
        .map(|_| children::ask::<Start>(options, Child::Init, &[], &[]))
        .collect::<Result<Vec<_>, _>>()?;
    let Some(last) = starts.last() else { return Ok(Vec::new()) };
    let count = |count: Option<u64>| count.map_or_else(|| "not counted".to_owned(), |count| count.to_string());
    Ok(vec![Case {
        name: "init: to the first device".to_owned(),
        measured: Summary::of(starts.iter().map(|start| start.nanoseconds).collect()),
        calls: last.native_calls.clone(),
        note: format!(
            "{} devices; threads started: {}; native contexts: {}{}",
            last.devices,
            starts.iter().map(|start| start.threads).max().unwrap_or(0),
            count(last.contexts),
            if options.native.to_string_lossy().contains("callcount") {
                "; callcount's own start included"
            } else {
                ""
            }
        ),
        ..Case::default()
    }])
}
