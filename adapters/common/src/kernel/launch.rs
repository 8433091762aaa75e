//! Kernel launches: work sizes, the argument list ([`crate::kernel::argument_list`]), one native call.
//!
//! [`enqueue_launch`] is the one launch behind every entry point. What is plain is launched by [`crate::kernel::fast`]; every
//! other launch, and every error, is [`launch_carefully`]'s. A pointer behind an argument is the application's promise:
//! it is readable for the argument's size during the call.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_exp_kernel_arg_properties_t, ur_kernel_launch_ext_properties_t, ur_result_t};

use crate::buffer::storage::submit_and_keep;
use crate::command::deferral::{Keeping, Owned};
use crate::command::submission::Submission;
use crate::command::{Command, Empty, Enqueue, Request, submit};
use crate::context::DeviceState;
use crate::driver::{Driver, LaunchShape};
use crate::kernel::argument_list::{ArgumentList, ArgumentStorage};
use crate::kernel::fast::{self, Launch};
use crate::kernel::launch_properties::LaunchProperties;
use crate::kernel::owned_launch::{OwnedLaunch, ValueSizes};
use crate::kernel::work_size::{GlobalSize, WorkSizes, in_three, shape};
use crate::kernel::{DeviceKernel, Function, Kernel};
use crate::memory_object;
use crate::object::Object;
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::program::Module;
use crate::stream::capture::{Capture, Retained};

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
    let plain = if properties.is_none() { fast::prepare(kernel, sizes, arguments, &mut room) } else { None };
    let Some(launch) = plain else {
        // A copy of this branch's own, or the plain way would write the sizes to memory too.
        let sizes = WorkSizes { offset: sizes.offset, global: sizes.global, local: sizes.local };
        return launch_carefully(name, request, kernel, &sizes, arguments, properties);
    };
    submit(request, launch)
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
        Some(_) => kernel.with_offset.as_ref().ok_or_else(|| no_offset_variant(name))?,
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
        return submit(request, Empty);
    };
    let dynamic_shared = list.dynamic_shared;
    if dynamic_shared > 0 {
        kernel.allow_local(dynamic_shared)?;
    }
    // Not above the device's limit, so it fits.
    let shape = shape(grid, block, dynamic_shared as u32);
    let raw = function.raw;
    let sizes = ValueSizes::new(function.parameters.as_deref(), arguments, hidden);
    if properties.is_some() || list.objects {
        return special(name, request, kernel, arguments, &mut list, properties.as_ref(), function, shape, sizes);
    }
    // The list has an entry for every parameter (the hidden offset's follows the others); values of the caller's are readable
    // for the parameters' sizes, the others lie in `storage`, which outlives the call.
    submit(request, Launch { function: raw, shape, arguments: list.pointers.as_ptr(), module: &kernel.module, sizes })
}

/// A launch with properties, whose arguments are as those of [`Launch`].
struct SpecialLaunch<'a, D: Driver> {
    /// What keeps the function loaded.
    module: &'a Arc<Module<D>>,
    device: &'a DeviceState<D>,
    properties: Option<&'a LaunchProperties>,
    function: D::Function,
    shape: LaunchShape,
    sizes: ValueSizes<'a>,
}

impl<D: Driver> SpecialLaunch<'_, D> {
    fn launch(&self, driver: &D, stream: &D::Stream, arguments: *const *const c_void) -> Result<()> {
        // SAFETY: the list is as `Launch` says.
        unsafe {
            match self.properties {
                Some(properties) => {
                    properties.launch(driver, self.device, self.function, self.shape, stream, arguments)
                }
                None => driver.launch(self.function, self.shape, stream, arguments),
            }
        }
    }
}

impl<D: Driver> Command<D> for (SpecialLaunch<'_, D>, *const *const c_void) {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.0.launch(submission.driver(), submission.native(), self.1)
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        capture.keep(Arc::clone(self.0.module) as Retained);
        Ok(())
    }

    fn into_owned(self, _: &Keeping<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let SpecialLaunch { module, properties, function, shape, sizes, .. } = self.0;
        let launch = Launch { module, function, shape, arguments: self.1, sizes };
        Ok((Box::new(launch.with_properties(properties.copied())), ()))
    }
}

/// Submits a launch that was kept.
impl<D: Driver> Owned<D> for OwnedLaunch<D> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        let (pointers, sizes) = (self.values.pointers(), self.values.sizes());
        let (arguments, device) = (pointers.as_ptr(), &*request.queue.device);
        let Self { module, function, shape, properties, .. } = &*self;
        let (function, shape) = (*function, *shape);
        match properties.as_ref() {
            None => submit(request, Launch { module, function, shape, arguments, sizes }),
            properties => {
                submit(request, (SpecialLaunch { module, device, properties, function, shape, sizes }, arguments))
            }
        }
    }
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
    let special = SpecialLaunch {
        module: &kernel.module,
        device: &queue.device,
        properties,
        function: function.raw,
        shape,
        sizes,
    };
    if !list.objects {
        return submit(request, (special, list.pointers.as_ptr()));
    }
    // SAFETY: the entry point's handles, which C owes to be alive during the call.
    let objects = unsafe { memory_object::arguments::of_launch(request, arguments, function.parameters.as_deref()) }?;
    for (index, value) in &objects.values {
        list.set_value(*index, *value);
    }
    let keep = |capture: &Capture<D>| capture.keep(Arc::clone(&kernel.module) as Retained);
    submit_and_keep(request, false, &objects.accesses, keep, |driver, stream, addresses| {
        for (index, address) in objects.indices.iter().zip(addresses) {
            list.set_value(*index, *address);
        }
        objects.images.make_current(stream)?;
        special.launch(driver, stream, list.pointers.as_ptr())?;
        objects.images.note_writes();
        Ok(())
    })
}

#[cold]
pub(crate) fn no_offset_variant(name: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_OPERATION,
        format!("{name}: a global offset needs the kernel's `_with_offset` variant, which the program lacks"),
    )
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
