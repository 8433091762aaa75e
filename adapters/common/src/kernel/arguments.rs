//! Arguments that are set on a kernel before it is launched, as release 2026.1 does it.
//!
//! A kernel keeps what was set, values with their bytes, under a lock of its own. A launch copies it out and lets go
//! before it does anything native, so threads that set and launch one kernel never wait for a launch. There is no
//! second way to read an argument: what is set is what `urEnqueueKernelLaunchWithArgsExp` takes, checked by the same
//! function ([`crate::kernel::argument_list::resolve`]) and launched by the same ([`crate::kernel::launch::enqueue_launch`]).

use core::ffi::c_void;

use smallvec::SmallVec;
use ur_ffi::{
    ur_command_t, ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t,
    ur_exp_kernel_arg_value_t, ur_kernel_arg_local_properties_t, ur_kernel_arg_mem_obj_properties_t,
    ur_kernel_arg_pointer_properties_t, ur_kernel_arg_sampler_properties_t, ur_kernel_arg_value_properties_t,
    ur_kernel_launch_ext_properties_t, ur_mem_flags_t, ur_result_t,
};

use crate::command::Enqueue;
use crate::driver::Driver;
use crate::image::sampler::Sampler;
use crate::kernel::Kernel;
use crate::kernel::argument_list::{INLINE_ARGUMENTS, resolve};
use crate::kernel::launch::enqueue_launch;
use crate::kernel::work_size::WorkSizes;
use crate::memory_object::Mem;
use crate::object::Object;
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};

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

/// Checks an argument against the kernel's parameters and keeps it, with the bytes of its value.
fn set<D: Driver>(kernel: &Kernel<D>, argument: ur_exp_kernel_arg_properties_t, bytes: &[u8]) -> Result<()> {
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
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_KERNEL_ARGUMENT_SIZE`.
pub fn set_value<D: Driver>(
    kernel: &Object<Kernel<D>>,
    index: u32,
    _properties: Option<&ur_kernel_arg_value_properties_t>,
    bytes: &[u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
            format!("urKernelSetArgValue: argument {index} has 0 bytes"),
        ));
    }
    let value = ur_exp_kernel_arg_value_t { value: bytes.as_ptr().cast() };
    set(kernel, described(index, ur_exp_kernel_arg_type_t::VALUE, bytes.len(), value), bytes)
}

/// `urKernelSetArgLocal`.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_KERNEL_ARGUMENT_SIZE`.
pub fn set_local<D: Driver>(
    kernel: &Object<Kernel<D>>,
    index: u32,
    size: usize,
    _properties: Option<&ur_kernel_arg_local_properties_t>,
) -> Result<()> {
    let value = ur_exp_kernel_arg_value_t { value: core::ptr::null() };
    set(kernel, described(index, ur_exp_kernel_arg_type_t::LOCAL, size, value), &[])
}

/// `urKernelSetArgPointer`.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`, `INVALID_KERNEL_ARGUMENT_SIZE` for a parameter that is larger than a pointer.
pub fn set_pointer<D: Driver>(
    kernel: &Object<Kernel<D>>,
    index: u32,
    _properties: Option<&ur_kernel_arg_pointer_properties_t>,
    pointer: *const c_void,
) -> Result<()> {
    let value = ur_exp_kernel_arg_value_t { pointer };
    set(kernel, described(index, ur_exp_kernel_arg_type_t::POINTER, size_of::<usize>(), value), &[])
}

/// `urKernelSetArgMemObj`.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`; as [`resolve`].
pub fn set_mem_obj<D: Driver>(
    kernel: &Object<Kernel<D>>,
    index: u32,
    properties: Option<&ur_kernel_arg_mem_obj_properties_t>,
    memory: Option<&Object<Mem<D>>>,
) -> Result<()> {
    let flags = properties.map_or(ur_mem_flags_t::READ_WRITE, |properties| properties.memoryAccess);
    let handle = memory.map_or(core::ptr::null_mut(), Object::handle);
    let value = ur_exp_kernel_arg_value_t { memObjTuple: ur_exp_kernel_arg_mem_obj_tuple_t { hMem: handle, flags } };
    set(kernel, described(index, ur_exp_kernel_arg_type_t::MEM_OBJ, size_of::<usize>(), value), &[])
}

/// `urKernelSetArgSampler`.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_INDEX`; as [`resolve`].
pub fn set_sampler<D: Driver>(
    kernel: &Object<Kernel<D>>,
    index: u32,
    _properties: Option<&ur_kernel_arg_sampler_properties_t>,
    sampler: &Object<Sampler<D>>,
) -> Result<()> {
    let value = ur_exp_kernel_arg_value_t { sampler: sampler.handle() };
    set(kernel, described(index, ur_exp_kernel_arg_type_t::SAMPLER, size_of::<usize>(), value), &[])
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
/// # Errors
/// As `urEnqueueKernelLaunchWithArgsExp`; `INVALID_KERNEL_ARGS` when an argument is not set.
pub fn launch<D: Driver>(
    enqueue: Enqueue<'_, D>,
    kernel: &Object<Kernel<D>>,
    offset: Option<&[usize]>,
    global: &[usize],
    local: Option<&[usize]>,
    properties: Option<Chained<'_, ur_kernel_launch_ext_properties_t>>,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::KERNEL_LAUNCH);
    let on_device = kernel.on_queue(request.queue)?;
    let mut snapshot = Snapshot::default();
    kernel.arguments.lock().copy_to(&mut snapshot);
    let sizes = WorkSizes { offset, global, local };
    // Values of the arguments lie in the snapshot, which outlives the launch.
    enqueue_launch("urEnqueueKernelLaunch", &request, on_device, sizes, &snapshot.arguments, properties)
}
