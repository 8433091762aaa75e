//! `urPlatform*`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_char};
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{ur_api_version_t, ur_backend_t, ur_platform_info_t, version};
use ur_conformance::{Fixture, adapter, ask, check_every_property, needs_ours, ok, query, refused};

#[test]
fn urPlatformGet_counts_and_lists() {
    let fixture = Fixture::new();
    let mut count = 0;
    ok!(Platform.pfnGet(adapter(), 0, null_mut(), &raw mut count));
    let mut listed = vec![null_mut(); count as usize + 1];
    let mut again = 0;
    ok!(Platform.pfnGet(adapter(), count + 1, listed.as_mut_ptr(), &raw mut again));
    assert_eq!(again, count);
    assert_eq!(listed.pop(), Some(null_mut()), "no more than the count is written");
    assert!(listed.contains(&fixture.platform), "a platform has one handle");
}

#[test]
fn urPlatformGet_refuses_contradictory_outputs() {
    let _fixture = Fixture::new();
    let mut listed = null_mut();
    refused!(ERROR_INVALID_SIZE, Platform.pfnGet(adapter(), 0, &raw mut listed, null_mut()));
    refused!(ERROR_INVALID_VALUE, Platform.pfnGet(adapter(), 0, null_mut(), null_mut()));
    assert!(listed.is_null());
}

#[test]
fn urPlatformGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    let answered = check_every_property!(ur_platform_info_t, &[], Platform.pfnGetInfo(fixture.platform));
    assert_eq!(answered.len(), ur_platform_info_t::VALUES.len(), "no property of a platform is optional");
}

#[test]
fn urPlatformGetInfo_agrees_with_the_adapter() {
    let fixture = Fixture::new();
    let platform = fixture.platform;
    let owner = query::get::<*mut _>(ask!(Platform.pfnGetInfo(platform, ur_platform_info_t::ADAPTER)));
    assert_eq!(owner, adapter());
    let of_platform = query::get::<u32>(ask!(Platform.pfnGetInfo(platform, ur_platform_info_t::BACKEND)));
    let info = ur_conformance::ffi::ur_adapter_info_t::BACKEND;
    let of_adapter = query::get::<u32>(ask!(Adapter.pfnGetInfo(adapter(), info)));
    assert_eq!(ur_backend_t(of_platform), ur_backend_t(of_adapter));
    assert!(!query::text(ask!(Platform.pfnGetInfo(platform, ur_platform_info_t::NAME))).is_empty());
}

#[test]
fn urPlatformGetApiVersion_is_one_that_this_release_can_serve() {
    let fixture = Fixture::new();
    let mut found = ur_api_version_t(0);
    ok!(Platform.pfnGetApiVersion(fixture.platform, &raw mut found));
    assert!(version::serves(ur_conformance::release(), found), "{found:?}");
    needs_ours!("refuse nulls themselves; others leave them to a layer of the loader");
    refused!(ERROR_INVALID_NULL_POINTER, Platform.pfnGetApiVersion(fixture.platform, null_mut()));
}

#[test]
fn urPlatformGetBackendOption_translates_front_end_options_and_refuses_others() {
    let fixture = Fixture::new();
    for option in [c"-O0", c"-O1", c"-O2", c"-O3", c""] {
        let mut text: *const c_char = null();
        ok!(Platform.pfnGetBackendOption(fixture.platform, option.as_ptr(), &raw mut text));
        assert!(!text.is_null(), "{option:?}");
        // SAFETY: not null, so a C string by the contract.
        let text = unsafe { CStr::from_ptr(text) };
        assert!(text.to_str().is_ok(), "{option:?}");
    }
    let mut text: *const c_char = null();
    refused!(
        ERROR_INVALID_VALUE,
        Platform.pfnGetBackendOption(fixture.platform, c"-fno-such-option".as_ptr(), &raw mut text)
    );
    assert!(text.is_null());
    refused!(ERROR_INVALID_NULL_POINTER, Platform.pfnGetBackendOption(fixture.platform, null(), &raw mut text));
    refused!(ERROR_INVALID_NULL_POINTER, Platform.pfnGetBackendOption(fixture.platform, c"-O2".as_ptr(), null_mut()));
}
