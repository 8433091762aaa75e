//! Native contexts: what a thread has current, and which contexts reach each other's memory.
//!
//! Manuals: CUDA Driver API, Primary Context Management, Context Management and Peer Context Memory Access; HIP runtime
//! API, Device Management and PeerToPeer Device Memory Access. Whether a context is kept, and what a thread gets back, is
//! decided in [`crate::device`].

use super::{Devices, NativeName, unsupported};
use crate::object::error::Result;

/// Contexts. HIP has none: there, a device's ordinal is what a thread has current.
pub trait Contexts: Devices {
    /// What a thread has current: `CUcontext` (possibly null) / device ordinal.
    type Context: NativeName + Copy;

    /// Keeps the device's own context alive and gives it. `cuDevicePrimaryCtxRetain` / the ordinal.
    fn retain_context(&self, device: Self::Device) -> Result<Self::Context>;
    /// Undoes one [`Contexts::retain_context`]. `cuDevicePrimaryCtxRelease` / nothing.
    ///
    /// # Safety
    /// If it undoes the last one of the process, no object of the context and no copy of its name is used afterwards.
    unsafe fn release_context(&self, device: Self::Device) -> Result<()>;
    /// Whether the device's own context exists, made by this library or by somebody else in the process.
    /// `cuDevicePrimaryCtxGetState` / always.
    fn context_is_active(&self, device: Self::Device) -> Result<bool>;
    /// What the thread has current. `cuCtxGetCurrent` / `hipGetDevice`.
    fn current_context(&self) -> Result<Self::Context>;
    /// Makes a context current. `cuCtxSetCurrent` / `hipSetDevice`.
    fn set_context(&self, context: Self::Context) -> Result<()>;
    /// Blocks until all work of the device's context has finished. **Needs the context.** `cuCtxSynchronize` /
    /// `hipDeviceSynchronize`.
    fn synchronize_context(&self) -> Result<()>;

    /// Whether `device` can reach memory of `peer`. `cuDeviceCanAccessPeer`.
    fn can_access_peer(&self, _device: Self::Device, _peer: Self::Device) -> Result<bool> {
        Ok(false)
    }
    /// Whether atomic operations of `device` are native on memory of `peer`. `cuDeviceGetP2PAttribute`.
    fn has_peer_atomics(&self, _device: Self::Device, _peer: Self::Device) -> Result<bool> {
        Ok(false)
    }
    /// **Needs the context** of the device that gets access. Lets its kernels reach plain memory of the peer's context;
    /// `false` when they could already. `cuCtxEnablePeerAccess` / `hipDeviceEnablePeerAccess`.
    fn enable_peer(&self, _peer: Self::Context) -> Result<bool> {
        unsupported("access to another device's memory")
    }
    /// **Needs the context** as [`Contexts::enable_peer`], which it undoes. `cuCtxDisablePeerAccess` /
    /// `hipDeviceDisablePeerAccess`.
    fn disable_peer(&self, _peer: Self::Context) -> Result<()> {
        unsupported("access to another device's memory")
    }
}
