//! The wheel's Python part, tried by an interpreter alone (`conformance/sycl/wheel/test_python.py`). `cargo xtask dpnp` tries it with what it
//! is for, which must be downloaded.

use std::path::Path;
use std::process::Command;

use xtask::support::process;

#[test]
fn the_wheels_python_part_does_without_packages_and_names_that_are_not_there() {
    let Some(python) = ["python3", "python"].into_iter().find(|name| process::exists(name)) else {
        println!("skipped: there is no Python here");
        return;
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/sycl/wheel/test_python.py");
    let mut command = Command::new(python);
    let printed = process::capture(command.arg(file).env("PYTHONDONTWRITEBYTECODE", "1"));
    assert!(printed.is_ok(), "{}", printed.err().map(|failure| failure.to_string()).unwrap_or_default());
}
