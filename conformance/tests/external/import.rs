//! Imports that give themselves back.

use core::ffi::c_void;
use core::ptr::{from_ref, null_mut};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use ur_conformance::ffi::{
    Structure as _, ur_device_handle_t, ur_exp_external_mem_desc_t, ur_exp_external_mem_handle_t,
    ur_exp_external_mem_type_t, ur_exp_external_semaphore_desc_t, ur_exp_external_semaphore_handle_t,
    ur_exp_external_semaphore_type_t, ur_exp_file_descriptor_t, ur_result_t,
};
use ur_conformance::foreign::{Peer, SemaphoreKind, Simulated, Vulkan, Wanted};
use ur_conformance::{Fixture, ask, expect_success, ok, query, ur};

use ur_conformance::ffi::ur_device_info_t;

/// The structure that carries a descriptor.
pub fn file(fd: i32) -> ur_exp_file_descriptor_t {
    ur_exp_file_descriptor_t { stype: ur_exp_file_descriptor_t::STYPE, fd, ..Default::default() }
}

/// Whether a descriptor's number is open.
pub fn is_open(number: i32) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{number}")).is_ok()
}

/// `urBindlessImagesImportExternalMemoryExp` of a descriptor that a success takes.
pub fn try_memory(
    fixture: &Fixture,
    device: ur_device_handle_t,
    size: usize,
    descriptor: OwnedFd,
) -> Result<ur_exp_external_mem_handle_t, (ur_result_t, OwnedFd)> {
    let file = file(descriptor.as_raw_fd());
    let mut description = ur_exp_external_mem_desc_t { pNext: from_ref(&file).cast(), ..Default::default() };
    let (mut handle, kind) = (null_mut(), ur_exp_external_mem_type_t::OPAQUE_FD);
    let context = fixture.context();
    let answer = ur!(BindlessImagesExp.pfnImportExternalMemoryExp(
        context,
        device,
        size,
        kind,
        &raw mut description,
        &raw mut handle
    ));
    if answer == ur_result_t::SUCCESS {
        let _ = descriptor.into_raw_fd();
        return Ok(handle);
    }
    assert!(handle.is_null(), "a refused import wrote a handle");
    Err((answer, descriptor))
}

/// Imported memory of the fixture's context.
pub struct Imported<'f> {
    fixture: &'f Fixture,
    device: ur_device_handle_t,
    pub handle: ur_exp_external_mem_handle_t,
}

impl<'f> Imported<'f> {
    #[track_caller]
    pub fn new(fixture: &'f Fixture, device: ur_device_handle_t, size: usize, descriptor: OwnedFd) -> Self {
        match try_memory(fixture, device, size, descriptor) {
            Ok(handle) => Self { fixture, device, handle },
            Err((answer, _)) => panic!("the import answers {answer:?}: {}", ur_conformance::last_error()),
        }
    }

    #[track_caller]
    pub fn map(&self, offset: u64, size: u64) -> Mapped<'_> {
        let mut pointer = null_mut();
        let (context, device) = (self.fixture.context(), self.device);
        let out = &raw mut pointer;
        ok!(BindlessImagesExp.pfnMapExternalLinearMemoryExp(context, device, offset, size, self.handle, out));
        assert!(!pointer.is_null());
        Mapped { import: self, pointer }
    }
}

impl Drop for Imported<'_> {
    fn drop(&mut self) {
        let (context, device) = (self.fixture.context(), self.device);
        let answer = ur!(BindlessImagesExp.pfnReleaseExternalMemoryExp(context, device, self.handle));
        if !std::thread::panicking() {
            expect_success(answer, "urBindlessImagesReleaseExternalMemoryExp");
        }
    }
}

/// A mapping.
pub struct Mapped<'i> {
    import: &'i Imported<'i>,
    pub pointer: *mut c_void,
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        let (context, device) = (self.import.fixture.context(), self.import.device);
        let answer = ur!(BindlessImagesExp.pfnFreeMappedLinearMemoryExp(context, device, self.pointer));
        if !std::thread::panicking() {
            expect_success(answer, "urBindlessImagesFreeMappedLinearMemoryExp");
        }
    }
}

/// `urBindlessImagesImportExternalSemaphoreExp` of a descriptor that a success takes.
pub fn try_semaphore(
    fixture: &Fixture,
    kind: SemaphoreKind,
    descriptor: OwnedFd,
) -> Result<ur_exp_external_semaphore_handle_t, (ur_result_t, OwnedFd)> {
    let kind = match kind {
        SemaphoreKind::Binary => ur_exp_external_semaphore_type_t::OPAQUE_FD,
        SemaphoreKind::Timeline => ur_exp_external_semaphore_type_t::TIMELINE_FD,
    };
    let file = file(descriptor.as_raw_fd());
    let mut description = ur_exp_external_semaphore_desc_t { pNext: from_ref(&file).cast(), ..Default::default() };
    let (context, device, mut handle) = (fixture.context(), fixture.device(), null_mut());
    let answer = ur!(BindlessImagesExp.pfnImportExternalSemaphoreExp(
        context,
        device,
        kind,
        &raw mut description,
        &raw mut handle
    ));
    if answer == ur_result_t::SUCCESS {
        let _ = descriptor.into_raw_fd();
        return Ok(handle);
    }
    assert!(handle.is_null(), "a refused import wrote a handle");
    Err((answer, descriptor))
}

/// An imported semaphore of the fixture's context and first device.
pub struct Semaphore<'f> {
    fixture: &'f Fixture,
    pub handle: ur_exp_external_semaphore_handle_t,
}

impl<'f> Semaphore<'f> {
    #[track_caller]
    pub fn new(fixture: &'f Fixture, kind: SemaphoreKind, descriptor: OwnedFd) -> Self {
        match try_semaphore(fixture, kind, descriptor) {
            Ok(handle) => Self { fixture, handle },
            Err((answer, _)) => panic!("the import answers {answer:?}: {}", ur_conformance::last_error()),
        }
    }

    /// Gives it back now and tells the answer; on a refusal it is still there.
    pub fn try_release(&self) -> ur_result_t {
        let (context, device) = (self.fixture.context(), self.fixture.device());
        ur!(BindlessImagesExp.pfnReleaseExternalSemaphoreExp(context, device, self.handle))
    }
}

impl Drop for Semaphore<'_> {
    fn drop(&mut self) {
        let answer = self.try_release();
        if !std::thread::panicking() {
            expect_success(answer, "urBindlessImagesReleaseExternalSemaphoreExp");
        }
    }
}

/// The simulated driver's other API, where the adapter runs on that driver.
pub fn simulated(fixture: &Fixture, wanted: Wanted<'_>) -> Option<Simulated> {
    fixture.sim().map(|sim| Simulated::new(sim, wanted))
}

/// Vulkan on the fixture's first device.
///
/// # Panics
/// Where there is none: whoever asks for these tests has it.
pub fn vulkan(fixture: &Fixture, wanted: Wanted<'_>) -> Vulkan {
    let uuid = query::get::<[u8; 16]>(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::UUID)));
    Vulkan::new(uuid, wanted).unwrap_or_else(|why| panic!("this test needs Vulkan on the adapter's device: {why}"))
}

/// Imports a peer's memory on the fixture's first device.
#[track_caller]
pub fn import<'f>(fixture: &'f Fixture, peer: &dyn Peer) -> Imported<'f> {
    Imported::new(fixture, fixture.device(), peer.import_size(), peer.memory())
}
