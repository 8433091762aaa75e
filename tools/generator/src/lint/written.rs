//! Faults of the files as written: missing documentation, unknown releases, extensions of nothing.

use std::collections::BTreeSet;

use crate::lint::Findings;
use crate::load::{Source, Spec, release_key};
use crate::problem::Location;
use crate::spec::{ApiFile, Enumerator, Function, Text};

/// Looks at every file.
pub fn check(spec: &Spec, findings: &mut Findings) {
    let releases: BTreeSet<&str> = spec.releases.iter().map(|file| file.data.release.get_ref().as_str()).collect();
    let inherited: BTreeSet<&str> =
        spec.api.iter().flat_map(|file| file.data.parameter_docs.keys().map(String::as_str)).collect();
    for source in &spec.api {
        let mut checker = Checker { source, releases: &releases, inherited: &inherited, findings };
        checker.file();
    }
    extensions(spec, findings);
    release_files(spec, findings);
}

struct Checker<'s, 'f> {
    source: &'s Source<ApiFile>,
    releases: &'s BTreeSet<&'s str>,
    inherited: &'s BTreeSet<&'s str>,
    findings: &'f mut Findings,
}

impl Checker<'_, '_> {
    fn file(&mut self) {
        let source = self.source;
        let top = source.top();
        if source.data.title.is_none() {
            self.findings.add(&top, "", "the file has no title; add `title = \"…\"` at its top");
        }
        self.doc(&top, "the file", &source.data.doc);
        for item in &source.data.handle {
            self.item(&item.name, &item.doc, &item.since, &item.until);
        }
        for item in &source.data.typedef {
            self.item(&item.name, &item.doc, &item.since, &item.until);
        }
        for item in &source.data.define {
            self.item(&item.name, &item.doc, &item.since, &item.until);
        }
        for item in &source.data.enums {
            self.item(&item.name, &item.doc, &item.since, &item.until);
            if item.derived.is_some() && !item.values.is_empty() {
                self.findings.add(
                    &source.at(item.name.span()),
                    item.name.get_ref(),
                    "is derived and lists values as well; remove one of the two",
                );
            }
            item.values.iter().for_each(|value| self.enumerator(value));
        }
        for value in source.data.extend.iter().flat_map(|extend| &extend.values) {
            self.enumerator(value);
        }
        for item in source.data.structs.iter().chain(&source.data.unions) {
            self.item(&item.name, &item.doc, &item.since, &item.until);
            for field in &item.fields {
                let name = format!("{}: field {}", item.name.get_ref(), field.name.get_ref());
                self.doc(&source.at(field.name.span()), &name, &field.doc);
            }
        }
        for item in &source.data.callback {
            self.item(&item.name, &item.doc, &item.since, &item.until);
        }
        for item in &source.data.function {
            self.function(item);
        }
    }

    fn function(&mut self, item: &Function) {
        self.item(&item.name, &item.doc, &item.since, &item.until);
        for param in &item.params {
            let at = self.source.at(param.name.span());
            let name = format!("{}: parameter {}", item.name.get_ref(), param.name.get_ref());
            if param.doc.is_some() || !self.inherited.contains(param.name.get_ref().as_str()) {
                self.doc(&at, &name, &param.doc);
            }
            for release in param.by_release.keys() {
                self.release(&at, &name, "by_release", release);
            }
        }
        for error in &item.errors {
            self.range(item.name.get_ref(), &error.since, &error.until);
        }
    }

    fn enumerator(&mut self, value: &Enumerator) {
        self.item(&value.name, &value.doc, &value.since, &value.until);
        let at = self.source.at(value.name.span());
        for release in value.by_release.keys() {
            self.release(&at, value.name.get_ref(), "by_release", release);
        }
    }

    fn item(&mut self, name: &Text, doc: &Option<Text>, since: &Option<Text>, until: &Option<Text>) {
        let at = self.source.at(name.span());
        self.doc(&at, name.get_ref(), doc);
        self.range(name.get_ref(), since, until);
    }

    fn doc(&mut self, at: &Location, item: &str, doc: &Option<Text>) {
        match doc {
            None => self.findings.add(at, item, "has no doc; add `doc = \"…\"`: what it is or does, in one sentence"),
            Some(text) if text.get_ref().trim().is_empty() => self.findings.add(
                &self.source.at(text.span()),
                item,
                "has an empty doc; say what it is or does, in one sentence",
            ),
            Some(_) => {}
        }
    }

    fn range(&mut self, item: &str, since: &Option<Text>, until: &Option<Text>) {
        for (key, name) in [("since", since), ("until", until)] {
            if let Some(name) = name {
                self.release(&self.source.at(name.span()), item, key, name.get_ref());
            }
        }
        if let (Some(since), Some(until)) = (since, until)
            && release_key(since.get_ref()) > release_key(until.get_ref())
        {
            self.findings.add(
                &self.source.at(since.span()),
                item,
                format!(
                    "is present since {} until {}, which is never; swap or drop one",
                    since.get_ref(),
                    until.get_ref()
                ),
            );
        }
    }

    fn release(&mut self, at: &Location, item: &str, key: &str, name: &str) {
        if !self.releases.contains(name) {
            let known: Vec<&str> = self.releases.iter().copied().collect();
            self.findings.add(
                at,
                item,
                format!(
                    "`{key}` names release {name}, which has no file in spec/releases; known are {}",
                    known.join(", ")
                ),
            );
        }
    }
}

fn extensions(spec: &Spec, findings: &mut Findings) {
    let known: BTreeSet<&str> =
        spec.api.iter().flat_map(|file| &file.data.enums).map(|item| item.name.get_ref().as_str()).collect();
    for source in &spec.api {
        for extend in &source.data.extend {
            if !known.contains(extend.target.get_ref().as_str()) {
                findings.add(
                    &source.at(extend.target.span()),
                    "extend",
                    format!("there is no enum {}; define it with [[enum]] or fix the name", extend.target.get_ref()),
                );
            }
        }
    }
}

fn release_files(spec: &Spec, findings: &mut Findings) {
    let stems: BTreeSet<&str> = spec.api.iter().map(|file| file.stem.as_str()).collect();
    let own = spec.api.iter().flat_map(|file| &file.data.enums).flat_map(|item| &item.values);
    let added = spec.api.iter().flat_map(|file| &file.data.extend).flat_map(|item| &item.values);
    let enumerators: BTreeSet<&str> = own.chain(added).map(|value| value.name.get_ref().as_str()).collect();
    for source in &spec.releases {
        for name in &source.data.order {
            if !stems.contains(name.get_ref().as_str()) {
                findings.add(
                    &source.at(name.span()),
                    "order",
                    format!("there is no spec/api/{}.toml; add it or drop the name", name.get_ref()),
                );
            }
        }
        for (name, value) in &source.data.values {
            if !enumerators.contains(name.as_str()) {
                findings.add(
                    &source.at(value.span()),
                    "values",
                    format!("there is no enumerator {name}; fix the name or drop the line"),
                );
            }
        }
    }
}
