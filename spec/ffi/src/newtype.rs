//! How an enumeration's value is shown; shared by all of them.

use core::fmt;

/// Writes C's name of the value, or the type with the number where there is no name.
pub(crate) fn fmt_enum(ty: &str, name: Option<&'static str>, value: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match name {
        Some(name) => f.write_str(name),
        None => write!(f, "{ty}({value:#x})"),
    }
}
