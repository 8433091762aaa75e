//! Every function that is given a queue, on a queue whose commands wait for what nobody has signalled: each is deferred,
//! answers why it is not, or puts nothing on a queue. The list is the headers', so a function that is new there is asked for
//! here.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status, ur_map_flags_t, ur_mem_flags_t as MemFlags,
    ur_queue_flags_t as Flags, ur_queue_handle_t, ur_queue_info_t, ur_rect_offset_t, ur_rect_region_t,
    ur_result_t as Code, ur_usm_advice_flags_t, ur_usm_migration_flags_t,
};
use ur_conformance::pool::{self, Take};
use ur_conformance::{
    Buffer, CommandBuffer, Event, ExecutableGraph, Fixture, Graph, Image, Kernel, Kind, Launch, Memory, Queue, Shape,
    Timeline, ask, graph, has_function, last_error, ok, query, timeline, ur,
};

const HEADERS: [&str; 2] = [
    include_str!("../../../loader/include/unified-runtime/ur_api.h"),
    include_str!("../../../loader/include/unified-runtime/ur_ext.h"),
];

/// Functions whose second parameter or first is a queue, by the headers.
fn functions_of_queues() -> Vec<&'static str> {
    let declarations = HEADERS.into_iter().flat_map(|header| header.split("UR_APICALL ").skip(1));
    declarations
        .filter_map(|text| {
            let (name, rest) = text.split_once('(')?;
            let parameters = rest.split_once(");")?.0;
            (name.starts_with("ur") && parameters.contains("ur_queue_handle_t hQueue")).then_some(name)
        })
        .collect()
}

/// What commands are made of.
struct Things<'f> {
    fixture: &'f Fixture,
    words: Memory<'f>,
    shared: Memory<'f>,
    buffers: [Buffer; 2],
    images: [Image; 2],
    kernel: Kernel,
    commands: CommandBuffer,
    graph: Option<ExecutableGraph>,
    timeline: Timeline,
    block: *mut c_void,
}

extern "C" fn nothing(_: *mut c_void) {}

extern "C" fn nothing_native(_: ur_queue_handle_t, _: *mut c_void) {}

/// What became of a call.
enum Answer {
    /// That of a command, whose event is unresolved if it is success.
    Command(Code),
    /// The function puts nothing on a queue, and has answered as it should.
    NoCommand,
    /// Another test has it, which is named.
    Elsewhere(#[allow(dead_code, reason = "said for the reader")] &'static str),
}

/// Calls a function.
fn call(name: &str, things: &Things<'_>, queue: &Queue, out: *mut ur_event_handle_t) -> Answer {
    use Answer::{Command, Elsewhere, NoCommand};
    let (q, no, n, list) = (queue.handle(), CBool::FALSE, 0, null());
    let ([one, other], [image, copy]) =
        (things.buffers.each_ref().map(Buffer::handle), things.images.each_ref().map(Image::handle));
    let (here, word, memory) = (ur_rect_offset_t::default(), things.words.at(16), things.words.pointer());
    let (row, whole) = (ur_rect_region_t { width: 4, height: 1, depth: 1 }, things.images[0].whole());
    let (origin, region) = (whole.offset(), whole.region());
    let (timelines, values, reached) = ([things.timeline.handle()], [7u64], [0u64]);
    let mut pointer = null_mut();
    Command(match name {
        "urEnqueueKernelLaunch" => return Elsewhere("kernels::arguments_one_by_one"),
        "urEnqueueKernelLaunchWithArgsExp" => {
            let launch = Launch::new(&things.kernel, &[1]).buffer(&things.buffers[0], MemFlags::READ_WRITE);
            launch.value(1u32).value(1u32).enqueue(queue, out)
        }
        "urEnqueueEventsWait" => ur!(Enqueue.pfnEventsWait(q, n, list, out)),
        "urEnqueueEventsWaitWithBarrier" => ur!(Enqueue.pfnEventsWaitWithBarrier(q, n, list, out)),
        "urEnqueueEventsWaitWithBarrierExt" => ur!(Enqueue.pfnEventsWaitWithBarrierExt(q, null(), n, list, out)),
        "urEnqueueMemBufferRead" => ur!(Enqueue.pfnMemBufferRead(q, one, no, 0, 4, memory, n, list, out)),
        "urEnqueueMemBufferWrite" => ur!(Enqueue.pfnMemBufferWrite(q, one, no, 0, 4, memory, n, list, out)),
        "urEnqueueMemBufferReadRect" => {
            ur!(Enqueue.pfnMemBufferReadRect(q, one, no, here, here, row, 0, 0, 0, 0, memory, n, list, out))
        }
        "urEnqueueMemBufferWriteRect" => {
            ur!(Enqueue.pfnMemBufferWriteRect(q, one, no, here, here, row, 0, 0, 0, 0, memory, n, list, out))
        }
        "urEnqueueMemBufferCopy" => ur!(Enqueue.pfnMemBufferCopy(q, one, other, 0, 0, 4, n, list, out)),
        "urEnqueueMemBufferCopyRect" => {
            ur!(Enqueue.pfnMemBufferCopyRect(q, one, other, here, here, row, 0, 0, 0, 0, n, list, out))
        }
        "urEnqueueMemBufferFill" => ur!(Enqueue.pfnMemBufferFill(q, one, memory, 4, 0, 4, n, list, out)),
        "urEnqueueMemImageRead" => {
            ur!(Enqueue.pfnMemImageRead(q, image, no, origin, region, 0, 0, memory, n, list, out))
        }
        "urEnqueueMemImageWrite" => {
            ur!(Enqueue.pfnMemImageWrite(q, image, no, origin, region, 0, 0, memory, n, list, out))
        }
        "urEnqueueMemImageCopy" => ur!(Enqueue.pfnMemImageCopy(q, image, copy, origin, origin, region, n, list, out)),
        "urEnqueueMemBufferMap" => {
            let flags = ur_map_flags_t::READ;
            ur!(Enqueue.pfnMemBufferMap(q, one, no, flags, 0, 4, n, list, out, &raw mut pointer))
        }
        "urEnqueueMemUnmap" => {
            let flags = ur_map_flags_t::READ;
            ok!(Enqueue.pfnMemBufferMap(q, other, no, flags, 0, 4, n, list, null_mut(), &raw mut pointer));
            ur!(Enqueue.pfnMemUnmap(q, other, pointer, n, list, out))
        }
        "urEnqueueUSMFill" => ur!(Enqueue.pfnUSMFill(q, memory, 4, memory, 4, n, list, out)),
        "urEnqueueUSMMemcpy" => ur!(Enqueue.pfnUSMMemcpy(q, no, word, memory, 4, n, list, out)),
        "urEnqueueUSMPrefetch" => {
            let flags = ur_usm_migration_flags_t::empty();
            ur!(Enqueue.pfnUSMPrefetch(q, things.shared.pointer(), 64, flags, n, list, out))
        }
        "urEnqueueUSMAdvise" => {
            ur!(Enqueue.pfnUSMAdvise(q, things.shared.pointer(), 64, ur_usm_advice_flags_t::DEFAULT, out))
        }
        "urEnqueueUSMFill2D" => ur!(Enqueue.pfnUSMFill2D(q, memory, 8, 4, memory, 4, 1, n, list, out)),
        "urEnqueueUSMMemcpy2D" => ur!(Enqueue.pfnUSMMemcpy2D(q, no, word, 4, memory, 4, 4, 1, n, list, out)),
        "urEnqueueDeviceGlobalVariableWrite" | "urEnqueueDeviceGlobalVariableRead" => {
            return Elsewhere("programs::device_global");
        }
        "urEnqueueReadHostPipe" => {
            ur!(Enqueue.pfnReadHostPipe(q, null_mut(), null(), no, memory, 4, n, list, out))
        }
        "urEnqueueWriteHostPipe" => {
            ur!(Enqueue.pfnWriteHostPipe(q, null_mut(), null(), no, memory, 4, n, list, out))
        }
        "urEnqueueUSMDeviceAllocExp" => taken(things, queue, Kind::Device, out),
        "urEnqueueUSMSharedAllocExp" => taken(things, queue, Kind::Shared, out),
        "urEnqueueUSMHostAllocExp" => taken(things, queue, Kind::Host, out),
        "urEnqueueUSMFreeExp" => ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), things.block, n, list, out)),
        "urBindlessImagesImageCopyExp" => return Elsewhere("objects::unsupported"),
        "urBindlessImagesWaitExternalSemaphoreExp" | "urBindlessImagesSignalExternalSemaphoreExp" => {
            return Elsewhere("external::semaphore");
        }
        "urEnqueueCommandBufferExp" => things.commands.enqueue(queue, &[], out),
        "urEnqueueGraphExp" => match &things.graph {
            Some(graph) => graph.enqueue(queue, &[], out),
            None => return Elsewhere("where the library captures graphs"),
        },
        "urQueueBeginGraphCaptureExp" => ur!(QueueExp.pfnBeginGraphCaptureExp(q)),
        "urQueueBeginCaptureIntoGraphExp" => {
            if !graph::are_there(things.fixture) {
                return Elsewhere("where the library captures graphs");
            }
            let graph = Graph::empty(things.fixture);
            ur!(QueueExp.pfnBeginCaptureIntoGraphExp(q, graph.handle()))
        }
        "urQueueEndGraphCaptureExp" => ur!(QueueExp.pfnEndGraphCaptureExp(q, (&raw mut pointer).cast())),
        "urQueueIsGraphCaptureEnabledExp" => {
            let mut captures = no;
            ok!(QueueExp.pfnIsGraphCaptureEnabledExp(q, (&raw mut captures).cast()));
            assert!(!captures.get());
            return NoCommand;
        }
        "urQueueGetGraphExp" => ur!(QueueExp.pfnGetGraphExp(q, (&raw mut pointer).cast())),
        "urEnqueueHostTaskExp" => {
            ur!(EnqueueExp.pfnHostTaskExp(q, Some(nothing), null_mut(), null(), n, list, out))
        }
        "urEnqueueNativeCommandExp" => {
            let (memories, data) = ([one, image], null_mut());
            let memories = memories.as_ptr();
            ur!(EnqueueExp.pfnNativeCommandExp(q, Some(nothing_native), data, 2, memories, null(), n, list, out))
        }
        "urEnqueueTimestampRecordingExp" => ur!(EnqueueExp.pfnTimestampRecordingExp(q, no, n, list, out)),
        "urEnqueueTimelineWaitExt" => {
            ur!(TimelineExt.pfnEnqueueTimelineWaitExt(q, 1, timelines.as_ptr(), reached.as_ptr(), n, list, out))
        }
        "urEnqueueTimelineSignalExt" => {
            ur!(TimelineExt.pfnEnqueueTimelineSignalExt(q, 1, timelines.as_ptr(), values.as_ptr(), n, list, out))
        }
        "urKernelGetSuggestedLocalWorkSize" | "urKernelGetSuggestedLocalWorkSizeWithArgs" => {
            return Elsewhere("kernels::local_size, which puts nothing on the queue");
        }
        "urQueueGetInfo" => {
            assert_eq!(query::get::<u8>(ask!(Queue.pfnGetInfo(q, ur_queue_info_t::EMPTY))), 0);
            return NoCommand;
        }
        "urQueueGetNativeHandle" => {
            // What the application puts there comes before what is deferred.
            let mut native = 0;
            ok!(Queue.pfnGetNativeHandle(q, null_mut(), &raw mut native));
            return NoCommand;
        }
        "urQueueFlush" => {
            ok!(Queue.pfnFlush(q));
            return NoCommand;
        }
        "urQueueRetain" => {
            ok!(Queue.pfnRetain(q));
            ok!(Queue.pfnRelease(q));
            return NoCommand;
        }
        "urQueueRelease" => {
            return Elsewhere("timelines::urQueueRelease_and_urContextRelease_with_kept_commands_end_nothing");
        }
        "urQueueFinish" => {
            return Elsewhere("noop: urEventWait_of_a_kept_command_s_event_and_urQueueFinish_wait_for_the_signal");
        }
        other => panic!("{other} is given a queue, and nobody says what becomes of it while the queue defers"),
    })
}

fn taken(things: &Things<'_>, queue: &Queue, kind: Kind, out: *mut ur_event_handle_t) -> Code {
    if !pool::kinds(queue).contains(&kind) {
        return ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), out));
    }
    let mut pointer = null_mut();
    let answer = Take::new(64).kind(kind).enqueue(queue, &raw mut pointer, out);
    assert!(answer != Code::SUCCESS || things.block != pointer);
    if answer == Code::SUCCESS {
        pool::give(queue, pointer);
    }
    answer
}

/// Commands that cannot be deferred; all of them say why.
const REFUSED: [&str; 7] = [
    "urEnqueueReadHostPipe",
    "urEnqueueWriteHostPipe",
    "urQueueBeginGraphCaptureExp",
    "urQueueBeginCaptureIntoGraphExp",
    "urQueueEndGraphCaptureExp",
    "urQueueGetGraphExp",
    "urBindlessImagesImageCopyExp",
];

#[test]
fn every_function_of_a_queue_that_defers_is_deferred_or_says_why_not() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let names = functions_of_queues();
    assert!(names.len() > 50, "the headers are read wrongly: {names:?}");
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let kernel = fixture.basic(c"add_constant");
        let commands = CommandBuffer::updatable(&fixture);
        let buffers = [(); 2].map(|()| Buffer::new(&fixture, 64));
        buffers.iter().for_each(|buffer| buffer.write(&queue, &[0u32; 16]));
        commands.fill_buffer(&buffers[0], &[1u32], 0, 64, &[]);
        commands.finalize();
        let words = fixture.memory(Kind::Host, 4096);
        let graph = graph::are_there(&fixture).then(|| {
            let (to, from) = (words.at(64), words.pointer());
            let copy = || ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4, 0, null(), null_mut()));
            Graph::captured(&queue, copy).instantiate()
        });
        let things = Things {
            fixture: &fixture,
            words,
            shared: fixture.memory(Kind::Shared, 4096),
            buffers,
            images: [(); 2].map(|()| Image::new(&fixture, Shape::word(&[4, 4]))),
            kernel,
            commands,
            graph,
            timeline: Timeline::at_zero(&fixture),
            block: Take::new(64).on(&queue),
        };
        queue.wait_for(&timeline, 1);
        let mut events = Vec::new();
        for name in names.iter().filter(|name| has_function(name)) {
            if ["urQueueCreate", "urQueueCreateWithNativeHandle"].contains(name) {
                continue;
            }
            let mut event = null_mut();
            let Answer::Command(answer) = call(name, &things, &queue, &raw mut event) else { continue };
            if REFUSED.contains(name) {
                assert!(answer != Code::SUCCESS && event.is_null(), "{name} answers {answer:?}");
                continue;
            }
            assert_eq!(answer, Code::SUCCESS, "{name}: {}", last_error());
            let event = Event::take(event);
            let status = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
            assert_eq!(Status(status), Status::QUEUED, "{name}");
            events.push(event);
        }
        timeline.signal(1);
        events.iter().for_each(Event::wait);
        queue.finish();
        assert_eq!(things.timeline.value(), 7);
    }
}

/// The engine looks for the block on the queue's own stream first, then elsewhere: the queue may begin to defer in between.
#[test]
fn urEnqueueUSMFreeExp_of_another_queue_s_block_is_never_refused_while_a_thread_makes_the_queue_defer() {
    const BLOCKS: usize = 3000;
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (maker, queue, timeline) = (fixture.in_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1.. {
                queue.wait_for(&timeline, value);
                timeline.signal(value);
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let answers: Vec<Code> = (0..BLOCKS)
            .map(|_| {
                let block = Take::new(4096).on(&maker);
                maker.finish();
                pool::free(&queue, block)
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(answers.iter().find(|&&answer| answer != Code::SUCCESS), None, "{}", last_error());
    });
    queue.finish();
}
