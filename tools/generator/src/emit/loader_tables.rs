//! The loader's own table getters, and the version scripts that say what its library exports.

use std::fmt::Write;

use crate::across::across;
use crate::emit::rust;
use crate::model::{Model, Release, Table};
use crate::names;
use crate::output::{Comment, Output};

const FOLDER: &str = "loader/src/generated";

/// `tables.rs` and one version script per release.
pub fn emit(model: &Model) -> Vec<Output> {
    let mut out = String::from("use ur_ffi::*;\n\nuse super::exports;\n\n");
    for entry in across(model, |r| &r.tables, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, table| constant(table));
        rust::push_item(&mut out, model, &entry, |_, table| getter(table));
    }
    let purpose = "The loader's own tables, through which a layer or a tool calls it as it would an adapter.";
    let attributes = ["allow(non_snake_case, reason = \"exports keep their C names\")"];
    let mut outputs = vec![rust::file(&format!("{FOLDER}/tables.rs"), purpose, &attributes, &out)];
    outputs.extend(model.releases.iter().map(version_script));
    outputs
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

fn getter(table: &Table) -> String {
    format!(
        "/// Fills the caller's [`{0}`] with the loader's own functions.\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {1}(version: ur_api_version_t, pDdiTable: *mut {0}) -> ur_result_t {{\n    // SAFETY: the caller owes a pointer that is null or leads to memory for the table.\n    unsafe {{ version::fill_table(version, pDdiTable, &{2}) }}\n}}\n\n",
        table.name,
        names::getter(&table.field),
        constant_name(table)
    )
}

fn version_script(release: &Release) -> Output {
    let mut symbols: Vec<String> = release.functions.iter().map(|f| f.name.clone()).collect();
    symbols.extend(release.tables.iter().map(|table| names::getter(&table.field)));
    symbols.sort();
    let (major, minor) = release.version;
    let mut out = format!("LIBUR_LOADER_{major}.{minor} {{\n    global:\n");
    for symbol in symbols {
        let _ = writeln!(out, "        {symbol};");
    }
    out.push_str("    local:\n        *;\n};\n");
    let path = format!("{FOLDER}/libur_loader-{}.map", release.name);
    Output::new(path, Comment::Stars, out)
}
