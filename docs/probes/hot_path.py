#!/usr/bin/env python3
"""What one call of hot_path.c executes in loader and adapter, by callgrind over the simulated driver: instructions by library and
by function, lines of 64 bytes of code (as if each function began on one, so that they do not change with the linker's order), and loads
from the stack that wait for stores.

A load waits until the stores before it have reached the cache if it reads more than one of them wrote, or a part of two: processors
hand a store's bytes on to a later load only if that lies inside of it. `perf` on a GPU machine shows what such a load costs.

  cargo xtask dist && docs/probes/hot_path.py [--hip] launch [append ...]

With --check instead of names it counts the paths of hot_path.toml, and fails where one has grown beyond what is written there, or has
become so much shorter that this is out of date. With --gaps also the branches behind which code lies that is not executed, with their
places in the source if the dist was built with CARGO_PROFILE_RELEASE_DEBUG=line-tables-only: what lies there makes the path longer, and
`unlikely!` and its kin move it away.

The figures are the difference of a run of 10 and one of 30 rounds. Needs valgrind, objdump and a C compiler."""

import bisect
import collections
import functools
import os
import re
import subprocess
import sys
import tempfile

FEW, MANY = 10, 30
# A path with this behind its name is the one that keeps no freed memory.
LISTS_OFF = "-lists-off"
CALLS = {"append": 100, "append3": 100}
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
DIST = os.path.join(ROOT, "target/dist")
ADAPTERS = {"cuda": "libur_adapter_cuda.so.0", "hip": "libur_adapter_hip.so.0"}
HERE = os.path.dirname(os.path.realpath(__file__))
# Another allocation of registers is no growth; a hint that the compiler does not follow is.
MOST_GROWTH, MOST_MORE_LINES, MOST_LOSS = 1.05, 3, 0.9
# A store that lies further back has reached the cache.
FAR = 60
WIDTHS = {"movups": 16, "movaps": 16, "movdqa": 16, "movdqu": 16, "movlps": 8, "movss": 4, "movd": 4, "movl": 4, "movw": 2, "movb": 1}


def environment(adapter):
    lib = os.path.join(DIST, "lib")
    simulated = os.path.join(lib, "libsimcuda.so")
    return os.environ | {
        "KERNELS": os.path.join(DIST, "share/kernels"), "LD_LIBRARY_PATH": lib, "UR_CUDA_LIBRARY": simulated,
        "UR_NVML_LIBRARY": simulated, "UR_ADAPTERS_FORCE_LOAD": os.path.join(lib, adapter),
        "UR_HIP_LIBRARY": os.path.join(lib, "libhip_on_cuda.so"),
    }


def costs(adapter, program, mode, rounds, folder):
    """Executions by library, function and address."""
    out = os.path.join(folder, f"{mode}.{rounds}")
    off = {"UR_USM_MAGAZINE_BYTES": "0"} if mode.endswith(LISTS_OFF) else {}
    mode = mode.removesuffix(LISTS_OFF)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-instr=yes", "--compress-strings=no",
               "--compress-pos=no", program, mode, str(rounds)]
    subprocess.run(command, env=environment(adapter) | off, check=True, capture_output=True)
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
    """The text of each instruction, and where functions begin."""
    text, begins = {}, []
    command = ["objdump", "-d", "--no-show-raw-insn", os.path.join(DIST, "lib", library)]
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        if match := re.match(r"\s*([0-9a-f]+):\t(.*)", line):
            text[int(match[1], 16)] = match[2]
        elif match := re.match(r"([0-9a-f]+) <", line):
            begins.append(int(match[1], 16))
    return text, sorted(begins)


def gaps(executed, text, adapter):
    """Each branch behind which at least 20 bytes are left out, with how many."""
    following = dict(zip(sorted(text), sorted(text)[1:]))
    executed = sorted(executed)
    library = os.path.join(DIST, "lib", adapter)
    for branch, target in zip(executed, executed[1:]):
        left_out = target - following.get(branch, target)
        # What is further away is another function's.
        if not 20 <= left_out < 4096:
            continue
        command = ["addr2line", "-i", "-e", library, hex(branch)]
        places = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        ours = [place.rsplit("/src/", 1)[-1] for place in places if "/src/" in place and "/rustc/" not in place]
        yield f"{branch:x}: {left_out} bytes behind {' < '.join(ours[:4]) or 'a branch'}"


def built(folder):
    program = os.path.join(folder, "hot_path")
    subprocess.run(["cc", "-O2", os.path.join(HERE, "hot_path.c"), "-o", program,
                    f"-I{DIST}/include", f"-L{DIST}/lib", "-lur_loader"], check=True)
    return program


def of_each_call(adapter, program, mode, folder):
    """Executions in one call by library, function and address."""
    calls = (MANY - FEW) * CALLS.get(mode, 64)
    few, many = (costs(adapter, program, mode, rounds, folder) for rounds in (FEW, MANY))
    return {key: (count - few[key]) / calls for key, count in many.items() if count > few[key]}


@functools.cache
def begins_of(library):
    return disassembled(library)[1]


def by_library(each):
    """Instructions of our libraries, and the lines of code that they lie on."""
    libraries, lines = collections.Counter(), collections.defaultdict(set)
    for (library, _, address), count in each.items():
        if "ur_" in library:
            libraries[library] += count
            if count > 0.5:
                begins = begins_of(library)
                begin = begins[bisect.bisect_right(begins, address) - 1]
                lines[library].add((begin, (address - begin) >> 6))
    return libraries, lines


def show(adapter, modes, shows_gaps, folder):
    program, (text, _) = built(folder), disassembled(adapter)
    for mode in modes:
        each = of_each_call(adapter, program, mode, folder)
        libraries, lines = by_library(each)
        functions = collections.Counter()
        for (library, function, _), count in each.items():
            if "ur_" in library:
                functions[library, function] += count
        print(f"== {mode}")
        for library, count in libraries.most_common():
            print(f"{count:8.1f} instructions on {len(lines[library])} lines: {library}")
        for (library, function), count in functions.most_common(8):
            if count > 2:
                print(f"{count:12.1f} {function[:110]}")
        hot = {address for (library, _, address), count in each.items() if library == adapter and count > 0.3}
        for load in waiting_loads(hot, text):
            print(f"      waits: {load}")
        for gap in gaps(hot, text, adapter) if shows_gaps else ():
            print(f"      gap: {gap}")


def check(folder):
    """Whether each path is as long as hot_path.toml says."""
    import tomllib

    with open(os.path.join(HERE, "hot_path.toml"), "rb") as file:
        known = tomllib.load(file)
    program, wrong = built(folder), 0
    for name, paths in known.items():
        for mode, (instructions, lines) in paths.items():
            libraries, found = by_library(of_each_call(ADAPTERS[name], program, mode, folder))
            now = round(sum(libraries.values())), sum(map(len, found.values()))
            word = ""
            if now[0] > MOST_GROWTH * instructions or now[1] > lines + MOST_MORE_LINES:
                word = "LONGER: find out why (--gaps), or write the new figures with their reason"
            elif now[0] < MOST_LOSS * instructions or now[1] < MOST_LOSS * lines - MOST_MORE_LINES:
                word = "SHORTER: write the new figures"
            wrong += bool(word)
            begin = "unexpected: " if word else ""
            print(f"{begin}{name} {mode} = [{now[0]}, {now[1]}], known [{instructions}, {lines}] {word}", flush=True)
    return wrong == 0


def main(words):
    with tempfile.TemporaryDirectory() as folder:
        if words == ["--check"]:
            return 0 if check(folder) else "hot_path.py: paths are not as hot_path.toml knows them"
        flags = {word for word in words if word.startswith("--")}
        adapter = ADAPTERS["hip" if "--hip" in flags else "cuda"]
        show(adapter, [word for word in words if word not in flags], "--gaps" in flags, folder)
        return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
