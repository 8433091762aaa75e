//! The file by itself: what is refused, who has a place, who dies, and what another process may write into it.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};

use super::*;

const SIZE: u64 = TimelineFile::SIZE as u64;
const SEALED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

fn file(size: u64, seals: SealFlags) -> OwnedFd {
    let file = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&file, size).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    file
}

fn open(file: OwnedFd) -> io::Result<Arc<TimelineFile>> {
    let identity = system::identity(file.as_fd())?;
    TimelineFile::open(identity, || Ok(file))
}

/// A copy of a file that has another identity, without its seals.
fn copy_of(original: &TimelineFile, seals: SealFlags) -> OwnedFd {
    let mut bytes = vec![0; TimelineFile::SIZE];
    assert_eq!(rustix::io::pread(original.descriptor().unwrap(), &mut *bytes, 0).unwrap(), bytes.len());
    let copy = file(SIZE, SealFlags::empty());
    assert_eq!(rustix::io::pwrite(&copy, &bytes, 0).unwrap(), bytes.len());
    fcntl_add_seals(&copy, seals).unwrap();
    copy
}

#[test]
fn a_file_that_could_change_its_size_or_has_another_or_is_no_timeline_s_is_refused() {
    let right = TimelineFile::create(7).unwrap();
    assert_eq!(open(copy_of(&right, SEALED)).unwrap().reached(), 7, "a copy is a timeline too");
    let (one, other) = (SealFlags::SHRINK, SealFlags::GROW);
    let unsealed = [SealFlags::empty(), one, other].map(|seals| copy_of(&right, seals));
    let sizes = [0, 1, SIZE - 1, SIZE + 1, 2 * SIZE].map(|size| file(size, SEALED));
    let others = [file(SIZE, SEALED), copy_of(&right, SEALED | SealFlags::WRITE)];
    let unnamed = OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
    for (at, wrong) in unsealed.into_iter().chain(sizes).chain(others).chain([unnamed]).enumerate() {
        let answer = open(wrong).err().map(|error| error.kind());
        assert_eq!(answer, Some(io::ErrorKind::InvalidData), "file {at}");
    }
}

#[test]
fn what_another_space_of_processes_shares_is_refused() {
    let right = TimelineFile::create(7).unwrap();
    right.map.get().process_space.fetch_add(1, SeqCst);
    let answer = open(copy_of(&right, SEALED)).err().map(|error| error.kind());
    assert_eq!(answer, Some(io::ErrorKind::Unsupported));
}

#[test]
fn a_file_is_open_once_and_its_places_last_as_long_as_it() {
    let first = TimelineFile::create(0).unwrap();
    let again = TimelineFile::open(first.identity, || panic!("a second descriptor")).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    let claims = [first.claim().unwrap(), again.claim().unwrap()];
    assert_ne!(claims[0].at, claims[1].at);
    assert!(first.is_alone(), "both places are this process's");
    claims.iter().for_each(|claim| first.leave(claim));
    assert_eq!(first.taken().count(), 0);
}

/// The copy's descriptor is as good as that of any code which this library does not know of.
#[test]
fn a_file_that_another_copy_of_the_library_has_in_this_process_is_refused() {
    let first = TimelineFile::create(0).unwrap();
    let (identity, others) = (first.identity, first.descriptor().unwrap().try_clone_to_owned().unwrap());
    drop(first);
    let open = || TimelineFile::open_others(identity, || others.try_clone());
    assert_eq!(open().err().map(|error| error.kind()), Some(io::ErrorKind::Unsupported));
    let own = TimelineFile::open(identity, || others.try_clone()).unwrap();
    assert!(Arc::ptr_eq(&own, &open().unwrap()), "this copy has it");
}

#[test]
fn a_file_that_is_opened_while_its_last_user_leaves_keeps_its_one_descriptor() {
    let first = TimelineFile::create(0).unwrap();
    let (identity, left) = (first.identity, Arc::downgrade(&first));
    let second =
        || -> io::Result<OwnedFd> { panic!("a second descriptor, whose locks go when the first one is closed") };
    let again = std::thread::scope(|scope| {
        let mut open = OPEN.lock();
        scope.spawn(move || drop(first));
        // It is nobody's now, and cannot be closed before the lock is free.
        while left.strong_count() > 0 {
            std::thread::yield_now();
        }
        TimelineFile::open_in(&mut open, identity, second).unwrap()
    });
    again.claim().unwrap();
    assert!(again.descriptor().is_ok());
    assert!(Arc::ptr_eq(&again, &TimelineFile::open(identity, second).unwrap()), "it is known still");
    drop(again);
    assert!(!OPEN.lock().files.contains_key(&identity));
}

#[test]
fn of_two_threads_that_make_values_of_a_file_at_once_both_have_those_of_the_first() {
    let file = TimelineFile::create(0).unwrap();
    let (first, second) = (Arc::new(1), Arc::new(2));
    assert_eq!(file.set_values(&first), None);
    assert_eq!((file.set_values(&second), file.values::<i32>()), (Some(Arc::clone(&first)), Some(Arc::clone(&first))));
    drop(first);
    assert_eq!(
        (file.set_values(&second), file.values::<i32>()),
        (None, Some(Arc::clone(&second))),
        "the first are gone"
    );
}

#[test]
fn who_sleeps_here_is_woken_whatever_the_file_says_of_sleepers() {
    let file = TimelineFile::create(0).unwrap();
    let changes = file.changes();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while file.changes() == changes {
                file.sleep(changes, None);
            }
        });
        let sleeping = &file.map.get().sleeping;
        while sleeping.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        // Another process's nonsense.
        sleeping.store(0, SeqCst);
        let has_sleepers = file.has_sleepers();
        sleeping.store(1, SeqCst);
        file.reach(1);
        assert!(has_sleepers);
    });
}

#[test]
fn there_are_as_many_places_as_promised_and_then_none() {
    let file = TimelineFile::create(0).unwrap();
    let claims: Vec<_> = (0..PLACES).map(|_| file.claim().unwrap()).collect();
    assert_eq!(file.claim().err().map(|error| error.kind()), Some(io::ErrorKind::QuotaExceeded));
    file.leave(&claims[100]);
    assert_eq!(file.claim().unwrap().at, 100);
}

/// A place as a process leaves it that is killed: taken and not locked.
fn dead(file: &TimelineFile, at: usize, owed: u64) -> Taken {
    let claim = (1 << 40) | (at as u64 + 1);
    let place = &file.map.get().places[at];
    place.owed.store(owed, SeqCst);
    place.claim.store(claim, SeqCst);
    file.map.get().used.fetch_max(at as u32 + 1, SeqCst);
    Taken { at, claim }
}

#[test]
fn a_dead_process_fails_the_timeline_if_it_owed_something_and_else_not() {
    for (owed, failure) in [(0, None), (5, None), (6, Some(ur_result_t::ERROR_PROCESS_LOST_EXT))] {
        let file = TimelineFile::create(5).unwrap();
        let taken = dead(&file, 3, owed);
        assert_eq!(file.holder(taken).unwrap(), Holder::Nobody);
        assert!(!file.is_alone());
        file.bury(taken);
        assert_eq!((file.failure(), file.is_alone()), (failure, true), "{owed} owed");
        // The place is another's by now.
        let later = dead(&file, 3, 9);
        file.bury(Taken { claim: taken.claim + 1, ..later });
        assert!(!file.is_alone() && file.failure() == failure);
    }
}

#[test]
fn whoever_takes_a_dead_process_s_place_buries_it() {
    let file = TimelineFile::create(5).unwrap();
    dead(&file, 0, 6);
    let claim = file.claim().unwrap();
    assert_eq!((claim.at, file.failure()), (0, Some(ur_result_t::ERROR_PROCESS_LOST_EXT)));
    assert_eq!(file.most_owed(), 0);
}

#[test]
fn a_signal_grows_above_what_is_signalled_and_what_is_reached() {
    let file = TimelineFile::create(5).unwrap();
    assert_eq!((file.signal(5), file.signal(7), file.signal(7)), (Err(5), Ok(5), Err(7)));
    file.take_back(7, 5);
    // A process that writes nonsense, or nothing about its signals.
    file.reach(9);
    assert_eq!((file.signal(9), file.signal(10), file.signalled()), (Err(9), Ok(5), 10));
    file.take_back(11, 3);
    assert_eq!(file.signalled(), 10);
}

#[test]
fn whoever_sleeps_wakes_at_a_change_and_who_comes_late_does_not_sleep() {
    let file = TimelineFile::create(0).unwrap();
    let changes = file.changes();
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            while file.changes() == changes {
                file.sleep(changes, None);
            }
        });
        file.reach(1);
        sleeper.join().unwrap();
    });
    file.sleep(changes, None);
    file.reach(1);
    assert_eq!(file.changes(), changes + 1, "nothing has changed");
}
