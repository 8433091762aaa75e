//! Instructions that the parser knows and no translation has, with the reason that the build log gives. What is not listed here is
//! claimed: `tests/claims.rs` wants a kernel with results for each.

use super::op;

/// First and last opcode, and why.
const REFUSED: &[(u16, u16, &str)] = &[
    (op::TYPE_IMAGE, op::TYPE_SAMPLED_IMAGE, "images and samplers of SPIR-V have no counterpart in a CUDA kernel"),
    (op::TYPE_OPAQUE, op::TYPE_OPAQUE, "an opaque type has no size"),
    (op::TYPE_DEVICE_EVENT, op::TYPE_PIPE, "a CUDA kernel has no pipes and no queues"),
    (op::CONSTANT_SAMPLER, op::CONSTANT_SAMPLER, "images and samplers of SPIR-V have no counterpart in a CUDA kernel"),
    (
        op::IMAGE_TEXEL_POINTER,
        op::IMAGE_TEXEL_POINTER,
        "images and samplers of SPIR-V have no counterpart in a CUDA kernel",
    ),
    (op::SAMPLED_IMAGE, op::IMAGE_QUERY_SAMPLES, "images and samplers of SPIR-V have no counterpart in a CUDA kernel"),
    (op::QUANTIZE_TO_F16, op::QUANTIZE_TO_F16, "an instruction of shaders"),
    (op::READ_PIPE, op::GROUP_COMMIT_WRITE_PIPE, "a CUDA kernel has no pipes"),
    (op::ENQUEUE_MARKER, op::BUILD_ND_RANGE, "kernels cannot launch kernels here"),
    (op::TYPE_PIPE_STORAGE, op::CREATE_PIPE_FROM_PIPE_STORAGE, "a CUDA kernel has no pipes"),
    (
        op::GET_KERNEL_LOCAL_SIZE_FOR_SUBGROUP_COUNT,
        op::GET_KERNEL_MAX_NUM_SUBGROUPS,
        "kernels cannot launch kernels here",
    ),
    (op::TYPE_NAMED_BARRIER, op::MEMORY_NAMED_BARRIER, "named barriers"),
    (op::COPY_LOGICAL, op::COPY_LOGICAL, "structures of a kernel have one layout; OpCopyObject copies them"),
    (op::IMAGE_SAMPLE_FOOTPRINT_NV, op::GROUP_NON_UNIFORM_PARTITION_NV, "an instruction of shaders"),
    (op::I_MUL32X16_INTEL, op::U_MUL32X16_INTEL, "products of 32 and 16 bits"),
    (op::ASM_TARGET_INTEL, op::ASM_CALL_INTEL, "assembly of another device"),
    (
        op::VARIABLE_LENGTH_ARRAY_INTEL,
        op::RESTORE_MEMORY_INTEL,
        "variables whose size is not known before the kernel runs",
    ),
    (
        op::TYPE_STRUCT_CONTINUED_INTEL,
        op::SPEC_CONSTANT_COMPOSITE_CONTINUED_INTEL,
        "composites in several instructions",
    ),
];

/// Why the instruction is refused; `None` for one that is claimed.
pub(crate) fn refused(opcode: u16) -> Option<&'static str> {
    REFUSED.iter().find(|row| (row.0..=row.1).contains(&opcode)).map(|row| row.2)
}
