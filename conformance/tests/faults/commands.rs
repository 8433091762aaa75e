//! Every native call fails in turn: the caller gets a code that fits, nothing is left behind, what was current on the
//! thread still is, and the next attempt works. Where HIP runs over CUDA, the calls of both are failed. Needs the
//! simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::below::Below;
use ur_conformance::control::Control;
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{CBool, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t as Code};
use ur_conformance::memory::allocate;
use ur_conformance::sim::status;
use ur_conformance::{Context, Environment, Fixture, Kind, Launch, Queue, adapter, child, loader, ur};

pub(super) const WORDS: usize = 64;

/// Memory that is given back whatever happens. A failed free is tried once more, since the fault was one call's.
pub(super) struct Block {
    context: *mut ur_conformance::ffi::ur_context_handle_t_,
    pub(super) pointer: *mut c_void,
}

impl Drop for Block {
    fn drop(&mut self) {
        if ur!(USM.pfnFree(self.context, self.pointer)) != Code::SUCCESS {
            let _ = ur!(USM.pfnFree(self.context, self.pointer));
        }
    }
}

/// A stream-ordered block that is freed on its queue whatever happens.
struct Ordered<'q> {
    queue: &'q Queue,
    pointer: *mut c_void,
}

impl Drop for Ordered<'_> {
    fn drop(&mut self) {
        let free =
            || ur!(EnqueueExp.pfnUSMFreeExp(self.queue.handle(), null_mut(), self.pointer, 0, null(), null_mut()));
        if free() != Code::SUCCESS {
            let _ = free();
        }
    }
}

pub(super) fn make_block(kind: Kind, context: &Context, fixture: &Fixture) -> Attempt<Block> {
    let mut pointer = null_mut();
    let answer = allocate(kind, context.handle(), fixture.device(), null(), 4 * WORDS, &raw mut pointer);
    assert_eq!(pointer.is_null(), answer != Code::SUCCESS, "an allocation's output");
    tried("urUSMAlloc", answer, || Block { context: context.handle(), pointer })
}

extern "C" fn do_nothing(_: *mut c_void) {}

extern "C" fn add_nothing(_: ur_queue_handle_t, _: *mut c_void) {}

/// A little of everything, on two queues. Whatever fails ends it, and everything is given back.
fn scenario(fixture: &Fixture, image: &[u8], flags: Flags) -> Attempt<()> {
    let context = fixture.context_of(&fixture.devices[..1]);
    let out = make_block(Kind::Host, &context, fixture)?;
    let shared = make_block(Kind::Shared, &context, fixture)?;
    let device = make_block(Kind::Device, &context, fixture)?;
    let (first, second) =
        (make_queue(&context, fixture.device(), flags)?, make_queue(&context, fixture.device(), flags)?);
    let _finish = (Finish(&first), Finish(&second));
    let (_program, kernel) = make_kernel(&context, &fixture.devices[..1], image, c"iota")?;
    let (q1, q2) = (first.handle(), second.handle());

    let mut pointer = null_mut();
    let to = &raw mut pointer;
    let allocated = enqueue("urEnqueueUSMDeviceAllocExp", |event| {
        ur!(EnqueueExp.pfnUSMDeviceAllocExp(q1, null_mut(), 4 * WORDS, null(), 0, null(), to, event))
    })?;
    let block = Ordered { queue: &first, pointer };
    let _finish_before_free = (Finish(&first), Finish(&second));
    let launch = Launch::new(&kernel, &[WORDS]).pointer(pointer).value(WORDS as u32).after(&[&allocated]);
    let filled = enqueue("urEnqueueKernelLaunchWithArgsExp", |event| launch.enqueue(&first, event))?;
    let list = [filled.handle()];
    let copied = enqueue("urEnqueueUSMMemcpy", |event| {
        ur!(Enqueue.pfnUSMMemcpy(q2, CBool::FALSE, device.pointer, pointer, 4 * WORDS, 1, list.as_ptr(), event))
    })?;
    let list = [copied.handle()];
    let gathered = enqueue("urEnqueueEventsWaitWithBarrier", |event| {
        ur!(Enqueue.pfnEventsWaitWithBarrier(q1, 1, list.as_ptr(), event))
    })?;
    let list = [gathered.handle()];
    let stamped = enqueue("urEnqueueTimestampRecordingExp", |event| {
        ur!(EnqueueExp.pfnTimestampRecordingExp(q2, CBool::FALSE, 1, list.as_ptr(), event))
    })?;
    let list = [stamped.handle()];
    let added = enqueue("urEnqueueNativeCommandExp", |event| {
        let (data, none) = (null_mut(), null());
        ur!(EnqueueExp.pfnNativeCommandExp(q1, Some(add_nothing), data, 0, none, null(), 1, list.as_ptr(), event))
    })?;
    let list = [added.handle()];
    let done = enqueue("urEnqueueHostTaskExp", |event| {
        ur!(EnqueueExp.pfnHostTaskExp(q2, Some(do_nothing), null_mut(), null(), 1, list.as_ptr(), event))
    })?;
    let list = [done.handle()];
    let back = enqueue("urEnqueueUSMMemcpy", |event| {
        let (to, from) = (shared.pointer, device.pointer);
        ur!(Enqueue.pfnUSMMemcpy(q1, CBool::FALSE, to, from, 4 * WORDS, 1, list.as_ptr(), event))
    })?;
    let byte = 7u8;
    let list = [back.handle()];
    let cleared = enqueue("urEnqueueUSMFill", |event| {
        ur!(Enqueue.pfnUSMFill(q1, shared.pointer, 1, (&raw const byte).cast(), 4, 1, list.as_ptr(), event))
    })?;
    let list = [cleared.handle()];
    let answer = ur!(Enqueue.pfnUSMMemcpy(
        q2,
        CBool::TRUE,
        out.pointer,
        shared.pointer,
        4 * WORDS,
        1,
        list.as_ptr(),
        null_mut()
    ));
    tried("a blocking urEnqueueUSMMemcpy", answer, || ())?;
    tried("urEventWait", ur!(Event.pfnWait(1, list.as_ptr())), || ())?;
    // SAFETY: host memory of that many words, and the copy into it has finished.
    let words = unsafe { core::slice::from_raw_parts(out.pointer.cast::<u32>(), WORDS) };
    let right =
        words.iter().enumerate().all(|(index, &word)| word == if index == 0 { 0x0707_0707 } else { index as u32 });
    assert!(right, "every call succeeded and the result is wrong: {words:x?}");
    drop(block);
    tried("urQueueFinish", ur!(Queue.pfnFinish(q1)), || ())
}

fn sweep(flags: Flags, error: i32, returning: bool) {
    let mut fixture = Fixture::new();
    if fixture.sim().is_none() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let image = Environment::get().image("basic.ptx");
    let sweep = Sweep { error, returning, least: 10, may_also: |_, _| false };
    sweep.over(&mut fixture, |fixture| scenario(fixture, &image, flags));
}

#[test]
fn out_of_memory_in_any_native_call_of_an_in_order_queue_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::OUT_OF_MEMORY, false);
}

#[test]
fn an_unknown_failure_in_any_native_call_of_an_in_order_queue_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::UNKNOWN, false);
}

#[test]
fn a_lost_context_in_any_native_call_is_reported_as_a_lost_device() {
    sweep(Flags::empty(), status::ILLEGAL_ADDRESS, false);
}

#[test]
fn an_unknown_failure_in_any_native_call_of_an_out_of_order_queue_is_reported_and_leaves_nothing() {
    sweep(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, status::UNKNOWN, false);
}

#[test]
fn an_unknown_failure_in_any_native_call_of_a_profiling_queue_is_reported_and_leaves_nothing() {
    sweep(Flags::PROFILING_ENABLE, status::UNKNOWN, false);
}

#[test]
fn a_native_call_that_cannot_give_something_back_harms_nothing_else() {
    sweep(Flags::empty(), status::UNKNOWN, true);
}

/// An initialisation that failed once can be tried again, and says meanwhile what failed.
#[test]
fn a_failure_while_the_driver_is_opened_leaves_no_platform_and_the_next_call_tries_again() {
    let test = "a_failure_while_the_driver_is_opened_leaves_no_platform_and_the_next_call_tries_again";
    child::in_process::<&str>(test, &[], || {
        let Some(library) = Control::preloaded() else {
            println!("skipped: needs a library that fails on demand");
            return;
        };
        let opening = Below::the_adapter().opening;
        opening.iter().for_each(|&(name, nth, error)| library.fail(name, nth, error));
        let mut messages = Vec::new();
        while messages.len() <= opening.len() {
            let platforms = loader().platforms(adapter()).expect("a failing driver is no error of the program");
            if !platforms.is_empty() {
                break;
            }
            messages.push(ur_conformance::last_error());
        }
        drop(Fixture::new());
        assert_eq!(messages.len(), opening.len(), "each fault stops one attempt: {messages:#?}");
        let all = messages.join("\n");
        for name in opening.iter().map(|(name, ..)| name.trim_end_matches("_v2")) {
            let named = [":", " answered"].iter().any(|after| all.contains(&format!("{name}{after}")));
            assert!(named, "{name} is not named: {all}");
        }
    });
}
