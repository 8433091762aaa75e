"""How fast dpnp is on a GPU, beside CuPy in the same process, and what its first calls and its import cost. One word says what is
measured, in a process of its own; `run_on_gpu.py` starts them and puts the results together.

kernels SITE N  operations of dpnp and CuPy (from the folder SITE) by turns: the median of the ratios of their times; sizes divided by N
functions SITE N  as kernels, elementwise functions alone
first           the first calls of some operations in this process
import          the time of `import dpnp` and the memory that it keeps
"""

import json
import statistics
import sys
import time


class Beside:
    """dpnp and CuPy in one process."""

    def __init__(self, site):
        # Behind this environment's own packages: NumPy is the one that dpnp came with.
        sys.path.append(site)
        import cupy
        import dpnp
        import numpy

        self.dpnp, self.cupy, self.numpy = dpnp, cupy, numpy
        queue = dpnp.arange(1).sycl_queue
        print(f"{queue.sycl_device.name}, {queue.backend.name}, CuPy {cupy.__version__}, NumPy {numpy.__version__}", file=sys.stderr)
        self.waits = queue.wait, cupy.cuda.get_current_stream().synchronize

    def compare(self, name, size, ours, theirs, check, goal, bytes_moved=0, rounds=30):
        """Two rows: an operation and a wait for it, and ten operations behind each other with one wait, where what the host does for
        one is hidden behind the one before unless it waits by itself."""
        try:
            right = bool(check())
            for behind in (1, 10):
                row = self.measure(ours, theirs, behind, max(rounds // behind, 15), bytes_moved)
                title = name if behind == 1 else f"{name}, {behind} behind each other"
                print(json.dumps({"name": title, **row, "goal": goal, "right": right}), flush=True)
        except Exception as error:
            print(json.dumps({"name": name, "error": f"{type(error).__name__}: {error}"}), flush=True)

    def measure(self, ours, theirs, behind, rounds, bytes_moved):
        """By turns; each side waits for its own queue before the clock is read. Times are of one operation."""
        for _ in range(3):
            ours(), theirs()
        for wait in self.waits:
            wait()
        mine, other = [], []
        for _ in range(rounds):
            for call, wait, times in zip((ours, theirs), self.waits, (mine, other)):
                start = time.perf_counter()
                for _ in range(behind):
                    kept = call()
                wait()
                times.append((time.perf_counter() - start) / behind)
                del kept
        ratio = statistics.median(theirs / ours for ours, theirs in zip(mine, other))
        seconds = statistics.median(mine)
        return {"dpnp_ms": seconds * 1e3, "cupy_ms": statistics.median(other) * 1e3, "ratio": ratio, "gb_per_s": bytes_moved / seconds / 1e9}

    def same(self, ours, theirs, tolerance=1e-5):
        return self.numpy.allclose(self.dpnp.asnumpy(ours), self.cupy.asnumpy(theirs), rtol=tolerance, atol=0, equal_nan=True)


def functions(site, divisor):
    """Elementwise functions that libdevice computes by dozens of instructions: how long their kernels take goes by what is unrolled."""
    beside = Beside(site)
    dpnp, cupy = beside.dpnp, beside.cupy
    size = 100_000_000 // int(divisor)
    host = beside.numpy.random.default_rng(2).random((2, size)) * 4 + 0.5
    for kind, label in (("f8", "doubles"), ("f4", "floats")):
        ours, theirs = ([module.asarray(row.astype(kind)) for row in host] for module in (dpnp, cupy))
        c, z = dpnp.empty_like(ours[0]), cupy.empty_like(theirs[0])
        for name, count in (("log", 1), ("sin", 1), ("tanh", 1), ("cbrt", 1), ("arctan2", 2), ("power", 2), ("logaddexp", 2), ("fmod", 2)):
            mine, other = getattr(dpnp, name), getattr(cupy, name)
            left, right = ours[:count], theirs[:count]
            beside.compare(f"{name}, 1e8 {label}", size, lambda: mine(*left, out=c), lambda: other(*right, out=z),
                           lambda: beside.same(mine(*left)[:1000], other(*right)[:1000], 1e-4), 0, (count + 1) * size * c.itemsize)


def kernels(site, divisor):
    divisor = int(divisor)
    beside = Beside(site)
    dpnp, cupy, numpy = beside.dpnp, beside.cupy, beside.numpy
    compare, same = beside.compare, beside.same

    big = 100_000_000 // divisor
    host = numpy.random.default_rng(1).random(big)
    a, x = dpnp.asarray(host), cupy.asarray(host)
    b, y = dpnp.asarray(host[::-1].copy()), cupy.asarray(host[::-1].copy())
    c, z = dpnp.empty_like(a), cupy.empty_like(x)
    compare("add, 1e8 doubles, out=", big, lambda: dpnp.add(a, b, out=c), lambda: cupy.add(x, y, out=z),
            lambda: same(dpnp.add(a, b)[:1000], cupy.add(x, y)[:1000]), 0.97, 24 * big)
    compare("add, 1e8 doubles, new array", big, lambda: dpnp.add(a, b), lambda: cupy.add(x, y), lambda: True, 0.97, 24 * big)
    compare("exp, 1e8 doubles, out=", big, lambda: dpnp.exp(a, out=c), lambda: cupy.exp(x, out=z),
            lambda: same(dpnp.exp(a)[:1000], cupy.exp(x)[:1000]), 0.97, 16 * big)
    compare("exp, 1e8 doubles, new array", big, lambda: dpnp.exp(a), lambda: cupy.exp(x), lambda: True, 0.97, 16 * big)
    del b, c, y, z
    compare("sum, 1e8 doubles", big, lambda: dpnp.sum(a), lambda: cupy.sum(x), lambda: same(dpnp.sum(a), cupy.sum(x)), 0.95, 8 * big)
    a4, x4 = a.astype("f4"), x.astype("f4")
    compare("sum, 1e8 floats", big, lambda: dpnp.sum(a4), lambda: cupy.sum(x4), lambda: same(dpnp.sum(a4), cupy.sum(x4), 1e-3), 0.95, 4 * big)
    del a4, x4

    size = 4096 // divisor
    for kind, label in (("f4", "floats"), ("f8", "doubles")):
        left, right = host[: size * size].reshape(size, size).astype(kind), host[-size * size :].reshape(size, size).astype(kind)
        m, n, p, q = dpnp.asarray(left), dpnp.asarray(right), cupy.asarray(left), cupy.asarray(right)
        r, s = dpnp.empty_like(m), cupy.empty_like(p)
        compare(f"matmul, 4096x4096 {label}, out=", size, lambda: dpnp.matmul(m, n, out=r), lambda: cupy.matmul(p, q, out=s),
                lambda: same(dpnp.matmul(m, n), cupy.matmul(p, q), 1e-3), 0.95)
        compare(f"matmul, 4096x4096 {label}, new array", size, lambda: dpnp.matmul(m, n), lambda: cupy.matmul(p, q), lambda: True, 0.95)
    del m, n, p, q, r, s

    some = 10_000_000 // divisor
    d, w = a[:some].copy(), x[:some].copy()
    del a, x
    compare("sort, 1e7 doubles", some, lambda: dpnp.sort(d), lambda: cupy.sort(w), lambda: same(dpnp.sort(d), cupy.sort(w), 0), 0.2)
    compare("argsort, 1e7 doubles", some, lambda: dpnp.argsort(d), lambda: cupy.argsort(w),
            lambda: same(dpnp.argsort(d, kind="stable"), cupy.argsort(w)), 0.2)
    compare("cumsum, 1e7 doubles", some, lambda: dpnp.cumsum(d), lambda: cupy.cumsum(w), lambda: same(dpnp.cumsum(d), cupy.cumsum(w)), 0)
    short, brief = d[:1000].copy(), w[:1000].copy()
    compare("add, 1000 doubles", 1000, lambda: dpnp.add(short, short), lambda: cupy.add(brief, brief), lambda: True, 0, rounds=300)


def first():
    import dpnp

    # What the device itself needs first is not a kernel's cost.
    a = dpnp.asarray([1.0, 2.0, 3.0, 4.0])
    a.sycl_queue.wait()
    times = {}
    calls = {
        "negative (opens libnvvm)": lambda: dpnp.negative(a),
        "add": lambda: dpnp.add(a, a),
        "exp": lambda: dpnp.exp(a),
        "arctan2": lambda: dpnp.arctan2(a, a),
        "sum": lambda: dpnp.sum(a),
        "cumsum": lambda: dpnp.cumsum(a),
        "sort": lambda: dpnp.sort(a),
        "add again": lambda: dpnp.add(a, a),
    }
    for name, call in calls.items():
        start = time.perf_counter()
        kept = call()
        a.sycl_queue.wait()
        times[name] = (time.perf_counter() - start) * 1e3
        del kept
    print(json.dumps(times))


def imports():
    start = time.perf_counter()
    import dpnp

    seconds = time.perf_counter() - start
    with open("/proc/self/status", encoding="ascii") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    print(json.dumps({"seconds": seconds, "megabytes": resident / 1e3, "version": dpnp.__version__}))


if __name__ == "__main__":
    {"kernels": kernels, "functions": functions, "first": first, "import": imports}[sys.argv[1]](*sys.argv[2:])
