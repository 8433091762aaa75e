//! The engine under many threads, over a driver that does nothing: what is checked is the engine's own order. Made for
//! ThreadSanitizer (`cargo xtask races`), which sees every block handed from one thread to another without one; without
//! it the tests still check that no block is out twice and that no figure is lost.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use super::handles::{Handles, turn};
use ur_adapter::api::generated::urEnqueueEventsWait;
use ur_adapter::api::noop::Noop;
use ur_adapter::memory_pool::arena::{Arena, Reach};
use ur_adapter::object::borrow;
use ur_adapter::object::info::InfoWriter;
use ur_adapter::pool::{self, stream_ordered, stream_ordered_free};
use ur_adapter::stream::event;
use ur_adapter::{object, queue};
use ur_ffi::{ur_event_handle_t, ur_queue_handle_t, ur_result_t, ur_usm_pool_handle_t, ur_usm_pool_info_t as info};

const THREADS: usize = 8;
const ROUNDS: usize = if cfg!(debug_assertions) { 400 } else { 4000 };

/// A handle that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(T);

// SAFETY: the API lets handles be used from every thread.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

/// The event of everything that the queue was given.
fn tail_event(queue: ur_queue_handle_t) -> ur_event_handle_t {
    let mut event = null_mut();
    // SAFETY: a live handle, a writable output.
    let code = unsafe { urEnqueueEventsWait::<Noop>(queue, 0, null(), &raw mut event) };
    assert_eq!(code, ur_result_t::SUCCESS);
    event
}

fn allocate(queue: ur_queue_handle_t, pool: ur_usm_pool_handle_t, size: usize) -> (*mut c_void, ur_event_handle_t) {
    let (mut block, mut event) = (null_mut(), null_mut());
    // SAFETY: live handles, writable outputs.
    let writer = unsafe {
        stream_ordered::device_alloc::<Noop>(queue, pool, size, null(), 0, null(), &raw mut block, &raw mut event)
    };
    writer.expect("a block");
    (block, event)
}

fn free(queue: ur_queue_handle_t, block: *mut c_void, after: ur_event_handle_t) {
    // SAFETY: live handles; the block is out and nothing uses it any more.
    let writer =
        unsafe { stream_ordered_free::free::<Noop>(queue, null_mut(), block, 1, &raw const after, null_mut()) };
    writer.expect("a free");
}

fn release(event: ur_event_handle_t) {
    // SAFETY: a live event, released once.
    unsafe { object::release_by_handle::<event::Event<Noop>>(event) }.expect("a live event");
}

/// Writes a block as its owner: two owners at once are a data race, and a wrong value.
fn use_block(block: *mut c_void, size: usize, owner: u8) {
    let bytes = block.cast::<u8>();
    // SAFETY: the driver's blocks are host memory of at least this size, and this thread's alone.
    unsafe {
        bytes.write_bytes(owner, size);
        assert!((0..size).all(|at| bytes.add(at).read() == owner), "another thread wrote into the block");
    }
}

fn figure(pool: ur_usm_pool_handle_t, property: info) -> usize {
    let mut value = 0usize;
    // SAFETY: a live pool, a writable value of the property's size.
    let (pool, writer) = unsafe {
        (borrow(pool), InfoWriter::new("urUSMPoolGetInfo", size_of::<usize>(), (&raw mut value).cast(), null_mut()))
    };
    pool::info::get::<Noop>(pool.expect("a pool"), property, writer.expect("room")).expect("a figure");
    value
}

/// Every thread does `work` at once with its number.
fn together(work: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            });
        }
    });
}

#[test]
fn urEnqueueUSMDeviceAllocExp_on_a_queue_for_each_thread_never_shares_a_block() {
    let _turn = turn();
    let handles = Handles::new();
    let pool = Shared(handles.pool());
    let queues: Vec<_> = (0..THREADS).map(|_| Shared(handles.queue())).collect();
    together(|number| {
        let (queue, pool) = (&queues[number], &pool);
        for round in 0..ROUNDS {
            let size = 64 << (round % 4);
            let (block, event) = allocate(queue.0, pool.0, size);
            use_block(block, size, number as u8);
            free(queue.0, block, event);
            release(event);
        }
    });
    assert_eq!(figure(pool.0, info::USED_CURRENT_EXP), 0);
    let high = figure(pool.0, info::USED_HIGH_EXP);
    assert!((512..=THREADS * 512).contains(&high), "{high}");
    queues.iter().for_each(|queue| handles.release_queue(queue.0));
    handles.release_pool(pool.0);
}

#[test]
fn urEnqueueUSMDeviceAllocExp_on_one_queue_for_all_threads_never_shares_a_block() {
    let _turn = turn();
    let handles = Handles::new();
    let (pool, queue) = (Shared(handles.pool()), Shared(handles.queue()));
    together(|number| {
        let (queue, pool) = (&queue, &pool);
        for _ in 0..ROUNDS {
            let (block, event) = allocate(queue.0, pool.0, 256);
            use_block(block, 256, number as u8);
            free(queue.0, block, event);
            release(event);
        }
    });
    assert_eq!(figure(pool.0, info::USED_CURRENT_EXP), 0);
    handles.release_queue(queue.0);
    handles.release_pool(pool.0);
}

/// Events of one queue are waited for, asked and released by other threads while the queue goes on.
#[test]
fn urEventWait_and_release_from_other_threads_while_the_queue_goes_on() {
    let _turn = turn();
    let handles = Handles::new();
    let queue = Shared(handles.queue());
    let given: Vec<_> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    together(|number| {
        let queue = &queue;
        for _ in 0..ROUNDS {
            let event = tail_event(queue.0);
            let (block, allocated) = allocate(queue.0, null_mut(), 128);
            use_block(block, 128, number as u8);
            free(queue.0, block, allocated);
            // What this thread leaves, the next one takes: a handle crosses threads by the slot's order.
            let left = given[number].swap(event.addr() as u64, Ordering::AcqRel);
            if left != 0 {
                release(core::ptr::with_exposed_provenance_mut(left as usize));
            }
            let taken = given[(number + 1) % THREADS].swap(0, Ordering::AcqRel);
            if taken != 0 {
                let taken: ur_event_handle_t = core::ptr::with_exposed_provenance_mut(taken as usize);
                // SAFETY: a list of one live event.
                unsafe { object::borrow::<event::Event<Noop>>(taken) }.and_then(|event| event.wait()).expect("a wait");
                release(taken);
            }
            release(allocated);
        }
    });
    for slot in &given {
        let left = slot.swap(0, Ordering::AcqRel);
        if left != 0 {
            release(core::ptr::with_exposed_provenance_mut(left as usize));
        }
    }
    handles.release_queue(queue.0);
}

/// Blocks cross queues, while a thread trims and asks and another makes and releases queues with blocks still out.
#[test]
fn urEnqueueUSMFreeExp_on_other_queues_while_pools_are_trimmed_and_queues_come_and_go() {
    let _turn = turn();
    let handles = Handles::new();
    let pool = Shared(handles.pool());
    let queues: Vec<_> = (0..THREADS).map(|_| Shared(handles.queue())).collect();
    let handles = Shared(handles);
    together(|number| {
        let (handles, pool, queues) = (&handles, &pool, &queues);
        for round in 0..ROUNDS / 4 {
            match number {
                0 => {
                    handles.0.trim(pool.0);
                    assert!(figure(pool.0, info::USED_CURRENT_EXP) <= figure(pool.0, info::USED_HIGH_EXP));
                }
                1 => {
                    let short = handles.0.queue();
                    let (block, event) = allocate(short, pool.0, 512);
                    use_block(block, 512, 1);
                    release(event);
                    handles.0.release_queue(short);
                    let after = tail_event(queues[1].0);
                    free(queues[1].0, block, after);
                    release(after);
                }
                _ => {
                    let (block, event) = allocate(queues[number].0, pool.0, 512);
                    use_block(block, 512, number as u8);
                    free(queues[(number + round) % THREADS].0, block, event);
                    release(event);
                    if round % 16 == 0 {
                        // SAFETY: a live queue.
                        unsafe { object::borrow::<queue::Queue<Noop>>(queues[number].0) }
                            .and_then(queue::finish)
                            .expect("a finish");
                    }
                }
            }
        }
    });
    assert_eq!(figure(pool.0, info::USED_CURRENT_EXP), 0);
    queues.iter().for_each(|queue| handles.0.release_queue(queue.0));
    handles.0.release_pool(pool.0);
}

/// Blocks of a buffer that is too small for all threads at once: each takes what its queue or a finished one freed, and asks
/// the queues when there is none.
#[test]
fn urEnqueueUSMDeviceAllocExp_from_a_full_buffer_never_shares_a_block() {
    const BLOCK: usize = 512;
    const BEHIND_EVENTS: Reach = Reach { completed: true, behind_events: true };
    let _turn = turn();
    let handles = Handles::new();
    let queues: Vec<_> = (0..THREADS).map(|_| handles.queue()).collect();
    let streams: Vec<_> = queues
        .iter()
        // SAFETY: live queues.
        .map(|queue| unsafe { object::borrow::<queue::Queue<Noop>>(*queue) }.expect("a live queue").streams().remove(0))
        .collect();
    let mut buffer = vec![0u8; (THREADS / 2 + 1) * BLOCK];
    let arena = Arena::<Noop>::new(buffer.as_mut_ptr().expose_provenance(), buffer.len());
    together(|number| {
        let stream = &streams[number];
        for _ in 0..ROUNDS {
            let cut = {
                let _state = stream.lock();
                arena.cut(&**stream, BLOCK, BEHIND_EVENTS)
            };
            let Some(cut) = cut else {
                arena.ask_streams().expect("an answer");
                continue;
            };
            use_block(core::ptr::with_exposed_provenance_mut(cut.pointer()), BLOCK, number as u8);
            let mut state = stream.lock();
            state.position += 1;
            arena.give_back(cut.pointer(), &**stream, state.position);
        }
    });
    arena.ask_streams().expect("an answer");
    drop(streams);
    queues.into_iter().for_each(|queue| handles.release_queue(queue));
}
