//! `urLoaderInit`, `urLoaderTearDown` and `urAdapterGet`: counted, repeatable, from many threads and at process exit.

mod common;
use common::{adapter, client_run, folder};

fn two() -> [std::path::PathBuf; 2] {
    // Built once a test under its own names, since tests run side by side.
    let name = std::thread::current().name().unwrap().replace(':', "_");
    [adapter(&format!("{name}/one.so"), &["ID=1"]), adapter(&format!("{name}/two.so"), &["ID=2"])]
}

fn run(words: &[&str]) -> common::Outcome {
    let [one, two] = two();
    client_run().force(&[&one, &two]).words(words)
}

#[test]
fn before_and_after_init_there_is_no_loader() {
    let run = run(&["adapters", "teardown", "init", "adapters", "teardown", "adapters", "teardown"]);
    assert_eq!(
        run.lines,
        [
            "adapters UNINITIALIZED",
            "teardown UNINITIALIZED",
            "init SUCCESS",
            "adapters SUCCESS 1 2",
            "teardown SUCCESS",
            "adapters UNINITIALIZED",
            "teardown UNINITIALIZED",
        ]
    );
}

#[test]
fn initialisations_are_counted() {
    let run = run(&["init", "init", "teardown", "adapters", "teardown", "adapters"]);
    assert_eq!(
        run.lines,
        [
            "init SUCCESS",
            "init SUCCESS",
            "teardown SUCCESS",
            "adapters SUCCESS 1 2",
            "teardown SUCCESS",
            "adapters UNINITIALIZED"
        ]
    );
}

#[test]
fn the_loader_can_be_initialised_again_and_again() {
    let round = ["init", "adapters", "teardown"];
    let words: Vec<_> = std::iter::repeat_n(round, 20).flatten().collect();
    for lines in run(&words).lines.chunks(3) {
        assert_eq!(lines, ["init SUCCESS", "adapters SUCCESS 1 2", "teardown SUCCESS"]);
    }
}

#[test]
fn an_init_that_was_refused_counts_nothing_and_can_be_tried_again() {
    let run = run(&["init=64", "adapters", "teardown", "init=1", "adapters", "teardown"]);
    assert_eq!(
        run.lines,
        [
            "init INVALID_ENUMERATION",
            "adapters UNINITIALIZED",
            "teardown UNINITIALIZED",
            "init SUCCESS",
            "adapters SUCCESS 1 2",
            "teardown SUCCESS",
        ]
    );
}

#[test]
fn an_adapter_that_appears_later_is_found_by_the_next_init() {
    let here = adapter("later/waiting.so", &["ID=5"]);
    let there = folder().join("later/libur_adapter_cuda.so.0");
    let rename = format!("rename={}:{}", here.display(), there.display());
    let run = client_run()
        .env("UR_ADAPTERS_SEARCH_PATH", folder().join("later"))
        .env("ONEAPI_DEVICE_SELECTOR", "cuda:*")
        .words(&["init", "adapters", "teardown", &rename, "init", "adapters"]);
    assert_eq!(
        run.lines,
        ["init SUCCESS", "adapters SUCCESS", "teardown SUCCESS", "rename 0", "init SUCCESS", "adapters SUCCESS 5"],
        "{}",
        run.log
    );
}

#[test]
fn the_list_of_adapters_takes_any_capacity() {
    let run = run(&["init", "partial"]);
    assert_eq!(
        run.lines[1..],
        [
            "more SUCCESS filled 2 of 2",
            "fewer SUCCESS filled 1 of 2",
            "nothing SUCCESS",
            "no-room INVALID_SIZE",
            "no-array SUCCESS of 2",
        ]
    );
}

#[test]
fn every_reference_to_an_adapter_is_given_back() {
    let [one, two] = two();
    let references = format!("references={}", one.display());
    let run = client_run().force(&[&one, &two]).words(&[
        "init",
        "adapters",
        "partial",
        &references,
        "teardown",
        &references,
        "init",
        "adapters",
        "teardown",
        &references,
    ]);
    let counted: Vec<_> = run.lines.iter().filter(|l| l.starts_with("references")).collect();
    assert_eq!(
        counted,
        ["references adapter 1 devices 0", "references adapter 0 devices 0", "references adapter 0 devices 0"],
        "the loader holds one while it is initialised, and the library stays loaded"
    );
}

#[test]
fn threads_may_come_and_go_at_once() {
    let run = run(&["threads=8", "init", "adapters", "teardown"]);
    assert_eq!(run.lines, ["threads failures 0", "init SUCCESS", "adapters SUCCESS 1 2", "teardown SUCCESS"]);
}

#[test]
fn an_exit_handler_may_tear_down_while_other_threads_are_inside_calls() {
    let run = run(&["teardown-at-exit", "init", "busy"]);
    assert_eq!(run.lines, ["init SUCCESS", "busy", "at-exit SUCCESS"]);
}

#[test]
fn the_whole_life_fits_into_an_exit_handler() {
    let run = run(&["everything-at-exit"]);
    assert_eq!(run.lines, ["at-exit init SUCCESS", "adapters SUCCESS 1 2", "at-exit teardown SUCCESS"]);
}

#[test]
fn leaving_without_teardown_is_harmless() {
    let run = run(&["init", "adapters"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 1 2"]);
}

/// What the child prints: eleven entry points are the loader's own.
fn refused() -> String {
    ["UNINITIALIZED"; 11].join(" ")
}

#[test]
fn the_child_of_a_fork_gets_an_error_from_every_entry_point_and_may_exit_and_exec() {
    for ending in ["_exit", "exit", "exec"] {
        let run = run(&["init", &format!("fork={ending}"), "adapters", "teardown"]);
        assert_eq!(
            run.lines,
            ["init SUCCESS", &refused(), "child ended 0", "adapters SUCCESS 1 2", "teardown SUCCESS"],
            "{ending}: {}",
            run.log
        );
        assert!(run.log.contains("urAdapterGet: this process was forked"), "{}", run.log);
    }
}

#[test]
fn the_child_of_a_fork_does_not_wait_for_threads_that_were_inside_the_loader() {
    let mut words = vec!["init", "inside"];
    words.extend([["fork=exit"; 20], ["fork=exec"; 20]].concat());
    let run = run(&words);
    for lines in run.lines[1..].chunks(2) {
        assert_eq!(lines, [&refused(), "child ended 0"], "{}", run.log);
    }
    assert_eq!(run.lines.len(), 1 + 2 * 40);
}

#[test]
fn the_child_of_a_fork_has_a_loader_of_its_own_where_the_parents_was_not_in_use() {
    let child = ["child init SUCCESS", "adapters SUCCESS 1 2", "child teardown SUCCESS", "child ended 0"];
    assert_eq!(run(&["fork=use"]).lines, child, "before urLoaderInit");
    let after = run(&["init", "adapters", "teardown", "fork=use", "init"]);
    assert_eq!(after.lines[3..7], child, "after urLoaderTearDown: {}", after.log);
    assert_eq!(after.lines[7], "init SUCCESS");
}

#[test]
fn an_adapter_that_calls_the_loader_back_is_refused_without_a_deadlock() {
    let path = adapter("calls-back.so", &["ID=6", "CALLS_BACK"]);
    let run = client_run().force(&[&path]).words(&["init", "adapters", "teardown"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 6", "teardown SUCCESS"], "{}", run.log);
}
