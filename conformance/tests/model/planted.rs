//! Bugs that are planted in an adapter of its own build (`cargo xtask planted`) are found by the programs of `programs.rs`, and
//! the same programs find nothing when no bug is chosen. Without `UR_PLANTED_DIST` there is no such adapter to try.

use std::path::Path;
use std::process::Command;

use ur_conformance::child;

use crate::runner::families::ALL;
use crate::runner::{graphs, plain, run_all, say, threads, timelines};

/// So many programs of all families together find every bug.
const PROGRAMS: u64 = 3000;

const CHILD: &str = "programs_on_a_planted_adapter";

/// Seed and microseconds of delays in which bugs show that depend on what overtakes what.
const DELAY: &str = "21842:20";

/// The test that child processes run; by itself it is the suite's programs once more, a few of them.
#[test]
fn programs_on_a_planted_adapter() {
    let programs = if std::env::var_os("UR_TEST_CHILD").is_some() { PROGRAMS } else { 50 };
    run_all(&ALL, programs);
}

/// The same with programs of several threads.
const THREADED_CHILD: &str = "programs_of_several_threads_on_a_planted_adapter";

#[test]
fn programs_of_several_threads_on_a_planted_adapter() {
    let programs = if std::env::var_os("UR_TEST_CHILD").is_some() { 400 } else { 20 };
    threads::run(THREADED_CHILD, programs, None);
}

/// The same with programs of command buffers.
const GRAPHS_CHILD: &str = "programs_of_command_buffers_on_a_planted_adapter";

#[test]
fn programs_of_command_buffers_on_a_planted_adapter() {
    let programs = if std::env::var_os("UR_TEST_CHILD").is_some() { PROGRAMS } else { 50 };
    graphs::run(programs);
}

/// The same with programs of plain memory.
const PLAIN_CHILD: &str = "programs_of_plain_memory_on_a_planted_adapter";

#[test]
fn programs_of_plain_memory_on_a_planted_adapter() {
    let programs = if std::env::var_os("UR_TEST_CHILD").is_some() { 400 } else { 50 };
    plain::run(programs);
}

/// The same with programs of timelines.
const TIMELINES_CHILD: &str = "programs_of_timelines_on_a_planted_adapter";

#[test]
fn programs_of_timelines_on_a_planted_adapter() {
    let programs = if std::env::var_os("UR_TEST_CHILD").is_some() { 400 } else { 50 };
    timelines::run(programs);
}

/// Runs the programs on the planted adapter; the lines that say what was found, or none.
fn programs_on(adapter: &Path, bug: Option<&str>, more: &[(&str, &str)]) -> Option<String> {
    found_by(CHILD, adapter, bug, more)
}

fn found_by(child: &str, adapter: &Path, bug: Option<&str>, more: &[(&str, &str)]) -> Option<String> {
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("the test's own path: {error}"));
    let mut command = Command::new(program);
    let child = child::full_name(child);
    command.args(["--exact", &child, "--nocapture", "--test-threads=1"]);
    command.env("UR_TEST_CHILD", &child).env("UR_TEST_ADAPTER", adapter);
    command.env("SIMCUDA_DELAY", std::env::var_os("SIMCUDA_DELAY").unwrap_or_else(|| DELAY.into()));
    // A planted bug may hang. Where none is chosen nothing does, however slow a busy machine is.
    command.env("UR_MODEL_PATIENCE", if bug.is_some() { "3" } else { "60" });
    // That a bug is found is enough; a hang is made smaller by hanging again.
    command.env("UR_MODEL_SHRINK", "0").env("RUST_BACKTRACE", "0");
    command.env_remove("UR_MUTATION").env_remove("UR_PLANTED").envs(bug.map(|bug| ("UR_MUTATION", bug)));
    command.envs(more.iter().copied());
    let output = command.output().unwrap_or_else(|error| panic!("cannot start the child: {error}"));
    // What it panicked with comes first: some readers see no more than the first lines.
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        assert!(text.contains("1 passed"), "the child ran no test\n{text}");
        return None;
    }
    let found = text.lines().find(|line| line.starts_with("caught by program"));
    let Some(found) = found else { panic!("{bug:?}: the child failed, and not by a program\n{text}") };
    let how: Vec<&str> = text.lines().skip_while(|line| *line != found).take_while(|line| !line.is_empty()).collect();
    say(&format!("planted {}:\n  {}", bug.unwrap_or("nothing"), how.join("\n  ")));
    Some(how.join("\n"))
}

/// The planted adapter that stands for the adapter under test.
fn planted() -> Option<std::path::PathBuf> {
    let Some(dist) = std::env::var_os("UR_PLANTED_DIST").filter(|dist| !dist.is_empty()) else {
        say("skipped: UR_PLANTED_DIST does not name adapters with planted bugs; `cargo xtask planted` makes them");
        return None;
    };
    let under_test = &ur_conformance::Environment::get().adapter;
    let name = Path::new(under_test).file_name().unwrap_or_default();
    Some(Path::new(&dist).join("lib").join(name))
}

fn is_found(bug: &str) {
    let Some(adapter) = planted() else { return };
    assert!(programs_on(&adapter, Some(bug), &[]).is_some(), "{bug}: {PROGRAMS} programs find nothing");
}

#[test]
fn nothing_is_found_where_no_bug_is_chosen() {
    let Some(adapter) = planted() else { return };
    let found = programs_on(&adapter, None, &[]);
    assert!(found.is_none(), "{found:?}");
}

#[test]
fn a_magazine_that_ignores_the_queue_is_found() {
    is_found("free-list-ignores-queue");
}

#[test]
fn a_kept_block_that_another_queue_gets_before_its_last_use_is_found() {
    is_found("reuse-ignores-order");
}

/// As on hardware, where no driver watches: a kernel finds in its block what another has written.
#[test]
fn a_magazine_that_ignores_the_queue_is_found_by_what_lies_in_the_blocks() {
    let Some(adapter) = planted() else { return };
    // What is seen first differs: the simulated device may also end at an access that a real one lets pass.
    let sees_content = |seed: u32| {
        let settings = [("UR_MODEL_CONTENT", "1"), ("UR_MODEL_SEED", &seed.to_string())];
        let found = programs_on(&adapter, Some("free-list-ignores-queue"), &settings);
        let what = found.as_deref().and_then(|found| found.lines().next()).unwrap_or_default();
        what.contains(" found ") || what.contains(" finds ")
    };
    assert!((1..=12).any(sees_content), "no kernel found what another had written");
}

#[test]
fn programs_of_several_threads_find_planted_bugs_and_nothing_where_none_is_chosen() {
    let Some(adapter) = planted() else { return };
    let found = found_by(THREADED_CHILD, &adapter, None, &[]);
    assert!(found.is_none(), "{found:?}");
    for bug in ["free-list-ignores-queue", "statistics-leak", "missing-zero-fill"] {
        assert!(found_by(THREADED_CHILD, &adapter, Some(bug), &[]).is_some(), "{bug}: the programs find nothing");
    }
}

#[test]
fn an_event_that_is_recorded_one_command_late_is_found() {
    is_found("late-event");
}

#[test]
fn a_leak_in_the_statistics_is_found_and_its_program_made_smaller() {
    let Some(adapter) = planted() else { return };
    let found = programs_on(&adapter, Some("statistics-leak"), &[("UR_MODEL_SHRINK", "10")]);
    let found = found.unwrap_or_else(|| panic!("{PROGRAMS} programs find nothing"));
    assert!(found.contains("made smaller, it fails with"), "{found}");
}

#[test]
fn a_missing_zero_fill_is_found() {
    is_found("missing-zero-fill");
}

/// Devices without pools, so that all blocks lie in slabs; without free lists each free reaches them.
#[test]
fn programs_on_slabs_find_planted_bugs_and_nothing_where_none_is_chosen() {
    let Some(adapter) = planted() else { return };
    let on_slabs = [("SIMCUDA_POOLS", "none"), ("UR_USM_MAGAZINE_BYTES", "0")];
    for settings in [&on_slabs[..1], &on_slabs] {
        let found = programs_on(&adapter, None, settings);
        assert!(found.is_none(), "{found:?}");
    }
    for bug in ["slab-block-too-early", "slab-blocks-overlap", "slab-account-off"] {
        assert!(programs_on(&adapter, Some(bug), &on_slabs).is_some(), "{bug}: {PROGRAMS} programs find nothing");
    }
}

#[test]
fn programs_of_command_buffers_find_planted_bugs_and_nothing_where_none_is_chosen() {
    let Some(adapter) = planted() else { return };
    let found = found_by(GRAPHS_CHILD, &adapter, None, &[]);
    assert!(found.is_none(), "{found:?}");
    for bug in ["graph-missing-edge", "graph-wrong-node", "graph-launch-without-waits"] {
        assert!(found_by(GRAPHS_CHILD, &adapter, Some(bug), &[]).is_some(), "{bug}: the programs find nothing");
    }
}

#[test]
fn programs_of_plain_memory_find_planted_bugs_and_nothing_where_none_is_chosen() {
    let Some(adapter) = planted() else { return };
    let found = found_by(PLAIN_CHILD, &adapter, None, &[]);
    assert!(found.is_none(), "{found:?}");
    for bug in ["plain-block-too-early", "plain-blocks-overlap", "plain-account-off"] {
        assert!(found_by(PLAIN_CHILD, &adapter, Some(bug), &[]).is_some(), "{bug}: the programs find nothing");
    }
}

#[test]
fn programs_of_timelines_find_planted_bugs_and_nothing_where_none_is_chosen() {
    let Some(adapter) = planted() else { return };
    let found = found_by(TIMELINES_CHILD, &adapter, None, &[]);
    assert!(found.is_none(), "{found:?}");
    let bugs = ["timeline-signal-lost", "deferred-out-of-order", "failure-too-far", "failure-too-short"];
    for bug in bugs.into_iter().chain(["deferred-write-unseen"]) {
        assert!(found_by(TIMELINES_CHILD, &adapter, Some(bug), &[]).is_some(), "{bug}: the programs find nothing");
    }
}
