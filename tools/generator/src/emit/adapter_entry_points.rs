//! The tables of an adapter's entry points, one a release, and the tables of the project's own.

use std::fmt::Write;

use crate::emit::{adapter_macros, rust};
use crate::model::{Model, Release};
use crate::names;
use crate::output::Output;

const PATH: &str = "adapters/common/src/generated/entry_points.rs";

const PURPOSE: &str = "The table of every entry point of an adapter in each release, and the macros by which an \
    adapter's library exports them. Expects to be the module `entry_points` at the crate's root.";

/// The file.
pub fn emit(model: &Model) -> Vec<Output> {
    let mut out = String::from(
        "/// The bindings, where the macros of this module find them.\npub use ur_ffi as ffi;\n\nuse ur_ffi::releases;\n\nuse crate::api::generated::*;\nuse crate::driver::Driver;\n\n",
    );
    model.releases.iter().for_each(|release| table(&mut out, release));
    if !model.union.extensions.is_empty() {
        extensions(&mut out, &model.union);
    }
    adapter_macros::emit(&mut out, model);
    vec![rust::file(PATH, PURPOSE, &[], &out)]
}

/// The tables of the project's own, as a constant function.
fn extensions(out: &mut String, union: &Release) {
    out.push_str("/// Every extension table of an adapter; no slot is empty.\n#[must_use]\npub const fn extension_tables<D: Driver>() -> ffi::ExtensionTables {\n    ffi::ExtensionTables {\n");
    for extension in &union.extensions {
        let _ = writeln!(out, "        {}: ffi::{} {{", extension.table.field, extension.table.name);
        for slot in &extension.table.slots {
            let _ = writeln!(out, "            {}: Some({}::<D>),", slot.field, slot.function);
        }
        out.push_str("        },\n");
    }
    out.push_str("    }\n}\n\n");
}

/// A release's table, as a constant function named after the release.
fn table(out: &mut String, release: &Release) {
    let module = names::release_module(&release.name);
    let _ = write!(
        out,
        "/// The table of every entry point of oneAPI {0}; no slot is empty.\n#[must_use]\npub const fn table_{module}<D: Driver>() -> releases::{module}::ur_dditable_t {{\n    releases::{module}::ur_dditable_t {{\n",
        release.name
    );
    for table in &release.tables {
        let _ = writeln!(out, "        {}: releases::{module}::{} {{", table.field, table.name);
        for slot in &table.slots {
            let _ = writeln!(out, "            {}: Some({}::<D>),", slot.field, slot.function);
        }
        out.push_str("        },\n");
    }
    out.push_str("    }\n}\n\n");
}
