"""Loads `libur_sycl_images.so`, through which libraries with SPIR-V kernels get them to CUDA devices. It must be loaded, for all to
see, before the libraries whose kernels it is about."""

import ctypes
import os
import sys

from . import nvidia

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
    compiler = nvidia.nvvm()
    if compiler is not None:
        os.environ["UR_NVVM_LIBRARY"] = compiler
