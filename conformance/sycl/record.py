"""A plugin of pytest that writes what happens to each test into the file UR_SYCL_RECORD, line by line, as it happens.

A line is "began", "passed", "skipped", "failed" or "error", a tab, the test, and, where something was wrong, a tab and the
complaint (NumPy's says what differs some lines below "AssertionError:"). Tests that the file knows already are left out, so that a suite whose process was ended by a test
goes on after it. With UR_SYCL_EVERY one test in so many is run, counted in pytest's order, and those that the file UR_SYCL_ALWAYS names, a
line each, with or without their parameters. It never changes what a test does.
"""

import os

_open = {}
# Characters of a complaint that are kept: NumPy prints whole arrays behind what matters.
COMPLAINT = 400


def name(nodeid):
    file, _, test = nodeid.partition("::")
    # dpnp has files of the same name in several folders.
    _, found, below = file.replace(os.sep, "/").partition("dpnp/tests/")
    return f"{below if found else os.path.basename(file)}::{test}"


def write(*words):
    # Asked for each time: one process may write one record after another.
    with open(os.environ["UR_SYCL_RECORD"], "a", encoding="utf-8") as file:
        file.write("\t".join(" ".join(word.split()) for word in words) + "\n")


def recorded():
    with open(os.environ["UR_SYCL_RECORD"], encoding="utf-8") as file:
        return {line.rstrip("\n").split("\t")[1] for line in file if "\t" in line}


def sample():
    """How many tests one is taken of, and the names of those that are taken anyway."""
    every = int(os.environ.get("UR_SYCL_EVERY", "1"))
    if every == 1:
        return every, set()
    with open(os.environ["UR_SYCL_ALWAYS"], encoding="utf-8") as file:
        return every, {line.rstrip("\n") for line in file}


def pytest_collection_modifyitems(config, items):
    known, (every, always) = recorded(), sample()
    kept, left_out = [], []
    for number, item in enumerate(items):
        test = " ".join(name(item.nodeid).split())
        taken = number % every == 0 or test in always or test.partition("[")[0] in always
        (kept if taken and test not in known else left_out).append(item)
    if left_out:
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)


def pytest_runtest_logstart(nodeid, location):
    _open[nodeid] = ("passed", "")
    write("began", name(nodeid))


def pytest_runtest_logreport(report):
    if report.skipped:
        _open[report.nodeid] = ("skipped", "")
    elif report.failed:
        lines = str(report.longrepr).strip().splitlines()[-1:]
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash:
            lines = [line.strip() for line in crash.message.splitlines() if line.strip()]
        complaint = "; ".join(lines)[:COMPLAINT]
        _open[report.nodeid] = ("failed" if report.when == "call" else "error", complaint)


def pytest_runtest_logfinish(nodeid, location):
    word, text = _open.pop(nodeid)
    write(word, name(nodeid), *([text] if text else []))
