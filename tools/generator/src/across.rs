//! Puts the same item of several releases side by side, for emitters that tell how releases differ.
//!
//! What needs no such telling is emitted from a release itself or from the model's union.

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
    name: impl Fn(&'m T) -> &'m str,
) -> Vec<Entry<'m, T>> {
    across_lists(model, model.releases.iter().map(|release| Some(list(release))).collect(), name)
}

/// [`across`] for lists that are not there in every release.
pub fn across_lists<'m, T>(
    model: &'m Model,
    lists: Vec<Option<&'m [T]>>,
    name: impl Fn(&'m T) -> &'m str,
) -> Vec<Entry<'m, T>> {
    let order = ordered_names(lists.iter().flatten().copied(), &name);
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

/// The names of all items of lists that stand oldest first: the last list's order, and what only earlier ones have behind
/// what it followed there.
pub(crate) fn ordered_names<'m, T: 'm>(
    lists: impl DoubleEndedIterator<Item = &'m [T]>,
    name: impl Fn(&'m T) -> &'m str,
) -> Vec<&'m str> {
    let mut order: Vec<&str> = Vec::new();
    for list in lists.rev() {
        let mut place = 0;
        for item in list {
            match order.iter().position(|known| *known == name(item)) {
                Some(known) => place = known + 1,
                None => {
                    order.insert(place, name(item));
                    place += 1;
                }
            }
        }
    }
    order
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
