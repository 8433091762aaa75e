//! The adapters' entry points: a trait with one method per function, the C functions over it, the full table.

use std::fmt::Write;

use crate::across::{Entry, across, across_lists, cfg, everywhere, push_variants};
use crate::emit::{adapter_macros, rust};
use crate::model::{Function, Model};
use crate::output::Output;

const PATH: &str = "adapters/common/src/generated/entry_points.rs";

const PURPOSE: &str = "Every entry point of an adapter: the trait that the engine implements, the C functions that \
    call it, the table of them all, and the macros `forward!` and `export_getters!`. What an implementation leaves \
    out answers that it is not supported. Expects to be the module `entry_points` at the crate's root.";

/// The file.
pub fn emit(model: &Model) -> Vec<Output> {
    let mut out = String::from(
        "/// The bindings, where the macros of this module find them.\npub use ur_ffi as ffi;\n\nuse ur_ffi::*;\n\nuse crate::object::error::Error;\n\n",
    );
    let functions = adapter_functions(model);
    entry_points_trait(&mut out, model, &functions);
    for entry in &functions {
        rust::push_item(&mut out, model, entry, |_, function| shim(function));
    }
    table(&mut out, model);
    adapter_macros::emit(&mut out, model, &functions);
    let attributes = [
        "allow(non_snake_case, reason = \"entry points keep their C names\")",
        "allow(unused_variables, reason = \"a default body only answers that it is not supported\")",
        "allow(clippy::too_many_arguments, reason = \"the API's own signatures\")",
    ];
    vec![rust::file(PATH, PURPOSE, &attributes, &out)]
}

/// The functions that sit in a table, in every release that has them.
fn adapter_functions(model: &Model) -> Vec<Entry<'_, Function>> {
    let mut functions = across(model, |r| &r.functions, |item| &item.name);
    functions.retain(|entry| entry.latest().1.slot.is_some());
    functions
}

fn entry_points_trait(out: &mut String, model: &Model, functions: &[Entry<'_, Function>]) {
    out.push_str("/// The entry points of an adapter.\n///\n/// # Safety\n/// Each method is called with the arguments that C gave: handles are null or alive, pointers are as the\n/// reference manual demands.\npub trait EntryPoints {\n");
    for entry in functions {
        let text = entry.render(|_, function| {
            let mut text = rust::doc("    ", &function.doc);
            let _ = write!(
                text,
                "    unsafe fn {0}({1}) -> Result<(), Error> {{\n        Err(Error::unsupported(\"{0}\"))\n    }}\n\n",
                function.name,
                rust::params(&function.params, "")
            );
            text
        });
        push_variants(out, model, "    ", &everywhere(model), &text);
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n}\n\n");
}

fn shim(function: &Function) -> String {
    let mut out = format!("/// The C function over [`EntryPoints::{}`].\n", function.name);
    let _ = write!(
        out,
        "pub unsafe extern \"C\" fn {0}<E: EntryPoints>({1}) -> ur_result_t {{\n    // SAFETY: the caller of a C entry point owes what the method demands.\n    crate::api::guard::{3}(\"{0}\", || unsafe {{ E::{0}({2}) }})\n}}\n\n",
        function.name,
        rust::params(&function.params, ""),
        rust::arguments(&function.params),
        guard_of(function)
    );
    out
}

/// The guard's function: it differs in what the child of a fork gets.
fn guard_of(function: &Function) -> &'static str {
    match function.name.as_str() {
        "urAdapterGetLastError" => "call_even_in_child",
        "urAdapterRelease" => "call_or_skip_in_child",
        _ => "call",
    }
}

fn table(out: &mut String, model: &Model) {
    out.push_str("/// The table of every entry point; no slot is empty.\n#[must_use]\npub const fn table<E: EntryPoints>() -> ur_dditable_t {\n    ur_dditable_t {\n");
    for entry in across(model, |r| &r.tables, |item| &item.name) {
        let context = entry.presence();
        let condition = cfg(model, &context, &everywhere(model));
        if !condition.is_empty() {
            let _ = writeln!(out, "        {condition}");
        }
        let (_, latest) = entry.latest();
        let _ = writeln!(out, "        {}: {} {{", latest.field, latest.name);
        let lists = entry.per_release.iter().map(|found| found.map(|(_, t)| t.slots.as_slice()));
        for slot in across_lists(model, lists.collect(), |slot| &slot.function) {
            let text = slot.render(|_, slot| format!("            {}: Some({}::<E>),\n", slot.field, slot.function));
            push_variants(out, model, "            ", &context, &text);
        }
        out.push_str("        },\n");
    }
    out.push_str("    }\n}\n\n");
}
