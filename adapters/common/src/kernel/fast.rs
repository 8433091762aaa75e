//! The launch that nearly all are: no properties, no offset, a local size that divides the global one, and arguments that
//! lie in the caller's memory in the parameters' order.
//!
//! The rows of `urbench` that pay for it are `work: launch` and `work: launch, 20 arguments`: nothing is allocated, no
//! argument is looked at twice, and one division a dimension is all that the sizes cost. Whatever is not plain, wrong ones
//! included, is left to [`crate::kernel::launch`]; no error comes from here.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use std::sync::Arc;

use ur_ffi::{ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t};

use crate::command::Command;
use crate::command::deferral::{Deferring, Owned};
use crate::command::graph::NodeLaunch;
use crate::command::submission::Submission;
use crate::driver::{Driver, LaunchShape};
use crate::kernel::argument_list::{INLINE_ARGUMENTS, direct};
use crate::kernel::careful_launch::CarefulLaunch;
use crate::kernel::owned_launch::ValueSizes;
use crate::kernel::work_size::{WorkSizes, quick_shape, shape};
use crate::kernel::{DeviceKernel, Function};
use crate::object::error::Result;
use crate::stream::capture::{Capture, Retained};
use crate::sync::unlikely::unlikely;

/// Room for the addresses of a launch's arguments, on the stack. Not cleared: most launches use a few of them.
pub(crate) type Room = [MaybeUninit<*const c_void>; INLINE_ARGUMENTS];

/// Room for no addresses yet.
#[inline(always)]
pub(crate) fn room() -> Room {
    [MaybeUninit::uninit(); INLINE_ARGUMENTS]
}

/// A kernel's launch. `arguments` has an entry for every parameter of the function, which names a value of the parameter's
/// size; list and values are readable until the launch is on its stream, which copies them.
pub(crate) struct Launch<'k, D: Driver> {
    pub kernel: &'k DeviceKernel<D>,
    pub shape: LaunchShape,
    pub arguments: *const *const c_void,
    given: &'k [ur_exp_kernel_arg_properties_t],
}

impl<'k, D: Driver> Launch<'k, D> {
    /// A launch whose arguments' addresses are in `room`.
    #[inline(always)]
    pub(super) fn new(
        kernel: &'k DeviceKernel<D>,
        shape: LaunchShape,
        given: &'k [ur_exp_kernel_arg_properties_t],
        room: &Room,
    ) -> Self {
        Self { kernel, shape, arguments: room.as_ptr().cast(), given }
    }

    /// The same as a node of a graph, as long as list and values are readable.
    #[inline(always)]
    pub fn node(&self) -> NodeLaunch<'_, D> {
        NodeLaunch::new(self.function(), self.shape, self.arguments)
    }

    /// How many arguments it has.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.given.len()
    }

    /// The bytes of the arguments' values, in the parameters' order.
    #[inline(always)]
    pub fn values(&self) -> impl Iterator<Item = &[u8]> {
        let sizes = self.kernel.plain.parameters.as_deref();
        self.given.iter().enumerate().map(move |(index, argument)| {
            let size = match sizes {
                Some(sizes) => sizes[index],
                None if argument.type_ == ur_exp_kernel_arg_type_t::POINTER => size_of::<usize>(),
                None => argument.size,
            };
            // SAFETY: the list is as this type says, and has an entry for each argument that is given.
            unsafe { core::slice::from_raw_parts(self.arguments.add(index).read().cast(), size) }
        })
    }

    /// The function that is launched.
    #[inline(always)]
    pub fn function(&self) -> D::Function {
        self.kernel.plain.raw
    }
}

impl<D: Driver> Command<D> for Launch<'_, D> {
    type Output = ();

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let function = self.kernel.plain.raw;
        let _scope = self.kernel.module.state.native.enter_for_launch()?;
        // SAFETY: the list is as this type says.
        unsafe { submission.driver().launch(function, self.shape, submission.native(), self.arguments) }
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        capture.keep(Arc::clone(&self.kernel.module) as Retained);
        Ok(())
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let Self { kernel, shape, arguments, given } = self;
        let function = &kernel.plain;
        let sizes = ValueSizes::new(function.parameters.as_deref(), given, 0);
        let device = &*deferring.request.queue.device;
        CarefulLaunch {
            module: &kernel.module,
            device,
            properties: None,
            function: function.raw,
            shape,
            arguments,
            sizes,
        }
        .into_owned(deferring)
    }
}

/// The launch of plain arguments and sizes, with the arguments' addresses in `room`; `None` where they are not plain.
#[inline(always)]
pub(crate) fn prepare<'k, D: Driver>(
    kernel: &'k DeviceKernel<D>,
    sizes: WorkSizes<'_>,
    arguments: &'k [ur_exp_kernel_arg_properties_t],
    room: &mut Room,
) -> Option<Launch<'k, D>> {
    let function = &kernel.plain;
    if !sizes.have_no_offset() || !are_simple(function, arguments, room) {
        return None;
    }
    let (grid, block) = shape_of(kernel, sizes)?;
    Some(Launch::new(kernel, shape(grid, block, 0), arguments, room))
}

/// What [`quick_shape`] makes of the sizes for a kernel that leaves its local size to the caller.
#[inline(always)]
pub(super) fn shape_of<D: Driver>(kernel: &DeviceKernel<D>, sizes: WorkSizes<'_>) -> Option<([u32; 3], [u32; 3])> {
    if unlikely!(kernel.declared.required.is_some()) { None } else { quick_shape(sizes, &kernel.limits) }
}

/// Whether the arguments are right and lie in the caller's memory in the parameters' order; their addresses then are in
/// `room`.
#[inline(always)]
pub(super) fn are_simple<D: Driver>(
    function: &Function<D>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    room: &mut Room,
) -> bool {
    let sizes = function.parameters.as_deref();
    if arguments.len() > room.len() || sizes.is_some_and(|sizes| sizes.len() != arguments.len()) {
        return false;
    }
    for (position, (argument, room)) in arguments.iter().zip(room).enumerate() {
        let size = sizes.map(|sizes| sizes[position]);
        match direct(argument, size) {
            Some(address) if argument.index as usize == position => room.write(address),
            _ => return false,
        };
    }
    true
}
