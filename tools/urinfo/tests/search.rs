//! What `--why` tells of the search: what the loader would find, whatever else writes to standard output.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// A loader that finds nothing, which `cc` builds of the same text as that of the other tests.
fn loader() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loader.c");
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libsearched.so");
        build(&source, &out);
        out
    })
}

fn build(source: &Path, out: &Path) {
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-shared", "-fPIC", "-x", "c"]).arg(source).arg("-o").arg(out);
    assert!(cc.status().expect("cc runs").success());
}

/// An installation: the program in `bin`, and in `lib` libraries of these names, none of which is an adapter.
fn installation(libraries: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (bin, lib) = (folder.path().join("bin"), folder.path().join("lib"));
    fs::create_dir_all(&bin).and_then(|()| fs::create_dir_all(&lib)).expect("folders");
    let program = bin.join("urinfo");
    fs::copy(env!("CARGO_BIN_EXE_urinfo"), &program).expect("a copy");
    libraries.iter().for_each(|name| build(Path::new("/dev/null"), &lib.join(name)));
    (folder, program)
}

/// What the program prints with these words and variables, among none that would steer it.
fn printed(program: &Path, words: &[&str], set: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    for variable in ["UR_ADAPTERS_FORCE_LOAD", "UR_ADAPTERS_SEARCH_PATH", "LD_LIBRARY_PATH", "ONEAPI_DEVICE_SELECTOR"] {
        command.env_remove(variable);
    }
    command.args(words).envs(set.iter().copied());
    let output = loop {
        match command.output() {
            // A process that another test starts at this moment has the copy open for writing until it runs its own program.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.expect("urinfo starts"),
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn loader_name() -> &'static str {
    loader().to_str().expect("a name of letters")
}

#[test]
fn an_adapter_beside_the_program_is_not_found_by_a_loader_that_lies_elsewhere() {
    const ADAPTER: &str = "libur_adapter_cuda.so.0";
    let (_guard, program) = installation(&[ADAPTER]);
    let text = printed(&program, &["--loader", loader_name(), "--why"], &[]);
    let line = format!("{ADAPTER} (the system's search): not found");
    assert!(text.contains(&line), "{line:?} is missing from\n{text}");
    let text = printed(&program, &["--loader", loader_name(), "--why"], &[("UR_ADAPTERS_FORCE_LOAD", ADAPTER)]);
    let line = format!("{ADAPTER} (UR_ADAPTERS_FORCE_LOAD): not found");
    assert!(text.contains(&line), "{line:?} is missing from\n{text}");
}

#[test]
fn the_loader_beside_the_program_is_its_own_unless_the_environment_has_another() {
    const LOADER: &str = "libur_loader.so.0";
    let (folder, program) = installation(&[]);
    let own = folder.path().join("lib").join(LOADER);
    fs::copy(loader(), &own).expect("a copy");
    let text = printed(&program, &[], &[]);
    assert!(text.contains(&format!("loader {}\n", own.display())) && text.contains("1 device"), "{text}");
    let other = tempfile::tempdir().expect("a folder");
    build(Path::new("/dev/null"), &other.path().join(LOADER));
    let text = printed(&program, &[], &[("LD_LIBRARY_PATH", other.path().to_str().expect("a name of letters"))]);
    assert!(text.contains("urLoaderInit"), "the other library is no loader, which is to be told\n{text}");
}

#[test]
fn the_search_is_told_though_the_loaders_log_goes_to_standard_output() {
    for output in ["stdout", "stderr"] {
        let log = format!("level:info;output:{output}");
        let text = printed(
            Path::new(env!("CARGO_BIN_EXE_urinfo")),
            &["--loader", loader_name(), "--why"],
            &[("UR_LOG_LOADER", &log)],
        );
        assert!(text.contains("search: ") && text.contains("1 device in 2 adapters"), "{text}");
        assert!(!text.contains("did not end well") && !text.contains("<LOADER>["), "{text}");
    }
}

#[test]
fn the_search_is_told_though_a_library_prints_when_it_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("chatty.c");
    let text = "#include <stdio.h>\n__attribute__((constructor)) static void greet(void) { puts(\"welcome\"); fflush(stdout); }\n";
    fs::write(&source, text).expect("a file");
    let library = folder.path().join("libchatty.so");
    build(&source, &library);
    let name = library.to_str().expect("a name of letters");
    let text = printed(
        Path::new(env!("CARGO_BIN_EXE_urinfo")),
        &["--loader", loader_name(), "--why"],
        &[("UR_ADAPTERS_FORCE_LOAD", name)],
    );
    assert!(text.contains(&format!("{name} (UR_ADAPTERS_FORCE_LOAD)")), "{text}");
    assert!(text.contains("welcome"), "{text}");
}

#[test]
fn a_library_that_is_listed_twice_and_has_no_adapter_is_not_used() {
    let loader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loader");
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("empty.so");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-shared", "-fPIC", "-DNO_ADAPTER", "-I"]).arg(loader.join("include"));
    cc.arg(loader.join("tests/fixtures/adapter.c")).arg("-o").arg(&library);
    assert!(cc.status().expect("cc runs").success());
    let name = library.to_str().expect("a name of letters");
    let twice = format!("{name},{name}");
    let program = Path::new(env!("CARGO_BIN_EXE_urinfo"));
    let text = printed(program, &["--loader", loader_name(), "--why"], &[("UR_ADAPTERS_FORCE_LOAD", &twice)]);
    let became = format!("{name} (UR_ADAPTERS_FORCE_LOAD): ");
    let reasons: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(&became)?.1)).collect();
    let again = format!("it is the library that was opened before as {name}");
    assert_eq!(reasons, ["it reports no adapter", &again], "{text}");
}
