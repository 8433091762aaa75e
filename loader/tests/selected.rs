//! `urDeviceGetSelected`: the devices that `ONEAPI_DEVICE_SELECTOR` exposes, platform by platform. The adapter has a CPU on
//! its first platform and two GPUs on its second; the first GPU splits into two, and each half into two again.

mod common;
use common::{adapter, client_run, folder};
use std::path::PathBuf;
use std::sync::OnceLock;

const GPU: &str = "selected=3";

fn path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| adapter("selected.so", &[]))
}

/// The two platforms' lines, after every reference to a device was seen to be given back.
fn selected(value: Option<&str>, word: &str) -> Vec<String> {
    let mut run = client_run().force(&[path()]);
    if let Some(value) = value {
        run = run.env("ONEAPI_DEVICE_SELECTOR", value);
    }
    let outcome = run.words(&["init", word, &format!("references={}", path().display())]);
    assert_eq!(outcome.lines.last().unwrap(), "references adapter 1 devices 0", "{value:?}");
    outcome.lines[1..outcome.lines.len() - 1].to_vec()
}

#[test]
fn the_variable_selects_devices_of_each_platform() {
    let cases = [
        (None, ["selected SUCCESS cpu", "selected SUCCESS gpu0 gpu1"]),
        (Some(""), ["selected SUCCESS cpu", "selected SUCCESS gpu0 gpu1"]),
        (Some("cuda:*"), ["selected SUCCESS cpu", "selected SUCCESS gpu0 gpu1"]),
        (Some("*:gpu"), ["selected SUCCESS", "selected SUCCESS gpu0 gpu1"]),
        (Some("hip:*"), ["selected SUCCESS", "selected SUCCESS"]),
        (Some("!cuda:cpu"), ["selected SUCCESS", "selected SUCCESS gpu0 gpu1"]),
        (Some("cuda:*;!cuda:gpu"), ["selected SUCCESS cpu", "selected SUCCESS"]),
        (Some("cuda:*.*"), ["selected SUCCESS", "selected SUCCESS gpu0.0 gpu0.1"]),
        (Some("cuda:*.*.*"), ["selected SUCCESS", "selected SUCCESS gpu0.0.0 gpu0.0.1 gpu0.1.0 gpu0.1.1"]),
    ];
    for (value, expected) in cases {
        assert_eq!(selected(value, "selected"), expected, "{value:?}");
    }
}

#[test]
fn numbers_run_through_all_platforms_of_the_adapter() {
    let cases = [
        ("cuda:0", ["selected SUCCESS cpu", "selected SUCCESS"]),
        ("cuda:1", ["selected SUCCESS", "selected SUCCESS gpu0"]),
        ("cuda:2,1", ["selected SUCCESS", "selected SUCCESS gpu1 gpu0"]),
        ("!cuda:1", ["selected SUCCESS cpu", "selected SUCCESS gpu1"]),
        ("cuda:1.1", ["selected SUCCESS", "selected SUCCESS gpu0.1"]),
        ("cuda:1.0.1,0", ["selected SUCCESS cpu", "selected SUCCESS gpu0.0.1"]),
        ("cuda:9", ["selected SUCCESS", "selected SUCCESS"]),
    ];
    for (value, expected) in cases {
        assert_eq!(selected(Some(value), "selected"), expected, "{value}");
    }
}

/// As seen of the stock loader of 2026.2, which sorts its terms by backend: `*` comes before every name.
#[test]
fn terms_for_every_backend_come_before_those_that_name_one() {
    for value in ["*:2;cuda:1", "cuda:1;*:2"] {
        assert_eq!(selected(Some(value), "selected")[1], "selected SUCCESS gpu1 gpu0", "{value}");
    }
    assert_eq!(selected(Some("cuda:2;*:*"), "selected")[1], "selected SUCCESS gpu0 gpu1");
    assert_eq!(selected(Some("cuda:1;*:1.1"), "selected")[1], "selected SUCCESS gpu0.1 gpu0");
}

#[test]
fn the_device_type_narrows_what_the_variable_selects() {
    assert_eq!(selected(None, GPU), ["selected SUCCESS", "selected SUCCESS gpu0 gpu1"]);
    assert_eq!(selected(Some("cuda:0,2"), GPU), ["selected SUCCESS", "selected SUCCESS gpu1"]);
}

#[test]
fn a_malformed_variable_answers_invalid_value_and_the_log_names_term_and_remedy() {
    for value in ["cuda", "cuda:", "nvidia:gpu", "cuda:gpu:0", "cuda:*.1"] {
        let run = client_run()
            .env("UR_ADAPTERS_SEARCH_PATH", folder())
            .force(&[path()])
            .env("ONEAPI_DEVICE_SELECTOR", value)
            .words(&["init", "selected"]);
        assert_eq!(run.lines[1..], ["selected INVALID_VALUE", "selected INVALID_VALUE"], "{value}");
        assert!(
            run.log.contains(&format!("urDeviceGetSelected: ONEAPI_DEVICE_SELECTOR: term `{value}`")),
            "{}",
            run.log
        );
    }
}

#[test]
fn the_array_may_be_smaller_than_the_selection_and_bad_parameters_are_refused() {
    assert_eq!(
        selected(None, "one-of-selected"),
        [
            "one-of SUCCESS filled 1 of 2",
            "no-array INVALID_NULL_POINTER",
            "no-outputs INVALID_SIZE",
            "bad-type INVALID_ENUMERATION",
        ]
    );
}
