//! Which calls wait for work that runs, as the real driver's do (`docs/probes/blocking.c`).

#[macro_use]
mod driver;
use core::cell::RefCell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use driver::*;
use simcuda::sys::*;

const PTX: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .entry empty()
{
    ret;
}
";
const SIZE: usize = 4096;
/// Launches that a stream takes before the next one waits.
const LAUNCH_QUEUE: u32 = 1020;

struct Setup {
    context: Handle,
    stream: Handle,
    other: Handle,
    module: Handle,
    empty: Handle,
    _session: Session,
}

impl Setup {
    fn new() -> Self {
        let session = Session::begin();
        let context = get!(cuCtxCreate_v2(0, 0));
        let (stream, other) =
            (get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)), get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)));
        let module: Handle = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        let empty = get!(cuModuleGetFunction(module, c"empty".as_ptr()));
        Setup { context, stream, other, module, empty, _session: session }
    }

    /// Whether a call waits for a host function that runs on a stream.
    fn waits_for(&self, stream: Handle, call: impl FnOnce()) -> bool {
        self.waits_that_long(SHORT, stream, call)
    }

    /// As [`Setup::waits_for`] for calls that take their time and should not wait.
    fn many_wait(&self, stream: Handle, calls: impl FnOnce()) -> bool {
        self.waits_that_long(LONG, stream, calls)
    }

    fn waits_that_long(&self, patience: u64, stream: Handle, call: impl FnOnce()) -> bool {
        let seen = Seen { patience, ..Seen::default() };
        ok!(cuLaunchHostFunc(stream, Some(watch), (&raw const seen).cast_mut().cast()));
        seen.begins.store(true, Ordering::Release);
        call();
        seen.returned.store(true, Ordering::Release);
        ok!(cuStreamSynchronize(stream));
        !seen.early.into_inner()
    }

    fn waits(&self, call: impl FnOnce()) -> bool {
        self.waits_for(self.stream, call)
    }

    fn launch(&self, stream: Handle) {
        let none = core::ptr::null();
        ok!(cuLaunchKernel(self.empty, 1, 1, 1, 1, 1, 1, 0, stream, none, none));
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        c!(simcudaReleaseWork());
        ok!(cuModuleUnload(self.module));
        ok!(cuStreamDestroy_v2(self.stream));
        ok!(cuStreamDestroy_v2(self.other));
        ok!(cuCtxDestroy_v2(self.context));
    }
}

const SHORT: u64 = 50_000;
const LONG: u64 = 100_000_000;

/// What a host function sees of a call that another thread makes meanwhile.
#[derive(Default)]
struct Seen {
    /// How often it lets other threads run before it takes a call for one that waits.
    patience: u64,
    begins: AtomicBool,
    returned: AtomicBool,
    early: AtomicBool,
}

/// Stays on its stream until the call begins, and then long enough for one that does not wait to return.
unsafe extern "C" fn watch(data: *mut c_void) {
    // SAFETY: the data outlives the stream's work.
    let seen = unsafe { &*data.cast::<Seen>() };
    while !seen.begins.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    for _ in 0..seen.patience {
        if seen.returned.load(Ordering::Acquire) {
            seen.early.store(true, Ordering::Release);
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn frees_wait_for_what_runs_on_the_device() {
    let setup = Setup::new();
    let device = get!(cuMemAlloc_v2(SIZE));
    assert!(setup.waits(|| ok!(cuMemFree_v2(device))), "cuMemFree");
    let managed = get!(cuMemAllocManaged(SIZE, CU_MEM_ATTACH_GLOBAL));
    assert!(setup.waits(|| ok!(cuMemFree_v2(managed))), "cuMemFree of managed memory");
    let host: u64 = get!(cuMemHostAlloc(SIZE, 0));
    assert!(setup.waits(|| ok!(cuMemFreeHost(host))), "cuMemFreeHost");
    let mut own = vec![0u8; SIZE];
    ok!(cuMemHostRegister_v2(own.as_mut_ptr().cast(), SIZE, 0));
    assert!(setup.waits(|| ok!(cuMemHostUnregister(own.as_mut_ptr().cast()))), "cuMemHostUnregister");
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR { width: 4, height: 4, depth: 0, format: 1, num_channels: 1, flags: 0 };
    let array = get!(cuArray3DCreate_v2(&raw const descriptor));
    assert!(setup.waits(|| ok!(cuArrayDestroy(array))), "cuArrayDestroy");
}

#[test]
fn frees_of_nothing_of_pool_memory_and_of_wrong_pointers_wait_for_nobody() {
    let setup = Setup::new();
    let block: u64 = get!(cuMemAllocAsync(SIZE, setup.other));
    let own = vec![0u8; SIZE];
    assert!(!setup.waits(|| ok!(cuMemFree_v2(0))));
    assert!(!setup.waits(|| err!(1, cuMemFree_v2(own.as_ptr() as u64))));
    assert!(!setup.waits(|| err!(1, cuMemFreeHost(own.as_ptr() as u64))));
    assert!(!setup.waits(|| ok!(cuMemFreeAsync(block, setup.other))));
    let device = get!(cuMemAlloc_v2(SIZE));
    assert!(!setup.waits(|| ok!(cuMemFreeAsync(device, setup.other))), "plain memory in stream order");
}

#[test]
fn frees_trims_and_ends_of_pools_of_managed_memory_wait_for_nobody() {
    let setup = Setup::new();
    let props = CUmemPoolProps { alloc_type: CU_MEM_ALLOCATION_TYPE_MANAGED, ..device_pool(0) };
    let pool: Handle = get!(cuMemPoolCreate(&props));
    let keeps = u64::MAX;
    ok!(cuMemPoolSetAttribute(pool, 4, (&raw const keeps).cast_mut().cast()));
    let freed = || {
        let block: u64 = get!(cuMemAllocFromPoolAsync(SIZE, pool, setup.other));
        assert!(!setup.waits(|| ok!(cuMemFreeAsync(block, setup.other))), "cuMemFreeAsync");
        ok!(cuStreamSynchronize(setup.other));
    };
    assert!(!setup.waits(|| ok!(cuMemPoolTrimTo(pool, 0))), "of nothing");
    freed();
    assert!(!setup.waits(|| ok!(cuMemPoolTrimTo(pool, 0))), "cuMemPoolTrimTo");
    freed();
    assert!(!setup.waits(|| ok!(cuMemPoolDestroy(pool))), "cuMemPoolDestroy");
}

#[test]
fn a_free_waits_for_a_value_wait_too() {
    let setup = Setup::new();
    let flag: u64 = get!(cuMemHostAlloc(8, 0));
    // SAFETY: the block has eight bytes, aligned, and is only touched as an atomic from here on.
    let cell = unsafe { &*(flag as *const core::sync::atomic::AtomicU64) };
    cell.store(0, Ordering::SeqCst);
    let device = get!(cuMemAlloc_v2(SIZE));
    ok!(cuStreamWaitValue64_v2(setup.stream, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    std::thread::scope(|scope| {
        let before = calls(c"cuMemFree_v2");
        scope.spawn(move || {
            while calls(c"cuMemFree_v2") == before {
                std::thread::yield_now();
            }
            cell.store(1, Ordering::SeqCst);
        });
        ok!(cuMemFree_v2(device));
        assert_eq!(cell.load(Ordering::SeqCst), 1);
    });
    ok!(cuStreamSynchronize(setup.stream));
    ok!(cuMemFreeHost(flag));
}

#[test]
fn a_free_waits_for_every_context_of_its_device_and_no_other_device() {
    let setup = Setup::new();
    let second: Handle = get!(cuCtxCreate_v2(0, 0));
    let memory = get!(cuMemAlloc_v2(SIZE));
    assert!(setup.waits(|| ok!(cuMemFree_v2(memory))));
    ok!(cuCtxDestroy_v2(second));
    let far: Handle = get!(cuCtxCreate_v2(0, 1));
    let memory = get!(cuMemAlloc_v2(SIZE));
    assert!(!setup.waits(|| ok!(cuMemFree_v2(memory))));
    ok!(cuCtxDestroy_v2(far));
    ok!(cuCtxSetCurrent(setup.context));
}

#[test]
fn loading_and_unloading_a_module_wait_for_what_runs_on_the_device() {
    let setup = Setup::new();
    let (image, none, nothing) = (PTX.as_ptr().cast(), core::ptr::null(), core::ptr::null_mut());
    let mut module = 0;
    assert!(setup.waits(|| ok!(cuModuleLoadData(&raw mut module, image))), "cuModuleLoadData");
    assert!(setup.waits(|| ok!(cuModuleUnload(module))), "cuModuleUnload");
    assert!(setup.waits(|| ok!(cuModuleLoadDataEx(&raw mut module, image, 0, none, nothing))), "cuModuleLoadDataEx");
    ok!(cuModuleUnload(module));
    let file = std::env::temp_dir().join(format!("driver_waiting-{}.ptx", std::process::id()));
    std::fs::write(&file, PTX.to_bytes()).expect("a file in the folder for temporary ones");
    let name = std::ffi::CString::new(file.to_str().expect("a plain name")).expect("no zeros");
    assert!(setup.waits(|| ok!(cuModuleLoad(&raw mut module, name.as_ptr()))), "cuModuleLoad");
    ok!(cuModuleUnload(module));
    std::fs::remove_file(file).expect("the file is ours");
    assert!(!setup.waits(|| err!(200, cuModuleLoadData(&raw mut module, c"no code".as_ptr().cast()))), "broken code");
    let mut library = 0;
    assert!(!setup.waits(|| ok!(cuLibraryLoadData(&raw mut library, image, none, nothing, 0, none, nothing, 0))));
    assert!(!setup.waits(|| ok!(cuLibraryUnload(library))), "a library that no context has");
}

#[test]
fn copies_into_pageable_memory_wait_for_their_stream() {
    let setup = Setup::new();
    let device = get!(cuMemAlloc_v2(SIZE));
    let managed = get!(cuMemAllocManaged(SIZE, CU_MEM_ATTACH_GLOBAL));
    let block: u64 = get!(cuMemAllocAsync(SIZE, setup.stream));
    let mut heap = vec![0u8; SIZE];
    let (to, stream) = (heap.as_mut_ptr(), setup.stream);
    for source in [device, managed, block] {
        assert!(setup.waits(|| ok!(cuMemcpyAsync(to as u64, source, SIZE, stream))), "cuMemcpyAsync");
    }
    assert!(setup.waits(|| ok!(cuMemcpyDtoHAsync_v2(to.cast(), device, SIZE, stream))), "cuMemcpyDtoHAsync");
    let rows = rows(to as u64, device);
    assert!(setup.waits(|| ok!(cuMemcpy3DAsync_v2(&raw const rows, stream))), "cuMemcpy3DAsync");
    assert!(!setup.waits(|| ok!(cuMemcpyAsync(to as u64, device, 0, stream))), "nothing to copy");
    assert!(!setup.waits(|| ok!(cuMemcpyAsync(to as u64, device, SIZE, setup.other))), "another stream");
    ok!(cuMemFreeAsync(block, stream));
    ok!(cuMemFree_v2(device));
    ok!(cuMemFree_v2(managed));
}

#[test]
fn a_launch_of_a_graph_that_copies_into_pageable_memory_waits_for_its_stream() {
    let setup = Setup::new();
    let device = get!(cuMemAlloc_v2(SIZE));
    let pinned: u64 = get!(cuMemHostAlloc(SIZE, 0));
    let heap = vec![0u8; SIZE];
    let executable = |to: u64| -> Handle {
        let graph: Handle = get!(cuGraphCreate(0));
        let _: Handle = get!(cuGraphAddMemcpyNode(graph, core::ptr::null(), 0, &rows(to, device), setup.context));
        let executable = get!(cuGraphInstantiateWithFlags(graph, 0));
        ok!(cuGraphDestroy(graph));
        executable
    };
    let (to_heap, to_pinned) = (executable(heap.as_ptr() as u64), executable(pinned));
    assert!(setup.waits(|| ok!(cuGraphLaunch(to_heap, setup.stream))), "the first launch");
    assert!(setup.waits(|| ok!(cuGraphLaunch(to_heap, setup.stream))), "a later launch");
    assert!(!setup.waits(|| ok!(cuGraphLaunch(to_heap, setup.other))), "on another stream");
    assert!(!setup.waits(|| ok!(cuGraphLaunch(to_pinned, setup.stream))), "into pinned memory");
    [to_heap, to_pinned].into_iter().for_each(|exec| ok!(cuGraphExecDestroy(exec)));
    ok!(cuMemFree_v2(device));
    ok!(cuMemFreeHost(pinned));
}

#[test]
fn copies_between_host_allocations_wait_for_their_stream() {
    let setup = Setup::new();
    let (one, two): (u64, u64) = (get!(cuMemHostAlloc(SIZE, 0)), get!(cuMemHostAlloc(SIZE, 0)));
    let mut own = vec![0u8; SIZE];
    let own = own.as_mut_ptr();
    ok!(cuMemHostRegister_v2(own.cast(), SIZE, 0));
    let mut heap = vec![0u8; SIZE];
    let heap = heap.as_mut_ptr() as u64;
    for (to, from) in [(one, two), (one, heap), (heap, one), (one, own as u64), (own as u64, heap)] {
        assert!(setup.waits(|| ok!(cuMemcpyAsync(to, from, SIZE, setup.stream))));
    }
    let rows = rows(one, two);
    assert!(setup.waits(|| ok!(cuMemcpy3DAsync_v2(&raw const rows, setup.stream))), "cuMemcpy3DAsync");
    assert!(!setup.waits(|| ok!(cuMemcpyAsync(one, two, SIZE, setup.other))), "another stream");
    ok!(cuMemHostUnregister(own.cast()));
    ok!(cuMemFreeHost(one));
    ok!(cuMemFreeHost(two));
}

#[test]
fn copies_with_a_device_or_managed_side_wait_for_nobody() {
    let setup = Setup::new();
    let (device, managed) = (get!(cuMemAlloc_v2(SIZE)), get!(cuMemAllocManaged(SIZE, CU_MEM_ATTACH_GLOBAL)));
    let pinned: u64 = get!(cuMemHostAlloc(SIZE, 0));
    let heap = vec![0u8; SIZE];
    let heap = heap.as_ptr() as u64;
    for (to, from) in [
        (device, heap),
        (device, pinned),
        (device, managed),
        (pinned, device),
        (pinned, managed),
        (managed, heap),
        (managed, pinned),
        (managed, device),
    ] {
        assert!(!setup.waits(|| ok!(cuMemcpyAsync(to, from, SIZE, setup.stream))));
    }
    ok!(cuMemFree_v2(device));
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeHost(pinned));
}

/// Its bytes are taken at the call all the same.
#[test]
fn copies_of_4_mib_from_the_heap_to_the_device_wait_for_their_stream() {
    const LARGE: usize = 4 << 20;
    let setup = Setup::new();
    let (device, pinned): (u64, u64) = (get!(cuMemAlloc_v2(LARGE)), get!(cuMemHostAlloc(LARGE, 0)));
    let heap = vec![7u8; LARGE];
    let copy = |from: u64, bytes: usize| setup.waits(|| ok!(cuMemcpyAsync(device, from, bytes, setup.stream)));
    assert!(copy(heap.as_ptr() as u64, LARGE));
    assert!(!copy(heap.as_ptr() as u64, LARGE / 2));
    assert!(!copy(pinned, LARGE), "pinned memory");
    assert!(!setup.waits(|| ok!(cuMemcpyAsync(device, heap.as_ptr() as u64, LARGE, setup.other))), "another stream");
    ok!(cuStreamSynchronize(setup.other));
    let mut found = vec![0u8; LARGE];
    ok!(cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), device, LARGE));
    assert!(found == heap);
    ok!(cuMemFree_v2(device));
    ok!(cuMemFreeHost(pinned));
}

#[test]
fn making_and_destroying_streams_events_pools_and_memory_wait_for_nobody() {
    let setup = Setup::new();
    assert!(!setup.waits(|| {
        let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
        let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
        ok!(cuEventRecord(event, setup.stream));
        ok!(cuEventDestroy_v2(event));
        let props = device_pool(0);
        let pool: Handle = get!(cuMemPoolCreate(&raw const props));
        let block: u64 = get!(cuMemAllocFromPoolAsync(SIZE, pool, stream));
        ok!(cuMemFreeAsync(block, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuMemPoolTrimTo(pool, 0));
        ok!(cuMemPoolDestroy(pool));
        ok!(cuStreamDestroy_v2(stream));
    }));
    let mut memory = 0;
    assert!(!setup.waits(|| ok!(cuMemAlloc_v2(&raw mut memory, SIZE))));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn a_launch_behind_as_many_as_a_stream_takes_waits_for_one_to_end() {
    let setup = Setup::new();
    assert!(!setup.many_wait(setup.stream, || (0..LAUNCH_QUEUE).for_each(|_| setup.launch(setup.stream))));
    assert!(setup.waits(|| (0..=LAUNCH_QUEUE).for_each(|_| setup.launch(setup.stream))));
    let others = || (0..=LAUNCH_QUEUE).for_each(|_| setup.launch(setup.other));
    assert!(!setup.many_wait(setup.stream, others), "another stream has its own");
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// Two ways for another thread to wait inside of a call.
fn blockers(setup: &Setup, device: u64, heap: u64) -> [Box<dyn Fn() + Sync + '_>; 2] {
    [
        Box::new(move || ok!(cuMemcpyAsync(heap, device, SIZE, setup.stream))),
        Box::new(move || (0..=LAUNCH_QUEUE).for_each(|_| setup.launch(setup.stream))),
    ]
}

impl Setup {
    /// As [`Setup::waits`], while another thread waits for the stream in a call of its own. That it has come there cannot be seen, so
    /// a call that does wait is tried until it does.
    fn waits_beside(&self, blocker: &(dyn Fn() + Sync), call: &dyn Fn()) -> bool {
        let seen = Seen { patience: SHORT, ..Seen::default() };
        ok!(cuLaunchHostFunc(self.stream, Some(watch), (&raw const seen).cast_mut().cast()));
        let begun = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ok!(cuCtxSetCurrent(self.context));
                begun.store(true, Ordering::Release);
                blocker();
            });
            while !begun.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            (0..10_000).for_each(|_| std::thread::yield_now());
            seen.begins.store(true, Ordering::Release);
            call();
            seen.returned.store(true, Ordering::Release);
        });
        ok!(cuStreamSynchronize(self.stream));
        !seen.early.into_inner()
    }
}

#[test]
fn beside_a_thread_that_waits_in_a_copy_or_at_a_full_stream_new_memory_events_streams_and_host_functions_wait() {
    let setup = Setup::new();
    let mut heap = vec![0u8; SIZE];
    let device: u64 = get!(cuMemAlloc_v2(SIZE));
    // Frees wait by themselves, so they come at the end.
    let [memory, pinned, events, streams] = [(); 4].map(|()| RefCell::new(Vec::<u64>::new()));
    let calls: [(&str, &dyn Fn()); 5] = [
        ("cuMemAlloc", &|| memory.borrow_mut().push(get!(cuMemAlloc_v2(SIZE)))),
        ("cuMemHostAlloc", &|| pinned.borrow_mut().push(get!(cuMemHostAlloc(SIZE, 0)))),
        ("cuEventCreate", &|| events.borrow_mut().push(get!(cuEventCreate(0)))),
        ("cuStreamCreate", &|| streams.borrow_mut().push(get!(cuStreamCreate(CU_STREAM_NON_BLOCKING)))),
        ("cuLaunchHostFunc", &|| ok!(cuLaunchHostFunc(setup.other, Some(nothing), core::ptr::null_mut()))),
    ];
    for blocker in &blockers(&setup, device, heap.as_mut_ptr() as u64) {
        for (name, call) in calls {
            assert!((0..100).any(|_| setup.waits_beside(blocker, call)), "{name}");
        }
    }
    memory.take().into_iter().for_each(|address| ok!(cuMemFree_v2(address)));
    pinned.take().into_iter().for_each(|address| ok!(cuMemFreeHost(address)));
    events.take().into_iter().for_each(|event| ok!(cuEventDestroy_v2(event)));
    streams.take().into_iter().for_each(|stream| ok!(cuStreamDestroy_v2(stream)));
    ok!(cuMemFree_v2(device));
}

#[test]
fn beside_a_thread_that_waits_in_a_copy_or_at_a_full_stream_pools_queries_records_and_launches_go_on() {
    let setup = Setup::new();
    let mut heap = vec![0u8; SIZE];
    let device: u64 = get!(cuMemAlloc_v2(SIZE));
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    let calls = || {
        let block: u64 = get!(cuMemAllocAsync(SIZE, setup.other));
        setup.launch(setup.other);
        ok!(cuEventRecord(event, setup.other));
        ok!(cuMemFreeAsync(block, setup.other));
        ok!(cuEventSynchronize(event));
        assert_eq!(c!(cuEventQuery(event)), 0);
    };
    for blocker in &blockers(&setup, device, heap.as_mut_ptr() as u64) {
        assert!((0..5).all(|_| !setup.waits_beside(blocker, &calls)));
    }
    ok!(cuEventDestroy_v2(event));
    ok!(cuMemFree_v2(device));
}

/// But for what is sent to a peer.
#[test]
fn a_copy_that_needs_another_device_takes_three_places() {
    let setup = Setup::new();
    let near: u64 = get!(cuMemAlloc_v2(SIZE));
    let second = get!(cuCtxCreate_v2(0, 1));
    let far: u64 = get!(cuMemAlloc_v2(SIZE));
    ok!(cuCtxSetCurrent(setup.context));
    let fit = |to: u64, from: u64, copies: u32| {
        let put = |copies| (0..copies).for_each(|_| ok!(cuMemcpyAsync(to, from, 64, setup.stream)));
        assert!(!setup.many_wait(setup.stream, || put(copies)), "{copies} fit");
        assert!(setup.waits(|| put(copies + 1)), "{copies} and one");
    };
    for (to, from) in [(near, far), (far, near), (far, far)] {
        fit(to, from, LAUNCH_QUEUE / 3);
    }
    ok!(cuCtxEnablePeerAccess(second, 0));
    fit(near, far, LAUNCH_QUEUE / 3);
    fit(far, near, LAUNCH_QUEUE);
    ok!(cuMemFree_v2(near));
    ok!(cuCtxSetCurrent(second));
    ok!(cuMemFree_v2(far));
    ok!(cuCtxDestroy_v2(second));
    ok!(cuCtxSetCurrent(setup.context));
}

#[test]
fn copies_fills_and_written_values_take_the_places_of_launches() {
    let setup = Setup::new();
    let (to, from) = (get!(cuMemAlloc_v2(SIZE)), get!(cuMemAlloc_v2(SIZE)));
    let quarter = LAUNCH_QUEUE / 4;
    let fill_up = || {
        (0..quarter).for_each(|_| ok!(cuMemcpyAsync(to, from, 64, setup.stream)));
        (0..quarter).for_each(|_| ok!(cuMemsetD8Async(to, 1, 64, setup.stream)));
        (0..quarter).for_each(|_| ok!(cuStreamWriteValue64_v2(setup.stream, to, 1, 0)));
        (0..LAUNCH_QUEUE - 3 * quarter).for_each(|_| setup.launch(setup.stream));
    };
    let event: Handle = get!(cuEventCreate(CU_EVENT_DISABLE_TIMING));
    assert!(!setup.many_wait(setup.stream, || {
        fill_up();
        ok!(cuEventRecord(event, setup.stream));
    }));
    let behind = |one_more: &mut dyn FnMut()| {
        setup.waits(|| {
            fill_up();
            one_more();
        })
    };
    assert!(behind(&mut || ok!(cuMemcpyAsync(to, from, 64, setup.stream))));
    assert!(behind(&mut || ok!(cuMemsetD8Async(to, 1, 64, setup.stream))));
    assert!(behind(&mut || ok!(cuStreamWriteValue64_v2(setup.stream, to, 1, 0))));
    ok!(cuMemFree_v2(to));
    ok!(cuMemFree_v2(from));
}

/// While work is held, whoever holds it must be able to go on.
#[test]
fn nothing_waits_for_held_work() {
    let setup = Setup::new();
    let (device, more) = (get!(cuMemAlloc_v2(SIZE)), get!(cuMemAlloc_v2(SIZE)));
    let mut heap = vec![0u8; SIZE];
    c!(simcudaHoldWork());
    ok!(cuMemsetD8Async(device, 1, SIZE, setup.stream));
    ok!(cuMemcpyDtoHAsync_v2(heap.as_mut_ptr().cast(), device, SIZE, setup.stream));
    (0..=LAUNCH_QUEUE).for_each(|_| setup.launch(setup.stream));
    ok!(cuMemFree_v2(more));
    err!(CUDA_ERROR_NOT_READY, cuStreamQuery(setup.stream));
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(heap, [1; SIZE]);
    ok!(cuMemFree_v2(device));
}

/// A copy of four rows of 32 bytes.
fn rows(to: u64, from: u64) -> CUDA_MEMCPY3D {
    // SAFETY: the structure is numbers and addresses, of which zero is one each.
    let mut rows: CUDA_MEMCPY3D = unsafe { core::mem::zeroed() };
    (rows.src_type, rows.src_device, rows.src_pitch) = (CU_MEMORYTYPE_UNIFIED, from, 64);
    (rows.dst_type, rows.dst_device, rows.dst_pitch) = (CU_MEMORYTYPE_UNIFIED, to, 64);
    (rows.width, rows.height, rows.depth) = (32, 4, 1);
    rows
}
