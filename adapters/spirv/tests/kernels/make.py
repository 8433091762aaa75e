#!/usr/bin/env python3
"""Writes the kernels of this folder: NAME.spvasm, NAME.spv (by spirv-as) and NAME.case, with inputs and what must come out.

The expected numbers are computed here by Python's integers, numpy and mpmath, so that nothing of the crate judges itself.
Needs spirv-tools, numpy and mpmath; run it again after a change and check the files in. make_*.py write more, in the same way.
"""
import math
import os
import random
import struct
import subprocess
import sys

import mpmath
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
mpmath.mp.prec = 200
random.seed(7)

FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f32": "f", "f64": "d", "f16": "e"}


class Case:
    """One module with one kernel: buffers in, one buffer of each type out."""

    def __init__(self, name, threads=32, groups=1):
        self.name, self.threads, self.groups = name, threads, groups
        self.types, self.constants, self.body = {}, {}, []
        self.inputs, self.outputs = [], []
        self.results = {}
        self.count = 0
        self.extra = ""
        self.modes = ""
        self.shared = 0
        self.functions = ""
        self.globals = ""
        self.decorations = ""
        self.capabilities = set()
        self.environment = "spv1.3"
        self.architecture = 90
        self.beside = None
        # The kernel calls a function of its name that has its body, as Khronos' translator writes it.
        self.wrapped = False

    def ty(self, name):
        """The id of a type: u32, f16, bool, v4f32, void."""
        return "%" + name

    def const(self, ty, value):
        key = (ty, repr(value))
        if key not in self.constants:
            name = f"%c_{ty}_{len(self.constants)}"
            if ty == "bool":
                text = f"{name} = OpConstant{'True' if value else 'False'} %bool"
            elif ty[0] == "v":
                parts = " ".join(self.const(ty[2:], x) for x in value)
                text = f"{name} = OpConstantComposite %{ty} {parts}"
            elif ty == "f16":
                text = f"{name} = OpConstant %f16 {float(value).hex()}"
            else:
                text = f"{name} = OpConstant %{ty} {value}"
            self.constants[key] = (name, text)
        return self.constants[key][0]

    def fresh(self):
        self.count += 1
        return f"%x{self.count}"

    def emit(self, op, ty, *args):
        r = self.fresh()
        self.body.append(f"{r} = {op} %{ty} " + " ".join(str(a) for a in args))
        return r

    def ext(self, ty, name, *args):
        return self.emit("OpExtInst", ty, "%cl", name, *args)

    def line(self, text):
        self.body.append(text)

    def input(self, ty, values):
        """A buffer with one value a thread; the thread's value."""
        at = len(self.inputs)
        self.inputs.append((ty, values))
        p = self.emit("OpInBoundsPtrAccessChain", f"p_{ty}", f"%in{at}", "%gid")
        return self.emit("OpLoad", ty, p, "Aligned", struct.calcsize(FORMATS[ty]))

    def out(self, ty, value, expected, ulps=0):
        """Stores a value of each thread, which must come out as expected."""
        rows = self.results.setdefault(ty, [])
        total = self.threads * self.groups
        assert len(expected) == total, (self.name, len(expected))
        index = self.emit("OpIAdd", "u64", "%gid", self.const("u64", len(rows) * total))
        p = self.emit("OpInBoundsPtrAccessChain", f"p_{ty}", f"%out_{ty}", index)
        self.line(f"OpStore {p} {value} Aligned {struct.calcsize(FORMATS[ty])}")
        rows.append((ulps, expected))

    def boolean(self, value, expected):
        r = self.emit("OpSelect", "u32", value, self.const("u32", 1), self.const("u32", 0))
        self.out("u32", r, [int(x) for x in expected])

    def write(self):
        outs = list(self.results)
        params = [(f"%in{i}", ty) for i, (ty, _) in enumerate(self.inputs)] + [(f"%out_{ty}", ty) for ty in outs]
        if self.shared:
            params.append(("%local", "local"))
        caps = ["Addresses", "Linkage", "Kernel", "Int64", "Int8", "Int16", "Float16", "Float64", "GenericPointer", "Vector16",
                "Groups", "Int64Atomics", "GroupNonUniform", "GroupNonUniformVote", "GroupNonUniformBallot", "GroupNonUniformShuffle",
                "GroupNonUniformShuffleRelative", "GroupNonUniformArithmetic", "GroupNonUniformClustered", "BitInstructions"]
        caps += sorted(self.capabilities)
        ptr = lambda t: "%p_local" if t == "local" else f"%p_{t}"
        text = "\n".join(f"OpCapability {c}" for c in caps) + '\nOpExtension "SPV_KHR_bit_instructions"\n' + self.extra
        text += """%cl = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k" %gidv %lidv %sgsize %sgid %sglid %nsg %wgsize
""" + self.modes + """OpDecorate %gidv BuiltIn GlobalInvocationId
OpDecorate %lidv BuiltIn LocalInvocationId
OpDecorate %wgsize BuiltIn WorkgroupSize
OpDecorate %sgsize BuiltIn SubgroupSize
OpDecorate %sgid BuiltIn SubgroupId
OpDecorate %sglid BuiltIn SubgroupLocalInvocationId
OpDecorate %nsg BuiltIn NumSubgroups
""" + self.decorations + "%void = OpTypeVoid\n%bool = OpTypeBool\n"
        for size in (8, 16, 32, 64):
            text += f"%u{size} = OpTypeInt {size} 0\n"
        for size in (16, 32, 64):
            text += f"%f{size} = OpTypeFloat {size}\n"
        for t in ["u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool"]:
            for n in (2, 3, 4, 8, 16):
                text += f"%v{n if n < 10 else 'x'}{t} = OpTypeVector %{t} {n}\n"
        for t in FORMATS:
            text += f"%p_{t} = OpTypePointer CrossWorkgroup %{t}\n%l_{t} = OpTypePointer Workgroup %{t}\n%f_{t} = OpTypePointer Function %{t}\n%g_{t} = OpTypePointer Generic %{t}\n"
        text += "%p_local = OpTypePointer Workgroup %u32\n%iv = OpTypePointer Input %v3u64\n%iu = OpTypePointer Input %u32\n"
        text += "%gidv = OpVariable %iv Input\n%lidv = OpVariable %iv Input\n%wgsize = OpVariable %iv Input\n"
        for b in ("sgsize", "sgid", "sglid", "nsg"):
            text += f"%{b} = OpVariable %iu Input\n"
        text += "\n".join(t for _, t in self.constants.values()) + "\n" + self.globals
        text += "%kt = OpTypeFunction %void " + " ".join(ptr(t) for _, t in params) + "\n" + self.functions
        text += "%k = OpFunction %void None %kt\n" + "".join(f"{n} = OpFunctionParameter {ptr(t)}\n" for n, t in params)
        text += "%entry = OpLabel\n%gid3 = OpLoad %v3u64 %gidv\n%gid = OpCompositeExtract %u64 %gid3 0\n"
        text += "%lid3 = OpLoad %v3u64 %lidv\n%lid = OpCompositeExtract %u64 %lid3 0\n%lid32 = OpUConvert %u32 %lid\n"
        variables = [l for l in self.body if " = OpVariable " in l]
        text = text.replace("%entry = OpLabel\n", "%entry = OpLabel\n" + "".join(v + "\n" for v in variables))
        text += "\n".join(l for l in self.body if l not in variables) + "\nOpReturn\nOpFunctionEnd\n"
        if self.wrapped:
            text = text.replace("%k = OpFunction ", "%k_body = OpFunction ")
            text = text.replace('OpDecorate %gidv BuiltIn', 'OpDecorate %k_body LinkageAttributes "k" Export\nOpDecorate %gidv BuiltIn', 1)
            given = "".join(f"{n}_k = OpFunctionParameter {ptr(t)}\n" for n, t in params)
            text += f"%k = OpFunction %void None %kt\n{given}%entry_k = OpLabel\n%call_k = OpFunctionCall %void %k_body {' '.join(n + '_k' for n, _ in params)}\nOpReturn\nOpFunctionEnd\n"
        path = os.path.join(HERE, self.name)
        open(path + ".spvasm", "w").write(text)
        subprocess.run(["spirv-as", "--target-env", self.environment, "-o", path + ".spv", path + ".spvasm"], check=True)
        check = subprocess.run(["spirv-val", "--target-env", self.environment, path + ".spv"], capture_output=True, text=True)
        if check.returncode:
            print(self.name, check.stderr.strip()[:300], file=sys.stderr)
        with open(path + ".case", "w") as f:
            f.write(f"launch {self.groups} {self.threads} {self.shared}\n")
            if self.architecture != 90:
                f.write(f"sm {self.architecture}\n")
            if self.beside:
                f.write(f"beside {self.beside}\n")
            for ty, values in self.inputs:
                f.write(f"in {ty} {' '.join(bits(ty, v) for v in values)}\n")
            for ty in outs:
                f.write(f"out {ty} {len(self.results[ty])}\n")
                for ulps, row in self.results[ty]:
                    f.write(f"row {ulps} {' '.join(bits(ty, v) for v in row)}\n")


def bits(ty, v):
    if ty[0] == "f":
        raw = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[ty](v).tobytes()
        return raw[::-1].hex()
    return f"{int(v) & ((1 << int(ty[1:])) - 1):x}"


def signed(v, n):
    v &= (1 << n) - 1
    return v - (1 << n) if v >> (n - 1) else v


def integers(n, count=32):
    edges = [0, 1, 2, 3, (1 << n) - 1, 1 << (n - 1), (1 << (n - 1)) - 1, (1 << n) - 2]
    return (edges + [random.getrandbits(n) for _ in range(count)])[:count]


def clamp(v, lo, hi):
    return max(lo, min(hi, v))


def tdiv(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def integer_case(n):
    ty, m = f"u{n}", (1 << n) - 1
    c = Case(f"integer{n}")
    A, B, C = integers(n), integers(n), integers(n)
    random.shuffle(B), random.shuffle(C)
    D = [x if x not in (0, m) else 3 for x in B]
    S = [random.randrange(n) for _ in A]
    a, b, x, d, s = (c.input(ty, v) for v in (A, B, C, D, S))
    sg = lambda v: signed(v, n)
    lo, hi = -(1 << (n - 1)), (1 << (n - 1)) - 1
    rng = range(32)
    two = {
        "OpIAdd": lambda p, q: p + q, "OpISub": lambda p, q: p - q, "OpIMul": lambda p, q: p * q, "OpBitwiseOr": lambda p, q: p | q,
        "OpBitwiseXor": lambda p, q: p ^ q, "OpBitwiseAnd": lambda p, q: p & q,
    }
    for op, f in two.items():
        c.out(ty, c.emit(op, ty, a, b), [f(A[i], B[i]) for i in rng])
    div = {
        "OpUDiv": lambda p, q: p // q, "OpUMod": lambda p, q: p % q, "OpSDiv": lambda p, q: tdiv(sg(p), sg(q)),
        "OpSRem": lambda p, q: sg(p) - sg(q) * tdiv(sg(p), sg(q)), "OpSMod": lambda p, q: sg(p) % sg(q),
    }
    for op, f in div.items():
        c.out(ty, c.emit(op, ty, a, d), [f(A[i], D[i]) for i in rng])
    for op, f in {"OpShiftLeftLogical": lambda p, q: p << q, "OpShiftRightLogical": lambda p, q: p >> q,
                  "OpShiftRightArithmetic": lambda p, q: sg(p) >> q}.items():
        c.out(ty, c.emit(op, ty, a, s), [f(A[i], S[i]) for i in rng])
    c.out(ty, c.emit("OpSNegate", ty, a), [-v for v in A])
    c.out(ty, c.emit("OpNot", ty, a), [~v for v in A])
    c.out(ty, c.emit("OpBitCount", ty, a), [bin(v).count("1") for v in A])
    if n >= 32:
        c.out(ty, c.emit("OpBitReverse", ty, a), [int(format(v, f"0{n}b")[::-1], 2) for v in A])
        off, cnt = c.const("u32", 3), c.const("u32", 5)
        c.out(ty, c.emit("OpBitFieldInsert", ty, a, b, off, cnt), [A[i] & ~(31 << 3) | (B[i] & 31) << 3 for i in rng])
        c.out(ty, c.emit("OpBitFieldUExtract", ty, a, off, cnt), [v >> 3 & 31 for v in A])
        c.out(ty, c.emit("OpBitFieldSExtract", ty, a, off, cnt), [signed(v >> 3, 5) for v in A])
    for op, f in {"OpIEqual": lambda p, q: p == q, "OpINotEqual": lambda p, q: p != q, "OpUGreaterThan": lambda p, q: p > q,
                  "OpSGreaterThan": lambda p, q: sg(p) > sg(q), "OpUGreaterThanEqual": lambda p, q: p >= q,
                  "OpSGreaterThanEqual": lambda p, q: sg(p) >= sg(q), "OpULessThan": lambda p, q: p < q,
                  "OpSLessThan": lambda p, q: sg(p) < sg(q), "OpULessThanEqual": lambda p, q: p <= q,
                  "OpSLessThanEqual": lambda p, q: sg(p) <= sg(q)}.items():
        c.boolean(c.emit(op, "bool", a, b), [f(A[i], B[i]) for i in rng])
    std = {
        "s_abs": lambda p, q, r: abs(sg(p)), "u_abs": lambda p, q, r: p, "s_abs_diff": lambda p, q, r: abs(sg(p) - sg(q)),
        "u_abs_diff": lambda p, q, r: abs(p - q), "s_add_sat": lambda p, q, r: clamp(sg(p) + sg(q), lo, hi),
        "u_add_sat": lambda p, q, r: min(p + q, m), "s_sub_sat": lambda p, q, r: clamp(sg(p) - sg(q), lo, hi),
        "u_sub_sat": lambda p, q, r: max(p - q, 0), "s_hadd": lambda p, q, r: (sg(p) + sg(q)) >> 1, "u_hadd": lambda p, q, r: (p + q) >> 1,
        "s_rhadd": lambda p, q, r: (sg(p) + sg(q) + 1) >> 1, "u_rhadd": lambda p, q, r: (p + q + 1) >> 1,
        "s_max": lambda p, q, r: max(sg(p), sg(q)), "u_max": lambda p, q, r: max(p, q), "s_min": lambda p, q, r: min(sg(p), sg(q)),
        "u_min": lambda p, q, r: min(p, q), "clz": lambda p, q, r: n - p.bit_length(), "ctz": lambda p, q, r: n if p == 0 else (p & -p).bit_length() - 1,
        "popcount": lambda p, q, r: bin(p).count("1"), "rotate": lambda p, q, r: (p << (q % n) | p >> (n - q % n)) & m,
        "s_mul_hi": lambda p, q, r: sg(p) * sg(q) >> n, "u_mul_hi": lambda p, q, r: p * q >> n,
        "s_mad_hi": lambda p, q, r: (sg(p) * sg(q) >> n) + sg(r), "u_mad_hi": lambda p, q, r: (p * q >> n) + r,
        "s_mad_sat": lambda p, q, r: clamp(sg(p) * sg(q) + sg(r), lo, hi), "u_mad_sat": lambda p, q, r: min(p * q + r, m),
        "bitselect": lambda p, q, r: p & ~r | q & r, "select": lambda p, q, r: q if r else p,
    }
    if n == 32:
        t24 = lambda v: signed(v, 24)
        std |= {"s_mul24": lambda p, q, r: t24(p) * t24(q), "u_mul24": lambda p, q, r: (p & 0xffffff) * (q & 0xffffff),
                "s_mad24": lambda p, q, r: t24(p) * t24(q) + r, "u_mad24": lambda p, q, r: (p & 0xffffff) * (q & 0xffffff) + r}
    arity = {1: ["s_abs", "u_abs", "clz", "ctz", "popcount"], 3: ["s_mad_hi", "u_mad_hi", "s_mad_sat", "u_mad_sat", "bitselect", "select",
             "s_mad24", "u_mad24"]}
    for name, f in std.items():
        args = [a] if name in arity[1] else [a, b, x] if name in arity[3] else [a, b]
        c.out(ty, c.ext(ty, name, *args), [f(A[i], B[i], C[i]) for i in rng])
    L, H = [min(sg(B[i]), sg(C[i])) for i in rng], [max(sg(B[i]), sg(C[i])) for i in rng]
    l, h = c.ext(ty, "s_min", b, x), c.ext(ty, "s_max", b, x)
    c.out(ty, c.ext(ty, "s_clamp", a, l, h), [clamp(sg(A[i]), L[i], H[i]) for i in rng])
    l, h = c.ext(ty, "u_min", b, x), c.ext(ty, "u_max", b, x)
    c.out(ty, c.ext(ty, "u_clamp", a, l, h), [clamp(A[i], min(B[i], C[i]), max(B[i], C[i])) for i in rng])
    # Two results.
    if n >= 32:
        c.globals += f"%pair = OpTypeStruct %{ty} %{ty}\n"
        for op, f in {"OpIAddCarry": lambda p, q: ((p + q) & m, (p + q) >> n), "OpISubBorrow": lambda p, q: (p - q, int(p < q)),
                      "OpUMulExtended": lambda p, q: (p * q & m, p * q >> n), "OpSMulExtended": lambda p, q: (sg(p) * sg(q) & m, sg(p) * sg(q) >> n)}.items():
            r = c.emit(op, "pair", a, b)
            for at in (0, 1):
                c.out(ty, c.emit("OpCompositeExtract", ty, r, at), [f(A[i], B[i])[at] for i in rng])
    c.write()


NP = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def float_case(n):
    ty = f"f{n}"
    F = NP[ty]
    c = Case(f"float{n}")
    rng = range(32)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, float(np.finfo(F).tiny), float(np.finfo(F).max), 3.75, -2.5]
    A = [F(v) for v in (special + [random.uniform(-40, 40) for _ in rng])[:32]]
    B = [F(random.uniform(-9, 9)) for _ in rng]
    C = [F(random.uniform(-9, 9)) for _ in rng]
    B[3], B[6], B[7], B[8], B[12] = F(-0.0), F(math.inf), F(3), F(1), F(math.nan)
    a, b, x = c.input(ty, A), c.input(ty, B), c.input(ty, C)
    with np.errstate(all="ignore"):
        for op, f in {"OpFAdd": np.add, "OpFSub": np.subtract, "OpFMul": np.multiply, "OpFDiv": np.divide, "OpFRem": np.fmod}.items():
            c.out(ty, c.emit(op, ty, a, b), [F(f(A[i], B[i])) for i in rng])
        c.out(ty, c.emit("OpFMod", ty, x, b), [F(np.mod(C[i], B[i])) if np.isfinite(B[i]) and B[i] != 0 else F(math.nan) if not np.isinf(B[i]) else (C[i] if C[i] > 0 else B[i] + C[i]) for i in rng], 1)
        c.out(ty, c.emit("OpFNegate", ty, a), [-v for v in A])
        nan = np.isnan
        cmps = {"Equal": np.equal, "LessThan": np.less, "GreaterThan": np.greater, "LessThanEqual": np.less_equal, "GreaterThanEqual": np.greater_equal}
        for name, f in cmps.items():
            c.boolean(c.emit("OpFOrd" + name, "bool", a, b), [f(A[i], B[i]) for i in rng])
            c.boolean(c.emit("OpFUnord" + name, "bool", a, b), [f(A[i], B[i]) or nan(A[i]) or nan(B[i]) for i in rng])
        c.boolean(c.emit("OpFOrdNotEqual", "bool", a, b), [A[i] != B[i] and not nan(A[i]) and not nan(B[i]) for i in rng])
        c.boolean(c.emit("OpFUnordNotEqual", "bool", a, b), [A[i] != B[i] for i in rng])
        c.boolean(c.emit("OpLessOrGreater", "bool", a, b), [A[i] < B[i] or A[i] > B[i] for i in rng])
        c.boolean(c.emit("OpOrdered", "bool", a, b), [not (nan(A[i]) or nan(B[i])) for i in rng])
        c.boolean(c.emit("OpUnordered", "bool", a, b), [nan(A[i]) or nan(B[i]) for i in rng])
        for op, f in {"OpIsNan": np.isnan, "OpIsInf": np.isinf, "OpIsFinite": np.isfinite, "OpSignBitSet": np.signbit,
                      "OpIsNormal": lambda v: np.isfinite(v) and abs(v) >= np.finfo(F).tiny}.items():
            c.boolean(c.emit(op, "bool", a), [f(v) for v in A])
    c.write()
    math_case(n, A, B, C)


# Functions whose zeroes have the sign of what they are of.
SIGNED_ZEROES = {"ceil", "rint", "round", "trunc", "fmod", "remainder"}


def signed_zero(name, value, x):
    return np.copysign(value, x) if name in SIGNED_ZEROES and value == 0 else value


def near(F, f, *args):
    """The exact value, rounded once."""
    try:
        r = f(*[mpmath.mpf(float(v)) for v in args])
        if isinstance(r, mpmath.mpc):
            return F(math.nan)
        return F(float(r)) if F != np.float64 else np.float64(r)
    except (ValueError, ZeroDivisionError, OverflowError):
        return F(math.nan)


def math_case(n, A, B, C):
    ty, F, rng = f"f{n}", NP[f"f{n}"], range(32)
    c = Case(f"math{n}")
    X = [F(random.uniform(-5, 5)) for _ in rng]
    P = [F(random.uniform(0.05, 9)) for _ in rng]
    U = [F(random.uniform(-0.95, 0.95)) for _ in rng]
    G = [F(random.uniform(1.05, 9)) for _ in rng]
    x, p, u, g, b = (c.input(ty, v) for v in (X, P, U, G, C))
    pi = mpmath.pi
    unary = {
        "acos": (u, U, mpmath.acos, 4), "acosh": (g, G, mpmath.acosh, 4), "acospi": (u, U, lambda v: mpmath.acos(v) / pi, 5),
        "asin": (u, U, mpmath.asin, 4), "asinh": (x, X, mpmath.asinh, 4), "asinpi": (u, U, lambda v: mpmath.asin(v) / pi, 5),
        "atan": (x, X, mpmath.atan, 5), "atanh": (u, U, mpmath.atanh, 5), "atanpi": (x, X, lambda v: mpmath.atan(v) / pi, 5),
        "cbrt": (p, P, mpmath.cbrt, 2), "ceil": (x, X, mpmath.ceil, 0), "cos": (x, X, mpmath.cos, 4), "cosh": (x, X, mpmath.cosh, 4),
        "cospi": (x, X, lambda v: mpmath.cos(v * pi), 4), "erf": (x, X, mpmath.erf, 16), "erfc": (x, X, mpmath.erfc, 16), "exp": (x, X, mpmath.exp, 3),
        "exp2": (x, X, lambda v: 2 ** v, 3), "exp10": (x, X, lambda v: 10 ** v, 3), "expm1": (x, X, mpmath.expm1, 3), "fabs": (x, X, abs, 0),
        "floor": (x, X, mpmath.floor, 0), "lgamma": (p, P, mpmath.loggamma, 6), "log": (p, P, mpmath.log, 3), "log2": (p, P, lambda v: mpmath.log(v, 2), 3),
        "log10": (p, P, lambda v: mpmath.log(v, 10), 3), "log1p": (p, P, mpmath.log1p, 2), "logb": (x, X, lambda v: mpmath.floor(mpmath.log(abs(v), 2)), 0),
        "rint": (x, X, mpmath.nint, 0), "round": (x, X, lambda v: mpmath.sign(v) * mpmath.floor(abs(v) + 0.5), 0), "rsqrt": (p, P, lambda v: 1 / mpmath.sqrt(v), 2),
        "sin": (x, X, mpmath.sin, 4), "sinh": (x, X, mpmath.sinh, 4), "sinpi": (x, X, lambda v: mpmath.sin(v * pi), 4), "sqrt": (p, P, mpmath.sqrt, 0),
        "tan": (x, X, mpmath.tan, 5), "tanh": (x, X, mpmath.tanh, 5), "tanpi": (x, X, lambda v: mpmath.tan(v * pi), 6), "tgamma": (p, P, mpmath.gamma, 16),
        "trunc": (x, X, lambda v: mpmath.sign(v) * mpmath.floor(abs(v)), 0), "degrees": (x, X, lambda v: v * 180 / pi, 2), "radians": (x, X, lambda v: v * pi / 180, 2),
        "sign": (x, X, mpmath.sign, 0), "half_sqrt": (p, P, mpmath.sqrt, 0), "half_recip": (p, P, lambda v: 1 / v, 1), "native_exp": (x, X, mpmath.exp, 8),
        "native_recip": (p, P, lambda v: 1 / v, 1), "half_exp": (x, X, mpmath.exp, 3),
    }
    for name, (reg, vals, f, ulps) in unary.items():
        if name.startswith(("half_", "native_")) and n != 32:
            continue
        c.out(ty, c.ext(ty, name, reg), [signed_zero(name, near(F, f, v), v) for v in vals], ulps)
    rem = lambda v, w: v - w * mpmath.nint(v / w)
    binary = {
        "atan2": (x, b, X, C, mpmath.atan2, 6), "atan2pi": (x, b, X, C, lambda v, w: mpmath.atan2(v, w) / pi, 6), "copysign": (p, x, P, X, lambda v, w: v if w > 0 else -v, 0),
        "fdim": (x, b, X, C, lambda v, w: max(v - w, 0), 0), "fmax": (x, b, X, C, max, 0), "fmin": (x, b, X, C, min, 0),
        "fmod": (x, b, X, C, lambda v, w: mpmath.sign(v) * mpmath.fmod(abs(v), abs(w)), 0), "hypot": (x, b, X, C, mpmath.hypot, 4), "maxmag": (x, b, X, C, lambda v, w: v if abs(v) > abs(w) else w, 0),
        "minmag": (x, b, X, C, lambda v, w: v if abs(v) < abs(w) else w, 0), "pow": (p, x, P, X, lambda v, w: v ** w, 16), "powr": (p, x, P, X, lambda v, w: v ** w, 16),
        "remainder": (x, b, X, C, rem, 0), "fmax_common": (x, b, X, C, max, 0), "fmin_common": (x, b, X, C, min, 0), "step": (x, b, X, C, lambda e, v: 0 if v < e else 1, 0),
    }
    for name, (r1, r2, v1, v2, f, ulps) in binary.items():
        c.out(ty, c.ext(ty, name, r1, r2), [signed_zero(name, near(F, f, v1[i], v2[i]), v1[i]) for i in rng], ulps)
    c.out(ty, c.ext(ty, "nextafter", x, b), [np.nextafter(X[i], C[i], dtype=F) for i in rng])
    c.out(ty, c.ext(ty, "fma", x, b, u), [near(F, lambda p, q, r: p * q + r, X[i], C[i], U[i]) for i in rng])
    c.out(ty, c.ext(ty, "mad", x, b, u), [near(F, lambda p, q, r: p * q + r, X[i], C[i], U[i]) for i in rng])
    lo, hi = c.const(ty, -1.5), c.const(ty, 2.25)
    c.out(ty, c.ext(ty, "fclamp", x, lo, hi), [F(clamp(float(v), -1.5, 2.25)) for v in X])
    half = c.const(ty, 0.5)
    c.out(ty, c.ext(ty, "mix", x, x, half), X)
    c.out(ty, c.ext(ty, "smoothstep", lo, hi, x), [near(F, lambda v: (lambda t: t * t * (3 - 2 * t))(max(min((v + 1.5) / 3.75, 1), 0)), v) for v in X], 6)
    N = [random.randint(-7, 7) or 3 for _ in rng]
    k = c.input("u32", [v & 0xffffffff for v in N])
    c.out(ty, c.ext(ty, "ldexp", x, k), [near(F, lambda v: v * mpmath.mpf(2) ** N[i], X[i]) for i in rng])
    c.out(ty, c.ext(ty, "pown", x, k), [near(F, lambda v: v ** N[i], X[i]) for i in rng], 16 if n > 16 else 4)
    c.out(ty, c.ext(ty, "rootn", p, k), [near(F, lambda v: mpmath.exp(mpmath.log(v) / N[i]), P[i]) for i in rng], 3)
    c.out("u32", c.ext("u32", "ilogb", x), [int(mpmath.floor(mpmath.log(abs(mpmath.mpf(float(v))), 2))) for v in X])
    # Two results.
    f = c.fresh()
    c.line(f"{f} = OpVariable %f_{ty} Function")
    e = c.fresh()
    c.line(f"{e} = OpVariable %f_u32 Function")
    second = lambda t, v: c.emit("OpLoad", t, v, "Aligned", struct.calcsize(FORMATS[t]))
    floor = lambda v: near(F, mpmath.floor, v)
    c.out(ty, c.ext(ty, "fract", x, f), [F(X[i] - floor(X[i])) for i in rng])
    c.out(ty, second(ty, f), [floor(v) for v in X])
    c.out(ty, c.ext(ty, "modf", x, f), [F(math.modf(float(v))[0]) for v in X])
    c.out(ty, second(ty, f), [F(math.modf(float(v))[1]) for v in X])
    c.out(ty, c.ext(ty, "frexp", x, e), [F(math.frexp(float(v))[0]) for v in X])
    c.out("u32", second("u32", e), [math.frexp(float(v))[1] for v in X])
    c.out(ty, c.ext(ty, "sincos", x, f), [near(F, mpmath.sin, v) for v in X], 4)
    c.out(ty, second(ty, f), [near(F, mpmath.cos, v) for v in X], 4)
    c.out(ty, c.ext(ty, "lgamma_r", x, e), [near(F, lambda v: mpmath.log(abs(mpmath.gamma(v))), v) for v in X], 2 ** 14 if n > 16 else 64)
    c.out("u32", second("u32", e), [int(mpmath.sign(mpmath.gamma(mpmath.mpf(float(v))))) for v in X])
    big = [F(float(v) * 60) for v in X]
    w = c.input(ty, big)
    c.out(ty, c.ext(ty, "remquo", w, b, e), [signed_zero("remainder", near(F, rem, big[i], C[i]), big[i]) for i in rng])

    def quo(v, y):
        q = int(mpmath.nint(mpmath.mpf(float(v)) / mpmath.mpf(float(y))))
        return (abs(q) & 127) * (1 if q >= 0 else -1)
    c.out("u32", second("u32", e), [quo(big[i], C[i]) for i in rng])
    c.write()


def conversion_case():
    c = Case("convert")
    rng = range(32)
    I = integers(64)
    D = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 300.7, -300.7, 1e5, -1e5, 4e9, -4e9, 1e20, -1e20, math.inf, -math.inf, math.nan] + [random.uniform(-200, 200) for _ in rng]
    D = D[:32]
    small = [random.uniform(0, 200) for _ in rng]
    i, d, s = c.input("u64", I), c.input("f64", D), c.input("f64", small)
    i32 = c.emit("OpUConvert", "u32", i)
    c.out("u32", i32, I)
    c.out("u16", c.emit("OpUConvert", "u16", i), I)
    c.out("u8", c.emit("OpUConvert", "u8", i), I)
    c.out("u64", c.emit("OpUConvert", "u64", i32), [v & 0xffffffff for v in I])
    c.out("u64", c.emit("OpSConvert", "u64", i32), [signed(v, 32) for v in I])
    c.out("f32", c.emit("OpConvertSToF", "f32", i32), [np.float32(signed(v, 32)) for v in I])
    c.out("f32", c.emit("OpConvertUToF", "f32", i32), [np.float32(v & 0xffffffff) for v in I])
    c.out("f64", c.emit("OpConvertSToF", "f64", i), [float(signed(v, 64)) for v in I])
    c.out("f64", c.emit("OpConvertUToF", "f64", i), [float(v) for v in I])
    c.out("f16", c.emit("OpConvertSToF", "f16", c.emit("OpUConvert", "u8", i)), [np.float16(signed(v, 8)) for v in I])
    with np.errstate(all="ignore"):
        c.out("f32", c.emit("OpFConvert", "f32", d), [np.float32(v) for v in D])
        h = c.emit("OpFConvert", "f16", s)
        c.out("f16", h, [np.float16(v) for v in small])
        c.out("f64", c.emit("OpFConvert", "f64", h), [float(np.float16(v)) for v in small])
    c.out("u32", c.emit("OpConvertFToU", "u32", s), [int(v) for v in small])
    c.out("u32", c.emit("OpConvertFToS", "u32", c.emit("OpFNegate", "f64", s)), [int(-v) for v in small])
    for ty in ("u8", "u16", "u32", "u64"):
        n = int(ty[1:])
        for op, lo, hi in (("OpConvertFToS", -(1 << (n - 1)), (1 << (n - 1)) - 1), ("OpConvertFToU", 0, (1 << n) - 1)):
            r = c.emit(op, ty, d)
            c.decorations += f"OpDecorate {r} SaturatedConversion\n"
            sat = lambda v: 0 if math.isnan(v) else lo if v == -math.inf else hi if v == math.inf else clamp(int(v), lo, hi)
            c.out(ty, r, [sat(v) for v in D])
    for mode, f in {"RTE": lambda v: int(np.rint(v)), "RTZ": int, "RTP": math.ceil, "RTN": math.floor}.items():
        r = c.emit("OpConvertFToS", "u32", s)
        c.decorations += f"OpDecorate {r} FPRoundingMode {mode}\n"
        c.out("u32", r, [f(v) for v in small])
        r = c.emit("OpFConvert", "f32", s)
        c.decorations += f"OpDecorate {r} FPRoundingMode {mode}\n"

        def rounded(v):
            near = np.float32(v)
            if mode == "RTE" or float(near) == v:
                return near
            down = near if float(near) < v else np.nextafter(near, np.float32(-np.inf))
            up = near if float(near) > v else np.nextafter(near, np.float32(np.inf))
            return up if mode == "RTP" else down
        c.out("f32", r, [rounded(v) for v in small])
    w = c.emit("OpUConvert", "u16", i)
    c.out("u8", c.emit("OpSatConvertSToU", "u8", w), [clamp(signed(v, 16), 0, 255) for v in I])
    c.out("u8", c.emit("OpSatConvertUToS", "u8", w), [min(v & 0xffff, 127) for v in I])
    c.out("u64", c.emit("OpBitcast", "u64", d), [struct.unpack("<Q", struct.pack("<d", v))[0] for v in D])
    v2 = c.emit("OpBitcast", "v2u32", i)
    c.out("u32", c.emit("OpCompositeExtract", "u32", v2, 1), [v >> 32 for v in I])
    # Between integers a rounding mode says nothing; LLVM's own backend writes it for convert_uchar_rte of an int.
    R = [200, 300, -1, -200, 40000, 127, 128, -129] * 4
    r32 = c.input("u32", R)

    def decorated(r, *decorations):
        c.decorations += "".join(f"OpDecorate {r} {text}\n" for text in decorations)
        return r
    for mode, op, to in (("RTE", "OpSConvert", "u8"), ("RTZ", "OpUConvert", "u8"), ("RTP", "OpSConvert", "u16"), ("RTN", "OpUConvert", "u16")):
        c.out(to, decorated(c.emit(op, to, r32), f"FPRoundingMode {mode}"), R)
    c.out("u64", decorated(c.emit("OpSConvert", "u64", r32), "FPRoundingMode RTE"), R)
    pair = c.emit("OpCompositeConstruct", "v2u32", i32, r32)
    pair = decorated(c.emit("OpSConvert", "v2u8", pair), "FPRoundingMode RTZ")
    c.out("u8", c.emit("OpCompositeExtract", "u8", pair, 1), R)
    c.out("u8", decorated(c.emit("OpSConvert", "u8", r32), "SaturatedConversion", "FPRoundingMode RTE"), [clamp(v, -128, 127) for v in R])
    c.write()


def vector_case():
    c = Case("vector")
    rng = range(32)
    A, B = [random.randrange(1, 99) for _ in rng], [random.randrange(1, 99) for _ in rng]
    a, b = c.input("u32", A), c.input("u32", B)
    v = c.emit("OpCompositeConstruct", "v4u32", a, b, a, c.const("u32", 7))
    v2 = c.emit("OpCompositeConstruct", "v2u32", b, a)
    w = c.emit("OpCompositeConstruct", "v4u32", v2, v2)
    V = [[A[i], B[i], A[i], 7] for i in rng]
    W = [[B[i], A[i], B[i], A[i]] for i in rng]

    def all4(r, rows):
        for at in range(len(rows[0])):
            c.out("u32", c.emit("OpCompositeExtract", "u32", r, at), [row[at] for row in rows])
    all4(c.emit("OpIAdd", "v4u32", v, w), [[p + q for p, q in zip(V[i], W[i])] for i in rng])
    all4(c.emit("OpVectorShuffle", "v4u32", v, w, 7, 0, 3, 4), [[W[i][3], V[i][0], V[i][3], W[i][0]] for i in rng])
    all4(c.emit("OpVectorShuffle", "v3u32", v, v2, 5, 0, 4), [[A[i], V[i][0], B[i]] for i in rng])
    all4(c.emit("OpCompositeInsert", "v4u32", b, v, 2), [[V[i][0], V[i][1], B[i], 7] for i in rng])
    three = c.const("u32", 3)
    at = c.emit("OpBitwiseAnd", "u32", a, three)
    c.out("u32", c.emit("OpVectorExtractDynamic", "u32", v, at), [V[i][A[i] & 3] for i in rng])
    r = c.emit("OpVectorInsertDynamic", "v4u32", v, b, at)
    all4(r, [[B[i] if j == A[i] & 3 else V[i][j] for j in range(4)] for i in rng])
    less = c.emit("OpULessThan", "v4bool", v, w)
    c.boolean(c.emit("OpAny", "bool", less), [any(p < q for p, q in zip(V[i], W[i])) for i in rng])
    c.boolean(c.emit("OpAll", "bool", less), [all(p < q for p, q in zip(V[i], W[i])) for i in rng])
    all4(c.emit("OpSelect", "v4u32", less, v, w), [[min(p, q) for p, q in zip(V[i], W[i])] for i in rng])
    all4(c.ext("v4u32", "shuffle", v, w), [[V[i][W[i][j] & 3] for j in range(4)] for i in rng])
    all4(c.ext("v4u32", "shuffle2", v, w, w), [[(V[i] + W[i])[W[i][j] & 7] for j in range(4)] for i in rng])
    f = c.emit("OpConvertUToF", "v4f32", v)
    g = c.emit("OpConvertUToF", "v4f32", w)
    fl = lambda rows: [[np.float32(x) for x in row] for row in rows]
    FV, FW = fl(V), fl(W)
    c.out("f32", c.emit("OpDot", "f32", f, g), [np.float32(sum(p * q for p, q in zip(V[i], W[i]))) for i in rng])
    tw = c.emit("OpVectorTimesScalar", "v4f32", f, c.const("f32", 1.5))
    c.out("f32", c.emit("OpCompositeExtract", "f32", tw, 1), [np.float32(B[i] * 1.5) for i in rng])
    c.out("f32", c.ext("f32", "length", f), [np.float32(math.sqrt(sum(p * p for p in V[i]))) for i in rng], 2)
    c.out("f32", c.ext("f32", "distance", f, g), [np.float32(math.sqrt(sum((p - q) ** 2 for p, q in zip(V[i], W[i])))) for i in rng], 2)
    r = c.ext("v4f32", "normalize", f)
    c.out("f32", c.emit("OpCompositeExtract", "f32", r, 0), [np.float32(A[i] / math.sqrt(sum(p * p for p in V[i]))) for i in rng], 3)
    r = c.ext("v4f32", "cross", f, g)
    for j in range(3):
        k, l = (j + 1) % 3, (j + 2) % 3
        c.out("f32", c.emit("OpCompositeExtract", "f32", r, j), [np.float32(V[i][k] * W[i][l] - V[i][l] * W[i][k]) for i in rng])
    r = c.ext("v4f32", "sqrt", f)
    c.out("f32", c.emit("OpCompositeExtract", "f32", r, 1), [np.sqrt(np.float32(B[i])) for i in rng])
    # Structures and arrays as values.
    c.globals += "%arr = OpTypeArray %u32 " + three + "\n%st = OpTypeStruct %u32 %arr %v4f32\n"
    arr = c.emit("OpCompositeConstruct", "arr", a, b, a)
    st = c.emit("OpCompositeConstruct", "st", a, arr, f)
    st2 = c.emit("OpCompositeInsert", "st", b, st, 1, 2)
    st3 = c.emit("OpCompositeInsert", "st", c.const("f32", 9.0), st2, 2, 3)
    c.out("u32", c.emit("OpCompositeExtract", "u32", st3, 1, 2), B)
    c.out("u32", c.emit("OpCompositeExtract", "u32", st3, 1, 0), A)
    c.out("f32", c.emit("OpCompositeExtract", "f32", st3, 2, 3), [9.0] * 32)
    c.out("f32", c.emit("OpCompositeExtract", "f32", st3, 2, 1), [np.float32(x) for x in B])
    c.write()


def control_case():
    c = Case("control")
    rng = range(32)
    A = [random.randrange(0, 40) for _ in rng]
    a = c.input("u32", A)
    one, zero = c.const("u32", 1), c.const("u32", 0)
    ten, twenty = c.const("u32", 10), c.const("u32", 20)
    # A loop with phis, unrolled by hint: sum of squares below a.
    c.line("OpBranch %head\n%head = OpLabel\n%i = OpPhi %u32 " + zero + " %entry %i2 %latch\n%sum = OpPhi %u32 " + zero + " %entry %sum2 %latch\n"
           "%more = OpULessThan %bool %i " + a + "\nOpLoopMerge %done %latch Unroll\nOpBranchConditional %more %work %done\n%work = OpLabel\n"
           "%sq = OpIMul %u32 %i %i\n%sum2 = OpIAdd %u32 %sum %sq\nOpBranch %latch\n%latch = OpLabel\n%i2 = OpIAdd %u32 %i " + one + "\nOpBranch %head\n%done = OpLabel")
    c.out("u32", "%sum", [sum(k * k for k in range(v)) for v in A])
    # Several cases go to one block, whose phi names the parent once.
    r7 = c.const("u32", 7)
    m = c.emit("OpUMod", "u32", a, r7)
    c.line("OpSelectionMerge %sm None\nOpSwitch " + m + " %sd 0 %s0 1 %s1 2 %sm 3 %sm 4 %s1\n%s0 = OpLabel\nOpBranch %sm\n%s1 = OpLabel\nOpBranch %sm\n%sd = OpLabel\n"
           "OpBranch %sm\n%sm = OpLabel\n%sr = OpPhi %u32 " + f"{ten} %s0 {twenty} %s1 {one} %sd {zero} %done")
    c.out("u32", "%sr", [{0: 10, 1: 20, 4: 20, 2: 0, 3: 0}.get(v % 7, 1) for v in A])
    # Both targets of a branch are one block.
    c.line("%cond = OpIEqual %bool " + a + " " + one + "\nOpSelectionMerge %same None\nOpBranchConditional %cond %same %same\n%same = OpLabel\n%sp = OpPhi %u32 " + a + " %sm")
    c.out("u32", "%sp", A)
    # A call, and a switch over 64 bits.
    c.functions = ("%ft = OpTypeFunction %u32 %u32 %u32\n%f = OpFunction %u32 None %ft\n%fa = OpFunctionParameter %u32\n%fb = OpFunctionParameter %u32\n%fl = OpLabel\n"
                   "%big = OpIMul %u32 %fa %fb\n%fc = OpUGreaterThan %bool %big " + twenty + "\nOpSelectionMerge %fm None\nOpBranchConditional %fc %fy %fm\n%fy = OpLabel\nOpReturnValue %fb\n"
                   "%fm = OpLabel\nOpReturnValue %big\nOpFunctionEnd\n")
    c.out("u32", c.emit("OpFunctionCall", "u32", "%f", a, m), [m_ if v * m_ > 20 else v * m_ for v in A for m_ in [v % 7]])
    w = c.emit("OpUConvert", "u64", a)
    c.line("OpSelectionMerge %wm None\nOpSwitch " + w + " %wm 5 %w5 8589934592 %w5\n%w5 = OpLabel\nOpBranch %wm\n%wm = OpLabel\n%wr = OpPhi %u32 " + f"{ten} %w5 {one} %same")
    c.out("u32", "%wr", [10 if v == 5 else 1 for v in A])
    c.write()


def memory_case():
    c = Case("memory")
    rng = range(32)
    A = [random.getrandbits(32) for _ in rng]
    a = c.input("u32", A)
    u = lambda v: c.const("u32", v)
    parts = [u(v) for v in (11, 22, 33, 44)]
    c.globals += (f"%arr = OpTypeArray %u32 {u(4)}\n%init = OpConstantComposite %arr {' '.join(parts)}\n%st = OpTypeStruct %u8 %u32 %arr\n"
                  f"%f_arr = OpTypePointer Function %arr\n%f_st = OpTypePointer Function %st\n%k_arr = OpTypePointer UniformConstant %arr\n%k_u32 = OpTypePointer UniformConstant %u32\n"
                  f"%table = OpVariable %k_arr UniformConstant %init\n%g_arr = OpTypePointer CrossWorkgroup %arr\n%glob = OpVariable %g_arr CrossWorkgroup %init\n"
                  f"%l_arr = OpTypePointer Workgroup %arr\n%shared = OpVariable %l_arr Workgroup\n%null = OpConstantNull %st\n%t_u32 = OpTypePointer Generic %u32\n")
    c.line("%var = OpVariable %f_arr Function %init")
    c.line("%svar = OpVariable %f_st Function %null")
    i = c.emit("OpBitwiseAnd", "u32", a, u(3))
    I = [v & 3 for v in A]
    vals = [11, 22, 33, 44]
    for kind, var, ptr in (("variable", "%var", "f_u32"), ("constant", "%table", "k_u32"), ("global", "%glob", "p_u32")):
        p = c.emit("OpInBoundsAccessChain", ptr, var, i)
        c.out("u32", c.emit("OpLoad", "u32", p, "Aligned", 4), [vals[k] for k in I])
    # A structure in private memory: padding, an array in it, a copy of bytes.
    p = c.emit("OpAccessChain", "f_u32", "%svar", u(1))
    c.line(f"OpStore {p} {a} Aligned 4")
    q = c.emit("OpAccessChain", "f_u32", "%svar", u(2), i)
    c.line(f"OpStore {q} {a} Aligned 4")
    c.out("u32", c.emit("OpLoad", "u32", c.emit("OpAccessChain", "f_u32", "%svar", u(2), u(0)), "Aligned", 4), [A[k] if I[k] == 0 else 0 for k in rng])
    c.out("u32", c.emit("OpLoad", "u32", p, "Volatile|Aligned", 4), A)
    dst = c.emit("OpAccessChain", "f_arr", "%svar", u(2))
    c.line(f"OpCopyMemorySized {dst} %var {c.const('u64', 16)} Aligned 4")
    c.out("u32", c.emit("OpLoad", "u32", q, "Aligned", 4), [vals[k] for k in I])
    # Generic addresses and where they come from.
    gp = c.emit("OpPtrCastToGeneric", "t_u32", q)
    c.line(f"OpStore {gp} {a} Aligned 4")
    c.out("u32", c.emit("OpLoad", "u32", q, "Aligned", 4), A)
    back = c.emit("OpGenericCastToPtrExplicit", "f_u32", gp, "Function")
    c.out("u32", c.emit("OpLoad", "u32", back, "Aligned", 4), A)
    c.globals += "%nullp = OpConstantNull %p_u32\n"
    wrong = c.emit("OpGenericCastToPtrExplicit", "p_u32", gp, "CrossWorkgroup")
    n = c.emit("OpConvertPtrToU", "u64", wrong)
    c.boolean(c.emit("OpIEqual", "bool", n, c.const("u64", 0)), [1] * 32)
    # Vectors behind pointers to their elements.
    base = c.emit("OpInBoundsAccessChain", "f_u32", "%var", u(0))
    v = c.ext("v2u32", "vloadn", c.const("u64", 1), base, 2)
    c.out("u32", c.emit("OpCompositeExtract", "u32", v, 0), [33] * 32)
    c.line(f"%vs = OpExtInst %void %cl vstoren {v} {c.const('u64', 0)} {base}")
    c.out("u32", c.emit("OpLoad", "u32", base, "Aligned", 4), [33] * 32)
    # Half precision in memory.
    c.line("%hvar = OpVariable %f_f16 Function")
    f = c.emit("OpConvertUToF", "f32", i)
    f = c.emit("OpFAdd", "f32", f, c.const("f32", 0.1))
    for mode in ("RTE", "RTZ", "RTP"):
        c.line(f"{c.fresh()} = OpExtInst %void %cl vstore_half_r {f} {c.const('u64', 0)} %hvar {mode}")
        r = c.ext("f32", "vload_half", c.const("u64", 0), "%hvar")

        def half(v):
            near = np.float16(v)
            if mode == "RTE" or float(near) == float(v):
                return near
            down = near if float(near) < v else np.nextafter(near, np.float16(-1e4))
            return np.nextafter(down, np.float16(1e4)) if mode == "RTP" else down
        c.out("f32", r, [np.float32(half(np.float32(k) + np.float32(0.1))) for k in I])
    # Work-group memory and a barrier: each thread reads its neighbour's word.
    c.shared = 128
    lp = c.emit("OpInBoundsPtrAccessChain", "l_u32", "%local", "%lid")
    c.line(f"OpStore {lp} {a} Aligned 4")
    two, sem = u(2), u(0x110)
    c.line(f"OpControlBarrier {two} {two} {sem}")
    nb = c.emit("OpBitwiseXor", "u64", "%lid", c.const("u64", 1))
    lq = c.emit("OpInBoundsPtrAccessChain", "l_u32", "%local", nb)
    c.out("u32", c.emit("OpLoad", "u32", lq, "Aligned", 4), [A[k ^ 1] for k in rng])
    c.write()


def group_case(threads):
    c = Case(f"group{threads}", threads)
    rng = range(threads)
    A = [random.randrange(0, 1000) for _ in rng]
    a = c.input("u32", A)
    X = [random.getrandbits(63) for _ in rng]
    x = c.input("u64", X)
    H = [random.randrange(0, 4) for _ in rng]
    h = c.emit("OpConvertUToF", "f32", c.input("u32", H))
    u = lambda v: c.const("u32", v)
    subs = [list(range(s, min(s + 32, threads))) for s in range(0, threads, 32)]
    c.extra = 'OpExtension "SPV_KHR_uniform_group_instructions"\n'
    c.capabilities.add("GroupUniformArithmeticKHR")

    def every(group_list, f):
        rows = [None] * threads
        for g in group_list:
            for at, t in enumerate(g):
                rows[t] = f(g, at)
        return rows
    ops = {"OpGroupIAdd": ("u32", a, A, sum, 0), "OpGroupUMax": ("u64", x, X, max, 0), "OpGroupUMin": ("u32", a, A, min, 0xffffffff), "OpGroupSMax": ("u32", a, A, max, 1 << 31),
           "OpGroupSMin": ("u64", x, X, min, (1 << 63) - 1), "OpGroupFAdd": ("f32", h, H, sum, 0.0), "OpGroupFMax": ("f32", h, H, max, -math.inf), "OpGroupFMin": ("f32", h, H, min, math.inf),
           "OpGroupBitwiseXorKHR": ("u32", a, A, lambda l: __import__("functools").reduce(lambda p, q: p ^ q, l), 0)}
    for scope, groups in ((2, [list(rng)]), (3, subs)):
        for op, (ty, reg, vals, f, neutral) in ops.items():
            pick = lambda l: f([vals[t] for t in l])
            c.out(ty, c.emit(op, ty, u(scope), "Reduce", reg), every(groups, lambda g, at: pick(g)))
            c.out(ty, c.emit(op, ty, u(scope), "InclusiveScan", reg), every(groups, lambda g, at: pick(g[:at + 1])))
            c.out(ty, c.emit(op, ty, u(scope), "ExclusiveScan", reg), every(groups, lambda g, at: pick(g[:at]) if at else neutral))
        some = c.emit("OpUGreaterThan", "bool", a, u(900))
        c.boolean(c.emit("OpGroupAny", "bool", u(scope), some), every(groups, lambda g, at: any(A[t] > 900 for t in g)))
        c.boolean(c.emit("OpGroupAll", "bool", u(scope), some), every(groups, lambda g, at: all(A[t] > 900 for t in g)))
        c.out("u32", c.emit("OpGroupBroadcast", "u32", u(scope), a, c.const("u64", 3) if scope == 2 else u(3)), every(groups, lambda g, at: A[g[3]]))
    lanes = lambda f: every(subs, f)
    load = lambda b: c.emit("OpLoad", "u32", b)
    c.out("u32", load("%sgsize"), lanes(lambda g, at: len(g)))
    c.out("u32", load("%sgid"), lanes(lambda g, at: g[0] // 32))
    c.out("u32", load("%sglid"), lanes(lambda g, at: at))
    c.out("u32", load("%nsg"), [len(subs)] * threads)
    s3 = u(3)
    nu = lambda op, ty, *args: c.emit("OpGroupNonUniform" + op, ty, s3, *args)
    odd = c.emit("OpINotEqual", "bool", c.emit("OpBitwiseAnd", "u32", a, u(1)), u(0))
    O = [v & 1 for v in A]
    c.boolean(nu("Elect", "bool"), lanes(lambda g, at: at == 0))
    c.boolean(nu("All", "bool", odd), lanes(lambda g, at: all(O[t] for t in g)))
    c.boolean(nu("Any", "bool", odd), lanes(lambda g, at: any(O[t] for t in g)))
    c.boolean(nu("AllEqual", "bool", u(5)), [1] * threads)
    c.boolean(nu("AllEqual", "bool", a), lanes(lambda g, at: len({A[t] for t in g}) == 1))
    ballot = nu("Ballot", "v4u32", odd)
    word = lambda g: sum(O[t] << k for k, t in enumerate(g))
    c.out("u32", c.emit("OpCompositeExtract", "u32", ballot, 0), lanes(lambda g, at: word(g)))
    c.out("u32", c.emit("OpCompositeExtract", "u32", ballot, 1), [0] * threads)
    c.boolean(nu("InverseBallot", "bool", ballot), O)
    c.boolean(nu("BallotBitExtract", "bool", ballot, u(2)), lanes(lambda g, at: O[g[2]]))
    c.out("u32", nu("BallotBitCount", "u32", "Reduce", ballot), lanes(lambda g, at: sum(O[t] for t in g)))
    c.out("u32", nu("BallotBitCount", "u32", "InclusiveScan", ballot), lanes(lambda g, at: sum(O[t] for t in g[:at + 1])))
    c.out("u32", nu("BallotBitCount", "u32", "ExclusiveScan", ballot), lanes(lambda g, at: sum(O[t] for t in g[:at])))
    find = c.const("v4u32", (40, 0, 0, 0))
    c.out("u32", nu("BallotFindLSB", "u32", find), [3] * threads)
    c.out("u32", nu("BallotFindMSB", "u32", find), [5] * threads)
    c.out("u64", nu("Broadcast", "u64", x, u(1)), lanes(lambda g, at: X[g[1]]))
    c.out("u32", nu("BroadcastFirst", "u32", a), lanes(lambda g, at: A[g[0]]))
    c.out("u64", nu("Shuffle", "u64", x, c.emit("OpBitwiseAnd", "u32", "%lid32", u(3))), lanes(lambda g, at: X[g[at & 3]]))
    c.out("u32", nu("ShuffleXor", "u32", a, u(1)), lanes(lambda g, at: A[g[at ^ 1]]))
    # What comes from outside the sub-group is undefined, so it is not looked at.
    sglid = load("%sglid")
    inside = c.emit("OpUGreaterThanEqual", "bool", sglid, u(2))
    up = c.emit("OpSelect", "u32", inside, nu("ShuffleUp", "u32", a, u(2)), u(0))
    c.out("u32", up, lanes(lambda g, at: A[g[at - 2]] if at >= 2 else 0))
    size = load("%sgsize")
    inside = c.emit("OpULessThan", "bool", c.emit("OpIAdd", "u32", sglid, u(2)), size)
    down = c.emit("OpSelect", "u32", inside, nu("ShuffleDown", "u32", a, u(2)), u(0))
    c.out("u32", down, lanes(lambda g, at: A[g[at + 2]] if at + 2 < len(g) else 0))
    c.out("u32", nu("IAdd", "u32", "ClusteredReduce", a, u(4)), lanes(lambda g, at: sum(A[t] for t in g[at & ~3:(at & ~3) + 4])))
    # Only some lanes get here.
    c.line("OpSelectionMerge %joined None\nOpBranchConditional " + odd + " %odds %joined\n%odds = OpLabel")
    s = nu("IAdd", "u32", "Reduce", a)
    sc = nu("IAdd", "u32", "ExclusiveScan", a)
    both = c.emit("OpIMul", "u32", s, u(3))
    both = c.emit("OpIAdd", "u32", both, sc)
    c.line("OpBranch %joined\n%joined = OpLabel\n%part = OpPhi %u32 " + both + " %odds " + u(0) + " %entry")
    c.out("u32", "%part", lanes(lambda g, at: 3 * sum(A[t] for t in g if O[t]) + sum(A[t] for t in g[:at] if O[t]) if O[g[at]] else 0))
    c.write()


def atomic_case():
    c = Case("atomic", 64)
    rng = range(64)
    A = [random.randrange(1, 1000) for _ in rng]
    a = c.input("u32", A)
    u = lambda v: c.const("u32", v)
    c.shared = 256
    c.capabilities |= {"AtomicFloat32AddEXT", "AtomicFloat32MinMaxEXT"}
    c.extra = 'OpExtension "SPV_EXT_shader_atomic_float_add"\nOpExtension "SPV_EXT_shader_atomic_float_min_max"\n'
    f = c.emit("OpConvertUToF", "f32", a)
    slot = lambda k, ty="l_u32": c.emit("OpInBoundsPtrAccessChain", ty, "%local", c.const("u64", k))
    zero = u(0)
    p = c.emit("OpInBoundsPtrAccessChain", "l_u32", "%local", "%lid")
    first = c.emit("OpSelect", "u32", c.emit("OpIEqual", "bool", "%lid32", u(2)), u(0xffffffff), zero)
    fmin = c.const("u32", struct.unpack("<I", struct.pack("<f", 1e9))[0])
    first = c.emit("OpSelect", "u32", c.emit("OpIEqual", "bool", "%lid32", u(9)), fmin, first)
    c.line(f"OpStore {p} {first} Aligned 4")
    barrier = f"OpControlBarrier {u(2)} {u(2)} {u(0x110)}"
    c.line(barrier)
    for k, (op, order) in enumerate([("IAdd", 0), ("UMax", 8), ("UMin", 4), ("SMax", 2), ("Or", 16), ("Xor", 0)]):
        c.line(f"{c.fresh()} = OpAtomic{op} %u32 {slot(k)} {u([1, 2][k % 2])} {u(order)} {a}")
    fslot = lambda k: c.emit("OpBitcast", "l_f32", slot(k))
    c.line(f"{c.fresh()} = OpAtomicIIncrement %u32 {slot(6)} {u(1)} {zero}")
    c.line(f"{c.fresh()} = OpAtomicFAddEXT %f32 {fslot(7)} {u(1)} {zero} {f}")
    c.line(f"{c.fresh()} = OpAtomicFMaxEXT %f32 {fslot(8)} {u(1)} {u(16)} {f}")
    c.line(f"{c.fresh()} = OpAtomicFMinEXT %f32 {fslot(9)} {u(2)} {u(8)} {f}")
    generic = c.emit("OpPtrCastToGeneric", "g_u32", slot(10))
    c.line(f"{c.fresh()} = OpAtomicIAdd %u32 {generic} {u(1)} {zero} {a}")
    c.line(f"{c.fresh()} = OpAtomicISub %u32 {slot(11)} {u(1)} {zero} {a}")
    # Compare and exchange: one thread finds the zero.
    old = c.emit("OpAtomicCompareExchange", "u32", slot(12), u(1), u(16), u(16), u(77), zero)
    won = c.emit("OpSelect", "u32", c.emit("OpIEqual", "bool", old, zero), u(1), zero)
    c.line(f"{c.fresh()} = OpAtomicIAdd %u32 {slot(13)} {u(1)} {zero} {won}")
    c.line(f"OpAtomicStore {slot(14)} {u(1)} {u(4)} {u(5)}")
    c.line(f"{c.fresh()} = OpAtomicExchange %u32 {slot(15)} {u(1)} {u(8)} {u(6)}")
    c.line(f"OpMemoryBarrier {u(1)} {u(0x108)}")
    c.line(barrier)
    fb = lambda v: struct.unpack("<I", struct.pack("<f", v))[0]
    xor = 0
    orr = 0
    for v in A:
        xor ^= v
        orr |= v
    want = [sum(A), max(A), min(A), max(A), orr, xor, 64, fb(float(sum(A))), fb(float(max(A))), fb(float(min(A))), sum(A), -sum(A) & 0xffffffff, 77, 1, 5, 6]
    for k, v in enumerate(want):
        c.out("u32", c.emit("OpAtomicLoad", "u32", slot(k), u(1), u(2)), [v] * 64)
    c.write()


if __name__ == "__main__":
    for n in (8, 16, 32, 64):
        integer_case(n)
    for n in (16, 32, 64):
        float_case(n)
    conversion_case()
    vector_case()
    control_case()
    memory_case()
    group_case(100)
    atomic_case()
