//! What a function's documentation says is missing: the section `# Unsupported`, an item a gap.
//!
//! An item is text behind up to two marks: `CUDA: ` or `HIP: ` where one backend alone has the gap (a driver's are its own
//! backend's), then `always: ` where every call is refused, `needs: ` for what a device or a library must have, or
//! `note: ` for what is refused to nobody and worth knowing. Without the second mark some calls are refused.

use syn::{Attribute, Expr, Meta};

use super::source::ENGINE;

/// The section's heading.
pub const SECTION: &str = "# Unsupported";

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

/// The gaps that the documentation tells, each readable or not.
pub fn of_attributes(of: &'static str, attributes: &[Attribute]) -> Vec<Result<Gap, String>> {
    items_of(&doc_lines(attributes)).iter().map(|item| gap(of, item)).collect()
}

/// The lines of documentation.
pub fn doc_lines(attributes: &[Attribute]) -> Vec<String> {
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

fn gap(of: &'static str, item: &str) -> Result<Gap, String> {
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
