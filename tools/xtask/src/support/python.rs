//! Python's part: virtual environments with pinned packages, and single files out of a wheel. Both are kept under
//! `target` and used again; no command that demonstrates or tests our own code needs this.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::failure::{Context, Result};
use super::process;
use crate::fail;

/// How many seconds a package registry that refused is left alone before it is asked again.
pub const REGISTRY_WAITS: [u64; 2] = [10, 60];

/// A virtual environment.
pub struct Venv(PathBuf);

impl Venv {
    /// The environment in that folder with exactly these requirements: as it is if they have been installed, else new.
    pub fn with(folder: &Path, requirements: &[&str]) -> Result<Self> {
        let stamp = folder.join("requirements.installed");
        let wanted = requirements.join("\n");
        let venv = Venv(folder.to_path_buf());
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(venv);
        }
        println!("making {} with {}", folder.display(), requirements.join(" "));
        let python = process::need(&["python3", "python"], "a virtual environment")?;
        process::run(Command::new(python).args(["-m", "venv", "--clear"]).arg(folder))?;
        let mut pip = Command::new("timeout");
        pip.args(["--kill-after=10", "900"]).arg(venv.python());
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(requirements);
        // Wheels that another command has downloaded into the folder beside it need not come a second time.
        if let Some(wheels) = folder.parent().map(|parent| parent.join("wheels")).filter(|wheels| wheels.is_dir()) {
            pip.arg("--find-links").arg(wheels);
        }
        process::run_again(&mut pip, &REGISTRY_WAITS)?;
        fs::write(&stamp, wanted).context(stamp.display())?;
        Ok(venv)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Its interpreter.
    pub fn python(&self) -> PathBuf {
        self.0.join("bin/python")
    }

    /// Its libraries: the packages put theirs beside Python's own.
    pub fn lib(&self) -> PathBuf {
        self.0.join("lib")
    }

    /// The folder of an installed package.
    pub fn package(&self, name: &str) -> Result<PathBuf> {
        let entries = fs::read_dir(self.lib()).context(self.lib().display())?;
        let folders = entries.flatten().map(|entry| entry.path().join("site-packages").join(name));
        match folders.filter(|folder| folder.is_dir()).min() {
            Some(folder) => Ok(folder),
            None => fail!("{} has no package {name}", self.0.display()),
        }
    }

    /// Its headers.
    pub fn include(&self) -> PathBuf {
        self.0.join("include")
    }
}

/// Takes the files whose names hold `part` out of a wheel into `folder`, named as they are behind `part`. The wheel stays
/// in `wheels`; a second call downloads nothing.
pub fn unpack(wheels: &Path, requirement: &str, part: &str, folder: &Path) -> Result {
    let stamp = folder.join("unpacked");
    if fs::read_to_string(&stamp).is_ok_and(|from| from == requirement) {
        return Ok(());
    }
    let python = process::need(&["python3", "python"], "opening a wheel")?;
    let wheel = match find_wheel(wheels, requirement)? {
        Some(wheel) => wheel,
        None => {
            println!("downloading {requirement}");
            let mut pip = process::limited(900, python);
            pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest"]);
            process::run_again(pip.arg(wheels).arg(requirement), &REGISTRY_WAITS)?;
            match find_wheel(wheels, requirement)? {
                Some(wheel) => wheel,
                None => fail!("{requirement} was downloaded, but no such wheel lies in {}", wheels.display()),
            }
        }
    };
    fs::create_dir_all(folder).context(folder.display())?;
    let script = "import sys, zipfile, pathlib\n\
                  wheel = zipfile.ZipFile(sys.argv[1])\n\
                  names = [n for n in wheel.namelist() if sys.argv[2] in n and not n.endswith('/')]\n\
                  for n in names:\n    \
                      to = pathlib.Path(sys.argv[3]) / n.split(sys.argv[2], 1)[1]\n    \
                      to.parent.mkdir(parents=True, exist_ok=True)\n    \
                      to.write_bytes(wheel.read(n))\n\
                  sys.exit(not names)";
    process::run(Command::new(python).args(["-c", script]).arg(&wheel).arg(part).arg(folder))?;
    fs::write(&stamp, requirement).context(stamp.display())
}

/// The wheel that answers `name==version`, if it has been downloaded.
fn find_wheel(wheels: &Path, requirement: &str) -> Result<Option<PathBuf>> {
    let Some((name, version)) = requirement.split_once("==") else { fail!("`{requirement}` is no `name==version`") };
    let start = format!("{}-{version}-", name.replace('-', "_"));
    let Ok(entries) = fs::read_dir(wheels) else { return Ok(None) };
    Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).find(|path| {
        path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&start) && n.ends_with(".whl"))
    }))
}
