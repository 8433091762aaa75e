//! What is wrong with a text is found at load, named, with its line; no text makes the loader panic.

use simcuda::ptx::{LoadErrorKind, Module};
use std::path::Path;

/// A kernel around statements; the first statement is on line 6.
fn kernel(body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;\n{body}\n}}\n"
    )
}

fn fails(text: &str, kind: LoadErrorKind, message: &str) {
    let error = Module::parse(text.as_bytes(), 90).expect_err(text);
    assert_eq!(error.to_string(), message, "{text}");
    assert_eq!(error.kind, kind, "{text}");
}

#[test]
fn an_unknown_instruction_is_named_whole() {
    use LoadErrorKind::UnknownInstruction as Unknown;
    for (body, name) in [
        ("foo.bar.f32 %f1, %f2;", "foo.bar.f32"),
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
        ("tex.acube.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%r1,%f2,%f3,%f3}];", "tex.acube.v4.f32.f32"),
        ("tex.2d.v4.f32.u32 {%f1,%f2,%f3,%f0}, [%rd1, {%r1,%r2}];", "tex.2d.v4.f32.u32"),
        ("suld.p.2d.v4.b32.trap {%r1,%r2,%r3,%r0}, [%rd1, {%r1,%r2}];", "suld.p.2d.v4.b32.trap"),
        ("sust.b.2d.v4.b64.trap [%rd1, {%r1,%r2}], {%rd1,%rd2,%rd3,%rd0};", "sust.b.2d.v4.b64.trap"),
        ("txq.channel_order.b32 %r1, [%rd1];", "txq.channel_order.b32"),
        ("add.foo.s32 %r1, %r2, %r3;", "add.foo.s32"),
        ("add.sat.u32 %r1, %r2, %r3;", "add.sat.u32"),
        ("mul.s32 %r1, %r2, %r3;", "mul.s32"),
        ("fma.f32 %f1, %f2, %f3, %f3;", "fma.f32"),
        ("atom.global.add.s8 %r1, [%rd1], %r2;", "atom.global.add.s8"),
        ("ld.surface.u32 %r1, [%rd1];", "ld.surface.u32"),
        ("cvt.rn.u32.u32 %r1, %r2;", "cvt.rn.u32.u32"),
    ] {
        fails(&kernel(body), Unknown, &format!("ptx line 6: error: unknown instruction '{name}'"));
    }
}

#[test]
fn what_is_not_declared_is_named() {
    use LoadErrorKind::UndefinedSymbol as Undefined;
    fails(&kernel("mov.u32 %r1, %r9;"), Undefined, "ptx line 6: error: undefined register '%r9'");
    fails(&kernel("\nmov.u32 %x, 1;"), Undefined, "ptx line 7: error: undefined register '%x'");
    fails(&kernel("mov.u32 %r1, %tid.w;"), Undefined, "ptx line 6: error: undefined register '%tid.w'");
    fails(&kernel("bra nowhere;"), Undefined, "ptx line 6: error: undefined label 'nowhere'");
    fails(&kernel("ld.param.u64 %rd1, [q];"), Undefined, "ptx line 6: error: undefined symbol 'q'");
    fails(&kernel("call f, ();"), Undefined, "ptx line 6: error: undefined symbol 'f'");
    let external = kernel("call malloc, ();").replace(".visible", ".extern .func malloc();\n.visible");
    fails(&external, Undefined, "ptx line 4: error: undefined function 'malloc'");
    let variable = kernel("ld.global.u32 %r1, [v];").replace(".visible", ".extern .global .u32 v;\n.visible");
    fails(&variable, Undefined, "ptx line 4: error: undefined variable 'v'");
}

#[test]
fn operands_that_do_not_fit() {
    use LoadErrorKind::Operand;
    for (body, message) in [
        ("add.s32 %r1, %rd1, %r2;", "type mismatch: '%rd1' is .b64, the instruction is .s32"),
        ("add.s32 %r1, %r2;", "'add' takes 3 operands, not 2"),
        ("add.f32 %f1, %f2, 1;", "integer constant 1 in a .f32 instruction"),
        ("add.s32 %r1, %r2, 0f3F800000;", "floating-point constant in a .s32 instruction"),
        ("add.s32 1, %r1, %r2;", "the destination is not a register"),
        ("@%r1 ret;", "'%r1' is not a predicate register"),
        ("selp.b32 %r1, %r2, %r3, %r1;", "'%r1' is not a predicate register"),
        ("ld.shared.u32 %r1, [p];", "'p' does not lie in the state space of the instruction"),
        ("ld.global.v2.u32 %r1, [%rd1];", "'ld' takes 2 elements, not 1"),
        ("ld.global.u32 %r1, %rd1;", "an address in brackets is expected"),
        ("st.param.u64 [p], %rd1;", "a kernel's parameters cannot be written"),
        ("x: ret; x: ret;", "duplicate definition of label 'x'"),
        (".reg .b32 %a; .reg .b32 %a;", "duplicate definition of '%a'"),
    ] {
        fails(&kernel(body), Operand, &format!("ptx line 6: error: {message}"));
    }
}

#[test]
fn text_that_is_not_ptx() {
    use LoadErrorKind::Syntax;
    fails("", Syntax, "ptx line 1: error: missing .version directive at the start of the text");
    fails("hello", Syntax, "ptx line 1: error: missing .version directive at the start of the text");
    fails(".version 7.0\n", Syntax, "ptx line 2: error: missing .target directive");
    fails(".version 7.0\n.target sm_70\n.foo", Syntax, "ptx line 3: error: unknown directive '.foo'");
    fails(&kernel("add.s32 %r1 %r2;"), Syntax, "ptx line 6: error: syntax error near '%r2': expected ',' or ';'");
    fails(
        &kernel("ret").replace("}\n", ""),
        Syntax,
        "ptx line 7: error: syntax error near 'end of text': expected an integer constant",
    );
    fails(
        &kernel("").replace('}', ""),
        Syntax,
        "ptx line 8: error: syntax error near 'end of text': expected a statement",
    );
    fails(
        ".version 7.0\n.target sm_70\n.address_size 32",
        Syntax,
        "ptx line 3: error: .address_size 32: only 64 is supported",
    );
    assert_eq!(Module::parse(b".version 7.0\n\xff", 90).unwrap_err().line, 2);
}

#[test]
fn targets_and_versions_beyond_the_device() {
    fails(
        ".version 7.0\n.target sm_100\n",
        LoadErrorKind::TargetTooNew,
        "ptx line 2: error: target sm_100 does not run on this device of architecture sm_90",
    );
    fails(
        ".version 10.0\n.target sm_90\n",
        LoadErrorKind::VersionTooNew,
        "ptx line 1: error: unsupported .version 10: the newest supported is 9.x",
    );
    assert!(Module::parse(b".version 8.0\n.target sm_90a\n.address_size 64\n\0", 90).is_ok());
    assert!(Module::parse(b".version 8.0\n.target sm_80a\n", 90).is_err());
}

#[test]
fn volatile_accesses_of_local_memory_need_the_version_that_has_them() {
    for access in ["ld.volatile.local.u32 %r1, [%rd1];", "st.local.volatile.u32 [%rd1], %r1;"] {
        let text = kernel(access);
        let message = "ptx line 6: error: '.volatile' with '.local' needs .version 9.1";
        fails(&text.replace("7.0", "9.0"), LoadErrorKind::Operand, message);
        assert!(Module::parse(text.replace("7.0", "9.1").as_bytes(), 90).is_ok());
    }
}

#[test]
fn what_a_module_declares_can_be_read_back() {
    let text = ".version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 table[3] = {1, 2, 0x10};
.global .u64 pointers[2] = {generic(table)+4, f};
.const .f32 scale = 0f40200000;
.global .align 8 .b8 text[4] = \"ab\";
.extern .shared .align 16 .b8 dynamic[];
.func f() { ret; }
.visible .entry k(.param .u8 a, .param .align 16 .b8 b[20], .param .u64 .ptr .global .align 4 c)
.maxntid 128, 2, 1
{
    .shared .align 8 .b8 s[24];
    .reg .b32 %r<3>;
    ld.shared.u32 %r1, [s+4];
    ld.shared.u32 %r2, [dynamic];
}
.entry r() .reqntid 32 { ret; }
";
    let module = Module::parse(text.as_bytes(), 70).unwrap();
    let globals = module.globals();
    assert_eq!(globals[0].init.as_deref(), Some(&[1, 0, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0][..]));
    assert_eq!(globals[1].relocations, [(0, "table".to_owned(), 4)]);
    assert_ne!(globals[1].init.as_ref().unwrap()[8..], [0; 8], "a function's address needs no relocation");
    assert!(globals[2].constant && globals[2].size == 4);
    assert_eq!((globals[3].align, globals[3].init.as_deref()), (8, Some(&b"ab\0\0"[..])));
    let k = &module.functions()[module.function("k").unwrap().index()];
    let places: Vec<_> = k.params.iter().map(|p| (p.offset, p.size, p.align)).collect();
    assert_eq!(places, [(0, 1, 1), (16, 20, 16), (40, 8, 8)]);
    assert_eq!((k.static_shared, k.max_threads_per_block), (24, Some(256)));
    let r = &module.functions()[module.function("r").unwrap().index()];
    assert_eq!(r.required_block, Some([32, 1, 1]));
    assert!(module.function("f").is_none(), "only kernels are found by name");
}

#[test]
fn no_mutation_of_a_text_panics() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut state = 4711u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let pool = b"%.,;:{}[]()@!|<>+-*/~\"0123456789abcdefuUxX_ \n";
    for file in [
        "control.ptx",
        "atomics.ptx",
        "warp.ptx",
        "image.ptx",
        "image_array.ptx",
        "nvcc/math.ptx",
        "nvcc/basic.ptx",
        "nvcc/image.ptx",
    ] {
        let text = std::fs::read(directory.join(file)).unwrap();
        assert!(Module::parse(&text, 90).is_ok());
        for _ in 0..150 {
            let mut mutant = text.clone();
            for _ in 0..=random(3) {
                let at = random(mutant.len());
                match random(4) {
                    0 => mutant[at] = pool[random(pool.len())],
                    1 => drop(mutant.remove(at)),
                    2 => mutant.insert(at, pool[random(pool.len())]),
                    _ => {
                        let from = random(mutant.len());
                        let piece = mutant[from..(from + 1 + random(40)).min(mutant.len())].to_vec();
                        mutant.splice(at..at, piece);
                    }
                }
            }
            if let Err(error) = Module::parse(&mutant, 90) {
                assert!(error.line >= 1 && !error.message.is_empty());
            }
        }
        for cut in (0..text.len()).step_by(97) {
            let _ = Module::parse(&text[..cut], 90);
        }
    }
}

#[test]
fn an_image_instruction_needs_a_handle_and_as_many_coordinates_as_dimensions() {
    use LoadErrorKind::Operand as Invalid;
    for (body, words) in [
        ("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1}];", "'tex' takes 2 coordinates here, not 1"),
        ("tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1,%f2,%f3}];", "'tex' takes 4 coordinates here, not 3"),
        ("tex.a1d.v4.f32.f32 {%f1,%f2,%f3,%f0}, [%rd1, {%f1}];", "'tex' takes 2 coordinates here, not 1"),
        ("suld.b.a2d.b32.trap {%r1}, [%rd1, {%r1,%r2,%r3}];", "'suld' takes 4 coordinates here, not 3"),
        ("tex.1d.v4.f32.f32 {%f1,%f2,%f3}, [%rd1, {%f1}];", "'tex' takes 4 elements, not 3"),
        ("suld.b.1d.b32.trap {%r1}, [%rd1];", "a handle and its coordinates in brackets are expected"),
        ("sust.b.1d.v2.b32.zero [%rd1, {%r1}], {%r1};", "'sust' takes 2 elements, not 1"),
        ("suq.width.b32 %r1, [%rd1+8];", "a handle in brackets is expected"),
    ] {
        fails(&kernel(body), Invalid, &format!("ptx line 6: error: {words}"));
    }
}
