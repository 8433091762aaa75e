//! `urEnqueueHostTaskExp` where the adapter can start no thread: what was taken runs all the same, or once a thread can be had.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::null;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, OnceLock};

use ur_conformance::ffi::{ur_event_handle_t, ur_execution_info_t};
use ur_conformance::owned::event_of;
use ur_conformance::{Event, Fixture, Gate, Queue, child, has_function, ok, ur};

/// Whether the adapter's threads cannot be started.
static FAILS: AtomicBool = AtomicBool::new(false);

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Routine, *mut c_void) -> c_int;

/// Stands before the C library's function for every library of the process.
#[unsafe(no_mangle)]
extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine,
    data: *mut c_void,
) -> c_int {
    static NEXT: OnceLock<Create> = OnceLock::new();
    if FAILS.load(Ordering::SeqCst) && is_of_the_adapter(routine) {
        return libc::EAGAIN;
    }
    let next = NEXT.get_or_init(|| {
        // SAFETY: a C string; the C library has the function, with this signature.
        unsafe { core::mem::transmute(libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr())) }
    });
    // SAFETY: the caller's own arguments.
    unsafe { next(thread, attributes, routine, data) }
}

/// Whether a thread's code is the adapter's: the simulated driver below it has threads too.
fn is_of_the_adapter(routine: Routine) -> bool {
    // SAFETY: made of zeros it names nothing.
    let mut found: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: any address may be asked about.
    if unsafe { libc::dladdr(routine as *const c_void, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return false;
    }
    // SAFETY: the linker gives a C string that lives as long as the library.
    let path = unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy();
    path.contains("libur_adapter_")
}

/// As long as it lives the adapter can start no thread.
struct NoThreads;

impl NoThreads {
    fn begin() -> Self {
        FAILS.store(true, Ordering::SeqCst);
        Self
    }
}

impl Drop for NoThreads {
    fn drop(&mut self) {
        FAILS.store(false, Ordering::SeqCst);
    }
}

type Work = Box<dyn FnOnce() + Send>;

extern "C" fn run(data: *mut c_void) {
    // SAFETY: `enqueue` gave the work away for one call.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    work();
}

/// A host task that the adapter takes.
fn enqueue(queue: &Queue, work: impl FnOnce() + Send + 'static) -> Event {
    let work: Work = Box::new(work);
    let data = Box::into_raw(Box::new(work));
    event_of(|event| ur!(EnqueueExp.pfnHostTaskExp(queue.handle(), Some(run), data.cast(), null(), 0, null(), event)))
}

extern "C" fn tell(_: ur_event_handle_t, _: ur_execution_info_t, data: *mut c_void) {
    // SAFETY: the sender was given away for one call.
    let _ = unsafe { Box::from_raw(data.cast::<Sender<()>>()) }.send(());
}

fn callback(event: &Event) -> Receiver<()> {
    let (sender, calls) = channel::<()>();
    let (data, complete) = (Box::into_raw(Box::new(sender)).cast(), ur_execution_info_t::COMPLETE);
    ok!(Event.pfnSetCallback(event.handle(), complete, Some(tell), data));
    calls
}

/// How many threads of the process that name has.
fn threads(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the process's threads");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|found| found.trim_end() == name).count()
}

/// Has the adapter start what it starts once, and leaves two threads for tasks, both of which are free.
fn warm_up(queues: &[Queue; 3]) {
    let all = Arc::new(Barrier::new(3));
    let tasks = [0, 1].map(|at| {
        let all = Arc::clone(&all);
        enqueue(&queues[at], move || {
            all.wait();
        })
    });
    // While the tasks run, or nobody would have to watch for their ends.
    let calls = tasks.each_ref().map(callback);
    all.wait();
    calls.iter().for_each(|calls| calls.recv().expect("the callback is called"));
    while threads("ur-worker") != 2 {
        std::thread::yield_now();
    }
}

/// The fixture, three queues with a task each before, and two free threads.
fn prepared() -> Option<(Fixture, [Queue; 3])> {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    if !has_function("urEnqueueHostTaskExp") || fixture.sim().is_none() {
        println!("skipped: needs the simulated driver and host tasks");
        return None;
    }
    let queues = [(); 3].map(|()| fixture.in_order());
    warm_up(&queues);
    Some((fixture, queues))
}

#[test]
fn urEnqueueHostTaskExp_and_urEventSetCallback_keep_what_they_took_when_no_thread_can_be_started() {
    let test = "urEnqueueHostTaskExp_and_urEventSetCallback_keep_what_they_took_when_no_thread_can_be_started";
    child::in_time::<&str>(test, &[], || {
        let Some((fixture, queues)) = prepared() else { return };
        let no_threads = NoThreads::begin();
        let (mut gate, (sender, ran)) = (Gate::new(&fixture), channel());
        gate.block(&queues[0]);
        let copy = sender.clone();
        let first = enqueue(&queues[0], move || copy.send(1).expect("the test listens"));
        let second = enqueue(&queues[0], move || sender.send(2).expect("the test listens"));
        let calls = callback(&second);
        gate.open();
        assert!(ran.iter().eq([1, 2]));
        calls.recv().expect("the callback is called");
        first.wait();
        second.wait();
        queues[0].finish();
        drop(no_threads);
    });
}

#[test]
fn urEnqueueHostTaskExp_s_task_gets_the_thread_that_could_not_be_started_before() {
    let test = "urEnqueueHostTaskExp_s_task_gets_the_thread_that_could_not_be_started_before";
    child::in_time::<&str>(test, &[], || {
        let Some((fixture, queues)) = prepared() else { return };
        let no_threads = NoThreads::begin();
        let (mut gate, (sender, begun)) = (Gate::new(&fixture), channel());
        queues.iter().for_each(|queue| gate.block(queue));
        let all = Arc::new(Barrier::new(queues.len()));
        let tasks = queues.each_ref().map(|queue| {
            let (all, sender) = (Arc::clone(&all), sender.clone());
            enqueue(queue, move || {
                sender.send(()).expect("the test listens");
                all.wait();
            })
        });
        gate.open();
        // Two have the free threads; the third has none, and the two wait for it.
        (0..2).for_each(|_| begun.recv().expect("a task begins"));
        drop(no_threads);
        tasks.iter().for_each(Event::wait);
        queues.iter().for_each(Queue::finish);
    });
}
