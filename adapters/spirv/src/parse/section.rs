//! The order of a module: what may stand where, and what each instruction outside the functions' bodies adds to the model.

use std::collections::HashSet;

use super::instruction::result_positions;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::limits;
use crate::model::{
    Block, Decoration, Definition, EntryPoint, Function, Id, Instruction, InstructionSet, Module, Type,
};

const PHYSICAL32: u32 = 1;
const PHYSICAL64: u32 = 2;
const OPENCL_MEMORY_MODEL: u32 = 2;
const KERNEL_MODEL: u32 = 6;

/// Where the parser is in the module.
#[derive(Debug, Default)]
pub(super) struct Reader {
    memory_model: bool,
    /// Pointer types that structures may name before they are defined.
    forward_pointers: HashSet<Id>,
    entry_names: HashSet<String>,
    /// Decorations that groups gave to their targets.
    copied_decorations: usize,
    function: Option<Function>,
    block: Option<Block>,
}

impl Reader {
    pub(super) fn take(&mut self, module: &mut Module, instruction: Instruction) -> Result<()> {
        self.define(module, instruction)?;
        if self.function.is_some() {
            return self.in_function(module, instruction);
        }
        outside(self, module, instruction)
    }

    /// What must be true at the end.
    pub(super) fn finish(&self, module: &Module) -> Result<()> {
        if self.function.is_some() {
            return Err(Error::malformed("the module ends inside a function"));
        }
        if !self.memory_model {
            return Err(Error::malformed("the module has no OpMemoryModel"));
        }
        for entry in &module.entry_points {
            let function = module.function(entry.function);
            let place = |error: Error| error.at(entry.instruction.at as usize, entry.instruction.opcode);
            if function.map_err(place)?.blocks.is_empty() {
                return Err(place(Error::malformed("the entry point's function has no body")));
            }
        }
        Ok(())
    }

    /// Notes the result id of an instruction.
    fn define(&self, module: &mut Module, instruction: Instruction) -> Result<()> {
        let (ty, result) = result_positions(instruction.opcode);
        let Some(result) = result else {
            return Ok(());
        };
        let id = module.operand(instruction, result)?;
        let ty = ty.map_or(Ok(0), |at| module.operand(instruction, at))?;
        if ty != 0 {
            module.ty(ty)?;
        }
        if module.find(id).is_some() {
            return Err(Error::malformed(format!("id {id} is defined twice")));
        }
        if self.forward_pointers.contains(&id) && instruction.opcode != op::TYPE_POINTER {
            return Err(Error::malformed(format!("id {id} was declared to be a pointer type")));
        }
        let depth = self.depth(module, instruction)?;
        let is_function = instruction.opcode == op::FUNCTION;
        let function = (self.function.is_some() && !is_function).then_some(module.functions.len() as u32);
        module.definitions.push(Definition { instruction, ty, depth, function });
        let slot = module.index.get_mut(id as usize).ok_or_else(|| Error::malformed("id above the bound"))?;
        *slot = module.definitions.len() as u32;
        Ok(())
    }

    /// How deep the type or constant nests, from the parts, which must be defined before it. What points needs no part.
    fn depth(&self, module: &Module, instruction: Instruction) -> Result<u32> {
        let operands = module.operands(instruction);
        let types =
            |ids: &[Id]| ids.iter().try_fold(0, |most, &id| part(module, id, true).map(|depth| depth.max(most)));
        let values =
            |ids: &[Id]| ids.iter().try_fold(0, |most, &id| part(module, id, false).map(|depth| depth.max(most)));
        let deepest = match instruction.opcode {
            op::TYPE_INT => {
                if !matches!(module.operand(instruction, 1)?, 8 | 16 | 32 | 64) {
                    return Err(Error::unsupported("integers have 8, 16, 32 or 64 bits"));
                }
                0
            }
            op::TYPE_FLOAT => {
                if !matches!(module.operand(instruction, 1)?, 16 | 32 | 64) || operands.len() > 2 {
                    return Err(Error::unsupported("floating-point numbers are IEEE's with 16, 32 or 64 bits"));
                }
                0
            }
            op::TYPE_VECTOR => {
                let (element, count) = (module.operand(instruction, 1)?, module.operand(instruction, 2)?);
                if !matches!(count, 2 | 3 | 4 | 8 | 16) {
                    let most = limits::MAX_VECTOR_LENGTH;
                    let message = format!("vectors of {count} elements; OpenCL's have 2, 3, 4, 8 or {most}");
                    return Err(Error::unsupported(message));
                }
                if !matches!(module.ty(element)?, Type::Bool | Type::Int(_) | Type::Float(_)) {
                    return Err(Error::malformed("a vector's elements are scalars"));
                }
                0
            }
            op::TYPE_ARRAY => types(operands.get(1..2).unwrap_or(&[]))?,
            op::TYPE_STRUCT => self.members_depth(module, operands.get(1..).unwrap_or(&[]))?,
            op::TYPE_FUNCTION => types(operands.get(1..).unwrap_or(&[]))?,
            op::TYPE_POINTER => pointee_depth(module, instruction)?,
            op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => values(operands.get(2..).unwrap_or(&[]))?,
            _ => return Ok(0),
        };
        if deepest >= limits::MAX_NESTING {
            return Err(Error::limit(format!("nested deeper than {}", limits::MAX_NESTING)));
        }
        Ok(deepest + 1)
    }

    /// A structure's members may be pointers that are declared and not yet defined.
    fn members_depth(&self, module: &Module, members: &[Id]) -> Result<u32> {
        members.iter().try_fold(0, |most, &id| {
            if self.forward_pointers.contains(&id) && module.find(id).is_none() {
                return Ok(most);
            }
            part(module, id, true).map(|depth| depth.max(most))
        })
    }

    fn in_function(&mut self, module: &mut Module, instruction: Instruction) -> Result<()> {
        let Some(function) = self.function.as_mut() else {
            return Ok(());
        };
        match instruction.opcode {
            op::FUNCTION => return Err(Error::malformed("a function begins inside another")),
            op::FUNCTION_PARAMETER => {
                if self.block.is_some() || !function.blocks.is_empty() {
                    return Err(Error::malformed("a parameter follows a block"));
                }
                function.parameters.push(module.operand(instruction, 1)?);
            }
            op::FUNCTION_END => {
                if self.block.is_some() {
                    return Err(Error::malformed("the last block has no terminator"));
                }
                check_parameters(module, function)?;
                module.function_index.insert(function.id, module.functions.len());
                module.functions.extend(self.function.take());
            }
            op::LABEL => {
                if self.block.is_some() {
                    return Err(Error::malformed("the block before has no terminator"));
                }
                let first = module.body.len();
                self.block = Some(Block { label: module.operand(instruction, 0)?, first, end: first });
            }
            op::LINE | op::NO_LINE if self.block.is_none() => {}
            _ => self.in_block(module, instruction)?,
        }
        Ok(())
    }

    fn in_block(&mut self, module: &mut Module, instruction: Instruction) -> Result<()> {
        let (Some(function), Some(block)) = (self.function.as_mut(), self.block.as_mut()) else {
            return Err(Error::malformed("the instruction stands in no block"));
        };
        module.body.push(instruction);
        if matches!(instruction.opcode, op::BRANCH..=op::UNREACHABLE) {
            block.end = module.body.len();
            function.blocks.push(*block);
            self.block = None;
        }
        Ok(())
    }
}

/// An instruction outside any function.
fn outside(reader: &mut Reader, module: &mut Module, instruction: Instruction) -> Result<()> {
    let operand = |module: &Module, at: usize| module.operand(instruction, at);
    match instruction.opcode {
        op::CAPABILITY => {
            let capability = operand(module, 0)?;
            module.capabilities.push(capability);
        }
        op::EXT_INST_IMPORT => {
            let set = instruction_set(&module.string(instruction, 1));
            let id = operand(module, 0)?;
            module.instruction_sets.insert(id, set);
        }
        op::MEMORY_MODEL => {
            memory_model(operand(module, 0)?, operand(module, 1)?)?;
            reader.memory_model = true;
        }
        op::ENTRY_POINT => entry_point(reader, module, instruction)?,
        op::EXECUTION_MODE | op::EXECUTION_MODE_ID => {
            let function = operand(module, 0)?;
            let modes = module.modes.entry(function).or_default();
            // Each of the function's entry points looks through them.
            if modes.len() >= limits::MAX_MODES {
                return Err(Error::limit(format!("{function} has more than {} execution modes", limits::MAX_MODES)));
            }
            modes.push(instruction);
        }
        op::STRING => {
            let id = operand(module, 0)?;
            module.strings.insert(id, instruction);
        }
        op::NAME => {
            let id = operand(module, 0)?;
            module.names.insert(id, instruction);
        }
        op::DECORATE | op::DECORATE_ID | op::DECORATE_STRING => {
            let (target, kind) = (operand(module, 0)?, operand(module, 1)?);
            decorate(module, target, &[Decoration { kind, instruction, first_literal: 2 }])?;
        }
        op::MEMBER_DECORATE | op::MEMBER_DECORATE_STRING => {
            let (target, member, kind) = (operand(module, 0)?, operand(module, 1)?, operand(module, 2)?);
            let decoration = Decoration { kind, instruction, first_literal: 3 };
            module.member_decorations.entry((target, member)).or_default().push(decoration);
        }
        op::TYPE_FORWARD_POINTER => {
            let id = operand(module, 0)?;
            if module.find(id).is_some() {
                return Err(Error::malformed(format!("id {id} is defined before it is declared")));
            }
            reader.forward_pointers.insert(id);
        }
        op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => group_decorate(reader, module, instruction)?,
        op::VARIABLE => {
            let id = operand(module, 1)?;
            module.variables.push(id);
        }
        op::FUNCTION => reader.function = Some(begin_function(module, instruction)?),
        op::TYPE_STRUCT_CONTINUED_INTEL
        | op::CONSTANT_COMPOSITE_CONTINUED_INTEL
        | op::SPEC_CONSTANT_COMPOSITE_CONTINUED_INTEL => {
            return Err(Error::unsupported("composites in several instructions are not supported"));
        }
        _ if belongs_to_a_block(instruction.opcode) => {
            return Err(Error::malformed("the instruction stands in no function"));
        }
        _ => {}
    }
    Ok(())
}

fn belongs_to_a_block(opcode: u16) -> bool {
    let debug = matches!(opcode, op::EXT_INST | op::LINE | op::NO_LINE | op::NOP | op::UNDEF);
    !debug && matches!(opcode, op::FUNCTION_PARAMETER..=op::FUNCTION_CALL | op::LOAD..=op::COPY_MEMORY_SIZED)
        || matches!(opcode, op::LABEL..=op::UNREACHABLE)
}

fn instruction_set(name: &str) -> InstructionSet {
    match name {
        "OpenCL.std" => InstructionSet::OpenClStd,
        "OpenCL.DebugInfo.100" | "DebugInfo" | "SPIRV.debug" => InstructionSet::Ignored,
        _ if name.starts_with("NonSemantic.") => InstructionSet::Ignored,
        _ => InstructionSet::Unknown,
    }
}

fn memory_model(addressing: u32, memory: u32) -> Result<()> {
    if addressing == PHYSICAL32 {
        return Err(Error::unsupported("addresses of 32 bits; the device's have 64"));
    }
    if addressing != PHYSICAL64 || memory != OPENCL_MEMORY_MODEL {
        return Err(Error::unsupported("the module is none for OpenCL: its memory model is not Physical64 OpenCL"));
    }
    Ok(())
}

fn entry_point(reader: &mut Reader, module: &mut Module, instruction: Instruction) -> Result<()> {
    let model = module.operand(instruction, 0)?;
    if model != KERNEL_MODEL {
        return Err(Error::unsupported(format!("execution model {model} is not Kernel")));
    }
    let (function, name) = (module.operand(instruction, 1)?, module.string(instruction, 2));
    if name.is_empty() || name.contains('\0') {
        return Err(Error::malformed("the entry point has no name"));
    }
    if !reader.entry_names.insert(name.clone()) {
        return Err(Error::malformed(format!("two entry points are named {name}")));
    }
    *module.entry_functions.entry(function).or_default() += 1;
    module.entry_points.push(EntryPoint { function, name, instruction });
    Ok(())
}

/// Adds decorations to an id, up to a bound: they are looked through at every use.
fn decorate(module: &mut Module, target: Id, decorations: &[Decoration]) -> Result<()> {
    let known = module.decorations.entry(target).or_default();
    if known.len() + decorations.len() > limits::MAX_DECORATIONS {
        return Err(Error::limit(format!("id {target} has more than {} decorations", limits::MAX_DECORATIONS)));
    }
    known.extend_from_slice(decorations);
    Ok(())
}

fn group_decorate(reader: &mut Reader, module: &mut Module, instruction: Instruction) -> Result<()> {
    let group = module.operand(instruction, 0)?;
    let decorations = module.decorations_of(group).to_vec();
    let targets = module.operands(instruction).get(1..).unwrap_or(&[]).to_vec();
    reader.copied_decorations += decorations.len().saturating_mul(targets.len());
    if reader.copied_decorations > module.words.len() {
        return Err(Error::limit("groups of decorations that are larger than the module"));
    }
    if instruction.opcode == op::GROUP_DECORATE {
        return targets.iter().try_for_each(|&target| decorate(module, target, &decorations));
    }
    for target in targets.chunks_exact(2) {
        module.member_decorations.entry((target[0], target[1])).or_default().extend_from_slice(&decorations);
    }
    Ok(())
}

fn begin_function(module: &Module, instruction: Instruction) -> Result<Function> {
    Ok(Function {
        id: module.operand(instruction, 1)?,
        instruction,
        return_type: module.operand(instruction, 0)?,
        function_type: module.operand(instruction, 3)?,
        parameters: Vec::new(),
        blocks: Vec::new(),
    })
}

fn check_parameters(module: &Module, function: &Function) -> Result<()> {
    let Type::Function(returns, parameters) = module.ty(function.function_type)? else {
        return Err(Error::malformed("the function's type is none of a function"));
    };
    let same = parameters.len() == function.parameters.len()
        && std::iter::zip(parameters, &function.parameters).all(|(&ty, &id)| module.type_of(id) == Ok(ty));
    if returns != function.return_type || !same {
        return Err(Error::malformed("the function's parameters or result are not those of its type"));
    }
    Ok(())
}

fn part(module: &Module, id: Id, is_type: bool) -> Result<u32> {
    let definition = module.definition(id)?;
    if is_type {
        module.ty(id)?;
    } else if definition.ty == 0 {
        return Err(Error::malformed(format!("id {id} is no constant")));
    }
    Ok(definition.depth)
}

/// What points to a structure is no deeper for it, since a structure has a name of its own.
fn pointee_depth(module: &Module, instruction: Instruction) -> Result<u32> {
    let pointee = module.operand(instruction, 2)?;
    let definition = module.definition(pointee)?;
    module.ty(pointee)?;
    Ok(if definition.instruction.opcode == op::TYPE_STRUCT { 0 } else { definition.depth })
}
