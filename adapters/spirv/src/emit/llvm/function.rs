//! Functions and their blocks.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

use super::Writer;
use super::instruction::CopySide;
use super::late::Late;
use super::loops::CountedLoop;
use super::names::symbol;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Block, Function, Id, Instruction, Type, kind, storage};

/// The function that is being written.
#[derive(Debug, Default)]
pub(super) struct Current {
    /// The label of the block that is being written.
    pub block: Id,
    /// Each block's terminator.
    pub terminators: HashMap<Id, Instruction>,
    /// Built-in variables whose address is taken, or that are not simply loaded.
    pub copied_builtins: Vec<Id>,
    /// Addresses of elements of built-in variables: the variable and the element's number.
    pub builtin_elements: HashMap<Id, (Id, Id)>,
    /// The hints of loops: by the block that continues it, the header and the metadata node.
    pub loops: HashMap<Id, (Id, usize)>,
    /// Addresses that are made before a loop which steps from them.
    pub loop_bases: HashSet<Id>,
    /// Loops that carry products of their counters, which of them a block has a part in, and the values that are carried.
    pub counted_loops: Vec<CountedLoop>,
    pub counted_at: HashMap<Id, Vec<usize>>,
    pub carried: HashSet<Id>,
    /// Divisions that a later block has.
    pub late: Late,
    /// How often each switch names each block.
    pub switches: HashMap<Id, HashMap<Id, usize>>,
    /// How deep the constant of an address nests that is being written.
    pub address_depth: u32,
}

impl Writer<'_> {
    /// The text that names a function.
    pub(super) fn function_name(&mut self, id: Id) -> Result<Rc<str>> {
        if let Some(known) = self.symbols.get(&id) {
            return Ok(Rc::clone(known));
        }
        let function = self.module.function(id)?;
        let name = if function.blocks.is_empty() {
            let Some((name, _)) = self.module.linkage(id) else {
                return Err(Error::malformed(format!("function {id} has no body and no name to import")));
            };
            self.declare_import(id, &name)?
        } else {
            self.pending_functions.push(id);
            match self.public_name(id) {
                Some((name, _)) => format!("@{}", self.function_symbol(&name)),
                None => format!("@{}", self.own_name(format!("f{id}"))),
            }
        };
        let name: Rc<str> = name.into();
        self.symbols.insert(id, Rc::clone(&name));
        Ok(name)
    }

    /// The text of a pointer to the function.
    pub(super) fn function_pointer_text(&mut self, id: Id) -> Result<String> {
        let function = self.module.function(id)?;
        let types: Vec<Id> = function.parameters.iter().map(|&p| self.module.type_of(p)).collect::<Result<_>>()?;
        let text = self.function_type(function.return_type, &types)?;
        Ok(if self.opaque { "ptr".to_owned() } else { format!("{text}*") })
    }

    fn declare_import(&mut self, id: Id, name: &str) -> Result<String> {
        let function = self.module.function(id)?;
        let known = symbol(name);
        let name = self.function_symbol(&known);
        let mut types = Vec::new();
        for &parameter in &function.parameters {
            types.push(self.type_text(self.module.type_of(parameter)?)?.to_string());
        }
        if self.functions_take_offset() {
            types.extend(["i64"; 3].map(str::to_owned));
        }
        let returns = self.type_text(function.return_type)?;
        if !self.declared.contains_key(&name) {
            self.note_import(&known);
            self.declare(&name, &returns, &types.join(", "));
        }
        Ok(format!("@{name}"))
    }

    /// Functions and variables that other modules see, written whether or not a kernel reaches them; with a list of kernels
    /// only what they reach and what the program's other modules import.
    pub(super) fn write_exports(&mut self) -> Result<()> {
        let module = self.module;
        for function in &module.functions {
            if self.is_exported(function.id) && !function.blocks.is_empty() {
                self.function_name(function.id)?;
            }
        }
        self.write_exported_variables()
    }

    pub(super) fn write_function(&mut self, id: Id) -> Result<()> {
        let function = self.module.function(id)?;
        self.function_text(function).map_err(|error| Self::place(error, function.instruction))
    }

    fn function_text(&mut self, function: &Function) -> Result<()> {
        const INLINE: u32 = 1;
        const DO_NOT_INLINE: u32 = 2;
        let control = self.module.operand(function.instruction, 2)?;
        let name = self.function_name(function.id)?;
        let linkage = match self.public_name(function.id) {
            Some((known, linkage)) => {
                self.result.exports.push(known);
                if linkage == 2 { "linkonce_odr " } else { "" }
            }
            None => "internal ",
        };
        let shared = self.shared_by_variants.contains(&function.id);
        let mut header = String::new();
        let mut copied = Vec::new();
        for &parameter in &function.parameters {
            let comma = if header.is_empty() { "" } else { ", " };
            let ty = self.type_text(self.module.type_of(parameter)?)?;
            // What a launch gives is the kernel's own already.
            let pointee = if shared { None } else { self.passed_by_value(parameter)? };
            let name = if pointee.is_some() { "p" } else { "v" };
            copied.extend(pointee.map(|pointee| (parameter, pointee)));
            let _ = write!(header, "{comma}{ty} %{name}{parameter}");
        }
        self.append_offset(&mut header);
        let returns = self.type_text(function.return_type)?;
        let hint = match control {
            _ if shared => "",
            control if control & DO_NOT_INLINE != 0 => " noinline",
            control if control & INLINE != 0 => " inlinehint",
            _ => "",
        };
        // As part of each of the two, as it would be of one.
        let attributes = if shared { 2 } else { 0 };
        let debug = self.begin_lines(name.trim_start_matches('@'));
        self.out.clear();
        let _ = writeln!(self.out, "define {linkage}{returns} {name}({header}) #{attributes}{hint}{debug} {{");
        self.begin_function(function)?;
        self.write_blocks(function, |writer| {
            copied.into_iter().try_for_each(|(parameter, pointee)| writer.copy_parameter(parameter, pointee))
        })?;
        self.out.push_str("}\n");
        self.functions.push_str(&self.out);
        Ok(())
    }

    /// What a parameter points to that the function has by value.
    fn passed_by_value(&self, parameter: Id) -> Result<Option<Id>> {
        const BY_VALUE: u32 = 2;
        let Type::Pointer(storage::FUNCTION, pointee) = self.module.ty(self.module.type_of(parameter)?)? else {
            return Ok(None);
        };
        let attributes = self.module.decorations_of(parameter).iter().filter(|d| d.kind == kind::FUNC_PARAM_ATTR);
        let mut attributes = attributes.filter_map(|d| self.module.literals(d).first());
        Ok(attributes.any(|&attribute| attribute == BY_VALUE).then_some(pointee))
    }

    /// The caller gives the address of its own object, which it may use after the call: the function gets a copy.
    fn copy_parameter(&mut self, parameter: Id, pointee: Id) -> Result<()> {
        let (layout, ty) = (self.layouts.of(self.module, pointee)?, self.type_text(pointee)?);
        let align = self.module.alignment(parameter).unwrap_or(layout.align).max(1);
        self.put_variable(&format!("%v{parameter}"), &ty, &format!(", align {}", align.max(layout.align)));
        let pointer = self.pointer_text(&ty, 0);
        let [to, from] =
            ["v", "p"].map(|name| CopySide { pointer: format!("{pointer} %{name}{parameter}"), space: 0, align });
        self.copy_bytes(&to, &from, &format!("i64 {}", layout.size), false);
        Ok(())
    }

    /// Looks at the whole function before its first block is written.
    pub(super) fn begin_function(&mut self, function: &Function) -> Result<()> {
        self.temporaries = 0;
        self.current = Current::default();
        for block in &function.blocks {
            let body = &self.module.body[block.first..block.end];
            if let Some(&terminator) = body.last() {
                self.current.terminators.insert(block.label, terminator);
            }
        }
        self.find_loops(function)?;
        self.find_loop_bases(function)?;
        self.find_products(function)?;
        self.find_late_divisions(function)?;
        self.find_copied_builtins(function);
        Ok(())
    }

    pub(super) fn write_blocks(
        &mut self,
        function: &Function,
        prologue: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut prologue = Some(prologue);
        for block in &function.blocks {
            let _ = writeln!(self.out, "b{}:", block.label);
            self.current.block = block.label;
            if let Some(prologue) = prologue.take() {
                prologue(self)?;
                self.copy_builtins()?;
            }
            self.write_block(block)?;
        }
        Ok(())
    }

    fn write_block(&mut self, block: &Block) -> Result<()> {
        let module = self.module;
        let body = &module.body[block.first..block.end];
        self.begin_carried(block.label);
        for (at, &instruction) in body.iter().enumerate() {
            if at + 1 == body.len() {
                self.end_carried(block.label).map_err(|error| Self::place(error, instruction))?;
            }
            // What is late itself may need another one that was made in an earlier block.
            for division in self.take_late_divisions(instruction) {
                self.write_instruction(division).map_err(|error| Self::place(error, division))?;
            }
            if self.is_late(instruction) {
                continue;
            }
            let written = self.write_instruction(instruction).and_then(|()| self.check_length());
            written.map_err(|error| Self::place(error, instruction))?;
        }
        Ok(())
    }

    /// Built-in variables that the function does more with than to load them whole.
    fn find_copied_builtins(&mut self, function: &Function) {
        let (mut copied, mut known, mut elements) = (Vec::new(), HashSet::new(), HashMap::new());
        let mut note = |id| {
            if self.builtin(id).is_some() && known.insert(id) {
                copied.push(id);
            }
        };
        for block in &function.blocks {
            for &instruction in &self.module.body[block.first..block.end] {
                if let Some((address, element)) = self.builtin_element(instruction) {
                    elements.insert(address, element);
                    continue;
                }
                match instruction.opcode {
                    op::LOAD => {}
                    // The grammar does not know which operands of these are ids; a copy too many does no harm.
                    op::EXT_INST => self.module.operands(instruction).iter().copied().for_each(&mut note),
                    _ => crate::parse::for_each_id(&self.module.words, instruction, &mut note),
                }
            }
        }
        self.current.copied_builtins = copied;
        self.current.builtin_elements = elements;
    }
}
