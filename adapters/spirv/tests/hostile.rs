//! Bytes that are no module, and modules that were damaged: an error with its place, never a panic or a hang.

mod common;

use proptest::prelude::*;
use ur_spirv::{Dialect, ErrorKind, GlobalOffset, Options, link, parse, translate};

const HEADER: [u32; 5] = [0x0723_0203, 0x0001_0000, 0, 16, 0];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A header, `OpMemoryModel Physical64 OpenCL`, and these words.
fn with(words: &[u32]) -> Vec<u8> {
    bytes(&[&HEADER[..], &[3 << 16 | 14, 2, 2], words].concat())
}

/// Reads and translates in every dialect; what comes out does not matter.
fn try_all(bytes: &[u8]) {
    let Ok(module) = parse(bytes) else { return };
    let _ = module.kernels();
    let _ = module.spec_constants();
    for dialect in [Dialect::Typed, Dialect::Opaque] {
        for line_info in [false, true] {
            let _ = translate(&module, &Options { dialect, line_info, ..Options::for_architecture(90) });
        }
    }
    for wave_size in [32, 64] {
        let _ = translate(&module, &Options { line_info: wave_size == 32, ..Options::for_amdgcn(wave_size) });
    }
    for global_offset in [GlobalOffset::Taken, GlobalOffset::Both] {
        let _ = link(&[&module], &Options { global_offset, ..Options::for_architecture(75) });
    }
}

fn kind_and_word(bytes: &[u8]) -> (ErrorKind, Option<usize>) {
    let error = parse(bytes).unwrap_err();
    (error.kind(), error.word())
}

#[test]
fn parse_of_no_module_names_the_word() {
    assert_eq!(kind_and_word(&[]), (ErrorKind::Malformed, Some(0)));
    assert_eq!(kind_and_word(b"ELF!"), (ErrorKind::Malformed, Some(0)));
    assert_eq!(kind_and_word(&bytes(&HEADER[..3])), (ErrorKind::Malformed, Some(3)));
    assert_eq!(kind_and_word(&bytes(&HEADER)[..18]), (ErrorKind::Malformed, Some(4)));
    assert_eq!(kind_and_word(&bytes(&[HEADER[0], 0x0002_0000, 0, 1, 0])), (ErrorKind::Unsupported, Some(1)));
    assert_eq!(kind_and_word(&bytes(&[HEADER[0], HEADER[1], 0, u32::MAX, 0])), (ErrorKind::Limit, Some(3)));
    assert_eq!(kind_and_word(&bytes(&[HEADER[0], HEADER[1], 0, 1, 7])), (ErrorKind::Malformed, Some(4)));
}

#[test]
fn parse_takes_both_byte_orders() {
    let little = common::module("modules", "info");
    let big: Vec<u8> = little.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    assert_eq!(parse(&big).unwrap().kernels().unwrap(), parse(&little).unwrap().kernels().unwrap());
}

#[test]
fn parse_of_a_broken_instruction_names_it() {
    // OpTypeInt with one operand, a word of length 0, one that leaves the module, an id above the bound, an unknown opcode.
    let error = parse(&with(&[2 << 16 | 21, 1])).unwrap_err();
    assert_eq!((error.word(), error.instruction()), (Some(8), Some("OpTypeInt")));
    assert_eq!(kind_and_word(&with(&[0])), (ErrorKind::Malformed, Some(8)));
    assert_eq!(kind_and_word(&with(&[9 << 16 | 21, 1])), (ErrorKind::Malformed, Some(8)));
    assert_eq!(kind_and_word(&with(&[2 << 16 | 19, 16])), (ErrorKind::Malformed, Some(8)));
    let error = parse(&with(&[1 << 16 | 4999])).unwrap_err();
    assert_eq!((error.kind(), error.instruction()), (ErrorKind::Unsupported, Some("opcode 4999")));
}

#[test]
fn parse_refuses_ids_that_are_defined_twice_or_never() {
    assert_eq!(kind_and_word(&with(&[2 << 16 | 19, 1, 2 << 16 | 19, 1])).0, ErrorKind::Malformed);
    // A vector of a type that does not exist; a structure that holds itself.
    assert_eq!(kind_and_word(&with(&[4 << 16 | 23, 1, 2, 4])).0, ErrorKind::Malformed);
    assert_eq!(kind_and_word(&with(&[3 << 16 | 30, 1, 1])).0, ErrorKind::Malformed);
    // A structure that was declared to be a pointer.
    assert_eq!(
        kind_and_word(&with(&[3 << 16 | 39, 2, 5, 3 << 16 | 30, 1, 2, 3 << 16 | 30, 2, 1])).0,
        ErrorKind::Malformed
    );
}

#[test]
fn parse_refuses_types_that_nest_too_deep() {
    let mut words = vec![2 << 16 | 20, 1];
    for id in 2..400 {
        words.extend([3 << 16 | 30, id, id - 1]);
    }
    let mut module = with(&words);
    module[12..16].copy_from_slice(&400u32.to_le_bytes());
    assert_eq!(kind_and_word(&module).0, ErrorKind::Limit);
}

/// A constant whose text doubles with each level: `{ {a, a}, {a, a} }`.
#[test]
fn translate_refuses_a_constant_that_grows_beyond_measure() {
    let mut words = vec![4 << 16 | 21, 1, 32, 0, 4 << 16 | 43, 1, 2, 7];
    let (mut ty, mut value, mut next) = (1, 2, 3);
    for _ in 0..60 {
        words.extend([4 << 16 | 30, next, ty, ty, 5 << 16 | 44, next, next + 1, value, value]);
        (ty, value, next) = (next, next + 1, next + 2);
    }
    // A global with that initialiser, exported so that it is written.
    words.extend([4 << 16 | 32, next, 5, ty, 5 << 16 | 59, next, next + 1, 5, value]);
    let decorate = [5 << 16 | 71, next + 1, 41, u32::from_le_bytes(*b"big\0"), 0];
    words.splice(0..0, decorate);
    let mut module = with(&words);
    module[12..16].copy_from_slice(&(next + 2).to_le_bytes());
    let error = translate(&parse(&module).unwrap(), &Options::for_architecture(90)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn constants_that_name_each_other_end() {
    // %3 = SpecConstantOp IAdd %4 %4 and %4 = SpecConstantOp IAdd %3 %3, as the length of an array.
    let words = [
        &[4 << 16 | 21, 1, 32, 0][..],
        &[6 << 16 | 52, 1, 3, 128, 4, 4],
        &[6 << 16 | 52, 1, 4, 128, 3, 3],
        &[4 << 16 | 28, 5, 1, 3],
        &[4 << 16 | 32, 6, 5, 5],
        &[5 << 16 | 71, 7, 41, u32::from_le_bytes(*b"big\0"), 0],
        &[4 << 16 | 59, 6, 7, 5],
    ];
    let module = parse(&with(&words.concat())).unwrap();
    assert_eq!(translate(&module, &Options::for_architecture(90)).unwrap_err().kind(), ErrorKind::Limit);
}

/// A module of these words with this bound, and void (1), a function of nothing (2), integers (3) and a boolean (4) before them.
fn kernel_module(entries: &[u32], bound: u32, words: &[u32]) -> Vec<u8> {
    let types = [2 << 16 | 19, 1, 3 << 16 | 33, 2, 1, 4 << 16 | 21, 3, 32, 0, 2 << 16 | 20, 4];
    let mut module = with(&[entries, &types, words].concat());
    module[12..16].copy_from_slice(&bound.to_le_bytes());
    module
}

/// Reads and translates for both targets, and says how long that took.
fn timed(bytes: &[u8]) -> Result<std::time::Duration, ur_spirv::Error> {
    let start = std::time::Instant::now();
    let module = parse(bytes)?;
    translate(&module, &Options::for_architecture(90))?;
    translate(&module, &Options::for_amdgcn(32))?;
    Ok(start.elapsed())
}

#[test]
fn many_entry_points_take_no_more_than_their_share() {
    let entry = |number: u32| {
        let name = format!("k{number:06}\0");
        let words: Vec<u32> = name.as_bytes().chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
        [&[(3 + words.len() as u32) << 16 | 15, 6, 10], &words[..]].concat()
    };
    let entries: Vec<u32> = (0..60_000).flat_map(entry).collect();
    let body = [5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11, 1 << 16 | 253, 1 << 16 | 56];
    let taken = timed(&kernel_module(&entries, 12, &body)).unwrap();
    assert!(taken.as_secs() < 10, "{taken:?}");
}

#[test]
fn many_cases_with_as_many_phis_take_no_more_than_their_share() {
    const CASES: u32 = 20_000;
    let entry = [4 << 16 | 15, 6, 10, u32::from_le_bytes(*b"k\0\0\0")];
    let mut words = vec![4 << 16 | 43, 3, 5, 7, 5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11];
    words.push((3 + 2 * CASES) << 16 | 251);
    words.extend([5, 12]);
    words.extend((0..CASES).flat_map(|case| [case, 12 + case]));
    for block in 0..CASES {
        // A label, a phi over the switch's block, a return.
        words.extend([2 << 16 | 248, 12 + block, 5 << 16 | 245, 3, 12 + CASES + block, 5, 11, 1 << 16 | 253]);
    }
    words.push(1 << 16 | 56);
    let taken = timed(&kernel_module(&entry, 12 + 2 * CASES, &words)).unwrap();
    assert!(taken.as_secs() < 10, "{taken:?}");
}

#[test]
fn decorations_of_one_id_have_a_limit() {
    let words: Vec<u32> = std::iter::repeat_n([3 << 16 | 71, 5, 21], 1025).flatten().collect();
    assert_eq!(parse(&kernel_module(&[], 12, &words)).map(|_| ()).unwrap_err().kind(), ErrorKind::Limit);
    // Groups multiply: 1000 decorations for each of 1000 targets.
    let mut words: Vec<u32> = std::iter::repeat_n([3 << 16 | 71, 5, 21], 1000).flatten().collect();
    words.extend([2 << 16 | 73, 5, 1002 << 16 | 74, 5]);
    words.extend(100..1100);
    assert_eq!(parse(&kernel_module(&[], 1200, &words)).map(|_| ()).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn constants_that_copy_each_other_have_a_limit() {
    const PARTS: u32 = 50_000;
    const COPIES: u32 = 300;
    // An array, a constant of it, and copies of that with a changed part each, all of which a structure holds.
    let mut words = vec![4 << 16 | 43, 3, 5, PARTS, 4 << 16 | 28, 6, 3, 5, (3 + PARTS) << 16 | 44, 6, 7];
    words.extend(std::iter::repeat_n(5, PARTS as usize));
    for copy in 0..COPIES {
        words.extend([7 << 16 | 52, 6, 8 + copy, 82, 5, 7, 0]);
    }
    let next = 8 + COPIES;
    words.extend([(2 + COPIES) << 16 | 30, next]);
    words.extend(std::iter::repeat_n(6, COPIES as usize));
    words.extend([(3 + COPIES) << 16 | 51, next, next + 1]);
    words.extend(8..8 + COPIES);
    words.extend([4 << 16 | 32, next + 2, 5, next, 5 << 16 | 59, next + 2, next + 3, 5, next + 1]);
    words.splice(0..0, [5 << 16 | 71, next + 3, 41, u32::from_le_bytes(*b"big\0"), 0]);
    let error = timed(&kernel_module(&[], next + 4, &words)).unwrap_err();
    assert!(error.message().contains("parts"), "{error}");
}

/// A constant array (6) of 4000 numbers, whose text has 40 KiB, as the value 7, and a kernel (10) whose block is 11.
fn with_a_long_constant(body: &[u32]) -> Vec<u8> {
    const PARTS: u32 = 4000;
    let mut words = vec![4 << 16 | 43, 3, 5, PARTS, 4 << 16 | 28, 6, 3, 5, (3 + PARTS) << 16 | 44, 6, 7];
    words.extend(std::iter::repeat_n(5, PARTS as usize));
    words.extend_from_slice(body);
    kernel_module(&[4 << 16 | 15, 6, 10, u32::from_le_bytes(*b"k\0\0\0")], 4000, &words)
}

/// The long constant, and an undefined value of its type in the kernel of `with_a_long_phi`.
const LONG: u32 = 7;
const UNDEFINED: u32 = 3001;

/// A kernel whose switch goes to `blocks` blocks, all of which a phi names with the long constant; the switch's own block too, and
/// `again` with other values.
fn with_a_long_phi(blocks: u32, again: &[u32]) -> Vec<u8> {
    let mut words = vec![5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11, 3 << 16 | 1, 6, UNDEFINED];
    words.extend([(3 + 2 * blocks) << 16 | 251, 5, 12]);
    words.extend((1..=blocks).flat_map(|case| [case, 12 + case]));
    for block in 1..=blocks {
        words.extend([2 << 16 | 248, 12 + block, 2 << 16 | 249, 12]);
    }
    let mut pairs: Vec<u32> = (0..blocks).flat_map(|block| [LONG, 13 + block]).collect();
    pairs.extend([LONG, 11]);
    pairs.extend(again.iter().flat_map(|&value| [value, 11]));
    words.extend([2 << 16 | 248, 12, (3 + pairs.len() as u32) << 16 | 245, 6, 3000]);
    words.extend(pairs);
    words.extend([1 << 16 | 253, 1 << 16 | 56]);
    with_a_long_constant(&words)
}

#[test]
fn a_phis_text_has_a_limit() {
    timed(&with_a_long_phi(10, &[])).unwrap();
    let error = timed(&with_a_long_phi(1000, &[])).unwrap_err();
    assert_eq!((error.kind(), error.instruction()), (ErrorKind::Limit, Some("OpPhi")), "{error}");
}

#[test]
fn a_phi_has_one_value_for_each_parent() {
    // Said again, which adds nothing to the text, however often.
    timed(&with_a_long_phi(10, &[LONG; 5000])).unwrap();
    let error = timed(&with_a_long_phi(10, &[LONG, UNDEFINED])).unwrap_err();
    assert_eq!((error.kind(), error.instruction()), (ErrorKind::Malformed, Some("OpPhi")), "{error}");
}

/// A kernel that calls a function of `parameters` arrays with `arguments` of them.
fn with_a_long_call(parameters: u32, arguments: u32) -> Vec<u8> {
    let mut words = vec![(3 + parameters) << 16 | 33, 12, 1];
    words.extend(std::iter::repeat_n(6, parameters as usize));
    words.extend([5 << 16 | 54, 1, 13, 0, 12]);
    words.extend((0..parameters).flat_map(|at| [3 << 16 | 55, 6, 20 + at]));
    words.extend([2 << 16 | 248, 14, 1 << 16 | 253, 1 << 16 | 56, 5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11]);
    words.extend([(4 + arguments) << 16 | 57, 1, 15, 13]);
    words.extend(std::iter::repeat_n(7, arguments as usize));
    words.extend([1 << 16 | 253, 1 << 16 | 56]);
    with_a_long_constant(&words)
}

#[test]
fn a_calls_text_has_a_limit() {
    timed(&with_a_long_call(10, 10)).unwrap();
    let error = timed(&with_a_long_call(1000, 1000)).unwrap_err();
    assert_eq!((error.kind(), error.instruction()), (ErrorKind::Limit, Some("OpFunctionCall")), "{error}");
}

#[test]
fn a_call_has_the_arguments_of_its_functions_type() {
    for arguments in [0, 1, 3] {
        let error = timed(&with_a_long_call(2, arguments)).unwrap_err();
        assert_eq!((error.kind(), error.instruction()), (ErrorKind::Malformed, Some("OpFunctionCall")), "{error}");
    }
}

#[test]
fn literals_that_look_like_a_built_in_take_no_more_than_their_share() {
    const LITERALS: u32 = 60_000;
    let entry = [4 << 16 | 15, 6, 10, u32::from_le_bytes(*b"k\0\0\0"), 4 << 16 | 71, 5, 11, 36];
    let mut words = vec![4 << 16 | 32, 6, 1, 3, 4 << 16 | 59, 6, 5, 1, 3 << 16 | 1, 3, 7];
    words.extend([5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11, (4 + LITERALS) << 16 | 81, 3, 8, 7]);
    words.extend(std::iter::repeat_n(5, LITERALS as usize));
    words.extend([1 << 16 | 253, 1 << 16 | 56]);
    let start = std::time::Instant::now();
    let error = timed(&kernel_module(&entry, 12, &words)).unwrap_err();
    assert_eq!(error.instruction(), Some("OpCompositeExtract"), "{error}");
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn modes_of_one_kernel_have_a_limit() {
    let entry = [4 << 16 | 15, 6, 10, u32::from_le_bytes(*b"k\0\0\0")];
    let body = [5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11, 1 << 16 | 253, 1 << 16 | 56];
    let with = |modes: usize| {
        let modes: Vec<u32> = std::iter::repeat_n([3 << 16 | 16, 10, 31], modes).flatten().collect();
        timed(&kernel_module(&[&entry[..], &modes].concat(), 12, &body))
    };
    with(256).unwrap();
    assert_eq!(with(257).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn modes_of_other_kernels_are_not_looked_through_for_each_sum() {
    const KERNELS: u32 = 1000;
    const SUMS: u32 = 20_000;
    let (mut head, mut modes, mut words) = (Vec::new(), Vec::new(), vec![3 << 16 | 22, 5, 32, 3 << 16 | 1, 5, 6]);
    for kernel in 0..KERNELS {
        let id = 10 + 2 * kernel;
        let name = format!("k{kernel:06}\0");
        head.extend([5 << 16 | 15, 6, id]);
        head.extend(name.as_bytes().chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())));
        modes.extend(std::iter::repeat_n([4 << 16 | 16, id, 30, 0], 200).flatten());
        words.extend([5 << 16 | 54, 1, id, 0, 2, 2 << 16 | 248, id + 1]);
        if kernel == 0 {
            words.extend((0..SUMS).flat_map(|sum| [5 << 16 | 129, 5, 3000 + sum, 6, 6]));
        }
        words.extend([1 << 16 | 253, 1 << 16 | 56]);
    }
    let taken = timed(&kernel_module(&[head, modes].concat(), 3000 + SUMS, &words)).unwrap();
    assert!(taken.as_secs() < 10, "{taken:?}");
}

/// A string's words.
fn literal(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Names `prefix`, `prefix$`, `prefix$$` and so on that the ids from `first` on are exported by: the translation's own come behind them.
fn takes_names(prefix: &str, first: u32, names: u32) -> Vec<u32> {
    let named = |at: u32| {
        let name = literal(&format!("{prefix}{}", "$".repeat(at as usize)));
        [&[(4 + name.len() as u32) << 16 | 71, first + at, 41], &name[..], &[0]].concat()
    };
    (0..names).flat_map(named).collect()
}

#[test]
fn names_that_are_taken_are_not_looked_for_at_each_use() {
    const NAMES: u32 = 2000;
    const USES: u32 = 5000;
    const FIRST: u32 = 100;
    // A function (12) and a variable (13) without names of their own, and variables that are exported by those.
    let head = |own: &str| {
        [&[4 << 16 | 15, 6, 10, u32::from_le_bytes(*b"k\0\0\0")], &takes_names(own, FIRST, NAMES)[..]].concat()
    };
    let mut words = vec![4 << 16 | 32, 5, 5, 3, 4 << 16 | 59, 5, 13, 5];
    words.extend((0..NAMES).flat_map(|at| [4 << 16 | 59, 5, FIRST + at, 5]));
    words.extend([5 << 16 | 54, 1, 12, 0, 2, 2 << 16 | 248, 14, 1 << 16 | 253, 1 << 16 | 56]);
    words.extend([5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11]);
    let used = FIRST + NAMES;
    let bound = used + USES;
    let ends = [1 << 16 | 253, 1 << 16 | 56];
    let calls: Vec<u32> = (used..bound).flat_map(|id| [4 << 16 | 57, 1, id, 12]).collect();
    let loads: Vec<u32> = (used..bound).flat_map(|id| [4 << 16 | 61, 3, id, 13]).collect();
    let taken = [("f12", calls), ("g13", loads)]
        .map(|(own, uses)| timed(&kernel_module(&head(own), bound, &[&words[..], &uses, &ends].concat())).unwrap());
    assert!(taken.iter().all(|taken| taken.as_secs() < 10), "{taken:?}");
}

/// A module with `variables` that begin as a structure of a long array, which is null, and a number, or as null, of the device or
/// of a kernel.
fn with_initialised_memory(variables: u32, array_bytes: u32, number: Option<u32>, of_kernel: bool) -> ur_spirv::Module {
    let mut words =
        vec![4 << 16 | 43, 3, 5, array_bytes, 4 << 16 | 43, 3, 6, number.unwrap_or(0), 4 << 16 | 21, 7, 8, 0];
    words.extend([4 << 16 | 28, 8, 7, 5, 4 << 16 | 30, 9, 8, 3, 3 << 16 | 46, 8, 14]);
    words.extend(match number {
        Some(_) => vec![5 << 16 | 44, 9, 15, 14, 6],
        None => vec![3 << 16 | 46, 9, 15],
    });
    let class = if of_kernel { 7 } else { 5 };
    words.extend([4 << 16 | 32, 12, class, 9]);
    let ids = 20..20 + variables;
    let made: Vec<u32> = ids.clone().flat_map(|id| [5 << 16 | 59, 12, id, class, 15]).collect();
    let (outside, inside) = if of_kernel { (vec![], made) } else { (made, vec![]) };
    words.extend(outside);
    words.extend([5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11]);
    words.extend(inside);
    words.extend([1 << 16 | 253, 1 << 16 | 56]);
    let mut head = vec![4 << 16 | 15, 6, 10, u32::from_le_bytes(*b"k\0\0\0")];
    // What is exported is written whether or not a kernel reaches it.
    let name = |id: u32| u32::from_le_bytes([b'v', b'a' + (id / 16) as u8, b'a' + (id % 16) as u8, 0]);
    let export = |id: u32| [5 << 16 | 71, id, 41, name(id), 0];
    head.extend(ids.filter(|_| !of_kernel).flat_map(export));
    parse(&kernel_module(&head, 20 + variables, &words)).unwrap()
}

/// libnvvm writes every byte of an initialiser as text, and ends the process where memory ends; from 4 GiB on it loses some.
#[test]
fn memory_that_begins_with_other_values_than_zeroes_has_a_limit() {
    for of_kernel in [false, true] {
        for options in [Options::for_architecture(90), Options::for_architecture(100), Options::for_amdgcn(32)] {
            let refused = |variables, bytes, number| {
                let module = with_initialised_memory(variables, bytes, number, of_kernel);
                translate(&module, &options).err().map(|error| {
                    assert_eq!(error.instruction(), Some("OpVariable"), "{error}");
                    error.kind()
                })
            };
            let limit = Some(ErrorKind::Limit);
            assert_eq!(refused(1, 1 << 28, Some(1)), limit);
            assert_eq!(refused(1, 1 << 31, Some(1)), limit);
            assert_eq!(refused(100, 1 << 20, Some(1)), limit, "together");
            assert_eq!(refused(10, 1 << 20, Some(1)), None);
            // No compiler writes zeroes.
            assert_eq!(refused(1, 1 << 31, None), None);
            assert_eq!(refused(1, 1 << 31, Some(0)), None);
        }
    }
}

#[test]
fn graphics_modules_are_refused_by_their_memory_model() {
    let error = parse(&bytes(&[&HEADER[..], &[3 << 16 | 14, 0, 1]].concat())).unwrap_err();
    assert_eq!((error.kind(), error.instruction()), (ErrorKind::Unsupported, Some("OpMemoryModel")));
}

/// Every module cut off after each of its words.
#[test]
fn truncated_modules_are_errors() {
    for name in common::names("modules") {
        let whole = common::module("modules", &name);
        for end in (0..whole.len()).step_by(4) {
            try_all(&whole[..end]);
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

fn mutate(module: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let words = module.len() / 4;
        if words < 6 {
            return;
        }
        let at = (5 + random.below(words - 5)) * 4;
        let other = (5 + random.below(words - 5)) * 4;
        match random.below(6) {
            0 => module[at + random.below(4)] ^= 1 << random.below(8),
            1 => module.truncate(at),
            2 => {
                for byte in 0..4 {
                    module.swap(at + byte, other + byte);
                }
            }
            3 => module.copy_within(other..other + 4, at),
            4 => module[at..at + 4].copy_from_slice(&(random.below(300) as u32).to_le_bytes()),
            _ => {
                let word = module[other..other + 4].to_vec();
                module.splice(at..at, word);
            }
        }
    }
}

/// `UR_SPIRV_MUTATIONS` says how many; a release build does 10^6 in a minute. `UR_SPIRV_IMAGES` names a folder with more modules,
/// `UR_SPIRV_SEED` other damage.
#[test]
fn damaged_modules_neither_panic_nor_hang() {
    let count = std::env::var("UR_SPIRV_MUTATIONS").map_or(2000, |text| text.parse().unwrap());
    let mut modules: Vec<Vec<u8>> =
        common::names("modules").iter().map(|name| common::module("modules", name)).collect();
    modules.extend(common::names("kernels").iter().map(|name| common::module("kernels", name)));
    if let Some(folder) = std::env::var_os("UR_SPIRV_IMAGES") {
        let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        modules.extend(
            files.filter(|file| file.extension().is_some_and(|e| e == "spv")).map(|f| std::fs::read(f).unwrap()),
        );
    }
    let seed: u64 = std::env::var("UR_SPIRV_SEED").map_or(0, |text| text.parse().unwrap());
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut slowest = std::time::Duration::ZERO;
    for _ in 0..count {
        let mut module = modules[random.below(modules.len())].clone();
        mutate(&mut module, &mut random);
        let start = std::time::Instant::now();
        try_all(&module);
        slowest = slowest.max(start.elapsed());
    }
    assert!(slowest.as_secs() < 10, "a module took {slowest:?}");
}

proptest! {
    #[test]
    fn random_words_behind_a_header_are_errors_or_modules(words in prop::collection::vec(any::<u32>(), 0..60)) {
        try_all(&with(&words));
    }

    #[test]
    fn random_instructions_are_errors_or_modules(
        rows in prop::collection::vec((0u32..420, prop::collection::vec(0u32..24, 0..7)), 0..40)
    ) {
        let mut words = Vec::new();
        for (opcode, operands) in rows {
            words.push((operands.len() as u32 + 1) << 16 | opcode);
            words.extend(operands);
        }
        try_all(&with(&words));
    }

    #[test]
    fn flipped_bits_are_errors_or_modules(at in 0usize..4000, bit in 0u8..8) {
        for name in common::names("modules") {
            let mut module = common::module("modules", &name);
            let at = at % module.len();
            module[at] ^= 1 << bit;
            try_all(&module);
        }
    }
}
