//! Buffers that several devices of a context use: every command sees what was written last, wherever that was.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_map_flags_t, ur_mem_flags_t as Flags, ur_program_handle_t, ur_queue_flags_t as QueueFlags,
    ur_rect_offset_t, ur_rect_region_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Buffer, Environment, Fixture, Gate, Kernel, Kind, Launch, Program, Queue, Sim, needs_sim, ok, ur,
};

/// A fixture over all devices, if there are two; with a queue for each of the first two.
fn two_devices() -> Option<(Fixture, Queue, Queue)> {
    let fixture = Fixture::over_all_devices();
    let [one, two, ..] = fixture.devices[..] else {
        println!("skipped: needs two devices");
        return None;
    };
    let queue = |device| fixture.queue_in(fixture.context(), device, QueueFlags::empty());
    let (a, b) = (queue(one), queue(two));
    Some((fixture, a, b))
}

/// A kernel of `basic.ptx` that every device of the fixture can run.
fn kernel(fixture: &Fixture, name: &core::ffi::CStr) -> Kernel {
    let image = Environment::get().image("basic.ptx");
    let mut devices = fixture.devices.clone();
    let mut lengths = vec![image.len(); devices.len()];
    let mut images = vec![image.as_ptr(); devices.len()];
    let mut program: ur_program_handle_t = null_mut();
    ok!(Program.pfnCreateWithBinary(
        fixture.context(),
        devices.len() as u32,
        devices.as_mut_ptr(),
        lengths.as_mut_ptr(),
        images.as_mut_ptr(),
        null(),
        &raw mut program
    ));
    let program = Program::take(program);
    ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    fixture.kernel(&program, name)
}

fn add<'k>(kernel: &'k Kernel, buffer: &Buffer, value: u32) -> Launch<'k> {
    let words = buffer.size() / 4;
    Launch::new(kernel, &[words]).buffer(buffer, Flags::READ_WRITE).value(value).value(words as u32)
}

/// Enqueues a command that nothing tells to wait but the buffer's own state. Where native calls are counted the wait is
/// seen; elsewhere the bytes have to tell.
#[track_caller]
fn waits_by_itself(fixture: &Fixture, enqueue: impl FnOnce()) {
    match fixture.sim() {
        None => enqueue(),
        Some(sim) => {
            let ((), calls) = sim.calls_of(enqueue);
            assert!(calls.get("cuStreamWaitEvent") >= Some(&1), "{calls:?}");
        }
    }
}

#[test]
fn what_one_device_wrote_the_other_reads() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    let flags = [Flags::empty(), Flags::USE_HOST_POINTER, Flags::ALLOC_HOST_POINTER, Flags::ALLOC_COPY_HOST_POINTER];
    for source in flags {
        let mut host: Vec<u32> = (0..5000).collect();
        let wants = source.intersects(Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER);
        let pointer = if wants { host.as_mut_ptr().cast() } else { null_mut() };
        let buffer = Buffer::of(fixture.context(), source, 20_000, pointer);
        if !wants {
            buffer.write(&a, &(0..5000u32).collect::<Vec<_>>());
        }
        add(&add_constant, &buffer, 1).event_on(&b).wait();
        let plus = |value| (0..5000u32).map(|index| index + value).collect::<Vec<u32>>();
        assert_eq!(buffer.read::<u32>(&a), plus(1), "{source:?}: written by the second, read by the first");
        add(&add_constant, &buffer, 10).event_on(&a).wait();
        assert_eq!(buffer.read::<u32>(&b), plus(11), "{source:?}: written by the first, read by the second");
        assert_eq!(buffer.read::<u32>(&a), plus(11), "{source:?}");
        drop(buffer);
    }
}

#[test]
fn a_chain_of_launches_on_two_devices_needs_no_wait_of_the_host() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    for order in [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queues: Vec<Queue> =
            fixture.devices[..2].iter().map(|&device| fixture.queue_in(fixture.context(), device, order)).collect();
        let buffer = Buffer::new(&fixture, 4096);
        let mut gate = Gate::new(&fixture);
        buffer.write(&a, &[0u32; 1024]);
        let mut last = gate.block_event(&a);
        for turn in 0..20 {
            last = add(&add_constant, &buffer, 1 << turn).after(&[&last]).event_on(&queues[turn % 2]);
        }
        gate.open();
        last.wait();
        assert_eq!(buffer.read::<u32>(&b), [(1 << 20) - 1; 1024], "{order:?}");
        a.finish();
    }
}

/// The copy that one queue's kernel needs is also what the other queue's kernel reads.
#[test]
fn a_kernel_waits_for_the_bytes_that_another_queue_of_its_device_brings() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let copy = kernel(&fixture, c"copy");
    let second = fixture.queue_in(fixture.context(), fixture.devices[1], QueueFlags::empty());
    let (buffer, one, two) = (Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    let values: Vec<u32> = (0..1024).map(|index| index ^ 0x5555).collect();
    buffer.write(&a, &values);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&a);
    let launch = |to: &Buffer| {
        let launch = Launch::new(&copy, &[1024]);
        launch.buffer(to, Flags::WRITE_ONLY).buffer(&buffer, Flags::READ_ONLY).value(1024u32)
    };
    // The first queue is held up, and with it the copy that it makes for its kernel.
    launch(&one).after(&[&blocked]).on(&b);
    waits_by_itself(&fixture, || launch(&two).on(&second));
    // A read takes the bytes from where they are meanwhile, whichever device it is for.
    assert_eq!(
        buffer.read::<u32>(&fixture.queue_in(fixture.context(), fixture.devices[1], QueueFlags::empty())),
        values
    );
    gate.open();
    b.finish();
    second.finish();
    assert_eq!(one.read::<u32>(&b), values);
    assert_eq!(two.read::<u32>(&second), values);
    a.finish();
}

/// Two copies that one queue makes at once are two, though a later mark on its stream stands for both.
#[test]
fn a_kernel_waits_for_the_first_of_several_parts_that_another_queue_of_its_device_brings() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let copy = kernel(&fixture, c"copy");
    let second = fixture.queue_in(fixture.context(), fixture.devices[1], QueueFlags::empty());
    let (buffer, one, two) = (Buffer::new(&fixture, 8192), Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    let (low, high) = (buffer.part(0, 4096), buffer.part(4096, 4096));
    let values: Vec<u32> = (0..2048).map(|index| index ^ 0x6666).collect();
    buffer.write(&a, &values);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&a);
    let launch = |to: &Buffer, from: &Buffer| {
        let launch = Launch::new(&copy, &[1024]);
        launch.buffer(to, Flags::WRITE_ONLY).buffer(from, Flags::READ_ONLY).value(1024u32)
    };
    launch(&one, &low).after(&[&blocked]).on(&b);
    launch(&one, &high).on(&b);
    waits_by_itself(&fixture, || launch(&two, &low).on(&second));
    gate.open();
    b.finish();
    second.finish();
    assert_eq!(one.read::<u32>(&b), values[1024..]);
    assert_eq!(two.read::<u32>(&second), values[..1024]);
    a.finish();
}

/// Two lanes of one queue are as two queues.
#[test]
fn a_kernel_waits_for_the_bytes_that_another_kernel_of_its_out_of_order_queue_brings() {
    let Some((fixture, a, _)) = two_devices() else { return };
    let copy = kernel(&fixture, c"copy");
    let loose = QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let b = fixture.queue_in(fixture.context(), fixture.devices[1], loose);
    let buffers: Vec<Buffer> = (0..4).map(|_| Buffer::new(&fixture, 4096)).collect();
    let values: Vec<u32> = (0..1024).map(|index| index ^ 0x3333).collect();
    buffers[0].write(&a, &values);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&a);
    for (index, to) in buffers[1..].iter().enumerate() {
        let launch = Launch::new(&copy, &[1024]).buffer(to, Flags::WRITE_ONLY).buffer(&buffers[0], Flags::READ_ONLY);
        let launch = launch.value(1024u32);
        if index == 0 {
            launch.after(&[&blocked]).on(&b);
        } else {
            waits_by_itself(&fixture, || launch.on(&b));
        }
    }
    gate.open();
    b.finish();
    for to in &buffers[1..] {
        assert_eq!(to.read::<u32>(&b), values);
    }
    a.finish();
}

/// Neither command is the other's business, but the second needs the first one's bytes beside its own.
#[test]
fn interleaved_columns_that_two_devices_write_at_once_make_up_the_whole() {
    const PITCH: usize = 64;
    let Some((fixture, a, b)) = two_devices() else { return };
    let buffer = Buffer::new(&fixture, 64 * PITCH);
    let before = pattern(1, 64 * PITCH);
    buffer.write(&a, &before);
    let columns: Vec<Vec<u8>> = (0..3).map(|seed| pattern(seed + 10, 64 * 16)).collect();
    // Pinned, since a driver may block for copies from any other host memory.
    let sources = [(); 3].map(|()| fixture.memory(Kind::Host, 64 * 16));
    sources.iter().zip(&columns).for_each(|(source, values)| source.write(&b, values));
    let write = |queue: &Queue, column: usize| {
        let at = ur_rect_offset_t { x: column as u64 * 16, ..Default::default() };
        let size = ur_rect_region_t { width: 16, height: 64, depth: 1 };
        let (q, m, none, from) =
            (queue.handle(), buffer.handle(), ur_rect_offset_t::default(), sources[column].pointer());
        ok!(Enqueue.pfnMemBufferWriteRect(
            q,
            m,
            CBool::FALSE,
            at,
            none,
            size,
            PITCH,
            0,
            16,
            0,
            from,
            0,
            null(),
            null_mut()
        ));
    };
    let mut gate = Gate::new(&fixture);
    gate.block(&a);
    write(&a, 0);
    waits_by_itself(&fixture, || write(&b, 1));
    waits_by_itself(&fixture, || write(&a, 2));
    gate.open();
    a.finish();
    b.finish();
    let mut expected = before;
    for (column, values) in columns.iter().enumerate() {
        for row in 0..64 {
            expected[row * PITCH + column * 16..][..16].copy_from_slice(&values[row * 16..][..16]);
        }
    }
    assert!(buffer.read::<u8>(&b) == expected);
}

/// Order between devices is the application's to tell; where it does not, the newest bytes are still what counts.
#[test]
fn reads_and_copies_of_another_device_come_after_its_last_write() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    let (buffer, to) = (Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    buffer.write(&a, &[1u32; 1024]);
    // Pinned, since a driver may block for copies to any other host memory.
    let found = fixture.memory(Kind::Host, 4096);
    let mut gate = Gate::new(&fixture);
    gate.block(&a);
    add(&add_constant, &buffer, 1).on(&a);
    let (q, m, t, into) = (b.handle(), buffer.handle(), to.handle(), found.pointer());
    waits_by_itself(&fixture, || {
        ok!(Enqueue.pfnMemBufferRead(q, m, CBool::FALSE, 0, 4096, into, 0, null(), null_mut()));
    });
    waits_by_itself(&fixture, || {
        ok!(Enqueue.pfnMemBufferCopy(q, m, t, 0, 0, 4096, 0, null(), null_mut()));
    });
    gate.open();
    b.finish();
    assert_eq!(found.read::<u32>(&b, 1024), [2; 1024]);
    assert_eq!(to.read::<u32>(&b), [2; 1024]);
    a.finish();
}

#[test]
fn urMemRelease_waits_for_the_copies_that_other_devices_make() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let sim = needs_sim!(fixture);
    let (buffer, to) = (Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    buffer.write(&a, &[1u32; 1024]);
    let (q, m, t) = (b.handle(), buffer.handle(), to.handle());
    ok!(Enqueue.pfnMemBufferCopy(q, m, t, 0, 0, 4096, 0, null(), null_mut()));
    let ((), calls) = sim.calls_of(|| drop(buffer));
    assert_eq!(calls.get("cuEventSynchronize"), Some(&1), "{calls:?}");
    b.finish();
    assert_eq!(to.read::<u32>(&b), [1; 1024]);
}

#[test]
fn a_part_does_not_wait_for_work_on_its_neighbours() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    let buffer = Buffer::new(&fixture, 8192);
    let (low, high) = (buffer.part(0, 4096), buffer.part(4096, 4096));
    buffer.write(&a, &[1u32; 2048]);
    let loose = fixture.queue_in(fixture.context(), fixture.device(), QueueFlags::empty());
    let mut gate = Gate::new(&fixture);
    gate.block(&a);
    add(&add_constant, &low, 1).on(&a);
    add(&add_constant, &high, 2).event_on(&loose).wait();
    add(&add_constant, &high, 3).event_on(&b).wait();
    assert_eq!(high.read::<u32>(&loose), [6; 1024]);
    gate.open();
    a.finish();
    assert_eq!(buffer.read::<u32>(&b), [[2u32; 1024], [6; 1024]].concat());
}

/// What one queue brings before and behind a part is not what lies between.
#[test]
fn a_part_does_not_wait_for_the_parts_around_it_that_another_queue_of_its_device_brings() {
    const PART: usize = 4096;
    let Some((fixture, a, b)) = two_devices() else { return };
    let (copy, add_constant) = (kernel(&fixture, c"copy"), kernel(&fixture, c"add_constant"));
    let second = fixture.queue_in(fixture.context(), fixture.devices[1], QueueFlags::empty());
    let buffer = Buffer::new(&fixture, 3 * PART);
    let parts = [0, 1, 2].map(|part| buffer.part(part * PART, PART));
    let to = Buffer::new(&fixture, PART);
    buffer.write(&a, &[1u32; 3 * PART / 4]);
    add(&add_constant, &parts[1], 6).event_on(&second).wait();
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&a);
    for part in [0, 2] {
        let launch = Launch::new(&copy, &[PART / 4]).buffer(&to, Flags::WRITE_ONLY);
        launch.buffer(&parts[part], Flags::READ_ONLY).value(PART as u32 / 4).after(&[&blocked]).on(&b);
    }
    add(&add_constant, &parts[1], 1).event_on(&second).wait();
    gate.open();
    b.finish();
    assert_eq!(parts[1].read::<u32>(&second), [8; PART / 4]);
    assert_eq!(to.read::<u32>(&b), [1; PART / 4]);
}

/// A read of bytes that several devices have takes the queue's own.
#[test]
fn bytes_that_are_here_are_not_taken_from_elsewhere() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let sim = needs_sim!(fixture);
    let copy = kernel(&fixture, c"copy");
    let (buffer, to) = (Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    buffer.write(&a, &[1u32; 1024]);
    let launch = Launch::new(&copy, &[1024]).buffer(&to, Flags::WRITE_ONLY).buffer(&buffer, Flags::READ_ONLY);
    launch.value(1024u32).event_on(&b).wait();
    // What comes from another device is marked, so that its memory stays until then.
    let (found, calls) = sim.calls_of(|| buffer.read::<u32>(&b));
    assert_eq!((found, calls.get("cuEventRecord")), (vec![1; 1024], None), "{calls:?}");
}

#[test]
fn one_command_may_use_a_buffer_several_times() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let copy = kernel(&fixture, c"copy");
    let buffer = Buffer::new(&fixture, 8192);
    let values: Vec<u32> = (0..2048).collect();
    buffer.write(&a, &values);
    let (low, high) = (buffer.part(0, 4096), buffer.part(4096, 4096));
    let launch = Launch::new(&copy, &[1024]).buffer(&low, Flags::WRITE_ONLY).buffer(&high, Flags::READ_ONLY);
    launch.value(1024u32).event_on(&b).wait();
    let (q, m) = (a.handle(), buffer.handle());
    ok!(Enqueue.pfnMemBufferCopy(q, m, m, 0, 6144, 1024, 0, null(), null_mut()));
    let (here, there) = (ur_rect_offset_t::default(), ur_rect_offset_t { x: 2048, ..Default::default() });
    let size = ur_rect_region_t { width: 16, height: 2, depth: 1 };
    ok!(Enqueue.pfnMemBufferCopyRect(q, m, m, there, here, size, 64, 0, 64, 0, 0, null(), null_mut()));
    let mut expected = [&values[1024..], &values[1024..]].concat();
    expected.copy_within(0..256, 1536);
    expected.copy_within(512..516, 0);
    expected.copy_within(528..532, 16);
    assert_eq!(buffer.read::<u32>(&b), expected);
}

#[test]
fn threads_that_copy_between_two_buffers_in_both_directions_do_not_wait_for_each_other_for_ever() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let buffers = [Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096)];
    buffers[0].write(&a, &[5u32; 1024]);
    buffers[1].write(&a, &[6u32; 1024]);
    std::thread::scope(|scope| {
        for turn in 0..4 {
            let (fixture, [one, two]) = (&fixture, &buffers);
            // Each thread has bytes of its own, so that none waits for another's.
            let (from, to, at) = if turn % 2 == 0 { (one, two, 1024 * turn) } else { (two, one, 1024 * turn) };
            let queue = fixture.queue_in(fixture.context(), fixture.devices[turn / 2], QueueFlags::empty());
            scope.spawn(move || {
                for _ in 0..200 {
                    let (q, f, t) = (queue.handle(), from.handle(), to.handle());
                    ok!(Enqueue.pfnMemBufferCopy(q, f, t, at, at, 1024, 0, null(), null_mut()));
                }
                queue.finish();
            });
        }
    });
    let expected: Vec<u32> = [5, 6, 5, 6].into_iter().flat_map(|value| [value; 256]).collect();
    assert_eq!(buffers[0].read::<u32>(&b), expected);
    assert_eq!(buffers[1].read::<u32>(&a), expected);
}

/// What a buffer remembers of work goes with the work, not with the buffer.
#[test]
fn many_short_lived_queues_leave_nothing_in_a_buffer() {
    let Some((fixture, ..)) = two_devices() else { return };
    let sim = needs_sim!(fixture);
    let buffer = Buffer::new(&fixture, 256 * 128);
    let events =
        || sim.objects().iter().filter(|(kind, _)| kind.contains("event")).map(|(_, count)| count).sum::<u64>();
    let before = events();
    for turn in 0..256 {
        let queue = fixture.queue_in(fixture.context(), fixture.device(), QueueFlags::empty());
        buffer.write_at(&queue, turn * 128, &[turn as u8; 128]);
    }
    // A pool keeps some for the next use.
    assert!(events() - before < 64, "{} more native events", events() - before);
}

#[test]
fn parts_that_two_devices_write_at_once_make_up_the_whole() {
    const PART: usize = 4096;
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    let mut host = vec![0u32; 4 * PART / 4];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 4 * PART, host.as_mut_ptr().cast());
    let parts: Vec<Buffer> = (0..4).map(|index| buffer.part(index * PART, PART)).collect();
    for turn in 1..=10 {
        for (index, part) in parts.iter().enumerate() {
            let queue = if index % 2 == 0 { &a } else { &b };
            add(&add_constant, part, turn * (index as u32 + 1)).on(queue);
        }
    }
    a.finish();
    b.finish();
    let expected: Vec<u32> = (0..4).flat_map(|index| vec![55 * (index + 1); PART / 4]).collect();
    assert_eq!(buffer.read::<u32>(&a), expected);
    add(&add_constant, &buffer, 1).event_on(&b).wait();
    add(&add_constant, &parts[1], 1).event_on(&a).wait();
    let expected: Vec<u32> =
        expected.iter().enumerate().map(|(at, value)| value + 1 + u32::from(at / (PART / 4) == 1)).collect();
    // The newest bytes lie on both devices; the host's own memory gets them all.
    drop((buffer, parts));
    assert_eq!(host, expected);
}

#[test]
fn copies_between_buffers_take_source_and_destination_from_wherever_they_are() {
    let Some((fixture, a, b)) = two_devices() else { return };
    for (writer, copier, reader) in [(&a, &b, &a), (&b, &a, &b), (&a, &b, &b), (&b, &b, &a)] {
        let (from, to) = (Buffer::new(&fixture, 3000), Buffer::new(&fixture, 3000));
        let (values, mut expected) = (pattern(1, 3000), pattern(2, 3000));
        from.write(writer, &values);
        to.write(writer, &expected);
        // Half of the source is newer on the other device.
        from.write_at(copier, 1000, &expected[..500]);
        let mut source = values.clone();
        source[1000..1500].copy_from_slice(&expected[..500]);
        let (q, f, t) = (copier.handle(), from.handle(), to.handle());
        let copied = event_of(|event| ur!(Enqueue.pfnMemBufferCopy(q, f, t, 500, 200, 1500, 0, null(), event)));
        copied.wait();
        expected[200..1700].copy_from_slice(&source[500..2000]);
        assert_eq!(to.read::<u8>(reader), expected);
        assert_eq!(from.read::<u8>(reader), source);
    }
}

#[test]
fn a_map_shows_what_any_device_wrote_and_what_it_writes_any_device_sees() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    for source in [Flags::empty(), Flags::USE_HOST_POINTER] {
        let mut host = vec![1u32; 1024];
        let pointer = if source.is_empty() { null_mut() } else { host.as_mut_ptr().cast() };
        let buffer = Buffer::of(fixture.context(), source, 4096, pointer);
        buffer.write(&a, &[1u32; 1024]);
        add(&add_constant, &buffer, 1).event_on(&b).wait();
        let mut mapped = null_mut();
        let (q, m, flags) = (a.handle(), buffer.handle(), ur_map_flags_t::READ | ur_map_flags_t::WRITE);
        ok!(Enqueue.pfnMemBufferMap(q, m, CBool::TRUE, flags, 0, 2048, 0, null(), null_mut(), &raw mut mapped));
        // SAFETY: 2048 mapped bytes, and the map has finished.
        let words = unsafe { core::slice::from_raw_parts_mut(mapped.cast::<u32>(), 512) };
        assert_eq!(words, [2; 512]);
        words.fill(50);
        let gone = event_of(|event| ur!(Enqueue.pfnMemUnmap(q, m, mapped, 0, null(), event)));
        let added = add(&add_constant, &buffer, 1).after(&[&gone]).event_on(&b);
        added.wait();
        let expected = [vec![51u32; 512], vec![3; 512]].concat();
        assert_eq!(buffer.read::<u32>(&a), expected, "{source:?}");
        drop(buffer);
    }
}

#[test]
fn a_native_address_of_each_device_has_the_newest_bytes() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let buffer = Buffer::new(&fixture, 256);
    buffer.write(&a, &[1u8; 256]);
    let mut seen = Vec::new();
    for (turn, queue) in [&b, &a, &b].into_iter().enumerate() {
        let device = fixture.devices[(turn + 1) % 2];
        let mut native = 0;
        ok!(Mem.pfnGetNativeHandle(buffer.handle(), device, &raw mut native));
        let pointer = core::ptr::with_exposed_provenance_mut(native);
        assert_eq!(memory::read::<u8>(queue, pointer, 256), [turn as u8 + 1; 256]);
        memory::write(queue, pointer, &[turn as u8 + 2; 256]);
        seen.push(native);
    }
    assert!(seen[0] == seen[2] && seen[0] != seen[1], "one address a device: {seen:x?}");
    assert_eq!(buffer.read::<u8>(&a), [4; 256]);
}

#[test]
fn a_buffer_of_native_memory_moves_between_devices() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let add_constant = kernel(&fixture, c"add_constant");
    let usm = fixture.memory(Kind::Device, 4096);
    usm.write(&a, &[1u32; 1024]);
    let (native, mut mem) = (usm.pointer().expose_provenance(), null_mut());
    ok!(Mem.pfnBufferCreateWithNativeHandle(native, fixture.context(), null(), &raw mut mem));
    let buffer = Buffer::take(mem, 4096);
    add(&add_constant, &buffer, 1).event_on(&b).wait();
    add(&add_constant, &buffer, 1).event_on(&a).wait();
    assert_eq!(usm.read::<u32>(&a, 1024), [3; 1024]);
}

fn copies(sim: &Sim, work: impl FnOnce()) -> u64 {
    sim.calls_of(work).1.get("cuMemcpyAsync").copied().unwrap_or(0)
}

#[test]
fn bytes_are_copied_when_they_are_needed_and_not_again() {
    let Some((fixture, a, b)) = two_devices() else { return };
    let sim = needs_sim!(fixture);
    let copy = kernel(&fixture, c"copy");
    let (buffer, here, there) = (Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    let launch = |queue: &Queue, to: &Buffer, from: &Buffer| {
        let launch = Launch::new(&copy, &[1024]);
        launch.buffer(to, Flags::WRITE_ONLY).buffer(from, Flags::READ_ONLY).value(1024u32).event_on(queue).wait();
    };
    buffer.write(&a, &[7u32; 1024]);
    assert_eq!(copies(sim, || launch(&a, &here, &buffer)), 0, "they are there");
    assert_eq!(copies(sim, || launch(&b, &there, &buffer)), 1, "they are elsewhere");
    assert_eq!(copies(sim, || launch(&b, &there, &buffer)), 0, "they were brought");
    assert_eq!(copies(sim, || launch(&a, &here, &buffer)), 0, "a reader leaves them current elsewhere");
    assert_eq!(copies(sim, || launch(&b, &buffer, &there)), 0, "a writer's device has them");
    assert_eq!(copies(sim, || launch(&a, &here, &buffer)), 1, "a writer makes the others' stale");
    let one = 1u8;
    let (q, m) = (a.handle(), there.handle());
    let filled =
        copies(sim, || ok!(Enqueue.pfnMemBufferFill(q, m, (&raw const one).cast(), 1, 0, 4096, 0, null(), null_mut())));
    assert_eq!(filled, 0, "what is overwritten is not brought");
    a.finish();
    assert_eq!(there.read::<u8>(&b), [1; 4096]);
}

#[test]
fn a_device_that_never_uses_a_buffer_has_no_memory_of_it() {
    let Some((fixture, _, b)) = two_devices() else { return };
    let sim = needs_sim!(fixture);
    let mut host = pattern(1, 4096);
    let (_, calls) = sim.calls_of(|| {
        let from = host.as_mut_ptr().cast();
        let buffer = Buffer::of(fixture.context(), Flags::ALLOC_COPY_HOST_POINTER, 4096, from);
        let kernel_free = buffer.part(0, 4096);
        kernel_free.write(&b, &[1u8; 64]);
        assert_eq!(kernel_free.read_at::<u8>(&b, 0, 65), [vec![1u8; 64], vec![host[64]]].concat());
    });
    assert_eq!(calls.get("cuMemAlloc_v2"), Some(&1), "{calls:?}");
}

#[test]
fn urEnqueueMemBufferWrite_asks_about_few_writes_however_many_are_in_flight() {
    const BUSY: usize = 64;
    let Some((fixture, a, _b)) = two_devices() else { return };
    let sim = needs_sim!(fixture);
    let (buffer, from) = (Buffer::new(&fixture, 2 * BUSY * 16), fixture.memory(Kind::Host, 16));
    let queue = |_| fixture.queue_in(fixture.context(), fixture.devices[0], QueueFlags::empty());
    let queues: Vec<_> = (0..2 * BUSY).map(queue).collect();
    let mut gate = Gate::new(&fixture);
    let (gated, from) = (gate.block_event(&a), from.pointer());
    let write = |index: usize| {
        let (q, m, no, gated) = (queues[index].handle(), buffer.handle(), CBool::FALSE, gated.handle());
        ok!(Enqueue.pfnMemBufferWrite(q, m, no, index * 16, 16, from, 1, &raw const gated, null_mut()));
    };
    (0..BUSY).for_each(write);
    let (_, calls) = sim.calls_of(|| (BUSY..2 * BUSY).for_each(write));
    let questions = calls.get("cuEventQuery").copied().unwrap_or(0);
    gate.open();
    queues.iter().for_each(Queue::finish);
    assert!(questions <= 4 * BUSY as u64, "{questions} questions for {BUSY} commands");
}
