//! The edges of the native graph: exactly the sync points that the caller named.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use std::collections::BTreeSet;

use ur_conformance::command_buffer::{SyncPoint, description};
use ur_conformance::native_graph::{NativeGraph, NodeKind, Watch};
use ur_conformance::{CommandBuffer, Fixture, Kind, Launch};

/// What each command comes after, by number.
pub type Plan = Vec<Vec<usize>>;

pub fn chain(length: usize) -> Plan {
    (0..length).map(|node| node.checked_sub(1).into_iter().collect()).collect()
}

/// One, `width` after it, and one after all of those; as often.
pub fn diamonds(width: usize, times: usize) -> Plan {
    let mut plan: Plan = vec![Vec::new()];
    for _ in 0..times {
        let top = plan.len() - 1;
        plan.extend((0..width).map(|_| vec![top]));
        plan.push((top + 1..=top + width).collect());
    }
    plan
}

/// Levels of `width` commands, a power of two, each after two of the level before.
pub fn butterfly(width: usize, levels: usize) -> Plan {
    let mut plan: Plan = vec![Vec::new(); width];
    for level in 1..levels {
        let (first, far) = ((level - 1) * width, 1 << ((level - 1) % width.ilog2() as usize));
        plan.extend((0..width).map(|node| vec![first + node, first + (node ^ far)]));
    }
    plan
}

/// Every command after each one before it.
pub fn complete(count: usize) -> Plan {
    (0..count).map(|node| (0..node).collect()).collect()
}

fn edges_of(plan: &Plan) -> BTreeSet<(usize, usize)> {
    plan.iter().enumerate().flat_map(|(node, after)| after.iter().map(move |&from| (from, node))).collect()
}

/// Appends a plan's commands, each a fill of one word.
fn record(
    plan: &Plan,
    memory: &ur_conformance::Memory<'_>,
    mut append: impl FnMut(&dyn Fn(&CommandBuffer) -> SyncPoint) -> SyncPoint,
) {
    let mut points: Vec<SyncPoint> = Vec::new();
    for (node, after) in plan.iter().enumerate() {
        let after: Vec<_> = after.iter().map(|&from| points[from]).collect();
        let to = memory.at(4 * (node % (memory.bytes() / 4)));
        points.push(append(&|buffer| buffer.fill(to, &[node as u32], 4, &after)));
    }
}

#[test]
fn edges_are_exactly_the_sync_points_that_were_named() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4 * 64);
    let shapes = [
        ("one", chain(1)),
        ("apart", vec![Vec::new(); 40]),
        ("chain", chain(50)),
        ("diamond", diamonds(2, 1)),
        ("wide diamond", diamonds(64, 1)),
        ("diamonds", diamonds(3, 10)),
        ("butterfly", butterfly(8, 6)),
        ("complete", complete(12)),
        ("two chains", (0..40).map(|node: usize| node.checked_sub(2).into_iter().collect()).collect()),
    ];
    for (name, plan) in shapes {
        let buffer = CommandBuffer::new(&fixture);
        let mut watch = Watch::new(&buffer);
        record(&plan, &memory, |append| watch.append(append));
        for node in 0..plan.len() {
            assert_eq!(watch.nodes_of(node), 1, "{name}: native nodes of command {node}");
        }
        assert_eq!(watch.edges(), edges_of(&plan), "{name}");
        buffer.run(&queue);
    }
}

/// More commands than earlier runtimes had room for between two barriers, and far more.
#[test]
fn a_butterfly_of_10240_commands_has_an_edge_for_each_sync_point_and_runs() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4 * 10240);
    let plan = butterfly(1024, 10);
    let buffer = CommandBuffer::new(&fixture);
    record(&plan, &memory, |append| append(&buffer));
    let graph = NativeGraph::of(&buffer);
    let (nodes, edges) = (graph.nodes(), graph.edges());
    assert_eq!((nodes.len(), edges.len()), (10240, 2 * 9 * 1024));
    let (mut before, mut after) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for (from, to) in &edges {
        *after.entry(*from).or_insert(0) += 1;
        *before.entry(*to).or_insert(0) += 1;
    }
    assert_eq!((before.len(), after.len()), (9 * 1024, 9 * 1024));
    assert!(before.values().chain(after.values()).all(|&count| count == 2));
    buffer.run(&queue);
    let expected: Vec<u32> = (0..10240).collect();
    assert!(memory.read::<u32>(&queue, 10240) == expected, "a command of the butterfly did not run");
}

#[test]
fn a_sync_point_that_is_named_twice_is_one_edge() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 8);
    let buffer = CommandBuffer::new(&fixture);
    let mut watch = Watch::new(&buffer);
    let (to, next) = (memory.pointer(), memory.at(4));
    let first = watch.append(|buffer| buffer.fill(to, &[1u32], 4, &[]));
    let other = watch.append(|buffer| buffer.fill(next, &[1u32], 4, &[]));
    watch.append(|buffer| buffer.copy(to, next, 4, &[first, other, first, first, other]));
    assert_eq!(watch.edges(), BTreeSet::from([(0, 2), (1, 2)]));
}

#[test]
fn commands_of_an_in_order_buffer_are_a_chain() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    let launch = Launch::new(&kernel, &[1]).local(&[1]).pointer(memory.pointer()).value(9u32).value(1u32);
    let buffer = CommandBuffer::in_order(&fixture);
    let mut watch = Watch::new(&buffer);
    let mut first = None;
    for number in 0..20 {
        // Sync points say nothing new where all commands are in order.
        let after: Vec<SyncPoint> = first.into_iter().filter(|_| number % 3 == 0).collect();
        let point = match number % 2 {
            0 => watch.append(|buffer| buffer.fill(memory.pointer(), &[number], 4, &after)),
            _ => watch.append(|buffer| buffer.launch(&launch, &after)),
        };
        first = first.or(Some(point));
    }
    assert_eq!(watch.edges(), (0..19).map(|node| (node, node + 1)).collect());
    buffer.run(&queue);
    assert_eq!(memory.read::<u32>(&queue, 1), [9]);
}

/// n commands before m others: each of the m names the n. Either every pair is an edge or one empty node stands for the
/// n x m, and nothing between.
#[test]
fn a_barrier_is_as_many_edges_as_named_or_one_empty_node() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 4 * 64);
    for (before, after) in [(1, 1), (1, 20), (20, 1), (2, 2), (20, 30)] {
        let mut plan: Plan = vec![Vec::new(); before];
        plan.extend((0..after).map(|_| (0..before).collect()));
        let buffer = CommandBuffer::new(&fixture);
        record(&plan, &memory, |append| append(&buffer));
        let graph = NativeGraph::of(&buffer);
        let (nodes, edges, kinds) = (graph.nodes().len(), graph.edges().len(), graph.kinds());
        let empty = kinds.get(&NodeKind::Empty).copied().unwrap_or(0);
        let direct = (nodes, edges, empty) == (before + after, before * after, 0);
        let through_one = (nodes, edges, empty) == (before + after + 1, before + after, 1);
        let several = before > 1 && after > 1;
        assert!(direct || (several && through_one), "{before} before {after}: {nodes} nodes, {edges} edges, {kinds:?}");
    }
}

/// A pattern of several native nodes is joined only where something comes after it.
#[test]
fn edges_between_commands_of_several_nodes_are_those_that_were_named() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 4096);
    for in_order in [false, true] {
        let buffer = CommandBuffer::with(&fixture, description(false, in_order, false));
        let mut watch = Watch::new(&buffer);
        let to = memory.pointer();
        let first = watch.append(|buffer| buffer.fill(to, &[1u8, 2, 3, 4, 5], 4000, &[]));
        let second = watch.append(|buffer| buffer.fill(to, &[1u8, 2, 3], 3999, &[first]));
        watch.append(|buffer| buffer.fill(to, &[1u8], 1, &[second]));
        assert_eq!(watch.edges(), BTreeSet::from([(0, 1), (1, 2)]), "in order: {in_order}");
    }
}

#[test]
fn a_failed_append_takes_no_edge_from_the_next() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 12);
    let kernel = fixture.basic(c"fill");
    let buffer = CommandBuffer::new(&fixture);
    let mut watch = Watch::new(&buffer);
    let first = watch.append(|buffer| buffer.fill(memory.pointer(), &[1u32], 4, &[]));
    let other = watch.append(|buffer| buffer.fill(memory.at(4), &[1u32], 4, &[]));
    let launch = |value: usize| Launch::new(&kernel, &[value]).pointer(memory.at(8)).value(1u32).value(1u32);
    let none = core::ptr::null_mut();
    for after in [&[first, other, first ^ 0x5555_5555][..], &[first, other]] {
        // A sync point that is none, and groups that do not divide.
        let answer = buffer.append(&launch(7).local(&[4]), &[], after, none, core::ptr::null_mut());
        assert_ne!(answer, ur_conformance::ffi::ur_result_t::SUCCESS);
    }
    watch.append(|buffer| buffer.launch(&launch(1), &[first, other]));
    assert_eq!(watch.edges(), BTreeSet::from([(0, 2), (1, 2)]));
}
