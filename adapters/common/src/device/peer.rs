//! Access of one device's kernels to plain memory of another.
//!
//! The native library lets a native context at another's memory once and refuses a second time; here every enable counts,
//! and the last disable withdraws what the first enable gave. Both native contexts are kept alive in between, since
//! access ends with either. What the application enabled by itself is used and never withdrawn.

use core::ffi::c_int;

use parking_lot::Mutex;
use ur_ffi::{ur_exp_peer_info_t, ur_result_t};

use crate::device::Device;
use crate::device::adapter;
use crate::device::scope::Held;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;

/// The devices whose memory a device was let at.
pub struct Peers<D: Driver> {
    links: Mutex<Vec<Link<D>>>,
}

struct Link<D: Driver> {
    peer: D::Device,
    enables: usize,
    /// Whether the native access is ours to withdraw.
    ours: bool,
    from: Held<D>,
    to: Held<D>,
}

impl<D: Driver> Peers<D> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self { links: Mutex::new(Vec::new()) }
    }
}

impl<D: Driver> Default for Peers<D> {
    fn default() -> Self {
        Self::new()
    }
}

/// `urUsmP2PEnablePeerAccessExp`; to be undone as often as it was done.
///
/// # Errors
/// `INVALID_VALUE` for a device and itself; `UNSUPPORTED_FEATURE` where the hardware has no way; what the native library
/// answers.
pub fn enable<D: Driver>(device: &Object<Device<D>>, peer: &Object<Device<D>>) -> Result<()> {
    if device.raw == peer.raw {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            "urUsmP2PEnablePeerAccessExp: a device reaches its own memory without it; name two devices",
        ));
    }
    let mut links = device.peers.links.lock();
    if let Some(link) = links.iter_mut().find(|link| link.peer == peer.raw) {
        link.enables += 1;
        return Ok(());
    }
    let driver = adapter::driver::<D>()?;
    if !driver.can_access_peer(device.raw, peer.raw)? {
        return Err(Error::unsupported("access between these two devices (their hardware has no link)"));
    }
    let (from, to) = (Held::new(driver, device.raw)?, Held::new(driver, peer.raw)?);
    let ours = {
        let _scope = from.enter()?;
        driver.enable_peer(to.primary_context)?
    };
    links.push(Link { peer: peer.raw, enables: 1, ours, from, to });
    Ok(())
}

/// `urUsmP2PDisablePeerAccessExp`.
///
/// # Errors
/// `INVALID_OPERATION` when access is not enabled; what the native library answers, unless that is that a device is lost: access
/// ends with the native contexts then.
pub fn disable<D: Driver>(device: &Object<Device<D>>, peer: &Object<Device<D>>) -> Result<()> {
    let mut links = device.peers.links.lock();
    let index = links.iter().position(|link| link.peer == peer.raw).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_OPERATION,
            "urUsmP2PDisablePeerAccessExp: access between these devices is not enabled",
        )
    })?;
    let link = &mut links[index];
    if link.enables > 1 {
        link.enables -= 1;
        return Ok(());
    }
    if link.ours {
        let driver = adapter::driver::<D>()?;
        match link.from.enter().and_then(|_scope| driver.disable_peer(link.to.primary_context)) {
            // A native context that was lost answers nothing else, and lives as long as the link has it: so does its failure.
            Err(error) if error.is_lost_device() => {}
            disabled => disabled?,
        }
    }
    links.swap_remove(index);
    Ok(())
}

/// `urUsmP2PPeerAccessGetInfoExp`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property; what the native library answers.
pub fn get_info<D: Driver>(
    device: &Object<Device<D>>,
    peer: &Object<Device<D>>,
    property: ur_exp_peer_info_t,
    writer: InfoWriter,
) -> Result<()> {
    let driver = adapter::driver::<D>()?;
    let apart = device.raw != peer.raw;
    let can = match property {
        ur_exp_peer_info_t::UR_PEER_ACCESS_SUPPORT => apart && driver.can_access_peer(device.raw, peer.raw)?,
        ur_exp_peer_info_t::UR_PEER_ATOMICS_SUPPORT => apart && driver.has_peer_atomics(device.raw, peer.raw)?,
        _ => return writer.unknown(property.0),
    };
    writer.value(c_int::from(can))
}
