//! Each generated header, included alone, is accepted as C99 and as C++17 with every warning an error.

mod common;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use generator::layout;

const RELEASES: [&str; 2] = ["include", "include-2026.1"];
const HEADERS: [&str; 3] = ["ur_api.h", "ur_ddi.h", "ur_ext.h"];

fn header(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loader").join(folder).join("unified-runtime").join(name)
}

fn accepted(compiler: &str, language: &str, standard: &str) {
    for folder in RELEASES {
        for name in HEADERS {
            let path = header(folder, name);
            let output = Command::new(compiler)
                .args(["-x", language, standard, "-Wall", "-Wextra", "-Werror", "-pedantic"])
                .arg("-fsyntax-only")
                .arg(&path)
                .output()
                .unwrap_or_else(|error| panic!("{compiler} cannot be started: {error}"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}:\n{said}", path.display());
        }
    }
}

#[test]
fn c99_accepts_each_header_alone() {
    accepted("cc", "c", "-std=c99");
}

#[test]
fn cpp17_accepts_each_header_alone() {
    accepted("c++", "c++", "-std=c++17");
}

/// The vendor's header has neither the mark nor our values, and takes `bool` for granted; a program on the vendor's loader
/// has that one.
#[test]
fn the_header_of_extensions_goes_with_an_api_header_that_knows_nothing_of_them() {
    let temp = common::TempFolder::new();
    for folder in RELEASES {
        let api = std::fs::read_to_string(header(folder, "ur_api.h")).unwrap();
        let foreign =
            |line: &&str| !line.contains("0x5552") && !line.contains("HAS_EXT_VALUES") && !line.contains("<stdbool.h>");
        let vendors: String = api.lines().filter(foreign).map(|line| format!("{line}\n")).collect();
        assert!(vendors.len() + 500 < api.len(), "our values are taken out");
        std::fs::write(temp.path().join("ur_api.h"), vendors).unwrap();
        std::fs::copy(header(folder, "ur_ext.h"), temp.path().join("ur_ext.h")).unwrap();
        let source = "#include \"ur_ext.h\"\n#include \"ur_api.h\"\nint which(ur_result_t result, ur_ext_timeline_desc_t *desc) {\n\
            desc->stype = UR_STRUCTURE_TYPE_EXT_TIMELINE_DESC;\n\
            return result == UR_RESULT_ERROR_TIMEOUT_EXT || UR_FUNCTION_TIMELINE_CREATE_EXT == 0;\n}\n";
        for (compiler, file, standard) in [("cc", "use.c", "-std=c99"), ("c++", "use.cpp", "-std=c++17")] {
            let path = temp.path().join(file);
            std::fs::write(&path, source).unwrap();
            let options = [standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"];
            let output = Command::new(compiler).args(options).arg(&path).output().unwrap();
            assert!(output.status.success(), "{folder}, {compiler}:\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// What the bindings assert of Rust's layout, asserted of C's: the two cannot drift apart.
#[test]
fn c_lays_out_structures_and_tables_as_the_bindings_assert() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let model = generator::model(&root).unwrap();
    let temp = common::TempFolder::new();
    for (release, folder) in model.releases.iter().rev().zip(RELEASES) {
        let mut source: String =
            ["ur_ddi.h", "ur_ext.h"].map(|name| format!("#include {:?}\n", header(folder, name))).concat();
        let mut assertions = 0;
        let mut assert = |left: String, right: usize| {
            let _ = writeln!(source, "_Static_assert({left} == {right}, \"{left}\");");
            assertions += 1;
        };
        for item in release.structs.iter().chain(&release.params_structs) {
            let (whole, offsets) = layout::of_struct(release, item).unwrap();
            assert(format!("sizeof({})", item.name), whole.size);
            for (field, offset) in item.fields.iter().zip(offsets) {
                assert(format!("offsetof({}, {})", item.name, field.name), offset);
            }
        }
        for item in &release.unions {
            assert(format!("sizeof({})", item.name), layout::of_union(release, item).unwrap().size);
        }
        let mut start = 0;
        for table in &release.tables {
            for (index, slot) in table.slots.iter().enumerate() {
                let field = format!("{}.{}", table.field, slot.field);
                assert(format!("offsetof(ur_dditable_t, {field})"), start + 8 * index);
            }
            start += 8 * table.slots.len();
        }
        for extension in &release.extensions {
            for (index, slot) in extension.table.slots.iter().enumerate() {
                assert(format!("offsetof({}, {})", extension.table.name, slot.field), 8 * index);
            }
        }
        for item in &release.enums {
            assert(format!("sizeof({})", item.name), 4);
        }
        assert!(assertions > 1000);
        let path = temp.path().join(format!("{folder}.c"));
        std::fs::write(&path, source).unwrap();
        let output = Command::new("cc").args(["-std=c11", "-fsyntax-only"]).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
