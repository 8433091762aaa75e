//! Gives the library the soname under which `UR_CUDA_LIBRARY` and the distribution name it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsimcuda.so");
}
