//! Memory that launches of a command buffer allocate and free.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Change, SyncPoint, list};
use ur_conformance::ffi::{
    ur_exp_async_usm_alloc_flags_t as AllocFlags, ur_exp_async_usm_alloc_properties_t as Properties,
    ur_queue_flags_t as Flags, ur_result_t as Code,
};
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::pool::{Plan, free};
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, CommandBuffer, Fixture, Kind, Launch, Pool, expect_code, memory, needs_function, needs_sim, ok, refused, ur,
};

const COUNT: usize = 256;
const BYTES: usize = 4 * COUNT;

fn allocate(buffer: &CommandBuffer, pool: Option<&Pool>, after: &[SyncPoint]) -> (*mut c_void, SyncPoint) {
    buffer.allocate(pool, BYTES, after)
}

/// Appends a free; any answer.
fn append_free(buffer: &CommandBuffer, memory: *mut c_void, after: &[SyncPoint]) -> Code {
    let (count, after) = list(after);
    let mut point = SyncPoint::MAX;
    ur!(GraphMemoryExt.pfnCommandBufferAppendUSMFreeExt(buffer.handle(), memory, count, after, &raw mut point))
}

#[test]
fn memory_that_is_allocated_and_freed_in_a_buffer_is_there_for_the_commands_between() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (iota, copy) = (fixture.basic(c"iota"), fixture.memory(Kind::Device, BYTES));
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        for in_order in [false, true] {
            let buffer =
                CommandBuffer::with(&fixture, ur_conformance::command_buffer::description(false, in_order, false));
            let (block, allocated) = allocate(&buffer, None, &[]);
            let launch = Launch::new(&iota, &[COUNT]).pointer(block).value(COUNT as u32);
            let filled = buffer.launch(&launch, &[allocated]);
            let copied = buffer.copy(copy.pointer(), block, BYTES, &[filled]);
            assert_eq!(append_free(&buffer, block, &[copied]), Code::SUCCESS);
            buffer.finalize();
            for _ in 0..3 {
                copy.write(&queue, &[0u32; COUNT]);
                buffer.event_on(&queue, &[]).wait();
                assert_eq!(copy.read::<u32>(&queue, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn allocations_have_addresses_of_their_own_and_two_lists_of_commands_use_them_beside_each_other() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (fill, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 8 * BYTES);
    let buffer = CommandBuffer::new(&fixture);
    let mut blocks = Vec::new();
    for part in 0..8 {
        let (block, allocated) = allocate(&buffer, None, &[]);
        assert!(!blocks.contains(&block));
        blocks.push(block);
        let launch = Launch::new(&fill, &[COUNT]).pointer(block).value(10 + part as u32).value(COUNT as u32);
        let filled = buffer.launch(&launch, &[allocated]);
        let copied = buffer.copy(out.at(part * BYTES), block, BYTES, &[filled]);
        assert_eq!(append_free(&buffer, block, &[copied]), Code::SUCCESS);
    }
    buffer.finalize();
    for _ in 0..2 {
        out.write(&queue, &[0u32; 8 * COUNT]);
        buffer.on(&queue);
        let found = out.read::<u32>(&queue, 8 * COUNT);
        for (part, found) in found.chunks(COUNT).enumerate() {
            assert_eq!(found, [10 + part as u32; COUNT]);
        }
    }
}

#[test]
fn memory_that_a_launch_leaves_allocated_is_freed_by_the_application() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (iota, queue) = (fixture.basic(c"iota"), fixture.in_order());
    let buffer = CommandBuffer::new(&fixture);
    let (block, allocated) = allocate(&buffer, None, &[]);
    buffer.launch(&Launch::new(&iota, &[COUNT]).pointer(block).value(COUNT as u32), &[allocated]);
    buffer.finalize();
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT, "no launch has allocated it");
    for _ in 0..2 {
        buffer.on(&queue);
        assert_eq!(memory::read::<u32>(&queue, block, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
        let again = buffer.enqueue(&queue, &[], null_mut());
        assert_ne!(again, Code::SUCCESS, "the memory of the last launch is not freed");
        assert_eq!(free(&queue, block), Code::SUCCESS);
        assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
    }
    buffer.on(&queue);
    drop(buffer);
    assert_eq!(free(&queue, block), Code::SUCCESS, "the memory outlives the buffer");
    queue.finish();
}

#[test]
fn urUSMFree_frees_what_a_launch_leaves_allocated_and_after_a_native_failure_it_is_there_still() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (context, iota, queue) = (fixture.context(), fixture.basic(c"iota"), fixture.in_order());
    let buffer = CommandBuffer::new(&fixture);
    let (block, allocated) = allocate(&buffer, None, &[]);
    buffer.launch(&Launch::new(&iota, &[COUNT]).pointer(block).value(COUNT as u32), &[allocated]);
    buffer.finalize();
    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, block));
    for _ in 0..2 {
        buffer.on(&queue);
        queue.finish();
        if let Some(sim) = fixture.sim() {
            sim.fail("cuMemFreeAsync", 1, status::UNKNOWN);
            refused!(ERROR_ADAPTER_SPECIFIC, USM.pfnFree(context, block));
            sim.clear_faults();
        }
        assert_eq!(memory::read::<u32>(&queue, block, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
        ok!(USM.pfnFree(context, block));
        assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
    }
}

#[test]
fn a_pool_of_zeros_gives_zeros_in_each_launch() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (add, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let (pool, copy) = (Plan::new().zeroed().of(&fixture), fixture.memory(Kind::Device, BYTES));
    let buffer = CommandBuffer::new(&fixture);
    let (block, allocated) = allocate(&buffer, Some(&pool), &[]);
    drop(pool);
    let launch = Launch::new(&add, &[COUNT]).pointer(block).value(6u32).value(COUNT as u32);
    let added = buffer.launch(&launch, &[allocated]);
    let copied = buffer.copy(copy.pointer(), block, BYTES, &[added]);
    assert_eq!(append_free(&buffer, block, &[copied]), Code::SUCCESS);
    buffer.finalize();
    for _ in 0..3 {
        buffer.on(&queue);
        assert_eq!(copy.read::<u32>(&queue, COUNT), [6; COUNT]);
    }
}

#[test]
fn launches_that_use_allocated_memory_are_changed_as_others_are() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (fill, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, BYTES);
    let buffer = CommandBuffer::updatable(&fixture);
    let (block, allocated) = allocate(&buffer, None, &[]);
    let launch = Launch::new(&fill, &[COUNT]).pointer(block).value(1u32).value(COUNT as u32);
    let (filled, command) = buffer.command(&launch, &[allocated]);
    let copied = buffer.copy(out.pointer(), block, BYTES, &[filled]);
    assert_eq!(append_free(&buffer, block, &[copied]), Code::SUCCESS);
    buffer.finalize();
    for value in 1..4u32 {
        buffer.on(&queue);
        assert_eq!(out.read::<u32>(&queue, COUNT), [value; COUNT]);
        buffer.update(&[Change::of(command).value(1, value + 1)]);
    }
}

#[test]
fn urCommandBufferAppendUSMDeviceAllocExt_and_FreeExt_refuse_bad_input_and_append_nothing() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (buffer, done, other) =
        (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    done.finalize();
    let (b, mut memory, mut point) = (buffer.handle(), null_mut::<c_void>(), SyncPoint::MAX);
    let (to, out, no, none) = (&raw mut memory, &raw mut point, null::<SyncPoint>(), null_mut());
    let unknown = [SyncPoint::MAX];
    let flags = AllocFlags::from_bits_retain(0x8000);
    let odd = Properties { flags, ..Default::default() };
    let strange = queue.handle().cast::<c_void>();
    let list_code = Code::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP;
    let allocate_with = |b, pool, size, properties, count, points, to| {
        ur!(GraphMemoryExt.pfnCommandBufferAppendUSMDeviceAllocExt(b, pool, size, properties, count, points, to, out))
    };
    for (what, answer, code) in [
        ("no buffer", allocate_with(null_mut(), none, 8, null(), 0, no, to), Code::ERROR_INVALID_NULL_HANDLE),
        (
            "a handle of another type",
            allocate_with(strange.cast(), none, 8, null(), 0, no, to),
            Code::ERROR_INVALID_COMMAND_BUFFER_EXP,
        ),
        ("finalised", allocate_with(done.handle(), none, 8, null(), 0, no, to), Code::ERROR_INVALID_OPERATION),
        ("no pool's handle", allocate_with(b, strange.cast(), 8, null(), 0, no, to), Code::ERROR_INVALID_VALUE),
        ("no bytes", allocate_with(b, none, 0, null(), 0, no, to), Code::ERROR_INVALID_USM_SIZE),
        ("unknown flags", allocate_with(b, none, 8, &raw const odd, 0, no, to), Code::ERROR_INVALID_ENUMERATION),
        ("points without a list", allocate_with(b, none, 8, null(), 1, no, to), list_code),
        ("a list without points", allocate_with(b, none, 8, null(), 0, unknown.as_ptr(), to), list_code),
        (
            "an unknown sync point",
            allocate_with(b, none, 8, null(), 1, unknown.as_ptr(), to),
            Code::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
        ),
        ("no place", allocate_with(b, none, 8, null(), 0, no, null_mut()), Code::ERROR_INVALID_NULL_POINTER),
    ] {
        assert_eq!(answer, code, "an allocation with {what}");
        // SAFETY: locals of this function.
        let outputs = unsafe { (to.read(), out.read()) };
        assert_eq!(outputs, (null_mut(), SyncPoint::MAX), "{what}: something was given out");
    }
    let context = fixture.context_of(&[fixture.device()]);
    let foreign = Plan::new().create(context.handle(), fixture.device()).expect("a pool");
    expect_code(
        allocate_with(b, foreign.handle(), 8, null(), 0, no, to),
        &[Code::ERROR_INVALID_CONTEXT],
        "another context's pool",
    );
    assert!(NativeGraph::of(&buffer).nodes().is_empty());

    let (block, allocated) = allocate(&buffer, None, &[]);
    let (elsewhere, _) = allocate(&other, None, &[]);
    let free_with =
        |b, memory, count, points| ur!(GraphMemoryExt.pfnCommandBufferAppendUSMFreeExt(b, memory, count, points, out));
    for (what, answer, code) in [
        ("no buffer", free_with(null_mut(), block, 0, no), Code::ERROR_INVALID_NULL_HANDLE),
        ("finalised", free_with(done.handle(), block, 0, no), Code::ERROR_INVALID_OPERATION),
        ("no memory", free_with(b, null_mut(), 0, no), Code::ERROR_INVALID_NULL_POINTER),
        ("another buffer's memory", free_with(b, elsewhere, 0, no), Code::ERROR_INVALID_MEM_OBJECT),
        ("an address inside", free_with(b, block.wrapping_byte_add(4), 0, no), Code::ERROR_INVALID_MEM_OBJECT),
        ("points without a list", free_with(b, block, 1, no), list_code),
        (
            "an unknown sync point",
            free_with(b, block, 1, unknown.as_ptr()),
            Code::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
        ),
    ] {
        assert_eq!(answer, code, "a free with {what}");
    }
    assert_eq!(NativeGraph::of(&buffer).nodes().len(), 1);
    assert_eq!(append_free(&buffer, block, &[allocated]), Code::SUCCESS);
    assert_eq!(append_free(&buffer, block, &[allocated]), Code::ERROR_INVALID_MEM_OBJECT, "freed twice");
    buffer.run(&queue);
}

/// Native graphs with allocations are no part of other graphs.
#[test]
fn a_buffer_that_allocates_is_not_nested() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    extern "C" fn nothing(_: *mut c_void) {}
    let fixture = Fixture::new();
    let (outer, inner) = (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    let (block, allocated) = allocate(&inner, None, &[]);
    assert_eq!(append_free(&inner, block, &[allocated]), Code::SUCCESS);
    let (b, c, mut point) = (outer.handle(), inner.handle(), SyncPoint::MAX);
    refused!(
        ERROR_UNSUPPORTED_FEATURE,
        CommandBufferExp.pfnAppendNativeCommandExp(b, Some(nothing), null_mut(), c, 0, null(), &raw mut point)
    );
    assert!(point == SyncPoint::MAX && NativeGraph::of(&outer).nodes().is_empty());
}

/// A native graph with allocations loses no nodes, so a command that failed half-way cannot be taken back.
#[test]
fn a_buffer_with_a_part_of_a_command_that_failed_is_not_launched() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let target = fixture.memory(Kind::Device, 64);
    for allocates in [false, true] {
        let buffer = CommandBuffer::new(&fixture);
        if allocates {
            let (block, allocated) = allocate(&buffer, None, &[]);
            assert_eq!(append_free(&buffer, block, &[allocated]), Code::SUCCESS);
        }
        // Three units of a byte: three nodes, of which the second fails.
        let (b, unit, none) = (buffer.handle(), [1u8, 2, 3], null_mut());
        let fill = || {
            let (to, from, mut point) = (target.pointer(), unit.as_ptr().cast(), SyncPoint::MAX);
            let (no, out) = (null(), &raw mut point);
            ur!(CommandBufferExp.pfnAppendUSMFillExp(b, to, from, 3, 63, 0, no, 0, null(), out, none, null_mut()))
        };
        let call = "cuGraphAddMemsetNode";
        sim.fail(call, 2, status::UNKNOWN);
        let answer = fill();
        sim.clear_faults();
        assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC);
        let expected = if allocates { Code::ERROR_INVALID_OPERATION } else { Code::SUCCESS };
        assert_eq!(fill(), expected, "allocates: {allocates}");
        assert_eq!(ur!(CommandBufferExp.pfnFinalizeExp(b)), expected, "allocates: {allocates}");
    }
}

#[test]
fn buffers_and_allocated_memory_are_used_together() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let (copy, queue) = (fixture.basic(c"copy"), fixture.in_order());
    let source = Buffer::new(&fixture, BYTES);
    let out = fixture.memory(Kind::Device, BYTES);
    let buffer = CommandBuffer::in_order(&fixture);
    let (block, _) = allocate(&buffer, None, &[]);
    let launch = Launch::new(&copy, &[COUNT]).pointer(block);
    let launch = launch.buffer(&source, ur_conformance::ffi::ur_mem_flags_t::READ_ONLY).value(COUNT as u32);
    buffer.launch(&launch, &[]);
    buffer.copy(out.pointer(), block, BYTES, &[]);
    buffer.finalize();
    for round in 1..3u32 {
        source.write(&queue, &[round; COUNT]);
        buffer.on(&queue);
        assert_eq!(out.read::<u32>(&queue, COUNT), [round; COUNT]);
        assert_eq!(free(&queue, block), Code::SUCCESS);
    }
}

#[test]
fn the_zeros_of_an_allocation_come_after_it() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::new();
    let pool = Plan::new().zeroed().of(&fixture);
    let buffer = CommandBuffer::new(&fixture);
    let _ = allocate(&buffer, Some(&pool), &[]);
    let graph = NativeGraph::of(&buffer);
    assert_eq!((graph.nodes().len(), graph.edges().len()), (2, 1));
}

/// A launch that works with no memory object any more allocates all the same.
#[test]
fn memory_that_a_launch_leaves_allocated_is_the_application_s_after_a_change_of_memory_objects_too() {
    needs_function!(urCommandBufferAppendUSMDeviceAllocExt);
    let fixture = Fixture::over_all_devices();
    let (copy, queue) = (fixture.basic(c"copy"), fixture.in_order());
    let source = Buffer::new(&fixture, BYTES);
    source.write(&queue, &[1u32; COUNT]);
    let buffer = CommandBuffer::updatable(&fixture);
    let (block, allocated) = allocate(&buffer, None, &[]);
    let launch = Launch::new(&copy, &[COUNT]).pointer(block);
    let launch = launch.buffer(&source, ur_conformance::ffi::ur_mem_flags_t::READ_ONLY).value(COUNT as u32);
    let (_, command) = buffer.command(&launch, &[allocated]);
    buffer.finalize();
    buffer.update(&[Change::of(command).memory(1, null_mut()).global(&[0])]);
    for _ in 0..2 {
        buffer.on(&queue);
        assert_eq!(free(&queue, block), Code::SUCCESS);
    }
    queue.finish();
}
