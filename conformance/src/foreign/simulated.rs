//! The simulated driver's other API: memory is a file, semaphores are the driver's control functions, the queue is a thread.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use super::{Peer, SemaphoreKind, Step, Wanted};
use crate::Sim;
use crate::sim::ForeignSemaphores;

/// So long a wait may take; only one that would never end does.
const PATIENCE_MS: u64 = 30_000;

/// What the thread shares with the test.
struct Shared {
    memory: File,
    semaphores: Vec<OwnedFd>,
    control: ForeignSemaphores,
    bytes: usize,
}

/// The thread that does steps, and answers what they have read.
struct Queue {
    steps: Sender<Step>,
    thread: JoinHandle<Vec<Vec<u32>>>,
}

/// The other API over the simulated driver.
pub struct Simulated {
    shared: Arc<Shared>,
    queue: Option<Queue>,
}

impl Simulated {
    /// The peer on the driver's first device.
    #[must_use]
    pub fn new(sim: &Sim, wanted: Wanted<'_>) -> Self {
        let make = |kind: &SemaphoreKind| sim.foreign_semaphore(*kind == SemaphoreKind::Timeline);
        let shared = Shared {
            memory: sim.foreign_memory(wanted.bytes, 0).into(),
            semaphores: wanted.semaphores.iter().map(make).collect(),
            control: sim.foreign_semaphores(),
            bytes: wanted.bytes,
        };
        Self { shared: Arc::new(shared), queue: None }
    }
}

impl Shared {
    fn read(&self) -> Vec<u32> {
        let mut bytes = vec![0; self.bytes];
        self.memory.read_exact_at(&mut bytes, 0).expect("the memory has as many bytes");
        bytes.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    /// Answers what the step has read.
    fn run(&self, step: Step) -> Option<Vec<u32>> {
        if let Some((index, value)) = step.wait {
            assert!(self.control.wait(&self.semaphores[index], value, PATIENCE_MS), "nobody signals {value}");
        }
        let read = step.read.then(|| self.read());
        if let Some(word) = step.fill {
            let bytes = word.to_ne_bytes().repeat(self.bytes / 4);
            self.memory.write_all_at(&bytes, 0).expect("the memory can be written");
        }
        if let Some((index, value)) = step.signal {
            self.control.signal(&self.semaphores[index], value);
        }
        read
    }
}

impl Peer for Simulated {
    fn memory(&self) -> OwnedFd {
        self.shared.memory.try_clone().expect("a descriptor").into()
    }

    fn import_size(&self) -> usize {
        self.shared.bytes
    }

    fn semaphore(&self, index: usize) -> OwnedFd {
        self.shared.semaphores[index].try_clone().expect("a descriptor")
    }

    fn submit(&mut self, step: Step) {
        let queue = self.queue.get_or_insert_with(|| {
            let (steps, given) = channel::<Step>();
            let shared = Arc::clone(&self.shared);
            let run = move || given.iter().filter_map(|step| shared.run(step)).collect();
            Queue { steps, thread: std::thread::spawn(run) }
        });
        queue.steps.send(step).expect("the queue goes on");
    }

    fn finish(&mut self) -> Vec<Vec<u32>> {
        let Some(Queue { steps, thread }) = self.queue.take() else { return Vec::new() };
        drop(steps);
        thread.join().expect("every step was done")
    }
}
