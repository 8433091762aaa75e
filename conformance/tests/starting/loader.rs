//! What a loader and an adapter do together: starting, stopping, and machines on which something is missing.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;
use std::ffi::OsStr;
use std::sync::Mutex;

use ur_conformance::below::Below;
use ur_conformance::ffi::{ur_adapter_handle_t, ur_adapter_info_t, ur_backend_t, ur_logger_level_t};
use ur_conformance::fixture::turn;
use ur_conformance::native::Hip;
use ur_conformance::{Environment, Fixture, Kind, Launch, adapter, child, elf, last_error, loader, needs_ours};

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

/// The test in a process whose adapter finds this library below it.
#[track_caller]
fn with_library(test: &str, library: impl AsRef<OsStr>, body: impl FnOnce()) {
    child::in_process(test, &[(Below::the_adapter().variable, library)], body);
}

/// A file for a library, by the name that the native one has.
fn library_file(folder: &tempfile::TempDir, bytes: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = folder.path().join(Below::the_adapter().library);
    std::fs::write(&path, bytes).expect("a file");
    path
}

#[test]
fn urPlatformGet_without_the_native_library_is_no_error_and_names_the_library() {
    needs_ours!("read a variable that names the native library, and say what is wrong with it");
    let test = "urPlatformGet_without_the_native_library_is_no_error_and_names_the_library";
    with_library(test, "/nonexistent/library.so.1", || {
        expect_no_platform(&["/nonexistent/library.so.1"]);
        expect_no_platform(&["/nonexistent/library.so.1"]);
    });
}

#[test]
fn urPlatformGet_with_a_library_of_another_architecture_names_it() {
    needs_ours!("read a variable that names the native library, and say what is wrong with it");
    let test = "urPlatformGet_with_a_library_of_another_architecture_names_it";
    let folder = tempfile::tempdir().expect("a place for a file");
    let mut bytes = std::fs::read(Environment::get().loader.as_os_str()).expect("the loader's bytes");
    // The machine in the ELF header: 0x00ff is nobody's.
    bytes[18..20].copy_from_slice(&[0xff, 0x00]);
    let path = library_file(&folder, bytes);
    with_library(test, &path, || expect_no_platform(&[Below::the_adapter().library]));
}

#[test]
fn urPlatformGet_with_a_library_that_is_no_library_names_it() {
    needs_ours!("read a variable that names the native library, and say what is wrong with it");
    let test = "urPlatformGet_with_a_library_that_is_no_library_names_it";
    let folder = tempfile::tempdir().expect("a place for a file");
    let path = library_file(&folder, "text");
    with_library(test, &path, || expect_no_platform(&[Below::the_adapter().library]));
}

#[test]
fn urPlatformGet_with_a_library_that_lacks_symbols_names_the_first() {
    needs_ours!("read a variable that names the native library, and say what is wrong with it");
    let test = "urPlatformGet_with_a_library_that_lacks_symbols_names_the_first";
    let library = Environment::get().loader.as_os_str();
    with_library(test, library, || expect_no_platform(&["libur_loader", Below::the_adapter().first]));
}

/// The native library's bytes, or the reason why this machine's cannot be copied.
fn native_bytes() -> Option<Vec<u8>> {
    let path = Below::the_adapter().named();
    let bytes = std::fs::read(path).ok();
    if bytes.is_none() {
        println!("skipped: {} is not given by its path, so no copy can be changed", path.display());
    }
    bytes
}

#[test]
fn urPlatformGet_with_a_library_that_has_half_its_symbols_names_one_that_is_missing() {
    needs_ours!("read a variable that names the native library, and say what is wrong with it");
    let test = "urPlatformGet_with_a_library_that_has_half_its_symbols_names_one_that_is_missing";
    let Some(mut bytes) = native_bytes() else { return };
    let prefix = Below::the_adapter().prefix;
    let mut every_other = false;
    let hidden = elf::hide(&mut bytes, |name| {
        every_other ^= name.starts_with(prefix);
        every_other && name.starts_with(prefix)
    });
    assert!(hidden > 50, "only {hidden} functions are hidden");
    let folder = tempfile::tempdir().expect("a place for a file");
    let path = library_file(&folder, bytes);
    with_library(test, &path, || {
        let missing = format!("has no symbol {}", Below::the_adapter().prefix);
        expect_no_platform(&[Below::the_adapter().library, &missing]);
    });
}

/// A library that is older than the adapter: what every release has is there, what came later is not.
#[test]
fn urPlatformGet_with_a_library_of_rocm_5_takes_the_functions_that_it_has() {
    needs_ours!("read a variable that names the native library, and say what is wrong with it");
    let test = "urPlatformGet_with_a_library_of_rocm_5_takes_the_functions_that_it_has";
    if !Below::is_hip() {
        println!("skipped: about HIP's versioned functions");
        return;
    }
    let Some(mut bytes) = native_bytes() else { return };
    elf::hide(&mut bytes, |name| name == "hipGetDevicePropertiesR0600");
    let folder = tempfile::tempdir().expect("a place for a file");
    let path = library_file(&folder, bytes);
    with_library(test, &path, || {
        let fixture = Fixture::new();
        let property = ur_conformance::ffi::ur_device_info_t::NAME;
        let name = ur_conformance::query::text(ur_conformance::ask!(Device.pfnGetInfo(fixture.device(), property)));
        assert!(!name.is_empty());
        let hip = Hip::loaded().expect("the copy");
        assert_eq!(hip.counts_calls().then(|| hip.calls("hipGetDevicePropertiesR0600")), Some(0));
        let (kernel, queue) = (fixture.basic(c"iota"), fixture.in_order());
        let memory = fixture.memory(Kind::Device, 32);
        Launch::new(&kernel, &[8]).pointer(memory.pointer()).value(8u32).on(&queue);
        assert_eq!(memory.read::<u32>(&queue, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
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

/// Lines that the adapter logged.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn listen(_level: ur_logger_level_t, line: *const c_char, _user: *mut c_void) {
    // SAFETY: a NUL-terminated string by the API's contract.
    let line = unsafe { CStr::from_ptr(line) }.to_string_lossy().into_owned();
    LINES.lock().expect("no listener panics").push(line);
}

/// Hears every message of an adapter from now on.
fn listen_to_everything(adapter: ur_adapter_handle_t) {
    let lowest = ur_logger_level_t::DEBUG;
    ur_conformance::ok!(Adapter.pfnSetLoggerCallback(adapter, Some(listen), null_mut(), lowest));
}

fn heard() -> Vec<String> {
    LINES.lock().expect("no listener panics").clone()
}

#[test]
fn urAdapterSetLoggerCallback_at_the_lowest_level_hears_nothing_from_1000_good_launches() {
    needs_ours!("read UR_USM_MAGAZINE_BYTES, and warn of wrong values");
    let test = "urAdapterSetLoggerCallback_at_the_lowest_level_hears_nothing_from_1000_good_launches";
    // A warning to hear at the first stream-ordered allocation, to see that the listener listens.
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "much")], || {
        let fixture = Fixture::new();
        listen_to_everything(adapter());
        let (kernel, memory) = (fixture.basic(c"iota"), fixture.memory(Kind::Device, 32));
        for queue in [fixture.in_order(), fixture.out_of_order()] {
            for _ in 0..500 {
                Launch::new(&kernel, &[8]).pointer(memory.pointer()).value(8u32).on(&queue);
            }
            queue.finish();
        }
        assert_eq!(heard(), Vec::<String>::new());
        drop(ur_conformance::pool::Plan::new().of(&fixture));
        assert!(heard().iter().any(|line| line.contains("UR_USM_MAGAZINE_BYTES")), "{:?}", heard());
    });
}

/// Makes another pool while it is told that the first one's setting is wrong.
unsafe extern "C" fn make_a_pool(_level: ur_logger_level_t, _line: *const c_char, user: *mut c_void) {
    // SAFETY: what the test gave, which lives as long as the logger is set.
    let fixture = unsafe { &*user.cast::<Fixture>() };
    drop(ur_conformance::pool::Plan::new().of(fixture));
    LINES.lock().expect("no listener panics").push("made".to_owned());
}

#[test]
fn urAdapterSetLoggerCallback_that_makes_a_pool_at_the_first_pool_s_warning_ends() {
    needs_ours!("read UR_USM_MAGAZINE_BYTES, and warn of wrong values");
    let test = "urAdapterSetLoggerCallback_that_makes_a_pool_at_the_first_pool_s_warning_ends";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "much")], || {
        let fixture = Fixture::new();
        let user = (&raw const fixture).cast_mut().cast();
        let lowest = ur_logger_level_t::DEBUG;
        ur_conformance::ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(make_a_pool), user, lowest));
        drop(ur_conformance::pool::Plan::new().of(&fixture));
        ur_conformance::ok!(Adapter.pfnSetLoggerCallback(adapter(), None, null_mut(), lowest));
        assert_eq!(heard(), ["made"]);
    });
}

/// The adapter under test among all that lie beside the loader, where no variable can name it, and the variable that names
/// its library.
fn adapter_beside_the_loader() -> (ur_adapter_handle_t, &'static str) {
    let is_hip = Environment::get().adapter.to_string_lossy().contains("adapter_hip");
    let (backend, variable) =
        if is_hip { (ur_backend_t::HIP, "UR_HIP_LIBRARY") } else { (ur_backend_t::CUDA, "UR_CUDA_LIBRARY") };
    let listed = loader().adapters().expect("initialised");
    let is_wanted = |&adapter: &ur_adapter_handle_t| {
        let property = ur_adapter_info_t::BACKEND;
        ur_conformance::query::get::<u32>(ur_conformance::ask!(Adapter.pfnGetInfo(adapter, property))) == backend.0
    };
    (listed.into_iter().find(is_wanted).expect("the installation has the adapter beside the loader"), variable)
}

#[test]
fn urPlatformGet_with_raised_rights_opens_no_library_that_a_variable_names() {
    needs_ours!("ignore variables in a process with raised rights");
    let test = "urPlatformGet_with_raised_rights_opens_no_library_that_a_variable_names";
    let tried = child::with_raised_rights(test, || {
        // SAFETY: no precondition.
        if unsafe { libc::getauxval(libc::AT_SECURE) } == 0 {
            println!("{}", child::NOT_RAISED);
            return;
        }
        let (adapter, variable) = adapter_beside_the_loader();
        let named = std::env::var(variable).expect("the harness sets it");
        listen_to_everything(adapter);
        let mut count = 0;
        ur_conformance::ok!(Platform.pfnGet(adapter, 0, null_mut(), &raw mut count));
        let warning = format!("{variable} is ignored");
        assert!(heard().iter().any(|line| line.starts_with(&warning)), "{:?}", heard());
        // A machine with a driver opens that; one without says what it looked for.
        assert!(heard().iter().all(|line| !line.contains(&named)), "{:?}", heard());
    });
    if let Err(reason) = tried {
        println!("skipped: {reason}");
    }
}
