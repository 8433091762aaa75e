"""Sums of whole arrays of floats and doubles, by a kernel of our own on CUDA devices ([sums.cu](sums.cu), and what clang makes of it).

dpnp's kernel runs on these devices too, and all that is not such an array is left to it. But it takes more instructions than the memory's
speed leaves time for, and what comes after its sum waits for a host task of libsycl's, with the device idle. Arrays below 2^20 elements
stay dpnp's: their time is the host's.
"""

import contextlib
import ctypes
import functools
import importlib
import pathlib

import dpctl
import numpy
from dpctl.utils import SequentialOrderManager
from dpnp.dpnp_array import dpnp_array

from .. import memory
from . import arrays, native, rebind
from .native import POINTER

# The kernel of each type.
_FUNCTIONS = {numpy.dtype(numpy.float32): b"sum_f32", numpy.dtype(numpy.float64): b"sum_f64"}
_LEAST = 1 << 20
# As in sums.cu.
_THREADS = 512
_ELEMENTS_IN_FLIGHT = 16
# More than a processor has room for at one time.
_MOST_GROUPS = 8
_ARRIVED_BYTES = 16
_CUDA = dpctl.backend_type.cuda
_OUT_OF_MEMORY = 2
_TEXT = pathlib.Path(__file__).with_name("sums.ptx")
_kernels = {}


def close():
    for module in ("dpnp.tensor._reduction", "dpnp.tensor._statistical_functions"):
        # A dpnp that has other names is right all the same.
        with contextlib.suppress(ImportError, AttributeError):
            rebind(module, "tri", _sum_over_axis=_sum_over_axis)
    with contextlib.suppress(ImportError, AttributeError):
        users = [importlib.import_module(module) for module in ("dpnp", "dpnp.dpnp_iface_mathematical")]
        for user, made in [(user, _sum(user.sum)) for user in users]:
            user.sum = made


def _sum(original):
    """A sum without options needs none of dpnp's preparation, which takes the host's time; all else is dpnp's."""

    @functools.wraps(original)
    def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
        if axis is dtype is out is initial is None and keepdims is False and where is True:
            result = _plain(a)
            if result is not None:
                return result
        return original(a, axis, dtype, out, keepdims, initial, where)

    return sum


def _plain(a):
    """The sum of an array of dpnp's, or None if it is not that of a whole array of ours."""
    if type(a) is not dpnp_array:
        return None
    src = a.get_array()
    queue, dtype = src.sycl_queue, src.dtype
    room = _room_for(src, dtype, queue)
    if room is None:
        return None
    try:
        place = arrays.memory_for(1, dtype, src.usm_type, queue)
    except Exception:  # As in _room_for.
        return None
    order = SequentialOrderManager[queue]
    events = _submit(room, dtype, src, place, order.submitted_events)
    if events is None:
        return None
    # Behind the launch, as all that can be: the device is at work by now.
    order.add_event_pair(*events)
    return arrays.wrapped(arrays.over(place, (), dtype))


def _sum_over_axis(original):
    def sum_over_axis(src, trailing_dims_to_reduce, dst, sycl_queue, depends=()):
        dtype = dst.dtype
        if src.ndim == trailing_dims_to_reduce and src.dtype == dtype:
            room = _room_for(src, dtype, sycl_queue)
            events = _submit(room, dtype, src, dst.usm_data, depends, dst._pointer) if room else None
            if events is not None:
                return events
        return original(
            src=src,
            trailing_dims_to_reduce=trailing_dims_to_reduce,
            dst=dst,
            sycl_queue=sycl_queue,
            depends=depends,
        )

    return sum_over_axis


def _room_for(src, dtype, queue):
    """The queue's room if that is an array without gaps that our kernel sums, else None."""
    if src.size < _LEAST or dtype not in _FUNCTIONS or not src.flags.forc:
        return None
    try:
        return _rooms.get(queue)
    except Exception:  # dpctl's errors have no class of their own in common. A full device may have room for dpnp's way.
        return None


def _submit(room, dtype, src, place, depends, address=None):
    """Submits the sum, which goes to the address, or to the begin of that memory. The events of what keeps the memory and of the sum, or
    None if something else must do it."""
    kernel = room.kernels.get(dtype) or room.find_kernel(dtype)
    if kernel is None:
        return None
    function, fit = kernel
    groups = min(room.processors * fit, -(-src.size // (_THREADS * _ELEMENTS_IN_FLIGHT)))
    arguments = src._pointer, src.size, address or place._pointer, room.sums, room.arrived
    return native.launch(room.queue, (src.usm_data, place), function, groups, _THREADS, arguments, depends)


def _kernel(queue, dtype):
    """The kernel in the queue's context, and how many of its work-groups a processor has room for; None where the driver does not take
    it, and while the device is full."""
    native_queue = native.driver().stream(queue)
    if native_queue is None:
        return None
    key = native_queue[1], dtype
    if key not in _kernels:
        try:
            _kernels[key] = native.in_context(native_queue, lambda stream, context: _load(dtype, queue))
        except MemoryError:
            return None
    return _kernels[key]


def _load(dtype, queue):
    """As `_kernel`, in the current context, the queue's. MemoryError where the device is full, which may pass."""
    cuda, module, function, fit = native.driver().cuda, POINTER(), POINTER(), ctypes.c_int()
    text = _TEXT.read_bytes() + b"\0"
    loaded = cuda.cuModuleLoadData(ctypes.byref(module), text)
    if loaded == _OUT_OF_MEMORY:
        memory.give_back(queue)
        loaded = cuda.cuModuleLoadData(ctypes.byref(module), text)
    if loaded == _OUT_OF_MEMORY:
        raise MemoryError
    is_there = (
        loaded == 0
        and cuda.cuModuleGetFunction(ctypes.byref(function), module, _FUNCTIONS[dtype]) == 0
        and cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(fit), function, _THREADS, POINTER(0)) == 0
    )
    return (function, max(1, min(fit.value, _MOST_GROUPS))) if is_there else None


class _Room:
    """Where the work-groups of a queue's sums leave theirs, one sum after the other."""

    def __init__(self, queue):
        from dpctl.memory import MemoryUSMDevice

        self.queue, self.kernels = queue, {}
        self.processors = queue.sycl_device.max_compute_units
        self.memory = MemoryUSMDevice(_ARRIVED_BYTES + self.processors * _MOST_GROUPS * 8, queue=queue)
        self.memory.memset(0)
        self.arrived = self.memory._pointer
        self.sums = self.arrived + _ARRIVED_BYTES

    def find_kernel(self, dtype):
        """As `_kernel`, of the room's queue."""
        found = self.kernels[dtype] = _kernel(self.queue, dtype)
        return found


def _make_room(queue):
    return _Room(queue) if queue.backend == _CUDA and native.driver() is not None else None


def _wait(queues):
    for queue in queues:
        queue.wait()


_rooms = native.PerQueue(_make_room, clear=_wait)
