//! Keeps the measuring thread on one core while it measures, where the system allows it; of several threads each on one of its
//! own. Only for the rounds: threads that a driver or an adapter starts inherit what their maker is bound to, so nothing is
//! made while this holds.

use std::collections::BTreeSet;

/// The thread stays on its core until this goes.
pub struct Pinned {
    before: Option<libc::cpu_set_t>,
}

impl Pinned {
    /// Binds this thread to the core that it runs on. Where that is refused, it runs on as it did.
    pub fn here() -> Self {
        // SAFETY: a question about this thread.
        let core = usize::try_from(unsafe { libc::sched_getcpu() });
        core.map_or(Self { before: None }, Self::to)
    }

    /// Binds this thread to a core. Where that is refused, it runs on as it did.
    pub fn to(core: usize) -> Self {
        let Some(before) = allowed().filter(|_| core < libc::CPU_SETSIZE as usize) else {
            return Self { before: None };
        };
        // SAFETY: an all-zero set is an empty one; the calls write and read one set of its own size, for this thread (0).
        let is_bound = unsafe {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut one);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one) == 0
        };
        Self { before: is_bound.then_some(before) }
    }
}

/// What this thread may run on.
fn allowed() -> Option<libc::cpu_set_t> {
    // SAFETY: an all-zero set is an empty one; the call writes one set of its own size, for this thread (0).
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) == 0).then_some(set)
    }
}

/// The numbers of the cores that this thread may run on.
pub fn allowed_cores() -> Vec<usize> {
    let Some(set) = allowed() else { return Vec::new() };
    // SAFETY: numbers below the set's size.
    (0..libc::CPU_SETSIZE as usize).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()
}

/// Cores for so many threads, each with a core of its own that it shares with no other thread by its hardware either; none if
/// this thread may not run on as many.
pub fn cores_for(threads: usize) -> Option<Vec<usize>> {
    let siblings = |core: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
        std::fs::read_to_string(path).unwrap_or_default()
    };
    apart(allowed_cores().into_iter(), siblings, threads)
}

/// The first so many of the cores of which no two are siblings.
fn apart(cores: impl Iterator<Item = usize>, siblings: impl Fn(usize) -> String, threads: usize) -> Option<Vec<usize>> {
    let mut taken = BTreeSet::new();
    let mut chosen = Vec::new();
    for core in cores {
        if !taken.contains(&core) {
            taken.extend(numbers(&siblings(core)));
            chosen.push(core);
        }
    }
    (chosen.len() >= threads).then(|| chosen[..threads].to_vec())
}

/// The numbers of a list as Linux writes it: `0-1,64`.
fn numbers(list: &str) -> impl Iterator<Item = usize> + '_ {
    list.trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
        .flatten()
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: a set that the system gave for this thread.
            let _ = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), before) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores() -> i32 {
        // SAFETY: as in `here`.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), 0);
            libc::CPU_COUNT(&set)
        }
    }

    #[test]
    fn threads_get_cores_of_which_no_two_are_one() {
        let neighbours = |core: usize| format!("{}-{}\n", core & !1, core | 1);
        assert_eq!(apart(0..16, neighbours, 8), Some(vec![0, 2, 4, 6, 8, 10, 12, 14]));
        assert_eq!(apart(0..16, neighbours, 9), None);
        let halves = |core: usize| format!("{},{}", core % 8, core % 8 + 8);
        assert_eq!(apart((0..16).filter(|core| *core != 3), halves, 8), Some(vec![0, 1, 2, 4, 5, 6, 7, 11]));
        assert_eq!(apart(0..4, |_| String::new(), 3), Some(vec![0, 1, 2]));
    }

    #[test]
    fn a_thread_is_bound_to_the_core_that_is_named() {
        let [core] = cores_for(1).expect("this thread runs somewhere")[..] else { unreachable!() };
        let before = cores();
        let pinned = Pinned::to(core);
        assert_eq!(allowed_cores(), [core]);
        drop(pinned);
        assert_eq!(cores(), before);
    }

    #[test]
    fn the_thread_has_one_core_while_it_is_pinned_and_all_of_them_afterwards() {
        let before = cores();
        let pinned = Pinned::here();
        assert_eq!(cores(), 1);
        drop(pinned);
        assert_eq!(cores(), before);
    }
}
