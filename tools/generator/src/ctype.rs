//! C types as the specification writes them: `[const] base [*…] [\[n\]]`, nothing more.
//!
//! Only the shape is known here; what a base name stands for is the model's business.

use std::fmt;

/// The array part of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    /// No array.
    None,
    /// `[n]`.
    Fixed(usize),
    /// `[]`: as many as there are.
    Open,
}

/// A parsed C type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CType {
    /// The name at the core of the type.
    pub base: String,
    /// Whether that core is `const`.
    pub constant: bool,
    /// How many `*` follow it.
    pub pointers: usize,
    /// The array part.
    pub array: Array,
}

impl CType {
    /// Parses a type, or says what cannot be read.
    pub fn parse(text: &str) -> Result<CType, String> {
        let (rest, array) = match text.split_once('[') {
            None => (text, Array::None),
            Some((rest, bound)) => {
                let bound = bound.strip_suffix(']').ok_or_else(|| format!("type `{text}` has `[` without `]`"))?;
                let array = if bound.is_empty() {
                    Array::Open
                } else {
                    Array::Fixed(
                        bound.parse().map_err(|_| format!("type `{text}` has an array bound that is not a number"))?,
                    )
                };
                (rest, array)
            }
        };
        let pointers = rest.matches('*').count();
        let mut core = rest.trim();
        for _ in 0..pointers {
            core = core
                .strip_suffix('*')
                .ok_or_else(|| format!("type `{text}` is not of the form `[const] name [*...] [[n]]`"))?
                .trim_end();
        }
        let (constant, base) = match core.strip_prefix("const ") {
            Some(base) => (true, base.trim()),
            None => (false, core),
        };
        let well_formed = !base.is_empty()
            && (base == "unsigned char" || base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if !well_formed {
            return Err(format!("type `{text}` is not of the form `[const] name [*...] [[n]]`"));
        }
        Ok(CType { base: base.to_owned(), constant, pointers, array })
    }

    /// A plain named type.
    pub fn named(base: &str) -> CType {
        CType { base: base.to_owned(), constant: false, pointers: 0, array: Array::None }
    }

    /// Whether this is a pointer.
    pub fn is_pointer(&self) -> bool {
        self.pointers > 0
    }

    /// The type of a pointer to a variable of this type.
    pub fn pointer_to(&self) -> CType {
        CType { pointers: self.pointers + 1, ..self.clone() }
    }

    /// A C declaration of `name` with this type.
    pub fn declare(&self, name: &str) -> String {
        let constant = if self.constant { "const " } else { "" };
        let stars = "*".repeat(self.pointers);
        let array = match self.array {
            Array::None => String::new(),
            Array::Fixed(n) => format!("[{n}]"),
            Array::Open => "[]".to_owned(),
        };
        format!("{constant}{} {stars}{name}{array}", self.base)
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = if self.constant { "const " } else { "" };
        let space = if self.pointers > 0 { " " } else { "" };
        write!(f, "{constant}{}{space}{}", self.base, "*".repeat(self.pointers))?;
        match self.array {
            Array::None => Ok(()),
            Array::Fixed(n) => write!(f, "[{n}]"),
            Array::Open => f.write_str("[]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_written_form_survives_a_round_trip() {
        for text in [
            "uint32_t",
            "const size_t",
            "void *",
            "void **",
            "const char **",
            "const ur_device_handle_t *",
            "uint32_t[3]",
            "char[]",
            "unsigned char *[]",
        ] {
            assert_eq!(CType::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_type_is_refused_by_name() {
        for text in ["", "*", "uint32_t[x]", "uint32_t[3", "a b", "void * const *"] {
            let message = CType::parse(text).unwrap_err();
            assert!(message.contains(text), "{message}");
        }
    }

    #[test]
    fn a_pointer_to_a_constant_points_to_constant() {
        let size = CType::parse("const size_t").unwrap();
        assert_eq!(size.pointer_to().to_string(), "const size_t *");
        let text = CType::parse("const char *").unwrap();
        assert_eq!(text.pointer_to().to_string(), "const char **");
    }
}
