//! `docs/coverage.md` against what adapters answered: each test process of the conformance suite leaves a file for
//! every function that it got success from. What the document calls supported, in whole or in part, must have worked, and
//! what it calls unsupported must not. It needs all of the suite's binaries, so no single test can ask. A file with
//! [`WAITED`] behind its name is of a function in which a native call waited for work: the specification must say when it blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::failure::{Context, Result};
use super::files;
use super::workspace::Workspace;
use crate::fail;

/// The variable that names the folder to test processes.
pub const VARIABLE: &str = "UR_TEST_ANSWERED";

const DOCUMENT: &str = "docs/coverage.md";
const SPECIFICATION: &str = "spec/api";
/// What the engine does with each function.
const MAP: &str = "adapters/common/src/api/map.toml";
const WAITED: &str = ".waited";

/// The folder for the functions that the adapter of a backend answers, `CUDA` or `HIP`.
pub fn folder(workspace: &Workspace, backend: &str) -> PathBuf {
    workspace.target().join("answered").join(backend)
}

/// The same, empty.
pub fn fresh_folder(workspace: &Workspace, backend: &str) -> Result<PathBuf> {
    let folder = folder(workspace, backend);
    files::empty_folder(&folder)?;
    Ok(folder)
}

/// Fails with the functions whose answers are not those of the document's column.
pub fn compare(workspace: &Workspace, backend: &str, folder: &Path) -> Result {
    let path = workspace.path(DOCUMENT);
    let document = fs::read_to_string(&path).context(format!("{} cannot be read", path.display()))?;
    let entries = fs::read_dir(folder).context(format!("{} cannot be read", folder.display()))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let answered: BTreeSet<String> = names.filter(|name| !name.ends_with(WAITED)).collect();
    let differences = differences(&document, backend, &answered);
    if !differences.is_empty() {
        fail!("{DOCUMENT} and the {backend} adapter disagree:\n{}", differences.join("\n"));
    }
    println!("{} functions have worked, as {DOCUMENT} says", answered.len());
    Ok(())
}

/// Fails with the functions that waited for work, which the specification does not call blocking. What makes something may wait when
/// there is no memory, which is said of all of it at once (`spec/README.md`).
pub fn compare_waits(workspace: &Workspace, folders: &[PathBuf]) -> Result {
    let mut waited = BTreeMap::new();
    for folder in folders {
        let entries = fs::read_dir(folder).context(format!("{} cannot be read", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(WAITED) {
                let test = fs::read_to_string(&path).context(format!("{} cannot be read", path.display()))?;
                waited.insert(name.to_owned(), test);
            }
        }
    }
    let folder = workspace.path(SPECIFICATION);
    let entries = fs::read_dir(&folder).context(format!("{} cannot be read", folder.display()))?;
    let map = fs::read_to_string(workspace.path(MAP)).context(format!("{MAP} cannot be read"))?;
    let mut blocking: BTreeSet<String> = makers(&map).context(format!("{MAP} cannot be read"))?.into_iter().collect();
    for path in entries.flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&path).context(format!("{} cannot be read", path.display()))?;
        blocking.extend(blocking_functions(&text).context(format!("{} cannot be read", path.display()))?);
    }
    let untold: Vec<String> = waited
        .iter()
        .filter(|(name, _)| !blocking.contains(*name))
        .map(|(name, test)| format!("{name} (in {test})"))
        .collect();
    if !untold.is_empty() {
        fail!("these waited for work in a test, and {SPECIFICATION} has no `blocks` for them:\n{}", untold.join("\n"));
    }
    println!("{} functions waited for work, and each says when it blocks", waited.len());
    Ok(())
}

/// The functions of the map that make something.
fn makers(text: &str) -> std::result::Result<Vec<String>, toml::de::Error> {
    let map: toml::Table = text.parse()?;
    let functions = map.get("functions").and_then(toml::Value::as_table).into_iter().flatten();
    let makes = |row: &toml::Value| row.get("makes").and_then(toml::Value::as_bool) == Some(true);
    Ok(functions.filter(|(_, row)| makes(row)).map(|(name, _)| name.clone()).collect())
}

/// The functions of a file of the specification that say when they block.
fn blocking_functions(text: &str) -> std::result::Result<Vec<String>, toml::de::Error> {
    let file: toml::Table = text.parse()?;
    let functions = file.get("function").and_then(toml::Value::as_array).into_iter().flatten();
    let name = |function: &toml::Value| function.get("name")?.as_str().map(str::to_owned);
    Ok(functions.filter(|function| function.get("blocks").is_some()).filter_map(name).collect())
}

/// A line for each function that worked though it should not have, or the other way around.
fn differences(document: &str, backend: &str, answered: &BTreeSet<String>) -> Vec<String> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let table = document.lines().filter(|line| line.starts_with("| function |") || line.starts_with("| `ur"));
    let (mut column, mut found, mut rows) = (0, Vec::new(), 0);
    for row in table.map(cells) {
        if row[1] == "function" {
            column = row.iter().position(|cell| cell == backend).unwrap_or(0);
            continue;
        }
        rows += 1;
        let (name, word) = (row[1].trim_matches('`'), row[column].as_str());
        match (word, answered.contains(name)) {
            ("supported" | "partial", true) | ("unsupported", false) | ("loader", _) => {}
            ("supported" | "partial", false) => found.push(format!("{name}: {word}, but no test got success from it")),
            ("unsupported", true) => found.push(format!("{name}: unsupported, but a test got success from it")),
            _ => found.push(format!("{name}: `{word}` is no word of the column {backend}")),
        }
    }
    if rows == 0 {
        found.push("the document has no rows".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
        | function | CUDA | HIP | what is missing, and why |\n|---|---|---|---|\n\
        | `urOne` | supported | partial | a |\n| `urTwo` | supported | unsupported | b |\n\
        | `urThree` | loader | loader |  |\n";

    fn told(backend: &str, answered: &[&str]) -> Vec<String> {
        differences(TABLE, backend, &answered.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_supported_must_have_worked_and_what_is_not_must_not() {
        assert!(told("CUDA", &["urOne", "urTwo"]).is_empty());
        assert!(told("HIP", &["urOne", "urThree"]).is_empty());
        assert_eq!(told("CUDA", &["urOne"]), ["urTwo: supported, but no test got success from it"]);
        assert_eq!(told("HIP", &["urOne", "urTwo"]), ["urTwo: unsupported, but a test got success from it"]);
        assert_eq!(told("HIP", &[]), ["urOne: partial, but no test got success from it"]);
    }

    #[test]
    fn a_function_that_blocks_is_known_by_what_the_specification_says_of_it() {
        let text = "title = 'a'\n[[function]]\nname = 'urOne'\nblocks = 'always.'\n[[function]]\nname = 'urTwo'\n";
        assert_eq!(blocking_functions(text).unwrap(), ["urOne"]);
        assert_eq!(blocking_functions("title = 'a'").unwrap(), [] as [&str; 0]);
        assert!(blocking_functions("[[function]").is_err());
    }

    #[test]
    fn a_function_that_makes_something_is_known_by_the_map() {
        let text = "[functions]\nurOne.engine = 'one'\nurOne.makes = true\nurTwo.engine = 'two'\n";
        assert_eq!(makers(text).unwrap(), ["urOne"]);
        assert!(makers("[functions").is_err());
        let map = fs::read_to_string(Workspace::find().unwrap().path(MAP)).unwrap();
        assert!(makers(&map).unwrap().contains(&"urPhysicalMemCreate".to_owned()), "the map is laid out otherwise");
    }

    #[test]
    fn a_document_that_is_read_wrongly_is_no_agreement() {
        assert_eq!(differences("", "CUDA", &BTreeSet::new()), ["the document has no rows"]);
        assert_eq!(told("Metal", &["urOne", "urTwo"]).len(), 3);
    }
}
