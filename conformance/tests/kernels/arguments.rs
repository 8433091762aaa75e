//! Kernel arguments: values of every size, pointers, work-group memory, and lists that are wrong.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use ur_conformance::below::Below;
use ur_conformance::ffi::{
    ur_exp_kernel_arg_type_t as Type, ur_kernel_launch_ext_properties_t, ur_kernel_launch_workgroup_property_t,
    ur_result_t as Code, ur_structure_type_t,
};
use ur_conformance::launch::parameters_are_known;
use ur_conformance::sim::status;
use ur_conformance::{Arg, Fixture, Kind, Launch, needs_sim};

#[test]
fn values_of_1_2_4_8_12_and_16_bytes_arrive() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"arguments"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 72);
    for seed in [0u64, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
        let (one, two, four) = (seed as u8, (seed >> 3) as u16, (seed >> 7) as u32);
        let twelve = [four, !four, four ^ 5];
        let sixteen = [seed.rotate_left(9), !seed];
        let launch = Launch::new(&kernel, &[1]).pointer(out.pointer()).value(one).value(two).value(four).value(seed);
        launch.value(twelve).value(sixteen).on(&queue);
        let expected = [
            u64::from(one),
            u64::from(two),
            u64::from(four),
            seed,
            u64::from(twelve[0]),
            u64::from(twelve[1]),
            u64::from(twelve[2]),
            sixteen[0],
            sixteen[1],
        ];
        assert_eq!(out.read::<u64>(&queue, 9), expected);
    }
}

#[test]
fn a_value_of_4_KiB_arrives() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"large_argument"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4096);
    let mut words = [0u32; 1024];
    (0u32..).zip(&mut words).for_each(|(index, word)| *word = index.wrapping_mul(2_654_435_761));
    Launch::new(&kernel, &[1024]).value(words).pointer(out.pointer()).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 1024), words);
}

#[test]
fn a_value_s_bytes_are_the_caller_s_again_when_the_launch_returns() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 50);
    let mut gate = ur_conformance::Gate::new(&fixture);
    gate.block(&queue);
    for index in 0..50u32 {
        // The argument's bytes go with the launch at the end of each round.
        let launch = Launch::new(&kernel, &[1]).pointer(out.at(4 * index as usize)).value(index * 3);
        launch.value(1u32).on(&queue);
    }
    gate.open();
    let found = out.read::<u32>(&queue, 50);
    assert!(found.iter().enumerate().all(|(index, &value)| value == 3 * index as u32));
}

#[test]
fn arguments_may_come_in_any_order() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    for launch in Launch::both(&kernel, &[10]) {
        let out = fixture.memory(Kind::Device, 40);
        let last = launch.clone().arg_at(2, Arg::value(10u32)).arg_at(0, Arg::pointer(out.pointer()));
        last.arg_at(1, Arg::value(9u32)).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 10), [9; 10]);
        // Two of one size, whose places nothing but their numbers tells.
        let swapped = launch.pointer(out.pointer()).arg_at(2, Arg::value(10u32)).arg_at(1, Arg::value(8u32));
        swapped.on(&queue);
        assert_eq!(out.read::<u32>(&queue, 10), [8; 10]);
    }
}

#[test]
fn a_pointer_may_be_null_or_given_as_a_value() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"iota"), fixture.in_order());
    Launch::new(&kernel, &[10]).pointer(core::ptr::null_mut()).value(0u32).on(&queue);
    let out = fixture.memory(Kind::Device, 40);
    Launch::new(&kernel, &[10]).value(out.pointer().expose_provenance()).value(10u32).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_local_argument_gives_each_group_memory_of_its_own() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    for group in [1usize, 2, 3, 32, 33, 100, 256] {
        let out = fixture.memory(Kind::Device, 4 * group * 5);
        let launch = Launch::new(&kernel, &[group * 5]).local(&[group]).arg(Arg::local(4 * group));
        launch.arg(Arg::local(4 * group)).pointer(out.pointer()).on(&queue);
        let found = out.read::<u32>(&queue, group * 5);
        for (index, &value) in found.iter().enumerate() {
            let other = (group - 1 - index % group) as u32;
            assert_eq!(value, other * 10000 + 1000 + other, "work-item {index} in groups of {group}");
        }
    }
}

/// The second argument's start must fit whatever type the kernel puts there.
#[test]
fn local_arguments_do_not_overlap_and_are_aligned_to_their_size() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 8);
    // The kernel reads and writes words at both starts: were the second not aligned, it would fault.
    for first in [33, 34, 36, 37, 63] {
        let launch = Launch::new(&kernel, &[8]).local(&[8]).arg(Arg::local(first)).arg(Arg::local(32));
        launch.pointer(out.pointer()).on(&queue);
        let found = out.read::<u32>(&queue, 8);
        assert!((0..8u32).all(|index| found[index as usize] == (7 - index) * 10000 + 1000 + 7 - index), "{first}");
    }
}

#[test]
fn a_local_argument_can_be_all_of_the_memory_that_a_group_has() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let property = ur_conformance::ffi::ur_device_info_t::LOCAL_MEM_SIZE;
    let ask: ur_conformance::query::Ask<'_> = ur_conformance::ask!(Device.pfnGetInfo(fixture.device(), property));
    let most = usize::try_from(ur_conformance::query::get::<u64>(ask)).expect("a 64-bit machine");
    let out = fixture.memory(Kind::Device, 4 * 8);
    let launch = Launch::new(&kernel, &[8]).local(&[8]);
    let launch = |first| launch.clone().arg(Arg::local(first)).arg(Arg::local(32)).pointer(out.pointer());
    launch(most - 32).on(&queue);
    queue.finish();
    launch(most * 64).refused(&[Code::ERROR_OUT_OF_RESOURCES, Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE], &queue);
    launch(usize::MAX).refused(&[Code::ERROR_OUT_OF_RESOURCES, Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE], &queue);
    let huge = Launch::new(&kernel, &[8]).local(&[8]).arg(Arg::local(usize::MAX)).arg(Arg::local(usize::MAX));
    let codes = [Code::ERROR_OUT_OF_RESOURCES, Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE];
    huge.pointer(out.pointer()).refused(&codes, &queue);
    launch(32).on(&queue);
    queue.finish();
}

/// The most memory that a group of the device can have, bytes.
fn most_local(fixture: &Fixture) -> usize {
    let property = ur_conformance::ffi::ur_device_info_t::LOCAL_MEM_SIZE;
    let most: u64 = ur_conformance::query::get(ur_conformance::ask!(Device.pfnGetInfo(fixture.device(), property)));
    usize::try_from(most).expect("a 64-bit machine")
}

/// Both sizes lie above what the driver gives without being asked, and the driver keeps one limit for the function.
#[test]
fn local_arguments_of_two_sizes_are_launched_by_two_threads_at_once() {
    const ROUNDS: usize = 300;
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"two_locals");
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for first in [(48 << 10) + 1024, most_local(&fixture) - 32] {
            let (fixture, kernel, start) = (&fixture, &kernel, &start);
            scope.spawn(move || {
                let (queue, out) = (fixture.in_order(), fixture.memory(Kind::Device, 4 * 8));
                let launch = Launch::new(kernel, &[8]).local(&[8]).arg(Arg::local(first)).arg(Arg::local(32));
                let launch = launch.pointer(out.pointer());
                start.wait();
                for _ in 0..ROUNDS {
                    launch.on(&queue);
                }
                queue.finish();
            });
        }
    });
}

#[test]
fn the_limit_of_local_arguments_is_raised_once_for_all_sizes() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let sim = needs_sim!(fixture);
    let out = fixture.memory(Kind::Device, 4 * 8);
    let launch = |first| {
        let launch = Launch::new(&kernel, &[8]).local(&[8]).arg(Arg::local(first)).arg(Arg::local(32));
        let (_, calls) = sim.calls_of(|| launch.pointer(out.pointer()).on(&queue));
        assert_eq!(calls.get(Below::the_adapter().launch), Some(&1));
        calls.get("cuFuncSetAttribute").copied().unwrap_or(0)
    };
    assert_eq!(launch(1024), 0, "what every device gives needs no permission");
    assert_eq!(launch(64 << 10), 1, "the first that needs more");
    for first in [most_local(&fixture) - 32, 64 << 10, 100 << 10, 1024] {
        assert_eq!(launch(first), 0, "{first} bytes after the limit was raised");
    }
    queue.finish();
}

#[test]
fn a_limit_that_could_not_be_raised_is_raised_by_the_next_launch() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let sim = needs_sim!(fixture);
    let out = fixture.memory(Kind::Device, 4 * 8);
    let launch = Launch::new(&kernel, &[8]).local(&[8]).arg(Arg::local(64 << 10)).arg(Arg::local(32));
    let launch = launch.pointer(out.pointer());
    sim.fail("cuFuncSetAttribute", 1, status::UNKNOWN);
    launch.refused(&[Code::ERROR_ADAPTER_SPECIFIC], &queue);
    launch.on(&queue);
    assert_eq!(out.read::<u32>(&queue, 8)[0], 71007);
}

/// The variant that takes an offset is a function of its own, with limits of its own.
#[test]
fn a_launch_with_an_offset_may_have_as_much_memory_as_one_without() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 40);
    let mut memory = ur_kernel_launch_workgroup_property_t {
        stype: ur_structure_type_t::KERNEL_LAUNCH_WORKGROUP_PROPERTY,
        pNext: core::ptr::null_mut(),
        workgroup_mem_size: most_local(&fixture),
    };
    for (offset, value) in [(0, 3u32), (5, 4), (0, 5)] {
        let properties = ur_kernel_launch_ext_properties_t { pNext: (&raw mut memory).cast(), ..Default::default() };
        let launch = Launch::new(&kernel, &[5]).offset(&[offset]).pointer(out.pointer()).value(value).value(10u32);
        launch.properties(properties).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 10)[offset..offset + 5], [value; 5], "from {offset} on");
    }
}

#[test]
fn static_work_group_memory_works() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"reverse_static"), fixture.in_order());
    let data = fixture.memory(Kind::Device, 4 * 1024);
    let values: Vec<u32> = (0..1024).collect();
    data.write(&queue, &values);
    Launch::new(&kernel, &[1024]).local(&[256]).pointer(data.pointer()).on(&queue);
    let found = data.read::<u32>(&queue, 1024);
    assert!((0..1024).all(|index| found[index] as usize == index / 256 * 256 + 255 - index % 256));
}

#[test]
fn a_group_reduces_through_atomics_and_work_group_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.kernel(&fixture.program("atomics.ptx"), c"histogram");
    let (data, bins) = (fixture.memory(Kind::Device, 4 * 10_000), fixture.memory(Kind::Device, 4 * 64));
    let values: Vec<u32> = (0..10_000u32).map(|index| index * index % 97).collect();
    data.write(&queue, &values);
    bins.write(&queue, &[0u32; 64]);
    let launch = Launch::new(&kernel, &[10_112]).local(&[128]).pointer(data.pointer()).pointer(bins.pointer());
    launch.value(10_000u32).on(&queue);
    let mut expected = vec![0u32; 64];
    values.iter().for_each(|&value| expected[(value & 63) as usize] += 1);
    assert_eq!(bins.read::<u32>(&queue, 64), expected);
}

#[test]
fn a_list_that_is_too_short_too_long_or_says_something_twice_is_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 40);
    let (pointer, word) = (Arg::pointer(out.pointer()), Arg::value(1u32));
    let args = [Code::ERROR_INVALID_KERNEL_ARGS, Code::ERROR_INVALID_KERNEL_ARGUMENT_INDEX];
    for launch in Launch::both(&kernel, &[10]) {
        let two = launch.clone().arg(pointer.clone()).arg(word.clone());
        if parameters_are_known(&kernel) {
            launch.refused(&args, &queue);
            two.refused(&args, &queue);
            two.clone().arg(word.clone()).arg(word.clone()).refused(&args, &queue);
        }
        two.clone().arg_at(1, word.clone()).refused(&args, &queue);
        two.clone().arg_at(0, pointer.clone()).refused(&args, &queue);
        two.clone().arg_at(3, word.clone()).refused(&args, &queue);
        two.clone().arg_at(u32::MAX, word.clone()).refused(&args, &queue);
        two.arg(word.clone()).on(&queue);
    }
    queue.finish();
}

#[test]
fn an_argument_smaller_than_its_parameter_is_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    if !parameters_are_known(&kernel) {
        return;
    }
    let out = fixture.memory(Kind::Device, 40);
    let size = [Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE, Code::ERROR_INVALID_KERNEL_ARGS];
    for launch in Launch::both(&kernel, &[10]) {
        let launch = launch.pointer(out.pointer());
        launch.clone().value(1u16).value(10u32).refused(&size, &queue);
        launch.clone().arg(Arg::value(1u32).of_size(0)).value(10u32).refused(&size, &queue);
    }
    let large = fixture.basic(c"large_argument");
    for launch in Launch::both(&large, &[1]) {
        launch.clone().value([0u32; 8]).pointer(out.pointer()).refused(&size, &queue);
        launch.pointer(out.pointer()).pointer(out.pointer()).refused(&size, &queue);
    }
    queue.finish();
}

#[test]
fn an_argument_of_no_known_type_no_value_or_no_bytes_is_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 40);
    for launch in Launch::both(&kernel, &[10]) {
        let launch = launch.pointer(out.pointer()).value(10u32);
        let unknown = Arg::value(1u32).of_type(Type(0x7777));
        launch.clone().arg(unknown).refused(&[Code::ERROR_INVALID_ENUMERATION], &queue);
        let no_value = Arg::local(4).of_type(Type::VALUE);
        launch.clone().arg(no_value).refused(&[Code::ERROR_INVALID_NULL_POINTER], &queue);
        let size = [Code::ERROR_INVALID_KERNEL_ARGUMENT_SIZE];
        launch.clone().arg(Arg::local(0)).refused(&size, &queue);
    }
    queue.finish();
}
