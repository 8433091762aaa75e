//! Which adapters the loader finds, and where, as an application and its user see it.

mod common;
use common::{adapter, client_run, client_run_with, folder, loader, release};

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
fn a_bare_name_in_force_load_goes_by_the_systems_search_and_not_the_current_directory() {
    adapter("bare/here/one.so", &["ID=1"]);
    adapter("bare/system/one.so", &["ID=2"]);
    let run = |library_path: &[&std::path::Path]| {
        client_run()
            .env("UR_ADAPTERS_FORCE_LOAD", "one.so")
            .env("LD_LIBRARY_PATH", std::env::join_paths(library_path).unwrap())
            .words(&[&format!("chdir={}", folder().join("bare/here").display()), "init", "adapters"])
    };
    let loaders = loader().parent().unwrap();
    let nowhere = run(&[loaders]);
    assert_eq!(nowhere.lines[1..], ["init SUCCESS", "adapters SUCCESS"], "{}", nowhere.log);
    assert!(nowhere.log.contains("one.so (UR_ADAPTERS_FORCE_LOAD): not found"), "{}", nowhere.log);
    let system = run(&[loaders, &folder().join("bare/system")]);
    assert_eq!(system.lines[1..], ["init SUCCESS", "adapters SUCCESS 2"], "{}", system.log);
}

#[test]
fn a_path_with_a_colon_is_listed_in_quotes() {
    let one = adapter("with:colon/one.so", &["ID=1"]);
    let run = client_run().env("UR_ADAPTERS_FORCE_LOAD", format!("\"{}\"", one.display())).words(&["init", "adapters"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 1"], "{}", run.log);
}

/// A loader of a test's own with adapters around it, since one beside the common loader would be found by all clients.
struct Surroundings(std::path::PathBuf);

impl Surroundings {
    /// Adapter 1 in `path`, 2 in `system`, and 3 beside the loader in `loader`.
    fn new(name: &str) -> Self {
        for (id, place) in [(1, "path"), (2, "system"), (3, "loader")] {
            adapter(&format!("{name}/{place}/libur_adapter_cuda.so.0"), &[&format!("ID={id}")]);
        }
        std::fs::copy(loader(), folder().join(name).join("loader/libur_loader.so.0")).unwrap();
        Surroundings(folder().join(name))
    }

    /// What a client finds that has this file as its loader, and `library_path` for the system's search. The loader is
    /// preloaded, so that its directory is reached by its own rule alone.
    fn found(&self, loader: &str, library_path: &str, search_path: &str) -> String {
        let loader = self.0.join(loader);
        let run = client_run_with(&loader)
            .env("LD_PRELOAD", &loader)
            .env("LD_LIBRARY_PATH", self.0.join(library_path))
            .env("UR_ADAPTERS_SEARCH_PATH", self.0.join(search_path))
            .words(&["init", "adapters"]);
        run.lines[1].clone()
    }
}

#[test]
fn search_path_comes_first_and_the_loaders_directory_where_the_release_has_it() {
    let around = Surroundings::new("order");
    let found =
        |library_path: &str, search_path: &str| around.found("loader/libur_loader.so.0", library_path, search_path);
    assert_eq!(found("none", "none"), "adapters SUCCESS 3", "the loader's directory");
    // As seen of the stock loaders: 2026.1 asks the system first, 2026.2 looks beside itself first.
    let both =
        if release() == ur_ffi::releases::Release::R2026_1 { "adapters SUCCESS 2" } else { "adapters SUCCESS 3" };
    assert_eq!(found("system", "none"), both, "the loader's directory and the system");
    assert_eq!(found("system", "path"), "adapters SUCCESS 1", "the search path");
}

#[test]
fn beside_the_loader_is_beside_its_file_and_not_beside_a_link_to_it() {
    let around = Surroundings::new("linked");
    adapter("linked/links/libur_adapter_cuda.so.0", &["ID=4"]);
    let link = folder().join("linked/links/libur_loader.so.0");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("../loader/libur_loader.so.0", &link).unwrap();
    assert_eq!(around.found("links/libur_loader.so.0", "none", "none"), "adapters SUCCESS 3");
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
