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
