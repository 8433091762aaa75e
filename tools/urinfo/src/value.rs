//! A query's bytes as the API types them, for people and as JSON. A size that does not fit the type is shown as it is:
//! what an adapter answers wrongly must be seen, not hidden.

use serde_json::{Value, json};
use ur_client::Answer;
use ur_client::ffi::value::{Count, Element, ValueType};

/// For people.
pub fn text(ty: &ValueType, answer: &Answer) -> String {
    show(&json(ty, answer))
}

fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "(none)".to_owned(),
        Value::Array(values) => values.iter().map(show).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// As JSON: numbers, names, lists of them, and bytes as hexadecimal text.
pub fn json(ty: &ValueType, answer: &Answer) -> Value {
    let bytes = answer.0.as_slice();
    let size = ty.element.size();
    let fits = match ty.count {
        Count::Text => return Value::String(answer.text()),
        // A boolean of four bytes is a common slip, and harmless.
        Count::One if matches!(ty.element, Element::Bool) => return Value::Bool(answer.bool()),
        Count::One => bytes.len() == size,
        Count::Fixed(count) => bytes.len() == size * count,
        Count::Many => size > 0 && bytes.len().is_multiple_of(size),
    };
    if !fits {
        return Value::String(format!("{} bytes, not a {}: {}", bytes.len(), ty.c_name, hexadecimal(bytes)));
    }
    match ty.count {
        Count::One => element(ty.element, bytes),
        _ if matches!(ty.element, Element::U8) => Value::String(hexadecimal(bytes)),
        _ => bytes.chunks_exact(size.max(1)).map(|chunk| element(ty.element, chunk)).collect(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One element of exactly its size.
fn element(element: Element, bytes: &[u8]) -> Value {
    let wide = || bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    let narrow = || wide() as u32;
    match element {
        Element::U8 | Element::U16 | Element::U32 | Element::U64 | Element::Size => json!(wide()),
        Element::I32 => json!(narrow().cast_signed()),
        Element::I64 => json!(wide().cast_signed()),
        Element::F32 => json!(f32::from_bits(narrow())),
        Element::Bool => json!(wide() != 0),
        Element::Enum(name) => json!(name(narrow()).map_or_else(|| format!("{:#x}", narrow()), str::to_owned)),
        Element::Flags(names) => flags(names, narrow()),
        Element::Handle | Element::Pointer => json!(format!("{:#x}", wide())),
        Element::Struct { .. } => json!(hexadecimal(bytes)),
    }
}

/// The names of the bits that are set; bits without a name as a number.
fn flags(names: &[(&str, u32)], mut bits: u32) -> Value {
    let mut set = Vec::new();
    for &(name, bit) in names {
        if bit != 0 && bits & bit == bit {
            set.push(json!(name));
            bits &= !bit;
        }
    }
    if bits != 0 {
        set.push(json!(format!("{bits:#x}")));
    }
    Value::Array(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(element: Element, count: Count) -> ValueType {
        ValueType { c_name: "test_t", element, count }
    }

    fn shown(element: Element, count: Count, bytes: &[u8]) -> String {
        text(&ty(element, count), &Answer(bytes.to_vec()))
    }

    #[test]
    fn numbers_are_read_in_their_type() {
        assert_eq!(shown(Element::U32, Count::One, &7u32.to_le_bytes()), "7");
        assert_eq!(shown(Element::U64, Count::One, &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(shown(Element::I32, Count::One, &(-5i32).to_le_bytes()), "-5");
        assert_eq!(shown(Element::F32, Count::One, &1.5f32.to_le_bytes()), "1.5");
        assert_eq!(shown(Element::Bool, Count::One, &[1, 0, 0, 0]), "true");
    }

    #[test]
    fn lists_text_and_bytes_are_told_apart() {
        let sizes: Vec<u8> = [1024usize, 64].iter().flat_map(|size| size.to_le_bytes()).collect();
        assert_eq!(shown(Element::Size, Count::Many, &sizes), "1024, 64");
        assert_eq!(shown(Element::Size, Count::Many, &[]), "(none)");
        assert_eq!(shown(Element::U8, Count::Text, b"a b\0"), "a b");
        assert_eq!(shown(Element::U8, Count::Fixed(3), &[0, 0xab, 1]), "00ab01");
    }

    #[test]
    fn names_are_given_where_there_are_names() {
        let name = Element::Enum(|value| (value == 3).then_some("THREE"));
        assert_eq!(shown(name, Count::One, &3u32.to_le_bytes()), "THREE");
        assert_eq!(shown(name, Count::One, &0x1fu32.to_le_bytes()), "0x1f");
        let flags = Element::Flags(&[("A", 1), ("B", 4)]);
        assert_eq!(shown(flags, Count::One, &5u32.to_le_bytes()), "A, B");
        assert_eq!(shown(flags, Count::One, &0x104u32.to_le_bytes()), "B, 0x100");
        assert_eq!(shown(flags, Count::One, &0u32.to_le_bytes()), "(none)");
    }

    #[test]
    fn a_wrong_size_is_shown_and_not_guessed_at() {
        assert_eq!(shown(Element::U64, Count::One, &[1, 2]), "2 bytes, not a test_t: 0102");
        assert_eq!(shown(Element::U32, Count::Fixed(2), &[0; 4]), "4 bytes, not a test_t: 00000000");
    }
}
