//! Images that release themselves, and moving packed elements in and out of them by blocking transfers.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_ffi::{
    CBool, ur_context_handle_t, ur_event_handle_t, ur_image_channel_order_t, ur_image_channel_type_t, ur_image_desc_t,
    ur_image_format_t, ur_mem_flags_t, ur_mem_handle_t, ur_mem_type_t, ur_rect_offset_t, ur_rect_region_t, ur_result_t,
    ur_sampler_addressing_mode_t, ur_sampler_desc_t, ur_sampler_filter_mode_t,
};

use crate::{Fixture, Gate, Mem, Queue, Sampler, Sim, expect_success, ok, ur};

/// What an image is to be.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its format.
    pub format: ur_image_format_t,
    /// Its kind and extents.
    pub desc: ur_image_desc_t,
}

impl Shape {
    /// An image of as many dimensions as there are sizes.
    #[must_use]
    pub fn new(order: ur_image_channel_order_t, kind: ur_image_channel_type_t, size: &[usize]) -> Self {
        let at = |axis: usize| size.get(axis).copied().unwrap_or(0);
        let type_ = match size.len() {
            1 => ur_mem_type_t::IMAGE1D,
            2 => ur_mem_type_t::IMAGE2D,
            _ => ur_mem_type_t::IMAGE3D,
        };
        let desc = ur_image_desc_t { type_, width: at(0), height: at(1), depth: at(2), ..Default::default() };
        Self { format: ur_image_format_t { channelOrder: order, channelType: kind }, desc }
    }

    /// An array of so many of these images, which have one or two dimensions.
    #[must_use]
    pub fn layers(mut self, count: usize) -> Self {
        self.desc.arraySize = count;
        self.desc.type_ = match self.desc.type_ {
            ur_mem_type_t::IMAGE1D => ur_mem_type_t::IMAGE1D_ARRAY,
            ur_mem_type_t::IMAGE2D => ur_mem_type_t::IMAGE2D_ARRAY,
            other => panic!("no array of images of kind {other:?}"),
        };
        self
    }

    /// Four channels of 32 unsigned bits.
    #[must_use]
    pub fn words(size: &[usize]) -> Self {
        Self::new(ur_image_channel_order_t::RGBA, ur_image_channel_type_t::UNSIGNED_INT32, size)
    }

    /// One channel of 32 unsigned bits.
    #[must_use]
    pub fn word(size: &[usize]) -> Self {
        Self::new(ur_image_channel_order_t::R, ur_image_channel_type_t::UNSIGNED_INT32, size)
    }

    /// Elements along every axis of the ABI, 1 where there is none. Layers follow the axes of one image.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        let desc = &self.desc;
        match desc.type_ {
            ur_mem_type_t::IMAGE1D_ARRAY => [desc.width, desc.arraySize, 1],
            ur_mem_type_t::IMAGE2D_ARRAY => [desc.width, desc.height, desc.arraySize],
            _ => [desc.width, desc.height.max(1), desc.depth.max(1)],
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub fn element(&self) -> usize {
        let channels = match self.format.channelOrder {
            ur_image_channel_order_t::R => 1,
            ur_image_channel_order_t::RG => 2,
            _ => 4,
        };
        channels * channel_bytes(self.format.channelType)
    }

    /// Bytes of all elements, packed.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.size().iter().product::<usize>() * self.element()
    }

    /// Makes the image; gives the answer and what was handed out.
    #[must_use]
    pub fn create(
        &self,
        context: ur_context_handle_t,
        flags: ur_mem_flags_t,
        host: *mut c_void,
    ) -> (ur_result_t, ur_mem_handle_t) {
        let mut mem = null_mut();
        let (format, desc) = (&raw const self.format, &raw const self.desc);
        let answer = ur!(Mem.pfnImageCreate(context, flags, format, desc, host, &raw mut mem));
        (answer, mem)
    }
}

/// Bytes of one channel of the types that arrays hold.
#[must_use]
pub fn channel_bytes(kind: ur_image_channel_type_t) -> usize {
    use ur_image_channel_type_t as Type;
    match kind {
        Type::SNORM_INT8 | Type::UNORM_INT8 | Type::SIGNED_INT8 | Type::UNSIGNED_INT8 => 1,
        Type::SIGNED_INT32 | Type::UNSIGNED_INT32 | Type::FLOAT => 4,
        _ => 2,
    }
}

/// A box of elements.
#[derive(Clone, Copy, Debug)]
pub struct Box3 {
    /// Its first element.
    pub origin: [usize; 3],
    /// Elements along every axis.
    pub size: [usize; 3],
}

impl Box3 {
    /// The ABI's offset.
    #[must_use]
    pub fn offset(&self) -> ur_rect_offset_t {
        let [x, y, z] = self.origin.map(|at| at as u64);
        ur_rect_offset_t { x, y, z }
    }

    /// The ABI's region.
    #[must_use]
    pub fn region(&self) -> ur_rect_region_t {
        let [width, height, depth] = self.size.map(|size| size as u64);
        ur_rect_region_t { width, height, depth }
    }
}

/// The bytes of a box in packed contents, row by row.
#[must_use]
pub fn cut(shape: &Shape, contents: &[u8], part: &Box3) -> Vec<u8> {
    let ([width, height, _], element) = (shape.size(), shape.element());
    let mut out = Vec::new();
    for z in 0..part.size[2] {
        for y in 0..part.size[1] {
            let row = (part.origin[2] + z) * height + part.origin[1] + y;
            out.extend_from_slice(&contents[(row * width + part.origin[0]) * element..][..part.size[0] * element]);
        }
    }
    out
}

/// Puts a box's bytes into packed contents.
pub fn paste(shape: &Shape, contents: &mut [u8], part: &Box3, bytes: &[u8]) {
    let ([width, height, _], element) = (shape.size(), shape.element());
    let length = part.size[0] * element;
    for (line, row) in bytes.chunks(length).enumerate() {
        let (y, z) = (line % part.size[1], line / part.size[1]);
        let at = ((part.origin[2] + z) * height + part.origin[1] + y) * width + part.origin[0];
        contents[at * element..][..length].copy_from_slice(row);
    }
}

/// Boxes at the ends of an image and across its middle.
#[must_use]
pub fn boxes(size: [usize; 3]) -> Vec<Box3> {
    let half = size.map(|size| (size / 2).max(1));
    let last = size.map(|size| size - 1);
    vec![
        Box3 { origin: [0; 3], size },
        Box3 { origin: [0; 3], size: [1; 3] },
        Box3 { origin: last, size: [1; 3] },
        Box3 { origin: [0; 3], size: half },
        Box3 { origin: [size[0] - half[0], size[1] - half[1], size[2] - half[2]], size: half },
    ]
}

/// An image and what it was made from.
#[derive(Debug)]
pub struct Image {
    /// The reference.
    pub mem: Mem,
    /// What it was made from.
    pub shape: Shape,
}

impl Image {
    /// An image of the fixture's context without contents.
    #[track_caller]
    #[must_use]
    pub fn new(fixture: &Fixture, shape: Shape) -> Self {
        Self::in_context(fixture.context(), shape)
    }

    /// An image of any context without contents.
    #[track_caller]
    #[must_use]
    pub fn in_context(context: ur_context_handle_t, shape: Shape) -> Self {
        let (answer, mem) = shape.create(context, ur_mem_flags_t::READ_WRITE, null_mut());
        expect_success(answer, "urMemImageCreate");
        Self { mem: Mem::take(mem), shape }
    }

    /// An image of a context with contents.
    #[track_caller]
    #[must_use]
    pub fn with(context: ur_context_handle_t, shape: Shape, contents: &[u8]) -> Self {
        assert_eq!(contents.len(), shape.bytes(), "the contents of {shape:?}");
        let flags = ur_mem_flags_t::READ_WRITE | ur_mem_flags_t::ALLOC_COPY_HOST_POINTER;
        let (answer, mem) = shape.create(context, flags, contents.as_ptr().cast_mut().cast());
        expect_success(answer, "urMemImageCreate");
        Self { mem: Mem::take(mem), shape }
    }

    /// The handle.
    #[must_use]
    pub fn handle(&self) -> ur_mem_handle_t {
        self.mem.handle()
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> Box3 {
        Box3 { origin: [0; 3], size: self.shape.size() }
    }

    /// Reads a box with these pitches; blocking unless there is a place for an event.
    pub fn read_box(
        &self,
        queue: &Queue,
        part: &Box3,
        [row, slice]: [usize; 2],
        to: *mut c_void,
        waits: &[ur_event_handle_t],
        event: *mut ur_event_handle_t,
    ) -> ur_result_t {
        let (list, count) = list(waits);
        let blocking = if event.is_null() { CBool::TRUE } else { CBool::FALSE };
        let (q, mem, origin, region) = (queue.handle(), self.handle(), part.offset(), part.region());
        ur!(Enqueue.pfnMemImageRead(q, mem, blocking, origin, region, row, slice, to, count, list, event))
    }

    /// Writes a box, likewise.
    pub fn write_box(
        &self,
        queue: &Queue,
        part: &Box3,
        [row, slice]: [usize; 2],
        from: *const c_void,
        waits: &[ur_event_handle_t],
        event: *mut ur_event_handle_t,
    ) -> ur_result_t {
        let (list, count) = list(waits);
        let blocking = if event.is_null() { CBool::TRUE } else { CBool::FALSE };
        let (q, mem, origin, region) = (queue.handle(), self.handle(), part.offset(), part.region());
        let from = from.cast_mut();
        ur!(Enqueue.pfnMemImageWrite(q, mem, blocking, origin, region, row, slice, from, count, list, event))
    }

    /// Writes all elements.
    #[track_caller]
    pub fn write<T: Copy>(&self, queue: &Queue, elements: &[T]) {
        assert_eq!(size_of_val(elements), self.shape.bytes(), "the contents of {:?}", self.shape);
        let answer = self.write_box(queue, &self.whole(), [0, 0], elements.as_ptr().cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageWrite");
    }

    /// Reads all elements.
    #[track_caller]
    #[must_use]
    pub fn read<T: Copy + Default>(&self, queue: &Queue) -> Vec<T> {
        let mut elements = vec![T::default(); self.shape.bytes() / size_of::<T>()];
        let answer = self.read_box(queue, &self.whole(), [0, 0], elements.as_mut_ptr().cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageRead");
        elements
    }

    /// Releases it, on a thread, while launches with it stand at the gate, which opens when the release waits: whether a surface went
    /// before that.
    #[must_use]
    pub fn goes_before(self, sim: &Sim, gate: &mut Gate<'_>) -> bool {
        let destroyed = || sim.calls_so_far("cuSurfObjectDestroy");
        let waits = || sim.calls_so_far("cuStreamSynchronize") + sim.calls_so_far("cuEventSynchronize");
        let (destroyed_before, waits_before) = (destroyed(), waits());
        let memory = self.mem;
        std::thread::scope(|scope| {
            let releasing = scope.spawn(|| drop(memory));
            while !releasing.is_finished() && destroyed() == destroyed_before && waits() == waits_before {
                std::thread::yield_now();
            }
            let is_early = destroyed() != destroyed_before;
            gate.open();
            releasing.join().expect("a release");
            is_early
        })
    }
}

fn list(waits: &[ur_event_handle_t]) -> (*const ur_event_handle_t, u32) {
    let count = u32::try_from(waits.len()).unwrap_or(u32::MAX);
    (if waits.is_empty() { null() } else { waits.as_ptr() }, count)
}

/// A sampler of the fixture's context.
#[track_caller]
#[must_use]
pub fn sampler(
    fixture: &Fixture,
    normalized: bool,
    addressing: ur_sampler_addressing_mode_t,
    filter: ur_sampler_filter_mode_t,
) -> Sampler {
    let desc = ur_sampler_desc_t {
        normalizedCoords: if normalized { CBool::TRUE } else { CBool::FALSE },
        addressingMode: addressing,
        filterMode: filter,
        ..Default::default()
    };
    let mut sampler = null_mut();
    ok!(Sampler.pfnCreate(fixture.context(), &raw const desc, &raw mut sampler));
    Sampler::take(sampler)
}
