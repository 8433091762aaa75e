//! The primitives of the code that loom checks: its own under `--cfg loom`, the usual ones otherwise.

pub mod biased_lock;
pub(crate) mod cache_padded;
pub(crate) mod countdown;
pub(crate) mod deferred_commands;
pub(crate) mod gate;
pub(crate) mod keyed_slot;
pub(crate) mod mutation;
pub(crate) mod resolution;
pub(crate) mod set_once;
pub(crate) mod unlikely;
pub(crate) mod weak_list;

#[cfg(not(loom))]
pub use parking_lot::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::thread_local;

#[cfg(loom)]
pub(crate) use loom::thread_local;

#[cfg(loom)]
pub use loom::cell::UnsafeCell;
#[cfg(loom)]
pub use loom::sync::{
    Arc, MutexGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
};

/// The usual cell with the way in that loom's has.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// A cell.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Gives its content's address for reading.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Gives its content's address for writing.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// loom's mutex with the signature of the usual one: a test's panic ends the model, so nothing is ever poisoned.
#[cfg(loom)]
#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Locks it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("a model that panicked has ended")
    }

    /// Locks it if nobody has.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}

/// The usual condition, with loom's way of handing the guard through.
#[cfg(not(loom))]
pub(crate) struct Condvar(parking_lot::Condvar);

#[cfg(not(loom))]
impl Condvar {
    /// Nobody waits.
    pub(crate) const fn new() -> Self {
        Self(parking_lot::Condvar::new())
    }

    /// Unlocks until somebody tells that something has changed, or for no reason.
    pub(crate) fn wait<'m, T>(&self, mut guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        self.0.wait(&mut guard);
        guard
    }

    /// Wakes one that waits.
    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// loom's condition.
#[cfg(loom)]
pub(crate) struct Condvar(loom::sync::Condvar);

#[cfg(loom)]
impl Condvar {
    /// Nobody waits.
    pub(crate) fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    /// Unlocks until somebody tells that something has changed.
    pub(crate) fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        self.0.wait(guard).expect("a model that panicked has ended")
    }

    /// Wakes one that waits.
    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all that wait.
    #[cfg(test)]
    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Barriers of which one side is nearly free: the light one only keeps the compiler in order, the heavy one makes every
/// running thread of the process pass a full one.
#[cfg(all(not(loom), target_os = "linux"))]
pub mod barrier {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence};

    use rustix::thread::{MembarrierCommand, membarrier};

    /// Whether the system has the heavy barrier; asks it once.
    pub fn is_there() -> bool {
        static THERE: OnceLock<bool> = OnceLock::new();
        *THERE.get_or_init(|| membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok())
    }

    /// Keeps the compiler from moving memory accesses across.
    #[inline(always)]
    pub fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Makes every running thread pass a full barrier.
    pub fn heavy() {
        // Without it there are no owners, and an exchange has ordered everything.
        if is_there() && membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // Two threads could be inside one lock from here on.
            std::process::abort();
        }
    }

    /// A number that no other running thread has; neither 0 nor the largest. It is `pthread_self`'s, where that can be
    /// had without a call: the address that the thread's register holds.
    #[inline(always)]
    pub fn thread() -> usize {
        let own: usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: by the ABI the first word behind `fs` is the thread block's own address; it is only read.
        unsafe {
            core::arch::asm!("mov {}, fs:0", out(reg) own, options(nostack, preserves_flags, readonly, pure));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: reads the register that the ABI keeps the thread's block in.
        unsafe {
            core::arch::asm!("mrs {}, tpidr_el0", out(reg) own, options(nostack, preserves_flags, nomem, pure));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            // SAFETY: always succeeds.
            own = unsafe { libc::pthread_self() as usize };
        }
        own
    }

    /// Lets other threads go on.
    pub fn relax() {
        std::thread::yield_now();
    }
}

/// Where the system has no such barrier.
#[cfg(all(not(loom), not(target_os = "linux")))]
pub mod barrier {
    /// There is none.
    pub fn is_there() -> bool {
        false
    }

    /// Nothing to do.
    pub fn light() {}

    /// Nothing to do.
    pub fn heavy() {}

    /// No thread is ever an owner.
    pub fn thread() -> usize {
        1
    }

    /// Lets other threads go on.
    pub fn relax() {
        std::thread::yield_now();
    }
}

/// loom knows no `membarrier`; a full barrier on both sides is what the two come to.
#[cfg(loom)]
pub mod barrier {
    use loom::sync::atomic::{AtomicUsize, Ordering, fence};

    /// There is one.
    pub fn is_there() -> bool {
        true
    }

    /// A full barrier.
    pub fn light() {
        fence(Ordering::SeqCst);
    }

    /// A full barrier.
    pub fn heavy() {
        fence(Ordering::SeqCst);
    }

    loom::lazy_static! {
        static ref NEXT: AtomicUsize = AtomicUsize::new(1);
    }
    loom::thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }

    /// The thread's number.
    pub fn thread() -> usize {
        OWN.with(|own| *own)
    }

    /// Lets other threads go on.
    pub fn relax() {
        loom::thread::yield_now();
    }
}

#[cfg(all(test, not(loom), target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::barrier;

    /// A lock's second user would go in beside its owner otherwise. A filter stays for as long as its process lives, so a child has it.
    #[test]
    fn a_barrier_that_the_system_refuses_aborts_the_process() {
        const CHILD: &str = "UR_TEST_REFUSED_BARRIER";
        const TEST: &str = "a_barrier_that_the_system_refuses_aborts_the_process";
        if std::env::var_os(CHILD).is_some() {
            if !barrier::is_there() {
                println!("skipped: the system has no membarrier");
                return;
            }
            // What aborts this process later is not what every barrier does.
            barrier::heavy();
            println!("the barrier works");
            rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).unwrap();
            refuse(libc::SYS_membarrier);
            barrier::heavy();
            println!("a barrier that was refused returned");
            return;
        }
        let module = module_path!().split_once("::").unwrap().1;
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args([&format!("{module}::{TEST}"), "--exact", "--nocapture"]).env(CHILD, "1");
        let ended = child.output().unwrap();
        let told = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        if let Some(reason) = told.lines().find(|line| line.contains("skipped: ")) {
            println!("{reason}");
            return;
        }
        assert!(told.contains("the barrier works"), "{told}");
        assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{}\n{told}", ended.status);
    }

    /// Makes this system call answer `EPERM` on this thread from now on.
    fn refuse(call: libc::c_long) {
        let step = |code, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
        let mut program = [
            // The call's number is the first word of `seccomp_data`.
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, u32::try_from(call).unwrap(), 0, 1),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
        ];
        let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        // A process without rights may set a filter only so.
        rustix::thread::set_no_new_privs(true).unwrap();
        let mode = libc::c_ulong::from(libc::SECCOMP_MODE_FILTER);
        // SAFETY: the kernel copies the program during the call; `filter` points to `program`, which lives until then and has `len` steps.
        let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter) };
        assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
    }
}
