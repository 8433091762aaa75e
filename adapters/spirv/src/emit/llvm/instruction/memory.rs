//! Variables of functions, loads, stores, copies, and calls.

use std::fmt::Write as _;

use super::super::Writer;
use super::Inst;
use crate::error::{Error, Result};
use crate::fold::Value;
use crate::grammar::op;
use crate::model::{Id, Type, kind, storage};

/// What a memory instruction's mask says (`MemoryAccess`).
#[derive(Debug, Default)]
struct Access {
    volatile: bool,
    align: Option<u64>,
    nontemporal: bool,
    alias_scope: Option<Id>,
    no_alias: Option<Id>,
}

impl Access {
    /// Reads the mask at the front of `words`: the access, and what follows it.
    fn read(words: &[u32]) -> Result<(Self, &[u32])> {
        let Some((&mask, mut rest)) = words.split_first() else {
            return Ok((Self::default(), words));
        };
        let mut next = || -> Result<u32> {
            let (&first, others) =
                rest.split_first().ok_or_else(|| Error::malformed("the mask's parameter is missing"))?;
            rest = others;
            Ok(first)
        };
        let mut access = Self { volatile: mask & 1 != 0, nontemporal: mask & 4 != 0, ..Self::default() };
        if mask & 2 != 0 {
            let align = next()?;
            if !align.is_power_of_two() || align > 1 << 20 {
                return Err(Error::malformed(format!("an alignment of {align}")));
            }
            access.align = Some(u64::from(align));
        }
        for bit in [8, 0x10] {
            if mask & bit != 0 {
                next()?;
            }
        }
        if mask & 0x1_0000 != 0 {
            access.alias_scope = Some(next()?);
        }
        if mask & 0x2_0000 != 0 {
            access.no_alias = Some(next()?);
        }
        Ok((access, rest))
    }
}

/// Memory that is copied from or to: the text of a pointer, its address space, and what its address is a multiple of.
pub(in super::super) struct CopySide {
    pub pointer: String,
    pub space: u32,
    pub align: u64,
}

impl<'m> Writer<'m> {
    pub(super) fn memory_or_call(&mut self, inst: Inst<'m>) -> Result<()> {
        match inst.opcode() {
            op::FUNCTION_CALL => self.call_function(inst),
            op::FUNCTION_POINTER_CALL_INTEL => self.call_pointer(inst),
            op::VARIABLE => self.variable(inst),
            op::LOAD => self.load(inst),
            op::STORE => self.store(inst),
            op::COPY_MEMORY | op::COPY_MEMORY_SIZED => self.copy_memory(inst),
            opcode => Err(crate::grammar::refusal(opcode)),
        }
    }

    /// A variable of the function. Its initialiser is memory of the module that is copied, unless it is small.
    fn variable(&mut self, inst: Inst<'_>) -> Result<()> {
        let (result, (class, pointee)) = (inst.result()?, self.module.pointer(inst.ty()?)?);
        if class != storage::FUNCTION {
            return Err(Error::malformed(format!("a function's variable of storage class {class}")));
        }
        let (ty, layout) = (self.type_text(pointee)?, self.layouts.of(self.module, pointee)?);
        let align = self.module.alignment(result).unwrap_or(layout.align).max(layout.align).max(1);
        self.put_variable(&format!("%v{result}"), &ty, &format!(", align {align}"));
        let Ok(initializer) = inst.arg(1) else {
            return Ok(());
        };
        let pointer = self.pointer_text(&ty, 0);
        let value = self.folder.value(self.module, initializer)?;
        let text = self.value(initializer)?;
        let small = self.is_scalar_or_vector(pointee) || matches!(self.module.ty(pointee)?, Type::Pointer(..));
        match value {
            Value::Undef => {}
            _ if small => self.put(format_args!("store {ty} {text}, {pointer} %v{result}, align {align}")),
            _ => {
                self.count_initialised(&value, layout.size)?;
                let name = self.own_name(format!("i{result}"));
                self.globals
                    .push_str(&format!("@{name} = internal addrspace(1) constant {ty} {text}, align {align}\n"));
                let source = self.pointer_text(&ty, 1);
                let to = CopySide { pointer: format!("{pointer} %v{result}"), space: 0, align };
                let from = CopySide { pointer: format!("{source} @{name}"), space: 1, align };
                self.copy_bytes(&to, &from, &format!("i64 {}", layout.size), false);
            }
        }
        Ok(())
    }

    /// `memcpy`.
    pub(in super::super) fn copy_bytes(&mut self, to: &CopySide, from: &CopySide, size: &str, volatile: bool) {
        let spaced = |space: u32| if self.opaque { format!("p{space}") } else { format!("p{space}i8") };
        let name = format!("llvm.memcpy.{}.{}.i64", spaced(to.space), spaced(from.space));
        let (target, source) = (self.pointer_text("i8", to.space), self.pointer_text("i8", from.space));
        self.declare(&name, "void", &format!("{target}, {source}, i64, i1"));
        let (to_align, from_align) = (to.align, from.align);
        let to = self.let_temp(format_args!("bitcast {} to {target}", to.pointer));
        let from = self.let_temp(format_args!("bitcast {} to {source}", from.pointer));
        self.put(format_args!(
            "call void @{name}({target} align {to_align} {to}, {source} align {from_align} {from}, {size}, i1 {volatile})"
        ));
    }

    /// `memset` of bytes at a pointer with its address space.
    pub(in super::super) fn fill_bytes(&mut self, to: &(String, u32), byte: &str, size: &str) {
        let spaced = if self.opaque { format!("p{}", to.1) } else { format!("p{}i8", to.1) };
        let (name, target) = (format!("llvm.memset.{spaced}.i64"), self.pointer_text("i8", to.1));
        self.declare(&name, "void", &format!("{target}, i8, i64, i1"));
        let to = self.let_temp(format_args!("bitcast {} to {target}", to.0));
        self.put(format_args!("call void @{name}({target} align 1 {to}, i8 {byte}, {size}, i1 false)"));
    }

    /// What follows a load or a store: alignment and metadata.
    fn access_suffix(&mut self, access: &Access, ty: Id, invariant: bool) -> Result<String> {
        let align = match access.align {
            Some(align) => align,
            None => self.layouts.of(self.module, ty)?.align.max(1),
        };
        let mut text = format!(", align {align}");
        if access.nontemporal {
            let node = self.metadata.node("!{i32 1}");
            let _ = write!(text, ", !nontemporal !{node}");
        }
        if invariant {
            let node = self.metadata.node("!{}");
            let _ = write!(text, ", !invariant.load !{node}");
        }
        for (name, list) in [("alias.scope", access.alias_scope), ("noalias", access.no_alias)] {
            if let Some(node) = list.and_then(|list| self.alias_list(list)) {
                let _ = write!(text, ", !{name} !{node}");
            }
        }
        Ok(text)
    }

    fn load(&mut self, inst: Inst<'_>) -> Result<()> {
        let (pointer, ty, result) = (inst.arg(0)?, inst.ty()?, inst.result()?);
        let text = self.type_text(ty)?;
        if self.builtin(pointer).is_some() {
            let value = self.builtin_value(pointer, ty)?;
            self.alias(result, &text, &value);
            return Ok(());
        }
        if let Some(&(variable, element)) = self.current.builtin_elements.get(&pointer) {
            let vector = self.module.pointer(self.module.type_of(variable)?)?.1;
            let (value, element) = (self.builtin_value(variable, vector)?, self.typed(element)?);
            let vector = self.type_text(vector)?;
            self.set(result, format_args!("extractelement {vector} {value}, {element}"));
            return Ok(());
        }
        let (access, _) = Access::read(&inst.args()[1..])?;
        let class = self.module.pointer(self.module.type_of(pointer)?)?.0;
        let volatile = access.volatile || self.module.decoration(pointer, kind::VOLATILE).is_some();
        let suffix = self.access_suffix(&access, ty, class == storage::UNIFORM_CONSTANT && !volatile)?;
        let volatile = if volatile { "volatile " } else { "" };
        let pointer = self.typed(pointer)?;
        self.set(result, format_args!("load {volatile}{text}, {pointer}{suffix}"));
        Ok(())
    }

    fn store(&mut self, inst: Inst<'_>) -> Result<()> {
        let (pointer, value) = (inst.plain(0)?, inst.plain(1)?);
        let (access, _) = Access::read(inst.all().get(2..).unwrap_or(&[]))?;
        let volatile = access.volatile || self.module.decoration(pointer, kind::VOLATILE).is_some();
        let suffix = self.access_suffix(&access, self.module.type_of(value)?, false)?;
        let volatile = if volatile { "volatile " } else { "" };
        let (value, pointer) = (self.typed(value)?, self.typed(pointer)?);
        self.put(format_args!("store {volatile}{value}, {pointer}{suffix}"));
        Ok(())
    }

    /// What a pointer of the module points to, as a side of a copy.
    pub(in super::super) fn copy_side(&mut self, pointer: Id, align: u64) -> Result<CopySide> {
        let (pointer, space) = self.spaced(pointer)?;
        Ok(CopySide { pointer, space, align })
    }

    pub(in super::super) fn spaced(&mut self, pointer: Id) -> Result<(String, u32)> {
        let class = self.module.pointer(self.module.type_of(pointer)?)?.0;
        Ok((self.typed(pointer)?, self.pointer_space(class)?))
    }

    fn copy_memory(&mut self, inst: Inst<'_>) -> Result<()> {
        let sized = inst.opcode() == op::COPY_MEMORY_SIZED;
        let (to, from) = (inst.plain(0)?, inst.plain(1)?);
        let masks = inst.all().get(if sized { 3 } else { 2 }..).unwrap_or(&[]);
        let (access, rest) = Access::read(masks)?;
        // A second mask is the source's; without it the first is both's.
        let source = if rest.is_empty() { None } else { Some(Access::read(rest)?.0) };
        let (second_align, second_volatile) =
            source.map_or((access.align, access.volatile), |source| (source.align, source.volatile));
        let pointee = self.module.pointer(self.module.type_of(from)?)?.1;
        let size = if sized {
            let id = inst.plain(2)?;
            let bits = self.shape(self.module.type_of(id)?)?.0.bits();
            let value = self.value(id)?;
            format!("i64 {}", if bits == 64 { value.to_string() } else { self.resize(&value, bits, 64) })
        } else {
            format!("i64 {}", self.size_of(pointee)?)
        };
        let natural = if sized { 1 } else { self.layouts.of(self.module, pointee)?.align.max(1) };
        let to = self.copy_side(to, access.align.unwrap_or(natural))?;
        let from = self.copy_side(from, second_align.unwrap_or(natural))?;
        self.copy_bytes(&to, &from, &size, access.volatile || second_volatile);
        Ok(())
    }

    fn call_function(&mut self, inst: Inst<'m>) -> Result<()> {
        let callee = inst.arg(0)?;
        let function = self.module.function(callee)?;
        if function.blocks.is_empty()
            && let Some((name, _)) = self.module.linkage(callee)
            && self.known_import(inst, &name)?
        {
            return Ok(());
        }
        check_arguments(inst, function.parameters.len())?;
        let name = self.function_name(callee)?;
        let returns = self.type_text(function.return_type)?;
        self.finish_call(inst, &returns, &name)
    }

    fn call_pointer(&mut self, inst: Inst<'_>) -> Result<()> {
        let pointee = self.module.pointer(self.module.type_of(inst.arg(0)?)?)?.1;
        let Type::Function(returns, parameters) = self.module.ty(pointee)? else {
            return Err(Error::malformed("a call through a pointer to no function"));
        };
        check_arguments(inst, parameters.len())?;
        let (returns, pointer) = (self.type_text(returns)?, self.value(inst.arg(0)?)?);
        self.finish_call(inst, &returns, &pointer)
    }

    fn finish_call(&mut self, inst: Inst<'_>, returns: &str, callee: &str) -> Result<()> {
        let mut arguments = String::new();
        for &argument in &inst.args()[1..] {
            let comma = if arguments.is_empty() { "" } else { ", " };
            let _ = write!(arguments, "{comma}{}", self.typed(argument)?);
            Self::check_instruction_length(&arguments)?;
        }
        self.append_offset(&mut arguments);
        let mut aliases = String::new();
        for (name, kind) in [("alias.scope", kind::ALIAS_SCOPE_INTEL), ("noalias", kind::NO_ALIAS_INTEL)] {
            let list = self.module.decoration(inst.result()?, kind).and_then(|words| words.first().copied());
            if let Some(node) = list.and_then(|list| self.alias_list(list)) {
                let _ = write!(aliases, ", !{name} !{node}");
            }
        }
        if returns == "void" {
            self.put(format_args!("call void {callee}({arguments}) #0{aliases}"));
        } else {
            self.set(inst.result()?, format_args!("call {returns} {callee}({arguments}) #0{aliases}"));
        }
        Ok(())
    }
}

fn check_arguments(inst: Inst<'_>, parameters: usize) -> Result<()> {
    let given = inst.args().len().saturating_sub(1);
    if given != parameters {
        return Err(Error::malformed(format!("{given} arguments for a function of {parameters}")));
    }
    Ok(())
}
