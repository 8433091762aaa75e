//! What shared timelines need of the operating system: an anonymous file in memory, a word to sleep on, and locks that tell
//! who lives.
//!
//! The file is sealed against growing and shrinking before anybody else has it, and what comes from another process is mapped
//! only if it is: so the bytes behind a mapping never go. The locks are those of POSIX, which belong to the process: the kernel
//! takes them back when it ends, a forked child does not have them, and whoever asks is told whose a lock is. Their price: the
//! process gives all its locks on a file back when it closes any descriptor of that file. So [`super::file`] has one descriptor
//! a file, and nothing else here opens or closes one.

#[cfg(not(target_os = "linux"))]
pub use missing::*;
#[cfg(target_os = "linux")]
pub use present::*;

/// What tells a file from all others of the machine: its device and its number there.
pub type Identity = (u64, u64);

/// Whose a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody's.
    Nobody,
    /// A process of this number.
    Process(i32),
    /// A process that this one cannot see.
    Unseen,
}

/// What may lie in memory that other processes write to.
///
/// # Safety
/// It is made of atomics alone, for which any bytes are valid, and its alignment is at most a page's.
pub unsafe trait Atomics: Sync {}

#[cfg(target_os = "linux")]
mod present {
    use core::ptr::{NonNull, null_mut};
    use core::sync::atomic::AtomicU32;
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create};
    use rustix::io::Errno;
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    use rustix::rand::{GetRandomFlags, getrandom};
    use rustix::thread::futex;

    use crate::timeline::shared::system::{Atomics, Holder, Identity};

    /// What such files are called, which the system tells of a descriptor without a look at the file.
    const NAME: &str = "unified-runtime-timeline";

    /// Without these a file could become smaller under its mappings.
    const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

    /// A mapped file whose bytes are a `T`.
    pub struct Map<T: Atomics> {
        start: NonNull<T>,
    }

    // SAFETY: the memory is a `T` like any other, and belongs to the map.
    unsafe impl<T: Atomics + Send> Send for Map<T> {}
    // SAFETY: as above.
    unsafe impl<T: Atomics> Sync for Map<T> {}

    impl<T: Atomics> Map<T> {
        /// The memory.
        pub fn get(&self) -> &T {
            // SAFETY: `new` mapped as many bytes, which are readable and writable while `self` lives, since the file is sealed.
            // Other processes change them as other threads do: `T` is made of atomics.
            unsafe { self.start.as_ref() }
        }

        /// Maps a file that is as large as a `T`.
        ///
        /// # Errors
        /// `InvalidData` for a file of another size or one that could change its size; the system's.
        pub fn new(file: BorrowedFd<'_>) -> io::Result<Self> {
            let seals = fcntl_get_seals(file).map_err(|_| refused("it is no anonymous file"))?;
            if !seals.contains(SEALS) {
                return Err(refused("its size is not sealed"));
            }
            let size = size_of::<T>();
            if rustix::fs::fstat(file)?.st_size.unsigned_abs() != size as u64 {
                return Err(refused("it has another size"));
            }
            let rights = ProtFlags::READ.union(ProtFlags::WRITE);
            // SAFETY: a fresh mapping, of a file that has so many bytes and keeps them.
            let start = unsafe { mmap(null_mut(), size, rights, MapFlags::SHARED, file, 0) };
            let start =
                start.map_err(|error| if error == Errno::PERM { refused("it is read-only") } else { error.into() })?;
            NonNull::new(start.cast()).map(|start| Self { start }).ok_or_else(|| refused("it is mapped nowhere"))
        }
    }

    impl<T: Atomics> Drop for Map<T> {
        fn drop(&mut self) {
            // SAFETY: the mapping is this object's, and so are all borrows of it.
            let unmapped = unsafe { munmap(self.start.as_ptr().cast(), size_of::<T>()) };
            // It is a mapping, so it can be unmapped.
            debug_assert!(unmapped.is_ok());
        }
    }

    fn refused(text: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, text)
    }

    /// A new file of so many zeros.
    ///
    /// # Errors
    /// The system's.
    pub fn create(size: usize) -> io::Result<OwnedFd> {
        let file = memfd_create(NAME, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, size as u64)?;
        fcntl_add_seals(&file, SEALS | SealFlags::SEAL)?;
        Ok(file)
    }

    /// What tells a file from all others.
    ///
    /// # Errors
    /// The system's.
    pub fn identity(file: BorrowedFd<'_>) -> io::Result<Identity> {
        let found = rustix::fs::fstat(file)?;
        Ok((found.st_dev, found.st_ino))
    }

    /// Whether this process has a descriptor of the file. Opens none.
    pub fn is_open_here(identity: Identity) -> bool {
        let name = format!("/memfd:{NAME} (deleted)");
        let is_it = |path: std::path::PathBuf| {
            std::fs::read_link(&path).is_ok_and(|target| target.as_os_str() == name.as_str())
                && std::fs::metadata(&path).is_ok_and(|found| (found.dev(), found.ino()) == identity)
        };
        std::fs::read_dir("/proc/self/fd").is_ok_and(|mut all| all.any(|one| one.is_ok_and(|one| is_it(one.path()))))
    }

    /// The space in which this process has its number; 0 if that is not told.
    pub fn process_space() -> u64 {
        std::fs::metadata("/proc/self/ns/pid").map_or(0, |found| found.ino())
    }

    /// A random number, never 0.
    ///
    /// # Errors
    /// The system's.
    pub fn random() -> io::Result<u64> {
        let mut bytes = [0; 8];
        // The kernel gives so few bytes whole or not at all.
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        Ok(u64::from_ne_bytes(bytes) | 1)
    }

    /// Locks one byte of a file for this process; `false` if another one has it.
    ///
    /// # Errors
    /// The system's.
    pub fn lock(file: BorrowedFd<'_>, byte: usize) -> io::Result<bool> {
        match record_lock(file, libc::F_SETLK, libc::F_WRLCK, byte) {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives [`lock`] back.
    pub fn unlock(file: BorrowedFd<'_>, byte: usize) {
        // The kernel refuses no unlocking of what is locked, but for memory that splitting a range needs: one byte needs none.
        let _ = record_lock(file, libc::F_SETLK, libc::F_UNLCK, byte);
    }

    /// Whose the lock of a byte is, if another process's.
    ///
    /// # Errors
    /// The system's.
    pub fn holder(file: BorrowedFd<'_>, byte: usize) -> io::Result<Holder> {
        let found = record_lock(file, libc::F_GETLK, libc::F_WRLCK, byte)?;
        Ok(match found.l_pid {
            _ if found.l_type == libc::F_UNLCK as libc::c_short => Holder::Nobody,
            process if process > 0 => Holder::Process(process),
            _ => Holder::Unseen,
        })
    }

    fn record_lock(file: BorrowedFd<'_>, command: i32, kind: i32, byte: usize) -> io::Result<libc::flock> {
        let mut lock = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: byte as libc::off_t,
            l_len: 1,
            l_pid: 0,
        };
        // SAFETY: an open descriptor, and these commands read and write one `flock`.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(lock)
    }

    /// Sleeps while the word, of memory that processes share, is `seen`: until [`wake`], or as long as `timeout` says, or less.
    pub fn sleep(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        // Whoever sleeps looks again, whatever the reason.
        let _ = futex::wait(word, futex::Flags::empty(), seen, timeout.as_ref());
    }

    /// Wakes every process that sleeps on the word.
    pub fn wake(word: &AtomicU32) {
        // A word that is mapped is refused by nobody.
        let _ = futex::wake(word, futex::Flags::empty(), i32::MAX.unsigned_abs());
    }
}

/// Systems without such files: none is ever made.
#[cfg(not(target_os = "linux"))]
mod missing {
    use core::sync::atomic::AtomicU32;
    use std::io;
    use std::os::fd::{BorrowedFd, OwnedFd};
    use std::time::Duration;

    use crate::timeline::shared::system::{Atomics, Holder, Identity};

    fn unsupported<T>() -> io::Result<T> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub struct Map<T: Atomics> {
        never: core::convert::Infallible,
        of: core::marker::PhantomData<T>,
    }

    impl<T: Atomics> Map<T> {
        pub fn get(&self) -> &T {
            match self.never {}
        }

        pub fn new(_file: BorrowedFd<'_>) -> io::Result<Self> {
            unsupported()
        }
    }

    pub fn create(_size: usize) -> io::Result<OwnedFd> {
        unsupported()
    }

    pub fn identity(_file: BorrowedFd<'_>) -> io::Result<Identity> {
        unsupported()
    }

    pub fn is_open_here(_identity: Identity) -> bool {
        false
    }

    pub fn process_space() -> u64 {
        0
    }

    pub fn random() -> io::Result<u64> {
        unsupported()
    }

    pub fn lock(_file: BorrowedFd<'_>, _byte: usize) -> io::Result<bool> {
        unsupported()
    }

    pub fn unlock(_file: BorrowedFd<'_>, _byte: usize) {}

    pub fn holder(_file: BorrowedFd<'_>, _byte: usize) -> io::Result<Holder> {
        unsupported()
    }

    pub fn sleep(_word: &AtomicU32, _seen: u32, _timeout: Option<Duration>) {}

    pub fn wake(_word: &AtomicU32) {}
}
