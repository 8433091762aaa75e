//! Faults of a release's tables: functions without a slot or with two, slots without a function.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::Findings;
use crate::model::{Dispatch, Release};
use crate::problem::Location;

/// Looks at the vendor's tables and at what they should hold, which nothing of the files in `own` is.
pub fn check(release: &Release, own: &BTreeSet<String>, findings: &mut Findings) {
    let mut slots: BTreeMap<&str, (&str, &Location)> = BTreeMap::new();
    let mut tables: BTreeMap<&str, &Location> = BTreeMap::new();
    for table in &release.tables {
        for name in [&table.name, &table.field] {
            if let Some(first) = tables.insert(name, &table.at) {
                let line = first.line;
                let message = format!("{name} is taken by the table at line {line}; rename one");
                findings.add(&table.at, &table.name, message);
            }
        }
        for slot in &table.slots {
            let name = slot.function.as_str();
            if !name.starts_with(&table.prefix) {
                findings.add(
                    &slot.at,
                    &table.name,
                    format!(
                        "{name} does not begin with the table's prefix {}; move it or fix the prefix",
                        table.prefix
                    ),
                );
            }
            let function = release.function(name);
            if function.is_some_and(|function| own.contains(&function.file)) {
                findings.add(
                    &slot.at,
                    &table.name,
                    format!(
                        "{name} is a function of the project's own, whose slot would move the vendor's; drop the line, \
                         `table` at the top of its file gives it a slot"
                    ),
                );
            }
            if function.is_none() {
                findings.add(
                    &slot.at,
                    &table.name,
                    format!(
                        "there is no function {name} in release {}; define it with [[function]], fix the name or \
                         its since/until",
                        release.name
                    ),
                );
            }
            if let Some((other, first)) = slots.insert(name, (&table.name, &slot.at)) {
                findings.add(
                    &slot.at,
                    &table.name,
                    format!("{name} already has a slot in {other} (line {}); drop one of the two", first.line),
                );
            }
        }
    }
    for function in &release.functions {
        let vendors = !own.contains(&function.file);
        if vendors && function.slot.is_none() && function.dispatch != Dispatch::Loader {
            findings.add(
                &function.at,
                &function.name,
                format!(
                    "has no slot in release {0}; add it to a table of spec/releases/{0}.toml, or end it with \
                     `until` before that release",
                    release.name
                ),
            );
        }
    }
}
