//! Another API and a queue take turns with the same memory, ordered by semaphores alone: the other API fills it and signals,
//! a kernel adds to it and signals, the other API reads what came out and fills it again.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{CBool, ur_queue_flags_t};
use ur_conformance::foreign::{Peer, SemaphoreKind, Step, Wanted};
use ur_conformance::owned::event_of;
use ur_conformance::{Event, Fixture, Launch, Queue, ok, ur};

use crate::import::{Semaphore, import, simulated, vulkan};

const WORDS: usize = 1024;

/// What the other API fills the memory with in a round.
fn word(round: usize) -> u32 {
    u32::try_from(round).expect("a round").wrapping_mul(0x9e37_79b1)
}

/// What the kernel adds in a round.
fn added(round: usize) -> u32 {
    u32::try_from(round).expect("a round") + 1
}

/// The semaphores of both ways, and the values of a round.
struct Turns<'f> {
    /// One for each way, or one timeline for both.
    semaphores: Vec<Semaphore<'f>>,
    kind: SemaphoreKind,
}

impl<'f> Turns<'f> {
    fn kinds(kind: SemaphoreKind) -> &'static [SemaphoreKind] {
        match kind {
            SemaphoreKind::Timeline => &[SemaphoreKind::Timeline],
            SemaphoreKind::Binary => &[SemaphoreKind::Binary; 2],
        }
    }

    fn new(fixture: &'f Fixture, peer: &dyn Peer, kind: SemaphoreKind) -> Self {
        let import = |index| Semaphore::new(fixture, kind, peer.semaphore(index));
        Self { semaphores: (0..Self::kinds(kind).len()).map(import).collect(), kind }
    }

    /// What the other API signals before the kernel of a round.
    fn before_kernel(&self, round: usize) -> (usize, u64) {
        (0, 2 * round as u64 + 1)
    }

    /// What the queue signals behind the kernel of a round.
    fn behind_kernel(&self, round: usize) -> (usize, u64) {
        (self.semaphores.len() - 1, 2 * round as u64 + 2)
    }

    fn value(&self, value: u64) -> (CBool, u64) {
        match self.kind {
            SemaphoreKind::Timeline => (CBool::TRUE, value),
            SemaphoreKind::Binary => (CBool::FALSE, 0),
        }
    }

    fn wait(&self, queue: &Queue, (index, value): (usize, u64)) -> Event {
        let (has, value) = self.value(value);
        let semaphore = self.semaphores[index].handle;
        event_of(|event| {
            ur!(BindlessImagesExp.pfnWaitExternalSemaphoreExp(queue.handle(), semaphore, has, value, 0, null(), event))
        })
    }

    fn signal(&self, queue: &Queue, (index, value): (usize, u64), after: &Event) {
        let (has, value) = self.value(value);
        let (semaphore, after) = (self.semaphores[index].handle, after.handle());
        ok!(BindlessImagesExp.pfnSignalExternalSemaphoreExp(
            queue.handle(),
            semaphore,
            has,
            value,
            1,
            &raw const after,
            null_mut()
        ));
    }
}

fn wanted(kind: SemaphoreKind, rounds: usize) -> Wanted<'static> {
    Wanted { bytes: WORDS * 4, semaphores: Turns::kinds(kind), reads: rounds }
}

fn take_turns(fixture: &Fixture, peer: &mut dyn Peer, kind: SemaphoreKind, flags: ur_queue_flags_t, rounds: usize) {
    let imported = import(fixture, peer);
    let memory = imported.map(0, WORDS as u64 * 4);
    let turns = Turns::new(fixture, peer, kind);
    let (queue, kernel) = (fixture.queue(flags), fixture.basic(c"add_constant"));
    peer.submit(Step { fill: Some(word(0)), signal: Some(turns.before_kernel(0)), ..Step::default() });
    for round in 0..rounds {
        let reached = turns.wait(&queue, turns.before_kernel(round));
        let launch = Launch::new(&kernel, &[WORDS]).pointer(memory.pointer).value(added(round));
        let computed = launch.value(u32::try_from(WORDS).expect("a count")).after(&[&reached]).event_on(&queue);
        turns.signal(&queue, turns.behind_kernel(round), &computed);
        let next = round + 1;
        let more = next < rounds;
        peer.submit(Step {
            wait: Some(turns.behind_kernel(round)),
            read: true,
            fill: more.then(|| word(next)),
            signal: more.then(|| turns.before_kernel(next)),
        });
    }
    let read = peer.finish();
    queue.finish();
    assert_eq!(read.len(), rounds);
    for (round, words) in read.iter().enumerate() {
        let right = word(round).wrapping_add(added(round));
        let wrong = words.iter().position(|word| *word != right);
        assert_eq!(wrong.map(|at| (at, words[at])), None, "round {round}: every word ought to be {right:#x}");
    }
}

const IN_ORDER: ur_queue_flags_t = ur_queue_flags_t::empty();
const OUT_OF_ORDER: ur_queue_flags_t = ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE;

/// The rounds on the simulated driver.
fn simulated_turns(kind: SemaphoreKind, flags: ur_queue_flags_t) {
    const ROUNDS: usize = 200;
    let fixture = Fixture::new();
    let Some(mut peer) = simulated(&fixture, wanted(kind, ROUNDS)) else {
        println!("skipped: needs the simulated driver; the tests of this file that are ignored do it with Vulkan");
        return;
    };
    take_turns(&fixture, &mut peer, kind, flags, ROUNDS);
}

fn vulkan_turns(kind: SemaphoreKind, flags: ur_queue_flags_t, rounds: usize) {
    let fixture = Fixture::new();
    let mut peer = vulkan(&fixture, wanted(kind, rounds));
    take_turns(&fixture, &mut peer, kind, flags, rounds);
}

#[test]
fn two_apis_take_turns_by_a_timeline() {
    simulated_turns(SemaphoreKind::Timeline, IN_ORDER);
}

#[test]
fn two_apis_take_turns_by_a_timeline_out_of_order() {
    simulated_turns(SemaphoreKind::Timeline, OUT_OF_ORDER);
}

#[test]
fn two_apis_take_turns_by_binary_semaphores() {
    simulated_turns(SemaphoreKind::Binary, IN_ORDER);
}

#[test]
#[ignore = "needs a GPU with Vulkan 1.2: run it with --ignored"]
fn vulkan_and_a_queue_take_10000_turns_by_a_timeline() {
    vulkan_turns(SemaphoreKind::Timeline, IN_ORDER, 10_000);
}

#[test]
#[ignore = "needs a GPU with Vulkan 1.2: run it with --ignored"]
fn vulkan_and_a_queue_take_turns_by_a_timeline_out_of_order() {
    vulkan_turns(SemaphoreKind::Timeline, OUT_OF_ORDER, 1000);
}

#[test]
#[ignore = "needs a GPU with Vulkan 1.2: run it with --ignored"]
fn vulkan_and_a_queue_take_turns_by_binary_semaphores() {
    vulkan_turns(SemaphoreKind::Binary, IN_ORDER, 1000);
}
