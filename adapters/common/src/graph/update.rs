//! `urCommandBufferUpdateKernelLaunchExp`: kernels, arguments and sizes of launches that are recorded.
//!
//! What the native library can wait for is made before anything is locked ([`preparation`]). Then a change is made in two steps.
//! First every description is checked and made to what the buffer knows of its launches, with what was there saved. Then the
//! native library is told ([`Executable::tell`](crate::graph::executable::Executable::tell)). If
//! either fails, what was saved is put back, so that nothing is half-made. A launch that runs is left alone: the native library applies
//! changes to later launches.
//!
//! A value of the size that it had is a store into the launch's bytes. Everything else has the launch checked and laid out
//! anew.

mod preparation;

use std::sync::Arc;

use parking_lot::MutexGuard;
use ur_ffi::{
    ur_exp_command_buffer_update_kernel_launch_desc_t as Description,
    ur_exp_command_buffer_update_memobj_arg_desc_t as NewMemory,
    ur_exp_command_buffer_update_pointer_arg_desc_t as NewPointer,
    ur_exp_command_buffer_update_value_arg_desc_t as NewValue, ur_mem_flags_t, ur_result_t,
};

use crate::driver::Driver;
use crate::graph::command::BufferCommand;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::executable::Leftovers;
use crate::graph::executable::changes::{Changes, SAVED_BYTES, SavedValue};
use crate::graph::executable::launch::ChangeableLaunch;
use crate::graph::recorded_kernel::{Arguments, Content, NativeForm, RecordedKernel, RecordedSizes};
use crate::kernel::Kernel;
use crate::kernel::argument_list::no_such_argument;
use crate::kernel::arguments::with_set_arguments;
use crate::kernel::work_size::in_three;
use crate::memory_object::Mem;
use crate::memory_object::arguments::check_access;
use crate::object::error::{Error, Result};
use crate::object::{Object, params};
use crate::sync::unlikely::unlikely;

const NAME: &str = "urCommandBufferUpdateKernelLaunchExp";

/// A pointer's bytes, wherever they lie.
type Pointer = [u8; size_of::<usize>()];

/// What an argument is to be.
enum NewArgument<'a, D: Driver> {
    /// A memory object, or none, and what the kernel does with it.
    Memory(Option<&'a Object<Mem<D>>>, ur_mem_flags_t),
    /// A value, a pointer among them.
    Value(&'a [u8]),
    /// So much work-group memory.
    Local(usize),
}

/// An argument by its index, or what is wrong with it.
type IndexedArgument<'a, D> = Result<(usize, NewArgument<'a, D>)>;

/// What one description says. Its handles and lists were checked, the entries of the lists not.
struct Change<'a, D: Driver> {
    command: &'a Object<BufferCommand<D>>,
    kernel: Option<&'a Object<Kernel<D>>>,
    memory: &'a [NewMemory],
    pointers: &'a [NewPointer],
    values: &'a [NewValue],
    dimensions: u32,
    offset: Option<&'a [usize]>,
    global: Option<&'a [usize]>,
    local: Option<&'a [usize]>,
}

impl<'a, D: Driver> Change<'a, D> {
    /// Reads a description.
    ///
    /// # Errors
    /// `INVALID_NULL_HANDLE`, `INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP`, `INVALID_KERNEL` for handles that are none;
    /// `INVALID_NULL_POINTER` for a list that is missing; `INVALID_WORK_DIMENSION`.
    #[inline(always)]
    fn read(description: &'a Description) -> Result<Self> {
        let dimensions = description.newWorkDim;
        if dimensions > 3 {
            return Err(too_many_dimensions(dimensions));
        }
        // SAFETY: C owes a description what the manual says of it: handles are null or alive, lists hold as many elements as
        // their counts say, for as long as the call lasts.
        unsafe {
            let size = |sizes: *const usize| -> Result<Option<&'a [usize]>> {
                if dimensions == 0 { Ok(None) } else { params::slice_or_none("a new work size", dimensions, sizes) }
            };
            let (memory, pointers, values) =
                (description.numNewMemObjArgs, description.numNewPointerArgs, description.numNewValueArgs);
            Ok(Self {
                memory: params::optional_slice("pNewMemObjArgList", memory, description.pNewMemObjArgList)?,
                pointers: params::optional_slice("pNewPointerArgList", pointers, description.pNewPointerArgList)?,
                values: params::optional_slice("pNewValueArgList", values, description.pNewValueArgList)?,
                command: params::handle(NAME, description.hCommand)?,
                kernel: params::optional_handle("hNewKernel", description.hNewKernel)?,
                dimensions,
                offset: size(description.pNewGlobalWorkOffset)?,
                global: size(description.pNewGlobalWorkSize)?,
                local: size(description.pNewLocalWorkSize)?,
            })
        }
    }

    /// Whether it says nothing but pointers and values.
    #[inline]
    fn is_of_values_alone(&self) -> bool {
        self.kernel.is_none() && self.dimensions == 0 && self.memory.is_empty()
    }

    /// The new arguments with their indices: memory objects, pointers, and the others.
    ///
    /// # Errors
    /// Of a memory object `INVALID_MEM_OBJECT` for a handle that is none, `INVALID_ENUMERATION` and `INVALID_VALUE` for flags.
    #[inline(always)]
    fn arguments(
        &self,
    ) -> (
        impl Iterator<Item = IndexedArgument<'a, D>>,
        impl Iterator<Item = (usize, Pointer)>,
        impl Iterator<Item = IndexedArgument<'a, D>>,
    ) {
        // SAFETY: C owes the entries of a description's lists what the manual says of them: handles are null or alive, values
        // have as many bytes as their sizes say and pointers those of an address, for as long as the call lasts.
        unsafe {
            let memory = self.memory.iter().map(|new| {
                let mem = params::optional_handle("hNewMemObjArg", new.hNewMemObjArg)?;
                let flags =
                    params::optional(new.pProperties).map_or(ur_mem_flags_t::READ_WRITE, |own| own.memoryAccess);
                check_access(flags)?;
                Ok((new.argIndex as usize, NewArgument::Memory(mem, flags)))
            });
            let pointers = self.pointers.iter().map(|new| {
                let pointer = params::optional(new.pNewPointerArg.cast::<Pointer>()).copied();
                (new.argIndex as usize, pointer.unwrap_or_default())
            });
            let values = self.values.iter().map(|new| {
                let bytes = params::slice_or_none("pNewValueArg", new.argSize, new.pNewValueArg.cast::<u8>())?;
                Ok((new.argIndex as usize, bytes.map_or(NewArgument::Local(new.argSize), NewArgument::Value)))
            });
            (memory, pointers, values)
        }
    }

    /// Makes the launch what the description says, with arguments of any kind.
    fn apply(&self, launch: &mut ChangeableLaunch<D>) -> Result<()> {
        if let Some(kernel) = self.kernel {
            exchange(launch, kernel)?;
        }
        let most = parameter_count(&launch.recorded);
        let arguments = &mut launch.recorded.arguments;
        let mut set = |index: usize, new: NewArgument<'_, D>| {
            if index >= most {
                return Err(no_such_argument(index, most));
            }
            match new {
                NewArgument::Memory(mem, flags) => {
                    arguments.set(index, Content::Memory(mem.map(Object::to_arc), flags));
                }
                NewArgument::Value(bytes) => arguments.set_value(index, bytes),
                NewArgument::Local(size) => arguments.set(index, Content::Local(size)),
            }
            Ok(())
        };
        let (mut memory, mut pointers, mut values) = self.arguments();
        memory.try_for_each(|new| new.and_then(|(index, new)| set(index, new)))?;
        pointers.try_for_each(|(index, pointer)| set(index, NewArgument::Value(&pointer)))?;
        values.try_for_each(|new| new.and_then(|(index, new)| set(index, new)))?;
        self.resize(&mut launch.recorded.sizes)
    }

    fn resize(&self, sizes: &mut RecordedSizes) -> Result<()> {
        if self.dimensions == 0 {
            return Ok(());
        }
        if self.dimensions != sizes.dimensions && self.global.is_none() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!(
                    "{NAME}: newWorkDim is {} where the launch has {} dimensions; give pNewGlobalWorkSize too",
                    self.dimensions, sizes.dimensions
                ),
            ));
        }
        if self.dimensions != sizes.dimensions {
            (sizes.dimensions, sizes.offset) = (self.dimensions, [0; 3]);
        }
        if let Some(global) = self.global {
            // Groups of the old size need not fit the new one.
            (sizes.global, sizes.local) = (in_three(global, 1), None);
        }
        if let Some(local) = self.local {
            sizes.local = Some(in_three(local, 1));
        }
        if let Some(offset) = self.offset {
            sizes.offset = in_three(offset, 0);
        }
        Ok(())
    }
}

/// Makes a launch another kernel's: with the arguments that are set on that one, and the launch's own where none is.
fn exchange<D: Driver>(launch: &mut ChangeableLaunch<D>, kernel: &Object<Kernel<D>>) -> Result<()> {
    let mut known = launch.alternatives.iter().chain([&launch.first]);
    let Some(kernel) = known.find(|known| core::ptr::eq(Arc::as_ptr(known), kernel)) else {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: hNewKernel is none of the alternatives that the command was appended with"),
        ));
    };
    let recorded = &mut launch.recorded;
    if Arc::ptr_eq(kernel, &recorded.kernel) {
        return Ok(());
    }
    let mut arguments = with_set_arguments(kernel, |set| Arguments::read(set, kernel.parameters()))?;
    let most = kernel.parameters().map_or(recorded.arguments.count(), <[usize]>::len);
    recorded.arguments.fill_gaps_of(&mut arguments, most);
    recorded.kernel = Arc::clone(kernel);
    recorded.arguments = arguments;
    Ok(())
}

/// How many arguments a launch can have.
fn parameter_count<D: Driver>(launch: &RecordedKernel<D>) -> usize {
    launch.kernel.parameters().map_or(launch.arguments.count(), <[usize]>::len)
}

#[cold]
fn too_many_dimensions(dimensions: u32) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_WORK_DIMENSION,
        format!("{NAME}: newWorkDim is {dimensions}; a launch has 1, 2 or 3 dimensions, and 0 changes no size"),
    )
}

#[cold]
fn foreign_command() -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
        format!("{NAME}: hCommand is a command of another command buffer"),
    )
}

/// `urCommandBufferUpdateKernelLaunchExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is not finalised or not updatable; `INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP` for a
/// command of another buffer or one that is no kernel launch; as [`Change::read`] and an append. Nothing has changed then.
pub fn update_kernels<D: Driver>(buffer: &Object<CommandBuffer<D>>, updates: &[Description]) -> Result<()> {
    let executable = buffer.changeable(NAME)?;
    if unlikely!(updates.iter().any(preparation::is_wanted)) {
        preparation::prepare(buffer, executable, updates);
    }
    let mut update = Update::begin(buffer, executable.changes());
    update.saved.values.reserve(updates.len());
    updates.iter().try_for_each(|description| update.change(description))?;
    let (changes, saved) = (&mut *update.changes, &mut update.saved);
    count_memory(buffer, changes, saved);
    let told = executable.tell(changes, buffer.state(), |changes| {
        saved.put_back(changes);
        count_memory(buffer, changes, saved);
    });
    update.end();
    told
}

/// What else a change replaced.
enum SavedMore<D: Driver> {
    /// More bytes of a value.
    Value { launch: u32, at: u32, bytes: Box<[u8]> },
    /// All of a launch.
    Whole { launch: u32, state: Box<(RecordedKernel<D>, Option<NativeForm<D>>)> },
}

/// What a change replaced. Of a launch that is here as a whole, values were saved before that alone.
struct Saved<D: Driver> {
    values: Vec<SavedValue>,
    more: Vec<SavedMore<D>>,
}

impl<D: Driver> Saved<D> {
    /// Stores a value where the old one is, which is kept. Answers whether it could be. Values of most sizes are moved without
    /// a call.
    #[inline(always)]
    fn store(&mut self, launch: &mut ChangeableLaunch<D>, index: u32, argument: usize, value: &[u8]) -> bool {
        match *value {
            [a, b, c, d, e, f, g, h] => self.store_sized(launch, index, argument, [a, b, c, d, e, f, g, h]),
            [a, b, c, d] => self.store_sized(launch, index, argument, [a, b, c, d]),
            _ => self.store_any(launch, index, argument, value),
        }
    }

    /// The size is not above that of a saved value.
    #[inline(always)]
    fn store_sized<const SIZE: usize>(
        &mut self,
        launch: &mut ChangeableLaunch<D>,
        index: u32,
        argument: usize,
        value: [u8; SIZE],
    ) -> bool {
        let is_saved = launch.is_saved;
        let Some((at, bytes)) = launch.recorded.arguments.bytes_of(argument, SIZE) else { return false };
        let Ok(place) = <&mut [u8; SIZE]>::try_from(bytes) else { return false };
        if !is_saved {
            let mut old = [0; SAVED_BYTES];
            old[..SIZE].copy_from_slice(place);
            // Neither a launch's values nor one of them have so many bytes.
            self.values.push(SavedValue { launch: index, at: at as u32, size: SIZE as u32, bytes: old });
        }
        *place = value;
        true
    }

    #[inline(never)]
    fn store_any(&mut self, launch: &mut ChangeableLaunch<D>, index: u32, argument: usize, value: &[u8]) -> bool {
        let is_saved = launch.is_saved;
        let Some((at, bytes)) = launch.recorded.arguments.bytes_of(argument, value.len()) else { return false };
        if !is_saved && bytes.len() <= SAVED_BYTES {
            let mut old = [0; SAVED_BYTES];
            old[..bytes.len()].copy_from_slice(bytes);
            self.values.push(SavedValue { launch: index, at: at as u32, size: bytes.len() as u32, bytes: old });
        } else if !is_saved {
            // A launch's values do not have so many bytes.
            self.more.push(SavedMore::Value { launch: index, at: at as u32, bytes: (&*bytes).into() });
        }
        bytes.copy_from_slice(value);
        true
    }

    /// Exchanges what was saved with what is, the last first.
    #[cold]
    fn put_back(&mut self, changes: &mut Changes<D>) {
        for saved in self.more.iter_mut().rev() {
            match saved {
                SavedMore::Value { launch, at, bytes } => {
                    changes.launches[*launch as usize].recorded.arguments.put_back(*at as usize, bytes);
                }
                SavedMore::Whole { launch, state } => {
                    let launch = &mut changes.launches[*launch as usize];
                    core::mem::swap(&mut launch.recorded, &mut state.0);
                    core::mem::swap(&mut launch.form, &mut state.1);
                }
            }
        }
        for SavedValue { launch, at, size, bytes } in self.values.iter().rev() {
            let arguments = &mut changes.launches[*launch as usize].recorded.arguments;
            arguments.put_back(*at as usize, &bytes[..*size as usize]);
        }
    }
}

/// Counts what changed launches do with buffers and images now, and no more what the saved ones did. Both were checked.
fn count_memory<D: Driver>(buffer: &CommandBuffer<D>, changes: &mut Changes<D>, saved: &Saved<D>) {
    for saved in &saved.more {
        let SavedMore::Whole { launch, state } = saved else { continue };
        let (now, before) = (&changes.launches[*launch as usize].recorded, &state.0);
        if now.has_same_memory(before) {
            continue;
        }
        let (new, old) = (now.uses(&buffer.context), before.uses(&buffer.context));
        new.into_iter().flatten().for_each(|used| changes.memory.add(used));
        old.into_iter().flatten().for_each(|used| changes.memory.remove(&used));
        changes.note_memory_change();
    }
}

/// A change that is under way; unless it comes to its end, all of it is put back.
struct Update<'b, D: Driver> {
    buffer: &'b Object<CommandBuffer<D>>,
    /// Unlocked before what was replaced is dropped: memory may end with it.
    changes: MutexGuard<'b, Changes<D>>,
    saved: Saved<D>,
    leftovers: Leftovers<D>,
    /// What was pending before.
    pending: usize,
    is_over: bool,
}

impl<'b, D: Driver> Update<'b, D> {
    fn begin(buffer: &'b Object<CommandBuffer<D>>, mut changes: MutexGuard<'b, Changes<D>>) -> Self {
        changes.begin();
        let pending = changes.pending();
        let saved = Saved { values: core::mem::take(&mut changes.room_for_values), more: Vec::new() };
        Self { buffer, changes, saved, leftovers: Leftovers::default(), pending, is_over: false }
    }

    /// Checks a description and changes what is known of its launch.
    #[inline]
    fn change(&mut self, description: &Description) -> Result<()> {
        let change = Change::<D>::read(description)?;
        let command = change.command;
        if !core::ptr::eq(command.buffer.as_ptr(), self.buffer) {
            return Err(foreign_command());
        }
        let index = command.launch()?;
        self.changes.note_launch_change(index);
        if unlikely!(!change.is_of_values_alone() || !self.store(index, &change)?) {
            return self.change_all(index, &change);
        }
        Ok(())
    }

    /// Stores new values where the old ones are. Answers whether that is all that the change asks for.
    #[inline(always)]
    fn store(&mut self, index: u32, change: &Change<'_, D>) -> Result<bool> {
        let launch = &mut self.changes.launches[index as usize];
        let (_, pointers, values) = change.arguments();
        let mut stores_all = true;
        for (argument, pointer) in pointers {
            stores_all &= self.saved.store(launch, index, argument, &pointer);
        }
        for new in values {
            let (argument, new) = new?;
            stores_all &= matches!(new, NewArgument::Value(value) if self.saved.store(launch, index, argument, value));
        }
        Ok(stores_all)
    }

    /// Changes anything, and checks what comes of it as an append does.
    #[inline(never)]
    fn change_all(&mut self, index: u32, change: &Change<'_, D>) -> Result<()> {
        let launch = &mut self.changes.launches[index as usize];
        if !launch.is_saved {
            launch.is_saved = true;
            let state = Box::new((launch.recorded.clone(), launch.form.clone()));
            self.saved.more.push(SavedMore::Whole { launch: index, state });
        }
        change.apply(launch)?;
        launch.recorded.uses(&self.buffer.context)?;
        launch.form = launch.recorded.prepare(NAME, self.buffer.state())?;
        Ok(())
    }

    /// Ends the change, whether it was made or put back.
    fn end(mut self) {
        self.is_over = true;
        self.leftovers = self.changes.take_leftovers();
    }
}

impl<D: Driver> Drop for Update<'_, D> {
    fn drop(&mut self) {
        if !self.is_over {
            self.saved.put_back(&mut self.changes);
            self.changes.forget_pending_since(self.pending);
        }
        for saved in &self.saved.more {
            if let SavedMore::Whole { launch, .. } = saved {
                self.changes.launches[*launch as usize].is_saved = false;
            }
        }
        self.saved.values.clear();
        self.changes.room_for_values = core::mem::take(&mut self.saved.values);
    }
}
