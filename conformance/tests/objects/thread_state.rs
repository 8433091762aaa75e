//! The thread's current native context (CUDA) and device (HIP) are the application's: no entry point may change them,
//! whatever they were and however the call ends. Works on real drivers and on the simulated one. `bad_handles`
//! looks after calls that are refused, the binary `faults` after every native call that fails.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    CBool, ur_device_info_t, ur_device_type_t, ur_program_info_t, ur_queue_flags_t as Flags, ur_result_t,
    ur_usm_alloc_info_t,
};
use ur_conformance::memory::allocate;
use ur_conformance::native::Hip;
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, Environment, Fixture, Kernel, Kind, Launch, Queue, Sim, adapter, ask, child, needs_sim, ok, query, ur,
};

/// Everything that an application does, with a look after each call.
fn tour(fixture: &Fixture, watch: &Current, flags: Flags) {
    let platforms = watch.after("urPlatformGet", || ur_conformance::loader().platforms(ur_conformance::adapter()));
    assert!(platforms.is_ok());
    let property = ur_device_info_t::GLOBAL_MEM_FREE;
    let ask: query::Ask<'_> = ask!(Device.pfnGetInfo(fixture.device(), property));
    watch.after("urDeviceGetInfo", || query::get::<u64>(ask));
    let context = watch.after("urContextCreate", || fixture.context_of(&fixture.devices[..1]));
    let queue = watch.after("urQueueCreate", || fixture.queue(flags));
    let other = watch.after("urQueueCreate", || fixture.queue(flags));
    let q = queue.handle();
    let image = Environment::get().image("basic.ptx");
    let program = watch.after("urProgramCreateWithBinary", || fixture.unbuilt(&image)).expect("PTX is an image");
    watch.after("urProgramBuild", || ok!(Program.pfnBuild(fixture.context(), program.handle(), null())));
    let kernel = watch.after("urKernelCreate", || fixture.kernel(&program, c"iota"));
    for kind in Kind::ALL {
        let memory = watch.after("urUSMAlloc", || fixture.memory(kind, 4096));
        let pointer = memory.pointer();
        let (c, property) = (fixture.context(), ur_usm_alloc_info_t::TYPE);
        let ask: query::Ask<'_> = ask!(USM.pfnGetMemAllocInfo(c, pointer.cast_const(), property));
        watch.after("urUSMGetMemAllocInfo", || query::get::<u32>(ask));
        let pattern = [1u8, 2, 3];
        watch.after("urEnqueueUSMFill", || {
            ok!(Enqueue.pfnUSMFill(q, pointer, 3, pattern.as_ptr().cast(), 3000, 0, null(), null_mut()));
        });
        // A launch without a local size asks for a good one.
        let launch = Launch::new(&kernel, &[1000]).pointer(pointer).value(1000u32);
        let done = watch.after("urEnqueueKernelLaunchWithArgsExp", || launch.event_on(&queue));
        let wait = launch.after(&[&done]);
        watch.after("a launch on another queue", || wait.on(&other));
        let mut words = vec![0u32; 1000];
        watch.after("urEnqueueUSMMemcpy", || {
            let to = words.as_mut_ptr().cast();
            ok!(Enqueue.pfnUSMMemcpy(q, CBool::TRUE, to, pointer, 4000, 0, null(), null_mut()));
        });
        watch.after("urEventWait", || done.wait());
        watch.after("urQueueFinish", || other.finish());
        watch.after("urQueueFinish", || queue.finish());
        watch.after("urEventRelease", || drop(done));
        watch.after("urUSMFree", || drop(memory));
    }
    buffers(fixture, watch, &queue, &kernel);
    watch.after("urEnqueueEventsWait", || ok!(Enqueue.pfnEventsWait(q, 0, null(), null_mut())));
    let barrier = watch.after("urEnqueueEventsWaitWithBarrier", || {
        event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event)))
    });
    let mut block = null_mut();
    let allocated = watch.after("urEnqueueUSMDeviceAllocExp", || {
        let out = &raw mut block;
        event_of(|event| ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 4096, null(), 0, null(), out, event)))
    });
    let held: Vec<_> = (0..40)
        .map(|_| {
            let launch = Launch::new(&kernel, &[8]).pointer(block).value(8u32).after(&[&allocated]);
            watch.after("a launch whose event is held", || launch.event_on(&queue))
        })
        .collect();
    watch.after("urQueueFinish", || queue.finish());
    watch.after("urEnqueueUSMFreeExp", || {
        ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 0, null(), null_mut()));
    });
    watch.after("urQueueFinish", || queue.finish());
    watch.after("urEventRelease", || drop((held, allocated, barrier)));
    watch.after("urKernelRelease", || drop(kernel));
    watch.after("urProgramRelease", || drop(program));
    watch.after("urQueueRelease", || drop((queue, other)));
    watch.after("urContextRelease", || drop(context));
}

/// What a buffer does, by every way that it gets and loses memory.
fn buffers(fixture: &Fixture, watch: &Current, queue: &Queue, kernel: &Kernel) {
    use ur_conformance::ffi::{ur_map_flags_t as Map, ur_mem_flags_t as Mem, ur_rect_offset_t, ur_rect_region_t};
    let q = queue.handle();
    let mut host = vec![0u8; 4096];
    for flags in [Mem::empty(), Mem::USE_HOST_POINTER, Mem::ALLOC_HOST_POINTER, Mem::ALLOC_COPY_HOST_POINTER] {
        let wants = flags.intersects(Mem::USE_HOST_POINTER | Mem::ALLOC_COPY_HOST_POINTER);
        let pointer = if wants { host.as_mut_ptr().cast() } else { null_mut() };
        let buffer = watch.after("urMemBufferCreate", || Buffer::of(fixture.context(), flags, 4096, pointer));
        let (m, yes) = (buffer.handle(), CBool::TRUE);
        watch.after("urEnqueueMemBufferWrite", || buffer.write(queue, &[1u8; 4096]));
        let launch = Launch::new(kernel, &[1000]).buffer(&buffer, Mem::READ_WRITE).value(1000u32);
        watch.after("a launch with a buffer", || launch.event_on(queue).wait());
        watch.after("urEnqueueMemBufferRead", || buffer.read::<u8>(queue));
        let (no, two) = (ur_rect_offset_t::default(), ur_rect_region_t { width: 2, height: 2, depth: 2 });
        let mut room = [0u8; 512];
        let to = room.as_mut_ptr().cast();
        watch.after("urEnqueueMemBufferReadRect", || {
            ok!(Enqueue.pfnMemBufferReadRect(q, m, yes, no, no, two, 8, 64, 4, 16, to, 0, null(), null_mut()));
        });
        watch.after("urEnqueueMemBufferCopy", || {
            ok!(Enqueue.pfnMemBufferCopy(q, m, m, 0, 64, 64, 0, null(), null_mut()));
        });
        let mut mapped = null_mut();
        watch.after("urEnqueueMemBufferMap", || {
            let (flags, out) = (Map::READ | Map::WRITE, &raw mut mapped);
            ok!(Enqueue.pfnMemBufferMap(q, m, yes, flags, 0, 64, 0, null(), null_mut(), out));
        });
        watch.after("urEnqueueMemUnmap", || ok!(Enqueue.pfnMemUnmap(q, m, mapped, 0, null(), null_mut())));
        let mut native = 0;
        watch.after("urMemGetNativeHandle", || ok!(Mem.pfnGetNativeHandle(m, fixture.device(), &raw mut native)));
        watch.after("urQueueFinish", || queue.finish());
        watch.after("urMemRelease", || drop(buffer));
    }
}

/// All that can be asked about everything there is.
fn queries(fixture: &Fixture, watch: &Current) {
    macro_rules! every {
        ($info:ident, $table:ident.$slot:ident($($handle:expr),+)) => {
            for (property, number) in ur_conformance::every_property!($info) {
                let mut value = [0u64; 64];
                watch.after(&format!("{property:?}"), || {
                    let (size, to) = (size_of_val(&value), value.as_mut_ptr().cast());
                    let _ = ur!($table.$slot($($handle,)+ number, size, to, null_mut()));
                });
            }
        };
    }
    let (c, d) = (fixture.context(), fixture.device());
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let program = fixture.program("basic.ptx");
    let kernel = fixture.kernel(&program, c"iota");
    let memory = fixture.memory(Kind::Device, 64);
    let (q, p, k, m) = (queue.handle(), program.handle(), kernel.handle(), memory.pointer().cast_const());
    let event = Launch::new(&kernel, &[8]).pointer(memory.pointer()).value(8u32).event_on(&queue);
    event.wait();
    every!(ur_adapter_info_t, Adapter.pfnGetInfo(adapter()));
    every!(ur_platform_info_t, Platform.pfnGetInfo(fixture.platform));
    every!(ur_device_info_t, Device.pfnGetInfo(d));
    every!(ur_context_info_t, Context.pfnGetInfo(c));
    every!(ur_queue_info_t, Queue.pfnGetInfo(q));
    every!(ur_event_info_t, Event.pfnGetInfo(event.handle()));
    every!(ur_profiling_info_t, Event.pfnGetProfilingInfo(event.handle()));
    every!(ur_usm_alloc_info_t, USM.pfnGetMemAllocInfo(c, m));
    every!(ur_program_build_info_t, Program.pfnGetBuildInfo(p, d));
    every!(ur_kernel_info_t, Kernel.pfnGetInfo(k));
    every!(ur_kernel_group_info_t, Kernel.pfnGetGroupInfo(k, d));
    every!(ur_kernel_sub_group_info_t, Kernel.pfnGetSubGroupInfo(k, d));
    let (mut device_time, mut host_time, mut count, mut first) = (0, 0, 0, 0);
    watch.after("urDeviceGetGlobalTimestamps", || {
        let _ = ur!(Device.pfnGetGlobalTimestamps(d, &raw mut device_time, &raw mut host_time));
    });
    watch.after("urDeviceGet", || {
        ok!(Device.pfnGet(fixture.platform, ur_device_type_t::ALL, 0, null_mut(), &raw mut count));
    });
    let (size, offset, mut local) = ([1000usize], [0usize], [0usize]);
    watch.after("urKernelGetSuggestedLocalWorkSize", || {
        ok!(Kernel.pfnGetSuggestedLocalWorkSize(k, q, 1, offset.as_ptr(), size.as_ptr(), local.as_mut_ptr()));
    });
    watch.after("urProgramGetInfo", || {
        let (size, to) = (size_of_val(&first), (&raw mut first).cast());
        ok!(Program.pfnGetInfo(p, ur_program_info_t::NUM_DEVICES, size, to, null_mut()));
    });
    assert_eq!((first, local[0] > 0), (1u32, true));
    watch.after("urQueueFlush", || ok!(Queue.pfnFlush(q)));
    drop((event, kernel));
}

fn refusals(fixture: &Fixture, watch: &Current) {
    let mut pointer = null_mut();
    let out = &raw mut pointer;
    watch.after("a failing urUSMDeviceAlloc", || {
        let answer = allocate(Kind::Device, fixture.context(), fixture.device(), null(), usize::MAX, out);
        assert_ne!(answer, ur_result_t::SUCCESS);
    });
    let program = fixture.unbuilt(b"//\n.version 7.0\n.target sm_70\nbroken").expect("text is an image");
    watch.after("a failing urProgramBuild", || {
        let answer = ur!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        assert_eq!(answer, ur_result_t::ERROR_PROGRAM_BUILD_FAILURE);
    });
    watch.after("a release", || drop(program));
}

const ORDERS: [Flags; 3] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE];

fn with_current(place: Place) {
    let fixture = Fixture::new();
    let watch = Current::at(place);
    if !watch.is_seen() {
        println!("skipped: the native library is neither CUDA nor HIP");
        return;
    }
    queries(&fixture, &watch);
    for flags in ORDERS {
        tour(&fixture, &watch, flags);
    }
    refusals(&fixture, &watch);
}

#[test]
fn no_current_context_stays_none() {
    with_current(Place::Nowhere);
}

#[test]
fn the_context_and_the_device_of_an_application_that_uses_the_last_device_stay_current() {
    with_current(Place::LastDevice);
}

#[test]
fn a_foreign_context_of_the_same_device_stays_current() {
    with_current(Place::FirstDevice);
}

/// The restore must not depend on the call in the middle having worked.
#[test]
fn a_native_failure_leaves_the_current_context_too() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let watch = Current::at(Place::LastDevice);
    drop(fixture.in_order());
    for name in ["cuStreamCreateWithPriority", "cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocManaged"] {
        sim.fail(name, 1, status::UNKNOWN);
        watch.after(name, || {
            let (mut queue, mut pointer) = (null_mut(), null_mut());
            let answer = ur!(Queue.pfnCreate(fixture.context(), fixture.device(), null(), &raw mut queue));
            if answer == ur_result_t::SUCCESS {
                drop(ur_conformance::Queue::take(queue));
            }
            for kind in Kind::ALL {
                let out = &raw mut pointer;
                if allocate(kind, fixture.context(), fixture.device(), null(), 64, out) == ur_result_t::SUCCESS {
                    ok!(USM.pfnFree(fixture.context(), pointer));
                }
            }
        });
        sim.clear_faults();
    }
}

/// Calls that switch the thread, as far as the libraries below count them.
fn switches(sim: &Sim, work: impl FnOnce()) -> u64 {
    let hip = Hip::loaded().filter(Hip::counts_calls);
    let of_hip = || hip.as_ref().map_or(0, |hip| hip.calls("hipSetDevice"));
    let before = of_hip();
    let ((), calls) = sim.calls_of(work);
    let of_cuda = ["cuCtxSetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"];
    let of_cuda: u64 = of_cuda.iter().filter_map(|name| calls.get(*name)).sum();
    of_cuda + of_hip() - before
}

#[test]
fn a_launch_switches_neither_context_nor_device_but_hip_s_to_the_stream_s_own() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"iota");
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let memory = fixture.memory(Kind::Device, 64);
        let launch = Launch::new(&kernel, &[8]).local(&[8]).pointer(memory.pointer()).value(8u32);
        // Streams are made while others are busy, up to a bound: that is reached here.
        let held = sim.hold();
        (0..100).for_each(|_| launch.on(&queue));
        drop(held);
        queue.finish();
        for place in [Place::FirstDevice, Place::LastDevice] {
            let watch = Current::at(place);
            let count = switches(sim, || (0..100).for_each(|_| launch.on(&queue)));
            // HIP refuses a launch while another device is current: there and back again.
            let needed = if Hip::loaded().is_some() && matches!(place, Place::LastDevice) { 200 } else { 0 };
            assert_eq!(count, needed, "{place:?}, {flags:?}");
            drop(watch);
        }
        queue.finish();
    }
}

#[test]
fn calls_on_the_current_device_of_hip_set_none() {
    let fixture = Fixture::new();
    let watch = Current::at(Place::FirstDevice);
    let Some(hip) = Hip::loaded().filter(Hip::counts_calls) else {
        println!("skipped: needs HIP over CUDA");
        return;
    };
    let before = hip.calls("hipSetDevice");
    queries(&fixture, &watch);
    for flags in ORDERS {
        tour(&fixture, &watch, flags);
    }
    assert_eq!(hip.calls("hipSetDevice"), before);
}

/// It is that one on every thread.
#[test]
fn hip_is_not_asked_for_the_current_device_where_it_has_one() {
    let test = "hip_is_not_asked_for_the_current_device_where_it_has_one";
    child::in_process(test, &[("SIMCUDA_DEVICES", "1")], || {
        let fixture = Fixture::new();
        let watch = Current::at(Place::FirstDevice);
        // A machine's own devices are not the simulator's to number.
        let Some(hip) = Hip::loaded().filter(|hip| hip.counts_calls() && fixture.devices.len() == 1) else {
            println!("skipped: needs HIP over CUDA, and one device");
            return;
        };
        let kernel = fixture.basic(c"iota");
        for flags in ORDERS {
            let (queue, memory) = (fixture.queue(flags), fixture.memory(Kind::Device, 64));
            let launch = Launch::new(&kernel, &[8]).local(&[8]).pointer(memory.pointer()).value(8u32);
            let before = hip.calls("hipGetDevice");
            (0..100).for_each(|_| launch.on(&queue));
            queue.finish();
            assert_eq!(hip.calls("hipGetDevice"), before, "{flags:?}");
        }
        drop(watch);
    });
}
