//! The suite's own promises: what a test leaves behind or misuses fails it, and a missing installation is said.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};
use std::collections::BTreeSet;
use std::path::Path;

use ur_conformance::below::Below;
use ur_conformance::current::{Current, Place};
use ur_conformance::native::{Cuda, Hip};
use ur_conformance::{Environment, Fixture, Kind, Launch, child, needs_sim, ok, ours};

fn on_sim() -> bool {
    Fixture::new().sim().is_some()
}

#[test]
fn without_an_installation_a_test_says_what_to_run() {
    let test = "without_an_installation_a_test_says_what_to_run";
    child::fails(test, &[("UR_TEST_DIST", "")], "run `cargo xtask test`", || drop(Fixture::new()));
}

/// Otherwise what only ours promise would be skipped for ours.
#[test]
fn an_adapter_of_the_installation_s_is_known_as_this_project_s() {
    let Some(installation) = std::env::var_os("UR_TEST_DIST") else { panic!("UR_TEST_DIST names an installation") };
    let adapter = Environment::get().adapter.to_string_lossy();
    if !Path::new(&*adapter).starts_with(&installation) {
        println!("skipped: {adapter} is none of the installation's adapters");
        return;
    }
    assert!(ours::is_ours(), "{adapter}");
}

#[test]
fn the_suite_s_readme_has_a_row_for_every_test_binary() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(readme) = std::fs::read_to_string(suite.join("README.md")) else {
        println!("skipped: the sources are not on this machine");
        return;
    };
    let (_, table) = readme.split_once("| folder | about |").expect("the table");
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let told: BTreeSet<_> =
        rows.filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect();
    let entries = std::fs::read_dir(suite.join("tests")).expect("the tests' folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    assert_eq!(told, names.collect::<BTreeSet<_>>());
}

#[test]
fn a_child_process_runs_the_test_that_its_caller_s_file_and_the_name_say() {
    let test = "a_child_process_runs_the_test_that_its_caller_s_file_and_the_name_say";
    assert_eq!(child::full_name(test), format!("{}::{test}", module_path!().split_once("::").expect("a module").1));
    let ran = std::cell::Cell::new(false);
    child::in_process::<&str>(test, &[], || ran.set(true));
    assert_eq!(ran.get(), std::env::var_os("UR_TEST_CHILD").is_some(), "the body runs in the child alone");
}

#[test]
fn a_child_process_that_finds_no_test_of_its_name_fails_the_caller() {
    let outcome = std::panic::catch_unwind(|| child::in_process::<&str>("no_test_has_this_name", &[], || ()));
    let message = outcome.expect_err("no test ran");
    let message = message.downcast_ref::<String>().expect("a formatted message");
    assert!(message.contains("the child ran no test named harness::no_test_has_this_name"), "{message}");
}

#[test]
fn memory_that_a_test_forgets_fails_it() {
    if !on_sim() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let test = "memory_that_a_test_forgets_fails_it";
    // CUDA's context goes with the last object that uses it, and memory is none of those. HIP's stays, and so does what
    // is in it.
    let words = if Below::is_hip() { "native objects are left behind" } else { "\"leak\"" };
    child::fails::<&str>(test, &[], words, || {
        let fixture = Fixture::new();
        core::mem::forget(fixture.memory(Kind::Device, 64));
    });
}

#[test]
fn a_queue_that_a_test_forgets_fails_it() {
    if !on_sim() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let test = "a_queue_that_a_test_forgets_fails_it";
    child::fails::<&str>(test, &[], "native objects are left behind", || {
        let fixture = Fixture::new();
        core::mem::forget(fixture.in_order());
    });
}

#[test]
fn misuse_that_a_test_does_not_expect_fails_it() {
    if !on_sim() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let test = "misuse_that_a_test_does_not_expect_fails_it";
    child::fails::<&str>(test, &[], "the simulated driver reports misuse", || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (owner, other) = (fixture.in_order(), fixture.in_order());
        let kernel = fixture.basic(c"iota");
        let held = sim.hold();
        let mut block = null_mut();
        let (q, out) = (owner.handle(), &raw mut block);
        ok!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 4096, null(), 0, null(), out, null_mut()));
        // Nothing orders this queue's launch after the other's allocation.
        Launch::new(&kernel, &[8]).pointer(block).value(8u32).on(&other);
        drop(held);
        other.finish();
        ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 0, null(), null_mut()));
        owner.finish();
    });
}

#[test]
fn a_current_context_or_device_that_is_not_put_back_fails_a_test() {
    let test = "a_current_context_or_device_that_is_not_put_back_fails_a_test";
    let hip = Below::is_hip();
    let words = if hip { "changed the thread's current device" } else { "changed the thread's current context" };
    let fixture = Fixture::new();
    if fixture.devices.len() < 2 || !Current::at(Place::LastDevice).is_seen() {
        println!("skipped: needs two devices of CUDA's or HIP's");
        return;
    }
    drop(fixture);
    child::fails::<&str>(test, &[], words, || {
        let _fixture = Fixture::new();
        let current = Current::at(Place::LastDevice);
        match Hip::loaded() {
            Some(hip) => current.after("a call", || hip.set_current(0)),
            None => current.after("a call", || Cuda::loaded().expect("seen above").set_current(null_mut())),
        }
    });
}

#[test]
fn native_calls_are_counted_and_faults_reach_the_caller() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (_, calls) = sim.calls_of(|| drop(fixture.memory(Kind::Device, 64)));
    let freed = if ur_conformance::memory::is_pooled() { None } else { Some(&1) };
    assert_eq!((calls.get("cuMemAlloc_v2"), calls.get("cuMemFree_v2")), (Some(&1), freed), "{calls:?}");
    sim.fail("cuMemAlloc_v2", 1, ur_conformance::sim::status::UNKNOWN);
    let mut pointer = null_mut();
    let (context, device) = (fixture.context(), fixture.device());
    let answer = ur_conformance::memory::allocate(Kind::Device, context, device, null(), 4096, &raw mut pointer);
    assert_eq!(answer, ur_conformance::ffi::ur_result_t::ERROR_ADAPTER_SPECIFIC);
}
