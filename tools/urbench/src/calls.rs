//! Native calls of an iteration, by function and by what they are about. It reads counters and names; it judges nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ur_client::NativeCalls;

/// What a native call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Making, recording, waiting for and giving back events.
    Event,
    /// What a thread has current: CUDA's contexts, HIP's devices.
    Context,
    /// Stream-ordered memory and its pools.
    Pool,
    /// The rest: launches, copies, waits for streams.
    Other,
}

impl Kind {
    /// Of a function, by its exported name in CUDA or HIP.
    pub fn of(function: &str) -> Self {
        let bare = function.strip_prefix("cu").or_else(|| function.strip_prefix("hip")).unwrap_or(function);
        let is_current = matches!(function, "hipSetDevice" | "hipGetDevice");
        if bare.contains("Event") {
            Self::Event
        } else if is_current || bare.starts_with("Ctx") || bare.starts_with("DevicePrimaryCtx") {
            Self::Context
        } else if bare.contains("Pool")
            || ["MemAllocAsync", "MallocAsync", "MemFreeAsync", "FreeAsync"].iter().any(|name| bare.starts_with(name))
        {
            Self::Pool
        } else {
            Self::Other
        }
    }
}

/// Calls of an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// Per exported name; only what was called.
    pub functions: BTreeMap<String, f64>,
}

impl Calls {
    /// All together.
    pub fn total(&self) -> f64 {
        // The sum of nothing is -0.0, which would be shown so.
        self.functions.values().sum::<f64>() + 0.0
    }

    /// Those of one kind.
    pub fn of(&self, kind: Kind) -> f64 {
        let of_kind = self.functions.iter().filter(|(name, _)| Kind::of(name) == kind);
        of_kind.map(|(_, count)| count).sum::<f64>() + 0.0
    }
}

/// Adds up what is called between starts and stops.
#[derive(Debug)]
pub struct Counter<'a> {
    source: &'a NativeCalls,
    before: BTreeMap<String, u64>,
    sum: BTreeMap<String, u64>,
}

impl<'a> Counter<'a> {
    /// Nothing counted yet.
    pub fn new(source: &'a NativeCalls) -> Self {
        Self { source, before: BTreeMap::new(), sum: BTreeMap::new() }
    }

    /// The counted part begins.
    pub fn start(&mut self) {
        self.before = self.source.each().into_iter().collect();
    }

    /// The counted part ends.
    pub fn stop(&mut self) {
        for (name, after) in self.source.each() {
            let more = after.saturating_sub(self.before.get(&name).copied().unwrap_or(0));
            if more > 0 {
                *self.sum.entry(name).or_default() += more;
            }
        }
    }

    /// Per iteration.
    pub fn per(self, iterations: u64) -> Calls {
        let share = |(name, count)| (name, count as f64 / iterations as f64);
        Calls { functions: self.sum.into_iter().map(share).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_both_apis_are_told_apart_by_what_they_are_about() {
        let kinds = |names: &[&str]| names.iter().map(|name| Kind::of(name)).collect::<Vec<_>>();
        let events = ["cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy_v2", "hipEventCreateWithFlags"];
        assert_eq!(kinds(&events), [Kind::Event; 4]);
        let contexts = ["cuCtxPushCurrent_v2", "cuCtxGetCurrent", "cuDevicePrimaryCtxRetain", "hipSetDevice"];
        assert_eq!(kinds(&contexts), [Kind::Context; 4]);
        let pools = ["cuMemAllocFromPoolAsync", "cuMemFreeAsync", "hipMallocFromPoolAsync", "hipFreeAsync"];
        assert_eq!(kinds(&pools), [Kind::Pool; 4]);
        let others = ["cuMemFree_v2", "hipFree", "cuLaunchKernel", "hipDeviceGet"];
        assert_eq!(kinds(&others), [Kind::Other; 4]);
    }

    #[test]
    fn calls_add_up_by_kind() {
        let functions = [("cuMemAllocFromPoolAsync", 1.0), ("cuMemFreeAsync", 1.0), ("cuEventRecord", 0.5)];
        let calls = Calls { functions: functions.map(|(name, count)| (name.to_owned(), count)).into() };
        assert_eq!((calls.of(Kind::Pool), calls.of(Kind::Event), calls.of(Kind::Context)), (2.0, 0.5, 0.0));
        assert_eq!(calls.total(), 2.5);
        assert!(calls.of(Kind::Other).is_sign_positive() && Calls::default().total().is_sign_positive());
    }
}
