"""CUDA and HIP devices for a stock SYCL runtime.

The adapters themselves lie beside libsycl, which finds them. Importing this package adds what Python programs need on such
devices: kernels that come as SPIR-V (`images`), memory kept for the next array (`memory`), and dpnp where oneMKL has nothing for
them (`dpnp_gaps`). It must be imported before what loads libsycl. `ur_adapters.pth` sees to that: it puts a finder before the others
that imports this package when dpctl, dpnp or another such package is first imported, unless UR_ADAPTERS_HOOK=0 is set. It runs at
every start of the interpreter, so it is one line that imports nothing.

    python -m ur_adapters        shows where the libraries lie and what would be used
"""

import sys

from . import images, memory

_patched = False
_looking = False


def before_import(name):
    """Called before a package that loads libsycl is looked for. For dpnp, answers a spec whose import is followed by ours."""
    global _looking
    if name != "dpnp" or _looking:
        return None
    from importlib.util import find_spec

    _looking = True
    try:
        spec = find_spec(name)
    finally:
        _looking = False
    if spec is None or spec.loader is None:
        return None
    execute = spec.loader.exec_module

    def exec_module(module):
        execute(module)
        after_dpnp()

    spec.loader.exec_module = exec_module
    return spec


def after_dpnp():
    """Closes dpnp's gaps, once. dpnp has been imported."""
    global _patched
    if not _patched:
        from . import dpnp_gaps

        dpnp_gaps.close()
        _patched = True


class _Finder:
    """What stands in `ur_adapters.pth`, for an interpreter that did not read it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return before_import(name)


images.load()
memory.keep()
if "dpnp" in sys.modules and hasattr(sys.modules["dpnp"], "linalg"):
    after_dpnp()
elif not any(type(finder).__name__ == __name__ for finder in sys.meta_path):
    sys.meta_path.insert(0, _Finder)
