//! Who may import whom (design, section 3), read from `cargo metadata`: every crate of the workspace is listed with
//! all that it may use of ours and, where the rule says so, of others. A new crate or edge fails until it is added
//! here on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// A crate's allowed dependencies.
struct Rule {
    name: &'static str,
    ours: &'static [&'static str],
    /// All that it may use of others; `None` leaves that open.
    others: Option<&'static [&'static str]>,
    never: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule { name: "ur-ffi", ours: &[], others: Some(&["bitflags"]), never: &[] },
    // It must build while its own output is broken.
    Rule { name: "generator", ours: &[], others: Some(&["toml", "serde", "thiserror"]), never: &[] },
    Rule { name: "ur-loader", ours: &["ur-ffi"], others: None, never: &[] },
    // It opens no library itself; libnvvm is `ur-spirv`'s.
    Rule { name: "ur-adapter", ours: &["ur-ffi", "ur-spirv"], others: None, never: &["libloading"] },
    Rule { name: "ur-adapter-cuda", ours: &["ur-adapter", "ur-ffi"], others: None, never: &[] },
    Rule { name: "ur-adapter-hip", ours: &["ur-adapter", "ur-ffi"], others: None, never: &[] },
    // A translator of its own, which knows nothing of the engine or the API.
    // libc for questions to the dynamic linker, rustix for the copy of an older libnvvm, in memory.
    Rule { name: "ur-spirv", ours: &[], others: Some(&["libc", "libloading", "rustix"]), never: &[] },
    // It stands beside the adapters, in libsycl's way, and knows neither them nor the API.
    Rule { name: "ur-sycl-images", ours: &[], others: Some(&["libc"]), never: &[] },
    // These only say what is exported; the final links choose a release.
    Rule { name: "ur-loader-2026-1", ours: &["ur-ffi", "ur-loader"], others: Some(&[]), never: &[] },
    Rule { name: "ur-loader-2026-2", ours: &["ur-ffi", "ur-loader"], others: Some(&[]), never: &[] },
    Rule { name: "ur-adapter-cuda-library", ours: &["ur-adapter", "ur-adapter-cuda"], others: Some(&[]), never: &[] },
    Rule { name: "ur-adapter-hip-library", ours: &["ur-adapter", "ur-adapter-hip"], others: Some(&[]), never: &[] },
    Rule { name: "ur-client", ours: &["ur-ffi"], others: None, never: &[] },
    // A second opinion is worth something only while it shares no code with what it judges.
    Rule { name: "ur-model", ours: &[], others: None, never: &[] },
    // The suite knows adapters by the C ABI alone.
    Rule { name: "ur-conformance", ours: &["ur-client", "ur-ffi"], others: None, never: &[] },
    Rule { name: "ur-model", ours: &[], others: Some(&["proptest"]), never: &[] },
    Rule { name: "simcuda", ours: &[], others: None, never: &[] },
    Rule { name: "callcount", ours: &[], others: None, never: &[] },
    Rule { name: "simnvvm", ours: &[], others: Some(&[]), never: &[] },
    Rule { name: "hip-on-cuda", ours: &[], others: None, never: &[] },
    Rule { name: "ur-demo", ours: &["ur-client", "ur-ffi"], others: None, never: &[] },
    Rule { name: "urinfo", ours: &["ur-client", "ur-ffi", "ur-loader"], others: None, never: &[] },
    Rule { name: "urbench", ours: &["ur-client", "ur-ffi"], others: None, never: &[] },
    // What builds the project needs nothing of what it builds, and none of what only compares. The specification is TOML.
    Rule { name: "xtask", ours: &[], others: Some(&["serde_json", "toml"]), never: &[] },
    Rule { name: "xtask-compare", ours: &["xtask"], others: None, never: &[] },
];

/// Names of the dependencies that end up in what a crate ships (not those of its tests), by crate.
fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let name = |value: &Value| value["name"].as_str().expect("every package has a name").to_owned();
    metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
            (name(package), dependencies.iter().filter(|d| d["kind"].is_null()).map(name).collect())
        })
        .collect()
}

#[test]
fn every_crate_imports_only_what_the_design_lets_it() {
    let packages = workspace();
    let ours: BTreeSet<&str> = packages.keys().map(String::as_str).collect();
    let mut broken = Vec::new();
    for (name, dependencies) in &packages {
        let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
            broken.push(format!("{name}: no rule; add one to RULES"));
            continue;
        };
        for dependency in dependencies.iter().map(String::as_str) {
            let allowed = if ours.contains(dependency) {
                rule.ours.contains(&dependency)
            } else {
                rule.others.is_none_or(|others| others.contains(&dependency))
            };
            if !allowed || rule.never.contains(&dependency) {
                broken.push(format!("{name} imports {dependency}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
