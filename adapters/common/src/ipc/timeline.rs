//! Timelines for other processes.
//!
//! The envelope names the process that shares the timeline's file and its descriptor there, as of physical memory. Every process
//! that has such a timeline may share it. `urTimelineReleaseExt` closes one that was opened. What the processes share, and what
//! becomes of it when one ends, is [`crate::timeline::shared`]'s.

use core::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;

use ur_ffi::{ur_ext_timeline_handle_t, ur_result_t};

use crate::context::Context;
use crate::driver::Driver;
use crate::ipc::descriptor::{self, Keeper, Shared};
use crate::ipc::physical::{from_bytes, to_bytes};
use crate::ipc::{Part, retain_handle, seal, take_back, unseal};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::timeline::Timeline;
use crate::timeline::shared::file::{Lent, TimelineFile};
use crate::timeline::shared::system_error;
use crate::timeline::values::Values;

const TIMELINE: [u8; 8] = *b"URIPCTML";

impl Keeper for Lent {
    fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        Self::descriptor(self)
    }
}

/// `urIPCGetTimelineHandleExt`.
///
/// # Errors
/// `INVALID_SYNCHRONIZATION_OBJECT` for a timeline that was not made to be shared; `OUT_OF_RESOURCES` where the system has no
/// descriptor left.
pub fn get<D: Driver>(timeline: &Object<Timeline<D>>, data: Out<'_, *mut c_void>, size: Out<'_, usize>) -> Result<()> {
    const NAME: &str = "urIPCGetTimelineHandleExt";
    let values = timeline.values();
    let link = values.shared().ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            format!("{NAME}: the timeline was not created with UR_EXT_TIMELINE_FLAG_IPC"),
        )
    })?;
    let device = &values.context().first_state()?.device;
    let shared = Shared::new(Lent::of(link.file()), TimelineFile::SIZE as u64).map_err(|error| {
        Error::new(ur_result_t::ERROR_OUT_OF_RESOURCES, format!("{NAME}: the system shares no descriptor: {error}"))
    })?;
    let content = to_bytes(&shared.address());
    retain_handle(seal(TIMELINE, device, Part::default(), &content), Some(shared), data, size);
    Ok(())
}

/// `urIPCPutTimelineHandleExt`. Processes that have opened the timeline keep it.
///
/// # Errors
/// As [`take_back`].
pub fn put<D: Driver>(_context: &Object<Context<D>>, data: Address) -> Result<()> {
    take_back("urIPCPutTimelineHandleExt", TIMELINE, data)
}

/// `urIPCOpenTimelineHandleExt`. Opening a timeline that this process has already gives that one.
///
/// # Errors
/// `INVALID_VALUE` for bytes that are no handle data of this adapter, or whose process is gone or gave them back, and for what
/// is no timeline's file; `INVALID_OPERATION` where the kernel does not let this process at the other's descriptors, where they do
/// not see each other, or where another copy of the library has it in this process; `OUT_OF_RESOURCES`; what the native library answers.
pub fn open<D: Driver>(
    context: &Object<Context<D>>,
    data: &[u8],
    out: Out<'_, ur_ext_timeline_handle_t>,
) -> Result<()> {
    const NAME: &str = "urIPCOpenTimelineHandleExt";
    let address = from_bytes(&unseal::<D>(NAME, TIMELINE, data)?.handle);
    let found =
        descriptor::find(&address).and_then(|found| TimelineFile::open_others(found.identity(), || found.duplicate()));
    let file = found.map_err(|error| {
        let place = format!("{NAME}: descriptor {} of process {}", address.descriptor, address.process);
        system_error(&place, &error)
    })?;
    out.write_object(Object::new(Timeline::over(Values::of_file(context, file)?)));
    Ok(())
}
