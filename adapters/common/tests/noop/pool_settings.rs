//! Settings of pools, while the pool makes its memory and when the native library refuses them; pools of which only
//! memory is left, when the device is full.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Barrier;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::handles::{Handles, turn};
use ur_adapter::api::noop::Noop;
use ur_adapter::driver::PoolAttribute;
use ur_adapter::object::error::Result;
use ur_adapter::object::info::InfoWriter;
use ur_adapter::object::{borrow, params};
use ur_adapter::pool::{self, stream_ordered, stream_ordered_free};
use ur_ffi::{
    ur_exp_usm_pool_reuse_flags_t as Reuse, ur_queue_handle_t, ur_usm_pool_handle_t, ur_usm_pool_info_t as info,
};

/// A handle that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(T);

// SAFETY: the API lets handles be used from every thread.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

fn driver() -> &'static Noop {
    ur_adapter::device::adapter::driver::<Noop>().expect("an opened driver")
}

fn set<T>(pool: ur_usm_pool_handle_t, property: info, value: T) -> Result<()> {
    // SAFETY: a live pool, a readable value of its size.
    let (pool, value) =
        unsafe { (borrow(pool)?, params::slice("value", size_of::<T>(), (&raw const value).cast::<u8>())?) };
    pool::info::set::<Noop>(pool, property, value)
}

fn told<T: Default>(pool: ur_usm_pool_handle_t, property: info) -> T {
    let mut value = T::default();
    // SAFETY: a live pool, a writable value of the property's size.
    let (pool, writer) = unsafe {
        (borrow(pool), InfoWriter::new("urUSMPoolGetInfo", size_of::<T>(), (&raw mut value).cast(), null_mut()))
    };
    pool::info::get::<Noop>(pool.expect("a pool"), property, writer.expect("room")).expect("a property");
    value
}

type Allocate = unsafe fn(
    ur_queue_handle_t,
    ur_usm_pool_handle_t,
    usize,
    *const ur_ffi::ur_exp_async_usm_alloc_properties_t,
    u32,
    *const ur_ffi::ur_event_handle_t,
    *mut *mut c_void,
    *mut ur_ffi::ur_event_handle_t,
) -> Result<()>;

/// The pool's first memory of a kind is made with the first block.
fn use_first(allocate: Allocate, queue: ur_queue_handle_t, pool: ur_usm_pool_handle_t) {
    let mut block = null_mut();
    // SAFETY: live handles, a writable output.
    unsafe { allocate(queue, pool, 64, null(), 0, null(), &raw mut block, null_mut()) }.expect("a block");
    // SAFETY: as above; nothing uses the block.
    unsafe { stream_ordered_free::free::<Noop>(queue, null_mut(), block, 0, null(), null_mut()) }.expect("a free");
}

/// What was set of the native pool that was made last.
fn native(pools_ago: usize, attribute: PoolAttribute) -> Option<u64> {
    let pools = driver().controls.pools.lock();
    let pool = pools[pools.len() - 1 - pools_ago];
    driver().controls.attributes.lock().get(&(pool, attribute as i32)).copied()
}

/// One thread sets the policy and the threshold while another one allocates from the pool for the first time: both end, and
/// the memory made meanwhile is as was set.
#[test]
fn urUSMPoolSetInfoExp_while_the_pool_makes_its_memory_ends_and_is_kept_to() {
    let _alone = turn();
    let (done, is_done) = channel();
    let both = std::thread::spawn(move || {
        let handles = Handles::new();
        let queue = Shared(handles.queue());
        for round in 1..=200 {
            let pool = Shared(handles.lazy_pool());
            let start = Barrier::new(2);
            std::thread::scope(|scope| {
                let (start, queue, pool) = (&start, &queue, &pool);
                scope.spawn(move || {
                    start.wait();
                    // Into the middle of what the other thread does.
                    (0..round % 20).for_each(|_| std::thread::yield_now());
                    set(pool.0, info::REUSE_POLICY_EXP, Reuse::OPPORTUNISTIC).expect("a policy");
                    set(pool.0, info::RELEASE_THRESHOLD_EXP, 4096_usize).expect("a threshold");
                });
                start.wait();
                use_first(stream_ordered::device_alloc::<Noop>, queue.0, pool.0);
            });
            assert_eq!(native(0, PoolAttribute::FollowEventDependencies), Some(0), "round {round}");
            assert_eq!(native(0, PoolAttribute::ReleaseThreshold), Some(4096), "round {round}");
            handles.release_pool_of_context(pool.0);
        }
        handles.release_queue(queue.0);
        done.send(()).expect("a test that waits");
    });
    let ended = is_done.recv_timeout(Duration::from_secs(60));
    assert!(ended.is_ok() || both.is_finished(), "the two wait for each other");
    both.join().expect("settings that are kept to");
}

/// Whatever call is refused, all memory of the pool keeps the settings that the pool tells.
#[test]
fn urUSMPoolSetInfoExp_that_is_refused_for_some_memory_changes_none() {
    let _alone = turn();
    let handles = Handles::new();
    let (queue, pool) = (handles.queue(), handles.lazy_pool());
    use_first(stream_ordered::device_alloc::<Noop>, queue, pool);
    use_first(stream_ordered::host_alloc::<Noop>, queue, pool);
    let all = Reuse::FOLLOW_EVENT_DEPENDENCIES | Reuse::OPPORTUNISTIC | Reuse::INTERNAL_DEPENDENCIES;
    set(pool, info::REUSE_POLICY_EXP, all).expect("a policy");
    set(pool, info::RELEASE_THRESHOLD_EXP, 512_usize).expect("a threshold");
    for nth in 1..=4 {
        driver().controls.attributes_until_refusal.store(nth, Ordering::Relaxed);
        set(pool, info::REUSE_POLICY_EXP, Reuse::empty()).expect_err("a refusal");
        assert_eq!(told::<Reuse>(pool, info::REUSE_POLICY_EXP), all, "call {nth}");
        for memory in [0, 1] {
            assert_eq!(native(memory, PoolAttribute::FollowEventDependencies), Some(1), "call {nth}, memory {memory}");
            assert_eq!(native(memory, PoolAttribute::Opportunistic), Some(1), "call {nth}, memory {memory}");
        }
    }
    for nth in 1..=2 {
        driver().controls.attributes_until_refusal.store(nth, Ordering::Relaxed);
        set(pool, info::RELEASE_THRESHOLD_EXP, 1024_usize).expect_err("a refusal");
        let thresholds = [0, 1].map(|memory| native(memory, PoolAttribute::ReleaseThreshold));
        assert_eq!((told::<usize>(pool, info::RELEASE_THRESHOLD_EXP), thresholds), (512, [Some(512); 2]), "call {nth}");
    }
    set(pool, info::REUSE_POLICY_EXP, Reuse::empty()).expect("a policy");
    assert_eq!([0, 1].map(|memory| native(memory, PoolAttribute::Opportunistic)), [Some(0); 2]);
    handles.release_pool_of_context(pool);
    handles.release_queue(queue);
}

/// A pool whose last frees were not seen when it was released waits for its end. An allocation that finds the device full
/// takes its memory as soon as they were.
#[test]
fn urEnqueueUSMDeviceAllocExp_on_a_full_device_takes_the_memory_of_pools_that_wait_for_their_end() {
    let _alone = turn();
    let handles = Handles::new();
    let queue = handles.queue();
    use_first(stream_ordered::device_alloc::<Noop>, queue, null_mut());
    let pool = handles.pool();
    use_first(stream_ordered::device_alloc::<Noop>, queue, pool);
    let native = *driver().controls.pools.lock().last().expect("the pool's own");
    driver().controls.frees_are_seen.store(false, Ordering::Relaxed);
    driver().controls.held.lock().insert(native, 1 << 20);
    handles.release_pool(pool);
    assert!(driver().controls.pools.lock().contains(&native), "it holds memory");
    driver().controls.frees_are_seen.store(true, Ordering::Relaxed);
    let mut block = null_mut();
    // SAFETY: live handles, a writable output.
    let second = unsafe {
        stream_ordered::device_alloc::<Noop>(queue, null_mut(), 4096, null(), 0, null(), &raw mut block, null_mut())
    };
    driver().controls.held.lock().clear();
    second.expect("what the released pool held");
    assert!(!driver().controls.pools.lock().contains(&native), "it held nothing any more");
    // SAFETY: as above; nothing uses the block.
    unsafe { stream_ordered_free::free::<Noop>(queue, null_mut(), block, 0, null(), null_mut()) }.expect("a free");
    handles.release_queue(queue);
}
