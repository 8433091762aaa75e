//! A process with raised rights: variables that name libraries and files are ignored, each with a warning. The real thing
//! needs root, who alone can make a set-user-ID program of root; elsewhere the unit tests of `search` and `log` say the same.

mod common;
use common::{adapter, link_client, loader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// A user without rights, on every Linux.
const NOBODY: u32 = 65534;

/// A folder that everybody may enter, removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn variables_that_name_libraries_and_files_are_ignored_with_a_warning() {
    let folder = Folder(std::env::temp_dir().join(format!("ur-loader-raised-{}", std::process::id())));
    let at = |name: &str| folder.0.join(name);
    std::fs::create_dir_all(&folder.0).unwrap();
    if folder.0.metadata().unwrap().uid() != 0 {
        println!("skipped: only root can make a set-user-ID program of root");
        return;
    }
    // The loader with an adapter beside it, which needs no variable to be found.
    std::fs::copy(loader(), at("libur_loader.so.0")).unwrap();
    std::fs::copy(adapter("beside.so", &["ID=3"]), at("libur_adapter_cuda.so.0")).unwrap();
    link_client(&at("client"), &[format!("-Wl,-rpath,{}", folder.0.display())]);
    let (forced, searched) = (adapter("forced.so", &["ID=1"]), adapter("path/libur_adapter_cuda.so.0", &["ID=2"]));
    let run = |mode: u32, words: &[&str]| {
        std::fs::set_permissions(&folder.0, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(at("client"), PermissionsExt::from_mode(mode)).unwrap();
        let output = Command::new(at("client"))
            .uid(if mode & 0o4000 == 0 { 0 } else { NOBODY })
            .env("UR_ADAPTERS_FORCE_LOAD", &forced)
            .env("UR_ADAPTERS_SEARCH_PATH", searched.parent().unwrap())
            .env("UR_LOG_LOADER", format!("level:warning;output:file,{}", at("log").display()))
            .args(words)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let words = ["rights", "init", "adapters"];
    let (usual, _) = run(0o755, &words);
    assert_eq!(usual, "rights usual\ninit SUCCESS\nadapters SUCCESS 1\n", "the variables work otherwise");
    let _ = std::fs::remove_file(at("log"));

    let (raised, log) = run(0o4755, &words);
    if raised.starts_with("rights usual") {
        println!("skipped: this file system gives a set-user-ID program no rights");
        return;
    }
    assert_eq!(raised, "rights raised\ninit SUCCESS\nadapters SUCCESS 3\n", "{log}");
    for name in ["UR_ADAPTERS_FORCE_LOAD", "UR_ADAPTERS_SEARCH_PATH", "the file of UR_LOG_LOADER"] {
        assert!(log.contains(&format!("[WARNING]: {name} is ignored")), "{name}: {log}");
    }
    assert!(!at("log").exists());
}
