//! The table getters of each release's loader, and the version script that says what its library exports: the vendor's API
//! under the vendor's version, the project's own functions under one of their own.

use std::fmt::Write;

use crate::emit::{loader_folder, rust};
use crate::model::{Model, Release, Table};
use crate::names;
use crate::output::{Comment, Output};

/// `tables.rs` and the version script of each release.
pub fn emit(model: &Model) -> Vec<Output> {
    model.releases.iter().flat_map(|release| [tables(release), version_script(release)]).collect()
}

fn tables(release: &Release) -> Output {
    let module = names::release_module(&release.name);
    let mut out = format!(
        "use ur_ffi::*;\nuse ur_ffi::releases::Release;\nuse ur_ffi::releases::{module}::*;\n\nuse super::exports;\n\n"
    );
    for table in &release.tables {
        out.push_str(&constant(table));
        out.push_str(&getter(release, table));
    }
    if !release.extensions.is_empty() {
        out.push_str(&extensions(release));
    }
    let purpose = "The loader's own tables, through which a layer or a tool calls it as it would an adapter.";
    let attributes = ["allow(non_snake_case, reason = \"exports keep their C names\")"];
    rust::file(&format!("{}/tables.rs", loader_folder(release)), purpose, &attributes, &out)
}

fn constant_name(table: &Table) -> String {
    table.name.trim_start_matches("ur_").trim_end_matches("_dditable_t").to_ascii_uppercase()
}

fn constant(table: &Table) -> String {
    let mut out = format!("const {}: {} = {} {{\n", constant_name(table), table.name, table.name);
    for slot in &table.slots {
        let _ = writeln!(out, "    {}: Some(exports::{}),", slot.field, slot.function);
    }
    out.push_str("};\n\n");
    out
}

fn getter(release: &Release, table: &Table) -> String {
    format!(
        "/// Fills the caller's [`{0}`] with the loader's own functions.\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {1}(version: ur_api_version_t, pDdiTable: *mut {0}) -> ur_result_t {{\n    // SAFETY: the caller owes a pointer that is null or leads to memory for the table.\n    unsafe {{ version::fill_table(Release::{3}, version, pDdiTable, &{2}) }}\n}}\n\n",
        table.name,
        names::getter(&table.field),
        constant_name(table),
        names::release_variant(&release.name)
    )
}

/// The tables of the project's own and their getter.
fn extensions(release: &Release) -> String {
    let mut out = String::from("static EXTENSIONS: ExtensionTables = ExtensionTables {\n");
    for extension in &release.extensions {
        let _ = writeln!(out, "    {}: {} {{", extension.table.field, extension.table.name);
        for slot in &extension.table.slots {
            let _ = writeln!(out, "        {}: Some(exports::{}),", slot.field, slot.function);
        }
        out.push_str("    },\n");
    }
    out.push_str("};\n\n");
    let _ = write!(
        out,
        "/// Fills the caller's extension table of that name with the loader's own functions.\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}(version: ur_api_version_t, pName: *const core::ffi::c_char, size: usize, pTable: *mut core::ffi::c_void) -> ur_result_t {{\n    // SAFETY: the caller owes a name that is null or ends, and a pointer that is null or leads to `size` bytes for the table.\n    unsafe {{ extension::fill_table(Release::{}, version, pName, size, pTable, &EXTENSIONS) }}\n}}\n\n",
        names::EXTENSION_GETTER,
        names::release_variant(&release.name)
    );
    out
}

fn version_script(release: &Release) -> Output {
    let mut symbols: Vec<String> = release.vendor_functions().map(|f| f.name.clone()).collect();
    symbols.extend(release.tables.iter().map(|table| names::getter(&table.field)));
    let (major, minor) = release.version;
    let mut out = version(&format!("LIBUR_LOADER_{major}.{minor}"), symbols, "    local:\n        *;\n");
    if !release.extensions.is_empty() {
        let mut symbols: Vec<String> = release.extension_functions().map(|f| f.name.clone()).collect();
        symbols.push(names::EXTENSION_GETTER.to_owned());
        out.push_str(&version(names::EXTENSION_VERSION, symbols, ""));
    }
    let path = format!("{}/libur_loader.map", loader_folder(release));
    Output::new(path, Comment::Stars, out)
}

/// One version of the script with its symbols; `rest` is what it says of all others.
fn version(name: &str, mut symbols: Vec<String>, rest: &str) -> String {
    symbols.sort();
    let mut out = format!("{name} {{\n    global:\n");
    for symbol in symbols {
        let _ = writeln!(out, "        {symbol};");
    }
    out.push_str(rest);
    out.push_str("};\n");
    out
}
