//! What the program that runs has done, told if it fails or stands still.

use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use crate::runner::{number, say};

struct Running {
    /// The program's; none between programs.
    seed: Option<u64>,
    lines: Vec<String>,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { seed: None, lines: Vec::new() });
static CHANGED: Condvar = Condvar::new();

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes what is done.
pub fn log(line: String) {
    running().lines.push(line);
}

/// Notes that a program begins.
pub fn begin(seed: u64) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::thread::spawn(watch)));
    *running() = Running { seed: Some(seed), lines: Vec::new() };
    CHANGED.notify_all();
}

/// Notes that it has ended, and tells of it if it has failed.
pub fn end(has_failed: bool) {
    let mut running = running();
    if has_failed {
        running.tell();
    }
    running.seed = None;
    CHANGED.notify_all();
}

impl Running {
    fn tell(&self) {
        let seed = self.seed.unwrap_or_default();
        say(&format!("{}\nagain: UR_MODEL_MEMORY=1 UR_MODEL_SEED={seed:#x}", self.lines.join("\n")));
    }
}

/// Ends the process if a program stands still: what it waits for nobody could end.
fn watch() {
    let patience = Duration::from_secs(number("UR_MODEL_PATIENCE", 20));
    let mut running = running();
    loop {
        let seed = running.seed;
        let waited = CHANGED.wait_timeout_while(running, patience, |running| running.seed == seed);
        let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        running = now;
        if timeout.timed_out() && seed.is_some() {
            say("a program of memory stands still");
            running.tell();
            std::process::abort();
        }
    }
}
