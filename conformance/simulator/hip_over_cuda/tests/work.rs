//! Streams, events, host functions, modules and launches.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use hip_on_cuda::sys::status::*;
use hip_on_cuda::sys::value::enumerator::*;
use hip_on_cuda::sys::value::flag::*;
use support::*;

fn stream() -> usize {
    get!(hipStreamCreateWithFlags(_, hipStreamNonBlocking))
}

#[test]
fn streams_tell_their_flags_priority_and_device() {
    let _alone = alone();
    let (mut least, mut greatest) = (0, 0);
    ok!(hipDeviceGetStreamPriorityRange(&raw mut least, &raw mut greatest));
    assert!(greatest < least);
    let stream: usize = get!(hipStreamCreateWithPriority(_, hipStreamNonBlocking, greatest));
    let (mut flags, mut priority, mut device) = (0, 0, -1);
    ok!(hipStreamGetFlags(stream, &raw mut flags));
    ok!(hipStreamGetPriority(stream, &raw mut priority));
    ok!(hipStreamGetDevice(stream, &raw mut device));
    assert_eq!((flags, priority, device), (hipStreamNonBlocking, greatest, 0));
    ok!(hipStreamDestroy(stream));
    let mut out = 0;
    err!(hipErrorInvalidValue, hipStreamCreateWithFlags(&raw mut out, 2));
}

#[test]
fn the_default_streams_are_the_current_devices_and_cannot_be_destroyed() {
    let _alone = alone();
    for device in [1, 0] {
        ok!(hipSetDevice(device));
        for stream in [0, 1, 2] {
            let mut of = -1;
            ok!(hipStreamGetDevice(stream, &raw mut of));
            assert_eq!(of, device);
            ok!(hipStreamSynchronize(stream));
            err!(hipErrorInvalidHandle, hipStreamDestroy(stream));
        }
    }
}

#[test]
fn work_in_flight_is_not_ready_and_that_is_no_last_error() {
    let _alone = alone();
    let stream = stream();
    let memory: usize = get!(hipMalloc(_, 64));
    let event = get!(hipEventCreateWithFlags(_, hipEventDisableTiming));
    simcudaHoldWork();
    ok!(hipMemsetAsync(memory, 1, 64, stream));
    ok!(hipEventRecord(event, stream));
    err!(hipErrorNotReady, hipStreamQuery(stream));
    err!(hipErrorNotReady, hipEventQuery(event));
    assert_eq!(hipPeekAtLastError(), hipSuccess.0);
    simcudaReleaseWork();
    ok!(hipEventSynchronize(event));
    ok!(hipEventQuery(event));
    ok!(hipStreamDestroy(stream));
    ok!(hipEventDestroy(event));
    ok!(hipFree(memory));
}

#[test]
fn events_measure_unless_they_were_made_without_timing() {
    let _alone = alone();
    let stream = stream();
    let (start, stop): (usize, usize) = (get!(hipEventCreate(_)), get!(hipEventCreate(_)));
    let mut milliseconds = -1.0;
    err!(hipErrorInvalidHandle, hipEventElapsedTime(&raw mut milliseconds, start, stop));
    ok!(hipEventRecord(start, stream));
    ok!(hipEventRecord(stop, stream));
    ok!(hipEventSynchronize(stop));
    ok!(hipEventElapsedTime(&raw mut milliseconds, start, stop));
    assert!(milliseconds >= 0.0);
    let untimed: usize = get!(hipEventCreateWithFlags(_, hipEventDisableTiming | hipEventReleaseToSystem));
    ok!(hipEventRecord(untimed, stream));
    ok!(hipEventSynchronize(untimed));
    err!(hipErrorInvalidHandle, hipEventElapsedTime(&raw mut milliseconds, start, untimed));
    err!(hipErrorInvalidHandle, hipEventElapsedTime(&raw mut milliseconds, 0, stop));
    let mut out = 0;
    err!(hipErrorInvalidValue, hipEventCreateWithFlags(&raw mut out, 0x100));
    err!(hipErrorInvalidValue, hipEventCreateWithFlags(&raw mut out, hipEventInterprocess));
    let fences = hipEventReleaseToSystem | hipEventReleaseToDevice;
    err!(hipErrorInvalidValue, hipEventCreateWithFlags(&raw mut out, fences));
    for event in [start, stop, untimed] {
        ok!(hipEventDestroy(event));
    }
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_stream_waits_for_another_streams_event() {
    let _alone = alone();
    let (first, second) = (stream(), stream());
    let event: usize = get!(hipEventCreate(_));
    let (from, to): (usize, usize) = (get!(hipMalloc(_, 64)), get!(hipMalloc(_, 64)));
    ok!(hipMemsetAsync(from, 6, 64, first));
    ok!(hipEventRecord(event, first));
    ok!(hipStreamWaitEvent(second, event, 0));
    ok!(hipMemcpyAsync(to, from, 64, hipMemcpyDeviceToDevice, second));
    let mut back = [0_u8; 64];
    ok!(hipMemcpyAsync(into(&mut back), to, 64, hipMemcpyDeviceToHost, second));
    ok!(hipStreamSynchronize(second));
    assert_eq!(back, [6; 64]);
    ok!(hipEventDestroy(event));
    ok!(hipFree(from));
    ok!(hipFree(to));
    ok!(hipStreamDestroy(first));
    ok!(hipStreamDestroy(second));
}

/// What callbacks leave for the test.
#[derive(Default)]
struct Seen {
    calls: AtomicU32,
    status: AtomicI32,
    device: AtomicI32,
    refused: AtomicI32,
}

unsafe extern "C" fn on_host(data: *mut c_void) {
    // SAFETY: the tests pass a `Seen` that lives until the stream is synchronised.
    let seen = unsafe { &*data.cast::<Seen>() };
    seen.device.store(get!(hipGetDevice(_)), Ordering::SeqCst);
    let mut memory = 0;
    seen.refused.store(hipMalloc(&raw mut memory, 64), Ordering::SeqCst);
    seen.calls.fetch_add(1, Ordering::SeqCst);
}

unsafe extern "C" fn on_stream(_stream: usize, status: c_int, data: *mut c_void) {
    // SAFETY: as above.
    let seen = unsafe { &*data.cast::<Seen>() };
    seen.status.store(status, Ordering::SeqCst);
    seen.calls.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_order_and_may_not_call_the_api() {
    let _alone = alone();
    let stream = stream();
    let seen = Seen::default();
    let data = core::ptr::from_ref(&seen).cast_mut().cast::<c_void>();
    seen.status.store(-1, Ordering::SeqCst);
    for queue in [stream, 0] {
        ok!(hipLaunchHostFunc(queue, on_host, data));
        ok!(hipStreamAddCallback(queue, on_stream, data, 0));
        ok!(hipStreamSynchronize(queue));
    }
    assert_eq!(seen.calls.load(Ordering::SeqCst), 4);
    assert_eq!(seen.status.load(Ordering::SeqCst), hipSuccess.0);
    assert_eq!(seen.device.load(Ordering::SeqCst), 0, "asking for the device needs no native call");
    assert_eq!(seen.refused.load(Ordering::SeqCst), hipErrorIllegalState.0);
    err!(hipErrorInvalidValue, hipStreamAddCallback(stream, on_stream, data, 1));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn streams_write_and_wait_for_memory_and_refuse_masks() {
    let _alone = alone();
    let (writer, waiter) = (stream(), stream());
    let cell: usize = get!(hipHostMalloc(_, 8, 0));
    // SAFETY: eight bytes of host memory.
    let value = unsafe { &*core::ptr::with_exposed_provenance::<core::sync::atomic::AtomicU64>(cell) };
    value.store(0, Ordering::SeqCst);
    ok!(hipStreamWaitValue64(waiter, cell, 5, hipStreamWaitValueGte, u64::MAX));
    ok!(hipStreamWriteValue64(writer, cell, 5, 0));
    ok!(hipStreamSynchronize(waiter));
    assert_eq!(value.load(Ordering::SeqCst), 5);
    err!(hipErrorNotSupported, hipStreamWaitValue64(waiter, cell, 5, hipStreamWaitValueGte, 0xff));
    ok!(hipStreamSynchronize(writer));
    ok!(hipStreamDestroy(writer));
    ok!(hipStreamDestroy(waiter));
    ok!(hipHostFree(cell));
}

/// Addresses of `x` and `y` on the device, of 100 elements: 1 and 2.
fn vectors() -> (usize, usize) {
    let (x, y): (usize, usize) = (get!(hipMalloc(_, 400)), get!(hipMalloc(_, 400)));
    ok!(hipMemcpyHtoD(x, at(&[1.0_f32; 100]), 400));
    ok!(hipMemcpyHtoD(y, at(&[2.0_f32; 100]), 400));
    (x, y)
}

fn expect(y: usize, value: f32) {
    let mut back = [0.0_f32; 100];
    ok!(hipMemcpyDtoH(into(&mut back), y, 400));
    assert_eq!(back, [value; 100]);
}

#[test]
fn a_kernel_runs_with_its_arguments_as_a_list_and_packed() {
    let _alone = alone();
    let (function, module) = saxpy();
    let (x, y) = vectors();
    let stream = stream();
    let (factor, count) = (3.0_f32, 100_u32);
    let arguments: [*mut c_void; 4] = [at(&factor), at(&x), at(&y), at(&count)].map(|a| a as *mut c_void);
    let none = core::ptr::null();
    ok!(hipModuleLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, arguments.as_ptr(), none));
    ok!(hipStreamSynchronize(stream));
    expect(y, 5.0);

    #[repr(C)]
    struct Packed(f32, usize, usize, u32);
    let packed = Packed(factor, x, y, count);
    let size = core::mem::offset_of!(Packed, 3) + 4;
    let extra = [1, at(&packed), 2, at(&size), 3];
    ok!(hipModuleLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, core::ptr::null(), extra.as_ptr()));
    ok!(hipStreamSynchronize(stream));
    expect(y, 8.0);
    let unended = [1, at(&packed), 2, at(&size), 4, 4, 4];
    let both = extra.as_ptr();
    err!(
        hipErrorInvalidValue,
        hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, core::ptr::null(), unended.as_ptr())
    );
    err!(hipErrorInvalidValue, hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments.as_ptr(), both));
    ok!(hipStreamDestroy(stream));
    ok!(hipFree(x));
    ok!(hipFree(y));
    ok!(hipModuleUnload(module));
}

#[test]
fn a_kernel_is_launched_while_its_streams_device_is_current() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    let (function, module) = saxpy();
    let (x, y) = vectors();
    let stream = stream();
    ok!(hipSetDevice(0));
    let (factor, count) = (1.0_f32, 100_u32);
    let arguments: [*mut c_void; 4] = [at(&factor), at(&x), at(&y), at(&count)].map(|a| a as *mut c_void);
    let launch =
        || hipModuleLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments.as_ptr(), core::ptr::null());
    assert_eq!(launch(), hipErrorInvalidResourceHandle.0);
    ok!(hipSetDevice(1));
    assert_eq!(launch(), hipSuccess.0);
    ok!(hipSetDevice(0));
    ok!(hipStreamSynchronize(stream));
    assert_eq!(get!(hipGetDevice(_)), 0);
    expect(y, 3.0);
    ok!(hipStreamDestroy(stream));
    ok!(hipFree(x));
    ok!(hipFree(y));
    ok!(hipModuleUnload(module));
}

#[test]
fn launches_that_cannot_be_are_refused_with_hips_codes() {
    let _alone = alone();
    let (function, module) = saxpy();
    let arguments = [core::ptr::null_mut(); 4];
    let launch = |function, grid, block| {
        hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, arguments.as_ptr(), core::ptr::null())
    };
    assert_eq!(launch(0, 1, 1), hipErrorInvalidResourceHandle.0);
    assert_eq!(launch(function, 0, 1), hipErrorInvalidValue.0);
    assert_eq!(launch(function, 1, 0), hipErrorInvalidValue.0);
    assert_eq!(launch(function, 1, 1025), hipErrorInvalidConfiguration.0);
    ok!(hipModuleUnload(module));
}

#[test]
fn modules_that_cannot_be_loaded_say_why_and_leave_nothing() {
    let _alone = alone();
    let mut module = 77_usize;
    let status = hipModuleLoadData(&raw mut module, c"this is no device code".as_ptr().cast());
    assert!([hipErrorInvalidImage.0, hipErrorInvalidKernelFile.0].contains(&status), "{status}");
    assert_eq!(module, 77);
    // The log comes back through the options that CUDA shares.
    let mut text = [0_u8; 512];
    let bad = c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { nonsense; }";
    let options: [c_int; 3] = [5, 6, 10_000];
    let mut values = [text.as_mut_ptr().cast::<c_void>(), text.len() as *mut c_void, core::ptr::null_mut()];
    let status = hipModuleLoadDataEx(&raw mut module, bad.as_ptr().cast(), 3, options.as_ptr(), values.as_mut_ptr());
    assert_eq!(status, hipErrorInvalidKernelFile.0);
    assert_ne!(text[0], 0, "no log");
    err!(hipErrorInvalidResourceHandle, hipModuleUnload(0));
}

#[test]
fn functions_tell_their_attributes_and_occupancy() {
    let _alone = alone();
    let (function, module) = saxpy();
    let threads: c_int = get!(hipFuncGetAttribute(_, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    assert_eq!(threads, 1024);
    let mut out = 0;
    err!(hipErrorInvalidValue, hipFuncGetAttribute(&raw mut out, 10, function));
    ok!(hipFuncSetAttribute(function, hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
    let (mut grid, mut block) = (0, 0);
    ok!(hipModuleOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, function, 0, 256));
    assert!(grid > 0 && (1..=256).contains(&block));
    let blocks: c_int = get!(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(_, function, 256, 0));
    assert!(blocks > 0);
    ok!(hipModuleUnload(module));
}

#[test]
fn a_lost_device_fails_work_and_lets_everything_be_destroyed() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    let stream = stream();
    let event: usize = get!(hipEventCreate(_));
    let memory: usize = get!(hipMalloc(_, 64));
    ok!(simcudaLoseDevice(1));
    err!(hipErrorLaunchFailure, hipMemsetAsync(memory, 0, 64, stream));
    err!(hipErrorLaunchFailure, hipStreamSynchronize(stream));
    ok!(hipEventDestroy(event));
    ok!(hipStreamDestroy(stream));
    ok!(hipFree(memory));
    simcudaClearFaults();
    ok!(hipSetDevice(0));
}
