//! What the two backends call things, for the few tests that must know: which variable names the native library, how
//! its functions are called. Every other test is the same for both.

use crate::Environment;

/// What the adapter under test has below it, where tests must know the names: by the backend that it says it is.
#[derive(Clone, Copy, Debug)]
pub struct Below {
    /// The variable of [`Environment`] that names the library which the adapter opens.
    pub variable: &'static str,
    /// A file name that such a library has.
    pub library: &'static str,
    /// The first function that the adapter looks for and calls.
    pub first: &'static str,
    /// How its functions' names begin.
    pub prefix: &'static str,
    /// The function that allocates device memory, as messages name it.
    pub allocate: &'static str,
    /// The function of the driver at the bottom that launches a kernel.
    pub launch: &'static str,
    /// Calls made while the library is opened: name, which of them can fail the opening, and its status.
    pub opening: &'static [(&'static str, u64, i32)],
}

const CUDA: Below = Below {
    variable: "UR_TEST_NATIVE",
    library: "libcuda.so.1",
    first: "cuInit",
    prefix: "cu",
    allocate: "cuMemAlloc",
    launch: "cuLaunchKernelEx",
    opening: &[
        ("cuInit", 1, 999),
        ("cuDriverGetVersion", 1, 999),
        ("cuDeviceGetCount", 1, 999),
        ("cuDeviceGet", 2, 999),
        ("cuDeviceGetName", 1, 999),
        ("cuDeviceTotalMem_v2", 1, 2),
        ("cuDeviceGetAttribute", 40, 999),
    ],
};

const HIP: Below = Below {
    variable: "UR_TEST_HIP",
    library: "libamdhip64.so.6",
    first: "hipInit",
    prefix: "hip",
    allocate: "hipMalloc",
    launch: "cuLaunchKernel",
    // The adapter asks for the count and the first device's identity once before the engine does: that may fail.
    opening: &[
        ("hipInit", 1, 999),
        ("hipRuntimeGetVersion", 1, 999),
        ("hipGetDeviceCount", 2, 999),
        ("hipGetDevicePropertiesR0600", 3, 999),
        ("hipDeviceTotalMem", 1, 2),
        ("hipDeviceGetAttribute", 40, 999),
    ],
};

impl Below {
    /// What is below the adapter under test; nothing that the suite knows below one that is neither CUDA's nor HIP's.
    #[must_use]
    pub fn find() -> Option<&'static Self> {
        let ask: crate::query::Ask<'_> =
            crate::ask!(Adapter.pfnGetInfo(crate::adapter(), ur_ffi::ur_adapter_info_t::BACKEND));
        match ur_ffi::ur_backend_t(crate::query::get(ask)) {
            ur_ffi::ur_backend_t::HIP => Some(&HIP),
            ur_ffi::ur_backend_t::CUDA => Some(&CUDA),
            _ => None,
        }
    }

    /// The same in a test of CUDA's or HIP's adapters alone: behind `needs_sim!` or `needs_ours!`.
    ///
    /// # Panics
    /// When the adapter is for something else.
    #[must_use]
    #[track_caller]
    pub fn the_adapter() -> &'static Self {
        let Some(below) = Self::find() else { panic!("the adapter under test is neither for CUDA nor for HIP") };
        below
    }

    /// Whether the adapter under test speaks HIP.
    #[must_use]
    pub fn is_hip() -> bool {
        Self::find().is_some_and(Self::speaks_hip)
    }

    fn speaks_hip(&self) -> bool {
        self.prefix == HIP.prefix
    }

    /// The library as the environment names it.
    #[must_use]
    pub fn named(&self) -> &'static std::ffi::OsStr {
        let environment = Environment::get();
        if self.speaks_hip() { &environment.hip } else { &environment.native }
    }
}
