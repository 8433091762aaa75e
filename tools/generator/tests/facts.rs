//! The model of the real specification against every fact read from the vendor's headers: both releases, no
//! difference. Extensions of the project's own, which the vendor's headers cannot have, are taken out of the model first. What the fact files are known to lack is listed in constants with the reason.

mod corrections;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use corrections::{CORRECTIONS, Correction};
use generator::condition;
use generator::model::{Enum, Enumerator, ErrorCase, Function, Model, Release, Struct};
use generator::{names, project};
use serde_json::Value;

/// Handles that the fact files use in signatures but leave out of their list: the list was read from one form of
/// declaration, and these three are declared in another.
const UNLISTED_HANDLES: [&str; 3] = [
    "ur_exp_external_semaphore_handle_t",
    "ur_exp_command_buffer_command_handle_t",
    "ur_exp_executable_graph_handle_t",
];

/// Argument structures that the fact files leave out though the vendor's headers have them: their declarations are
/// too long for one line. `cargo xtask abi` compares them with the headers.
const UNLISTED_ARGUMENTS: [&str; 3] = [
    "ur_bindless_images_get_image_memory_handle_type_support_exp_params_t",
    "ur_bindless_images_get_image_sampled_handle_support_exp_params_t",
    "ur_bindless_images_get_image_unsampled_handle_support_exp_params_t",
];

/// A field whose type the fact files have lost but for its last star; the parameter itself has it in full.
const TRUNCATED_FIELD: (&str, &str, &str) =
    ("ur_command_buffer_update_kernel_launch_exp_params_t", "ppUpdateKernelLaunch", "*");

/// The remark that the fact files put where a type would stand; the model has it as a property.
const DEPRECATED: &str = "deprecated-value";

#[derive(Default)]
struct Tally {
    compared: usize,
    differences: Vec<String>,
}

impl Tally {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, spec: &T, fact: &T) {
        self.compared += 1;
        if spec != fact {
            self.differences.push(format!("{what}: spec has {spec:?}, fact is {fact:?}"));
        }
    }
}

#[test]
fn the_specification_has_every_fact_of_2026_1() {
    compare("2026.1");
}

#[test]
fn the_specification_has_every_fact_of_2026_2() {
    compare("2026.2");
}

#[test]
fn a_corrected_condition_is_one_that_the_lint_refuses() {
    let model = real_model();
    for Correction { function: name, code, fact, .. } in &CORRECTIONS {
        let function = model.newest().function(name).unwrap_or_else(|| panic!("there is no {name}"));
        let judged = condition::parse(fact).and_then(|expr| condition::check(model.newest(), function, code, &expr));
        assert!(judged.is_err(), "{name} {code}: \"{fact}\" means something; compare it");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn real_model() -> Model {
    generator::model(&root()).unwrap_or_else(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("the specification has problems:\n{}", lines.join("\n"))
    })
}

fn facts(release: &str) -> Value {
    let shared = std::env::var_os("UR_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let path = shared.join(format!("abi/ur-{release}.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; UR_SHARED names its folder", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn compare(name: &str) {
    let model = project::upstream(real_model());
    let release = model.releases.iter().find(|release| release.name == name).unwrap();
    let facts = facts(name);
    let mut tally = Tally::default();
    tally.same("release", &release.name, &text(&facts["release"]));
    let version = (number(&facts["api_version"][0]), number(&facts["api_version"][1]));
    tally.same("version", &release.version, &version);
    handles(&mut tally, release, &facts);
    typedefs(&mut tally, release, &facts);
    defines(&mut tally, release, &facts);
    enums(&mut tally, release, &facts);
    structs(&mut tally, release, &facts);
    callbacks(&mut tally, release, &facts);
    functions(&mut tally, release, &facts);
    tables(&mut tally, release, &facts);
    exports(&mut tally, release, &facts);
    println!("{name}: {} facts compared", tally.compared);
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n"));
    assert!(tally.compared > 10_000, "only {} facts compared", tally.compared);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or_else(|| panic!("{value}"))
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is not a list"))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|items| items.iter().map(text).collect()).unwrap_or_default()
}

fn names_of(value: &Value) -> Vec<String> {
    list(value).iter().map(|item| text(&item["name"])).collect()
}

fn handles(tally: &mut Tally, release: &Release, facts: &Value) {
    let spec: BTreeSet<String> = release.handles.iter().map(|item| item.name.clone()).collect();
    let mut fact: BTreeSet<String> = texts(&facts["handles"]).into_iter().collect();
    for name in UNLISTED_HANDLES {
        assert!(fact.insert(name.to_owned()), "{name} is listed by now: drop the exception");
    }
    tally.same("handles", &spec, &fact);
    tally.compared += fact.len();
}

fn pairs(value: &Value) -> BTreeMap<String, String> {
    list(value).iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}

/// Compares entry by entry, so that a difference shows itself and not the whole map.
fn same_map(tally: &mut Tally, what: &str, spec: &BTreeMap<String, String>, fact: &BTreeMap<String, String>) {
    for name in spec.keys().chain(fact.keys()).collect::<BTreeSet<_>>() {
        tally.same(&format!("{what} {name}"), &spec.get(name), &fact.get(name));
    }
}

fn typedefs(tally: &mut Tally, release: &Release, facts: &Value) {
    let mut spec: BTreeMap<String, String> =
        release.typedefs.iter().map(|item| (item.name.clone(), item.ty.to_string())).collect();
    for item in release.enums.iter().filter(|item| item.flags) {
        spec.insert(names::flags_typedef(&item.name), "uint32_t".to_owned());
    }
    let fact = pairs(&facts["typedefs"]);
    same_map(tally, "typedef", &spec, &fact);
}

fn defines(tally: &mut Tally, release: &Release, facts: &Value) {
    let mut spec: BTreeMap<String, String> =
        release.defines.iter().map(|item| (item.name.clone(), item.value.clone())).collect();
    for item in release.enums.iter().filter(|item| item.flags) {
        spec.insert(names::flags_mask(&item.name), format!("{:#010x}", item.mask()));
    }
    let fact = pairs(&facts["defines"]);
    same_map(tally, "define", &spec, &fact);
}

fn enums(tally: &mut Tally, release: &Release, facts: &Value) {
    let spec: Vec<String> = release.enums.iter().map(|item| item.name.clone()).collect();
    tally.same("enums", &spec, &names_of(&facts["enums"]));
    for fact in list(&facts["enums"]) {
        let name = text(&fact["name"]);
        let Some(item) = release.enums.iter().find(|item| item.name == name) else { continue };
        enumerators(tally, item, fact);
    }
}

fn enumerators(tally: &mut Tally, item: &Enum, fact: &Value) {
    let spec: Vec<String> = item.values.iter().map(|value| value.name.clone()).collect();
    let named: Vec<String> = list(&fact["values"]).iter().map(|value| text(&value[0])).collect();
    tally.same(&item.name, &spec, &named);
    let deprecated = texts(&fact["deprecated"]);
    for (value, fact) in item.values.iter().zip(list(&fact["values"])) {
        tally.same(&value.name, &value.name, &text(&fact[0]));
        tally.same(&value.name, &value.value, &number(&fact[1]));
        let tags = texts(&fact[2]);
        let is_deprecated = deprecated.contains(&value.name) || tags.iter().any(|tag| tag == DEPRECATED);
        tally.same(&value.name, &value.deprecated, &is_deprecated);
        let fact_tags: Vec<String> = tags.iter().filter(|tag| *tag != DEPRECATED).map(|tag| unquote(tag)).collect();
        tally.same(&value.name, &tags_of(value), &fact_tags);
    }
}

/// The fact files write `::type[` for what the specification writes as `type[]`.
fn unquote(tag: &str) -> String {
    let tag = tag.strip_prefix("::").unwrap_or(tag);
    if tag.contains('[') { format!("{tag}]") } else { tag.to_owned() }
}

fn tags_of(value: &Enumerator) -> Vec<String> {
    let mut tags: Vec<String> = value.value_type.iter().map(ToString::to_string).collect();
    tags.extend(value.mark.iter().filter(|mark| *mark != DEPRECATED).cloned());
    if value.optional {
        tags.push("optional-query".to_owned());
    }
    tags
}

fn structs(tally: &mut Tally, release: &Release, facts: &Value) {
    let is_params = |name: &String| name.ends_with("_params_t");
    let (mut params, plain): (Vec<String>, Vec<String>) = names_of(&facts["structs"]).into_iter().partition(is_params);
    for unlisted in UNLISTED_ARGUMENTS {
        assert!(!params.iter().any(|name| name == unlisted), "{unlisted} is listed now; drop the exception");
        params.push(unlisted.to_owned());
    }
    let own = |items: &[Struct]| -> Vec<String> { items.iter().map(|item| item.name.clone()).collect() };
    tally.same("structs", &own(&release.structs), &plain);
    // The order of argument structures follows no rule upstream and carries no meaning.
    let spec: BTreeSet<String> = own(&release.params_structs).into_iter().collect();
    tally.same("argument structures", &spec, &params.into_iter().collect());
    tally.same("unions", &own(&release.unions), &names_of(&facts["unions"]));
    for fact in list(&facts["structs"]).iter().chain(list(&facts["unions"])) {
        let name = text(&fact["name"]);
        let mut items = release.structs.iter().chain(&release.unions).chain(&release.params_structs);
        let Some(item) = items.find(|item| item.name == name) else { continue };
        fields(tally, item, fact);
    }
}

fn fields(tally: &mut Tally, item: &Struct, fact: &Value) {
    let facts = list(&fact["fields"]);
    tally.same(&item.name, &item.fields.len(), &facts.len());
    for (field, fact) in item.fields.iter().zip(facts) {
        let what = format!("{}.{}", item.name, field.name);
        tally.same(&what, &field.name, &text(&fact[1]));
        tally.same(&what, &field.tags, &texts(&fact[2]));
        let ty = text(&fact[0]);
        if (item.name.as_str(), field.name.as_str(), ty.as_str()) != TRUNCATED_FIELD {
            tally.same(&what, &field.ty.to_string(), &ty);
        }
    }
}

fn callbacks(tally: &mut Tally, release: &Release, facts: &Value) {
    let spec: Vec<String> = release.callbacks.iter().map(|item| item.name.clone()).collect();
    tally.same("callbacks", &spec, &names_of(&facts["callbacks"]));
    for (item, fact) in release.callbacks.iter().zip(list(&facts["callbacks"])) {
        tally.same(&item.name, &item.returns.to_string(), &text(&fact["returns"]));
        let params: Vec<String> = item.params.iter().map(|p| p.ty.declare(&p.name)).collect();
        tally.same(&item.name, &params, &texts(&fact["params"]));
    }
}

fn functions(tally: &mut Tally, release: &Release, facts: &Value) {
    let spec: Vec<String> = release.functions.iter().map(|item| item.name.clone()).collect();
    tally.same("functions", &spec, &names_of(&facts["functions"]));
    for (function, fact) in release.functions.iter().zip(list(&facts["functions"])) {
        // Every function answers a result; the specification does not even have a place for another type.
        tally.same(&function.name, &"ur_result_t".to_owned(), &text(&fact["returns"]));
        params(tally, function, fact);
        errors(tally, function, fact);
    }
}

fn params(tally: &mut Tally, function: &Function, fact: &Value) {
    let facts = list(&fact["params"]);
    tally.same(&function.name, &function.params.len(), &facts.len());
    for (param, fact) in function.params.iter().zip(facts) {
        let what = format!("{}({})", function.name, param.name);
        tally.same(&what, &param.name, &text(&fact["name"]));
        tally.same(&what, &param.ty.to_string(), &text(&fact["type"]));
        tally.same(&what, &param.tags, &texts(&fact["tags"]));
    }
}

fn errors(tally: &mut Tally, function: &Function, fact: &Value) {
    let mut facts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for error in list(&fact["errors"]) {
        facts.entry(text(&error["result"])).or_default().extend(texts(&error["when"]));
    }
    for correction in CORRECTIONS.iter().filter(|correction| correction.function == function.name) {
        let conditions = facts.get_mut(correction.code).unwrap_or_else(|| panic!("{}", correction.code));
        let Correction { function, code, fact, .. } = correction;
        assert!(conditions.remove(*fact), "{function} {code}: \"{fact}\" is no fact any more; drop the correction");
        conditions.extend(correction.spec.iter().map(|text| (*text).to_owned()));
    }
    let texts = |error: &ErrorCase| error.when.iter().chain(&error.prose).map(|when| when.text.clone()).collect();
    let spec: BTreeMap<String, BTreeSet<String>> =
        function.errors.iter().map(|error| (error.code.clone(), texts(error))).collect();
    let keys = |map: &BTreeMap<String, BTreeSet<String>>| -> BTreeSet<String> { map.keys().cloned().collect() };
    tally.same(&format!("{} errors", function.name), &keys(&spec), &keys(&facts));
    for (code, when) in &facts {
        if let Some(own) = spec.get(code) {
            tally.same(&format!("{} {code}", function.name), own, when);
        }
    }
}

fn tables(tally: &mut Tally, release: &Release, facts: &Value) {
    let facts = list(&facts["dditables"]);
    let (whole, facts) = facts.split_last().unwrap();
    tally.same("table of tables", &"ur_dditable_t".to_owned(), &text(&whole["name"]));
    tally.same("tables", &release.tables.len(), &facts.len());
    let entries = |fact: &Value| -> Vec<(String, String)> {
        list(&fact["entries"]).iter().map(|entry| (text(&entry[0]), text(&entry[1]))).collect()
    };
    let root: Vec<(String, String)> =
        release.tables.iter().map(|table| (table.field.clone(), table.name.clone())).collect();
    tally.same("order of tables", &root, &entries(whole));
    for fact in facts {
        let name = text(&fact["name"]);
        let found = release.tables.iter().find(|table| table.name == name);
        let slots: Vec<(String, String)> = found
            .map(|table| table.slots.iter().map(|s| (s.field.clone(), s.function.clone())).collect())
            .unwrap_or_default();
        let fact = entries(fact);
        tally.compared += fact.len();
        tally.same(&name, &slots, &fact);
    }
}

fn exports(tally: &mut Tally, release: &Release, facts: &Value) {
    let getters: BTreeSet<String> = release.tables.iter().map(|table| names::getter(&table.field)).collect();
    tally.same("exported getters", &getters, &texts(&facts["table_exports"]).into_iter().collect());
    let mut exported: BTreeSet<String> = getters;
    exported.extend(release.functions.iter().map(|function| function.name.clone()));
    for name in texts(&facts["runtime_imports"]) {
        tally.same(&format!("{name} is exported"), &exported.contains(&name), &true);
    }
}
