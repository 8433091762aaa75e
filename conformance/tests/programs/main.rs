//! Programs: images good and bad, building, linking, metadata, and variables that a program holds.

mod device_global;
mod link;
mod metadata;
mod program;
