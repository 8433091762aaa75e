//! The raw driver calls that the UR calls are compared with: the same native library, the same device and its primary
//! context, but a stream of their own. No context is left current, so that neither side profits from the other's.

use std::ffi::{OsStr, c_char, c_int, c_uint, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::Failure;

/// A context, stream, module and so on: an address.
pub type Handle = *mut c_void;
/// A device address.
pub type Address = u64;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;
/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`.
const RELEASE_THRESHOLD: c_int = 4;

macro_rules! functions {
    ($($field:ident = $symbol:literal ($($ty:ty),*);)*) => {
        /// The native functions.
        struct Functions { $($field: unsafe extern "C" fn($($ty),*) -> c_int,)* }

        impl Functions {
            fn of(library: &Library) -> Result<Self, Failure> {
                Ok(Self { $($field: {
                    // SAFETY: the driver's symbol of this name has this signature.
                    let symbol = unsafe { library.get(concat!($symbol, "\0").as_bytes()) };
                    *symbol.map_err(|error| Failure::Other(format!("the native library: {error}")))?
                },)* })
            }
        }

        $(#[allow(dead_code, reason = "not every name is reported")]
        mod $field { pub const NAME: &str = $symbol; })*
    };
}

functions! {
    init = "cuInit" (c_uint);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device_get = "cuDeviceGet" (*mut c_int, c_int);
    device_uuid = "cuDeviceGetUuid" (*mut [u8; 16], c_int);
    context_retain = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    context_release = "cuDevicePrimaryCtxRelease_v2" (c_int);
    context_get = "cuCtxGetCurrent" (*mut Handle);
    context_set = "cuCtxSetCurrent" (Handle);
    stream_create = "cuStreamCreateWithPriority" (*mut Handle, c_uint, c_int);
    stream_destroy = "cuStreamDestroy_v2" (Handle);
    stream_synchronize = "cuStreamSynchronize" (Handle);
    event_create = "cuEventCreate" (*mut Handle, c_uint);
    event_destroy = "cuEventDestroy_v2" (Handle);
    event_record = "cuEventRecord" (Handle, Handle);
    event_synchronize = "cuEventSynchronize" (Handle);
    module_load = "cuModuleLoadData" (*mut Handle, *const c_void);
    module_unload = "cuModuleUnload" (Handle);
    module_function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    launch = "cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    default_pool = "cuDeviceGetDefaultMemPool" (*mut Handle, c_int);
    pool_set = "cuMemPoolSetAttribute" (Handle, c_int, *mut c_void);
    pool_allocate = "cuMemAllocFromPoolAsync" (*mut Address, usize, Handle, Handle);
    free_async = "cuMemFreeAsync" (Address, Handle);
    copy_async = "cuMemcpyAsync" (Address, Address, usize, Handle);
    host_allocate = "cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
    host_free = "cuMemFreeHost" (*mut c_void);
    allocate = "cuMemAlloc_v2" (*mut Address, usize);
    free = "cuMemFree_v2" (Address);
}

macro_rules! native {
    ($functions:expr, $function:ident($($argument:expr),*)) => {
        match ($functions.$function)($($argument),*) {
            0 => Ok(()),
            status => Err(Failure::Raw { call: $function::NAME, status }),
        }
    };
}

/// The raw side, ready for every case.
pub struct Raw {
    functions: Functions,
    device: c_int,
    context: Handle,
    pool: Handle,
    module: Handle,
    kernel: Handle,
    event: Handle,
    stream: Handle,
    host: *mut c_void,
    memory: Address,
    /// Declared last: dropped after the functions are out of use.
    _library: Library,
}

// SAFETY: the driver's objects may be used from every thread, and nothing here changes after `new`.
unsafe impl Sync for Raw {}

/// Bytes of the buffers for copies.
pub const COPY: usize = 4096;

impl Raw {
    /// Opens the library and makes what the cases use, on the device with this UUID or, without one, the first.
    ///
    /// The device's default pool keeps what it has from here on (its release threshold is lifted), for both sides alike:
    /// otherwise every wait returns the pool's memory, and the next allocation is one of another kind.
    pub fn new(library: &OsStr, uuid: Option<[u8; 16]>, kernels: &Path) -> Result<Self, Failure> {
        // SAFETY: the library is the CUDA driver by the user's word, and its initialisers are run by every program.
        let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| Failure::Other(format!("the native library: {error}")))?;
        let functions = Functions::of(&library)?;
        // SAFETY: `cuInit` takes 0.
        unsafe { native!(functions, init(0)) }?;
        let device = find(&functions, uuid)?;
        let mut image = std::fs::read(kernels.join("basic.ptx"))
            .map_err(|error| Failure::Other(format!("{}: {error}", kernels.join("basic.ptx").display())))?;
        image.push(0);
        let mut this = Self {
            functions,
            device,
            context: std::ptr::null_mut(),
            pool: std::ptr::null_mut(),
            module: std::ptr::null_mut(),
            kernel: std::ptr::null_mut(),
            event: std::ptr::null_mut(),
            stream: std::ptr::null_mut(),
            host: std::ptr::null_mut(),
            memory: 0,
            _library: library,
        };
        // SAFETY: every output is a live field or local of the right type.
        unsafe {
            native!(this.functions, context_retain(&raw mut this.context, device))?;
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
        let (mut host, mut memory) = (self.host, self.memory);
        // SAFETY: as in `new`; the image ends with a zero byte.
        let made = self.current(|functions| unsafe {
            native!(functions, module_load(&raw mut module, image.as_ptr().cast()))?;
            native!(functions, module_function(&raw mut kernel, module, c"empty".as_ptr()))?;
            native!(functions, event_create(&raw mut event, DISABLE_TIMING))?;
            native!(functions, host_allocate(&raw mut host, COPY, 0))?;
            native!(functions, allocate(&raw mut memory, COPY))
        });
        (self.module, self.kernel, self.event, self.host, self.memory) = (module, kernel, event, host, memory);
        made
    }

    /// Runs something with the context current, and gives the thread back what it had.
    fn current<T>(&self, run: impl FnOnce(&Functions) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut before: Handle = std::ptr::null_mut();
        // SAFETY: a live context and a writable output; the second call restores what the first saw.
        unsafe {
            native!(self.functions, context_get(&raw mut before))?;
            native!(self.functions, context_set(self.context))?;
            let result = run(&self.functions);
            native!(self.functions, context_set(before))?;
            result
        }
    }

    /// The stream of the single-threaded cases.
    pub fn stream(&self) -> Handle {
        self.stream
    }

    /// One more stream; destroyed with [`destroy_stream`](Self::destroy_stream).
    pub fn new_stream(&self) -> Result<Handle, Failure> {
        let mut stream: Handle = std::ptr::null_mut();
        self.current(|functions| {
            // SAFETY: a writable output.
            unsafe { native!(functions, stream_create(&raw mut stream, NON_BLOCKING, 0)) }
        })?;
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
        let none = std::ptr::null_mut();
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

    /// A small copy to the device.
    #[inline]
    pub fn copy(&self) -> Result<(), Failure> {
        // SAFETY: both buffers have `COPY` bytes and live as long as `self`.
        unsafe { native!(self.functions, copy_async(self.memory, self.host.addr() as Address, COPY, self.stream)) }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let (stream, event, module, host, memory) = (self.stream, self.event, self.module, self.host, self.memory);
        // Errors have nobody to go to. What was not made is null, and null is not released.
        let _ = self.current(|functions| {
            // SAFETY: made in `new`, released once; the stream's work is over before its buffers go.
            unsafe {
                if !stream.is_null() {
                    let _ = (functions.stream_synchronize)(stream);
                    let _ = (functions.stream_destroy)(stream);
                }
                if !event.is_null() {
                    let _ = (functions.event_destroy)(event);
                }
                if !module.is_null() {
                    let _ = (functions.module_unload)(module);
                }
                if !host.is_null() {
                    let _ = (functions.host_free)(host);
                }
                if memory != 0 {
                    let _ = (functions.free)(memory);
                }
            }
            Ok(())
        });
        if !self.context.is_null() {
            // SAFETY: retained once in `new`.
            let _ = unsafe { (self.functions.context_release)(self.device) };
        }
    }
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
            (functions.device_uuid)(&raw mut its, device)
        };
        if status == 0 && uuid == Some(its) {
            return Ok(device);
        }
        first.get_or_insert(device);
    }
    first.ok_or_else(|| Failure::Other("the native library has no device".to_owned()))
}
