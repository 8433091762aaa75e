//! What must not wait while a native call of somebody else's blocks: a copy from the device to the heap waits inside the
//! driver until its stream gets there, and meanwhile other threads ask, free, wait and release.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;

use ur_conformance::ffi::{
    CBool, ur_event_info_t, ur_event_status_t, ur_map_flags_t, ur_mem_flags_t as MemFlags, ur_mem_info_t,
    ur_queue_flags_t as Flags, ur_queue_info_t, ur_result_t as Code, ur_usm_alloc_info_t, ur_usm_type_t,
};
use ur_conformance::memory;
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Plan, Take};
use ur_conformance::{
    Buffer, CommandBuffer, Event, Fixture, Gate, Graph, Image, Kind, Launch, Queue, Shape, Timeline, ask,
    expect_success, graph, needs_sim, ok, query, timeline, ur,
};

/// So many times a thing is asked while a copy is on its way: the copying thread is inside the driver long before the last.
pub(super) const ROUNDS: usize = 2000;

/// Runs `meanwhile` while another thread copies from the device to the heap behind a closed gate. The gate fails the test
/// if anything in it waits for the copy.
fn beside_a_copy(fixture: &Fixture, queue: &Queue, meanwhile: impl FnOnce()) {
    let memory = fixture.memory(Kind::Device, 4096);
    let mut heap = vec![0u8; 4096];
    let (to, from) = (heap.as_mut_ptr().expose_provenance(), memory.pointer().expose_provenance());
    let copy = || {
        let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
        ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4096, 0, null(), null_mut()));
    };
    beside(fixture, queue, copy, meanwhile);
}

/// As [`beside_a_copy`], with an enqueue to the queue that blocks in the driver.
pub(super) fn beside(fixture: &Fixture, queue: &Queue, copy: impl FnOnce() + Send, meanwhile: impl FnOnce()) {
    let mut gate = Gate::new(fixture);
    gate.block(queue);
    std::thread::scope(|scope| {
        let (begin, begun) = channel();
        let copying = scope.spawn(move || {
            begin.send(()).unwrap();
            copy();
        });
        begun.recv().unwrap();
        meanwhile();
        gate.open();
        copying.join().unwrap();
    });
    queue.finish();
}

fn kind_of(fixture: &Fixture, pointer: *mut c_void) -> ur_usm_type_t {
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer, ur_usm_alloc_info_t::TYPE))))
}

#[test]
fn urUSMGetMemAllocInfo_does_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let block = Take::new(4096).on(&queue);
    let plain = fixture.memory(Kind::Device, 64);
    beside_a_copy(&fixture, &queue, || {
        for _ in 0..ROUNDS {
            assert_eq!(kind_of(&fixture, block), ur_usm_type_t::DEVICE);
            assert_eq!(kind_of(&fixture, plain.pointer()), ur_usm_type_t::DEVICE);
            assert_eq!(kind_of(&fixture, (&raw const fixture).cast_mut().cast()), ur_usm_type_t::UNKNOWN);
        }
    });
    pool::give(&queue, block);
    queue.finish();
}

/// The blocks' own stream is the one that cannot get on: they go back to it when it can.
#[test]
fn urUSMFree_of_a_pool_s_block_does_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let made = Plan::new().of(&fixture);
    let blocks: Vec<_> = (0..200).map(|_| Take::new(4096).from(&made).on(&queue)).collect();
    queue.finish();
    beside_a_copy(&fixture, &queue, || {
        for &block in &blocks {
            for _ in 0..10 {
                assert_eq!(kind_of(&fixture, block), ur_usm_type_t::DEVICE);
            }
            ok!(USM.pfnFree(fixture.context(), block));
            assert_eq!(kind_of(&fixture, block), ur_usm_type_t::UNKNOWN);
            assert_eq!(ur!(USM.pfnFree(fixture.context(), block)), Code::ERROR_INVALID_MEM_OBJECT);
        }
        assert_eq!(pool::used(made.handle()).0, 0);
    });
    // They came back whole: the pool serves as many again, and is empty when those are gone.
    let again: Vec<_> = (0..200).map(|_| Take::new(4096).from(&made).on(&queue)).collect();
    assert_eq!(pool::used(made.handle()).0, 200 * 4096);
    again.into_iter().for_each(|block| pool::give(&queue, block));
    queue.finish();
    pool::trim(&fixture, made.handle(), 0);
    assert_eq!(pool::used(made.handle()).0, 0);
}

#[test]
fn urEnqueueEventsWait_for_an_event_of_a_queue_does_not_wait_for_another_thread_s_copy_there() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let (queue, other) = (fixture.in_order(), fixture.queue(flags));
        let memory = fixture.memory(Kind::Device, 4096);
        let zero = [0u8];
        let fill = |event| {
            ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 1, zero.as_ptr().cast(), 4096, 0, null(), event))
        };
        let before: Event = event_of(fill);
        beside_a_copy(&fixture, &queue, || {
            let list = [before.handle()];
            for _ in 0..ROUNDS {
                ok!(Enqueue.pfnEventsWaitWithBarrier(other.handle(), 1, list.as_ptr(), null_mut()));
            }
            before.wait();
            other.finish();
        });
    }
}

#[test]
fn urQueueGetInfo_and_native_handles_do_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4096);
    let zero = [0u8];
    let before: Event = event_of(|event| {
        ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 1, zero.as_ptr().cast(), 4096, 0, null(), event))
    });
    before.wait();
    beside_a_copy(&fixture, &queue, || {
        for _ in 0..ROUNDS {
            let empty: u8 = query::get(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY)));
            assert_eq!(empty, 0, "the queue is not empty");
        }
        let mut native = Default::default();
        ok!(Event.pfnGetNativeHandle(before.handle(), &raw mut native));
        ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
    });
}

#[test]
fn urUSMPoolRelease_and_trims_do_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for _ in 0..4 {
        let (gone, kept) = (Plan::new().of(&fixture), Plan::new().of(&fixture));
        for made in [&gone, &kept] {
            let block = Take::new(4096).from(made).on(&queue);
            pool::give(&queue, block);
        }
        let out = Take::new(4096).from(&gone).on(&queue);
        beside_a_copy(&fixture, &queue, || {
            pool::trim(&fixture, kept.handle(), 0);
            expect_success(gone.release(), "urUSMPoolRelease");
        });
        pool::give(&queue, out);
        queue.finish();
    }
}

#[test]
fn urContextRelease_does_not_wait_for_another_thread_s_copy_in_another_context() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    beside_a_copy(&fixture, &queue, || {
        for _ in 0..3 {
            let context = fixture.context_of(&[fixture.device()]);
            let memory = pool::Plan::new().create(context.handle(), fixture.device());
            drop(memory);
            drop(context);
        }
    });
}

/// CUDA has a launch whose graph copies to the heap wait inside the driver as it has such a copy.
#[test]
fn urEnqueueCommandBufferExp_and_urEnqueueGraphExp_that_copy_to_the_heap_hold_up_nobody() {
    let fixture = Fixture::new();
    let (memory, plain) = (fixture.memory(Kind::Device, 4096), fixture.memory(Kind::Device, 64));
    let mut heap = vec![0u8; 4096];
    let (to, from) = (heap.as_mut_ptr().cast::<c_void>(), memory.pointer());
    let queue = fixture.in_order();
    let commands = CommandBuffer::new(&fixture);
    commands.copy(to, from, 4096, &[]);
    commands.finalize();
    let graph = graph::are_there(&fixture).then(|| {
        let copy = || ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4096, 0, null(), null_mut()));
        Graph::captured(&queue, copy).instantiate()
    });
    let (empty, other) = (fixture.basic(c"empty"), fixture.in_order());
    Launch::new(&empty, &[1]).on(&other);
    let before = Launch::new(&empty, &[1]).event_on(&queue);
    let meanwhile = || {
        let list = [before.handle()];
        for _ in 0..ROUNDS {
            assert_eq!(kind_of(&fixture, plain.pointer()), ur_usm_type_t::DEVICE);
            ok!(Enqueue.pfnEventsWaitWithBarrier(other.handle(), 1, list.as_ptr(), null_mut()));
            let empty: u8 = query::get(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY)));
            assert_eq!(empty, 0, "the queue is not empty");
        }
        let mut native = Default::default();
        ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
        ok!(CommandBufferExp.pfnRetainExp(commands.handle()));
        ok!(CommandBufferExp.pfnReleaseExp(commands.handle()));
        Launch::new(&empty, &[1]).on(&other);
        other.finish();
        before.wait();
    };
    beside(&fixture, &queue, || commands.on(&queue), meanwhile);
    if let Some(graph) = &graph {
        beside(&fixture, &queue, || graph.on(&queue), meanwhile);
    }
}

/// While a stream's handle is somebody else's too, what they put there is not waited for.
#[test]
fn urQueueGetNativeHandle_leaves_events_exact_that_were_made_before_and_after() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4096);
    let zero = [0u8];
    let fill = || -> Event {
        event_of(|event| {
            ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 1, zero.as_ptr().cast(), 4096, 0, null(), event))
        })
    };
    let before = fill();
    let mut native = Default::default();
    ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
    // Another queue over the same stream stands for foreign work: the first one knows nothing of it.
    let mut other = null_mut();
    ok!(Queue.pfnCreateWithNativeHandle(native, fixture.context(), fixture.device(), null(), &raw mut other));
    let other = Queue::take(other);
    let after = fill();
    let mut gate = Gate::new(&fixture);
    gate.block(&other);
    before.wait();
    after.wait();
    let status: u32 = query::get(ask!(Event.pfnGetInfo(after.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
    assert_eq!(status, ur_event_status_t::COMPLETE.0);
    gate.open();
    queue.finish();
    other.finish();
}

/// The queue that is made over the handle knows as little of what the other one puts there.
#[test]
fn urQueueCreateWithNativeHandle_leaves_the_new_queue_s_events_exact() {
    let fixture = Fixture::new();
    let (queue, empty) = (fixture.in_order(), fixture.basic(c"empty"));
    let mut native = Default::default();
    ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
    let mut other = null_mut();
    ok!(Queue.pfnCreateWithNativeHandle(native, fixture.context(), fixture.device(), null(), &raw mut other));
    let other = Queue::take(other);
    let launched = Launch::new(&empty, &[1]).event_on(&other);
    let barrier: Event = event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(other.handle(), 0, null(), event)));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for event in [&launched, &barrier] {
        event.wait();
        let status: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
        assert_eq!(status, ur_event_status_t::COMPLETE.0);
    }
    assert!(!gate.has_passed());
    gate.open();
    other.finish();
    queue.finish();
}

/// The command's event is made when the copy has returned.
#[test]
fn urQueueGetNativeHandle_leaves_the_event_exact_of_a_copy_that_was_in_the_driver_meanwhile() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let (memory, mut heap) = (fixture.memory(Kind::Device, 4096), vec![0u8; 4096]);
    let (to, from) = (heap.as_mut_ptr().expose_provenance(), memory.pointer().expose_provenance());
    let copy = || -> Event {
        let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
        event_of(|event| ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4096, 0, null(), event)))
    };
    let mut native = Default::default();
    let copied = std::thread::scope(|scope| {
        let copies = sim.hold_calls("cuMemcpyAsync");
        let copying = scope.spawn(copy);
        copies.wait_for_one(|| copying.is_finished());
        ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
        drop(copies);
        copying.join().unwrap()
    });
    let mut other = null_mut();
    ok!(Queue.pfnCreateWithNativeHandle(native, fixture.context(), fixture.device(), null(), &raw mut other));
    let other = Queue::take(other);
    let mut gate = Gate::new(&fixture);
    gate.block(&other);
    copied.wait();
    gate.open();
    queue.finish();
    other.finish();
}

/// Size of a part of [`Parts`], bytes; a multiple of every device's alignment.
const PART: usize = 4096;

/// A buffer of two parts in a context of two devices, between which its bytes move, with a queue for each device.
struct Parts {
    one: Buffer,
    other: Buffer,
    queues: [Queue; 2],
}

impl Parts {
    /// Nothing where there are not two devices.
    fn new(fixture: &Fixture, flags: MemFlags, host: *mut c_void) -> Option<Self> {
        let [first, second, ..] = fixture.devices[..] else {
            println!("skipped: needs two devices");
            return None;
        };
        let whole = Buffer::of(fixture.context(), flags, 2 * PART, host);
        let queues = [first, second].map(|device| fixture.queue_in(fixture.context(), device, Flags::empty()));
        whole.write(&queues[0], &[1u8; 2 * PART]);
        let parts = Self { one: whole.part(0, PART), other: whole.part(PART, PART), queues };
        // A stream's first use, and a device's first memory, may wait in the driver for other threads' copies.
        parts.use_the_other(1);
        Some(parts)
    }

    /// Everything that a queue of the second device can do with the part that the first device's queue leaves alone.
    fn use_the_other(&self, rounds: usize) {
        let Self { one, other, queues: [_, queue] } = self;
        for round in 0..rounds {
            let value = round as u8;
            assert_eq!(query::get::<usize>(ask!(Mem.pfnGetInfo(other.handle(), ur_mem_info_t::SIZE))), PART);
            let (q, mem) = (queue.handle(), other.handle());
            ok!(Enqueue.pfnMemBufferFill(q, mem, (&raw const value).cast(), 1, 0, PART, 0, null(), null_mut()));
            other.write_at(queue, 7, &[value; 9]);
            assert_eq!(other.read_at::<u8>(queue, 0, 20), [value; 20]);
        }
        // Of what the first device's queue reads, others read too.
        assert_eq!(one.read_at::<u8>(queue, 0, 20), [1; 20]);
        drop(another_reference(one));
    }
}

/// A second reference to a buffer.
fn another_reference(buffer: &Buffer) -> Buffer {
    ok!(Mem.pfnRetain(buffer.handle()));
    Buffer::take(buffer.handle(), buffer.size())
}

#[test]
fn urEnqueueMemBufferRead_of_one_part_holds_up_no_command_on_the_other() {
    let fixture = Fixture::over_all_devices();
    let Some(parts) = Parts::new(&fixture, MemFlags::READ_WRITE, null_mut()) else { return };
    let mut heap = vec![0u8; PART];
    let to = heap.as_mut_ptr().expose_provenance();
    let (queue, mem) = (&parts.queues[0], &parts.one);
    let read = || {
        let to = core::ptr::with_exposed_provenance_mut(to);
        ok!(Enqueue.pfnMemBufferRead(queue.handle(), mem.handle(), CBool::FALSE, 0, PART, to, 0, null(), null_mut()));
    };
    beside(&fixture, queue, read, || parts.use_the_other(ROUNDS / 10));
    assert!(heap.iter().all(|byte| *byte == 1));
}

/// The application's own memory is one of the locations of such a buffer, and a copy there waits in the driver.
#[test]
fn urEnqueueMemBufferMap_of_one_part_holds_up_no_command_on_the_other() {
    let fixture = Fixture::over_all_devices();
    let mut host = vec![0u8; 2 * PART];
    let Some(parts) = Parts::new(&fixture, MemFlags::USE_HOST_POINTER, host.as_mut_ptr().cast()) else { return };
    let (queue, mem) = (&parts.queues[0], &parts.one);
    let map = || {
        let (flags, mut at) = (ur_map_flags_t::READ, null_mut());
        let (q, mem) = (queue.handle(), mem.handle());
        ok!(Enqueue.pfnMemBufferMap(q, mem, CBool::FALSE, flags, 0, PART, 0, null(), null_mut(), &raw mut at));
    };
    beside(&fixture, queue, map, || parts.use_the_other(ROUNDS / 10));
    drop(parts);
    assert!(host[..PART].iter().all(|byte| *byte == 1));
}

/// Enough bytes for a copy from the heap to the device to wait in the driver.
const LARGE: usize = 4 << 20;

/// Contents that an image was made with are copied to the device by the first command that uses it.
#[test]
fn urEnqueueMemImageRead_of_contents_that_come_to_the_device_holds_up_no_queue_that_reads_the_image() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let shape = || Shape::word(&[1024, LARGE / 4096]);
    let contents = memory::pattern(1, LARGE);
    let (image, target) = (Image::with(fixture.context(), shape(), &contents), Image::new(&fixture, shape()));
    let out = fixture.memory(Kind::Host, LARGE);
    let before = sim.calls_so_far("cuMemcpy3DAsync_v2");
    let (at, region) = (image.whole().offset(), image.whole().region());
    let read = || {
        let (q, mem, to) = (queue.handle(), image.mem.handle(), out.pointer());
        ok!(Enqueue.pfnMemImageRead(q, mem, CBool::FALSE, at, region, 0, 0, to, 0, null(), null_mut()));
    };
    beside(&fixture, &queue, read, || {
        // The contents are on their way now, or the driver has the copy.
        while sim.calls_so_far("cuMemcpy3DAsync_v2") == before {
            std::thread::yield_now();
        }
        let (q, from, to) = (other.handle(), image.handle(), target.handle());
        ok!(Enqueue.pfnMemImageCopy(q, from, to, at, at, region, 0, null(), null_mut()));
    });
    assert!(out.read::<u8>(&queue, LARGE) == contents);
    assert!(target.read::<u8>(&other) == contents);
}

/// Two commands that bring the same bytes to the same place have no order by the application where both only read them.
#[test]
fn urEnqueueMemBufferMap_of_bytes_that_another_map_is_bringing_does_not_wait_for_that_one_s_copy() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let mut host = vec![0u8; 2 * PART];
    let Some(parts) = Parts::new(&fixture, MemFlags::USE_HOST_POINTER, host.as_mut_ptr().cast()) else { return };
    let (queue, mem) = (&parts.queues[0], &parts.one);
    let third = fixture.queue_in(fixture.context(), fixture.device(), Flags::empty());
    let map = |queue: &Queue| {
        let (flags, mut at) = (ur_map_flags_t::READ, null_mut());
        let (q, mem) = (queue.handle(), mem.handle());
        ok!(Enqueue.pfnMemBufferMap(q, mem, CBool::FALSE, flags, 0, PART, 0, null(), null_mut(), &raw mut at));
    };
    let before = sim.calls_so_far("cuMemcpyAsync");
    beside(
        &fixture,
        queue,
        || map(queue),
        || {
            while sim.calls_so_far("cuMemcpyAsync") == before {
                std::thread::yield_now();
            }
            map(&third);
            third.finish();
            assert_eq!(mem.read_at::<u8>(&third, 0, 20), [1; 20]);
        },
    );
    drop(parts);
    assert!(host[..PART].iter().all(|byte| *byte == 1));
}

/// Copies that wait in the driver until their stream gets there, the last two in graphs.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    DeviceToHeap,
    RowsToHeap,
    HostToHost,
    LargeFromHeap,
    CommandBuffer,
    Graph,
}

/// The stream that the copy is for waits for the gate, and the gate for what comes after the signal.
#[test]
fn urTimelineSignalExt_does_not_wait_for_a_copy_that_becomes_ready_and_waits_in_the_driver() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let orders = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE];
    for flags in orders {
        for copy in [Waiting::DeviceToHeap, Waiting::RowsToHeap, Waiting::HostToHost, Waiting::LargeFromHeap] {
            signal_before(&fixture, flags, copy);
        }
        signal_before(&fixture, flags, Waiting::CommandBuffer);
        if graph::are_there(&fixture) {
            signal_before(&fixture, flags, Waiting::Graph);
        }
    }
}

fn signal_before(fixture: &Fixture, flags: Flags, copy: Waiting) {
    let size = if matches!(copy, Waiting::LargeFromHeap) { LARGE } else { PART };
    let (queue, other) = (fixture.queue(flags), fixture.in_order());
    let [timeline, reached] = [(); 2].map(|()| Timeline::at_zero(fixture));
    let (device, host, mut heap) =
        (fixture.memory(Kind::Device, size), fixture.memory(Kind::Host, 2 * PART), vec![0u8; size]);
    let (on_heap, half) = (heap.as_mut_ptr().cast::<c_void>(), host.at(PART));
    let (to, from) = match copy {
        Waiting::DeviceToHeap | Waiting::RowsToHeap | Waiting::CommandBuffer | Waiting::Graph => {
            (on_heap, device.pointer())
        }
        Waiting::HostToHost => (half, host.pointer()),
        Waiting::LargeFromHeap => (device.pointer(), on_heap),
    };
    memory::write(&other, from, &vec![9u8; size]);
    let commands = matches!(copy, Waiting::CommandBuffer).then(|| {
        let commands = CommandBuffer::new(fixture);
        commands.copy(to, from, size, &[]);
        commands.finalize();
        commands
    });
    let captured = || ok!(Enqueue.pfnUSMMemcpy(other.handle(), CBool::FALSE, to, from, size, 0, null(), null_mut()));
    let graph = matches!(copy, Waiting::Graph).then(|| Graph::captured(&other, captured).instantiate());
    let mut gate = Gate::new(fixture);
    queue.wait_for(&timeline, 1);
    let blocked = gate.block_event(&queue);
    let (list, q, no) = ([blocked.handle()], queue.handle(), CBool::FALSE);
    let copied: Event = event_of(|event| match copy {
        Waiting::RowsToHeap => {
            let (pitch, width) = (PART / 4, PART / 4);
            ur!(Enqueue.pfnUSMMemcpy2D(q, no, to, pitch, from, pitch, width, 4, 1, list.as_ptr(), event))
        }
        Waiting::CommandBuffer => commands.as_ref().expect("made above").enqueue(&queue, &[&blocked], event),
        Waiting::Graph => graph.as_ref().expect("made above").enqueue(&queue, &list, event),
        _ => ur!(Enqueue.pfnUSMMemcpy(q, no, to, from, size, 1, list.as_ptr(), event)),
    });
    other.wait_for(&timeline, 1);
    other.signal(&reached, 1);
    timeline.signal(1);
    // Another queue's commands behind the same value are not held up either.
    assert_eq!(reached.wait(1, u64::MAX), Code::SUCCESS, "{copy:?}");
    assert!(!gate.has_passed(), "{copy:?}");
    gate.open();
    copied.wait();
    queue.finish();
    assert!(memory::read::<u8>(&other, to, size).iter().all(|byte| *byte == 9), "{copy:?}, {flags:?}");
}

/// Between the moment in which the signalling thread finds nobody inside the driver and that in which it would lock the stream,
/// another thread's copy comes there, and waits for its stream.
#[test]
fn urTimelineSignalExt_does_not_wait_for_a_copy_that_another_thread_enqueues_out_of_order_meanwhile() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    let (queue, other, timeline) = (fixture.out_of_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let (device, mut heap) = (fixture.memory(Kind::Device, 4096), vec![0u8; 4096]);
    let (to, from) = (heap.as_mut_ptr().expose_provenance(), device.pointer().expose_provenance());
    let (word, fill) = (fixture.memory(Kind::Host, 4), fixture.basic(c"fill"));
    let mut gate = Gate::new(&fixture);
    // What names this event goes on its stream.
    let blocked = gate.block_event(&queue);
    let mut native = 0;
    ok!(Event.pfnGetNativeHandle(blocked.handle(), &raw mut native));
    // An event of another queue that has to be recorded before the command's own stream is locked.
    let unrecorded = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&other);
    let kept = Launch::new(&fill, &[1]).pointer(word.pointer()).value(1u32).value(1u32);
    let kept = kept.after(&[&blocked, &timeline.event(1), &unrecorded]).event_on(&queue);
    std::thread::scope(|scope| {
        let records = sim.hold_calls("cuEventRecord");
        let signalling = scope.spawn(|| timeline.signal(1));
        // The signalling thread, or one that submits the command for it.
        records.wait_for_one(|| false);
        let copies = sim.hold_calls("cuMemcpyAsync");
        let copying = scope.spawn(|| {
            let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
            let (q, list) = (queue.handle(), blocked.handle());
            ok!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 4096, 1, &raw const list, null_mut()));
        });
        copies.wait_for_one(|| copying.is_finished());
        drop(copies);
        drop(records);
        // The gate fails the test if this takes the end of the copy.
        signalling.join().expect("a signal");
        assert!(!gate.has_passed());
        gate.open();
        copying.join().expect("a copy");
    });
    kept.wait();
    queue.finish();
    other.finish();
}
