//! `urCommandBufferUpdateKernelLaunchExp`: kernels, arguments and sizes of launches that are recorded.
//!
//! A change is made in two steps. First every description is checked and each launch's next form is made and looked at as an
//! append does, without telling anybody. Then the native nodes are changed one by one, and those before a failure are
//! changed back, so that nothing is half-made. The native library applies a change to later launches: one that runs is left
//! alone.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_exp_command_buffer_update_kernel_launch_desc_t as Description,
    ur_exp_command_buffer_update_memobj_arg_desc_t as NewMemory,
    ur_exp_command_buffer_update_pointer_arg_desc_t as NewPointer,
    ur_exp_command_buffer_update_value_arg_desc_t as NewValue, ur_mem_flags_t, ur_result_t,
};

use crate::driver::Driver;
use crate::graph::command::{BufferCommand, KernelCommand, KernelState};
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::recorded_kernel::{Argument, Arguments, RecordedKernel};
use crate::kernel::Kernel;
use crate::kernel::argument_list::no_such_argument;
use crate::kernel::arguments::with_set_arguments;
use crate::memory_object::Mem;
use crate::memory_object::arguments::check_access;
use crate::object::error::{Error, Result};
use crate::object::{Object, params};
use crate::sync::mutation;

const NAME: &str = "urCommandBufferUpdateKernelLaunchExp";

/// What an argument is to be.
enum NewArgument<'a, D: Driver> {
    /// A memory object, or none, and what the kernel does with it.
    Memory(Option<&'a Object<Mem<D>>>, ur_mem_flags_t),
    /// A pointer.
    Pointer(usize),
    /// A value.
    Value(&'a [u8]),
    /// So much work-group memory.
    Local(usize),
}

/// What one description leads to, checked.
struct Change<'a, D: Driver> {
    command: &'a Object<BufferCommand<D>>,
    kernel: Option<&'a Object<Kernel<D>>>,
    arguments: SmallVec<[(usize, NewArgument<'a, D>); 8]>,
    dimensions: u32,
    offset: Option<&'a [usize]>,
    global: Option<&'a [usize]>,
    local: Option<&'a [usize]>,
}

impl<'a, D: Driver> Change<'a, D> {
    /// Reads a description.
    ///
    /// # Errors
    /// `INVALID_NULL_HANDLE`, `INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP`, `INVALID_KERNEL`, `INVALID_MEM_OBJECT` for handles that
    /// are none; `INVALID_NULL_POINTER` for a list that is missing; `INVALID_WORK_DIMENSION`; `INVALID_ENUMERATION` and
    /// `INVALID_VALUE` for flags of a memory object.
    fn read(description: &'a Description) -> Result<Self> {
        if description.newWorkDim > 3 {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_WORK_DIMENSION,
                format!(
                    "{NAME}: newWorkDim is {}; a launch has 1, 2 or 3 dimensions, and 0 changes no size",
                    description.newWorkDim
                ),
            ));
        }
        let dimensions = description.newWorkDim;
        // SAFETY: C owes a description what the manual says of it: handles are null or alive, lists and values hold as many
        // elements and bytes as their counts say, for as long as the call lasts.
        unsafe {
            let size = |sizes: *const usize| -> Result<Option<&'a [usize]>> {
                if dimensions == 0 { Ok(None) } else { params::slice_or_none("a new work size", dimensions, sizes) }
            };
            let memory = params::optional_slice(
                "pNewMemObjArgList",
                description.numNewMemObjArgs,
                description.pNewMemObjArgList,
            )?;
            let pointers = params::optional_slice(
                "pNewPointerArgList",
                description.numNewPointerArgs,
                description.pNewPointerArgList,
            )?;
            let values =
                params::optional_slice("pNewValueArgList", description.numNewValueArgs, description.pNewValueArgList)?;
            let memory = memory.iter().map(|new: &NewMemory| {
                let mem = params::optional_handle("hNewMemObjArg", new.hNewMemObjArg)?;
                let flags =
                    params::optional(new.pProperties).map_or(ur_mem_flags_t::READ_WRITE, |own| own.memoryAccess);
                check_access(flags)?;
                Ok((new.argIndex as usize, NewArgument::Memory(mem, flags)))
            });
            let pointers = pointers.iter().map(|new: &NewPointer| {
                let value = params::optional(new.pNewPointerArg.cast::<usize>()).copied().unwrap_or(0);
                Ok((new.argIndex as usize, NewArgument::Pointer(value)))
            });
            let values = values.iter().map(|new: &NewValue| {
                let bytes = params::slice_or_none("pNewValueArg", new.argSize, new.pNewValueArg.cast::<u8>())?;
                Ok((new.argIndex as usize, bytes.map_or(NewArgument::Local(new.argSize), NewArgument::Value)))
            });
            Ok(Self {
                command: params::handle(NAME, description.hCommand)?,
                kernel: params::optional_handle("hNewKernel", description.hNewKernel)?,
                arguments: memory.chain(pointers).chain(values).collect::<Result<_>>()?,
                dimensions,
                offset: size(description.pNewGlobalWorkOffset)?,
                global: size(description.pNewGlobalWorkSize)?,
                local: size(description.pNewLocalWorkSize)?,
            })
        }
    }

    /// The launch as it is to be.
    fn apply(
        &self,
        launch: &mut RecordedKernel<D>,
        command: &KernelCommand<D>,
        first: &Arc<Object<Kernel<D>>>,
    ) -> Result<()> {
        if let Some(kernel) = self.kernel {
            self.exchange(launch, command, first, kernel)?;
        }
        let most = parameter_count(launch);
        for (index, new) in &self.arguments {
            let (index, arguments) = (*index, &mut launch.arguments);
            if index >= most {
                return Err(no_such_argument(index, most));
            }
            match new {
                NewArgument::Memory(mem, flags) => {
                    arguments.set(index, Argument::Memory(mem.map(Object::to_arc), *flags))
                }
                NewArgument::Pointer(value) => arguments.set_bytes(index, &value.to_ne_bytes()),
                NewArgument::Value(bytes) => arguments.set_bytes(index, bytes),
                NewArgument::Local(size) => arguments.set(index, Argument::Local(*size)),
            }
        }
        self.resize(launch)
    }

    /// Makes the launch another kernel's: with the arguments that are set on that one, and the launch's own where none is.
    fn exchange(
        &self,
        launch: &mut RecordedKernel<D>,
        command: &KernelCommand<D>,
        first: &Arc<Object<Kernel<D>>>,
        kernel: &'a Object<Kernel<D>>,
    ) -> Result<()> {
        let mut known = command.alternatives.iter().chain([first]);
        let Some(kernel) = known.find(|known| core::ptr::eq(Arc::as_ptr(known), kernel)) else {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("{NAME}: hNewKernel is none of the alternatives that the command was appended with"),
            ));
        };
        if Arc::ptr_eq(kernel, &launch.kernel) {
            return Ok(());
        }
        let mut arguments = with_set_arguments(kernel, |set| Arguments::read(set, kernel.parameters()))?;
        let most = kernel.parameters().map_or(launch.arguments.count(), <[usize]>::len);
        launch.arguments.fill_gaps_of(&mut arguments, most);
        launch.kernel = Arc::clone(kernel);
        launch.arguments = arguments;
        Ok(())
    }

    fn resize(&self, launch: &mut RecordedKernel<D>) -> Result<()> {
        if self.dimensions == 0 {
            return Ok(());
        }
        let sizes = &mut launch.sizes;
        if self.dimensions != sizes.dimensions && self.global.is_none() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!(
                    "{NAME}: newWorkDim is {} where the launch has {} dimensions; give pNewGlobalWorkSize too",
                    self.dimensions, sizes.dimensions
                ),
            ));
        }
        let three = |sizes: &[usize], missing| core::array::from_fn(|axis| sizes.get(axis).copied().unwrap_or(missing));
        if self.dimensions != sizes.dimensions {
            (sizes.dimensions, sizes.offset) = (self.dimensions, [0; 3]);
        }
        if let Some(global) = self.global {
            // Groups of the old size need not fit the new one.
            (sizes.global, sizes.local) = (three(global, 1), None);
        }
        if let Some(local) = self.local {
            sizes.local = Some(three(local, 1));
        }
        if let Some(offset) = self.offset {
            sizes.offset = three(offset, 0);
        }
        Ok(())
    }
}

/// How many arguments a launch can have.
fn parameter_count<D: Driver>(launch: &RecordedKernel<D>) -> usize {
    launch.kernel.parameters().map_or(launch.arguments.count(), <[usize]>::len)
}

/// `urCommandBufferUpdateKernelLaunchExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is not finalised or not updatable; `INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP` for a
/// command of another buffer or one that is no kernel launch; as [`Change::read`] and an append. Nothing has changed then.
pub fn update_kernels<D: Driver>(buffer: &Object<CommandBuffer<D>>, updates: &[Description]) -> Result<()> {
    buffer.check_changeable(NAME)?;
    let executable = buffer.executable()?;
    let _change = buffer.begin_change();
    let mut touched = Touched::default();
    updates.iter().try_for_each(|description| touched.plan(buffer, description))?;
    let _scope = buffer.state().enter()?;
    executable.with(|driver, exec| touched.make(buffer, driver, exec))?;
    touched.commit(buffer);
    Ok(())
}

/// The commands that a change is about, each once.
struct Touched<'a, D: Driver> {
    commands: SmallVec<[&'a KernelCommand<D>; 4]>,
}

impl<D: Driver> Default for Touched<'_, D> {
    fn default() -> Self {
        Self { commands: SmallVec::new() }
    }
}

impl<D: Driver> Drop for Touched<'_, D> {
    fn drop(&mut self) {
        for command in &self.commands {
            command.state.lock().next = None;
        }
    }
}

impl<'a, D: Driver> Touched<'a, D> {
    /// Checks a description and makes its command's next form.
    fn plan(&mut self, buffer: &Object<CommandBuffer<D>>, description: &'a Description) -> Result<()> {
        let change = Change::<D>::read(description)?;
        if !core::ptr::eq(change.command.buffer.as_ptr(), buffer) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
                format!("{NAME}: hCommand is a command of another command buffer"),
            ));
        }
        let command = change.command.kernel()?;
        let mut state = command.state.lock();
        let is_first = state.next.is_none();
        let mut next = state.next.take().unwrap_or_else(|| state.launch.clone());
        let planned = change.apply(&mut next, command, &command.first).and_then(|()| check(&next, buffer));
        // Whatever comes of it, the command is looked at when the change ends.
        state.next = Some(next);
        if is_first {
            self.commands.push(command);
        }
        planned
    }

    /// Changes the native nodes; those before a failure are changed back.
    fn make(&self, buffer: &CommandBuffer<D>, driver: &D, exec: &D::GraphExec) -> Result<()> {
        for (made, command) in self.commands.iter().enumerate() {
            let state = command.state.lock();
            let Some(next) = &state.next else { continue };
            let wrong = mutation::is(mutation::Bug::GraphWrongNode);
            let node = if wrong { self.commands[(made + 1) % self.commands.len()].node } else { command.node };
            if let Err(error) = set(buffer, driver, exec, node, next, state.is_enabled) {
                drop(state);
                self.undo(buffer, driver, exec, made + 1);
                return Err(error);
            }
        }
        Ok(())
    }

    #[cold]
    fn undo(&self, buffer: &CommandBuffer<D>, driver: &D, exec: &D::GraphExec, count: usize) {
        for command in &self.commands[..count] {
            let KernelState { launch, is_enabled, .. } = &*command.state.lock();
            // What was there before is taken again; the failure that led here is the one to tell of.
            let _ = set(buffer, driver, exec, command.node, launch, !is_enabled);
        }
    }

    /// Notes what later launches do.
    fn commit(&self, buffer: &CommandBuffer<D>) {
        for command in &self.commands {
            let mut state = command.state.lock();
            let Some(next) = state.next.take() else { continue };
            let before = core::mem::replace(&mut state.launch, next);
            state.is_enabled = !state.launch.is_empty();
            state.is_changed = true;
            // Both were looked at before, so neither fails.
            let (old, new) = (before.uses(&buffer.context), state.launch.uses(&buffer.context));
            new.into_iter().flatten().for_each(|used| buffer.memory().add(used));
            old.into_iter().flatten().for_each(|used| buffer.memory().remove(&used));
        }
    }
}

/// Whether a launch can be made, by all that an append checks.
fn check<D: Driver>(launch: &RecordedKernel<D>, buffer: &CommandBuffer<D>) -> Result<()> {
    launch.uses(&buffer.context)?;
    launch.with_native(NAME, buffer.state(), |_, _| Ok(())).map(drop)
}

/// Makes a node do what a launch says.
fn set<D: Driver>(
    buffer: &CommandBuffer<D>,
    driver: &D,
    exec: &D::GraphExec,
    node: D::GraphNode,
    launch: &RecordedKernel<D>,
    was_enabled: bool,
) -> Result<()> {
    // SAFETY: `with_native` gives a list with an entry for every parameter; the command keeps kernel and memory objects, and
    // addresses are valid for later launches by the application's promise. The node is one of a kernel of this graph.
    let set = launch.with_native(NAME, buffer.state(), |kernel, arguments| unsafe {
        driver.set_kernel(exec, node, kernel, arguments, &buffer.state().primary_context)
    })?;
    let is_enabled = set.is_some();
    if is_enabled != was_enabled { driver.enable_node(exec, node, is_enabled) } else { Ok(()) }
}
