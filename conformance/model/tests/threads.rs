//! Programs of several threads, taken in random orders that respect what each step waits for: every program ends, and no
//! step uses what is not there.

use ur_model::state::{Abilities, Sabotage};
use ur_model::threads::{Random, Threaded, plan};
use ur_model::{Flavour, Step};

fn abilities() -> Abilities {
    Abilities { devices: 1, pools: true, host: true, shared: true, zero: true, ..Abilities::default() }
}

/// What a run of a program has made and not given back.
struct Things {
    queues: Vec<bool>,
    events: Vec<bool>,
    blocks: Vec<bool>,
    pools: Vec<bool>,
}

impl Things {
    fn take(&mut self, step: &Step) {
        for &event in Threaded::events_of(step) {
            assert!(self.events[event], "e{event} is not there for: {step}");
        }
        let (queue, used, event) = match step {
            Step::NewQueue { queue, .. } => {
                self.queues[*queue] = true;
                return;
            }
            Step::ReleaseQueue { queue } => {
                assert!(core::mem::take(&mut self.queues[*queue]), "{step}");
                return;
            }
            Step::Alloc { queue, block, pool, event, .. } => {
                assert!(pool.is_none_or(|pool| self.pools[pool]), "{step}");
                self.blocks[*block] = true;
                (Some(*queue), vec![], *event)
            }
            Step::Free { queue, block, event, .. } => {
                assert!(core::mem::take(&mut self.blocks[*block]), "{step}");
                (Some(*queue), vec![], *event)
            }
            Step::HostFree { block } => {
                assert!(core::mem::take(&mut self.blocks[*block]), "{step}");
                return;
            }
            Step::DestroyPool { pool } => {
                assert!(core::mem::take(&mut self.pools[*pool]), "{step}");
                return;
            }
            Step::Trim { pool, .. } => {
                assert!(self.pools[*pool], "{step}");
                return;
            }
            Step::Inspect { block, pool, .. } => {
                assert!(pool.is_none_or(|pool| self.pools[pool]), "{step}");
                (None, vec![*block], None)
            }
            Step::Fill { queue, block, event, .. } | Step::Kernel { queue, block, event, .. } => {
                (Some(*queue), vec![*block], *event)
            }
            Step::Copy { queue, from, to, event, .. } => (Some(*queue), vec![*from, *to], *event),
            Step::Read { queue, block, .. } => (Some(*queue), vec![*block], None),
            Step::Wait { queue, event, .. } => (Some(*queue), vec![], *event),
            Step::Finish { queue, .. } => (Some(*queue), vec![], None),
            _ => (None, vec![], None),
        };
        assert!(queue.is_none_or(|queue| self.queues[queue]), "{step}");
        assert!(used.iter().all(|&block| self.blocks[block]), "{step}");
        if let Some(event) = event {
            self.events[event] = true;
        }
    }
}

fn run(program: &Threaded, random: &mut Random) {
    let mut things = Things {
        queues: vec![false; program.queues],
        events: vec![false; program.uses.len()],
        blocks: vec![false; program.blocks],
        pools: vec![true; program.pools.len()],
    };
    program.shared.iter().for_each(|step| things.take(step));
    let mut taken = vec![0; program.threads.len()];
    loop {
        let may_go = |thread: &usize| {
            let next = program.threads[*thread].get(taken[*thread]);
            next.is_some_and(|step| step.after.iter().all(|&(other, steps)| taken[other] >= steps))
        };
        let able: Vec<usize> = (0..taken.len()).filter(may_go).collect();
        let Some(thread) = random.pick(&able) else { break };
        things.take(&program.threads[thread][taken[thread]].step);
        taken[thread] += 1;
    }
    let left = program.threads.iter().zip(&taken).any(|(steps, taken)| steps.len() > *taken);
    assert!(!left, "the threads wait for each other");
    assert!(things.blocks.iter().all(|live| !live), "blocks are left");
}

#[test]
fn every_program_ends_in_every_order_and_uses_only_what_is_there() {
    let mut random = Random::new(1);
    for seed in 0..2000 {
        let program = plan(seed, &abilities(), None);
        (0..3).for_each(|_| run(&program, &mut random));
    }
}

#[test]
fn a_seed_gives_one_program() {
    let text = |seed| format!("{:?}", plan(seed, &abilities(), None));
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

#[test]
fn the_programs_have_every_number_of_threads_both_kinds_of_queues_and_hand_blocks_over() {
    let (mut threads, mut kinds, mut shared, mut handed) = ([0usize; 9], [0usize; 2], 0, 0);
    let mut flavours = 0;
    for seed in 0..300 {
        let program = plan(seed, &abilities(), None);
        threads[program.threads.len()] += 1;
        shared += program.shared.len();
        handed += program.steps().filter(|step| !step.after.is_empty()).count();
        flavours += program.pools.iter().filter(|flavour| **flavour == Flavour::Zero).count();
        let steps = program.steps().map(|step| &step.step).chain(&program.shared);
        steps.for_each(|step| {
            if let Step::NewQueue { in_order, .. } = step {
                kinds[usize::from(*in_order)] += 1;
            }
        });
    }
    assert!(threads[1..].iter().all(|count| *count > 10), "{threads:?}");
    assert!(kinds.iter().all(|count| *count > 100) && shared > 100 && handed > 1000 && flavours > 50);
}

#[test]
fn a_program_without_its_waits_has_fewer_of_them() {
    let waits = |sabotage| -> usize {
        (0..50)
            .map(|seed| {
                let program = plan(seed, &abilities(), sabotage);
                program.steps().map(|step| Threaded::events_of(&step.step).len()).sum::<usize>()
            })
            .sum()
    };
    assert!(waits(Some(Sabotage::MissingWaits)) * 2 < waits(None));
}
