//! The model's own rules, without any implementation: what is ordered, what a gate holds up, and that every list of ops is a
//! legal program.

use proptest::test_runner::{Config, TestRng, TestRunner};
use ur_model::order::Order;
use ur_model::set::Set;
use ur_model::{Abilities, Model, Op, Profile, Sabotage, Step, program};

const ALL: Abilities = Abilities {
    devices: 2,
    pools: true,
    context_pools: true,
    host: true,
    shared: true,
    limits: true,
    zero: true,
    policies: true,
    buffers: true,
    device_pool: true,
    cross_copies: true,
};

const PROFILE: Profile =
    Profile { name: "all", queues: 4, devices: 2, out_of_order: 4, ops: 60, churn: 10, pools: 3, gates: 6 };

#[test]
fn an_in_order_queue_keeps_the_order_and_another_only_what_it_is_told() {
    let mut order = Order::default();
    let (first, second) = (order.add_queue(0, true), order.add_queue(0, false));
    let a = order.add(first, &[], false, false);
    let b = order.add(first, &[], false, false);
    assert!(order.through(b).has(a));
    let c = order.add(second, &[], false, false);
    let d = order.add(second, &[b], false, false);
    assert!(!order.through(d).has(c) && order.through(d).has(a));
    let all = order.add(second, &[], true, true);
    assert!(order.through(all).has(c) && order.through(all).has(a));
    let e = order.add(second, &[], false, false);
    assert!(order.through(e).has(all) && order.through(e).has(c), "a barrier holds up what follows");
    assert!(!order.known().has(c));
    order.learn(e);
    assert!(Set::of(a).is_within(&order.known()) && order.unknown_of(second).last().is_none());
}

#[test]
fn a_gate_holds_up_what_may_stand_behind_it_and_nothing_else() {
    let mut order = Order::default();
    let (first, second, third) = (order.add_queue(0, true), order.add_queue(0, false), order.add_queue(0, true));
    let before = order.add(first, &[], false, false);
    let gate = order.close(first, &[]);
    let behind = order.add(first, &[], false, false);
    let beside = order.add(second, &[before], false, false);
    let waits = order.add(second, &[gate], false, false);
    let later = order.add(second, &[], false, false);
    let free = order.add(third, &[beside], false, false);
    assert!(!order.may_be_delayed(before) && !order.may_be_delayed(beside) && !order.may_be_delayed(free));
    assert!(order.is_behind_gate(behind) && order.is_behind_gate(waits));
    assert!(order.may_be_delayed(later) && !order.is_behind_gate(later), "it may share a stream with `waits`");
    order.open();
    assert!(!order.may_be_delayed(later) && !order.is_behind_gate(behind));
}

/// Every use of a block among the steps, with whether it writes or frees.
fn uses(step: &Step) -> Vec<(usize, bool)> {
    match step {
        Step::Alloc { block, .. } | Step::Free { block, .. } | Step::Fill { block, .. } => vec![(*block, true)],
        Step::Copy { from, to, .. } => vec![(*from, false), (*to, true)],
        Step::Kernel { block, becomes, .. } => vec![(*block, becomes.is_some())],
        Step::Read { block, .. } => vec![(*block, false)],
        _ => Vec::new(),
    }
}

/// Follows the steps with an order of its own, made from their wait lists alone, and looks whether conflicting uses of a
/// block are ordered and nothing touches a block that is freed. Answers what is wrong.
fn illegal(steps: &[Step]) -> Option<String> {
    let mut order = Order::default();
    let mut events = std::collections::HashMap::new();
    let mut history: std::collections::HashMap<usize, Vec<(usize, bool)>> = std::collections::HashMap::new();
    let mut freed = std::collections::HashSet::new();
    for step in steps {
        let (queue, waits, event, everything, barrier) = match step {
            Step::NewQueue { device, in_order, .. } => {
                order.add_queue(*device, *in_order);
                continue;
            }
            Step::WaitHere { events: list, .. } => {
                list.iter().for_each(|event| order.learn(events[event]));
                continue;
            }
            Step::Poll { event, .. } => {
                order.learn(events[event]);
                continue;
            }
            Step::Finish { queue, .. } => {
                order.learn_queue(*queue);
                continue;
            }
            Step::HostFree { block } => {
                let known = order.known();
                if !history[block].iter().all(|(command, _)| known.has(*command)) || !freed.insert(*block) {
                    return Some(format!("{step}"));
                }
                continue;
            }
            Step::Alloc { queue, waits, event, .. }
            | Step::Free { queue, waits, event, .. }
            | Step::Fill { queue, waits, event, .. }
            | Step::Copy { queue, waits, event, .. }
            | Step::Kernel { queue, waits, event, .. }
            | Step::Close { queue, waits, event, .. } => (*queue, waits, *event, false, false),
            Step::Read { queue, waits, .. } => (*queue, waits, None, false, false),
            Step::Wait { queue, waits, event, barrier } => (*queue, waits, *event, waits.is_empty(), *barrier),
            _ => continue,
        };
        let commands: Vec<usize> = waits.iter().map(|event| events[event]).collect();
        let before = order.before_next(queue);
        let command = order.add(queue, &commands, everything, barrier);
        let after = order.through(command).or(&before);
        events.extend(event.map(|event| (event, command)));
        for (block, writes) in uses(step) {
            if freed.contains(&block) {
                return Some(format!("{step}, after its free"));
            }
            let earlier = history.entry(block).or_default();
            let conflicts = earlier.iter().filter(|(_, wrote)| writes || *wrote);
            if conflicts.clone().any(|(other, _)| !after.has(*other)) {
                return Some(format!("{step}, not ordered"));
            }
            earlier.push((command, writes));
        }
        if let Step::Free { block, .. } = step {
            freed.insert(*block);
        }
        if let Step::Read { .. } = step {
            order.learn(command);
        }
    }
    None
}

fn steps(queues: &[u8], ops: &[Op], sabotage: Option<Sabotage>) -> Vec<Step> {
    let (mut model, mut steps) = Model::begin(&PROFILE, &ALL, sabotage, queues);
    ops.iter().for_each(|op| steps.extend(model.plan(op)));
    steps.extend(model.end());
    steps
}

fn runner() -> TestRunner {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, rng)
}

#[test]
fn every_list_of_ops_is_a_legal_program() {
    let run = runner().run(&program(PROFILE), |(queues, ops)| {
        let steps = steps(&queues, &ops, None);
        if let Some(wrong) = illegal(&steps) {
            let text: Vec<String> = steps.iter().map(ToString::to_string).collect();
            return Err(proptest::test_runner::TestCaseError::fail(format!("{wrong} in\n{}", text.join("\n"))));
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn programs_that_are_sabotaged_are_not_legal() {
    for sabotage in [Sabotage::MissingWaits, Sabotage::UseAfterFree] {
        let run = runner().run(&program(PROFILE), |(queues, ops)| {
            let found = illegal(&steps(&queues, &ops, Some(sabotage)));
            found.map_or(Ok(()), |wrong| Err(proptest::test_runner::TestCaseError::fail(wrong)))
        });
        assert!(run.is_err(), "{sabotage:?} is not seen");
    }
}

#[test]
fn every_block_is_freed_and_every_pool_even_at_the_end() {
    let run = runner().run(&program(PROFILE), |(queues, ops)| {
        let steps = steps(&queues, &ops, None);
        let made = steps.iter().filter(|step| matches!(step, Step::Alloc { .. })).count();
        let gone = steps.iter().filter(|step| matches!(step, Step::Free { .. } | Step::HostFree { .. })).count();
        proptest::prop_assert_eq!(made, gone);
        let mut last = std::collections::HashMap::new();
        for step in &steps {
            match step {
                Step::Figures { pool, used, .. } => drop(last.insert(*pool, *used)),
                Step::DestroyPool { pool } => drop(last.remove(pool)),
                _ => {}
            }
        }
        proptest::prop_assert!(last.values().all(|used| *used == 0), "{:?}", last);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
