"""Says where the libraries lie and what would be used."""

from . import images
from .dpnp_gaps import cublas, host

print(f"images:  {images.library() or 'not found'}")
print(f"nvvm:    {images.nvvm() or 'not found (pip install ur_adapters[spirv])'}")
print(f"cublas:  {cublas.library() or 'not found (dpnp multiplies with kernels of its own)'}")
print(f"dpnp:    {host.MODE} (UR_ADAPTERS_DPNP)")
