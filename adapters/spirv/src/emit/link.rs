//! Several modules as one program: what one imports another exports. Each module is translated for itself; libnvvm joins the texts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Options, Program, Translation, translate_with};
use crate::error::{Error, Result};
use crate::model::{Kernel, Module};

/// Linkage types of SPIR-V.
const EXPORT: u32 = 0;
const IMPORT: u32 = 1;

/// Translated modules that belong together.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// One for each module, in their order.
    pub translations: Vec<Translation>,
    /// What no module defines; empty for a program that can run.
    pub unresolved: Vec<String>,
}

impl Linked {
    /// The texts, each with a name for the compiler's messages.
    #[must_use]
    pub fn texts(&self) -> Vec<(String, &str)> {
        self.translations.iter().enumerate().map(|(at, t)| (format!("module{at}"), t.text.as_str())).collect()
    }

    /// The kernels of all modules.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.translations.iter().flat_map(|translation| &translation.kernels)
    }

    /// Some text calls functions of libdevice.
    #[must_use]
    pub fn uses_libdevice(&self) -> bool {
        self.translations.iter().any(|translation| translation.uses_libdevice)
    }

    /// Some module wants subnormal numbers of 32 bits flushed to zero, and none wants them kept: the compiler's option is for the
    /// whole program.
    #[must_use]
    pub fn flush_denormals(&self) -> bool {
        self.translations.iter().any(|translation| translation.flush_denormals)
            && !self.translations.iter().any(|translation| translation.preserve_denormals)
    }

    /// The options that libnvvm must compile the texts with: the strictest that one of them wants.
    #[must_use]
    pub fn compiler_options(&self, options: &Options) -> Vec<String> {
        let strictest = Translation {
            contraction_off: self.translations.iter().any(|t| t.contraction_off),
            flush_denormals: self.flush_denormals(),
            ..Translation::default()
        };
        strictest.compiler_options(options)
    }
}

/// Translates modules that import from each other. With [`Options::kernels`] each wanted kernel must be in one of them.
///
/// # Errors
/// As [`super::translate`]; also two modules have a kernel or export a name that may be there once.
pub fn link(modules: &[&Module], options: &Options) -> Result<Linked> {
    check_kernels(modules, options)?;
    let exported = exported_names(modules)?;
    let mut program = Program::of(modules, options);
    program.imported = Some(modules.iter().flat_map(|module| linked_names(module, IMPORT)).collect());
    let mut linked = Linked::default();
    let mut unresolved = BTreeSet::new();
    for module in modules {
        let mut own = options.clone();
        if let Some(wanted) = &options.kernels {
            own.kernels = Some(wanted.iter().filter(|name| has_kernel(module, name)).cloned().collect());
        }
        let translation = translate_with(module, &own, &program)?;
        unresolved.extend(translation.imports.iter().filter(|name| !exported.contains_key(*name)).cloned());
        linked.translations.push(translation);
    }
    linked.unresolved = unresolved.into_iter().collect();
    Ok(linked)
}

fn has_kernel(module: &Module, name: &str) -> bool {
    module.entry_points.iter().any(|entry| entry.name == name)
}

fn check_kernels(modules: &[&Module], options: &Options) -> Result<()> {
    let mut seen = BTreeSet::new();
    for entry in modules.iter().flat_map(|module| &module.entry_points) {
        if !seen.insert(entry.name.as_str()) {
            return Err(Error::link(format!("two modules have a kernel {}", entry.name)));
        }
    }
    match options.kernels.iter().flatten().find(|name| !seen.contains(name.as_str())) {
        Some(name) => Err(Error::option(format!("no module has a kernel {name}"))),
        None => Ok(()),
    }
}

/// The names of what the module shares with this linkage type, as the target's text has them.
fn linked_names(module: &Module, wanted: u32) -> Vec<String> {
    let functions = module.functions.iter().map(|function| function.id);
    let ids = functions.chain(module.variables.iter().copied());
    let named = ids.filter_map(|id| module.linkage(id));
    named.filter(|(_, linkage)| *linkage == wanted).map(|(name, _)| super::symbol(&name)).collect()
}

/// Every exported name, with how many modules export it so that no other may.
fn exported_names(modules: &[&Module]) -> Result<BTreeMap<String, usize>> {
    const LINK_ONCE: u32 = 2;
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules {
        for name in linked_names(module, EXPORT) {
            *names.entry(name).or_default() += 1;
        }
        for name in linked_names(module, LINK_ONCE) {
            names.entry(name).or_default();
        }
    }
    match names.iter().find(|(_, count)| **count > 1) {
        Some((name, _)) => Err(Error::link(format!("two modules export {name}"))),
        None => Ok(names),
    }
}
