//! PTX text: comments, strings, bodies and parameter lists that open are closed again.

use crate::object::error::Result;
use crate::program::device_image::{invalid, unknown};

/// PTX text: `.version` as the first directive, and every comment, string, body and parameter list that opens closed
/// again.
pub(super) fn check(image: &[u8]) -> Result<()> {
    const FORMAT: &str = "PTX text";
    // Images often count a terminating NUL, or padding, as theirs.
    let length = image.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let text = &image[..length];
    let mut scan = Scan { text, at: 0, depth: 0, first: None };
    let unclosed = scan.run();
    let first = scan.first.unwrap_or(length);
    if !text[first..].starts_with(b".version") {
        return Err(unknown(
            first as u64,
            "neither PTX's `.version` directive nor the first word of a cubin (ELF) or a fat binary",
            "compile for nvptx64 or give one of these three",
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
pub(super) fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(what.len()).position(|window| window == what).map(|at| from + at)
}
