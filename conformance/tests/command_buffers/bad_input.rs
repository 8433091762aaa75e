//! What every append function refuses alike: handles, lists of sync points and lists of events that are wrong.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{SyncPoint, device_can};
use ur_conformance::ffi::{
    ur_device_info_t, ur_event_handle_t, ur_exp_command_buffer_handle_t, ur_rect_offset_t, ur_rect_region_t,
    ur_result_t as Code, ur_usm_advice_flags_t as Advice, ur_usm_migration_flags_t as Migration,
};
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::{
    Buffer, CommandBuffer, Fixture, Kernel, Kind, Launch, Memory, Queue, expect_code, has_function, ur,
};

/// What all append functions take.
#[derive(Clone, Copy)]
struct Common {
    buffer: ur_exp_command_buffer_handle_t,
    points: (u32, *const SyncPoint),
    events: (u32, *const ur_event_handle_t),
    point: *mut SyncPoint,
    event: *mut ur_event_handle_t,
}

/// What the commands work on.
struct Objects<'f> {
    kernel: Kernel,
    memory: Memory<'f>,
    one: Buffer,
    two: Buffer,
    queue: Queue,
}

type Append = fn(&Objects<'_>, Common) -> Code;

const REGION: ur_rect_region_t = ur_rect_region_t { width: 4, height: 1, depth: 1 };
const ORIGIN: ur_rect_offset_t = ur_rect_offset_t { x: 0, y: 0, z: 0 };

fn unit() -> *const c_void {
    static UNIT: [u8; 8] = [7; 8];
    UNIT.as_ptr().cast()
}

/// Every append function with everything right but what it is given.
const FUNCTIONS: [(&str, Append); 13] = [
    ("KernelLaunchExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (k, size, none) = (objects.kernel.handle(), 1usize, null_mut());
        let g = &raw const size;
        ur!(CommandBufferExp.pfnAppendKernelLaunchExp(
            buffer,
            k,
            1,
            null(),
            g,
            null(),
            0,
            none,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("KernelLaunchWithArgsExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (k, size, none) = (objects.kernel.handle(), 1usize, null_mut());
        let g = &raw const size;
        ur!(CommandBufferExp.pfnAppendKernelLaunchWithArgsExp(
            buffer,
            k,
            1,
            null(),
            g,
            null(),
            0,
            null(),
            0,
            none,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("USMMemcpyExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (to, from) = (objects.memory.pointer(), objects.memory.at(32));
        ur!(CommandBufferExp.pfnAppendUSMMemcpyExp(buffer, to, from, 8, n, points, m, events, point, event, null_mut()))
    }),
    ("USMFillExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let to = objects.memory.pointer();
        ur!(CommandBufferExp.pfnAppendUSMFillExp(
            buffer,
            to,
            unit(),
            4,
            8,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferCopyExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (from, to) = (objects.one.handle(), objects.two.handle());
        ur!(CommandBufferExp.pfnAppendMemBufferCopyExp(
            buffer,
            from,
            to,
            0,
            0,
            8,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferWriteExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let to = objects.one.handle();
        ur!(CommandBufferExp.pfnAppendMemBufferWriteExp(
            buffer,
            to,
            0,
            8,
            unit(),
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferReadExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (from, to) = (objects.one.handle(), objects.memory.pointer());
        ur!(CommandBufferExp.pfnAppendMemBufferReadExp(
            buffer,
            from,
            0,
            8,
            to,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferCopyRectExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (from, to) = (objects.one.handle(), objects.two.handle());
        ur!(CommandBufferExp.pfnAppendMemBufferCopyRectExp(
            buffer,
            from,
            to,
            ORIGIN,
            ORIGIN,
            REGION,
            0,
            0,
            0,
            0,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferWriteRectExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (to, from) = (objects.one.handle(), unit().cast_mut());
        ur!(CommandBufferExp.pfnAppendMemBufferWriteRectExp(
            buffer,
            to,
            ORIGIN,
            ORIGIN,
            REGION,
            0,
            0,
            0,
            0,
            from,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferReadRectExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (from, to) = (objects.one.handle(), objects.memory.pointer());
        ur!(CommandBufferExp.pfnAppendMemBufferReadRectExp(
            buffer,
            from,
            ORIGIN,
            ORIGIN,
            REGION,
            0,
            0,
            0,
            0,
            to,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("MemBufferFillExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let to = objects.one.handle();
        ur!(CommandBufferExp.pfnAppendMemBufferFillExp(
            buffer,
            to,
            unit(),
            4,
            0,
            8,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("USMPrefetchExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (to, flags) = (objects.memory.pointer(), Migration::HOST_TO_DEVICE);
        ur!(CommandBufferExp.pfnAppendUSMPrefetchExp(
            buffer,
            to,
            64,
            flags,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
    ("USMAdviseExp", |objects, with| {
        let Common { buffer, points: (n, points), events: (m, events), point, event } = with;
        let (to, advice) = (objects.memory.pointer(), Advice::SET_READ_MOSTLY);
        ur!(CommandBufferExp.pfnAppendUSMAdviseExp(
            buffer,
            to,
            64,
            advice,
            n,
            points,
            m,
            events,
            point,
            event,
            null_mut()
        ))
    }),
];

fn functions() -> impl Iterator<Item = (&'static str, Append)> {
    FUNCTIONS.into_iter().filter(|(name, _)| has_function(&format!("urCommandBufferAppend{name}")))
}

fn objects(fixture: &Fixture) -> Objects<'_> {
    Objects {
        kernel: fixture.basic(c"empty"),
        memory: fixture.memory(Kind::Shared, 64),
        one: Buffer::new(fixture, 64),
        two: Buffer::new(fixture, 64),
        queue: fixture.in_order(),
    }
}

#[test]
fn every_append_function_refuses_wrong_handles_and_lists_and_appends_nothing() {
    let fixture = Fixture::new();
    let objects = objects(&fixture);
    let (buffer, other, done) =
        (CommandBuffer::new(&fixture), CommandBuffer::new(&fixture), CommandBuffer::new(&fixture));
    done.finalize();
    let foreign = [other.fill(objects.memory.pointer(), &[1u32], 4, &[])];
    let unknown = [SyncPoint::MAX];
    let strange: [ur_event_handle_t; 1] = [objects.queue.handle().cast()];
    let (mut point, mut event): (SyncPoint, ur_event_handle_t) = (SyncPoint::MAX, null_mut());
    let good = Common {
        buffer: buffer.handle(),
        points: (0, null()),
        events: (0, null()),
        point: &raw mut point,
        event: null_mut(),
    };
    let lists: &[Code] = &[Code::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP];
    let points: &[Code] = &[Code::ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP];
    let events: &[Code] = &[Code::ERROR_INVALID_EVENT_WAIT_LIST];
    let cases: [(&str, Common, &[Code]); 11] = [
        ("no buffer", Common { buffer: null_mut(), ..good }, &[Code::ERROR_INVALID_NULL_HANDLE]),
        (
            "a handle of another type",
            Common { buffer: objects.queue.handle().cast(), ..good },
            &[Code::ERROR_INVALID_COMMAND_BUFFER_EXP],
        ),
        ("a buffer that is finalised", Common { buffer: done.handle(), ..good }, &[Code::ERROR_INVALID_OPERATION]),
        ("sync points without a list", Common { points: (1, null()), ..good }, lists),
        ("a list without sync points", Common { points: (0, foreign.as_ptr()), ..good }, lists),
        ("another buffer's sync point", Common { points: (1, foreign.as_ptr()), ..good }, points),
        ("a sync point that is none", Common { points: (1, unknown.as_ptr()), ..good }, points),
        ("events without a list", Common { events: (1, null()), ..good }, events),
        ("a list without events", Common { events: (0, strange.as_ptr()), ..good }, events),
        (
            "an event that is none",
            Common { events: (1, strange.as_ptr()), ..good },
            &[Code::ERROR_INVALID_EVENT, Code::ERROR_UNSUPPORTED_FEATURE],
        ),
        ("nothing wrong", good, &[Code::SUCCESS]),
    ];
    for (what, with, codes) in cases {
        for (name, append) in functions() {
            let nodes = NativeGraph::of(&buffer).nodes().len();
            // SAFETY: a local of this function, named by the cases too.
            unsafe { with.point.write(SyncPoint::MAX) };
            expect_code(append(&objects, with), codes, &format!("urCommandBufferAppend{name} with {what}"));
            let appended = codes == [Code::SUCCESS];
            // SAFETY: as above.
            assert_eq!(unsafe { with.point.read() } != SyncPoint::MAX, appended, "{name} with {what}");
            assert_eq!(NativeGraph::of(&buffer).nodes().len() > nodes, appended, "{name} with {what}");
        }
    }
    assert!(event.is_null());
    // What the device does not support it says so, and appends nothing.
    if !device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP) {
        for (name, append) in functions() {
            let nodes = NativeGraph::of(&buffer).nodes().len();
            let with = Common { event: &raw mut event, ..good };
            let codes = [Code::ERROR_UNSUPPORTED_FEATURE];
            expect_code(append(&objects, with), &codes, &format!("urCommandBufferAppend{name} with an event"));
            assert_eq!(NativeGraph::of(&buffer).nodes().len(), nodes);
        }
        assert!(event.is_null());
    }
    buffer.run(&objects.queue);
}

#[test]
fn every_append_function_works_without_a_place_for_its_sync_point() {
    let fixture = Fixture::new();
    let objects = objects(&fixture);
    let buffer = CommandBuffer::in_order(&fixture);
    for (name, append) in functions() {
        let with = Common {
            buffer: buffer.handle(),
            points: (0, null()),
            events: (0, null()),
            point: null_mut(),
            event: null_mut(),
        };
        expect_code(append(&objects, with), &[Code::SUCCESS], &format!("urCommandBufferAppend{name}"));
    }
    buffer.run(&objects.queue);
}

#[test]
fn handles_live_as_long_as_their_last_reference() {
    let fixture = Fixture::new();
    let buffer = CommandBuffer::new(&fixture);
    let kernel = fixture.basic(c"empty");
    let launch = Launch::new(&kernel, &[1]);
    // An extra reference that goes first leaves the handle alive.
    ur_conformance::ok!(Kernel.pfnRetain(kernel.handle()));
    ur_conformance::ok!(Kernel.pfnRelease(kernel.handle()));
    buffer.launch(&launch, &[]);
    let queue = fixture.in_order();
    buffer.run(&queue);
    let handle = buffer.handle();
    ur_conformance::ok!(CommandBufferExp.pfnRetainExp(handle));
    assert_eq!(buffer.release(), Code::SUCCESS);
    let last = CommandBuffer::take(handle);
    last.on(&queue);
    queue.finish();
}
