//! The reference manual: one page per specification file, and the index.

use std::fmt::Write;

use crate::across::across;
use crate::emit::{manual_functions, manual_types};
use crate::model::{FileInfo, Model};
use crate::names;
use crate::output::{Comment, Output};

const FOLDER: &str = "docs/api";

/// All pages.
pub fn emit(model: &Model) -> Vec<Output> {
    let mut outputs = vec![index(model)];
    outputs.extend(model.files.iter().map(|file| page(model, file)));
    outputs
}

fn page(model: &Model, file: &FileInfo) -> Output {
    let mut out = format!("# {}\n\n{}\n\n", file.title, file.doc);
    if file.project {
        out.push_str("*An extension of this project: other implementations of the API do not have it.*\n\n");
    }
    if let Some(table) = &file.table {
        let _ = write!(
            out,
            "Declared in `ur_ext.h`. This project's loader exports the functions as `{}` and its adapters export them too, so a \
             program on another loader finds them with `dlsym`. Their table `{table}` comes from `{}`. The handle of an adapter \
             without them answers `UR_RESULT_ERROR_UNSUPPORTED_FEATURE`.\n\n",
            names::EXTENSION_VERSION,
            names::EXTENSION_GETTER
        );
    }
    manual_types::simple(&mut out, model, &file.stem);
    manual_types::enums(&mut out, model, &file.stem);
    manual_types::structs(&mut out, model, &file.stem);
    manual_functions::callbacks(&mut out, model, &file.stem);
    manual_functions::functions(&mut out, model, &file.stem);
    let text = format!("{}\n", out.trim_end());
    Output::new(format!("{FOLDER}/{}.md", file.stem), Comment::Markup, text)
}

/// What `blocks` means for the functions that have it and for the others.
const WAITING: &str = "A function that can wait for work of a device, for the application's own code or for a compiler \
    says so under *Blocks*; one without it does not. A command that blocks holds up other commands on the same queue, \
    and nothing else.\n\n";

fn index(model: &Model) -> Output {
    let mut out = String::from("# The API, page by page\n\n");
    let releases: Vec<&str> = model.releases.iter().map(|r| r.name.as_str()).collect();
    let _ = write!(out, "Releases: {}. What is not marked is the same in all of them.\n\n", releases.join(", "));
    out.push_str(WAITING);
    out.push_str("| page | about |\n|---|---|\n");
    for file in &model.files {
        let _ = writeln!(out, "| [{}]({}.md) | {} |", file.title, file.stem, cell(&file.doc));
    }
    out.push_str("\n## Every function\n\n| function | page | table | in |\n|---|---|---|---|\n");
    for entry in across(model, |r| &r.functions, |item| &item.name) {
        let (_, function) = entry.latest();
        let table = function.slot.as_ref().map_or("the loader itself", |slot| &slot.table);
        let _ = writeln!(
            out,
            "| [`{0}`]({1}.md#{2}) | {1} | {table} | {3} |",
            function.name,
            function.file,
            function.name.to_ascii_lowercase(),
            releases_of(model, &entry.presence())
        );
    }
    Output::new(format!("{FOLDER}/README.md"), Comment::Markup, out)
}

/// A text as the cell of a table.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Code as the cell of a table.
pub fn code_cell(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// `all`, or the names of the releases.
pub fn releases_of(model: &Model, present: &[bool]) -> String {
    if present.iter().all(|present| *present) {
        return "all".to_owned();
    }
    let names = model.releases.iter().zip(present).filter(|(_, present)| **present);
    names.map(|(release, _)| release.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A remark in italics for what not all releases have.
pub fn only(model: &Model, present: &[bool]) -> String {
    if present.iter().all(|present| *present) {
        String::new()
    } else {
        format!("*Only in {}.*", releases_of(model, present))
    }
}
