//! `urMemoryExport*`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::os::fd::{FromRawFd, OwnedFd};

use ur_conformance::ffi::{ur_device_info_t, ur_exp_external_mem_type_t as Type};
use ur_conformance::memory::{self, pattern};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Launch, ask, needs_sim, ok, query, refused};

#[test]
fn exportable_memory_is_device_memory_with_descriptors_of_its_own() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"add_constant"));
    let (c, d, kind) = (fixture.context(), fixture.device(), Type::OPAQUE_FD);
    for (alignment, size) in [(0, 1), (256, 4096), (1 << 16, 5 << 20)] {
        let mut memory = null_mut();
        ok!(MemoryExportExp.pfnAllocExportableMemoryExp(c, d, alignment, size, kind, &raw mut memory));
        assert!(memory.addr().is_multiple_of(alignment.max(256)));
        let descriptors: Vec<OwnedFd> = (0..2)
            .map(|_| {
                let mut raw: c_int = -1;
                ok!(MemoryExportExp.pfnExportMemoryHandleExp(c, d, kind, memory, (&raw mut raw).cast()));
                assert!(raw >= 0);
                // SAFETY: the descriptor was made for the caller.
                unsafe { OwnedFd::from_raw_fd(raw) }
            })
            .collect();
        drop(descriptors);
        if size >= 4096 {
            memory::write(&queue, memory, &pattern(1, size));
            assert!(memory::read::<u8>(&queue, memory, size) == pattern(1, size));
            memory::write(&queue, memory, &[7u32; 1024]);
            Launch::new(&kernel, &[1024]).pointer(memory).value(1u32).value(1024u32).on(&queue);
            assert_eq!(memory::read::<u32>(&queue, memory, 1024), [8; 1024]);
        }
        ok!(MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
        refused!(ERROR_INVALID_VALUE, MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
    }
}

#[test]
fn urUSMFree_refuses_exportable_memory_and_no_buffer_may_own_it() {
    let fixture = Fixture::new();
    let (c, d, mut memory) = (fixture.context(), fixture.device(), null_mut());
    ok!(MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, Type::OPAQUE_FD, &raw mut memory));
    let other = fixture.context_of(&[d]);
    for context in [c, other.handle()] {
        memory::expect_not_to_be_freed(context, memory);
    }
    ok!(MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
}

#[test]
fn exporting_refuses_kinds_sizes_alignments_and_memory_that_it_does_not_have() {
    let fixture = Fixture::new();
    let (c, d, fd) = (fixture.context(), fixture.device(), Type::OPAQUE_FD);
    let mut memory = null_mut();
    let out = &raw mut memory;
    for kind in [Type::WIN32_NT, Type::WIN32_NT_DX12_RESOURCE, Type::DMA_BUF, Type::WIN32_NT_DX11_RESOURCE] {
        refused!(ERROR_UNSUPPORTED_FEATURE, MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, kind, out));
    }
    refused!(ERROR_INVALID_ENUMERATION, MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, Type(99), out));
    for alignment in [3, 100, 1 << 40] {
        refused!(
            ERROR_UNSUPPORTED_ALIGNMENT,
            MemoryExportExp.pfnAllocExportableMemoryExp(c, d, alignment, 4096, fd, out)
        );
    }
    refused!(ERROR_INVALID_USM_SIZE, MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 0, fd, out));
    for size in [usize::MAX, 1 << 60] {
        refused!(ERROR_UNSUPPORTED_SIZE, MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, size, fd, out));
    }
    refused!(ERROR_INVALID_NULL_POINTER, MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, fd, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, MemoryExportExp.pfnAllocExportableMemoryExp(c, null_mut(), 0, 4096, fd, out));
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, MemoryExportExp.pfnAllocExportableMemoryExp(c, other, 0, 4096, fd, out));
    }
    assert!(memory.is_null());
    let usm = fixture.memory(ur_conformance::Kind::Device, 4096);
    let mut raw: c_int = -7;
    let to = (&raw mut raw).cast::<c_void>();
    refused!(ERROR_INVALID_VALUE, MemoryExportExp.pfnExportMemoryHandleExp(c, d, fd, usm.pointer(), to));
    refused!(ERROR_INVALID_NULL_POINTER, MemoryExportExp.pfnExportMemoryHandleExp(c, d, fd, null_mut(), to));
    refused!(ERROR_INVALID_VALUE, MemoryExportExp.pfnFreeExportableMemoryExp(c, d, usm.pointer()));
    refused!(ERROR_INVALID_NULL_POINTER, MemoryExportExp.pfnFreeExportableMemoryExp(c, d, null_mut()));
    assert_eq!(raw, -7);
}

#[test]
fn a_native_failure_of_each_step_leaves_nothing() {
    let fixture = Fixture::over_all_devices();
    let (c, d, fd) = (fixture.context(), fixture.device(), Type::OPAQUE_FD);
    let sim = needs_sim!(fixture);
    let mut memory = null_mut();
    let out = &raw mut memory;
    let left = || {
        let objects = sim.objects();
        ["physical memory", "address reservation", "mapped memory"].map(|kind| objects.get(kind).copied().unwrap_or(0))
    };
    let last = fixture.devices.len() as u64;
    for (name, nth) in [
        ("cuMemGetAllocationGranularity", 1),
        ("cuMemCreate", 1),
        ("cuMemAddressReserve", 1),
        ("cuMemMap", 1),
        ("cuMemSetAccess", 1),
        ("cuMemSetAccess", last),
    ] {
        sim.fail(name, nth, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, fd, out));
        sim.clear_faults();
        assert_eq!(left(), [0; 3], "{name}, call {nth}");
    }
    assert!(memory.is_null());
    ok!(MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, fd, out));
    let mut raw: c_int = -7;
    sim.fail("cuMemExportToShareableHandle", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, MemoryExportExp.pfnExportMemoryHandleExp(c, d, fd, memory, (&raw mut raw).cast()));
    assert_eq!(raw, -7);
    for name in ["cuMemUnmap", "cuMemAddressFree", "cuMemRelease"] {
        // What failed is tried again by the next call, and only that.
        sim.fail(name, 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
    }
    ok!(MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
    assert_eq!(left(), [0; 3]);
}

#[test]
fn urMemoryExportFreeExportableMemoryExp_after_a_native_failure_unmaps_no_more_what_it_has_unmapped() {
    let fixture = Fixture::new();
    let (c, d, mut memory) = (fixture.context(), fixture.device(), null_mut());
    let sim = needs_sim!(fixture);
    ok!(MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, 4096, Type::OPAQUE_FD, &raw mut memory));
    sim.fail("cuMemAddressFree", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
    let ((), calls) = sim.calls_of(|| ok!(MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory)));
    let of = |name: &str| calls.get(name).copied();
    assert_eq!(["cuMemUnmap", "cuMemAddressFree", "cuMemRelease"].map(of), [None, Some(1), Some(1)], "{calls:?}");
}
