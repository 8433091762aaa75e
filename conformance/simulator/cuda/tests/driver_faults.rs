//! Counting calls, injecting faults, losing devices.

#[macro_use]
mod driver;
use driver::*;
use simcuda::sys::*;

#[test]
fn calls_are_counted_by_their_exported_name() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    c!(simcudaResetCallCounts());
    let memory = get!(cuMemAlloc_v2(64));
    ok!(cuMemFree_v2(memory));
    err!(1, cuMemAlloc_v2(&mut 0, 0));
    assert_eq!((calls(c"cuMemAlloc_v2"), calls(c"cuMemFree_v2"), calls(c"cuMemAlloc")), (2, 1, 0));
    assert_eq!(c!(simcudaCallCountTotal()), 3);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn the_nth_call_fails_as_often_as_asked_and_has_no_effect() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let alive = c!(simcudaLeakCount());
    assert_eq!(c!(simcudaInjectFault(c"cuEventCreate".as_ptr(), 2, 2, 2)), 0);
    let first: Handle = get!(cuEventCreate(0));
    let mut none = 0;
    err!(2, cuEventCreate(&mut none, 0));
    err!(2, cuEventCreate(&mut none, 0));
    assert_eq!(none, 0);
    let second: Handle = get!(cuEventCreate(0));
    assert_eq!(c!(simcudaLeakCount()), alive + 2);
    ok!(cuEventDestroy_v2(first));
    ok!(cuEventDestroy_v2(second));
    assert_eq!(c!(simcudaInjectFault(c"cuNoSuchCall".as_ptr(), 1, 2, 1)), 1);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_fault_without_a_count_lasts_until_cleared() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    c!(simcudaInjectFault(c"cuStreamCreate".as_ptr(), 1, 999, 0));
    for _ in 0..3 {
        err!(999, cuStreamCreate(&mut 0, 0));
    }
    c!(simcudaClearFaults());
    let stream: Handle = get!(cuStreamCreate(0));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_held_call_is_counted_and_does_nothing_until_it_is_released_or_faults_are_cleared() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let alive = c!(simcudaLeakCount());
    let releases: [fn(); 2] =
        [|| assert_eq!(c!(simcudaReleaseCalls(c"cuEventCreate".as_ptr())), 0), || c!(simcudaClearFaults())];
    for release in releases {
        let before = calls(c"cuEventCreate");
        assert_eq!(c!(simcudaHoldCalls(c"cuEventCreate".as_ptr())), 0);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                ok!(cuCtxSetCurrent(context));
                get!(cuEventCreate(0))
            });
            while calls(c"cuEventCreate") == before {
                assert!(!made.is_finished(), "an event without a call");
                std::thread::yield_now();
            }
            // Other calls go on meanwhile, and cannot find the event.
            assert_eq!(c!(simcudaLeakCount()), alive);
            release();
            let event: Handle = made.join().unwrap();
            ok!(cuEventDestroy_v2(event));
        });
        let next: Handle = get!(cuEventCreate(0));
        ok!(cuEventDestroy_v2(next));
    }
    assert_eq!(c!(simcudaHoldCalls(c"cuNoSuchCall".as_ptr())), 1);
    assert_eq!(c!(simcudaHoldReturns(c"cuNoSuchCall".as_ptr())), 1);
    assert_eq!(c!(simcudaReleaseCalls(c"cuNoSuchCall".as_ptr())), 1);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_held_return_has_done_its_work_and_waits_until_it_is_released_or_faults_are_cleared() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 0));
    let alive = c!(simcudaLeakCount());
    let releases: [fn(); 2] =
        [|| assert_eq!(c!(simcudaReleaseCalls(c"cuEventCreate".as_ptr())), 0), || c!(simcudaClearFaults())];
    for release in releases {
        assert_eq!(c!(simcudaHoldReturns(c"cuEventCreate".as_ptr())), 0);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                ok!(cuCtxSetCurrent(context));
                get!(cuEventCreate(0))
            });
            while c!(simcudaLeakCount()) == alive {
                assert!(!made.is_finished(), "a call that was held has returned");
                std::thread::yield_now();
            }
            assert!(!made.is_finished());
            release();
            let event: Handle = made.join().unwrap();
            ok!(cuEventDestroy_v2(event));
        });
    }
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_lost_device_fails_its_work_and_still_lets_everything_be_destroyed() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 1));
    let stream: Handle = get!(cuStreamCreate(0));
    let event: Handle = get!(cuEventCreate(0));
    let memory = get!(cuMemAlloc_v2(64));
    let block = get!(cuMemAllocAsync(64, stream));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(memory, 1, 64, stream));
    ok!(cuEventRecord(event, stream));
    assert_eq!(c!(simcudaLoseDevice(1)), 0);
    c!(simcudaReleaseWork());
    err!(CUDA_ERROR_DEVICE_UNAVAILABLE, cuStreamSynchronize(stream));
    err!(CUDA_ERROR_DEVICE_UNAVAILABLE, cuEventQuery(event));
    err!(CUDA_ERROR_DEVICE_UNAVAILABLE, cuMemAlloc_v2(&mut 0, 64));
    err!(CUDA_ERROR_DEVICE_UNAVAILABLE, cuDevicePrimaryCtxRetain(&mut 0, 1));
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFreeAsync(block, stream));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuCtxDestroy_v2(context));
    assert_eq!(reports(), []);
    assert_eq!(c!(simcudaLoseDevice(7)), 1);
}

#[test]
fn a_free_behind_the_loss_of_its_device_comes_after_every_use_that_was_submitted() {
    let _session = Session::begin();
    let context: Handle = get!(cuCtxCreate_v2(0, 1));
    let (of_use, of_free): (Handle, Handle) = (get!(cuStreamCreate(1)), get!(cuStreamCreate(1)));
    let block = get!(cuMemAllocAsync(64, of_use));
    ok!(cuStreamSynchronize(of_use));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(block, 1, 64, of_use));
    // No event can be recorded behind the use any more, and nobody waits for it: it has ended, or never begins.
    assert_eq!(c!(simcudaLoseDevice(1)), 0);
    c!(simcudaReleaseWork());
    err!(CUDA_ERROR_DEVICE_UNAVAILABLE, cuStreamSynchronize(of_use));
    ok!(cuMemFreeAsync(block, of_free));
    ok!(cuStreamDestroy_v2(of_use));
    ok!(cuStreamDestroy_v2(of_free));
    ok!(cuCtxDestroy_v2(context));
    assert_eq!(reports(), []);
}
