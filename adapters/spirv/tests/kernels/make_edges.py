#!/usr/bin/env python3
"""Kernels of OpenCL's mathematical functions at the ends of their domains: zeroes of both signs, subnormal numbers, the largest ones,
infinities, what is no number, arguments far from zero. The bounds are OpenCL's for the full profile, in units of the last place. make.py
says how kernels are written. Run after a change: make_edges.py."""
import math
import random
import struct
from fractions import Fraction

import mpmath
import numpy as np

from make import FORMATS, NP, Case

random.seed(19)
mpmath.mp.prec = 300
THREADS = 64
PI = mpmath.pi
NAN, INF = math.nan, math.inf


def values_of(F):
    info = np.finfo(F)
    tiny, sub, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    one = [float(np.nextafter(F(1), F(0))), float(np.nextafter(F(1), F(2)))]
    both = [0.0, sub, sub * 3, tiny - sub, tiny, tiny * 2, most, most / 2, INF, 0.5, 1.0, 1.5, 2.5, 2.0 ** -13, *one, float(F(math.pi)), float(F(math.pi / 2)), 7.0, 100.25, 20000.0, 1e-3]
    both += [1e10, 1e30, 1e22] if F != np.float16 else [600.0, 31.0, 2048.0]
    signed = [s * v for v in both for s in (1.0, -1.0)] + [NAN]
    signed += [random.choice((-1, 1)) * 2.0 ** random.uniform(-12, 12) for _ in range(THREADS)]
    return [F(v) for v in signed[:THREADS]]


def to(F, r):
    """The nearest number, beyond the largest an infinity."""
    if isinstance(r, mpmath.mpc):
        return F(NAN)
    if isinstance(r, float):
        return F(r)
    if abs(r) > mpmath.mpf(2) ** 1025:
        return F(math.copysign(INF, r))
    return F(float(r))


def power(x, y):
    """x ** y for finite numbers, without numbers that are too large to write down."""
    if x == 0 or y == 0:
        return mpmath.mpf(1) if y == 0 else mpmath.mpf(0) if y > 0 else INF
    size = mpmath.log(abs(x), 2) * y
    sign = -1 if x < 0 and y % 2 == 1 else 1
    if x < 0 and y != mpmath.floor(y):
        return NAN
    return sign * (INF if size > 20000 else 0.0 if size < -20000 else mpmath.power(abs(x), y))


def grows(f, high, low):
    """A function that is beyond all numbers from some argument on."""
    return lambda v: high if v > 30000 else low if v < -30000 else f(v)


def gamma(v):
    return NAN if v < 0 and v == mpmath.floor(v) else INF if v > 300 else 0.0 if v < -400 else mpmath.gamma(v)


def log_gamma(v):
    if v <= 0 and v == mpmath.floor(v):
        return INF
    return mpmath.loggamma(v) if v > 0 else mpmath.log(PI / abs(mpmath.sin(PI * v))) - mpmath.loggamma(1 - v)


def tan_pi(v):
    whole = mpmath.floor(v)
    if v - whole == 0.5:
        return -INF if int(whole) % 2 else INF
    return mpmath.tan(PI * (v - mpmath.nint(v)))


# Name: the exact function of finite numbers, its values at infinity, at minus infinity and at zero (None: what the function says), ulps.
same = lambda v: v
UNARY = {
    "acos": (mpmath.acos, NAN, NAN, None, 4), "acosh": (lambda v: mpmath.acosh(v) if v >= 1 else NAN, INF, NAN, NAN, 4), "acospi": (lambda v: mpmath.acos(v) / PI, NAN, NAN, None, 5),
    "asin": (mpmath.asin, NAN, NAN, "sign", 4), "asinh": (mpmath.asinh, INF, -INF, "sign", 4), "asinpi": (lambda v: mpmath.asin(v) / PI, NAN, NAN, "sign", 5),
    "atan": (mpmath.atan, float(PI / 2), -float(PI / 2), "sign", 5), "atanh": (lambda v: math.copysign(INF, v) if abs(v) == 1 else mpmath.atanh(v) if abs(v) < 1 else NAN, NAN, NAN, "sign", 5),
    "atanpi": (lambda v: mpmath.atan(v) / PI, 0.5, -0.5, "sign", 5), "cbrt": (lambda v: mpmath.sign(v) * mpmath.cbrt(abs(v)), INF, -INF, "sign", 2), "ceil": (mpmath.ceil, INF, -INF, "sign", 0),
    "cos": (mpmath.cos, NAN, NAN, None, 4), "cosh": (grows(mpmath.cosh, INF, INF), INF, INF, None, 4), "cospi": (lambda v: mpmath.mpf(0) if v % 1 == 0.5 else mpmath.cos(PI * (v % 2)), NAN, NAN, None, 4),
    "erf": (lambda v: mpmath.erf(v) if abs(v) < 50 else mpmath.sign(v), 1.0, -1.0, "sign", 16), "erfc": (lambda v: mpmath.erfc(v) if abs(v) < 50 else 1 - mpmath.sign(v), 0.0, 2.0, None, 16),
    "exp": (grows(mpmath.exp, INF, 0.0), INF, 0.0, None, 3), "exp2": (grows(lambda v: mpmath.power(2, v), INF, 0.0), INF, 0.0, None, 3), "exp10": (grows(lambda v: mpmath.power(10, v), INF, 0.0), INF, 0.0, None, 3),
    "expm1": (grows(mpmath.expm1, INF, -1.0), INF, -1.0, "sign", 3), "fabs": (abs, INF, INF, None, 0), "floor": (mpmath.floor, INF, -INF, "sign", 0),
    "log": (lambda v: mpmath.log(v) if v > 0 else NAN, INF, NAN, -INF, 3), "log2": (lambda v: mpmath.log(v, 2) if v > 0 else NAN, INF, NAN, -INF, 3), "log10": (lambda v: mpmath.log10(v) if v > 0 else NAN, INF, NAN, -INF, 3),
    "log1p": (lambda v: mpmath.log1p(v) if v > -1 else -INF if v == -1 else NAN, INF, NAN, "sign", 2), "logb": (lambda v: mpmath.mpf(mpmath.frexp(v)[1] - 1), INF, INF, -INF, 0),
    "lgamma": (log_gamma, INF, INF, INF, 6), "rint": (mpmath.nint, INF, -INF, "sign", 0), "round": (lambda v: mpmath.sign(v) * mpmath.floor(abs(v) + 0.5), INF, -INF, "sign", 0),
    "rsqrt": (lambda v: 1 / mpmath.sqrt(v) if v > 0 else NAN, 0.0, NAN, "pole", 2), "sin": (mpmath.sin, NAN, NAN, "sign", 4), "sinh": (grows(mpmath.sinh, INF, -INF), INF, -INF, "sign", 4),
    "sinpi": (lambda v: mpmath.mpf(0) if v % 1 == 0 else mpmath.sin(PI * (v - 2 * mpmath.nint(v / 2))), NAN, NAN, "sign", 4), "sqrt": (lambda v: mpmath.sqrt(v) if v >= 0 else NAN, INF, NAN, "sign", 0), "tan": (mpmath.tan, NAN, NAN, "sign", 5),
    "tanh": (lambda v: mpmath.tanh(v) if abs(v) < 400 else mpmath.sign(v), 1.0, -1.0, "sign", 5), "tanpi": (tan_pi, NAN, NAN, "sign", 6), "tgamma": (gamma, INF, NAN, "pole", 16),
    "trunc": (lambda v: mpmath.sign(v) * mpmath.floor(abs(v)), INF, -INF, "sign", 0), "degrees": (lambda v: v * 180 / PI, INF, -INF, "sign", 2), "radians": (lambda v: v * PI / 180, INF, -INF, "sign", 2),
    "sign": (mpmath.sign, 1.0, -1.0, "sign", 0),
}


def unary(F, row, v):
    f, high, low, zero, _ = row
    x = float(v)
    if math.isnan(x):
        return F(0.0 if f is mpmath.sign else NAN)
    if math.isinf(x):
        return F(high if x > 0 else low)
    if x == 0 and zero is not None:
        return F(x if zero == "sign" else math.copysign(INF, x) if zero == "pole" else zero)
    r = to(F, f(mpmath.mpf(x)))
    return np.copysign(r, F(x)) if r == 0 and zero == "sign" else r


def exactly(f):
    """A function of finite numbers as fractions, whose result is one of their type."""
    def of(F, a, b):
        x, y = float(a), float(b)
        if not (math.isfinite(x) and math.isfinite(y)) or y == 0:
            return F(NAN if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0 else x)
        r = f(Fraction(x), Fraction(y))
        return np.copysign(F(0), a) if r == 0 else F(float(r))
    return of


def remainder(x, y):
    return x - y * round(x / y)


def quotient(x, y):
    q = round(Fraction(x) / Fraction(y))
    return (abs(q) & 127) * (1 if q >= 0 else -1)


def finite(f, of):
    """`f` for finite numbers, `of` for pairs with others among them."""
    def both(F, a, b):
        x, y = float(a), float(b)
        if not (math.isfinite(x) and math.isfinite(y)):
            return F(of(x, y))
        if x == 0 or y == 0:
            return F(of(x, y))
        return to(F, f(mpmath.mpf(x), mpmath.mpf(y)))
    return both


def no_base(x, y):
    """powr where one is zero or not finite."""
    if math.isnan(x) or math.isnan(y) or x < 0:
        return NAN
    if x == 0:
        return NAN if y == 0 else INF if y < 0 else 0.0
    if math.isinf(y):
        return NAN if x == 1 else INF if (x > 1) == (y > 0) else 0.0
    if math.isinf(x):
        return NAN if y == 0 else INF if y > 0 else 0.0
    return 1.0


def base(x, y):
    return NAN if x < 0 else power(x, y)


def magnitude(larger):
    def f(F, a, b):
        if np.isnan(a) or np.isnan(b):
            return b if np.isnan(a) else a
        if abs(a) == abs(b):
            return extremum(larger)(F, a, b)
        return a if (abs(a) > abs(b)) == larger else b
    return f


def extremum(larger):
    """Of two zeroes the positive one is larger, as on the device; OpenCL leaves it open."""
    def f(F, a, b):
        if a == 0 and b == 0:
            negative = np.signbit(a) and np.signbit(b) if larger else np.signbit(a) or np.signbit(b)
            return F(-0.0 if negative else 0.0)
        return F((np.fmax if larger else np.fmin)(a, b))
    return f


np_pair = lambda f: lambda F, a, b: F(f(np.float64(a), np.float64(b)))
BINARY = {
    "atan2": (finite(mpmath.atan2, lambda x, y: float(np.arctan2(x, y))), 6),
    "atan2pi": (finite(lambda x, y: mpmath.atan2(x, y) / PI, lambda x, y: float(np.arctan2(x, y) / np.pi)), 6),
    "copysign": (lambda F, a, b: np.copysign(a, b), 0), "fdim": (lambda F, a, b: F(NAN) if np.isnan(a) or np.isnan(b) else a - b if a > b else F(0), 0),
    "fmax": (extremum(True), 0), "fmin": (extremum(False), 0), "hypot": (finite(lambda x, y: mpmath.sqrt(x * x + y * y), lambda x, y: float(np.hypot(x, y))), 4),
    "fmod": (exactly(lambda x, y: x - y * int(x / y)), 0), "remainder": (exactly(remainder), 0),
    "maxmag": (magnitude(True), 0), "minmag": (magnitude(False), 0), "nextafter": (lambda F, a, b: b if a == b else np.nextafter(a, b, dtype=F), 0),
    "pow": (finite(power, lambda x, y: float(np.power(x, y))), 16), "powr": (finite(base, no_base), 16),
}


def rest_and_quotient(c, F, x, y):
    """remquo of two inputs, each with its values. Where one is not finite or the divisor is 0 OpenCL says nothing of the quotient."""
    (a, A), (b, B), ty = x, y, f"f{F(0).itemsize * 8}"
    e = c.fresh()
    c.line(f"{e} = OpVariable %f_u32 Function")
    c.out(ty, c.ext(ty, "remquo", a, b, e), [BINARY["remainder"][0](F, p, q) for p, q in zip(A, B)])
    fits = [math.isfinite(p) and math.isfinite(q) and q != 0 for p, q in zip(A, B)]
    valid = c.emit("OpINotEqual", "bool", c.input("u32", [int(v) for v in fits]), c.const("u32", 0))
    bits = c.emit("OpLoad", "u32", e, "Aligned", 4)
    c.out("u32", c.emit("OpSelect", "u32", valid, bits, c.const("u32", 0)), [quotient(float(p), float(q)) if ok else 0 for p, q, ok in zip(A, B, fits)])


# Shares of the largest number whose quotients are rounded up, or down, near the ends of what a type has; then, in units of the smallest
# number, what only subnormal ones have.
LARGE = [(1, 0.6), (0.9, 0.55), (1, 0.3), (0.67, 0.67), (0.7, 0.99), (0.51, 1), (1, 0.4), (1, 1 / 127.4), (0.997, 1 / 129.6), (1, 1 / 255.3)]
SMALL = [(5, 3), (383, 3), (127, 1), (7, 2), (1000, 401), (2, 7)]


def edge_case(n):
    ty, F = f"f{n}", NP[f"f{n}"]
    c = Case(f"edges{n}", THREADS)
    V = values_of(F)
    x = c.input(ty, V)
    rows = range(THREADS)
    loose = n == 16
    with np.errstate(all="ignore"):
        for name, row in UNARY.items():
            # In half precision a single's result is rounded once.
            ulps = min(row[4], 1) if loose else row[4]
            want = [unary(F, row, v) for v in V]
            if name == "lgamma":
                # Near its zeroes at negative numbers no bound holds.
                want = [w if v > 0 or not np.isfinite(w) else F(0) for v, w in zip(V, want)]
                keep = c.emit("OpFOrdGreaterThan", "bool", x, c.const(ty, 0.0))
                r = c.ext(ty, name, x)
                huge = c.emit("OpIsFinite", "bool", r)
                drop = c.emit("OpLogicalAnd", "bool", c.emit("OpLogicalNot", "bool", keep), huge)
                c.out(ty, c.emit("OpSelect", ty, drop, c.const(ty, 0.0), r), want, ulps)
                continue
            c.out(ty, c.ext(ty, name, x), want, ulps)
        W = V[:]
        random.shuffle(W)
        A, B = V[:], W[:]
        special = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, 3.0, -3.0]
        pairs = [(p, q) for p in special for q in special]
        random.shuffle(pairs)
        for part in range(2):
            if part:
                A, B = [F(p) for p, _ in pairs[:THREADS]], [F(q) for _, q in pairs[:THREADS]]
            a, b = c.input(ty, A), c.input(ty, B)
            for name, (f, ulps) in BINARY.items():
                c.out(ty, c.ext(ty, name, a, b), [f(F, p, q) for p, q in zip(A, B)], min(ulps, 1) if loose else ulps)
            rest_and_quotient(c, F, (a, A), (b, B))
        # Integers beside numbers.
        N = [random.choice((0, 1, -1, 2, -2, 3, -3, 5, 17, -40, 150, -150, 1100, -1100)) for _ in rows]
        k = c.input("u32", [v & 0xffffffff for v in N])
        scaled = lambda v, e: F(float(v)) if not np.isfinite(v) or v == 0 else to(F, mpmath.mpf(float(v)) * mpmath.mpf(2) ** e)
        c.out(ty, c.ext(ty, "ldexp", x, k), [scaled(v, e) for v, e in zip(V, N)])

        def pown(v, e):
            v = float(v)
            if math.isfinite(v) and v != 0:
                return to(F, power(mpmath.mpf(v), mpmath.mpf(e)))
            return F(np.power(np.float64(v), np.float64(e)))
        c.out(ty, c.ext(ty, "pown", x, k), [pown(v, e) for v, e in zip(V, N)], 1 if loose else 16)

        def rootn(v, e):
            v = float(v)
            if e == 0 or math.isnan(v) or v < 0 and e % 2 == 0:
                return F(NAN)
            if v == 0:
                return F((math.copysign(INF, v) if e % 2 else INF) if e < 0 else (v if e % 2 else 0.0))
            if math.isinf(v):
                return F((math.copysign(0.0, v) if e % 2 else 0.0) if e < 0 else v)
            return to(F, mpmath.sign(mpmath.mpf(v)) * mpmath.exp(mpmath.log(abs(mpmath.mpf(v))) / e))
        c.out(ty, c.ext(ty, "rootn", x, k), [rootn(v, e) for v, e in zip(V, N)], 1 if loose else 16)
        lowest = -(1 << 31)
        c.out("u32", c.ext("u32", "ilogb", x), [lowest if v == 0 else (1 << 31) - 1 if not np.isfinite(v) else int(mpmath.frexp(mpmath.mpf(float(v)))[1]) - 1 for v in V])
        # Two results.
        second, e = c.fresh(), c.fresh()
        c.line(f"{second} = OpVariable %f_{ty} Function")
        c.line(f"{e} = OpVariable %f_u32 Function")
        load = lambda t, p: c.emit("OpLoad", t, p, "Aligned", struct.calcsize(FORMATS[t]))
        below = np.nextafter(F(1), F(0))

        def fract(v):
            if np.isnan(v):
                return v
            return F(math.copysign(0.0, v)) if np.isinf(v) or v == 0 else min(to(F, mpmath.mpf(float(v)) - mpmath.floor(mpmath.mpf(float(v)))), below)
        c.out(ty, c.ext(ty, "fract", x, second), [fract(v) for v in V])
        c.out(ty, load(ty, second), [np.floor(v) for v in V])
        c.out(ty, c.ext(ty, "modf", x, second), [np.copysign(F(0), v) if np.isinf(v) else np.copysign(v - np.trunc(v), v) for v in V])
        c.out(ty, load(ty, second), [np.trunc(v) for v in V])
        c.out(ty, c.ext(ty, "frexp", x, e), [F(math.frexp(float(v))[0]) for v in V])
        finite_ = c.emit("OpIsFinite", "bool", x)
        c.out("u32", c.emit("OpSelect", "u32", finite_, load("u32", e), c.const("u32", 0)), [math.frexp(float(v))[1] if np.isfinite(v) else 0 for v in V])
        c.out(ty, c.ext(ty, "sincos", x, second), [unary(F, UNARY["sin"], v) for v in V], 1 if loose else 4)
        c.out(ty, load(ty, second), [unary(F, UNARY["cos"], v) for v in V], 1 if loose else 4)
        C = V[::-1]
        z = c.input(ty, C)

        def fma(p, q, r):
            if not all(math.isfinite(float(t)) for t in (p, q, r)):
                return F(float(p) * float(q) + float(r)) if not (math.isfinite(float(p)) and math.isfinite(float(q))) else r
            s = mpmath.mpf(float(p)) * mpmath.mpf(float(q)) + mpmath.mpf(float(r))
            return F(float(p) * float(q) + float(r)) if s == 0 else to(F, s)
        c.out(ty, c.ext(ty, "fma", a, b, z), [fma(p, q, r) for p, q, r in zip(A, B, C)], 0 if n == 64 else 1)
        most, least = float(np.finfo(F).max), float(np.finfo(F).smallest_subnormal)
        pairs = [(p * most, q * most) for p, q in LARGE] + [(p * least, q * least) for p, q in SMALL]
        A, B = ([F(s * pair[at]) for pair in pairs for s in signs] for at, signs in ((0, (1, -1, 1, -1)), (1, (1, 1, -1, -1))))
        rest_and_quotient(c, F, (c.input(ty, A), A), (c.input(ty, B), B))
    c.write()


if __name__ == "__main__":
    for bits in (16, 32, 64):
        edge_case(bits)
