//! Buffers in captures whose bytes move between devices and the host: they are brought to the device at each launch of the graph.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{ur_mem_flags_t as MemFlags, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::graph::{begin, end};
use ur_conformance::{Buffer, Fixture, Graph, Kernel, Launch, Queue, expect_code, needs_capture, ok};

const COUNT: usize = 16;

fn add<'k>(kernel: &'k Kernel, buffer: &Buffer, value: u32) -> Launch<'k> {
    Launch::new(kernel, &[COUNT]).buffer(buffer, MemFlags::READ_WRITE).value(value).value(COUNT as u32)
}

#[test]
fn a_buffer_over_the_application_s_memory_is_used_at_every_launch() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let kernel = fixture.basic(c"add_constant");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let mut own = [0u32; COUNT];
        let pointer = own.as_mut_ptr().cast::<c_void>();
        let buffer = Buffer::of(fixture.context(), MemFlags::USE_HOST_POINTER, 4 * COUNT, pointer);
        let mut read = [0u32; COUNT];
        let to = read.as_mut_ptr();
        let graph = Graph::captured(&queue, || {
            let added = add(&kernel, &buffer, 3).event_on(&queue);
            let (waits, no, q) = ([added.handle()], false.into(), queue.handle());
            let (list, none) = (waits.as_ptr(), null_mut());
            ok!(Enqueue.pfnMemBufferRead(q, buffer.handle(), no, 0, 4 * COUNT, to.cast(), 1, list, none));
        });
        let executable = graph.instantiate();
        for round in 1..4u32 {
            buffer.write(&queue, &[100 * round; COUNT]);
            executable.event_on(&queue).wait();
            assert_eq!(buffer.read::<u32>(&queue), [100 * round + 3; COUNT], "{flags:?}");
            // SAFETY: the array's own elements, which no launch uses now.
            let found: Vec<u32> = (0..COUNT).map(|at| unsafe { to.add(at).read_volatile() }).collect();
            assert_eq!(found, [100 * round + 3; COUNT], "{flags:?}");
        }
    }
}

#[test]
fn a_buffer_of_several_devices_moves_with_the_launches_of_a_graph() {
    let fixture = Fixture::over_all_devices();
    needs_capture!(fixture);
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let queues: Vec<_> = fixture.devices[..2]
        .iter()
        .map(|device| fixture.queue_in(fixture.context(), *device, Default::default()))
        .collect();
    let kernel = fixture.kernel(&fixture.program_on("basic.ptx", fixture.devices[0]), c"add_constant");
    let (one, two) = (Buffer::new(&fixture, 4 * COUNT), Buffer::new(&fixture, 4 * COUNT));
    one.write(&queues[1], &[7u32; COUNT]);
    let graph = Graph::captured(&queues[0], || {
        add(&kernel, &one, 5).on(&queues[0]);
        let (q, from, to) = (queues[0].handle(), one.handle(), two.handle());
        ok!(Enqueue.pfnMemBufferCopy(q, from, to, 0, 0, 4 * COUNT, 0, null(), null_mut()));
    });
    let executable = graph.instantiate();
    for round in 0..3u32 {
        one.write(&queues[1], &[100 * round; COUNT]);
        executable.on(&queues[0]);
        queues[0].finish();
        for buffer in [&one, &two] {
            assert_eq!(buffer.read::<u32>(&queues[1]), [100 * round + 5; COUNT]);
        }
    }
    let answer = executable.enqueue(&queues[1], &[], null_mut());
    expect_code(answer, &[Code::ERROR_INVALID_QUEUE], "a queue of another device");
    drop((one, two));
    executable.on(&queues[0]);
    queues[0].finish();
}

/// A queue of each of the first two devices, with a kernel that adds to a buffer there; none where there is one device.
fn on_two_devices(fixture: &Fixture) -> Option<[(Queue, Kernel); 2]> {
    let [one, two, ..] = fixture.devices[..] else {
        println!("skipped: needs two devices");
        return None;
    };
    Some([one, two].map(|device| {
        let program = fixture.program_on("basic.ptx", device);
        (fixture.queue_in(fixture.context(), device, Flags::empty()), fixture.kernel(&program, c"add_constant"))
    }))
}

/// A launch brings a buffer's bytes to one device, and the nodes of the first capture name its memory at the first.
#[test]
fn a_graph_that_captures_of_two_devices_went_into_is_launched_where_its_buffers_are() {
    let fixture = Fixture::over_all_devices();
    needs_capture!(fixture);
    let Some([(a, on_a), (b, on_b)]) = on_two_devices(&fixture) else { return };
    let empty = fixture.kernel(&fixture.program_on("basic.ptx", fixture.devices[1]), c"empty");
    let buffer = Buffer::new(&fixture, 4 * COUNT);
    let graph = Graph::empty(&fixture);
    let into = |queue: &Queue, work: &dyn Fn()| {
        ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
        work();
        assert_eq!(end(queue), graph.handle());
    };
    into(&a, &|| add(&on_a, &buffer, 5).on(&a));
    into(&b, &|| {
        add(&on_b, &buffer, 7).refused(&[Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED], &b);
        Launch::new(&empty, &[1]).on(&b);
    });
    let executable = graph.instantiate();
    for round in 0..3u32 {
        buffer.write(&b, &[100 * round; COUNT]);
        let answer = executable.enqueue(&b, &[], null_mut());
        expect_code(answer, &[Code::ERROR_INVALID_QUEUE], "a queue of another device");
        executable.on(&a);
        a.finish();
        assert_eq!(buffer.read::<u32>(&b), [100 * round + 5; COUNT]);
    }
}

#[test]
fn a_queue_of_another_device_that_joins_a_capture_uses_no_buffer_there() {
    let fixture = Fixture::over_all_devices();
    needs_capture!(fixture);
    let Some([(a, on_a), (b, on_b)]) = on_two_devices(&fixture) else { return };
    let buffer = Buffer::new(&fixture, 4 * COUNT);
    begin(&a);
    let root = add(&on_a, &buffer, 1).event_on(&a);
    add(&on_b, &buffer, 2).after(&[&root]).refused(&[Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED], &b);
    add(&on_a, &buffer, 4).on(&a);
    let graph = Graph::take(end(&a));
    let executable = graph.instantiate();
    buffer.write(&b, &[100u32; COUNT]);
    executable.on(&a);
    a.finish();
    assert_eq!(buffer.read::<u32>(&b), [105; COUNT]);
}
