//! The adapters' entry points: a trait with one method per function of any release, the C functions over it, and the full
//! table of each release.

use std::fmt::Write;

use crate::emit::{adapter_macros, rust};
use crate::model::{Function, Model, Release};
use crate::names;
use crate::output::Output;

const PATH: &str = "adapters/common/src/generated/entry_points.rs";

const PURPOSE: &str = "Every entry point of an adapter in any release: the trait that the engine implements, the C \
    functions that call it, the table of each release, and the macros `forward!` and `export_getters!`. What an \
    implementation leaves out answers that it is not supported. Expects to be the module `entry_points` at the crate's \
    root.";

/// The file.
pub fn emit(model: &Model) -> Vec<Output> {
    let mut out = String::from(
        "/// The bindings, where the macros of this module find them.\npub use ur_ffi as ffi;\n\nuse ur_ffi::*;\n\nuse crate::object::error::Error;\n\n",
    );
    // What is in no table is the loader's alone.
    let functions: Vec<&Function> = model.union.functions.iter().filter(|function| function.slot.is_some()).collect();
    entry_points_trait(&mut out, &functions);
    functions.iter().for_each(|function| out.push_str(&shim(function)));
    model.releases.iter().for_each(|release| table(&mut out, release));
    adapter_macros::emit(&mut out, model, &functions);
    let attributes = [
        "allow(non_snake_case, reason = \"entry points keep their C names\")",
        "allow(unused_variables, reason = \"a default body only answers that it is not supported\")",
        "allow(clippy::too_many_arguments, reason = \"the API's own signatures\")",
    ];
    vec![rust::file(PATH, PURPOSE, &attributes, &out)]
}

fn entry_points_trait(out: &mut String, functions: &[&Function]) {
    out.push_str("/// The entry points of an adapter.\n///\n/// # Safety\n/// Each method is called with the arguments that C gave: handles are null or alive, pointers are as the\n/// reference manual demands.\npub trait EntryPoints {\n");
    for function in functions {
        let _ = write!(
            out,
            "{2}    unsafe fn {0}({1}) -> Result<(), Error> {{\n        Err(Error::unsupported(\"{0}\"))\n    }}\n\n",
            function.name,
            rust::params(&function.params, ""),
            rust::doc("    ", &function.doc),
        );
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n}\n\n");
}

fn shim(function: &Function) -> String {
    let mut out = format!("/// The C function over [`EntryPoints::{}`].\n", function.name);
    let _ = write!(
        out,
        "pub unsafe extern \"C\" fn {0}<E: EntryPoints>({1}) -> ur_result_t {{\n    // SAFETY: the caller of a C entry point owes what the method demands.\n    crate::api::guard::{3}(\"{0}\", || unsafe {{ E::{0}({2}) }})\n}}\n\n",
        function.name,
        rust::params(&function.params, ""),
        rust::arguments(&function.params),
        guard_of(function)
    );
    out
}

/// The guard's function: it differs in what the child of a fork gets.
fn guard_of(function: &Function) -> &'static str {
    match function.name.as_str() {
        "urAdapterGetLastError" => "call_even_in_child",
        "urAdapterRelease" => "call_or_skip_in_child",
        _ => "call",
    }
}

/// A release's table, as a constant function named after the release.
fn table(out: &mut String, release: &Release) {
    let module = names::release_module(&release.name);
    let _ = write!(
        out,
        "/// The table of every entry point of oneAPI {0}; no slot is empty.\n#[must_use]\npub const fn table_{module}<E: EntryPoints>() -> releases::{module}::ur_dditable_t {{\n    releases::{module}::ur_dditable_t {{\n",
        release.name
    );
    for table in &release.tables {
        let _ = writeln!(out, "        {}: releases::{module}::{} {{", table.field, table.name);
        for slot in &table.slots {
            let _ = writeln!(out, "            {}: Some({}::<E>),", slot.field, slot.function);
        }
        out.push_str("        },\n");
    }
    out.push_str("    }\n}\n\n");
}
