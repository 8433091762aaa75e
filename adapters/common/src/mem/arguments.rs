//! Memory objects as kernel arguments: a kernel gets the address of the bytes at the device it runs on.
//!
//! A kernel may leave any byte alone, so what it is given is made current whatever it says to do with it; what it may
//! write is current nowhere else afterwards.

use smallvec::SmallVec;
use ur_ffi::{
    ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t, ur_mem_flags_t,
};

use super::migration::Access;
use super::storage::Touch;
use super::{ACCESS, Mem, check_flags};
use crate::buffer_commands::object_of;
use crate::driver::Driver;
use crate::enqueue::Request;
use crate::error::Result;

/// Checks what can be told of a memory object argument without the object.
///
/// # Errors
/// As [`check_flags`].
pub fn check(argument: &ur_exp_kernel_arg_mem_obj_tuple_t) -> Result<()> {
    check_flags("a memory object as kernel argument", argument.flags)
}

/// What a launch does with its buffers.
pub struct BufferArguments<'a, D: Driver> {
    /// Which arguments they are.
    pub indices: SmallVec<[usize; 4]>,
    /// What it does with each.
    pub touches: SmallVec<[Touch<'a, D>; 4]>,
}

/// What a launch does with its memory objects, in the arguments' order. One that is null is none: its address is null.
///
/// # Safety
/// The handles are live and stay so during `'a`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`.
pub unsafe fn of_launch<'a, D: Driver>(
    request: &Request<'_, D>,
    arguments: &[ur_exp_kernel_arg_properties_t],
) -> Result<BufferArguments<'a, D>> {
    let mut buffers = BufferArguments { indices: SmallVec::new(), touches: SmallVec::new() };
    for argument in arguments.iter().filter(|argument| argument.type_ == ur_exp_kernel_arg_type_t::MEM_OBJ) {
        // SAFETY: the tag says that the union holds handle and access.
        let object = unsafe { argument.value.memObjTuple };
        if object.hMem.is_null() {
            continue;
        }
        // SAFETY: live by the caller's promise.
        let mem = unsafe { object_of::<D>(request, object.hMem) }?;
        buffers.indices.push(argument.index as usize);
        buffers.touches.push(touch(mem, object.flags)?);
    }
    Ok(buffers)
}

fn touch<D: Driver>(mem: &Mem<D>, access: ur_mem_flags_t) -> Result<Touch<'_, D>> {
    let buffer = mem.buffer()?;
    let own = access & ACCESS;
    let access = if own.is_empty() { mem.flags & ACCESS } else { own };
    let range = buffer.origin..buffer.origin + buffer.size;
    let writes = access != ur_mem_flags_t::READ_ONLY;
    Ok(Touch { storage: &*buffer.storage, access: Access { range, reads: true, writes } })
}
