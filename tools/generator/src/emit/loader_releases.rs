//! The table layout of every release, by which the loader tells an adapter of another one.

use std::fmt::Write;

use crate::emit::rust;
use crate::model::{Model, Release};
use crate::output::Output;

/// `releases.rs`.
pub fn emit(model: &Model) -> Output {
    let mut out = String::from("use crate::release::Release;\n\n");
    let _ = writeln!(out, "/// Every release that the specification knows, oldest first.");
    let _ = writeln!(out, "pub const RELEASES: [Release; {}] = [", model.releases.len());
    for release in &model.releases {
        out.push_str(&layout(release));
    }
    out.push_str("];\n");
    let purpose = "How many slots each table has in each release.";
    rust::file("loader/src/generated/releases.rs", purpose, &[], &out)
}

fn layout(release: &Release) -> String {
    let mut out = format!("    Release {{\n        name: {},\n        tables: &[\n", rust::literal(&release.name));
    for table in &release.tables {
        let _ = writeln!(out, "            ({}, {}),", rust::literal(&table.field), table.slots.len());
    }
    out.push_str("        ],\n    },\n");
    out
}
