//! The project's own functions: through the loader, by their names in the adapter's library, and with handles of an adapter
//! that has none. What the functions do is tested where their objects are. An adapter that offers no extension, and a loader
//! that knows none, are told and left alone.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::{CStr, c_void};
use core::ptr::{null, null_mut};

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use ur_conformance::extension;
use ur_conformance::ffi::{
    EXTENSION_FUNCTIONS, EXTENSION_TABLES, ExtensionTables, ur_api_version_t, ur_ext_timeline_wait_flags_t,
    ur_pfnGetExtensionProcAddrTableExt_t, ur_pfnTimelineCreateExt_t, ur_pfnTimelineReleaseExt_t, ur_result_t as Code,
    version,
};
use ur_conformance::{Environment, Fixture, loader, needs_function, refused, ur};

/// The getter of extension tables.
type Getter = unsafe extern "C" fn(ur_api_version_t, *const core::ffi::c_char, usize, *mut c_void) -> Code;

/// The adapter's getter, or the end of the test with a line that says so.
macro_rules! needs_getter {
    () => {
        match extension::getter() {
            Some(getter) => getter,
            None => {
                println!("skipped: the adapter has no extension tables");
                return;
            }
        }
    };
}

const WORD: usize = size_of::<usize>();

/// The words that a getter leaves of a table of that size, in memory of sevens with a word to spare.
fn words(getter: Getter, version: ur_api_version_t, name: &CStr, size: usize) -> (Code, Vec<usize>) {
    let mut words = vec![7; size.div_ceil(WORD) + 1];
    // SAFETY: the list has a word more than the table.
    let answer = unsafe { getter(version, name.as_ptr(), size, words.as_mut_ptr().cast()) };
    (answer, words)
}

#[test]
fn every_entry_of_an_extension_table_that_the_adapter_has_is_filled_and_exported_by_its_name() {
    let _fixture = Fixture::new();
    let getter = needs_getter!();
    for &(name, offset, size) in EXTENSION_TABLES {
        let (answer, table) = words(getter, ur_api_version_t::CURRENT, name, size);
        assert_eq!(answer, Code::SUCCESS, "{name:?}");
        let functions = EXTENSION_FUNCTIONS.iter().filter_map(|function| Some((function.name, function.slot?.offset)));
        let mut seen = 0;
        for (function, place) in functions.filter(|(_, place)| (offset..offset + size).contains(place)) {
            assert_ne!(table[(place - offset) / WORD], 0, "{function}");
            assert!(extension::by_name(function).is_some(), "{function} is not exported");
            seen += 1;
        }
        assert_eq!(seen, size / WORD, "{name:?}: every word is a function's");
    }
}

#[test]
fn urGetExtensionProcAddrTableExt_fills_what_the_caller_knows_and_nulls_what_the_adapter_does_not() {
    let _fixture = Fixture::new();
    let getter = needs_getter!();
    let now = ur_api_version_t::CURRENT;
    for &(name, _, size) in EXTENSION_TABLES {
        let (_, whole) = words(getter, now, name, size);
        let (answer, older) = words(getter, now, name, WORD);
        assert_eq!((answer, &older[..]), (Code::SUCCESS, &[whole[0], 7][..]), "{name:?}");
        let (answer, newer) = words(getter, now, name, size + 2 * WORD);
        assert_eq!((answer, &newer[..size / WORD]), (Code::SUCCESS, &whole[..size / WORD]), "{name:?}");
        assert_eq!(newer[size / WORD..], [0, 0, 7], "{name:?}");
    }
}

#[test]
fn urGetExtensionProcAddrTableExt_refuses_what_it_cannot_fill_and_leaves_the_table_alone() {
    let _fixture = Fixture::new();
    let getter = needs_getter!();
    let (now, known) = (ur_api_version_t::CURRENT, EXTENSION_TABLES[0].0);
    for (version, name, size, code) in [
        (now, c"", WORD, Code::ERROR_UNSUPPORTED_FEATURE),
        (now, c"of cake", WORD, Code::ERROR_UNSUPPORTED_FEATURE),
        (now, known, 0, Code::ERROR_INVALID_SIZE),
        (now, known, WORD + 1, Code::ERROR_INVALID_SIZE),
        (version::make(version::major(now) + 1, 0), known, WORD, Code::ERROR_UNSUPPORTED_VERSION),
        (version::make(version::major(now), version::minor(now) + 1), known, WORD, Code::ERROR_UNSUPPORTED_VERSION),
    ] {
        let (answer, table) = words(getter, version, name, size);
        assert_eq!(answer, code, "{name:?} of {size} bytes");
        assert!(table.iter().all(|&word| word == 7), "{name:?} of {size} bytes: {table:?}");
    }
    let mut word = 7usize;
    // SAFETY: a null, and a word.
    let nameless = unsafe { getter(now, null(), WORD, (&raw mut word).cast()) };
    // SAFETY: a null, and a name that ends.
    let placeless = unsafe { getter(now, known.as_ptr(), WORD, null_mut()) };
    assert_eq!((nameless, placeless), (Code::ERROR_INVALID_NULL_POINTER, Code::ERROR_INVALID_NULL_POINTER));
    assert_eq!(word, 7);
}

/// What the adapter's library exports under a name, as a function of that type.
macro_rules! exported {
    ($name:literal, $type:ty) => {{
        let address = extension::by_name($name).expect("the adapter exports what its table has");
        // SAFETY: a symbol of this name has the type that the specification gives it.
        unsafe { core::mem::transmute::<*mut c_void, $type>(address) }.expect("a symbol")
    }};
}

/// A program calls what the adapter's library exports on any loader, one that knows no extension too.
#[test]
fn a_function_by_its_name_in_the_adapter_does_what_it_does_through_the_loader() {
    let fixture = Fixture::new();
    let _ = needs_getter!();
    let create = exported!("urTimelineCreateExt", ur_pfnTimelineCreateExt_t);
    let release = exported!("urTimelineReleaseExt", ur_pfnTimelineReleaseExt_t);
    let mut made = null_mut();
    // SAFETY: a live context and an output.
    let answer = unsafe { create(fixture.context(), null(), &raw mut made) };
    assert!([Code::SUCCESS, Code::ERROR_UNSUPPORTED_FEATURE].contains(&answer), "{answer:?}");
    assert_eq!(made.is_null(), answer != Code::SUCCESS);
    if !made.is_null() {
        // SAFETY: the one reference that the call above gave.
        assert_eq!(unsafe { release(made) }, Code::SUCCESS);
    }
    needs_function!(urTimelineCreateExt);
    let mut made = null_mut();
    assert_eq!(ur!(TimelineExt.pfnTimelineCreateExt(fixture.context(), null(), &raw mut made)), answer);
    if !made.is_null() {
        ur_conformance::ok!(TimelineExt.pfnTimelineReleaseExt(made));
    }
}

/// An object as a stranger's adapter makes them: its first word leads to a table that our loader never saw.
#[repr(C)]
struct Strangers {
    table: *const [usize; 512],
}

#[test]
fn a_handle_of_an_adapter_without_extensions_is_unsupported_and_nothing_is_written() {
    let _fixture = Fixture::new();
    needs_function!(urTimelineCreateExt);
    let table = [0usize; 512];
    let mut object = Strangers { table: &raw const table };
    let handle = (&raw mut object).cast::<c_void>();
    let (list, value, mut made, mut index) = ([handle.cast()], 1, null_mut(), 7);
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnTimelineCreateExt(handle.cast(), null(), &raw mut made));
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnTimelineSignalExt(handle.cast(), 1));
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnTimelineReleaseExt(handle.cast()));
    let flags = ur_ext_timeline_wait_flags_t::empty();
    refused!(
        ERROR_UNSUPPORTED_FEATURE,
        TimelineExt.pfnTimelineWaitExt(1, list.as_ptr(), &raw const value, flags, 0, &raw mut index)
    );
    assert!(made.is_null() && index == 7);
    // The table belongs to the object for as long as it is called with.
    assert!(core::ptr::eq(object.table, &raw const table));
}

#[test]
fn the_loader_refuses_a_null_handle_and_an_empty_list_before_it_looks_for_an_adapter() {
    let _fixture = Fixture::new();
    needs_function!(urTimelineCreateExt);
    let (none, value, flags) = ([null_mut()], 1, ur_ext_timeline_wait_flags_t::empty());
    let value = &raw const value;
    refused!(ERROR_INVALID_NULL_HANDLE, TimelineExt.pfnTimelineCreateExt(null_mut(), null(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, TimelineExt.pfnTimelineRetainExt(null_mut()));
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        TimelineExt.pfnEnqueueTimelineWaitExt(null_mut(), 1, none.as_ptr(), value, 0, null(), null_mut())
    );
    refused!(ERROR_INVALID_NULL_POINTER, TimelineExt.pfnTimelineWaitExt(1, null(), value, flags, 0, null_mut()));
    refused!(ERROR_INVALID_SIZE, TimelineExt.pfnTimelineWaitExt(0, none.as_ptr(), value, flags, 0, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, TimelineExt.pfnTimelineWaitExt(1, none.as_ptr(), value, flags, 0, null_mut()));
}

#[test]
fn the_loaders_own_extension_tables_have_its_exports() {
    let _fixture = Fixture::new();
    needs_function!(urTimelineCreateExt);
    // SAFETY: opening the library that the harness has open.
    let library =
        unsafe { Library::open(Some(&Environment::get().loader), RTLD_LAZY | RTLD_LOCAL) }.expect("the loader");
    // SAFETY: the symbol of this name has this type.
    let getter = unsafe { library.get::<ur_pfnGetExtensionProcAddrTableExt_t>(b"urGetExtensionProcAddrTableExt") };
    let getter = getter.expect("a loader that knows extensions exports the getter").expect("a symbol");
    let own = &loader().table;
    let own = ExtensionTables {
        GraphMemoryExt: own.GraphMemoryExt,
        TimelineExt: own.TimelineExt,
        UsmPoolExt: own.UsmPoolExt,
    };
    // SAFETY: nullable function pointers are words.
    let exports = unsafe { (&raw const own).cast::<[usize; size_of::<ExtensionTables>() / WORD]>().read() };
    assert!(exports.iter().all(|&export| export != 0), "{exports:?}");
    for &(name, offset, size) in EXTENSION_TABLES {
        let (answer, table) = words(getter, ur_api_version_t::CURRENT, name, size);
        assert_eq!(answer, Code::SUCCESS, "{name:?}");
        assert_eq!(table[..size / WORD], exports[offset / WORD..(offset + size) / WORD], "{name:?}");
    }
    // The harness's own handle keeps the library.
    let _ = library.into_raw();
}
