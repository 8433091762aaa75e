#!/bin/sh
# Compiles every kernel here to PTX with clang, and with nvcc (NVCC=path) to the samples of its dialect.
set -eu
cd "$(dirname "$0")"
CLANG=${CLANG:-clang}
for source in *.cu; do
    name=${source%.cu}
    "$CLANG" -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib \
        -Xclang -target-feature -Xclang +ptx63 -O2 -S -o "$name.ptx" "$source"
done
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
