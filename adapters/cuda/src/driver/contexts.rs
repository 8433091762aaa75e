//! Primary contexts, what a thread has current, and access among devices.
//!
//! Nothing here changes what a thread has current but the one method that is for it.

use core::ffi::{c_int, c_uint};

use ur_adapter::driver::Contexts;
use ur_adapter::object::error::Result;
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::sys::{self, CUcontext, CUdevice, CUresult};

impl Contexts for Cuda {
    type Context = CUcontext;

    fn retain_context(&self, device: CUdevice) -> Result<CUcontext> {
        let mut context = CUcontext::default();
        // SAFETY: the output is a live local; the driver checks the device.
        self.check("cuDevicePrimaryCtxRetain", unsafe {
            (self.symbols.primary_context_retain)(&raw mut context, device)
        })
        .map_err(|error| {
            match CUresult(error.native_status()) {
                // Before there is a context, the device is not lost but taken: another process has it exclusively.
                CUresult::DEVICE_UNAVAILABLE => error.with_code(ur_result_t::ERROR_DEVICE_NOT_AVAILABLE),
                _ => error,
            }
        })?;
        Ok(context)
    }

    unsafe fn release_context(&self, device: CUdevice) -> Result<()> {
        // SAFETY: the caller gives its reference up.
        self.check("cuDevicePrimaryCtxRelease", unsafe { (self.symbols.primary_context_release)(device) })
    }

    fn context_is_active(&self, device: CUdevice) -> Result<bool> {
        let (mut flags, mut active): (c_uint, c_int) = (0, 0);
        // SAFETY: both outputs are live locals.
        self.check("cuDevicePrimaryCtxGetState", unsafe {
            (self.symbols.primary_context_state)(device, &raw mut flags, &raw mut active)
        })?;
        Ok(active != 0)
    }

    fn current_context(&self) -> Result<CUcontext> {
        let mut context = CUcontext::default();
        // SAFETY: the output is a live local.
        self.check("cuCtxGetCurrent", unsafe { (self.symbols.context_current)(&raw mut context) })?;
        Ok(context)
    }

    fn set_context(&self, context: CUcontext) -> Result<()> {
        // SAFETY: a context that was current or retained before.
        self.check("cuCtxSetCurrent", unsafe { (self.symbols.context_set_current)(context) })
    }

    fn synchronize_context(&self) -> Result<()> {
        // SAFETY: the call has no argument.
        self.check("cuCtxSynchronize", unsafe { (self.symbols.context_synchronize)() })
    }

    fn can_access_peer(&self, device: CUdevice, peer: CUdevice) -> Result<bool> {
        let mut can: c_int = 0;
        // SAFETY: the output is a live local; the library checks both devices.
        self.check("cuDeviceCanAccessPeer", unsafe {
            (self.symbols.device_can_access_peer)(&raw mut can, device, peer)
        })?;
        Ok(can != 0)
    }

    fn has_peer_atomics(&self, device: CUdevice, peer: CUdevice) -> Result<bool> {
        let mut has: c_int = 0;
        // SAFETY: the output is a live local; the library checks both devices.
        self.check("cuDeviceGetP2PAttribute", unsafe {
            (self.symbols.peer_attribute)(&raw mut has, sys::P2P_NATIVE_ATOMICS, device, peer)
        })?;
        Ok(has != 0)
    }

    fn enable_peer(&self, peer: CUcontext) -> Result<bool> {
        // SAFETY: the peer's context is alive; flags must be 0.
        match unsafe { (self.symbols.peer_enable)(peer, 0) } {
            CUresult::PEER_ACCESS_ALREADY_ENABLED => Ok(false),
            status => self.check("cuCtxEnablePeerAccess", status).map(|()| true),
        }
    }

    fn disable_peer(&self, peer: CUcontext) -> Result<()> {
        // SAFETY: the peer's context is retained.
        self.check("cuCtxDisablePeerAccess", unsafe { (self.symbols.peer_disable)(peer) })
    }
}
