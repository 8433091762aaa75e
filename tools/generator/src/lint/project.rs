//! Faults of the project's own extensions: whatever would change the vendor's layout or could collide with what a later
//! release of it brings.

use std::collections::BTreeSet;

use crate::lint::Findings;
use crate::model::Release;
use crate::project::VALUES;

/// Looks at what the files in `own` add to the release, and that nothing else uses their numbers.
pub fn check(release: &Release, own: &BTreeSet<String>, findings: &mut Findings) {
    for function in release.functions.iter().filter(|function| own.contains(&function.file)) {
        findings.add(
            &function.at,
            &function.name,
            "an extension of the project adds no function, a slot of its own would move the vendor's; extend an enum or \
             add a structure for a chain",
        );
    }
    for item in &release.structs {
        if let Some(stype) = item.stype {
            let found = number("the stype", stype, own.contains(&item.file));
            found.into_iter().for_each(|message| findings.add(&item.at, &item.name, message));
        }
    }
    // Derived enumerations repeat numbers that are judged where they are written.
    let written =
        release.enums.iter().filter(|item| item.name != "ur_function_t" && item.name != "ur_structure_type_t");
    for item in written.filter(|item| !own.contains(&item.file)) {
        for value in &item.values {
            let added = own.contains(&value.file);
            if added && item.flags {
                findings.add(
                    &value.at,
                    &value.name,
                    format!("{} has no bits of the project's own; add an enum of flags or a structure", item.name),
                );
            } else if !item.flags {
                let found = number("the value", value.value, added);
                found.into_iter().for_each(|message| findings.add(&value.at, &value.name, message));
            }
        }
    }
}

/// What is wrong with a number that the project added to the vendor's, or that the vendor gave.
fn number(what: &str, value: u32, added: bool) -> Option<String> {
    let range = format!("{:#x} to {:#x}", VALUES.start(), VALUES.end());
    match (added, VALUES.contains(&value)) {
        (true, false) => Some(format!("{what} {value:#x} can become the vendor's; give it one of {range}")),
        (false, true) => Some(format!(
            "{what} {value:#x} is in the range {range} of the project's own extensions; give it another or set \
             `project = true`"
        )),
        _ => None,
    }
}
