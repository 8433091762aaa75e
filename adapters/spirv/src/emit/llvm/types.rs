//! The text of types. Structures have names, so that a type's text is never deeper than its arrays.

use std::fmt::Write as _;
use std::rc::Rc;

use super::{Target, Writer};
use crate::error::{Error, Result};
use crate::limits;
use crate::model::{Id, Type, kind, storage};

/// A scalar type: how the text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Int(u32),
    Float(u32),
}

impl Scalar {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Bool => "i1",
            Self::Int(8) => "i8",
            Self::Int(16) => "i16",
            Self::Int(32) => "i32",
            Self::Int(_) => "i64",
            Self::Float(16) => "half",
            Self::Float(32) => "float",
            Self::Float(_) => "double",
        }
    }

    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Int(bits) | Self::Float(bits) => bits,
        }
    }

    /// The integer of the same size.
    pub(super) fn integer(self) -> Self {
        Self::Int(self.bits())
    }

    /// What names of helpers end with.
    pub(super) fn suffix(self) -> String {
        match self {
            Self::Bool => "b".to_owned(),
            Self::Int(bits) => format!("i{bits}"),
            Self::Float(bits) => format!("f{bits}"),
        }
    }
}

const WORK_GROUP_SPACE: u32 = 3;

/// The address space that memory of a storage class lies in.
///
/// # Errors
/// The class has none here.
pub(super) fn address_space(class: u32) -> Result<u32> {
    match class {
        storage::FUNCTION | storage::GENERIC | storage::INPUT | storage::CODE_SECTION_INTEL => Ok(0),
        // Constant arguments are addresses of device memory that the host chose, so constant memory is device memory.
        storage::CROSS_WORKGROUP
        | storage::UNIFORM_CONSTANT
        | storage::DEVICE_ONLY_INTEL
        | storage::HOST_ONLY_INTEL => Ok(1),
        storage::WORKGROUP => Ok(WORK_GROUP_SPACE),
        storage::PRIVATE => Err(Error::unsupported("storage class Private; OpenCL has variables of functions instead")),
        _ => Err(Error::unsupported(format!("storage class {class}"))),
    }
}

impl Writer<'_> {
    /// The text of a type.
    ///
    /// # Errors
    /// It is an image, a sampler, a pipe or a queue, or its text would be too long.
    pub(super) fn type_text(&mut self, id: Id) -> Result<Rc<str>> {
        if let Some(text) = self.types.get(&id) {
            return Ok(Rc::clone(text));
        }
        let text: Rc<str> = match self.module.ty(id)? {
            Type::Void => "void".into(),
            Type::Bool => "i1".into(),
            Type::Int(bits) => Scalar::Int(bits).text().into(),
            Type::Float(bits) => Scalar::Float(bits).text().into(),
            Type::Event => "i64".into(),
            Type::Vector(element, count) => format!("<{count} x {}>", self.type_text(element)?).into(),
            Type::Array(element, length) => {
                let length = self.layouts.length(self.module, length)?;
                format!("[{length} x {}]", self.type_text(element)?).into()
            }
            Type::Structure(_) => {
                self.pending_structures.push(id);
                format!("%s{id}").into()
            }
            Type::Pointer(class, pointee) => self.pointer_type(class, pointee)?.into(),
            Type::Function(returns, parameters) => self.function_type(returns, parameters)?.into(),
            Type::Other(opcode) => {
                let (name, why) = (crate::grammar::name(opcode), crate::grammar::refusal(opcode));
                return Err(Error::unsupported(format!("{name}: {}", why.message())));
            }
        };
        if text.len() > 1 << 16 {
            return Err(Error::limit("the name of a type is longer than 65536 bytes"));
        }
        self.names_length += text.len();
        self.check_length()?;
        self.types.insert(id, Rc::clone(&text));
        Ok(text)
    }

    /// The address space of pointers to a storage class. On AMD's devices those to work-group memory are generic ones: pointers to
    /// its own space have 32 bits there, and the module counts 64 for one in memory. The compiler takes the casts back out.
    pub(super) fn pointer_space(&self, class: u32) -> Result<u32> {
        match (self.target, address_space(class)?) {
            (Target::Amdgcn, WORK_GROUP_SPACE) => Ok(0),
            (_, space) => Ok(space),
        }
    }

    fn pointer_type(&mut self, class: u32, pointee: Id) -> Result<String> {
        let space = self.pointer_space(class)?;
        if self.opaque {
            return Ok(self.pointer_text("", space));
        }
        let pointee = match self.module.ty(pointee)? {
            Type::Void | Type::Other(_) => "i8".into(),
            _ => self.type_text(pointee)?,
        };
        Ok(self.pointer_text(&pointee, space))
    }

    pub(super) fn function_type(&mut self, returns: Id, parameters: &[Id]) -> Result<String> {
        let mut text = format!("{} (", self.type_text(returns)?);
        for (at, &parameter) in parameters.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}{}", self.type_text(parameter)?);
            if text.len() > 1 << 16 {
                return Err(Error::limit("the name of a function's type is longer than 65536 bytes"));
            }
        }
        if self.functions_take_offset() {
            text.push_str(if parameters.is_empty() { "i64, i64, i64" } else { ", i64, i64, i64" });
        }
        text.push(')');
        Ok(text)
    }

    pub(super) fn write_structure(&mut self, id: Id) -> Result<()> {
        let Type::Structure(members) = self.module.ty(id)? else {
            return Err(Error::malformed(format!("type {id} is no structure")));
        };
        // A structure without a member is one byte in C++ and none here; both sides of a call agree.
        let packed = self.module.decoration(id, kind::CPACKED).is_some();
        let mut text = format!("%s{id} = type {}", if packed { "<{ " } else { "{ " });
        for (at, &member) in members.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}{}", self.type_text(member)?);
            if text.len() > limits::MAX_CONSTANT_TEXT {
                return Err(Error::limit("a structure's text is too long"));
            }
        }
        text.push_str(if packed { " }>\n" } else { " }\n" });
        self.structures.push_str(&text);
        Ok(())
    }

    /// The scalar type that `id` names.
    ///
    /// # Errors
    /// It is no boolean and no number.
    pub(super) fn scalar(&self, id: Id) -> Result<Scalar> {
        match self.module.ty(id)? {
            Type::Bool => Ok(Scalar::Bool),
            Type::Int(bits) => Ok(Scalar::Int(bits)),
            Type::Float(bits) => Ok(Scalar::Float(bits)),
            _ => Err(Error::malformed(format!("type {id} is no number and no boolean"))),
        }
    }

    /// The element's scalar type and the number of elements of a scalar or vector type.
    ///
    /// # Errors
    /// It is neither.
    pub(super) fn shape(&self, id: Id) -> Result<(Scalar, u32)> {
        let (element, count) = self.module.elements(id)?;
        Ok((self.scalar(element)?, count))
    }

    /// The text of a scalar or of a vector of `count`.
    pub(super) fn shaped(scalar: Scalar, count: u32) -> String {
        if count == 1 { scalar.text().to_owned() } else { format!("<{count} x {}>", scalar.text()) }
    }

    /// Checks that no member of memory-less kind hides in `ty`, and gives its size in bytes.
    pub(super) fn size_of(&mut self, ty: Id) -> Result<u64> {
        Ok(self.layouts.of(self.module, ty)?.size)
    }

    pub(super) fn is_scalar_or_vector(&self, ty: Id) -> bool {
        self.shape(ty).is_ok()
    }
}
