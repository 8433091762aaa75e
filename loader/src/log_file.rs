//! The file that a log goes to. The rule: a log is only ever appended to, and only to a regular file that is new, empty or
//! begins as a log of the loader's does; a symbolic link is not followed. So a path that somebody mistyped, or that
//! somebody else put a link at, costs no file its content. Must never truncate, create folders, or wait for a reader of a
//! pipe.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How every line of a log begins.
pub const MARK: &str = "<LOADER>[";

/// Opens a file to append a log to, or says why it is left alone.
pub fn open(path: &Path) -> Result<File, String> {
    // O_NONBLOCK: a pipe that nobody reads answers at once, and is then refused for what it is. It changes nothing for a
    // regular file.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let opened = OpenOptions::new().read(true).append(true).create(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => "it is a symbolic link, which is not followed".to_owned(),
        _ => error.to_string(),
    })?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.len() > 0 && !begins_as_a_log(&file) {
        return Err("it has other content than a log of the loader, and is left as it is".to_owned());
    }
    Ok(file)
}

fn begins_as_a_log(mut file: &File) -> bool {
    let mut start = [0; MARK.len()];
    file.read_exact(&mut start).is_ok() && start == *MARK.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::PathBuf;

    /// A folder of the test's own, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ur-log-file-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn holding(&self, name: &str, content: &str) -> PathBuf {
            let path = self.0.join(name);
            std::fs::write(&path, content).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_new_file_an_empty_one_and_a_log_are_appended_to() {
        let folder = Folder::new("appended");
        let older = "<LOADER>[INFO]: older\n";
        let cases = [folder.0.join("new"), folder.holding("empty", ""), folder.holding("log", older)];
        for (path, before) in cases.iter().zip(["", "", older]) {
            let mut first = open(path).unwrap();
            let mut second = open(path).unwrap();
            write!(first, "{MARK}1").unwrap();
            write!(second, "{MARK}2").unwrap();
            let written = std::fs::read_to_string(path).unwrap();
            assert_eq!(written, format!("{before}{MARK}1{MARK}2"), "both loggers' lines, behind what was there");
        }
    }

    #[test]
    fn what_is_no_log_keeps_its_content() {
        let folder = Folder::new("kept");
        for content in ["x", "my notes\n", "<LOADER", " <LOADER>[INFO]: not at its start\n"] {
            let path = folder.holding("other", content);
            let reason = open(&path).unwrap_err();
            assert!(reason.contains("other content"), "{reason}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
    }

    #[test]
    fn a_symbolic_link_is_not_followed_whatever_it_leads_to() {
        let folder = Folder::new("links");
        let log = folder.holding("log", "<LOADER>[INFO]: older\n");
        for (name, target) in [("to-log", log), ("to-nothing", folder.0.join("nothing"))] {
            let link = folder.0.join(name);
            std::os::unix::fs::symlink(&target, &link).unwrap();
            let reason = open(&link).unwrap_err();
            assert!(reason.contains("symbolic link"), "{reason}");
        }
        assert!(!folder.0.join("nothing").exists(), "nothing is created behind a link");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = Folder::new("kinds");
        let pipe = folder.0.join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name is NUL-terminated.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [pipe, folder.0.clone(), "/dev/null".into()] {
            assert!(open(&path).is_err(), "{}", path.display());
        }
    }
}
