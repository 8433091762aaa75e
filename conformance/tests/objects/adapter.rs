//! `urAdapter*`: listing, counting, properties, the last error and the log.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{null, null_mut};
use std::sync::Mutex;

use ur_conformance::below::Below;
use ur_conformance::ffi::{ur_adapter_info_t, ur_logger_level_t};
use ur_conformance::sim::status;
use ur_conformance::{
    Fixture, Kind, adapter, ask, child, last_error, loader, needs_ours, needs_sim, ok, query, refused,
};

fn references() -> u32 {
    query::get(ask!(Adapter.pfnGetInfo(adapter(), ur_adapter_info_t::REFERENCE_COUNT)))
}

#[test]
fn urAdapterGet_counts_lists_and_lends_one_reference_for_each_listing() {
    let _fixture = Fixture::new();
    let before = references();
    let mut count = 0;
    ok!(Adapter.pfnGet(0, null_mut(), &raw mut count));
    assert_eq!((count, references()), (1, before), "counting lends nothing");
    let mut listed = [null_mut(); 3];
    ok!(Adapter.pfnGet(3, listed.as_mut_ptr(), &raw mut count));
    assert_eq!((count, listed), (1, [adapter(), null_mut(), null_mut()]));
    assert_eq!(references(), before + 1);
    ok!(Adapter.pfnRelease(adapter()));
    assert_eq!(references(), before);
}

#[test]
fn urAdapterGet_refuses_a_list_without_room() {
    let _fixture = Fixture::new();
    let mut listed = null_mut();
    refused!(ERROR_INVALID_SIZE, Adapter.pfnGet(0, &raw mut listed, null_mut()));
    assert!(listed.is_null());
}

#[test]
fn urAdapterRetain_and_urAdapterRelease_count() {
    let _fixture = Fixture::new();
    let before = references();
    ok!(Adapter.pfnRetain(adapter()));
    ok!(Adapter.pfnRetain(adapter()));
    assert_eq!(references(), before + 2);
    ok!(Adapter.pfnRelease(adapter()));
    ok!(Adapter.pfnRelease(adapter()));
    assert_eq!(references(), before);
}

#[test]
fn urAdapterGetInfo_answers_every_property_by_the_rules() {
    let _fixture = Fixture::new();
    let answered = ur_conformance::check_every_property!(ur_adapter_info_t, &[], Adapter.pfnGetInfo(adapter()));
    assert_eq!(answered.len(), ur_adapter_info_t::VALUES.len(), "no property of an adapter is optional");
}

#[test]
fn urAdapterGetLastError_is_the_calling_thread_s_and_says_something_after_a_failure() {
    let fixture = Fixture::new();
    needs_ours!("refuse nulls themselves, and say something of every failure");
    refused!(ERROR_INVALID_NULL_POINTER, Queue.pfnCreate(fixture.context(), fixture.device(), null(), null_mut()));
    let mine = last_error();
    assert!(!mine.is_empty());
    let theirs = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            refused!(ERROR_INVALID_NULL_HANDLE, Queue.pfnRetain(null_mut()));
            let mut context = null_mut();
            let device = fixture.device();
            refused!(ERROR_INVALID_SIZE, Context.pfnCreate(0, &raw const device, null(), &raw mut context));
            last_error()
        });
        other.join().expect("the thread ends")
    });
    assert_ne!(mine, theirs);
    assert_eq!(last_error(), mine, "another thread's failure is not this one's");
}

#[test]
fn urAdapterGetLastError_gives_name_text_and_number_of_a_native_failure() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    drop(fixture.memory(Kind::Device, 64));
    // A size of which nothing is kept is the native library's to give.
    sim.fail("cuMemAlloc_v2", 1, status::UNKNOWN);
    let mut pointer = null_mut();
    let code = ur_conformance::memory::allocate(
        Kind::Device,
        fixture.context(),
        fixture.device(),
        null(),
        4096,
        &raw mut pointer,
    );
    assert_eq!(code, ur_conformance::ffi::ur_result_t::ERROR_ADAPTER_SPECIFIC);
    let (message, number) = loader().last_error(adapter()).expect("there is a message");
    assert!(message.contains(Below::the_adapter().allocate), "{message}");
    assert_eq!(number, status::UNKNOWN);
    assert!(pointer.is_null());
}

#[test]
fn urAdapterGetLastError_refuses_missing_outputs() {
    let _fixture = Fixture::new();
    needs_ours!("refuse nulls themselves; others leave them to a layer of the loader");
    let (mut text, mut code): (*const c_char, i32) = (null(), 7);
    refused!(ERROR_INVALID_NULL_POINTER, Adapter.pfnGetLastError(adapter(), null_mut(), &raw mut code));
    refused!(ERROR_INVALID_NULL_POINTER, Adapter.pfnGetLastError(adapter(), &raw mut text, null_mut()));
    assert!(text.is_null());
    assert_eq!(code, 7);
}

static LINES: Mutex<Vec<(ur_logger_level_t, String)>> = Mutex::new(Vec::new());

unsafe extern "C" fn keep_line(level: ur_logger_level_t, line: *const c_char, user: *mut c_void) {
    assert_eq!(user.addr(), 0x1234, "the user's pointer comes through");
    // SAFETY: the adapter gives a C string that lives during the call.
    let line = unsafe { CStr::from_ptr(line) }.to_string_lossy().into_owned();
    LINES.lock().expect("no callback panicked").push((level, line));
}

fn lines() -> Vec<(ur_logger_level_t, String)> {
    std::mem::take(&mut *LINES.lock().expect("no callback panicked"))
}

/// Who installs adapters for several kinds of GPU has one of them, and SYCL's runtime prints every warning.
#[test]
fn urPlatformGet_without_a_native_library_that_somebody_named_is_no_warning() {
    let test = "urPlatformGet_without_a_native_library_that_somebody_named_is_no_warning";
    child::in_process(test, &[] as &[(&str, &str)], || {
        let _ = adapter();
        for name in ["UR_CUDA_LIBRARY", "UR_HIP_LIBRARY"] {
            // SAFETY: this process runs this test alone, and the adapter, which reads them, opens its library below.
            unsafe { std::env::remove_var(name) };
        }
        let user = core::ptr::without_provenance_mut(0x1234);
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(keep_line), user, ur_logger_level_t::WARN));
        let mut count = 7;
        ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
        assert_eq!(lines(), [], "a machine without such a GPU is nothing to warn of");
        ok!(Adapter.pfnSetLoggerCallbackLevel(adapter(), ur_logger_level_t::INFO));
        ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
        // A machine may have the real library.
        assert_eq!(lines().len(), usize::from(count == 0), "who asks is told why there is no platform");
    });
}

#[test]
fn urPlatformGet_without_a_device_is_no_warning() {
    needs_ours!("run over the simulated driver");
    if std::env::var_os("UR_TEST_NATIVE").is_some() {
        println!("skipped: UR_TEST_NATIVE names another driver than the simulated one");
        return;
    }
    child::in_process("urPlatformGet_without_a_device_is_no_warning", &[("SIMCUDA_DEVICES", "0")], || {
        let user = core::ptr::without_provenance_mut(0x1234);
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(keep_line), user, ur_logger_level_t::WARN));
        let mut count = 7;
        ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
        assert_eq!((count, lines()), (0, Vec::new()));
        ok!(Adapter.pfnSetLoggerCallbackLevel(adapter(), ur_logger_level_t::INFO));
        ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
        assert!(lines().iter().any(|(_, line)| line.contains("no device")), "who asks is told");
    });
}

/// A machine without the native library that the user named is the one place where every adapter has something to say.
#[test]
fn urAdapterSetLoggerCallback_receives_what_the_adapter_warns_of() {
    let library = "/nonexistent/library.so.1";
    needs_ours!("read a variable that names the native library");
    let test = "urAdapterSetLoggerCallback_receives_what_the_adapter_warns_of";
    child::in_process(test, &[(Below::the_adapter().variable, library)], || {
        let platforms = || {
            let mut count = 7;
            ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
            assert_eq!(count, 0);
        };
        let user = core::ptr::without_provenance_mut(0x1234);
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(keep_line), user, ur_logger_level_t::WARN));
        platforms();
        let heard = lines();
        assert!(
            heard.iter().any(|(level, line)| *level == ur_logger_level_t::WARN && line.contains(library)),
            "{heard:?}"
        );
        ok!(Adapter.pfnSetLoggerCallbackLevel(adapter(), ur_logger_level_t::QUIET));
        platforms();
        assert_eq!(lines(), [], "nothing is above QUIET");
        ok!(Adapter.pfnSetLoggerCallbackLevel(adapter(), ur_logger_level_t::DEBUG));
        platforms();
        assert!(!lines().is_empty(), "the level can be lowered again");
        ok!(Adapter.pfnSetLoggerCallback(adapter(), None, null_mut(), ur_logger_level_t::DEBUG));
        platforms();
        assert_eq!(lines(), [], "a null callback ends it");
    });
}

/// What [`exchange`] was called with as the user's pointer.
static HEARD: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Notes who heard a line, and the first sets the second as its successor.
unsafe extern "C" fn exchange(_: ur_logger_level_t, _: *const c_char, user: *mut c_void) {
    HEARD.lock().expect("no callback panicked").push(user.addr());
    if user.addr() == 1 {
        let second = core::ptr::without_provenance_mut(2);
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(exchange), second, ur_logger_level_t::WARN));
    }
}

/// Causes a line of the adapter's at the level `WARN`, where the native library is one that is not there.
fn cause_a_line() {
    let mut count = 7;
    ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
    assert_eq!(count, 0);
}

#[test]
fn urAdapterSetLoggerCallback_may_be_called_by_the_callback() {
    needs_ours!("read a variable that names the native library");
    let test = "urAdapterSetLoggerCallback_may_be_called_by_the_callback";
    child::in_time(test, &[(Below::the_adapter().variable, "/nonexistent/library.so.1")], || {
        let first = core::ptr::without_provenance_mut(1);
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(exchange), first, ur_logger_level_t::WARN));
        cause_a_line();
        cause_a_line();
        assert_eq!(*HEARD.lock().expect("no callback panicked"), [1, 2], "each line goes to who is set then");
    });
}

/// Causes a line itself, once another thread wants to set a callback.
unsafe extern "C" fn cause_another(_: ur_logger_level_t, _: *const c_char, user: *mut c_void) {
    HEARD.lock().expect("no callback panicked").push(user.addr());
    let (begin, begun) = std::sync::mpsc::channel();
    let setter = std::thread::spawn(move || {
        begin.send(()).expect("the callback listens");
        ok!(Adapter.pfnSetLoggerCallback(adapter(), None, null_mut(), ur_logger_level_t::WARN));
    });
    begun.recv().expect("the thread runs");
    cause_a_line();
    setter.join().expect("the setter returns while the callback runs");
}

#[test]
fn urAdapterSetLoggerCallback_does_not_wait_for_a_callback_that_runs() {
    needs_ours!("read a variable that names the native library");
    let test = "urAdapterSetLoggerCallback_does_not_wait_for_a_callback_that_runs";
    child::in_time(test, &[(Below::the_adapter().variable, "/nonexistent/library.so.1")], || {
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(cause_another), null_mut(), ur_logger_level_t::WARN));
        cause_a_line();
        assert_eq!(HEARD.lock().expect("no callback panicked").len(), 1, "a callback's own lines are not told to it");
        cause_a_line();
        assert_eq!(HEARD.lock().expect("no callback panicked").len(), 1, "nobody is set any more");
    });
}
