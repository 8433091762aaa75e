//! The CUDA adapter of oneAPI 2026.1 as a shared library: the exported getters over that release's table, the project's own
//! functions, nothing else.

ur_adapter::export_getters!(v2026_1, ur_adapter_cuda::table_v2026_1());
ur_adapter::export_extensions!(v2026_1, ur_adapter_cuda::table_v2026_1(), ur_adapter_cuda::extensions());
