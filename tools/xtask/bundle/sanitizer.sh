#!/bin/sh
# Runs the suite's test binaries and the random programs under NVIDIA's compute-sanitizer. Called by run.sh, which says where
# everything is (UR_TEST_DIST and so on) and unpacks the tests.
#
#   run.sh sanitizer PART...        PART is TOOL:LISTS:WHAT
#       TOOL    memcheck (with races of stream-ordered memory and leaks) or synccheck
#       LISTS   on or off: free lists as they are, or UR_USM_MAGAZINE_BYTES=0
#       WHAT    1/4 to 4/4 (any n/m): that share of the test binaries' modules, side by side; or one module (pools.info)
#               alone: the modules that fill the device, one after the other
#               model: 1,000 programs of the model; threads: 400 programs of several threads
#   run.sh sanitizer list           the parts that make up everything
#
# It prints one line for each run (errors, expected ones, how the tests ended), then every finding that is not expected, once,
# with its count, as sanitizer_judge.sh says. All output of the tool is in $OUT (or /tmp)/sanitizer-PART.log.gz.
# SANITIZER_SECONDS (540) bounds everything: what was not run by then is named as such. SANITIZER_JOBS (10) runs go side by side,
# each for at most SANITIZER_LIMIT (200) seconds.
# SANITIZER_SAVE=1 keeps the tool's own records, in $OUT (or /tmp)/TOOL.LISTS.NAME.records, for `compute-sanitizer --read`.
# Ends with 1 if anything unexpected was found, or a run did not end well, or was left out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
expected=${SANITIZER_EXPECTED:-$here/sanitizer-expected.txt}
seconds=${SANITIZER_SECONDS:-540}
limit=${SANITIZER_LIMIT:-200}
jobs=${SANITIZER_JOBS:-10}
alone="pools.limits pools.slabs pools.stream_ordered pools.out_of_memory usm.allocation"
begun=$(date +%s)

everything() {
    for lists in on off; do
        for what in 1/4 2/4 3/4 4/4 alone model threads; do echo "memcheck:$lists:$what"; done
        for what in 1/2 2/2 alone; do echo "synccheck:$lists:$what"; done
    done
}

# --- one run, in a process of its own: TOOL LISTS NAME BINARY ARGUMENTS...
if [ "${1:-}" = --one ]; then
    shift
    tool=$1 lists=$2 name=$3
    shift 3
    log=$SANITIZER_LOGS/$tool.$lists.$name.log
    left=$((SANITIZER_END - $(date +%s)))
    if [ "$left" -lt 15 ]; then
        echo "left out: no time" >"$log.ended"
        exit 0
    fi
    [ "$left" -lt "$limit" ] && limit=$left
    [ "$lists" = off ] && export UR_USM_MAGAZINE_BYTES=0
    case $tool in
        memcheck) options="--track-stream-ordered-races all --leak-check full --report-api-errors explicit" ;;
        *) options= ;;
    esac
    [ -z "${SANITIZER_SAVE:-}" ] || options="$options --save ${OUT:-/tmp}/$tool.$lists.$name.records"
    from=$(date +%s)
    # shellcheck disable=SC2086 # the options are words
    timeout -k 10 "$limit" "$SANITIZER" --tool "$tool" $options --target-processes all --print-limit 2000 \
        --show-backtrace host "$@" >"$log" 2>&1
    status=$?
    case $status in
        0) ended="ok" ;;
        # The tool's own complaint about a run without a native call, which the list of findings judges.
        255) grep -q '^test result: ok' "$log" && ended="ok" || ended="FAILED (255)" ;;
        124 | 137) ended="STOPPED after $limit s" ;;
        *) ended="FAILED ($status)" ;;
    esac
    echo "$ended, $(($(date +%s) - from)) s" >"$log.ended"
    exit 0
fi

# --- all runs of the parts
[ $# -gt 0 ] || { sed -n '2,19p' "$0" >&2; exit 2; }
[ "$1" = list ] && { everything; exit 0; }
[ -r "$expected" ] || { echo "no list of what is expected: $expected; SANITIZER_EXPECTED names it" >&2; exit 2; }

find_sanitizer() {
    for candidate in "${COMPUTE_SANITIZER:-}" "$(command -v compute-sanitizer)" /usr/local/cuda/bin/compute-sanitizer \
        /usr/local/cuda/compute-sanitizer/compute-sanitizer /usr/local/cuda-*/bin/compute-sanitizer \
        /usr/local/cuda-*/compute-sanitizer/compute-sanitizer /opt/nvidia/*/compute-sanitizer; do
        [ -n "$candidate" ] && [ -x "$candidate" ] && { echo "$candidate"; return; }
    done
}
SANITIZER=$(find_sanitizer)
[ -n "$SANITIZER" ] || { echo "compute-sanitizer is not here; COMPUTE_SANITIZER may name it" >&2; exit 2; }
SANITIZER_LOGS=$(mktemp -d)
SANITIZER_END=$((begun + seconds))
export SANITIZER SANITIZER_LOGS SANITIZER_END SANITIZER_LIMIT="$limit"
trap 'rm -rf "$SANITIZER_LOGS"' EXIT
"$SANITIZER" --version 2>/dev/null | tail -1

# Under the tool everything takes longer.
export UR_MODEL_PATIENCE="${UR_MODEL_PATIENCE:-100}" UR_MODEL_SHRINK=0 RUST_BACKTRACE=0

# Modules of a test binary, and the tests of one of them that can pass under the tool.
without=$(sed -n 's/^without *| *\([^ ]*\).*/\1/p' "$expected")
# A test that runs others in a child leaves these out there, too.
UR_TEST_SKIP=$(echo "$without" | tr '\n' ' ')
export UR_TEST_SKIP
modules_of() { "$1" --list | sed -n 's/::.*: test$//p' | sort -u; }
tests_of() { "$1" --list | sed -n "s/^\($2::.*\): test\$/\1/p" | grep -vxF "$without"; }

# The line "TOOL LISTS NAME BINARY ARGUMENTS..." that runs BINARY.MODULE.
run_of() {
    binary=$TESTS/${3%%.*}
    tests=$(tests_of "$binary" "${3#*.}" | tr '\n' ' ')
    # Without a name everything would run.
    [ -z "$tests" ] || echo "$1 $2 $3 $binary --exact $tests"
}

# Such lines for all runs of a part.
runs_of() {
    tool=${1%%:*} rest=${1#*:}
    lists=${rest%%:*} what=${rest#*:}
    case $what in
        model)
            for seed in 1 2 3 4 5 6 7 8 9 10; do
                echo "$tool $lists model-$seed env UR_MODEL_PROGRAMS=100 UR_MODEL_SEED=$seed $TESTS/model --nocapture" \
                    "programs::programs_ programs::pools_and"
            done ;;
        threads)
            for seed in 1 2 3 4 5 6 7 8; do
                echo "$tool $lists threads-$seed env UR_MODEL_THREADED=50 UR_MODEL_SEED=$seed $TESTS/model" \
                    "--nocapture --exact threads::programs_of_several_threads_do_what_the_model_says"
            done ;;
        alone)
            for name in $alone; do run_of "$tool" "$lists" "$name"; done ;;
        */*)
            index=0
            for test in "$TESTS"/*; do
                # The random programs have parts of their own, and planted bugs need adapters that do not travel.
                [ "$(basename "$test")" = model ] && continue
                for module in $(modules_of "$test"); do
                    name=$(basename "$test").$module
                    case " $alone " in *" $name "*) continue ;; esac
                    index=$((index + 1))
                    if [ $((index % ${what#*/})) -eq $((${what%/*} % ${what#*/})) ]; then
                        run_of "$tool" "$lists" "$name"
                    fi
                done
            done ;;
        *.*) run_of "$tool" "$lists" "$what" ;;
        *) echo "no part: $1" >&2; exit 2 ;;
    esac
}

for part in "$@"; do
    one=$jobs
    case $part in *:alone) one=1 ;; esac
    runs_of "$part" >"$SANITIZER_LOGS/runs" || exit 2
    xargs -P "$one" -I '{}' sh -c 'exec sh "$0" --one $1' "$0" '{}' <"$SANITIZER_LOGS/runs"
done

sh "$here/sanitizer_judge.sh" "$SANITIZER_LOGS"
bad=$?

# All that the tool and the tests said, in one file.
kept=${OUT:-/tmp}/sanitizer-$(echo "$*" | tr ' :/' '---' | cut -c1-60).log
for log in "$SANITIZER_LOGS"/*.log; do
    [ -e "$log" ] || continue
    echo "##### $(basename "$log" .log)"
    # A run that says the same thousands of times would fill what may come back.
    head -c 3000000 "$log"
done | gzip >"$kept.gz"
echo "everything that was said: $kept.gz; $(($(date +%s) - begun)) s"
exit $bad
