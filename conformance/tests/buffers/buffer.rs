//! `urMemBufferCreate` with every flag, `urMemGetInfo`, native handles, and buffers as what commands read, write, copy,
//! fill and launch with.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::buffer::create;
use ur_conformance::ffi::{
    CBool, UR_MEM_FLAGS_MASK, ur_buffer_alloc_location_properties_t, ur_buffer_properties_t, ur_command_t,
    ur_device_info_t, ur_event_info_t, ur_mem_flags_t as Flags, ur_mem_info_t as info, ur_mem_native_properties_t,
    ur_queue_flags_t as QueueFlags, ur_result_t as Code, ur_structure_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Arg, Buffer, Fixture, Gate, Kind, Launch, Mem, ask, check_every_property, expect_code, expect_success, needs_sim,
    ok, query, refused, ur,
};

const ORDERS: [QueueFlags; 3] =
    [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE, QueueFlags::PROFILING_ENABLE];

const SOURCES: [Flags; 5] = [
    Flags::empty(),
    Flags::USE_HOST_POINTER,
    Flags::ALLOC_HOST_POINTER,
    Flags::ALLOC_COPY_HOST_POINTER,
    Flags::ALLOC_HOST_POINTER.union(Flags::ALLOC_COPY_HOST_POINTER),
];

fn wants_host(flags: Flags) -> bool {
    flags.intersects(Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER)
}

/// Host memory for a buffer, null where its flags want none.
fn host_for(flags: Flags, bytes: &mut [u8]) -> *mut c_void {
    if wants_host(flags) { bytes.as_mut_ptr().cast() } else { null_mut() }
}

#[test]
fn urMemBufferCreate_holds_what_its_host_pointer_had_whatever_its_access() {
    const SIZE: usize = 10_007;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for access in [Flags::empty(), Flags::READ_WRITE, Flags::WRITE_ONLY, Flags::READ_ONLY] {
        for source in SOURCES {
            let values = pattern(access.bits() + source.bits(), SIZE);
            let mut host = values.clone();
            let buffer = Buffer::of(fixture.context(), access | source, SIZE, host_for(source, &mut host));
            if source.contains(Flags::ALLOC_COPY_HOST_POINTER) {
                // The copy is made at once, so the original may change.
                host.fill(0);
            }
            if wants_host(source) {
                assert!(buffer.read::<u8>(&queue) == values, "{access:?} {source:?}");
            }
            let other = pattern(99, SIZE);
            buffer.write(&queue, &other);
            assert!(buffer.read::<u8>(&queue) == other, "{access:?} {source:?}");
        }
    }
}

#[test]
fn urMemRelease_of_a_buffer_that_uses_host_memory_leaves_the_newest_bytes_there() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"add_constant");
    let mut host: Vec<u32> = (0..1000).collect();
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 4000, host.as_mut_ptr().cast());
    Launch::new(&kernel, &[500]).buffer(&buffer, Flags::READ_WRITE).value(7u32).value(500u32).on(&queue);
    expect_success(buffer.release(), "urMemRelease");
    let expected: Vec<u32> = (0..1000).map(|index| if index < 500 { index + 7 } else { index }).collect();
    assert_eq!(host, expected);
    queue.finish();
}

#[test]
fn urMemRelease_of_a_buffer_that_copied_its_host_memory_leaves_that_alone() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut host = vec![1u8; 64];
    let buffer = Buffer::of(fixture.context(), Flags::ALLOC_COPY_HOST_POINTER, 64, host.as_mut_ptr().cast());
    buffer.write(&queue, &[2u8; 64]);
    drop(buffer);
    assert_eq!(host, [1; 64]);
}

/// Language runtimes move the bytes between a buffer and its own host memory by reads and writes.
#[test]
fn a_buffer_may_be_read_into_and_written_from_the_host_memory_it_uses() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"add_constant");
    let mut host = vec![10u32; 64];
    let at = host.as_mut_ptr();
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 256, at.cast());
    let add = Launch::new(&kernel, &[64]).buffer(&buffer, Flags::READ_WRITE).value(1u32).value(64u32);
    add.on(&queue);
    let (q, m) = (queue.handle(), buffer.handle());
    ok!(Enqueue.pfnMemBufferRead(q, m, CBool::TRUE, 0, 256, at.cast(), 0, null(), null_mut()));
    // SAFETY: the vector's own words, and the read has finished.
    unsafe {
        assert_eq!(at.read(), 11);
        at.write(100);
        at.add(32).write(200);
    }
    ok!(Enqueue.pfnMemBufferWrite(q, m, CBool::TRUE, 128, 128, at.wrapping_add(32).cast(), 0, null(), null_mut()));
    ok!(Enqueue.pfnMemBufferWrite(q, m, CBool::TRUE, 0, 128, at.cast(), 0, null(), null_mut()));
    add.on(&queue);
    queue.finish();
    drop(buffer);
    let expected = |index| match index {
        0 => 101,
        32 => 201,
        _ => 12,
    };
    assert_eq!(host, (0..64).map(expected).collect::<Vec<u32>>());
}

/// What the host changes there after it was told everything is not overwritten with what the device had.
#[test]
fn host_memory_that_has_the_buffer_s_bytes_already_is_left_alone_at_the_end() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for reads in [true, false] {
        let mut host = vec![1u8; 64];
        let own: *mut c_void = host.as_mut_ptr().cast();
        let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 64, own);
        let (q, m, yes) = (queue.handle(), buffer.handle(), CBool::TRUE);
        if reads {
            buffer.write(&queue, &[2u8; 64]);
            ok!(Enqueue.pfnMemBufferRead(q, m, yes, 0, 64, own, 0, null(), null_mut()));
        } else {
            ok!(Enqueue.pfnMemBufferWrite(q, m, yes, 0, 64, own, 0, null(), null_mut()));
        }
        // SAFETY: the vector's own byte, and nothing is in flight.
        unsafe { own.cast::<u8>().write(9) };
        drop(buffer);
        let rest = if reads { 2 } else { 1 };
        assert_eq!((host[0], host[1]), (9, rest));
    }
}

#[test]
fn urMemBufferCreate_refuses_bad_flags_sizes_and_host_pointers() {
    let fixture = Fixture::new();
    let mut word = [0u8; 64];
    let host: *mut c_void = word.as_mut_ptr().cast();
    let memory: u64 = query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::MAX_MEM_ALLOC_SIZE)));
    let unknown = UR_MEM_FLAGS_MASK & UR_MEM_FLAGS_MASK.wrapping_neg();
    let cases = [
        (Flags::from_bits_retain(unknown), 64, null_mut(), Code::ERROR_INVALID_ENUMERATION),
        (Flags::READ_WRITE | Flags::READ_ONLY, 64, null_mut(), Code::ERROR_INVALID_VALUE),
        (Flags::WRITE_ONLY | Flags::READ_ONLY, 64, null_mut(), Code::ERROR_INVALID_VALUE),
        (Flags::USE_HOST_POINTER | Flags::ALLOC_HOST_POINTER, 64, host, Code::ERROR_INVALID_VALUE),
        (Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER, 64, host, Code::ERROR_INVALID_VALUE),
        (Flags::READ_WRITE, 0, null_mut(), Code::ERROR_INVALID_BUFFER_SIZE),
        (Flags::READ_WRITE, memory as usize + 1, null_mut(), Code::ERROR_INVALID_BUFFER_SIZE),
        (Flags::READ_WRITE, usize::MAX, null_mut(), Code::ERROR_INVALID_BUFFER_SIZE),
        (Flags::USE_HOST_POINTER, 64, null_mut(), Code::ERROR_INVALID_HOST_PTR),
        (Flags::ALLOC_COPY_HOST_POINTER, 64, null_mut(), Code::ERROR_INVALID_HOST_PTR),
        // That the pointer is missing comes before what else is wrong.
        (Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER, 64, null_mut(), Code::ERROR_INVALID_HOST_PTR),
        (Flags::USE_HOST_POINTER | Flags::ALLOC_HOST_POINTER, 64, null_mut(), Code::ERROR_INVALID_HOST_PTR),
        (Flags::USE_HOST_POINTER, 0, null_mut(), Code::ERROR_INVALID_HOST_PTR),
        (Flags::READ_WRITE, 64, host, Code::ERROR_INVALID_HOST_PTR),
        (Flags::ALLOC_HOST_POINTER, 64, host, Code::ERROR_INVALID_HOST_PTR),
    ];
    for (flags, size, host, code) in cases {
        let mut mem = null_mut();
        let answer = create(fixture.context(), flags, size, host, &raw mut mem);
        assert_eq!((answer, mem), (code, null_mut()), "{flags:?}, {size} bytes, {host:p}");
    }
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Mem.pfnBufferCreate(fixture.context(), Flags::READ_WRITE, 64, null(), null_mut())
    );
    // Properties without a host pointer, where flags want one.
    let none = ur_buffer_properties_t::default();
    let mut mem = null_mut();
    refused!(
        ERROR_INVALID_HOST_PTR,
        Mem.pfnBufferCreate(fixture.context(), Flags::USE_HOST_POINTER, 64, &raw const none, &raw mut mem)
    );
    for flags in [
        Flags::USE_HOST_POINTER,
        Flags::ALLOC_COPY_HOST_POINTER,
        Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER,
    ] {
        refused!(ERROR_INVALID_HOST_PTR, Mem.pfnBufferCreate(fixture.context(), flags, 64, null(), &raw mut mem));
    }
    assert!(mem.is_null());
}

#[test]
fn urMemBufferCreate_takes_placement_hints_and_no_other_property() {
    let fixture = Fixture::new();
    let take = |stype: ur_structure_type_t| {
        let mut hint = ur_buffer_alloc_location_properties_t { stype, ..Default::default() };
        let properties = ur_buffer_properties_t { pNext: (&raw mut hint).cast(), ..Default::default() };
        let mut mem = null_mut();
        let c = fixture.context();
        (ur!(Mem.pfnBufferCreate(c, Flags::READ_WRITE, 64, &raw const properties, &raw mut mem)), mem)
    };
    for stype in [ur_structure_type_t::BUFFER_ALLOC_LOCATION_PROPERTIES, ur_structure_type_t::BUFFER_CHANNEL_PROPERTIES]
    {
        let (answer, mem) = take(stype);
        expect_success(answer, "urMemBufferCreate");
        drop(Mem::take(mem));
    }
    assert_eq!(take(ur_structure_type_t::CONTEXT_PROPERTIES), (Code::ERROR_UNSUPPORTED_FEATURE, null_mut()));
}

#[test]
fn urMemBufferCreate_refuses_properties_that_lead_back_into_themselves() {
    let fixture = Fixture::new();
    let mut hint = ur_buffer_alloc_location_properties_t::default();
    hint.pNext = (&raw mut hint).cast();
    let properties = ur_buffer_properties_t { pNext: (&raw mut hint).cast(), ..Default::default() };
    let mut mem = null_mut();
    let c = fixture.context();
    refused!(ERROR_INVALID_VALUE, Mem.pfnBufferCreate(c, Flags::READ_WRITE, 64, &raw const properties, &raw mut mem));
    assert!(mem.is_null());
}

#[test]
fn urMemGetInfo_answers_every_property() {
    let fixture = Fixture::new();
    let buffer = Buffer::new(&fixture, 12_345);
    let mem = buffer.handle();
    let answered = check_every_property!(ur_mem_info_t, &[], Mem.pfnGetInfo(mem));
    assert_eq!(answered.len(), 3);
    assert_eq!(query::get::<usize>(ask!(Mem.pfnGetInfo(mem, info::SIZE))), 12_345);
    assert_eq!(query::get::<*mut c_void>(ask!(Mem.pfnGetInfo(mem, info::CONTEXT))), fixture.context().cast());
}

#[test]
fn urMemRetain_and_urMemRelease_count() {
    let fixture = Fixture::new();
    let buffer = Buffer::new(&fixture, 64);
    let mem = buffer.handle();
    let count = || query::get::<u32>(ask!(Mem.pfnGetInfo(mem, info::REFERENCE_COUNT)));
    assert_eq!(count(), 1);
    ok!(Mem.pfnRetain(mem));
    assert_eq!(count(), 2);
    ok!(Mem.pfnRelease(mem));
    assert_eq!(count(), 1);
}

/// The object keeps what it needs of its context.
#[test]
fn a_buffer_outlives_the_last_reference_to_its_context() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&fixture.devices[..1]);
    let queue = fixture.queue_in(context.handle(), fixture.device(), QueueFlags::empty());
    let buffer = Buffer::of(context.handle(), Flags::READ_WRITE, 64, null_mut());
    drop(context);
    buffer.write(&queue, &[3u8; 64]);
    assert_eq!(buffer.read::<u8>(&queue), [3; 64]);
    drop(queue);
    expect_success(buffer.release(), "urMemRelease");
}

#[test]
fn urEnqueueMemBufferWrite_and_Read_move_any_part_and_nothing_beside() {
    const SIZE: usize = 70_000;
    let fixture = Fixture::new();
    for (turn, flags) in ORDERS.into_iter().enumerate() {
        let queue = fixture.queue(flags);
        for source in SOURCES {
            let mut expected = pattern(turn as u32, SIZE);
            let mut host = expected.clone();
            let buffer = Buffer::of(fixture.context(), source, SIZE, host_for(source, &mut host));
            buffer.write(&queue, &expected);
            for (at, size) in [(0, 1), (3, 1), (1, 2), (13, 63), (4096, 4096), (4095, 4098), (1, SIZE - 1), (0, SIZE)] {
                let part = pattern(at as u32 + 7, size);
                buffer.write_at(&queue, at, &part);
                expected[at..at + size].copy_from_slice(&part);
                assert!(buffer.read_at::<u8>(&queue, at, size) == part, "{source:?}: {size} bytes at {at}");
                assert!(buffer.read::<u8>(&queue) == expected, "{source:?}: beside {size} bytes at {at}");
            }
            drop(buffer);
        }
    }
}

#[test]
fn urEnqueueMemBufferRead_non_blocking_comes_with_an_event_of_its_own() {
    let fixture = Fixture::new();
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let buffer = Buffer::new(&fixture, 4096);
        let (values, mut back) = (pattern(5, 4096), vec![0u8; 4096]);
        let (q, m, no) = (queue.handle(), buffer.handle(), CBool::FALSE);
        let written = event_of(|event| {
            ur!(Enqueue.pfnMemBufferWrite(q, m, no, 0, 4096, values.as_ptr().cast(), 0, null(), event))
        });
        let list = [written.handle()];
        let read = event_of(|event| {
            ur!(Enqueue.pfnMemBufferRead(q, m, no, 0, 4096, back.as_mut_ptr().cast(), 1, list.as_ptr(), event))
        });
        read.wait();
        assert!(back == values, "{flags:?}");
        for (event, command) in [(&written, ur_command_t::MEM_BUFFER_WRITE), (&read, ur_command_t::MEM_BUFFER_READ)] {
            let told: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE)));
            assert_eq!(told, command.0);
        }
    }
}

#[test]
fn commands_refuse_bytes_that_are_not_the_buffer_s_and_missing_pointers() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (one, two) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 32));
    let (q, m, n, yes) = (queue.handle(), one.handle(), two.handle(), CBool::TRUE);
    let mut room = [0u8; 64];
    let at: *mut c_void = room.as_mut_ptr().cast();
    let mut event = null_mut();
    let e = &raw mut event;
    for (offset, size) in [(0, 0), (64, 1), (1, 64), (0, 65), (usize::MAX, 2), (2, usize::MAX)] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferRead(q, m, yes, offset, size, at, 0, null(), e));
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferWrite(q, m, yes, offset, size, at, 0, null(), e));
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferFill(q, m, at, 1, offset, size, 0, null(), e));
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferCopy(q, m, n, offset, 0, size, 0, null(), e));
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferCopy(q, n, m, 0, offset, size, 0, null(), e));
    }
    refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferCopy(q, m, n, 0, 0, 33, 0, null(), e));
    for (pattern, offset, size) in [(0, 0, 64), (3, 0, 63), (4, 2, 8), (4, 0, 6), (128, 0, 64)] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferFill(q, m, at, pattern, offset, size, 0, null(), e));
    }
    for (from, to) in [(0, 0), (0, 15), (15, 0), (8, 20)] {
        refused!(ERROR_OVERLAPPING_REGIONS, Enqueue.pfnMemBufferCopy(q, m, m, from, to, 16, 0, null(), e));
    }
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnMemBufferRead(q, m, yes, 0, 8, null_mut(), 0, null(), e));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnMemBufferWrite(q, m, yes, 0, 8, null(), 0, null(), e));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnMemBufferFill(q, m, null(), 1, 0, 8, 0, null(), e));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, Enqueue.pfnMemBufferRead(q, m, yes, 0, 8, at, 1, null(), e));
    assert!(event.is_null());
}

#[test]
fn commands_refuse_a_buffer_of_another_context() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let other = fixture.context_of(&fixture.devices[..1]);
    let buffer = Buffer::of(other.handle(), Flags::READ_WRITE, 64, null_mut());
    let mut byte = 0u8;
    let (q, m, at) = (queue.handle(), buffer.handle(), (&raw mut byte).cast());
    refused!(ERROR_INVALID_CONTEXT, Enqueue.pfnMemBufferRead(q, m, CBool::TRUE, 0, 1, at, 0, null(), null_mut()));
    let kernel = fixture.basic(c"iota");
    Launch::new(&kernel, &[1])
        .buffer(&buffer, Flags::READ_WRITE)
        .value(1u32)
        .refused(&[Code::ERROR_INVALID_CONTEXT], &queue);
}

#[test]
fn urEnqueueMemBufferCopy_copies_between_buffers_and_within_one() {
    const SIZE: usize = 5000;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for from_flags in SOURCES {
        for to_flags in SOURCES {
            let (mut here, mut there) = (pattern(1, SIZE), pattern(2, SIZE));
            let (mut a, mut b) = (here.clone(), there.clone());
            let from = Buffer::of(fixture.context(), from_flags, SIZE, host_for(from_flags, &mut a));
            let to = Buffer::of(fixture.context(), to_flags, SIZE, host_for(to_flags, &mut b));
            from.write(&queue, &here);
            to.write(&queue, &there);
            let (q, f, t) = (queue.handle(), from.handle(), to.handle());
            ok!(Enqueue.pfnMemBufferCopy(q, f, t, 17, 1003, 2001, 0, null(), null_mut()));
            there[1003..3004].copy_from_slice(&here[17..2018]);
            ok!(Enqueue.pfnMemBufferCopy(q, f, f, 100, 0, 100, 0, null(), null_mut()));
            here.copy_within(100..200, 0);
            assert!(to.read::<u8>(&queue) == there, "{from_flags:?} to {to_flags:?}");
            assert!(from.read::<u8>(&queue) == here, "within {from_flags:?}");
            drop((from, to));
        }
    }
}

#[test]
fn urEnqueueMemBufferFill_lays_down_patterns_of_every_size() {
    const SIZE: usize = 4096;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for flags in SOURCES {
        let mut host = vec![0u8; SIZE];
        let buffer = Buffer::of(fixture.context(), flags, SIZE, host_for(flags, &mut host));
        for power in 0..=7 {
            let unit = pattern(power, 1 << power);
            let (at, size) = (2 << power, 4 << power);
            let mut expected = pattern(power + 50, SIZE);
            buffer.write(&queue, &expected);
            let from = unit.as_ptr().cast();
            ok!(Enqueue.pfnMemBufferFill(
                queue.handle(),
                buffer.handle(),
                from,
                unit.len(),
                at,
                size,
                0,
                null(),
                null_mut()
            ));
            expected[at..at + size].copy_from_slice(&unit.repeat(4));
            assert!(buffer.read::<u8>(&queue) == expected, "{flags:?}, {} bytes", unit.len());
        }
        drop(buffer);
    }
}

#[test]
fn a_kernel_gets_the_address_of_a_buffer_s_bytes() {
    const WORDS: usize = 1000;
    let fixture = Fixture::new();
    let (copy, add) = (fixture.basic(c"copy"), fixture.basic(c"add_constant"));
    for order in ORDERS {
        let queue = fixture.queue(order);
        for flags in SOURCES {
            let values: Vec<u32> = (0..WORDS as u32).map(|index| index * 3).collect();
            let mut host: Vec<u8> = values.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let from = Buffer::of(fixture.context(), flags, 4 * WORDS, host_for(flags, &mut host));
            if !wants_host(flags) {
                from.write(&queue, &values);
            }
            let to = Buffer::of(fixture.context(), Flags::WRITE_ONLY, 4 * WORDS, null_mut());
            let copied = Launch::new(&copy, &[WORDS])
                .buffer(&to, Flags::WRITE_ONLY)
                .buffer(&from, Flags::READ_ONLY)
                .value(WORDS as u32)
                .event_on(&queue);
            let added = Launch::new(&add, &[WORDS])
                .buffer(&to, Flags::empty())
                .value(5u32)
                .value(WORDS as u32)
                .after(&[&copied])
                .event_on(&queue);
            added.wait();
            let expected: Vec<u32> = values.iter().map(|value| value + 5).collect();
            assert_eq!(to.read::<u32>(&queue), expected, "{order:?} {flags:?}");
            assert_eq!(from.read::<u32>(&queue), values, "{order:?} {flags:?}");
            drop((from, to));
        }
    }
}

#[test]
fn a_launch_refuses_memory_objects_that_are_none_and_accesses_that_are_none() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"iota");
    let buffer = Buffer::new(&fixture, 64);
    let launch = |arg: Arg| Launch::new(&kernel, &[1]).arg(arg).value(0u32);
    launch(Arg::memory(queue.handle().cast(), Flags::READ_WRITE)).refused(&[Code::ERROR_INVALID_MEM_OBJECT], &queue);
    let unknown = Flags::from_bits_retain(0x8000_0000);
    launch(Arg::memory(buffer.handle(), unknown)).refused(&[Code::ERROR_INVALID_ENUMERATION], &queue);
    let both = Flags::READ_ONLY | Flags::WRITE_ONLY;
    launch(Arg::memory(buffer.handle(), both)).refused(&[Code::ERROR_INVALID_VALUE], &queue);
    // A null object is a null address, which this launch does not follow.
    launch(Arg::memory(null_mut(), Flags::READ_WRITE)).on(&queue);
    queue.finish();
}

#[test]
fn work_in_flight_may_outlive_the_last_reference_to_its_buffer() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"iota");
    let mut back = vec![0u32; 1 << 16];
    let buffer = Buffer::new(&fixture, 4 << 16);
    Launch::new(&kernel, &[1 << 16]).buffer(&buffer, Flags::WRITE_ONLY).value(1u32 << 16).on(&queue);
    let (q, m, to) = (queue.handle(), buffer.handle(), back.as_mut_ptr().cast());
    ok!(Enqueue.pfnMemBufferRead(q, m, CBool::FALSE, 0, 4 << 16, to, 0, null(), null_mut()));
    expect_success(buffer.release(), "urMemRelease");
    queue.finish();
    assert!(back.iter().enumerate().all(|(index, &word)| word == index as u32));
}

#[test]
fn a_command_on_a_buffer_comes_after_its_wait_list() {
    let fixture = Fixture::new();
    let mut gate = Gate::new(&fixture);
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let buffer = Buffer::new(&fixture, 64);
    buffer.write(&first, &[1u8; 64]);
    let blocked = gate.block_event(&first);
    let byte = 2u8;
    let (q, m, list) = (second.handle(), buffer.handle(), [blocked.handle()]);
    let filled = event_of(|event| {
        ur!(Enqueue.pfnMemBufferFill(q, m, (&raw const byte).cast(), 1, 0, 64, 1, list.as_ptr(), event))
    });
    let other = fixture.in_order();
    assert_eq!(buffer.read::<u8>(&other), [1; 64], "the fill waits");
    gate.open();
    filled.wait();
    assert_eq!(buffer.read::<u8>(&other), [2; 64]);
}

#[test]
fn a_launch_with_a_buffer_makes_the_native_calls_of_one_with_its_address() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"iota");
    let (buffer, usm) = (Buffer::new(&fixture, 256), fixture.memory(Kind::Device, 256));
    let with_buffer = Launch::new(&kernel, &[64]).local(&[64]).buffer(&buffer, Flags::READ_WRITE).value(64u32);
    let with_usm = Launch::new(&kernel, &[64]).local(&[64]).pointer(usm.pointer()).value(64u32);
    with_buffer.on(&queue);
    let ((), plain) = sim.calls_of(|| with_usm.on(&queue));
    let ((), buffered) = sim.calls_of(|| with_buffer.on(&queue));
    assert_eq!(buffered, plain);
    queue.finish();
}

#[test]
fn urMemGetNativeHandle_is_the_address_that_kernels_get() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for flags in SOURCES {
        let mut host = pattern(1, 256);
        let expected = host.clone();
        let buffer = Buffer::of(fixture.context(), flags, 256, host_for(flags, &mut host));
        let mut native = 0;
        ok!(Mem.pfnGetNativeHandle(buffer.handle(), fixture.device(), &raw mut native));
        let address = core::ptr::with_exposed_provenance_mut::<c_void>(native);
        if wants_host(flags) {
            assert_eq!(memory::read::<u8>(&queue, address, 256), expected, "{flags:?}");
        }
        memory::write(&queue, address, &[7u8; 256]);
        assert_eq!(buffer.read::<u8>(&queue), [7; 256], "{flags:?}");
        let mut again = 0;
        ok!(Mem.pfnGetNativeHandle(buffer.handle(), null_mut(), &raw mut again));
        assert_eq!(again, native, "{flags:?}");
    }
    let buffer = Buffer::new(&fixture, 64);
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnGetNativeHandle(buffer.handle(), fixture.device(), null_mut()));
    if let [_, other, ..] = fixture.devices[..] {
        let mut native = 7;
        refused!(ERROR_INVALID_DEVICE, Mem.pfnGetNativeHandle(buffer.handle(), other, &raw mut native));
        assert_eq!(native, 7);
    }
}

#[test]
fn urMemBufferCreateWithNativeHandle_makes_a_buffer_of_native_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let usm = fixture.memory(kind, 1000);
        for offset in [0, 256] {
            let native = usm.at(offset).expose_provenance();
            let mut mem = null_mut();
            ok!(Mem.pfnBufferCreateWithNativeHandle(native, fixture.context(), null(), &raw mut mem));
            let buffer = Buffer::take(mem, 1000 - offset);
            assert_eq!(query::get::<usize>(ask!(Mem.pfnGetInfo(mem, info::SIZE))), 1000 - offset, "{kind:?}");
            buffer.write(&queue, &pattern(9, 1000 - offset));
            let found: Vec<u8> = memory::read(&queue, usm.at(offset), 1000 - offset);
            assert_eq!(found, pattern(9, 1000 - offset), "{kind:?}");
            drop(buffer);
            // It is still the application's.
            usm.write(&queue, &[1u8; 1000]);
        }
    }
}

#[test]
fn urMemBufferCreateWithNativeHandle_frees_what_it_owns() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let mut pointer = null_mut();
        let out = &raw mut pointer;
        expect_success(memory::allocate(kind, fixture.context(), fixture.device(), null(), 512, out), "an allocation");
        let properties = ur_mem_native_properties_t { isNativeHandleOwned: CBool::TRUE, ..Default::default() };
        let (native, mut mem) = (pointer.expose_provenance(), null_mut());
        let c = fixture.context();
        let inside = native + 256;
        refused!(
            ERROR_INVALID_VALUE,
            Mem.pfnBufferCreateWithNativeHandle(inside, c, &raw const properties, &raw mut mem)
        );
        ok!(Mem.pfnBufferCreateWithNativeHandle(native, c, &raw const properties, &raw mut mem));
        let buffer = Buffer::take(mem, 512);
        buffer.write(&queue, &[5u8; 512]);
        assert_eq!(buffer.read::<u8>(&queue), [5; 512]);
        drop(buffer);
        // The fixture looks for what is left behind; a second free is refused.
        expect_code(ur!(USM.pfnFree(c, pointer)), &[Code::ERROR_INVALID_MEM_OBJECT], "urUSMFree of freed memory");
    }
}

#[test]
fn urMemBufferCreateWithNativeHandle_refuses_addresses_that_are_no_memory() {
    let fixture = Fixture::new();
    let on_stack = 0u64;
    let mut mem = null_mut();
    for address in [0, (&raw const on_stack).expose_provenance()] {
        refused!(
            ERROR_INVALID_VALUE,
            Mem.pfnBufferCreateWithNativeHandle(address, fixture.context(), null(), &raw mut mem)
        );
    }
    assert!(mem.is_null());
    let usm = fixture.memory(Kind::Device, 64);
    let native = usm.pointer().expose_provenance();
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Mem.pfnBufferCreateWithNativeHandle(native, fixture.context(), null(), null_mut())
    );
}

#[test]
fn urMemBufferCreate_in_a_context_of_one_device_makes_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let mut host = [7u8; 64];
    for source in [Flags::empty(), Flags::ALLOC_COPY_HOST_POINTER, Flags::USE_HOST_POINTER] {
        let pointer = host_for(source, &mut host);
        sim.expect_calls(&[], || drop(Buffer::of(fixture.context(), source, 64, pointer)));
    }
}

#[test]
fn a_buffer_s_memory_is_made_once_when_a_command_first_uses_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    // Sizes of which the context keeps nothing yet.
    for (source, size) in [(Flags::empty(), 64), (Flags::ALLOC_COPY_HOST_POINTER, 640)] {
        let (one, other) = (fixture.in_order(), fixture.in_order());
        let mut host = vec![7u8; size];
        let buffer = Buffer::of(fixture.context(), source, size, host_for(source, &mut host));
        host.fill(0xee);
        let (read, calls) = sim.calls_of(|| buffer.read::<u8>(&one));
        assert_eq!(calls.get("cuMemAlloc_v2"), Some(&1), "{source:?}: {calls:?}");
        if source == Flags::ALLOC_COPY_HOST_POINTER {
            assert_eq!(read, vec![7; size]);
        }
        let (_, calls) = sim.calls_of(|| buffer.write(&other, &vec![9u8; size]));
        assert_eq!(calls.get("cuMemAlloc_v2"), None, "{source:?}: {calls:?}");
        assert_eq!(buffer.read::<u8>(&one), vec![9; size]);
    }
}

#[test]
fn a_buffer_s_memory_comes_back_for_the_next_buffer() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let use_one = || {
        let buffer = Buffer::of(fixture.context(), Flags::empty(), 5000, null_mut());
        buffer.write(&queue, &[9u8; 5000]);
    };
    use_one();
    let (_, calls) = sim.calls_of(|| (0..10).for_each(|_| use_one()));
    // Each has its own where nothing is kept.
    let made = if memory::is_pooled() { None } else { Some(&10) };
    assert_eq!((calls.get("cuMemAlloc_v2"), calls.get("cuMemFree_v2")), (made, made), "{calls:?}");
}

#[test]
fn a_buffer_without_room_on_the_device_says_so_at_its_first_use_and_works_later() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    // Sizes of which the context keeps nothing yet.
    for (source, size) in [(Flags::empty(), 64), (Flags::ALLOC_COPY_HOST_POINTER, 640)] {
        let mut host = vec![7u8; size];
        let buffer = Buffer::of(fixture.context(), source, size, host_for(source, &mut host));
        // What blocks are cut from, and the bytes alone; both again behind what is given back.
        (1..=4).for_each(|nth| sim.fail("cuMemAlloc_v2", nth, ur_conformance::sim::status::OUT_OF_MEMORY));
        let (q, m, to) = (queue.handle(), buffer.handle(), host.as_mut_ptr().cast());
        refused!(
            ERROR_OUT_OF_DEVICE_MEMORY,
            Enqueue.pfnMemBufferRead(q, m, CBool::TRUE, 0, size, to, 0, null(), null_mut())
        );
        sim.clear_faults();
        if source == Flags::ALLOC_COPY_HOST_POINTER {
            assert_eq!(buffer.read::<u8>(&queue), vec![7; size], "what it was made with is still there");
        }
        buffer.write(&queue, &vec![9u8; size]);
        assert_eq!(buffer.read::<u8>(&queue), vec![9; size]);
    }
}
