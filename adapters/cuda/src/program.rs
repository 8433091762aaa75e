//! Device images: which format they have, whether they are whole, and how they are loaded.
//!
//! The native loader is told no length and follows the image's own headers, so an image is checked from its
//! bytes alone first: headers, tables and sections within the length. What is inside the machine code is the
//! loader's business. Nothing here may read past the slice it is given, whatever the bytes say.

use core::ffi::{c_uint, c_void};

use ur_adapter::driver::BuildRequest;
use ur_adapter::error::{Error, Result};
use ur_ffi::ur_result_t;

use crate::map::check as check_status;
use crate::sys::{CUmodule, Symbols, jit};

/// First word of a fat binary: several images, each with a header.
const FATBIN_MAGIC: u32 = 0xBA55_ED50;
/// First word of the structure by which compiled host code points at a fat binary.
const WRAPPER_MAGIC: u32 = 0x4662_43B1;
/// ELF's number of NVIDIA's machines.
const ELF_MACHINE_CUDA: u16 = 190;

/// Bytes of the two log buffers of the just-in-time compiler.
const LOG_SIZE: usize = 16 * 1024;

/// Little-endian numbers of a byte string; reading past its end is `None`.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(self, at: u64) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(self, at: u64) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(self, at: u64) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    fn len(self) -> u64 {
        self.0.len() as u64
    }

    /// Whether `size` bytes at `at` lie within.
    fn holds(self, at: u64, size: u64) -> bool {
        at.checked_add(size).is_some_and(|end| end <= self.len())
    }
}

/// The error of an image: what it is taken for, where it goes wrong, what is wrong, and what to do.
#[cold]
fn invalid(format: &str, offset: u64, what: &str) -> Error {
    let remedy = "give the file's bytes unchanged and in full";
    Error::new(
        ur_result_t::ERROR_INVALID_BINARY,
        format!("the device image is no whole {format}: at byte {offset}, {what}; {remedy}"),
    )
}

/// Checks that an image is PTX text, a cubin or a fat binary, and whole.
///
/// # Errors
/// `INVALID_BINARY` with format, offset and remedy.
pub(crate) fn check(image: &[u8]) -> Result<()> {
    if image.starts_with(b"\x7fELF") {
        return check_cubin(Bytes(image), 0);
    }
    match Bytes(image).u32(0) {
        Some(FATBIN_MAGIC) => check_fatbin(Bytes(image)),
        Some(WRAPPER_MAGIC) => Err(Error::new(
            ur_result_t::ERROR_INVALID_BINARY,
            "the device image is a fat binary's wrapper: at byte 8 it holds the address of the image and not the \
             image; give the fat binary that it points to",
        )),
        _ => check_ptx(image),
    }
}

/// A 64-bit little-endian ELF for NVIDIA's machine with all tables and their contents. `start` is where it
/// begins in the image, for messages.
fn check_cubin(elf: Bytes<'_>, start: u64) -> Result<()> {
    const FORMAT: &str = "cubin (ELF)";
    const HEADER: u64 = 64;
    const SECTION: u16 = 64;
    const SEGMENT: u16 = 56;
    /// A section that takes no bytes of the file.
    const NO_BITS: u32 = 8;

    let wrong = |offset: u64, what: &str| invalid(FORMAT, start.saturating_add(offset), what);
    if !elf.holds(0, HEADER) {
        return Err(wrong(elf.len(), "the file ends inside its header"));
    }
    let (class, order) = (elf.0[4], elf.0[5]);
    if (class, order) != (2, 1) {
        return Err(wrong(4, "it is not a 64-bit little-endian file"));
    }
    let machine = elf.u16(18).unwrap_or(0);
    if machine != ELF_MACHINE_CUDA {
        return Err(wrong(18, &format!("the machine is {machine} and not {ELF_MACHINE_CUDA}, NVIDIA's")));
    }
    let truncated = || wrong(elf.len(), "the file ends inside its header");
    let segments = elf.u64(32).ok_or_else(truncated)?;
    let sections = elf.u64(40).ok_or_else(truncated)?;
    let [segment_size, segment_count, section_size, section_count] = {
        let field = |at| elf.u16(at).ok_or_else(truncated);
        [field(54)?, field(56)?, field(58)?, field(60)?]
    };

    if sections == 0 {
        return Err(wrong(40, "it has no section table"));
    }
    if section_size < SECTION {
        return Err(wrong(58, "a section header is shorter than 64 bytes"));
    }
    // More sections than 16 bits count are counted by the first section's size.
    let section_count = match section_count {
        0 => elf.u64(sections.saturating_add(32)).ok_or_else(|| wrong(40, "the section table lies past the end"))?,
        count => u64::from(count),
    };
    let table = section_count.checked_mul(u64::from(section_size));
    if !table.is_some_and(|size| elf.holds(sections, size)) {
        return Err(wrong(40, "the section table reaches past the end"));
    }
    for number in 0..section_count {
        let header = sections + number * u64::from(section_size);
        let (Some(kind), Some(offset), Some(size)) = (elf.u32(header + 4), elf.u64(header + 24), elf.u64(header + 32))
        else {
            return Err(wrong(header, "the section table reaches past the end"));
        };
        // Section 0 has no contents; its fields may count tables.
        if number != 0 && kind != NO_BITS && kind != 0 && !elf.holds(offset, size) {
            return Err(wrong(header, &format!("section {number} reaches past the end")));
        }
    }

    if segment_count == 0 {
        return Ok(());
    }
    if segment_size < SEGMENT {
        return Err(wrong(54, "a program header is shorter than 56 bytes"));
    }
    if !elf.holds(segments, u64::from(segment_count) * u64::from(segment_size)) {
        return Err(wrong(32, "the program header table reaches past the end"));
    }
    for number in 0..u64::from(segment_count) {
        let header = segments + number * u64::from(segment_size);
        let (Some(offset), Some(size)) = (elf.u64(header + 8), elf.u64(header + 32)) else {
            return Err(wrong(header, "the program header table reaches past the end"));
        };
        if !elf.holds(offset, size) {
            return Err(wrong(header, &format!("segment {number} reaches past the end")));
        }
    }
    Ok(())
}

/// A fat binary whose header and entries lie within the image, with every uncompressed cubin in it whole.
fn check_fatbin(fatbin: Bytes<'_>) -> Result<()> {
    const FORMAT: &str = "fat binary";
    const HEADER: u16 = 16;
    const ENTRY: u32 = 16;

    let wrong = |offset: u64, what: &str| invalid(FORMAT, offset, what);
    let (Some(header), Some(size)) = (fatbin.u16(6), fatbin.u64(8)) else {
        return Err(wrong(fatbin.len(), "the image ends inside its header"));
    };
    if header < HEADER {
        return Err(wrong(6, &format!("the header says that it has {header} bytes, fewer than {HEADER}")));
    }
    let end = match u64::from(header).checked_add(size) {
        Some(end) if end <= fatbin.len() => end,
        _ => {
            let what = format!("the entries take {size} bytes, which reach past the end at {}", fatbin.len());
            return Err(wrong(8, &what));
        }
    };
    let mut entry = u64::from(header);
    if entry == end {
        return Err(wrong(entry, "it holds no image"));
    }
    while entry < end {
        let (Some(header), Some(size)) = (fatbin.u32(entry + 4), fatbin.u64(entry + 8)) else {
            return Err(wrong(entry, "an entry's header reaches past the end"));
        };
        if header < ENTRY {
            return Err(wrong(entry + 4, &format!("an entry's header says that it has {header} bytes")));
        }
        let payload = entry + u64::from(header);
        let next = match payload.checked_add(size) {
            Some(next) if next <= end => next,
            _ => return Err(wrong(entry + 8, &format!("an entry of {size} bytes reaches past the end at {end}"))),
        };
        // Both lie below the image's length, which fits.
        #[allow(clippy::cast_possible_truncation, reason = "below the length of a slice")]
        let contents = &fatbin.0[payload as usize..next as usize];
        if contents.starts_with(b"\x7fELF") {
            check_cubin(Bytes(contents), payload)?;
        }
        entry = next;
    }
    Ok(())
}

/// PTX text: `.version` as the first directive, and every comment, string, body and parameter list that opens closed
/// again.
fn check_ptx(image: &[u8]) -> Result<()> {
    const FORMAT: &str = "PTX text";
    // Images often count a terminating NUL, or padding, as theirs.
    let length = image.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let text = &image[..length];
    let mut scan = Scan { text, at: 0, depth: 0, first: None };
    let unclosed = scan.run();
    let first = scan.first.unwrap_or(length);
    if !text[first..].starts_with(b".version") {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_BINARY,
            format!(
                "the device image has no known format: at byte {first}, there is neither PTX's `.version` directive \
                 nor the first word of a cubin (ELF) or a fat binary; compile for nvptx64 or give one of these three"
            ),
        ));
    }
    if let Some(nul) = text.iter().position(|byte| *byte == 0) {
        return Err(invalid(FORMAT, nul as u64, "a NUL byte ends the text before the image's end"));
    }
    let number = text[first + b".version".len()..].trim_ascii_start();
    if !number.first().is_some_and(u8::is_ascii_digit) {
        return Err(invalid(FORMAT, first as u64, "the `.version` directive has no number"));
    }
    match unclosed {
        Some((at, what)) => Err(invalid(FORMAT, at as u64, what)),
        None if scan.depth != 0 => {
            Err(invalid(FORMAT, length as u64, &format!("the text ends inside {} open `{{` or `(`", scan.depth)))
        }
        None => Ok(()),
    }
}

/// A walk over PTX text that knows comments, strings, bodies and parameter lists.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    /// The first byte that is neither white space nor comment.
    first: Option<usize>,
}

impl Scan<'_> {
    /// Walks to the end; what is open there or closes nothing, and where.
    fn run(&mut self) -> Option<(usize, &'static str)> {
        while let Some(byte) = self.text.get(self.at).copied() {
            let start = self.at;
            let rest = &self.text[start..];
            if byte.is_ascii_whitespace() {
                self.at += 1;
                continue;
            }
            if rest.starts_with(b"//") {
                self.at = find(self.text, start, b"\n").unwrap_or(self.text.len());
                continue;
            }
            if rest.starts_with(b"/*") {
                let Some(end) = find(self.text, start + 2, b"*/") else {
                    return Some((start, "a comment opens and the text ends inside it"));
                };
                self.at = end + 2;
                continue;
            }
            self.first.get_or_insert(start);
            self.at += 1;
            match byte {
                b'"' => {
                    let Some(end) = find(self.text, start + 1, b"\"") else {
                        return Some((start, "a string opens and the text ends inside it"));
                    };
                    self.at = end + 1;
                }
                b'{' | b'(' => self.depth += 1,
                b'}' | b')' if self.depth == 0 => return Some((start, "a `}` or `)` closes nothing")),
                b'}' | b')' => self.depth -= 1,
                _ => {}
            }
        }
        None
    }
}

/// Where `what` is at or after `from`.
fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(what.len()).position(|window| window == what).map(|at| from + at)
}

/// What the build options ask of the just-in-time compiler.
#[derive(Debug, Default, PartialEq, Eq)]
struct JitOptions {
    optimization: Option<u32>,
    max_registers: Option<u32>,
    debug_info: bool,
    line_info: bool,
    /// Options that mean nothing to this compiler, as given.
    ignored: Vec<String>,
}

impl JitOptions {
    /// Reads `urProgramBuild`'s words; the last of several wins.
    fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-O0" | "-cl-opt-disable" => options.optimization = Some(0),
                "-O1" => options.optimization = Some(1),
                "-O2" => options.optimization = Some(2),
                // The highest level, which the compiler counts as its fourth.
                "-O3" => options.optimization = Some(4),
                "-g" => options.debug_info = true,
                "-lineinfo" | "--generate-line-info" => options.line_info = true,
                "-maxrregcount" | "--maxrregcount" => {
                    options.max_registers = Some(registers(word, words.next().map_or("", String::as_str))?);
                }
                other => match other.strip_prefix("--maxrregcount=").or_else(|| other.strip_prefix("-maxrregcount=")) {
                    Some(number) => options.max_registers = Some(registers(word, number)?),
                    None => options.ignored.push(word.clone()),
                },
            }
        }
        Ok(options)
    }
}

fn registers(word: &str, number: &str) -> Result<u32> {
    number.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("the build option {word} needs a number of registers, such as {word}=64, and has {number:?}")
                .replace("==", "="),
        )
    })
}

/// A log buffer's text, up to its NUL.
fn text_of(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).trim_end().to_owned()
}

/// Loads a checked image that a NUL byte follows; the compiler's words are in `request.log` afterwards.
///
/// # Errors
/// `INVALID_VALUE` for an option without its number; what the loader answers.
pub(crate) fn load(symbols: &Symbols, image: &[u8], request: &mut BuildRequest<'_>) -> Result<CUmodule> {
    let options = JitOptions::parse(request.options)?;
    let mut information = vec![0_u8; LOG_SIZE];
    let mut errors = vec![0_u8; LOG_SIZE];
    // Numbers travel in the pointers themselves.
    let number = |value: usize| core::ptr::without_provenance_mut::<c_void>(value);
    let mut list: Vec<(u32, *mut c_void)> = vec![
        (jit::INFO_LOG, information.as_mut_ptr().cast()),
        (jit::INFO_LOG_SIZE, number(LOG_SIZE)),
        (jit::ERROR_LOG, errors.as_mut_ptr().cast()),
        (jit::ERROR_LOG_SIZE, number(LOG_SIZE)),
    ];
    list.extend(options.optimization.map(|level| (jit::OPTIMIZATION_LEVEL, number(level as usize))));
    list.extend(options.max_registers.map(|count| (jit::MAX_REGISTERS, number(count as usize))));
    list.extend(options.debug_info.then(|| (jit::DEBUG_INFO, number(1))));
    list.extend(options.line_info.then(|| (jit::LINE_INFO, number(1))));
    let (mut keys, mut values): (Vec<u32>, Vec<*mut c_void>) = list.into_iter().unzip();
    let count = c_uint::try_from(keys.len()).unwrap_or(0);

    let mut module = CUmodule::default();
    // SAFETY: the symbol has the API's signature; the image is whole (`check`) and a NUL follows it; both lists
    // have `count` entries, and the log buffers the sizes told.
    let status = unsafe {
        (symbols.module_load)(&raw mut module, image.as_ptr().cast(), count, keys.as_mut_ptr(), values.as_mut_ptr())
    };
    let ignored = (!options.ignored.is_empty()).then(|| {
        format!("ignored build options, which mean nothing to the PTX compiler: {}", options.ignored.join(" "))
    });
    let parts = [ignored.unwrap_or_default(), text_of(&information), text_of(&errors)];
    request.log = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    check_status(symbols, "cuModuleLoadDataEx", status)?;
    Ok(module)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FATBIN: &[u8] = include_bytes!("../../../conformance/kernels/fatbin/saxpy.fatbin");
    const PTX: &[u8] = include_bytes!("../../../conformance/kernels/saxpy.ptx");

    /// The cubin inside the fat binary.
    fn cubin() -> Vec<u8> {
        let size = u64::from_le_bytes(FATBIN[0x18..0x20].try_into().unwrap());
        FATBIN[0x50..0x50 + usize::try_from(size).unwrap()].to_vec()
    }

    fn message(image: &[u8]) -> String {
        let error = check(image).expect_err("a broken image was accepted");
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_BINARY);
        error.message().to_owned()
    }

    fn patched(image: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut image = image.to_vec();
        image[at..at + bytes.len()].copy_from_slice(bytes);
        image
    }

    #[test]
    fn whole_images_of_all_three_formats_are_accepted() {
        check(FATBIN).unwrap();
        check(&cubin()).unwrap();
        check(PTX).unwrap();
        check(b"/* made by hand */ // twice\n\t.version 8.0\n.target sm_70\0\0").unwrap();
    }

    #[test]
    fn every_truncation_of_a_fat_binary_is_refused() {
        for length in 4..FATBIN.len() {
            assert!(message(&FATBIN[..length]).contains("fat binary"), "{length}");
        }
    }

    #[test]
    fn every_truncation_of_a_cubin_that_cuts_into_its_tables_or_sections_is_refused() {
        let cubin = cubin();
        let elf = Bytes(&cubin);
        // The used part ends with the last table or section; padding may follow.
        let table = |offset, size, count| {
            elf.u64(offset).unwrap() + u64::from(elf.u16(size).unwrap() * elf.u16(count).unwrap())
        };
        let used = table(32, 54, 56).max(table(40, 58, 60));
        for length in 4..usize::try_from(used).unwrap() {
            assert!(message(&cubin[..length]).contains("cubin"), "{length}");
        }
    }

    #[test]
    fn every_truncation_of_ptx_inside_a_parameter_list_or_body_is_refused() {
        let text = std::str::from_utf8(PTX).unwrap();
        let parameters = text.find('(').unwrap()..text.find("\n)").unwrap();
        let body = text.find('{').unwrap()..text.find("\n}").unwrap();
        assert!(parameters.end < body.start && body.len() > 100);
        for length in parameters.chain(body) {
            assert!(message(&PTX[..=length]).contains("PTX text"), "{length}");
        }
    }

    #[test]
    fn a_broken_header_is_named_with_its_offset() {
        let cubin = cubin();
        assert!(
            message(&patched(&cubin, 18, &62_u16.to_le_bytes())).contains("at byte 18, the machine is 62 and not 190")
        );
        assert!(message(&patched(&cubin, 4, &[1])).contains("at byte 4, it is not a 64-bit"));
        assert!(
            message(&patched(&cubin, 40, &u64::MAX.to_le_bytes())).contains("the section table reaches past the end")
        );
        assert!(message(&patched(&cubin, 40, &0_u64.to_le_bytes())).contains("at byte 40, it has no section table"));
        assert!(
            message(&patched(&cubin, 32, &u64::MAX.to_le_bytes())).contains("the program header table reaches past")
        );
        assert!(message(&patched(&cubin, 58, &[1, 0])).contains("a section header is shorter"));
        assert!(message(&patched(FATBIN, 6, &8_u16.to_le_bytes())).contains("at byte 6, the header says"));
        assert!(message(&patched(FATBIN, 8, &u64::MAX.to_le_bytes())).contains("at byte 8, the entries take"));
        assert!(message(&patched(FATBIN, 0x14, &1_u32.to_le_bytes())).contains("at byte 20, an entry's header"));
        assert!(message(&patched(FATBIN, 0x18, &u64::MAX.to_le_bytes())).contains("at byte 24, an entry of"));
        // The cubin inside is named by its place in the whole image.
        assert!(message(&patched(FATBIN, 0x50 + 18, &[62, 0])).contains("at byte 98, the machine is 62"));
        assert!(message(&patched(&FATBIN[..16], 8, &[0; 8])).contains("it holds no image"));
    }

    #[test]
    fn anything_else_is_refused_with_what_would_be_taken() {
        for image in [&b""[..], b"\0\0\0\0", b"BC\xC0\xDE", b"\x03\x02\x23\x07", b"hello", b".target sm_70"] {
            let text = message(image);
            assert!(text.contains("PTX's `.version` directive") && text.contains("compile for nvptx64"), "{text}");
        }
        let wrapper = [&WRAPPER_MAGIC.to_le_bytes()[..], &1_u32.to_le_bytes(), &[0; 16]].concat();
        assert!(message(&wrapper).contains("give the fat binary that it points to"));
        assert!(message(b".version").contains("has no number"));
        assert!(message(b".version 8.0\n/* open").contains("at byte 13, a comment opens"));
        assert!(message(b".version 8.0\n.file 1 \"a").contains("at byte 21, a string opens"));
        assert!(message(b".version 8.0\n}").contains("at byte 13, a `}` or `)` closes nothing"));
        assert!(message(b".version 8.0\0\n.target").contains("at byte 12, a NUL byte ends the text"));
        check(b".version 8.0 // {\n /* { */ .file 1 \"{\"").unwrap();
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn build_options_become_compiler_options_and_unknown_ones_are_kept_for_the_log() {
        let options =
            JitOptions::parse(&words("-O1 -g -lineinfo --maxrregcount=64 -cl-fast-relaxed-math -O3")).unwrap();
        let expected = JitOptions {
            optimization: Some(4),
            max_registers: Some(64),
            debug_info: true,
            line_info: true,
            ignored: vec!["-cl-fast-relaxed-math".to_owned()],
        };
        assert_eq!(options, expected);
        assert_eq!(JitOptions::parse(&words("-maxrregcount 32")).unwrap().max_registers, Some(32));
        assert_eq!(JitOptions::parse(&words("-cl-opt-disable")).unwrap().optimization, Some(0));
        assert_eq!(JitOptions::parse(&[]).unwrap(), JitOptions::default());
    }

    #[test]
    fn a_register_limit_without_its_number_is_refused() {
        for text in ["--maxrregcount=", "--maxrregcount=many", "-maxrregcount", "--maxrregcount=0"] {
            let error = JitOptions::parse(&words(text)).expect_err(text);
            assert_eq!(error.code(), ur_result_t::ERROR_INVALID_VALUE);
            assert!(error.message().contains("maxrregcount"), "{error}");
        }
    }

    #[test]
    fn a_log_ends_at_its_nul_and_a_full_one_at_its_end() {
        assert_eq!(text_of(b"warning\n\0rest"), "warning");
        assert_eq!(text_of(b"full"), "full");
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = check(&bytes);
        }

        #[test]
        fn any_damage_to_a_good_image_is_judged_without_a_panic(
            fat in any::<bool>(),
            damage in proptest::collection::vec((0_usize..1024, any::<u8>()), 1..16),
            length in 0_usize..12_000,
        ) {
            let mut image = if fat { FATBIN.to_vec() } else { cubin() };
            for (at, byte) in damage {
                if let Some(old) = image.get_mut(at) {
                    *old = byte;
                }
            }
            image.truncate(length);
            let _ = check(&image);
        }
    }
}
