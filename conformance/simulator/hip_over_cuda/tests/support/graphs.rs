//! What the tests of graphs share: a graph with its stream and memory, and the kernel's arguments.

use core::ffi::{c_int, c_void};

use hip_on_cuda::sys::graph::*;
use hip_on_cuda::sys::value::flag::hipStreamNonBlocking;

use super::*;

pub fn stream() -> usize {
    get!(hipStreamCreateWithFlags(_, hipStreamNonBlocking))
}

/// A graph, its executable form once it has one, and 64 elements of device memory.
pub struct Fixture {
    pub graph: usize,
    pub stream: usize,
    pub memory: usize,
}

pub const COUNT: usize = 64;

impl Fixture {
    pub fn new() -> Self {
        let fixture =
            Self { graph: get!(hipGraphCreate(_, 0)), stream: stream(), memory: get!(hipMalloc(_, COUNT * 4)) };
        ok!(hipMemset(fixture.memory, 0, COUNT * 4));
        fixture
    }

    pub fn fill(&self, value: u32) -> hipMemsetParams {
        hipMemsetParams { dst: self.memory, elementSize: 4, height: 1, pitch: 0, value, width: COUNT }
    }

    pub fn add_fill(&self, after: &[usize], value: u32) -> usize {
        get!(hipGraphAddMemsetNode(_, self.graph, after.as_ptr(), after.len(), &self.fill(value)))
    }

    pub fn instantiate(&self) -> usize {
        get!(hipGraphInstantiateWithFlags(_, self.graph, 0))
    }

    pub fn run(&self, exec: usize) {
        ok!(hipGraphLaunch(exec, self.stream));
        ok!(hipStreamSynchronize(self.stream));
    }
}

impl Fixture {
    /// The elements of the memory, once the stream has done its work.
    pub fn contents(&self) -> [u32; COUNT] {
        let mut back = [u32::MAX; COUNT];
        ok!(hipMemcpyDtoH(into(&mut back), self.memory, COUNT * 4));
        back
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        hipGraphDestroy(self.graph);
        hipStreamDestroy(self.stream);
        hipFree(self.memory);
    }
}

pub fn node_type(node: usize) -> c_int {
    let mut kind = -1;
    ok!(hipGraphNodeGetType(node, &raw mut kind));
    kind
}

/// Arguments of the kernel, at fixed addresses.
pub struct Arguments {
    pub factor: f32,
    pub x: usize,
    pub y: usize,
    pub count: u32,
}

impl Arguments {
    pub fn list(&self) -> [*mut c_void; 4] {
        [at(&self.factor), at(&self.x), at(&self.y), at(&self.count)].map(|address| address as *mut c_void)
    }
}

pub fn launch(func: usize, arguments: &mut [*mut c_void; 4]) -> hipKernelNodeParams {
    hipKernelNodeParams {
        blockDim: dim3 { x: 64, y: 1, z: 1 },
        extra: core::ptr::null_mut(),
        func,
        gridDim: dim3 { x: 1, y: 1, z: 1 },
        kernelParams: arguments.as_mut_ptr(),
        sharedMemBytes: 0,
    }
}
