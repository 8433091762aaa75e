//! Layouts of the structures that describe the nodes of a graph.
//!
//! As in [`layout`](super::layout): names and order are the C headers', and nothing here has behaviour.

#![allow(non_camel_case_types, non_snake_case, reason = "the C API's own spelling")]
#![allow(missing_docs, reason = "the fields are the C API's, which documents them")]

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::layout::{Field, Layout, hipMemAccessDesc, hipMemPoolProps, layout};

layout! {
    /// Blocks, or threads of a block, in each direction.
    dim3 {
        x: c_uint,
        y: c_uint,
        z: c_uint,
    }
}

layout! {
    /// What a kernel node launches.
    hipKernelNodeParams {
        blockDim: dim3,
        extra: *mut usize,
        func: usize,
        gridDim: dim3,
        kernelParams: *mut *mut c_void,
        sharedMemBytes: c_uint,
    }
}

layout! {
    /// What a fill node writes; `width` counts elements.
    hipMemsetParams {
        dst: usize,
        elementSize: c_uint,
        height: usize,
        pitch: usize,
        value: c_uint,
        width: usize,
    }
}

layout! {
    /// What a host node calls.
    hipHostNodeParams {
        r#fn: Option<unsafe extern "C" fn(*mut c_void)>,
        userData: *mut c_void,
    }
}

layout! {
    /// Rows of memory.
    hipPitchedPtr {
        ptr: usize,
        pitch: usize,
        xsize: usize,
        ysize: usize,
    }
}

layout! {
    /// Where a copy begins.
    hipPos {
        x: usize,
        y: usize,
        z: usize,
    }
}

layout! {
    /// How much a copy copies.
    hipExtent {
        width: usize,
        height: usize,
        depth: usize,
    }
}

layout! {
    /// What a copy node copies.
    hipMemcpy3DParms {
        srcArray: usize,
        srcPos: hipPos,
        srcPtr: hipPitchedPtr,
        dstArray: usize,
        dstPos: hipPos,
        dstPtr: hipPitchedPtr,
        extent: hipExtent,
        kind: c_int,
    }
}

layout! {
    /// What an allocation node allocates; `dptr` is the answer.
    hipMemAllocNodeParams {
        poolProps: hipMemPoolProps,
        accessDescs: *const hipMemAccessDesc,
        accessDescCount: usize,
        bytesize: usize,
        dptr: usize,
    }
}

layout! {
    /// How a graph becomes executable, and why it did not.
    hipGraphInstantiateParams {
        errNode_out: usize,
        flags: c_ulonglong,
        result_out: c_int,
        uploadStream: usize,
    }
}
