//! USM pools and stream-ordered memory in few words: a plan of descriptors that lives as long as the call that reads it,
//! a pool that gives itself back, its figures, and the four enqueues of the family.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_ffi::{
    ur_context_handle_t, ur_device_handle_t, ur_event_handle_t, ur_exp_async_usm_alloc_properties_t,
    ur_exp_usm_pool_policy_desc_t, ur_exp_usm_pool_reuse_flags_t, ur_ext_usm_pool_prefill_desc_t, ur_result_t,
    ur_structure_type_t, ur_usm_pool_buffer_desc_t, ur_usm_pool_desc_t, ur_usm_pool_flags_t, ur_usm_pool_handle_t,
    ur_usm_pool_info_t, ur_usm_pool_limits_desc_t, ur_usm_type_t,
};

use crate::below::Below;
use crate::memory::Kind;
use crate::owned::event_of;
use crate::{Event, Fixture, Pool, Queue, expect_success, query, ur};

/// The variable with which all memory of pools comes in slabs, on real drivers too.
pub const NO_NATIVE_POOLS: (&str, &str) = ("UR_USM_NATIVE_POOLS", "0");

/// The variable for a child whose memory of pools is the native library's, whatever this process has.
pub const NATIVE_POOLS: (&str, &str) = ("UR_USM_NATIVE_POOLS", "1");

/// Whether memory of a kind comes from native pools: of shared memory never, and HIP has pools of device memory alone.
#[must_use]
pub fn is_native(kind: Kind) -> bool {
    !in_slabs() && (kind == Kind::Device || kind == Kind::Host && !Below::is_hip())
}

/// Whether this process runs with [`NO_NATIVE_POOLS`].
#[must_use]
pub fn in_slabs() -> bool {
    std::env::var(NO_NATIVE_POOLS.0).as_deref() == Ok(NO_NATIVE_POOLS.1)
}

/// The null pool: the device's current one.
pub const CURRENT: ur_usm_pool_handle_t = null_mut();

/// What a pool is to be made with.
#[derive(Clone, Debug)]
pub struct Plan {
    flags: ur_usm_pool_flags_t,
    stype: ur_structure_type_t,
    limits: Option<ur_usm_pool_limits_desc_t>,
    buffer: Option<ur_usm_pool_buffer_desc_t>,
    policy: Option<ur_exp_usm_pool_policy_desc_t>,
    prefills: Vec<ur_ext_usm_pool_prefill_desc_t>,
    peers: Vec<ur_device_handle_t>,
}

impl Default for Plan {
    fn default() -> Self {
        Self::new()
    }
}

impl Plan {
    /// A pool with nothing said of it.
    #[must_use]
    pub fn new() -> Self {
        let (flags, stype) = (ur_usm_pool_flags_t::empty(), ur_structure_type_t::USM_POOL_DESC);
        Self { flags, stype, limits: None, buffer: None, policy: None, prefills: Vec::new(), peers: Vec::new() }
    }

    /// With flags.
    #[must_use]
    pub fn flags(mut self, flags: ur_usm_pool_flags_t) -> Self {
        self.flags = flags;
        self
    }

    /// With another tag of the first descriptor.
    #[must_use]
    pub fn stype(mut self, stype: ur_structure_type_t) -> Self {
        self.stype = stype;
        self
    }

    /// With blocks that read as zeros.
    #[must_use]
    pub fn zeroed(self) -> Self {
        self.flags(ur_usm_pool_flags_t::ZERO_INITIALIZE_BLOCK)
    }

    /// With `maxPoolableSize` and `minDriverAllocSize`.
    #[must_use]
    pub fn limits(mut self, most: usize, least: usize) -> Self {
        let limits = ur_usm_pool_limits_desc_t::default();
        self.limits = Some(ur_usm_pool_limits_desc_t { maxPoolableSize: most, minDriverAllocSize: least, ..limits });
        self
    }

    /// Over memory of the caller's.
    #[must_use]
    pub fn buffer(mut self, memory: *mut c_void, size: usize, kind: Kind, device: ur_device_handle_t) -> Self {
        let buffer = ur_usm_pool_buffer_desc_t::default();
        self.buffer = Some(ur_usm_pool_buffer_desc_t { pMem: memory, size, memType: type_of(kind), device, ..buffer });
        self
    }

    /// With memory that it begins with; once more for another kind.
    #[must_use]
    pub fn prefilled(mut self, memory_type: ur_usm_type_t, size: usize) -> Self {
        self.prefills.push(ur_ext_usm_pool_prefill_desc_t { memType: memory_type, size, ..Default::default() });
        self
    }

    /// With the reuse policies named and no others.
    #[must_use]
    pub fn reuse(mut self, reuse: ur_exp_usm_pool_reuse_flags_t) -> Self {
        let count = u32::try_from(self.peers.len()).unwrap_or(u32::MAX);
        self.policy = Some(ur_exp_usm_pool_policy_desc_t { reuse, numPeers: count, ..Default::default() });
        self
    }

    /// With another number of peers than the list has.
    #[must_use]
    pub fn claiming_peers(mut self, count: u32) -> Self {
        self = self.reuse(known_reuse());
        if let Some(policy) = &mut self.policy {
            policy.numPeers = count;
        }
        self
    }

    /// With other devices that may reach the memory, and all policies.
    #[must_use]
    pub fn peers(mut self, peers: &[ur_device_handle_t]) -> Self {
        self.peers = peers.to_vec();
        self.reuse(known_reuse())
    }

    /// Calls with the descriptors chained together.
    pub fn with<R>(&self, call: impl FnOnce(*mut ur_usm_pool_desc_t) -> R) -> R {
        let (mut limits, mut buffer, mut policy) = (self.limits, self.buffer, self.policy);
        let mut next: *const c_void = null();
        let mut prefills = self.prefills.clone();
        for prefill in &mut prefills {
            prefill.pNext = next;
            next = core::ptr::from_ref(prefill).cast();
        }
        if let Some(policy) = &mut policy {
            policy.pNext = next;
            policy.phPeers = if self.peers.is_empty() { null() } else { self.peers.as_ptr() };
            next = core::ptr::from_ref(policy).cast();
        }
        if let Some(buffer) = &mut buffer {
            buffer.pNext = next;
            next = core::ptr::from_ref(buffer).cast();
        }
        if let Some(limits) = &mut limits {
            limits.pNext = next;
            next = core::ptr::from_ref(limits).cast();
        }
        let mut desc = ur_usm_pool_desc_t { stype: self.stype, pNext: next, flags: self.flags };
        call(&raw mut desc)
    }

    /// `urUSMPoolCreateExp`.
    ///
    /// # Errors
    /// The entry point's answer.
    ///
    /// # Panics
    /// When a failed call wrote a handle.
    pub fn create(&self, context: ur_context_handle_t, device: ur_device_handle_t) -> Result<Pool, ur_result_t> {
        self.with(|desc| made(|out| ur!(USMExp.pfnPoolCreateExp(context, device, desc, out))))
    }

    /// `urUSMPoolCreate`.
    ///
    /// # Errors
    /// The entry point's answer.
    ///
    /// # Panics
    /// When a failed call wrote a handle.
    pub fn create_core(&self, context: ur_context_handle_t) -> Result<Pool, ur_result_t> {
        self.with(|desc| made(|out| ur!(USM.pfnPoolCreate(context, desc, out))))
    }

    /// `urUSMPoolCreateExp` for the fixture's device; must succeed.
    #[track_caller]
    #[must_use]
    pub fn of(&self, fixture: &Fixture) -> Pool {
        self.create(fixture.context(), fixture.device())
            .unwrap_or_else(|code| panic!("urUSMPoolCreateExp answers {code:?}: {}", crate::last_error()))
    }

    /// `urUSMPoolCreate` for the fixture's context; must succeed.
    #[track_caller]
    #[must_use]
    pub fn core_of(&self, fixture: &Fixture) -> Pool {
        self.create_core(fixture.context())
            .unwrap_or_else(|code| panic!("urUSMPoolCreate answers {code:?}: {}", crate::last_error()))
    }
}

/// The API's word for a kind.
#[must_use]
pub fn type_of(kind: Kind) -> ur_usm_type_t {
    match kind {
        Kind::Host => ur_usm_type_t::HOST,
        Kind::Device => ur_usm_type_t::DEVICE,
        Kind::Shared => ur_usm_type_t::SHARED,
    }
}

/// Every reuse policy there is a name for.
#[must_use]
pub fn known_reuse() -> ur_exp_usm_pool_reuse_flags_t {
    let bits = ur_exp_usm_pool_reuse_flags_t::C_NAMES.iter().fold(0, |bits, (_, bit)| bits | bit);
    ur_exp_usm_pool_reuse_flags_t::from_bits_retain(bits)
}

fn made(call: impl FnOnce(*mut ur_usm_pool_handle_t) -> ur_result_t) -> Result<Pool, ur_result_t> {
    let mut pool = null_mut();
    match call(&raw mut pool) {
        ur_result_t::SUCCESS => Ok(Pool::take(pool)),
        code => {
            assert!(pool.is_null(), "a pool that could not be made has a handle");
            Err(code)
        }
    }
}

/// One of a pool's figures.
#[track_caller]
#[must_use]
pub fn figure(pool: ur_usm_pool_handle_t, property: ur_usm_pool_info_t) -> usize {
    query::get(crate::ask!(USM.pfnPoolGetInfo(pool, property)))
}

/// `urUSMPoolSetInfoExp` with 8 bytes.
pub fn set(pool: ur_usm_pool_handle_t, property: ur_usm_pool_info_t, value: usize) -> ur_result_t {
    let mut value = value;
    ur!(USMExp.pfnPoolSetInfoExp(pool, property, (&raw mut value).cast(), size_of::<usize>()))
}

/// Bytes that are used and the most that were, bytes that are reserved and the most that were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// `USED_CURRENT_EXP`.
    pub used: usize,
    /// `USED_HIGH_EXP`.
    pub used_high: usize,
    /// `RESERVED_CURRENT_EXP`.
    pub reserved: usize,
    /// `RESERVED_HIGH_EXP`.
    pub reserved_high: usize,
}

impl Figures {
    /// Those of a pool, now.
    #[track_caller]
    #[must_use]
    pub fn of(pool: ur_usm_pool_handle_t) -> Self {
        Self {
            used: figure(pool, ur_usm_pool_info_t::USED_CURRENT_EXP),
            used_high: figure(pool, ur_usm_pool_info_t::USED_HIGH_EXP),
            reserved: figure(pool, ur_usm_pool_info_t::RESERVED_CURRENT_EXP),
            reserved_high: figure(pool, ur_usm_pool_info_t::RESERVED_HIGH_EXP),
        }
    }
}

/// Used bytes now and their mark.
#[track_caller]
#[must_use]
pub fn used(pool: ur_usm_pool_handle_t) -> (usize, usize) {
    let figures = Figures::of(pool);
    (figures.used, figures.used_high)
}

/// `urUSMPoolTrimToExp` on the fixture's device; must succeed.
#[track_caller]
pub fn trim(fixture: &Fixture, pool: ur_usm_pool_handle_t, keep: usize) {
    crate::ok!(USMExp.pfnPoolTrimToExp(fixture.context(), fixture.device(), pool, keep));
}

/// A stream-ordered allocation to be.
#[derive(Clone, Debug)]
pub struct Take {
    kind: Kind,
    pool: ur_usm_pool_handle_t,
    bytes: usize,
    waits: Vec<ur_event_handle_t>,
}

impl Take {
    /// So many bytes of device memory of the device's current pool.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { kind: Kind::Device, pool: CURRENT, bytes, waits: Vec::new() }
    }

    /// Of another kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Of a pool.
    #[must_use]
    pub fn from(self, pool: &Pool) -> Self {
        self.from_raw(pool.handle())
    }

    /// Of a pool by its handle.
    #[must_use]
    pub fn from_raw(mut self, pool: ur_usm_pool_handle_t) -> Self {
        self.pool = pool;
        self
    }

    /// After these events.
    #[must_use]
    pub fn after(mut self, events: &[&Event]) -> Self {
        self.waits.extend(events.iter().map(|event| event.handle()));
        self
    }

    /// The call.
    pub fn enqueue(&self, queue: &Queue, out: *mut *mut c_void, event: *mut ur_event_handle_t) -> ur_result_t {
        let (q, pool, bytes) = (queue.handle(), self.pool, self.bytes);
        let none: *const ur_exp_async_usm_alloc_properties_t = null();
        let (count, list) = list_of(&self.waits);
        match self.kind {
            Kind::Host => ur!(EnqueueExp.pfnUSMHostAllocExp(q, pool, bytes, none, count, list, out, event)),
            Kind::Device => ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, pool, bytes, none, count, list, out, event)),
            Kind::Shared => ur!(EnqueueExp.pfnUSMSharedAllocExp(q, pool, bytes, none, count, list, out, event)),
        }
    }

    /// Enqueues, without an event.
    ///
    /// # Errors
    /// The entry point's answer.
    ///
    /// # Panics
    /// When a failed call wrote a pointer, or a successful one wrote null.
    pub fn try_on(&self, queue: &Queue) -> Result<*mut c_void, ur_result_t> {
        let mut pointer = null_mut();
        let answer = self.enqueue(queue, &raw mut pointer, null_mut());
        assert_eq!(pointer.is_null(), answer != ur_result_t::SUCCESS, "{answer:?} with the pointer {pointer:p}");
        if answer == ur_result_t::SUCCESS { Ok(pointer) } else { Err(answer) }
    }

    /// Enqueues, without an event; must succeed.
    #[track_caller]
    #[must_use]
    pub fn on(&self, queue: &Queue) -> *mut c_void {
        let taken = self.try_on(queue);
        taken.unwrap_or_else(|code| panic!("{} bytes of {:?}: {code:?} {}", self.bytes, self.kind, crate::last_error()))
    }

    /// Enqueues with an event; must succeed.
    #[track_caller]
    #[must_use]
    pub fn event_on(&self, queue: &Queue) -> (*mut c_void, Event) {
        let mut pointer = null_mut();
        let event = event_of(|event| self.enqueue(queue, &raw mut pointer, event));
        assert!(!pointer.is_null());
        (pointer, event)
    }

    /// Must answer this code, and hand out nothing.
    #[track_caller]
    pub fn refused(&self, code: ur_result_t, queue: &Queue) {
        let (mut pointer, mut event) = (null_mut(), null_mut());
        let answer = self.enqueue(queue, &raw mut pointer, &raw mut event);
        assert_eq!(answer, crate::told(code), "{} bytes of {:?}: {}", self.bytes, self.kind, crate::last_error());
        assert!(pointer.is_null() && event.is_null(), "a refused allocation handed something out");
        assert!(!crate::last_error().is_empty(), "a refusal says why");
    }
}

/// A wait list as the C interface has it.
#[must_use]
pub fn list_of(waits: &[ur_event_handle_t]) -> (u32, *const ur_event_handle_t) {
    let count = u32::try_from(waits.len()).unwrap_or(u32::MAX);
    (count, if waits.is_empty() { null() } else { waits.as_ptr() })
}

/// `urEnqueueUSMFreeExp` without pool, waits and event.
pub fn free(queue: &Queue, pointer: *mut c_void) -> ur_result_t {
    free_of(queue, CURRENT, pointer)
}

/// `urEnqueueUSMFreeExp` with a pool.
pub fn free_of(queue: &Queue, pool: ur_usm_pool_handle_t, pointer: *mut c_void) -> ur_result_t {
    ur!(EnqueueExp.pfnUSMFreeExp(queue.handle(), pool, pointer, 0, null(), null_mut()))
}

/// `urEnqueueUSMFreeExp` that must succeed.
#[track_caller]
pub fn give(queue: &Queue, pointer: *mut c_void) {
    expect_success(free(queue, pointer), "urEnqueueUSMFreeExp");
}

/// `urEnqueueUSMFreeExp` with waits and an event; must succeed.
#[track_caller]
#[must_use]
pub fn give_after(queue: &Queue, pointer: *mut c_void, after: &[&Event]) -> Event {
    let waits: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let (count, list) = list_of(&waits);
    event_of(|event| ur!(EnqueueExp.pfnUSMFreeExp(queue.handle(), CURRENT, pointer, count, list, event)))
}

/// The kinds of memory that the device has pools of. Device memory is always one of them; for each of the others the
/// adapter says `UNSUPPORTED_FEATURE`, and says why.
#[track_caller]
#[must_use]
pub fn kinds(queue: &Queue) -> Vec<Kind> {
    let has = |kind: &Kind| {
        let (mut pointer, mut event) = (null_mut(), null_mut());
        match Take::new(64).kind(*kind).enqueue(queue, &raw mut pointer, &raw mut event) {
            ur_result_t::SUCCESS => {
                drop(give_after(queue, pointer, &[&Event::take(event)]));
                true
            }
            code => {
                assert_eq!(code, ur_result_t::ERROR_UNSUPPORTED_FEATURE, "{kind:?}: {}", crate::last_error());
                assert!(!crate::last_error().is_empty(), "{kind:?} is not supported, and nothing says why");
                false
            }
        }
    };
    let found: Vec<Kind> = Kind::ALL.into_iter().filter(has).collect();
    assert!(found.contains(&Kind::Device), "there are no pools of device memory");
    found
}
