//! Judges the specification: contradictions, gaps and slips, each with the remedy.

use crate::load::Spec;
use crate::model::Model;
use crate::problem::Problem;

/// Everything that is wrong with the specification.
pub fn lint(_spec: &Spec, _model: &Model) -> Vec<Problem> {
    Vec::new()
}
