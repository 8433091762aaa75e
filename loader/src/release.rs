//! Which table has how many slots in which release, and which release an adapter's own table therefore follows. Layout is
//! a property of the release, not of the version number, which has stayed 0.12: this is how an adapter of another release
//! is recognised before anything is dispatched through it. Holds no state and calls no adapter.
//!
//! The numbers come from `spec/releases/*.toml` by way of the generator, so a new release is known here at once.

use ur_ffi::releases::Release;

/// The tables of one release, in the order of `ur_dditable_t`.
#[derive(Debug)]
pub struct Layout {
    /// The release.
    pub release: Release,
    /// Each table's name, as in `urGet<name>ProcAddrTable`, and its number of slots.
    pub tables: &'static [(&'static str, usize)],
}

pub use crate::generated::releases::LAYOUTS;

/// The most slots that a getter of a foreign release is expected to write: the buffers handed to getters have this size.
pub const ROOM: usize = 512;

/// What an adapter's getters wrote: for each exported getter its table's name and [`ROOM`] words.
pub type Reported = Vec<(&'static str, Vec<usize>)>;

/// The names of all tables of all releases, each once.
pub fn table_names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in LAYOUTS.iter().flat_map(|r| r.tables) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

impl Layout {
    /// The layout of a release.
    pub fn of(release: Release) -> &'static Layout {
        LAYOUTS.iter().find(|layout| layout.release == release).unwrap_or(&LAYOUTS[LAYOUTS.len() - 1])
    }

    /// Number of words in `ur_dditable_t`.
    pub fn words(&self) -> usize {
        self.tables.iter().map(|(_, slots)| slots).sum()
    }

    /// Why the getters cannot be of this release, judging by what they wrote alone.
    pub fn contradicted_by_getters(&self, reported: &Reported) -> Option<String> {
        reported.iter().find_map(|(name, words)| {
            let written = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
            match self.tables.iter().find(|(table, _)| table == name) {
                None if written == 0 => None,
                None => Some(format!("it has a table {name}")),
                Some((_, slots)) if written > *slots => {
                    Some(format!("its table {name} has at least {written} slots instead of {slots}"))
                }
                Some(_) => None,
            }
        })
    }

    /// Why the table behind a handle cannot be laid out as this release lays it out. `slot` reads the n-th word of it; it
    /// is called in ascending order and not beyond the first contradiction, which in a table of another release comes
    /// long before the shorter one's end.
    pub fn contradicted_by_table(&self, reported: &Reported, mut slot: impl FnMut(usize) -> usize) -> Option<String> {
        let mut start = 0;
        for (name, slots) in self.tables {
            if let Some((_, words)) = reported.iter().find(|(table, _)| table == name) {
                for (index, &word) in words[..*slots].iter().enumerate() {
                    if slot(start + index) != word {
                        return Some(format!(
                            "slot {index} of table {name} behind its handle is not the one that urGet{name}ProcAddrTable gave"
                        ));
                    }
                }
            }
            start += slots;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a well-behaved adapter of `release` reports and keeps behind its handles: every slot another address.
    fn adapter_of(release: &Layout) -> (Reported, Vec<usize>) {
        let mut table = Vec::new();
        let reported = release
            .tables
            .iter()
            .map(|&(name, slots)| {
                let mut words = vec![0; ROOM];
                for word in &mut words[..slots] {
                    *word = 0x1000 + table.len();
                    table.push(*word);
                }
                (name, words)
            })
            .collect();
        (reported, table)
    }

    #[test]
    fn an_adapter_agrees_with_its_own_release_and_with_no_other() {
        for built in &LAYOUTS {
            let (reported, table) = adapter_of(built);
            for judged in &LAYOUTS {
                let contradiction = judged.contradicted_by_table(&reported, |i| table.get(i).copied().unwrap_or(0));
                assert_eq!(
                    contradiction.is_none(),
                    built.release == judged.release,
                    "{:?} as {:?}",
                    built.release,
                    judged.release
                );
            }
        }
    }

    #[test]
    fn a_table_of_another_release_is_never_read_past_its_end() {
        for built in &LAYOUTS {
            let (reported, table) = adapter_of(built);
            for judged in &LAYOUTS {
                judged.contradicted_by_table(&reported, |i| table[i]);
            }
        }
    }

    #[test]
    fn a_longer_table_and_an_unknown_table_give_a_release_away() {
        let (reported, _) = adapter_of(&LAYOUTS[1]);
        let reason = LAYOUTS[0].contradicted_by_getters(&reported).unwrap();
        assert!(reason.contains("EventExp"), "{reason}");
        let mut longer = reported;
        let kernel = longer.iter_mut().find(|(name, _)| *name == "Kernel").unwrap();
        kernel.1[40] = 1;
        let reason = LAYOUTS[1].contradicted_by_getters(&longer).unwrap();
        assert!(reason.contains("Kernel has at least 41 slots instead of 13"), "{reason}");
    }

    #[test]
    fn a_getter_that_is_missing_leaves_its_table_out_of_the_comparison() {
        let (mut reported, table) = adapter_of(&LAYOUTS[1]);
        reported.retain(|(name, _)| *name != "BindlessImagesExp");
        assert_eq!(LAYOUTS[1].contradicted_by_getters(&reported), None);
        assert_eq!(LAYOUTS[1].contradicted_by_table(&reported, |i| table[i]), None);
    }
}
