//! Graphs: nodes with dependencies, and their executable form.
//!
//! An executable graph is a snapshot of the nodes in an order that respects the dependencies; a launch runs them one
//! after another as one command of the stream. Changing a graph never changes what was instantiated from it.

use crate::clock::Point;
use crate::command::{self, UserData};
use crate::copy::{Copy, Fill};
use crate::handles::{self, Registry};
use crate::kernel::Kernel;
use crate::stream::Stream;
use crate::sys::*;
use parking_lot::Mutex;
use std::sync::Arc;

/// All graphs.
pub static GRAPHS: Registry<Graph> = Registry::new(handles::Kind::Graph);
/// All nodes.
pub static NODES: Registry<Node> = Registry::new(handles::Kind::Node);
/// All executable graphs.
pub static EXECS: Registry<Exec> = Registry::new(handles::Kind::Exec);

/// What a node does.
#[derive(Clone)]
pub enum Work {
    /// Nothing; it joins dependencies.
    Empty,
    /// Runs a kernel.
    Kernel(Arc<Kernel>),
    /// Copies.
    Copy(Arc<Copy>),
    /// Fills.
    Fill(Arc<Fill>),
    /// Calls a host function.
    Host(CUhostFn, UserData),
    /// Runs another graph's nodes.
    Child(Arc<Exec>),
}

impl Work {
    /// `CUgraphNodeType`
    pub fn kind(&self) -> i32 {
        match self {
            Work::Kernel(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(..) => 3,
            Work::Child(_) => 4,
            Work::Empty => 5,
        }
    }
}

/// A node.
pub struct Node {
    /// Its handle.
    pub handle: Handle,
    /// Its graph.
    pub graph: Handle,
    /// What it does.
    pub work: Mutex<Work>,
    /// Nodes that must be done before.
    pub after: Mutex<Vec<Handle>>,
}

/// A graph.
pub struct Graph {
    /// Its handle.
    pub handle: Handle,
    nodes: Mutex<Vec<Handle>>,
}

/// An executable graph.
pub struct Exec {
    /// Its handle; 0 for a child graph.
    pub handle: Handle,
    steps: Vec<Work>,
}

impl Graph {
    /// Makes an empty graph.
    pub fn create() -> Handle {
        GRAPHS.insert_with(|handle| Graph { handle, nodes: Mutex::default() }).0
    }

    /// Adds a node after others of the same graph.
    pub fn add(&self, after: &[Handle], work: Work) -> Result<Handle> {
        let mut nodes = self.nodes.lock();
        if after.iter().any(|handle| !nodes.contains(handle)) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let (after, work) = (Mutex::new(after.to_vec()), Mutex::new(work));
        let (handle, _) = NODES.insert_with(|handle| Node { handle, graph: self.handle, work, after });
        nodes.push(handle);
        Ok(handle)
    }

    /// Its nodes.
    pub fn nodes(&self) -> Vec<Handle> {
        self.nodes.lock().clone()
    }

    /// Adds a dependency.
    pub fn depend(&self, from: Handle, to: Handle) -> Result {
        let nodes = self.nodes.lock();
        if from == to || !nodes.contains(&from) || !nodes.contains(&to) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let to = NODES.lookup(to, CUDA_ERROR_INVALID_VALUE)?;
        to.after.lock().push(from);
        Ok(())
    }

    /// Takes a node out.
    pub fn remove(&self, node: Handle) {
        let mut nodes = self.nodes.lock();
        nodes.retain(|&known| known != node);
        for other in nodes.iter().filter_map(|&other| NODES.get(other)) {
            other.after.lock().retain(|&known| known != node);
        }
        NODES.remove(node);
    }

    /// Makes it and its nodes invalid.
    pub fn destroy(&self) {
        GRAPHS.remove(self.handle);
        for &node in self.nodes.lock().iter() {
            NODES.remove(node);
        }
    }

    /// The nodes' work in an order that respects their dependencies; a cycle has none.
    pub fn steps(&self) -> Result<Vec<Work>> {
        let mut waiting: Vec<Arc<Node>> = self.nodes.lock().iter().filter_map(|&node| NODES.get(node)).collect();
        let mut steps = Vec::with_capacity(waiting.len());
        let mut done = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let is_ready = |node: &Arc<Node>| node.after.lock().iter().all(|before| done.contains(before));
            let ready = waiting.iter().position(is_ready).ok_or(CUDA_ERROR_INVALID_VALUE)?;
            let node = waiting.remove(ready);
            steps.push(node.work.lock().clone());
            done.push(node.handle);
        }
        Ok(steps)
    }

    /// Its executable form.
    pub fn instantiate(&self) -> Result<Handle> {
        let steps = self.steps()?;
        Ok(EXECS.insert_with(|handle| Exec { handle, steps }).0)
    }

    /// Its present form, as a step of another graph.
    pub fn as_child(&self) -> Result<Arc<Exec>> {
        Ok(Arc::new(Exec { handle: 0, steps: self.steps()? }))
    }
}

impl Exec {
    /// Runs all steps on the stream's thread.
    pub fn run(&self, stream: &Arc<Stream>, point: &Point) {
        for step in &self.steps {
            if stream.context.failure().is_some() {
                return;
            }
            let result = match step {
                Work::Empty => Ok(()),
                Work::Kernel(kernel) => kernel.run(stream, point),
                Work::Copy(copy) => copy.run(point).map_err(|denied| command::refuse("graph copy", denied)),
                Work::Fill(fill) => fill.run(point).map_err(|denied| command::refuse("graph fill", denied)),
                Work::Host(function, data) => {
                    command::call_host(*function, *data);
                    Ok(())
                }
                Work::Child(child) => {
                    child.run(stream, point);
                    Ok(())
                }
            };
            if let Err(error) = result {
                stream.context.fail(error);
            }
        }
    }
}
