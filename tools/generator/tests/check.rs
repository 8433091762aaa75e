//! The check mode says what is wrong with each generated file, and the write mode mends it without destroying
//! what it did not make.

mod common;

use std::fs;
use std::path::Path;

use common::{TempFolder, copy};
use generator::{Mode, OutputState, Problem, generate};

/// A small specification with everything generated.
fn generated() -> TempFolder {
    let folder = TempFolder::new();
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/good/two-releases/spec");
    copy(&spec, &folder.path().join("spec"));
    generate(folder.path(), Mode::Write).unwrap();
    folder
}

fn found(root: &Path) -> Vec<(String, OutputState)> {
    let Err(problems) = generate(root, Mode::Check) else { return Vec::new() };
    let state = |problem: Problem| match problem {
        Problem::Output { file, state } => (file, state),
        other => panic!("{other}"),
    };
    problems.into_iter().map(state).collect()
}

fn append(path: &Path, text: &str) {
    let content = fs::read_to_string(path).unwrap();
    fs::write(path, content + text).unwrap();
}

#[test]
fn what_was_just_written_passes_the_check_and_is_not_written_again() {
    let folder = generated();
    assert_eq!(found(folder.path()), []);
    let again = generate(folder.path(), Mode::Write).unwrap();
    assert_eq!((again.written.len(), again.removed.len()), (0, 0));
    assert!(again.unchanged.len() > 20);
}

#[test]
fn missing_edited_and_orphaned_files_are_told_apart() {
    let folder = generated();
    let root = folder.path();
    fs::remove_file(root.join("docs/api/thing.md")).unwrap();
    append(&root.join("loader/libraries/1.10/src/generated/exports.rs"), "// mine\n");
    fs::write(root.join("docs/api/notes.md"), "mine\n").unwrap();
    fs::write(root.join("loader/include-1.9/extra.h"), "mine\n").unwrap();
    assert_eq!(
        found(root),
        [
            ("loader/libraries/1.10/src/generated/exports.rs".to_owned(), OutputState::Edited),
            ("docs/api/thing.md".to_owned(), OutputState::Missing),
            ("docs/api/notes.md".to_owned(), OutputState::Orphaned),
            ("loader/include-1.9/extra.h".to_owned(), OutputState::Orphaned),
        ]
    );
}

#[test]
fn a_changed_specification_makes_files_stale_and_an_edit_stays_an_edit() {
    let folder = generated();
    let root = folder.path();
    append(&root.join("docs/api/exp-paint.md"), "mine\n");
    let spec = root.join("spec/api/exp-paint.toml");
    let text = fs::read_to_string(&spec).unwrap();
    fs::write(&spec, text.replace("Paints a thing.", "Colours a thing.")).unwrap();
    let found = found(root);
    let stale = |file: &str| found.contains(&(file.to_owned(), OutputState::Stale));
    assert!(stale("loader/include/unified-runtime/ur_api.h"), "{found:?}");
    assert!(stale("loader/libraries/1.10/src/generated/exports.rs"), "{found:?}");
    assert!(found.contains(&("docs/api/exp-paint.md".to_owned(), OutputState::Edited)), "{found:?}");
    // What the sentence does not reach is not touched.
    assert!(!found.iter().any(|(file, _)| file.ends_with("layout.rs")), "{found:?}");
}

#[test]
fn writing_mends_everything_but_deletes_only_its_own() {
    let folder = generated();
    let root = folder.path();
    fs::remove_file(root.join("spec/api/exp-paint.toml")).unwrap();
    let release = root.join("spec/releases/1.10.toml");
    let text = fs::read_to_string(&release).unwrap();
    let table = text.find("[[table]]\nname = \"ur_thing_exp").unwrap();
    fs::write(&release, &text[..table]).unwrap();
    let older = root.join("spec/releases/1.9.toml");
    let text = fs::read_to_string(&older).unwrap();
    fs::write(&older, text.replace("without_tables = [\"ur_thing_exp_dditable_t\"]\n", "")).unwrap();
    fs::write(root.join("docs/api/notes.md"), "mine\n").unwrap();
    let problems = generate(root, Mode::Write).unwrap_err();
    let orphan = Problem::Output { file: "docs/api/notes.md".to_owned(), state: OutputState::Orphaned };
    assert_eq!(problems, [orphan]);
    assert!(root.join("docs/api/notes.md").exists());
    assert!(!root.join("docs/api/exp-paint.md").exists());
    fs::remove_file(root.join("docs/api/notes.md")).unwrap();
    assert_eq!(found(root), []);
}

#[test]
fn a_specification_with_problems_changes_nothing() {
    let folder = generated();
    let root = folder.path();
    append(&root.join("spec/api/thing.toml"), "\n[[handle]]\nname = \"ur_thing_handle_t\"\n");
    let before = fs::read_to_string(root.join("loader/libraries/1.10/src/generated/exports.rs")).unwrap();
    assert!(generate(root, Mode::Write).is_err());
    let after = fs::read_to_string(root.join("loader/libraries/1.10/src/generated/exports.rs")).unwrap();
    assert_eq!(before, after);
}

#[test]
fn the_committed_files_are_what_the_specification_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Err(problems) = generate(&root, Mode::Check) {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"));
    }
}
