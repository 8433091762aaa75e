//! The native graph that a command adds itself to, in the place of a stream.
//!
//! A [`GraphBuilder`] is one command's view of a graph: it knows after which nodes the command comes, adds what the command
//! asks for, and remembers the nodes that the command ends with, which is what later commands come after. Most commands are
//! one node. One of several independent nodes (a pattern in strided units) ends with all of them; one whose parts follow each
//! other says so between them ([`GraphBuilder::then`]).
//!
//! Must not decide which commands depend on each other: that is the matter of [`crate::graph`]. Nothing is submitted here.

use core::ffi::c_void;

use smallvec::SmallVec;

use crate::context::DeviceState;
use crate::driver::graphs::{CopyNode, FillNode, KernelNode};
use crate::driver::{Driver, Graphs};
use crate::object::error::Result;

/// A few nodes of a graph; most commands are one.
pub type Nodes<D> = SmallVec<[<D as Graphs>::GraphNode; 1]>;

/// A native graph, which ends with this.
pub struct NativeGraph<D: Driver> {
    driver: &'static D,
    native: Option<D::Graph>,
}

impl<D: Driver> NativeGraph<D> {
    /// An empty graph.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(driver: &'static D) -> Result<Self> {
        Ok(Self::own(driver, driver.create_graph()?))
    }

    /// Owns a graph that the native library made.
    pub fn own(driver: &'static D, graph: D::Graph) -> Self {
        Self { driver, native: Some(graph) }
    }

    /// The native graph.
    #[allow(clippy::missing_panics_doc, reason = "it is there until the value is dropped")]
    #[inline]
    pub fn raw(&self) -> &D::Graph {
        self.native.as_ref().expect("a graph is there until it is dropped")
    }
}

impl<D: Driver> Drop for NativeGraph<D> {
    fn drop(&mut self) {
        if let Some(graph) = self.native.take() {
            // Nobody is left to tell.
            let _ = self.driver.destroy_graph(graph);
        }
    }
}

/// One command's place in a graph that is recorded.
pub struct GraphBuilder<'g, D: Driver> {
    device: &'g DeviceState<D>,
    graph: &'g D::Graph,
    /// What the command comes after.
    after: &'g [D::GraphNode],
    /// What the command's next node comes after instead, once it has parts that follow each other.
    parts: Option<Nodes<D>>,
    /// What was added and nothing of the command comes after.
    last: Nodes<D>,
}

impl<'g, D: Driver> GraphBuilder<'g, D> {
    /// The place after some nodes of a graph.
    pub fn new(device: &'g DeviceState<D>, graph: &'g D::Graph, after: &'g [D::GraphNode]) -> Self {
        Self { device, graph, after, parts: None, last: Nodes::<D>::new() }
    }

    /// The device that the graph's commands run on.
    #[inline]
    pub fn device(&self) -> &'g DeviceState<D> {
        self.device
    }

    /// The opened library.
    #[inline]
    pub fn driver(&self) -> &'static D {
        self.device.driver
    }

    /// The nodes that the command ends with. A command that added none is an empty node, so that it can be waited for.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn finish(mut self) -> Result<Nodes<D>> {
        if self.last.is_empty() {
            match self.parts.take() {
                Some(parts) => return Ok(parts),
                None => self.empty()?,
            }
        }
        Ok(self.last)
    }

    /// What the command adds from here on comes after all that it has added.
    pub fn then(&mut self) {
        if !self.last.is_empty() {
            self.parts = Some(core::mem::take(&mut self.last));
        }
    }

    /// Adds a kernel.
    ///
    /// # Safety
    /// As [`Graphs::add_kernel`].
    ///
    /// # Errors
    /// What the native library answers.
    pub unsafe fn kernel(
        &mut self,
        kernel: &KernelNode<D::Function>,
        arguments: *const *const c_void,
    ) -> Result<D::GraphNode> {
        // SAFETY: the caller's promise is the same.
        let node = unsafe { self.driver().add_kernel(self.graph, self.after(), kernel, arguments) }?;
        Ok(self.added(node))
    }

    /// Adds a copy.
    ///
    /// # Safety
    /// As [`Graphs::add_copy`].
    ///
    /// # Errors
    /// What the native library answers.
    pub unsafe fn copy(&mut self, copy: &CopyNode) -> Result<D::GraphNode> {
        let _scope = self.device.enter_for_transfer()?;
        // SAFETY: the caller's promise is the same.
        let node = unsafe { self.driver().add_copy(self.graph, self.after(), copy, &self.device.place) }?;
        Ok(self.added(node))
    }

    /// Adds a fill.
    ///
    /// # Safety
    /// As [`Graphs::add_fill`].
    ///
    /// # Errors
    /// What the native library answers.
    pub unsafe fn fill(&mut self, fill: &FillNode) -> Result<D::GraphNode> {
        let _scope = self.device.enter_for_transfer()?;
        // SAFETY: the caller's promise is the same.
        let node = unsafe { self.driver().add_fill(self.graph, self.after(), fill, &self.device.place) }?;
        Ok(self.added(node))
    }

    /// Adds a node that does nothing.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn empty(&mut self) -> Result<()> {
        let node = self.driver().add_empty(self.graph, self.after())?;
        self.added(node);
        Ok(())
    }

    /// Adds a copy of all of another graph.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn child(&mut self, child: &D::Graph) -> Result<D::GraphNode> {
        let node = self.driver().add_child(self.graph, self.after(), child)?;
        Ok(self.added(node))
    }

    /// Adds the record of an event, which stays alive as long as the graph and what is instantiated from it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record_event(&mut self, event: &D::Event) -> Result<D::GraphNode> {
        let node = self.driver().add_event_record(self.graph, self.after(), event)?;
        Ok(self.added(node))
    }

    /// Adds a wait for an event, which stays alive as long as the graph and what is instantiated from it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn await_event(&mut self, event: &D::Event) -> Result<D::GraphNode> {
        let node = self.driver().add_event_wait(self.graph, self.after(), event)?;
        Ok(self.added(node))
    }

    /// What the next node comes after.
    #[inline]
    fn after(&self) -> &[D::GraphNode] {
        self.parts.as_deref().unwrap_or(self.after)
    }

    fn added(&mut self, node: D::GraphNode) -> D::GraphNode {
        self.last.push(node);
        node
    }
}
