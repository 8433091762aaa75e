//! Launches that follow each other, whose native nodes an adapter may make many at a time: edges, arguments, order among commands of other
//! kinds, what the native library refuses, and what is current meanwhile. What is seen of it is the same as if each append
//! made its node.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use ur_conformance::below::Below;
use ur_conformance::command_buffer::SyncPoint;
use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::native_graph::{NativeGraph, Node, NodeKind};
use ur_conformance::sim::status;
use ur_conformance::{
    CommandBuffer, Fixture, Kernel, Kind, Launch, Memory, Queue, expect_success, has_function, needs_sim, ok, ur,
};

use crate::edges::{Plan, butterfly, chain, complete, diamonds};

/// More launches than are likely to be kept at once, and no multiple of a power of two.
const MANY: usize = 101;

/// What a graph's shape comes to, whatever its nodes are called: for each node a number that depends on all that comes before
/// and after it. Two graphs with the same numbers have the same edges but for symmetries.
fn shape(count: usize, edges: &[(usize, usize)]) -> Vec<u64> {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut colours = vec![1u64; count];
    for _ in 0..count.min(24) {
        let mut next: Vec<u64> = colours.iter().map(|colour| colour.wrapping_mul(PRIME)).collect();
        for &(from, to) in edges {
            // Sums, since edges have no order; each side is mixed in its own way.
            next[to] = next[to].wrapping_add((colours[from] ^ 0x55).wrapping_mul(PRIME).rotate_left(31));
            next[from] = next[from].wrapping_add((colours[to] ^ 0xaa).wrapping_mul(PRIME).rotate_left(17));
        }
        colours = next.iter().map(|colour| colour ^ (colour >> 29)).collect();
    }
    colours.sort_unstable();
    colours
}

fn shape_of(plan: &Plan) -> Vec<u64> {
    let edges: Vec<_> =
        plan.iter().enumerate().flat_map(|(node, after)| after.iter().map(move |&from| (from, node))).collect();
    shape(plan.len(), &edges)
}

fn native_shape(buffer: &CommandBuffer) -> Vec<u64> {
    let graph = NativeGraph::of(buffer);
    let nodes = graph.nodes();
    let number = |node: Node| nodes.iter().position(|known| *known == node).expect("an edge of the graph's nodes");
    let edges: Vec<_> = graph.edges().into_iter().map(|(from, to)| (number(from), number(to))).collect();
    shape(nodes.len(), &edges)
}

/// Commands that come after up to three others each, by a sequence that looks random.
fn tangle(count: usize) -> Plan {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    (0..count)
        .map(|node| {
            let mut after: Vec<usize> = (0..next() % 4).filter(|_| node > 0).map(|_| next() % node.max(1)).collect();
            after.sort_unstable();
            after.dedup();
            after
        })
        .collect()
}

/// A launch that writes a command's number into its word.
fn writes<'k>(fill: &'k Kernel, memory: &Memory<'_>, node: usize) -> Launch<'k> {
    Launch::new(fill, &[1]).pointer(memory.at(4 * node)).value(node as u32).value(1u32)
}

/// A launch that copies the word before a command's into the command's: the first writes 0.
fn hands_on<'k>(copy: &'k Kernel, memory: &Memory<'_>, node: usize) -> Launch<'k> {
    Launch::new(copy, &[1]).pointer(memory.at(4 * (node + 1))).pointer(memory.at(4 * node)).value(1u32)
}

/// Finalises and launches; every command must have written its number.
fn run_and_check(buffer: &CommandBuffer, queue: &Queue, memory: &Memory<'_>, count: usize, what: &str) {
    memory.write(queue, &vec![u32::MAX; count]);
    buffer.run(queue);
    assert_eq!(memory.read::<u32>(queue, count), (0..count as u32).collect::<Vec<_>>(), "{what}");
}

#[test]
fn launches_that_follow_each_other_have_exactly_the_edges_of_their_sync_points() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * 200);
    let shapes = [
        ("one", chain(1)),
        ("two", chain(2)),
        ("chain", chain(MANY)),
        ("apart", vec![Vec::new(); MANY]),
        ("diamonds", diamonds(40, 3)),
        ("butterfly", butterfly(16, 6)),
        ("complete", complete(45)),
        ("tangle", tangle(150)),
    ];
    for (name, plan) in shapes {
        let buffer = CommandBuffer::new(&fixture);
        let mut points: Vec<SyncPoint> = Vec::new();
        for (node, after) in plan.iter().enumerate() {
            let after: Vec<_> = after.iter().map(|&from| points[from]).collect();
            points.push(buffer.launch(&writes(&kernel, &memory, node), &after));
        }
        assert!(native_shape(&buffer) == shape_of(&plan), "{name}: edges");
        run_and_check(&buffer, &queue, &memory, plan.len(), name);
    }
}

#[test]
fn launches_of_an_in_order_buffer_are_a_chain_and_run_as_one() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"copy"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * (MANY + 1));
    let buffer = CommandBuffer::in_order(&fixture);
    for node in 0..MANY {
        buffer.launch(&hands_on(&kernel, &memory, node), &[]);
    }
    assert!(native_shape(&buffer) == shape_of(&chain(MANY)), "edges");
    memory.write(&queue, &[5u32]);
    buffer.run(&queue);
    assert_eq!(memory.read::<u32>(&queue, MANY + 1), [5; MANY + 1]);
}

/// Fills, copies and barriers come after launches before them, and launches after those.
#[test]
fn commands_of_other_kinds_among_launches_have_exactly_their_edges() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let plan = tangle(MANY);
    let memory = fixture.memory(Kind::Device, 4 * MANY);
    let numbers = fixture.memory(Kind::Host, 4 * MANY);
    (0..MANY).for_each(|node| numbers.store(node, node as u32));
    // Every length of a run of launches between two others.
    let mut kinds = (0..).flat_map(|run| core::iter::repeat_n(0, run).chain([run % 2 + 1]));
    let buffer = CommandBuffer::new(&fixture);
    let mut points: Vec<SyncPoint> = Vec::new();
    for (node, after) in plan.iter().enumerate() {
        let after: Vec<_> = after.iter().map(|&from| points[from]).collect();
        let to = memory.at(4 * node);
        points.push(match kinds.next() {
            Some(0) => buffer.launch(&writes(&kernel, &memory, node), &after),
            Some(1) => buffer.fill(to, &[node as u32], 4, &after),
            _ => buffer.copy(to, numbers.at(4 * node), 4, &after),
        });
    }
    assert!(native_shape(&buffer) == shape_of(&plan), "edges");
    run_and_check(&buffer, &queue, &memory, MANY, "results");
}

/// The values are the caller's again when the append has answered.
#[test]
fn values_of_all_sizes_are_those_of_the_append() {
    let fixture = Fixture::new();
    let (small, large, queue) = (fixture.basic(c"arguments"), fixture.basic(c"large_argument"), fixture.in_order());
    let (outs, large_outs) = (fixture.memory(Kind::Device, 72 * 8), fixture.memory(Kind::Device, 4096 * 8));
    let buffer = CommandBuffer::new(&fixture);
    let values = |round: u64| {
        let seed = 0x0123_4567_89ab_cdef_u64.wrapping_mul(2 * round + 1);
        let (one, two, four) = (seed as u8, (seed >> 3) as u16, (seed >> 7) as u32);
        (one, two, four, seed, [four, !four, four ^ 5], [seed.rotate_left(9), !seed])
    };
    let words = |round: u32| -> [u32; 1024] {
        core::array::from_fn(|index| (index as u32 + round).wrapping_mul(2_654_435_761))
    };
    for round in 0..8 {
        let (one, two, four, eight, twelve, sixteen) = values(round);
        let launch = Launch::new(&small, &[1]).pointer(outs.at(72 * round as usize)).value(one).value(two);
        buffer.launch(&launch.value(four).value(eight).value(twelve).value(sixteen), &[]);
        let to = large_outs.at(4096 * round as usize);
        buffer.launch(&Launch::new(&large, &[1024]).value(words(round as u32)).pointer(to), &[]);
    }
    buffer.run(&queue);
    let (found, found_large) = (outs.read::<u64>(&queue, 72), large_outs.read::<u32>(&queue, 8192));
    for (round, found) in (0..8).zip(found.chunks(9)) {
        let (one, two, four, eight, twelve, sixteen) = values(round);
        assert_eq!(found[..4], [u64::from(one), u64::from(two), u64::from(four), eight], "launch {round}");
        assert_eq!(found[4..7], twelve.map(u64::from), "launch {round}");
        assert_eq!(found[7..], sixteen, "launch {round}");
    }
    for (round, found) in (0..8).zip(found_large.chunks(1024)) {
        assert!(found == words(round), "4 KiB of launch {round}");
    }
}

/// What is asked for the current context before each node costs a third of an append.
#[test]
fn a_chain_of_launches_asks_for_the_current_context_a_few_times() {
    if Below::is_hip() {
        println!("skipped: what a runtime below the adapter asks for is its own matter");
        return;
    }
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"fill");
    let memory = fixture.memory(Kind::Device, 4 * MANY);
    let buffer = CommandBuffer::in_order(&fixture);
    let (_, calls) = sim.calls_of(|| {
        for node in 0..MANY {
            buffer.launch(&writes(&kernel, &memory, node), &[]);
        }
        buffer.native()
    });
    let of = |name: &str| calls.get(name).copied().unwrap_or(0);
    assert_eq!(of("cuGraphAddKernelNode_v2"), MANY as u64, "{calls:?}");
    assert!((1..=8).contains(&of("cuCtxGetCurrent")), "{calls:?}");
    assert_eq!(
        calls.values().sum::<u64>(),
        of("cuGraphAddKernelNode_v2") + of("cuCtxGetCurrent") + of("cuCtxSetCurrent")
    );
}

/// An append or the end of the recording is refused once, and what was appended is not lost: the same call then succeeds.
#[test]
fn a_node_that_the_library_refuses_is_told_once_and_made_by_the_next_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"copy"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * (MANY + 1));
    let current = Current::at(Place::LastDevice);
    let once_more = |what: &str, call: &dyn Fn() -> Code, refused: &mut u32| {
        let answer = current.after(what, call);
        if answer != Code::SUCCESS {
            *refused += 1;
            assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "{what}");
            expect_success(current.after(what, call), what);
        }
    };
    let record = |buffer: &CommandBuffer, refused: &mut u32| {
        let mut last = SyncPoint::MAX;
        for node in 0..MANY {
            let (launch, after, mut point) = (hands_on(&kernel, &memory, node), [last], SyncPoint::MAX);
            let (after, out) = (&after[..node.min(1)], &raw mut point);
            once_more("an append", &|| buffer.append(&launch, &[], after, out, null_mut()), refused);
            last = point;
        }
        once_more("the end", &|| ur!(CommandBufferExp.pfnFinalizeExp(buffer.handle())), refused);
    };
    let (_, calls) = sim.calls_of(|| record(&CommandBuffer::new(&fixture), &mut 0));
    // Who cannot put back what was current has nobody to tell, and tries again.
    let context = (!Below::is_hip()).then_some(("cuCtxSetCurrent", 0));
    for (name, least) in [("cuGraphAddKernelNode_v2", 1)].into_iter().chain(context) {
        let count = calls.get(name).copied().unwrap_or(0);
        assert!(count > 1, "{calls:?}");
        let mut all_refused = 0;
        for nth in 1..=count {
            let (buffer, mut refused) = (CommandBuffer::new(&fixture), 0);
            sim.fail(name, nth, status::UNKNOWN);
            record(&buffer, &mut refused);
            sim.clear_faults();
            assert!((least..=1).contains(&refused), "call {nth} of {name} failed, and {refused} calls said so");
            all_refused += refused;
            assert!(native_shape(&buffer) == shape_of(&chain(MANY)), "call {nth} of {name} failed: edges");
            memory.write(&queue, &[nth as u32]);
            buffer.on(&queue);
            assert_eq!(memory.read::<u32>(&queue, MANY + 1), [nth as u32; MANY + 1], "call {nth} of {name} failed");
        }
        assert!(all_refused > 1, "{name}: {all_refused} failures of {count} were heard of");
    }
    drop(current);
}

/// A command of another kind that is refused since a launch before it has no node leaves that launch appended.
#[test]
fn a_command_that_is_refused_for_a_launch_before_it_leaves_that_launch_alone() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 16);
    let buffer = CommandBuffer::in_order(&fixture);
    (0..3).for_each(|node| {
        let _ = buffer.launch(&writes(&kernel, &memory, node), &[]);
    });
    sim.fail("cuGraphAddKernelNode_v2", 1, status::UNKNOWN);
    let (b, to, word, mut native) = (buffer.handle(), memory.at(12), 3u32, 0);
    let fill = || {
        let (no, n, from) = (null(), null_mut(), (&raw const word).cast());
        ur!(CommandBufferExp.pfnAppendUSMFillExp(b, to, from, 4, 4, 0, no, 0, null(), n, null_mut(), null_mut()))
    };
    assert_eq!(fill(), Code::ERROR_ADAPTER_SPECIFIC);
    // Nothing is told by a question that fails.
    sim.fail("cuGraphAddKernelNode_v2", 1, status::UNKNOWN);
    let answer = ur!(CommandBufferExp.pfnGetNativeHandleExp(b, &raw mut native));
    assert_eq!((answer, native), (Code::ERROR_ADAPTER_SPECIFIC, 0));
    expect_success(fill(), "urCommandBufferAppendUSMFillExp");
    assert!(native_shape(&buffer) == shape_of(&chain(4)), "edges");
    run_and_check(&buffer, &queue, &memory, 4, "results");
}

#[test]
fn urCommandBufferGetNativeHandleExp_s_graph_has_each_launch_as_soon_as_it_is_appended() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"fill");
    let memory = fixture.memory(Kind::Device, 4 * 12);
    let buffer = CommandBuffer::new(&fixture);
    (0..6).for_each(|node| {
        let _ = buffer.launch(&writes(&kernel, &memory, node), &[]);
    });
    let graph = NativeGraph::of(&buffer);
    assert_eq!(graph.nodes().len(), 6);
    for node in 6..12 {
        buffer.launch(&writes(&kernel, &memory, node), &[]);
        assert_eq!(graph.nodes().len(), node + 1);
    }
}

extern "C" fn count(data: *mut c_void) {
    // SAFETY: a counter of the test's, which outlives the call.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

/// A buffer, and the counter that a function adds to its native graph.
struct Adding<'b> {
    buffer: &'b CommandBuffer,
    ran: AtomicU32,
}

extern "C" fn add_host(data: *mut c_void) {
    // SAFETY: the test's own, alive during the append, which calls this.
    let adding = unsafe { &*data.cast::<Adding<'_>>() };
    NativeGraph::of(adding.buffer).add_host(&[], count, (&raw const adding.ran).cast_mut().cast());
}

extern "C" fn add_nothing(_: *mut c_void) {}

fn append_native(
    buffer: &CommandBuffer,
    function: extern "C" fn(*mut c_void),
    data: *mut c_void,
    child: Option<&CommandBuffer>,
    after: &[SyncPoint],
) -> SyncPoint {
    let (b, c, mut point) = (buffer.handle(), child.map_or(null_mut(), CommandBuffer::handle), SyncPoint::MAX);
    let (count, list) = ur_conformance::command_buffer::list(after);
    ok!(CommandBufferExp.pfnAppendNativeCommandExp(b, Some(function), data, c, count, list, &raw mut point));
    point
}

/// A function's nodes are those that it adds, and not those of launches before it.
#[test]
fn a_native_command_behind_launches_is_only_what_its_function_adds() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4 * 4);
    let buffer = CommandBuffer::new(&fixture);
    let mut points = vec![buffer.launch(&writes(&kernel, &memory, 0), &[])];
    for node in 1..3 {
        points.push(buffer.launch(&writes(&kernel, &memory, node), &points[node - 1..]));
    }
    let adding = Adding { buffer: &buffer, ran: AtomicU32::new(0) };
    let data = core::ptr::from_ref(&adding).cast_mut().cast();
    let own = append_native(&buffer, add_host, data, None, &points[..1]);
    buffer.launch(&writes(&kernel, &memory, 3), &[own]);
    assert!(native_shape(&buffer) == shape_of(&vec![vec![], vec![0], vec![1], vec![0], vec![3]]), "edges");
    run_and_check(&buffer, &queue, &memory, 4, "results");
    assert_eq!(adding.ran.load(Ordering::SeqCst), 1);
}

#[test]
fn a_nested_buffer_has_the_launches_that_were_appended_to_it_last() {
    let fixture = Fixture::new();
    let (add, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    memory.write(&queue, &[0u32]);
    let adding = |value: u32| Launch::new(&add, &[1]).pointer(memory.pointer()).value(value).value(1u32);
    let outer = CommandBuffer::in_order(&fixture);
    (0..3).for_each(|_| {
        let _ = outer.launch(&adding(1), &[]);
    });
    {
        let inner = CommandBuffer::in_order(&fixture);
        for round in 1..3 {
            (0..5).for_each(|_| {
                let _ = inner.launch(&adding(10), &[]);
            });
            append_native(&outer, add_nothing, null_mut(), Some(&inner), &[]);
            (0..round).for_each(|_| {
                let _ = outer.launch(&adding(1000), &[]);
            });
        }
    }
    outer.run(&queue);
    assert_eq!(memory.read::<u32>(&queue, 1), [3 + 15 * 10 + 3 * 1000]);
    assert_eq!(NativeGraph::of(&outer).kinds().get(&NodeKind::Graph), Some(&2));
}

/// The kernel of a launch is needed when the node is made, and the buffer keeps it.
#[test]
fn kernels_of_launches_may_be_released_before_the_recording_ends() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4 * 7);
    for finalised in [true, false] {
        let buffer = CommandBuffer::new(&fixture);
        {
            let program = fixture.program("basic.ptx");
            let (one, other) = (fixture.kernel(&program, c"fill"), fixture.kernel(&program, c"fill"));
            for node in 0..7 {
                buffer.launch(&writes(if node % 2 == 0 { &one } else { &other }, &memory, node), &[]);
            }
        }
        if finalised {
            run_and_check(&buffer, &queue, &memory, 7, "results");
        }
    }
}

#[test]
fn threads_that_append_to_one_buffer_each_have_their_chain() {
    const THREADS: usize = 4;
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    if !has_function("urCommandBufferAppendKernelLaunchWithArgsExp") {
        println!("skipped: arguments are set on the kernel, which the threads share");
        return;
    }
    let memory = fixture.memory(Kind::Device, 4 * THREADS * MANY);
    let buffer = CommandBuffer::new(&fixture);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (buffer, kernel, memory) = (&buffer, &kernel, &memory);
            scope.spawn(move || {
                let mut after: Vec<SyncPoint> = Vec::new();
                for step in 0..MANY {
                    after = vec![buffer.launch(&writes(kernel, memory, thread * MANY + step), &after)];
                }
            });
        }
    });
    let plan: Plan = (0..THREADS * MANY).map(|node| if node % MANY == 0 { vec![] } else { vec![node - 1] }).collect();
    assert!(native_shape(&buffer) == shape_of(&plan), "edges");
    run_and_check(&buffer, &queue, &memory, THREADS * MANY, "results");
}
