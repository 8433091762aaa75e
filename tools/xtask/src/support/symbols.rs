//! What a shared object exports, and whether that is exactly what it should. It reads; it mends nothing.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::failure::{Context, Result};
use super::process;
use crate::fail;

/// The version under which the loader exports everything.
const LOADER_VERSION: &str = "LIBUR_LOADER_0.12";

/// A defined dynamic symbol: its name, and its version if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Export {
    name: String,
    version: Option<String>,
    kind: String,
}

/// Checks the loader: the symbols of the version script, each a function under the loader's version as the default.
/// Answers how many there are.
pub fn check_loader(library: &Path, script: &Path) -> Result<usize> {
    let text = std::fs::read_to_string(script).context(script.display())?;
    let expected = exports_of_script(&text);
    let mut found = BTreeSet::new();
    for export in exports(library)? {
        if export.kind == "A" && export.name == LOADER_VERSION {
            continue; // the version's own symbol
        }
        if export.kind != "T" || export.version.as_deref() != Some(LOADER_VERSION) {
            fail!("{}: `{}` is not a function under {LOADER_VERSION}", library.display(), export.name);
        }
        found.insert(export.name);
    }
    let missing: Vec<_> = expected.difference(&found).cloned().collect();
    let extra: Vec<_> = found.difference(&expected).cloned().collect();
    if expected.is_empty() || !missing.is_empty() || !extra.is_empty() {
        fail!("{}: missing exports [{}], exports too many [{}]", library.display(), missing.join(" "), extra.join(" "));
    }
    Ok(found.len())
}

/// Checks an adapter: table getters and nothing else. Answers how many there are.
pub fn check_adapter(library: &Path) -> Result<usize> {
    let exports = exports(library)?;
    for export in &exports {
        if !(export.name.starts_with("urGet") && export.name.ends_with("ProcAddrTable")) {
            fail!("{}: `{}` is exported, and is no table getter", library.display(), export.name);
        }
    }
    if exports.is_empty() {
        fail!("{}: no table getter is exported, so no loader can use it", library.display());
    }
    Ok(exports.len())
}

fn exports(library: &Path) -> Result<Vec<Export>> {
    let printed = process::capture(Command::new("nm").args(["-D", "--defined-only"]).arg(library))?;
    Ok(printed.stdout.lines().filter_map(parse).collect())
}

/// A line of `nm -D`: address, kind, `name` or `name@@version` (default) or `name@version` (hidden).
fn parse(line: &str) -> Option<Export> {
    let mut fields = line.split_whitespace().skip(1);
    let (kind, symbol) = (fields.next()?.to_owned(), fields.next()?);
    let (name, version) = match symbol.split_once("@@") {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (symbol, None),
    };
    Some(Export { name: name.to_owned(), version, kind })
}

/// The names in the `global:` section of a version script.
fn exports_of_script(text: &str) -> BTreeSet<String> {
    let global = text.split_once("global:").map_or("", |(_, rest)| rest);
    let global = global.split_once("local:").map_or(global, |(names, _)| names);
    global.split(';').map(|name| name.trim().to_owned()).filter(|name| name.starts_with("ur")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_version_is_told_from_none_and_from_a_hidden_one() {
        let default = parse("0000000000012340 T urLoaderInit@@LIBUR_LOADER_0.12").unwrap();
        assert_eq!((default.name.as_str(), default.version.as_deref()), ("urLoaderInit", Some(LOADER_VERSION)));
        assert_eq!(parse("0000000000012340 T urLoaderInit").unwrap().version, None);
        assert_eq!(parse("0000000000012340 T urLoaderInit@LIBUR_LOADER_0.12").unwrap().version, None);
    }

    #[test]
    fn a_version_script_gives_its_global_names_only() {
        let names = exports_of_script("V {\n global:\n  urA;\n  urB;\n local:\n  urHidden;\n *;\n};\n");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["urA", "urB"]);
    }
}
