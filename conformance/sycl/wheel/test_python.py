"""The wheel's Python part where the packages that it is for are other than it knows them, or are not there. `tools/xtask/tests/wheel.rs` runs
it; it needs Python alone: what is imported as dpctl, numpy and dpnp are stand-ins that it writes.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3] / "packaging/wheel/python"

PACKAGES = {
    "numpy/__init__.py": """
        dtype = float32 = float64 = complex64 = complex128 = str
        """,
    "dpctl/__init__.py": """
        class backend_type:
            cuda = "cuda"
        class SyclEvent: pass
        """,
    "dpctl/memory.py": """
        MemoryUSMDevice = MemoryUSMShared = MemoryUSMHost = None
        """,
    "dpctl/utils.py": """
        SequentialOrderManager = {}
        """,
}

# The names that `dpnp_gaps` binds, each to a text.
DPNP = {
    "__init__.py": """
        from . import linalg, random
        """,
    "dpnp_algo/__init__.py": "",
    "dpnp_algo/dpnp_elementwise_common.py": """
        from types import SimpleNamespace
        vmi = SimpleNamespace(_mkl_abs_to_call="original")
        class DPNPUnaryFunc:
            def __call__(self, x): pass
        class DPNPBinaryFunc:
            def __call__(self, x1, x2): pass
        """,
    "dpnp_array.py": """
        class dpnp_array: pass
        """,
    "dpnp_utils/__init__.py": "",
    "dpnp_utils/dpnp_utils_linearalgebra.py": """
        from types import SimpleNamespace
        bi = SimpleNamespace(**dict.fromkeys("_dot _dotu _dotc _gemv _gemm _gemm_batch _syrk".split(), "original"))
        def dpnp_multiplication(): pass
        """,
    "dpnp_iface_linearalgebra.py": """
        from .dpnp_utils.dpnp_utils_linearalgebra import dpnp_multiplication
        """,
    "fft/__init__.py": "",
    "fft/dpnp_utils_fft.py": """
        from types import SimpleNamespace
        fi = SimpleNamespace(_fft_in_place="original", _fft_out_of_place="original")
        def _commit_descriptor(): pass
        """,
    "linalg/__init__.py": "",
    "linalg/dpnp_utils_linalg.py": """
        def dpnp_cholesky(): pass
        dpnp_det = dpnp_eigh = dpnp_inv = dpnp_lstsq = dpnp_qr = dpnp_slogdet = dpnp_solve = dpnp_svd = dpnp_cholesky
        """,
    "linalg/dpnp_iface_linalg.py": """
        from .dpnp_utils_linalg import *
        """,
    "scipy/__init__.py": "",
    "scipy/linalg/__init__.py": "",
    "scipy/linalg/_utils.py": """
        from types import SimpleNamespace
        li = SimpleNamespace(_getrf="original", _getrs="original", _getrs_batch="original")
        """,
    "tensor/__init__.py": "",
    "tensor/_tensor_impl.py": "",
    "tensor/_reduction.py": """
        from types import SimpleNamespace
        tri = SimpleNamespace(_sum_over_axis="original", _max_over_axis="untouched")
        """,
    "tensor/_statistical_functions.py": """
        from ._reduction import tri
        """,
    "random/__init__.py": """
        __all__ = ["beta"]
        """,
    "random/dpnp_random_state.py": """
        class RandomState:
            def normal(self): pass
            def randint(self): pass
            def uniform(self): pass
        """,
    "random/dpnp_iface_random.py": """
        def beta(): pass
        def seed(): pass
        def shuffle(): pass
        """,
}

# Where a part of `dpnp_gaps` binds its names, and two of them by what was there before.
PARTS = {
    "products": ("dpnp.dpnp_utils.dpnp_utils_linearalgebra", "bi._gemm", "dpnp_multiplication"),
    "fourier": ("dpnp.fft.dpnp_utils_fft", "fi._fft_out_of_place", "_commit_descriptor"),
    "sums": ("dpnp.tensor._reduction", "tri._sum_over_axis", "tri._sum_over_axis"),
    "elementwise": ("dpnp.dpnp_algo.dpnp_elementwise_common", "DPNPUnaryFunc.__call__", "DPNPBinaryFunc.__call__"),
    "linear algebra": ("dpnp.linalg.dpnp_utils_linalg", "dpnp_inv", "dpnp_solve"),
}


def run(words, packages):
    """An interpreter that has only these packages and ours."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in packages.items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))
        variables = {name: value for name, value in os.environ.items() if not name.startswith("UR_")}
        variables.update(PYTHONPATH=os.pathsep.join((str(SOURCE), folder)), PYTHONDONTWRITEBYTECODE="1")
        # -S: no package of this machine's.
        words = [sys.executable, "-S", "-W", "always", *words]
        return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=60, check=False)


def bound(dpnp):
    """The parts whose names were bound, the parts whose names are half bound, and what the import complains of."""
    script = """
        import ur_adapters, dpnp, importlib
        def is_original(value):
            return value == "original" or getattr(value, "__module__", "").startswith("dpnp.") and not hasattr(value, "__wrapped__")
        for part, (module, *names) in PARTS.items():
            user = importlib.import_module(module)
            found = []
            for name in names:
                value = user
                for word in name.split("."):
                    value = getattr(value, word)
                found.append(is_original(value))
            print(part, ["bound", "half", "original"][found.count(True)], sep=": ")
        """
    packages = {**PACKAGES, **{f"dpnp/{name}": text for name, text in dpnp.items()}}
    done = run(["-c", f"PARTS = {PARTS!r}\n" + textwrap.dedent(script)], packages)
    assert done.returncode == 0, done.stderr
    return dict(line.split(": ") for line in done.stdout.splitlines()), done.stderr


class Dpnp(unittest.TestCase):
    def test_a_dpnp_with_all_names_is_mended_without_a_word(self):
        self.assertEqual(bound(DPNP), (dict.fromkeys(PARTS, "bound"), ""))

    def test_an_extension_without_a_function_costs_that_part_and_not_the_import(self):
        for file, function, part in (
            ("dpnp_utils/dpnp_utils_linearalgebra.py", "_syrk", "products"),
            ("fft/dpnp_utils_fft.py", "_fft_in_place", "fourier"),
            ("scipy/linalg/_utils.py", "_getrs_batch", "linear algebra"),
        ):
            with self.subTest(function):
                parts, complaint = bound({**DPNP, file: DPNP[file].replace(function, "_renamed")})
                self.assertEqual(parts, {**dict.fromkeys(PARTS, "bound"), part: "original"})
                self.assertEqual(complaint.count("RuntimeWarning"), 1, complaint)
                self.assertIn(f"'{function}'); {part} may fail on CUDA devices", complaint)

    def test_a_dpnp_that_sums_otherwise_does_so_without_a_word(self):
        file = "tensor/_reduction.py"
        other = {**DPNP, file: DPNP[file].replace("_sum_over_axis", "_add_over_axis")}
        script = "import ur_adapters, dpnp; from dpnp.tensor import _reduction; print(vars(_reduction.tri))"
        done = run(["-c", script], {**PACKAGES, **{f"dpnp/{name}": text for name, text in other.items()}})
        self.assertEqual((done.stdout, done.stderr), ("{'_add_over_axis': 'original', '_max_over_axis': 'untouched'}\n", ""))

    def test_a_dpnp_with_other_arrays_keeps_its_own_ways_without_a_word(self):
        parts = {**dict.fromkeys(PARTS, "bound"), **dict.fromkeys(("sums", "elementwise"), "original")}
        self.assertEqual(bound({**DPNP, "dpnp_array.py": ""}), (parts, ""))


class Shown(unittest.TestCase):
    def test_what_is_found_is_shown_where_no_dpctl_is_installed(self):
        done = run(["-m", "ur_adapters"], {})
        self.assertEqual(done.stderr, "")
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()], ["images", "nvvm", "cublas", "dpnp"])
        self.assertTrue(done.stdout.endswith("dpnp:    host (UR_ADAPTERS_DPNP)\n"), done.stdout)


if __name__ == "__main__":
    unittest.main()
