"""Whose devices these are, moving arrays to the host and back, and saying that NumPy computes."""

import warnings

import dpctl

from .. import dpnp_mode

MODE = dpnp_mode.chosen()
_BACKENDS = tuple(getattr(dpctl.backend_type, name) for name in ("cuda", "hip") if hasattr(dpctl.backend_type, name))
_warned = False


class HostWarning(UserWarning):
    """NumPy computes on the host what dpnp has no code for on the device."""


def is_gpu(queue):
    """Whether the queue's device is one that oneMKL has nothing for."""
    return queue.backend in _BACKENDS


def used(what):
    """Called before NumPy computes: warns the first time, or raises if that was asked for."""
    global _warned
    if MODE == "raise":
        raise NotImplementedError(f"dpnp has no {what} for this device; UR_ADAPTERS_DPNP=host lets NumPy compute it on the host")
    if not _warned:
        _warned = True
        warnings.warn(
            f"dpnp has no {what} for this device, so NumPy computes on the host (this is said once; UR_ADAPTERS_DPNP=raise "
            "makes it an error)",
            HostWarning,
            4,
        )


def done():
    """What oneMKL's functions return: the events of a host task and of the work. Here both are over."""
    return dpctl.SyclEvent(), dpctl.SyclEvent()


def read(array, depends=()):
    """A copy on the host of a usm_ndarray, after these events."""
    from dpnp import tensor

    dpctl.SyclEvent.wait_for(list(depends))
    return tensor.to_numpy(array)


def write(array, values):
    """Stores NumPy's values into a usm_ndarray."""
    array[...] = values.astype(array.dtype, copy=False)
