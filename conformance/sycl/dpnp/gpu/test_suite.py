"""What `suite.py` counts when tests crash, fail, lose the device or cannot be collected, and when the time is up. `cargo xtask dpnp` runs
it; it needs neither dpnp nor a device.
"""

import gzip
import os
import pathlib
import sys

import pytest
import report as reporting
import suite

HERE = pathlib.Path(__file__).resolve().parent
FILES = {
    "__init__.py": """
        lost = set()
        class arange:
            def __init__(self, size, device=0):
                self.size, self.device = size, device
            def sum(self):
                if self.device in lost:
                    raise RuntimeError("the device is lost")
                return sum(range(self.size))
        """,
    "../dpctl/__init__.py": """
        def get_devices(device_type):
            return [0, 1]
        """,
    "tests/__init__.py": "",
    # As dpnp does by itself.
    "tests/conftest.py": """
        def pytest_configure(config):
            config.addinivalue_line("markers", "slow: left out")
            config.option.markexpr = "not slow"
        """,
    "tests/tensor/__init__.py": "",
    "tests/test_many.py": """
        import os, pytest
        @pytest.mark.parametrize("n", range(1500))
        def test_it(n):
            if n in (3, 900):
                os.abort()
            assert n != 7
        """,
    "tests/test_broken.py": """
        import there_is_no_such_module
        """,
    "tests/test_fft.py": """
        import pytest
        def test_same():
            pass
        @pytest.mark.slow
        def test_that_dpnp_leaves_out():
            assert False
        """,
    "tests/tensor/test_fft.py": """
        import dpnp, pytest
        def test_loses():
            dpnp.lost.add(1)
            assert False, "first"
        def test_next():
            assert not dpnp.lost
        def test_left_out():
            pytest.skip("never")
        """,
}


@pytest.fixture(name="made")
def _made(tmp_path, monkeypatch):
    for name, text in FILES.items():
        file = tmp_path / "dpnp" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = text.splitlines()
        file.write_text("\n".join(line[8:] for line in lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("OUT", str(tmp_path))
    path = os.pathsep.join(map(str, (tmp_path, HERE, HERE.parent.parent)))
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "UR_"))}
    # Our wheel would mend this dpnp.
    environment = variables | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "UR_ADAPTERS_HOOK": "0"}
    known = {"dpnp/test_many.py::test_it[7]": "seven is an unlucky number", "dpnp/test_many.py::test_it[8]": "it is mended"}
    return suite.Suite(sys.executable, environment, tmp_path / "dpnp/tests", tmp_path / "work", known.get)


def failures(made):
    return (made.work.parent / "dpnp-failures.txt").read_text(encoding="utf-8").splitlines()


def report(made):
    with gzip.open(made.work.parent / "dpnp-suite.txt.gz", "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def test_every_test_is_counted_once_whatever_ends_its_process(made):
    assert not made.run([], 1, 300)
    lines = report(made)
    assert lines[0].startswith("all: 1499 passed, 1 skipped, 2 failed, 2 crashed, 0 not run"), lines[0]
    assert lines[1].startswith("on the GPU: 1497 passed, 0 skipped, 1 failed, 2 crashed, 0 not run"), lines[1]
    assert lines[2].startswith("fft, linalg, random: 2 passed, 1 skipped, 1 failed, 0 crashed, 0 not run"), lines[2]
    assert lines[3].startswith("1 of the failures are known, 1 tests left a device that runs nothing more"), lines[3]
    assert any(line.startswith("not collected: test_broken.py") for line in lines[4:8]), lines[4:8]
    assert "listed, and passed: test_many.py::test_it[8]" in lines
    assert "known failed\ttest_many.py::test_it[7]\tknown: seven is an unlucky number; assert 7 != 7" in lines
    assert any(line.startswith("ruined failed\ttensor/test_fft.py::test_loses\t") for line in lines)
    assert sum(line.startswith("crashed\ttest_many.py::test_it[") for line in lines) == 2
    assert "passed\ttensor/test_fft.py::test_next" in lines
    short = failures(made)
    assert short == lines[: len(short)]
    reasons = short[short.index("how often each reason came:") + 1 :]
    assert "1\tfailed: known: seven is an unlucky number" in reasons
    assert "1\truined failed: AssertionError: first; assert False" in reasons, reasons
    assert "2\tcrashed: its process ended with #: Fatal Python error: Aborted" in reasons, reasons
    assert sum(int(line.partition("\t")[0]) for line in reasons) == 4


def test_one_of_some_is_one_of_each_file(made):
    assert made.run(["test_many.py", "test_fft.py"], 500, 300)
    assert report(made)[0].startswith("all: 4 passed, 0 skipped, 0 failed, 0 crashed, 0 not run")


def test_what_had_no_time_is_named(made):
    made.work.mkdir()
    tests, broken = made.collect(["test_fft.py", "tensor/test_fft.py"], {})
    made.deadline = 0
    made.late = {"test_fft.py::test_same": "test_fft.py::test_same"}
    (made.work / "late.record").touch()
    made.postpone(made.work / "late.record", tests["test_fft.py"])
    (made.work / "open.record").write_text("began\ttensor/test_fft.py::test_loses\n", encoding="utf-8")
    made.drain(made.portions(tests), lambda portion, slot: made.portion(portion, {}, tests, slot))
    made.close()
    assert not reporting.write(made, tests, broken, 0)
    lines = report(made)
    assert lines[0].startswith("all: 0 passed, 0 skipped, 0 failed, 0 crashed, 4 not run"), lines[0]
    assert "not run\ttensor/test_fft.py::test_next\tthe time was up before its turn" in lines
    assert "not run\ttensor/test_fft.py::test_loses\tit was running when the time was up" in lines
    assert "not run\ttest_fft.py::test_same\tpostponed: test_fft.py::test_same took over 60 s" in lines
    assert failures(made)[-3:] == [
        "2\tnot run: the time was up before its turn",
        "1\tnot run: it was running when the time was up",
        "1\tnot run: postponed: test_fft.py::test_same took over # s",
    ]


def test_others_of_a_function_that_takes_too_long_come_last(made):
    """What a process prints that ends for that is printed here without the wait."""
    made.processes = 1
    order = made.work.parent / "order"
    made.environment["UR_TEST_ORDER"] = str(order)
    text = """
        import os, pytest
        from _pytest import faulthandler
        def note(name):
            with open(os.environ["UR_TEST_ORDER"], "a") as file:
                file.write(name + " ")
        @pytest.mark.parametrize("n", range(6))
        def test_late(n, request):
            note(str(n))
            if n in (1, 4):
                os.write(request.config.stash[faulthandler.fault_handler_stderr_fd_key], b"Timeout (0:01:00)!\\n")
                os._exit(1)
        def test_other():
            note("other")
        """
    (made.folder / "test_late.py").write_text("\n".join(line[8:] for line in text.splitlines()) + "\n", encoding="utf-8")
    assert not made.run(["test_late.py"], 1, 300)
    assert order.read_text(encoding="utf-8").split() == ["0", "1", "other", "2", "3", "4", "5"]
    lines = report(made)
    assert lines[0].startswith("all: 5 passed, 0 skipped, 0 failed, 2 crashed, 0 not run"), lines[0]
    assert "crashed\ttest_late.py::test_late[4]\tits process ended with 1: Timeout (0:01:00)!" in lines


def test_processes_run_one_portion_after_another(made):
    """So a slow import counts once a process."""
    made.processes = 1
    (made.folder / "test_who.py").write_text("import os\ndef test_who():\n    assert os.getpid() == 0\n", encoding="utf-8")
    (made.folder / "tensor/test_who.py").write_text("import os\ndef test_who():\n    assert os.getpid() == 0\n", encoding="utf-8")
    made.run(["test_who.py", "tensor/test_who.py"], 1, 300)
    rows = [line.partition("test_who.py::test_who\t")[2] for line in report(made) if line.startswith("failed\t")]
    assert len(rows) == 2 and len(set(rows)) == 1, rows


def test_reasons_fit_into_what_comes_back(made, monkeypatch):
    monkeypatch.setattr(reporting, "ROOM", 1000)
    made.work.mkdir()
    names = [f"a.py::test[{number}]" for number in range(100)]
    (made.work / "a.record").write_text("".join(f"failed\t{name}\t{'x' * 400}\n" for name in names), encoding="utf-8")
    assert not reporting.write(made, {"a.py": names}, {}, 0)
    rows = [line for line in failures(made) if line.startswith("failed\t")]
    assert len(rows) == 100 and set(row.rpartition("\t")[2] for row in rows) == {"x" * reporting.SHORT}
    assert failures(made)[-1] == f"100\tfailed: {'x' * 160}"


def test_a_complaint_says_what_differs(made):
    made.processes = 1
    text = "import numpy\ndef test_numpy():\n    numpy.testing.assert_allclose(1.0, 1.5)\n"
    (made.folder / "test_numpy.py").write_text(text, encoding="utf-8")
    made.run(["test_numpy.py"], 1, 300)
    [row] = [line for line in report(made) if line.startswith("failed\t")]
    assert "Max relative difference" in row and "0.33" in row, row


def test_portions_hold_every_test_once(made):
    sizes = {"a.py": 2000, "b.py": 3, "c.py": 4, "tensor/d.py": 5}
    tests = {file: [f"{file}::test[{number}]" for number in range(size)] for file, size in sizes.items()}
    portions = made.portions(tests)
    held = [(file, index, count) for _, files, index, count, _ in portions for file in files]
    assert sorted(held) == [*(("a.py", index, 4) for index in range(4)), ("b.py", 0, 1), ("c.py", 0, 1), ("tensor/d.py", 0, 1)]
    assert [size for size, *_ in portions] == sorted((size for size, *_ in portions), reverse=True)
