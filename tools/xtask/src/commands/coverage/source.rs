//! Rust sources as this command sees them: functions with the gaps that they document, the places in them that answer
//! that something is not supported, and what they call. It reads text and resolves nothing; see [`super::reach`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, FnArg, Ident, ImplItem, Item, Meta, Pat, ReturnType, Signature, Token, TraitItem,
    Type, UseTree,
};

use crate::support::failure::{Context, Result};
use crate::support::files;

/// The crate that both backends share, as [`Function::of`] names it.
pub const ENGINE: &str = "";

/// The section of a function's documentation that lists its gaps.
const SECTION: &str = "# Unsupported";

/// Codes that say that something is missing. An argument's own error is none of them.
const CODES: [&str; 4] = [
    "ERROR_UNSUPPORTED_FEATURE",
    "ERROR_UNSUPPORTED_ENUMERATION",
    "ERROR_UNSUPPORTED_IMAGE_FORMAT",
    "ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE",
];

/// Marks a place that makes such an answer and is no gap: on the line above it.
const NO_GAP: &str = "// coverage: none because ";

/// Marks a call whose gaps cannot come up: anywhere in the calling function.
const CUT: &str = "// coverage: without ";

/// How much of a function a gap takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Every call is refused.
    Always,
    /// Some calls are.
    Some,
    /// None on a device or a library that has what is told.
    Needs,
    /// Nothing is refused; worth knowing all the same. Told of the function itself, never of its callers.
    Note,
}

/// One line of a function's section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The backend that has it; both if none is named.
    pub backend: Option<&'static str>,
    /// How much it takes away.
    pub weight: Weight,
    /// What is missing, and why.
    pub text: String,
}

/// What a method is called on, or a variable bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// A variable.
    Variable(String),
    /// A field of that name, or what a function of that name gives.
    Made(String),
    /// Anything else.
    Unknown,
}

/// What a function names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A path, called or handed on.
    Path(Vec<String>),
    /// A method.
    Method {
        /// What it is called on.
        on: Receiver,
        /// Its name.
        name: String,
        /// How many arguments it is given.
        arguments: usize,
    },
}

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
    cuts: Vec<String>,
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

    /// Whether it says that it never gets to a function of that name.
    pub fn cuts(&self, name: &str) -> bool {
        self.cuts.iter().any(|cut| cut == name)
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
            let module = if stem == "lib" { String::new() } else { stem.replace('/', "::") };
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
        for item in items_of(&doc_lines(attributes)) {
            match gap(self.of, &item) {
                Ok(gap) => function.gaps.push(gap),
                Err(problem) => function.wrong.push(problem),
            }
        }
        self.comments(span.start().line..=span.end().line, &mut function);
        body.sites.dedup();
        let excused = |line: usize| line >= 2 && self.lines[line - 2].trim_start().starts_with(NO_GAP);
        function.sites = body.sites.into_iter().filter(|line| !excused(*line)).collect();
        function.calls = body.calls;
        function.typed = body.typed;
        function.bound = body.bound;
        self.code.functions.push(function);
    }

    fn comments(&self, lines: RangeInclusive<usize>, function: &mut Function) {
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
                None if what == "none" => {}
                None => function.wrong.push(format!("line {line} is neither `{NO_GAP}…` nor `{CUT}NAME because …`")),
            }
        }
    }
}

/// A body's calls and answers.
#[derive(Default)]
struct Body {
    calls: Vec<Call>,
    sites: Vec<usize>,
    typed: BTreeMap<String, Vec<String>>,
    bound: BTreeMap<String, Receiver>,
    compared: bool,
}

impl Body {
    fn site(&mut self, span: Span) {
        if !self.compared {
            self.sites.push(span.start().line);
        }
    }
}

impl<'ast> Visit<'ast> for Body {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let last = names.last().map_or("", String::as_str);
        let ends = |with: &[&str]| names.len() >= with.len() && names[names.len() - with.len()..] == *with;
        let made = ends(&["Error", "unsupported"]) || ends(&["Reply", "Unsupported"]);
        if made || CODES.contains(&last) {
            self.site(path.span());
        }
        self.calls.push(Call::Path(names));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if name == "unsupported" {
            self.site(call.method.span());
        }
        self.calls.push(Call::Method { on: receiver(&call.receiver), name, arguments: call.args.len() });
        visit::visit_expr_method_call(self, call);
    }

    /// What a code is compared with is not answered.
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let outer = self.compared;
        self.compared |= matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        visit::visit_expr_binary(self, binary);
        self.compared = outer;
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        match &local.pat {
            Pat::Type(typed) => {
                if let Pat::Ident(name) = &*typed.pat {
                    self.typed.insert(name.ident.to_string(), type_names(&typed.ty));
                }
            }
            Pat::Ident(name) => {
                if let Some(init) = &local.init {
                    self.bound.insert(name.ident.to_string(), receiver(&init.expr));
                }
            }
            _ => {}
        }
        visit::visit_local(self, local);
    }

    /// Arguments of macros, as far as they are expressions.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let compares = call.path.segments.last().is_some_and(|name| name.ident.to_string().starts_with("assert"));
        if let Ok(arguments) = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            let outer = self.compared;
            self.compared |= compares;
            arguments.iter().for_each(|argument| self.visit_expr(argument));
            self.compared = outer;
        }
    }

    /// What is matched with a code is not answered.
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    /// An item within a body is its own; constants may hold functions.
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Const(constant) = item {
            self.visit_expr(&constant.expr);
        }
    }
}

fn receiver(expression: &Expr) -> Receiver {
    let named = |name: Option<&Ident>| name.map_or(Receiver::Unknown, |name| Receiver::Made(name.to_string()));
    match expression {
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) => Receiver::Variable(name.to_string()),
            None => Receiver::Unknown,
        },
        Expr::Field(field) => match &field.member {
            syn::Member::Named(name) => named(Some(name)),
            syn::Member::Unnamed(_) => Receiver::Unknown,
        },
        Expr::MethodCall(call) => named(Some(&call.method)),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => named(path.path.segments.last().map(|segment| &segment.ident)),
            _ => Receiver::Unknown,
        },
        Expr::Paren(inner) => receiver(&inner.expr),
        Expr::Try(inner) => receiver(&inner.expr),
        Expr::Unary(inner) => receiver(&inner.expr),
        Expr::Reference(inner) => receiver(&inner.expr),
        _ => Receiver::Unknown,
    }
}

fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => None,
    }
}

/// Every type that a type is made of; those that a backend chooses are nobody's here.
fn type_names(of: &Type) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let backends = path.segments.len() > 1 && path.segments[0].ident == "D";
            if let (false, Some(last)) = (backends, path.segments.last()) {
                self.0.push(last.ident.to_string());
            }
            visit::visit_path(self, path);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_type(of);
    names.0
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

fn doc_lines(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let Expr::Lit(literal) = &pair.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            lines.extend(text.value().lines().map(|line| line.trim().to_owned()));
        }
    }
    lines
}

/// The items of the section's list.
fn items_of(doc: &[String]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let section = doc.iter().skip_while(|line| *line != SECTION).skip(1);
    for line in section.take_while(|line| !line.starts_with("# ")) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(item), _) => items.push(item.to_owned()),
            (None, Some(last)) if !line.is_empty() => {
                last.push(' ');
                last.push_str(line);
            }
            _ => {}
        }
    }
    items
}

fn gap(of: &'static str, item: &str) -> std::result::Result<Gap, String> {
    let mut backend = (of != ENGINE).then_some(of);
    let mut text = item;
    for name in ["CUDA", "HIP"] {
        if let Some(rest) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")) {
            if backend.is_some_and(|own| own != name) {
                return Err(format!("a gap of {name} in another backend: `{item}`"));
            }
            (backend, text) = (Some(name), rest);
        }
    }
    let mut weight = Weight::Some;
    for (word, of) in [("always: ", Weight::Always), ("needs: ", Weight::Needs), ("note: ", Weight::Note)] {
        if let Some(rest) = text.strip_prefix(word) {
            (weight, text) = (of, rest);
        }
    }
    let text = text.trim().trim_end_matches('.').to_owned();
    if text.is_empty() {
        return Err(format!("a gap without words: `{item}`"));
    }
    if text.contains('|') {
        return Err(format!("a gap with a `|`, which would end its cell: `{item}`"));
    }
    Ok(Gap { backend, weight, text })
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
