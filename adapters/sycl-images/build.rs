//! Whoever registered images through this library unregisters them through it, at the latest at exit: it must never be unloaded.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libur_sycl_images.so");
    println!("cargo::rerun-if-changed=build.rs");
}
