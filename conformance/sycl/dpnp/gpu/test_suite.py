"""What `suite.py` counts when tests crash, fail, lose the device or cannot be collected, and when the time is up. `cargo xtask dpnp` runs
it; it needs neither dpnp nor a device.
"""

import gzip
import os
import pathlib
import sys

import pytest
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
        def test_same():
            pass
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
    known = {"dpnp/test_many.py::test_it[7]"}
    return suite.Suite(sys.executable, environment, tmp_path / "dpnp/tests", tmp_path / "work", known.__contains__)


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
    assert "known failed\ttest_many.py::test_it[7]\tassert 7 != 7" in lines
    assert any(line.startswith("ruined failed\ttensor/test_fft.py::test_loses\t") for line in lines)
    assert sum(line.startswith("crashed\ttest_many.py::test_it[") for line in lines) == 2
    assert "passed\ttensor/test_fft.py::test_next" in lines


def test_one_of_some_is_one_of_each_file(made):
    assert made.run(["test_many.py", "test_fft.py"], 500, 300)
    assert report(made)[0].startswith("all: 4 passed, 0 skipped, 0 failed, 0 crashed, 0 not run")


def test_what_had_no_time_is_named(made):
    made.work.mkdir()
    tests, broken = made.collect(["test_fft.py", "tensor/test_fft.py"], {})
    made.deadline = 0
    made.drain(made.portions(tests), lambda portion: made.portion(portion, {}))
    assert not made.report(tests, broken, 0)
    lines = report(made)
    assert lines[0].startswith("all: 0 passed, 0 skipped, 0 failed, 0 crashed, 4 not run"), lines[0]
    assert "not run\ttensor/test_fft.py::test_next" in lines


def test_portions_hold_every_test_once(made):
    sizes = {"a.py": 2000, "b.py": 3, "c.py": 4, "tensor/d.py": 5}
    tests = {file: [f"{file}::test[{number}]" for number in range(size)] for file, size in sizes.items()}
    portions = made.portions(tests)
    held = [(file, index, count) for _, files, index, count in portions for file in files]
    assert sorted(held) == [("a.py", 0, 3), ("a.py", 1, 3), ("a.py", 2, 3), ("b.py", 0, 1), ("c.py", 0, 1), ("tensor/d.py", 0, 1)]
    assert [size for size, *_ in portions] == sorted((size for size, *_ in portions), reverse=True)
