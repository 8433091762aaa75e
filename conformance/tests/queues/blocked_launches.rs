//! Launches of a command buffer or a captured graph while another thread's launch of the same one waits inside the driver, as one
//! does that copies to the heap: they wait for it, and whoever enqueues them does not.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::Command;
use ur_conformance::ffi::{CBool, ur_event_handle_t, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Change, CommandBuffer, Event, Fixture, Graph, Kernel, Kind, Launch, Memory, Queue, expect_success, graph, ok,
};

use crate::blocking::{ROUNDS, beside};

const BYTES: usize = 4096;
/// Queues that launch meanwhile, and how often each does.
const OTHERS: usize = 3;
/// More than an out-of-order queue has streams.
const MANY: usize = 16;
const ORDERS: [Flags; 3] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE];

/// What is launched: a kernel that counts, and a copy to the heap behind it.
enum Work {
    Commands(CommandBuffer, Option<Command>),
    Graph(graph::ExecutableGraph),
}

// SAFETY: a command's handle is any thread's.
unsafe impl Sync for Work {}

impl Work {
    fn recorded(commands: CommandBuffer, count: &Launch<'_>, to: *mut c_void, from: *const c_void) -> Self {
        let after = commands.launch(count, &[]);
        commands.copy(to, from, BYTES, &[after]);
        commands.finalize();
        Self::Commands(commands, None)
    }

    fn changeable(fixture: &Fixture, count: &Launch<'_>, to: *mut c_void, from: *const c_void) -> Self {
        let commands = CommandBuffer::updatable(fixture);
        let (after, command) = commands.command(count, &[]);
        commands.copy(to, from, BYTES, &[after]);
        commands.finalize();
        Self::Commands(commands, Some(command))
    }

    fn captured(fixture: &Fixture, count: &Launch<'_>, to: *mut c_void, from: *const c_void) -> Option<Self> {
        let queue = fixture.in_order();
        let work = || {
            count.on(&queue);
            ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, BYTES, 0, null(), null_mut()));
        };
        graph::are_there(fixture).then(|| Self::Graph(Graph::captured(&queue, work).instantiate()))
    }

    fn enqueue(&self, queue: &Queue, event: *mut ur_event_handle_t) -> Code {
        match self {
            Self::Commands(commands, _) => commands.enqueue(queue, &[], event),
            Self::Graph(graph) => graph.enqueue(queue, &[], event),
        }
    }

    fn on(&self, queue: &Queue) {
        expect_success(self.enqueue(queue, null_mut()), "a launch");
    }

    fn event_on(&self, queue: &Queue) -> Event {
        event_of(|event| self.enqueue(queue, event))
    }

    /// Has each launch from now on count by `step`, if that can be changed.
    fn count_by(&self, step: u32) {
        if let Self::Commands(commands, Some(command)) = self {
            commands.update(&[Change::of(*command).value(1, step)]);
        }
    }

    fn is_changeable(&self) -> bool {
        matches!(self, Self::Commands(_, Some(_)))
    }
}

/// A fixture's word that launches count, and the heap that they copy it to.
struct Counted<'f> {
    fixture: &'f Fixture,
    kernel: Kernel,
    counter: Memory<'f>,
    heap: Vec<u8>,
}

impl<'f> Counted<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let kernel = fixture.basic(c"add_constant");
        let counter = fixture.memory(Kind::Device, BYTES);
        counter.write(&fixture.in_order(), &[0u8; BYTES]);
        Self { fixture, kernel, counter, heap: vec![0; BYTES] }
    }

    /// Each kind of work, one after the other.
    fn each(&mut self, check: impl Fn(&Self, &Work)) {
        let (to, from) = (self.heap.as_mut_ptr().cast(), self.counter.pointer().cast_const());
        let (plain, changeable, captured) = {
            let count = Launch::new(&self.kernel, &[1]).pointer(self.counter.pointer()).value(1u32).value(1u32);
            let plain = Work::recorded(CommandBuffer::new(self.fixture), &count, to, from);
            let changeable = Work::changeable(self.fixture, &count, to, from);
            (plain, changeable, Work::captured(self.fixture, &count, to, from))
        };
        for work in [Some(plain), Some(changeable), captured].into_iter().flatten() {
            self.counter.write(&self.fixture.in_order(), &[0u8; BYTES]);
            check(self, &work);
        }
    }

    fn count(&self) -> u32 {
        self.counter.read::<u32>(&self.fixture.in_order(), 1)[0]
    }
}

/// Runs `meanwhile` while another thread's launch on the queue waits in the driver, behind a closed gate.
fn beside_a_launch(fixture: &Fixture, queue: &Queue, work: &Work, meanwhile: impl FnOnce()) {
    // Before the gate closes: what is made for the first time may wait for the launch.
    let idle = fixture.in_order();
    work.on(&idle);
    idle.finish();
    let launches = || fixture.sim().map(|sim| sim.calls_so_far("cuGraphLaunch"));
    let before = launches();
    let began = || {
        // On the GPU nobody counts, and so many questions take longer than the way into the driver.
        for _ in 0..ROUNDS {
            let mut native = Default::default();
            ok!(Queue.pfnGetNativeHandle(idle.handle(), null_mut(), &raw mut native));
        }
        while launches().is_some() && launches() == before {
            std::thread::yield_now();
        }
    };
    beside(
        fixture,
        queue,
        || work.on(queue),
        || {
            began();
            meanwhile();
        },
    );
}

#[test]
fn urEnqueueCommandBufferExp_and_urEnqueueGraphExp_do_not_wait_for_another_thread_s_launch_that_waits() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    Counted::new(&fixture).each(|counted, work| {
        for flags in ORDERS {
            let (queue, others) = (fixture.in_order(), [(); OTHERS].map(|()| fixture.queue(flags)));
            // A stream that is made, or used for the first time, may wait in the driver for other threads' copies.
            for other in &others {
                (0..MANY).for_each(|_| work.on(other));
                other.finish();
            }
            let before = counted.count();
            let mut events = Vec::new();
            beside_a_launch(&fixture, &queue, work, || {
                for other in &others {
                    (0..OTHERS).for_each(|_| events.push(work.event_on(other)));
                }
            });
            events.iter().for_each(Event::wait);
            others.iter().for_each(Queue::finish);
            assert_eq!(counted.count() - before, 2 + (OTHERS * OTHERS) as u32, "{flags:?}");
        }
    });
}

/// It runs behind what its queue was given before it, and before what comes after it.
#[test]
fn urEnqueueCommandBufferExp_behind_another_thread_s_launch_that_waits_has_its_place_on_its_queue() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let seen = fixture.memory(Kind::Device, 4);
    let copy = fixture.basic(c"copy");
    Counted::new(&fixture).each(|counted, work| {
        let (queue, other) = (fixture.in_order(), fixture.in_order());
        let add = Launch::new(&counted.kernel, &[1]).pointer(counted.counter.pointer()).value(1000u32).value(1u32);
        let look = Launch::new(&copy, &[1]).pointer(seen.pointer()).pointer(counted.counter.pointer()).value(1u32);
        beside_a_launch(&fixture, &queue, work, || {
            add.on(&other);
            other.finish();
            work.on(&other);
            look.on(&other);
        });
        other.finish();
        // One launch was before the gate closed. On the GPU the other thread's may come behind all of it.
        let seen = seen.read::<u32>(&other, 1)[0];
        assert!(seen == 1003 || (fixture.sim().is_none() && seen == 1002), "{seen}");
        assert_eq!(counted.count(), 1003);
    });
}

#[test]
fn urCommandBufferUpdateKernelLaunchExp_behind_a_launch_that_waits_for_another_one_is_not_for_it() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    Counted::new(&fixture).each(|counted, work| {
        if !work.is_changeable() {
            return;
        }
        let (queue, other) = (fixture.in_order(), fixture.in_order());
        beside_a_launch(&fixture, &queue, work, || {
            work.count_by(10);
            work.on(&other);
            work.count_by(100);
            work.on(&other);
            work.count_by(1000);
        });
        other.finish();
        // One launch was before the gate closed. On the GPU the other thread may have come behind any of the changes.
        let count = counted.count();
        assert!(count == 112 || (fixture.sim().is_none() && [121, 211, 1111].contains(&count)), "{count}");
        work.on(&queue);
        queue.finish();
        assert_eq!(counted.count(), count + 1000);
    });
}
