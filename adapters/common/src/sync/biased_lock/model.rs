//! Every interleaving of the lock's owner and others, under loom: `cargo xtask races`.

use super::*;
use crate::sync::Arc;

/// Of a thread that leaves word and tries, and the holder that looks for word when it is told so, one sees to it.
#[test]
fn word_left_before_a_try_that_fails_is_read_by_the_holder() {
    loom::model(|| {
        let lock = Arc::new((BiasedLock::new(0u32), AtomicBool::new(false)));
        let other = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || {
                lock.1.store(true, Ordering::Release);
                let guard = lock.0.try_lock();
                guard.is_some() && lock.1.swap(false, Ordering::AcqRel)
            })
        };
        let guard = lock.0.lock();
        let told = guard.unlock();
        let read = told && lock.1.swap(false, Ordering::AcqRel);
        // Word that came after the unlocking is the other thread's own to read.
        assert!(other.join().unwrap() || read);
    });
}

/// Of two threads that leave word and the owner, somebody reads each word, though the two meet at the gate: one fails there
/// because of the other, which has no lock to give back.
#[test]
fn word_left_beside_another_thread_that_tries_is_read_too() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let lock = Arc::new((BiasedLock::new(0u32), AtomicBool::new(false)));
        // As a stream does it: whoever is told that somebody came looks, and goes on until no word is left.
        let read = |lock: &(BiasedLock<u32>, AtomicBool)| {
            while lock.1.load(Ordering::SeqCst) {
                let Some(guard) = lock.0.try_lock() else { return };
                lock.1.store(false, Ordering::SeqCst);
                guard.unlock();
            }
        };
        let leave = move |lock: &(BiasedLock<u32>, AtomicBool)| {
            lock.1.store(true, Ordering::SeqCst);
            read(lock);
        };
        let other = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || leave(&lock))
        };
        let owner = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || {
                if lock.0.lock().unlock() {
                    read(&lock);
                }
            })
        };
        leave(&lock);
        other.join().unwrap();
        owner.join().unwrap();
        assert!(!lock.1.load(Ordering::SeqCst), "word that nobody read");
    });
}

/// The owner gives the ownership up while another thread wants the lock.
#[test]
fn two_threads_are_never_inside_together_where_the_owner_gives_up_its_ownership() {
    loom::model(|| {
        let lock = Arc::new(BiasedLock::new(0u32));
        let other = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || *lock.lock() += 1)
        };
        *lock.lock() += 1;
        lock.disown();
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 3);
    });
}

/// A visitor comes while the owner goes in and out.
#[test]
fn a_visitor_and_the_owner_are_never_inside_together_and_each_sees_what_the_other_did() {
    loom::model(|| {
        let lock = Arc::new(BiasedLock::new(0u32));
        drop(lock.lock());
        let visitor = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || lock.visit(|count| *count += 1))
        };
        *lock.lock() += 1;
        *lock.lock() += 1;
        visitor.join().unwrap();
        assert!(lock.is_of_no_other_thread());
        assert_eq!(*lock.lock(), 3);
    });
}

/// Another thread takes the lock over while the owner goes in without a look at the gate.
#[test]
fn the_owner_that_comes_past_the_gate_is_never_inside_with_another_thread() {
    loom::model(|| {
        let lock = Arc::new(BiasedLock::new(0u32));
        drop(lock.lock());
        let other = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || *lock.lock() += 1)
        };
        match lock.lock_as_owner() {
            Some(mut count) => *count += 1,
            None => *lock.lock() += 1,
        }
        other.join().unwrap();
        assert_eq!(*lock.lock(), 2);
    });
}

/// Two threads that want the lock in every order: one is the owner and the other takes it over.
#[test]
fn two_threads_are_never_inside_together() {
    loom::model(|| {
        let lock = Arc::new(BiasedLock::new(0u32));
        let other = {
            let lock = Arc::clone(&lock);
            loom::thread::spawn(move || *lock.lock() += 1)
        };
        *lock.lock() += 1;
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 3);
    });
}
