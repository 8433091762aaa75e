//! What the crate claims is proven: every instruction that it does not refuse stands in a kernel of `tests/kernels`, whose results
//! `tests/results.rs` checks; and what it refuses is refused by name.

mod common;

use std::collections::BTreeSet;

use ur_spirv::{ErrorKind, Options, instructions, opencl_instructions, parse, translate};

const EXT_INST: u32 = 12;

/// The claimed instructions that no kernel with results can hold, and why.
const WITHOUT_RESULTS: [(&str, &str); 0] = [];

/// The opcodes of all kernels, and the numbers of OpenCL.std.
fn used() -> (BTreeSet<u32>, BTreeSet<u32>) {
    let (mut opcodes, mut extended) = (BTreeSet::new(), BTreeSet::new());
    for name in common::names("kernels") {
        let bytes = common::module("kernels", &name);
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let mut at = 5;
        while at < words.len() {
            let (length, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
            opcodes.insert(opcode);
            if opcode == EXT_INST {
                extended.insert(words[at + 4]);
            }
            at += length;
        }
    }
    (opcodes, extended)
}

#[test]
fn every_claimed_instruction_has_a_kernel_with_results() {
    let opcodes = used().0;
    let claimed: Vec<_> = instructions().filter(|known| known.refused.is_none()).collect();
    let missing: Vec<&str> = claimed.iter().filter(|known| !opcodes.contains(&known.number)).map(|k| k.name).collect();
    let excused: Vec<&str> = WITHOUT_RESULTS.iter().map(|row| row.0).collect();
    assert_eq!(
        missing,
        excused,
        "{} of {} claimed instructions have a kernel",
        claimed.len() - missing.len(),
        claimed.len()
    );
}

#[test]
fn every_function_of_opencl_has_a_kernel_with_results() {
    let extended = used().1;
    let missing: Vec<&str> =
        opencl_instructions().filter(|known| !extended.contains(&known.number)).map(|known| known.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn no_kernel_holds_what_is_refused() {
    let opcodes = used().0;
    let held: Vec<_> = instructions().filter(|k| k.refused.is_some() && opcodes.contains(&k.number)).collect();
    assert!(held.is_empty(), "{held:?}");
}

/// A kernel whose one instruction is this one, with operands that exist; `None` for one that stands outside functions.
fn kernel_with(number: u32, words: &[u32]) -> Vec<u8> {
    let mut module = vec![
        0x0723_0203,
        0x0001_0000,
        0,
        64,
        0,
        3 << 16 | 14,
        2,
        2,
        4 << 16 | 15,
        6,
        10,
        u32::from_le_bytes(*b"k\0\0\0"),
    ];
    // Void, a function of nothing, numbers of 32 bits, one of them.
    module.extend([2 << 16 | 19, 1, 3 << 16 | 33, 2, 1, 4 << 16 | 21, 3, 32, 0, 4 << 16 | 43, 3, 4, 1]);
    module.extend([5 << 16 | 54, 1, 10, 0, 2, 2 << 16 | 248, 11]);
    module.push((words.len() as u32 + 1) << 16 | number);
    module.extend(words);
    module.extend([1 << 16 | 253, 1 << 16 | 56]);
    module.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn what_is_refused_is_refused_by_name() {
    // Those of a block that take a type, a result and some ids: images, pipes, queues, assembly.
    let mut tried = 0;
    for known in instructions().filter(|known| known.refused.is_some()) {
        for count in 0..12 {
            let mut words = vec![3, 20];
            words.resize(2 + count, 4);
            let Ok(module) = parse(&kernel_with(known.number, &words)) else { continue };
            let error = translate(&module, &Options::for_architecture(90)).unwrap_err();
            assert_eq!((error.kind(), error.instruction()), (ErrorKind::Unsupported, Some(known.name)), "{error}");
            assert_eq!(error.message(), known.refused.unwrap());
            tried += 1;
            break;
        }
    }
    assert!(tried > 40, "{tried}");
}
