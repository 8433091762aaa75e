//! The copies of maps and unmaps of bytes that are at one address for good (`urbench`'s row "objects: map + unmap 4 KiB").
//!
//! Such bytes need no lock, no look where they are and no note of who uses them, so there is one native copy and nothing around
//! it. Whatever else there is (bytes that move, bytes that are not wanted) goes through [`crate::buffer::command`]; so does a
//! command that is deferred, from then on.

use std::sync::Arc;

use crate::buffer::command::{Work, deferred};
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::maps::{MapStaging, Single};
use crate::buffer::moving::Access;
use crate::buffer::storage::{BufferAccess, Storage};
use crate::command::deferral::{Deferring, Owned};
use crate::command::submission::Submission;
use crate::command::{Command, Request, submit, submit_and_wait};
use crate::driver::Driver;
use crate::memory_object::Mem;
use crate::memory_object::map::{CopyOut, UnmappingSingle};
use crate::object::Object;
use crate::object::error::Result;

/// Enqueues the copy of a buffer's bytes into a map's memory.
///
/// # Errors
/// As [`submit`]; what the native library answers.
#[inline]
pub fn fill_map<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    storage: &Arc<Storage<D>>,
    access: &Access,
    bytes: CommandBytes,
    staging: &mut Option<MapStaging<D>>,
) -> Result<()> {
    let command = FillMap { storage, access, bytes, staging };
    if blocking { submit_and_wait(request, command) } else { submit(request, command) }
}

/// Enqueues the copy of a map's memory into the buffer's bytes.
///
/// # Errors
/// As [`submit`]; what the native library answers.
#[inline]
pub fn empty_map<D: Driver>(
    request: &Request<'_, D>,
    mem: &Object<Mem<D>>,
    bytes: CommandBytes,
    pointer: usize,
    single: &mut Single<D>,
) -> Result<()> {
    submit(request, EmptyMap { bytes, unmapping: UnmappingSingle { mem, pointer, single } })
}

/// Notes that a command copies through a map's memory; gives its bytes. Before the copy, as everywhere.
#[inline(always)]
fn use_staging<D: Driver>(submission: &Submission<'_, D>, staging: &mut Option<MapStaging<D>>) -> CommandBytes {
    let Some(staging) = staging else { unreachable!("a map that is staged has memory") };
    staging.lend(|staging| {
        staging.used_by(submission.stream(), submission.position());
        CommandBytes::of_staging(staging)
    })
}

struct FillMap<'m, D: Driver> {
    storage: &'m Arc<Storage<D>>,
    access: &'m Access,
    bytes: CommandBytes,
    staging: &'m mut Option<MapStaging<D>>,
}

impl<D: Driver> Command<D> for FillMap<'_, D> {
    type Output = ();

    #[inline]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let to = use_staging(submission, self.staging);
        let _scope = submission.stream().device.enter_for_transfer()?;
        command_bytes::copy(submission.driver(), submission.native(), to, self.bytes)
    }

    #[cold]
    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let used = BufferAccess::anywhere(self.storage, self.access.range.clone());
        let work = Work::<D>::into_owned(CopyOut { staging: self.staging, reads: true });
        Ok((deferred(&[used], work), ()))
    }
}

struct EmptyMap<'m, D: Driver> {
    bytes: CommandBytes,
    unmapping: UnmappingSingle<'m, D>,
}

impl<D: Driver> Command<D> for EmptyMap<'_, D> {
    type Output = ();

    #[inline]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let from = use_staging(submission, &mut self.unmapping.single.staging);
        let _scope = submission.stream().device.enter_for_transfer()?;
        command_bytes::copy(submission.driver(), submission.native(), self.bytes, from)
    }

    #[cold]
    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let (mem, range) = (self.unmapping.mem, self.unmapping.single.range.clone());
        let used = BufferAccess::on_device(&mem.buffer()?.storage, Access { range, reads: false, writes: true });
        Ok((deferred(&[used], self.unmapping.into_owned()), ()))
    }
}
