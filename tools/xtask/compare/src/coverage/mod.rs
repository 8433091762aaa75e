//! `coverage [--check]`: writes `docs/coverage.md`, which says of every function of the API what each backend does with it.
//!
//! Nothing of the document is written by hand. [`api`] lists the functions, [`table`] says which function of the engine
//! answers each or why none does, [`source`] reads the functions, [`gaps`] what they document as missing and [`body`] the
//! places that make such answers, [`reach`] finds the gaps behind an entry point by following calls, [`page`] writes. A gap without a sentence,
//! a sentence that no entry point leads to, a function of the API that nobody decided about: each is an error here.
//! How a gap is written down is told in [`gaps`]; how an answer is none, and a call leads nowhere, in [`source`].

mod api;
mod body;
mod gaps;
mod page;
mod reach;
mod source;
mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;

use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::files;
use xtask::support::workspace::Workspace;

use source::Code;
use table::{Answer, Table};

/// The document.
pub const DOCUMENT: &str = "docs/coverage.md";

/// Which function of the engine answers which entry point.
const TABLE: &str = "adapters/common/src/api/map.rs";

/// The engine, and the drivers by the backend that they are of.
const CRATES: [(&str, &str); 3] =
    [(source::ENGINE, "adapters/common/src"), ("CUDA", "adapters/cuda/src"), ("HIP", "adapters/hip/src")];

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    match arguments {
        [] => write(workspace),
        [flag] if flag == "--check" => check(workspace),
        _ => fail!("it takes `--check` and nothing else"),
    }
}

/// Writes the document.
pub fn write(workspace: &Workspace) -> Result {
    let text = document(workspace)?;
    let written = files::write(&workspace.path(DOCUMENT), text.as_bytes())?;
    println!("{DOCUMENT}: {}", if written { "written" } else { "unchanged" });
    Ok(())
}

/// Compares the document with what the code says now.
pub fn check(workspace: &Workspace) -> Result {
    let text = document(workspace)?;
    let there = fs::read_to_string(workspace.path(DOCUMENT)).unwrap_or_default();
    compare(&there, &text)
}

fn compare(there: &str, text: &str) -> Result {
    if there == text {
        return Ok(());
    }
    let line = there.lines().zip(text.lines()).take_while(|(old, new)| old == new).count() + 1;
    fail!("{DOCUMENT} is not what the code says, from line {line} on; run `cargo xtask coverage`")
}

fn document(workspace: &Workspace) -> Result<String> {
    let api = api::read(workspace.root())?;
    let path = workspace.path(TABLE);
    let table = table::read(&fs::read_to_string(&path).context(path.display())?).context(TABLE)?;
    let mut code = Code::default();
    for (name, folder) in CRATES {
        code.read_crate(name, &workspace.path(folder))?;
    }
    judge(&api, &api::names(workspace.root())?, &table, &code)
}

/// The document, or every reason why there is none.
fn judge(api: &[api::Group], names: &BTreeSet<String>, table: &Table, code: &Code) -> Result<String> {
    let mut problems = code.problems();
    let mut reached = reach::Reached::default();
    let mut rows = page::Rows::new();
    for name in api.iter().flat_map(|group| &group.functions) {
        match table.answer(name, api::is_loaders(api, name)) {
            Ok(Answer::Engine(path)) => match reach::gaps(code, path, &mut reached) {
                Some(gaps) => {
                    rows.insert(name.clone(), page::Row::Engine(gaps));
                }
                None => problems.push(format!("{name} is forwarded to {}, which is not found", path.join("::"))),
            },
            Ok(Answer::Nobody(reason)) => {
                rows.insert(name.clone(), page::Row::Nobody(reason.to_owned()));
            }
            Ok(Answer::Loader) => {
                rows.insert(name.clone(), page::Row::Loader);
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(table.strangers(api));
    problems.extend(reached.orphans(code));
    problems.extend(reached.idle_cuts(code));
    for (name, row) in &rows {
        let unknown = row.constants().into_iter().filter(|word| !names.contains(word));
        problems.extend(unknown.map(|word| format!("{name}: the specification has no `{word}`")));
    }
    if !problems.is_empty() {
        fail!("{} problems\n{}", problems.len(), problems.join("\n"))
    }
    Ok(page::write(api, &rows, code))
}
