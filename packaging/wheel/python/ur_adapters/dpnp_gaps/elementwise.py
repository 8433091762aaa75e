"""dpnp's elementwise functions of whole arrays of one shape and type, without dpnp's preparation of them, which takes the host longer than
many a kernel takes the device. The kernels are dpnp's; what is anything else is left to dpnp, and so are other devices. Must never take
what dpnp would refuse, convert, copy or broadcast."""

import functools
import importlib

import dpctl
from dpctl.utils import SequentialOrderManager
from dpnp.dpnp_array import dpnp_array
from dpnp.tensor import _tensor_impl

from . import arrays

_CUDA = dpctl.backend_type.cuda
# Of each function and type that has a kernel, the result's type; None of those that dpnp converts first.
_results = {}


def close():
    functions = importlib.import_module("dpnp.dpnp_algo.dpnp_elementwise_common")
    unary, binary = functions.DPNPUnaryFunc, functions.DPNPBinaryFunc
    # Both are asked for what is used of them before either is changed.
    calls = _unary(unary.__call__), _binary(binary.__call__)
    unary.__call__, binary.__call__ = calls


def _unary(original):
    @functools.wraps(original)
    def call(self, x, /, out=None, **options):
        if not options and type(x) is dpnp_array:
            src = x.get_array()
            plan = _plan(self, (src,), out)
            if plan is not None:
                queue, dst = plan
                order = SequentialOrderManager[queue]
                order.add_event_pair(*self.unary_fn_(src, dst, sycl_queue=queue, depends=order.submitted_events))
                return arrays.wrapped(dst) if out is None else out
        return original(self, x, out, **options)

    return call


def _binary(original):
    @functools.wraps(original)
    def call(self, x1, x2, /, out=None, **options):
        if not options and type(x1) is type(x2) is dpnp_array:
            src1, src2 = x1.get_array(), x2.get_array()
            plan = _plan(self, (src1, src2), out)
            if plan is not None:
                queue, dst = plan
                order = SequentialOrderManager[queue]
                order.add_event_pair(
                    *self.binary_fn_(src1=src1, src2=src2, dst=dst, sycl_queue=queue, depends=order.submitted_events)
                )
                return arrays.wrapped(dst) if out is None else out
        return original(self, x1, x2, out, **options)

    return call


def _plan(function, sources, out):
    """The queue of the arrays and where the result goes; None if they are not all of the first one's kind."""
    first = sources[0]
    queue, dtype = first.sycl_queue, first.dtype
    if queue.backend != _CUDA or not first.flags.c_contiguous or first.size == 0:
        return None
    for other in sources[1:]:
        if not (
            other.shape == first.shape
            and other.dtype == dtype
            and other.flags.c_contiguous
            and other.sycl_queue == queue
            and other.usm_type == first.usm_type
        ):
            return None
    result = _result(function, dtype, len(sources))
    if result is None:
        return None
    if out is None:
        return queue, arrays.over(arrays.memory_for(first.size, result, first.usm_type, queue), first.shape, result)
    dst = out.get_array() if type(out) is dpnp_array else None
    if dst is None or not _takes(dst, sources, queue, result):
        return None
    return queue, dst


def _takes(dst, sources, queue, result):
    """Whether a result of that type may be written there as it is made."""
    return (
        dst.shape == sources[0].shape
        and dst.dtype == result
        and dst.flags.c_contiguous
        and dst.flags.writable
        and dst.sycl_queue == queue
        and not any(_tensor_impl._array_overlap(source, dst) for source in sources)
    )


def _result(function, dtype, count):
    key = function, dtype
    try:
        return _results[key]
    except KeyError:
        _results[key] = found = function.result_type_resolver_fn_(*[dtype] * count)
        return found
