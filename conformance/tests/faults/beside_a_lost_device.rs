//! A device that is well, in a context with one that was lost: what is asked of the one does not answer for the other.
//! Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_context_info_t, ur_device_info_t, ur_map_flags_t as Map, ur_mem_flags_t as Flags, ur_result_t as Code,
};
use ur_conformance::memory::allocate;
use ur_conformance::pool::{self, Figures, NATIVE_POOLS, Plan, Take, free, give};
use ur_conformance::{
    Buffer, Fixture, Kernel, Kind, Launch, Memory, Queue, Sim, ask, child, expect_success, needs_sim, ok, query, ur,
};

const MIB: usize = 1 << 20;

/// A queue of each of the first two devices, with a kernel of `basic.ptx` there.
fn on_two_devices(fixture: &Fixture, name: &core::ffi::CStr) -> [(Queue, Kernel); 2] {
    assert!(fixture.devices.len() >= 2, "the simulated driver has two devices, unless SIMCUDA_DEVICES says otherwise");
    [fixture.devices[0], fixture.devices[1]].map(|device| {
        let kernel = fixture.kernel(&fixture.program_on("basic.ptx", device), name);
        (fixture.queue_in(fixture.context(), device, Default::default()), kernel)
    })
}

/// Loses the second device while its queues have work.
fn lose_second(sim: &Sim, kernel: &Kernel, queues: &[&Queue], before: impl FnOnce()) {
    let held = sim.hold();
    queues.iter().for_each(|queue| Launch::new(kernel, &[1]).on(queue));
    before();
    sim.lose_device(1);
    drop(held);
}

#[test]
fn urQueueFinish_answers_for_its_own_device_though_a_lost_one_freed_a_block_of_its_pool() {
    for stays in [true, false] {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [(a, _), (b, on_b)] = on_two_devices(&fixture, c"empty");
        let pool = Plan::new().of(&fixture);
        let take = || Take::new(3 * MIB).kind(Kind::Shared).from(&pool).on(&a);
        let block = take();
        a.finish();
        lose_second(sim, &on_b, &[&b], || assert_eq!(free(&b, block), Code::SUCCESS));
        let b = Some(b).filter(|_| stays);
        a.finish();
        assert_eq!(Figures::of(pool.handle()).reserved, 0, "nothing runs on the lost device, so the slab goes back");
        give(&a, take());
        a.finish();
        drop(b);
    }
}

/// The device is full of what its own queue keeps; the other one's queue keeps nothing, but has freed a block natively.
#[test]
fn urUSMDeviceAlloc_on_a_full_device_gets_what_is_kept_though_a_lost_one_freed_a_block_of_its_pool() {
    let test = "urUSMDeviceAlloc_on_a_full_device_gets_what_is_kept_though_a_lost_one_freed_a_block_of_its_pool";
    let variables = [("SIMCUDA_MEMORY", "256M"), ("UR_USM_MAGAZINE_BYTES", "1000G"), NATIVE_POOLS];
    child::in_process(test, &variables, || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [(a, _), (b, on_b)] = on_two_devices(&fixture, c"empty");
        let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
        let blocks: Vec<*mut c_void> = (0..12).map(|_| Take::new(16 * MIB).from(&pool).on(&a)).collect();
        let of_b = Take::new(4096).from(&pool).on(&a);
        a.finish();
        give(&b, of_b);
        b.finish();
        blocks.into_iter().for_each(|block| give(&a, block));
        a.finish();
        lose_second(sim, &on_b, &[&b], || {});
        let (context, device, mut memory) = (fixture.context(), fixture.device(), null_mut());
        expect_success(allocate(Kind::Device, context, device, null(), 160 * MIB, &raw mut memory), "urUSMDeviceAlloc");
        ok!(USM.pfnFree(context, memory));
        pool::trim(&fixture, pool.handle(), 0);
    });
}

#[test]
fn urUSMFree_leaves_memory_to_be_used_again_though_another_device_was_lost_with_work() {
    const ROUNDS: usize = 20_000;
    const BYTES: usize = 4096;
    let test = "urUSMFree_leaves_memory_to_be_used_again_though_another_device_was_lost_with_work";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [_, (b, on_b)] = on_two_devices(&fixture, c"empty");
        let gone = fixture.queue_in(fixture.context(), fixture.devices[1], Default::default());
        drop(fixture.memory(Kind::Device, BYTES));
        // One is there for good, and one has left an event.
        lose_second(sim, &on_b, &[&b, &gone], || ());
        drop(gone);
        let mut live = Vec::new();
        for round in 0..ROUNDS {
            let memory = fixture.memory(Kind::Device, BYTES);
            if round % 16 == 0 {
                live.push(memory);
            }
        }
        let reserved = ur_context_info_t::USM_RESERVED_BYTES_EXP;
        let reserved: u64 = query::get(ask!(Context.pfnGetInfo(fixture.context(), reserved)));
        let bound = (live.len() * BYTES + 16 * MIB) as u64;
        assert!(reserved < bound, "{reserved} bytes are held for {} blocks that are live", live.len());
    });
}

fn add<'k>(kernel: &'k Kernel, buffer: &Buffer, value: u32) -> Launch<'k> {
    let words = buffer.size() / 4;
    Launch::new(kernel, &[words]).buffer(buffer, Flags::READ_WRITE).value(value).value(words as u32)
}

#[test]
fn urMemRelease_writes_back_what_a_device_has_though_another_one_is_lost() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let queues = on_two_devices(&fixture, c"add_constant");
    let bits: u32 = query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::MEM_BASE_ADDR_ALIGN)));
    let words = (bits as usize / 8).max(4096) / 4;
    let mut own = vec![1u32; 2 * words];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 8 * words, own.as_mut_ptr().cast());
    for (index, (queue, kernel)) in queues.iter().enumerate() {
        let part = buffer.part(index * 4 * words, 4 * words);
        add(kernel, &part, 10).event_on(queue).wait();
    }
    sim.lose_device(0);
    drop(buffer);
    assert!(own[words..].iter().all(|word| *word == 11), "the second half begins with {}", own[words]);
}

/// Bytes that are at the host and were brought to a device, which is lost.
fn bytes_are_read_elsewhere(flags: Flags) {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let [(a, on_a), (b, on_b)] = on_two_devices(&fixture, c"copy");
    let mut own = vec![7u32; 1024];
    let buffer = Buffer::of(fixture.context(), flags, 4096, own.as_mut_ptr().cast());
    let [one, two] = [(); 2].map(|()| Buffer::new(&fixture, 4096));
    let copy = |kernel, to| {
        let launch = Launch::new(kernel, &[1024]).buffer(to, Flags::WRITE_ONLY).buffer(&buffer, Flags::READ_ONLY);
        launch.value(1024u32)
    };
    copy(&on_a, &one).event_on(&a).wait();
    sim.lose_device(0);
    assert_eq!(buffer.read::<u32>(&b), [7; 1024]);
    copy(&on_b, &two).event_on(&b).wait();
    assert_eq!([two.read::<u32>(&b), buffer.read(&b)], [[7; 1024]; 2]);
}

#[test]
fn urEnqueueMemBufferRead_takes_bytes_that_a_lost_device_has_too_from_elsewhere() {
    bytes_are_read_elsewhere(Flags::USE_HOST_POINTER);
}

/// The copy goes once the bytes are at devices; a lost one has not got them.
#[test]
fn a_copy_of_the_application_s_bytes_stays_if_the_device_that_read_it_is_lost() {
    bytes_are_read_elsewhere(Flags::ALLOC_COPY_HOST_POINTER);
}

/// Bytes that a device which is well has, and that a lost one was to bring to the application's memory, are there behind `release`.
fn bytes_are_written_back_behind(release: impl FnOnce(&Queue, Buffer)) {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let [(a, on_a), (b, _)] = on_two_devices(&fixture, c"add_constant");
    let mut own = vec![1u32; 1024];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 4096, own.as_mut_ptr().cast());
    add(&on_a, &buffer, 10).event_on(&a).wait();
    let held = sim.hold();
    let (q, m, mut mapped) = (b.handle(), buffer.handle(), null_mut());
    ok!(Enqueue.pfnMemBufferMap(q, m, CBool::FALSE, Map::READ, 0, 4096, 0, null(), null_mut(), &raw mut mapped));
    sim.lose_device(1);
    drop(held);
    // The lost device may refuse it.
    let _ = ur!(Enqueue.pfnMemUnmap(q, m, mapped, 0, null(), null_mut()));
    release(&a, buffer);
    assert_eq!(own, [11; 1024]);
}

#[test]
fn urMemRelease_writes_back_what_a_lost_device_was_to_bring_to_the_application_s_memory() {
    bytes_are_written_back_behind(|_, buffer| drop(buffer));
}

extern "C" fn release(buffer: *mut c_void) {
    ok!(Mem.pfnRelease(buffer.cast()));
}

#[test]
fn urMemRelease_in_a_host_task_writes_back_what_a_lost_device_was_to_bring() {
    bytes_are_written_back_behind(|queue, buffer| {
        let handle = core::mem::ManuallyDrop::new(buffer).handle().cast();
        ok!(EnqueueExp.pfnHostTaskExp(queue.handle(), Some(release), handle, null(), 0, null(), null_mut()));
        queue.finish();
    });
}

/// Many uses by other queues come behind the one of the lost device.
#[test]
fn bytes_that_a_lost_device_was_to_bring_are_not_taken_for_brought_though_many_queues_came_since() {
    const PARTS: usize = 17;
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let [(a, on_a), (b, _)] = on_two_devices(&fixture, c"add_constant");
    let mut own = vec![1u32; PARTS * 1024];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, PARTS * 4096, own.as_mut_ptr().cast());
    add(&on_a, &buffer, 10).event_on(&a).wait();
    let held = sim.hold();
    let map = |queue: &Queue, part: usize, waits| {
        let (q, m, mut mapped) = (queue.handle(), buffer.handle(), null_mut());
        let at = part * 4096;
        ur!(Enqueue.pfnMemBufferMap(q, m, waits, Map::READ, at, 4096, 0, null(), null_mut(), &raw mut mapped))
    };
    assert_eq!(map(&b, 0, CBool::FALSE), Code::SUCCESS);
    sim.lose_device(1);
    drop(held);
    let queues: Vec<Queue> = (1..PARTS).map(|_| fixture.in_order()).collect();
    for (part, queue) in (1..).zip(&queues) {
        assert_eq!(map(queue, part, CBool::FALSE), Code::SUCCESS, "part {part}");
    }
    let answer = map(&a, 0, CBool::TRUE);
    assert!(answer == Code::ERROR_DEVICE_LOST || own[0] == 11, "{answer:?} with {}", own[0]);
    queues.iter().for_each(Queue::finish);
    drop(buffer);
    assert_eq!(own, [11; PARTS * 1024]);
}

fn map(queue: &Queue, buffer: &Buffer, how: Map) -> *mut c_void {
    let (q, m, size, mut mapped) = (queue.handle(), buffer.handle(), buffer.size(), null_mut());
    ok!(Enqueue.pfnMemBufferMap(q, m, CBool::TRUE, how, 0, size, 0, null(), null_mut(), &raw mut mapped));
    mapped
}

fn unmap(queue: &Queue, buffer: &Buffer, mapped: *mut c_void) {
    ok!(Enqueue.pfnMemUnmap(queue.handle(), buffer.handle(), mapped, 0, null(), null_mut()));
}

#[test]
fn bytes_that_the_application_wrote_anew_are_its_own_though_a_lost_device_brought_older_ones() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let [(a, on_a), (b, _)] = on_two_devices(&fixture, c"add_constant");
    let mut own = vec![1u32; 1024];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 4096, own.as_mut_ptr().cast());
    add(&on_a, &buffer, 10).event_on(&a).wait();
    let mapped = map(&b, &buffer, Map::READ);
    unmap(&b, &buffer, mapped);
    b.finish();
    sim.lose_device(1);
    let mapped = map(&a, &buffer, Map::WRITE_INVALIDATE_REGION).cast::<u32>();
    // SAFETY: the mapping has so many words, and no command uses them now.
    unsafe { core::slice::from_raw_parts_mut(mapped, 1024) }.fill(100);
    unmap(&a, &buffer, mapped.cast());
    for round in 1..3 {
        add(&on_a, &buffer, 5).event_on(&a).wait();
        assert_eq!(buffer.read::<u32>(&a), vec![100 + 5 * round; 1024]);
    }
    drop(buffer);
    assert_eq!(own, vec![110; 1024]);
}

/// The memory of a test that has ended may be gone by then.
#[test]
fn what_a_lost_device_had_to_do_is_not_done_once_a_test_has_made_it_usable_again() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, memory) = (fixture.in_order(), fixture.memory(Kind::Device, 4));
    let [early, late] = [(); 2].map(|()| fixture.memory(Kind::Host, 4));
    memory.write(&queue, &[7u32]);
    [&early, &late].into_iter().for_each(|host| host.store(0, 1));
    let copy = |to: &Memory<'_>| {
        ok!(Enqueue.pfnUSMMemcpy(
            queue.handle(),
            false.into(),
            to.pointer(),
            memory.pointer(),
            4,
            0,
            null(),
            null_mut()
        ));
    };
    let held = sim.hold();
    copy(&early);
    sim.lose_device(0);
    sim.clear_faults();
    copy(&late);
    drop(held);
    queue.finish();
    assert_eq!([early.load(0), late.load(0)], [1, 7]);
}
