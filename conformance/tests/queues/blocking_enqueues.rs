//! What must not wait while another thread's enqueue waits in the driver for something else than a copy to the heap: a launch on
//! a stream that is full, a copy between host allocations. New native memory, events, streams and host functions do wait then, by
//! the driver's own lock, so plain memory comes from what there is.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use ur_conformance::ffi::{
    CBool, ur_queue_flags_t as Flags, ur_queue_info_t, ur_result_t as Code, ur_usm_alloc_info_t, ur_usm_type_t,
};
use ur_conformance::pool::{Plan, Take};
use ur_conformance::{Event, Fixture, Kind, Launch, Memory, Queue, ask, memory, ok, query, ur};

use crate::blocking::{ROUNDS, beside};

/// More launches than a stream takes behind a gate (1,020 on the drivers that were asked).
const LAUNCHES: usize = 1500;
/// So many have been enqueued before the thread can come to wait.
const SURELY_ROOM: usize = 900;

const ORDERS: [Flags; 2] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];

/// What other threads do with the context, an event of the queue, and memory that was allocated on it.
struct Others<'f> {
    fixture: &'f Fixture,
    other: Queue,
    before: Event,
    blocks: Vec<*mut c_void>,
    /// Plain memory beside which there is room for more.
    plain: Memory<'f>,
}

impl<'f> Others<'f> {
    fn new(fixture: &'f Fixture, queue: &Queue) -> Self {
        let pool = Plan::new().of(fixture);
        let blocks = (0..20).map(|_| Take::new(4096).from(&pool).on(queue)).collect();
        let before = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(queue);
        queue.finish();
        Self { fixture, other: fixture.in_order(), before, blocks, plain: fixture.memory(Kind::Device, 64) }
    }

    fn type_of(&self, pointer: *mut c_void) -> ur_usm_type_t {
        let context = self.fixture.context();
        ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, ur_usm_alloc_info_t::TYPE))))
    }

    /// A query and a wait.
    fn ask(&self) {
        assert_eq!(self.type_of(self.blocks[0]), ur_usm_type_t::DEVICE);
        let list = [self.before.handle()];
        ok!(Enqueue.pfnEventsWaitWithBarrier(self.other.handle(), 1, list.as_ptr(), null_mut()));
    }

    /// The same often, waits of the host, and every free.
    fn go_on(self, queue: &Queue) {
        for _ in 0..ROUNDS {
            self.ask();
        }
        self.before.wait();
        self.other.finish();
        assert_eq!(query::get::<u32>(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::REFERENCE_COUNT))), 1);
        let more = memory::is_pooled().then(|| self.fixture.memory(Kind::Device, 64));
        for plain in more.iter().chain([&self.plain]) {
            assert_eq!(self.type_of(plain.pointer()), ur_usm_type_t::DEVICE);
        }
        drop(more);
        for &block in &self.blocks {
            ok!(USM.pfnFree(self.fixture.context(), block));
            assert_eq!(ur!(USM.pfnFree(self.fixture.context(), block)), Code::ERROR_INVALID_MEM_OBJECT);
        }
    }
}

#[test]
fn urUSMFree_queries_and_waits_do_not_wait_for_another_thread_s_launch_on_a_stream_that_is_full() {
    let fixture = Fixture::new();
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let others = Others::new(&fixture, &queue);
        let (empty, launched) = (fixture.basic(c"empty"), AtomicUsize::new(0));
        let all = || {
            for _ in 0..LAUNCHES {
                Launch::new(&empty, &[1]).on(&queue);
                launched.fetch_add(1, Ordering::Relaxed);
            }
        };
        beside(&fixture, &queue, all, || {
            while launched.load(Ordering::Relaxed) < SURELY_ROOM {
                others.ask();
            }
            others.go_on(&queue);
            // Out of order they go to several streams.
            let waits = launched.load(Ordering::Relaxed) < LAUNCHES;
            assert!(waits || flags != Flags::empty(), "the stream took {LAUNCHES} launches behind a gate");
        });
        assert_eq!(launched.load(Ordering::Relaxed), LAUNCHES);
    }
}

#[test]
fn urUSMFree_queries_and_waits_do_not_wait_for_another_thread_s_copy_between_host_allocations() {
    let fixture = Fixture::new();
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let others = Others::new(&fixture, &queue);
        let [to, from] = [(); 2].map(|()| fixture.memory(Kind::Host, 4096));
        let (to, from) = (to.pointer().expose_provenance(), from.pointer().expose_provenance());
        let copy = || {
            let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
            ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4096, 0, null(), null_mut()));
        };
        beside(&fixture, &queue, copy, || others.go_on(&queue));
    }
}
