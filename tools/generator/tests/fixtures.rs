//! Small specifications with known results: `good` ones with every file they generate, `bad` ones with every
//! problem they have. `BLESS=1` rewrites the expectations; read the difference before committing it.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{TempFolder, copy};

fn fixtures(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind)
}

fn cases(kind: &str) -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(fixtures(kind)).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn files_below(folder: &Path, base: &Path, found: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, base, found);
        } else {
            found.insert(path.strip_prefix(base).unwrap().to_str().unwrap().to_owned());
        }
    }
}

fn problems_of(result: Result<generator::model::Model, Vec<generator::Problem>>) -> String {
    match result {
        Ok(_) => String::from("no problem\n"),
        Err(problems) => problems.iter().map(|problem| format!("{problem}\n")).collect(),
    }
}

#[test]
fn a_good_specification_generates_exactly_the_expected_files() {
    for case in cases("good") {
        let model = match generator::model(&case) {
            Ok(model) => model,
            Err(problems) => panic!("{}:\n{}", case.display(), problems_of(Err(problems))),
        };
        let outputs = generator::emit::all(&model);
        let expected = case.join("expected");
        if bless() {
            let _ = fs::remove_dir_all(&expected);
            generator::output::write(&expected, &outputs).unwrap();
        }
        let mut on_disk = BTreeSet::new();
        files_below(&expected, &expected, &mut on_disk);
        let made: BTreeSet<String> = outputs.iter().map(|output| output.path.clone()).collect();
        assert_eq!(made, on_disk, "{}", case.display());
        for output in &outputs {
            let text = fs::read_to_string(expected.join(&output.path)).unwrap();
            assert_eq!(output.text(), text, "{}: {}", case.display(), output.path);
        }
    }
}

#[test]
fn a_bad_specification_is_refused_with_file_line_item_and_remedy() {
    for case in cases("bad") {
        let folder = TempFolder::new();
        copy(&fixtures("good/minimal/spec"), &folder.path().join("spec"));
        copy(&case.join("spec"), &folder.path().join("spec"));
        let said = problems_of(generator::model(folder.path()));
        let expected = case.join("expected.txt");
        if bless() {
            fs::write(&expected, &said).unwrap();
        }
        let text = fs::read_to_string(&expected).unwrap_or_default();
        assert_ne!(said, "no problem\n", "{}", case.display());
        assert_eq!(said, text, "{}", case.display());
    }
}
