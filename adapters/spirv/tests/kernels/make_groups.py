#!/usr/bin/env python3
"""Kernels of the operations of groups: make.py says how they are written. Run after a change: make_groups.py."""
import functools
import math
import random

import numpy as np

from make import NP, Case, signed

random.seed(11)
FUNCTIONS = {
    "IAdd": sum, "FAdd": sum, "IMul": math.prod, "FMul": math.prod, "UMin": min, "UMax": max, "SMin": min, "SMax": max, "FMin": min, "FMax": max,
    "BitwiseAnd": lambda l: functools.reduce(lambda p, q: p & q, l), "BitwiseOr": lambda l: functools.reduce(lambda p, q: p | q, l),
    "BitwiseXor": lambda l: functools.reduce(lambda p, q: p ^ q, l), "LogicalAnd": all, "LogicalOr": any, "LogicalXor": lambda l: sum(l) % 2,
}


class Groups(Case):
    """A case with values of each type, and the sub-groups of its one work-group."""

    def __init__(self, name, threads):
        super().__init__(name, threads)
        self.block = "%entry"
        self.lists = [list(range(s, min(s + 32, threads))) for s in range(0, threads, 32)]
        self.values = {}
        wide = [random.getrandbits(62) | 1 for _ in range(threads)]
        x = self.input("u64", wide)
        for bits in (8, 16, 32):
            self.values[f"u{bits}"] = self.emit("OpUConvert", f"u{bits}", x), [v & ((1 << bits) - 1) for v in wide]
        self.values["u64"] = x, wide
        small = [random.randrange(0, 3) for _ in range(threads)]
        s = self.input("u32", small)
        for bits in (16, 32, 64):
            # Powers of two: sums of a few and products of all are exact.
            ty = f"f{bits}"
            sums = self.emit("OpConvertUToF", ty, s), [NP[ty](v) for v in small]
            exponents = self.emit("OpISub", "u32", s, self.const("u32", 1))
            products = self.ext(ty, "ldexp", self.const(ty, 1.0), exponents), [NP[ty](2.0 ** (v - 1)) for v in small]
            self.values[ty] = sums
            self.values[ty + "p"] = products
        flags = [v & 1 for v in small]
        self.values["bool"] = self.emit("OpINotEqual", "bool", self.emit("OpBitwiseAnd", "u32", s, self.const("u32", 1)), self.const("u32", 0)), flags

    def u(self, value):
        return self.const("u32", value)

    def every(self, lists, f):
        rows = [0] * self.threads
        for members in lists:
            for at, thread in enumerate(members):
                rows[thread] = f(members, at)
        return rows

    def of(self, name, ty):
        """Register and values that the operation is to combine, as Python combines them."""
        reg, values = self.values[ty + "p" if name == "FMul" else ty]
        if name[0] == "S":
            values = [signed(v, int(ty[1:])) for v in values]
        return reg, values

    def neutral(self, name, ty):
        n = int(ty[1:]) if ty != "bool" else 1
        ones = (1 << n) - 1
        return {"IAdd": 0, "FAdd": 0.0, "IMul": 1, "FMul": 1.0, "UMin": ones, "UMax": 0, "SMin": ones >> 1, "SMax": 1 << (n - 1), "FMin": math.inf, "FMax": -math.inf,
                "BitwiseAnd": ones, "BitwiseOr": 0, "BitwiseXor": 0, "LogicalAnd": 1, "LogicalOr": 0, "LogicalXor": 0}[name]

    def take(self, ty, value, expected):
        if ty == "bool":
            self.boolean(value, expected)
        else:
            self.out(ty, value, expected)

    def three(self, emit, name, ty, lists, kinds=("Reduce", "InclusiveScan", "ExclusiveScan")):
        """Reduction and scans: `emit(kind, register)` writes them."""
        reg, values = self.of(name, ty)
        pick = lambda l: FUNCTIONS[name]([values[t] for t in l])
        rows = {"Reduce": lambda g, at: pick(g), "InclusiveScan": lambda g, at: pick(g[: at + 1]), "ExclusiveScan": lambda g, at: pick(g[:at]) if at else self.neutral(name, ty)}
        for kind in kinds:
            self.take(ty, emit(kind, reg), self.every(lists, rows[kind]))

    def branch(self, condition, inside):
        """What `inside` writes is done where the condition holds: (type, value) pairs, zero elsewhere."""
        then, join, before = self.fresh() + "t", self.fresh() + "j", self.block
        self.line(f"OpSelectionMerge {join} None\nOpBranchConditional {condition} {then} {join}\n{then} = OpLabel")
        self.block = then
        results = inside()
        last, self.block = self.block, join
        self.line(f"OpBranch {join}\n{join} = OpLabel")
        phis = []
        for ty, value in results:
            phi = self.fresh()
            self.line(f"{phi} = OpPhi %{ty} {value} {last} {self.const(ty, False if ty == 'bool' else 0 if ty[0] == 'u' else 0.0)} {before}")
            phis.append(phi)
        return phis


def uniform_case():
    """Every operation of OpGroup..., on a partial work-group, by all types."""
    c = Groups("uniform72", 72)
    c.extra = 'OpExtension "SPV_KHR_uniform_group_instructions"\nOpExtension "SPV_AMD_shader_ballot"\n'
    c.capabilities.add("GroupUniformArithmeticKHR")
    whole = [list(range(72))]
    rows = [("IAdd", "", ("u8", "u16")), ("FAdd", "", ("f16", "f64")), ("FMin", "", ("f64",)), ("FMax", "", ("f16",)), ("UMin", "", ("u64",)), ("UMax", "", ("u8",)),
            ("SMin", "", ("u16",)), ("SMax", "", ("u64",)), ("IMul", "KHR", ("u64",)), ("FMul", "KHR", ("f32",)), ("BitwiseAnd", "KHR", ("u32",)), ("BitwiseOr", "KHR", ("u64",)),
            ("LogicalAnd", "KHR", ("bool",)), ("LogicalOr", "KHR", ("bool",)), ("LogicalXor", "KHR", ("bool",))]
    for scope, lists in ((2, whole), (3, c.lists)):
        for name, suffix, types in rows:
            for ty in types:
                c.three(lambda kind, reg: c.emit(f"OpGroup{name}{suffix}", ty, c.u(scope), kind, reg), name, ty, lists)
    for name, ty in (("IAdd", "u32"), ("FAdd", "f32"), ("FMin", "f32"), ("UMin", "u32"), ("SMin", "u32"), ("FMax", "f32"), ("UMax", "u32"), ("SMax", "u32")):
        c.three(lambda kind, reg: c.emit(f"OpGroup{name}NonUniformAMD", ty, c.u(3), kind, reg), name, ty, c.lists, ("Reduce",))
    # A vector takes an operation by its elements.
    a, A = c.values["u32"]
    v = c.emit("OpCompositeConstruct", "v2u32", a, c.values["u32"][0])
    r = c.emit("OpGroupIAdd", "v2u32", c.u(2), "Reduce", v)
    c.out("u32", c.emit("OpCompositeExtract", "u32", r, 1), [sum(A)] * 72)
    r = c.emit("OpGroupBroadcast", "v2u32", c.u(3), v, c.u(5))
    c.out("u32", c.emit("OpCompositeExtract", "u32", r, 0), c.every(c.lists, lambda g, at: A[g[5]]))
    for ty in ("u8", "f64"):
        reg, values = c.values[ty]
        c.out(ty, c.emit("OpGroupBroadcast", ty, c.u(2), reg, c.const("u64", 70)), [values[70]] * 72)
    # A copy that the whole group makes, every second element of the source.
    c.shared = 72 * 4
    c.globals += ("%event = OpTypeEvent\n%p_event = OpTypePointer Function %event\n%noevent = OpConstantNull %event\n%big = OpTypeArray %u32 " + c.u(144) +
                  "\n%p_big = OpTypePointer CrossWorkgroup %big\n%store = OpVariable %p_big CrossWorkgroup\n")
    double = c.emit("OpIMul", "u64", "%lid", c.const("u64", 2))
    place = c.emit("OpInBoundsAccessChain", "p_u32", "%store", double)
    c.line(f"OpStore {place} {a} Aligned 4")
    c.line(f"OpControlBarrier {c.u(2)} {c.u(2)} {c.u(0x210)}")
    start = c.emit("OpInBoundsAccessChain", "p_u32", "%store", c.u(0))
    event = c.emit("OpGroupAsyncCopy", "event", c.u(2), "%local", start, c.const("u64", 72), c.const("u64", 2), "%noevent")
    c.line("%evar = OpVariable %p_event Function")
    c.line(f"OpStore %evar {event}")
    c.line(f"OpGroupWaitEvents {c.u(2)} {c.u(1)} %evar")
    back = c.emit("OpBitwiseXor", "u64", "%lid", c.const("u64", 1))
    c.out("u32", c.emit("OpLoad", "u32", c.emit("OpInBoundsPtrAccessChain", "l_u32", "%local", back), "Aligned", 4), [A[t ^ 1] for t in range(72)])
    c.write()


def non_uniform_case():
    """Every operation of OpGroupNonUniform..., where all lanes are and where some are."""
    c = Groups("nonuniform72", 72)
    types = {"IAdd": "u32", "FAdd": "f64", "IMul": "u64", "FMul": "f32", "SMin": "u32", "UMin": "u16", "FMin": "f32", "SMax": "u8", "UMax": "u64", "FMax": "f16",
             "BitwiseAnd": "u32", "BitwiseOr": "u64", "BitwiseXor": "u16", "LogicalAnd": "bool", "LogicalOr": "bool", "LogicalXor": "bool"}
    s3 = c.u(3)
    nu = lambda name, ty, *args: c.emit("OpGroupNonUniform" + name, ty, s3, *args)
    for name, ty in types.items():
        c.three(lambda kind, reg: nu(name, ty, kind, reg), name, ty, c.lists)
    for size, ty, name in ((2, "u64", "IAdd"), (8, "f32", "FMax"), (32, "u32", "BitwiseXor"), (1, "u32", "IAdd")):
        reg, values = c.of(name, ty)
        clusters = [list(range(s, min(s + size, 72))) for s in range(0, 72, size)]
        c.out(ty, nu(name, ty, "ClusteredReduce", reg, c.u(size)), c.every(clusters, lambda g, at: FUNCTIONS[name]([values[t] for t in g])))
    # Where some lanes are: those whose number's lowest digits say so.
    here = [t for t in range(72) if t % 3 == 1]
    third = c.emit("OpIEqual", "bool", c.emit("OpUMod", "u32", "%lid32", c.u(3)), c.u(1))
    some = [[t for t in g if t in here] for g in c.lists]
    picked = [("IAdd", "u32"), ("FAdd", "f32"), ("UMin", "u64"), ("FMax", "f64"), ("LogicalOr", "bool"), ("IMul", "u16")]
    kinds = ("Reduce", "InclusiveScan", "ExclusiveScan")
    results = c.branch(third, lambda: [(ty, nu(name, ty, kind, c.of(name, ty)[0])) for name, ty in picked for kind in kinds])
    for at, (name, ty) in enumerate(picked):
        phis = dict(zip(kinds, results[3 * at:]))
        c.three(lambda kind, reg: phis[kind], name, ty, some)
    # Votes and exchanges there.
    a, A = c.values["u64"]
    odd, O = c.values["bool"]

    def votes():
        ballot = nu("Ballot", "v4u32", odd)
        return [("bool", nu("Elect", "bool")), ("bool", nu("All", "bool", odd)), ("bool", nu("Any", "bool", odd)), ("u32", c.emit("OpCompositeExtract", "u32", ballot, 0)),
                ("u64", nu("BroadcastFirst", "u64", a))]
    elect, everyone, anyone, ballot, first = c.branch(third, votes)
    c.boolean(elect, c.every(some, lambda g, at: at == 0))
    c.boolean(everyone, c.every(some, lambda g, at: all(O[t] for t in g)))
    c.boolean(anyone, c.every(some, lambda g, at: any(O[t] for t in g)))
    c.out("u32", ballot, c.every(some, lambda g, at: sum(O[t] << (t % 32) for t in g)))
    c.out("u64", first, c.every(some, lambda g, at: A[g[0]]))
    c.write()


def exchange_case():
    """Values that lanes give each other, of every type; and the extensions' spellings."""
    c = Groups("exchange96", 96)
    c.extra = ('OpExtension "SPV_KHR_shader_ballot"\nOpExtension "SPV_KHR_subgroup_vote"\nOpExtension "SPV_KHR_subgroup_rotate"\nOpExtension "SPV_INTEL_subgroups"\n'
               'OpExtension "SPV_INTEL_split_barrier"\nOpExtension "SPV_KHR_shader_clock"\n')
    c.capabilities |= {"SubgroupBallotKHR", "SubgroupVoteKHR", "GroupNonUniformRotateKHR", "SubgroupShuffleINTEL", "GroupNonUniformQuad", "SubgroupBufferBlockIOINTEL", "ShaderClockKHR", "SplitBarrierINTEL"}
    s3 = c.u(3)
    types = ["u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool"]
    lanes = lambda f: c.every(c.lists, f)
    own = c.emit("OpLoad", "u32", "%sglid")
    turned = c.emit("OpBitwiseAnd", "u32", c.emit("OpIAdd", "u32", own, c.u(7)), c.u(31))
    for ty in types:
        reg, V = c.values[ty]
        c.take(ty, c.emit("OpGroupNonUniformShuffle", ty, s3, reg, turned), lanes(lambda g, at: V[g[(at + 7) % 32]]))
    a, A = c.values["u32"]
    x, X = c.values["u64"]
    h, H = c.values["f16"]
    odd, O = c.values["bool"]
    # KHR's.
    ballot = c.emit("OpSubgroupBallotKHR", "v4u32", odd)
    c.out("u32", c.emit("OpCompositeExtract", "u32", ballot, 0), lanes(lambda g, at: sum(O[t] << k for k, t in enumerate(g))))
    c.out("u64", c.emit("OpSubgroupFirstInvocationKHR", "u64", x), lanes(lambda g, at: X[g[0]]))
    c.boolean(c.emit("OpSubgroupAllKHR", "bool", odd), lanes(lambda g, at: all(O[t] for t in g)))
    c.boolean(c.emit("OpSubgroupAnyKHR", "bool", odd), lanes(lambda g, at: any(O[t] for t in g)))
    c.boolean(c.emit("OpSubgroupAllEqualKHR", "bool", odd), lanes(lambda g, at: len({O[t] for t in g}) == 1))
    c.out("u32", c.emit("OpSubgroupReadInvocationKHR", "u32", a, c.u(9)), lanes(lambda g, at: A[g[9]]))
    c.out("u32", c.emit("OpGroupNonUniformRotateKHR", "u32", s3, a, c.u(5)), lanes(lambda g, at: A[g[(at + 5) % 32]]))
    c.out("f16", c.emit("OpGroupNonUniformRotateKHR", "f16", s3, h, c.u(3), c.u(8)), lanes(lambda g, at: H[g[(at & ~7) + (at + 3) % 8]]))
    # Quads.
    c.out("u32", c.emit("OpGroupNonUniformQuadBroadcast", "u32", s3, a, c.u(2)), lanes(lambda g, at: A[g[(at & ~3) + 2]]))
    for direction in (0, 1, 2):
        c.out("u64", c.emit("OpGroupNonUniformQuadSwap", "u64", s3, x, c.u(direction)), lanes(lambda g, at: X[g[at ^ (direction + 1)]]))
    # Intel's: two values side by side.
    b = c.emit("OpNot", "u32", a)
    B = [~v for v in A]
    c.out("u32", c.emit("OpSubgroupShuffleINTEL", "u32", a, turned), lanes(lambda g, at: A[g[(at + 7) % 32]]))
    c.out("u64", c.emit("OpSubgroupShuffleXorINTEL", "u64", x, c.u(21)), lanes(lambda g, at: X[g[at ^ 21]]))
    c.out("u32", c.emit("OpSubgroupShuffleDownINTEL", "u32", a, b, c.u(6)), lanes(lambda g, at: A[g[at + 6]] if at + 6 < 32 else B[g[at + 6 - 32]]))
    c.out("u32", c.emit("OpSubgroupShuffleUpINTEL", "u32", b, a, c.u(6)), lanes(lambda g, at: A[g[at - 6]] if at >= 6 else B[g[at - 6 + 32]]))
    v = c.emit("OpCompositeConstruct", "v2u32", a, b)
    r = c.emit("OpSubgroupShuffleINTEL", "v2u32", v, c.u(4))
    c.out("u32", c.emit("OpCompositeExtract", "u32", r, 1), lanes(lambda g, at: B[g[4]]))
    # Masks of lanes.
    for name, f in {"Eq": lambda at: 1 << at, "Ge": lambda at: (-1 << at), "Gt": lambda at: (-2 << at), "Le": lambda at: (2 << at) - 1, "Lt": lambda at: (1 << at) - 1}.items():
        c.globals += f"%mask{name} = OpVariable %imask Input\n"
        c.decorations += f"OpDecorate %mask{name} BuiltIn Subgroup{name}MaskKHR\n"
        m = c.emit("OpLoad", "v4u32", f"%mask{name}")
        c.out("u32", c.emit("OpCompositeExtract", "u32", m, 0), lanes(lambda g, at: f(at)))
    c.globals = "%imask = OpTypePointer Input %v4u32\n" + c.globals
    # A block of memory: each lane's elements lie 32 apart.
    c.shared = 96 * 8
    base = c.emit("OpIMul", "u32", c.emit("OpLoad", "u32", "%sgid"), c.u(64))
    start = c.emit("OpInBoundsPtrAccessChain", "l_u32", "%local", base)
    c.line(f"OpSubgroupBlockWriteINTEL {start} {v}")
    c.line(f"OpControlBarrierArriveINTEL {c.u(2)} {c.u(2)} {c.u(0x104)}\nOpControlBarrierWaitINTEL {c.u(2)} {c.u(2)} {c.u(0x102)}")
    one = c.emit("OpInBoundsPtrAccessChain", "l_u32", start, c.emit("OpBitwiseXor", "u32", own, c.u(33)))
    c.out("u32", c.emit("OpLoad", "u32", one, "Aligned", 4), lanes(lambda g, at: B[g[at ^ 1]]))
    r = c.emit("OpSubgroupBlockReadINTEL", "v2u32", start)
    c.out("u32", c.emit("OpCompositeExtract", "u32", r, 0), A)
    c.out("u32", c.emit("OpCompositeExtract", "u32", r, 1), B)
    # Clocks go forwards.
    for scope in (1, 3):
        t, later = c.emit("OpReadClockKHR", "u64", c.u(scope)), c.emit("OpReadClockKHR", "u64", c.u(scope))
        c.boolean(c.emit("OpUGreaterThanEqual", "bool", later, t), [1] * 96)
    c.write()


def tree_case():
    """What an older device has no instruction for takes trees of shuffles: the same for sm_75."""
    c = Groups("tree72", 72)
    c.architecture = 75
    whole = [list(range(72))]
    for scope, lists in ((2, whole), (3, c.lists)):
        for name, ty in (("IAdd", "u32"), ("SMin", "u8"), ("UMax", "u16")):
            c.three(lambda kind, reg: c.emit(f"OpGroup{name}", ty, c.u(scope), kind, reg), name, ty, lists)
        odd, O = c.values["bool"]
        c.boolean(c.emit("OpGroupAny", "bool", c.u(scope), odd), c.every(lists, lambda g, at: any(O[t] for t in g)))
        c.boolean(c.emit("OpGroupAll", "bool", c.u(scope), odd), c.every(lists, lambda g, at: all(O[t] for t in g)))
    c.three(lambda kind, reg: c.emit("OpGroupNonUniformIAdd", "u32", c.u(3), kind, reg), "IAdd", "u32", c.lists)
    c.write()


def converged_case():
    """Intel's shuffles in a loop whose lanes part ways before they come back to it: scans whose operation takes each lane another time."""
    c = Groups("converged72", 72)
    c.extra = 'OpExtension "SPV_INTEL_subgroups"\n'
    c.capabilities |= {"SubgroupShuffleINTEL"}
    own = c.emit("OpLoad", "u32", "%sglid")
    # An input, so that the compiler cannot count the steps.
    size = c.input("u32", c.every(c.lists, lambda g, at: len(g)))
    lane = lambda step, at: {"Index": at - step, "Up": at - step, "Down": at + step, "Xor": at ^ step}

    def combine(x, v, bits):
        for _ in range(v & 127):
            x = (x * 1664525 + v) & ((1 << bits) - 1)
        return x

    def scan(ty, name):
        reg, values = c.values[ty]
        ids = ["head", "step", "sum", "next", "twice", "body", "work", "round", "part", "more", "after", "join", "done"]
        i = {k: c.fresh() + k for k in ids}
        u, begin = c.u, c.block
        c.line(f"OpBranch {i['head']}\n{i['head']} = OpLabel")
        c.line(f"{i['step']} = OpPhi %u32 {u(1)} {begin} {i['twice']} {i['join']}\n{i['sum']} = OpPhi %{ty} {reg} {begin} {i['next']} {i['join']}")
        c.line(f"OpBranchConditional {c.emit('OpULessThan', 'bool', i['step'], size)} {i['body']} {i['done']}\n{i['body']} = OpLabel")
        x, step = i["sum"], i["step"]
        other = c.emit({"Down": "OpIAdd", "Xor": "OpBitwiseXor"}.get(name, "OpISub"), "u32", own, step)
        # A lane below the first has a number beyond the last.
        exists = c.emit("OpULessThan", "bool", other, size)
        if name == "Index":
            v = c.emit("OpSubgroupShuffleINTEL", ty, x, c.emit("OpSelect", "u32", exists, other, own))
        elif name == "Xor":
            v = c.emit("OpSubgroupShuffleXorINTEL", ty, x, step)
        else:
            v = c.emit(f"OpSubgroupShuffle{name}INTEL", ty, x, x, step)
        low = c.emit("OpBitwiseAnd", ty, v, c.const(ty, 127))
        rounds = c.emit("OpSelect", ty, exists, low, c.const(ty, 0))
        c.line(f"OpBranch {i['work']}\n{i['work']} = OpLabel")
        c.line(f"{i['round']} = OpPhi %{ty} {c.const(ty, 0)} {i['body']} {i['after']} {i['more']}\n{i['part']} = OpPhi %{ty} {x} {i['body']} {i['next']}m {i['more']}")
        c.line(f"OpBranchConditional {c.emit('OpULessThan', 'bool', i['round'], rounds)} {i['more']} {i['join']}\n{i['more']} = OpLabel")
        product = c.emit("OpIMul", ty, i["part"], c.const(ty, 1664525))
        c.line(f"{i['next']}m = OpIAdd %{ty} {product} {v}\n{i['after']} = OpIAdd %{ty} {i['round']} {c.const(ty, 1)}\nOpBranch {i['work']}")
        c.line(f"{i['join']} = OpLabel\n{i['next']} = OpCopyObject %{ty} {i['part']}\n{i['twice']} = OpIMul %u32 {step} {u(2)}\nOpBranch {i['head']}\n{i['done']} = OpLabel")
        c.block = i["done"]
        rows = list(values)
        for g in c.lists:
            step = 1
            while step < len(g):
                old = [rows[t] for t in g]
                for at, t in enumerate(g):
                    other = lane(step, at)[name]
                    if 0 <= other < len(g):
                        rows[t] = combine(old[at], old[other], int(ty[1:]))
                step *= 2
        c.out(ty, i["sum"], rows)

    for ty in ("u32", "u64"):
        for name in ("Index", "Up", "Down", "Xor"):
            scan(ty, name)
    c.write()


if __name__ == "__main__":
    uniform_case()
    non_uniform_case()
    exchange_case()
    tree_case()
    converged_case()
