//! Rust sources as this command sees them: functions with the gaps that they document, the places in them that answer
//! that something is not supported, and what they call. It reads text and resolves nothing; see [`super::reach`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Block, FnArg, Ident, ImplItem, Item, Meta, Pat, ReturnType, Signature, TraitItem, UseTree};

use super::body::{Body, Call, Receiver, type_name, type_names};
use super::gaps::{self, Gap, SECTION, Weight, doc_lines};
use xtask::support::failure::{Context, Result};
use xtask::support::files;

/// The crate that both backends share, as [`Function::of`] names it.
pub const ENGINE: &str = "";

/// Marks a place that makes such an answer and is no gap: on the line above it.
const NO_GAP: &str = "// coverage: none because ";

/// Marks a call whose gaps cannot come up: anywhere in the calling function.
const CUT: &str = "// coverage: without ";

/// A function of one of the crates.
#[derive(Debug, Default)]
pub struct Function {
    /// The crate: [`ENGINE`] or a backend.
    pub of: &'static str,
    /// Its module's path from the crate's root, `::` between names.
    pub module: String,
    /// The type whose method it is.
    pub owner: Option<String>,
    /// Its name.
    pub name: String,
    /// How many arguments it takes behind `self`; `None` without one.
    pub behind_self: Option<usize>,
    /// Its section.
    pub gaps: Vec<Gap>,
    /// What it names.
    pub calls: Vec<Call>,
    /// Types that its parameters and annotated variables are made of, by name.
    pub typed: BTreeMap<String, Vec<String>>,
    /// Variables without a type, with what they are bound to.
    pub bound: BTreeMap<String, Receiver>,
    /// Lines of answers that something is not supported, without those that are said to be no gap.
    sites: Vec<usize>,
    /// Functions that it is said not to reach.
    pub cuts: Vec<String>,
    wrong: Vec<String>,
}

impl Function {
    /// As in messages.
    pub fn label(&self) -> String {
        let crate_name = if self.of == ENGINE { "common" } else { self.of };
        let owner = self.owner.as_ref().map(|owner| format!("{owner}::")).unwrap_or_default();
        format!("{crate_name} {}: {owner}{}", self.module, self.name)
    }

    /// Its gaps without notes.
    pub fn missing(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|gap| gap.weight != Weight::Note)
    }

    /// Whether it is a driver's.
    pub fn is_drivers(&self) -> bool {
        self.of != ENGINE && (self.module == "driver" || self.module.starts_with("driver::"))
    }
}

/// Names that a module brings in, with the paths they stand for.
pub type Imports = BTreeMap<String, Vec<String>>;

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Code {
    /// All functions.
    pub functions: Vec<Function>,
    /// By crate and module.
    pub imports: BTreeMap<(&'static str, String), Imports>,
    /// Types of fields and of what functions give, by crate and name.
    pub types: BTreeMap<(&'static str, String), BTreeSet<String>>,
    /// Values of the constants in `impl Driver for …`, by crate and name.
    pub constants: BTreeMap<(&'static str, String), String>,
    /// First sentences of the documentation of `trait Driver`'s constants, in its order.
    pub constant_docs: Vec<(String, String)>,
    /// Symbols that a library may lack, by crate.
    pub optional: BTreeMap<&'static str, Vec<String>>,
}

impl Code {
    /// Reads every source below a folder but those of tests and those that are generated.
    pub fn read_crate(&mut self, of: &'static str, folder: &Path) -> Result {
        for file in files::list(folder)? {
            let name = file.to_string_lossy().replace('\\', "/");
            let Some(stem) = name.strip_suffix(".rs") else { continue };
            if stem.starts_with("generated/") || stem.ends_with("tests") {
                continue;
            }
            let module = if stem == "lib" { String::new() } else { stem.trim_end_matches("/mod").replace('/', "::") };
            let path = folder.join(&file);
            let text = fs::read_to_string(&path).context(path.display())?;
            self.read_file(of, module, &text).context(path.display())?;
        }
        Ok(())
    }

    /// Reads one file's text.
    pub fn read_file(&mut self, of: &'static str, module: String, text: &str) -> syn::Result<()> {
        let lines: Vec<&str> = text.lines().collect();
        let file = syn::parse_file(text)?;
        let mut reader = Reader { code: self, of, module, lines };
        reader.items(&file.items);
        Ok(())
    }

    /// What the functions say wrongly, or not at all.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for function in &self.functions {
            let label = function.label();
            problems.extend(function.wrong.iter().map(|wrong| format!("{label}: {wrong}")));
            let (sites, gaps) = (function.sites.len(), function.missing().count());
            if sites > gaps {
                let lines = function.sites.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                problems.push(format!(
                    "{label}: {sites} answers that something is not supported (lines {lines}) and {gaps} lines in its \
                     section `{SECTION}`; add what is missing there, or `{NO_GAP}…` above the answer"
                ));
            }
        }
        problems
    }
}

struct Reader<'c, 't> {
    code: &'c mut Code,
    of: &'static str,
    module: String,
    lines: Vec<&'t str>,
}

impl Reader<'_, '_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(item) if !is_test(&item.attrs) => {
                    self.function(None, &item.sig, &item.attrs, item.span(), &item.block);
                }
                Item::Struct(item) => {
                    for field in &item.fields {
                        if let Some(name) = &field.ident {
                            self.know(name, type_names(&field.ty));
                        }
                    }
                }
                Item::Impl(block) if !is_test(&block.attrs) => {
                    let owner = type_name(&block.self_ty);
                    let is_driver = block.trait_.as_ref().is_some_and(|implemented| {
                        implemented.0.segments.last().is_some_and(|last| last.ident == "Driver")
                    });
                    for item in &block.items {
                        match item {
                            ImplItem::Fn(item) => {
                                self.function(owner.clone(), &item.sig, &item.attrs, item.span(), &item.block);
                            }
                            ImplItem::Const(item) if is_driver => {
                                let value = self.text(item.expr.span());
                                self.code.constants.insert((self.of, item.ident.to_string()), value);
                            }
                            _ => {}
                        }
                    }
                }
                Item::Trait(item) => {
                    for inner in &item.items {
                        match inner {
                            TraitItem::Fn(method) => {
                                self.know_result(&method.sig, None);
                                if let Some(block) = &method.default {
                                    let owner = Some(item.ident.to_string());
                                    self.function(owner, &method.sig, &method.attrs, method.span(), block);
                                }
                            }
                            TraitItem::Const(constant) if item.ident == "Driver" => {
                                let doc = doc_lines(&constant.attrs).join(" ");
                                self.code.constant_docs.push((constant.ident.to_string(), doc));
                            }
                            _ => {}
                        }
                    }
                }
                Item::Mod(inner) if !is_test(&inner.attrs) => {
                    if let Some((_, items)) = &inner.content {
                        self.items(items);
                    }
                }
                Item::Use(item) => {
                    let mut found = Vec::new();
                    import(&item.tree, &mut Vec::new(), &mut found);
                    let imports = self.code.imports.entry((self.of, self.module.clone())).or_default();
                    imports.extend(found);
                }
                Item::Macro(item) if item.mac.path.segments.last().is_some_and(|s| s.ident == "symbol_table") => {
                    let found = optional_symbols(&item.mac.tokens.to_string());
                    self.code.optional.entry(self.of).or_default().extend(found);
                }
                _ => {}
            }
        }
    }

    fn know(&mut self, name: &Ident, types: Vec<String>) {
        self.code.types.entry((self.of, name.to_string())).or_default().extend(types);
    }

    /// What a function gives is what is called on it.
    fn know_result(&mut self, signature: &Signature, owner: Option<&str>) {
        if let ReturnType::Type(_, given) = &signature.output {
            let own = |name: String| if name == "Self" { owner.unwrap_or("Self").to_owned() } else { name };
            self.know(&signature.ident, type_names(given).into_iter().map(own).collect());
        }
    }

    fn text(&self, span: Span) -> String {
        let (start, end) = (span.start(), span.end());
        let mut text = String::new();
        for line in start.line..=end.line {
            let whole: Vec<char> = self.lines[line - 1].chars().collect();
            let from = if line == start.line { start.column } else { 0 };
            let to = if line == end.line { end.column } else { whole.len() };
            text.extend(&whole[from..to]);
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn function(
        &mut self,
        owner: Option<String>,
        signature: &Signature,
        attributes: &[Attribute],
        span: Span,
        block: &Block,
    ) {
        let mut body = Body::default();
        for input in &signature.inputs {
            if let FnArg::Typed(input) = input
                && let Pat::Ident(name) = &*input.pat
            {
                body.typed.insert(name.ident.to_string(), type_names(&input.ty));
            }
        }
        self.know_result(signature, owner.as_deref());
        body.visit_block(block);
        let name = signature.ident.to_string();
        let mut function = Function { of: self.of, module: self.module.clone(), owner, name, ..Function::default() };
        function.behind_self = signature.receiver().map(|_| signature.inputs.len() - 1);
        for item in gaps::of_attributes(self.of, attributes) {
            match item {
                Ok(gap) => function.gaps.push(gap),
                Err(problem) => function.wrong.push(problem),
            }
        }
        self.comments(span.start().line..=span.end().line, &body.sites, &mut function);
        let excused = |line: usize| line >= 2 && self.lines[line - 2].trim_start().starts_with(NO_GAP);
        function.sites = body.sites.into_iter().filter(|line| !excused(*line)).collect();
        function.calls = body.calls;
        function.typed = body.typed;
        function.bound = body.bound;
        self.code.functions.push(function);
    }

    fn comments(&self, lines: RangeInclusive<usize>, sites: &[usize], function: &mut Function) {
        for line in lines {
            let Some(told) = self.lines[line - 1].trim_start().strip_prefix("// coverage: ") else { continue };
            let Some((what, why)) = told.split_once(" because ") else {
                function.wrong.push(format!("line {line} gives no reason: `{told}`"));
                continue;
            };
            if why.trim().is_empty() {
                function.wrong.push(format!("line {line} gives no reason: `{told}`"));
            }
            match what.strip_prefix("without ") {
                Some(callee) => function.cuts.push(callee.trim().to_owned()),
                None if what == "none" && sites.contains(&(line + 1)) => {}
                None if what == "none" => function.wrong.push(format!("line {line} stands above no such answer")),
                None => function.wrong.push(format!("line {line} is neither `{NO_GAP}…` nor `{CUT}NAME because …`")),
            }
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    })
}

fn import(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    let mut add = |name: &Ident, path: Vec<String>| found.push((name.to_string(), path));
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            import(&path.tree, before, found);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            if let Some(last) = before.last() {
                found.push((last.clone(), before.clone()));
            }
        }
        UseTree::Name(name) => add(&name.ident, [before.as_slice(), &[name.ident.to_string()]].concat()),
        UseTree::Rename(rename) => add(&rename.rename, [before.as_slice(), &[rename.ident.to_string()]].concat()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| import(tree, before, found)),
        UseTree::Glob(_) => found.push((format!("*{}", before.join("::")), before.clone())),
    }
}

/// The names of the symbols that `symbol_table!` calls optional.
fn optional_symbols(tokens: &str) -> Vec<String> {
    let Some((_, rest)) = tokens.split_once("optional {") else { return Vec::new() };
    let body = rest.split_once('}').map_or(rest, |(body, _)| body);
    let mut parts = body.split('"');
    let mut names = Vec::new();
    while let (Some(before), Some(quoted)) = (parts.next(), parts.next()) {
        if before.trim_end().ends_with('=') {
            names.push(quoted.to_owned());
        }
    }
    names
}
