//! `printf`: the driver's `vprintf` takes the format and a block of promoted arguments. Vectors (`%v4hlf`) are written as as many
//! numbers with commas, since the driver knows none; the format must be a constant for that.

use std::fmt::Write as _;

use super::super::debug::escaped;
use super::super::helper::{Head, Motion};
use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::super::{Target, Writer};
use crate::error::{Error, Result};
use crate::fold::Value;
use crate::grammar::op;
use crate::model::{Id, Type};

const MOST_FORMAT_BYTES: usize = 1 << 16;

const NO_CONSTANT: &str = "a format that is no constant string";

impl<'m> Writer<'m> {
    pub(super) fn print(&mut self, inst: Inst<'m>, operands: &'m [Id]) -> Result<()> {
        if self.target == Target::Amdgcn {
            return Err(Error::unsupported("AMD's devices print through a service of the host's, which is not asked"));
        }
        let format = self.format_text(operands[0])?;
        let mut letters = letters(&format).into_iter();
        let format = expand_vectors(&format);
        let mut values = Vec::new();
        for &operand in &operands[1..] {
            let extend = if matches!(letters.next(), Some('u' | 'x' | 'X' | 'o')) { "zext" } else { "sext" };
            self.promote(operand, extend, &mut values)?;
        }
        let format: Vec<u8> = format.chars().map(|byte| byte as u8).collect();
        let name = self.format_global(&format);
        let bytes = self.pointer_text("i8", 0);
        self.declare("vprintf", "i32", &format!("{bytes}, {bytes}"));
        let global = self.pointer_text(&format!("[{} x i8]", format.len() + 1), 1);
        let format = self.let_temp(format_args!("addrspacecast {global} @{name} to {bytes}"));
        let parameters: Vec<String> = values.iter().enumerate().map(|(at, v)| format!("{} %a{at}", v.0)).collect();
        let types: Vec<&str> = values.iter().map(|value| value.0).collect();
        let helper = format!("ur_printf_{}", types.join("_"));
        let mut parameters = parameters.join(", ");
        if !parameters.is_empty() {
            parameters.insert_str(0, ", ");
        }
        let parameters = format!("{bytes} %format{parameters}");
        let head = Head { name: &helper, returns: "i32", parameters: &parameters, motion: Motion::Free };
        self.helper(&head, |writer| writer.print_body(&types, &bytes))?;
        let mut arguments = format!("{bytes} {format}");
        for (ty, value) in &values {
            let _ = write!(arguments, ", {ty} {value}");
        }
        let printed = self.call("i32", &helper, &arguments);
        let failed = self.let_temp(format_args!("icmp slt i32 {printed}, 0"));
        self.set(inst.result()?, format_args!("select i1 {failed}, i32 -1, i32 0"));
        Ok(())
    }

    /// Puts the arguments into a block on the stack, each where a C structure has it.
    fn print_body(&mut self, types: &[&str], bytes: &str) -> Result<()> {
        self.label("entry");
        let block = format!("{{ {} }}", types.join(", "));
        let mut arguments = "null".to_owned();
        if !types.is_empty() {
            let pointer = self.pointer_text(&block, 0);
            let memory = self.fresh();
            self.put_variable(&memory, &block, ", align 8");
            for (at, ty) in types.iter().enumerate() {
                let place = self.let_temp(format_args!("getelementptr {block}, {pointer} {memory}, i32 0, i32 {at}"));
                let to = self.pointer_text(ty, 0);
                self.put(format_args!("store {ty} %a{at}, {to} {place}"));
            }
            arguments = self.let_temp(format_args!("bitcast {pointer} {memory} to {bytes}"));
        }
        let printed = self.call("i32", "vprintf", &format!("{bytes} %format, {bytes} {arguments}"));
        self.ret("i32", &printed);
        Ok(())
    }

    fn format_global(&mut self, format: &[u8]) -> String {
        let name = self.own_name(format!("format{}", self.globals.len()));
        let length = format.len() + 1;
        let text = escaped(format);
        self.globals
            .push_str(&format!("@{name} = internal addrspace(1) constant [{length} x i8] c\"{text}\\00\", align 1\n"));
        name
    }

    /// The values that an argument becomes, as C promotes them: a vector is as many. Integers have no sign in SPIR-V; the
    /// conversion says how to extend them.
    fn promote(&mut self, id: Id, extend: &str, values: &mut Vec<(&'static str, String)>) -> Result<()> {
        let ty = self.module.type_of(id)?;
        if let Type::Pointer(..) = self.module.ty(ty)? {
            let value = self.typed(id)?;
            values.push(("i64", self.generic_bits(id, &value)?));
            return Ok(());
        }
        let ((scalar, count), text, value) = (self.shape(ty)?, self.type_text(ty)?, self.value(id)?);
        for at in 0..count {
            let element = match count {
                1 => value.to_string(),
                _ => self.let_temp(format_args!("extractelement {text} {value}, i32 {at}")),
            };
            values.push(match scalar {
                Scalar::Float(64) => ("double", element),
                Scalar::Float(_) => {
                    ("double", self.let_temp(format_args!("fpext {} {element} to double", scalar.text())))
                }
                Scalar::Int(64) => ("i64", element),
                Scalar::Int(32) => ("i32", element),
                _ => ("i32", self.let_temp(format_args!("{extend} {} {element} to i32", scalar.text()))),
            });
        }
        Ok(())
    }

    /// A pointer's generic address as a number, since the driver reads strings by it.
    fn generic_bits(&mut self, id: Id, value: &str) -> Result<String> {
        let class = self.module.pointer(self.module.type_of(id)?)?.0;
        let generic = match self.pointer_space(class)? {
            0 => value.to_owned(),
            _ => {
                let bytes = self.pointer_text("i8", 0);
                format!("{bytes} {}", self.let_temp(format_args!("addrspacecast {value} to {bytes}")))
            }
        };
        Ok(self.let_temp(format_args!("ptrtoint {generic} to i64")))
    }

    /// The string that a constant address points to, with a character for each byte.
    fn format_text(&mut self, id: Id) -> Result<String> {
        let (mut id, mut offset) = (id, 0i64);
        for _ in 0..16 {
            let definition = *self.module.definition(id)?;
            let mut operands = self.module.operands(definition.instruction);
            let mut opcode = definition.instruction.opcode;
            if opcode == op::VARIABLE {
                let initializer = operands.get(3).ok_or_else(|| Error::unsupported("a format that is not known"))?;
                return self.string_of(*initializer, offset);
            }
            if opcode == op::SPEC_CONSTANT_OP {
                operands = operands.get(1..).unwrap_or(&[]);
                opcode = operands.get(1).map_or(0, |&opcode| opcode as u16);
            }
            let (Some(&base), indices) = (operands.get(2), operands.get(3..).unwrap_or(&[])) else { break };
            let steps = matches!(opcode, op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN);
            match opcode {
                op::ACCESS_CHAIN..=op::IN_BOUNDS_PTR_ACCESS_CHAIN => {
                    offset = offset.wrapping_add(self.format_offset(base, indices, steps)?);
                }
                op::BITCAST | op::PTR_CAST_TO_GENERIC | op::GENERIC_CAST_TO_PTR | op::COPY_OBJECT => {}
                _ => break,
            }
            id = base;
        }
        Err(Error::unsupported(NO_CONSTANT))
    }

    /// The bytes between a pointer and what an access chain makes of it, whose first index may count what the pointer points to.
    fn format_offset(&mut self, base: Id, indices: &[Id], steps: bool) -> Result<i64> {
        let mut pointee = self.module.pointer(self.module.type_of(base)?)?.1;
        let mut offset = 0i64;
        for (at, &index) in indices.iter().enumerate() {
            if at > 0 || !steps {
                pointee = match self.module.ty(pointee)? {
                    Type::Array(element, _) | Type::Vector(element, _) => element,
                    _ => return Err(Error::unsupported("a format inside of a structure")),
                };
            }
            let number = self.constant(index).map_err(|_| Error::unsupported(NO_CONSTANT))?;
            let unused = 64 - self.scalar(self.module.type_of(index)?)?.bits();
            let number = (number << unused) as i64 >> unused;
            offset = offset.wrapping_add(number.wrapping_mul(self.size_of(pointee)? as i64));
        }
        Ok(offset)
    }

    fn string_of(&mut self, id: Id, offset: i64) -> Result<String> {
        let Value::Composite(parts) = self.folder.value(self.module, id)? else {
            return Ok(String::new());
        };
        let behind = usize::try_from(offset).ok().and_then(|first| parts.get(first..));
        let behind = behind.ok_or_else(|| Error::unsupported("a format outside of its variable"))?;
        let mut text = String::new();
        for part in behind.iter().take(MOST_FORMAT_BYTES) {
            match part {
                Value::Bits(0) | Value::Null | Value::Undef => break,
                Value::Bits(byte) => text.push(char::from(*byte as u8)),
                _ => return Err(Error::unsupported("a format that is no string")),
            }
        }
        Ok(text)
    }
}

/// The text before the first conversion, that conversion from its `%` to its letter, and what follows it.
fn next_conversion(format: &str) -> Option<(&str, &str, &str)> {
    let (before, conversion) = format.split_at(format.find('%')?);
    let end = conversion[1..].find(|c: char| c == '%' || c.is_ascii_alphabetic() && !"vhlLjzt".contains(c))?;
    let (conversion, rest) = conversion.split_at(end + 2);
    Some((before, conversion, rest))
}

/// The letter of each argument's conversion.
fn letters(format: &str) -> Vec<char> {
    let (mut letters, mut rest) = (Vec::new(), format);
    while let Some((_, conversion, behind)) = next_conversion(rest) {
        // A width or a precision may be an argument of its own.
        letters.extend(conversion.chars().filter(|&c| c == '*'));
        letters.extend(conversion.chars().last().filter(|&letter| letter != '%'));
        rest = behind;
    }
    letters
}

/// The format with every `%v` conversion written as often as the vector is long.
fn expand_vectors(format: &str) -> String {
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    while let Some((before, conversion, behind)) = next_conversion(rest) {
        out.push_str(before);
        out.push_str(&expand_conversion(conversion));
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// One conversion, from its `%` to its letter.
fn expand_conversion(conversion: &str) -> String {
    let Some(at) = conversion.find('v') else {
        return conversion.replace("hl", "");
    };
    let (flags, vector) = conversion.split_at(at);
    let digits = vector[1..].bytes().take_while(u8::is_ascii_digit).count();
    let (count, letters) = vector[1..].split_at(digits);
    let count = count.parse().ok().filter(|count| matches!(count, 2 | 3 | 4 | 8 | 16)).unwrap_or(1);
    // Elements come promoted: `h`, `hh` and `hl` say nothing more; `l` keeps its meaning for 64-bit integers.
    let letters = letters.replace("hl", "").replace('h', "");
    let letters =
        if letters.ends_with(['f', 'e', 'g', 'a', 'F', 'E', 'G', 'A']) { letters.replace('l', "") } else { letters };
    vec![format!("{flags}{letters}"); count].join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_of_a_format_has_a_letter() {
        assert_eq!(letters("a %v4hhu b %d%%"), ['u', 'd']);
        assert_eq!(letters("100%%|%-*.*f|%v2hX %"), ['*', '*', 'f', 'X']);
    }

    #[test]
    fn vectors_in_a_format_become_as_many_numbers() {
        assert_eq!(expand_vectors("a %v4hlf b %d%%"), "a %f,%f,%f,%f b %d%%");
        assert_eq!(expand_vectors("%5.2v2f|%v2hhd|%v2ld"), "%5.2f,%5.2f|%d,%d|%ld,%ld");
        assert_eq!(expand_vectors("%v99999999999d"), "%d");
        assert_eq!(expand_vectors("100%"), "100%");
    }
}
