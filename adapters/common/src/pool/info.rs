//! What a pool tells about itself, and what of it can be set.

use core::ffi::c_void;

use ur_ffi::{
    UR_EXP_USM_POOL_REUSE_FLAGS_MASK, ur_exp_usm_pool_reuse_flags_t, ur_result_t, ur_usm_pool_handle_t,
    ur_usm_pool_info_t as info,
};

use crate::driver::{Driver, PoolAttribute};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::settings::Reuse;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::pool::UsmPool;

/// `urUSMPoolGetInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property; what the native library answers.
pub unsafe fn get<D: Driver>(
    pool: ur_usm_pool_handle_t,
    property: info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (pool, writer) =
        unsafe { (borrow::<UsmPool<D>>(pool)?, InfoWriter::new("urUSMPoolGetInfo", size, value, size_out)?) };
    tell(pool, property, &writer)
}

/// `urUSMPoolGetInfoExp`, which is told no size: the caller's buffer is as large as the value.
///
/// # Safety
/// `value` is null or writable for the property's value, `size_out` null or writable.
///
/// # Errors
/// As [`get`].
pub unsafe fn get_exp<D: Driver>(
    pool: ur_usm_pool_handle_t,
    property: info,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    let size = if value.is_null() { 0 } else { usize::MAX };
    // SAFETY: the caller's promises are the same; the buffer is large enough for any value by the C contract.
    let (pool, writer) =
        unsafe { (borrow::<UsmPool<D>>(pool)?, InfoWriter::new("urUSMPoolGetInfoExp", size, value, size_out)?) };
    tell(pool, property, &writer)
}

fn tell<D: Driver>(pool: &Object<UsmPool<D>>, property: info, writer: &InfoWriter) -> Result<()> {
    match property {
        info::REFERENCE_COUNT => writer.value(pool.references() + u32::from(pool.is_default())),
        info::CONTEXT => writer.value(pool.context().map_or(core::ptr::null_mut(), |context| context.handle())),
        info::RELEASE_THRESHOLD_EXP => writer.value(pool.made.lock().threshold),
        info::MAXIMUM_SIZE_EXP => {
            writer.value(pool.settings.buffer.map_or(pool.settings.max_size, |buffer| buffer.size))
        }
        info::RESERVED_CURRENT_EXP => writer.value(sum(pool, |one| one.reserved(PoolAttribute::ReservedCurrent))?),
        info::RESERVED_HIGH_EXP => writer.value(sum(pool, |one| one.reserved(PoolAttribute::ReservedHigh))?),
        info::USED_CURRENT_EXP => writer.value(sum(pool, PoolBackend::used)?),
        info::USED_HIGH_EXP => writer.value(sum(pool, PoolBackend::used_high)?),
        info::REUSE_POLICY_EXP => writer.value(pool.made.lock().reuse.0),
        info::PEERS_EXP => writer.array(&pool.settings.peers.iter().map(|peer| peer.handle()).collect::<Vec<_>>()),
        _ => writer.unknown(property.0),
    }
}

fn sum<D: Driver>(pool: &UsmPool<D>, figure: impl Fn(&PoolBackend<D>) -> Result<u64>) -> Result<usize> {
    let mut total = 0;
    for source in pool.sources() {
        total += figure(&source)?;
    }
    Ok(usize::try_from(total).unwrap_or(usize::MAX))
}

/// `urUSMPoolSetInfoExp`.
///
/// # Safety
/// `value` is readable for `size` bytes.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_SIZE` for a size that is not the property's; `INVALID_VALUE` for a high-water mark
/// set to anything but 0; `UNSUPPORTED_ENUMERATION` for what cannot be set, `INVALID_ENUMERATION` for what is not known;
/// what the native library answers.
pub unsafe fn set<D: Driver>(
    pool: ur_usm_pool_handle_t,
    property: info,
    value: *mut c_void,
    size: usize,
) -> Result<()> {
    const NAME: &str = "urUSMPoolSetInfoExp";
    // SAFETY: the caller's promise is the same.
    let pool = unsafe { borrow::<UsmPool<D>>(pool) }?;
    if value.is_null() {
        return Err(null_pointer(NAME));
    }
    match property {
        info::RELEASE_THRESHOLD_EXP => {
            // SAFETY: readable for `size` bytes by the caller's promise.
            let bytes = unsafe { given::<usize>(NAME, value, size) }?;
            pool.change(|made| &mut made.threshold, bytes, PoolBackend::set_threshold)
        }
        info::RESERVED_HIGH_EXP | info::USED_HIGH_EXP => {
            // SAFETY: as above.
            let mark = unsafe { given::<usize>(NAME, value, size) }?;
            if mark != 0 {
                return Err(Error::new(
                    ur_result_t::ERROR_INVALID_VALUE,
                    format!("{NAME}: a high-water mark can be set to 0 alone, which makes it the current value"),
                ));
            }
            let attribute = match property {
                info::USED_HIGH_EXP => PoolAttribute::UsedHigh,
                _ => PoolAttribute::ReservedHigh,
            };
            pool.sources().iter().try_for_each(|source| source.reset_high(attribute))
        }
        info::REUSE_POLICY_EXP => {
            // SAFETY: as above.
            let reuse = unsafe { given::<ur_exp_usm_pool_reuse_flags_t>(NAME, value, size) }?;
            known_flags(NAME, reuse.bits(), UR_EXP_USM_POOL_REUSE_FLAGS_MASK)?;
            pool.change(|made| &mut made.reuse, Reuse(reuse), PoolBackend::set_reuse)
        }
        info::REFERENCE_COUNT
        | info::CONTEXT
        | info::MAXIMUM_SIZE_EXP
        | info::RESERVED_CURRENT_EXP
        | info::USED_CURRENT_EXP
        | info::PEERS_EXP => Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
            format!("{NAME}: {property:?} can be queried, not set"),
        )),
        _ => Err(Error::new(
            ur_result_t::ERROR_INVALID_ENUMERATION,
            format!("{NAME}: {:#x} is no property of this release", property.0),
        )),
    }
}

/// # Safety
/// `value` is readable for `size` bytes.
unsafe fn given<T: Copy>(name: &str, value: *const c_void, size: usize) -> Result<T> {
    if size != size_of::<T>() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: propSize is {size}; the value takes {} bytes", size_of::<T>()),
        ));
    }
    // SAFETY: readable for the type's size; nothing says that it is aligned.
    Ok(unsafe { value.cast::<T>().read_unaligned() })
}
