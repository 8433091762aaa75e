"""What the user wants done where dpnp has no kernel of its own. It stands outside `dpnp_gaps`, whose modules need dpctl."""

import os


def chosen():
    """The value of UR_ADAPTERS_DPNP, `host` unless set to something."""
    mode = os.environ.get("UR_ADAPTERS_DPNP", "").strip().lower() or "host"
    if mode not in ("host", "raise", "off"):
        raise ValueError(f"UR_ADAPTERS_DPNP is {mode!r}; it can be 'host', 'raise' or 'off'")
    return mode
