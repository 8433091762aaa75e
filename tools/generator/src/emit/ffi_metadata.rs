//! Bindings: what tools need to know at run time, such as the types behind queries and the list of functions.

use std::fmt::Write;

use crate::across::{across, across_lists, cfg, everywhere, push_variants};
use crate::ctype::{Array, CType};
use crate::emit::rust;
use crate::model::{Function, Kind, Model, Release};
use crate::names;

/// The content of `info.rs`.
pub fn info(model: &Model) -> String {
    let mut out = String::from("use super::*;\nuse crate::value::{Count, Element, ValueType};\n\n");
    for entry in across(model, |r| &r.enums, |item| &item.name) {
        if !entry.latest().1.is_info() {
            continue;
        }
        let context = entry.presence();
        let condition = cfg(model, &context, &everywhere(model));
        if !condition.is_empty() {
            let _ = writeln!(out, "{condition}");
        }
        let _ = writeln!(out, "impl {} {{", entry.name);
        out.push_str("    /// The type of the value that this query answers with.\n");
        out.push_str("    #[must_use]\n    pub fn value_type(self) -> Option<ValueType> {\n");
        out.push_str("        Some(match self {\n");
        let lists = entry.per_release.iter().map(|found| found.map(|(_, e)| e.values.as_slice()));
        let values = across_lists(model, lists.collect(), |value| &value.name);
        for value in &values {
            let text = value.render(|release, value| match &value.value_type {
                Some(ty) => format!(
                    "            Self::{} => {},\n",
                    names::constant(&entry.name, &value.name),
                    value_type(release, ty)
                ),
                None => String::new(),
            });
            let told: Vec<_> = text.into_iter().filter(|variant| !variant.text.is_empty()).collect();
            push_variants(&mut out, model, "            ", &context, &told);
        }
        out.push_str("            _ => return None,\n        })\n    }\n\n");
        optional_query(&mut out, model, &entry.name, &context, &values);
        out.push_str("}\n\n");
    }
    out
}

fn optional_query(
    out: &mut String,
    model: &Model,
    name: &str,
    context: &[bool],
    values: &[crate::across::Entry<'_, crate::model::Enumerator>],
) {
    out.push_str("    /// Whether an adapter may answer that it does not know this query.\n");
    out.push_str("    #[must_use]\n    pub fn is_optional(self) -> bool {\n");
    out.push_str("        const OPTIONAL: &[u32] = &[\n");
    for value in values {
        let text = value.render(|_, value| {
            if value.optional {
                format!("            {name}::{}.0,\n", names::constant(name, &value.name))
            } else {
                String::new()
            }
        });
        let told: Vec<_> = text.into_iter().filter(|variant| !variant.text.is_empty()).collect();
        push_variants(out, model, "            ", context, &told);
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

/// The content of `functions.rs`.
pub fn functions(model: &Model) -> String {
    let mut out = String::from(
        "use core::mem::offset_of;\n\nuse super::*;\nuse crate::value::{FunctionInfo, SlotInfo};\n\n/// Every function of the release, in the headers' order.\npub static FUNCTIONS: &[FunctionInfo] = &[\n",
    );
    for entry in across(model, |r| &r.functions, |item| &item.name) {
        let text = entry.render(|_, function| function_info(function));
        push_variants(&mut out, model, "    ", &everywhere(model), &text);
    }
    out.push_str("];\n");
    out
}

fn function_info(function: &Function) -> String {
    let id = names::constant("ur_function_t", &names::function_enumerator(&function.name));
    let slot = match &function.slot {
        Some(slot) => format!(
            "Some(SlotInfo {{ table: \"{0}\", field: \"{1}\", index: {2}, offset: offset_of!(ur_dditable_t, {0}.{1}) }})",
            slot.table, slot.field, slot.index
        ),
        None => "None".to_owned(),
    };
    format!("    FunctionInfo {{ name: \"{}\", id: ur_function_t::{id}, slot: {slot} }},\n", function.name)
}
