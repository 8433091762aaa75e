//! The thread's current native context is the application's: no entry point may change it, whatever it was and however
//! the call ends. Works on the real driver and on the simulated one.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{CBool, ur_device_info_t, ur_queue_flags_t as Flags, ur_result_t, ur_usm_alloc_info_t};
use ur_conformance::memory::allocate;
use ur_conformance::native::{Cuda, NativeContext};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Environment, Fixture, Kind, Launch, ask, needs_sim, ok, query, ur};

/// Looks at the current context after each step.
struct Watch<'c> {
    cuda: &'c Cuda,
    expected: NativeContext,
}

impl Watch<'_> {
    #[track_caller]
    fn after<R>(&self, call: &str, work: impl FnOnce() -> R) -> R {
        let result = work();
        assert_eq!(self.cuda.current(), self.expected, "{call} changed the thread's current context");
        result
    }
}

/// Everything that an application does, with a look after each call.
fn tour(fixture: &Fixture, watch: &Watch<'_>, flags: Flags) {
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

fn refusals(fixture: &Fixture, watch: &Watch<'_>) {
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

fn with_current(current: impl FnOnce(&Cuda) -> NativeContext) {
    let fixture = Fixture::new();
    let Some(cuda) = Cuda::loaded() else {
        println!("skipped: the native library is no CUDA driver");
        return;
    };
    let expected = current(&cuda);
    cuda.set_current(expected);
    let watch = Watch { cuda: &cuda, expected };
    for flags in ORDERS {
        tour(&fixture, &watch, flags);
    }
    refusals(&fixture, &watch);
    if !expected.is_null() {
        cuda.set_current(null_mut());
        cuda.destroy(expected);
    }
}

#[test]
fn no_current_context_stays_none() {
    with_current(|_| null_mut());
}

#[test]
fn a_foreign_context_of_another_device_stays_current() {
    with_current(|cuda| cuda.create(cuda.device_count() - 1));
}

#[test]
fn a_foreign_context_of_the_same_device_stays_current() {
    with_current(|cuda| cuda.create(0));
}

/// The restore must not depend on the call in the middle having worked.
#[test]
fn a_native_failure_leaves_the_current_context_too() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let cuda = Cuda::loaded().expect("the simulated driver is one");
    let foreign = cuda.create(cuda.device_count() - 1);
    let watch = Watch { cuda: &cuda, expected: foreign };
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
    cuda.set_current(null_mut());
    cuda.destroy(foreign);
}
