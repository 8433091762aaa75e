//! The API with every release worked out: what exists in it, with which values, in which order.
//!
//! Emitters read this and nothing else. Nothing here knows the files' syntax or any output language.

use std::collections::BTreeMap;

use crate::ctype::{Array, CType};
use crate::engine::EngineMap;
use crate::problem::Location;
pub use crate::spec::Chain;

/// The API in all its releases.
#[derive(Debug)]
pub struct Model {
    /// The specification's files, in the newest release's order.
    pub files: Vec<FileInfo>,
    /// Oldest first.
    pub releases: Vec<Release>,
    /// Every item of every release; see [`crate::union`].
    pub union: Release,
    /// Which function of the engine answers which entry point.
    pub engine: EngineMap,
}

impl Model {
    /// The release that products without a release in their name are for.
    pub fn newest(&self) -> &Release {
        self.releases.last().expect("the loader refuses a specification without releases")
    }
}

/// What a specification file says about itself.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// Name without folder and extension.
    pub stem: String,
    /// Heading.
    pub title: String,
    /// Introduction.
    pub doc: String,
    /// Whether it is an extension of this project's own.
    pub project: bool,
    /// The extension table that its functions form.
    pub table: Option<String>,
}

/// One release, items in the order of its headers.
#[derive(Clone, Debug)]
pub struct Release {
    /// `2026.2`.
    pub name: String,
    /// Where the release file begins.
    pub at: Location,
    /// Major and minor number of the API.
    pub version: (u32, u32),
    /// Opaque handles.
    pub handles: Vec<Handle>,
    /// Names of other types, flag sets excluded.
    pub typedefs: Vec<Typedef>,
    /// String constants.
    pub defines: Vec<Define>,
    /// Enumerations and flag sets.
    pub enums: Vec<Enum>,
    /// Structures, without those of arguments.
    pub structs: Vec<Struct>,
    /// Unions.
    pub unions: Vec<Struct>,
    /// Function pointer types.
    pub callbacks: Vec<Callback>,
    /// Entry points.
    pub functions: Vec<Function>,
    /// Structures of pointers to each function's arguments.
    pub params_structs: Vec<Struct>,
    /// Function tables, in the order of `ur_dditable_t`.
    pub tables: Vec<Table>,
    /// Tables of the project's own, which are no part of `ur_dditable_t`.
    pub extensions: Vec<Extension>,
    /// What each type name is.
    pub kinds: BTreeMap<String, Kind>,
}

impl Release {
    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The functions that the project's own tables hold.
    pub fn extension_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_extension())
    }

    /// The functions that the vendor's API has.
    pub fn vendor_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| !function.is_extension())
    }

    /// What a type name is, primitives included.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        if PRIMITIVES.iter().any(|primitive| primitive.0 == name) {
            return Some(Kind::Primitive);
        }
        self.kinds.get(name).copied()
    }

    /// Whether a value of this type is a handle.
    pub fn is_handle(&self, ty: &CType) -> bool {
        ty.pointers == 0 && ty.array == Array::None && self.kind(&ty.base) == Some(Kind::Handle)
    }

    /// Whether a value of this type is an address that must not be null unless tagged optional.
    pub fn is_address(&self, ty: &CType) -> bool {
        ty.is_pointer() || self.kind(&ty.base) == Some(Kind::Callback)
    }
}

/// C's own types: name, Rust type, size in bytes (LP64).
pub const PRIMITIVES: [(&str, &str, usize); 15] = [
    ("void", "core::ffi::c_void", 1),
    ("bool", "CBool", 1),
    ("char", "core::ffi::c_char", 1),
    ("unsigned char", "u8", 1),
    ("int", "core::ffi::c_int", 4),
    ("float", "f32", 4),
    ("int8_t", "i8", 1),
    ("uint8_t", "u8", 1),
    ("int32_t", "i32", 4),
    ("uint16_t", "u16", 2),
    ("uint32_t", "u32", 4),
    ("int64_t", "i64", 8),
    ("uint64_t", "u64", 8),
    ("size_t", "usize", 8),
    ("uintptr_t", "usize", 8),
];

/// What a type name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of C's own types.
    Primitive,
    /// A pointer to an opaque structure.
    Handle,
    /// Another type's name.
    Typedef,
    /// A 32-bit enumeration.
    Enum,
    /// The single bits of a flag set.
    Flag,
    /// A set of flags in 32 bits.
    Flags,
    /// A structure.
    Struct,
    /// A union.
    Union,
    /// A pointer to a function.
    Callback,
}

/// An opaque handle.
#[derive(Clone, Debug)]
pub struct Handle {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub doc: String,
}

/// A name of another type.
#[derive(Clone, Debug)]
pub struct Typedef {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub ty: CType,
    pub doc: String,
}

/// A string constant.
#[derive(Clone, Debug)]
pub struct Define {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub value: String,
    pub doc: String,
}

/// An enumeration or a flag set.
#[derive(Clone, Debug)]
pub struct Enum {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub doc: String,
    /// Whether the values are bits to be combined.
    pub flags: bool,
    /// The mask as written, where it is not what the values give.
    pub written_mask: Option<u32>,
    /// Whether releases disagree on the mask; said in the union alone.
    pub mask_by_release: bool,
    /// Ordered by value.
    pub values: Vec<Enumerator>,
}

impl Enum {
    /// All bits that this release gives no meaning.
    pub fn mask(&self) -> u32 {
        let named = self.values.iter().fold(0, |bits, value| bits | value.value);
        self.written_mask.unwrap_or(!named)
    }

    /// Whether the enumerators name queries whose answers have a type.
    pub fn is_info(&self) -> bool {
        self.values.iter().any(|value| value.value_type.is_some())
    }

    /// Enumerators without those that only repeat another's value.
    pub fn distinct(&self) -> impl Iterator<Item = &Enumerator> {
        self.values.iter().enumerate().filter_map(|(i, value)| {
            let alias = self.values[..i].iter().any(|earlier| earlier.value == value.value);
            (!alias).then_some(value)
        })
    }
}

/// One enumerator.
#[derive(Clone, Debug)]
pub struct Enumerator {
    pub at: Location,
    /// The file that has it; not its enumeration's where that is extended.
    pub file: String,
    pub name: String,
    pub value: u32,
    pub doc: String,
    /// Type of the value that a query of this name answers with.
    pub value_type: Option<CType>,
    /// A remark in the place of a type, such as who answers with a result code.
    pub mark: Option<String>,
    /// Whether an adapter may answer that it does not know the query.
    pub optional: bool,
    pub deprecated: bool,
}

/// A structure or a union.
#[derive(Clone, Debug)]
pub struct Struct {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub doc: String,
    pub chain: Option<Chain>,
    pub stype: Option<u32>,
    /// All fields, those that the chain implies included.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug)]
pub struct Field {
    pub at: Location,
    pub name: String,
    pub ty: CType,
    pub tags: Vec<String>,
    pub doc: String,
}

/// A function pointer type.
#[derive(Clone, Debug)]
pub struct Callback {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub doc: String,
    pub returns: CType,
    pub params: Vec<Param>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    pub at: Location,
    pub name: String,
    pub ty: CType,
    pub tags: Vec<String>,
    pub doc: String,
}

impl Param {
    /// Whether the parameter carries this tag.
    pub fn has(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    /// The parameter that says how many elements this one has.
    pub fn count(&self) -> Option<&str> {
        self.tags.iter().find_map(|tag| {
            let inner = tag.strip_prefix("range(")?.strip_suffix(')')?;
            Some(inner.split_once(',')?.1.trim())
        })
    }
}

/// A result code and when it is owed; nothing where the vendor has prose alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorCase {
    pub code: String,
    /// Expressions over the parameters.
    pub when: Vec<Condition>,
    /// Sentences for what no expression can say; their backquoted parts are expressions or names.
    pub prose: Vec<Condition>,
}

impl ErrorCase {
    /// Every condition as a reader sees it: expressions in backquotes, sentences as they are.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let expressions = self.when.iter().map(|when| format!("`{}`", when.text));
        expressions.chain(self.prose.iter().map(|sentence| sentence.text.clone()))
    }
}

/// A condition as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub at: Location,
    pub text: String,
}

/// How the loader finds the adapter that a call is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// The loader implements the function itself.
    Loader,
    /// Through the handle in this parameter.
    Handle(usize),
    /// Through the first element of an array parameter.
    Array {
        /// The array.
        array: usize,
        /// The parameter with its length.
        count: Option<usize>,
        /// The code owed for a length of zero.
        empty: String,
    },
    /// Nothing in the parameters leads to an adapter.
    Nowhere,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Function {
    pub at: Location,
    pub file: String,
    pub name: String,
    pub id: u32,
    pub doc: String,
    pub params: Vec<Param>,
    pub errors: Vec<ErrorCase>,
    /// When and why a call can wait for something; `None` if none can.
    pub blocks: Option<Condition>,
    /// Where the function sits; `None` for what the loader alone has.
    pub slot: Option<Slot>,
    pub dispatch: Dispatch,
}

impl Function {
    /// Whether a table of the project's own holds the function.
    pub fn is_extension(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.extension)
    }
}

/// A place in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Whether the table is the project's own.
    pub extension: bool,
    /// The table's field in `ur_dditable_t`, or in `ExtensionTables`.
    pub table: String,
    /// The table's type.
    pub table_type: String,
    /// The function's field in the table.
    pub field: String,
    /// Its number in the table.
    pub index: usize,
}

/// A table of the project's own: what one file's functions form.
#[derive(Clone, Debug)]
pub struct Extension {
    /// `timeline`: what the getter of extension tables is asked for.
    pub name: String,
    /// The file.
    pub file: String,
    /// Its slots are the file's functions in their order.
    pub table: Table,
}

/// A function table.
#[derive(Clone, Debug)]
pub struct Table {
    pub at: Location,
    /// `ur_context_dditable_t`.
    pub name: String,
    /// `Context`.
    pub field: String,
    /// `urContext`.
    pub prefix: String,
    pub slots: Vec<TableSlot>,
}

/// One slot of a table as the release file lists it.
#[derive(Clone, Debug)]
pub struct TableSlot {
    pub at: Location,
    /// `pfnCreate`.
    pub field: String,
    /// `urContextCreate`.
    pub function: String,
}
