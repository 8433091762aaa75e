//! The union of all releases as one more [`Release`]: every item that any release has, as the newest release with it has it.
//!
//! What is compiled once for all releases is emitted from it. It is no release: no library has its tables, and a value
//! that moved has its newest number here.

use std::collections::BTreeMap;

use crate::across::ordered_names;
use crate::derive;
use crate::model::{Enum, Release, Table};
use crate::resolve::kinds;

/// The union of releases, which stand in their order and are at least one.
pub fn union(releases: &[Release]) -> Release {
    let newest = releases.last().expect("the loader refuses a specification without releases");
    let mut union = Release {
        name: "any release".to_owned(),
        at: newest.at.clone(),
        version: newest.version,
        handles: merged(releases, |r| &r.handles, |item| &item.name),
        typedefs: merged(releases, |r| &r.typedefs, |item| &item.name),
        defines: merged(releases, |r| &r.defines, |item| &item.name),
        enums: merged(releases, |r| &r.enums, |item| &item.name),
        structs: merged(releases, |r| &r.structs, |item| &item.name),
        unions: merged(releases, |r| &r.unions, |item| &item.name),
        callbacks: merged(releases, |r| &r.callbacks, |item| &item.name),
        functions: merged(releases, |r| &r.functions, |item| &item.name),
        params_structs: merged(releases, |r| &r.params_structs, |item| &item.name),
        tables: merged(releases, |r| &r.tables, |item| &item.name),
        // They are the same in every release.
        extensions: newest.extensions.clone(),
        kinds: BTreeMap::new(),
    };
    union.enums.iter_mut().for_each(|item| enumerators(releases, item));
    union.tables.iter_mut().for_each(|table| slots(releases, table));
    let slots: Vec<_> = union.functions.iter().map(|function| derive::slot_of(&union, &function.name)).collect();
    union.functions.iter_mut().zip(slots).for_each(|(function, slot)| function.slot = slot);
    union.kinds = kinds(&union);
    union
}

/// Each item of any release once, in the newest release's order; what only older ones have follows what it followed there.
fn merged<'m, T: Clone + 'm>(
    releases: &'m [Release],
    list: impl Fn(&'m Release) -> &'m [T],
    name: impl Fn(&'m T) -> &'m str,
) -> Vec<T> {
    let lists: Vec<&[T]> = releases.iter().map(list).collect();
    merged_lists(&lists, name)
}

fn merged_lists<'m, T: Clone>(lists: &[&'m [T]], name: impl Fn(&'m T) -> &'m str) -> Vec<T> {
    let newest = |wanted: &str| lists.iter().rev().find_map(|list| list.iter().find(|item| name(item) == wanted));
    ordered_names(lists.iter().copied(), &name).into_iter().filter_map(newest).cloned().collect()
}

/// The enumerators of every release that has the enumeration, ordered by value. A mask that is written down gives way to
/// the bits that only an older release names.
fn enumerators(releases: &[Release], item: &mut Enum) {
    let lists: Vec<_> =
        releases.iter().filter_map(|r| r.enums.iter().find(|e| e.name == item.name)).map(|e| &e.values[..]).collect();
    item.values = merged_lists(&lists, |value| &value.name);
    item.values.sort_by_key(|value| value.value);
    let mut masks: Vec<u32> =
        releases.iter().filter_map(|r| r.enums.iter().find(|e| e.name == item.name)).map(Enum::mask).collect();
    masks.dedup();
    item.mask_by_release = masks.len() > 1;
    if let Some(mask) = &mut item.written_mask {
        *mask &= item.values.iter().fold(!0, |bits, value| bits & !value.value);
    }
}

fn slots(releases: &[Release], table: &mut Table) {
    let lists: Vec<_> =
        releases.iter().filter_map(|r| r.tables.iter().find(|t| t.name == table.name)).map(|t| &t.slots[..]).collect();
    table.slots = merged_lists(&lists, |slot| &slot.function);
}
