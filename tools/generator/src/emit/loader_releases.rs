//! The table layout of every release, by which the loader tells an adapter of another one.

use std::fmt::Write;

use crate::emit::rust;
use crate::model::{Model, Release};
use crate::names;
use crate::output::Output;

/// `mod.rs` and `releases.rs`.
pub fn emit(model: &Model) -> [Output; 2] {
    let mut out = String::from("use ur_ffi::releases::Release;\n\nuse crate::release::Layout;\n\n");
    let _ = writeln!(out, "/// The layout of every release that the specification knows, oldest first.");
    let _ = writeln!(out, "pub static LAYOUTS: [Layout; {}] = [", model.releases.len());
    for release in &model.releases {
        out.push_str(&layout(release));
    }
    out.push_str("];\n");
    let purpose = "How many slots each table has in each release.";
    [
        rust::file("loader/src/generated/mod.rs", "What the loader knows of the releases.", &[], "pub mod releases;\n"),
        rust::file("loader/src/generated/releases.rs", purpose, &[], &out),
    ]
}

fn layout(release: &Release) -> String {
    let variant = names::release_variant(&release.name);
    let mut out = format!("    Layout {{\n        release: Release::{variant},\n        tables: &[\n");
    for table in &release.tables {
        let _ = writeln!(out, "            ({}, {}),", rust::literal(&table.field), table.slots.len());
    }
    out.push_str("        ],\n    },\n");
    out
}
