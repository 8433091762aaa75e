//! A module in memory: its words, and tables over them that say what each id is. The model holds no text and no copies of
//! operands; an [`Instruction`] is a range of words. Nothing here knows a target.

mod decoration;
mod kernel;
mod layout;
mod types;

pub use kernel::{Kernel, Parameter, ParameterKind, SpecConstant};

pub(crate) use decoration::{Decoration, builtin, decoration as kind};
pub(crate) use layout::Layouts;
pub(crate) use types::{Type, storage};

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::grammar::op;

/// The number of an id in a module. It may be any number below the module's bound.
pub(crate) type Id = u32;

/// One instruction, as a range of the module's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub opcode: u16,
    pub words: u16,
    pub at: u32,
}

/// What defines an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub instruction: Instruction,
    /// The type of the value, 0 if it has none.
    pub ty: Id,
    /// How deep a type or a constant nests.
    pub depth: u32,
    /// The index of the function, for ids that only one function sees.
    pub function: Option<u32>,
}

/// A basic block: its label, and its instructions up to and with its terminator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub label: Id,
    pub first: usize,
    pub end: usize,
}

/// A function: declaration or definition.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub id: Id,
    pub instruction: Instruction,
    pub return_type: Id,
    pub function_type: Id,
    pub parameters: Vec<Id>,
    pub blocks: Vec<Block>,
}

/// A function that the host can launch.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub function: Id,
    pub name: String,
    pub instruction: Instruction,
}

/// Which set of extended instructions an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    OpenClStd,
    /// Debug information: may be left out.
    Ignored,
    Unknown,
}

/// A parsed SPIR-V module. It is never wrong about words and ids: every id an instruction names is defined, every operand is
/// inside its instruction.
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub(crate) words: Vec<u32>,
    pub(crate) version: (u8, u8),
    /// For each id one more than its index in `definitions`, or 0.
    pub(crate) index: Vec<u32>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) capabilities: Vec<u32>,
    pub(crate) instruction_sets: HashMap<Id, InstructionSet>,
    pub(crate) entry_points: Vec<EntryPoint>,
    /// How many entry points each function is.
    pub(crate) entry_functions: HashMap<Id, usize>,
    /// Execution modes by function.
    pub(crate) modes: HashMap<Id, Vec<Instruction>>,
    pub(crate) names: HashMap<Id, Instruction>,
    pub(crate) strings: HashMap<Id, Instruction>,
    pub(crate) decorations: HashMap<Id, Vec<Decoration>>,
    /// Decorations of members: structure, member.
    pub(crate) member_decorations: HashMap<(Id, u32), Vec<Decoration>>,
    pub(crate) variables: Vec<Id>,
    pub(crate) functions: Vec<Function>,
    pub(crate) function_index: HashMap<Id, usize>,
    /// The instructions of all functions' blocks.
    pub(crate) body: Vec<Instruction>,
    /// Values that the application gave to specialisation constants, by the constant's id.
    pub(crate) specialised: HashMap<Id, u64>,
}

impl Module {
    /// The version of SPIR-V that the module is written in.
    #[must_use]
    pub fn version(&self) -> (u8, u8) {
        self.version
    }

    /// The capabilities that the module declares, as the specification numbers them.
    #[must_use]
    pub fn capabilities(&self) -> &[u32] {
        &self.capabilities
    }

    /// Whether it has variables in device memory that kernels or the host may change.
    #[must_use]
    pub fn has_device_variables(&self) -> bool {
        let changes = |&id: &Id| {
            let class = self.type_of(id).and_then(|ty| self.pointer(ty)).map(|(class, _)| class);
            matches!(class, Ok(storage::CROSS_WORKGROUP | storage::DEVICE_ONLY_INTEL | storage::HOST_ONLY_INTEL))
                && [kind::CONSTANT, kind::BUILT_IN].iter().all(|&kind| self.decoration(id, kind).is_none())
        };
        self.variables.iter().any(changes)
    }

    pub(crate) fn words_of(&self, instruction: Instruction) -> &[u32] {
        let first = instruction.at as usize;
        self.words.get(first..first + usize::from(instruction.words)).unwrap_or(&[])
    }

    /// The operands behind an instruction's first word, result type and result included.
    pub(crate) fn operands(&self, instruction: Instruction) -> &[u32] {
        self.words_of(instruction).get(1..).unwrap_or(&[])
    }

    /// The operand at `index`, counted behind the first word.
    ///
    /// # Errors
    /// The instruction is shorter.
    pub(crate) fn operand(&self, instruction: Instruction, index: usize) -> Result<u32> {
        self.operands(instruction).get(index).copied().ok_or_else(|| {
            Error::malformed(format!("operand {index} is missing")).at(instruction.at as usize, instruction.opcode)
        })
    }

    pub(crate) fn find(&self, id: Id) -> Option<&Definition> {
        let at = (*self.index.get(id as usize)?).checked_sub(1)?;
        self.definitions.get(at as usize)
    }

    /// What defines `id`.
    ///
    /// # Errors
    /// Nothing does.
    pub(crate) fn definition(&self, id: Id) -> Result<&Definition> {
        self.find(id).ok_or_else(|| Error::malformed(format!("id {id} is not defined")))
    }

    /// The type of the value `id`.
    ///
    /// # Errors
    /// It is no value.
    pub(crate) fn type_of(&self, id: Id) -> Result<Id> {
        match self.definition(id)?.ty {
            0 => Err(Error::malformed(format!("id {id} is no value"))),
            ty => Ok(ty),
        }
    }

    /// The text of a literal string that begins at operand `index`.
    pub(crate) fn string(&self, instruction: Instruction, index: usize) -> String {
        string(self.operands(instruction).get(index..).unwrap_or(&[])).0
    }

    pub(crate) fn decorations_of(&self, id: Id) -> &[Decoration] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The literals behind the first decoration of this kind.
    pub(crate) fn decoration(&self, id: Id, kind: u32) -> Option<&[u32]> {
        let decoration = self.decorations_of(id).iter().find(|d| d.kind == kind)?;
        Some(self.literals(decoration))
    }

    /// The words behind a decoration's kind.
    pub(crate) fn literals(&self, decoration: &Decoration) -> &[u32] {
        self.operands(decoration.instruction).get(decoration.first_literal..).unwrap_or(&[])
    }

    /// Name and linkage type (0 export, 1 import, 2 link once) that the id has for other modules. What the host knows by a name
    /// of its own has that one.
    pub(crate) fn linkage(&self, id: Id) -> Option<(String, u32)> {
        const EXPORT: u32 = 0;
        const IMPORT: u32 = 1;
        let declared = self.decoration(id, kind::LINKAGE_ATTRIBUTES).and_then(|words| {
            let (name, used) = string(words);
            Some((name, *words.get(used)?))
        });
        match (self.host_name(id), declared) {
            (Some(name), None) => Some((name, EXPORT)),
            (Some(name), Some((_, linkage))) if linkage != IMPORT => Some((name, linkage)),
            (_, declared) => declared,
        }
    }

    /// The name by which the host reads and writes a variable.
    fn host_name(&self, id: Id) -> Option<String> {
        let numbers = [kind::HOST_ACCESS_INTEL, kind::HOST_ACCESS_DRAFT_INTEL];
        let words = numbers.iter().find_map(|&number| self.decoration(id, number))?;
        Some(string(words.get(1..)?).0).filter(|name| !name.is_empty())
    }

    /// The function `id`.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn function(&self, id: Id) -> Result<&Function> {
        let at = self.function_index.get(&id).copied();
        at.and_then(|at| self.functions.get(at)).ok_or_else(|| Error::malformed(format!("id {id} is no function")))
    }

    pub(crate) fn is_entry_point(&self, id: Id) -> bool {
        self.entry_functions.contains_key(&id)
    }

    /// Whether some kernel forbids to fuse multiplications with additions.
    pub(crate) fn forbids_contraction(&self) -> bool {
        let mut modes = self.modes.values().flatten();
        modes.any(|&mode| self.operand(mode, 1) == Ok(mode_number::CONTRACTION_OFF))
    }

    /// The execution modes of a kernel's function.
    pub(crate) fn modes_of(&self, function: Id) -> &[Instruction] {
        self.modes.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Whether a kernel has an execution mode with this number behind it.
    pub(crate) fn has_mode(&self, function: Id, number: u32, value: u32) -> bool {
        let is = |&mode: &Instruction| self.operand(mode, 1) == Ok(number) && self.operand(mode, 2) == Ok(value);
        self.modes_of(function).iter().any(is)
    }

    pub(crate) fn is_constant(&self, id: Id) -> bool {
        self.find(id).is_some_and(|d| is_constant(d.instruction.opcode))
    }
}

pub(crate) fn is_constant(opcode: u16) -> bool {
    matches!(opcode, op::UNDEF | op::CONSTANT_TRUE..=op::CONSTANT_NULL | op::SPEC_CONSTANT_TRUE..=op::SPEC_CONSTANT_OP)
        || opcode == op::CONSTANT_FUNCTION_POINTER_INTEL
}

/// A literal string and the words it takes. What is no UTF-8 is replaced.
pub(crate) fn string(words: &[u32]) -> (String, usize) {
    let mut bytes = Vec::with_capacity(words.len() * 4);
    for (at, word) in words.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return (String::from_utf8_lossy(&bytes).into_owned(), at + 1);
            }
            bytes.push(byte);
        }
    }
    (String::from_utf8_lossy(&bytes).into_owned(), words.len())
}

/// Numbers of execution modes.
pub(crate) mod mode_number {
    pub const LOCAL_SIZE: u32 = 17;
    pub const LOCAL_SIZE_HINT: u32 = 18;
    pub const VEC_TYPE_HINT: u32 = 30;
    pub const CONTRACTION_OFF: u32 = 31;
    pub const INITIALIZER: u32 = 33;
    pub const FINALIZER: u32 = 34;
    pub const SUBGROUP_SIZE: u32 = 35;
    pub const SUBGROUPS_PER_WORKGROUP: u32 = 36;
    pub const SUBGROUPS_PER_WORKGROUP_ID: u32 = 37;
    pub const LOCAL_SIZE_ID: u32 = 38;
    pub const LOCAL_SIZE_HINT_ID: u32 = 39;
    pub const SHARED_LOCAL_MEMORY_SIZE_INTEL: u32 = 5618;
    pub const FLOATING_POINT_MODE_IEEE_INTEL: u32 = 5623;
    pub const NUM_SIMD_WORKITEMS_INTEL: u32 = 5896;
    pub const SCHEDULER_TARGET_FMAX_MHZ_INTEL: u32 = 5903;
    pub const MAXIMALLY_RECONVERGES_KHR: u32 = 6023;
    pub const FP_FAST_MATH_DEFAULT: u32 = 6028;
    pub const STREAMING_INTERFACE_INTEL: u32 = 6154;
    pub const REGISTER_MAP_INTERFACE_INTEL: u32 = 6160;
    pub const MAXIMUM_REGISTERS_INTEL: u32 = 6461;
    pub const NAMED_MAXIMUM_REGISTERS_INTEL: u32 = 6463;
    pub const DENORM_PRESERVE: u32 = 4459;
    pub const DENORM_FLUSH_TO_ZERO: u32 = 4460;
    pub const SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 4461;
    pub const ROUNDING_MODE_RTE: u32 = 4462;
    pub const MAX_WORKGROUP_SIZE_INTEL: u32 = 5893;
    pub const MAX_WORK_DIM_INTEL: u32 = 5894;
    pub const NO_GLOBAL_OFFSET_INTEL: u32 = 5895;
}
