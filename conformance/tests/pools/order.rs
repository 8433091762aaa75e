//! The order of an allocation holds natively too: work on another stream that the specification orders after an allocation,
//! and before its free, is ordered so by native events or synchronisation. The simulated driver reports every access that
//! is not, whichever way the streams happened to run, and a report fails the test.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::null;

use ur_conformance::ffi::{ur_event_info_t, ur_event_status_t, ur_queue_flags_t as Flags};
use ur_conformance::owned::event_of;
use ur_conformance::pool::{Plan, Take, give_after};
use ur_conformance::{Event, Fixture, Gate, Kernel, Launch, Queue, ask, child, query, ur};

const COUNT: u32 = 64;

/// A program over two queues, which may be one and the same.
struct Program<'a> {
    fixture: &'a Fixture,
    kernel: &'a Kernel,
    one: &'a Queue,
    two: &'a Queue,
    take: &'a Take,
}

impl Program<'_> {
    fn allocate(&self) -> (*mut c_void, Event) {
        self.take.event_on(self.one)
    }

    /// A kernel that writes the block.
    fn used(&self, queue: &Queue, block: *mut c_void, after: &[&Event]) -> Event {
        Launch::new(self.kernel, &[COUNT as usize]).pointer(block).value(COUNT).after(after).event_on(queue)
    }

    fn free(&self, queue: &Queue, block: *mut c_void, after: &[&Event]) {
        drop(give_after(queue, block, after));
    }

    fn finish(&self) {
        self.one.finish();
        self.two.finish();
    }
}

fn barrier(queue: &Queue) -> Event {
    event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), event)))
}

/// Nothing but questions: the host waits for nothing.
fn ask_until_complete(event: &Event) {
    let status = || query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
    while ur_event_status_t(status()) != ur_event_status_t::COMPLETE {
        std::thread::yield_now();
    }
}

/// Runs a program over queues of both orders, one queue and two, the device's pool and an own one; more than once, so
/// that blocks are also served again.
fn everywhere(program: impl Fn(&Program<'_>)) {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"iota");
    let pool = Plan::new().of(&fixture);
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        for take in [Take::new(256), Take::new(256).from(&pool)] {
            let (one, other) = (fixture.queue(flags), fixture.queue(flags));
            for two in [&one, &other] {
                for _ in 0..3 {
                    let program_of = Program { fixture: &fixture, kernel: &kernel, one: &one, two, take: &take };
                    program(&program_of);
                    program_of.finish();
                }
            }
        }
    }
}

#[test]
fn an_allocation_s_event_orders_a_launch_after_it() {
    everywhere(|p| {
        let (block, allocated) = p.allocate();
        let used = p.used(p.two, block, &[&allocated]);
        p.free(p.one, block, &[&used]);
    });
}

#[test]
fn an_allocation_s_event_orders_a_launch_while_its_queue_is_busy() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"iota");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (one, two) = (fixture.queue(flags), fixture.queue(flags));
        let p = Program { fixture: &fixture, kernel: &kernel, one: &one, two: &two, take: &Take::new(256) };
        let mut gate = Gate::new(p.fixture);
        gate.block(p.one);
        let (block, allocated) = p.allocate();
        let used = p.used(p.two, block, &[&allocated]);
        p.free(p.one, block, &[&used]);
        gate.open();
        p.finish();
    }
}

#[test]
fn urEventGetInfo_that_says_complete_orders_what_is_enqueued_then() {
    everywhere(|p| {
        let (block, allocated) = p.allocate();
        ask_until_complete(&allocated);
        let used = p.used(p.two, block, &[]);
        p.free(p.one, block, &[&used]);
    });
}

/// A query of a native event orders nothing by the library's contract, so a yes must rest on more. What follows the allocation on its
/// queue gives its event a native one.
#[test]
fn urEventGetInfo_that_says_complete_orders_where_a_native_event_s_query_orders_nothing() {
    let test = "urEventGetInfo_that_says_complete_orders_where_a_native_event_s_query_orders_nothing";
    child::in_process(test, &[("SIMCUDA_QUERIES", "streams")], || {
        everywhere(|p| {
            let (block, allocated) = p.allocate();
            let (next, next_allocated) = p.allocate();
            let next_used = p.used(p.one, next, &[&next_allocated]);
            ask_until_complete(&allocated);
            let used = p.used(p.two, block, &[]);
            p.free(p.one, block, &[&used]);
            p.free(p.one, next, &[&next_used]);
        });
    });
}

#[test]
fn urEventWait_of_an_allocation_orders_what_is_enqueued_then() {
    everywhere(|p| {
        let (block, allocated) = p.allocate();
        allocated.wait();
        let used = p.used(p.two, block, &[]);
        p.free(p.one, block, &[&used]);
    });
}

#[test]
fn urQueueFinish_orders_what_is_enqueued_after_an_allocation() {
    everywhere(|p| {
        let block = p.take.on(p.one);
        p.one.finish();
        let used = p.used(p.two, block, &[]);
        p.free(p.one, block, &[&used]);
    });
}

#[test]
fn urEnqueueEventsWaitWithBarrier_comes_after_allocations_on_all_streams_of_its_queue() {
    everywhere(|p| {
        let blocks: Vec<_> = (0..4).map(|_| p.take.on(p.one)).collect();
        let behind = barrier(p.one);
        for block in blocks {
            let used = p.used(p.two, block, &[&behind]);
            p.free(p.one, block, &[&used]);
        }
    });
}

#[test]
fn a_kernel_s_event_orders_after_the_allocation_that_the_kernel_came_after() {
    everywhere(|p| {
        let (block, allocated) = p.allocate();
        let first = p.used(p.one, block, &[&allocated]);
        let second = p.used(p.two, block, &[&first]);
        p.free(p.one, block, &[&second]);
    });
}

#[test]
fn urEnqueueUSMFreeExp_on_another_queue_is_ordered_by_a_later_allocation_s_event() {
    everywhere(|p| {
        let (block, allocated) = p.allocate();
        let used = p.used(p.one, block, &[&allocated]);
        let (more, next) = p.take.clone().after(&[&used]).event_on(p.one);
        p.free(p.two, block, &[&next]);
        p.free(p.one, more, &[&next]);
    });
}

#[test]
fn a_block_that_another_queue_gets_after_a_free_s_event_is_ordered_for_both() {
    everywhere(|p| {
        let (block, allocated) = p.allocate();
        let used = p.used(p.one, block, &[&allocated]);
        let freed = give_after(p.one, block, &[&used]);
        let (again, allocated) = p.take.clone().after(&[&freed]).event_on(p.two);
        let used = p.used(p.one, again, &[&allocated]);
        p.free(p.two, again, &[&used]);
    });
}
