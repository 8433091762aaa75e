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

/// The answers of an H200's driver.
#[test]
fn parts_of_physical_memory_cannot_be_mapped_and_a_mapping_s_range_is_its_reservation() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let base = get!(cuMemAddressReserve(4 * SIZE, 0, 0, 0));
    let memory: Handle = get!(cuMemCreate(2 * SIZE, &prop(), 0));
    err!(801, cuMemMap(base, SIZE, 0, memory, 0));
    err!(801, cuMemMap(base, SIZE, SIZE, memory, 0));
    ok!(cuMemMap(base + SIZE as u64, 2 * SIZE, 0, memory, 0));
    let (mut start, mut size) = (0u64, 0usize);
    ok!(cuPointerGetAttribute((&raw mut start).cast(), 11, base + SIZE as u64 + 5));
    ok!(cuPointerGetAttribute((&raw mut size).cast(), 12, base + SIZE as u64 + 5));
    assert_eq!((start, size), (base, 4 * SIZE));
    err!(1, cuPointerGetAttribute((&raw mut start).cast(), 11, base));
    ok!(cuMemUnmap(base + SIZE as u64, 2 * SIZE));
    ok!(cuMemRelease(memory));
    ok!(cuMemAddressFree(base, 4 * SIZE));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn shareable_physical_memory_comes_back_from_its_descriptor() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let shared = CUmemAllocationProp { requested_handle_types: CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, ..prop() };
    let (own, memory): (Handle, Handle) = (get!(cuMemCreate(SIZE, &prop(), 0)), get!(cuMemCreate(SIZE, &shared, 0)));
    let mut descriptor = -1i32;
    err!(1, cuMemExportToShareableHandle((&raw mut descriptor).cast(), own, 1, 0));
    ok!(cuMemExportToShareableHandle((&raw mut descriptor).cast(), memory, 1, 0));
    let again: Handle = get!(cuMemImportFromShareableHandle(descriptor as usize, 1));
    assert_ne!(again, memory);
    let base = get!(cuMemAddressReserve(2 * SIZE, 0, 0, 0));
    ok!(cuMemMap(base, SIZE, 0, memory, 0));
    ok!(cuMemMap(base + SIZE as u64, SIZE, 0, again, 0));
    ok!(cuMemSetAccess(base, 2 * SIZE, &access(), 1));
    ok!(cuMemsetD8_v2(base, 9, 64));
    assert_eq!(bytes_of(base + SIZE as u64, 64), [9; 64]);
    // Over the border of two mappings a context must be current.
    let border = base + SIZE as u64 - 8;
    let (bytes, stream) = ([5u8; 16], get!(cuStreamCreate(1)));
    ok!(cuCtxSetCurrent(0));
    err!(1, cuMemcpyHtoDAsync_v2(border, bytes.as_ptr().cast(), 16, stream));
    ok!(cuMemcpyHtoDAsync_v2(border, bytes.as_ptr().cast(), 8, stream));
    ok!(cuCtxSetCurrent(context));
    ok!(cuMemcpyHtoDAsync_v2(border, bytes.as_ptr().cast(), 16, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(bytes_of(border, 8), [5; 8]);
    ok!(cuStreamDestroy_v2(stream));
    let mut handle: Handle = 0;
    err!(999, cuMemImportFromShareableHandle(&raw mut handle, 1 << 20, 1));
    ok!(cuMemUnmap(base, 2 * SIZE));
    ok!(cuMemAddressFree(base, 2 * SIZE));
    for memory in [own, memory, again] {
        ok!(cuMemRelease(memory));
    }
    drop(closing(descriptor));
    ok!(cuCtxDestroy_v2(context));
    assert_eq!(c!(simcudaLeakCount()), 0);
}

fn closing(descriptor: i32) -> std::os::fd::OwnedFd {
    // SAFETY: the descriptor was made for the test, which uses it no more.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(descriptor) }
}

/// What another process may do is the conformance suite's to try.
#[test]
fn handles_of_device_memory_are_refused_to_their_own_process_and_for_other_memory() {
    let _session = Session::begin();
    let mut handle = CUipcMemHandle { bytes: [0; 64] };
    err!(201, cuIpcGetMemHandle(&raw mut handle, 1));
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let memory = get!(cuMemAlloc_v2(4096));
    let host = get!(cuMemHostAlloc(4096, 0));
    let managed = get!(cuMemAllocManaged(4096, 1));
    for other in [host, managed, 0x10] {
        err!(1, cuIpcGetMemHandle(&raw mut handle, other));
    }
    let mut out = 0;
    err!(1, cuIpcOpenMemHandle_v2(&raw mut out, handle, 1));
    ok!(cuIpcGetMemHandle(&raw mut handle, memory + 256));
    err!(1, cuIpcOpenMemHandle_v2(&raw mut out, handle, 0));
    err!(201, cuIpcOpenMemHandle_v2(&raw mut out, handle, 1));
    err!(1, cuIpcCloseMemHandle(memory));
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeHost(host));
    ok!(cuCtxDestroy_v2(context));
    assert_eq!(report_kinds(), ["context"]);
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

/// What another process may do is the conformance suite's to try.
#[test]
fn events_for_other_processes_tell_no_times_and_are_refused_to_their_own() {
    let _session = Session::begin();
    let contexts: [Handle; 2] = [get!(cuCtxCreate_v2(0, 1)), get!(cuCtxCreate_v2(0, 0))];
    err!(1, cuEventCreate(&mut 0, 4));
    let [plain, shared]: [Handle; 2] = [get!(cuEventCreate(2)), get!(cuEventCreate(6))];
    let (mut handle, mut opened) = (CUipcEventHandle { bytes: [0; 64] }, 0);
    err!(400, cuIpcGetEventHandle(&raw mut handle, plain));
    err!(205, cuIpcOpenEventHandle(&raw mut opened, handle));
    ok!(cuIpcGetEventHandle(&raw mut handle, shared));
    err!(201, cuIpcOpenEventHandle(&raw mut opened, handle));
    let stream: Handle = get!(cuStreamCreate(1));
    ok!(cuEventQuery(shared));
    ok!(cuEventRecord(shared, stream));
    ok!(cuStreamWaitEvent(stream, shared, 0));
    ok!(cuEventSynchronize(shared));
    ok!(cuEventQuery(shared));
    err!(400, cuEventElapsedTime_v2(&mut 0.0, shared, shared));
    assert_eq!(report_kinds(), [""; 0]);
    ok!(cuCtxSetCurrent(contexts[0]));
    let far: Handle = get!(cuStreamCreate(1));
    err!(400, cuStreamWaitEvent(far, shared, 0));
    err!(400, cuEventRecord(shared, far));
    assert_eq!(report_kinds(), ["far-shared-event"]);
    for event in [plain, shared] {
        ok!(cuEventDestroy_v2(event));
    }
    for stream in [far, stream] {
        ok!(cuStreamDestroy_v2(stream));
    }
    for context in contexts {
        ok!(cuCtxDestroy_v2(context));
    }
}
