//! What the specification says of each instruction: its number, name and operands. The tables are made from Khronos' grammar
//! files by `tools/grammar.py`; nothing here knows what an instruction means.

#[allow(dead_code, reason = "the whole list, whether or not the emitter names each")]
#[rustfmt::skip]
pub(crate) mod op;
mod opencl_std;
mod refused;
mod signatures;

use crate::error::Error;

/// An instruction that the parser knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownInstruction {
    /// Its number: the opcode, or the number in its set.
    pub number: u32,
    /// Its name in the specification.
    pub name: &'static str,
    /// Why no translation has it; `None` for one that is supported.
    pub refused: Option<&'static str>,
}

/// Every instruction that the parser knows.
pub fn instructions() -> impl Iterator<Item = KnownInstruction> {
    let known = |row: &(u16, &'static str, &'static str)| KnownInstruction {
        number: u32::from(row.0),
        name: row.1,
        refused: refused::refused(row.0),
    };
    signatures::SIGNATURES.iter().map(known)
}

/// Every instruction of OpenCL.std; all are supported.
pub fn opencl_instructions() -> impl Iterator<Item = KnownInstruction> {
    opencl_std::OPENCL_STD.iter().map(|row| KnownInstruction { number: row.0, name: row.1, refused: None })
}

/// The error of an instruction that no translation has.
pub(crate) fn refusal(opcode: u16) -> Error {
    Error::unsupported(refused::refused(opcode).unwrap_or("no kernel holds this instruction here"))
}

/// The operands of an instruction, as a string that `tools/grammar.py` explains; `None` for one that no kernel can hold.
pub(crate) fn signature(opcode: u16) -> Option<&'static str> {
    find(opcode).map(|row| row.2)
}

/// The instruction's name, or `opcode N`.
pub(crate) fn name(opcode: u16) -> String {
    find(opcode).map_or_else(|| format!("opcode {opcode}"), |row| row.1.to_owned())
}

fn find(opcode: u16) -> Option<&'static (u16, &'static str, &'static str)> {
    let rows = signatures::SIGNATURES;
    rows.binary_search_by_key(&opcode, |row| row.0).ok().and_then(|at| rows.get(at))
}

/// Name and least number of operands of an instruction of OpenCL.std.
pub(crate) fn opencl_std(number: u32) -> Option<(&'static str, usize)> {
    let rows = opencl_std::OPENCL_STD;
    rows.binary_search_by_key(&number, |row| row.0).ok().and_then(|at| rows.get(at)).map(|row| (row.1, row.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_so_that_every_row_is_found() {
        for row in signatures::SIGNATURES {
            assert_eq!(name(row.0), row.1);
        }
        for row in opencl_std::OPENCL_STD {
            assert_eq!(opencl_std(row.0), Some((row.1, row.2)));
        }
    }

    #[test]
    fn constants_and_table_agree() {
        assert_eq!(name(op::F_ORD_EQUAL), "OpFOrdEqual");
        assert_eq!(name(op::FUNCTION_POINTER_CALL_INTEL), "OpFunctionPointerCallINTEL");
        assert_eq!(signature(op::LOAD), Some("TRi?m"));
    }
}
