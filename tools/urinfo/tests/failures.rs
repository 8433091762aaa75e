//! What is still told when something fails, against a small loader that `cc` builds.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

fn loader() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loader.c");
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libloader.so");
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(&out).arg(source);
        assert!(cc.status().expect("cc runs").success());
        out
    })
}

/// Exit code, standard output and standard error.
fn run(words: &[&str], set: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urinfo"));
    command.arg("--loader").arg(loader()).args(words);
    for variable in ["UR_ADAPTERS_FORCE_LOAD", "UR_ADAPTERS_SEARCH_PATH", "INIT_FAILS"] {
        command.env_remove(variable);
    }
    let output = command.envs(set.iter().copied()).output().expect("urinfo starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn an_adapter_whose_lists_fail_hides_no_other_ones_devices() {
    let (code, text, complaint) = run(&["--why"], &[]);
    for part in [
        "search: ",
        "  failed: urPlatformGet answers UR_RESULT_ERROR_ADAPTER_SPECIFIC (the adapter says: the fan is stuck)\n",
        "    device 0: a device",
        "  platform 1: lost, lost, lost\n    failed: urDeviceGet answers UR_RESULT_ERROR_DEVICE_LOST",
        "1 device in 2 adapters\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing from\n{text}{complaint}");
    }
    assert_eq!(code, Some(2), "something failed");
}

#[test]
fn json_has_what_failed_beside_what_there_is() {
    let (code, text, complaint) = run(&["--json"], &[]);
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{complaint}"));
    let failure = "urPlatformGet answers UR_RESULT_ERROR_ADAPTER_SPECIFIC (the adapter says: the fan is stuck)";
    assert_eq!((&json["adapters"][0]["error"], &json["adapters"][0]["last_error"]), (&failure.into(), &failure.into()));
    let platforms = &json["adapters"][1]["platforms"];
    assert_eq!((&platforms[0]["devices"][0]["name"], &platforms[0]["error"]), (&"a device".into(), &Value::Null));
    assert_eq!(platforms[1]["error"].as_str().map(|text| text.contains("urDeviceGet")), Some(true), "{text}");
    assert_eq!((json.get("error"), code), (None, Some(2)));
}

#[test]
fn the_search_is_told_though_the_loader_does_not_start() {
    let failure = "urLoaderInit answers UR_RESULT_ERROR_LAYER_NOT_PRESENT";
    let (code, text, complaint) = run(&["--why"], &[("INIT_FAILS", "1")]);
    assert!(text.contains("search: ") && !text.contains("no adapter"), "{text}{complaint}");
    assert!(complaint.contains(failure), "{complaint}");
    assert_eq!(code, Some(2));
    let (code, text, _) = run(&["--why", "--json"], &[("INIT_FAILS", "1")]);
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(json["search"]["order"].is_array(), "{text}");
    assert_eq!((json["error"].as_str(), json["adapters"].as_array().map(Vec::len)), (Some(failure), Some(0)));
    assert_eq!(code, Some(2));
}
