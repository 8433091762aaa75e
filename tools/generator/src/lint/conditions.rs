//! Faults of what functions say about errors and about waiting: conditions that cannot be read or mean nothing, sentences
//! that name what is not there.

use crate::condition::{self, Fault};
use crate::lint::Findings;
use crate::model::{Condition, Function, Release};

/// Looks at every function.
pub fn check(release: &Release, findings: &mut Findings) {
    for function in &release.functions {
        for error in &function.errors {
            let mut tell = |condition: &Condition, fault: Fault| {
                tell(findings, function, &error.code, condition, &fault);
            };
            for when in &error.when {
                let parsed = condition::parse(&when.text);
                let judged = parsed.and_then(|expr| condition::check(release, function, &error.code, &expr));
                judged.err().into_iter().for_each(|fault| tell(when, fault));
            }
            for sentence in &error.prose {
                let judged = condition::check_prose(release, function, &sentence.text);
                judged.err().into_iter().for_each(|fault| tell(sentence, fault));
            }
        }
        for param in function.params.iter().filter(|param| param.name.starts_with("blocking")) {
            let quoted = format!("`{}`", param.name);
            if !function.blocks.as_ref().is_some_and(|blocks| blocks.text.contains(&quoted)) {
                findings.add(
                    &param.at,
                    &function.name,
                    format!(
                        "has a parameter {}, which `blocks` does not name; say what the call waits for",
                        param.name
                    ),
                );
            }
        }
        if let Some(blocks) = &function.blocks {
            let judged = condition::check_prose(release, function, &blocks.text);
            judged.err().into_iter().for_each(|fault| tell(findings, function, "`blocks`", blocks, &fault));
            if !blocks.text.ends_with('.') {
                findings.add(
                    &blocks.at,
                    &function.name,
                    "`blocks` is no sentence; say when and why, and end with a full stop",
                );
            }
        }
    }
}

fn tell(findings: &mut Findings, function: &Function, what: &str, condition: &Condition, fault: &Fault) {
    findings.add(
        &condition.at,
        &function.name,
        format!("{what}, column {} of \"{}\": {}", fault.column, condition.text, fault.message),
    );
}
