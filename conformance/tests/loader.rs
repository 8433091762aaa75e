//! What a loader and an adapter do together: starting, stopping, and machines on which something is missing.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::null_mut;
use std::ffi::OsStr;

use ur_conformance::fixture::turn;
use ur_conformance::{Environment, Fixture, Kind, adapter, child, last_error, loader};

#[test]
fn urLoaderInit_and_urLoaderTearDown_nest_and_repeat() {
    let fixture = Fixture::new();
    let before = fixture.devices.clone();
    for _ in 0..3 {
        loader().init().expect("a second initialisation");
        loader().tear_down().expect("its end");
        assert_eq!(loader().devices(fixture.platform).expect("the first one still holds"), before);
        for &device in &before {
            ur_conformance::ok!(Device.pfnRelease(device));
        }
    }
}

#[test]
fn urLoaderTearDown_to_the_end_and_urLoaderInit_again_find_the_same_adapter() {
    let test = "urLoaderTearDown_to_the_end_and_urLoaderInit_again_find_the_same_adapter";
    child::in_process::<&str>(test, &[], || {
        let _turn = turn();
        for _ in 0..5 {
            let listed = loader().adapters().expect("initialised");
            assert_eq!(listed.len(), 1);
            let platforms = loader().platforms(listed[0]).expect("an adapter that was listed");
            assert!(!platforms.is_empty(), "{:?}", loader().last_error(listed[0]));
            ur_conformance::ok!(Adapter.pfnRelease(listed[0]));
            loader().tear_down().expect("the end");
            loader().init().expect("a new beginning");
        }
    });
}

#[test]
fn urLoaderInit_from_many_threads_is_one_initialisation() {
    let test = "urLoaderInit_from_many_threads_is_one_initialisation";
    child::in_process::<&str>(test, &[], || {
        let expected = adapter().addr();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(move || {
                    for _ in 0..50 {
                        loader().init().expect("init");
                        let listed = loader().adapters().expect("adapters");
                        assert_eq!(listed.len(), 1);
                        assert_eq!(listed[0].addr(), expected);
                        ur_conformance::ok!(Adapter.pfnRelease(listed[0]));
                        loader().tear_down().expect("tear down");
                    }
                });
            }
        });
        drop(Fixture::new().memory(Kind::Device, 64));
    });
}

/// The adapter is there, has no platform, and says why in words that name the library.
fn expect_no_platform(words: &[&str]) {
    let mut count = 7;
    ur_conformance::ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
    assert_eq!(count, 0);
    let message = last_error();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in the message: {message}");
    }
}

#[test]
fn urPlatformGet_without_the_native_library_is_no_error_and_names_the_library() {
    let test = "urPlatformGet_without_the_native_library_is_no_error_and_names_the_library";
    child::in_process(test, &[("UR_TEST_NATIVE", "/nonexistent/libcuda.so.1")], || {
        expect_no_platform(&["/nonexistent/libcuda.so.1"]);
        expect_no_platform(&["/nonexistent/libcuda.so.1"]);
    });
}

#[test]
fn urPlatformGet_with_a_library_of_another_architecture_names_it() {
    let test = "urPlatformGet_with_a_library_of_another_architecture_names_it";
    let folder = tempfile::tempdir().expect("a place for a file");
    let path = folder.path().join("libcuda.so.1");
    let mut bytes = std::fs::read(Environment::get().loader.as_os_str()).expect("the loader's bytes");
    // The machine in the ELF header: 0x00ff is nobody's.
    bytes[18..20].copy_from_slice(&[0xff, 0x00]);
    std::fs::write(&path, bytes).expect("a file");
    child::in_process(test, &[("UR_TEST_NATIVE", path.as_os_str())], || expect_no_platform(&["libcuda.so.1"]));
}

#[test]
fn urPlatformGet_with_a_library_that_is_no_library_names_it() {
    let test = "urPlatformGet_with_a_library_that_is_no_library_names_it";
    let folder = tempfile::tempdir().expect("a place for a file");
    let path = folder.path().join("libcuda.so.1");
    std::fs::write(&path, "text").expect("a file");
    child::in_process(test, &[("UR_TEST_NATIVE", path.as_os_str())], || expect_no_platform(&["libcuda.so.1"]));
}

#[test]
fn urPlatformGet_with_a_library_that_lacks_symbols_names_the_first() {
    let test = "urPlatformGet_with_a_library_that_lacks_symbols_names_the_first";
    let library = Environment::get().loader.as_os_str();
    child::in_process(test, &[("UR_TEST_NATIVE", library)], || {
        expect_no_platform(&["libur_loader", "cuInit"]);
    });
}

/// Adapters that a list of `UR_ADAPTERS_FORCE_LOAD` really gives.
fn expect_adapters(test: &str, list: &OsStr, count: usize) {
    child::in_process(test, &[("UR_TEST_ADAPTER", list)], || {
        let listed = loader().adapters().expect("a bad adapter is no error of the program");
        assert_eq!(listed.len(), count, "{listed:?}");
    });
}

#[test]
fn urAdapterGet_has_none_where_the_path_is_no_adapter() {
    let library = Environment::get().loader.as_os_str().to_owned();
    expect_adapters("urAdapterGet_has_none_where_the_path_is_no_adapter", &library, 0);
}

#[test]
fn urAdapterGet_has_none_where_the_path_does_not_exist() {
    let test = "urAdapterGet_has_none_where_the_path_does_not_exist";
    expect_adapters(test, OsStr::new("/nonexistent/libur_adapter_cuda.so.0"), 0);
}

#[test]
fn urAdapterGet_is_not_hindered_by_a_bad_adapter_beside_a_good_one() {
    let test = "urAdapterGet_is_not_hindered_by_a_bad_adapter_beside_a_good_one";
    let environment = Environment::get();
    let mut list = std::ffi::OsString::from("/nonexistent/libur_adapter_cuda.so.0,");
    list.push(environment.loader.as_os_str());
    list.push(",");
    // A child of this test has the list in its environment already, and must not add to it once more.
    let good = environment.adapter.to_string_lossy();
    list.push(good.rsplit(',').next().unwrap_or_default());
    expect_adapters(test, &list, 1);
}
