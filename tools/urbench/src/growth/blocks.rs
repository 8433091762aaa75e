//! Blocks in stream order of which many live, with or without the events of their allocations: what an allocation, a wait, and a
//! query and a free of plain memory cost beside them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ur_client::ffi::{ur_event_handle_t, ur_queue_handle_t_, ur_usm_alloc_info_t, ur_usm_pool_info_t};
use ur_client::{Held, call};

use super::{BATCH, BLOCK, cleared};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::Body;
use crate::raw::{Address, Handle, Kind, Raw};
use crate::work::objects;

/// Blocks of a queue of their own and the events of their allocations, as far as they are kept.
struct Blocks<'f> {
    fixture: &'f Fixture<'f>,
    queue: Held<'f, ur_queue_handle_t_>,
    blocks: Vec<*mut c_void>,
    events: Vec<ur_event_handle_t>,
}

impl<'f> Blocks<'f> {
    fn new(fixture: &'f Fixture<'f>, count: usize, with_events: bool) -> Result<Self, Failure> {
        let queue = fixture.new_queue()?;
        let mut this = Self { fixture, queue, blocks: Vec::with_capacity(count), events: Vec::with_capacity(count) };
        for _ in 0..count {
            this.allocate(with_events)?;
        }
        fixture.ur.finish(this.queue.handle())?;
        Ok(this)
    }

    #[inline]
    fn allocate(&mut self, with_event: bool) -> Result<(), Failure> {
        let (queue, mut block, mut event) = (self.queue.handle(), null_mut(), null_mut());
        let place = if with_event { &raw mut event } else { null_mut() };
        let out = &raw mut block;
        // SAFETY: a live queue, no pool, no lists, writable outputs.
        unsafe {
            call!(
                self.fixture.ur,
                EnqueueExp.pfnUSMDeviceAllocExp(queue, null_mut(), BLOCK, null(), 0, null(), out, place)
            )
        }?;
        self.blocks.push(block);
        if with_event {
            self.events.push(event);
        }
        Ok(())
    }

    /// Waits on the queue for a kept event, and keeps the wait's.
    #[inline]
    fn wait(&mut self, index: usize) -> Result<(), Failure> {
        let mut event = null_mut();
        let list = &raw const self.events[index];
        // SAFETY: a live queue, a list of one live event, a writable output.
        unsafe { call!(self.fixture.ur, Enqueue.pfnEventsWait(self.queue.handle(), 1, list, &raw mut event)) }?;
        self.events.push(event);
        Ok(())
    }

    /// Gives back all but the first: events, and blocks in the queue's order.
    fn keep(&mut self, blocks: usize, events: usize) -> Result<(), Failure> {
        let (ur, queue) = (self.fixture.ur, self.queue.handle());
        for event in self.events.drain(events.min(self.events.len())..) {
            // SAFETY: an event of this list, released once.
            unsafe { call!(ur, Event.pfnRelease(event)) }?;
        }
        for block in self.blocks.drain(blocks.min(self.blocks.len())..) {
            // SAFETY: a block of this list, freed once; nothing uses it.
            unsafe { call!(ur, EnqueueExp.pfnUSMFreeExp(queue, null_mut(), block, 0, null(), null_mut())) }?;
        }
        Ok(())
    }
}

impl Drop for Blocks<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.keep(0, 0);
        let _ = self.fixture.ur.finish(self.queue.handle());
    }
}

pub fn ur_alloc<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let kept = std::cell::RefCell::new(Blocks::new(fixture, count, true)?);
    Ok(Box::new(move |iterations, meter| {
        let clear = || kept.borrow_mut().keep(count, count);
        cleared(iterations, meter, |_| kept.borrow_mut().allocate(true), clear)
    }))
}

/// Allocations that each raise the default pool's high-water mark, beside queues that have used the pool: behind each batch the mark
/// is reset to what is in use, which leaves no queue anything that it may use without a look at the pool's account.
pub fn ur_mark<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let mut others = Vec::with_capacity(count);
    for _ in 0..count {
        let mut used = Blocks::new(fixture, 1, false)?;
        used.keep(0, 0)?;
        others.push(used);
    }
    let own = std::cell::RefCell::new(Blocks::new(fixture, 0, false)?);
    let mut pool = null_mut();
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    // SAFETY: live handles, a writable output; the pool lives as long as the context.
    unsafe { call!(fixture.ur, USMExp.pfnPoolGetDefaultDevicePoolExp(context, device, &raw mut pool)) }?;
    Ok(Box::new(move |iterations, meter| {
        let _others = &others;
        let clear = || {
            own.borrow_mut().keep(0, 0)?;
            let mut none = 0_usize;
            let (what, value) = (ur_usm_pool_info_t::USED_HIGH_EXP, (&raw mut none).cast());
            // SAFETY: a live pool; the value has the property's size.
            unsafe { call!(fixture.ur, USMExp.pfnPoolSetInfoExp(pool, what, value, size_of::<usize>())) }?;
            Ok(())
        };
        cleared(iterations, meter, |_| own.borrow_mut().allocate(false), clear)
    }))
}

pub fn ur_wait<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let kept = std::cell::RefCell::new(Blocks::new(fixture, count, true)?);
    Ok(Box::new(move |iterations, meter| {
        let once = |index: u64| kept.borrow_mut().wait(index as usize % count);
        cleared(iterations, meter, once, || kept.borrow_mut().keep(count, count))
    }))
}

pub fn ur_query<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let kept = Blocks::new(fixture, count, false)?;
    let context = fixture.context.handle();
    let mut kind = 0_u32;
    Ok(Box::new(move |iterations, meter| {
        let _kept = &kept;
        let once = |_| {
            let (what, place) = (ur_usm_alloc_info_t::TYPE, (&raw mut kind).cast());
            // SAFETY: the fixture's memory is live; the value has the query's size.
            unsafe { call!(fixture.ur, USM.pfnGetMemAllocInfo(context, fixture.memory, what, 4, place, null_mut())) }?;
            Ok(())
        };
        cleared(iterations, meter, once, || Ok(()))
    }))
}

pub fn ur_free<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let kept = Blocks::new(fixture, count, false)?;
    let allocate = move || objects::allocate(fixture, Kind::Device, BLOCK);
    frees(kept, allocate, move |memory| objects::free(fixture, memory))
}

/// Frees what is allocated before it is measured, while something else is kept.
fn frees<'f, K: 'f, T: 'f>(
    kept: K,
    allocate: impl Fn() -> Result<T, Failure> + 'f,
    free: impl Fn(T) -> Result<(), Failure> + 'f,
) -> Result<Body<'f>, Failure> {
    let mut ready = Vec::with_capacity(BATCH as usize);
    Ok(Box::new(move |iterations, meter| {
        let _kept = &kept;
        let mut left = iterations;
        while left > 0 {
            let batch = left.min(BATCH);
            for _ in 0..batch {
                ready.push(allocate()?);
            }
            meter.start();
            let freed = ready.drain(..).try_for_each(&free);
            meter.stop();
            freed?;
            left -= batch;
        }
        Ok(())
    }))
}

/// The same of the raw side: each event is made, recorded and kept.
struct RawBlocks<'r> {
    raw: &'r Raw,
    stream: Handle,
    blocks: Vec<Address>,
    events: Vec<Handle>,
}

impl<'r> RawBlocks<'r> {
    fn new(raw: &'r Raw, count: usize, with_events: bool) -> Result<Self, Failure> {
        let stream = raw.new_stream()?;
        let mut this = Self { raw, stream, blocks: Vec::with_capacity(count), events: Vec::with_capacity(count) };
        raw.while_current(|| (0..count).try_for_each(|_| this.allocate(with_events)))?;
        raw.synchronize(stream)?;
        Ok(this)
    }

    #[inline]
    fn allocate(&mut self, with_event: bool) -> Result<(), Failure> {
        self.blocks.push(self.raw.allocate_ordered(BLOCK, self.stream)?);
        if with_event { self.mark() } else { Ok(()) }
    }

    #[inline]
    fn mark(&mut self) -> Result<(), Failure> {
        let event = self.raw.new_event(false)?;
        self.events.push(event);
        self.raw.record(event, self.stream)
    }

    #[inline]
    fn wait(&mut self, index: usize) -> Result<(), Failure> {
        self.raw.stream_wait(self.stream, self.events[index])?;
        self.mark()
    }

    fn keep(&mut self, blocks: usize, events: usize) -> Result<(), Failure> {
        for event in self.events.drain(events.min(self.events.len())..) {
            self.raw.destroy_event(event)?;
        }
        for block in self.blocks.drain(blocks.min(self.blocks.len())..) {
            self.raw.free_ordered(block, self.stream)?;
        }
        Ok(())
    }
}

impl Drop for RawBlocks<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.keep(0, 0);
        let _ = self.raw.synchronize(self.stream);
        let _ = self.raw.destroy_stream(self.stream);
    }
}

pub fn raw_alloc<'f>(_: &'f Fixture<'f>, raw: &'f Raw, count: usize) -> Result<Body<'f>, Failure> {
    let kept = std::cell::RefCell::new(RawBlocks::new(raw, count, true)?);
    Ok(Box::new(move |iterations, meter| {
        let clear = || kept.borrow_mut().keep(count, count);
        raw.while_current(|| cleared(iterations, meter, |_| kept.borrow_mut().allocate(true), clear))
    }))
}

pub fn raw_wait<'f>(_: &'f Fixture<'f>, raw: &'f Raw, count: usize) -> Result<Body<'f>, Failure> {
    let kept = std::cell::RefCell::new(RawBlocks::new(raw, count, true)?);
    Ok(Box::new(move |iterations, meter| {
        let once = |index: u64| kept.borrow_mut().wait(index as usize % count);
        raw.while_current(|| cleared(iterations, meter, once, || kept.borrow_mut().keep(count, count)))
    }))
}

pub fn raw_query<'f>(fixture: &'f Fixture<'f>, raw: &'f Raw, count: usize) -> Result<Body<'f>, Failure> {
    let kept = RawBlocks::new(raw, count, false)?;
    let address = fixture.memory.addr() as Address;
    raw.while_current(|| raw.memory_type(address))?;
    Ok(Box::new(move |iterations, meter| {
        let _kept = &kept;
        let once = |_| raw.memory_type(address).map(drop);
        raw.while_current(|| cleared(iterations, meter, once, || Ok(())))
    }))
}

pub fn raw_free<'f>(_: &'f Fixture<'f>, raw: &'f Raw, count: usize) -> Result<Body<'f>, Failure> {
    let kept = RawBlocks::new(raw, count, false)?;
    let allocate = move || raw.allocate(Kind::Device, BLOCK);
    let mut body = frees(kept, allocate, move |memory| raw.free(Kind::Device, memory))?;
    Ok(Box::new(move |iterations, meter| raw.while_current(|| body(iterations, meter))))
}
