//! Bindings: handles, typedefs, constants, callbacks and what the release says of itself.

use std::fmt::Write;

use crate::across::{across, whole_release};
use crate::emit::rust;
use crate::model::{Callback, Define, Handle, Model, Typedef};

/// The content of `types.rs`.
pub fn emit(model: &Model) -> String {
    let mut out = String::from(rust::IMPORTS);
    release_facts(&mut out, model);
    for entry in across(model, |r| &r.handles, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, item| handle(item));
        rust::push_item(&mut out, model, &entry, |_, item| handle_alias(item));
    }
    for entry in across(model, |r| &r.typedefs, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, item| typedef(item));
    }
    for entry in across(model, |r| &r.defines, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, item| define(item));
    }
    for entry in across(model, |r| &r.callbacks, |item| &item.name) {
        rust::push_item(&mut out, model, &entry, |_, item| callback(item));
    }
    out
}

fn release_facts(out: &mut String, model: &Model) {
    for entry in &whole_release(model) {
        rust::push_item(out, model, entry, |_, release| {
            format!(
                "/// The oneAPI release whose layout these bindings have.\npub const RELEASE: &str = {};\n\n",
                rust::literal(&release.name)
            )
        });
        rust::push_item(out, model, entry, |_, release| {
            let (major, minor) = release.version;
            format!(
                "/// The API's version in this release, major and minor.\npub const VERSION: (u32, u32) = ({major}, {minor});\n\n"
            )
        });
    }
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
