//! What commands use: objects, and rows of bytes within them.

use core::ffi::c_void;

use ur_conformance::ffi::{ur_mem_handle_t, ur_rect_offset_t, ur_rect_region_t};
use ur_conformance::{Buffer, Memory};

/// Bytes of an object.
pub const BYTES: usize = 1024;

/// What an object is.
pub enum Storage<'f> {
    /// A buffer and parts of it with their origins; the first is the whole. Over `USE_HOST_POINTER` the memory behind it.
    Buffer { views: Vec<(usize, Buffer)>, below: Option<Box<[u8]>> },
    /// USM memory; its kind is known to whoever chooses it.
    Usm(Memory<'f>),
    /// The process's own.
    Heap(Box<[u8]>),
}

/// Bytes that commands use.
pub struct Object<'f> {
    pub storage: Storage<'f>,
    /// Whose queues may use it; `None`: all of them.
    pub device: Option<usize>,
    pub content: Vec<u8>,
    pub is_released: bool,
}

impl Object<'_> {
    pub fn is_buffer(&self) -> bool {
        matches!(self.storage, Storage::Buffer { .. })
    }

    /// Whether host code may touch it.
    pub fn is_of_host(&self) -> bool {
        !self.is_buffer() && self.device.is_none()
    }

    pub fn handle(&self, view: usize) -> ur_mem_handle_t {
        let Storage::Buffer { views, .. } = &self.storage else { panic!("no buffer") };
        views[view].1.handle()
    }

    pub fn pointer(&mut self, at: usize) -> *mut c_void {
        match &mut self.storage {
            Storage::Buffer { .. } => panic!("no memory"),
            Storage::Usm(memory) => memory.at(at),
            Storage::Heap(bytes) => bytes.as_mut_ptr().wrapping_add(at).cast(),
        }
    }
}

/// Rows of bytes within a view of an object.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub object: usize,
    pub view: usize,
    /// Where the view begins in the object.
    pub base: usize,
    pub origin: [usize; 3],
    /// Bytes of a row, rows, slices.
    pub region: [usize; 3],
    pub row: usize,
    pub slice: usize,
}

impl Area {
    pub fn line(object: usize, view: usize, base: usize, at: usize, bytes: usize) -> Self {
        Self { object, view, base, origin: [at, 0, 0], region: [bytes, 1, 1], row: bytes, slice: bytes }
    }

    pub fn is_line(&self) -> bool {
        self.region[1] == 1 && self.region[2] == 1
    }

    pub fn bytes(&self) -> usize {
        self.region.iter().product()
    }

    /// The first byte, counted from the view's start.
    pub fn at(&self) -> usize {
        self.origin[0] + self.origin[1] * self.row + self.origin[2] * self.slice
    }

    /// Where each row begins in the object.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let start = self.base + self.at();
        let [_, height, depth] = self.region;
        (0..depth).flat_map(move |z| (0..height).map(move |y| start + z * self.slice + y * self.row))
    }

    pub fn end(&self) -> usize {
        self.base + self.at() + (self.region[2] - 1) * self.slice + (self.region[1] - 1) * self.row + self.region[0]
    }

    pub fn meets(&self, other: &Self) -> bool {
        self.object == other.object
            && self.base + self.at() < other.end()
            && other.base + other.at() < self.end()
            && self.rows().any(|one| other.rows().any(|two| one < two + other.region[0] && two < one + self.region[0]))
    }

    /// Whether their first and last bytes leave no room between.
    pub fn spans_meet(&self, other: &Self) -> bool {
        self.object == other.object && self.base + self.at() < other.end() && other.base + other.at() < self.end()
    }

    pub fn offset(&self) -> ur_rect_offset_t {
        let [x, y, z] = self.origin.map(|number| number as u64);
        ur_rect_offset_t { x, y, z }
    }

    pub fn size(&self) -> ur_rect_region_t {
        let [width, height, depth] = self.region.map(|number| number as u64);
        ur_rect_region_t { width, height, depth }
    }

    pub fn gather(&self, objects: &[Object<'_>]) -> Vec<u8> {
        let content = &objects[self.object].content;
        self.rows().flat_map(|row| content[row..row + self.region[0]].to_vec()).collect()
    }

    pub fn scatter(&self, objects: &mut [Object<'_>], bytes: &[u8]) {
        for (row, bytes) in self.rows().zip(bytes.chunks(self.region[0])) {
            objects[self.object].content[row..row + self.region[0]].copy_from_slice(bytes);
        }
    }
}
