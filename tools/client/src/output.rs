//! Standard output of a program whose reader may leave before the end, or whose disk may be full. `println!` panics over both.

use std::io::{self, Write as _};

/// Prints; a reader that has seen enough is no failure.
///
/// # Errors
/// What keeps the text from being written.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
