//! Memory objects in command buffers: copies, reads, writes, fills, rectangles, parts, and several devices.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{SyncPoint, description};
use ur_conformance::ffi::{ur_mem_flags_t as MemFlags, ur_queue_flags_t, ur_rect_offset_t, ur_rect_region_t};
use ur_conformance::memory::pattern;
use ur_conformance::{Buffer, CommandBuffer, Fixture, Launch, needs_sim, ok, refused};

const PATTERNS: [usize; 10] = [1, 2, 3, 4, 5, 8, 12, 16, 20, 128];

#[test]
fn urCommandBufferAppendMemBufferWriteExp_CopyExp_and_ReadExp_move_bytes_at_every_launch() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (one, two) = (Buffer::new(&fixture, 100), Buffer::new(&fixture, 100));
    for in_order in [false, true] {
        let (mut from, mut to) = ([0u8; 60], [0u8; 50]);
        let (source, target) = (from.as_mut_ptr(), to.as_mut_ptr());
        let commands = CommandBuffer::with(&fixture, description(false, in_order, false));
        // SAFETY: the array of this function; only its address is used.
        let written = commands.write_buffer(&one, 7, unsafe { core::slice::from_raw_parts(source, 60) }, &[]);
        let copied = commands.copy_buffer(&one, &two, [10, 20], 55, &[written]);
        commands.read_buffer(&two, 22, 50, target.cast(), &[copied]);
        commands.finalize();
        for round in 0..3u32 {
            let bytes = pattern(round + 1, 60);
            // SAFETY: arrays of this function, which no launch uses now.
            unsafe { source.copy_from_nonoverlapping(bytes.as_ptr(), 60) };
            commands.on(&queue);
            queue.finish();
            let mut found = [0u8; 50];
            // SAFETY: as above.
            unsafe { found.as_mut_ptr().copy_from_nonoverlapping(target, 50) };
            assert_eq!(found, bytes[5..55], "in order: {in_order}, launch {round}");
        }
    }
}

#[test]
fn urCommandBufferAppendMemBufferFillExp_repeats_patterns_of_every_size_in_buffers_and_parts() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let whole = Buffer::new(&fixture, 4096);
    let part = whole.part(1024, 2048);
    let before = pattern(4, 4096);
    for length in PATTERNS {
        for (target, start) in [(&whole, 0), (&part, 1024)] {
            let unit = pattern(length as u32, length);
            let commands = CommandBuffer::new(&fixture);
            let at = length * 3;
            commands.fill_buffer(target, &unit, at, length * 9, &[]);
            commands.finalize();
            let mut expected = before.clone();
            for byte in 0..length * 9 {
                expected[start + at + byte] = unit[byte % length];
            }
            for _ in 0..2 {
                whole.write(&queue, &before);
                commands.on(&queue);
                assert!(whole.read::<u8>(&queue) == expected, "{length} bytes in the part at {start}");
            }
        }
    }
}

fn offset([x, y, z]: [u64; 3]) -> ur_rect_offset_t {
    ur_rect_offset_t { x, y, z }
}

/// A region of 5 bytes, 3 rows and 2 slices goes in, over and out; pitches differ in all three memories.
#[test]
fn urCommandBufferAppendMemBuffer_Rect_commands_move_regions() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let region = || ur_rect_region_t { width: 5, height: 3, depth: 2 };
    let (one, two) = (Buffer::new(&fixture, 600), Buffer::new(&fixture, 600));
    let (mut host, mut back) = (pattern(3, 400), vec![0u8; 400]);
    let (source, target): (*mut c_void, *mut c_void) = (host.as_mut_ptr().cast(), back.as_mut_ptr().cast());
    let commands = CommandBuffer::new(&fixture);
    let (b, m1, m2, no, n) = (commands.handle(), one.handle(), two.handle(), null(), null_mut());
    let (mut written, mut copied, mut read) = (SyncPoint::MAX, SyncPoint::MAX, SyncPoint::MAX);
    let (here, there, out) = (offset([2, 1, 1]), offset([3, 2, 0]), &raw mut written);
    ok!(CommandBufferExp.pfnAppendMemBufferWriteRectExp(
        b,
        m1,
        here,
        there,
        region(),
        11,
        77,
        13,
        91,
        source,
        0,
        null(),
        0,
        no,
        out,
        n,
        null_mut()
    ));
    let (list, over, out) = ([written], offset([1, 1, 2]), &raw mut copied);
    let after = list.as_ptr();
    ok!(CommandBufferExp.pfnAppendMemBufferCopyRectExp(
        b,
        m1,
        m2,
        here,
        over,
        region(),
        11,
        77,
        17,
        119,
        1,
        after,
        0,
        no,
        out,
        n,
        null_mut()
    ));
    let (list, home, out) = ([copied], offset([0, 0, 1]), &raw mut read);
    let after = list.as_ptr();
    ok!(CommandBufferExp.pfnAppendMemBufferReadRectExp(
        b,
        m2,
        over,
        home,
        region(),
        17,
        119,
        19,
        133,
        target,
        1,
        after,
        0,
        no,
        out,
        n,
        null_mut()
    ));
    commands.finalize();
    for round in 0..2 {
        two.write(&queue, &[0u8; 600]);
        commands.on(&queue);
        queue.finish();
        for z in 0..2 {
            for y in 0..3 {
                for x in 0..5 {
                    let from = z * 91 + (2 + y) * 13 + 3 + x;
                    let to = (1 + z) * 133 + y * 19 + x;
                    // SAFETY: a place of the vector, which no launch writes now.
                    let found = unsafe { target.cast::<u8>().add(to).read_volatile() };
                    assert_eq!(found, host[from], "{x} {y} {z} at launch {round}");
                }
            }
        }
    }
    let moved = (0..600).filter(|&byte| two.read::<u8>(&queue)[byte] != 0).count();
    assert!(moved <= 30, "{moved} bytes were written");
    drop(back);
}

#[test]
fn ranges_that_leave_the_buffer_are_refused_when_they_are_appended() {
    let fixture = Fixture::new();
    let (one, two) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 32));
    let commands = CommandBuffer::new(&fixture);
    let mut bytes = [0u8; 64];
    let (host, unit): (*mut c_void, *const c_void) = (bytes.as_mut_ptr().cast(), [1u8; 4].as_ptr().cast());
    let (b, m, m2, no, n, c) = (commands.handle(), one.handle(), two.handle(), null(), null_mut(), null_mut());
    let (s, mut point) = (null(), SyncPoint::MAX);
    let out = &raw mut point;
    refused!(
        ERROR_INVALID_SIZE,
        CommandBufferExp.pfnAppendMemBufferWriteExp(b, m, 60, 8, host, 0, s, 0, no, out, n, c)
    );
    refused!(ERROR_INVALID_SIZE, CommandBufferExp.pfnAppendMemBufferReadExp(b, m, 60, 8, host, 0, s, 0, no, out, n, c));
    refused!(
        ERROR_INVALID_SIZE,
        CommandBufferExp.pfnAppendMemBufferReadExp(b, m, usize::MAX, 8, host, 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_SIZE,
        CommandBufferExp.pfnAppendMemBufferCopyExp(b, m, m2, 0, 28, 8, 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_SIZE,
        CommandBufferExp.pfnAppendMemBufferFillExp(b, m, unit, 4, 60, 8, 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_SIZE,
        CommandBufferExp.pfnAppendMemBufferFillExp(b, m, unit, 0, 0, 8, 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendMemBufferWriteExp(b, m, 0, 8, null(), 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendMemBufferReadExp(b, m, 0, 8, null_mut(), 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        CommandBufferExp.pfnAppendMemBufferWriteExp(b, null_mut(), 0, 8, host, 0, s, 0, no, out, n, c)
    );
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        CommandBufferExp.pfnAppendMemBufferWriteExp(b, b.cast(), 0, 8, host, 0, s, 0, no, out, n, c)
    );
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let foreign = Buffer::of(elsewhere.handle(), MemFlags::READ_WRITE, 64, null_mut());
    let f = foreign.handle();
    refused!(
        ERROR_INVALID_CONTEXT | ERROR_INVALID_MEM_OBJECT,
        CommandBufferExp.pfnAppendMemBufferWriteExp(b, f, 0, 8, host, 0, s, 0, no, out, n, c)
    );
    assert_eq!(point, SyncPoint::MAX);
    assert!(ur_conformance::native_graph::NativeGraph::of(&commands).nodes().is_empty());
}

/// The contents are where the last command left them, not where they were when the buffer was recorded.
#[test]
fn a_buffer_that_another_device_wrote_is_brought_at_the_launch() {
    let fixture = Fixture::over_all_devices();
    let Some(&second) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let (context, first) = (fixture.context(), fixture.device());
    let queues = [first, second].map(|device| fixture.queue_in(context, device, ur_queue_flags_t::empty()));
    let buffers = [first, second].map(|device| CommandBuffer::of(context, device, description(false, true, false)));
    let (memory, result) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 64));
    for commands in &buffers {
        commands.copy_buffer(&memory, &result, [0, 0], 64, &[]);
        commands.fill_buffer(&memory, &[9u8], 60, 4, &[]);
        commands.finalize();
    }
    for round in 1..8u32 {
        let (writer, runner) = (&queues[round as usize % 2], (round as usize / 2) % 2);
        memory.write(writer, &[round; 16]);
        buffers[runner].on(&queues[runner]);
        assert_eq!(result.read::<u32>(&queues[1 - runner]), [round; 16], "round {round}");
        let left = memory.read::<u32>(&queues[0]);
        assert_eq!((left[0], left[15]), (round, 0x0909_0909), "round {round}");
    }
}

/// Commands that overwrite what they use, and nothing that lies between.
#[test]
fn bytes_between_two_parts_that_a_launch_overwrites_are_brought_from_another_device() {
    let fixture = Fixture::over_all_devices();
    let Some(&second) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let (context, first) = (fixture.context(), fixture.device());
    let [here, there] = [first, second].map(|device| fixture.queue_in(context, device, ur_queue_flags_t::empty()));
    let memory = Buffer::new(&fixture, 64);
    let commands = CommandBuffer::of(context, first, description(false, true, false));
    commands.fill_buffer(&memory, &[9u8], 0, 4, &[]);
    commands.fill_buffer(&memory, &[8u8], 60, 4, &[]);
    commands.finalize();
    for round in 1..4u32 {
        memory.write(&there, &[round; 16]);
        commands.on(&here);
        let expected = [[0x0909_0909].as_slice(), &[round; 14], &[0x0808_0808]].concat();
        assert_eq!(memory.read::<u32>(&there), expected, "round {round}");
    }
}

#[test]
fn a_buffer_argument_that_another_device_wrote_is_brought_at_the_launch() {
    let fixture = Fixture::over_all_devices();
    let Some(&second) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let (context, first) = (fixture.context(), fixture.device());
    let queues = [first, second].map(|device| fixture.queue_in(context, device, ur_queue_flags_t::empty()));
    let program = fixture.program_on("basic.ptx", second);
    let add = fixture.kernel(&program, c"add_constant");
    let memory = Buffer::new(&fixture, 64);
    let commands = CommandBuffer::of(context, second, description(false, false, false));
    commands.launch(&Launch::new(&add, &[16]).buffer(&memory, MemFlags::READ_WRITE).value(5u32).value(16u32), &[]);
    commands.finalize();
    for round in 0..4u32 {
        memory.write(&queues[0], &[round; 16]);
        commands.on(&queues[1]);
        assert_eq!(memory.read::<u32>(&queues[0]), [round + 5; 16], "round {round}");
    }
}

/// Nothing steps over the slice pitch of one slice.
#[test]
fn urCommandBufferAppendMemBufferCopyRectExp_of_one_slice_is_one_node_at_any_slice_pitch() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let (from, to) = (Buffer::new(&fixture, 64 * 64), Buffer::new(&fixture, 64 * 64));
    let bytes = pattern(4, 64 * 64);
    from.write(&queue, &bytes);
    to.write(&queue, &[0u8; 64 * 64]);
    let commands = CommandBuffer::new(&fixture);
    let (b, one, two, no, n) = (commands.handle(), from.handle(), to.handle(), null(), null_mut());
    let (origin, far) = (offset([0; 3]), 1usize << 31);
    let region = ur_rect_region_t { width: 16, height: 64, depth: 1 };
    let ((), calls) = sim.calls_of(|| {
        ok!(CommandBufferExp.pfnAppendMemBufferCopyRectExp(
            b,
            one,
            two,
            origin,
            origin,
            region,
            64,
            far,
            64,
            far,
            0,
            null(),
            0,
            no,
            null_mut(),
            n,
            null_mut()
        ));
        commands.finalize();
    });
    let nodes = calls.iter().filter(|(name, _)| name.starts_with("cuGraphAdd")).map(|(_, count)| count).sum::<u64>();
    assert_eq!(nodes, 1, "{calls:?}");
    commands.on(&queue);
    let found = to.read::<u8>(&queue);
    assert!((0..64 * 64).all(|at| found[at] == if at % 64 < 16 { bytes[at] } else { 0 }));
}
