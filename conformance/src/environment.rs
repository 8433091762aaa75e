//! Where the things under test are. Everything comes from the environment; nothing is guessed or searched for.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The paths that `cargo xtask test` names.
#[derive(Debug)]
pub struct Environment {
    /// The loader, `UR_TEST_LOADER` or the installation's.
    pub loader: PathBuf,
    /// The adapter or a list of several, `UR_TEST_ADAPTER` or the installation's CUDA adapter.
    pub adapter: OsString,
    /// The CUDA driver, `UR_TEST_NATIVE` or the installation's simulated one. A HIP adapter gets it as well, below
    /// its own library.
    pub native: OsString,
    /// The HIP runtime, `UR_TEST_HIP` or the installation's HIP over CUDA.
    pub hip: OsString,
    /// The folder of device images, `UR_TEST_KERNELS` or the source tree's.
    pub kernels: PathBuf,
}

fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

impl Environment {
    /// The environment of this process.
    pub fn get() -> &'static Self {
        static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
        ENVIRONMENT.get_or_init(|| {
            let Some(dist) = set("UR_TEST_DIST").map(PathBuf::from) else {
                panic!("UR_TEST_DIST does not name an installation: run `cargo xtask test`")
            };
            let library = |name: &str| dist.join("lib").join(name);
            let source_kernels = || Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
            Self {
                loader: set("UR_TEST_LOADER").map_or_else(|| library("libur_loader.so.0"), PathBuf::from),
                adapter: set("UR_TEST_ADAPTER").unwrap_or_else(|| library("libur_adapter_cuda.so.0").into()),
                native: set("UR_TEST_NATIVE").unwrap_or_else(|| library("libsimcuda.so").into()),
                hip: set("UR_TEST_HIP").unwrap_or_else(|| library("libhip_on_cuda.so").into()),
                kernels: set("UR_TEST_KERNELS").map_or_else(source_kernels, PathBuf::from),
            }
        })
    }

    /// Tells the loader and the adapter, which read their own variables.
    pub(crate) fn export(&self) {
        // SAFETY: called once, before the loader is opened; the harness's other threads wait for that and read no
        // environment meanwhile.
        unsafe {
            env::set_var("UR_ADAPTERS_FORCE_LOAD", &self.adapter);
            env::set_var("UR_CUDA_LIBRARY", &self.native);
            // The simulated driver is its own management library; a real one has its own.
            if set("UR_TEST_NATIVE").is_none() && set("UR_NVML_LIBRARY").is_none() {
                env::set_var("UR_NVML_LIBRARY", &self.native);
            }
            env::set_var("UR_HIP_LIBRARY", &self.hip);
            env::remove_var("ONEAPI_DEVICE_SELECTOR");
        }
    }

    /// A device image by file name.
    pub fn image(&self, name: &str) -> Vec<u8> {
        let path = self.kernels.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}
