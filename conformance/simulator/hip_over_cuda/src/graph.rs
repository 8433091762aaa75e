//! Graphs: CUDA's own, handed through, and HIP's descriptions of nodes as CUDA's.
//!
//! A node's work belongs to the current device, as in HIP, so its context goes to CUDA with the node; graphs, executable
//! graphs and nodes are known by CUDA's handles.

use core::ffi::c_int;

use crate::args::{In, Out};
use crate::cuda::{Copy3D, FillNode, HostNode, KernelNode};
use crate::current::{self, Scope};
use crate::launch::{self, Arguments};
use crate::sys::graph::{
    hipHostNodeParams, hipKernelNodeParams, hipMemcpy3DParms, hipMemsetParams, hipPitchedPtr, hipPos,
};
use crate::sys::status::*;
use crate::sys::value::enumerator7::hipGraphNodeTypeBatchMemOp;
use crate::{copy, device};

/// Fails on the null handle of a graph, an executable graph or a node.
pub fn required(handle: usize) -> Result {
    device::all()?;
    if handle == 0 { Err(hipErrorInvalidValue) } else { Ok(()) }
}

/// Where a node is added, or whose node is changed: the current device, whose context is current for as long as this lives.
/// CUDA's driver ends the process where a kernel is added and no context is current.
pub struct Place {
    after: Vec<usize>,
    /// The context that stands for the current device.
    pub context: usize,
    _scope: Scope,
}

impl Place {
    fn new(after: Vec<usize>) -> Result<Self> {
        Ok(Self { after, context: current::device()?.context()?, _scope: Scope::here()? })
    }

    /// Where a node is added, once all arguments that every kind of node has are checked.
    pub fn of_new(out: &Out<usize>, graph: usize, after: &In<usize>, count: usize) -> Result<Self> {
        out.required()?;
        required(graph)?;
        Self::new(after.list(count)?)
    }

    /// Where a node of an executable graph is changed.
    pub fn of_change(exec: usize, node: usize) -> Result<Self> {
        required(exec).and(required(node))?;
        Self::new(Vec::new())
    }

    /// The list of the nodes before, and how many they are.
    pub fn list(&self) -> (*const usize, usize) {
        (self.after.as_ptr(), self.after.len())
    }
}

/// A kernel node, for as long as its arguments live.
pub struct Kernel {
    parameters: hipKernelNodeParams,
    arguments: Arguments,
}

impl Kernel {
    /// Checks what HIP checks.
    pub fn read(parameters: &In<hipKernelNodeParams>) -> Result<Self> {
        let parameters = parameters.get()?;
        if parameters.func == 0 {
            return Err(hipErrorInvalidValue);
        }
        let (grid, block) = (parameters.gridDim, parameters.blockDim);
        launch::check_shape([grid.x, grid.y, grid.z], [block.x, block.y, block.z])?;
        // SAFETY: both are the caller's, for what HIP's structure says of them.
        let (list, extra) =
            unsafe { (In::of(parameters.kernelParams.cast_const()), In::of(parameters.extra.cast_const())) };
        Ok(Self { parameters, arguments: Arguments::read(&list, &extra)? })
    }

    /// What CUDA takes; it lives no longer than this.
    pub fn node(&self, place: &Place) -> KernelNode {
        let (grid, block) = (self.parameters.gridDim, self.parameters.blockDim);
        KernelNode {
            function: self.parameters.func,
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            shared: self.parameters.sharedMemBytes,
            arguments: self.arguments.list(),
            extra: self.arguments.extra(),
            kernel: 0,
            context: place.context,
        }
    }
}

/// A fill node.
pub fn fill(parameters: &In<hipMemsetParams>) -> Result<FillNode> {
    let hipMemsetParams { dst: to, elementSize: element, height, pitch, value, width } = parameters.get()?;
    let row = width.checked_mul(element as usize).ok_or(hipErrorInvalidValue)?;
    if to == 0 || height == 0 || !matches!(element, 1 | 2 | 4) || (height > 1 && pitch < row) {
        return Err(hipErrorInvalidValue);
    }
    Ok(FillNode { to, pitch, value, element, width, height })
}

/// A host node.
pub fn host(parameters: &In<hipHostNodeParams>) -> Result<HostNode> {
    let parameters = parameters.get()?;
    let function = parameters.r#fn.ok_or(hipErrorInvalidValue)?;
    Ok(HostNode { function: Some(function), data: parameters.userData })
}

/// A copy node of one range.
pub fn range(to: usize, from: usize, size: usize, kind: c_int) -> Result<Copy3D> {
    let rows = |ptr| hipPitchedPtr { ptr, pitch: size, xsize: size, ysize: 1 };
    if size == 0 {
        return Err(hipErrorInvalidValue);
    }
    copy::check_kind(kind)?;
    between(&rows(to), &rows(from), [size, 1, 1])
}

/// A copy node of a box between two pointers; this library has no use for arrays here.
pub fn rows(parameters: &In<hipMemcpy3DParms>) -> Result<Copy3D> {
    let copy = parameters.get()?;
    copy::check_kind(copy.kind)?;
    let both = |array: usize, rows: &hipPitchedPtr| (array == 0) == (rows.ptr == 0);
    if both(copy.srcArray, &copy.srcPtr) || both(copy.dstArray, &copy.dstPtr) {
        return Err(hipErrorInvalidValue);
    }
    if copy.srcArray != 0 || copy.dstArray != 0 {
        return Err(hipErrorNotSupported);
    }
    let place = |pos: hipPos| [pos.x, pos.y, pos.z];
    let ([src_x, src_y, src_z], [dst_x, dst_y, dst_z]) = (place(copy.srcPos), place(copy.dstPos));
    let extent = [copy.extent.width, copy.extent.height, copy.extent.depth];
    Ok(Copy3D { src_x, src_y, src_z, dst_x, dst_y, dst_z, ..between(&copy.dstPtr, &copy.srcPtr, extent)? })
}

fn between(to: &hipPitchedPtr, from: &hipPitchedPtr, [width, height, depth]: [usize; 3]) -> Result<Copy3D> {
    if to.ptr == 0 || from.ptr == 0 {
        return Err(hipErrorInvalidValue);
    }
    if (height > 1 || depth > 1) && (to.pitch < width || from.pitch < width) {
        return Err(hipErrorInvalidPitchValue);
    }
    let (src_type, src_host, src_device) = copy::side(from.ptr)?;
    let (dst_type, dst_host, dst_device) = copy::side(to.ptr)?;
    Ok(Copy3D {
        src_type,
        src_host,
        src_device,
        src_pitch: from.pitch,
        src_height: from.ysize,
        dst_type,
        dst_host,
        dst_device,
        dst_pitch: to.pitch,
        dst_height: to.ysize,
        width,
        height,
        depth,
        ..Copy3D::default()
    })
}

/// HIP's number of a CUDA node type: they are the same but for one.
pub fn node_type(cuda: c_int) -> c_int {
    const BATCH_MEM_OP: c_int = 12;
    if cuda == BATCH_MEM_OP { hipGraphNodeTypeBatchMemOp } else { cuda }
}

/// HIP's result of an update that CUDA calls by that number.
pub fn update_result(cuda: c_int) -> c_int {
    use crate::sys::value::enumerator::{
        hipGraphExecUpdateError, hipGraphExecUpdateErrorParametersChanged,
        hipGraphExecUpdateErrorUnsupportedFunctionChange,
    };
    const ATTRIBUTES_CHANGED: c_int = 8;
    match cuda {
        0..=hipGraphExecUpdateErrorUnsupportedFunctionChange => cuda,
        ATTRIBUTES_CHANGED => hipGraphExecUpdateErrorParametersChanged,
        _ => hipGraphExecUpdateError,
    }
}

/// Fails on a flag of instantiation that HIP does not take; the others have CUDA's numbers.
pub fn check_flags(flags: u64, known: &[c_int]) -> Result {
    let known = known.iter().any(|flag| u64::from(flag.unsigned_abs()) == flags);
    if flags == 0 || known { Ok(()) } else { Err(hipErrorInvalidValue) }
}
