#!/usr/bin/env python3
"""Runs the kernels of this folder on a CUDA driver and compares their results, as tests/results.rs does on simcuda.

run.py [LIBRARY] [FOLDER]: the driver's library (libcuda.so.1) and where the PTX lies (this folder). Needs nothing but Python.
A case that the driver refuses is named with the driver's log and counts as one wrong row; the others go on.
"""
import ctypes
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libcuda.so.1")
FOLDER = sys.argv[2] if len(sys.argv) > 2 else HERE
JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 5, 6
INFINITY = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}


class Refused(Exception):
    """A call of the driver that failed."""


def check(status, what):
    if status:
        raise Refused(f"{what}: {status}")


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


def ptx_version():
    """The version of PTX that came with the driver's release of CUDA, or one that all of them take that run this."""
    version = ctypes.c_int()
    check(DRIVER.cuDriverGetVersion(ctypes.byref(version)), "cuDriverGetVersion")
    major, minor = version.value // 1000, version.value % 1000 // 10
    return (9, minor) if major == 13 else (7, 8)


def in_version(text, version):
    """The text as the adapter gives it to a driver that is older than the libnvvm which wrote it (nvvm/mod.rs)."""
    text = re.sub(rb"(?m)^\.version .*$", b".version %d.%d" % version, text, count=1)
    return text if version >= (9, 1) else re.sub(rb"(?m)^(\s*(?:ld|st)\.)volatile\.local", rb"\1local", text)


def load(text):
    """The module of a text; a failure has what the driver's compiler said."""
    module, log = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
    options = (ctypes.c_int * 2)(JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
    status = DRIVER.cuModuleLoadDataEx(ctypes.byref(module), text + b"\0", 2, options, values)
    check(status, f"cuModuleLoadDataEx ({log.value.decode(errors='replace').strip()})")
    return module


def run(name):
    lines = [line.split() for line in open(os.path.join(HERE, name + ".case"))]
    text = open(os.path.join(FOLDER, name + ".ptx"), "rb").read()
    module, function = load(in_version(text, ptx_version())), ctypes.c_void_p()
    check(DRIVER.cuModuleGetFunction(ctypes.byref(function), module, b"k"), "cuModuleGetFunction")
    groups, threads, shared = map(int, lines[0][1:])
    values, outputs = [], []
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
            outputs.append((words[1], len(values), [], len(content)))
        address = ctypes.c_uint64()
        check(DRIVER.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(len(content))), "cuMemAlloc")
        check(DRIVER.cuMemcpyHtoD_v2(address, content, ctypes.c_size_t(len(content))), "cuMemcpyHtoD")
        values.append(address)
    if shared:
        values.append(ctypes.c_uint64(0))
    parameters = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    check(DRIVER.cuLaunchKernel(function, groups, 1, 1, threads, 1, 1, shared, None, parameters, None), "cuLaunchKernel")
    check(DRIVER.cuCtxSynchronize(), "cuCtxSynchronize")
    rows, wrong = 0, 0
    for ty, at, expected, length in outputs:
        size, content = int(ty[1:]) // 8, ctypes.create_string_buffer(length)
        check(DRIVER.cuMemcpyDtoH_v2(content, values[at], ctypes.c_size_t(length)), "cuMemcpyDtoH")
        for number, (ulps, row) in enumerate(expected):
            rows += 1
            for thread, want in enumerate(row):
                start = (number * groups * threads + thread) * size
                got = int.from_bytes(content.raw[start : start + size], "little")
                off = distance(ty, got, want)
                if off > ulps:
                    wrong += 1
                    print(f"{name}, {ty} row {number}, thread {thread}: {got:#x} instead of {want:#x}, {off} ulp of {ulps}")
                    break
    for value in values[: len(values) - bool(shared)]:
        check(DRIVER.cuMemFree_v2(value), "cuMemFree")
    return rows, wrong


def main():
    check(DRIVER.cuInit(0), "cuInit")
    context = ctypes.c_void_p()
    check(DRIVER.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
    check(DRIVER.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    rows = wrong = 0
    for case in sorted(glob.glob(os.path.join(HERE, "*.case"))):
        name = os.path.basename(case)[: -len(".case")]
        try:
            more = run(name)
        except Refused as error:
            print(f"{name}: {error}")
            more = (1, 1)
        rows, wrong = rows + more[0], wrong + more[1]
    print(f"{rows - wrong} rows right, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
