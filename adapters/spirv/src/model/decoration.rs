//! Decorations, and the numbers of those that mean something here.

use super::Instruction;

/// One decoration of an id or of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoration {
    pub kind: u32,
    pub instruction: Instruction,
    /// The operand behind the kind.
    pub first_literal: usize,
}

/// Numbers of decorations.
#[allow(clippy::module_inception, reason = "the module re-exports it under a name of its own")]
pub(crate) mod decoration {
    pub const CPACKED: u32 = 10;
    pub const SPEC_ID: u32 = 1;
    pub const BUILT_IN: u32 = 11;
    pub const NO_CONTRACTION: u32 = 42;
    pub const RESTRICT: u32 = 19;
    pub const VOLATILE: u32 = 21;
    pub const CONSTANT: u32 = 22;
    pub const SATURATED_CONVERSION: u32 = 28;
    pub const FUNC_PARAM_ATTR: u32 = 38;
    pub const FP_ROUNDING_MODE: u32 = 39;
    pub const FP_FAST_MATH_MODE: u32 = 40;
    pub const LINKAGE_ATTRIBUTES: u32 = 41;
    pub const ALIGNMENT: u32 = 44;
    pub const NO_SIGNED_WRAP: u32 = 4469;
    pub const NO_UNSIGNED_WRAP: u32 = 4470;
    /// `HostAccessINTEL`, and its number in the draft `SPV_INTEL_global_variable_decorations`.
    pub const HOST_ACCESS_INTEL: u32 = 6188;
    pub const HOST_ACCESS_DRAFT_INTEL: u32 = 6147;
    pub const ALIAS_SCOPE_INTEL: u32 = 5914;
    pub const NO_ALIAS_INTEL: u32 = 5915;
}

/// Numbers of built-in variables.
pub(crate) mod builtin {
    pub const NUM_WORKGROUPS: u32 = 24;
    pub const WORKGROUP_SIZE: u32 = 25;
    pub const WORKGROUP_ID: u32 = 26;
    pub const LOCAL_INVOCATION_ID: u32 = 27;
    pub const GLOBAL_INVOCATION_ID: u32 = 28;
    pub const LOCAL_INVOCATION_INDEX: u32 = 29;
    pub const WORK_DIM: u32 = 30;
    pub const GLOBAL_SIZE: u32 = 31;
    pub const ENQUEUED_WORKGROUP_SIZE: u32 = 32;
    pub const GLOBAL_OFFSET: u32 = 33;
    pub const GLOBAL_LINEAR_ID: u32 = 34;
    pub const SUBGROUP_SIZE: u32 = 36;
    pub const SUBGROUP_MAX_SIZE: u32 = 37;
    pub const NUM_SUBGROUPS: u32 = 38;
    pub const NUM_ENQUEUED_SUBGROUPS: u32 = 39;
    pub const SUBGROUP_ID: u32 = 40;
    pub const SUBGROUP_LOCAL_INVOCATION_ID: u32 = 41;
    pub const SUBGROUP_EQ_MASK: u32 = 4416;
    // Those for lanes above or equal, above, below or equal lie between.
    pub const SUBGROUP_LT_MASK: u32 = 4420;
}
