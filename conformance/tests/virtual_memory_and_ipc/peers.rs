//! Processes that share a timeline with a test and do what it tells them, a line each.

use core::ffi::{c_int, c_ulong};
use core::fmt::Write as _;
use core::ptr::{null, null_mut};

use ur_conformance::child::{self, Piped};
use ur_conformance::ffi::{ur_event_info_t, ur_event_status_t as Status, ur_queue_info_t, ur_result_t as Code};
use ur_conformance::{Event, Fixture, Gate, Kind, Memory, Queue, Timeline, ask, extension, ok, query, ur};

/// So long a wait takes at most: far more than it needs, since only one that hangs gets there.
pub const PATIENCE: u64 = 30_000_000_000;
/// Why processes make the timeline fail.
pub const CAUSE: Code = Code::ERROR_INVALID_ARGUMENT;

const DATA: &str = "UR_TEST_IPC_TIMELINE";

#[cfg(target_os = "linux")]
unsafe extern "C" {
    safe fn prctl(option: c_int, argument: c_ulong) -> c_int;
}

/// Lets any process of the user at this one's descriptors where the system restricts that.
fn let_others() {
    const PR_SET_PTRACER: c_int = 0x5961_6d61;
    // Where nothing is restricted there is nothing to allow.
    let _ = prctl(PR_SET_PTRACER, c_ulong::MAX);
}

/// Whether loader and adapter share timelines.
pub fn are_there() -> bool {
    let are_there = extension::has("urIPCGetTimelineHandleExt");
    if !are_there {
        println!("skipped: the loader or the adapter shares no timelines");
    }
    are_there
}

/// A process that has the timeline.
pub struct Peer(Piped);

impl Peer {
    /// Has it do something, and gives its answer.
    #[track_caller]
    pub fn ask(&mut self, what: &str) -> String {
        self.0.ask(what)
    }

    /// Has it do something, whose answer [`Peer::answer`] gives.
    #[track_caller]
    pub fn tell(&mut self, what: &str) {
        self.0.tell(what);
    }

    /// Its next answer.
    #[track_caller]
    pub fn answer(&mut self) -> String {
        self.0.line()
    }

    /// Has it do something that must succeed.
    #[track_caller]
    pub fn done(&mut self, what: &str) {
        let answer = self.ask(what);
        assert_eq!(answer, told(Code::SUCCESS), "{what}");
    }

    /// Kills it.
    #[track_caller]
    pub fn kill(self) {
        self.0.kill();
    }

    /// Has it end as a program does.
    #[track_caller]
    pub fn end(self) {
        self.0.end();
    }
}

/// How a process tells a code.
pub fn told(code: Code) -> String {
    code.0.to_string()
}

/// Runs a test in this process, with a timeline at 0 and as many processes that have it too. Answers nothing in those.
#[track_caller]
pub fn with<const N: usize>(test: &str, here: impl FnOnce(&Fixture, Timeline, [Peer; N])) {
    if !are_there() {
        return;
    }
    let_others();
    let fixture = Fixture::new();
    if let Ok(data) = std::env::var(DATA) {
        return serve(&fixture, &from_text(&data));
    }
    let timeline = Timeline::shared(&fixture, 0);
    let (pointer, data) = timeline.share();
    let mut peers = Vec::new();
    for _ in 0..N {
        // Not in a closure, which would be the caller instead of the test.
        peers.push(child::piped(test, &[(DATA, to_text(&data))]));
    }
    peers.iter_mut().for_each(|peer| assert_eq!(peer.line(), "here"));
    let peers = peers.into_iter().map(Peer).collect::<Vec<_>>().try_into();
    ok!(TimelineExt.pfnIPCPutTimelineHandleExt(fixture.context(), pointer));
    here(&fixture, timeline, peers.unwrap_or_else(|_| panic!("as many as were started")));
}

fn to_text(data: &[u8]) -> String {
    data.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_text(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(digits).collect()
}

/// What a process does that a test has started.
fn serve(fixture: &Fixture, data: &[u8]) {
    let servant = Servant {
        timeline: Timeline::open(fixture, data),
        queue: fixture.in_order(),
        fixture,
        memory: fixture.memory(Kind::Device, 4),
        gate: Gate::new(fixture),
        later: Gate::new(fixture),
        point: None,
    };
    child::say("here");
    servant.obey();
}

struct Servant<'f> {
    fixture: &'f Fixture,
    memory: Memory<'f>,
    timeline: Timeline,
    queue: Queue,
    gate: Gate<'f>,
    /// One that stays closed.
    later: Gate<'f>,
    point: Option<Event>,
}

impl Servant<'_> {
    fn obey(mut self) {
        let mut lines = std::io::stdin().lines();
        while let Some(line) = lines.next() {
            let line = line.expect("what the test wants");
            let mut words = line.splitn(3, ' ');
            let what = words.next().unwrap_or_default();
            let value = words.next().map_or(0, |value| value.parse().expect("a value"));
            match what {
                // Without exit handlers: a native library's can wait for what runs.
                // SAFETY: no precondition.
                "exit" => unsafe { libc::_exit(0) },
                // Learns in a way of the API's that its signal of the value is reached, and is gone at once.
                "learn-and-exit" => {
                    self.learn(words.next().unwrap_or_default(), value);
                    // SAFETY: no precondition.
                    unsafe { libc::_exit(0) }
                }
                // The same of a signal that another thread makes, by the shared timeline or by one that is signalled with it.
                "learn-from-another-and-exit" => self.learn_from_another(value, &self.timeline),
                "learn-by-the-other-and-exit" => {
                    self.learn_from_another(value, &Timeline::at_zero(self.fixture));
                }
                "release" => {
                    drop(self.point.take());
                    assert_eq!(self.timeline.release(), Code::SUCCESS);
                    child::say("released");
                    return lines.for_each(drop);
                }
                _ => child::say(&self.answer(what, value)),
            }
        }
    }

    /// Signals a value and has it reached; knows so at the end, by `way`.
    fn learn(&mut self, way: &str, value: u64) {
        let (timeline, queue) = (&self.timeline, &self.queue);
        self.gate.block(queue);
        let event = queue.signal_after(timeline, value, &[]);
        if way == "event, with a signal behind it" {
            self.later.block(queue);
            queue.signal(timeline, value + 1);
        }
        self.gate.open();
        match way {
            "queue" => queue.finish(),
            "event" | "event, with a signal behind it" => event.wait(),
            "status" => while status(&event) != Status::COMPLETE {},
            "host" => assert_eq!(timeline.wait(value, u64::MAX), Code::SUCCESS),
            "watch" => assert_eq!(timeline.wait(value, PATIENCE), Code::SUCCESS),
            "value" => while timeline.value() < value {},
            "device" => ok!(DeviceExp.pfnWaitExp(self.fixture.device())),
            "empty" => while !is_empty(queue) {},
            "callback" => event.call_back().recv().expect("the function is called"),
            "blocking command" => self.memory.write(queue, &[1u32]),
            other => panic!("`{other}` is no way to know"),
        }
    }

    /// Has another thread signal a value, waits for it by `learned`, and ends this process while that thread is still inside the call,
    /// which submits what was kept behind the value.
    fn learn_from_another(&self, value: u64, learned: &Timeline) {
        let (queue, behind) = (&self.queue, self.fixture.in_order());
        let point = learned.event(value);
        behind.wait_for(learned, value);
        let (one, to) = (1u32, self.memory.pointer());
        ok!(Enqueue.pfnUSMFill(behind.handle(), to, 4, (&raw const one).cast(), 4, 0, null(), null_mut()));
        let mut timelines = vec![learned.handle(), self.timeline.handle()];
        timelines.dedup();
        let (list, values, count) = (timelines.as_ptr().expose_provenance(), [value; 2], timelines.len() as u32);
        let signal = || {
            let (list, values) = (core::ptr::with_exposed_provenance(list), values.as_ptr());
            ok!(TimelineExt.pfnEnqueueTimelineSignalExt(queue.handle(), count, list, values, 0, null(), null_mut()));
        };
        // Where native calls cannot be held, both do what they do at the same time.
        let fills = self.fixture.sim().map(|sim| sim.hold_calls("cuMemsetD32Async"));
        std::thread::scope(|scope| {
            let signalling = scope.spawn(signal);
            fills.iter().for_each(|fills| fills.wait_for_one(|| signalling.is_finished()));
            point.wait();
            // SAFETY: no precondition.
            unsafe { libc::_exit(0) }
        });
    }

    fn answer(&mut self, what: &str, value: u64) -> String {
        let (handle, queue) = (self.timeline.handle(), &self.queue);
        match what {
            "signal" => told(ur!(TimelineExt.pfnTimelineSignalExt(handle, value))),
            "fail" => told(ur!(TimelineExt.pfnTimelineFailExt(handle, CAUSE))),
            "wait" => told(self.timeline.wait(value, PATIENCE)),
            "value" => self.timeline.value().to_string(),
            "status" => told(self.timeline.status()),
            // A signal that is reached only once the gate is open.
            "submit" => {
                self.gate.block(queue);
                queue.signal(&self.timeline, value);
                told(Code::SUCCESS)
            }
            "open" => {
                self.gate.open();
                told(ur!(Queue.pfnFinish(queue.handle())))
            }
            // Something that waits for the value.
            "point" => {
                self.point = Some(self.timeline.event(value));
                told(Code::SUCCESS)
            }
            "keep" => {
                queue.wait_for(&self.timeline, value);
                queue.signal(&self.timeline, value + 1);
                told(Code::SUCCESS)
            }
            // A signal of every odd value behind a wait for the even one before it.
            "odd" => {
                for even in (2..=value).step_by(2) {
                    queue.wait_for(&self.timeline, even);
                    queue.signal(&self.timeline, even + 1);
                }
                told(ur!(Queue.pfnFinish(queue.handle())))
            }
            "fork" => fork_and_stay(),
            "share" => {
                let (_, data) = self.timeline.share();
                to_text(&data)
            }
            "files" => open_files().to_string(),
            other => panic!("`{other}` is nothing to do"),
        }
    }
}

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn is_empty(queue: &Queue) -> bool {
    query::get::<u8>(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY))) != 0
}

/// How many descriptors this process has.
pub fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Leaves a child of this process behind that does nothing until nobody reads its parent's output any more, or half a minute long.
fn fork_and_stay() -> String {
    // SAFETY: the child makes system calls alone.
    match unsafe { libc::fork() } {
        0 => loop {
            // SAFETY: no precondition.
            unsafe {
                libc::alarm(30);
                libc::pause();
            }
        },
        child => child.to_string(),
    }
}
