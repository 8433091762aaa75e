"""Linear algebra: what `dpnp.linalg` does by LAPACK, `numpy.linalg` does on the host; LU factors, which NumPy has not, are computed here."""

import importlib

import numpy

from . import host, on_gpu, rebind

_UTILS = "dpnp.linalg.dpnp_utils_linalg"
_INTERFACE = "dpnp.linalg.dpnp_iface_linalg"


def close():
    utils, interface = importlib.import_module(_UTILS), importlib.import_module(_INTERFACE)
    computed = {
        "dpnp_cholesky": _cholesky,
        "dpnp_det": lambda a: numpy.linalg.det(a),
        "dpnp_eigh": _eigh,
        "dpnp_inv": lambda a: numpy.linalg.inv(a),
        "dpnp_lstsq": _lstsq,
        "dpnp_qr": lambda a, mode="reduced": numpy.linalg.qr(a, mode=mode),
        "dpnp_slogdet": lambda a: numpy.linalg.slogdet(a),
        "dpnp_solve": _solve,
        "dpnp_svd": _svd,
    }
    replaced = {name: _on_host(getattr(utils, name), compute) for name, compute in computed.items()}
    factors = {"_getrf": on_gpu(_getrf), "_getrs": on_gpu(_getrs), "_getrs_batch": on_gpu(_getrs_batch)}
    rebind("dpnp.scipy.linalg._utils", "li", **factors)
    # Last, so that a dpnp without one of the names keeps its own of everything.
    for name, function in replaced.items():
        setattr(utils, name, function)
        setattr(interface, name, function)


def _on_host(original, compute):
    """A function of dpnp's utilities, whose leading arguments are arrays, that NumPy's stands in for."""

    def call(*arguments, **named):
        import dpnp

        arrays = [value for value in arguments if dpnp.is_supported_array_type(value)]
        if not arrays or not host.is_gpu(arrays[0].sycl_queue):
            return original(*arguments, **named)
        host.used("linear algebra")
        usm_type, queue = dpnp.dpnp_utils.get_usm_allocations([*arrays, *(named.get("related_arrays") or ())])
        named.pop("related_arrays", None)

        def back(value):
            if isinstance(value, (numpy.ndarray, numpy.generic)):
                return dpnp.asarray(value, usm_type=usm_type, sycl_queue=queue)
            return value

        try:
            result = compute(*(_values(value) if dpnp.is_supported_array_type(value) else value for value in arguments), **named)
        except numpy.linalg.LinAlgError as error:
            raise dpnp.linalg.LinAlgError(str(error)) from None
        if not isinstance(result, tuple):
            return back(result)
        # NumPy's named results have dpnp's names.
        named_as = getattr(importlib.import_module(_UTILS), type(result).__name__, None)
        results = [back(value) for value in result]
        return named_as(*results) if named_as else tuple(results)

    return call


def _values(array):
    """On the host, in a type that numpy.linalg takes."""
    import dpnp

    values = dpnp.asnumpy(array)
    return values.astype(numpy.float32) if values.dtype == numpy.float16 else values


def _cholesky(a, upper):
    # LAPACK reads one triangle only, and leaves no imaginary part on the diagonal.
    if not upper:
        return numpy.linalg.cholesky(a)
    return numpy.linalg.cholesky(a.swapaxes(-2, -1)).swapaxes(-2, -1)


def _eigh(a, UPLO="L", eigen_mode="V"):
    return numpy.linalg.eigh(a, UPLO) if eigen_mode == "V" else numpy.linalg.eigvalsh(a, UPLO)


def _lstsq(a, b, rcond=None):
    return tuple(numpy.asarray(part) for part in numpy.linalg.lstsq(a, b, rcond=rcond))


def _solve(a, b):
    # dpnp takes a stack of vectors where b has one dimension less.
    if b.ndim == a.ndim - 1:
        return numpy.linalg.solve(a, b[..., None])[..., 0]
    return numpy.linalg.solve(a, b)


def _svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    return numpy.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, hermitian=hermitian)


def _getrf(queue, a, pivots, status, depends=()):
    """LAPACK's: `a` becomes its factors, `pivots` the rows that were swapped, counted from 1."""
    host.used("linear algebra")
    factors = host.read(a, depends)
    rows, columns = factors.shape
    swapped = numpy.empty(min(rows, columns), dtype=numpy.int64)
    for step in range(len(swapped)):
        row = step + int(numpy.argmax(numpy.abs(factors[step:, step])))
        swapped[step] = row + 1
        factors[[step, row]] = factors[[row, step]]
        if factors[step, step] == 0:
            status[0] = status[0] or step + 1
            continue
        factors[step + 1 :, step] /= factors[step, step]
        factors[step + 1 :, step + 1 :] -= numpy.outer(factors[step + 1 :, step], factors[step, step + 1 :])
    host.write(a, factors)
    host.write(pivots, swapped)
    return host.done()


def _solve_factored(factors, pivots, b, transposed):
    """Solves a system with the factors. `transposed` is LAPACK's N, T or C by its name."""
    size = factors.shape[0]
    order = numpy.arange(size)
    for step, row in enumerate(pivots - 1):
        order[[step, row]] = order[[row, step]]
    lower = numpy.tril(factors, -1) + numpy.eye(size, dtype=factors.dtype)
    upper = numpy.triu(factors)
    if transposed == "N":
        return numpy.linalg.solve(upper, numpy.linalg.solve(lower, b[order]))
    if transposed == "C":
        lower, upper = lower.conj(), upper.conj()
    result = numpy.empty_like(b)
    result[order] = numpy.linalg.solve(lower.T, numpy.linalg.solve(upper.T, b))
    return result


def _getrs(queue, a, pivots, b, trans=None, depends=()):
    host.used("linear algebra")
    name = getattr(trans, "name", "N")
    host.write(b, _solve_factored(host.read(a, depends), host.read(pivots), host.read(b), name))
    return host.done()


def _getrs_batch(queue, a, pivots, b, trans, n, nrhs, stride_a, stride_ipiv, stride_b, batch_size, depends=()):
    """The matrices lie behind each other along the last dimension of `a` and `b`, the pivots along the first of theirs."""
    host.used("linear algebra")
    factors, swapped, right = host.read(a, depends), host.read(pivots), host.read(b)
    for index in range(batch_size):
        right[..., index] = _solve_factored(factors[..., index], swapped[index], right[..., index], trans.name)
    host.write(b, right)
    return host.done()
