//! Kernel launches in command buffers: arguments of every kind, sizes, offsets, alternatives, and what is refused when it
//! is appended.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Command, SyncPoint};
use ur_conformance::ffi::{
    ur_exp_kernel_arg_type_t as Type, ur_kernel_handle_t, ur_mem_flags_t as MemFlags, ur_result_t as Code,
};
use ur_conformance::launch::parameters_are_known;
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::{
    Arg, Buffer, CommandBuffer, Fixture, Kind, Launch, expect_code, expect_success, has_function, needs_function,
    refused, ur,
};

#[test]
fn values_of_1_2_4_8_12_and_16_bytes_arrive_at_every_launch() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"arguments"), fixture.in_order());
    let seed = 0x0123_4567_89ab_cdefu64;
    let (one, two, four) = (seed as u8, (seed >> 3) as u16, (seed >> 7) as u32);
    let (twelve, sixteen) = ([four, !four, four ^ 5], [seed.rotate_left(9), !seed]);
    let out = fixture.memory(Kind::Device, 72);
    let buffer = CommandBuffer::new(&fixture);
    let launch = Launch::new(&kernel, &[1]).pointer(out.pointer()).value(one).value(two).value(four).value(seed);
    let launch = launch.value(twelve).value(sixteen);
    buffer.launch(&launch, &[]);
    // The arguments' bytes go before the launches.
    drop(launch);
    buffer.finalize();
    for _ in 0..3 {
        out.write(&queue, &[0u64; 9]);
        buffer.on(&queue);
        let expected = [u64::from(one), u64::from(two), u64::from(four), seed];
        let found = out.read::<u64>(&queue, 9);
        assert_eq!(found[..4], expected);
        assert_eq!(found[4..7], twelve.map(u64::from));
        assert_eq!(found[7..], sixteen);
    }
}

#[test]
fn a_value_of_4_KiB_arrives() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"large_argument"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4096);
    let mut words = [0u32; 1024];
    (0u32..).zip(&mut words).for_each(|(index, word)| *word = index.wrapping_mul(2_654_435_761));
    let buffer = CommandBuffer::new(&fixture);
    buffer.launch(&Launch::new(&kernel, &[1024]).value(words).pointer(out.pointer()), &[]);
    buffer.run(&queue);
    assert_eq!(out.read::<u32>(&queue, 1024), words);
}

#[test]
fn local_arguments_give_each_group_memory_of_its_own_small_and_large() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    for (group, first) in [(1usize, 4), (8, 33), (33, 4 * 33), (256, 64 << 10)] {
        let out = fixture.memory(Kind::Device, 4 * group * 5);
        let launch = Launch::new(&kernel, &[group * 5]).local(&[group]).arg(Arg::local(first.max(4 * group)));
        let buffer = CommandBuffer::new(&fixture);
        buffer.launch(&launch.arg(Arg::local(4 * group)).pointer(out.pointer()), &[]);
        buffer.run(&queue);
        for (index, &value) in out.read::<u32>(&queue, group * 5).iter().enumerate() {
            let other = (group - 1 - index % group) as u32;
            assert_eq!(value, other * 10000 + 1000 + other, "work-item {index} in groups of {group}");
        }
    }
}

#[test]
fn sizes_of_1_2_and_3_dimensions_and_offsets_are_those_of_a_launch_on_a_queue() {
    let fixture = Fixture::new();
    let (ids, shape, queue) = (fixture.basic(c"ids"), fixture.basic(c"shape"), fixture.in_order());
    /// Global size, local size, offset.
    type Sizes<'s> = (&'s [usize], Option<&'s [usize]>, Option<&'s [usize]>);
    let cases: [Sizes<'_>; 6] = [
        (&[12], None, None),
        (&[12], Some(&[4]), Some(&[3])),
        (&[6, 4], Some(&[3, 2]), None),
        (&[6, 4], None, Some(&[5, 7])),
        (&[4, 6, 2], Some(&[2, 3, 1]), Some(&[1, 2, 3])),
        (&[4, 6, 2], None, None),
    ];
    for (global, local, offset) in cases {
        let items: usize = global.iter().product();
        let (here, there) = (fixture.memory(Kind::Device, 4 * items), fixture.memory(Kind::Device, 4 * items));
        let of = |memory: &ur_conformance::Memory<'_>| {
            let launch = Launch::new(&ids, global).pointer(memory.pointer());
            let launch = local.map_or(launch.clone(), |local| launch.local(local));
            offset.map_or(launch.clone(), |offset| launch.offset(offset))
        };
        of(&there).on(&queue);
        let buffer = CommandBuffer::new(&fixture);
        buffer.launch(&of(&here), &[]);
        buffer.run(&queue);
        let (found, expected) = (here.read::<u32>(&queue, items), there.read::<u32>(&queue, items));
        assert_eq!(found, expected, "{global:?} {local:?} {offset:?}");
    }
    let out = fixture.memory(Kind::Device, 4 * 12 * 4);
    let buffer = CommandBuffer::new(&fixture);
    buffer.launch(&Launch::new(&shape, &[8, 6]).local(&[4, 3]).pointer(out.pointer()), &[]);
    buffer.run(&queue);
    assert_eq!(out.read::<u32>(&queue, 12)[3..6], [4, 3, 1]);
}

#[test]
fn a_buffer_as_an_argument_is_read_and_written_at_every_launch() {
    let fixture = Fixture::new();
    let (copy, add, queue) = (fixture.basic(c"copy"), fixture.basic(c"add_constant"), fixture.in_order());
    let (from, to) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 256));
    // Parts begin where the device lets them begin.
    let part = to.part(128, 32);
    let commands = CommandBuffer::new(&fixture);
    let copied = Launch::new(&copy, &[16]).buffer(&to, MemFlags::WRITE_ONLY).buffer(&from, MemFlags::READ_ONLY);
    let copied = commands.launch(&copied.value(16u32), &[]);
    let copied = commands.copy_buffer(&to, &to, [0, 128], 32, &[copied]);
    let added = Launch::new(&add, &[8]).buffer(&part, MemFlags::READ_WRITE).value(100u32).value(8u32);
    commands.launch(&added, &[copied]);
    commands.finalize();
    for round in 0..3u32 {
        from.write(&queue, &[round; 16]);
        commands.on(&queue);
        let found = to.read::<u32>(&queue);
        assert_eq!(found[..16], [round; 16]);
        assert_eq!(found[32..40], [round + 100; 8]);
    }
}

/// Where arguments are set on the kernel one by one, a recorded launch keeps those that were set then.
#[test]
fn urCommandBufferAppendKernelLaunchExp_keeps_the_arguments_that_were_set_when_it_was_appended() {
    needs_function!(urKernelSetArgValue);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 8);
    let buffer = CommandBuffer::new(&fixture);
    let value = |value: u32| {
        let from = (&raw const value).cast();
        expect_success(ur!(Kernel.pfnSetArgValue(kernel.handle(), 1, 4, null(), from)), "urKernelSetArgValue");
    };
    let one = 1u32;
    let from = (&raw const one).cast();
    expect_success(ur!(Kernel.pfnSetArgValue(kernel.handle(), 2, 4, null(), from)), "urKernelSetArgValue");
    for word in 0..2 {
        let to = out.at(4 * word);
        expect_success(ur!(Kernel.pfnSetArgPointer(kernel.handle(), 0, null(), to)), "urKernelSetArgPointer");
        value(10 + word as u32);
        let (b, k, size, n) = (buffer.handle(), kernel.handle(), 1usize, null_mut());
        let (g, none, no) = (&raw const size, null(), null());
        let answer = ur!(CommandBufferExp.pfnAppendKernelLaunchExp(
            b,
            k,
            1,
            null(),
            g,
            null(),
            0,
            n,
            0,
            none,
            0,
            no,
            null_mut(),
            null_mut(),
            null_mut()
        ));
        expect_success(answer, "urCommandBufferAppendKernelLaunchExp");
    }
    value(99);
    buffer.run(&queue);
    assert_eq!(out.read::<u32>(&queue, 2), [10, 11]);
}

/// A launch of a kernel without parameters needs no arguments in any release.
#[test]
fn urCommandBufferAppendKernelLaunchExp_takes_a_kernel_without_parameters() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let buffer = CommandBuffer::new(&fixture);
    let (b, k, size, n, mut point) = (buffer.handle(), kernel.handle(), 1usize, null_mut(), SyncPoint::MAX);
    let (g, none, no, out) = (&raw const size, null(), null(), &raw mut point);
    let answer = ur!(CommandBufferExp.pfnAppendKernelLaunchExp(
        b,
        k,
        1,
        null(),
        g,
        null(),
        0,
        n,
        0,
        none,
        0,
        no,
        out,
        null_mut(),
        null_mut()
    ));
    expect_success(answer, "urCommandBufferAppendKernelLaunchExp");
    assert_ne!(point, SyncPoint::MAX);
    buffer.run(&queue);
}

fn expect_refused(launch: &Launch<'_>, buffer: &CommandBuffer, codes: &[Code], what: &str) {
    let (mut point, mut command): (SyncPoint, Command) = (SyncPoint::MAX, null_mut());
    let answer = buffer.append(launch, &[], &[], &raw mut point, &raw mut command);
    expect_code(answer, codes, what);
    assert!(point == SyncPoint::MAX && command.is_null(), "{what}: a launch that failed gave something out");
}

#[test]
fn wrong_sizes_and_arguments_are_refused_when_they_are_appended_and_nothing_is_recorded() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"fill");
    let out = fixture.memory(Kind::Device, 400);
    let buffer = CommandBuffer::updatable(&fixture);
    let good = |global: &[usize]| Launch::new(&kernel, global).pointer(out.pointer()).value(1u32).value(100u32);
    let dimension: &[Code] = &[Code::ERROR_INVALID_WORK_DIMENSION];
    expect_refused(&good(&[]), &buffer, dimension, "no dimensions");
    expect_refused(&good(&[1; 4]), &buffer, dimension, "four dimensions");
    let group: &[Code] = &[Code::ERROR_INVALID_WORK_GROUP_SIZE];
    expect_refused(&good(&[100]).local(&[3]), &buffer, group, "groups that do not divide");
    expect_refused(&good(&[4096]).local(&[4096]), &buffer, group, "groups that are too large");
    expect_refused(&good(&[100]).local(&[0]), &buffer, group, "groups of nothing");
    if has_function("urCommandBufferAppendKernelLaunchWithArgsExp") {
        let odd = Launch::new(&kernel, &[1]).arg(Arg::value(0u64).of_type(Type(99))).value(1u32).value(1u32);
        expect_refused(&odd, &buffer, &[Code::ERROR_INVALID_ENUMERATION], "an unknown type");
    }
    if parameters_are_known(&kernel) {
        let index: &[Code] = &[Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX];
        let size: &[Code] = &[Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE];
        expect_refused(&good(&[1]).value(1u32), &buffer, index, "one argument too many");
        let short = Launch::new(&kernel, &[1]).pointer(out.pointer()).value(1u32);
        if has_function("urCommandBufferAppendKernelLaunchWithArgsExp") {
            let missing = [Code::ERROR_INVALID_KERNEL_ARGS, Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX];
            expect_refused(&short, &buffer, &missing, "one argument too few");
        }
        let narrow = Launch::new(&kernel, &[1]).pointer(out.pointer()).value(1u16).value(100u32);
        expect_refused(&narrow, &buffer, size, "a value that is too small");
    }
    assert!(NativeGraph::of(&buffer).nodes().is_empty(), "nothing was recorded");
}

/// An adapter may leave an empty launch out of the graph, but later commands can come after it.
#[test]
fn a_launch_of_nothing_is_answered_as_on_a_queue() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4);
    out.write(&queue, &[5u32]);
    let launch = Launch::new(&kernel, &[0]).pointer(out.pointer()).value(1u32).value(1u32);
    let on_queue = launch.enqueue(&queue, null_mut());
    let buffer = CommandBuffer::new(&fixture);
    let mut point = SyncPoint::MAX;
    let appended = buffer.append(&launch, &[], &[], &raw mut point, null_mut());
    assert_eq!(appended, on_queue);
    if appended == Code::SUCCESS {
        buffer.fill(out.pointer(), &[6u32], 4, &[point]);
    }
    buffer.run(&queue);
    let expected = if appended == Code::SUCCESS { 6 } else { 5 };
    assert_eq!(out.read::<u32>(&queue, 1), [expected]);
}

#[test]
fn kernel_alternatives_and_their_count_must_agree_and_be_kernels_of_the_context() {
    let fixture = Fixture::new();
    let (kernel, other) = (fixture.basic(c"empty"), fixture.basic(c"empty"));
    let buffer = CommandBuffer::updatable(&fixture);
    let (b, k, size) = (buffer.handle(), kernel.handle(), 1usize);
    let (g, none, no, n) = (&raw const size, null(), null(), null_mut());
    let (mut point, mut command): (SyncPoint, Command) = (SyncPoint::MAX, null_mut());
    let (out, handle) = (&raw mut point, &raw mut command);
    let mut list: [ur_kernel_handle_t; 1] = [other.handle()];
    let some = list.as_mut_ptr();
    let append = |count, kernels| {
        ur!(CommandBufferExp.pfnAppendKernelLaunchExp(
            b,
            k,
            1,
            null(),
            g,
            null(),
            count,
            kernels,
            0,
            none,
            0,
            no,
            out,
            n,
            handle
        ))
    };
    assert_eq!(append(1, null_mut()), Code::ERROR_INVALID_VALUE);
    assert_eq!(append(0, some), Code::ERROR_INVALID_VALUE);
    let mut wrong: [ur_kernel_handle_t; 1] = [b.cast()];
    assert_eq!(append(1, wrong.as_mut_ptr()), Code::ERROR_INVALID_KERNEL);
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let foreign = fixture.kernel(&fixture.program_in(elsewhere.handle(), "basic.ptx"), c"empty");
    let mut wrong: [ur_kernel_handle_t; 1] = [foreign.handle()];
    let answer = append(1, wrong.as_mut_ptr());
    assert!([Code::ERROR_INVALID_KERNEL, Code::ERROR_INVALID_CONTEXT].contains(&answer), "{answer:?}");
    assert!(point == SyncPoint::MAX && command.is_null());
    assert_eq!(append(1, some), Code::SUCCESS);
    assert!(point != SyncPoint::MAX && !command.is_null());
}

#[test]
fn a_kernel_of_another_context_is_refused() {
    let fixture = Fixture::new();
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let foreign = fixture.kernel(&fixture.program_in(elsewhere.handle(), "basic.ptx"), c"empty");
    let buffer = CommandBuffer::new(&fixture);
    let codes = [Code::ERROR_INVALID_KERNEL, Code::ERROR_INVALID_CONTEXT];
    expect_refused(&Launch::new(&foreign, &[1]), &buffer, &codes, "a kernel of another context");
}

/// A handle is for changes alone.
#[test]
fn a_command_handle_of_a_buffer_that_is_not_updatable_is_refused() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let buffer = CommandBuffer::new(&fixture);
    let (b, k, size) = (buffer.handle(), kernel.handle(), 1usize);
    let (g, none, no, n, mut command) = (&raw const size, null(), null(), null_mut(), null_mut());
    let (point, handle) = (null_mut(), &raw mut command);
    refused!(
        ERROR_INVALID_OPERATION,
        CommandBufferExp.pfnAppendKernelLaunchExp(
            b,
            k,
            1,
            null(),
            g,
            null(),
            0,
            null_mut(),
            0,
            none,
            0,
            no,
            point,
            n,
            handle
        )
    );
    assert!(command.is_null());
}

#[test]
fn urCommandBufferAppendKernelLaunchWithArgsExp_refuses_a_list_of_arguments_that_is_missing() {
    needs_function!(urCommandBufferAppendKernelLaunchWithArgsExp);
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"fill");
    let buffer = CommandBuffer::new(&fixture);
    let (b, k, size, mut point) = (buffer.handle(), kernel.handle(), 1usize, SyncPoint::MAX);
    let (g, no, none, out) = (&raw const size, null(), null_mut(), &raw mut point);
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendKernelLaunchWithArgsExp(
            b,
            k,
            1,
            null(),
            g,
            null(),
            3,
            null(),
            0,
            none,
            0,
            no,
            0,
            null(),
            out,
            null_mut(),
            null_mut()
        )
    );
    assert!(point == SyncPoint::MAX && NativeGraph::of(&buffer).nodes().is_empty());
}
