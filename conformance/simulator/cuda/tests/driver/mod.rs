//! The C ABI as a client declares it, and what several driver tests need: one lock, since the state is the
//! process's, and small helpers that fail with the name of the call.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(unused_macros, reason = "each test binary uses a part")]
#![allow(missing_docs, reason = "the functions are the C API's")]

use core::ffi::{c_char, c_int, c_uint, c_void};
use simcuda as _;
use simcuda::sys::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls a native function; the result is the caller's to judge.
macro_rules! c {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the test passes what the function takes.
        unsafe { $name($($argument),*) }
    }};
}

/// Calls a native function that must succeed.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(c!($name($($argument),*)), 0, stringify!($name))
    };
}

/// Calls a native function that must answer this error.
macro_rules! err {
    ($error:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(c!($name($($argument),*)), $error, stringify!($name))
    };
}

/// Calls a native function that must succeed with its first argument's address left out, and answers what it wrote.
macro_rules! get {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let mut out = Default::default();
        assert_eq!(c!($name(&mut out $(, $argument)*)), 0, stringify!($name));
        out
    }};
}

pub mod graphs;

pub type CountCallback = Option<unsafe extern "C" fn(*const c_char, u64, *mut c_void)>;
pub type ReportCallback = Option<unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void)>;

unsafe extern "C" {
    pub fn cuInit(flags: c_uint) -> CUresult;
    pub fn cuDriverGetVersion(version: *mut c_int) -> CUresult;
    pub fn cuGetErrorName(error: CUresult, text: *mut *const c_char) -> CUresult;
    pub fn cuGetProcAddress_v2(
        s: *const c_char,
        f: *mut *const c_void,
        v: c_int,
        flags: u64,
        st: *mut c_int,
    ) -> CUresult;
    pub fn cuDeviceGetCount(count: *mut c_int) -> CUresult;
    pub fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) -> CUresult;
    pub fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, dev: CUdevice) -> CUresult;
    pub fn cuDeviceCanAccessPeer(can: *mut c_int, dev: CUdevice, peer: CUdevice) -> CUresult;
    pub fn cuDeviceGetPCIBusId(text: *mut c_char, len: c_int, dev: CUdevice) -> CUresult;
    pub fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, text: *const c_char) -> CUresult;
    pub fn cuDeviceGetDefaultMemPool(pool: *mut Handle, dev: CUdevice) -> CUresult;
    pub fn cuDevicePrimaryCtxRetain(ctx: *mut Handle, dev: CUdevice) -> CUresult;
    pub fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> CUresult;
    pub fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> CUresult;
    pub fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) -> CUresult;
    pub fn cuCtxCreate_v2(ctx: *mut Handle, flags: c_uint, dev: CUdevice) -> CUresult;
    pub fn cuCtxDestroy_v2(ctx: Handle) -> CUresult;
    pub fn cuCtxPushCurrent_v2(ctx: Handle) -> CUresult;
    pub fn cuCtxPopCurrent_v2(ctx: *mut Handle) -> CUresult;
    pub fn cuCtxSetCurrent(ctx: Handle) -> CUresult;
    pub fn cuCtxGetCurrent(ctx: *mut Handle) -> CUresult;
    pub fn cuCtxSynchronize() -> CUresult;
    pub fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) -> CUresult;
    pub fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> CUresult;
    pub fn cuStreamDestroy_v2(stream: Handle) -> CUresult;
    pub fn cuStreamQuery(stream: Handle) -> CUresult;
    pub fn cuStreamSynchronize(stream: Handle) -> CUresult;
    pub fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> CUresult;
    pub fn cuStreamWaitValue64_v2(stream: Handle, address: u64, value: u64, flags: c_uint) -> CUresult;
    pub fn cuStreamWriteValue64_v2(stream: Handle, address: u64, value: u64, flags: c_uint) -> CUresult;
    pub fn cuStreamAddCallback(stream: Handle, f: CUstreamCallback, data: *mut c_void, flags: c_uint) -> CUresult;
    pub fn cuLaunchHostFunc(stream: Handle, f: CUhostFn, data: *mut c_void) -> CUresult;
    pub fn cuEventCreate(event: *mut Handle, flags: c_uint) -> CUresult;
    pub fn cuEventDestroy_v2(event: Handle) -> CUresult;
    pub fn cuEventRecord(event: Handle, stream: Handle) -> CUresult;
    pub fn cuEventQuery(event: Handle) -> CUresult;
    pub fn cuEventSynchronize(event: Handle) -> CUresult;
    pub fn cuEventElapsedTime_v2(ms: *mut f32, start: Handle, end: Handle) -> CUresult;
    pub fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult;
    pub fn cuMemAlloc_v2(out: *mut u64, size: usize) -> CUresult;
    pub fn cuMemFree_v2(address: u64) -> CUresult;
    pub fn cuMemHostAlloc(out: *mut u64, size: usize, flags: c_uint) -> CUresult;
    pub fn cuMemFreeHost(pointer: u64) -> CUresult;
    pub fn cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: c_uint) -> CUresult;
    pub fn cuMemHostUnregister(pointer: *mut c_void) -> CUresult;
    pub fn cuMemAllocManaged(out: *mut u64, size: usize, flags: c_uint) -> CUresult;
    pub fn cuMemGetAddressRange_v2(base: *mut u64, size: *mut usize, address: u64) -> CUresult;
    pub fn cuMemPrefetchAsync_v2(a: u64, n: usize, at: CUmemLocation, flags: c_uint, stream: Handle) -> CUresult;
    pub fn cuMemcpy(dst: u64, src: u64, len: usize) -> CUresult;
    pub fn cuMemcpyAsync(dst: u64, src: u64, len: usize, stream: Handle) -> CUresult;
    pub fn cuMemcpyHtoD_v2(dst: u64, src: *const c_void, len: usize) -> CUresult;
    pub fn cuMemcpyDtoH_v2(dst: *mut c_void, src: u64, len: usize) -> CUresult;
    pub fn cuMemcpyHtoDAsync_v2(dst: u64, src: *const c_void, len: usize, stream: Handle) -> CUresult;
    pub fn cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: u64, len: usize, stream: Handle) -> CUresult;
    pub fn cuMemcpyPeerAsync(dst: u64, dc: Handle, src: u64, sc: Handle, len: usize, stream: Handle) -> CUresult;
    pub fn cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) -> CUresult;
    pub fn cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: Handle) -> CUresult;
    pub fn cuArray3DCreate_v2(out: *mut Handle, descriptor: *const CUDA_ARRAY3D_DESCRIPTOR) -> CUresult;
    pub fn cuArray3DGetDescriptor_v2(out: *mut CUDA_ARRAY3D_DESCRIPTOR, array: Handle) -> CUresult;
    pub fn cuArrayDestroy(array: Handle) -> CUresult;
    pub fn cuTexObjectCreate(
        out: *mut u64,
        resource: *const CUDA_RESOURCE_DESC,
        reading: *const CUDA_TEXTURE_DESC,
        view: *const c_void,
    ) -> CUresult;
    pub fn cuTexObjectDestroy(texture: u64) -> CUresult;
    pub fn cuSurfObjectCreate(out: *mut u64, resource: *const CUDA_RESOURCE_DESC) -> CUresult;
    pub fn cuSurfObjectDestroy(surface: u64) -> CUresult;
    pub fn cuMemsetD8_v2(dst: u64, value: u8, n: usize) -> CUresult;
    pub fn cuMemsetD8Async(dst: u64, value: u8, n: usize, stream: Handle) -> CUresult;
    pub fn cuMemsetD32Async(dst: u64, value: u32, n: usize, stream: Handle) -> CUresult;
    pub fn cuMemsetD2D32Async(dst: u64, pitch: usize, value: u32, w: usize, h: usize, stream: Handle) -> CUresult;
    pub fn cuPointerGetAttribute(data: *mut c_void, attribute: c_int, pointer: u64) -> CUresult;
    pub fn cuMemPoolCreate(pool: *mut Handle, props: *const CUmemPoolProps) -> CUresult;
    pub fn cuMemPoolDestroy(pool: Handle) -> CUresult;
    pub fn cuMemPoolTrimTo(pool: Handle, keep: usize) -> CUresult;
    pub fn cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> CUresult;
    pub fn cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> CUresult;
    pub fn cuMemPoolSetAccess(pool: Handle, map: *const CUmemAccessDesc, count: usize) -> CUresult;
    pub fn cuMemPoolGetAccess(flags: *mut c_int, pool: Handle, location: *const CUmemLocation) -> CUresult;
    pub fn cuMemAllocAsync(out: *mut u64, size: usize, stream: Handle) -> CUresult;
    pub fn cuMemAllocFromPoolAsync(out: *mut u64, size: usize, pool: Handle, stream: Handle) -> CUresult;
    pub fn cuMemFreeAsync(address: u64, stream: Handle) -> CUresult;
    pub fn cuMemAddressReserve(out: *mut u64, size: usize, alignment: usize, hint: u64, flags: u64) -> CUresult;
    pub fn cuMemAddressFree(address: u64, size: usize) -> CUresult;
    pub fn cuMemCreate(out: *mut Handle, size: usize, prop: *const CUmemAllocationProp, flags: u64) -> CUresult;
    pub fn cuMemRelease(handle: Handle) -> CUresult;
    pub fn cuMemMap(address: u64, size: usize, offset: usize, handle: Handle, flags: u64) -> CUresult;
    pub fn cuMemUnmap(address: u64, size: usize) -> CUresult;
    pub fn cuMemSetAccess(address: u64, size: usize, access: *const CUmemAccessDesc, count: usize) -> CUresult;
    pub fn cuMemRetainAllocationHandle(out: *mut Handle, address: u64) -> CUresult;
    pub fn cuMemExportToShareableHandle(out: *mut c_void, handle: Handle, kind: c_int, flags: u64) -> CUresult;
    pub fn cuMemImportFromShareableHandle(out: *mut Handle, descriptor: usize, kind: c_int) -> CUresult;
    pub fn cuIpcGetMemHandle(out: *mut CUipcMemHandle, address: u64) -> CUresult;
    pub fn cuIpcOpenMemHandle_v2(out: *mut u64, handle: CUipcMemHandle, flags: c_uint) -> CUresult;
    pub fn cuIpcCloseMemHandle(address: u64) -> CUresult;
    pub fn cuIpcGetEventHandle(out: *mut CUipcEventHandle, event: Handle) -> CUresult;
    pub fn cuIpcOpenEventHandle(out: *mut Handle, handle: CUipcEventHandle) -> CUresult;
    pub fn cuModuleLoad(out: *mut Handle, file: *const c_char) -> CUresult;
    pub fn cuModuleLoadData(out: *mut Handle, image: *const c_void) -> CUresult;
    pub fn cuModuleLoadDataEx(
        out: *mut Handle,
        image: *const c_void,
        n: c_uint,
        options: *const c_uint,
        values: *mut *mut c_void,
    ) -> CUresult;
    pub fn cuModuleUnload(module: Handle) -> CUresult;
    pub fn cuModuleGetFunction(out: *mut Handle, module: Handle, name: *const c_char) -> CUresult;
    pub fn cuModuleGetFunctionCount(count: *mut c_uint, module: Handle) -> CUresult;
    pub fn cuModuleGetGlobal_v2(address: *mut u64, size: *mut usize, module: Handle, name: *const c_char) -> CUresult;
    pub fn cuLibraryLoadData(
        out: *mut Handle,
        code: *const c_void,
        a: *const c_uint,
        b: *mut *mut c_void,
        c: c_uint,
        d: *const c_uint,
        e: *mut *mut c_void,
        f: c_uint,
    ) -> CUresult;
    pub fn cuLibraryUnload(library: Handle) -> CUresult;
    pub fn cuLibraryGetKernel(out: *mut Handle, library: Handle, name: *const c_char) -> CUresult;
    pub fn cuKernelGetFunction(out: *mut Handle, kernel: Handle) -> CUresult;
    pub fn cuLinkCreate_v2(n: c_uint, options: *const c_uint, values: *mut *mut c_void, out: *mut Handle) -> CUresult;
    pub fn cuLinkAddData_v2(
        state: Handle,
        kind: c_int,
        data: *const c_void,
        size: usize,
        name: *const c_char,
        n: c_uint,
        options: *const c_uint,
        values: *mut *mut c_void,
    ) -> CUresult;
    pub fn cuLinkComplete(state: Handle, cubin: *mut u64, size: *mut usize) -> CUresult;
    pub fn cuLinkDestroy(state: Handle) -> CUresult;
    pub fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: Handle) -> CUresult;
    pub fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> CUresult;
    pub fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: Handle,
        shared_of: Option<unsafe extern "C" fn(c_int) -> usize>,
        shared: usize,
        limit: c_int,
    ) -> CUresult;
    pub fn cuLaunchKernel(
        function: Handle,
        gx: c_uint,
        gy: c_uint,
        gz: c_uint,
        bx: c_uint,
        by: c_uint,
        bz: c_uint,
        shared: c_uint,
        stream: Handle,
        params: *const *const c_void,
        extra: *const *const c_void,
    ) -> CUresult;
    pub fn cuGraphCreate(out: *mut Handle, flags: c_uint) -> CUresult;
    pub fn cuGraphDestroy(graph: Handle) -> CUresult;
    pub fn cuGraphAddMemcpyNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        params: *const CUDA_MEMCPY3D,
        ctx: Handle,
    ) -> CUresult;
    pub fn cuGraphAddMemsetNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        params: *const CUDA_MEMSET_NODE_PARAMS,
        ctx: Handle,
    ) -> CUresult;
    pub fn cuGraphAddEmptyNode(out: *mut Handle, graph: Handle, after: *const Handle, n: usize) -> CUresult;
    pub fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, n: usize) -> CUresult;
    pub fn cuGraphInstantiateWithFlags(out: *mut Handle, graph: Handle, flags: u64) -> CUresult;
    pub fn cuGraphLaunch(exec: Handle, stream: Handle) -> CUresult;
    pub fn cuGraphExecDestroy(exec: Handle) -> CUresult;

    pub fn simcudaCallCount(name: *const c_char) -> u64;
    pub fn simcudaCallCountTotal() -> u64;
    pub fn simcudaResetCallCounts();
    pub fn simcudaCallCounts(callback: CountCallback, data: *mut c_void);
    pub fn simcudaInjectFault(name: *const c_char, nth: u64, error: c_int, count: u64) -> c_int;
    pub fn simcudaHoldCalls(name: *const c_char) -> c_int;
    pub fn simcudaHoldReturns(name: *const c_char) -> c_int;
    pub fn simcudaReleaseCalls(name: *const c_char) -> c_int;
    pub fn simcudaClearFaults();
    pub fn simcudaSetThresholds(meaning: c_int) -> c_int;
    pub fn simcudaLoseDevice(ordinal: c_int) -> c_int;
    pub fn simcudaHoldWork();
    pub fn simcudaReleaseWork();
    pub fn simcudaReportCount() -> u64;
    pub fn simcudaReports(callback: ReportCallback, data: *mut c_void);
    pub fn simcudaClearReports();
    pub fn simcudaLeakCount() -> u64;
    pub fn simcudaLeaks(callback: CountCallback, data: *mut c_void);
    pub fn simcudaThreadCount() -> u64;
    pub fn simcudaContextCount() -> u64;
}

static SERIAL: Mutex<()> = Mutex::new(());

/// Runs one test at a time over an initialised driver, and leaves no reports, faults or held work behind.
pub struct Session {
    _serial: MutexGuard<'static, ()>,
}

impl Session {
    pub fn begin() -> Self {
        let serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(c!(cuInit(0)), 0);
        c!(simcudaClearReports());
        c!(cuCtxSetCurrent(0));
        Session { _serial: serial }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        c!(simcudaReleaseWork());
        c!(simcudaClearFaults());
        c!(simcudaClearReports());
    }
}

/// The kinds and texts of all reports.
pub fn reports() -> Vec<(String, String)> {
    unsafe extern "C" fn collect(kind: *const c_char, text: *const c_char, data: *mut c_void) {
        // SAFETY: the control API calls this with two strings and the vector below.
        unsafe {
            let text_of = |text| core::ffi::CStr::from_ptr(text).to_string_lossy().into_owned();
            (*data.cast::<Vec<(String, String)>>()).push((text_of(kind), text_of(text)));
        }
    }
    let mut list: Vec<(String, String)> = Vec::new();
    c!(simcudaReports(Some(collect), (&raw mut list).cast()));
    list
}

/// The kinds of all reports.
pub fn report_kinds() -> Vec<String> {
    reports().into_iter().map(|(kind, _)| kind).collect()
}

/// What is alive, by kind.
pub fn leaks() -> Vec<(String, u64)> {
    unsafe extern "C" fn collect(kind: *const c_char, count: u64, data: *mut c_void) {
        // SAFETY: the control API calls this with a string and the vector below.
        unsafe {
            let kind = core::ffi::CStr::from_ptr(kind).to_string_lossy().into_owned();
            (*data.cast::<Vec<(String, u64)>>()).push((kind, count));
        }
    }
    let mut list: Vec<(String, u64)> = Vec::new();
    c!(simcudaLeaks(Some(collect), (&raw mut list).cast()));
    list
}

/// How many calls of one function were made.
pub fn calls(name: &core::ffi::CStr) -> u64 {
    c!(simcudaCallCount(name.as_ptr()))
}

/// Properties of a device pool.
pub fn device_pool(device: c_int) -> CUmemPoolProps {
    CUmemPoolProps {
        alloc_type: CU_MEM_ALLOCATION_TYPE_PINNED,
        handle_types: 0,
        location: CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: device },
        win32_security_attributes: core::ptr::null_mut(),
        max_size: 0,
        usage: 0,
        reserved: [0; 54],
    }
}

/// A pool's attribute of 64 bits.
pub fn pool_attribute(pool: Handle, attribute: c_int) -> u64 {
    let mut value = 0u64;
    ok!(cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()));
    value
}

/// Sets a pool's attribute of 64 bits.
pub fn set_pool_attribute(pool: Handle, attribute: c_int, mut value: u64) {
    ok!(cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()));
}

/// The bytes of device memory.
pub fn bytes_of(address: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    ok!(cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, len));
    bytes
}
