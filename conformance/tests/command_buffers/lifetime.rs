//! What a command buffer keeps alive, and what may go while it runs.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use ur_conformance::ffi::{ur_mem_flags_t as MemFlags, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::{Buffer, CommandBuffer, Fixture, Gate, Kind, Launch};

#[test]
fn a_buffer_that_is_released_while_it_runs_runs_to_its_end() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let memory = fixture.memory(Kind::Host, 4);
        memory.store(0, 0);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&other);
        let buffer = CommandBuffer::new(&fixture);
        buffer.fill(memory.pointer(), &[4u32], 4, &[]);
        buffer.finalize();
        let event = buffer.event_on(&queue, &[&blocked]);
        assert_eq!(buffer.release(), Code::SUCCESS);
        assert_eq!(memory.load(0), 0);
        gate.open();
        event.wait();
        assert_eq!(memory.load(0), 4, "{flags:?}");
        queue.finish();
        other.finish();
    }
}

#[test]
fn kernels_programs_and_buffers_of_recorded_commands_may_be_released() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let out = fixture.memory(Kind::Device, 64);
    let commands = CommandBuffer::updatable(&fixture);
    {
        let program = fixture.program("basic.ptx");
        let (fill, copy, other) =
            (fixture.kernel(&program, c"fill"), fixture.kernel(&program, c"copy"), fixture.kernel(&program, c"iota"));
        let (one, two) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 64));
        let launch = Launch::new(&fill, &[16]).buffer(&one, MemFlags::WRITE_ONLY).value(6u32).value(16u32);
        let (filled, _) = commands.command_of(&launch, &[&other], &[]);
        let copied = commands.copy_buffer(&one, &two, [0, 0], 64, &[filled]);
        let launch = Launch::new(&copy, &[16]).pointer(out.pointer()).buffer(&two, MemFlags::READ_ONLY).value(16u32);
        commands.launch(&launch, &[copied]);
    }
    commands.finalize();
    for _ in 0..2 {
        out.write(&queue, &[0u32; 16]);
        commands.on(&queue);
        assert_eq!(out.read::<u32>(&queue, 16), [6; 16]);
    }
}

#[test]
fn a_queue_that_launched_a_buffer_may_be_released_while_it_runs() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Host, 4);
    memory.store(0, 0);
    let mut gate = Gate::new(&fixture);
    let buffer = CommandBuffer::new(&fixture);
    buffer.fill(memory.pointer(), &[4u32], 4, &[]);
    buffer.finalize();
    let queue = fixture.in_order();
    gate.block(&queue);
    let event = buffer.event_on(&queue, &[]);
    drop(queue);
    gate.open();
    event.wait();
    assert_eq!(memory.load(0), 4);
}

/// The buffer keeps the context that it was made in.
#[test]
fn the_context_of_a_buffer_may_be_released_before_it() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&[fixture.device()]);
    let description = ur_conformance::command_buffer::description(false, false, false);
    let buffer = CommandBuffer::of(context.handle(), fixture.device(), description);
    let queue = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
    drop(context);
    let mut word = 0u32;
    let to = (&raw mut word).cast();
    let from = 5u32;
    buffer.copy(to, (&raw const from).cast(), 4, &[]);
    buffer.run(&queue);
    // SAFETY: the word of this function, which no launch writes now.
    assert_eq!(unsafe { (&raw const word).read_volatile() }, 5);
    drop(queue);
    drop(buffer);
}

#[test]
fn a_thousand_buffers_come_and_go_and_leave_nothing() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    for round in 0..1000u32 {
        let buffer = CommandBuffer::new(&fixture);
        let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(round).value(1u32);
        let first = buffer.launch(&launch, &[]);
        buffer.copy(memory.pointer(), memory.pointer(), 4, &[first]);
        if round % 3 != 0 {
            buffer.finalize();
            buffer.on(&queue);
        }
    }
    queue.finish();
    assert_eq!(memory.read::<u32>(&queue, 1), [998]);
}
