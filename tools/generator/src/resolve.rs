//! From the files as written to the model: picks what each release has and spells out what the format implies.
//!
//! Judges nothing beyond what it cannot express: a type that cannot be parsed is a problem here, an unknown one
//! is [`crate::lint`]'s.

use std::collections::BTreeMap;

use crate::ctype::CType;
use crate::derive;
use crate::engine::EngineMap;
use crate::load::{Source, Spec, release_key};
use crate::model::*;
use crate::names;
use crate::problem::Problem;
use crate::releases::{self, Layout};
use crate::spec::{self, ApiFile, Derived, ReleaseFile, Text};
use crate::union::union;

/// Marks that stand where an info enumerator has the type of its value.
pub const MARKS: [&str; 2] = ["Validation", "deprecated-value"];

/// Works out every release.
pub fn resolve(spec: &Spec) -> Result<Model, Vec<Problem>> {
    let mut problems = Vec::new();
    let layouts = releases::layouts(spec, &mut problems);
    let Some(newest) = layouts.last() else {
        let message = "there is no release; add one file per release".to_owned();
        return Err(vec![Problem::Io { file: "spec/releases".to_owned(), message }]);
    };
    let resolved = spec.releases.iter().zip(&layouts);
    let releases: Vec<Release> =
        resolved.map(|(file, layout)| Resolver::new(spec, file, layout, &mut problems).run()).collect();
    let files = ordered(spec, newest).into_iter().map(file_info).collect();
    problems.sort();
    problems.dedup();
    if !problems.is_empty() {
        return Err(problems);
    }
    let union = union(&releases);
    Ok(Model { files, releases, union, engine: EngineMap::default() })
}

fn file_info(source: &Source<ApiFile>) -> FileInfo {
    FileInfo {
        stem: source.stem.clone(),
        title: text(&source.data.title),
        doc: text(&source.data.doc),
        project: source.data.project,
        table: source.data.table.as_ref().map(|name| name.get_ref().clone()),
    }
}

fn text(value: &Option<Text>) -> String {
    value.as_ref().map(|value| value.get_ref().clone()).unwrap_or_default()
}

/// The files in the order of a release's headers: those it lists, then the others by name.
fn ordered<'s>(spec: &'s Spec, layout: &Layout) -> Vec<&'s Source<ApiFile>> {
    let place = |stem: &str| layout.order.iter().position(|name| name == stem);
    let mut files: Vec<&Source<ApiFile>> = spec.api.iter().collect();
    files.sort_by_key(|file| (place(&file.stem).unwrap_or(usize::MAX), file.stem.clone()));
    files
}

struct Resolver<'s, 'p> {
    spec: &'s Spec,
    file: &'s Source<ReleaseFile>,
    layout: &'s Layout,
    key: Vec<u32>,
    files: Vec<&'s Source<ApiFile>>,
    parameter_docs: BTreeMap<&'s str, &'s str>,
    problems: &'p mut Vec<Problem>,
}

impl<'s, 'p> Resolver<'s, 'p> {
    fn new(spec: &'s Spec, file: &'s Source<ReleaseFile>, layout: &'s Layout, problems: &'p mut Vec<Problem>) -> Self {
        let parameter_docs = spec
            .api
            .iter()
            .flat_map(|api| &api.data.parameter_docs)
            .map(|(name, doc)| (name.as_str(), doc.get_ref().as_str()))
            .collect();
        Resolver {
            spec,
            file,
            layout,
            key: release_key(file.data.release.get_ref()),
            files: ordered(spec, layout),
            parameter_docs,
            problems,
        }
    }

    fn run(mut self) -> Release {
        let mut release = Release {
            name: self.file.data.release.get_ref().clone(),
            at: self.file.at(self.file.data.release.span()),
            version: (self.file.data.version[0], self.file.data.version[1]),
            handles: Vec::new(),
            typedefs: Vec::new(),
            defines: Vec::new(),
            enums: Vec::new(),
            structs: Vec::new(),
            unions: Vec::new(),
            callbacks: Vec::new(),
            functions: Vec::new(),
            params_structs: Vec::new(),
            tables: Vec::new(),
            extensions: Vec::new(),
            kinds: BTreeMap::new(),
        };
        for file in self.files.clone() {
            self.simple_items(file, &mut release);
            self.composite_items(file, &mut release);
        }
        release.kinds = kinds(&release);
        release.tables = self.layout.tables.clone();
        release.extensions = self.files.iter().filter_map(|file| extension(file)).collect();
        for file in self.files.clone() {
            for written in &file.data.function {
                if self.live(&written.since, &written.until) {
                    let function = self.function(file, written, &release);
                    if !function.params.is_empty() {
                        release.params_structs.push(derive::params_struct(&function));
                    }
                    release.functions.push(function);
                }
            }
        }
        self.derived_enums(&mut release);
        release
    }

    /// Whether an item that is present from `since` to `until` exists in this release.
    fn live(&self, since: &Option<Text>, until: &Option<Text>) -> bool {
        let from = since.as_ref().is_none_or(|name| release_key(name.get_ref()) <= self.key);
        let to = until.as_ref().is_none_or(|name| release_key(name.get_ref()) >= self.key);
        from && to
    }

    fn ty(&mut self, source: &Source<ApiFile>, item: &str, written: &Text) -> CType {
        CType::parse(written.get_ref()).unwrap_or_else(|message| {
            self.problems.push(Problem::Spec { at: source.at(written.span()), item: item.to_owned(), message });
            CType::named("void")
        })
    }

    fn simple_items(&mut self, source: &Source<ApiFile>, release: &mut Release) {
        for handle in &source.data.handle {
            if self.live(&handle.since, &handle.until) {
                release.handles.push(Handle {
                    at: source.at(handle.name.span()),
                    file: source.stem.clone(),
                    name: handle.name.get_ref().clone(),
                    doc: text(&handle.doc),
                });
            }
        }
        for typedef in &source.data.typedef {
            if self.live(&typedef.since, &typedef.until) {
                release.typedefs.push(Typedef {
                    at: source.at(typedef.name.span()),
                    file: source.stem.clone(),
                    name: typedef.name.get_ref().clone(),
                    ty: self.ty(source, typedef.name.get_ref(), &typedef.ty),
                    doc: text(&typedef.doc),
                });
            }
        }
        for define in &source.data.define {
            if self.live(&define.since, &define.until) {
                release.defines.push(Define {
                    at: source.at(define.name.span()),
                    file: source.stem.clone(),
                    name: define.name.get_ref().clone(),
                    value: define.value.clone(),
                    doc: text(&define.doc),
                });
            }
        }
    }

    fn composite_items(&mut self, source: &Source<ApiFile>, release: &mut Release) {
        for written in &source.data.enums {
            if self.live(&written.since, &written.until) {
                release.enums.push(self.enumeration(source, written));
            }
        }
        for written in &source.data.structs {
            if self.live(&written.since, &written.until) {
                release.structs.push(self.structure(source, written));
            }
        }
        for written in &source.data.unions {
            if self.live(&written.since, &written.until) {
                release.unions.push(self.structure(source, written));
            }
        }
        for written in &source.data.callback {
            if self.live(&written.since, &written.until) {
                release.callbacks.push(self.callback(source, written));
            }
        }
    }

    fn enumeration(&mut self, source: &Source<ApiFile>, written: &spec::Enum) -> Enum {
        let name = written.name.get_ref();
        let mut values = Vec::new();
        for value in &written.values {
            values.extend(self.enumerator(source, value));
        }
        for other in self.files.clone() {
            for extend in other.data.extend.iter().filter(|e| e.target.get_ref() == name) {
                for value in &extend.values {
                    values.extend(self.enumerator(other, value));
                }
            }
        }
        values.sort_by_key(|value| value.value);
        Enum {
            at: source.at(written.name.span()),
            file: source.stem.clone(),
            name: name.clone(),
            doc: text(&written.doc),
            flags: names::is_flag_enum(name),
            written_mask: written.mask,
            mask_by_release: false,
            values,
        }
    }

    fn enumerator(&mut self, source: &Source<ApiFile>, written: &spec::Enumerator) -> Option<Enumerator> {
        if !self.live(&written.since, &written.until) {
            return None;
        }
        let name = written.name.get_ref();
        let unchanged = spec::EnumeratorChange::default();
        let change = written.by_release.get(self.file.data.release.get_ref()).unwrap_or(&unchanged);
        let written_type = change.ty.as_ref().or(written.ty.as_ref());
        let (mark, value_type) = match written_type {
            Some(ty) if MARKS.contains(&ty.get_ref().as_str()) => (Some(ty.get_ref().clone()), None),
            Some(ty) => (None, Some(self.ty(source, name, ty))),
            None => (None, None),
        };
        let moved = self.file.data.values.get(name).map(|value| *value.get_ref());
        Some(Enumerator {
            at: source.at(written.name.span()),
            file: source.stem.clone(),
            name: name.clone(),
            value: moved.or(change.value).unwrap_or(written.value),
            doc: if change.doc.is_some() { text(&change.doc) } else { text(&written.doc) },
            value_type,
            mark,
            optional: change.optional.unwrap_or(written.optional),
            deprecated: change.deprecated.unwrap_or(written.deprecated),
        })
    }

    fn structure(&mut self, source: &Source<ApiFile>, written: &spec::Struct) -> Struct {
        let at = source.at(written.name.span());
        let mut fields = written.chain.map(|chain| derive::chain_fields(chain, &at)).unwrap_or_default();
        for field in &written.fields {
            let item = format!("{}: field {}", written.name.get_ref(), field.name.get_ref());
            fields.push(Field {
                at: source.at(field.name.span()),
                name: field.name.get_ref().clone(),
                ty: self.ty(source, &item, &field.ty),
                tags: field.tags.clone(),
                doc: text(&field.doc),
            });
        }
        Struct {
            at,
            file: source.stem.clone(),
            name: written.name.get_ref().clone(),
            doc: text(&written.doc),
            chain: written.chain,
            stype: written.stype,
            fields,
        }
    }

    fn params(&mut self, source: &Source<ApiFile>, owner: &str, written: &[spec::Param]) -> Vec<Param> {
        let release = self.file.data.release.get_ref();
        let unchanged = spec::ParamChange::default();
        let mut params = Vec::new();
        for param in written {
            let change = param.by_release.get(release).unwrap_or(&unchanged);
            let name = param.name.get_ref();
            let item = format!("{owner}: parameter {name}");
            let own_doc = change.doc.as_ref().or(param.doc.as_ref());
            params.push(Param {
                at: source.at(param.name.span()),
                name: name.clone(),
                ty: self.ty(source, &item, &param.ty),
                tags: change.tags.clone().unwrap_or_else(|| param.tags.clone()),
                doc: own_doc.map_or_else(
                    || self.parameter_docs.get(name.as_str()).copied().unwrap_or("").to_owned(),
                    |doc| doc.get_ref().clone(),
                ),
            });
        }
        params
    }

    fn callback(&mut self, source: &Source<ApiFile>, written: &spec::Callback) -> Callback {
        let name = written.name.get_ref();
        let returns = match &written.returns {
            Some(ty) => self.ty(source, name, ty),
            None => CType::named("void"),
        };
        Callback {
            at: source.at(written.name.span()),
            file: source.stem.clone(),
            name: name.clone(),
            doc: text(&written.doc),
            returns,
            params: self.params(source, name, &written.params),
        }
    }

    fn function(&mut self, source: &Source<ApiFile>, written: &spec::Function, release: &Release) -> Function {
        let name = written.name.get_ref();
        let params = self.params(source, name, &written.params);
        let mut errors = derive::implied_errors(release, &params, written.null_checks);
        for error in &written.errors {
            if self.live(&error.since, &error.until) {
                let condition = |text: &Text| Condition { at: source.at(text.span()), text: text.get_ref().clone() };
                let case = derive::error_case(&mut errors, error.code.get_ref());
                error.when.iter().for_each(|text| derive::add_condition(&mut case.when, condition(text)));
                error.prose.iter().for_each(|text| derive::add_condition(&mut case.prose, condition(text)));
            }
        }
        let blocks = written.blocks.as_ref();
        let blocks = blocks.map(|text| Condition { at: source.at(text.span()), text: text.get_ref().clone() });
        let slot = derive::slot_of(release, name);
        let dispatch = derive::dispatch(release, &source.stem, name, &params, &errors);
        Function {
            at: source.at(written.name.span()),
            file: source.stem.clone(),
            name: name.clone(),
            id: written.id,
            doc: text(&written.doc),
            params,
            errors,
            blocks,
            slot,
            dispatch,
        }
    }

    /// Fills the enumerations that are made from functions or structures.
    fn derived_enums(&self, release: &mut Release) {
        for source in &self.spec.api {
            for written in &source.data.enums {
                let mut values = match written.derived {
                    Some(Derived::Functions) => derive::function_enumerators(&release.functions),
                    Some(Derived::Structs) => derive::structure_enumerators(&release.structs),
                    None => continue,
                };
                values.sort_by_key(|value| value.value);
                let target = release.enums.iter_mut().find(|e| e.name == *written.name.get_ref());
                if let Some(target) = target {
                    target.values.append(&mut values);
                    target.values.sort_by_key(|value| value.value);
                }
            }
        }
    }
}

/// The table that the functions of a file of the project's own form.
fn extension(source: &Source<ApiFile>) -> Option<Extension> {
    let name = source.data.table.as_ref()?;
    let slot = |function: &spec::Function| TableSlot {
        at: source.at(function.name.span()),
        field: releases::slot_field(EXTENSION_PREFIX, function.name.get_ref()),
        function: function.name.get_ref().clone(),
    };
    let table = Table {
        at: source.at(name.span()),
        name: names::extension_table(name.get_ref()),
        field: names::extension_field(name.get_ref()),
        prefix: EXTENSION_PREFIX.to_owned(),
        slots: source.data.function.iter().map(slot).collect(),
    };
    Some(Extension { name: name.get_ref().clone(), file: source.stem.clone(), table })
}

/// What the functions of an extension table have in common; their slots are named by the rest.
const EXTENSION_PREFIX: &str = "ur";

/// What each name of the release stands for.
pub(crate) fn kinds(release: &Release) -> BTreeMap<String, Kind> {
    let mut kinds = BTreeMap::new();
    kinds.extend(release.handles.iter().map(|item| (item.name.clone(), Kind::Handle)));
    kinds.extend(release.typedefs.iter().map(|item| (item.name.clone(), Kind::Typedef)));
    kinds.extend(release.structs.iter().map(|item| (item.name.clone(), Kind::Struct)));
    kinds.extend(release.unions.iter().map(|item| (item.name.clone(), Kind::Union)));
    kinds.extend(release.callbacks.iter().map(|item| (item.name.clone(), Kind::Callback)));
    for item in &release.enums {
        let kind = if item.flags { Kind::Flag } else { Kind::Enum };
        kinds.insert(item.name.clone(), kind);
        if item.flags {
            kinds.insert(names::flags_typedef(&item.name), Kind::Flags);
        }
    }
    kinds
}
