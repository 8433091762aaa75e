//! The objects that nearly every program makes, held so that they are given back in any case, and kernel arguments. It
//! wraps making and releasing only; work is enqueued through the table.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use ur_ffi::{
    ur_adapter_handle_t, ur_context_handle_t, ur_device_handle_t, ur_exp_kernel_arg_properties_t,
    ur_exp_kernel_arg_type_t, ur_exp_kernel_arg_value_t, ur_kernel_handle_t, ur_platform_handle_t, ur_program_handle_t,
    ur_queue_flags_t, ur_queue_handle_t, ur_queue_properties_t,
};

use crate::{Result, Ur, call};

/// A reference that is given back when this goes.
#[derive(Debug)]
pub struct Held<'u, T> {
    ur: &'u Ur,
    handle: *mut T,
    release: fn(&Ur, *mut T) -> Result<()>,
}

// SAFETY: handles may be used from every thread by the API's own rules, and `Ur` is shared by reference.
unsafe impl<T> Send for Held<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Held<'_, T> {}

impl<T> Held<'_, T> {
    /// The handle, valid while this lives.
    #[must_use]
    pub fn handle(&self) -> *mut T {
        self.handle
    }

    /// Gives the reference back now, and tells how that went.
    ///
    /// # Errors
    /// What the release answers.
    pub fn release(self) -> Result<()> {
        let this = std::mem::ManuallyDrop::new(self);
        (this.release)(this.ur, this.handle)
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        // Nobody is left to be told; whoever cares calls `release`.
        let _ = (self.release)(self.ur, self.handle);
    }
}

macro_rules! held {
    ($ur:expr, $handle:expr, $table:ident) => {
        Held {
            ur: $ur,
            handle: $handle,
            release: |ur, handle| {
                // SAFETY: the one reference that the `Held` owns, released once.
                unsafe { call!(ur, $table.pfnRelease(handle)) }
            },
        }
    };
}

/// A device, with the adapter and platform it was listed by.
#[derive(Debug)]
pub struct Listed<'u> {
    /// The adapter, without a reference.
    pub adapter: ur_adapter_handle_t,
    /// The platform.
    pub platform: ur_platform_handle_t,
    /// The device.
    pub device: Held<'u, ur_ffi::ur_device_handle_t_>,
}

impl Ur {
    /// Every device of every platform of these adapters.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn all_devices(&self, adapters: &[ur_adapter_handle_t]) -> Result<Vec<Listed<'_>>> {
        let mut all = Vec::new();
        for &adapter in adapters {
            for platform in self.platforms(adapter)? {
                let devices = self.devices(platform)?;
                all.extend(devices.into_iter().map(|device| Listed {
                    adapter,
                    platform,
                    device: held!(self, device, Device),
                }));
            }
        }
        Ok(all)
    }

    /// Adapters, each held; [`adapters`](Self::adapters) gives the bare handles.
    #[must_use]
    pub fn hold_adapters(&self, handles: &[ur_adapter_handle_t]) -> Vec<Held<'_, ur_ffi::ur_adapter_handle_t_>> {
        handles.iter().map(|&handle| held!(self, handle, Adapter)).collect()
    }

    /// `urContextCreate` over these devices.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn context(&self, devices: &[ur_device_handle_t]) -> Result<Held<'_, ur_ffi::ur_context_handle_t_>> {
        let mut context: ur_context_handle_t = null_mut();
        // SAFETY: live devices; the list has the length given.
        unsafe {
            call!(self, Context.pfnCreate(devices.len() as u32, devices.as_ptr(), std::ptr::null(), &raw mut context))
        }?;
        Ok(held!(self, context, Context))
    }

    /// `urQueueCreate`.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn queue(
        &self,
        context: ur_context_handle_t,
        device: ur_device_handle_t,
        flags: ur_queue_flags_t,
    ) -> Result<Held<'_, ur_ffi::ur_queue_handle_t_>> {
        let properties = ur_queue_properties_t { flags, ..Default::default() };
        let mut queue: ur_queue_handle_t = null_mut();
        // SAFETY: live handles; the properties live through the call.
        unsafe { call!(self, Queue.pfnCreate(context, device, &raw const properties, &raw mut queue)) }?;
        Ok(held!(self, queue, Queue))
    }

    /// `urProgramCreateWithBinary` and `urProgramBuild` for one device.
    ///
    /// # Errors
    /// What the adapter answers; nothing is left behind.
    pub fn program(
        &self,
        context: ur_context_handle_t,
        device: ur_device_handle_t,
        image: &[u8],
    ) -> Result<Held<'_, ur_ffi::ur_program_handle_t_>> {
        let (mut device, mut length, mut bytes) = (device, image.len(), image.as_ptr());
        let mut program: ur_program_handle_t = null_mut();
        // SAFETY: lists of one element each; the image has the length given.
        unsafe {
            call!(
                self,
                Program.pfnCreateWithBinary(
                    context,
                    1,
                    &raw mut device,
                    &raw mut length,
                    &raw mut bytes,
                    std::ptr::null(),
                    &raw mut program
                )
            )
        }?;
        let program = held!(self, program, Program);
        // SAFETY: a live program of this context; the options are a C string.
        unsafe { call!(self, Program.pfnBuild(context, program.handle, c"".as_ptr())) }?;
        Ok(program)
    }

    /// `urKernelCreate`.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn kernel(&self, program: ur_program_handle_t, name: &CStr) -> Result<Held<'_, ur_ffi::ur_kernel_handle_t_>> {
        let mut kernel: ur_kernel_handle_t = null_mut();
        // SAFETY: a live, built program; the name is a C string.
        unsafe { call!(self, Kernel.pfnCreate(program, name.as_ptr(), &raw mut kernel)) }?;
        Ok(held!(self, kernel, Kernel))
    }

    /// `urQueueFinish`.
    ///
    /// # Errors
    /// What the adapter answers.
    pub fn finish(&self, queue: ur_queue_handle_t) -> Result<()> {
        // SAFETY: a live queue, by the caller's word.
        unsafe { call!(self, Queue.pfnFinish(queue)) }
    }
}

/// A kernel argument that is passed by value; the value must outlive the launch call.
#[must_use]
pub fn value_argument<T: Copy>(index: u32, value: &T) -> ur_exp_kernel_arg_properties_t {
    ur_exp_kernel_arg_properties_t {
        type_: ur_exp_kernel_arg_type_t::VALUE,
        index,
        size: size_of::<T>(),
        value: ur_exp_kernel_arg_value_t { value: std::ptr::from_ref(value).cast() },
        ..Default::default()
    }
}

/// A kernel argument that is an address of USM memory.
#[must_use]
pub fn pointer_argument(index: u32, pointer: *const c_void) -> ur_exp_kernel_arg_properties_t {
    ur_exp_kernel_arg_properties_t {
        type_: ur_exp_kernel_arg_type_t::POINTER,
        index,
        size: size_of::<*const c_void>(),
        value: ur_exp_kernel_arg_value_t { pointer },
        ..Default::default()
    }
}
