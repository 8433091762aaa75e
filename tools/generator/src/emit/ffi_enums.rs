//! Bindings: enumerations as integer newtypes, flag sets as bitflags, each with the values of all releases.

use std::fmt::Write;

use crate::emit::rust;
use crate::model::{Enum, Enumerator, Release};
use crate::names;

/// The content of `enums.rs`.
pub fn enums(union: &Release) -> String {
    let mut out = String::new();
    union.enums.iter().filter(|item| !item.flags).for_each(|item| enumeration(&mut out, item));
    out
}

fn enumeration(out: &mut String, item: &Enum) {
    let name = &item.name;
    let _ = write!(
        out,
        "{}#[repr(transparent)]\n#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(pub u32);\n\nimpl {name} {{\n",
        rust::doc("", &item.doc)
    );
    for value in &item.values {
        let constant = names::constant(name, &value.name);
        let _ = writeln!(out, "{}    pub const {constant}: Self = Self({});", value_doc(value), number(value.value));
    }
    out.push_str("\n    /// Every value that has a name, in order; a second name of the same value is left out.\n    pub const VALUES: &[Self] = &[\n");
    for value in item.distinct() {
        let _ = writeln!(out, "        Self::{},", names::constant(name, &value.name));
    }
    out.push_str("    ];\n\n    /// The name that C has for this value.\n    #[must_use]\n    pub const fn name(self) -> Option<&'static str> {\n        match self {\n");
    for value in item.distinct() {
        let _ = writeln!(out, "            Self::{} => Some(\"{}\"),", names::constant(name, &value.name), value.name);
    }
    out.push_str("            _ => None,\n        }\n    }\n}\n\n");
    let _ = write!(
        out,
        "impl core::fmt::Debug for {name} {{\n    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {{\n        crate::newtype::fmt_enum(\"{name}\", self.name(), self.0, f)\n    }}\n}}\n\n"
    );
}

fn value_doc(value: &Enumerator) -> String {
    let deprecated = if value.deprecated { " Deprecated." } else { "" };
    rust::doc("    ", &format!("{}{deprecated}", value.doc))
}

fn number(value: u32) -> String {
    if value >= 0x1000 { format!("{value:#x}") } else { value.to_string() }
}

/// The content of `flags.rs`.
pub fn flags(union: &Release) -> String {
    let mut out = String::new();
    union.enums.iter().filter(|item| item.flags).for_each(|item| flag_set(&mut out, item));
    out
}

fn flag_set(out: &mut String, item: &Enum) {
    let name = names::flags_typedef(&item.name);
    out.push_str("bitflags::bitflags! {\n");
    out.push_str(&rust::doc("    ", &item.doc));
    let _ = write!(
        out,
        "    #[repr(transparent)]\n    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]\n    pub struct {name}: u32 {{\n"
    );
    for value in &item.values {
        let constant = names::constant(&item.name, &value.name);
        let _ = writeln!(out, "{}        const {constant} = {};", rust::doc("        ", &value.doc), bit(value.value));
    }
    out.push_str("        // Bits that a newer release may name are kept, not cut off.\n");
    out.push_str("        const _ = !0;\n    }\n}\n\n");
    let _ = writeln!(out, "impl {name} {{");
    out.push_str("    /// Each flag with the name that C has for it.\n");
    out.push_str("    pub const C_NAMES: &[(&'static str, u32)] = &[\n");
    for value in &item.values {
        let _ = writeln!(out, "        (\"{}\", {}),", value.name, bit(value.value));
    }
    out.push_str("    ];\n}\n\n");
    let _ = write!(
        out,
        "/// All bits that mean nothing in [`{name}`], in any release.\npub const {}: u32 = {:#010x};\n\n",
        names::flags_mask(&item.name),
        item.mask()
    );
}

fn bit(value: u32) -> String {
    format!("1 << {}", value.trailing_zeros())
}
