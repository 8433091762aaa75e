//! Helper functions: code with control flow or of many lines that several instructions share. Each is written once a module, by
//! name, and inlined.

use std::fmt::Write as _;

use super::Writer;
use crate::error::Result;

/// How a helper may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// It depends on its arguments alone.
    Free,
    /// Threads of the group meet in it.
    Convergent,
}

/// A helper's head: what it returns and takes, with the names of its parameters.
pub(super) struct Head<'a> {
    pub name: &'a str,
    pub returns: &'a str,
    pub parameters: &'a str,
    pub motion: Motion,
}

impl Writer<'_> {
    /// Writes the helper unless it is there. `body` writes its blocks, the label of the first included.
    ///
    /// # Errors
    /// As `body`.
    pub(super) fn helper(&mut self, head: &Head<'_>, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if !self.helpers.insert(head.name.to_owned()) {
            return Ok(());
        }
        let outer = std::mem::take(&mut self.out);
        let location = std::mem::take(&mut self.location);
        let temporaries = std::mem::replace(&mut self.temporaries, 0);
        let attributes = if head.motion == Motion::Free { 1 } else { 2 };
        let _ =
            writeln!(self.out, "define internal {} @{}({}) #{attributes} {{", head.returns, head.name, head.parameters);
        let result = body(self);
        self.out.push_str("}\n");
        let text = std::mem::replace(&mut self.out, outer);
        self.helper_text.push_str(&text);
        self.location = location;
        self.temporaries = temporaries;
        result
    }

    /// Begins a block of a helper.
    pub(super) fn label(&mut self, name: &str) {
        let _ = writeln!(self.out, "{name}:");
    }

    /// Ends a helper with a value.
    pub(super) fn ret(&mut self, ty: &str, value: &str) {
        self.put(format_args!("ret {ty} {value}"));
    }
}
