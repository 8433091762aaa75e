"""Random numbers: a generator of NumPy's for each queue. Seeds give other numbers than on a CPU device."""

import functools
import inspect
import operator

import numpy

from . import host

# Those whose results dpnp documents as int32.
_INT32 = frozenset(
    ("binomial", "geometric", "hypergeometric", "logseries", "multinomial", "negative_binomial", "poisson", "zipf")
)
# All other methods call these.
_METHODS = ("normal", "randint", "uniform")
# These are calls of the methods, or need no device.
_LEFT = frozenset(
    (*_METHODS, "rand", "randn", "random_sample", "standard_normal", "random", "ranf", "sample", "random_integers")
    + ("bytes", "seed", "shuffle", "RandomState")
)


def close():
    import dpnp
    from dpnp.random import dpnp_iface_random as interface
    from dpnp.random.dpnp_random_state import RandomState

    _replace_init(RandomState)
    for name in _METHODS:
        setattr(RandomState, name, _method(RandomState, name))
    for name in dpnp.random.__all__:
        if name not in _LEFT:
            _set(interface, name, _function(getattr(interface, name), name))
    _set(interface, "shuffle", _shuffle(interface.shuffle))
    _set(interface, "seed", _seed(interface.seed))


def _set(interface, name, function):
    import dpnp

    setattr(interface, name, function)
    setattr(dpnp.random, name, function)


def _replace_init(state):
    original = state.__init__

    @functools.wraps(original)
    def __init__(self, seed=None, device=None, sycl_queue=None):
        import dpnp

        queue = dpnp.get_normalized_queue_device(device=device, sycl_queue=sycl_queue)
        if not host.is_gpu(queue):
            return original(self, seed, device, sycl_queue)
        host.used("random numbers")
        self._sycl_queue, self._sycl_device, self._seed = queue, queue.sycl_device, seed
        self._def_float_type = dpnp.dpnp_utils.map_dtype_to_device(dpnp.float64, queue.sycl_device)
        # As on other GPUs, a seed is one number; NumPy says whether it is too large.
        if seed is not None and not dpnp.isscalar(seed):
            raise TypeError("a seed is one integer on this device")
        seed = seed if seed is None else operator.index(seed)
        self._random_state = self._fallback_random_state = numpy.random.RandomState(seed)

    state.__init__ = __init__


def _plain(value):
    """A value with what lies on a device taken to the host."""
    import dpnp

    return dpnp.asnumpy(value) if dpnp.is_supported_array_type(value) else value


def _method(state, name):
    original = getattr(state, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def method(self, *arguments, **named):
        if not host.is_gpu(self._sycl_queue):
            return original(self, *arguments, **named)
        import dpnp

        given = dict(signature.bind(self, *arguments, **named).arguments)
        usm_type, dtype = given.pop("usm_type", "device"), given.pop("dtype", None)
        dpnp.tensor.validate_usm_type(usm_type, allow_none=False)
        del given["self"]
        if dpnp.is_supported_array_type(given.get("size")):
            raise ValueError("size must be a number or a tuple of numbers, not an array on a device")
        values = {key: _plain(value) for key, value in given.items()}
        if name == "randint":
            dtype = values["dtype"] = numpy.dtype(numpy.int32 if dtype in (None, int) else dtype)
        else:
            allowed = (dpnp.float32, dpnp.float64, *((dpnp.int32,) if name == "uniform" else ()))
            dtype = self._validate_float_dtype(dtype, allowed)
        result = getattr(self._random_state, name)(**values)
        return dpnp.asarray(result, dtype=dtype, usm_type=usm_type, sycl_queue=self._sycl_queue)

    return method


def _state(queue):
    """The generator of a queue, as dpnp keeps its own."""
    from dpnp.random.dpnp_iface_random import _get_random_state

    return _get_random_state(sycl_queue=queue)._random_state


def _default_queue(arguments=()):
    import dpnp

    arrays = [value for value in arguments if dpnp.is_supported_array_type(value)]
    return arrays[0].sycl_queue if arrays else dpnp.get_normalized_queue_device()


def _function(original, name):
    @functools.wraps(original)
    def function(*arguments, **named):
        queue = _default_queue((*arguments, *named.values()))
        if not host.is_gpu(queue):
            return original(*arguments, **named)
        import dpnp

        values = [_plain(value) for value in arguments]
        result = getattr(_state(queue), name)(*values, **{key: _plain(value) for key, value in named.items()})
        dtype = numpy.int32 if name in _INT32 else numpy.asarray(result).dtype
        return dpnp.asarray(result, dtype=dtype, sycl_queue=queue)

    return function


def _shuffle(original):
    @functools.wraps(original)
    def shuffle(x1):
        queue = _default_queue((x1,))
        import dpnp

        if not dpnp.is_supported_array_type(x1) or not host.is_gpu(queue):
            return original(x1)
        values = _plain(x1)
        _state(queue).shuffle(values)
        x1[...] = dpnp.asarray(values, sycl_queue=queue)

    return shuffle


def _seed(original):
    @functools.wraps(original)
    def seed(seed=None, device=None, sycl_queue=None):
        import dpnp
        from dpnp.random import dpnp_iface_random as interface

        queue = dpnp.get_normalized_queue_device(device=device, sycl_queue=sycl_queue)
        if not host.is_gpu(queue):
            return original(seed, device=device, sycl_queue=sycl_queue)
        if not isinstance(interface._dpnp_random_states, dict):
            interface._dpnp_random_states = {}
        interface._dpnp_random_states[queue] = interface.RandomState(seed, sycl_queue=queue)

    return seed
