//! `ur_ddi.h`: the tables of entry points of one release and the functions that fill them.

use std::fmt::Write;

use crate::emit::c;
use crate::model::{Model, Release, Table};
use crate::names;
use crate::output::Output;

/// One header per release.
pub fn emit(model: &Model) -> Vec<Output> {
    model.releases.iter().map(|release| header(model, release)).collect()
}

fn header(model: &Model, release: &Release) -> Output {
    let mut out = String::new();
    for table in &release.tables {
        out.push_str(&c::section(&format!("{} functions", table.field)));
        entry_points(&mut out, release, table);
        table_type(&mut out, table, &format!("Entry points in field `{}` of `ur_dditable_t`.", table.field));
        getter(&mut out, table);
    }
    root(&mut out, release);
    let path = format!("{}/ur_ddi.h", c::folder(model, release));
    let purpose = format!(
        "The tables through which a loader calls adapters, as oneAPI {} lays them out. The first word of each \
         object that a handle points to is the address of a `ur_dditable_t`.",
        release.name
    );
    c::header(&path, &purpose, &["\"ur_api.h\""], &out)
}

/// The type of each function of a table.
pub fn entry_points(out: &mut String, release: &Release, table: &Table) {
    for slot in &table.slots {
        let Some(function) = release.function(&slot.function) else { continue };
        let _ = write!(
            out,
            "/// Points to `{0}`.\ntypedef ur_result_t(UR_APICALL *{1}){2};\n\n",
            function.name,
            names::pfn_type(&function.name),
            c::plain_params(&function.params)
        );
    }
}

/// The table's own type.
pub fn table_type(out: &mut String, table: &Table, doc: &str) {
    out.push_str(&c::doc("", doc));
    let _ = writeln!(out, "typedef struct {} {{", table.name);
    for slot in &table.slots {
        let _ = writeln!(out, "    {} {};", names::pfn_type(&slot.function), slot.field);
    }
    let _ = write!(out, "}} {};\n\n", table.name);
}

fn getter(out: &mut String, table: &Table) {
    let function = names::getter(&table.field);
    let _ = write!(
        out,
        "/// Fills `{0}` for a caller built against `version`.\nUR_DLLEXPORT ur_result_t UR_APICALL {function}(\n    ur_api_version_t version,\n    {0} *pDdiTable\n);\n\n/// Points to `{function}`.\ntypedef ur_result_t(UR_APICALL *{1})(ur_api_version_t version, {0} *pDdiTable);\n\n",
        table.name,
        names::pfn_type(&function)
    );
}

fn root(out: &mut String, release: &Release) {
    out.push_str(&c::section("All tables"));
    out.push_str("/// Every entry point of an adapter.\ntypedef struct ur_dditable_t {\n");
    for table in &release.tables {
        let _ = writeln!(out, "    {} {};", table.name, table.field);
    }
    out.push_str("} ur_dditable_t;\n\n");
}
