//! What a module says of its kernels, and of its specialisation constants, to those who launch them.

use super::{Id, Layouts, Module, Type, kind, mode_number, storage};
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::limits;

/// What a kernel's parameter is for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Bytes: a number, a vector or a structure.
    Value,
    /// An address of device memory.
    GlobalPointer,
    /// An address of memory that the kernel only reads.
    ConstantPointer,
    /// Memory of a work-group: the host gives its size in bytes.
    LocalPointer,
}

/// A kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What the host gives.
    pub kind: ParameterKind,
    /// Bytes of the value, of a pointer 8.
    pub size: u64,
    /// The value's alignment in bytes.
    pub align: u64,
    /// The name in the source, or nothing.
    pub name: String,
}

/// A function that the host can launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name of the entry point.
    pub name: String,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The only work-group size that the kernel may be launched with.
    pub required_size: Option<[u32; 3]>,
    /// The size that its author expects.
    pub size_hint: Option<[u32; 3]>,
    /// The largest size that it may be launched with.
    pub max_size: Option<[u32; 3]>,
    /// The only sub-group size that it may run with.
    pub sub_group_size: Option<u32>,
    /// How many sub-groups a work-group must have.
    pub sub_groups: Option<u32>,
    /// Multiplications and additions may not be fused.
    pub contraction_off: bool,
}

/// A constant that the application may set before a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// Its number (decoration `SpecId`).
    pub id: u32,
    /// Its size in bytes; 1 for a boolean.
    pub size: u32,
}

impl Module {
    /// The module's kernels, in the order of its entry points.
    ///
    /// # Errors
    /// A parameter's type has no size in memory, or an execution mode is broken.
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        let mut layouts = Layouts::default();
        let mut kernels = Vec::with_capacity(self.entry_points.len());
        let mut parameters = 0;
        for entry in &self.entry_points {
            parameters += self.function(entry.function)?.parameters.len();
            if parameters > limits::MAX_PARAMETERS {
                return Err(Error::limit(format!("kernels with more than {} parameters", limits::MAX_PARAMETERS)));
            }
            kernels.push(self.kernel(&mut layouts, entry.function, &entry.name)?);
        }
        Ok(kernels)
    }

    /// The constants that [`Module::specialise`] can set, in the order of the module.
    #[must_use]
    pub fn spec_constants(&self) -> Vec<SpecConstant> {
        let settable = self.definitions.iter().filter(|d| is_settable(d.instruction.opcode));
        settable.filter_map(|d| self.spec_constant(d.instruction).map(|(constant, _)| constant)).collect()
    }

    /// Sets the specialisation constants with number `id` to the value whose little-endian bytes are given. A number that the
    /// module does not have is passed over, as the specification wants it.
    ///
    /// # Errors
    /// The size is not the constant's.
    pub fn specialise(&mut self, id: u32, bytes: &[u8]) -> Result<()> {
        let mut found = Vec::new();
        for definition in self.definitions.iter().filter(|d| is_settable(d.instruction.opcode)) {
            match self.spec_constant(definition.instruction) {
                Some((constant, target)) if constant.id == id => found.push((constant, target)),
                _ => {}
            }
        }
        for (constant, target) in found {
            if bytes.len() != constant.size as usize {
                let message =
                    format!("specialisation constant {id} has {} bytes, {} were given", constant.size, bytes.len());
                return Err(Error::option(message));
            }
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            self.specialised.insert(target, u64::from_le_bytes(value));
        }
        Ok(())
    }

    fn spec_constant(&self, instruction: super::Instruction) -> Option<(SpecConstant, Id)> {
        let target = self.operand(instruction, 1).ok()?;
        let id = *self.decoration(target, kind::SPEC_ID)?.first()?;
        let size = match self.ty(self.operand(instruction, 0).ok()?).ok()? {
            Type::Int(bits) | Type::Float(bits) => bits / 8,
            _ => 1,
        };
        Some((SpecConstant { id, size }, target))
    }

    fn kernel(&self, layouts: &mut Layouts, function: Id, name: &str) -> Result<Kernel> {
        let mut kernel = Kernel {
            name: name.to_owned(),
            parameters: Vec::new(),
            required_size: None,
            size_hint: None,
            max_size: None,
            sub_group_size: None,
            sub_groups: None,
            contraction_off: false,
        };
        for &parameter in &self.function(function)?.parameters {
            kernel.parameters.push(self.parameter(layouts, parameter)?);
        }
        for &mode in self.modes_of(function) {
            let operand = |at| self.operand(mode, at);
            let sizes = || Ok([operand(2)?, operand(3)?, operand(4)?]);
            let mut constant = |at| Ok(layouts.folder.integer(self, operand(at)?)?.min(u64::from(u32::MAX)) as u32);
            match operand(1)? {
                mode_number::LOCAL_SIZE => kernel.required_size = Some(sizes()?),
                mode_number::LOCAL_SIZE_ID => kernel.required_size = Some([constant(2)?, constant(3)?, constant(4)?]),
                mode_number::LOCAL_SIZE_HINT => kernel.size_hint = Some(sizes()?),
                mode_number::LOCAL_SIZE_HINT_ID => kernel.size_hint = Some([constant(2)?, constant(3)?, constant(4)?]),
                mode_number::MAX_WORKGROUP_SIZE_INTEL => kernel.max_size = Some(sizes()?),
                mode_number::SUBGROUP_SIZE => kernel.sub_group_size = Some(operand(2)?),
                mode_number::SUBGROUPS_PER_WORKGROUP => kernel.sub_groups = Some(operand(2)?),
                mode_number::SUBGROUPS_PER_WORKGROUP_ID => kernel.sub_groups = Some(constant(2)?),
                mode_number::CONTRACTION_OFF => kernel.contraction_off = true,
                _ => {}
            }
        }
        Ok(kernel)
    }

    fn parameter(&self, layouts: &mut Layouts, id: Id) -> Result<Parameter> {
        let ty = self.type_of(id)?;
        let name = self.names.get(&id).map_or_else(String::new, |&name| self.string(name, 1));
        let (kind, valued) = match self.ty(ty)? {
            Type::Pointer(storage::FUNCTION, pointee) => (ParameterKind::Value, pointee),
            Type::Pointer(storage::WORKGROUP, _) => (ParameterKind::LocalPointer, ty),
            Type::Pointer(storage::UNIFORM_CONSTANT, _) => (ParameterKind::ConstantPointer, ty),
            Type::Pointer(..) => (ParameterKind::GlobalPointer, ty),
            _ => (ParameterKind::Value, ty),
        };
        let layout = layouts.of(self, valued)?;
        // The alignment that a pointer is decorated with is that of what it points to.
        let decorated = if kind == ParameterKind::Value { self.alignment(id) } else { None };
        Ok(Parameter { kind, size: layout.size, align: decorated.unwrap_or(layout.align), name })
    }

    /// The alignment that the module gives to an id, if it is a power of two.
    pub(crate) fn alignment(&self, id: Id) -> Option<u64> {
        let align = *self.decoration(id, kind::ALIGNMENT)?.first()?;
        (align.is_power_of_two() && align <= 1 << 20).then_some(u64::from(align))
    }
}

fn is_settable(opcode: u16) -> bool {
    matches!(opcode, op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE | op::SPEC_CONSTANT)
}
