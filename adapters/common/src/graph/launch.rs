//! Kernel launches in a command buffer: `urCommandBufferAppendKernelLaunchExp` and `…WithArgsExp`.
//!
//! Sizes and arguments are checked when the command is appended. A launch that can be changed later and has nothing to do
//! yet is a node all the same, which is switched off.

use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{ur_exp_kernel_arg_properties_t, ur_result_t};

use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::append::{Append, Retained};
use crate::graph::command::{KernelCommand, KernelState, Kind};
use crate::graph::recorded_kernel::{Arguments, RecordedKernel, RecordedSizes};
use crate::kernel::Kernel;
use crate::kernel::arguments::with_set_arguments;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Handles;

/// `urCommandBufferAppendKernelLaunchExp`: with the arguments that are set on the kernel now.
///
/// # Errors
/// As [`with_args`].
pub fn with_set<D: Driver>(
    append: Append<'_, D>,
    kernel: &Object<Kernel<D>>,
    offset: Option<&[usize]>,
    global: &[usize],
    local: Option<&[usize]>,
    alternatives: Handles<'_, Kernel<D>>,
) -> Result<()> {
    let sizes = sizes_of(offset, global, local);
    with_set_arguments(kernel, |arguments| {
        append_launch("urCommandBufferAppendKernelLaunchExp", append, kernel, sizes, arguments, &alternatives)
    })
}

/// `urCommandBufferAppendKernelLaunchWithArgsExp`.
///
/// # Errors
/// As the spec lists; the message names argument or dimension. `INVALID_OPERATION` for a command handle of a buffer that is
/// not updatable; `INVALID_VALUE` for a kernel that is its own alternative.
pub fn with_args<D: Driver>(
    append: Append<'_, D>,
    kernel: &Object<Kernel<D>>,
    offset: Option<&[usize]>,
    global: &[usize],
    local: Option<&[usize]>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    alternatives: Handles<'_, Kernel<D>>,
) -> Result<()> {
    let sizes = sizes_of(offset, global, local);
    append_launch("urCommandBufferAppendKernelLaunchWithArgsExp", append, kernel, sizes, arguments, &alternatives)
}

/// The sizes of 1 to 3 dimensions.
pub fn sizes_of(offset: Option<&[usize]>, global: &[usize], local: Option<&[usize]>) -> RecordedSizes {
    let three =
        |sizes: &[usize], missing: usize| core::array::from_fn(|axis| sizes.get(axis).copied().unwrap_or(missing));
    RecordedSizes {
        dimensions: global.len() as u32,
        offset: offset.map_or([0; 3], |offset| three(offset, 0)),
        global: three(global, 1),
        local: local.map(|local| three(local, 1)),
    }
}

fn append_launch<D: Driver>(
    name: &str,
    append: Append<'_, D>,
    kernel: &Object<Kernel<D>>,
    sizes: RecordedSizes,
    arguments: &[ur_exp_kernel_arg_properties_t],
    alternatives: &Handles<'_, Kernel<D>>,
) -> Result<()> {
    let buffer = append.buffer;
    let state = buffer.state();
    let on_device = kernel.on_state(state)?;
    for alternative in alternatives.iter() {
        alternative.on_state(state)?;
        if core::ptr::eq(alternative, kernel) {
            return Err(own_alternative(name));
        }
    }
    let is_changeable = append.wants_command();
    if is_changeable && !buffer.properties.is_updatable {
        return Err(not_updatable(name));
    }
    let parameters = on_device.plain.parameters.as_deref();
    let launch = RecordedKernel { kernel: kernel.to_arc(), sizes, arguments: Arguments::read(arguments, parameters)? };
    let uses = launch.uses(&buffer.context)?;
    append.record_as(|graph, retained| {
        let kind = add(name, graph, retained, launch, alternatives, is_changeable)?;
        uses.into_iter().for_each(|used| buffer.memory().add(used));
        Ok(kind)
    })
}

/// Adds a launch to the graph.
fn add<D: Driver>(
    name: &str,
    graph: &mut GraphBuilder<'_, D>,
    retained: &mut Retained<D>,
    launch: RecordedKernel<D>,
    alternatives: &Handles<'_, Kernel<D>>,
    is_changeable: bool,
) -> Result<Kind<D>> {
    let state = graph.device();
    // SAFETY: `with_native` gives a list with an entry for every parameter; the buffer keeps kernel and memory objects, and
    // addresses are valid for every launch by the application's promise.
    let added = launch.with_native(name, state, |node, arguments| unsafe { graph.kernel(node, arguments) })?;
    if !is_changeable {
        retained.keep_launch(launch);
        return Ok(Kind::Fixed);
    }
    let is_enabled = added.is_some();
    let node = match added {
        Some(node) => node,
        None => {
            let node = add_switched_off(name, graph, &launch)?;
            retained.switched_off.push(node);
            node
        }
    };
    let alternatives = alternatives.iter().map(Object::to_arc).collect::<SmallVec<_>>();
    let first = Arc::clone(&launch.kernel);
    let state = Mutex::new(KernelState { launch, is_enabled, is_changed: false, next: None });
    Ok(Kind::Kernel(Box::new(KernelCommand { node, first, alternatives, state })))
}

/// A node for a launch of no work-items, which must never run as it is: one work-group of the smallest size.
fn add_switched_off<D: Driver>(
    name: &str,
    graph: &mut GraphBuilder<'_, D>,
    launch: &RecordedKernel<D>,
) -> Result<D::GraphNode> {
    let state = graph.device();
    let global = launch.kernel.on_state(state)?.declared.required.unwrap_or([1; 3]);
    let sizes = RecordedSizes { global, local: None, ..launch.sizes };
    let one = RecordedKernel { sizes, ..launch.clone() };
    // SAFETY: as in `add`; the node is switched off before the graph can be launched.
    let added = one.with_native(name, state, |node, arguments| unsafe { graph.kernel(node, arguments) })?;
    added.ok_or_else(|| ur_result_t::ERROR_INVALID_WORK_DIMENSION.into())
}

#[cold]
fn own_alternative(name: &str) -> Error {
    let text = format!("{name}: phKernelAlternatives holds hKernel itself; list the other kernels only");
    Error::new(ur_result_t::ERROR_INVALID_VALUE, text)
}

#[cold]
fn not_updatable(name: &str) -> Error {
    let text = format!(
        "{name}: phCommand is given and the command buffer is not updatable; create it with isUpdatable or give no phCommand"
    );
    Error::new(ur_result_t::ERROR_INVALID_OPERATION, text)
}
