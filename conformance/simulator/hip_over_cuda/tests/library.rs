//! The library as such: initialisation, statuses, device properties, counts, faults, and processes that end.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use core::ffi::{CStr, c_char, c_int, c_void};
use std::process::{Command, Output};

use hip_on_cuda::sys::attribute::*;
use hip_on_cuda::sys::layout::*;
use hip_on_cuda::sys::status::{ALL as ALL_STATUSES, *};
use support::*;

fn text(pointer: *const c_char) -> &'static str {
    // SAFETY: the library answers static strings.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

#[test]
fn statuses_have_names_and_texts() {
    let _alone = alone();
    assert_eq!(text(hipGetErrorName(hipErrorInvalidValue.0)), "hipErrorInvalidValue");
    assert_eq!(text(hipGetErrorName(hipErrorInvalidResourceHandle.0)), "hipErrorInvalidHandle");
    assert_eq!(text(hipGetErrorString(hipSuccess.0)), "no error");
    assert_eq!(text(hipGetErrorName(123_456)), "hipErrorUnknown");
    for (name, status) in ALL_STATUSES {
        assert!(!text(hipGetErrorString(status.0)).is_empty(), "{name}");
    }
}

#[test]
fn the_last_error_stays_until_it_is_asked_for_and_is_the_threads_own() {
    let _alone = alone();
    err!(hipErrorInvalidDevice, hipSetDevice(9));
    ok!(hipSetDevice(0));
    assert_eq!(hipPeekAtLastError(), hipErrorInvalidDevice.0);
    assert_eq!(std::thread::spawn(hipPeekAtLastError).join().unwrap(), hipSuccess.0);
    assert_eq!(hipExtGetLastError(), hipSuccess.0, "the last call succeeded");
    assert_eq!(hipGetLastError(), hipErrorInvalidDevice.0);
    assert_eq!(hipGetLastError(), hipSuccess.0);
}

#[test]
fn versions_and_functions_are_those_of_rocm_7() {
    let _alone = alone();
    ok!(hipInit(0));
    err!(hipErrorInvalidValue, hipInit(1));
    assert_eq!(get!(hipRuntimeGetVersion(_)) / 10_000_000, 7);
    let (mut function, mut status): (*mut c_void, c_int) = (core::ptr::null_mut(), -1);
    let name = c"hipMalloc".as_ptr();
    ok!(hipGetProcAddress(name, &raw mut function, 70_100_000, 0, &raw mut status));
    assert!(!function.is_null() && status == 0);
    let name = c"hipNothing".as_ptr();
    err!(hipErrorInvalidValue, hipGetProcAddress(name, &raw mut function, 70_100_000, 0, &raw mut status));
    assert!(function.is_null() && status == 1);
}

#[test]
fn both_layouts_of_the_properties_tell_of_the_device_below() {
    let _alone = alone();
    // SAFETY: integers, arrays of them and raw pointers alone.
    let (mut new, mut old): (hipDeviceProp_tR0600, hipDeviceProp_tR0000) = unsafe { core::mem::zeroed() };
    ok!(hipGetDevicePropertiesR0600(&raw mut new, 1));
    ok!(hipGetDeviceProperties(&raw mut old, 1));
    assert_eq!(text(new.gcnArchName.as_ptr()), "sm_90");
    assert_eq!(text(old.gcnArchName.as_ptr()), "sm_90");
    assert_eq!((new.warpSize, old.warpSize), (32, 32));
    assert_eq!((new.name, new.totalGlobalMem), (old.name, old.totalGlobalMem));
    assert_eq!(new.maxThreadsDim, [1024, 1024, 64]);
    assert_eq!(new.totalGlobalMem, get!(hipDeviceTotalMem(_, 1)));
    assert_eq!((new.major, new.minor), (9, 0));
    let mut name = [0; 256];
    ok!(hipDeviceGetName(name.as_mut_ptr(), 256, 1));
    assert_eq!(text(name.as_ptr()), text(new.name.as_ptr()));
    let mut uuid = hipUUID { bytes: [0; 16] };
    ok!(hipDeviceGetUuid(&raw mut uuid, 1));
    assert_eq!(uuid.bytes, new.uuid.bytes);
    err!(hipErrorInvalidDevice, hipGetDevicePropertiesR0600(&raw mut new, 2));
}

#[test]
fn attributes_have_the_numbers_of_rocm_6_and_7() {
    let _alone = alone();
    let attribute = |number| -> c_int { get!(hipDeviceGetAttribute(_, number, 0)) };
    assert_eq!(attribute(hipDeviceAttributeWarpSize), 32);
    assert_eq!(attribute(hipDeviceAttributeComputeCapabilityMajor), 9);
    assert_eq!(attribute(hipDeviceAttributeMaxBlockDimZ), 64);
    assert_eq!(attribute(hipDeviceAttributeMemoryPoolsSupported), 1);
    assert_eq!(attribute(hipDeviceAttributeCanUseStreamWaitValue), 1);
    assert_eq!(attribute(hipDeviceAttributeTotalGlobalMem), c_int::MAX);
    for (name, number) in hip_on_cuda::sys::attribute::ALL {
        let mut value = 0;
        assert_eq!(hipDeviceGetAttribute(&raw mut value, *number, 0), 0, "{name}");
    }
    let mut value = 0;
    for unknown in [-1, 500, 9999, 20_000] {
        err!(hipErrorInvalidValue, hipDeviceGetAttribute(&raw mut value, unknown, 0));
    }
    err!(hipErrorInvalidDevice, hipDeviceGetAttribute(&raw mut value, 0, 2));
}

#[test]
fn a_device_is_found_by_its_pci_address() {
    let _alone = alone();
    let mut address = [0; 32];
    ok!(hipDeviceGetPCIBusId(address.as_mut_ptr(), 32, 1));
    assert_eq!(get!(hipDeviceGetByPCIBusId(_, address.as_ptr())), 1);
    err!(hipErrorInvalidValue, hipDeviceGetPCIBusId(address.as_mut_ptr(), 0, 1));
}

#[test]
fn calls_are_counted_by_name() {
    let _alone = alone();
    hiponcudaResetCallCounts();
    let memory: usize = get!(hipMalloc(_, 64));
    ok!(hipFree(memory));
    ok!(hipFree(0));
    assert_eq!(hiponcudaCallCount(c"hipMalloc".as_ptr()), 1);
    assert_eq!(hiponcudaCallCount(c"hipFree".as_ptr()), 2);
    assert_eq!(hiponcudaCallCount(c"hipNothing".as_ptr()), 0);
    unsafe extern "C" fn each(name: *const c_char, count: u64, data: *mut c_void) {
        // SAFETY: the test passes a list, and the names are strings.
        let list = unsafe { &mut *data.cast::<Vec<(String, u64)>>() };
        list.push((text(name).to_owned(), count));
    }
    let mut list: Vec<(String, u64)> = Vec::new();
    hiponcudaCallCounts(each, (&raw mut list).cast());
    assert_eq!(list, [("hipFree".to_owned(), 2), ("hipMalloc".to_owned(), 1)]);
}

#[test]
fn an_injected_fault_fails_the_calls_it_names_and_nothing_else() {
    let _alone = alone();
    assert_eq!(hiponcudaInjectFault(c"hipMalloc".as_ptr(), 2, hipErrorOutOfMemory.0, 2), 0);
    assert_eq!(hiponcudaInjectFault(c"hipNothing".as_ptr(), 1, 1, 1), 1);
    let mut memory = 0;
    ok!(hipMalloc(&raw mut memory, 64));
    ok!(hipFree(memory));
    memory = 1;
    err!(hipErrorOutOfMemory, hipMalloc(&raw mut memory, 64));
    err!(hipErrorOutOfMemory, hipMalloc(&raw mut memory, 64));
    assert_eq!(memory, 1, "a failed call wrote its output");
    ok!(hipMalloc(&raw mut memory, 64));
    ok!(hipFree(memory));
    assert_eq!(hiponcudaInjectFault(c"hipFree".as_ptr(), 1, hipErrorUnknown.0, 0), 0);
    err!(hipErrorUnknown, hipFree(0));
    err!(hipErrorUnknown, hipFree(0));
    hiponcudaClearFaults();
    ok!(hipFree(0));
}

/// Runs one test of this binary as a process of its own.
fn process(test: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("HIP_ON_CUDA_CHILD", "1");
    command.envs(environment.iter().copied()).output().unwrap()
}

fn is_child() -> bool {
    std::env::var_os("HIP_ON_CUDA_CHILD").is_some()
}

fn must_succeed(output: &Output) {
    let words = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&words));
}

#[test]
fn without_a_driver_every_call_says_so_and_the_library_says_why() {
    if !is_child() {
        let environment = [("UR_CUDA_LIBRARY", "/nowhere/libcuda.so.1")];
        return must_succeed(&process("without_a_driver_every_call_says_so_and_the_library_says_why", &environment));
    }
    let mut count = -1;
    err!(hipErrorInsufficientDriver, hipGetDeviceCount(&raw mut count));
    err!(hipErrorInsufficientDriver, hipInit(0));
    let mut memory = 0;
    err!(hipErrorInsufficientDriver, hipMalloc(&raw mut memory, 64));
    let why = text(hiponcudaOpenError());
    assert!(why.contains("/nowhere/libcuda.so.1") && why.contains("UR_CUDA_LIBRARY"), "{why}");
}

#[test]
fn without_a_device_there_are_none_and_nothing_crashes() {
    if !is_child() {
        let environment = [("SIMCUDA_DEVICES", "0")];
        return must_succeed(&process("without_a_device_there_are_none_and_nothing_crashes", &environment));
    }
    let mut count = -1;
    err!(hipErrorNoDevice, hipGetDeviceCount(&raw mut count));
    assert_eq!(count, 0);
    err!(hipErrorNoDevice, hipInit(0));
    let mut out = 0;
    err!(hipErrorNoDevice, hipSetDevice(0));
    err!(hipErrorNoDevice, hipMalloc(&raw mut out, 64));
    let mut device = 0;
    err!(hipErrorNoDevice, hipGetDevice(&raw mut device));
    assert!(hiponcudaOpenError().is_null());
}

#[test]
fn a_process_that_destroyed_its_objects_leaves_none_in_the_driver() {
    const NAME: &str = "a_process_that_destroyed_its_objects_leaves_none_in_the_driver";
    if !is_child() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report");
        must_succeed(&process(NAME, &[("SIMCUDA_REPORT", report.to_str().unwrap())]));
        assert_eq!(std::fs::read_to_string(report).unwrap_or_default().trim(), "");
        return;
    }
    let stream: usize = get!(hipStreamCreateWithFlags(_, 1));
    let block: usize = get!(hipMallocAsync(_, 4096, stream));
    ok!(hipFreeAsync(block, stream));
    ok!(hipStreamSynchronize(stream));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn any_call_initialises() {
    const NAME: &str = "any_call_initialises";
    if !is_child() {
        return must_succeed(&process(NAME, &[]));
    }
    let memory: usize = get!(hipMalloc(_, 64));
    ok!(hipFree(memory));
}
