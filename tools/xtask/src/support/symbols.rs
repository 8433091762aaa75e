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

    /// A library with `urA` and `urB`, linked with that version script.
    fn library(name: &str, script: &str) -> (std::path::PathBuf, std::path::PathBuf) {
        let folder = std::env::temp_dir().join(format!("xtask-symbols-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [source, map, out] = ["lib.c", "lib.map", "lib.so"].map(|file| folder.join(file));
        std::fs::write(&source, "void urA(void) {}\nvoid urB(void) {}\n").unwrap();
        std::fs::write(&map, script).unwrap();
        let mut cc = process::cc();
        cc.args(["-shared", "-fPIC", "-o"]).arg(&out).arg(&source);
        process::capture(cc.arg(format!("-Wl,--version-script={}", map.display()))).unwrap();
        (out, folder)
    }

    #[test]
    fn a_loader_is_accepted_only_with_exactly_the_scripts_exports_under_the_loaders_version() {
        let good = "LIBUR_LOADER_0.12 {\n global:\n  urA;\n  urB;\n local: *;\n};\n";
        let (lib, folder) = library("good", good);
        assert_eq!(check_loader(&lib, &folder.join("lib.map")).unwrap(), 2);

        let fewer = folder.join("fewer.map");
        std::fs::write(&fewer, "LIBUR_LOADER_0.12 {\n global:\n  urA;\n local: *;\n};\n").unwrap();
        assert!(check_loader(&lib, &fewer).unwrap_err().to_string().contains("exports too many [urB]"));

        let more = folder.join("more.map");
        std::fs::write(&more, "LIBUR_LOADER_0.12 {\n global:\n  urA;\n  urB;\n  urC;\n local: *;\n};\n").unwrap();
        assert!(check_loader(&lib, &more).unwrap_err().to_string().contains("missing exports [urC]"));
        std::fs::remove_dir_all(folder).unwrap();

        let (lib, folder) = library("other-version", &good.replace("0.12", "0.13"));
        let error = check_loader(&lib, &folder.join("lib.map")).unwrap_err().to_string();
        assert!(error.contains("is not a function under LIBUR_LOADER_0.12"), "{error}");
        assert!(check_adapter(&lib).unwrap_err().to_string().contains("no table getter"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
