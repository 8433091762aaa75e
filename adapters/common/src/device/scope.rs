//! The thread's current place (CUDA context, HIP device) around the few calls that need one.
//!
//! A [`Scope`] makes a device's place current and puts back what the thread had, on every path. Hot-path
//! calls need no place and must not open a scope.

use crate::driver::Driver;
use crate::object::error::Result;

/// While it lives, the device's place is current on this thread.
pub struct Scope<'d, D: Driver> {
    driver: &'d D,
    restore: Option<D::Context>,
}

impl<'d, D: Driver> Scope<'d, D> {
    /// Makes `place` current; no native call beyond the question when it is already.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enter(driver: &'d D, place: D::Context) -> Result<Self> {
        let current = driver.current_context()?;
        if current == place {
            return Ok(Self { driver, restore: None });
        }
        driver.set_context(place)?;
        Ok(Self { driver, restore: Some(current) })
    }
}

impl<D: Driver> Drop for Scope<'_, D> {
    fn drop(&mut self) {
        if let Some(place) = self.restore.take() {
            // Nothing to tell anybody: the same library accepted this place before.
            let _ = self.driver.set_context(place);
        }
    }
}

/// A device's native context, kept alive while it lives.
pub struct Held<D: Driver> {
    driver: &'static D,
    device: D::Device,
    /// What is to be made current for calls that need the device's place.
    pub place: D::Context,
}

impl<D: Driver> Held<D> {
    /// Makes the native context if nothing did before.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(driver: &'static D, device: D::Device) -> Result<Self> {
        Ok(Self { driver, device, place: driver.retain_context(device)? })
    }

    /// Makes the place current on this thread while the scope lives.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enter(&self) -> Result<Scope<'_, D>> {
        Scope::enter(self.driver, self.place)
    }
}

impl<D: Driver> Drop for Held<D> {
    fn drop(&mut self) {
        // Nobody is left to tell; the native context of a lost device cannot be released.
        // SAFETY: it was retained for this, and scopes of it have ended.
        let _ = unsafe { self.driver.release_context(self.device) };
    }
}
