//! `UR_LOG_LOADER`: what is wrong in it, and what a log file may be.

mod common;
use common::{adapter, client_run, folder};

#[test]
fn an_unknown_key_is_named_and_the_rest_of_the_setting_holds() {
    let one = adapter("one.so", &["ID=1"]);
    for value in ["colour:red;level:info;output:stdout", "level:info;colour:red;output:stdout"] {
        let run = client_run().force(&[&one]).env("UR_LOG_LOADER", value).words(&["init"]);
        assert!(run.log.contains("`colour:red`"), "{value}: {}", run.log);
        assert!(run.lines[0].starts_with("<LOADER>[INFO]: loaded "), "{value}: {:?}", run.lines);
    }
}

#[test]
fn a_log_file_is_appended_to_and_what_is_no_log_is_left_alone() {
    let two = adapter("two.so", &["ID=2"]);
    let path = folder().join("run.log");
    let run = |path: &std::path::Path| {
        let value = format!("level:info;output:file,{}", path.display());
        client_run().force(&[&two]).env("UR_LOG_LOADER", value).words(&["init"])
    };
    assert_eq!(run(&path).log, "");
    assert_eq!(run(&path).log, "");
    let log = std::fs::read_to_string(&path).unwrap();
    assert_eq!(log.matches("loaded ").count(), 2, "{log}");

    let notes = folder().join("notes.txt");
    std::fs::write(&notes, "notes").unwrap();
    let link = folder().join("link.log");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for (path, reason) in [(&notes, "other content"), (&link, "symbolic link")] {
        let refused = run(path);
        assert!(refused.log.contains(reason), "{}", refused.log);
        assert!(refused.log.contains("<LOADER>[INFO]: loaded "), "it goes to stderr instead: {}", refused.log);
    }
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "notes");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), log);
}
