//! One instruction: its length, and its operands against the grammar.

use crate::error::{Error, Result};
use crate::grammar;
use crate::model::{Id, Instruction};

/// What an operand is, as the characters of a signature say.
struct Operands<'g> {
    rest: &'g [u8],
}

enum Next {
    /// The kind of the next operand, and whether it may be missing.
    One(u8, bool),
    /// These kinds follow until the words end.
    Repeated,
    End,
}

impl Operands<'_> {
    fn next(&mut self) -> Next {
        match *self.rest {
            [] => Next::End,
            [b'?', kind, ..] => {
                self.rest = &self.rest[2..];
                Next::One(kind, true)
            }
            [b'*', ..] => {
                self.rest = &self.rest[1..];
                Next::Repeated
            }
            [kind, ..] => {
                self.rest = &self.rest[1..];
                Next::One(kind, false)
            }
        }
    }
}

/// Reads the instruction at word `at`, whose operands are then known to be there and whose ids are below `bound`.
pub(super) fn read(words: &[u32], at: usize, bound: u32) -> Result<Instruction> {
    let first = words[at];
    let (length, opcode) = ((first >> 16) as u16, (first & 0xffff) as u16);
    let instruction = Instruction { opcode, words: length, at: at as u32 };
    let place = |error: Error| error.at(at, opcode);
    if length == 0 {
        return Err(place(Error::malformed("an instruction has no words")));
    }
    let Some(operands) = words.get(at + 1..at + usize::from(length)) else {
        return Err(place(Error::malformed(format!("{length} words do not fit into the module"))));
    };
    let Some(signature) = grammar::signature(opcode) else {
        return Err(place(Error::unsupported("no OpenCL kernel holds this instruction")));
    };
    check(signature, operands, bound).map_err(place)?;
    Ok(instruction)
}

fn check(signature: &str, words: &[u32], bound: u32) -> Result<()> {
    let ends = walk(signature, words, |id| if id == 0 || id >= bound { Some(id) } else { None })?;
    match ends {
        None => Ok(()),
        Some(id) => Err(Error::malformed(format!("id {id} is not below the bound {bound}"))),
    }
}

/// Calls `each` with every id among the operands; what it answers first is the result.
fn walk(signature: &str, words: &[u32], mut each: impl FnMut(Id) -> Option<Id>) -> Result<Option<Id>> {
    let mut operands = Operands { rest: signature.as_bytes() };
    let mut at = 0;
    let mut found = None;
    loop {
        let (kind, optional) = match operands.next() {
            Next::One(kind, optional) => (kind, optional),
            Next::Repeated => {
                let kinds = operands.rest;
                while at < words.len() {
                    for &kind in kinds {
                        at = one(kind, words, at, &mut each, &mut found)?;
                    }
                }
                return Ok(found);
            }
            Next::End if at < words.len() => {
                return Err(Error::malformed(format!("{} operands are too many", words.len())));
            }
            Next::End => return Ok(found),
        };
        if optional && at >= words.len() {
            continue;
        }
        at = one(kind, words, at, &mut each, &mut found)?;
    }
}

/// One operand of this kind at `at`: where the next begins.
fn one(
    kind: u8,
    words: &[u32],
    at: usize,
    each: &mut impl FnMut(Id) -> Option<Id>,
    found: &mut Option<Id>,
) -> Result<usize> {
    let Some(&word) = words.get(at) else {
        return Err(Error::malformed(format!("operand {at} is missing")));
    };
    Ok(match kind {
        b'T' | b'R' | b'i' => {
            if found.is_none() {
                *found = each(word);
            }
            at + 1
        }
        b'l' | b'e' => at + 1,
        b's' => match words[at..].iter().position(|w| w.to_le_bytes().contains(&0)) {
            Some(last) => at + last + 1,
            None => return Err(Error::malformed("a string does not end")),
        },
        // What follows depends on the value: those who use it ask for each operand.
        _ => words.len(),
    })
}

/// Calls `each` with every id that the grammar knows among an instruction's operands, result and type included.
pub(crate) fn for_each_id(words: &[u32], instruction: Instruction, mut each: impl FnMut(Id)) {
    let first = instruction.at as usize + 1;
    let operands = words.get(first..first + usize::from(instruction.words) - 1).unwrap_or(&[]);
    let signature = grammar::signature(instruction.opcode).unwrap_or("");
    // The instruction was checked when it was read.
    let _ = walk(signature, operands, |id| {
        each(id);
        None
    });
}

/// Positions of the result type and of the result among the operands.
pub(super) fn result_positions(opcode: u16) -> (Option<usize>, Option<usize>) {
    let signature = grammar::signature(opcode).unwrap_or("").as_bytes();
    match signature {
        [b'T', b'R', ..] => (Some(0), Some(1)),
        [b'R', ..] => (None, Some(0)),
        _ => (None, None),
    }
}
