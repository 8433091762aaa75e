//! `adapters/common/src/api/map.rs` as data: which function answers which entry point, and why none answers the others.

use std::collections::BTreeMap;

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, ImplItem, Item, LitStr, Path, Token};

use super::api::Group;

/// The table, by entry point.
#[derive(Debug, Default)]
pub struct Table {
    forwarded: BTreeMap<String, Vec<String>>,
    left_out: BTreeMap<String, String>,
    /// Names that stand twice in the same way.
    twice: Vec<String>,
}

/// Who answers an entry point.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<'t> {
    /// The function of the engine with that path from the crate's root.
    Engine(&'t [String]),
    /// The generated default, for that reason.
    Nobody(&'t str),
    /// The loader.
    Loader,
}

/// How `left_out!` says that a function with a slot in the adapter's table is the loader's.
const LOADER: &str = "the loader answers";

struct Forward {
    name: Ident,
    target: Path,
}

impl Parse for Forward {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=>]>()?;
        let target: syn::ExprPath = input.parse()?;
        Ok(Forward { name, target: target.path })
    }
}

struct LeftOut {
    reason: LitStr,
    names: Punctuated<Ident, Token![,]>,
}

impl Parse for LeftOut {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let reason = input.parse()?;
        input.parse::<Token![=>]>()?;
        Ok(LeftOut { reason, names: Punctuated::parse_terminated(input)? })
    }
}

/// Reads the file's text.
pub fn read(text: &str) -> syn::Result<Table> {
    let mut table = Table::default();
    for item in syn::parse_file(text)?.items {
        match item {
            Item::Impl(block) => {
                for item in block.items {
                    if let ImplItem::Macro(call) = item
                        && call.mac.path.is_ident("forward")
                    {
                        let Forward { name, target } = call.mac.parse_body()?;
                        let names = target.segments.iter().map(|segment| segment.ident.to_string());
                        let path = names.skip_while(|name| name == "crate").collect();
                        table.forward(name.to_string(), path);
                    }
                }
            }
            Item::Macro(call) if call.mac.path.is_ident("left_out") => {
                let LeftOut { reason, names } = call.mac.parse_body()?;
                if reason.value().trim().is_empty() {
                    return Err(syn::Error::new(reason.span(), "a reason is missing"));
                }
                for name in names {
                    table.leave_out(name.to_string(), reason.value());
                }
            }
            _ => {}
        }
    }
    Ok(table)
}

impl Table {
    fn forward(&mut self, name: String, path: Vec<String>) {
        if self.forwarded.insert(name.clone(), path).is_some() {
            self.twice.push(format!("{name} is forwarded twice"));
        }
    }

    fn leave_out(&mut self, name: String, reason: String) {
        if self.left_out.insert(name.clone(), reason).is_some() {
            self.twice.push(format!("{name} is left out twice"));
        }
    }

    /// Who answers a function of the release.
    pub fn answer(&self, name: &str, loaders: bool) -> Result<Answer<'_>, String> {
        match (self.forwarded.get(name), self.left_out.get(name)) {
            (Some(_), Some(_)) => Err(format!("{name} is forwarded and left out; it is one of them")),
            (Some(_), None) if loaders => Err(format!("{name} is forwarded though the loader answers it")),
            (None, None) if loaders => Ok(Answer::Loader),
            (Some(path), None) => Ok(Answer::Engine(path)),
            (None, Some(reason)) if reason == LOADER => Ok(Answer::Loader),
            (None, Some(reason)) => Ok(Answer::Nobody(reason)),
            (None, None) => Err(format!("{name} is neither forwarded nor left out with a reason")),
        }
    }

    /// What the table names without being asked for: names twice, and functions that are left out of no release.
    /// A function of an older release alone may be forwarded.
    pub fn strangers(&self, api: &[Group]) -> Vec<String> {
        let known = |name: &str| api.iter().any(|group| group.functions.iter().any(|own| own == name));
        let strangers = self.left_out.keys().filter(|name| !known(name));
        let strangers = strangers.map(|name| format!("{name} is left out, and no function of the release"));
        self.twice.iter().cloned().chain(strangers).collect()
    }
}
