//! The native libraries below the adapter, as far as tests look at them beside the adapter: the calling thread's current
//! context and device. Works on the real driver and on the simulated one; the adapter must have opened the library before.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ffi::CString;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::Environment;

/// glibc's and musl's flag: only what is loaded already.
const RTLD_NOLOAD: c_int = 4;

/// A native context handle.
pub type NativeContext = *mut c_void;

/// Streams and events that a test makes of the native library itself, as an application beside the adapter would.
/// HIP's calls for them have CUDA's parameters.
pub struct Streams {
    library: Library,
    prefix: &'static str,
    cuda: Option<Cuda>,
}

impl Streams {
    /// The library that the adapter has loaded, with `context` current on this thread, which is a CUDA driver's alone.
    #[must_use]
    pub fn of(context: Option<usize>) -> Self {
        let below = crate::below::Below::the_adapter();
        let Some(library) = loaded(below.named()) else { panic!("the adapter has no native library loaded") };
        let cuda = context.map(|context| {
            let Some(cuda) = Cuda::loaded() else { panic!("a native context without a CUDA driver") };
            cuda.set_current(core::ptr::with_exposed_provenance_mut(context));
            cuda
        });
        Self { library, prefix: below.prefix, cuda }
    }

    fn call<T: Copy>(&self, name: &str) -> T {
        // SAFETY: callers name the type that the headers give the symbol.
        unsafe { symbol(&self.library, &format!("{}{name}", self.prefix)) }
    }

    /// A stream that synchronises with no other.
    #[must_use]
    pub fn stream(&self) -> usize {
        const NON_BLOCKING: c_uint = 1;
        let name = if self.cuda.is_some() { "StreamCreate" } else { "StreamCreateWithFlags" };
        let create: unsafe extern "C" fn(*mut usize, c_uint) -> c_int = self.call(name);
        let mut stream = 0;
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { create(&raw mut stream, NON_BLOCKING) }, 0, "{name}");
        stream
    }

    /// Destroys a stream that is the test's.
    pub fn destroy_stream(&self, stream: usize) {
        let name = if self.cuda.is_some() { "StreamDestroy_v2" } else { "StreamDestroy" };
        let destroy: unsafe extern "C" fn(usize) -> c_int = self.call(name);
        // SAFETY: a stream of this test's, destroyed once.
        assert_eq!(unsafe { destroy(stream) }, 0, "{name}");
    }

    /// Begins a capture on a stream, which refuses nothing that other streams and other threads do.
    pub fn begin_capture(&self, stream: usize) {
        const RELAXED: c_uint = 2;
        let name = if self.cuda.is_some() { "StreamBeginCapture_v2" } else { "StreamBeginCapture" };
        let begin: unsafe extern "C" fn(usize, c_uint) -> c_int = self.call(name);
        // SAFETY: a stream of this test's.
        assert_eq!(unsafe { begin(stream, RELAXED) }, 0, "{name}");
    }

    /// Ends a capture that is broken: there is no graph.
    pub fn end_broken_capture(&self, stream: usize) {
        let end: unsafe extern "C" fn(usize, *mut usize) -> c_int = self.call("StreamEndCapture");
        let mut graph = 0;
        // SAFETY: a stream of this test's; the output is a live local.
        assert_ne!(unsafe { end(stream, &raw mut graph) }, 0, "StreamEndCapture of a capture that is broken");
    }

    /// An event without times.
    #[must_use]
    pub fn event(&self) -> usize {
        const DISABLE_TIMING: c_uint = 2;
        let name = if self.cuda.is_some() { "EventCreate" } else { "EventCreateWithFlags" };
        let create: unsafe extern "C" fn(*mut usize, c_uint) -> c_int = self.call(name);
        let mut event = 0;
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { create(&raw mut event, DISABLE_TIMING) }, 0, "{name}");
        event
    }

    /// Records an event on a stream.
    pub fn record(&self, event: usize, stream: usize) {
        let record: unsafe extern "C" fn(usize, usize) -> c_int = self.call("EventRecord");
        // SAFETY: both are alive.
        assert_eq!(unsafe { record(event, stream) }, 0, "EventRecord");
    }

    /// What the library answers to the question whether an event is done: 0, or 600 for "not yet".
    #[must_use]
    pub fn query(&self, event: usize) -> c_int {
        let query: unsafe extern "C" fn(usize) -> c_int = self.call("EventQuery");
        // SAFETY: the event is alive.
        unsafe { query(event) }
    }

    /// Fills words of memory of the device on a stream.
    pub fn fill(&self, stream: usize, memory: usize, value: u32, count: usize) {
        let fill: unsafe extern "C" fn(usize, u32, usize, usize) -> c_int = self.call("MemsetD32Async");
        // SAFETY: the caller's memory and stream, which are alive.
        assert_eq!(unsafe { fill(memory, value, count, stream) }, 0, "MemsetD32Async");
    }

    /// How many nodes an application's own relaxed capture of a stream has, which whatever `work` does must leave whole.
    #[track_caller]
    pub fn nodes_of_capture(&self, stream: usize, work: impl FnOnce()) -> usize {
        const RELAXED: c_uint = 2;
        let name = if self.cuda.is_some() { "StreamBeginCapture_v2" } else { "StreamBeginCapture" };
        let begin: unsafe extern "C" fn(usize, c_uint) -> c_int = self.call(name);
        let end: unsafe extern "C" fn(usize, *mut usize) -> c_int = self.call("StreamEndCapture");
        let count_nodes: unsafe extern "C" fn(usize, *mut usize, *mut usize) -> c_int = self.call("GraphGetNodes");
        let destroy: unsafe extern "C" fn(usize) -> c_int = self.call("GraphDestroy");
        // SAFETY: the stream is alive.
        assert_eq!(unsafe { begin(stream, RELAXED) }, 0, "{name}");
        work();
        let (mut graph, mut count) = (0, 0);
        // SAFETY: the stream is alive, the output a live local.
        assert_eq!(unsafe { end(stream, &raw mut graph) }, 0, "the end of the application's own capture");
        // SAFETY: the graph is this function's, the output a live local.
        assert_eq!(unsafe { count_nodes(graph, core::ptr::null_mut(), &raw mut count) }, 0, "GraphGetNodes");
        // SAFETY: as above, and nobody uses it any more.
        assert_eq!(unsafe { destroy(graph) }, 0, "GraphDestroy");
        count
    }

    /// Closes memory of another process, behind the back of whoever opened it.
    pub fn close_opened_memory(&self, address: usize) {
        let close: unsafe extern "C" fn(usize) -> c_int = self.call("IpcCloseMemHandle");
        // SAFETY: any address may be given; nobody uses the memory.
        assert_eq!(unsafe { close(address) }, 0, "IpcCloseMemHandle");
    }

    /// Destroys an event that is the test's.
    pub fn destroy_event(&self, event: usize) {
        let name = if self.cuda.is_some() { "EventDestroy_v2" } else { "EventDestroy" };
        let destroy: unsafe extern "C" fn(usize) -> c_int = self.call(name);
        // SAFETY: an event of this test's, destroyed once.
        assert_eq!(unsafe { destroy(event) }, 0, "{name}");
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        if let Some(cuda) = &self.cuda {
            cuda.set_current(core::ptr::null_mut());
        }
    }
}

/// The HIP runtime API that is loaded.
pub struct Hip {
    library: Library,
}

impl Hip {
    /// The library of the environment, if the adapter has it loaded.
    #[must_use]
    pub fn loaded() -> Option<Self> {
        loaded(&Environment::get().hip).map(|library| Self { library })
    }

    /// The calling thread's current device.
    #[must_use]
    pub fn current(&self) -> c_int {
        // SAFETY: the type is the header's.
        let get: unsafe extern "C" fn(*mut c_int) -> c_int = unsafe { symbol(&self.library, "hipGetDevice") };
        let mut device = -1;
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { get(&raw mut device) }, 0, "hipGetDevice");
        device
    }

    /// Makes a device current.
    pub fn set_current(&self, device: c_int) {
        // SAFETY: the type is the header's.
        let set: unsafe extern "C" fn(c_int) -> c_int = unsafe { symbol(&self.library, "hipSetDevice") };
        // SAFETY: a plain number.
        assert_eq!(unsafe { set(device) }, 0, "hipSetDevice");
    }

    /// The thread's last failure, which is forgotten by it.
    pub fn take_last_error(&self) -> c_int {
        // SAFETY: the type is the header's.
        let take: unsafe extern "C" fn() -> c_int = unsafe { symbol(&self.library, "hipGetLastError") };
        // SAFETY: no arguments.
        unsafe { take() }
    }

    /// Devices that there are.
    #[must_use]
    pub fn device_count(&self) -> c_int {
        // SAFETY: the type is the header's.
        let count: unsafe extern "C" fn(*mut c_int) -> c_int = unsafe { symbol(&self.library, "hipGetDeviceCount") };
        let mut devices = 0;
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { count(&raw mut devices) }, 0, "hipGetDeviceCount");
        devices
    }

    /// Whether this is HIP over CUDA, which counts calls.
    #[must_use]
    pub fn counts_calls(&self) -> bool {
        // SAFETY: only the address is taken.
        unsafe { self.library.get::<*mut c_void>(b"hiponcudaCallCount\0") }.is_ok()
    }

    /// Registers a kernel of compiled host code with HIP over CUDA, by the address of its host function.
    pub fn register_function(&self, symbol: *const c_void, image: &CStr, name: &CStr) {
        type Register = unsafe extern "C" fn(*const c_void, *const c_char, *const c_char) -> c_int;
        // SAFETY: the type is that of `hip_on_cuda.h`.
        let register: Register = unsafe { self::symbol(&self.library, "hiponcudaRegisterFunction") };
        // SAFETY: strings with their ends, of which copies are kept.
        assert_eq!(unsafe { register(symbol, image.as_ptr(), name.as_ptr()) }, 0, "a kernel of host code");
    }

    /// Forgets the kernels that were registered; none is in use.
    pub fn forget_functions(&self) {
        // SAFETY: the type is that of `hip_on_cuda.h`.
        let forget: unsafe extern "C" fn() = unsafe { self::symbol(&self.library, "hiponcudaForgetFunctions") };
        // SAFETY: no arguments; nothing of the kernels is used any more, as the caller says.
        unsafe { forget() };
    }

    /// Calls of a function so far, as HIP over CUDA counts them.
    #[must_use]
    pub fn calls(&self, name: &str) -> u64 {
        // SAFETY: the type is that of `hip_on_cuda.h`.
        let count: unsafe extern "C" fn(*const core::ffi::c_char) -> u64 =
            unsafe { symbol(&self.library, "hiponcudaCallCount") };
        let name = CString::new(name).expect("a function's name");
        // SAFETY: a string with its end.
        unsafe { count(name.as_ptr()) }
    }
}

/// The CUDA driver API that is loaded.
pub struct Cuda {
    library: Library,
}

impl Cuda {
    /// The library of the environment, if the adapter has it loaded and it is a CUDA driver.
    #[must_use]
    pub fn loaded() -> Option<Self> {
        let library = loaded(&Environment::get().native)?;
        let cuda = Self { library };
        // SAFETY: only the address is taken.
        unsafe { cuda.library.get::<*mut c_void>(b"cuCtxGetCurrent\0") }.is_ok().then_some(cuda)
    }

    fn symbol<T: Copy>(&self, name: &str) -> T {
        // SAFETY: callers name the type that the driver's header gives the symbol.
        unsafe { symbol(&self.library, name) }
    }

    /// The calling thread's current context.
    #[must_use]
    pub fn current(&self) -> NativeContext {
        let get: unsafe extern "C" fn(*mut NativeContext) -> c_int = self.symbol("cuCtxGetCurrent");
        let mut context = core::ptr::null_mut();
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { get(&raw mut context) }, 0, "cuCtxGetCurrent");
        context
    }

    /// Makes a context, or none, current.
    pub fn set_current(&self, context: NativeContext) {
        let set: unsafe extern "C" fn(NativeContext) -> c_int = self.symbol("cuCtxSetCurrent");
        // SAFETY: a context that `create` made, or null.
        assert_eq!(unsafe { set(context) }, 0, "cuCtxSetCurrent");
    }

    /// Devices that there are.
    #[must_use]
    pub fn device_count(&self) -> c_int {
        let count: unsafe extern "C" fn(*mut c_int) -> c_int = self.symbol("cuDeviceGetCount");
        let mut devices = 0;
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { count(&raw mut devices) }, 0, "cuDeviceGetCount");
        devices
    }

    /// A context of its own on a device; it is current afterwards.
    #[must_use]
    pub fn create(&self, device: c_int) -> NativeContext {
        let create: unsafe extern "C" fn(*mut NativeContext, c_uint, c_int) -> c_int = self.symbol("cuCtxCreate_v2");
        let mut context = core::ptr::null_mut();
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { create(&raw mut context, 0, device) }, 0, "cuCtxCreate");
        context
    }

    /// Takes one more reference to a device's primary context, as an application beside the adapter may have, and gives the
    /// context.
    pub fn retain_primary(&self, device: c_int) -> NativeContext {
        let retain: unsafe extern "C" fn(*mut NativeContext, c_int) -> c_int = self.symbol("cuDevicePrimaryCtxRetain");
        let mut context = core::ptr::null_mut();
        // SAFETY: the output is a live local.
        assert_eq!(unsafe { retain(&raw mut context, device) }, 0, "cuDevicePrimaryCtxRetain");
        context
    }

    /// Gives a reference of `retain_primary` back.
    pub fn release_primary(&self, device: c_int) {
        let release: unsafe extern "C" fn(c_int) -> c_int = self.symbol("cuDevicePrimaryCtxRelease_v2");
        // SAFETY: the test took the reference.
        assert_eq!(unsafe { release(device) }, 0, "cuDevicePrimaryCtxRelease");
    }

    /// Whether anybody has a device's primary context.
    #[must_use]
    pub fn primary_is_active(&self, device: c_int) -> bool {
        let ask: unsafe extern "C" fn(c_int, *mut c_uint, *mut c_int) -> c_int =
            self.symbol("cuDevicePrimaryCtxGetState");
        let (mut flags, mut active) = (0, 0);
        // SAFETY: the outputs are live locals.
        assert_eq!(unsafe { ask(device, &raw mut flags, &raw mut active) }, 0, "cuDevicePrimaryCtxGetState");
        active != 0
    }

    /// Destroys a context that `create` made.
    pub fn destroy(&self, context: NativeContext) {
        let destroy: unsafe extern "C" fn(NativeContext) -> c_int = self.symbol("cuCtxDestroy_v2");
        // SAFETY: made by `create`, destroyed once.
        assert_eq!(unsafe { destroy(context) }, 0, "cuCtxDestroy");
    }
}

/// A library that is loaded already.
pub(crate) fn loaded(name: &std::ffi::OsStr) -> Option<Library> {
    // SAFETY: nothing is loaded and no initialiser runs, by the flag.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) }.ok()
}

/// # Safety
/// `T` is the symbol's type.
pub(crate) unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> T {
    let text = CString::new(name).unwrap_or_default();
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<T>(text.as_bytes_with_nul()) };
    *found.unwrap_or_else(|error| panic!("the native library has no {name}: {error}"))
}
