//! `vprintf` and `__assertfail`: what the device provides to kernels instead of a C library.

use super::memory::{Problem, View, lanes};
use super::op::Call;

/// The longest string that is read from a kernel.
const MAX_STRING: u64 = 8192;

/// An argument of the call, as an integer.
fn argument(view: &View<'_>, call: &Call, frame: u64, lane: usize, index: usize) -> u64 {
    let Some(&(offset, size)) = call.arguments.get(index) else { return 0 };
    let mut bytes = [0; 8];
    let Some(pointer) = view.local_bytes(lane, frame + offset, size) else { return 0 };
    for (k, byte) in bytes.iter_mut().enumerate().take(size.min(8) as usize) {
        // SAFETY: `local_bytes` answered a pointer to `size` bytes, and no one else has this lane's memory.
        *byte = unsafe { pointer.add(k).read() };
    }
    u64::from_le_bytes(bytes)
}

fn string(view: &mut View<'_>, address: u64, lane: usize) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::new();
    if address == 0 {
        return Ok(b"(null)".to_vec());
    }
    for k in 0..MAX_STRING {
        match view.byte(address.wrapping_add(k), lane)? {
            0 => break,
            b => out.push(b),
        }
    }
    Ok(out)
}

/// Formats and writes for each lane, and returns what `printf` returns.
pub(super) fn print(
    view: &mut View<'_>,
    call: &Call,
    frame: u64,
    mask: u32,
    output: &dyn Fn(&str),
) -> Result<(), Problem> {
    for lane in lanes(mask) {
        let format = argument(view, call, frame, lane, 0);
        let arguments = argument(view, call, frame, lane, 1);
        let format = string(view, format, lane)?;
        let mut values = Values { view, at: arguments, lane };
        let (text, count) = format_text(&format, &mut values)?;
        output(&text);
        if let Some(&(offset, size)) = call.results.first()
            && let Some(to) = view.local_bytes(lane, frame + offset, size)
        {
            for (k, byte) in (count as u64).to_le_bytes().into_iter().enumerate().take(size.min(8) as usize) {
                // SAFETY: `local_bytes` answered a pointer to `size` bytes, and no one else has this lane's memory.
                unsafe { to.add(k).write(byte) };
            }
        }
    }
    Ok(())
}

/// What a failed assertion says.
pub(super) fn assertion(view: &mut View<'_>, call: &Call, frame: u64, lane: usize) -> String {
    let text = |view: &mut View<'_>, index: usize| {
        let address = argument(view, call, frame, lane, index);
        string(view, address, lane).map_or_else(|_| "?".into(), |s| String::from_utf8_lossy(&s).into_owned())
    };
    let (expression, file, function) = (text(view, 0), text(view, 1), text(view, 3));
    let line = argument(view, call, frame, lane, 2) as u32;
    format!("{file}:{line}: {function}: Assertion `{expression}` failed")
}

/// The arguments behind the format, one after the other.
struct Values<'v, 'a> {
    view: &'v mut View<'a>,
    at: u64,
    lane: usize,
}

impl Values<'_, '_> {
    fn next(&mut self, size: u64) -> Result<u64, Problem> {
        self.at = self.at.wrapping_add(size - 1) & !(size - 1);
        let mut bytes = [0; 8];
        for (k, byte) in bytes.iter_mut().enumerate().take(size as usize) {
            *byte = self.view.byte(self.at.wrapping_add(k as u64), self.lane)?;
        }
        self.at = self.at.wrapping_add(size);
        Ok(u64::from_le_bytes(bytes))
    }
}

/// A conversion's flags, width and precision.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// The text, and how many arguments it took.
fn format_text(format: &[u8], values: &mut Values<'_, '_>) -> Result<(String, u32), Problem> {
    let (mut out, mut count, mut i) = (Vec::new(), 0, 0);
    while i < format.len() {
        if format[i] != b'%' {
            out.push(format[i]);
            i += 1;
            continue;
        }
        i += 1;
        let mut spec = Spec::default();
        while let Some(&b) = format.get(i) {
            match b {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            i += 1;
        }
        spec.width = number(format, &mut i, values, &mut count)?.unwrap_or(0).min(4096);
        if format.get(i) == Some(&b'.') {
            i += 1;
            spec.precision = Some(number(format, &mut i, values, &mut count)?.unwrap_or(0).min(4096));
        }
        while let Some(&b @ (b'l' | b'h' | b'z' | b'j' | b't' | b'q')) = format.get(i) {
            spec.long |= b != b'h';
            i += 1;
        }
        let Some(&conversion) = format.get(i) else { break };
        i += 1;
        if conversion == b'%' {
            out.push(b'%');
            continue;
        }
        count += 1;
        convert(conversion, &spec, values, &mut out)?;
    }
    Ok((String::from_utf8_lossy(&out).into_owned(), count))
}

/// Digits, or `*` and an argument.
fn number(
    format: &[u8],
    i: &mut usize,
    values: &mut Values<'_, '_>,
    count: &mut u32,
) -> Result<Option<usize>, Problem> {
    if format.get(*i) == Some(&b'*') {
        *i += 1;
        *count += 1;
        return Ok(Some((values.next(4)? as i32).max(0) as usize));
    }
    let mut out = None;
    while let Some(b) = format.get(*i).filter(|b| b.is_ascii_digit()) {
        out = Some((out.unwrap_or(0) * 10 + usize::from(b - b'0')).min(4096));
        *i += 1;
    }
    Ok(out)
}

fn convert(conversion: u8, spec: &Spec, values: &mut Values<'_, '_>, out: &mut Vec<u8>) -> Result<(), Problem> {
    let size = if spec.long { 8 } else { 4 };
    let (sign, body) = match conversion {
        b'd' | b'i' => {
            let raw = values.next(size)?;
            let value = if spec.long { raw as i64 } else { i64::from(raw as i32) };
            (sign(value < 0, spec), digits(value.unsigned_abs().to_string(), spec))
        }
        b'u' => (String::new(), digits(values.next(size)?.to_string(), spec)),
        b'x' => (prefix("0x", spec), digits(format!("{:x}", values.next(size)?), spec)),
        b'X' => (prefix("0X", spec), digits(format!("{:X}", values.next(size)?), spec)),
        b'o' => (prefix("0", spec), digits(format!("{:o}", values.next(size)?), spec)),
        b'p' => ("0x".into(), format!("{:x}", values.next(8)?)),
        b'c' => (String::new(), char::from(values.next(4)? as u8).to_string()),
        b's' => {
            let address = values.next(8)?;
            let mut text = string(values.view, address, values.lane)?;
            text.truncate(spec.precision.unwrap_or(usize::MAX));
            (String::new(), String::from_utf8_lossy(&text).into_owned())
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(values.next(8)?);
            (sign(value.is_sign_negative(), spec), float(value.abs(), conversion, spec))
        }
        other => (String::new(), format!("%{}", char::from(other))),
    };
    let fill = spec.width.saturating_sub(sign.len() + body.chars().count());
    let zeros = spec.zero && !spec.left && !matches!(conversion, b's' | b'c');
    if !spec.left && !zeros {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(sign.as_bytes());
    if zeros {
        out.resize(out.len() + fill, b'0');
    }
    out.extend_from_slice(body.as_bytes());
    if spec.left {
        out.resize(out.len() + fill, b' ');
    }
    Ok(())
}

fn sign(negative: bool, spec: &Spec) -> String {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
    .into()
}

fn prefix(text: &str, spec: &Spec) -> String {
    if spec.alternate { text.into() } else { String::new() }
}

fn digits(text: String, spec: &Spec) -> String {
    let width = spec.precision.unwrap_or(1);
    format!("{text:0>width$}")
}

fn float(value: f64, conversion: u8, spec: &Spec) -> String {
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text.into() };
    }
    let precision = spec.precision.unwrap_or(6);
    let text = match conversion.to_ascii_lowercase() {
        b'f' => format!("{value:.precision$}"),
        b'e' => exponential(value, precision),
        b'g' => {
            let precision = precision.max(1);
            let scientific = exponential(value, precision - 1);
            let exponent: i32 = scientific.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
            let text = if exponent < -4 || exponent >= precision as i32 {
                scientific
            } else {
                let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
                format!("{value:.decimals$}")
            };
            if spec.alternate { text } else { trim(&text) }
        }
        _ => hexadecimal(value),
    };
    if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text }
}

/// C writes at least two digits of exponent and always its sign.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Without trailing zeros of the fraction.
fn trim(text: &str) -> String {
    let (mantissa, exponent) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}{exponent}")
}

fn hexadecimal(value: f64) -> String {
    if value == 0.0 {
        return "0x0p+0".into();
    }
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (lead, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}
