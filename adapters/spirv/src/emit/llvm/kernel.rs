//! Entry points: their parameters as the host gives them, and what the compiler is told of their sizes.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::instruction::CopySide;
use super::names::{symbol, with_offset};
use super::{GlobalOffset, Target, Writer};
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{EntryPoint, Function, Id, Kernel, Type, mode_number, storage};

/// Whether a kernel takes a global offset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    WithOffset,
}

/// How a kernel's parameter comes in.
enum Incoming {
    /// As the function has it.
    Same,
    /// A structure's bytes, behind the pointer that the function has.
    Bytes,
    /// The same where that pointer must not be written through: the bytes are copied, with this alignment.
    Copied(u64),
    /// An offset into the work-group memory.
    Offset,
    /// A composite value, whose bytes are loaded.
    Loaded,
}

impl Writer<'_> {
    pub(super) fn write_kernels(&mut self) -> Result<()> {
        let module = self.module;
        let kernels = module.kernels()?;
        if let Some(wanted) = &self.options.kernels {
            let known: HashSet<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            let missing = wanted.iter().find(|name| !known.contains(name.as_str()));
            if let Some(name) = missing {
                return Err(Error::option(format!("the module has no kernel {name}")));
            }
        }
        let called = self.functions_of_their_own();
        let wanted: Option<HashSet<&str>> =
            self.options.kernels.as_ref().map(|wanted| wanted.iter().map(String::as_str).collect());
        for (entry, kernel) in module.entry_points.iter().zip(kernels) {
            if wanted.as_ref().is_none_or(|wanted| wanted.contains(kernel.name.as_str())) {
                let place = |error| Self::place(error, entry.instruction);
                self.check_modes(entry, &kernel).map_err(place)?;
                for &variant in self.variants() {
                    let written = self.write_kernel(entry, &kernel, &called, variant);
                    written.and_then(|()| self.check_length()).map_err(place)?;
                }
                self.result.kernels.push(kernel);
            }
        }
        Ok(())
    }

    fn variants(&self) -> &'static [Variant] {
        match self.options.global_offset {
            GlobalOffset::None => &[Variant::Plain],
            GlobalOffset::Taken => &[Variant::WithOffset],
            GlobalOffset::Both => &[Variant::Plain, Variant::WithOffset],
        }
    }

    /// Every function that a kernel calls gets the offset: where both variants are, one that takes none gives zeros.
    pub(super) fn functions_take_offset(&self) -> bool {
        self.options.global_offset != GlobalOffset::None
    }

    /// Functions that stay functions beside the kernels which they are.
    fn functions_of_their_own(&mut self) -> HashSet<Id> {
        let mut called = self.called();
        if self.options.global_offset == GlobalOffset::Both {
            let entries = self.module.entry_points.iter().map(|entry| entry.function);
            self.shared_by_variants = entries.filter(|function| !called.contains(function)).collect();
            called.extend(&self.shared_by_variants);
        }
        called
    }

    /// Functions that others call or point to, and those of several entry points.
    fn called(&self) -> HashSet<Id> {
        let mut called: HashSet<Id> = HashSet::new();
        for &instruction in self.module.body.iter().filter(|i| i.opcode == op::FUNCTION_CALL) {
            called.extend(self.module.operand(instruction, 2).ok());
        }
        for definition in &self.module.definitions {
            if definition.instruction.opcode == op::CONSTANT_FUNCTION_POINTER_INTEL {
                called.extend(self.module.operand(definition.instruction, 2).ok());
            }
        }
        let several = self.module.entry_functions.iter().filter(|(_, count)| **count > 1);
        called.extend(several.map(|(function, _)| *function));
        called
    }

    fn check_modes(&mut self, entry: &EntryPoint, kernel: &Kernel) -> Result<()> {
        if symbol(&kernel.name) != kernel.name {
            let whose = if self.target == Target::Nvptx { "PTX" } else { "the translation" };
            return Err(Error::unsupported(format!("{whose} cannot name a kernel {:?}", kernel.name)));
        }
        if let Some(size) = kernel.sub_group_size.filter(|&size| size != self.lanes) {
            let (name, lanes) = (&kernel.name, self.lanes);
            return Err(Error::unsupported(format!("kernel {name} wants sub-groups of {size}; they have {lanes}")));
        }
        for &mode in self.module.modes_of(entry.function) {
            let place = |error| Self::place(error, mode);
            match self.module.operand(mode, 1)? {
                mode_number::INITIALIZER | mode_number::FINALIZER => {
                    return Err(place(Error::unsupported("kernels that run before or after others by themselves")));
                }
                mode_number::DENORM_FLUSH_TO_ZERO => self.result.flush_denormals |= self.module.operand(mode, 2)? == 32,
                mode_number::DENORM_PRESERVE => self.result.preserve_denormals |= self.module.operand(mode, 2)? == 32,
                mode_number::LOCAL_SIZE..=mode_number::LOCAL_SIZE_HINT
                | mode_number::VEC_TYPE_HINT
                | mode_number::CONTRACTION_OFF
                | mode_number::SUBGROUP_SIZE..=mode_number::LOCAL_SIZE_HINT_ID
                | mode_number::SIGNED_ZERO_INF_NAN_PRESERVE
                | mode_number::ROUNDING_MODE_RTE
                | mode_number::MAX_WORKGROUP_SIZE_INTEL
                | mode_number::MAX_WORK_DIM_INTEL
                | mode_number::NO_GLOBAL_OFFSET_INTEL
                | mode_number::FLOATING_POINT_MODE_IEEE_INTEL => {}
                // Hints for other devices, and flags that an instruction says for itself.
                mode_number::SHARED_LOCAL_MEMORY_SIZE_INTEL
                | mode_number::NUM_SIMD_WORKITEMS_INTEL
                | mode_number::SCHEDULER_TARGET_FMAX_MHZ_INTEL
                | mode_number::MAXIMALLY_RECONVERGES_KHR
                | mode_number::FP_FAST_MATH_DEFAULT
                | mode_number::STREAMING_INTERFACE_INTEL
                | mode_number::REGISTER_MAP_INTERFACE_INTEL
                | mode_number::MAXIMUM_REGISTERS_INTEL..=mode_number::NAMED_MAXIMUM_REGISTERS_INTEL => {}
                other => return Err(place(Error::unsupported(format!("execution mode {other}")))),
            }
        }
        Ok(())
    }

    fn write_kernel(
        &mut self,
        entry: &EntryPoint,
        kernel: &Kernel,
        called: &HashSet<Id>,
        variant: Variant,
    ) -> Result<()> {
        let module = self.module;
        let function = module.function(entry.function)?;
        let name = match variant {
            Variant::Plain => kernel.name.clone(),
            Variant::WithOffset => with_offset(&kernel.name),
        };
        if *self.type_text(function.return_type)? != *"void" {
            return Err(Error::malformed("a kernel returns a value"));
        }
        let mut header = String::new();
        let mut types = String::new();
        let mut incoming = Vec::new();
        for (&id, parameter) in function.parameters.iter().zip(&kernel.parameters) {
            let comma = if header.is_empty() { "" } else { ", " };
            let (ty, attributes, way) = self.incoming(id, parameter.align)?;
            let name = if matches!(way, Incoming::Same | Incoming::Bytes) { "v" } else { "p" };
            let _ = write!(header, "{comma}{ty} {attributes}%{name}{id}");
            let _ = write!(types, "{comma}{ty}");
            incoming.push((id, way));
        }
        if variant == Variant::WithOffset {
            let (ty, byval) = self.by_value("[3 x i32]");
            let comma = if header.is_empty() { "" } else { ", " };
            let _ = write!(header, "{comma}{ty} {byval} align 4 %offset");
            let _ = write!(types, "{comma}{ty}");
        }
        let debug = self.begin_lines(&name);
        self.out.clear();
        match self.target {
            Target::Nvptx => {
                let _ = writeln!(self.out, "define void @{name}({header}) #0{debug} {{");
            }
            Target::Amdgcn => self.amdgcn_kernel_head(&name, &header, &debug, kernel),
        }
        if called.contains(&function.id) {
            self.write_wrapper(function, &incoming, variant)?;
        } else {
            self.begin_function(function)?;
            self.write_blocks(function, |writer| writer.write_prologue(&incoming, variant))?;
        }
        self.out.push_str("}\n");
        self.functions.push_str(&self.out);
        if self.target == Target::Nvptx {
            let reference = if self.opaque { format!("ptr @{name}") } else { format!("void ({types})* @{name}") };
            self.annotate_sizes(&reference, kernel);
        }
        Ok(())
    }

    fn annotate_sizes(&mut self, reference: &str, kernel: &Kernel) {
        self.annotate(reference, "kernel", 1);
        match (kernel.required_size, kernel.max_size) {
            (Some(size), _) => {
                for (key, value) in ["reqntidx", "reqntidy", "reqntidz"].iter().zip(size) {
                    self.annotate(reference, key, value);
                }
            }
            (None, Some(size)) => {
                for (key, value) in ["maxntidx", "maxntidy", "maxntidz"].iter().zip(size) {
                    self.annotate(reference, key, value);
                }
            }
            // Without a bound the compiler may take so many registers that a full group does not fit.
            (None, None) => self.annotate(reference, "maxntidx", self.options.max_threads),
        }
    }

    fn incoming(&mut self, id: Id, align: u64) -> Result<(String, String, Incoming)> {
        let ty = self.module.type_of(id)?;
        let text = self.type_text(ty)?.to_string();
        Ok(match self.module.ty(ty)? {
            Type::Pointer(storage::FUNCTION, pointee) => {
                let pointee = self.type_text(pointee)?;
                let (ty, byval) = self.by_value(&pointee);
                let way = if self.target == Target::Nvptx { Incoming::Bytes } else { Incoming::Copied(align) };
                (if self.target == Target::Nvptx { text } else { ty }, format!("{byval} align {align} "), way)
            }
            Type::Pointer(storage::WORKGROUP, _) => ("i64".to_owned(), String::new(), Incoming::Offset),
            Type::Structure(_) | Type::Array(..) => {
                let (ty, byval) = self.by_value(&text);
                (ty, format!("{byval} align {align} "), Incoming::Loaded)
            }
            Type::Event => return Err(Error::unsupported("an event as a kernel's parameter")),
            Type::Pointer(..) => {
                let attributes = self.parameter_attributes(id);
                (text, attributes, Incoming::Same)
            }
            _ => (text, String::new(), Incoming::Same),
        })
    }

    /// The pointer to bytes that a launch gives, and the attribute that says so. On AMD's devices they lie in constant memory.
    fn by_value(&self, pointee: &str) -> (String, String) {
        match (self.target, self.opaque) {
            (Target::Amdgcn, _) => ("ptr addrspace(4)".to_owned(), format!("byref({pointee})")),
            (Target::Nvptx, true) => ("ptr".to_owned(), format!("byval({pointee})")),
            (Target::Nvptx, false) => (self.pointer_text(pointee, 0), "byval".to_owned()),
        }
    }

    /// Attributes of a pointer that the module's decorations allow.
    pub(super) fn parameter_attributes(&self, id: Id) -> String {
        use crate::model::kind;
        const NO_ALIAS: u32 = 4;
        let mut text = String::new();
        let restricted = self.module.decoration(id, kind::RESTRICT).is_some();
        let attributes = self.module.decorations_of(id).iter().filter(|d| d.kind == kind::FUNC_PARAM_ATTR);
        let mut attributes = attributes.filter_map(|d| self.module.literals(d).first());
        if restricted || attributes.any(|&attribute| attribute == NO_ALIAS) {
            text.push_str("noalias ");
        }
        if let Some(align) = self.module.alignment(id).filter(|&align| align > 1) {
            let _ = write!(text, "align {align} ");
        }
        text
    }

    /// Turns parameters into the values that the function works with.
    fn write_prologue(&mut self, incoming: &[(Id, Incoming)], variant: Variant) -> Result<()> {
        for (id, way) in incoming {
            let ty = self.module.type_of(*id)?;
            let text = self.type_text(ty)?;
            match way {
                Incoming::Same | Incoming::Bytes => {}
                Incoming::Offset => {
                    let base = self.dynamic_shared();
                    let pointer = self.pointer_text("[0 x i8]", 3);
                    let bytes = self.pointer_text("i8", 3);
                    let at = self.let_temp(format_args!("getelementptr [0 x i8], {pointer} {base}, i64 0, i64 %p{id}"));
                    let cast = if self.target == Target::Nvptx { "bitcast" } else { "addrspacecast" };
                    self.set(*id, format_args!("{cast} {bytes} {at} to {text}"));
                }
                Incoming::Copied(align) => {
                    let pointee = self.module.pointer(ty)?.1;
                    let (size, pointee) = (self.size_of(pointee)?, self.type_text(pointee)?);
                    self.put_variable(&format!("%v{id}"), &pointee, &format!(", align {align}"));
                    let align = *align;
                    let to = CopySide { pointer: format!("ptr %v{id}"), space: 0, align };
                    let from = CopySide { pointer: format!("ptr addrspace(4) %p{id}"), space: 4, align };
                    self.copy_bytes(&to, &from, &format!("i64 {size}"), false);
                }
                Incoming::Loaded => {
                    let pointer = self.by_value(&text).0;
                    self.set(*id, format_args!("load {text}, {pointer} %p{id}"));
                }
            }
        }
        if variant == Variant::WithOffset {
            let whole = self.by_value("[3 x i32]").0;
            let part = if self.target == Target::Nvptx { self.pointer_text("i32", 0) } else { whole.clone() };
            for at in 0..3 {
                let place = self.let_temp(format_args!("getelementptr [3 x i32], {whole} %offset, i32 0, i32 {at}"));
                let value = self.let_temp(format_args!("load i32, {part} {place}"));
                self.put(format_args!("%go{at} = zext i32 {value} to i64"));
            }
        } else if self.functions_take_offset() {
            (0..3).for_each(|at| self.put(format_args!("%go{at} = add i64 0, 0")));
        }
        Ok(())
    }

    /// A kernel that others call too: a function of its own, which the kernel calls.
    fn write_wrapper(&mut self, function: &Function, incoming: &[(Id, Incoming)], variant: Variant) -> Result<()> {
        self.out.push_str("entry:\n");
        self.write_prologue(incoming, variant)?;
        let mut arguments = String::new();
        for &id in &function.parameters {
            let comma = if arguments.is_empty() { "" } else { ", " };
            let _ = write!(arguments, "{comma}{}", self.typed(id)?);
        }
        self.append_offset(&mut arguments);
        let name = self.function_name(function.id)?;
        self.put(format_args!("call void {name}({arguments})"));
        self.put(format_args!("ret void"));
        Ok(())
    }

    /// The hidden parameters of every function when kernels take a global offset.
    pub(super) fn append_offset(&self, text: &mut String) {
        if self.functions_take_offset() {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}i64 %go0, i64 %go1, i64 %go2");
        }
    }
}
