#!/bin/sh
# Runs the conformance suite with its modules side by side, for machines that are lent by the minute. Called by run.sh, which
# says where everything is and unpacks the tests.
#
#   run.sh suite [cuda] [hip]       both without a name
#
# Modules that fill the device run one after the other at the end. Before them come the random programs, and what starts a process for
# each of its steps, which takes five times as long beside many others. Prints a line for each module that did not end well, with what
# it said, then the sums. SUITE_JOBS (12) modules run at once, each for at most SUITE_LIMIT (150) seconds; SUITE_MODEL_JOBS (1) of the
# random programs at once. All lines are in $OUT (or /tmp)/suite-ADAPTER.txt. Ends with 1 if anything failed. SUITE_PART: beside, model or
# filling for those that run side by side, the random programs, or those that fill the device; their lines are in suite-ADAPTER-PART.txt.
set -u
limit=${SUITE_LIMIT:-150}
jobs=${SUITE_JOBS:-12}
part=${SUITE_PART:-}
model='^(model|il\.(cache|program)|queues\.kept)'
filling='^(pools\.(limits|slabs|stream_ordered|out_of_memory)|usm\.allocation)'

# --- one module: BINARY.MODULE
if [ "${1:-}" = --one ]; then
    binary=$TESTS/${2%%.*}
    said=$(mktemp)
    # shellcheck disable=SC2046 # names of tests are words
    timeout -k 10 "$limit" "$binary" --exact $("$binary" --list | sed -n "s/^\(${2#*.}::.*\): test\$/\1/p") >"$said" 2>&1
    status=$?
    echo "$2 rc $status $(grep '^test result' "$said")"
    [ $status -eq 0 ] || { grep -E 'FAILED|panicked' -A 3 "$said" | head -40; tail -3 "$said"; }
    rm -f "$said"
    exit 0
fi

[ $# -gt 0 ] || set -- cuda hip
failed=0
for adapter in "$@"; do
    log=${OUT:-/tmp}/suite-$adapter${part:+-$part}.txt
    : >"$log"
    if [ "$adapter" = hip ]; then export UR_TEST_ADAPTER="$UR_TEST_DIST/lib/libur_adapter_hip.so.0"; else unset UR_TEST_ADAPTER; fi
    for test in "$TESTS"/*; do
        "$test" --list | sed -n 's/::.*: test$//p' | sort -u | sed "s/^/$(basename "$test")./"
    done >"$log.modules"
    # run WHICH JOBS: those modules whose names come in, unless another part was asked for.
    run() { { [ -n "$part" ] && [ "$part" != "$1" ]; } || xargs -P "$2" -I '{}' sh "$0" --one '{}' >>"$log" 2>&1; }
    grep -vE "$model|$filling" "$log.modules" | run beside "$jobs"
    grep -E "$model" "$log.modules" | run model "${SUITE_MODEL_JOBS:-1}"
    grep -E "$filling" "$log.modules" | run filling 1
    rm -f "$log.modules"
    # What a module that failed said repeats its line.
    sum() { grep ' rc ' "$log" | grep -oE "[0-9]+ $1" | awk '{ sum += $1 } END { print sum + 0 }'; }
    grep -vE ' rc 0 ' "$log"
    echo "== $adapter: $(sum passed) passed, $(sum failed) failed, $(sum ignored) ignored, $(grep -cE ' rc [^0]' "$log") modules did not end well"
    grep -qE ' rc [^0]' "$log" && failed=1
done
exit $failed
