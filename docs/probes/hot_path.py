#!/usr/bin/env python3
"""What one call of hot_path.c executes in loader and adapter, by callgrind over the simulated driver: instructions by library and
by function, lines of 64 bytes of code, and loads from the stack that wait for stores.

A load waits until the stores before it have reached the cache if it reads more than one of them wrote, or a part of two: processors
hand a store's bytes on to a later load only if that lies inside of it. `perf` on a GPU machine shows what such a load costs.

  cargo xtask dist && docs/probes/hot_path.py launch [append ...]

With --gaps also the branches behind which code lies that is not executed, with their places in the source if the dist was built with
CARGO_PROFILE_RELEASE_DEBUG=line-tables-only: what lies there makes the path longer, and `unlikely!` and its kin move it away.

The figures are the difference of a run of 10 and one of 30 rounds. Needs valgrind, objdump and a C compiler."""

import collections
import os
import re
import subprocess
import sys
import tempfile

FEW, MANY = 10, 30
CALLS = {"append": 100, "append3": 100}
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
DIST = os.path.join(ROOT, "target/dist")
ADAPTER = "libur_adapter_cuda.so.0"
# A store that lies further back has reached the cache.
FAR = 60
WIDTHS = {"movups": 16, "movaps": 16, "movdqa": 16, "movdqu": 16, "movlps": 8, "movss": 4, "movd": 4, "movl": 4, "movw": 2, "movb": 1}


def environment():
    lib = os.path.join(DIST, "lib")
    simulated = os.path.join(lib, "libsimcuda.so")
    return os.environ | {
        "KERNELS": os.path.join(DIST, "share/kernels"), "LD_LIBRARY_PATH": lib, "UR_CUDA_LIBRARY": simulated,
        "UR_NVML_LIBRARY": simulated, "UR_ADAPTERS_FORCE_LOAD": os.path.join(lib, ADAPTER),
    }


def costs(program, mode, rounds, folder):
    """Executions by library, function and address."""
    out = os.path.join(folder, f"{mode}.{rounds}")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-instr=yes", "--compress-strings=no",
               "--compress-pos=no", program, mode, str(rounds)]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    found, library, function, of_call = collections.Counter(), "", "", False
    for line in open(out):
        if line.startswith("ob="):
            library = os.path.basename(line[3:].strip())
        elif line.startswith("fn="):
            function = line[3:].strip()
        elif line.startswith("calls="):
            of_call = True
        elif line.startswith("0x"):
            # The line behind a call has what was executed inside of it.
            if not of_call:
                words = line.split()
                found[library, function, int(words[0], 16)] += int(words[-1])
            of_call = False
    return found


def width(mnemonic, operand):
    if mnemonic in WIDTHS:
        return WIDTHS[mnemonic]
    for pattern, bytes_ in ((r"%xmm", 8), (r"%r(\d+|[a-d]x|[sd]i|[sb]p)$", 8), (r"%(r\d+d|e..)$", 4), (r"%(r\d+w|[a-d]x|[sd]i)$", 2)):
        if re.match(pattern, operand):
            return bytes_
    return 1


def waiting_loads(addresses, text):
    """Loads that wait, in the order of addresses, which is the compiler's order of execution but for what it moved away."""
    stores, found = [], []
    for number, address in enumerate(sorted(addresses)):
        instruction = re.split("[#<]", text.get(address, ""))[0].strip()
        match = re.match(r"(\S+)\s+(.*)", instruction)
        if not match:
            continue
        mnemonic, operands = match[1], match[2].strip()
        if mnemonic == "call":
            stores = []
            continue
        store = re.match(r"([^()]*),(-?0x[0-9a-f]+|)\((%r\w\w)\)$", operands)
        load = re.match(r"(-?0x[0-9a-f]+|)\((%r\w\w)\),(%\w+)$", operands)
        if store and mnemonic.startswith("mov"):
            wide = 8 if mnemonic == "movq" else width(mnemonic, store[1])
            stores.append((number, store[3], int(store[2] or "0", 16), wide))
        elif load and not mnemonic.startswith("lea"):
            begin, wide = int(load[1] or "0", 16), width(mnemonic, load[3])
            met = [of for of in stores if of[1] == load[2] and of[2] < begin + wide and begin < of[2] + of[3]]
            if met and number - met[-1][0] < FAR and not (met[-1][2] <= begin and begin + wide <= met[-1][2] + met[-1][3]):
                found.append(f"{address:x}: {instruction} behind {len(met)} stores, the last {number - met[-1][0]} instructions before")
    return found


def disassembled(library):
    text = {}
    command = ["objdump", "-d", "--no-show-raw-insn", os.path.join(DIST, "lib", library)]
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\t(.*)", line)
        if match:
            text[int(match[1], 16)] = match[2]
    return text


def gaps(executed, text):
    """Each branch behind which at least 20 bytes are left out, with how many."""
    following = dict(zip(sorted(text), sorted(text)[1:]))
    executed = sorted(executed)
    library = os.path.join(DIST, "lib", ADAPTER)
    for branch, target in zip(executed, executed[1:]):
        left_out = target - following.get(branch, target)
        # What is further away is another function's.
        if not 20 <= left_out < 4096:
            continue
        command = ["addr2line", "-i", "-e", library, hex(branch)]
        places = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        ours = [place.rsplit("/src/", 1)[-1] for place in places if "/src/" in place and "/rustc/" not in place]
        yield f"{branch:x}: {left_out} bytes behind {' < '.join(ours[:4]) or 'a branch'}"


def main(modes):
    shows_gaps = "--gaps" in modes
    modes = [mode for mode in modes if mode != "--gaps"]
    folder = tempfile.mkdtemp()
    program = os.path.join(folder, "hot_path")
    subprocess.run(["cc", "-O2", os.path.join(os.path.dirname(__file__), "hot_path.c"), "-o", program,
                    f"-I{DIST}/include", f"-L{DIST}/lib", "-lur_loader"], check=True)
    text = disassembled(ADAPTER)
    for mode in modes:
        calls = (MANY - FEW) * CALLS.get(mode, 64)
        few, many = (costs(program, mode, rounds, folder) for rounds in (FEW, MANY))
        each = {key: (count - few[key]) / calls for key, count in many.items() if count > few[key]}
        libraries, functions, lines = collections.Counter(), collections.Counter(), collections.defaultdict(set)
        for (library, function, address), count in each.items():
            if "ur_" in library:
                libraries[library] += count
                functions[library, function] += count
                if count > 0.5:
                    lines[library].add(address >> 6)
        print(f"== {mode}")
        for library, count in libraries.most_common():
            print(f"{count:8.1f} instructions on {len(lines[library])} lines: {library}")
        for (library, function), count in functions.most_common(8):
            if count > 2:
                print(f"{count:12.1f} {function[:110]}")
        hot = {address for (library, _, address), count in each.items() if library == ADAPTER and count > 0.3}
        for load in waiting_loads(hot, text):
            print(f"      waits: {load}")
        for gap in gaps(hot, text) if shows_gaps else ():
            print(f"      gap: {gap}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
