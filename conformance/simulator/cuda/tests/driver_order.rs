//! Streams and events: what waits for what, shown with held work instead of by chance.

#[macro_use]
mod driver;
use core::ffi::c_void;
use driver::*;
use simcuda::sys::*;
use std::sync::mpsc;

struct Two {
    a: Handle,
    b: Handle,
}

fn context() -> Handle {
    let context = get!(cuCtxCreate_v2(0, 0));
    assert_ne!(context, 0);
    context
}

fn two(flags: u32) -> Two {
    Two { a: get!(cuStreamCreate(flags)), b: get!(cuStreamCreate(flags)) }
}

/// A host function that blocks its stream until the test says so.
struct Plug {
    open: mpsc::Sender<()>,
    _data: Box<mpsc::Receiver<()>>,
}

impl Plug {
    fn put(stream: Handle) -> Self {
        unsafe extern "C" fn block(data: *mut c_void) {
            // SAFETY: the data is the receiver below, which outlives the call; a gone sender opens too.
            let _ = unsafe { (*data.cast::<mpsc::Receiver<()>>()).recv() };
        }
        let (open, receiver) = mpsc::channel();
        let data = Box::new(receiver);
        ok!(cuLaunchHostFunc(stream, Some(block), (&raw const *data).cast_mut().cast()));
        Plug { open, _data: data }
    }

    fn pull(self, stream: Handle) {
        self.open.send(()).expect("the stream waits");
        ok!(cuStreamSynchronize(stream));
    }
}

#[test]
fn no_thread_starts_before_a_stream_has_something_to_wait_for() {
    let _session = Session::begin();
    let before = c!(simcudaThreadCount());
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(0));
    ok!(cuEventRecord(event, stream));
    ok!(cuEventSynchronize(event));
    let block = get!(cuMemAllocAsync(64, stream));
    ok!(cuMemFreeAsync(block, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(c!(simcudaThreadCount()), before);
    let memory = get!(cuMemAlloc_v2(64));
    ok!(cuMemsetD8Async(memory, 1, 64, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(c!(simcudaThreadCount()), before + 1);
    ok!(cuMemFree_v2(memory));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn held_work_stays_in_flight_until_released() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(0));
    let memory = get!(cuMemAlloc_v2(64));
    ok!(cuMemsetD8_v2(memory, 1, 64));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(memory, 2, 64, stream));
    ok!(cuEventRecord(event, stream));
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    err!(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    assert_eq!(bytes_of(memory, 64), [1; 64], "a non-blocking stream does not hold the legacy stream up");
    c!(simcudaReleaseWork());
    ok!(cuEventSynchronize(event));
    ok!(cuStreamQuery(stream));
    assert_eq!(bytes_of(memory, 64), [2; 64]);
    ok!(cuMemFree_v2(memory));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_wait_for_an_event_blocks_its_own_stream_alone() {
    let _session = Session::begin();
    let context = context();
    let Two { a, b } = two(CU_STREAM_NON_BLOCKING);
    let third: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(0));
    let plug = Plug::put(a);
    ok!(cuEventRecord(event, a));
    ok!(cuStreamWaitEvent(b, event, 0));
    ok!(cuStreamQuery(third));
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    plug.pull(a);
    ok!(cuStreamSynchronize(b));
    ok!(cuEventDestroy_v2(event));
    for stream in [a, b, third] {
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn recording_again_does_not_disturb_an_earlier_wait() {
    let _session = Session::begin();
    let context = context();
    let Two { a, b } = two(CU_STREAM_NON_BLOCKING);
    let third: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(0));
    let first = Plug::put(a);
    ok!(cuEventRecord(event, a));
    ok!(cuStreamWaitEvent(b, event, 0));
    let second = Plug::put(third);
    ok!(cuEventRecord(event, third));
    first.pull(a);
    ok!(cuStreamSynchronize(b));
    err!(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    second.pull(third);
    ok!(cuEventQuery(event));
    ok!(cuEventDestroy_v2(event));
    for stream in [a, b, third] {
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn an_event_never_recorded_is_complete_and_holds_nobody_up() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(0));
    ok!(cuEventQuery(event));
    ok!(cuEventSynchronize(event));
    ok!(cuStreamWaitEvent(stream, event, 0));
    ok!(cuStreamQuery(stream));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn elapsed_time_needs_two_recorded_events_with_timing() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let (start, end): (Handle, Handle) = (get!(cuEventCreate(0)), get!(cuEventCreate(0)));
    let plain: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    let mut ms = -1.0f32;
    err!(400, cuEventElapsedTime_v2(&mut ms, start, end));
    ok!(cuEventRecord(start, stream));
    ok!(cuEventRecord(plain, stream));
    let plug = Plug::put(stream);
    ok!(cuEventRecord(end, stream));
    err!(CUDA_ERROR_NOT_READY, cuEventElapsedTime_v2(&mut ms, start, end));
    plug.pull(stream);
    err!(400, cuEventElapsedTime_v2(&mut ms, start, plain));
    assert_eq!(ms, -1.0);
    ok!(cuEventElapsedTime_v2(&mut ms, start, end));
    assert!(ms >= 0.0);
    for event in [start, end, plain] {
        ok!(cuEventDestroy_v2(event));
    }
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn the_legacy_stream_and_blocking_streams_wait_for_each_other() {
    let _session = Session::begin();
    let context = context();
    let Two { a, b } = two(0);
    let plug = Plug::put(a);
    let memory = get!(cuMemAlloc_v2(64));
    ok!(cuMemsetD8Async(memory, 3, 64, CU_STREAM_LEGACY));
    ok!(cuMemsetD8Async(memory, 4, 64, b));
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(0));
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    plug.pull(a);
    ok!(cuStreamSynchronize(b));
    assert_eq!(bytes_of(memory, 64), [4; 64]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(a));
    ok!(cuStreamDestroy_v2(b));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn pageable_sources_may_be_reused_as_soon_as_the_copy_is_submitted() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let memory = get!(cuMemAlloc_v2(64));
    let mut pageable = [5u8; 64];
    let pinned: u64 = get!(cuMemHostAlloc(64, 0));
    let second = get!(cuMemAlloc_v2(64));
    // SAFETY: the pinned block has 64 bytes.
    unsafe { (pinned as *mut u8).write_bytes(5, 64) };
    c!(simcudaHoldWork());
    ok!(cuMemcpyHtoDAsync_v2(memory, pageable.as_ptr().cast(), 64, stream));
    ok!(cuMemcpyHtoDAsync_v2(second, pinned as *const c_void, 64, stream));
    pageable.fill(6);
    // SAFETY: as above; no work runs while it is held.
    unsafe { (pinned as *mut u8).write_bytes(6, 64) };
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(stream));
    assert_eq!(bytes_of(memory, 64), [5; 64]);
    assert_eq!(bytes_of(second, 64), [6; 64], "page-locked memory is read when the copy runs");
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFree_v2(second));
    ok!(cuMemFreeHost(pinned));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(0));
    let memory = get!(cuMemAlloc_v2(64));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(memory, 9, 64, stream));
    ok!(cuEventRecord(event, stream));
    ok!(cuStreamDestroy_v2(stream));
    c!(simcudaReleaseWork());
    ok!(cuEventSynchronize(event));
    assert_eq!(bytes_of(memory, 64), [9; 64]);
    ok!(cuMemFree_v2(memory));
    ok!(cuEventDestroy_v2(event));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn native_calls_inside_host_functions_are_refused_and_reported() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    unsafe extern "C" fn call(data: *mut c_void) {
        let (mut handle, mut memory) = (0, 0);
        let results = [
            c!(cuCtxGetCurrent(&mut handle)),
            c!(cuMemAlloc_v2(&mut memory, 64)),
            c!(cuStreamQuery(*unsafe_stream(data))),
        ];
        // SAFETY: the data is the test's channel and stream.
        unsafe { &(*data.cast::<(mpsc::Sender<[i32; 3]>, Handle)>()).0 }.send(results).expect("the test waits");
    }
    fn unsafe_stream<'a>(data: *mut c_void) -> &'a Handle {
        // SAFETY: as above.
        unsafe { &(*data.cast::<(mpsc::Sender<[i32; 3]>, Handle)>()).1 }
    }
    let (sender, receiver) = mpsc::channel::<[i32; 3]>();
    let mut data = (sender, stream);
    ok!(cuLaunchHostFunc(stream, Some(call), (&raw mut data).cast()));
    assert_eq!(receiver.recv().expect("the host function runs"), [800, 800, 0]);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(report_kinds(), ["host-function"; 3]);
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_value_wait_lets_later_work_through_when_the_host_writes() {
    let _session = Session::begin();
    let context = context();
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let flag: u64 = get!(cuMemHostAlloc(8, 0));
    // SAFETY: the block has eight bytes, aligned, and is only touched as an atomic from here on.
    let cell = unsafe { &*(flag as *const std::sync::atomic::AtomicU64) };
    cell.store(0, std::sync::atomic::Ordering::SeqCst);
    ok!(cuStreamWaitValue64_v2(stream, flag, 7, CU_STREAM_WAIT_VALUE_GEQ));
    ok!(cuStreamWriteValue64_v2(stream, flag, 100, 0));
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    cell.store(8, std::sync::atomic::Ordering::SeqCst);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(cell.load(std::sync::atomic::Ordering::SeqCst), 100);
    ok!(cuMemFreeHost(flag));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn each_thread_has_a_default_stream_of_its_own() {
    let _session = Session::begin();
    let context = context();
    let memory = get!(cuMemAlloc_v2(64));
    let plug = Plug::put(CU_STREAM_PER_THREAD);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ok!(cuCtxSetCurrent(context));
            ok!(cuStreamQuery(CU_STREAM_PER_THREAD));
            ok!(cuMemsetD8Async(memory, 1, 64, CU_STREAM_PER_THREAD));
            ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        });
    });
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
    plug.pull(CU_STREAM_PER_THREAD);
    ok!(cuMemFree_v2(memory));
    ok!(cuCtxDestroy_v2(context));
}

/// Two streams and a block that was allocated on the first, with the allocation reached.
struct Block {
    context: Handle,
    a: Handle,
    b: Handle,
    address: u64,
    _session: Session,
}

impl Block {
    fn new() -> Self {
        let session = Session::begin();
        let context = context();
        let Two { a, b } = two(CU_STREAM_NON_BLOCKING);
        Block { context, a, b, address: get!(cuMemAllocAsync(64, a)), _session: session }
    }

    fn fill(&self, stream: Handle) {
        ok!(cuMemsetD8Async(self.address, 1, 64, stream));
    }

    fn free(&self, stream: Handle) {
        ok!(cuMemFreeAsync(self.address, stream));
    }

    #[track_caller]
    fn ends(self, expected: &[&str]) {
        c!(cuStreamSynchronize(self.a));
        c!(cuStreamSynchronize(self.b));
        let mut kinds = report_kinds();
        kinds.dedup();
        assert_eq!(kinds, expected, "{:#?}", reports());
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        ok!(cuStreamDestroy_v2(self.a));
        ok!(cuStreamDestroy_v2(self.b));
        ok!(cuCtxDestroy_v2(self.context));
    }
}

#[test]
fn a_use_on_another_stream_is_reported_though_the_allocation_was_reached() {
    let block = Block::new();
    block.fill(block.b);
    block.ends(&["use-before-alloc"]);
}

#[test]
fn an_event_recorded_before_the_allocation_orders_nothing_after_it() {
    let block = Block::new();
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    ok!(cuEventRecord(event, block.a));
    let later: u64 = get!(cuMemAllocAsync(64, block.a));
    ok!(cuStreamWaitEvent(block.b, event, 0));
    block.fill(block.b);
    c!(cuStreamSynchronize(block.b));
    assert_eq!(reports(), [], "the first block was allocated before the record");
    ok!(cuMemsetD8Async(later, 1, 64, block.b));
    ok!(cuEventDestroy_v2(event));
    block.ends(&["use-before-alloc"]);
}

#[test]
fn events_order_a_use_also_by_way_of_a_third_stream() {
    let block = Block::new();
    let third: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    ok!(cuEventRecord(event, block.a));
    ok!(cuStreamWaitEvent(third, event, 0));
    ok!(cuEventRecord(event, third));
    ok!(cuStreamWaitEvent(block.b, event, 0));
    block.fill(block.b);
    block.free(block.b);
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(third));
    block.ends(&[]);
}

#[test]
fn what_the_host_waited_for_or_saw_done_is_ordered_before_what_it_submits_then() {
    let ways: [fn(&Block, Handle); 6] = [
        |block, _| ok!(cuStreamSynchronize(block.a)),
        |_, _| ok!(cuCtxSynchronize()),
        |block, _| ok!(cuStreamQuery(block.a)),
        |_, event| ok!(cuEventSynchronize(event)),
        |_, event| ok!(cuEventQuery(event)),
        |_, _| {
            let memory = get!(cuMemAlloc_v2(64));
            ok!(cuMemFree_v2(memory));
        },
    ];
    for way in ways {
        let block = Block::new();
        let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
        ok!(cuEventRecord(event, block.a));
        way(&block, event);
        block.fill(block.b);
        block.free(block.b);
        ok!(cuEventDestroy_v2(event));
        block.ends(&[]);
    }
}

#[test]
fn waiting_for_another_stream_orders_nothing() {
    let block = Block::new();
    ok!(cuStreamSynchronize(block.b));
    block.fill(block.b);
    block.ends(&["use-before-alloc"]);
}

#[test]
fn blocking_streams_are_ordered_by_the_legacy_stream() {
    let block = Block::new();
    let Two { a, b } = two(0);
    let memory: u64 = get!(cuMemAllocAsync(64, a));
    ok!(cuMemsetD8Async(memory, 1, 64, CU_STREAM_LEGACY));
    ok!(cuMemsetD8Async(memory, 2, 64, b));
    assert_eq!(bytes_of(memory, 64), [2; 64]);
    ok!(cuMemFreeAsync(memory, CU_STREAM_LEGACY));
    ok!(cuCtxSynchronize());
    ok!(cuStreamDestroy_v2(a));
    ok!(cuStreamDestroy_v2(b));
    block.ends(&[]);
}

#[test]
fn a_free_that_is_not_ordered_after_a_use_is_reported_though_the_use_is_over() {
    let block = Block::new();
    let cell = Box::new(core::sync::atomic::AtomicU64::new(0));
    let address = (&raw const *cell) as u64;
    ok!(cuMemHostRegister_v2(address as *mut c_void, 8, 0));
    ok!(cuStreamSynchronize(block.a));
    block.fill(block.b);
    // The host sees the value, but no call told it: nothing orders the free.
    ok!(cuStreamWriteValue64_v2(block.b, address, 1, 0));
    while cell.load(core::sync::atomic::Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    block.free(block.a);
    assert_eq!(report_kinds(), ["unordered-free"]);
    ok!(cuMemHostUnregister(address as *mut c_void));
    block.ends(&["unordered-free"]);
}

#[test]
fn a_free_after_an_event_behind_the_use_is_ordered() {
    let block = Block::new();
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    ok!(cuStreamSynchronize(block.a));
    block.fill(block.b);
    ok!(cuEventRecord(event, block.b));
    ok!(cuStreamWaitEvent(block.a, event, 0));
    block.free(block.a);
    ok!(cuEventDestroy_v2(event));
    block.ends(&[]);
}

/// A host function may wait for anything, so what ended before it did counts as ordered before what follows it.
#[test]
fn work_behind_a_host_function_is_ordered_after_what_ended_before_it() {
    let block = Block::new();
    let plug = Plug::put(block.b);
    block.fill(block.b);
    assert_eq!(reports(), [], "what the function waits for is not known yet");
    plug.pull(block.b);
    block.free(block.b);
    block.ends(&[]);
}

#[test]
fn a_host_function_tells_the_host_what_came_before_it() {
    unsafe extern "C" fn signal(data: *mut c_void) {
        // SAFETY: the data is the channel's sender, which outlives the call.
        unsafe { &*data.cast::<mpsc::Sender<()>>() }.send(()).expect("the test waits");
    }
    let block = Block::new();
    let (sender, receiver) = mpsc::channel::<()>();
    ok!(cuLaunchHostFunc(block.a, Some(signal), (&raw const sender).cast_mut().cast()));
    receiver.recv().expect("the function runs");
    block.fill(block.b);
    ok!(cuStreamSynchronize(block.a));
    ok!(cuStreamSynchronize(block.b));
    block.free(block.b);
    block.ends(&[]);
}

#[test]
fn a_block_that_another_stream_gets_again_needs_its_order_too() {
    let block = Block::new();
    ok!(cuStreamSynchronize(block.a));
    block.free(block.a);
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    ok!(cuEventRecord(event, block.a));
    ok!(cuStreamWaitEvent(block.b, event, 0));
    let again: u64 = get!(cuMemAllocAsync(64, block.b));
    assert_eq!(again, block.address, "the pool has one block to give");
    ok!(cuMemsetD8Async(again, 1, 64, block.b));
    c!(cuStreamSynchronize(block.b));
    assert_eq!(reports(), []);
    let third: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let next: u64 = get!(cuMemAllocAsync(64, third));
    ok!(cuMemsetD8Async(next, 1, 64, block.a));
    ok!(cuEventDestroy_v2(event));
    c!(cuStreamSynchronize(third));
    ok!(cuStreamDestroy_v2(third));
    block.ends(&["use-before-alloc"]);
}

/// A clock is as long as there are streams alive, not as there ever were.
#[test]
fn streams_that_come_and_go_are_forgotten() {
    let block = Block::new();
    for _ in 0..200 {
        let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
        let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
        let memory: u64 = get!(cuMemAllocAsync(64, stream));
        ok!(cuEventRecord(event, stream));
        ok!(cuStreamWaitEvent(block.b, event, 0));
        ok!(cuMemsetD8Async(memory, 1, 64, block.b));
        ok!(cuMemFreeAsync(memory, block.b));
        ok!(cuEventDestroy_v2(event));
        ok!(cuStreamDestroy_v2(stream));
    }
    block.ends(&[]);
}
