//! What can be wrong, said so that the reader can act on it: the file, the line, the item and the remedy.
//!
//! Nothing here decides whether something is wrong; see [`crate::lint`] and [`crate::output`] for that.

use std::fmt;

/// Where an item of the specification was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Path relative to the project's root.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
}

/// What state a generated file was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputState {
    /// The file is not there.
    Missing,
    /// The file is as the generator once wrote it, but the specification or the generator has changed since.
    Stale,
    /// The file is not as the generator wrote it: its content does not match the hash in its banner.
    Edited,
    /// No emitter makes this file, yet it lies in a folder of generated files.
    Orphaned,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// The specification contradicts itself or the format.
    Spec {
        /// Where.
        at: Location,
        /// The item's name; empty where the file as a whole is meant.
        item: String,
        /// What is wrong and what to do about it.
        message: String,
    },
    /// A generated file is not what the specification says.
    Output {
        /// Path relative to the project's root.
        file: String,
        /// How it differs.
        state: OutputState,
    },
    /// The file system refused.
    Io {
        /// Path relative to the project's root.
        file: String,
        /// What was attempted and what the system answered.
        message: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Spec { at, item, message } if item.is_empty() => {
                write!(f, "{}:{}: {message}", at.file, at.line)
            }
            Problem::Spec { at, item, message } => {
                write!(f, "{}:{}: {item}: {message}", at.file, at.line)
            }
            Problem::Output { file, state } => match state {
                OutputState::Missing => write!(f, "{file}: missing; run `cargo xtask generate`"),
                OutputState::Stale => write!(
                    f,
                    "{file}: stale, the specification or the generator has changed; run `cargo xtask generate`"
                ),
                OutputState::Edited => write!(
                    f,
                    "{file}: edited by hand; move the change into spec/ or tools/generator, then run `cargo xtask generate`"
                ),
                OutputState::Orphaned => {
                    write!(f, "{file}: orphaned, no emitter makes it; delete it or move it out of the generated folder")
                }
            },
            Problem::Io { file, message } => write!(f, "{file}: {message}"),
        }
    }
}
