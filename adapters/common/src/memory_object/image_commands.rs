//! `urEnqueueMemImageRead`, `Write` and `Copy`: boxes of elements between images and host memory.
//!
//! One native copy each, in the order of the queue; more only where slices of host memory lie at a distance that is
//! no whole number of rows, where rows lie further apart than native copies take, and between the rows of one image and
//! the layers of another. Must never look at the host's memory itself.

use ur_ffi::{ur_command_t, ur_rect_offset_t, ur_rect_region_t, ur_result_t};

use crate::command::deferral::{Deferring, Owned, by_blocking_function};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased, submit_and_wait};
use crate::context::DeviceState;
use crate::device::relief::reclaiming;
use crate::driver::Driver;
use crate::image::command_box::{self, ApplicationMemory, CommandArray, CommandBox};
use crate::image::format::{Pitches, Region};
use crate::image::object::Image;
use crate::memory_object::{Mem, image_of};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Address;
use crate::queue::Queue;
use crate::stream::staging::Staging;
use crate::usm::from_application::submit_erased_from;
use crate::usm::rows::MAX_PITCH;
use std::sync::Arc;

/// [`transfer`] from the image to the host.
pub const READ: bool = false;
/// [`transfer`] from the host to the image.
pub const WRITE: bool = true;

/// A checked transfer between a box of an image and host memory.
#[derive(Clone, Copy)]
struct Transfer {
    region: Region,
    pitches: Pitches,
    host: ApplicationMemory,
    writes: bool,
}

impl Transfer {
    fn run<D: Driver>(&self, submission: &mut Submission<'_, D>, image: &Image<D>, queue: &Queue<D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        let replaced = self.writes.then_some(&self.region);
        let array = image.make_current(&queue.device, stream, replaced)?;
        let pixel = image.pixel.bytes();
        let _scope = queue.device.enter_for_transfer()?;
        let Pitches { row, slice } = self.pitches;
        let [_, height, depth] = self.region.size;
        if row > MAX_PITCH {
            submission.count_more(height * depth - 1);
            let mut rows = (0..depth).flat_map(|z| (0..height).map(move |y| [y, z]));
            return rows.try_for_each(|first| self.copy(driver, stream, (array, pixel), first, [1, 1], 1));
        }
        if depth == 1 || slice.is_multiple_of(row) {
            let step = if depth == 1 { height } else { slice / row };
            self.copy(driver, stream, (array, pixel), [0, 0], [height, depth], step)
        } else {
            submission.count_more(depth - 1);
            (0..depth).try_for_each(|z| self.copy(driver, stream, (array, pixel), [0, z], [height, 1], height))
        }
    }

    /// Copies so many rows of so many slices from a row and a slice of the box on; slices lie `step` rows apart.
    fn copy<D: Driver>(
        &self,
        driver: &D,
        stream: &D::Stream,
        (array, pixel): (CommandArray, usize),
        [y, z]: [usize; 2],
        [rows, slices]: [usize; 2],
        step: usize,
    ) -> Result<()> {
        let ([left, top, front], columns) = (self.region.origin, self.region.size[0]);
        let width = columns * pixel;
        let row = if rows == 1 && slices == 1 { width } else { self.pitches.row };
        let host = CommandBox::of_application(
            self.host,
            z * self.pitches.slice + y * self.pitches.row,
            Pitches { row, slice: step * row },
            [width, rows, slices],
        );
        let array = array.part(&Region { origin: [left, top + y, front + z], size: [columns, rows, slices] });
        let (to, from) = if self.writes { (array, host) } else { (host, array) };
        command_box::copy(driver, stream, to, from)
    }
}

/// `urEnqueueMemImageRead` and `urEnqueueMemImageWrite`: [`READ`] or [`WRITE`].
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; `INVALID_SIZE` for a region that is empty or leaves the image and for pitches
/// that are too small; what the native library answers.
pub fn transfer<D: Driver, const WRITES: bool>(
    enqueue: Enqueue<'_, D>,
    image: &Object<Mem<D>>,
    blocking: bool,
    origin: ur_rect_offset_t,
    region: ur_rect_region_t,
    row_pitch: usize,
    slice_pitch: usize,
    host: Address,
) -> Result<()> {
    let (name, command) = if WRITES {
        ("urEnqueueMemImageWrite", ur_command_t::MEM_IMAGE_WRITE)
    } else {
        ("urEnqueueMemImageRead", ur_command_t::MEM_IMAGE_READ)
    };
    let request = enqueue.request(command);
    let (memory, image) = (image, image_of(&request, image)?);
    let region = Region::new(name, &image.extents, &origin, &region)?;
    let pitches = [row_pitch, slice_pitch];
    let pitches = Pitches::new(name, ur_result_t::ERROR_INVALID_SIZE, &region.size, image.pixel.bytes(), pitches)?;
    // No overflow: the pitches were checked for the region.
    let span = pitches.slice * region.size[2];
    let transfer = Transfer { region, pitches, host: host.into(), writes: WRITES };
    let _coming = image.prepare_for(request.queue)?;
    let command = ImageTransfer { transfer, memory, image, queue: request.queue };
    if WRITES {
        let from = host.addr()..host.addr().saturating_add(span);
        return submit_erased_from(&request, blocking, from, command);
    }
    if blocking { submit_and_wait(&request, command) } else { erased::submit(&request, command) }
}

/// A copy between an image and the application's memory.
struct ImageTransfer<'a, D: Driver> {
    transfer: Transfer,
    memory: &'a Object<Mem<D>>,
    image: &'a Image<D>,
    queue: &'a Queue<D>,
}

/// Keeps a command on images that `place` submits. It could block: contents move between devices under the image's lock, and
/// pageable memory is copied while the caller waits.
fn deferred<D: Driver>(
    place: impl FnOnce(&Request<'_, D>) -> Result<()> + Send + 'static,
) -> Result<(Box<dyn Owned<D>>, ())> {
    Ok((by_blocking_function(place), ()))
}

impl<D: Driver> Command<D> for ImageTransfer<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.transfer.run(submission, self.image, self.queue)?;
        if self.transfer.writes {
            self.image.note_write(&self.queue.device);
        }
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let (transfer, memory) = (self.transfer, self.memory.to_arc());
        deferred(move |request| {
            let image = memory.image()?;
            // By now it may have forgotten a queue that had nothing to do.
            let _coming = image.prepare_for(request.queue)?;
            erased::submit(request, ImageTransfer { transfer, memory: &memory, image, queue: request.queue })
        })
    }
}

/// Boxes of one shape that make up a box of each of two images. Native copies take one shape for both sides; where one
/// image has rows and the other layers of lines, each line is a box of its own.
fn pieces(to: Region, from: Region) -> impl ExactSizeIterator<Item = (Region, Region)> {
    let count = if to.size == from.size { 1 } else { to.size[1].max(to.size[2]) };
    let line = move |region: Region, index: usize| {
        if count == 1 {
            return region;
        }
        let Region { origin: [x, y, z], size: [width, rows, _] } = region;
        let origin = if rows == 1 { [x, y, z + index] } else { [x, y + index, z] };
        Region { origin, size: [width, 1, 1] }
    };
    (0..count).map(move |index| (line(to, index), line(from, index)))
}

/// `urEnqueueMemImageCopy`, between images of one format and within one image.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; `INVALID_SIZE` for a region that is empty or leaves an image;
/// `INVALID_IMAGE_FORMAT_DESCRIPTOR` for two formats; `OVERLAPPING_REGIONS`; what the native library answers.
pub fn copy<D: Driver>(
    enqueue: Enqueue<'_, D>,
    from: &Object<Mem<D>>,
    to: &Object<Mem<D>>,
    from_origin: ur_rect_offset_t,
    to_origin: ur_rect_offset_t,
    region: ur_rect_region_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemImageCopy";
    let request = enqueue.request(ur_command_t::MEM_IMAGE_COPY);
    let memories = (from, to);
    let (from, to) = (image_of(&request, from)?, image_of(&request, to)?);
    if (from.format.channelOrder, from.format.channelType) != (to.format.channelOrder, to.format.channelType) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            format!("{NAME}: the images have two formats, {:?} and {:?}", from.format, to.format),
        ));
    }
    let read = Region::new(NAME, &from.extents, &from_origin, &region)?;
    let written = Region::new(NAME, &to.extents, &to_origin, &region)?;
    if core::ptr::eq(from, to) && read.overlaps(&written) {
        return Err(Error::new(
            ur_result_t::ERROR_OVERLAPPING_REGIONS,
            format!("{NAME}: source and destination overlap in one image"),
        ));
    }
    submit_copy(&request, memories, read, written)
}

/// Submits a checked copy.
fn submit_copy<D: Driver>(
    request: &Request<'_, D>,
    memories: (&Object<Mem<D>>, &Object<Mem<D>>),
    read: Region,
    written: Region,
) -> Result<()> {
    let (from, to) = (memories.0.image()?, memories.1.image()?);
    let queue: &Queue<D> = request.queue;
    let _coming = (from.prepare_for(request.queue)?, to.prepare_for(request.queue)?);
    let copy = CheckedCopy { memories, read, written };
    // CUDA 13.0 reads such a source from the layers of the destination, and answers success.
    if core::ptr::eq(from, to) && from.extents.layered && read.origin[2] != written.origin[2] {
        let stream = queue.is_in_order().then(|| queue.first());
        let size = read.size.iter().product::<usize>() * from.pixel.bytes();
        let staging = reclaiming(&queue.device.device, || from.staging().take(&queue.device.native, stream, size))?;
        return erased::submit(request, LayerCopy { device: &queue.device, image: from, copy, staging });
    }
    erased::submit(request, ImageCopy { device: &queue.device, from, to, copy })
}

/// What is copied where, with the memory objects that the images are.
struct CheckedCopy<'a, D: Driver> {
    memories: (&'a Object<Mem<D>>, &'a Object<Mem<D>>),
    read: Region,
    written: Region,
}

impl<D: Driver> CheckedCopy<'_, D> {
    fn into_owned(self) -> Result<(Box<dyn Owned<D>>, ())> {
        let Self { memories: (from, to), read, written } = self;
        let (from, to) = (from.to_arc(), to.to_arc());
        deferred(move |request| submit_copy(request, (&from, &to), read, written))
    }
}

/// A copy between layers of one image, by way of pinned memory.
struct LayerCopy<'a, D: Driver> {
    device: &'a Arc<DeviceState<D>>,
    image: &'a Image<D>,
    copy: CheckedCopy<'a, D>,
    staging: Staging<D>,
}

impl<D: Driver> Command<D> for LayerCopy<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let Self { device, image, copy: CheckedCopy { read, written, .. }, mut staging } = self;
        let (driver, stream) = (submission.driver(), submission.native());
        let array = image.make_current(device, stream, None)?;
        let (from, to) = (array.part(&read), array.part(&written));
        submission.count_more(1);
        staging.used_by(submission.stream(), submission.position());
        let copied = {
            let _scope = device.enter_for_transfer()?;
            let between = from.staged(&staging);
            command_box::copy(driver, stream, between, from)
                .and_then(|()| command_box::copy(driver, stream, to, between))
        };
        // Of two copies one may be on the stream when the other fails.
        image.staging().put(staging);
        copied?;
        image.note_write(device);
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        // Its turn takes other memory.
        self.image.staging().put(self.staging);
        self.copy.into_owned()
    }
}

/// A copy from one image to another, or within one.
struct ImageCopy<'a, D: Driver> {
    device: &'a Arc<DeviceState<D>>,
    from: &'a Image<D>,
    to: &'a Image<D>,
    copy: CheckedCopy<'a, D>,
}

impl<D: Driver> Command<D> for ImageCopy<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let Self { device, from, to, copy: CheckedCopy { read, written, .. } } = self;
        let (driver, stream) = (submission.driver(), submission.native());
        let replaced = (!core::ptr::eq(from, to)).then_some(&written);
        let from_array = from.make_current(device, stream, None)?;
        let to_array = to.make_current(device, stream, replaced)?;
        let _scope = device.enter_for_transfer()?;
        let pieces = pieces(written, read);
        submission.count_more(pieces.len() - 1);
        for (written, read) in pieces {
            command_box::copy(driver, stream, to_array.part(&written), from_array.part(&read))?;
        }
        to.note_write(device);
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        self.copy.into_owned()
    }
}
