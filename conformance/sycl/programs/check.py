"""What the Python programs share: one function that runs a program and judges it and says what is mapped, as check.hpp does for C++."""

import sys
import traceback


class Skipped(Exception):
    """This machine lacks what the program is about."""


def program(name, body):
    """Runs body and ends the process: 0 and "ok NAME", 77 and why it was skipped, or 1 and what went wrong."""
    try:
        body()
    except Skipped as reason:
        print(f"skipped {name}: {reason}", flush=True)
        sys.exit(77)
    except Exception as error:  # whatever it is, it is the program's result
        traceback.print_exc()
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
        sys.exit(1)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for path in sorted({line.split()[-1] for line in maps if "/libur_" in line}):
            print(f"mapped: {path}")
    print(f"ok {name}", flush=True)


def gpus():
    """The GPUs that dpctl lists."""
    import dpctl

    found = dpctl.get_devices(backend="cuda", device_type="gpu")
    if not found:
        raise AssertionError("dpctl lists no CUDA device")
    return found
