//! Puts the same item of several releases side by side, so that an emitter writes what is common once and what
//! differs under a `cfg`.

use crate::model::{Model, Release};

/// One item in every release; `None` where the release does not have it.
#[derive(Debug)]
pub struct Entry<'m, T> {
    /// The item's name.
    pub name: String,
    /// In the order of the model's releases.
    pub per_release: Vec<Option<(&'m Release, &'m T)>>,
}

/// A piece of text and the releases it is for.
#[derive(Debug)]
pub struct Variant {
    /// Which releases, in the model's order.
    pub releases: Vec<bool>,
    /// The text.
    pub text: String,
}

/// The union of a list over all releases, in the newest one's order; what only older releases have follows the
/// item it followed there.
pub fn across<'m, T>(
    model: &'m Model,
    list: impl Fn(&'m Release) -> &'m [T],
    name: impl Fn(&T) -> &str,
) -> Vec<Entry<'m, T>> {
    across_lists(model, model.releases.iter().map(|release| Some(list(release))).collect(), name)
}

/// The releases themselves as an item, for what is one in each of them.
pub fn whole_release(model: &Model) -> Vec<Entry<'_, Release>> {
    across(model, |release| std::slice::from_ref(release), |_| "release")
}

/// [`across`] for lists that are not there in every release.
pub fn across_lists<'m, T>(
    model: &'m Model,
    lists: Vec<Option<&'m [T]>>,
    name: impl Fn(&T) -> &str,
) -> Vec<Entry<'m, T>> {
    let mut order: Vec<&str> = Vec::new();
    for list in lists.iter().rev().flatten() {
        let mut place = 0;
        for item in list.iter() {
            match order.iter().position(|known| *known == name(item)) {
                Some(known) => place = known + 1,
                None => {
                    order.insert(place, name(item));
                    place += 1;
                }
            }
        }
    }
    let find = |wanted: &str| {
        model
            .releases
            .iter()
            .zip(&lists)
            .map(|(release, list)| {
                let item = list.as_ref()?.iter().find(|item| name(item) == wanted)?;
                Some((release, item))
            })
            .collect()
    };
    order.into_iter().map(|wanted| Entry { name: wanted.to_owned(), per_release: find(wanted) }).collect()
}

impl<'m, T> Entry<'m, T> {
    /// The item of the newest release that has it.
    pub fn latest(&self) -> (&'m Release, &'m T) {
        self.per_release.iter().rev().flatten().next().copied().expect("an entry is made from an item")
    }

    /// Which releases have the item.
    pub fn presence(&self) -> Vec<bool> {
        self.per_release.iter().map(Option::is_some).collect()
    }

    /// Writes the item for each release and joins the releases that come out the same.
    pub fn render(&self, write: impl Fn(&'m Release, &'m T) -> String) -> Vec<Variant> {
        let mut variants: Vec<Variant> = Vec::new();
        for (index, found) in self.per_release.iter().enumerate() {
            let Some((release, item)) = found else { continue };
            let text = write(release, item);
            match variants.iter_mut().find(|variant| variant.text == text) {
                Some(variant) => variant.releases[index] = true,
                None => {
                    let mut releases = vec![false; self.per_release.len()];
                    releases[index] = true;
                    variants.push(Variant { releases, text });
                }
            }
        }
        variants
    }
}

/// The cargo feature that selects a release.
pub fn feature(release: &str) -> String {
    format!("release-{}", release.replace('.', "-"))
}

/// The condition under which code for these releases is compiled, within code that is compiled for `context`;
/// empty where there is none to state.
pub fn cfg(model: &Model, releases: &[bool], context: &[bool]) -> String {
    if releases == context {
        return String::new();
    }
    let newest = releases.len() - 1;
    let features = |wanted: bool| -> Vec<String> {
        model.releases[..newest]
            .iter()
            .zip(releases)
            .filter(|(_, present)| **present == wanted)
            .map(|(release, _)| format!("feature = \"{}\"", feature(&release.name)))
            .collect()
    };
    let one_of = |list: Vec<String>| {
        if list.len() == 1 { list[0].clone() } else { format!("any({})", list.join(", ")) }
    };
    if releases[newest] {
        format!("#[cfg(not({}))]", one_of(features(false)))
    } else {
        format!("#[cfg({})]", one_of(features(true)))
    }
}

/// Every release.
pub fn everywhere(model: &Model) -> Vec<bool> {
    vec![true; model.releases.len()]
}

/// Writes variants one below the other, each under its condition.
pub fn push_variants(out: &mut String, model: &Model, indent: &str, context: &[bool], variants: &[Variant]) {
    for variant in variants {
        let condition = cfg(model, &variant.releases, context);
        if !condition.is_empty() {
            out.push_str(indent);
            out.push_str(&condition);
            out.push('\n');
        }
        out.push_str(&variant.text);
    }
}
