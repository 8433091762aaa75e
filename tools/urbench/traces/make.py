#!/usr/bin/env python3
"""Makes allocation traces for `urbench`'s replays.

    make.py log < LOG > dpctl.txt      from what a SYCL program's runtime prints with SYCL_UR_TRACE=2
    make.py training > training.txt    a training loop: what is written down here, no recording

A trace is text, one step a line, in the order of the program:

    a THREAD KIND BYTES     an allocation; KIND is d (device), h (host) or s (shared). The first has number 0, the next 1, …
    f THREAD NUMBER         the free of that allocation
    # …                     a comment

What was not freed is freed at the end of a replay.
"""

import random
import re
import sys

ALLOC = re.compile(r"<--- urUSM(Device|Host|Shared)Alloc\(.*\.size = (\d+), \.ppMem = \S+ \((0x[0-9a-f]+)\)\) -> UR_RESULT_SUCCESS")
FREE = re.compile(r"<--- urUSMFree\(.*\.pMem = (0x[0-9a-f]+)\) -> UR_RESULT_SUCCESS")


def from_log(lines):
    """Steps of one thread: the runtime's lines do not tell threads apart."""
    live, count = {}, 0
    for line in lines:
        if found := ALLOC.search(line):
            kind, size, address = found.groups()
            live[address] = count
            count += 1
            yield f"a 0 {kind[0].lower()} {size}"
        elif (found := FREE.search(line)) and found.group(1) in live:
            yield f"f 0 {live.pop(found.group(1))}"


def training():
    """Twelve layers, forward and backward, a loader thread that pins batches, an optimiser that keeps two states, and an
    evaluation with another batch size every fourth step. Sequence lengths differ from step to step, so sizes do too."""
    chance = random.Random(16)
    count = 0

    def allocate(thread, kind, size, steps):
        nonlocal count
        steps.append(f"a {thread} {kind} {size}")
        count += 1
        return count - 1

    steps, width, layers = [], 512, 12
    weights = [allocate(0, "d", size, steps) for _ in range(layers) for size in (width * width * 4, width * 4, 1024)]
    assert weights
    states = []
    for step in range(8):
        length = chance.choice([96, 128, 160, 192])
        batch = 16 if step % 4 == 3 else 8
        tokens = allocate(1, "h", batch * length * 8, steps)
        loss = allocate(0, "s", 4, steps)
        on_device = allocate(0, "d", batch * length * 8, steps)
        activations = []
        for _ in range(layers):
            row = batch * length
            activations.append([allocate(0, "d", size, steps) for size in (row * width * 4, row * width * 2, row * 16)])
            scratch = allocate(0, "d", row * 64 + chance.randrange(4096), steps)
            steps.append(f"f 0 {scratch}")
        steps.append(f"f 0 {tokens}")
        gradients = []
        while activations:
            workspace = allocate(0, "d", chance.choice([1, 2, 4]) << 20, steps)
            if step % 4 != 3:
                gradients.append(allocate(0, "d", width * width * 4, steps))
            steps.extend(f"f 0 {number}" for number in reversed(activations.pop()))
            steps.append(f"f 0 {workspace}")
        if not states:
            states = [allocate(0, "d", width * width * 4, steps) for _ in range(2 * layers)]
        steps.extend(f"f 0 {number}" for number in gradients)
        steps.append(f"f 1 {on_device}")
        steps.append(f"f 0 {loss}")
    return steps


def main():
    what = sys.argv[1:]
    if what == ["log"]:
        print("# dpctl 0.22.1's test suite on the CUDA adapter over simcuda: `SYCL_UR_TRACE=2 pytest -s` through `make.py log`.")
        steps = from_log(sys.stdin)
    elif what == ["training"]:
        print("# A training loop, from `make.py training`: twelve layers, eight steps, a loader thread.")
        steps = training()
    else:
        sys.exit(__doc__)
    for step in steps:
        print(step)


main()
