//! `urEnqueueUSMMemcpy`: between all kinds of memory, any size, any alignment, blocking and not.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{CBool, ur_queue_flags_t as Flags};
use ur_conformance::memory::{allocate, pattern};
use ur_conformance::owned::event_of;
use ur_conformance::{Fixture, Gate, Kind, Memory, Queue, expect_success, memory, ok, refused, ur};

/// Where bytes can be: USM of three kinds, and memory that the driver knows nothing of.
enum Place<'f> {
    Usm(Memory<'f>),
    Plain(Vec<u8>),
}

impl<'f> Place<'f> {
    fn all(fixture: &'f Fixture, bytes: usize) -> Vec<(String, Self)> {
        let mut places = vec![("plain memory".to_owned(), Place::Plain(vec![0; bytes]))];
        for kind in Kind::ALL {
            places.push((format!("{kind:?}"), Place::Usm(fixture.memory(kind, bytes))));
        }
        places
    }

    fn at(&mut self, offset: usize) -> *mut c_void {
        match self {
            Place::Usm(memory) => memory.at(offset),
            Place::Plain(bytes) => bytes.as_mut_ptr().wrapping_add(offset).cast(),
        }
    }

    fn set(&mut self, queue: &Queue, values: &[u8]) {
        match self {
            Place::Usm(memory) => memory.write(queue, values),
            Place::Plain(bytes) => bytes.copy_from_slice(values),
        }
    }

    fn get(&self, queue: &Queue, count: usize) -> Vec<u8> {
        match self {
            Place::Usm(memory) => memory.read(queue, count),
            Place::Plain(bytes) => bytes.clone(),
        }
    }
}

fn copy(queue: &Queue, blocking: bool, to: *mut c_void, from: *const c_void, size: usize) {
    ok!(Enqueue.pfnUSMMemcpy(queue.handle(), blocking.into(), to, from, size, 0, null(), null_mut()));
}

#[test]
fn urEnqueueUSMMemcpy_copies_between_all_kinds_of_memory_and_nothing_beside() {
    const ROOM: usize = 70_000;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (old, new) = (pattern(1, ROOM), pattern(2, ROOM));
    let mut sources = Place::all(&fixture, ROOM);
    let mut targets = Place::all(&fixture, ROOM);
    for (_, source) in &mut sources {
        source.set(&queue, &new);
    }
    for (from_name, from) in &mut sources {
        for (to_name, to) in &mut targets {
            for (size, to_at, from_at) in
                [(1, 0, 0), (1, 3, 5), (2, 1, 0), (3, 0, 1), (4, 0, 0), (63, 7, 9), (4096, 0, 0), (65_537, 13, 4)]
            {
                to.set(&queue, &old);
                copy(&queue, true, to.at(to_at), from.at(from_at).cast_const(), size);
                let mut expected = old.clone();
                expected[to_at..to_at + size].copy_from_slice(&new[from_at..from_at + size]);
                let found = to.get(&queue, ROOM);
                let wrong = (0..ROOM).find(|&index| found[index] != expected[index]);
                assert_eq!(wrong, None, "{size} bytes from {from_name} + {from_at} to {to_name} + {to_at}");
            }
        }
    }
}

#[test]
fn urEnqueueUSMMemcpy_copies_large_odd_sizes_there_and_back() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for size in [(1 << 20) + 13, (8 << 20) - 1, (16 << 20) + 7] {
        let values = pattern(size as u32, size);
        let (first, second) = (fixture.memory(Kind::Device, size), fixture.memory(Kind::Device, size));
        let mut back = vec![0u8; size];
        copy(&queue, false, first.pointer(), values.as_ptr().cast(), size);
        copy(&queue, false, second.pointer(), first.pointer(), size);
        copy(&queue, false, back.as_mut_ptr().cast(), second.pointer(), size);
        queue.finish();
        assert!(back == values, "{size} bytes");
    }
}

#[test]
fn urEnqueueUSMMemcpy_blocking_returns_after_the_copy() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let memory = fixture.memory(Kind::Device, 1 << 20);
        for round in 0..10 {
            let values = pattern(round, 1 << 20);
            memory.write(&queue, &values);
            let mut back = vec![0u8; 1 << 20];
            copy(&queue, true, back.as_mut_ptr().cast(), memory.pointer(), 1 << 20);
            assert!(back == values, "{flags:?}");
        }
    }
}

#[test]
fn urEnqueueUSMMemcpy_blocking_hands_out_an_event_that_is_complete() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Host, 8);
    let (to, from) = (memory.pointer(), memory.at(4).cast_const());
    let event = event_of(|event| ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::TRUE, to, from, 4, 0, null(), event)));
    let property = ur_conformance::ffi::ur_event_info_t::COMMAND_EXECUTION_STATUS;
    let status: u32 = ur_conformance::query::get(ur_conformance::ask!(Event.pfnGetInfo(event.handle(), property)));
    assert_eq!(status, ur_conformance::ffi::ur_event_status_t::COMPLETE.0);
}

/// The caller may change its source once a blocking copy has returned; a copy that only enqueued would lose.
#[test]
fn urEnqueueUSMMemcpy_blocking_waits_for_what_is_before_it() {
    let fixture = Fixture::new();
    let (queue, opener) = (fixture.in_order(), fixture.in_order());
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let mut seen = 0u32;
    let (to, from) = ((&raw mut seen).expose_provenance(), gate.result().expose_provenance());
    std::thread::scope(|scope| {
        let copier = scope.spawn(|| {
            let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
            copy(&queue, true, to, from, 4);
        });
        gate.open();
        copier.join().expect("the copy ends");
    });
    assert_eq!(seen, Gate::OPEN);
    opener.finish();
}

/// CUDA copies between two host allocations on the calling thread, so that pair is left out.
#[test]
fn urEnqueueUSMMemcpy_not_blocking_does_not_wait_for_what_is_before_it() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for from_kind in Kind::ALL {
        for to_kind in Kind::ALL.into_iter().filter(|&to| (from_kind, to) != (Kind::Host, Kind::Host)) {
            let (from, to) = (fixture.memory(from_kind, 4096), fixture.memory(to_kind, 4096));
            let values = pattern(from_kind as u32 * 3 + to_kind as u32, 4096);
            from.write(&queue, &values);
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            copy(&queue, false, to.pointer(), from.pointer(), 4096);
            assert!(!gate.has_passed());
            gate.open();
            assert!(to.read::<u8>(&queue, 4096) == values, "{from_kind:?} to {to_kind:?}");
        }
    }
}

#[test]
fn urEnqueueUSMMemcpy_not_blocking_reads_usm_memory_when_it_runs() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    let (from, to) = (fixture.memory(Kind::Host, 4), fixture.memory(Kind::Device, 4));
    from.store(0, 1);
    gate.block(&queue);
    copy(&queue, false, to.pointer(), from.pointer(), 4);
    from.store(0, 2);
    gate.open();
    assert_eq!(to.read::<u32>(&queue, 1), [2]);
}

#[test]
fn urEnqueueUSMMemcpy_copies_between_devices() {
    let fixture = Fixture::over_all_devices();
    let [first, second, ..] = fixture.devices[..] else {
        println!("skipped: needs a second device");
        return;
    };
    const SIZE: usize = 100_003;
    let allocate = |device| {
        let mut pointer = null_mut();
        let answer = allocate(Kind::Device, fixture.context(), device, null(), SIZE, &raw mut pointer);
        expect_success(answer, "urUSMDeviceAlloc");
        pointer
    };
    let (one, two) = (allocate(first), allocate(second));
    for (seed, device) in [(3, first), (4, second)] {
        let queue = fixture.queue_in(fixture.context(), device, Flags::empty());
        let values = pattern(seed, SIZE);
        memory::write(&queue, one, &values);
        copy(&queue, false, two, one, SIZE);
        memory::write(&queue, one, &vec![0u8; SIZE]);
        copy(&queue, false, one, two, SIZE);
        assert!(memory::read::<u8>(&queue, one, SIZE) == values);
    }
    ok!(USM.pfnFree(fixture.context(), one));
    ok!(USM.pfnFree(fixture.context(), two));
}

#[test]
fn urEnqueueUSMMemcpy_refuses_no_bytes_and_missing_pointers() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 8);
    let (q, pointer, none) = (queue.handle(), memory.pointer(), null_mut());
    let mut event = null_mut();
    let out = &raw mut event;
    refused!(ERROR_INVALID_SIZE, Enqueue.pfnUSMMemcpy(q, CBool::TRUE, pointer, memory.at(4), 0, 0, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMMemcpy(q, CBool::TRUE, none, pointer, 4, 0, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMMemcpy(q, CBool::TRUE, pointer, null(), 4, 0, null(), out));
    assert!(event.is_null());
}
