//! Bindings: what is a release's own. One module per release has its tables, one more has room for every function of any
//! release, and the module above them tells what a release's numbers mean in the bindings.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::emit::{ffi_metadata, ffi_structs, ffi_tables, rust};
use crate::model::{Enum, Enumerator, Model, Release, Table};
use crate::names;
use crate::output::Output;

const IMPORTS: &str = "use core::mem::offset_of;\n\nuse super::Release;\nuse super::super::*;\nuse crate::value::{FunctionInfo, SlotInfo};\n\n";

const ROOT: &str = "Every entry point of an adapter. The first word of each object that a handle points to is the \
    address of one.";

const ANY_ROOT: &str = "A place for every function of any release and of the project's own tables, for programs that look \
    functions up by name. No library has such a table: its layout is none of the API's.";

/// `mod.rs`, `any.rs` and one file per release, in this folder.
pub fn emit(model: &Model, folder: &str) -> Vec<Output> {
    let mut outputs = vec![module(model, folder), any(model, folder)];
    outputs.extend(model.releases.iter().map(|release| own(model, release, folder)));
    outputs
}

fn module(model: &Model, folder: &str) -> Output {
    let mut out = String::from("use super::*;\nuse crate::value::FunctionInfo;\n\npub mod any;\n");
    for release in &model.releases {
        let _ = writeln!(out, "pub mod {};", names::release_module(&release.name));
    }
    out.push('\n');
    release_type(&mut out, model);
    for item in &model.union.enums {
        if item.flags {
            masks(&mut out, model, item);
        } else if item.is_info() {
            numbers(&mut out, model, item);
        }
    }
    let purpose =
        "The releases of the API, and what the numbers of each mean where they are not those of the bindings.";
    rust::file(&format!("{folder}/mod.rs"), purpose, &[], &out)
}

fn release_type(out: &mut String, model: &Model) {
    out.push_str("/// A release of the API, oldest first.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum Release {\n");
    for release in &model.releases {
        let _ = write!(out, "    /// oneAPI {}.\n    {},\n", release.name, names::release_variant(&release.name));
    }
    out.push_str("}\n\nimpl Release {\n    /// Every release, oldest first.\n    pub const ALL: &[Self] = &[");
    let variants: Vec<String> =
        model.releases.iter().map(|release| format!("Self::{}", names::release_variant(&release.name))).collect();
    let _ = writeln!(out, "{}];\n", variants.join(", "));
    let _ = writeln!(
        out,
        "    /// The newest release.\n    pub const NEWEST: Self = Self::{};\n",
        names::release_variant(&model.newest().name)
    );
    let mut method = |doc: &str, signature: &str, value: &dyn Fn(&Release) -> String| {
        let _ = write!(out, "    /// {doc}\n    #[must_use]\n    pub const fn {signature} {{\n        match self {{\n");
        for release in &model.releases {
            let _ = writeln!(out, "            Self::{} => {},", names::release_variant(&release.name), value(release));
        }
        out.push_str("        }\n    }\n\n");
    };
    method("The name, as users know it.", "name(self) -> &'static str", &|release| rust::literal(&release.name));
    method("The API's version, major and minor.", "version(self) -> (u32, u32)", &|release| {
        format!("({}, {})", release.version.0, release.version.1)
    });
    method(
        "Every function of the release, with its place in the release's `ur_dditable_t`.",
        "functions(self) -> &'static [FunctionInfo]",
        &|release| format!("{}::FUNCTIONS", names::release_module(&release.name)),
    );
    out.truncate(out.trim_end().len());
    out.push_str("\n}\n\n/// The `ur_dditable_t` of a release.\npub trait DdiTable: Copy + 'static {\n    /// The release.\n    const RELEASE: Release;\n}\n\n");
}

/// The same enumeration in a release, if it has it.
fn of<'r>(release: &'r Release, item: &Enum) -> Option<&'r Enum> {
    release.enums.iter().find(|own| own.name == item.name)
}

/// The mask of a flag set whose bits differ between releases.
fn masks(out: &mut String, model: &Model, item: &Enum) {
    if !item.mask_by_release {
        return;
    }
    let _ = write!(
        out,
        "impl {} {{\n    /// All bits that mean nothing in a release.\n    #[must_use]\n    pub const fn mask(release: Release) -> u32 {{\n        match release {{\n",
        names::flags_typedef(&item.name)
    );
    for release in &model.releases {
        let mask = of(release, item).map_or(!0, Enum::mask);
        let _ = writeln!(out, "            Release::{} => {mask:#010x},", names::release_variant(&release.name));
    }
    out.push_str("        }\n    }\n}\n\n");
}

/// The way between a release's numbers and those of the bindings, for an enumeration of queries that are not the same in
/// every release.
fn numbers(out: &mut String, model: &Model, item: &Enum) {
    let differs = |release: &&Release| !absent(release, item).is_empty() || !moved(release, item).is_empty();
    if !model.releases.iter().any(|release| differs(&release)) {
        return;
    }
    let name = &item.name;
    let _ = write!(
        out,
        "impl {name} {{\n    /// The number that a release has for this value; `None` if the release does not have it.\n    #[must_use]\n    pub const fn in_release(self, release: Release) -> Option<Self> {{\n        match release {{\n"
    );
    arms(out, model, |release| {
        let absent = absent(release, item).into_iter().map(|value| (constant(item, value), "None".to_owned()));
        let moved = moved(release, item).into_iter();
        let moved = moved.map(|(value, number)| (constant(item, value), format!("Some(Self({number}))")));
        absent.chain(moved).collect()
    });
    out.push_str("        }\n    }\n\n    /// What a number means in a release; `None` if another release has it and this one does not.\n    #[must_use]\n    pub const fn of_release(self, release: Release) -> Option<Self> {\n        match release {\n");
    arms(out, model, |release| {
        let moved = moved(release, item);
        let taken: BTreeSet<u32> = moved.iter().map(|(_, number)| *number).collect();
        let gone = absent(release, item).into_iter().chain(moved.iter().map(|(value, _)| *value));
        let gone = gone.filter(|value| !taken.contains(&value.value));
        let meant =
            moved.iter().map(|(value, number)| (format!("Self({number})"), format!("Some({})", constant(item, value))));
        meant.chain(gone.map(|value| (constant(item, value), "None".to_owned()))).collect()
    });
    out.push_str("        }\n    }\n}\n\n");
}

fn constant(item: &Enum, value: &Enumerator) -> String {
    format!("Self::{}", names::constant(&item.name, &value.name))
}

/// One arm per release: what is not itself, then the rest.
fn arms(out: &mut String, model: &Model, pairs: impl Fn(&Release) -> Vec<(String, String)>) {
    for release in &model.releases {
        let variant = names::release_variant(&release.name);
        let pairs = pairs(release);
        if pairs.is_empty() {
            let _ = writeln!(out, "            Release::{variant} => Some(self),");
            continue;
        }
        let _ = writeln!(out, "            Release::{variant} => match self {{");
        for (pattern, value) in pairs {
            let _ = writeln!(out, "                {pattern} => {value},");
        }
        out.push_str("                _ => Some(self),\n            },\n");
    }
}

/// The values that a release does not have.
fn absent<'u>(release: &Release, item: &'u Enum) -> Vec<&'u Enumerator> {
    let own = |value: &Enumerator| of(release, item).is_some_and(|e| e.values.iter().any(|v| v.name == value.name));
    item.distinct().filter(|value| !own(value)).collect()
}

/// The values that have another number in a release, with that number.
fn moved<'u>(release: &Release, item: &'u Enum) -> Vec<(&'u Enumerator, u32)> {
    let own = |value: &Enumerator| of(release, item)?.values.iter().find(|v| v.name == value.name).map(|v| v.value);
    item.distinct().filter_map(|value| Some((value, own(value).filter(|number| *number != value.value)?))).collect()
}

fn any(model: &Model, folder: &str) -> Output {
    let mut out = String::from(
        "use core::mem::offset_of;\n\nuse super::super::*;\nuse crate::value::{FunctionInfo, SlotInfo};\n\n",
    );
    for table in model.union.tables.iter().filter(|table| !ffi_tables::is_shared(model, table)) {
        out.push_str(&ffi_tables::vendor_table(table));
    }
    let union = &model.union;
    let tables = union.tables.iter().chain(union.extensions.iter().map(|extension| &extension.table));
    out.push_str(&ffi_tables::root(tables, "AllFunctions", ANY_ROOT));
    out.push_str("/// Every function of any release, in the headers' order, with its place in [`AllFunctions`].\npub static FUNCTIONS: &[FunctionInfo] = ");
    out.push_str(&ffi_metadata::functions(union.functions.iter(), "AllFunctions"));
    rust::file(&format!("{folder}/any.rs"), "Every function of any release, and the project's own.", &[], &out)
}

fn own(model: &Model, release: &Release, folder: &str) -> Output {
    let module = names::release_module(&release.name);
    let mut out = String::from(IMPORTS);
    let (shared, own): (Vec<&Table>, Vec<&Table>) =
        release.tables.iter().partition(|table| ffi_tables::is_shared(model, table));
    out.push_str("pub use super::super::{\n");
    for table in &shared {
        let _ = writeln!(out, "    {},", table.name);
    }
    out.push_str("};\n\n");
    for table in &own {
        out.push_str(&ffi_tables::vendor_table(table));
        out.push_str(&ffi_tables::getter(table));
    }
    out.push_str(&ffi_tables::root(release.tables.iter(), "ur_dditable_t", ROOT));
    let variant = names::release_variant(&release.name);
    let _ = write!(
        out,
        "impl super::DdiTable for ur_dditable_t {{\n    const RELEASE: Release = Release::{variant};\n}}\n\n/// Every function of the release, in the headers' order.\npub static FUNCTIONS: &[FunctionInfo] = "
    );
    out.push_str(&ffi_metadata::functions(release.vendor_functions(), "ur_dditable_t"));
    out.push('\n');
    for table in &own {
        out.push_str("#[cfg(target_pointer_width = \"64\")]\n");
        out.push_str(&ffi_structs::table_proof(table));
    }
    out.push_str("#[cfg(target_pointer_width = \"64\")]\n");
    out.push_str(&ffi_structs::root_proof(release));
    let purpose = format!("The tables of oneAPI {}, and its functions.", release.name);
    rust::file(&format!("{folder}/{module}.rs"), &purpose, &[], &out)
}
