//! `ur_api.h`: the types and functions of one release, valid in C99 and C++17 without any other header. What belongs to a
//! table of the project's own is in `ur_ext.h` ([`super::c_ext`]), which declares it the same way.

use std::fmt::Write;

use crate::emit::c;
use crate::model::{Callback, Enum, Enumerator, Field, Function, Kind, Model, Release, Struct};
use crate::names;
use crate::output::Output;
use crate::project;

/// One header per release.
pub fn emit(model: &Model) -> Vec<Output> {
    model.releases.iter().map(|release| header(model, release)).collect()
}

fn header(model: &Model, release: &Release) -> Output {
    let elsewhere = project::files_with_table(model);
    let part = project::part(release, |file| !elsewhere.contains(file));
    let mut out = c::section("Macros");
    out.push_str(LINKAGE);
    if !elsewhere.is_empty() {
        let _ = write!(
            out,
            "/// Says that the enumerations here have the values that `ur_ext.h` needs.\n#define {}\n\n",
            names::EXTENSION_MARK
        );
    }
    declarations(&mut out, &part);
    let path = format!("{}/ur_api.h", c::folder(model, release));
    let purpose = format!(
        "The Unified Runtime's API as oneAPI {} has it: types and functions. Structures keep their layout \
         within a release; `ur_ddi.h` has the tables of entry points.",
        release.name
    );
    c::header(&path, &purpose, &["<stdbool.h>", "<stddef.h>", "<stdint.h>"], &out)
}

const LINKAGE: &str = "\
/// How an entry point is called.
#if !defined(UR_APICALL)
#if defined(_WIN32)
#define UR_APICALL __cdecl
#else
#define UR_APICALL
#endif
#endif

/// How a library that defines the API makes a function visible.
#if !defined(UR_DLLEXPORT)
#if defined(_WIN32)
#define UR_DLLEXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define UR_DLLEXPORT __attribute__((visibility(\"default\")))
#else
#define UR_DLLEXPORT
#endif
#endif

/// How a caller sees an entry point.
#if !defined(UR_APIEXPORT)
#if defined(_WIN32)
#define UR_APIEXPORT __declspec(dllimport)
#else
#define UR_APIEXPORT UR_DLLEXPORT
#endif
#endif

/// A number with one bit set.
#define UR_BIT(_i) (1u << (_i))

/// A version's number, its parts, and the way back.
#define UR_MAKE_VERSION(_major, _minor) (((_major) << 16) | ((_minor) & 0x0000ffff))
#define UR_MAJOR_VERSION(_version) ((_version) >> 16)
#define UR_MINOR_VERSION(_version) ((_version) & 0x0000ffff)

";

/// Everything that a release, or a part of one, declares.
pub fn declarations(out: &mut String, release: &Release) {
    for define in &release.defines {
        out.push_str(&c::doc("", &define.doc));
        let _ = write!(out, "#define {} {:?}\n\n", define.name, define.value);
    }
    section(out, "Handles", &release.handles, |out, handle| {
        out.push_str(&c::doc("", &handle.doc));
        let _ = write!(out, "typedef struct {0}_ *{0};\n\n", handle.name);
    });
    section(out, "Names of other types", &release.typedefs, |out, typedef| {
        out.push_str(&c::doc("", &typedef.doc));
        let _ = write!(out, "typedef {};\n\n", typedef.ty.declare(&typedef.name));
    });
    section(out, "Enumerations and flags", &release.enums, enumeration);
    if !release.structs.is_empty() || !release.unions.is_empty() {
        declarations_of_structs(out, release);
    }
    section(out, "Callbacks", &release.callbacks, callback);
    section(out, "Structures and unions", &by_dependency(release), |out, (keyword, item)| {
        structure(out, keyword, item);
    });
    section(out, "Functions", &release.functions, function);
    let arguments = "Arguments of each function, for tracing and interception";
    section(out, arguments, &release.params_structs, |out, item| {
        out.push_str(&c::doc("", &item.doc));
        let _ = writeln!(out, "typedef struct {} {{", item.name);
        for field in &item.fields {
            let _ = writeln!(out, "    {};", field.ty.declare(&field.name));
        }
        let _ = write!(out, "}} {};\n\n", item.name);
    });
}

/// Declarations below their heading; nothing where there are none.
fn section<T>(out: &mut String, title: &str, items: &[T], declare: impl Fn(&mut String, &T)) {
    if !items.is_empty() {
        out.push_str(&c::section(title));
    }
    items.iter().for_each(|item| declare(out, item));
}

fn enumeration(out: &mut String, item: &Enum) {
    out.push_str(&c::doc("", &item.doc));
    let _ = writeln!(out, "typedef enum {} {{", item.name);
    for value in &item.values {
        enumerator(out, item, value);
    }
    let _ = writeln!(out, "    /// Makes the type 32 bits wide.");
    let last = names::widening_enumerator(&item.name);
    let _ = write!(out, "    {last} = 0x7fffffff\n}} {};\n\n", item.name);
    if item.flags {
        let flags = names::flags_typedef(&item.name);
        let _ = writeln!(out, "/// A set of `{}`.\ntypedef uint32_t {flags};", item.name);
        let mask = names::flags_mask(&item.name);
        let _ = write!(out, "/// All bits that mean nothing in `{flags}`.\n#define {mask} {:#010x}\n\n", item.mask());
    }
}

fn enumerator(out: &mut String, item: &Enum, value: &Enumerator) {
    let mut text = String::new();
    if let Some(ty) = &value.value_type {
        let _ = write!(text, "[{ty}]");
    }
    if value.optional {
        text.push_str("[optional-query]");
    }
    if value.deprecated {
        text.push_str("[deprecated]");
    }
    let space = if text.is_empty() { "" } else { " " };
    out.push_str(&c::doc("    ", &format!("{text}{space}{}", value.doc)));
    let number = match value.value {
        bit if item.flags => format!("UR_BIT({})", bit.trailing_zeros()),
        large if large >= 0x1000 => format!("{large:#x}"),
        small => small.to_string(),
    };
    let _ = writeln!(out, "    {} = {number},", value.name);
}

fn declarations_of_structs(out: &mut String, release: &Release) {
    out.push_str(&c::section("Structures and unions, named ahead of their use"));
    for item in &release.structs {
        let _ = writeln!(out, "typedef struct {0} {0};", item.name);
    }
    for item in &release.unions {
        let _ = writeln!(out, "typedef union {0} {0};", item.name);
    }
    out.push('\n');
}

fn callback(out: &mut String, item: &Callback) {
    out.push_str(&c::doc("", &item.doc));
    let _ = write!(out, "typedef {} (*{}){};\n\n", item.returns, item.name, c::plain_params(&item.params));
}

/// Structures and unions such that whatever one holds by value comes before it.
fn by_dependency(release: &Release) -> Vec<(&'static str, &Struct)> {
    let mut placed = Vec::new();
    for item in &release.unions {
        place(release, "union", item, &mut placed);
    }
    for item in &release.structs {
        place(release, "struct", item, &mut placed);
    }
    placed
}

fn place<'m>(
    release: &'m Release,
    keyword: &'static str,
    item: &'m Struct,
    placed: &mut Vec<(&'static str, &'m Struct)>,
) {
    if placed.iter().any(|(_, known)| known.name == item.name) {
        return;
    }
    for field in item.fields.iter().filter(|field| !field.ty.is_pointer()) {
        let named = |list: &'m [Struct]| list.iter().find(|other| other.name == field.ty.base);
        match release.kind(&field.ty.base) {
            Some(Kind::Struct) => {
                if let Some(other) = named(&release.structs) {
                    place(release, "struct", other, placed);
                }
            }
            Some(Kind::Union) => {
                if let Some(other) = named(&release.unions) {
                    place(release, "union", other, placed);
                }
            }
            _ => {}
        }
    }
    placed.push((keyword, item));
}

fn structure(out: &mut String, keyword: &str, item: &Struct) {
    out.push_str(&c::doc("", &item.doc));
    let _ = writeln!(out, "{keyword} {} {{", item.name);
    for field in &item.fields {
        out.push_str(&c::doc("    ", &field_doc(field)));
        let _ = writeln!(out, "    {};", field.ty.declare(&field.name));
    }
    out.push_str("};\n\n");
}

fn field_doc(field: &Field) -> String {
    let tags: String = field.tags.iter().map(|tag| format!("[{tag}]")).collect();
    format!("{tags} {}", field.doc)
}

fn function(out: &mut String, item: &Function) {
    out.push_str(&c::doc("", &item.doc));
    if let Some(blocks) = &item.blocks {
        out.push_str("///\n");
        out.push_str(&c::doc("", &format!("Blocks: {}", blocks.text)));
    }
    out.push_str("///\n");
    for error in &item.errors {
        let conditions: Vec<String> = error.texts().collect();
        if conditions.is_empty() {
            let _ = writeln!(out, "/// - `{}`", error.code);
        } else {
            let _ = writeln!(out, "/// - `{}`: {}", error.code, conditions.join(", "));
        }
    }
    let _ = write!(out, "UR_APIEXPORT ur_result_t UR_APICALL {}{};\n\n", item.name, c::params(&item.params));
}
