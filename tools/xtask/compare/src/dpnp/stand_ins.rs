//! Libraries in the place of oneMKL's, which have nothing for a CUDA device and are too large to travel. dpnp's modules bind every
//! symbol when they are loaded, so one of the libraries defines all that they name; a call ends the process by name.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::{files, process};

/// How the names of oneMKL begin.
const SYMBOLS: [&str; 7] = ["_ZN6oneapi3mkl", "_ZNK6oneapi3mkl", "_ZTIN6oneapi3mkl", "vsl", "viRng", "vsRng", "vdRng"];
const LIBRARIES: &str = "libmkl_";
/// Bytes of an object, of which nobody looks at any.
const OBJECT: usize = 64;
const START: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    static void end(const char *name) { fprintf(stderr, \"oneMKL was called: %s\\n\", name); abort(); }\n\
    #define FUNCTION(NAME) void NAME(void) { end(#NAME); }\n";

/// What dynamic libraries want of others.
#[derive(Default)]
pub struct Needs {
    libraries: BTreeSet<String>,
    symbols: BTreeSet<String>,
}

impl Needs {
    /// Reads it from every library below a folder.
    pub fn of(folder: &Path) -> Result<Self> {
        let mut needs = Needs::default();
        for file in files::list(folder)? {
            if file.extension().is_some_and(|ending| ending == "so") {
                needs.read(&folder.join(&file))?;
            }
        }
        Ok(needs)
    }

    /// Reads it from one.
    pub fn of_library(library: &Path) -> Result<Self> {
        let mut needs = Needs::default();
        needs.read(library)?;
        Ok(needs)
    }

    fn read(&mut self, library: &Path) -> Result {
        self.read_dynamic(&process::capture(Command::new("readelf").arg("-dW").arg(library))?.stdout);
        let mut nm = Command::new("nm");
        self.read_symbols(&process::capture(nm.args(["-D", "--undefined-only"]).arg(library))?.stdout);
        Ok(())
    }

    /// `0x1 (NEEDED) Shared library: [libmkl_core.so.3]`
    fn read_dynamic(&mut self, printed: &str) {
        for line in printed.lines().filter(|line| line.contains("(NEEDED)")) {
            let name = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            self.libraries.extend(name.map(|(name, _)| name.to_owned()));
        }
    }

    /// `                 U vslNewStream@VERSION`
    fn read_symbols(&mut self, printed: &str) {
        let names = printed.lines().filter_map(|line| line.split_whitespace().next_back());
        self.symbols.extend(names.map(|name| name.split('@').next().unwrap_or(name).to_owned()));
    }

    /// The libraries that are not oneMKL's.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        self.libraries.iter().map(String::as_str).filter(|name| !name.starts_with(LIBRARIES))
    }

    fn replaced(&self) -> Vec<&str> {
        self.libraries.iter().map(String::as_str).filter(|name| name.starts_with(LIBRARIES)).collect()
    }

    /// The text of the library that defines everything.
    fn source(&self) -> String {
        let mut text = START.to_owned();
        for name in self.symbols.iter().filter(|name| SYMBOLS.iter().any(|start| name.starts_with(start))) {
            let written = match name.starts_with("_ZTI") {
                true => writeln!(text, "char {name}[{OBJECT}];"),
                false => writeln!(text, "FUNCTION({name})"),
            };
            written.unwrap_or(());
        }
        text
    }
}

/// Builds them into a folder; answers their names.
pub fn build(needs: &Needs, folder: &Path) -> Result<Vec<PathBuf>> {
    let names = needs.replaced();
    let Some(first) = names.first() else { fail!("dpnp's modules name no library of oneMKL's; nothing stands in") };
    for name in &names {
        let source = folder.join(format!("{name}.c"));
        let text = if name == first { needs.source() } else { String::new() };
        let library = folder.join(name);
        if files::write(&source, text.as_bytes())? || !library.exists() {
            let mut cc = process::cc();
            cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", &format!("-Wl,-soname,{name}"), "-o"]);
            process::run(cc.arg(&library).arg(&source))?;
        }
    }
    Ok(names.into_iter().map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs() -> Needs {
        let mut needs = Needs::default();
        needs.read_dynamic(
            " 0x0000000000000001 (NEEDED)             Shared library: [libmkl_core.so.3]\n \
             0x0000000000000001 (NEEDED)             Shared library: [libsycl.so.9]\n \
             0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN/../lib]\n",
        );
        needs.read_symbols(
            "                 U _ZN6oneapi3mkl2vm3addERN4sycl3_V15queueE\n                 U vslNewStream\n\
             \x20                U malloc@GLIBC_2.2.5\n                 U _ZTIN6oneapi3mkl9exceptionE\n",
        );
        needs
    }

    #[test]
    fn onemkl_alone_is_replaced() {
        let needs = needs();
        assert_eq!(needs.replaced(), ["libmkl_core.so.3"]);
        assert_eq!(needs.others().collect::<Vec<_>>(), ["libsycl.so.9"]);
        let source = needs.source();
        assert!(source.contains("FUNCTION(_ZN6oneapi3mkl2vm3addERN4sycl3_V15queueE)"), "{source}");
        assert!(source.contains("FUNCTION(vslNewStream)"), "{source}");
        assert!(source.contains("char _ZTIN6oneapi3mkl9exceptionE[64];"), "{source}");
        assert!(!source.contains("malloc"), "{source}");
    }
}
