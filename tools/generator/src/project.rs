//! Extensions of this project's own: the files of `spec/api` that say `project = true`.
//!
//! They are part of everything that is generated, and of nothing that is compared with the vendor's API: [`upstream`]
//! takes them out of a model, [`names`] lists what they put into the C headers. What they may not do is
//! [`crate::lint`]'s.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::model::{Model, Release};
use crate::names;

/// Numbers that these extensions give to enumerators of the vendor's enumerations and to structures: the letters `UR`
/// in the upper half, far above every number that a release has given. Nothing else may use them.
pub const VALUES: RangeInclusive<u32> = 0x5552_0000..=0x5552_ffff;

/// The files that are extensions of the project's own, by their names without folder and extension.
pub fn files(model: &Model) -> BTreeSet<String> {
    model.files.iter().filter(|file| file.project).map(|file| file.stem.clone()).collect()
}

/// The model as it is without any of them.
pub fn upstream(mut model: Model) -> Model {
    let own = files(&model);
    for release in model.releases.iter_mut().chain([&mut model.union]) {
        let gone = names(release, &own);
        *release = part(release, |file| !own.contains(file));
        for item in &mut release.enums {
            item.values.retain(|value| !own.contains(&value.file));
        }
        release.kinds.retain(|name, _| !gone.contains(name));
    }
    model.files.retain(|file| !file.project);
    model
}

/// A release with the items of some files alone. What a name stands for is still known of all names, and an enumeration
/// keeps the enumerators that other files add to it.
pub fn part(release: &Release, has: impl Fn(&str) -> bool) -> Release {
    let mut part = release.clone();
    part.handles.retain(|item| has(&item.file));
    part.typedefs.retain(|item| has(&item.file));
    part.defines.retain(|item| has(&item.file));
    part.enums.retain(|item| has(&item.file));
    part.structs.retain(|item| has(&item.file));
    part.unions.retain(|item| has(&item.file));
    part.callbacks.retain(|item| has(&item.file));
    part.functions.retain(|item| has(&item.file));
    part.params_structs.retain(|item| has(&item.file));
    part.extensions.retain(|item| has(&item.file));
    part
}

/// The files whose functions form tables of the project's own; their types and functions have a header of their own.
pub fn files_with_table(model: &Model) -> BTreeSet<String> {
    model.files.iter().filter(|file| file.table.is_some()).map(|file| file.stem.clone()).collect()
}

/// Every name that the files in `own` add to a release's headers.
pub fn names(release: &Release, own: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |file: &String, name: &str| {
        if own.contains(file) {
            found.insert(name.to_owned());
        }
    };
    release.handles.iter().for_each(|item| add(&item.file, &item.name));
    release.typedefs.iter().for_each(|item| add(&item.file, &item.name));
    release.defines.iter().for_each(|item| add(&item.file, &item.name));
    release.structs.iter().for_each(|item| add(&item.file, &item.name));
    release.unions.iter().for_each(|item| add(&item.file, &item.name));
    release.callbacks.iter().for_each(|item| add(&item.file, &item.name));
    release.functions.iter().for_each(|item| add(&item.file, &item.name));
    release.params_structs.iter().for_each(|item| add(&item.file, &item.name));
    for item in &release.enums {
        add(&item.file, &item.name);
        add(&item.file, &names::widening_enumerator(&item.name));
        if item.flags {
            add(&item.file, &names::flags_typedef(&item.name));
            add(&item.file, &names::flags_mask(&item.name));
        }
        item.values.iter().for_each(|value| add(&value.file, &value.name));
    }
    found
}
