//! Pools: stream order, statistics, limits, thresholds, and what wrong pointers get.

#[macro_use]
mod driver;
use driver::*;
use simcuda::sys::*;

const REUSE_INTERNAL: i32 = 3;
const THRESHOLD: i32 = 4;
const RESERVED: i32 = 5;
const RESERVED_HIGH: i32 = 6;
const USED: i32 = 7;
const USED_HIGH: i32 = 8;
const MIB: usize = 1 << 20;
/// What the real driver takes of the device at a time.
const PAGE: usize = 32 * MIB;

struct Setup {
    context: Handle,
    stream: Handle,
    pool: Handle,
    _session: Session,
}

impl Setup {
    fn with(props: CUmemPoolProps) -> Self {
        let session = Session::begin();
        let context = get!(cuDevicePrimaryCtxRetain(0));
        ok!(cuCtxSetCurrent(context));
        let stream = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
        Setup { context, stream, pool: get!(cuMemPoolCreate(&props)), _session: session }
    }

    fn new() -> Self {
        Self::with(device_pool(0))
    }

    fn alloc(&self, size: usize) -> u64 {
        get!(cuMemAllocFromPoolAsync(size, self.pool, self.stream))
    }

    fn free(&self, block: u64) {
        ok!(cuMemFreeAsync(block, self.stream));
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        c!(simcudaReleaseWork());
        c!(cuStreamSynchronize(self.stream));
        c!(cuMemPoolDestroy(self.pool));
        c!(cuStreamDestroy_v2(self.stream));
        c!(cuCtxSetCurrent(0));
        c!(cuDevicePrimaryCtxRelease_v2(0));
        let _ = self.context;
    }
}

#[test]
fn statistics_follow_blocks_and_only_high_water_marks_reset() {
    let setup = Setup::new();
    set_pool_attribute(setup.pool, THRESHOLD, u64::MAX);
    let first = setup.alloc(MIB);
    let second = setup.alloc(MIB);
    assert_eq!(pool_attribute(setup.pool, USED), 2 * MIB as u64);
    setup.free(first);
    setup.free(second);
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(pool_attribute(setup.pool, USED), 0);
    assert_eq!(pool_attribute(setup.pool, USED_HIGH), 2 * MIB as u64);
    let reserved = pool_attribute(setup.pool, RESERVED);
    assert!(reserved >= 2 * MIB as u64, "a high threshold keeps the memory");
    assert_eq!(pool_attribute(setup.pool, RESERVED_HIGH), reserved);
    set_pool_attribute(setup.pool, USED_HIGH, 0);
    assert_eq!(pool_attribute(setup.pool, USED_HIGH), 0);
    let mut one = 1u64;
    err!(1, cuMemPoolSetAttribute(setup.pool, USED_HIGH, (&raw mut one).cast()));
    err!(1, cuMemPoolSetAttribute(setup.pool, USED, (&raw mut one).cast()));
    ok!(cuMemPoolTrimTo(setup.pool, 0));
    assert_eq!(pool_attribute(setup.pool, RESERVED), 0);
    assert_eq!(pool_attribute(setup.pool, RESERVED_HIGH), reserved);
}

#[test]
fn a_synchronisation_gives_back_what_is_beyond_the_threshold() {
    let setup = Setup::new();
    let block = setup.alloc(MIB);
    setup.free(block);
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(pool_attribute(setup.pool, RESERVED), 0, "the threshold of a new pool is zero");
}

#[test]
fn a_block_serves_again_on_its_own_stream_before_its_free_is_reached() {
    let setup = Setup::new();
    let first = setup.alloc(MIB);
    c!(simcudaHoldWork());
    setup.free(first);
    let again = setup.alloc(MIB);
    assert_eq!(again, first);
    assert_eq!(pool_attribute(setup.pool, USED), MIB as u64, "a free counts when it is called");
    ok!(cuMemsetD8Async(again, 1, MIB, setup.stream));
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(reports(), []);
    assert_eq!(pool_attribute(setup.pool, USED), MIB as u64);
    setup.free(again);
}

/// The block that begins there now is smaller; work submitted before the free means the one before it.
#[test]
fn earlier_work_on_a_block_is_no_overrun_of_a_smaller_one_at_the_same_address() {
    let setup = Setup::new();
    let first = setup.alloc(4608);
    ok!(cuStreamSynchronize(setup.stream));
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(first, 1, 4608, setup.stream));
    setup.free(first);
    let smaller = setup.alloc(3072);
    assert_eq!(smaller, first);
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(reports(), []);
    setup.free(smaller);
}

#[test]
fn a_block_goes_to_another_stream_when_events_order_it() {
    let setup = Setup::with(CUmemPoolProps { max_size: PAGE, ..device_pool(0) });
    set_pool_attribute(setup.pool, REUSE_INTERNAL, 0);
    let other: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    let first = setup.alloc(PAGE);
    c!(simcudaHoldWork());
    setup.free(first);
    err!(2, cuMemAllocFromPoolAsync(&mut 0, PAGE, setup.pool, other));
    ok!(cuEventRecord(event, setup.stream));
    ok!(cuStreamWaitEvent(other, event, 0));
    let ordered: u64 = get!(cuMemAllocFromPoolAsync(PAGE, setup.pool, other));
    assert_eq!(ordered, first);
    c!(simcudaReleaseWork());
    ok!(cuMemFreeAsync(ordered, other));
    ok!(cuStreamSynchronize(other));
    assert_eq!(reports(), []);
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(other));
}

#[test]
fn a_block_goes_to_another_stream_when_its_free_was_reached_if_the_policy_allows() {
    let setup = Setup::with(CUmemPoolProps { max_size: PAGE, ..device_pool(0) });
    set_pool_attribute(setup.pool, THRESHOLD, u64::MAX);
    set_pool_attribute(setup.pool, REUSE_INTERNAL, 0);
    let other: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let first = setup.alloc(PAGE);
    setup.free(first);
    ok!(cuStreamSynchronize(setup.stream));
    let second: u64 = get!(cuMemAllocFromPoolAsync(PAGE, setup.pool, other));
    assert_eq!(second, first);
    ok!(cuMemFreeAsync(second, other));
    ok!(cuStreamSynchronize(other));
    ok!(cuStreamDestroy_v2(other));
}

#[test]
fn internal_dependencies_make_another_stream_wait_when_the_limit_leaves_no_choice() {
    let setup = Setup::with(CUmemPoolProps { max_size: PAGE, ..device_pool(0) });
    let other: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let first = setup.alloc(PAGE);
    let mut none = 0;
    err!(2, cuMemAllocFromPoolAsync(&mut none, 2 * MIB, setup.pool, other));
    assert_eq!(none, 0);
    c!(simcudaHoldWork());
    setup.free(first);
    let second: u64 = get!(cuMemAllocFromPoolAsync(PAGE, setup.pool, other));
    assert_eq!(second, first);
    ok!(cuMemsetD8Async(second, 1, 64, other));
    c!(simcudaReleaseWork());
    ok!(cuMemFreeAsync(second, other));
    ok!(cuStreamSynchronize(other));
    assert_eq!(reports(), []);
    ok!(cuStreamDestroy_v2(other));
}

#[test]
fn wrong_pointers_get_the_real_drivers_answers() {
    let setup = Setup::new();
    let block = setup.alloc(4096);
    let host: u64 = get!(cuMemHostAlloc(64, 0));
    let plain: u64 = get!(cuMemAlloc_v2(64));
    let local = 0u8;
    err!(1, cuMemFreeAsync(block + 512, setup.stream));
    err!(1, cuMemFreeAsync(host, setup.stream));
    err!(1, cuMemFreeAsync(&raw const local as u64, setup.stream));
    assert_eq!(report_kinds(), ["invalid-pointer"; 3]);
    c!(simcudaClearReports());
    ok!(cuMemFreeAsync(0, setup.stream));
    ok!(cuMemFreeAsync(plain, setup.stream));
    setup.free(block);
    assert_eq!(reports(), []);
    ok!(cuMemFreeAsync(block, setup.stream));
    assert_eq!(report_kinds(), ["double-free"]);
    assert_eq!(setup.alloc(0), 0, "no bytes are no block");
    ok!(cuMemFreeHost(host));
}

#[test]
fn pools_and_streams_of_different_devices_work_together() {
    let setup = Setup::new();
    let context1: Handle = get!(cuDevicePrimaryCtxRetain(1));
    ok!(cuCtxSetCurrent(context1));
    let stream1: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let pool1: Handle = get!(cuMemPoolCreate(&device_pool(1)));
    let served: u64 = get!(cuMemAllocFromPoolAsync(4096, setup.pool, stream1));
    ok!(cuMemFreeAsync(served, stream1));
    let block: u64 = get!(cuMemAllocFromPoolAsync(4096, pool1, stream1));
    ok!(cuStreamSynchronize(stream1));
    ok!(cuMemFreeAsync(block, setup.stream));
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(reports(), []);
    ok!(cuMemPoolDestroy(pool1));
    ok!(cuStreamDestroy_v2(stream1));
    ok!(cuCtxSetCurrent(0));
    ok!(cuDevicePrimaryCtxRelease_v2(1));
}

#[test]
fn the_reserve_grows_and_shrinks_by_pages_that_blocks_lie_across() {
    let setup = Setup::new();
    set_pool_attribute(setup.pool, THRESHOLD, u64::MAX);
    let small = setup.alloc(4096);
    let large: Vec<u64> = (0..3).map(|_| setup.alloc(48 * MIB)).collect();
    let reserved = || pool_attribute(setup.pool, RESERVED) as usize;
    assert_eq!(reserved(), 5 * PAGE);
    for block in large {
        setup.free(block);
    }
    assert_eq!(pool_attribute(setup.pool, USED), 4096);
    ok!(cuStreamSynchronize(setup.stream));
    let kept: Vec<usize> = [200, 160, 120, 80, 40, 0]
        .map(|keep| {
            ok!(cuMemPoolTrimTo(setup.pool, keep * MIB));
            reserved() / MIB
        })
        .to_vec();
    assert_eq!(kept, [160, 160, 128, 96, 64, 32]);
    set_pool_attribute(setup.pool, RESERVED_HIGH, 0);
    assert_eq!(pool_attribute(setup.pool, RESERVED_HIGH) as usize, PAGE);
    let again = setup.alloc(60 * MIB);
    assert_eq!(reserved(), 2 * PAGE);
    ok!(cuMemsetD8Async(again, 1, 60 * MIB, setup.stream));
    setup.free(again);
    setup.free(small);
}

#[test]
fn what_the_host_does_not_know_to_be_free_is_not_trimmed() {
    let setup = Setup::new();
    let block = setup.alloc(1000);
    assert_eq!(pool_attribute(setup.pool, USED), 1000, "what was asked for");
    assert_eq!(setup.alloc(1000), block + 0x400);
    setup.free(block + 0x400);
    setup.free(block);
    ok!(cuMemPoolTrimTo(setup.pool, 0));
    assert_eq!(pool_attribute(setup.pool, RESERVED) as usize, PAGE);
    ok!(cuStreamSynchronize(setup.stream));
    ok!(cuMemPoolTrimTo(setup.pool, 0));
    assert_eq!(pool_attribute(setup.pool, RESERVED), 0);
}

#[test]
fn limits_are_whole_pages_and_managed_pools_take_none() {
    let setup = Setup::with(CUmemPoolProps { max_size: 2 * MIB, ..device_pool(0) });
    let all = setup.alloc(PAGE);
    err!(2, cuMemAllocFromPoolAsync(&mut 0, 512, setup.pool, setup.stream));
    setup.free(all);
    let managed = CUmemPoolProps { alloc_type: CU_MEM_ALLOCATION_TYPE_MANAGED, max_size: PAGE, ..device_pool(0) };
    err!(1, cuMemPoolCreate(&mut 0, &managed));
    let wide = CUmemPoolProps { max_size: 2 * PAGE, ..device_pool(0) };
    let pool: Handle = get!(cuMemPoolCreate(&wide));
    let blocks = [20, 20, 20].map(|size| get!(cuMemAllocFromPoolAsync(size * MIB, pool, setup.stream)));
    for block in blocks {
        setup.free(block);
    }
    ok!(cuStreamSynchronize(setup.stream));
    let joined: u64 = get!(cuMemAllocFromPoolAsync(2 * PAGE, pool, setup.stream));
    setup.free(joined);
    ok!(cuMemPoolDestroy(pool));
}

#[test]
fn a_pool_with_room_grows_rather_than_makes_a_stream_wait() {
    let setup = Setup::new();
    let other: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let first = setup.alloc(PAGE);
    c!(simcudaHoldWork());
    setup.free(first);
    let second: u64 = get!(cuMemAllocFromPoolAsync(PAGE, setup.pool, other));
    assert_ne!(second, first);
    assert_eq!(pool_attribute(setup.pool, RESERVED) as usize, 2 * PAGE);
    c!(simcudaReleaseWork());
    ok!(cuMemFreeAsync(second, other));
    ok!(cuStreamSynchronize(other));
    ok!(cuStreamDestroy_v2(other));
}

#[test]
fn a_plain_free_of_a_pools_block_is_reported_and_stays_in_the_account() {
    let setup = Setup::new();
    let block = setup.alloc(4096);
    ok!(cuStreamSynchronize(setup.stream));
    ok!(cuMemFree_v2(block));
    assert_eq!(report_kinds(), ["plain-free"]);
    assert_eq!(pool_attribute(setup.pool, USED), 4096);
}

#[test]
fn thresholds_can_be_without_effect_either_way() {
    let setup = Setup::new();
    let reserved_after = |threshold| {
        set_pool_attribute(setup.pool, THRESHOLD, threshold);
        let block = setup.alloc(MIB);
        setup.free(block);
        ok!(cuStreamSynchronize(setup.stream));
        let reserved = pool_attribute(setup.pool, RESERVED) as usize;
        ok!(cuMemPoolTrimTo(setup.pool, 0));
        reserved
    };
    assert_eq!(c!(simcudaSetThresholds(1)), 0);
    assert_eq!(reserved_after(0), PAGE);
    assert_eq!(c!(simcudaSetThresholds(2)), 0);
    assert_eq!(reserved_after(u64::MAX), 0);
    assert_eq!(c!(simcudaSetThresholds(3)), 1);
    c!(simcudaClearFaults());
    assert_eq!(reserved_after(0), 0);
    assert_eq!(reserved_after(u64::MAX), PAGE);
}

#[test]
fn a_host_pool_serves_a_device_once_it_has_access() {
    let host = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let device = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    let setup = Setup::with(CUmemPoolProps { location: host, ..device_pool(0) });
    let block = setup.alloc(64);
    let mut start = 0u64;
    ok!(cuPointerGetAttribute((&raw mut start).cast(), 11, block));
    assert_ne!(start, block, "the range of a host block does not begin where the block does");
    assert_eq!(get!(cuMemPoolGetAccess(setup.pool, &device)), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    assert_eq!(get!(cuMemPoolGetAccess(setup.pool, &host)), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    err!(1, cuMemsetD8Async(block, 1, 64, setup.stream));
    assert_eq!(report_kinds(), ["peer-access"]);
    let access = CUmemAccessDesc { location: device, flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ok!(cuMemPoolSetAccess(setup.pool, &access, 1));
    ok!(cuMemsetD8Async(block, 1, 64, setup.stream));
    setup.free(block);
    let on_host = CUmemAccessDesc { location: host, ..access };
    let plain: Handle = get!(cuMemPoolCreate(&device_pool(0)));
    err!(801, cuMemPoolSetAccess(plain, &on_host, 1));
    ok!(cuMemPoolDestroy(plain));
    let current = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, id: 0 };
    err!(1, cuMemPoolCreate(&mut 0, &CUmemPoolProps { location: current, ..device_pool(0) }));
}

#[test]
fn a_host_pool_gives_all_of_its_memory_back() {
    let host = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let setup = Setup::with(CUmemPoolProps { location: host, ..device_pool(0) });
    set_pool_attribute(setup.pool, THRESHOLD, u64::MAX);
    let block = setup.alloc(64);
    setup.free(block);
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(pool_attribute(setup.pool, RESERVED), PAGE as u64);
    ok!(cuMemPoolTrimTo(setup.pool, 0));
    assert_eq!(pool_attribute(setup.pool, RESERVED), 0);
}

#[test]
fn a_pool_destroyed_before_its_frees_were_waited_for_is_reported() {
    let host = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let setup = Setup::new();
    for (number, kind) in [device_pool(0), CUmemPoolProps { location: host, ..device_pool(0) }].iter().enumerate() {
        for waits in [true, false] {
            let pool: Handle = get!(cuMemPoolCreate(kind));
            let block: u64 = get!(cuMemAllocFromPoolAsync(64, pool, setup.stream));
            ok!(cuMemFreeAsync(block, setup.stream));
            if waits {
                ok!(cuStreamSynchronize(setup.stream));
            }
            ok!(cuMemPoolDestroy(pool));
            assert_eq!(report_kinds(), vec!["early-pool-destroy"; number + usize::from(!waits)]);
        }
    }
}

#[test]
fn host_and_managed_pools_say_where_their_memory_is() {
    let host = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let setup = Setup::with(CUmemPoolProps { location: host, ..device_pool(0) });
    let managed_props = CUmemPoolProps { alloc_type: CU_MEM_ALLOCATION_TYPE_MANAGED, ..device_pool(0) };
    let managed_pool: Handle = get!(cuMemPoolCreate(&managed_props));
    let block = setup.alloc(64);
    let managed: u64 = get!(cuMemAllocFromPoolAsync(64, managed_pool, setup.stream));
    let attribute = |attribute, pointer| {
        let mut value = 0u32;
        ok!(cuPointerGetAttribute((&raw mut value).cast(), attribute, pointer));
        value
    };
    assert_eq!((attribute(2, block), attribute(2, managed)), (CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE));
    assert_eq!((attribute(8, block), attribute(8, managed)), (0, 1));
    ok!(cuStreamSynchronize(setup.stream));
    // SAFETY: the blocks have 64 bytes each, which the host may touch once their allocation was reached.
    unsafe {
        (block as *mut u8).write_bytes(1, 64);
        (managed as *mut u8).write_bytes(1, 64);
    }
    setup.free(block);
    setup.free(managed);
    ok!(cuMemPoolDestroy(managed_pool));
}

#[test]
fn memory_is_accounted_and_ends() {
    let setup = Setup::new();
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    let mut none = 0;
    err!(2, cuMemAlloc_v2(&mut none, free + 512));
    err!(2, cuMemAllocFromPoolAsync(&mut none, free + 512, setup.pool, setup.stream));
    assert_eq!(none, 0);
    let half: u64 = get!(cuMemAlloc_v2(free / 2));
    let mut left = 0;
    ok!(cuMemGetInfo_v2(&mut left, &mut total));
    assert_eq!(left, free - (free / 2).next_multiple_of(512));
    ok!(cuMemFree_v2(half));
    ok!(cuMemGetInfo_v2(&mut left, &mut total));
    assert_eq!(left, free);
    set_pool_attribute(setup.pool, THRESHOLD, u64::MAX);
    let block = setup.alloc(free / 2);
    setup.free(block);
    ok!(cuStreamSynchronize(setup.stream));
    let most: u64 = get!(cuMemAlloc_v2(free / 4 * 3));
    ok!(cuMemFree_v2(most));
}

#[test]
fn a_destroyed_pool_lives_until_its_last_block_is_freed() {
    let setup = Setup::new();
    let (mut free, mut total, mut left) = (0, 0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    let pool: Handle = get!(cuMemPoolCreate(&device_pool(0)));
    let block: u64 = get!(cuMemAllocFromPoolAsync(4096, pool, setup.stream));
    ok!(cuMemPoolDestroy(pool));
    err!(1, cuMemPoolDestroy(pool));
    ok!(cuMemsetD8Async(block, 1, 4096, setup.stream));
    ok!(cuMemFreeAsync(block, setup.stream));
    ok!(cuStreamSynchronize(setup.stream));
    ok!(cuMemGetInfo_v2(&mut left, &mut total));
    assert_eq!(left, free);
    let default: Handle = get!(cuDeviceGetDefaultMemPool(0));
    err!(1, cuMemPoolDestroy(default));
}

#[test]
fn access_of_a_peer_is_off_until_it_is_given() {
    let setup = Setup::new();
    let peer = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: 1 };
    let own = CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    assert_eq!(get!(cuMemPoolGetAccess(setup.pool, &peer)), 0);
    assert_eq!(get!(cuMemPoolGetAccess(setup.pool, &own)), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    let access = CUmemAccessDesc { location: peer, flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ok!(cuMemPoolSetAccess(setup.pool, &access, 1));
    assert_eq!(get!(cuMemPoolGetAccess(setup.pool, &peer)), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}
