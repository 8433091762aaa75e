//! What the format implies and nobody writes down: chain headers, argument structures, implied errors, the
//! enumerators of functions and structures, and the way a call finds its adapter.

use crate::ctype::CType;
use crate::model::*;
use crate::names;
use crate::problem::Location;

/// Functions outside `loader.toml` that the loader answers itself: the first handles come from it, not through
/// one, and the device selector is its own.
const LOADER_FUNCTIONS: [&str; 2] = ["urAdapterGet", "urDeviceGetSelected"];

/// The file whose functions are all the loader's.
const LOADER_FILE: &str = "loader";

/// The two fields that every chained structure begins with.
pub fn chain_fields(chain: Chain, at: &Location) -> Vec<Field> {
    let (next, direction) = match chain {
        Chain::Properties => ("void *", "in,out"),
        Chain::Descriptor => ("const void *", "in"),
    };
    let field = |name: &str, ty: CType, tags: &[&str], doc: &str| Field {
        at: at.clone(),
        name: name.to_owned(),
        ty,
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        doc: doc.to_owned(),
    };
    let next = CType::parse(next).expect("a constant of this function");
    vec![
        field("stype", CType::named("ur_structure_type_t"), &["in"], "Tag that names the structure."),
        field("pNext", next, &[direction, "optional"], "Next structure of the chain, or null."),
    ]
}

/// The structure of pointers to a function's arguments.
pub fn params_struct(function: &Function) -> Struct {
    let field = |param: &Param| Field {
        at: param.at.clone(),
        name: format!("p{}", param.name),
        ty: param.ty.pointer_to(),
        tags: Vec::new(),
        doc: format!("Points to the argument `{}`.", param.name),
    };
    Struct {
        at: function.at.clone(),
        file: function.file.clone(),
        name: names::params_struct(&function.name),
        doc: format!("Pointers to the arguments of one call of `{}`.", function.name),
        chain: None,
        stype: None,
        fields: function.params.iter().map(field).collect(),
    }
}

/// The errors that every function owes because of its parameters.
pub fn implied_errors(release: &Release, params: &[Param], null_checks: bool) -> Vec<ErrorCase> {
    let mut errors = Vec::new();
    for code in [
        "UR_RESULT_SUCCESS",
        "UR_RESULT_ERROR_UNINITIALIZED",
        "UR_RESULT_ERROR_DEVICE_LOST",
        "UR_RESULT_ERROR_ADAPTER_SPECIFIC",
    ] {
        error_case(&mut errors, code);
    }
    if !null_checks {
        return errors;
    }
    let required = |param: &&Param| !param.has("optional");
    for param in params.iter().filter(required).filter(|param| release.is_handle(&param.ty)) {
        let case = error_case(&mut errors, "UR_RESULT_ERROR_INVALID_NULL_HANDLE");
        add_condition(&mut case.when, is_null(param));
    }
    for param in params.iter().filter(required).filter(|param| release.is_address(&param.ty)) {
        if !param.has("nocheck") {
            let case = error_case(&mut errors, "UR_RESULT_ERROR_INVALID_NULL_POINTER");
            add_condition(&mut case.when, is_null(param));
        }
    }
    errors
}

fn is_null(param: &Param) -> Condition {
    Condition { at: param.at.clone(), text: format!("NULL == {}", param.name) }
}

/// The case of a code, which is listed once.
pub fn error_case<'e>(errors: &'e mut Vec<ErrorCase>, code: &str) -> &'e mut ErrorCase {
    let index = errors.iter().position(|error| error.code == code).unwrap_or_else(|| {
        errors.push(ErrorCase { code: code.to_owned(), when: Vec::new(), prose: Vec::new() });
        errors.len() - 1
    });
    &mut errors[index]
}

/// Adds a condition unless it is there.
pub fn add_condition(known: &mut Vec<Condition>, condition: Condition) {
    if !known.iter().any(|other| other.text == condition.text) {
        known.push(condition);
    }
}

/// Where a function sits in the release's tables.
pub fn slot_of(release: &Release, function: &str) -> Option<Slot> {
    let vendors = release.tables.iter().map(|table| (table, false));
    let own = release.extensions.iter().map(|extension| (&extension.table, true));
    vendors.chain(own).find_map(|(table, extension)| {
        let index = table.slots.iter().position(|slot| slot.function == function)?;
        Some(Slot {
            extension,
            table: table.field.clone(),
            table_type: table.name.clone(),
            field: table.slots[index].field.clone(),
            index,
        })
    })
}

/// How the loader finds the adapter that a call is for: the first handle that must be given, else the first
/// element of an array of handles.
pub fn dispatch(release: &Release, file: &str, name: &str, params: &[Param], errors: &[ErrorCase]) -> Dispatch {
    if file == LOADER_FILE || LOADER_FUNCTIONS.contains(&name) {
        return Dispatch::Loader;
    }
    let handle = |param: &Param| !param.has("optional") && release.is_handle(&param.ty);
    if let Some(index) = params.iter().position(handle) {
        return Dispatch::Handle(index);
    }
    let array = |param: &Param| {
        param.ty.constant && param.ty.pointers == 1 && release.kind(&param.ty.base) == Some(Kind::Handle)
    };
    let Some(array) = params.iter().position(array) else { return Dispatch::Nowhere };
    let count = params[array].count().and_then(|n| params.iter().position(|p| p.name == n));
    let empty = count
        .and_then(|count| {
            let condition = format!("{} == 0", params[count].name);
            errors.iter().find(|error| error.when.iter().any(|when| when.text == condition))
        })
        .map_or("UR_RESULT_ERROR_INVALID_SIZE", |error| &error.code)
        .to_owned();
    Dispatch::Array { array, count, empty }
}

/// The enumerators of `ur_function_t`.
pub fn function_enumerators(functions: &[Function]) -> Vec<Enumerator> {
    let enumerator = |function: &Function| Enumerator {
        at: function.at.clone(),
        file: function.file.clone(),
        name: names::function_enumerator(&function.name),
        value: function.id,
        doc: format!("Stands for `{}`.", function.name),
        value_type: None,
        mark: None,
        optional: false,
        deprecated: false,
    };
    functions.iter().map(enumerator).collect()
}

/// The enumerators of `ur_structure_type_t`.
pub fn structure_enumerators(structs: &[Struct]) -> Vec<Enumerator> {
    let enumerator = |structure: &Struct| {
        Some(Enumerator {
            at: structure.at.clone(),
            file: structure.file.clone(),
            name: names::structure_enumerator(&structure.name),
            value: structure.stype?,
            doc: format!("Tags `{}`.", structure.name),
            value_type: None,
            mark: None,
            optional: false,
            deprecated: false,
        })
    };
    structs.iter().filter_map(enumerator).collect()
}
