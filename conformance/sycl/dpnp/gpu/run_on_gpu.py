"""dpnp on this machine's CUDA driver, from what `cargo xtask bundle --dpnp` put here. It needs Python 3.12 and a libnvvm, no network
and no compiler.

    python3 .carry-dpnp/run_on_gpu.py story gaps speed suite=seconds=400

story                   `pip install` of the wheels into a fresh environment, and a sum on the GPU
gaps                    the tests of what stands in oneMKL's place
suite[=WORD,...]        dpnp's own tests: files, or all of them; every=N: one test of N; seconds=N: stop after that time, if not earlier
speed[=WORD,...]        kernels (beside CuPy in one process), first (calls, cold and from the disk cache), import; or all three. Beside these
                        functions: elementwise ones beside CuPy
sim                     before the others: on the simulated driver, to try the bundle itself

oneMKL's libraries, which have nothing for a CUDA device, are not carried; stand-ins end the process that calls one, by name.
Environment: UR_NVVM_LIBRARY (else the CUDA toolkit's), UR_DPNP_STORE (else /tmp/ur-dpnp), UR_DPNP_ADAPTER (another adapter than the
carried one, for `speed`), OUT for whole logs.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from suite import Suite  # noqa: E402

STEERING = re.compile("ONEAPI_DEVICE_SELECTOR|UR_.*|SIMCUDA_.*|SYCL_.*|PYTHONPATH|LD_PRELOAD")
STORY = "import dpnp; a = dpnp.arange(10); print(a.sum(), a.sycl_queue.backend.name, a.sycl_device.name)"
START = time.monotonic()
# Seconds after which the suite stops, whatever was run before it: a machine's command may take ten minutes.
WHOLE = 570
# Devices that the machine brings are not asked: an H200's machine had pocl, whose CPU takes none of dpnp's SPIR-V (193 tests failed with
# INVALID_BINARY, 80 ended their process), so libsycl goes through all images each time that it looks whether one suits a device.
ONLY_OURS = {"ONEAPI_DEVICE_SELECTOR": "cuda:*"}
# Where a machine with CuPy has it.
SITE = pathlib.Path(os.environ.get("UR_DPNP_CUPY", "/opt/torch/.venv/lib/python3.12/site-packages"))


def main(words):
    machine = Machine()
    failed = []
    for word in words:
        name, _, rest = word.partition("=")
        if name not in ("story", "gaps", "suite", "speed", "sim"):
            sys.exit(__doc__)
        try:
            right = getattr(machine, name)(*filter(None, rest.split(",")))
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            right = False
        if not right:
            failed.append(name)
    print(f"failed: {' '.join(failed) or 'nothing'}", flush=True)
    sys.exit(bool(failed))


class Machine:
    """This machine, and the environment with dpnp on it."""

    def __init__(self):
        self.store = pathlib.Path(os.environ.get("UR_DPNP_STORE", "/tmp/ur-dpnp"))
        self.all = self.store / "all"
        self.venv = self.store / "venv"
        self.python = self.venv / "bin/python"
        self.simulated = False
        found = sorted(SITE.glob("nvidia/cu*/lib/libcublas.so.*")) + sorted(SITE.glob("nvidia/cublas/lib/libcublas.so.*"))
        self.cublas = found[-1] if found else None

    def log(self, name, text):
        (pathlib.Path(os.environ.get("OUT", self.store)) / f"dpnp-{name}.log").write_text(text, encoding="utf-8")

    def sim(self):
        self.simulated = True
        return True

    def unpack(self):
        if self.all.is_dir():
            return
        unpacking = self.store / "unpacking"
        shutil.rmtree(unpacking, ignore_errors=True)
        with tarfile.open(HERE / "all.tar.xz", mode="r:xz") as archive:
            archive.extractall(unpacking, filter="data")
        # Wheels travel unpacked, so that they pack better. pip wants them as they were.
        for tree in sorted((unpacking / "wheels").iterdir()):
            if tree.is_dir():
                with zipfile.ZipFile(unpacking / f"{tree.name}.new", "w") as wheel:
                    for file in sorted(file for file in tree.rglob("*") if file.is_file()):
                        wheel.write(file, file.relative_to(tree))
                shutil.rmtree(tree)
                (unpacking / f"{tree.name}.new").rename(tree)
        unpacking.rename(self.all)

    def environment(self, cache="cache", **more):
        """As a user has it. The cache's folder is ours, and the driver may be the simulated one."""
        variables = {name: value for name, value in os.environ.items() if not STEERING.fullmatch(name)}
        variables["PATH"] = f"{self.venv}/bin:{os.environ['PATH']}"
        variables["UR_CACHE_DIR"] = str(self.store / cache)
        if "UR_NVVM_LIBRARY" in os.environ:
            variables["UR_NVVM_LIBRARY"] = os.environ["UR_NVVM_LIBRARY"]
        if "UR_DPNP_ADAPTER" in os.environ:
            variables["UR_ADAPTERS_FORCE_LOAD"] = os.environ["UR_DPNP_ADAPTER"]
        if self.simulated:
            variables["UR_CUDA_LIBRARY"] = str(self.all / "sim/libsimcuda.so")
        elif self.cublas:
            variables["UR_CUBLAS_LIBRARY"] = str(self.cublas)
        return variables | more

    def make_venv(self):
        """An environment with dpnp, ours, and what runs tests. This machine's Python may come without pip."""
        if self.python.exists() and (self.venv / "whole").exists():
            return
        self.unpack()
        shutil.rmtree(self.venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True, timeout=300)
        wheels = sorted((self.all / "wheels").glob("*.whl"))
        pip = next(wheel for wheel in wheels if wheel.name.startswith("pip-"))
        offline = ["--no-index", "--no-deps", "--no-compile", "--quiet", "--disable-pip-version-check"]
        subprocess.run([self.python, pip / "pip", "install", *offline, *wheels], check=True, timeout=300)
        for library in (self.all / "lib").iterdir():
            shutil.copy(library, self.venv / "lib")
        subprocess.run([self.python, "-m", "compileall", "-q", "-j", "0", self.venv / "lib"], check=False, timeout=300,
                       stdout=subprocess.DEVNULL)
        (self.venv / "whole").touch()

    def capture(self, *command, seconds=300, **more):
        return subprocess.run([self.python, *command], env=self.environment(**more), timeout=seconds, text=True, errors="replace",
                              cwd="/tmp", stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def story(self):
        shutil.rmtree(self.venv, ignore_errors=True)
        self.make_venv()
        listing = self.capture("-m", "ur_adapters")
        print(f"story: `python -m ur_adapters`:\n{listing.stdout}{listing.stderr}", flush=True)
        done = self.capture("-c", STORY)
        print(f"story: `{STORY}`: {done.stdout}{done.stderr}", flush=True)
        return done.returncode == 0 and done.stdout.startswith("45 cuda ")

    def gaps(self):
        self.make_venv()
        counting = self.all / "lib/libcounting_cublas.so"
        real = self.all / "sim/libsimcublas.so" if self.simulated else self.cublas
        more = {"UR_TEST_CUBLAS": str(counting), "UR_TEST_REAL_CUBLAS": str(real), "UR_TEST_OPENCL": "none"}
        done = self.capture("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-k", "not cpu_device",
                            self.all / "python/test_gaps.py", seconds=400, **more)
        self.log("gaps", done.stdout + done.stderr)
        lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))] + done.stdout.splitlines()[-1:]
        for line in lines:
            print(f"gaps: {line[:300]}", flush=True)
        return done.returncode == 0

    def suite(self, *words):
        self.make_venv()
        options = {"every": 1, "seconds": WHOLE}
        files = []
        for word in words:
            name, equals, value = word.partition("=")
            if equals:
                options[name] = int(value)
            else:
                files.append(word)
        site = subprocess.run([self.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"], check=True, timeout=60,
                              text=True, stdout=subprocess.PIPE).stdout.strip()
        lists = tomllib.loads((self.all / "expectations.toml").read_text(encoding="utf-8"))
        reasons = {name: why for part in ("both", "2026.2", "whole") for name, why in lists.get(part, {}).items()}

        def known(name):
            return reasons.get(name) or reasons.get(name.partition("[")[0])

        # NumPy's linear algebra must not take all cores for each process.
        environment = self.environment(OPENBLAS_NUM_THREADS="1", PYTHONPATH=str(self.all / "python"), **ONLY_OURS)
        run = Suite(self.python, environment, pathlib.Path(site) / "dpnp/tests", self.store / "suite", known)
        seconds = min(options["seconds"], WHOLE - (time.monotonic() - START))
        return run.run(files, options["every"], seconds)

    def speed(self, *words):
        self.make_venv()
        right = True
        for word in words or ("kernels", "first", "import"):
            right &= {"kernels": self.kernels, "functions": self.functions, "first": self.first, "import": self.imports}[word]()
        return right

    def measure(self, *words, seconds=150, **more):
        """What one process of speed.py printed."""
        try:
            done = self.capture(self.all / "python/speed.py", *words, seconds=seconds, **more)
        except subprocess.TimeoutExpired as error:
            # What it printed until then counts.
            printed = [(text or b"").decode(errors="replace") for text in (error.stdout, error.stderr)]
            done = subprocess.CompletedProcess(words, "no end", *printed)
        if done.stderr.strip():
            print("\n".join(done.stderr.strip().splitlines()[-6:]), flush=True)
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode:
            print(f"speed: {words} ended with {done.returncode}", flush=True)
        return rows

    def kernels(self):
        return self.beside("kernels")

    def functions(self):
        return self.beside("functions")

    def beside(self, what):
        """Of each row the process whose ratio is the median of three: ratios of one process to another differ by up to a hundredth."""
        processes = 1 if self.simulated else 3
        size = "1000" if self.simulated else "1"
        runs = [self.measure(what, SITE, size, CUPY_CACHE_DIR=str(self.store / "cupy")) for _ in range(processes)]
        self.log(f"speed-{what}", "\n".join(json.dumps(row) for rows in runs for row in rows) + "\n")
        good = bool(runs[0]) and len({len(rows) for rows in runs}) == 1
        for turns in zip(*runs):
            wrong = [row for row in turns if "error" in row]
            if wrong:
                print(f"speed: {wrong[0]['name']}: {wrong[0]['error'][:300]}", flush=True)
                good = False
                continue
            row = sorted(turns, key=lambda row: row["ratio"])[processes // 2]
            right = all(row["right"] for row in turns)
            moved = f", {row['gb_per_s']:.0f} GB/s" if row["gb_per_s"] else ""
            goal = f", goal {row['goal']}: {'met' if row['ratio'] >= row['goal'] else 'MISSED'}" if row["goal"] else ""
            ratios = " ".join(f"{row['ratio']:.4f}" for row in turns)
            print(f"speed: {row['name']}: dpnp {row['dpnp_ms']:.3f} ms{moved}, CuPy {row['cupy_ms']:.3f} ms, "
                  f"{row['ratio']:.4f} of its speed ({ratios}){goal}{'' if right else ', RESULTS DIFFER'}", flush=True)
            good &= right
        return good

    def first(self):
        """Nothing in our cache; what is there from the process before; and nothing in the driver's own cache of compiled kernels either."""
        cold, warm, new = [], [], []
        for turn in range(5):
            cache = f"first-{turn}"
            for times, more in ((new, {"CUDA_CACHE_DISABLE": "1"}), (cold, {}), (warm, {})):
                if times is not warm:
                    shutil.rmtree(self.store / cache, ignore_errors=True)
                times += self.measure("first", cache=cache, **ONLY_OURS, **more)
        for name in cold[0] if cold and warm and new else ():
            values = [statistics.median(row[name] for row in rows) for rows in (cold, warm, new)]
            print(f"speed: first {name}: cold {values[0]:.1f} ms (goal 60), from the disk cache {values[1]:.1f} ms (goal 5), cold with the "
                  f"driver's cache off {values[2]:.1f} ms, medians of {len(cold)}", flush=True)
        return len(cold) == len(warm) == len(new) == 5

    def imports(self):
        ours, stock = [], []
        for turn in range(8):
            # The first of each only warms the file cache.
            for rows, more in ((ours, {}), (stock, {"UR_ADAPTERS_HOOK": "0"})):
                row = self.measure("import", **more)
                rows += row if turn else []
        if not ours or not stock:
            return False
        for key, unit, goal in (("seconds", "s", 0.1), ("megabytes", "MB", 50)):
            values = [statistics.median(row[key] for row in rows) for rows in (ours, stock)]
            print(f"speed: import dpnp: {values[0]:.3f} {unit}, stock {values[1]:.3f} {unit}, {values[0] - values[1]:+.3f} (goal at most "
                  f"+{goal}), medians of {len(ours)}", flush=True)
        return True


if __name__ == "__main__":
    main(sys.argv[1:])
