//! What is kept of a device goes to whoever finds no memory, whatever it is for; and what the last answer says.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use ur_conformance::command_buffer::CommandBuffer;
use ur_conformance::control::Control;
use ur_conformance::ffi::{
    CBool, ur_context_info_t, ur_device_info_t, ur_map_flags_t, ur_mem_flags_t, ur_queue_flags_t as Flags,
    ur_result_t as Code, ur_usm_alloc_info_t, ur_usm_type_t, ur_virtual_mem_granularity_info_t as Granularity,
};
use ur_conformance::image::{self, Shape};
use ur_conformance::memory::allocate;
use ur_conformance::native::Hip;
use ur_conformance::pool::{NATIVE_POOLS, NO_NATIVE_POOLS, Plan, Take, give};
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, Context, Fixture, Gate, Kind, Launch, Pool, Queue, Sim, ask, child, expect_success, graph, last_error,
    needs_sim, ok, query, refused, ur,
};

fn kept(fixture: &Fixture) -> u64 {
    let get = |property| query::get::<u64>(ask!(Context.pfnGetInfo(fixture.context(), property)));
    get(ur_context_info_t::USM_RESERVED_BYTES_EXP) - get(ur_context_info_t::USM_USED_BYTES_EXP)
}

/// Keeps memory, lets the next native call of that name find none, and calls. The call must succeed with what was kept.
#[track_caller]
fn gets_what_is_kept<R>(fixture: &Fixture, sim: &Sim, native: &str, call: impl FnOnce() -> R) -> R {
    drop(fixture.memory(Kind::Device, 3 << 20));
    assert!(kept(fixture) >= 3 << 20);
    sim.fail(native, 1, status::OUT_OF_MEMORY);
    let (made, calls) = sim.calls_of(call);
    sim.clear_faults();
    assert!(calls.get(native).is_some_and(|count| *count >= 2), "{native} is called again: {calls:?}");
    assert!(calls.contains_key("cuMemFree_v2"), "what is kept goes back: {calls:?}");
    made
}

/// Runs a test where nothing was kept before and pooling is on.
#[track_caller]
fn alone(test: &str, body: impl FnOnce(&Fixture, &Sim)) {
    alone_with(test, &[], body);
}

/// The same with more variables.
#[track_caller]
fn alone_with(test: &str, more: &[(&str, &str)], body: impl FnOnce(&Fixture, &Sim)) {
    let variables = [&[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], more].concat();
    child::in_process(test, &variables, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        body(&fixture, sim);
    });
}

#[test]
fn urQueueCreate_gets_what_is_kept() {
    alone("urQueueCreate_gets_what_is_kept", |fixture, sim| {
        drop(gets_what_is_kept(fixture, sim, "cuStreamCreateWithPriority", || fixture.in_order()));
    });
}

/// What ROCm 7 keeps for `hipGetLastError` is the last failure, whatever succeeded since; libraries beside the adapter look at it
/// after their launches.
#[test]
fn a_native_failure_is_not_left_to_hipGetLastError() {
    alone("a_native_failure_is_not_left_to_hipGetLastError", |fixture, sim| {
        let Some(hip) = Hip::loaded() else { return };
        hip.take_last_error();
        drop(gets_what_is_kept(fixture, sim, "cuStreamCreateWithPriority", || fixture.in_order()));
        assert_eq!(hip.take_last_error(), 0, "a queue that was made in the end");
        let (program, mut pointer) = (fixture.program("basic.ptx"), null_mut());
        let (device, name, out) = (fixture.device(), c"no_such_function".as_ptr(), &raw mut pointer);
        let refused = ur!(Program.pfnGetFunctionPointer(device, program.handle(), name, out));
        assert_ne!(refused, Code::SUCCESS);
        assert_eq!(hip.take_last_error(), 0, "a name that is not there");
    });
}

/// `hipErrorInvalidValue`.
const INVALID_VALUE: i32 = 1;

/// What ROCm 5 answers of the application's own memory is a failure there and none here.
#[test]
fn urUSMGetMemAllocInfo_of_memory_that_is_not_USM_leaves_nothing_to_hipGetLastError() {
    alone("urUSMGetMemAllocInfo_of_memory_that_is_not_USM_leaves_nothing_to_hipGetLastError", |fixture, _| {
        let Some(hip) = Hip::loaded() else { return };
        hip.take_last_error();
        let own = 0u64;
        let library = Control::loaded().into_iter().find(|library| !library.is_driver());
        library.expect("HIP's library").fail("hipPointerGetAttributes", 1, INVALID_VALUE);
        let (context, pointer) = (fixture.context(), (&raw const own).cast());
        let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, ur_usm_alloc_info_t::TYPE)));
        assert_eq!((kind, hip.take_last_error()), (ur_usm_type_t::UNKNOWN.0, 0));
    });
}

#[test]
fn urMemImageCreate_gets_what_is_kept() {
    alone("urMemImageCreate_gets_what_is_kept", |fixture, sim| {
        let shape = Shape::words(&[64, 64]);
        drop(gets_what_is_kept(fixture, sim, "cuArray3DCreate_v2", || image::Image::new(fixture, shape)));
    });
}

#[test]
fn an_image_on_its_first_device_gets_what_is_kept() {
    let test = "an_image_on_its_first_device_gets_what_is_kept";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let image = image::Image::new(&fixture, Shape::words(&[64, 64]));
        let queues: Vec<_> =
            fixture.devices.iter().map(|device| fixture.queue_in(fixture.context(), *device, Flags::empty())).collect();
        let words = vec![7_u32; 4 * 64 * 64];
        image.write(&queues[0], &words);
        let Some(second) = queues.get(1) else { return };
        let mut pointer = null_mut();
        let answer = allocate(Kind::Device, fixture.context(), fixture.devices[1], null(), 3 << 20, &raw mut pointer);
        expect_success(answer, "a USM allocation");
        ok!(USM.pfnFree(fixture.context(), pointer));
        sim.fail("cuArray3DCreate_v2", 1, status::OUT_OF_MEMORY);
        assert!(image.read::<u32>(second) == words);
        sim.clear_faults();
        assert_eq!(kept(&fixture), 0);
    });
}

#[test]
fn an_event_that_must_be_recorded_gets_what_is_kept() {
    alone("an_event_that_must_be_recorded_gets_what_is_kept", |fixture, sim| {
        let queue = fixture.in_order();
        let kernel = fixture.basic(c"empty");
        // Whoever holds the event of a command has it recorded before the next one: of the first such event the pool has none.
        let mut held = Vec::new();
        let mut launch = || held.push(Launch::new(&kernel, &[1]).event_on(&queue));
        let (_, calls) = sim.calls_of(|| (0..200).for_each(|_| launch()));
        let made = *calls.get("cuEventCreate").expect("held events are recorded");
        // The pool is full now; the next creation is some launches away.
        drop(fixture.memory(Kind::Device, 3 << 20));
        sim.fail("cuEventCreate", 1, status::OUT_OF_MEMORY);
        let (_, calls) = sim.calls_of(|| (0..64).for_each(|_| launch()));
        sim.clear_faults();
        assert!(made > 0 && calls.contains_key("cuMemFree_v2"), "what is kept goes back: {calls:?}");
        queue.finish();
    });
}

#[test]
fn urEnqueueMemBufferMap_gets_what_is_kept_for_its_staging() {
    alone("urEnqueueMemBufferMap_gets_what_is_kept_for_its_staging", |fixture, sim| {
        let queue = fixture.in_order();
        let buffer = Buffer::of(fixture.context(), ur_mem_flags_t::empty(), 5000, null_mut());
        buffer.write(&queue, &[9_u8; 5000]);
        let (q, m, read) = (queue.handle(), buffer.handle(), ur_map_flags_t::READ);
        let mut pointer: *mut c_void = null_mut();
        gets_what_is_kept(fixture, sim, "cuMemHostAlloc", || {
            ok!(Enqueue.pfnMemBufferMap(q, m, CBool::TRUE, read, 0, 5000, 0, null(), null_mut(), &raw mut pointer));
        });
        ok!(Enqueue.pfnMemUnmap(q, m, pointer, 0, null(), null_mut()));
        queue.finish();
    });
}

#[test]
fn urEnqueueMemBufferMap_gets_what_another_buffer_keeps_of_a_map_that_is_over() {
    let test = "urEnqueueMemBufferMap_gets_what_another_buffer_keeps_of_a_map_that_is_over";
    alone(test, |fixture, sim| {
        let queue = fixture.in_order();
        let buffers = [0; 2].map(|_: u8| Buffer::new(fixture, 5000));
        let map = |buffer: &Buffer| {
            let (q, m, read) = (queue.handle(), buffer.handle(), ur_map_flags_t::READ);
            let mut pointer: *mut c_void = null_mut();
            ok!(Enqueue.pfnMemBufferMap(q, m, CBool::TRUE, read, 0, 5000, 0, null(), null_mut(), &raw mut pointer));
            ok!(Enqueue.pfnMemUnmap(q, m, pointer, 0, null(), null_mut()));
        };
        for buffer in &buffers {
            buffer.write(&queue, &[9_u8; 5000]);
        }
        map(&buffers[0]);
        queue.finish();
        let text = query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::USM_HOLDERS_EXP)));
        assert!(text.contains("staging memory: 8192 bytes live"), "`{text}`");
        sim.fail("cuMemHostAlloc", 1, status::OUT_OF_MEMORY);
        let (_, calls) = sim.calls_of(|| map(&buffers[1]));
        sim.clear_faults();
        assert!(calls.contains_key("cuMemFreeHost"), "what the first buffer keeps goes back: {calls:?}");
        queue.finish();
    });
}

#[test]
fn urIPCGetMemHandleExp_gets_what_is_kept() {
    alone("urIPCGetMemHandleExp_gets_what_is_kept", |fixture, sim| {
        let memory = fixture.memory(Kind::Device, 4096);
        let (mut data, mut size) = (null_mut(), 0);
        gets_what_is_kept(fixture, sim, "cuIpcGetMemHandle", || {
            ok!(IPCExp.pfnGetMemHandleExp(fixture.context(), memory.pointer(), &raw mut data, &raw mut size));
        });
        ok!(IPCExp.pfnPutMemHandleExp(fixture.context(), data));
    });
}

#[test]
fn urPhysicalMemCreate_and_urVirtualMemReserve_get_what_is_kept() {
    alone("urPhysicalMemCreate_and_urVirtualMemReserve_get_what_is_kept", |fixture, sim| {
        let (c, d) = (fixture.context(), fixture.device());
        let size: usize = query::get(ask!(VirtualMem.pfnGranularityGetInfo(c, d, 1, Granularity::MINIMUM)));
        let (mut physical, mut address) = (null_mut(), null_mut());
        gets_what_is_kept(fixture, sim, "cuMemCreate", || {
            ok!(PhysicalMem.pfnCreate(c, d, size, null(), &raw mut physical));
        });
        gets_what_is_kept(fixture, sim, "cuMemAddressReserve", || {
            ok!(VirtualMem.pfnReserve(c, null(), size, &raw mut address));
        });
        ok!(VirtualMem.pfnFree(c, address, size));
        ok!(PhysicalMem.pfnRelease(physical));
    });
}

#[test]
fn urUSMPitchedAllocExp_gets_what_is_kept() {
    alone("urUSMPitchedAllocExp_gets_what_is_kept", |fixture, sim| {
        let (c, d) = (fixture.context(), fixture.device());
        let (mut rows, mut pitch) = (null_mut(), 0);
        gets_what_is_kept(fixture, sim, "cuMemAllocPitch_v2", || {
            ok!(USMExp.pfnPitchedAllocExp(c, d, null(), null_mut(), 64, 64, 4, &raw mut rows, &raw mut pitch));
        });
        ok!(USM.pfnFree(c, rows));
    });
}

#[test]
fn urUSMPoolCreateExp_s_first_block_gets_what_is_kept() {
    alone_with("urUSMPoolCreateExp_s_first_block_gets_what_is_kept", &[NATIVE_POOLS], |fixture, sim| {
        let queue = fixture.in_order();
        gets_what_is_kept(fixture, sim, "cuMemPoolCreate", || {
            let pool = Plan::new().of(fixture);
            give(&queue, Take::new(4096).from(&pool).on(&queue));
            queue.finish();
        });
    });
}

#[test]
fn urCommandBufferFinalizeExp_and_urGraphInstantiateGraphExp_get_what_is_kept() {
    alone("urCommandBufferFinalizeExp_and_urGraphInstantiateGraphExp_get_what_is_kept", |fixture, sim| {
        let buffer = CommandBuffer::new(fixture);
        buffer.launch(&Launch::new(&fixture.basic(c"empty"), &[1]), &[]);
        gets_what_is_kept(fixture, sim, "cuGraphInstantiateWithFlags", || buffer.finalize());
        if graph::are_there(fixture) {
            let queue = fixture.in_order();
            let kernel = fixture.basic(c"empty");
            let captured = graph::Graph::captured(&queue, || Launch::new(&kernel, &[1]).on(&queue));
            drop(gets_what_is_kept(fixture, sim, "cuGraphInstantiateWithFlags", || captured.instantiate()));
        }
    });
}

#[test]
fn an_answer_that_there_is_no_memory_names_the_request_what_is_live_and_who_keeps_what() {
    alone("an_answer_that_there_is_no_memory_names_the_request_what_is_live_and_who_keeps_what", |fixture, sim| {
        let live = fixture.memory(Kind::Device, 5 << 20);
        // Its neighbour holds the slab, which so cannot go back.
        let [neighbour, small] = [0; 2].map(|_: u8| fixture.memory(Kind::Shared, 256));
        drop(small);
        (1..=3).for_each(|nth| sim.fail("cuMemAlloc_v2", nth, status::OUT_OF_MEMORY));
        let mut pointer = null_mut();
        let (c, d) = (fixture.context(), fixture.device());
        refused!(ERROR_OUT_OF_DEVICE_MEMORY, USM.pfnDeviceAlloc(c, d, null(), null_mut(), 7 << 20, &raw mut pointer));
        sim.clear_faults();
        let message = last_error();
        for words in [
            "urUSMDeviceAlloc: 7340032 bytes of device memory",
            "plain device memory: 5242880 bytes live, 0 kept",
            "plain shared memory: 256 bytes live, 65280 kept",
        ] {
            assert!(message.contains(words), "`{words}` is not in `{message}`");
        }
        drop((live, neighbour));
    });
}

#[test]
fn urDeviceGetInfo_tells_what_the_process_keeps_of_a_device_and_by_whom() {
    let test = "urDeviceGetInfo_tells_what_the_process_keeps_of_a_device_and_by_whom";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::new();
        let other = fixture.context_of(&[fixture.device()]);
        let bytes =
            || query::get::<u64>(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::USM_KEPT_BYTES_EXP)));
        let text = || query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::USM_HOLDERS_EXP)));
        assert_eq!((bytes(), text().as_str()), (0, "nothing live or kept"));
        let live = fixture.memory(Kind::Device, 2 << 20);
        for context in [fixture.context(), other.handle()] {
            let mut pointer = null_mut();
            let answer = allocate(Kind::Device, context, fixture.device(), null(), 3 << 20, &raw mut pointer);
            expect_success(answer, "a USM allocation");
            ok!(USM.pfnFree(context, pointer));
        }
        assert_eq!(bytes(), 6 << 20);
        assert_eq!(text(), "plain device memory: 2097152 bytes live, 6291456 kept by 2 holders");
        drop(other);
        assert_eq!(bytes(), 3 << 20);
        drop(live);
    });
}

/// What all threads have together, in bytes of the device.
struct Demand {
    bytes: AtomicUsize,
    most: usize,
}

impl Demand {
    /// Asks for some bytes: whoever gets them must be served, since as much is free or kept.
    fn ask(&self, bytes: usize) -> bool {
        let more = |now: usize| (now + bytes <= self.most).then_some(now + bytes);
        self.bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    fn give(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
    }
}

/// One thread's part: plain memory of one context, or blocks of a pool on a queue.
fn draw(fixture: &Fixture, demand: &Demand, thread: usize, context: &Context, source: Option<(&Pool, &Queue)>) {
    let mut state = 0x9e37_79b9_u64.wrapping_mul(thread as u64 + 1);
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut have: Vec<(*mut c_void, usize)> = Vec::new();
    for _ in 0..150 {
        // Sizes that leave nothing over in their class and in the native library's steps.
        let bytes = (1 + next(6)) * (2 << 20);
        if next(3) > 0 && demand.ask(bytes) {
            let mut pointer = null_mut();
            let answer = match source {
                Some((pool, queue)) => Take::new(bytes).from(pool).enqueue(queue, &raw mut pointer, null_mut()),
                None => allocate(Kind::Device, context.handle(), fixture.device(), null(), bytes, &raw mut pointer),
            };
            assert_eq!(answer, Code::SUCCESS, "thread {thread}: {bytes} bytes: {}", last_error());
            have.push((pointer, bytes));
        } else if !have.is_empty() {
            let (pointer, bytes) = have.swap_remove(next(have.len()));
            match source {
                Some((_, queue)) => give(queue, pointer),
                None => ok!(USM.pfnFree(context.handle(), pointer)),
            }
            demand.give(bytes);
        }
    }
    for (pointer, bytes) in have {
        match source {
            Some((_, queue)) => give(queue, pointer),
            None => ok!(USM.pfnFree(context.handle(), pointer)),
        }
        demand.give(bytes);
    }
}

#[test]
fn on_a_full_device_whoever_asks_is_served_as_soon_as_anybody_has_freed_enough() {
    let test = "on_a_full_device_whoever_asks_is_served_as_soon_as_anybody_has_freed_enough";
    let settings = [("SIMCUDA_MEMORY", "256M"), ("UR_USM_MAGAZINE_BYTES", "1G"), ("UR_USM_POOL_KEEP_BYTES", "1G")];
    child::in_process(test, &settings, || {
        let fixture = Fixture::new();
        needs_sim!(fixture);
        let contexts = [0; 2].map(|_: u8| fixture.context_of(&[fixture.device()]));
        let pools: Vec<_> = (0..3)
            .map(|at| {
                let context = &contexts[at % 2];
                let pool =
                    Plan::new().limits(0, usize::MAX).create(context.handle(), fixture.device()).expect("a pool");
                (pool, fixture.queue_in(context.handle(), fixture.device(), Flags::empty()))
            })
            .collect();
        // Native pools grow by whole steps, of which one block can hold each open.
        let demand = Demand { bytes: AtomicUsize::new(0), most: 64 << 20 };
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (fixture, demand, contexts, pools) = (&fixture, &demand, &contexts, &pools);
                scope.spawn(move || match thread {
                    0 => draw(fixture, demand, thread, &contexts[0], None),
                    _ => {
                        let (pool, queue) = &pools[thread - 1];
                        draw(fixture, demand, thread, &contexts[(thread - 1) % 2], Some((pool, queue)));
                    }
                });
            }
        });
        assert_eq!(demand.bytes.load(Ordering::SeqCst), 0);
        pools.iter().for_each(|(_, queue)| queue.finish());
        // All of it is one plain allocation's again.
        let mut pointer = null_mut();
        let (c, d) = (fixture.context(), fixture.device());
        ok!(USM.pfnDeviceAlloc(c, d, null(), null_mut(), 200 << 20, &raw mut pointer));
        ok!(USM.pfnFree(c, pointer));
    });
}

/// The pool has ended, and what it had is nobody's.
#[test]
fn urPhysicalMemCreate_gets_what_an_ended_pool_has_left() {
    let test = "urPhysicalMemCreate_gets_what_an_ended_pool_has_left";
    child::in_process(test, &[NO_NATIVE_POOLS, ("SIMCUDA_MEMORY", "256M")], || {
        let fixture = Fixture::new();
        needs_sim!(fixture);
        let (queue, pool) = (fixture.in_order(), Plan::new().of(&fixture));
        let block = Take::new(128 << 20).from(&pool).on(&queue);
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        give(&queue, block);
        drop(pool);
        gate.open();
        queue.finish();
        let mut physical = null_mut();
        ok!(PhysicalMem.pfnCreate(fixture.context(), fixture.device(), 192 << 20, null(), &raw mut physical));
        ok!(PhysicalMem.pfnRelease(physical));
    });
}

/// A stream cannot be asked whether it has work, so what it keeps stays, and plain memory has something to give.
#[test]
fn urPhysicalMemCreate_gets_what_is_kept_though_something_else_cannot_be_given_back() {
    alone("urPhysicalMemCreate_gets_what_is_kept_though_something_else_cannot_be_given_back", |fixture, sim| {
        let (c, d, queue) = (fixture.context(), fixture.device(), fixture.in_order());
        let size: usize = query::get(ask!(VirtualMem.pfnGranularityGetInfo(c, d, 1, Granularity::MINIMUM)));
        give(&queue, Take::new(4096).on(&queue));
        Launch::new(&fixture.basic(c"empty"), &[1]).on(&queue);
        let mut physical = null_mut();
        sim.fail("cuStreamQuery", 1, status::UNKNOWN);
        gets_what_is_kept(fixture, sim, "cuMemCreate", || {
            ok!(PhysicalMem.pfnCreate(c, d, size, null(), &raw mut physical));
        });
        ok!(PhysicalMem.pfnRelease(physical));
        queue.finish();
    });
}

#[test]
fn urPhysicalMemCreate_gets_what_plain_memory_keeps_though_a_part_of_it_cannot_be_given_back() {
    let test = "urPhysicalMemCreate_gets_what_plain_memory_keeps_though_a_part_of_it_cannot_be_given_back";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let mut fixture = Fixture::new();
        fixture.allow_leaks();
        let sim = needs_sim!(fixture);
        let (c, d) = (fixture.context(), fixture.device());
        let size: usize = query::get(ask!(VirtualMem.pfnGranularityGetInfo(c, d, 1, Granularity::MINIMUM)));
        drop(fixture.memory(Kind::Device, 5 << 20));
        let mut physical = null_mut();
        sim.fail("cuMemFree_v2", 1, status::UNKNOWN);
        gets_what_is_kept(&fixture, sim, "cuMemCreate", || {
            ok!(PhysicalMem.pfnCreate(c, d, size, null(), &raw mut physical));
        });
        ok!(PhysicalMem.pfnRelease(physical));
        // What the native library refused to take back stays with it.
        fixture.accept_objects();
    });
}
