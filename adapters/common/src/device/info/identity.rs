//! Who the device is: names, versions, identifiers, its place in the platform, and what it is not (a part of
//! another device).

use ur_ffi::{ur_device_info_t as Info, ur_device_type_t};

use crate::device::info::value::{Reply, Value, or};
use crate::driver::properties::DeviceProperties;

const ONE_VENDORS_WORD: &str = "a term of one vendor's architecture, which this device does not have";

pub(super) fn reply(device: &DeviceProperties, property: Info) -> Option<Reply> {
    Some(match property {
        // Every device of the native libraries served here is a GPU.
        Info::TYPE => Value::Enum(ur_device_type_t::GPU.0).into(),
        Info::IS_INTEGRATED_GPU => Value::Bool(device.integrated).into(),

        // Texts, as the native library gives them.
        Info::NAME => Value::Text(device.name.clone()).into(),
        Info::DRIVER_VERSION => Value::Text(device.driver_version.clone()).into(),
        Info::VERSION | Info::BACKEND_RUNTIME_VERSION => Value::Text(device.version.clone()).into(),
        Info::PROFILE => Value::Text("FULL_PROFILE".to_owned()).into(),
        // No kernels that are part of the device.
        Info::BUILT_IN_KERNELS => Value::Text(String::new()).into(),
        Info::EXTENSIONS => Value::Text(extensions(device)).into(),

        // Identifiers.
        Info::DEVICE_ID => or(device.device_id.map(Value::U32), "the driver does not tell the PCI device number"),
        Info::UUID => or(device.uuid.map(|uuid| Value::Bytes(uuid.to_vec())), "the driver does not tell a UUID"),
        // CUDA's driver has a call for both, which answers an error everywhere but on Windows.
        Info::LUID => Reply::Unsupported("only Windows has locally unique identifiers"),
        Info::NODE_MASK => Reply::Unsupported("the node mask goes with a LUID, which is Windows'"),
        Info::PCI_ADDRESS => or(
            device.pci.map(|(domain, bus, slot)| Value::Text(format!("{domain:04x}:{bus:02x}:{slot:02x}.0"))),
            "the driver does not tell a PCI address",
        ),
        Info::IP_VERSION => Reply::Unsupported("the architecture has no number; see UR_DEVICE_INFO_VERSION"),

        // Devices are whole: no sub-devices, no composite devices.
        Info::PARENT_DEVICE | Info::COMPOSITE_DEVICE => Value::NoHandle.into(),
        Info::COMPONENT_DEVICES | Info::SUPPORTED_PARTITIONS | Info::PARTITION_TYPE => Value::NoElements.into(),
        Info::PARTITION_MAX_SUB_DEVICES => Value::U32(0).into(),
        Info::PARTITION_AFFINITY_DOMAIN => Value::Flags(0).into(),
        Info::BUILD_ON_SUBDEVICE => Value::Bool(false).into(),

        // A device that was enumerated is there; a lost one answers so in the calls that find out.
        Info::AVAILABLE => Value::Bool(true).into(),

        Info::GPU_EU_COUNT
        | Info::GPU_EU_SIMD_WIDTH
        | Info::GPU_EU_SLICES
        | Info::GPU_EU_COUNT_PER_SUBSLICE
        | Info::GPU_SUBSLICES_PER_SLICE
        | Info::GPU_HW_THREADS_PER_EU
        | Info::XE_STACK_COUNT
        | Info::XE_REGIONS_PER_STACK
        | Info::XE_CLUSTERS_PER_REGION
        | Info::XE_CORES_PER_CLUSTER
        | Info::EUS_PER_XE_CORE
        | Info::MAX_LANES_PER_HW_THREAD => Reply::Unsupported(ONE_VENDORS_WORD),

        _ => return None,
    })
}

/// The names by which OpenCL and SYCL ask for arithmetic and sub-groups; only what holds.
fn extensions(device: &DeviceProperties) -> String {
    let names = [
        (true, "cl_khr_subgroups"),
        (device.double, "cl_khr_fp64"),
        (device.half, "cl_khr_fp16"),
        (device.atomic64, "cl_khr_int64_base_atomics"),
        (device.atomic64, "cl_khr_int64_extended_atomics"),
    ];
    names.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect::<Vec<_>>().join(" ")
}
