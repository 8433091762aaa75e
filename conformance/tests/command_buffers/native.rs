//! Nested command buffers, commands that a function adds to the native graph, and what an application adds to it itself.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use ur_conformance::command_buffer::{SyncPoint, list};
use ur_conformance::ffi::{ur_mem_flags_t as MemFlags, ur_result_t as Code};
use ur_conformance::native_graph::{NativeGraph, NodeKind};
use ur_conformance::sim::status;
use ur_conformance::{Buffer, Change, CommandBuffer, Fixture, Kind, Launch, expect_success, needs_sim, refused, ur};

extern "C" fn count(data: *mut c_void) {
    // SAFETY: a counter of the test's, which outlives the call.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

/// What a function is given: the buffer whose native graph it adds to, and what it comes after.
struct Adding<'b> {
    buffer: &'b CommandBuffer,
    calls: AtomicU32,
    ran: AtomicU32,
    adds: bool,
}

extern "C" fn add(data: *mut c_void) {
    // SAFETY: the test's own, alive during the append, which calls this.
    let adding = unsafe { &*data.cast::<Adding<'_>>() };
    adding.calls.fetch_add(1, Ordering::SeqCst);
    if adding.adds {
        let graph = NativeGraph::of(adding.buffer);
        let last = graph.nodes();
        graph.add_host(&last, count, (&raw const adding.ran).cast_mut().cast());
    }
}

fn append(
    buffer: &CommandBuffer,
    data: &Adding<'_>,
    child: Option<&CommandBuffer>,
    after: &[SyncPoint],
) -> (ur_conformance::ffi::ur_result_t, SyncPoint) {
    let (count, after) = list(after);
    let (b, c, mut point) = (buffer.handle(), child.map_or(null_mut(), CommandBuffer::handle), SyncPoint::MAX);
    let data = core::ptr::from_ref(data).cast_mut().cast();
    let answer = ur!(CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add), data, c, count, after, &raw mut point));
    (answer, point)
}

#[test]
fn urCommandBufferAppendNativeCommandExp_adds_what_the_function_adds_to_the_child_between_those_before_and_after() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Host, 8);
    (0..2).for_each(|word| memory.store(word, 0));
    let (buffer, child) = (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    let adding = Adding { buffer: &child, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: true };
    let before = buffer.fill(memory.pointer(), &[1u32], 4, &[]);
    let (answer, point) = append(&buffer, &adding, Some(&child), &[before]);
    expect_success(answer, "urCommandBufferAppendNativeCommandExp");
    assert_eq!(adding.calls.load(Ordering::SeqCst), 1, "the function is called once, by the append");
    buffer.copy(memory.at(4), memory.pointer(), 4, &[point]);
    assert_eq!(adding.ran.load(Ordering::SeqCst), 0);
    buffer.finalize();
    for launch in 1..4 {
        buffer.on(&queue);
        queue.finish();
        assert_eq!((adding.ran.load(Ordering::SeqCst), memory.load(1)), (launch, 1));
    }
}

#[test]
fn a_native_command_without_a_child_may_add_to_the_buffer_s_own_graph() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 8);
    let buffer = CommandBuffer::new(&fixture);
    let adding = Adding { buffer: &buffer, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: true };
    let before = buffer.fill(memory.pointer(), &[1u32], 4, &[]);
    let (answer, point) = append(&buffer, &adding, None, &[before]);
    expect_success(answer, "urCommandBufferAppendNativeCommandExp");
    buffer.fill(memory.at(4), &[2u32], 4, &[point]);
    buffer.run(&queue);
    assert_eq!((adding.calls.load(Ordering::SeqCst), adding.ran.load(Ordering::SeqCst)), (1, 1));
}

/// Adds a node that comes after nothing.
extern "C" fn add_alone(data: *mut c_void) {
    // SAFETY: as in `add`.
    let adding = unsafe { &*data.cast::<Adding<'_>>() };
    NativeGraph::of(adding.buffer).add_host(&[], count, (&raw const adding.ran).cast_mut().cast());
}

/// A launch would do what the function added, behind nothing; a second append would do it twice.
#[test]
fn a_native_command_that_fails_behind_its_function_leaves_nothing_that_can_be_launched() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let memory = fixture.memory(Kind::Device, 8);
    let buffer = CommandBuffer::new(&fixture);
    let before = buffer.fill(memory.pointer(), &[1u32], 4, &[]);
    let adding = Adding { buffer: &buffer, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: true };
    sim.fail("cuGraphAddDependencies", 1, status::OUT_OF_MEMORY);
    let (b, data, child, after) = (buffer.handle(), (&raw const adding).cast_mut().cast(), null_mut(), [before]);
    let (function, out) = (Some(add_alone as _), null_mut());
    refused!(
        ERROR_OUT_OF_RESOURCES | ERROR_OUT_OF_DEVICE_MEMORY | ERROR_OUT_OF_HOST_MEMORY,
        CommandBufferExp.pfnAppendNativeCommandExp(b, function, data, child, 1, after.as_ptr(), out)
    );
    sim.clear_faults();
    refused!(ERROR_INVALID_OPERATION, CommandBufferExp.pfnFinalizeExp(b));
}

/// A function that adds nothing is still a command that others come after.
#[test]
fn a_native_command_that_adds_nothing_keeps_the_order_of_those_around_it() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"spin"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    let buffer = CommandBuffer::new(&fixture);
    let adding = Adding { buffer: &buffer, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
    let spin = Launch::new(&kernel, &[1]).local(&[1]).pointer(memory.pointer()).value(20_000u32).value(1u32);
    let before = buffer.launch(&spin, &[]);
    let (answer, point) = append(&buffer, &adding, None, &[before]);
    expect_success(answer, "urCommandBufferAppendNativeCommandExp");
    buffer.fill(memory.pointer(), &[3u32], 4, &[point]);
    buffer.run(&queue);
    assert_eq!(memory.read::<u32>(&queue, 1), [3]);
}

#[test]
fn urCommandBufferAppendNativeCommandExp_refuses_bad_input_and_calls_nobody() {
    let fixture = Fixture::new();
    let (buffer, done) = (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    let adding = Adding { buffer: &buffer, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
    let data = (&raw const adding).cast_mut().cast();
    let (b, n, s, mut point) = (buffer.handle(), null_mut(), null(), SyncPoint::MAX);
    let out = &raw mut point;
    refused!(ERROR_INVALID_NULL_POINTER, CommandBufferExp.pfnAppendNativeCommandExp(b, None, data, n, 0, s, out));
    refused!(ERROR_INVALID_NULL_HANDLE, CommandBufferExp.pfnAppendNativeCommandExp(n, Some(add), data, n, 0, s, out));
    refused!(
        ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP,
        CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add), data, n, 1, s, out)
    );
    let wrong = [SyncPoint::MAX];
    refused!(
        ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
        CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add), data, n, 1, wrong.as_ptr(), out)
    );
    let strange = fixture.in_order();
    refused!(
        ERROR_INVALID_COMMAND_BUFFER_EXP,
        CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add), data, strange.handle().cast(), 0, s, out)
    );
    // A buffer inside of itself has no end.
    refused!(
        ERROR_INVALID_COMMAND_BUFFER_EXP | ERROR_INVALID_VALUE | ERROR_INVALID_OPERATION,
        CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add), data, b, 0, s, out)
    );
    done.finalize();
    refused!(
        ERROR_INVALID_OPERATION,
        CommandBufferExp.pfnAppendNativeCommandExp(done.handle(), Some(add), data, n, 0, s, out)
    );
    assert_eq!((adding.calls.load(Ordering::SeqCst), point), (0, SyncPoint::MAX));
}

/// A buffer that holds commands becomes one of the other's, and may go afterwards.
#[test]
fn a_nested_buffer_runs_as_one_command_and_may_be_released() {
    let fixture = Fixture::new();
    let (add_one, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    memory.write(&queue, &[0u32]);
    let adding = |value: u32| Launch::new(&add_one, &[1]).pointer(memory.pointer()).value(value).value(1u32);
    let outer = CommandBuffer::new(&fixture);
    let mut after = vec![outer.launch(&adding(1), &[])];
    for _ in 0..3 {
        let inner = CommandBuffer::in_order(&fixture);
        inner.launch(&adding(10), &[]);
        inner.launch(&adding(100), &[]);
        let nothing = Adding { buffer: &inner, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
        let (answer, point) = append(&outer, &nothing, Some(&inner), &after);
        expect_success(answer, "urCommandBufferAppendNativeCommandExp");
        after = vec![point];
    }
    assert_eq!(NativeGraph::of(&outer).kinds().get(&NodeKind::Graph), Some(&3));
    outer.launch(&adding(1000), &after);
    outer.finalize();
    for launch in 1..3 {
        outer.on(&queue);
        assert_eq!(memory.read::<u32>(&queue, 1), [launch * 1331]);
    }
}

#[test]
fn what_an_application_adds_to_the_native_graph_before_it_is_finalised_is_part_of_the_buffer() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4);
    let (buffer, ran) = (CommandBuffer::new(&fixture), AtomicU32::new(0));
    buffer.fill(memory.pointer(), &[1u32], 4, &[]);
    let graph = NativeGraph::of(&buffer);
    let nodes = graph.nodes();
    let joined = graph.add_empty(&nodes);
    graph.add_host(&[joined], count, (&raw const ran).cast_mut().cast());
    buffer.run(&queue);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

/// The nested buffer's kernels, programs and memory objects are needed as long as the outer one.
#[test]
fn what_a_nested_buffer_s_commands_need_stays_with_the_outer_one() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let out = fixture.memory(Kind::Device, 64);
    let outer = CommandBuffer::new(&fixture);
    {
        let inner = CommandBuffer::updatable(&fixture);
        let program = fixture.program("basic.ptx");
        let (fill, copy) = (fixture.kernel(&program, c"fill"), fixture.kernel(&program, c"copy"));
        let memory = Buffer::new(&fixture, 64);
        let launch = Launch::new(&fill, &[16]).buffer(&memory, MemFlags::WRITE_ONLY).value(6u32).value(16u32);
        let (filled, _) = inner.command(&launch, &[]);
        let launch = Launch::new(&copy, &[16]).pointer(out.pointer()).buffer(&memory, MemFlags::READ_ONLY);
        inner.launch(&launch.value(16u32), &[filled]);
        let nothing = Adding { buffer: &inner, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
        let (answer, _) = append(&outer, &nothing, Some(&inner), &[]);
        expect_success(answer, "urCommandBufferAppendNativeCommandExp");
    }
    outer.finalize();
    for _ in 0..2 {
        out.write(&queue, &[0u32; 16]);
        outer.on(&queue);
        assert_eq!(out.read::<u32>(&queue, 16), [6; 16]);
    }
}

/// The native graph says what a launch was before it was changed, and the outer buffer's copy is of that.
#[test]
fn a_change_of_a_nested_buffer_s_launch_leaves_the_outer_one_and_what_it_needs_alone() {
    let fixture = Fixture::new();
    let (queue, fill) = (fixture.in_order(), fixture.basic(c"fill"));
    let (outer, inner) = (CommandBuffer::new(&fixture), CommandBuffer::updatable(&fixture));
    let (one, two) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 64));
    let out = fixture.memory(Kind::Device, 64);
    let launch = Launch::new(&fill, &[16]).buffer(&one, MemFlags::WRITE_ONLY).value(6u32).value(16u32);
    let (_, command) = inner.command(&launch, &[]);
    let nothing = Adding { buffer: &inner, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
    let (answer, nested) = append(&outer, &nothing, Some(&inner), &[]);
    expect_success(answer, "urCommandBufferAppendNativeCommandExp");
    let copy = fixture.basic(c"copy");
    let launch = Launch::new(&copy, &[16]).pointer(out.pointer()).buffer(&one, MemFlags::READ_ONLY).value(16u32);
    outer.launch(&launch, &[nested]);
    outer.finalize();
    inner.finalize();
    let change = || Change::of(command).memory(0, two.handle()).value(1, 7u32);
    inner.update(&[change()]);
    inner.on(&queue);
    assert_eq!(two.read::<u32>(&queue), [7; 16]);
    drop((one, launch));
    for _ in 0..2 {
        out.write(&queue, &[0u32; 16]);
        outer.on(&queue);
        assert_eq!((out.read::<u32>(&queue, 16), two.read::<u32>(&queue)), (vec![6; 16], vec![7; 16]));
    }
    let (late, mut point) = (CommandBuffer::new(&fixture), SyncPoint::MAX);
    let data = (&raw const nothing).cast_mut().cast();
    let (b, c, none) = (late.handle(), inner.handle(), null());
    refused!(
        ERROR_UNSUPPORTED_FEATURE,
        CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add), data, c, 0, none, &raw mut point)
    );
    assert!(point == SyncPoint::MAX && NativeGraph::of(&late).nodes().is_empty());
}

#[test]
fn two_buffers_that_are_nested_in_each_other_are_both_given_back() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 8);
    let (one, two) = (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    one.fill(memory.pointer(), &[1u32], 4, &[]);
    two.fill(memory.at(4), &[2u32], 4, &[]);
    for (outer, inner) in [(&one, &two), (&two, &one)] {
        let nothing = Adding { buffer: inner, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
        let (answer, _) = append(outer, &nothing, Some(inner), &[]);
        // An adapter may refuse the second: what it took must all be given back with the two.
        let codes = [Code::SUCCESS, Code::ERROR_INVALID_VALUE, Code::ERROR_INVALID_OPERATION];
        ur_conformance::expect_code(answer, &codes, "urCommandBufferAppendNativeCommandExp");
    }
}

/// The parent's copy of the graph names the memory that the child was recorded with, whatever becomes of the child.
#[test]
fn a_nested_buffer_s_memory_is_kept_by_the_parent_and_never_missing() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"fill"));
    let (one, two) = (Buffer::new(&fixture, 8), Buffer::new(&fixture, 8));
    let before = Buffer::new(&fixture, 8);
    let child = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[2]).buffer(&one, MemFlags::READ_WRITE).value(1u32).value(2u32);
    let (_, command) = child.command(&launch, &[]);
    child.finalize();
    let adding = Adding { buffer: &child, calls: AtomicU32::new(0), ran: AtomicU32::new(0), adds: false };
    let parent = CommandBuffer::new(&fixture);
    let (answer, point) = append(&parent, &adding, Some(&child), &[]);
    expect_success(answer, "urCommandBufferAppendNativeCommandExp");
    parent.copy_buffer(&one, &before, [0, 0], 8, &[point]);
    child.update(&[Change::of(command).memory(0, two.handle())]);
    drop(one);
    parent.run(&queue);
    assert_eq!(before.read::<u32>(&queue), [1; 2]);
    // The recorded graph still names what was released.
    let late = CommandBuffer::new(&fixture);
    let (answer, _) = append(&late, &adding, Some(&child), &[]);
    ur_conformance::expect_code(answer, &[Code::ERROR_UNSUPPORTED_FEATURE], "a nested buffer whose memory was changed");
    child.on(&queue);
    assert_eq!(two.read::<u32>(&queue), [1; 2]);
}
