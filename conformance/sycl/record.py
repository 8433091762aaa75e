"""A plugin of pytest that writes what happens to each test into the file UR_SYCL_RECORD, line by line, as it happens.

A line is "began", "passed", "skipped", "failed" or "error", a tab, the test, and, where something was wrong, a tab and the
complaint (NumPy's says what differs some lines below "AssertionError:"). Tests that the file knows already are left out, so that a suite whose process was ended by a test
goes on after it. It never changes what a test does.
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


def pytest_collection_modifyitems(config, items):
    with open(os.environ["UR_SYCL_RECORD"], encoding="utf-8") as file:
        known = {line.rstrip("\n").split("\t")[1] for line in file if "\t" in line}
    left_out = [item for item in items if " ".join(name(item.nodeid).split()) in known]
    if left_out:
        items[:] = [item for item in items if " ".join(name(item.nodeid).split()) not in known]
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
