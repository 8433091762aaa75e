//! Gives the library the name of the real one, by which the dynamic linker knows a copy that a process has loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnvvm.so.4");
}
