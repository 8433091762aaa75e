//! The end of other processes: one thread sleeps until one of those ends that this process has asked about.
//!
//! A process is watched by a descriptor of it, which the kernel makes readable at its end. Descriptors are made of numbers, and
//! a number can have become another process's meanwhile: so whoever has had one watched looks once more whether that process
//! still has what it was asked about ([`super::sleeper`]); if it has, the descriptor is of the right one.

use std::collections::BTreeMap;
use std::io;
use std::sync::Weak;

use parking_lot::Mutex;

/// Whoever wants to know.
pub trait Mourner: Send + Sync {
    /// A process has ended, or another one that had its number before. Must not block.
    fn process_ended(&self, process: i32);
}

/// Those who want to know of each process that is watched. A leaf lock.
static WATCHED: Mutex<BTreeMap<i32, Watched>> = Mutex::new(BTreeMap::new());

struct Watched {
    _process: system::Process,
    mourners: Vec<Weak<dyn Mourner>>,
}

/// Has the end of a process told.
///
/// # Errors
/// `NotFound` if there is no such process; the system's, where it has no descriptor or thread left.
pub fn watch(process: i32, mourner: Weak<dyn Mourner>) -> io::Result<()> {
    let mut watched = WATCHED.lock();
    if let Some(known) = watched.get_mut(&process) {
        known.mourners.retain(|mourner| mourner.strong_count() > 0);
        known.mourners.push(mourner);
        return Ok(());
    }
    let _process = system::watch(process)?;
    watched.insert(process, Watched { _process, mourners: vec![mourner] });
    Ok(())
}

/// Takes back all that one has asked, by its address; ends the watch of processes that nobody asks about any more.
pub fn forget(mourner: usize) {
    let mut watched = WATCHED.lock();
    watched.retain(|_, known| {
        known.mourners.retain(|other| other.as_ptr().cast::<()>().addr() != mourner && other.strong_count() > 0);
        !known.mourners.is_empty()
    });
}

/// Called by the thread.
fn ended(process: i32) {
    let known = WATCHED.lock().remove(&process);
    let mourners = known.into_iter().flat_map(|known| known.mourners);
    mourners.filter_map(|mourner| mourner.upgrade()).for_each(|mourner| mourner.process_ended(process));
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use rustix::event::epoll;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use crate::object::own_thread;

    /// A process that the thread waits for, until this goes.
    pub struct Process(#[allow(dead_code, reason = "closing it ends the watch")] OwnedFd);

    /// What the thread waits for, once it has begun.
    static THREAD: Mutex<Option<Arc<OwnedFd>>> = Mutex::new(None);

    pub fn watch(process: i32) -> io::Result<Process> {
        let number = Pid::from_raw(process).ok_or(io::ErrorKind::NotFound)?;
        let descriptor = pidfd_open(number, PidfdFlags::empty())?;
        let list = list()?;
        let data = epoll::EventData::new_u64(process.unsigned_abs().into());
        epoll::add(&*list, &descriptor, data, epoll::EventFlags::IN | epoll::EventFlags::ONESHOT)?;
        Ok(Process(descriptor))
    }

    fn list() -> io::Result<Arc<OwnedFd>> {
        let mut thread = THREAD.lock();
        if let Some(list) = &*thread {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let slept_on = Arc::clone(&list);
        own_thread::start("ur-peers", move || wait(&slept_on))?;
        *thread = Some(Arc::clone(&list));
        Ok(list)
    }

    fn wait(list: &OwnedFd) {
        let mut events = Vec::with_capacity(16);
        loop {
            // Interrupted, it waits again.
            if epoll::wait(list, rustix::buffer::spare_capacity(&mut events), None).is_ok() {
                let processes = events.drain(..).map(|event: epoll::Event| event.data.u64());
                processes
                    .filter_map(|process| i32::try_from(process).ok())
                    .for_each(crate::timeline::shared::peers::ended);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub struct Process;

    pub fn watch(_process: i32) -> std::io::Result<Process> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
