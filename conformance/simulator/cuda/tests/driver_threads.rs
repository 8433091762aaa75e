//! Many threads at once: nothing is lost, mixed up, or reported.

#[macro_use]
mod driver;
use driver::*;
use simcuda::sys::*;

#[test]
fn eight_threads_with_a_stream_each_share_a_device_and_a_pool() {
    let _session = Session::begin();
    let context: Handle = get!(cuDevicePrimaryCtxRetain(0));
    ok!(cuCtxSetCurrent(context));
    let pool: Handle = get!(cuMemPoolCreate(&device_pool(0)));
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            scope.spawn(move || {
                ok!(cuCtxSetCurrent(context));
                let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
                let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
                for round in 0..50usize {
                    let size = 1024 * (1 + round % 7);
                    let value = thread.wrapping_mul(31).wrapping_add(round as u8);
                    let block = get!(cuMemAllocFromPoolAsync(size, pool, stream));
                    ok!(cuMemsetD8Async(block, value, size, stream));
                    let mut seen = vec![!value; size];
                    ok!(cuMemcpyDtoHAsync_v2(seen.as_mut_ptr().cast(), block, size, stream));
                    ok!(cuMemFreeAsync(block, stream));
                    ok!(cuEventRecord(event, stream));
                    ok!(cuEventSynchronize(event));
                    assert!(seen.iter().all(|&byte| byte == value));
                }
                ok!(cuEventDestroy_v2(event));
                ok!(cuStreamDestroy_v2(stream));
            });
        }
    });
    assert_eq!(pool_attribute(pool, 7), 0);
    assert_eq!(reports(), []);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuCtxSetCurrent(0));
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    assert_eq!(c!(simcudaLeakCount()), 0);
}

#[test]
fn handles_made_and_destroyed_by_many_threads_stay_apart() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                ok!(cuCtxPushCurrent_v2(context));
                for _ in 0..500 {
                    let events: Vec<Handle> = (0..4).map(|_| get!(cuEventCreate(0))).collect();
                    for event in events {
                        ok!(cuEventQuery(event));
                        ok!(cuEventDestroy_v2(event));
                        err!(400, cuEventQuery(event));
                    }
                }
            });
        }
    });
    ok!(cuCtxDestroy_v2(context));
}

/// Uses the driver when its thread's other variables have ended, as exit handlers of a process do.
struct Last(Handle);

impl Drop for Last {
    fn drop(&mut self) {
        ok!(cuCtxSetCurrent(self.0));
        ok!(cuCtxSynchronize());
        let mut current = 0;
        ok!(cuCtxGetCurrent(&mut current));
        assert_eq!(current, self.0);
    }
}

thread_local! {
    static LAST: core::cell::RefCell<Option<Last>> = const { core::cell::RefCell::new(None) };
}

#[test]
fn a_thread_whose_variables_have_ended_still_has_a_current_context() {
    let _session = Session::begin();
    let context: Handle = get!(cuDevicePrimaryCtxRetain(0));
    let ends = std::thread::spawn(move || {
        // Variables end in the reverse of the order in which they were first used.
        LAST.with(|last| *last.borrow_mut() = Some(Last(context)));
        ok!(cuCtxSetCurrent(context));
    });
    assert!(ends.join().is_ok());
    assert_eq!(report_kinds(), [""; 0]);
    ok!(cuDevicePrimaryCtxRelease_v2(0));
}
