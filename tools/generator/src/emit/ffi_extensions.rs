//! Bindings: the project's own tables, which are the same in every release, and where each function is in them.

use std::fmt::Write;

use crate::emit::{ffi_metadata, ffi_tables, rust};
use crate::model::Release;
use crate::names::{EXTENSION_GETTER, pfn_type};

/// The content of `extensions.rs`; none where no file has a table.
pub fn emit(union: &Release) -> Option<String> {
    if union.extensions.is_empty() {
        return None;
    }
    let mut out = String::from(
        "use core::ffi::CStr;\nuse core::mem::offset_of;\n\nuse super::*;\nuse crate::value::{FunctionInfo, SlotInfo};\n\n",
    );
    for extension in &union.extensions {
        let doc =
            format!("The entry points of the extension table `{}`; new ones are added at its end.", extension.name);
        out.push_str(&ffi_tables::table(&extension.table, &doc));
    }
    let _ = write!(
        out,
        "/// Points to `{EXTENSION_GETTER}`, which fills the extension table of a name.\npub type {} = Option<unsafe extern \"C\" fn(version: ur_api_version_t, pName: *const core::ffi::c_char, size: usize, pTable: *mut core::ffi::c_void) -> ur_result_t>;\n\n",
        pfn_type(EXTENSION_GETTER)
    );
    out.push_str("/// Every extension table of this project.\n#[derive(Clone, Copy, Debug, Default)]\npub struct ExtensionTables {\n");
    for extension in &union.extensions {
        let _ = writeln!(
            out,
            "    /// `{}`.\n    pub {}: {},",
            extension.name, extension.table.field, extension.table.name
        );
    }
    out.push_str("}\n\n/// The name of each extension table, its offset in [`ExtensionTables`] and its size in bytes.\npub static EXTENSION_TABLES: &[(&CStr, usize, usize)] = &[\n");
    for extension in &union.extensions {
        let table = &extension.table;
        let _ = writeln!(
            out,
            "    (c{}, offset_of!(ExtensionTables, {}), size_of::<{}>()),",
            rust::literal(&extension.name),
            table.field,
            table.name
        );
    }
    out.push_str("];\n\n/// Every function of the extension tables, with its place in [`ExtensionTables`].\npub static EXTENSION_FUNCTIONS: &[FunctionInfo] = ");
    out.push_str(&ffi_metadata::functions(union.extension_functions(), "ExtensionTables"));
    Some(out)
}
