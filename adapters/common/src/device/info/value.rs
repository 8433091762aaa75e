//! The values that device properties have, apart from where they are written to.
//!
//! Knows types and nothing of devices, so that tests can compare every answer with the specification's type.

use crate::object::error::Result;
use crate::object::info::InfoWriter;

/// A property's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// `ur_bool_t`.
    Bool(bool),
    /// `uint32_t`.
    U32(u32),
    /// `uint64_t`.
    U64(u64),
    /// `size_t`.
    Size(usize),
    /// One of an enumeration.
    Enum(u32),
    /// A set of flags.
    Flags(u32),
    /// A string.
    Text(String),
    /// `uint8_t[]`.
    Bytes(Vec<u8>),
    /// `uint32_t[]`.
    U32s(Vec<u32>),
    /// `size_t[]`.
    Sizes(Vec<usize>),
    /// A handle that is null because there is no such object.
    NoHandle,
    /// A list of whatever type that has no elements.
    NoElements,
}

impl Value {
    /// Hands the value to the caller.
    pub(super) fn write(&self, writer: &InfoWriter) -> Result<()> {
        match self {
            Self::Bool(value) => writer.boolean(*value),
            Self::U32(value) | Self::Enum(value) | Self::Flags(value) => writer.value(*value),
            Self::U64(value) => writer.value(*value),
            Self::Size(value) => writer.value(*value),
            Self::Text(text) => writer.text(text),
            Self::Bytes(bytes) => writer.array(bytes),
            Self::U32s(values) => writer.array(values),
            Self::Sizes(values) => writer.array(values),
            Self::NoHandle => writer.value(core::ptr::null_mut::<core::ffi::c_void>()),
            Self::NoElements => writer.array::<u8>(&[]),
        }
    }
}

/// What a group says to a property it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The value.
    Is(Value),
    /// The device cannot tell, and why.
    Unsupported(&'static str),
}

impl From<Value> for Reply {
    fn from(value: Value) -> Self {
        Self::Is(value)
    }
}

/// The value, or why there is none.
pub(super) fn or(value: Option<Value>, reason: &'static str) -> Reply {
    value.map_or(Reply::Unsupported(reason), Reply::Is)
}
