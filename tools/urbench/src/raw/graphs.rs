//! Graphs on the raw side: kernel nodes, executable graphs, their launches and changes. A library that lacks a function makes
//! the case unavailable and nothing else.

use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};

use super::more::have;
use super::symbols::{CudaKernelNode, Handle, HipKernelNode, Place};
use super::{Function, Raw, check};
use crate::Failure;

/// A graph that is recorded, destroyed with this.
pub struct Graph<'r> {
    raw: &'r Raw,
    graph: Handle,
}

/// What is launched, destroyed with this.
pub struct Exec<'r> {
    raw: &'r Raw,
    exec: Handle,
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = &self.raw.functions.more.graph_destroy {
            // SAFETY: made by `graph`, destroyed once. Errors have nobody to go to.
            let _ = unsafe { (destroy.call)(self.graph) };
        }
    }
}

impl Drop for Exec<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = &self.raw.functions.more.exec_destroy {
            // SAFETY: made by `instantiate`, destroyed once; its launches have ended by the case's word.
            let _ = unsafe { (destroy.call)(self.exec) };
        }
    }
}

impl Raw {
    /// A graph without nodes; something of the raw side's must be current for all of this.
    pub fn graph(&self) -> Result<Graph<'_>, Failure> {
        let (create, mut graph) = (have(&self.functions.more.graph_create, "graphs")?, null_mut());
        // SAFETY: a writable output and no flags.
        unsafe { check!(create, (&raw mut graph, 0)) }?;
        Ok(Graph { raw: self, graph })
    }

    /// Lets the library have what a node launches: one thread of a function.
    #[inline]
    fn with_node<T>(
        &self,
        function: Option<&Function<'_>>,
        arguments: &mut [*mut c_void],
        run: impl FnOnce(*const c_void) -> T,
    ) -> T {
        let function = function.map_or(self.kernel, |function| function.function);
        let arguments = if arguments.is_empty() { null_mut() } else { arguments.as_mut_ptr() };
        let (grid, block, shared, extra) = ([1; 3], [1; 3], 0, null_mut());
        match &self.functions.place {
            Place::Context { .. } => {
                let (kernel, context) = (null_mut(), self.context);
                let node = CudaKernelNode { function, grid, block, shared, arguments, extra, kernel, context };
                run(from_ref(&node).cast())
            }
            Place::Device { .. } => {
                let node = HipKernelNode { block, extra, function, grid, arguments, shared };
                run(from_ref(&node).cast())
            }
        }
    }
}

impl<'r> Graph<'r> {
    /// Adds a launch of a function, or of the empty kernel, after some nodes.
    #[inline]
    pub fn kernel(
        &self,
        function: Option<&Function<'_>>,
        arguments: &mut [*mut c_void],
        after: &[Handle],
    ) -> Result<Handle, Failure> {
        let (raw, mut node) = (self.raw, null_mut());
        let add = have(&raw.functions.more.graph_add_kernel, "graphs")?;
        let first = if after.is_empty() { null() } else { after.as_ptr() };
        raw.with_node(function, arguments, |params| {
            // SAFETY: a writable output, a live graph, nodes of it, and parameters that the library copies.
            unsafe { check!(add, (&raw mut node, self.graph, first, after.len(), params)) }
        })?;
        Ok(node)
    }

    /// What can be launched.
    pub fn instantiate(&self) -> Result<Exec<'r>, Failure> {
        let (make, mut exec) = (have(&self.raw.functions.more.graph_instantiate, "graphs")?, null_mut());
        // SAFETY: a writable output, a live graph, no flags.
        unsafe { check!(make, (&raw mut exec, self.graph, 0)) }?;
        Ok(Exec { raw: self.raw, exec })
    }
}

impl Exec<'_> {
    /// Launches it on the raw side's stream.
    #[inline]
    pub fn launch(&self) -> Result<(), Failure> {
        self.launch_on(self.raw.stream)
    }

    /// Launches it on a stream.
    #[inline]
    pub fn launch_on(&self, stream: Handle) -> Result<(), Failure> {
        let launch = have(&self.raw.functions.more.graph_launch, "graphs")?;
        // SAFETY: live objects.
        unsafe { check!(launch, (self.exec, stream)) }
    }

    /// Changes a node's arguments for later launches.
    #[inline]
    pub fn change(
        &self,
        node: Handle,
        function: Option<&Function<'_>>,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Failure> {
        let set = have(&self.raw.functions.more.exec_set_kernel, "changes of graphs")?;
        self.raw.with_node(function, arguments, |params| {
            // SAFETY: a live executable graph, a node of its graph, and parameters that the library copies.
            unsafe { check!(set, (self.exec, node, params)) }
        })
    }
}
