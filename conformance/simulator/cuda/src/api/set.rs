//! Fills, in all their spellings.

use super::guard::call;
use crate::command::Command;
use crate::context;
use crate::copy::{Fill, Place};
use crate::graph::{capture, node};
use crate::memory::{self, Denied, Kind};
use crate::pool;
use crate::reports;
use crate::stream::{self, Stream};
use crate::sys::*;

/// The fill that the API's arguments mean. Device memory alone can be filled.
pub fn fill(dst: CUdeviceptr, pitch: usize, value: u32, width: usize, extent: [usize; 2]) -> Result<Fill> {
    let row = extent[0].checked_mul(width).ok_or(CUDA_ERROR_INVALID_VALUE)?;
    let empty = extent.contains(&0);
    if !dst.is_multiple_of(width as u64) || (extent[1] > 1 && (pitch < row || !pitch.is_multiple_of(width))) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(Fill { dst: Place { address: dst, pitch, slice: 0, tracked: !empty }, value, width, extent })
}

fn refused(denied: Denied) -> CUresult {
    reports::add(denied.kind, denied.message);
    CUDA_ERROR_INVALID_VALUE
}

/// A fill of a host pool's memory needs the access that the pool gives to the device.
fn reachable(fill: &Fill, stream: &Stream) -> Result {
    let found = memory::find(fill.dst.address).filter(|found| found.kind == Kind::Pool && found.device.is_none());
    match found {
        Some(found) if !stream.reach().includes(&found) => Err(refused(Denied {
            kind: reports::Kind::PeerAccess,
            message: format!("the pool of {:#x} gives the device no access", found.base),
        })),
        _ => Ok(()),
    }
}

fn now(fill: Result<Fill>) -> Result {
    let context = context::current()?;
    capture::refuse_legacy(&context)?;
    let fill = fill?;
    let stream = context.legacy();
    reachable(&fill, &stream)?;
    if stream.is_free() {
        return fill.run(&stream.next_point()).map_err(refused);
    }
    fill.check(&stream.next_point()).map_err(refused)?;
    stream.submit_to_device(Command::Fill(Box::new(fill)));
    let result = stream.synchronize();
    pool::on_synchronize();
    result
}

fn later(fill: Result<Fill>, stream: Handle) -> Result {
    let stream = stream::resolve(stream)?;
    if capture::graph_of(&stream)?.is_some() {
        return capture::record(&stream, || node::fill_node(fill?, stream.context.clone())).map(drop);
    }
    let fill = fill?;
    reachable(&fill, &stream)?;
    fill.check(&stream.next_point()).map_err(refused)?;
    stream.submit_to_device(Command::Fill(Box::new(fill)));
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8_v2(dst: CUdeviceptr, value: u8, n: usize) -> CUresult {
    call!(cuMemsetD8_v2, { now(fill(dst, 0, value.into(), 1, [n, 1])) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD16_v2(dst: CUdeviceptr, value: u16, n: usize) -> CUresult {
    call!(cuMemsetD16_v2, { now(fill(dst, 0, value.into(), 2, [n, 1])) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD32_v2(dst: CUdeviceptr, value: u32, n: usize) -> CUresult {
    call!(cuMemsetD32_v2, { now(fill(dst, 0, value, 4, [n, 1])) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD2D8_v2(dst: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize) -> CUresult {
    call!(cuMemsetD2D8_v2, { now(fill(dst, pitch, value.into(), 1, [width, height])) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD2D16_v2(
    dst: CUdeviceptr,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
) -> CUresult {
    call!(cuMemsetD2D16_v2, { now(fill(dst, pitch, value.into(), 2, [width, height])) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD2D32_v2(
    dst: CUdeviceptr,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
) -> CUresult {
    call!(cuMemsetD2D32_v2, { now(fill(dst, pitch, value, 4, [width, height])) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(dst: CUdeviceptr, value: u8, n: usize, stream: Handle) -> CUresult {
    call!(cuMemsetD8Async, { later(fill(dst, 0, value.into(), 1, [n, 1]), stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD16Async(dst: CUdeviceptr, value: u16, n: usize, stream: Handle) -> CUresult {
    call!(cuMemsetD16Async, { later(fill(dst, 0, value.into(), 2, [n, 1]), stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD32Async(dst: CUdeviceptr, value: u32, n: usize, stream: Handle) -> CUresult {
    call!(cuMemsetD32Async, { later(fill(dst, 0, value, 4, [n, 1]), stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD2D8Async(
    dst: CUdeviceptr,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: Handle,
) -> CUresult {
    call!(cuMemsetD2D8Async, { later(fill(dst, pitch, value.into(), 1, [width, height]), stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD2D16Async(
    dst: CUdeviceptr,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: Handle,
) -> CUresult {
    call!(cuMemsetD2D16Async, { later(fill(dst, pitch, value.into(), 2, [width, height]), stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD2D32Async(
    dst: CUdeviceptr,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
    stream: Handle,
) -> CUresult {
    call!(cuMemsetD2D32Async, { later(fill(dst, pitch, value, 4, [width, height]), stream) })
}
