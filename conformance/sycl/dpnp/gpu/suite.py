"""dpnp's own tests by many processes on one GPU. Files are collected first, then cut into portions of about equal size that wait in a
queue, largest first, for processes that run one after another (`worker.py`). What ends its process is noted as a crash and the rest of
its portion goes on in a new process. Where a test takes too long, the others of its function wait until everything else has run, since
they are likely to do what it did. When the time is up, everything is stopped. `report.py` says what became of each test.
"""

import collections
import concurrent.futures
import json
import os
import queue
import signal
import subprocess
import threading
import time

import report

# Tests of one portion: few enough that no process is much longer at work than the others, enough to be worth the collection of a file.
PORTION = 500
# Portions whose process ends more often than this are given up.
MOST_CRASHES = 40
# Seconds that a test may take, and from which it is named as slow.
TEST_LIMIT = 60
SLOW = 10
# Tests of one function that may take too long before the rest of them are given up.
MOST_LATE = 3
RUINED = 86


class Suite:
    """One run."""

    def __init__(self, python, environment, folder, work, known):
        self.python, self.environment, self.folder, self.work, self.known = python, environment, folder, work, known
        self.processes = max(1, min(16, os.cpu_count() or 2))
        self.limit = TEST_LIMIT
        self.deadline = float("inf")
        self.workers = {}
        self.lock = threading.Lock()
        self.seconds = collections.Counter()
        # Of each function one of whose tests took too long: that test.
        self.late = {}
        # Why files of which something did not run did not.
        self.given_up = {}

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
        collected = time.monotonic() - start
        print(f"suite: {sum(map(len, tests.values()))} tests of {len(files)} files collected in {collected:.0f} s", flush=True)
        self.drain(self.portions(tests), lambda portion, slot: self.portion(portion, every, tests, slot))
        self.drain(self.postponed(tests), lambda portion, slot: self.portion(portion, every, {}, slot))
        timer.cancel()
        self.close()
        return report.write(self, tests, broken, time.monotonic() - start)

    def drain(self, portions, take):
        """Gives the portions to the threads, in order; each has its own worker."""
        waiting = queue.SimpleQueue()
        for portion in portions:
            waiting.put(portion)

        def serve(slot):
            while time.monotonic() < self.deadline:
                try:
                    portion = waiting.get_nowait()
                except queue.Empty:
                    return
                begun = time.monotonic()
                take(portion, slot)
                self.seconds[portion] = time.monotonic() - begun

        with concurrent.futures.ThreadPoolExecutor(self.processes) as pool:
            for served in [pool.submit(serve, slot) for slot in range(self.processes)]:
                served.result()

    def pytest(self, words, environment, log, slot):
        """One run of pytest in the slot's worker; its status, the worker's if that ended, None if the time is up."""
        words = ["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "record", "-p", "portion", *words]
        # Names of tests begin where the package does, wherever this process runs.
        words += [f"--rootdir={self.folder.parent.parent}", "-o", f"faulthandler_timeout={self.limit}"]
        words += ["-o", "faulthandler_exit_on_timeout=true"]
        with self.lock:
            if time.monotonic() >= self.deadline:
                return None
            worker = self.workers.get(slot)
            if worker is None:
                with open(self.work / f"worker-{slot}.log", "a", encoding="utf-8") as printed:
                    worker = subprocess.Popen([self.python, "-m", "worker"], env=self.environment, cwd="/tmp", stdin=subprocess.PIPE,
                                              stdout=subprocess.PIPE, stderr=printed, text=True, start_new_session=True)
                self.workers[slot] = worker
        try:
            worker.stdin.write(json.dumps({"words": words, "environment": environment, "log": str(log)}) + "\n")
            worker.stdin.flush()
            answer = worker.stdout.readline().strip()
        except OSError:
            answer = ""
        status = int(answer) if answer else self.end(slot)
        return None if time.monotonic() >= self.deadline else status

    def end(self, slot):
        """The status of a worker that has ended, or does so now that it gets no more to do."""
        with self.lock:
            worker = self.workers.pop(slot)
        try:
            worker.stdin.close()
        except OSError:
            # What a dead worker did not read.
            pass
        try:
            return worker.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            return "not at all: it was killed after 20 s"

    def close(self):
        """The end of all workers. How one ends behind its tests is not theirs to fail for, but it is said."""
        stopped = time.monotonic() >= self.deadline
        for slot in list(self.workers):
            status = self.end(slot)
            if status and not stopped:
                print(f"suite: worker {slot} ended with {status} after its tests", flush=True)

    def stop(self):
        """The time is up."""
        with self.lock:
            for worker in self.workers.values():
                os.killpg(worker.pid, signal.SIGKILL)

    def collect(self, files, every):
        """The names of the tests of each file, and what is wrong with files that cannot be collected."""
        tests, broken = {}, {}
        groups = [tuple(files[index :: self.processes * 2]) for index in range(self.processes * 2)]

        def take(group, slot):
            stem = self.work / f"collect-{groups.index(group)}"
            listing, record = stem.with_suffix(".list"), stem.with_suffix(".record")
            record.write_text("", encoding="utf-8")
            environment = every | {"UR_DPNP_COLLECTED": str(listing), "UR_DPNP_PORTION": "0/1", "UR_SYCL_RECORD": str(record)}
            log = stem.with_suffix(".log")
            self.pytest(["--collect-only", "-qq", *(str(self.folder / file) for file in group)], environment, log, slot)
            if not listing.exists():
                broken.update({file: report.tail(log) for file in group})
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
        """(number of tests, files, index, count, no names), largest first. Small files of a folder go together."""
        portions, small = [], collections.defaultdict(list)
        for file, names in sorted(tests.items()):
            count = -(-len(names) // PORTION)
            if count > 1:
                portions += [(len(names) // count, (file,), index, count, "") for index in range(count)]
            else:
                small[os.path.dirname(file)].append((len(names), file))
        for listed in small.values():
            size, files = 0, []
            for number, file in sorted(listed):
                if files and size + number > PORTION:
                    portions.append((size, tuple(files), 0, 1, ""))
                    size, files = 0, []
                size += number
                files.append(file)
            portions.append((size, tuple(files), 0, 1, ""))
        return sorted(portions, reverse=True)

    def postponed(self, tests):
        """A portion for each function one of whose tests took too long, of what was left out for that."""
        portions = []
        for number, function in enumerate(sorted(self.late)):
            file = function.partition("::")[0]
            results, _ = report.read(self.work.glob("*.record"))
            names = [name for name in tests[file] if function_of(name) == function and results.get(name, ("late",))[0] == "late"]
            if names:
                only = self.work / f"late-{number}.only"
                only.write_text("\n".join(names) + "\n", encoding="utf-8")
                portions.append((len(names), (file,), 0, 1, str(only)))
        return sorted(portions, reverse=True)

    def portion(self, portion, every, tests, slot):
        """Runs one, in as many processes as it takes. Of `tests` it leaves out those of functions that take too long."""
        _, files, index, count, only = portion
        stem = self.work / f"{files[0].replace('/', '-').removesuffix('.py')}-{len(files)}-{index}"
        if only:
            stem = self.work / only.removesuffix(".only")
        record = stem.with_suffix(".record")
        record.write_text("", encoding="utf-8")
        environment = {"UR_DPNP_PORTION": f"{index}/{count}", "UR_SYCL_RECORD": str(record), "UR_DPNP_ONLY": only}
        environment |= every | {"UR_DPNP_COLLECTED": "", "UR_DPNP_SLOW": str(SLOW)}
        late = 0
        for turn in range(MOST_CRASHES):
            self.postpone(record, [name for file in files for name in tests.get(file, ())])
            log = stem.with_suffix(f".{turn}.log")
            status = self.pytest([str(self.folder / file) for file in files], environment, log, slot)
            if status is None:
                return
            lines = record.read_text(encoding="utf-8").splitlines()
            last = lines[-1].split("\t") if lines else ["", ""]
            if last[0] == "began":
                why = report.crash(log)
                with record.open("a", encoding="utf-8") as file:
                    file.write(f"crashed\t{last[1]}\tits process ended with {status}: {why}\n")
                if "Timeout (" in why:
                    late += 1
                    self.late.setdefault(function_of(last[1]), last[1])
                    if only and late == MOST_LATE:
                        return
            elif status != RUINED:
                if status not in (0, 1, 5):
                    self.give_up(files, f"pytest ended with {status}: {report.tail(log)}")
                return
        self.give_up(files, f"portion {index} of {count} was given up after {MOST_CRASHES} processes")

    def give_up(self, files, why):
        print(f"suite: {' '.join(files)}: {why}", flush=True)
        self.given_up |= dict.fromkeys(files, why)

    def postpone(self, record, names):
        """Writes down as run what shall not run now."""
        with record.open(encoding="utf-8") as file:
            done = {line.split("\t")[1].rstrip("\n") for line in file}
        left = [name for name in names if function_of(name) in self.late and name not in done]
        with record.open("a", encoding="utf-8") as file:
            file.writelines(f"late\t{name}\t{self.late[function_of(name)]} took over {self.limit} s\n" for name in left)


def function_of(name):
    return name.partition("[")[0]
