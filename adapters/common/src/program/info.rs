//! What programs and their builds answer to queries.

use crate::object::Object;
use std::sync::Arc;

use ur_ffi::{ur_program_build_info_t, ur_program_info_t};

use crate::device::Device;
use crate::driver::{CheckedImage, Driver};
use crate::object::error::Result;
use crate::object::info::InfoWriter;
use crate::program::{Program, Target, il};

/// `urProgramGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    program: &Object<Program<D>>,
    property: ur_program_info_t,
    writer: InfoWriter,
) -> Result<()> {
    match property {
        ur_program_info_t::REFERENCE_COUNT => writer.value(program.references()),
        ur_program_info_t::CONTEXT => writer.value(program.context.handle()),
        ur_program_info_t::NUM_DEVICES => writer.value(u32::try_from(program.targets.len()).unwrap_or(u32::MAX)),
        ur_program_info_t::DEVICES => {
            writer.array(&program.targets.iter().map(|target| target.device.handle()).collect::<Vec<_>>())
        }
        ur_program_info_t::IL => writer.array(&il::bytes_of(program)),
        ur_program_info_t::BINARY_SIZES => {
            writer.array(&images(program).iter().map(|image| bytes(image).len()).collect::<Vec<_>>())
        }
        ur_program_info_t::BINARIES => writer.buffers(images(program).iter().map(bytes)),
        ur_program_info_t::NUM_KERNELS => match program.kernel_names()? {
            Some(names) => writer.value(names.len()),
            None => writer.unsupported(),
        },
        ur_program_info_t::KERNEL_NAMES => match program.kernel_names()? {
            Some(names) => writer.text(&names.join(";")),
            None => writer.unsupported(),
        },
        _ => writer.unknown(property.0),
    }
}

/// The image of each device, where there is one.
fn images<D: Driver>(program: &Program<D>) -> Vec<Option<Arc<CheckedImage<D>>>> {
    program.targets.iter().map(Target::image).collect()
}

fn bytes<D: Driver>(image: &Option<Arc<CheckedImage<D>>>) -> &[u8] {
    image.as_ref().map_or(&[], |image| image.bytes())
}

/// `urProgramGetBuildInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_DEVICE` for a device without an image; `INVALID_ENUMERATION` for an unknown property.
pub fn get_build_info<D: Driver>(
    program: &Object<Program<D>>,
    device: &Object<Device<D>>,
    property: ur_program_build_info_t,
    writer: InfoWriter,
) -> Result<()> {
    let build = program.target(device)?.build.lock();
    match property {
        ur_program_build_info_t::STATUS => writer.value(build.told.status),
        ur_program_build_info_t::OPTIONS => writer.text(&build.told.options),
        ur_program_build_info_t::LOG => writer.text(&build.told.log),
        ur_program_build_info_t::BINARY_TYPE => writer.value(build.told.kind),
        _ => writer.unknown(property.0),
    }
}
