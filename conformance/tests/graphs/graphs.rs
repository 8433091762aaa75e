//! Graph objects: `urGraph*`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicU32, Ordering};
use std::ffi::CString;
use std::sync::Mutex;

use ur_conformance::ffi::{ur_device_info_t, ur_queue_flags_t as Flags};
use ur_conformance::graph::{begin, end};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Graph, Launch, Queue, ask, child, needs_capture, needs_sim, ok, query, refused};

fn captured(fixture: &Fixture, queue: &Queue) -> Graph {
    let kernel = fixture.basic(c"empty");
    Graph::captured(queue, || Launch::new(&kernel, &[1]).on(queue))
}

#[test]
fn urGraphCreateExp_makes_an_empty_graph_that_can_be_launched() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let graph = Graph::empty(&fixture);
    assert!(graph.is_empty());
    graph.instantiate().event_on(&queue).wait();
    queue.finish();
}

#[test]
fn urGraphDestroyExp_leaves_what_was_instantiated_from_the_graph() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let (mut graph, mut executable) = (null_mut(), null_mut());
    ok!(GraphExp.pfnCreateExp(fixture.context(), &raw mut graph));
    ok!(GraphExp.pfnInstantiateGraphExp(graph, &raw mut executable));
    ok!(GraphExp.pfnDestroyExp(graph));
    ok!(EnqueueExp.pfnGraphExp(queue.handle(), executable, 0, null(), null_mut()));
    queue.finish();
    ok!(GraphExp.pfnExecutableGraphDestroyExp(executable));
}

#[test]
fn urGraphIsEmptyExp_tells_whether_anything_was_captured() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    assert!(Graph::captured(&queue, || ()).is_empty());
    assert!(!captured(&fixture, &queue).is_empty());
}

#[test]
fn urGraphGetIdExp_tells_graphs_apart() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (one, two) = (Graph::empty(&fixture), Graph::empty(&fixture));
    let id = |graph: &Graph| {
        let mut id = 0;
        ok!(GraphExp.pfnGetIdExp(graph.handle(), &raw mut id));
        id
    };
    assert_ne!(id(&one), id(&two));
    assert_eq!(id(&one), id(&one));
}

#[test]
fn urQueueGetGraphExp_tells_the_graph_that_the_end_of_the_capture_gives() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let mut during = null_mut();
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnGetGraphExp(queue.handle(), &raw mut during));
    begin(&queue);
    ok!(QueueExp.pfnGetGraphExp(queue.handle(), &raw mut during));
    // What is recorded cannot be looked at yet, nor go.
    let (mut executable, mut is_empty, mut native) = (null_mut(), Default::default(), 0);
    refused!(ERROR_INVALID_GRAPH, GraphExp.pfnInstantiateGraphExp(during, &raw mut executable));
    refused!(ERROR_INVALID_GRAPH, GraphExp.pfnIsEmptyExp(during, &raw mut is_empty));
    refused!(ERROR_INVALID_GRAPH, GraphExp.pfnGetNativeHandleExp(during, &raw mut native));
    refused!(ERROR_INVALID_GRAPH, GraphExp.pfnDumpContentsExp(during, c"/nowhere".as_ptr()));
    refused!(ERROR_INVALID_OPERATION, GraphExp.pfnDestroyExp(during));
    let graph = Graph::take(end(&queue));
    assert_eq!(graph.handle(), during);
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnGetGraphExp(queue.handle(), &raw mut during));
}

#[test]
fn urQueueBeginCaptureIntoGraphExp_refuses_a_graph_in_use_and_one_of_another_context() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let graph = Graph::empty(&fixture);
    ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnBeginCaptureIntoGraphExp(other.handle(), graph.handle()));
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    assert_eq!(end(&queue), graph.handle());
    let context = fixture.context_of(&fixture.devices[..1]);
    let elsewhere = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
    refused!(ERROR_INVALID_CONTEXT, QueueExp.pfnBeginCaptureIntoGraphExp(elsewhere.handle(), graph.handle()));
    let executable = graph.instantiate();
    let answer = executable.enqueue(&elsewhere, &[], null_mut());
    assert_eq!(answer, ur_conformance::ffi::ur_result_t::ERROR_INVALID_CONTEXT);
}

#[test]
fn a_capture_that_fails_leaves_the_graph_that_it_was_for_as_it_was() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let kernel = fixture.basic(c"empty");
    let graph = Graph::empty(&fixture);
    ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    Launch::new(&kernel, &[1]).on(&queue);
    end(&queue);
    ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    let root = Launch::new(&kernel, &[1]).event_on(&queue);
    Launch::new(&kernel, &[1]).after(&[&root]).on(&other);
    let mut out = null_mut();
    refused!(ERROR_GRAPH_UNJOINED_FORKS, QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut out));
    assert!(out.is_null() && !graph.is_empty());
    graph.instantiate().on(&queue);
    ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    assert_eq!(end(&queue), graph.handle());
    queue.finish();
}

#[test]
fn urQueueBeginCaptureIntoGraphExp_that_fails_natively_leaves_the_graph_to_another_capture() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    let (queue, graph) = (fixture.in_order(), Graph::empty(&fixture));
    sim.fail("cuStreamBeginCapture_v2", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
    assert_eq!(end(&queue), graph.handle());
}

/// What was called, with its data.
static CALLED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

extern "C" fn note(data: *mut c_void) {
    CALLED.lock().expect("no test panics with it").push(data.addr());
}

#[test]
fn urGraphSetDestructionCallbackExp_calls_each_function_once_when_the_graph_is_destroyed() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let graph = captured(&fixture, &queue);
    let called = || CALLED.lock().expect("no test panics with it").clone();
    for data in [3, 4] {
        let data = core::ptr::without_provenance_mut(data);
        ok!(GraphExp.pfnSetDestructionCallbackExp(graph.handle(), Some(note), data));
    }
    refused!(ERROR_INVALID_NULL_POINTER, GraphExp.pfnSetDestructionCallbackExp(graph.handle(), None, null_mut()));
    let executable = graph.instantiate();
    assert_eq!(called(), []);
    drop(graph);
    assert_eq!(called(), [3, 4]);
    executable.on(&queue);
    queue.finish();
    drop(executable);
    assert_eq!(called(), [3, 4]);
}

/// How often [`count_task`] was called.
static TASKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_task(_: *mut c_void) {
    TASKS.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn enqueue_task(queue: *mut c_void) {
    let (none, no_waits, no_event) = (null_mut(), null(), null_mut());
    ok!(EnqueueExp.pfnHostTaskExp(queue.cast(), Some(count_task), none, null(), 0, no_waits, no_event));
}

/// The graph's end is no native free to which host tasks have to give way.
#[test]
fn a_destruction_callback_may_enqueue_a_host_task() {
    child::in_time::<&str>("a_destruction_callback_may_enqueue_a_host_task", &[], || {
        let fixture = Fixture::new();
        needs_capture!(fixture);
        let there: u8 =
            query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::ENQUEUE_HOST_TASK_SUPPORT_EXP)));
        if there == 0 {
            println!("skipped: the device has no host tasks");
            return;
        }
        let queue = fixture.in_order();
        let graph = captured(&fixture, &queue);
        let data = queue.handle().cast();
        ok!(GraphExp.pfnSetDestructionCallbackExp(graph.handle(), Some(enqueue_task), data));
        drop(graph);
        queue.finish();
        assert_eq!(TASKS.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn urGraphDumpContentsExp_writes_a_description() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let graph = captured(&fixture, &queue);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.dot");
    let name = CString::new(path.to_str().expect("a path of text")).expect("a path without NUL");
    ok!(GraphExp.pfnDumpContentsExp(graph.handle(), name.as_ptr()));
    let text = std::fs::read_to_string(&path).expect("the file that was written");
    assert!(text.contains("digraph"), "{text}");
}

#[test]
fn native_handles_of_graphs_are_there_and_differ() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let graphs = [captured(&fixture, &queue), Graph::empty(&fixture)];
    let [one, two] = graphs.each_ref().map(|graph| {
        let executable = graph.instantiate();
        let (mut native, mut native_executable) = (0, 0);
        ok!(GraphExp.pfnGetNativeHandleExp(graph.handle(), &raw mut native));
        ok!(GraphExp.pfnExecutableGraphGetNativeHandleExp(executable.handle(), &raw mut native_executable));
        assert!(native != 0 && native_executable != 0 && native != native_executable);
        native
    });
    assert_ne!(one, two);
    // Whoever knows the native graph sees what is captured into it later.
    ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graphs[1].handle()));
    Launch::new(&fixture.basic(c"empty"), &[1]).on(&queue);
    end(&queue);
    let mut native = 0;
    ok!(GraphExp.pfnGetNativeHandleExp(graphs[1].handle(), &raw mut native));
    assert_eq!(native, two);
    assert!(!graphs[1].is_empty());
}

#[test]
fn null_handles_and_pointers_are_refused() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let graph = Graph::empty(&fixture);
    let executable = graph.instantiate();
    let (null, mut out, mut id) = (null_mut(), null_mut(), 0);
    refused!(ERROR_INVALID_NULL_HANDLE, GraphExp.pfnCreateExp(null_mut(), &raw mut out));
    refused!(ERROR_INVALID_NULL_POINTER, GraphExp.pfnCreateExp(fixture.context(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, QueueExp.pfnBeginGraphCaptureExp(null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), null));
    refused!(ERROR_INVALID_NULL_POINTER, QueueExp.pfnEndGraphCaptureExp(queue.handle(), null_mut()));
    refused!(ERROR_INVALID_NULL_POINTER, GraphExp.pfnInstantiateGraphExp(graph.handle(), null_mut()));
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        EnqueueExp.pfnGraphExp(queue.handle(), null_mut(), 0, core::ptr::null(), null_mut())
    );
    refused!(
        ERROR_INVALID_EVENT_WAIT_LIST,
        EnqueueExp.pfnGraphExp(queue.handle(), executable.handle(), 1, core::ptr::null(), null_mut())
    );
    refused!(ERROR_INVALID_NULL_HANDLE, GraphExp.pfnDestroyExp(null));
    refused!(ERROR_INVALID_NULL_HANDLE, GraphExp.pfnExecutableGraphDestroyExp(null_mut()));
    refused!(ERROR_INVALID_NULL_POINTER, QueueExp.pfnIsGraphCaptureEnabledExp(queue.handle(), null_mut()));
    refused!(ERROR_INVALID_NULL_POINTER, QueueExp.pfnGetGraphExp(queue.handle(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, GraphExp.pfnGetIdExp(null, &raw mut id));
    refused!(ERROR_INVALID_NULL_POINTER, GraphExp.pfnDumpContentsExp(graph.handle(), core::ptr::null()));
    refused!(ERROR_INVALID_GRAPH, GraphExp.pfnGetIdExp(queue.handle().cast(), &raw mut id));
    refused!(ERROR_INVALID_GRAPH, GraphExp.pfnGetIdExp(executable.handle().cast(), &raw mut id));
}
