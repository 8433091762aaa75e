//! What the text has for instructions that no module of `tests/modules` holds: the modules are written here, word for word.

mod common;

use ur_spirv::{Options, link, parse, translate, variant_names_are_free};

/// An instruction's words.
fn op(opcode: u32, operands: &[u32]) -> Vec<u32> {
    [&[(operands.len() as u32 + 1) << 16 | opcode], operands].concat()
}

/// The words of a literal string.
fn literal(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// `OpEntryPoint Kernel`.
fn entry(function: u32, name: &str) -> Vec<u32> {
    op(15, &[&[6, function], &literal(name)[..]].concat())
}

/// A module with void (1), functions of nothing (2), 32-bit integers (3) and floats (4) before these instructions.
fn module(instructions: &[Vec<u32>]) -> ur_spirv::Module {
    let header = vec![0x0723_0203, 0x0001_0400, 0, 1000, 0];
    let types = [op(14, &[2, 2]), op(19, &[1]), op(33, &[2, 1]), op(21, &[3, 32, 0]), op(22, &[4, 32])];
    let words = [&[header], &types[..], instructions].concat().concat();
    parse(&words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).unwrap()
}

/// The text's lines from one that has `first` up to the end of its function.
fn function(instructions: &[Vec<u32>], options: &Options, first: &str) -> Vec<String> {
    let text = translate(&module(instructions), options).unwrap().text;
    let lines = text.lines().skip_while(|line| !line.contains(first)).take_while(|line| *line != "}");
    lines.map(|line| line.trim().to_owned()).collect()
}

/// A function (20) whose parameter (21) is a structure of four integers by value, and a kernel that calls it with its own variable.
fn passes_a_structure_by_value() -> Vec<Vec<u32>> {
    vec![
        entry(10, "k"),
        op(71, &[21, 38, 2]),
        op(71, &[21, 44, 4]),
        op(43, &[3, 5, 4]),
        op(28, &[6, 3, 5]),
        op(30, &[7, 6]),
        op(32, &[8, 7, 7]),
        op(33, &[9, 3, 8]),
        op(54, &[3, 20, 0, 9]),
        op(55, &[8, 21]),
        op(248, &[22]),
        op(61, &[7, 23, 21]),
        op(62, &[21, 23]),
        op(254, &[5]),
        op(56, &[]),
        op(54, &[1, 10, 0, 2]),
        op(248, &[11]),
        op(59, &[8, 12, 7]),
        op(57, &[3, 13, 20, 12]),
        op(253, &[]),
        op(56, &[]),
    ]
}

#[test]
fn a_function_works_on_its_own_copy_of_what_it_gets_by_value() {
    let typed = function(&passes_a_structure_by_value(), &Options::for_architecture(90), "define internal i32 @f20(");
    assert_eq!(typed[0], "define internal i32 @f20(%s7* %p21) #0 {");
    assert_eq!(typed[2], "%v21 = alloca %s7, align 4");
    let copy = "call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %t1, i8* align 4 %t2, i64 16, i1 false)";
    let copied = ["%t1 = bitcast %s7* %v21 to i8*", "%t2 = bitcast %s7* %p21 to i8*", copy];
    assert_eq!(typed[3..6], copied);
    let amd = function(&passes_a_structure_by_value(), &Options::for_amdgcn(32), "define internal i32 @f20(");
    assert_eq!(amd[0], "define internal i32 @f20(ptr %p21) #0 {");
    assert!(amd[6].contains("@llvm.memcpy.p0.p0.i64(") && amd[6].contains("i64 16, i1 false"), "{amd:#?}");
}

#[test]
fn a_pointer_that_is_a_functions_result_is_not_copied() {
    let mut sret = passes_a_structure_by_value();
    sret[1] = op(71, &[21, 38, 3]);
    let text = function(&sret, &Options::for_architecture(90), "define internal i32 @f20(");
    assert_eq!(text[0], "define internal i32 @f20(%s7* %v21) #0 {");
    assert!(!text.concat().contains("memcpy"), "{text:#?}");
}

/// A kernel that prints a vector of four bytes (or of another integer) by this format.
fn prints_a_vector(bits: u32, format: &str) -> Vec<Vec<u32>> {
    let length = format.len() as u32 + 1;
    let characters = (0..length).map(|at| 200 + at).collect::<Vec<u32>>();
    let mut all = vec![op(11, &[&[5], &literal("OpenCL.std")[..]].concat()), entry(10, "k"), op(21, &[6, 8, 0])];
    let element = if bits == 8 { 6 } else { 13 };
    if bits != 8 {
        all.push(op(21, &[13, bits, 0]));
    }
    all.push(op(43, &[3, 7, length]));
    all.push(op(28, &[8, 6, 7]));
    all.push(op(32, &[9, 0, 8]));
    all.push(op(32, &[15, 0, 6]));
    all.extend(format.bytes().chain([0]).zip(&characters).map(|(byte, &id)| op(43, &[6, id, u32::from(byte)])));
    all.push(op(44, &[&[8, 14], &characters[..]].concat()));
    all.push(op(59, &[9, 16, 0, 14]));
    all.push(op(43, &[3, 17, 0]));
    all.push(op(23, &[18, element, 4]));
    all.push(op(33, &[12, 1, 18]));
    all.push(op(54, &[1, 10, 0, 12]));
    all.push(op(55, &[18, 19]));
    all.push(op(248, &[11]));
    all.push(op(70, &[15, 20, 16, 17, 17]));
    all.push(op(12, &[3, 21, 5, 184, 20, 19]));
    all.push(op(253, &[]));
    all.push(op(56, &[]));
    all
}

#[test]
fn elements_that_are_printed_without_a_sign_are_extended_without_one() {
    let options = Options::for_architecture(90);
    for (bits, format, extend) in [
        (8, "%v4hhu", "zext"),
        (8, "%v4hhx", "zext"),
        (16, "%v4hX", "zext"),
        (16, "100%% %v4ho\n", "zext"),
        (8, "%v4hhd", "sext"),
        (16, "%v4hi", "sext"),
    ] {
        let text = function(&prints_a_vector(bits, format), &options, "define void @k(").join("\n");
        assert_eq!(text.matches(&format!("{extend} i{bits} ")).count(), 4, "{format}: {text}");
    }
}

#[test]
fn constants_of_operations_are_undefined_only_where_their_operands_are() {
    const UNDEFINED: u32 = 7;
    let all = [
        entry(10, "k"),
        op(43, &[3, 5, 5]),
        op(23, &[6, 3, 2]),
        op(1, &[6, UNDEFINED]),
        op(20, &[8]),
        op(41, &[8, 9]),
        op(1, &[3, 12]),
        // 5 in the first place of what is undefined; that twice, turned round; the first of it; a sum; one of two.
        op(52, &[6, 30, 82, 5, UNDEFINED, 0]),
        op(52, &[6, 31, 79, 30, UNDEFINED, 1, 0]),
        op(52, &[3, 32, 81, 31, 1]),
        op(52, &[6, 33, 128, 30, 30]),
        op(52, &[3, 34, 169, 9, 5, 12]),
        op(32, &[13, 5, 3]),
        op(32, &[14, 5, 6]),
        op(33, &[15, 1, 13, 14]),
        op(54, &[1, 10, 0, 15]),
        op(55, &[13, 16]),
        op(55, &[14, 17]),
        op(248, &[11]),
        op(62, &[17, 30]),
        op(62, &[17, 31]),
        op(62, &[16, 32]),
        op(62, &[17, 33]),
        op(62, &[16, 34]),
        op(253, &[]),
        op(56, &[]),
    ];
    let text = function(&all, &Options::for_architecture(90), "define void @k(");
    let stored: Vec<&str> = text.iter().filter_map(|line| line.strip_prefix("store ")?.split(", <2").next()).collect();
    let stored: Vec<&str> = stored.iter().map(|line| line.split(", i32 addr").next().unwrap()).collect();
    assert_eq!(
        stored,
        [
            "<2 x i32> <i32 5, i32 undef>",
            "<2 x i32> <i32 undef, i32 5>",
            "i32 5",
            "<2 x i32> <i32 10, i32 undef>",
            "i32 5"
        ]
    );
}

#[test]
fn products_of_vectors_that_must_stay_rounded_are_written_with_their_rounding() {
    let all = |decorated: bool| {
        let mut all = vec![entry(10, "k")];
        if decorated {
            all.extend([op(71, &[20, 42]), op(71, &[21, 42])]);
        }
        all.extend([
            op(23, &[5, 4, 2]),
            op(33, &[6, 1, 5, 4]),
            op(54, &[1, 10, 0, 6]),
            op(55, &[5, 7]),
            op(55, &[4, 8]),
            op(248, &[11]),
            op(142, &[5, 20, 7, 8]),
            op(148, &[4, 21, 20, 7]),
            op(253, &[]),
            op(56, &[]),
        ]);
        all
    };
    let text = function(&all(true), &Options::for_architecture(90), "define void @k(").join("\n");
    let open = text.matches("fmul ").count() + text.matches("fadd ").count();
    assert_eq!((open, text.matches("mul.rn.f32").count(), text.matches("add.rn.f32").count()), (0, 4, 1), "{text}");
    let text = function(&all(false), &Options::for_architecture(90), "define void @k(").join("\n");
    assert!(text.contains("fmul ") && text.contains("fadd ") && !text.contains(".rn."), "{text}");
    // AMD's compiler fuses only what says that it may be.
    let text = function(&all(true), &Options::for_amdgcn(32), "define amdgpu_kernel void @k(").join("\n");
    assert!(text.contains("fmul ") && !text.contains("contract"), "{text}");
}

/// Kernels `a` and, with other modes, `b`.
fn kernels_with(modes: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for (at, &(mode, bits)) in modes.iter().enumerate() {
        let id = 10 + at as u32;
        all.extend([entry(id, ["a", "b"][at]), op(16, &[id, mode, bits])]);
    }
    for id in 10..10 + modes.len() as u32 {
        all.extend([op(54, &[1, id, 0, 2]), op(248, &[id + 20]), op(253, &[]), op(56, &[])]);
    }
    all
}

#[test]
fn subnormal_numbers_are_not_flushed_where_another_kernel_keeps_them() {
    const PRESERVE: u32 = 4459;
    const FLUSH: u32 = 4460;
    let options = Options::for_architecture(90);
    let flushes = |modes: &[(u32, u32)], kernels: Option<&str>| {
        let options = Options { kernels: kernels.map(|name| vec![name.to_owned()]), ..options.clone() };
        let translation = translate(&module(&kernels_with(modes)), &options).unwrap();
        translation.compiler_options(&options).contains(&"-ftz=1".to_owned())
    };
    assert!(flushes(&[(FLUSH, 32)], None));
    assert!(flushes(&[(FLUSH, 32), (PRESERVE, 64)], None));
    assert!(!flushes(&[(FLUSH, 32), (PRESERVE, 32)], None));
    assert!(!flushes(&[(PRESERVE, 32), (FLUSH, 32)], None));
    // The other kernel is not translated.
    assert!(flushes(&[(FLUSH, 32), (PRESERVE, 32)], Some("a")));
}

#[test]
fn modules_that_are_linked_flush_no_subnormal_numbers_where_one_keeps_them() {
    let options = Options::for_architecture(90);
    let mut keeps = kernels_with(&[(4459, 32)]);
    keeps[0] = entry(10, "keeps");
    let modules = [module(&kernels_with(&[(4460, 32)])), module(&keeps)];
    let linked = link(&[&modules[0], &modules[1]], &options).unwrap();
    assert!(!linked.compiler_options(&options).contains(&"-ftz=1".to_owned()));
}

/// A kernel (10) of this name that calls a function (20) that is exported by this one.
fn calls_an_exported_function(kernel: &str, exported: &str) -> Vec<Vec<u32>> {
    let body = |id: u32, inside: &[Vec<u32>]| {
        let (begin, end) = ([op(54, &[1, id, 0, 2]), op(248, &[id + 1])], [op(253, &[]), op(56, &[])]);
        [&begin, inside, &end].concat()
    };
    let linkage = [&[20, 41], &literal(exported)[..], &[0]].concat();
    let head = vec![entry(10, kernel), op(71, &linkage)];
    [head, body(20, &[]), body(10, &[op(57, &[1, 12, 20])])].concat()
}

#[test]
fn a_function_that_is_exported_by_its_kernels_name_is_the_kernels_own() {
    let options = Options::for_architecture(90);
    for kernels in [None, Some(vec!["foo".to_owned()])] {
        let options = Options { kernels, ..options.clone() };
        let made = translate(&module(&calls_an_exported_function("foo", "foo")), &options).unwrap();
        assert_eq!(made.text.matches("@foo(").count(), 1, "{}", made.text);
        assert!(made.text.contains("define internal void @f20(") && made.exports.is_empty(), "{}", made.text);
    }
    let made = translate(&module(&calls_an_exported_function("foo", "other")), &options).unwrap();
    assert!(made.text.contains("define void @other(") && made.exports == ["other"], "{}", made.text);
}

#[test]
fn a_function_of_a_kernels_name_is_called_from_another_module() {
    let imports = [
        vec![entry(10, "bar"), op(71, &[&[20, 41], &literal("foo")[..], &[1]].concat())],
        vec![
            op(54, &[1, 20, 0, 2]),
            op(56, &[]),
            op(54, &[1, 10, 0, 2]),
            op(248, &[11]),
            op(57, &[1, 12, 20]),
            op(253, &[]),
            op(56, &[]),
        ],
    ];
    let modules = [module(&imports.concat()), module(&calls_an_exported_function("foo", "foo"))];
    let linked = link(&[&modules[0], &modules[1]], &Options::for_architecture(90)).unwrap();
    assert!(linked.unresolved.is_empty(), "{:?}", linked.unresolved);
    assert!(linked.translations[0].text.contains("declare void @ur_function_foo("));
    assert!(linked.translations[1].text.contains("define void @ur_function_foo("));
    assert_eq!(linked.translations[0].imports, ["foo"]);
}

#[test]
fn names_of_a_module_are_not_the_translations_own() {
    let all = [
        calls_an_exported_function("f30", "f31"),
        vec![
            op(54, &[1, 30, 0, 2]),
            op(248, &[32]),
            op(253, &[]),
            op(56, &[]),
            op(54, &[1, 40, 0, 2]),
            op(248, &[41]),
            op(57, &[1, 42, 30]),
            op(253, &[]),
            op(56, &[]),
        ],
    ];
    let mut all = all.concat();
    all.insert(1, entry(40, "k"));
    let text = translate(&module(&all), &Options::for_architecture(90)).unwrap().text;
    assert!(text.contains("define void @f30(") && text.contains("define internal void @f30$("), "{text}");
    assert!(text.contains("call void @f30$("), "{text}");
}

/// A kernel in which a work-group scans (or reduces) a number.
fn combines_in_a_work_group(kind: u32) -> Vec<Vec<u32>> {
    vec![
        entry(10, "k"),
        op(43, &[3, 5, 2]),
        op(54, &[1, 10, 0, 2]),
        op(248, &[11]),
        op(264, &[3, 12, 5, kind, 5]),
        op(253, &[]),
        op(56, &[]),
    ]
}

#[test]
fn lanes_without_a_sub_group_of_their_number_keep_to_the_words_of_a_work_groups_memory() {
    for kind in 0..3 {
        let text = translate(&module(&combines_in_a_work_group(kind)), &Options::for_amdgcn(64)).unwrap().text;
        let join: Vec<&str> =
            text.lines().skip_while(|line| *line != "join:").take_while(|line| *line != "joined:").collect();
        let words =
            join.iter().filter(|line| line.contains("@ur_scratch")).map(|line| line.rsplit(' ').next().unwrap());
        let words: Vec<&str> = words.filter(|word| *word != "32").collect();
        assert!(!words.is_empty());
        for word in words {
            let made = join.iter().find(|line| line.trim().starts_with(&format!("{word} = "))).unwrap_or(&"");
            assert!(made.contains("select i1 ") && made.ends_with(", i32 32"), "{word}: {join:#?}");
        }
    }
}

/// A kernel that prints what a constant's (17, or 25, which is 4) or another index (26) of this format leaves of it.
fn prints_from(format: &str, index: u32) -> Vec<Vec<u32>> {
    let mut all = prints_a_vector(32, format);
    let chain = all.iter().position(|words| words[0] & 0xffff == 70).unwrap();
    all[chain] = op(70, &[15, 20, 16, 17, index]);
    all.insert(chain, op(124, &[3, 26, 17]));
    let constant = all.iter().position(|words| *words == op(43, &[3, 17, 0])).unwrap();
    all.insert(constant, op(43, &[3, 25, 4]));
    all
}

#[test]
fn a_format_begins_where_its_address_points() {
    let options = Options::for_architecture(90);
    let text = |all: &[Vec<u32>]| translate(&module(all), &options).map(|made| made.text);
    assert!(text(&prints_from("%d: %v4d\n", 17)).unwrap().contains("c\"%d: %d,%d,%d,%d\\0A\\00\""));
    let behind = text(&prints_from("%d: %v4d\n", 25)).unwrap();
    assert!(behind.contains("c\"%d,%d,%d,%d\\0A\\00\""), "{behind}");
    for (format, index, message) in [("%v4d: %d", 26, "no constant"), ("%d", 25, "outside")] {
        let error = text(&prints_from(format, index)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn bytes_of_a_format_stay_as_they_are() {
    let mut all = prints_a_vector(32, "a%v4d");
    let letter = all.iter_mut().find(|words| **words == op(43, &[6, 200, u32::from(b'a')])).unwrap();
    letter[3] = 0xe9;
    let text = translate(&module(&all), &Options::for_architecture(90)).unwrap().text;
    assert!(text.contains("[13 x i8] c\"\\E9%d,%d,%d,%d\\00\""), "{text}");
}

#[test]
fn a_variants_name_is_free_where_no_kernel_export_or_import_of_any_module_has_it() {
    const FUNCTION: [u32; 3] = [10, 0, 2];
    // A function that is a kernel, or has a name for other modules (0: exported, 1: imported).
    let function = |decoration: Vec<u32>| {
        let body = [op(248, &[11]), op(253, &[])];
        module(&[&[decoration, op(54, &[&[1], &FUNCTION[..]].concat())], &body[..], &[op(56, &[])]].concat())
    };
    let linked = |name: &str, linkage| function(op(71, &[&[10, 41], &literal(name)[..], &[linkage]].concat()));
    let free = |other| variant_names_are_free(&[function(entry(10, "k")), other]);
    assert!(!free(function(entry(10, "k_with_offset"))));
    assert!(!free(linked("k_with_offset", 0)) && !free(linked("k_with_offset", 1)));
    // What has no kernel beside it is no variant's name.
    assert!(free(function(entry(10, "other_with_offset"))) && free(linked("k", 0)));
}

#[test]
fn work_group_pointers_in_memory_are_as_large_as_the_module_says() {
    let module = parse(&common::module("modules", "localpointers")).unwrap();
    let text = translate(&module, &Options::for_amdgcn(32)).unwrap().text;
    let in_memory: Vec<&str> =
        text.lines().filter(|line| line.contains(" = type ") || line.contains("alloca")).collect();
    assert_eq!(in_memory.len(), 4, "{text}");
    // Pointers to address space 3 have 32 bits on AMD's devices.
    let small: Vec<&&str> = in_memory.iter().filter(|line| line.contains("ptr addrspace(3)")).collect();
    assert!(small.is_empty(), "{small:#?}");
    assert!(text.contains("i64 24, i1 false)") && text.contains("= internal addrspace(3) global [10 x i32]"), "{text}");
}

#[test]
fn fields_of_no_bits_behind_the_highest_one_shift_by_less_than_the_numbers_width() {
    // A base, what is inserted, and the place: 0 bits at 32. LLVM makes anything of a shift by 32, and of all that is made of it.
    let all = [
        entry(10, "k"),
        op(43, &[3, 5, 32]),
        op(43, &[3, 6, 0]),
        op(33, &[7, 1, 3, 3]),
        op(54, &[1, 10, 0, 7]),
        op(55, &[3, 8]),
        op(55, &[3, 9]),
        op(248, &[11]),
        op(201, &[3, 20, 8, 9, 5, 6]),
        op(202, &[3, 21, 8, 5, 6]),
        op(203, &[3, 22, 8, 5, 6]),
        op(253, &[]),
        op(56, &[]),
    ];
    for options in [Options::for_architecture(90), Options::for_architecture(100), Options::for_amdgcn(32)] {
        let text = function(&all, &options, " void @k(");
        let shifts = text.iter().filter(|line| [" = shl ", " = lshr "].iter().any(|name| line.contains(name)));
        let by: Vec<&str> = shifts.map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert!(by.len() >= 4 && !by.contains(&"32"), "{text:#?}");
        assert_eq!(text.iter().filter(|line| line.ends_with(" = and i32 32, 31")).count(), 3, "{text:#?}");
    }
}

/// A kernel (10) of integers (8, 9) with a division (`division`) in a block (12) that not every way to the last one (13) takes, which has
/// `behind`. A file's name (6), a vector of 16 (16) and a pointer (17) to integers are there.
fn divides_in_a_branch(division: u32, behind: &[Vec<u32>]) -> String {
    let all = [
        op(11, &[&[50], &literal("OpenCL.std")[..]].concat()),
        op(11, &[&[51], &literal("OpenCL.DebugInfo.100")[..]].concat()),
        entry(10, "k"),
        op(7, &[&[6], &literal("a.c")[..]].concat()),
        op(20, &[5]),
        op(23, &[52, 3, 16]),
        op(32, &[53, 5, 3]),
        op(21, &[55, 64, 0]),
        op(33, &[7, 1, 3, 3, 52, 53, 55]),
        op(54, &[1, 10, 0, 7]),
        op(55, &[3, 8]),
        op(55, &[3, 9]),
        op(55, &[52, 60]),
        op(55, &[53, 61]),
        op(55, &[55, 62]),
        op(248, &[11]),
        op(170, &[5, 18, 8, 9]),
        op(247, &[13, 0]),
        op(250, &[18, 12, 13]),
        op(248, &[12]),
        op(128, &[3, 19, 8, 9]),
        op(135, &[3, division, 19, 9]),
        op(249, &[13]),
        op(248, &[13]),
    ];
    let end = [op(253, &[]), op(56, &[])];
    let text = function(&[&all, behind, &end].concat(), &Options::for_architecture(90), "define void @k(");
    let division = text.iter().position(|line| line.contains("sdiv")).expect("the division is written");
    text[..division].iter().rfind(|line| line.ends_with(':')).expect("a block's label").clone()
}

#[test]
fn a_division_stays_where_only_literals_and_what_is_not_written_have_its_number() {
    let switch = [op(251, &[8, 14, 120, 15]), op(248, &[15]), op(249, &[14]), op(248, &[14])];
    let cases: [(&str, u32, &[Vec<u32>]); 9] = [
        ("nothing", 120, &[]),
        // OpenCL.DebugInfo.100's DebugValue.
        ("what debuggers are told", 120, &[op(12, &[1, 40, 51, 29, 41, 120, 42])]),
        ("a line", 120, &[op(8, &[6, 120, 3])]),
        ("a column", 120, &[op(8, &[6, 3, 120])]),
        ("an alignment", 128, &[op(61, &[3, 40, 61, 2, 128])]),
        ("an element", 15, &[op(81, &[3, 40, 60, 15])]),
        ("a case", 120, &switch),
        ("a function's number", 141, &[op(12, &[3, 40, 50, 141, 8])]),
        ("a number of elements", 16, &[op(12, &[52, 40, 50, 171, 62, 61, 16])]),
    ];
    let moved = cases.iter().filter(|(_, division, behind)| divides_in_a_branch(*division, behind) != "b12:");
    let moved: Vec<&str> = moved.map(|case| case.0).collect();
    assert!(moved.is_empty(), "{moved:?}");
}

#[test]
fn a_division_that_a_function_of_a_later_block_takes_stands_there() {
    let takes = [op(12, &[3, 40, 50, 141, 120])];
    assert_eq!(divides_in_a_branch(120, &takes), "b13:");
    // A debugger's word in between keeps nothing.
    let told = [vec![op(12, &[1, 41, 51, 29, 42, 120, 43]), op(249, &[14]), op(248, &[14])], takes.to_vec()].concat();
    assert_eq!(divides_in_a_branch(120, &told), "b14:");
}

/// The hints of two loops, one in the other, with these wishes of the module's for the outer one. The inner one, whose merge this is, calls this
/// function of OpenCL.std. The outer one's blocks stand before those of the inner one but for where it ends.
fn hints_around(wishes: &[u32], inner_merge: Vec<u32>, function_number: u32) -> [Option<String>; 2] {
    let text = translate(
        &module(&[
            op(11, &[&[50], &literal("OpenCL.std")[..]].concat()),
            entry(10, "k"),
            op(20, &[5]),
            op(33, &[7, 1, 3, 4]),
            op(54, &[1, 10, 0, 7]),
            op(55, &[3, 8]),
            op(55, &[4, 9]),
            op(248, &[11]),
            op(249, &[12]),
            op(248, &[12]),
            op(245, &[3, 30, 8, 11, 31, 14]),
            op(170, &[5, 32, 30, 8]),
            op(246, &[&[19, 14], wishes].concat()),
            op(250, &[32, 15, 19]),
            op(248, &[14]),
            op(128, &[3, 31, 30, 8]),
            op(249, &[12]),
            op(248, &[15]),
            op(245, &[3, 33, 8, 12, 34, 16]),
            op(170, &[5, 35, 33, 8]),
            inner_merge,
            op(250, &[35, 16, 17]),
            op(248, &[16]),
            op(12, &[4, 36, 50, function_number, 9]),
            op(128, &[3, 34, 33, 8]),
            op(249, &[15]),
            op(248, &[17]),
            op(249, &[14]),
            op(248, &[19]),
            op(253, &[]),
            op(56, &[]),
        ]),
        &Options::for_architecture(90),
    );
    let text = text.unwrap().text;
    ["%b12", "%b15"].map(|head| {
        let node = text.lines().find_map(|line| line.split_once(&format!("br label {head}, !llvm.loop !")))?.1;
        let hint = text.lines().find_map(|line| line.strip_prefix(&format!("!{node} = distinct !{{!{node}, !")));
        let hint = hint.expect("the loop's node").trim_end_matches('}');
        let line = text.lines().find(|line| line.starts_with(&format!("!{hint} = "))).expect("its hint");
        line.split('"').nth(1).map(str::to_owned)
    })
}

#[test]
fn a_loop_around_a_loop_is_unrolled_unless_it_calls_what_is_long() {
    let hint = |kind: &str| Some(format!("llvm.loop.unroll.{kind}"));
    let wishes_the_same = || op(246, &[17, 16, 1]);
    // exp, then fabs.
    assert_eq!(hints_around(&[1], wishes_the_same(), 19), [hint("disable"), hint("enable")]);
    assert_eq!(hints_around(&[0], wishes_the_same(), 19), [hint("disable"), hint("enable")]);
    assert_eq!(hints_around(&[1], wishes_the_same(), 23), [hint("enable"), hint("enable")]);
    // A loop that no instruction calls one.
    assert_eq!(hints_around(&[1], vec![], 19), [hint("disable"), None]);
    // Whoever names a number means it.
    assert_eq!(hints_around(&[0x100, 4], wishes_the_same(), 19), [hint("count"), hint("enable")]);
}
