//! The device's memory: sizes, caches, buses, and who may touch which kind of USM allocation.

use ur_ffi::{
    ur_device_info_t as Info, ur_device_local_mem_type_t, ur_device_mem_cache_type_t,
    ur_device_usm_access_capability_flags_t as Access,
};

use crate::device::info::implemented::IMPLEMENTED;
use crate::device::info::value::{Reply, Value, or};
use crate::driver::properties::DeviceProperties;

pub(super) fn reply(device: &DeviceProperties, property: Info) -> Option<Reply> {
    Some(match property {
        // One allocation may take all of the memory; native libraries have no smaller limit.
        Info::GLOBAL_MEM_SIZE | Info::MAX_MEM_ALLOC_SIZE => Value::U64(device.global_memory).into(),
        Info::GLOBAL_MEM_CACHE_TYPE => {
            let kind = match device.l2_cache {
                0 => ur_device_mem_cache_type_t::NONE,
                _ => ur_device_mem_cache_type_t::READ_WRITE_CACHE,
            };
            Value::Enum(kind.0).into()
        }
        Info::GLOBAL_MEM_CACHE_SIZE => Value::U64(device.l2_cache as u64).into(),
        Info::GLOBAL_MEM_CACHELINE_SIZE => Value::U32(device.cache_line).into(),
        Info::MEM_BASE_ADDR_ALIGN => Value::U32(device.address_align_bits).into(),
        Info::ERROR_CORRECTION_SUPPORT => Value::Bool(device.ecc).into(),
        Info::HOST_UNIFIED_MEMORY => Value::Bool(device.integrated).into(),
        Info::MEMORY_CLOCK_RATE => {
            or(device.memory_clock_mhz.map(Value::U32), "the driver does not tell the memory clock")
        }
        Info::MEMORY_BUS_WIDTH => {
            or(device.memory_bus_bits.map(Value::U32), "the driver does not tell the width of the memory bus")
        }
        Info::MAX_MEMORY_BANDWIDTH => {
            or(bandwidth(device).map(Value::U64), "the driver does not tell memory clock and bus width")
        }

        // A launch raises a kernel's limit where the device lets it, so the raised limit is the one that holds.
        Info::LOCAL_MEM_SIZE => Value::U64(device.shared_per_block_optin as u64).into(),
        Info::LOCAL_MEM_TYPE => Value::Enum(ur_device_local_mem_type_t::LOCAL.0).into(),
        Info::MAX_CONSTANT_BUFFER_SIZE => Value::U64(device.constant_memory as u64).into(),
        // Constant memory is passed by address, so only the space of the parameters bounds the number.
        Info::MAX_CONSTANT_ARGS => {
            Value::U32(u32::try_from(device.max_parameter_size / size_of::<usize>()).unwrap_or(u32::MAX)).into()
        }

        Info::USM_DEVICE_SUPPORT => flags(Access::ACCESS | Access::ATOMIC_ACCESS | Access::CONCURRENT_ACCESS),
        Info::USM_HOST_SUPPORT => flags(host(device)),
        Info::USM_SINGLE_SHARED_SUPPORT => flags(shared(device)),
        Info::USM_CROSS_SHARED_SUPPORT => flags(cross(device)),
        Info::USM_SYSTEM_SHARED_SUPPORT => flags(system(device)),
        Info::USM_POOL_SUPPORT => Value::Bool(IMPLEMENTED.usm_pools).into(),
        Info::ASYNC_USM_ALLOCATIONS_SUPPORT_EXP => Value::Bool(IMPLEMENTED.async_allocations).into(),
        Info::USM_P2P_SUPPORT_EXP => Value::Bool(IMPLEMENTED.peer_to_peer).into(),
        Info::USM_CONTEXT_MEMCPY_SUPPORT_EXP => Value::Bool(IMPLEMENTED.context_memcpy).into(),
        Info::USM_HOST_ALLOC_REGISTER_SUPPORT_EXP => Value::Bool(IMPLEMENTED.host_registration).into(),

        Info::VIRTUAL_MEMORY_SUPPORT => Value::Bool(IMPLEMENTED.virtual_memory && device.virtual_memory).into(),
        Info::MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP => {
            Value::Bool(IMPLEMENTED.memory_export && device.posix_handles).into()
        }
        Info::IPC_MEMORY_SUPPORT_EXP => Value::Bool(IMPLEMENTED.ipc_memory).into(),
        Info::IPC_PHYSICAL_MEMORY_SUPPORT_EXP => {
            Value::Bool(IMPLEMENTED.ipc_physical_memory && device.posix_handles).into()
        }
        Info::MEM_CHANNEL_SUPPORT => Value::Bool(false).into(),
        _ => return None,
    })
}

fn flags(access: Access) -> Reply {
    Value::Flags(access.bits()).into()
}

/// Everything at once. The set's own `all` has the bits of releases to come as well.
fn every_access() -> Access {
    Access::ACCESS | Access::ATOMIC_ACCESS | Access::CONCURRENT_ACCESS | Access::ATOMIC_CONCURRENT_ACCESS
}

/// Double data rate: two transfers a clock, each as wide as the bus.
fn bandwidth(device: &DeviceProperties) -> Option<u64> {
    let (clock, bits) = (u64::from(device.memory_clock_mhz?), u64::from(device.memory_bus_bits?));
    Some(clock * 1_000_000 * 2 * (bits / 8))
}

/// Pinned host memory: always mapped and coherent; atomics need a link that carries them.
fn host(device: &DeviceProperties) -> Access {
    if !(device.unified_addressing && device.host_mapping) {
        return Access::empty();
    }
    if device.host_native_atomics { every_access() } else { Access::ACCESS | Access::CONCURRENT_ACCESS }
}

/// Managed memory of this device: pages migrate on a fault where host and device may both touch it, and
/// atomics work on the page that is here.
fn shared(device: &DeviceProperties) -> Access {
    match (device.managed_memory, device.concurrent_managed) {
        (false, _) => Access::empty(),
        (true, false) => Access::ACCESS | Access::ATOMIC_ACCESS,
        (true, true) => every_access(),
    }
}

/// Managed memory of another device: reachable through migration alone.
fn cross(device: &DeviceProperties) -> Access {
    match (device.managed_memory, device.concurrent_managed) {
        (false, _) => Access::empty(),
        (true, false) => Access::ACCESS,
        (true, true) => every_access(),
    }
}

/// Memory of the system's allocator.
fn system(device: &DeviceProperties) -> Access {
    if !device.pageable_access {
        return Access::empty();
    }
    if device.concurrent_managed { every_access() } else { Access::ACCESS }
}
