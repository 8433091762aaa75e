//! `urUSM*Alloc`, `urUSMFree`, `urUSMGetMemAllocInfo`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_USM_ADVICE_FLAGS_MASK, ur_device_info_t, ur_result_t as Code, ur_structure_type_t, ur_usm_advice_flags_t,
    ur_usm_alloc_info_t as info, ur_usm_desc_t, ur_usm_type_t,
};
use ur_conformance::memory::allocate;
use ur_conformance::native::Hip;
use ur_conformance::sim::status;
use ur_conformance::{
    Fixture, Kind, Memory, ask, child, expect_code, expect_success, needs_sim, ok, query, refused, ur,
};

fn type_of(kind: Kind) -> ur_usm_type_t {
    match kind {
        Kind::Host => ur_usm_type_t::HOST,
        Kind::Device => ur_usm_type_t::DEVICE,
        Kind::Shared => ur_usm_type_t::SHARED,
    }
}

fn ask_type(fixture: &Fixture, pointer: *const c_void) -> ur_usm_type_t {
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer, info::TYPE))))
}

fn device_memory(fixture: &Fixture) -> usize {
    let property = ur_device_info_t::GLOBAL_MEM_SIZE;
    let bytes: u64 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    usize::try_from(bytes).expect("a 64-bit machine")
}

#[test]
fn urUSMAlloc_of_every_kind_and_many_sizes_does_not_overlap() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let sizes = [1, 2, 3, 7, 8, 63, 255, 256, 257, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1];
        let memories: Vec<_> = sizes.iter().map(|&size| fixture.memory(kind, size)).collect();
        for (index, memory) in memories.iter().enumerate() {
            memory.write(&queue, &vec![index as u8; memory.bytes()]);
        }
        for (index, memory) in memories.iter().enumerate() {
            assert_eq!(memory.read::<u8>(&queue, memory.bytes()), vec![index as u8; memory.bytes()], "{kind:?}");
        }
    }
}

#[test]
fn urUSMHostAlloc_and_urUSMSharedAlloc_are_memory_that_the_host_may_touch() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::OF_HOST {
        let memory = fixture.memory(kind, 4096);
        (0..1024).for_each(|index| memory.store(index, !index as u32));
        let expected: Vec<u32> = (0..1024).map(|index: u32| !index).collect();
        assert_eq!(memory.read::<u32>(&queue, 1024), expected, "{kind:?}: the device sees what the host wrote");
        memory.write(&queue, &[5u32; 1024]);
        assert!((0..1024).all(|index| memory.load(index) == 5), "{kind:?}: the host sees what the device wrote");
    }
}

#[test]
fn urUSMAlloc_keeps_every_alignment_that_it_accepts() {
    let fixture = Fixture::new();
    for kind in Kind::ALL {
        for align in (0..16).map(|power| 1u32 << power) {
            // Clients leave the tag out; the parameter's place says what it is.
            let desc = ur_usm_desc_t { stype: ur_structure_type_t(0), align, ..Default::default() };
            let mut pointer = null_mut();
            let (context, device) = (fixture.context(), fixture.device());
            match allocate(kind, context, device, &raw const desc, 100, &raw mut pointer) {
                Code::SUCCESS => {
                    assert!(pointer.addr().is_multiple_of(align as usize), "{kind:?} {align}: {pointer:p}");
                    ur_conformance::ok!(USM.pfnFree(context, pointer));
                }
                code => {
                    assert!(align > 256, "{kind:?}: an alignment of {align} answers {code:?}");
                    expect_code(code, &[Code::ERROR_UNSUPPORTED_ALIGNMENT, Code::ERROR_INVALID_VALUE], "an alignment");
                    assert!(pointer.is_null());
                }
            }
        }
    }
}

/// Native libraries align to 256 bytes; SYCL programs ask for pages.
#[test]
fn urUSMAlloc_gives_every_alignment_up_to_a_large_page() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (context, device) = (fixture.context(), fixture.device());
    for kind in Kind::ALL {
        let mut live = Vec::new();
        for align in (9..22).map(|power| 1u32 << power) {
            let desc = ur_usm_desc_t { align, ..Default::default() };
            let mut pointer: *mut c_void = null_mut();
            let answer = allocate(kind, context, device, &raw const desc, 1000, &raw mut pointer);
            expect_code(answer, &[Code::SUCCESS], &format!("{kind:?} at an alignment of {align}"));
            assert!(pointer.addr().is_multiple_of(align as usize), "{kind:?} {align}: {pointer:p}");
            ur_conformance::ok!(Enqueue.pfnUSMFill(
                queue.handle(),
                pointer,
                1,
                (&raw const *b"x").cast(),
                1000,
                0,
                null(),
                null_mut()
            ));
            live.push(pointer);
        }
        queue.finish();
        for (index, pointer) in live.iter().copied().enumerate() {
            let of = |address: *mut c_void, property| {
                query::get::<usize>(ask!(USM.pfnGetMemAllocInfo(context, address.cast_const(), property)))
            };
            let inside = pointer.wrapping_byte_add(999);
            assert_eq!(
                (of(inside, info::BASE_PTR), of(inside, info::SIZE)),
                (pointer.addr(), 1000),
                "{kind:?} {index}"
            );
            assert_eq!(ask_type(&fixture, pointer), type_of(kind));
            assert_eq!(ask_type(&fixture, pointer.wrapping_byte_add(1000)), ur_usm_type_t::UNKNOWN, "{kind:?} {index}");
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, inside));
            ur_conformance::ok!(USM.pfnFree(context, pointer));
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, pointer));
        }
    }
}

#[test]
fn urUSMAlloc_refuses_a_size_that_an_alignment_takes_past_the_address_space() {
    let fixture = Fixture::new();
    let desc = ur_usm_desc_t { align: 4096, ..Default::default() };
    let mut pointer = null_mut();
    let answer =
        allocate(Kind::Host, fixture.context(), fixture.device(), &raw const desc, usize::MAX - 100, &raw mut pointer);
    expect_code(answer, &[Code::ERROR_INVALID_USM_SIZE], "more bytes than there are addresses");
    assert!(pointer.is_null());
}

#[test]
fn urUSMAlloc_refuses_bad_descriptions_and_sizes() {
    let fixture = Fixture::new();
    let too_much = device_memory(&fixture);
    for kind in Kind::ALL {
        let refuse = |what: &str, desc: *const ur_usm_desc_t, bytes: usize, codes: &[Code]| {
            let mut pointer = null_mut();
            let answer = allocate(kind, fixture.context(), fixture.device(), desc, bytes, &raw mut pointer);
            expect_code(answer, codes, &format!("{kind:?} with {what}"));
            assert!(pointer.is_null(), "{kind:?} with {what} gave a pointer");
        };
        for align in [3, 6, 100] {
            let desc = ur_usm_desc_t { align, ..Default::default() };
            refuse("an alignment that is no power of two", &raw const desc, 64, &[Code::ERROR_INVALID_VALUE]);
        }
        let lowest = UR_USM_ADVICE_FLAGS_MASK & UR_USM_ADVICE_FLAGS_MASK.wrapping_neg();
        let hints = ur_usm_advice_flags_t::from_bits_retain(lowest);
        let desc = ur_usm_desc_t { hints, ..Default::default() };
        refuse("unknown hints", &raw const desc, 64, &[Code::ERROR_INVALID_ENUMERATION]);
        refuse("no bytes", null(), 0, &[Code::ERROR_INVALID_USM_SIZE]);
        let full = [
            Code::ERROR_INVALID_USM_SIZE,
            Code::ERROR_OUT_OF_DEVICE_MEMORY,
            Code::ERROR_OUT_OF_HOST_MEMORY,
            Code::ERROR_OUT_OF_RESOURCES,
        ];
        for bytes in [usize::MAX, usize::MAX / 2, 1 << 60] {
            refuse("more bytes than any machine has", null(), bytes, &full);
        }
        if kind != Kind::Host {
            refuse("more bytes than the device has", null(), too_much + 1, &full);
        }
        let answer = allocate(kind, fixture.context(), fixture.device(), null(), 64, null_mut());
        expect_code(answer, &[Code::ERROR_INVALID_NULL_POINTER], "no output");
    }
}

#[test]
fn urUSMDeviceAlloc_refuses_a_device_outside_of_the_context() {
    let fixture = Fixture::new();
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    for kind in [Kind::Device, Kind::Shared] {
        let mut pointer = null_mut();
        let answer = allocate(kind, fixture.context(), other, null(), 64, &raw mut pointer);
        expect_code(answer, &[Code::ERROR_INVALID_DEVICE], "a foreign device");
        assert!(pointer.is_null());
    }
}

#[test]
fn urUSMSharedAlloc_needs_no_device() {
    let fixture = Fixture::new();
    let mut pointer = null_mut();
    let answer = allocate(Kind::Shared, fixture.context(), null_mut(), null(), 64, &raw mut pointer);
    // The parameter is mandatory in this release's specification.
    expect_code(answer, &[Code::SUCCESS, Code::ERROR_INVALID_NULL_HANDLE], "no device");
    if answer == Code::SUCCESS {
        ur_conformance::ok!(USM.pfnFree(fixture.context(), pointer));
    }
}

#[test]
fn urUSMGetMemAllocInfo_knows_first_last_and_inner_bytes_of_every_kind() {
    let fixture = Fixture::new();
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 1000);
        for at in [0, 1, 500, 999] {
            let (context, pointer) = (fixture.context(), memory.at(at).cast_const());
            assert_eq!(ask_type(&fixture, pointer), type_of(kind), "{kind:?} + {at}");
            let base: *mut c_void = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::BASE_PTR)));
            assert_eq!(base, memory.pointer(), "{kind:?} + {at}");
            let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::SIZE)));
            assert!(size >= 1000, "{kind:?} + {at}: {size}");
            let device: *mut _ = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::DEVICE)));
            assert!(device == fixture.device() || kind == Kind::Host, "{kind:?} + {at}");
        }
        ur_conformance::check_every_property!(
            ur_usm_alloc_info_t,
            &[],
            USM.pfnGetMemAllocInfo(fixture.context(), memory.pointer().cast_const())
        );
    }
}

#[test]
fn urUSMGetMemAllocInfo_tells_the_device_that_owns_the_memory() {
    let fixture = Fixture::over_all_devices();
    for &device in &fixture.devices {
        for kind in [Kind::Device, Kind::Shared] {
            let mut pointer = null_mut();
            let answer = allocate(kind, fixture.context(), device, null(), 64, &raw mut pointer);
            ur_conformance::expect_success(answer, "an allocation");
            let told: *mut _ =
                query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer.cast_const(), info::DEVICE)));
            assert_eq!(told, device, "{kind:?}");
            ur_conformance::ok!(USM.pfnFree(fixture.context(), pointer));
        }
    }
}

#[test]
fn urUSMGetMemAllocInfo_calls_foreign_memory_unknown() {
    let fixture = Fixture::new();
    let local = [0u8; 16];
    let heap = vec![0u8; 4096];
    let memory = fixture.memory(Kind::Device, 64);
    let freed = memory.pointer().cast_const();
    drop(memory);
    let wild = core::ptr::without_provenance::<c_void>(0x10);
    for pointer in [local.as_ptr().cast(), heap.as_ptr().cast(), freed, wild] {
        assert_eq!(ask_type(&fixture, pointer), ur_usm_type_t::UNKNOWN, "{pointer:p}");
        let mut size = 7usize;
        refused!(
            ERROR_INVALID_VALUE | ERROR_INVALID_MEM_OBJECT,
            USM.pfnGetMemAllocInfo(fixture.context(), pointer, info::SIZE, 8, (&raw mut size).cast(), null_mut())
        );
        assert_eq!(size, 7);
    }
    let mut size = 0;
    refused!(
        ERROR_INVALID_NULL_POINTER,
        USM.pfnGetMemAllocInfo(fixture.context(), null(), info::TYPE, 0, null_mut(), &raw mut size)
    );
}

#[test]
fn urUSMFree_refuses_what_is_not_the_start_of_a_live_allocation() {
    let fixture = Fixture::new();
    let free = |pointer: *mut c_void| ur!(USM.pfnFree(fixture.context(), pointer));
    assert_eq!(free(null_mut()), Code::ERROR_INVALID_NULL_POINTER);
    let mut local = [0u8; 16];
    assert_eq!(free(local.as_mut_ptr().cast()), Code::ERROR_INVALID_MEM_OBJECT, "memory of the stack");
    let mut heap = vec![0u8; 4096];
    assert_eq!(free(heap.as_mut_ptr().cast()), Code::ERROR_INVALID_MEM_OBJECT, "memory of the heap");
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 4096);
        for at in [1, 256, 4095] {
            assert_eq!(free(memory.at(at)), Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}: {at} bytes inside");
        }
        let pointer = memory.pointer();
        drop(memory);
        assert_eq!(free(pointer), Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}: freed already");
    }
}

#[test]
fn urUSMDeviceAlloc_runs_out_of_memory_with_its_own_code_and_recovers() {
    let fixture = Fixture::new();
    let part = device_memory(&fixture) / 8;
    let mut parts: Vec<Memory<'_>> = Vec::new();
    let refused = loop {
        let mut pointer = null_mut();
        let answer = allocate(Kind::Device, fixture.context(), fixture.device(), null(), part, &raw mut pointer);
        if answer != Code::SUCCESS {
            assert!(pointer.is_null());
            break answer;
        }
        ur_conformance::ok!(USM.pfnFree(fixture.context(), pointer));
        parts.push(fixture.memory(Kind::Device, part));
        assert!(parts.len() <= 8, "more memory than the device has");
    };
    assert_eq!(refused, Code::ERROR_OUT_OF_DEVICE_MEMORY);
    drop(parts.pop());
    let again = fixture.memory(Kind::Device, part);
    drop(again);
}

#[test]
fn urUSMHostAlloc_out_of_memory_has_the_host_s_code() {
    let fixture = Fixture::new();
    let sim = ur_conformance::needs_sim!(fixture);
    drop(fixture.memory(Kind::Host, 64));
    // More than is kept. The first failures may be taken for one of the device's, or of a block's, and tried again.
    const BYTES: usize = 3 << 20;
    (1..=3).for_each(|nth| sim.fail("cuMemHostAlloc", nth, ur_conformance::sim::status::OUT_OF_MEMORY));
    let mut pointer = null_mut();
    let answer = allocate(Kind::Host, fixture.context(), fixture.device(), null(), BYTES, &raw mut pointer);
    expect_code(answer, &[Code::ERROR_OUT_OF_HOST_MEMORY], "urUSMHostAlloc");
    assert!(pointer.is_null());
    sim.clear_faults();
    drop(fixture.memory(Kind::Host, BYTES));
}

/// A thread whose native free is through has not said so yet when another thread has the address, as its own.
#[test]
fn urUSMFree_of_memory_whose_address_another_thread_has_just_freed_succeeds() {
    let test = "urUSMFree_of_memory_whose_address_another_thread_has_just_freed_succeeds";
    child::in_time(test, &[("UR_USM_POOL", "0")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let take = |kind, bytes| {
            let mut pointer = null_mut();
            let answer = allocate(kind, fixture.context(), fixture.device(), null(), bytes, &raw mut pointer);
            expect_success(answer, "a USM allocation");
            pointer.expose_provenance()
        };
        let free = |address| ur!(USM.pfnFree(fixture.context(), core::ptr::with_exposed_provenance_mut(address)));
        // An address that is being freed can be neither for a question of several native calls.
        let is_free = |address| {
            let (pointer, mut told) = (core::ptr::with_exposed_provenance(address), ur_usm_type_t::HOST);
            let (out, size) = ((&raw mut told).cast(), size_of::<ur_usm_type_t>());
            let (context, none) = (fixture.context(), null_mut());
            let answer = ur!(USM.pfnGetMemAllocInfo(context, pointer, info::TYPE, size, out, none));
            answer == Code::SUCCESS && told == ur_usm_type_t::UNKNOWN
        };
        let (address, mut others) = (take(Kind::Host, 4096), Vec::new());
        let answers = std::thread::scope(|scope| {
            let returns = sim.hold_returns("cuMemFreeHost");
            let first = scope.spawn(move || free(address));
            while !is_free(address) {
                assert!(!first.is_finished(), "nothing was freed");
                std::thread::yield_now();
            }
            // The simulated driver gives an address out again when so much else was freed.
            loop {
                assert_eq!(free(take(Kind::Device, 64 << 20)), Code::SUCCESS);
                match take(Kind::Host, 4096) {
                    again if again == address => break,
                    other => others.push(other),
                }
            }
            let second = scope.spawn(move || free(address));
            while !second.is_finished() && !is_free(address) {
                std::thread::yield_now();
            }
            drop(returns);
            [first, second].map(|thread| thread.join().expect("no panic"))
        });
        assert_eq!(answers, [Code::SUCCESS; 2]);
        others.into_iter().for_each(|other| assert_eq!(free(other), Code::SUCCESS));
    });
}

/// The application's address is another one than the native library's.
#[test]
fn urUSMFree_of_memory_with_a_large_alignment_that_fails_natively_can_be_called_again() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (context, device) = (fixture.context(), fixture.device());
    // More than blocks of heaps are aligned to.
    let desc = ur_usm_desc_t { align: 1 << 22, ..Default::default() };
    for (kind, native) in [(Kind::Device, "cuMemFree_v2"), (Kind::Host, "cuMemFreeHost")] {
        let mut memory = null_mut();
        expect_success(allocate(kind, context, device, &raw const desc, 4096, &raw mut memory), "urUSMAlloc");
        sim.fail(native, 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, USM.pfnFree(context, memory));
        sim.clear_faults();
        ok!(USM.pfnFree(context, memory));
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, memory));
    }
}

/// The context's first device may be another process's alone, full or lost.
#[test]
fn urUSMFree_of_one_device_s_memory_needs_no_other_device() {
    child::in_process::<&str>("urUSMFree_of_one_device_s_memory_needs_no_other_device", &[], || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        if fixture.devices.len() < 2 || Hip::loaded().is_some() {
            println!("skipped: needs two devices that are started one by one");
            return;
        }
        let context = fixture.context();
        // More than blocks of heaps are aligned to.
        let desc = ur_usm_desc_t { align: 1 << 16, ..Default::default() };
        let mut memory = null_mut();
        let answer = allocate(Kind::Device, context, fixture.devices[1], &raw const desc, 4096, &raw mut memory);
        expect_success(answer, "urUSMDeviceAlloc");
        sim.fail("cuDevicePrimaryCtxRetain", 1, status::UNKNOWN);
        let ((), calls) = sim.calls_of(|| ok!(USM.pfnFree(context, memory)));
        assert_eq!(calls.get("cuDevicePrimaryCtxRetain"), None, "{calls:?}");
    });
}

#[test]
fn urMemBufferCreateWithNativeHandle_over_one_device_s_memory_needs_no_other_device() {
    let test = "urMemBufferCreateWithNativeHandle_over_one_device_s_memory_needs_no_other_device";
    child::in_process::<&str>(test, &[], || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        if fixture.devices.len() < 2 || Hip::loaded().is_some() {
            println!("skipped: needs two devices that are started one by one");
            return;
        }
        let (context, mut memory, mut buffer) = (fixture.context(), null_mut(), null_mut());
        expect_success(allocate(Kind::Device, context, fixture.devices[1], null(), 4096, &raw mut memory), "memory");
        sim.fail("cuDevicePrimaryCtxRetain", 1, status::UNKNOWN);
        ok!(Mem.pfnBufferCreateWithNativeHandle(memory.expose_provenance() as _, context, null(), &raw mut buffer));
        ok!(Mem.pfnRelease(buffer));
        ok!(USM.pfnFree(context, memory));
    });
}
