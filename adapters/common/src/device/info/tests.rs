//! `urDeviceGetInfo` without a driver: every property of the release, by type and by meaning.

use ur_ffi::ur_device_info_t as Info;
use ur_ffi::value::{Count, Element, ValueType};

use crate::device::info::value::Value;
use crate::device::info::*;

/// A made-up GPU that has everything and whose every number is another.
fn gpu() -> DeviceProperties {
    DeviceProperties {
        name: "Made-up GPU".to_owned(),
        driver_version: "API 13.0".to_owned(),
        architecture: "sm_90".to_owned(),
        binary_target: "nvptx64",
        spirv: Some(crate::driver::SpirvTarget::Ptx(crate::driver::PtxTarget { sm: 90, version: (9, 0) })),
        program_link: true,
        version: "9.0".to_owned(),
        uuid: Some([7; 16]),
        pci: Some((1, 0x4e, 0)),
        device_id: Some(0x2335),
        global_memory: 80 << 30,
        compute_units: 132,
        max_threads_per_block: 1024,
        max_block: [1024, 1023, 64],
        max_grid: [0x7fff_ffff, 65_535, 65_534],
        warp_size: 32,
        shared_per_block: 48 << 10,
        shared_per_block_optin: 227 << 10,
        registers_per_block: 65_536,
        constant_memory: 64 << 10,
        clock_mhz: Some(1980),
        memory_clock_mhz: Some(2619),
        memory_bus_bits: Some(5120),
        l2_cache: 50 << 20,
        cache_line: 128,
        ecc: true,
        integrated: false,
        unified_addressing: true,
        host_mapping: true,
        managed_memory: true,
        concurrent_managed: true,
        pageable_access: true,
        host_native_atomics: true,
        memory_pools: true,
        ipc_events: true,
        graph_capture: true,
        stream_value_waits: true,
        graphs: true,
        graph_changes: true,
        graph_events: true,
        cooperative_launch: true,
        clusters: true,
        virtual_memory: true,
        timer_resolution_ns: 500,
        printf_buffer: 1 << 20,
        half: true,
        double: true,
        bfloat16: true,
        atomic64: true,
        system_atomics: true,
        full_memory_model: true,
        independent_sub_groups: true,
        split_barriers: true,
        native_assert: true,
        address_align_bits: 1024,
        image1d: 32_768,
        image2d: [131_072, 65_536],
        image3d: [16_384, 16_383, 16_382],
        image2d_linear: [131_072, 65_000, 2_097_120],
        image_pitch_align: 32,
        image1d_array: [32768, 2048],
        image2d_array: [32768, 32768, 2048],
        max_parameter_size: 32_764,
        posix_handles: true,
        external_memory: true,
        external_semaphores: true,
        external_timelines: true,
    }
}

fn value_of(device: &DeviceProperties, property: Info) -> Value {
    match reply_of(device, property) {
        Some(Reply::Is(value)) => value,
        other => panic!("{property:?}: {other:?}"),
    }
}

fn fits(value: &Value, ty: ValueType) -> bool {
    matches!(
        (value, ty.element, ty.count),
        (Value::Bool(_), Element::Bool, Count::One)
            | (Value::U32(_), Element::U32, Count::One)
            | (Value::U64(_), Element::U64, Count::One)
            | (Value::Size(_), Element::Size, Count::One)
            | (Value::Enum(_), Element::Enum(_), Count::One)
            | (Value::Flags(_), Element::Flags(_), Count::One)
            | (Value::Text(_), Element::U8, Count::Text)
            | (Value::Bytes(_), Element::U8, Count::Many)
            | (Value::U32s(_), Element::U32, Count::Many)
            | (Value::Sizes(_), Element::Size, Count::Many)
            | (Value::NoHandle, Element::Handle, Count::One)
            | (Value::NoElements, _, Count::Many)
    ) || matches!((value, ty.count), (Value::Sizes(sizes), Count::Fixed(count)) if sizes.len() == count)
}

#[test]
fn every_property_has_a_value_of_the_specifications_type_or_a_reason_for_having_none() {
    // What no device of these backends can answer; each has its reason in the group.
    const NEVER: [Info; 15] = [
        Info::IP_VERSION,
        Info::LUID,
        Info::NODE_MASK,
        Info::GPU_EU_COUNT,
        Info::GPU_EU_SIMD_WIDTH,
        Info::GPU_EU_SLICES,
        Info::GPU_EU_COUNT_PER_SUBSLICE,
        Info::GPU_SUBSLICES_PER_SLICE,
        Info::GPU_HW_THREADS_PER_EU,
        Info::XE_STACK_COUNT,
        Info::XE_REGIONS_PER_STACK,
        Info::XE_CLUSTERS_PER_REGION,
        Info::XE_CORES_PER_CLUSTER,
        Info::EUS_PER_XE_CORE,
        Info::MAX_LANES_PER_HW_THREAD,
    ];
    let device = gpu();
    for property in Info::VALUES.iter().copied() {
        match reply_of(&device, property) {
            Some(Reply::Is(value)) => {
                assert!(!NEVER.contains(&property), "{property:?} has the value {value:?} though it is listed");
                let ty = property.value_type().unwrap_or_else(|| panic!("{property:?} has no type"));
                assert!(fits(&value, ty), "{property:?} is a {} and not {value:?}", ty.c_name);
            }
            Some(Reply::Unsupported(reason)) => {
                assert!(NEVER.contains(&property), "{property:?} has no value: {reason}");
                assert!(reason.len() > 20, "{property:?}: {reason:?} is no reason");
            }
            None => assert!(LIVE.contains(&property), "no group knows {property:?}"),
        }
    }
}

#[test]
fn a_number_that_is_no_property_is_unknown() {
    for number in [140, 0x1fff, 0xffff_ffff] {
        assert_eq!(reply_of(&gpu(), Info(number)), None, "{number:#x}");
    }
}

#[test]
fn flags_and_enumerators_are_ones_that_the_release_defines() {
    for property in Info::VALUES.iter().copied() {
        let element = property.value_type().map(|ty| ty.element);
        match (reply_of(&gpu(), property), element) {
            (Some(Reply::Is(Value::Flags(bits))), Some(Element::Flags(names))) => {
                let known = names.iter().fold(0, |known, (_, bit)| known | bit);
                assert_eq!(bits & !known, 0, "{property:?}");
            }
            (Some(Reply::Is(Value::Enum(number))), Some(Element::Enum(name))) => {
                assert!(name(number).is_some(), "{property:?}: {number}");
            }
            _ => {}
        }
    }
}

/// Hands one property to a caller's buffer of that size, and gives the code and the size told.
fn ask(device: &DeviceProperties, property: Info, buffer: &mut [u8]) -> (Result<()>, usize) {
    let mut size = 0;
    // SAFETY: the buffer is writable for its length and the size is a live local.
    let writer =
        unsafe { InfoWriter::new("urDeviceGetInfo", buffer.len(), buffer.as_mut_ptr().cast(), &raw mut size) }.unwrap();
    (value_of(device, property).write(&writer), size)
}

#[test]
fn every_value_takes_as_many_bytes_as_its_type() {
    let device = gpu();
    let mut buffer = [0xaa; 256];
    for property in Info::VALUES.iter().copied() {
        let Some(Reply::Is(value)) = reply_of(&device, property) else { continue };
        let ty = property.value_type().expect("a type");
        let expected = match (&value, ty.count) {
            (Value::Text(text), _) => text.len() + 1,
            (Value::NoElements, _) => 0,
            (Value::Bytes(bytes), _) => bytes.len(),
            (Value::U32s(values), _) => values.len() * 4,
            (Value::Sizes(values), _) => values.len() * size_of::<usize>(),
            _ => ty.element.size(),
        };
        let (result, size) = ask(&device, property, &mut buffer);
        assert!(result.is_ok() && size == expected, "{property:?}: {size} bytes, not {expected}");
    }
}

#[test]
fn a_buffer_that_is_too_small_stays_untouched() {
    let mut buffer = [0xaa; 15];
    let (result, size) = ask(&gpu(), Info::UUID, &mut buffer);
    assert_eq!(result.unwrap_err().code(), ur_result_t::ERROR_INVALID_SIZE);
    assert_eq!((buffer, size), ([0xaa; 15], 0));
}

#[test]
fn what_the_driver_does_not_tell_is_unsupported_and_never_a_guess() {
    let silent = DeviceProperties { warp_size: 32, ..DeviceProperties::default() };
    let untold = [
        Info::UUID,
        Info::PCI_ADDRESS,
        Info::DEVICE_ID,
        Info::MAX_CLOCK_FREQUENCY,
        Info::MEMORY_CLOCK_RATE,
        Info::MEMORY_BUS_WIDTH,
        Info::MAX_MEMORY_BANDWIDTH,
    ];
    for property in untold {
        assert!(matches!(reply_of(&silent, property), Some(Reply::Unsupported(_))), "{property:?}");
        value_of(&gpu(), property);
    }
    let error = unsupported(Info::UUID, "the driver does not tell a UUID");
    assert_eq!(error.code(), ur_result_t::ERROR_UNSUPPORTED_ENUMERATION);
    assert_eq!(error.message(), "urDeviceGetInfo: UR_DEVICE_INFO_UUID: the driver does not tell a UUID");
}

#[test]
fn asynchronous_allocation_needs_no_native_pools() {
    let without = DeviceProperties { memory_pools: false, ..gpu() };
    assert_eq!(value_of(&gpu(), Info::ASYNC_USM_ALLOCATIONS_SUPPORT_EXP), Value::Bool(true));
    assert_eq!(value_of(&without, Info::ASYNC_USM_ALLOCATIONS_SUPPORT_EXP), Value::Bool(true));
}

#[test]
fn usm_support_follows_managed_memory_pageable_access_and_native_atomics() {
    let flags = |device: &DeviceProperties| {
        [
            Info::USM_DEVICE_SUPPORT,
            Info::USM_HOST_SUPPORT,
            Info::USM_SINGLE_SHARED_SUPPORT,
            Info::USM_CROSS_SHARED_SUPPORT,
            Info::USM_SYSTEM_SHARED_SUPPORT,
        ]
        .map(|property| match value_of(device, property) {
            Value::Flags(bits) => bits,
            other => panic!("{other:?}"),
        })
    };
    // Access 1, atomic 2, concurrent 4, atomic and concurrent 8.
    assert_eq!(flags(&gpu()), [7, 15, 15, 15, 15]);
    let pcie = DeviceProperties { host_native_atomics: false, pageable_access: false, ..gpu() };
    assert_eq!(flags(&pcie), [7, 5, 15, 15, 0]);
    let migrating_whole = DeviceProperties { concurrent_managed: false, ..pcie.clone() };
    assert_eq!(flags(&migrating_whole), [7, 5, 3, 1, 0]);
    let unmanaged = DeviceProperties { managed_memory: false, host_mapping: false, ..migrating_whole };
    assert_eq!(flags(&unmanaged), [7, 0, 0, 0, 0]);
}

#[test]
fn atomics_follow_the_memory_model_of_the_hardware() {
    let old = DeviceProperties { full_memory_model: false, system_atomics: false, ..gpu() };
    for property in [Info::ATOMIC_MEMORY_ORDER_CAPABILITIES, Info::ATOMIC_FENCE_ORDER_CAPABILITIES] {
        assert_eq!(value_of(&gpu(), property), Value::Flags(0b11111));
        assert_eq!(value_of(&old, property), Value::Flags(0b00001));
    }
    for property in [Info::ATOMIC_MEMORY_SCOPE_CAPABILITIES, Info::ATOMIC_FENCE_SCOPE_CAPABILITIES] {
        assert_eq!(value_of(&gpu(), property), Value::Flags(0b11111));
        assert_eq!(value_of(&old, property), Value::Flags(0b01111));
    }
}

#[test]
fn extensions_name_only_the_arithmetic_that_is_there() {
    let all = "cl_khr_subgroups cl_khr_fp64 cl_khr_fp16 cl_khr_int64_base_atomics cl_khr_int64_extended_atomics";
    assert_eq!(value_of(&gpu(), Info::EXTENSIONS), Value::Text(all.to_owned()));
    let plain = DeviceProperties { half: false, double: false, atomic64: false, ..gpu() };
    assert_eq!(value_of(&plain, Info::EXTENSIONS), Value::Text("cl_khr_subgroups".to_owned()));
    for property in [Info::HALF_FP_CONFIG, Info::DOUBLE_FP_CONFIG] {
        assert_eq!(value_of(&plain, property), Value::Flags(0));
    }
    for property in [Info::PREFERRED_VECTOR_WIDTH_HALF, Info::NATIVE_VECTOR_WIDTH_DOUBLE] {
        assert_eq!(value_of(&plain, property), Value::U32(0));
    }
}

#[test]
fn numbers_are_in_the_units_of_the_queries() {
    let device = gpu();
    let expected = [
        (Info::MAX_MEMORY_BANDWIDTH, Value::U64(2_619_000_000 * 2 * 640)),
        (Info::LOCAL_MEM_SIZE, Value::U64(227 << 10)),
        (Info::GLOBAL_MEM_CACHE_SIZE, Value::U64(50 << 20)),
        (Info::MAX_WORK_ITEM_SIZES, Value::Sizes(vec![1024, 1023, 64])),
        (Info::MAX_WORK_GROUPS_3D, Value::Sizes(vec![0x7fff_ffff, 65_535, 65_534])),
        (Info::MAX_NUM_SUB_GROUPS, Value::U32(32)),
        (Info::SUB_GROUP_SIZES_INTEL, Value::U32s(vec![32])),
        (Info::PREFERRED_VECTOR_WIDTH_CHAR, Value::U32(4)),
        (Info::PREFERRED_VECTOR_WIDTH_HALF, Value::U32(2)),
        (Info::PREFERRED_VECTOR_WIDTH_LONG, Value::U32(1)),
        (Info::PCI_ADDRESS, Value::Text("0001:4e:00.0".to_owned())),
        (Info::VERSION, Value::Text("9.0".to_owned())),
        (Info::QUEUE_PROPERTIES, Value::Flags(0b11)),
        (Info::PARENT_DEVICE, Value::NoHandle),
        (Info::SUPPORTED_PARTITIONS, Value::NoElements),
    ];
    for (property, value) in expected {
        assert_eq!(value_of(&device, property), value, "{property:?}");
    }
}

#[test]
fn the_number_of_work_groups_is_the_product_of_the_axes() {
    assert_eq!(value_of(&gpu(), Info::MAX_WORK_GROUPS), Value::Size(0x7fff_ffff * 65_535 * 65_534));
}

#[test]
fn what_the_engine_lacks_is_not_claimed_for_the_hardware_having_it() {
    let device = gpu();
    let off = [
        (Info::IMAGE_SUPPORT, implemented::IMPLEMENTED.images),
        (Info::BINDLESS_IMAGES_SUPPORT_EXP, implemented::IMPLEMENTED.bindless_images),
        (Info::VIRTUAL_MEMORY_SUPPORT, implemented::IMPLEMENTED.virtual_memory),
        (Info::COMMAND_BUFFER_SUPPORT_EXP, implemented::IMPLEMENTED.command_buffers),
        (Info::USM_P2P_SUPPORT_EXP, implemented::IMPLEMENTED.peer_to_peer),
    ];
    for (property, there) in off {
        assert_eq!(value_of(&device, property), Value::Bool(there), "{property:?}");
    }
    let launches = value_of(&device, Info::KERNEL_LAUNCH_CAPABILITIES);
    let cooperative = u32::from(implemented::IMPLEMENTED.cooperative_launch);
    assert!(matches!(launches, Value::Flags(bits) if bits & 1 == cooperative), "{launches:?}");
}

#[test]
fn command_buffers_are_told_of_where_the_native_library_has_graphs() {
    let (whole, fixed) = (gpu(), DeviceProperties { graph_changes: false, ..gpu() });
    let without_events = DeviceProperties { graph_events: false, ..gpu() };
    let without = DeviceProperties { graphs: false, graph_changes: false, graph_events: false, ..gpu() };
    let told = |device: &DeviceProperties| {
        (
            value_of(device, Info::COMMAND_BUFFER_SUPPORT_EXP),
            value_of(device, Info::COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP),
        )
    };
    assert_eq!(told(&whole), (Value::Bool(true), Value::Flags(0b11_1111)));
    assert_eq!(told(&without_events), (Value::Bool(true), Value::Flags(0b1_1111)));
    assert_eq!(told(&fixed), (Value::Bool(true), Value::Flags(0)));
    assert_eq!(told(&without), (Value::Bool(false), Value::Flags(0)));
}
