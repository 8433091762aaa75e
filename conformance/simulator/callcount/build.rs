//! Turns `symbols.txt` into the exported functions, and gives the library its soname.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Written by hand in `src/procs.rs`, because their answers hold addresses that must be replaced.
const BY_HAND: [&str; 2] = ["cuGetProcAddress", "cuGetProcAddress_v2"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=symbols.txt");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcallcount.so");
    // The counts outlive a client that closes and opens its driver again.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let list = fs::read_to_string("symbols.txt").expect("symbols.txt can be read");
    let names: Vec<&str> = list.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "symbols.txt is sorted and names every symbol once");
    for name in BY_HAND {
        assert!(names.contains(&name), "symbols.txt lacks {name}");
    }
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("trampolines.rs"), code(&names)).expect("OUT_DIR can be written");
}

fn code(names: &[&str]) -> String {
    let mut text = String::new();
    let mut line = |arguments: std::fmt::Arguments<'_>| writeln!(text, "{arguments}").expect("strings grow");
    line(format_args!("/// How many symbols are known."));
    line(format_args!("pub const COUNT: usize = {};", names.len()));
    line(format_args!("/// Their names, sorted."));
    line(format_args!("pub static NAMES: [&CStr; COUNT] = ["));
    names.iter().for_each(|name| line(format_args!("    c\"{name}\",")));
    line(format_args!("];"));
    line(format_args!("/// The functions that are exported under these names."));
    line(format_args!("pub static ENTRIES: [Entry; COUNT] = ["));
    for name in names {
        // The signatures of the two differ; only the addresses are used.
        match BY_HAND.contains(name) {
            true => line(format_args!("    Entry(crate::procs::{name} as *const c_void),")),
            false => line(format_args!("    Entry({name} as *const c_void),")),
        }
    }
    line(format_args!("];"));
    for (index, name) in names.iter().enumerate() {
        if BY_HAND.contains(name) {
            line(format_args!("/// The number of `{name}`."));
            line(format_args!("pub const {}: usize = {index};", name.to_uppercase()));
        } else {
            line(format_args!("trampoline!({name}, {index});"));
        }
    }
    text
}
