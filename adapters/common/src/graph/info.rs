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
            writer.array(&descriptor(properties.is_updatable, properties.is_in_order, properties.is_profiled))
        }
        _ => writer.unknown(property.0),
    }
}

/// The bytes of a `ur_exp_command_buffer_desc_t` without a chain. They are written as words, so that those between the
/// members are 0 and not what the stack had.
fn descriptor(is_updatable: bool, is_in_order: bool, is_profiled: bool) -> [u64; 3] {
    const { assert!(size_of::<ur_exp_command_buffer_desc_t>() == 24) };
    let [a, b, c, d] = ur_structure_type_t::EXP_COMMAND_BUFFER_DESC.0.to_ne_bytes();
    let [updatable, in_order, profiled] = [is_updatable, is_in_order, is_profiled].map(u8::from);
    let first = u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0]);
    [first, 0, u64::from_ne_bytes([updatable, in_order, profiled, 0, 0, 0, 0, 0])]
}

/// `urCommandBufferGetNativeHandleExp`: the graph that is recorded, which stays the buffer's. What is added to it before the
/// buffer is finalised is part of the buffer.
///
/// # Errors
/// What the native library answers to launches that had no node yet.
pub fn get_native_handle<D: Driver>(buffer: &Object<CommandBuffer<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    let mut recording = buffer.recorded();
    let handle = recording.whole_graph(buffer.state())?.raw().value();
    // The application may look at the graph whenever it likes.
    recording.batch.keep_no_more();
    out.write(handle as ur_native_handle_t);
    Ok(())
}
