//! The macros of the adapters' libraries: `export_getters!`, with an arm for each release, and `export_extensions!`. One static
//! library has the functions of every release, so each symbol ends with its release, which the final link takes away
//! (`adapters/link.sh`).

use std::fmt::Write;

use crate::emit::rust;
use crate::model::{Function, Model, Release, Table};
use crate::names;

const FFI: &str = "$crate::entry_points::ffi::";

/// Appends the macros.
pub fn emit(out: &mut String, model: &Model) {
    out.push_str("/// Defines what an adapter library of a release exports: for each table the function that hands it out, taken from\n/// the release's `ur_dditable_t` that the expression gives: `export_getters!(v2026_2, backend::table_v2026_2())`.\n/// Each symbol ends with the release, `urGetDeviceProcAddrTable_v2026_2`, until the final link.\n#[macro_export]\nmacro_rules! export_getters {\n");
    for release in &model.releases {
        let _ = writeln!(out, "    ({}, $table:expr) => {{", names::release_module(&release.name));
        release.tables.iter().for_each(|table| out.push_str(&getter(release, table)));
        out.push_str("    };\n");
    }
    out.push_str("}\n");
    if !model.union.extensions.is_empty() {
        extensions(out, &model.union);
    }
}

/// Each function of the project's own by its name, for programs on a loader that does not know it, and the getter of its
/// table, for a loader that does. The expressions give a release's `ur_dditable_t` and the extension tables.
fn extensions(out: &mut String, union: &Release) {
    out.push_str("\n/// Defines what an adapter library of any release exports of the project's own functions: each by its name, and the\n/// getter of their tables: `export_extensions!(v2026_2, backend::table_v2026_2(), backend::extensions())`.\n/// Their symbols end like those of `export_getters!`.\n#[macro_export]\nmacro_rules! export_extensions {\n    ($release:ident, $table:expr, $extensions:expr) => {\n");
    union.extension_functions().for_each(|function| out.push_str(&extension(function)));
    let _ = write!(
        out,
        "        /// Fills the caller's extension table of that name.\n        ///\n        /// # Safety\n        /// `pName` is null or ends with a zero byte, `pTable` is null or points to `size` bytes for the table.\n        #[allow(non_snake_case, reason = \"the C name\")]\n        #[unsafe(export_name = concat!(\"{0}_\", stringify!($release)))]\n        pub unsafe extern \"C\" fn {0}(\n            version: {FFI}ur_api_version_t,\n            pName: *const core::ffi::c_char,\n            size: usize,\n            pTable: *mut core::ffi::c_void,\n        ) -> {FFI}ur_result_t {{\n            let _linked = $table;\n            let tables: &'static {FFI}ExtensionTables = $extensions;\n            let release = <{FFI}releases::$release::ur_dditable_t as {FFI}releases::DdiTable>::RELEASE;\n            // SAFETY: the caller's promise, passed on.\n            unsafe {{ {FFI}extension::fill_table(release, version, pName, size, pTable, tables) }}\n        }}\n    }};\n}}\n",
        names::EXTENSION_GETTER
    );
}

fn extension(function: &Function) -> String {
    let slot = function.slot.as_ref().expect("a function of an extension table has a slot");
    let mut out = rust::doc("        ", &function.doc);
    let _ = write!(
        out,
        "        ///\n        /// # Safety\n        /// The function's contract, as the manual has it.\n        #[allow(non_snake_case, reason = \"the C name\")]\n        #[allow(clippy::too_many_arguments, reason = \"the API's own signature\")]\n        #[unsafe(export_name = concat!(\"{0}_\", stringify!($release)))]\n        pub unsafe extern \"C\" fn {0}({1}) -> {FFI}ur_result_t {{\n            let _linked = $table;\n            let tables: &'static {FFI}ExtensionTables = $extensions;\n            match tables.{2}.{3} {{\n                // SAFETY: the caller's promise, passed on.\n                Some(entry_point) => unsafe {{ entry_point({4}) }},\n                None => {FFI}ur_result_t::ERROR_UNSUPPORTED_FEATURE,\n            }}\n        }}\n",
        function.name,
        rust::params(&function.params, FFI),
        slot.table,
        slot.field,
        rust::arguments(&function.params)
    );
    out
}

fn getter(release: &Release, table: &Table) -> String {
    format!(
        "        /// Fills the caller's `{0}`.\n        ///\n        /// # Safety\n        /// `pDdiTable` is null or points to memory for the table.\n        #[allow(non_snake_case, reason = \"the C name\")]\n        #[unsafe(export_name = \"{1}_{3}\")]\n        pub unsafe extern \"C\" fn {1}(\n            version: {FFI}ur_api_version_t,\n            pDdiTable: *mut {FFI}releases::{3}::{0},\n        ) -> {FFI}ur_result_t {{\n            let table: &'static {FFI}releases::{3}::ur_dditable_t = $table;\n            // SAFETY: the caller's promise, passed on.\n            unsafe {{ {FFI}version::fill_table({FFI}releases::Release::{4}, version, pDdiTable, &table.{2}) }}\n        }}\n",
        table.name,
        names::getter(&table.field),
        table.field,
        names::release_module(&release.name),
        names::release_variant(&release.name),
    )
}
