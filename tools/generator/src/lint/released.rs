//! Faults of a release: unknown types and codes, names and numbers given twice, flags of several bits.

use std::collections::{BTreeMap, BTreeSet};

use crate::ctype::CType;
use crate::layout;
use crate::lint::Findings;
use crate::model::{Dispatch, Enum, Function, Release, Struct};
use crate::names;
use crate::problem::Location;

/// Looks at every item of the release.
pub fn check(release: &Release, findings: &mut Findings) {
    types(release, findings);
    duplicates(release, findings);
    for item in &release.enums {
        enumeration(item, findings);
    }
    for item in release.structs.iter().chain(&release.unions) {
        fields(release, item, findings);
    }
    let codes: BTreeSet<&str> = release
        .enums
        .iter()
        .filter(|item| item.name == "ur_result_t")
        .flat_map(|item| &item.values)
        .map(|value| value.name.as_str())
        .collect();
    for function in &release.functions {
        self::function(function, &codes, findings);
    }
}

fn types(release: &Release, findings: &mut Findings) {
    for item in &release.typedefs {
        known(release, findings, &item.at, &item.name, "", &item.ty);
    }
    for item in &release.enums {
        for value in &item.values {
            if let Some(ty) = &value.value_type {
                known(release, findings, &value.at, &value.name, "", ty);
            }
        }
    }
    for item in release.structs.iter().chain(&release.unions) {
        for field in &item.fields {
            let part = format!("field {} ", field.name);
            known(release, findings, &field.at, &item.name, &part, &field.ty);
        }
    }
    let callbacks = release.callbacks.iter().map(|item| (&item.name, &item.params));
    let functions = release.functions.iter().map(|item| (&item.name, &item.params));
    for (name, params) in callbacks.chain(functions) {
        for param in params {
            let part = format!("parameter {} ", param.name);
            known(release, findings, &param.at, name, &part, &param.ty);
        }
    }
    for item in &release.callbacks {
        known(release, findings, &item.at, &item.name, "result ", &item.returns);
    }
}

fn known(release: &Release, findings: &mut Findings, at: &Location, item: &str, part: &str, ty: &CType) {
    if release.kind(&ty.base).is_some() {
        return;
    }
    let construct = match ty.base.as_str() {
        name if name.ends_with("_handle_t") => "[[handle]]".to_owned(),
        name if name.ends_with("_flags_t") => {
            format!("an [[enum]] {}_flag_t", name.trim_end_matches("_flags_t"))
        }
        name if name.ends_with("_callback_t") => "[[callback]]".to_owned(),
        _ => "[[struct]], [[enum]] or [[typedef]]".to_owned(),
    };
    findings.add(at, item, format!("{part}has unknown type {}; define it with {construct} or fix the name", ty.base));
}

fn duplicates(release: &Release, findings: &mut Findings) {
    let mut names = Seen::default();
    let mut note = |at: &Location, name: &str| names.note(findings, at, name, name, "the name");
    release.handles.iter().for_each(|item| note(&item.at, &item.name));
    release.typedefs.iter().for_each(|item| note(&item.at, &item.name));
    release.defines.iter().for_each(|item| note(&item.at, &item.name));
    release.structs.iter().for_each(|item| note(&item.at, &item.name));
    release.unions.iter().for_each(|item| note(&item.at, &item.name));
    release.callbacks.iter().for_each(|item| note(&item.at, &item.name));
    release.functions.iter().for_each(|item| note(&item.at, &item.name));
    for item in &release.enums {
        note(&item.at, &item.name);
        item.values.iter().for_each(|value| note(&value.at, &value.name));
    }
    let mut ids = Seen::default();
    for item in &release.functions {
        ids.note(findings, &item.at, &item.name, &item.id.to_string(), "the id");
    }
    let mut tags = Seen::default();
    for item in &release.structs {
        if let Some(stype) = item.stype {
            tags.note(findings, &item.at, &item.name, &stype.to_string(), "the stype");
        }
    }
}

/// What has been given to whom.
#[derive(Default)]
struct Seen {
    owners: BTreeMap<String, Location>,
}

impl Seen {
    fn note(&mut self, findings: &mut Findings, at: &Location, item: &str, key: &str, what: &str) {
        if let Some(first) = self.owners.get(key) {
            findings.add(
                at,
                item,
                format!("{what} {key} is taken at {}:{}; give one of the two another", first.file, first.line),
            );
        } else {
            self.owners.insert(key.to_owned(), at.clone());
        }
    }
}

fn enumeration(item: &Enum, findings: &mut Findings) {
    // Derived enumerations repeat numbers that are judged where they are written: at functions and structures.
    let derived = item.name == "ur_function_t" || item.name == "ur_structure_type_t";
    let mut values = Seen::default();
    for value in &item.values {
        // `…_CURRENT` is a second name of the newest value, by intent.
        if !derived && !value.name.ends_with("_CURRENT") {
            let key = value.value.to_string();
            values.note(findings, &value.at, &value.name, &key, "the value");
        }
        let prefix = names::enumerator_prefix(&item.name);
        if !value.name.starts_with(&prefix) {
            findings.add(
                &value.at,
                &value.name,
                format!("an enumerator of {} begins with {prefix}; rename it", item.name),
            );
        }
        if item.flags && !value.value.is_power_of_two() {
            findings.add(
                &value.at,
                &value.name,
                format!("the flag's value {:#x} is not a single bit; give it one", value.value),
            );
        }
    }
    let claimed = item.values.iter().find(|value| value.value & item.mask() != 0);
    if let (true, Some(value)) = (item.flags, claimed) {
        findings.add(
            &item.at,
            &item.name,
            format!("the mask calls {} meaningless; clear its bit or drop `mask`", value.name),
        );
    }
}

fn fields(release: &Release, item: &Struct, findings: &mut Findings) {
    let mut names = Seen::default();
    for field in &item.fields {
        let owner = format!("{}: field {}", item.name, field.name);
        names.note(findings, &field.at, &owner, &field.name, "the name");
    }
    let unknown = item.fields.iter().any(|field| release.kind(&field.ty.base).is_none());
    if !unknown && layout::of_struct(release, item).is_none() {
        findings.add(&item.at, &item.name, "has no size: it holds itself, or an array without a bound; use a pointer");
    }
}

fn function(function: &Function, codes: &BTreeSet<&str>, findings: &mut Findings) {
    let mut names = Seen::default();
    for param in &function.params {
        let owner = format!("{}: parameter {}", function.name, param.name);
        names.note(findings, &param.at, &owner, &param.name, "the name");
    }
    for error in &function.errors {
        if !codes.contains(error.code.as_str()) {
            findings.add(
                &function.at,
                &function.name,
                format!("answers {}, which ur_result_t does not have; add the enumerator or fix the code", error.code),
            );
        }
    }
    if function.dispatch == Dispatch::Nowhere {
        findings.add(
            &function.at,
            &function.name,
            "no parameter leads to an adapter; give it a handle that is not optional, or a constant array of \
             handles, or implement it in the loader (spec/api/loader.toml)",
        );
    }
}
