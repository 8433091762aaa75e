//! Arguments that are set on a kernel before it is launched, as release 2026.1 does it.
//!
//! A kernel keeps what was set, values with their bytes, under a lock of its own. A launch copies it out and lets go
//! before it does anything native, so threads that set and launch one kernel never wait for a launch. There is no
//! second way to read an argument: what is set is what `urEnqueueKernelLaunchWithArgsExp` takes, checked by the same
//! function ([`crate::kernel::argument_list::resolve`]) and launched by the same ([`crate::kernel::launch::enqueue`]).

use core::ffi::c_void;

use smallvec::SmallVec;
use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t,
    ur_exp_kernel_arg_type_t, ur_exp_kernel_arg_value_t, ur_kernel_arg_local_properties_t,
    ur_kernel_arg_mem_obj_properties_t, ur_kernel_arg_pointer_properties_t, ur_kernel_arg_sampler_properties_t,
    ur_kernel_arg_value_properties_t, ur_kernel_handle_t, ur_kernel_launch_ext_properties_t, ur_mem_flags_t,
    ur_mem_handle_t, ur_queue_handle_t, ur_result_t, ur_sampler_handle_t,
};

use crate::command::Request;
use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::kernel::argument_list::{INLINE_ARGUMENTS, resolve};
use crate::kernel::launch::{Sizes, enqueue};
use crate::object::error::{Error, Result};
use crate::object::{borrow, known_flags, null_pointer};

/// Bytes of values that a launch copies without allocating.
const INLINE_BYTES: usize = 512;

/// One argument with the bytes of its value; the address of a value is filled in when it is copied.
struct SetArgument {
    raw: ur_exp_kernel_arg_properties_t,
    bytes: SmallVec<[u8; 16]>,
}

/// What was set on a kernel, by index.
#[derive(Default)]
pub struct SetArguments {
    list: Vec<SetArgument>,
}

// SAFETY: the raw pointers are the application's addresses and handles, which are only carried; no value's address is
// kept beside its bytes.
unsafe impl Send for SetArguments {}

/// What a launch copies out of a kernel: arguments whose values lie in `bytes`.
#[derive(Default)]
struct Snapshot {
    arguments: SmallVec<[ur_exp_kernel_arg_properties_t; INLINE_ARGUMENTS]>,
    bytes: SmallVec<[u8; INLINE_BYTES]>,
}

/// Values start at multiples of this: as the native library reads them byte by byte, no type needs more.
const VALUE_ALIGNMENT: usize = 16;

impl SetArguments {
    fn set(&mut self, raw: ur_exp_kernel_arg_properties_t, bytes: &[u8]) {
        let argument = SetArgument { raw, bytes: SmallVec::from_slice(bytes) };
        match self.list.binary_search_by_key(&raw.index, |argument| argument.raw.index) {
            Ok(at) => self.list[at] = argument,
            Err(at) => self.list.insert(at, argument),
        }
    }

    fn copy_to(&self, snapshot: &mut Snapshot) {
        let mut starts: SmallVec<[usize; INLINE_ARGUMENTS]> = SmallVec::new();
        for argument in &self.list {
            snapshot.arguments.push(argument.raw);
            let start = snapshot.bytes.len().next_multiple_of(VALUE_ALIGNMENT);
            if !argument.bytes.is_empty() {
                snapshot.bytes.resize(start, 0);
                snapshot.bytes.extend_from_slice(&argument.bytes);
            }
            starts.push(start);
        }
        // The bytes do not move any more.
        for (argument, start) in snapshot.arguments.iter_mut().zip(starts) {
            if argument.type_ == ur_exp_kernel_arg_type_t::VALUE {
                argument.value = ur_exp_kernel_arg_value_t { value: snapshot.bytes[start..].as_ptr().cast() };
            }
        }
    }
}

/// Checks an argument against the kernel's parameters and keeps it.
///
/// # Safety
/// A value is readable for the argument's size.
unsafe fn set<D: Driver>(kernel: &Kernel<D>, argument: ur_exp_kernel_arg_properties_t) -> Result<()> {
    let parameters = kernel.parameters();
    let size = match parameters {
        None => None,
        Some(sizes) => Some(*sizes.get(argument.index as usize).ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                format!("argument index {} of a kernel with {} arguments", argument.index, sizes.len()),
            )
        })?),
    };
    resolve(&argument, size)?;
    let bytes = if argument.type_ == ur_exp_kernel_arg_type_t::VALUE {
        // SAFETY: the tag says that the union holds the address, `resolve` that it is not null, and the caller
        // that it is readable.
        unsafe { core::slice::from_raw_parts(argument.value.value.cast::<u8>(), argument.size) }
    } else {
        &[]
    };
    kernel.arguments.lock().set(argument, bytes);
    Ok(())
}

fn described(
    index: u32,
    type_: ur_exp_kernel_arg_type_t,
    size: usize,
    value: ur_exp_kernel_arg_value_t,
) -> ur_exp_kernel_arg_properties_t {
    ur_exp_kernel_arg_properties_t { type_, index, size, value, ..Default::default() }
}

/// `urKernelSetArgValue`.
///
/// # Safety
/// The C contract: `value` is readable for `size` bytes.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_KERNEL_ARGUMENT_SIZE`, `INVALID_NULL_POINTER`.
pub unsafe fn set_value<D: Driver>(
    kernel: ur_kernel_handle_t,
    index: u32,
    size: usize,
    _properties: *const ur_kernel_arg_value_properties_t,
    value: *const c_void,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let kernel = unsafe { borrow::<Kernel<D>>(kernel) }?;
    if value.is_null() {
        return Err(null_pointer("urKernelSetArgValue"));
    }
    if size == 0 {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
            format!("urKernelSetArgValue: argument {index} has 0 bytes"),
        ));
    }
    let value = ur_exp_kernel_arg_value_t { value };
    // SAFETY: as above.
    unsafe { set(kernel, described(index, ur_exp_kernel_arg_type_t::VALUE, size, value)) }
}

/// `urKernelSetArgLocal`.
///
/// # Safety
/// The handle is the C contract's.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_KERNEL_ARGUMENT_SIZE`.
pub unsafe fn set_local<D: Driver>(
    kernel: ur_kernel_handle_t,
    index: u32,
    size: usize,
    _properties: *const ur_kernel_arg_local_properties_t,
) -> Result<()> {
    let value = ur_exp_kernel_arg_value_t { value: core::ptr::null() };
    // SAFETY: the caller's promise is the same; the argument has no value.
    unsafe { set(borrow::<Kernel<D>>(kernel)?, described(index, ur_exp_kernel_arg_type_t::LOCAL, size, value)) }
}

/// `urKernelSetArgPointer`.
///
/// # Safety
/// The handle is the C contract's.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_KERNEL_ARGUMENT_SIZE` for a parameter that is larger than a pointer.
pub unsafe fn set_pointer<D: Driver>(
    kernel: ur_kernel_handle_t,
    index: u32,
    _properties: *const ur_kernel_arg_pointer_properties_t,
    pointer: *const c_void,
) -> Result<()> {
    let value = ur_exp_kernel_arg_value_t { pointer };
    let argument = described(index, ur_exp_kernel_arg_type_t::POINTER, size_of::<usize>(), value);
    // SAFETY: the caller's promise is the same; the argument has no value.
    unsafe { set(borrow::<Kernel<D>>(kernel)?, argument) }
}

/// `urKernelSetArgMemObj`.
///
/// # Safety
/// The C contract: `properties` is null or valid, `memory` null or live.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_ENUMERATION` for unknown flags; as [`resolve`].
pub unsafe fn set_mem_obj<D: Driver>(
    kernel: ur_kernel_handle_t,
    index: u32,
    properties: *const ur_kernel_arg_mem_obj_properties_t,
    memory: ur_mem_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (kernel, properties) = unsafe { (borrow::<Kernel<D>>(kernel)?, properties.as_ref()) };
    let flags = properties.map_or(ur_mem_flags_t::READ_WRITE, |properties| properties.memoryAccess);
    known_flags("urKernelSetArgMemObj", flags.bits(), ur_ffi::UR_MEM_FLAGS_MASK)?;
    let tuple = ur_exp_kernel_arg_mem_obj_tuple_t { hMem: memory, flags };
    let value = ur_exp_kernel_arg_value_t { memObjTuple: tuple };
    // SAFETY: as above; the argument has no value.
    unsafe { set(kernel, described(index, ur_exp_kernel_arg_type_t::MEM_OBJ, size_of::<usize>(), value)) }
}

/// `urKernelSetArgSampler`.
///
/// # Safety
/// The C contract: `sampler` is live.
///
/// # Errors
/// `INVALID_NULL_HANDLE`, `INVALID_KERNEL_ARGUMENT_INDEX`; as [`resolve`].
pub unsafe fn set_sampler<D: Driver>(
    kernel: ur_kernel_handle_t,
    index: u32,
    _properties: *const ur_kernel_arg_sampler_properties_t,
    sampler: ur_sampler_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let kernel = unsafe { borrow::<Kernel<D>>(kernel) }?;
    if sampler.is_null() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_NULL_HANDLE,
            "urKernelSetArgSampler: the sampler handle is null",
        ));
    }
    let value = ur_exp_kernel_arg_value_t { sampler };
    // SAFETY: as above; the argument has no value.
    unsafe { set(kernel, described(index, ur_exp_kernel_arg_type_t::SAMPLER, size_of::<usize>(), value)) }
}

/// Lets `read` look at the arguments that are set on a kernel now, of which it may keep nothing.
pub(crate) fn with_set_arguments<D: Driver, R>(
    kernel: &Kernel<D>,
    read: impl FnOnce(&[ur_exp_kernel_arg_properties_t]) -> R,
) -> R {
    let mut snapshot = Snapshot::default();
    kernel.arguments.lock().copy_to(&mut snapshot);
    read(&snapshot.arguments)
}

/// `urEnqueueKernelLaunch`: with the arguments that are set now.
///
/// # Safety
/// The C contract of an enqueue; the sizes hold `dimensions` values.
///
/// # Errors
/// As `urEnqueueKernelLaunchWithArgsExp`; `INVALID_KERNEL_ARGS` when an argument is not set.
pub unsafe fn launch<D: Driver>(
    queue: ur_queue_handle_t,
    kernel: ur_kernel_handle_t,
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    properties: *const ur_kernel_launch_ext_properties_t,
    wait_count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueKernelLaunch";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::KERNEL_LAUNCH, wait_count, waits, event) }?;
    // SAFETY: as above.
    let kernel = unsafe { borrow::<Kernel<D>>(kernel) }?;
    let on_device = kernel.on_queue(request.queue)?;
    let mut snapshot = Snapshot::default();
    kernel.arguments.lock().copy_to(&mut snapshot);
    let sizes = Sizes { dimensions, offset, global, local };
    // SAFETY: as above; values of the arguments lie in the snapshot, which outlives the launch.
    unsafe { enqueue(NAME, &request, on_device, &sizes, &snapshot.arguments, properties) }
}
