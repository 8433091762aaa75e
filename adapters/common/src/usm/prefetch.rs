//! Hints about shared memory: where it should be and how commands will use it.
//!
//! Hints never change what a program computes. The engine accepts a hint without a native call where it has no effect: memory
//! does not move, a device shares no pages with the host, or the native library lacks the advice. It still refuses a range
//! that is not USM memory.

use core::ops::Range;

use ur_ffi::{ur_command_t, ur_result_t, ur_usm_advice_flags_t as Flags, ur_usm_migration_flags_t};

use crate::command::deferral::{Deferring, Owned, by_function};
use crate::command::submission::Submission;
use crate::command::{Command, Empty, Enqueue, erased};
use crate::context::{Context, DeviceState};
use crate::device::native_context::owned;
use crate::driver::memory::{Advice, MemoryLocation};
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::plain::PAGE;
use crate::object::error::{Error, Result};
use crate::object::params::Address;
use crate::pool::extent::{Extent, plain_around};
use crate::stream::capture::Capture;

/// Checks the range of a hint; answers whether the hint has an effect.
///
/// # Errors
/// `INVALID_SIZE` for no bytes or more than the allocation has, `INVALID_MEM_OBJECT` for memory
/// that is not USM.
fn can_move<D: Driver>(
    name: &str,
    context: &Context<D>,
    device: &DeviceState<D>,
    memory: Address,
    size: usize,
) -> Result<bool> {
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{name}: size is 0")));
    }
    let known = Extent::around(context, memory.addr())?;
    let found = known.and_then(|extent| extent.bytes_from(memory.addr()).map(|left| (extent.kind, left)));
    let (kind, left) = found.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_MEM_OBJECT,
            format!("{name}: {:p} lies in no USM allocation", memory.as_ptr()),
        )
    })?;
    if size > left {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: {size} bytes go past the end of the allocation, which has {left} more"),
        ));
    }
    Ok(kind == MemoryKind::Shared && device.device.properties.concurrent_managed)
}

/// Checks a prefetch; answers whether it has an effect.
///
/// # Errors
/// As [`prefetch`].
pub(crate) fn check<D: Driver>(
    name: &str,
    context: &Context<D>,
    device: &DeviceState<D>,
    memory: Address,
    size: usize,
    flags: ur_usm_migration_flags_t,
) -> Result<bool> {
    const BOTH: ur_usm_migration_flags_t =
        ur_usm_migration_flags_t::HOST_TO_DEVICE.union(ur_usm_migration_flags_t::DEVICE_TO_HOST);
    if flags.contains(BOTH) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: memory cannot move to the device and to the host at once; give one direction"),
        ));
    }
    can_move(name, context, device, memory, size)
}

/// `urEnqueueUSMPrefetch`: to the queue's device, or to the host.
///
/// # Errors
/// `INVALID_SIZE` for no bytes or more than the allocation has, `INVALID_MEM_OBJECT` for memory that is not USM;
/// `INVALID_VALUE` for both directions at once; what the native library answers.
pub fn prefetch<D: Driver>(
    enqueue: Enqueue<'_, D>,
    memory: Address,
    size: usize,
    flags: ur_usm_migration_flags_t,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::USM_PREFETCH);
    let queue = request.queue;
    let moves = check("urEnqueueUSMPrefetch", &queue.context, &queue.device, memory, size, flags)?;
    let to_host = flags.contains(ur_usm_migration_flags_t::DEVICE_TO_HOST);
    let to = if to_host { MemoryLocation::Host } else { MemoryLocation::Device(request.queue.device.device.raw) };
    if !moves {
        return erased::submit(&request, Empty);
    }
    erased::submit(&request, Prefetch { memory: memory.addr(), size, to })
}

/// A move of managed memory.
struct Prefetch<D: Driver> {
    memory: usize,
    size: usize,
    to: MemoryLocation<D::Device>,
}

impl<D: Driver> Command<D> for Prefetch<D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        submission.driver().prefetch_async(self.memory, self.size, self.to, submission.native())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((by_function(move |request| erased::submit(request, self)), ()))
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    /// Graphs have no such node, and a hint that is not taken changes nothing.
    fn put_in_capture(self, _: &mut Submission<'_, D>, _: &Capture<D>) -> Result<()> {
        Ok(())
    }
}

/// Pairs of flags that contradict each other.
const OPPOSITES: [(Flags, Flags); 6] = [
    (Flags::SET_READ_MOSTLY, Flags::CLEAR_READ_MOSTLY),
    (Flags::SET_PREFERRED_LOCATION, Flags::CLEAR_PREFERRED_LOCATION),
    (Flags::SET_ACCESSED_BY_DEVICE, Flags::CLEAR_ACCESSED_BY_DEVICE),
    (Flags::SET_ACCESSED_BY_HOST, Flags::CLEAR_ACCESSED_BY_HOST),
    (Flags::SET_PREFERRED_LOCATION_HOST, Flags::CLEAR_PREFERRED_LOCATION_HOST),
    (Flags::SET_NON_COHERENT_MEMORY, Flags::CLEAR_NON_COHERENT_MEMORY),
];

fn check_advice(name: &str, flags: Flags) -> Result<()> {
    let locations = Flags::SET_PREFERRED_LOCATION.union(Flags::SET_PREFERRED_LOCATION_HOST);
    if flags.contains(locations) || OPPOSITES.iter().any(|(set, clear)| flags.contains(set.union(*clear))) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {:#x} advises one thing and its opposite", flags.bits()),
        ));
    }
    Ok(())
}

/// The native advice that flags mean for a device. Advice that takes earlier advice back comes first.
fn native<V: Copy>(flags: Flags, device: V, coherence: bool) -> impl Iterator<Item = Advice<V>> {
    let device = MemoryLocation::Device(device);
    let everything = flags.contains(Flags::DEFAULT);
    let table = [
        (Flags::CLEAR_READ_MOSTLY, everything, Advice::ReadMostly(false)),
        (
            Flags::CLEAR_PREFERRED_LOCATION.union(Flags::CLEAR_PREFERRED_LOCATION_HOST),
            everything,
            Advice::PreferredLocation(None),
        ),
        (Flags::CLEAR_ACCESSED_BY_DEVICE, everything, Advice::AccessedBy(device, false)),
        (Flags::CLEAR_ACCESSED_BY_HOST, everything, Advice::AccessedBy(MemoryLocation::Host, false)),
        (Flags::CLEAR_NON_COHERENT_MEMORY, everything, Advice::CoarseGrain(false)),
        (Flags::SET_READ_MOSTLY, false, Advice::ReadMostly(true)),
        (Flags::SET_PREFERRED_LOCATION, false, Advice::PreferredLocation(Some(device))),
        (Flags::SET_PREFERRED_LOCATION_HOST, false, Advice::PreferredLocation(Some(MemoryLocation::Host))),
        (Flags::SET_ACCESSED_BY_DEVICE, false, Advice::AccessedBy(device, true)),
        (Flags::SET_ACCESSED_BY_HOST, false, Advice::AccessedBy(MemoryLocation::Host, true)),
        (Flags::SET_NON_COHERENT_MEMORY, false, Advice::CoarseGrain(true)),
    ];
    table.into_iter().filter_map(move |(flag, too, advice)| {
        let known = coherence || !matches!(advice, Advice::CoarseGrain(_));
        ((too || flags.intersects(flag)) && known).then_some(advice)
    })
}

/// `urEnqueueUSMAdvise`: advice for the queue's device, one native call a flag. Native advice has no place in a stream, so it
/// holds at once; the event completes with the commands before it.
///
/// # Errors
/// `INVALID_SIZE` for no bytes or more than the allocation has, `INVALID_MEM_OBJECT` for memory that is not USM;
/// `INVALID_VALUE` for flags that contradict each other; what the native library answers.
pub fn advise<D: Driver>(enqueue: Enqueue<'_, D>, memory: Address, size: usize, flags: Flags) -> Result<()> {
    let request = enqueue.request(ur_command_t::USM_ADVISE);
    let queue = request.queue;
    let moves = check_advise("urEnqueueUSMAdvise", &queue.context, &queue.device, memory, size, flags)?;
    if !moves {
        return erased::submit(&request, Empty);
    }
    let accessed_by = flags.intersects(Flags::SET_ACCESSED_BY_DEVICE).then_some(queue.device.device.raw);
    let own = advisable(&queue.context, memory.addr(), size, accessed_by);
    erased::submit(&request, Advise { device: &request.queue.device, memory: own.start, size: own.len(), flags })
}

/// The bytes that advice can be about. Native advice is about pages, and those of a plain block may be its neighbours' too, so
/// only pages that are all the block's count; the block is noted with the device that it is said to be accessed by, so that its
/// next owner does not inherit the advice. Blocks of a pool's slab take none: they go from owner to owner on their streams, where
/// nobody could take it back.
fn advisable<D: Driver>(
    context: &Context<D>,
    start: usize,
    size: usize,
    accessed_by: Option<D::Device>,
) -> Range<usize> {
    let end = start + size;
    let Some(Ok((heap, live))) = plain_around(context, start) else {
        return if owned::contains(start) { start..start } else { start..end };
    };
    heap.note_advice(live.start, accessed_by);
    let slab = heap.native_around(start);
    if slab.is_some_and(|slab| slab.is_whole()) {
        return start..end;
    }
    let first = start.next_multiple_of(PAGE);
    first..(end / PAGE * PAGE).max(first)
}

/// Checks advice; answers whether it has an effect.
///
/// # Errors
/// As [`advise`].
pub(crate) fn check_advise<D: Driver>(
    name: &str,
    context: &Context<D>,
    device: &DeviceState<D>,
    memory: Address,
    size: usize,
    flags: Flags,
) -> Result<bool> {
    check_advice(name, flags)?;
    can_move(name, context, device, memory, size)
}

/// Advice on managed memory, which holds at once and in no stream's order.
struct Advise<'a, D: Driver> {
    device: &'a DeviceState<D>,
    memory: usize,
    size: usize,
    flags: Flags,
}

impl<D: Driver> Command<D> for Advise<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        let _scope = self.device.enter()?;
        native(self.flags, self.device.device.raw, D::ADVISES_COHERENCE)
            .try_for_each(|advice| submission.driver().advise(self.memory, self.size, advice))
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let Self { memory, size, flags, .. } = self;
        Ok((
            by_function(move |request| {
                erased::submit(request, Advise { device: &request.queue.device, memory, size, flags })
            }),
            (),
        ))
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    /// Graphs have no such node, and a hint that is not taken changes nothing.
    fn put_in_capture(self, _: &mut Submission<'_, D>, _: &Capture<D>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flags: Flags, coherence: bool) -> Vec<Advice<i32>> {
        native(flags, 7, coherence).collect()
    }

    #[test]
    fn every_flag_is_the_native_advice_it_means() {
        let device = MemoryLocation::Device(7);
        let cases = [
            (Flags::SET_READ_MOSTLY, vec![Advice::ReadMostly(true)]),
            (Flags::CLEAR_READ_MOSTLY, vec![Advice::ReadMostly(false)]),
            (Flags::SET_PREFERRED_LOCATION, vec![Advice::PreferredLocation(Some(device))]),
            (Flags::CLEAR_PREFERRED_LOCATION, vec![Advice::PreferredLocation(None)]),
            (Flags::SET_PREFERRED_LOCATION_HOST, vec![Advice::PreferredLocation(Some(MemoryLocation::Host))]),
            (Flags::CLEAR_PREFERRED_LOCATION_HOST, vec![Advice::PreferredLocation(None)]),
            (Flags::SET_ACCESSED_BY_DEVICE, vec![Advice::AccessedBy(device, true)]),
            (Flags::CLEAR_ACCESSED_BY_DEVICE, vec![Advice::AccessedBy(device, false)]),
            (Flags::SET_ACCESSED_BY_HOST, vec![Advice::AccessedBy(MemoryLocation::Host, true)]),
            (Flags::CLEAR_ACCESSED_BY_HOST, vec![Advice::AccessedBy(MemoryLocation::Host, false)]),
            (Flags::SET_NON_COHERENT_MEMORY, vec![Advice::CoarseGrain(true)]),
            (Flags::CLEAR_NON_COHERENT_MEMORY, vec![Advice::CoarseGrain(false)]),
            (Flags::BIAS_CACHED, vec![]),
            (Flags::SET_NON_ATOMIC_MOSTLY, vec![]),
            (Flags::empty(), vec![]),
        ];
        for (flags, advice) in cases {
            assert_eq!(of(flags, true), advice, "{flags:?}");
        }
    }

    #[test]
    fn the_default_takes_everything_back_and_what_is_set_beside_it_comes_after() {
        let all = of(Flags::DEFAULT.union(Flags::SET_READ_MOSTLY), true);
        let (back, set) = all.split_at(5);
        assert_eq!(set, [Advice::ReadMostly(true)]);
        assert_eq!(back[..2], [Advice::ReadMostly(false), Advice::PreferredLocation(None)]);
        assert_eq!(back[4], Advice::CoarseGrain(false));
    }

    #[test]
    fn a_library_without_a_word_for_coherence_is_not_told() {
        assert_eq!(of(Flags::SET_NON_COHERENT_MEMORY, false), vec![]);
        assert_eq!(of(Flags::DEFAULT, false).len(), 4);
    }

    #[test]
    fn opposites_are_refused() {
        for flags in [
            Flags::SET_READ_MOSTLY.union(Flags::CLEAR_READ_MOSTLY),
            Flags::SET_PREFERRED_LOCATION.union(Flags::SET_PREFERRED_LOCATION_HOST),
            Flags::SET_ACCESSED_BY_HOST.union(Flags::CLEAR_ACCESSED_BY_HOST),
        ] {
            assert_eq!(check_advice("t", flags).unwrap_err().code(), ur_result_t::ERROR_INVALID_VALUE, "{flags:?}");
        }
        check_advice("t", Flags::SET_READ_MOSTLY.union(Flags::CLEAR_PREFERRED_LOCATION)).unwrap();
    }
}
