//! How large a module may be. They stand between hostile bytes and the memory, the stack and the time of this process.
//! Where the specification has a universal limit, that one is taken.

/// Words of a module: 256 MiB.
pub const MAX_WORDS: usize = 64 << 20;
/// Ids of a module (the specification's limit).
pub const MAX_BOUND: u32 = 4_194_303;
/// How deep types and constants nest (the specification's limit for structures).
pub const MAX_NESTING: u32 = 255;
/// Bytes of one type: more than any device has.
pub const MAX_TYPE_BYTES: u64 = 1 << 46;
/// Bytes of text that one type's or one constant's name may become, or one phi or call, which names many.
pub const MAX_CONSTANT_TEXT: usize = 16 << 20;
/// Elements of vectors.
pub const MAX_VECTOR_LENGTH: u32 = 16;
/// Decorations of one id.
pub const MAX_DECORATIONS: usize = 1024;
/// Execution modes of one function: a few times those that a kernel can have.
pub const MAX_MODES: usize = 256;
/// Parameters of all kernels together.
pub const MAX_PARAMETERS: usize = 1 << 20;
/// Parts of all composite constants that are computed.
pub const MAX_CONSTANT_PARTS: usize = 1 << 23;
/// Bytes of all variables that begin with other values than zeroes. libnvvm makes three bytes of text of each in some twelve bytes of
/// memory, whatever the module's own text says in a word, ends the process where memory ends, and counts in 32 bits.
pub const MAX_INITIALISED_BYTES: u64 = 64 << 20;
/// Bytes of text that a module may become.
pub const MAX_TEXT: usize = 1 << 30;
