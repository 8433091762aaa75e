//! One compilation: modules to text of NVVM IR, all of it through libnvvm, and the PTX in a version that the driver takes.

use std::collections::BTreeSet;

use ur_ffi::ur_result_t;
use ur_spirv::nvvm::{Compiler, Nvvm, with_ptx_version};
use ur_spirv::{Options, Translation, translate};

use crate::driver::native::nvvm;
use crate::object::error::{Error, Result};
use crate::program::spirv::{Product, Request, Source, refused};

/// Compiles.
///
/// # Errors
/// As [`super::compile`].
pub(super) fn run(request: &Request<'_>) -> Result<Product> {
    let library = nvvm::open()?;
    let options = options_of(request, &library)?;
    let translations = translated(request, &options)?;
    let names: Vec<String> = (0..translations.len()).map(|number| format!("module {number}")).collect();
    let texts: Vec<(&str, &str)> =
        names.iter().zip(&translations).map(|(name, made)| (name.as_str(), made.text.as_str())).collect();
    let mut words: Vec<String> = Vec::new();
    let asked = translations.iter().flat_map(|made| made.compiler_options(&options));
    for word in asked.chain(request.options.compiler.iter().cloned()) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let libdevice = translations.iter().any(|made| made.uses_libdevice);
    let compiled = library.compile(&texts, &words, libdevice).map_err(|error| nvvm::failed(&error))?;
    let mut log = log_of(request, &translations);
    log.push_str(&compiled.log);
    Ok(Product { ptx: in_version(compiled.ptx, request.target.version), log })
}

/// Translates without compiling, for the errors; what there is to say.
///
/// # Errors
/// As [`super::compile`], but for libnvvm's own.
pub fn check(request: &Request<'_>) -> Result<String> {
    let library = nvvm::open()?;
    let options = options_of(request, &library)?;
    Ok(log_of(request, &translated(request, &options)?))
}

fn options_of(request: &Request<'_>, library: &Nvvm) -> Result<Options> {
    let (sm, dialect) = nvvm::architecture(library, request.target.sm)?;
    Ok(Options {
        dialect,
        sm,
        kernels: None,
        max_threads: request.max_threads,
        line_info: request.options.line_info,
        global_offset: request.global_offset,
    })
}

fn translated(request: &Request<'_>, options: &Options) -> Result<Vec<Translation>> {
    let one = |source: &Source| {
        let translated = source.module().and_then(|module| translate(&module, options));
        translated.map_err(|error| refused(&error))
    };
    let translations = request.sources.iter().map(one).collect::<Result<Vec<_>>>()?;
    if !request.allows_imports {
        check_imports(&translations)?;
    }
    Ok(translations)
}

/// Refuses names that no module defines.
fn check_imports(translations: &[Translation]) -> Result<()> {
    let exports: BTreeSet<&String> = translations.iter().flat_map(|made| &made.exports).collect();
    let open: BTreeSet<&String> =
        translations.iter().flat_map(|made| &made.imports).filter(|name| !exports.contains(name)).collect();
    if open.is_empty() {
        return Ok(());
    }
    let names = open.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Err(Error::new(
        ur_result_t::ERROR_PROGRAM_LINK_FAILURE,
        format!("no module defines {names}; link the module that exports it"),
    ))
}

/// What options and translation have left out.
fn log_of(request: &Request<'_>, translations: &[Translation]) -> String {
    let mut log = request.options.remark();
    for made in translations.iter().filter(|made| !made.log.is_empty()) {
        log.push_str(&made.log);
        if !log.ends_with('\n') {
            log.push('\n');
        }
    }
    log
}

/// The text in no later version than the driver takes.
fn in_version(ptx: String, most: (u32, u32)) -> String {
    match version_of(&ptx) {
        Some(version) if version > most => with_ptx_version(&ptx, most),
        _ => ptx,
    }
}

/// The version that the text says it has.
fn version_of(ptx: &str) -> Option<(u32, u32)> {
    let rest = &ptx[ptx.find(".version ")? + ".version ".len()..];
    let (major, rest) = rest.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.trim().parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_the_driver_does_not_take_becomes_the_highest_it_takes() {
        let ptx = |version: &str| format!("//\n.version {version}\n.target sm_90\n");
        assert_eq!(in_version(ptx("9.5"), (8, 4)), ptx("8.4"));
        assert_eq!(in_version(ptx("8.10"), (8, 9)), ptx("8.9"));
        for version in ["8.4", "7.8", "6.0"] {
            assert_eq!(in_version(ptx(version), (8, 4)), ptx(version));
        }
        assert_eq!(in_version("no version".to_owned(), (8, 4)), "no version");
    }

    #[test]
    fn names_that_no_module_defines_are_all_told() {
        let made = |imports: &[&str], exports: &[&str]| Translation {
            imports: imports.iter().map(|name| (*name).to_owned()).collect(),
            exports: exports.iter().map(|name| (*name).to_owned()).collect(),
            ..Translation::default()
        };
        check_imports(&[made(&["a", "b"], &["c"]), made(&["c"], &["b", "a"])]).unwrap();
        let error = check_imports(&[made(&["a", "b", "d"], &[]), made(&["a"], &["b"])]).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_PROGRAM_LINK_FAILURE);
        assert!(error.message().contains("`a`, `d`;"), "{error}");
    }
}
