"""How much freed memory the adapters keep in a Python process, and how they are made to give it back."""

import contextlib
import os
import sys

_KEPT = "UR_USM_POOL_KEEP_BYTES"


def keep():
    """All of it, as CuPy and PyTorch do, where the adapters by themselves keep little beside what is in use. An operation on arrays
    gives a new array as large as its own, and while the device is at one the host goes on to the next: as many arrays as there are
    operations under way are freed and asked for again and again, and a way by the driver waits for the device and takes as long as an
    operation. What is kept goes back as soon as an allocation of the adapters' finds no memory, and by `give_back`.

    Whoever has set a variable has chosen. Must be called before libsycl is loaded, since the adapters read them once.
    """
    if not {_KEPT, "UR_USM_POOL_KEEP_SHARE"} & os.environ.keys():
        os.environ[_KEPT] = str(sys.maxsize)


def give_back(queue):
    """Gives what is kept on the queue's device back to its driver, for other libraries of this process and for other processes. It waits
    for the device. An allocation that finds no memory makes the adapters do so, hence one that cannot: all that the device has.
    """
    from dpctl.memory import MemoryUSMDevice

    # dpctl's errors have no class in common.
    with contextlib.suppress(Exception):
        MemoryUSMDevice(queue.sycl_device.global_mem_size, queue=queue)
