//! `ur_ext.h`: types, functions and tables of the project's own. It includes `ur_api.h` and is the same for whoever calls
//! the loader, an adapter or a table. The vendor's own `ur_api.h` will do as well, for programs on the vendor's loader.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::emit::{c, c_api, c_ddi};
use crate::model::{Model, Release};
use crate::names::{EXTENSION_GETTER, EXTENSION_MARK, EXTENSION_VERSION, pfn_type};
use crate::output::Output;
use crate::project;

const GETTER: &str = "Fills the extension table of that name for a caller built against `version` of the API, whose table has \
    `size` bytes: entries that the callee does not have are set to null, entries beyond `size` are left out. An adapter and \
    the loader export it.";

/// One header per release; none where no file has a table.
pub fn emit(model: &Model) -> Vec<Output> {
    let releases = model.releases.iter().filter(|release| !release.extensions.is_empty());
    releases.map(|release| header(model, release)).collect()
}

fn header(model: &Model, release: &Release) -> Output {
    let own = project::files_with_table(model);
    let part = project::part(release, |file| own.contains(file));
    let mut out = String::new();
    values(&mut out, release, &own);
    c_api::declarations(&mut out, &part);
    for extension in &part.extensions {
        out.push_str(&c::section(&format!("The table `{}`", extension.name)));
        c_ddi::entry_points(&mut out, release, &extension.table);
        let doc = format!("Entry points of the extension table `{}`; new ones are added at its end.", extension.name);
        c_ddi::table_type(&mut out, &extension.table, &doc);
    }
    getter(&mut out);
    let path = format!("{}/ur_ext.h", c::folder(model, release));
    let purpose = format!(
        "Extensions of this project's own. Its loader exports the functions under the symbol version {EXTENSION_VERSION}, and its \
         adapters export them too, for programs on another loader (`dlsym`); a handle of another adapter answers \
         UR_RESULT_ERROR_UNSUPPORTED_FEATURE. It goes with this project's `ur_api.h` and with the vendor's of oneAPI {}.",
        release.name
    );
    // The vendor's header takes `bool` for granted.
    c::header(&path, &purpose, &["<stdbool.h>", "\"ur_api.h\""], &out)
}

/// What the files in `own` add to the enumerations of `ur_api.h`, where that is the vendor's.
fn values(out: &mut String, release: &Release, own: &BTreeSet<String>) {
    let _ = writeln!(out, "{}#if !defined({EXTENSION_MARK})", c::section("Values of enumerations in `ur_api.h`"));
    for item in release.enums.iter().filter(|item| !own.contains(&item.file)) {
        for value in item.values.iter().filter(|value| own.contains(&value.file)) {
            out.push_str(&c::doc("", &value.doc));
            let _ = writeln!(out, "#define {} (({}){:#x})", value.name, item.name, value.value);
        }
    }
    out.push_str("#endif\n\n");
}

fn getter(out: &mut String) {
    out.push_str(&c::section("The getter of extension tables"));
    let parameters = "ur_api_version_t version, const char *pName, size_t size, void *pTable";
    out.push_str(&c::doc("", GETTER));
    let _ = write!(
        out,
        "///\n/// - `UR_RESULT_ERROR_INVALID_NULL_POINTER`: `NULL == pName`, `NULL == pTable`\n\
         /// - `UR_RESULT_ERROR_INVALID_SIZE`: `size` is 0 or no multiple of a pointer's size\n\
         /// - `UR_RESULT_ERROR_UNSUPPORTED_VERSION`\n\
         /// - `UR_RESULT_ERROR_UNSUPPORTED_FEATURE`: there is no table of that name\n\
         UR_DLLEXPORT ur_result_t UR_APICALL {EXTENSION_GETTER}({parameters});\n\n\
         /// Points to `{EXTENSION_GETTER}`.\ntypedef ur_result_t(UR_APICALL *{})({parameters});\n\n",
        pfn_type(EXTENSION_GETTER)
    );
}
