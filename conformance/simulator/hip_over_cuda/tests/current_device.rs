//! HIP's current device, and the CUDA context that no call may leave changed.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use hip_on_cuda::sys::layout::*;
use hip_on_cuda::sys::status::*;
use support::*;

fn device() -> i32 {
    get!(hipGetDevice(_))
}

#[test]
fn a_thread_starts_on_device_0_and_changes_only_its_own() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    assert_eq!(device(), 1);
    assert_eq!(std::thread::spawn(device).join().unwrap(), 0);
    ok!(hipSetDevice(0));
}

#[test]
fn a_device_that_does_not_exist_is_refused_and_changes_nothing() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    for wrong in [2, -1, i32::MAX] {
        err!(hipErrorInvalidDevice, hipSetDevice(wrong));
        assert_eq!(device(), 1);
    }
    ok!(hipSetDevice(0));
}

#[test]
fn popping_a_context_leaves_the_device_that_pushing_it_chose() {
    let _alone = alone();
    let other = get!(hipDevicePrimaryCtxRetain(_, 1));
    ok!(hipCtxPushCurrent(other));
    assert_eq!(device(), 1);
    assert_eq!(get!(hipCtxPopCurrent(_)), other);
    assert_eq!(device(), 1, "the pop gave the old device back, which HIP's does not");
    let mut out = 0;
    err!(hipErrorInvalidContext, hipCtxPopCurrent(&raw mut out));
    ok!(hipDevicePrimaryCtxRelease(1));
    ok!(hipSetDevice(0));
}

#[test]
fn a_context_is_a_device_by_another_name() {
    let _alone = alone();
    let (first, second) = (get!(hipDevicePrimaryCtxRetain(_, 0)), get!(hipDevicePrimaryCtxRetain(_, 1)));
    assert_ne!(first, second);
    assert_eq!(get!(hipCtxGetCurrent(_)), first);
    ok!(hipCtxSetCurrent(second));
    assert_eq!((device(), get!(hipCtxGetCurrent(_))), (1, second));
    ok!(hipCtxSetCurrent(0));
    assert_eq!(device(), 1, "setting no context pops, and popping restores nothing");
    err!(hipErrorInvalidContext, hipCtxSetCurrent(0x1234));
    ok!(hipSetDevice(0));
}

#[test]
fn what_is_made_belongs_to_the_current_device() {
    let _alone = alone();
    for device in [0, 1] {
        ok!(hipSetDevice(device));
        let stream: usize = get!(hipStreamCreateWithFlags(_, 1));
        let memory: usize = get!(hipMalloc(_, 256));
        ok!(hipSetDevice(1 - device));
        assert_eq!(stream_device(stream), device);
        assert_eq!(attributes(memory).device, device);
        // An event of another device cannot be recorded on the stream.
        let foreign = get!(hipEventCreate(_));
        err!(hipErrorInvalidHandle, hipEventRecord(foreign, stream));
        ok!(hipEventDestroy(foreign));
        ok!(hipStreamDestroy(stream));
        ok!(hipFree(memory));
    }
    ok!(hipSetDevice(0));
}

fn stream_device(stream: usize) -> i32 {
    let mut out = -1;
    ok!(hipStreamGetDevice(stream, &raw mut out));
    out
}

fn attributes(pointer: usize) -> hipPointerAttribute_t {
    // SAFETY: integers and raw pointers alone.
    let mut out: hipPointerAttribute_t = unsafe { core::mem::zeroed() };
    ok!(hipPointerGetAttributes(&raw mut out, pointer));
    out
}

/// Calls of every kind on device 0, good ones and bad ones.
fn all_sorts() {
    let stream: usize = get!(hipStreamCreateWithFlags(_, 1));
    let event: usize = get!(hipEventCreate(_));
    let memory: usize = get!(hipMalloc(_, 4096));
    let host: usize = get!(hipHostMalloc(_, 4096, 0));
    let managed: usize = get!(hipMallocManaged(_, 4096, 1));
    for queue in [stream, 0, 2] {
        let pooled: usize = get!(hipMallocAsync(_, 4096, queue));
        ok!(hipMemsetAsync(pooled, 7, 4096, queue));
        ok!(hipMemcpyAsync(host, pooled, 4096, 4, queue));
        ok!(hipFreeAsync(pooled, queue));
        ok!(hipEventRecord(event, queue));
        ok!(hipStreamWaitEvent(queue, event, 0));
        ok!(hipStreamSynchronize(queue));
        ok!(hipStreamQuery(queue));
    }
    ok!(hipMemset(memory, 1, 4096));
    ok!(hipMemcpy(host, memory, 4096, 2));
    ok!(hipMemcpyPeer(memory, 0, managed, 1, 64));
    let _: usize = get!(hipMemGetInfo(_, core::ptr::null_mut()));
    attributes(memory);
    let image = saxpy_ptx();
    let module: usize = get!(hipModuleLoadData(_, image.as_ptr().cast()));
    let function: usize = get!(hipModuleGetFunction(_, module, c"saxpy".as_ptr()));
    let mut out = 0_usize;
    err!(hipErrorNotFound, hipModuleGetFunction(&raw mut out, module, c"nothing".as_ptr()));
    err!(hipErrorInvalidValue, hipModuleLoadData(&raw mut out, core::ptr::null()));
    let (mut grid, mut block) = (0, 0);
    ok!(hipModuleOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, function, 0, 0));
    ok!(hipModuleUnload(module));
    err!(hipErrorOutOfMemory, hipMalloc(&raw mut out, 1 << 50));
    err!(hipErrorInvalidHandle, hipEventRecord(0, stream));
    ok!(hipDeviceSynchronize());
    ok!(hipStreamDestroy(stream));
    ok!(hipEventDestroy(event));
    ok!(hipFree(memory));
    ok!(hipFree(managed));
    ok!(hipHostFree(host));
    // On the null stream of the other device, too.
    ok!(hipSetDevice(1));
    ok!(hipStreamSynchronize(0));
    ok!(hipDeviceSynchronize());
    ok!(hipSetDevice(0));
}

#[test]
fn no_call_changes_the_threads_cuda_context() {
    let _alone = alone();
    // With none, with another context of the same device, with the other device's.
    let own: usize = get!(cuCtxCreate_v2(_, 0, 0));
    ok!(cuCtxSetCurrent(0));
    let other: usize = get!(cuDevicePrimaryCtxRetain(_, 1));
    for context in [0, own, other] {
        ok!(cuCtxSetCurrent(context));
        all_sorts();
        assert_eq!(cuda_context(), context);
    }
    ok!(cuCtxSetCurrent(0));
    ok!(cuDevicePrimaryCtxRelease_v2(1));
    ok!(cuCtxDestroy_v2(own));
    assert_eq!(simcudaReportCount(), 0);
}

#[test]
fn a_native_failure_inside_of_a_call_leaves_the_context_too() {
    let _alone = alone();
    let other: usize = get!(cuDevicePrimaryCtxRetain(_, 1));
    ok!(cuCtxSetCurrent(other));
    let mut out = 0_usize;
    ok!(hipMalloc(&raw mut out, 64));
    ok!(hipFree(out));
    for name in [c"cuMemAlloc_v2", c"cuCtxSetCurrent", c"cuCtxGetCurrent"] {
        assert_eq!(simcudaInjectFault(name.as_ptr(), 1, 2, 1), 0);
        err!(hipErrorOutOfMemory, hipMalloc(&raw mut out, 64));
        assert_eq!(cuda_context(), other, "{name:?}");
    }
    ok!(cuCtxSetCurrent(0));
    ok!(cuDevicePrimaryCtxRelease_v2(1));
}

#[test]
fn contexts_are_retained_by_first_use_and_given_back_on_request() {
    let _alone = alone();
    hiponcudaReleaseContexts();
    let active = |device| {
        let (mut flags, mut active) = (0, 0);
        ok!(cuDevicePrimaryCtxGetState(device, &raw mut flags, &raw mut active));
        active != 0
    };
    ok!(hipSetDevice(1));
    ok!(hipSetDevice(0));
    assert!(!active(0) && !active(1), "choosing a device made a context");
    let memory: usize = get!(hipMalloc(_, 64));
    assert!(active(0) && !active(1));
    ok!(hipFree(memory));
    hiponcudaReleaseContexts();
    assert!(!active(0));
    let memory: usize = get!(hipMalloc(_, 64));
    ok!(hipFree(memory));
}
