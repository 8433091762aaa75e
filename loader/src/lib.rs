//! The Unified Runtime loader, `libur_loader.so.0`, compiled once for all releases of the API.
//!
//! The exports are a release's own: `libraries/` has one crate per release with them, and nothing else.
//!
//! An application calls one of the exported functions; the export loads the function table from the handle's first word
//! and jumps to the adapter's entry point. What is not dispatched is implemented in [`entry`]: configuration, start and
//! end, the list of adapters, and the selection of devices.
//!
//! `urLoaderInit` reads the environment ([`search`], [`selector`]), opens what it finds ([`library`], which knows the
//! layouts of all releases from [`release`]) and keeps the result ([`registry`]). Tools use these modules directly to
//! explain what the loader would do; they hold no global state. Functions of the project's own go the same way by way of
//! [`extension`], since their tables are not behind the handle.
//!
//! Layers (validation, tracing) will stand between the exports and [`dispatch`]; their names belong into
//! [`config::AVAILABLE_LAYERS`].

pub mod config;
pub mod dispatch;
pub mod entry;
pub mod environment;
pub mod extension;
pub mod fork;
pub mod generated;
pub mod guard;
pub mod info;
pub mod library;
pub mod log;
pub mod log_file;
pub mod registry;
pub mod release;
pub mod search;
pub mod selected;
pub mod selector;
