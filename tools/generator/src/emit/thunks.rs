//! The adapters' entry points: for each function a thunk that turns C's parameters into checked ones and calls the
//! function of the engine that the map names.
//!
//! What a parameter becomes is [`super::thunk_parameters`]'s; here are the files and the functions around it.

use std::fmt::Write;

use crate::emit::rust;
use crate::emit::thunk_parameters::Call;
use crate::engine::Answer;
use crate::model::{Function, Model};
use crate::output::Output;

const FOLDER: &str = "adapters/common/src/api/generated";

const PURPOSE: &str = "The C functions of the API as an adapter has them, one file for each of the specification's. Each checks \
    its parameters and calls the function of the engine that `api/map.toml` names.";

/// What every file of thunks begins with.
const IMPORTS: &str = "use crate::api::thunk::*;\n\n";

/// `mod.rs` and a file for each of the specification's that has entry points of an adapter.
pub fn emit(model: &Model) -> Vec<Output> {
    // What is in no table is the loader's alone.
    let functions: Vec<&Function> = model.union.functions.iter().filter(|function| function.slot.is_some()).collect();
    let mut outputs = Vec::new();
    let mut modules = String::new();
    let mut exports = String::new();
    for file in &model.files {
        let own: Vec<_> = functions.iter().filter(|function| function.file == file.stem).collect();
        if own.is_empty() {
            continue;
        }
        let module = file.stem.replace('-', "_");
        let _ = writeln!(modules, "mod {module};");
        let _ = writeln!(exports, "pub use {module}::*;");
        let mut out = String::from(IMPORTS);
        own.into_iter().for_each(|function| out.push_str(&thunk(model, function)));
        let attributes = [
            "allow(non_snake_case, reason = \"C's names\")",
            "allow(unused_variables, reason = \"what is not supported looks at nothing\")",
            "allow(clippy::too_many_arguments, reason = \"the API's own signatures\")",
        ];
        let purpose = format!("{}: {}", file.title, PURPOSE.split_once('.').map_or(PURPOSE, |(first, _)| first));
        outputs.push(rust::file(&format!("{FOLDER}/{module}.rs"), &format!("{purpose}."), &attributes, &out));
    }
    outputs.push(rust::file(&format!("{FOLDER}/mod.rs"), PURPOSE, &[], &format!("{modules}\n{exports}")));
    outputs
}

fn thunk(model: &Model, function: &Function) -> String {
    let mut out = rust::doc("", &function.doc);
    out.push_str("///\n/// # Safety\n/// The caller keeps the function's contract: handles are null or alive, pointers are as the manual demands.\n");
    let _ = writeln!(
        out,
        "pub unsafe extern \"C\" fn {}<D: Driver>({}) -> ur_result_t {{",
        function.name,
        rust::params(&function.params, "")
    );
    let _ = writeln!(out, "    guard::{}(\"{}\", || {{", guard_of(model, function), function.name);
    match model.engine.answer(&function.name) {
        Answer::Checked(path) => out.push_str(&checked(model, function, path)),
        Answer::Raw(path) => {
            let arguments = rust::arguments(&function.params);
            let _ = writeln!(
                out,
                "        // SAFETY: the caller keeps the function's contract, and the engine's function asks for no more.\n        unsafe {{ {}({arguments}) }}",
                with_driver(path)
            );
        }
        Answer::Nobody => {
            let _ = writeln!(out, "        Err(Error::unsupported(\"{}\"))", function.name);
        }
    }
    out.push_str("    })\n}\n\n");
    out
}

fn checked(model: &Model, function: &Function, path: &str) -> String {
    let row = model.engine.row(&function.name).expect("who answers is said in a row");
    let call = Call::of(&model.union, function, row);
    let mut out = String::new();
    let arguments = call.arguments.join(", ");
    if call.steps.is_empty() {
        let _ = writeln!(out, "        {}({arguments})", with_driver(path));
        return out;
    }
    let checked = call.checked.join(", ");
    let checked = if call.checked.len() == 1 { checked } else { format!("({checked})") };
    let _ = writeln!(
        out,
        "        // SAFETY: the caller keeps the function's contract, so each handle and pointer leads to what the manual demands.\n        let {checked} = unsafe {{"
    );
    let (last, others) = call.steps.split_last().expect("there is one");
    for step in others {
        let _ = writeln!(out, "            {step}");
    }
    match last.strip_prefix(&format!("let {checked} = ")) {
        Some(value) => {
            let _ = writeln!(out, "            {}", value.trim_end_matches(';'));
        }
        None => {
            let _ = writeln!(out, "            {last}\n            {checked}");
        }
    }
    out.push_str("        };\n");
    let _ = writeln!(out, "        {}({arguments})", with_driver(path));
    out
}

/// The engine's functions are generic over the driver, unless the map names their generics itself.
fn with_driver(path: &str) -> String {
    if path.contains("::<") { format!("crate::{path}") } else { format!("crate::{path}::<D>") }
}

/// The guard's function: it differs in what the child of a fork gets, and in what is done when there is no memory.
fn guard_of(model: &Model, function: &Function) -> &'static str {
    match function.name.as_str() {
        "urAdapterGetLastError" => "call_even_in_child",
        "urAdapterRelease" => "call_or_skip_in_child",
        name if model.engine.row(name).is_some_and(|row| row.makes) => "make::<D>",
        _ => "call",
    }
}
