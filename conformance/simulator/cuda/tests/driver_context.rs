//! The current-context table of the real driver, line by line, and the rules of contexts themselves.

#[macro_use]
mod driver;
use core::ffi::c_int;
use driver::*;
use simcuda::sys::*;

/// Everything of device 1, in its primary context.
struct Objects {
    ctx0: Handle,
    ctx1: Handle,
    stream: Handle,
    event: Handle,
    other_event: Handle,
    pool: Handle,
    memory: u64,
    managed: u64,
    host: u64,
}

impl Objects {
    fn make() -> Self {
        let ctx0 = get!(cuDevicePrimaryCtxRetain(0));
        let ctx1 = get!(cuDevicePrimaryCtxRetain(1));
        ok!(cuCtxSetCurrent(ctx0));
        let other_event: Handle = get!(cuEventCreate(0));
        ok!(cuEventRecord(other_event, 0));
        ok!(cuCtxSetCurrent(ctx1));
        Self {
            ctx0,
            ctx1,
            other_event,
            stream: get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)),
            event: get!(cuEventCreate(0)),
            pool: get!(cuMemPoolCreate(&device_pool(1))),
            memory: get!(cuMemAlloc_v2(4096)),
            managed: get!(cuMemAllocManaged(4096, CU_MEM_ATTACH_GLOBAL)),
            host: get!(cuMemHostAlloc(4096, 0)),
        }
    }

    fn end(self) {
        ok!(cuCtxSetCurrent(self.ctx1));
        ok!(cuStreamSynchronize(self.stream));
        ok!(cuMemFree_v2(self.memory));
        ok!(cuMemFree_v2(self.managed));
        ok!(cuMemFreeHost(self.host));
        ok!(cuMemPoolDestroy(self.pool));
        ok!(cuEventDestroy_v2(self.event));
        ok!(cuEventDestroy_v2(self.other_event));
        ok!(cuStreamDestroy_v2(self.stream));
        ok!(cuCtxSetCurrent(0));
        ok!(cuDevicePrimaryCtxRelease_v2(0));
        ok!(cuDevicePrimaryCtxRelease_v2(1));
    }

    /// Calls that the table says work whatever is current.
    fn context_free_calls(&self) {
        let Self { stream, event, other_event, pool, memory, managed, host, ctx1, .. } = *self;
        ok!(cuEventRecord(event, stream));
        ok!(cuStreamWaitEvent(stream, event, 0));
        ok!(cuStreamWaitEvent(stream, other_event, 0));
        let block = get!(cuMemAllocFromPoolAsync(4096, pool, stream));
        ok!(cuMemsetD32Async(block, 7, 1024, stream));
        ok!(cuMemsetD2D32Async(block, 64, 7, 8, 8, stream));
        ok!(cuMemcpyAsync(memory, block, 4096, stream));
        ok!(cuMemcpyPeerAsync(memory, ctx1, block, ctx1, 4096, stream));
        ok!(cuMemFreeAsync(block, stream));
        let block = get!(cuMemAllocAsync(4096, stream));
        ok!(cuMemFreeAsync(block, stream));
        let mut pageable = vec![1u8; 4096];
        ok!(cuMemcpyHtoDAsync_v2(memory, pageable.as_ptr().cast(), 4096, stream));
        ok!(cuMemcpyDtoHAsync_v2(pageable.as_mut_ptr().cast(), memory, 4096, stream));
        let location = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: 1 };
        ok!(cuMemPrefetchAsync_v2(managed, 4096, location, 0, stream));
        ok!(cuStreamWriteValue64_v2(stream, host, 5, 0));
        ok!(cuStreamWaitValue64_v2(stream, host, 5, CU_STREAM_WAIT_VALUE_EQ));
        unsafe extern "C" fn nothing(_: *mut core::ffi::c_void) {}
        ok!(cuLaunchHostFunc(stream, Some(nothing), core::ptr::null_mut()));
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamQuery(stream));
        ok!(cuEventQuery(event));
        ok!(cuEventSynchronize(event));
        let mut kind = 0u32;
        ok!(cuPointerGetAttribute((&raw mut kind).cast(), 2, memory));
        ok!(cuMemPoolTrimTo(pool, 0));
        set_pool_attribute(pool, 4, 0);
        assert!(pageable.iter().all(|&byte| byte == 1));
    }
}

#[test]
fn what_needs_no_current_context_works_with_its_own_none_and_another_one() {
    let _session = Session::begin();
    let objects = Objects::make();
    for current in [objects.ctx1, 0, objects.ctx0] {
        ok!(cuCtxSetCurrent(current));
        objects.context_free_calls();
    }
    assert_eq!(reports(), []);
    objects.end();
}

#[test]
fn mem_free_needs_no_current_context() {
    let _session = Session::begin();
    let objects = Objects::make();
    let memory = get!(cuMemAlloc_v2(64));
    ok!(cuCtxSetCurrent(0));
    ok!(cuMemFree_v2(memory));
    objects.end();
}

#[test]
fn what_needs_a_current_context_answers_201_without_one_and_is_reported() {
    let _session = Session::begin();
    let objects = Objects::make();
    ok!(cuCtxSetCurrent(0));
    let (mut handle, mut size, mut byte) = (0u64, 0usize, 0u8);
    err!(201, cuStreamCreate(&mut handle, 0));
    err!(201, cuMemAlloc_v2(&mut handle, 64));
    err!(201, cuMemHostAlloc(&mut handle, 64, 0));
    err!(201, cuMemAllocManaged(&mut handle, 64, 1));
    err!(201, cuModuleLoadData(&mut handle, c".version 8.0".as_ptr().cast()));
    err!(201, cuMemcpyHtoD_v2(objects.memory, (&raw mut byte).cast(), 1));
    err!(201, cuMemGetInfo_v2(&mut size, &mut 0));
    err!(201, cuEventCreate(&mut handle, 0));
    err!(201, cuMemGetAddressRange_v2(&mut handle, &mut size, objects.memory));
    err!(201, cuOccupancyMaxPotentialBlockSize(&mut 0, &mut 0, 0, None, 0, 0));
    assert_eq!(handle, 0, "a failed call writes nothing");
    assert_eq!(report_kinds(), ["context"; 10]);
    objects.end();
}

#[test]
fn what_is_made_under_another_context_belongs_to_that_one() {
    let _session = Session::begin();
    let objects = Objects::make();
    ok!(cuCtxSetCurrent(objects.ctx0));
    let memory: u64 = get!(cuMemAlloc_v2(64));
    let mut ordinal: c_int = -1;
    ok!(cuPointerGetAttribute((&raw mut ordinal).cast(), 9, memory));
    assert_eq!(ordinal, 0);
    let event: Handle = get!(cuEventCreate(0));
    err!(400, cuEventRecord(event, objects.stream));
    err!(500, cuMemGetAddressRange_v2(&mut 0, &mut 0, objects.memory));
    ok!(cuEventDestroy_v2(event));
    ok!(cuMemFree_v2(memory));
    objects.end();
}

#[test]
fn the_stack_of_contexts_is_each_threads_own() {
    let _session = Session::begin();
    let first: Handle = get!(cuCtxCreate_v2(0, 0));
    let second: Handle = get!(cuCtxCreate_v2(0, 1));
    assert_eq!(get!(cuCtxGetCurrent()), second);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(get!(cuCtxGetCurrent()), 0u64);
            err!(201, cuCtxPopCurrent_v2(&mut 0));
            ok!(cuCtxPushCurrent_v2(first));
            assert_eq!(get!(cuCtxGetCurrent()), first);
        });
    });
    assert_eq!(get!(cuCtxPopCurrent_v2()), second);
    assert_eq!(get!(cuCtxGetCurrent()), first);
    ok!(cuCtxSetCurrent(second));
    ok!(cuCtxDestroy_v2(second));
    assert_eq!(get!(cuCtxGetCurrent()), 0u64, "destroying the current context takes it off the stack");
    ok!(cuCtxDestroy_v2(first));
}

#[test]
fn a_destroyed_context_that_is_still_current_answers_709() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    std::thread::scope(|scope| {
        scope.spawn(|| ok!(cuCtxDestroy_v2(context)));
    });
    err!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&mut 0, 64));
    err!(201, cuCtxSetCurrent(context));
    assert_eq!(report_kinds(), ["context", "destroyed-handle"]);
    ok!(cuCtxSetCurrent(0));
}

#[test]
fn the_primary_context_lives_from_first_retain_to_last_release() {
    let _session = Session::begin();
    let before = c!(simcudaContextCount());
    let (mut flags, mut active) = (0, 1);
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!(active, 0);
    let context: Handle = get!(cuDevicePrimaryCtxRetain(0));
    assert_eq!(get!(cuDevicePrimaryCtxRetain(0)), context);
    assert_eq!(c!(simcudaContextCount()), before + 1);
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!(active, 1);
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    assert_eq!(c!(simcudaContextCount()), before);
    err!(201, cuDevicePrimaryCtxRelease_v2(0));
}

#[test]
fn a_context_destroyed_with_objects_in_it_is_reported_and_ends_them() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let stream: Handle = get!(cuStreamCreate(0));
    let event: Handle = get!(cuEventCreate(0));
    let memory: u64 = get!(cuMemAlloc_v2(64));
    ok!(cuCtxDestroy_v2(context));
    let reports = reports();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].0, "leak");
    assert!(reports[0].1.contains("1 streams, 1 events, 1 allocations"), "{}", reports[0].1);
    err!(400, cuStreamQuery(stream));
    err!(400, cuEventQuery(event));
    err!(1, cuMemFree_v2(memory));
}
