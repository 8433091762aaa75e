//! `urCommandBufferUpdateKernelLaunchExp`: what later launches do after a change, what earlier ones do all the same, and
//! that a change that is refused has changed nothing.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Command, description};
use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    ur_exp_command_buffer_update_kernel_launch_desc_t, ur_exp_command_buffer_update_memobj_arg_desc_t,
    ur_kernel_arg_mem_obj_properties_t, ur_mem_flags_t as MemFlags, ur_result_t as Code,
};
use ur_conformance::launch::parameters_are_known;
use ur_conformance::{
    Arg, Buffer, Change, CommandBuffer, Fixture, Gate, Kind, Launch, Memory, Queue, expect_code, needs_sim, refused, ur,
};

/// A launch of `fill` over some words.
fn filling<'k>(kernel: &'k ur_conformance::Kernel, memory: &Memory<'_>, value: u32, words: usize) -> Launch<'k> {
    Launch::new(kernel, &[words]).pointer(memory.pointer()).value(value).value(words as u32)
}

fn run(buffer: &CommandBuffer, queue: &Queue) {
    buffer.on(queue);
    queue.finish();
}

#[test]
fn a_value_and_a_pointer_are_changed_for_later_launches_and_the_others_stay() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let (one, two) = (fixture.memory(Kind::Device, 40), fixture.memory(Kind::Device, 40));
    for in_order in [false, true] {
        one.write(&queue, &[0u32; 10]);
        two.write(&queue, &[0u32; 10]);
        let buffer = CommandBuffer::with(&fixture, description(true, in_order, false));
        let (_, command) = buffer.command(&filling(&kernel, &one, 1, 10), &[]);
        buffer.finalize();
        run(&buffer, &queue);
        let current = Current::at(Place::LastDevice);
        current.after("urCommandBufferUpdateKernelLaunchExp", || buffer.update(&[Change::of(command).value(1, 2u32)]));
        drop(current);
        run(&buffer, &queue);
        assert_eq!(one.read::<u32>(&queue, 10), [2; 10]);
        buffer.update(&[Change::of(command).pointer(0, two.pointer())]);
        run(&buffer, &queue);
        assert_eq!((one.read::<u32>(&queue, 10), two.read::<u32>(&queue, 10)), (vec![2; 10], vec![2; 10]));
        buffer.update(&[Change::of(command).pointer(0, one.pointer()).value(1, 3u32)]);
        run(&buffer, &queue);
        assert_eq!((one.read::<u32>(&queue, 10), two.read::<u32>(&queue, 10)), (vec![3; 10], vec![2; 10]));
    }
}

#[test]
fn a_change_before_the_first_launch_is_for_the_first_launch() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 40);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&filling(&kernel, &memory, 1, 10), &[]);
    buffer.finalize();
    buffer.update(&[Change::of(command).value(1, 5u32)]);
    buffer.update(&[Change::of(command).value(1, 6u32)]);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 10), [6; 10]);
}

#[test]
fn sizes_and_offset_are_changed_and_arguments_stay() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * 64);
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[8]).local(&[4]).pointer(memory.pointer()).value(1u32).value(64u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    let touched = |change: Option<Change>| {
        if let Some(change) = change {
            buffer.update(&[change]);
        }
        memory.write(&queue, &[0u32; 64]);
        run(&buffer, &queue);
        let found = memory.read::<u32>(&queue, 64);
        (0..64).filter(|&word| found[word] == 1).collect::<Vec<_>>()
    };
    assert_eq!(touched(None), (0..8).collect::<Vec<_>>());
    assert_eq!(touched(Some(Change::of(command).global(&[32]))), (0..32).collect::<Vec<_>>());
    assert_eq!(touched(Some(Change::of(command).global(&[30]).local(&[10]))), (0..30).collect::<Vec<_>>());
    assert_eq!(touched(Some(Change::of(command).offset(&[16]))), (16..46).collect::<Vec<_>>());
    assert_eq!(touched(Some(Change::of(command).value(1, 1u32))), (16..46).collect::<Vec<_>>());
    assert_eq!(touched(Some(Change::of(command).offset(&[0]).global(&[4]).local(&[1]))), (0..4).collect::<Vec<_>>());
}

/// The old local size does not divide the new global one.
#[test]
fn urCommandBufferUpdateKernelLaunchExp_of_the_global_size_alone_leaves_the_local_size_to_the_adapter() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * 64);
    memory.write(&queue, &[0u32; 64]);
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[8]).local(&[4]).pointer(memory.pointer()).value(1u32).value(64u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    buffer.update(&[Change::of(command).global(&[31])]);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 64), [[1u32; 31].as_slice(), &[0; 33]].concat());
}

#[test]
fn work_group_memory_is_changed_and_the_arguments_behind_it_move() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 64);
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[8]).local(&[8]).arg(Arg::local(32)).arg(Arg::local(32));
    let (_, command) = buffer.command(&launch.pointer(out.pointer()), &[]);
    buffer.finalize();
    let check = |group: u32| {
        out.write(&queue, &[0u32; 64]);
        run(&buffer, &queue);
        let found = out.read::<u32>(&queue, group as usize);
        let right = |index: u32| (group - 1 - index) * 10000 + 1000 + group - 1 - index;
        assert!((0..group).all(|index| found[index as usize] == right(index)), "groups of {group}: {found:?}");
    };
    check(8);
    buffer.update(&[Change::of(command)
        .global(&[64])
        .local(&[64])
        .work_group_memory(0, 256)
        .work_group_memory(1, 256)]);
    check(64);
    buffer.update(&[Change::of(command).work_group_memory(0, 64 << 10)]);
    check(64);
    buffer.update(&[Change::of(command).global(&[8]).local(&[8]).work_group_memory(0, 32)]);
    check(8);
}

#[test]
fn a_memory_object_is_changed_and_kept_alive() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let (one, two) = (Buffer::new(&fixture, 40), Buffer::new(&fixture, 40));
    let (out, reader) = (fixture.memory(Kind::Device, 40), fixture.basic(c"copy"));
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[10]).buffer(&one, MemFlags::WRITE_ONLY).value(4u32).value(10u32);
    let (filled, command) = buffer.command(&launch, &[]);
    let launch = Launch::new(&reader, &[10]).pointer(out.pointer()).buffer(&one, MemFlags::READ_ONLY).value(10u32);
    let (_, reading) = buffer.command(&launch, &[filled]);
    buffer.finalize();
    run(&buffer, &queue);
    assert_eq!(one.read::<u32>(&queue), [4; 10]);
    two.write(&queue, &[0u32; 10]);
    buffer.update(&[
        Change::of(command).memory(0, two.handle()).value(1, 5u32),
        Change::of(reading).memory(1, two.handle()),
    ]);
    drop(one);
    run(&buffer, &queue);
    assert_eq!(two.read::<u32>(&queue), [5; 10]);
    drop(two);
    out.write(&queue, &[0u32; 10]);
    run(&buffer, &queue);
    assert_eq!(out.read::<u32>(&queue, 10), [5; 10]);
}

#[test]
fn a_kernel_is_changed_among_its_alternatives_with_the_arguments_of_the_new_one() {
    let fixture = Fixture::new();
    let (fill, add, stranger) = (fixture.basic(c"fill"), fixture.basic(c"add_constant"), fixture.basic(c"iota"));
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 40);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command_of(&filling(&fill, &memory, 1, 10), &[&add], &[]);
    buffer.finalize();
    run(&buffer, &queue);
    let same = |change: Change| change.pointer(0, memory.pointer()).value(1, 10u32).value(2, 10u32);
    buffer.update(&[same(Change::of(command).kernel(&add))]);
    run(&buffer, &queue);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 10), [21; 10]);
    let codes = [Code::ERROR_INVALID_VALUE, Code::ERROR_INVALID_KERNEL];
    expect_code(buffer.change(&[Change::of(command).kernel(&stranger)]), &codes, "a kernel that is no alternative");
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 10), [31; 10]);
    buffer.update(&[same(Change::of(command).kernel(&fill))]);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 10), [10; 10]);
}

#[test]
fn many_launches_are_changed_by_one_call_and_each_gets_its_own() {
    const NODES: usize = 100;
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * NODES);
    let buffer = CommandBuffer::updatable(&fixture);
    let commands: Vec<Command> = (0..NODES)
        .map(|word| {
            let launch = Launch::new(&kernel, &[1]).pointer(memory.at(4 * word)).value(word as u32).value(1u32);
            buffer.command(&launch, &[]).1
        })
        .collect();
    buffer.finalize();
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, NODES), (0..NODES as u32).collect::<Vec<_>>());
    // Values and places are turned around.
    let change = |(word, &command): (usize, &Command)| {
        Change::of(command).pointer(0, memory.at(4 * (NODES - 1 - word))).value(1, 1000 + word as u32)
    };
    buffer.update(&commands.iter().enumerate().map(change).collect::<Vec<_>>());
    run(&buffer, &queue);
    let expected: Vec<u32> = (0..NODES as u32).rev().map(|word| 1000 + word).collect();
    assert_eq!(memory.read::<u32>(&queue, NODES), expected);
}

#[test]
fn one_launch_may_be_changed_twice_by_one_call_and_the_last_change_counts() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 40);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&filling(&kernel, &memory, 1, 10), &[]);
    buffer.finalize();
    let changes = [Change::of(command).value(1, 2u32).global(&[5]), Change::of(command).value(1, 3u32)];
    memory.write(&queue, &[0u32; 10]);
    buffer.update(&changes);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 10), [3, 3, 3, 3, 3, 0, 0, 0, 0, 0]);
}

/// The launch that waits at the gate does what it was launched with.
#[test]
fn a_change_while_an_earlier_launch_runs_is_for_later_launches() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let (one, two) = (fixture.memory(Kind::Device, 40), fixture.memory(Kind::Device, 40));
    one.write(&queue, &[0u32; 10]);
    two.write(&queue, &[0u32; 10]);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&filling(&kernel, &one, 1, 10), &[]);
    buffer.finalize();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    buffer.on(&queue);
    buffer.update(&[Change::of(command).pointer(0, two.pointer()).value(1, 2u32).global(&[5])]);
    buffer.on(&queue);
    buffer.update(&[Change::of(command).value(1, 3u32).offset(&[5])]);
    buffer.on(&queue);
    assert!(!gate.has_passed());
    gate.open();
    queue.finish();
    assert_eq!(one.read::<u32>(&queue, 10), [1; 10]);
    assert_eq!(two.read::<u32>(&queue, 10), [2, 2, 2, 2, 2, 3, 3, 3, 3, 3]);
}

#[test]
fn a_change_that_is_refused_has_changed_nothing_of_any_launch() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 8);
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let foreign = Buffer::of(elsewhere.handle(), MemFlags::READ_WRITE, 64, null_mut());
    let buffer = CommandBuffer::updatable(&fixture);
    let command = |word: usize| {
        let launch = Launch::new(&kernel, &[1]).pointer(memory.at(4 * word)).value(word as u32 + 1).value(1u32);
        buffer.command(&launch, &[]).1
    };
    let (first, second) = (command(0), command(1));
    let other = CommandBuffer::updatable(&fixture);
    let strange = other.command(&Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(9u32).value(1u32), &[]).1;
    other.finalize();
    buffer.finalize();
    let of = || Change::of(second).value(1, 99u32);
    let mut cases: Vec<(&str, Change, &[Code])> = vec![
        ("four dimensions", of().global(&[1; 4]), &[Code::ERROR_INVALID_WORK_DIMENSION]),
        ("groups that do not divide", of().global(&[10]).local(&[3]), &[Code::ERROR_INVALID_WORK_GROUP_SIZE]),
        ("groups that are too large", of().global(&[8192]).local(&[8192]), &[Code::ERROR_INVALID_WORK_GROUP_SIZE]),
        ("no command", Change::of(null_mut()).value(1, 99u32), &[Code::ERROR_INVALID_NULL_HANDLE]),
        (
            "another buffer's command",
            Change::of(strange).value(1, 99u32),
            &[Code::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP],
        ),
        (
            "a handle of another type",
            Change::of(queue.handle().cast()).value(1, 99u32),
            &[Code::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP],
        ),
        (
            "another context's buffer",
            of().memory(0, foreign.handle()),
            &[Code::ERROR_INVALID_CONTEXT, Code::ERROR_INVALID_MEM_OBJECT],
        ),
        ("no memory object's handle", of().memory(0, queue.handle().cast()), &[Code::ERROR_INVALID_MEM_OBJECT]),
    ];
    if parameters_are_known(&kernel) {
        cases.push(("a value that is too small", of().value(1, 1u8), &[Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE]));
        cases.push(("no such argument", of().value(3, 1u32), &[Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX]));
        let pointer = of().pointer(7, memory.pointer());
        cases.push(("no such pointer", pointer, &[Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX]));
    }
    for (what, wrong, codes) in cases {
        // The good change comes first, so that it could have been made already.
        expect_code(buffer.change(&[Change::of(first).value(1, 77u32), wrong]), codes, what);
        memory.write(&queue, &[0u32; 2]);
        run(&buffer, &queue);
        assert_eq!(memory.read::<u32>(&queue, 2), [1, 2], "{what}: something was changed");
    }
    buffer.update(&[Change::of(first).value(1, 77u32)]);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 2), [77, 2]);
}

#[test]
fn a_change_that_the_native_library_refuses_has_changed_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 12);
    let buffer = CommandBuffer::updatable(&fixture);
    let commands: Vec<Command> = (0..3)
        .map(|word| {
            let launch = Launch::new(&kernel, &[1]).pointer(memory.at(4 * word)).value(1u32).value(1u32);
            buffer.command(&launch, &[]).1
        })
        .collect();
    buffer.finalize();
    let changes = |value: u32| commands.iter().map(|&command| Change::of(command).value(1, value)).collect::<Vec<_>>();
    let (_, calls) = sim.calls_of(|| buffer.update(&changes(2)));
    let setter = "cuGraphExecKernelNodeSetParams_v2";
    assert_eq!(calls.get(setter), Some(&3), "{calls:?}");
    for nth in 1..=3 {
        sim.fail(setter, nth, ur_conformance::sim::status::UNKNOWN);
        let answer = buffer.change(&changes(50 + nth as u32));
        sim.clear_faults();
        assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "call {nth}");
        run(&buffer, &queue);
        assert_eq!(memory.read::<u32>(&queue, 3), [2; 3], "call {nth}: a part of the change was made");
    }
    buffer.update(&changes(4));
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 3), [4; 3]);
}

/// Values of several sizes, work sizes and memory objects, changed together and partly twice.
#[test]
fn a_change_of_all_kinds_that_the_native_library_refuses_is_put_back() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 16);
    let (one, two) = (Buffer::new(&fixture, 16), Buffer::new(&fixture, 16));
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, first) = buffer.command(&filling(&kernel, &memory, 1, 2), &[]);
    let launch = Launch::new(&kernel, &[2]).buffer(&one, MemFlags::READ_WRITE).value(1u32).value(2u32);
    let (_, second) = buffer.command(&launch, &[]);
    buffer.finalize();
    let changes = [
        Change::of(first).value(1, 5u32),
        Change::of(second).value(1, 6u32),
        Change::of(first).value(1, 7u64).value(2, 4u64).global(&[4]),
        Change::of(second).memory(0, two.handle()).value(2, 3u32).global(&[3]),
        Change::of(first).value(1, 8u64),
    ];
    for nth in 1..=2 {
        memory.write(&queue, &[0u32; 4]);
        one.write(&queue, &[0u32; 4]);
        two.write(&queue, &[0u32; 4]);
        sim.fail("cuGraphExecKernelNodeSetParams_v2", nth, ur_conformance::sim::status::UNKNOWN);
        let answer = buffer.change(&changes);
        sim.clear_faults();
        assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "call {nth}");
        run(&buffer, &queue);
        assert_eq!(memory.read::<u32>(&queue, 4), [1, 1, 0, 0], "call {nth}");
        assert_eq!((one.read::<u32>(&queue), two.read::<u32>(&queue)), (vec![1, 1, 0, 0], vec![0; 4]), "call {nth}");
    }
    let wrong = Change::of(second).global(&[10]).local(&[3]);
    let refused = [changes.as_slice(), &[wrong]].concat();
    expect_code(buffer.change(&refused), &[Code::ERROR_INVALID_WORK_GROUP_SIZE], "groups that do not divide");
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 4), [1, 1, 0, 0]);
    buffer.update(&changes);
    one.write(&queue, &[0u32; 4]);
    run(&buffer, &queue);
    assert_eq!(memory.read::<u32>(&queue, 4), [8; 4]);
    assert_eq!((one.read::<u32>(&queue), two.read::<u32>(&queue)), (vec![0; 4], vec![6, 6, 6, 0]));
}

#[test]
fn urCommandBufferUpdateKernelLaunchExp_refuses_what_cannot_be_changed() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"fill");
    let memory = fixture.memory(Kind::Device, 40);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&filling(&kernel, &memory, 1, 10), &[]);
    let change = || Change::of(command).value(1, 2u32);
    expect_code(buffer.change(&[change()]), &[Code::ERROR_INVALID_OPERATION], "a buffer that is not finalised");
    buffer.finalize();
    let nothing = ur_exp_command_buffer_update_kernel_launch_desc_t { hCommand: command, ..Default::default() };
    let b = buffer.handle();
    refused!(ERROR_INVALID_SIZE, CommandBufferExp.pfnUpdateKernelLaunchExp(b, 0, &raw const nothing));
    refused!(ERROR_INVALID_NULL_POINTER, CommandBufferExp.pfnUpdateKernelLaunchExp(b, 1, null()));
    refused!(ERROR_INVALID_NULL_HANDLE, CommandBufferExp.pfnUpdateKernelLaunchExp(null_mut(), 1, &raw const nothing));
    refused!(
        ERROR_INVALID_COMMAND_BUFFER_EXP,
        CommandBufferExp.pfnUpdateKernelLaunchExp(kernel.handle().cast(), 1, &raw const nothing)
    );
    // A change of nothing is one.
    ur_conformance::ok!(CommandBufferExp.pfnUpdateKernelLaunchExp(b, 1, &raw const nothing));
    let fixed = CommandBuffer::new(&fixture);
    fixed.finalize();
    expect_code(fixed.change(&[change()]), &[Code::ERROR_INVALID_OPERATION], "a buffer that is not updatable");
}

#[test]
fn urCommandBufferUpdateSignalEventExp_and_WaitEventsExp_refuse_handles_and_say_what_is_not_supported() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&Launch::new(&kernel, &[1]), &[]);
    buffer.finalize();
    let mut event = null_mut();
    let out = &raw mut event;
    refused!(ERROR_INVALID_NULL_HANDLE, CommandBufferExp.pfnUpdateSignalEventExp(null_mut(), out));
    refused!(ERROR_INVALID_NULL_HANDLE, CommandBufferExp.pfnUpdateWaitEventsExp(null_mut(), 0, null()));
    // The command was appended without an event, so it has none that could be replaced.
    refused!(
        ERROR_INVALID_OPERATION | ERROR_UNSUPPORTED_FEATURE,
        CommandBufferExp.pfnUpdateSignalEventExp(command, out)
    );
    refused!(
        ERROR_INVALID_EVENT_WAIT_LIST | ERROR_UNSUPPORTED_FEATURE,
        CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, null())
    );
    assert!(event.is_null());
}

/// Launches and changes from several threads at once: each launch stores one of the values that were set.
#[test]
fn a_buffer_may_be_changed_and_launched_by_several_threads() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"fill");
    let memory = fixture.memory(Kind::Device, 4);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&filling(&kernel, &memory, 1, 1), &[]);
    // A handle is an address, and is sent as one.
    let command = command.expose_provenance();
    buffer.finalize();
    std::thread::scope(|scope| {
        for thread in 0..3u32 {
            let (fixture, buffer, memory) = (&fixture, &buffer, &memory);
            scope.spawn(move || {
                let queue = fixture.in_order();
                for round in 0..40 {
                    let command: Command = core::ptr::with_exposed_provenance_mut(command);
                    buffer.update(&[Change::of(command).value(1, 100 * thread + round)]);
                    buffer.on(&queue);
                }
                queue.finish();
                assert!(memory.read::<u32>(&queue, 1)[0] < 300);
            });
        }
    });
}

#[test]
fn urCommandBufferUpdateKernelLaunchExp_refuses_lists_that_are_missing_and_flags_that_are_none() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let one = Buffer::new(&fixture, 40);
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[10]).buffer(&one, MemFlags::WRITE_ONLY).value(4u32).value(10u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    let plain = || ur_exp_command_buffer_update_kernel_launch_desc_t { hCommand: command, ..Default::default() };
    let b = buffer.handle();
    for change in [
        ur_exp_command_buffer_update_kernel_launch_desc_t { numNewMemObjArgs: 1, ..plain() },
        ur_exp_command_buffer_update_kernel_launch_desc_t { numNewPointerArgs: 1, ..plain() },
        ur_exp_command_buffer_update_kernel_launch_desc_t { numNewValueArgs: 1, ..plain() },
    ] {
        refused!(ERROR_INVALID_NULL_POINTER, CommandBufferExp.pfnUpdateKernelLaunchExp(b, 1, &raw const change));
    }
    let both = MemFlags::READ_ONLY | MemFlags::WRITE_ONLY;
    for (flags, code) in
        [(MemFlags::from_bits_retain(0x80), Code::ERROR_INVALID_ENUMERATION), (both, Code::ERROR_INVALID_VALUE)]
    {
        let properties = ur_kernel_arg_mem_obj_properties_t { memoryAccess: flags, ..Default::default() };
        let memory = ur_exp_command_buffer_update_memobj_arg_desc_t {
            pProperties: &raw const properties,
            hNewMemObjArg: one.handle(),
            ..Default::default()
        };
        let change = ur_exp_command_buffer_update_kernel_launch_desc_t {
            numNewMemObjArgs: 1,
            pNewMemObjArgList: &raw const memory,
            ..plain()
        };
        let answer = ur!(CommandBufferExp.pfnUpdateKernelLaunchExp(b, 1, &raw const change));
        expect_code(answer, &[code], "flags of a memory object");
    }
    run(&buffer, &queue);
    assert_eq!(one.read::<u32>(&queue), [4; 10]);
}

/// Each launch adds to the memory object that was set last, in one or the other.
#[test]
fn a_memory_object_may_be_changed_while_several_threads_launch() {
    const LAUNCHES: u32 = 40;
    let fixture = Fixture::over_all_devices();
    let kernel = fixture.basic(c"add_constant");
    let looking = fixture.in_order();
    let (one, two) = (Buffer::new(&fixture, 4), Buffer::new(&fixture, 4));
    one.write(&looking, &[0u32]);
    two.write(&looking, &[0u32]);
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[1]).buffer(&one, MemFlags::READ_WRITE).value(1u32).value(1u32);
    let (_, command) = buffer.command(&launch, &[]);
    // Handles are addresses, and are sent as such.
    let command = command.expose_provenance();
    let memories = [one.handle().expose_provenance(), two.handle().expose_provenance()];
    buffer.finalize();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (fixture, buffer) = (&fixture, &buffer);
            scope.spawn(move || {
                let queue = fixture.in_order();
                for round in 0..LAUNCHES {
                    let command: Command = core::ptr::with_exposed_provenance_mut(command);
                    let memory = core::ptr::with_exposed_provenance_mut(memories[(round % 2) as usize]);
                    buffer.update(&[Change::of(command).memory(0, memory)]);
                    buffer.on(&queue);
                }
                queue.finish();
            });
        }
    });
    assert_eq!(one.read::<u32>(&looking)[0] + two.read::<u32>(&looking)[0], 3 * LAUNCHES);
}

#[test]
fn a_launch_that_is_switched_off_by_a_change_is_switched_on_again_by_another() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 40);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&filling(&kernel, &memory, 1, 10), &[]);
    buffer.finalize();
    for round in 2..5u32 {
        buffer.update(&[Change::of(command).value(1, round).global(&[0])]);
        memory.write(&queue, &[0u32; 10]);
        run(&buffer, &queue);
        assert_eq!(memory.read::<u32>(&queue, 10), [0; 10]);
        buffer.update(&[Change::of(command).global(&[10])]);
        run(&buffer, &queue);
        assert_eq!(memory.read::<u32>(&queue, 10), [round; 10]);
    }
}

/// What the native library refuses leaves the launch with the memory that it had, which it brings to its device as before.
#[test]
fn a_memory_object_whose_change_the_native_library_refuses_is_brought_from_another_device_as_before() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let context = fixture.context();
    let [here, there] = [0, 1].map(|at| fixture.queue_in(context, fixture.devices[at], Default::default()));
    let (one, two) = (Buffer::new(&fixture, 40), Buffer::new(&fixture, 40));
    let (out, reader) = (fixture.memory(Kind::Device, 40), fixture.basic(c"copy"));
    let buffer = CommandBuffer::of(context, fixture.devices[0], description(true, false, false));
    let launch = Launch::new(&reader, &[10]).pointer(out.pointer()).buffer(&one, MemFlags::READ_ONLY).value(10u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    sim.fail("cuGraphExecKernelNodeSetParams_v2", 1, ur_conformance::sim::status::UNKNOWN);
    let change = [Change::of(command).memory(1, two.handle())];
    expect_code(buffer.change(&change), &[Code::ERROR_ADAPTER_SPECIFIC], "urCommandBufferUpdateKernelLaunchExp");
    for round in 2..5u32 {
        one.write(&there, &[round; 10]);
        run(&buffer, &here);
        assert_eq!(out.read::<u32>(&here, 10), [round; 10]);
    }
}

/// Launches bring what they read to their device, also what they read only since a change.
#[test]
fn a_memory_object_that_a_launch_is_changed_to_is_brought_from_another_device() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        return println!("skipped: needs two devices");
    }
    let context = fixture.context();
    let [here, there] = [0, 1].map(|at| fixture.queue_in(context, fixture.devices[at], Default::default()));
    let (one, two) = (Buffer::new(&fixture, 40), Buffer::new(&fixture, 40));
    let (out, reader) = (fixture.memory(Kind::Device, 40), fixture.basic(c"copy"));
    one.write(&here, &[1u32; 10]);
    let buffer = CommandBuffer::of(context, fixture.devices[0], description(true, false, false));
    let launch = Launch::new(&reader, &[10]).pointer(out.pointer()).buffer(&one, MemFlags::READ_ONLY).value(10u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    buffer.update(&[Change::of(command).memory(1, two.handle())]);
    for round in 2..5u32 {
        two.write(&there, &[round; 10]);
        run(&buffer, &here);
        assert_eq!(out.read::<u32>(&here, 10), [round; 10]);
    }
}

/// What one launch uses no more another one may use still.
#[test]
fn a_memory_object_that_one_of_two_launches_is_changed_from_is_brought_for_the_other() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        return println!("skipped: needs two devices");
    }
    let context = fixture.context();
    let [here, there] = [0, 1].map(|at| fixture.queue_in(context, fixture.devices[at], Default::default()));
    let (one, two) = (Buffer::new(&fixture, 40), Buffer::new(&fixture, 40));
    let (outs, reader) = ([0, 1].map(|_| fixture.memory(Kind::Device, 40)), fixture.basic(c"copy"));
    let buffer = CommandBuffer::of(context, fixture.devices[0], description(true, false, false));
    let [_, command] = outs.each_ref().map(|out| {
        let launch = Launch::new(&reader, &[10]).pointer(out.pointer());
        buffer.command(&launch.buffer(&one, MemFlags::READ_ONLY).value(10u32), &[]).1
    });
    buffer.finalize();
    buffer.update(&[Change::of(command).memory(1, two.handle())]);
    for round in 2..5u32 {
        one.write(&there, &[round; 10]);
        two.write(&there, &[round + 10; 10]);
        run(&buffer, &here);
        let found = outs.each_ref().map(|out| out.read::<u32>(&here, 10));
        assert_eq!(found, [vec![round; 10], vec![round + 10; 10]]);
    }
}
