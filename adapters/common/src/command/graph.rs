//! The native graph that a command adds itself to, in the place of a stream.
//!
//! A [`GraphBuilder`] is one command's view of a graph: it knows after which nodes the command comes, adds what the command
//! asks for, and remembers the nodes that the command ends with, which is what later commands come after. Most commands are
//! one node. One of several independent nodes (a pattern in strided units) ends with all of them; one whose parts follow each
//! other says so between them ([`GraphBuilder::then`]).
//!
//! Must not decide which commands depend on each other: that is the matter of [`crate::graph`]. Nothing is submitted here.

use core::ffi::c_void;
use core::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::context::DeviceState;
use crate::device::scope::Scope;
use crate::driver::graphs::{CopyNode, FillNode, KernelNode};
use crate::driver::{Driver, Graphs, LaunchShape, MemoryKind};
use crate::object::error::Result;

/// A few nodes of a graph; most commands are one.
pub type Nodes<D> = SmallVec<[<D as Graphs>::GraphNode; 1]>;

/// A native graph, which ends with this.
pub struct NativeGraph<D: Driver> {
    driver: &'static D,
    native: Option<D::Graph>,
    /// Whether a node is left of a command that could not be added.
    is_damaged: AtomicBool,
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
        Self { driver, native: Some(graph), is_damaged: AtomicBool::new(false) }
    }

    /// The native graph.
    #[allow(clippy::missing_panics_doc, reason = "it is there until the value is dropped")]
    #[inline]
    pub fn raw(&self) -> &D::Graph {
        self.native.as_ref().expect("a graph is there until it is dropped")
    }
}

impl<D: Driver> NativeGraph<D> {
    /// Whether a node is left of a command that could not be added: then a launch would do a part of it. The native library
    /// takes no node out of a graph that has allocations, and nobody knows which nodes a native command's function needs.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Acquire)
    }

    /// Notes that such a node is left.
    pub fn note_damage(&self) {
        self.is_damaged.store(true, Ordering::Release);
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

/// A kernel's launch as a node. `arguments` has an entry for every parameter of the function, which names a value of the
/// parameter's size; list and values are readable during `'a`. Whoever makes one keeps what the launch uses as long as the graph.
pub struct NodeLaunch<'a, D: Driver> {
    /// The function and its sizes.
    pub node: KernelNode<D::Function>,
    /// The addresses of the arguments' values.
    pub arguments: *const *const c_void,
    lists: PhantomData<&'a ()>,
}

impl<D: Driver> NodeLaunch<'_, D> {
    /// A launch whose list and values are as the type says.
    #[inline(always)]
    pub fn new(function: D::Function, shape: LaunchShape, arguments: *const *const c_void) -> Self {
        Self { node: KernelNode { function, shape, cluster: None, cooperative: false }, arguments, lists: PhantomData }
    }

    /// Adds it to a graph, behind some of its nodes.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn add_behind(
        &self,
        device: &DeviceState<D>,
        graph: &D::Graph,
        after: &[D::GraphNode],
    ) -> Result<D::GraphNode> {
        self.add_in(&device.enter()?, device, graph, after)
    }

    /// Adds it to a graph, behind some of its nodes. CUDA's driver ends the process if no context is current, although the node
    /// names one: the scope is the device's.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline(always)]
    pub fn add_in(
        &self,
        _scope: &Scope<'_, D>,
        device: &DeviceState<D>,
        graph: &D::Graph,
        after: &[D::GraphNode],
    ) -> Result<D::GraphNode> {
        // SAFETY: the list is as this type says; addresses in it are valid for every launch by the application's promise.
        unsafe { device.driver.add_kernel(graph, after, &self.node, self.arguments, &device.primary_context) }
    }
}

/// One command's place in a graph that is recorded. A command that is not finished is taken out again.
pub struct GraphBuilder<'g, D: Driver> {
    device: &'g Arc<DeviceState<D>>,
    whole: &'g NativeGraph<D>,
    graph: &'g D::Graph,
    /// What the command comes after.
    after: &'g [D::GraphNode],
    /// What the command's next node comes after instead, once it has parts that follow each other.
    parts: Option<Nodes<D>>,
    /// What was added and nothing of the command comes after.
    last: Nodes<D>,
    /// All that was added.
    added: Nodes<D>,
}

impl<'g, D: Driver> GraphBuilder<'g, D> {
    /// The place after some nodes of a graph.
    #[inline]
    pub fn new(device: &'g Arc<DeviceState<D>>, whole: &'g NativeGraph<D>, after: &'g [D::GraphNode]) -> Self {
        Self {
            device,
            whole,
            graph: whole.raw(),
            after,
            parts: None,
            last: Nodes::<D>::new(),
            added: Nodes::<D>::new(),
        }
    }

    /// The device that the graph's commands run on.
    #[inline]
    pub fn device(&self) -> &'g Arc<DeviceState<D>> {
        self.device
    }

    /// The opened library.
    #[inline]
    pub fn driver(&self) -> &'static D {
        self.device.driver
    }

    /// The node that the command ends with. One that added nothing is an empty node, and one that ends with several is
    /// joined by an empty node, so that whoever comes after it needs one edge.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn finish(mut self) -> Result<D::GraphNode> {
        let node = self.end()?;
        self.added.clear();
        Ok(node)
    }

    #[inline]
    fn end(&mut self) -> Result<D::GraphNode> {
        if self.last.len() != 1 {
            self.then();
            self.empty()?;
        }
        Ok(self.last[0])
    }

    /// What the command adds from here on comes after all that it has added.
    pub fn then(&mut self) {
        if !self.last.is_empty() {
            self.parts = Some(core::mem::take(&mut self.last));
        }
    }

    /// Says that the command adds so many nodes that need no order among each other. Where it comes after several others
    /// too, an empty node stands between them: as many edges as there are nodes on both sides, and not their product.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn fan_out(&mut self, count: usize) -> Result<()> {
        if count > 1 && self.after().len() > 1 {
            self.empty()?;
            self.then();
        }
        Ok(())
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn kernel(&mut self, launch: &NodeLaunch<'_, D>) -> Result<D::GraphNode> {
        let node = launch.add_behind(self.device, self.graph, self.after())?;
        Ok(self.note(node))
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
        let node = unsafe { self.driver().add_copy(self.graph, self.after(), copy, &self.device.primary_context) }?;
        Ok(self.note(node))
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
        let node = unsafe { self.driver().add_fill(self.graph, self.after(), fill, &self.device.primary_context) }?;
        Ok(self.note(node))
    }

    /// Adds an allocation of the device's memory; gives the address that it has in every launch.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` where the library has none in graphs; what it answers.
    pub fn allocation(&mut self, size: usize) -> Result<usize> {
        let _scope = self.device.enter()?;
        let device = self.device.device.raw;
        let (node, address) =
            self.driver().add_allocation(self.graph, self.after(), MemoryKind::Device, device, size)?;
        self.note(node);
        Ok(address)
    }

    /// Adds the free of an allocation.
    ///
    /// # Safety
    /// As [`Graphs::add_free`].
    ///
    /// # Errors
    /// What the native library answers.
    pub unsafe fn free(&mut self, address: usize) -> Result<()> {
        let _scope = self.device.enter()?;
        // SAFETY: the caller's promise is the same.
        let node = unsafe { self.driver().add_free(self.graph, self.after(), address) }?;
        self.note(node);
        Ok(())
    }

    /// Adds a node that does nothing.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn empty(&mut self) -> Result<()> {
        let node = self.driver().add_empty(self.graph, self.after())?;
        self.note(node);
        Ok(())
    }

    /// Adds a copy of all of another graph.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn child(&mut self, child: &D::Graph) -> Result<D::GraphNode> {
        let node = self.driver().add_child(self.graph, self.after(), child)?;
        Ok(self.note(node))
    }

    /// Lets the command's next node come after a wait for an event too. The event stays alive as long as the graph and
    /// what is instantiated from it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn await_first(&mut self, event: &D::Event) -> Result<D::GraphNode> {
        let node = self.driver().add_event_wait(self.graph, &[], event)?;
        self.added.push(node);
        self.parts.get_or_insert_with(|| Nodes::<D>::from_slice(self.after)).push(node);
        Ok(node)
    }

    /// Adds the record of an event behind all of the command. The event stays alive as long as the graph and what is
    /// instantiated from it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record_last(&mut self, event: &D::Event) -> Result<D::GraphNode> {
        let end = self.end()?;
        let node = self.driver().add_event_record(self.graph, &[end], event)?;
        self.added.push(node);
        Ok(node)
    }

    /// The graph itself.
    pub fn raw(&self) -> &'g D::Graph {
        self.graph
    }

    /// Takes nodes that somebody else has added for the command: puts the first of them behind what the command comes
    /// after, and ends with the last of them.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn adopt(&mut self, first: Nodes<D>, last: Nodes<D>) -> Result<()> {
        if first.len() > 1 && self.after().len() > 1 {
            self.empty()?;
            self.then();
        }
        let edges = first.iter().flat_map(|to| self.after().iter().map(|from| (*from, *to)));
        let (from, to): (Vec<_>, Vec<_>) = edges.unzip();
        if !from.is_empty() {
            self.driver().add_dependencies(self.graph, &from, &to)?;
        }
        self.last = last;
        Ok(())
    }

    /// What the next node comes after.
    #[inline]
    fn after(&self) -> &[D::GraphNode] {
        self.parts.as_deref().unwrap_or(self.after)
    }

    #[inline]
    fn note(&mut self, node: D::GraphNode) -> D::GraphNode {
        self.last.push(node);
        self.added.push(node);
        node
    }
}

impl<D: Driver> Drop for GraphBuilder<'_, D> {
    fn drop(&mut self) {
        for node in self.added.drain(..).rev() {
            // The failure that led here is the one to tell of.
            if self.device.driver.destroy_node(self.graph, node).is_err() {
                self.whole.note_damage();
            }
        }
    }
}
