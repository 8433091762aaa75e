//! The bench that the loader's integration tests share: links the real shared object, builds small adapters and a client
//! in C, and runs the client in a process of its own, whose environment the test decides. Nothing here is asserted.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ur_ffi::releases::Release;

/// The release whose loader is tested: the one that `UR_TEST_RELEASE` names, or the newest.
pub fn release() -> Release {
    match std::env::var("UR_TEST_RELEASE") {
        Ok(name) => *Release::ALL.iter().find(|release| release.name() == name).expect("UR_TEST_RELEASE is a release"),
        Err(_) => Release::NEWEST,
    }
}

/// `loader/`.
pub fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The headers of a release.
pub fn headers(release: Release) -> PathBuf {
    let newest = release == Release::NEWEST;
    crate_folder().join(if newest { "include".into() } else { format!("include-{}", release.name()) })
}

/// A folder for this test binary's products.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let name = format!("{}-{}", env!("CARGO_CRATE_NAME"), release().name());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // What an earlier run left would be found by this one's searches.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// Runs a command that must succeed and answers what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{printed}{complained}", output.status);
    printed
}

/// The shared object, linked from the static library as for a release.
pub fn loader() -> &'static Path {
    static LOADER: OnceLock<PathBuf> = OnceLock::new();
    LOADER.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        let package = format!("ur-loader-{}", release().name().replace('.', "-"));
        build.args(["build", "--quiet", "--package", &package, "--message-format=json"]);
        let archive = format!("libur_loader_{}.a", release().name().replace('.', "_"));
        let messages = run(build.current_dir(crate_folder()));
        let archive = messages
            .split('"')
            .find(|text| text.ends_with(&archive))
            .expect("cargo names the static library that it built");
        let folder = folder().join("loader");
        std::fs::create_dir_all(&folder).unwrap();
        let out = folder.join("libur_loader.so.0");
        run(Command::new("sh").arg(crate_folder().join("link.sh")).arg(archive).arg(&out).arg(release().name()));
        out
    })
}

fn cc() -> Command {
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=gnu11", "-Wall", "-Wextra", "-O1"]);
    cc
}

/// Builds `fixtures/adapter.c` as `path` (relative to this binary's folder) with these macros.
pub fn adapter(path: &str, macros: &[&str]) -> PathBuf {
    adapter_of(release(), path, macros)
}

/// The same, against the headers of another release.
pub fn adapter_of(release: Release, path: &str, macros: &[&str]) -> PathBuf {
    adapter_with(release, path, macros, &[])
}

/// An adapter that needs another library, as one that calls it does.
pub fn adapter_needing(path: &str, macros: &[&str], other: &Path) -> PathBuf {
    let found = format!("-Wl,--no-as-needed,-rpath,{}", other.parent().unwrap().display());
    adapter_with(release(), path, macros, &[found.as_ref(), other.as_os_str()])
}

fn adapter_with(release: Release, path: &str, macros: &[&str], more: &[&std::ffi::OsStr]) -> PathBuf {
    let out = folder().join(path);
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    run(cc()
        .args(["-shared", "-fPIC", "-o"])
        .arg(&out)
        .arg(format!("-Wl,-soname,{}", out.file_name().unwrap().to_str().unwrap()))
        .arg("-I")
        .arg(headers(release))
        .args(macros.iter().map(|m| format!("-D{m}")))
        .arg(crate_folder().join("tests/fixtures/adapter.c"))
        .args(more));
    out
}

/// The client, linked against the loader.
fn client() -> &'static Path {
    static CLIENT: OnceLock<PathBuf> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let out = folder().join("client");
        link_client(&out, &[]);
        out
    })
}

/// Links a client against the loader, with more options for the linker.
pub fn link_client(out: &Path, options: &[String]) {
    run(cc()
        .arg("-o")
        .arg(out)
        .arg("-I")
        .arg(headers(release()))
        .arg(crate_folder().join("tests/fixtures/client.c"))
        .arg(loader())
        .args(["-lpthread", "-ldl"])
        .args(options));
}

/// One run of the client, in an environment without any of the loader's variables.
pub struct Run(Command);

/// What the client printed, a line each, and what the loader logged.
pub struct Outcome {
    pub lines: Vec<String>,
    pub log: String,
}

pub fn client_run() -> Run {
    client_run_with(loader())
}

/// A client run on that copy of the loader.
pub fn client_run_with(loader: &Path) -> Run {
    let mut command = Command::new("timeout");
    command.arg("60").arg(client());
    for variable in [
        "UR_ADAPTERS_FORCE_LOAD",
        "UR_ADAPTERS_SEARCH_PATH",
        "UR_ADAPTERS_DEEP_BIND",
        "UR_LOADER_PRELOAD_FILTER",
        "ONEAPI_DEVICE_SELECTOR",
    ] {
        command.env_remove(variable);
    }
    command.env("LD_LIBRARY_PATH", loader.parent().unwrap());
    command.env("UR_LOG_LOADER", "level:info;output:stderr");
    Run(command)
}

impl Run {
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Makes exactly these adapters the candidates.
    pub fn force(self, adapters: &[&Path]) -> Self {
        let list: Vec<_> = adapters.iter().map(|a| a.to_str().unwrap()).collect();
        self.env("UR_ADAPTERS_FORCE_LOAD", list.join(","))
    }

    /// Runs the words; the client must come to its end.
    pub fn words(mut self, words: &[&str]) -> Outcome {
        let output = self.0.args(words).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {}\n{printed}{log}", output.status);
        Outcome { lines: printed.lines().map(str::to_owned).collect(), log }
    }
}
