"""dpnp's own tests by many processes on one GPU. Files are collected first, then cut into portions of about equal size that wait in a
queue, largest first. What ends its process is noted as a crash and the rest of its portion goes on in a new process. When the time is
up, everything is stopped, and what has not run is named.
"""

import collections
import concurrent.futures
import gzip
import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

# Tests of one portion: few enough that no process is much longer at work than the others, enough to be worth the start of one.
PORTION = 700
# Portions whose process ends more often than this are given up.
MOST_CRASHES = 40
TEST_LIMIT = 120
RUINED = 86
# What oneMKL does elsewhere and NumPy on the host does here.
HOST_FIELDS = ("fft", "linalg", "random")


class Suite:
    """One run."""

    def __init__(self, python, environment, folder, work, known):
        self.python, self.environment, self.folder, self.work, self.known = python, environment, folder, work, known
        self.processes = max(1, min(14, (os.cpu_count() or 2) - 2))
        self.deadline = float("inf")
        self.running = {}
        self.lock = threading.Lock()
        self.seconds = collections.Counter()

    def run(self, files, every, seconds):
        """Runs the files, or all; prints the sum and returns whether nothing failed that is not known."""
        start = time.monotonic()
        self.deadline = start + seconds
        self.work.mkdir(parents=True, exist_ok=True)
        for old in self.work.iterdir():
            old.unlink()
        timer = threading.Timer(seconds, self.stop)
        timer.daemon = True
        timer.start()
        every = {"UR_DPNP_EVERY": str(every)}
        if not files:
            files = sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("test_*.py"))
        tests, broken = self.collect(files, every)
        print(f"suite: {sum(map(len, tests.values()))} tests of {len(files)} files collected in {time.monotonic() - start:.0f} s", flush=True)
        self.drain(self.portions(tests), lambda portion: self.portion(portion, every))
        timer.cancel()
        return self.report(tests, broken, time.monotonic() - start)

    def drain(self, portions, take):
        """Gives the portions to the threads, in order."""
        waiting = queue.SimpleQueue()
        for portion in portions:
            waiting.put(portion)

        def serve():
            while time.monotonic() < self.deadline:
                try:
                    portion = waiting.get_nowait()
                except queue.Empty:
                    return
                begun = time.monotonic()
                take(portion)
                self.seconds[portion] = time.monotonic() - begun

        with concurrent.futures.ThreadPoolExecutor(self.processes) as pool:
            for served in [pool.submit(serve) for _ in range(self.processes)]:
                served.result()

    def pytest(self, words, environment, log):
        """One process of pytest; None if the time is up."""
        command = [self.python, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "record", "-p", "portion"]
        # Names of tests begin where the package does, wherever this process runs.
        command += [f"--rootdir={self.folder.parent.parent}", "-o", f"faulthandler_timeout={TEST_LIMIT}"]
        command += ["-o", "faulthandler_exit_on_timeout=true", *words]
        with open(log, "w", encoding="utf-8") as printed:
            with self.lock:
                if time.monotonic() >= self.deadline:
                    return None
                process = subprocess.Popen(command, env=self.environment | environment, cwd="/tmp", stdout=printed,
                                           stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
                self.running[process.pid] = process
            status = process.wait()
            with self.lock:
                del self.running[process.pid]
        return None if time.monotonic() >= self.deadline else status

    def stop(self):
        """The time is up."""
        with self.lock:
            for process in self.running.values():
                os.killpg(process.pid, signal.SIGKILL)

    def collect(self, files, every):
        """The names of the tests of each file, and what is wrong with files that cannot be collected."""
        tests, broken = {}, {}
        groups = [tuple(files[index :: self.processes * 2]) for index in range(self.processes * 2)]

        def take(group):
            stem = self.work / f"collect-{groups.index(group)}"
            listing, record = stem.with_suffix(".list"), stem.with_suffix(".record")
            record.write_text("", encoding="utf-8")
            environment = every | {"UR_DPNP_COLLECTED": str(listing), "UR_SYCL_RECORD": str(record)}
            log = stem.with_suffix(".log")
            self.pytest(["--collect-only", "-qq", *(str(self.folder / file) for file in group)], environment, log)
            if not listing.exists():
                broken.update({file: tail(log) for file in group})
                return
            found = collections.defaultdict(list)
            for line in listing.read_text(encoding="utf-8").splitlines():
                found[line.partition("::")[0]].append(line)
            tests.update(found)
            errors = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.startswith("ERROR ")]
            for line in errors:
                broken[line.removeprefix("ERROR ").partition("tests/")[2].split(" ")[0]] = line

        self.drain([group for group in groups if group], take)
        return tests, broken

    def portions(self, tests):
        """(number of tests, files, index, count), largest first. Small files of a folder go together."""
        portions, small = [], collections.defaultdict(list)
        for file, names in sorted(tests.items()):
            count = -(-len(names) // PORTION)
            if count > 1:
                portions += [(len(names) // count, (file,), index, count) for index in range(count)]
            else:
                small[os.path.dirname(file)].append((len(names), file))
        for listed in small.values():
            size, files = 0, []
            for number, file in sorted(listed):
                if files and size + number > PORTION:
                    portions.append((size, tuple(files), 0, 1))
                    size, files = 0, []
                size += number
                files.append(file)
            portions.append((size, tuple(files), 0, 1))
        return sorted(portions, reverse=True)

    def portion(self, portion, every):
        """Runs one, in as many processes as it takes."""
        _, files, index, count = portion
        stem = self.work / f"{files[0].replace('/', '-').removesuffix('.py')}-{len(files)}-{index}"
        record = stem.with_suffix(".record")
        record.write_text("", encoding="utf-8")
        environment = every | {"UR_DPNP_PORTION": f"{index}/{count}", "UR_SYCL_RECORD": str(record)}
        for turn in range(MOST_CRASHES):
            log = stem.with_suffix(f".{turn}.log")
            status = self.pytest([str(self.folder / file) for file in files], environment, log)
            if status is None:
                return
            lines = record.read_text(encoding="utf-8").splitlines()
            last = lines[-1].split("\t") if lines else ["", ""]
            if last[0] == "began":
                with record.open("a", encoding="utf-8") as file:
                    file.write(f"crashed\t{last[1]}\tits process ended with {status}: {crash(log)}\n")
            elif status != RUINED:
                if status not in (0, 1, 5):
                    print(f"suite: pytest ended with {status} for {' '.join(files)}: {tail(log)}", flush=True)
                return
        print(f"suite: {' '.join(files)}, portion {index} of {count}: given up after {MOST_CRASHES} processes", flush=True)

    def report(self, tests, broken, seconds):
        """The sums on the screen, everything that failed or did not run in a file."""
        results, ruined = {}, set()
        for record in self.work.glob("*.record"):
            for line in record.read_text(encoding="utf-8").splitlines():
                word, _, rest = line.partition("\t")
                name, _, text = rest.partition("\t")
                if word == "ruined":
                    ruined.add(name)
                elif word != "began":
                    results[name] = (word, text)
        missing = [name for names in tests.values() for name in names if name not in results]
        bad = {name: result for name, result in sorted(results.items()) if result[0] not in ("passed", "skipped")}
        known = {name for name in bad if self.known(f"dpnp/{name}")}
        text = []
        for title, chosen in (
            ("all", lambda name: True),
            ("on the GPU", lambda name: not on_host(name)),
            ("fft, linalg, random", on_host),
        ):
            counts = collections.Counter(word for name, (word, _) in results.items() if chosen(name))
            failed = counts["failed"] + counts["error"]
            ran = counts["passed"] + failed + counts["crashed"]
            text.append(
                f"{title}: {counts['passed']} passed, {counts['skipped']} skipped, {failed} failed, {counts['crashed']} crashed, "
                f"{sum(chosen(name) for name in missing)} not run; {100 * counts['passed'] / max(ran, 1):.2f} % of those that ran passed"
            )
        text.append(f"{len(known)} of the failures are known, {len(ruined)} tests left a device that runs nothing more; {seconds:.0f} s")
        text += [f"not collected: {file}: {line}" for file, line in sorted(broken.items())]
        for line in text:
            print(f"suite: {line}", flush=True)
        for line in [f"{word} {name}: {why}" for name, (word, why) in bad.items()][:60]:
            print(line[:200], flush=True)
        slowest = sorted(self.seconds.items(), key=lambda item: -item[1])[:12]
        text += [f"slow: {spent:.0f} s {portion}" for portion, spent in slowest]
        text += [""] + [f"{'known ' * (name in known)}{'ruined ' * (name in ruined)}{word}\t{name}\t{why}" for name, (word, why) in bad.items()]
        text += [""] + [f"not run\t{name}" for name in missing] + [""]
        text += [f"{word}\t{name}" for name, (word, _) in sorted(results.items()) if word in ("passed", "skipped")]
        out = pathlib.Path(os.environ.get("OUT", self.work.parent))
        with gzip.open(out / "dpnp-suite.txt.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(text) + "\n")
        return bool(results) and len(known) == len(bad) and not missing and not broken


def on_host(name):
    file = name.partition("::")[0]
    return any(field in file for field in HOST_FIELDS)


def tail(log):
    """The last line of what a process printed."""
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "it printed nothing"


def crash(log):
    """The most telling line of what a dying process printed."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for word in ("what():", "oneMKL was called", "Timeout", "Fatal Python error", "terminate called"):
        for line in lines:
            if word in line:
                return line.strip()[:300]
    return tail(log)
