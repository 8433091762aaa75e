//! Pools as programs need them: made by flavour, asked for figures, and the allocations of three kinds.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_device_handle_t, ur_event_handle_t, ur_exp_usm_pool_policy_desc_t, ur_exp_usm_pool_reuse_flags_t,
    ur_result_t as Code, ur_usm_pool_buffer_desc_t, ur_usm_pool_desc_t, ur_usm_pool_flags_t, ur_usm_pool_handle_t,
    ur_usm_pool_info_t, ur_usm_pool_limits_desc_t, ur_usm_type_t,
};
use ur_conformance::{Fixture, Kind as Plain, Queue, memory, ur};
use ur_model::{Flavour, Kind};

/// A pool with the memory below it, if that is the application's.
pub struct Pool<'f> {
    pub handle: ur_usm_pool_handle_t,
    /// A device's own, which is not to be destroyed.
    pub is_default: bool,
    /// What it is bound to; null for a whole context.
    device: ur_device_handle_t,
    /// Held until no block is left.
    pub memory: Option<Backing<'f>>,
}

/// Memory of the application's below a pool.
pub struct Backing<'f> {
    fixture: &'f Fixture,
    pointer: *mut c_void,
}

impl Drop for Backing<'_> {
    fn drop(&mut self) {
        let answer = ur!(USM.pfnFree(self.fixture.context(), self.pointer));
        if !std::thread::panicking() {
            ur_conformance::expect_success(answer, "urUSMFree of a pool's buffer");
        }
    }
}

impl Pool<'_> {
    /// Gives the pool's handle back.
    pub fn give_back(&self, fixture: &Fixture) -> Code {
        if self.device.is_null() {
            ur!(USM.pfnPoolRelease(self.handle))
        } else {
            ur!(USMExp.pfnPoolDestroyExp(fixture.context(), self.device, self.handle))
        }
    }

    pub fn allocates(&self, queue: &Queue) -> bool {
        allocates(queue, self.handle, Kind::Device)
    }
}

/// Makes a pool.
pub fn create(fixture: &Fixture, device: Option<ur_device_handle_t>, flavour: Flavour) -> Result<Pool<'_>, Code> {
    let mut limits = ur_usm_pool_limits_desc_t::default();
    let mut buffer = ur_usm_pool_buffer_desc_t::default();
    let mut desc = ur_usm_pool_desc_t::default();
    let mut policy = ur_exp_usm_pool_policy_desc_t::default();
    let mut memory = None;
    match flavour {
        Flavour::Zero => desc.flags = ur_usm_pool_flags_t::ZERO_INITIALIZE_BLOCK,
        Flavour::Limited(bytes) => limits.maxPoolableSize = bytes,
        Flavour::Threshold(bytes) => limits.minDriverAllocSize = bytes,
        Flavour::Reuse(bits) => policy.reuse = ur_exp_usm_pool_reuse_flags_t::from_bits_retain(bits),
        Flavour::Buffer(bytes) => {
            let device = device.unwrap_or_else(|| fixture.device());
            memory = Some(on_device(fixture, device, bytes)?);
            buffer.pMem = memory.as_ref().map_or(null_mut(), |memory: &Backing<'_>| memory.pointer);
            (buffer.size, buffer.memType, buffer.device) = (bytes, ur_usm_type_t::DEVICE, device);
        }
        Flavour::Default | Flavour::Plain | Flavour::Context => {}
    }
    match flavour {
        Flavour::Limited(_) | Flavour::Threshold(_) => desc.pNext = (&raw const limits).cast(),
        Flavour::Buffer(_) => desc.pNext = (&raw const buffer).cast(),
        Flavour::Reuse(_) => desc.pNext = (&raw const policy).cast(),
        _ => {}
    }
    let mut handle: ur_usm_pool_handle_t = null_mut();
    let answer = match device {
        Some(device) => {
            ur!(USMExp.pfnPoolCreateExp(fixture.context(), device, &raw mut desc, &raw mut handle))
        }
        None => ur!(USM.pfnPoolCreate(fixture.context(), &raw mut desc, &raw mut handle)),
    };
    match answer {
        Code::SUCCESS => Ok(Pool { handle, is_default: false, device: device.unwrap_or(null_mut()), memory }),
        code => Err(code),
    }
}

/// A device's default pool.
pub fn default_of(fixture: &Fixture, device: ur_device_handle_t) -> Result<Pool<'_>, Code> {
    let mut handle: ur_usm_pool_handle_t = null_mut();
    match ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), device, &raw mut handle)) {
        Code::SUCCESS => Ok(Pool { handle, is_default: true, device, memory: None }),
        code => Err(code),
    }
}

fn on_device(fixture: &Fixture, device: ur_device_handle_t, bytes: usize) -> Result<Backing<'_>, Code> {
    let mut pointer = null_mut();
    match memory::allocate(Plain::Device, fixture.context(), device, null(), bytes, &raw mut pointer) {
        Code::SUCCESS => Ok(Backing { fixture, pointer }),
        code => Err(code),
    }
}

/// An allocation of any kind.
pub fn allocate(
    queue: &Queue,
    pool: ur_usm_pool_handle_t,
    kind: Kind,
    size: usize,
    waits: &[ur_event_handle_t],
    event: *mut ur_event_handle_t,
) -> (Code, *mut c_void) {
    let mut pointer = null_mut();
    let (q, out) = (queue.handle(), &raw mut pointer);
    let (count, list) = list_of(waits);
    let answer = match kind {
        Kind::Device => ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, pool, size, null(), count, list, out, event)),
        Kind::Host => ur!(EnqueueExp.pfnUSMHostAllocExp(q, pool, size, null(), count, list, out, event)),
        Kind::Shared => ur!(EnqueueExp.pfnUSMSharedAllocExp(q, pool, size, null(), count, list, out, event)),
    };
    (answer, pointer)
}

/// A wait list as C has it.
pub fn list_of(waits: &[ur_event_handle_t]) -> (u32, *const ur_event_handle_t) {
    let first = if waits.is_empty() { null() } else { waits.as_ptr() };
    (u32::try_from(waits.len()).unwrap_or(u32::MAX), first)
}

/// Whether an allocation of a kind is there at all.
pub fn allocates(queue: &Queue, pool: ur_usm_pool_handle_t, kind: Kind) -> bool {
    match allocate(queue, pool, kind, 512, &[], null_mut()) {
        (Code::SUCCESS, pointer) => {
            let answer = ur!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), pointer, 0, null(), null_mut()));
            ur_conformance::expect_success(answer, "urEnqueueUSMFreeExp");
            queue.finish();
            true
        }
        (Code::ERROR_UNSUPPORTED_FEATURE, _) => false,
        (code, _) => panic!("an allocation, {kind:?}: {code:?} {}", ur_conformance::last_error()),
    }
}

/// One of a pool's figures.
pub fn figure(pool: ur_usm_pool_handle_t, property: ur_usm_pool_info_t) -> Result<u64, String> {
    let (mut value, mut size) = (0u64, 0usize);
    let answer = ur!(USMExp.pfnPoolGetInfoExp(pool, property, (&raw mut value).cast(), &raw mut size));
    if answer == Code::SUCCESS && size == 8 {
        Ok(value)
    } else {
        Err(format!("{property:?} answers {answer:?} of {size} bytes: {}", ur_conformance::last_error()))
    }
}

/// Sets one of a pool's figures.
pub fn set(pool: ur_usm_pool_handle_t, property: ur_usm_pool_info_t, mut value: u64, size: usize) -> Code {
    ur!(USMExp.pfnPoolSetInfoExp(pool, property, (&raw mut value).cast(), size))
}
