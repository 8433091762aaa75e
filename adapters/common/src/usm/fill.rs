//! `urEnqueueUSMFill` with patterns of any size.
//!
//! Native fills write 1, 2 or 4 bytes at a time. A pattern that repeats such a unit takes one native fill. Any other takes one
//! strided fill for each of its units, so no copy of the pattern has to outlive the call.

use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::deferral::{Deferring, Owned, by_function_that_may_block};
use crate::command::graph::GraphBuilder;
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased, submit};
use crate::context::DeviceState;
use crate::driver::graphs::FillNode;
use crate::driver::{Driver, Rows};
use crate::object::error::{Error, Result};
use crate::object::params::Address;
use crate::stream::ROOM;
use crate::stream::capture::Capture;

/// The native calls that write a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// One fill with a value of `width` bytes.
    Whole { width: usize, value: u32 },
    /// One strided fill for each unit of `width` bytes.
    Strided { width: usize, values: Vec<u32> },
}

impl Plan {
    /// How many native calls it takes.
    pub(crate) fn calls(&self) -> usize {
        match self {
            Self::Whole { .. } => 1,
            Self::Strided { values, .. } => values.len(),
        }
    }

    /// Whether a stream that has nothing to do may not have room for all of it.
    pub(crate) fn may_block(&self) -> bool {
        self.calls() as u64 > ROOM
    }
}

fn unit(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// The widest unit that divides both the pattern's size and the destination's address.
fn widest(units: &[usize], address: usize, size: usize) -> usize {
    let fits = |width: usize| size.is_multiple_of(width) && address.is_multiple_of(width);
    units.iter().copied().find(|width| fits(*width)).unwrap_or(1)
}

/// `strided` are the widths of a strided fill, widest first.
pub(crate) fn plan(address: usize, pattern: &[u8], strided: &[usize]) -> Plan {
    for width in [1, 2, 4] {
        let repeats =
            pattern.len().is_multiple_of(width) && pattern.chunks(width).all(|part| part == &pattern[..width]);
        if repeats && address.is_multiple_of(width) {
            return Plan::Whole { width, value: unit(&pattern[..width]) };
        }
    }
    let width = widest(strided, address, pattern.len());
    Plan::Strided { width, values: pattern.chunks(width).map(unit).collect() }
}

/// `urEnqueueUSMFill`.
///
/// # Errors
/// `INVALID_SIZE` when a size is 0 or the pattern does not fit a whole number of times; what the native library answers.
pub fn usm_fill<D: Driver>(enqueue: Enqueue<'_, D>, to: Address, pattern: &[u8], size: usize) -> Result<()> {
    let request = enqueue.request(ur_command_t::USM_FILL);
    check_sizes("urEnqueueUSMFill", pattern, size)?;
    submit(&request, Fill { device: &request.queue.device, to: to.addr(), pattern, size })
}

/// Refuses a pattern that does not fit the bytes a whole number of times.
///
/// # Errors
/// `INVALID_SIZE`, also when there are no bytes.
pub(crate) fn check_sizes(name: &str, pattern: &[u8], size: usize) -> Result<()> {
    if pattern.is_empty() || size == 0 || !size.is_multiple_of(pattern.len()) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: {size} bytes are no positive multiple of a pattern of {}", pattern.len()),
        ));
    }
    Ok(())
}

/// A pattern that is repeated over memory. The memory is writable until the fill has finished.
pub(crate) struct Fill<'a, D: Driver> {
    pub(crate) device: &'a DeviceState<D>,
    pub(crate) to: usize,
    pub(crate) pattern: &'a [u8],
    pub(crate) size: usize,
}

impl<D: Driver> Command<D> for Fill<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let _scope = self.device.enter_for_transfer()?;
        let plan = plan(self.to, self.pattern, D::STRIDED_WIDTHS);
        submission.count_more(plan.calls() - 1);
        lay_down(submission.driver(), submission.native(), &plan, self.to, self.pattern.len(), self.size)
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let (to, pattern, size) = (self.to, self.pattern.to_vec(), self.size);
        let may_block = plan(to, &pattern, D::STRIDED_WIDTHS).may_block();
        let place = move |request: &Request<'_, D>| {
            erased::submit(request, Fill { device: &request.queue.device, to, pattern: &pattern, size })
        };
        Ok((by_function_that_may_block(may_block, place), ()))
    }

    fn add_to(self, graph: &mut GraphBuilder<'_, D>) -> Result<()> {
        let Self { to, pattern, size, .. } = self;
        // The units of a pattern lie in different bytes, so their fills need no order among each other.
        let plan = plan(to, pattern, D::STRIDED_WIDTHS);
        graph.fan_out(plan.calls())?;
        nodes(&plan, to, pattern.len(), size).try_for_each(|fill| {
            // SAFETY: writable for `size` bytes, as whoever made the command was promised.
            unsafe { graph.fill(&fill) }.map(|_| ())
        })
    }
}

/// The fills of a graph that write a pattern over `size` bytes.
fn nodes(plan: &Plan, to: usize, pattern_size: usize, size: usize) -> impl Iterator<Item = FillNode> {
    let (width, values, rows) = match plan {
        Plan::Whole { width, value } => {
            let rows = Rows { first: to, length: size / width, pitch: size, count: 1 };
            (*width, core::slice::from_ref(value), rows)
        }
        Plan::Strided { width, values } => {
            (*width, &**values, Rows { first: to, length: 1, pitch: pattern_size, count: size / pattern_size })
        }
    };
    let unit = move |(index, value): (usize, u32)| FillNode {
        rows: Rows { first: rows.first + index * width, ..rows },
        width,
        value,
    };
    values.iter().copied().enumerate().map(unit)
}

/// Repeats a pattern over `size` bytes, which are a multiple of its length. The pattern is not needed afterwards.
///
/// # Safety
/// `size` bytes at `to` are writable by the stream's device until the fill has finished.
///
/// # Errors
/// What the native library answers.
pub unsafe fn fill<D: Driver>(driver: &D, stream: &D::Stream, to: usize, pattern: &[u8], size: usize) -> Result<()> {
    lay_down(driver, stream, &plan(to, pattern, D::STRIDED_WIDTHS), to, pattern.len(), size)
}

pub(crate) fn lay_down<D: Driver>(
    driver: &D,
    stream: &D::Stream,
    plan: &Plan,
    to: usize,
    pattern_size: usize,
    size: usize,
) -> Result<()> {
    match plan {
        // SAFETY: `fill` was promised `size` writable bytes at `to`; the plan's width divides the address.
        Plan::Whole { width, value } => unsafe { driver.fill_async(to, *width, *value, size / width, stream) },
        Plan::Strided { width, values } => values.iter().enumerate().try_for_each(|(index, value)| {
            let rows = Rows { first: to + index * width, length: 1, pitch: pattern_size, count: size / pattern_size };
            // SAFETY: as above, for the rows' units of `width` bytes.
            unsafe { driver.fill_strided_async(rows, *width, *value, stream) }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(address: usize, pattern: &[u8]) -> Plan {
        super::plan(address, pattern, &[4, 2, 1])
    }

    #[test]
    fn a_pattern_that_repeats_a_small_unit_is_one_fill() {
        assert_eq!(plan(0, &[7]), Plan::Whole { width: 1, value: 7 });
        assert_eq!(plan(0, &[7; 16]), Plan::Whole { width: 1, value: 7 });
        assert_eq!(plan(0, &[1, 2, 1, 2]), Plan::Whole { width: 2, value: 0x0201 });
        assert_eq!(plan(0, &[1, 2, 3, 4, 1, 2, 3, 4]), Plan::Whole { width: 4, value: 0x0403_0201 });
    }

    #[test]
    fn any_other_pattern_is_laid_down_unit_by_unit() {
        assert_eq!(plan(0, &[1, 2, 3]), Plan::Strided { width: 1, values: vec![1, 2, 3] });
        assert_eq!(plan(0, &[1, 2, 3, 4, 5, 6]), Plan::Strided { width: 2, values: vec![0x0201, 0x0403, 0x0605] });
        assert_eq!(plan(0, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]), Plan::Strided { width: 4, values: vec![1, 2, 3] });
    }

    #[test]
    fn a_library_with_strided_fills_of_bytes_alone_gets_one_a_byte() {
        let bytes = Plan::Strided { width: 1, values: vec![1, 2, 3, 4, 5, 6] };
        assert_eq!(super::plan(0, &[1, 2, 3, 4, 5, 6], &[1]), bytes);
        let whole = Plan::Whole { width: 4, value: 0x0403_0201 };
        assert_eq!(super::plan(0, &[1, 2, 3, 4, 1, 2, 3, 4], &[1]), whole);
    }

    #[test]
    fn in_a_graph_a_pattern_is_the_fills_that_it_is_on_a_stream() {
        let fills = |pattern: &[u8], size| -> Vec<_> {
            let of = |fill: FillNode| {
                let Rows { first, length, pitch, count } = fill.rows;
                (first, length, pitch, count, fill.width, fill.value)
            };
            nodes(&plan(64, pattern), 64, pattern.len(), size).map(of).collect()
        };
        assert_eq!(fills(&[7; 16], 32), [(64, 32, 32, 1, 1, 7)]);
        assert_eq!(fills(&[1, 0, 0, 0], 32), [(64, 8, 32, 1, 4, 1)]);
        let units = [(64, 1, 6, 4, 2, 0x0201), (66, 1, 6, 4, 2, 0x0403), (68, 1, 6, 4, 2, 0x0605)];
        assert_eq!(fills(&[1, 2, 3, 4, 5, 6], 24), units);
    }

    #[test]
    fn a_destination_off_its_alignment_is_filled_in_smaller_units() {
        assert_eq!(plan(1, &[1, 2, 3, 4]), Plan::Strided { width: 1, values: vec![1, 2, 3, 4] });
        assert_eq!(plan(2, &[1, 2, 3, 4]), Plan::Strided { width: 2, values: vec![0x0201, 0x0403] });
    }
}
