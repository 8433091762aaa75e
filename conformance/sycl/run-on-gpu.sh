#!/bin/sh
# Runs the SYCL programs and dpctl's suite on this machine's CUDA driver, from the parts that `cargo xtask bundle --sycl` made.
# The parts are too large to come at once; they are kept in /tmp/ur-sycl until the last has come.
#
#   sh .carry-sycl/1/run-on-gpu.sh take        for each part in turn, from its own folder
#   sh .carry-sycl/N/run-on-gpu.sh take run    for the last part: takes it, too, and runs everything
#   sh .carry-sycl/N/run-on-gpu.sh run sim     on the simulated driver, to try the bundle itself
set -u
here=$(cd "$(dirname "$0")" && pwd)
store=/tmp/ur-sycl
mkdir -p "$store/parts"
native=libcuda.so.1
run=no
for word in "$@"; do
    case $word in
        take) cp "$here"/part.* "$store/parts/" || exit 1 ;;
        run) run=yes ;;
        sim) native=$store/all/lib/libsimcuda.so ;;
        *) echo "usage: $0 [take] [run [sim]]" >&2; exit 2 ;;
    esac
done
[ $run = yes ] || exit 0

# Parts are called part.INDEX.COUNT.
count=$(ls "$store/parts" | head -n 1 | sed 's/.*\.//')
[ "$(ls "$store/parts" | wc -l)" -eq "$count" ] || { echo "there are not all of the $count parts" >&2; exit 1; }
if [ ! -d "$store/all" ]; then
    cat "$store"/parts/part.* | python3 -c '
import sys, tarfile
tarfile.open(fileobj=sys.stdin.buffer, mode="r|xz").extractall(sys.argv[1], filter="data")' "$store/unpacking" || exit 1
    mv "$store/unpacking" "$store/all"
fi
all=$store/all

unset ONEAPI_DEVICE_SELECTOR UR_ADAPTERS_SEARCH_PATH
export LD_LIBRARY_PATH="$all/lib" UR_ADAPTERS_FORCE_LOAD="$all/lib/libur_adapter_cuda.so.0" UR_CUDA_LIBRARY="$native"
export PYTHONPATH="$all/site:$all/python" PYTHONDONTWRITEBYTECODE=1
# Without a CUDA toolkit the compiler takes its library of mathematical functions from here.
[ -e /usr/local/cuda/nvvm/libdevice ] || export UR_SYCL_CUDA="$all/cuda"
compiling="env LD_PRELOAD=$all/toolchain.so UR_SYCL_TOOLCHAIN=$all/toolchain"

results=
failed=0
part() {
    name=$1
    shift
    timeout -k 10 300 "$@" 2>"$store/stderr"
    status=$?
    case $status in
        0) verdict=ok ;;
        77) verdict=skipped ;;
        *) verdict="FAILED ($status)"; failed=1; tail -n 5 "$store/stderr" ;;
    esac
    results="$results$name: $verdict
"
}
for program in "$all"/programs/*; do
    part "$(basename "$program")" $compiling "$program"
done
for program in "$all"/python/dpctl_*.py; do
    part "$(basename "$program")" python3 "$program"
done
cd /tmp && part "dpctl's suite" python3 -m pytest -q --tb=line -p no:cacheprovider --pyargs dpctl.tests
echo "== summary =="
printf '%s' "$results"
exit $failed
