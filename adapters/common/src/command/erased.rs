//! Commands whose type is known behind a pointer alone: what is not hot is compiled once, and not once for each command.
//!
//! A capture, a command that is kept, another try behind a relief, a command that is waited for: each goes the way of every
//! command, by [`Erased`], which is one itself. It costs a move of the command and a few indirect calls, so what is launched,
//! copied or allocated again and again is not put on its stream by it.
//!
//! Must not change what a command does, or when.

use core::ops::ControlFlow;

use crate::command::deferral::{Deferring, Owned};
use crate::command::submission::Submission;
use crate::command::{Command, Request};
use crate::driver::Driver;
use crate::object::error::Result;
use crate::stream::StreamState;
use crate::stream::capture::Capture;

/// As [`crate::command::submit`], for a command that nobody enqueues so often that an indirect call counts.
///
/// # Errors
/// As there.
pub(crate) fn submit<D: Driver, C: Command<D>>(request: &Request<'_, D>, command: C) -> Result<C::Output> {
    with_erased(command, |command| submit_erased(request, command))
}

#[inline(never)]
fn submit_erased<D: Driver>(request: &Request<'_, D>, command: Erased<'_, D>) -> Result<()> {
    super::submit(request, command)
}

/// Has `then` put a command somewhere, and gives what the command gives.
pub(crate) fn with_erased<D: Driver, C: Command<D>>(
    command: C,
    then: impl FnOnce(Erased<'_, D>) -> Result<()>,
) -> Result<C::Output> {
    let mut slot = Slot::<D, C> { command: Some(command), output: None };
    then(Erased(&mut slot))?;
    let Some(output) = slot.output else { unreachable!("a command that went well has an output") };
    Ok(output)
}

/// A command of whatever type.
pub(crate) struct Erased<'c, D: Driver>(&'c mut (dyn Steps<D> + 'c));

impl<D: Driver> Command<D> for Erased<'_, D> {
    type Output = ();

    fn touches_stream(&self) -> bool {
        self.0.touches_stream()
    }

    fn prepare(&mut self, state: &mut StreamState<D>) -> Result<ControlFlow<()>> {
        self.0.prepare(state)
    }

    fn undo(&mut self, state: &mut StreamState<D>) {
        self.0.undo(state);
    }

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.0.put_on(submission)
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        self.0.check_capture(capture)
    }

    fn put_in_capture(self, submission: &mut Submission<'_, D>, capture: &Capture<D>) -> Result<()> {
        self.0.put_in_capture(submission, capture)
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((self.0.make_owned(deferring)?, ()))
    }
}

/// A command, and what it gives once it went.
struct Slot<D: Driver, C: Command<D>> {
    command: Option<C>,
    output: Option<C::Output>,
}

impl<D: Driver, C: Command<D>> Slot<D, C> {
    fn get(&mut self) -> &mut C {
        let Some(command) = &mut self.command else { unreachable!("a command goes once") };
        command
    }

    fn take(&mut self) -> C {
        let Some(command) = self.command.take() else { unreachable!("a command goes once") };
        command
    }
}

/// The steps of a [`Command`], with its output left in the slot.
trait Steps<D: Driver> {
    fn touches_stream(&self) -> bool;
    fn prepare(&mut self, state: &mut StreamState<D>) -> Result<ControlFlow<()>>;
    fn undo(&mut self, state: &mut StreamState<D>);
    fn put_on(&mut self, submission: &mut Submission<'_, D>) -> Result<()>;
    fn check_capture(&self, capture: &Capture<D>) -> Result<()>;
    fn put_in_capture(&mut self, submission: &mut Submission<'_, D>, capture: &Capture<D>) -> Result<()>;
    fn make_owned(&mut self, deferring: &Deferring<'_, D>) -> Result<Box<dyn Owned<D>>>;
}

impl<D: Driver, C: Command<D>> Steps<D> for Slot<D, C> {
    fn touches_stream(&self) -> bool {
        self.command.as_ref().is_some_and(Command::touches_stream)
    }

    fn prepare(&mut self, state: &mut StreamState<D>) -> Result<ControlFlow<()>> {
        Ok(match self.get().prepare(state)? {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(output) => {
                self.output = Some(output);
                ControlFlow::Break(())
            }
        })
    }

    fn undo(&mut self, state: &mut StreamState<D>) {
        self.get().undo(state);
    }

    fn put_on(&mut self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.output = Some(self.take().put_on(submission)?);
        Ok(())
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        self.command.as_ref().map_or(Ok(()), |command| command.check_capture(capture))
    }

    fn put_in_capture(&mut self, submission: &mut Submission<'_, D>, capture: &Capture<D>) -> Result<()> {
        self.output = Some(self.take().put_in_capture(submission, capture)?);
        Ok(())
    }

    fn make_owned(&mut self, deferring: &Deferring<'_, D>) -> Result<Box<dyn Owned<D>>> {
        let (owned, output) = self.take().into_owned(deferring)?;
        self.output = Some(output);
        Ok(owned)
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use ur_ffi::ur_result_t;

    use super::*;
    use crate::api::noop::Noop;

    struct Touches(bool);

    impl Command<Noop> for Touches {
        type Output = ();

        fn touches_stream(&self) -> bool {
            self.0
        }

        fn put_on(self, _: &mut Submission<'_, Noop>) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_command_says_itself_whether_it_touches_its_stream() {
        for touches in [false, true] {
            let told = Cell::new(None);
            let ended = with_erased(Touches(touches), |command| {
                told.set(Some(command.touches_stream()));
                Err(ur_result_t::ERROR_UNKNOWN.into())
            });
            assert_eq!(ended.map_err(|error| error.code()), Err(ur_result_t::ERROR_UNKNOWN));
            assert_eq!(told.get(), Some(touches));
        }
    }
}
