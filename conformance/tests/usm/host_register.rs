//! `urUSMImportExp`, `urUSMReleaseExp`, `urUSMHostAllocRegisterExp`, `urUSMHostAllocUnregisterExp`,
//! `urUSMContextMemcpyExp`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_context_handle_t, ur_device_info_t, ur_result_t as Code, ur_usm_alloc_info_t as info, ur_usm_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::sim::status;
use ur_conformance::{
    Fixture, Gate, Kind, Launch, ask, child, expect_code, expect_success, has_function, needs_function, ok, query,
    refused, ur,
};

/// One of the pairs of entry points that make memory of the process the devices' too.
struct Pair {
    name: &'static str,
    begin: fn(ur_context_handle_t, *mut c_void, usize) -> Code,
    end: fn(ur_context_handle_t, *mut c_void) -> Code,
    no_bytes: Code,
}

fn pairs() -> Vec<Pair> {
    let import = Pair {
        name: "urUSMImportExp",
        begin: |context, memory, size| ur!(USMExp.pfnImportExp(context, memory, size)),
        end: |context, memory| ur!(USMExp.pfnReleaseExp(context, memory)),
        no_bytes: Code::ERROR_INVALID_SIZE,
    };
    if !has_function("urUSMHostAllocRegisterExp") {
        return vec![import];
    }
    vec![
        import,
        Pair {
            name: "urUSMHostAllocRegisterExp",
            begin: |context, memory, size| ur!(USMExp.pfnHostAllocRegisterExp(context, memory, size, null())),
            end: |context, memory| ur!(USMExp.pfnHostAllocUnregisterExp(context, memory)),
            no_bytes: Code::ERROR_INVALID_VALUE,
        },
        Pair {
            name: "urUSMHostAllocRegisterExp, read only",
            begin: |context, memory, size| {
                use ur_conformance::ffi::{
                    ur_exp_usm_host_alloc_register_flags_t as Flags, ur_exp_usm_host_alloc_register_properties_t,
                };
                let properties =
                    ur_exp_usm_host_alloc_register_properties_t { flags: Flags::READ_ONLY, ..Default::default() };
                ur!(USMExp.pfnHostAllocRegisterExp(context, memory, size, &raw const properties))
            },
            end: |context, memory| ur!(USMExp.pfnHostAllocUnregisterExp(context, memory)),
            no_bytes: Code::ERROR_INVALID_VALUE,
        },
    ]
}

#[test]
fn urDeviceGetInfo_says_that_memory_can_be_registered() {
    needs_function!(urUSMHostAllocRegisterExp);
    let fixture = Fixture::new();
    let property = ur_device_info_t::USM_HOST_ALLOC_REGISTER_SUPPORT_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
}

#[test]
fn registered_memory_is_host_memory_to_kernels_and_queries_until_it_is_unregistered() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"copy"));
    let out = fixture.memory(Kind::Device, 4096);
    let context = fixture.context();
    for pair in pairs() {
        let name = pair.name;
        let mut words: Vec<u32> = (0..4096).collect();
        // Neither start nor size need be a page's.
        let (start, bytes) = (words[10..].as_mut_ptr().cast::<c_void>(), 4096);
        expect_success((pair.begin)(context, start, bytes), name);
        for at in [0, 1, bytes - 1] {
            let pointer = start.wrapping_byte_add(at).cast_const();
            let ask = |property| query::get::<usize>(ask!(USM.pfnGetMemAllocInfo(context, pointer, property)));
            let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::TYPE)));
            assert_eq!(kind, ur_usm_type_t::HOST.0, "{name} + {at}");
            assert_eq!((ask(info::BASE_PTR), ask(info::SIZE)), (start.addr(), bytes), "{name} + {at}");
        }
        let launch = Launch::new(&kernel, &[1024]).pointer(out.pointer()).pointer(start);
        launch.value(1024u32).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 1024), (10..1034).collect::<Vec<u32>>(), "{name}");
        expect_success((pair.end)(context, start), name);
        let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(context, start.cast_const(), info::TYPE)));
        assert_eq!(kind, ur_usm_type_t::UNKNOWN.0, "{name}");
        // And once more.
        expect_success((pair.begin)(context, start, bytes), name);
        expect_success((pair.end)(context, start), name);
    }
}

#[test]
fn registered_memory_serves_copies_that_do_not_wait_for_the_queue() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let to = fixture.memory(Kind::Device, 4096);
    for pair in pairs() {
        let mut bytes = pattern(2, 4096);
        let start = bytes.as_mut_ptr().cast::<c_void>();
        expect_success((pair.begin)(fixture.context(), start, 4096), pair.name);
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        ok!(Enqueue.pfnUSMMemcpy(
            queue.handle(),
            ur_conformance::ffi::CBool::FALSE,
            to.pointer(),
            start,
            4096,
            0,
            null(),
            null_mut()
        ));
        gate.open();
        queue.finish();
        assert_eq!(to.read::<u8>(&queue, 4096), pattern(2, 4096), "{}", pair.name);
        expect_success((pair.end)(fixture.context(), start), pair.name);
    }
}

#[test]
fn registration_refuses_bad_ranges_and_memory_that_is_registered_or_usm() {
    let fixture = Fixture::new();
    let context = fixture.context();
    let usm = fixture.memory(Kind::Host, 4096);
    for pair in pairs() {
        let (begin, end, name) = (pair.begin, pair.end, pair.name);
        let mut bytes = vec![0u8; 65536];
        let start = bytes.as_mut_ptr().cast::<c_void>();
        let value = &[Code::ERROR_INVALID_VALUE];
        expect_code(begin(context, null_mut(), 64), &[Code::ERROR_INVALID_NULL_POINTER], name);
        expect_code(begin(context, start, 0), &[pair.no_bytes], name);
        expect_code(begin(context, start, usize::MAX), value, name);
        expect_code(begin(null_mut(), start, 64), &[Code::ERROR_INVALID_NULL_HANDLE], name);
        expect_code(begin(context, usm.pointer(), 64), value, name);
        expect_code(end(context, null_mut()), &[Code::ERROR_INVALID_NULL_POINTER], name);
        expect_code(end(context, start), value, "memory that is not registered");
        expect_success(begin(context, start, 32768), name);
        expect_code(begin(context, start, 32768), value, "the same range again");
        expect_code(begin(context, start.wrapping_byte_add(100), 64), value, "a range inside");
        expect_code(end(context, start.wrapping_byte_add(4096)), value, "an inner address");
        expect_success(end(context, start), name);
        expect_code(end(context, start), value, "a second release");
        // What is host memory of USM is freed and not unregistered; only CUDA can tell them apart, and for HIP there is a list.
        expect_code(end(context, usm.pointer()), value, "USM memory");
        let is_cuda = ur_conformance::native::Hip::loaded().is_none();
        // Between guards it starts no native allocation.
        if let Some(sim) = fixture.sim().filter(|_| is_cuda && !ur_conformance::memory::is_guarded()) {
            sim.expect_reports("invalid-pointer");
        }
    }
}

#[test]
fn urUSMFree_refuses_registered_memory_and_no_buffer_may_own_it() {
    let fixture = Fixture::new();
    for pair in pairs() {
        let mut bytes = vec![0u8; 65536];
        let start = bytes.as_mut_ptr().cast::<c_void>();
        expect_success((pair.begin)(fixture.context(), start, 32768), pair.name);
        memory::expect_not_to_be_freed(fixture.context(), start);
        expect_success((pair.end)(fixture.context(), start), pair.name);
    }
}

#[test]
fn a_range_that_reaches_into_registered_memory_is_refused() {
    let fixture = Fixture::new();
    let mut bytes = vec![0u8; 65536];
    let start = bytes.as_mut_ptr().cast::<c_void>();
    let inner = start.wrapping_byte_add(16384);
    for pair in pairs() {
        expect_success((pair.begin)(fixture.context(), inner, 16384), pair.name);
        let answer = (pair.begin)(fixture.context(), start, 32768);
        expect_code(answer, &[Code::ERROR_INVALID_VALUE], pair.name);
        expect_success((pair.end)(fixture.context(), inner), pair.name);
    }
}

#[test]
fn a_native_failure_of_registering_leaves_nothing_registered() {
    let fixture = Fixture::new();
    let sim = ur_conformance::needs_sim!(fixture);
    let mut bytes = vec![0u8; 8192];
    let start = bytes.as_mut_ptr().cast::<c_void>();
    for pair in pairs() {
        for (error, code) in
            [(status::UNKNOWN, Code::ERROR_ADAPTER_SPECIFIC), (status::OUT_OF_MEMORY, Code::ERROR_OUT_OF_DEVICE_MEMORY)]
        {
            sim.fail("cuMemHostRegister_v2", 1, error);
            expect_code((pair.begin)(fixture.context(), start, 8192), &[code], pair.name);
            assert_eq!(sim.objects().get("registered host memory"), None, "{}", pair.name);
        }
        expect_success((pair.begin)(fixture.context(), start, 8192), pair.name);
        sim.fail("cuMemHostUnregister", 1, status::UNKNOWN);
        expect_code((pair.end)(fixture.context(), start), &[Code::ERROR_ADAPTER_SPECIFIC], pair.name);
        expect_success((pair.end)(fixture.context(), start), "it is registered still");
    }
}

/// Some of AMD's systems do so. Kernels could not use the address; copies by the host's are the library's to get right.
#[test]
fn urUSMHostAllocRegisterExp_refuses_memory_that_devices_have_at_another_address() {
    let test = "urUSMHostAllocRegisterExp_refuses_memory_that_devices_have_at_another_address";
    child::in_process(test, &[("HIP_ON_CUDA_REGISTERED", "apart")], || {
        needs_function!(urUSMHostAllocRegisterExp);
        let fixture = Fixture::new();
        if !ur_conformance::native::Hip::loaded().is_some_and(|hip| hip.counts_calls()) {
            return;
        }
        let mut bytes = vec![0u8; 8192];
        let (context, start) = (fixture.context(), bytes.as_mut_ptr().cast::<c_void>());
        refused!(ERROR_UNSUPPORTED_FEATURE, USMExp.pfnHostAllocRegisterExp(context, start, 8192, null()));
        // Nothing of it stays, and the import is for copies alone.
        ok!(USMExp.pfnImportExp(context, start, 8192));
        ok!(USMExp.pfnReleaseExp(context, start));
    });
}

/// A library that has no use for the promise that devices only read registers all the same.
#[test]
fn urUSMHostAllocRegisterExp_does_without_the_read_only_flag_where_the_driver_does_not_take_it() {
    needs_function!(urUSMHostAllocRegisterExp);
    const NOT_SUPPORTED: i32 = 801;
    let fixture = Fixture::new();
    let sim = ur_conformance::needs_sim!(fixture);
    if ur_conformance::native::Hip::loaded().is_some() {
        println!("skipped: HIP has no such flag");
        return;
    }
    let Some(pair) = pairs().pop() else { return };
    let mut bytes = vec![0u8; 8192];
    let start = bytes.as_mut_ptr().cast::<c_void>();
    sim.fail("cuMemHostRegister_v2", 1, NOT_SUPPORTED);
    expect_success((pair.begin)(fixture.context(), start, 8192), pair.name);
    expect_success((pair.end)(fixture.context(), start), pair.name);
}

#[test]
fn urUSMHostAllocRegisterExp_refuses_unknown_flags() {
    needs_function!(urUSMHostAllocRegisterExp);
    use ur_conformance::ffi::{
        UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK as MASK, ur_exp_usm_host_alloc_register_flags_t as Flags,
        ur_exp_usm_host_alloc_register_properties_t,
    };
    let fixture = Fixture::new();
    let mut bytes = vec![0u8; 8192];
    let flags = Flags::from_bits_retain(MASK & MASK.wrapping_neg());
    let properties = ur_exp_usm_host_alloc_register_properties_t { flags, ..Default::default() };
    let (context, start) = (fixture.context(), bytes.as_mut_ptr().cast());
    refused!(ERROR_INVALID_ENUMERATION, USMExp.pfnHostAllocRegisterExp(context, start, 8192, &raw const properties));
}

#[test]
fn urUSMContextMemcpyExp_copies_between_memory_of_every_kind_before_it_returns() {
    let fixture = Fixture::over_all_devices();
    let property = ur_device_info_t::USM_CONTEXT_MEMCPY_SUPPORT_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
    let context = fixture.context();
    let mut places: Vec<*mut c_void> = Vec::new();
    for &device in &fixture.devices {
        for kind in Kind::ALL {
            let mut pointer = null_mut();
            let answer = memory::allocate(kind, context, device, null(), 4096, &raw mut pointer);
            expect_success(answer, "an allocation");
            places.push(pointer);
        }
    }
    for (index, (&to, &from)) in places.iter().flat_map(|to| places.iter().map(move |from| (to, from))).enumerate() {
        if to == from {
            continue;
        }
        let bytes = pattern(index as u32, 4096);
        let mut back = vec![0u8; 4096];
        ok!(USMExp.pfnContextMemcpyExp(context, from, bytes.as_ptr().cast(), 4096));
        ok!(USMExp.pfnContextMemcpyExp(context, to, from, 4096));
        ok!(USMExp.pfnContextMemcpyExp(context, back.as_mut_ptr().cast(), to, 4096));
        assert!(back == bytes, "pair {index}");
    }
    places.into_iter().for_each(|pointer| ok!(USM.pfnFree(context, pointer)));
}

#[test]
fn urUSMContextMemcpyExp_waits_for_no_queue() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let (bytes, mut back) = (pattern(1, 64), [0u8; 64]);
    ok!(USMExp.pfnContextMemcpyExp(fixture.context(), memory.pointer(), bytes.as_ptr().cast(), 64));
    ok!(USMExp.pfnContextMemcpyExp(fixture.context(), back.as_mut_ptr().cast(), memory.pointer(), 64));
    assert_eq!(back, bytes[..]);
    gate.open();
    queue.finish();
}

#[test]
fn urUSMContextMemcpyExp_refuses_missing_pointers_and_no_bytes_and_tells_native_failures() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 64);
    let (c, m) = (fixture.context(), memory.pointer());
    let mut bytes = [7u8; 64];
    let b = bytes.as_mut_ptr().cast::<c_void>();
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnContextMemcpyExp(c, null_mut(), m, 64));
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnContextMemcpyExp(c, m, null(), 64));
    refused!(ERROR_INVALID_SIZE, USMExp.pfnContextMemcpyExp(c, m, b, 0));
    refused!(ERROR_INVALID_NULL_HANDLE, USMExp.pfnContextMemcpyExp(null_mut(), m, b, 64));
    let sim = ur_conformance::needs_sim!(fixture);
    // The stream for guards of blocks serves these copies too.
    let made = usize::from(ur_conformance::memory::is_guarded());
    for name in &["cuStreamCreateWithPriority", "cuMemcpyAsync", "cuStreamSynchronize"][made..] {
        sim.fail(name, 1, status::OUT_OF_MEMORY);
        refused!(ERROR_OUT_OF_DEVICE_MEMORY, USMExp.pfnContextMemcpyExp(c, m, b, 64));
        sim.clear_faults();
    }
    ok!(USMExp.pfnContextMemcpyExp(c, m, b, 64));
}
