//! The contents that an image is given when it is created, until a device has them.
//!
//! They lie in pinned memory: the first command that uses the image copies them to its device with the image locked, and a copy of
//! much pageable memory waits in the native library until the command's stream gets there (`docs/native-facts.md`). Whoever
//! drops them has seen the end of that copy.

use std::sync::Arc;

use crate::device::native_context::NativeContext;
use crate::device::native_context::staging::Piece;
use crate::driver::Driver;
use crate::image::format::Pitches;
use crate::object::error::Result;
use crate::object::params::Address;

/// Packed elements.
pub struct Contents<D: Driver> {
    piece: Piece<D>,
    size: usize,
}

impl<D: Driver> Contents<D> {
    /// A copy of the application's rows: bytes of a row, rows of a slice and slices, whose product was seen to be a size.
    ///
    /// # Errors
    /// `OUT_OF_HOST_MEMORY`; what the native library answers.
    pub fn packed(
        native: &Arc<NativeContext<D>>,
        host: Address,
        pitches: Pitches,
        [row, rows, slices]: [usize; 3],
    ) -> Result<Self> {
        let size = row * rows * slices;
        let piece = Piece::new(native, size)?;
        let mut to = core::ptr::with_exposed_provenance_mut::<u8>(piece.address());
        for (z, y) in (0..slices).flat_map(|z| (0..rows).map(move |y| (z, y))) {
            let from = host.as_ptr().wrapping_byte_add(z * pitches.slice + y * pitches.row).cast::<u8>();
            // SAFETY: an `Address` is as the manual says, readable for every row that the description tells of; the piece is fresh, the
            // host reaches it, and it has room for all rows, one behind the other.
            unsafe { core::ptr::copy_nonoverlapping(from, to, row) };
            to = to.wrapping_byte_add(row);
        }
        Ok(Self { piece, size })
    }

    /// The first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.piece.address()
    }

    /// How many bytes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }
}
