//! Gives the shared library the soname that loaders look for, and keeps it where it was loaded: the engine's worker
//! threads run its code until the process ends.

fn main() {
    println!("cargo::rerun-if-changed=../build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libur_adapter_hip.so.0");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
