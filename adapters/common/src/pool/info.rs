//! What a pool tells about itself, and what of it can be set.

use ur_ffi::{
    UR_EXP_USM_POOL_REUSE_FLAGS_MASK, ur_exp_usm_pool_reuse_flags_t, ur_result_t, ur_usm_pool_info_t as info,
};

use crate::driver::{Driver, PoolAttribute};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::settings::Reuse;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Object, known_flags};
use crate::pool::UsmPool;

/// `urUSMPoolGetInfo` and `urUSMPoolGetInfoExp`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property; what the native library answers.
pub fn get<D: Driver>(pool: &Object<UsmPool<D>>, property: info, writer: InfoWriter) -> Result<()> {
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
    for backend in pool.backends() {
        total += figure(&backend)?;
    }
    Ok(usize::try_from(total).unwrap_or(usize::MAX))
}

/// `urUSMPoolSetInfoExp`.
///
/// # Errors
/// `INVALID_SIZE` for a size that is not the property's; `INVALID_VALUE` for a high-water mark
/// set to anything but 0; `UNSUPPORTED_ENUMERATION` for what cannot be set, `INVALID_ENUMERATION` for what is not known;
/// what the native library answers.
pub fn set<D: Driver>(pool: &Object<UsmPool<D>>, property: info, value: &[u8]) -> Result<()> {
    const NAME: &str = "urUSMPoolSetInfoExp";
    match property {
        info::RELEASE_THRESHOLD_EXP => {
            let bytes = usize::from_ne_bytes(exactly(NAME, value)?);
            pool.change(|made| &mut made.threshold, bytes, PoolBackend::set_threshold)
        }
        info::RESERVED_HIGH_EXP | info::USED_HIGH_EXP => {
            if usize::from_ne_bytes(exactly(NAME, value)?) != 0 {
                return Err(Error::new(
                    ur_result_t::ERROR_INVALID_VALUE,
                    format!("{NAME}: a high-water mark can be set to 0 alone, which makes it the current value"),
                ));
            }
            let attribute = match property {
                info::USED_HIGH_EXP => PoolAttribute::UsedHigh,
                _ => PoolAttribute::ReservedHigh,
            };
            pool.backends().iter().try_for_each(|backend| backend.reset_high(attribute))
        }
        info::REUSE_POLICY_EXP => {
            let bits = u32::from_ne_bytes(exactly(NAME, value)?);
            let reuse = ur_exp_usm_pool_reuse_flags_t::from_bits_retain(bits);
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

/// The bytes of a value of `N` bytes.
fn exactly<const N: usize>(name: &str, value: &[u8]) -> Result<[u8; N]> {
    value.try_into().map_err(|_| {
        Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: propSize is {}; the value takes {N} bytes", value.len()),
        )
    })
}
