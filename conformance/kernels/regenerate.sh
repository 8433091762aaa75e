#!/bin/sh
# Compiles every kernel here and the wheel's to PTX with clang, and with nvcc (NVCC=path) those here to the samples of its dialect.
# With --check nothing is written: it fails where the PTX is not what clang 14 makes of the source beside it.
set -eu
cd "$(dirname "$0")"
CLANG=${CLANG:-clang-14}
wheel=../../packaging/wheel/python/ur_adapters/dpnp_gaps

# ptx SOURCE ARCHITECTURE VERSION LEVEL OUTPUT
ptx() {
    "$CLANG" -x cuda --cuda-device-only "--cuda-gpu-arch=$2" -nocudainc -nocudalib \
        -Xclang -target-feature -Xclang "+ptx$3" "-O$4" -S -o "$5" "$1"
}

# all FOLDER: what there is of clang's, under that folder.
all() {
    for source in *.cu; do ptx "$source" sm_70 63 2 "$1/${source%.cu}.ptx"; done
    ptx "$wheel/sums.cu" sm_60 60 3 "$1/$wheel/sums.ptx"
}

if [ "${1:-}" = --check ]; then
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    # A folder for which the way to the wheel stays inside.
    mkdir -p "$made/a/b/$wheel"
    all "$made/a/b"
    stale=0
    for source in *.cu "$wheel"/*.cu; do
        file=${source%.cu}.ptx
        cmp -s "$made/a/b/$file" "$file" || { echo "unexpected: $file is not what $CLANG makes of $source: run $0" && stale=1; }
    done
    exit $stale
fi
all .
[ -n "${NVCC:-}" ] || exit 0
mkdir -p nvcc fatbin cubin
for source in *.cu; do
    name=${source%.cu}
    "$NVCC" -std=c++17 -O3 -arch=compute_75 -ptx -o "nvcc/$name.ptx" "$source"
done
targets="-gencode arch=compute_75,code=[sm_75,compute_75] -gencode arch=compute_90,code=[sm_90,compute_90]"
"$NVCC" -std=c++17 $targets -fatbin -o fatbin/saxpy.fatbin saxpy.cu
"$NVCC" -std=c++17 $targets --no-compress -fatbin -o fatbin/saxpy.plain.fatbin saxpy.cu
"$NVCC" -std=c++17 $targets --compress-mode=speed -fatbin -o fatbin/saxpy.speed.fatbin saxpy.cu
"$NVCC" -std=c++17 -arch=sm_90 -cubin -o cubin/saxpy.sm_90.cubin saxpy.cu
tools=$(dirname "$NVCC")
"$tools/ptxas" -arch=sm_90 -o cubin/fixed.sm_90.cubin fixed.ptx
images="--image3=kind=elf,sm=90,file=cubin/fixed.sm_90.cubin --image3=kind=ptx,sm=70,file=fixed.ptx"
"$tools/fatbinary" -64 $images --create=fatbin/fixed.fatbin
