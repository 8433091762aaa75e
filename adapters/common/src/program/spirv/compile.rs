//! One compilation: modules to LLVM's text, all of it through the target's compiler, and PTX in a version that the driver takes.

use ur_ffi::ur_result_t;
use ur_spirv::comgr::{Flags, Isa};
use ur_spirv::nvvm::{Compiler, Nvvm, with_ptx_version};
use ur_spirv::{Dialect, GlobalOffset, Linked, Module, Options, link, variant_names_are_free};

use crate::driver::native::{comgr, nvvm};
use crate::driver::{AmdgcnTarget, PtxTarget, SpirvTarget};
use crate::object::error::{Error, Result};
use crate::program::spirv::{BuildOptions, Product, Request, Source, refused};

/// Compiles.
///
/// # Errors
/// As [`super::compile`].
pub(super) fn run(request: &Request<'_>) -> Result<Product> {
    match &request.target {
        SpirvTarget::Ptx(target) => to_ptx(request, target),
        SpirvTarget::Amdgcn(target) => to_code_object(request, target),
    }
}

fn to_ptx(request: &Request<'_>, target: &PtxTarget) -> Result<Product> {
    let library = nvvm::open()?;
    let options = ptx_options(request, target, &library)?;
    let linked = translated(request, &options)?;
    let names = names_of(&linked);
    let texts = texts_of(&names, &linked);
    let mut words = linked.compiler_options(&options);
    for word in &request.options.compiler {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
    let compiled = library.compile(&texts, &words, linked.uses_libdevice()).map_err(|error| nvvm::failed(&error))?;
    let mut log = log_of(request, &linked);
    log.push_str(&compiled.log);
    Ok(Product { image: in_version(compiled.ptx, target.version).into_bytes(), log })
}

fn to_code_object(request: &Request<'_>, target: &AmdgcnTarget) -> Result<Product> {
    let library = comgr::open()?;
    let linked = translated(request, &amdgcn_options(request, target))?;
    let names = names_of(&linked);
    let isa = Isa { architecture: target.architecture.clone(), wave_size: target.wave_size };
    let flags = flags_of(request.options, &linked);
    let compiled = library.compile(&texts_of(&names, &linked), &isa, flags).map_err(|error| comgr::failed(&error))?;
    let mut log = log_of(request, &linked);
    log.push_str(&compiled.log);
    Ok(Product { image: compiled.bytes, log })
}

/// What libamd_comgr is told of how to compile, from the words for libnvvm and what the modules want.
fn flags_of(options: &BuildOptions, linked: &Linked) -> Flags {
    let says = |word: &str| options.compiler.iter().any(|known| known == word);
    Flags {
        unoptimised: says("-opt=0"),
        flush_denormals: says("-ftz=1") || linked.flush_denormals(),
        fast_math: says("-prec-div=0"),
        uses_library: linked.uses_libdevice(),
    }
}

/// The names of modules in a compiler's messages.
fn names_of(linked: &Linked) -> Vec<String> {
    (0..linked.translations.len()).map(|number| format!("module {number}")).collect()
}

fn texts_of<'a>(names: &'a [String], linked: &'a Linked) -> Vec<(&'a str, &'a str)> {
    names.iter().zip(&linked.translations).map(|(name, made)| (name.as_str(), made.text.as_str())).collect()
}

/// Translates without compiling, for the errors; what there is to say.
///
/// # Errors
/// As [`super::compile`], but for the compiler's own.
pub fn check(request: &Request<'_>) -> Result<String> {
    let options = match &request.target {
        SpirvTarget::Ptx(target) => {
            let library = nvvm::open()?;
            ptx_options(request, target, &library)?
        }
        SpirvTarget::Amdgcn(target) => {
            comgr::open()?;
            amdgcn_options(request, target)
        }
    };
    Ok(log_of(request, &translated(request, &options)?))
}

fn ptx_options(request: &Request<'_>, target: &PtxTarget, library: &Nvvm) -> Result<Options> {
    let (sm, dialect) = nvvm::architecture(library, target.sm)?;
    Ok(options_of(request, sm, dialect))
}

fn amdgcn_options(request: &Request<'_>, target: &AmdgcnTarget) -> Options {
    options_of(request, 0, Dialect::Amdgcn { wave_size: target.wave_size })
}

fn options_of(request: &Request<'_>, sm: u32, dialect: Dialect) -> Options {
    Options {
        dialect,
        sm,
        kernels: None,
        max_threads: request.max_threads,
        line_info: request.options.line_info,
        global_offset: GlobalOffset::None,
    }
}

fn translated(request: &Request<'_>, options: &Options) -> Result<Linked> {
    let modules = request.sources.iter().map(Source::module).collect::<ur_spirv::Result<Vec<Module>>>();
    let linked = modules.and_then(|modules| {
        let global_offset = variants(request, &modules);
        link(&modules.iter().collect::<Vec<_>>(), &Options { global_offset, ..options.clone() })
    });
    let linked = linked.map_err(|error| refused(&error))?;
    if !request.allows_imports {
        check_imports(&linked)?;
    }
    Ok(linked)
}

/// Which variants of kernels the image has. Variables must be there once, so a program that has some is one image with either; for
/// others those with an offset are an image of their own. A native linker's other images know functions as they are declared, and
/// what has a variant's name already leaves no place for that.
fn variants(request: &Request<'_>, modules: &[Module]) -> GlobalOffset {
    if request.global_offset {
        return GlobalOffset::Taken;
    }
    let wants_both = modules.iter().any(Module::has_device_variables);
    if wants_both && !request.allows_imports && variant_names_are_free(modules) {
        GlobalOffset::Both
    } else {
        GlobalOffset::None
    }
}

/// Refuses names that no module defines.
fn check_imports(linked: &Linked) -> Result<()> {
    if linked.unresolved.is_empty() {
        return Ok(());
    }
    let names = linked.unresolved.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Err(Error::new(
        ur_result_t::ERROR_PROGRAM_LINK_FAILURE,
        format!("no module defines {names}; link the module that exports it"),
    ))
}

/// What options and translation have left out.
fn log_of(request: &Request<'_>, linked: &Linked) -> String {
    let mut log = request.options.remark();
    for made in linked.translations.iter().filter(|made| !made.log.is_empty()) {
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
    use ur_spirv::Translation;

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
    fn options_and_modules_say_how_a_code_object_is_made() {
        let options = |text: &str| BuildOptions::parse(&[text.to_owned()]);
        let of = |translations: &[Translation]| Linked { translations: translations.to_vec(), unresolved: Vec::new() };
        let plain = of(&[Translation::default()]);
        assert_eq!(flags_of(&options("-cl-mad-enable"), &plain), Flags::default());
        assert!(flags_of(&options("-O0"), &plain).unoptimised);
        let fast = flags_of(&options("-cl-fast-relaxed-math"), &plain);
        assert!(fast.fast_math && fast.flush_denormals && !fast.unoptimised);
        let wanting = Translation { flush_denormals: true, uses_libdevice: true, ..Translation::default() };
        let flags = flags_of(&options(""), &of(std::slice::from_ref(&wanting)));
        assert!(flags.flush_denormals && flags.uses_library && !flags.fast_math);
        let keeping = Translation { preserve_denormals: true, ..Translation::default() };
        assert!(!flags_of(&options(""), &of(&[wanting, keeping])).flush_denormals);
    }

    /// A kernel of the suite for an architecture of AMD's.
    fn made(architecture: &str, wave_size: u32, module: &[u8]) -> Result<Product> {
        let sources = [Source::new(module).unwrap()];
        let options = BuildOptions::default();
        let target = SpirvTarget::Amdgcn(AmdgcnTarget { architecture: architecture.to_owned(), wave_size });
        run(&Request {
            sources: &sources,
            target,
            max_threads: 1024,
            options: &options,
            global_offset: false,
            allows_imports: false,
        })
    }

    const IMPORTER: &[u8] = include_bytes!("../../../../spirv/tests/modules/importer.spv");
    const EXPORTER: &[u8] = include_bytes!("../../../../spirv/tests/modules/exporter.spv");
    /// A kernel and a function of its name.
    const ADDER: &[u8] = include_bytes!("../../../../spirv/tests/modules/adder.spv");
    /// What calls that function.
    const WRAPPED: &[u8] = include_bytes!("../../../../spirv/tests/kernels/wrapped.spv");

    /// Kernels `fill` and `fill_with_offset`, and a variable.
    const SUFFIXED: &[u8] = include_bytes!("../../../../spirv/tests/modules/suffixed.spv");

    fn translated_for_amd(modules: &[&[u8]]) -> Result<Linked> {
        let sources = modules.iter().map(|module| Source::new(module)).collect::<Result<Vec<_>>>()?;
        let target = AmdgcnTarget { architecture: "gfx1030".to_owned(), wave_size: 32 };
        let request = Request {
            sources: &sources,
            target: SpirvTarget::Amdgcn(target.clone()),
            max_threads: 1024,
            options: &BuildOptions::default(),
            global_offset: false,
            allows_imports: false,
        };
        translated(&request, &amdgcn_options(&request, &target))
    }

    /// A module that wants no size of sub-groups.
    const CONTROL: &[u8] = include_bytes!("../../../../spirv/tests/kernels/control.spv");

    #[test]
    #[ignore = "needs libamd_comgr"]
    fn a_code_object_is_made_of_spirv_by_comgr_and_passes_as_an_image() {
        use crate::program::device_image::{Bytes, elf};
        for (architecture, wave_size) in [("gfx90a:sramecc+:xnack-", 64), ("gfx1030", 32)] {
            let product = made(architecture, wave_size, CONTROL).unwrap();
            let machine = elf::Machine { number: 224, vendor: "AMD", format: "code object (ELF)" };
            elf::check(Bytes(&product.image), 0, &machine).unwrap();
            assert!(product.image.windows(5).any(|part| part == b"k.kd\0"), "{architecture}");
        }
    }

    #[test]
    #[ignore = "needs libamd_comgr"]
    fn an_architecture_that_is_unknown_by_comgr_fails_the_build() {
        let error = made("gfx7", 64, CONTROL).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_PROGRAM_BUILD_FAILURE);
        assert!(error.message().contains("does not know gfx7"), "{error}");
    }

    #[test]
    fn names_that_no_module_defines_are_all_told() {
        let error = translated_for_amd(&[IMPORTER]).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_PROGRAM_LINK_FAILURE);
        assert!(error.message().contains("`factor`, `twice`;"), "{error}");
        translated_for_amd(&[IMPORTER, EXPORTER]).unwrap();
    }

    #[test]
    fn only_programs_with_variables_have_either_variant_of_a_kernel_in_one_image() {
        let text = |modules: &[&[u8]]| translated_for_amd(modules).unwrap().translations[0].text.clone();
        let with_variable = text(&[IMPORTER, EXPORTER]);
        assert!(with_variable.contains(" @importer(") && with_variable.contains(" @importer_with_offset("));
        assert!(!text(&[ADDER]).contains("_with_offset"));
    }

    #[test]
    fn a_kernel_that_has_the_name_of_anothers_variant_is_the_only_one_of_that_name() {
        let linked = translated_for_amd(&[SUFFIXED]).unwrap();
        let text = &linked.translations[0].text;
        assert_eq!(text.matches(" void @fill_with_offset(").count(), 1, "{text}");
    }

    #[test]
    fn names_that_two_modules_define_are_a_links_failure() {
        let error = translated_for_amd(&[IMPORTER, EXPORTER, EXPORTER]).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_PROGRAM_LINK_FAILURE);
        assert!(error.message().contains("two modules export"), "{error}");
        let error = translated_for_amd(&[ADDER, ADDER]).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_PROGRAM_LINK_FAILURE);
        assert!(error.message().contains("two modules have a kernel add"), "{error}");
    }

    #[test]
    fn a_function_that_has_its_kernels_name_is_called_from_another_module() {
        let linked = translated_for_amd(&[WRAPPED, ADDER]).unwrap();
        assert!(linked.translations[0].text.contains("declare void @ur_function_add("));
        assert!(linked.translations[1].text.contains("define void @ur_function_add("));
    }
}
