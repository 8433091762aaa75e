"""Matrix products by cuBLAS, from PyPI's `nvidia-cublas` or the library that UR_CUBLAS_LIBRARY names, on the queue's own stream
([native](native.py)).

It answers None wherever it cannot do what was asked for: dpnp's own kernels can. The types of the functions are made once, and as many
handles in a context as threads submit products there at one time: a handle has one stream, and must be no other thread's meanwhile.
"""

import ctypes
import threading

import dpctl
import numpy

from .. import memory, nvidia
from . import native
from .native import POINTER

_FUNCTIONS = {
    numpy.dtype(numpy.float32): "cublasSgemmStridedBatched",
    numpy.dtype(numpy.float64): "cublasDgemmStridedBatched",
    numpy.dtype(numpy.complex64): "cublasCgemmStridedBatched",
    numpy.dtype(numpy.complex128): "cublasZgemmStridedBatched",
}
_INT, _DISTANCE = ctypes.c_int, ctypes.c_longlong
_MATRIX = (POINTER, _INT, _DISTANCE)
_ARGUMENTS = (POINTER, *[_INT] * 5, POINTER, *_MATRIX, *_MATRIX, POINTER, *_MATRIX, _INT)
_MOST = 2**31 - 1
_opened = None


class _Handle:
    """What cuBLAS has for a context, and the stream that it is set to."""

    def __init__(self, value):
        self.value = value
        self.stream = None


class _Cublas:
    """The library, and of each context the handles that no thread uses now."""

    def __init__(self, file):
        self.blas = ctypes.CDLL(file)
        self.blas.cublasSetStream_v2.argtypes = (POINTER, POINTER)
        self.products = {dtype: self._product(name, dtype) for dtype, name in _FUNCTIONS.items()}
        self.handles = {}
        self.lock = threading.Lock()

    def _product(self, name, dtype):
        """The function, its factors 1 and 0, and where they lie."""
        function = getattr(self.blas, name)
        function.argtypes = _ARGUMENTS
        factors = numpy.array([1, 0], dtype)
        return function, factors, factors.ctypes.data, factors.ctypes.data + dtype.itemsize

    def take(self, queue, context, stream):
        """A handle of the queue's context, which is current, set to its stream; one that was set to another gives up its workspace. None
        if cuBLAS has none."""
        with self.lock:
            free = self.handles.setdefault(context, [])
            handle = free.pop() if free else None
            for at, other in enumerate(free):
                if handle.stream != stream == other.stream:
                    handle, free[at] = other, handle
        if handle is None:
            handle = self._create()
        if handle is None:
            # cuBLAS asks the driver for memory, which the adapters may keep.
            memory.give_back(queue)
            handle = self._create()
            if handle is None:
                return None
        if handle.stream != stream:
            if self.blas.cublasSetStream_v2(handle.value, stream) != 0:
                self.give(context, handle)
                return None
            handle.stream = stream
        return handle

    def _create(self):
        value = POINTER()
        return _Handle(value.value) if self.blas.cublasCreate_v2(ctypes.byref(value)) == 0 else None

    def give(self, context, handle):
        """Gives one back."""
        with self.lock:
            self.handles[context].append(handle)

    def put(self, queue, dtype, transposed, sizes, a, b, result, count):
        """What puts a product on a stream."""
        function, _, one, zero = self.products[dtype]

        def put(stream, context):
            handle = self.take(queue, context, stream)
            if handle is None:
                return False
            try:
                return function(handle.value, *transposed, *sizes, one, *a, *b, zero, *result, count) == 0
            finally:
                self.give(context, handle)

        return put


def _get():
    """The libraries, or None; they are looked for once."""
    global _opened
    if _opened is None:
        file = nvidia.cublas()
        try:
            _opened = _Cublas(file) if file and native.driver() else False
        except (OSError, AttributeError):
            _opened = False
    return _opened or None


def takes(queue, dtype):
    """Whether products of this type are cuBLAS's on the queue's device."""
    return dtype in _FUNCTIONS and queue.backend == dpctl.backend_type.cuda and _get() is not None


class _Matrix:
    """A usm_ndarray of two or three dimensions as a batch of matrices; steps and distances count elements."""

    def __init__(self, array):
        shape, strides = array.shape, array.strides
        self.address = array._pointer
        self.rows, self.columns = shape[-2:]
        self.down, self.right = strides[-2:]
        self.distance = strides[0] if len(shape) == 3 and shape[0] > 1 else 0

    def transpose(self):
        self.rows, self.columns, self.down, self.right = self.columns, self.rows, self.right, self.down

    def stored(self):
        """How cuBLAS, which stores by columns, reads it: as it is (0) or transposed (1), and the leading dimension; None for what it
        cannot read."""
        if self.distance < 0:
            return None
        for transposed, length, inner, others, leading in (
            (0, self.rows, self.down, self.columns, self.right),
            (1, self.columns, self.right, self.rows, self.down),
        ):
            leading = leading if others > 1 else max(length, 1)
            if (inner == 1 or length == 1) and length <= leading <= _MOST:
                return transposed, leading
        return None


def gemm(queue, a, b, result, depends=()):
    """result = a @ b for two or three dimensions, after those events. The events of what keeps the arrays and of the product, or None
    if something else must do it; nothing was written then."""
    dtype = result.dtype
    if a.dtype != dtype or b.dtype != dtype or not takes(queue, dtype):
        return None
    left, right, product = _Matrix(a), _Matrix(b), _Matrix(result)
    layout = product.stored()
    if layout is not None and layout[0]:
        # By columns, the transposed result is b' @ a'.
        left, right = right, left
        for matrix in (left, right, product):
            matrix.transpose()
    layouts = left.stored(), right.stored(), product.stored()
    if None in layouts or layouts[2][0]:
        return None
    count = result.shape[0] if result.ndim == 3 else 1
    sizes = product.rows, product.columns, left.columns
    if max(*sizes, count) > _MOST or min(*sizes, count) == 0:
        return None
    matrices = ((matrix.address, layout[1], matrix.distance) for matrix, layout in zip((left, right, product), layouts))
    put = _get().put(queue, dtype, (layouts[0][0], layouts[1][0]), sizes, *matrices, count)
    return native.submit(queue, (a.usm_data, b.usm_data, result.usm_data), put, depends)
