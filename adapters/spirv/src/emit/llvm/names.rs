//! Names in the text: those that modules give to kernels, functions and variables, and the translation's own. The text has one name space.

use std::collections::HashSet;

use super::Writer;
use crate::model::{Id, Module};

/// The names that a module gives to what others see, and the kernels' variants that take a global offset.
pub(super) fn given_names(module: &Module) -> HashSet<String> {
    public_names(module).chain(variant_names(module)).collect()
}

/// Whether no module gives the name of a kernel's variant that takes a global offset to something else: a kernel, an export or an
/// import. Otherwise [`GlobalOffset::Both`](crate::GlobalOffset::Both) makes two things of one name, which no compiler takes.
#[must_use]
pub fn variant_names_are_free(modules: &[Module]) -> bool {
    let given: HashSet<String> = modules.iter().flat_map(public_names).collect();
    modules.iter().flat_map(variant_names).all(|name| !given.contains(&name))
}

/// The names of kernels, exports and imports, as the text has them.
fn public_names(module: &Module) -> impl Iterator<Item = String> {
    let functions = module.functions.iter().map(|function| function.id);
    let ids = functions.chain(module.variables.iter().copied());
    let linked = ids.filter_map(|id| module.linkage(id)).map(|(name, _)| symbol(&name));
    linked.chain(module.entry_points.iter().map(|entry| entry.name.clone()))
}

fn variant_names(module: &Module) -> impl Iterator<Item = String> {
    module.entry_points.iter().map(|entry| with_offset(&entry.name))
}

/// The variant of a kernel that takes a global offset.
pub(super) fn with_offset(kernel: &str) -> String {
    format!("{kernel}_with_offset")
}

impl Writer<'_> {
    /// The name of what the module has no name for: this one, or with as many `$` behind it as tell it from the module's own.
    pub(super) fn own_name(&self, mut name: String) -> String {
        while self.given_names.contains(&name) {
            name.push('$');
        }
        name
    }

    /// The name of a function that others see. Khronos' translator writes a kernel as an entry point and gives its name to the
    /// function that it calls, too; OpenCL lets kernels of other modules call that.
    pub(super) fn function_symbol(&self, name: &str) -> String {
        if self.program.kernels.contains(name) { format!("ur_function_{name}") } else { name.to_owned() }
    }

    /// The name that others see the id by, and its linkage type. A kernel's function is for modules that were seen to call it.
    pub(super) fn public_name(&self, id: Id) -> Option<(String, u32)> {
        let (name, linkage) = self.module.linkage(id).filter(|_| !self.module.is_entry_point(id))?;
        let name = symbol(&name);
        let hidden = self.program.kernels.contains(&name) && !self.is_imported(&name);
        (!hidden).then_some((name, linkage))
    }

    /// Whether others see the id by name, and may use it.
    pub(super) fn is_exported(&self, id: Id) -> bool {
        const IMPORT: u32 = 1;
        let public = self.public_name(id).filter(|(_, linkage)| *linkage != IMPORT);
        public.is_some_and(|(name, _)| self.options.kernels.is_none() || self.is_imported(&name))
    }

    fn is_imported(&self, name: &str) -> bool {
        self.program.imported.as_ref().is_some_and(|imported| imported.contains(name))
    }
}

/// A name that PTX takes, and LLVM without quotes: what they do not take is replaced.
pub(in super::super) fn symbol(name: &str) -> String {
    let fits =
        |at: usize, c: char| c.is_ascii_alphanumeric() && (at > 0 || !c.is_ascii_digit()) || c == '_' || c == '$';
    name.char_indices().map(|(at, c)| if fits(at, c) { c } else { '_' }).collect()
}
