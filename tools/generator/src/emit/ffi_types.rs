//! Bindings: handles, typedefs, constants and callbacks.

use std::fmt::Write;

use crate::emit::rust;
use crate::model::{Callback, Define, Handle, Release, Typedef};

/// The content of `types.rs`.
pub fn emit(union: &Release) -> String {
    let mut out = String::from(rust::IMPORTS);
    union.handles.iter().for_each(|item| out.push_str(&(handle(item) + &handle_alias(item))));
    union.typedefs.iter().for_each(|item| out.push_str(&typedef(item)));
    union.defines.iter().for_each(|item| out.push_str(&define(item)));
    union.callbacks.iter().for_each(|item| out.push_str(&callback(item)));
    out
}

fn handle(item: &Handle) -> String {
    let mut out = format!("/// What [`{}`] points to; only an adapter knows more.\n", item.name);
    let _ = write!(
        out,
        "#[repr(C)]\n#[derive(Debug)]\npub struct {}_ {{\n    opaque: [u8; 0],\n    _not_send: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,\n}}\n\n",
        item.name
    );
    out
}

fn handle_alias(item: &Handle) -> String {
    format!("{}pub type {} = *mut {}_;\n\n", rust::doc("", &item.doc), item.name, item.name)
}

fn typedef(item: &Typedef) -> String {
    format!("{}pub type {} = {};\n\n", rust::doc("", &item.doc), item.name, rust::ty(&item.ty, ""))
}

fn define(item: &Define) -> String {
    format!("{}pub const {}: &str = {};\n\n", rust::doc("", &item.doc), item.name, rust::literal(&item.value))
}

fn callback(item: &Callback) -> String {
    format!(
        "{}pub type {} = {};\n\n",
        rust::doc("", &item.doc),
        item.name,
        rust::function_pointer(&item.params, &item.returns)
    )
}
