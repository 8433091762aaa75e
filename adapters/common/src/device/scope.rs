//! The thread's current native context (CUDA's context, HIP's device) around the few calls that need one.
//!
//! A [`Scope`] makes a device's primary context current and puts back what the thread had, on every path. Calls of hot
//! paths need no current context and must not open a scope.

use crate::driver::Driver;
use crate::object::error::Result;
use crate::sync::unlikely::unlikely;

/// While it lives, the device's primary context is current on this thread.
pub struct Scope<'d, D: Driver> {
    driver: &'d D,
    restore: Option<D::Context>,
}

impl<'d, D: Driver> Scope<'d, D> {
    /// Makes `context` current. If it is already, only the question is a native call.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enter(driver: &'d D, context: D::Context) -> Result<Self> {
        let current = driver.current_context()?;
        if current == context {
            return Ok(Self { driver, restore: None });
        }
        driver.set_context(context)?;
        Ok(Self { driver, restore: Some(current) })
    }
}

impl<D: Driver> Drop for Scope<'_, D> {
    #[inline(always)]
    fn drop(&mut self) {
        if unlikely!(self.restore.is_some()) {
            self.go_back();
        }
    }
}

impl<D: Driver> Scope<'_, D> {
    #[inline(never)]
    fn go_back(&mut self) {
        let Some(context) = self.restore.take() else { return };
        // Nobody is told of a failure, so it is tried once more: a worker that stayed in the device's context would go back there
        // from other scopes, after that context has ended.
        if self.driver.set_context(context).is_err() {
            let _ = self.driver.set_context(context);
        }
    }
}

/// A device's native context, kept alive while it lives.
pub struct Held<D: Driver> {
    driver: &'static D,
    device: D::Device,
    /// What is made current for calls that need it.
    pub primary_context: D::Context,
}

impl<D: Driver> Held<D> {
    /// Makes the native context if nothing did before.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(driver: &'static D, device: D::Device) -> Result<Self> {
        Ok(Self { driver, device, primary_context: driver.retain_context(device)? })
    }

    /// Makes it current on this thread while the scope lives.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enter(&self) -> Result<Scope<'_, D>> {
        Scope::enter(self.driver, self.primary_context)
    }
}

impl<D: Driver> Drop for Held<D> {
    fn drop(&mut self) {
        // Nobody is left to tell; the native context of a lost device cannot be released.
        // SAFETY: it was retained for this, and scopes of it have ended.
        let _ = unsafe { self.driver.release_context(self.device) };
    }
}
