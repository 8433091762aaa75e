//! The current device, which stands for a context in HIP, and access among devices.
//!
//! Nothing here changes what a thread has current but the one method that is for it.

use core::ffi::c_int;

use ur_adapter::driver::Contexts;
use ur_adapter::driver::native::Texts as _;
use ur_adapter::object::error::Result;

use super::Hip;
use crate::sys::{HipError, Ordinal, flag};

impl Contexts for Hip {
    type Context = Ordinal;

    fn retain_context(&self, device: Ordinal) -> Result<Ordinal> {
        Ok(device)
    }

    unsafe fn release_context(&self, _device: Ordinal) -> Result<()> {
        Ok(())
    }

    fn context_is_active(&self, _device: Ordinal) -> Result<bool> {
        Ok(true)
    }

    fn current_context(&self) -> Result<Ordinal> {
        let mut device = Ordinal(0);
        // Launches come here, and where there is one device it is the answer.
        if self.has_one_device {
            return Ok(device);
        }
        // SAFETY: the output is a live local.
        self.check("hipGetDevice", unsafe { (self.symbols.device_current)(&raw mut device) })?;
        Ok(device)
    }

    fn set_context(&self, context: Ordinal) -> Result<()> {
        // SAFETY: the library checks the ordinal.
        self.check("hipSetDevice", unsafe { (self.symbols.device_set)(context) })
    }

    fn synchronize_context(&self) -> Result<()> {
        // SAFETY: the call has no argument.
        self.check("hipDeviceSynchronize", unsafe { (self.symbols.device_synchronize)() })
    }

    fn can_access_peer(&self, device: Ordinal, peer: Ordinal) -> Result<bool> {
        let mut can: c_int = 0;
        // SAFETY: the output is a live local; the library checks both devices.
        self.check("hipDeviceCanAccessPeer", unsafe {
            (self.symbols.device_can_access_peer)(&raw mut can, device, peer)
        })?;
        Ok(can != 0)
    }

    fn has_peer_atomics(&self, device: Ordinal, peer: Ordinal) -> Result<bool> {
        let mut has: c_int = 0;
        // SAFETY: the output is a live local; the library checks both devices.
        self.check("hipDeviceGetP2PAttribute", unsafe {
            (self.symbols.peer_attribute)(&raw mut has, flag::hipDevP2PAttrNativeAtomicSupported, device, peer)
        })?;
        Ok(has != 0)
    }

    fn enable_peer(&self, peer: Ordinal) -> Result<bool> {
        // SAFETY: flags must be 0.
        match unsafe { (self.symbols.peer_enable)(peer, 0) } {
            HipError::hipErrorPeerAccessAlreadyEnabled => {
                self.symbols.forget_failure();
                Ok(false)
            }
            status => self.check("hipDeviceEnablePeerAccess", status).map(|()| true),
        }
    }

    fn disable_peer(&self, peer: Ordinal) -> Result<()> {
        // SAFETY: the peer's context is retained.
        self.check("hipDeviceDisablePeerAccess", unsafe { (self.symbols.peer_disable)(peer) })
    }
}
