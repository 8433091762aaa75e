//! `urVirtualMem*`, and kernels and copies in what is mapped.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK, ur_device_handle_t, ur_device_info_t, ur_physical_mem_handle_t,
    ur_result_t as Code, ur_virtual_mem_access_flags_t as Access, ur_virtual_mem_granularity_info_t as Granularity,
    ur_virtual_mem_info_t,
};
use ur_conformance::memory;
use ur_conformance::sim::status;
use ur_conformance::{
    Fixture, Launch, ask, check_every_property, child, expect_success, needs_sim, ok, query, refused, ur,
};

/// A reservation that gives itself back, and physical memory that does so.
struct Range<'f> {
    fixture: &'f Fixture,
    start: *mut c_void,
    size: usize,
}

impl<'f> Range<'f> {
    #[track_caller]
    fn new(fixture: &'f Fixture, size: usize) -> Self {
        let mut start = null_mut();
        ok!(VirtualMem.pfnReserve(fixture.context(), null(), size, &raw mut start));
        assert!(!start.is_null());
        Self { fixture, start, size }
    }

    fn at(&self, bytes: usize) -> *mut c_void {
        self.start.wrapping_byte_add(bytes)
    }

    fn map(&self, at: usize, physical: &Physical<'_>, access: Access) -> Code {
        let (size, raw) = (physical.size, physical.raw);
        ur!(VirtualMem.pfnMap(self.fixture.context(), self.at(at), size, raw, 0, access))
    }

    #[track_caller]
    fn unmap(&self, at: usize, size: usize) {
        ok!(VirtualMem.pfnUnmap(self.fixture.context(), self.at(at), size));
    }

    #[track_caller]
    fn access(&self, at: usize) -> Access {
        self.access_of(at, 1)
    }

    #[track_caller]
    fn access_of(&self, at: usize, size: usize) -> Access {
        let (context, start) = (self.fixture.context(), self.at(at).cast_const());
        let property = ur_virtual_mem_info_t::ACCESS_MODE;
        Access::from_bits_retain(query::get(ask!(VirtualMem.pfnGetInfo(context, start, size, property))))
    }
}

impl Drop for Range<'_> {
    fn drop(&mut self) {
        let answer = ur!(VirtualMem.pfnFree(self.fixture.context(), self.start, self.size));
        if !std::thread::panicking() {
            expect_success(answer, "urVirtualMemFree");
        }
    }
}

struct Physical<'f> {
    raw: ur_physical_mem_handle_t,
    size: usize,
    _fixture: &'f Fixture,
}

impl<'f> Physical<'f> {
    #[track_caller]
    fn new(fixture: &'f Fixture, size: usize) -> Self {
        Self::on(fixture, fixture.device(), size)
    }

    #[track_caller]
    fn on(fixture: &'f Fixture, device: ur_device_handle_t, size: usize) -> Self {
        let mut raw = null_mut();
        ok!(PhysicalMem.pfnCreate(fixture.context(), device, size, null(), &raw mut raw));
        Self { raw, size, _fixture: fixture }
    }
}

impl Drop for Physical<'_> {
    fn drop(&mut self) {
        let answer = ur!(PhysicalMem.pfnRelease(self.raw));
        if !std::thread::panicking() {
            expect_success(answer, "urPhysicalMemRelease");
        }
    }
}

fn granularity(fixture: &Fixture) -> usize {
    let (context, device) = (fixture.context(), fixture.device());
    query::get(ask!(VirtualMem.pfnGranularityGetInfo(context, device, 1, Granularity::MINIMUM)))
}

#[test]
fn urDeviceGetInfo_says_that_there_is_virtual_memory() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::VIRTUAL_MEMORY_SUPPORT;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
}

#[test]
fn urVirtualMemGranularityGetInfo_tells_powers_of_two_with_and_without_a_device() {
    let fixture = Fixture::over_all_devices();
    let context = fixture.context();
    check_every_property!(
        ur_virtual_mem_granularity_info_t,
        &[],
        VirtualMem.pfnGranularityGetInfo(context, fixture.device(), 1 << 20)
    );
    for property in [Granularity::MINIMUM, Granularity::RECOMMENDED] {
        let of = |device| query::get::<usize>(ask!(VirtualMem.pfnGranularityGetInfo(context, device, 1, property)));
        let all: Vec<usize> = fixture.devices.iter().map(|device| of(*device)).collect();
        assert!(all.iter().all(|bytes| bytes.is_power_of_two() && *bytes >= 4096), "{all:?}");
        assert_eq!(Some(&of(null_mut())), all.iter().max(), "{property:?}");
    }
    if let Some(&other) = fixture.devices.get(1) {
        let one = fixture.context_of(&[fixture.device()]);
        let mut bytes = 0usize;
        let (p, out) = (Granularity::MINIMUM, (&raw mut bytes).cast());
        refused!(
            ERROR_INVALID_DEVICE,
            VirtualMem.pfnGranularityGetInfo(one.handle(), other, 1, p, size_of::<usize>(), out, null_mut())
        );
    }
}

#[test]
fn mapped_memory_is_memory_to_kernels_and_copies() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"fill"));
    let step = granularity(&fixture);
    let range = Range::new(&fixture, 4 * step);
    let (first, second) = (Physical::new(&fixture, step), Physical::new(&fixture, 2 * step));
    expect_success(range.map(0, &first, Access::READ_WRITE), "urVirtualMemMap");
    expect_success(range.map(step, &second, Access::READ_WRITE), "urVirtualMemMap");
    let words = 3 * step / 4;
    let count = u32::try_from(words).expect("a small range");
    Launch::new(&kernel, &[words]).pointer(range.start).value(0xabcd_u32).value(count).on(&queue);
    let read = |at: usize, count: usize| memory::read::<u32>(&queue, range.at(at), count);
    assert!(read(0, words).iter().all(|&word| word == 0xabcd), "across the border of two mappings");
    // Rows over the border are no rows beyond the end, whatever the native library makes of them.
    let (q, start, pitch, rows) = (queue.handle(), range.start, step / 2, [0u32; 96]);
    let from = rows.as_ptr().cast();
    let answer = ur!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, start, pitch, from, 64, 64, 6, 0, null(), null_mut()));
    assert_ne!(answer, Code::ERROR_INVALID_SIZE);
    Launch::new(&kernel, &[words]).pointer(range.start).value(0xabcd_u32).value(count).on(&queue);
    memory::write(&queue, range.at(step - 8), &[1u32, 2, 3, 4]);
    assert_eq!(read(step - 8, 4), [1, 2, 3, 4]);
    // The bytes are the physical memory's: they stay when it is mapped elsewhere.
    range.unmap(0, 3 * step);
    expect_success(range.map(2 * step, &first, Access::READ_WRITE), "urVirtualMemMap");
    assert_eq!(read(3 * step - 8, 2), [1, 2]);
    queue.finish();
    range.unmap(2 * step, step);
}

#[test]
fn a_mapping_keeps_physical_memory_that_was_released() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let step = granularity(&fixture);
    let range = Range::new(&fixture, step);
    let physical = Physical::new(&fixture, step);
    expect_success(range.map(0, &physical, Access::READ_WRITE), "urVirtualMemMap");
    drop(physical);
    memory::write(&queue, range.start, &[5u32, 6]);
    assert_eq!(memory::read::<u32>(&queue, range.start, 2), [5, 6]);
    range.unmap(0, step);
}

#[test]
fn urUSMFree_refuses_mapped_memory_and_no_buffer_may_own_it() {
    let fixture = Fixture::new();
    let step = granularity(&fixture);
    let range = Range::new(&fixture, 2 * step);
    let physical = Physical::new(&fixture, step);
    let other = fixture.context_of(&[fixture.device()]);
    // The second time the mapping is not where the reservation starts.
    for at in [0, step] {
        expect_success(range.map(at, &physical, Access::READ_WRITE), "urVirtualMemMap");
        for context in [fixture.context(), other.handle()] {
            memory::expect_not_to_be_freed(context, range.at(at));
        }
        range.unmap(at, step);
    }
}

#[test]
fn urVirtualMemGetInfo_tells_the_least_rights_of_all_mappings_of_the_range_and_refuses_gaps() {
    let fixture = Fixture::new();
    let step = granularity(&fixture);
    let range = Range::new(&fixture, 4 * step);
    let mapped: Vec<_> = [0, step, 3 * step].into_iter().map(|at| (at, Physical::new(&fixture, step))).collect();
    for (at, physical) in &mapped {
        expect_success(range.map(*at, physical, Access::READ_WRITE), "urVirtualMemMap");
    }
    for second in [Access::READ_ONLY, Access::NONE] {
        ok!(VirtualMem.pfnSetAccess(fixture.context(), range.at(step), step, second));
        assert_eq!(range.access_of(0, 2 * step), second);
        assert_eq!(range.access_of(step - 1, 2), second, "a byte of each");
        assert_eq!(range.access_of(0, step), Access::READ_WRITE);
    }
    let mut flags = 7u32;
    let (c, mode, out) = (fixture.context(), ur_virtual_mem_info_t::ACCESS_MODE, (&raw mut flags).cast());
    for (at, size) in [(0, 2 * step + 1), (0, 4 * step), (step, 3 * step), (2 * step, step), (3 * step, step + 1)] {
        let start = range.at(at).cast_const();
        refused!(ERROR_INVALID_VALUE, VirtualMem.pfnGetInfo(c, start, size, mode, 4, out, null_mut()));
    }
    assert_eq!(flags, 7);
    mapped.iter().for_each(|(at, _)| range.unmap(*at, step));
}

#[test]
fn urVirtualMemSetAccess_changes_what_urVirtualMemGetInfo_tells() {
    let fixture = Fixture::new();
    let step = granularity(&fixture);
    let range = Range::new(&fixture, 2 * step);
    let physical = Physical::new(&fixture, step);
    for (flags, told) in [
        (Access::empty(), Access::NONE),
        (Access::NONE, Access::NONE),
        (Access::READ_ONLY, Access::READ_ONLY),
        (Access::READ_WRITE, Access::READ_WRITE),
    ] {
        expect_success(range.map(0, &physical, flags), "urVirtualMemMap");
        assert_eq!(range.access(0), told, "mapped with {flags:?}");
        for (flags, told) in [
            (Access::READ_WRITE, Access::READ_WRITE),
            (Access::READ_ONLY, Access::READ_ONLY),
            (Access::NONE, Access::NONE),
        ] {
            ok!(VirtualMem.pfnSetAccess(fixture.context(), range.start, step, flags));
            assert_eq!(range.access(0), told);
            assert_eq!(range.access(step - 1), told);
        }
        check_every_property!(
            ur_virtual_mem_info_t,
            &[],
            VirtualMem.pfnGetInfo(fixture.context(), range.start.cast_const(), step)
        );
        range.unmap(0, step);
    }
}

#[test]
fn every_device_of_the_context_that_can_reach_mapped_memory_may() {
    let fixture = Fixture::over_all_devices();
    let kernel_of_first = fixture.basic(c"fill");
    drop(kernel_of_first);
    let step = granularity(&fixture);
    let range = Range::new(&fixture, step);
    let physical = Physical::new(&fixture, step);
    expect_success(range.map(0, &physical, Access::READ_WRITE), "urVirtualMemMap");
    for &device in &fixture.devices {
        let queue = fixture.queue_in(fixture.context(), device, Default::default());
        memory::write(&queue, range.start, &[device.addr()]);
        assert_eq!(memory::read::<usize>(&queue, range.start, 1), [device.addr()]);
    }
    range.unmap(0, step);
}

#[test]
fn urVirtualMemReserve_takes_a_wish_and_gives_ranges_that_do_not_overlap() {
    let fixture = Fixture::new();
    let step = granularity(&fixture);
    let ranges: Vec<Range<'_>> = (1..5).map(|count| Range::new(&fixture, count * step)).collect();
    for one in &ranges {
        assert!(one.start.addr().is_multiple_of(step));
        let apart = |other: &&Range<'_>| {
            core::ptr::eq(*other, one) || other.at(other.size) <= one.start || one.at(one.size) <= other.start
        };
        assert!(ranges.iter().all(|other| apart(&other)));
    }
    let mut start = null_mut();
    let wish = ranges[0].start.cast_const();
    ok!(VirtualMem.pfnReserve(fixture.context(), wish, step, &raw mut start));
    assert_ne!(start.cast_const(), wish, "a range that is taken");
    ok!(VirtualMem.pfnFree(fixture.context(), start, step));
}

#[test]
fn ranges_that_are_not_what_the_call_is_about_are_refused() {
    let fixture = Fixture::new();
    let step = granularity(&fixture);
    let range = Range::new(&fixture, 4 * step);
    let physical = Physical::new(&fixture, 2 * step);
    let (c, s, p) = (fixture.context(), range.start.cast_const(), physical.raw);
    let (rw, bad) = (Access::READ_WRITE, Access::READ_WRITE.union(Access::READ_ONLY));
    let lowest = UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK & UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK.wrapping_neg();
    let unknown = Access::from_bits_retain(lowest);
    let mut start = null_mut();
    let heap = Box::new([0u8; 64]);
    let heap = heap.as_ptr().cast::<c_void>();

    for size in [0, 1, step + 1] {
        refused!(ERROR_INVALID_SIZE, VirtualMem.pfnReserve(c, null(), size, &raw mut start));
    }
    refused!(ERROR_INVALID_NULL_POINTER, VirtualMem.pfnReserve(c, null(), step, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, VirtualMem.pfnReserve(null_mut(), null(), step, &raw mut start));
    assert!(start.is_null());

    refused!(ERROR_INVALID_NULL_POINTER, VirtualMem.pfnFree(c, null(), step));
    refused!(ERROR_INVALID_SIZE, VirtualMem.pfnFree(c, s, 0));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(c, s, step));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(c, range.at(step), step));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(c, heap, step));

    refused!(ERROR_INVALID_NULL_POINTER, VirtualMem.pfnMap(c, null(), 2 * step, p, 0, rw));
    refused!(ERROR_INVALID_NULL_HANDLE, VirtualMem.pfnMap(c, s, 2 * step, null_mut(), 0, rw));
    refused!(ERROR_INVALID_SIZE, VirtualMem.pfnMap(c, s, 0, p, 0, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(c, s, 3 * step, p, 0, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(c, s, step, p, 2 * step, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(c, range.at(3 * step), 2 * step, p, 0, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(c, range.at(100), 2 * step, p, 0, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(c, s, 2 * step, p, 0, bad));
    refused!(ERROR_INVALID_ENUMERATION, VirtualMem.pfnMap(c, s, 2 * step, p, 0, unknown));
    // A part of physical memory is what no native library maps.
    refused!(ERROR_UNSUPPORTED_FEATURE, VirtualMem.pfnMap(c, s, step, p, 0, rw));
    refused!(ERROR_UNSUPPORTED_FEATURE, VirtualMem.pfnMap(c, s, step, p, step, rw));
    let elsewhere = fixture.context_of(&[fixture.device()]);
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(elsewhere.handle(), s, 2 * step, p, 0, rw));

    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnSetAccess(c, s, step, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnUnmap(c, s, step));
    let mut flags = 7u32;
    let (mode, out) = (ur_virtual_mem_info_t::ACCESS_MODE, (&raw mut flags).cast());
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnGetInfo(c, s, step, mode, 4, out, null_mut()));
    assert_eq!(flags, 7);

    expect_success(range.map(0, &physical, rw), "urVirtualMemMap");
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnMap(c, s, 2 * step, p, 0, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(c, s, 4 * step));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnSetAccess(c, s, step, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnSetAccess(c, s, 3 * step, rw));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnSetAccess(c, s, 2 * step, bad));
    refused!(ERROR_INVALID_ENUMERATION, VirtualMem.pfnSetAccess(c, s, 2 * step, unknown));
    refused!(ERROR_INVALID_NULL_POINTER, VirtualMem.pfnSetAccess(c, null(), 2 * step, rw));
    refused!(ERROR_INVALID_NULL_POINTER, VirtualMem.pfnUnmap(c, null(), 2 * step));
    refused!(ERROR_INVALID_SIZE, VirtualMem.pfnUnmap(c, s, 0));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnUnmap(c, s, step));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnUnmap(c, s, 3 * step));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnUnmap(elsewhere.handle(), s, 2 * step));
    assert_eq!(range.access(0), rw, "what was refused changed nothing");
    range.unmap(0, 2 * step);
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnUnmap(c, s, 2 * step));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(elsewhere.handle(), s, 4 * step));
}

/// Native libraries take two reservations side by side for one.
#[test]
fn reservations_side_by_side_stay_two() {
    let fixture = Fixture::new();
    let (c, step) = (fixture.context(), granularity(&fixture));
    let ranges: Vec<Range<'_>> = (0..8).map(|_| Range::new(&fixture, step)).collect();
    let physical = Physical::new(&fixture, 2 * step);
    for range in &ranges {
        let code = range.map(0, &physical, Access::READ_WRITE);
        assert_eq!(code, Code::ERROR_INVALID_VALUE, "half of it lies behind the reservation");
        refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(c, range.start, 2 * step));
    }
}

#[test]
fn a_native_failure_of_mapping_leaves_nothing_mapped() {
    let fixture = Fixture::over_all_devices();
    let step = granularity(&fixture);
    let range = Range::new(&fixture, step);
    let physical = Physical::new(&fixture, step);
    let sim = needs_sim!(fixture);
    let last = fixture.devices.len() as u64;
    for (name, nth) in [("cuMemMap", 1), ("cuMemGetAccess", 1), ("cuMemSetAccess", 1), ("cuMemSetAccess", last)] {
        sim.fail(name, nth, status::UNKNOWN);
        assert_eq!(range.map(0, &physical, Access::READ_WRITE), Code::ERROR_ADAPTER_SPECIFIC, "{name}");
        sim.clear_faults();
        assert_eq!(sim.objects().get("mapped memory"), None, "{name}");
    }
    expect_success(range.map(0, &physical, Access::READ_ONLY), "urVirtualMemMap");
    for nth in 1..=last {
        sim.fail("cuMemSetAccess", nth, status::UNKNOWN);
        let (c, s) = (fixture.context(), range.start);
        refused!(ERROR_ADAPTER_SPECIFIC, VirtualMem.pfnSetAccess(c, s, step, Access::READ_WRITE));
        sim.clear_faults();
        assert_eq!(range.access(0), Access::READ_ONLY, "no device keeps new rights when another's call failed");
    }
    sim.fail("cuMemUnmap", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, VirtualMem.pfnUnmap(fixture.context(), range.start, step));
    range.unmap(0, step);
    for name in ["cuMemGetAllocationGranularity", "cuMemAddressReserve"] {
        let mut start = null_mut();
        sim.fail(name, 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, VirtualMem.pfnReserve(fixture.context(), null(), step, &raw mut start));
        assert!(start.is_null());
    }
}

#[test]
fn urVirtualMemMap_that_can_neither_give_access_nor_undo_the_mapping_leaves_it_to_urVirtualMemUnmap() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let step = granularity(&fixture);
    let range = Range::new(&fixture, step);
    let physical = Physical::new(&fixture, step);
    sim.fail("cuMemSetAccess", 1, status::UNKNOWN);
    sim.fail("cuMemUnmap", 1, status::UNKNOWN);
    assert_eq!(range.map(0, &physical, Access::READ_WRITE), Code::ERROR_ADAPTER_SPECIFIC);
    sim.clear_faults();
    assert_eq!(sim.objects().get("mapped memory"), Some(&1));
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnFree(fixture.context(), range.start, step));
    range.unmap(0, step);
    assert_eq!(sim.objects().get("mapped memory"), None);
}

#[test]
fn a_native_failure_over_several_mappings_leaves_the_rights_and_what_was_not_reached_as_they_were() {
    let fixture = Fixture::new();
    let (step, sim) = (granularity(&fixture), needs_sim!(fixture));
    let range = Range::new(&fixture, 3 * step);
    let (first, second) = (Physical::new(&fixture, step), Physical::new(&fixture, 2 * step));
    expect_success(range.map(0, &first, Access::READ_ONLY), "urVirtualMemMap");
    expect_success(range.map(step, &second, Access::READ_WRITE), "urVirtualMemMap");
    let (c, s) = (fixture.context(), range.start);
    sim.fail("cuMemSetAccess", 2, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, VirtualMem.pfnSetAccess(c, s, 3 * step, Access::NONE));
    sim.clear_faults();
    assert_eq!((range.access(0), range.access(step)), (Access::READ_ONLY, Access::READ_WRITE));
    ok!(VirtualMem.pfnSetAccess(c, s, 3 * step, Access::READ_WRITE));
    assert_eq!((range.access(0), range.access(step)), (Access::READ_WRITE, Access::READ_WRITE));
    sim.fail("cuMemUnmap", 2, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, VirtualMem.pfnUnmap(c, s, 3 * step));
    sim.clear_faults();
    refused!(ERROR_INVALID_VALUE, VirtualMem.pfnUnmap(c, s, 3 * step));
    assert_eq!(range.access(step), Access::READ_WRITE, "it is mapped still");
    range.unmap(step, 2 * step);
    expect_success(range.map(0, &first, Access::READ_WRITE), "urVirtualMemMap");
    range.unmap(0, step);
}

/// No device gets access that has no way to the memory.
#[test]
fn urVirtualMemGetInfo_tells_the_rights_of_the_device_that_has_the_memory() {
    let test = "urVirtualMemGetInfo_tells_the_rights_of_the_device_that_has_the_memory";
    child::in_process(test, &[("SIMCUDA_LINKS", "none")], || {
        let fixture = Fixture::over_all_devices();
        for &device in &fixture.devices {
            let step = granularity(&fixture);
            let range = Range::new(&fixture, step);
            let physical = Physical::on(&fixture, device, step);
            expect_success(range.map(0, &physical, Access::READ_WRITE), "urVirtualMemMap");
            assert_eq!(range.access(0), Access::READ_WRITE);
            ok!(VirtualMem.pfnSetAccess(fixture.context(), range.start, step, Access::READ_ONLY));
            assert_eq!(range.access(0), Access::READ_ONLY);
            range.unmap(0, step);
        }
    });
}
