//! What a launch's commands wait for, and what they must not wait for.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use ur_conformance::command_buffer::{SyncPoint, description};
use ur_conformance::ffi::ur_queue_flags_t as Flags;
use ur_conformance::{CommandBuffer, Fixture, Gate, Kernel, Kind, Launch, Memory};

/// A launch that waits until a word of host memory is no longer 0 and tells what it saw there.
fn wait_for<'k>(kernel: &'k Kernel, memory: &Memory<'_>, word: usize, tell: usize) -> Launch<'k> {
    Launch::new(kernel, &[1]).local(&[1]).pointer(memory.at(4 * word)).value(0u32).pointer(memory.at(4 * tell))
}

/// Each of two launches waits for what the other one writes: only both at once can end.
#[test]
fn commands_without_an_edge_run_at_the_same_time() {
    let fixture = Fixture::new();
    let (wait, put, queue) = (fixture.basic(c"wait_for_change"), fixture.basic(c"fill"), fixture.in_order());
    let words = fixture.memory(Kind::Host, 4 * 4);
    (0..4).for_each(|word| words.store(word, 0));
    let buffer = CommandBuffer::new(&fixture);
    let set = |word: usize| Launch::new(&put, &[1]).local(&[1]).pointer(words.at(4 * word)).value(7u32).value(1u32);
    // Left writes 0, then waits for 1; right waits for 0, then writes 1.
    let left = buffer.launch(&set(0), &[]);
    buffer.launch(&wait_for(&wait, &words, 1, 2), &[left]);
    let right = buffer.launch(&wait_for(&wait, &words, 0, 3), &[]);
    buffer.launch(&set(1), &[right]);
    buffer.run(&queue);
    assert_eq!([words.load(2), words.load(3)], [7, 7]);
}

#[test]
fn a_command_runs_after_each_that_it_names_and_beside_all_others() {
    let fixture = Fixture::new();
    let (wait, queue) = (fixture.basic(c"wait_for_change"), fixture.in_order());
    let words = fixture.memory(Kind::Host, 4 * 8);
    (0..8).for_each(|word| words.store(word, 0));
    let late = fixture.memory(Kind::Device, 4);
    late.write(&queue, &[1u32]);
    let buffer = CommandBuffer::new(&fixture);
    let gated = buffer.launch(&wait_for(&wait, &words, 0, 1), &[]);
    let free = buffer.fill(words.at(8), &[5u32], 4, &[]);
    let behind_free = buffer.copy(words.at(12), words.at(8), 4, &[free]);
    buffer.fill(late.pointer(), &[2u32], 4, &[gated, behind_free]);
    buffer.finalize();
    let event = buffer.event_on(&queue, &[]);
    while words.load(3) == 0 {
        // What the gated launch must not hold up; a runtime that holds it up makes the keeper of the harness end the test.
        std::hint::spin_loop();
        std::thread::yield_now();
    }
    let look = fixture.in_order();
    assert_eq!(late.read::<u32>(&look, 1), [1], "it ran before what it names");
    words.store(0, 9);
    event.wait();
    assert_eq!(late.read::<u32>(&look, 1), [2]);
    assert_eq!(words.load(1), 9);
}

#[test]
fn commands_of_an_in_order_buffer_run_one_after_the_other() {
    let fixture = Fixture::new();
    let (wait, add) = (fixture.basic(c"wait_for_change"), fixture.basic(c"add_constant"));
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let words = fixture.memory(Kind::Host, 8);
        (0..2).for_each(|word| words.store(word, 0));
        let memory = fixture.memory(Kind::Device, 4);
        memory.write(&queue, &[0u32]);
        let buffer = CommandBuffer::in_order(&fixture);
        buffer.launch(&wait_for(&wait, &words, 0, 1), &[]);
        for step in 1..20u32 {
            buffer.launch(&Launch::new(&add, &[1]).pointer(memory.pointer()).value(step).value(1u32), &[]);
            buffer.copy(memory.pointer(), memory.pointer(), 0x4, &[]);
        }
        buffer.finalize();
        let event = buffer.event_on(&queue, &[]);
        let look = fixture.in_order();
        assert_eq!(memory.read::<u32>(&look, 1), [0], "{flags:?}: something ran before the first command had ended");
        words.store(0, 1);
        event.wait();
        assert_eq!(memory.read::<u32>(&look, 1), [190], "{flags:?}");
    }
}

/// Adds that depend on each other through memory: every missing edge shows in the sum.
#[test]
fn a_chain_of_300_dependent_launches_adds_up_at_every_launch() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    for in_order in [false, true] {
        memory.write(&queue, &[0u32]);
        let buffer = CommandBuffer::with(&fixture, description(false, in_order, false));
        let mut after: Vec<SyncPoint> = Vec::new();
        for step in 1..=300u32 {
            let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(step).value(1u32);
            let point = buffer.launch(&launch, &after);
            after = if in_order { Vec::new() } else { vec![point] };
        }
        buffer.finalize();
        for _ in 0..3 {
            buffer.on(&queue);
        }
        assert_eq!(memory.read::<u32>(&queue, 1), [3 * 45150], "in order: {in_order}");
    }
}

/// Two launches of one buffer never overlap, on whatever queues: the native library runs an executable graph once at a time.
#[test]
fn launches_of_one_buffer_on_one_in_order_queue_follow_each_other() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * 64);
    memory.write(&queue, &[0u32; 64]);
    let buffer = CommandBuffer::new(&fixture);
    for word in 0..64 {
        buffer.launch(&Launch::new(&kernel, &[1]).pointer(memory.at(4 * word)).value(1u32).value(1u32), &[]);
    }
    buffer.finalize();
    // The first launch loads the kernel, which waits for kernels that run: on an H200 for the gate.
    buffer.on(&queue);
    queue.finish();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for _ in 0..20 {
        buffer.on(&queue);
    }
    gate.open();
    assert_eq!(memory.read::<u32>(&queue, 64), [21; 64]);
}
