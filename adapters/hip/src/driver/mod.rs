//! `Driver` over the HIP runtime API: one native call a method.
//!
//! The files are named after the groups of the engine's trait. Every symbol has the API's signature, since the table was
//! opened on the native library; a `SAFETY` line says what holds beyond that. Borrowed handles are alive: the engine ends
//! an object by giving its handle away. Nothing here decides anything: no caching, no retry, no switching of devices. The
//! few branches translate what one status means in one call alone.
//!
//! # Which calls look at the thread's current device
//! From the sources of AMD's runtime (ROCm/clr and rocm-systems, `hipamd/src`, 5.2 to 7.2), read and not run; the engine opens a
//! scope for all but the last two rows:
//!
//! | call | current device |
//! |---|---|
//! | `hipStreamCreateWithPriority`, `hipEventCreateWithFlags`, `hipMalloc`, `hipHostMalloc`, `hipMallocManaged`, `hipMemGetInfo`, `hipDeviceGetStreamPriorityRange`, `hipModuleLoadDataEx`, `hipModuleOccupancyMaxPotentialBlockSize`, `hipArray3DCreate`, `hipCreateSurfaceObject`, `hipDestroySurfaceObject`, `hipTexObjectCreate`, `hipTexObjectDestroy`, `hipDeviceSynchronize` | is what they are about |
//! | `hipMemAllocPitch`, `hipHostRegister`, `hipHostUnregister`, `hipMemAdvise`, `hipIpc*MemHandle`, `hipDeviceEnablePeerAccess`, `hipDeviceDisablePeerAccess` | is what they are about, or looked at on the way |
//! | `hipModuleGetFunction`, `hipModuleGetGlobal` | must be the module's; 5.x ends the process otherwise |
//! | `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`, `hipModuleLaunchCooperativeKernel` | must be the module's, the stream's |
//! | `hipFuncGetAttribute`, `hipFuncSetAttribute` | chooses whose code is looked at; that of another device is not there |
//! | `hipMemcpyAsync`, `hipMemcpy2DAsync`, `hipDrvMemcpy3DAsync`, `hipMemset*Async` | run on the stream's device, but check access to virtually mapped memory (pools may be made of it) for the current one: `TRANSFERS_NEED_CONTEXT` |
//! | `hipModuleLaunchKernel` | must be the stream's since 7.1 or 7.2, but in a capture; not looked at before: `LAUNCHES_NEED_CONTEXT` |
//! | `hipMemCreate`, `hipMemImportFromShareableHandle` | the memory is made on it (since 7.2 or so, and in every version that imports), whatever the properties say |
//! | `hipGraphCreate`, `hipGraphAdd*Node`, `hipGraphInstantiateWithFlags` | is what the graph, its nodes and the streams of its branches belong to |
//! | `hipGraphLaunch`, `hipGraphUpload`, `hipGraphExec*SetParams`, `hipGraphNodeSetEnabled`, `hipGraphDestroy`, `hipGraphExecDestroy`, `hipStreamBeginCapture`, `hipStreamEndCapture`, `hipStreamGetCaptureInfo_v2` | not looked at: stream, graph or node name the device |
//! | `hipEventRecord`, `hipStreamWaitEvent`, `hipLaunchHostFunc`, `hipStreamWaitValue32`, `hipMallocFromPoolAsync`, `hipFreeAsync`, `hipStream*`, `hipEvent*`, `hipFree`, `hipHostFree`, `hipMemPool*`, `hipMemPrefetchAsync`, `hipMemAddress*`, `hipMemMap` and the rest of virtual memory, `hipPointerGetAttributes`, `hipMemGetAddressRange`, `hipModuleUnload`, `hipArrayDestroy` | not looked at: stream, event, pool or pointer name the device |

mod contexts;
mod devices;
mod events;
mod external;
mod graphs;
mod images;
mod interprocess;
mod kernels;
mod memory;
mod modules;
mod pools;
mod streams;
mod transfers;
mod virtual_memory;

use core::ffi::c_int;

use ur_adapter::driver::native::cell::AdapterCell;
use ur_adapter::driver::native::{self, Texts as _, cannot_start};
use ur_adapter::driver::{Devices, Driver};
use ur_adapter::object::error::{Error, OpenError, Result};
use ur_ffi::ur_backend_t;

use crate::device_info;
use crate::program::Loader;
use crate::sys::{self, HipError, Ordinal, Symbols};

/// The one adapter of this library.
pub(crate) static CELL: AdapterCell<Hip> = AdapterCell::new();

/// The opened runtime.
pub(crate) struct Hip {
    pub(crate) symbols: Symbols,
    /// `hipRuntimeGetVersion`: major * 10 000 000 + minor * 100 000 + patch.
    version: u32,
    /// Whether the runtime found a device at all; without one its calls fail.
    has_devices: bool,
    /// Whether it found just one, which is then current on every thread at all times.
    has_one_device: bool,
    /// What its module loader takes.
    loader: Loader,
}

impl Hip {
    /// Takes an opened library into use.
    fn start(symbols: Symbols, library: &str) -> core::result::Result<Self, OpenError> {
        // SAFETY: the symbol has the API's signature; flags must be 0.
        let status = unsafe { (symbols.init)(0) };
        let has_devices = match status {
            HipError::hipSuccess => true,
            // 5.x has the second word for it.
            HipError::hipErrorNoDevice | HipError::hipErrorInvalidDevice => {
                symbols.forget_failure();
                false
            }
            _ => return Err(cannot_start(&symbols, library, "hipInit", status)),
        };
        let mut version: c_int = 0;
        // SAFETY: as above, and `version` is a live local.
        let status = unsafe { (symbols.runtime_version)(&raw mut version) };
        if status != HipError::hipSuccess {
            return Err(cannot_start(&symbols, library, "hipRuntimeGetVersion", status));
        }
        let version = version.unsigned_abs();
        let mut this = Self { version, has_devices, has_one_device: false, loader: Loader::Amd, symbols };
        // Of what cannot be asked, the devices' own reading fails with the call's name later.
        let count = this.device_count().unwrap_or(0);
        this.has_one_device = count == 1;
        if count > 0
            && let Ok(identity) = device_info::identity(&this, Ordinal(0))
        {
            this.loader = Loader::of(&identity.architecture);
        }
        Ok(this)
    }

    /// Whether pools keep to a limit; before, the bytes of it are reserved and ignored.
    fn limits_pools(&self) -> bool {
        self.version >= 60_200_000
    }

    /// Whether `hipMemImportFromShareableHandle` is given the address of a descriptor, and not the descriptor as an address.
    fn reads_descriptors(&self) -> bool {
        self.loader == Loader::Amd && self.version < 70_100_000
    }

    /// Whether structures and enumerations are those that ROCm 6 changed.
    fn is_rocm_6(&self) -> bool {
        self.version >= 60_000_000
    }

    /// Success, or the error of a native call; the name in messages is the API's.
    #[inline(always)]
    fn check(&self, call: &'static str, status: HipError) -> Result<()> {
        native::check(&self.symbols, call, status)
    }

    /// The answer of a query that has a status of its own for "not yet".
    #[inline(always)]
    fn done(&self, call: &'static str, status: HipError) -> Result<bool> {
        native::done(&self.symbols, call, status)
    }

    /// The error of a native call.
    #[cold]
    fn failed(&self, call: &'static str, status: HipError) -> Error {
        native::failed(&self.symbols, call, status)
    }
}

impl Driver for Hip {
    const BACKEND: ur_backend_t = ur_backend_t::HIP;
    const PLATFORM_NAME: &'static str = "AMD HIP BACKEND";
    const VENDOR: &'static str = "Advanced Micro Devices";
    const VENDOR_ID: u32 = 0x1002;
    const LIBRARY_VARIABLE: &'static str = sys::LIBRARY_VARIABLE;
    const TRANSFERS_NEED_CONTEXT: bool = true;
    const LAUNCHES_NEED_CONTEXT: bool = true;
    const STREAM_ENDS_WAIT: bool = true;
    const TELLS_REGISTRATIONS: bool = false;
    const TELLS_POOLS: bool = false;
    const REGISTERS_IN_PLACE: bool = false;
    // The runtime compares bytes with the limit and rounds nothing (ROCm 6.2 to 7.1); CUDA's step makes the same limits
    // of the same requests on both backends.
    const POOL_STEP: usize = 32 << 20;
    const CONTEXTS_HAVE_HANDLES: bool = false;
    // The fills of wider units are new in ROCm 7 and count a row's width now in bytes and now in units.
    const STRIDED_WIDTHS: &'static [usize] = &[1];
    const ADVISES_COHERENCE: bool = true;

    fn cell() -> &'static AdapterCell<Hip> {
        &CELL
    }

    fn open() -> core::result::Result<Self, OpenError> {
        sys::open().and_then(|(symbols, library)| Self::start(symbols, &library))
    }

    fn version(&self) -> Result<String> {
        let (major, minor, patch) = (self.version / 10_000_000, self.version / 100_000 % 100, self.version % 100_000);
        Ok(format!("HIP {major}.{minor}.{patch}"))
    }
}

#[cfg(test)]
mod tests {
    use ur_adapter::driver::graphs::{CopyNode, KernelNode};
    use ur_adapter::driver::images::{ArrayShape, BoxCopy, BoxSide, Channel, RectSide};
    use ur_adapter::driver::{Graphs as _, Images as _, LaunchShape, MemoryKind, Modules as _, Pools as _};
    use ur_ffi::ur_result_t;

    use super::*;
    use crate::sys::{HipFunction, HipGraph, HipMemPool, HipStream};

    /// Every library of AMD's that is installed here, by the names that the adapter tries.
    fn installed() -> Vec<(&'static str, Symbols)> {
        let open = |name: &&'static str| match Symbols::open(name, sys::LIBRARY_VARIABLE) {
            Ok(symbols) => Some((*name, symbols)),
            Err(OpenError::Library { .. }) => None,
            Err(other) => panic!("{other}"),
        };
        sys::DEFAULT_LIBRARIES.iter().filter_map(open).collect()
    }

    #[test]
    fn amds_own_library_has_every_required_symbol_and_starts_with_or_without_a_device() {
        let installed = installed();
        if installed.is_empty() {
            println!("skipped: none of {:?} is installed", sys::DEFAULT_LIBRARIES);
        }
        for (name, symbols) in installed {
            let hip = Hip::start(symbols, name).unwrap_or_else(|error| panic!("{name}: {error}"));
            let count = hip.device_count().unwrap();
            println!("{name}: {}, {count} devices", hip.version().unwrap());
            for ordinal in 0..count {
                let properties = hip.properties(hip.device(ordinal).unwrap()).unwrap();
                assert!(properties.architecture.starts_with("gfx") && properties.global_memory > 0, "{properties:?}");
            }
            assert_eq!(hip.loader, Loader::Amd);
        }
    }

    /// The driver over a library whose functions all answer success and do nothing.
    fn idle() -> Hip {
        let folder = tempfile::tempdir().unwrap();
        let library = ur_adapter::testing::fake_library(folder.path(), Symbols::REQUIRED);
        let symbols = Symbols::open(library.to_str().unwrap(), sys::LIBRARY_VARIABLE).unwrap();
        Hip::start(symbols, "fake").unwrap()
    }

    /// As 5.x, whose arrays are plain or layered: hipErrorNotSupported for the flags above.
    #[test]
    fn an_image_s_array_is_made_by_rocm_5_too() {
        const CREATE: &str = "hipArray3DCreate";
        let folder = tempfile::tempdir().unwrap();
        let others: Vec<&str> = Symbols::REQUIRED.iter().copied().filter(|symbol| *symbol != CREATE).collect();
        let create = format!(
            "int {CREATE}(void **out, const unsigned long *d) {{ *out = (void *)1; return d[4] & 0xe ? 801 : 0; }}"
        );
        let library = ur_adapter::testing::fake_library_with(folder.path(), &others, &create);
        let symbols = Symbols::open(library.to_str().unwrap(), sys::LIBRARY_VARIABLE).unwrap();
        let hip = Hip::start(symbols, "fake").unwrap();
        for layered in [false, true] {
            let shape = ArrayShape { extent: [4, 4, 2], channel: Channel::Float, channels: 4, layered };
            let array = hip.create_array(&shape).map(|array| array.value());
            assert_eq!(array.map_err(|error| error.native_status()), Ok(1), "layered: {layered}");
        }
    }

    #[test]
    fn a_version_reads_as_amd_writes_it() {
        let mut hip = idle();
        for (version, text, rocm_6) in [(50_221_153, "HIP 5.2.21153", false), (70_125_424, "HIP 7.1.25424", true)] {
            hip.version = version;
            assert_eq!((hip.version().unwrap().as_str(), hip.is_rocm_6()), (text, rocm_6));
        }
    }

    #[test]
    fn a_pool_that_answers_success_and_no_memory_is_out_of_memory() {
        let error = idle().allocate_from_pool(&HipMemPool(1), 256, &HipStream(1)).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY);
        assert_eq!(error.native_status(), 2);
    }

    #[test]
    fn a_region_of_more_slices_than_rocm_5_counts_is_refused_there_alone() {
        let mut hip = idle();
        let side = BoxSide::Memory(RectSide { address: 1, row_pitch: 1, slice_pitch: 1, of_process: false });
        let copy = BoxCopy { to: side, from: side, extent: [1, 1, 1 << 32] };
        for (version, code) in [(50_221_153, Some(ur_result_t::ERROR_INVALID_SIZE)), (70_125_424, None)] {
            hip.version = version;
            // SAFETY: the library's functions do nothing.
            let answer = unsafe { hip.copy_box_async(&copy, &HipStream(1)) };
            assert_eq!(answer.err().map(|error| error.code()), code);
        }
    }

    #[test]
    fn a_descriptor_is_passed_by_its_address_before_rocm_7_1() {
        let mut hip = idle();
        for (version, by_address) in [(60_443_482, true), (70_051_831, true), (70_125_424, false), (70_226_015, false)]
        {
            hip.version = version;
            assert_eq!(hip.reads_descriptors(), by_address, "{version}");
        }
        // Over CUDA's driver it is CUDA's way whatever the version.
        (hip.version, hip.loader) = (60_443_482, Loader::Nvidia);
        assert!(!hip.reads_descriptors());
    }

    #[test]
    fn graphs_are_there_from_rocm_6_on() {
        let mut hip = idle();
        for (version, there) in [(50_731_921, false), (60_032_830, true), (70_125_424, true)] {
            hip.version = version;
            let answers = [hip.has_graphs(), hip.changes_kernels(), hip.has_event_nodes()];
            assert_eq!(answers, [there; 3], "{version}");
        }
    }

    #[test]
    fn nodes_that_the_runtime_cannot_have_are_refused_before_it_sees_them() {
        let (hip, graph, device) = (idle(), HipGraph(1), Ordinal(0));
        let shape = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared: 0 };
        let kernel = KernelNode { function: HipFunction(1), shape, cluster: Some([2, 1, 1]), cooperative: false };
        let arguments = core::ptr::null();
        // SAFETY: the library's functions do nothing.
        let in_clusters = unsafe { hip.add_kernel(&graph, &[], &kernel, arguments, &device) };
        let together = KernelNode { cluster: None, cooperative: true, ..kernel };
        // SAFETY: the library's functions do nothing.
        let cooperative = unsafe { hip.add_kernel(&graph, &[], &together, arguments, &device) };
        let memory = BoxSide::Memory(RectSide { address: 1, row_pitch: 1, slice_pitch: 1, of_process: false });
        let elements = BoxSide::Array { array: 1, origin: [0; 3] };
        let copy = CopyNode::Box(BoxCopy { to: memory, from: elements, extent: [1; 3] });
        // SAFETY: the library's functions do nothing.
        let of_an_image = unsafe { hip.add_copy(&graph, &[], &copy, &device) };
        let allocated = hip.add_allocation(&graph, &[], MemoryKind::Device, device, 64).map(|(node, _)| node);
        for answer in [in_clusters, cooperative, of_an_image, allocated] {
            assert_eq!(answer.unwrap_err().code(), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
        }
        let plain = KernelNode { cluster: None, ..kernel };
        // SAFETY: the library's functions do nothing.
        assert!(unsafe { hip.add_kernel(&graph, &[], &plain, arguments, &device) }.is_ok());
    }

    #[test]
    fn an_image_that_nobody_recognises_is_refused_before_the_library_sees_it() {
        assert_eq!(idle().check_image(b"hello").unwrap_err().code(), ur_result_t::ERROR_INVALID_BINARY);
    }
}
