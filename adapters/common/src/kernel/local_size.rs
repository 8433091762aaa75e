//! The local size that a launch without one would take, for whoever wants to know it before.
//!
//! Asks [`DeviceKernel::divide`](crate::kernel::DeviceKernel::divide), as the launch does. Must not know how it is chosen.

use ur_ffi::{ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t};

use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::kernel::argument_list::unknown_type;
use crate::kernel::work_size::{GlobalSize, in_three};
use crate::object::Object;
use crate::object::error::Result;
use crate::object::params::OutArray;
use crate::queue::Queue;

/// `urKernelGetSuggestedLocalWorkSize`. The offset changes no suggestion.
///
/// # Errors
/// As a launch with these sizes.
pub fn suggest<D: Driver>(
    kernel: &Object<Kernel<D>>,
    queue: &Object<Queue<D>>,
    _offset: &[usize],
    global: &[usize],
    out: OutArray<'_, usize>,
) -> Result<()> {
    let (_, block) = kernel.on_queue(queue)?.divide(GlobalSize::new(in_three(global, 1))?, None)?;
    out.write(&block.map(|size| size as usize));
    Ok(())
}

/// `urKernelGetSuggestedLocalWorkSizeWithArgs`: arguments do not change the suggestion, but their types are checked.
///
/// # Errors
/// As [`suggest`]; `INVALID_ENUMERATION` for an unknown type.
pub fn suggest_with_args<D: Driver>(
    kernel: &Object<Kernel<D>>,
    queue: &Object<Queue<D>>,
    offset: &[usize],
    global: &[usize],
    arguments: &[ur_exp_kernel_arg_properties_t],
    out: OutArray<'_, usize>,
) -> Result<()> {
    if let Some(unknown) = arguments.iter().find(|argument| argument.type_ > ur_exp_kernel_arg_type_t::SAMPLER) {
        return Err(unknown_type(unknown.index as usize, unknown.type_));
    }
    suggest(kernel, queue, offset, global, out)
}
