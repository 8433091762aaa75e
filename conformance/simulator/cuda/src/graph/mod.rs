//! Graphs: nodes with dependencies, what becomes of them when they are launched, and streams that record into them.
//!
//! This file holds the graph itself. Adding nodes and edges is linear in their number. `node.rs` says what a node does,
//! `exec.rs` makes executable graphs, `update.rs` changes them, `run.rs` runs them, `alloc.rs` has the memory that they
//! allocate, `capture.rs` the recording. Changing a graph never changes what was instantiated from it. Lock order: an
//! executable graph, then a graph, then a stream; a graph's lock is never held while another graph's is taken.

pub mod alloc;
pub mod capture;
pub mod dot;
pub mod exec;
pub mod node;
pub mod run;
pub mod update;

use crate::handles::{self, Registry};
use crate::sys::*;
use core::sync::atomic::{AtomicBool, Ordering};
use node::Work;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

/// All graphs.
pub static GRAPHS: Registry<Graph> = Registry::new(handles::Kind::Graph);
/// All nodes.
pub static NODES: Registry<Node> = Registry::new(handles::Kind::Node);

/// A node's place: its graph, and its number there.
pub struct Node {
    /// Its graph.
    graph: Weak<Graph>,
    serial: u64,
}

/// A graph.
pub struct Graph {
    /// Its handle.
    pub handle: Handle,
    /// Whether it is a child node's own, which nobody else may destroy.
    pub embedded: bool,
    /// Whether an executable graph of it exists, which graphs with memory nodes may have one of.
    pub instantiated: Arc<AtomicBool>,
    me: Weak<Graph>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    nodes: BTreeMap<u64, Entry>,
    added: u64,
    /// Whether a node allocates or frees memory.
    has_memory: bool,
    /// What its nodes free.
    frees: BTreeSet<u64>,
}

struct Entry {
    handle: Handle,
    work: Work,
    /// Nodes that must be done before.
    after: Vec<u64>,
    /// Nodes that must wait for it.
    before: Vec<u64>,
}

/// A node as a graph had it at one time.
pub struct Snapshot {
    /// Its handle.
    pub handle: Handle,
    /// What it does.
    pub work: Work,
    /// Which nodes must be done before, by their places in the same list.
    pub after: Vec<usize>,
}

impl Graph {
    /// Makes an empty graph.
    pub fn create() -> Arc<Graph> {
        Self::make(false)
    }

    fn make(embedded: bool) -> Arc<Graph> {
        let graph = |handle, me: &Weak<Graph>| Graph {
            handle,
            embedded,
            instantiated: Arc::default(),
            me: me.clone(),
            state: Mutex::default(),
        };
        GRAPHS.insert_cyclic(graph).1
    }

    /// The live graph of a handle.
    pub fn lookup(handle: Handle) -> Result<Arc<Graph>> {
        GRAPHS.lookup(handle, CUDA_ERROR_INVALID_VALUE)
    }

    /// Whether a node allocates or frees memory.
    pub fn has_memory(&self) -> bool {
        self.state.lock().has_memory
    }

    /// The number of one of its own nodes.
    fn serial(&self, node: Handle) -> Result<u64> {
        let found = NODES.lookup(node, CUDA_ERROR_INVALID_VALUE)?;
        if found.graph.as_ptr() == core::ptr::from_ref(self) { Ok(found.serial) } else { Err(CUDA_ERROR_INVALID_VALUE) }
    }

    /// Adds a node after others of the same graph, each of which is named once.
    pub fn add(&self, after: &[Handle], work: Work) -> Result<Handle> {
        let mut serials = after.iter().map(|&node| self.serial(node)).collect::<Result<Vec<_>>>()?;
        serials.sort_unstable();
        if serials.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let mut state = self.state.lock();
        if matches!(work, Work::Free(address) if !state.frees.insert(address)) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let serial = state.added;
        for before in &serials {
            state.nodes.get_mut(before).ok_or(CUDA_ERROR_INVALID_VALUE)?.before.push(serial);
        }
        state.added += 1;
        state.has_memory |= work.is_memory();
        let (handle, _) = NODES.insert_with(|_| Node { graph: self.me.clone(), serial });
        state.nodes.insert(serial, Entry { handle, work, after: serials, before: Vec::new() });
        Ok(handle)
    }

    /// Adds an edge that is not there yet.
    pub fn depend(&self, from: Handle, to: Handle) -> Result {
        let (from, to) = (self.serial(from)?, self.serial(to)?);
        let mut state = self.state.lock();
        if from == to || state.has_edge(from, to)? {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        state.nodes.get_mut(&from).ok_or(CUDA_ERROR_INVALID_VALUE)?.before.push(to);
        state.nodes.get_mut(&to).ok_or(CUDA_ERROR_INVALID_VALUE)?.after.push(from);
        Ok(())
    }

    /// Takes an edge out. Graphs with memory nodes keep theirs.
    pub fn undepend(&self, from: Handle, to: Handle) -> Result {
        let (from, to) = (self.serial(from)?, self.serial(to)?);
        let mut state = self.state.lock();
        if state.has_memory {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        if !state.has_edge(from, to)? {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        state.unlink(from, to);
        Ok(())
    }

    /// Takes a node out with its edges. Graphs with memory nodes keep theirs.
    pub fn remove(&self, node: Handle) -> Result {
        let serial = self.serial(node)?;
        let mut state = self.state.lock();
        if state.has_memory {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        let Some(entry) = state.nodes.get(&serial) else { return Err(CUDA_ERROR_INVALID_VALUE) };
        let (after, before) = (entry.after.clone(), entry.before.clone());
        after.iter().for_each(|&other| state.unlink(other, serial));
        before.iter().for_each(|&other| state.unlink(serial, other));
        state.nodes.remove(&serial);
        drop(state);
        NODES.remove(node);
        Ok(())
    }

    /// Makes it and its nodes invalid.
    pub fn destroy(&self) {
        GRAPHS.remove(self.handle);
        for entry in self.state.lock().nodes.values() {
            NODES.remove(entry.handle);
            if let Work::Child(child) = &entry.work {
                child.destroy();
            }
        }
    }

    /// Its nodes, in the order of adding.
    pub fn nodes(&self) -> Vec<Handle> {
        self.state.lock().nodes.values().map(|entry| entry.handle).collect()
    }

    /// Its nodes that wait for no other.
    pub fn roots(&self) -> Vec<Handle> {
        let state = self.state.lock();
        state.nodes.values().filter(|entry| entry.after.is_empty()).map(|entry| entry.handle).collect()
    }

    /// Its nodes that no other waits for.
    pub fn sinks(&self) -> Vec<Handle> {
        let state = self.state.lock();
        state.nodes.values().filter(|entry| entry.before.is_empty()).map(|entry| entry.handle).collect()
    }

    /// Its edges: the node before, the node after.
    pub fn edges(&self) -> Vec<(Handle, Handle)> {
        let state = self.state.lock();
        let edges = |entry: &Entry| -> Vec<_> {
            let from = entry.handle;
            entry.before.iter().filter_map(|to| Some((from, state.nodes.get(to)?.handle))).collect()
        };
        state.nodes.values().flat_map(edges).collect()
    }

    /// The nodes that one of its nodes waits for, or, of the other side, those that wait for it.
    pub fn neighbours(&self, node: Handle, waiting: bool) -> Result<Vec<Handle>> {
        let serial = self.serial(node)?;
        let state = self.state.lock();
        let entry = state.nodes.get(&serial).ok_or(CUDA_ERROR_INVALID_VALUE)?;
        let serials = if waiting { &entry.before } else { &entry.after };
        Ok(serials.iter().filter_map(|serial| Some(state.nodes.get(serial)?.handle)).collect())
    }

    /// What a node does.
    pub fn work(&self, node: Handle) -> Result<Work> {
        let serial = self.serial(node)?;
        Ok(self.state.lock().nodes.get(&serial).ok_or(CUDA_ERROR_INVALID_VALUE)?.work.clone())
    }

    /// Makes a node do something else of the same kind.
    pub fn set_work(&self, node: Handle, work: Work) -> Result {
        let serial = self.serial(node)?;
        let mut state = self.state.lock();
        let entry = state.nodes.get_mut(&serial).ok_or(CUDA_ERROR_INVALID_VALUE)?;
        if entry.work.kind() != work.kind() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        entry.work = work;
        Ok(())
    }

    /// Its nodes and edges now, in the order of adding.
    pub fn snapshot(&self) -> Vec<Snapshot> {
        let state = self.state.lock();
        let places: BTreeMap<u64, usize> =
            state.nodes.keys().enumerate().map(|(place, &serial)| (serial, place)).collect();
        let taken = |entry: &Entry| Snapshot {
            handle: entry.handle,
            work: entry.work.clone(),
            after: entry.after.iter().filter_map(|serial| places.get(serial).copied()).collect(),
        };
        state.nodes.values().map(taken).collect()
    }

    /// A graph with the same nodes and edges. Graphs with memory nodes have no copies.
    pub fn copy(&self, embedded: bool) -> Result<Arc<Graph>> {
        if self.has_memory() {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        let copy = Self::make(embedded);
        let filled = copy.fill_with(self.snapshot());
        if filled.is_err() {
            copy.destroy();
        }
        filled.map(|()| copy)
    }

    fn fill_with(&self, nodes: Vec<Snapshot>) -> Result {
        let mut handles = Vec::with_capacity(nodes.len());
        let mut edges = Vec::new();
        for (place, node) in nodes.into_iter().enumerate() {
            let work = match node.work {
                Work::Child(child) => Work::Child(child.copy(true)?),
                work => work,
            };
            handles.push(self.add(&[], work)?);
            edges.extend(node.after.into_iter().map(|before| (before, place)));
        }
        edges.into_iter().try_for_each(|(from, to)| self.depend(handles[from], handles[to]))
    }

    /// Whether an executable graph of it exists, and must be the only one.
    pub fn is_taken(&self) -> bool {
        self.has_memory() && self.instantiated.load(Ordering::Acquire)
    }
}

impl State {
    /// Whether an edge is there, seen from the end with fewer of them.
    fn has_edge(&self, from: u64, to: u64) -> Result<bool> {
        let before = &self.nodes.get(&from).ok_or(CUDA_ERROR_INVALID_VALUE)?.before;
        let after = &self.nodes.get(&to).ok_or(CUDA_ERROR_INVALID_VALUE)?.after;
        Ok(if before.len() < after.len() { before.contains(&to) } else { after.contains(&from) })
    }

    fn unlink(&mut self, from: u64, to: u64) {
        if let Some(entry) = self.nodes.get_mut(&from) {
            entry.before.retain(|&other| other != to);
        }
        if let Some(entry) = self.nodes.get_mut(&to) {
            entry.after.retain(|&other| other != from);
        }
    }
}

/// The graph of a node's handle.
pub fn graph_of(node: Handle) -> Result<Arc<Graph>> {
    NODES.lookup(node, CUDA_ERROR_INVALID_VALUE)?.graph.upgrade().ok_or(CUDA_ERROR_INVALID_VALUE)
}
