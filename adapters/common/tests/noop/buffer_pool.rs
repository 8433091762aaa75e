//! Blocks of buffer-backed and other pools, with the steps of two threads put in an order that no scheduler need be asked for.

use core::cell::Cell;
use core::ptr::{null, null_mut};
use std::sync::Arc;

use super::handles::{Handles, turn};
use ur_adapter::api::noop::{Noop, NoopDevice};
use ur_adapter::context::Context;
use ur_adapter::device::Device;
use ur_adapter::driver::MemoryKind;
use ur_adapter::driver::devices::DeviceName as _;
use ur_adapter::memory_pool::arena::{Arena, Reach};
use ur_adapter::memory_pool::registry::Block;
use ur_adapter::object;
use ur_adapter::pool::extent::Extent;
use ur_adapter::pool::{UsmPool, out_of_memory, stream_ordered, stream_ordered_free};
use ur_adapter::queue::Queue;
use ur_adapter::stream::Stream;
use ur_adapter::stream::delegated::Word;
use ur_ffi::ur_queue_handle_t;

const BLOCK: usize = 512;
const COMPLETED: Reach = Reach { completed: true, behind_events: false };
const BEHIND_EVENTS: Reach = Reach { completed: true, behind_events: true };

fn stream(queue: ur_queue_handle_t) -> Arc<Stream<Noop>> {
    // SAFETY: a live queue.
    let queue = unsafe { object::borrow::<Queue<Noop>>(queue) }.expect("a live queue");
    Arc::clone(&queue.streams()[0])
}

/// A thread that looks for room records an event on another queue. Before it can say what the event covers, that queue
/// frees one more block: the event was recorded before the last use of it.
#[test]
fn urEnqueueUSMFreeExp_after_an_event_was_recorded_is_not_covered_by_it() {
    let _turn = turn();
    let handles = Handles::new();
    let queues = [handles.queue(), handles.queue()];
    let [busy, other] = queues.map(stream);
    let arena = Arena::<Noop>::new(1 << 20, 2 * BLOCK);
    let blocks = [(); 2].map(|()| arena.cut(&*busy, BLOCK, COMPLETED).expect("a free block").pointer());
    let next = || {
        let mut state = busy.lock();
        state.position += 1;
        state.position
    };
    arena.give_back(blocks[0], &*busy, next());
    let (position, marker) = busy.record_marker().expect("an event").expect("the queue has not finished");
    arena.give_back(blocks[1], &*busy, next());
    arena.mark(&*busy, position, &Arc::new(marker));
    let cut = arena.cut(&*other, BLOCK, BEHIND_EVENTS).expect("what was freed before the event");
    assert!(cut.pointer() == blocks[0] && cut.behind().is_some());
    assert!(
        arena.cut(&*other, BLOCK, BEHIND_EVENTS).is_none(),
        "a block is behind an event that was recorded before its last use"
    );
    assert_eq!(arena.cut(&*busy, BLOCK, COMPLETED).map(|cut| cut.pointer()), Some(blocks[1]));
    queues.into_iter().for_each(|queue| handles.release_queue(queue));
}

/// A thread takes a block back to give it to the stream that allocated it, and the stream's queue is released before it gets
/// there. Nobody empties what that stream would keep from then on.
#[test]
fn urUSMFree_of_a_block_whose_queue_is_released_meanwhile_leaves_nothing_with_its_stream() {
    let _turn = turn();
    let handles = Handles::new();
    let queue = handles.queue();
    let blocks = [(); 2].map(|()| {
        let mut block = null_mut();
        // SAFETY: live handles, a writable output.
        let made = unsafe {
            stream_ordered::device_alloc::<Noop>(queue, null_mut(), 64, null(), 0, null(), &raw mut block, null_mut())
        };
        made.expect("a block");
        block.addr()
    });
    let stream = stream(queue);
    let claimed = blocks.map(|block| stream.registry().claim(block).expect("a block that is out"));
    handles.release_queue(queue);
    let [first, second] = claimed;
    // What the thread finds itself comes back to it, for the context's own stream.
    let left = stream.take_back(first, blocks[0]).expect("an answer").expect("the stream takes nothing any more");
    assert!(!stream.lock().cache.keeps_any(|_| true));
    // Left as word while the stream's last holder was inside a native call, it goes to the pool.
    stream.leave(Word::GiveBack(second, blocks[1]));
    assert!(!stream.lock().cache.keeps_any(|_| true), "nobody empties this");
    stream.registry().unclaim(blocks[0], &left);
    let find = |at: usize| stream.registry().find_start(blocks[at]);
    assert!(matches!(find(0), Some(Block::Out { .. })) && find(1).is_none());
    // SAFETY: a live queue, released below; the block is out and nothing uses it.
    unsafe {
        let queue = handles.queue();
        let memory = core::ptr::with_exposed_provenance_mut(blocks[0]);
        stream_ordered_free::free::<Noop>(queue, null_mut(), memory, 0, null(), null_mut()).expect("a free");
        handles.release_queue(queue);
    }
}

/// A full pool gets back what a queue keeps of it. Before the request is tried again, that queue's thread takes the block and frees
/// it once more: the queue keeps it again, so the request is helped by another relief alone.
#[test]
fn urEnqueueUSMDeviceAllocExp_on_a_full_pool_is_helped_though_another_thread_was_there_first() {
    let _turn = turn();
    let handles = Handles::new();
    let queues = [handles.queue(), handles.queue()];
    let (memory, handle) = handles.pool_over_memory(BLOCK);
    let take_and_free = |queue| {
        let mut block = null_mut();
        // SAFETY: live handles, a writable output; nothing uses the block.
        unsafe {
            let out = &raw mut block;
            stream_ordered::device_alloc::<Noop>(queue, handle, BLOCK, null(), 0, null(), out, null_mut())?;
            stream_ordered_free::free::<Noop>(queue, null_mut(), block, 0, null(), null_mut())
        }
    };
    take_and_free(queues[0]).expect("all that the pool has");
    for others in [0, 1, 2] {
        // SAFETY: live handles.
        let (context, device, pool) = unsafe {
            (
                object::borrow::<Context<Noop>>(handles.context()).expect("a context"),
                object::borrow::<Device<Noop>>(handles.device()).expect("a device"),
                object::borrow::<UsmPool<Noop>>(handle).expect("a pool"),
            )
        };
        let state = context.state(device).expect("a device of the context");
        let backend = pool.backend(MemoryKind::Device, &state).expect("the pool's memory");
        let mine = stream(queues[1]);
        let tries = Cell::new(0);
        let request = || {
            let tried = tries.replace(tries.get() + 1);
            if (1..=others).contains(&tried) {
                take_and_free(queues[0])?;
            }
            let state = mine.lock();
            let taken = backend.take(&*mine, BLOCK, backend.keeps);
            drop(state);
            taken
        };
        let draws = || Some((Arc::clone(&backend), BLOCK));
        let block = out_of_memory::with_relief(context, &state, draws, request).expect("what nobody uses");
        assert_eq!((block, tries.get()), (memory.addr(), 2 + others));
        let mut state = mine.lock();
        state.position += 1;
        let position = state.position;
        backend.give_back(&*mine, position, block, BLOCK, backend.keeps).expect("a free");
        drop(state);
        take_and_free(queues[0]).expect("all that the pool has");
    }
    queues.into_iter().for_each(|queue| handles.release_queue(queue));
    handles.release_pool(handle);
    handles.free(memory);
}

/// The native library tells the start of its own region for blocks of host pools, with the block's size.
#[test]
fn bytes_from_an_address_that_the_library_places_wrongly_are_none_and_no_wrapped_number() {
    let extent = |base, size| Extent::<Noop> {
        kind: MemoryKind::Host,
        base,
        size,
        device: NoopDevice::from_value(0),
        is_plain: false,
        backend: None,
        heap: None,
    };
    assert_eq!(extent(4096, 1000).bytes_from(4096), Some(1000));
    assert_eq!(extent(4096, 1000).bytes_from(5095), Some(1));
    assert_eq!(extent(4096, 1000).bytes_from(5096), None, "the end");
    assert_eq!(extent(4096, 1000).bytes_from(8192), None, "further behind the start than it has bytes");
    assert_eq!(extent(8192, 1000).bytes_from(4096), None, "before the start");
}
