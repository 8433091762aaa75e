//! `urEnqueueKernelLaunchWithArgsExp`: work sizes, offsets and properties. Arguments have a file of their own.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null;

use ur_conformance::ffi::{
    ur_event_info_t, ur_event_status_t as Status, ur_kernel_group_info_t, ur_kernel_launch_ext_properties_t,
    ur_kernel_launch_flags_t, ur_queue_flags_t as Flags, ur_result_t as Code,
};
use ur_conformance::launch::parameters_are_known;
use ur_conformance::{Fixture, Gate, Kind, Launch, Memory, Queue, ask, query, refused, ur};

/// The work-items of `ids` each write a number that tells their global id, at its linear position.
fn expect_ids(queue: &Queue, out: &Memory<'_>, global: &[usize], offset: [usize; 3]) {
    let size = |axis: usize| global.get(axis).copied().unwrap_or(1);
    let found = out.read::<u32>(queue, size(0) * size(1) * size(2));
    let mut position = 0;
    for z in 0..size(2) {
        for y in 0..size(1) {
            for x in 0..size(0) {
                let id = (x + offset[0]) + 1000 * (y + offset[1]) + 1_000_000 * (z + offset[2]);
                assert_eq!(found[position] as usize, id, "work-item {x} {y} {z} of {global:?}");
                position += 1;
            }
        }
    }
}

/// SYCL's runtime leaves it to the adapter to notice.
#[test]
fn urEnqueueKernelLaunchWithArgsExp_refuses_a_kernel_of_another_context() {
    let fixture = Fixture::new();
    let (kernel, own) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 400);
    out.write(&own, &[7u32; 100]);
    let other = fixture.context_of(&[fixture.device()]);
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let foreign = fixture.queue_in(other.handle(), fixture.device(), flags);
        let launch = Launch::new(&kernel, &[100]).pointer(out.pointer()).value(5u32).value(100u32);
        launch.refused(&[Code::ERROR_INVALID_KERNEL], &foreign);
        let (mut size, global, offset) = (0usize, 100usize, 0usize);
        let (k, q) = (kernel.handle(), foreign.handle());
        refused!(
            ERROR_INVALID_KERNEL,
            Kernel.pfnGetSuggestedLocalWorkSize(k, q, 1, &raw const offset, &raw const global, &raw mut size)
        );
        foreign.finish();
    }
    assert_eq!(out.read::<u32>(&own, 100), [7; 100], "a refused launch ran");
    Launch::new(&kernel, &[100]).pointer(out.pointer()).value(5u32).value(100u32).on(&own);
    assert_eq!(out.read::<u32>(&own, 100), [5; 100]);
}

#[test]
fn every_global_size_from_1_to_300_runs_without_a_local_size() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"ids"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 301);
    for size in 1..=300 {
        out.write(&queue, &[u32::MAX; 301]);
        Launch::new(&kernel, &[size]).pointer(out.pointer()).on(&queue);
        expect_ids(&queue, &out, &[size], [0; 3]);
        assert_eq!(out.read::<u32>(&queue, 301)[size], u32::MAX, "{size}: one work-item too many");
    }
}

#[test]
fn one_two_and_three_dimensions_run_without_a_local_size() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"ids"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 << 16);
    let sizes: [&[usize]; 12] = [
        &[1],
        &[1009],
        &[1, 1],
        &[17, 5],
        &[1, 997],
        &[256, 256],
        &[1, 1, 1],
        &[3, 5, 7],
        &[1, 1, 640],
        &[2, 300, 3],
        &[31, 32, 33],
        &[64, 1, 64],
    ];
    for global in sizes {
        Launch::new(&kernel, global).pointer(out.pointer()).on(&queue);
        expect_ids(&queue, &out, global, [0; 3]);
    }
}

#[test]
fn a_local_size_is_taken_as_it_is_given() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"shape"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 12 * 4 * 4096);
    let shapes: [(&[usize], &[usize]); 8] = [
        (&[1], &[1]),
        (&[64], &[32]),
        (&[1024], &[1024]),
        (&[96], &[3]),
        (&[12, 10], &[4, 5]),
        (&[8, 8, 8], &[4, 2, 8]),
        (&[1, 1, 64], &[1, 1, 64]),
        (&[6, 4, 2], &[1, 1, 1]),
    ];
    for (global, local) in shapes {
        Launch::new(&kernel, global).local(local).pointer(out.pointer()).on(&queue);
        let size = |sizes: &[usize], axis: usize| sizes.get(axis).copied().unwrap_or(1);
        let groups = [0, 1, 2].map(|axis| size(global, axis) / size(local, axis));
        let found = out.read::<u32>(&queue, 12 * groups.iter().product::<usize>());
        for (index, told) in found.chunks(12).enumerate() {
            let at = [index % groups[0], index / groups[0] % groups[1], index / groups[0] / groups[1]];
            let expected = [0, 1, 2].map(|axis| size(local, axis) - 1).into_iter();
            let expected = expected.chain([0, 1, 2].map(|axis| size(local, axis))).chain(at).chain(groups);
            assert!(told.iter().map(|&value| value as usize).eq(expected), "{global:?} by {local:?}: {told:?}");
        }
    }
}

#[test]
fn a_local_size_that_does_not_divide_or_is_too_large_is_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let property = ur_kernel_group_info_t::WORK_GROUP_SIZE;
    let most: usize = query::get(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), property)));
    let bad: [(&[usize], &[usize]); 9] = [
        (&[10], &[3]),
        (&[7, 4], &[7, 3]),
        (&[8, 8, 9], &[8, 8, 2]),
        (&[10], &[0]),
        (&[10, 10], &[10, 0]),
        (&[10], &[20]),
        (&[most * 2], &[most * 2]),
        (&[most, 2], &[most, 2]),
        (&[1, 1, 4096], &[1, 1, 2048]),
    ];
    for (global, local) in bad {
        Launch::new(&kernel, global).local(local).refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], &queue);
    }
    queue.finish();
}

#[test]
fn a_launch_over_nothing_runs_nothing_and_keeps_its_place() {
    let fixture = Fixture::new();
    let (fill, other) = (fixture.basic(c"fill"), fixture.in_order());
    let result = fixture.memory(Kind::Host, 4);
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        for global in [&[0][..], &[0, 1], &[1, 0], &[1, 1, 0], &[0, 0, 0]] {
            for launch in Launch::both(&fill, global) {
                result.store(0, 0);
                let mut gate = Gate::new(&fixture);
                let blocked = gate.block_event(&other);
                let launch = launch.pointer(result.pointer()).value(7u32).value(1u32);
                let nothing = launch.after(&[&blocked]).event_on(&queue);
                let property = ur_event_info_t::COMMAND_EXECUTION_STATUS;
                let status = Status(query::get(ask!(Event.pfnGetInfo(nothing.handle(), property))));
                assert_ne!(status, Status::COMPLETE, "{global:?} comes after its wait list, {flags:?}");
                gate.open();
                nothing.wait();
                assert!(gate.has_passed() && result.load(0) == 0, "{global:?} {flags:?}");
            }
        }
        queue.finish();
    }
}

#[test]
fn a_launch_over_nothing_with_wrong_arguments_and_a_missing_global_size_are_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    for launch in Launch::both(&kernel, &[0]) {
        if parameters_are_known(&kernel) {
            launch.value(7u32).refused(&[Code::ERROR_INVALID_KERNEL_ARGS], &queue);
        }
    }
    let answer = ur!(EnqueueExp.pfnKernelLaunchWithArgsExp(
        queue.handle(),
        kernel.handle(),
        1,
        null(),
        null(),
        null(),
        0,
        null(),
        null(),
        0,
        null(),
        core::ptr::null_mut()
    ));
    assert_eq!(answer, Code::ERROR_INVALID_NULL_POINTER);
}

#[test]
fn no_or_four_dimensions_are_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    Launch::new(&kernel, &[]).refused(&[Code::ERROR_INVALID_WORK_DIMENSION], &queue);
    Launch::new(&kernel, &[1; 4]).refused(&[Code::ERROR_INVALID_WORK_DIMENSION], &queue);
}

#[test]
fn a_grid_beyond_every_device_is_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let codes = [
        Code::ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
        Code::ERROR_INVALID_WORK_DIMENSION,
        Code::ERROR_INVALID_WORK_GROUP_SIZE,
        Code::ERROR_INVALID_VALUE,
        Code::ERROR_OUT_OF_RESOURCES,
    ];
    for global in [&[usize::MAX][..], &[1 << 60], &[1, usize::MAX], &[1, 1, 1 << 40], &[1 << 40; 3]] {
        Launch::new(&kernel, global).refused(&codes, &queue);
    }
    for (global, local) in [(&[1usize << 40][..], &[1usize][..]), (&[1, 1 << 20], &[1, 1]), (&[1, 1, 1 << 20], &[1; 3])]
    {
        Launch::new(&kernel, global).local(local).refused(&codes, &queue);
    }
    queue.finish();
}

#[test]
fn a_global_offset_goes_to_the_variant_that_takes_one() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"ids"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 1000);
    let launches: [(&[usize], &[usize], [usize; 3]); 5] = [
        (&[10], &[5], [5, 0, 0]),
        (&[10, 3], &[0, 7], [0, 7, 0]),
        (&[4, 3, 2], &[1, 2, 3], [1, 2, 3]),
        (&[100], &[0], [0; 3]),
        (&[5, 5, 5], &[0, 0, 9], [0, 0, 9]),
    ];
    for (global, offset, seen) in launches {
        for launch in Launch::both(&kernel, global) {
            launch.offset(offset).pointer(out.pointer()).on(&queue);
            expect_ids(&queue, &out, global, seen);
        }
    }
}

#[test]
fn a_global_offset_does_not_disturb_the_other_arguments() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 400);
    for launch in Launch::both(&kernel, &[50]) {
        out.write(&queue, &[0u32; 100]);
        launch.offset(&[25]).pointer(out.pointer()).value(7u32).value(100u32).on(&queue);
        let found = out.read::<u32>(&queue, 100);
        assert!((0..100).all(|index| found[index] == if (25..75).contains(&index) { 7 } else { 0 }));
    }
}

#[test]
fn a_global_offset_without_the_variant_is_an_invalid_operation() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"iota"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 40);
    for launch in Launch::both(&kernel, &[10]) {
        let launch = launch.pointer(out.pointer()).value(10u32);
        launch.clone().offset(&[1]).refused(&[Code::ERROR_INVALID_OPERATION], &queue);
        launch.offset(&[0]).on(&queue);
    }
    queue.finish();
}

#[test]
fn a_kernel_of_another_device_is_refused() {
    let fixture = Fixture::over_all_devices();
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue_in(fixture.context(), other, Flags::empty());
    Launch::new(&kernel, &[1]).refused(&[Code::ERROR_INVALID_KERNEL], &queue);
}

#[test]
fn one_kernel_runs_on_the_queues_of_two_devices_in_turn() {
    const COUNT: usize = 200;
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
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queues = devices.map(|device| fixture.queue_in(context.handle(), device, flags));
        let memory: Vec<Memory<'_>> = devices.iter().map(|_| fixture.memory(Kind::Host, 4 * COUNT)).collect();
        memory.iter().for_each(|memory| (0..COUNT).for_each(|word| memory.store(word, 0)));
        // With and without a local size, the two ways to a shape.
        for word in 0..COUNT {
            for (queue, memory) in queues.iter().zip(&memory) {
                let launch = Launch::new(&kernel, &[1]).pointer(memory.at(4 * word)).value(word as u32 + 1).value(1u32);
                if word % 2 == 0 { launch.on(queue) } else { launch.local(&[1]).on(queue) }
            }
        }
        queues.iter().for_each(Queue::finish);
        for memory in &memory {
            assert!((0..COUNT).all(|word| memory.load(word) == word as u32 + 1), "{flags:?}");
        }
        // Each after the other's last, to and fro.
        let mut last =
            Launch::new(&kernel, &[1]).pointer(memory[0].pointer()).value(0u32).value(1u32).event_on(&queues[0]);
        for step in 1..20u32 {
            let launch = Launch::new(&kernel, &[1]).pointer(memory[0].pointer()).value(step).value(1u32);
            last = launch.after(&[&last]).event_on(&queues[step as usize % 2]);
        }
        last.wait();
        assert_eq!(memory[0].load(0), 19, "{flags:?}");
        queues.iter().for_each(Queue::finish);
    }
}

#[test]
fn launch_properties_are_checked() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let with = |flags| {
        let properties = ur_kernel_launch_ext_properties_t { flags, ..Default::default() };
        Launch::new(&kernel, &[1]).properties(properties)
    };
    with(ur_kernel_launch_flags_t::empty()).on(&queue);
    with(ur_kernel_launch_flags_t::OPPORTUNISTIC_QUEUE_SERIALIZE).on(&queue);
    let unknown = ur_kernel_launch_flags_t::from_bits_retain(0x8000_0000);
    with(unknown).refused(&[Code::ERROR_INVALID_ENUMERATION], &queue);
    let answer = with(ur_kernel_launch_flags_t::COOPERATIVE).enqueue(&queue, core::ptr::null_mut());
    let answers = [Code::SUCCESS, Code::ERROR_UNSUPPORTED_FEATURE];
    ur_conformance::expect_code(answer, &answers, "a cooperative launch");
    queue.finish();
}

#[test]
fn a_launch_waits_for_its_list_on_every_kind_of_queue() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"copy");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (blocked, queue) = (fixture.in_order(), fixture.queue(flags));
        let seen = fixture.memory(Kind::Host, 4);
        seen.store(0, 0);
        let mut gate = Gate::new(&fixture);
        let before = gate.block_event(&blocked);
        let launch = Launch::new(&kernel, &[1]).pointer(seen.pointer()).pointer(gate.result()).value(1u32);
        let event = launch.after(&[&before]).event_on(&queue);
        gate.open();
        event.wait();
        assert_eq!(seen.load(0), Gate::OPEN, "{flags:?}");
    }
}

#[test]
fn a_million_work_items_run() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.kernel(&fixture.program("saxpy.ptx"), c"saxpy");
    const COUNT: usize = 1 << 20;
    let (x, y) = (fixture.memory(Kind::Device, 4 * COUNT), fixture.memory(Kind::Device, 4 * COUNT));
    let values: Vec<f32> = (0..COUNT).map(|index| (index % 4096) as f32).collect();
    x.write(&queue, &values);
    y.write(&queue, &vec![0.5f32; COUNT]);
    let launch = Launch::new(&kernel, &[COUNT]).value(3.0f32).pointer(x.pointer()).pointer(y.pointer());
    launch.value(COUNT as u32).on(&queue);
    let found = y.read::<f32>(&queue, COUNT);
    assert!(found.iter().zip(&values).all(|(&found, &x)| found == 3.0f32.mul_add(x, 0.5)));
}
