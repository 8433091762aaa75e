//! Where the folder is, how large it may become, and whether it may be used: `UR_CACHE_DIR`, else `unified-runtime` in
//! `XDG_CACHE_HOME`, else in `~/.cache`. `UR_CACHE=0` turns the cache off, `UR_CACHE_MAX_SIZE` bounds it.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::is_own;
use crate::driver::native::library::has_raised_rights;

const DEFAULT_LIMIT: u64 = 1 << 30;

/// A folder that may be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub folder: PathBuf,
    pub limit_bytes: u64,
}

/// The folder, made if it is not there; `None` where the user wants none.
///
/// # Errors
/// Why there is no folder that may be used.
pub(super) fn find() -> Result<Option<Place>, String> {
    if has_raised_rights() {
        return Err("the process runs with raised rights".to_owned());
    }
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let Some(place) = named(variable)? else { return Ok(None) };
    prepare(&place.folder)?;
    Ok(Some(place))
}

/// What the variables say.
fn named(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Place>, String> {
    if variable("UR_CACHE").is_some_and(|value| value == "0") {
        return Ok(None);
    }
    let limit_bytes = match variable("UR_CACHE_MAX_SIZE") {
        None => DEFAULT_LIMIT,
        Some(text) => size(&text.to_string_lossy())
            .ok_or_else(|| format!("UR_CACHE_MAX_SIZE is {text:?}, which is no size such as 512M"))?,
    };
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = if let Some(own) = variable("UR_CACHE_DIR") {
        absolute("UR_CACHE_DIR").ok_or_else(|| format!("UR_CACHE_DIR is {own:?}, which is no absolute path"))?
    } else if let Some(shared) = absolute("XDG_CACHE_HOME") {
        shared.join("unified-runtime")
    } else {
        let home = absolute("HOME").ok_or("none of UR_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder")?;
        home.join(".cache/unified-runtime")
    };
    Ok(Some(Place { folder, limit_bytes }))
}

/// A number of bytes, with `K`, `M` or `G` for powers of 1024.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix(['K', 'k', 'M', 'm', 'G', 'g']) {
        Some(digits) => (digits, 10 * (1 + "KMG".find(text[digits.len()..].to_ascii_uppercase().as_str())?)),
        None => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << unit)
}

/// Makes the folder, for this user alone, and refuses one that others could write to.
fn prepare(folder: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(told)?;
    let data = fs::metadata(folder).map_err(told)?;
    if !is_own(&data) {
        return Err(format!(
            "{} belongs to another user or can be written by others; make it yours alone with `chmod 700`",
            folder.display()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;
    use crate::driver::native::library::tests::RaisedRights;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Place>, String> {
        named(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
    }

    fn folder(variables: &[(&str, &str)]) -> String {
        of(variables).unwrap().unwrap().folder.to_string_lossy().into_owned()
    }

    #[test]
    fn the_nearest_variable_names_the_folder() {
        let all = [("UR_CACHE_DIR", "/own"), ("XDG_CACHE_HOME", "/shared"), ("HOME", "/home/me")];
        assert_eq!(folder(&all), "/own");
        assert_eq!(folder(&all[1..]), "/shared/unified-runtime");
        assert_eq!(folder(&all[2..]), "/home/me/.cache/unified-runtime");
        // The specification of these folders says so.
        assert_eq!(folder(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]), "/h/.cache/unified-runtime");
        assert!(of(&[]).unwrap_err().contains("HOME"));
        assert!(of(&[("UR_CACHE_DIR", "relative"), ("HOME", "/h")]).unwrap_err().contains("UR_CACHE_DIR"));
        assert_eq!(of(&[("UR_CACHE", "0"), ("HOME", "/h")]), Ok(None));
        assert!(of(&[("UR_CACHE", "1"), ("HOME", "/h")]).unwrap().is_some());
    }

    #[test]
    fn sizes_have_units_and_wrong_ones_are_told() {
        let limit = |text| of(&[("HOME", "/h"), ("UR_CACHE_MAX_SIZE", text)]).map(|place| place.unwrap().limit_bytes);
        assert_eq!(of(&[("HOME", "/h")]).unwrap().unwrap().limit_bytes, DEFAULT_LIMIT);
        for (text, bytes) in [("1000", 1000), ("2K", 2048), ("3m", 3 << 20), (" 4G ", 4 << 30), ("0", 0)] {
            assert_eq!(limit(text), Ok(bytes));
        }
        for text in ["", "G", "1T", "-1", "1.5G", "99999999999G"] {
            if text.is_empty() {
                continue;
            }
            assert!(limit(text).unwrap_err().contains("UR_CACHE_MAX_SIZE"), "{text}");
        }
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused_and_a_new_one_is_private() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("a/b");
        prepare(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        prepare(&folder).unwrap();
        for mode in [0o770, 0o707, 0o777] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            assert!(prepare(&folder).unwrap_err().contains("chmod 700"));
        }
        fs::write(temporary.path().join("file"), b"").unwrap();
        assert!(prepare(&temporary.path().join("file")).is_err());
    }

    /// The variables of a process are all its threads', so a child has them.
    #[test]
    fn with_raised_rights_there_is_no_folder_and_none_is_made() {
        const CHILD: &str = "UR_TEST_RAISED_RIGHTS";
        const TEST: &str = "with_raised_rights_there_is_no_folder_and_none_is_made";
        if env::var_os(CHILD).is_some() {
            let named = PathBuf::from(env::var_os("UR_CACHE_DIR").unwrap());
            let raised = RaisedRights::simulate();
            assert_eq!(find(), Err("the process runs with raised rights".to_owned()));
            assert!(!named.exists(), "{} was made", named.display());
            drop(raised);
            // The same variable names a folder otherwise.
            assert_eq!(find().unwrap().unwrap().folder, named);
            assert!(named.is_dir());
            return;
        }
        let temporary = tempfile::tempdir().unwrap();
        let module = module_path!().split_once("::").unwrap().1;
        let mut child = Command::new(env::current_exe().unwrap());
        child.args([&format!("{module}::{TEST}"), "--exact", "--nocapture"]);
        child.env(CHILD, "1").env("UR_CACHE_DIR", temporary.path().join("named")).env_remove("UR_CACHE");
        let ended = child.env_remove("UR_CACHE_MAX_SIZE").output().unwrap();
        let told = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(ended.status.success() && told.contains("1 passed"), "{told}");
    }
}
