"""Where NVIDIA's packages on PyPI have their libraries."""

import importlib.util
import os


def nvvm():
    """The library that compiles SPIR-V for CUDA, if a package that the adapter looks into has it."""
    named = os.environ.get("UR_NVVM_LIBRARY")
    if named:
        return named
    return _in_packages("cu13/lib/libnvvm.so.4", "cuda_nvcc/nvvm/lib64/libnvvm.so")


def cublas():
    """The library that multiplies matrices, if a package has it."""
    named = os.environ.get("UR_CUBLAS_LIBRARY")
    return named or _in_packages("cu13/lib/libcublas.so.13", "cublas/lib/libcublas.so.12")


def _in_packages(*names):
    """The first of these files below the packages named `nvidia`."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in names:
            file = os.path.join(folder, name)
            if os.path.isfile(file):
                return file
    return None
