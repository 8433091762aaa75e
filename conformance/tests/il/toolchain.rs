//! The libnvvm of a test: the simulated one over a folder of PTX, and an empty cache.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use ur_conformance::{Environment, Fixture, Program, child, ok};

const FOLDER: &str = "SIMNVVM_FOLDER";

/// Where a test's libnvvm finds what to answer and writes what it was asked, and where the cache is.
pub struct Toolchain {
    folder: PathBuf,
    _guard: Option<TempDir>,
}

/// Where compilations wait.
pub struct Gate {
    entered: File,
    leave: File,
}

impl Gate {
    /// Waits until so many are there.
    pub fn wait_for<const COUNT: usize>(&mut self) {
        self.entered.read_exact(&mut [0; COUNT]).expect("a pipe");
    }

    /// Lets so many go.
    pub fn let_go<const COUNT: usize>(&mut self) {
        self.leave.write_all(&[b'x'; COUNT]).expect("a pipe");
    }
}

/// A real libnvvm, where somebody named one.
pub fn real() -> Option<PathBuf> {
    std::env::var_os("UR_TEST_NVVM").filter(|name| !name.is_empty()).map(PathBuf::from)
}

impl Toolchain {
    /// A simulated libnvvm that has these texts.
    pub fn new(texts: &[&str]) -> Self {
        let guard = tempfile::tempdir().expect("a folder");
        let folder = guard.path().to_path_buf();
        let library = Environment::get().loader.with_file_name("libsimnvvm.so");
        assert!(library.is_file(), "{} is not there: run `cargo xtask dist`", library.display());
        symlink(library, folder.join("libnvvm.so.4")).expect("a link");
        fs::write(folder.join("libdevice.10.bc"), b"BC").expect("a file");
        for text in texts {
            fs::write(folder.join(text), Environment::get().image(&format!("spirv/{text}"))).expect("a file");
        }
        Self { folder, _guard: Some(guard) }
    }

    /// That of the parent, for a child.
    pub fn inherited() -> Option<Self> {
        std::env::var_os(FOLDER).map(|folder| Self { folder: folder.into(), _guard: None })
    }

    /// What a child is told.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let library = self.folder.join("libnvvm.so.4");
        vec![
            (FOLDER, self.folder.clone().into()),
            ("UR_NVVM_LIBRARY", library.into()),
            ("UR_CACHE_DIR", self.cache().into()),
            ("UR_CACHE", "1".into()),
        ]
    }

    /// Holds compilations up: each says that it is there, and waits to be let go.
    pub fn gate(&self) -> Gate {
        // Open at both ends here, so that nobody waits for a partner to open one.
        let [entered, leave] = ["entered", "leave"].map(|name| {
            let pipe = self.folder.join(name);
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
            assert!(made.success());
            File::options().read(true).write(true).open(pipe).expect("a pipe")
        });
        Gate { entered, leave }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the disk cache.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// The options of each compilation so far.
    pub fn compiled(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("compiled")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What was compiled last.
    pub fn text(&self) -> String {
        fs::read_to_string(self.folder.join("text")).expect("something was compiled")
    }

    /// Has compilations fail with this log, or no longer.
    pub fn refuse(&self, log: Option<&str>) {
        let file = self.folder.join("refuse");
        match log {
            Some(log) => fs::write(file, log).expect("a file"),
            None => fs::remove_file(file).expect("a file"),
        }
    }
}

/// Runs `body` in a process with a simulated libnvvm that has these texts.
#[track_caller]
pub fn simulated(test: &str, texts: &[&str], body: impl FnOnce(&Toolchain)) {
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(texts));
    child::in_process(test, &toolchain.variables(), || body(&toolchain));
}

/// The same over the real libnvvm where there is one.
#[track_caller]
pub fn any(test: &str, texts: &[&str], body: impl FnOnce()) {
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(texts));
    let mut variables = toolchain.variables();
    if let Some(real) = real() {
        variables.push(("UR_NVVM_LIBRARY", real.into()));
    }
    child::in_process(test, &variables, body);
}

/// The bytes of a module.
pub fn module(name: &str) -> Vec<u8> {
    Environment::get().image(&format!("spirv/{name}.spv"))
}

/// A program of a module, not built.
pub fn unbuilt(fixture: &Fixture, name: &str) -> Program {
    let (bytes, mut program) = (module(name), core::ptr::null_mut());
    let context = fixture.context();
    ok!(Program.pfnCreateWithIL(context, bytes.as_ptr().cast(), bytes.len(), core::ptr::null(), &raw mut program));
    Program::take(program)
}

/// A program of a module, built.
pub fn built(fixture: &Fixture, name: &str) -> Program {
    let program = unbuilt(fixture, name);
    ok!(Program.pfnBuild(fixture.context(), program.handle(), core::ptr::null()));
    program
}
