//! `urBindlessImages*External*Memory*Exp`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{from_ref, null, null_mut};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use ur_conformance::ffi::{
    Structure as _, ur_bool_t, ur_device_info_t, ur_exp_external_mem_desc_t, ur_exp_external_mem_type_t as Type,
    ur_exp_file_descriptor_t, ur_result_t, ur_usm_alloc_info_t as info, ur_usm_type_t,
};
use ur_conformance::foreign::{Peer, Step, Wanted};
use ur_conformance::memory::{self, pattern};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Kind, Launch, ask, child, needs_sim, ok, query, refused, ur};

use crate::import::{Imported, file, import, is_open, simulated, try_memory, vulkan};

#[test]
fn urBindlessImagesSupportsImportingHandleTypeExp_answers_for_each_kind() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP;
    let supported: ur_bool_t = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    for kind in [Type::OPAQUE_FD, Type::WIN32_NT, Type::WIN32_NT_DX12_RESOURCE, Type::DMA_BUF] {
        let mut answer = 7;
        ok!(BindlessImagesExp.pfnSupportsImportingHandleTypeExp(fixture.device(), kind, &raw mut answer));
        assert_eq!(answer, if kind == Type::OPAQUE_FD { supported } else { 0 }, "{kind:?}");
    }
    let mut answer = 7;
    let unknown = Type(99);
    refused!(
        ERROR_INVALID_ENUMERATION,
        BindlessImagesExp.pfnSupportsImportingHandleTypeExp(fixture.device(), unknown, &raw mut answer)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        BindlessImagesExp.pfnSupportsImportingHandleTypeExp(fixture.device(), Type::OPAQUE_FD, null_mut())
    );
    assert_eq!(answer, 7);
}

const BYTES: usize = 1 << 20;
const WANTED: Wanted<'static> = Wanted { bytes: BYTES, semaphores: &[], reads: 2 };

/// Copies and kernels of a queue, and the other API, see each other's bytes; the address is device memory to every query.
fn is_device_memory_of_both(fixture: &Fixture, peer: &mut dyn Peer) {
    let (context, queue, kernel) = (fixture.context(), fixture.in_order(), fixture.basic(c"add_constant"));
    peer.submit(Step { fill: Some(40), ..Step::default() });
    peer.finish();
    let imported = import(fixture, peer);
    let mapped = imported.map(0, BYTES as u64);
    let inside = mapped.pointer.wrapping_byte_add(BYTES - 1);
    for pointer in [mapped.pointer, inside] {
        let kind = ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::TYPE))));
        assert_eq!(kind, ur_usm_type_t::DEVICE);
        let base: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::BASE_PTR)));
        let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::SIZE)));
        let device: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::DEVICE)));
        let pool: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::POOL)));
        assert_eq!((base, size), (mapped.pointer.addr(), BYTES));
        assert_eq!((device, pool), (fixture.device().addr(), 0));
    }
    assert_eq!(memory::read::<u32>(&queue, mapped.pointer, BYTES / 4), [40; BYTES / 4]);
    let count = u32::try_from(BYTES / 4).expect("a count");
    Launch::new(&kernel, &[BYTES / 4]).pointer(mapped.pointer).value(2u32).value(count).on(&queue);
    queue.finish();
    peer.submit(Step { read: true, ..Step::default() });
    assert_eq!(peer.finish(), [[42; BYTES / 4]]);
    let bytes = pattern(3, BYTES);
    memory::write(&queue, mapped.pointer, &bytes);
    queue.finish();
    peer.submit(Step { read: true, ..Step::default() });
    let read: Vec<u8> = peer.finish().concat().into_iter().flat_map(u32::to_ne_bytes).collect();
    assert!(read == bytes, "the other API reads other bytes than a copy has written");
}

#[test]
fn urBindlessImagesMapExternalLinearMemoryExp_gives_device_memory_that_both_apis_see() {
    let fixture = Fixture::new();
    let Some(mut peer) = simulated(&fixture, WANTED) else { return println!("skipped: needs the simulated driver") };
    is_device_memory_of_both(&fixture, &mut peer);
}

#[test]
#[ignore = "needs a GPU with Vulkan 1.2: run it with --ignored"]
fn urBindlessImagesMapExternalLinearMemoryExp_gives_device_memory_that_vulkan_sees() {
    let fixture = Fixture::new();
    let mut peer = vulkan(&fixture, WANTED);
    is_device_memory_of_both(&fixture, &mut peer);
}

#[test]
fn an_import_takes_the_descriptor_and_a_refused_one_leaves_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let descriptor = sim.foreign_memory(BYTES, 0);
    let (answer, descriptor) = try_memory(&fixture, fixture.device(), BYTES + 1, descriptor).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_INVALID_VALUE);
    let number = descriptor.as_raw_fd();
    assert!(is_open(number));
    let other = descriptor.try_clone().expect("a descriptor");
    let imported = Imported::new(&fixture, fixture.device(), BYTES, descriptor);
    assert!(!is_open(number), "the driver has taken the descriptor");
    drop(imported);
    // The memory is the other API's still.
    File::from(other).write_all_at(&[1], 0).expect("the memory is there");
}

#[test]
fn mappings_of_one_import_show_their_ranges_side_by_side_and_over_each_other() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (descriptor, queue) = (sim.foreign_memory(BYTES, 0), fixture.in_order());
    let file = File::from(descriptor.try_clone().expect("a descriptor"));
    file.write_all_at(&pattern(5, BYTES), 0).expect("the memory can be written");
    let imported = Imported::new(&fixture, fixture.device(), BYTES, descriptor);
    let whole = imported.map(0, BYTES as u64);
    for (offset, size) in [(0, 4096), (4096, 1000), (BYTES as u64 - 1, 1), (BYTES as u64 / 2, BYTES as u64 / 2)] {
        let part = imported.map(offset, size);
        let (from, size) = (usize::try_from(offset).expect("a size"), usize::try_from(size).expect("a size"));
        let bytes = memory::read::<u8>(&queue, part.pointer, size);
        assert!(bytes == pattern(5, BYTES)[from..from + size], "{size} bytes at {offset}");
        memory::write(&queue, part.pointer, &vec![9u8; size]);
        let seen = memory::read::<u8>(&queue, whole.pointer.wrapping_byte_add(from), size);
        assert!(seen == vec![9; size]);
        memory::write(&queue, part.pointer, &bytes);
    }
}

#[test]
fn what_is_no_import_is_refused_and_writes_nothing() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let (c, d, fd) = (fixture.context(), fixture.device(), Type::OPAQUE_FD);
    let memory = sim.foreign_memory(BYTES, 0);
    let mut handle = null_mut();
    let out = &raw mut handle;
    let good = file(memory.as_raw_fd());
    let mut desc = ur_exp_external_mem_desc_t { pNext: from_ref(&good).cast(), ..Default::default() };
    let desc = &raw mut desc;
    for kind in [Type::WIN32_NT, Type::WIN32_NT_DX12_RESOURCE, Type::DMA_BUF, Type::WIN32_NT_DX11_RESOURCE] {
        refused!(ERROR_UNSUPPORTED_FEATURE, BindlessImagesExp.pfnImportExternalMemoryExp(c, d, BYTES, kind, desc, out));
    }
    let unknown = Type(99);
    refused!(ERROR_INVALID_ENUMERATION, BindlessImagesExp.pfnImportExternalMemoryExp(c, d, BYTES, unknown, desc, out));
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnImportExternalMemoryExp(c, d, 0, fd, desc, out));
    refused!(
        ERROR_INVALID_NULL_POINTER,
        BindlessImagesExp.pfnImportExternalMemoryExp(c, d, BYTES, fd, null_mut(), out)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        BindlessImagesExp.pfnImportExternalMemoryExp(c, d, BYTES, fd, desc, null_mut())
    );
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        BindlessImagesExp.pfnImportExternalMemoryExp(c, null_mut(), BYTES, fd, desc, out)
    );
    let mut empty = ur_exp_external_mem_desc_t::default();
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnImportExternalMemoryExp(c, d, BYTES, fd, &raw mut empty, out));
    let something = File::open("/dev/null").expect("a file");
    for number in [-1, something.as_raw_fd(), 1 << 20] {
        let wrong = file(number);
        let mut wrong = ur_exp_external_mem_desc_t { pNext: from_ref(&wrong).cast(), ..Default::default() };
        let wrong = &raw mut wrong;
        refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnImportExternalMemoryExp(c, d, BYTES, fd, wrong, out));
    }
    assert!(is_open(something.as_raw_fd()) && is_open(memory.as_raw_fd()) && handle.is_null());
    // Memory of the first device is not the second's.
    let (answer, memory) = try_memory(&fixture, fixture.devices[1], BYTES, memory).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_INVALID_VALUE);
    let other_context = fixture.context_of(&fixture.devices[1..]);
    let other = other_context.handle();
    refused!(ERROR_INVALID_DEVICE, BindlessImagesExp.pfnImportExternalMemoryExp(other, d, BYTES, fd, desc, out));
    let imported = Imported::new(&fixture, d, BYTES, memory);
    let (h, size) = (imported.handle, BYTES as u64);
    let mut pointer = null_mut();
    let out = &raw mut pointer;
    for (offset, size) in [(0, 0), (0, size + 1), (1, size), (size, 1), (u64::MAX, 2), (2, u64::MAX)] {
        refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnMapExternalLinearMemoryExp(c, d, offset, size, h, out));
    }
    let second = fixture.devices[1];
    refused!(ERROR_INVALID_DEVICE, BindlessImagesExp.pfnMapExternalLinearMemoryExp(c, second, 0, size, h, out));
    refused!(ERROR_INVALID_CONTEXT, BindlessImagesExp.pfnMapExternalLinearMemoryExp(other, second, 0, size, h, out));
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        BindlessImagesExp.pfnMapExternalLinearMemoryExp(c, d, 0, size, null_mut(), out)
    );
    // A handle of another kind.
    let queue = fixture.in_order();
    let wrong = queue.handle().cast();
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnMapExternalLinearMemoryExp(c, d, 0, size, wrong, out));
    assert!(pointer.is_null());
    refused!(ERROR_INVALID_CONTEXT, BindlessImagesExp.pfnReleaseExternalMemoryExp(other, second, h));
    refused!(ERROR_INVALID_DEVICE, BindlessImagesExp.pfnReleaseExternalMemoryExp(c, second, h));
    refused!(ERROR_INVALID_NULL_HANDLE, BindlessImagesExp.pfnReleaseExternalMemoryExp(c, d, null_mut()));
}

#[test]
fn a_mapping_is_freed_once_by_its_own_function_and_before_its_import() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let (c, d, queue) = (fixture.context(), fixture.device(), fixture.in_order());
    let imported = Imported::new(&fixture, d, BYTES, sim.foreign_memory(BYTES, 0));
    let (one, other) = (imported.map(0, 4096), imported.map(0, BYTES as u64));
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnReleaseExternalMemoryExp(c, d, imported.handle));
    let pointer = one.pointer;
    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(c, pointer));
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), pointer, 0, null(), null_mut())
    );
    let inside = pointer.wrapping_byte_add(8);
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnFreeMappedLinearMemoryExp(c, d, inside));
    let second = fixture.devices[1];
    refused!(ERROR_INVALID_DEVICE, BindlessImagesExp.pfnFreeMappedLinearMemoryExp(c, second, pointer));
    refused!(ERROR_INVALID_NULL_POINTER, BindlessImagesExp.pfnFreeMappedLinearMemoryExp(c, d, null_mut()));
    drop(one);
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnFreeMappedLinearMemoryExp(c, d, pointer));
    let usm = fixture.memory(Kind::Device, 4096);
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnFreeMappedLinearMemoryExp(c, d, usm.pointer()));
    let kind = ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(c, pointer, info::TYPE))));
    assert_eq!(kind, ur_usm_type_t::UNKNOWN);
    // The other mapping is as it was.
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnReleaseExternalMemoryExp(c, d, imported.handle));
    memory::write(&queue, other.pointer, &[1u8; BYTES]);
}

#[test]
fn what_urMemoryExport_exports_can_be_imported() {
    let fixture = Fixture::new();
    // Whether real drivers import what they exported themselves is not known.
    let _sim = needs_sim!(fixture);
    let (c, d, fd, size) = (fixture.context(), fixture.device(), Type::OPAQUE_FD, 2 << 20);
    let (mut exported, mut raw, queue) = (null_mut(), -1, fixture.in_order());
    ok!(MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, size, fd, &raw mut exported));
    ok!(MemoryExportExp.pfnExportMemoryHandleExp(c, d, fd, exported, (&raw mut raw).cast()));
    // SAFETY: the descriptor was made for the caller.
    let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
    {
        let imported = Imported::new(&fixture, d, size, descriptor);
        let mapped = imported.map(0, size as u64);
        memory::write(&queue, exported, &pattern(1, size));
        assert!(memory::read::<u8>(&queue, mapped.pointer, size) == pattern(1, size));
        memory::write(&queue, mapped.pointer, &pattern(2, size));
        assert!(memory::read::<u8>(&queue, exported, size) == pattern(2, size));
    }
    ok!(MemoryExportExp.pfnFreeExportableMemoryExp(c, d, exported));
}

#[test]
fn a_native_failure_of_each_step_leaves_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (c, d) = (fixture.context(), fixture.device());
    let memory = sim.foreign_memory(BYTES, 0);
    sim.fail("cuImportExternalMemory", 1, status::UNKNOWN);
    let (answer, memory) = try_memory(&fixture, d, BYTES, memory).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_INVALID_VALUE);
    sim.fail("cuImportExternalMemory", 1, status::OUT_OF_MEMORY);
    let (answer, memory) = try_memory(&fixture, d, BYTES, memory).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY);
    let imported = Imported::new(&fixture, d, BYTES, memory);
    let mut pointer = null_mut();
    sim.fail("cuExternalMemoryGetMappedBuffer", 1, status::UNKNOWN);
    refused!(
        ERROR_ADAPTER_SPECIFIC,
        BindlessImagesExp.pfnMapExternalLinearMemoryExp(c, d, 0, 4096, imported.handle, &raw mut pointer)
    );
    assert!(pointer.is_null());
    let mapped = imported.map(0, 4096);
    sim.fail("cuMemFree_v2", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, BindlessImagesExp.pfnFreeMappedLinearMemoryExp(c, d, mapped.pointer));
    // It is mapped still, and the drops below free it.
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnReleaseExternalMemoryExp(c, d, imported.handle));
}

/// Tells the child where the parent's descriptor is.
const PATH: &str = "UR_TEST_EXTERNAL_PATH";

#[test]
fn memory_of_another_process_is_imported_by_its_descriptor() {
    const NAME: &str = "memory_of_another_process_is_imported_by_its_descriptor";
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if let Ok(path) = std::env::var(PATH) {
        return child::in_process::<&str>(NAME, &[], || {
            let opened = File::options().read(true).write(true).open(path).expect("the parent's descriptor");
            let imported = Imported::new(&fixture, fixture.device(), BYTES, opened.into());
            let (mapped, queue) = (imported.map(0, BYTES as u64), fixture.in_order());
            assert!(memory::read::<u8>(&queue, mapped.pointer, BYTES) == pattern(7, BYTES));
            memory::write(&queue, mapped.pointer, &pattern(8, BYTES));
            queue.finish();
        });
    }
    let memory = File::from(sim.foreign_memory(BYTES, 0));
    memory.write_all_at(&pattern(7, BYTES), 0).expect("the memory can be written");
    let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    child::in_process(NAME, &[(PATH, path)], || ());
    let mut bytes = vec![0; BYTES];
    memory.read_exact_at(&mut bytes, 0).expect("the memory can be read");
    assert!(bytes == pattern(8, BYTES));
}

#[test]
fn a_description_s_own_tag_may_be_left_out_and_unknown_structures_are_passed_over() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (c, d) = (fixture.context(), fixture.device());
    let descriptor = sim.foreign_memory(4096, 0);
    let second = file(descriptor.as_raw_fd());
    let mut first = ur_exp_file_descriptor_t { pNext: from_ref(&second).cast(), ..Default::default() };
    first.stype = ur_conformance::ffi::ur_structure_type_t(0x7fff_0000);
    assert_eq!(second.stype, ur_exp_file_descriptor_t::STYPE);
    let mut desc = ur_exp_external_mem_desc_t { pNext: from_ref(&first).cast(), ..Default::default() };
    desc.stype = ur_conformance::ffi::ur_structure_type_t(0);
    let mut handle = null_mut();
    let answer =
        ur!(BindlessImagesExp.pfnImportExternalMemoryExp(c, d, 4096, Type::OPAQUE_FD, &raw mut desc, &raw mut handle));
    ur_conformance::expect_success(answer, "urBindlessImagesImportExternalMemoryExp");
    // The driver has it now.
    core::mem::forget(descriptor);
    ok!(BindlessImagesExp.pfnReleaseExternalMemoryExp(c, d, handle));
}
