//! Lets the program find the loader beside it in an installation: `bin` and `lib` are neighbours.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib");
}
