//! What a kernel does wrong ends the launch, says where, and never hangs; barriers and strands otherwise.

use super::support::{Device, Span, Value};
use simcuda::exec::{Environment, FaultKind, Grid, LaunchFault, LinkedModule, Memory, MemoryFault, launch};
use simcuda::ptx::Module;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn kernel(parameters: &str, body: &str) -> Device {
    Device::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n.global .align 1 .b8 format[32] = \"%d is %5.2f, %s %x%c\";\n.global .b8 word[4] = \"abc\";\n.extern .shared .align 16 .b8 dynamic[];\n.visible .entry k({parameters}) {{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.u32 %r0, %tid.x;\n{body}\n}}\n"
    ))
}

const ONE_WARP: Grid = Grid { block: [32, 1, 1], ..Grid::PLAIN };

fn fault(body: &str, block: u32) -> LaunchFault {
    let grid = Grid { block: [block, 1, 1], dynamic_shared: 64, ..ONE_WARP };
    kernel("", body).try_run("k", grid, &[]).expect_err(body)
}

fn memory_fault(body: &str) -> (FaultKind, u32, [u32; 3], String) {
    match fault(body, 32) {
        LaunchFault::Memory { at, kind, message } => (kind, at.line, at.thread, message),
        other => panic!("{body}: {other}"),
    }
}

#[test]
fn stray_accesses_name_line_and_thread() {
    let (kind, line, thread, message) = memory_fault("mov.u64 %rd1, 0x1000;\nst.global.u32 [%rd1], 1;");
    assert_eq!((kind, line, thread), (FaultKind::IllegalAddress, 13, [0, 0, 0]));
    assert_eq!(message, "illegal write of 4 bytes at 0x1000: not a buffer of the test");

    // 64 bytes of dynamic shared memory, which the hardware ends at 128: thread 2 is the first beyond.
    let (kind, line, thread, message) =
        memory_fault("shl.b32 %r1, %r0, 6; mov.u32 %r2, dynamic; add.u32 %r1, %r1, %r2;\nld.shared.u32 %r3, [%r1];");
    assert_eq!((kind, line, thread), (FaultKind::IllegalAddress, 13, [2, 0, 0]));
    assert_eq!(message, "illegal read of 4 bytes at offset 0x80 of shared memory of 64 bytes");

    let (kind, ..) = memory_fault("mov.u32 %r1, dynamic; ld.shared.u32 %r3, [%r1+2];");
    assert_eq!(kind, FaultKind::Misaligned);
    let (kind, .., message) = memory_fault(".local .align 4 .b8 l[16]; mov.u64 %rd1, l; st.local.u32 [%rd1+16], 1;");
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(message.contains("local memory of 16 bytes"), "{message}");
    let (kind, .., message) = memory_fault("mov.u64 %rd1, 5; P: .callprototype () _ (); call %rd1, (), P;");
    assert_eq!(kind, FaultKind::InvalidPc);
    assert!(message.contains("0x5"));
}

#[test]
fn constant_memory_and_parameters_are_read_only() {
    let (kind, ..) = {
        let device = kernel(".param .u64 q", "mov.b64 %rd1, q; cvta.param.u64 %rd1, %rd1; st.u64 [%rd1], 1;");
        match device.try_run("k", ONE_WARP, &[Value::U64(1)]) {
            Err(LaunchFault::Memory { kind, message, .. }) => (kind, message),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kind, FaultKind::AddressSpace);
}

#[test]
fn traps_and_assertions() {
    match fault("setp.eq.u32 %p1, %r0, 5;\n@%p1 trap;", 32) {
        LaunchFault::Trap { at } => assert_eq!((at.line, at.thread, at.function.as_str()), (13, [5, 0, 0], "k")),
        other => panic!("{other}"),
    }
    let body = "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
        mov.u64 %rd1, word; st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], 42;
        st.param.b64 [d], %rd1; st.param.b64 [e], 1;
        call.uni __assertfail, (a, b, c, d, e); }";
    match fault(body, 1) {
        LaunchFault::Assert { message, .. } => assert_eq!(message, "abc:42: abc: Assertion `abc` failed"),
        other => panic!("{other}"),
    }
}

#[test]
fn barriers_that_cannot_complete_are_deadlocks() {
    // Half the threads wait at one barrier, half at another.
    let body = "setp.lt.u32 %p1, %r0, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B: ret;";
    match fault(body, 64) {
        LaunchFault::Deadlock { message, .. } => assert!(message.contains("barrier 2"), "{message}"),
        other => panic!("{other}"),
    }
    // More threads than there are.
    assert!(matches!(fault("bar.sync 0, 96;", 64), LaunchFault::Deadlock { .. }));
    // A lane named that waits elsewhere.
    let body = "setp.lt.u32 %p1, %r0, 16; @%p1 bra A; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; ret; A: bar.sync 0; ret;";
    assert!(matches!(fault(body, 32), LaunchFault::Deadlock { .. }));
    // Two shuffles that wait for each other's lanes.
    let shuffle = "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;";
    let body = format!("setp.lt.u32 %p1, %r0, 16; @%p1 bra A; {shuffle} ret; A: {shuffle} ret;");
    match fault(&body, 32) {
        LaunchFault::Deadlock { message, .. } => assert!(message.contains(".sync instruction"), "{message}"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_launch_that_does_not_fit_is_refused() {
    let device = kernel(".param .u64 q", "ret;");
    let refused = |grid: Grid, arguments: &[Value]| match device.try_run("k", grid, arguments) {
        Err(LaunchFault::Invalid { message }) => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(ONE_WARP, &[]), "'k' takes 8 bytes of parameters, not 0");
    let one = [Value::U64(0)];
    assert!(refused(Grid { block: [1025, 1, 1], ..ONE_WARP }, &one).contains("1025 threads"));
    assert!(refused(Grid { block: [u32::MAX; 3], ..ONE_WARP }, &one).contains("threads"));
    assert!(refused(Grid { grid: [1, 0, 1], ..ONE_WARP }, &one).contains("without blocks"));
    assert!(refused(Grid { dynamic_shared: 1 << 20, ..ONE_WARP }, &one).contains("shared memory"));
}

#[test]
fn endless_recursion_exhausts_the_stack() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.func f() { .local .b8 l[64]; call f, (); ret; }\n.entry k() { call f, (); }\n";
    match Device::parse(text).try_run("k", ONE_WARP, &[]) {
        Err(LaunchFault::Memory { kind: FaultKind::Stack, at, .. }) => assert_eq!(at.function, "f"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn printf_formats_as_c_does() {
    let device = kernel(
        "",
        ".local .align 8 .b8 args[40]; .reg .b32 %n;
        mov.u64 %rd1, args; st.local.u32 [%rd1], -7; st.local.b64 [%rd1+8], 0d400921FB54442D18;
        mov.u64 %rd2, word; st.local.b64 [%rd1+16], %rd2; st.local.u32 [%rd1+24], 255; st.local.u32 [%rd1+28], 33;
        cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, format;
        { .param .b64 f; .param .b64 a; .param .b32 r;
        st.param.b64 [f], %rd2; st.param.b64 [a], %rd1;
        call.uni (r), vprintf, (f, a);
        ld.param.b32 %n, [r]; }
        setp.ne.u32 %p1, %n, 5; @%p1 trap;",
    );
    device.run("k", [1, 1, 1], [2, 1, 1], 0, &[]);
    let printed = device.printed.lock().unwrap();
    assert_eq!(*printed, ["-7 is  3.14, abc ff!", "-7 is  3.14, abc ff!"]);
}

#[test]
fn barrier_reductions_and_named_barriers() {
    let device = kernel(
        ".param .u64 q",
        "ld.param.u64 %rd1, [q]; mad.wide.u32 %rd1, %r0, 4, %rd1;
        setp.lt.u32 %p1, %r0, 40;
        bar.red.popc.u32 %r1, 0, %p1;
        bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, %p1;
        selp.b32 %r2, 1000, 0, %p2; selp.b32 %r3, 100, 0, %p3;
        add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
        setp.ge.u32 %p1, %r0, 32;
        @%p1 bra WAIT;
        bar.arrive 3, 64;
        bra DONE;
        WAIT: bar.sync 3, 64;
        DONE: st.global.u32 [%rd1], %r1;",
    );
    let mut out = vec![0u32; 64];
    device.run("k", [1, 1, 1], [64, 1, 1], 0, &[Value::Out(Span::of_mut(&mut out))]);
    assert!(out.iter().all(|&v| v == 140), "{out:?}");
}

#[test]
fn warp_operations_on_parts_of_a_warp() {
    let device = kernel(
        ".param .u64 q",
        "ld.param.u64 %rd1, [q]; mad.wide.u32 %rd1, %r0, 16, %rd1;
        and.b32 %r1, %r0, 3;
        match.any.sync.b32 %r2, %r1, -1;
        redux.sync.add.u32 %r3, %r0, %r2;
        match.all.sync.b32 %r4|%p1, %r1, %r2;
        elect.sync %r5|%p2, %r2;
        selp.u32 %r6, 1, 0, %p2;
        st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r6};",
    );
    let mut out = vec![[0u32; 4]; 32];
    device.run("k", [1, 1, 1], [32, 1, 1], 0, &[Value::Out(Span::of_mut(&mut out))]);
    for (lane, got) in out.iter().enumerate() {
        let part = 0x1111_1111u32 << (lane % 4);
        let sum = (0..32u32).filter(|l| part >> l & 1 != 0).sum();
        assert_eq!(*got, [part, sum, part, u32::from(lane < 4)], "{lane}");
    }
}

#[test]
fn diverged_lanes_meet_before_a_shuffle_and_an_indexed_jump_spreads_them() {
    let device = kernel(
        ".param .u64 q",
        "ld.param.u64 %rd1, [q]; mad.wide.u32 %rd1, %r0, 4, %rd1;
        and.b32 %r1, %r0, 3;
        T: .branchtargets A, B, C, C;
        brx.idx %r1, T;
        A: mov.u32 %r2, 10; bra D;
        B: mov.u32 %r2, 20; bra D;
        C: mov.u32 %r2, 30;
        D: shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
        add.u32 %r3, %r3, %r1;
        st.global.u32 [%rd1], %r3;",
    );
    let mut out = vec![0u32; 32];
    device.run("k", [1, 1, 1], [32, 1, 1], 0, &[Value::Out(Span::of_mut(&mut out))]);
    for (lane, got) in out.iter().enumerate() {
        assert_eq!(*got as usize, [10, 20, 30, 30][(lane ^ 1) % 4] + lane % 4);
    }
}

#[test]
fn lanes_that_have_ended_are_not_waited_for_by_a_shuffle() {
    let device = kernel(
        ".param .u64 q",
        "ld.param.u64 %rd1, [q]; mad.wide.u32 %rd1, %r0, 4, %rd1;
        setp.ge.u32 %p1, %r0, 16; @%p1 bra END;
        shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;
        st.global.u32 [%rd1], %r3;
        END: ret;",
    );
    let mut out = vec![0u32; 32];
    device.run("k", [1, 1, 1], [32, 1, 1], 0, &[Value::Out(Span::of_mut(&mut out))]);
    let want: Vec<u32> = (0..32).map(|lane| if lane < 16 { lane ^ 1 } else { 0 }).collect();
    assert_eq!(out, want);
}

/// Each block spins until all have arrived.
const GRID_BARRIER: &str = "ld.param.u64 %rd1, [q]; mov.u32 %r1, %nctaid.x;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra END;
    atom.add.release.gpu.u32 %r2, [%rd1], 1;
    SPIN: ld.acquire.gpu.u32 %r2, [%rd1];
    setp.lt.u32 %p1, %r2, %r1; @%p1 bra SPIN;
    END: bar.sync 0;";

#[test]
fn blocks_may_wait_for_each_other() {
    for cooperative in [true, false] {
        let blocks = if cooperative { 40 } else { 8 };
        let mut count = vec![0u32; 1];
        let grid = Grid { grid: [blocks, 1, 1], block: [64, 1, 1], cooperative, ..Grid::PLAIN };
        let device = kernel(".param .u64 q", GRID_BARRIER);
        device.try_run("k", grid, &[Value::Out(Span::of_mut(&mut count))]).unwrap();
        assert_eq!(count[0], blocks);
    }
}

#[test]
fn an_endless_kernel_ends_when_it_is_aborted() {
    struct Nothing<'a>(&'a AtomicBool);
    impl Memory for Nothing<'_> {
        fn check(
            &self,
            address: u64,
            len: usize,
            _: simcuda::exec::Access,
        ) -> Result<std::ops::Range<u64>, MemoryFault> {
            // The kernel has begun; now it may be ended.
            self.0.store(true, Ordering::Relaxed);
            Ok(address..address + len as u64)
        }
    }
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 q) { .reg .b64 %a; .reg .b32 %r; ld.param.u64 %a, [q]; L: ld.global.u32 %r, [%a]; bra L; }";
    let module = LinkedModule::new(Arc::new(Module::parse(text.as_bytes(), 70).unwrap()), vec![]);
    let (flag, word) = (AtomicBool::new(false), 0u32);
    let environment = Environment {
        memory: &Nothing(&flag),
        output: &|_| {},
        sm_count: 1,
        grid_id: 0,
        abort: Some(&flag),
        workers: 1,
    };
    let function = module.module().function("k").unwrap();
    let params = ((&raw const word) as u64).to_ne_bytes();
    assert_eq!(launch(&module, function, &ONE_WARP, &params, &environment), Err(LaunchFault::Aborted));
}

#[test]
fn printing_a_string_does_not_make_it_writable() {
    let text = ".version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.const .align 4 .b8 text[4] = \"hi\";
.global .align 4 .b8 room[4];
.visible .entry k() {
    .reg .b64 %a, %b; .reg .pred %p;
    mov.u64 %a, room; cvta.global.u64 %a, %a; mov.u64 %b, text; cvta.const.u64 %b, %b;
AGAIN:
    st.u32 [%a], 1;
    { .param .b64 f; .param .b64 v; .param .b32 r;
    st.param.b64 [f], %b; st.param.b64 [v], 0;
    call.uni (r), vprintf, (f, v); }
    setp.eq.u64 %p, %a, %b;
    mov.u64 %a, %b;
    @!%p bra AGAIN;
}
";
    let device = Device::parse(text);
    match device.try_run("k", Grid { block: [1, 1, 1], ..ONE_WARP }, &[]) {
        Err(LaunchFault::Memory { kind: FaultKind::IllegalAddress, at, .. }) => assert_eq!(at.line, 11),
        other => panic!("{other:?}"),
    }
    assert_eq!(*device.printed.lock().unwrap(), ["hi"]);
}
