//! Which command happens before which: by queues, wait lists, barriers, and what the host has waited for.
//!
//! Two relations are kept. What is *promised* decides whether a program is legal: on an in-order queue everything earlier,
//! on an out-of-order queue the wait list and barriers. What is *possible* decides which commands a closed gate may keep
//! from finishing: an out-of-order queue runs its commands on a few streams, so any later command of it may stand behind
//! the gate. A command that is not possibly behind the gate must finish while the gate is closed.

use crate::set::{CAPACITY, Set};

/// A command's number.
pub type Command = usize;
/// A queue's number.
pub type QueueId = usize;

#[derive(Clone, Debug)]
struct Place {
    queue: QueueId,
    after: Set,
    delayed: bool,
}

/// A queue.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Its device.
    pub device: usize,
    /// Whether it keeps the order.
    pub in_order: bool,
    /// Whether it has not been released.
    pub alive: bool,
    all: Set,
    floor: Set,
    delayed: bool,
}

/// All commands of a program and their order.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The queues, released ones too.
    pub queues: Vec<Queue>,
    commands: Vec<Place>,
    known: Set,
    gate: Option<Command>,
}

impl Order {
    /// A new queue.
    pub fn add_queue(&mut self, device: usize, in_order: bool) -> QueueId {
        let (all, floor) = (Set::default(), Set::default());
        self.queues.push(Queue { device, in_order, alive: true, all, floor, delayed: false });
        self.queues.len() - 1
    }

    /// Whether there is room for as many commands.
    #[must_use]
    pub fn has_room(&self, commands: usize) -> bool {
        self.commands.len() + commands <= CAPACITY
    }

    /// A command, after the commands that it waits for. A barrier holds up what follows on its queue; without a wait
    /// list it and a plain wait come after everything on the queue.
    pub fn add(&mut self, queue: QueueId, waits: &[Command], everything: bool, barrier: bool) -> Command {
        let command = self.commands.len();
        let mut after = self.queues[queue].floor;
        let mut delayed = self.queues[queue].delayed;
        for &wait in waits {
            after = after.or(&self.through(wait));
            delayed |= self.commands[wait].delayed;
        }
        if everything {
            let all = self.queues[queue].all;
            after = all.iter().fold(after, |after, earlier| after.or(&self.through(earlier)));
        }
        self.commands.push(Place { queue, after, delayed });
        let through = self.through(command);
        let queue = &mut self.queues[queue];
        queue.all.insert(command);
        queue.delayed |= delayed;
        if queue.in_order || barrier {
            queue.floor = queue.floor.or(&through);
        }
        command
    }

    /// A command that does not finish before [`Order::open`].
    pub fn close(&mut self, queue: QueueId, waits: &[Command]) -> Command {
        let command = self.add(queue, waits, false, false);
        self.commands[command].delayed = true;
        self.queues[queue].delayed = true;
        self.gate = Some(command);
        command
    }

    /// The gate is open: everything finishes.
    pub fn open(&mut self) {
        self.gate = None;
        self.commands.iter_mut().for_each(|command| command.delayed = false);
        self.queues.iter_mut().for_each(|queue| queue.delayed = false);
    }

    /// Whether a gate is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.gate.is_some()
    }

    /// The command and all that has finished when it has.
    #[must_use]
    pub fn through(&self, command: Command) -> Set {
        self.commands[command].after.or(&Set::of(command))
    }

    /// What is certainly done before the queue's next command begins, without any wait list.
    #[must_use]
    pub fn before_next(&self, queue: QueueId) -> Set {
        self.queues[queue].floor.or(&self.known)
    }

    /// The queue a command was given to.
    #[must_use]
    pub fn queue_of(&self, command: Command) -> QueueId {
        self.commands[command].queue
    }

    /// What the host knows to have finished.
    #[must_use]
    pub fn known(&self) -> Set {
        self.known
    }

    /// The host has seen that a command has finished.
    pub fn learn(&mut self, command: Command) {
        self.known = self.known.or(&self.through(command));
    }

    /// The host has finished a queue.
    pub fn learn_queue(&mut self, queue: QueueId) {
        let all = self.queues[queue].all;
        all.iter().for_each(|command| self.learn(command));
    }

    /// The commands of a queue that the host does not know to have finished.
    #[must_use]
    pub fn unknown_of(&self, queue: QueueId) -> Set {
        self.queues[queue].all.without(&self.known)
    }

    /// Whether a closed gate may keep the command from finishing.
    #[must_use]
    pub fn may_be_delayed(&self, command: Command) -> bool {
        self.commands[command].delayed
    }

    /// Whether a closed gate may keep the queue's next command from finishing.
    #[must_use]
    pub fn queue_may_be_delayed(&self, queue: QueueId) -> bool {
        self.queues[queue].delayed
    }

    /// Whether a closed gate certainly keeps the command from finishing.
    #[must_use]
    pub fn is_behind_gate(&self, command: Command) -> bool {
        self.gate.is_some_and(|gate| self.through(command).has(gate))
    }
}
