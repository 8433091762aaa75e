//! Bindings: what tools need to know at run time, such as the types behind queries and the list of functions.

use std::fmt::Write;

use crate::ctype::{Array, CType};
use crate::emit::rust;
use crate::model::{Enum, Function, Kind, Release};
use crate::names;

/// The content of `info.rs`.
pub fn info(union: &Release) -> String {
    let mut out = String::from("use super::*;\nuse crate::value::{Count, Element, ValueType};\n\n");
    for item in union.enums.iter().filter(|item| item.is_info()) {
        let _ = writeln!(out, "impl {} {{", item.name);
        out.push_str("    /// The type of the value that this query answers with.\n");
        out.push_str("    #[must_use]\n    pub fn value_type(self) -> Option<ValueType> {\n");
        out.push_str("        Some(match self {\n");
        for value in &item.values {
            let Some(ty) = &value.value_type else { continue };
            let constant = names::constant(&item.name, &value.name);
            let _ = writeln!(out, "            Self::{constant} => {},", value_type(union, ty));
        }
        out.push_str("            _ => return None,\n        })\n    }\n\n");
        optional_query(&mut out, item);
        out.push_str("}\n\n");
    }
    out
}

fn optional_query(out: &mut String, item: &Enum) {
    out.push_str("    /// Whether an adapter may answer that it does not know this query.\n");
    out.push_str("    #[must_use]\n    pub fn is_optional(self) -> bool {\n");
    out.push_str("        const OPTIONAL: &[u32] = &[\n");
    for value in item.values.iter().filter(|value| value.optional) {
        let _ = writeln!(out, "            {}::{}.0,", item.name, names::constant(&item.name, &value.name));
    }
    out.push_str("        ];\n        OPTIONAL.contains(&self.0)\n    }\n");
}

fn value_type(release: &Release, ty: &CType) -> String {
    let text = ty.base == "char" && ty.pointers == 0 && ty.array == Array::Open;
    let count = match ty.array {
        Array::None => "Count::One".to_owned(),
        Array::Fixed(n) => format!("Count::Fixed({n})"),
        Array::Open if text => "Count::Text".to_owned(),
        Array::Open => "Count::Many".to_owned(),
    };
    format!(
        "ValueType {{ c_name: {}, element: {}, count: {count} }}",
        rust::literal(&ty.to_string()),
        element(release, ty)
    )
}

fn element(release: &Release, ty: &CType) -> String {
    if ty.is_pointer() {
        return "Element::Pointer".to_owned();
    }
    let base = ty.base.as_str();
    match release.kind(base) {
        Some(Kind::Handle) => "Element::Handle".to_owned(),
        Some(Kind::Callback) => "Element::Pointer".to_owned(),
        Some(Kind::Enum) => format!("Element::Enum(|value| {base}(value).name())"),
        Some(Kind::Flag) => format!("Element::Flags({}::C_NAMES)", names::flags_typedef(base)),
        Some(Kind::Flags) => format!("Element::Flags({base}::C_NAMES)"),
        Some(Kind::Struct | Kind::Union) => {
            format!("Element::Struct {{ size: size_of::<{base}>() }}")
        }
        Some(Kind::Typedef) if base == "ur_bool_t" => "Element::Bool".to_owned(),
        Some(Kind::Typedef) => {
            let target = release.typedefs.iter().find(|typedef| typedef.name == base);
            target.map_or_else(|| "Element::Pointer".to_owned(), |t| element(release, &t.ty))
        }
        Some(Kind::Primitive) | None => primitive(base).to_owned(),
    }
}

fn primitive(base: &str) -> &'static str {
    match base {
        "bool" => "Element::Bool",
        "char" | "unsigned char" | "uint8_t" | "int8_t" => "Element::U8",
        "int" | "int32_t" => "Element::I32",
        "uint16_t" => "Element::U16",
        "float" => "Element::F32",
        "int64_t" => "Element::I64",
        "uint64_t" => "Element::U64",
        "size_t" | "uintptr_t" => "Element::Size",
        _ => "Element::U32",
    }
}

/// The list of functions with their places in a table of tables of the given name.
pub fn functions<'m>(functions: impl Iterator<Item = &'m Function>, table: &str) -> String {
    let mut out = String::from("&[\n");
    functions.for_each(|function| out.push_str(&function_info(function, table)));
    out.push_str("];\n");
    out
}

fn function_info(function: &Function, table: &str) -> String {
    let id = names::constant("ur_function_t", &names::function_enumerator(&function.name));
    let slot = match &function.slot {
        Some(slot) => format!(
            "Some(SlotInfo {{ table: \"{0}\", field: \"{1}\", index: {2}, offset: offset_of!({table}, {0}.{1}) }})",
            slot.table, slot.field, slot.index
        ),
        None => "None".to_owned(),
    };
    format!("    FunctionInfo {{ name: \"{}\", id: ur_function_t::{id}, slot: {slot} }},\n", function.name)
}
