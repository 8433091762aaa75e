//! The command of a launch that is not plain, and its deferral.

use core::ffi::c_void;
use std::sync::Arc;

use crate::command::deferral::{Deferring, Owned};
use crate::command::submission::Submission;
use crate::command::{Command, Request, erased};
use crate::context::DeviceState;
use crate::driver::{Driver, LaunchShape};
use crate::kernel::argument_list::ArgumentList;
use crate::kernel::launch_properties::LaunchProperties;
use crate::kernel::owned_launch::{OwnedLaunch, OwnedValues, ValueSizes};
use crate::object::error::Result;
use crate::program::Module;
use crate::stream::capture::{Capture, Retained};

/// What a launch that is not plain is but for its arguments.
#[derive(Clone, Copy)]
pub(super) struct LaunchOf<'a, D: Driver> {
    /// What keeps the function loaded.
    pub module: &'a Arc<Module<D>>,
    pub device: &'a DeviceState<D>,
    pub properties: Option<&'a LaunchProperties>,
    pub function: D::Function,
    pub shape: LaunchShape,
    /// How large the values are.
    pub sizes: ValueSizes<'a>,
}

impl<'a, D: Driver> LaunchOf<'a, D> {
    /// With a list of arguments, which has an entry for every parameter; the driver reads through it when it is launched.
    pub fn with(&self, list: &ArgumentList<'_>) -> CarefulLaunch<'a, D> {
        let Self { module, device, properties, function, shape, sizes } = *self;
        CarefulLaunch { module, device, properties, function, shape, arguments: list.pointers.as_ptr(), sizes }
    }
}

/// A launch that is not plain. Its arguments are as those of [`fast::Launch`].
pub(super) struct CarefulLaunch<'a, D: Driver> {
    /// What keeps the function loaded.
    pub module: &'a Arc<Module<D>>,
    pub device: &'a DeviceState<D>,
    pub properties: Option<&'a LaunchProperties>,
    pub function: D::Function,
    pub shape: LaunchShape,
    pub arguments: *const *const c_void,
    /// How large the values are.
    pub sizes: ValueSizes<'a>,
}

impl<D: Driver> CarefulLaunch<'_, D> {
    /// Makes the native call.
    pub fn launch(&self, driver: &D, stream: &D::Stream) -> Result<()> {
        // Properties open a scope of their own.
        let _scope = match self.properties {
            Some(_) => None,
            None => self.device.native.enter_for_launch()?,
        };
        // SAFETY: the list is as `Launch` says.
        unsafe {
            match self.properties {
                Some(properties) => {
                    properties.launch(driver, self.device, self.function, self.shape, stream, self.arguments)
                }
                None => driver.launch(self.function, self.shape, stream, self.arguments),
            }
        }
    }

    /// The same with copies of the arguments' values.
    pub fn to_owned(&self) -> OwnedLaunch<D> {
        // SAFETY: the list is as `Launch` says.
        let values = unsafe { OwnedValues::copy(self.arguments, self.sizes) };
        let (module, properties) = (Arc::clone(self.module), self.properties.copied());
        OwnedLaunch { module, function: self.function, shape: self.shape, values, properties }
    }
}

impl<D: Driver> Command<D> for CarefulLaunch<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.launch(submission.driver(), submission.native())
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        capture.keep(Arc::clone(self.module) as Retained);
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((Box::new(self.to_owned()), ()))
    }
}

/// Submits a launch that was kept.
impl<D: Driver> Owned<D> for OwnedLaunch<D> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        let (list, sizes, device) = (self.values.pointers(), self.values.sizes(), &*request.queue.device);
        let Self { module, function, shape, properties, .. } = &*self;
        let (function, shape, properties) = (*function, *shape, properties.as_ref());
        erased::submit(
            request,
            CarefulLaunch { module, device, properties, function, shape, arguments: list.as_ptr(), sizes },
        )
    }
}
