//! What comes and goes beside many of its kind: launches with their events, plain memory, buffers, queues and kernels.

use std::ptr::{null, null_mut, with_exposed_provenance_mut};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use ur_client::call;
use ur_client::ffi::{ur_event_handle_t, ur_queue_handle_t, ur_queue_properties_t, ur_result_t};

use super::{BATCH, BLOCK, cleared};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::Body;
use crate::raw::{Handle, Kind, Raw};
use crate::work::objects::{allocate, beside, free, make_buffer, release_buffer};
use crate::work::shapes::{NO_WAITS, launch};
use crate::work::{finish, release};

/// Bytes of the stack of a thread that allocates once.
const STACK: usize = 256 << 10;

// --- Launches.

/// Events of launches, as far as they are kept.
struct Launches<'f> {
    fixture: &'f Fixture<'f>,
    events: Vec<ur_event_handle_t>,
}

impl Launches<'_> {
    #[inline]
    fn launch(&mut self) -> Result<(), Failure> {
        let (fixture, mut event) = (self.fixture, null_mut());
        launch(fixture, fixture.queue.handle(), fixture.kernel()?, &[], NO_WAITS, &raw mut event)?;
        self.events.push(event);
        Ok(())
    }

    /// Waits for the queue, and gives back all events but the first.
    fn keep(&mut self, events: usize) -> Result<(), Failure> {
        finish(self.fixture)?;
        self.events.drain(events.min(self.events.len())..).try_for_each(|event| release(self.fixture, event))
    }
}

impl Drop for Launches<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.keep(0);
    }
}

pub fn ur_launch<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let mut kept = Launches { fixture, events: Vec::with_capacity(count + BATCH as usize) };
    for _ in 0..count {
        kept.launch()?;
    }
    let kept = std::cell::RefCell::new(kept);
    Ok(Box::new(move |iterations, meter| {
        cleared(iterations, meter, |_| kept.borrow_mut().launch(), || kept.borrow_mut().keep(count))
    }))
}

/// The same of the raw side: each event is made, recorded and kept.
struct RawLaunches<'r> {
    raw: &'r Raw,
    events: Vec<Handle>,
}

impl RawLaunches<'_> {
    #[inline]
    fn launch(&mut self) -> Result<(), Failure> {
        self.raw.launch()?;
        let event = self.raw.new_event(false)?;
        self.events.push(event);
        self.raw.record(event, self.raw.stream())
    }

    fn keep(&mut self, events: usize) -> Result<(), Failure> {
        self.raw.synchronize(self.raw.stream())?;
        self.events.drain(events.min(self.events.len())..).try_for_each(|event| self.raw.destroy_event(event))
    }
}

impl Drop for RawLaunches<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.keep(0);
    }
}

pub fn raw_launch<'f>(_: &'f Fixture<'f>, raw: &'f Raw, count: usize) -> Result<Body<'f>, Failure> {
    let mut kept = RawLaunches { raw, events: Vec::with_capacity(count + BATCH as usize) };
    raw.while_current(|| (0..count).try_for_each(|_| kept.launch()))?;
    let kept = std::cell::RefCell::new(kept);
    Ok(Box::new(move |iterations, meter| {
        let clear = || kept.borrow_mut().keep(count);
        raw.while_current(|| cleared(iterations, meter, |_| kept.borrow_mut().launch(), clear))
    }))
}

// --- What is made and released.

pub fn ur_memory<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    beside(count, BATCH, move || allocate(fixture, Kind::Device, BLOCK), move |memory| free(fixture, memory))
}

pub fn raw_memory<'f>(_: &'f Fixture<'f>, raw: &'f Raw, count: usize) -> Result<Body<'f>, Failure> {
    let mut body = raw.while_current(|| {
        beside(count, BATCH, move || raw.allocate(Kind::Device, BLOCK), move |memory| raw.free(Kind::Device, memory))
    })?;
    Ok(Box::new(move |iterations, meter| raw.while_current(|| body(iterations, meter))))
}

pub fn ur_buffer<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    beside(count, BATCH, move || make_buffer(fixture), move |buffer| release_buffer(fixture, buffer))
}

pub fn ur_queue<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    let make = move || {
        let (properties, mut queue) = (ur_queue_properties_t::default(), null_mut::<_>() as ur_queue_handle_t);
        // SAFETY: live handles, no descriptor beyond the plain one, a writable output.
        unsafe { call!(fixture.ur, Queue.pfnCreate(context, device, &raw const properties, &raw mut queue)) }?;
        Ok(queue)
    };
    beside(count, 1, make, move |queue| {
        // SAFETY: a live queue, released once.
        unsafe { call!(fixture.ur, Queue.pfnRelease(queue)) }?;
        Ok(())
    })
}

pub fn ur_context<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let make = move || {
        let (device, mut context) = (fixture.listed.device.handle(), null_mut());
        // SAFETY: a list of one live device, no properties, a writable output.
        unsafe { call!(fixture.ur, Context.pfnCreate(1, &raw const device, null(), &raw mut context)) }?;
        Ok(context)
    };
    beside(count, BATCH, make, move |context| {
        // SAFETY: a live context, released once.
        unsafe { call!(fixture.ur, Context.pfnRelease(context)) }?;
        Ok(())
    })
}

/// Threads that live until this goes.
struct Living {
    hold: Option<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Living {
    /// Starts so many threads, each of which does something first; gives their answers.
    fn new(
        count: usize,
        first: impl Fn() -> ur_result_t + Clone + Send + 'static,
    ) -> Result<(Self, Vec<ur_result_t>), Failure> {
        let (hold, held) = channel();
        let held = Arc::new(Mutex::new(held));
        let (done, answers) = channel();
        let mut living = Self { hold: Some(hold), threads: Vec::with_capacity(count) };
        for _ in 0..count {
            let (first, done, held) = (first.clone(), done.clone(), Arc::clone(&held));
            let live = move || {
                let _ = done.send(first());
                // Who waits for the answers waits for this.
                drop(done);
                // Ends when nobody holds the threads any more; they wait for each other, since nobody measures that.
                let _ = held.lock().map(|held| held.recv());
            };
            let started = std::thread::Builder::new().stack_size(STACK).spawn(live);
            living.threads.push(started.map_err(|error| Failure::Unavailable(format!("no thread: {error}")))?);
        }
        drop(done);
        Ok((living, answers.iter().collect()))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        drop(self.hold.take());
        for thread in self.threads.drain(..) {
            // What a thread panicked with, it has said.
            let _ = thread.join();
        }
    }
}

/// Plain memory of this thread, while so many others live that have used some.
pub fn ur_threads<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let table = &fixture.ur.table.USM;
    let missing = || Failure::Unavailable("no plain memory".to_owned());
    let (allocate_device, free_memory) =
        (table.pfnDeviceAlloc.ok_or_else(missing)?, table.pfnFree.ok_or_else(missing)?);
    // Other threads are given handles as numbers.
    let context = fixture.context.handle().expose_provenance();
    let device = fixture.listed.device.handle().expose_provenance();
    let first = move || {
        let (context, device) = (with_exposed_provenance_mut(context), with_exposed_provenance_mut(device));
        let mut memory = null_mut();
        // SAFETY: the fixture's handles live, since `ur_threads` waits for every answer; a writable output, freed once.
        unsafe {
            match allocate_device(context, device, null(), null_mut(), BLOCK, &raw mut memory) {
                ur_result_t::SUCCESS => free_memory(context, memory),
                code => code,
            }
        }
    };
    let (living, answers) = Living::new(count, first)?;
    if let Some(code) = answers.iter().find(|code| **code != ur_result_t::SUCCESS) {
        return Err(Failure::Unavailable(format!("a thread's plain memory: {code:?}")));
    }
    let mut body =
        beside(0, BATCH, move || allocate(fixture, Kind::Device, BLOCK), move |memory| free(fixture, memory))?;
    Ok(Box::new(move |iterations, meter| {
        let _living = &living;
        body(iterations, meter)
    }))
}

pub fn ur_kernel<'f>(fixture: &'f Fixture<'f>, count: usize) -> Result<Body<'f>, Failure> {
    let program = fixture.program()?;
    let make = move || {
        let mut kernel = null_mut();
        // SAFETY: a live program that is built, a name with its end, a writable output.
        unsafe { call!(fixture.ur, Kernel.pfnCreate(program, c"empty".as_ptr(), &raw mut kernel)) }?;
        Ok(kernel)
    };
    beside(count, BATCH, make, move |kernel| {
        // SAFETY: a live kernel, released once.
        unsafe { call!(fixture.ur, Kernel.pfnRelease(kernel)) }?;
        Ok(())
    })
}
