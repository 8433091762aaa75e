//! Samplers: what they are made from, what they answer, and what a kernel gets for one.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_sampler_addressing_mode_t as Mode, ur_sampler_desc_t, ur_sampler_filter_mode_t as Filter,
    ur_sampler_info_t as Info,
};
use ur_conformance::image::sampler;
use ur_conformance::{Arg, Fixture, Kind, Launch, Sampler, ask, check_every_property, ok, query, refused};

/// What a kernel takes for a sampler, as the compilers of SYCL read it.
fn bits(normalized: bool, mode: Mode, filter: Filter) -> u32 {
    u32::from(normalized) | filter.0 << 1 | mode.0 << 2
}

/// Every sampler.
fn all() -> Vec<(bool, Mode, Filter)> {
    let modes = Mode::VALUES.iter().flat_map(|mode| Filter::VALUES.iter().map(move |filter| (*mode, *filter)));
    modes.flat_map(|(mode, filter)| [(false, mode, filter), (true, mode, filter)]).collect()
}

#[test]
fn urSamplerGetInfo_answers_what_the_sampler_was_made_from() {
    let fixture = Fixture::new();
    for (normalized, mode, filter) in all() {
        let sampler = sampler(&fixture, normalized, mode, filter);
        let handle = sampler.handle();
        let answered = check_every_property!(ur_sampler_info_t, &[], Sampler.pfnGetInfo(handle));
        assert_eq!(answered.len(), Info::VALUES.len());
        let number = |property| query::get::<u32>(ask!(Sampler.pfnGetInfo(handle, property)));
        assert_eq!([number(Info::ADDRESSING_MODE), number(Info::FILTER_MODE)], [mode.0, filter.0]);
        let normal = query::get::<u8>(ask!(Sampler.pfnGetInfo(handle, Info::NORMALIZED_COORDS)));
        assert_eq!(normal != 0, normalized);
        let context = query::get::<*mut u8>(ask!(Sampler.pfnGetInfo(handle, Info::CONTEXT)));
        assert_eq!(context, fixture.context().cast());
    }
}

#[test]
fn references_are_counted() {
    let fixture = Fixture::new();
    let sampler = sampler(&fixture, true, Mode::REPEAT, Filter::LINEAR);
    let handle = sampler.handle();
    let count = || query::get::<u32>(ask!(Sampler.pfnGetInfo(handle, Info::REFERENCE_COUNT)));
    assert_eq!(count(), 1);
    ok!(Sampler.pfnRetain(handle));
    assert_eq!(count(), 2);
    ok!(Sampler.pfnRelease(handle));
    assert_eq!(count(), 1);
    refused!(ERROR_INVALID_SAMPLER, Sampler.pfnRetain(fixture.context().cast()));
    refused!(ERROR_INVALID_NULL_HANDLE, Sampler.pfnRelease(null_mut()));
}

#[test]
fn urSamplerCreate_refuses_unknown_modes_and_null() {
    let fixture = Fixture::new();
    let c = fixture.context();
    let mut made = null_mut();
    let desc = |addressing, filter| ur_sampler_desc_t {
        normalizedCoords: CBool::TRUE,
        addressingMode: addressing,
        filterMode: filter,
        ..Default::default()
    };
    let good = desc(Mode::CLAMP, Filter::LINEAR);
    for bad in [desc(Mode(5), Filter::LINEAR), desc(Mode::CLAMP, Filter(2))] {
        refused!(ERROR_INVALID_ENUMERATION, Sampler.pfnCreate(c, &raw const bad, &raw mut made));
    }
    refused!(ERROR_INVALID_NULL_POINTER, Sampler.pfnCreate(c, null(), &raw mut made));
    refused!(ERROR_INVALID_NULL_POINTER, Sampler.pfnCreate(c, &raw const good, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, Sampler.pfnCreate(null_mut(), &raw const good, &raw mut made));
    assert!(made.is_null());
}

#[test]
fn a_native_sampler_is_the_bits_that_kernels_take() {
    let fixture = Fixture::new();
    for (normalized, mode, filter) in all() {
        let first = sampler(&fixture, normalized, mode, filter);
        let mut native = 0;
        ok!(Sampler.pfnGetNativeHandle(first.handle(), &raw mut native));
        assert_eq!(native, bits(normalized, mode, filter) as usize);
        let mut made = null_mut();
        ok!(Sampler.pfnCreateWithNativeHandle(native, fixture.context(), null(), &raw mut made));
        let second = Sampler::take(made);
        for property in [Info::ADDRESSING_MODE, Info::FILTER_MODE] {
            let of = |sampler: &Sampler| query::get::<u32>(ask!(Sampler.pfnGetInfo(sampler.handle(), property)));
            assert_eq!(of(&first), of(&second));
        }
    }
    let mut made = null_mut();
    for wrong in [5 << 2, 1 << 31, usize::MAX] {
        refused!(
            ERROR_INVALID_ENUMERATION,
            Sampler.pfnCreateWithNativeHandle(wrong, fixture.context(), null(), &raw mut made)
        );
    }
    refused!(ERROR_INVALID_NULL_POINTER, Sampler.pfnCreateWithNativeHandle(0, fixture.context(), null(), null_mut()));
    assert!(made.is_null());
}

#[test]
fn a_kernel_gets_a_sampler_as_32_bits() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.kernel(&fixture.program("image.ptx"), c"sampler_bits");
    let out = fixture.memory(Kind::Device, 4);
    for (normalized, mode, filter) in all() {
        let sampler = sampler(&fixture, normalized, mode, filter);
        Launch::new(&kernel, &[1]).pointer(out.pointer()).arg(Arg::sampler(sampler.handle())).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 1), [bits(normalized, mode, filter)]);
    }
}
