//! The native graph behind a command buffer, as the native library itself tells its nodes and edges.
//!
//! CUDA's and HIP's calls for it have the same parameters and number the kinds of nodes alike. Must not change a graph but
//! where a test adds nodes as an application beside the adapter would.

use core::ffi::{c_int, c_void};
use core::ptr::{null, null_mut};
use std::collections::{BTreeMap, BTreeSet};

use libloading::os::unix::Library;
use ur_ffi::ur_native_handle_t;

use crate::below::Below;
use crate::{CommandBuffer, native};

/// A node's native handle.
pub type Node = usize;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum NodeKind {
    /// Launches a kernel.
    Kernel = 0,
    /// Copies.
    Copy = 1,
    /// Fills.
    Fill = 2,
    /// Calls a function of the host's.
    Host = 3,
    /// Runs another graph.
    Graph = 4,
    /// Does nothing.
    Empty = 5,
    /// Waits for an event.
    WaitEvent = 6,
    /// Records an event.
    RecordEvent = 7,
    /// Anything else.
    Other = -1,
}

/// A graph's nodes and edges at one time.
pub struct NativeGraph {
    library: Library,
    prefix: &'static str,
    graph: usize,
}

impl NativeGraph {
    /// The graph of a buffer.
    #[track_caller]
    #[must_use]
    pub fn of(buffer: &CommandBuffer) -> Self {
        Self::named(buffer.native())
    }

    /// The graph of a native handle.
    #[track_caller]
    #[must_use]
    pub fn named(graph: ur_native_handle_t) -> Self {
        assert_ne!(graph, 0, "a command buffer has a native graph");
        let below = Below::the_adapter();
        let Some(library) = native::loaded(below.named()) else { panic!("the adapter has no native library loaded") };
        Self { library, prefix: below.prefix, graph }
    }

    fn call<T: Copy>(&self, name: &str) -> T {
        // SAFETY: callers name the type that the headers give the symbol.
        unsafe { native::symbol(&self.library, &format!("{}{name}", self.prefix)) }
    }

    /// The nodes, in the library's order.
    #[track_caller]
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let get: unsafe extern "C" fn(usize, *mut Node, *mut usize) -> c_int = self.call("GraphGetNodes");
        let mut count = 0;
        // SAFETY: the graph is alive, the output a live local.
        assert_eq!(unsafe { get(self.graph, null_mut(), &raw mut count) }, 0, "GraphGetNodes");
        let mut nodes = vec![0; count];
        if count > 0 {
            // SAFETY: as above, and there is room for `count` nodes.
            assert_eq!(unsafe { get(self.graph, nodes.as_mut_ptr(), &raw mut count) }, 0, "GraphGetNodes");
        }
        nodes
    }

    /// The edges, each from the node that comes first.
    #[track_caller]
    #[must_use]
    pub fn edges(&self) -> Vec<(Node, Node)> {
        let get: unsafe extern "C" fn(usize, *mut Node, *mut Node, *mut usize) -> c_int = self.call("GraphGetEdges");
        let mut count = 0;
        // SAFETY: as in `nodes`.
        assert_eq!(unsafe { get(self.graph, null_mut(), null_mut(), &raw mut count) }, 0, "GraphGetEdges");
        let (mut from, mut to) = (vec![0; count], vec![0; count]);
        if count > 0 {
            let (from, to) = (from.as_mut_ptr(), to.as_mut_ptr());
            // SAFETY: as in `nodes`, for both lists.
            assert_eq!(unsafe { get(self.graph, from, to, &raw mut count) }, 0, "GraphGetEdges");
        }
        from.into_iter().zip(to).collect()
    }

    /// What a node does.
    #[track_caller]
    #[must_use]
    pub fn kind(&self, node: Node) -> NodeKind {
        let get: unsafe extern "C" fn(Node, *mut c_int) -> c_int = self.call("GraphNodeGetType");
        let mut kind = -1;
        // SAFETY: a node of a graph that is alive; the output is a live local.
        assert_eq!(unsafe { get(node, &raw mut kind) }, 0, "GraphNodeGetType");
        use NodeKind::{Copy, Empty, Fill, Graph, Host, Kernel, Other, RecordEvent, WaitEvent};
        let kinds = [Kernel, Copy, Fill, Host, Graph, Empty, WaitEvent, RecordEvent];
        kinds.into_iter().find(|known| *known as i32 == kind).unwrap_or(Other)
    }

    /// How many nodes there are of each kind.
    #[track_caller]
    #[must_use]
    pub fn kinds(&self) -> BTreeMap<NodeKind, usize> {
        let mut kinds = BTreeMap::new();
        for node in self.nodes() {
            *kinds.entry(self.kind(node)).or_default() += 1;
        }
        kinds
    }

    /// Adds a node that does nothing, as an application would.
    #[track_caller]
    pub fn add_empty(&self, after: &[Node]) -> Node {
        let add: unsafe extern "C" fn(*mut Node, usize, *const Node, usize) -> c_int = self.call("GraphAddEmptyNode");
        let mut node = 0;
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        // SAFETY: the graph and the nodes are alive; the output is a live local.
        assert_eq!(unsafe { add(&raw mut node, self.graph, list, after.len()) }, 0, "GraphAddEmptyNode");
        node
    }

    /// Adds a call of a function of the host's, as an application would.
    #[track_caller]
    pub fn add_host(&self, after: &[Node], function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) -> Node {
        #[repr(C)]
        struct HostNode {
            function: unsafe extern "C" fn(*mut c_void),
            data: *mut c_void,
        }
        let add: unsafe extern "C" fn(*mut Node, usize, *const Node, usize, *const HostNode) -> c_int =
            self.call("GraphAddHostNode");
        let (mut node, params) = (0, HostNode { function, data });
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        // SAFETY: as in `add_empty`; the parameters are copied by the call.
        let answer = unsafe { add(&raw mut node, self.graph, list, after.len(), &raw const params) };
        assert_eq!(answer, 0, "GraphAddHostNode");
        node
    }
}

/// Watches which nodes and edges each command of a buffer adds. Commands are numbered as they are appended.
pub struct Watch<'b> {
    graph: NativeGraph,
    buffer: &'b CommandBuffer,
    known: BTreeMap<Node, usize>,
    commands: usize,
}

impl<'b> Watch<'b> {
    /// Of a buffer that has no commands yet.
    #[track_caller]
    #[must_use]
    pub fn new(buffer: &'b CommandBuffer) -> Self {
        let graph = NativeGraph::of(buffer);
        assert!(graph.nodes().is_empty(), "a buffer begins without nodes");
        Self { graph, buffer, known: BTreeMap::new(), commands: 0 }
    }

    /// Appends one command by `append` and notes its nodes.
    #[track_caller]
    pub fn append<R>(&mut self, append: impl FnOnce(&CommandBuffer) -> R) -> R {
        let result = append(self.buffer);
        for node in self.graph.nodes() {
            self.known.entry(node).or_insert(self.commands);
        }
        self.commands += 1;
        result
    }

    /// How many nodes a command has.
    #[must_use]
    pub fn nodes_of(&self, command: usize) -> usize {
        self.known.values().filter(|owner| **owner == command).count()
    }

    /// The edges between commands, each once. Edges inside of a command are not among them.
    #[track_caller]
    #[must_use]
    pub fn edges(&self) -> BTreeSet<(usize, usize)> {
        let edges = self.graph.edges();
        let count = edges.len();
        let all: BTreeSet<_> = edges.into_iter().collect();
        assert_eq!(all.len(), count, "an edge is there twice");
        all.into_iter().map(|(from, to)| (self.known[&from], self.known[&to])).filter(|(from, to)| from != to).collect()
    }
}
