//! The watch over closed gates and stuck programs: a thread that looks only when something takes too long.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A program that takes so long, and longer than a gate may stay closed, is stuck for good; nothing can be torn down then. It is
/// less than what runs of the suite on GPUs grant a module, so that a program that hangs is named there.
const STUCK: Duration = Duration::from_secs(90);

enum Word {
    Begin(u64),
    Closed(usize),
    Open,
}

/// Watches over closed gates from a thread of its own: opens one that stays closed too long, since somebody waits for what
/// only comes behind it. A program that is stuck without a gate ends the process, with its seed.
pub struct Watch {
    sender: Option<Sender<Word>>,
    late: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub fn new(patience: Duration) -> Self {
        let (sender, words) = channel();
        let late = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&late);
        let thread = std::thread::spawn(move || watch(&words, &seen, patience));
        Self { sender: Some(sender), late, thread: Some(thread) }
    }

    fn say(&self, word: Word) {
        if let Some(sender) = &self.sender {
            // The thread is there as long as the sender.
            let _ = sender.send(word);
        }
    }

    /// A program begins.
    pub fn begin(&self, seed: u64) {
        self.late.store(false, Ordering::Release);
        self.say(Word::Begin(seed));
    }

    /// A gate is about to be closed; its word is in memory of the host.
    pub fn closed(&self, gate: *mut c_void) {
        self.say(Word::Closed(gate.expose_provenance()));
    }

    /// Whether the gate had to be opened before its time.
    pub fn had_to_open(&self) -> bool {
        self.late.load(Ordering::Acquire)
    }

    /// The gate is open. False if it had to be opened before.
    pub fn opened(&self) -> bool {
        self.say(Word::Open);
        !self.late.swap(false, Ordering::AcqRel)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.sender.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn watch(words: &Receiver<Word>, late: &AtomicBool, patience: Duration) {
    let mut gate: Option<(usize, Instant)> = None;
    let mut program: Option<(u64, Instant)> = None;
    let stuck = STUCK.max(2 * patience);
    loop {
        let ends = gate.iter().map(|(_, end)| *end).chain(program.iter().map(|(_, end)| *end));
        let next = ends.min().map_or(stuck, |end| end.saturating_duration_since(Instant::now()));
        match words.recv_timeout(next) {
            Ok(Word::Begin(seed)) => program = Some((seed, Instant::now() + stuck)),
            Ok(Word::Closed(address)) => gate = Some((address, Instant::now() + patience)),
            Ok(Word::Open) => gate = None,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                if let Some((address, _)) = gate.take_if(|(_, end)| *end <= Instant::now()) {
                    late.store(true, Ordering::Release);
                    let word = core::ptr::with_exposed_provenance_mut::<u32>(address);
                    // SAFETY: the notes of the world, which drops its watch before them.
                    unsafe { word.write_volatile(1) };
                }
                if let Some((seed, _)) = program.take_if(|(_, end)| *end <= Instant::now()) {
                    super::say(&format!("the program of seed {seed:#x} is stuck"));
                    std::process::abort();
                }
            }
        }
    }
}
