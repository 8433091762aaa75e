//! The types of PTX registers and instructions, and which go together.

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Pred,
}

/// What a type's bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bits,
    Integer,
    Float,
    Pred,
}

impl Type {
    /// The type of that name, written without its dot.
    pub fn parse(name: &str) -> Option<Type> {
        Some(match name {
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "f16" => Type::F16,
            "f16x2" => Type::F16x2,
            "bf16" => Type::Bf16,
            "bf16x2" => Type::Bf16x2,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "pred" => Type::Pred,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Type::B8 => "b8",
            Type::B16 => "b16",
            Type::B32 => "b32",
            Type::B64 => "b64",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::F16 => "f16",
            Type::F16x2 => "f16x2",
            Type::Bf16 => "bf16",
            Type::Bf16x2 => "bf16x2",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Pred => "pred",
        }
    }

    /// Width in bits; a predicate has one.
    pub fn bits(self) -> u32 {
        match self {
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 64,
            Type::Pred => 1,
        }
    }

    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    fn kind(self) -> Kind {
        match self {
            Type::B8 | Type::B16 | Type::B32 | Type::B64 => Kind::Bits,
            Type::Pred => Kind::Pred,
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64 => Kind::Float,
            _ => Kind::Integer,
        }
    }

    /// Whether a register of type `self` may be an operand of an instruction of type `other`.
    pub fn agrees(self, other: Type) -> bool {
        let (a, b) = (self.kind(), other.kind());
        self.bits() == other.bits()
            && (a == b || (a == Kind::Bits && b != Kind::Pred) || (b == Kind::Bits && a != Kind::Pred))
    }

    /// Whether a register of type `self` may hold a loaded, stored or converted value of type `other`.
    pub fn holds(self, other: Type) -> bool {
        self != Type::Pred && other != Type::Pred && self.bits() >= other.bits()
    }
}
