//! The reference manual's sections on types: handles, other names, constants, enumerations, structures.

use std::fmt::Write;

use crate::across::{Entry, across, across_lists};
use crate::emit::manual::{cell, code_cell, only, releases_of};
use crate::model::{Enum, Enumerator, Model, Struct};
use crate::names;

/// Handles, names of other types and constants of one page.
pub fn simple(out: &mut String, model: &Model, file: &str) {
    let mut rows = String::new();
    for entry in across(model, |r| &r.handles, |item| &item.name) {
        let (_, item) = entry.latest();
        if item.file == file {
            let remark = only(model, &entry.presence());
            let _ = writeln!(rows, "| `{}` | {} {remark} |", item.name, cell(&item.doc));
        }
    }
    section(out, "Handles", "| handle | |\n|---|---|\n", &rows);
    rows.clear();
    for entry in across(model, |r| &r.typedefs, |item| &item.name) {
        let (_, item) = entry.latest();
        if item.file == file {
            let remark = only(model, &entry.presence());
            let _ = writeln!(rows, "| `{}` | `{}` | {} {remark} |", item.name, item.ty, cell(&item.doc));
        }
    }
    section(out, "Names of other types", "| name | is | |\n|---|---|---|\n", &rows);
    rows.clear();
    for entry in across(model, |r| &r.defines, |item| &item.name) {
        let (_, item) = entry.latest();
        if item.file == file {
            let remark = only(model, &entry.presence());
            let _ = writeln!(
                rows,
                "| `{}` | {} | {} {remark} |",
                item.name,
                code_cell(&format!("{:?}", item.value)),
                cell(&item.doc)
            );
        }
    }
    section(out, "Constants", "| constant | value | |\n|---|---|---|\n", &rows);
}

fn section(out: &mut String, title: &str, head: &str, rows: &str) {
    if !rows.is_empty() {
        let _ = write!(out, "## {title}\n\n{head}{rows}\n");
    }
}

/// Enumerations and flag sets of one page.
pub fn enums(out: &mut String, model: &Model, file: &str) {
    let mut text = String::new();
    for entry in across(model, |r| &r.enums, |item| &item.name) {
        if entry.latest().1.file == file {
            enumeration(&mut text, model, &entry);
        }
    }
    if !text.is_empty() {
        let _ = write!(out, "## Enumerations and flags\n\n{text}");
    }
}

fn enumeration(out: &mut String, model: &Model, entry: &Entry<'_, Enum>) {
    let (_, item) = entry.latest();
    let _ = write!(out, "### `{}`\n\n{}\n\n", item.name, item.doc);
    let remark = only(model, &entry.presence());
    if !remark.is_empty() {
        let _ = write!(out, "{remark}\n\n");
    }
    if item.flags {
        let masks = entry.render(|_, item| format!("`{:#010x}`", item.mask()));
        let masks: Vec<String> = masks
            .iter()
            .map(|mask| match only(model, &mask.releases) {
                remark if remark.is_empty() || masks.len() == 1 => mask.text.clone(),
                _ => format!("{} in {}", mask.text, releases_of(model, &mask.releases)),
            })
            .collect();
        let _ = write!(
            out,
            "Combined in a `{}`; `{}` is {}.\n\n",
            names::flags_typedef(&item.name),
            names::flags_mask(&item.name),
            masks.join(", ")
        );
    }
    let lists = entry.per_release.iter().map(|found| found.map(|(_, e)| e.values.as_slice()));
    let values = across_lists(model, lists.collect(), |value| &value.name);
    let typed = values.iter().any(|value| value.latest().1.value_type.is_some());
    out.push_str(if typed {
        "| name | value | answer | |\n|---|---|---|---|\n"
    } else {
        "| name | value | |\n|---|---|---|\n"
    });
    for value in &values {
        enumerator(out, model, &entry.presence(), item.flags, typed, value);
    }
    out.push('\n');
}

fn enumerator(
    out: &mut String,
    model: &Model,
    context: &[bool],
    flags: bool,
    typed: bool,
    entry: &Entry<'_, Enumerator>,
) {
    let (_, value) = entry.latest();
    let numbers = entry.render(|_, value| match value.value {
        number if flags || number >= 0x1000 => format!("{number:#x}"),
        number => number.to_string(),
    });
    let numbers: Vec<String> = numbers
        .iter()
        .map(|number| {
            if numbers.len() == 1 {
                number.text.clone()
            } else {
                format!("{} in {}", number.text, releases_of(model, &number.releases))
            }
        })
        .collect();
    let answer = match (&value.value_type, typed) {
        (Some(ty), _) => format!(" {} |", code_cell(&ty.to_string())),
        (None, true) => " |".to_owned(),
        (None, false) => String::new(),
    };
    let mut remarks = String::new();
    if value.optional {
        remarks.push_str(" An adapter may not know it.");
    }
    if value.deprecated {
        remarks.push_str(" Deprecated.");
    }
    if entry.presence() != context {
        let _ = write!(remarks, " {}", only(model, &entry.presence()));
    }
    let _ = writeln!(out, "| `{}` | {} |{answer} {}{remarks} |", value.name, numbers.join(", "), cell(&value.doc));
}

/// Structures and unions of one page.
pub fn structs(out: &mut String, model: &Model, file: &str) {
    let mut text = String::new();
    for entry in across(model, |r| &r.structs, |item| &item.name) {
        if entry.latest().1.file == file {
            structure(&mut text, model, &entry, "struct");
        }
    }
    for entry in across(model, |r| &r.unions, |item| &item.name) {
        if entry.latest().1.file == file {
            structure(&mut text, model, &entry, "union");
        }
    }
    if !text.is_empty() {
        let _ = write!(out, "## Structures\n\n{text}");
    }
}

fn structure(out: &mut String, model: &Model, entry: &Entry<'_, Struct>, keyword: &str) {
    let (_, item) = entry.latest();
    let _ = write!(out, "### `{}`\n\n{}\n\n", item.name, item.doc);
    let remark = only(model, &entry.presence());
    if !remark.is_empty() {
        let _ = write!(out, "{remark}\n\n");
    }
    if keyword == "union" {
        out.push_str("A union: its fields share their place.\n\n");
    }
    if let Some(stype) = item.stype {
        let tag = names::structure_enumerator(&item.name);
        let _ = write!(out, "Tagged `{tag}` ({stype:#x}).\n\n");
    }
    out.push_str("| field | type | |\n|---|---|---|\n");
    for field in &item.fields {
        let _ = writeln!(out, "| `{}` | `{}` | {} |", field.name, field.ty, cell(&field.doc));
    }
    out.push('\n');
}
