//! The native library's pool behind a pool.
//!
//! It is lent: the pool keeps it, and whoever allocates from it natively sees to the order and to the frees. What is taken so is
//! in none of the pool's figures but what it holds.

use ur_ffi::{ur_native_handle_t, ur_result_t, ur_usm_type_t};

use crate::device::Device;
use crate::driver::{Driver, MemoryKind, NativeName};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::pool::UsmPool;

/// The kind of memory that a type names.
pub(super) fn kind_of(memory: ur_usm_type_t) -> Option<MemoryKind> {
    match memory {
        ur_usm_type_t::HOST => Some(MemoryKind::Host),
        ur_usm_type_t::DEVICE => Some(MemoryKind::Device),
        ur_usm_type_t::SHARED => Some(MemoryKind::Shared),
        _ => None,
    }
}

/// `urUSMPoolGetNativeHandleExt`: the native pool of that kind on that device, made now if nothing needed it before.
///
/// # Errors
/// `INVALID_VALUE` for a type that names no kind; `INVALID_DEVICE`; `UNSUPPORTED_FEATURE` where no native pool stands behind the
/// pool; as [`UsmPool::backend`].
pub fn get<D: Driver>(
    pool: &Object<UsmPool<D>>,
    device: &Object<Device<D>>,
    memory: ur_usm_type_t,
    out: Out<'_, ur_native_handle_t>,
) -> Result<()> {
    const NAME: &str = "urUSMPoolGetNativeHandleExt";
    let kind = kind_of(memory).ok_or_else(|| {
        let message = format!("{NAME}: memType is {:#x}; it names host, device or shared memory", memory.0);
        Error::new(ur_result_t::ERROR_INVALID_VALUE, message)
    })?;
    let context = pool.context().ok_or(ur_result_t::ERROR_INVALID_CONTEXT)?;
    context.check_member(device)?;
    pool.check_device(NAME, device)?;
    let backend = pool.backend(kind, &*context.state(device)?)?;
    let native = backend.native_pool().ok_or_else(|| {
        let what = if pool.is_over_buffer() { "memory of the application's" } else { "slabs of plain native memory" };
        Error::unsupported(&format!("{NAME}: the pool gives {kind:?} memory from {what}, and a native pool there"))
    })?;
    out.write(native.value());
    Ok(())
}
