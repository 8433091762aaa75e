//! Libraries of Debian's packages. What is installed stays on the machine, so only who asks for it gets it.

use super::process;

/// `1` where packages may be installed.
const INSTALL: &str = "UR_TEST_INSTALL";

/// Whether packages may be installed on this machine.
pub fn may_install() -> bool {
    std::env::var_os(INSTALL).is_some_and(|value| value == "1")
}

/// Looks for a library, and installs its packages where it is missing and they may be installed.
///
/// # Errors
/// Why the library is not there.
pub fn library_is_there(library: &str, packages: &[&str], may_install: bool) -> Result<(), String> {
    if is_listed(library) {
        return Ok(());
    }
    let names = packages.join(" ");
    if !may_install {
        return Err(format!("`apt-get install {names}` brings it, here too with {INSTALL}=1"));
    }
    if !process::exists("apt-get") {
        return Err("this machine has no apt-get".to_owned());
    }
    let install = || apt(400, &[&["install", "--yes", "--no-install-recommends"], packages].concat());
    // A machine that never read the packages' list knows none.
    install().or_else(|_| apt(120, &["update"]).and_then(|()| install()))?;
    if is_listed(library) { Ok(()) } else { Err(format!("{names} is installed and holds no such library")) }
}

fn is_listed(library: &str) -> bool {
    let listed = process::outcome(process::limited(60, "ldconfig").arg("-p"));
    listed.is_ok_and(|(_, printed)| printed.stdout.contains(library))
}

fn apt(seconds: u32, arguments: &[&str]) -> Result<(), String> {
    let mut command = process::limited(seconds, "apt-get");
    let tried = process::outcome(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    let (status, printed) = tried.map_err(|failure| failure.to_string())?;
    let last = printed.stderr.lines().last().unwrap_or("it gave no reason").to_owned();
    if status.success() { Ok(()) } else { Err(format!("apt-get {} says: {last}", arguments.join(" "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_named_by_its_packages_and_not_installed_unasked() {
        let missing = library_is_there("libur-nobody-has-this.so.0", &["ur-nobody-has-this", "nor-that"], false);
        let told = "`apt-get install ur-nobody-has-this nor-that` brings it, here too with UR_TEST_INSTALL=1";
        assert_eq!(missing, Err(told.to_owned()));
    }
}
