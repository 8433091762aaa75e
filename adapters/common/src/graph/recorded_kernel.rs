//! A kernel's launch as a command buffer keeps it: kernel, sizes and arguments with their bytes, so that each can be changed
//! later and the launch be told to the native library anew.
//!
//! Arguments are read by the function that reads them for a launch on a queue ([`crate::kernel::argument_list`]), and the
//! native list is made by the same, so what is refused there is refused here, when the command is appended or changed.

use core::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t,
    ur_exp_kernel_arg_value_t, ur_mem_flags_t,
};

use crate::context::{Context, DeviceState};
use crate::driver::Driver;
use crate::driver::graphs::KernelNode;
use crate::graph::memory_uses::{Used, foreign_memory};
use crate::image::argument::{image_value, is_written, sampler_value};
use crate::image::sampler::Sampler;
use crate::kernel::Kernel;
use crate::kernel::argument_list::{ArgumentList, ArgumentStorage, Resolved, given_twice, no_such_argument, resolve};
use crate::kernel::launch::{narrow, no_offset_variant, wrong_count};
use crate::kernel::work_size::{GlobalSize, shape};
use crate::memory_object::arguments::access_of;
use crate::memory_object::{Mem, MemBody};
use crate::object::Object;
use crate::object::error::Result;
use crate::object::params;

/// Arguments that are kept without an allocation of their own.
const INLINE_ARGUMENTS: usize = 6;
/// Bytes of values that are.
const INLINE_BYTES: usize = 64;
/// Values start at multiples of this.
const VALUE_ALIGNMENT: usize = 8;

/// The sizes of a launch; dimensions that it does not have are 1, and 0 in the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedSizes {
    /// How many dimensions the application gave.
    pub dimensions: u32,
    /// The first work-item.
    pub offset: [usize; 3],
    /// Work-items.
    pub global: [usize; 3],
    /// Work-items of a group; the engine chooses where there are none.
    pub local: Option<[usize; 3]>,
}

/// One argument.
pub enum Argument<D: Driver> {
    /// A value, a pointer among them: so many bytes behind the others.
    Bytes {
        /// Where they start.
        at: usize,
        /// How many there are.
        size: usize,
    },
    /// So much work-group memory.
    Local(usize),
    /// A memory object, or none, and what the kernel does with it.
    Memory(Option<Arc<Object<Mem<D>>>>, ur_mem_flags_t),
    /// A sampler, of which a texture is made together with the image before it.
    Sampler(Arc<Object<Sampler<D>>>),
}

impl<D: Driver> Clone for Argument<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Bytes { at, size } => Self::Bytes { at: *at, size: *size },
            Self::Local(size) => Self::Local(*size),
            Self::Memory(mem, flags) => Self::Memory(mem.clone(), *flags),
            Self::Sampler(sampler) => Self::Sampler(Arc::clone(sampler)),
        }
    }
}

impl<D: Driver> Argument<D> {
    /// The memory object, or none, or the sampler that an argument names.
    fn of_object(argument: &ur_exp_kernel_arg_properties_t) -> Result<Self> {
        // SAFETY: the tag says what the union holds, and C owes the handle to be alive, or null if it is a memory object's.
        unsafe {
            if argument.type_ == ur_exp_kernel_arg_type_t::SAMPLER {
                let sampler = params::handle::<Sampler<D>>("a sampler as kernel argument", argument.value.sampler)?;
                return Ok(Self::Sampler(sampler.to_arc()));
            }
            let object = argument.value.memObjTuple;
            let mem = params::optional_handle::<Mem<D>>("a memory object as kernel argument", object.hMem)?;
            Ok(Self::Memory(mem.map(Object::to_arc), object.flags))
        }
    }
}

/// The arguments of a launch, by index.
pub struct Arguments<D: Driver> {
    list: SmallVec<[Option<Argument<D>>; INLINE_ARGUMENTS]>,
    bytes: SmallVec<[u8; INLINE_BYTES]>,
}

impl<D: Driver> Clone for Arguments<D> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), bytes: SmallVec::from_slice(&self.bytes) }
    }
}

impl<D: Driver> Arguments<D> {
    /// Reads the application's arguments; `sizes` are those of the function's parameters, where they are known.
    ///
    /// # Errors
    /// As a launch's.
    pub fn read(arguments: &[ur_exp_kernel_arg_properties_t], sizes: Option<&[usize]>) -> Result<Self> {
        let mut read = Self { list: SmallVec::new(), bytes: SmallVec::new() };
        // A wrong index must not decide how much is allocated.
        let most = sizes.map_or(arguments.len(), <[usize]>::len);
        for argument in arguments {
            let index = argument.index as usize;
            if index >= most {
                return Err(no_such_argument(index, most));
            }
            if read.list.get(index).is_some_and(Option::is_some) {
                return Err(given_twice(index));
            }
            let size = sizes.map(|sizes| sizes[index]);
            match resolve(argument, size)? {
                Resolved::Address(value) => {
                    let is_pointer = argument.type_ == ur_exp_kernel_arg_type_t::POINTER;
                    let size = if is_pointer { size_of::<usize>() } else { argument.size };
                    // SAFETY: C owes a value to be readable for the argument's size during the call; a pointer lies in the
                    // argument itself.
                    read.set_bytes(index, unsafe { core::slice::from_raw_parts(value.cast(), size) });
                }
                Resolved::Local(size) => read.set(index, Argument::Local(size)),
                Resolved::Object => read.set(index, Argument::of_object(argument)?),
            }
        }
        Ok(read)
    }

    /// Makes an argument a value.
    pub fn set_bytes(&mut self, index: usize, value: &[u8]) {
        if let Some(Some(Argument::Bytes { at, size })) = self.list.get(index)
            && *size == value.len()
        {
            self.bytes[*at..*at + *size].copy_from_slice(value);
            return;
        }
        if let Some(old) = self.list.get_mut(index).and_then(Option::take) {
            drop(old);
            // Changes may come for as long as the buffer lives, and must not add up.
            self.close_gaps();
        }
        let at = self.bytes.len().next_multiple_of(VALUE_ALIGNMENT);
        self.bytes.resize(at, 0);
        self.bytes.extend_from_slice(value);
        self.set(index, Argument::Bytes { at, size: value.len() });
    }

    /// Lets go of bytes that no argument has any more.
    #[cold]
    fn close_gaps(&mut self) {
        let old = core::mem::take(&mut self.bytes);
        for argument in self.list.iter_mut().flatten() {
            if let Argument::Bytes { at, size } = argument {
                let start = self.bytes.len().next_multiple_of(VALUE_ALIGNMENT);
                self.bytes.resize(start, 0);
                self.bytes.extend_from_slice(&old[*at..*at + *size]);
                *at = start;
            }
        }
    }

    /// Makes an argument something else. The index is below the number of the kernel's parameters.
    pub fn set(&mut self, index: usize, argument: Argument<D>) {
        if index >= self.list.len() {
            self.list.resize_with(index + 1, || None);
        }
        self.list[index] = Some(argument);
    }

    /// How many there are, up to the last one that was given.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Takes what another kernel's arguments lack from these.
    pub fn fill_gaps_of(&self, other: &mut Self, most: usize) {
        for (index, argument) in self.list.iter().enumerate().take(most) {
            if other.list.get(index).is_some_and(Option::is_some) {
                continue;
            }
            match argument {
                Some(Argument::Bytes { at, size }) => other.set_bytes(index, &self.bytes[*at..*at + *size]),
                Some(argument) => other.set(index, argument.clone()),
                None => {}
            }
        }
    }

    /// As the application would give them to a launch.
    fn described(&self) -> SmallVec<[ur_exp_kernel_arg_properties_t; INLINE_ARGUMENTS]> {
        let given = self.list.iter().enumerate().filter_map(|(index, argument)| Some((index, argument.as_ref()?)));
        given
            .map(|(index, argument)| {
                let (type_, size, value) = match argument {
                    Argument::Bytes { at, size } => {
                        let value = self.bytes[*at..].as_ptr().cast();
                        (ur_exp_kernel_arg_type_t::VALUE, *size, ur_exp_kernel_arg_value_t { value })
                    }
                    Argument::Local(size) => {
                        let nothing = ur_exp_kernel_arg_value_t { value: core::ptr::null() };
                        (ur_exp_kernel_arg_type_t::LOCAL, *size, nothing)
                    }
                    Argument::Memory(mem, flags) => {
                        let handle = mem.as_ref().map_or(core::ptr::null_mut(), |mem| mem.handle());
                        let tuple = ur_exp_kernel_arg_mem_obj_tuple_t { hMem: handle, flags: *flags };
                        let value = ur_exp_kernel_arg_value_t { memObjTuple: tuple };
                        (ur_exp_kernel_arg_type_t::MEM_OBJ, size_of::<usize>(), value)
                    }
                    Argument::Sampler(sampler) => {
                        let value = ur_exp_kernel_arg_value_t { sampler: sampler.handle() };
                        (ur_exp_kernel_arg_type_t::SAMPLER, size_of::<usize>(), value)
                    }
                };
                // Not above the number of a kernel's parameters.
                let index = index as u32;
                ur_exp_kernel_arg_properties_t { type_, index, size, value, ..Default::default() }
            })
            .collect()
    }

    /// The memory objects themselves.
    pub fn into_memory(self) -> impl Iterator<Item = Arc<Object<Mem<D>>>> {
        self.list.into_iter().filter_map(|argument| match argument {
            Some(Argument::Memory(mem, _)) => mem,
            _ => None,
        })
    }

    /// The memory objects, with what the kernel does with them.
    fn memory(&self) -> impl Iterator<Item = (&Object<Mem<D>>, ur_mem_flags_t)> {
        self.list.iter().filter_map(|argument| match argument {
            Some(Argument::Memory(Some(mem), flags)) => Some((&**mem, *flags)),
            _ => None,
        })
    }

    /// Writes what stands for memory objects and samplers on a device into the native list; `sizes` are those of the
    /// function's parameters, where they are known.
    #[inline]
    fn put_objects(
        &self,
        list: &mut ArgumentList<'_>,
        state: &Arc<DeviceState<D>>,
        sizes: Option<&[usize]>,
    ) -> Result<()> {
        let mut before = None;
        for (index, argument) in self.list.iter().enumerate() {
            let image_before = core::mem::take(&mut before);
            let value = match argument {
                Some(Argument::Memory(Some(mem), _)) => match &mem.body {
                    MemBody::Buffer(buffer) => buffer.storage.address_at(state)? + buffer.origin,
                    MemBody::Image(image) => {
                        before = Some(&**image);
                        image_value(image, state)?
                    }
                },
                Some(Argument::Sampler(sampler)) => {
                    let size = sizes.and_then(|sizes| sizes.get(index)).copied();
                    sampler_value(index, sampler, size, image_before, state)?
                }
                _ => continue,
            };
            list.set_value(index, value);
        }
        Ok(())
    }
}

/// A launch.
pub struct RecordedKernel<D: Driver> {
    /// The kernel, which the buffer keeps.
    pub kernel: Arc<Object<Kernel<D>>>,
    /// Its sizes.
    pub sizes: RecordedSizes,
    /// Its arguments.
    pub arguments: Arguments<D>,
}

impl<D: Driver> Clone for RecordedKernel<D> {
    fn clone(&self) -> Self {
        Self { kernel: Arc::clone(&self.kernel), sizes: self.sizes, arguments: self.arguments.clone() }
    }
}

impl<D: Driver> RecordedKernel<D> {
    /// Whether there are no work-items.
    pub fn is_empty(&self) -> bool {
        self.sizes.global.contains(&0)
    }

    /// What the launch does with the memory of buffers and with images.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for a memory object of another context.
    pub fn uses(&self, context: &Arc<Object<Context<D>>>) -> Result<SmallVec<[Used<D>; 2]>> {
        let memory = self.arguments.memory();
        memory
            .map(|(mem, flags)| {
                if !Arc::ptr_eq(&mem.context, context) {
                    return Err(foreign_memory());
                }
                Ok(match &mem.body {
                    MemBody::Buffer(buffer) => {
                        let access = access_of(buffer, mem.flags, flags).access;
                        Used::Bytes { storage: Arc::clone(&buffer.storage), access }
                    }
                    MemBody::Image(_) => Used::Image { memory: mem.to_arc(), is_written: is_written(flags) },
                })
            })
            .collect()
    }

    /// Tells the launch to `work` as the native library takes it: the node and its arguments, which are valid during the
    /// call. A global size with a dimension of 0 has neither; `None` then.
    ///
    /// # Errors
    /// As a launch's on a queue; as `work`.
    pub fn with_native<R>(
        &self,
        name: &str,
        state: &Arc<DeviceState<D>>,
        work: impl FnOnce(&KernelNode<D::Function>, *const *const c_void) -> Result<R>,
    ) -> Result<Option<R>> {
        let kernel = self.kernel.on_state(state)?;
        let RecordedSizes { offset, global, local, .. } = self.sizes;
        let has_offset = offset != [0; 3];
        let function = if has_offset {
            kernel.with_offset.as_ref().ok_or_else(|| no_offset_variant(name))?
        } else {
            &kernel.plain
        };
        let divided = if global.contains(&0) { None } else { Some(kernel.divide(GlobalSize::new(global)?, local)?) };
        let hidden = usize::from(has_offset);
        let described = self.arguments.described();
        let count =
            function.parameters.as_ref().map_or(self.arguments.count(), |sizes| sizes.len().saturating_sub(hidden));
        if described.len() != count {
            return Err(wrong_count(described.len(), count));
        }
        let mut storage = ArgumentStorage::new();
        let mut list = storage.list(count + hidden);
        let narrowed;
        if has_offset {
            narrowed = narrow(offset)?;
            list.hide(narrowed.as_ptr().cast());
        }
        list.fill(&described, function.parameters.as_deref())?;
        if list.objects {
            self.arguments.put_objects(&mut list, state, function.parameters.as_deref())?;
        }
        let Some((grid, block)) = divided else { return Ok(None) };
        let dynamic_shared = list.dynamic_shared;
        if dynamic_shared > 0 {
            kernel.allow_local(dynamic_shared)?;
        }
        // Not above the device's limit, so it fits.
        let shape = shape(grid, block, dynamic_shared as u32);
        let node = KernelNode { function: function.raw, shape, cluster: None, cooperative: false };
        work(&node, list.pointers.as_ptr()).map(Some)
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::api::noop::Noop;

    fn bytes(arguments: &Arguments<Noop>, index: usize) -> &[u8] {
        match &arguments.list[index] {
            Some(Argument::Bytes { at, size }) => &arguments.bytes[*at..*at + *size],
            _ => panic!("argument {index} is no value"),
        }
    }

    #[test]
    fn values_that_change_their_size_need_no_more_memory_however_often_they_do() {
        let mut arguments = Arguments::<Noop> { list: SmallVec::new(), bytes: SmallVec::new() };
        arguments.set_bytes(0, &[1; 8]);
        arguments.set_bytes(1, &[2; 4]);
        for round in 0..1000 {
            arguments.set_bytes(0, &vec![3; 8 + round % 3]);
            arguments.set(1, Argument::Local(64));
            arguments.set_bytes(1, &[4; 4]);
            assert_eq!((bytes(&arguments, 0), bytes(&arguments, 1)), (&vec![3; 8 + round % 3][..], &[4; 4][..]));
        }
        assert!(arguments.bytes.len() <= 32, "{} bytes for two values", arguments.bytes.len());
    }
}
