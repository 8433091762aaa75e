//! Graphs: nodes of every kind, and their launches.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::{AtomicU32, Ordering};

use hip_on_cuda::sys::graph::*;
use hip_on_cuda::sys::status::*;
use hip_on_cuda::sys::value::enumerator::*;
use hip_on_cuda::sys::value::enumerator7::*;
use support::graphs::*;
use support::*;

#[test]
fn a_graph_of_a_fill_a_copy_and_a_kernel_runs_in_the_order_of_its_edges() {
    let _alone = alone();
    let (function, module) = saxpy();
    let y: usize = get!(hipMalloc(_, COUNT * 4));
    let fixture = Fixture::new();
    let fill = fixture.add_fill(&[], 2.0_f32.to_bits());
    let kind = hipMemcpyDefault;
    let copy = get!(hipGraphAddMemcpyNode1D(_, fixture.graph, &raw const fill, 1, y, fixture.memory, COUNT * 4, kind));
    let mut arguments = Arguments { factor: 3.0, x: fixture.memory, y, count: COUNT as u32 };
    let mut list = arguments.list();
    let params = launch(function, &mut list);
    let kernel = get!(hipGraphAddKernelNode(_, fixture.graph, &raw const copy, 1, &raw const params));
    // The values were taken when the node was added.
    arguments.factor = 0.0;
    assert_eq!(arguments.list(), list);
    let kinds = [fill, copy, kernel].map(node_type);
    assert_eq!(kinds, [hipGraphNodeTypeMemset, hipGraphNodeTypeMemcpy, hipGraphNodeTypeKernel]);
    let exec = fixture.instantiate();
    fixture.run(exec);
    let mut back = [0.0_f32; COUNT];
    ok!(hipMemcpyDtoH(into(&mut back), y, COUNT * 4));
    assert_eq!(back, [8.0; COUNT], "3 * 2 + 2");
    ok!(hipGraphExecDestroy(exec));
    ok!(hipFree(y));
    ok!(hipModuleUnload(module));
}

unsafe extern "C" fn count_calls(data: *mut c_void) {
    // SAFETY: the test passes a counter that outlives the launch.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn host_nodes_and_child_graphs_run_at_each_launch() {
    let _alone = alone();
    let calls = AtomicU32::new(0);
    let fixture = Fixture::new();
    let child: usize = get!(hipGraphCreate(_, 0));
    let host = hipHostNodeParams { r#fn: Some(count_calls), userData: core::ptr::from_ref(&calls).cast_mut().cast() };
    let _: usize = get!(hipGraphAddHostNode(_, child, null(), 0, &raw const host));
    let first = get!(hipGraphAddChildGraphNode(_, fixture.graph, null(), 0, child));
    let second = get!(hipGraphAddEmptyNode(_, fixture.graph, &raw const first, 1));
    let _: usize = get!(hipGraphAddChildGraphNode(_, fixture.graph, &raw const second, 1, child));
    // The nodes hold copies.
    ok!(hipGraphDestroy(child));
    let exec = fixture.instantiate();
    for launches in 1..=2 {
        fixture.run(exec);
        assert_eq!(calls.load(Ordering::SeqCst), 2 * launches);
    }
    ok!(hipGraphExecDestroy(exec));
    let nothing = hipHostNodeParams { r#fn: None, ..host };
    let mut out = 0;
    err!(hipErrorInvalidValue, hipGraphAddHostNode(&raw mut out, fixture.graph, null(), 0, &raw const nothing));
}

#[test]
fn rows_are_copied_between_pitches_with_host_memory_that_the_driver_does_not_know() {
    let _alone = alone();
    let fixture = Fixture::new();
    let rows: Vec<u8> = (0..12).collect();
    let zero = hipPos { x: 0, y: 0, z: 0 };
    let copy = hipMemcpy3DParms {
        srcArray: 0,
        srcPos: hipPos { x: 1, ..zero },
        srcPtr: hipPitchedPtr { ptr: at(rows.as_slice()), pitch: 4, xsize: 4, ysize: 3 },
        dstArray: 0,
        dstPos: zero,
        dstPtr: hipPitchedPtr { ptr: fixture.memory, pitch: 16, xsize: 16, ysize: 3 },
        extent: hipExtent { width: 2, height: 3, depth: 1 },
        kind: hipMemcpyDefault,
    };
    let _: usize = get!(hipGraphAddMemcpyNode(_, fixture.graph, null(), 0, &raw const copy));
    let exec = fixture.instantiate();
    fixture.run(exec);
    let mut back = [0_u8; 48];
    ok!(hipMemcpyDtoH(into(&mut back), fixture.memory, 48));
    let mut expected = [0_u8; 48];
    for (row, values) in [[1, 2], [5, 6], [9, 10]].iter().enumerate() {
        expected[16 * row..16 * row + 2].copy_from_slice(values);
    }
    assert_eq!(back, expected);
    ok!(hipGraphExecDestroy(exec));
    let mut out = 0;
    let bad = |change: fn(&mut hipMemcpy3DParms)| {
        let mut copy = copy;
        change(&mut copy);
        copy
    };
    for (status, copy) in [
        (hipErrorInvalidValue, bad(|copy| copy.srcPtr.ptr = 0)),
        (hipErrorInvalidValue, bad(|copy| copy.dstArray = 7)),
        (hipErrorNotSupported, bad(|copy| (copy.dstArray, copy.dstPtr.ptr) = (7, 0))),
        (hipErrorInvalidPitchValue, bad(|copy| copy.dstPtr.pitch = 1)),
        (hipErrorInvalidMemcpyDirection, bad(|copy| copy.kind = 9)),
    ] {
        err!(status, hipGraphAddMemcpyNode(&raw mut out, fixture.graph, null(), 0, &raw const copy));
    }
}

#[test]
fn nodes_that_cannot_be_are_refused_with_hips_codes() {
    let _alone = alone();
    let (function, module) = saxpy();
    let fixture = Fixture::new();
    let mut out = 0;
    let fills = [
        hipMemsetParams { dst: 0, ..fixture.fill(1) },
        hipMemsetParams { elementSize: 3, ..fixture.fill(1) },
        hipMemsetParams { height: 0, ..fixture.fill(1) },
        hipMemsetParams { height: 2, pitch: 8, width: 4, ..fixture.fill(1) },
    ];
    for fill in fills {
        err!(hipErrorInvalidValue, hipGraphAddMemsetNode(&raw mut out, fixture.graph, null(), 0, &raw const fill));
    }
    let mut list = [core::ptr::null_mut(); 4];
    let good = launch(function, &mut list);
    let kernels = [
        (hipErrorInvalidValue, hipKernelNodeParams { func: 0, ..good }),
        (hipErrorInvalidValue, hipKernelNodeParams { gridDim: dim3 { x: 0, y: 1, z: 1 }, ..good }),
        (hipErrorInvalidConfiguration, hipKernelNodeParams { blockDim: dim3 { x: 1025, y: 1, z: 1 }, ..good }),
    ];
    for (status, kernel) in kernels {
        err!(status, hipGraphAddKernelNode(&raw mut out, fixture.graph, null(), 0, &raw const kernel));
    }
    err!(hipErrorInvalidValue, hipGraphAddEmptyNode(&raw mut out, 0, null(), 0));
    err!(hipErrorInvalidValue, hipGraphAddEmptyNode(&raw mut out, fixture.graph, null(), 1));
    err!(hipErrorInvalidValue, hipGraphAddEventRecordNode(&raw mut out, fixture.graph, null(), 0, 0));
    err!(hipErrorInvalidValue, hipGraphAddMemFreeNode(&raw mut out, fixture.graph, null(), 0, 0));
    err!(
        hipErrorInvalidValue,
        hipGraphAddMemcpyNode1D(&raw mut out, fixture.graph, null(), 0, fixture.memory, 0, 4, hipMemcpyDefault)
    );
    err!(hipErrorInvalidValue, hipGraphInstantiateWithFlags(&raw mut out, fixture.graph, 4));
    err!(hipErrorInvalidValue, hipGraphCreate(&raw mut out, 1));
    err!(hipErrorInvalidValue, hipGraphDestroy(0));
    err!(hipErrorInvalidValue, hipGraphLaunch(0, fixture.stream));
    let mut count = 7;
    ok!(hipGraphGetNodes(fixture.graph, core::ptr::null_mut(), &raw mut count));
    assert_eq!((count, out), (0, 0), "a refused node left something");
    ok!(hipModuleUnload(module));
}

#[test]
fn a_graph_of_device_1_runs_there() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    let (function, module) = saxpy();
    let (fixture, y): (_, usize) = (Fixture::new(), get!(hipMalloc(_, COUNT * 4)));
    ok!(hipMemset(y, 0, COUNT * 4));
    let fill = fixture.add_fill(&[], 1.0_f32.to_bits());
    let arguments = Arguments { factor: 4.0, x: fixture.memory, y, count: COUNT as u32 };
    let mut list = arguments.list();
    let params = launch(function, &mut list);
    let _: usize = get!(hipGraphAddKernelNode(_, fixture.graph, &raw const fill, 1, &raw const params));
    ok!(hipSetDevice(0));
    let before = cuda_context();
    let exec = fixture.instantiate();
    fixture.run(exec);
    assert_eq!(cuda_context(), before, "the thread's CUDA context changed");
    let mut back = [0.0_f32; COUNT];
    ok!(hipMemcpyDtoH(into(&mut back), y, COUNT * 4));
    assert_eq!(back, [4.0; COUNT]);
    ok!(hipGraphExecDestroy(exec));
    ok!(hipFree(y));
    ok!(hipModuleUnload(module));
}
