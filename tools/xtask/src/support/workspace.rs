//! Where things are, and which releases of the API there are. It finds and names; it makes nothing.

use std::env;
use std::path::{Path, PathBuf};

use super::failure::{Context, Result};
use crate::fail;

/// A release of oneAPI whose binary layout can be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// oneAPI 2026.1
    R2026_1,
    /// oneAPI 2026.2, what is laid out without being asked.
    R2026_2,
}

impl Release {
    /// All of them, the newest first.
    pub const ALL: [Release; 2] = [Release::R2026_2, Release::R2026_1];

    /// The release of that name.
    pub fn named(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|release| release.name() == name) {
            Some(release) => Ok(release),
            None => fail!("there is no release `{name}`; it is one of {}", Self::ALL.map(Release::name).join(", ")),
        }
    }

    /// As in file names and messages.
    pub fn name(self) -> &'static str {
        match self {
            Release::R2026_1 => "2026.1",
            Release::R2026_2 => "2026.2",
        }
    }

    /// Whether it is the newest, whose products have no release in their names.
    pub fn is_newest(self) -> bool {
        self == Release::ALL[0]
    }

    /// As cargo's names of final libraries and their packages end, with this between the numbers.
    pub fn suffix(self, between: &str) -> String {
        format!("{between}{}", self.name().replace('.', between))
    }

    /// The wheel of the SYCL runtime with this release's headers.
    pub fn sycl_wheel(self) -> &'static str {
        match self {
            Release::R2026_1 => "intel-sycl-rt==2026.1.2",
            Release::R2026_2 => "intel-sycl-rt==2026.2.0",
        }
    }
}

/// The checkout.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The checkout around the current directory, or, if that is in none, the one that this program was built from. Not the other way
    /// round: a build folder that was copied to another checkout would work on the first one.
    pub fn find() -> Result<Self> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let here = env::current_dir().context("the current directory cannot be read")?;
        match Self::around(&here, built) {
            Some(found) => Ok(found),
            None => fail!("no checkout of this project at or above {}", here.display()),
        }
    }

    fn around(here: &Path, built: Option<&Path>) -> Option<Self> {
        let is_checkout = |root: &&Path| root.join("spec/api").is_dir() && root.join("Cargo.toml").is_file();
        let root = here.ancestors().chain(built).find(is_checkout)?;
        Some(Workspace { root: root.to_path_buf() })
    }

    /// Its top folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the top folder.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// Where finished products and downloads go.
    pub fn target(&self) -> PathBuf {
        self.path("target")
    }

    /// Where cargo builds, all releases together.
    pub fn cargo_target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.target(), |dir| self.root.join(dir))
    }

    /// The laid-out products of a release.
    pub fn dist(&self, release: Release) -> PathBuf {
        let plain = "dist".to_owned();
        self.target().join(if release.is_newest() { plain } else { format!("{plain}-{}", release.name()) })
    }

    /// The installation whose adapters have bugs planted in them, where `planted` has made it.
    pub fn planted(&self) -> PathBuf {
        self.target().join("planted/dist")
    }

    /// The folder with the headers of a release.
    pub fn headers(&self, release: Release) -> PathBuf {
        let plain = "loader/include".to_owned();
        self.path(&if release.is_newest() { plain } else { format!("{plain}-{}", release.name()) })
    }

    /// What the loader of a release exports, and under which versions.
    pub fn version_script(&self, release: Release) -> PathBuf {
        self.path(&format!("loader/libraries/{}/src/generated/libur_loader.map", release.name()))
    }

    /// The facts that tests compare with, if they lie beside the checkout.
    pub fn shared(&self) -> Option<PathBuf> {
        let given = env::var_os("UR_SHARED").map(PathBuf::from);
        let beside = self.root.parent().map(|parent| parent.join("shared"));
        given.or(beside).filter(|folder| folder.join("abi").is_dir())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_checkout_around_the_current_directory_comes_before_the_one_that_was_built() {
        let folder = env::temp_dir().join(format!("xtask-checkouts-{}", std::process::id()));
        let [here, built] = ["here", "built"].map(|name| folder.join(name));
        for root in [&here, &built] {
            fs::create_dir_all(root.join("spec/api")).unwrap();
            fs::write(root.join("Cargo.toml"), "").unwrap();
        }
        let root = |from: &Path| Workspace::around(from, Some(&built)).map(|found| found.root);
        assert_eq!(root(&here.join("spec/api")), Some(here));
        assert_eq!(root(&folder), Some(built.clone()));
        fs::remove_dir_all(&built).unwrap();
        assert_eq!(root(&folder), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
