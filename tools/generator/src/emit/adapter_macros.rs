//! The macro of the adapters' libraries: `export_getters!`.
//!
//! A macro's expansion is compiled with the features of the crate that uses it, so no `cfg` may stand inside one:
//! what only some releases have is wrapped in a helper macro that this crate's own features define.

use std::fmt::Write;

use crate::across::{Variant, across, cfg, everywhere};
use crate::model::{Model, Table};
use crate::names;

const FFI: &str = "$crate::entry_points::ffi::";

/// Appends the macros.
pub fn emit(out: &mut String, model: &Model) {
    let tables = across(model, |r| &r.tables, |item| &item.name);
    let getters: Vec<Vec<Variant>> = tables.iter().map(|entry| entry.render(|_, table| getter(table))).collect();
    let all = everywhere(model);
    let mut partial: Vec<&[bool]> = getters
        .iter()
        .flatten()
        .map(|variant| variant.releases.as_slice())
        .filter(|releases| *releases != all)
        .collect();
    partial.sort();
    partial.dedup();
    for releases in partial {
        helper(out, model, releases);
    }
    getters_macro(out, model, &getters);
}

/// `only_in_2026_1`: the macro that keeps its content in these releases and drops it in others.
fn helper_name(model: &Model, releases: &[bool]) -> String {
    let names = model.releases.iter().zip(releases).filter(|(_, present)| **present);
    let names: Vec<String> = names.map(|(release, _)| release.name.replace('.', "_")).collect();
    format!("__only_in_{}", names.join("_and_"))
}

fn helper(out: &mut String, model: &Model, releases: &[bool]) {
    let name = helper_name(model, releases);
    let absent: Vec<bool> = releases.iter().map(|present| !present).collect();
    let all = everywhere(model);
    for (present, rule) in [(releases, "$($content)*"), (absent.as_slice(), "")] {
        let _ = write!(
            out,
            "{}\n#[doc(hidden)]\n#[macro_export]\nmacro_rules! {name} {{\n    ($($content:tt)*) => {{{rule}}};\n}}\n\n",
            cfg(model, present, &all)
        );
    }
}

fn wrapped(model: &Model, variant: &Variant, indent: &str) -> String {
    if variant.releases == everywhere(model) {
        return variant.text.clone();
    }
    let helper = helper_name(model, &variant.releases);
    let inner: String = variant.text.lines().map(|line| format!("    {line}\n")).collect();
    format!("{indent}$crate::{helper}! {{\n{inner}{indent}}}\n")
}

fn getter(table: &Table) -> String {
    format!(
        "        /// Fills the caller's `{0}`.\n        ///\n        /// # Safety\n        /// `pDdiTable` is null or points to memory for the table.\n        #[allow(non_snake_case, reason = \"the C name\")]\n        #[unsafe(no_mangle)]\n        pub unsafe extern \"C\" fn {1}(\n            version: {FFI}ur_api_version_t,\n            pDdiTable: *mut {FFI}{0},\n        ) -> {FFI}ur_result_t {{\n            let table: &{FFI}ur_dditable_t = &$table;\n            // SAFETY: the caller's promise, passed on.\n            unsafe {{ {FFI}version::fill_table(version, pDdiTable, &table.{2}) }}\n        }}\n",
        table.name,
        names::getter(&table.field),
        table.field
    )
}

fn getters_macro(out: &mut String, model: &Model, getters: &[Vec<Variant>]) {
    out.push_str("/// Defines what an adapter library exports: for each table the function that hands it out, taken from the given\n/// `ur_dditable_t` (a static or a constant).\n#[macro_export]\nmacro_rules! export_getters {\n    ($table:expr) => {\n");
    for variant in getters.iter().flatten() {
        out.push_str(&wrapped(model, variant, "        "));
    }
    out.push_str("    };\n}\n");
}
