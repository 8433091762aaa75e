"""Says where the libraries lie and what would be used."""

from . import dpnp_mode, images, nvidia

print(f"images:  {images.library() or 'not found'}")
print(f"nvvm:    {nvidia.nvvm() or 'no package (a CUDA toolkit has it, too; else pip install ur_adapters[spirv])'}")
print(f"cublas:  {nvidia.cublas() or 'not found (dpnp multiplies with kernels of its own)'}")
print(f"dpnp:    {dpnp_mode.chosen()} (UR_ADAPTERS_DPNP)")
