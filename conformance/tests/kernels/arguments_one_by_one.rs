//! Release 2026.1's arguments: set on the kernel one by one, launched with `urEnqueueKernelLaunch`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Barrier;

use ur_conformance::below::Below;
use ur_conformance::ffi::{
    ur_kernel_arg_mem_obj_properties_t, ur_kernel_launch_ext_properties_t, ur_mem_flags_t, ur_queue_flags_t,
    ur_result_t as Code, ur_structure_type_t,
};
use ur_conformance::launch::parameters_are_known;
use ur_conformance::owned::event_of;
use ur_conformance::{
    Fixture, Kernel, Kind, Queue, expect_code, expect_success, needs_function, needs_sim, ok, refused, ur,
};

fn value<T: Copy>(kernel: &Kernel, index: u32, value: T) -> Code {
    ur!(Kernel.pfnSetArgValue(kernel.handle(), index, size_of::<T>(), null(), (&raw const value).cast()))
}

fn pointer(kernel: &Kernel, index: u32, pointer: *mut c_void) -> Code {
    ur!(Kernel.pfnSetArgPointer(kernel.handle(), index, null(), pointer.cast_const()))
}

fn local(kernel: &Kernel, index: u32, bytes: usize) -> Code {
    ur!(Kernel.pfnSetArgLocal(kernel.handle(), index, bytes, null()))
}

#[track_caller]
fn set(answers: &[Code]) {
    answers.iter().for_each(|answer| expect_success(*answer, "a setter of arguments"));
}

fn launch(kernel: &Kernel, queue: &Queue, global: usize, size: Option<usize>) -> Code {
    let (q, k) = (queue.handle(), kernel.handle());
    let local = size.as_ref().map_or(null(), core::ptr::from_ref);
    ur!(Enqueue.pfnKernelLaunch(q, k, 1, null(), &raw const global, local, null(), 0, null(), null_mut()))
}

#[test]
fn urEnqueueKernelLaunch_runs_with_the_arguments_that_are_set() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 400);
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 1, 11u32), value(&kernel, 2, 100u32)]);
    expect_success(launch(&kernel, &queue, 100, None), "urEnqueueKernelLaunch");
    assert_eq!(out.read::<u32>(&queue, 100), [11; 100]);
    // What is set stays set, and what is set again replaces it.
    set(&[value(&kernel, 1, 12u32)]);
    expect_success(launch(&kernel, &queue, 100, Some(50)), "urEnqueueKernelLaunch");
    assert_eq!(out.read::<u32>(&queue, 100), [12; 100]);
}

#[test]
fn urEnqueueKernelLaunch_of_one_kernel_runs_on_the_queues_of_two_devices_in_turn() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::over_all_devices();
    let Some(&second) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let context = fixture.context_of(&[fixture.device(), second]);
    let image = ur_conformance::Environment::get().image("basic.ptx");
    let devices = [fixture.device(), second];
    let kernel = ur_conformance::faults::make_kernel(&context, &devices, &image, c"fill");
    let (_program, kernel) = kernel.expect("PTX is for every device");
    let queues = devices.map(|device| fixture.queue_in(context.handle(), device, ur_queue_flags_t::empty()));
    let memory = [(); 2].map(|()| fixture.memory(Kind::Host, 4 * 100));
    set(&[value(&kernel, 2, 1u32)]);
    for word in 0..100 {
        for (queue, memory) in queues.iter().zip(&memory) {
            set(&[pointer(&kernel, 0, memory.at(4 * word)), value(&kernel, 1, word as u32 + 1)]);
            expect_success(launch(&kernel, queue, 1, (word % 2 == 0).then_some(1)), "urEnqueueKernelLaunch");
        }
    }
    queues.iter().for_each(Queue::finish);
    for memory in &memory {
        assert_eq!((0..100).map(|word| memory.load(word)).collect::<Vec<_>>(), (1..=100).collect::<Vec<u32>>());
    }
}

#[test]
fn a_launch_has_the_arguments_of_its_own_moment() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 64);
    set(&[value(&kernel, 2, 1u32)]);
    for number in 0..64u32 {
        // The value's own bytes are gone when the kernel runs.
        set(&[pointer(&kernel, 0, out.at(4 * number as usize)), value(&kernel, 1, number)]);
        expect_success(launch(&kernel, &queue, 1, None), "urEnqueueKernelLaunch");
    }
    assert_eq!(out.read::<u32>(&queue, 64), (0..64).collect::<Vec<u32>>());
}

#[test]
fn arguments_of_every_size_come_through_and_none_is_too_large() {
    needs_function!(urKernelSetArgValue);
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Twelve([u32; 3]);
    #[derive(Clone, Copy)]
    #[repr(C, align(16))]
    struct Sixteen([u64; 2]);
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let out = fixture.memory(Kind::Device, 4096);
    let kernel = fixture.basic(c"arguments");
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 1, 1u8), value(&kernel, 2, 2u16)]);
    set(&[value(&kernel, 3, 3u32), value(&kernel, 4, 4u64), value(&kernel, 5, Twelve([5, 6, 7]))]);
    set(&[value(&kernel, 6, Sixteen([8, 9]))]);
    expect_success(launch(&kernel, &queue, 1, None), "urEnqueueKernelLaunch");
    assert_eq!(out.read::<u64>(&queue, 9), (1..=9).collect::<Vec<u64>>());

    let kernel = fixture.basic(c"large_argument");
    let words: [u32; 1024] = core::array::from_fn(|index| index as u32 * 3);
    set(&[pointer(&kernel, 1, out.pointer()), value(&kernel, 0, words)]);
    expect_success(launch(&kernel, &queue, 1024, None), "urEnqueueKernelLaunch");
    assert_eq!(out.read::<u32>(&queue, 1024), words);
}

#[test]
fn urKernelSetArgLocal_sets_memory_aside_for_each() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 32);
    set(&[local(&kernel, 0, 128), local(&kernel, 1, 128), pointer(&kernel, 2, out.pointer())]);
    expect_success(launch(&kernel, &queue, 32, Some(32)), "urEnqueueKernelLaunch");
    let expected: Vec<u32> = (0..32).map(|t| (31 - t) * 10000 + 1000 + 31 - t).collect();
    assert_eq!(out.read::<u32>(&queue, 32), expected);
    refused!(ERROR_INVALID_KERNEL_ARGUMENT_SIZE, Kernel.pfnSetArgLocal(kernel.handle(), 0, 0, null()));
}

#[test]
fn a_launch_without_all_arguments_is_refused() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4);
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 2, 1u32)]);
    expect_code(launch(&kernel, &queue, 1, None), &[Code::ERROR_INVALID_KERNEL_ARGS], "a launch with a hole");
    set(&[value(&kernel, 1, 5u32)]);
    expect_success(launch(&kernel, &queue, 1, None), "urEnqueueKernelLaunch");
    assert_eq!(out.read::<u32>(&queue, 1), [5]);
}

#[test]
fn wrong_arguments_are_refused_when_they_are_set_and_change_nothing() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4);
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 1, 21u32), value(&kernel, 2, 1u32)]);
    let k = kernel.handle();
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnSetArgValue(k, 1, 4, null(), null()));
    let word = 0u32;
    let from = (&raw const word).cast();
    refused!(ERROR_INVALID_KERNEL_ARGUMENT_SIZE, Kernel.pfnSetArgValue(k, 1, 0, null(), from));
    refused!(ERROR_INVALID_NULL_HANDLE, Kernel.pfnSetArgValue(null_mut(), 1, 4, null(), from));
    refused!(ERROR_INVALID_NULL_HANDLE, Kernel.pfnSetArgSampler(k, 1, null(), null_mut()));
    if parameters_are_known(&kernel) {
        for index in [3, u32::MAX] {
            expect_code(value(&kernel, index, 1u32), &[Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX], "SetArgValue");
            expect_code(pointer(&kernel, index, null_mut()), &[Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX], "pointer");
            expect_code(local(&kernel, index, 4), &[Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX], "SetArgLocal");
        }
        expect_code(value(&kernel, 1, 1u16), &[Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE], "SetArgValue");
    }
    expect_success(launch(&kernel, &queue, 1, None), "urEnqueueKernelLaunch");
    assert_eq!(out.read::<u32>(&queue, 1), [21]);
}

#[test]
fn buffers_and_samplers_get_the_answer_that_a_launch_with_them_gets() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let k = kernel.handle();
    let wrong = ur_kernel_arg_mem_obj_properties_t {
        stype: ur_structure_type_t::KERNEL_ARG_MEM_OBJ_PROPERTIES,
        pNext: null_mut(),
        memoryAccess: ur_mem_flags_t::from_bits_retain(1 << 30),
    };
    refused!(ERROR_INVALID_ENUMERATION, Kernel.pfnSetArgMemObj(k, 0, &raw const wrong, null_mut()));
    let mut memory = null_mut();
    let flags = ur_mem_flags_t::READ_WRITE;
    let answer = ur!(Mem.pfnBufferCreate(fixture.context(), flags, 4, null(), &raw mut memory));
    if answer == Code::ERROR_UNSUPPORTED_FEATURE {
        refused!(ERROR_UNSUPPORTED_FEATURE, Kernel.pfnSetArgMemObj(k, 0, null(), null_mut()));
        return;
    }
    expect_success(answer, "urMemBufferCreate");
    ok!(Kernel.pfnSetArgMemObj(k, 0, null(), memory));
    set(&[value(&kernel, 1, 5u32), value(&kernel, 2, 1u32)]);
    expect_success(launch(&kernel, &queue, 1, None), "a launch with a buffer");
    queue.finish();
    ok!(Mem.pfnRelease(memory));
}

#[test]
fn offsets_waits_events_and_properties_are_those_of_any_launch() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue, other) = (fixture.basic(c"fill"), fixture.in_order(), fixture.in_order());
    let out = fixture.memory(Kind::Device, 400);
    out.write(&queue, &[0u32; 100]);
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 1, 3u32), value(&kernel, 2, 100u32)]);
    let mut gate = ur_conformance::Gate::new(&fixture);
    let first = gate.block_event(&other);
    let (offset, global) = (90usize, 10usize);
    let properties = ur_kernel_launch_ext_properties_t::default();
    let waits = [first.handle()];
    let (q, k) = (queue.handle(), kernel.handle());
    let (from, size, list) = (&raw const offset, &raw const global, &raw const properties);
    let event =
        event_of(|event| ur!(Enqueue.pfnKernelLaunch(q, k, 1, from, size, null(), list, 1, waits.as_ptr(), event)));
    gate.open();
    event.wait();
    let found = out.read::<u32>(&queue, 100);
    assert!(found[..90].iter().all(|&word| word == 0) && found[90..].iter().all(|&word| word == 3), "{found:?}");
    set(&[value(&kernel, 1, 4u32)]);
    let none = 0usize;
    ok!(Enqueue.pfnKernelLaunch(q, k, 1, null(), &raw const none, null(), null(), 0, null(), null_mut()));
    assert_eq!(out.read::<u32>(&queue, 100), found, "a launch over nothing runs nothing");
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnKernelLaunch(q, k, 1, null(), null(), null(), null(), 0, null(), null_mut())
    );
    other.finish();
}

#[test]
fn urEnqueueKernelLaunch_refuses_a_kernel_of_another_context() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, own) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 400);
    out.write(&own, &[7u32; 100]);
    let other = fixture.context_of(&[fixture.device()]);
    let foreign = fixture.queue_in(other.handle(), fixture.device(), ur_queue_flags_t::empty());
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 1, 11u32), value(&kernel, 2, 100u32)]);
    expect_code(launch(&kernel, &foreign, 100, None), &[Code::ERROR_INVALID_KERNEL], "another context's kernel");
    foreign.finish();
    assert_eq!(out.read::<u32>(&own, 100), [7; 100], "a refused launch ran");
}

#[test]
fn threads_may_set_and_launch_one_kernel() {
    needs_function!(urKernelSetArgValue);
    const THREADS: u32 = 8;
    const ROUNDS: u32 = 50;
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"fill");
    // Every thread sets the same length and its own value: a launch sees some thread's value whole.
    let out = fixture.memory(Kind::Device, 4 * 64 * THREADS as usize);
    set(&[value(&kernel, 2, 64u32), value(&kernel, 1, 0u32), pointer(&kernel, 0, out.pointer())]);
    let start = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (start, kernel, fixture) = (&start, &kernel, &fixture);
            scope.spawn(move || {
                let queue = fixture.in_order();
                start.wait();
                for round in 0..ROUNDS {
                    set(&[value(kernel, 1, 0x0101_0101 * (thread * 30 + round % 30))]);
                    expect_success(launch(kernel, &queue, 64, None), "urEnqueueKernelLaunch");
                }
                queue.finish();
            });
        }
    });
    let queue = fixture.in_order();
    for word in out.read::<u32>(&queue, 64) {
        let bytes = word.to_ne_bytes();
        assert!(bytes.iter().all(|&byte| byte == bytes[0]) && bytes[0] < 240, "a torn value: {word:#x}");
    }
}

#[test]
fn a_launch_of_set_arguments_is_one_native_call() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 400);
    set(&[pointer(&kernel, 0, out.pointer()), value(&kernel, 1, 11u32), value(&kernel, 2, 100u32)]);
    let run = || expect_success(launch(&kernel, &queue, 100, None), "urEnqueueKernelLaunch");
    run();
    let (_, calls) = sim.calls_of(run);
    let launches = calls.get(Below::the_adapter().launch).copied().unwrap_or(0);
    assert_eq!(launches, 1, "{calls:?}");
    sim.expect_calls(&[], || set(&[value(&kernel, 1, 12u32)]));
    queue.finish();
}
