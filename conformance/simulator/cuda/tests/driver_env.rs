//! The environment: each test runs itself again in a child process with variables set, since the driver reads them
//! once.

#[macro_use]
mod driver;
use driver::*;
use std::process::{Command, Output};

const CHILD: &str = "SIMCUDA_TEST_CHILD";

/// Whether this is the child of the test; otherwise runs the child and answers how it ended.
fn in_child(test: &str, variables: &[(&str, &str)]) -> Option<Output> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let mut command = Command::new(std::env::current_exe().expect("the test has a path"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").envs(variables.iter().copied());
    let output = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "the child failed: {text}");
    Some(output)
}

#[test]
fn without_devices_init_answers_no_device() {
    if in_child("without_devices_init_answers_no_device", &[("SIMCUDA_DEVICES", "0")]).is_none() {
        err!(100, cuInit(0));
        err!(100, cuInit(0));
        err!(3, cuDeviceGetCount(&mut 0));
    }
}

#[test]
fn a_malformed_variable_is_an_error_that_names_it() {
    let output = in_child("a_malformed_variable_is_an_error_that_names_it", &[("SIMCUDA_MEMORY", "much")]);
    match output {
        None => err!(1, cuInit(0)),
        Some(output) => assert!(String::from_utf8_lossy(&output.stderr).contains("SIMCUDA_MEMORY=much")),
    }
}

#[test]
fn a_malformed_start_of_graphs_is_an_error_that_names_it() {
    let test = "a_malformed_start_of_graphs_is_an_error_that_names_it";
    match in_child(test, &[("SIMCUDA_GRAPHS", "often")]) {
        None => err!(1, cuInit(0)),
        Some(output) => assert!(String::from_utf8_lossy(&output.stderr).contains("SIMCUDA_GRAPHS=often")),
    }
}

#[test]
fn the_machine_is_as_described() {
    let variables = [("SIMCUDA_DEVICES", "3"), ("SIMCUDA_MEMORY", "64M"), ("SIMCUDA_CC", "8.6")];
    if in_child("the_machine_is_as_described", &variables).is_none() {
        ok!(cuInit(0));
        assert_eq!(get!(cuDeviceGetCount()), 3);
        assert_eq!((get!(cuDeviceGetAttribute(75, 2)), get!(cuDeviceGetAttribute(76, 2))), (8, 6));
        let _context: u64 = get!(cuCtxCreate_v2(0, 2));
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        assert_eq!((free, total), (64 << 20, 64 << 20));
        err!(2, cuMemAlloc_v2(&mut 0, (64 << 20) + 1));
    }
}

#[test]
fn devices_without_memory_pools_say_so_and_make_none() {
    if in_child("devices_without_memory_pools_say_so_and_make_none", &[("SIMCUDA_POOLS", "none")]).is_none() {
        ok!(cuInit(0));
        assert_eq!(get!(cuDeviceGetAttribute(115, 0)), 0);
        let _context: u64 = get!(cuCtxCreate_v2(0, 0));
        err!(801, cuMemAllocAsync(&mut 0, 64, 0));
    }
}

#[test]
fn devices_without_links_say_so_and_give_no_access() {
    if in_child("devices_without_links_say_so_and_give_no_access", &[("SIMCUDA_LINKS", "none")]).is_none() {
        ok!(cuInit(0));
        assert_eq!(get!(cuDeviceCanAccessPeer(0, 1)), 0);
        let other: u64 = get!(cuCtxCreate_v2(0, 1));
        let _context: u64 = get!(cuCtxCreate_v2(0, 0));
        err!(217, cuCtxEnablePeerAccess(other, 0));
    }
}

#[test]
fn faults_can_be_set_before_anything_runs() {
    let faults = "cuStreamCreate:2:2; cuEventCreate:1:999:2";
    if in_child("faults_can_be_set_before_anything_runs", &[("SIMCUDA_FAULTS", faults)]).is_none() {
        ok!(cuInit(0));
        let _context: u64 = get!(cuCtxCreate_v2(0, 0));
        let _first: u64 = get!(cuStreamCreate(0));
        err!(2, cuStreamCreate(&mut 0, 0));
        let _second: u64 = get!(cuStreamCreate(0));
        err!(999, cuEventCreate(&mut 0, 0));
        err!(999, cuEventCreate(&mut 0, 0));
        let _event: u64 = get!(cuEventCreate(0));
    }
}

#[test]
fn reports_and_leaks_are_written_at_exit() {
    match in_child("reports_and_leaks_are_written_at_exit", &[("SIMCUDA_REPORT", "stderr")]) {
        None => {
            ok!(cuInit(0));
            err!(201, cuMemAlloc_v2(&mut 0, 64));
            let context: u64 = get!(cuDevicePrimaryCtxRetain(0));
            ok!(cuCtxSetCurrent(context));
            let _leaked: [u64; 2] = [get!(cuEventCreate(0)), get!(cuEventCreate(0))];
        }
        Some(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("simcuda: ")).collect();
            let expected = [
                "simcuda: report: context: cuMemAlloc_v2: needs a current context and there is none",
                "simcuda: leak: primary context retain: 1",
                "simcuda: leak: event: 2",
            ];
            assert_eq!(lines, expected);
        }
    }
}

#[test]
fn delayed_streams_keep_their_order() {
    if in_child("delayed_streams_keep_their_order", &[("SIMCUDA_DELAY", "7:200")]).is_none() {
        ok!(cuInit(0));
        let context: u64 = get!(cuCtxCreate_v2(0, 0));
        let streams: [u64; 2] = [get!(cuStreamCreate(1)), get!(cuStreamCreate(1))];
        let event: u64 = get!(cuEventCreate(2));
        let memory = get!(cuMemAlloc_v2(4096));
        for round in 0..20u8 {
            ok!(cuMemsetD8Async(memory, round, 4096, streams[0]));
            ok!(cuEventRecord(event, streams[0]));
            ok!(cuStreamWaitEvent(streams[1], event, 0));
            let mut seen = vec![!round; 4096];
            ok!(cuMemcpyDtoHAsync_v2(seen.as_mut_ptr().cast(), memory, 4096, streams[1]));
            ok!(cuStreamSynchronize(streams[1]));
            assert!(seen.iter().all(|&byte| byte == round));
        }
        ok!(cuCtxDestroy_v2(context));
    }
}
