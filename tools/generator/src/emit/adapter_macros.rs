//! The macro of the adapters' libraries: `export_getters!`, with an arm for each release.

use std::fmt::Write;

use crate::model::{Model, Release, Table};
use crate::names;

const FFI: &str = "$crate::entry_points::ffi::";

/// Appends the macro.
pub fn emit(out: &mut String, model: &Model) {
    out.push_str("/// Defines what an adapter library of a release exports: for each table the function that hands it out, taken from\n/// the release's `ur_dditable_t` that the expression gives: `export_getters!(v2026_2, backend::table_v2026_2())`.\n#[macro_export]\nmacro_rules! export_getters {\n");
    for release in &model.releases {
        let _ = writeln!(out, "    ({}, $table:expr) => {{", names::release_module(&release.name));
        release.tables.iter().for_each(|table| out.push_str(&getter(release, table)));
        out.push_str("    };\n");
    }
    out.push_str("}\n");
}

fn getter(release: &Release, table: &Table) -> String {
    format!(
        "        /// Fills the caller's `{0}`.\n        ///\n        /// # Safety\n        /// `pDdiTable` is null or points to memory for the table.\n        #[allow(non_snake_case, reason = \"the C name\")]\n        #[unsafe(no_mangle)]\n        pub unsafe extern \"C\" fn {1}(\n            version: {FFI}ur_api_version_t,\n            pDdiTable: *mut {FFI}releases::{3}::{0},\n        ) -> {FFI}ur_result_t {{\n            let table: &'static {FFI}releases::{3}::ur_dditable_t = $table;\n            // SAFETY: the caller's promise, passed on.\n            unsafe {{ {FFI}version::fill_table({FFI}releases::Release::{4}, version, pDdiTable, &table.{2}) }}\n        }}\n",
        table.name,
        names::getter(&table.field),
        table.field,
        names::release_module(&release.name),
        names::release_variant(&release.name),
    )
}
