"""Fourier transforms: dpnp lays out, pads and scales; what it gives to oneMKL, NumPy computes."""

import importlib

import numpy

from . import host, rebind

_USER = "dpnp.fft.dpnp_utils_fft"


class _Descriptor:
    """What is to be transformed: the last `dimensions` ones. Complex to complex unless `real`."""

    def __init__(self, dimensions, real, in_place):
        self.dimensions = dimensions
        self.real = real
        self.transform_in_place = in_place


def close():
    user = importlib.import_module(_USER)
    commit = user._commit_descriptor

    def commit_descriptor(a, forward, in_place, c2c, a_strides, index, batch_fft):
        if not host.is_gpu(a.sycl_queue):
            return commit(a, forward, in_place, c2c, a_strides, index, batch_fft)
        host.used("Fourier transforms")
        out_strides = list(a_strides[index:])
        if batch_fft:
            halved = forward and not c2c and out_strides[-1] == 1
            out_strides.insert(0, a.shape[-1] // 2 + 1 if halved else a_strides[0])
        return _Descriptor(len(a.shape[index:]), not c2c, in_place), out_strides

    rebind(_USER, "fi", _fft_in_place=_in_place, _fft_out_of_place=_out_of_place)
    user._commit_descriptor = commit_descriptor


def _in_place(original):
    def transform(descriptor, array, forward, depends=()):
        if not isinstance(descriptor, _Descriptor):
            return original(descriptor, array, forward, depends=depends)
        return _transform(descriptor, array, array, forward, depends)

    return transform


def _out_of_place(original):
    def transform(descriptor, array, result, forward, depends=()):
        if not isinstance(descriptor, _Descriptor):
            return original(descriptor, array, result, forward, depends=depends)
        return _transform(descriptor, array, result, forward, depends)

    return transform


def _transform(descriptor, array, result, forward, depends):
    """Without a factor, in both directions, as oneMKL does; dpnp multiplies later."""
    values = host.read(array, depends)
    axes = tuple(range(-descriptor.dimensions, 0))
    if descriptor.real and forward:
        values = numpy.fft.rfftn(values, axes=axes)
    elif descriptor.real:
        # The array was padded to the length of the result; the second half is not read.
        length = result.shape[-1]
        values = numpy.fft.irfftn(
            values[..., : length // 2 + 1], s=[result.shape[axis] for axis in axes], axes=axes, norm="forward"
        )
    elif forward:
        values = numpy.fft.fftn(values, axes=axes)
    else:
        values = numpy.fft.ifftn(values, axes=axes, norm="forward")
    host.write(result, values)
    return host.done()
