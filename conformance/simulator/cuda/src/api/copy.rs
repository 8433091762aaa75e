//! Copies, in all their spellings.

use super::args::{In, Raw};
use super::guard::call;
use crate::array::Array;
use crate::command::Command;
use crate::context;
use crate::copy::{Copy, Place, Source};
use crate::graph::{capture, node};
use crate::memory::{Denied, Kind};
use crate::pool;
use crate::reports;
use crate::stream::{self, Stream};
use crate::sys::*;
use crate::waiting;
use std::sync::Arc;

/// What one side of a copy must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Memory that the driver knows.
    Device,
    /// Any memory; unknown memory is the client's own.
    Any,
}

fn place(address: u64, side: Side) -> Result<Place> {
    let place = Place::linear(address);
    if place.tracked {
        return Ok(place);
    }
    let freed = crate::memory::history(address);
    if side == Side::Device || freed.is_some() {
        let (kind, what) = match freed {
            Some(_) => (reports::Kind::UseAfterFree, "is freed"),
            None => (reports::Kind::InvalidPointer, "is in no allocation"),
        };
        reports::add(kind, format!("{address:#x} {what}"));
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if address == 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(place)
}

fn linear(dst: u64, dst_side: Side, src: u64, src_side: Side, len: usize) -> Result<Copy> {
    if len == 0 {
        let nowhere = Place { address: dst, pitch: 0, slice: 0, tracked: false };
        return Ok(Copy { dst: nowhere, src: Source::Staged(Vec::new()), extent: [0, 1, 1] });
    }
    let (to, from) = (place(dst, dst_side)?, place(src, src_side)?);
    if context::top().is_none() && (crosses_mappings(dst, len) || crosses_mappings(src, len)) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(Copy { dst: to, src: Source::At(from), extent: [len, 1, 1] })
}

/// Whether a range begins in one mapping of physical memory and ends in another. The driver wants a context for that.
fn crosses_mappings(address: u64, len: usize) -> bool {
    crate::memory::find(address).is_some_and(|found| found.kind == Kind::Mapped && !found.holds(address, len))
}

fn refused(denied: Denied) -> CUresult {
    reports::add(denied.kind, denied.message);
    CUDA_ERROR_INVALID_VALUE
}

/// Submits a copy to a stream, and waits for it if the driver does. Pageable sources of copies to the device are taken at
/// once.
fn submit(mut copy: Copy, stream: &Arc<Stream>) -> Result {
    if capture::graph_of(stream)?.is_some() {
        let kinds = [CU_MEMORYTYPE_UNIFIED; 2];
        return capture::record(stream, || node::copy_node(copy, stream.context.clone(), kinds)).map(drop);
    }
    let waits = waiting::copy_waits(&copy);
    copy.check(&stream.next_point()).map_err(refused)?;
    // Between host allocations, who waits for the copy cannot reuse the source before it has run.
    if !waits || stream::is_held() || waiting::is_large_from_heap(&copy) {
        // SAFETY: by the API's contract an untracked source is host memory that the client may read.
        unsafe { copy.stage() };
    }
    submit_to_device(copy, stream);
    if waits {
        waiting::inside(&stream.context, || waiting::for_stream(stream));
    }
    Ok(())
}

fn submit_to_device(copy: Copy, stream: &Arc<Stream>) {
    let places = waiting::places_of(&copy, stream);
    stream.submit_to_device(Command::Copy(Box::new(copy), places));
}

/// Copies in the order of the legacy stream and waits; on this thread when nothing has to be waited for.
fn run_now(copy: impl FnOnce() -> Result<Copy>) -> Result {
    let context = context::current()?;
    capture::refuse_legacy(&context)?;
    let copy = copy()?;
    let stream = context.legacy();
    if stream.is_free() {
        return copy.run(&stream.next_point()).map_err(refused);
    }
    copy.check(&stream.next_point()).map_err(refused)?;
    submit_to_device(copy, &stream);
    let result = stream.synchronize();
    pool::on_synchronize();
    result
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, len: usize) -> CUresult {
    call!(cuMemcpy, { run_now(|| linear(dst, Side::Any, src, Side::Any, len)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, len: usize, stream: Handle) -> CUresult {
    call!(cuMemcpyAsync, { submit(linear(dst, Side::Any, src, Side::Any, len)?, &stream::resolve(stream)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoD_v2(dst: CUdeviceptr, src: Raw, len: usize) -> CUresult {
    call!(cuMemcpyHtoD_v2, { run_now(|| linear(dst, Side::Device, src.address(), Side::Any, len)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoH_v2(dst: Raw, src: CUdeviceptr, len: usize) -> CUresult {
    call!(cuMemcpyDtoH_v2, { run_now(|| linear(dst.address(), Side::Any, src, Side::Device, len)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoD_v2(dst: CUdeviceptr, src: CUdeviceptr, len: usize) -> CUresult {
    call!(cuMemcpyDtoD_v2, { run_now(|| linear(dst, Side::Device, src, Side::Device, len)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: Raw, len: usize, stream: Handle) -> CUresult {
    call!(cuMemcpyHtoDAsync_v2, {
        let stream = stream::resolve(stream)?;
        submit(linear(dst, Side::Device, src.address(), Side::Any, len)?, &stream)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoHAsync_v2(dst: Raw, src: CUdeviceptr, len: usize, stream: Handle) -> CUresult {
    call!(cuMemcpyDtoHAsync_v2, {
        let stream = stream::resolve(stream)?;
        submit(linear(dst.address(), Side::Any, src, Side::Device, len)?, &stream)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, len: usize, stream: Handle) -> CUresult {
    call!(cuMemcpyDtoDAsync_v2, {
        let stream = stream::resolve(stream)?;
        submit(linear(dst, Side::Device, src, Side::Device, len)?, &stream)
    })
}

fn check_contexts(dst: Handle, src: Handle) -> Result {
    context::lookup(dst)?.usable()?;
    context::lookup(src)?.usable()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyPeer(
    dst: CUdeviceptr,
    dst_ctx: Handle,
    src: CUdeviceptr,
    src_ctx: Handle,
    len: usize,
) -> CUresult {
    call!(cuMemcpyPeer, {
        check_contexts(dst_ctx, src_ctx)?;
        run_now(|| linear(dst, Side::Device, src, Side::Device, len))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyPeerAsync(
    dst: CUdeviceptr,
    dst_ctx: Handle,
    src: CUdeviceptr,
    src_ctx: Handle,
    len: usize,
    stream: Handle,
) -> CUresult {
    call!(cuMemcpyPeerAsync, {
        check_contexts(dst_ctx, src_ctx)?;
        let stream = stream::resolve(stream)?;
        submit(linear(dst, Side::Device, src, Side::Device, len)?, &stream)
    })
}

/// The largest pitch that an H200's driver was seen to take, one more than `CU_DEVICE_ATTRIBUTE_MAX_PITCH` says.
const MAX_PITCH: usize = 1 << 31;

/// One side of a copy of several dimensions as the API describes it.
struct Described {
    kind: u32,
    host: u64,
    device: u64,
    array: Handle,
    offset: [usize; 3],
    pitch: usize,
    height: usize,
}

impl Described {
    fn place(&self, extent: [usize; 3]) -> Result<Place> {
        let (base, side) = match self.kind {
            CU_MEMORYTYPE_HOST => (self.host, Side::Any),
            CU_MEMORYTYPE_DEVICE => (self.device, Side::Device),
            CU_MEMORYTYPE_UNIFIED => (self.device, Side::Any),
            CU_MEMORYTYPE_ARRAY => return Array::lookup(self.array)?.place(self.offset, extent),
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        };
        let pitch = if self.pitch == 0 { extent[0] } else { self.pitch };
        if pitch > MAX_PITCH {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let height = if self.height == 0 { extent[1] } else { self.height };
        if extent[1] > 1 && pitch < extent[0] || extent[2] > 1 && height < extent[1] {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let slice = pitch.checked_mul(height).ok_or(CUDA_ERROR_INVALID_VALUE)?;
        let [x, y, z] = self.offset;
        let offset = z.checked_mul(slice).and_then(|o| o.checked_add(y.checked_mul(pitch)?)?.checked_add(x));
        let address = base.checked_add(offset.ok_or(CUDA_ERROR_INVALID_VALUE)? as u64);
        let place = place(address.ok_or(CUDA_ERROR_INVALID_VALUE)?, side)?;
        Ok(Place { pitch, slice, ..place })
    }
}

fn rectangle(dst: &Described, src: &Described, extent: [usize; 3]) -> Result<Copy> {
    if extent.contains(&0) {
        return linear(0, Side::Any, 0, Side::Any, 0);
    }
    Ok(Copy { dst: dst.place(extent)?, src: Source::At(src.place(extent)?), extent })
}

fn of_2d(copy: &CUDA_MEMCPY2D) -> Result<Copy> {
    let src = Described {
        kind: copy.src_type,
        host: copy.src_host,
        device: copy.src_device,
        array: copy.src_array,
        offset: [copy.src_x, copy.src_y, 0],
        pitch: copy.src_pitch,
        height: 0,
    };
    let dst = Described {
        kind: copy.dst_type,
        host: copy.dst_host,
        device: copy.dst_device,
        array: copy.dst_array,
        offset: [copy.dst_x, copy.dst_y, 0],
        pitch: copy.dst_pitch,
        height: 0,
    };
    rectangle(&dst, &src, [copy.width, copy.height, 1])
}

/// Whether both sides are one layered array, whose layers at the source the driver takes for those at the destination.
fn is_within_layered(copy: &CUDA_MEMCPY3D) -> Result<bool> {
    let are_arrays = copy.src_type == CU_MEMORYTYPE_ARRAY && copy.dst_type == CU_MEMORYTYPE_ARRAY;
    Ok(are_arrays && copy.src_array == copy.dst_array && Array::lookup(copy.src_array)?.is_layered())
}

/// The copy that a three-dimensional description means.
pub fn of_3d(copy: &CUDA_MEMCPY3D) -> Result<Copy> {
    // As CUDA 13.0 does it (`docs/probes/array_to_itself.c`).
    let layer = if is_within_layered(copy)? { copy.dst_z } else { copy.src_z };
    let src = Described {
        kind: copy.src_type,
        host: copy.src_host,
        device: copy.src_device,
        array: copy.src_array,
        offset: [copy.src_x, copy.src_y, layer],
        pitch: copy.src_pitch,
        height: copy.src_height,
    };
    let dst = Described {
        kind: copy.dst_type,
        host: copy.dst_host,
        device: copy.dst_device,
        array: copy.dst_array,
        offset: [copy.dst_x, copy.dst_y, copy.dst_z],
        pitch: copy.dst_pitch,
        height: copy.dst_height,
    };
    rectangle(&dst, &src, [copy.width, copy.height, copy.depth])
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy2D_v2(copy: In<CUDA_MEMCPY2D>) -> CUresult {
    call!(cuMemcpy2D_v2, { run_now(|| of_2d(&copy.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy2DUnaligned_v2(copy: In<CUDA_MEMCPY2D>) -> CUresult {
    call!(cuMemcpy2DUnaligned_v2, { run_now(|| of_2d(&copy.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy2DAsync_v2(copy: In<CUDA_MEMCPY2D>, stream: Handle) -> CUresult {
    call!(cuMemcpy2DAsync_v2, {
        let stream = stream::resolve(stream)?;
        submit(of_2d(&copy.get()?)?, &stream)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy3D_v2(copy: In<CUDA_MEMCPY3D>) -> CUresult {
    call!(cuMemcpy3D_v2, { run_now(|| of_3d(&copy.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy3DAsync_v2(copy: In<CUDA_MEMCPY3D>, stream: Handle) -> CUresult {
    call!(cuMemcpy3DAsync_v2, {
        let stream = stream::resolve(stream)?;
        submit(of_3d(&copy.get()?)?, &stream)
    })
}
