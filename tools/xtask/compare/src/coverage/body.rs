//! A function's body: what it names, what its variables are as far as the text tells, and where it answers that something
//! is not supported.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Ident, Item, Pat, Token, Type};

/// Codes that say that something is missing. An argument's own error is none of them.
const CODES: [&str; 4] = [
    "ERROR_UNSUPPORTED_FEATURE",
    "ERROR_UNSUPPORTED_ENUMERATION",
    "ERROR_UNSUPPORTED_IMAGE_FORMAT",
    "ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE",
];

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

/// A body's calls and answers.
#[derive(Default)]
pub struct Body {
    /// What it names.
    pub calls: Vec<Call>,
    /// Lines of such answers.
    pub sites: Vec<usize>,
    /// Types that parameters and annotated variables are made of, by name.
    pub typed: BTreeMap<String, Vec<String>>,
    /// Variables without a type, with what they are bound to.
    pub bound: BTreeMap<String, Receiver>,
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

/// The name of a type.
pub fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => None,
    }
}

/// Every type that a type is made of; those that a backend chooses are nobody's here.
pub fn type_names(of: &Type) -> Vec<String> {
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
