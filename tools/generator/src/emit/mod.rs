//! One emitter per product. An emitter reads the model and answers text; it neither judges nor touches the disk.

mod ffi;
mod ffi_enums;
mod ffi_extensions;
mod ffi_metadata;
mod ffi_releases;
mod ffi_structs;
mod ffi_tables;
mod ffi_types;
mod rust;

mod adapter_entry_points;
mod adapter_macros;
mod thunk_parameters;
mod thunks;

mod loader_exports;
mod loader_releases;
mod loader_tables;

mod c;
mod c_api;
mod c_ddi;
mod c_ext;

mod coverage;
mod manual;
mod manual_functions;
mod manual_types;

use crate::model::{Model, Release};
use crate::output::Output;

/// Every generated file.
pub fn all(model: &Model) -> Vec<Output> {
    let mut outputs = ffi::emit(model);
    outputs.extend(adapter_entry_points::emit(model));
    outputs.extend(thunks::emit(model));
    outputs.extend(loader_exports::emit(model));
    outputs.extend(loader_releases::emit(model));
    outputs.extend(loader_tables::emit(model));
    outputs.extend(c_api::emit(model));
    outputs.extend(c_ddi::emit(model));
    outputs.extend(c_ext::emit(model));
    outputs.extend(manual::emit(model));
    outputs.extend(coverage::emit(model));
    outputs
}

/// Where the library of a release's loader has its generated files.
pub(crate) fn loader_folder(release: &Release) -> String {
    format!("loader/libraries/{}/src/generated", release.name)
}

/// Splits a text into lines of at most `width` characters.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
