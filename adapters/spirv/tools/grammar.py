#!/usr/bin/env python3
"""Writes src/grammar/{op,signatures,opencl_std}.rs from the grammar files of Khronos' SPIRV-Headers (Debian: spirv-headers).

Only instructions that an OpenCL kernel can hold are kept. A signature has one character an operand: T result type, R result,
i id, l literal word, s string, n the words of a number, e an enumerant, m a mask with its parameters; `?` before one that may be
missing, `*` before what repeats.
"""
import json
import os
import re
import subprocess
import sys

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "/usr/include/spirv/unified1"
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "grammar")
GRAPHICS = re.compile(
    r"^(Shader|Geometry|Tessellation|RayTracing|RayQuery|SampledImage|SampledBuffer|StorageImage|ImageQuery|ImageMS|ImageGather|InputAttachment|DerivativeControl|MeshShading|TransformFeedback|"
    r"Fragment|Sparse|Interpolation|Demote|ShaderClock|CooperativeMatrix|DeviceGroup|"
    r"SubgroupAvc|ArbitraryPrecision|BlockingPipes|IOPipes|USMStorage|FPGA|LoopFuse|TaskSequence|SubgroupImage|TensorFloat|Matrix|"
    r"VectorCompute|Ray|Cubic|TileImage|TextureSample|Core|Bindless|HitObject|GeometryStreams|AtomicFloat16VectorNV|Subgroup.*Block)"
)
# Instructions of extensions that are newer than the grammar file, or that kernels hold beside graphics: number, name, signature.
NEWER = [
    (5056, "OpReadClockKHR", "TRi"),
    (5575, "OpSubgroupBlockReadINTEL", "TRi"),
    (5576, "OpSubgroupBlockWriteINTEL", "ii"),
    (6116, "OpConvertFToBF16INTEL", "TRi"),
    (6117, "OpConvertBF16ToFINTEL", "TRi"),
    (6145, "OpArithmeticFenceEXT", "TRi"),
]
KINDS = {
    "IdResultType": "T", "IdResult": "R", "IdRef": "i", "IdScope": "i", "IdMemorySemantics": "i", "LiteralInteger": "l",
    "LiteralExtInstInteger": "l", "LiteralString": "s", "LiteralContextDependentNumber": "n", "LiteralSpecConstantOpInteger": "l",
    "PairLiteralIntegerIdRef": "w", "PairIdRefIdRef": "ii", "PairIdRefLiteralInteger": "il",
}
BARE = {"SourceLanguage", "AddressingModel", "MemoryModel", "ExecutionModel", "StorageClass", "Dim", "AccessQualifier", "Capability",
        "GroupOperation", "FunctionControl", "SelectionControl", "PackedVectorFormat", "SamplerAddressingMode", "SamplerFilterMode",
        "ImageFormat", "KernelEnqueueFlags"}


def constant(name):
    """OpFOrdEqual -> F_ORD_EQUAL."""
    name = name.removeprefix("Op")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).upper()


def signature(instruction):
    out = ""
    for operand in instruction.get("operands", []):
        kind = KINDS.get(operand["kind"]) or ("e" if operand["kind"] in BARE else "m")
        out += operand.get("quantifier", "") + kind
    # What these take depends on the number before it: ids, and literals among them.
    if instruction["opname"] == "OpExtInst":
        return "TRil?m"
    return out + ("m" if instruction["opname"] == "OpSpecConstantOp" else "")


def write(name, about, lines):
    path = os.path.join(HERE, name)
    with open(path, "w") as file:
        file.write(f"// Made by tools/grammar.py; not edited by hand.\n//! {about}\n\n" + "\n".join(lines) + "\n")
    subprocess.run(["rustfmt", "--edition", "2024", path], check=True)


def main():
    core = json.load(open(os.path.join(FOLDER, "spirv.core.grammar.json")))
    known = {}
    for i in core["instructions"]:
        needs = [c for c in i.get("capabilities", []) if not GRAPHICS.match(c)]
        if i["opcode"] in known or (i.get("capabilities") and not needs):
            continue
        known[i["opcode"]] = (i["opname"], signature(i))
    for number, name, text in NEWER:
        known.setdefault(number, (name, text))
    # The file gives it a type, compilers do not.
    known[5609] = ("OpAsmTargetINTEL", "Rs")
    rows = sorted((n, *v) for n, v in known.items())
    write("op.rs", "Numbers of instructions.", [f"pub const {constant(name)}: u16 = {n};" for n, name, _ in rows])
    write("signatures.rs", "Each instruction's number, name and operands, by number.",
          ["pub const SIGNATURES: &[(u16, &str, &str)] = &["] + [f'    ({n}, "{name}", "{text}"),' for n, name, text in rows] + ["];"])
    cl = json.load(open(os.path.join(FOLDER, "extinst.opencl.std.100.grammar.json")))["instructions"]
    cl.sort(key=lambda i: i["opcode"])
    write("opencl_std.rs", "Each instruction of OpenCL.std: number, name, least number of operands.",
          ["pub const OPENCL_STD: &[(u32, &str, usize)] = &["]
          + [f'    ({i["opcode"]}, "{i["opname"]}", {sum("quantifier" not in o for o in i["operands"])}),' for i in cl] + ["];"])


main()
