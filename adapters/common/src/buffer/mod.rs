//! Buffers: a range of a storage, where the storage's bytes are, and how they move between devices.
//!
//! A device's memory is made when a command there first uses the buffer: most contexts have more devices than ever see one
//! buffer, and many buffers are made that no device ever sees. Nothing here knows handles or entry points: those are in
//! [`crate::memory_object`].

pub mod block;
pub mod command;
pub mod command_bytes;
pub mod maps;
pub mod moving;
pub mod pending_uses;
pub mod range_lock;
pub mod rect;
pub mod residency;
pub mod scratch;
pub mod storage;

use std::sync::{Arc, OnceLock};

use ur_ffi::ur_result_t;

use crate::buffer::maps::Maps;
use crate::buffer::moving::Access;
use crate::buffer::storage::Storage;
use crate::driver::Driver;
use crate::object::error::{Error, Result};

/// A range of a storage.
pub struct Buffer<D: Driver> {
    /// The memory, which sub-buffers share with their buffer.
    pub storage: Arc<Storage<D>>,
    /// Where the range starts.
    pub origin: usize,
    /// How long it is.
    pub size: usize,
    /// Whether it was made of another buffer.
    pub is_part: bool,
    /// What the application has mapped; made at the first map, since most buffers are never mapped.
    maps: OnceLock<Arc<Maps<D>>>,
}

impl<D: Driver> Buffer<D> {
    /// All of a storage.
    #[must_use]
    pub fn whole(storage: Storage<D>) -> Self {
        let size = storage.size;
        Self::part(Arc::new(storage), 0, size, false)
    }

    /// A range of a storage that another buffer may have too.
    #[must_use]
    pub fn part(storage: Arc<Storage<D>>, origin: usize, size: usize, is_part: bool) -> Self {
        Self { storage, origin, size, is_part, maps: OnceLock::new() }
    }

    /// What the application has mapped.
    pub fn maps(&self) -> &Arc<Maps<D>> {
        self.maps.get_or_init(Arc::default)
    }

    /// An access to some of its bytes, by the storage's count.
    ///
    /// # Errors
    /// `INVALID_SIZE` for no bytes, or bytes that are not all the buffer's.
    pub fn access(&self, name: &str, offset: usize, size: usize, reads: bool, writes: bool) -> Result<Access> {
        let end = offset.checked_add(size).filter(|end| *end <= self.size && size > 0).ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("{name}: {size} bytes at {offset} of a buffer of {} bytes", self.size),
            )
        })?;
        Ok(Access { range: self.origin + offset..self.origin + end, reads, writes })
    }
}
