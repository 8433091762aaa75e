//! The seam between the engine and a native library: one method for one native call, no policy.
//!
//! [`Driver`] is the sum of groups, one file each, named after the chapters of the native manuals. A backend implements
//! every group over its symbol table, in files of the same names; `crate::api::noop` is the smallest backend there is, and the
//! template of a new one. Methods must not cache, retry, change what the thread has current or take locks of their own,
//! and must not be called inside a native host callback.
//!
//! # Current context
//! A method whose documentation says **needs the context** is called with the device's native context current on the
//! calling thread ([`crate::device::scope::Scope`] sees to that); all others work whatever is current.
//!
//! # Who keeps a native object alive
//! A value of a [`Handle`] type is the native object's one owner: the engine is generic, so it can neither copy such a
//! value nor make one up. Methods that use an object borrow its handle, and methods that end it take the handle by value;
//! both are safe, since Rust's ownership says what the native library asks for. Beyond that are, and `unsafe`: to make
//! a handle of a number ([`Handle::from_value`]), to free memory that the host can touch or whose address others know, to
//! end what other objects live in (contexts, pools, modules), and to submit work that touches memory.
//!
//! # What a backend can lack
//! A method with a default answers `UNSUPPORTED_FEATURE` or "not told" until a backend overrides it.

pub mod contexts;
pub mod devices;
pub mod events;
pub mod external;
pub mod graphs;
pub mod images;
pub mod interprocess;
pub mod kernels;
pub mod memory;
pub mod modules;
pub mod native;
pub mod pools;
pub mod properties;
pub mod streams;
pub mod transfers;
pub mod virtual_memory;

use core::fmt::Debug;
use core::hash::Hash;

use ur_ffi::ur_backend_t;

use crate::driver::native::cell::AdapterCell;
use crate::object::error::{Error, OpenError, Result};

pub use contexts::Contexts;
pub use devices::{Devices, Sensor};
pub use events::{EventPurpose, Events};
pub use external::{External, SemaphoreKind};
pub use graphs::Graphs;
pub use images::Images;
pub use interprocess::{Interprocess, IpcHandle};
pub use kernels::{CachePreference, FunctionAttributes, Kernels, LaunchShape};
pub use memory::{Memory, MemoryKind, PointerInfo};
pub use modules::{BuildRequest, CheckedImage, Modules};
pub use native::{cell, text_of};
pub use pools::{PoolAttribute, Pools};
pub use properties::{AmdgcnTarget, DeviceProperties, PtxTarget, SpirvTarget};
pub use streams::{StreamKind, Streams};
pub use transfers::{Rows, Transfers};
pub use virtual_memory::{Access, VirtualMemory};

/// What names a native object.
pub trait NativeName: Eq + Hash + Debug + Send + Sync + 'static {
    /// The handle value that `ur_native_handle_t` carries.
    fn value(&self) -> usize;
}

/// A native object that is made and ended: whoever has the value owns the object. The default value is the library's null
/// handle, which stands for its default stream and is refused where any other object is wanted.
pub trait Handle: NativeName + Default {
    /// The object of a handle value that came through the ABI.
    ///
    /// # Safety
    /// The value is null or names a live object of this kind, which lives until the handle is given to the method that
    /// ends it, or for as long as the handle is used.
    unsafe fn from_value(value: usize) -> Self;
}

/// A native GPU library: the CUDA driver API or the HIP runtime API.
///
/// Methods name their native calls as `CUDA call / HIP call`; where both have the same name but for the prefix, CUDA's
/// stands for both.
pub trait Driver: External + Graphs + Interprocess + Sized {
    /// What `UR_ADAPTER_INFO_BACKEND` and `UR_PLATFORM_INFO_BACKEND` answer.
    const BACKEND: ur_backend_t;
    /// What `UR_PLATFORM_INFO_NAME` answers.
    const PLATFORM_NAME: &'static str;
    /// What `UR_PLATFORM_INFO_VENDOR_NAME` answers.
    const VENDOR: &'static str;
    /// PCI vendor number, `UR_DEVICE_INFO_VENDOR_ID`.
    const VENDOR_ID: u32;
    /// The environment variable that names another native library, e.g. `UR_CUDA_LIBRARY`.
    const LIBRARY_VARIABLE: &'static str;

    /// Whether copies and fills, which take their device from the stream, look at the thread's current device too.
    /// HIP's do: they check access to virtually mapped memory for the current device.
    const TRANSFERS_NEED_CONTEXT: bool;
    /// Whether a launch, which takes its device from the stream, is refused while the thread has another device current. HIP's is
    /// since ROCm 7.1 or 7.2.
    const LAUNCHES_NEED_CONTEXT: bool;
    /// Whether [`Streams::destroy_stream`] waits for the stream's work. HIP's does.
    const STREAM_ENDS_WAIT: bool;
    /// Whether [`Memory::pointer_info`] tells where a registration begins, and [`Memory::register_host`] refuses ranges that
    /// reach into one. HIP's do not.
    const TELLS_REGISTRATIONS: bool;
    /// Whether [`Memory::pointer_info`] tells the pool that memory came from. HIP's does not.
    const TELLS_POOLS: bool;
    /// Whether devices have registered memory at the process's address. On HIP not everywhere: [`Memory::registered_address`].
    const REGISTERS_IN_PLACE: bool;
    /// Granularity in bytes of a pool's maximum size.
    const POOL_STEP: usize;
    /// Whether what a thread has current is an object that applications hold handles of. CUDA's contexts are; HIP has
    /// ordinals.
    const CONTEXTS_HAVE_HANDLES: bool;
    /// Widths in bytes that [`Transfers::fill_strided_async`] takes, widest first; the last is 1.
    const STRIDED_WIDTHS: &'static [usize];
    /// Whether [`memory::Advice::CoarseGrain`] means something to the library.
    const ADVISES_COHERENCE: bool;

    /// The one adapter of this backend in the process, a static of the backend's crate.
    fn cell() -> &'static AdapterCell<Self>;

    /// Opens the native library and initialises it (`cuInit` / `hipInit`; CUDA: Initialization, HIP: Initialization and
    /// Version).
    ///
    /// # Errors
    /// Which library or symbol is missing, or what the initialisation answered. No device at all is no error:
    /// [`Devices::device_count`] is then 0.
    fn open() -> core::result::Result<Self, OpenError>;

    /// The version of the native driver as text for `UR_PLATFORM_INFO_VERSION`, e.g. `CUDA 13.0`. `cuDriverGetVersion` /
    /// `hipRuntimeGetVersion` (CUDA: Version Management, HIP: Initialization and Version).
    fn version(&self) -> Result<String>;
}

/// What a method answers that a backend does not override.
#[cold]
pub(crate) fn unsupported<T>(what: &str) -> Result<T> {
    Err(Error::unsupported(what))
}
