//! Which command of a program happens before which, by queues, wait lists and what the host has waited for.

use ur_conformance::Event;

/// Commands of a program at most.
pub const MOST_COMMANDS: usize = 128;

/// Commands, a bit each.
pub type Set = u128;

struct Queue {
    in_order: bool,
    all: Set,
    floor: Set,
}

struct Command {
    queue: usize,
    /// The command, and what happens before it.
    until: Set,
    event: Option<Event>,
    /// Its event stands for all of a released queue's work.
    is_kept: bool,
}

/// The commands of a program.
#[derive(Default)]
pub struct Order {
    queues: Vec<Queue>,
    commands: Vec<Command>,
    known: Set,
    /// Waits for values that nobody has signalled.
    closed: Set,
}

impl Order {
    pub fn add_queue(&mut self, in_order: bool) {
        self.queues.push(Queue { in_order, all: 0, floor: 0 });
    }

    pub fn is_in_order(&self, queue: usize) -> bool {
        self.queues[queue].in_order
    }

    pub fn has_room(&self) -> bool {
        // The end of a program may need some.
        self.commands.len() + 24 < MOST_COMMANDS
    }

    pub fn queue_of(&self, command: usize) -> usize {
        self.commands[command].queue
    }

    /// What happens before the next command of a queue without a wait list.
    pub fn before_next(&self, queue: usize) -> Set {
        let Queue { in_order, all, floor } = self.queues[queue];
        self.known | if in_order { all } else { floor }
    }

    pub fn all_of(&self, queue: usize) -> Set {
        self.queues[queue].all
    }

    pub fn until(&self, command: usize) -> Set {
        self.commands[command].until
    }

    pub fn event(&self, command: usize) -> Option<&Event> {
        self.commands[command].event.as_ref()
    }

    /// The commands whose events the program holds.
    pub fn with_events(&self) -> Vec<usize> {
        (0..self.commands.len()).filter(|&command| self.commands[command].event.is_some()).collect()
    }

    /// A command whose event says that another has finished.
    pub fn event_after(&self, command: usize) -> Option<usize> {
        self.with_events().into_iter().find(|&other| self.commands[other].until & 1 << command != 0)
    }

    /// Writes a command down that comes after these besides what its queue says; `barrier` keeps what comes later on its queue behind it.
    pub fn add(&mut self, queue: usize, after: Set, barrier: bool, event: Option<Event>) -> usize {
        let number = self.commands.len();
        let until = self.before_next(queue) | after | 1 << number;
        self.commands.push(Command { queue, until, event, is_kept: false });
        self.queues[queue].all |= until;
        if barrier {
            self.queues[queue].floor |= until;
        }
        number
    }

    /// The event, to be released.
    pub fn take_event(&mut self, command: usize) -> Option<Event> {
        let command = &mut self.commands[command];
        if command.is_kept { None } else { command.event.take() }
    }

    pub fn keep(&mut self, command: usize) {
        self.commands[command].is_kept = true;
    }

    /// The host has waited for these.
    pub fn learn(&mut self, finished: Set) {
        self.known |= finished;
    }

    pub fn is_known(&self, command: usize) -> bool {
        self.known & 1 << command != 0
    }

    pub fn close(&mut self, command: usize) {
        self.closed |= 1 << command;
    }

    pub fn open(&mut self) {
        self.closed = 0;
    }

    /// Whether one of them is behind a value that nobody has signalled.
    pub fn is_held(&self, commands: Set) -> bool {
        commands & self.closed != 0
    }

    pub fn is_anything_held(&self) -> bool {
        self.closed != 0
    }
}
