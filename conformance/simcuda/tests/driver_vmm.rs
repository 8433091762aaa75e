//! Virtual memory management and graphs.

#[macro_use]
mod driver;
use driver::*;
use simcuda::sys::*;

const SIZE: usize = 2 << 20;

fn prop() -> CUmemAllocationProp {
    CUmemAllocationProp {
        kind: CU_MEM_ALLOCATION_TYPE_PINNED,
        requested_handle_types: 0,
        location: CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        win32_handle_meta_data: core::ptr::null_mut(),
        compression_type: 0,
        gpu_direct_rdma_capable: 0,
        usage: 0,
        reserved: [0; 4],
    }
}

fn access() -> CUmemAccessDesc {
    CUmemAccessDesc { location: prop().location, flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE }
}

#[test]
fn one_physical_memory_shows_through_two_mappings() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let base = get!(cuMemAddressReserve(2 * SIZE, 0, 0, 0));
    let memory: Handle = get!(cuMemCreate(SIZE, &prop(), 0));
    ok!(cuMemMap(base, SIZE, 0, memory, 0));
    ok!(cuMemMap(base + SIZE as u64, SIZE, 0, memory, 0));
    ok!(cuMemSetAccess(base, 2 * SIZE, &access(), 1));
    ok!(cuMemRelease(memory));
    ok!(cuMemsetD8_v2(base, 7, 64));
    assert_eq!(bytes_of(base + SIZE as u64, 64), [7; 64]);
    let again: Handle = get!(cuMemRetainAllocationHandle(base));
    assert_ne!(again, memory, "the released handle stays dead");
    ok!(cuMemRelease(again));
    err!(1, cuMemAddressFree(base, 2 * SIZE));
    ok!(cuMemUnmap(base, 2 * SIZE));
    err!(1, cuMemsetD8_v2(base, 7, 64));
    assert_eq!(report_kinds(), ["use-after-free"]);
    ok!(cuMemAddressFree(base, 2 * SIZE));
    ok!(cuCtxDestroy_v2(context));
    assert_eq!(c!(simcudaLeakCount()), 0);
}

#[test]
fn mapped_memory_is_out_of_bounds_for_all_until_access_is_given() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let base = get!(cuMemAddressReserve(SIZE, 0, 0, 0));
    let memory: Handle = get!(cuMemCreate(SIZE, &prop(), 0));
    err!(1, cuMemMap(base, SIZE / 2, 0, memory, 0));
    err!(1, cuMemMap(base + SIZE as u64, SIZE, 0, memory, 0));
    ok!(cuMemMap(base, SIZE, 0, memory, 0));
    err!(1, cuMemsetD8_v2(base, 7, 64));
    assert_eq!(report_kinds(), ["peer-access"]);
    ok!(cuMemSetAccess(base, SIZE, &access(), 1));
    ok!(cuMemsetD8_v2(base, 7, 64));
    ok!(cuMemUnmap(base, SIZE));
    ok!(cuMemRelease(memory));
    ok!(cuMemAddressFree(base, SIZE));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_graph_runs_its_nodes_in_the_order_of_their_dependencies() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let memory = get!(cuMemAlloc_v2(64));
    let graph: Handle = get!(cuGraphCreate(0));
    let set = |value| CUDA_MEMSET_NODE_PARAMS { dst: memory, pitch: 0, value, element_size: 1, width: 64, height: 1 };
    let last: Handle = get!(cuGraphAddMemsetNode(graph, core::ptr::null(), 0, &set(2), context));
    let first: Handle = get!(cuGraphAddMemsetNode(graph, core::ptr::null(), 0, &set(1), context));
    let join: Handle = get!(cuGraphAddEmptyNode(graph, &first, 1));
    ok!(cuGraphAddDependencies(graph, &join, &last, 1));
    let exec: Handle = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphAddDependencies(graph, &last, &first, 1));
    err!(1, cuGraphInstantiateWithFlags(&mut 0, graph, 0));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(bytes_of(memory, 64), [2; 64]);
    ok!(cuGraphExecDestroy(exec));
    err!(1, cuGraphLaunch(exec, stream));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}
