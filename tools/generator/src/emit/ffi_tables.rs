//! Bindings: types of entry points, function tables, getters and the table of tables.

use std::fmt::Write;

use crate::across::{across, whole_release};
use crate::ctype::CType;
use crate::emit::rust;
use crate::model::{Function, Model, Release, Table};
use crate::names;

/// The content of `tables.rs`.
pub fn emit(model: &Model) -> String {
    let mut out = String::from(rust::IMPORTS);
    for entry in across(model, |r| &r.functions, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, item| entry_point(item));
    }
    for entry in across(model, |r| &r.tables, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, item| table(item));
        rust::push_item(&mut out, model, &entry, |_, item| getter(item));
    }
    for entry in &whole_release(model) {
        rust::push_item(&mut out, model, entry, |_, release| root(release));
    }
    out
}

fn entry_point(item: &Function) -> String {
    let pointer = rust::function_pointer(&item.params, &CType::named("ur_result_t"));
    format!("/// Points to `{}`.\npub type {} = {pointer};\n\n", item.name, names::pfn_type(&item.name))
}

/// A table is written as a whole for each release: its order is ABI, and no order fits two that moved a slot.
fn table(item: &Table) -> String {
    let mut out = format!(
        "/// The entry points in field `{}` of [`ur_dditable_t`].\n#[repr(C)]\n#[derive(Clone, Copy, Debug, Default)]\npub struct {} {{\n",
        item.field, item.name
    );
    for slot in &item.slots {
        let _ =
            write!(out, "    /// `{}`.\n    pub {}: {},\n", slot.function, slot.field, names::pfn_type(&slot.function));
    }
    out.push_str("}\n\n");
    out
}

fn getter(item: &Table) -> String {
    let function = names::getter(&item.field);
    format!(
        "/// Points to `{function}`, which fills a [`{0}`].\npub type {1} = Option<unsafe extern \"C\" fn(version: ur_api_version_t, pDdiTable: *mut {0}) -> ur_result_t>;\n\n",
        item.name,
        names::pfn_type(&function)
    )
}

fn root(release: &Release) -> String {
    let mut out = String::from(
        "/// Every entry point of an adapter. The first word of each object that a handle points to is the address\n/// of one.\n#[repr(C)]\n#[derive(Clone, Copy, Debug, Default)]\npub struct ur_dditable_t {\n",
    );
    for table in &release.tables {
        let _ = write!(out, "    /// `{}*`.\n    pub {}: {},\n", table.prefix, table.field, table.name);
    }
    out.push_str("}\n\n");
    out
}
