//! Copies out of the process's own memory, which native libraries copy at the call: behind a graph they are of what it has
//! written there.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_queue_flags_t as Flags, ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code,
};
use ur_conformance::graph::{self, ExecutableGraph};
use ur_conformance::memory::Kind;
use ur_conformance::{
    Buffer, CommandBuffer, Event, Fixture, Gate, Graph, Memory, Queue, Timeline, child, expect_success, needs_sim, ok,
    ur,
};

const BYTES: usize = 64;
const NEW: [u8; BYTES] = [7; BYTES];
const FROM_START: ur_rect_offset_t = ur_rect_offset_t { x: 0, y: 0, z: 0 };
const ROWS: ur_rect_region_t = ur_rect_region_t { width: 16, height: BYTES as u64 / 16, depth: 1 };

/// What graphs copy from.
struct Source<'f> {
    fixture: &'f Fixture,
    memory: Memory<'f>,
    buffer: Buffer,
}

impl<'f> Source<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let (memory, buffer) = (fixture.memory(Kind::Device, BYTES), Buffer::new(fixture, BYTES));
        let queue = fixture.in_order();
        memory.write(&queue, &NEW);
        buffer.write(&queue, &NEW);
        Self { fixture, memory, buffer }
    }
}

/// What writes the process's memory when it is launched.
enum Writer {
    Commands(CommandBuffer),
    Graph(ExecutableGraph),
}

impl Writer {
    fn event_on(&self, queue: &Queue) -> Event {
        match self {
            Self::Commands(commands) => commands.event_on(queue, &[]),
            Self::Graph(graph) => graph.event_on(queue),
        }
    }
}

fn recorded(source: &Source<'_>, append: impl FnOnce(&CommandBuffer)) -> Writer {
    let commands = CommandBuffer::new(source.fixture);
    append(&commands);
    commands.finalize();
    Writer::Commands(commands)
}

fn captured(source: &Source<'_>, enqueue: impl FnOnce(&Queue) -> Code) -> Writer {
    let queue = source.fixture.in_order();
    let graph = Graph::captured(&queue, || expect_success(enqueue(&queue), "the captured copy"));
    Writer::Graph(graph.instantiate())
}

type Way = (&'static str, fn(&Source<'_>, *mut c_void) -> Writer);

const RECORDED: [Way; 3] = [
    ("urCommandBufferAppendUSMMemcpyExp", |source, to| {
        recorded(source, |commands| {
            commands.copy(to, source.memory.pointer(), BYTES, &[]);
        })
    }),
    ("urCommandBufferAppendMemBufferReadExp", |source, to| {
        recorded(source, |commands| {
            commands.read_buffer(&source.buffer, 0, BYTES, to, &[]);
        })
    }),
    ("urCommandBufferAppendMemBufferReadRectExp", |source, to| {
        recorded(source, |commands| {
            let (b, m, none, command) = (commands.handle(), source.buffer.handle(), null_mut(), null_mut());
            ok!(CommandBufferExp.pfnAppendMemBufferReadRectExp(
                b,
                m,
                FROM_START,
                FROM_START,
                ROWS,
                16,
                0,
                16,
                0,
                to,
                0,
                null(),
                0,
                null(),
                null_mut(),
                none,
                command
            ));
        })
    }),
];

const CAPTURED: [Way; 4] = [
    ("urEnqueueUSMMemcpy", |source, to| {
        captured(source, |queue| {
            let (q, from) = (queue.handle(), source.memory.pointer());
            ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, BYTES, 0, null(), null_mut()))
        })
    }),
    ("urEnqueueUSMMemcpy2D", |source, to| {
        captured(source, |queue| {
            let (q, from) = (queue.handle(), source.memory.pointer());
            ur!(Enqueue.pfnUSMMemcpy2D(q, CBool::FALSE, to, 16, from, 16, 16, BYTES / 16, 0, null(), null_mut()))
        })
    }),
    ("urEnqueueMemBufferRead", |source, to| {
        captured(source, |queue| {
            let (q, m) = (queue.handle(), source.buffer.handle());
            ur!(Enqueue.pfnMemBufferRead(q, m, CBool::FALSE, 0, BYTES, to, 0, null(), null_mut()))
        })
    }),
    ("urEnqueueMemBufferReadRect", |source, to| {
        captured(source, |queue| {
            let (q, m, no) = (queue.handle(), source.buffer.handle(), CBool::FALSE);
            ur!(Enqueue.pfnMemBufferReadRect(
                q,
                m,
                no,
                FROM_START,
                FROM_START,
                ROWS,
                16,
                0,
                16,
                0,
                to,
                0,
                null(),
                null_mut()
            ))
        })
    }),
];

/// Has each of the ways write the process's memory on another queue or the same one, and `copy` enqueue a copy from there
/// meanwhile; then `read` has to find what was written.
fn check(
    copy: impl Fn(&Queue, *mut c_void, ur_event_handle_t) -> Code,
    read: impl Fn(&Queue) -> Vec<u8>,
    fixture: &Fixture,
) {
    let source = Source::new(fixture);
    let captured = if graph::are_there(fixture) { &CAPTURED[..] } else { &[] };
    for (name, make) in RECORDED.iter().chain(captured) {
        for (flags, is_deferred) in
            [(Flags::empty(), false), (Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, false), (Flags::empty(), true)]
        {
            let (first, second) = (fixture.queue(flags), fixture.queue(flags));
            for queue in [&first, &second] {
                let mut memory = Box::new([1u8; BYTES]);
                let from = memory.as_mut_ptr().cast();
                let writer = make(&source, from);
                // CUDA has a launch that copies to such memory wait for what comes before it, so a closed gate would hold up this
                // thread; while work is held nothing waits.
                let held = fixture.sim().map(|sim| sim.hold());
                let timeline =
                    (is_deferred && ur_conformance::timeline::are_there()).then(|| Timeline::at_zero(fixture));
                if let Some(timeline) = &timeline {
                    first.wait_for(timeline, 1);
                }
                let written = writer.event_on(&first);
                expect_success(copy(queue, from, written.handle()), "the copy");
                if let Some(timeline) = &timeline {
                    timeline.signal(1);
                }
                drop(held);
                queue.finish();
                first.finish();
                let what =
                    format!("{name}, {flags:?}, deferred: {is_deferred}, same queue: {}", core::ptr::eq(queue, &first));
                assert_eq!(read(queue), NEW, "{what}");
            }
        }
    }
}

#[test]
fn urEnqueueUSMMemcpy_copies_what_the_graph_before_it_has_written() {
    child::in_time("urEnqueueUSMMemcpy_copies_what_the_graph_before_it_has_written", &[("", ""); 0], || {
        let fixture = Fixture::new();
        let to = fixture.memory(Kind::Device, BYTES);
        check(
            |queue, from, after| {
                let (q, list) = (queue.handle(), [after]);
                ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to.pointer(), from, BYTES, 1, list.as_ptr(), null_mut()))
            },
            |queue| to.read::<u8>(queue, BYTES),
            &fixture,
        );
    });
}

#[test]
fn urEnqueueMemBufferWrite_writes_what_the_graph_before_it_has_written() {
    child::in_time("urEnqueueMemBufferWrite_writes_what_the_graph_before_it_has_written", &[("", ""); 0], || {
        let fixture = Fixture::new();
        let to = Buffer::new(&fixture, BYTES);
        check(
            |queue, from, after| {
                let (q, list) = (queue.handle(), [after]);
                let (m, no) = (to.handle(), CBool::FALSE);
                ur!(Enqueue.pfnMemBufferWrite(q, m, no, 0, BYTES, from, 1, list.as_ptr(), null_mut()))
            },
            |queue| to.read::<u8>(queue),
            &fixture,
        );
    });
}

/// Only what a graph writes is waited for: other memory is copied at the call, as ever.
#[test]
fn urEnqueueUSMMemcpy_out_of_memory_that_no_graph_writes_is_not_kept() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let source = Source::new(&fixture);
    let mut memory = Box::new([1u8; 3 * BYTES]);
    let at = |part: usize| memory.as_mut_ptr().wrapping_add(part * BYTES).cast::<c_void>();
    let [before, written, behind] = [0, 1, 2].map(at);
    let writer = RECORDED[0].1(&source, written);
    let (queue, to) = (fixture.in_order(), fixture.memory(Kind::Device, BYTES));
    writer.event_on(&queue).wait();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for from in [before, behind] {
        let copy = || {
            ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to.pointer(), from, BYTES, 0, null(), null_mut()));
        };
        sim.expect_calls(&[("cuMemcpyAsync", 1)], copy);
    }
    gate.open();
    queue.finish();
}
