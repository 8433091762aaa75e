//! Runs the model's programs of timelines: steps are enqueued in the plan's order, kernels check what they find, and what
//! each step, timeline and queue answers in the end is compared. Nothing is waited for without a limit, so that a program
//! that stands still is told of.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::time::{Duration, Instant};

use ur_conformance::command_buffer::list;
use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status, ur_mem_flags_t as MemFlags,
    ur_queue_flags_t as Flags, ur_result_t as Code,
};
use ur_conformance::{Buffer, Event, Fixture, Kernel, Kind, Launch, Memory, Queue, Timeline, last_error, timeline, ur};
use ur_model::timelines::{
    CELLS, MOST_STEPS, Plan, Point, QUEUES, Step, TIMELINES, WORDS, Work, is_buffer, is_in_order, is_on_first_device,
};

use super::{first_seed, mixed, number, say};

type Outcome<T = ()> = Result<T, String>;

/// Bytes of a cell.
const CELL: usize = 4 * WORDS as usize;
/// Threads of a kernel.
const THREADS: usize = 8;
/// Words of the kernels' verdict: mismatches, step, place, found, expected.
const VERDICT: usize = 5;
/// What a timeline fails with.
const CAUSE: Code = Code::ERROR_INVALID_ARGUMENT;

fn expect(answer: Code, expected: Code, what: &str) -> Outcome {
    if answer == expected {
        return Ok(());
    }
    Err(format!("{what} answers {answer:?}, not {expected:?} ({})", last_error()))
}

/// The event of an enqueue that must succeed.
fn event_of(what: &str, enqueue: impl FnOnce(*mut ur_event_handle_t) -> Code) -> Outcome<Event> {
    let mut event = null_mut();
    expect(enqueue(&raw mut event), Code::SUCCESS, what)?;
    Ok(Event::take(event))
}

fn status(event: &Event) -> Outcome<Status> {
    let mut status = 0u32;
    let (property, out) = (ur_event_info_t::COMMAND_EXECUTION_STATUS, (&raw mut status).cast());
    expect(ur!(Event.pfnGetInfo(event.handle(), property, 4, out, null_mut())), Code::SUCCESS, "urEventGetInfo")?;
    Ok(Status(status))
}

/// What all programs use.
struct Place<'f> {
    kernel: Kernel,
    cells: Memory<'f>,
    notes: Memory<'f>,
    queues: Vec<Queue>,
    patience: Duration,
}

/// What a program uses.
struct Program<'p> {
    place: &'p Place<'p>,
    plan: &'p Plan,
    timelines: [Timeline; TIMELINES],
    /// The cells that are buffers.
    buffers: Vec<Option<Buffer>>,
    /// The last event of each step of a queue.
    events: Vec<Option<Event>>,
}

impl<'f> Place<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let program = fixture.program("pattern.ptx");
        let queue = |queue| {
            let other = usize::from(!is_on_first_device(queue)).min(fixture.devices.len() - 1);
            let flags = if is_in_order(queue) { Flags::empty() } else { Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE };
            fixture.queue_in(fixture.context(), fixture.devices[other], flags)
        };
        Self {
            kernel: fixture.kernel(&program, c"check_and_write"),
            cells: fixture.memory(Kind::Host, CELLS * CELL),
            notes: fixture.memory(Kind::Host, 4 * (VERDICT + MOST_STEPS)),
            queues: (0..QUEUES).map(queue).collect(),
            patience: Duration::from_secs(number("UR_MODEL_PATIENCE", 20)),
        }
    }

    fn ran(&self, step: usize) -> bool {
        self.notes.load(VERDICT + step) != 0
    }

    fn cell(&self, cell: usize) -> *mut c_void {
        self.cells.at(cell * CELL)
    }

    fn verdict(&self) -> Outcome {
        if self.notes.load(0) == 0 {
            return Ok(());
        }
        let [step, at, found, expected] = [1, 2, 3, 4].map(|word| self.notes.load(word));
        Err(format!("the kernel of step #{step} found {found:#x} at word {at}, not {expected:#x}"))
    }

    /// Runs one program; what went wrong.
    fn run(&self, fixture: &Fixture, seed: u64) -> Outcome<usize> {
        let plan = Plan::new(seed);
        (0..VERDICT + MOST_STEPS).for_each(|word| self.notes.store(word, 0));
        let mut buffers = Vec::new();
        for (cell, content) in plan.entry.iter().enumerate() {
            buffers.push(is_buffer(cell).then(|| {
                let words: Vec<u32> = (0..WORDS).map(|word| content.word(word)).collect();
                let buffer = Buffer::new(fixture, CELL);
                buffer.write(&self.queues[seed as usize % QUEUES], &words);
                buffer
            }));
            (0..WORDS).for_each(|word| self.cells.store(cell * WORDS as usize + word as usize, content.word(word)));
        }
        let timelines = [(); TIMELINES].map(|()| Timeline::at_zero(fixture));
        let events = plan.steps.iter().map(|_| None).collect();
        let mut program = Program { place: self, plan: &plan, timelines, buffers, events };
        let outcome = program.take().and_then(|()| program.check());
        if outcome.is_err() {
            program.give_up();
        }
        outcome.map(|()| plan.steps.len())
    }
}

impl Program<'_> {
    fn take(&mut self) -> Outcome {
        let plan = self.plan;
        for &number in &plan.order {
            let step = &plan.steps[number];
            let taken = match step.queue {
                None => self.on_host(step),
                Some(queue) => self.enqueue(number, step, queue),
            };
            taken.map_err(|what| format!("step #{number}: {what}"))?;
        }
        Ok(())
    }

    fn on_host(&self, step: &Step) -> Outcome {
        self.reach(&step.points)?;
        self.place.verdict()?;
        let is_kernel = |number: &usize| matches!(self.plan.steps[*number].work, Work::Kernel { .. });
        let before = (0..self.plan.steps.len()).filter(|number| step.after & (1 << number) != 0);
        if let Some(missing) = before.filter(is_kernel).find(|number| !self.place.ran(*number)) {
            return Err(format!("the kernel of step #{missing} has not run, which the host has waited for"));
        }
        let Some(Point { timeline, value }) = step.signal else { return Ok(()) };
        let handle = self.timelines[timeline].handle();
        if step.fails {
            let answer = ur!(TimelineExt.pfnTimelineFailExt(handle, CAUSE));
            return expect(answer, Code::SUCCESS, "urTimelineFailExt");
        }
        expect(ur!(TimelineExt.pfnTimelineSignalExt(handle, value)), Code::SUCCESS, "urTimelineSignalExt")
    }

    /// Waits on the host for some values.
    fn reach(&self, points: &[Point]) -> Outcome {
        if points.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = points.iter().map(|point| (&self.timelines[point.timeline], point.value)).collect();
        let limit = u64::try_from(self.place.patience.as_nanos()).unwrap_or(u64::MAX);
        expect(timeline::wait(&wanted, false, limit).0, Code::SUCCESS, "urTimelineWaitExt")
    }

    fn enqueue(&mut self, number: usize, step: &Step, queue: usize) -> Outcome {
        let in_order = is_in_order(queue);
        let queue = &self.place.queues[queue];
        let points =
            if step.holds_queue { self.hold(queue, &step.points).map(|()| Vec::new()) } else { self.points(step) };
        let points = points?;
        let named = step.events.iter().filter_map(|&event| self.events[event].as_ref());
        let after: Vec<&Event> = points.iter().chain(named).collect();
        let done = self.work(number, step.work, queue, &after)?;
        let last = match step.signal {
            None => done,
            Some(point) => self.signal(queue, point, if in_order { &[] } else { core::slice::from_ref(&done) })?,
        };
        self.events[number] = Some(last);
        Ok(())
    }

    /// Has a queue wait for some values.
    fn hold(&self, queue: &Queue, points: &[Point]) -> Outcome {
        if points.is_empty() {
            return Ok(());
        }
        let handles: Vec<_> = points.iter().map(|point| self.timelines[point.timeline].handle()).collect();
        let values: Vec<_> = points.iter().map(|point| point.value).collect();
        let (count, handles) = (handles.len() as u32, handles.as_ptr());
        let (q, values, (none, list)) = (queue.handle(), values.as_ptr(), list(&[]));
        let answer = ur!(TimelineExt.pfnEnqueueTimelineWaitExt(q, count, handles, values, none, list, null_mut()));
        expect(answer, Code::SUCCESS, "urEnqueueTimelineWaitExt")
    }

    /// The events of a step's values.
    fn points(&self, step: &Step) -> Outcome<Vec<Event>> {
        let of = |point: &Point| {
            let handle = self.timelines[point.timeline].handle();
            let get = |event| ur!(TimelineExt.pfnTimelineGetEventExt(handle, point.value, event));
            event_of("urTimelineGetEventExt", get)
        };
        step.points.iter().map(of).collect()
    }

    fn work(&self, number: usize, work: Work, queue: &Queue, after: &[&Event]) -> Outcome<Event> {
        let place = self.place;
        match work {
            Work::Host => Err("a queue has no such work".to_owned()),
            Work::Kernel { cell, is, becomes } => {
                let next = becomes.unwrap_or_default();
                let launch = Launch::new(&place.kernel, &[THREADS]).local(&[THREADS]);
                let access = if becomes.is_some() { MemFlags::READ_WRITE } else { MemFlags::READ_ONLY };
                let launch = match &self.buffers[cell] {
                    Some(buffer) => launch.buffer(buffer, access),
                    None => launch.pointer(place.cell(cell)),
                };
                let launch = launch.value(is.known).value(next.known).value([is.base, is.step]);
                let launch = launch.value([next.base, next.step]).pointer(place.notes.pointer());
                let launch = launch.pointer(place.notes.at(4 * VERDICT)).value(number as u32).after(after);
                event_of("a launch", |event| launch.enqueue(queue, event))
            }
            Work::Copy { from, to } => {
                let waits: Vec<_> = after.iter().map(|event| event.handle()).collect();
                let (q, (count, list)) = (queue.handle(), list(&waits));
                let (into, of) = (place.cell(to), place.cell(from));
                let [from, to] = [from, to].map(|cell| self.buffers[cell].as_ref().map(Buffer::handle));
                let no = CBool::FALSE;
                let copy = |event| match (from, to) {
                    (None, None) => ur!(Enqueue.pfnUSMMemcpy(q, no, into, of, CELL, count, list, event)),
                    (Some(from), None) => ur!(Enqueue.pfnMemBufferRead(q, from, no, 0, CELL, into, count, list, event)),
                    (None, Some(to)) => ur!(Enqueue.pfnMemBufferWrite(q, to, no, 0, CELL, of, count, list, event)),
                    (Some(from), Some(to)) => {
                        ur!(Enqueue.pfnMemBufferCopy(q, from, to, 0, 0, CELL, count, list, event))
                    }
                };
                event_of("a copy", copy)
            }
        }
    }

    fn signal(&self, queue: &Queue, point: Point, after: &[Event]) -> Outcome<Event> {
        let waits: Vec<_> = after.iter().map(Event::handle).collect();
        let (timeline, (count, list)) = (self.timelines[point.timeline].handle(), list(&waits));
        let (q, timeline, value) = (queue.handle(), &raw const timeline, &raw const point.value);
        let signal = |event| ur!(TimelineExt.pfnEnqueueTimelineSignalExt(q, 1, timeline, value, count, list, event));
        event_of("urEnqueueTimelineSignalExt", signal)
    }

    /// What is wrong in the end.
    fn check(&self) -> Outcome {
        let plan = self.plan;
        let end = Instant::now() + self.place.patience;
        for (number, step) in plan.steps.iter().enumerate() {
            let Some(event) = &self.events[number] else { continue };
            self.ends(event, step.is_lost, end).map_err(|what| format!("step #{number}: {what}"))?;
            if matches!(step.work, Work::Kernel { .. }) && self.place.ran(number) == step.is_lost {
                return Err(format!("the kernel of step #{number} ran, or not, where it should: {}", !step.is_lost));
            }
        }
        self.place.verdict()?;
        for (number, timeline) in self.timelines.iter().enumerate() {
            let (value, failed) = (plan.values[number], plan.failed[number]);
            let expected = (value, if failed { CAUSE } else { Code::SUCCESS });
            let found = (timeline.value(), timeline.status());
            if found != expected {
                return Err(format!("timeline {number} has {found:?}, not {expected:?}"));
            }
        }
        for (number, queue) in self.place.queues.iter().enumerate() {
            let lost = plan.steps.iter().any(|step| step.is_lost && step.queue == Some(number));
            let expected = if lost { CAUSE } else { Code::SUCCESS };
            expect(ur!(Queue.pfnFinish(queue.handle())), expected, &format!("urQueueFinish of queue {number}"))?;
        }
        self.compare()
    }

    /// Waits until a step has ended, or failed if it has to.
    fn ends(&self, event: &Event, is_lost: bool, end: Instant) -> Outcome {
        let (last, answer) = if is_lost { (Status::ERROR, CAUSE) } else { (Status::COMPLETE, Code::SUCCESS) };
        loop {
            match status(event)? {
                found if found == last => break,
                found @ (Status::COMPLETE | Status::ERROR) => return Err(format!("{found:?}, not {last:?}")),
                found if Instant::now() > end => return Err(format!("it is {found:?} for ever, not {last:?}")),
                _ => std::thread::yield_now(),
            }
        }
        let list = [event.handle()];
        expect(ur!(Event.pfnWait(1, list.as_ptr())), answer, "urEventWait")
    }

    fn compare(&self) -> Outcome {
        for (cell, content) in self.plan.exit.iter().enumerate() {
            let read = |buffer: &Buffer| buffer.read::<u32>(&self.place.queues[0]);
            let words = self.buffers[cell].as_ref().map(read);
            for word in 0..content.known {
                let of_cell = || self.place.cells.load(cell * WORDS as usize + word as usize);
                let found = words.as_ref().map_or_else(of_cell, |words| words[word as usize]);
                if found != content.word(word) {
                    let expected = content.word(word);
                    return Err(format!("word {word} of cell {cell} is {found:#x} in the end, not {expected:#x}"));
                }
            }
        }
        Ok(())
    }

    /// Ends what is on its way, and what would wait for ever.
    fn give_up(&self) {
        for timeline in &self.timelines {
            // One may have failed already.
            let _ = ur!(TimelineExt.pfnTimelineFailExt(timeline.handle(), CAUSE));
        }
        for queue in &self.place.queues {
            // What failed has been told of.
            let _ = ur!(Queue.pfnFinish(queue.handle()));
            let _ = ur!(Queue.pfnFinish(queue.handle()));
        }
    }
}

/// Runs as many programs; fails with the first that goes wrong.
pub fn run(programs: u64) {
    super::set_surroundings();
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let place = Place::new(&fixture);
    let (first, start, mut steps) = (first_seed(), Instant::now(), 0);
    for index in 0..programs {
        let seed = if index == 0 { first } else { mixed(first.wrapping_add(index)) };
        match place.run(&fixture, seed) {
            Ok(more) => steps += more,
            Err(what) => {
                let plan = Plan::new(seed);
                let steps = plan.order.iter().map(|&number| format!("  #{number}: {}\n", plan.steps[number]));
                let steps = steps.collect::<String>();
                panic!("caught by program {}, timelines: {what}; again: UR_MODEL_SEED={seed:#x}\n{steps}", index + 1);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    say(&format!("model, timelines: {programs} programs, {steps} steps in {seconds:.1} s"));
}

/// As many programs as the suite runs.
pub fn count() -> u64 {
    number("UR_MODEL_TIMELINES", 4000)
}
