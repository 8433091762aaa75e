//! Graphs: order and parallelism of nodes, changes in place, allocation nodes (`docs/probes/graphs.c`).

#[macro_use]
mod driver;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};
use driver::graphs::*;
use driver::*;
use simcuda::sys::*;
use std::time::{Duration, Instant};

const PTX: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry empty()
{
    ret;
}
";
const SIZE: usize = 4096;
const NONE: *const Handle = core::ptr::null();

struct Setup {
    context: Handle,
    stream: Handle,
    other: Handle,
    memory: u64,
    graph: Handle,
    _session: Session,
}

impl Setup {
    fn new() -> Self {
        let session = Session::begin();
        let context = get!(cuCtxCreate_v2(0, 0));
        let (stream, other) =
            (get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)), get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)));
        let memory = get!(cuMemAlloc_v2(SIZE));
        ok!(cuMemsetD8_v2(memory, 0, SIZE));
        Setup { context, stream, other, memory, graph: get!(cuGraphCreate(0)), _session: session }
    }

    fn fill(&self, after: &[Handle], at: u64, value: u32) -> Handle {
        get!(cuGraphAddMemsetNode(
            self.graph,
            after.as_ptr(),
            after.len(),
            &bytes_filled(self.memory + at, value, 64),
            self.context
        ))
    }

    fn copy(&self, after: &[Handle], to: u64, from: u64) -> Handle {
        let copy = bytes_copied(self.memory + to, self.memory + from, 64);
        get!(cuGraphAddMemcpyNode(self.graph, after.as_ptr(), after.len(), &copy, self.context))
    }

    fn host(&self, after: &[Handle], function: unsafe extern "C" fn(*mut c_void), data: &impl Sized) -> Handle {
        let params =
            CUDA_HOST_NODE_PARAMS { func: Some(function), user_data: core::ptr::from_ref(data).cast_mut().cast() };
        get!(cuGraphAddHostNode(self.graph, after.as_ptr(), after.len(), &params))
    }

    fn exec(&self) -> Handle {
        get!(cuGraphInstantiateWithFlags(self.graph, 0))
    }

    fn launch(&self, exec: Handle) {
        ok!(cuGraphLaunch(exec, self.stream));
        ok!(cuStreamSynchronize(self.stream));
    }

    fn byte(&self, at: u64) -> u8 {
        bytes_of(self.memory + at, 1)[0]
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        c!(simcudaReleaseWork());
        for stream in [self.stream, self.other] {
            c!(cuStreamSynchronize(stream));
            c!(cuStreamDestroy_v2(stream));
        }
        c!(cuMemFree_v2(self.memory));
        c!(cuCtxDestroy_v2(self.context));
    }
}

/// Counts up to two callers, each of whom waits for the other for a while.
#[derive(Default)]
struct Meeting {
    came: AtomicU32,
    met: AtomicU32,
}

unsafe extern "C" fn meet(data: *mut c_void) {
    // SAFETY: the tests pass a meeting that outlives the launch.
    let meeting = unsafe { &*data.cast::<Meeting>() };
    meeting.came.fetch_add(1, Ordering::AcqRel);
    let until = Instant::now() + Duration::from_secs(5);
    while meeting.came.load(Ordering::Acquire) < 2 && Instant::now() < until {
        std::thread::yield_now();
    }
    meeting.met.fetch_add(u32::from(meeting.came.load(Ordering::Acquire) == 2), Ordering::AcqRel);
}

#[test]
fn nodes_without_an_edge_between_them_run_beside_each_other() {
    let setup = Setup::new();
    let meeting = Meeting::default();
    let first = setup.fill(&[], 0, 1);
    let left = setup.host(&[first], meet, &meeting);
    let right = setup.host(&[first], meet, &meeting);
    setup.fill(&[left, right], 0, 2);
    let exec = setup.exec();
    setup.launch(exec);
    assert_eq!(meeting.met.load(Ordering::Acquire), 2);
    assert_eq!(setup.byte(0), 2);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn nodes_of_two_child_graphs_run_beside_each_other() {
    let setup = Setup::new();
    let meeting = Meeting::default();
    setup.host(&[], meet, &meeting);
    let parent: Handle = get!(cuGraphCreate(0));
    let _: Handle = get!(cuGraphAddChildGraphNode(parent, NONE, 0, setup.graph));
    let _: Handle = get!(cuGraphAddChildGraphNode(parent, NONE, 0, setup.graph));
    let exec: Handle = get!(cuGraphInstantiateWithFlags(parent, 0));
    setup.launch(exec);
    assert_eq!(meeting.met.load(Ordering::Acquire), 2);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(parent));
    ok!(cuGraphDestroy(setup.graph));
    assert!(!leaks().iter().any(|(kind, _)| kind.contains("graph")), "{:?}", leaks());
}

/// Without the edge, one order in two is wrong.
#[test]
fn an_edge_that_is_missing_shows() {
    let setup = Setup::new();
    let first = setup.fill(&[], 0, 1);
    let behind = setup.copy(&[first], 64, 0);
    let exec = setup.exec();
    for _ in 0..100 {
        ok!(cuMemsetD8_v2(setup.memory, 0, SIZE));
        setup.launch(exec);
        assert_eq!(setup.byte(64), 1);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphRemoveDependencies(setup.graph, &first, &behind, 1));
    let exec = setup.exec();
    let wrong = (0..1000).filter(|_| {
        ok!(cuMemsetD8_v2(setup.memory, 0, SIZE));
        setup.launch(exec);
        setup.byte(64) != 1
    });
    assert!(wrong.count() > 50);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn a_butterfly_of_ten_thousand_nodes_is_made_and_run_in_linear_time() {
    let setup = Setup::new();
    const WIDTH: usize = 100;
    let mut before: Vec<Handle> = Vec::new();
    let began = Instant::now();
    for _ in 0..100 {
        let layer = (0..WIDTH).map(|place| {
            let after: Vec<_> = [place, place ^ 1].iter().filter_map(|&at| before.get(at).copied()).collect();
            get!(cuGraphAddEmptyNode(setup.graph, after.as_ptr(), after.len()))
        });
        before = layer.collect();
    }
    let (mut count, mut edges) = (0, 0);
    ok!(cuGraphGetNodes(setup.graph, core::ptr::null_mut(), &mut count));
    ok!(cuGraphGetEdges(setup.graph, core::ptr::null_mut(), core::ptr::null_mut(), &mut edges));
    assert_eq!((count, edges), (100 * WIDTH, 99 * WIDTH * 2));
    let exec = setup.exec();
    setup.launch(exec);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn one_executable_graph_never_overlaps_with_itself() {
    let setup = Setup::new();
    let runs = AtomicU32::new(0);
    unsafe extern "C" fn alone(data: *mut c_void) {
        // SAFETY: the test passes a number that outlives the launches.
        let runs = unsafe { &*data.cast::<AtomicU32>() };
        let before = runs.fetch_add(1, Ordering::AcqRel);
        for _ in 0..100 {
            std::thread::yield_now();
        }
        assert_eq!(runs.fetch_add(1, Ordering::AcqRel), before + 1);
    }
    setup.host(&[], alone, &runs);
    let exec = setup.exec();
    for _ in 0..20 {
        ok!(cuGraphLaunch(exec, setup.stream));
        ok!(cuGraphLaunch(exec, setup.other));
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuStreamSynchronize(setup.stream));
    ok!(cuStreamSynchronize(setup.other));
    assert_eq!(runs.load(Ordering::Acquire), 80);
    assert_eq!(report_kinds(), [""; 0]);
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn an_update_is_for_later_launches_alone() {
    let setup = Setup::new();
    let node = setup.fill(&[], 0, 1);
    let exec = setup.exec();
    c!(simcudaHoldWork());
    ok!(cuGraphLaunch(exec, setup.stream));
    ok!(cuGraphExecMemsetNodeSetParams(exec, node, &bytes_filled(setup.memory, 2, 64), setup.context));
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(setup.byte(0), 1);
    setup.launch(exec);
    assert_eq!(setup.byte(0), 2);
    ok!(cuMemsetD8_v2(setup.memory, 9, 64));
    ok!(cuGraphNodeSetEnabled(exec, node, 0));
    setup.launch(exec);
    assert_eq!(setup.byte(0), 9);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn updates_that_the_driver_cannot_do_are_refused_and_change_nothing() {
    let setup = Setup::new();
    let fill = setup.fill(&[], 0, 1);
    let copy = setup.copy(&[fill], 64, 0);
    let join: Handle = get!(cuGraphAddEmptyNode(setup.graph, &copy, 1));
    let exec = setup.exec();
    let context = setup.context;
    let rows = CUDA_MEMSET_NODE_PARAMS { pitch: 128, height: 2, ..bytes_filled(setup.memory, 3, 64) };
    err!(1, cuGraphExecMemsetNodeSetParams(exec, fill, &rows, context));
    err!(1, cuGraphExecMemsetNodeSetParams(exec, fill, &bytes_filled(setup.memory, 3, 0), context));
    err!(1, cuGraphExecMemsetNodeSetParams(exec, fill, &bytes_filled(setup.memory, 3, SIZE + 1), context));
    err!(1, cuGraphExecMemsetNodeSetParams(exec, copy, &bytes_filled(setup.memory, 3, 8), context));
    let line = bytes_copied(setup.memory, setup.memory + 64, 8);
    let host = CUDA_MEMCPY3D { dst_type: CU_MEMORYTYPE_UNIFIED, src_type: CU_MEMORYTYPE_UNIFIED, ..line };
    err!(1, cuGraphExecMemcpyNodeSetParams(exec, copy, &host, context));
    err!(1, cuGraphNodeSetEnabled(exec, join, 0));
    let late = setup.fill(&[], 0, 4);
    err!(1, cuGraphExecMemsetNodeSetParams(exec, late, &bytes_filled(setup.memory, 3, 64), context));
    let mut info = CUgraphExecUpdateResultInfo { result: -1, error_node: 1, error_from_node: 1 };
    err!(910, cuGraphExecUpdate_v2(exec, setup.graph, &mut info));
    assert_eq!((info.result, info.error_node), (2, 0));
    setup.launch(exec);
    assert_eq!((setup.byte(0), setup.byte(64)), (1, 1));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn a_whole_update_takes_graphs_of_the_same_shape() {
    let mut setup = Setup::new();
    let fill = setup.fill(&[], 0, 1);
    setup.copy(&[fill], 64, 0);
    let exec = setup.exec();
    ok!(cuGraphDestroy(setup.graph));
    setup.graph = get!(cuGraphCreate(0));
    let fill = setup.fill(&[], 0, 5);
    let copy = setup.copy(&[fill], 128, 0);
    let mut info = CUgraphExecUpdateResultInfo { result: -1, error_node: 1, error_from_node: 1 };
    ok!(cuGraphExecUpdate_v2(exec, setup.graph, &mut info));
    assert_eq!(info.result, 0);
    setup.launch(exec);
    assert_eq!((setup.byte(0), setup.byte(64), setup.byte(128)), (5, 0, 5));
    ok!(cuGraphRemoveDependencies(setup.graph, &fill, &copy, 1));
    err!(910, cuGraphExecUpdate_v2(exec, setup.graph, &mut info));
    assert_eq!((info.result, info.error_node), (2, copy));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

#[test]
fn kernels_are_checked_when_they_are_added_and_changed() {
    let setup = Setup::new();
    let module: Handle = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let put: Handle = get!(cuModuleGetFunction(module, c"put".as_ptr()));
    let empty: Handle = get!(cuModuleGetFunction(module, c"empty".as_ptr()));
    let (address, values) = (setup.memory, [7u32, 8]);
    let params = |value: &u32| [(&raw const address).cast::<c_void>(), core::ptr::from_ref(value).cast()];
    let (first, second) = (params(&values[0]), params(&values[1]));
    let kernel = |func, kernel_params: *const *const c_void| CUDA_KERNEL_NODE_PARAMS {
        func,
        grid: [1; 3],
        block: [1; 3],
        shared_mem_bytes: 0,
        kernel_params,
        extra: core::ptr::null(),
        kern: 0,
        ctx: 0,
    };
    let add = |kernel: CUDA_KERNEL_NODE_PARAMS| c!(cuGraphAddKernelNode_v2(&mut 0, setup.graph, NONE, 0, &kernel));
    assert_eq!(add(kernel(put, core::ptr::null())), 1);
    assert_eq!(add(kernel(0, first.as_ptr())), 400);
    assert_eq!(add(CUDA_KERNEL_NODE_PARAMS { grid: [0, 1, 1], ..kernel(put, first.as_ptr()) }), 1);
    assert_eq!(add(CUDA_KERNEL_NODE_PARAMS { block: [2048, 1, 1], ..kernel(put, first.as_ptr()) }), 1);
    let node: Handle = get!(cuGraphAddKernelNode_v2(setup.graph, NONE, 0, &kernel(put, first.as_ptr())));
    ok!(cuGraphKernelNodeSetAttribute(node, 2, &[1, 0, 0, 0, 0, 0, 0, 0]));
    err!(912, cuGraphKernelNodeSetAttribute(node, 4, &[1 << 32 | 2, 1, 0, 0, 0, 0, 0, 0]));
    err!(1, cuGraphKernelNodeSetAttribute(node, 4000, &[0; 8]));
    let exec = setup.exec();
    setup.launch(exec);
    assert_eq!(setup.byte(0), 7);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel(put, second.as_ptr())));
    setup.launch(exec);
    assert_eq!(setup.byte(0), 8);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel(empty, core::ptr::null())));
    ok!(cuGraphDestroy(setup.graph));
    err!(1, cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel(put, second.as_ptr())));
    setup.launch(exec);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuModuleUnload(module));
}

#[test]
fn a_child_graph_is_a_copy_whose_nodes_can_be_changed() {
    let mut setup = Setup::new();
    let inner = setup.fill(&[], 0, 1);
    let child = setup.graph;
    setup.graph = get!(cuGraphCreate(0));
    let node: Handle = get!(cuGraphAddChildGraphNode(setup.graph, NONE, 0, child));
    let mut embedded = 0;
    ok!(cuGraphChildGraphNodeGetGraph(node, &mut embedded));
    err!(1, cuGraphDestroy(embedded));
    let own: Handle = get!(cuGraphNodeFindInClone(inner, embedded));
    let exec = setup.exec();
    let fill = bytes_filled(setup.memory, 2, 64);
    err!(1, cuGraphExecMemsetNodeSetParams(exec, inner, &fill, setup.context));
    ok!(cuGraphExecMemsetNodeSetParams(exec, own, &fill, setup.context));
    setup.launch(exec);
    assert_eq!(setup.byte(0), 2);
    ok!(cuGraphExecChildGraphNodeSetParams(exec, node, child));
    setup.launch(exec);
    assert_eq!(setup.byte(0), 1);
    let _: Handle = get!(cuGraphAddEmptyNode(child, NONE, 0));
    err!(910, cuGraphExecChildGraphNodeSetParams(exec, node, child));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(child));
    ok!(cuGraphDestroy(setup.graph));
}

fn allocation(bytes: usize) -> CUDA_MEM_ALLOC_NODE_PARAMS {
    CUDA_MEM_ALLOC_NODE_PARAMS {
        pool_props: device_pool(0),
        access_descs: core::ptr::null(),
        access_desc_count: 0,
        byte_size: bytes,
        dptr: 0,
    }
}

fn graph_memory(attribute: c_int) -> u64 {
    let mut value = 0u64;
    ok!(cuDeviceGetGraphMemAttribute(0, attribute, (&raw mut value).cast()));
    value
}

#[test]
fn memory_that_a_graph_keeps_is_freed_by_others_before_the_next_launch() {
    let setup = Setup::new();
    ok!(cuDeviceGraphMemTrim(0));
    let mut params = allocation(1000);
    let node: Handle = get!(cuGraphAddMemAllocNode(setup.graph, NONE, 0, &mut params));
    let address = params.dptr;
    err!(1, cuMemsetD8_v2(address, 1, 16));
    let fill = bytes_filled(address, 5, 1000);
    let _: Handle = get!(cuGraphAddMemsetNode(setup.graph, &node, 1, &fill, setup.context));
    err!(801, cuGraphClone(&mut 0, setup.graph));
    err!(801, cuGraphDestroyNode(node));
    let exec = setup.exec();
    err!(801, cuGraphInstantiateWithFlags(&mut 0, setup.graph, 0));
    assert_eq!(graph_memory(2), 0);
    setup.launch(exec);
    assert_eq!(graph_memory(2), 32 << 20);
    assert_eq!(bytes_of(address, 1000), [5; 1000]);
    err!(1, cuGraphLaunch(exec, setup.stream));
    ok!(cuMemFreeAsync(address, setup.stream));
    err!(1, cuMemFreeAsync(address, setup.stream));
    setup.launch(exec);
    ok!(cuMemFree_v2(address));
    setup.launch(exec);
    let freeing: Handle = get!(cuGraphCreate(0));
    let _: Handle = get!(cuGraphAddMemFreeNode(freeing, NONE, 0, address));
    err!(1, cuGraphAddMemFreeNode(&mut 0, freeing, NONE, 0, address));
    err!(1, cuGraphAddMemFreeNode(&mut 0, freeing, NONE, 0, setup.memory));
    let frees: Handle = get!(cuGraphInstantiateWithFlags(freeing, 0));
    setup.launch(frees);
    err!(1, cuGraphLaunch(frees, setup.stream));
    setup.launch(exec);
    for exec in [exec, frees] {
        ok!(cuGraphExecDestroy(exec));
    }
    for graph in [setup.graph, freeing] {
        ok!(cuGraphDestroy(graph));
    }
    assert_eq!(bytes_of(address, 1000), [5; 1000]);
    assert!(leaks().contains(&("graph memory".to_owned(), 1)));
    ok!(cuMemFreeAsync(address, setup.stream));
    ok!(cuStreamSynchronize(setup.stream));
    ok!(cuDeviceGraphMemTrim(0));
    assert_eq!(graph_memory(2), 0);
}

#[test]
fn memory_that_a_graph_frees_is_there_between_its_nodes_alone() {
    let setup = Setup::new();
    let mut params = allocation(4096);
    let node: Handle = get!(cuGraphAddMemAllocNode(setup.graph, NONE, 0, &mut params));
    let fill: Handle =
        get!(cuGraphAddMemsetNode(setup.graph, &node, 1, &bytes_filled(params.dptr, 3, 64), setup.context));
    let copy = bytes_copied(setup.memory, params.dptr, 64);
    let copy: Handle = get!(cuGraphAddMemcpyNode(setup.graph, &fill, 1, &copy, setup.context));
    let _: Handle = get!(cuGraphAddMemFreeNode(setup.graph, &copy, 1, params.dptr));
    let exec = setup.exec();
    for _ in 0..3 {
        setup.launch(exec);
    }
    assert_eq!(setup.byte(0), 3);
    err!(1, cuMemsetD8_v2(params.dptr, 1, 16));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
    assert!(!leaks().iter().any(|(kind, _)| kind == "graph memory"), "{:?}", leaks());
}

#[test]
fn a_launch_that_frees_first_can_be_repeated() {
    let setup = Setup::new();
    let mut params = allocation(4096);
    let _: Handle = get!(cuGraphAddMemAllocNode(setup.graph, NONE, 0, &mut params));
    let exec: Handle = get!(cuGraphInstantiateWithFlags(setup.graph, 1));
    setup.launch(exec);
    setup.launch(exec);
    ok!(cuMemFreeAsync(params.dptr, setup.stream));
    ok!(cuGraphLaunch(exec, setup.other));
    ok!(cuMemFreeAsync(params.dptr, setup.other));
    ok!(cuStreamSynchronize(setup.other));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
    assert_eq!(report_kinds(), [""; 0]);
}

#[test]
fn event_nodes_order_graphs_and_streams() {
    let mut setup = Setup::new();
    let event: Handle = get!(cuEventCreate(2));
    let fill = setup.fill(&[], 0, 1);
    let _: Handle = get!(cuGraphAddEventRecordNode(setup.graph, &fill, 1, event));
    let (first, records) = (setup.graph, setup.exec());
    setup.graph = get!(cuGraphCreate(0));
    let wait: Handle = get!(cuGraphAddEventWaitNode(setup.graph, NONE, 0, event));
    setup.copy(&[wait], 64, 0);
    let waits = setup.exec();
    ok!(cuEventQuery(event));
    c!(simcudaHoldWork());
    ok!(cuGraphLaunch(records, setup.stream));
    err!(600, cuEventQuery(event));
    ok!(cuGraphLaunch(waits, setup.other));
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.other));
    assert_eq!(setup.byte(64), 1);
    ok!(cuEventQuery(event));
    for exec in [records, waits] {
        ok!(cuGraphExecDestroy(exec));
    }
    for graph in [first, setup.graph] {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuEventDestroy_v2(event));
}

#[test]
fn edges_are_what_was_asked_for_and_a_cycle_has_no_order() {
    let setup = Setup::new();
    let [first, second]: [Handle; 2] = core::array::from_fn(|_| get!(cuGraphAddEmptyNode(setup.graph, NONE, 0)));
    let other: Handle = get!(cuGraphCreate(0));
    let foreign: Handle = get!(cuGraphAddEmptyNode(other, NONE, 0));
    err!(1, cuGraphAddEmptyNode(&mut 0, setup.graph, &foreign, 1));
    err!(1, cuGraphAddEmptyNode(&mut 0, setup.graph, [first, first].as_ptr(), 2));
    ok!(cuGraphAddDependencies(setup.graph, &first, &second, 1));
    err!(1, cuGraphAddDependencies(setup.graph, &first, &second, 1));
    err!(1, cuGraphAddDependencies(setup.graph, &first, &first, 1));
    ok!(cuGraphAddDependencies(setup.graph, &second, &first, 1));
    err!(1, cuGraphInstantiateWithFlags(&mut 0, setup.graph, 0));
    ok!(cuGraphRemoveDependencies(setup.graph, &second, &first, 1));
    err!(1, cuGraphRemoveDependencies(setup.graph, &second, &first, 1));
    let mut params = CUgraphNodeParams { kind: 5, reserved0: [0; 3], of_kind: [0; 29], reserved2: 0 };
    let edge = CUgraphEdgeData { from_port: 1, ..CUgraphEdgeData::default() };
    err!(1, cuGraphAddNode_v2(&mut 0, setup.graph, &second, &edge, 1, &mut params));
    let _: Handle = get!(cuGraphAddNode_v2(setup.graph, &second, core::ptr::null(), 1, &mut params));
    assert_eq!(shape(setup.graph), (vec![5; 3], vec![(0, 1), (1, 2)]));
    let (mut room, mut list) = (2, [1; 2]);
    ok!(cuGraphGetRootNodes(setup.graph, list.as_mut_ptr(), &mut room));
    assert_eq!((room, list), (1, [first, 0]));
    let copy: Handle = get!(cuGraphClone(setup.graph));
    ok!(cuGraphDestroy(setup.graph));
    err!(1, cuGraphNodeGetType(first, &mut 0));
    assert_eq!(shape(copy), (vec![5; 3], vec![(0, 1), (1, 2)]));
    let path = std::env::temp_dir().join(format!("simcuda-graph-{}.dot", std::process::id()));
    let text = std::ffi::CString::new(path.to_str().expect("the path is text")).expect("it has no NUL");
    ok!(cuGraphDebugDotPrint(copy, text.as_ptr(), 1));
    let dot = std::fs::read_to_string(&path).expect("it was written");
    assert_eq!(dot.matches(" -> ").count(), 2);
    std::fs::remove_file(path).expect("it was written");
    for graph in [copy, other] {
        ok!(cuGraphDestroy(graph));
    }
}

#[test]
fn nodes_stay_on_their_device_and_in_their_context() {
    let setup = Setup::new();
    let fill = setup.fill(&[], 0, 1);
    let copy = setup.copy(&[fill], 64, 0);
    let exec = setup.exec();
    let far: Handle = get!(cuCtxCreate_v2(0, 1));
    let memory = get!(cuMemAlloc_v2(SIZE));
    ok!(cuCtxSetCurrent(setup.context));
    err!(1, cuGraphExecMemsetNodeSetParams(exec, fill, &bytes_filled(memory, 2, 64), setup.context));
    err!(1, cuGraphExecMemsetNodeSetParams(exec, fill, &bytes_filled(setup.memory, 2, 64), far));
    let line = bytes_copied(memory, setup.memory, 64);
    err!(1, cuGraphExecMemcpyNodeSetParams(exec, copy, &line, setup.context));
    setup.launch(exec);
    assert_eq!((setup.byte(0), setup.byte(64)), (1, 1));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
    ok!(cuMemFree_v2(memory));
    ok!(cuCtxDestroy_v2(far));
    ok!(cuCtxSetCurrent(setup.context));
}

/// The real driver crashes there.
#[test]
fn launching_with_what_was_destroyed_is_reported() {
    let setup = Setup::new();
    let event: Handle = get!(cuEventCreate(2));
    let _: Handle = get!(cuGraphAddEventRecordNode(setup.graph, NONE, 0, event));
    let exec = setup.exec();
    ok!(cuEventDestroy_v2(event));
    err!(400, cuGraphLaunch(exec, setup.stream));
    assert_eq!(report_kinds(), ["destroyed-handle"]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}

/// A use on a stream that is not ordered after the launch that allocates is as wrong as with a pool.
#[test]
fn what_a_graph_keeps_is_used_after_its_launch() {
    let setup = Setup::new();
    let mut params = allocation(4096);
    let _: Handle = get!(cuGraphAddMemAllocNode(setup.graph, NONE, 0, &mut params));
    let exec = setup.exec();
    ok!(cuGraphLaunch(exec, setup.stream));
    ok!(cuMemsetD8Async(params.dptr, 1, 64, setup.stream));
    assert_eq!(report_kinds(), [""; 0]);
    ok!(cuMemsetD8Async(params.dptr, 1, 64, setup.other));
    assert!(report_kinds().contains(&"use-before-alloc".to_owned()), "{:?}", reports());
    ok!(cuStreamSynchronize(setup.other));
    ok!(cuMemFreeAsync(params.dptr, setup.stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(setup.graph));
}
