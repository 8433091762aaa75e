//! Faults of tags. They decide what the thunks check and what the loader dispatches by, by exact comparison, so a misspelt one would
//! silently change the ABI's behaviour.

use crate::lint::Findings;
use crate::model::Release;
use crate::problem::Location;

/// Tags that are one word.
const WORDS: [&str; 8] = ["in", "out", "in,out", "optional", "alloc", "retain", "release", "nocheck"];
/// Tags that name others in parentheses: `range(0, count)`.
const NAMING: [&str; 4] = ["range", "bounds", "tagged_by", "typename"];

/// Looks at the tags of every parameter and field of the release.
pub fn check(release: &Release, findings: &mut Findings) {
    let callbacks = release.callbacks.iter().map(|item| (&item.name, &item.params));
    let functions = release.functions.iter().map(|item| (&item.name, &item.params));
    for (item, params) in callbacks.chain(functions) {
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        for param in params {
            let owner = Owner { at: &param.at, item, kind: "parameter", name: &param.name, siblings: &names };
            owner.check(&param.tags, findings);
        }
    }
    for item in release.structs.iter().chain(&release.unions) {
        let names: Vec<&str> = item.fields.iter().map(|field| field.name.as_str()).collect();
        for field in &item.fields {
            let owner = Owner { at: &field.at, item: &item.name, kind: "field", name: &field.name, siblings: &names };
            owner.check(&field.tags, findings);
        }
    }
}

/// What carries tags.
struct Owner<'m> {
    at: &'m Location,
    item: &'m str,
    /// "parameter" or "field"
    kind: &'static str,
    name: &'m str,
    /// What its tags may name.
    siblings: &'m [&'m str],
}

impl Owner<'_> {
    fn check(&self, tags: &[String], findings: &mut Findings) {
        for tag in tags {
            let naming = tag.strip_suffix(')').and_then(|tag| tag.split_once('('));
            match naming {
                Some((kind, inner)) if NAMING.contains(&kind) => self.names(tag, inner, findings),
                None if WORDS.contains(&tag.as_str()) => {}
                _ => self.unknown(tag, findings),
            }
        }
    }

    fn unknown(&self, tag: &str, findings: &mut Findings) {
        let naming = NAMING.map(|kind| format!("{kind}(...)"));
        let known = WORDS.map(str::to_owned).into_iter().chain(naming).collect::<Vec<_>>().join(" | ");
        let Owner { kind, name, .. } = self;
        findings.add(self.at, self.item, format!("{kind} {name} has the unknown tag `{tag}`; use one of {known}"));
    }

    /// Whether what a tag such as `range(0, count)` names is there.
    fn names(&self, tag: &str, inner: &str, findings: &mut Findings) {
        let words = inner.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
        for missing in named.filter(|word| !self.siblings.contains(word)) {
            let Owner { kind, name, .. } = self;
            let message = format!("{kind} {name} has {tag}, but there is no {kind} {missing}; fix the name");
            findings.add(self.at, self.item, message);
        }
    }
}
