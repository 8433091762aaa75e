//! `urIPC*PhysMemHandleExp`, in one process and across two, and descriptors that handle data name: nobody duplicates one before it
//! is known to be memory.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{c_int, c_ulong, c_void};
use core::ptr::{null, null_mut};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use ur_conformance::ffi::{
    ur_device_info_t, ur_exp_external_mem_type_t as Type, ur_physical_mem_flags_t, ur_physical_mem_handle_t,
    ur_physical_mem_info_t, ur_physical_mem_properties_t, ur_virtual_mem_access_flags_t as Access,
    ur_virtual_mem_granularity_info_t as Granularity,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Kind, ask, child, needs_function, needs_sim, ok, query, refused};

use crate::shared_memory::{self, Data, in_another_process, is_child};

unsafe extern "C" {
    safe fn prctl(option: c_int, argument: c_ulong) -> c_int;
}

/// Lets any process of the user at this one's descriptors where the system restricts that.
fn let_others() {
    const PR_SET_PTRACER: c_int = 0x5961_6d61;
    // Where nothing is restricted there is nothing to allow.
    let _ = prctl(PR_SET_PTRACER, c_ulong::MAX);
}

fn step(fixture: &Fixture) -> usize {
    let (context, device) = (fixture.context(), fixture.device());
    query::get(ask!(VirtualMem.pfnGranularityGetInfo(context, device, 1, Granularity::MINIMUM)))
}

#[track_caller]
fn create(fixture: &Fixture, flags: ur_physical_mem_flags_t) -> ur_physical_mem_handle_t {
    let properties = ur_physical_mem_properties_t { flags, ..Default::default() };
    let (c, d, size) = (fixture.context(), fixture.device(), step(fixture));
    let mut physical = null_mut();
    ok!(PhysicalMem.pfnCreate(c, d, size, &raw const properties, &raw mut physical));
    physical
}

#[track_caller]
fn get(fixture: &Fixture, physical: ur_physical_mem_handle_t) -> Data {
    let (mut data, mut size) = (null_mut(), 0);
    ok!(IPCExp.pfnGetPhysMemHandleExp(fixture.context(), physical, &raw mut data, &raw mut size));
    Data::of(data, size)
}

/// Runs `work` with the physical memory mapped.
#[track_caller]
fn mapped(fixture: &Fixture, physical: ur_physical_mem_handle_t, work: impl FnOnce(*mut c_void)) {
    let (c, size) = (fixture.context(), step(fixture));
    let mut start = null_mut();
    ok!(VirtualMem.pfnReserve(c, null(), size, &raw mut start));
    ok!(VirtualMem.pfnMap(c, start, size, physical, 0, Access::READ_WRITE));
    work(start);
    ok!(VirtualMem.pfnUnmap(c, start, size));
    ok!(VirtualMem.pfnFree(c, start, size));
}

#[test]
fn urDeviceGetInfo_says_that_physical_memory_can_be_shared() {
    needs_function!(urIPCGetPhysMemHandleExp);
    let fixture = Fixture::new();
    let property = ur_device_info_t::IPC_PHYSICAL_MEMORY_SUPPORT_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
}

#[test]
fn two_processes_see_each_other_s_bytes_in_physical_memory() {
    needs_function!(urIPCGetPhysMemHandleExp);
    const NAME: &str = "two_processes_see_each_other_s_bytes_in_physical_memory";
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let size = step(&fixture);
    if is_child() {
        return in_another_process(NAME, Vec::new, |data| {
            let physical = open(&fixture, &data);
            let of = query::get::<usize>(ask!(PhysicalMem.pfnGetInfo(physical, ur_physical_mem_info_t::SIZE)));
            assert_eq!(of, size);
            mapped(&fixture, physical, |start| {
                assert!(memory::read::<u8>(&queue, start, size) == pattern(1, size));
                memory::write(&queue, start, &pattern(2, size));
            });
            ok!(IPCExp.pfnClosePhysMemHandleExp(fixture.context(), physical));
        });
    }
    let_others();
    let physical = create(&fixture, ur_physical_mem_flags_t::ENABLE_IPC);
    mapped(&fixture, physical, |start| {
        memory::write(&queue, start, &pattern(1, size));
        let data = get(&fixture, physical);
        in_another_process(NAME, || data.bytes.clone(), drop);
        ok!(IPCExp.pfnPutPhysMemHandleExp(fixture.context(), data.pointer));
        assert!(memory::read::<u8>(&queue, start, size) == pattern(2, size));
    });
    ok!(PhysicalMem.pfnRelease(physical));
}

#[track_caller]
fn open(fixture: &Fixture, data: &[u8]) -> ur_physical_mem_handle_t {
    let (c, d) = (fixture.context(), fixture.device());
    let mut physical = null_mut();
    ok!(IPCExp.pfnOpenPhysMemHandleExp(c, d, data.as_ptr().cast(), data.len(), &raw mut physical));
    assert!(!physical.is_null());
    physical
}

#[test]
fn physical_memory_can_be_opened_in_its_own_process_and_outlives_who_made_it() {
    needs_function!(urIPCGetPhysMemHandleExp);
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let physical = create(&fixture, ur_physical_mem_flags_t::ENABLE_IPC);
    mapped(&fixture, physical, |start| memory::write(&queue, start, &[11u32, 12]));
    let data = get(&fixture, physical);
    let opened = open(&fixture, &data.bytes);
    assert_ne!(opened, physical);
    ok!(IPCExp.pfnPutPhysMemHandleExp(fixture.context(), data.pointer));
    ok!(PhysicalMem.pfnRelease(physical));
    mapped(&fixture, opened, |start| assert_eq!(memory::read::<u32>(&queue, start, 2), [11, 12]));
    ok!(IPCExp.pfnClosePhysMemHandleExp(fixture.context(), opened));
}

#[test]
fn physical_memory_refuses_what_is_not_shared_and_what_is_no_handle_data() {
    needs_function!(urIPCGetPhysMemHandleExp);
    let fixture = Fixture::new();
    let (c, d) = (fixture.context(), fixture.device());
    let (own, shared) =
        (create(&fixture, ur_physical_mem_flags_t::empty()), create(&fixture, ur_physical_mem_flags_t::ENABLE_IPC));
    let (mut data, mut size) = (null_mut(), 7usize);
    let (p, s) = (&raw mut data, &raw mut size);
    refused!(ERROR_INVALID_ARGUMENT, IPCExp.pfnGetPhysMemHandleExp(c, own, p, s));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnGetPhysMemHandleExp(c, null_mut(), p, s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetPhysMemHandleExp(c, shared, null_mut(), s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetPhysMemHandleExp(c, shared, p, null_mut()));
    let elsewhere = fixture.context_of(&[fixture.device()]);
    refused!(ERROR_INVALID_CONTEXT, IPCExp.pfnGetPhysMemHandleExp(elsewhere.handle(), shared, p, s));
    if let Some(sim) = fixture.sim() {
        sim.fail("cuMemExportToShareableHandle", 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, IPCExp.pfnGetPhysMemHandleExp(c, shared, p, s));
    }
    assert!(data.is_null());
    assert_eq!(size, 7);

    let data = get(&fixture, shared);
    let mut opened = null_mut();
    let out = &raw mut opened;
    let (bytes, size) = (data.bytes.as_ptr().cast::<c_void>(), data.bytes.len());
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenPhysMemHandleExp(c, d, bytes, size - 1, out));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnOpenPhysMemHandleExp(c, d, null(), size, out));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnOpenPhysMemHandleExp(c, d, bytes, size, null_mut()));
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, IPCExp.pfnOpenPhysMemHandleExp(c, other, bytes, size, out));
    }
    // Memory handle data are no physical handle data, nor the other way.
    let memory = fixture.memory(Kind::Device, 64);
    let other = shared_memory::get(&fixture, memory.pointer());
    let foreign = other.bytes.as_ptr().cast::<c_void>();
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenPhysMemHandleExp(c, d, foreign, size, out));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutPhysMemHandleExp(c, other.pointer));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutMemHandleExp(c, data.pointer));
    ok!(IPCExp.pfnPutMemHandleExp(c, other.pointer));
    if let Some(sim) = fixture.sim() {
        // What the real driver says of a descriptor that is something else.
        sim.fail("cuMemImportFromShareableHandle", 1, status::UNKNOWN);
        refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenPhysMemHandleExp(c, d, bytes, size, out));
        sim.fail("cuMemImportFromShareableHandle", 1, status::OUT_OF_MEMORY);
        refused!(ERROR_OUT_OF_DEVICE_MEMORY, IPCExp.pfnOpenPhysMemHandleExp(c, d, bytes, size, out));
    }
    ok!(IPCExp.pfnPutPhysMemHandleExp(c, data.pointer));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutPhysMemHandleExp(c, data.pointer));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnPutPhysMemHandleExp(c, null()));
    // Its descriptor is closed.
    let stale = data.bytes.as_ptr().cast::<c_void>();
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenPhysMemHandleExp(c, d, stale, size, out));
    assert!(opened.is_null());
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnClosePhysMemHandleExp(c, own));
    for physical in [own, shared] {
        ok!(PhysicalMem.pfnRelease(physical));
    }
}

#[test]
fn urIPCOpenPhysMemHandleExp_leaves_nothing_when_a_native_call_fails() {
    needs_function!(urIPCGetPhysMemHandleExp);
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let physical = create(&fixture, ur_physical_mem_flags_t::ENABLE_IPC);
    let data = get(&fixture, physical);
    let (c, d, size) = (fixture.context(), fixture.device(), data.bytes.len());
    let left = || {
        let objects = sim.objects();
        ["physical memory", "address reservation", "mapped memory"].map(|kind| objects.get(kind).copied())
    };
    let before = left();
    let mut opened = null_mut();
    for name in ["cuMemGetAllocationGranularity", "cuMemAddressReserve", "cuMemMap"] {
        sim.fail(name, 1, status::UNKNOWN);
        refused!(
            ERROR_ADAPTER_SPECIFIC,
            IPCExp.pfnOpenPhysMemHandleExp(c, d, data.bytes.as_ptr().cast(), size, &raw mut opened)
        );
        sim.clear_faults();
        assert_eq!(left(), before, "{name}");
    }
    assert!(opened.is_null());
    ok!(IPCExp.pfnClosePhysMemHandleExp(c, open(&fixture, &data.bytes)));
    assert_eq!(left(), before);
    ok!(IPCExp.pfnPutPhysMemHandleExp(c, data.pointer));
    ok!(PhysicalMem.pfnRelease(physical));
}

/// Handle data with another process, descriptor and size in them, where they have those.
fn forged(data: &[u8], process: u32, descriptor: c_int, bytes: usize) -> Vec<u8> {
    let own = u64::from(std::process::id()).to_ne_bytes();
    let mut forged = data.to_vec();
    let place = forged.windows(8).position(|word| word == own).expect("handle data that name their process");
    let number = u64::from(descriptor.unsigned_abs());
    for (index, word) in [u64::from(process), number, bytes as u64].into_iter().enumerate() {
        let word_at = place + index * 8;
        forged[word_at..word_at + 8].copy_from_slice(&word.to_ne_bytes());
    }
    forged
}

#[track_caller]
fn refused(fixture: &Fixture, data: &[u8]) {
    let mut opened = null_mut();
    let (c, d, size) = (fixture.context(), fixture.device(), data.len());
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenPhysMemHandleExp(c, d, data.as_ptr().cast(), size, &raw mut opened));
    assert!(opened.is_null());
}

/// A record lock of the kind that `fcntl` knows, on a whole file.
#[repr(C)]
struct RecordLock {
    kind: i16,
    whence: i16,
    start: i64,
    length: i64,
    process: c_int,
}

unsafe extern "C" {
    fn fcntl(descriptor: c_int, command: c_int, lock: *mut RecordLock) -> c_int;
}

const F_WRLCK: i16 = 1;

fn lock(file: &File, command: c_int) -> RecordLock {
    let mut lock = RecordLock { kind: F_WRLCK, whence: 0, start: 0, length: 0, process: 0 };
    // SAFETY: the descriptor is open, and the lock is of the layout that the commands take.
    assert_eq!(unsafe { fcntl(file.as_raw_fd(), command, &raw mut lock) }, 0);
    lock
}

/// Takes the record lock of a file (`F_SETLK`).
fn take_lock(file: &File) {
    lock(file, 6);
}

/// The process that keeps this one from locking a file (`F_GETLK`).
fn who_locks(file: &File) -> Option<u32> {
    let lock = lock(file, 5);
    (lock.kind == F_WRLCK).then_some(lock.process.unsigned_abs())
}

/// Names the file that another process looks at.
const LOCKED: &str = "UR_TEST_LOCKED_FILE";

/// Runs the test of this name in a child that has the file open, and forges handle data that name it there: the
/// child looks for this process's lock before and after.
#[test]
fn urIPCOpenPhysMemHandleExp_keeps_the_record_locks_of_its_process() {
    needs_function!(urIPCGetPhysMemHandleExp);
    const NAME: &str = "urIPCOpenPhysMemHandleExp_keeps_the_record_locks_of_its_process";
    if let Ok(path) = std::env::var(LOCKED) {
        return child::in_process::<&str>(NAME, &[], || watch_the_lock(&path));
    }
    let fixture = Fixture::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("locked");
    let file = File::options().create(true).truncate(true).write(true).read(true).open(&path).expect("a file");
    take_lock(&file);
    let physical = create(&fixture, ur_physical_mem_flags_t::ENABLE_IPC);
    let data = get(&fixture, physical);
    // The file in this very process, by any size that it may have.
    for bytes in [0, step(&fixture)] {
        refused(&fixture, &forged(&data.bytes, std::process::id(), file.as_raw_fd(), bytes));
    }
    let mut child = child::piped(NAME, &[(LOCKED, &path)]);
    let number = child.line().parse().expect("the descriptor's number");
    assert_eq!(child.ask("who"), std::process::id().to_string(), "after handle data that named this process");
    refused(&fixture, &forged(&data.bytes, child.id(), number, step(&fixture)));
    assert_eq!(child.ask("who"), std::process::id().to_string(), "after handle data that named another process");
    child.end();
    ok!(IPCExp.pfnPutPhysMemHandleExp(fixture.context(), data.pointer));
    ok!(PhysicalMem.pfnRelease(physical));
}

fn watch_the_lock(path: &str) {
    let_others();
    let file = File::options().write(true).read(true).open(path).expect("the parent's file");
    child::say(&file.as_raw_fd().to_string());
    for question in std::io::stdin().lines() {
        assert_eq!(question.expect("a question"), "who");
        child::say(&who_locks(&file).map_or_else(|| "nobody".to_owned(), |process| process.to_string()));
    }
}

#[test]
fn urIPCOpenPhysMemHandleExp_refuses_handle_data_that_were_forged() {
    needs_function!(urIPCGetPhysMemHandleExp);
    const NAME: &str = "urIPCOpenPhysMemHandleExp_refuses_handle_data_that_were_forged";
    let fixture = Fixture::new();
    let size = step(&fixture);
    if is_child() {
        return in_another_process(NAME, Vec::new, |data| {
            for forged in data.chunks(data.len() / 2) {
                refused(&fixture, forged);
            }
        });
    }
    let_others();
    let physical = create(&fixture, ur_physical_mem_flags_t::ENABLE_IPC);
    let data = get(&fixture, physical);
    let process = std::process::id();
    // A descriptor of this process that is physical memory and was never shared: one that the library exported.
    let mut private: c_int = -1;
    let (c, d) = (fixture.context(), fixture.device());
    let mut memory = null_mut();
    ok!(MemoryExportExp.pfnAllocExportableMemoryExp(c, d, 0, size, Type::OPAQUE_FD, &raw mut memory));
    let to = (&raw mut private).cast();
    ok!(MemoryExportExp.pfnExportMemoryHandleExp(c, d, Type::OPAQUE_FD, memory, to));
    // SAFETY: the call gave the descriptor to its caller.
    let private = unsafe { OwnedFd::from_raw_fd(private) };
    let unshared = forged(&data.bytes, process, private.as_raw_fd(), size);
    // And the right descriptor, with twice the bytes that it has.
    let place = data.bytes.windows(8).position(|word| word == u64::from(process).to_ne_bytes()).expect("the process");
    let number = data.bytes[place + 8..place + 16].try_into().map(u64::from_ne_bytes).expect("eight bytes");
    let number = c_int::try_from(number).expect("a descriptor");
    let too_long = forged(&data.bytes, process, number, 2 * size);
    for forged in [&unshared, &too_long] {
        refused(&fixture, forged);
    }
    in_another_process(NAME, || [unshared, too_long].concat(), drop);
    // The genuine ones still open.
    let opened = open(&fixture, &data.bytes);
    ok!(IPCExp.pfnClosePhysMemHandleExp(c, opened));
    ok!(IPCExp.pfnPutPhysMemHandleExp(c, data.pointer));
    ok!(MemoryExportExp.pfnFreeExportableMemoryExp(c, d, memory));
    ok!(PhysicalMem.pfnRelease(physical));
}
