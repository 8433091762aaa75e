//! What the environment asks for, read once when the driver is initialised.
//!
//! A malformed variable is an error that `cuInit` answers and explains on standard error; it is never silently
//! replaced by a default, because a test would then pass against another machine than the one it asked for.

use crate::pool::Thresholds;
use std::env;
use std::path::PathBuf;

/// Where reports and leaks go at exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportTo {
    /// Standard error.
    Stderr,
    /// A file, appended to.
    File(PathBuf),
}

/// Pseudo-random delays before stream commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Start of the sequence; the same seed gives every stream the same delays again.
    pub seed: u64,
    /// Longest delay of one command, in microseconds.
    pub max_micros: u64,
}

/// The simulated machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of devices (`SIMCUDA_DEVICES`).
    pub devices: usize,
    /// Bytes of memory of each device (`SIMCUDA_MEMORY`).
    pub memory: u64,
    /// Compute capability, major and minor (`SIMCUDA_CC`).
    pub capability: (u32, u32),
    /// Delays (`SIMCUDA_DELAY`).
    pub delay: Option<Delay>,
    /// Report target (`SIMCUDA_REPORT`).
    pub report: Option<ReportTo>,
    /// What release thresholds of pools mean (`SIMCUDA_THRESHOLDS`).
    pub thresholds: Thresholds,
    /// Whether an event's query that answers "done" orders what is submitted after it (`SIMCUDA_QUERIES`).
    pub event_queries_order: bool,
    /// Start of the sequence by which launches of graphs pick among nodes that are ready; 0 picks the one that was added
    /// first (`SIMCUDA_GRAPHS`).
    pub graph_seed: u64,
    /// Whether devices have memory pools (`SIMCUDA_POOLS`).
    pub pools: bool,
    /// Whether each device reaches the memory of every other one (`SIMCUDA_LINKS`).
    pub links: bool,
    /// Hardware channels of a device that its streams share (`CUDA_DEVICE_MAX_CONNECTIONS`, as for the real driver).
    pub channels: u64,
    /// Injected faults (`SIMCUDA_FAULTS`), not yet parsed.
    pub faults: Option<String>,
}

impl Config {
    /// Reads the `SIMCUDA_*` variables.
    pub fn from_env() -> Result<Self, String> {
        let devices = variable("SIMCUDA_DEVICES", "2", |text| text.parse().ok().filter(|&n| n <= 64))?;
        let memory = variable("SIMCUDA_MEMORY", "4G", bytes)?;
        let capability = variable("SIMCUDA_CC", "9.0", |text| {
            let (major, minor) = text.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok().filter(|&m: &u32| m < 10)?))
        })?;
        let delay = variable("SIMCUDA_DELAY", "0:0", |text| {
            let (seed, max) = text.split_once(':')?;
            Some(Delay { seed: seed.parse().ok()?, max_micros: max.parse().ok()? })
        })?;
        let thresholds = variable("SIMCUDA_THRESHOLDS", "obey", |text| match text {
            "obey" => Some(Thresholds::Obeyed),
            "keep" => Some(Thresholds::KeepAll),
            "return" => Some(Thresholds::ReturnAll),
            _ => None,
        })?;
        let event_queries_order = variable("SIMCUDA_QUERIES", "order", |text| match text {
            "order" => Some(true),
            "streams" => Some(false),
            _ => None,
        })?;
        let graph_seed = variable("SIMCUDA_GRAPHS", "1", |text| text.parse().ok())?;
        let pools = variable("SIMCUDA_POOLS", "all", |text| match text {
            "all" => Some(true),
            "none" => Some(false),
            _ => None,
        })?;
        let links = variable("SIMCUDA_LINKS", "all", |text| match text {
            "all" => Some(true),
            "none" => Some(false),
            _ => None,
        })?;
        let channels = variable("CUDA_DEVICE_MAX_CONNECTIONS", "8", |text| {
            text.parse().ok().filter(|number| (1..=32).contains(number))
        })?;
        let report = match env::var("SIMCUDA_REPORT") {
            Ok(text) if text == "stderr" => Some(ReportTo::Stderr),
            Ok(text) if !text.is_empty() => Some(ReportTo::File(PathBuf::from(text))),
            _ => None,
        };
        Ok(Self {
            devices,
            memory,
            capability,
            delay: (delay.max_micros > 0).then_some(delay),
            report,
            thresholds,
            event_queries_order,
            graph_seed,
            pools,
            links,
            channels,
            faults: env::var("SIMCUDA_FAULTS").ok().filter(|text| !text.is_empty()),
        })
    }
}

fn variable<T>(name: &str, default: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, String> {
    let text = env::var(name).ok().filter(|text| !text.is_empty());
    let text = text.as_deref().unwrap_or(default);
    parse(text).ok_or_else(|| format!("{name}={text}: not a value this variable takes"))
}

/// A byte count with an optional K, M or G.
fn bytes(text: &str) -> Option<u64> {
    let (digits, scale) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 1 << 10),
        b'M' | b'm' => (&text[..text.len() - 1], 1 << 20),
        b'G' | b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(scale).filter(|&n| n > 0)
}
