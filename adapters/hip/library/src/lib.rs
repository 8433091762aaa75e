//! The HIP adapter as a static library: for each release of oneAPI the exported getters over that release's table and the
//! project's own functions, nothing else. A shared library is linked from it for one release (`adapters/link.sh`), which drops
//! what only the others reach.

/// What the library of oneAPI 2026.1 exports.
pub mod v2026_1 {
    ur_adapter::export_getters!(v2026_1, ur_adapter_hip::table_v2026_1());
    ur_adapter::export_extensions!(v2026_1, ur_adapter_hip::table_v2026_1(), ur_adapter_hip::extensions());
}

/// What the library of oneAPI 2026.2 exports.
pub mod v2026_2 {
    ur_adapter::export_getters!(v2026_2, ur_adapter_hip::table_v2026_2());
    ur_adapter::export_extensions!(v2026_2, ur_adapter_hip::table_v2026_2(), ur_adapter_hip::extensions());
}
