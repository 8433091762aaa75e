//! Calls reach the adapter that made the handle; what cannot be dispatched answers the right error.

mod common;
use common::{adapter, client_run};

#[test]
fn a_null_handle_answers_null_handle_and_touches_nothing() {
    let run = client_run().env("UR_ADAPTERS_FORCE_LOAD", "/nonexistent").words(&["null-handles"]);
    assert_eq!(
        run.lines,
        [
            "urAdapterRetain INVALID_NULL_HANDLE",
            "urPlatformGet INVALID_NULL_HANDLE",
            "urQueueFinish INVALID_NULL_HANDLE",
            "urContextCreate INVALID_NULL_HANDLE",
            "urDeviceGetSelected INVALID_NULL_HANDLE",
            "untouched 99",
        ]
    );
}

#[test]
fn an_entry_that_the_adapter_left_null_answers_uninitialized() {
    let path = adapter("null-slot.so", &[]);
    let run = client_run().force(&[&path]).words(&["init", "null-slot"]);
    assert_eq!(run.lines, ["init SUCCESS", "null-slot UNINITIALIZED"]);
}

/// `adapters` asks each handle for its adapter's number: two adapters side by side answer each for itself.
#[test]
fn each_handle_leads_to_its_own_adapter() {
    let paths = [adapter("a.so", &["ID=11"]), adapter("b.so", &["ID=22"]), adapter("c.so", &["ID=33"])];
    let run = client_run().force(&[&paths[0], &paths[1], &paths[2]]).words(&["init", "adapters"]);
    assert_eq!(run.lines[1], "adapters SUCCESS 11 22 33");
}
