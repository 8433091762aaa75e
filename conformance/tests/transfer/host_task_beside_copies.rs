//! Host tasks behind whose queue a copy to the heap, or a launch of a graph that has one, waits in the driver until they are over:
//! what a task's function frees, asks and makes meanwhile waits neither for the copy nor for who enqueues it. New native memory
//! would, by the driver's own lock (`docs/native-facts.md`), so the functions allocate none. Each test runs in a process that ends
//! itself if it hangs.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ur_conformance::ffi::{
    CBool, ur_context_handle_t, ur_device_handle_t, ur_event_handle_t, ur_queue_flags_t as Flags, ur_result_t as Code,
    ur_usm_alloc_info_t as Info, ur_usm_type_t,
};
use ur_conformance::memory::{Kind, allocate};
use ur_conformance::pool::Take;
use ur_conformance::{CommandBuffer, Event, Fixture, Graph, Queue, ask, child, expect_success, graph, ok, query, ur};

use crate::host_task_releases::{far, near, task};

const PATIENCE: Duration = Duration::from_secs(20);
/// So many times a thing is asked while another thread enqueues the copy: it is inside the driver long before the last.
const ROUNDS: usize = 2000;
const BYTES: usize = 4096;

fn plain(context: ur_context_handle_t, device: ur_device_handle_t, kind: Kind) -> *mut c_void {
    let mut pointer = null_mut();
    expect_success(allocate(kind, context, device, null(), BYTES, &raw mut pointer), "an allocation");
    pointer
}

fn type_of(context: ur_context_handle_t, pointer: *mut c_void) -> ur_usm_type_t {
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, Info::TYPE))))
}

/// A context from its beginning to its end.
fn live_and_die(device: ur_device_handle_t) {
    let mut context = null_mut();
    ok!(Context.pfnCreate(1, &raw const device, null(), &raw mut context));
    ok!(Context.pfnRelease(context));
}

/// What waits in the driver.
enum Waiting {
    Copy { to: *mut c_void, from: *const c_void },
    Commands(CommandBuffer),
    Graph(graph::ExecutableGraph),
}

// SAFETY: the addresses are of memory that outlives what is enqueued with them; objects of the API are any thread's.
unsafe impl Sync for Waiting {}

impl Waiting {
    fn copy(to: *mut c_void, from: *const c_void) -> Self {
        Self::Copy { to, from }
    }

    fn recorded(fixture: &Fixture, to: *mut c_void, from: *const c_void) -> Self {
        let commands = CommandBuffer::new(fixture);
        commands.copy(to, from, BYTES, &[]);
        commands.finalize();
        Self::Commands(commands)
    }

    fn captured(fixture: &Fixture, to: *mut c_void, from: *const c_void) -> Self {
        let queue = fixture.in_order();
        let copy = || expect_success(copy_on(&queue, to, from, &[]), "the captured copy");
        Self::Graph(Graph::captured(&queue, copy).instantiate())
    }

    fn enqueue(&self, queue: &Queue, after: &Event) {
        let enqueued = match self {
            Self::Copy { to, from } => copy_on(queue, *to, *from, &[after.handle()]),
            Self::Commands(commands) => commands.enqueue(queue, &[after], null_mut()),
            Self::Graph(graph) => graph.enqueue(queue, &[after.handle()], null_mut()),
        };
        expect_success(enqueued, "what waits in the driver");
    }
}

fn copy_on(queue: &Queue, to: *mut c_void, from: *const c_void, after: &[ur_event_handle_t]) -> Code {
    let (count, list) = ur_conformance::command_buffer::list(after);
    ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, BYTES, count, list, null_mut()))
}

/// Lets a task's function go on while another thread enqueues behind the task what waits in the driver; gives what the function answers.
fn let_go_beside<R>(
    fixture: &Fixture,
    queue: &Queue,
    waiting: &Waiting,
    event: &Event,
    known: *mut c_void,
    go: &Sender<()>,
    answers: &Receiver<R>,
) -> R {
    std::thread::scope(|scope| {
        let (begin, begun) = channel();
        let enqueueing = scope.spawn(move || {
            begin.send(()).expect("somebody waits for this");
            waiting.enqueue(queue, event);
        });
        begun.recv().expect("it begins");
        for _ in 0..ROUNDS {
            assert_eq!(type_of(fixture.context(), known), ur_usm_type_t::DEVICE);
        }
        go.send(()).expect("the task waits for this");
        let answer = answers.recv().expect("the function ends");
        enqueueing.join().expect("what waits");
        answer
    })
}

/// Has a host task free, ask and make while another thread enqueues behind it what waits in the driver until it is over.
fn check(flags: Flags, waiting: impl FnOnce(&Fixture, *mut c_void, *const c_void) -> Waiting) {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let queue = fixture.queue(flags);
    let (source, block) = (fixture.memory(Kind::Device, BYTES), Take::new(BYTES).on(&queue));
    let mut heap = vec![0u8; BYTES];
    let waiting = waiting(&fixture, heap.as_mut_ptr().cast(), source.pointer());
    queue.finish();
    let kinds = Kind::ALL.map(|kind| far(plain(fixture.context(), fixture.device(), kind)));
    let (context, device, block) = (far(fixture.context()), far(fixture.device()), far(block));
    let (go, may_go) = channel::<()>();
    let function = move || {
        let _ = may_go.recv_timeout(PATIENCE);
        let (context, device) = (near(context), near(device));
        let pointers = kinds.into_iter().chain([block]);
        let freed = pointers.map(|pointer| {
            let known = type_of(context, near(pointer)) != ur_usm_type_t::UNKNOWN;
            (known, ur!(USM.pfnFree(context, near(pointer))))
        });
        let freed: Vec<_> = freed.collect();
        live_and_die(device);
        freed
    };
    let Some((answers, event)) = task(&fixture, &queue, &[], function) else { return };
    let freed = let_go_beside(&fixture, &queue, &waiting, &event, source.pointer(), &go, &answers);
    assert!(freed.iter().all(|answer| *answer == (true, Code::SUCCESS)), "{flags:?}: {freed:?}");
    event.wait();
    queue.finish();
}

fn in_a_child(test: &str, check: impl FnOnce()) {
    // What debug mode fills is filled by the device, on streams that the driver makes for nobody meanwhile.
    child::in_time(test, &[("UR_USM_POOL_DEBUG", "0")], check);
}

const ORDERS: [Flags; 2] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];

#[test]
fn urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_copy_behind_it_that_waits_in_the_driver() {
    let test =
        "urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_copy_behind_it_that_waits_in_the_driver";
    in_a_child(test, || ORDERS.into_iter().for_each(|flags| check(flags, |_, to, from| Waiting::copy(to, from))));
}

#[test]
fn urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_command_buffer_behind_it_that_waits_in_the_driver()
{
    let test = "urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_command_buffer_behind_it_that_waits_in_the_driver";
    in_a_child(test, || ORDERS.into_iter().for_each(|flags| check(flags, Waiting::recorded)));
}

#[test]
fn urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_graph_behind_it_that_waits_in_the_driver() {
    let test =
        "urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_graph_behind_it_that_waits_in_the_driver";
    in_a_child(test, || {
        if graph::are_there(&Fixture::new()) {
            ORDERS.into_iter().for_each(|flags| check(flags, Waiting::captured));
        }
    });
}

/// Has a host task enqueue to another queue the very work that waits in the driver until the task is over.
fn check_launch_in_task(flags: Flags, waiting: impl FnOnce(&Fixture, *mut c_void, *const c_void) -> Waiting) {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let (queue, other) = (fixture.queue(flags), fixture.queue(flags));
    let source = fixture.memory(Kind::Device, BYTES);
    source.write(&queue, &[7u8; BYTES]);
    let mut heap = vec![0u8; BYTES];
    let waiting = waiting(&fixture, heap.as_mut_ptr().cast(), source.pointer());
    let (go, may_go) = channel::<()>();
    let launch = waiting.launch_on(&other);
    let function = move || {
        let _ = may_go.recv_timeout(PATIENCE);
        launch()
    };
    let Some((answers, event)) = task(&fixture, &queue, &[], function) else { return };
    let launched = let_go_beside(&fixture, &queue, &waiting, &event, source.pointer(), &go, &answers);
    assert_eq!(launched, Code::SUCCESS);
    event.wait();
    queue.finish();
    other.finish();
    assert!(heap.iter().all(|byte| *byte == 7));
}

impl Waiting {
    /// A launch on a queue, for the function of a host task.
    fn launch_on(&self, queue: &Queue) -> Box<dyn FnOnce() -> Code + Send> {
        let queue = far(queue.handle());
        match self {
            Self::Commands(commands) => {
                let commands = far(commands.handle());
                Box::new(move || {
                    ur!(EnqueueExp.pfnCommandBufferExp(near(queue), near(commands), 0, null(), null_mut()))
                })
            }
            Self::Graph(graph) => {
                let graph = far(graph.handle());
                Box::new(move || ur!(EnqueueExp.pfnGraphExp(near(queue), near(graph), 0, null(), null_mut())))
            }
            Self::Copy { .. } => unreachable!("no launch"),
        }
    }
}

#[test]
fn urEnqueueCommandBufferExp_in_a_host_task_does_not_wait_for_the_same_one_behind_it_that_waits_in_the_driver() {
    let test =
        "urEnqueueCommandBufferExp_in_a_host_task_does_not_wait_for_the_same_one_behind_it_that_waits_in_the_driver";
    in_a_child(test, || ORDERS.into_iter().for_each(|flags| check_launch_in_task(flags, Waiting::recorded)));
}

#[test]
fn urEnqueueGraphExp_in_a_host_task_does_not_wait_for_the_same_one_behind_it_that_waits_in_the_driver() {
    let test = "urEnqueueGraphExp_in_a_host_task_does_not_wait_for_the_same_one_behind_it_that_waits_in_the_driver";
    in_a_child(test, || {
        if graph::are_there(&Fixture::new()) {
            ORDERS.into_iter().for_each(|flags| check_launch_in_task(flags, Waiting::captured));
        }
    });
}
