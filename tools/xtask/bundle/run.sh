#!/bin/sh
# Runs what `cargo xtask bundle` carried here on this machine's CUDA driver: device list, demonstration, C example,
# benchmarks, conformance tests of both adapters. Every part runs, whatever the others do; the last lines tell how each ended.
#
#   sh .carry/run.sh            on the real driver
#   sh .carry/run.sh sim        on the simulated one, to try the bundle itself
#   sh .carry/run.sh suite [cuda] [hip]   the suite alone, modules side by side; see suite.sh
#   sh .carry/run.sh vulkan [cuda] [hip]  the tests that need Vulkan on the device, which the suite ignores
#   sh .carry/run.sh sanitizer PART...    tests and random programs under compute-sanitizer; see sanitizer.sh
#   sh .carry/run.sh plan PART...         what a release is to show on GPUs, by the minute; see plan.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$here/dist
case ${1:-real} in
    real) native=libcuda.so.1 ;;
    sim)
        native=$dist/lib/libsimcuda.so
        # It is its own management library.
        export UR_NVML_LIBRARY="$native"
        ;;
    plan | sanitizer | suite | vulkan) native=${UR_TEST_NATIVE:-libcuda.so.1} ;;
    *) echo "usage: $0 [real|sim|suite [cuda] [hip]|vulkan [cuda] [hip]|sanitizer PART...|plan PART...]" >&2; exit 2 ;;
esac

unset ONEAPI_DEVICE_SELECTOR UR_ADAPTERS_SEARCH_PATH
export LD_LIBRARY_PATH="$dist/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export UR_ADAPTERS_FORCE_LOAD="$dist/lib/libur_adapter_cuda.so.0"
export UR_CUDA_LIBRARY="$native"
export UR_TEST_DIST="$dist" UR_TEST_DIST_2026_1="$here/dist-2026.1" UR_TEST_KERNELS="$dist/share/kernels"
export UR_TEST_NATIVE="$native"
# Tests that fill the device do it in processes of their own, which must not meet.
export RUST_TEST_THREADS=1

# The tests travel packed.
tests=$here/tests
if [ -e "$here/tests.tar.xz" ]; then
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
    tar -C "$unpacked" -xJf "$here/tests.tar.xz" && tests=$unpacked/tests
fi

case ${1:-real} in
    plan | sanitizer | suite)
        part=$1
        shift
        export TESTS="$tests"
        sh "$here/$part.sh" "$@"
        exit $?
        ;;
    vulkan)
        shift
        [ $# -gt 0 ] || set -- cuda hip
        failed=0
        for adapter in "$@"; do
            echo "== vulkan, $adapter"
            UR_TEST_ADAPTER="$dist/lib/libur_adapter_$adapter.so.0" timeout -k 10 250 "$tests/external" --ignored || failed=1
        done
        exit $failed
        ;;
esac

results=
failed=0
part() {
    name=$1
    shift
    echo "== $name =="
    timeout -k 10 300 "$@"
    status=$?
    [ $status -eq 0 ] && verdict=ok || { verdict="FAILED ($status)"; failed=1; }
    results="$results$name: $verdict
"
}

part urinfo "$dist/bin/urinfo" --why
part demo env UR_CUDA_LIBRARY="$dist/lib/libcallcount.so" UR_CALLCOUNT_LIBRARY="$native" "$dist/bin/ur-demo"
part saxpy.c "$here/saxpy" "$dist/share/kernels/saxpy.ptx"
part timeline.c "$here/timeline"
part urbench "$dist/bin/urbench" --processes 3 --json "${OUT:-$here}/urbench-cuda.json"
modules_of() { "$1" --list | sed -n 's/::.*: test$//p' | sort -u; }
tests_of() { "$1" --list | sed -n "s/^\($2::.*\): test\$/\1/p"; }
# A module of a test binary at a time, so that each has the whole limit and a verdict of its own.
suite() {
    adapter=$1
    shift
    for test in "$tests"/*; do
        [ -x "$test" ] || continue
        for module in $(modules_of "$test"); do
            # shellcheck disable=SC2046 # names of tests are words
            part "$adapter/$(basename "$test")/$module" "$@" "$test" --exact $(tests_of "$test" "$module")
        done
    done
}
suite cuda
# The HIP adapter, over HIP's API on the same CUDA driver.
hip="$dist/lib/libur_adapter_hip.so.0"
if [ -e "$hip" ]; then
    part hip/saxpy.c env UR_ADAPTERS_FORCE_LOAD="$hip" UR_HIP_LIBRARY="$dist/lib/libhip_on_cuda.so" \
        "$here/saxpy" "$dist/share/kernels/saxpy.ptx"
    part hip/timeline.c env UR_ADAPTERS_FORCE_LOAD="$hip" UR_HIP_LIBRARY="$dist/lib/libhip_on_cuda.so" "$here/timeline"
    part hip/urbench env UR_ADAPTERS_FORCE_LOAD="$hip" \
        "$dist/bin/urbench" --processes 3 --hip "$dist/lib/libhip_on_cuda.so" --json "${OUT:-$here}/urbench-hip.json"
    suite hip env UR_TEST_ADAPTER="$hip"
fi
echo "== summary =="
printf '%s' "$results"
exit $failed
