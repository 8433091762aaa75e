//! Faults of the project's own extensions: whatever would change the vendor's layout or could collide with what a later
//! release of it brings.

use std::collections::{BTreeMap, BTreeSet};

use crate::ctype::CType;
use crate::lint::Findings;
use crate::load::{Source, Spec};
use crate::model::Release;
use crate::names;
use crate::problem::Location;
use crate::project::VALUES;
use crate::spec::{ApiFile, Text};

/// Looks at the files as written: which have an extension table, and what it may hold.
pub fn check_written(spec: &Spec, findings: &mut Findings) {
    let mut tables: BTreeMap<&str, Location> = BTreeMap::new();
    for source in &spec.api {
        let Some(table) = &source.data.table else {
            if let Some(function) = source.data.function.first().filter(|_| source.data.project) {
                findings.add(
                    &source.at(function.name.span()),
                    function.name.get_ref(),
                    "an extension of the project has its functions in a table of its own; name it with `table = \"…\"` at \
                     the top of the file",
                );
            }
            continue;
        };
        let at = source.at(table.span());
        let mut add = |message: String| findings.add(&at, table.get_ref(), message);
        if !source.data.project {
            add("only an extension of the project has a table of its own; set `project = true` or drop `table`"
                .to_owned());
        }
        if source.data.function.is_empty() {
            add("the table has no function; drop `table`, which only functions need".to_owned());
        }
        let name = table.get_ref();
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_word) {
            add("a table is named by small letters, digits and `_`; rename it".to_owned());
        }
        if let Some(first) = tables.insert(name, at.clone()) {
            add(format!("the table is taken at {}:{}; a table is one file's, rename one", first.file, first.line));
        }
        of_table(source, findings);
    }
}

/// What a file with a table owes so that its header and table stay what they are.
fn of_table(source: &Source<ApiFile>, findings: &mut Findings) {
    let data = &source.data;
    for function in &data.function {
        for text in [&function.since, &function.until].into_iter().flatten() {
            findings.add(
                &source.at(text.span()),
                function.name.get_ref(),
                "a function of an extension table is there in every release, or slots would move; drop `since` and `until`",
            );
        }
        if !function.name.get_ref().ends_with(names::EXTENSION_SUFFIX) {
            let message = format!("the name does not end in `{}`, as the project's own do", names::EXTENSION_SUFFIX);
            findings.add(&source.at(function.name.span()), function.name.get_ref(), message);
        }
    }
    let mut types: Vec<&Text> = data.handle.iter().map(|item| &item.name).collect();
    types.extend(data.typedef.iter().map(|item| &item.name));
    types.extend(data.enums.iter().map(|item| &item.name));
    types.extend(data.structs.iter().chain(&data.unions).map(|item| &item.name));
    types.extend(data.callback.iter().map(|item| &item.name));
    for name in types.into_iter().filter(|name| !name.get_ref().starts_with(names::EXTENSION_TYPE)) {
        let message = format!("the name does not begin with `{}`, and can become the vendor's", names::EXTENSION_TYPE);
        findings.add(&source.at(name.span()), name.get_ref(), message);
    }
}

/// Looks at what the files in `own` add to the release, and that nothing else uses their numbers.
pub fn check(release: &Release, own: &BTreeSet<String>, findings: &mut Findings) {
    for function in &release.functions {
        let found = number("the id", function.id, own.contains(&function.file));
        found.into_iter().for_each(|message| findings.add(&function.at, &function.name, message));
    }
    used_outside(release, findings);
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

/// `ur_api.h` comes before `ur_ext.h`: what stands there cannot use a type of a file with a table.
fn used_outside(release: &Release, findings: &mut Findings) {
    let with_table: BTreeSet<&str> = release.extensions.iter().map(|item| item.file.as_str()).collect();
    let inside = |file: &str| with_table.contains(file);
    let types: BTreeSet<&str> = types_of(release, &inside);
    let mut look = |file: &str, at: &Location, item: &str, ty: &CType| {
        if !inside(file) && types.contains(ty.base.as_str()) {
            findings.add(
                at,
                item,
                format!("uses {}, which is in `ur_ext.h` alone; move it into the file with the table", ty.base),
            );
        }
    };
    release.typedefs.iter().for_each(|item| look(&item.file, &item.at, &item.name, &item.ty));
    for item in release.structs.iter().chain(&release.unions) {
        item.fields.iter().for_each(|field| look(&item.file, &field.at, &item.name, &field.ty));
    }
    for item in &release.callbacks {
        look(&item.file, &item.at, &item.name, &item.returns);
        item.params.iter().for_each(|param| look(&item.file, &param.at, &item.name, &param.ty));
    }
    for item in &release.functions {
        item.params.iter().for_each(|param| look(&item.file, &param.at, &item.name, &param.ty));
    }
}

/// The names of the types that files with a table define.
fn types_of<'r>(release: &'r Release, inside: &dyn Fn(&str) -> bool) -> BTreeSet<&'r str> {
    let mut types: BTreeSet<&str> = BTreeSet::new();
    types.extend(release.handles.iter().filter(|item| inside(&item.file)).map(|item| item.name.as_str()));
    types.extend(release.typedefs.iter().filter(|item| inside(&item.file)).map(|item| item.name.as_str()));
    // A set of flags is used by the name that is made from its own.
    let sets = release.kinds.keys().filter(|name| {
        release.enums.iter().any(|item| inside(&item.file) && item.flags && names::flags_typedef(&item.name) == **name)
    });
    types.extend(sets.map(String::as_str));
    types.extend(release.enums.iter().filter(|item| inside(&item.file)).map(|item| item.name.as_str()));
    let structs = release.structs.iter().chain(&release.unions);
    types.extend(structs.filter(|item| inside(&item.file)).map(|item| item.name.as_str()));
    types.extend(release.callbacks.iter().filter(|item| inside(&item.file)).map(|item| item.name.as_str()));
    types
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
