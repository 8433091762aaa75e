// What the model of stream-ordered allocation launches (`conformance/model`): each launch checks what its block has to
// hold and writes what it is to hold next, so a block that somebody else was given too early is seen.
#include "device.h"

// What lies in a block: word i is `base + i * step`.
struct Pattern {
    uint32_t base, step;
};

// The first thing that was wrong, in memory that the host reads.
struct Verdict {
    uint32_t mismatches, command, at, found, expected;
};

// Checks the first `known` words for `is`, then writes `becomes` over all `words` (none for a launch that only looks),
// then notes that the command ran. For one group of threads, so that the note comes last on every path.
SIM_KERNEL void check_and_write(unsigned *data, unsigned known, unsigned words, Pattern is, Pattern becomes,
                                Verdict *verdict, unsigned *ran, unsigned command) {
    unsigned first = TID(x), stride = NTID(x);
    for (unsigned i = first; i < known; i += stride) {
        unsigned found = data[i], expected = is.base + i * is.step;
        if (found == expected) continue;
        if (add_atomic(&verdict->mismatches, 1u) != 0) break;
        verdict->command = command;
        verdict->at = i;
        verdict->found = found;
        verdict->expected = expected;
        break;
    }
    barrier();
    for (unsigned i = first; i < words; i += stride) data[i] = becomes.base + i * becomes.step;
    barrier();
    if (first == 0) ran[command] = 1;
}

// Runs until the host opens the gate, then notes that it ran.
SIM_KERNEL void stand_at_gate(volatile unsigned *gate, unsigned *ran, unsigned command) {
    while (*gate == 0) {}
    ran[command] = 1;
}
