//! Kernel launches: work sizes, the argument list ([`crate::kernel::argument_list`]), one native call.
//!
//! [`enqueue_launch`] is the one launch behind every entry point. What is plain is launched by [`crate::kernel::fast`]; every
//! other launch, and every error, is [`launch_carefully`]'s. A pointer behind an argument is the application's promise:
//! it is readable for the argument's size during the call.

use ur_ffi::{ur_command_t, ur_exp_kernel_arg_properties_t, ur_kernel_launch_ext_properties_t, ur_result_t};

use crate::buffer::command::submit_on_buffers;
use crate::command::{Empty, Enqueue, Request, erased, submit};
use crate::driver::{Driver, LaunchShape};
use crate::kernel::argument_list::{ArgumentList, ArgumentStorage};
use crate::kernel::careful_launch::{CarefulLaunch, LaunchOf};
use crate::kernel::fast::{self, Launch};
use crate::kernel::launch_properties::LaunchProperties;
use crate::kernel::object_launch::ObjectLaunch;
use crate::kernel::owned_launch::ValueSizes;
use crate::kernel::work_size::{GlobalSize, WorkSizes, in_three, shape};
use crate::kernel::{DeviceKernel, Function, Kernel};
use crate::memory_object;
use crate::object::Object;
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::sync::unlikely::unlikely;

/// How many arguments a function takes from the caller.
#[inline]
fn expected<D: Driver>(function: &Function<D>, hidden: usize, arguments: &[ur_exp_kernel_arg_properties_t]) -> usize {
    match &function.parameters {
        Some(sizes) => sizes.len().saturating_sub(hidden),
        None => arguments.iter().map(|argument| argument.index as usize + 1).max().unwrap_or(0),
    }
}

/// The offset as kernels take it.
#[cold]
pub(crate) fn narrow(offset: [usize; 3]) -> Result<[u32; 3]> {
    let mut narrow = [0; 3];
    for (narrow, wide) in narrow.iter_mut().zip(offset) {
        *narrow = u32::try_from(wide).map_err(|_| {
            Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("a global offset of {wide} does not fit the 32 bits that kernels take"),
            )
        })?;
    }
    Ok(narrow)
}

#[cold]
pub(crate) fn wrong_count(given: usize, taken: usize) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_KERNEL_ARGS,
        format!("{given} arguments given for a kernel that takes {taken}"),
    )
}

/// `urEnqueueKernelLaunchWithArgsExp`.
///
/// # Errors
/// As the spec lists; the message names argument or dimension.
#[inline(always)]
pub fn with_args<D: Driver>(
    enqueue: Enqueue<'_, D>,
    kernel: &Object<Kernel<D>>,
    offset: Option<&[usize]>,
    global: &[usize],
    local: Option<&[usize]>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    properties: Option<Chained<'_, ur_kernel_launch_ext_properties_t>>,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::KERNEL_LAUNCH);
    let kernel = kernel.on_queue(request.queue)?;
    let sizes = WorkSizes { offset, global, local };
    enqueue_launch("urEnqueueKernelLaunchWithArgsExp", &request, kernel, sizes, arguments, properties)
}

/// The one launch behind every entry point.
///
/// # Errors
/// As the entry points'; `name` is theirs.
#[inline(always)]
pub fn enqueue_launch<D: Driver>(
    name: &str,
    request: &Request<'_, D>,
    kernel: &DeviceKernel<D>,
    sizes: WorkSizes<'_>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    properties: Option<Chained<'_, ur_kernel_launch_ext_properties_t>>,
) -> Result<()> {
    let mut room = fast::room();
    let has_properties = unlikely!(properties.is_some());
    let plain = if has_properties { None } else { fast::prepare(kernel, sizes, arguments, &mut room) };
    let Some(launch) = plain else {
        core::hint::cold_path();
        // A copy of this branch's own, or the plain way would write the sizes to memory too.
        let sizes = WorkSizes { offset: sizes.offset, global: sizes.global, local: sizes.local };
        return launch_carefully(name, request, kernel, &sizes, arguments, properties);
    };
    submit(request, launch)
}

/// As [`fast::prepare`] for a launch whose work-groups are the engine's or the kernel's to choose; `None` where arguments or
/// sizes are not plain, or wrong.
#[inline(never)]
pub(crate) fn prepare_divided<'k, D: Driver>(
    kernel: &'k DeviceKernel<D>,
    sizes: WorkSizes<'_>,
    arguments: &'k [ur_exp_kernel_arg_properties_t],
    room: &mut fast::Room,
) -> Option<Launch<'k, D>> {
    let function = &kernel.plain;
    if !sizes.have_no_offset() || !fast::are_simple(function, arguments, room) {
        return None;
    }
    let (grid, block) = careful_shape(&sizes, kernel).ok()??;
    Some(Launch::new(kernel, shape(grid, block, 0), arguments, room))
}

/// A launch with any arguments, sizes and properties, or the error of those that are wrong.
///
/// # Errors
/// As [`enqueue_launch`].
#[inline(never)]
fn launch_carefully<D: Driver>(
    name: &str,
    request: &Request<'_, D>,
    kernel: &DeviceKernel<D>,
    sizes: &WorkSizes<'_>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    properties: Option<Chained<'_, ur_kernel_launch_ext_properties_t>>,
) -> Result<()> {
    let properties = properties.map(LaunchProperties::read).transpose()?;
    let offset = sizes.given_offset();
    let function = match offset {
        None => &kernel.plain,
        Some(_) => kernel.function_with_offset(name)?,
    };
    let divided = match fast::shape_of(kernel, *sizes) {
        Some(shape) => Some(shape),
        None => careful_shape(sizes, kernel)?,
    };
    let hidden = usize::from(offset.is_some());
    let count = expected(function, hidden, arguments);
    // The driver does not tell every kernel's parameter count; then the highest index decides it, and a wrong one must not
    // decide how much is allocated.
    if arguments.len() != count {
        return Err(wrong_count(arguments.len(), count));
    }
    let mut storage = ArgumentStorage::new();
    let mut list = storage.list(count + hidden);
    let narrowed;
    if let Some(offset) = offset {
        narrowed = narrow(offset)?;
        list.hide(narrowed.as_ptr().cast());
    }
    if let Some(properties) = &properties {
        list.begin_local_at(properties.work_group_memory);
    }
    list.fill(arguments, function.parameters.as_deref())?;
    let Some((grid, block)) = divided else {
        // Nothing to run; the command still takes its turn on the stream, and has its event.
        return erased::submit(request, Empty);
    };
    let dynamic_shared = if list.dynamic_shared > 0 { kernel.local_bytes(list.dynamic_shared)? } else { 0 };
    // Not above the device's limit, so it fits.
    let shape = shape(grid, block, dynamic_shared as u32);
    let raw = function.raw;
    let sizes = ValueSizes::new(function.parameters.as_deref(), arguments, hidden);
    if properties.is_some() || list.objects {
        return special(name, request, kernel, arguments, &mut list, properties.as_ref(), function, shape, sizes);
    }
    // The list has an entry for every parameter (the hidden offset's follows the others); values of the caller's are readable
    // for the parameters' sizes, the others lie in `storage`, which outlives the call.
    let (module, device, arguments) = (&kernel.module, &*request.queue.device, list.pointers.as_ptr());
    submit(request, CarefulLaunch { module, device, properties: None, function: raw, shape, arguments, sizes })
}

/// A launch with properties or objects. Contents of memory objects are brought to the queue's device first.
#[cold]
fn special<D: Driver>(
    name: &str,
    request: &Request<'_, D>,
    kernel: &DeviceKernel<D>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    list: &mut ArgumentList<'_>,
    properties: Option<&LaunchProperties>,
    function: &Function<D>,
    shape: LaunchShape,
    sizes: ValueSizes<'_>,
) -> Result<()> {
    let queue = request.queue;
    if let Some(properties) = properties {
        properties.check(name, &queue.target.properties, shape.grid)?;
        if let Some(cluster) = properties.cluster {
            kernel.allow_cluster(cluster)?;
        }
    }
    let properties = properties.filter(|properties| !properties.is_plain());
    let (module, device, function_raw) = (&kernel.module, &*queue.device, function.raw);
    let launch = LaunchOf { module, device, properties, function: function_raw, shape, sizes };
    if !list.objects {
        return erased::submit(request, launch.with(list));
    }
    // SAFETY: the entry point's handles, which C owes to be alive during the call.
    let objects = unsafe { memory_object::arguments::of_launch(request, arguments, function.parameters.as_deref()) }?;
    for (index, value) in &objects.values {
        list.set_value(*index, *value);
    }
    submit_on_buffers(request, false, &objects.accesses, ObjectLaunch { launch, list, objects: &objects })
}

/// The shape of a launch whose local size is the engine's or the kernel's to choose, or the error of sizes that are
/// wrong; `None` for a global size with a dimension of 0.
#[inline(never)]
fn careful_shape<D: Driver>(sizes: &WorkSizes<'_>, kernel: &DeviceKernel<D>) -> Result<Option<([u32; 3], [u32; 3])>> {
    let (global, local) = (in_three(sizes.global, 1), sizes.local.map(|local| in_three(local, 1)));
    if global.contains(&0) {
        return Ok(None);
    }
    kernel.divide(GlobalSize::new(global)?, local).map(Some)
}
