//! The recipes that link a shared object take the C compiler's command with its words (`CC="ccache gcc"`), as build tools do.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::support::process;

/// A static library with one function.
fn archive(folder: &Path, function: &str) -> PathBuf {
    std::fs::create_dir_all(folder).expect("a folder of cargo's");
    let (source, object) = (folder.join("one.c"), folder.join("one.o"));
    std::fs::write(&source, format!("int {function}(void) {{ return 0; }}\n")).expect("the folder can be written");
    process::run(Command::new("cc").args(["-c", "-fPIC", "-o"]).arg(&object).arg(source)).expect("a C compiler");
    let archive = folder.join("libone.a");
    process::run(Command::new("ar").arg("rcs").arg(&archive).arg(object)).expect("binutils");
    archive
}

/// Links it by a recipe with a compiler's command of two words; `env cc` is `cc`.
fn link(recipe: &str, function: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(function);
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(recipe);
    let mut sh = Command::new("sh");
    sh.arg(recipe).arg(archive(&folder, function)).arg(folder.join("libone.so.0")).arg("2026.2");
    let printed = process::capture(sh.env("CC", "env cc").env_remove("LIBRARIES"));
    assert!(printed.is_ok(), "{}", printed.err().map(|failure| failure.to_string()).unwrap_or_default());
}

#[test]
fn a_loader_is_linked_by_a_compilers_command_of_two_words() {
    link("loader/link.sh", "urLoaderInit");
}

#[test]
fn an_adapter_is_linked_by_a_compilers_command_of_two_words() {
    link("adapters/link.sh", "urGetDeviceProcAddrTable_v2026_2");
}
