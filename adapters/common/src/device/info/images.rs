//! Images. What the engine or the device does not have is off, and its extents are 0, whatever the hardware could do.

use ur_ffi::ur_device_info_t as Info;

use crate::device::info::implemented::IMPLEMENTED;
use crate::device::info::value::{Reply, Value};
use crate::driver::properties::DeviceProperties;

/// Image arguments of one kernel; a handle is 8 bytes of its parameters, and 128 is what OpenCL asks for.
const IMAGE_ARGUMENTS: u32 = 128;
/// Samplers of one kernel, as many as OpenCL asks for.
const SAMPLERS: u32 = 16;
/// The largest anisotropy ratio of texture hardware.
const ANISOTROPY: u32 = 16;

pub(super) fn reply(device: &DeviceProperties, property: Info) -> Option<Reply> {
    classic(device, property).or_else(|| bindless(device, property)).map(Reply::Is)
}

/// Images as memory objects, from the extents that both reading and writing reach.
fn classic(device: &DeviceProperties, property: Info) -> Option<Value> {
    let there = IMPLEMENTED.images && device.has_images();
    let size = |size: usize| Value::Size(if there { size } else { 0 });
    let count = |count: u32| Value::U32(if there { count } else { 0 });
    Some(match property {
        Info::IMAGE_SUPPORT => Value::Bool(there),
        Info::IMAGE_SRGB => Value::Bool(false),
        Info::MAX_READ_IMAGE_ARGS | Info::MAX_WRITE_IMAGE_ARGS | Info::MAX_READ_WRITE_IMAGE_ARGS => {
            count(IMAGE_ARGUMENTS)
        }
        Info::MAX_SAMPLERS => count(SAMPLERS),
        Info::IMAGE2D_MAX_WIDTH => size(device.image2d[0]),
        Info::IMAGE2D_MAX_HEIGHT => size(device.image2d[1]),
        Info::IMAGE3D_MAX_WIDTH => size(device.image3d[0]),
        Info::IMAGE3D_MAX_HEIGHT => size(device.image3d[1]),
        Info::IMAGE3D_MAX_DEPTH => size(device.image3d[2]),
        // Arrays of images of one and of two dimensions both have so many layers.
        Info::IMAGE_MAX_ARRAY_SIZE => size(device.image1d_array[1].min(device.image2d_array[2])),
        // Images are not made of buffers.
        Info::IMAGE_MAX_BUFFER_SIZE => Value::Size(0),
        // No graphics API shares memory with the engine, so there is nothing it could synchronise by itself.
        Info::PREFERRED_INTEROP_USER_SYNC => Value::Bool(true),
        _ => return None,
    })
}

/// Images by handle, and what is imported for them.
fn bindless(device: &DeviceProperties, property: Info) -> Option<Value> {
    let there = IMPLEMENTED.bindless_images;
    let size = |size: usize| Value::Size(if there { size } else { 0 });
    let count = |count: u32| Value::U32(if there { count } else { 0 });
    Some(match property {
        Info::BINDLESS_IMAGES_SUPPORT_EXP
        | Info::BINDLESS_IMAGES_1D_USM_SUPPORT_EXP
        | Info::BINDLESS_IMAGES_2D_USM_SUPPORT_EXP
        | Info::BINDLESS_SAMPLED_IMAGE_FETCH_1D_USM_SUPPORT_EXP
        | Info::BINDLESS_SAMPLED_IMAGE_FETCH_1D_SUPPORT_EXP
        | Info::BINDLESS_SAMPLED_IMAGE_FETCH_2D_USM_SUPPORT_EXP
        | Info::BINDLESS_SAMPLED_IMAGE_FETCH_2D_SUPPORT_EXP
        | Info::BINDLESS_SAMPLED_IMAGE_FETCH_3D_SUPPORT_EXP
        | Info::BINDLESS_UNIQUE_ADDRESSING_PER_DIM_SUPPORT_EXP
        | Info::BINDLESS_SAMPLE_1D_USM_SUPPORT_EXP
        | Info::BINDLESS_SAMPLE_2D_USM_SUPPORT_EXP
        | Info::BINDLESS_IMAGES_GATHER_SUPPORT_EXP
        | Info::IMAGE_ARRAY_SUPPORT_EXP
        | Info::MIPMAP_SUPPORT_EXP
        | Info::MIPMAP_ANISOTROPY_SUPPORT_EXP
        | Info::MIPMAP_LEVEL_REFERENCE_SUPPORT_EXP
        | Info::CUBEMAP_SUPPORT_EXP
        | Info::CUBEMAP_SEAMLESS_FILTERING_SUPPORT_EXP => Value::Bool(there),
        Info::BINDLESS_IMAGES_SHARED_USM_SUPPORT_EXP => Value::Bool(there && device.managed_memory),
        Info::IMAGE_PITCH_ALIGN_EXP => count(device.image_pitch_align),
        Info::MAX_IMAGE_LINEAR_WIDTH_EXP => size(device.image2d_linear[0]),
        Info::MAX_IMAGE_LINEAR_HEIGHT_EXP => size(device.image2d_linear[1]),
        Info::MAX_IMAGE_LINEAR_PITCH_EXP => size(device.image2d_linear[2]),
        Info::MIPMAP_MAX_ANISOTROPY_EXP => count(ANISOTROPY),
        Info::EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP => Value::Bool(IMPLEMENTED.external_memory && device.external_memory),
        Info::EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP => {
            Value::Bool(IMPLEMENTED.external_semaphores && device.external_semaphores)
        }
        _ => return None,
    })
}
