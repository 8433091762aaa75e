//! Timelines as tests use them: a handle that gives its reference back, and calls that must succeed.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_ffi::{
    ur_context_handle_t, ur_event_handle_t, ur_ext_timeline_desc_t, ur_ext_timeline_flags_t, ur_ext_timeline_handle_t_,
    ur_ext_timeline_info_t, ur_ext_timeline_wait_flags_t, ur_result_t,
};

use crate::owned::{Handle, Owned, event_of};
use crate::{Event, Fixture, Queue, ask, extension, loader, ok, query, ur};

/// One reference to a timeline.
pub type Timeline = Owned<ur_ext_timeline_handle_t_>;

/// Whether loader and adapter have timelines.
#[must_use]
pub fn are_there() -> bool {
    let are_there = extension::has("urTimelineCreateExt");
    if !are_there {
        println!("skipped: the loader or the adapter has no timelines");
    }
    are_there
}

fn list_of(waits: &[&Event]) -> Vec<ur_event_handle_t> {
    waits.iter().map(|event| event.handle()).collect()
}

fn parts<T>(list: &[T]) -> (u32, *const T) {
    (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() })
}

impl Timeline {
    /// Takes over one reference.
    #[must_use]
    pub fn take(handle: <Self as Handle>::Raw) -> Self {
        Self::new(handle, loader().table.TimelineExt.pfnTimelineReleaseExt)
    }

    /// A timeline of the fixture's context at 0.
    #[track_caller]
    #[must_use]
    pub fn at_zero(fixture: &Fixture) -> Self {
        // Callbacks tell of signals, and hold what they tell of until they have returned.
        fixture.allow_late_releases();
        Self::of(fixture.context())
    }

    /// A timeline of the fixture's context that other processes may open, at that value.
    #[track_caller]
    #[must_use]
    pub fn shared(fixture: &Fixture, initial: u64) -> Self {
        fixture.allow_late_releases();
        let flags = ur_ext_timeline_flags_t::IPC;
        let description = ur_ext_timeline_desc_t { initialValue: initial, flags, ..Default::default() };
        let mut made = null_mut();
        ok!(TimelineExt.pfnTimelineCreateExt(fixture.context(), &raw const description, &raw mut made));
        Self::take(made)
    }

    /// A timeline that somebody shares by these handle data.
    #[track_caller]
    #[must_use]
    pub fn open(fixture: &Fixture, data: &[u8]) -> Self {
        fixture.allow_late_releases();
        let mut opened = null_mut();
        let (at, size) = (data.as_ptr().cast(), data.len());
        ok!(TimelineExt.pfnIPCOpenTimelineHandleExt(fixture.context(), at, size, &raw mut opened));
        Self::take(opened)
    }

    /// Handle data of it: where the adapter has them, and a copy.
    #[track_caller]
    #[must_use]
    pub fn share(&self) -> (*mut c_void, Vec<u8>) {
        let (mut pointer, mut size) = (null_mut(), 0);
        ok!(TimelineExt.pfnIPCGetTimelineHandleExt(self.handle(), &raw mut pointer, &raw mut size));
        assert!(!pointer.is_null() && size > 0);
        // SAFETY: the adapter gave as many bytes until they are put back.
        let bytes = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), size) }.to_vec();
        (pointer, bytes)
    }

    /// A timeline of a context at 0.
    #[track_caller]
    #[must_use]
    pub fn of(context: ur_context_handle_t) -> Self {
        let mut made = null_mut();
        ok!(TimelineExt.pfnTimelineCreateExt(context, null(), &raw mut made));
        Self::take(made)
    }

    /// Its value.
    #[track_caller]
    #[must_use]
    pub fn value(&self) -> u64 {
        query::get(ask!(TimelineExt.pfnTimelineGetInfoExt(self.handle(), ur_ext_timeline_info_t::VALUE)))
    }

    /// Its status.
    #[track_caller]
    #[must_use]
    pub fn status(&self) -> ur_result_t {
        let status = query::get(ask!(TimelineExt.pfnTimelineGetInfoExt(self.handle(), ur_ext_timeline_info_t::STATUS)));
        ur_result_t(status)
    }

    /// Signals it from the host.
    #[track_caller]
    pub fn signal(&self, value: u64) {
        ok!(TimelineExt.pfnTimelineSignalExt(self.handle(), value));
    }

    /// Makes it fail.
    #[track_caller]
    pub fn fail(&self, result: ur_result_t) {
        ok!(TimelineExt.pfnTimelineFailExt(self.handle(), result));
    }

    /// Waits on the host.
    #[must_use]
    pub fn wait(&self, value: u64, timeout_ns: u64) -> ur_result_t {
        wait(&[(self, value)], false, timeout_ns).0
    }

    /// The event of a value.
    #[track_caller]
    #[must_use]
    pub fn event(&self, value: u64) -> Event {
        event_of(|event| ur!(TimelineExt.pfnTimelineGetEventExt(self.handle(), value, event)))
    }
}

/// Waits on the host for values of several timelines; gives the index, if one was written.
#[must_use]
pub fn wait(wanted: &[(&Timeline, u64)], any: bool, timeout_ns: u64) -> (ur_result_t, Option<u32>) {
    let handles: Vec<_> = wanted.iter().map(|(timeline, _)| timeline.handle()).collect();
    let values: Vec<_> = wanted.iter().map(|(_, value)| *value).collect();
    let flags = if any { ur_ext_timeline_wait_flags_t::ANY } else { ur_ext_timeline_wait_flags_t::empty() };
    let (count, handles) = parts(&handles);
    let mut index = u32::MAX;
    let place = &raw mut index;
    let answer = ur!(TimelineExt.pfnTimelineWaitExt(count, handles, values.as_ptr(), flags, timeout_ns, place));
    (answer, (index != u32::MAX).then_some(index))
}

impl Queue {
    /// Has the queue wait for a timeline's value.
    #[track_caller]
    pub fn wait_for(&self, timeline: &Timeline, value: u64) {
        let handle = timeline.handle();
        let (queue, none) = (self.handle(), null_mut());
        ok!(TimelineExt.pfnEnqueueTimelineWaitExt(queue, 1, &raw const handle, &raw const value, 0, null(), none));
    }

    /// Has the queue signal a timeline.
    #[track_caller]
    pub fn signal(&self, timeline: &Timeline, value: u64) {
        let handle = timeline.handle();
        let (queue, none) = (self.handle(), null_mut());
        ok!(TimelineExt.pfnEnqueueTimelineSignalExt(queue, 1, &raw const handle, &raw const value, 0, null(), none));
    }

    /// Has the queue signal a timeline after some events.
    #[track_caller]
    #[must_use]
    pub fn signal_after(&self, timeline: &Timeline, value: u64, waits: &[&Event]) -> Event {
        let (handle, list) = (timeline.handle(), list_of(waits));
        let (count, list) = parts(&list);
        let (queue, handle, value) = (self.handle(), &raw const handle, &raw const value);
        event_of(|event| ur!(TimelineExt.pfnEnqueueTimelineSignalExt(queue, 1, handle, value, count, list, event)))
    }
}
