//! Launches: arguments, shapes, and what a kernel's failure does to its context.

#[macro_use]
mod driver;
use core::ffi::{CStr, c_void};
use driver::*;
use simcuda::sys::*;

const PTX: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r5, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry small() .maxntid 64, 1, 1
{
    ret;
}
.visible .entry fixed() .reqntid 32, 1, 1
{
    ret;
}
.visible .entry stop()
{
    trap;
    ret;
}
.extern .shared .align 16 .b8 area[];
.visible .entry shared(.param .u64 out, .param .u32 offset)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [offset];
    mov.u32 %r2, area;
    add.u32 %r3, %r1, %r2;
    ld.shared.u32 %r4, [%r3];
    st.shared.u32 [%r3], %r4;
    st.global.u32 [%rd1], %r4;
    ret;
}
";

struct Setup {
    context: Handle,
    stream: Handle,
    module: Handle,
    _session: Session,
}

impl Setup {
    fn new() -> Self {
        Self::on(0)
    }

    fn on(device: i32) -> Self {
        let session = Session::begin();
        let context = get!(cuCtxCreate_v2(0, device));
        let stream = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
        Setup { context, stream, module: get!(cuModuleLoadData(PTX.as_ptr().cast())), _session: session }
    }

    fn function(&self, name: &CStr) -> Handle {
        get!(cuModuleGetFunction(self.module, name.as_ptr()))
    }

    fn store(&self, out: u64, value: u32, grid: u32, block: u32) -> i32 {
        let params = [(&raw const out).cast::<c_void>(), (&raw const value).cast()];
        let none = core::ptr::null();
        c!(cuLaunchKernel(self.function(c"store"), grid, 1, 1, block, 1, 1, 0, self.stream, params.as_ptr(), none))
    }

    fn shape(&self, name: &CStr, grid: [u32; 3], block: [u32; 3], shared: u32) -> i32 {
        let [gx, gy, gz] = grid;
        let [bx, by, bz] = block;
        let none = core::ptr::null();
        c!(cuLaunchKernel(self.function(name), gx, gy, gz, bx, by, bz, shared, self.stream, none, none))
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        c!(simcudaReleaseWork());
        c!(cuCtxDestroy_v2(self.context));
    }
}

fn words(address: u64, len: usize) -> Vec<u32> {
    bytes_of(address, len * 4).chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four"))).collect()
}

#[test]
fn arguments_are_taken_when_the_launch_is_submitted() {
    let setup = Setup::new();
    let out = get!(cuMemAlloc_v2(256));
    let mut value = 7u32;
    let params = [(&raw const out).cast::<c_void>(), (&raw const value).cast()];
    let none = core::ptr::null();
    c!(simcudaHoldWork());
    let store = setup.function(c"store");
    ok!(cuLaunchKernel(store, 2, 1, 1, 32, 1, 1, 0, setup.stream, params.as_ptr(), none));
    // SAFETY: the variable is alive; the launch keeps no pointer to it.
    unsafe { (&raw mut value).write_volatile(8) };
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(words(out, 64), [7; 64]);
}

#[test]
fn an_access_behind_shared_memory_that_the_hardware_lets_pass_is_reported_once_a_launch() {
    let setup = Setup::new();
    let out = get!(cuMemAlloc_v2(4));
    let access = |offset: u32, grid: u32| {
        let params = [(&raw const out).cast::<c_void>(), (&raw const offset).cast()];
        let none = core::ptr::null();
        ok!(cuLaunchKernel(setup.function(c"shared"), grid, 1, 1, 32, 1, 1, 44, setup.stream, params.as_ptr(), none));
        c!(cuStreamSynchronize(setup.stream))
    };
    assert_eq!(access(40, 1), 0);
    assert_eq!(reports(), []);
    assert_eq!(access(64, 3), 0);
    assert_eq!(report_kinds(), ["invalid-pointer"]);
    let text = &reports()[0].1;
    assert!(
        text.contains("kernel shared: stray read of 4 bytes at offset 0x40 of shared memory of 44 bytes"),
        "{text}"
    );
    // Nobody may rely on what is there.
    assert_ne!(words(out, 1), [0]);
    assert_eq!(access(128, 1), 700);
}

#[test]
fn arguments_can_come_in_one_buffer() {
    let setup = Setup::new();
    let out = get!(cuMemAlloc_v2(256));
    let mut buffer = [0u8; 12];
    buffer[..8].copy_from_slice(&out.to_le_bytes());
    buffer[8..].copy_from_slice(&9u32.to_le_bytes());
    let mut size = buffer.len();
    let name = |name: usize| core::ptr::without_provenance::<c_void>(name);
    let extra = |size: *const usize| {
        let buffer = buffer.as_ptr().cast();
        [
            name(CU_LAUNCH_PARAM_BUFFER_POINTER),
            buffer,
            name(CU_LAUNCH_PARAM_BUFFER_SIZE),
            size.cast(),
            name(CU_LAUNCH_PARAM_END),
        ]
    };
    let store = setup.function(c"store");
    let list = extra(&size);
    ok!(cuLaunchKernel(store, 2, 1, 1, 32, 1, 1, 0, setup.stream, core::ptr::null(), list.as_ptr()));
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(words(out, 64), [9; 64]);
    size = 8;
    let list = extra(&size);
    err!(1, cuLaunchKernel(store, 2, 1, 1, 32, 1, 1, 0, setup.stream, core::ptr::null(), list.as_ptr()));
}

#[test]
fn shapes_beyond_the_devices_or_the_functions_limits_are_refused() {
    let setup = Setup::new();
    let one = [1, 1, 1];
    assert_eq!(setup.shape(c"small", one, [64, 1, 1], 0), 0);
    assert_eq!(setup.shape(c"small", [0, 1, 1], one, 0), 1);
    assert_eq!(setup.shape(c"small", one, [0, 1, 1], 0), 1);
    assert_eq!(setup.shape(c"small", one, [1025, 1, 1], 0), 1);
    assert_eq!(setup.shape(c"small", one, [1, 1, 65], 0), 1);
    assert_eq!(setup.shape(c"small", [1, 65536, 1], one, 0), 1);
    assert_eq!(setup.shape(c"small", one, [65, 1, 1], 0), 1);
    assert_eq!(setup.shape(c"fixed", one, [32, 1, 1], 0), 0);
    assert_eq!(setup.shape(c"fixed", one, [16, 1, 1], 0), 1);
    assert_eq!(setup.shape(c"small", one, one, 49_153), 1);
    ok!(cuFuncSetAttribute(setup.function(c"small"), 8, 100_000));
    assert_eq!(setup.shape(c"small", one, one, 100_000), 0);
    err!(1, cuFuncSetAttribute(setup.function(c"small"), 8, 232_449));
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(reports(), []);
}

#[test]
fn an_illegal_access_sticks_to_its_context_and_names_its_place() {
    let setup = Setup::new();
    let event: Handle = get!(cuEventCreate(0));
    let out = get!(cuMemAlloc_v2(4 * 32));
    assert_eq!(setup.store(out, 1, 2, 32), 0);
    err!(700, cuStreamSynchronize(setup.stream));
    err!(700, cuStreamQuery(setup.stream));
    err!(700, cuEventRecord(event, setup.stream));
    err!(700, cuMemAlloc_v2(&mut 0, 64));
    err!(700, cuCtxSynchronize());
    let kinds = report_kinds();
    assert!(kinds.contains(&"invalid-pointer".to_owned()) && kinds.contains(&"kernel-fault".to_owned()), "{kinds:?}");
    let fault = reports().into_iter().find(|(kind, _)| kind == "kernel-fault").expect("reported").1;
    assert!(fault.contains("store") && fault.contains("block (1, 0, 0)"), "{fault}");
    ok!(cuMemFree_v2(out));
    ok!(cuEventDestroy_v2(event));
    let other: Handle = get!(cuCtxCreate_v2(0, 0));
    let fine = get!(cuMemAlloc_v2(64));
    ok!(cuMemFree_v2(fine));
    ok!(cuCtxDestroy_v2(other));
}

#[test]
fn a_trap_fails_the_launch_and_nobody_hangs_on_what_follows() {
    let setup = Setup::new();
    let event: Handle = get!(cuEventCreate(0));
    c!(simcudaHoldWork());
    assert_eq!(setup.shape(c"stop", [1, 1, 1], [1, 1, 1], 0), 0);
    ok!(cuEventRecord(event, setup.stream));
    c!(simcudaReleaseWork());
    err!(719, cuEventSynchronize(event));
    ok!(cuStreamDestroy_v2(setup.stream));
}

#[test]
fn a_kernel_that_uses_memory_after_its_stream_ordered_free_fails_and_is_reported() {
    let setup = Setup::new();
    let block: u64 = get!(cuMemAllocAsync(4 * 32, setup.stream));
    assert_eq!(setup.store(block, 1, 1, 32), 0);
    ok!(cuMemFreeAsync(block, setup.stream));
    assert_eq!(setup.store(block, 2, 1, 32), 0, "the driver cannot know what a kernel will touch");
    err!(700, cuStreamSynchronize(setup.stream));
    assert!(report_kinds().contains(&"use-after-free".to_owned()), "{:?}", reports());
}

#[test]
fn a_kernel_keeps_a_block_that_is_freed_behind_it() {
    let setup = Setup::new();
    c!(simcudaHoldWork());
    let block: u64 = get!(cuMemAllocAsync(4 * 32, setup.stream));
    assert_eq!(setup.store(block, 1, 1, 32), 0);
    ok!(cuMemFreeAsync(block, setup.stream));
    let next: u64 = get!(cuMemAllocAsync(4 * 32, setup.stream));
    assert_eq!(next, block);
    assert_eq!(setup.store(next, 2, 1, 32), 0);
    c!(simcudaReleaseWork());
    ok!(cuStreamSynchronize(setup.stream));
    assert_eq!(words(next, 32), [2; 32]);
    assert_eq!(reports(), []);
    ok!(cuMemFreeAsync(next, setup.stream));
}

#[test]
fn a_kernel_reaches_a_peers_memory_only_with_access() {
    let setup = Setup::on(1);
    let peer: Handle = get!(cuCtxCreate_v2(0, 0));
    let memory = get!(cuMemAlloc_v2(4 * 32));
    ok!(cuCtxSetCurrent(setup.context));
    ok!(cuCtxEnablePeerAccess(peer, 0));
    err!(704, cuCtxEnablePeerAccess(peer, 0));
    assert_eq!(setup.store(memory, 5, 1, 32), 0);
    ok!(cuStreamSynchronize(setup.stream));
    let stranger: Handle = get!(cuCtxCreate_v2(0, 1));
    let stream: Handle = get!(cuStreamCreate(CU_STREAM_NON_BLOCKING));
    let module: Handle = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let store: Handle = get!(cuModuleGetFunction(module, c"store".as_ptr()));
    let params = [(&raw const memory).cast::<c_void>(), (&raw const memory).cast()];
    err!(400, cuLaunchKernel(store, 1, 1, 1, 32, 1, 1, 0, setup.stream, params.as_ptr(), core::ptr::null()));
    ok!(cuLaunchKernel(store, 1, 1, 1, 32, 1, 1, 0, stream, params.as_ptr(), core::ptr::null()));
    err!(700, cuStreamSynchronize(stream));
    assert!(report_kinds().contains(&"peer-access".to_owned()), "{:?}", reports());
    ok!(cuCtxDestroy_v2(stranger));
    ok!(cuCtxSetCurrent(peer));
    assert_eq!(words(memory, 32), [5; 32]);
    ok!(cuCtxDestroy_v2(peer));
    ok!(cuCtxSetCurrent(setup.context));
}
