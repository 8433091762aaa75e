//! Taking functions away from a copy of a shared library, which then is what an older or a broken one would be. Nothing
//! else about the file changes: the library's own calls of these functions still find them.

/// The type of the section of dynamic symbols.
const DYNAMIC_SYMBOLS: usize = 11;
/// Bytes of a symbol, and where in it the visibility is.
const SYMBOL: usize = 24;
const VISIBILITY: usize = 5;
/// The linker passes such symbols over when another object asks for them.
const HIDDEN: u8 = 2;

fn number<const N: usize>(file: &[u8], at: usize) -> [u8; N] {
    file[at..at + N].try_into().expect("as many bytes as were cut out")
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(number(file, at)) as usize
}

fn long(file: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(number(file, at))).expect("a place in a file")
}

fn half(file: &[u8], at: usize) -> usize {
    u16::from_le_bytes(number(file, at)).into()
}

/// Hides every dynamic symbol of a 64-bit little-endian ELF file that the test picks; gives how many.
///
/// # Panics
/// When the file is no such library.
pub fn hide(library: &mut [u8], mut picks: impl FnMut(&str) -> bool) -> usize {
    assert_eq!(library[..6], *b"\x7fELF\x02\x01", "a 64-bit little-endian ELF file");
    let (sections, size, count) = (long(library, 0x28), half(library, 0x3a), half(library, 0x3c));
    let header = |index: usize| sections + index * size;
    let symbols = (0..count).map(header).find(|&at| word(library, at + 4) == DYNAMIC_SYMBOLS);
    let symbols = symbols.expect("a library has dynamic symbols");
    let names = long(library, header(word(library, symbols + 0x28)) + 0x18);
    let (start, bytes) = (long(library, symbols + 0x18), long(library, symbols + 0x20));
    let mut hidden = 0;
    for symbol in (start..start + bytes).step_by(SYMBOL) {
        let name = names + word(library, symbol);
        let length = library[name..].iter().position(|&byte| byte == 0).unwrap_or(0);
        let defined = half(library, symbol + 6) != 0;
        if defined && str::from_utf8(&library[name..name + length]).is_ok_and(&mut picks) {
            library[symbol + VISIBILITY] = HIDDEN;
            hidden += 1;
        }
    }
    hidden
}
