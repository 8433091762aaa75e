//! From bytes to a [`Module`]. The parser trusts nothing: it checks each instruction's operands against the grammar before
//! anything else looks at them, keeps within [`crate::limits`], and never recurses. It does not ask whether a program makes
//! sense (types of operands, dominance); the emitter and the back end's verifier do.

pub(crate) use instruction::for_each_id;

mod instruction;
mod section;

use crate::error::{Error, Result};
use crate::limits;
use crate::model::{Id, Instruction, Module};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

/// Whether the bytes begin as a SPIR-V module of either byte order does.
#[must_use]
pub fn is_spirv(bytes: &[u8]) -> bool {
    matches!(bytes.first_chunk::<4>(), Some(&first) if u32::from_le_bytes(first) == MAGIC || u32::from_be_bytes(first) == MAGIC)
}

/// Reads a module.
///
/// # Errors
/// The bytes are no module of SPIR-V 1.0 to 1.6 for OpenCL; the error says at which word.
pub fn parse(bytes: &[u8]) -> Result<Module> {
    let words = to_words(bytes)?;
    let (version, bound) = header(&words)?;
    let mut module = Module { version, index: vec![0; bound as usize], words, ..Module::default() };
    let mut reader = section::Reader::default();
    let mut at = HEADER_WORDS;
    while at < module.words.len() {
        let instruction = instruction::read(&module.words, at, bound)?;
        reader.take(&mut module, instruction).map_err(|error| error.at(at, instruction.opcode))?;
        at += usize::from(instruction.words);
    }
    reader.finish(&module).map_err(|error| error.at_word(at))?;
    check_uses(&module)?;
    Ok(module)
}

fn to_words(bytes: &[u8]) -> Result<Vec<u32>> {
    if !is_spirv(bytes) {
        return Err(Error::malformed("the bytes do not begin with SPIR-V's magic number").at_word(0));
    }
    if !bytes.len().is_multiple_of(4) {
        let message = format!("the module has {} bytes, which is no multiple of 4", bytes.len());
        return Err(Error::malformed(message).at_word(bytes.len() / 4));
    }
    if bytes.len() / 4 > limits::MAX_WORDS {
        return Err(Error::limit(format!("the module has more than {} words", limits::MAX_WORDS)));
    }
    let little = bytes.starts_with(&MAGIC.to_le_bytes());
    let word = |chunk: &[u8]| {
        let bytes = [chunk[0], chunk[1], chunk[2], chunk[3]];
        if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    };
    Ok(bytes.chunks_exact(4).map(word).collect())
}

fn header(words: &[u32]) -> Result<((u8, u8), u32)> {
    let &[_, version, _, bound, schema, ..] = words else {
        return Err(Error::malformed("the header has five words").at_word(words.len()));
    };
    let [patch, minor, major, zero] = version.to_le_bytes();
    if major != 1 || minor > 6 || patch != 0 || zero != 0 {
        return Err(Error::unsupported(format!("version {major}.{minor} is none of 1.0 to 1.6")).at_word(1));
    }
    if bound == 0 || bound > limits::MAX_BOUND {
        return Err(Error::limit(format!("the bound of ids is {bound}, not 1 to {}", limits::MAX_BOUND)).at_word(3));
    }
    if schema != 0 {
        return Err(Error::malformed(format!("schema {schema} is reserved")).at_word(4));
    }
    Ok(((major, minor), bound))
}

/// Every id that a function's body uses is defined, in the module or in the same function.
fn check_uses(module: &Module) -> Result<()> {
    for (number, function) in module.functions.iter().enumerate() {
        for block in &function.blocks {
            for &instruction in &module.body[block.first..block.end] {
                check_operands(module, instruction, number as u32)
                    .map_err(|error| error.at(instruction.at as usize, instruction.opcode))?;
            }
        }
    }
    Ok(())
}

fn check_operands(module: &Module, instruction: Instruction, function: u32) -> Result<()> {
    let mut wrong: Option<Id> = None;
    instruction::for_each_id(&module.words, instruction, |id| {
        let here = |d: &crate::model::Definition| d.function.is_none_or(|owner| owner == function);
        if !module.find(id).is_some_and(here) {
            wrong.get_or_insert(id);
        }
    });
    match wrong {
        None => Ok(()),
        Some(id) => Err(Error::malformed(format!("id {id} is not defined in this function or in the module"))),
    }
}
