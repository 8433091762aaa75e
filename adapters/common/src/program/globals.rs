//! Variables of a program, read and written by name; and the copy between any two pointers that needs no queue.
//!
//! A name is looked up in the program's own table first (compilers mangle the names of variables and say in the
//! program's metadata what became of them), then taken as the symbol itself. Nothing is cached: a program may be built
//! for several devices, each with a variable of its own.

use crate::command::Enqueue;
use crate::object::Object;
use crate::object::params::Address;
use core::ffi::CStr;
use std::ffi::CString;

use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::deferral::{Deferring, Owned, by_blocking_function};
use crate::command::submission::Submission;
use crate::command::{Command, Request, erased, submit_and_wait};
use crate::context::Context;
use crate::context::DeviceState;
use crate::driver::{Driver, MemoryKind};
use crate::object::error::{Error, Result};
use crate::program::Program;
use crate::usm::from_application::submit_erased_from;

/// The address of `count` bytes of a program's variable on the queue's device.
fn find<D: Driver>(
    call: &str,
    request: &Request<'_, D>,
    program: &Program<D>,
    name: &CStr,
    count: usize,
    offset: usize,
) -> Result<usize> {
    let shown = name.to_string_lossy();
    let state = &request.queue.device;
    let here = |module: &std::sync::Arc<crate::program::Module<D>>| std::sync::Arc::ptr_eq(&module.state, state);
    let module = program.modules().into_iter().find(here).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_PROGRAM_EXECUTABLE,
            format!("{call}: the program is not built for the queue's device and context"),
        )
    })?;
    let symbol = program.metadata.symbol_of(&shown).map_or(name, CString::as_c_str);
    let found = if symbol.is_empty() {
        None
    } else {
        let _scope = state.enter()?;
        state.driver.global(&module.raw, symbol)?
    };
    let (address, size) = found.ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{call}: the program has no variable `{shown}`"))
    })?;
    if offset.checked_add(count).is_none_or(|end| end > size) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{call}: {count} bytes from byte {offset} on are not in `{shown}`, which has {size}"),
        ));
    }
    if count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{call}: count is 0")));
    }
    Ok(address + offset)
}

/// A copy to or from a device global. Both ranges are valid until it has finished.
struct CopyGlobal<'a, D: Driver> {
    device: &'a DeviceState<D>,
    /// What the variable is one of.
    program: &'a Object<Program<D>>,
    to: usize,
    from: usize,
    size: usize,
}

impl<D: Driver> Command<D> for CopyGlobal<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let _scope = self.device.enter_for_transfer()?;
        // SAFETY: the variable holds its range, as `find` has seen; the manual owes the other one until the copy has finished.
        unsafe { submission.driver().copy_async(self.to, self.from, self.size, submission.native()) }
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let (program, to, from, size) = (self.program.to_arc(), self.to, self.from, self.size);
        Ok((
            // The other side can be memory that the native library does not know.
            by_blocking_function(move |request| {
                erased::submit(request, CopyGlobal { device: &request.queue.device, program: &program, to, from, size })
            }),
            (),
        ))
    }
}

/// `urEnqueueDeviceGlobalVariableWrite`.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_PROGRAM_EXECUTABLE` for a program that is not built for the queue's device;
/// `INVALID_VALUE` for a name that it does not have or bytes outside of the variable; `INVALID_SIZE` for no bytes; as
/// [`Request::new`]; what the native library answers.
pub fn write<D: Driver>(
    enqueue: Enqueue<'_, D>,
    program: &Object<Program<D>>,
    name: &CStr,
    blocking: bool,
    count: usize,
    offset: usize,
    from: Address,
) -> Result<()> {
    const NAME: &str = "urEnqueueDeviceGlobalVariableWrite";
    const COMMAND: ur_command_t = ur_command_t::DEVICE_GLOBAL_VARIABLE_WRITE;
    let request = enqueue.request(COMMAND);
    let to = find(NAME, &request, program, name, count, offset)?;
    let copy = CopyGlobal { device: &request.queue.device, program, to, from: from.addr(), size: count };
    submit_erased_from(&request, blocking, from.addr()..from.addr().saturating_add(count), copy)
}

/// `urEnqueueDeviceGlobalVariableRead`.
///
/// # Errors
/// As [`write()`].
pub fn read<D: Driver>(
    enqueue: Enqueue<'_, D>,
    program: &Object<Program<D>>,
    name: &CStr,
    blocking: bool,
    count: usize,
    offset: usize,
    to: Address,
) -> Result<()> {
    const NAME: &str = "urEnqueueDeviceGlobalVariableRead";
    const COMMAND: ur_command_t = ur_command_t::DEVICE_GLOBAL_VARIABLE_READ;
    let request = enqueue.request(COMMAND);
    let from = find(NAME, &request, program, name, count, offset)?;
    let copy = CopyGlobal { device: &request.queue.device, program, to: to.addr(), from, size: count };
    if blocking { submit_and_wait(&request, copy) } else { erased::submit(&request, copy) }
}

/// `urUSMContextMemcpyExp`: runs on a stream of no queue and returns when the bytes are there. It is ordered after nothing
/// that is queued.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE` for no bytes; what the native library answers.
pub fn context_memcpy<D: Driver>(context: &Object<Context<D>>, to: Address, from: Address, size: usize) -> Result<()> {
    const NAME: &str = "urUSMContextMemcpyExp";
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{NAME}: size is 0")));
    }
    let driver = crate::device::adapter::driver::<D>()?;
    // The device that has one of the ranges copies best.
    let owner = |pointer: usize| -> Result<_> {
        let info = driver.pointer_info(pointer)?.filter(|info| info.kind == MemoryKind::Device);
        Ok(info.and_then(|info| context.devices().find(|device| device.raw == info.device)))
    };
    let device = match owner(to.addr())? {
        Some(device) => device,
        None => match owner(from.addr())? {
            Some(device) => device,
            None => context.devices().next().ok_or(ur_result_t::ERROR_INVALID_CONTEXT)?,
        },
    };
    // A stream of its own: the copy may block, and what others need of a stream must not wait for it.
    let state = context.state(device)?;
    state.on_scratch_stream(|stream| {
        // SAFETY: the ranges are valid as the manual says, and the copy has finished when this returns.
        state.transfer(|| unsafe { driver.copy_async(to.addr(), from.addr(), size, stream) })?;
        driver.synchronize_stream(stream).map_err(|error| state.failed(error))
    })
}
