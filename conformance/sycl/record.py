"""A plugin of pytest that writes what happens to each test into the file UR_SYCL_RECORD, line by line, as it happens.

A line is "began", "passed", "skipped", "failed" or "error", a tab, the test, and, where something was wrong, a tab and the
last line of the complaint. Tests that the file knows already are left out, so that a suite whose process was ended by a test
goes on after it. It never changes what a test does.
"""

import os

_path = os.environ["UR_SYCL_RECORD"]
_open = {}


def name(nodeid):
    file, _, test = nodeid.partition("::")
    # dpnp has files of the same name in several folders.
    _, found, below = file.replace(os.sep, "/").partition("dpnp/tests/")
    return f"{below if found else os.path.basename(file)}::{test}"


def write(*words):
    with open(_path, "a", encoding="utf-8") as file:
        file.write("\t".join(" ".join(word.split()) for word in words) + "\n")


def pytest_collection_modifyitems(config, items):
    with open(_path, encoding="utf-8") as file:
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
        lines = str(report.longrepr).strip().splitlines() or [""]
        errors = [line[1:].strip() for line in lines if line.startswith("E ")]
        _open[report.nodeid] = ("failed" if report.when == "call" else "error", (errors or lines[-1:])[0])


def pytest_runtest_logfinish(nodeid, location):
    word, text = _open.pop(nodeid)
    write(word, name(nodeid), *([text] if text else []))
