"""Arrays of dpnp's below its own functions for them, which take the host longer."""

from dpctl import memory
from dpnp import tensor
from dpnp.dpnp_array import dpnp_array

_MEMORY = {"device": memory.MemoryUSMDevice, "shared": memory.MemoryUSMShared, "host": memory.MemoryUSMHost}


def memory_for(elements, dtype, usm_type, queue):
    """Memory for so many elements, with any content."""
    return _MEMORY[usm_type](elements * dtype.itemsize, queue=queue)


def over(place, shape, dtype):
    """An array without gaps over such memory. With its type by name it is made in half the time."""
    return tensor.usm_ndarray(shape, dtype=dtype.char, buffer=place)


def wrapped(array):
    """As dpnp's users know it."""
    return dpnp_array._create_from_usm_ndarray(array)
