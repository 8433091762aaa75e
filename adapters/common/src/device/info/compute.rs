//! What kernels find on the device: work sizes, arithmetic, vector widths, sub-groups, atomics, and what
//! queues and programs can do.

use ur_ffi::{
    ur_device_exec_capability_flags_t, ur_device_fp_capability_flags_t as Fp, ur_device_info_t as Info,
    ur_kernel_launch_properties_flags_t as Launch, ur_memory_order_capability_flags_t as Order,
    ur_memory_scope_capability_flags_t as Scope, ur_queue_flags_t,
};

use crate::device::info::implemented::IMPLEMENTED;
use crate::device::info::value::{Reply, Value, or};
use crate::driver::properties::DeviceProperties;

/// Bytes that one work-item's registers hold as a unit; narrower types come several at once.
const LANE_BYTES: u32 = 4;

pub(super) fn reply(device: &DeviceProperties, property: Info) -> Option<Reply> {
    sizes(device, property).or_else(|| arithmetic(device, property)).or_else(|| execution(device, property))
}

/// Work sizes, from the native limits of blocks and grids.
fn sizes(device: &DeviceProperties, property: Info) -> Option<Reply> {
    let sizes = |values: [u32; 3]| Value::Sizes(values.iter().map(|value| *value as usize).collect());
    Some(match property {
        Info::MAX_COMPUTE_UNITS | Info::NUM_COMPUTE_UNITS => Value::U32(device.compute_units).into(),
        Info::MAX_WORK_ITEM_DIMENSIONS => Value::U32(3).into(),
        Info::MAX_WORK_ITEM_SIZES => sizes(device.max_block).into(),
        Info::MAX_WORK_GROUP_SIZE => Value::Size(device.max_threads_per_block as usize).into(),
        Info::MAX_WORK_GROUPS_3D => sizes(device.max_grid).into(),
        Info::MAX_WORK_GROUPS => {
            Value::Size(device.max_grid.iter().fold(1, |all, axis| all.saturating_mul(*axis as usize))).into()
        }
        Info::MAX_REGISTERS_PER_WORK_GROUP => Value::U32(device.registers_per_block).into(),
        Info::MAX_NUM_SUB_GROUPS => Value::U32(device.max_threads_per_block.div_ceil(device.warp_size.max(1))).into(),
        Info::SUB_GROUP_SIZES_INTEL => Value::U32s(vec![device.warp_size]).into(),
        Info::SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => Value::Bool(device.independent_sub_groups).into(),
        Info::MAX_PARAMETER_SIZE => Value::Size(device.max_parameter_size).into(),
        Info::MAX_CLOCK_FREQUENCY => or(device.clock_mhz.map(Value::U32), "the driver does not tell the core clock"),
        Info::ADDRESS_BITS => Value::U32(usize::BITS).into(),
        Info::ENDIAN_LITTLE => Value::Bool(cfg!(target_endian = "little")).into(),
        Info::PROFILING_TIMER_RESOLUTION => Value::Size(device.timer_resolution_ns).into(),
        Info::PRINTF_BUFFER_SIZE => Value::Size(device.printf_buffer).into(),
        _ => return None,
    })
}

/// Number formats, vectors and atomics. Kernels are scalar programs of one work-item: vectors only help where
/// several narrow values share a register.
fn arithmetic(device: &DeviceProperties, property: Info) -> Option<Reply> {
    let streams = |bytes: u32| Value::U32((LANE_BYTES / bytes).max(1));
    let lanes_if = |there: bool, bytes| if there { streams(bytes) } else { Value::U32(0) };
    Some(
        match property {
            Info::SINGLE_FP_CONFIG => Value::Flags((every_rounding() | Fp::CORRECTLY_ROUNDED_DIVIDE_SQRT).bits()),
            Info::DOUBLE_FP_CONFIG if device.double => Value::Flags(every_rounding().bits()),
            // Half precision arithmetic rounds to nearest only.
            Info::HALF_FP_CONFIG if device.half => {
                Value::Flags((Fp::ROUND_TO_NEAREST | Fp::INF_NAN | Fp::DENORM | Fp::FMA).bits())
            }
            Info::DOUBLE_FP_CONFIG | Info::HALF_FP_CONFIG => Value::Flags(0),
            Info::BFLOAT16 | Info::BFLOAT16_CONVERSIONS_NATIVE => Value::Bool(device.bfloat16),

            Info::PREFERRED_VECTOR_WIDTH_CHAR | Info::NATIVE_VECTOR_WIDTH_CHAR => streams(1),
            Info::PREFERRED_VECTOR_WIDTH_SHORT | Info::NATIVE_VECTOR_WIDTH_SHORT => streams(2),
            Info::PREFERRED_VECTOR_WIDTH_INT | Info::NATIVE_VECTOR_WIDTH_INT => streams(4),
            Info::PREFERRED_VECTOR_WIDTH_LONG | Info::NATIVE_VECTOR_WIDTH_LONG => streams(8),
            Info::PREFERRED_VECTOR_WIDTH_LONG_LONG | Info::NATIVE_VECTOR_WIDTH_LONG_LONG => streams(8),
            Info::PREFERRED_VECTOR_WIDTH_FLOAT | Info::NATIVE_VECTOR_WIDTH_FLOAT => streams(4),
            Info::PREFERRED_VECTOR_WIDTH_DOUBLE | Info::NATIVE_VECTOR_WIDTH_DOUBLE => lanes_if(device.double, 8),
            Info::PREFERRED_VECTOR_WIDTH_HALF | Info::NATIVE_VECTOR_WIDTH_HALF => lanes_if(device.half, 2),

            Info::ATOMIC_64 => Value::Bool(device.atomic64),
            Info::ATOMIC_MEMORY_ORDER_CAPABILITIES | Info::ATOMIC_FENCE_ORDER_CAPABILITIES => {
                Value::Flags(orders(device).bits())
            }
            Info::ATOMIC_MEMORY_SCOPE_CAPABILITIES | Info::ATOMIC_FENCE_SCOPE_CAPABILITIES => {
                Value::Flags(scopes(device).bits())
            }
            Info::ASYNC_BARRIER => Value::Bool(device.split_barriers),
            _ => return None,
        }
        .into(),
    )
}

fn every_rounding() -> Fp {
    Fp::ROUND_TO_NEAREST | Fp::ROUND_TO_ZERO | Fp::ROUND_TO_INF | Fp::INF_NAN | Fp::DENORM | Fp::FMA
}

/// The memory orders in the instruction set.
fn orders(device: &DeviceProperties) -> Order {
    let strong = Order::ACQUIRE | Order::RELEASE | Order::ACQ_REL | Order::SEQ_CST;
    if device.full_memory_model { Order::RELAXED | strong } else { Order::RELAXED }
}

/// The scopes in the instruction set.
fn scopes(device: &DeviceProperties) -> Scope {
    let inner = Scope::WORK_ITEM | Scope::SUB_GROUP | Scope::WORK_GROUP | Scope::DEVICE;
    if device.system_atomics { inner | Scope::SYSTEM } else { inner }
}

/// Queues, programs and launches, from what the engine does.
fn execution(device: &DeviceProperties, property: Info) -> Option<Reply> {
    let queue = ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE | ur_queue_flags_t::PROFILING_ENABLE;
    Some(
        match property {
            Info::QUEUE_PROPERTIES | Info::QUEUE_ON_HOST_PROPERTIES => Value::Flags(queue.bits()),
            // Kernels cannot enqueue.
            Info::QUEUE_ON_DEVICE_PROPERTIES => Value::Flags(0),
            // All queues are alike; streams are found among the hardware's by the driver.
            Info::MAX_COMPUTE_QUEUE_INDICES => Value::U32(1),
            Info::EXECUTION_CAPABILITIES => Value::Flags(ur_device_exec_capability_flags_t::KERNEL.bits()),
            Info::KERNEL_LAUNCH_CAPABILITIES => Value::Flags(launches(device).bits()),
            // The driver compiles its own assembly language for the device when a program is built.
            Info::COMPILER_AVAILABLE => Value::Bool(true),
            Info::LINKER_AVAILABLE => Value::Bool(IMPLEMENTED.program_link && device.program_link),
            // A kernel's are part of its code; a program's can be set before it is built.
            Info::KERNEL_SET_SPECIALIZATION_CONSTANTS => Value::Bool(false),
            Info::USE_NATIVE_ASSERT => Value::Bool(device.native_assert),
            Info::ESIMD_SUPPORT => Value::Bool(false),
            _ => return None,
        }
        .into(),
    )
}

fn launches(device: &DeviceProperties) -> Launch {
    let properties = [
        (IMPLEMENTED.cooperative_launch && device.cooperative_launch, Launch::COOPERATIVE),
        (IMPLEMENTED.cluster_launch && device.clusters, Launch::CLUSTER_DIMENSION),
        (IMPLEMENTED.launch_work_group_memory, Launch::WORK_GROUP_MEMORY),
        (IMPLEMENTED.launch_overlap, Launch::OPPORTUNISTIC_QUEUE_SERIALIZE),
    ];
    properties.into_iter().filter(|(there, _)| *there).map(|(_, property)| property).collect()
}
