//! The thread that sleeps for a shared timeline while anybody in this process waits for what another process signals.
//!
//! Each shared timeline has one, made with it. Nobody waiting, it sleeps here; somebody waiting, it sleeps on the word in the
//! timeline's file, which every change of any process's wakes. A thread for all timelines was turned down: Linux sleeps on several
//! words at once only since 5.16. While it sleeps on the file it has the end of the other processes told; nothing looks again
//! and again, unless the system has no descriptor left to tell of an end by.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::device::deferred;
use crate::object::{error, own_thread};
use crate::timeline::shared::file::{Taken, TimelineFile};
use crate::timeline::shared::peers::{self, Mourner};
use crate::timeline::shared::system::Holder;

/// How often it looks whether a process lives of whose end nothing tells.
const UNTOLD: Duration = Duration::from_millis(500);

/// What it sleeps for.
pub trait Listener: Send + Sync {
    /// Takes over what the file says; whether anybody waits for more.
    fn look(&self) -> bool;
}

/// What the thread and those who wait know.
pub struct Sleeper {
    file: Arc<TimelineFile>,
    bell: Mutex<Bell>,
    rung: Condvar,
    watched: Mutex<Vec<(Taken, i32)>>,
}

#[derive(Default)]
struct Bell {
    /// What to sleep for. Held here and by the thread, it stays as long as anybody waits.
    listener: Option<Arc<dyn Listener>>,
    has_ended: bool,
}

impl Sleeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system's, where it has no thread left.
    pub fn start(file: Arc<TimelineFile>) -> std::io::Result<Arc<Self>> {
        let made = Self { file, bell: Mutex::default(), rung: Condvar::new(), watched: Mutex::default() };
        let sleeper = Arc::new(made);
        let thread = Arc::clone(&sleeper);
        own_thread::start("ur-timeline", move || thread.run())?;
        Ok(sleeper)
    }

    /// The timeline's file.
    pub fn file(&self) -> &Arc<TimelineFile> {
        &self.file
    }

    /// Says that somebody waits.
    pub fn ring(&self, listener: Arc<dyn Listener>) {
        let before = self.bell.lock().listener.replace(listener);
        self.rung.notify_one();
        drop(before);
    }

    /// Ends the thread, once nothing is left that it sleeps for.
    pub fn end(&self) {
        self.bell.lock().has_ended = true;
        self.rung.notify_one();
    }

    /// Waits until it is rung; none at the end.
    fn wait(&self) -> Option<Arc<dyn Listener>> {
        let mut bell = self.bell.lock();
        loop {
            if let Some(listener) = bell.listener.take() {
                return Some(listener);
            }
            if bell.has_ended {
                return None;
            }
            self.rung.wait(&mut bell);
        }
    }

    fn run(self: Arc<Self>) {
        // Streams wait for what becomes ready here.
        deferred::forbid_waiting();
        while let Some(listener) = self.wait() {
            let slept = catch_unwind(AssertUnwindSafe(|| self.sleep_for(listener)));
            if slept.is_err() {
                error::remember_text("internal error in a timeline's thread, please report it", 0);
            }
        }
        peers::forget(Arc::as_ptr(&self).addr());
    }

    /// Sleeps as long as somebody waits and anybody is there who could signal.
    fn sleep_for(self: &Arc<Self>, listener: Arc<dyn Listener>) {
        loop {
            let changes = self.file.changes();
            if !listener.look() {
                return;
            }
            let is_told = self.watch_others();
            // What is rung meanwhile is the same listener.
            drop(self.bell.lock().listener.take());
            // Another holder of the listener could signal, another process could, and so could one that opens what is lent out.
            if Arc::strong_count(&listener) == 1 && self.file.is_alone() {
                return;
            }
            self.file.sleep(changes, if is_told { None } else { Some(UNTOLD) });
        }
    }

    /// Has the end of every other process told; buries those that have ended. `false` if the end of one cannot be told.
    fn watch_others(self: &Arc<Self>) -> bool {
        let others = self.file.others();
        self.watched.lock().retain(|(taken, _)| others.contains(taken));
        let is_unknown = |taken: &Taken| !self.watched.lock().iter().any(|(known, _)| known == taken);
        // All of them, also behind one that fails.
        others.into_iter().filter(is_unknown).filter(|taken| !self.watch(*taken)).count() == 0
    }

    fn watch(self: &Arc<Self>, taken: Taken) -> bool {
        loop {
            let process = match self.file.holder(taken) {
                Ok(Holder::Nobody) => {
                    self.file.bury(taken);
                    return true;
                }
                Ok(Holder::Process(process)) => process,
                Ok(Holder::Unseen) | Err(_) => return false,
            };
            let me = Arc::downgrade(self);
            let mourner: Weak<dyn Mourner> = me;
            self.watched.lock().push((taken, process));
            let is_told = peers::watch(process, mourner).is_ok();
            // It lives, so what is watched is not another process that has its number now.
            let is_right = self.file.holder(taken).is_ok_and(|holder| holder == Holder::Process(process));
            if is_told && is_right {
                return true;
            }
            self.process_ended(process);
            if is_right {
                return false;
            }
        }
    }
}

impl Mourner for Sleeper {
    /// The thread looks again, at every place of that process.
    fn process_ended(&self, process: i32) {
        self.watched.lock().retain(|(_, known)| *known != process);
        self.file.tell();
    }
}
