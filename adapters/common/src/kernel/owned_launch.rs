//! A launch that is kept: its arguments' values, copied when it was enqueued.
//!
//! Values are copied by the sizes that the function's parameters have, or, where the library does not tell them, by those
//! that the caller gave. Must not look at an argument again after that: the application may have changed it.

use core::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t};

use crate::context::DeviceState;
use crate::driver::{Driver, LaunchShape};
use crate::kernel::argument_list::INLINE_ARGUMENTS;
use crate::kernel::careful_launch::CarefulLaunch;
use crate::kernel::launch_properties::LaunchProperties;
use crate::object::error::Result;
use crate::program::Module;

/// Bytes of a global offset, the parameter that callers do not give.
const OFFSET_SIZE: usize = 3 * size_of::<u32>();

/// How large the values of a launch's list are.
#[derive(Clone, Copy)]
pub(super) struct ValueSizes<'a> {
    /// As the function has them, where the library tells.
    parameters: Option<&'a [usize]>,
    given: &'a [ur_exp_kernel_arg_properties_t],
    /// Parameters behind the given ones.
    hidden: usize,
}

impl<'a> ValueSizes<'a> {
    /// Those of a list with an entry for each argument that is given, and for the hidden ones behind.
    #[inline(always)]
    pub fn new(parameters: Option<&'a [usize]>, given: &'a [ur_exp_kernel_arg_properties_t], hidden: usize) -> Self {
        Self { parameters, given, hidden }
    }

    fn count(&self) -> usize {
        self.given.len() + self.hidden
    }

    fn of(&self, index: usize) -> usize {
        if let Some(size) = self.parameters.and_then(|parameters| parameters.get(index)) {
            return *size;
        }
        match self.given.iter().find(|argument| argument.index as usize == index) {
            Some(argument) if argument.type_ == ur_exp_kernel_arg_type_t::VALUE => argument.size,
            // Pointers, and what stands for other things, are stored as one word.
            Some(_) => size_of::<usize>(),
            None => OFFSET_SIZE,
        }
    }
}

/// The values themselves, each at a multiple of the largest alignment that a parameter has.
pub(super) struct OwnedValues {
    units: Vec<u128>,
    /// Where each begins, in units.
    begins: Vec<usize>,
    /// Bytes of each.
    sizes: Vec<usize>,
}

impl OwnedValues {
    /// Copies the values of a list.
    ///
    /// # Safety
    /// `list` has an entry for every value that `sizes` knows, each readable for that size.
    pub unsafe fn copy(list: *const *const c_void, sizes: ValueSizes<'_>) -> Self {
        let sizes: Vec<usize> = (0..sizes.count()).map(|index| sizes.of(index)).collect();
        let (mut begins, mut end) = (Vec::with_capacity(sizes.len()), 0);
        for size in &sizes {
            begins.push(end);
            end += size.div_ceil(size_of::<u128>());
        }
        let mut units = vec![0_u128; end];
        for (index, (begin, size)) in begins.iter().zip(&sizes).enumerate() {
            // SAFETY: the caller's promise; the units from `begin` on have room for `size` bytes.
            unsafe {
                let value = list.add(index).read().cast::<u8>();
                units[*begin..].as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(value, *size);
            }
        }
        Self { units, begins, sizes }
    }

    /// Makes a value of a word another one.
    pub fn set(&mut self, index: usize, value: usize) {
        // One that has no bytes is not there.
        if self.sizes[index] > 0 {
            self.units[self.begins[index]] = value as u128;
        }
    }

    /// The list of their addresses.
    pub fn pointers(&self) -> SmallVec<[*const c_void; INLINE_ARGUMENTS]> {
        self.begins.iter().map(|begin| self.units[*begin..].as_ptr().cast()).collect()
    }

    /// How large they are.
    pub fn sizes(&self) -> ValueSizes<'_> {
        ValueSizes { parameters: Some(&self.sizes), given: &[], hidden: self.sizes.len() }
    }
}

/// The launch.
pub(super) struct OwnedLaunch<D: Driver> {
    /// What keeps the function loaded.
    pub module: Arc<Module<D>>,
    pub function: D::Function,
    pub shape: LaunchShape,
    pub values: OwnedValues,
    pub properties: Option<LaunchProperties>,
}

impl<D: Driver> OwnedLaunch<D> {
    /// Makes the native call.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn launch(&self, device: &DeviceState<D>, stream: &D::Stream) -> Result<()> {
        let (list, sizes) = (self.values.pointers(), self.values.sizes());
        let Self { module, function, shape, properties, .. } = self;
        let (function, shape, properties) = (*function, *shape, properties.as_ref());
        let launch = CarefulLaunch { module, device, properties, function, shape, arguments: list.as_ptr(), sizes };
        launch.launch(device.driver, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(type_: ur_exp_kernel_arg_type_t, index: u32, size: usize) -> ur_exp_kernel_arg_properties_t {
        ur_exp_kernel_arg_properties_t { type_, index, size, ..Default::default() }
    }

    /// What a list of two values and an offset becomes; the values are overwritten before they are read.
    fn copied(parameters: Option<&[usize]>) -> (Vec<u8>, u64, [u32; 3]) {
        let given =
            [argument(ur_exp_kernel_arg_type_t::POINTER, 1, 0), argument(ur_exp_kernel_arg_type_t::VALUE, 0, 20)];
        let (mut struct_, mut pointer, mut offset) = ([7_u8; 20], 5_u64, [1_u32, 2, 3]);
        let list: [*const c_void; 3] =
            [(&raw const struct_).cast(), (&raw const pointer).cast(), (&raw const offset).cast()];
        // SAFETY: three values of these sizes.
        let values = unsafe { OwnedValues::copy(list.as_ptr(), ValueSizes::new(parameters, &given, 1)) };
        (struct_, pointer, offset) = ([0; 20], 0, [0; 3]);
        assert_eq!((struct_[0], pointer, offset), (0, 0, [0; 3]));
        let pointers = values.pointers();
        // SAFETY: the copies of those values.
        unsafe {
            let bytes = core::slice::from_raw_parts(pointers[0].cast::<u8>(), values.sizes[0]).to_vec();
            (bytes, pointers[1].cast::<u64>().read(), pointers[2].cast::<[u32; 3]>().read())
        }
    }

    #[test]
    fn values_are_copied_by_the_parameters_sizes_or_else_by_the_callers() {
        assert_eq!(copied(Some(&[18, 8, 12])), (vec![7; 18], 5, [1, 2, 3]));
        assert_eq!(copied(None), (vec![7; 20], 5, [1, 2, 3]));
    }
}
