//! The argument list of one launch: what each kind of argument means, and the pointers that the native call reads.
//!
//! Arguments are read where the caller holds them; the native call copies them. Nothing is allocated for up to
//! [`INLINE_ARGUMENTS`] arguments. What the library can tell of a function's parameters is checked before it
//! reads through the pointers, since it would otherwise read past a list that is too short.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use ur_ffi::{
    ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t, ur_result_t,
    ur_sampler_handle_t,
};

use crate::image::argument::check_sampler;
use crate::memory_object;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;

/// Arguments that a launch holds on the stack.
pub const INLINE_ARGUMENTS: usize = 24;

/// The largest alignment of a type in work-group memory, bytes: a vector of 16 doubles.
const LOCAL_ALIGNMENT: usize = 128;

/// Memory for the native argument list of one launch: on the stack, or for long lists elsewhere.
pub(crate) struct ArgumentStorage {
    pointers: [MaybeUninit<*const c_void>; INLINE_ARGUMENTS],
    values: [MaybeUninit<usize>; INLINE_ARGUMENTS],
    more: Option<Box<LongStorage>>,
}

/// Memory for a long list.
struct LongStorage {
    pointers: Vec<MaybeUninit<*const c_void>>,
    values: Vec<MaybeUninit<usize>>,
}

impl ArgumentStorage {
    /// Memory of no list yet.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        // Not cleared: most launches use a few of them.
        Self {
            pointers: [MaybeUninit::uninit(); INLINE_ARGUMENTS],
            values: [MaybeUninit::uninit(); INLINE_ARGUMENTS],
            more: None,
        }
    }

    /// An empty list of `count` arguments.
    #[inline]
    pub fn list(&mut self, count: usize) -> ArgumentList<'_> {
        let (pointers, values): (&mut [_], &mut [_]) = if count > INLINE_ARGUMENTS {
            let more = LongStorage {
                pointers: vec![MaybeUninit::uninit(); count],
                values: vec![MaybeUninit::uninit(); count],
            };
            let more = self.more.insert(Box::new(more));
            (&mut more.pointers, &mut more.values)
        } else {
            (&mut self.pointers[..count], &mut self.values[..count])
        };
        for pointer in pointers.iter_mut() {
            pointer.write(core::ptr::null());
        }
        // SAFETY: each of them was written just now.
        let pointers = unsafe { &mut *(core::ptr::from_mut(pointers) as *mut [*const c_void]) };
        ArgumentList { pointers, given: count, values, dynamic_shared: 0, objects: false }
    }
}

/// The native argument list of one launch: a pointer to each value, which lies in the caller's list where it can.
pub(crate) struct ArgumentList<'r> {
    /// An entry for every parameter: the driver reads through this whole list.
    pub pointers: &'r mut [*const c_void],
    /// How many of them the caller gives; what follows is hidden from it.
    given: usize,
    /// Values that have no storage of the caller's: offsets into work-group memory, what stands for objects.
    values: &'r mut [MaybeUninit<usize>],
    /// Bytes of work-group memory so far.
    pub dynamic_shared: usize,
    /// Whether there are objects, whose values are known when the launch is put on its stream.
    pub objects: bool,
}

impl ArgumentList<'_> {
    /// Reads the caller's arguments, as many as the list has entries; `sizes` are those of the function's parameters, where they are known.
    #[inline]
    pub fn fill(&mut self, arguments: &[ur_exp_kernel_arg_properties_t], sizes: Option<&[usize]>) -> Result<()> {
        for argument in arguments {
            let size = sizes.and_then(|sizes| sizes.get(argument.index as usize)).copied();
            self.add(argument, size)?;
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self, argument: &ur_exp_kernel_arg_properties_t, size: Option<usize>) -> Result<()> {
        let index = argument.index as usize;
        match self.pointers[..self.given].get(index) {
            None => return Err(no_such_argument(index, self.given)),
            Some(taken) if !taken.is_null() => return Err(given_twice(index)),
            Some(_) => {}
        }
        self.pointers[index] = match resolve(argument, size)? {
            Resolved::Address(value) => value,
            Resolved::Local(bytes) => {
                let start = self.reserve_local(bytes)?;
                self.keep(index, start)
            }
            Resolved::Object => {
                self.objects = true;
                self.keep(index, 0)
            }
        };
        Ok(())
    }

    /// Makes a parameter a value that the list itself stores.
    #[inline]
    pub fn set_value(&mut self, index: usize, value: usize) {
        self.pointers[index] = self.keep(index, value);
    }

    /// Keeps a value for the launch; gives its address.
    #[inline]
    fn keep(&mut self, index: usize, value: usize) -> *const c_void {
        core::ptr::from_mut(self.values[index].write(value)).cast_const().cast()
    }

    /// Sets the last parameter, which the caller does not give.
    pub fn hide(&mut self, value: *const c_void) {
        if let Some(last) = self.pointers.last_mut() {
            *last = value;
            self.given = self.pointers.len() - 1;
        }
    }

    /// Leaves that much work-group memory before the first argument's.
    pub fn begin_local_at(&mut self, bytes: usize) {
        self.dynamic_shared = bytes;
    }

    /// Sets work-group memory aside; gives its start.
    fn reserve_local(&mut self, size: usize) -> Result<usize> {
        let start = place_local(self.dynamic_shared, size)?;
        self.dynamic_shared = start + size;
        Ok(start)
    }
}

/// The start of so much work-group memory behind what is taken, aligned as any type of that size may need.
///
/// # Errors
/// `INVALID_KERNEL_ARGUMENT_SIZE` if there is no such number as the end.
pub(crate) fn place_local(taken: usize, size: usize) -> Result<usize> {
    let align = (1usize << size.trailing_zeros().min(31)).min(LOCAL_ALIGNMENT);
    let start = taken.checked_next_multiple_of(align).filter(|start| start.checked_add(size).is_some());
    start.ok_or_else(|| Error::new(ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "the local arguments overflow"))
}

/// What the kernel gets for an argument.
pub enum Resolved {
    /// What lies at that address.
    Address(*const c_void),
    /// The start of so many bytes of work-group memory.
    Local(usize),
    /// What stands for the object on the launch's device.
    Object,
}

/// What the union of an argument holds, by the argument's type.
enum Content<'a> {
    /// The pointer itself.
    Pointer,
    /// The address of a value.
    Value(*const c_void),
    /// Nothing: work-group memory has a size alone.
    Local,
    /// A memory object, and what the kernel does with it.
    Memory(&'a ur_exp_kernel_arg_mem_obj_tuple_t),
    /// A sampler.
    Sampler(ur_sampler_handle_t),
    /// The specification does not have the type.
    Unknown,
}

/// The one place that looks into the union.
#[inline(always)]
fn content(argument: &ur_exp_kernel_arg_properties_t) -> Content<'_> {
    // SAFETY: each field is read under the type that says that the caller has written it.
    unsafe {
        match argument.type_ {
            ur_exp_kernel_arg_type_t::POINTER => Content::Pointer,
            ur_exp_kernel_arg_type_t::VALUE => Content::Value(argument.value.value),
            ur_exp_kernel_arg_type_t::LOCAL => Content::Local,
            ur_exp_kernel_arg_type_t::MEM_OBJ => Content::Memory(&argument.value.memObjTuple),
            ur_exp_kernel_arg_type_t::SAMPLER => Content::Sampler(argument.value.sampler),
            _ => Content::Unknown,
        }
    }
}

/// What an argument means: setting and launching both call it. `size` is the parameter's, where the library tells it.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_KERNEL_ARGUMENT_SIZE`, `INVALID_ENUMERATION`, `UNSUPPORTED_FEATURE`.
#[inline]
pub fn resolve(argument: &ur_exp_kernel_arg_properties_t, size: Option<usize>) -> Result<Resolved> {
    if let Some(address) = direct(argument, size) {
        return Ok(Resolved::Address(address));
    }
    let index = argument.index as usize;
    match content(argument) {
        Content::Pointer => Err(too_small(index, size_of::<usize>(), size)),
        Content::Value(value) if value.is_null() => Err(null_pointer("a kernel argument's value")),
        Content::Value(_) => Err(too_small(index, argument.size, size)),
        Content::Local if argument.size == 0 => Err(no_local(index)),
        Content::Local => {
            fits_a_word(index, size)?;
            Ok(Resolved::Local(argument.size))
        }
        Content::Memory(tuple) => {
            fits_a_word(index, size)?;
            memory_object::arguments::check(tuple)?;
            Ok(Resolved::Object)
        }
        Content::Sampler(sampler) => {
            check_sampler(index, sampler, size)?;
            Ok(Resolved::Object)
        }
        Content::Unknown => Err(unknown_type(index, argument.type_)),
    }
}

/// The address of a value that lies where the caller has it; `None` for arguments of other kinds, and for wrong ones.
#[inline]
pub fn direct(argument: &ur_exp_kernel_arg_properties_t, size: Option<usize>) -> Option<*const c_void> {
    match content(argument) {
        // The union holds the pointer itself, so the value lies right there.
        Content::Pointer => {
            size.is_none_or(|size| size <= size_of::<usize>()).then_some((&raw const argument.value).cast())
        }
        Content::Value(value) => (!value.is_null() && size.is_none_or(|size| size <= argument.size)).then_some(value),
        _ => None,
    }
}

/// Refuses an argument of a pointer's size for a parameter that is larger.
#[inline]
fn fits_a_word(index: usize, size: Option<usize>) -> Result<()> {
    match size {
        Some(wanted) if wanted > size_of::<usize>() => Err(too_small(index, size_of::<usize>(), size)),
        _ => Ok(()),
    }
}

#[cold]
pub(crate) fn no_such_argument(index: usize, count: usize) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
        format!("argument index {index} of a kernel with {count} arguments"),
    )
}

#[cold]
pub(crate) fn given_twice(index: usize) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_KERNEL_ARGS, format!("argument {index} is given twice"))
}

#[cold]
fn too_small(index: usize, given: usize, wanted: Option<usize>) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        format!("argument {index} has {given} bytes; the kernel takes {}", wanted.unwrap_or(0)),
    )
}

#[cold]
fn no_local(index: usize) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        format!("argument {index} asks for 0 bytes of work-group memory"),
    )
}

/// The error of a type that the specification does not have.
#[cold]
pub fn unknown_type(index: usize, found: ur_exp_kernel_arg_type_t) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_ENUMERATION, format!("argument {index} has the unknown type {:#x}", found.0))
}
