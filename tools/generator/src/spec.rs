//! The specification files exactly as they are written: one struct per TOML construct, unknown keys refused.
//!
//! No meaning is given to anything here; [`crate::resolve`] does that. Names carry their position so that every
//! later complaint can point at a line.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A string with its position in the file.
pub type Text = Spanned<String>;

/// One file of `spec/api`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApiFile {
    /// Heading of the file's page in the manual.
    pub title: Option<Text>,
    /// What the file's objects are, in a sentence or two.
    pub doc: Option<Text>,
    /// Whether the file is an extension of this project's own, which the vendor's API does not have.
    pub project: bool,
    /// The extension table that the file's functions form, in their order; only with `project`.
    pub table: Option<Text>,
    /// Opaque handles.
    pub handle: Vec<Handle>,
    /// Names of other types.
    pub typedef: Vec<Typedef>,
    /// String constants.
    pub define: Vec<Define>,
    /// Enumerations and flag sets.
    #[serde(rename = "enum")]
    pub enums: Vec<Enum>,
    /// Enumerators added to another file's enumeration.
    pub extend: Vec<Extend>,
    /// Structures.
    #[serde(rename = "struct")]
    pub structs: Vec<Struct>,
    /// Unions.
    #[serde(rename = "union")]
    pub unions: Vec<Struct>,
    /// Function pointer types.
    pub callback: Vec<Callback>,
    /// Entry points.
    pub function: Vec<Function>,
    /// Documentation of parameters by name, for those that have none of their own.
    pub parameter_docs: BTreeMap<String, Text>,
}

/// An opaque handle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handle {
    pub name: Text,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
}

/// A name of another type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typedef {
    pub name: Text,
    #[serde(rename = "type")]
    pub ty: Text,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
}

/// A string constant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Define {
    pub name: Text,
    pub value: String,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
}

/// What an enumeration without written values is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Derived {
    /// One enumerator per function.
    Functions,
    /// One enumerator per tagged structure.
    Structs,
}

/// An enumeration, or a flag set when its name ends in `_flag_t`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enum {
    pub name: Text,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
    pub derived: Option<Derived>,
    /// Bits that a release reserves without naming them are clear here; derived from the values if left out.
    pub mask: Option<u32>,
    #[serde(default)]
    pub values: Vec<Enumerator>,
}

/// Enumerators for an enumeration of another file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extend {
    #[serde(rename = "enum")]
    pub target: Text,
    #[serde(default)]
    pub values: Vec<Enumerator>,
}

/// One enumerator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enumerator {
    pub name: Text,
    pub value: u32,
    #[serde(rename = "type")]
    pub ty: Option<Text>,
    #[serde(default)]
    pub optional: bool,
    #[serde(default)]
    pub deprecated: bool,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
    #[serde(default)]
    pub by_release: BTreeMap<String, EnumeratorChange>,
}

/// What is different of an enumerator in one release.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnumeratorChange {
    pub value: Option<u32>,
    #[serde(rename = "type")]
    pub ty: Option<Text>,
    pub optional: Option<bool>,
    pub deprecated: Option<bool>,
    pub doc: Option<Text>,
}

/// How a structure takes part in `pNext` chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chain {
    /// Begins with `stype` and a mutable `pNext`.
    Properties,
    /// Begins with `stype` and a constant `pNext`.
    Descriptor,
}

/// A structure or a union.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Struct {
    pub name: Text,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
    pub chain: Option<Chain>,
    pub stype: Option<u32>,
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: Text,
    #[serde(rename = "type")]
    pub ty: Text,
    #[serde(default)]
    pub tags: Vec<String>,
    pub doc: Option<Text>,
}

/// A function pointer type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callback {
    pub name: Text,
    pub returns: Option<Text>,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
    #[serde(default)]
    pub params: Vec<Param>,
}

/// An entry point.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: Text,
    pub id: u32,
    pub doc: Option<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
    #[serde(default = "yes")]
    pub null_checks: bool,
    /// When and why a call can wait for something.
    pub blocks: Option<Text>,
    #[serde(default)]
    pub params: Vec<Param>,
    #[serde(default)]
    pub errors: Vec<Error>,
}

fn yes() -> bool {
    true
}

/// One parameter of an entry point or a callback.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    pub name: Text,
    #[serde(rename = "type")]
    pub ty: Text,
    #[serde(default)]
    pub tags: Vec<String>,
    pub doc: Option<Text>,
    #[serde(default)]
    pub by_release: BTreeMap<String, ParamChange>,
}

/// What is different of a parameter in one release; never its type, for the bindings have each function once.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParamChange {
    pub tags: Option<Vec<String>>,
    pub doc: Option<Text>,
}

/// A result code that an entry point answers, and when.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Error {
    pub code: Text,
    /// Expressions over the parameters.
    #[serde(default)]
    pub when: Vec<Text>,
    /// Sentences for what no expression can say.
    #[serde(default)]
    pub prose: Vec<Text>,
    pub since: Option<Text>,
    pub until: Option<Text>,
}

/// One file of `spec/releases`: a whole release, or what one has otherwise than a newer one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseFile {
    pub release: Text,
    pub version: [u32; 2],
    /// The newer release that this file only lists the differences from.
    pub base: Option<Text>,
    /// Files of `spec/api` in the order of the headers; a whole release's.
    #[serde(default)]
    pub order: Vec<Text>,
    /// Files that stand elsewhere than in the base.
    #[serde(default, rename = "move")]
    pub moves: Vec<Move>,
    #[serde(default)]
    pub values: BTreeMap<String, Spanned<u32>>,
    /// Tables of the base that this release does not have.
    #[serde(default)]
    pub without_tables: Vec<Text>,
    /// Tables of the base whose slots differ.
    #[serde(default)]
    pub change: Vec<TableChange>,
    /// Tables; those of a release with a base come behind the ones that they name.
    #[serde(default)]
    pub table: Vec<Table>,
}

/// A file's place in the headers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    pub file: Text,
    pub after: Text,
}

/// How a table differs from the base's: first functions leave, then functions come.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableChange {
    pub table: Text,
    #[serde(default)]
    pub remove: Vec<Text>,
    #[serde(default)]
    pub insert: Vec<Insertion>,
}

/// Functions that stand one after the other, behind another one or first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Insertion {
    pub after: Option<Text>,
    pub functions: Vec<Text>,
}

/// One function table of a release.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub name: Text,
    pub field: Text,
    pub prefix: String,
    /// The table that it follows; only in a release with a base.
    pub after: Option<Text>,
    pub functions: Vec<Text>,
}
