//! The project's own functions reach the adapter that made the handle, whose tables they are in; a handle of an adapter
//! without them, or of another age, answers the right error.

mod common;
use common::{adapter, adapter_needing, client_run};

const UNSUPPORTED: &str = "extension create UNSUPPORTED_FEATURE nothing info UNSUPPORTED_FEATURE 99 wait \
    UNSUPPORTED_FEATURE 99 signal UNSUPPORTED_FEATURE";

/// What an adapter of that number answers.
fn answers(id: u32) -> String {
    // The signal is unsupported by the adapter itself.
    format!("extension create SUCCESS made info SUCCESS {id} wait SUCCESS {id} signal UNSUPPORTED_FEATURE")
}

#[test]
fn each_handle_leads_to_the_extension_of_its_own_adapter() {
    let [one, two] = [("one", 21), ("two", 22)]
        .map(|(name, id)| adapter(&format!("own/{name}.so"), &[&format!("ID={id}"), "EXTENSION"]));
    let run = client_run().force(&[&one, &two]).words(&["init", "extension"]);
    assert_eq!(run.lines[1..], [answers(21), answers(22)], "{}", run.log);
}

#[test]
fn an_adapter_without_the_extension_answers_that_it_has_none() {
    let plain = adapter("without/plain.so", &["ID=1"]);
    let refuses = adapter("without/refuses.so", &["ID=2", "REFUSES_EXTENSION"]);
    let with = adapter("without/with.so", &["ID=3", "EXTENSION"]);
    let run = client_run().force(&[&plain, &refuses, &with]).words(&["init", "extension"]);
    assert_eq!(run.lines[1..], [UNSUPPORTED.to_owned(), UNSUPPORTED.to_owned(), answers(3)], "{}", run.log);
}

#[test]
fn an_adapter_that_is_older_than_the_loader_has_the_functions_of_its_age() {
    let old = adapter("old/old.so", &["ID=4", "OLD_EXTENSION"]);
    let run = client_run().force(&[&old]).words(&["init", "extension"]);
    let of_its_age = "extension create SUCCESS made info UNSUPPORTED_FEATURE 99 wait UNSUPPORTED_FEATURE 99 signal \
        UNSUPPORTED_FEATURE";
    assert_eq!(run.lines[1..], [of_its_age], "{}", run.log);
}

/// The dynamic linker looks for the getter in the libraries that an adapter needs as well. If one of them is the loader, its
/// functions would call themselves.
#[test]
fn an_adapter_does_not_have_the_extension_of_a_library_that_it_needs() {
    let other = adapter("needs/other.so", &["ID=4", "EXTENSION"]);
    let path = adapter_needing("needs/adapter.so", &["ID=5"], &other);
    let run = client_run().force(&[&path]).words(&["init", "adapters", "extension"]);
    assert_eq!(run.lines[1..], ["adapters SUCCESS 5", UNSUPPORTED], "{}", run.log);
}

#[test]
fn what_leads_to_no_adapter_is_told_from_a_loader_that_is_not_initialised() {
    let path = adapter("alone/adapter.so", &["ID=6", "EXTENSION"]);
    let words = ["extension-alone", "init", "adapters", "extension-alone", "teardown", "extension-alone"];
    let run = client_run().force(&[&path]).words(&words);
    let line = |foreign: &str| {
        format!(
            "alone null INVALID_NULL_HANDLE foreign {foreign} no-list INVALID_NULL_POINTER empty INVALID_SIZE \
             null-element INVALID_NULL_HANDLE"
        )
    };
    let outside = line("UNINITIALIZED");
    let answers = [&run.lines[0], &run.lines[3], &run.lines[5]];
    assert_eq!(answers, [&outside, &line("UNSUPPORTED_FEATURE"), &outside], "{}", run.log);
}

#[test]
fn a_handle_that_outlives_the_teardown_reaches_its_adapter_still() {
    let path = adapter("outlives/adapter.so", &["ID=7", "EXTENSION"]);
    let run = client_run().force(&[&path]).words(&["init", "extension", "teardown", "extension"]);
    assert_eq!(run.lines, ["init SUCCESS", &answers(7), "teardown SUCCESS", &answers(7)], "{}", run.log);
}

#[test]
fn the_loader_hands_out_its_own_extension_tables() {
    let run = client_run().force(&[]).words(&["extension-table"]);
    let expected = "table SUCCESS same part SUCCESS left unknown UNSUPPORTED_FEATURE version UNSUPPORTED_VERSION";
    assert_eq!(run.lines, [expected]);
}
