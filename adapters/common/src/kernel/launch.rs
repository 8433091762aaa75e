//! Kernel launches: work sizes, the argument list ([`crate::kernel::argument_list`]), one native call.
//!
//! [`enqueue`] is the one launch behind every entry point. It launches at once where arguments and sizes are plain, as nearly
//! all are; every other launch, and every error, is [`enqueue_carefully`]'s.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t, ur_kernel_handle_t,
    ur_kernel_launch_ext_properties_t, ur_queue_handle_t, ur_result_t,
};

use crate::buffer::storage::submit_with_buffers;
use crate::command::submission::Submission;
use crate::command::{Command, Empty};
use crate::command::{Request, submit};
use crate::context::DeviceState;
use crate::driver::{Driver, LaunchShape};
use crate::kernel::argument_list::{ArgumentList, ArgumentStorage, INLINE_ARGUMENTS, direct, unknown_type};
use crate::kernel::launch_properties::LaunchProperties;
use crate::kernel::work_size::{GlobalSize, quick_shape, read_sizes, shape};
use crate::kernel::{DeviceKernel, Function, Kernel};
use crate::memory_object;
use crate::object::error::{Error, Result};
use crate::object::{borrow, null_pointer};
use crate::program::Module;
use crate::queue::Queue;
use crate::stream::capture::{Capture, Kept};
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

/// The sizes of a launch as the caller holds them.
pub struct Sizes {
    /// How many there are of each.
    pub dimensions: u32,
    /// Null for no offset.
    pub offset: *const usize,
    /// Never null in a launch that succeeds.
    pub global: *const usize,
    /// Null for a choice of the engine's.
    pub local: *const usize,
}

impl Sizes {
    /// Whether every offset is 0, or there are none. Wrong dimensions have none.
    ///
    /// # Safety
    /// The offsets hold as many values as there are dimensions.
    #[inline]
    unsafe fn have_no_offset(&self) -> bool {
        let dimensions = if self.offset.is_null() { 0 } else { self.dimensions.min(3) as usize };
        // SAFETY: readable for the dimensions by the caller's promise, and null has none.
        (0..dimensions).all(|axis| unsafe { *self.offset.add(axis) } == 0)
    }

    /// What [`quick_shape`] makes of them for a kernel that leaves its local size to the caller.
    ///
    /// # Safety
    /// As [`quick_shape`].
    #[inline(always)]
    unsafe fn quick_shape<D: Driver>(&self, kernel: &DeviceKernel<D>) -> Option<([u32; 3], [u32; 3])> {
        if kernel.declared.required.is_some() {
            return None;
        }
        // SAFETY: the caller's promise is the same.
        unsafe { quick_shape(self.dimensions, self.global, self.local, &kernel.limits) }
    }
}

/// `urEnqueueKernelLaunchWithArgsExp`.
///
/// # Safety
/// The C contract: lists hold as many entries as their counts say, values are readable for their sizes.
///
/// # Errors
/// As the spec lists; the message names argument or dimension.
///
/// # Unsupported
/// - note: `UR_KERNEL_LAUNCH_FLAG_OPPORTUNISTIC_QUEUE_SERIALIZE` is a permission that is not used
pub unsafe fn with_args<D: Driver>(
    queue: ur_queue_handle_t,
    kernel: ur_kernel_handle_t,
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    count: u32,
    arguments: *const ur_exp_kernel_arg_properties_t,
    properties: *const ur_kernel_launch_ext_properties_t,
    wait_count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueKernelLaunchWithArgsExp";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::KERNEL_LAUNCH, wait_count, waits, event) }?;
    // SAFETY: as above.
    let kernel = unsafe { borrow::<Kernel<D>>(kernel) }?.on_queue(request.queue)?;
    // SAFETY: as above.
    let arguments = unsafe { argument_list(NAME, count, arguments) }?;
    // SAFETY: as above.
    unsafe { enqueue(NAME, &request, kernel, &Sizes { dimensions, offset, global, local }, arguments, properties) }
}

/// The one launch behind every entry point.
///
/// # Safety
/// The sizes hold as many values as they have dimensions, arguments are readable for their sizes, `properties` is null
/// or valid.
///
/// # Errors
/// As the entry points'; `name` is theirs.
#[inline]
pub unsafe fn enqueue<D: Driver>(
    name: &str,
    request: &Request<'_, D>,
    kernel: &DeviceKernel<D>,
    sizes: &Sizes,
    arguments: &[ur_exp_kernel_arg_properties_t],
    properties: *const ur_kernel_launch_ext_properties_t,
) -> Result<()> {
    let function = &kernel.plain;
    let mut room = [MaybeUninit::<*const c_void>::uninit(); INLINE_ARGUMENTS];
    // SAFETY: the caller's promises are the same.
    let simple = properties.is_null() && unsafe { sizes.have_no_offset() } && is_simple(function, arguments, &mut room);
    // SAFETY: as above.
    let quick = if unlikely(!simple) { None } else { unsafe { sizes.quick_shape(kernel) } };
    let Some((grid, block)) = quick else {
        // SAFETY: as above.
        return unsafe { enqueue_carefully(name, request, kernel, sizes, arguments, properties) };
    };
    // `room` has an entry for every parameter and outlives the call; each names a value of the caller's that is readable for
    // the parameter's size.
    let (shape, arguments) = (shape(grid, block, 0), room.as_ptr().cast());
    submit(request, Launch { function: function.raw, shape, arguments, module: &kernel.module })
}

/// A kernel's launch. `arguments` has an entry for every parameter of the function, which names a value of the parameter's
/// size; list and values are readable during the call.
struct Launch<'a, D: Driver> {
    function: D::Function,
    shape: LaunchShape,
    arguments: *const *const c_void,
    /// What keeps the function loaded.
    module: &'a Arc<Module<D>>,
}

impl<D: Driver> Command<D> for Launch<'_, D> {
    type Output = ();

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        // SAFETY: the list is as this type says.
        unsafe { submission.driver().launch(self.function, self.shape, submission.native(), self.arguments) }
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        capture.keep(Arc::clone(self.module) as Kept);
        Ok(())
    }
}

/// Whether the arguments are right and lie in the caller's memory in the parameters' order, as nearly all do; their
/// addresses then are in `room`.
#[inline]
fn is_simple<D: Driver>(
    function: &Function<D>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    room: &mut [MaybeUninit<*const c_void>; INLINE_ARGUMENTS],
) -> bool {
    let sizes = function.parameters.as_deref();
    if arguments.len() > room.len() || sizes.is_some_and(|sizes| sizes.len() != arguments.len()) {
        return false;
    }
    for (position, (argument, room)) in arguments.iter().zip(room).enumerate() {
        let size = sizes.map(|sizes| sizes[position]);
        match direct(argument, size) {
            Some(address) if argument.index as usize == position => room.write(address),
            _ => return false,
        };
    }
    true
}

/// A launch with any arguments, sizes and properties, or the error of those that are wrong.
///
/// # Safety
/// As [`enqueue`].
///
/// # Errors
/// As [`enqueue`].
#[inline(never)]
unsafe fn enqueue_carefully<D: Driver>(
    name: &str,
    request: &Request<'_, D>,
    kernel: &DeviceKernel<D>,
    sizes: &Sizes,
    arguments: &[ur_exp_kernel_arg_properties_t],
    properties: *const ur_kernel_launch_ext_properties_t,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let properties = unsafe { LaunchProperties::read(properties) }?;
    // SAFETY: the sizes hold as many values as there are dimensions, by the caller's promise.
    let offset = unsafe { given_offset(sizes.dimensions, sizes.offset) }?;
    let function = match offset {
        None => &kernel.plain,
        Some(_) => kernel.with_offset.as_ref().ok_or_else(|| no_offset_variant(name))?,
    };
    // SAFETY: as above.
    let divided = match unsafe { sizes.quick_shape(kernel) } {
        Some(shape) => Some(shape),
        // SAFETY: as above.
        None => unsafe { careful_shape(name, sizes, kernel) }?,
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
    if properties.is_some() || list.objects {
        // SAFETY: as below, and by the caller's promise objects live during the call.
        return unsafe { special(name, request, kernel, arguments, &mut list, properties.as_ref(), function, shape) };
    }
    // The list has an entry for every parameter (the hidden offset's follows the others); values of the caller's are readable
    // for the parameters' sizes, the others lie in `storage`, which outlives the call.
    submit(request, Launch { function: raw, shape, arguments: list.pointers.as_ptr(), module: &kernel.module })
}

/// A launch with properties, whose arguments are as those of [`Launch`].
struct SpecialLaunch<'a, D: Driver> {
    /// What keeps the function loaded.
    module: &'a Arc<Module<D>>,
    device: &'a DeviceState<D>,
    properties: Option<&'a LaunchProperties>,
    function: D::Function,
    shape: LaunchShape,
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
        capture.keep(Arc::clone(self.0.module) as Kept);
        Ok(())
    }
}

/// A launch with properties or objects. Contents of memory objects are brought to the queue's device first.
///
/// # Safety
/// The list has an entry for every parameter of the function; objects among the arguments are live during the call.
#[cold]
unsafe fn special<D: Driver>(
    name: &str,
    request: &Request<'_, D>,
    kernel: &DeviceKernel<D>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    list: &mut ArgumentList<'_>,
    properties: Option<&LaunchProperties>,
    function: &Function<D>,
    shape: LaunchShape,
) -> Result<()> {
    let queue = request.queue;
    if let Some(properties) = properties {
        properties.check(name, &queue.target.properties, shape.grid)?;
        if let Some(cluster) = properties.cluster {
            kernel.allow_cluster(cluster)?;
        }
    }
    let properties = properties.filter(|properties| !properties.is_plain());
    let special =
        SpecialLaunch { module: &kernel.module, device: &queue.device, properties, function: function.raw, shape };
    if !list.objects {
        return submit(request, (special, list.pointers.as_ptr()));
    }
    // SAFETY: live by the caller's promise.
    let objects = unsafe { memory_object::arguments::of_launch(request, arguments, function.parameters.as_deref()) }?;
    for (index, value) in &objects.values {
        list.set_value(*index, *value);
    }
    submit_with_buffers(request, false, &objects.accesses, |driver, stream, addresses| {
        for (index, address) in objects.indices.iter().zip(addresses) {
            list.set_value(*index, *address);
        }
        objects.images.make_current(stream)?;
        special.launch(driver, stream, list.pointers.as_ptr())?;
        objects.images.note_writes();
        Ok(())
    })
}

/// The caller's offset, if it says anything.
///
/// # Safety
/// As [`read_sizes`].
#[inline]
unsafe fn given_offset(dimensions: u32, offset: *const usize) -> Result<Option<[usize; 3]>> {
    if offset.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise is the same.
    Ok(unsafe { read_sizes(dimensions, offset, 0) }?.filter(|offset| *offset != [0; 3]))
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
///
/// # Safety
/// As [`read_sizes`].
#[inline(never)]
unsafe fn careful_shape<D: Driver>(
    name: &str,
    sizes: &Sizes,
    kernel: &DeviceKernel<D>,
) -> Result<Option<([u32; 3], [u32; 3])>> {
    let Sizes { dimensions, global, local, .. } = *sizes;
    // SAFETY: the caller's promise is the same.
    let (global, local) = unsafe { (read_sizes(dimensions, global, 1)?, read_sizes(dimensions, local, 1)?) };
    let global = global.ok_or_else(|| null_pointer(name))?;
    if global.contains(&0) {
        return Ok(None);
    }
    kernel.divide(GlobalSize::new(global)?, local).map(Some)
}

/// # Safety
/// `arguments` is null or holds `count` entries.
unsafe fn argument_list<'a>(
    name: &str,
    count: u32,
    arguments: *const ur_exp_kernel_arg_properties_t,
) -> Result<&'a [ur_exp_kernel_arg_properties_t]> {
    if count == 0 {
        return Ok(&[]);
    }
    if arguments.is_null() {
        return Err(null_pointer(name));
    }
    // SAFETY: holds `count` entries by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(arguments, count as usize) })
}

/// `urKernelGetSuggestedLocalWorkSize`: what a launch without a local size would take.
///
/// # Safety
/// The C contract: the sizes hold `dimensions` values, `out` is writable for as many.
///
/// # Errors
/// `INVALID_NULL_POINTER`; as a launch with these sizes.
pub unsafe fn suggested_local_size<D: Driver>(
    kernel: ur_kernel_handle_t,
    queue: ur_queue_handle_t,
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    out: *mut usize,
) -> Result<()> {
    const NAME: &str = "urKernelGetSuggestedLocalWorkSize";
    // SAFETY: the caller's promises are the same.
    let (kernel, queue) = unsafe { (borrow::<Kernel<D>>(kernel)?, borrow::<Queue<D>>(queue)?) };
    // The offset changes no suggestion, but the specification has it required.
    if offset.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    let kernel = kernel.on_queue(queue)?;
    // SAFETY: holds `dimensions` values by the caller's promise.
    let global = unsafe { read_sizes(dimensions, global, 1) }?.ok_or_else(|| null_pointer(NAME))?;
    let (_, block) = kernel.divide(GlobalSize::new(global)?, None)?;
    for (axis, size) in block.iter().enumerate().take(dimensions as usize) {
        // SAFETY: writable for `dimensions` values by the caller's promise.
        unsafe { out.add(axis).write(*size as usize) };
    }
    Ok(())
}

/// `urKernelGetSuggestedLocalWorkSizeWithArgs`: arguments do not change the suggestion, but their types are checked.
///
/// # Safety
/// As [`suggested_local_size`]; `arguments` holds `count` entries.
///
/// # Errors
/// As [`suggested_local_size`]; `INVALID_NULL_POINTER` for a missing list, `INVALID_ENUMERATION` for an unknown type.
pub unsafe fn suggested_local_size_with_args<D: Driver>(
    kernel: ur_kernel_handle_t,
    queue: ur_queue_handle_t,
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    count: u32,
    arguments: *const ur_exp_kernel_arg_properties_t,
    out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let arguments = unsafe { argument_list("urKernelGetSuggestedLocalWorkSizeWithArgs", count, arguments) }?;
    if let Some(unknown) = arguments.iter().find(|argument| argument.type_ > ur_exp_kernel_arg_type_t::SAMPLER) {
        return Err(unknown_type(unknown.index as usize, unknown.type_));
    }
    // SAFETY: as above.
    unsafe { suggested_local_size::<D>(kernel, queue, dimensions, offset, global, out) }
}
