"""dpnp with our wheel where oneMKL has nothing for the device: products by cuBLAS and without it, the rest by NumPy with one warning,
or not at all, and nothing new on a CPU device; and sums of whole arrays by a kernel of the wheel's. `cargo xtask dpnp` runs it on the simulated driver.

UR_TEST_CUBLAS names a cuBLAS for that driver, UR_TEST_OPENCL an OpenCL runtime with a CPU device.
"""

import contextlib
import ctypes
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

CUBLAS = os.environ["UR_TEST_CUBLAS"]
# What a test looks into is the simulated cuBLAS and the counts of the simulated driver.
on_simulated_driver = pytest.mark.skipif(
    "simcuda" not in os.environ.get("UR_CUDA_LIBRARY", "") or not hasattr(ctypes.CDLL(CUBLAS), "hold"),
    reason="for the simulated driver and cuBLAS",
)


def run(script, **environment):
    """What a new interpreter prints, and what it complains of."""
    # Whoever imported the package here has set how much is kept.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("UR_USM_POOL_KEEP")} | environment
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def dpnp():
    os.environ["UR_CUBLAS_LIBRARY"] = CUBLAS
    import dpnp

    assert dpnp.arange(1).sycl_queue.backend.name == "cuda"
    return dpnp


def products():
    return ctypes.c_int.in_dll(ctypes.CDLL(CUBLAS), "products").value


def matrix(shape, dtype):
    values = numpy.arange(numpy.prod(shape)).reshape(shape) % 7 + 1
    return (values + 1j * values[..., ::-1] if numpy.dtype(dtype).kind == "c" else values).astype(dtype)


LAYOUTS = {
    "rows": lambda a: a,
    "columns": lambda a: a.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "part": lambda a: numpy.concatenate((a, a), axis=-1)[..., : a.shape[-1]],
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("shapes", [((5, 3), (3, 4)), ((1, 3), (3, 4)), ((2, 5, 3), (2, 3, 4)), ((2, 5, 3), (3, 4)), ((5, 3), (3,))])
def test_products_are_cublas_ones(dpnp, dtype, left, right, shapes):
    a, b = (matrix(shape, dtype) for shape in shapes)
    right = right if b.ndim > 1 else "rows"
    a, b = LAYOUTS[left](a), LAYOUTS[right](b)
    before = products()
    result = dpnp.matmul(device(dpnp, a), device(dpnp, b))
    numpy.testing.assert_allclose(dpnp.asnumpy(result), numpy.matmul(a, b), rtol=1e-5)
    assert result.dtype == a.dtype and products() == before + 1


def device(dpnp, values):
    """An array of the same layout."""
    base = values if values.base is None else values.base
    if values.strides == numpy.ascontiguousarray(values).strides:
        return dpnp.asarray(values)
    if values.shape == base.shape[:-2] + base.shape[:-3:-1]:
        return dpnp.asarray(numpy.ascontiguousarray(base)).swapaxes(-1, -2)
    return dpnp.asarray(base)[..., : values.shape[-1]]


@pytest.mark.parametrize("order", "CF")
def test_products_go_into_what_is_given(dpnp, order):
    a, b = matrix((5, 3), "f8"), matrix((3, 4), "f8")
    out = dpnp.zeros((5, 4), order=order)
    before = products()
    assert dpnp.matmul(dpnp.asarray(a), dpnp.asarray(b), out=out) is out
    numpy.testing.assert_allclose(dpnp.asnumpy(out), a @ b)
    assert products() == before + 1


def test_a_product_with_its_own_transpose_is_cublas_one(dpnp):
    a = matrix((4, 3), "f8")
    before, array = products(), dpnp.asarray(a)
    numpy.testing.assert_allclose(dpnp.asnumpy(array @ array.T), a @ a.T)
    assert products() == before + 1


PLAIN = """
    import ctypes, os, dpnp, numpy
    cublas = ctypes.CDLL(os.environ["UR_CUBLAS_LIBRARY"])
    driver = ctypes.CDLL(os.environ.get("UR_CUDA_LIBRARY") or "libcuda.so.1")
    queue = dpnp.arange(1).sycl_queue
    values = numpy.arange(16.0).reshape(4, 4)
    a, out = dpnp.asarray(values), dpnp.empty((4, 4))
    for _ in range(3):
        dpnp.matmul(a, a, out=out)
        queue.wait()
    # A driver loads kernels when nothing runs, so these are loaded before products are held back.
    a + a, -a, a.copy()
    queue.wait()
"""


def plain(script, **environment):
    """What a script prints that begins with some products of 4 x 4 matrices."""
    return run(textwrap.dedent(PLAIN) + textwrap.dedent(script), UR_CUBLAS_LIBRARY=CUBLAS, **environment)[0].strip()


@on_simulated_driver
def test_a_product_sets_no_stream_again_and_waits_for_nothing_that_is_over():
    script = """
        names = ("cuStreamSynchronize", "cuCtxSynchronize", "cuStreamGetCtx", "cuMemAlloc_v2", "cuMemAllocAsync")
        count = lambda: [ctypes.c_int.in_dll(cublas, "streams_set").value, *(driver.simcudaCallCount(name.encode()) for name in names)]
        before = count()
        for _ in range(5):
            dpnp.matmul(a, a, out=out)
        print([now - then for now, then in zip(count(), before)])
    """
    assert plain(script) == "[0, 0, 0, 0, 0, 0]"


@on_simulated_driver
def test_a_product_is_submitted_and_not_waited_for():
    script = """
        cublas.hold(1)
        product = dpnp.matmul(a, a, out=out)
        more = product + product
        event = dpnp.dpnp_utils.dpnp_utils_linearalgebra.dpu.SequentialOrderManager[queue].submitted_events[-1]
        print(event.execution_status.name == "complete")
        cublas.hold(0)
        numpy.testing.assert_array_equal(dpnp.asnumpy(more), 2 * (values @ values))
        print(event.execution_status.name == "complete")
    """
    assert plain(script).split() == ["False", "True"]


@on_simulated_driver
def test_a_product_comes_after_what_made_its_operands():
    # What is submitted while events are waited for is told by the count of products. The first product is held back until the
    # second one waits for what is made of it.
    script = """
        import dpctl, types
        from ur_adapters.dpnp_gaps import native as gap
        products, seen, is_second = ctypes.c_int.in_dll(cublas, "products"), [], False

        class Event:
            def __new__(cls):
                return dpctl.SyclEvent()

            @staticmethod
            def wait_for(events):
                if is_second:
                    seen.append((products.value, any(event.execution_status.name != "complete" for event in events)))
                    cublas.hold(0)
                dpctl.SyclEvent.wait_for(events)

        gap.dpctl = types.SimpleNamespace(SyclEvent=Event)
        cublas.hold(1)
        product = dpnp.matmul(a, a)
        is_second = True
        product = (product + product) @ a
        numpy.testing.assert_array_equal(dpnp.asnumpy(product), 2 * (values @ values) @ values)
        print(seen, products.value)
    """
    assert plain(script) == "[(4, True)] 5"


@on_simulated_driver
@pytest.mark.parametrize("debug", "01")
@pytest.mark.parametrize("what", ["product", "sum"])
def test_memory_that_is_let_go_of_is_nobody_elses_before_what_reads_it_is_over(what, debug):
    # The sum stands behind a product that is held back. In debug mode memory is filled when it is freed.
    script = f"""
        from dpctl.memory import MemoryUSMHost
        size = {{"product": 4, "sum": 1024}}["{what}"]
        values = numpy.arange(float(size * size)).reshape(size, size)
        left = dpnp.asarray(values, usm_type="host")
        left.sum(), queue.wait()
        cublas.hold(1)
        if "{what}" == "product":
            result, expected = dpnp.matmul(left, left), values @ values
        else:
            dpnp.matmul(a, a, out=out)
            result, expected = left.sum(), values.sum()
        address = left.get_array()._pointer
        del left
        others = [MemoryUSMHost(values.nbytes, queue=queue) for _ in range(20)]
        for other in others:
            numpy.frombuffer(other, dtype="u1")[:] = 255
        print(address in [other._pointer for other in others])
        cublas.hold(0)
        numpy.testing.assert_array_equal(dpnp.asnumpy(result), expected)
    """
    assert plain(script, UR_USM_POOL_DEBUG=debug) == "False"


@on_simulated_driver
def test_memory_that_somebody_else_has_allocated_is_kept_by_what_reads_it():
    script = """
        import gc, weakref
        from dpctl.memory import as_usm_memory, MemoryUSMShared

        class Theirs:
            pass

        theirs, memory = Theirs(), MemoryUSMShared(128, queue=queue)
        theirs.__sycl_usm_array_interface__ = memory.__sycl_usm_array_interface__
        array = dpnp.tensor.usm_ndarray((4, 4), dtype="f8", buffer=as_usm_memory(theirs))
        array[...] = 2.0
        queue.wait()
        gone = weakref.ref(theirs)
        cublas.hold(1)
        dpnp.matmul(dpnp.asarray(array, copy=False), a, out=out)
        del array, theirs
        gc.collect()
        print(gone() is None)
        cublas.hold(0)
        queue.wait()
    """
    assert plain(script) == "False"


def test_two_matrices_by_rows_are_multiplied_without_dpnps_preparation(dpnp):
    a, names = dpnp.asarray(matrix((4, 4), "f8")), []
    dpnp.matmul(a, a)

    def note(frame, event, argument):
        # Cython's functions are seen too, and cost little.
        if event == "call" and frame.f_code.co_filename.endswith(".py"):
            names.append(frame.f_code.co_name)

    sys.setprofile(note)
    dpnp.matmul(a, a)
    sys.setprofile(None)
    assert "reshape" not in names and len(names) <= 64, names


@pytest.mark.parametrize("options", [{"order": "F"}, {"dtype": "f4"}, {"axes": [(0, 1), (0, 1), (1, 0)]}, {"casting": "no"}])
def test_a_product_with_options_is_as_dpnp_makes_it(dpnp, options):
    a = matrix((4, 3), "f8") + 0.5
    ours = {**options, **({"casting": "same_kind"} if "dtype" in options else {})}
    result = dpnp.matmul(dpnp.asarray(a), dpnp.asarray(a.T.copy()), **ours)
    expected = numpy.matmul(a, a.T.copy(), **ours)
    numpy.testing.assert_allclose(dpnp.asnumpy(result), expected, rtol=1e-5)
    assert result.dtype == expected.dtype and result.flags.f_contiguous == expected.flags.f_contiguous


def test_a_product_into_its_own_operand_is_right(dpnp):
    values = matrix((4, 4), "f8")
    a = dpnp.asarray(values)
    assert dpnp.matmul(a, a, out=a) is a
    numpy.testing.assert_allclose(dpnp.asnumpy(a), values @ values)


def test_a_product_into_what_does_not_take_it_is_refused(dpnp):
    a = dpnp.asarray(matrix((4, 4), "f8"))
    for out in (dpnp.empty((4, 4), dtype="i4"), dpnp.empty((3, 4)), numpy.empty((4, 4))):
        with pytest.raises((TypeError, ValueError)):
            dpnp.matmul(a, a, out=out)
    with pytest.raises(ValueError):
        dpnp.matmul(a, dpnp.asarray(matrix((3, 4), "f8")))


class Held:
    """A native function whose first call does not return until it is let go; what all calls were given first."""

    def __init__(self, function):
        self.function, self.first, self.entered, self.go = function, [], threading.Event(), threading.Event()

    def __call__(self, *words):
        self.first.append(words[0])
        if len(self.first) == 1:
            self.entered.set()
            assert self.go.wait(30)
        return self.function(*words)


@contextlib.contextmanager
def beside(held, work):
    """The other thread does the work, and is inside of the function meanwhile."""
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work)
        assert held.entered.wait(30)
        try:
            yield
        finally:
            held.go.set()
        done.result()


# Only queues in order are waited for.
@pytest.mark.parametrize(
    "what, property",
    [*((what, order) for what in ("cublasCreate_v2", "cublasSetStream_v2", "product") for order in (None, "in_order")),
     ("cuStreamSynchronize", "in_order")],
)
def test_a_product_waits_for_no_other_queues(dpnp, monkeypatch, what, property):
    import dpctl
    from ur_adapters.dpnp_gaps import cublas, native

    queues = [dpctl.SyclQueue(dpnp.arange(1).sycl_device, **({"property": property} if property else {})) for _ in range(2)]
    values = matrix((4, 4), "f8")
    arrays = [dpnp.asarray(values, sycl_queue=queue) for queue in queues]
    library = cublas._get()
    monkeypatch.setattr(library, "handles", {})
    if what == "product":
        function, *factors = library.products[values.dtype]
        held = Held(function)
        monkeypatch.setitem(library.products, values.dtype, (held, *factors))
    else:
        owner = native.driver().cuda if what == "cuStreamSynchronize" else library.blas
        held = Held(getattr(owner, what))
        monkeypatch.setattr(owner, what, held)
    with beside(held, lambda: dpnp.matmul(arrays[0], arrays[0])):
        numpy.testing.assert_array_equal(dpnp.asnumpy(dpnp.matmul(arrays[1], arrays[1])), values @ values)
    for array in arrays * 3:
        numpy.testing.assert_array_equal(dpnp.asnumpy(dpnp.matmul(array, array)), values @ values)
    (handles,) = library.handles.values()
    assert len(handles) == (1 if what == "cuStreamSynchronize" else 2)
    assert what != "product" or len(set(held.first)) == 2
    # Each queue has found the handle that was set to its stream.
    assert what != "cublasSetStream_v2" or len(held.first) == 2


def test_queues_in_order_get_products_too():
    script = """
        import dpctl
        queue = dpctl.SyclQueue(queue.sycl_device, property="in_order")
        b = dpnp.asarray(values, sycl_queue=queue)
        numpy.testing.assert_array_equal(dpnp.asnumpy((b @ b + 1.0) @ b), (values @ values + 1) @ values)
        print(ctypes.c_int.in_dll(cublas, "products").value)
    """
    assert plain(script) == "5"


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "f2"])
@pytest.mark.parametrize("order", "CF")
def test_without_cublas_dpnps_kernels_multiply(dtype, order):
    script = f"""
        import dpnp, numpy
        a = numpy.asarray(numpy.arange(15).reshape(5, 3) % 4, dtype="{dtype}", order="{order}")
        b = numpy.asarray(numpy.arange(12).reshape(3, 4) % 5, dtype="{dtype}", order="{order}")
        x, y = dpnp.asarray(a, order="{order}"), dpnp.asarray(b, order="{order}")
        numpy.testing.assert_allclose(dpnp.asnumpy(x @ y), a @ b)
        numpy.testing.assert_allclose(dpnp.asnumpy(x @ x.T), a @ a.T)
        numpy.testing.assert_allclose(dpnp.asnumpy(x @ y[:, 0]), a @ b[:, 0])
        numpy.testing.assert_allclose(dpnp.asnumpy(dpnp.vdot(x[0], x[1])), numpy.vdot(a[0], a[1]))
        numpy.testing.assert_allclose(dpnp.asnumpy(dpnp.dot(x[0], x[1])), numpy.dot(a[0], a[1]))
        stacked, other = numpy.stack([a, a]), numpy.stack([b, 2 * b])
        numpy.testing.assert_allclose(dpnp.asnumpy(dpnp.asarray(stacked) @ dpnp.asarray(other)), stacked @ other)
    """
    assert run(script, UR_CUBLAS_LIBRARY="/nowhere/libcublas.so") == ("", "")


def noted(monkeypatch, gap, name):
    """Of each call of that function of the package's whether it took what it was given."""
    taken, original = [], getattr(gap, name)

    def note(*arguments):
        found = original(*arguments)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(gap, name, note)
    return taken


@pytest.fixture
def elementwise(monkeypatch):
    """Of each call of an elementwise function of arrays whether it went without dpnp's preparation."""
    from ur_adapters.dpnp_gaps import elementwise as gap

    return noted(monkeypatch, gap, "_plan")


@pytest.mark.parametrize("kind", ["f4", "f8", "c8", "c16", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "not_equal", "abs", "exp", "square", "logical_not", "isnan"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), ()])
def test_elementwise_functions_of_whole_arrays_are_right_without_preparation(dpnp, elementwise, name, kind, shape):
    arrays = [numpy.asarray(numpy.random.default_rng(seed).random(shape) * 3).astype(kind) for seed in range(getattr(numpy, name).nin)]
    expected = getattr(numpy, name)(*arrays)
    ours = [dpnp.asarray(array) for array in arrays]
    result = getattr(dpnp, name)(*ours)
    # dpnp makes a double of a whole number or a truth before it takes its exponential.
    assert elementwise == [not (name == "exp" and kind in "i4 i8 u1 ?")]
    # NumPy's exponential of a byte is half as precise as it may be.
    if not (name == "exp" and kind in "u1 ?"):
        assert result.dtype == expected.dtype
    assert type(result) is type(ours[0]) and result.shape == shape
    numpy.testing.assert_allclose(dpnp.asnumpy(result), expected, rtol=1e-6 if kind in "f4 c8" else 1e-2 if kind in "u1 ?" else 1e-14)
    out = dpnp.empty(shape, dtype=result.dtype)
    assert getattr(dpnp, name)(*ours, out=out) is out and elementwise[0] == elementwise[-1]
    numpy.testing.assert_array_equal(dpnp.asnumpy(out), dpnp.asnumpy(result))


LEFT = {
    "broadcast": "dpnp.add(a, a[:1])",
    "mixed": "dpnp.add(a, a.astype('f4'))",
    "strided": "dpnp.add(a[:, ::2], a[:, ::2])",
    "columns": "dpnp.add(a.T, a.T)",
    "scalar": "dpnp.add(a, 2)",
    "empty": "dpnp.add(a[:0], a[:0])",
    "order": "dpnp.negative(a, order='F')",
    "type": "dpnp.negative(a, dtype='f4')",
    "overlap": "dpnp.add(flat[:-1], flat[:-1], out=flat[1:])",
    "own": "dpnp.add(a, a, out=a)",
    "tuple": "dpnp.negative(a, out=(dpnp.empty_like(a),))",
    "by columns": "dpnp.negative(a, out=dpnp.empty((4, 6), order='F'))",
    "another kind of memory": "dpnp.add(a, dpnp.asarray(a, usm_type='shared'))",
}


@pytest.mark.parametrize("what", LEFT)
def test_elementwise_functions_of_anything_else_are_left_to_dpnp(dpnp, elementwise, what):
    def evaluate(module):
        flat = module.arange(24, dtype="f8")
        return eval(LEFT[what], {"dpnp": module, "a": flat.reshape(4, 6), "flat": flat})

    if what == "another kind of memory":
        expected = numpy.arange(24.0).reshape(4, 6) * 2
    else:
        expected = evaluate(numpy)
    result = evaluate(dpnp)
    assert not any(elementwise)
    numpy.testing.assert_array_equal(dpnp.asnumpy(result), expected)
    assert result.dtype == expected.dtype and result.flags.f_contiguous == expected.flags.f_contiguous


@pytest.mark.parametrize("out", ["dpnp.empty(5)", "dpnp.empty(4, dtype='f4')", "read_only", "numpy.empty(4)"])
def test_elementwise_functions_refuse_what_dpnp_refuses(dpnp, elementwise, out):
    read_only = dpnp.empty(4)
    read_only.flags.writable = False
    a = dpnp.ones(4)
    with pytest.raises((ValueError, TypeError)):
        dpnp.add(a, a, out=eval(out))
    assert elementwise == [False]


def test_elementwise_functions_keep_their_order_with_other_work(dpnp, elementwise):
    a, b = dpnp.zeros(LARGE), dpnp.ones(LARGE)
    for _ in range(20):
        a = dpnp.add(a, b)
        b = dpnp.multiply(b, b)
        a[:10] += 1
    assert all(elementwise) and float(a[0]) == 40 and float(a[-1]) == 20


LARGE = 1 << 20


@pytest.fixture
def sums(monkeypatch):
    """Which sums were ours, in their order."""
    from ur_adapters.dpnp_gaps import sums as gap

    return noted(monkeypatch, gap, "_submit")


# All that a view of 16 bytes' boundaries can leave in front and behind, and more elements than all threads take at a time.
@pytest.mark.parametrize("dtype, tolerance", [("f4", 2e-7), ("f8", 1e-15)])
@pytest.mark.parametrize("size, start", [*((LARGE + size, start) for size in range(4) for start in range(4)), (6 * LARGE + 5, 3)])
def test_a_sum_of_a_whole_array_is_ours_and_right(dpnp, sums, dtype, tolerance, size, start):
    values = numpy.random.default_rng(size).random(size + start).astype(dtype)[start:]
    result = dpnp.asarray(numpy.concatenate((numpy.full(start, numpy.inf, dtype), values, [numpy.inf])).astype(dtype))[start:-1].sum()
    exact = values.sum(dtype="f8")
    assert sums == [True] and result.dtype == dtype and result.shape == ()
    assert abs(float(result) - exact) <= tolerance * exact


@pytest.mark.parametrize("shape", [(1024, 1024), (16, 64, 1024)])
def test_a_sum_of_whole_numbers_is_exact_in_every_layout(dpnp, sums, shape):
    values = numpy.arange(LARGE, dtype="f8").reshape(shape)
    a = dpnp.asarray(values)
    everything = [a.sum(), a.transpose().sum(), a.sum(axis=tuple(range(len(shape)))), a.sum(keepdims=True).reshape(()), a.mean() * LARGE]
    assert [float(each) for each in everything] == [LARGE * (LARGE - 1) / 2] * 5 and sums == [True] * 5
    out = dpnp.empty(())
    assert dpnp.sum(a, out=out) is out and float(out) == float(everything[0])


def test_sums_of_anything_else_are_dpnps(dpnp, sums):
    a, half = dpnp.ones((2, LARGE)), dpnp.ones(LARGE - 1)
    assert float(half.sum()) == LARGE - 1 and float(a[:, ::2].sum()) == LARGE and a.sum(axis=1).tolist() == [LARGE] * 2
    assert int(dpnp.ones(LARGE, dtype="i4").sum()) == LARGE and float(dpnp.ones(LARGE, dtype="f4").sum(dtype="f8")) == LARGE
    assert complex(dpnp.ones(LARGE, dtype="c8").sum()) == LARGE
    assert sums == []


def test_what_is_no_number_stays_none(dpnp, sums):
    a = dpnp.zeros(LARGE, dtype="f4")
    for place, value in ((0, numpy.inf), (LARGE - 1, numpy.nan)):
        a[place] = value
        numpy.testing.assert_equal(float(a.sum()), value)
    assert sums == [True] * 2


def test_a_sum_comes_after_what_made_its_array_and_before_what_changes_it(dpnp, sums):
    a, totals = dpnp.zeros(LARGE), []
    for _ in range(20):
        a += 1
        totals.append(a.sum())
        totals.append(totals[-1] + a.sum())
        a *= 2
    value, expected = 0.0, []
    for _ in range(20):
        value += 1
        expected += [value * LARGE, 2 * value * LARGE]
        value *= 2
    assert [float(total) for total in totals] == expected and sums == [True] * 40


def test_an_array_that_nobody_holds_any_more_is_summed_all_the_same(dpnp, sums):
    totals = [(dpnp.full(LARGE, number, dtype="f4")).sum() for number in range(20)]
    assert [float(total) for total in totals] == [number * LARGE for number in range(20)] and sums == [True] * 20


def test_threads_that_share_a_queue_get_their_own_sums(dpnp, sums):
    arrays = [dpnp.full(LARGE, number, dtype="f8") for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        totals = threads.map(lambda array: [float(array.sum()) for _ in range(30)], arrays)
    assert list(totals) == [[number * LARGE] * 30 for number in range(4)] and sums == [True] * 120


@pytest.mark.parametrize("property", [None, "in_order"])
def test_each_queue_has_sums_of_its_own(dpnp, sums, property):
    import dpctl

    device = dpnp.arange(1).sycl_device
    queues = [dpctl.SyclQueue(device, **({"property": property} if property else {})) for _ in range(3)]
    arrays = [dpnp.full(LARGE, number, sycl_queue=queue, dtype="f8") for number, queue in enumerate(queues)]
    totals = [array.sum() for _ in range(5) for array in arrays]
    assert [float(total) for total in totals] == [0, LARGE, 2 * LARGE] * 5 and sums == [True] * 15


# Beyond the 64 MiB that are kept whatever is in use.
@on_simulated_driver
@pytest.mark.parametrize("keep, allocations", [({}, 0), ({"UR_USM_POOL_KEEP_SHARE": "1"}, 27), ({"UR_USM_POOL_KEEP_BYTES": "64M"}, 30)])
def test_large_arrays_take_the_memory_of_those_that_were_freed(keep, allocations):
    script = """
        import ctypes, os, dpnp
        driver = ctypes.CDLL(os.environ["UR_CUDA_LIBRARY"])
        arrays = lambda count: [dpnp.empty(100_000_000 // 8) for _ in range(count)]
        stays = arrays(1)
        arrays(10)
        before = driver.simcudaCallCount(b"cuMemAlloc_v2")
        for _ in range(3):
            arrays(10)
        print(driver.simcudaCallCount(b"cuMemAlloc_v2") - before)
    """
    out, _ = run(script, **keep)
    assert int(out) == allocations


@on_simulated_driver
def test_what_is_kept_is_given_back_when_it_is_asked_for():
    script = """
        import ctypes, os, dpnp, ur_adapters
        driver = ctypes.CDLL(os.environ["UR_CUDA_LIBRARY"])
        stays = dpnp.ones(100_000_000 // 8)
        [dpnp.empty(100_000_000 // 8) for _ in range(10)]
        before = driver.simcudaCallCount(b"cuMemFree_v2")
        ur_adapters.memory.give_back(stays.sycl_queue)
        print(before, driver.simcudaCallCount(b"cuMemFree_v2"), int(stays[-1]))
    """
    assert run(script)[0].split() == ["0", "10", "1"]


@on_simulated_driver
def test_sums_behind_each_other_are_a_launch_each_and_wait_for_nothing():
    script = """
        import ctypes, os, dpnp
        driver = ctypes.CDLL(os.environ["UR_CUDA_LIBRARY"])
        a = dpnp.ones(1 << 20, dtype="f4")
        names = ("cuLaunchKernel", "cuLaunchKernelEx", "cuStreamGetCtx", "cuCtxPushCurrent_v2", "cuModuleLoadData")
        # How often this thread found work unfinished that it waits for.
        driver.simcudaThreadWaits.restype = ctypes.c_uint64
        count = lambda: [*(driver.simcudaCallCount(name.encode()) for name in names), driver.simcudaThreadWaits()]
        totals = [a.sum() for _ in range(3)]
        a.sycl_queue.wait()
        before = count()
        totals += [a.sum() for _ in range(80)]
        print([now - then for now, then in zip(count(), before)], {float(total) for total in totals})
    """
    assert run(script)[0].strip() == "[80, 0, 0, 0, 0, 0] {1048576.0}"


@pytest.mark.parametrize("what", ["cuModuleLoadData", "cuLaunchKernel"])
def test_a_sum_waits_for_no_other_queues(dpnp, sums, monkeypatch, what):
    import dpctl
    from ur_adapters.dpnp_gaps import native
    from ur_adapters.dpnp_gaps import sums as gap

    queues = [dpctl.SyclQueue(dpnp.arange(1).sycl_device) for _ in range(2)]
    arrays = [dpnp.ones(LARGE, sycl_queue=queue) for queue in queues]
    cuda = native.driver().cuda
    held = Held(getattr(cuda, what))
    monkeypatch.setattr(gap, "_kernels", {})
    monkeypatch.setattr(gap, "_rooms", native.PerQueue(gap._Room))
    monkeypatch.setattr(cuda, what, held)
    with beside(held, lambda: float(arrays[0].sum())):
        assert float(arrays[1].sum()) == LARGE and sums == [True]
    assert [float(array.sum()) for array in arrays] == [LARGE] * 2 and sums == [True] * 4


def test_a_device_without_room_leaves_sums_to_dpnp(dpnp, sums, monkeypatch):
    from ur_adapters.dpnp_gaps import native
    from ur_adapters.dpnp_gaps import sums as gap

    def full(queue):
        raise MemoryError

    monkeypatch.setattr(gap, "_rooms", native.PerQueue(full))
    assert float(dpnp.ones(LARGE).sum()) == LARGE and not sums


def test_a_device_without_room_for_the_kernel_leaves_sums_to_dpnp_for_a_while(dpnp, sums, monkeypatch):
    from ur_adapters.dpnp_gaps import native
    from ur_adapters.dpnp_gaps import sums as gap

    a = dpnp.ones(LARGE)
    monkeypatch.setattr(gap, "_kernels", {})
    monkeypatch.setattr(gap, "_rooms", native.PerQueue(gap._Room))
    with monkeypatch.context() as full:
        full.setattr(native.driver().cuda, "cuModuleLoadData", lambda module, text: 2)
        assert float(a.sum()) == LARGE and sums and not any(sums)
    sums.clear()
    assert float(a.sum()) == LARGE and sums == [True]


@pytest.mark.parametrize("what", ["cuModuleLoadData", "cublasCreate_v2"])
def test_libraries_that_find_no_memory_get_what_the_adapters_keep(dpnp, sums, monkeypatch, what):
    from ur_adapters import memory
    from ur_adapters.dpnp_gaps import cublas, native
    from ur_adapters.dpnp_gaps import sums as gap

    a, b = dpnp.ones(LARGE), dpnp.ones((4, 4))
    b @ b
    library = native.driver().cuda if what == "cuModuleLoadData" else cublas._get().blas
    call, asked = getattr(library, what), []
    monkeypatch.setattr(gap, "_kernels", {})
    monkeypatch.setattr(gap, "_rooms", native.PerQueue(gap._Room))
    monkeypatch.setattr(cublas._get(), "handles", {})
    monkeypatch.setattr(memory, "give_back", asked.append)
    # 3 is cuBLAS's word for it.
    monkeypatch.setattr(library, what, lambda *arguments: call(*arguments) if asked else {"cuModuleLoadData": 2}.get(what, 3))
    before = products()
    assert float(a.sum()) == LARGE and float((b @ b)[0, 0]) == 4
    assert asked == [a.sycl_queue] and sums == [True] and products() == before + 1


def test_a_kernel_that_the_driver_does_not_take_leaves_sums_to_dpnp(dpnp, sums, monkeypatch):
    from ur_adapters.dpnp_gaps import native
    from ur_adapters.dpnp_gaps import sums as gap

    monkeypatch.setattr(gap, "_kernels", {})
    monkeypatch.setattr(gap, "_rooms", native.PerQueue(gap._Room))
    monkeypatch.setattr(gap, "_TEXT", gap._TEXT.with_name("__init__.py"))
    assert float(dpnp.ones(LARGE).sum()) == LARGE and sums and not any(sums)


HOST = {
    "numbers": "dpnp.random.rand(3), dpnp.random.beta(1.0, 2.0, 3), dpnp.random.RandomState(5).normal(size=3)",
    "transforms": "dpnp.fft.fft(dpnp.arange(8.0))",
    "algebra": "dpnp.linalg.inv(dpnp.eye(3) * 2), dpnp.linalg.svd(dpnp.eye(3))",
}


@pytest.mark.parametrize("what", HOST)
def test_numpy_computes_and_says_so_once(what):
    _, complaint = run(f"import dpnp\nfor _ in range(2):\n    {HOST[what]}")
    assert complaint.count("HostWarning") == 1, complaint


@pytest.mark.parametrize("what", HOST)
def test_or_it_is_an_error(what):
    script = f"""
        import dpnp
        for expression in {HOST[what].replace("), ", ");").split(";")!r}:
            try:
                eval(expression)
            except NotImplementedError as error:
                assert "UR_ADAPTERS_DPNP=host" in str(error), error
            else:
                print("no error:", expression)
    """
    assert run(script, UR_ADAPTERS_DPNP="raise") == ("", "")


def test_a_word_that_means_nothing_is_refused():
    script = "import dpctl\ntry:\n    import dpnp\nexcept ValueError as error:\n    print(error)"
    assert "'off'" in run(script, UR_ADAPTERS_DPNP="perhaps")[0]


def test_off_leaves_dpnp_as_it_is():
    script = "import dpnp.linalg.dpnp_utils_linalg as utils; print(utils.dpnp_inv.__module__)"
    native = "import dpnp.tensor._reduction as user; print(type(user.tri).__name__)"
    assert [run(native, UR_ADAPTERS_DPNP=mode)[0].strip() for mode in ("off", "host")] == ["module", "SimpleNamespace"]
    assert run(script, UR_ADAPTERS_DPNP="off")[0].strip() == "dpnp.linalg.dpnp_utils_linalg"
    assert "ur_adapters" in run(script)[0]


def test_random_numbers_are_those_of_their_seed():
    script = """
        import dpnp
        dpnp.random.seed(7)
        first = dpnp.random.rand(4), dpnp.random.poisson(3.0, 4)
        dpnp.random.seed(7)
        second = dpnp.random.rand(4), dpnp.random.poisson(3.0, 4)
        print([bool((a == b).all()) for a, b in zip(first, second)], second[1].dtype)
        print(abs(float(dpnp.random.uniform(5.0, 6.0, 1000).mean()) - 5.5) < 0.1, dpnp.random.randint(3, size=5).dtype)
        x = dpnp.arange(50)
        dpnp.random.shuffle(x)
        print(int(x.sum()), bool((x == dpnp.arange(50)).all()))
    """
    assert run(script)[0].splitlines() == ["[True, True] int32", "True int32", "1225 False"]


def test_arrays_of_dpnp_tensor_are_taken_too():
    script = """
        import dpnp
        print(dpnp.asnumpy(dpnp.linalg.inv(dpnp.tensor.asarray([[2.0, 0], [0, 4]]))).tolist())
    """
    printed, complaint = run(script)
    assert printed.strip() == "[[0.5, 0.0], [0.0, 0.25]]" and "HostWarning" in complaint


def test_factors_solve_what_they_are_of():
    script = """
        import dpnp, numpy
        from dpnp.scipy import linalg
        a = numpy.array([[0.0, 2, 1], [3, 1, 4], [1, 5, 9]])
        for values in (a, a + 1j * a.T):
            b = numpy.arange(6.0).reshape(3, 2).astype(values.dtype)
            factors = linalg.lu_factor(dpnp.asarray(values))
            for trans, system in ((0, values), (1, values.T), (2, values.conj().T)):
                x = linalg.lu_solve(factors, dpnp.asarray(b), trans=trans)
                numpy.testing.assert_allclose(system @ dpnp.asnumpy(x), b, atol=1e-12)
    """
    assert "HostWarning" in run(script)[1]


CPU = """
    import dpnp, dpctl
    queue = dpctl.SyclQueue("opencl:cpu")
    a = dpnp.asarray([[4.0, 1], [1, 3]], sycl_queue=queue)
    state = dpnp.random.RandomState(3, sycl_queue=queue)
    print(a @ a, dpnp.linalg.inv(a), dpnp.fft.fft(a), dpnp.exp(a), a.sum(), state.rand(3))
"""


def test_a_cpu_device_is_left_to_onemkl():
    variables = {"OCL_ICD_FILENAMES": os.environ["UR_TEST_OPENCL"], "UR_ADAPTERS_DPNP": "raise"}
    ours = run(CPU, **variables)
    stock = run(CPU, UR_ADAPTERS_HOOK="0", **variables)
    assert ours == stock and ours[1] == ""
