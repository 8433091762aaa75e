//! Programs of command buffers: a random graph of fills, copies and kernels over a few cells of memory, what lies in each
//! cell before and after each command, and changes of the kernels with what follows from them.
//!
//! Commands that touch a cell are ordered: what is not ordered yet by a path gets the sync points that are missing, from the
//! newest on, so few sync points are there for nothing, and a launch without one of them can go wrong. The commands'
//! numbers are an order that keeps all of theirs, so contents follow from running them one by one in memory.
//!
//! Must not know how an adapter orders anything; the suite runs the plans (`conformance/tests/model/runner/graphs.rs`).

use crate::state::Content;
use crate::threads::random::Random;

/// The most cells of a program.
pub const MOST_CELLS: usize = 6;
/// The most words of a cell.
pub const MOST_WORDS: u32 = 64;
/// The most commands of a program.
pub const MOST_COMMANDS: usize = 24;

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
}

impl Work {
    fn reads(&self) -> Option<usize> {
        match *self {
            Self::Fill { .. } => None,
            Self::Copy { from, .. } => Some(from),
            Self::Kernel { cell, .. } => Some(cell),
        }
    }

    fn writes(&self) -> Option<usize> {
        match *self {
            Self::Fill { cell, .. } => Some(cell),
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

impl Plan {
    /// The program of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
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
        let (mut paths, mut last_write, mut reads) = (Paths::default(), vec![None; cells], vec![Vec::new(); cells]);
        for number in 0..1 + plan.random.below(MOST_COMMANDS) {
            let work = plan.work(cells);
            let mut needed: Vec<usize> = work.reads().and_then(|cell| last_write[cell]).into_iter().collect();
            if let Some(cell) = work.writes() {
                needed.extend(last_write[cell]);
                needed.extend(&reads[cell]);
            }
            let mut after = if plan.in_order { Vec::new() } else { paths.missing(needed) };
            if number > 0 && plan.random.chance(10) {
                after.push(plan.random.below(number));
            }
            paths.add(&after);
            if let Some(cell) = work.reads() {
                reads[cell].push(number);
            }
            if let Some(cell) = work.writes() {
                last_write[cell] = Some(number);
                reads[cell].clear();
            }
            plan.commands.push(Command { work, after });
        }
        plan.run();
        plan
    }

    fn content(&mut self) -> Content {
        Content { known: self.words, base: self.random.word(), step: self.random.word() }
    }

    fn work(&mut self, cells: usize) -> Work {
        let cell = self.random.below(cells);
        match self.random.below(10) {
            0 | 1 => Work::Fill { cell, value: self.random.word() },
            2 | 3 if cells > 1 => Work::Copy { from: (cell + 1 + self.random.below(cells - 1)) % cells, to: cell },
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
        for command in &mut self.commands {
            match &mut command.work {
                Work::Fill { cell, value } => cells[*cell] = Content { known, base: *value, step: 0 },
                Work::Copy { from, to } => cells[*to] = cells[*from],
                Work::Kernel { cell, is, becomes } => {
                    *is = cells[*cell];
                    cells[*cell] = becomes.unwrap_or(*is);
                }
            }
        }
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
            let plan = Plan::new(seed);
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
    fn a_change_tells_every_kernel_whose_arguments_differ() {
        for seed in 0..500 {
            let mut plan = Plan::new(seed);
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
