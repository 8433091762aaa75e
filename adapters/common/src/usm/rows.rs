//! USM in rows: copies and fills of rectangles, and allocations whose rows the native library aligns.
//!
//! A rectangle without gaps is one copy or fill of its bytes. A pattern continues from one row into the next, as if the
//! rectangle were packed. Must never keep the caller's pattern: the native calls have it when the entry point returns.

use core::ffi::c_void;
use ur_ffi::{ur_command_t, ur_result_t, ur_usm_desc_t};

use crate::command::deferral::{Deferring, Owned, by_function_that_may_block};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased};
use crate::context::Context;
use crate::context::DeviceState;
use crate::device::Device;
use crate::device::native_context::owned;
use crate::device::native_context::{memory, registrations};
use crate::device::relief::{is_full, reclaiming};
use crate::driver::transfers::{Copy2D, Plane};
use crate::driver::{Driver, MemoryKind, PointerInfo, Rows};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::pool::UsmPool;
use crate::pool::extent::{Extent, plain_around};
use crate::queue::Queue;
use crate::stream::ROOM;
use crate::stream::capture::Capture;
use crate::usm::copy::may_wait;
use crate::usm::fill::{Plan, lay_down, plan};
use crate::usm::from_application::submit_erased_from;
use crate::usm::graph_writes;
use crate::usm::{Plain, check_alignment};

/// The widest pitch of native copies and fills of rows, in bytes. Wider rectangles go row by row.
pub const MAX_PITCH: usize = i32::MAX as usize;

/// What rows in a block of a pool begin at multiples of, bytes: what a native library's own rows do, and what blocks do. It suits
/// elements of every size.
const POOL_PITCH: usize = 512;

/// Up to so many rows, filling each costs no more than copying.
const FEW_ROWS: usize = 8;

/// Checks that `height` rows of `width` bytes, `pitch` apart, are rows and fit the address space.
fn check_rows(name: &str, address: usize, pitch: usize, width: usize, height: usize) -> Result<()> {
    if width == 0 || height == 0 || pitch < width {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: {height} rows of {width} bytes at a pitch of {pitch}; a pitch is at least the width"),
        ));
    }
    let end = (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width)?.checked_add(address));
    end.map(|_| ()).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: {height} rows at a pitch of {pitch} go past the end of the address space"),
        )
    })
}

/// Checks rows as [`check_rows`] does, and that the allocation contains them where the native library knows it. Refuses a
/// pitch above the allocation's size, since the ABI counts the last row to its pitch. Accepts a last row that ends before its
/// pitch does: applications use the pitch of the whole for a part of its columns, or for memory that ends with the last row.
fn check_rectangle<D: Driver>(
    name: &str,
    queue: &Queue<D>,
    address: usize,
    pitch: usize,
    width: usize,
    height: usize,
) -> Result<()> {
    check_rows(name, address, pitch, width, height)?;
    // Rows in memory of which the library knows nothing, or says nothing now, are the copy's or fill's own to refuse.
    let info = match plain_around(&queue.context, address) {
        Some(Ok((heap, live))) => {
            let (kind, device) = (live.label.kind(), heap.device.raw);
            PointerInfo { kind, base: live.start, size: live.size, device, pool: None }
        }
        // The native library takes the whole slab for one allocation.
        _ if owned::contains(address) => match Extent::around(&queue.context, address)? {
            Some(Extent { kind, base, size, device, .. }) => PointerInfo { kind, base, size, device, pool: None },
            None => return Ok(()),
        },
        _ => match registrations::pointer_info(queue.device.driver, address) {
            Ok(Some(info)) => info,
            _ => return Ok(()),
        },
    };
    // The start of a block in a pool of host memory is told wrongly (docs/native-facts.md); its size is right.
    let knows_start = info.pool.is_none() || info.kind != MemoryKind::Host;
    let inner = address.checked_sub(info.base).filter(|inner| knows_start && *inner < info.size).unwrap_or(0);
    // No overflow: `check_rows` has seen that the rows fit the address space.
    let span = (height - 1) * pitch + width;
    if span <= info.size - inner && pitch <= info.size {
        return Ok(());
    }
    beyond(name, queue, address, (span, pitch), info.size - inner)
}

/// The error of rows that do not fit. The context's list of mappings knows more than some native libraries tell.
#[cold]
fn beyond<D: Driver>(
    name: &str,
    queue: &Queue<D>,
    address: usize,
    (span, pitch): (usize, usize),
    room: usize,
) -> Result<()> {
    if queue.context.reservations.lock().mapping_at(address).is_some() {
        return Ok(());
    }
    Err(Error::new(
        ur_result_t::ERROR_INVALID_SIZE,
        format!(
            "{name}: rows of {span} bytes at a pitch of {pitch} in memory that has {room} bytes from {address:#x} on"
        ),
    ))
}

/// `urEnqueueUSMMemcpy2D`.
///
/// # Errors
/// `INVALID_SIZE` for no bytes, a pitch below the width, rows past the end of their memory or the address space; what the
/// native library answers.
pub fn memcpy<D: Driver>(
    enqueue: Enqueue<'_, D>,
    blocking: bool,
    to: Address,
    to_pitch: usize,
    from: Address,
    from_pitch: usize,
    width: usize,
    height: usize,
) -> Result<()> {
    const NAME: &str = "urEnqueueUSMMemcpy2D";
    let request = enqueue.request(ur_command_t::USM_MEMCPY_2D);
    check_rectangle(NAME, request.queue, to.addr(), to_pitch, width, height)?;
    check_rectangle(NAME, request.queue, from.addr(), from_pitch, width, height)?;
    let to = Plane { address: to.addr(), pitch: to_pitch };
    let from = Plane { address: from.addr(), pitch: from_pitch };
    let copy = CopyRows { device: &request.queue.device, rows: ValidRows(Copy2D { to, from, width, height }) };
    // No overflow: the check has seen that the rows fit the address space.
    let last = from.address + (height - 1) * from_pitch + width;
    submit_erased_from(&request, blocking, from.address..last, copy)
}

/// A copy of rows.
struct CopyRows<'a, D: Driver> {
    device: &'a DeviceState<D>,
    rows: ValidRows,
}

impl<D: Driver> Command<D> for CopyRows<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        submission.count_more(self.rows.calls() - 1);
        self.device.transfer(|| self.rows.copy(driver, stream))
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        let Copy2D { to, width, height, .. } = self.rows.0;
        graph_writes::note(self.device.driver, to.address..to.address + (height - 1) * to.pitch + width);
        Ok(())
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let rows = self.rows;
        let may_wait = may_wait(&deferring.request.queue.context, rows.0.to.address, rows.0.from.address);
        let may_block = may_wait || rows.calls() as u64 > ROOM;
        let place =
            move |request: &Request<'_, D>| erased::submit(request, CopyRows { device: &request.queue.device, rows });
        Ok((by_function_that_may_block(may_block, place), ()))
    }
}

/// Rows that the application owes to a command: each is valid until the copy that is put on the stream has finished.
struct ValidRows(Copy2D);

impl ValidRows {
    fn is_one_piece(&self) -> bool {
        let Copy2D { to, from, width, height } = self.0;
        height == 1 || (to.pitch == width && from.pitch == width)
    }

    fn is_native(&self) -> bool {
        self.0.to.pitch <= MAX_PITCH && self.0.from.pitch <= MAX_PITCH
    }

    /// How many native calls a copy takes.
    fn calls(&self) -> usize {
        if self.is_one_piece() || self.is_native() { 1 } else { self.0.height }
    }

    fn copy<D: Driver>(&self, driver: &D, stream: &D::Stream) -> Result<()> {
        let Copy2D { to, from, width, height } = self.0;
        if self.is_one_piece() {
            // SAFETY: the type's invariant; the rows follow each other without a gap, or there is one.
            return unsafe { driver.copy_async(to.address, from.address, width * height, stream) };
        }
        if self.is_native() {
            // SAFETY: the type's invariant.
            return unsafe { driver.copy_2d_async(&self.0, stream) };
        }
        (0..height).try_for_each(|row| {
            let (to, from) = (to.address + row * to.pitch, from.address + row * from.pitch);
            // SAFETY: the type's invariant, for one row.
            unsafe { driver.copy_async(to, from, width, stream) }
        })
    }
}

/// A rectangle and the pattern that runs through its rows.
struct Fill<'a> {
    to: usize,
    pitch: usize,
    width: usize,
    height: usize,
    pattern: &'a [u8],
}

/// `urEnqueueUSMFill2D`.
///
/// # Errors
/// `INVALID_SIZE` for no bytes, a pitch below the width, rows past the end of their memory or the address space, a pattern
/// whose size is no power of two or does not go into the rectangle a whole number of times; what the native library
/// answers.
pub fn fill<D: Driver>(
    enqueue: Enqueue<'_, D>,
    to: Address,
    pitch: usize,
    pattern: &[u8],
    width: usize,
    height: usize,
) -> Result<()> {
    const NAME: &str = "urEnqueueUSMFill2D";
    let request = enqueue.request(ur_command_t::USM_FILL_2D);
    check_rectangle(NAME, request.queue, to.addr(), pitch, width, height)?;
    // No overflow: the rows fit at a pitch that is at least the width.
    let pattern_size = pattern.len();
    if !pattern_size.is_power_of_two() || !(width * height).is_multiple_of(pattern_size) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!(
                "{NAME}: a pattern of {pattern_size} bytes is no power of two or not a whole part of {height} rows of \
                 {width} bytes"
            ),
        ));
    }
    let fill = Fill { to: to.addr(), pitch, width, height, pattern };
    erased::submit(&request, FillRows { device: &request.queue.device, fill })
}

/// A pattern that is repeated over rows, which are writable until it has finished.
struct FillRows<'a, D: Driver> {
    device: &'a DeviceState<D>,
    fill: Fill<'a>,
}

impl<D: Driver> Command<D> for FillRows<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let _scope = self.device.enter_for_transfer()?;
        self.fill.run(submission)
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let may_block = self.fill.may_block(D::STRIDED_WIDTHS);
        let Fill { to, pitch, width, height, pattern } = self.fill;
        let pattern = pattern.to_vec();
        let place = move |request: &Request<'_, D>| {
            let fill = Fill { to, pitch, width, height, pattern: &pattern };
            erased::submit(request, FillRows { device: &request.queue.device, fill })
        };
        Ok((by_function_that_may_block(may_block, place), ()))
    }
}

impl Fill<'_> {
    fn is_one_piece(&self) -> bool {
        self.pitch == self.width || self.height == 1
    }

    /// Whether a stream that has nothing to do may not have room for all of it.
    fn may_block(&self, widths: &[usize]) -> bool {
        if self.is_one_piece() {
            plan(self.to, self.pattern, widths).may_block()
        } else {
            self.one_call(widths).is_none()
        }
    }

    fn run<D: Driver>(&self, submission: &mut Submission<'_, D>) -> Result<()> {
        let Self { to, pitch, width, height, pattern } = *self;
        if self.is_one_piece() {
            return lay(submission, to, pattern, width * height);
        }
        if let Some((unit, value)) = self.one_call(D::STRIDED_WIDTHS) {
            let rows = Rows { first: to, length: width / unit, pitch, count: height };
            let (driver, stream) = (submission.driver(), submission.native());
            // SAFETY: `fill` was promised writable rows; the unit divides address, pitch and width.
            return unsafe { driver.fill_strided_async(rows, unit, value, stream) };
        }
        self.row_by_row(submission)
    }

    /// The unit and its value, if all rows are one native fill.
    fn one_call(&self, widths: &[usize]) -> Option<(usize, u32)> {
        let whole = self.to | self.pitch | self.width;
        match plan(whole, self.pattern, widths) {
            Plan::Whole { width, value } if widths.contains(&width) && self.pitch <= MAX_PITCH => Some((width, value)),
            _ => None,
        }
    }

    /// Fills rows up to where the pattern begins anew and copies them over the rest. In host memory it fills every row, because
    /// copies between host memory run on the calling thread.
    fn row_by_row<D: Driver>(&self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        // Both are positive, and the pattern's size is a power of two.
        let period = self.pattern.len() / self.pattern.len().min(1 << self.width.trailing_zeros());
        let on_host = || {
            registrations::pointer_info(driver, self.to)
                .map(|known| known.is_none_or(|info| info.kind == MemoryKind::Host))
        };
        let copies = self.height > period.max(FEW_ROWS) && !on_host()?;
        let filled = if copies { period } else { self.height };
        (0..filled).try_for_each(|row| self.fill_row(submission, row))?;
        let mut done = filled;
        while done < self.height {
            let height = done.min(self.height - done);
            let from = Plane { address: self.to, pitch: self.pitch };
            let to = Plane { address: self.to + done * self.pitch, pitch: self.pitch };
            // The same stream has filled the rows that the copy reads.
            let rows = ValidRows(Copy2D { to, from, width: self.width, height });
            submission.count_more(rows.calls());
            rows.copy(driver, stream)?;
            done += height;
        }
        Ok(())
    }

    /// One row, in which the pattern begins where the row before left it.
    fn fill_row<D: Driver>(&self, submission: &mut Submission<'_, D>, row: usize) -> Result<()> {
        let size = self.pattern.len();
        let begin = (row * self.width) % size;
        let mut turned = self.pattern.to_vec();
        turned.rotate_left(begin);
        let address = self.to + row * self.pitch;
        let whole = self.width / size * size;
        if whole > 0 {
            lay(submission, address, &turned, whole)?;
        }
        match self.width - whole {
            0 => Ok(()),
            rest => lay(submission, address + whole, &turned[..rest], rest),
        }
    }
}

/// Writes a pattern over bytes side by side.
fn lay<D: Driver>(submission: &mut Submission<'_, D>, address: usize, pattern: &[u8], size: usize) -> Result<()> {
    let plan = plan(address, pattern, D::STRIDED_WIDTHS);
    submission.count_more(plan.calls());
    lay_down(submission.driver(), submission.native(), &plan, address, pattern.len(), size)
}

/// `urUSMPitchedAllocExp`: device memory for `urUSMFree`. The native library chooses pitch and start; from a pool it is one block,
/// whose rows begin at multiples of [`POOL_PITCH`].
///
/// # Errors
/// `INVALID_USM_SIZE` for no bytes or more than the device has; `INVALID_VALUE` or
/// `UNSUPPORTED_ALIGNMENT` for the alignment; `INVALID_CONTEXT`, `INVALID_DEVICE` or `INVALID_VALUE` for a pool of others or of
/// another kind of memory; `OUT_OF_DEVICE_MEMORY`.
pub fn pitched_alloc<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    desc: Option<&ur_usm_desc_t>,
    pool: Option<&Object<UsmPool<D>>>,
    width: usize,
    height: usize,
    element: usize,
    out: Out<'_, *mut c_void>,
    pitch: Out<'_, usize>,
) -> Result<()> {
    const NAME: &str = "urUSMPitchedAllocExp";
    let fits = |size: &usize| *size != 0 && *size as u64 <= device.properties.global_memory;
    let misfit = || {
        Error::new(
            ur_result_t::ERROR_INVALID_USM_SIZE,
            format!("{NAME}: {height} rows of {width} bytes are no bytes, or more than the device has"),
        )
    };
    let state = context.state(device)?;
    if let Some(pool) = pool {
        let rows = pool_pitch(width, device.properties.image_pitch_align);
        let bytes = rows.and_then(|rows| rows.checked_mul(height)).filter(fits).ok_or_else(misfit)?;
        Plain::new(NAME, context, Some(device), desc, Some(pool), bytes, out)?.allocate(&state, MemoryKind::Device)?;
        pitch.write(bytes / height);
        return Ok(());
    }
    if let Some(desc) = desc {
        check_alignment(NAME, desc.align)?;
    }
    width.checked_mul(height).filter(fits).ok_or_else(misfit)?;
    // The library takes elements of these sizes. A pitch for one of them suits smaller elements too.
    let element = [4, 8].into_iter().find(|size| element <= *size as usize).unwrap_or(16);
    let (address, bytes) = reclaiming(&state.device, || {
        let _scope = state.enter()?;
        state.driver.allocate_pitched(width, height, element)
    })
    .map_err(|error| {
        let is_want = is_full(&error);
        if is_want { error.of_request(|| format!("{NAME}: {height} rows of {width} bytes")) } else { error }
    })?;
    memory::note_allocated(address, bytes * height);
    out.write_address(address);
    pitch.write(bytes);
    Ok(())
}

/// The pitch of rows in a block of a pool. `None` if there is no such number.
fn pool_pitch(width: usize, image_pitch_align: u32) -> Option<usize> {
    width.checked_next_multiple_of(POOL_PITCH.max(image_pitch_align as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_call(to: usize, pitch: usize, width: usize, pattern: &[u8], widths: &[usize]) -> Option<(usize, u32)> {
        Fill { to, pitch, width, height: 4, pattern }.one_call(widths)
    }

    #[test]
    fn a_small_unit_that_divides_address_pitch_and_width_is_one_native_fill() {
        assert_eq!(one_call(8, 64, 32, &[1, 2, 3, 4], &[4, 2, 1]), Some((4, 0x0403_0201)));
        assert_eq!(one_call(8, 64, 32, &[7; 16], &[4, 2, 1]), Some((1, 7)));
        assert_eq!(one_call(8, 63, 32, &[7, 7], &[4, 2, 1]), Some((1, 7)));
        for (to, pitch, width) in [(9, 64, 32), (8, 62, 32), (8, 64, 30)] {
            assert_eq!(one_call(to, pitch, width, &[1, 2, 3, 4], &[4, 2, 1]), None, "{to} {pitch} {width}");
        }
        assert_eq!(one_call(8, 64, 32, &[1, 2, 3, 4, 5, 6, 7, 8], &[4, 2, 1]), None);
    }

    #[test]
    fn a_library_that_fills_rows_of_bytes_alone_gets_no_wider_ones() {
        assert_eq!(one_call(8, 64, 32, &[1, 2], &[1]), None);
        assert_eq!(one_call(8, 64, 32, &[2, 2], &[1]), Some((1, 2)));
    }

    #[test]
    fn rows_of_a_pool_begin_where_images_may_and_stay_countable() {
        assert_eq!([1, 512, 513, 4096].map(|width| pool_pitch(width, 32)), [512, 512, 1024, 4096].map(Some));
        assert_eq!(pool_pitch(513, 2048), Some(2048), "a device that asks for more");
        assert_eq!((pool_pitch(0, 32), pool_pitch(usize::MAX, 32)), (Some(0), None));
    }

    #[test]
    fn rows_must_be_rows_and_end_before_the_address_space_does() {
        let code = |address, pitch, width, height| {
            check_rows("t", address, pitch, width, height).map_err(|error| error.code())
        };
        let refused = Err(ur_result_t::ERROR_INVALID_SIZE);
        assert_eq!(code(16, 8, 8, 2), Ok(()));
        for (address, pitch, width, height) in [
            (16, 8, 0, 2),
            (16, 8, 8, 0),
            (16, 7, 8, 2),
            (16, 0, 0, 1),
            (16, usize::MAX, 8, 3),
            (usize::MAX - 7, 8, 8, 2),
            (16, usize::MAX / 2, 8, 4),
        ] {
            assert_eq!(code(address, pitch, width, height), refused, "{address} {pitch} {width} {height}");
        }
    }
}
