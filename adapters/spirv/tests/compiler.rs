//! The binding of libnvvm. What needs the library itself is ignored unless it is asked for:
//! `UR_NVVM_LIBRARY=… cargo test -p ur-spirv --test compiler -- --include-ignored`.

mod common;

use std::path::Path;

use ur_spirv::nvvm::{CompileError, Compiler, Nvvm};
use ur_spirv::{Dialect, GlobalOffset, Options, parse, translate};

#[test]
fn a_library_that_is_none_names_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libnvvm.so.4");
    std::fs::write(&file, b"no library").unwrap();
    let Err(CompileError::Missing(message)) = Nvvm::open_at(&file) else {
        panic!("a text file was opened as libnvvm");
    };
    assert!(message.contains(file.to_str().unwrap()), "{message}");
}

#[test]
fn a_library_without_the_functions_says_which_is_missing() {
    let Err(CompileError::Missing(message)) = Nvvm::open_at(Path::new("libc.so.6")) else {
        panic!("libc was opened as libnvvm");
    };
    assert!(message.contains("nvvmVersion"), "{message}");
}

fn compile(names: &[&str], options: &Options) -> String {
    let nvvm = Nvvm::open().unwrap();
    let mut options = options.clone();
    options.dialect = nvvm.dialect(options.sm).unwrap();
    let translations: Vec<_> = names
        .iter()
        .map(|name| translate(&parse(&common::module("modules", name)).unwrap(), &options).unwrap())
        .collect();
    let texts: Vec<(&str, &str)> = names.iter().zip(&translations).map(|(name, t)| (*name, t.text.as_str())).collect();
    let libdevice = translations.iter().any(|t| t.uses_libdevice);
    nvvm.compile(&texts, &translations[0].compiler_options(&options), libdevice).unwrap().ptx
}

#[test]
#[ignore = "needs libnvvm"]
fn every_module_compiles_in_both_dialects() {
    for sm in [75, 90, 100, 120] {
        for line_info in [false, true] {
            for name in ["info", "print", "pointers", "exporter"] {
                let options = Options { line_info, ..Options::for_architecture(sm) };
                assert!(compile(&[name], &options).contains(&format!(".target sm_{sm}")));
            }
        }
    }
}

/// A text that asks which memory an address is in, and one over which a library before 13.1 ends by its other algorithm alone.
const ASKS: &str = "address";
const STEPS: &str = "walk";

/// The PTX of these kernels, compiled in this order by a process of their own.
fn compiled_in_order(names: &[&str]) -> String {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "--include-ignored", "--nocapture", "kernels_are_compiled_alike_in_any_order"]);
    let said = child.env(ORDER, names.join(",")).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let said = String::from_utf8(said.stdout).unwrap();
    said.rsplit_once("// last\n").unwrap().1.split("\ntest ").next().unwrap().to_owned()
}
const ORDER: &str = "UR_TEST_ORDER";

// Libraries of 12.9 and 13.0 keep the first algorithm that they are told for the whole process.
#[test]
#[ignore = "needs libnvvm"]
fn kernels_are_compiled_alike_in_any_order() {
    if let Ok(names) = std::env::var(ORDER) {
        let nvvm = Nvvm::open().unwrap();
        let mut last = String::new();
        for name in names.split(',') {
            let options = Options { dialect: nvvm.dialect(90).unwrap(), ..Options::for_architecture(90) };
            let translated = translate(&parse(&common::module("kernels", name)).unwrap(), &options).unwrap();
            let texts = [(name, translated.text.as_str())];
            last = nvvm.compile(&texts, &translated.compiler_options(&options), translated.uses_libdevice).unwrap().ptx;
        }
        // Nor is a copy of such a library made for kernels that ask which memory an address is in, as dpnp's first does.
        let has_copy = std::fs::read_to_string("/proc/self/maps").unwrap().contains("/memfd:libnvvm");
        assert!(!has_copy || names.contains(STEPS), "{names}");
        println!("// last\n{last}");
        return;
    }
    for orders in
        [[&[ASKS][..], &[STEPS, ASKS], &[ASKS, STEPS, ASKS]], [&[STEPS][..], &[ASKS, STEPS], &[STEPS, ASKS, STEPS]]]
    {
        let [alone, behind, between] = orders.map(compiled_in_order);
        assert!(alone.contains(".entry"), "{alone}");
        assert!(alone == behind && alone == between, "{alone}\n{behind}\n{between}");
    }
}

#[test]
#[ignore = "needs libnvvm"]
fn modules_link() {
    let ptx = compile(&["importer", "exporter"], &Options::for_architecture(90));
    assert!(ptx.contains(".entry importer") && !ptx.contains(".extern"), "{ptx}");
}

#[test]
#[ignore = "needs libnvvm"]
fn a_global_offset_makes_a_kernel_of_its_own() {
    let options = Options { global_offset: GlobalOffset::Taken, ..Options::for_architecture(90) };
    assert!(compile(&["pointers"], &options).contains(".entry outer_with_offset"));
    let both = Options { global_offset: GlobalOffset::Both, ..options };
    let ptx = compile(&["pointers"], &both);
    assert!(ptx.contains(".entry outer(") && ptx.contains(".entry outer_with_offset("), "{ptx}");
    // Lines of the source, in the functions that either variant calls.
    assert!(compile(&["print"], &Options { line_info: true, ..both }).contains("_with_offset("));
}

#[test]
#[ignore = "needs libnvvm"]
fn the_library_is_asked_for_its_dialect() {
    let nvvm = Nvvm::open().unwrap();
    assert_eq!(nvvm.dialect(90).unwrap(), Dialect::Typed);
    assert_eq!(nvvm.dialect(100).unwrap(), Dialect::Opaque);
    assert!(matches!(nvvm.dialect(9999), Err(CompileError::Refused { .. })));
}

#[test]
#[ignore = "needs libnvvm"]
fn a_refused_program_has_the_compilers_log() {
    let nvvm = Nvvm::open().unwrap();
    let Err(CompileError::Refused { log, .. }) = nvvm.compile(&[("bad", "no text of LLVM")], &[], false) else {
        panic!("nonsense was compiled");
    };
    assert!(log.contains("bad"), "{log}");
}
