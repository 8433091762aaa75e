//! Which libraries are registered, and with which copies of their images.
//!
//! Nothing is copied until an adapter says that it has devices which take SPIR-V: a copy costs libsycl as much time and memory as an image
//! of the library's own, and most programs never look at a device. From then on copies follow each library at once.
//!
//! Copies outlive their unregistration until the next registration: libsycl may be shutting down then, and what it still holds must
//! not have been freed. So nothing grows, however often libraries come and go. Who unregisters a library has its copies until libsycl
//! has given them up ([`remove`], then [`retire`]): another thread's registration must not free them while libsycl reads them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::copies::Copies;
use crate::descriptor::Binaries;
use crate::next::Function;
use crate::targets::Target;

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { libraries: BTreeMap::new(), offered: Vec::new(), retired: Vec::new() });

/// Held while copies are registered that are not their library's own caller's to register, and to take a library out of the registry. So
/// no library goes while its copies come. libsycl takes no lock of the dynamic linker to register images.
static TURN: Mutex<()> = Mutex::new(());

struct Registry {
    /// By the address of a descriptor. A library has one for each of its objects, so there are thousands.
    libraries: BTreeMap<usize, Library>,
    /// The kinds of devices that were asked for.
    offered: Vec<Target>,
    #[expect(clippy::vec_box, reason = "libsycl has their addresses")]
    retired: Vec<Box<Copies>>,
}

struct Library {
    binaries: *mut Binaries,
    register: Function,
    #[expect(clippy::vec_box, reason = "libsycl has their addresses")]
    copies: Vec<Box<Copies>>,
}

// SAFETY: `binaries` is the address of a descriptor that nobody changes while its library is registered, and `register` a function.
unsafe impl Send for Library {}

impl Library {
    /// The descriptor of the copies for these devices, if there is something to copy.
    fn copy_for(&mut self, target: Target) -> Option<*mut Binaries> {
        // SAFETY: who registered the library promised a descriptor that stays until it is unregistered, which `TURN` keeps off.
        let (header, images) = unsafe { Binaries::images(self.binaries) }?;
        let mut copies = Copies::of(&header, images, target)?;
        let pointer = copies.as_ptr();
        self.copies.push(copies);
        Some(pointer)
    }
}

/// Remembers a library that libsycl has been told of. Answers what it is to be told of as well.
///
/// # Safety
/// `binaries` is null or the address of a descriptor that stays as it is until it is unregistered.
pub unsafe fn add(binaries: *mut Binaries, register: Function) -> Vec<*mut Binaries> {
    let mut registry = lock(&REGISTRY);
    registry.retired.clear();
    // Registered again before it was unregistered: its copies are there already.
    if registry.libraries.contains_key(&(binaries as usize)) {
        return Vec::new();
    }
    let mut library = Library { binaries, register, copies: Vec::new() };
    let copies = registry.offered.iter().filter_map(|target| library.copy_for(*target)).collect();
    registry.libraries.insert(binaries as usize, library);
    copies
}

/// Forgets a library. Answers the copies that libsycl has of it, in the order in which they were registered.
#[expect(clippy::vec_box, reason = "libsycl has their addresses")]
pub fn remove(binaries: *mut Binaries) -> Vec<Box<Copies>> {
    let _turn = lock(&TURN);
    let library = lock(&REGISTRY).libraries.remove(&(binaries as usize));
    library.map(|library| library.copies).unwrap_or_default()
}

/// Keeps copies that libsycl has given up until the next registration.
#[expect(clippy::vec_box, reason = "libsycl had their addresses and may still read them")]
pub fn retire(mut copies: Vec<Box<Copies>>) {
    lock(&REGISTRY).retired.append(&mut copies);
}

/// Copies the images of all libraries for these devices, and of those that come; once.
pub fn offer(target: Target) {
    let _turn = lock(&TURN);
    let copies: Vec<(Function, *mut Binaries)> = {
        let mut registry = lock(&REGISTRY);
        if registry.offered.contains(&target) {
            return;
        }
        registry.offered.push(target);
        let libraries = registry.libraries.values_mut();
        libraries.filter_map(|library| Some((library.register, library.copy_for(target)?))).collect()
    };
    for (register, copies) in copies {
        // SAFETY: libsycl's function, with a descriptor that the registry keeps until it is unregistered and longer.
        unsafe { register(copies) };
    }
}

/// libsycl is never called while `REGISTRY` is held.
fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
