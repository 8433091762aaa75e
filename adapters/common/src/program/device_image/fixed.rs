//! Sizes of work-groups that an image fixes by itself: `.reqntid` and `.maxntid` of PTX, `.nv.info` of a cubin.
//!
//! No native call tells them, and the driver refuses a launch that they forbid without saying why. A fat binary is read
//! where the driver would load from; entries that are compressed are passed over, which are PTX by the compilers'
//! defaults. Images of other formats fix nothing. Whatever the bytes say, nothing here fails or reads past them: images
//! were checked before.

use std::collections::HashMap;

use crate::program::device_image::ptx::find;
use crate::program::device_image::{Bytes, CUBIN, FATBIN_MAGIC, elf};

/// What an image fixes of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedSizes {
    /// The only work-group size the kernel runs with, in x, y and z.
    pub required: Option<[usize; 3]>,
    /// The largest in each dimension; the driver holds a launch against the product alone, as PTX has it.
    pub most: Option<[usize; 3]>,
}

/// What an image fixes, by the names of its kernels; a kernel of which it fixes nothing is not there.
pub type FixedByKernel = HashMap<String, FixedSizes>;

/// Reads an image. `binary` is the version of the machine code that its kernels run as, major * 10 + minor.
#[must_use]
pub fn fixed_sizes(image: &[u8], binary: u32) -> FixedByKernel {
    let mut found = FixedByKernel::new();
    if image.starts_with(elf::MAGIC) {
        of_cubin(Bytes(image), &mut found);
    } else if Bytes(image).u32(0) == Some(FATBIN_MAGIC) {
        if let Some(entry) = entry_for(Bytes(image), binary) {
            return fixed_sizes(entry, binary);
        }
    } else {
        of_ptx(image, &mut found);
    }
    found
}

/// The entry of a fat binary that tells most: the machine code that is run, the PTX it was made of, or any other.
fn entry_for(fatbin: Bytes<'_>, binary: u32) -> Option<&[u8]> {
    const ELF: u16 = 2;
    const PTX: u16 = 1;
    /// Flags of entries compressed by LZ4 or Zstandard.
    const COMPRESSED: u64 = 0x2000 | 0x8000;

    let mut entry = u64::from(fatbin.u16(6)?);
    let mut best: Option<(u32, &[u8])> = None;
    while let Some(kind) = fatbin.u16(entry) {
        let (Some(header), Some(size)) = (fatbin.u32(entry + 4), fatbin.u64(entry + 8)) else { break };
        let payload = entry.saturating_add(u64::from(header));
        let architecture = fatbin.u32(entry + 28).unwrap_or(0);
        let fit = match kind {
            ELF if architecture == binary => u32::MAX,
            PTX if architecture <= binary => architecture.saturating_add(2),
            ELF => 1,
            _ => 0,
        };
        let readable = matches!(kind, ELF | PTX) && fatbin.u64(entry + 40).is_some_and(|flags| flags & COMPRESSED == 0);
        if readable
            && best.is_none_or(|(other, _)| fit > other)
            && let Some(contents) = fatbin.part(payload, size)
        {
            best = Some((fit, contents));
        }
        // An entry without bytes would be read for ever.
        entry = payload.saturating_add(size).max(entry + 1);
    }
    // A container within a container is none that a compiler makes.
    best.map(|(_, contents)| contents).filter(|contents| Bytes(contents).u32(0) != Some(FATBIN_MAGIC))
}

/// Reads the sections `.nv.info.KERNEL`.
fn of_cubin(elf: Bytes<'_>, found: &mut FixedByKernel) {
    if elf::machine_of(elf) != CUBIN.number {
        return;
    }
    for (name, contents) in elf::sections(elf) {
        let Some(kernel) = name.strip_prefix(b".nv.info.") else { continue };
        let sizes = attributes(Bytes(contents));
        if sizes != FixedSizes::default() {
            found.insert(String::from_utf8_lossy(kernel).into_owned(), sizes);
        }
    }
}

/// Reads the attributes of a kernel: a byte for the format, one for the attribute, two that are the value or its length.
fn attributes(info: Bytes<'_>) -> FixedSizes {
    const WITH_LENGTH: u8 = 4;
    const MOST: u8 = 0x05;
    const REQUIRED: u8 = 0x10;

    let mut sizes = FixedSizes::default();
    let mut at = 0;
    while let (Some(&[format, attribute]), Some(value)) = (info.part(at, 2), info.u16(at + 2)) {
        at += 4;
        if format != WITH_LENGTH {
            continue;
        }
        let number = |index: u64| Some(info.u32(at + 4 * index)? as usize);
        let three = || Some([number(0)?, number(1)?, number(2)?]).filter(|sizes| !sizes.contains(&0));
        match attribute {
            REQUIRED if value >= 12 => sizes.required = three(),
            MOST if value >= 12 => sizes.most = three(),
            _ => {}
        }
        at += u64::from(value);
    }
    sizes
}

/// Reads the directives between a kernel's parameters and its body.
fn of_ptx(text: &[u8], found: &mut FixedByKernel) {
    let mut tokens = Tokens { text, at: 0 };
    let mut kernel: Option<(&[u8], FixedSizes)> = None;
    while let Some(token) = tokens.next() {
        match (token, &mut kernel) {
            (b"{" | b"(" | b"[", _) => {
                if token == b"{" {
                    end_of(kernel.take(), found);
                }
                tokens.skip_block();
            }
            (b";", _) => end_of(kernel.take(), found),
            (b".entry", _) => kernel = tokens.next().map(|name| (name, FixedSizes::default())),
            (b".reqntid", Some((_, sizes))) => sizes.required = tokens.three(),
            (b".maxntid", Some((_, sizes))) => sizes.most = tokens.three(),
            _ => {}
        }
    }
}

fn end_of(kernel: Option<(&[u8], FixedSizes)>, found: &mut FixedByKernel) {
    if let Some((name, sizes)) = kernel.filter(|(_, sizes)| *sizes != FixedSizes::default()) {
        found.insert(String::from_utf8_lossy(name).into_owned(), sizes);
    }
}

/// PTX text as words and marks, without white space, comments and strings.
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.next_start()?;
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"._$%".contains(byte);
        let length = self.text[start..].iter().take_while(|byte| in_word(byte)).count().max(1);
        self.at = start + length;
        Some(&self.text[start..self.at])
    }

    /// Where the next token begins.
    fn next_start(&mut self) -> Option<usize> {
        loop {
            let rest = self.text.get(self.at..)?;
            let (skipped, end): (usize, &[u8]) = match rest {
                [] => return None,
                [b'/', b'/', ..] => (2, b"\n"),
                [b'/', b'*', ..] => (2, b"*/"),
                [b'"', ..] => (1, b"\""),
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0 => {
                    self.at += 1;
                    continue;
                }
                _ => return Some(self.at),
            };
            self.at = find(self.text, self.at + skipped, end)? + end.len();
        }
    }

    /// Goes behind the mark that closes what was opened last.
    fn skip_block(&mut self) {
        let mut depth = 1;
        while depth > 0
            && let Some(start) = self.next_start()
        {
            match self.text[start] {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth -= 1,
                _ => {}
            }
            self.at = start + 1;
        }
    }

    /// One to three numbers, separated by commas; those that are missing are 1.
    fn three(&mut self) -> Option<[usize; 3]> {
        let mut sizes = [1; 3];
        for (index, size) in sizes.iter_mut().enumerate() {
            if index > 0 && !self.take(b",") {
                break;
            }
            *size = number(self.next()?)?;
        }
        Some(sizes)
    }

    /// Takes the next token if it is this one.
    fn take(&mut self, token: &[u8]) -> bool {
        let before = self.at;
        let found = self.next() == Some(token);
        if !found {
            self.at = before;
        }
        found
    }
}

/// An integer constant of PTX above 0.
fn number(word: &[u8]) -> Option<usize> {
    let text = str::from_utf8(word).ok()?.trim_end_matches('U');
    let (digits, base) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    usize::from_str_radix(digits, base).ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CUBIN: &[u8] = include_bytes!("../../../../../conformance/kernels/cubin/fixed.sm_90.cubin");
    const FATBIN: &[u8] = include_bytes!("../../../../../conformance/kernels/fatbin/fixed.fatbin");
    const PTX: &[u8] = include_bytes!("../../../../../conformance/kernels/fixed.ptx");

    fn expected() -> FixedByKernel {
        let required = FixedSizes { required: Some([16, 2, 1]), most: None };
        let limited = FixedSizes { required: None, most: Some([64, 2, 1]) };
        [("required".to_owned(), required), ("limited".to_owned(), limited)].into()
    }

    /// A fat binary of these entries: kind, architecture, flags, contents.
    fn fatbin(entries: &[(u16, u32, u64, &[u8])]) -> Vec<u8> {
        let mut bodies = Vec::new();
        for (kind, architecture, flags, contents) in entries {
            bodies.extend([&kind.to_le_bytes()[..], &[1, 1], &64_u32.to_le_bytes()].concat());
            bodies.extend((contents.len() as u64).to_le_bytes());
            bodies.extend([[0; 12].as_slice(), &architecture.to_le_bytes(), &[0; 8], &flags.to_le_bytes()].concat());
            bodies.extend([0; 16]);
            bodies.extend_from_slice(contents);
        }
        let head = [&FATBIN_MAGIC.to_le_bytes()[..], &[1, 0, 16, 0], &(bodies.len() as u64).to_le_bytes()].concat();
        [head, bodies].concat()
    }

    #[test]
    fn ptx_a_cubin_and_a_fat_binary_of_one_source_fix_the_same() {
        assert_eq!(fixed_sizes(PTX, 90), expected());
        assert_eq!(fixed_sizes(CUBIN, 90), expected());
        // Its PTX is compressed, so the cubin speaks for other devices too.
        assert_eq!(fixed_sizes(FATBIN, 90), expected());
        assert_eq!(fixed_sizes(FATBIN, 80), expected());
    }

    #[test]
    fn the_entry_that_runs_is_the_one_that_is_read() {
        let of = |size: usize| format!(".version 7.0\n.entry k() .reqntid {size} {{}}").into_bytes();
        let (old, new, later) = (of(70), of(80), of(100));
        let image = fatbin(&[(1, 70, 0, &old), (2, 90, 0, CUBIN), (1, 80, 0, &new), (1, 100, 0, &later)]);
        let required = |binary| fixed_sizes(&image, binary).get("k").and_then(|sizes| sizes.required);
        assert_eq!(fixed_sizes(&image, 90), expected());
        assert_eq!(
            [required(86), required(75), required(100)],
            [Some([80, 1, 1]), Some([70, 1, 1]), Some([100, 1, 1])]
        );
        let packed = fatbin(&[(1, 70, 0x8011, &old), (1, 70, 0x2011, &new)]);
        assert_eq!(fixed_sizes(&packed, 90), FixedByKernel::new());
    }

    #[test]
    fn directives_are_found_between_parameters_and_body_and_nowhere_else() {
        let text = b".version 7.0 // .entry a() .reqntid 1 {\n/* .entry b() .reqntid 2 {} */ .file 1 \".entry c\"\n\
            .func helper(.param .b32 p) { .reqntid 9; }\n\
            .weak .entry d(.param .u64 x, .param .align 8 .b8 y[16]) .minnctapersm 2 .maxntid 0x20,4U .reqntid 010, 2 , 3\n\
            { .entry_like: { ret; } [ ( } ) ] }\n.visible .entry e() .maxntid 128 ;\n.visible .entry f() { ret; }\n\
            .entry g() .reqntid 0 {}\0\0";
        let found = fixed_sizes(text, 70);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found["d"], FixedSizes { required: Some([8, 2, 3]), most: Some([32, 4, 1]) });
        assert_eq!(found["e"], FixedSizes { required: None, most: Some([128, 1, 1]) });
    }

    #[test]
    fn machine_code_of_others_fixes_nothing() {
        let mut other = CUBIN.to_vec();
        other[18..20].copy_from_slice(&224_u16.to_le_bytes());
        assert_eq!(fixed_sizes(&other, 90), FixedByKernel::new());
        assert_eq!(fixed_sizes(b"__CLANG_OFFLOAD_BUNDLE__", 90), FixedByKernel::new());
        assert_eq!(fixed_sizes(&[], 0), FixedByKernel::new());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512), version: u32) {
            let _ = fixed_sizes(&bytes, version);
        }

        #[test]
        fn any_damage_to_a_good_image_is_read_without_a_panic(
            which in 0_usize..3,
            damage in proptest::collection::vec((0_usize..2048, any::<u8>()), 1..16),
            length in 0_usize..8_000,
        ) {
            let mut image = [PTX, CUBIN, FATBIN][which].to_vec();
            for (at, byte) in damage {
                if let Some(old) = image.get_mut(at) {
                    *old = byte;
                }
            }
            image.truncate(length);
            let _ = fixed_sizes(&image, 90);
        }
    }
}
