//! What an adapter does not support it says so: every slot is filled, and answers `UNSUPPORTED_FEATURE`.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, FUNCTIONS, ur_dditable_t, ur_exp_command_buffer_desc_t, ur_mem_flags_t, ur_physical_mem_properties_t,
    ur_result_t as Code, ur_sampler_desc_t, ur_usm_advice_flags_t, ur_usm_migration_flags_t,
};
use ur_conformance::{Fixture, Kind, adapter, loader, ur};

/// The address in a function's slot.
fn slot(table: &ur_dditable_t, offset: usize) -> usize {
    let at = core::ptr::from_ref(table).wrapping_byte_add(offset).cast::<usize>();
    // SAFETY: offsets of `FUNCTIONS` are those of nullable function pointers in the table.
    unsafe { at.read() }
}

#[test]
fn every_slot_of_the_adapter_s_table_is_filled() {
    let _fixture = Fixture::new();
    // SAFETY: by the ABI a handle points to an object whose first word points to its adapter's table.
    let table = unsafe { &**adapter().cast::<*const ur_dditable_t>() };
    let slots = FUNCTIONS.iter().filter_map(|function| Some((function.name, function.slot?.offset)));
    let empty: Vec<_> = slots.filter(|&(_, offset)| slot(table, offset) == 0).map(|(name, _)| name).collect();
    assert!(empty.is_empty(), "functions without a slot: {empty:?}");
}

#[test]
fn every_function_of_the_release_is_exported_by_the_loader() {
    let _fixture = Fixture::new();
    let slots = FUNCTIONS.iter().filter_map(|function| Some((function.name, function.slot?.offset)));
    let table = &loader().table;
    let missing: Vec<_> = slots.filter(|&(_, offset)| slot(table, offset) == 0).map(|(name, _)| name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_handle_s_first_word_is_the_same_table() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
    let event = ur_conformance::Launch::new(&kernel, &[1]).event_on(&queue);
    let program = fixture.program("saxpy.ptx");
    let first = |handle: *mut core::ffi::c_void| {
        // SAFETY: as in `every_slot_of_the_adapter_s_table_is_filled`.
        unsafe { handle.cast::<usize>().read() }
    };
    let table = first(adapter().cast());
    for handle in [
        fixture.platform.cast(),
        fixture.device().cast(),
        fixture.context().cast(),
        queue.handle().cast(),
        event.handle().cast(),
        kernel.handle().cast(),
        program.handle().cast(),
    ] {
        assert_eq!(first(handle), table);
    }
    queue.finish();
}

/// One of every group of functions, called with handles and outputs that are all right. An adapter that supports one of
/// them answers otherwise; then its own tests are elsewhere.
#[test]
fn a_function_that_is_not_supported_says_so_and_touches_no_output() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
    let program = fixture.program("saxpy.ptx");
    let event = ur_conformance::Launch::new(&kernel, &[1]).event_on(&queue);
    let memory = fixture.memory(Kind::Shared, 256);
    let (c, d, q, k) = (fixture.context(), fixture.device(), queue.handle(), kernel.handle());
    let (p, e, m) = (program.handle(), event.handle(), memory.pointer());
    let word = 7u32;
    let from = (&raw const word).cast();
    let mut event_out = null_mut();
    let out = &raw mut event_out;
    let (mut mem, mut sampler, mut buffer, mut physical) = (null_mut(), null_mut(), null_mut(), null_mut());
    let (mut native, mut pointer, mut count, mut made) = (0, null_mut(), 7u32, null_mut());
    let (native, pointer, number) = (&raw mut native, &raw mut pointer, &raw mut count);
    let properties = ur_physical_mem_properties_t::default();
    let commands = ur_exp_command_buffer_desc_t::default();
    let sampling = ur_sampler_desc_t::default();
    let (local, migrate, advice) = (1usize, ur_usm_migration_flags_t::default(), ur_usm_advice_flags_t::DEFAULT);
    let flags = ur_mem_flags_t::READ_WRITE;
    let answers = [
        ("urDevicePartition", ur!(Device.pfnPartition(d, null(), 0, null_mut(), number))),
        ("urDeviceGetNativeHandle", ur!(Device.pfnGetNativeHandle(d, native))),
        ("urPlatformGetNativeHandle", ur!(Platform.pfnGetNativeHandle(fixture.platform, native))),
        ("urContextGetNativeHandle", ur!(Context.pfnGetNativeHandle(c, native))),
        ("urMemBufferCreate", ur!(Mem.pfnBufferCreate(c, flags, 64, null(), &raw mut mem))),
        ("urSamplerCreate", ur!(Sampler.pfnCreate(c, &raw const sampling, &raw mut sampler))),
        ("urVirtualMemReserve", ur!(VirtualMem.pfnReserve(c, null(), 1 << 21, pointer))),
        ("urPhysicalMemCreate", ur!(PhysicalMem.pfnCreate(c, d, 1 << 21, &raw const properties, &raw mut physical))),
        ("urProgramCreateWithIL", ur!(Program.pfnCreateWithIL(c, from, 4, null(), &raw mut made))),
        ("urProgramCompile", ur!(Program.pfnCompile(c, p, null()))),
        ("urProgramLink", ur!(Program.pfnLink(c, 1, [p].as_ptr(), null(), &raw mut made))),
        ("urProgramGetNativeHandle", ur!(Program.pfnGetNativeHandle(p, native))),
        ("urQueueGetNativeHandle", ur!(Queue.pfnGetNativeHandle(q, null_mut(), native))),
        ("urEventGetNativeHandle", ur!(Event.pfnGetNativeHandle(e, native))),
        ("urKernelGetNativeHandle", ur!(Kernel.pfnGetNativeHandle(k, native))),
        ("urEnqueueUSMPrefetch", ur!(Enqueue.pfnUSMPrefetch(q, m, 256, migrate, 0, null(), out))),
        ("urEnqueueUSMAdvise", ur!(Enqueue.pfnUSMAdvise(q, m, 256, advice, out))),
        ("urEnqueueUSMFill2D", ur!(Enqueue.pfnUSMFill2D(q, m, 16, 4, from, 4, 2, 0, null(), out))),
        (
            "urEnqueueUSMMemcpy2D",
            ur!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, m, 16, memory.at(64), 16, 4, 2, 0, null(), out)),
        ),
        (
            "urEnqueueDeviceGlobalVariableWrite",
            ur!(Enqueue.pfnDeviceGlobalVariableWrite(q, p, c"x".as_ptr(), CBool::TRUE, 4, 0, from, 0, null(), out)),
        ),
        (
            "urKernelSuggestMaxCooperativeGroupCount",
            ur!(Kernel.pfnSuggestMaxCooperativeGroupCount(k, d, 1, &raw const local, 0, number)),
        ),
        ("urCommandBufferCreateExp", ur!(CommandBufferExp.pfnCreateExp(c, d, &raw const commands, &raw mut buffer))),
        ("urUsmP2PEnablePeerAccessExp", ur!(UsmP2PExp.pfnEnablePeerAccessExp(d, d))),
    ];
    let word = ur_conformance::last_error();
    for (name, answer) in answers {
        if answer != Code::ERROR_UNSUPPORTED_FEATURE {
            println!("{name} answers {answer:?}: supported, so not tried here");
        }
    }
    let unsupported = answers.iter().filter(|(_, answer)| *answer == Code::ERROR_UNSUPPORTED_FEATURE).count();
    if unsupported == answers.len() {
        assert!(event_out.is_null() && mem.is_null() && sampler.is_null() && buffer.is_null());
        assert!(physical.is_null() && made.is_null());
        assert_eq!(count, 7);
        assert!(word.contains("urUsmP2PEnablePeerAccessExp"), "the message names the function: {word}");
    }
    queue.finish();
}
