"""Runs the SYCL programs, dpctl's suite and the wheel's story on this machine's CUDA driver, from the parts that
`cargo xtask bundle --sycl` made. It needs Python and nothing else, no network and no compiler. What the list of expectations
says of this release is called known, and everything else that fails makes it fail.

    python3 .carry-sycl/RELEASE-1/run_on_gpu.py take                         each part in turn, from its own folder
    python3 .carry-sycl/RELEASE-N/run_on_gpu.py take wheel programs suite    the last part, and what is to be run
    python3 /tmp/ur-sycl/RELEASE/run_on_gpu.py wheel programs suite          again, without the parts; or of a copy of that folder,
                                                                             taken before anything ran, for other devices beside it

wheel      makes an environment from the carried wheels, installs ours into it, lists the devices, removes it again
programs   the programs of conformance/sycl, or those with one of the words behind `programs=` in their names
suite      dpctl's own tests
sim        before the others: on the simulated driver, to try the bundle itself
unpooled   before the others: with UR_USM_POOL=0; the results are to be the same

The programs want their devices for themselves: `device_info` looks at what memory is free.

The parts are too large to come at once; they are kept in /tmp/ur-sycl (or UR_SYCL_STORE) until the last has come. Whole logs
are written into OUT, if that is set.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# What looks at the memory that is free on a device: another program's end is more of it.
ALONE = {"device_info"}
STEERING = re.compile("ONEAPI_DEVICE_SELECTOR|UR_.*|SIMCUDA_.*|SYCL_.*|PYTHONPATH|LD_PRELOAD")


def main(words):
    # Beside a part, or where the parts were taken to.
    parts = sorted(HERE.glob("part.*")) or sorted((HERE / "parts").glob("part.*"))[:1]
    if len(parts) != 1:
        sys.exit(f"there is no part in {HERE}")
    # Parts are called part.RELEASE.INDEX.COUNT, and a release has a dot in itself.
    _, release, count = re.fullmatch(r"(part)\.(.+)\.\d+\.(\d+)", parts[0].name).groups()
    machine = Machine(release)
    failed = False
    for word in words:
        name, _, rest = word.partition("=")
        if name == "take":
            machine.take(parts[0])
        elif name == "sim":
            machine.native = machine.all / "lib/libsimcuda.so"
        elif name == "unpooled":
            machine.unpooled = True
        elif name in ("wheel", "programs", "suite"):
            machine.unpack(int(count))
            failed |= not getattr(machine, name)(*filter(None, rest.split(",")))
        else:
            sys.exit(__doc__)
    sys.exit(failed)


class Machine:
    """One release on this machine."""

    def __init__(self, release):
        self.release = release
        taken = pathlib.Path(os.environ.get("UR_SYCL_STORE", "/tmp/ur-sycl")) / release
        self.store = HERE if (HERE / "parts").is_dir() else taken
        self.parts = self.store / "parts"
        self.all = self.store / "all"
        self.venv = self.store / "venv"
        self.python = self.venv / "bin/python"
        self.native = "libcuda.so.1"
        self.unpooled = False

    def known(self, what):
        """Why the list of expectations says that this fails; a test's entry without parameters stands for all of them."""
        lists = tomllib.loads((self.all / "expectations.toml").read_text(encoding="utf-8"))
        reasons = lists.get("both", {}) | lists.get(self.release, {})
        return reasons.get(what) or reasons.get(what.partition("[")[0])

    def say(self, text):
        print(f"{self.release}{', unpooled' if self.unpooled else ''}: {text}", flush=True)

    def log(self, name, text):
        (pathlib.Path(os.environ.get("OUT", self.store)) / f"{self.release}-{name}{'-unpooled' if self.unpooled else ''}.log").write_text(text, encoding="utf-8")

    def take(self, part):
        self.parts.mkdir(parents=True, exist_ok=True)
        if part.parent != self.parts:
            shutil.copy(part, self.parts)
            shutil.copy(__file__, self.store)

    def unpack(self, count):
        if self.all.is_dir():
            return
        parts = sorted(self.parts.iterdir(), key=lambda part: int(part.name.split(".")[-2]))
        if len(parts) != count:
            sys.exit(f"there are {len(parts)} of {count} parts: {[part.name for part in parts]}")
        unpacking = self.store / "unpacking"
        shutil.rmtree(unpacking, ignore_errors=True)
        with tarfile.open(fileobj=Joined(parts), mode="r|xz") as archive:
            archive.extractall(unpacking, filter="data")
        # The stock wheels travel unpacked, because what they hold twice then travels once. pip wants them as they were.
        for tree in sorted((unpacking / "wheels").iterdir()):
            if tree.is_dir():
                with zipfile.ZipFile(unpacking / f"{tree.name}.new", "w") as wheel:
                    for file in sorted(file for file in tree.rglob("*") if file.is_file()):
                        wheel.write(file, file.relative_to(tree))
                shutil.rmtree(tree)
                (unpacking / f"{tree.name}.new").rename(tree)
        unpacking.rename(self.all)

    def environment(self, installed):
        """A user's environment with the wheel, or with our libraries as they were built and the stock runtime's own."""
        variables = {name: value for name, value in os.environ.items() if not STEERING.fullmatch(name)}
        folders = [self.venv / "lib"]
        if not installed:
            variables["UR_ADAPTERS_FORCE_LOAD"] = str(self.all / "lib/libur_adapter_cuda.so.0")
            # 2026.2's libsycl carries a loader in itself; 2026.1's is to find ours before the stock one.
            folders.insert(0, self.all / "lib")
            # Kernels that come as SPIR-V; libnvvm is the CUDA toolkit's.
            variables["LD_PRELOAD"] = str(self.all / "lib/libur_sycl_images.so")
        variables["UR_CUDA_LIBRARY"] = str(self.native)
        variables["LD_LIBRARY_PATH"] = ":".join(map(str, folders + [os.environ.get("LD_LIBRARY_PATH", "")])).rstrip(":")
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        if self.unpooled:
            variables["UR_USM_POOL"] = "0"
        variables["PATH"] = f"{self.venv}/bin:{os.environ['PATH']}"
        if installed:
            del variables["LD_LIBRARY_PATH"]
            if os.environ.get("LD_LIBRARY_PATH"):
                variables["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
            if self.native == "libcuda.so.1":
                del variables["UR_CUDA_LIBRARY"]
        return variables

    def pip(self, *words):
        command = [self.python, "-m", "pip", *words, "--quiet", "--disable-pip-version-check"]
        subprocess.run(command, check=True, timeout=300, env=self.environment(True))

    def make_venv(self):
        """The environment with dpctl and what runs its tests, without ours. This machine's Python may come without pip."""
        if self.python.exists():
            return
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True, timeout=300)
        wheels = self.all / "wheels"
        pip = next(wheels.glob("pip-*.whl")) / "pip"
        offline = ["--no-index", "--find-links", wheels, "--quiet", "--disable-pip-version-check"]
        subprocess.run([self.python, pip, "install", *offline, "pip"], check=True, timeout=300)
        self.pip("install", "--no-index", "--find-links", wheels, "dpctl", "pytest", "cython", "setuptools")

    def contents(self):
        files = (file for file in self.venv.rglob("*") if not file.is_dir() and "__pycache__" not in file.parts)
        return {str(file.relative_to(self.venv)): file.lstat().st_size for file in files}

    def listing(self, name):
        done = subprocess.run([self.python, "-m", "dpctl", "-f"], env=self.environment(True), timeout=300, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.log(name, done.stdout)
        return done.returncode, done.stdout

    def wheel(self):
        self.make_venv()
        before = self.contents()
        status, text = self.listing("listing-before")
        self.say(f"wheel: before it, `python -m dpctl -f` ends with {status} and {'a' if 'CUDA' in text else 'no'} CUDA platform")
        self.pip("install", "--no-index", "--find-links", self.all / "wheels", "ur-adapters")
        status, text = self.listing("listing")
        found = status == 0 and "CUDA" in text
        self.say(f"wheel: `pip install ur-adapters`, then `python -m dpctl -f` ends with {status}:\n{text.rstrip()}")
        self.pip("uninstall", "--yes", "ur-adapters")
        after = self.contents()
        differing = sorted(set(before.items()) ^ set(after.items()))
        self.say(f"wheel: `pip uninstall ur-adapters` leaves {differing or f'all {len(after)} files as they were'}")
        return found and not differing

    def programs(self, *words):
        self.make_venv()
        environment = self.environment(False)
        # The compiler takes its library of mathematical functions from here, whatever toolkit there is.
        environment["UR_SYCL_CUDA"] = str(self.all / "cuda")
        preloaded = f"{self.all}/toolchain.so:{self.all}/lib/libur_sycl_images.so"
        compiling = {"LD_PRELOAD": preloaded, "UR_SYCL_TOOLCHAIN": str(self.all / "toolchain")}
        # What ruins its device for itself ruins it for nobody else: each program has a process and a context of its own.
        work = []
        for file in sorted((self.all / "programs").iterdir()):
            if words and not any(word in file.name for word in words):
                continue
            if file.suffix == ".py":
                work.append((file.stem, [self.python, file], environment | {"PYTHONPATH": str(self.all / "python")}))
            else:
                work.append((file.name, [file], environment | compiling))
        done = [self.program(*each) for each in work if each[0] in ALONE]
        with concurrent.futures.ThreadPoolExecutor(max(1, min(6, (os.cpu_count() or 1) // 2))) as pool:
            done += pool.map(lambda each: self.program(*each), [each for each in work if each[0] not in ALONE])
        self.log("programs", "".join(text for _, text in done))
        verdicts = [verdict for verdict, _ in done]
        self.say(f"programs: {sum(v == 'ok' for v in verdicts)} ok, {sum(v == 'skipped' for v in verdicts)} skipped, "
                 f"{sum(v == 'known' for v in verdicts)} known, {sum(v == 'FAILED' for v in verdicts)} failed")
        return "FAILED" not in verdicts

    def program(self, name, command, environment):
        start = time.monotonic()
        try:
            done = subprocess.run(command, env=environment, timeout=200, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
            status, text = done.returncode, done.stdout
        except subprocess.TimeoutExpired as error:
            status, text = "no end", (error.stdout or b"").decode(errors="replace")
        said_ok = re.search(rf"^ok \S*{re.escape(name.removeprefix('bad-'))}$", text, re.MULTILINE)
        verdict = "skipped" if status == 77 else "ok" if status == 0 and said_ok else "FAILED"
        if verdict != "ok" and self.known(name.replace("bad-", "bad/", 1)):
            verdict = "known"
        tail = [line for line in text.splitlines() if line.strip() and not line.startswith("mapped: ")][-3:]
        why = "" if verdict == "ok" and name != "vector_add" else f" ({status}) {' | '.join(tail)}"
        seconds = time.monotonic() - start
        self.say(f"{verdict} {name} {seconds:.1f} s{why}")
        return verdict, f"==== {verdict} {name}, status {status}, {seconds:.1f} s\n{text}\n"

    def suite(self):
        self.make_venv()
        record = self.store / "dpctl-suite.record"
        record.write_text("", encoding="utf-8")
        environment = self.environment(False)
        environment |= {"PYTHONPATH": str(self.all / "python"), "UR_SYCL_RECORD": str(record)}
        command = [self.python, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "record",
                   "-o", "faulthandler_timeout=120", "-o", "faulthandler_exit_on_timeout=true", "--pyargs", "dpctl.tests"]
        printed = ""
        # A test that ends its process is noted, and the rest goes on in a new one.
        for _ in range(12):
            done = subprocess.run(command, env=environment, cwd="/tmp", timeout=500, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            printed += done.stdout
            lines = [line.split("\t") for line in record.read_text(encoding="utf-8").splitlines()]
            if not lines or lines[-1][0] != "began":
                break
            with record.open("a", encoding="utf-8") as file:
                file.write(f"crashed\t{lines[-1][1]}\tits process ended with {done.returncode}\n")
        self.log("suite", printed)
        lines = [line.split("\t") for line in record.read_text(encoding="utf-8").splitlines()]
        ends = [line for line in lines if line[0] != "began"]
        bad = [line for line in ends if line[0] not in ("passed", "skipped")]
        known = [line for line in bad if self.known(f"dpctl/{line[1]}")]
        for line in bad:
            self.say(("known: " if line in known else "") + " ".join(line))
        counts = {word: sum(line[0] == word for line in ends) for word in ("passed", "skipped")}
        self.say(f"dpctl's suite: {counts['passed']} passed, {counts['skipped']} skipped, {len(bad)} failed, {len(known)} of them known")
        return bool(counts["passed"]) and len(known) == len(bad)


class Joined:
    """The parts, read one behind the other."""

    def __init__(self, parts):
        self.parts = list(parts)
        self.file = None

    def read(self, size):
        while True:
            if self.file is None:
                if not self.parts:
                    return b""
                self.file = open(self.parts.pop(0), "rb")
            data = self.file.read(size)
            if data:
                return data
            self.file.close()
            self.file = None


if __name__ == "__main__":
    main(sys.argv[1:])
