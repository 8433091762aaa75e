//! Bindings: structures, unions, argument structures and the proof of their layout.

use std::fmt::Write;

use crate::emit::rust;
use crate::layout;
use crate::model::{Field, Kind, Release, Struct, Table};
use crate::names;

/// The content of `structs.rs`.
pub fn structs(union: &Release) -> String {
    let mut out = String::from(rust::IMPORTS);
    for item in &union.unions {
        out.push_str(&definition("union", "Clone, Copy", item));
        out.push_str(&zeroed_default(item));
        let _ = write!(
            out,
            "impl core::fmt::Debug for {0} {{\n    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {{\n        // Which member counts is known to the structure around it, not here.\n        f.write_str(\"{0}\")\n    }}\n}}\n\n",
            item.name
        );
    }
    for item in &union.structs {
        out.push_str(&definition("struct", "Clone, Copy, Debug", item));
        out.push_str(&zeroed_default(item));
        out.push_str(&tagged(item));
    }
    out
}

/// The content of `params.rs`.
pub fn params(union: &Release) -> String {
    let mut out = String::from(rust::IMPORTS);
    union.params_structs.iter().for_each(|item| out.push_str(&definition("struct", "Clone, Copy, Debug", item)));
    out
}

fn definition(keyword: &str, derives: &str, item: &Struct) -> String {
    let mut out = rust::doc("", &item.doc);
    let _ = write!(out, "#[repr(C)]\n#[derive({derives})]\npub {keyword} {} {{\n", item.name);
    for field in &item.fields {
        out.push_str(&rust::doc("    ", &field.doc));
        let name = names::rust_ident(&field.name);
        let _ = writeln!(out, "    pub {name}: {},", rust::ty(&field.ty, ""));
    }
    out.push_str("}\n\n");
    out
}

fn zeroed_default(item: &Struct) -> String {
    let zeroed = "// SAFETY: every field is an integer, a raw pointer, an optional function pointer or made of those; all\n        // of them may be zero.";
    let body = match tag(item) {
        Some(tag) => format!(
            "        {zeroed}\n        let zeroed: Self = unsafe {{ core::mem::zeroed() }};\n        Self {{ stype: ur_structure_type_t::{tag}, ..zeroed }}\n"
        ),
        None => format!("        {zeroed}\n        unsafe {{ core::mem::zeroed() }}\n"),
    };
    let said = if item.stype.is_some() { "All zero, but for the tag." } else { "All zero." };
    format!("impl Default for {} {{\n    /// {said}\n    fn default() -> Self {{\n{body}    }}\n}}\n\n", item.name)
}

/// The constant of `ur_structure_type_t` that names the structure, where one does.
fn tag(item: &Struct) -> Option<String> {
    item.stype.map(|_| names::constant("ur_structure_type_t", &names::structure_enumerator(&item.name)))
}

/// The link from a structure to its tag.
fn tagged(item: &Struct) -> String {
    let Some(tag) = tag(item) else { return String::new() };
    format!(
        "// SAFETY: the structure is `repr(C)`, `stype` and `pNext` are its first members, and the tag is its own.\nunsafe impl crate::Structure for {} {{\n    const STYPE: ur_structure_type_t = ur_structure_type_t::{tag};\n}}\n\n",
        item.name
    )
}

/// The content of `layout.rs`, with the tables that all releases share.
pub fn layout(union: &Release, shared: &[&Table]) -> String {
    let mut out =
        String::from("#![cfg(target_pointer_width = \"64\")]\n\nuse core::mem::offset_of;\n\nuse super::*;\n\n");
    union.unions.iter().for_each(|item| out.push_str(&union_proof(union, item)));
    union.structs.iter().for_each(|item| out.push_str(&struct_proof(union, item)));
    union.params_structs.iter().for_each(|item| out.push_str(&struct_proof(union, item)));
    let own = union.extensions.iter().map(|extension| &extension.table);
    shared.iter().copied().chain(own).for_each(|table| out.push_str(&table_proof(table)));
    out
}

fn union_proof(release: &Release, item: &Struct) -> String {
    let layout = layout::of_union(release, item).expect("the lint has seen every field's type");
    proof(&item.name, layout.size, layout.align, &[], &[])
}

fn struct_proof(release: &Release, item: &Struct) -> String {
    debug_assert!(release.kind(&item.name) != Some(Kind::Union));
    let (layout, offsets) = layout::of_struct(release, item).expect("the lint has seen every field's type");
    let fields: Vec<String> = item.fields.iter().map(|field: &Field| names::rust_ident(&field.name)).collect();
    proof(&item.name, layout.size, layout.align, &fields, &offsets)
}

/// The proof that a table's slots follow one another in order.
pub fn table_proof(table: &Table) -> String {
    let fields: Vec<String> = table.slots.iter().map(|slot| slot.field.clone()).collect();
    let offsets: Vec<usize> = (0..fields.len()).map(|index| index * 8).collect();
    proof(&table.name, fields.len() * 8, 8, &fields, &offsets)
}

/// The proof that a release's tables follow one another in order.
pub fn root_proof(release: &Release) -> String {
    let fields: Vec<String> = release.tables.iter().map(|table| table.field.clone()).collect();
    let mut offset = 0;
    let mut offsets = Vec::new();
    for table in &release.tables {
        offsets.push(offset);
        offset += table.slots.len() * 8;
    }
    proof("ur_dditable_t", offset, 8, &fields, &offsets)
}

fn proof(name: &str, size: usize, align: usize, fields: &[String], offsets: &[usize]) -> String {
    let mut out = String::from("const _: () = {\n");
    let _ = writeln!(out, "    assert!(size_of::<{name}>() == {size});");
    let _ = writeln!(out, "    assert!(align_of::<{name}>() == {align});");
    for (field, offset) in fields.iter().zip(offsets) {
        let _ = writeln!(out, "    assert!(offset_of!({name}, {field}) == {offset});");
    }
    out.push_str("};\n");
    out
}
