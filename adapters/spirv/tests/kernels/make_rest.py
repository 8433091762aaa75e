#!/usr/bin/env python3
"""Kernels of everything but numbers and groups: addresses, constants, flow, atomics of all types, extensions, imports. make.py says how
they are written. Run after a change: make_rest.py."""
import math
import random
import struct

import mpmath
import numpy as np

from make import NP, Case, clamp, near, signed, tdiv

random.seed(13)
THREADS = range(32)


def numbers(bits, count=32):
    return [random.getrandbits(bits) for _ in range(count)]


def bits_of(ty, value):
    return int.from_bytes(NP[ty](value).tobytes(), "little")


def text_constant(c, name, text):
    """A variable with a string."""
    content = [*text.encode(), 0]
    parts = " ".join(c.const("u8", byte) for byte in content)
    c.globals += (f"%t_{name} = OpTypeArray %u8 {c.const('u64', len(content))}\n%s_{name} = OpConstantComposite %t_{name} {parts}\n"
                  f"%q_{name} = OpTypePointer UniformConstant %t_{name}\n%{name} = OpVariable %q_{name} UniformConstant %s_{name}\n")


def constant_case():
    """What OpSpecConstantOp computes, and specialisation constants with their defaults."""
    c = Case("constants")
    late = []

    def spec(ty, op, *args):
        r = c.fresh()
        late.append(f"{r} = OpSpecConstantOp %{ty} {op} " + " ".join(str(a) for a in args))
        return r

    def take(ty, value, expected):
        (c.boolean if ty == "bool" else lambda v, e: c.out(ty, v, e))(value, [expected] * 32)
    for n in (8, 16, 32, 64):
        ty, m = f"u{n}", (1 << n) - 1
        sg = lambda v: signed(v, n)
        for p, q in ((random.getrandbits(n), random.getrandbits(n - 2) | 1), (m - 6, m - 1)):
            a, b = c.const(ty, p), c.const(ty, q)
            two = {"IAdd": p + q, "ISub": p - q, "IMul": p * q, "UDiv": p // q, "UMod": p % q, "SDiv": tdiv(sg(p), sg(q)), "SRem": sg(p) - sg(q) * tdiv(sg(p), sg(q)),
                   "SMod": sg(p) % sg(q), "BitwiseOr": p | q, "BitwiseXor": p ^ q, "BitwiseAnd": p & q}
            for op, value in two.items():
                take(ty, spec(ty, op, a, b), value)
            by = c.const(ty, 3)
            for op, value in {"ShiftLeftLogical": p << 3, "ShiftRightLogical": p >> 3, "ShiftRightArithmetic": sg(p) >> 3}.items():
                take(ty, spec(ty, op, a, by), value)
            for op, value in {"SNegate": -p, "Not": ~p}.items():
                take(ty, spec(ty, op, a), value)
            for op, value in {"IEqual": p == q, "INotEqual": p != q, "UGreaterThan": p > q, "SGreaterThan": sg(p) > sg(q), "UGreaterThanEqual": p >= q, "SGreaterThanEqual": sg(p) >= sg(q),
                              "ULessThan": p < q, "SLessThan": sg(p) < sg(q), "ULessThanEqual": p <= q, "SLessThanEqual": sg(p) <= sg(q)}.items():
                take("bool", spec("bool", op, a, b), value)
            for to in (8, 16, 32, 64):
                if to != n:
                    take(f"u{to}", spec(f"u{to}", "UConvert", a), p)
                    take(f"u{to}", spec(f"u{to}", "SConvert", a), sg(p))
    for n in (16, 32, 64):
        ty, F = f"f{n}", NP[f"f{n}"]
        p, q = F(random.uniform(-30, 30)), F(random.uniform(1, 9))
        a, b = c.const(ty, float(p)), c.const(ty, float(q))
        for op, value in {"FAdd": p + q, "FSub": p - q, "FMul": p * q, "FDiv": p / q, "FRem": np.fmod(p, q), "FMod": np.mod(p, q)}.items():
            take(ty, spec(ty, op, a, b), F(value))
        take(ty, spec(ty, "FNegate", a), -p)
        take("u32", spec("u32", "ConvertFToS", a), int(p))
        take("u32", spec("u32", "ConvertFToU", b), int(q))
        take(ty, spec(ty, "ConvertSToF", c.const("u32", 0xfffffff7)), F(-9))
        take(ty, spec(ty, "ConvertUToF", c.const("u8", 200)), F(200))
        for to in (16, 32, 64):
            if to != n:
                take(f"f{to}", spec(f"f{to}", "FConvert", a), NP[f"f{to}"](p))
        take(f"u{n}", spec(f"u{n}", "Bitcast", a), bits_of(ty, p))
    # What would come out wrong if it were rounded twice.
    close = 1.0 + 2.0 ** -11 + 2.0 ** -40
    take("f16", spec("f16", "FConvert", c.const("f64", close)), np.float16(close))
    many = (1 << 60) + (1 << 36) + 1
    take("f32", spec("f32", "ConvertSToF", c.const("u64", many)), np.float32((1 << 60) + (1 << 37)))
    take("f32", spec("f32", "ConvertUToF", c.const("u64", many)), np.float32((1 << 60) + (1 << 37)))
    # Specialisation constants that nobody sets.
    late.append("%yes = OpSpecConstantTrue %bool\n%no = OpSpecConstantFalse %bool\n%twelve = OpSpecConstant %u32 12\n%pi = OpSpecConstant %f64 3.25\n%halfword = OpSpecConstant %u16 9")
    c.decorations += "OpDecorate %yes SpecId 1\nOpDecorate %no SpecId 2\nOpDecorate %twelve SpecId 3\nOpDecorate %pi SpecId 4\nOpDecorate %halfword SpecId 5\n"
    for op, value in {"LogicalOr": 1, "LogicalAnd": 0, "LogicalEqual": 0, "LogicalNotEqual": 1}.items():
        take("bool", spec("bool", op, "%yes", "%no"), value)
    take("bool", spec("bool", "LogicalNot", "%yes"), 0)
    take("u32", spec("u32", "Select", "%no", c.const("u32", 5), "%twelve"), 12)
    take("f64", "%pi", 3.25)
    late.append(f"%pair = OpSpecConstantComposite %v2u32 %twelve {c.const('u32', 7)}")
    take("u32", spec("u32", "CompositeExtract", "%pair", 0), 12)
    swapped = spec("v2u32", "VectorShuffle", "%pair", "%pair", 1, 2)
    take("u32", spec("u32", "CompositeExtract", swapped, 0), 7)
    changed = spec("v2u32", "CompositeInsert", c.const("u32", 99), "%pair", 1)
    summed = spec("v2u32", "IAdd", changed, swapped)
    take("u32", spec("u32", "CompositeExtract", summed, 1), 111)
    # Bit casts between elements of different sizes: the first has the lowest bits.
    late.append(f"%four = OpSpecConstantComposite %v4u16 %halfword {c.const('u16', 2)} {c.const('u16', 3)} {c.const('u16', 4)}\n%none = OpConstantNull %v4u16")
    take("u32", spec("u32", "CompositeExtract", spec("v2u32", "Bitcast", "%four"), 0), 0x00020009)
    take("u32", spec("u32", "CompositeExtract", spec("v2u32", "Bitcast", "%four"), 1), 0x00040003)
    take("u64", spec("u64", "Bitcast", "%four"), 0x0004000300020009)
    take("u64", spec("u64", "Bitcast", "%none"), 0)
    take("u16", spec("u16", "CompositeExtract", spec("v4u16", "Bitcast", c.const("v2u32", (0x89abcdef, 0x01234567))), 2), 0x4567)
    take("u8", spec("u8", "CompositeExtract", spec("v8u8", "Bitcast", "%pi"), 6), 0x0a)
    take("f32", spec("f32", "CompositeExtract", spec("v2f32", "Bitcast", c.const("u64", 0x3f80000040400000)), 1), 1.0)
    c.out("u64", c.emit("OpConvertPtrToU", "u64", spec("p_u32", "Bitcast", c.const("u64", 0x123456789abc))), [0x123456789abc] * 32)
    # An array as long as a constant says, and an address in a constant.
    late.append(f"%arr = OpTypeArray %u32 %twelve\n%g_arr = OpTypePointer CrossWorkgroup %arr\n%p_arr = OpTypePointer CrossWorkgroup %u32\n%store = OpVariable %g_arr CrossWorkgroup\n%l_st = OpTypeStruct %arr")
    third = spec("p_u32", "InBoundsAccessChain", "%store", c.const("u32", 3))
    wide = spec("u64", "ConvertPtrToU", third)
    first = spec("p_u32", "AccessChain", "%store", c.const("u32", 0))
    start = spec("u64", "ConvertPtrToU", first)
    c.out("u64", c.emit("OpISub", "u64", wide, start), [12] * 32)
    general = spec("g_u32", "PtrCastToGeneric", third)
    back = spec("p_u32", "GenericCastToPtr", general)
    c.boolean(c.emit("OpIEqual", "bool", c.emit("OpConvertPtrToU", "u64", back), wide), [1] * 32)
    c.globals += "\n".join(late) + "\n"
    c.write()


def address_case():
    """Pointers: steps, differences, casts, copies, forward declarations, calls through them."""
    c = Case("address")
    c.environment = "spv1.4"
    c.extra = 'OpExtension "SPV_INTEL_function_pointers"\n'
    c.capabilities |= {"FunctionPointersINTEL", "IndirectReferencesINTEL"}
    A = numbers(32)
    a = c.input("u32", A)
    u = lambda v: c.const("u32", v)
    # A list whose members point to each other.
    c.globals += (f"OpTypeForwardPointer %p_node CrossWorkgroup\n%node = OpTypeStruct %u32 %p_node\n%p_node = OpTypePointer CrossWorkgroup %node\n%nonode = OpConstantNull %p_node\n"
                  f"%i3 = OpConstantComposite %node {u(333)} %nonode\n%n3 = OpVariable %p_node CrossWorkgroup %i3\n%i2 = OpConstantComposite %node {u(22)} %n3\n"
                  f"%n2 = OpVariable %p_node CrossWorkgroup %i2\n%pp_node = OpTypePointer CrossWorkgroup %p_node\n"
                  f"%arr = OpTypeArray %u32 {u(8)}\n%f_arr = OpTypePointer Function %arr\n%x_arr = OpTypePointer CrossWorkgroup %arr\n%field = OpVariable %x_arr CrossWorkgroup\n"
                  f"%v3arr = OpTypeArray %v3u32 {u(3)}\n%f_v3arr = OpTypePointer Function %v3arr\n%f_v3 = OpTypePointer Function %v3u32\n")
    next_ = c.emit("OpLoad", "p_node", c.emit("OpInBoundsAccessChain", "pp_node", "%n2", u(1)), "Aligned", 8)
    c.out("u32", c.emit("OpLoad", "u32", c.emit("OpInBoundsAccessChain", "p_u32", next_, u(0)), "Aligned", 4), [333] * 32)
    # Two addresses in one array.
    i = c.emit("OpBitwiseAnd", "u32", a, u(7))
    I = [v & 7 for v in A]
    p, q = c.emit("OpAccessChain", "p_u32", "%field", i), c.emit("OpAccessChain", "p_u32", "%field", u(2))
    c.boolean(c.emit("OpPtrEqual", "bool", p, q), [k == 2 for k in I])
    c.boolean(c.emit("OpPtrNotEqual", "bool", p, q), [k != 2 for k in I])
    c.out("u64", c.emit("OpPtrDiff", "u64", p, q), [k - 2 for k in I])
    number = c.emit("OpConvertPtrToU", "u64", q)
    again = c.emit("OpConvertUToPtr", "p_u32", c.emit("OpIAdd", "u64", number, c.const("u64", 4)))
    c.out("u64", c.emit("OpPtrDiff", "u64", again, q), [1] * 32)
    step = c.emit("OpPtrAccessChain", "p_u32", q, u(3))
    c.out("u64", c.emit("OpPtrDiff", "u64", step, q), [3] * 32)
    # Generic addresses: where they come from, and back.
    generic = c.emit("OpPtrCastToGeneric", "g_u32", q)
    c.out("u64", c.emit("OpPtrDiff", "u64", c.emit("OpGenericCastToPtr", "p_u32", generic), q), [0] * 32)
    c.out("u32", c.emit("OpGenericPtrMemSemantics", "u32", generic), [0x200] * 32)
    # Behind the first word: that one may have the null address, which is the device's choice.
    c.shared = 256
    local = c.emit("OpPtrCastToGeneric", "g_u32", c.emit("OpInBoundsPtrAccessChain", "l_u32", "%local", c.emit("OpIAdd", "u64", "%lid", c.const("u64", 1))))
    c.out("u32", c.emit("OpGenericPtrMemSemantics", "u32", local), [0x100] * 32)
    for ty, cls, good in (("p_u32", "CrossWorkgroup", 0), ("l_u32", "Workgroup", 1), ("f_u32", "Function", 0)):
        back = c.emit("OpGenericCastToPtrExplicit", ty, local, cls)
        c.boolean(c.emit("OpINotEqual", "bool", c.emit("OpConvertPtrToU", "u64", back), c.const("u64", 0)), [good] * 32)
    # Copies, sizes, lifetimes.
    c.line("%one = OpVariable %f_u32 Function")
    c.line("%two = OpVariable %f_u32 Function")
    c.line(f"OpLifetimeStart %one 4\nOpStore %one {a} Aligned 4\nOpCopyMemory %two %one Aligned 4\nOpLifetimeStop %one 4")
    c.out("u32", c.emit("OpCopyObject", "u32", c.emit("OpLoad", "u32", "%two", "Aligned", 4)), A)
    c.out("u32", c.emit("OpSizeOf", "u32", "%n2"), [16] * 32)
    # A vector of three takes the room of four.
    c.line("%threes = OpVariable %f_v3arr Function")
    v = c.emit("OpCompositeConstruct", "v3u32", a, i, u(5))
    place = c.emit("OpInBoundsAccessChain", "f_v3", "%threes", u(1))
    c.line(f"OpStore {place} {v} Aligned 16")
    words = c.emit("OpBitcast", "f_u32", "%threes")
    for at, want in ((4, A), (5, I), (6, [5] * 32)):
        c.out("u32", c.emit("OpLoad", "u32", c.emit("OpInBoundsPtrAccessChain", "f_u32", words, u(at)), "Aligned", 4), want)
    # Functions by address: one of two, by the thread.
    function = "%{0} = OpFunction %u32 DontInline %ft\n%{0}a = OpFunctionParameter %u32\n%{0}b = OpFunctionParameter %u32\n%{0}l = OpLabel\n%{0}r = {1} %u32 %{0}a %{0}b\nOpReturnValue %{0}r\nOpFunctionEnd\n"
    c.globals += "%ft = OpTypeFunction %u32 %u32 %u32\n%p_ft = OpTypePointer CodeSectionINTEL %ft\n%addp = OpConstantFunctionPointerINTEL %p_ft %addf\n%mulp = OpConstantFunctionPointerINTEL %p_ft %mulf\n"
    c.functions = function.format("addf", "OpIAdd") + function.format("mulf", "OpIMul")
    odd = c.emit("OpINotEqual", "bool", c.emit("OpBitwiseAnd", "u32", a, u(1)), u(0))
    chosen = c.emit("OpSelect", "p_ft", odd, "%addp", "%mulp")
    c.out("u32", c.emit("OpFunctionPointerCallINTEL", "u32", chosen, a, i), [(v + k if v & 1 else v * k) & 0xffffffff for v, k in zip(A, I)])
    c.write()


def flow_case():
    """Unstructured flow, hints, what says nothing, logic."""
    c = Case("flow")
    c.environment = "spv1.4"
    c.extra = 'OpExtension "SPV_KHR_expect_assume"\nOpExtension "SPV_INTEL_unstructured_loop_controls"\nOpExtension "SPV_INTEL_memory_access_aliasing"\nOpExtension "SPV_KHR_no_integer_wrap_decoration"\n'
    c.capabilities |= {"ExpectAssumeKHR", "UnstructuredLoopControlsINTEL", "MemoryAccessAliasingINTEL"}
    A = [random.randrange(0, 40) for _ in THREADS]
    a = c.input("u32", A)
    u = lambda v: c.const("u32", v)
    c.modes = (f"OpExecutionModeId %k LocalSizeHintId {u(32)} {u(1)} {u(1)}\nOpExecutionMode %k VecTypeHint 0\nOpSourceExtension \"nothing\"\n%file = OpString \"/src/flow.cl\"\n"
               "OpSource OpenCL_C 300000 %file \"a source\"\nOpSourceContinued \" in two parts\"\nOpName %gid3 \"id\"\nOpMemberName %group 0 \"member\"\nOpModuleProcessed \"by make_rest.py\"\n")
    c.decorations += (f"OpDecorate %wraps NoSignedWrap\n%wraps = OpDecorationGroup\nOpGroupDecorate %wraps %sum\nOpDecorate %volatile Volatile\n%volatile = OpDecorationGroup\n"
                      f"OpGroupMemberDecorate %volatile %group 0\nOpMemberDecorate %group 0 Offset 0\nOpDecorateId %place AlignmentId {u(4)}\nOpDecorateString %place UserSemantic \"place\"\n"
                      "OpMemberDecorateString %group 0 UserSemantic \"member\"\n")
    c.globals += "%group = OpTypeStruct %u32\n%f_group = OpTypePointer Function %group\n%anything = OpUndef %u32\n%domain = OpAliasDomainDeclINTEL\n%scope = OpAliasScopeDeclINTEL %domain\n%list = OpAliasScopeListDeclINTEL %scope\n"
    # Two blocks that go to each other, entered by either.
    small = c.emit("OpULessThan", "bool", a, u(20))
    c.line(f"OpLine %file 10 2\nOpNop\nOpBranchConditional {small} %left %right\n%left = OpLabel\n%lv1 = OpPhi %u32 {a} %entry %y2 %right\n%lv2 = OpIAdd %u32 %lv1 {u(3)}\n%xe = OpUGreaterThan %bool %lv2 {u(500)}\n"
           f"OpLoopControlINTEL 0\nOpBranchConditional %xe %after %right\nOpNoLine\n%right = OpLabel\n%y1 = OpPhi %u32 {a} %entry %lv2 %left\n%y2 = OpIMul %u32 %y1 {u(2)}\n%ye = OpUGreaterThan %bool %y2 {u(900)}\n"
           f"OpBranchConditional %ye %after %left 3 1\n%after = OpLabel\n%z = OpPhi %u32 %lv2 %left %y2 %right".replace("OpNoLine\n", ""))

    def walk(v):
        left = v < 20
        while True:
            v = v + 3 if left else (v * 2) & 0xffffffff
            if v > (500 if left else 900):
                return v
            left = not left
            if v == 0 and not left:
                continue
    c.out("u32", "%z", [walk(v) for v in A])
    # Blocks that nothing comes from.
    never = c.emit("OpUGreaterThan", "bool", a, u(1000))
    c.line(f"OpBranchConditional {never} %dead %alive\n%dead = OpLabel\nOpUnreachable\n%alive = OpLabel\nOpNoLine")
    c.line(f"OpAssumeTrueKHR {c.emit('OpULessThan', 'bool', a, u(64))}")
    c.out("u32", c.emit("OpExpectKHR", "u32", a, u(7)), A)
    c.line(f"%sum = OpIAdd %u32 {a} {u(1)}")
    c.out("u32", "%sum", [v + 1 for v in A])
    c.line("%memory = OpVariable %f_group Function")
    c.line(f"%place = OpInBoundsAccessChain %f_u32 %memory {u(0)}")
    c.line(f"OpStore %place {a} Aligned|AliasScopeINTELMask 4 %list")
    c.out("u32", c.emit("OpLoad", "u32", "%place", "Aligned|NoAliasINTELMask|Nontemporal", 4, "%list"), A)
    unknown = c.emit("OpUndef", "u32")
    c.out("u32", c.emit("OpSelect", "u32", never, unknown, c.emit("OpSelect", "u32", never, "%anything", a)), A)
    # Logic, also of vectors.
    yes, no = c.const("bool", True), c.const("bool", False)
    even = c.emit("OpIEqual", "bool", c.emit("OpBitwiseAnd", "u32", a, u(1)), u(0))
    E, S = [v % 2 == 0 for v in A], [v < 20 for v in A]
    for op, f in {"LogicalEqual": lambda p, q: p == q, "LogicalNotEqual": lambda p, q: p != q, "LogicalOr": lambda p, q: p or q, "LogicalAnd": lambda p, q: p and q}.items():
        c.boolean(c.emit("Op" + op, "bool", even, small), [f(p, q) for p, q in zip(E, S)])
        v = c.emit("Op" + op, "v3bool", c.emit("OpCompositeConstruct", "v3bool", even, yes, no), c.emit("OpCompositeConstruct", "v3bool", small, small, small))
        c.boolean(c.emit("OpCompositeExtract", "bool", v, 0), [f(p, q) for p, q in zip(E, S)])
        c.boolean(c.emit("OpCompositeExtract", "bool", v, 1), [f(True, q) for q in S])
    c.boolean(c.emit("OpLogicalNot", "bool", even), [not p for p in E])
    v = c.emit("OpLogicalNot", "v2bool", c.emit("OpCompositeConstruct", "v2bool", even, small))
    c.boolean(c.emit("OpCompositeExtract", "bool", v, 1), [not q for q in S])
    # Switches over 8 and 16 bits, a switch with no case.
    for bits in (8, 16):
        w = c.emit("OpUConvert", f"u{bits}", c.emit("OpISub", "u32", a, u(3)))
        names = [f"%w{bits}{k}" for k in range(3)]
        last = f"%alive{bits}" if bits == 16 else "%alive"
        c.line(f"OpSwitch {w} {names[2]} {-1 & ((1 << bits) - 1) if bits == 8 else 65535} {names[0]} 5 {names[1]} 6 {names[1]}\n{names[0]} = OpLabel\nOpBranch {names[2]}\n{names[1]} = OpLabel\nOpBranch {names[2]}\n{names[2]} = OpLabel\n"
               f"%r{bits} = OpPhi %u32 {u(10)} {names[0]} {u(20)} {names[1]} {u(1)} {last}\nOpSwitch {a} %alive{bits * 2}\n%alive{bits * 2} = OpLabel")
        c.out("u32", f"%r{bits}", [10 if v == 2 else 20 if v in (8, 9) else 1 for v in A])
    # Khronos' translator wrote a phi's pair once for each edge until July 2026: two cases that lead here, both ways of a branch.
    c.line(f"OpSwitch {a} %other 3 %joined 4 %joined\n%other = OpLabel\nOpBranch %joined\n%joined = OpLabel\n"
           f"%repeated = OpPhi %u32 {u(0)} %other {a} %alive32 {a} %alive32\nOpBranchConditional {small} %both %both\n%both = OpLabel\n%same = OpPhi %u32 %repeated %joined %repeated %joined")
    c.out("u32", "%repeated", [v if v in (3, 4) else 0 for v in A])
    c.out("u32", "%same", [v if v in (3, 4) else 0 for v in A])
    c.write()


def more_atomics_case():
    """Atomics of every type, in global and work-group memory, by generic addresses too."""
    c = Case("atomic64", 64)
    rng = range(64)
    c.capabilities |= {"AtomicFloat32AddEXT", "AtomicFloat64AddEXT", "AtomicFloat16AddEXT", "AtomicFloat16MinMaxEXT", "AtomicFloat32MinMaxEXT", "AtomicFloat64MinMaxEXT"}
    c.extra = 'OpExtension "SPV_EXT_shader_atomic_float_add"\nOpExtension "SPV_EXT_shader_atomic_float16_add"\nOpExtension "SPV_EXT_shader_atomic_float_min_max"\n'
    u = lambda v: c.const("u32", v)
    W = [random.getrandbits(62) for _ in rng]
    w = c.input("u64", W)
    S = [random.randrange(-60, 60) for _ in rng]
    s = c.input("u32", [v & 0xffffffff for v in S])
    values = {"u64": (w, W), "u32": (s, S)}
    wide = c.emit("OpSConvert", "u64", s)
    for bits in (16, 32, 64):
        values[f"f{bits}"] = c.emit("OpConvertSToF", f"f{bits}", s), S
    initial, want = {}, {}
    lines = []

    def slot(ty, start, end):
        """A word of global memory that begins with one value and must end with another."""
        at = len(initial.setdefault(ty, []))
        initial[ty].append(start)
        want.setdefault(ty, []).append(end)
        return c.emit("OpInBoundsAccessChain", f"p_{ty}", f"%memory_{ty}", u(at))
    scopes, orders = (1, 0, 2, 4), (0, 2, 4, 8, 16)

    def atomic(name, ty, start, end, value, generic=False):
        p = slot(ty, start, end)
        if generic:
            p = c.emit("OpPtrCastToGeneric", f"g_{ty}", p)
        k = len(lines)
        lines.append(None)
        # The thread's own scope is none that others see: only where all write the same.
        c.line(f"{c.fresh()} = OpAtomic{name} %{ty} {p} {u(scopes[k % 3])} {u(orders[k % 5])}" + (f" {value}" if value else ""))
    m64, m32 = (1 << 64) - 1, (1 << 32) - 1
    for generic in (False, True):
        start = 1 << 40
        atomic("IAdd", "u64", start, start + sum(W) & m64, w, generic)
        atomic("ISub", "u64", start, start - sum(W) & m64, w, generic)
        atomic("UMin", "u64", m64, min(W), w, generic)
        atomic("UMax", "u64", 0, max(W), w, generic)
        atomic("SMin", "u64", 5, min(S) & m64, wide, generic)
        atomic("SMax", "u64", -100 & m64, max(S), wide, generic)
        atomic("And", "u64", m64, __import__("functools").reduce(lambda p, q: p & q, W), w, generic)
        atomic("Or", "u64", 0, __import__("functools").reduce(lambda p, q: p | q, W), w, generic)
        atomic("Xor", "u64", 3, 3 ^ __import__("functools").reduce(lambda p, q: p ^ q, W), w, generic)
        atomic("IIncrement", "u64", 7, 71, None, generic)
        atomic("IDecrement", "u64", 7, 7 - 64 & m64, None, generic)
        atomic("SMin", "u32", 5, min(S) & m32, s, generic)
        atomic("And", "u32", m32, __import__("functools").reduce(lambda p, q: p & q, S) & m32, s, generic)
        atomic("IDecrement", "u32", 7, 7 - 64 & m32, None, generic)
        for ty in ("f16", "f32", "f64"):
            reg = values[ty][0]
            atomic("FAddEXT", ty, bits_of(ty, 0.5), bits_of(ty, 0.5 + sum(S)), reg, generic)
            atomic("FMinEXT", ty, bits_of(ty, math.inf), bits_of(ty, min(S)), reg, generic)
            atomic("FMaxEXT", ty, bits_of(ty, -math.inf), bits_of(ty, max(S)), reg, generic)
    # Exchanges: of a number, and of an address; the weak exchange is a strong one.
    p = slot("f64", bits_of("f64", 1.0), bits_of("f64", 2.5))
    c.line(f"{c.fresh()} = OpAtomicExchange %f64 {p} {u(1)} {u(8)} {c.const('f64', 2.5)}")
    p = slot("u64", 9, 10)
    old = c.emit("OpAtomicCompareExchangeWeak", "u64", p, u(1), u(8), u(2), c.const("u64", 10), c.const("u64", 9))
    won = c.emit("OpSelect", "u64", c.emit("OpIEqual", "bool", old, c.const("u64", 9)), c.const("u64", 1), c.const("u64", 0))
    atomic("IAdd", "u64", 0, 1, won)
    # A flag: one thread finds it clear; another stays clear.
    p = slot("u32", 0, 1)
    was = c.emit("OpAtomicFlagTestAndSet", "bool", p, u(1), u(8))
    atomic("IAdd", "u32", 0, 1, c.emit("OpSelect", "u32", was, u(0), u(1)))
    p = slot("u32", 1, 0)
    c.line(f"OpAtomicFlagClear {p} {u(1)} {u(4)}")
    # Small numbers are loaded and stored.
    p = c.emit("OpInBoundsPtrAccessChain", "l_u8", c.emit("OpBitcast", "l_u8", "%local"), "%lid")
    c.shared = 64 * 4
    c.line(f"OpAtomicStore {p} {u(2)} {u(4)} {c.emit('OpUConvert', 'u8', s)}")
    c.out("u8", c.emit("OpAtomicLoad", "u8", p, u(2), u(2)), S)
    q = c.emit("OpInBoundsPtrAccessChain", "l_u16", c.emit("OpBitcast", "l_u16", "%local"), c.emit("OpIAdd", "u64", "%lid", c.const("u64", 64)))
    c.line(f"OpAtomicStore {q} {u(4)} {u(0)} {c.emit('OpUConvert', 'u16', s)}")
    c.out("u16", c.emit("OpAtomicLoad", "u16", q, u(4), u(0)), S)
    c.line(f"OpMemoryBarrier {u(1)} {u(0x210)}\nOpControlBarrier {u(2)} {u(1)} {u(0x210)}")
    for ty, starts in initial.items():
        parts = []
        for v in starts:
            parts.append(c.const(ty, v) if ty[0] == "u" else c.const(ty, float(np.frombuffer(v.to_bytes(int(ty[1:]) // 8, "little"), NP[ty])[0])) if v not in (bits_of(ty, math.inf), bits_of(ty, -math.inf)) else
                         c.const(ty, float(np.finfo(NP[ty]).max) * (1 if v == bits_of(ty, math.inf) else -1)))
        c.globals += (f"%many_{ty} = OpTypeArray %{ty} {c.const('u32', len(starts))}\n%x_{ty} = OpTypePointer CrossWorkgroup %many_{ty}\n%start_{ty} = OpConstantComposite %many_{ty} {' '.join(parts)}\n"
                      f"%memory_{ty} = OpVariable %x_{ty} CrossWorkgroup %start_{ty}\n")
        for at, end in enumerate(want[ty]):
            p = c.emit("OpInBoundsAccessChain", f"p_{ty}", f"%memory_{ty}", u(at))
            if ty == "f16":
                c.out("u16", c.emit("OpBitcast", "u16", c.emit("OpLoad", "f16", p, "Volatile|Aligned", 2)), [end] * 64)
            else:
                size = int(ty[1:])
                out = c.emit("OpAtomicLoad", ty, p, u(1), u(2))
                c.out(f"u{size}", out if ty[0] == "u" else c.emit("OpBitcast", f"u{size}", out), [end] * 64)
    c.write()


def products_case():
    """Products of counters, which loops carry as sums: any start and step, no round at all, sums before and behind a product, of two
    counters, one below the other; all modulo 2^64."""
    c = Case("products")
    c.environment = "spv1.4"
    rng = list(THREADS)
    M = (1 << 64) - 1
    A, B, S = ([random.getrandbits(64) for _ in rng] for _ in range(3))
    N = [k % 7 for k in rng]
    a, b, s, n = (c.input("u64", values) for values in (A, B, S, N))
    u = lambda v: c.const("u64", v)
    zero, one, prime = u(0), u(1), u(1099511628211)
    c.line(f"""%base = OpIMul %u64 {a} {b}
OpBranch %head
%head = OpLabel
%i = OpPhi %u64 {zero} %entry %inext %join
%hash = OpPhi %u64 {a} %entry %hnext %join
%inside = OpULessThan %bool %i {n}
OpBranchConditional %inside %body %between
%body = OpLabel
%iproduct = OpIMul %u64 {s} %i
%iplace = OpIAdd %u64 %iproduct %base
%odd = OpBitwiseAnd %u64 %iplace {one}
%isodd = OpIEqual %bool %odd {one}
OpBranchConditional %isodd %guarded %join
%guarded = OpLabel
%mixed = OpIMul %u64 %hash {prime}
%hguarded = OpIAdd %u64 %mixed %iplace
OpBranch %join
%join = OpLabel
%hnext = OpPhi %u64 %hguarded %guarded %hash %body
%inext = OpIAdd %u64 %i {one}
OpBranch %head
%between = OpLabel
%last = OpIAdd %u64 {n} {a}
OpBranch %rows
%rows = OpLabel
%r = OpPhi %u64 {b} %between %rnext %rowend
%count = OpPhi %u64 {zero} %between %cnext %rowend
%rhash = OpPhi %u64 %hash %between %rlast %rowend
%rshifted = OpIAdd %u64 %r {a}
%rproduct = OpIMul %u64 %rshifted {s}
%rmoved = OpIAdd %u64 {a} %rproduct
%ragain = OpIMul %u64 {b} %rmoved
OpBranch %columns
%columns = OpLabel
%col = OpPhi %u64 %colnext %columns {a} %rows
%chash = OpPhi %u64 %cmixed %columns %rhash %rows
%kproduct = OpIMul %u64 %col %rproduct
%ktwice = OpIMul %u64 %kproduct {b}
%kboth = OpIAdd %u64 %kproduct %ktwice
%cspread = OpIMul %u64 %chash {prime}
%cmixed = OpIAdd %u64 %cspread %kboth
%colnext = OpIAdd %u64 {one} %col
%colmore = OpULessThan %bool %colnext %last
OpBranchConditional %colmore %columns %rowend
%rowend = OpLabel
%rlast = OpBitwiseXor %u64 %cmixed %ragain
%rnext = OpIAdd %u64 %r {s}
%cnext = OpIAdd %u64 %count {one}
%rmore = OpULessThan %bool %cnext {n}
OpBranchConditional %rmore %rows %after
%after = OpLabel""")

    def walk(a, b, s, n):
        first = a
        for i in range(n):
            place = s * i + a * b & M
            first = first * 1099511628211 + place & M if place & 1 else first
        second, r, rows = first, b, 0
        while True:
            product, k = (r + a) * s & M, a
            while True:
                second = second * 1099511628211 + k * product + k * product * b & M
                k = k + 1 & M
                if not k < (n + a & M):
                    break
            second ^= (product + a) * b & M
            r, rows = r + s & M, rows + 1
            if not rows < n:
                return first, second
    both = [walk(*values) for values in zip(A, B, S, N)]
    c.out("u64", "%hash", [first for first, _ in both])
    c.out("u64", "%rlast", [second for _, second in both])
    c.write()


def walk_case():
    """Generic addresses that a loop steps, made of an address whose source no compiler sees: a binary search, as dpnp's histogramdd has it,
    and a loop that takes a value from memory or the thread's own, as its cumprod of complex numbers has it."""
    c = Case("walk")
    TABLE = sorted(random.randrange(0, 60) for _ in THREADS)
    V = [random.randrange(-2, 64) for _ in THREADS]
    c.input("f32", TABLE)
    v = c.input("f32", V)
    u, long = lambda v: c.const("u32", v), lambda v: c.const("u64", v)
    c.globals += "%f_address = OpTypePointer Function %p_f32\n"
    c.line("%slot = OpVariable %f_address Function")
    c.line("OpStore %slot %in0 Volatile|Aligned 8")
    table = c.emit("OpLoad", "p_f32", "%slot", "Volatile|Aligned", 8)
    generic = c.emit("OpPtrCastToGeneric", "g_f32", table)
    c.line("OpBranch %head\n%head = OpLabel")
    c.line(f"%left = OpPhi %u64 {long(32)} %entry %left2 %body\n%at = OpPhi %g_f32 {generic} %entry %at2 %body")
    c.line(f"%more = OpSGreaterThan %bool %left {long(0)}\nOpBranchConditional %more %body %found\n%body = OpLabel")
    half = c.emit("OpShiftRightLogical", "u64", "%left", long(1))
    middle = c.emit("OpInBoundsPtrAccessChain", "g_f32", "%at", half)
    above = c.emit("OpFOrdLessThan", "bool", v, c.emit("OpLoad", "f32", middle, "Aligned", 4))
    behind = c.emit("OpInBoundsPtrAccessChain", "g_f32", middle, long(1))
    rest = c.emit("OpISub", "u64", c.emit("OpISub", "u64", "%left", half), long(1))
    c.line(f"%left2 = OpSelect %u64 {above} {half} {rest}\n%at2 = OpSelect %g_f32 {above} %at {behind}\nOpBranch %head\n%found = OpLabel")
    bytes_ = c.emit("OpISub", "u64", c.emit("OpConvertPtrToU", "u64", "%at"), c.emit("OpConvertPtrToU", "u64", generic))
    c.out("u64", c.emit("OpShiftRightLogical", "u64", bytes_, long(2)), [sum(t <= x for t in TABLE) for x in V])

    c.line("%own = OpVariable %f_f32 Function")
    c.line(f"OpStore %own {v} Aligned 4")
    own = c.emit("OpPtrCastToGeneric", "g_f32", "%own")
    first = c.fresh()
    c.line(f"{first} = OpInBoundsPtrAccessChain %p_f32 {table} %lid\nOpBranch %turn\n%turn = OpLabel")
    c.line(f"%i = OpPhi %u32 {u(0)} %found %i2 %again\n%sum = OpPhi %f32 {c.const('f32', 0)} %found %sum2 %again")
    c.line(f"%inside = OpULessThan %bool %i {u(4)}\nOpBranchConditional %inside %again %done\n%again = OpLabel")
    place = c.emit("OpUConvert", "u64", "%i")
    before = c.emit("OpPtrAccessChain", "p_f32", c.emit("OpPtrAccessChain", "p_f32", first, place), c.const("u64", (1 << 64) - 3))
    index = c.emit("OpIAdd", "u64", "%lid", place)
    there = c.emit("OpLogicalAnd", "bool", c.emit("OpUGreaterThanEqual", "bool", index, long(3)), c.emit("OpULessThan", "bool", index, long(20)))
    chosen = c.emit("OpSelect", "g_f32", there, c.emit("OpPtrCastToGeneric", "g_f32", before), own)
    c.line(f"%sum2 = OpFAdd %f32 %sum {c.emit('OpLoad', 'f32', chosen, 'Aligned', 4)}\n%i2 = OpIAdd %u32 %i {u(1)}\nOpBranch %turn\n%done = OpLabel")
    c.out("f32", "%sum", [sum(TABLE[k + i - 3] if 3 <= k + i < 20 else V[k] for i in range(4)) for k in THREADS])
    c.write()


def late_case():
    """Divisions that one later block needs: behind a condition, below another one, made of a late one, behind a loop; and in a loop's turn."""
    c = Case("late")
    rng = list(THREADS)
    M = (1 << 64) - 1
    A, S = ([random.getrandbits(64) for _ in rng] for _ in range(2))
    B = [random.getrandbits(8 + 7 * (k % 8)) | 1 for k in rng]
    a, b, s, k = c.input("u64", A), c.input("u64", B), c.input("u64", S), c.input("u64", rng)
    u = lambda v: c.const("u64", v)
    zero, one, two, prime = u(0), u(1), u(2), u(1099511628211)
    c.line(f"""%quotient = OpUDiv %u64 {a} {b}
%rest = OpSRem %u64 {s} {b}
%whole = OpSDiv %u64 {s} {b}
%other = OpUMod %u64 {s} {b}
%bit = OpBitwiseAnd %u64 {k} {one}
%isodd = OpIEqual %bool %bit {one}
OpBranchConditional %isodd %guarded %head
%guarded = OpLabel
%again = OpSMod %u64 %quotient {b}
%more = OpIAdd %u64 %whole {prime}
%bit2 = OpBitwiseAnd %u64 {k} {two}
%deep = OpIEqual %bool %bit2 {two}
OpBranchConditional %deep %deeper %head
%deeper = OpLabel
%sum = OpIAdd %u64 %again %more
OpBranch %head
%head = OpLabel
%i = OpPhi %u64 {zero} %entry {zero} %guarded {zero} %deeper %next %turn
%hash = OpPhi %u64 {a} %entry %more %guarded %sum %deeper %mixed %turn
%inside = OpULessThan %bool %i %bit
OpBranchConditional %inside %turn %behind
%turn = OpLabel
%spread = OpIMul %u64 %hash {prime}
%inturn = OpUDiv %u64 %spread {b}
%mixed = OpIAdd %u64 %inturn %other
%next = OpIAdd %u64 %i {one}
OpBranch %head
%behind = OpLabel
%last = OpIAdd %u64 %hash %rest""")

    def follow(a, b, s, k):
        # Signed numbers are divided towards zero; a remainder has the sign of what was divided, a modulus that of the divisor.
        whole = tdiv(signed(s, 64), signed(b, 64))
        hash_ = a
        if k & 1:
            hash_ = whole + 1099511628211 & M
            if k & 2:
                hash_ = hash_ + signed(a // b, 64) % signed(b, 64) & M
            hash_ = (hash_ * 1099511628211 & M) // b + s % b & M
        return hash_ + signed(s, 64) - signed(b, 64) * whole & M
    c.out("u64", "%last", [follow(*values) for values in zip(A, B, S, rng)])
    c.write()


def by_value_case():
    """A structure by value to a function that changes its own, which is not inlined and calls itself with that."""
    c = Case("byvalue")
    A = numbers(32)
    a = c.input("u32", A)
    zero, one, four, two = (c.const("u32", value) for value in (0, 1, 4, 2))
    c.decorations = "OpDecorate %fs FuncParamAttr ByVal\nOpDecorate %fs Alignment 4\n"
    c.globals = f"%arr = OpTypeArray %u32 {four}\n%st = OpTypeStruct %arr\n%f_st = OpTypePointer Function %st\n"
    c.functions = f"""%ft = OpTypeFunction %u32 %f_st %u32
%f = OpFunction %u32 DontInline %ft
%fs = OpFunctionParameter %f_st
%fn = OpFunctionParameter %u32
%fl = OpLabel
%fp = OpInBoundsPtrAccessChain %f_u32 %fs {zero} {zero} {zero}
%fo = OpLoad %u32 %fp Aligned 4
%fi = OpIAdd %u32 %fo {one}
OpStore %fp %fi Aligned 4
%fz = OpIEqual %bool %fn {zero}
OpBranchConditional %fz %fe %fr
%fr = OpLabel
%fm = OpISub %u32 %fn {one}
%fc = OpFunctionCall %u32 %f %fs %fm
OpBranch %fe
%fe = OpLabel
%fx = OpPhi %u32 {zero} %fl %fc %fr
%fl2 = OpLoad %u32 %fp Aligned 4
%fsum = OpIAdd %u32 %fx %fl2
OpReturnValue %fsum
OpFunctionEnd
"""
    c.line("%own = OpVariable %f_st Function")
    at = c.emit("OpInBoundsPtrAccessChain", "f_u32", "%own", zero, zero, zero)
    c.line(f"OpStore {at} {a} Aligned 4")
    sum_ = c.emit("OpFunctionCall", "u32", "%f", "%own", two)
    c.out("u32", sum_, [(v + 1) + (v + 2) + (v + 3) & 0xffffffff for v in A])
    c.out("u32", c.emit("OpLoad", "u32", at, "Aligned", 4), A)
    c.write()


def wrapped_case():
    """A kernel and a function of one name, in this module and in the one beside it, whose function is called from here."""
    c = Case("wrapped")
    c.wrapped = True
    c.beside = "adder"
    A = numbers(32)
    a = c.input("u32", A)
    c.decorations = 'OpDecorate %add LinkageAttributes "add" Import\n'
    c.functions = """%add_type = OpTypeFunction %void %p_u32 %u32
%add = OpFunction %void None %add_type
%add_to = OpFunctionParameter %p_u32
%add_value = OpFunctionParameter %u32
OpFunctionEnd
"""
    c.out("u32", a, A)
    at = c.emit("OpInBoundsPtrAccessChain", "p_u32", "%in0", "%gid")
    c.emit("OpFunctionCall", "void", "%add", at, c.const("u32", 5))
    c.out("u32", c.emit("OpLoad", "u32", at, "Aligned", 4), [v + 5 & 0xffffffff for v in A])
    c.write()


def copies_case():
    """Copies whose target and source have a mask each: what one says of its alignment says nothing of the other's."""
    c = Case("copies")
    c.environment = "spv1.4"
    A = numbers(32)
    c.input("u32", A)
    u = lambda v: c.const("u64", v)
    at = c.emit("OpBitwiseAnd", "u64", "%gid", u(15))
    at = c.emit("OpIAdd", "u64", c.emit("OpIMul", "u64", at, u(4)), u(1))
    bytes_ = c.emit("OpInBoundsPtrAccessChain", "p_u8", c.emit("OpBitcast", "p_u8", "%in0"), at)
    content = struct.pack("<32I", *A)
    found = lambda k, index: struct.unpack_from("<I", content, 1 + 4 * (k & 15) + 4 * index)[0]
    c.line("%one = OpVariable %f_u32 Function")
    c.line(f"OpCopyMemory %one {c.emit('OpBitcast', 'p_u32', bytes_)} None Aligned 1")
    c.out("u32", c.emit("OpLoad", "u32", "%one", "Aligned", 4), [found(k, 0) for k in THREADS])
    c.line("%four = OpVariable %f_v4u32 Function")
    c.globals = "%f_v4u32 = OpTypePointer Function %v4u32\n"
    c.line(f"OpCopyMemorySized %four {bytes_} {u(16)} Aligned 16 None")
    whole = c.emit("OpLoad", "v4u32", "%four", "Aligned", 16)
    for index in range(4):
        c.out("u32", c.emit("OpCompositeExtract", "u32", whole, index), [found(k, index) for k in THREADS])
    c.write()


def spread(F, large):
    """Vectors of three elements whose squares are too large or too small for their type, and others of any size."""
    info = np.finfo(F)
    most, tiny, least = float(info.max), float(info.tiny), float(info.smallest_subnormal)
    rows = [(3 * large, 4 * large, 0), (most / 2, -most / 2, most / 2), (most, most, most), (most, 1, least), (most, 0, 0), (least, 0, 0), (3 * least, 4 * least, 0),
            (-least, least, -least), (tiny, -tiny, 0), (0, 1e-4, 0), (0, 0, 0), (-0.0, -0.0, -0.0), (math.inf, 1, 0), (3, -4, 12), (1, 1, 1), (0, 0, -2),
            (-1, -math.inf, -0.0), (-math.inf, math.inf, -most), (math.inf, math.nan, 1), (1, math.nan, 2)]
    top, bottom = math.frexp(most)[1] - 1, math.frexp(least)[1] + 3
    for _ in range(32 - len(rows)):
        exponent = random.randrange(bottom, top)
        rows.append(tuple(random.uniform(-1, 1) * 2.0 ** exponent for _ in range(3)))
    return [[F(row[at]) for row in rows] for at in range(3)]


def geometry_case():
    """Lengths and directions, where the sum of the squares has no room in the type."""
    c = Case("geometry")
    root = lambda *vs: mpmath.sqrt(sum(v * v for v in vs))

    def directed(row):
        """What OpenCL's normalize proceeds with where elements are infinite."""
        if not any(np.isinf(v) for v in row):
            return row
        return [np.copysign(type(v)(1), v) if np.isinf(v) else v * type(v)(0) for v in row]

    def unit_of(F, row, at):
        row = directed(row)
        if not any(row) or row[at] == 0 and not any(np.isnan(v) for v in row):
            return row[at]
        return near(F, lambda *vs: vs[at] / root(*vs), *row)
    for ty, large, ulps in (("f16", 100, (1, 1, 1)), ("f32", 1e20, (2, 3, 3)), ("f64", 1e200, (2, 3, 3))):
        F = NP[ty]
        with np.errstate(all="ignore"):
            X, Y, Z = spread(F, large)
            x, y, z = (c.input(ty, values) for values in (X, Y, Z))
            for parts, values in (((x,), (X,)), ((x, y), (X, Y)), ((x, y, z), (X, Y, Z)), ((x, y, z, x), (X, Y, Z, X))):
                count = len(parts)
                vector = ty if count == 1 else f"v{count}{ty}"
                v = x if count == 1 else c.emit("OpCompositeConstruct", vector, *parts)
                rows = list(zip(*values))
                c.out(ty, c.ext(ty, "length", v), [near(F, root, *row) for row in rows], ulps[0])
                turned = v if count == 1 else c.emit("OpVectorShuffle", vector, v, v, *range(1, count), 0)
                apart = [[mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(row, row[1:] + row[:1])] for row in rows]
                c.out(ty, c.ext(ty, "distance", v, turned), [near(F, root, *row) for row in apart], ulps[1])
                unit = c.ext(vector, "normalize", v)
                for at in range(count):
                    part = unit if count == 1 else c.emit("OpCompositeExtract", ty, unit, at)
                    c.out(ty, part, [unit_of(F, row, at) for row in rows], ulps[2])
    c.write()


def flushed_case():
    """Subnormal numbers of 32 bits in a kernel that wants them flushed: what the compiler rounds, and what says itself how it is rounded."""
    c = Case("flushed")
    c.capabilities = {"DenormFlushToZero"}
    c.extra = 'OpExtension "SPV_KHR_float_controls"\n'
    c.modes = "OpExecutionMode %k DenormFlushToZero 32\n"
    tiny = 2.0 ** -126
    A = [np.float32(value) for value in [tiny * 1.5, tiny * 3, tiny / 4, 1.0] * 8]
    B = [np.float32(value) for value in [-tiny, 0.25, tiny, 2.0] * 8]
    W = [np.float64(value) for value in [tiny / 2, -tiny / 2, tiny * 2, 1.5] * 8]
    a, b, w = c.input("f32", A), c.input("f32", B), c.input("f64", W)
    # Of the operands and of the result.
    flush = lambda value: np.float32(math.copysign(0.0, value)) if abs(value) < tiny else np.float32(value)
    total = lambda v, u: flush(float(flush(v)) + float(flush(u)))
    for op, f in (("OpFAdd", total), ("OpFSub", lambda v, u: total(v, -u)), ("OpFMul", lambda v, u: flush(float(flush(v)) * float(flush(u))))):
        for decorated in (False, True):
            r = c.emit(op, "f32", a, b)
            c.decorations += f"OpDecorate {r} NoContraction\n" * decorated
            c.out("f32", r, [f(*row) for row in zip(A, B)])
    r = c.emit("OpFConvert", "f32", w)
    c.decorations += f"OpDecorate {r} FPRoundingMode RTZ\n"
    c.out("f32", r, [flush(value) for value in W])
    r = c.emit("OpFConvert", "f16", c.emit("OpFMul", "f32", a, c.const("f32", 0.5)))
    c.decorations += f"OpDecorate {r} FPRoundingMode RTP\n"
    up = lambda value: np.float16(0) if value == 0 else np.float16(2.0 ** -24) if value < 2.0 ** -24 else np.float16(value)
    c.out("f16", r, [up(flush(float(flush(v)) * 0.5)) for v in A])
    c.write()


def elements_case():
    """Built-in variables of class CrossWorkgroup whose elements are loaded by address, as Khronos' translator wrote them up to LLVM 14."""
    c = Case("elements")
    c.globals = "%p_v3u64 = OpTypePointer CrossWorkgroup %v3u64\n"
    for name, builtin in (("at", "GlobalInvocationId"), ("offset", "GlobalOffset")):
        c.globals += f"%{name} = OpVariable %p_v3u64 CrossWorkgroup\n"
        c.decorations += f'OpDecorate %{name} LinkageAttributes "__spirv_BuiltIn{builtin}" Import\nOpDecorate %{name} Constant\nOpDecorate %{name} BuiltIn {builtin}\n'
    zero, one = c.const("u32", 0), c.const("u64", 1)
    load = lambda op, *operands: c.emit("OpLoad", "u64", c.emit(op, "p_u64", *operands), "Aligned", 32)
    at = load("OpInBoundsPtrAccessChain", "%at", zero, zero)
    c.out("u64", c.emit("OpISub", "u64", at, load("OpAccessChain", "%offset", zero)), THREADS)
    # Which element is known when the kernel runs.
    c.out("u64", load("OpPtrAccessChain", "%at", zero, c.emit("OpBitwiseAnd", "u64", "%gid", one)), [0 if k & 1 else k for k in THREADS])
    c.write()


if __name__ == "__main__":
    constant_case()
    address_case()
    flow_case()
    more_atomics_case()
    products_case()
    walk_case()
    late_case()
    by_value_case()
    wrapped_case()
    copies_case()
    geometry_case()
    flushed_case()
    elements_case()
