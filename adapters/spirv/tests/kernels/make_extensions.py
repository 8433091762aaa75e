#!/usr/bin/env python3
"""Kernels of extensions, of memory in half precision, of contraction, of approximations and of imports. make.py says how they are
written. Run after a change: make_extensions.py."""
import math
import random

import mpmath
import numpy as np

from make import NP, Case, clamp, integers, near, signed
from make_rest import bits_of, numbers, text_constant

random.seed(17)
THREADS = range(32)


def intel_case():
    """Integer functions, dot products, bfloat16, fences of arithmetic."""
    c = Case("intel")
    c.extra = 'OpExtension "SPV_INTEL_shader_integer_functions2"\nOpExtension "SPV_KHR_integer_dot_product"\n'
    c.capabilities |= {"IntegerFunctions2INTEL", "DotProduct", "DotProductInputAll", "DotProductInput4x8Bit", "DotProductInput4x8BitPacked"}
    for n in (8, 16, 32, 64):
        ty, m = f"u{n}", (1 << n) - 1
        A, B = integers(n), integers(n)
        random.shuffle(B)
        a, b = c.input(ty, A), c.input(ty, B)
        sg = lambda v: signed(v, n)
        lo, hi = -(1 << (n - 1)), (1 << (n - 1)) - 1
        for name, f in {"AbsISub": lambda p, q: abs(sg(p) - sg(q)), "AbsUSub": lambda p, q: abs(p - q), "IAddSat": lambda p, q: clamp(sg(p) + sg(q), lo, hi), "UAddSat": lambda p, q: min(p + q, m),
                        "IAverage": lambda p, q: (sg(p) + sg(q)) >> 1, "UAverage": lambda p, q: (p + q) >> 1, "IAverageRounded": lambda p, q: (sg(p) + sg(q) + 1) >> 1,
                        "UAverageRounded": lambda p, q: (p + q + 1) >> 1, "ISubSat": lambda p, q: clamp(sg(p) - sg(q), lo, hi), "USubSat": lambda p, q: max(p - q, 0)}.items():
            c.out(ty, c.emit(f"Op{name}INTEL", ty, a, b), [f(p, q) for p, q in zip(A, B)])
        c.out(ty, c.emit("OpUCountLeadingZerosINTEL", ty, a), [n - v.bit_length() for v in A])
        c.out(ty, c.emit("OpUCountTrailingZerosINTEL", ty, a), [n if v == 0 else (v & -v).bit_length() - 1 for v in A])
        # Bits of small numbers too; make.py has those of 32 and 64.
        if n < 32:
            c.out(ty, c.emit("OpBitReverse", ty, a), [int(format(v, f"0{n}b")[::-1], 2) for v in A])
            off, cnt = c.const("u32", 2), c.const("u32", 5)
            c.out(ty, c.emit("OpBitFieldInsert", ty, a, b, off, cnt), [p & ~(31 << 2) | (q & 31) << 2 for p, q in zip(A, B)])
            c.out(ty, c.emit("OpBitFieldUExtract", ty, a, off, cnt), [v >> 2 & 31 for v in A])
            c.out(ty, c.emit("OpBitFieldSExtract", ty, a, off, cnt), [signed(v >> 2, 5) for v in A])
            up = c.emit("OpUConvert", f"u{2 * n}", a)
            c.out(f"u{2 * n}", c.ext(f"u{2 * n}", "u_upsample", a, b), [p << n | q for p, q in zip(A, B)])
            c.out(f"u{2 * n}", c.ext(f"u{2 * n}", "s_upsample", a, b), [p << n | q for p, q in zip(A, B)])
            c.out(f"u{2 * n}", up, A)
    # Dot products of packed bytes and of vectors.
    A, B, C = integers(32), numbers(32), integers(32)
    a, b, x = c.input("u32", A), c.input("u32", B), c.input("u32", C)
    byte = lambda v, at, s: signed(v >> 8 * at, 8) if s else v >> 8 * at & 255
    dot = lambda p, q, s, t: sum(byte(p, k, s) * byte(q, k, t) for k in range(4))
    for name, s, t in (("S", 1, 1), ("U", 0, 0), ("SU", 1, 0)):
        c.out("u32", c.emit(f"Op{name}DotKHR", "u32", a, b, "PackedVectorFormat4x8BitKHR"), [dot(p, q, s, t) for p, q in zip(A, B)])
        lo, hi = (-(1 << 31), (1 << 31) - 1) if s else (0, (1 << 32) - 1)
        c.out("u32", c.emit(f"Op{name}DotAccSatKHR", "u32", a, b, x, "PackedVectorFormat4x8BitKHR"),
              [clamp(dot(p, q, s, t) + (signed(r, 32) if s else r), lo, hi) for p, q, r in zip(A, B, C)])
    v, w = c.emit("OpBitcast", "v4u8", a), c.emit("OpBitcast", "v4u8", b)
    c.out("u32", c.emit("OpSDotKHR", "u32", v, w), [dot(p, q, 1, 1) for p, q in zip(A, B)])
    v, w = c.emit("OpBitcast", "v2u16", a), c.emit("OpBitcast", "v2u16", b)
    c.out("u64", c.emit("OpUDotKHR", "u64", v, w), [(p & 0xffff) * (q & 0xffff) + (p >> 16) * (q >> 16) for p, q in zip(A, B)])
    # bfloat16: the assembler does not know the instructions, so their first words stand here.
    special = [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 1.00390625, 1.01171875, 3.4e38, 1e-40]
    F = [np.float32(v) for v in (special + [random.uniform(-100, 100) for _ in THREADS])[:32]]
    f = c.input("f32", F)

    def bfloat(v):
        raw = bits_of("f32", v)
        return raw >> 16 | 64 if v != v else raw + 0x7fff + (raw >> 16 & 1) >> 16
    r = c.fresh()
    c.line(f"!{4 << 16 | 6116} %u16 {r} {f}")
    c.out("u16", r, [bfloat(v) for v in F])
    back = c.fresh()
    c.line(f"!{4 << 16 | 6117} %f32 {back} {r}")
    c.out("u32", c.emit("OpBitcast", "u32", back), [bfloat(v) << 16 for v in F])
    # A product behind a fence is rounded before anything is added.
    for ty in ("f16", "f32", "f64"):
        X, Y, Z = ([NP[ty](random.uniform(0.5, 2)) for _ in THREADS] for _ in range(3))
        x, y, z = (c.input(ty, values) for values in (X, Y, Z))
        r = c.fresh()
        c.line(f"!{4 << 16 | 6145} %{ty} {r} {c.emit('OpFMul', ty, x, y)}")
        c.out(ty, c.emit("OpFAdd", ty, r, z), [NP[ty](NP[ty](p * q) + s) for p, q, s in zip(X, Y, Z)])
    c.write()


def contraction_case():
    """Products and sums that must stay two operations: by the kernel's mode, and one by one."""
    for name, mode in (("contraction", "OpExecutionMode %k ContractionOff\n"), ("uncontracted", "")):
        c = Case(name)
        c.modes = mode
        for ty in ("f16", "f32", "f64"):
            F = NP[ty]
            X, Y, Z = ([F(random.uniform(0.5, 2)) for _ in THREADS] for _ in range(3))
            Z = [F(-p * q) if k % 2 else z for k, (p, q, z) in enumerate(zip(X, Y, Z))]
            x, y, z = (c.input(ty, values) for values in (X, Y, Z))
            for op, f in (("OpFAdd", lambda p, r: p + r), ("OpFSub", lambda p, r: p - r)):
                product = c.emit("OpFMul", ty, x, y)
                total = c.emit(op, ty, product, z)
                if not mode:
                    c.decorations += f"OpDecorate {product} NoContraction\nOpDecorate {total} NoContraction\n"
                c.out(ty, total, [F(f(F(p * q), r)) for p, q, r in zip(X, Y, Z)])
        c.write()


def half_memory_case():
    """Numbers of half precision in memory, vectors of every length there, and a few words that print."""
    c = Case("halfmemory")
    values = [np.float32(random.uniform(-60, 60)) for _ in THREADS]
    f = c.input("f32", values)
    d = c.emit("OpFConvert", "f64", f)
    zero, one = c.const("u64", 0), c.const("u64", 1)
    c.globals += f"%room = OpTypeArray %f16 {c.const('u32', 64)}\n%f_room = OpTypePointer Function %room\n"
    c.line("%memory = OpVariable %f_room Function")
    start = c.emit("OpInBoundsAccessChain", "f_f16", "%memory", c.const("u32", 0))

    def rounded(v, mode):
        n = np.float16(v)
        if mode == "RTE" or float(n) == float(v):
            return n
        down = n if float(n) < v else np.nextafter(n, np.float16(-np.inf))
        up = n if float(n) > v else np.nextafter(n, np.float16(np.inf))
        return {"RTP": up, "RTN": down, "RTZ": down if v > 0 else up}[mode]

    def element(at):
        p = c.emit("OpInBoundsPtrAccessChain", "f_f16", start, c.const("u64", at))
        return c.emit("OpLoad", "f16", p, "Aligned", 2)
    c.line(f"{c.fresh()} = OpExtInst %void %cl vstore_half {d} {one} {start}")
    c.out("f16", element(1), [rounded(v, "RTE") for v in values])
    for n in (2, 3, 4, 8, 16):
        ty = f"v{n if n < 10 else 'x'}f32"
        parts = [c.emit("OpFAdd", "f32", f, c.const("f32", float(k) / 8)) for k in range(n)]
        v = c.emit("OpCompositeConstruct", ty, *parts)
        want = lambda k, mode: [rounded(np.float32(x + np.float32(k / 8)), mode) for x in values]
        for name, mode, stride in (("vstore_halfn", "RTE", n), ("vstorea_halfn", "RTE", 4 if n == 3 else n), ("vstore_halfn_r", "RTZ", n), ("vstorea_halfn_r", "RTP", 4 if n == 3 else n)):
            c.line(f"{c.fresh()} = OpExtInst %void %cl {name} {v} {one} {start}" + (f" {mode}" if name.endswith("_r") else ""))
            c.out("f16", element(stride + n - 1), want(n - 1, mode))
            load = c.ext(ty, "vloada_halfn" if "a_" in name else "vload_halfn", one, start, n)
            c.out("f32", c.emit("OpCompositeExtract", "f32", load, n - 2), [np.float32(x) for x in want(n - 2, mode)])
    # Vectors as wide as their loads and stores: every length, by elements of each size.
    for ty in ("u8", "u16", "u64", "f32"):
        for n in (2, 3, 4, 8, 16):
            full = f"v{n if n < 10 else 'x'}{ty}"
            c.globals += f"%two_{full} = OpTypeArray %{full} {c.const('u32', 2)}\n%f_two_{full} = OpTypePointer Function %two_{full}\n%f_{full} = OpTypePointer Function %{full}\n"
            name = f"%m_{full}"
            c.line(f"{name} = OpVariable %f_two_{full} Function")
            source = c.emit("OpConvertFToU", "u64", c.ext("f32", "fabs", f))
            element_ = source if ty == "u64" else c.emit("OpConvertUToF", "f32", source) if ty == "f32" else c.emit("OpUConvert", ty, source)
            v = c.emit("OpCompositeConstruct", full, *[element_ if k % 2 else c.const(ty, k + 1 if ty != "f32" else float(k + 1)) for k in range(n)])
            size = {"u8": 1, "u16": 2, "u64": 8, "f32": 4}[ty]
            p = c.emit("OpInBoundsAccessChain", f"f_{full}", name, c.const("u32", 1))
            c.line(f"OpStore {p} {v} Aligned {size * (4 if n == 3 else n)}")
            q = c.emit("OpBitcast", f"f_{ty}", name)
            q = c.emit("OpInBoundsPtrAccessChain", f"f_{ty}", q, c.const("u64", (4 if n == 3 else n) + 1))
            whole = [int(abs(v)) for v in values]
            c.out(ty, c.emit("OpLoad", ty, q, "Aligned", size), whole)
            r = c.emit("OpLoad", full, p, "Aligned", size * (4 if n == 3 else n))
            c.out(ty, c.emit("OpCompositeExtract", ty, r, n - 1), [n] * 32 if n % 2 else whole)
    text_constant(c, "format", "%v2hlf %s %d\n")
    text_constant(c, "word", "word")
    c.globals += "%k_u8 = OpTypePointer UniformConstant %u8\n"
    text, word = (c.emit("OpInBoundsAccessChain", "k_u8", name, c.const("u32", 0)) for name in ("%format", "%word"))
    pair = c.emit("OpCompositeConstruct", "v2f32", c.const("f32", 0.5), c.const("f32", 2.0))
    c.line(f"%first = OpIEqual %bool %lid32 {c.const('u32', 0)}\nOpSelectionMerge %joined None\nOpBranchConditional %first %prints %joined\n%prints = OpLabel")
    printed = c.ext("u32", "printf", text, pair, word, c.const("u32", 7))
    c.line(f"OpBranch %joined\n%joined = OpLabel\n%status = OpPhi %u32 {printed} %prints {c.const('u32', 5)} %entry")
    c.out("u32", "%status", [0] + [5] * 31)
    c.line(f"{c.fresh()} = OpExtInst %void %cl prefetch %in0 {one}")
    c.write()


def approximation_case():
    """half_ and native_ functions, fast geometry, and numbers that are none. half_ functions are the precise ones."""
    c = Case("approximate")
    P = [np.float32(random.uniform(0.2, 6)) for _ in THREADS]
    X = [np.float32(random.uniform(-3, 3)) for _ in THREADS]
    p, x = c.input("f32", P), c.input("f32", X)
    unary = {"cos": (x, X, mpmath.cos, 4), "exp": (x, X, mpmath.exp, 3), "exp2": (x, X, lambda v: 2 ** v, 3), "exp10": (x, X, lambda v: 10 ** v, 3), "log": (p, P, mpmath.log, 3),
             "log2": (p, P, lambda v: mpmath.log(v, 2), 3), "log10": (p, P, mpmath.log10, 3), "recip": (p, P, lambda v: 1 / v, 1), "rsqrt": (p, P, lambda v: 1 / mpmath.sqrt(v), 2),
             "sin": (x, X, mpmath.sin, 4), "sqrt": (p, P, mpmath.sqrt, 0), "tan": (x, X, mpmath.tan, 5)}
    for name, (reg, values, f, ulps) in unary.items():
        exact = [near(np.float32, f, v) for v in values]
        c.out("f32", c.ext("f32", "half_" + name, reg), exact, ulps)
        # An approximation's error is absolute near its zeroes.
        fast = c.ext("f32", "native_" + name, reg)
        off = c.ext("f32", "fabs", c.emit("OpFSub", "f32", fast, c.input("f32", exact)))
        limit = c.emit("OpFAdd", "f32", c.const("f32", 2.0 ** -19), c.emit("OpFMul", "f32", c.ext("f32", "fabs", fast), c.const("f32", 2.0 ** -17)))
        c.boolean(c.emit("OpFOrdLessThanEqual", "bool", off, limit), [1] * 32)
    for name, f, ulps in (("divide", lambda v, w: v / w, 1), ("powr", lambda v, w: v ** w, 16)):
        exact = [near(np.float32, f, v, w) for v, w in zip(P, X)]
        c.out("f32", c.ext("f32", "half_" + name, p, x), exact, ulps)
        c.out("f32", c.ext("f32", "native_" + name, p, x), exact, 512)
    # Double precision has no approximations.
    d = c.emit("OpFConvert", "f64", p)
    c.out("f64", c.ext("f64", "native_sqrt", d), [np.float64(mpmath.sqrt(mpmath.mpf(float(v)))) for v in P])
    v, w = c.emit("OpCompositeConstruct", "v3f32", p, x, p), c.emit("OpCompositeConstruct", "v3f32", x, p, p)
    length = lambda *vs: mpmath.sqrt(sum(mpmath.mpf(float(t)) ** 2 for t in vs))
    c.out("f32", c.ext("f32", "fast_length", v), [np.float32(float(length(a, b, a))) for a, b in zip(P, X)], 4)
    c.out("f32", c.ext("f32", "fast_distance", v, w), [np.float32(float(length(float(a) - float(b), float(b) - float(a)))) for a, b in zip(P, X)], 4)
    r = c.ext("v3f32", "fast_normalize", v)
    c.out("f32", c.emit("OpCompositeExtract", "f32", r, 1), [np.float32(float(mpmath.mpf(float(b)) / length(a, b, a))) for a, b in zip(P, X)], 4)
    for bits, quiet in ((16, 0x7e00), (32, 0x7fc00000), (64, 0x7ff8 << 48)):
        n = c.ext(f"f{bits}", "nan", c.const(f"u{bits}", 0x123))
        c.out(f"u{bits}", c.emit("OpBitcast", f"u{bits}", n), [quiet | 0x123] * 32)
    c.write()


def import_case():
    """What modules import and this crate defines: LLVM's intrinsics and functions of SYCL's device library."""
    c = Case("imports")
    declared = {}

    def call(ty, name, types, *args):
        if name not in declared:
            f = declared[name] = f"%import{len(declared)}"
            c.decorations += f'OpDecorate {f} LinkageAttributes "{name}" Import\n'
            c.globals += f"{f}t = OpTypeFunction %{ty} " + " ".join("%" + t for t in types) + "\n"
            c.functions += f"{f} = OpFunction %{ty} None {f}t\n" + "".join(f"{f}a{k} = OpFunctionParameter %{t}\n" for k, t in enumerate(types)) + "OpFunctionEnd\n"
        return c.emit("OpFunctionCall", ty, declared[name], *args)
    yes = c.const("bool", True)
    for n in (8, 16, 32, 64):
        ty, m = f"u{n}", (1 << n) - 1
        A, B, C = integers(n), integers(n), numbers(n)
        random.shuffle(B)
        a, b, x = c.input(ty, A), c.input(ty, B), c.input(ty, C)
        sg = lambda v: signed(v, n)
        lo, hi = -(1 << (n - 1)), (1 << (n - 1)) - 1
        left = lambda p, q, s: ((p << n | q) << s % n) >> n & m
        right = lambda p, q, s: ((p << n | q) >> s % n) & m
        two = {"usub.sat": lambda p, q: max(p - q, 0), "uadd.sat": lambda p, q: min(p + q, m), "ssub.sat": lambda p, q: clamp(sg(p) - sg(q), lo, hi), "sadd.sat": lambda p, q: clamp(sg(p) + sg(q), lo, hi),
               "umin": min, "umax": max, "smin": lambda p, q: min(sg(p), sg(q)), "smax": lambda p, q: max(sg(p), sg(q))}
        for name, f in two.items():
            c.out(ty, call(ty, f"llvm.{name}.i{n}", [ty, ty], a, b), [f(p, q) for p, q in zip(A, B)])
        c.out(ty, call(ty, f"llvm.fshl.i{n}", [ty] * 3, a, b, x), [left(p, q, s) for p, q, s in zip(A, B, C)])
        c.out(ty, call(ty, f"llvm.fshr.i{n}", [ty] * 3, a, b, x), [right(p, q, s) for p, q, s in zip(A, B, C)])
        c.out(ty, call(ty, f"llvm.ctpop.i{n}", [ty], a), [bin(v).count("1") for v in A])
        c.out(ty, call(ty, f"llvm.bitreverse.i{n}", [ty], a), [int(format(v, f"0{n}b")[::-1], 2) for v in A])
        c.out(ty, call(ty, f"llvm.abs.i{n}", [ty, "bool"], a, c.const("bool", False)), [abs(sg(v)) for v in A])
        c.out(ty, call(ty, f"llvm.ctlz.i{n}", [ty, "bool"], a, c.const("bool", False)), [n - v.bit_length() for v in A])
        c.out(ty, call(ty, f"llvm.cttz.i{n}", [ty, "bool"], a, c.const("bool", False)), [n if v == 0 else (v & -v).bit_length() - 1 for v in A])
        c.out(ty, call(ty, f"llvm.expect.i{n}", [ty, ty], a, b), A)
        if n > 8:
            c.out(ty, call(ty, f"llvm.bswap.i{n}", [ty], a), [int.from_bytes(v.to_bytes(n // 8, "little"), "big") for v in A])
        c.globals += f"%over{n} = OpTypeStruct %{ty} %bool\n"
        for name, f in {"add": lambda p, q: p + q, "sub": lambda p, q: p - q, "mul": lambda p, q: p * q}.items():
            for sign in "us":
                r = call(f"over{n}", f"llvm.{sign}{name}.with.overflow.i{n}", [ty, ty], a, b)
                value = lambda p, q: f(sg(p), sg(q)) if sign == "s" else f(p, q)
                fits = lambda v: lo <= v <= hi if sign == "s" else 0 <= v <= m
                c.out(ty, c.emit("OpCompositeExtract", ty, r, 0), [value(p, q) for p, q in zip(A, B)])
                c.boolean(c.emit("OpCompositeExtract", "bool", r, 1), [not fits(value(p, q)) for p, q in zip(A, B)])
    for n in (32, 64):
        ty, F, suffix = f"f{n}", NP[f"f{n}"], "f" if n == 32 else ""
        X, Y = [F(random.uniform(-5, 5)) for _ in THREADS], [F(random.uniform(0.5, 5)) for _ in THREADS]
        N = [random.randrange(-5, 6) for _ in THREADS]
        x, y, k = c.input(ty, X), c.input(ty, Y), c.input("u32", [v & 0xffffffff for v in N])
        for name, f, ulps in (("minnum", min, 0), ("maxnum", max, 0), ("pow", lambda p, q: p ** q, 16), ("copysign", lambda p, q: p, 0)):
            c.out(ty, call(ty, f"llvm.{name}.f{n}", [ty, ty], y, y if name == "copysign" else x), [near(F, f, q, p) for p, q in zip(X, Y)], ulps)
        for name, f, ulps in (("fabs", abs, 0), ("sqrt", mpmath.sqrt, 0), ("nearbyint", mpmath.nint, 0), ("roundeven", mpmath.nint, 0), ("floor", mpmath.floor, 0), ("exp", mpmath.exp, 3), ("sin", mpmath.sin, 4)):
            c.out(ty, call(ty, f"llvm.{name}.f{n}", [ty], y), [near(F, f, q) for q in Y], ulps)
        c.out(ty, call(ty, f"llvm.fmuladd.f{n}", [ty] * 3, x, y, x), [near(F, lambda p, q: p * q + p, p, q) for p, q in zip(X, Y)])
        c.out(ty, call(ty, f"llvm.powi.f{n}.i32", [ty, "u32"], y, k) if False else call(ty, f"llvm.powi.f{n}", [ty, "u32"], y, k), [near(F, lambda v: v ** e, q) for q, e in zip(Y, N)], 16)
        c.out(ty, call(ty, f"__devicelib_sin{suffix}", [ty], x), [near(F, mpmath.sin, p) for p in X], 4)
        c.out(ty, call(ty, f"__devicelib_pow{suffix}", [ty, ty], y, x), [near(F, lambda p, q: p ** q, q, p) for p, q in zip(X, Y)], 16)
        for name in ("ldexp", "scalbn"):
            c.out(ty, call(ty, f"__devicelib_{name}{suffix}", [ty, "u32"], x, k), [F(float(p) * 2.0 ** e) for p, e in zip(X, N)])
        whole, exponent = f"%whole{n}", f"%exponent{n}"
        c.line(f"{whole} = OpVariable %f_{ty} Function")
        c.line(f"{exponent} = OpVariable %f_u32 Function")
        c.out(ty, call(ty, f"__devicelib_modf{suffix}", [ty, f"f_{ty}"], x, whole), [F(math.modf(float(p))[0]) for p in X])
        c.out(ty, c.emit("OpLoad", ty, whole, "Aligned", n // 8), [F(math.modf(float(p))[1]) for p in X])
        c.out(ty, call(ty, f"__devicelib_frexp{suffix}", [ty, "f_u32"], x, exponent), [F(math.frexp(float(p))[0]) for p in X])
        c.out("u32", c.emit("OpLoad", "u32", exponent, "Aligned", 4), [math.frexp(float(p))[1] for p in X])
        c.out(ty, call(ty, f"__devicelib_remquo{suffix}", [ty, ty, "f_u32"], x, y, exponent), [near(F, lambda p, q: p - q * mpmath.nint(p / q), p, q) for p, q in zip(X, Y)])
    # Classes of numbers, one mask a thread.
    for n in (16, 32, 64):
        ty, F = f"f{n}", NP[f"f{n}"]
        info = np.finfo(F)
        kinds = [math.nan, -math.inf, -1.5, -float(info.smallest_subnormal), -0.0, 0.0, float(info.tiny) / 2, float(info.max), math.inf]
        X = [F(kinds[k % 9]) for k in THREADS]
        masks = [random.getrandbits(10) for _ in THREADS]
        number = lambda v: 1 if v != v else [(2, 9), (3, 8), (4, 7), (5, 6)][0 if np.isinf(v) else 3 if v == 0 else 2 if abs(v) < info.tiny else 1][0 if np.signbit(v) else 1]
        r = call("bool", f"llvm.is.fpclass.f{n}", [ty, "u32"], c.input(ty, X), c.input("u32", masks))
        c.boolean(r, [m >> number(v) & 1 for v, m in zip(X, masks)])
    # Bytes of memory.
    c.globals += f"%bytes = OpTypeArray %u32 {c.const('u32', 4)}\n%f_bytes = OpTypePointer Function %bytes\n"
    c.line("%one = OpVariable %f_bytes Function")
    c.line("%two = OpVariable %f_bytes Function")
    first, second = (c.emit("OpBitcast", "f_u8", name) for name in ("%one", "%two"))
    size = c.const("u64", 16)
    a, A = c.input("u32", V := numbers(32)), V
    call("f_u8", "__devicelib_memset", ["f_u8", "u32", "u64"], first, c.emit("OpBitwiseAnd", "u32", a, c.const("u32", 255)), size)
    r = call("f_u8", "__devicelib_memcpy", ["f_u8", "f_u8", "u64"], second, first, size)
    word = c.emit("OpLoad", "u32", c.emit("OpInBoundsPtrAccessChain", "f_u32", c.emit("OpBitcast", "f_u32", r), c.const("u32", 3)), "Aligned", 4)
    c.out("u32", word, [(v & 255) * 0x01010101 for v in A])
    # What tells the compiler something, and what is never reached.
    call("void", "llvm.assume", ["bool"], yes)
    call("void", "llvm.lifetime.start.p0i8", ["u64", "f_u8"], size, first)
    call("void", "llvm.experimental.noalias.scope.decl", ["u64"], size)
    never = c.emit("OpUGreaterThan", "bool", "%lid32", c.const("u32", 1000))
    c.line(f"OpSelectionMerge %joined None\nOpBranchConditional {never} %trap %joined\n%trap = OpLabel")
    call("void", "llvm.trap", [])
    c.line("OpBranch %joined\n%joined = OpLabel")
    c.out("u32", a, A)
    c.write()


def link_case():
    """A kernel that imports a function and a variable of tests/modules/exporter.spvasm."""
    c = Case("linked")
    c.beside = "exporter"
    A = numbers(32)
    a = c.input("u32", A)
    c.decorations += 'OpDecorate %twice LinkageAttributes "twice" Import\nOpDecorate %factor LinkageAttributes "factor" Import\n'
    c.globals += "%factor = OpVariable %p_u32 CrossWorkgroup\n%one = OpTypeFunction %u32 %u32\n"
    c.functions = "%twice = OpFunction %u32 None %one\n%twicea = OpFunctionParameter %u32\nOpFunctionEnd\n"
    c.out("u32", c.emit("OpFunctionCall", "u32", "%twice", a), [2 * v for v in A])
    c.out("u32", c.emit("OpLoad", "u32", "%factor", "Aligned", 4), [21] * 32)
    c.write()


def field_case():
    """Fields of bits at the ends of a number: none at its end, all of it, its highest bit. Places that are constants and that are not."""
    c = Case("fields")
    for n in (8, 16, 32, 64):
        ty, A, B = f"u{n}", integers(n), integers(n)
        random.shuffle(B)
        a, b = c.input(ty, A), c.input(ty, B)
        places = [(0, 0), (n, 0), (0, n), (n - 1, 1)]
        given = [places[i % 4] for i in THREADS]
        rows = [(c.const("u32", at), c.const("u32", count), [(at, count)] * 32) for at, count in places]
        rows.append((c.input("u32", [at for at, _ in given]), c.input("u32", [count for _, count in given]), given))
        for at, count, P in rows:
            masks = [(1 << k) - 1 for _, k in P]
            c.out(ty, c.emit("OpBitFieldInsert", ty, a, b, at, count), [v & ~(m << o) | (w & m) << o for v, w, m, (o, _) in zip(A, B, masks, P)])
            c.out(ty, c.emit("OpBitFieldUExtract", ty, a, at, count), [v >> o & m for v, m, (o, _) in zip(A, masks, P)])
            c.out(ty, c.emit("OpBitFieldSExtract", ty, a, at, count), [signed(v >> o, k) if k else 0 for v, (o, k) in zip(A, P)])
    c.write()


if __name__ == "__main__":
    intel_case()
    contraction_case()
    half_memory_case()
    approximation_case()
    import_case()
    link_case()
    field_case()
