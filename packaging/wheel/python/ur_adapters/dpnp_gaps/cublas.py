"""Matrix products by cuBLAS, from PyPI's `nvidia-cublas` or the library that UR_CUBLAS_LIBRARY names, on the queue's own stream.

It must never leave the thread with another current context, and answers None wherever it cannot do what was asked for: dpnp's own
kernels can. A product is submitted, not waited for. What it costs on the host is time that the device may stand idle, so nothing is
asked twice: the stream of a queue, the handle of a context, the types of the functions.
"""

import ctypes
import os
import threading

import dpctl
import numpy

from .. import nvidia

_FUNCTIONS = {
    numpy.dtype(numpy.float32): "cublasSgemmStridedBatched",
    numpy.dtype(numpy.float64): "cublasDgemmStridedBatched",
    numpy.dtype(numpy.complex64): "cublasCgemmStridedBatched",
    numpy.dtype(numpy.complex128): "cublasZgemmStridedBatched",
}
_POINTER, _INT, _DISTANCE = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
_MATRIX = (_POINTER, _INT, _DISTANCE)
_ARGUMENTS = (_POINTER, *[_INT] * 5, _POINTER, *_MATRIX, *_MATRIX, _POINTER, *_MATRIX, _INT)
_MOST = 2**31 - 1
_MOST_QUEUES = 64
_lock = threading.Lock()
_opened = None


class _Handle:
    """What cuBLAS has for a context, and the stream that it is set to."""

    def __init__(self, value):
        self.value = value
        self.stream = None


class _Cublas:
    """The libraries, and a cuBLAS handle for each context. One product is submitted at a time: a handle has one stream."""

    def __init__(self, file):
        self.blas = ctypes.CDLL(file)
        self.cuda = ctypes.CDLL(os.environ.get("UR_CUDA_LIBRARY") or "libcuda.so.1")
        for function in (self.cuda.cuCtxPushCurrent_v2, self.cuda.cuCtxPopCurrent_v2, self.cuda.cuStreamSynchronize):
            function.argtypes = (_POINTER,)
        self.blas.cublasSetStream_v2.argtypes = (_POINTER, _POINTER)
        self.native_of_queue = ctypes.CDLL("libsycl.so.9")._ZNK4sycl3_V15queue9getNativeERi
        self.native_of_queue.restype = ctypes.c_size_t
        self.products = {dtype: self._product(name, dtype) for dtype, name in _FUNCTIONS.items()}
        self.queues = {}
        self.handles = {}

    def _product(self, name, dtype):
        """The function, its factors 1 and 0, and where they lie."""
        function = getattr(self.blas, name)
        function.argtypes = _ARGUMENTS
        factors = numpy.array([1, 0], dtype)
        return function, factors, factors.ctypes.data, factors.ctypes.data + dtype.itemsize

    def native(self, queue):
        """The CUDA stream of a queue and its context, or None. They stay: an entry holds its queue, as dpnp's order manager does."""
        found = self.queues.get(queue)
        if found is None:
            kind, context = ctypes.c_int32(), _POINTER()
            stream = self.native_of_queue(_POINTER(queue.addressof_ref()), ctypes.byref(kind))
            if self.cuda.cuStreamGetCtx(_POINTER(stream), ctypes.byref(context)) != 0:
                return None
            if len(self.queues) == _MOST_QUEUES:
                self.queues.clear()
            found = self.queues[queue] = stream, context.value
        return found

    def handle(self, context, stream):
        """cuBLAS for the context, which is current, set to the stream. A handle that is set gives up its workspace."""
        handle = self.handles.get(context)
        if handle is None:
            value = _POINTER()
            if self.blas.cublasCreate_v2(ctypes.byref(value)) != 0:
                return None
            handle = self.handles[context] = _Handle(value.value)
        if handle.stream != stream:
            if self.blas.cublasSetStream_v2(handle.value, stream) != 0:
                return None
            handle.stream = stream
        return handle.value

    def submit(self, queue, dtype, transposed, sizes, a, b, result, count):
        """Puts a product on the queue's stream."""
        function, _, one, zero = self.products[dtype]
        with _lock:
            native = self.native(queue)
            if native is None:
                return False
            stream, context = native
            if self.cuda.cuCtxPushCurrent_v2(context) != 0:
                return False
            try:
                handle = self.handle(context, stream)
                if handle is None:
                    return False
                if function(handle, *transposed, *sizes, one, *a, *b, zero, *result, count) != 0:
                    return False
            finally:
                self.cuda.cuCtxPopCurrent_v2(ctypes.byref(_POINTER()))
        # libsycl takes a barrier on a queue in order for its own last command, which the product is not. Other queues' products need not
        # wait for this one, so the lock is given back before.
        return not queue.is_in_order or self.cuda.cuStreamSynchronize(stream) == 0


def _get():
    """The libraries, or None; they are looked for once."""
    global _opened
    if _opened is None:
        file = nvidia.cublas()
        try:
            _opened = _Cublas(file) if file else False
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
    # Not by a barrier: libsycl holds one back whose events wait for a host task, and the product would be in front of it.
    dpctl.SyclEvent.wait_for(depends)
    matrices = ((matrix.address, layout[1], matrix.distance) for matrix, layout in zip((left, right, product), layouts))
    if not _get().submit(queue, dtype, (layouts[0][0], layouts[1][0]), sizes, *matrices, count):
        return None
    return _events(queue, (a, b, result), depends)


def _events(queue, arrays, depends):
    """The events of what keeps the arrays alive, and of the product.

    A barrier's event is on the queue's first stream, which is the one that the adapter hands out, so it comes after the product. It is
    given events that are over: without any, libsycl would let it wait for all host tasks of the queue.
    """
    product = queue.submit_barrier(depends or [dpctl.SyclEvent()])
    return queue._submit_keep_args_alive(arrays, [product]), product
