"""How much freed memory the adapters keep in a Python process. Whoever has set a variable has chosen; must be called before libsycl is
loaded, since the adapters read it once."""

import os
import sys

_KEPT = "UR_USM_POOL_KEEP_BYTES"


def keep():
    """All of it, as CuPy and PyTorch do, where the adapters by themselves keep little beside what is in use. An operation on arrays
    gives a new array as large as its own, and while the device is at one the host goes on to the next: as many arrays as there are
    operations under way are freed and asked for again and again, and a way by the driver waits for the device and takes as long as an
    operation. What is kept goes back as soon as an allocation of this process finds no memory.
    """
    if not {_KEPT, "UR_USM_POOL_KEEP_SHARE"} & os.environ.keys():
        os.environ[_KEPT] = str(sys.maxsize)
