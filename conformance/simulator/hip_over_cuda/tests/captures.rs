//! Captures: work of streams that becomes a graph, and what a capture forbids.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use core::ptr::{null, null_mut};

use hip_on_cuda::sys::status::*;
use hip_on_cuda::sys::value::enumerator::*;
use hip_on_cuda::sys::value::enumerator7::*;
use hip_on_cuda::sys::value::flag7::hipEventRecordExternal;
use support::graphs::*;
use support::*;

/// Whether a stream records.
fn status(stream: usize) -> i32 {
    let mut status = -1;
    ok!(hipStreamIsCapturing(stream, &raw mut status));
    status
}

fn kinds(graph: usize) -> Vec<i32> {
    let (mut nodes, mut count) = ([0; 16], 16);
    ok!(hipGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count));
    nodes[..count].iter().map(|node| node_type(*node)).collect()
}

#[test]
fn work_of_a_stream_is_recorded_and_runs_when_the_graph_is_launched() {
    let _alone = alone();
    let (fixture, other): (_, usize) = (Fixture::new(), get!(hipMalloc(_, COUNT * 4)));
    let stream = fixture.stream;
    assert_eq!(status(stream), hipStreamCaptureStatusNone);
    ok!(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    assert_eq!(status(stream), hipStreamCaptureStatusActive);
    ok!(hipMemsetD32Async(fixture.memory, 7, COUNT, stream));
    ok!(hipMemcpyAsync(other, fixture.memory, COUNT * 4, hipMemcpyDeviceToDevice, stream));
    let (mut state, mut id, mut within, mut nodes, mut count) = (-1, 0, 0, null(), 0);
    let told = (&raw mut state, &raw mut id, &raw mut within, &raw mut nodes, &raw mut count);
    ok!(hipStreamGetCaptureInfo_v2(stream, told.0, told.1, told.2, told.3, told.4));
    assert_eq!((state, count), (hipStreamCaptureStatusActive, 1));
    assert!(id != 0 && within != 0);
    let graph = end(stream);
    assert_eq!(graph, within);
    assert_eq!(kinds(graph), [hipGraphNodeTypeMemset, hipGraphNodeTypeMemcpy]);
    assert_eq!(fixture.contents(), [0; COUNT], "recorded work ran");
    let exec: usize = get!(hipGraphInstantiateWithFlags(_, graph, 0));
    fixture.run(exec);
    let mut back = [0_u32; COUNT];
    ok!(hipMemcpyDtoH(into(&mut back), other, COUNT * 4));
    assert_eq!(back, [7; COUNT]);
    ok!(hipGraphExecDestroy(exec));
    ok!(hipGraphDestroy(graph));
    ok!(hipFree(other));
}

/// Ends a capture.
fn end(stream: usize) -> usize {
    let mut graph = 0;
    ok!(hipStreamEndCapture(stream, &raw mut graph));
    graph
}

#[test]
fn a_capture_spreads_to_a_stream_that_waits_for_its_event() {
    let _alone = alone();
    let (fixture, other) = (Fixture::new(), stream());
    let (fork, join): (usize, usize) = (get!(hipEventCreate(_)), get!(hipEventCreate(_)));
    ok!(hipStreamBeginCapture(fixture.stream, hipStreamCaptureModeRelaxed));
    ok!(hipEventRecord(fork, fixture.stream));
    ok!(hipStreamWaitEvent(other, fork, 0));
    assert_eq!(status(other), hipStreamCaptureStatusActive);
    ok!(hipMemsetD32Async(fixture.memory, 1, COUNT / 2, other));
    ok!(hipMemsetD32Async(fixture.memory + COUNT * 2, 2, COUNT / 2, fixture.stream));
    // Ended before it is joined, the capture is lost.
    let mut graph = 7;
    err!(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(fixture.stream, &raw mut graph));
    ok!(hipStreamBeginCapture(fixture.stream, hipStreamCaptureModeRelaxed));
    ok!(hipEventRecord(fork, fixture.stream));
    ok!(hipStreamWaitEvent(other, fork, 0));
    ok!(hipMemsetD32Async(fixture.memory, 1, COUNT / 2, other));
    ok!(hipMemsetD32Async(fixture.memory + COUNT * 2, 2, COUNT / 2, fixture.stream));
    ok!(hipEventRecord(join, other));
    ok!(hipStreamWaitEvent(fixture.stream, join, 0));
    err!(hipErrorStreamCaptureUnmatched, hipStreamEndCapture(other, &raw mut graph));
    err!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(fixture.stream, &raw mut graph));
    for stream in [fixture.stream, other] {
        assert_eq!(status(stream), hipStreamCaptureStatusNone);
    }
    ok!(hipEventDestroy(fork));
    ok!(hipEventDestroy(join));
    ok!(hipStreamDestroy(other));
}

#[test]
fn what_a_capture_forbids_invalidates_it() {
    let _alone = alone();
    let fixture = Fixture::new();
    let event: usize = get!(hipEventCreate(_));
    let mut graph = 7;
    ok!(hipStreamBeginCapture(fixture.stream, hipStreamCaptureModeGlobal));
    err!(hipErrorStreamCaptureUnsupported, hipStreamQuery(fixture.stream));
    assert_eq!(status(fixture.stream), hipStreamCaptureStatusInvalidated);
    err!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(fixture.stream, &raw mut graph));
    ok!(hipStreamBeginCapture(fixture.stream, hipStreamCaptureModeThreadLocal));
    ok!(hipEventRecord(event, fixture.stream));
    err!(hipErrorCapturedEvent, hipEventQuery(event));
    err!(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(fixture.stream, &raw mut graph));
    for stream in [0, 1] {
        err!(hipErrorStreamCaptureUnsupported, hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        err!(hipErrorIllegalState, hipStreamEndCapture(stream, &raw mut graph));
    }
    err!(hipErrorInvalidValue, hipStreamBeginCapture(fixture.stream, 3));
    err!(hipErrorIllegalState, hipStreamEndCapture(fixture.stream, &raw mut graph));
    ok!(hipEventDestroy(event));
}

#[test]
fn a_capture_goes_on_in_a_graph_after_the_nodes_that_are_named() {
    let _alone = alone();
    let fixture = Fixture::new();
    let (first, second) = (fixture.add_fill(&[], 1), fixture.add_fill(&[], 2));
    let mode = hipStreamCaptureModeRelaxed;
    ok!(hipStreamBeginCaptureToGraph(fixture.stream, fixture.graph, &raw const first, null(), 1, mode));
    let mut too = second;
    ok!(hipStreamUpdateCaptureDependencies(fixture.stream, &raw mut too, 1, hipStreamAddCaptureDependencies as u32));
    ok!(hipMemsetD32Async(fixture.memory, 3, COUNT, fixture.stream));
    assert_eq!(end(fixture.stream), fixture.graph);
    let (mut from, mut to, mut count) = ([0; 4], [0; 4], 4);
    ok!(hipGraphGetEdges(fixture.graph, from.as_mut_ptr(), to.as_mut_ptr(), &raw mut count));
    let mut before = from[..count].to_vec();
    before.sort_unstable();
    let mut expected = vec![first, second];
    expected.sort_unstable();
    assert_eq!((before, to[0] == to[1]), (expected, true));
    let begin = |after: *const usize, edges: *const core::ffi::c_void, count| {
        hipStreamBeginCaptureToGraph(fixture.stream, fixture.graph, after, edges, count, mode)
    };
    assert_eq!(begin(&raw const first, null(), 0), hipErrorInvalidValue.0);
    assert_eq!(begin(null(), null(), 1), hipErrorInvalidValue.0);
    assert_eq!(begin(&raw const first, (&raw const first).cast(), 1), hipErrorNotSupported.0);
    err!(hipErrorInvalidValue, hipStreamUpdateCaptureDependencies(fixture.stream, null_mut(), 0, 2));
}

#[test]
fn an_external_record_is_a_node_and_a_thread_exchanges_its_mode() {
    let _alone = alone();
    let fixture = Fixture::new();
    let event: usize = get!(hipEventCreate(_));
    ok!(hipStreamBeginCapture(fixture.stream, hipStreamCaptureModeThreadLocal));
    ok!(hipEventRecordWithFlags(event, fixture.stream, hipEventRecordExternal));
    let graph = end(fixture.stream);
    assert_eq!(kinds(graph), [hipGraphNodeTypeEventRecord]);
    ok!(hipGraphDestroy(graph));
    err!(hipErrorInvalidValue, hipEventRecordWithFlags(event, fixture.stream, 2));
    let mut mode = hipStreamCaptureModeRelaxed;
    ok!(hipThreadExchangeStreamCaptureMode(&raw mut mode));
    assert_eq!(mode, hipStreamCaptureModeGlobal);
    ok!(hipThreadExchangeStreamCaptureMode(&raw mut mode));
    assert_eq!(mode, hipStreamCaptureModeRelaxed);
    let mut none = 3;
    err!(hipErrorInvalidValue, hipThreadExchangeStreamCaptureMode(&raw mut none));
    ok!(hipEventDestroy(event));
}
