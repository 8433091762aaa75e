#!/usr/bin/env python3
"""Runs the text for AMD's devices on this machine's processor, and compares the results as tests/results.rs does.

run.py FOLDER WAVE_SIZE [NAME...]: FOLDER has what `cargo run -p ur-spirv --example amdgcn` wrote. Needs llc-15 and gcc.

It says whether the translation computes what it should, and nothing of AMD's compiler or of a GPU: intrinsics and OCML are those of
host.c. The results of sub-groups are those of 32 lanes. Kernels whose lanes part before they give each other something are left out, since here such lanes wait for ever.
"""
import ctypes
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels")
INFINITY = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
SECONDS = 60
# This machine does not flush subnormal numbers by a function's attribute.
NOT_HERE = ["flushed"]


def for_host(text):
    """The text with this machine's target, and functions of C for AMD's intrinsics."""
    text = re.sub(r"(?m)^target (datalayout|triple) = .*\n", "", text)
    text = re.sub(r"@llvm\.amdgcn\.([a-z0-9.]+)", lambda found: "@sim_" + found[1].replace(".", "_"), text)
    text = text.replace("amdgpu_kernel ", "").replace(", addrspace(5)", "").replace("ptr addrspace(5)", "ptr")
    text = re.sub(r"addrspacecast (ptr %\S+) to ptr$", r"bitcast \1 to ptr", text, flags=re.M)
    text = re.sub(r'syncscope\("[a-z]+"\) ', "", text)
    text = text.replace('"=v,0"', '"=r,0"')
    return re.sub(r"(?m)^(@\S+ = internal addrspace\(3\) global .*?)(, align \d+)$", r'\1, section "lds"\2', text)


def build(folder, modules):
    objects = []
    for module in modules:
        source = os.path.join(folder, module + ".host.ll")
        with open(os.path.join(folder, module + ".ll")) as text, open(source, "w") as out:
            out.write('target triple = "x86_64-pc-linux-gnu"\n' + for_host(text.read()))
        objects.append(source[:-2] + "o")
        command = ["llc-15", "-opaque-pointers", "-O1", "-relocation-model=pic", "-filetype=obj", "-mattr=+fma,+f16c", "-fp-contract=off"]
        subprocess.run([*command, source, "-o", objects[-1]], check=True)
    library = os.path.join(folder, modules[0] + ".so")
    command = ["gcc", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", os.path.join(HERE, "host.c")]
    subprocess.run([*command, *objects, "-o", library, "-lm", "-lpthread"], check=True)
    return ctypes.CDLL(library)


def distance(ty, a, b):
    """Units in the last place between two values, by their bits; infinite where they are no neighbours."""
    if a == b:
        return 0
    if ty[0] != "f":
        return float("inf")
    bits = int(ty[1:])
    sign = 1 << bits - 1
    if ((a & ~sign) > INFINITY[bits]) != ((b & ~sign) > INFINITY[bits]):
        return float("inf")
    if (a & ~sign) > INFINITY[bits]:
        return 0
    value = lambda v: -(v & ~sign) if v & sign else v
    return max(abs(value(a) - value(b)), 1)


def run(folder, wave_size, name):
    lines = [line.split() for line in open(os.path.join(KERNELS, name + ".case"))]
    beside = [words[1] for words in lines if words[0] == "beside"]
    library = build(folder, [name, *beside])
    groups, threads, shared = map(int, lines[0][1:])
    buffers, outputs = [], []
    for words in lines[1:]:
        if words[0] in ("sm", "beside"):
            continue
        if words[0] == "row":
            outputs[-1][2].append((int(words[1]), [int(word, 16) for word in words[2:]]))
            continue
        if words[0] == "in":
            size = int(words[1][1:]) // 8
            content = b"".join(int(word, 16).to_bytes(size, "little") for word in words[2:])
        else:
            content = b"\xee" * (int(words[2]) * groups * threads * int(words[1][1:]) // 8)
            outputs.append((words[1], len(buffers), []))
        buffers.append(ctypes.create_string_buffer(content, len(content)))
    parameters = (ctypes.c_void_p * 32)(*[ctypes.addressof(buffer) for buffer in buffers])
    library.launch(groups, threads, wave_size, parameters)
    rows, wrong = 0, 0
    for ty, at, expected in outputs:
        size = int(ty[1:]) // 8
        for number, (ulps, row) in enumerate(expected):
            rows += 1
            for thread, want in enumerate(row):
                start = (number * groups * threads + thread) * size
                got = int.from_bytes(buffers[at].raw[start : start + size], "little")
                off = distance(ty, got, want)
                if off > ulps:
                    wrong += 1
                    print(f"{name}, {ty} row {number}, thread {thread}: {got:#x} instead of {want:#x}, {off} ulp of {ulps}")
                    break
    print(f"{name}: {rows - wrong} rows right, {wrong} wrong", flush=True)
    return wrong


def main():
    folder, wave_size, names = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if len(names) == 1:
        sys.exit(1 if run(folder, wave_size, names[0]) else 0)
    cases = sorted(file[: -len(".case")] for file in os.listdir(KERNELS) if file.endswith(".case"))
    failed = []
    for name in names or [case for case in cases if case not in NOT_HERE]:
        if not os.path.exists(os.path.join(folder, name + ".ll")):
            print(f"{name}: no text")
            continue
        try:
            done = subprocess.run([sys.executable, os.path.abspath(__file__), folder, str(wave_size), name], timeout=SECONDS)
            failed += [name] * (done.returncode != 0)
        except subprocess.TimeoutExpired:
            print(f"{name}: not run, its lanes part and wait for each other")
    print("wrong:", ", ".join(failed) or "none")
    sys.exit(1 if failed else 0)


main()
