//! The loader configuration and its layers, and what a configuration does at `urLoaderInit`.

mod common;
use common::{adapter, client_run, client_run_with, folder, loader};

#[test]
fn a_configuration_is_counted_and_refuses_what_it_does_not_know() {
    let real = adapter("real.so", &["ID=1"]);
    let run = client_run().force(&[&real]).words(&["config"]);
    assert_eq!(
        run.lines,
        [
            "create-null INVALID_NULL_POINTER",
            "create SUCCESS",
            "retain SUCCESS",
            "count SUCCESS 2 in 4 bytes",
            "layers SUCCESS ``",
            "small INVALID_SIZE",
            "no-outputs INVALID_NULL_POINTER",
            "bad-info INVALID_ENUMERATION",
            "unknown-layer LAYER_NOT_PRESENT",
            "null-layer INVALID_NULL_POINTER",
            "null-callback INVALID_NULL_POINTER",
            "null-config INVALID_NULL_HANDLE",
            "not-a-config INVALID_ARGUMENT",
            "mocking SUCCESS",
            "init SUCCESS",
            "release SUCCESS",
            "release SUCCESS",
            // Mocking leaves the real adapter out, forced or not, and there is no mock adapter beside the loader.
            "adapters SUCCESS",
        ],
        "{}",
        run.log
    );
    assert!(run.log.contains("there is no layer `UR_LAYER_OF_CAKE`"), "{}", run.log);
}

#[test]
fn a_layer_of_the_environment_that_is_not_there_is_an_error_that_lists_what_is() {
    let real = adapter("layers.so", &["ID=1"]);
    let run = |value: &str| {
        let run = client_run().force(&[&real]).env("UR_ENABLE_LAYERS", value).env("UR_LOG_LOADER", "");
        run.words(&["init", "adapters", "teardown", "init"])
    };
    for (value, named) in [
        ("UR_LAYER_OF_CAKE", "UR_LAYER_OF_CAKE"),
        ("\"UR_LAYER_TRACING\",UR_LAYER_OF_CAKE", "UR_LAYER_TRACING"),
        ("a;b", "a;b"),
    ] {
        let outcome = run(value);
        assert_eq!(
            outcome.lines,
            ["init LAYER_NOT_PRESENT", "adapters UNINITIALIZED", "teardown UNINITIALIZED", "init LAYER_NOT_PRESENT"],
            "{value}: {}",
            outcome.log
        );
        let expected = format!("UR_ENABLE_LAYERS: there is no layer `{named}`; available: none");
        assert!(outcome.log.contains(&expected), "{value}: {}", outcome.log);
    }
    for value in ["", ","] {
        assert_eq!(run(value).lines[..2], ["init SUCCESS", "adapters SUCCESS 1"], "{value} names none");
    }
}

#[test]
fn mocking_takes_the_mock_adapter_beside_the_loader_instead_of_real_ones() {
    let real = adapter("real-too.so", &["ID=1"]);
    adapter("mocked/libur_adapter_mock.so.0", &["ID=9"]);
    let own = folder().join("mocked/libur_loader.so.0");
    std::fs::copy(loader(), &own).unwrap();
    let run = client_run_with(&own).force(&[&real]).words(&["init-mock", "adapters", "teardown", "init", "adapters"]);
    assert_eq!(
        run.lines,
        ["init SUCCESS", "adapters SUCCESS 9", "teardown SUCCESS", "init SUCCESS", "adapters SUCCESS 1"],
        "{}",
        run.log
    );
}
