//! Misuse is reported, whichever way the threads happen to run, and never crashes.

#[macro_use]
mod driver;
use driver::*;
use simcuda::sys::*;

struct Setup {
    stream: Handle,
    other: Handle,
    _session: Session,
}

impl Setup {
    fn new() -> Self {
        let session = Session::begin();
        let context: Handle = get!(cuDevicePrimaryCtxRetain(0));
        ok!(cuCtxSetCurrent(context));
        let stream = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
        Setup { stream, other: get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)), _session: session }
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        c!(simcudaReleaseWork());
        c!(cuStreamSynchronize(self.stream));
        c!(cuStreamSynchronize(self.other));
        c!(cuStreamDestroy_v2(self.stream));
        c!(cuStreamDestroy_v2(self.other));
        c!(cuCtxSetCurrent(0));
        c!(cuDevicePrimaryCtxReset_v2(0));
    }
}

#[test]
fn using_stream_ordered_memory_after_its_free_is_refused_and_reported() {
    let setup = Setup::new();
    let block = get!(cuMemAllocAsync(4096, setup.stream));
    ok!(cuMemFreeAsync(block, setup.stream));
    err!(1, cuMemsetD8Async(block, 1, 4096, setup.stream));
    err!(1, cuMemcpyAsync(block, block, 16, setup.stream));
    assert_eq!(report_kinds(), ["use-after-free"; 2]);
    assert!(reports()[0].1.contains("stream-ordered free"), "{}", reports()[0].1);
}

#[test]
fn using_plain_memory_after_its_free_is_refused_and_reported() {
    let setup = Setup::new();
    let memory = get!(cuMemAlloc_v2(4096));
    ok!(cuMemFree_v2(memory));
    err!(1, cuMemsetD8Async(memory, 1, 4096, setup.stream));
    err!(1, cuMemFree_v2(memory));
    assert_eq!(report_kinds(), ["use-after-free", "double-free"]);
}

#[test]
fn using_a_block_on_another_stream_before_its_allocation_is_ordered_is_reported() {
    let setup = Setup::new();
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    c!(simcudaHoldWork());
    let block = get!(cuMemAllocAsync(4096, setup.stream));
    ok!(cuMemsetD8Async(block, 1, 4096, setup.other));
    assert_eq!(report_kinds(), ["use-before-alloc"]);
    c!(simcudaClearReports());
    ok!(cuEventRecord(event, setup.stream));
    ok!(cuStreamWaitEvent(setup.other, event, 0));
    ok!(cuMemsetD8Async(block, 1, 4096, setup.other));
    assert_eq!(reports(), [], "ordered by the event");
    ok!(cuMemFreeAsync(block, setup.other));
    ok!(cuEventDestroy_v2(event));
}

#[test]
fn freeing_on_a_stream_not_ordered_after_the_use_is_reported() {
    let setup = Setup::new();
    let block = get!(cuMemAllocAsync(4096, setup.stream));
    ok!(cuStreamSynchronize(setup.stream));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(block, 1, 4096, setup.other));
    ok!(cuMemFreeAsync(block, setup.stream));
    c!(simcudaReleaseWork());
    c!(cuStreamSynchronize(setup.other));
    assert!(report_kinds().iter().any(|kind| kind == "unordered-free"), "{:?}", reports());
}

#[test]
fn freeing_before_the_allocation_is_ordered_is_reported() {
    let setup = Setup::new();
    c!(simcudaHoldWork());
    let block = get!(cuMemAllocAsync(4096, setup.stream));
    ok!(cuMemFreeAsync(block, setup.other));
    assert_eq!(report_kinds(), ["unordered-free"]);
}

#[test]
fn memory_freed_by_the_host_while_work_uses_it_stays_for_that_work() {
    let setup = Setup::new();
    let memory = get!(cuMemAlloc_v2(4096));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(memory, 1, 4096, setup.stream));
    ok!(cuMemFree_v2(memory));
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(reports(), []);
}

#[test]
fn accesses_outside_of_an_allocation_are_refused_and_reported() {
    let setup = Setup::new();
    let memory = get!(cuMemAlloc_v2(100));
    err!(1, cuMemsetD8Async(memory, 1, 101, setup.stream));
    err!(1, cuMemcpyHtoD_v2(memory + 90, [0u8; 20].as_ptr().cast(), 20));
    err!(1, cuMemsetD8Async(64, 1, 1, setup.stream));
    assert_eq!(report_kinds(), ["invalid-pointer"; 3]);
    assert!(reports()[0].1.contains("1 bytes past the end"), "{}", reports()[0].1);
    ok!(cuMemFree_v2(memory));
}

#[test]
fn handles_of_destroyed_objects_are_recognised() {
    let setup = Setup::new();
    let stream: Handle = get!(cuStreamCreate(0));
    let event: Handle = get!(cuEventCreate(0));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuEventDestroy_v2(event));
    err!(400, cuStreamDestroy_v2(stream));
    err!(400, cuEventDestroy_v2(event));
    err!(400, cuStreamSynchronize(stream));
    err!(400, cuEventRecord(event, setup.stream));
    assert_eq!(report_kinds(), ["destroyed-handle"; 4]);
    c!(simcudaClearReports());
    let next: Handle = get!(cuStreamCreate(0));
    assert_ne!(next, stream);
    err!(400, cuStreamQuery(0x1234));
    err!(400, cuEventQuery(setup.stream));
    assert!(reports()[1].1.contains("is a stream, not a event"), "{}", reports()[1].1);
    assert_eq!(report_kinds(), ["invalid-handle"; 2]);
    ok!(cuStreamDestroy_v2(next));
}

#[test]
fn what_is_alive_is_counted_by_kind() {
    let setup = Setup::new();
    let before = c!(simcudaLeakCount());
    let event: Handle = get!(cuEventCreate(0));
    let memory = get!(cuMemAlloc_v2(64));
    let pool: Handle = get!(cuMemPoolCreate(&device_pool(0)));
    let block = get!(cuMemAllocFromPoolAsync(64, pool, setup.stream));
    assert_eq!(c!(simcudaLeakCount()), before + 4);
    let leaks = leaks();
    for kind in ["event", "device memory", "memory pool", "pool memory"] {
        assert!(leaks.contains(&(kind.to_owned(), 1)), "{kind}: {leaks:?}");
    }
    ok!(cuMemFreeAsync(block, setup.stream));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuMemFree_v2(memory));
    ok!(cuEventDestroy_v2(event));
    assert_eq!(c!(simcudaLeakCount()), before);
}
