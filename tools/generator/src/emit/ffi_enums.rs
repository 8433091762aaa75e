//! Bindings: enumerations as integer newtypes, flag sets as bitflags.

use std::fmt::Write;

use crate::across::{Entry, across, across_lists, cfg, everywhere, push_variants};
use crate::emit::rust;
use crate::model::{Enum, Enumerator, Model};
use crate::names;

/// The content of `enums.rs`.
pub fn enums(model: &Model) -> String {
    let mut out = String::new();
    for entry in across(model, |r| &r.enums, |item| &item.name) {
        if !entry.latest().1.flags {
            enumeration(&mut out, model, &entry);
        }
    }
    out
}

fn values<'m>(model: &'m Model, entry: &Entry<'m, Enum>) -> Vec<Entry<'m, Enumerator>> {
    let lists = entry.per_release.iter().map(|found| found.map(|(_, e)| e.values.as_slice()));
    across_lists(model, lists.collect(), |value| &value.name)
}

fn enumeration(out: &mut String, model: &Model, entry: &Entry<'_, Enum>) {
    let name = &entry.name;
    let context = entry.presence();
    let condition = match cfg(model, &context, &everywhere(model)) {
        line if line.is_empty() => line,
        line => line + "\n",
    };
    rust::push_item(out, model, entry, |_, item| {
        format!(
            "{}#[repr(transparent)]\n#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(pub u32);\n\n",
            rust::doc("", &item.doc)
        )
    });
    let values = values(model, entry);
    let _ = writeln!(out, "{condition}impl {name} {{");
    for value in &values {
        let text = value.render(|_, value| {
            let constant = names::constant(name, &value.name);
            let number = number(value.value);
            format!("{}    pub const {constant}: Self = Self({number});\n", value_doc(value))
        });
        push_variants(out, model, "    ", &context, &text);
    }
    values_list(out, model, entry, &values);
    name_of(out, model, entry, &values);
    out.push_str("}\n\n");
    let _ = write!(
        out,
        "{condition}impl core::fmt::Debug for {name} {{\n    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {{\n        crate::newtype::fmt_enum(\"{name}\", self.name(), self.0, f)\n    }}\n}}\n\n"
    );
}

fn value_doc(value: &Enumerator) -> String {
    let deprecated = if value.deprecated { " Deprecated." } else { "" };
    rust::doc("    ", &format!("{}{deprecated}", value.doc))
}

fn number(value: u32) -> String {
    if value >= 0x1000 { format!("{value:#x}") } else { value.to_string() }
}

/// Whether an enumerator is the first of its release with its value.
fn is_first(entry: &Entry<'_, Enum>, value: &Enumerator) -> bool {
    let mut releases = entry.per_release.iter().flatten();
    !releases.any(|(_, item)| {
        item.values.iter().any(|own| own.name == value.name) && !item.distinct().any(|own| own.name == value.name)
    })
}

/// The list of values: one for all releases, or one each where a moved value would stand out of order.
fn values_list(out: &mut String, model: &Model, entry: &Entry<'_, Enum>, values: &[Entry<'_, Enumerator>]) {
    let head = "    /// Every value that has a name, in order; a second name of the same value is left out.\n    pub const VALUES: &[Self] = &[\n";
    let context = entry.presence();
    out.push('\n');
    if in_order(entry, values) {
        out.push_str(head);
        for value in values.iter().filter(|value| is_first(entry, value.latest().1)) {
            let text = value.render(|_, value| list_element(&entry.name, value));
            push_variants(out, model, "        ", &context, &text);
        }
        out.push_str("    ];\n\n");
    } else {
        let lists = entry.render(|_, item| {
            let elements: String = item.distinct().map(|value| list_element(&item.name, value)).collect();
            format!("{head}{elements}    ];\n\n")
        });
        push_variants(out, model, "    ", &context, &lists);
    }
}

fn list_element(name: &str, value: &Enumerator) -> String {
    format!("        Self::{},\n", names::constant(name, &value.name))
}

/// Whether the common order is every release's own.
fn in_order(entry: &Entry<'_, Enum>, values: &[Entry<'_, Enumerator>]) -> bool {
    (0..entry.per_release.len()).all(|release| {
        let own = values.iter().filter_map(|value| value.per_release[release]);
        own.map(|(_, value)| value.value).is_sorted()
    })
}

fn name_of(out: &mut String, model: &Model, entry: &Entry<'_, Enum>, values: &[Entry<'_, Enumerator>]) {
    out.push_str("    /// The name that C has for this value.\n");
    out.push_str("    #[must_use]\n    pub const fn name(self) -> Option<&'static str> {\n");
    out.push_str("        match self {\n");
    for value in values.iter().filter(|value| is_first(entry, value.latest().1)) {
        let text = value.render(|_, value| {
            let constant = names::constant(&entry.name, &value.name);
            format!("            Self::{constant} => Some(\"{}\"),\n", value.name)
        });
        push_variants(out, model, "            ", &entry.presence(), &text);
    }
    out.push_str("            _ => None,\n        }\n    }\n");
}

/// The content of `flags.rs`.
pub fn flags(model: &Model) -> String {
    let mut out = String::new();
    for entry in across(model, |r| &r.enums, |item| &item.name) {
        if entry.latest().1.flags {
            flag_set(&mut out, model, &entry);
        }
    }
    out
}

fn flag_set(out: &mut String, model: &Model, entry: &Entry<'_, Enum>) {
    let name = names::flags_typedef(&entry.name);
    let context = entry.presence();
    let condition = cfg(model, &context, &everywhere(model));
    let condition = if condition.is_empty() { condition } else { condition + "\n" };
    let values = values(model, entry);
    let _ = writeln!(out, "{condition}bitflags::bitflags! {{");
    out.push_str(&rust::doc("    ", &entry.latest().1.doc));
    let _ = write!(
        out,
        "    #[repr(transparent)]\n    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]\n    pub struct {name}: u32 {{\n"
    );
    for value in &values {
        let text = value.render(|_, value| {
            let constant = names::constant(&entry.name, &value.name);
            let doc = rust::doc("        ", &value.doc);
            format!("{doc}        const {constant} = {};\n", bit(value.value))
        });
        push_variants(out, model, "        ", &context, &text);
    }
    out.push_str("        // Bits that a newer release may name are kept, not cut off.\n");
    out.push_str("        const _ = !0;\n    }\n}\n\n");
    let _ = writeln!(out, "{condition}impl {name} {{");
    out.push_str("    /// Each flag with the name that C has for it.\n");
    out.push_str("    pub const C_NAMES: &[(&'static str, u32)] = &[\n");
    for value in &values {
        let text = value.render(|_, value| format!("        (\"{}\", {}),\n", value.name, bit(value.value)));
        push_variants(out, model, "        ", &context, &text);
    }
    out.push_str("    ];\n}\n\n");
    rust::push_item(out, model, entry, |_, item| {
        format!(
            "/// All bits that mean nothing in [`{name}`].\npub const {}: u32 = {:#010x};\n\n",
            names::flags_mask(&item.name),
            item.mask()
        )
    });
}

fn bit(value: u32) -> String {
    format!("1 << {}", value.trailing_zeros())
}
