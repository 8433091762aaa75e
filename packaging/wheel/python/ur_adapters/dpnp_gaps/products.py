"""Products of vectors and matrices: by cuBLAS where its package is installed, else by the kernels of `dpnp.tensor`.

Each function stands for the one of oneMKL's extension: arrays are usm_ndarrays, and the result is written into the last of them. What
`dpnp.tensor` submits comes after the events in `depends`, because both keep them in the queue's one list.
"""

import functools
import importlib

from . import cublas, host, on_gpu, rebind

_UTILS = "dpnp.dpnp_utils.dpnp_utils_linearalgebra"


def close():
    users = [importlib.import_module(module) for module in (_UTILS, "dpnp.dpnp_iface_linearalgebra")]
    multiplications = [_multiplication(user.dpnp_multiplication) for user in users]
    rebind(
        _UTILS,
        "bi",
        _dot=on_gpu(_dot),
        _dotu=on_gpu(_dot),
        _dotc=on_gpu(_dotc),
        _gemv=on_gpu(_gemv),
        _gemm=on_gpu(_gemm),
        _gemm_batch=on_gpu(_gemm),
        _syrk=on_gpu(_syrk),
    )
    # Last, so that a dpnp without one of those functions keeps its own of everything.
    for user, multiplication in zip(users, multiplications):
        user.dpnp_multiplication = multiplication


def _multiplication(original):
    """dpnp prepares a product in some hundred calls of Python, during which the device has nothing to do. Two matrices by rows need
    none of it; all else is dpnp's."""

    @functools.wraps(original)
    def multiplication(
        func, x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, axes=None, axis=None
    ):
        if func == "matmul" and casting == "same_kind" and order in "KC" and dtype is axes is axis is None:
            result = _plain(x1, x2, out)
            if result is not None:
                return result
        return original(func, x1, x2, out, casting=casting, order=order, dtype=dtype, axes=axes, axis=axis)

    return multiplication


def _plain(x1, x2, out):
    """The product of two matrices by rows, of one type and queue, that cuBLAS can multiply; None if they are not that."""
    import dpnp
    from dpctl.utils import SequentialOrderManager
    from dpnp.dpnp_array import dpnp_array

    if type(x1) is not dpnp_array or type(x2) is not dpnp_array:
        return None
    a, b = x1.get_array(), x2.get_array()
    queue, dtype = a.sycl_queue, a.dtype
    if not (_is_plain(a) and _is_plain(b) and a.shape[1] == b.shape[0] and b.dtype == dtype and a.usm_type == b.usm_type):
        return None
    if b.sycl_queue != queue or not cublas.takes(queue, dtype):
        return None
    shape = a.shape[0], b.shape[1]
    if out is None:
        out = dpnp.empty(shape, dtype=dtype, usm_type=a.usm_type, sycl_queue=queue)
    elif not _takes_product(out, shape, a, b):
        return None
    order = SequentialOrderManager[queue]
    events = cublas.gemm(queue, a, b, out.get_array(), order.submitted_events)
    if events is None:
        return None
    order.add_event_pair(*events)
    return out


def _is_plain(array):
    """Whether it is a matrix by rows and not a vector, for which dpnp asks for other products."""
    return array.ndim == 2 and min(array.shape) > 1 and array.flags.c_contiguous


def _takes_product(out, shape, a, b):
    """Whether the product of two matrices may be written where the caller wants it."""
    from dpnp.dpnp_array import dpnp_array
    from dpnp.tensor import _tensor_impl

    if type(out) is not dpnp_array or out.shape != shape:
        return False
    result = out.get_array()
    return (
        result.dtype == a.dtype
        and result.flags.c_contiguous
        and result.flags.writable
        and result.sycl_queue == a.sycl_queue
        and not _tensor_impl._array_overlap(a, result)
        and not _tensor_impl._array_overlap(b, result)
    )


def _multiply(a, b, result):
    from dpnp.tensor import matmul

    matmul(a, b, out=result, dtype=result.dtype)
    return host.done()


def _dot(queue, a, b, result, depends=()):
    return _multiply(a, b, result)


def _dotc(queue, a, b, result, depends=()):
    from dpnp.tensor import conj

    return _multiply(conj(a), b, result)


def _gemv(queue, a, x, y, transpose, depends=()):
    a = a.mT if transpose else a
    return cublas.gemm(queue, a, x[:, None], y[:, None], depends) or _multiply(a, x, y)


def _gemm(queue, a, b, result, depends=()):
    events = cublas.gemm(queue, a, b, result, depends) or _multiply(a, b, result)
    return (*events, _is_row_major(result))


def _syrk(queue, a, result, depends=()):
    return cublas.gemm(queue, a, a.mT, result, depends) or _multiply(a, a.mT, result)


def _is_row_major(matrix):
    """Whether dpnp may read the last two dimensions in C's order; it would rearrange them else. Ours are written by their strides."""
    rows, columns = matrix.shape[-2:]
    outer, inner = matrix.strides[-2:]
    return (inner == 1 or columns == 1) and (outer == columns or rows == 1)
