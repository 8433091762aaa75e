//! Stream capture: what becomes a node, who joins, and what breaks a capture (`docs/probes/graphs.c`).

#[macro_use]
mod driver;
use core::ffi::{CStr, c_int, c_void};
use driver::graphs::*;
use driver::*;
use simcuda::sys::*;

const PTX: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .entry empty()
{
    ret;
}
";
const GLOBAL: c_int = 0;
const THREAD_LOCAL: c_int = 1;
const RELAXED: c_int = 2;
const SIZE: usize = 4096;

struct Setup {
    context: Handle,
    stream: Handle,
    other: Handle,
    blocking: Handle,
    event: Handle,
    second: Handle,
    memory: u64,
    module: Handle,
    empty: Handle,
    _session: Session,
}

impl Setup {
    fn new() -> Self {
        let session = Session::begin();
        let context = get!(cuCtxCreate_v2(0, 0));
        let [stream, other] = core::array::from_fn(|_| get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)));
        let module: Handle = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        Setup {
            context,
            stream,
            other,
            blocking: get!(cuStreamCreate(0)),
            event: get!(cuEventCreate(2)),
            second: get!(cuEventCreate(2)),
            memory: get!(cuMemAlloc_v2(SIZE)),
            module,
            empty: get!(cuModuleGetFunction(module, c"empty".as_ptr())),
            _session: session,
        }
    }

    fn begin(&self, mode: c_int) {
        ok!(cuStreamBeginCapture_v2(self.stream, mode));
    }

    fn launch(&self, stream: Handle) -> CUresult {
        let none = core::ptr::null();
        c!(cuLaunchKernel(self.empty, 1, 1, 1, 1, 1, 1, 0, stream, none, none))
    }

    /// Ends the capture and answers the shape of what was recorded.
    fn end(&self) -> (Vec<c_int>, Vec<(usize, usize)>) {
        let mut graph = 0;
        ok!(cuStreamEndCapture(self.stream, &mut graph));
        let shape = shape(graph);
        ok!(cuGraphDestroy(graph));
        shape
    }

    fn ends_broken(&self) {
        assert_eq!(status_of(self.stream), 2);
        let mut graph = 1;
        err!(901, cuStreamEndCapture(self.stream, &mut graph));
        assert_eq!((graph, status_of(self.stream)), (0, 0));
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        for stream in [self.stream, self.other, self.blocking] {
            c!(cuStreamEndCapture(stream, &mut 0));
            c!(cuStreamDestroy_v2(stream));
        }
        for event in [self.event, self.second] {
            c!(cuEventDestroy_v2(event));
        }
        c!(cuModuleUnload(self.module));
        c!(cuMemFree_v2(self.memory));
        c!(cuCtxDestroy_v2(self.context));
        assert!(!leaks().iter().any(|(kind, _)| kind == "graph"), "{:?}", leaks());
    }
}

unsafe extern "C" fn nothing(_: *mut c_void) {}
unsafe extern "C" fn back(_: Handle, _: CUresult, _: *mut c_void) {}

#[test]
fn what_a_stream_is_given_becomes_nodes_and_runs_when_launched() {
    let setup = Setup::new();
    ok!(cuMemsetD8_v2(setup.memory, 0, SIZE));
    ok!(cuStreamSynchronize(setup.stream));
    setup.begin(GLOBAL);
    assert_eq!(status_of(setup.stream), 1);
    assert_eq!(setup.launch(setup.stream), 0);
    ok!(cuMemsetD8Async(setup.memory, 7, 64, setup.stream));
    ok!(cuMemcpyDtoDAsync_v2(setup.memory + 64, setup.memory, 64, setup.stream));
    ok!(cuLaunchHostFunc(setup.stream, Some(nothing), core::ptr::null_mut()));
    let pointer = get!(cuMemAllocAsync(1000, setup.stream));
    ok!(cuMemFreeAsync(pointer, setup.stream));
    err!(1, cuMemFreeAsync(pointer, setup.stream));
    ok!(cuEventRecord(setup.event, setup.stream));
    ok!(cuEventRecordWithFlags(setup.second, setup.stream, 1));
    ok!(cuStreamWaitEvent(setup.stream, setup.second, 1));
    ok!(cuStreamWriteValue32_v2(setup.stream, setup.memory + 128, 3, 0));
    let mut graph = 0;
    ok!(cuStreamEndCapture(setup.stream, &mut graph));
    let chain = (0..8).map(|place| (place, place + 1)).collect();
    assert_eq!(shape(graph), (vec![0, 2, 1, 3, 10, 11, 7, 6, 12], chain));
    assert_eq!(bytes_of(setup.memory, 1), [0]);
    let exec: Handle = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, setup.other));
    ok!(cuStreamSynchronize(setup.other));
    assert_eq!(bytes_of(setup.memory + 64, 65)[63..], [7, 3]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

#[test]
fn streams_join_by_events_and_must_be_joined_back() {
    let setup = Setup::new();
    let fork = || {
        setup.begin(GLOBAL);
        assert_eq!(setup.launch(setup.stream), 0);
        ok!(cuEventRecord(setup.event, setup.stream));
        ok!(cuStreamWaitEvent(setup.other, setup.event, 0));
        assert_eq!(status_of(setup.other), 1);
    };
    fork();
    assert_eq!(setup.launch(setup.other), 0);
    ok!(cuEventRecord(setup.second, setup.other));
    assert_eq!(setup.launch(setup.stream), 0);
    ok!(cuStreamWaitEvent(setup.stream, setup.second, 0));
    assert_eq!(setup.launch(setup.stream), 0);
    assert_eq!(setup.end(), (vec![0; 4], vec![(0, 1), (0, 2), (1, 3), (2, 3)]));
    assert_eq!(status_of(setup.other), 0);
    fork();
    assert_eq!(setup.end().0, [0]);
    fork();
    assert_eq!(setup.launch(setup.other), 0);
    err!(904, cuStreamEndCapture(setup.stream, &mut 0));
    assert_eq!((status_of(setup.stream), status_of(setup.other)), (0, 0));
    err!(1, cuEventQuery(setup.event));
    fork();
    err!(903, cuStreamEndCapture(setup.other, &mut 0));
    assert_eq!(status_of(setup.other), 2);
    setup.ends_broken();
}

#[test]
fn captures_do_not_meet_and_do_not_wait_for_what_is_outside() {
    let setup = Setup::new();
    setup.begin(GLOBAL);
    ok!(cuEventRecord(setup.event, setup.stream));
    ok!(cuStreamBeginCapture_v2(setup.other, GLOBAL));
    err!(902, cuStreamWaitEvent(setup.other, setup.event, 0));
    err!(901, cuStreamEndCapture(setup.other, &mut 0));
    setup.ends_broken();
    ok!(cuEventRecord(setup.event, setup.other));
    setup.begin(GLOBAL);
    err!(905, cuStreamWaitEvent(setup.stream, setup.event, 0));
    assert_eq!(setup.launch(setup.stream), 901);
    setup.ends_broken();
    setup.begin(GLOBAL);
    ok!(cuEventRecord(setup.event, setup.stream));
    err!(906, cuStreamWaitEvent(0, setup.event, 0));
    setup.ends_broken();
    setup.begin(GLOBAL);
    ok!(cuEventRecord(setup.event, setup.stream));
    err!(907, cuEventQuery(setup.event));
    setup.ends_broken();
    err!(1, cuEventSynchronize(setup.event));
    err!(1, cuStreamWaitEvent(setup.other, setup.event, 0));
    ok!(cuEventRecord(setup.event, setup.other));
    ok!(cuEventSynchronize(setup.event));
}

/// A call that is refused in a capture of one mode, and breaks it.
fn refused(setup: &Setup, mode: c_int, call: impl FnOnce() -> CUresult) -> CUresult {
    setup.begin(mode);
    let answer = call();
    match answer {
        0 => drop(setup.end()),
        _ => setup.ends_broken(),
    }
    answer
}

#[test]
fn synchronising_with_a_capture_breaks_it_in_every_mode() {
    let setup = Setup::new();
    for mode in [GLOBAL, THREAD_LOCAL, RELAXED] {
        assert_eq!(refused(&setup, mode, || c!(cuStreamSynchronize(setup.stream))), 900);
        assert_eq!(refused(&setup, mode, || c!(cuStreamQuery(setup.stream))), 900);
        assert_eq!(refused(&setup, mode, || c!(cuCtxSynchronize())), 900);
        let call = || c!(cuStreamAddCallback(setup.stream, Some(back), core::ptr::null_mut(), 0));
        assert_eq!(refused(&setup, mode, call), 900);
    }
}

#[test]
fn unsafe_calls_are_refused_to_the_threads_that_the_mode_binds() {
    let setup = Setup::new();
    ok!(cuEventRecord(setup.event, setup.other));
    let here = |mode| refused(&setup, mode, || c!(cuMemFree_v2(0)));
    assert_eq!([here(GLOBAL), here(THREAD_LOCAL), here(RELAXED)], [900, 900, 0]);
    let there = |mode| {
        let call = || std::thread::spawn(|| c!(cuMemFree_v2(0))).join().expect("the thread answers");
        refused(&setup, mode, call)
    };
    assert_eq!([there(GLOBAL), there(THREAD_LOCAL), there(RELAXED)], [900, 0, 0]);
    assert_eq!(refused(&setup, GLOBAL, || c!(cuEventQuery(setup.event))), 900);
    assert_eq!(refused(&setup, GLOBAL, || c!(cuStreamSynchronize(setup.other))), 900);
    assert_eq!(refused(&setup, RELAXED, || c!(cuStreamSynchronize(setup.other))), 0);
    assert_eq!(refused(&setup, GLOBAL, || c!(cuMemAllocAsync(&mut 0, 64, setup.other))), 900);
    assert_eq!(refused(&setup, GLOBAL, || setup.launch(setup.other)), 0);
    let mut mode = RELAXED;
    ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!((mode, here(GLOBAL)), (GLOBAL, 0));
    ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!(mode, RELAXED);
}

#[test]
fn the_legacy_stream_does_not_wait_for_a_capture_on_a_blocking_stream() {
    let setup = Setup::new();
    let broken = |call: &dyn Fn() -> CUresult| {
        ok!(cuStreamBeginCapture_v2(setup.blocking, RELAXED));
        assert_eq!(call(), 906);
        err!(901, cuStreamEndCapture(setup.blocking, &mut 0));
    };
    broken(&|| setup.launch(0));
    broken(&|| c!(cuMemsetD8_v2(setup.memory, 0, 64)));
    broken(&|| c!(cuStreamSynchronize(0)));
    assert_eq!(refused(&setup, GLOBAL, || setup.launch(0)), 0);
    err!(900, cuStreamBeginCapture_v2(0, GLOBAL));
}

#[test]
fn a_capture_ends_on_its_own_thread_and_stream() {
    let setup = Setup::new();
    err!(401, cuStreamEndCapture(setup.stream, &mut 0));
    err!(1, cuStreamBeginCapture_v2(setup.stream, 3));
    let stream = setup.stream;
    let elsewhere = || std::thread::spawn(move || c!(cuStreamEndCapture(stream, &mut 0))).join().expect("it answers");
    for mode in [GLOBAL, THREAD_LOCAL] {
        setup.begin(mode);
        err!(401, cuStreamBeginCapture_v2(setup.stream, mode));
        assert_eq!(elsewhere(), 908);
        err!(401, cuStreamEndCapture(setup.stream, &mut 0));
    }
    setup.begin(GLOBAL);
    assert_eq!(setup.launch(setup.stream), 0);
    ok!(cuEventRecord(setup.event, setup.stream));
    let joined: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    ok!(cuStreamWaitEvent(joined, setup.event, 0));
    assert_eq!(setup.launch(joined), 0);
    ok!(cuStreamDestroy_v2(joined));
    assert_eq!(status_of(setup.stream), 1);
    err!(904, cuStreamEndCapture(setup.stream, &mut 0));
}

#[test]
fn what_cannot_be_recorded_breaks_a_capture_and_a_graph_in_it_stays() {
    let setup = Setup::new();
    let none = core::ptr::null();
    let bad = || c!(cuLaunchKernel(setup.empty, 0, 1, 1, 1, 1, 1, 0, setup.stream, none, none));
    assert_eq!(refused(&setup, RELAXED, bad), 1);
    let graph: Handle = get!(cuGraphCreate(0));
    let exec: Handle = get!(cuGraphInstantiateWithFlags(graph, 0));
    assert_eq!(refused(&setup, RELAXED, || c!(cuGraphLaunch(exec, setup.stream))), 900);
    assert_eq!(refused(&setup, RELAXED, || c!(cuGraphUpload(exec, setup.stream))), 900);
    assert_eq!(refused(&setup, RELAXED, || c!(cuGraphLaunch(exec, setup.other))), 0);
    assert_eq!(refused(&setup, GLOBAL, || c!(cuGraphInstantiateWithFlags(&mut 0, graph, 0))), 900);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    let managed = get!(cuMemAllocManaged(SIZE, 1));
    assert_eq!(refused(&setup, RELAXED, || c!(cuMemPrefetchAsync(managed, 64, 0, setup.stream))), 900);
    ok!(cuMemFree_v2(managed));
}

#[test]
fn a_capture_tells_its_graph_and_takes_other_dependencies() {
    let setup = Setup::new();
    // No capture has this id; one of another test can have any small one.
    let (mut status, mut id, mut graph, mut tail, mut count) = (9, u64::MAX, 9, core::ptr::null(), 9);
    let mut info = || {
        ok!(cuStreamGetCaptureInfo_v2(setup.stream, &mut status, &mut id, &mut graph, &mut tail, &mut count));
        (status, id, graph, tail, count)
    };
    assert_eq!(info(), (0, u64::MAX, 9, core::ptr::null(), 9));
    setup.begin(GLOBAL);
    assert_eq!(setup.launch(setup.stream), 0);
    let (status, id, graph, tail, count) = info();
    assert!(status == 1 && id != u64::MAX && count == 1);
    let join: Handle = get!(cuGraphAddEmptyNode(graph, tail, count));
    err!(1, cuStreamUpdateCaptureDependencies(setup.stream, &join, 1, 9));
    ok!(cuStreamUpdateCaptureDependencies(setup.stream, &join, 1, 1));
    assert_eq!(setup.launch(setup.stream), 0);
    err!(401, cuGraphDestroy(graph));
    assert_eq!(setup.end(), (vec![0, 5, 0], vec![(0, 1), (1, 2)]));
    err!(401, cuStreamUpdateCaptureDependencies(setup.stream, &join, 1, 1));
    let given: Handle = get!(cuGraphCreate(0));
    let root: Handle = get!(cuGraphAddEmptyNode(given, core::ptr::null(), 0));
    ok!(cuStreamBeginCaptureToGraph(setup.stream, given, &root, core::ptr::null(), 1, GLOBAL));
    err!(401, cuStreamBeginCaptureToGraph(setup.other, given, &root, core::ptr::null(), 1, GLOBAL));
    assert_eq!(setup.launch(setup.stream), 0);
    let mut back = 0;
    ok!(cuStreamEndCapture(setup.stream, &mut back));
    assert_eq!((back, shape(given)), (given, (vec![5, 0], vec![(0, 1)])));
    ok!(cuGraphDestroy(given));
}
