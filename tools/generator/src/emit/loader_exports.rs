//! The loader's exported functions: each finds the adapter behind a handle and passes the call on, or hands it
//! to the loader's own implementation.

use std::fmt::Write;

use crate::across::across;
use crate::emit::rust;
use crate::model::{Dispatch, Function, Model};
use crate::names;
use crate::output::Output;

const FOLDER: &str = "loader/src/generated";

const DISPATCH: &str = r#"/// Passes a call to the adapter that made `$handle`.
macro_rules! dispatch {
    ($handle:expr, $table:ident.$slot:ident($($argument:expr),*)) => {
        // SAFETY: the caller of an entry point owes a handle that is null or alive.
        match unsafe { crate::dispatch::table($handle) } {
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

/// `mod.rs` and `exports.rs`.
pub fn emit(model: &Model) -> Vec<Output> {
    let modules = rust::file(
        &format!("{FOLDER}/mod.rs"),
        "What the loader exports: the API's functions and the getters of their tables.",
        &[],
        "pub mod exports;\npub mod releases;\npub mod tables;\n",
    );
    let mut out = format!("use ur_ffi::*;\n\n{DISPATCH}");
    for entry in across(model, |r| &r.functions, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, function| export(function));
    }
    let attributes = [
        "allow(non_snake_case, reason = \"exports keep their C names\")",
        "allow(clippy::too_many_arguments, reason = \"the API's own signatures\")",
    ];
    let purpose = "Every function of the API as the loader exports it. Nothing is decided here beyond which \
        handle leads to the adapter.";
    vec![modules, rust::file(&format!("{FOLDER}/exports.rs"), purpose, &attributes, &out)]
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
        format!("    dispatch!({handle}, {}.{}({arguments}))\n", slot.table, slot.field)
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
        Dispatch::Loader | Dispatch::Nowhere => format!(
            "    // SAFETY: the caller's arguments, passed on with the same contract.\n    unsafe {{ crate::entry::{}({arguments}) }}\n",
            function.name
        ),
    }
}
