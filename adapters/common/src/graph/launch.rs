//! Kernel launches in a command buffer: `urCommandBufferAppendKernelLaunchExp` and `…WithArgsExp`.
//!
//! Sizes and arguments are checked when the command is appended. A launch that can be changed later and has nothing to do
//! yet is a node all the same, which is switched off.

use smallvec::SmallVec;
use ur_ffi::{
    ur_event_handle_t, ur_exp_command_buffer_command_handle_t, ur_exp_command_buffer_sync_point_t,
    ur_exp_kernel_arg_properties_t, ur_result_t,
};

use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::append::{Append, Retained};
use crate::graph::command::Kind;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::executable::launch::ChangeableLaunch;
use crate::graph::recorded_kernel::{Arguments, NativeForm, RecordedKernel, RecordedSizes};
use crate::graph::recording::dependencies::SyncPoints;
use crate::kernel::arguments::with_set_arguments;
use crate::kernel::fast::{self, Launch};
use crate::kernel::launch::prepare_divided;
use crate::kernel::work_size::{WorkSizes, in_three};
use crate::kernel::{DeviceKernel, Kernel};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Handles, Out};
use crate::stream::event::WaitList;

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
    let sizes = WorkSizes { offset, global, local };
    with_set_arguments(kernel, |arguments| {
        append_launch("urCommandBufferAppendKernelLaunchExp", append, kernel, sizes, arguments, alternatives)
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
    let sizes = WorkSizes { offset, global, local };
    append_launch("urCommandBufferAppendKernelLaunchWithArgsExp", append, kernel, sizes, arguments, alternatives)
}

/// Sizes as they are kept.
fn recorded(sizes: WorkSizes<'_>) -> RecordedSizes {
    RecordedSizes {
        // 1 to 3.
        dimensions: sizes.global.len() as u32,
        offset: sizes.offset.map_or([0; 3], |offset| in_three(offset, 0)),
        global: in_three(sizes.global, 1),
        local: sizes.local.map(|local| in_three(local, 1)),
    }
}

/// The one append behind both entry points. A plain launch that stays as it is goes from the caller's memory into the batch,
/// by way of registers alone.
#[inline(always)]
fn append_launch<D: Driver>(
    name: &'static str,
    append: Append<'_, D>,
    kernel: &Object<Kernel<D>>,
    sizes: WorkSizes<'_>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    alternatives: Handles<'_, Kernel<D>>,
) -> Result<()> {
    if append.stays_inside() && alternatives.is_empty() {
        let on_device = kernel.on_state(append.buffer.state())?;
        let mut room = fast::room();
        if let Some(launch) = fast::prepare(on_device, sizes, arguments, &mut room)
            && append.keep_launch(kernel, &launch)?
        {
            return Ok(());
        }
    }
    let (buffer, after, waits, sync_point, event, command) = append.into_parts();
    let WorkSizes { offset, global, local } = sizes;
    append_carefully(
        name,
        buffer,
        after,
        waits,
        sync_point,
        event,
        command,
        kernel,
        offset,
        global,
        local,
        arguments,
        alternatives,
    )
}

/// Appends any launch, or says what is wrong with it.
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "one by one: see `Append::into_parts`")]
fn append_carefully<D: Driver>(
    name: &'static str,
    buffer: &Object<CommandBuffer<D>>,
    after: SyncPoints<'_>,
    waits: WaitList<'_, D>,
    sync_point: Option<Out<'_, ur_exp_command_buffer_sync_point_t>>,
    event: Option<Out<'_, ur_event_handle_t>>,
    command: Option<Out<'_, ur_exp_command_buffer_command_handle_t>>,
    kernel: &Object<Kernel<D>>,
    offset: Option<&[usize]>,
    global: &[usize],
    local: Option<&[usize]>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    alternatives: Handles<'_, Kernel<D>>,
) -> Result<()> {
    let append = Append::new(buffer, after, waits, sync_point, event, command);
    let sizes = WorkSizes { offset, global, local };
    let on_device = kernel.on_state(buffer.state())?;
    for alternative in alternatives.iter() {
        alternative.on_state(buffer.state())?;
        if core::ptr::eq(alternative, kernel) {
            return Err(own_alternative(name));
        }
    }
    let is_changeable = append.wants_command();
    if is_changeable && !buffer.properties.is_updatable {
        return Err(not_updatable(name));
    }
    let mut room = fast::room();
    let mut plain = fast::prepare(on_device, sizes, arguments, &mut room);
    if plain.is_none() {
        plain = prepare_divided(on_device, sizes, arguments, &mut room);
    }
    match &plain {
        Some(launch) if append.stays_inside() => append.record_launch(kernel, launch),
        Some(launch) if !is_changeable => append.record_as(|graph, retained| {
            graph.kernel(&launch.node())?;
            retained.keep_kernel(kernel);
            Ok(Kind::Fixed)
        }),
        _ => append_kept(name, append, kernel, on_device, sizes, arguments, &alternatives, plain.as_ref()),
    }
}

/// Appends a launch that can be changed, or is not plain. What was found plain was checked.
#[inline(never)]
fn append_kept<D: Driver>(
    name: &str,
    append: Append<'_, D>,
    kernel: &Object<Kernel<D>>,
    on_device: &DeviceKernel<D>,
    sizes: WorkSizes<'_>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    alternatives: &Handles<'_, Kernel<D>>,
    plain: Option<&Launch<'_, D>>,
) -> Result<()> {
    let (state, is_changeable) = (append.buffer.state(), append.wants_command());
    let arguments = Arguments::read(arguments, on_device.plain.parameters.as_deref())?;
    let mut launch = RecordedKernel { kernel: kernel.to_arc(), sizes: recorded(sizes), arguments };
    let uses = launch.uses(&append.buffer.context)?;
    launch.make_memory(state)?;
    append.record_as(|graph, retained| {
        let form = match plain {
            Some(plain) => Some(NativeForm::of(plain)),
            None => launch.prepare(name, state)?,
        };
        let node = match &form {
            Some(form) => Some(launch.with_native(form, |node| graph.kernel(node))?),
            None if is_changeable => Some(add_switched_off(name, graph, retained, &launch)?),
            // Nothing to run; the command still has its place.
            None => None,
        };
        retained.new_uses.extend(uses);
        let (Some(node), true) = (node, is_changeable) else {
            retained.keep_launch(launch);
            return Ok(Kind::Fixed);
        };
        let alternatives = alternatives.iter().map(Object::to_arc).collect::<SmallVec<_>>();
        // Not more than nodes of a graph.
        let index = retained.launches.len() as u32;
        retained.launches.push(ChangeableLaunch::new(node, launch, form, alternatives));
        Ok(Kind::Launch(index))
    })
}

/// A node for a launch of no work-items, which must never run as it is: one work-group of the smallest size. It is switched
/// off before the graph can be launched.
fn add_switched_off<D: Driver>(
    name: &str,
    graph: &mut GraphBuilder<'_, D>,
    retained: &mut Retained<D>,
    launch: &RecordedKernel<D>,
) -> Result<D::GraphNode> {
    let state = graph.device();
    let global = launch.kernel.on_state(state)?.declared.required.unwrap_or([1; 3]);
    let sizes = RecordedSizes { global, local: None, ..launch.sizes };
    let mut one = RecordedKernel { sizes, ..launch.clone() };
    let form = one.prepare(name, state)?.ok_or(ur_result_t::ERROR_INVALID_WORK_DIMENSION)?;
    retained.has_switched_off = true;
    one.with_native(&form, |node| graph.kernel(node))
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
