//! The functions of the newest release, from the specification: by file, in the order of its headers. It knows names
//! alone; what they do is the generator's.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use xtask::support::failure::{Context, Result};
use xtask::support::workspace::Release;

/// What the loader answers itself: everything of this file.
const LOADERS_FILE: &str = "loader";

/// The functions of one file.
#[derive(Debug)]
pub struct Group {
    /// The file's name without folder and extension.
    pub stem: String,
    /// Its heading.
    pub title: String,
    /// Names, in the file's order.
    pub functions: Vec<String>,
}

/// Everything that the newest release has; extensions of our own have groups too, if they have functions.
pub fn read(root: &Path) -> Result<Vec<Group>> {
    let release = Release::R2026_2.name();
    let order = parse(&root.join(format!("spec/releases/{release}.toml")))?;
    let order: Vec<&str> = strings(order.get("order")).collect();
    let mut groups = Vec::new();
    for file in xtask::support::files::list(&root.join("spec/api"))? {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        groups.push(group(stem, &parse(&root.join("spec/api").join(&file))?, release));
    }
    groups.retain(|group| !group.functions.is_empty());
    groups.sort_by_key(|group| order.iter().position(|stem| *stem == group.stem).unwrap_or(order.len()));
    Ok(groups)
}

/// What a file says, as far as the release has it.
pub fn group(stem: String, file: &Table, release: &str) -> Group {
    let title = file.get("title").and_then(Value::as_str).unwrap_or(&stem).to_owned();
    let functions = file.get("function").and_then(Value::as_array).into_iter().flatten();
    let text = |function: &Value, key: &str| function.get(key).and_then(Value::as_str).map(str::to_owned);
    let functions = functions
        .filter(|function| text(function, "until").is_none_or(|last| last == release))
        .filter_map(|function| text(function, "name"))
        .collect();
    Group { stem, title, functions }
}

/// Whether the loader answers a function before any adapter could.
pub fn is_loaders(api: &[Group], name: &str) -> bool {
    let mut files = api.iter().filter(|group| group.stem == LOADERS_FILE);
    files.any(|group| group.functions.iter().any(|own| own == name))
}

/// Every name that the specification gives to anything.
pub fn names(root: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for file in xtask::support::files::list(&root.join("spec/api"))? {
        collect_names(&Value::Table(parse(&root.join("spec/api").join(&file))?), &mut names);
    }
    Ok(names)
}

/// The values of all keys `name`, however deep.
pub fn collect_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            names.extend(table.get("name").and_then(Value::as_str).map(str::to_owned));
            table.values().for_each(|value| collect_names(value, names));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_names(value, names)),
        _ => {}
    }
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn parse(path: &Path) -> Result<Table> {
    fs::read_to_string(path).context(path.display())?.parse().context(path.display())
}
