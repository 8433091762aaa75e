//! Descriptors of this process that other processes may duplicate, and duplicates of theirs.
//!
//! The bytes that name a descriptor come from another process and may be forged, stale, or another program's. Duplicating the
//! named descriptor and closing it again does harm: closing any descriptor of a file drops every record lock
//! (`fcntl(F_SETLK)`) that the process holds on that file. So an opener first makes sure that the other process shares it:
//!
//! - Whoever shares a descriptor also holds a *certificate* open: an empty anonymous file whose name has a random cookie,
//!   the descriptor's number, its size and the identity of what it refers to. An opener reads the certificate's name
//!   and asks for the identity through `/proc/PID/fd`, which opens and duplicates nothing, and compares both with the
//!   bytes that it was given. Bytes alone can therefore only name what this engine shares in that process now, and a number
//!   that was closed and used again is seen.
//! - A named file, a directory, a socket or a pipe is never duplicated, whatever the other process certifies.
//! - This process's own descriptors are found in a table by their cookie, never by number.
//!
//! Another process can replace its descriptor between the check and the duplicate. The opener then duplicates the
//! replacement; it compares the identity once more and closes it unused.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use parking_lot::Mutex;

/// A random number that tells one shared descriptor from all others.
pub type Cookie = [u8; 16];

/// How another process finds a shared descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The process that shares it.
    pub process: u64,
    /// Its number there.
    pub descriptor: u64,
    /// The certificate's number there.
    pub certificate: u64,
    /// The cookie in the certificate's name.
    pub cookie: Cookie,
    /// Size in bytes of what the descriptor refers to, as its maker says.
    pub size: u64,
}

/// What keeps a shared descriptor open.
pub trait Keeper: Send {
    /// The descriptor, always the same one.
    ///
    /// # Errors
    /// The system's, where there is none.
    fn descriptor(&self) -> io::Result<BorrowedFd<'_>>;
}

impl Keeper for OwnedFd {
    fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        Ok(self.as_fd())
    }
}

struct Entry {
    address: Address,
    keeper: Box<dyn Keeper>,
    _certificate: OwnedFd,
}

/// A leaf lock: nothing is locked and nothing native is called while it is held.
static SHARED: Mutex<BTreeMap<Cookie, Entry>> = Mutex::new(BTreeMap::new());

/// Shares a descriptor while it lives.
#[derive(Debug)]
pub struct Shared {
    address: Address,
}

impl Shared {
    /// Lets other processes duplicate a descriptor.
    ///
    /// # Errors
    /// The system's, where it has no descriptor left or no anonymous files.
    pub fn new(keeper: impl Keeper + 'static, size: u64) -> io::Result<Self> {
        let entry = system::certify(Box::new(keeper), size)?;
        let address = entry.address;
        SHARED.lock().insert(address.cookie, entry);
        Ok(Self { address })
    }

    /// How others find it.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let entry = SHARED.lock().remove(&self.address.cookie);
        // Closed without the lock.
        drop(entry);
    }
}

/// A shared descriptor that was found by its address.
pub struct Found(Place);

enum Place {
    /// This process shares it.
    Here { address: Address, identity: (u64, u64) },
    /// Another one does.
    There(system::Other),
}

impl Found {
    /// Device and number of the file that it refers to.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        match &self.0 {
            Place::Here { identity, .. } => *identity,
            Place::There(other) => other.identity(),
        }
    }

    /// Duplicates it.
    ///
    /// # Errors
    /// As [`open`].
    pub fn duplicate(self) -> io::Result<OwnedFd> {
        match self.0 {
            Place::Here { address, .. } => with_own(&address, |descriptor| descriptor.try_clone_to_owned()),
            Place::There(other) => other.duplicate(),
        }
    }
}

fn with_own<T>(address: &Address, ask: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
    let shared = SHARED.lock();
    let entry = shared.get(&address.cookie).filter(|entry| entry.address == *address).ok_or_else(unknown)?;
    ask(entry.keeper.descriptor()?)
}

/// Finds a shared descriptor, also one of this process's own, and neither opens nor duplicates anything.
///
/// # Errors
/// As [`open`].
pub fn find(address: &Address) -> io::Result<Found> {
    if address.process == u64::from(std::process::id()) {
        let identity = with_own(address, system::identity_of)?;
        return Ok(Found(Place::Here { address: *address, identity }));
    }
    system::find(address).map(|other| Found(Place::There(other)))
}

/// Duplicates a shared descriptor, also one of this process's own.
///
/// # Errors
/// `InvalidData` where nothing of that address is shared; the system's, where the process is gone or does not let this
/// one look.
pub fn open(address: &Address) -> io::Result<OwnedFd> {
    find(address)?.duplicate()
}

fn unknown() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "is not shared, or no longer")
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
    use rustix::rand::{GetRandomFlags, getrandom};

    use super::{Address, Entry, Keeper, unknown};

    /// Makes the certificate that the descriptor is shared.
    pub fn certify(keeper: Box<dyn Keeper>, size: u64) -> io::Result<Entry> {
        let descriptor = keeper.descriptor()?;
        let mut address = Address {
            process: std::process::id().into(),
            descriptor: descriptor.as_raw_fd().unsigned_abs().into(),
            certificate: 0,
            cookie: random()?,
            size,
        };
        let certificate = memfd_create(certificate_name(&address, &metadata(descriptor)?), MemfdFlags::CLOEXEC)?;
        address.certificate = certificate.as_raw_fd().unsigned_abs().into();
        Ok(Entry { address, keeper, _certificate: certificate })
    }

    /// What a descriptor of this process's refers to. Asked by its path: to close a duplicate would give locks of the process back.
    fn metadata(descriptor: BorrowedFd<'_>) -> io::Result<Metadata> {
        std::fs::metadata(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))
    }

    /// Device and number of what a descriptor of this process's refers to.
    pub fn identity_of(descriptor: BorrowedFd<'_>) -> io::Result<(u64, u64)> {
        metadata(descriptor).map(|found| (found.dev(), found.ino()))
    }

    /// Another process's shared descriptor.
    pub struct Other {
        process: OwnedFd,
        number: u64,
        found: Metadata,
    }

    /// Finds another process's shared descriptor once its certificate says that it is one.
    pub fn find(address: &Address) -> io::Result<Other> {
        let process = i32::try_from(address.process).ok().and_then(Pid::from_raw).ok_or_else(unknown)?;
        // Opened before the first check, so if the descriptor is duplicated by it, the number meant this process all along.
        let handle = pidfd_open(process, PidfdFlags::empty())?;
        let path = |number: u64| PathBuf::from(format!("/proc/{process}/fd/{number}"));
        let found = std::fs::metadata(path(address.descriptor))?;
        if !may_be_duplicated(&found, &std::fs::read_link(path(address.descriptor))?) {
            return Err(unknown());
        }
        let certificate = std::fs::read_link(path(address.certificate))?;
        if certificate.as_os_str() != format!("/memfd:{} (deleted)", certificate_name(address, &found)).as_str() {
            return Err(unknown());
        }
        Ok(Other { process: handle, number: address.descriptor, found })
    }

    impl Other {
        /// Device and number of what it refers to.
        pub fn identity(&self) -> (u64, u64) {
            (self.found.dev(), self.found.ino())
        }

        /// Duplicates it.
        pub fn duplicate(self) -> io::Result<OwnedFd> {
            let number = i32::try_from(self.number).map_err(|_| unknown())?;
            let duplicate = File::from(pidfd_getfd(self.process, number, PidfdGetfdFlags::empty())?);
            if identity(&duplicate.metadata()?) != identity(&self.found) {
                return Err(unknown());
            }
            Ok(duplicate.into())
        }
    }

    /// The name of the certificate for what has that metadata.
    fn certificate_name(address: &Address, of: &Metadata) -> String {
        let cookie = u128::from_be_bytes(address.cookie);
        let (device, inode, kind, special) = identity(of);
        let Address { descriptor, size, .. } = address;
        format!("unified-runtime-{cookie:032x}-{descriptor}-{size:x}-{device:x}-{inode:x}-{kind:x}-{special:x}")
    }

    fn identity(of: &Metadata) -> (u64, u64, u32, u64) {
        (of.dev(), of.ino(), kind(of), of.rdev())
    }

    fn kind(of: &Metadata) -> u32 {
        of.mode() & libc::S_IFMT
    }

    /// Native memory is a character device, an anonymous inode (which has no type) or an anonymous file. What a program
    /// may hold record locks on, or what does something when it is closed, is none of these.
    fn may_be_duplicated(found: &Metadata, name: &Path) -> bool {
        let begins = |with: &str| name.as_os_str().as_bytes().starts_with(with.as_bytes());
        match kind(found) {
            // Some kernels call shared device memory of AMD's (a DMA buffer) a regular file.
            libc::S_IFREG => (begins("/memfd:") && found.nlink() == 0) || begins("/dmabuf:"),
            kind => kind == libc::S_IFCHR || kind == 0,
        }
    }

    fn random() -> io::Result<super::Cookie> {
        let mut cookie = super::Cookie::default();
        let filled = getrandom(&mut cookie, GetRandomFlags::empty())?;
        // The kernel gives so few bytes whole or not at all.
        if filled == cookie.len() { Ok(cookie) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::os::fd::{BorrowedFd, OwnedFd};

    use super::{Address, Entry, Keeper};

    pub enum Other {}

    impl Other {
        pub fn identity(&self) -> (u64, u64) {
            match *self {}
        }

        pub fn duplicate(self) -> io::Result<OwnedFd> {
            match self {}
        }
    }

    pub fn certify(_keeper: Box<dyn Keeper>, _size: u64) -> io::Result<Entry> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn identity_of(_descriptor: BorrowedFd<'_>) -> io::Result<(u64, u64)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn find(_address: &Address) -> io::Result<Other> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{ErrorKind, Read, Seek, Write};
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::*;

    /// As another process opens.
    fn duplicate(address: &Address) -> io::Result<OwnedFd> {
        system::find(address)?.duplicate()
    }

    fn memory(bytes: &[u8]) -> OwnedFd {
        // SAFETY: a NUL-terminated name; the call makes a descriptor or fails.
        let raw = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(raw >= 0);
        // SAFETY: just opened.
        let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(raw) });
        file.write_all(bytes).unwrap();
        file.into()
    }

    fn content(descriptor: OwnedFd) -> Vec<u8> {
        let (mut file, mut bytes) = (std::fs::File::from(descriptor), Vec::new());
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn refused(writer: io::Result<OwnedFd>) -> bool {
        writer.is_err_and(|error| matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::NotFound))
    }

    #[test]
    fn a_shared_descriptor_is_found_by_its_address_until_it_is_withdrawn() {
        let shared = Shared::new(memory(b"bytes"), 5).unwrap();
        let address = shared.address();
        // The second call opens as another process does.
        for found in [open(&address), duplicate(&address)] {
            assert_eq!(content(found.unwrap()), b"bytes");
        }
        drop(shared);
        assert!(refused(open(&address)) && refused(duplicate(&address)));
    }

    #[test]
    fn an_address_with_anything_else_in_it_finds_nothing() {
        let (shared, other) = (Shared::new(memory(b"one"), 3).unwrap(), Shared::new(memory(b"two"), 3).unwrap());
        let (right, other) = (shared.address(), other.address());
        let unshared = memory(b"private");
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd().unsigned_abs().into();
        for wrong in [
            Address { descriptor: number(&unshared), ..right },
            Address { descriptor: other.descriptor, ..right },
            Address { descriptor: 1 << 40, ..right },
            Address { certificate: number(&unshared), ..right },
            Address { certificate: other.certificate, ..right },
            Address { certificate: right.descriptor, ..right },
            Address { cookie: other.cookie, ..right },
            Address { size: 4, ..right },
        ] {
            assert!(refused(open(&wrong)), "{wrong:?}");
            assert!(refused(duplicate(&wrong)), "{wrong:?}");
        }
        for gone in [1 << 30, 1 << 40] {
            assert!(open(&Address { process: gone, ..right }).is_err());
        }
    }

    #[test]
    fn a_number_that_was_closed_and_used_again_is_not_duplicated() {
        let descriptor = memory(b"shared");
        let raw = descriptor.as_raw_fd();
        let shared = Shared::new(descriptor, 6).unwrap();
        let replacement = memory(b"private");
        // SAFETY: both are open; the number now refers to something else, as after a stray close.
        assert_eq!(unsafe { libc::dup2(replacement.as_raw_fd(), raw) }, raw);
        assert!(refused(duplicate(&shared.address())));
    }

    #[test]
    fn a_named_file_a_directory_and_a_pipe_are_not_duplicated_though_they_are_certified() {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let folder = std::fs::File::open("/").unwrap();
        let (end, _other) = io::pipe().unwrap();
        for descriptor in [OwnedFd::from(file), folder.into(), end.into()] {
            let shared = Shared::new(descriptor, 1).unwrap();
            assert!(refused(duplicate(&shared.address())));
        }
        let device = std::fs::File::open("/dev/null").unwrap();
        let shared = Shared::new(OwnedFd::from(device), 1).unwrap();
        assert!(duplicate(&shared.address()).is_ok());
    }
}
