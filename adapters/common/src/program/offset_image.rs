//! The image whose kernels take a global offset, for programs of SPIR-V.
//!
//! An offset is three more parameters that every function of a kernel would carry, so such kernels are a translation of their
//! own. It is made and loaded at the first launch that has an offset, on the launching thread: SYCL has deprecated them, and
//! most programs never have one. Loading code waits for kernels that run (`docs/native-facts.md`), so that launch does.
//! A program with variables in device memory has no such image: a second module would have variables of its own, so either variant of
//! each kernel is in the program's ([`spirv::compile`]).

use std::sync::Arc;

use parking_lot::Mutex;

use crate::context::DeviceState;
use crate::device::deferred::refuse_in_task;
use crate::device::relief::reclaiming;
use crate::driver::{BuildRequest, CheckedImage, Driver, SpirvTarget};
use crate::object::error::Result;
use crate::program::Module;
use crate::program::build::{LOADING, load_native};
use crate::program::il::Il;
use crate::program::spirv::{self, BuildOptions, Request, Source};

/// What such an image is made of, and the module once there is one.
pub struct OffsetImage<D: Driver> {
    sources: Vec<Source>,
    target: SpirvTarget,
    options: BuildOptions,
    /// Held while the module is made: only launches with an offset take it, and all of them need the module.
    module: Mutex<Option<Arc<Module<D>>>>,
}

impl<D: Driver> OffsetImage<D> {
    /// That of an image that was built with the words of these options.
    pub(super) fn new(il: &Il, words: &[String]) -> Self {
        Self {
            sources: il.sources(),
            target: il.target(),
            options: BuildOptions::parse(words),
            module: Mutex::new(None),
        }
    }

    /// The module, made if it is not there.
    ///
    /// # Errors
    /// As [`spirv::compile`]; what the native loader answers; `INVALID_OPERATION` in the function of a host task.
    pub fn module(&self, state: &Arc<DeviceState<D>>) -> Result<Arc<Module<D>>> {
        let mut module = match self.module.try_lock() {
            Some(module) => module,
            None => {
                // Whoever makes it may be waiting for this thread's task.
                refuse_in_task(LOADING)?;
                self.module.lock()
            }
        };
        if let Some(made) = &*module {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(self.load(state)?);
        *module = Some(Arc::clone(&made));
        Ok(made)
    }

    fn load(&self, state: &Arc<DeviceState<D>>) -> Result<Module<D>> {
        let properties = &state.device.properties;
        let product = spirv::compile(&Request {
            sources: &self.sources,
            target: self.target.clone(),
            max_threads: properties.max_threads_per_block,
            options: &self.options,
            global_offset: true,
            allows_imports: false,
        })?;
        let image = CheckedImage::new(state.driver, &product.image)?;
        let raw = reclaiming(&state.device, || {
            let mut request = BuildRequest { options: &self.options.loader, log: String::new() };
            let _scope = state.enter()?;
            load_native(state.driver, &image, &mut request)
        })?;
        Ok(Module { raw, state: Arc::clone(state), owned: true, with_offset: None })
    }
}
