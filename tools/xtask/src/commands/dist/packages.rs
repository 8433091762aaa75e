//! What tells other build systems about an installation: the pkg-config file and the CMake package, and reading the
//! former where no pkg-config is installed. All paths in them are relative to themselves, so that a folder can be moved.

use std::path::Path;

use crate::support::failure::{Context, Result};
use crate::support::process;
use crate::support::workspace::Release;

const VERSION: &str = "0.12.0";

/// Path and text of each file.
pub fn files(release: Release) -> Vec<(String, String)> {
    vec![
        ("lib/pkgconfig/libur_loader.pc".to_owned(), pkg_config_file(release)),
        ("lib/cmake/unified-runtime/unified-runtime-config.cmake".to_owned(), cmake_config()),
        ("lib/cmake/unified-runtime/unified-runtime-config-version.cmake".to_owned(), cmake_version()),
    ]
}

fn pkg_config_file(release: Release) -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         includedir=${{prefix}}/include\n\
         libdir=${{prefix}}/lib\n\
         \n\
         Name: libur_loader\n\
         Description: Unified Runtime loader with the layout of oneAPI {}\n\
         Version: {VERSION}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -lur_loader\n",
        release.name()
    )
}

fn cmake_config() -> String {
    "get_filename_component(_unified_runtime_prefix \"${CMAKE_CURRENT_LIST_DIR}/../../..\" ABSOLUTE)\n\
     if(NOT TARGET unified-runtime::loader)\n  \
       add_library(unified-runtime::loader SHARED IMPORTED)\n  \
       set_target_properties(unified-runtime::loader PROPERTIES\n    \
         IMPORTED_LOCATION \"${_unified_runtime_prefix}/lib/libur_loader.so.0\"\n    \
         IMPORTED_SONAME libur_loader.so.0\n    \
         INTERFACE_INCLUDE_DIRECTORIES \"${_unified_runtime_prefix}/include\")\n\
     endif()\n\
     unset(_unified_runtime_prefix)\n"
        .to_owned()
}

fn cmake_version() -> String {
    format!(
        "set(PACKAGE_VERSION {VERSION})\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n  \
           set(PACKAGE_VERSION_EXACT TRUE)\n\
         endif()\n\
         if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  \
           set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         endif()\n"
    )
}

/// What a C compiler is given to use an installation, and who said so.
pub fn compiler_flags(dist: &Path) -> Result<(Vec<String>, &'static str)> {
    let folder = dist.join("lib/pkgconfig");
    if process::exists("pkg-config") {
        let mut command = process::limited(60, "pkg-config");
        command.env("PKG_CONFIG_PATH", &folder).args(["--cflags", "--libs", "libur_loader"]);
        let printed = process::capture(&mut command)?;
        return Ok((words(&printed.stdout), "pkg-config"));
    }
    let file = folder.join("libur_loader.pc");
    let text = std::fs::read_to_string(&file).context(file.display())?;
    Ok((pkg_config(&text, &folder.display().to_string()), "libur_loader.pc itself, as no pkg-config is installed"))
}

/// The compiler flags in a pkg-config file that lies in `folder`.
fn pkg_config(text: &str, folder: &str) -> Vec<String> {
    let mut variables = vec![("pcfiledir".to_owned(), folder.to_owned())];
    let mut flags = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for (name, value) in &variables {
            line = line.replace(&format!("${{{name}}}"), value);
        }
        if let Some(list) = line.strip_prefix("Cflags:").or_else(|| line.strip_prefix("Libs:")) {
            flags.extend(words(list));
        } else if let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.contains([':', ' '])) {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    flags
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pkg_config_file_moves_with_its_folder() {
        let flags = pkg_config(&pkg_config_file(Release::R2026_2), "/opt/ur/lib/pkgconfig");
        assert_eq!(
            flags,
            ["-I/opt/ur/lib/pkgconfig/../../include", "-L/opt/ur/lib/pkgconfig/../../lib", "-lur_loader"]
        );
    }
}
