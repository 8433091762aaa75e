//! The bindings' files as a whole: which there are and what each holds.

use crate::emit::{ffi_enums, ffi_extensions, ffi_metadata, ffi_releases, ffi_structs, ffi_tables, ffi_types, rust};
use crate::model::Model;
use crate::output::Output;

const FOLDER: &str = "spec/ffi/src/generated";

/// All files of the bindings.
pub fn emit(model: &Model) -> Vec<Output> {
    let union = &model.union;
    let mut parts: Vec<(&str, &str, String)> = vec![
        ("types", "Handles, names of other types, constants and callback types.", ffi_types::emit(union)),
        ("enums", "Enumerations, as integers with named values.", ffi_enums::enums(union)),
        ("flags", "Sets of flags; bits without a name are kept.", ffi_enums::flags(union)),
        ("structs", "Structures and unions.", ffi_structs::structs(union)),
        (
            "params",
            "For each function, a structure of pointers to its arguments, for tracing and interception.",
            ffi_structs::params(union),
        ),
        (
            "tables",
            "Types of entry points, and the function tables that are the same in every release.",
            ffi_tables::emit(model),
        ),
        ("info", "What type of value each query answers with.", ffi_metadata::info(union)),
        (
            "layout",
            "Proof at compile time that structures and tables are laid out as in C.",
            ffi_structs::layout(union, &ffi_tables::shared(model)),
        ),
    ];
    if let Some(extensions) = ffi_extensions::emit(union) {
        parts.push(("extensions", "The tables of the project's own functions.", extensions));
    }
    let mut code = String::new();
    for (name, ..) in &parts {
        code.push_str(&format!("mod {name};\n"));
    }
    code.push_str("pub mod releases;\n\n");
    for (name, ..) in parts.iter().filter(|part| part.0 != "layout" && part.0 != "info") {
        code.push_str(&format!("pub use {name}::*;\n"));
    }
    let purpose = "The C API of all releases, as the specification has it; names are C's own.";
    let mut outputs = vec![rust::file(&format!("{FOLDER}/mod.rs"), purpose, &[], &code)];
    for (name, purpose, code) in parts {
        outputs.push(rust::file(&format!("{FOLDER}/{name}.rs"), purpose, &[], &code));
    }
    outputs.extend(ffi_releases::emit(model, &format!("{FOLDER}/releases")));
    outputs
}
