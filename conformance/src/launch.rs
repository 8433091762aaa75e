//! Kernel launches: arguments that own their bytes, and the twelve parameters of the entry point by name.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_ffi::{
    ur_event_handle_t, ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t,
    ur_exp_kernel_arg_value_t, ur_kernel_launch_ext_properties_t, ur_mem_flags_t, ur_mem_handle_t, ur_result_t,
    ur_sampler_handle_t,
};

use crate::{Buffer, Event, Kernel, Queue, expect_success, owned::event_of, ur};

/// Whether the native library tells a kernel's parameters. Where it does not (HIP has no call for it), nobody can know
/// that a list of arguments is too short or a value too small, and the kernel would read what is not there.
#[must_use]
pub fn parameters_are_known(kernel: &Kernel) -> bool {
    let property = ur_ffi::ur_kernel_info_t::NUM_ARGS;
    let mut size = 0;
    match ur!(Kernel.pfnGetInfo(kernel.handle(), property, 0, null_mut(), &raw mut size)) {
        ur_result_t::ERROR_UNSUPPORTED_ENUMERATION => {
            println!("skipped in part: the native library does not tell a kernel's parameters");
            false
        }
        answer => {
            expect_success(answer, "urKernelGetInfo");
            true
        }
    }
}

/// One argument.
#[derive(Clone, Debug)]
pub struct Arg {
    bytes: Vec<u8>,
    raw: ur_exp_kernel_arg_properties_t,
}

impl Arg {
    fn new(type_: ur_exp_kernel_arg_type_t, size: usize, value: ur_exp_kernel_arg_value_t) -> Self {
        Self { bytes: Vec::new(), raw: ur_exp_kernel_arg_properties_t { type_, size, value, ..Default::default() } }
    }

    /// A value of plain data, copied here.
    pub fn value<T: Copy>(value: T) -> Self {
        let mut arg = Self::new(ur_exp_kernel_arg_type_t::VALUE, size_of::<T>(), Default::default());
        // SAFETY: `T` is plain data without padding by the tests' choice, alive and of that size.
        let bytes = unsafe { core::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        arg.bytes = bytes.to_vec();
        arg
    }

    /// An address.
    #[must_use]
    pub fn pointer(pointer: *mut c_void) -> Self {
        Self::new(ur_exp_kernel_arg_type_t::POINTER, size_of::<usize>(), ur_exp_kernel_arg_value_t { pointer })
    }

    /// A memory object with the access that the kernel has.
    #[must_use]
    #[allow(non_snake_case, reason = "the C name of the union's member")]
    pub fn memory(mem: ur_mem_handle_t, flags: ur_mem_flags_t) -> Self {
        let memObjTuple = ur_exp_kernel_arg_mem_obj_tuple_t { hMem: mem, flags };
        Self::new(ur_exp_kernel_arg_type_t::MEM_OBJ, 0, ur_exp_kernel_arg_value_t { memObjTuple })
    }

    /// Bytes of work-group memory.
    #[must_use]
    pub fn local(bytes: usize) -> Self {
        Self::new(ur_exp_kernel_arg_type_t::LOCAL, bytes, ur_exp_kernel_arg_value_t { value: null() })
    }

    /// A sampler.
    #[must_use]
    pub fn sampler(handle: ur_sampler_handle_t) -> Self {
        let value = ur_exp_kernel_arg_value_t { sampler: handle };
        Self::new(ur_exp_kernel_arg_type_t::SAMPLER, size_of::<usize>(), value)
    }

    /// The same argument under another type.
    #[must_use]
    pub fn of_type(mut self, type_: ur_exp_kernel_arg_type_t) -> Self {
        self.raw.type_ = type_;
        self
    }

    /// The same argument with another size.
    #[must_use]
    pub fn of_size(mut self, size: usize) -> Self {
        self.raw.size = size;
        self
    }
}

/// A launch to be.
#[derive(Clone, Debug)]
pub struct Launch<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) dimensions: u32,
    pub(crate) global: Vec<usize>,
    pub(crate) local: Option<Vec<usize>>,
    pub(crate) offset: Option<Vec<usize>>,
    pub(crate) args: Vec<(u32, Arg)>,
    waits: Vec<ur_event_handle_t>,
    properties: Option<ur_kernel_launch_ext_properties_t>,
}

impl<'k> Launch<'k> {
    /// A launch over a global size of as many dimensions.
    #[must_use]
    pub fn new(kernel: &'k Kernel, global: &[usize]) -> Self {
        let dimensions = u32::try_from(global.len()).unwrap_or(u32::MAX);
        let (args, waits) = (Vec::new(), Vec::new());
        Self { kernel, dimensions, global: global.to_vec(), local: None, offset: None, args, waits, properties: None }
    }

    /// A launch of these sizes that leaves the local size to the adapter, and one that does not: an adapter may know a
    /// shorter way for the second.
    #[must_use]
    pub fn both(kernel: &'k Kernel, global: &[usize]) -> [Self; 2] {
        [Self::new(kernel, global), Self::new(kernel, global).local(&vec![1; global.len()])]
    }

    /// With work-groups of this size.
    #[must_use]
    pub fn local(mut self, local: &[usize]) -> Self {
        self.local = Some(local.to_vec());
        self
    }

    /// With a global offset.
    #[must_use]
    pub fn offset(mut self, offset: &[usize]) -> Self {
        self.offset = Some(offset.to_vec());
        self
    }

    /// With one more argument, at the next index.
    #[must_use]
    pub fn arg(self, arg: Arg) -> Self {
        let index = u32::try_from(self.args.len()).unwrap_or(u32::MAX);
        self.arg_at(index, arg)
    }

    /// With one more argument, at this index.
    #[must_use]
    pub fn arg_at(mut self, index: u32, arg: Arg) -> Self {
        self.args.push((index, arg));
        self
    }

    /// With the address of memory at the next index.
    #[must_use]
    pub fn pointer(self, pointer: *mut c_void) -> Self {
        self.arg(Arg::pointer(pointer))
    }

    /// With a buffer at the next index, and the access that the kernel has.
    #[must_use]
    pub fn buffer(self, buffer: &Buffer, flags: ur_mem_flags_t) -> Self {
        self.arg(Arg::memory(buffer.handle(), flags))
    }

    /// With a value at the next index.
    #[must_use]
    pub fn value<T: Copy>(self, value: T) -> Self {
        self.arg(Arg::value(value))
    }

    /// After these events.
    #[must_use]
    pub fn after(mut self, events: &[&Event]) -> Self {
        self.waits.extend(events.iter().map(|event| event.handle()));
        self
    }

    /// After the events of these handles.
    #[must_use]
    pub fn after_handles(mut self, events: &[ur_event_handle_t]) -> Self {
        self.waits.extend(events);
        self
    }

    /// With launch properties.
    #[must_use]
    pub fn properties(mut self, properties: ur_kernel_launch_ext_properties_t) -> Self {
        self.properties = Some(properties);
        self
    }

    /// The arguments as the entry points take them, which name bytes of this launch.
    pub(crate) fn raw_args(&self) -> Vec<ur_exp_kernel_arg_properties_t> {
        let raw = |(index, arg): &(u32, Arg)| {
            let mut raw = arg.raw;
            raw.index = *index;
            if !arg.bytes.is_empty() {
                raw.value = ur_exp_kernel_arg_value_t { value: arg.bytes.as_ptr().cast() };
            }
            raw
        };
        self.args.iter().map(raw).collect()
    }

    /// Enqueues and gives the answer; `event` may be null.
    pub fn enqueue(&self, queue: &Queue, event: *mut ur_event_handle_t) -> ur_result_t {
        let args = self.raw_args();
        let list = |sizes: &Option<Vec<usize>>| sizes.as_ref().map_or(null(), |sizes| sizes.as_ptr());
        ur!(EnqueueExp.pfnKernelLaunchWithArgsExp(
            queue.handle(),
            self.kernel.handle(),
            self.dimensions,
            list(&self.offset),
            self.global.as_ptr(),
            list(&self.local),
            u32::try_from(args.len()).unwrap_or(u32::MAX),
            if args.is_empty() { null() } else { args.as_ptr() },
            self.properties.as_ref().map_or(null(), core::ptr::from_ref),
            u32::try_from(self.waits.len()).unwrap_or(u32::MAX),
            if self.waits.is_empty() { null() } else { self.waits.as_ptr() },
            event
        ))
    }

    /// Enqueues without asking for an event; must succeed.
    #[track_caller]
    pub fn on(&self, queue: &Queue) {
        expect_success(self.enqueue(queue, null_mut()), "urEnqueueKernelLaunchWithArgsExp");
    }

    /// Enqueues and takes the event; must succeed.
    #[track_caller]
    pub fn event_on(&self, queue: &Queue) -> Event {
        event_of(|event| self.enqueue(queue, event))
    }

    /// Enqueues; must answer one of these codes and hand out no event.
    #[track_caller]
    pub fn refused(&self, codes: &[ur_result_t], queue: &Queue) {
        let mut event = null_mut();
        let answer = self.enqueue(queue, &raw mut event);
        crate::expect_code(answer, codes, "urEnqueueKernelLaunchWithArgsExp");
        assert!(event.is_null(), "a launch that failed handed out an event");
    }
}
