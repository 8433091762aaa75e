//! Judges the specification: contradictions, gaps and slips, each with the remedy.
//!
//! [`written`] looks at the files as they stand, [`released`] at each release as it was worked out, [`tags`] at what its
//! parameters and fields are tagged with, [`conditions`] at what its functions say of errors and of waiting, [`project`]
//! at the extensions of the project's own. Nothing is repaired here.

mod conditions;
mod project;
mod released;
mod tables;
mod tags;
mod written;

use crate::load::Spec;
use crate::model::Model;
use crate::problem::{Location, Problem};
use crate::project::files;

/// Everything that is wrong with the specification, each thing once.
pub fn lint(spec: &Spec, model: &Model) -> Vec<Problem> {
    let mut findings = Findings::default();
    written::check(spec, &mut findings);
    project::check_written(spec, &mut findings);
    let own = files(model);
    for release in &model.releases {
        released::check(release, &mut findings);
        tags::check(release, &mut findings);
        conditions::check(release, &mut findings);
        tables::check(release, &own, &mut findings);
        project::check(release, &own, &mut findings);
    }
    // Names and numbers stay one thing's across releases: bindings have them all at once.
    released::check(&model.union, &mut findings);
    findings.problems.sort();
    findings.problems.dedup();
    findings.problems
}

/// What has been found so far.
#[derive(Default)]
struct Findings {
    problems: Vec<Problem>,
}

impl Findings {
    fn add(&mut self, at: &Location, item: &str, message: impl Into<String>) {
        self.problems.push(Problem::Spec { at: at.clone(), item: item.to_owned(), message: message.into() });
    }
}
