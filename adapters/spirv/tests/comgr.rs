//! SPIR-V for AMD's devices through libamd_comgr: every kernel becomes a code object whose metadata has its parameters. What needs the
//! library is ignored unless it is asked for: `cargo test -p ur-spirv --test comgr -- --include-ignored`, with Debian's packages
//! `libamd-comgr2` and `rocm-device-libs`. No kernel runs: no AMD GPU is there.

mod common;
mod metadata;

use std::path::Path;

use metadata::kernels_of;
use ur_spirv::comgr::{CodeObject, Comgr, CompileError, Flags, Isa};
use ur_spirv::{ErrorKind, GlobalOffset, Options, ParameterKind, Translation, link, parse, translate};

/// One architecture of each wave size.
const ISAS: [(&str, u32); 2] = [("gfx90a", 64), ("gfx1030", 32)];

/// Kernels that print, which no AMD device does here.
const PRINTING: [&str; 1] = ["halfmemory"];

fn isa((architecture, wave_size): (&str, u32)) -> Isa {
    Isa { architecture: architecture.to_owned(), wave_size }
}

fn compile(comgr: &Comgr, translations: &[&Translation], isa: &Isa) -> Result<CodeObject, CompileError> {
    let texts: Vec<(&str, &str)> = translations.iter().map(|made| ("module", made.text.as_str())).collect();
    let flags = Flags {
        uses_library: translations.iter().any(|made| made.uses_libdevice),
        flush_denormals: translations.iter().any(|made| made.flush_denormals),
        ..Flags::default()
    };
    comgr.compile(&texts, isa, flags)
}

/// Compiles a module and compares the metadata with what the module says of its kernels.
fn check_module(comgr: &Comgr, folder: &str, name: &str, target: (&str, u32), options: &Options) -> Result<(), String> {
    let module = parse(&common::module(folder, name)).unwrap();
    let translation = translate(&module, options).map_err(|error| format!("{name}: {error}"))?;
    let object = compile(comgr, &[&translation], &isa(target)).map_err(|error| format!("{name}: {error}"))?;
    let made = kernels_of(&object.bytes);
    assert_eq!(made.len(), translation.kernels.len(), "{name}");
    for kernel in &translation.kernels {
        let found =
            made.iter().find(|found| found.name == kernel.name).unwrap_or_else(|| panic!("{name}: {}", kernel.name));
        assert_eq!(found.wave_size, u64::from(target.1), "{name}: {}", kernel.name);
        let wanted: Vec<(u64, &str)> = kernel
            .parameters
            .iter()
            .map(|parameter| match parameter.kind {
                ParameterKind::GlobalPointer | ParameterKind::ConstantPointer => (8, "global_buffer"),
                ParameterKind::LocalPointer => (8, "by_value"),
                _ => (parameter.size, "by_value"),
            })
            .collect();
        let arguments: Vec<(u64, &str)> = found.arguments.iter().map(|(size, kind)| (*size, kind.as_str())).collect();
        assert_eq!(arguments, wanted, "{name}: {}", kernel.name);
        assert_eq!(
            found.required_size,
            kernel.required_size.map(|size| size.map(u64::from)),
            "{name}: {}",
            kernel.name
        );
    }
    Ok(())
}

#[test]
#[ignore = "needs libamd_comgr"]
fn every_kernel_becomes_a_code_object_with_its_parameters() {
    let comgr = Comgr::open().unwrap();
    let mut failed = Vec::new();
    for target in ISAS {
        for name in common::names("kernels").iter().filter(|name| !PRINTING.contains(&name.as_str())) {
            failed.extend(check_module(&comgr, "kernels", name, target, &Options::for_amdgcn(target.1)).err());
        }
        for name in ["hostglobal", "localpointers"] {
            failed.extend(check_module(&comgr, "modules", name, target, &Options::for_amdgcn(target.1)).err());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
#[ignore = "needs libamd_comgr"]
fn required_sizes_and_lines_reach_the_code_object() {
    let comgr = Comgr::open().unwrap();
    // The module wants sub-groups of 32 lanes.
    for line_info in [false, true] {
        let options = Options { line_info, ..Options::for_amdgcn(32) };
        check_module(&comgr, "modules", "info", ("gfx1030", 32), &options).unwrap();
        check_module(&comgr, "modules", "pointers", ("gfx1030", 32), &options).unwrap();
    }
    // Architectures that have both sizes of waves are told which.
    check_module(&comgr, "kernels", "tree72", ("gfx1030", 64), &Options::for_amdgcn(64)).unwrap();
}

#[test]
#[ignore = "needs libamd_comgr"]
fn modules_link() {
    let (comgr, target) = (Comgr::open().unwrap(), ISAS[0]);
    let modules = ["importer", "exporter"].map(|name| parse(&common::module("modules", name)).unwrap());
    let linked = link(&[&modules[0], &modules[1]], &Options::for_amdgcn(target.1)).unwrap();
    let object = compile(&comgr, &linked.translations.iter().collect::<Vec<_>>(), &isa(target)).unwrap();
    assert_eq!(kernels_of(&object.bytes).iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>(), ["importer"]);
}

#[test]
#[ignore = "needs libamd_comgr"]
fn a_global_offset_is_three_numbers_behind_the_parameters() {
    let comgr = Comgr::open().unwrap();
    for global_offset in [GlobalOffset::Taken, GlobalOffset::Both] {
        let options = Options { global_offset, ..Options::for_amdgcn(32) };
        let translation = translate(&parse(&common::module("modules", "pointers")).unwrap(), &options).unwrap();
        let object = compile(&comgr, &[&translation], &isa(ISAS[1])).unwrap();
        let kernels = kernels_of(&object.bytes);
        let outer = kernels.iter().find(|kernel| kernel.name == "outer_with_offset").unwrap();
        assert_eq!(outer.arguments.last(), Some(&(12, "by_value".to_owned())));
        let plain = kernels.iter().any(|kernel| kernel.name == "outer");
        assert_eq!(plain, global_offset == GlobalOffset::Both);
    }
}

#[test]
#[ignore = "needs libamd_comgr"]
fn an_architecture_that_the_library_does_not_know_is_named() {
    let comgr = Comgr::open().unwrap();
    let error = comgr.compile(&[("some", "; no text")], &isa(("gfx7", 64)), Flags::default()).unwrap_err();
    assert!(error.to_string().contains("does not know gfx7"), "{error}");
}

#[test]
#[ignore = "needs libamd_comgr"]
fn a_refused_program_has_the_compilers_log() {
    let comgr = Comgr::open().unwrap();
    let Err(CompileError::Refused { log, .. }) =
        comgr.compile(&[("bad", "no text of LLVM")], &isa(ISAS[0]), Flags::default())
    else {
        panic!("nonsense was compiled");
    };
    assert!(!log.is_empty());
}

#[test]
fn a_library_without_the_functions_says_which_is_missing() {
    let Err(CompileError::Missing(message)) = Comgr::open_at(Path::new("libc.so.6")) else {
        panic!("libc was opened as libamd_comgr");
    };
    assert!(message.contains("amd_comgr_get_version"), "{message}");
}

#[test]
fn what_no_amd_device_does_is_refused_by_name() {
    let module = parse(&common::module("modules", "print")).unwrap();
    let prints = PRINTING.map(|name| parse(&common::module("kernels", name)).unwrap());
    for module in prints.iter().chain([&module]) {
        let error = translate(module, &Options::for_amdgcn(64)).unwrap_err();
        assert_eq!((error.kind(), error.instruction()), (ErrorKind::Unsupported, Some("OpExtInst")));
        assert!(error.message().starts_with("printf: "), "{error}");
    }
    let error = translate(&parse(&common::module("modules", "info")).unwrap(), &Options::for_amdgcn(64)).unwrap_err();
    assert!(error.message().contains("sub-groups of 32; they have 64"), "{error}");
    let error = translate(&module, &Options::for_amdgcn(48)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Option);
}
