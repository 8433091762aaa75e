//! The table of an adapter's entry points.

use std::fmt::Write;

use crate::across::{across, across_lists, cfg, everywhere, push_variants};
use crate::emit::{adapter_macros, rust};
use crate::model::Model;
use crate::output::Output;

const PATH: &str = "adapters/common/src/generated/entry_points.rs";

const PURPOSE: &str = "The table of every entry point of an adapter, and the macro `export_getters!`. Expects to be the module \
    `entry_points` at the crate's root.";

/// The file.
pub fn emit(model: &Model) -> Vec<Output> {
    let mut out = String::from(
        "/// The bindings, where the macros of this module find them.\npub use ur_ffi as ffi;\n\nuse ur_ffi::*;\n\nuse crate::api::generated::*;\nuse crate::driver::Driver;\n\n",
    );
    table(&mut out, model);
    adapter_macros::emit(&mut out, model);
    vec![rust::file(PATH, PURPOSE, &[], &out)]
}

fn table(out: &mut String, model: &Model) {
    out.push_str("/// The table of every entry point; no slot is empty.\n#[must_use]\npub const fn table<D: Driver>() -> ur_dditable_t {\n    ur_dditable_t {\n");
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
            let text = slot.render(|_, slot| format!("            {}: Some({}::<D>),\n", slot.field, slot.function));
            push_variants(out, model, "            ", &context, &text);
        }
        out.push_str("        },\n");
    }
    out.push_str("    }\n}\n\n");
}
