//! Runs the model's programs of command buffers: recorded once, changed and launched several times on one queue, between a
//! queue that fills the cells before and a queue that copies them afterwards, each behind the other by events alone.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::time::Instant;

use ur_conformance::command_buffer::{Command, SyncPoint, description};
use ur_conformance::ffi::{CBool, ur_event_handle_t, ur_queue_flags_t as Flags};
use ur_conformance::{
    Change, CommandBuffer, Event, Fixture, Kernel, Kind, Launch, Memory, Queue, expect_success, has_function, ur,
};
use ur_model::Content;
use ur_model::graphs::{MOST_ALLOCATED, MOST_CELLS, MOST_COMMANDS, MOST_WORDS, Plan, Work};

use super::{first_seed, mixed, number, say};

/// Launches of a program at most.
const LAUNCHES: usize = 4;
/// Bytes of a cell's place.
const CELL: usize = 4 * MOST_WORDS as usize;
/// Threads of a kernel.
const THREADS: usize = 16;
/// Words of the kernels' verdict: mismatches, command, place, found, expected.
const VERDICT: usize = 5;

/// What all programs use.
struct Place<'f> {
    kernel: Kernel,
    cells: Memory<'f>,
    results: Memory<'f>,
    notes: Memory<'f>,
    filling: Queue,
    running: [Queue; 2],
    copying: Queue,
    /// Whether commands of buffers can allocate memory.
    allocates: bool,
}

impl<'f> Place<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let program = fixture.program("pattern.ptx");
        Self {
            kernel: fixture.kernel(&program, c"check_and_write"),
            cells: fixture.memory(Kind::Device, MOST_CELLS * CELL),
            results: fixture.memory(Kind::Host, LAUNCHES * MOST_CELLS * CELL),
            notes: fixture.memory(Kind::Host, 4 * (VERDICT + MOST_COMMANDS)),
            filling: fixture.in_order(),
            running: [fixture.in_order(), fixture.queue(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE)],
            copying: fixture.in_order(),
            allocates: has_function("urCommandBufferAppendUSMDeviceAllocExt"),
        }
    }

    fn launch(&self, number: usize, work: Work, words: u32, at: *mut c_void) -> Option<Launch<'_>> {
        let Work::Kernel { is, becomes, .. } = work else { return None };
        let (pair, verdict) = (|content: Content| [content.base, content.step], self.notes.pointer());
        let launch = Launch::new(&self.kernel, &[THREADS]).local(&[THREADS]).pointer(at);
        let launch = launch.value(is.known).value(becomes.map_or(0, |_| words)).value(pair(is));
        let launch = launch.value(pair(becomes.unwrap_or_default())).pointer(verdict);
        Some(launch.pointer(self.notes.at(4 * VERDICT)).value(number as u32))
    }

    /// Records a program; the handles of its kernels.
    fn record(&self, buffer: &CommandBuffer, plan: &Plan) -> Vec<Option<Command>> {
        let (mut points, bytes): (Vec<SyncPoint>, _) = (Vec::new(), 4 * plan.words as usize);
        let mut handles = Vec::new();
        // What commands allocate lies behind these.
        let mut cells: Vec<_> = (0..plan.entry.len()).map(|cell| self.cells.at(cell * CELL)).collect();
        cells.resize(cells.len() + MOST_ALLOCATED, null_mut());
        for (number, command) in plan.commands.iter().enumerate() {
            let after: Vec<_> = command.after.iter().map(|&before| points[before]).collect();
            let (point, handle) = match command.work {
                Work::Fill { cell, value } => (buffer.fill(cells[cell], &[value], bytes, &after), None),
                Work::Copy { from, to } => (buffer.copy(cells[to], cells[from], bytes, &after), None),
                work @ Work::Kernel { cell, .. } => {
                    let launch = self.launch(number, work, plan.words, cells[cell]).expect("a kernel is launched");
                    let (point, handle) = buffer.command(&launch, &after);
                    (point, Some(handle))
                }
                Work::Allocate { cell } => {
                    let (memory, point) = buffer.allocate(None, bytes, &after);
                    cells[cell] = memory;
                    (point, None)
                }
                Work::Free { cell } => (buffer.free(cells[cell], &after), None),
            };
            points.push(point);
            handles.push(handle);
        }
        handles
    }

    /// Fills the cells, after what is given; the last fill's event.
    fn fill(&self, plan: &Plan, after: Option<&Event>) -> Event {
        let (bytes, mut last) = (4 * plan.words as usize, None);
        for (cell, value) in plan.entry.iter().enumerate() {
            let waits: Vec<ur_event_handle_t> = after.map(Event::handle).into_iter().collect();
            let (count, list) = ur_conformance::command_buffer::list(&waits);
            let (q, to, from) = (self.filling.handle(), self.cells.at(cell * CELL), core::ptr::from_ref(value).cast());
            last = Some(ur_conformance::owned::event_of(|event| {
                ur!(Enqueue.pfnUSMFill(q, to, 4, from, bytes, count, list, event))
            }));
        }
        last.expect("a program has a cell")
    }

    /// Copies the cells to a launch's results, after the launch; the last copy's event.
    fn copy(&self, plan: &Plan, launch: usize, after: &Event) -> Event {
        let (bytes, list, mut last) = (4 * plan.words as usize, [after.handle()], None);
        for cell in 0..plan.entry.len() {
            let (to, from) = (self.results.at((launch * MOST_CELLS + cell) * CELL), self.cells.at(cell * CELL));
            let q = self.copying.handle();
            last = Some(ur_conformance::owned::event_of(|event| {
                ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, bytes, 1, list.as_ptr(), event))
            }));
        }
        last.expect("a program has a cell")
    }

    /// What is wrong after all launches, by the kernels' own words and by what was copied.
    fn verdict(&self, plan: &Plan, exits: &[Vec<Content>]) -> Option<String> {
        if self.notes.load(0) != 0 {
            let [command, at, found, expected] = [1, 2, 3, 4].map(|word| self.notes.load(word));
            return Some(format!("kernel #{command} found {found:#x} at word {at}, not {expected:#x}"));
        }
        for (number, command) in plan.commands.iter().enumerate() {
            let ran = self.notes.load(VERDICT + number) != 0;
            if ran != matches!(command.work, Work::Kernel { .. }) {
                return Some(format!("kernel #{number} did not run"));
            }
        }
        for (launch, cells) in exits.iter().enumerate() {
            for (cell, content) in cells.iter().enumerate() {
                for word in 0..content.known {
                    let index = (launch * MOST_CELLS + cell) * CELL / 4 + word as usize;
                    let (found, expected) = (self.results.load(index), content.word(word));
                    if found != expected {
                        let what = format!("launch {launch} left {found:#x} in word {word} of cell {cell}");
                        return Some(format!("{what}, not {expected:#x}"));
                    }
                }
            }
        }
        None
    }

    /// Runs one program; what went wrong.
    fn run(&self, fixture: &Fixture, seed: u64) -> Result<usize, String> {
        let mut plan = Plan::new(seed, self.allocates);
        (0..VERDICT + MOST_COMMANDS).for_each(|word| self.notes.store(word, 0));
        let buffer = CommandBuffer::with(fixture, description(true, plan.in_order, false));
        let handles = self.record(&buffer, &plan);
        buffer.finalize();
        let (launches, queue) = (1 + plan.choose(LAUNCHES), &self.running[plan.choose(2)]);
        let (mut exits, mut last): (Vec<_>, Option<Event>) = (Vec::new(), None);
        for launch in 0..launches {
            if launch > 0 || plan.choose(3) == 0 {
                self.change(&buffer, &handles, &mut plan);
            }
            let filled = self.fill(&plan, last.as_ref());
            let launched = buffer.event_on(queue, &[&filled]);
            last = Some(self.copy(&plan, launch, &launched));
            exits.push(plan.exit.clone());
        }
        let last = last.expect("a program has a launch");
        last.wait();
        self.verdict(&plan, &exits).map_or(Ok(launches), |what| Err(format!("{what}\nat last it was {}", plan.text())))
    }

    /// Changes kernels by one call, or by one call each.
    fn change(&self, buffer: &CommandBuffer, handles: &[Option<Command>], plan: &mut Plan) {
        let pair = |content: Content| [content.base, content.step];
        let changed = plan.change();
        let changes: Vec<_> = changed
            .iter()
            .filter_map(|&number| {
                let Work::Kernel { is, becomes, .. } = plan.commands[number].work else { return None };
                let change = Change::of(handles[number].expect("a kernel has a handle"));
                Some(change.value(3, pair(is)).value(4, pair(becomes.unwrap_or_default())))
            })
            .collect();
        let at_once = if plan.choose(2) == 0 { changes.len() } else { 1 };
        for some in changes.chunks(at_once.max(1)) {
            expect_success(buffer.change(some), "urCommandBufferUpdateKernelLaunchExp");
        }
    }
}

/// Runs as many programs; fails with the first that goes wrong.
pub fn run(programs: u64) {
    super::set_surroundings();
    let fixture = Fixture::new();
    let place = Place::new(&fixture);
    let (first, start, mut launches) = (first_seed(), Instant::now(), 0);
    for index in 0..programs {
        let seed = if index == 0 { first } else { mixed(first.wrapping_add(index)) };
        match place.run(&fixture, seed) {
            Ok(more) => launches += more,
            Err(what) => {
                // What is on its way ends before its memory goes.
                for queue in [&place.filling, &place.copying, &place.running[0], &place.running[1]] {
                    queue.finish();
                }
                panic!("caught by program {}, command buffers: {what}again: UR_MODEL_SEED={seed:#x}", index + 1);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    say(&format!("model, command buffers: {programs} programs, {launches} launches in {seconds:.1} s"));
}

/// As many programs as the suite runs.
pub fn count() -> u64 {
    number("UR_MODEL_GRAPHS", 10_000)
}
