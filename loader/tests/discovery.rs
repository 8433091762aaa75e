//! Which adapters the loader finds, and where, as an application and its user see it.

mod common;
use common::{adapter, client_run, client_run_with, folder, loader};

#[test]
fn force_load_loads_what_it_lists_in_its_order_and_nothing_else() {
    let one = adapter("force/one.so", &["ID=1"]);
    let two = adapter("force/two.so", &["ID=2", "BACKEND=UR_BACKEND_HIP"]);
    adapter("force/search/libur_adapter_cuda.so.0", &["ID=3"]);
    let run = client_run()
        .force(&[&two, &one])
        .env("UR_ADAPTERS_SEARCH_PATH", folder().join("force/search"))
        .words(&["init", "adapters", "teardown"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 2 1", "teardown SUCCESS"], "{}", run.log);
}

#[test]
fn a_bare_name_in_force_load_is_a_file_of_the_current_directory() {
    adapter("bare/one.so", &["ID=1"]);
    let run = client_run().env("UR_ADAPTERS_FORCE_LOAD", "one.so").words(&[
        &format!("chdir={}", folder().join("bare").display()),
        "init",
        "adapters",
    ]);
    assert_eq!(run.lines[1..], ["init SUCCESS", "adapters SUCCESS 1"], "{}", run.log);
}

#[test]
fn a_path_with_a_colon_is_listed_in_quotes() {
    let one = adapter("with:colon/one.so", &["ID=1"]);
    let run = client_run().env("UR_ADAPTERS_FORCE_LOAD", format!("\"{}\"", one.display())).words(&["init", "adapters"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 1"], "{}", run.log);
}

#[test]
fn search_path_precedes_the_systems_search_which_precedes_the_loaders_directory() {
    // A loader of this test's own, since the adapter beside it would be found by the other tests' clients.
    let beside = folder().join("order/loader");
    adapter("order/loader/libur_adapter_cuda.so.0", &["ID=3"]);
    let own = beside.join("libur_loader.so.0");
    std::fs::copy(loader(), &own).unwrap();
    adapter("order/system/libur_adapter_cuda.so.0", &["ID=2"]);
    adapter("order/path/libur_adapter_cuda.so.0", &["ID=1"]);
    let path = folder().join("order/path");
    let library_path = |folders: &[&str]| {
        let absolute: Vec<_> = folders.iter().map(|f| folder().join("order").join(f).display().to_string()).collect();
        absolute.join(":")
    };
    let found = |run: common::Run| run.words(&["init", "adapters"]).lines[1].clone();

    // The loader's directory must be reached by its own rule, not by the library path: the client gets the loader preloaded.
    let by_preload = || client_run_with(&own).env("LD_PRELOAD", &own).env("LD_LIBRARY_PATH", library_path(&["none"]));
    assert_eq!(found(by_preload()), "adapters SUCCESS 3", "the loader's directory");
    assert_eq!(
        found(by_preload().env("LD_LIBRARY_PATH", library_path(&["system"]))),
        "adapters SUCCESS 2",
        "the system"
    );
    let all = by_preload().env("LD_LIBRARY_PATH", library_path(&["system"])).env("UR_ADAPTERS_SEARCH_PATH", &path);
    assert_eq!(found(all), "adapters SUCCESS 1", "the search path");
    let gone = by_preload().env("UR_ADAPTERS_SEARCH_PATH", "/nonexistent");
    assert_eq!(found(gone), "adapters SUCCESS 3", "a directory that is not there is passed over");
}

#[test]
fn the_selector_keeps_adapters_of_other_backends_from_being_loaded() {
    let cuda = adapter("filter/libur_adapter_cuda.so.0", &["ID=1"]);
    let hip = adapter("filter/libur_adapter_hip.so.0", &["ID=2", "BACKEND=UR_BACKEND_HIP"]);
    let references = |path: &std::path::Path| format!("references={}", path.display());
    let run = |name: &str, value: &str| {
        client_run().env("UR_ADAPTERS_SEARCH_PATH", folder().join("filter")).env(name, value).words(&[
            "init",
            "adapters",
            &references(&cuda),
            &references(&hip),
        ])
    };
    let both = run("UNRELATED", "");
    assert_eq!(both.lines[1], "adapters SUCCESS 1 2", "{}", both.log);
    let only_hip = run("ONEAPI_DEVICE_SELECTOR", "HIP:*");
    assert_eq!(only_hip.lines[1], "adapters SUCCESS 2", "{}", only_hip.log);
    assert_eq!(only_hip.lines[2], "references not-loaded");
    assert!(only_hip.log.contains("selects no device of backend cuda"), "{}", only_hip.log);
    assert_eq!(run("ONEAPI_DEVICE_SELECTOR", "!hip:gpu").lines[1], "adapters SUCCESS 1");
    let malformed = run("ONEAPI_DEVICE_SELECTOR", "hip");
    assert_eq!(malformed.lines[1], "adapters SUCCESS 1 2", "a malformed selector hides nothing");
    assert!(malformed.log.contains("term `hip`"), "{}", malformed.log);
}

#[test]
fn one_library_found_twice_counts_once() {
    let one = adapter("twice/one.so", &["ID=1"]);
    let link = folder().join("twice/link.so");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let run = client_run().force(&[&one, &link, &one]).words(&["init", "adapters"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 1"], "{}", run.log);
    assert!(run.log.contains("link.so") && run.log.contains("opened before as"), "{}", run.log);
}

#[test]
fn finding_no_adapter_is_no_error() {
    let run = client_run().env("UR_ADAPTERS_FORCE_LOAD", "/nonexistent/x.so").words(&["init", "adapters", "teardown"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS", "teardown SUCCESS"]);
    assert!(run.log.contains("/nonexistent/x.so (UR_ADAPTERS_FORCE_LOAD): not found"), "{}", run.log);
}
