"""How much freed memory the adapters keep in a Python process. Whoever has set a variable has chosen; must be called before libsycl is
loaded, since the adapters read it once."""

import os


def keep():
    """As much as is in use, where the adapters by themselves keep an eighth of that. An operation on arrays gives a new array as large as
    its own, mostly in place of one that was just freed, and a way by the driver waits for the device and takes longer than the operation.
    """
    os.environ.setdefault("UR_USM_POOL_KEEP_SHARE", "1")
