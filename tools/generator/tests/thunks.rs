//! What the keys of the map from functions to the engine make of parameters: a small specification, its map, and the thunks
//! that both give. `BLESS=1` rewrites the expectation; read the difference before committing it.

use std::fs;
use std::path::Path;

#[test]
fn each_key_of_the_map_makes_the_expected_thunk() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/thunks");
    let model = generator::model(&case).unwrap_or_else(|problems| panic!("{problems:?}"));
    let outputs = generator::emit::all(&model);
    let thunks =
        outputs.iter().find(|output| output.path.ends_with("api/generated/thing.rs")).expect("thunks of things");
    let expected = case.join("expected.rs");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&expected, thunks.text()).expect("an expectation that can be written");
    }
    assert_eq!(thunks.text(), fs::read_to_string(&expected).expect("an expectation"));
}
