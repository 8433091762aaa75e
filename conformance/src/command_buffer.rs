//! Command buffers that release themselves, commands appended to them by short calls, and changes of recorded launches.
//!
//! Must not hide what an entry point answers from tests of bad input: those call the entry points themselves.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_ffi::{
    ur_context_handle_t, ur_device_handle_t, ur_event_handle_t, ur_exp_command_buffer_command_handle_t,
    ur_exp_command_buffer_desc_t, ur_exp_command_buffer_handle_t, ur_exp_command_buffer_sync_point_t,
    ur_exp_command_buffer_update_kernel_launch_desc_t, ur_exp_command_buffer_update_memobj_arg_desc_t,
    ur_exp_command_buffer_update_pointer_arg_desc_t, ur_exp_command_buffer_update_value_arg_desc_t,
    ur_exp_kernel_arg_type_t, ur_kernel_handle_t, ur_mem_handle_t, ur_native_handle_t, ur_result_t,
};

use crate::owned::{Commands, event_of};
use crate::{Buffer, Event, Fixture, Kernel, Launch, Pool, Queue, expect_success, has_function, ok, ur};

/// What names a command for those after it.
pub type SyncPoint = ur_exp_command_buffer_sync_point_t;
/// What names a command for changes.
pub type Command = ur_exp_command_buffer_command_handle_t;

/// The description of a buffer.
#[must_use]
pub fn description(updatable: bool, in_order: bool, profiled: bool) -> ur_exp_command_buffer_desc_t {
    ur_exp_command_buffer_desc_t {
        isUpdatable: updatable.into(),
        isInOrder: in_order.into(),
        enableProfiling: profiled.into(),
        ..Default::default()
    }
}

/// A list as entry points take it: its length, and null for none.
#[must_use]
pub fn list<T>(items: &[T]) -> (u32, *const T) {
    (u32::try_from(items.len()).unwrap_or(u32::MAX), if items.is_empty() { null() } else { items.as_ptr() })
}

/// One reference to a command buffer.
#[derive(Debug)]
pub struct CommandBuffer {
    commands: Commands,
}

impl CommandBuffer {
    /// A buffer of the fixture's context and first device whose commands are ordered by sync points alone.
    #[track_caller]
    #[must_use]
    pub fn new(fixture: &Fixture) -> Self {
        Self::with(fixture, description(false, false, false))
    }

    /// A buffer whose commands run one after the other.
    #[track_caller]
    #[must_use]
    pub fn in_order(fixture: &Fixture) -> Self {
        Self::with(fixture, description(false, true, false))
    }

    /// A buffer whose launches can be changed, which is a device's choice to allow.
    #[track_caller]
    #[must_use]
    pub fn updatable(fixture: &Fixture) -> Self {
        Self::with(fixture, description(true, false, false))
    }

    /// A buffer by its description.
    #[track_caller]
    #[must_use]
    pub fn with(fixture: &Fixture, description: ur_exp_command_buffer_desc_t) -> Self {
        Self::of(fixture.context(), fixture.device(), description)
    }

    /// A buffer of any context and device.
    #[track_caller]
    #[must_use]
    pub fn of(
        context: ur_context_handle_t,
        device: ur_device_handle_t,
        description: ur_exp_command_buffer_desc_t,
    ) -> Self {
        let mut made = null_mut();
        ok!(CommandBufferExp.pfnCreateExp(context, device, &raw const description, &raw mut made));
        Self::take(made)
    }

    /// Takes over one reference.
    #[must_use]
    pub fn take(handle: ur_exp_command_buffer_handle_t) -> Self {
        Self { commands: Commands::take(handle) }
    }

    /// The handle, valid while this lives.
    #[must_use]
    pub fn handle(&self) -> ur_exp_command_buffer_handle_t {
        self.commands.handle()
    }

    /// Gives the reference back now and tells the answer.
    #[must_use]
    pub fn release(self) -> ur_result_t {
        self.commands.release()
    }

    /// `urCommandBufferFinalizeExp`.
    #[track_caller]
    pub fn finalize(&self) {
        ok!(CommandBufferExp.pfnFinalizeExp(self.handle()));
    }

    /// The native graph.
    #[track_caller]
    #[must_use]
    pub fn native(&self) -> ur_native_handle_t {
        let mut native = 0;
        ok!(CommandBufferExp.pfnGetNativeHandleExp(self.handle(), &raw mut native));
        native
    }

    /// `urEnqueueCommandBufferExp`, any answer; `event` may be null.
    pub fn enqueue(&self, queue: &Queue, waits: &[&Event], event: *mut ur_event_handle_t) -> ur_result_t {
        let waits: Vec<_> = waits.iter().map(|event| event.handle()).collect();
        let (count, waits) = list(&waits);
        ur!(EnqueueExp.pfnCommandBufferExp(queue.handle(), self.handle(), count, waits, event))
    }

    /// Enqueues without asking for an event; must succeed.
    #[track_caller]
    pub fn on(&self, queue: &Queue) {
        expect_success(self.enqueue(queue, &[], null_mut()), "urEnqueueCommandBufferExp");
    }

    /// Enqueues and takes the event; must succeed.
    #[track_caller]
    pub fn event_on(&self, queue: &Queue, waits: &[&Event]) -> Event {
        event_of(|event| self.enqueue(queue, waits, event))
    }

    /// Finalises, enqueues and waits.
    #[track_caller]
    pub fn run(&self, queue: &Queue) {
        self.finalize();
        self.on(queue);
        queue.finish();
    }

    /// Appends a copy of USM.
    #[track_caller]
    pub fn copy(&self, to: *mut c_void, from: *const c_void, bytes: usize, after: &[SyncPoint]) -> SyncPoint {
        let (count, after) = list(after);
        let (b, mut point) = (self.handle(), SyncPoint::MAX);
        let (none, out) = (null_mut(), &raw mut point);
        ok!(CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, from, bytes, count, after, 0, null(), out, none, null_mut()));
        point
    }

    /// Appends a fill of USM.
    #[track_caller]
    pub fn fill<T: Copy>(&self, to: *mut c_void, pattern: &[T], bytes: usize, after: &[SyncPoint]) -> SyncPoint {
        let (count, after) = list(after);
        let (from, length) = (pattern.as_ptr().cast(), size_of_val(pattern));
        let (b, mut point) = (self.handle(), SyncPoint::MAX);
        let (out, none, command) = (&raw mut point, null_mut(), null_mut());
        ok!(CommandBufferExp.pfnAppendUSMFillExp(
            b,
            to,
            from,
            length,
            bytes,
            count,
            after,
            0,
            null(),
            out,
            none,
            command
        ));
        point
    }

    /// Appends an allocation of device memory, like that of a pool if one is given; gives its address.
    #[track_caller]
    pub fn allocate(&self, pool: Option<&Pool>, bytes: usize, after: &[SyncPoint]) -> (*mut c_void, SyncPoint) {
        let (count, after) = list(after);
        let pool = pool.map_or(null_mut(), Pool::handle);
        let (b, mut memory, mut point) = (self.handle(), null_mut(), SyncPoint::MAX);
        let (to, out) = (&raw mut memory, &raw mut point);
        ok!(GraphMemoryExt.pfnCommandBufferAppendUSMDeviceAllocExt(b, pool, bytes, null(), count, after, to, out));
        assert!(!memory.is_null() && point != SyncPoint::MAX, "success came without memory or sync point");
        (memory, point)
    }

    /// Appends the free of what [`CommandBuffer::allocate`] gave; must succeed.
    #[track_caller]
    pub fn free(&self, memory: *mut c_void, after: &[SyncPoint]) -> SyncPoint {
        let (count, after) = list(after);
        let mut point = SyncPoint::MAX;
        ok!(GraphMemoryExt.pfnCommandBufferAppendUSMFreeExt(self.handle(), memory, count, after, &raw mut point));
        point
    }

    /// Appends a launch; must succeed.
    #[track_caller]
    pub fn launch(&self, launch: &Launch<'_>, after: &[SyncPoint]) -> SyncPoint {
        let mut point = SyncPoint::MAX;
        let answer = self.append(launch, &[], after, &raw mut point, null_mut());
        expect_success(answer, "urCommandBufferAppendKernelLaunch[WithArgs]Exp");
        point
    }

    /// Appends a launch that can be changed, and asks for its handle; must succeed.
    #[track_caller]
    pub fn command(&self, launch: &Launch<'_>, after: &[SyncPoint]) -> (SyncPoint, Command) {
        self.command_of(launch, &[], after)
    }

    /// The same with other kernels that it may be changed to.
    #[track_caller]
    pub fn command_of(
        &self,
        launch: &Launch<'_>,
        alternatives: &[&Kernel],
        after: &[SyncPoint],
    ) -> (SyncPoint, Command) {
        let (mut point, mut command) = (SyncPoint::MAX, null_mut());
        let answer = self.append(launch, alternatives, after, &raw mut point, &raw mut command);
        expect_success(answer, "urCommandBufferAppendKernelLaunch[WithArgs]Exp");
        assert!(!command.is_null(), "success came with a null command handle");
        (point, command)
    }

    /// Appends a launch, any answer: with its arguments where the release has the function for it, and else with them set
    /// on the kernel before.
    pub fn append(
        &self,
        launch: &Launch<'_>,
        alternatives: &[&Kernel],
        after: &[SyncPoint],
        point: *mut SyncPoint,
        command: *mut Command,
    ) -> ur_result_t {
        let mut others: Vec<ur_kernel_handle_t> = alternatives.iter().map(|kernel| kernel.handle()).collect();
        let kinds = u32::try_from(others.len()).unwrap_or(u32::MAX);
        let others = if others.is_empty() { null_mut() } else { others.as_mut_ptr() };
        let (count, after) = list(after);
        let sizes = |sizes: &Option<Vec<usize>>| sizes.as_ref().map_or(null(), |sizes| sizes.as_ptr());
        let (b, k, dimensions) = (self.handle(), launch.kernel.handle(), launch.dimensions);
        let (offset, global, local) = (sizes(&launch.offset), launch.global.as_ptr(), sizes(&launch.local));
        let (none, event) = (null(), null_mut());
        if has_function("urCommandBufferAppendKernelLaunchWithArgsExp") {
            let args = launch.raw_args();
            let (length, args) = list(&args);
            return ur!(CommandBufferExp.pfnAppendKernelLaunchWithArgsExp(
                b, k, dimensions, offset, global, local, length, args, kinds, others, count, after, 0, none, point,
                event, command
            ));
        }
        let refused = set_args(launch);
        if refused != ur_result_t::SUCCESS {
            return refused;
        }
        ur!(CommandBufferExp.pfnAppendKernelLaunchExp(
            b, k, dimensions, offset, global, local, kinds, others, count, after, 0, none, point, event, command
        ))
    }

    /// Changes recorded launches, any answer.
    pub fn change(&self, changes: &[Change]) -> ur_result_t {
        let raw: Vec<_> = changes.iter().map(Change::raw).collect();
        let raw: Vec<_> = raw.iter().map(|(_, raw)| *raw).collect();
        let (count, raw) = list(&raw);
        ur!(CommandBufferExp.pfnUpdateKernelLaunchExp(self.handle(), count, raw))
    }

    /// Changes recorded launches; must succeed.
    #[track_caller]
    pub fn update(&self, changes: &[Change]) {
        expect_success(self.change(changes), "urCommandBufferUpdateKernelLaunchExp");
    }

    /// Appends a fill of a buffer.
    #[track_caller]
    pub fn fill_buffer<T: Copy>(
        &self,
        buffer: &Buffer,
        pattern: &[T],
        offset: usize,
        bytes: usize,
        after: &[SyncPoint],
    ) -> SyncPoint {
        let (count, after) = list(after);
        let (from, length) = (pattern.as_ptr().cast(), size_of_val(pattern));
        let (b, m, mut point) = (self.handle(), buffer.handle(), SyncPoint::MAX);
        let (out, none, command) = (&raw mut point, null_mut(), null_mut());
        ok!(CommandBufferExp.pfnAppendMemBufferFillExp(
            b,
            m,
            from,
            length,
            offset,
            bytes,
            count,
            after,
            0,
            null(),
            out,
            none,
            command
        ));
        point
    }

    /// Appends a copy between buffers; offsets are of source and destination.
    #[track_caller]
    pub fn copy_buffer(
        &self,
        from: &Buffer,
        to: &Buffer,
        offsets: [usize; 2],
        bytes: usize,
        after: &[SyncPoint],
    ) -> SyncPoint {
        let (count, after) = list(after);
        let (b, from, to, mut point) = (self.handle(), from.handle(), to.handle(), SyncPoint::MAX);
        let (out, none, command) = (&raw mut point, null_mut(), null_mut());
        let [source, destination] = offsets;
        ok!(CommandBufferExp.pfnAppendMemBufferCopyExp(
            b,
            from,
            to,
            source,
            destination,
            bytes,
            count,
            after,
            0,
            null(),
            out,
            none,
            command
        ));
        point
    }

    /// Appends a write of host memory, which stays the caller's to keep.
    #[track_caller]
    pub fn write_buffer<T: Copy>(&self, buffer: &Buffer, offset: usize, from: &[T], after: &[SyncPoint]) -> SyncPoint {
        let (count, after) = list(after);
        let (b, m, mut point) = (self.handle(), buffer.handle(), SyncPoint::MAX);
        let (bytes, from) = (size_of_val(from), from.as_ptr().cast());
        let (out, none, command) = (&raw mut point, null_mut(), null_mut());
        ok!(CommandBufferExp.pfnAppendMemBufferWriteExp(
            b,
            m,
            offset,
            bytes,
            from,
            count,
            after,
            0,
            null(),
            out,
            none,
            command
        ));
        point
    }

    /// Appends a read into host memory, which stays the caller's to keep.
    #[track_caller]
    pub fn read_buffer(
        &self,
        buffer: &Buffer,
        offset: usize,
        bytes: usize,
        to: *mut c_void,
        after: &[SyncPoint],
    ) -> SyncPoint {
        let (count, after) = list(after);
        let (b, m, mut point) = (self.handle(), buffer.handle(), SyncPoint::MAX);
        let (out, none, command) = (&raw mut point, null_mut(), null_mut());
        ok!(CommandBufferExp.pfnAppendMemBufferReadExp(
            b,
            m,
            offset,
            bytes,
            to,
            count,
            after,
            0,
            null(),
            out,
            none,
            command
        ));
        point
    }
}

/// Sets a launch's arguments on its kernel, one by one.
fn set_args(launch: &Launch<'_>) -> ur_result_t {
    let kernel = launch.kernel.handle();
    for arg in launch.raw_args() {
        let (index, size) = (arg.index, arg.size);
        use ur_exp_kernel_arg_type_t as Type;
        let answer = match arg.type_ {
            Type::POINTER => {
                // SAFETY: the type says which member is there.
                let pointer = unsafe { arg.value.pointer };
                ur!(Kernel.pfnSetArgPointer(kernel, index, null(), pointer))
            }
            Type::MEM_OBJ => {
                // SAFETY: as above.
                let tuple = unsafe { arg.value.memObjTuple };
                let access =
                    ur_ffi::ur_kernel_arg_mem_obj_properties_t { memoryAccess: tuple.flags, ..Default::default() };
                ur!(Kernel.pfnSetArgMemObj(kernel, index, &raw const access, tuple.hMem))
            }
            Type::LOCAL => ur!(Kernel.pfnSetArgLocal(kernel, index, size, null())),
            Type::SAMPLER => {
                // SAFETY: as above.
                let sampler = unsafe { arg.value.sampler };
                ur!(Kernel.pfnSetArgSampler(kernel, index, null(), sampler))
            }
            _ => {
                // SAFETY: as above.
                let value = unsafe { arg.value.value };
                ur!(Kernel.pfnSetArgValue(kernel, index, size, null(), value))
            }
        };
        if answer != ur_result_t::SUCCESS {
            return answer;
        }
    }
    ur_result_t::SUCCESS
}

/// A change of one recorded launch. It owns all that its description names.
#[derive(Clone, Debug)]
pub struct Change {
    command: Command,
    kernel: ur_kernel_handle_t,
    dimensions: Option<u32>,
    pointers: Vec<(u32, *mut c_void)>,
    values: Vec<(u32, Vec<u8>)>,
    locals: Vec<(u32, usize)>,
    memories: Vec<(u32, ur_mem_handle_t)>,
    offset: Option<Vec<usize>>,
    global: Option<Vec<usize>>,
    local: Option<Vec<usize>>,
}

/// The lists that a raw description points into.
struct Lists {
    _pointers: Vec<ur_exp_command_buffer_update_pointer_arg_desc_t>,
    _values: Vec<ur_exp_command_buffer_update_value_arg_desc_t>,
    _memories: Vec<ur_exp_command_buffer_update_memobj_arg_desc_t>,
}

impl Change {
    /// A change of nothing yet.
    #[must_use]
    pub fn of(command: Command) -> Self {
        Self {
            command,
            kernel: null_mut(),
            dimensions: None,
            pointers: Vec::new(),
            values: Vec::new(),
            locals: Vec::new(),
            memories: Vec::new(),
            offset: None,
            global: None,
            local: None,
        }
    }

    /// To another kernel.
    #[must_use]
    pub fn kernel(mut self, kernel: &Kernel) -> Self {
        self.kernel = kernel.handle();
        self
    }

    /// An address.
    #[must_use]
    pub fn pointer(mut self, index: u32, pointer: *mut c_void) -> Self {
        self.pointers.push((index, pointer));
        self
    }

    /// A value of plain data.
    #[must_use]
    pub fn value<T: Copy>(mut self, index: u32, value: T) -> Self {
        // SAFETY: `T` is plain data without padding by the tests' choice, alive and of that size.
        let bytes = unsafe { core::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        self.values.push((index, bytes.to_vec()));
        self
    }

    /// Bytes of work-group memory.
    #[must_use]
    pub fn work_group_memory(mut self, index: u32, bytes: usize) -> Self {
        self.locals.push((index, bytes));
        self
    }

    /// A memory object.
    #[must_use]
    pub fn memory(mut self, index: u32, mem: ur_mem_handle_t) -> Self {
        self.memories.push((index, mem));
        self
    }

    /// A global size.
    #[must_use]
    pub fn global(mut self, sizes: &[usize]) -> Self {
        self.global = Some(sizes.to_vec());
        self
    }

    /// A size of work-groups.
    #[must_use]
    pub fn local(mut self, sizes: &[usize]) -> Self {
        self.local = Some(sizes.to_vec());
        self
    }

    /// A global offset.
    #[must_use]
    pub fn offset(mut self, offset: &[usize]) -> Self {
        self.offset = Some(offset.to_vec());
        self
    }

    /// Another count of dimensions than the sizes have.
    #[must_use]
    pub fn dimensions(mut self, dimensions: u32) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    fn raw(&self) -> (Lists, ur_exp_command_buffer_update_kernel_launch_desc_t) {
        let pointers: Vec<_> = self
            .pointers
            .iter()
            .map(|(index, pointer)| ur_exp_command_buffer_update_pointer_arg_desc_t {
                argIndex: *index,
                pNewPointerArg: core::ptr::from_ref(pointer).cast(),
                ..Default::default()
            })
            .collect();
        let of_bytes = |(index, bytes): &(u32, Vec<u8>)| ur_exp_command_buffer_update_value_arg_desc_t {
            argIndex: *index,
            argSize: bytes.len(),
            pNewValueArg: bytes.as_ptr().cast(),
            ..Default::default()
        };
        let of_local = |&(index, bytes): &(u32, usize)| ur_exp_command_buffer_update_value_arg_desc_t {
            argIndex: index,
            argSize: bytes,
            ..Default::default()
        };
        let values: Vec<_> = self.values.iter().map(of_bytes).chain(self.locals.iter().map(of_local)).collect();
        let memories: Vec<_> = self
            .memories
            .iter()
            .map(|&(index, mem)| ur_exp_command_buffer_update_memobj_arg_desc_t {
                argIndex: index,
                hNewMemObjArg: mem,
                ..Default::default()
            })
            .collect();
        let sizes = |sizes: &Option<Vec<usize>>| sizes.as_ref().map_or(null_mut(), |sizes| sizes.as_ptr().cast_mut());
        let longest = [&self.offset, &self.global, &self.local].into_iter().flatten().map(Vec::len).max().unwrap_or(0);
        let raw = ur_exp_command_buffer_update_kernel_launch_desc_t {
            hCommand: self.command,
            hNewKernel: self.kernel,
            numNewMemObjArgs: list(&memories).0,
            numNewPointerArgs: list(&pointers).0,
            numNewValueArgs: list(&values).0,
            newWorkDim: self.dimensions.unwrap_or(u32::try_from(longest).unwrap_or(u32::MAX)),
            pNewMemObjArgList: list(&memories).1,
            pNewPointerArgList: list(&pointers).1,
            pNewValueArgList: list(&values).1,
            pNewGlobalWorkOffset: sizes(&self.offset),
            pNewGlobalWorkSize: sizes(&self.global),
            pNewLocalWorkSize: sizes(&self.local),
            ..Default::default()
        };
        (Lists { _pointers: pointers, _values: values, _memories: memories }, raw)
    }
}

/// A property of the first device that says whether it can do something.
#[track_caller]
#[must_use]
pub fn device_can(fixture: &Fixture, property: ur_ffi::ur_device_info_t) -> bool {
    let ask: crate::query::Ask<'_> = crate::ask!(Device.pfnGetInfo(fixture.device(), property));
    crate::query::get::<u8>(ask) != 0
}
