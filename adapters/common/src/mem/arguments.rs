//! Memory objects as kernel arguments: a kernel gets the address of the bytes at the device it runs on.
//!
//! A kernel may leave any byte alone, so what it is given is made current whatever it says to do with it; what it may
//! write is current nowhere else afterwards.

use smallvec::SmallVec;
use ur_ffi::{ur_exp_kernel_arg_mem_obj_tuple_t, ur_mem_flags_t, ur_mem_handle_t};

use super::migration::Access;
use super::storage::Touch;
use super::{ACCESS, check_flags};
use crate::buffer_commands::object_of;
use crate::driver::Driver;
use crate::enqueue::Request;
use crate::error::Result;

/// One of a launch's arguments.
pub struct MemArgument {
    /// Which of the launch's own values takes the address.
    pub value: usize,
    mem: ur_mem_handle_t,
    access: ur_mem_flags_t,
}

impl MemArgument {
    /// An argument as the caller gives it; `None` for a null handle, whose address is null.
    ///
    /// # Errors
    /// As [`check_flags`].
    pub fn new(value: usize, argument: ur_exp_kernel_arg_mem_obj_tuple_t) -> Result<Option<Self>> {
        let (mem, access) = (argument.hMem, argument.flags);
        check_flags("a memory object as kernel argument", access)?;
        Ok((!mem.is_null()).then_some(Self { value, mem, access }))
    }
}

/// What a launch does with its memory objects, in the arguments' order.
///
/// # Safety
/// The handles are live and stay so during `'a`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`.
pub unsafe fn touches<'a, D: Driver>(
    request: &Request<'_, D>,
    arguments: &[MemArgument],
) -> Result<SmallVec<[Touch<'a, D>; 4]>> {
    let touch = |argument: &MemArgument| {
        // SAFETY: live by the caller's promise.
        let mem = unsafe { object_of::<D>(request, argument.mem) }?;
        let buffer = mem.buffer()?;
        let own = argument.access & ACCESS;
        let access = if own.is_empty() { mem.flags & ACCESS } else { own };
        let range = buffer.origin..buffer.origin + buffer.size;
        let writes = access != ur_mem_flags_t::READ_ONLY;
        Ok(Touch { storage: &*buffer.storage, access: Access { range, reads: true, writes } })
    };
    arguments.iter().map(touch).collect()
}
