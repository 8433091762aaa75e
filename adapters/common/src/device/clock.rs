//! The device's time on the host's clock: anchors, moments known on both, and times counted from the nearest.
//!
//! The native library tells the time between two events as a float of milliseconds, and the two clocks drift. Both
//! errors grow with the time between, so an anchor serves the commands of [`PERIOD_NS`] and then a new one is made,
//! beside all queues and without waiting for any. An event keeps the anchor of its enqueue, from which both its start and
//! its end are counted. Must never block the enqueue of a command.
//!
//! Within a second two clocks move apart by as much as a short kernel takes (20 us on one H100). So an anchor knows how fast they did
//! between the two anchors before it, and what is left of that shows in commands that seem to start before they were submitted: by
//! as much all times of the anchor are told later from then on, starts and ends alike, so that no duration changes.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;

use crate::device::event_pool::PooledEvent;
use crate::device::native_context::{NativeContext, Parts};
use crate::driver::Driver;
use crate::object::error::Result;

/// How long an anchor serves: a float of milliseconds tells a second by 60 ns.
const PERIOD_NS: u64 = 1_000_000_000;
/// How far apart the host's times before and after an anchor may be for it to be of use.
const SLACK_NS: u64 = 100_000;
/// How long to leave it after a try that failed.
const RETRY_NS: u64 = 50_000_000;
/// How far apart two anchors must be to say how fast the clocks move apart: each is seen some microseconds late.
const DRIFT_NS: i64 = 500_000_000;
/// More than that, in parts of a thousand million, is no clock's drift but a moment that was seen late.
const MOST_DRIFT_PPB: i64 = 200_000;

/// Nanoseconds of the host's monotonic clock since the process first asked.
pub fn host_time_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    // One second more than elapsed, so that a device time slightly before the first question is not negative.
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).saturating_add(1_000_000_000)
}

/// One moment known on both clocks.
struct Anchor<D: Driver> {
    driver: &'static D,
    event: D::Event,
    host_ns: u64,
    /// Nanoseconds by which the host's clock gains on the device's in a second of the device's.
    drift_ppb: i64,
    /// By how much the times counted from here are known to be too early.
    early_ns: AtomicU64,
}

/// The host's nanoseconds in a span of the device's.
fn on_host(elapsed_ns: i64, drift_ppb: i64) -> i64 {
    let gained = i128::from(elapsed_ns) * i128::from(drift_ppb) / 1_000_000_000;
    elapsed_ns.saturating_add(i64::try_from(gained).unwrap_or(0))
}

/// The drift of two clocks by two moments that are so far apart on each; `None` where they are too close to tell, or seen too late.
fn drift_ppb(host_ns: i64, device_ns: i64) -> Option<i64> {
    if device_ns < DRIFT_NS {
        return None;
    }
    let drift = i64::try_from(i128::from(host_ns - device_ns) * 1_000_000_000 / i128::from(device_ns)).ok()?;
    (drift.abs() <= MOST_DRIFT_PPB).then_some(drift)
}

impl<D: Driver> Drop for Anchor<D> {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.driver.destroy_event(core::mem::take(&mut self.event));
    }
}

/// An anchor in use. Declared in the order of dropping: the native event goes before the context it lives in.
pub struct Base<D: Driver> {
    anchor: Arc<Anchor<D>>,
    _native: Arc<NativeContext<D>>,
}

impl<D: Driver> Base<D> {
    /// When a completed marker was reached, in nanoseconds of the host's monotonic clock, as far as that is known now.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn time_of(&self, marker: &PooledEvent<D>) -> Result<u64> {
        Ok(self.counted_time_of(marker)?.saturating_add(self.anchor.early_ns.load(Ordering::Relaxed)))
    }

    /// As [`Base::time_of`], by the anchor's moment and the drift alone: too early by what [`Base::early_ns`] answers.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn counted_time_of(&self, marker: &PooledEvent<D>) -> Result<u64> {
        let elapsed = self.anchor.driver.elapsed_ns(&self.anchor.event, marker.raw())?;
        Ok(self.anchor.host_ns.saturating_add_signed(on_host(elapsed, self.anchor.drift_ppb)))
    }

    /// By how much counted times are too early at least, as a command shows that was submitted at `submitted_ns` and counted to
    /// start at `started_ns`.
    pub fn early_ns(&self, started_ns: u64, submitted_ns: u64) -> u64 {
        let shown = submitted_ns.saturating_sub(started_ns);
        self.anchor.early_ns.fetch_max(shown, Ordering::Relaxed).max(shown)
    }
}

/// A device's clock. Anchors are made without its lock: that takes native calls which wait for other threads' blocking copies.
pub struct Clock<D: Driver> {
    state: Mutex<State<D>>,
    /// Address of the anchor that serves, 0 for none. This and the next are changed behind the lock.
    serving: AtomicUsize,
    /// Host time from which the next anchor is due.
    due_ns: AtomicU64,
    /// Whether a thread makes the next anchor. Others go on with the last one.
    is_renewing: AtomicBool,
}

struct State<D: Driver> {
    /// Whether anybody asked for times.
    is_started: bool,
    anchor: Option<Arc<Anchor<D>>>,
}

impl<D: Driver> Default for Clock<D> {
    fn default() -> Self {
        let state = Mutex::new(State { is_started: false, anchor: None });
        let (serving, due_ns) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { state, serving, due_ns, is_renewing: AtomicBool::new(false) }
    }
}

impl<D: Driver> Clock<D> {
    /// Makes the first anchor, on a stream without work; blocks until it is reached.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn start(&self, device: &Parts<D>, stream: &D::Stream) -> Result<()> {
        self.first(device, stream).map(drop)
    }

    /// As [`Clock::start`], on a stream of the clock's own.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn start_on_scratch_stream(&self, device: &Parts<D>) -> Result<()> {
        if self.state.lock().anchor.is_some() {
            return Ok(());
        }
        device.on_scratch_stream(|stream| self.start(device, stream))
    }

    /// Whether commands enqueued at that time are counted from this base, so that it serves one more of them.
    pub fn serves(&self, base: &Base<D>, now_ns: u64) -> bool {
        // The base keeps its anchor, so no other has that address.
        self.serving.load(Ordering::Acquire) == Arc::as_ptr(&base.anchor).addr()
            && now_ns < self.due_ns.load(Ordering::Acquire)
    }

    /// The anchor for commands enqueued at that time, which is now; a fresh one if it is due and the device is quick to answer.
    pub fn base(&self, device: &Arc<NativeContext<D>>, now_ns: u64) -> Option<Base<D>> {
        let last = {
            let state = self.state.lock();
            if !state.is_started {
                return None;
            }
            state.anchor.clone()
        };
        let anchor = match last {
            // Given back with the adapter's last reference, while somebody still wants times.
            None => device.on_scratch_stream(|stream| self.first(device, stream)).ok()?,
            Some(last) if now_ns >= self.due_ns.load(Ordering::Relaxed) => self.next(device, last, now_ns),
            Some(last) => last,
        };
        Some(Base { anchor, _native: Arc::clone(device) })
    }

    /// The anchor behind `last`, unless another thread makes it or the device does not get to it at once.
    fn next(&self, device: &Arc<NativeContext<D>>, last: Arc<Anchor<D>>, now_ns: u64) -> Arc<Anchor<D>> {
        if self.is_renewing.swap(true, Ordering::Acquire) {
            return last;
        }
        let made = device.on_scratch_stream(|stream| renew(device, stream, Some(&*last)));
        let anchor = match made {
            Ok(Some(anchor)) => {
                let anchor = Arc::new(anchor);
                let mut state = self.state.lock();
                // All may have been given back meanwhile.
                if state.anchor.is_some() {
                    self.serve(&mut state, &anchor);
                }
                anchor
            }
            // A failure shows in the command's own calls; the old anchor is less exact and still right.
            Ok(None) | Err(_) => {
                self.due_ns.store(now_ns.saturating_add(RETRY_NS), Ordering::Release);
                last
            }
        };
        self.is_renewing.store(false, Ordering::Release);
        anchor
    }

    /// Makes a new anchor due, as its time does; for tests, which do not wait for that.
    #[doc(hidden)]
    pub fn expire(&self) {
        self.due_ns.store(0, Ordering::Release);
    }

    /// Gives everything native back; whoever still wants times gets another anchor.
    pub fn trim(&self) {
        let anchor = {
            let mut state = self.state.lock();
            self.serving.store(0, Ordering::Release);
            state.anchor.take()
        };
        drop(anchor);
    }

    fn serve(&self, state: &mut State<D>, anchor: &Arc<Anchor<D>>) {
        self.due_ns.store(anchor.host_ns.saturating_add(PERIOD_NS), Ordering::Release);
        self.serving.store(Arc::as_ptr(anchor).addr(), Ordering::Release);
        state.is_started = true;
        state.anchor = Some(Arc::clone(anchor));
    }

    /// The anchor, made now if there is none. Of threads that make one at once the first one's serves.
    fn first(&self, device: &Parts<D>, stream: &D::Stream) -> Result<Arc<Anchor<D>>> {
        if let Some(anchor) = &self.state.lock().anchor {
            return Ok(Arc::clone(anchor));
        }
        let mut anchor = new_anchor(device)?;
        device.driver.record_event(&anchor.event, stream)?;
        if !see(&mut anchor, host_time_ns())? {
            device.driver.synchronize_event(&anchor.event)?;
            anchor.host_ns = host_time_ns();
        }
        let anchor = Arc::new(anchor);
        let mut state = self.state.lock();
        if let Some(first) = &state.anchor {
            return Ok(Arc::clone(first));
        }
        self.serve(&mut state, &anchor);
        Ok(anchor)
    }
}

/// Looks until the device is at the anchor and notes when that was seen; `false` if it takes too long.
fn see<D: Driver>(anchor: &mut Anchor<D>, since_ns: u64) -> Result<bool> {
    loop {
        let reached = anchor.driver.event_is_complete(&anchor.event)?;
        let now = host_time_ns();
        if now.saturating_sub(since_ns) > SLACK_NS {
            return Ok(false);
        }
        if reached {
            anchor.host_ns = now;
            return Ok(true);
        }
    }
}

/// An anchor of this moment; `None` if the device does not get to it at once. The moment is that at which the host sees it, as it is
/// of the first anchor and as a wait ends: submitting takes longer than that, so one halfway is before the device was there.
fn renew<D: Driver>(device: &Parts<D>, stream: &D::Stream, last: Option<&Anchor<D>>) -> Result<Option<Anchor<D>>> {
    let mut anchor = new_anchor(device)?;
    let before = host_time_ns();
    device.driver.record_event(&anchor.event, stream)?;
    if !see(&mut anchor, before)? {
        return Ok(None);
    }
    if let Some(last) = last {
        let device_ns = device.driver.elapsed_ns(&last.event, &anchor.event)?;
        // Both count from the process's start, in nanoseconds.
        let host_ns = anchor.host_ns.cast_signed() - last.host_ns.cast_signed();
        anchor.drift_ppb = drift_ppb(host_ns, device_ns).unwrap_or(last.drift_ppb);
    }
    Ok(Some(anchor))
}

fn new_anchor<D: Driver>(device: &Parts<D>) -> Result<Anchor<D>> {
    // Making one waits for other threads' blocking copies.
    let event = device.timed.take_out(device)?;
    Ok(Anchor { driver: device.driver, event, host_ns: 0, drift_ppb: 0, early_ns: AtomicU64::new(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clocks_that_move_apart_tell_one_time() {
        let second = 1_000_000_000;
        assert_eq!(drift_ppb(second + 20_000, second), Some(20_000));
        assert_eq!(drift_ppb(second - 20_000, second), Some(-20_000));
        assert_eq!(on_host(second / 2, 20_000), second / 2 + 10_000);
        assert_eq!(on_host(-second, -20_000), -second + 20_000);
    }

    #[test]
    fn moments_that_are_close_or_were_seen_late_say_nothing_of_the_clocks() {
        assert_eq!(drift_ppb(DRIFT_NS - 1, DRIFT_NS - 1), None);
        assert_eq!(drift_ppb(2 * DRIFT_NS, DRIFT_NS), None);
        assert_eq!(drift_ppb(-DRIFT_NS, DRIFT_NS), None);
    }
}
