//! A kernel's launch as a command buffer keeps it: kernel, sizes and arguments with their bytes, so that each can be changed
//! later and the launch be told to the native library anew.
//!
//! Every argument has its value's bytes in one place, memory objects and work-group memory too. So what the native library
//! takes is a list of addresses in these bytes, and a new value of the same size is a store ([`Arguments::bytes_of`]).
//! Anything else that changes is checked and laid out again ([`RecordedKernel::prepare`]), by the functions that check a
//! launch on a queue ([`crate::kernel::argument_list`]): what is refused there is refused here.

use core::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t,
    ur_exp_kernel_arg_value_t, ur_mem_flags_t,
};

use crate::command::graph::NodeLaunch;
use crate::context::{Context, DeviceState};
use crate::driver::{Driver, LaunchShape};
use crate::graph::memory_uses::{Used, foreign_memory};
use crate::image::argument::{image_value, is_written, sampler_value};
use crate::image::sampler::Sampler;
use crate::kernel::argument_list::{Resolved, given_twice, no_such_argument, place_local, resolve};
use crate::kernel::fast::{self, Launch};
use crate::kernel::launch::{narrow, wrong_count};
use crate::kernel::work_size::{GlobalSize, shape};
use crate::kernel::{DeviceKernel, Kernel};
use crate::memory_object::arguments::access_of;
use crate::memory_object::{Mem, MemBody};
use crate::object::Object;
use crate::object::error::Result;
use crate::object::params;
use crate::sync::unlikely::unlikely;

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

/// What an argument is.
pub enum Content<D: Driver> {
    /// A value, a pointer among them.
    Value,
    /// So much work-group memory. The value is where it starts.
    Local(usize),
    /// A memory object, or none, and what the kernel does with it. The value is its address at the buffer's device, or the number
    /// of an image there.
    Memory(Option<Arc<Object<Mem<D>>>>, ur_mem_flags_t),
    /// A sampler. The value is its bits, or the number of a texture that is made together with the image before it.
    Sampler(Arc<Object<Sampler<D>>>),
}

impl<D: Driver> Clone for Content<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Value => Self::Value,
            Self::Local(size) => Self::Local(*size),
            Self::Memory(mem, flags) => Self::Memory(mem.clone(), *flags),
            Self::Sampler(sampler) => Self::Sampler(Arc::clone(sampler)),
        }
    }
}

impl<D: Driver> Content<D> {
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

/// One argument: what it is, and where its value lies behind the others.
struct Argument<D: Driver> {
    content: Content<D>,
    at: usize,
    size: usize,
}

impl<D: Driver> Clone for Argument<D> {
    fn clone(&self) -> Self {
        Self { content: self.content.clone(), at: self.at, size: self.size }
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
                    read.set_value(index, unsafe { core::slice::from_raw_parts(value.cast(), size) });
                }
                Resolved::Local(size) => read.set(index, Content::Local(size)),
                Resolved::Object => read.set(index, Content::of_object(argument)?),
            }
        }
        Ok(read)
    }

    /// Makes an argument a value.
    pub fn set_value(&mut self, index: usize, value: &[u8]) {
        self.place(index, Content::Value, value);
    }

    /// Makes an argument something else, whose value [`RecordedKernel::prepare`] writes.
    pub fn set(&mut self, index: usize, content: Content<D>) {
        self.place(index, content, &[0; size_of::<usize>()]);
    }

    /// The bytes of an argument, if it is a value of that size: what is stored there is the argument from then on.
    #[inline]
    pub fn bytes_of(&mut self, index: usize, size: usize) -> Option<(usize, &mut [u8])> {
        match self.list.get(index) {
            Some(Some(Argument { content: Content::Value, at, size: own })) if *own == size => {
                Some((*at, self.bytes.get_mut(*at..*at + size)?))
            }
            _ => None,
        }
    }

    /// Puts bytes back that [`Arguments::bytes_of`] gave.
    pub fn put_back(&mut self, at: usize, value: &[u8]) {
        self.bytes[at..at + value.len()].copy_from_slice(value);
    }

    /// The index is below the number of the kernel's parameters.
    fn place(&mut self, index: usize, content: Content<D>, value: &[u8]) {
        if let Some(Some(old)) = self.list.get_mut(index)
            && old.size == value.len()
        {
            old.content = content;
            let at = old.at;
            return self.put_back(at, value);
        }
        if self.list.get_mut(index).and_then(Option::take).is_some() {
            // Changes may come for as long as the buffer lives, and must not add up.
            self.close_gaps();
        }
        let at = self.bytes.len().next_multiple_of(VALUE_ALIGNMENT);
        self.bytes.resize(at, 0);
        self.bytes.extend_from_slice(value);
        if index >= self.list.len() {
            self.list.resize_with(index + 1, || None);
        }
        self.list[index] = Some(Argument { content, at, size: value.len() });
    }

    /// Lets go of bytes that no argument has any more.
    #[cold]
    fn close_gaps(&mut self) {
        let old = core::mem::take(&mut self.bytes);
        for argument in self.list.iter_mut().flatten() {
            let start = self.bytes.len().next_multiple_of(VALUE_ALIGNMENT);
            self.bytes.resize(start, 0);
            self.bytes.extend_from_slice(&old[argument.at..argument.at + argument.size]);
            argument.at = start;
        }
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
            if let Some(Argument { content, at, size }) = argument {
                other.place(index, content.clone(), &self.bytes[*at..*at + *size]);
            }
        }
    }

    /// Checks every argument against the function's parameters, and writes the values of those that the engine knows.
    /// Gives the bytes of work-group memory that they need.
    fn resolve(&mut self, state: &Arc<DeviceState<D>>, sizes: Option<&[usize]>) -> Result<usize> {
        let (mut taken, mut before) = (0, None);
        for (index, argument) in self.list.iter().enumerate() {
            let image_before = core::mem::take(&mut before);
            let Some(argument) = argument else { continue };
            let value = &mut self.bytes[argument.at..argument.at + argument.size];
            let size = sizes.and_then(|sizes| sizes.get(index)).copied();
            let resolved = resolve(&described(index, argument, value), size)?;
            let word = match (&argument.content, resolved) {
                (Content::Local(_), Resolved::Local(bytes)) => {
                    let start = place_local(taken, bytes)?;
                    taken = start + bytes;
                    start
                }
                (Content::Memory(Some(mem), _), _) => match &mem.body {
                    MemBody::Buffer(buffer) => buffer.storage.address_at(state)? + buffer.origin,
                    MemBody::Image(image) => {
                        before = Some(&**image);
                        image_value(image, state)?
                    }
                },
                (Content::Sampler(sampler), _) => sampler_value(index, sampler, size, image_before, state)?,
                (Content::Memory(None, _), _) => 0,
                _ => continue,
            };
            value.copy_from_slice(&word.to_ne_bytes());
        }
        Ok(taken)
    }

    /// The memory objects themselves.
    pub fn into_memory(self) -> impl Iterator<Item = Arc<Object<Mem<D>>>> {
        self.list.into_iter().filter_map(|argument| match argument?.content {
            Content::Memory(mem, _) => mem,
            _ => None,
        })
    }

    /// The memory objects, with what the kernel does with them.
    pub(super) fn memory(&self) -> impl Iterator<Item = (&Arc<Object<Mem<D>>>, ur_mem_flags_t)> {
        self.list.iter().flatten().filter_map(|argument| match &argument.content {
            Content::Memory(Some(mem), flags) => Some((mem, *flags)),
            _ => None,
        })
    }
}

/// An argument as the application would give it to a launch; `value` are its bytes.
fn described<D: Driver>(index: usize, argument: &Argument<D>, value: &[u8]) -> ur_exp_kernel_arg_properties_t {
    let (type_, size, value) = match &argument.content {
        Content::Value => {
            let value = ur_exp_kernel_arg_value_t { value: value.as_ptr().cast() };
            (ur_exp_kernel_arg_type_t::VALUE, argument.size, value)
        }
        Content::Local(size) => {
            let nothing = ur_exp_kernel_arg_value_t { value: core::ptr::null() };
            (ur_exp_kernel_arg_type_t::LOCAL, *size, nothing)
        }
        Content::Memory(mem, flags) => {
            let handle = mem.as_ref().map_or(core::ptr::null_mut(), |mem| mem.handle());
            let tuple = ur_exp_kernel_arg_mem_obj_tuple_t { hMem: handle, flags: *flags };
            (ur_exp_kernel_arg_type_t::MEM_OBJ, size_of::<usize>(), ur_exp_kernel_arg_value_t { memObjTuple: tuple })
        }
        Content::Sampler(sampler) => {
            let value = ur_exp_kernel_arg_value_t { sampler: sampler.handle() };
            (ur_exp_kernel_arg_type_t::SAMPLER, size_of::<usize>(), value)
        }
    };
    // Not above the number of a kernel's parameters.
    ur_exp_kernel_arg_properties_t { type_, index: index as u32, size, value, ..Default::default() }
}

/// What the native library is told of a launch beside the values of its arguments.
pub struct NativeForm<D: Driver> {
    function: D::Function,
    shape: LaunchShape,
    /// The offset, for a function that takes one behind its other parameters.
    offset: Option<[u32; 3]>,
}

impl<D: Driver> Clone for NativeForm<D> {
    fn clone(&self) -> Self {
        Self { function: self.function, shape: self.shape, offset: self.offset }
    }
}

impl<D: Driver> NativeForm<D> {
    /// That of a launch that was found plain.
    pub(super) fn of(launch: &Launch<'_, D>) -> Self {
        Self { function: launch.function(), shape: launch.shape, offset: None }
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
    /// What the launch does with buffers and images.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for a memory object of another context.
    pub fn uses(&self, context: &Arc<Object<Context<D>>>) -> Result<SmallVec<[Used<D>; 2]>> {
        let memory = self.arguments.memory();
        memory
            .map(|(mem, flags)| {
                if !Arc::ptr_eq(mem.context(), context) {
                    return Err(foreign_memory());
                }
                Ok(match &mem.body {
                    MemBody::Buffer(buffer) => {
                        let access = access_of(buffer, mem.flags, flags).access;
                        Used::Bytes { storage: Arc::clone(&buffer.storage), access }
                    }
                    MemBody::Image(_) => Used::Image { memory: Arc::clone(mem), is_written: is_written(flags) },
                })
            })
            .collect()
    }

    /// Whether it does the same with the same memory objects as another launch.
    pub fn has_same_memory(&self, other: &Self) -> bool {
        let mut others = other.arguments.memory();
        let is_same =
            |(mem, flags): (&Arc<_>, _)| others.next().is_some_and(|(one, own)| Arc::ptr_eq(mem, one) && flags == own);
        self.arguments.memory().all(is_same) && others.next().is_none()
    }

    /// The memory objects of its arguments.
    pub fn memory(&self) -> impl Iterator<Item = &Arc<Object<Mem<D>>>> {
        self.arguments.memory().map(|(mem, _)| mem)
    }

    /// Makes the memory of its arguments at the device, for which the native library can wait, before anything is locked.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn make_memory(&self, state: &Arc<DeviceState<D>>) -> Result<()> {
        self.memory().try_for_each(|mem| mem.make_at(state))
    }

    /// Checks the launch and gives its native form, which holds until something but a value changes. `None` for a global
    /// size with a dimension of 0: there is nothing to launch.
    ///
    /// # Errors
    /// As a launch's on a queue.
    pub fn prepare(&mut self, name: &str, state: &Arc<DeviceState<D>>) -> Result<Option<NativeForm<D>>> {
        let kernel = self.kernel.on_state(state)?;
        let offset = if self.sizes.offset == [0; 3] { None } else { Some(self.sizes.offset) };
        let function = match offset {
            Some(_) => kernel.function_with_offset(name)?,
            None => &kernel.plain,
        };
        let divided = divide(kernel, &self.sizes)?;
        let parameters = function.parameters.as_deref();
        let hidden = usize::from(offset.is_some());
        let count = parameters.map_or(self.arguments.count(), |sizes| sizes.len().saturating_sub(hidden));
        let given = self.arguments.list.iter().flatten().count();
        if given != count || self.arguments.count() != count {
            return Err(wrong_count(given, count));
        }
        let offset = offset.map(narrow).transpose()?;
        let dynamic_shared = self.arguments.resolve(state, parameters)?;
        let Some((grid, block)) = divided else { return Ok(None) };
        let dynamic_shared = if dynamic_shared > 0 { kernel.local_bytes(dynamic_shared)? } else { 0 };
        // Not above the device's limit, so it fits.
        let shape = shape(grid, block, dynamic_shared as u32);
        Ok(Some(NativeForm { function: function.raw, shape, offset }))
    }

    /// Lets `work` have the launch as the native library takes it. The form is what [`RecordedKernel::prepare`] gave last.
    #[inline]
    pub fn with_native<R>(&self, form: &NativeForm<D>, work: impl FnOnce(&NodeLaunch<'_, D>) -> R) -> R {
        let (arguments, values) = (&self.arguments.list[..], self.arguments.bytes.as_ptr());
        // The form says that none is missing.
        let at = |argument: &Option<Argument<D>>| argument.as_ref().map_or(0, |argument| argument.at);
        let addresses = arguments.iter().map(|argument| values.wrapping_add(at(argument)).cast::<c_void>());
        let offset = form.offset.as_ref().map(|offset| offset.as_ptr().cast());
        let (mut room, mut many) = (fast::room(), Vec::new());
        let list = if unlikely!(arguments.len() >= room.len()) {
            many.extend(addresses.chain(offset));
            many.as_ptr()
        } else {
            room.iter_mut().zip(addresses).for_each(|(place, address)| {
                place.write(address);
            });
            if let Some(offset) = offset {
                room[arguments.len()].write(offset);
            }
            room.as_ptr().cast()
        };
        work(&NodeLaunch::new(form.function, form.shape, list))
    }
}

/// Work-groups and work-items of a launch; `None` if there are none.
fn divide<D: Driver>(kernel: &DeviceKernel<D>, sizes: &RecordedSizes) -> Result<Option<([u32; 3], [u32; 3])>> {
    if sizes.global.contains(&0) {
        return Ok(None);
    }
    kernel.divide(GlobalSize::new(sizes.global)?, sizes.local).map(Some)
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::api::noop::Noop;

    fn value(arguments: &mut Arguments<Noop>, index: usize, size: usize) -> Vec<u8> {
        arguments.bytes_of(index, size).expect("a value of that size").1.to_vec()
    }

    #[test]
    fn values_that_change_their_size_need_no_more_memory_however_often_they_do() {
        let mut arguments = Arguments::<Noop> { list: SmallVec::new(), bytes: SmallVec::new() };
        arguments.set_value(0, &[1; 8]);
        arguments.set_value(1, &[2; 4]);
        for round in 0..1000 {
            let size = 8 + round % 3;
            arguments.set_value(0, &vec![3; size]);
            arguments.set(1, Content::Local(64));
            arguments.set_value(1, &[4; 4]);
            assert_eq!((value(&mut arguments, 0, size), value(&mut arguments, 1, 4)), (vec![3; size], vec![4; 4]));
        }
        assert!(arguments.bytes.len() <= 32, "{} bytes for two values", arguments.bytes.len());
    }

    #[test]
    fn only_a_value_of_the_same_size_is_changed_where_it_lies() {
        let mut arguments = Arguments::<Noop> { list: SmallVec::new(), bytes: SmallVec::new() };
        arguments.set_value(0, &[1; 8]);
        arguments.set(1, Content::Local(64));
        assert!(arguments.bytes_of(0, 4).is_none() && arguments.bytes_of(1, 8).is_none());
        assert!(arguments.bytes_of(2, 8).is_none());
        let (at, bytes) = arguments.bytes_of(0, 8).expect("a value of 8 bytes");
        bytes.copy_from_slice(&[7; 8]);
        assert_eq!(value(&mut arguments, 0, 8), [7; 8]);
        arguments.put_back(at, &[1; 8]);
        assert_eq!(value(&mut arguments, 0, 8), [1; 8]);
    }
}
