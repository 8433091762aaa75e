//! Whose adapter is under test. Some promises are this project's alone: the specification leaves them open, other adapters do
//! not make them, and some adapters crash where ours refuse. Tests of such a promise begin with `needs_ours!`, or go on with
//! it where all before it holds for everybody.

use crate::extension;

/// Whether the adapter under test is this project's own, which all offer the project's own functions.
#[must_use]
pub fn is_ours() -> bool {
    extension::getter().is_some()
}
