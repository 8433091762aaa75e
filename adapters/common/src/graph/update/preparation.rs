//! What changes need that the native library can wait for, made before anything is locked: memory of new memory objects at the
//! buffer's device, and the variants of kernels that take a global offset, which are compiled and loaded.
//!
//! Another change, perhaps in a host task for which the native library waits, has the same lock. What is made here is asked for
//! again when the launch is laid out, and whatever is wrong is found then. Only where two threads change one launch at one time, one
//! its kernel and the other its first offset, is a variant made under the lock.

use std::collections::HashMap;
use std::sync::Arc;

use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::executable::Executable;
use crate::graph::recorded_kernel::{Arguments, RecordedSizes};
use crate::kernel::Kernel;
use crate::kernel::arguments::with_set_arguments;
use crate::memory_object::Mem;
use crate::object::Object;
use crate::object::error::Result;

use super::{Change, Description, NAME, NewArgument};

/// Whether a description says anything for which there may be something to make.
#[inline]
pub(super) fn is_wanted(description: &Description) -> bool {
    description.numNewMemObjArgs != 0
        || !description.hNewKernel.is_null()
        || !description.pNewGlobalWorkOffset.is_null()
}

/// A launch as the descriptions so far leave it.
struct Planned<D: Driver> {
    kernel: Arc<Object<Kernel<D>>>,
    sizes: RecordedSizes,
}

/// Makes what the descriptions want.
#[inline(never)]
pub(super) fn prepare<D: Driver>(
    buffer: &Object<CommandBuffer<D>>,
    executable: &Executable<D>,
    updates: &[Description],
) {
    let mut planned = HashMap::new();
    // The change ends at the first description that is wrong.
    let _ = updates.iter().try_for_each(|description| {
        let change = Change::<D>::read(description)?;
        for (_, new) in change.arguments().0.flatten() {
            if let NewArgument::Memory(Some(mem), _) = new {
                make_memory(buffer, mem);
            }
        }
        prepare_kernel(buffer, executable, &change, &mut planned)
    });
}

/// What the kernel of a launch wants that gets another one, or an offset.
fn prepare_kernel<D: Driver>(
    buffer: &Object<CommandBuffer<D>>,
    executable: &Executable<D>,
    change: &Change<'_, D>,
    planned: &mut HashMap<u32, Planned<D>>,
) -> Result<()> {
    let is_own = core::ptr::eq(change.command.buffer.as_ptr(), buffer);
    if !is_own || (change.kernel.is_none() && change.dimensions == 0) {
        return Ok(());
    }
    let index = change.command.launch()?;
    let launch = planned.entry(index).or_insert_with(|| {
        let recorded = &executable.changes().launches[index as usize].recorded;
        Planned { kernel: Arc::clone(&recorded.kernel), sizes: recorded.sizes }
    });
    if let Some(kernel) = change.kernel
        && !core::ptr::eq(Arc::as_ptr(&launch.kernel), kernel)
    {
        launch.kernel = kernel.to_arc();
        let set = with_set_arguments(kernel, |set| Arguments::read(set, kernel.parameters()))?;
        set.memory().for_each(|(mem, _)| make_memory(buffer, mem));
    }
    change.resize(&mut launch.sizes)?;
    if launch.sizes.offset != [0; 3] {
        launch.kernel.on_state(buffer.state())?.function_with_offset(NAME)?;
    }
    Ok(())
}

/// Makes the memory of a memory object at the buffer's device.
fn make_memory<D: Driver>(buffer: &CommandBuffer<D>, mem: &Object<Mem<D>>) {
    if Arc::ptr_eq(mem.context(), &buffer.context) {
        // A failure is told when it is asked for again.
        let _ = mem.make_at(buffer.state());
    }
}
