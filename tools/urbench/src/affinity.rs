//! Keeps the measuring thread on one core while it measures, where the system allows it. Only for the rounds: threads that
//! a driver or an adapter starts inherit what their maker is bound to, so nothing is made while this holds.

/// The thread stays on its core until this goes.
pub struct Pinned {
    before: Option<libc::cpu_set_t>,
}

impl Pinned {
    /// Binds this thread to the core that it runs on. Where that is refused, it runs on as it did.
    pub fn here() -> Self {
        // SAFETY: an all-zero set is an empty one; the calls read and write one set of its own size, for this thread (0).
        let before = unsafe {
            let mut before: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            let known = libc::sched_getaffinity(0, size, &raw mut before) == 0;
            let core = usize::try_from(libc::sched_getcpu()).ok();
            match core.filter(|core| known && *core < libc::CPU_SETSIZE as usize) {
                Some(core) => {
                    let mut one: libc::cpu_set_t = std::mem::zeroed();
                    libc::CPU_SET(core, &mut one);
                    (libc::sched_setaffinity(0, size, &raw const one) == 0).then_some(before)
                }
                None => None,
            }
        };
        Self { before }
    }
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
    fn the_thread_has_one_core_while_it_is_pinned_and_all_of_them_afterwards() {
        let before = cores();
        let pinned = Pinned::here();
        assert_eq!(cores(), 1);
        drop(pinned);
        assert_eq!(cores(), before);
    }
}
