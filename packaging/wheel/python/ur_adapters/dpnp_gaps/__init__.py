"""dpnp on CUDA and HIP devices, without a change to its files.

dpnp calls oneMKL for some work, and oneMKL's packages have nothing for these devices: a second product ends the process, random
numbers are uninitialised memory. Here the names under which dpnp's modules know oneMKL's functions are bound to others, which look at
the queue first: on a CPU or a Level Zero device oneMKL is called as before. Sums and elementwise functions are dpnp's own and right; they
are bound to others where what comes before their kernels takes longer than these.

UR_ADAPTERS_DPNP says what is done where dpnp has no kernel of its own: `host` (NumPy computes it; a warning says so once), `raise`
(NotImplementedError), `off` (nothing here is done).
"""

import importlib
import warnings
from types import SimpleNamespace

from . import host

# Without the last two dpnp is slower, and right.
_PARTS = ("vector_math", "products", "fourier", "linear_algebra", "random_numbers", "elementwise", "sums")
_FOR_SPEED = _PARTS[-2:]


def close():
    """Binds the names. dpnp must have been imported."""
    if host.MODE == "off":
        return
    for part in _PARTS:
        try:
            importlib.import_module(f"{__name__}.{part}").close()
        except (ImportError, AttributeError) as error:
            if part in _FOR_SPEED:
                continue
            subject = part.replace("_", " ")
            warnings.warn(
                f"this dpnp is not known to ur_adapters ({error}); {subject} may fail on CUDA devices", RuntimeWarning, 2
            )


def rebind(module, name, **functions):
    """Replaces functions of the extension that `module` calls `name`: each is given the original and makes the new one. Where one of
    them is missing, it raises AttributeError and has replaced none."""
    user = importlib.import_module(module)
    extension = getattr(user, name)
    members = {member: getattr(extension, member) for member in dir(extension) if not member.startswith("__")}
    for function, make in functions.items():
        members[function] = make(getattr(extension, function))
    setattr(user, name, SimpleNamespace(**members))


def on_gpu(replacement):
    """For `rebind`: the replacement for queues of these devices, the original for all others. The queue is the first argument."""

    def make(original):
        def call(queue, *arguments, **named):
            chosen = replacement if host.is_gpu(queue) else original
            return chosen(queue, *arguments, **named)

        return call

    return make
