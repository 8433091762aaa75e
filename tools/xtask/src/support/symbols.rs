//! What a shared object exports, and whether that is exactly what it should. It reads; it mends nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use super::failure::{Context, Result};
use super::process;
use crate::fail;

/// The version under which the loader exports the vendor's API.
const LOADER_VERSION: &str = "LIBUR_LOADER_0.12";
/// The version under which it exports the project's own functions, which adapters export as well.
const EXTENSION_VERSION: &str = "LIBUR_EXT_0.1";

/// A defined dynamic symbol: its name, and its version if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Export {
    name: String,
    version: Option<String>,
    kind: String,
}

/// Checks the loader: the symbols of the version script, each a function whose default version is the one it has there.
/// Answers how many there are.
pub fn check_loader(library: &Path, script: &Path) -> Result<usize> {
    let expected = exports_of_script(&std::fs::read_to_string(script).context(script.display())?);
    let versions = [LOADER_VERSION, EXTENSION_VERSION];
    let mut found = BTreeSet::new();
    for export in exports(library)? {
        if export.kind == "A" && versions.contains(&&*export.name) {
            continue; // the version's own symbol
        }
        let version = expected.get(&export.name).map_or(LOADER_VERSION, String::as_str);
        if export.kind != "T" || !versions.contains(&version) || export.version.as_deref() != Some(version) {
            fail!("{}: `{}` is not a function under {version}", library.display(), export.name);
        }
        found.insert(export.name);
    }
    same(library, &expected.into_keys().collect(), &found)
}

/// Checks an adapter: the table getters, and of the project's own functions those that the loader's version script has,
/// nothing else. Answers how many there are.
pub fn check_adapter(library: &Path, script: &Path) -> Result<usize> {
    let own = exports_of_script(&std::fs::read_to_string(script).context(script.display())?);
    let own: BTreeSet<String> =
        own.into_iter().filter(|(_, version)| version == EXTENSION_VERSION).map(|(name, _)| name).collect();
    let exports: BTreeSet<String> = exports(library)?.into_iter().map(|export| export.name).collect();
    let is_getter = |name: &String| name.starts_with("urGet") && name.ends_with("ProcAddrTable");
    let (getters, rest): (BTreeSet<String>, BTreeSet<String>) = exports.into_iter().partition(is_getter);
    if getters.is_empty() {
        fail!("{}: no table getter is exported, so no loader can use it", library.display());
    }
    Ok(getters.len() + same(library, &own, &rest)?)
}

/// Checks the library that stands before libsycl: its functions and nothing else, or it would stand before more.
pub fn check_images(library: &Path) -> Result {
    let expected = ["__sycl_register_lib", "__sycl_unregister_lib", "ur_sycl_images_offer"].map(str::to_owned);
    let found: BTreeSet<String> = exports(library)?.into_iter().map(|export| export.name).collect();
    same(library, &expected.into(), &found).map(drop)
}

/// The number of exports, which must be those that are expected.
fn same(library: &Path, expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Result<usize> {
    let missing: Vec<_> = expected.difference(found).cloned().collect();
    let extra: Vec<_> = found.difference(expected).cloned().collect();
    if !missing.is_empty() || !extra.is_empty() {
        fail!("{}: missing exports [{}], exports too many [{}]", library.display(), missing.join(" "), extra.join(" "));
    }
    Ok(found.len())
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

/// The names in the `global:` sections of a version script, each with its version.
fn exports_of_script(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (head, body) in text.split('}').filter_map(|version| version.split_once('{')) {
        let version = head.split_whitespace().last().unwrap_or_default();
        let global = body.split_once("global:").map_or("", |(_, rest)| rest);
        let global = global.split_once("local:").map_or(global, |(names, _)| names);
        let names = global.split(';').map(str::trim).filter(|name| name.starts_with("ur"));
        found.extend(names.map(|name| (name.to_owned(), version.to_owned())));
    }
    found
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
    fn a_version_script_gives_its_global_names_with_their_versions() {
        let script =
            "/* c */\nV {\n global:\n  urA;\n  urB;\n local:\n  urHidden;\n *;\n};\nW {\n global:\n  urC;\n};\n";
        let expected = [("urA", "V"), ("urB", "V"), ("urC", "W")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(exports_of_script(script), BTreeMap::from(expected));
    }

    /// A library with `urA` and `urB`, linked with that version script.
    fn library(name: &str, script: &str) -> (std::path::PathBuf, std::path::PathBuf) {
        library_of(name, "void urA(void) {}\nvoid urB(void) {}\n", Some(script))
    }

    fn library_of(name: &str, code: &str, script: Option<&str>) -> (std::path::PathBuf, std::path::PathBuf) {
        let folder = std::env::temp_dir().join(format!("xtask-symbols-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [source, map, out] = ["lib.c", "lib.map", "lib.so"].map(|file| folder.join(file));
        std::fs::write(&source, code).unwrap();
        let mut cc = process::cc();
        cc.args(["-shared", "-fPIC", "-o"]).arg(&out).arg(&source);
        if let Some(script) = script {
            std::fs::write(&map, script).unwrap();
            cc.arg(format!("-Wl,--version-script={}", map.display()));
        }
        process::capture(&mut cc).unwrap();
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
        assert!(check_adapter(&lib, &folder.join("lib.map")).unwrap_err().to_string().contains("no table getter"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// A script of the loader whose own function is `urB`.
    const BOTH: &str = "LIBUR_LOADER_0.12 {\n global:\n  urA;\n local: *;\n};\nLIBUR_EXT_0.1 {\n global:\n  urB;\n};\n";

    #[test]
    fn the_projects_own_functions_are_expected_under_their_own_version() {
        let (lib, folder) = library("both", BOTH);
        assert_eq!(check_loader(&lib, &folder.join("lib.map")).unwrap(), 2);
        let swapped = folder.join("swapped.map");
        std::fs::write(&swapped, BOTH.replace("urA", "urX").replace("urB", "urA").replace("urX", "urB")).unwrap();
        let error = check_loader(&lib, &swapped).unwrap_err().to_string();
        assert!(error.contains("is not a function under"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_adapter_exports_the_projects_own_functions_by_name_and_nothing_else_beside_its_getters() {
        let getter = "void urGetXProcAddrTable(void) {}\n";
        let (lib, folder) = library_of("adapter", &format!("{getter}void urB(void) {{}}\n"), None);
        let map = folder.join("loader.map");
        std::fs::write(&map, BOTH).unwrap();
        assert_eq!(check_adapter(&lib, &map).unwrap(), 2);
        std::fs::write(&map, BOTH.replace("urB", "urC")).unwrap();
        let error = check_adapter(&lib, &map).unwrap_err().to_string();
        assert!(error.contains("missing exports [urC], exports too many [urB]"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
