//! PTX text to checked, decoded functions.
//!
//! [`Module::parse`] reads one PTX translation unit, resolves every name in it and decodes every instruction
//! into the operations `exec` runs, so that whatever is wrong with the text is found at load, with its line,
//! as the real driver's assembler would find it. This module must never execute anything and never learn of
//! devices, streams or addresses: what depends on where the module is placed stays symbolic until it is linked.

mod body;
mod builder;
mod cursor;
mod decode;
mod error;
pub mod fatbin;
mod lexer;
mod link;
mod operand;
mod parser;
mod types;
mod variables;

use crate::exec::op::Code;

pub use error::{LoadError, LoadErrorKind};

/// Which function of a [`Module`]: an index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// The index into [`Module::functions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A parameter of a kernel: where its bytes lie in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Byte offset in the parameter buffer.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// A variable of the module in global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// The PTX name.
    pub name: String,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Whether it lies in the constant state space (kernels may only read it).
    pub constant: bool,
    /// The initial bytes, `size` long; `None` is all zeros.
    pub init: Option<Vec<u8>>,
    /// Eight-byte addresses to add into `init` when the module is placed: offset, symbol, addend. The symbol is
    /// always one of [`Module::globals`].
    pub relocations: Vec<(usize, String, i64)>,
}

/// A decoded function: a kernel (`.entry`) or a function that kernels call (`.func`).
#[derive(Debug)]
pub struct Function {
    /// The PTX name.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// The parameters in order.
    pub params: Vec<Param>,
    /// Bytes of shared memory that the kernel and all it can call declare statically.
    pub static_shared: usize,
    /// Bytes of local memory (stack included) that one thread needs.
    pub local_bytes: usize,
    /// An estimate of registers per thread.
    pub registers: u32,
    /// The product of `.maxntid`, if given.
    pub max_threads_per_block: Option<u32>,
    /// `.reqntid`, if given.
    pub required_block: Option<[u32; 3]>,
    /// The operations; none for a function that is only declared.
    pub(crate) code: Option<Code>,
}

/// A loaded PTX translation unit. Immutable once parsed.
#[derive(Debug)]
pub struct Module {
    functions: Vec<Function>,
    globals: Vec<Global>,
}

impl Module {
    /// Parses and decodes PTX text (a trailing NUL is allowed) for a device of compute capability `sm`, e.g. 90.
    pub fn parse(text: &[u8], sm: u32) -> Result<Module, LoadError> {
        let text = match text.iter().position(|&b| b == 0) {
            Some(end) => &text[..end],
            None => text,
        };
        let text = std::str::from_utf8(text).map_err(|e| {
            let line = 1 + text[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u32;
            LoadError::syntax(line, "the text is not UTF-8")
        })?;
        link::link(parser::parse(text, sm)?)
    }

    /// Every function, kernels and others, those only declared too.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The kernel of that name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| f.entry && f.code.is_some() && f.name == name).map(|i| FunctionId(i as u32))
    }

    /// The `.global` and `.const` variables in order of appearance.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }
}
