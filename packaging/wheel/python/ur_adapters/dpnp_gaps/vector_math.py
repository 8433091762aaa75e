"""Elementwise functions: dpnp asks oneMKL's VM first and has kernels of its own else. On these devices the answer is no."""

import importlib

from . import on_gpu, rebind

_USER = "dpnp.dpnp_algo.dpnp_elementwise_common"


def close():
    extension = importlib.import_module(_USER).vmi
    questions = [name for name in dir(extension) if name.startswith("_mkl_") and name.endswith("_to_call")]
    rebind(_USER, "vmi", **dict.fromkeys(questions, on_gpu(lambda queue, *arrays: False)))
