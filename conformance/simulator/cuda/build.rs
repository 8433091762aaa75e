//! Gives the library its soname, keeps it loaded, and lists its exported functions for `cuGetProcAddress`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/api");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsimcuda.so");
    // Streams have threads: the library's code must never be unmapped under them.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("exports.rs"), exports(Path::new("src/api"))).expect("OUT_DIR can be written");
}

/// A table of every `extern "C" fn cu...` under `folder`, by name.
fn exports(folder: &Path) -> String {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src/api exists") {
        let path = entry.expect("src/api can be listed").path();
        println!("cargo:rerun-if-changed={}", path.display());
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("module names are text").to_owned();
        for line in fs::read_to_string(&path).expect("sources can be read").lines() {
            let Some((_, rest)) = line.split_once("extern \"C\" fn cu") else { continue };
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            found.push((format!("cu{name}"), module.clone()));
        }
    }
    found.sort();
    let mut text =
        String::from("/// Names of all exported functions of the driver API, sorted.\npub const NAMES: &[&str] = &[\n");
    for (name, _) in &found {
        writeln!(text, "    \"{name}\",").expect("strings grow");
    }
    text.push_str("];\n\n/// The address of an exported function.\npub fn address(name: &str) -> Option<*const c_void> {\n    Some(match name {\n");
    for (name, module) in &found {
        writeln!(text, "        \"{name}\" => super::{module}::{name} as *const c_void,").expect("strings grow");
    }
    text.push_str("        _ => return None,\n    })\n}\n");
    text
}
