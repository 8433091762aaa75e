//! What is done when there is no memory: what the process keeps of the device goes back, then one more try.
//!
//! The one place for that rule. Whoever asks the native library for memory runs the request in [`reclaiming`], or is an
//! entry point that is called once more by [`crate::api::guard::make`]; pools do what they can for themselves before
//! ([`crate::pool::out_of_memory`]). Giving back may wait for the device's work, so it is called with no lock held, and
//! holds none while the request is tried again. Requests that succeed never come here.
//!
//! The last answer names what is live, what is kept and by whom ([`Holdings`]).

use std::fmt;
use std::time::Duration;

use ur_ffi::ur_result_t;

use crate::device::{Device, adapter, deferred};
use crate::driver::Driver;
use crate::object::error::{Error, Result};

/// How long a relief waits for another one on the same device: what that one has taken out of a free list and not yet given
/// back, nobody else would find. Not for ever: it may be inside a native call that ends only after this thread has gone on.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// The most reliefs for one request.
const MOST: usize = 8;

/// What one sort of holders has of a device's memory, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holding {
    what: &'static str,
    holders: usize,
    live: u64,
    kept: u64,
}

/// What the process has of a device's memory through the engine, by what has it. Memory of other libraries, modules and images
/// are not among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings(Vec<Holding>);

impl Holdings {
    /// Adds what one holder has; one that has nothing is left out.
    pub fn add(&mut self, what: &'static str, live: u64, kept: u64) {
        if live == 0 && kept == 0 {
            return;
        }
        match self.0.iter_mut().find(|known| known.what == what) {
            Some(known) => {
                known.holders += 1;
                known.live += live;
                known.kept += kept;
            }
            None => self.0.push(Holding { what, holders: 1, live, kept }),
        }
    }

    /// What every reclaimer of a device has.
    pub fn of<D: Driver>(device: &Device<D>) -> Self {
        let mut holdings = Self::default();
        for one in device.reclaimers.living() {
            one.tell(&mut holdings);
        }
        device.home.tell(&mut holdings);
        holdings.add("memory on its way back", 0, deferred::pending_bytes());
        holdings
    }

    /// Bytes that nobody uses.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.0.iter().map(|holding| holding.kept).sum()
    }
}

impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing live or kept");
        }
        for (index, Holding { what, holders, live, kept }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{what}: {live} bytes live, {kept} kept")?;
            if *holders > 1 {
                write!(f, " by {holders} holders")?;
            }
        }
        Ok(())
    }
}

/// Runs a request for memory; when there is none, gives back what is kept of the device and runs it again. Called with no
/// lock held.
///
/// # Errors
/// As [`retry`].
#[inline]
pub fn reclaiming<D: Driver, R>(device: &Device<D>, request: impl Fn() -> Result<R>) -> Result<R> {
    request().or_else(|first| if is_full(&first) { retry(device, first, || Ok(()), request) } else { Err(first) })
}

/// Gives back what is kept of a device and runs a request again that found no memory, whose failure is `first`; `also` is done
/// behind each relief. What came back another thread may have had first, so there are more reliefs as long as they give
/// anything back, up to [`MOST`].
///
/// # Errors
/// What `request` answers; where that is a want of memory, with what the process has of the device.
#[cold]
pub fn retry<D: Driver, R>(
    device: &Device<D>,
    first: Error,
    also: impl Fn() -> Result<()>,
    request: impl Fn() -> Result<R>,
) -> Result<R> {
    let mut last = first;
    for round in 0..MOST {
        match relieve(device).and_then(|bytes| also().map(|()| bytes)) {
            Ok(0) if round > 0 => break,
            Ok(_) => {}
            // What is lost stays lost; of any other failure the caller's own is the better news.
            Err(error) if error.code() == ur_result_t::ERROR_DEVICE_LOST => return Err(error),
            Err(_) => break,
        }
        match request() {
            Err(error) if is_full(&error) => last = error,
            other => return other,
        }
    }
    Err(told(last, device))
}

/// Whether a request failed for want of memory.
pub fn is_full(error: &Error) -> bool {
    matches!(error.code(), ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY | ur_result_t::ERROR_OUT_OF_HOST_MEMORY)
}

/// Runs `request` behind `relief`; `before` is the failure that made it necessary.
///
/// # Errors
/// What `request` answers; the failure before when nothing could be given back.
pub fn again<R>(before: Error, relief: impl FnOnce() -> Result<()>, request: impl FnOnce() -> Result<R>) -> Result<R> {
    match relief() {
        Ok(()) => request(),
        // What is lost stays lost; of any other failure the caller's own is the better news.
        Err(error) if error.code() == ur_result_t::ERROR_DEVICE_LOST => Err(error),
        Err(_) => Err(before),
    }
}

/// Adds to a want of memory what the process has of the device.
#[cold]
pub fn told<D: Driver>(error: Error, device: &Device<D>) -> Error {
    if is_full(&error) { error.with_note(|| format!("this process has {}", Holdings::of(device))) } else { error }
}

/// Gives back what is kept of a device, in every context of the process, and says how many bytes that were. One that cannot give
/// something back does not keep the others from it.
///
/// # Errors
/// As [`total`].
pub fn relieve<D: Driver>(device: &Device<D>) -> Result<u64> {
    // Dropped behind the lock: the last reference to the state of a context may go with it.
    let reclaimers = device.reclaimers.living();
    let _one_at_a_time = device.relief.try_lock_for(PATIENCE);
    let handed_over = deferred::pending_bytes();
    deferred::wait_until_done();
    let own = handed_over.saturating_sub(deferred::pending_bytes()) + device.home.give_staging_back();
    // All of them, whatever one answers.
    let given_back: Vec<_> = reclaimers.iter().map(|one| one.reclaim()).collect();
    total(given_back.into_iter().chain([Ok(own)]))
}

/// Adds up what several have given back: a failure of one does not hide what came back from others.
///
/// # Errors
/// That the device is lost; else the first failure, where nothing came back.
pub fn total(given_back: impl IntoIterator<Item = Result<u64>>) -> Result<u64> {
    let (mut bytes, mut failed) = (0, None);
    for one in given_back {
        match one {
            Ok(more) => bytes += more,
            Err(error) if error.code() == ur_result_t::ERROR_DEVICE_LOST => return Err(error),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) if bytes == 0 => Err(error),
        _ => Ok(bytes),
    }
}

/// Gives back what is kept of every device, and says whether anything came back: an entry point does not know yet whose
/// memory it lacks.
#[cold]
pub fn relieve_all<D: Driver>() -> bool {
    let Some(native) = adapter::native::<D>() else { return false };
    // What a device could not give back is told by whoever has lost it.
    native.devices.iter().map(|device| relieve(device).unwrap_or(0)).sum::<u64>() > 0
}

/// Adds to a want of memory what the process has of each device.
#[cold]
pub fn told_all<D: Driver>(error: Error) -> Error {
    let devices = adapter::native::<D>().map_or(&[][..], |native| &native.devices);
    match devices {
        [device] => told(error, device),
        _ if !is_full(&error) => error,
        _ => error.with_note(|| {
            let each = devices.iter().map(|device| format!("of device {}: {}", device.ordinal, Holdings::of(device)));
            format!("this process has {}", each.collect::<Vec<_>>().join("; "))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_is_told_though_others_failed_unless_the_device_is_lost() {
        let failed = || Err(ur_result_t::ERROR_UNKNOWN.into());
        let lost = || Err(ur_result_t::ERROR_DEVICE_LOST.into());
        let code = |result: Result<u64>| result.map_err(|error| error.code());
        assert_eq!(code(total([Ok(1), failed(), Ok(2)])), Ok(3));
        assert_eq!(code(total([Ok(0), failed(), Ok(0)])), Err(ur_result_t::ERROR_UNKNOWN));
        assert_eq!(code(total([Ok(1), failed(), lost()])), Err(ur_result_t::ERROR_DEVICE_LOST));
        assert_eq!(code(total([])), Ok(0));
    }

    #[test]
    fn holdings_add_up_by_what_has_them_and_name_who_keeps_what() {
        let mut holdings = Holdings::default();
        assert_eq!((holdings.to_string().as_str(), holdings.kept()), ("nothing live or kept", 0));
        holdings.add("plain device memory", 0, 0);
        holdings.add("plain device memory", 100, 20);
        holdings.add("staging", 0, 7);
        holdings.add("plain device memory", 1, 2);
        assert_eq!(
            holdings.to_string(),
            "plain device memory: 101 bytes live, 22 kept by 2 holders; staging: 0 bytes live, 7 kept"
        );
        assert_eq!(holdings.kept(), 29);
    }
}
