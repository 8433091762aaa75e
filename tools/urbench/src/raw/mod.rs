//! The raw calls that the UR calls are compared with: the native library that the adapter uses, CUDA's or HIP's, the same
//! device and its primary context, but a stream of their own. The work is written once for both APIs. Nothing is left
//! current, so that neither side profits from the other's.

mod graphs;
mod more;
mod symbols;
mod values;

use std::ffi::{OsString, c_int, c_void};
use std::path::Path;
use std::ptr::null_mut;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::Failure;
pub use graphs::Graph;
pub use more::{Function, Kind};
pub use symbols::{Address, Api, Handle};
use symbols::{BY_ADDRESS, Copying, DISABLE_TIMING, Functions, NON_BLOCKING, Place, RELEASE_THRESHOLD};
pub use values::Word;

/// Turns a status into a failure that names the call.
macro_rules! check {
    ($native:expr, ($($argument:expr),*)) => {
        match ($native.call)($($argument),*) {
            0 => Ok(()),
            status => Err(Failure::Raw { call: $native.name, status }),
        }
    };
}

macro_rules! native {
    ($functions:expr, $function:ident($($argument:expr),*)) => { check!($functions.$function, ($($argument),*)) };
}

pub(crate) use {check, native};

/// The raw side, ready for every case.
pub struct Raw {
    functions: Functions,
    device: c_int,
    context: Handle,
    pool: Handle,
    module: Handle,
    /// Null where the device takes no PTX; then nothing is launched.
    kernel: Handle,
    event: Handle,
    stream: Handle,
    /// Where copies go to and come from: the UR's own buffers, since what the driver has to find out about an address is not
    /// the same for every one.
    buffers: Option<(Address, Address)>,
    /// Declared last: dropped after the functions are out of use.
    _library: Library,
}

// SAFETY: the driver's objects may be used from every thread, and nothing here changes after `new`.
unsafe impl Sync for Raw {}

/// Bytes of the buffers for copies.
pub const COPY: usize = 4096;

/// What a thread had current.
enum Before {
    Context(Handle),
    Device(c_int),
}

impl Raw {
    /// Opens the first of the libraries that can be opened and makes what the cases use, on the device with this UUID or,
    /// without one, the first.
    ///
    /// The device's default pool keeps what it has from here on (its release threshold is lifted): otherwise every wait
    /// returns the pool's memory, and the next allocation is one of another kind.
    pub fn new(api: Api, libraries: &[OsString], uuid: Option<[u8; 16]>, kernels: &Path) -> Result<Self, Failure> {
        let library = open(libraries)?;
        let functions = Functions::of(&library, api)?;
        // SAFETY: `cuInit` and `hipInit` take 0.
        unsafe { native!(functions, init(0)) }?;
        let device = find(&functions, uuid)?;
        let mut image = std::fs::read(kernels.join("basic.ptx"))
            .map_err(|error| Failure::Other(format!("{}: {error}", kernels.join("basic.ptx").display())))?;
        image.push(0);
        let mut this = Self {
            functions,
            device,
            context: null_mut(),
            pool: null_mut(),
            module: null_mut(),
            kernel: null_mut(),
            event: null_mut(),
            stream: null_mut(),
            buffers: None,
            _library: library,
        };
        if let Place::Context { retain, .. } = &this.functions.place {
            // SAFETY: a writable output; given back in `drop`.
            unsafe { check!(retain, (&raw mut this.context, device)) }?;
        }
        // SAFETY: every output is a live field or local of the right type.
        unsafe {
            native!(this.functions, default_pool(&raw mut this.pool, device))?;
            let mut threshold = u64::MAX;
            native!(this.functions, pool_set(this.pool, RELEASE_THRESHOLD, (&raw mut threshold).cast()))?;
        }
        this.stream = this.new_stream()?;
        this.make_objects(&image)?;
        Ok(this)
    }

    fn make_objects(&mut self, image: &[u8]) -> Result<(), Failure> {
        let (mut module, mut kernel, mut event) = (self.module, self.kernel, self.event);
        // SAFETY: as in `new`; the image ends with a zero byte.
        let made = self.current(|functions| unsafe {
            if (functions.module_load.call)(&raw mut module, image.as_ptr().cast()) == 0 {
                native!(functions, module_function(&raw mut kernel, module, c"empty".as_ptr()))?;
            }
            native!(functions, event_create(&raw mut event, DISABLE_TIMING))
        });
        (self.module, self.kernel, self.event) = (module, kernel, event);
        made
    }

    /// Runs something with the context or device current, and gives the thread back what it had.
    fn current<T>(&self, run: impl FnOnce(&Functions) -> Result<T, Failure>) -> Result<T, Failure> {
        let before = self.enter()?;
        let result = run(&self.functions);
        self.give_back(&before)?;
        result
    }

    /// Makes the context or device current; gives what was.
    fn enter(&self) -> Result<Before, Failure> {
        match &self.functions.place {
            Place::Context { get, set, .. } => {
                let mut before: Handle = null_mut();
                // SAFETY: a live context and a writable output.
                unsafe {
                    check!(get, (&raw mut before))?;
                    check!(set, (self.context))?;
                }
                Ok(Before::Context(before))
            }
            Place::Device { get, set } => {
                let mut before = 0;
                // SAFETY: as above, with ordinals.
                unsafe {
                    check!(get, (&raw mut before))?;
                    check!(set, (self.device))?;
                }
                Ok(Before::Device(before))
            }
        }
    }

    /// Makes current what [`Raw::enter`] saw.
    fn give_back(&self, before: &Before) -> Result<(), Failure> {
        // SAFETY: what was current is alive or null.
        unsafe {
            match (&self.functions.place, before) {
                (Place::Context { set, .. }, Before::Context(context)) => check!(set, (*context)),
                (Place::Device { set, .. }, Before::Device(device)) => check!(set, (*device)),
                _ => unreachable!("an API has contexts or ordinals"),
            }
        }
    }

    /// Whether the device took the kernel.
    pub fn can_launch(&self) -> bool {
        !self.kernel.is_null()
    }

    /// The stream of the single-threaded cases.
    pub fn stream(&self) -> Handle {
        self.stream
    }

    /// One more stream; destroyed with [`destroy_stream`](Self::destroy_stream).
    pub fn new_stream(&self) -> Result<Handle, Failure> {
        let mut stream: Handle = null_mut();
        self.current(|functions| {
            // SAFETY: a writable output.
            unsafe { native!(functions, stream_create(&raw mut stream, NON_BLOCKING, 0)) }
        })?;
        Ok(stream)
    }

    /// The same where the raw side's device or context is current.
    #[inline]
    pub fn new_stream_here(&self) -> Result<Handle, Failure> {
        let mut stream: Handle = null_mut();
        // SAFETY: a writable output.
        unsafe { native!(self.functions, stream_create(&raw mut stream, NON_BLOCKING, 0)) }?;
        Ok(stream)
    }

    /// Ends a stream.
    pub fn destroy_stream(&self, stream: Handle) -> Result<(), Failure> {
        // SAFETY: made by `new_stream`, destroyed once by the caller's word.
        unsafe { native!(self.functions, stream_destroy(stream)) }
    }

    /// One allocation and its release, both in the stream's order.
    #[inline]
    pub fn allocate_and_free(&self, size: usize, stream: Handle) -> Result<(), Failure> {
        let mut address = 0;
        // SAFETY: live objects; nothing uses the memory.
        unsafe {
            native!(self.functions, pool_allocate(&raw mut address, size, self.pool, stream))?;
            native!(self.functions, free_async(address, stream))
        }
    }

    /// An empty kernel.
    #[inline]
    pub fn launch(&self) -> Result<(), Failure> {
        let none = null_mut();
        // SAFETY: a live function without parameters.
        unsafe { native!(self.functions, launch(self.kernel, 1, 1, 1, 1, 1, 1, 0, self.stream, none, none)) }
    }

    /// Waits for the stream.
    #[inline]
    pub fn synchronize(&self, stream: Handle) -> Result<(), Failure> {
        // SAFETY: a live stream.
        unsafe { native!(self.functions, stream_synchronize(stream)) }
    }

    /// Records the event and waits for it.
    #[inline]
    pub fn record_and_wait(&self) -> Result<(), Failure> {
        // SAFETY: live objects.
        unsafe {
            native!(self.functions, event_record(self.event, self.stream))?;
            native!(self.functions, event_synchronize(self.event))
        }
    }

    /// Names the buffers for copies: device memory and pinned host memory of [`COPY`] bytes, which outlive all copies.
    pub fn copy_between(&mut self, to: *mut c_void, from: *mut c_void) {
        self.buffers = Some((to.addr() as Address, from.addr() as Address));
    }

    /// A small copy to the device.
    #[inline]
    pub fn copy(&self) -> Result<(), Failure> {
        self.copy_on(self.stream)
    }

    /// The same on any stream.
    #[inline]
    pub fn copy_on(&self, stream: Handle) -> Result<(), Failure> {
        let Some((to, from)) = self.buffers else {
            return Err(Failure::Other("the raw side has no buffers".to_owned()));
        };
        // SAFETY: both buffers have `COPY` bytes and outlive the copy by the word of whoever named them.
        unsafe {
            match &self.functions.copy {
                Copying::Plain(copy) => check!(copy, (to, from, COPY, stream)),
                Copying::WithKind(copy) => check!(copy, (to, from, COPY, BY_ADDRESS, stream)),
            }
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let (stream, event, module) = (self.stream, self.event, self.module);
        // Errors have nobody to go to. What was not made is null, and null is not released.
        let _ = self.current(|functions| {
            // SAFETY: made in `new`, released once.
            unsafe {
                if !stream.is_null() {
                    let _ = (functions.stream_synchronize.call)(stream);
                    let _ = (functions.stream_destroy.call)(stream);
                }
                if !event.is_null() {
                    let _ = (functions.event_destroy.call)(event);
                }
                if !module.is_null() {
                    let _ = (functions.module_unload.call)(module);
                }
            }
            Ok(())
        });
        if let (Place::Context { release, .. }, false) = (&self.functions.place, self.context.is_null()) {
            // SAFETY: retained once in `new`.
            let _ = unsafe { (release.call)(self.device) };
        }
    }
}

/// The first library that can be opened: the adapter tried the same names in the same order.
fn open(libraries: &[OsString]) -> Result<Library, Failure> {
    let mut reasons = Vec::new();
    for name in libraries {
        // SAFETY: the library is the native one by the user's word, and its initialisers are run by every program.
        match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) } {
            Ok(library) => return Ok(library),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    Err(Failure::Other(format!("the native library: {}", reasons.join("; "))))
}

/// The device with a UUID, or the first.
fn find(functions: &Functions, uuid: Option<[u8; 16]>) -> Result<c_int, Failure> {
    let mut count = 0;
    // SAFETY: a writable output.
    unsafe { native!(functions, device_count(&raw mut count)) }?;
    let mut first = None;
    for ordinal in 0..count {
        let (mut device, mut its) = (0, [0; 16]);
        // SAFETY: writable outputs.
        let status = unsafe {
            native!(functions, device_get(&raw mut device, ordinal))?;
            (functions.device_uuid.call)(&raw mut its, device)
        };
        if status == 0 && uuid == Some(its) {
            return Ok(device);
        }
        first.get_or_insert(device);
    }
    first.ok_or_else(|| Failure::Other("the native library has no device".to_owned()))
}
