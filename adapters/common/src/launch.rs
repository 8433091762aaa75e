//! Kernel launches: arguments, work sizes, one native call.
//!
//! Arguments are read where the caller holds them; the native call copies them. Nothing is allocated for up to
//! [`INLINE_ARGUMENTS`] arguments. What the library can tell of a function's parameters is checked before it
//! reads through the pointers, since it would otherwise read past a list that is too short.

use core::ffi::c_void;

use smallvec::SmallVec;
use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t, ur_kernel_handle_t,
    ur_kernel_launch_ext_properties_t, ur_kernel_launch_flags_t, ur_queue_handle_t, ur_result_t,
};

use crate::driver::Driver;
use crate::enqueue::{Request, submit};
use crate::error::{Error, Result};
use crate::image_argument::ImageArguments;
use crate::kernel::{DeviceKernel, Function, Kernel};
use crate::object::{borrow, known_flags, null_pointer};
use crate::queue::Queue;
use crate::work_size::{GlobalSize, Limits, read_sizes, shape};

/// Arguments that a launch holds on the stack.
pub const INLINE_ARGUMENTS: usize = 24;

/// The largest alignment of a type in work-group memory, bytes: a vector of 16 doubles.
const LOCAL_ALIGNMENT: usize = 128;

/// The native argument list of one launch. Filled in place: it is large, and a launch is short.
#[derive(Default)]
struct Arguments {
    pointers: SmallVec<[*const c_void; INLINE_ARGUMENTS]>,
    /// Values that have no storage of the caller's: pointers, offsets into work-group memory, images, samplers.
    values: SmallVec<[(usize, usize); INLINE_ARGUMENTS]>,
    dynamic_shared: usize,
    offset: [u32; 3],
}

impl Arguments {
    /// Reads the caller's arguments for a function.
    fn fill<D: Driver>(
        &mut self,
        arguments: &[ur_exp_kernel_arg_properties_t],
        function: &Function<D>,
        hidden_offset: Option<[usize; 3]>,
        images: &mut ImageArguments<'_, D>,
    ) -> Result<()> {
        let hidden = usize::from(hidden_offset.is_some());
        let expected = function.parameters.as_ref().map(|sizes| sizes.len().saturating_sub(hidden));
        let count = match expected {
            Some(expected) => expected,
            None => arguments.iter().map(|argument| argument.index as usize + 1).max().unwrap_or(0),
        };
        if arguments.len() != count {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_KERNEL_ARGS,
                format!("{} arguments given for a kernel that takes {count}", arguments.len()),
            ));
        }
        self.pointers.resize(count, core::ptr::null());
        let size = |index: u32| function.parameters.as_ref().and_then(|sizes| sizes.get(index as usize)).copied();
        let mut samplers = false;
        for argument in arguments {
            if argument.type_ == ur_exp_kernel_arg_type_t::SAMPLER {
                samplers = true;
                continue;
            }
            self.add(argument, size(argument.index), images)?;
        }
        if samplers {
            // Last, since one may be the texture of an image that comes later in the list.
            let mut all = arguments.iter().filter(|argument| argument.type_ == ur_exp_kernel_arg_type_t::SAMPLER);
            all.try_for_each(|argument| self.add(argument, size(argument.index), images))?;
        }
        hidden_offset.map_or(Ok(()), |offset| self.add_offset(offset))
    }

    fn add<D: Driver>(
        &mut self,
        argument: &ur_exp_kernel_arg_properties_t,
        size: Option<usize>,
        images: &mut ImageArguments<'_, D>,
    ) -> Result<()> {
        let index = argument.index as usize;
        match self.pointers.get(index) {
            None => {
                return Err(Error::new(
                    ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                    format!("argument index {index} of a kernel with {} arguments", self.pointers.len()),
                ));
            }
            Some(taken) if !taken.is_null() || self.values.iter().any(|(at, _)| *at == index) => {
                return Err(Error::new(
                    ur_result_t::ERROR_INVALID_KERNEL_ARGS,
                    format!("argument {index} is given twice"),
                ));
            }
            Some(_) => {}
        }
        match argument.type_ {
            ur_exp_kernel_arg_type_t::VALUE => {
                // SAFETY: the tag says that the union holds the address of the value.
                let value = unsafe { argument.value.value };
                if value.is_null() {
                    return Err(null_pointer("a kernel argument's value"));
                }
                if size.is_some_and(|size| argument.size < size) {
                    return Err(too_small(index, argument.size, size));
                }
                self.pointers[index] = value;
            }
            ur_exp_kernel_arg_type_t::POINTER => {
                // SAFETY: the tag says that the union holds the pointer itself.
                let pointer = unsafe { argument.value.pointer };
                if size.is_some_and(|size| size > size_of::<usize>()) {
                    return Err(too_small(index, size_of::<usize>(), size));
                }
                self.values.push((index, pointer.addr()));
            }
            ur_exp_kernel_arg_type_t::LOCAL => {
                if argument.size == 0 {
                    return Err(Error::new(
                        ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                        format!("argument {index} asks for 0 bytes of work-group memory"),
                    ));
                }
                if size.is_some_and(|size| size > size_of::<usize>()) {
                    return Err(too_small(index, size_of::<usize>(), size));
                }
                let start = self.reserve_local(argument.size)?;
                self.values.push((index, start));
            }
            ur_exp_kernel_arg_type_t::MEM_OBJ => {
                if size.is_some_and(|size| size > size_of::<usize>()) {
                    return Err(too_small(index, size_of::<usize>(), size));
                }
                // SAFETY: the tag says that the union holds a memory object, live by the caller's promise.
                self.values.push((index, unsafe { images.image(index, &argument.value.memObjTuple) }?));
            }
            ur_exp_kernel_arg_type_t::SAMPLER => {
                // SAFETY: the tag says that the union holds a sampler, live by the caller's promise.
                self.values.push((index, unsafe { images.sampler(index, argument.value.sampler, size) }?));
            }
            other => return Err(unknown_type(index, other)),
        }
        Ok(())
    }

    /// Sets work-group memory aside, aligned as any type of that size may need.
    fn reserve_local(&mut self, size: usize) -> Result<usize> {
        let align = (1usize << size.trailing_zeros().min(31)).min(LOCAL_ALIGNMENT);
        let placed = self
            .dynamic_shared
            .checked_next_multiple_of(align)
            .and_then(|start| Some((start, start.checked_add(size)?)));
        let (start, end) = placed.ok_or_else(|| {
            Error::new(ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "the local arguments overflow")
        })?;
        self.dynamic_shared = end;
        Ok(start)
    }

    /// Points the list at the values, which do not move any more.
    fn place_values(&mut self) {
        for (index, value) in &self.values {
            self.pointers[*index] = core::ptr::from_ref(value).cast();
        }
    }

    fn add_offset(&mut self, offset: [usize; 3]) -> Result<()> {
        for (narrow, wide) in self.offset.iter_mut().zip(offset) {
            *narrow = u32::try_from(wide).map_err(|_| {
                Error::new(
                    ur_result_t::ERROR_INVALID_VALUE,
                    format!("a global offset of {wide} does not fit the 32 bits that kernels take"),
                )
            })?;
        }
        // The list is used through `native`, which points the last entry at `offset` where it then lies.
        self.pointers.push(core::ptr::null());
        Ok(())
    }

    /// The list for the native call, valid while `self` neither moves nor changes.
    fn native(&mut self, hidden_offset: bool) -> *const *const c_void {
        self.place_values();
        if hidden_offset && let Some(last) = self.pointers.last_mut() {
            *last = self.offset.as_ptr().cast();
        }
        self.pointers.as_ptr()
    }
}

#[cold]
fn too_small(index: usize, given: usize, wanted: Option<usize>) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        format!("argument {index} has {given} bytes; the kernel takes {}", wanted.unwrap_or(0)),
    )
}

#[cold]
fn unknown_type(index: usize, found: ur_exp_kernel_arg_type_t) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_ENUMERATION, format!("argument {index} has the unknown type {:#x}", found.0))
}

fn limits<D: Driver>(queue: &Queue<D>, kernel: &DeviceKernel<D>) -> Limits {
    let properties = &queue.device.device.properties;
    Limits { threads: kernel.attributes.max_threads_per_block, block: properties.max_block, grid: properties.max_grid }
}

/// Cooperative launches and extension structures are not there yet; a hint may be ignored.
///
/// # Safety
/// `list` is null or valid.
unsafe fn check_properties(list: *const ur_kernel_launch_ext_properties_t) -> Result<()> {
    // SAFETY: null or valid by the caller's promise.
    let Some(properties) = (unsafe { list.as_ref() }) else { return Ok(()) };
    known_flags("launchPropList", properties.flags.bits(), ur_ffi::UR_KERNEL_LAUNCH_FLAGS_MASK)?;
    if properties.flags.contains(ur_kernel_launch_flags_t::COOPERATIVE) {
        return Err(Error::unsupported("a cooperative launch"));
    }
    if !properties.pNext.is_null() {
        return Err(Error::unsupported("an extension structure behind launchPropList"));
    }
    Ok(())
}

/// Lets a function use more work-group memory than every device gives, up to what this one can.
fn allow_local<D: Driver>(queue: &Queue<D>, kernel: &DeviceKernel<D>, raw: D::Function, bytes: usize) -> Result<()> {
    let properties = &queue.device.device.properties;
    let total = bytes.saturating_add(kernel.attributes.static_shared);
    if total <= properties.shared_per_block {
        return Ok(());
    }
    if total > properties.shared_per_block_optin {
        return Err(Error::new(
            ur_result_t::ERROR_OUT_OF_RESOURCES,
            format!("{total} bytes of work-group memory; the device has {}", properties.shared_per_block_optin),
        ));
    }
    let _scope = queue.device.enter()?;
    queue.device.driver.allow_dynamic_shared(raw, bytes)
}

/// `urEnqueueKernelLaunchWithArgsExp`.
///
/// # Safety
/// The C contract: lists hold as many entries as their counts say, values are readable for their sizes.
///
/// # Errors
/// As the spec lists; the message names argument or dimension.
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
    let queue: &Queue<D> = request.queue;
    // SAFETY: as above.
    let kernel = unsafe { borrow::<Kernel<D>>(kernel) }?.on(&queue.device.device)?;
    // SAFETY: as above.
    let arguments = unsafe { argument_list(NAME, count, arguments) }?;
    // SAFETY: as above.
    unsafe { check_properties(properties) }?;
    // SAFETY: the sizes hold `dimensions` values by the caller's promise.
    let (offset, global, local) = unsafe {
        (read_sizes(dimensions, offset, 0)?, read_sizes(dimensions, global, 1)?, read_sizes(dimensions, local, 1)?)
    };
    let global = GlobalSize::new(global.ok_or_else(|| null_pointer(NAME))?)?;
    let offset = offset.filter(|offset| *offset != [0; 3]);
    let function = match offset {
        None => &kernel.plain,
        Some(_) => kernel.with_offset.as_ref().ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_OPERATION,
                format!("{NAME}: a global offset needs the kernel's `_with_offset` variant, which the program lacks"),
            )
        })?,
    };
    let limits = limits(queue, kernel);
    let (grid, block) = match local {
        Some(local) => global.with_local(local, &limits)?,
        None => global.suggest(kernel.suggested_block, &limits)?,
    };
    let mut list = Arguments::default();
    let mut images = ImageArguments::new(request.queue);
    list.fill(arguments, function, offset, &mut images)?;
    let dynamic_shared = list.dynamic_shared;
    if dynamic_shared > 0 {
        allow_local(queue, kernel, function.raw, dynamic_shared)?;
    }
    // Not above the device's limit, so it fits.
    let shape = shape(grid, block, dynamic_shared as u32);
    let raw = function.raw;
    let native = list.native(offset.is_some());
    submit(&request, |driver, stream| {
        images.bring(stream)?;
        // SAFETY: `native` has an entry for every parameter; values of the caller's are readable for the
        // parameters' sizes, the others lie in `list`, which outlives the call.
        unsafe { driver.launch(raw, shape, stream, native) }?;
        images.launched();
        Ok(())
    })
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
    _offset: *const usize,
    global: *const usize,
    out: *mut usize,
) -> Result<()> {
    const NAME: &str = "urKernelGetSuggestedLocalWorkSize";
    // SAFETY: the caller's promises are the same.
    let (kernel, queue) = unsafe { (borrow::<Kernel<D>>(kernel)?, borrow::<Queue<D>>(queue)?) };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    let kernel = kernel.on(&queue.device.device)?;
    // SAFETY: holds `dimensions` values by the caller's promise.
    let global = unsafe { read_sizes(dimensions, global, 1) }?.ok_or_else(|| null_pointer(NAME))?;
    let (_, block) = GlobalSize::new(global)?.suggest(kernel.suggested_block, &limits(queue, kernel))?;
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
