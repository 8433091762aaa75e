//! The reference manual's sections on callbacks and functions: signature, parameters, errors, place, releases.

use std::fmt::Write;

use crate::across::{Entry, across};
use crate::emit::c;
use crate::emit::manual::{cell, code_cell, only, releases_of};
use crate::model::{ErrorCase, Function, Model, Param};

/// Callbacks of one page.
pub fn callbacks(out: &mut String, model: &Model, file: &str) {
    let mut text = String::new();
    for entry in across(model, |r| &r.callbacks, |item| &item.name) {
        let (_, item) = entry.latest();
        if item.file != file {
            continue;
        }
        let signature = format!("{} (*{}){}", item.returns, item.name, c::plain_params(&item.params));
        let remark = only(model, &entry.presence());
        let _ = write!(text, "### `{}`\n\n{} {remark}\n\n```c\n{signature};\n```\n\n", item.name, item.doc);
    }
    if !text.is_empty() {
        let _ = write!(out, "## Callbacks\n\n{text}");
    }
}

/// Functions of one page.
pub fn functions(out: &mut String, model: &Model, file: &str) {
    let mut text = String::new();
    for entry in across(model, |r| &r.functions, |item| &item.name) {
        if entry.latest().1.file == file {
            function(&mut text, model, &entry);
        }
    }
    if !text.is_empty() {
        let _ = write!(out, "## Functions\n\n{text}");
    }
}

fn function(out: &mut String, model: &Model, entry: &Entry<'_, Function>) {
    let (_, item) = entry.latest();
    let _ = write!(out, "### `{}`\n\n{}\n\n", item.name, item.doc);
    let _ = write!(out, "```c\nur_result_t {}{};\n```\n\n", item.name, c::plain_params(&item.params));
    if !item.params.is_empty() {
        out.push_str("| parameter | | |\n|---|---|---|\n");
        for param in &item.params {
            let _ = writeln!(out, "| `{}` | {} | {} |", param.name, tags(model, entry, param), cell(&param.doc));
        }
        out.push('\n');
    }
    blocks(out, entry);
    out.push_str("Answers:\n\n");
    errors(out, model, entry);
    out.push('\n');
    place(out, model, entry);
}

/// A parameter's tags, with the releases where they differ.
fn tags(model: &Model, entry: &Entry<'_, Function>, param: &Param) -> String {
    let text = |tags: &[String]| tags.iter().map(|tag| code_cell(tag)).collect::<Vec<_>>().join(" ");
    let variants = entry.render(|_, function| {
        let own = function.params.iter().find(|own| own.name == param.name);
        own.map(|own| text(&own.tags)).unwrap_or_default()
    });
    if variants.len() == 1 {
        return text(&param.tags);
    }
    let one =
        |variant: &crate::across::Variant| format!("{} in {}", variant.text, releases_of(model, &variant.releases));
    variants.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Every code with its conditions; what not all releases of the function have is marked.
fn errors(out: &mut String, model: &Model, entry: &Entry<'_, Function>) {
    let mut codes: Vec<&str> = Vec::new();
    for (_, function) in entry.per_release.iter().rev().flatten() {
        for error in &function.errors {
            if !codes.contains(&error.code.as_str()) {
                codes.push(&error.code);
            }
        }
    }
    let context = entry.presence();
    let mark = |present: &[bool], context: &[bool]| {
        if present == context { String::new() } else { format!(" {}", only(model, present)) }
    };
    for code in codes {
        let has = |function: &Function| function.errors.iter().any(|error| error.code == code);
        let owed = present(entry, has);
        let _ = writeln!(out, "- `{code}`{}", mark(&owed, &context));
        let mut conditions: Vec<String> = Vec::new();
        for (_, function) in entry.per_release.iter().rev().flatten() {
            for condition in conditions_of(function, code) {
                if !conditions.contains(&condition) {
                    conditions.push(condition);
                }
            }
        }
        for condition in conditions {
            let holds = |function: &Function| conditions_of(function, code).contains(&condition);
            let _ = writeln!(out, "  - {condition}{}", mark(&present(entry, holds), &owed));
        }
    }
}

/// The conditions of one code, expressions in backquotes.
fn conditions_of(function: &Function, code: &str) -> Vec<String> {
    let own = function.errors.iter().filter(|error| error.code == code);
    own.flat_map(ErrorCase::texts).collect()
}

/// When and why a call waits, which no release changes.
fn blocks(out: &mut String, entry: &Entry<'_, Function>) {
    if let Some(blocks) = &entry.latest().1.blocks {
        let _ = write!(out, "Blocks: {}\n\n", blocks.text);
    }
}

fn present(entry: &Entry<'_, Function>, holds: impl Fn(&Function) -> bool) -> Vec<bool> {
    let found = entry.per_release.iter();
    found.map(|found| found.is_some_and(|(_, function)| holds(function))).collect()
}

fn place(out: &mut String, model: &Model, entry: &Entry<'_, Function>) {
    let variants = entry.render(|_, function| match &function.slot {
        Some(slot) => format!("`{}.{}`, slot {}", slot.table, slot.field, slot.index),
        None => "the loader itself".to_owned(),
    });
    let places: Vec<String> = variants
        .iter()
        .map(|variant| {
            if variants.len() == 1 {
                variant.text.clone()
            } else {
                format!("{} in {}", variant.text, releases_of(model, &variant.releases))
            }
        })
        .collect();
    let _ = write!(
        out,
        "Number {}; found in {}; releases: {}.\n\n",
        entry.latest().1.id,
        places.join(", "),
        releases_of(model, &entry.presence())
    );
}
