//! The child of a process that had opened the native library: every entry point answers it `UNINITIALIZED`, whatever locks
//! the parent's other threads held at the fork; it may exit and call `exec`.
#![cfg(unix)]
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use ur_conformance::ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_conformance::ffi::{ur_context_handle_t, ur_ext_timeline_wait_flags_t, ur_queue_handle_t, ur_result_t as Code};
use ur_conformance::{Fixture, Kind, Launch, Queue, adapter, has_function, last_error, loader, needs_ours, ok, ur};

/// Words that no entry point's parameters outnumber, structures passed by value included.
const ARGUMENTS: usize = 32;

macro_rules! any_function {
    ($($word:ident)*) => {
        type Any = unsafe extern "C" fn($(any_function!(@type $word)),*) -> Code;
        fn call(function: Any, handle: usize) -> Code {
            const { assert!([$(stringify!($word)),*].len() == ARGUMENTS) };
            // SAFETY: only in a process where the entry point refuses before it looks at an argument; for the loader's
            // exports each that could be the handle to dispatch by is one.
            unsafe { function($(any_function!(@value $word handle)),*) }
        }
    };
    (@type $word:ident) => { usize };
    (@value $word:ident $value:ident) => { $value };
}

any_function!(a b c d e f g h i j k l m n o p q r s t u v w x y z aa bb cc dd ee ff);

/// What the table has for a function.
fn slot(table: &AllFunctions, offset: usize) -> Option<Any> {
    let at = core::ptr::from_ref(table).wrapping_byte_add(offset).cast::<Option<Any>>();
    // SAFETY: offsets of `FUNCTIONS` are those of nullable function pointers in the table; see `call` for the type.
    unsafe { at.read() }
}

/// The adapter's own table.
fn adapters_table() -> &'static AllFunctions {
    ur_conformance::adapter_functions()
}

/// What was answered wrongly, a line each.
struct Wrong(String);

impl Wrong {
    fn expect(&mut self, whose: &str, name: &str, answer: Code) {
        if answer != Code::ERROR_UNINITIALIZED {
            self.0.push_str(&format!("{whose}'s {name} answers {answer:?}\n"));
        }
    }
}

/// Calls everything in the child, and says what did not answer `UNINITIALIZED`.
fn wrong_answers(context: ur_context_handle_t, queue: ur_queue_handle_t) -> String {
    let mut wrong = Wrong(String::new());
    // Calls that a program makes, before those that only a refusal outlives.
    let (mut event, mut count) = (null_mut(), 0);
    wrong.expect("the loader", "urEnqueueEventsWait", ur!(Enqueue.pfnEventsWait(queue, 0, null(), &raw mut event)));
    wrong.expect("the loader", "urQueueFinish", ur!(Queue.pfnFinish(queue)));
    wrong.expect("the loader", "urContextRetain", ur!(Context.pfnRetain(context)));
    wrong.expect("the loader", "urAdapterGet", ur!(Adapter.pfnGet(0, null_mut(), &raw mut count)));
    if !wrong.0.is_empty() {
        return wrong.0;
    }
    for function in FUNCTIONS {
        let Some(place) = &function.slot else { continue };
        let name = function.name;
        // Tells what was wrong; and what an exit handler may call whose program ends when it fails.
        if ["urAdapterGetLastError", "urAdapterRelease"].contains(&name) {
            continue;
        }
        if let Some(entry_point) = slot(adapters_table(), place.offset) {
            wrong.expect("the adapter", name, call(entry_point, queue.addr()));
        }
        let answer = match name {
            // These look for the handle in an array.
            "urContextCreate" => {
                let devices = [queue.cast()];
                ur!(Context.pfnCreate(1, devices.as_ptr(), null(), null_mut()))
            }
            "urEventWait" => {
                let events = [queue.cast()];
                ur!(Event.pfnWait(1, events.as_ptr()))
            }
            "urTimelineWaitExt" if has_function(name) => {
                let (timelines, flags) = ([queue.cast()], ur_ext_timeline_wait_flags_t::empty());
                ur!(TimelineExt.pfnTimelineWaitExt(1, timelines.as_ptr(), null(), flags, 0, null_mut()))
            }
            _ => match slot(&loader().table, place.offset) {
                Some(export) => call(export, queue.addr()),
                None => continue,
            },
        };
        wrong.expect("the loader", name, answer);
    }
    let released = ur!(Adapter.pfnRelease(adapter()));
    if released != Code::SUCCESS {
        wrong.0.push_str(&format!("urAdapterRelease answers {released:?}, which libsycl does not outlive\n"));
    }
    let message = last_error();
    if !message.contains("forked") {
        wrong.0.push_str(&format!("urAdapterGetLastError says `{message}`\n"));
    }
    wrong.0
}

/// How a child ends that found nothing wrong.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// By exit handlers and destructors, as `main` returns.
    Exit,
    /// At once.
    Quick,
    /// As another program.
    Exec,
}

/// The seconds after which a child that hangs is killed.
const PATIENCE: u32 = 20;

/// Forks; the child calls everything and ends so. Gives what it found wrong, or how it died.
fn in_child(fixture: &Fixture, queue: &Queue, ending: Ending) -> Result<(), String> {
    let mut pipe = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: the child allocates, which the C library allows behind its own fork handlers, writes to the pipe and ends; it
    // takes no lock of this program's.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no fork");
    if child == 0 {
        // SAFETY: no precondition.
        unsafe { libc::alarm(PATIENCE) };
        let wrong = wrong_answers(fixture.context(), queue.handle());
        // SAFETY: the text is alive, the names are NUL-terminated and the list ends with null.
        unsafe {
            libc::write(pipe[1], wrong.as_ptr().cast(), wrong.len());
            match ending {
                Ending::Exit => libc::exit(0),
                Ending::Quick => libc::_exit(0),
                Ending::Exec => {
                    libc::execl(c"/bin/sh".as_ptr(), c"sh".as_ptr(), c"-c".as_ptr(), c"exit 0".as_ptr(), null::<i8>());
                    libc::_exit(9)
                }
            }
        }
    }
    // SAFETY: this process's own descriptor; the other end then closes with the child.
    unsafe { libc::close(pipe[1]) };
    // SAFETY: owned by nobody else.
    let mut reader: std::fs::File = unsafe { std::os::fd::FromRawFd::from_raw_fd(pipe[0]) };
    let wrong = std::io::read_to_string(&mut reader).expect("the child's words");
    let mut status = 0;
    // SAFETY: the child is this process's, and the output a live local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
        return Err(format!("{ending:?}: the child ended with status {status:#x}\n{wrong}"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

#[test]
fn every_entry_point_answers_the_child_of_a_fork_that_it_is_uninitialised() {
    let fixture = Fixture::new();
    needs_ours!("answer the child of a fork, whatever it calls them with");
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    memory.write(&queue, &[1u32; 16]);
    for ending in [Ending::Quick, Ending::Exit, Ending::Exec] {
        in_child(&fixture, &queue, ending).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert_eq!(memory.read::<u32>(&queue, 16), [1; 16], "the parent goes on");
}

#[test]
fn the_child_of_a_fork_waits_for_no_lock_that_another_thread_held() {
    let fixture = Fixture::new();
    needs_ours!("answer the child of a fork, whatever it calls them with");
    let (shared, own) = (fixture.in_order(), fixture.out_of_order());
    let kernel = fixture.basic(c"empty");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (shared, own, kernel, done, fixture) = (&shared, &own, &kernel, &done, &fixture);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let queue = if number % 2 == 0 { shared } else { own };
                    drop(Launch::new(kernel, &[1]).event_on(queue));
                    drop(fixture.memory(Kind::Device, 64));
                    ok!(Queue.pfnFinish(queue.handle()));
                    drop(fixture.in_order());
                }
            });
        }
        let endings = [Ending::Exit, Ending::Quick, Ending::Exec].into_iter().cycle().take(30);
        let wrong: Vec<_> = endings.filter_map(|ending| in_child(&fixture, &shared, ending).err()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(wrong.is_empty(), "{}", wrong.concat());
    });
}
