//! The exported functions of each release's loader: each finds the adapter behind a handle and passes the call on, or
//! hands it to the loader's own implementation.

use std::fmt::Write;

use crate::emit::{loader_folder, rust};
use crate::model::{Dispatch, Function, Model, Release};
use crate::names;
use crate::output::Output;

const DISPATCH: &str = r#"/// Passes a call to the adapter that made `$handle`.
macro_rules! dispatch {
    ($handle:expr, $table:ident.$slot:ident($($argument:expr),*)) => {
        // SAFETY: the caller of an entry point owes a handle that is null or alive; the loader admits adapters of its own
        // release alone, whose handles lead to this type of table.
        match unsafe { ur_loader::dispatch::table::<ur_dditable_t, _>($handle) } {
            Some(table) => match table.$table.$slot {
                // SAFETY: the slot holds an entry point of this signature; the arguments are the caller's own.
                Some(entry_point) => unsafe { entry_point($($argument),*) },
                None => ur_result_t::ERROR_UNINITIALIZED,
            },
            None => ur_result_t::ERROR_INVALID_NULL_HANDLE,
        }
    };
}

"#;

const DISPATCH_EXTENSION: &str = r#"/// Passes a call of an extension to the adapter that made `$handle`, if the adapter has it.
macro_rules! dispatch_extension {
    ($handle:expr, $table:ident.$slot:ident($($argument:expr),*)) => {
        // SAFETY: the caller of an entry point owes a handle that is null or alive.
        match unsafe { ur_loader::entry::extensions($handle) } {
            Ok(tables) => match tables.$table.$slot {
                // SAFETY: the slot holds an entry point of this signature; the arguments are the caller's own.
                Some(entry_point) => unsafe { entry_point($($argument),*) },
                None => ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            },
            Err(result) => result,
        }
    };
}

"#;

/// The functions of the loader's own that do not do the same in every release.
const NEED_RELEASE: [&str; 2] = ["urLoaderInit", "urDeviceGetSelected"];

/// `mod.rs` and `exports.rs` of each release.
pub fn emit(model: &Model) -> Vec<Output> {
    model.releases.iter().flat_map(of_release).collect()
}

fn of_release(release: &Release) -> [Output; 2] {
    let folder = loader_folder(release);
    let modules = rust::file(
        &format!("{folder}/mod.rs"),
        "What the loader of this release exports: the API's functions and the getters of their tables.",
        &[],
        "pub mod exports;\npub mod tables;\n",
    );
    let mut out = format!(
        "use ur_ffi::*;\nuse ur_ffi::releases::Release;\nuse ur_ffi::releases::{}::ur_dditable_t;\n\nconst RELEASE: Release = Release::{};\n\n{DISPATCH}",
        names::release_module(&release.name),
        names::release_variant(&release.name)
    );
    if !release.extensions.is_empty() {
        out.push_str(DISPATCH_EXTENSION);
    }
    release.functions.iter().for_each(|function| out.push_str(&export(function)));
    let attributes = [
        "allow(non_snake_case, reason = \"exports keep their C names\")",
        "allow(clippy::too_many_arguments, reason = \"the API's own signatures\")",
    ];
    let purpose = "Every function of the release as the loader exports it. Nothing is decided here beyond which \
        handle leads to the adapter.";
    [modules, rust::file(&format!("{folder}/exports.rs"), purpose, &attributes, &out)]
}

fn export(function: &Function) -> String {
    let mut out = rust::doc("", &function.doc);
    let _ = write!(
        out,
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}({}) -> ur_result_t {{\n",
        function.name,
        rust::params(&function.params, "")
    );
    out.push_str(&body(function));
    out.push_str("}\n\n");
    out
}

fn body(function: &Function) -> String {
    let arguments = rust::arguments(&function.params);
    let call = |handle: &str| {
        let slot = function.slot.as_ref().expect("the lint demands a slot of what is dispatched");
        let dispatch = if slot.extension { "dispatch_extension" } else { "dispatch" };
        format!("    {dispatch}!({handle}, {}.{}({arguments}))\n", slot.table, slot.field)
    };
    let parameter = |index: usize| names::rust_ident(&function.params[index].name);
    match &function.dispatch {
        Dispatch::Handle(index) => call(&parameter(*index)),
        Dispatch::Array { array, count, empty } => {
            let array = parameter(*array);
            let mut out = format!(
                "    if {array}.is_null() {{\n        return ur_result_t::ERROR_INVALID_NULL_POINTER;\n    }}\n"
            );
            if let Some(count) = count {
                let empty = names::constant("ur_result_t", empty);
                let _ =
                    write!(out, "    if {} == 0 {{\n        return ur_result_t::{empty};\n    }}\n", parameter(*count));
            }
            let _ = writeln!(
                out,
                "    // SAFETY: the array is not null and, as its count says, has a first element.\n    let first = unsafe {{ *{array} }};"
            );
            out.push_str(&call("first"));
            out
        }
        Dispatch::Loader | Dispatch::Nowhere => {
            let arguments =
                if NEED_RELEASE.contains(&&*function.name) { format!("RELEASE, {arguments}") } else { arguments };
            format!(
                "    // SAFETY: the caller's arguments, passed on with the same contract.\n    unsafe {{ ur_loader::entry::{}({arguments}) }}\n",
                function.name
            )
        }
    }
}
