//! Gives the library its soname, keeps it loaded, and lists its exported functions for counting and lookup.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/api");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhip_on_cuda.so");
    // Callbacks of streams and the exit handler live in this library: it must never be unmapped under them.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let names = exports(Path::new("src/api"));
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("exports.rs"), table(&names)).expect("OUT_DIR can be written");
}

/// Name and module of every `extern "C" fn hip…` that is part of the HIP API, sorted by name.
fn exports(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src/api exists") {
        let path = entry.expect("src/api can be listed").path();
        println!("cargo::rerun-if-changed={}", path.display());
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("module names are text").to_owned();
        for line in fs::read_to_string(&path).expect("sources can be read").lines() {
            let Some((_, rest)) = line.split_once("extern \"C\" fn hip") else { continue };
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            // `hiponcuda…` is the control interface, which counts no calls.
            if !name.starts_with("oncuda") {
                found.push((format!("hip{name}"), module.clone()));
            }
        }
    }
    found.sort();
    found
}

/// The names, a number for each, and their addresses.
fn table(names: &[(String, String)]) -> String {
    let mut text = String::new();
    let mut line = |arguments: std::fmt::Arguments<'_>| writeln!(text, "{arguments}").expect("strings grow");
    line(format_args!("/// Names of all exported functions of the HIP API, sorted."));
    line(format_args!("pub static NAMES: [&str; {}] = [", names.len()));
    names.iter().for_each(|(name, _)| line(format_args!("    \"{name}\",")));
    line(format_args!("];\n"));
    line(format_args!(
        "/// The address of the function with that number.\npub fn address(number: usize) -> *const c_void {{"
    ));
    line(format_args!("    match number {{"));
    for (number, (name, module)) in names.iter().enumerate() {
        line(format_args!("        {number} => super::{module}::{name} as *const c_void,"));
    }
    line(format_args!("        _ => core::ptr::null(),\n    }}\n}}\n"));
    line(format_args!("/// The place of each function in `NAMES`.\npub mod number {{"));
    names
        .iter()
        .enumerate()
        .for_each(|(number, (name, _))| line(format_args!("    pub const {name}: usize = {number};")));
    line(format_args!("}}"));
    text
}
