//! Programs of command buffers: a random graph of fills, copies and kernels over a few cells of memory, what lies in each
//! cell before and after each command, and changes of the kernels with what follows from them.
//!
//! Commands that touch a cell are ordered: what is not ordered yet by a path gets the sync points that are missing, from the
//! newest on, so few sync points are there for nothing, and a launch without one of them can go wrong. The commands'
//! numbers are an order that keeps all of theirs, so contents follow from running them one by one in memory. Some cells are
//! there for a part of each launch alone: a command allocates them, and another one frees them.
//!
//! Must not know how an adapter orders anything; the suite runs the plans (`conformance/tests/model/runner/graphs.rs`).

use crate::state::Content;
use crate::threads::random::Random;

/// The most cells of a program.
pub const MOST_CELLS: usize = 6;
/// The most cells that commands allocate, beside those.
pub const MOST_ALLOCATED: usize = 2;
/// The most words of a cell.
pub const MOST_WORDS: u32 = 64;
/// The most commands of a program.
pub const MOST_COMMANDS: usize = 24 + MOST_ALLOCATED;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Fills a cell with one word.
    Fill {
        /// The cell.
        cell: usize,
        /// The word.
        value: u32,
    },
    /// Copies a cell over another.
    Copy {
        /// The cell that is read.
        from: usize,
        /// The cell that is written.
        to: usize,
    },
    /// A kernel that checks a cell for what the model says and may overwrite it.
    Kernel {
        /// The cell.
        cell: usize,
        /// What the kernel has to find.
        is: Content,
        /// What it leaves.
        becomes: Option<Content>,
    },
    /// Allocates a cell, in which nothing lies yet.
    Allocate {
        /// The cell, behind those that a program begins with.
        cell: usize,
    },
    /// Frees a cell.
    Free {
        /// The cell.
        cell: usize,
    },
}

/// What is known of a cell that commands allocate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No command has allocated it.
    Missing,
    /// It is allocated, and nothing was written to it.
    Blank,
    /// Something was written to it.
    Written,
    /// It is freed.
    Gone,
}

impl Work {
    fn reads(&self) -> Option<usize> {
        match *self {
            Self::Fill { .. } | Self::Allocate { .. } | Self::Free { .. } => None,
            Self::Copy { from, .. } => Some(from),
            Self::Kernel { cell, .. } => Some(cell),
        }
    }

    fn writes(&self) -> Option<usize> {
        match *self {
            Self::Fill { cell, .. } | Self::Allocate { cell } | Self::Free { cell } => Some(cell),
            Self::Copy { to, .. } => Some(to),
            Self::Kernel { cell, becomes, .. } => becomes.map(|_| cell),
        }
    }
}

/// A command, and the commands that it names as those it comes after.
#[derive(Clone, Debug)]
pub struct Command {
    /// What it does.
    pub work: Work,
    /// Commands before it, by number.
    pub after: Vec<usize>,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Words of each cell.
    pub words: u32,
    /// What each cell is filled with before a launch.
    pub entry: Vec<u32>,
    /// Whether the commands run in their order without sync points.
    pub in_order: bool,
    /// The commands.
    pub commands: Vec<Command>,
    /// What lies in each cell after a launch.
    pub exit: Vec<Content>,
    random: Random,
}

/// The order of commands so far: for each what comes before it, itself among that.
#[derive(Default)]
struct Paths {
    through: Vec<u32>,
}

impl Paths {
    /// Of those that must come before, the ones that no other of them stands for.
    fn missing(&self, mut needed: Vec<usize>) -> Vec<usize> {
        needed.sort_unstable_by(|one, two| two.cmp(one));
        needed.dedup();
        let (mut chosen, mut before) = (Vec::new(), 0u32);
        for command in needed {
            if before & (1 << command) == 0 {
                before |= self.through[command];
                chosen.push(command);
            }
        }
        chosen
    }

    fn add(&mut self, after: &[usize]) {
        let before = after.iter().fold(0, |before, &command| before | self.through[command]);
        self.through.push(before | 1 << self.through.len());
    }
}

/// What the next command must come after, by the cells that it touches.
struct Order {
    paths: Paths,
    last_write: Vec<Option<usize>>,
    reads: Vec<Vec<usize>>,
}

impl Order {
    fn new(cells: usize) -> Self {
        Self { paths: Paths::default(), last_write: vec![None; cells], reads: vec![Vec::new(); cells] }
    }

    fn before(&self, work: &Work) -> Vec<usize> {
        let mut needed: Vec<usize> = work.reads().and_then(|cell| self.last_write[cell]).into_iter().collect();
        if let Some(cell) = work.writes() {
            needed.extend(self.last_write[cell]);
            needed.extend(&self.reads[cell]);
        }
        self.paths.missing(needed)
    }

    fn add(&mut self, number: usize, work: &Work, after: &[usize]) {
        self.paths.add(after);
        if let Some(cell) = work.reads() {
            self.reads[cell].push(number);
        }
        if let Some(cell) = work.writes() {
            self.last_write[cell] = Some(number);
            self.reads[cell].clear();
        }
    }
}

impl Plan {
    /// The program of a seed; whether its commands may allocate memory is the caller's to know.
    #[must_use]
    pub fn new(seed: u64, allocates: bool) -> Self {
        let mut random = Random::new(seed);
        let cells = 1 + random.below(MOST_CELLS);
        let mut plan = Self {
            words: 1 + u32::try_from(random.below(MOST_WORDS as usize)).unwrap_or(0),
            entry: (0..cells).map(|_| random.word()).collect(),
            in_order: random.chance(20),
            commands: Vec::new(),
            exit: Vec::new(),
            random,
        };
        let mut stages = vec![Stage::Written; cells];
        if allocates {
            let more = plan.random.below(MOST_ALLOCATED + 1);
            stages.resize(cells + more, Stage::Missing);
        }
        let mut order = Order::new(stages.len());
        for _ in 0..1 + plan.random.below(MOST_COMMANDS - MOST_ALLOCATED) {
            let work = plan.work(&mut stages);
            plan.append(work, &mut order);
        }
        for (cell, stage) in stages.iter().enumerate().skip(cells) {
            if matches!(stage, Stage::Blank | Stage::Written) {
                plan.append(Work::Free { cell }, &mut order);
            }
        }
        plan.run();
        plan
    }

    /// Adds a command behind all that it must come after.
    fn append(&mut self, work: Work, order: &mut Order) {
        let number = self.commands.len();
        let mut after = if self.in_order { Vec::new() } else { order.before(&work) };
        if number > 0 && self.random.chance(10) {
            after.push(self.random.below(number));
        }
        order.add(number, &work, &after);
        self.commands.push(Command { work, after });
    }

    fn content(&mut self) -> Content {
        Content { known: self.words, base: self.random.word(), step: self.random.word() }
    }

    fn work(&mut self, stages: &mut [Stage]) -> Work {
        let mut cell = self.random.below(stages.len());
        if stages[cell] == Stage::Gone {
            cell = 0;
        }
        match stages[cell] {
            Stage::Missing => {
                stages[cell] = Stage::Blank;
                return Work::Allocate { cell };
            }
            Stage::Blank => {
                stages[cell] = Stage::Written;
                return Work::Fill { cell, value: self.random.word() };
            }
            _ if cell >= self.entry.len() && self.random.chance(20) => {
                stages[cell] = Stage::Gone;
                return Work::Free { cell };
            }
            _ => {}
        }
        let others: Vec<_> =
            (0..stages.len()).filter(|&other| other != cell && stages[other] == Stage::Written).collect();
        match self.random.below(10) {
            0 | 1 => Work::Fill { cell, value: self.random.word() },
            2 | 3 if !others.is_empty() => Work::Copy { from: others[self.random.below(others.len())], to: cell },
            kind => {
                let becomes = if kind < 8 { Some(self.content()) } else { None };
                Work::Kernel { cell, is: Content::default(), becomes }
            }
        }
    }

    /// Runs the commands in memory: what each kernel finds, and what is left.
    fn run(&mut self) {
        let known = self.words;
        let mut cells: Vec<_> = self.entry.iter().map(|&base| Content { known, base, step: 0 }).collect();
        cells.resize(cells.len() + MOST_ALLOCATED, Content::default());
        for command in &mut self.commands {
            match &mut command.work {
                Work::Fill { cell, value } => cells[*cell] = Content { known, base: *value, step: 0 },
                Work::Copy { from, to } => cells[*to] = cells[*from],
                Work::Kernel { cell, is, becomes } => {
                    *is = cells[*cell];
                    cells[*cell] = becomes.unwrap_or(*is);
                }
                Work::Allocate { .. } | Work::Free { .. } => {}
            }
        }
        cells.truncate(self.entry.len());
        self.exit = cells;
    }

    /// Changes what some kernels leave, and what the cells hold before a launch; gives the kernels whose arguments differ.
    pub fn change(&mut self) -> Vec<usize> {
        let before: Vec<_> = self.commands.iter().map(|command| command.work).collect();
        for cell in 0..self.entry.len() {
            if self.random.chance(30) {
                self.entry[cell] = self.random.word();
            }
        }
        for number in 0..self.commands.len() {
            let new = self.content();
            let is_changed = self.random.chance(40);
            if let Work::Kernel { becomes: Some(becomes), .. } = &mut self.commands[number].work
                && is_changed
            {
                *becomes = new;
            }
        }
        self.run();
        (0..before.len()).filter(|&number| self.commands[number].work != before[number]).collect()
    }

    /// A number for the suite's own choices.
    pub fn choose(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    /// The program as text, one command a line.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { words, entry, in_order, .. } = self;
        let mut text = format!("{words} words a cell, cells {entry:x?}{}\n", if *in_order { ", in order" } else { "" });
        for (number, Command { work, after }) in self.commands.iter().enumerate() {
            text += &format!("    #{number} after {after:?}: {work:x?}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_touch_a_cell_and_write_it_are_ordered_by_a_path() {
        for seed in 0..2000 {
            let plan = Plan::new(seed, seed % 2 == 0);
            if plan.in_order {
                continue;
            }
            let mut paths = Paths::default();
            for (number, command) in plan.commands.iter().enumerate() {
                paths.add(&command.after);
                for (earlier, other) in plan.commands[..number].iter().enumerate() {
                    let both = |one: Option<usize>, two: Option<usize>| one.is_some() && one == two;
                    let (new, old) = (&command.work, &other.work);
                    let clash = both(new.writes(), old.writes())
                        || both(new.writes(), old.reads())
                        || both(new.reads(), old.writes());
                    let ordered = paths.through[number] & (1 << earlier) != 0;
                    assert!(!clash || ordered, "seed {seed}: #{number} and #{earlier}\n{}", plan.text());
                }
            }
        }
    }

    #[test]
    fn what_a_command_allocates_is_written_before_it_is_read_and_freed_once() {
        let mut allocated = 0;
        for seed in 0..2000 {
            let plan = Plan::new(seed, true);
            assert!(plan.commands.len() <= MOST_COMMANDS);
            for cell in plan.entry.len()..plan.entry.len() + MOST_ALLOCATED {
                let touches = |work: &Work| work.reads() == Some(cell) || work.writes() == Some(cell);
                let works: Vec<_> = plan.commands.iter().map(|command| command.work).filter(touches).collect();
                let [Work::Allocate { .. }, between @ .., Work::Free { .. }] = &works[..] else {
                    assert!(works.is_empty(), "seed {seed}: {works:?}");
                    continue;
                };
                allocated += 1;
                assert!(between.first().is_none_or(|work| matches!(work, Work::Fill { .. })), "seed {seed}");
                let twice = between.iter().any(|work| matches!(work, Work::Allocate { .. } | Work::Free { .. }));
                assert!(!twice, "seed {seed}: {works:?}");
            }
        }
        assert!(allocated > 500, "only {allocated} allocations in 2000 programs");
    }

    #[test]
    fn a_change_tells_every_kernel_whose_arguments_differ() {
        for seed in 0..500 {
            let mut plan = Plan::new(seed, seed % 2 == 0);
            let before = plan.clone();
            let changed = plan.change();
            for number in 0..plan.commands.len() {
                let differs = plan.commands[number].work != before.commands[number].work;
                assert_eq!(changed.contains(&number), differs, "seed {seed}: #{number}");
                let is_kernel = matches!(plan.commands[number].work, Work::Kernel { .. });
                assert!(is_kernel || !differs, "only kernels can be changed");
            }
        }
    }
}
