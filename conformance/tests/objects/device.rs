//! `urDevice*`: which devices there are and what they say of themselves.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_device_handle_t, ur_device_info_t as info, ur_device_throttle_reasons_flags_t as Throttle,
    ur_device_type_t as Type, ur_exp_async_usm_alloc_properties_t, ur_result_t, ur_usm_pool_desc_t,
};
use ur_conformance::native::Hip;
use ur_conformance::{
    Fixture, adapter, ask, check_every_property, child, last_error, loader, needs_ours, needs_sim, ok, query, refused,
    release, ur,
};

fn number<T: query::Plain>(device: ur_device_handle_t, property: info) -> T {
    query::get(ask!(Device.pfnGetInfo(device, property)))
}

fn count(fixture: &Fixture, of: Type) -> usize {
    let mut count = 0;
    match ur!(Device.pfnGet(fixture.platform, of, 0, null_mut(), &raw mut count)) {
        ur_result_t::SUCCESS => count as usize,
        ur_result_t::ERROR_DEVICE_NOT_FOUND => 0,
        other => panic!("urDeviceGet({of:?}) answers {other:?}"),
    }
}

#[test]
fn urDeviceGet_lists_the_devices_of_a_Type() {
    let fixture = Fixture::new();
    assert_eq!(count(&fixture, Type::ALL), fixture.devices.len());
    if count(&fixture, Type::GPU) > 0 {
        assert_eq!(count(&fixture, Type::DEFAULT), count(&fixture, Type::GPU), "GPUs are the default kind");
    }
    let mut of_kinds = 0;
    for of in [Type::GPU, Type::CPU, Type::FPGA, Type::MCA, Type::CUSTOM] {
        let found = count(&fixture, of);
        let really = fixture.devices.iter().filter(|&&device| Type(number(device, info::TYPE)) == of).count();
        assert_eq!(found, really, "{of:?}");
        of_kinds += found;
    }
    assert_eq!(of_kinds, fixture.devices.len());
}

#[test]
fn urDeviceGet_fills_as_much_of_the_list_as_there_is_room() {
    let fixture = Fixture::new();
    let mut listed = vec![null_mut(); fixture.devices.len() + 1];
    let mut found = 0;
    ok!(Device.pfnGet(fixture.platform, Type::ALL, 1, listed.as_mut_ptr(), &raw mut found));
    assert_eq!(found as usize, fixture.devices.len(), "the count is of all devices");
    assert_eq!(listed[0], fixture.devices[0], "a device has one handle");
    assert!(listed[1..].iter().all(|handle| handle.is_null()), "no more than there is room for");
    ok!(Device.pfnRelease(listed[0]));
}

#[test]
fn urDeviceGet_refuses_unknown_kinds_and_contradictory_outputs() {
    let fixture = Fixture::new();
    let platform = fixture.platform;
    let (mut device, mut found) = (null_mut(), 0);
    refused!(ERROR_INVALID_ENUMERATION, Device.pfnGet(platform, Type(0x7777), 0, null_mut(), &raw mut found));
    refused!(ERROR_INVALID_SIZE, Device.pfnGet(platform, Type::ALL, 0, &raw mut device, null_mut()));
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnGet(platform, Type::ALL, 1, null_mut(), null_mut()));
    assert!(device.is_null());
    assert_eq!(found, 0);
}

/// oneAPI 2026.1's loader asks so, and crashes on an adapter that refuses.
#[test]
fn urPlatformGet_and_urDeviceGet_tell_the_count_to_whoever_gives_a_capacity_and_no_list() {
    let fixture = Fixture::new();
    let (mut platforms, mut devices) = (0, 0);
    ok!(Platform.pfnGet(ur_conformance::adapter(), 1, null_mut(), &raw mut platforms));
    ok!(Device.pfnGet(fixture.platform, Type::ALL, 1, null_mut(), &raw mut devices));
    assert_eq!((platforms, devices as usize), (1, fixture.devices.len()));
}

#[test]
fn urDeviceRetain_and_urDeviceRelease_leave_the_count_of_a_root_device_alone() {
    let fixture = Fixture::new();
    let device = fixture.device();
    let count = || number::<u32>(device, info::REFERENCE_COUNT);
    assert_eq!(count(), 1);
    ok!(Device.pfnRetain(device));
    assert_eq!(count(), 1);
    ok!(Device.pfnGet(fixture.platform, Type::ALL, 1, [null_mut()].as_mut_ptr(), null_mut()));
    assert_eq!(count(), 1);
    // As often as it was given out, and once more.
    for _ in 0..4 {
        ok!(Device.pfnRelease(device));
        assert_eq!(count(), 1);
    }
}

#[test]
fn urDeviceGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    for &device in &fixture.devices {
        check_every_property!(
            ur_device_info_t,
            &[info::GLOBAL_MEM_FREE, info::REFERENCE_COUNT],
            Device.pfnGetInfo(device)
        );
    }
}

#[test]
fn urDeviceGetInfo_refuses_a_number_that_only_another_release_has() {
    let fixture = Fixture::new();
    for number in info::VALUES.iter().filter(|number| number.of_release(release()).is_none()) {
        let mut size = 0;
        refused!(ERROR_INVALID_ENUMERATION, Device.pfnGetInfo(fixture.device(), *number, 0, null_mut(), &raw mut size));
        assert_eq!(size, 0);
    }
}

#[test]
fn urDeviceGetInfo_tells_a_device_that_work_can_run_on() {
    let fixture = Fixture::new();
    for &device in &fixture.devices {
        assert_eq!(number::<*mut _>(device, info::PLATFORM), fixture.platform);
        assert!(!query::text(ask!(Device.pfnGetInfo(device, info::NAME))).is_empty());
        assert!(number::<u32>(device, info::MAX_COMPUTE_UNITS) > 0);
        let group: usize = number(device, info::MAX_WORK_GROUP_SIZE);
        let sizes = query::list::<usize>(ask!(Device.pfnGetInfo(device, info::MAX_WORK_ITEM_SIZES)));
        assert_eq!(sizes.len(), number::<u32>(device, info::MAX_WORK_ITEM_DIMENSIONS) as usize);
        assert!(group > 0 && sizes.iter().all(|&size| size > 0 && size <= group), "{group} {sizes:?}");
        let all: u64 = number(device, info::GLOBAL_MEM_SIZE);
        assert!(all > 0 && number::<u64>(device, info::MAX_MEM_ALLOC_SIZE) <= all);
        // An adapter need not know what other processes use.
        let free = query::optional::<u64>(ask!(Device.pfnGetInfo(device, info::GLOBAL_MEM_FREE)));
        assert!(free.is_none_or(|free| free <= all));
        assert!(number::<u64>(device, info::LOCAL_MEM_SIZE) > 0);
    }
}

/// The device and what its entry point answers must not contradict each other.
#[test]
fn urDeviceGetInfo_claims_no_feature_whose_entry_point_is_unsupported() {
    let fixture = Fixture::new();
    let (device, context, queue) = (fixture.device(), fixture.context(), fixture.in_order());
    let claims = |property| {
        let mut value = 0u8;
        let answer = ur!(Device.pfnGetInfo(device, property, 1, (&raw mut value).cast(), null_mut()));
        answer == ur_result_t::SUCCESS && value != 0
    };
    let mut pool = null_mut();
    let mut desc = ur_usm_pool_desc_t::default();
    let answer = ur!(USM.pfnPoolCreate(context, &raw mut desc, &raw mut pool));
    assert_eq!(claims(info::USM_POOL_SUPPORT), answer != ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    if answer == ur_result_t::SUCCESS {
        ok!(USM.pfnPoolRelease(pool));
    }
    let mut size = 0usize;
    let granularity = ur_conformance::ffi::ur_virtual_mem_granularity_info_t::MINIMUM;
    let out = (&raw mut size).cast();
    let answer = ur!(VirtualMem.pfnGranularityGetInfo(context, device, 1, granularity, 8, out, null_mut()));
    assert_eq!(claims(info::VIRTUAL_MEMORY_SUPPORT), answer != ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    let mut pointer = null_mut();
    let properties = ur_exp_async_usm_alloc_properties_t::default();
    let answer = ur!(EnqueueExp.pfnUSMDeviceAllocExp(
        queue.handle(),
        null_mut(),
        64,
        &raw const properties,
        0,
        null(),
        &raw mut pointer,
        null_mut()
    ));
    let told = claims(info::ASYNC_USM_ALLOCATIONS_SUPPORT_EXP);
    assert_eq!(told, answer != ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    if answer == ur_result_t::SUCCESS {
        ok!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), pointer, 0, null(), null_mut()));
        queue.finish();
    }
}

#[test]
fn urDeviceGet_finds_no_platform_where_the_driver_has_no_device() {
    needs_ours!("run over the simulated driver");
    let test = "urDeviceGet_finds_no_platform_where_the_driver_has_no_device";
    child::in_process(test, &[("SIMCUDA_DEVICES", "0")], || {
        let platforms = loader().platforms(adapter()).expect("no device is no error");
        if std::env::var_os("UR_TEST_NATIVE").is_some() {
            println!("skipped: UR_TEST_NATIVE names another driver than the simulated one");
            return;
        }
        assert_eq!(platforms, []);
        assert!(!ur_conformance::last_error().is_empty(), "the reason is kept");
    });
}

#[test]
fn urDeviceGet_finds_as_many_devices_as_the_driver_has() {
    let test = "urDeviceGet_finds_as_many_devices_as_the_driver_has";
    let variables = [("SIMCUDA_DEVICES", "5"), ("SIMCUDA_MEMORY", "256M"), ("SIMCUDA_CC", "7.5")];
    child::in_process(test, &variables, || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        assert_eq!(fixture.devices.len(), 5);
        for &device in &fixture.devices {
            assert_eq!(number::<u64>(device, info::GLOBAL_MEM_SIZE), 256 << 20);
            assert_eq!(query::text(ask!(Device.pfnGetInfo(device, info::VERSION))), "7.5");
        }
    });
}

/// On the simulated devices: the first has a fan and is short of power, the others are not.
#[test]
fn urDeviceGetInfo_tells_power_fan_and_throttling_as_the_management_library_does() {
    let fixture = Fixture::over_all_devices();
    needs_sim!(fixture);
    if Hip::loaded().is_some() {
        for property in [info::FAN_SPEED, info::MIN_POWER_LIMIT] {
            no_sensor(fixture.device(), property, "AMD's management library");
        }
        return;
    }
    for (index, &device) in fixture.devices.iter().enumerate() {
        let limits = [info::MIN_POWER_LIMIT, info::MAX_POWER_LIMIT].map(|property| number::<i32>(device, property));
        assert_eq!(limits, [200_000, 700_000], "milliwatts");
        let throttled = Throttle::from_bits_retain(number(device, info::CURRENT_CLOCK_THROTTLE_REASONS));
        if index == 0 {
            assert_eq!(number::<i32>(device, info::FAN_SPEED), 30);
            assert_eq!(throttled, Throttle::POWER_CAP);
        } else {
            no_sensor(device, info::FAN_SPEED, "nvmlDeviceGetFanSpeed");
            assert_eq!(throttled, Throttle::empty(), "idle is no reason");
        }
    }
}

#[track_caller]
fn no_sensor(device: ur_device_handle_t, property: info, words: &str) {
    let mut value = 7i32;
    refused!(
        ERROR_UNSUPPORTED_ENUMERATION,
        Device.pfnGetInfo(device, property, size_of::<i32>(), (&raw mut value).cast(), null_mut())
    );
    assert_eq!(value, 7);
    assert!(last_error().contains(words), "{}", last_error());
}

#[test]
fn urDeviceGetInfo_does_without_a_management_library_and_says_how_to_name_one() {
    const NAME: &str = "urDeviceGetInfo_does_without_a_management_library_and_says_how_to_name_one";
    needs_ours!("read UR_NVML_LIBRARY, and name it in messages");
    child::in_process(NAME, &[("UR_NVML_LIBRARY", "/nowhere/libnvidia-ml.so.1")], || {
        let fixture = Fixture::new();
        if Hip::loaded().is_some() {
            return;
        }
        for property in [info::FAN_SPEED, info::CURRENT_CLOCK_THROTTLE_REASONS, info::MAX_POWER_LIMIT] {
            no_sensor(fixture.device(), property, "UR_NVML_LIBRARY");
        }
        assert!(number::<u64>(fixture.device(), info::GLOBAL_MEM_SIZE) > 0, "everything else is told");
    });
}
