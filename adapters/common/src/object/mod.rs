//! What a handle points to: a header that loaders and the engine read, then the object.
//!
//! The first word of every object is the adapter's table; a loader dispatches through it. The tag behind it
//! lets an entry point refuse a handle of another type. The ABI's reference count is apart from the engine's
//! own (`Arc`): all references of the application together hold one `Arc` count, so `retain` and `release`
//! are one atomic operation and `UR_*_INFO_REFERENCE_COUNT` shows what the application did, and nothing else but for a callback that
//! is to be called with the handle ([`Reference`]).
//!
//! Must never: read anything of a handle before the null check, read more than the table of an object that may be another
//! adapter's, refer to an object before its kind is known, or keep a registry of handles.

pub mod attachment;
pub mod chain;
pub mod error;
pub mod fork;
pub mod info;
pub mod keep_loaded;
pub mod log;
mod outputs;
pub mod own_thread;
pub mod params;
pub mod recycled;

use core::ptr::NonNull;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ur_ffi::ur_result_t;

use crate::object::error::{Error, Result};

/// Where a library's `ur_dditable_t` lies. Which release's layout it has does not matter to an object: the address is what
/// loaders follow, and what tells this adapter's handles from another's.
pub type TableAddress = *const core::ffi::c_void;

/// The kind of object behind a handle, with the code that a handle of another kind gets.
pub trait Body: Send + Sync + 'static {
    /// The opaque type that the ABI's handle points to.
    type Opaque;
    /// A number no other kind has.
    const TAG: u32;
    /// The code for a handle that is not of this kind.
    const INVALID: ur_result_t;
    /// How messages name it.
    const NAME: &'static str;

    /// The table of the adapter that made the object.
    fn table() -> TableAddress;

    /// Called when the application gives up its last reference, before the object may die.
    fn on_last_release(_object: &Object<Self>)
    where
        Self: Sized,
    {
    }
}

/// An object with its header. Always lives in an `Arc`.
#[repr(C)]
pub struct Object<T: Body> {
    table: TableAddress,
    tag: u32,
    references: AtomicU32,
    body: T,
}

// SAFETY: `table` points to an immutable static; the rest is `Send` because `Body: Send`.
unsafe impl<T: Body> Send for Object<T> {}
// SAFETY: `table` points to an immutable static; the rest is `Sync` because `Body: Sync`.
unsafe impl<T: Body> Sync for Object<T> {}

/// Beside the application's references: a [`kept::Recycled`] has the object, and its count of the `Arc` for those references.
const KEPT: u32 = 1 << 31;

/// Dead objects carry this tag, so that a stale handle whose memory was not reused yet is refused.
const DEAD: u32 = 0xdead_0bec;

impl<T: Body> Object<T> {
    /// A new object that only the engine holds.
    pub fn new(body: T) -> Arc<Self> {
        Self::with_references(body, 0)
    }

    fn with_references(body: T, references: u32) -> Arc<Self> {
        Self::exposed(Arc::new(Self { table: T::table(), tag: T::TAG, references: AtomicU32::new(references), body }))
    }

    /// Handles come back from C, and references to the body lead to the `Arc`'s counts, which lie before it: both go by
    /// the address, to which the whole allocation is exposed here. Costs nothing at run time.
    fn exposed(object: Arc<Self>) -> Arc<Self> {
        let _ = Arc::as_ptr(&object).expose_provenance();
        object
    }

    /// The pointer that the object's `Arc` gives, from a reference to the object alone.
    fn as_arc_ptr(&self) -> *const Self {
        core::ptr::with_exposed_provenance(core::ptr::from_ref(self).addr())
    }

    /// A new object that knows itself.
    pub fn new_cyclic(body: impl FnOnce(&std::sync::Weak<Self>) -> T) -> Arc<Self> {
        Self::exposed(Arc::new_cyclic(|this| Self {
            table: T::table(),
            tag: T::TAG,
            references: AtomicU32::new(0),
            body: body(this),
        }))
    }

    /// A new object that only the application holds: its first reference is counted before anybody else can see the object, so
    /// without an atomic operation.
    pub fn new_handle(body: T) -> *mut T::Opaque {
        // The application's references together own one count of the `Arc`.
        Arc::into_raw(Self::with_references(body, 1)).cast_mut().cast()
    }

    /// A new object and the application's first reference to it.
    pub fn into_handle(object: Arc<Self>) -> *mut T::Opaque {
        let handle = object.handle();
        if object.references.fetch_add(1, Ordering::Relaxed) == 0 {
            // The application's references together own one count of the `Arc`: this one, which so is not counted twice.
            let _ = Arc::into_raw(object);
        }
        handle
    }

    /// Gives the application one more reference and the handle that goes with it.
    pub fn retain_handle(object: &Arc<Self>) -> *mut T::Opaque {
        if object.references.fetch_add(1, Ordering::Relaxed) == 0 {
            // The application's references together own one count of the `Arc`.
            let _ = Arc::into_raw(Arc::clone(object));
        }
        Arc::as_ptr(object).cast_mut().cast()
    }

    /// The handle without a new reference, for queries that lend none.
    pub fn handle(&self) -> *mut T::Opaque {
        self.as_arc_ptr().cast_mut().cast()
    }

    /// The application's references.
    pub fn references(&self) -> u32 {
        self.references.load(Ordering::Acquire) & !KEPT
    }

    /// A reference of the engine's own.
    pub fn to_arc(&self) -> Arc<Self> {
        let this = self.as_arc_ptr();
        // SAFETY: an `Object` always lives in an `Arc` (its only constructors), so `this` is the pointer of one that
        // is alive while `&self` is.
        unsafe {
            Arc::increment_strong_count(this);
            Arc::from_raw(this)
        }
    }
}

impl<T: Body> Drop for Object<T> {
    fn drop(&mut self) {
        self.tag = DEAD;
    }
}

impl<T: Body> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

/// The object behind a handle.
///
/// # Safety
/// `handle` is null or points to a live object that some adapter made; it stays alive for `'a`.
///
/// # Errors
/// `INVALID_NULL_HANDLE`, or the kind's own code when the handle is of another kind or another adapter's.
#[inline]
pub unsafe fn borrow<'a, T: Body>(handle: *mut T::Opaque) -> Result<&'a Object<T>> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow_named("the handle", handle) }
}

/// As [`borrow`], for a parameter that messages name.
///
/// # Safety
/// As [`borrow`].
///
/// # Errors
/// As [`borrow`].
#[inline(always)]
pub unsafe fn borrow_named<'a, T: Body>(parameter: &'static str, handle: *mut T::Opaque) -> Result<&'a Object<T>> {
    if handle.is_null() {
        return Err(null_handle::<T>(parameter));
    }
    // SAFETY: not null, and an adapter's object by the caller's promise.
    match unsafe { of_kind::<T>(handle) } {
        Some(object) => Ok(object),
        None => Err(wrong_kind::<T>(parameter)),
    }
}

/// The object behind a handle that is not null, if it is this adapter's and of this kind.
///
/// # Safety
/// `handle` points to a live object that some adapter made; it stays alive for `'a`.
#[inline(always)]
unsafe fn of_kind<'a, T: Body>(handle: *mut T::Opaque) -> Option<&'a Object<T>> {
    let object = handle.cast::<Object<T>>();
    // SAFETY: every object of every adapter starts with a table pointer; another adapter's may end behind it.
    let table = unsafe { (&raw const (*object).table).read() };
    if !core::ptr::eq(table, T::table()) {
        return None;
    }
    // SAFETY: every object with this adapter's table goes on with a tag; a smaller kind may end behind it.
    let tag = unsafe { (&raw const (*object).tag).read() };
    if tag != T::TAG {
        return None;
    }
    // SAFETY: table and tag say that it is a whole object of this kind, alive by the caller's promise.
    Some(unsafe { &*object })
}

/// One more reference of the application, `ur*Retain`.
///
/// # Errors
/// None; the function has the shape of every entry point's.
#[inline]
pub fn retain<T: Body>(object: &Object<T>) -> Result<()> {
    if object.references.fetch_add(1, Ordering::Relaxed) == 0 {
        hold_again(object);
    }
    Ok(())
}

/// A first reference after the last release: the handle came from a query. The application's references together own one
/// count of the `Arc`, as in [`Object::lend`].
#[cold]
#[inline(never)]
fn hold_again<T: Body>(object: &Object<T>) {
    let _ = Arc::into_raw(object.to_arc());
}

/// A reference that the application gives back. Not a Rust reference: the object may die while a function has it.
pub struct Held<T: Body> {
    object: NonNull<Object<T>>,
}

impl<T: Body> Held<T> {
    /// The reference to an object that C gives back.
    ///
    /// # Safety
    /// The object lives until [`release`] has taken this. The application does not use the handle after that unless it
    /// holds more references.
    #[inline(always)]
    pub unsafe fn new(object: &Object<T>) -> Self {
        Self { object: NonNull::from(object) }
    }

    /// The object, as long as the reference was not given back.
    #[inline]
    pub fn object(&self) -> &Object<T> {
        // SAFETY: alive by `new`'s contract until `release`, which takes the value.
        unsafe { self.object.as_ref() }
    }
}

/// A reference as the application has them, which the engine holds for it: who is handed the handle meanwhile may retain it.
pub struct Reference<T: Body>(Arc<Object<T>>);

impl<T: Body> Reference<T> {
    /// One more reference to an object that the application has a reference to.
    pub fn new(object: &Object<T>) -> Self {
        let object = object.to_arc();
        let _ = Object::retain_handle(&object);
        Self(object)
    }
}

impl<T: Body> Deref for Reference<T> {
    type Target = Arc<Object<T>>;

    fn deref(&self) -> &Arc<Object<T>> {
        &self.0
    }
}

impl<T: Body> Drop for Reference<T> {
    fn drop(&mut self) {
        // It is there, so its release cannot fail; the object lives as long as the `Arc`.
        let _ = release(Held { object: NonNull::from(&*self.0) });
    }
}

/// Gives one reference of the application back, `ur*Release`; the last one lets the object die once the
/// engine has no more use for it.
///
/// # Errors
/// The kind's own code when the application holds no reference.
#[inline]
pub fn release<T: Body>(held: Held<T>) -> Result<()> {
    // What may fail is elsewhere, so that the usual case is a few instructions.
    let before = held.object().references.fetch_sub(1, Ordering::AcqRel);
    // With a keeper the object stays, even without references; it may be given out anew from now on.
    if before & !KEPT > 1 || before == KEPT | 1 {
        return Ok(());
    }
    released_last(held, before)
}

/// What [`release`] has not done: the error, or the end of the application's hold on the object.
#[cold]
#[inline(never)]
fn released_last<T: Body>(held: Held<T>, before: u32) -> Result<()> {
    let object = held.object();
    if before != 1 {
        object.references.fetch_add(1, Ordering::Release);
        return Err(Error::new(T::INVALID, format!("{} handle released more often than it was retained", T::NAME)));
    }
    T::on_last_release(object);
    // SAFETY: this was the application's last reference; `lend` left one `Arc` count for all of them.
    drop(unsafe { Arc::from_raw(object.as_arc_ptr()) });
    Ok(())
}

/// [`retain`] by the handle.
///
/// # Safety
/// As [`borrow`].
///
/// # Errors
/// As [`borrow`].
#[cfg(test)]
unsafe fn retain_by_handle<T: Body>(handle: *mut T::Opaque) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    retain(unsafe { borrow::<T>(handle) }?)
}

/// [`release`] by the handle.
///
/// # Safety
/// As [`borrow`] and [`Held::new`].
///
/// # Errors
/// As [`borrow`] and [`release`].
pub unsafe fn release_by_handle<T: Body>(handle: *mut T::Opaque) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    release(unsafe { Held::new(borrow::<T>(handle)?) })
}

#[cold]
fn null_handle<T: Body>(parameter: &str) -> Error {
    let message = format!("{parameter} is null; it must be a handle of a {}", T::NAME);
    Error::new(ur_result_t::ERROR_INVALID_NULL_HANDLE, message)
}

#[cold]
fn wrong_kind<T: Body>(parameter: &str) -> Error {
    Error::new(T::INVALID, format!("{parameter} is not a {} handle of this adapter, or was released", T::NAME))
}

/// The error of a required pointer that is null.
#[cold]
pub fn null_pointer(what: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_NULL_POINTER, format!("{what}: the pointer is null"))
}

/// Refuses flag bits that the release does not define.
///
/// # Errors
/// `INVALID_ENUMERATION` naming the unknown bits.
pub fn known_flags(call: &str, bits: u32, undefined: u32) -> Result<()> {
    if bits & undefined == 0 {
        return Ok(());
    }
    Err(Error::new(
        ur_result_t::ERROR_INVALID_ENUMERATION,
        format!("{call}: flag bits {:#x} are not defined", bits & undefined),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub struct Thing;

    impl Body for Thing {
        type Opaque = ur_ffi::ur_device_handle_t_;
        const TAG: u32 = 0x5552_00ff;
        const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_DEVICE;
        const NAME: &'static str = "thing";

        fn table() -> TableAddress {
            static TABLE: usize = 0;
            core::ptr::from_ref(&TABLE).cast()
        }
    }

    /// A handle can come from a query after the application's last release, while the engine still uses the object.
    #[test]
    fn a_retain_after_the_last_release_holds_the_object_as_the_first_reference_did() {
        let object = Object::new(Thing);
        let handle = Object::retain_handle(&object);
        for _ in 0..3 {
            assert_eq!((object.references(), Arc::strong_count(&object)), (1, 2));
            // SAFETY: `object` keeps what the handle names alive.
            unsafe { release_by_handle::<Thing>(handle) }.unwrap();
            assert_eq!((object.references(), Arc::strong_count(&object)), (0, 1));
            // SAFETY: as above.
            unsafe { retain_by_handle::<Thing>(handle) }.unwrap();
        }
        assert_eq!((object.references(), Arc::strong_count(&object)), (1, 2));
    }

    /// Another kind of this adapter's, as small as an object can be.
    struct Small;

    impl Body for Small {
        type Opaque = ur_ffi::ur_device_handle_t_;
        const TAG: u32 = 0x5552_00fe;
        const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_QUEUE;
        const NAME: &'static str = "small thing";

        fn table() -> TableAddress {
            Thing::table()
        }
    }

    /// A page behind which nothing can be read.
    struct Edge(*mut u8, usize);

    impl Edge {
        fn new() -> Self {
            // SAFETY: a question about the system.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a fresh mapping of two pages that nobody can read, of which the first is opened.
            let start = unsafe {
                let start = libc::mmap(core::ptr::null_mut(), 2 * page, libc::PROT_NONE, flags, -1, 0);
                assert_ne!(start, libc::MAP_FAILED);
                assert_eq!(libc::mprotect(start, page, libc::PROT_READ | libc::PROT_WRITE), 0);
                start
            };
            Self(start.cast(), page)
        }

        /// The last words of the page.
        fn end_with<const N: usize>(&self, words: [usize; N]) -> *mut ur_ffi::ur_device_handle_t_ {
            // SAFETY: inside of the page, and aligned.
            unsafe {
                let place = self.0.add(self.1 - size_of_val(&words));
                place.cast::<[usize; N]>().write(words);
                place.cast()
            }
        }
    }

    impl Drop for Edge {
        fn drop(&mut self) {
            // SAFETY: the mapping is this object's.
            unsafe { libc::munmap(self.0.cast(), 2 * self.1) };
        }
    }

    fn refused_by_all(handle: *mut ur_ffi::ur_device_handle_t_) {
        // SAFETY: as much of an object as the test is about.
        let answers = unsafe {
            [borrow::<Thing>(handle).map(drop), retain_by_handle::<Thing>(handle), release_by_handle::<Thing>(handle)]
        };
        for answer in answers {
            assert_eq!(answer.unwrap_err().code(), ur_result_t::ERROR_INVALID_DEVICE);
        }
    }

    #[test]
    fn of_another_adapter_s_object_nothing_but_the_table_is_read() {
        let edge = Edge::new();
        refused_by_all(edge.end_with([0x1000]));
        // Though it goes on with what would be the tag here.
        refused_by_all(edge.end_with([0x1000, Thing::TAG as usize]));
    }

    #[test]
    fn of_another_kind_s_object_nothing_but_the_header_is_read() {
        let edge = Edge::new();
        let table = Thing::table().expose_provenance();
        refused_by_all(edge.end_with([table, Small::TAG as usize]));
        let small = Object::new(Small);
        refused_by_all(small.handle());
        assert_eq!(small.references(), 0);
    }

    #[test]
    fn an_object_that_is_made_for_the_application_is_its_alone() {
        let handle = Object::new_handle(Thing);
        // SAFETY: the application's reference keeps what the handle names alive.
        let watch = unsafe { borrow::<Thing>(handle) }.unwrap().to_arc();
        assert_eq!((watch.references(), Arc::strong_count(&watch)), (1, 2));
        // SAFETY: `watch` does.
        unsafe { release_by_handle::<Thing>(handle) }.unwrap();
        assert_eq!((watch.references(), Arc::strong_count(&watch)), (0, 1));
    }

    #[test]
    fn a_release_too_many_is_refused_and_changes_nothing() {
        let object = Object::new(Thing);
        // SAFETY: `object` keeps what the handle names alive.
        let error = unsafe { release_by_handle::<Thing>(object.handle()) }.unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_DEVICE);
        assert_eq!((object.references(), Arc::strong_count(&object)), (0, 1));
    }
}
