//! Objects that come and go: queues, buffers and their maps, plain memory of three kinds among many that live.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ur_client::call;
use ur_client::ffi::{
    CBool, ur_map_flags_t, ur_mem_flags_t, ur_mem_handle_t, ur_queue_handle_t, ur_queue_properties_t,
};

use super::shapes::one_by_one;
use super::{Prepared, Sides, raw_of};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter, batches, straight};
use crate::options::Options;
use crate::raw::{COPY, Kind, Raw};

/// Allocations that live while one comes and goes, and so many of them with `--quick`.
const LIVE: usize = 1000;
const FEW: usize = 20;
/// Allocations that are made before they are freed.
const BATCH: u64 = 64;
/// From this size on there is one at a time, beside few that live.
const BIG: usize = 1 << 20;

pub const CASES: [Prepared; 18] = [
    Prepared { name: "objects: queue", note: "made and released, unused", make: queue },
    Prepared { name: "objects: buffer 4 KiB", note: "made and released, unused", make: buffer },
    Prepared { name: "objects: map + unmap 4 KiB", note: "not blocking; raw: copies to and from pinned", make: map },
    Prepared { name: "objects: device 256 B", note: "1000 live", make: device_small },
    Prepared { name: "objects: device 256 B, alloc", note: "1000 live", make: device_small_alloc },
    Prepared { name: "objects: device 256 B, free", note: "1000 live", make: device_small_free },
    Prepared { name: "objects: device 4 KiB", note: "1000 live", make: device_large },
    Prepared { name: "objects: host 256 B", note: "1000 live", make: host_small },
    Prepared { name: "objects: host 4 KiB", note: "1000 live", make: host_large },
    Prepared { name: "objects: shared 256 B", note: "1000 live", make: shared_small },
    Prepared { name: "objects: shared 4 KiB", note: "1000 live", make: shared_large },
    Prepared { name: "objects: device 64 KiB", note: "1000 live", make: device_middle },
    Prepared { name: "objects: host 64 KiB", note: "1000 live", make: host_middle },
    Prepared { name: "objects: shared 64 KiB", note: "1000 live", make: shared_middle },
    Prepared { name: "objects: device 1 MiB", note: "one at a time", make: device_big },
    Prepared { name: "objects: host 1 MiB", note: "one at a time", make: host_big },
    Prepared { name: "objects: shared 1 MiB", note: "one at a time", make: shared_big },
    Prepared { name: "objects: host 16 MiB", note: "one at a time", make: host_huge },
];

fn queue<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let ur = fixture.ur;
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    let ur = one_by_one(move || {
        let (properties, mut queue) = (ur_queue_properties_t::default(), null_mut::<_>() as ur_queue_handle_t);
        // SAFETY: live handles, a writable output; the queue is released once.
        unsafe {
            call!(ur, Queue.pfnCreate(context, device, &raw const properties, &raw mut queue))?;
            call!(ur, Queue.pfnRelease(queue))?;
        }
        Ok(())
    });
    let raw = raw_of(fixture, |raw| {
        let mut body = one_by_one(|| {
            let stream = raw.new_stream_here()?;
            raw.destroy_stream(stream)
        });
        Ok(Box::new(move |iterations, meter: &mut Meter<'_>| raw.while_current(|| body(iterations, meter))) as Body<'f>)
    })?;
    Ok(Sides { ur, raw })
}

/// A buffer of 4 KiB whose memory nothing has used yet.
pub fn make_buffer(fixture: &Fixture<'_>) -> Result<ur_mem_handle_t, Failure> {
    let (context, mut buffer) = (fixture.context.handle(), null_mut());
    let flags = ur_mem_flags_t::READ_WRITE;
    // SAFETY: a live context, no properties, a writable output.
    unsafe { call!(fixture.ur, Mem.pfnBufferCreate(context, flags, COPY, null(), &raw mut buffer)) }?;
    Ok(buffer)
}

/// Releases it.
pub fn release_buffer(fixture: &Fixture<'_>, buffer: ur_mem_handle_t) -> Result<(), Failure> {
    // SAFETY: a live buffer, released once.
    unsafe { call!(fixture.ur, Mem.pfnRelease(buffer)) }?;
    Ok(())
}

fn buffer<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let ur = one_by_one(move || release_buffer(fixture, make_buffer(fixture)?));
    let raw = raw_of(fixture, |raw| {
        let mut body = one_by_one(|| raw.free(Kind::Device, raw.allocate(Kind::Device, COPY)?));
        Ok(Box::new(move |iterations, meter: &mut Meter<'_>| raw.while_current(|| body(iterations, meter))) as Body<'f>)
    })?;
    Ok(Sides { ur, raw })
}

/// A buffer that is released with the case.
struct Buffer<'f> {
    fixture: &'f Fixture<'f>,
    handle: ur_mem_handle_t,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = release_buffer(self.fixture, self.handle);
    }
}

fn map<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let buffer = Buffer { fixture, handle: make_buffer(fixture)? };
    let queue = fixture.queue.handle();
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        // By reference, so that the closure has the buffer and not its handle alone.
        let buffer = &buffer;
        let once = || {
            let (mut place, flags) = (null_mut::<c_void>(), ur_map_flags_t::READ | ur_map_flags_t::WRITE);
            let (buffer, no_event, out) = (buffer.handle, null_mut(), &raw mut place);
            // SAFETY: live handles, the whole buffer, no lists, a writable output; what is mapped is unmapped once.
            unsafe {
                call!(
                    fixture.ur,
                    Enqueue.pfnMemBufferMap(queue, buffer, CBool::FALSE, flags, 0, COPY, 0, null(), no_event, out)
                )?;
                call!(fixture.ur, Enqueue.pfnMemUnmap(queue, buffer, place, 0, null(), null_mut()))?;
            }
            Ok(())
        };
        batches(iterations, meter, once, || super::finish(fixture))
    });
    let raw = raw_of(fixture, |raw| {
        let body: Body<'f> = Box::new(move |iterations, meter| {
            let once = || {
                raw.copy_back()?;
                raw.copy()
            };
            batches(iterations, meter, once, || raw.synchronize(raw.stream()))
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

/// What of an allocation is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Both,
    Alloc,
    Free,
}

/// Plain memory of the UR.
pub fn allocate(fixture: &Fixture<'_>, kind: Kind, size: usize) -> Result<*mut c_void, Failure> {
    let (ur, context, device) = (fixture.ur, fixture.context.handle(), fixture.listed.device.handle());
    let mut memory = null_mut();
    let out = &raw mut memory;
    // SAFETY: live handles, no descriptor, no pool, a writable output.
    unsafe {
        match kind {
            Kind::Device => call!(ur, USM.pfnDeviceAlloc(context, device, null(), null_mut(), size, out)),
            Kind::Host => call!(ur, USM.pfnHostAlloc(context, null(), null_mut(), size, out)),
            Kind::Shared => call!(ur, USM.pfnSharedAlloc(context, device, null(), null_mut(), size, out)),
        }
    }?;
    Ok(memory)
}

/// Gives it back.
pub fn free(fixture: &Fixture<'_>, memory: *mut c_void) -> Result<(), Failure> {
    // SAFETY: allocated in this context and freed once, by the caller's word.
    unsafe { call!(fixture.ur, USM.pfnFree(fixture.context.handle(), memory)) }?;
    Ok(())
}

/// Allocations that live as long as the case, by whoever makes them.
struct Many<T: Copy, F: Fn(T) -> Result<(), Failure>> {
    list: Vec<T>,
    free: F,
}

impl<T: Copy, F: Fn(T) -> Result<(), Failure>> Drop for Many<T, F> {
    fn drop(&mut self) {
        for one in self.list.drain(..) {
            // Errors have nobody to go to.
            let _ = (self.free)(one);
        }
    }
}

/// Makes and gives back in batches of at most so many; `live` others are there all the time.
pub fn beside<'f, T: Copy + 'f>(
    live: usize,
    most: u64,
    make: impl Fn() -> Result<T, Failure> + 'f,
    give_back: impl Fn(T) -> Result<(), Failure> + Copy + 'f,
) -> Result<Body<'f>, Failure> {
    churn(live, most, Part::Both, make, give_back)
}

/// Allocates and frees in batches of at most so many, measured in part (both, of one at a time); `live` others are there all
/// the time.
fn churn<'f, T: Copy + 'f>(
    live: usize,
    most: u64,
    part: Part,
    allocate: impl Fn() -> Result<T, Failure> + 'f,
    free: impl Fn(T) -> Result<(), Failure> + Copy + 'f,
) -> Result<Body<'f>, Failure> {
    let mut others = Many { list: Vec::with_capacity(live), free };
    for _ in 0..live {
        others.list.push(allocate()?);
    }
    if most == 1 {
        // The list and the clock would be dearer than what is measured.
        return Ok(Box::new(move |iterations, meter| {
            let _kept = &others;
            straight(iterations, meter, || free(allocate()?))
        }));
    }
    let mut batch = Many { list: Vec::with_capacity(most as usize), free };
    Ok(Box::new(move |iterations, meter| {
        let _kept = &others;
        let mut left = iterations;
        while left > 0 {
            let count = left.min(most);
            measured(meter, part != Part::Free, || {
                for _ in 0..count {
                    batch.list.push(allocate()?);
                }
                Ok(())
            })?;
            measured(meter, part != Part::Alloc, || batch.list.drain(..).try_for_each(free))?;
            left -= count;
        }
        Ok(())
    }))
}

fn measured(meter: &mut Meter<'_>, counts: bool, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    if !counts {
        return work();
    }
    meter.start();
    let done = work();
    meter.stop();
    done
}

fn plain<'f>(
    fixture: &'f Fixture<'f>,
    options: &Options,
    kind: Kind,
    size: usize,
    part: Part,
) -> Result<Sides<'f>, Failure> {
    let is_big = size >= BIG;
    let live = if options.quick || is_big { FEW } else { LIVE };
    let batch = if is_big { 1 } else { BATCH };
    let ur = churn(live, batch, part, move || allocate(fixture, kind, size), move |memory| free(fixture, memory))?;
    let raw = raw_of(fixture, |raw: &'f Raw| {
        let mut body = raw.while_current(|| {
            churn(live, batch, part, move || raw.allocate(kind, size), move |memory| raw.free(kind, memory))
        })?;
        Ok(Box::new(move |iterations, meter: &mut Meter<'_>| raw.while_current(|| body(iterations, meter))) as Body<'f>)
    })?;
    Ok(Sides { ur, raw })
}

macro_rules! plain {
    ($($name:ident = $kind:ident, $size:literal, $part:ident;)*) => {
        $(fn $name<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
            plain(fixture, options, Kind::$kind, $size, Part::$part)
        })*
    };
}

plain! {
    device_small = Device, 256, Both;
    device_small_alloc = Device, 256, Alloc;
    device_small_free = Device, 256, Free;
    device_large = Device, 4096, Both;
    host_small = Host, 256, Both;
    host_large = Host, 4096, Both;
    shared_small = Shared, 256, Both;
    shared_large = Shared, 4096, Both;
    device_middle = Device, 65_536, Both;
    host_middle = Host, 65_536, Both;
    shared_middle = Shared, 65_536, Both;
    device_big = Device, 1_048_576, Both;
    host_big = Host, 1_048_576, Both;
    shared_big = Shared, 1_048_576, Both;
    host_huge = Host, 16_777_216, Both;
}
