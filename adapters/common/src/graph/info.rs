//! What can be asked of a command buffer.

use ur_ffi::{ur_exp_command_buffer_desc_t, ur_exp_command_buffer_info_t, ur_native_handle_t, ur_structure_type_t};

use crate::driver::{Driver, NativeName};
use crate::graph::command_buffer::CommandBuffer;
use crate::object::Object;
use crate::object::error::Result;
use crate::object::info::InfoWriter;
use crate::object::params::Out;

/// `urCommandBufferGetInfoExp`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    buffer: &Object<CommandBuffer<D>>,
    property: ur_exp_command_buffer_info_t,
    writer: InfoWriter,
) -> Result<()> {
    match property {
        ur_exp_command_buffer_info_t::REFERENCE_COUNT => writer.value(buffer.references()),
        ur_exp_command_buffer_info_t::DESCRIPTOR => {
            let properties = buffer.properties;
            writer.value(ur_exp_command_buffer_desc_t {
                stype: ur_structure_type_t::EXP_COMMAND_BUFFER_DESC,
                pNext: core::ptr::null(),
                isUpdatable: u8::from(properties.is_updatable),
                isInOrder: u8::from(properties.is_in_order),
                enableProfiling: u8::from(properties.is_profiled),
            })
        }
        _ => writer.unknown(property.0),
    }
}

/// `urCommandBufferGetNativeHandleExp`: the graph that is recorded, which stays the buffer's. What is added to it before the
/// buffer is finalised is part of the buffer.
///
/// # Errors
/// None.
pub fn get_native_handle<D: Driver>(buffer: &Object<CommandBuffer<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(buffer.recorded().graph.raw().value() as ur_native_handle_t);
    Ok(())
}
