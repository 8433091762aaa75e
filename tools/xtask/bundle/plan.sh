#!/bin/sh
# What a release is to show on GPUs, in calls that fit a machine lent by the minute. Called by run.sh, which says where everything is.
#
#   run.sh plan suites     two GPUs, 6 minutes: each adapter's suite with one of them, side by side
#   run.sh plan two        two GPUs, 7 minutes: each adapter's suite with both, side by side, one begins with the first and one with the second
#   run.sh plan four       four GPUs, 9 minutes: each adapter's suite with two of them, side by side
#   run.sh plan one        one GPU or two, 5 to 9 minutes: both adapters' suites on all there are at a time, but for what fills the device; SUITE_JOBS (10)
#                          modules of each at once, SUITE_LIMIT (150) seconds for each; SUITE_PARTS ("beside model filling"; for suites,
#                          two and four, too) is for what is left of a run whose time was up
#   run.sh plan guarded    the same with plain memory guarded and filled (UR_USM_POOL_DEBUG=1); its lines are in $OUT/guarded
#   run.sh plan figures    one GPU, 6 minutes: the tables of urbench that docs/benchmarks.md has, each with a limit of its own
#   run.sh plan beside     one GPU, about 6 minutes (`work` and `hip-work` one each): urbench's groups with the adapters of another commit, in
#                          .carry/before (stripped of their debug information), and with ours, in turn; BESIDE_GROUPS (work objects threads
#                          lifetimes growth hip-work)
#   run.sh plan memcheck-on, memcheck-off
#                          two GPUs, at most 10 minutes each: memcheck over everything, with free lists and without (sanitizer.sh)
#   run.sh plan syncchecks two GPUs, 6 minutes: synccheck over the suite, free lists on and off
#   run.sh plan proofs     one GPU, 8 minutes: kernels translated from SPIR-V and compiled there, one hardware channel, Vulkan,
#                          random programs of timelines, plain memory unpooled and guarded, and some of the probes below docs/probes
#
# What it prints at the end is short; all lines are in $OUT (or /tmp), a file for each part. Few files come back from a machine that is lent, so put
# them into one archive there. Nothing that is timed goes beside anything else, on another GPU neither: the host is one.
set -u
out=${OUT:-/tmp}
dist=$UR_TEST_DIST
here=$(dirname "$0")
parts=${SUITE_PARTS:-beside model filling}

said=$(mktemp)
trap 'rm -f "$said"' EXIT

# run_for NAME SECONDS COMMAND...: what it said is in $said and behind the part's other lines; says how it ended.
run_for() {
    name=$1 limit=$2
    shift 2
    timeout -k 10 "$limit" "$@" >"$said" 2>&1
    echo "### $name: rc $?, $(date +%T)" | tee -a "$out/$part.txt"
    cat "$said" >>"$out/$part.txt"
}

# step NAME SECONDS COMMAND...: shows the last lines.
step() {
    run_for "$@"
    tail -n "${LINES_SHOWN:-12}" "$said"
}

# table NAME SECONDS ARGUMENTS...: a table of urbench.
table() {
    of=$1 seconds=$2
    shift 2
    run_for "$of" "$seconds" "$dist/bin/urbench" --loader "$dist/lib/libur_loader.so.0" --native "$UR_TEST_NATIVE" \
        --kernels "$dist/share/kernels" --table "$@"
    # Where another adapter's figures stand beside ours, those alone.
    sed -n "$(grep -q '^beside ' "$said" && echo '/^beside /,$')p" "$said" | grep '^|' | cut -c1-120
}

# The machine's own libnvvm, whose PTX its driver takes.
nvvm() { ls /usr/local/cuda*/nvvm/lib64/libnvvm.so.4 2>/dev/null | head -n 1; }

# sides JOBS "GPUS ADAPTER"...: each adapter's suite on its GPUs, part by part: what fills a device does not meet the other side's tests, and
# the lines of the others are there already if the time is up in it.
sides() {
    export SUITE_LIMIT=${SUITE_LIMIT:-300} SUITE_JOBS=$1 SUITE_MODEL_JOBS=8
    shift
    for part in $parts; do
        for side in "$@"; do
            CUDA_VISIBLE_DEVICES=${side% *} SUITE_PART=$part sh "$here/suite.sh" "${side#* }" >"$said.${side#* }" 2>&1 &
        done
        wait
        echo "### $part: $(date +%T)"
        tail -c 3000 "$said.cuda"
        tail -c 3000 "$said.hip"
    done
    rm -f "$said.cuda" "$said.hip"
}
suites() { sides 14 "0 cuda" "1 hip"; }
two() { sides 14 "0,1 cuda" "1,0 hip"; }
four() { sides 28 "0,1 cuda" "2,3 hip"; }

# Two processes' kernels take turns on one GPU, so a test that waits for a gate may take longer than the gate stays closed:
# what fails here alone is run again by itself.
one() {
    export SUITE_LIMIT=${SUITE_LIMIT:-150}
    for part in $parts; do
        if [ "$part" = filling ]; then
            SUITE_PART=filling sh "$here/suite.sh" cuda hip
        else
            for adapter in cuda hip; do
                SUITE_PART=$part SUITE_MODEL_JOBS=3 SUITE_JOBS=${SUITE_JOBS:-10} sh "$here/suite.sh" "$adapter" >"$said.$adapter" 2>&1 &
            done
            wait
            cat "$said.cuda" "$said.hip"
        fi
        date +%T
    done
    rm -f "$said.cuda" "$said.hip"
}

# A subshell: `one` has a variable of this script's name, and the next part is not guarded.
guarded() (
    export UR_USM_POOL_DEBUG=1 OUT="$out/guarded"
    mkdir -p "$OUT"
    one
)

figures() {
    cuda="--adapter $dist/lib/libur_adapter_cuda.so.0"
    hip="--adapter $dist/lib/libur_adapter_hip.so.0 --hip $dist/lib/libhip_on_cuda.so"
    export CUDA_VISIBLE_DEVICES=0
    # shellcheck disable=SC2086 # the adapter's words
    {
        table work 70 $cuda --only work --processes 3
        table graphs 80 $cuda --only graphs --rounds 9 --round-time 2
        for group in objects threads lifetimes timelines; do table "$group" 60 $cuda --only "$group"; done
        table growth 150 $cuda --only growth
        # These are no rows of the table.
        step replays 60 "$dist/bin/urbench" --loader "$dist/lib/libur_loader.so.0" --native "$UR_TEST_NATIVE" \
            --kernels "$dist/share/kernels" $cuda --only replays
        UR_NVVM_LIBRARY=$(nvvm) table programs 60 $cuda --only programs
        export UR_HIP_LIBRARY="$dist/lib/libhip_on_cuda.so"
        table hip-work 40 $hip --only work
        table hip-graphs 70 $hip --only graphs --rounds 3 --round-time 2
    }
}

# Processes of both take turns, so a host that is slow for a while is slow for both; a figure of processes of its own is measured for one
# behind the other.
beside() {
    export CUDA_VISIBLE_DEVICES=0 UR_HIP_LIBRARY="$dist/lib/libhip_on_cuda.so"
    for group in ${BESIDE_GROUPS:-work objects threads lifetimes growth hip-work}; do
        case $group in hip-*) adapter=libur_adapter_hip.so.0 ;; *) adapter=libur_adapter_cuda.so.0 ;; esac
        if [ "$group" = lifetimes ]; then
            for folder in "$here/before" "$dist/lib"; do table "$group, $folder" 60 --adapter "$folder/$adapter" --only lifetimes; done
            continue
        fi
        # An adapter whose plain memory is native takes half a second for a round of eight threads, and every one a while to make 64,000
        # objects.
        case $group in threads) often="--processes 4 --rounds 5" ;; growth) often="" ;; *) often="--processes 4 --rounds 21" ;; esac
        # shellcheck disable=SC2086 # the options are words
        table "$group" 120 --adapter "$dist/lib/$adapter" --beside "$here/before/$adapter" --hip "$UR_HIP_LIBRARY" --only "${group#hip-}" $often
    done
}

proofs() {
    export CUDA_VISIBLE_DEVICES=0
    step spirv 60 python3 "$here/spirv/run.py" "$UR_TEST_NATIVE"
    UR_TEST_NVVM=$(nvvm) step il 200 "$TESTS/il"
    # One test's gate holds up the other queue where they share a channel.
    CUDA_DEVICE_MAX_CONNECTIONS=1 step one-channel 100 "$TESTS/queues" timelines:: \
        --skip urTimelineSignalExt_does_not_wait_for_a_stream_that_is_full
    for channels in 1 2 8; do CUDA_DEVICE_MAX_CONNECTIONS=$channels step "channels-$channels" 30 "$here/probes/channels"; done
    UR_MODEL_TIMELINES=10000 step timelines 120 "$TESTS/model" timelines
    LINES_SHOWN=30 step managed_waits 60 "$here/probes/managed_waits"
    step clock_drift 30 "$here/probes/clock_drift"
    LINES_SHOWN=30 step alloc_sizes 60 "$here/probes/alloc_sizes"
    # shellcheck disable=SC2016 # the words are the inner shell's
    LINES_SHOWN=30 step first_load 60 sh -c '"$0" new "$1" && "$0" known && "$0" known' "$here/probes/first_load" "$(nvvm)"
    # Memory of the application's own is not pooled, then guarded.
    UR_USM_POOL=0 step unpooled 100 "$TESTS/usm"
    UR_USM_POOL_DEBUG=1 step guarded 100 "$TESTS/usm"
    step vulkan 120 sh "$here/run.sh" vulkan cuda hip
}

# sanitizers SECONDS PARTS...: each argument's parts on a GPU of their own, side by side. What they said is in sanitizer-N.txt; what is not well is shown.
sanitizers() {
    export SANITIZER_SECONDS=$1 SANITIZER_JOBS=14
    shift
    gpu=0
    for parts in "$@"; do
        # shellcheck disable=SC2086 # the parts are words
        CUDA_VISIBLE_DEVICES=$gpu sh "$here/sanitizer.sh" $parts >"$out/sanitizer-$gpu.txt" 2>&1 &
        gpu=$((gpu + 1))
    done
    wait
    for said in "$out"/sanitizer-*.txt; do
        echo "### $said: $(grep -c ': 0 errors.*; tests: ok' "$said") runs well"
        grep -v ': 0 errors.*; tests: ok' "$said" | cut -c1-400 | head -40
    done
}

# memcheck LISTS
memcheck() {
    # `il.cache` and `il.program` start a process for each of their steps.
    export SANITIZER_LIMIT=330
    sanitizers 560 "memcheck:$1:1/2 memcheck:$1:alone" "memcheck:$1:2/2 memcheck:$1:model memcheck:$1:threads"
}

syncchecks() {
    sanitizers 420 "synccheck:on:1/2 synccheck:on:2/2 synccheck:on:alone" "synccheck:off:1/2 synccheck:off:2/2 synccheck:off:alone"
}

for part in "$@"; do
    case $part in
        memcheck-on | memcheck-off) memcheck "${part#memcheck-}" ;;
        syncchecks | suites | two | four | one | guarded | figures | beside | proofs) $part ;;
        *) echo "plan: memcheck-on, memcheck-off, syncchecks, suites, two, four, one, guarded, figures, beside or proofs, not $part" >&2; exit 2 ;;
    esac
done
