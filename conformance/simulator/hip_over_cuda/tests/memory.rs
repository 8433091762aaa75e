//! Memory: allocation, what is known of pointers, copies, fills, pools, mappings.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use core::ffi::c_void;

use hip_on_cuda::sys::layout::*;
use hip_on_cuda::sys::status::*;
use hip_on_cuda::sys::value::enumerator::*;
use hip_on_cuda::sys::value::flag::*;
use hip_on_cuda::sys::value::memory_type::*;
use support::*;

fn attributes(pointer: usize) -> hipPointerAttribute_t {
    // SAFETY: integers and raw pointers alone.
    let mut out: hipPointerAttribute_t = unsafe { core::mem::zeroed() };
    ok!(hipPointerGetAttributes(&raw mut out, pointer));
    out
}

fn stream() -> usize {
    get!(hipStreamCreateWithFlags(_, hipStreamNonBlocking))
}

#[test]
fn no_bytes_are_a_null_pointer_and_null_can_be_freed() {
    let _alone = alone();
    assert_eq!(get!(hipMalloc(_, 0)), 0_usize);
    assert_eq!(get!(hipHostMalloc(_, 0, 0)), 0_usize);
    assert_eq!(get!(hipMallocAsync(_, 0, 0)), 0_usize);
    ok!(hipFree(0));
    ok!(hipHostFree(0));
    err!(hipErrorInvalidValue, hipFreeAsync(0, 0));
    let mut out = 0;
    err!(hipErrorInvalidValue, hipMallocManaged(&raw mut out, 0, hipMemAttachGlobal));
    err!(hipErrorInvalidValue, hipMalloc(core::ptr::null_mut(), 64));
}

#[test]
fn attributes_tell_kind_device_and_addresses() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    let device: usize = get!(hipMalloc(_, 1024));
    let managed: usize = get!(hipMallocManaged(_, 1024, hipMemAttachGlobal));
    let host: usize = get!(hipHostMalloc(_, 1024, hipHostMallocWriteCombined | hipHostMallocCoherent));
    ok!(hipSetDevice(0));

    let found = attributes(device + 8);
    assert_eq!((found.r#type, found.device, found.isManaged), (hipMemoryTypeDevice, 1, 0));
    assert_eq!((found.devicePointer.addr(), found.hostPointer.addr()), (device + 8, 0));
    let found = attributes(managed);
    assert_eq!((found.r#type, found.isManaged, found.hostPointer.addr()), (hipMemoryTypeManaged, 1, managed));
    let found = attributes(host);
    assert_eq!((found.r#type, found.hostPointer.addr()), (hipMemoryTypeHost, host));
    assert_eq!(found.allocationFlags, hipHostMallocWriteCombined | hipHostMallocCoherent);

    let mut kind = 0_u32;
    let place = (&raw mut kind).cast::<c_void>();
    ok!(hipPointerGetAttribute(place, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, managed));
    assert_eq!(kind, hipMemoryTypeManaged);
    let mut context = 0_usize;
    ok!(hipPointerGetAttribute((&raw mut context).cast(), HIP_POINTER_ATTRIBUTE_CONTEXT, device));
    assert_eq!(context, get!(hipDevicePrimaryCtxRetain(_, 1)));

    ok!(hipFree(device));
    ok!(hipFree(managed));
    ok!(hipHostFree(host));
}

#[test]
fn a_pointer_from_elsewhere_is_unregistered_and_no_error() {
    let _alone = alone();
    let own = Box::new(5_u64);
    let found = attributes(at(&*own));
    assert_eq!((found.r#type, found.device), (hipMemoryTypeUnregistered, hipInvalidDeviceId));
    assert_eq!(found.hostPointer.addr(), at(&*own));
    let mut kind = 0_u32;
    let place = (&raw mut kind).cast::<c_void>();
    err!(hipErrorInvalidValue, hipPointerGetAttribute(place, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, at(&*own)));
}

#[test]
fn several_attributes_at_once_leave_the_unknown_ones_alone() {
    let _alone = alone();
    let memory: usize = get!(hipMalloc(_, 512));
    let (mut kind, mut start, mut size, mut pool) = (0_u32, 0_usize, 0_usize, 7_usize);
    let wanted = [
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE,
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
        99,
    ];
    let places: [*mut c_void; 4] =
        [(&raw mut kind).cast(), (&raw mut start).cast(), (&raw mut size).cast(), (&raw mut pool).cast()];
    ok!(hipDrvPointerGetAttributes(4, wanted.as_ptr(), places.as_ptr(), memory + 100));
    assert_eq!((kind, start, size, pool), (hipMemoryTypeDevice, memory, 512, 7));
    ok!(hipFree(memory));
}

#[test]
fn an_address_range_is_found_whichever_device_is_current() {
    let _alone = alone();
    ok!(hipSetDevice(1));
    let memory: usize = get!(hipMalloc(_, 4096));
    ok!(hipSetDevice(0));
    let (mut base, mut size) = (0, 0);
    ok!(hipMemGetAddressRange(&raw mut base, &raw mut size, memory + 1000));
    assert_eq!((base, size), (memory, 4096));
    ok!(hipFree(memory));
    let own = 1_u8;
    err!(hipErrorNotFound, hipMemGetAddressRange(&raw mut base, &raw mut size, at(&own)));
}

#[test]
fn registered_memory_tells_no_start_and_ranges_may_reach_into_each_other() {
    let _alone = alone();
    let own = vec![0_u8; 16384];
    let (start, inner) = (at(&own[0]), at(&own[8192]));
    ok!(hipHostRegister(inner, 4096, 0));
    ok!(hipHostRegister(start, 16384, 0));
    let (mut base, mut size) = (1, 0);
    ok!(hipMemGetAddressRange(&raw mut base, &raw mut size, inner + 1));
    assert_eq!((base, size), (0, 4096));
    ok!(hipHostUnregister(start));
    ok!(hipHostUnregister(inner));
    // It frees what was allocated.
    let host: usize = get!(hipHostMalloc(_, 256, 0));
    ok!(hipHostUnregister(host));
    assert_eq!(attributes(host).r#type, hipMemoryTypeUnregistered);
}

#[test]
fn host_memory_tells_the_flags_it_was_made_with() {
    let _alone = alone();
    let host: usize = get!(hipHostMalloc(_, 256, hipHostMallocNonCoherent));
    let mut flags = 0;
    ok!(hipHostGetFlags(&raw mut flags, host + 255));
    assert_eq!(flags, hipHostMallocNonCoherent);
    assert_ne!(get!(hipHostGetDevicePointer(_, host, 0)), 0_usize);
    ok!(hipHostFree(host));
    err!(hipErrorInvalidValue, hipHostGetFlags(&raw mut flags, host));
    let mut out = 0;
    let both = hipHostMallocCoherent | hipHostMallocNonCoherent;
    err!(hipErrorInvalidValue, hipHostMalloc(&raw mut out, 64, both));
    err!(hipErrorInvalidValue, hipHostMalloc(&raw mut out, 64, 0x100));
}

#[test]
fn registered_memory_is_host_memory_until_it_is_unregistered() {
    let _alone = alone();
    let own = vec![0_u8; 8192];
    ok!(hipHostRegister(at(&own[..]), 8192, hipHostRegisterMapped));
    assert_eq!(attributes(at(&own[..]) + 9).r#type, hipMemoryTypeHost);
    assert_eq!(attributes(at(&own[..])).allocationFlags, hipHostRegisterMapped);
    err!(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(at(&own[..]), 8192, 0));
    ok!(hipHostUnregister(at(&own[..])));
    assert_eq!(attributes(at(&own[..])).r#type, hipMemoryTypeUnregistered);
    err!(hipErrorHostMemoryNotRegistered, hipHostUnregister(at(&own[..])));
}

#[test]
fn copies_and_fills_move_the_bytes_they_say() {
    let _alone = alone();
    let stream = stream();
    let memory: usize = get!(hipMalloc(_, 64));
    let mut back = [0_u32; 16];
    ok!(hipMemset(memory, 0x1ff, 64));
    ok!(hipMemcpyDtoH(into(&mut back), memory, 64));
    assert_eq!(back, [u32::MAX; 16]);
    ok!(hipMemsetD32Async(memory, 0x0102_0304, 8, stream));
    ok!(hipMemsetD16Async(memory + 32, 0xabcd, 16, stream));
    ok!(hipMemcpyAsync(into(&mut back), memory, 64, hipMemcpyDefault, stream));
    ok!(hipStreamSynchronize(stream));
    assert_eq!((&back[..8], &back[8..]), (&[0x0102_0304; 8][..], &[0xabcd_abcd; 8][..]));
    back = [9; 16];
    ok!(hipMemcpyHtoD(memory, into(&mut back), 64));
    back = [0; 16];
    ok!(hipMemcpy(into(&mut back), memory, 64, hipMemcpyDeviceToHost));
    assert_eq!(back, [9; 16]);

    err!(hipErrorInvalidMemcpyDirection, hipMemcpy(into(&mut back), memory, 64, 7));
    err!(hipErrorInvalidValue, hipMemcpy(0, memory, 64, hipMemcpyDefault));
    ok!(hipMemcpy(0, 0, 0, hipMemcpyDefault));
    ok!(hipMemset(0, 0, 0));
    err!(hipErrorInvalidValue, hipMemset(0, 0, 1));
    ok!(hipFree(memory));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn rows_and_boxes_are_copied_between_all_kinds_of_memory() {
    let _alone = alone();
    let (width, height) = (24, 4);
    let (mut memory, mut pitch) = (0, 0);
    ok!(hipMallocPitch(&raw mut memory, &raw mut pitch, width, height));
    assert!(pitch >= width);
    let from: Vec<u8> = (0..96).collect();
    let mut back = [0_u8; 128];
    ok!(hipMemcpy2D(memory, pitch, at(&from[..]), width, width, height, hipMemcpyHostToDevice));
    ok!(hipMemset2D(memory + pitch, pitch, 0xee, width, 1));
    ok!(hipMemcpy2D(into(&mut back[..]), 32, memory, pitch, width, height, hipMemcpyDefault));
    assert_eq!((&back[..24], &back[24..32]), (&from[..24], &[0; 8][..]));
    assert_eq!((&back[32..56], &back[64..88]), (&[0xee; 24][..], &from[48..72]));
    err!(hipErrorInvalidPitchValue, hipMemcpy2D(memory, 8, at(&from[..]), 24, 24, 4, hipMemcpyDefault));

    // SAFETY: integers alone.
    let mut copy: hip_Memcpy2D = unsafe { core::mem::zeroed() };
    (copy.srcMemoryType, copy.srcDevice, copy.srcPitch, copy.srcY) = (hipMemoryTypeDevice, memory, pitch, 2);
    (copy.dstMemoryType, copy.dstHost, copy.dstPitch) = (hipMemoryTypeHost, into(&mut back[..]), 32);
    (copy.WidthInBytes, copy.Height) = (width, 1);
    ok!(hipMemcpyParam2DAsync(&raw const copy, 0));
    ok!(hipStreamSynchronize(0));
    assert_eq!(&back[..24], &from[48..72]);
    copy.srcMemoryType = hipMemoryTypeArray;
    // An array, and none is named.
    err!(hipErrorInvalidHandle, hipMemcpyParam2DAsync(&raw const copy, 0));
    copy.srcMemoryType = 5;
    err!(hipErrorInvalidValue, hipMemcpyParam2DAsync(&raw const copy, 0));

    // SAFETY: integers alone.
    let mut whole: HIP_MEMCPY3D = unsafe { core::mem::zeroed() };
    (whole.srcMemoryType, whole.srcDevice, whole.srcPitch, whole.srcHeight) = (hipMemoryTypeUnified, memory, pitch, 2);
    (whole.dstMemoryType, whole.dstHost, whole.dstPitch, whole.dstHeight) =
        (hipMemoryTypeHost, into(&mut back[..]), 24, 2);
    (whole.WidthInBytes, whole.Height, whole.Depth, whole.srcZ) = (24, 2, 1, 1);
    ok!(hipDrvMemcpy3D(&raw const whole));
    assert_eq!(&back[..48], &from[48..96]);
    ok!(hipFree(memory));
}

#[test]
fn peers_copy_and_enable_each_other_once() {
    let _alone = alone();
    let mut can = 0;
    ok!(hipDeviceCanAccessPeer(&raw mut can, 0, 1));
    assert_eq!(can, 1);
    ok!(hipDeviceCanAccessPeer(&raw mut can, 0, 0));
    assert_eq!(can, 0);
    err!(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(0, 0));
    ok!(hipDeviceEnablePeerAccess(1, 0));
    err!(hipErrorPeerAccessAlreadyEnabled, hipDeviceEnablePeerAccess(1, 0));
    ok!(hipDeviceDisablePeerAccess(1));
    err!(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(1));

    let here: usize = get!(hipMalloc(_, 64));
    ok!(hipSetDevice(1));
    let there: usize = get!(hipMalloc(_, 64));
    ok!(hipSetDevice(0));
    ok!(hipMemset(here, 3, 64));
    let stream = stream();
    ok!(hipDeviceSynchronize());
    ok!(hipMemcpyPeerAsync(there, 1, here, 0, 64, stream));
    ok!(hipStreamSynchronize(stream));
    let mut back = [0_u8; 64];
    ok!(hipMemcpyDtoH(into(&mut back), there, 64));
    assert_eq!(back, [3; 64]);
    ok!(hipStreamDestroy(stream));
    ok!(hipFree(here));
    ok!(hipFree(there));
}

fn pool_properties(device: i32) -> hipMemPoolProps {
    // SAFETY: integers and a raw pointer alone.
    let mut properties: hipMemPoolProps = unsafe { core::mem::zeroed() };
    properties.allocType = hipMemAllocationTypePinned;
    properties.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: device };
    properties
}

#[test]
fn a_pool_serves_streams_keeps_up_to_its_threshold_and_counts() {
    let _alone = alone();
    let stream = stream();
    let pool: usize = get!(hipMemPoolCreate(_, &pool_properties(0)));
    let mut threshold = u64::MAX;
    ok!(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, (&raw mut threshold).cast()));
    let mut number = 0_u64;
    ok!(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, (&raw mut number).cast()));
    assert_eq!(number, u64::MAX);
    let block: usize = get!(hipMallocFromPoolAsync(_, 1 << 20, pool, stream));
    ok!(hipMemsetAsync(block, 1, 1 << 20, stream));
    ok!(hipStreamSynchronize(stream));
    let used = |kind| {
        let mut number = 0_u64;
        ok!(hipMemPoolGetAttribute(pool, kind, (&raw mut number).cast()));
        number
    };
    const RESERVED: i32 = 5;
    const USED: i32 = 7;
    assert_eq!(used(USED), 1 << 20);
    ok!(hipFreeAsync(block, stream));
    ok!(hipStreamSynchronize(stream));
    assert_eq!(used(USED), 0);
    assert!(used(RESERVED) >= 1 << 20, "the pool gave memory back below its threshold");
    ok!(hipMemPoolTrimTo(pool, 0));
    assert_eq!(used(RESERVED), 0);
    err!(hipErrorInvalidValue, hipMemPoolGetAttribute(pool, 9, (&raw mut number).cast()));
    ok!(hipMemPoolDestroy(pool));
    err!(hipErrorInvalidValue, hipMemPoolDestroy(0));
    ok!(hipStreamDestroy(stream));
}

#[test]
fn a_pools_access_is_given_to_devices_and_never_taken() {
    let _alone = alone();
    let pool: usize = get!(hipMemPoolCreate(_, &pool_properties(0)));
    const HOST: i32 = 2;
    let on = |kind, id| hipMemLocation { r#type: kind, id };
    let access = |kind, id, flags| hipMemAccessDesc { location: on(kind, id), flags };
    let (device, all) = (hipMemLocationTypeDevice, hipMemAccessFlagsProtReadWrite);
    err!(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access(device, 1, hipMemAccessFlagsProtNone), 1));
    err!(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access(device, 99, all), 1));
    err!(hipErrorInvalidValue, hipMemPoolSetAccess(pool, &access(HOST, 0, all), 1));
    err!(hipErrorInvalidValue, hipMemPoolSetAccess(pool, &access(device, 1, 2), 1));
    let mut peer = on(device, 1);
    assert_eq!(get!(hipMemPoolGetAccess(_, pool, &mut peer)), hipMemAccessFlagsProtNone);
    ok!(hipMemPoolSetAccess(pool, &access(device, 1, all), 1));
    assert_eq!(get!(hipMemPoolGetAccess(_, pool, &mut peer)), all);
    let mut host = on(HOST, 0);
    err!(hipErrorInvalidValue, hipMemPoolGetAccess(&mut 0, pool, &mut host));
    ok!(hipMemPoolDestroy(pool));
}

#[test]
fn the_plain_free_takes_a_pools_block_and_leaves_its_figures_right() {
    let _alone = alone();
    let pool: usize = get!(hipMemPoolCreate(_, &pool_properties(0)));
    let stream = stream();
    let block: usize = get!(hipMallocFromPoolAsync(_, 4096, pool, stream));
    ok!(hipFree(block));
    const USED: i32 = 7;
    let mut used = 1_u64;
    ok!(hipMemPoolGetAttribute(pool, USED, (&raw mut used).cast()));
    assert_eq!(used, 0);
    ok!(hipStreamDestroy(stream));
    ok!(hipMemPoolDestroy(pool));
}

#[test]
fn each_device_has_a_pool_of_its_own_and_takes_another() {
    let _alone = alone();
    let first: usize = get!(hipDeviceGetDefaultMemPool(_, 0));
    assert_ne!(first, get!(hipDeviceGetDefaultMemPool(_, 1)));
    let pool: usize = get!(hipMemPoolCreate(_, &pool_properties(0)));
    ok!(hipDeviceSetMemPool(0, pool));
    assert_eq!(get!(hipDeviceGetMemPool(_, 0)), pool);
    assert_eq!(get!(hipDeviceGetDefaultMemPool(_, 0)), first);
    ok!(hipDeviceSetMemPool(0, first));
    ok!(hipMemPoolDestroy(pool));

    ok!(hipSetDevice(1));
    let block: usize = get!(hipMallocAsync(_, 64, 0));
    assert_eq!(attributes(block).device, 1);
    ok!(hipFreeAsync(block, 0));
    ok!(hipStreamSynchronize(0));
    ok!(hipSetDevice(0));
}

#[test]
fn pools_are_of_pinned_device_memory_alone() {
    let _alone = alone();
    let mut out = 0;
    for (place, wrong) in [(2, 0), (hipMemLocationTypeDevice, 2), (hipMemLocationTypeDevice, -1)] {
        let mut properties = pool_properties(wrong);
        properties.location.r#type = place;
        err!(hipErrorInvalidValue, hipMemPoolCreate(&raw mut out, &raw const properties));
    }
    let mut properties = pool_properties(0);
    properties.allocType = 2;
    err!(hipErrorInvalidValue, hipMemPoolCreate(&raw mut out, &raw const properties));
}

#[test]
fn a_pools_memory_can_be_shared_with_a_peer() {
    let _alone = alone();
    let pool: usize = get!(hipMemPoolCreate(_, &pool_properties(0)));
    let mut place = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 1 };
    let mut flags = -1;
    ok!(hipMemPoolGetAccess(&raw mut flags, pool, &raw mut place));
    assert_eq!(flags, hipMemAccessFlagsProtNone);
    let access = hipMemAccessDesc { location: place, flags: hipMemAccessFlagsProtReadWrite };
    ok!(hipMemPoolSetAccess(pool, &raw const access, 1));
    ok!(hipMemPoolGetAccess(&raw mut flags, pool, &raw mut place));
    assert_eq!(flags, hipMemAccessFlagsProtReadWrite);
    ok!(hipMemPoolDestroy(pool));
}

#[test]
fn physical_memory_is_mapped_used_and_given_back() {
    let _alone = alone();
    // SAFETY: integers and a raw pointer alone.
    let mut properties: hipMemAllocationProp = unsafe { core::mem::zeroed() };
    properties.r#type = hipMemAllocationTypePinned;
    properties.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 1 };
    let size: usize = get!(hipMemGetAllocationGranularity(_, &raw const properties, 0));
    let range: usize = get!(hipMemAddressReserve(_, size, 0, 0, 0));
    let physical: usize = get!(hipMemCreate(_, size, &raw const properties, 0));
    ok!(hipMemMap(range, size, 0, physical, 0));
    let access = hipMemAccessDesc { location: properties.location, flags: hipMemAccessFlagsProtReadWrite };
    ok!(hipMemSetAccess(range, size, &raw const access, 1));
    ok!(hipSetDevice(1));
    ok!(hipMemset(range, 4, 64));
    let mut back = [0_u8; 64];
    ok!(hipMemcpyDtoH(into(&mut back), range, 64));
    assert_eq!(back, [4; 64]);
    ok!(hipSetDevice(0));
    ok!(hipMemUnmap(range, size));
    ok!(hipMemRelease(physical));
    ok!(hipMemAddressFree(range, size));
}

#[test]
fn managed_memory_takes_advice_and_moves() {
    let _alone = alone();
    let managed: usize = get!(hipMallocManaged(_, 4096, hipMemAttachGlobal));
    ok!(hipMemAdvise(managed, 4096, hipMemAdviseSetPreferredLocation, 1));
    ok!(hipMemAdvise(managed, 4096, hipMemAdviseSetCoarseGrain, 0));
    err!(hipErrorInvalidValue, hipMemAdvise(managed, 4096, 50, 0));
    ok!(hipMemPrefetchAsync(managed, 4096, 1, 0));
    ok!(hipMemPrefetchAsync(managed, 4096, hipCpuDeviceId, 0));
    ok!(hipStreamSynchronize(0));
    ok!(hipFree(managed));
}
