//! What the tests share: both libraries opened as a client opens them, and the functions they call.
//!
//! The state is the process's, so each test holds one lock. Declarations are the C ABI's, written by hand: a wrong
//! signature in the library must not be repeated here.

#![allow(dead_code, unused_macros, reason = "each test binary uses a part")]
#![allow(missing_docs, non_snake_case, reason = "the functions are the C API's")]

use core::ffi::{c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hip_on_cuda::sys::graph::*;
use hip_on_cuda::sys::layout::*;
use libloading::Library;

struct Libraries {
    hip: Library,
    cuda: Library,
}

/// The folder that cargo builds shared objects and tests into.
pub fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its file");
    test.parent().expect("files are in folders").to_owned()
}

fn libraries() -> &'static Libraries {
    static LIBRARIES: OnceLock<Libraries> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let cuda = folder().join("libsimcuda.so");
        if std::env::var_os("UR_CUDA_LIBRARY").is_none() {
            // SAFETY: done once, before the library that reads it is opened; no test reads the environment.
            unsafe { std::env::set_var("UR_CUDA_LIBRARY", &cuda) };
        }
        let open = |path: PathBuf| {
            // SAFETY: the libraries are this workspace's.
            unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        Libraries { hip: open(folder().join("libhip_on_cuda.so")), cuda: open(cuda) }
    })
}

static LOCK: Mutex<()> = Mutex::new(());

/// One test at a time, on device 0, without faults and counts.
pub fn alone() -> MutexGuard<'static, ()> {
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    hiponcudaClearFaults();
    simcudaClearFaults();
    assert_eq!(hipSetDevice(0), 0);
    hipGetLastError();
    guard
}

macro_rules! functions {
    ($library:ident: $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the functions are the C API's")]
        pub fn $name($($argument: $type),*) $(-> $answer)? {
            type Function = unsafe extern "C" fn($($type),*) $(-> $answer)?;
            static FUNCTION: OnceLock<Function> = OnceLock::new();
            let function = FUNCTION.get_or_init(|| {
                // SAFETY: the declaration is the C ABI's.
                let found = unsafe { libraries().$library.get::<Function>(concat!(stringify!($name), "\0").as_bytes()) };
                *found.unwrap_or_else(|error| panic!("{error}"))
            });
            // SAFETY: the tests pass what the function takes.
            unsafe { function($($argument),*) }
        }
    )*};
}

pub type Callback = unsafe extern "C" fn(usize, c_int, *mut c_void);
pub type HostFn = unsafe extern "C" fn(*mut c_void);
pub type CountCallback = unsafe extern "C" fn(*const c_char, u64, *mut c_void);

functions! { hip:
    fn hipInit(flags: c_uint) -> c_int;
    fn hipRuntimeGetVersion(version: *mut c_int) -> c_int;
    fn hipGetProcAddress(name: *const c_char, f: *mut *mut c_void, v: c_int, flags: u64, s: *mut c_int) -> c_int;
    fn hipGetErrorName(status: c_int) -> *const c_char;
    fn hipGetErrorString(status: c_int) -> *const c_char;
    fn hipGetLastError() -> c_int;
    fn hipPeekAtLastError() -> c_int;
    fn hipExtGetLastError() -> c_int;
    fn hipGetDeviceCount(count: *mut c_int) -> c_int;
    fn hipDeviceGet(out: *mut c_int, ordinal: c_int) -> c_int;
    fn hipDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> c_int;
    fn hipDeviceGetPCIBusId(name: *mut c_char, length: c_int, device: c_int) -> c_int;
    fn hipDeviceGetByPCIBusId(out: *mut c_int, name: *const c_char) -> c_int;
    fn hipDeviceGetUuid(out: *mut hipUUID, device: c_int) -> c_int;
    fn hipDeviceTotalMem(out: *mut usize, device: c_int) -> c_int;
    fn hipDeviceGetAttribute(out: *mut c_int, attribute: c_int, device: c_int) -> c_int;
    fn hipGetDeviceProperties(out: *mut hipDeviceProp_tR0000, device: c_int) -> c_int;
    fn hipGetDevicePropertiesR0600(out: *mut hipDeviceProp_tR0600, device: c_int) -> c_int;
    fn hipGetDevice(out: *mut c_int) -> c_int;
    fn hipSetDevice(device: c_int) -> c_int;
    fn hipDeviceSynchronize() -> c_int;
    fn hipDeviceReset() -> c_int;
    fn hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> c_int;
    fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> c_int;
    fn hipDeviceDisablePeerAccess(peer: c_int) -> c_int;
    fn hipDeviceGetDefaultMemPool(pool: *mut usize, device: c_int) -> c_int;
    fn hipDeviceGetMemPool(pool: *mut usize, device: c_int) -> c_int;
    fn hipDeviceSetMemPool(device: c_int, pool: usize) -> c_int;
    fn hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> c_int;
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> c_int;
    fn hipDevicePrimaryCtxRetain(out: *mut usize, device: c_int) -> c_int;
    fn hipDevicePrimaryCtxRelease(device: c_int) -> c_int;
    fn hipCtxGetCurrent(out: *mut usize) -> c_int;
    fn hipCtxSetCurrent(context: usize) -> c_int;
    fn hipCtxPushCurrent(context: usize) -> c_int;
    fn hipCtxPopCurrent(out: *mut usize) -> c_int;
    fn hipStreamCreate(out: *mut usize) -> c_int;
    fn hipStreamCreateWithFlags(out: *mut usize, flags: c_uint) -> c_int;
    fn hipStreamCreateWithPriority(out: *mut usize, flags: c_uint, priority: c_int) -> c_int;
    fn hipStreamDestroy(stream: usize) -> c_int;
    fn hipStreamSynchronize(stream: usize) -> c_int;
    fn hipStreamQuery(stream: usize) -> c_int;
    fn hipStreamWaitEvent(stream: usize, event: usize, flags: c_uint) -> c_int;
    fn hipStreamGetFlags(stream: usize, flags: *mut c_uint) -> c_int;
    fn hipStreamGetPriority(stream: usize, priority: *mut c_int) -> c_int;
    fn hipStreamGetDevice(stream: usize, device: *mut c_int) -> c_int;
    fn hipStreamAddCallback(stream: usize, f: Callback, data: *mut c_void, flags: c_uint) -> c_int;
    fn hipLaunchHostFunc(stream: usize, f: HostFn, data: *mut c_void) -> c_int;
    fn hipStreamWaitValue64(stream: usize, at: usize, value: u64, flags: c_uint, mask: u64) -> c_int;
    fn hipStreamWriteValue64(stream: usize, at: usize, value: u64, flags: c_uint) -> c_int;
    fn hipEventCreate(out: *mut usize) -> c_int;
    fn hipEventCreateWithFlags(out: *mut usize, flags: c_uint) -> c_int;
    fn hipEventDestroy(event: usize) -> c_int;
    fn hipEventRecord(event: usize, stream: usize) -> c_int;
    fn hipEventRecordWithFlags(event: usize, stream: usize, flags: c_uint) -> c_int;
    fn hipEventQuery(event: usize) -> c_int;
    fn hipEventSynchronize(event: usize) -> c_int;
    fn hipEventElapsedTime(ms: *mut f32, start: usize, stop: usize) -> c_int;
    fn hipMalloc(out: *mut usize, size: usize) -> c_int;
    fn hipFree(pointer: usize) -> c_int;
    fn hipHostMalloc(out: *mut usize, size: usize, flags: c_uint) -> c_int;
    fn hipHostFree(pointer: usize) -> c_int;
    fn hipHostGetFlags(flags: *mut c_uint, pointer: usize) -> c_int;
    fn hipHostGetDevicePointer(out: *mut usize, host: usize, flags: c_uint) -> c_int;
    fn hipHostRegister(pointer: usize, size: usize, flags: c_uint) -> c_int;
    fn hipHostUnregister(pointer: usize) -> c_int;
    fn hipMallocManaged(out: *mut usize, size: usize, flags: c_uint) -> c_int;
    fn hipMallocPitch(out: *mut usize, pitch: *mut usize, width: usize, height: usize) -> c_int;
    fn hipPointerGetAttributes(out: *mut hipPointerAttribute_t, pointer: usize) -> c_int;
    fn hipPointerGetAttribute(data: *mut c_void, attribute: c_int, pointer: usize) -> c_int;
    fn hipDrvPointerGetAttributes(n: c_uint, a: *const c_int, data: *const *mut c_void, pointer: usize) -> c_int;
    fn hipMemGetAddressRange(base: *mut usize, size: *mut usize, pointer: usize) -> c_int;
    fn hipMemPrefetchAsync(pointer: usize, size: usize, device: c_int, stream: usize) -> c_int;
    fn hipMemAdvise(pointer: usize, size: usize, advice: c_int, device: c_int) -> c_int;
    fn hipMemcpy(to: usize, from: usize, size: usize, kind: c_int) -> c_int;
    fn hipMemcpyAsync(to: usize, from: usize, size: usize, kind: c_int, stream: usize) -> c_int;
    fn hipMemcpyHtoD(to: usize, from: usize, size: usize) -> c_int;
    fn hipMemcpyDtoH(to: usize, from: usize, size: usize) -> c_int;
    fn hipMemcpyPeer(to: usize, td: c_int, from: usize, fd: c_int, size: usize) -> c_int;
    fn hipMemcpyPeerAsync(to: usize, td: c_int, from: usize, fd: c_int, size: usize, stream: usize) -> c_int;
    fn hipMemcpy2D(to: usize, tp: usize, from: usize, fp: usize, w: usize, h: usize, kind: c_int) -> c_int;
    fn hipMemcpyParam2DAsync(copy: *const hip_Memcpy2D, stream: usize) -> c_int;
    fn hipDrvMemcpy3D(copy: *const HIP_MEMCPY3D) -> c_int;
    fn hipMemset(to: usize, value: c_int, size: usize) -> c_int;
    fn hipMemsetAsync(to: usize, value: c_int, size: usize, stream: usize) -> c_int;
    fn hipMemsetD16Async(to: usize, value: u16, count: usize, stream: usize) -> c_int;
    fn hipMemsetD32Async(to: usize, value: c_int, count: usize, stream: usize) -> c_int;
    fn hipMemset2D(to: usize, pitch: usize, value: c_int, width: usize, height: usize) -> c_int;
    fn hipMallocAsync(out: *mut usize, size: usize, stream: usize) -> c_int;
    fn hipMallocFromPoolAsync(out: *mut usize, size: usize, pool: usize, stream: usize) -> c_int;
    fn hipFreeAsync(pointer: usize, stream: usize) -> c_int;
    fn hipMemPoolCreate(out: *mut usize, properties: *const hipMemPoolProps) -> c_int;
    fn hipMemPoolDestroy(pool: usize) -> c_int;
    fn hipMemPoolSetAttribute(pool: usize, attribute: c_int, value: *mut c_void) -> c_int;
    fn hipMemPoolGetAttribute(pool: usize, attribute: c_int, value: *mut c_void) -> c_int;
    fn hipMemPoolSetAccess(pool: usize, access: *const hipMemAccessDesc, count: usize) -> c_int;
    fn hipMemPoolGetAccess(flags: *mut c_int, pool: usize, location: *mut hipMemLocation) -> c_int;
    fn hipMemPoolTrimTo(pool: usize, keep: usize) -> c_int;
    fn hipModuleLoadData(out: *mut usize, image: *const c_void) -> c_int;
    fn hipModuleLoadDataEx(
        out: *mut usize, image: *const c_void, n: c_uint, options: *const c_int, values: *mut *mut c_void
    ) -> c_int;
    fn hipModuleUnload(module: usize) -> c_int;
    fn hipModuleGetFunction(out: *mut usize, module: usize, name: *const c_char) -> c_int;
    fn hipModuleGetGlobal(address: *mut usize, size: *mut usize, module: usize, name: *const c_char) -> c_int;
    fn hipFuncGetAttribute(out: *mut c_int, attribute: c_int, function: usize) -> c_int;
    fn hipFuncSetAttribute(function: usize, attribute: c_int, value: c_int) -> c_int;
    fn hipModuleLaunchKernel(
        f: usize, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint,
        stream: usize, arguments: *const *mut c_void, extra: *const usize
    ) -> c_int;
    fn hipModuleOccupancyMaxPotentialBlockSize(
        grid: *mut c_int, block: *mut c_int, f: usize, shared: usize, limit: c_int
    ) -> c_int;
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        out: *mut c_int, f: usize, block: c_int, shared: usize
    ) -> c_int;
    fn hipMemAddressReserve(out: *mut usize, size: usize, alignment: usize, wish: usize, flags: u64) -> c_int;
    fn hipMemAddressFree(pointer: usize, size: usize) -> c_int;
    fn hipMemCreate(out: *mut usize, size: usize, p: *const hipMemAllocationProp, flags: u64) -> c_int;
    fn hipMemRelease(handle: usize) -> c_int;
    fn hipMemMap(pointer: usize, size: usize, offset: usize, handle: usize, flags: u64) -> c_int;
    fn hipMemUnmap(pointer: usize, size: usize) -> c_int;
    fn hipMemSetAccess(pointer: usize, size: usize, access: *const hipMemAccessDesc, count: usize) -> c_int;
    fn hipMemGetAllocationGranularity(out: *mut usize, p: *const hipMemAllocationProp, option: c_int) -> c_int;
    fn hipGraphCreate(out: *mut usize, flags: c_uint) -> c_int;
    fn hipGraphDestroy(graph: usize) -> c_int;
    fn hipGraphClone(out: *mut usize, original: usize) -> c_int;
    fn hipGraphNodeFindInClone(out: *mut usize, original: usize, clone: usize) -> c_int;
    fn hipGraphAddDependencies(graph: usize, from: *const usize, to: *const usize, count: usize) -> c_int;
    fn hipGraphGetNodes(graph: usize, nodes: *mut usize, count: *mut usize) -> c_int;
    fn hipGraphGetRootNodes(graph: usize, nodes: *mut usize, count: *mut usize) -> c_int;
    fn hipGraphGetEdges(graph: usize, from: *mut usize, to: *mut usize, count: *mut usize) -> c_int;
    fn hipGraphNodeGetType(node: usize, kind: *mut c_int) -> c_int;
    fn hipGraphDebugDotPrint(graph: usize, path: *const c_char, flags: c_uint) -> c_int;
    fn hipGraphAddKernelNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, p: *const hipKernelNodeParams
    ) -> c_int;
    fn hipGraphAddMemcpyNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, p: *const hipMemcpy3DParms
    ) -> c_int;
    fn hipGraphAddMemcpyNode1D(
        out: *mut usize, graph: usize, after: *const usize, count: usize, to: usize, from: usize, size: usize,
        kind: c_int
    ) -> c_int;
    fn hipGraphAddMemsetNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, p: *const hipMemsetParams
    ) -> c_int;
    fn hipGraphAddHostNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, p: *const hipHostNodeParams
    ) -> c_int;
    fn hipGraphAddEmptyNode(out: *mut usize, graph: usize, after: *const usize, count: usize) -> c_int;
    fn hipGraphAddChildGraphNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, child: usize
    ) -> c_int;
    fn hipGraphAddEventRecordNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, event: usize
    ) -> c_int;
    fn hipGraphAddEventWaitNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, event: usize
    ) -> c_int;
    fn hipGraphAddMemAllocNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, p: *mut hipMemAllocNodeParams
    ) -> c_int;
    fn hipGraphAddMemFreeNode(
        out: *mut usize, graph: usize, after: *const usize, count: usize, pointer: usize
    ) -> c_int;
    fn hipGraphKernelNodeSetAttribute(node: usize, attribute: c_int, value: *const c_uint) -> c_int;
    fn hipGraphInstantiateWithFlags(out: *mut usize, graph: usize, flags: u64) -> c_int;
    fn hipGraphLaunch(exec: usize, stream: usize) -> c_int;
    fn hipGraphUpload(exec: usize, stream: usize) -> c_int;
    fn hipGraphExecDestroy(exec: usize) -> c_int;
    fn hipGraphExecUpdate(exec: usize, graph: usize, node: *mut usize, result: *mut c_int) -> c_int;
    fn hipGraphExecKernelNodeSetParams(exec: usize, node: usize, p: *const hipKernelNodeParams) -> c_int;
    fn hipGraphExecMemcpyNodeSetParams1D(
        exec: usize, node: usize, to: usize, from: usize, size: usize, kind: c_int
    ) -> c_int;
    fn hipGraphExecMemsetNodeSetParams(exec: usize, node: usize, p: *const hipMemsetParams) -> c_int;
    fn hipGraphExecEventRecordNodeSetEvent(exec: usize, node: usize, event: usize) -> c_int;
    fn hipGraphExecEventWaitNodeSetEvent(exec: usize, node: usize, event: usize) -> c_int;
    fn hipGraphNodeSetEnabled(exec: usize, node: usize, enabled: c_uint) -> c_int;
    fn hipGraphNodeGetEnabled(exec: usize, node: usize, enabled: *mut c_uint) -> c_int;
    fn hipStreamBeginCapture(stream: usize, mode: c_int) -> c_int;
    fn hipStreamBeginCaptureToGraph(
        stream: usize, graph: usize, after: *const usize, edges: *const c_void, count: usize, mode: c_int
    ) -> c_int;
    fn hipStreamEndCapture(stream: usize, graph: *mut usize) -> c_int;
    fn hipStreamIsCapturing(stream: usize, status: *mut c_int) -> c_int;
    fn hipStreamGetCaptureInfo_v2(
        stream: usize, status: *mut c_int, id: *mut u64, graph: *mut usize, nodes: *mut *const usize,
        count: *mut usize
    ) -> c_int;
    fn hipStreamUpdateCaptureDependencies(stream: usize, nodes: *mut usize, count: usize, flags: c_uint) -> c_int;
    fn hipThreadExchangeStreamCaptureMode(mode: *mut c_int) -> c_int;

    fn hiponcudaCallCount(name: *const c_char) -> u64;
    fn hiponcudaCallCounts(callback: CountCallback, data: *mut c_void);
    fn hiponcudaResetCallCounts();
    fn hiponcudaInjectFault(name: *const c_char, nth: u64, error: c_int, count: u64) -> c_int;
    fn hiponcudaClearFaults();
    fn hiponcudaReleaseContexts();
    fn hiponcudaOpenError() -> *const c_char;
}

functions! { cuda:
    fn cuDevicePrimaryCtxRetain(out: *mut usize, device: c_int) -> c_int;
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int;
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) -> c_int;
    fn cuCtxCreate_v2(out: *mut usize, flags: c_uint, device: c_int) -> c_int;
    fn cuCtxDestroy_v2(context: usize) -> c_int;
    fn cuCtxGetCurrent(out: *mut usize) -> c_int;
    fn cuCtxSetCurrent(context: usize) -> c_int;
    fn simcudaClearFaults();
    fn simcudaInjectFault(name: *const c_char, nth: u64, error: c_int, count: u64) -> c_int;
    fn simcudaLoseDevice(device: c_int) -> c_int;
    fn simcudaLeakCount() -> u64;
    fn simcudaReportCount() -> u64;
    fn simcudaHoldWork();
    fn simcudaReleaseWork();
}

/// A call that must succeed.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => { assert_eq!($name($($argument),*), 0, stringify!($name)) };
}

/// A call that must answer this status.
macro_rules! err {
    ($status:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!($name($($argument),*), $status.0, stringify!($name))
    };
}

/// A call that must succeed, with the place of its one result left out; answers the result.
macro_rules! get {
    ($name:ident(_ $(, $argument:expr)*)) => {{
        let mut out = Default::default();
        assert_eq!($name(&raw mut out $(, $argument)*), 0, stringify!($name));
        out
    }};
}

/// The thread's current CUDA context.
pub fn cuda_context() -> usize {
    get!(cuCtxGetCurrent(_))
}

/// The address of a value.
pub fn at<T: ?Sized>(value: &T) -> usize {
    core::ptr::from_ref(value).cast::<()>().expose_provenance()
}

/// The address of a value that a call writes.
pub fn into<T: ?Sized>(value: &mut T) -> usize {
    core::ptr::from_mut(value).cast::<()>().expose_provenance()
}

/// The kernel, and its module.
pub fn saxpy() -> (usize, usize) {
    let image = saxpy_ptx();
    let module: usize = get!(hipModuleLoadData(_, image.as_ptr().cast()));
    (get!(hipModuleGetFunction(_, module, c"saxpy".as_ptr())), module)
}

/// The PTX of the demonstration kernel, as the loader takes it.
pub fn saxpy_ptx() -> Vec<u8> {
    let mut text =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/saxpy.ptx")).expect("the kernel is there");
    text.push(0);
    text
}

pub mod graphs;
