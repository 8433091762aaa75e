//! Initialisation, versions, names, devices, and finding functions by name.

#[macro_use]
mod driver;
use core::ffi::{CStr, c_void};
use driver::*;

#[test]
fn every_device_attribute_is_answered_and_peers_reach_each_other() {
    let _session = Session::begin();
    assert_eq!(get!(cuDriverGetVersion()), 13000);
    assert_eq!(get!(cuDeviceGetCount()), 2);
    for attribute in 1..=145 {
        let _: i32 = get!(cuDeviceGetAttribute(attribute, 0));
    }
    err!(1, cuDeviceGetAttribute(&mut 0, 0, 0));
    err!(1, cuDeviceGetAttribute(&mut 0, 100_000, 0));
    err!(101, cuDeviceGetAttribute(&mut 0, 1, 2));
    let value = |attribute| -> i32 { get!(cuDeviceGetAttribute(attribute, 1)) };
    let facts =
        [(1, 1024), (10, 32), (16, 132), (41, 1), (75, 9), (76, 0), (97, 232_448), (106, 32), (115, 1), (122, 1)];
    for (attribute, expected) in facts {
        assert_eq!(value(attribute), expected, "attribute {attribute}");
    }
    assert_ne!(value(33), get!(cuDeviceGetAttribute(33, 0)), "each device has its own bus");
}

#[test]
fn devices_are_found_by_their_pci_address() {
    let _session = Session::begin();
    for device in 0..2 {
        let mut text = [0; 32];
        ok!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 32, device));
        assert_eq!(get!(cuDeviceGetByPCIBusId(text.as_ptr())), device);
    }
    let mut name = [0; 8];
    ok!(cuDeviceGetName(name.as_mut_ptr(), 8, 0));
    // SAFETY: the call ends what it writes with a NUL.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"simcuda", "a name is cut to fit");
}

#[test]
fn functions_are_found_by_their_plain_name_in_the_clients_version() {
    let _session = Session::begin();
    let find = |name: &CStr, version| -> (i32, *const c_void, i32) {
        let (mut function, mut status) = (core::ptr::null(), -1);
        let result = c!(cuGetProcAddress_v2(name.as_ptr(), &mut function, version, 0, &mut status));
        (result, function, status)
    };
    assert_eq!(find(c"cuMemAlloc", 13000), (0, cuMemAlloc_v2 as *const c_void, 0));
    assert_eq!(find(c"cuInit", 13000), (0, cuInit as *const c_void, 0));
    assert_eq!(find(c"cuNoSuchCall", 13000), (500, core::ptr::null(), 1));
}

#[test]
fn errors_have_their_names() {
    let mut text = core::ptr::null();
    ok!(cuGetErrorName(700, &mut text));
    // SAFETY: the call answers a static string.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    err!(1, cuGetErrorName(12345, &mut text));
    assert!(text.is_null());
}
