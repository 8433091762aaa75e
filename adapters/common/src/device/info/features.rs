//! Extensions that are there or not, and that no other group's numbers go with.

use ur_ffi::{ur_device_command_buffer_update_capability_flags_t as Updates, ur_device_info_t as Info};

use crate::device::info::implemented::IMPLEMENTED;
use crate::device::info::value::{Reply, Value};
use crate::driver::properties::DeviceProperties;

/// What of a recorded command can be changed.
fn updates(device: &DeviceProperties) -> Updates {
    let launches = Updates::KERNEL_ARGUMENTS
        | Updates::LOCAL_WORK_SIZE
        | Updates::GLOBAL_WORK_SIZE
        | Updates::GLOBAL_WORK_OFFSET
        | Updates::KERNEL_HANDLE;
    let is_there = IMPLEMENTED.command_buffers && device.graphs && device.graph_changes;
    match (is_there, IMPLEMENTED.command_buffer_events && device.graph_events) {
        (false, _) => Updates::empty(),
        (true, false) => launches,
        (true, true) => launches | Updates::EVENTS,
    }
}

pub(super) fn reply(device: &DeviceProperties, property: Info) -> Option<Reply> {
    let there = match property {
        Info::COMMAND_BUFFER_SUPPORT_EXP | Info::COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP => {
            IMPLEMENTED.command_buffers && device.graphs
        }
        Info::COMMAND_BUFFER_EVENT_SUPPORT_EXP => IMPLEMENTED.command_buffer_events && device.graph_events,
        Info::COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP => return Some(Value::Flags(updates(device).bits()).into()),
        Info::GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP => IMPLEMENTED.graph_capture,

        Info::TIMESTAMP_RECORDING_SUPPORT_EXP => IMPLEMENTED.timestamp_recording,
        Info::ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP => IMPLEMENTED.native_commands,
        Info::ENQUEUE_HOST_TASK_SUPPORT_EXP => IMPLEMENTED.host_tasks && device.stream_value_waits,
        Info::DEVICE_WAIT_SUPPORT_EXP => IMPLEMENTED.device_wait,
        // The hint is accepted and changes nothing: waits poll where the driver polls.
        Info::LOW_POWER_EVENTS_SUPPORT_EXP => false,
        Info::REUSABLE_EVENTS_SUPPORT_EXP => IMPLEMENTED.reusable_events,
        Info::PER_EVENT_PROFILING_SUPPORT_EXP => IMPLEMENTED.per_event_profiling,
        Info::IPC_EVENT_SUPPORT_EXP => IMPLEMENTED.ipc_events && device.ipc_events,

        Info::GLOBAL_VARIABLE_SUPPORT => IMPLEMENTED.global_variables,
        Info::DYNAMIC_LINK_SUPPORT_EXP => IMPLEMENTED.dynamic_link,
        // Building for a list of devices works everywhere; the property promises compiling and linking with it.
        Info::MULTI_DEVICE_COMPILE_SUPPORT_EXP => IMPLEMENTED.multi_device_compile && device.program_link,

        // The hardware has clocks; SYCL's device compilers have no code for them on these targets.
        Info::CLOCK_SUB_GROUP_SUPPORT_EXP | Info::CLOCK_WORK_GROUP_SUPPORT_EXP | Info::CLOCK_DEVICE_SUPPORT_EXP => {
            false
        }
        // Pipes to the host are a thing of FPGAs, 2D block loads of one vendor's GPUs.
        Info::HOST_PIPE_READ_WRITE_SUPPORT => false,
        Info::_2D_BLOCK_ARRAY_CAPABILITIES_EXP => return Some(Value::Flags(0).into()),
        _ => return None,
    };
    Some(Value::Bool(there).into())
}
