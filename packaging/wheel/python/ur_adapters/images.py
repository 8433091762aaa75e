"""Loads `libur_sycl_images.so`, through which libraries with SPIR-V kernels get them to CUDA devices. It must be loaded, for all to
see, before the libraries whose kernels it is about."""

import ctypes
import importlib.util
import os
import sys

NAME = "libur_sycl_images.so"


def library():
    """Its file: in the `lib` of the environment that this package is installed in."""
    here = os.path.abspath(__file__)
    beside = os.path.normpath(os.path.join(os.path.dirname(here), *[os.pardir] * 3))
    for folder in (beside, os.path.join(sys.prefix, "lib")):
        file = os.path.join(folder, NAME)
        if os.path.isfile(file):
            return file
    return None


def nvvm():
    """The library that compiles SPIR-V for CUDA, if a package that the adapter looks into has it."""
    named = os.environ.get("UR_NVVM_LIBRARY")
    if named:
        return named
    return in_packages("cu13/lib/libnvvm.so.4", "cuda_nvcc/nvvm/lib64/libnvvm.so")


def in_packages(*names):
    """The first of these files below the packages named `nvidia`."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in names:
            file = os.path.join(folder, name)
            if os.path.isfile(file):
                return file
    return None


def load():
    """Loads it, and tells the adapter where libnvvm lies: the adapter does not know which Python it runs under."""
    file = library()
    if file is None:
        return
    shim = ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
    if "dpctl" in sys.modules:
        # The adapter asks for the images when devices are looked for, and that may be over.
        shim.ur_sycl_images_offer(b"cuda")
        shim.ur_sycl_images_offer(b"hip")
    compiler = nvvm()
    if compiler is not None:
        os.environ["UR_NVVM_LIBRARY"] = compiler
