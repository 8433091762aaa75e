//! What programs and their builds answer to queries.

use core::ffi::c_void;

use ur_ffi::{ur_device_handle_t, ur_program_build_info_t, ur_program_handle_t, ur_program_info_t, ur_result_t};

use crate::device::Device;
use crate::driver::Driver;
use crate::object::borrow;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::program::Program;

/// `urProgramGetInfo`.
///
/// # Safety
/// The C contract of an info query; for `BINARIES` the buffer holds pointers to buffers of `BINARY_SIZES`.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
///
/// # Unsupported
/// - HIP: `UR_PROGRAM_INFO_NUM_KERNELS` and `UR_PROGRAM_INFO_KERNEL_NAMES`: no call of the runtime lists a module's
///   kernels
/// - CUDA: needs: a driver with `cuModuleEnumerateFunctions`, for `UR_PROGRAM_INFO_NUM_KERNELS` and
///   `UR_PROGRAM_INFO_KERNEL_NAMES`
pub unsafe fn get_info<D: Driver>(
    program: ur_program_handle_t,
    property: ur_program_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (program, writer) =
        unsafe { (borrow::<Program<D>>(program)?, InfoWriter::new("urProgramGetInfo", size, value, size_out)?) };
    match property {
        ur_program_info_t::REFERENCE_COUNT => writer.value(program.references()),
        ur_program_info_t::CONTEXT => writer.value(program.context.handle()),
        ur_program_info_t::NUM_DEVICES => writer.value(u32::try_from(program.targets.len()).unwrap_or(u32::MAX)),
        ur_program_info_t::DEVICES => {
            writer.array(&program.targets.iter().map(|target| target.device.handle()).collect::<Vec<_>>())
        }
        ur_program_info_t::IL => writer.array::<u8>(&[]),
        ur_program_info_t::BINARY_SIZES => {
            writer.array(&program.targets.iter().map(|target| target.length).collect::<Vec<_>>())
        }
        // SAFETY: the caller's promise for this property.
        ur_program_info_t::BINARIES => unsafe { copy_binaries(program, size, value.cast(), size_out) },
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

/// # Safety
/// `buffers` is null or holds `size` bytes of pointers, each null or writable for its image's length; `size_out`
/// is null or writable.
unsafe fn copy_binaries<D: Driver>(
    program: &Program<D>,
    size: usize,
    buffers: *mut *mut u8,
    size_out: *mut usize,
) -> Result<()> {
    let needed = program.targets.len() * size_of::<*mut u8>();
    if !buffers.is_null() {
        if size < needed {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("urProgramGetInfo: the list of buffers takes {needed} bytes, propSize is {size}"),
            ));
        }
        for (index, target) in program.targets.iter().enumerate() {
            // SAFETY: the list holds one pointer a target.
            let buffer = unsafe { *buffers.add(index) };
            if !buffer.is_null() {
                // SAFETY: writable for the image's length by the caller's promise.
                unsafe { core::ptr::copy_nonoverlapping(target.image.as_ptr(), buffer, target.length) };
            }
        }
    }
    if !size_out.is_null() {
        // SAFETY: writable by the caller's promise.
        unsafe { size_out.write(needed) };
    }
    Ok(())
}

/// `urProgramGetBuildInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_DEVICE` for a device without an image; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_build_info<D: Driver>(
    program: ur_program_handle_t,
    device: ur_device_handle_t,
    property: ur_program_build_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (program, device, writer) = unsafe {
        (
            borrow::<Program<D>>(program)?,
            borrow::<Device<D>>(device)?,
            InfoWriter::new("urProgramGetBuildInfo", size, value, size_out)?,
        )
    };
    let build = program.target(device)?.build.lock();
    match property {
        ur_program_build_info_t::STATUS => writer.value(build.status),
        ur_program_build_info_t::OPTIONS => writer.text(&build.options),
        ur_program_build_info_t::LOG => writer.text(&build.log),
        ur_program_build_info_t::BINARY_TYPE => writer.value(build.kind),
        _ => writer.unknown(property.0),
    }
}
