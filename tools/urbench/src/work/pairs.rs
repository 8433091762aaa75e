//! Launches and copies that differ from the raw call by less than one stream does from the next: each side has several streams,
//! made in pairs, and takes another one for each slice. So a row is about queues and streams, not about two of them.

use std::ffi::c_void;
use std::fmt::Write as _;
use std::ptr::{null, null_mut};

use ur_client::ffi::{CBool, ur_event_handle_t, ur_queue_handle_t, ur_queue_handle_t_};
use ur_client::{Held, call, value_argument};

use super::shapes::{NO_WAITS, Stream, launch};
use super::{Prepared, Sides, release, waits};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter, batches};
use crate::options::Options;
use crate::raw::{COPY, Handle, Raw};

/// Streams of each side.
const PAIRS: usize = 8;
/// Parameters of the kernel with many.
const ARGUMENTS: usize = 20;

pub const CASES: [Prepared; 7] = [
    Prepared { name: "work: launch", note: "", make: plain },
    Prepared { name: "work: raw launch against itself", note: "how sure a ratio is", make: raw_again },
    Prepared { name: "work: launch, event released", note: "", make: with_event },
    Prepared { name: "work: launch, chained", note: "on the one before", make: chained },
    Prepared { name: "work: launch, 20 arguments", note: "8 bytes each", make: twenty },
    Prepared { name: "work: copy 4 KiB host to device", note: "pinned", make: copy },
    Prepared { name: "work: copy 4 KiB, event released", note: "pinned", make: copy_with_event },
];

/// The streams of a side, one for each slice.
struct Turns<T> {
    list: Vec<T>,
    next: usize,
}

impl<T> Turns<T> {
    fn of(list: Vec<T>) -> Self {
        Self { list, next: 0 }
    }

    fn next(&mut self) -> &T {
        self.next += 1;
        &self.list[self.next % self.list.len()]
    }
}

/// Both sides' streams.
struct Pairs<'f> {
    queues: Turns<Held<'f, ur_queue_handle_t_>>,
    streams: Option<(&'f Raw, Turns<Stream<'f>>)>,
}

impl<'f> Pairs<'f> {
    fn new(fixture: &'f Fixture<'f>) -> Result<Self, Failure> {
        Self::beside(fixture, fixture.raw.as_ref())
    }

    /// Without streams where the raw side has no kernel.
    fn to_launch(fixture: &'f Fixture<'f>) -> Result<Self, Failure> {
        Self::beside(fixture, launching(fixture))
    }

    fn beside(fixture: &'f Fixture<'f>, raw: Option<&'f Raw>) -> Result<Self, Failure> {
        let (mut queues, mut streams) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            queues.push(fixture.new_queue()?);
            if let Some(raw) = raw {
                streams.push(Stream::new(raw)?);
            }
        }
        let streams = raw.map(|raw| (raw, Turns::of(streams)));
        Ok(Self { queues: Turns::of(queues), streams })
    }

    /// What is done on a queue in a slice, and on a stream again and again.
    fn sides(
        mut self,
        mut slice: impl FnMut(ur_queue_handle_t, u64, &mut Meter<'_>) -> Result<(), Failure> + 'f,
        once: impl FnMut(&Raw, Handle) -> Result<(), Failure> + 'f,
    ) -> Sides<'f> {
        let raw = self.streams.take().map(|(raw, streams)| raw_side(raw, streams, once));
        let ur: Body<'f> = Box::new(move |iterations, meter| slice(self.queues.next().handle(), iterations, meter));
        Sides { ur, raw }
    }
}

/// A slice of the UR's side that does the same again and again.
fn again<'f>(
    fixture: &'f Fixture<'f>,
    mut once: impl FnMut(ur_queue_handle_t) -> Result<(), Failure> + 'f,
) -> impl FnMut(ur_queue_handle_t, u64, &mut Meter<'_>) -> Result<(), Failure> + 'f {
    move |queue, iterations, meter| batches(iterations, meter, || once(queue), || Ok(fixture.ur.finish(queue)?))
}

/// The raw side, if it has a kernel.
fn launching<'f>(fixture: &'f Fixture<'f>) -> Option<&'f Raw> {
    fixture.raw.as_ref().filter(|raw| raw.can_launch())
}

fn raw_side<'f>(
    raw: &'f Raw,
    mut streams: Turns<Stream<'f>>,
    mut on_stream: impl FnMut(&Raw, Handle) -> Result<(), Failure> + 'f,
) -> Body<'f> {
    Box::new(move |iterations, meter| {
        let stream = streams.next().handle;
        batches(iterations, meter, || on_stream(raw, stream), || raw.synchronize(stream))
    })
}

fn plain<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let once = |queue| fixture.launch_on(queue);
    Ok(Pairs::to_launch(fixture)?.sides(again(fixture, once), Raw::launch_on))
}

/// The raw side in the UR's place: what remains between the two is the measurement's own error.
fn raw_again<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let none = || Failure::Unavailable("there is no raw side that launches".to_owned());
    let [first, second] = [Pairs::to_launch(fixture)?.streams, Pairs::to_launch(fixture)?.streams];
    let (raw, first) = first.ok_or_else(none)?;
    let second = second.map(|(raw, second)| raw_side(raw, second, Raw::launch_on));
    Ok(Sides { ur: raw_side(raw, first, Raw::launch_on), raw: second })
}

fn with_event<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let once = move |queue| {
        let mut event = null_mut();
        launch(fixture, queue, kernel, &[], NO_WAITS, &raw mut event)?;
        release(fixture, event)
    };
    Ok(Pairs::to_launch(fixture)?.sides(again(fixture, once), Raw::launch_on))
}

/// Each launch waits for the one before, by an event that is released as soon as the next launch has been given it.
fn chained<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let slice = move |queue, iterations, meter: &mut Meter<'_>| {
        let mut before: ur_event_handle_t = null_mut();
        let once = || {
            let mut event = null_mut();
            launch(fixture, queue, kernel, &[], waits(&before), &raw mut event)?;
            match std::mem::replace(&mut before, event) {
                first if first.is_null() => Ok(()),
                done => release(fixture, done),
            }
        };
        let chained = batches(iterations, meter, once, || Ok(fixture.ur.finish(queue)?));
        if before.is_null() { chained } else { chained.and(release(fixture, before)) }
    };
    Ok(Pairs::to_launch(fixture)?.sides(slice, Raw::launch_on))
}

/// A kernel that takes many words and does nothing with them.
fn image() -> String {
    let mut text = ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry twenty(\n".to_owned();
    for index in 0..ARGUMENTS {
        let end = if index + 1 == ARGUMENTS { "\n" } else { ",\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "    .param .u64 twenty_{index}{end}");
    }
    text + ")\n{\n    ret;\n}\n\0"
}

fn twenty<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let image = image();
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    let program = fixture.ur.program(context, device, image.trim_end_matches('\0').as_bytes())?;
    let kernel = fixture.ur.kernel(program.handle(), c"twenty")?;
    let words = || (0..ARGUMENTS as u64).collect::<Vec<_>>();
    let own = words();
    let arguments: Vec<_> = own.iter().enumerate().map(|(at, word)| value_argument(at as u32, word)).collect();
    let once = move |queue| {
        // What the arguments point to, and what the kernel is of.
        let _kept = (&own, &program);
        launch(fixture, queue, kernel.handle(), &arguments, NO_WAITS, null_mut())
    };
    let pairs = Pairs::to_launch(fixture)?;
    let slice = again(fixture, once);
    let Some(raw) = launching(fixture) else {
        return Ok(pairs.sides(slice, Raw::launch_on));
    };
    let (function, mut words) = (raw.function(image.as_bytes(), c"twenty")?, words());
    let mut list: Vec<_> = words.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()).collect();
    let raw_once = move |raw: &Raw, stream| {
        // What the addresses are of.
        let _kept = &words;
        raw.launch_with(&function, &mut list, stream)
    };
    Ok(pairs.sides(slice, raw_once))
}

#[inline]
fn put_copy(fixture: &Fixture<'_>, queue: ur_queue_handle_t, event: *mut ur_event_handle_t) -> Result<(), Failure> {
    // SAFETY: both buffers have `COPY` bytes and live as long as the fixture.
    unsafe {
        call!(
            fixture.ur,
            Enqueue.pfnUSMMemcpy(queue, CBool::FALSE, fixture.memory, fixture.host, COPY, 0, null(), event)
        )
    }?;
    Ok(())
}

fn copy<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let once = |queue| put_copy(fixture, queue, null_mut());
    Ok(Pairs::new(fixture)?.sides(again(fixture, once), Raw::copy_on))
}

fn copy_with_event<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let once = |queue| {
        let mut event = null_mut();
        put_copy(fixture, queue, &raw mut event)?;
        release(fixture, event)
    };
    Ok(Pairs::new(fixture)?.sides(again(fixture, once), Raw::copy_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_of_a_side_has_its_turn() {
        let mut turns = Turns::of(vec![0, 1, 2]);
        let mut seen: Vec<_> = (0..6).map(|_| *turns.next()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 0, 1, 1, 2, 2]);
    }
}
