//! What all emitters of Rust share: types, documentation comments, file heads.

use std::fmt::Write;

use crate::ctype::{Array, CType};
use crate::emit::wrap;
use crate::model::{PRIMITIVES, Param};
use crate::names;
use crate::output::{Comment, Output};

/// What every file of types begins with.
pub const IMPORTS: &str = "#[allow(unused_imports, reason = \"not every specification uses both\")]\nuse super::*;\n#[allow(unused_imports, reason = \"not every specification uses both\")]\nuse crate::CBool;\n\n";

/// A generated Rust file: what it is for, inner attributes, then the code.
pub fn file(path: &str, purpose: &str, attributes: &[&str], code: &str) -> Output {
    let mut body = String::new();
    for line in wrap(purpose, 108) {
        let _ = writeln!(body, "//! {line}");
    }
    // rustfmt must leave the file as it is, or its hash would no longer fit.
    body.push_str("\n#![cfg_attr(rustfmt, rustfmt_skip)]\n");
    for attribute in attributes {
        let _ = writeln!(body, "#![{attribute}]");
    }
    body.push('\n');
    body.push_str(code);
    Output::new(path, Comment::Slashes, body)
}

/// A documentation comment.
pub fn doc(indent: &str, text: &str) -> String {
    let mut out = String::new();
    for line in wrap(&escape(text), 104 - indent.len()) {
        let _ = writeln!(out, "{indent}/// {line}");
    }
    out
}

/// Keeps brackets outside of code from being read as links or markup.
fn escape(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        if !code && matches!(c, '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A C type in Rust; `ffi` is the path that leads to the bindings, empty within them.
pub fn ty(ty: &CType, ffi: &str) -> String {
    let primitive = PRIMITIVES.iter().find(|primitive| primitive.0 == ty.base);
    let base = match primitive {
        Some((_, rust, _)) if *rust == "CBool" => format!("{ffi}CBool"),
        Some((_, rust, _)) => (*rust).to_owned(),
        None if names::is_flag_enum(&ty.base) => {
            format!("{ffi}{}", names::flags_typedef(&ty.base))
        }
        None => format!("{ffi}{}", ty.base),
    };
    let mut out = base;
    for level in 0..ty.pointers {
        let pointer = if level == 0 && ty.constant { "*const" } else { "*mut" };
        out = format!("{pointer} {out}");
    }
    match ty.array {
        Array::Fixed(n) => format!("[{out}; {n}]"),
        Array::None | Array::Open => out,
    }
}

/// `name: type` of each parameter.
pub fn params(params: &[Param], ffi: &str) -> String {
    let one = |param: &Param| format!("{}: {}", names::rust_ident(&param.name), ty(&param.ty, ffi));
    params.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The parameters' names.
pub fn arguments(params: &[Param]) -> String {
    params.iter().map(|param| names::rust_ident(&param.name)).collect::<Vec<_>>().join(", ")
}

/// The type of a pointer to a function.
pub fn function_pointer(list: &[Param], returns: &CType) -> String {
    let result = if *returns == CType::named("void") { String::new() } else { format!(" -> {}", ty(returns, "")) };
    format!("Option<unsafe extern \"C\" fn({}){result}>", params(list, ""))
}

/// A Rust string literal.
pub fn literal(text: &str) -> String {
    format!("{text:?}")
}
