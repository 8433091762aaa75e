//! Bindings: types of entry points, function tables and getters.
//!
//! A table that is the same in every release that has it is written once, for all of them; others belong to a release's own
//! module ([`super::ffi_releases`]), for no order fits two that moved a slot.

use std::fmt::Write;

use crate::ctype::CType;
use crate::emit::rust;
use crate::model::{Function, Model, Release, Table};
use crate::names;

/// The content of `tables.rs`.
pub fn emit(model: &Model) -> String {
    let mut out = String::from(rust::IMPORTS);
    model.union.functions.iter().for_each(|item| out.push_str(&entry_point(item)));
    for item in shared(model) {
        out.push_str(&vendor_table(item));
        out.push_str(&getter(item));
    }
    out
}

/// The tables that are the same in every release that has them.
pub fn shared(model: &Model) -> Vec<&Table> {
    model.union.tables.iter().filter(|table| is_shared(model, table)).collect()
}

/// Whether a table is the same in every release that has it.
pub fn is_shared(model: &Model, table: &Table) -> bool {
    let slots = |table: &Table| -> Vec<String> { table.slots.iter().map(|slot| slot.function.clone()).collect() };
    let own = |release: &Release| release.tables.iter().find(|own| own.name == table.name).map(slots);
    let mut all: Vec<Vec<String>> = model.releases.iter().filter_map(own).collect();
    all.dedup();
    all.len() == 1
}

fn entry_point(item: &Function) -> String {
    let pointer = rust::function_pointer(&item.params, &CType::named("ur_result_t"));
    format!("/// Points to `{}`.\npub type {} = {pointer};\n\n", item.name, names::pfn_type(&item.name))
}

/// The type of a table of `ur_dditable_t`.
pub fn vendor_table(item: &Table) -> String {
    table(item, &format!("The entry points in field `{}` of a release's `ur_dditable_t`.", item.field))
}

/// A table's type.
pub fn table(item: &Table, doc: &str) -> String {
    let mut out = rust::doc("", doc);
    let _ = write!(out, "#[repr(C)]\n#[derive(Clone, Copy, Debug, Default)]\npub struct {} {{\n", item.name);
    for slot in &item.slots {
        let _ =
            write!(out, "    /// `{}`.\n    pub {}: {},\n", slot.function, slot.field, names::pfn_type(&slot.function));
    }
    out.push_str("}\n\n");
    out
}

/// The type of a pointer to the function that fills a table.
pub fn getter(item: &Table) -> String {
    let function = names::getter(&item.field);
    format!(
        "/// Points to `{function}`, which fills a [`{0}`].\npub type {1} = Option<unsafe extern \"C\" fn(version: ur_api_version_t, pDdiTable: *mut {0}) -> ur_result_t>;\n\n",
        item.name,
        names::pfn_type(&function)
    )
}

/// The structure that holds these tables.
pub fn root<'m>(tables: impl Iterator<Item = &'m Table>, name: &str, doc: &str) -> String {
    let mut out = rust::doc("", doc);
    let _ = write!(out, "#[repr(C)]\n#[derive(Clone, Copy, Debug, Default)]\npub struct {name} {{\n");
    for table in tables {
        let _ = write!(out, "    /// `{}*`.\n    pub {}: {},\n", table.prefix, table.field, table.name);
    }
    out.push_str("}\n\n");
    out
}
