"""A plugin of pytest for a process that runs a portion of dpnp's tests on a GPU, beside `record.py`.

UR_DPNP_PORTION    K/N: the K-th (from 0) of N parts of what was collected, in its order
UR_DPNP_EVERY      N: one test of N in each file
UR_DPNP_ONLY       a file with the names of the only tests that run
UR_DPNP_SLOW       seconds from which a test's time is recorded
UR_DPNP_COLLECTED  a file for the names of all tests that would run

A kernel's fault ruins the device for its process: every later call of the driver fails. So a test that failed is followed by a small
sum on each device, and where one fails too, the process ends with status 86 and another one goes on.
"""

import os

import pytest
import record

RUINED = 86
_failed = False
_seconds = 0.0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    every = int(os.environ.get("UR_DPNP_EVERY", "1"))
    index, _, count = os.environ.get("UR_DPNP_PORTION", "0/1").partition("/")
    index, count = int(index), int(count)
    # Of each file, so that the same ones are chosen whatever is collected with it.
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    chosen = [item for listed in files.values() for item in listed[::every]]
    chosen = chosen[len(chosen) * index // count : len(chosen) * (index + 1) // count]
    if os.environ.get("UR_DPNP_ONLY"):
        with open(os.environ["UR_DPNP_ONLY"], encoding="utf-8") as file:
            only = set(file.read().splitlines())
        chosen = [item for item in chosen if " ".join(record.name(item.nodeid).split()) in only]
    names = {item.nodeid for item in chosen}
    left_out = [item for item in items if item.nodeid not in names]
    if left_out:
        items[:] = chosen
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish(session):
    """Lists what would run: dpnp itself leaves out what it marks as slow, after the choice above."""
    if os.environ.get("UR_DPNP_COLLECTED"):
        with open(os.environ["UR_DPNP_COLLECTED"], "w", encoding="utf-8") as file:
            file.writelines(" ".join(record.name(item.nodeid).split()) + "\n" for item in session.items)


def pytest_runtest_logreport(report):
    global _failed, _seconds
    _failed = _failed or report.failed
    _seconds += report.duration


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish(nodeid, location):
    global _failed, _seconds
    if _seconds >= float(os.environ.get("UR_DPNP_SLOW", "inf")):
        record.write("slow", record.name(nodeid), f"{_seconds:.1f}")
    _seconds = 0.0
    if _failed and not _works():
        record.write("ruined", record.name(nodeid), "no kernel runs after it")
        os._exit(RUINED)
    _failed = False


def _works():
    import dpctl
    import dpnp

    try:
        return all(int(dpnp.arange(10, device=device).sum()) == 45 for device in dpctl.get_devices(device_type="gpu"))
    except Exception:
        return False
