//! Changing executable graphs: which changes the driver takes, and doing all of one change or nothing of it.

use super::Graph;
use super::exec::{Exec, Level};
use super::node::{Side, Work, is_line, sides};
use crate::copy::Fill;
use crate::sys::*;

/// Why a whole graph does not fit an executable one, by `CUgraphExecUpdateResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Refusal {
    /// Nodes or edges are other ones.
    Topology = 2,
    /// A node is of another kind.
    NodeType = 3,
    /// A node's parameters changed in a way that is not supported.
    Parameters = 5,
    /// A node can never be changed.
    NotSupported = 6,
    /// A kernel of another context.
    Function = 7,
    /// A kernel's attributes changed.
    Attributes = 8,
}

/// What does not fit, and which node of the new graph says so.
#[derive(Debug)]
pub struct Misfit {
    /// Why.
    pub refusal: Refusal,
    /// The node.
    pub node: Handle,
}

/// Whether what a node does may become something else.
pub fn fits(old: &Work, new: &Work) -> Result<(), Refusal> {
    match (old, new) {
        (Work::Kernel(old), Work::Kernel(new)) => {
            if old.context().id != new.context().id {
                return Err(Refusal::Function);
            }
            let (old, new) = (old.shape(), new.shape());
            if old.cooperative != new.cooperative || old.cluster != new.cluster {
                return Err(Refusal::Attributes);
            }
            Ok(())
        }
        (Work::Copy(old), Work::Copy(new)) => {
            let lines = is_line(&old.what) && is_line(&new.what);
            let same =
                old.context.id == new.context.id && old.kinds == new.kinds && sides(&old.what) == sides(&new.what);
            if lines && same { Ok(()) } else { Err(Refusal::Parameters) }
        }
        (Work::Fill(old), Work::Fill(new)) => {
            let lines = old.what.extent[1] == 1 && new.what.extent[1] == 1;
            let same = old.context.id == new.context.id && !is_moved(&old.what, &new.what);
            if lines && same { Ok(()) } else { Err(Refusal::Parameters) }
        }
        (Work::Alloc(old), Work::Alloc(new)) if old.size != new.size => Err(Refusal::NotSupported),
        _ if old.kind() == new.kind() => Ok(()),
        _ => Err(Refusal::NodeType),
    }
}

/// Whether one fill is of a device's memory and the other of another device's.
fn is_moved(old: &Fill, new: &Fill) -> bool {
    let sides = [old, new].map(|fill| Side::of(fill.dst.address));
    matches!(sides, [Side::Device(old), Side::Device(new)] if old != new)
}

impl Exec {
    /// Changes what one node does in later launches.
    pub fn set_work(&self, node: Handle, work: Work) -> Result {
        let step = self.step_of(node)?;
        fits(&self.step(step).work, &work).map_err(|_| CUDA_ERROR_INVALID_VALUE)?;
        self.change(|plan| plan.steps[step].work = work);
        Ok(())
    }

    /// Changes what the nodes of one child graph do in later launches.
    pub fn set_child(&self, node: Handle, child: &Graph) -> Result {
        self.step_of(node)?;
        let level = find_child(&self.level, node).ok_or(CUDA_ERROR_INVALID_VALUE)?;
        self.update_level(level, child).map_err(|_| CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
    }

    /// Changes what all nodes do in later launches to what another graph of the same shape says.
    pub fn update(&self, graph: &Graph) -> Result<(), Misfit> {
        self.update_level(&self.level, graph)
    }

    fn update_level(&self, level: &Level, graph: &Graph) -> Result<(), Misfit> {
        let mut changes = Vec::new();
        self.compare(level, graph, &mut changes)?;
        self.change(|plan| {
            for (step, work) in changes {
                plan.steps[step].work = work;
            }
            plan.find_memory();
        });
        Ok(())
    }

    /// Pairs nodes in the order of adding.
    fn compare(&self, level: &Level, graph: &Graph, changes: &mut Vec<(usize, Work)>) -> Result<(), Misfit> {
        let nodes = graph.snapshot();
        if nodes.len() != level.nodes.len() {
            return Err(Misfit { refusal: Refusal::Topology, node: 0 });
        }
        for (known, new) in level.nodes.iter().zip(nodes) {
            let misfit = |refusal| Misfit { refusal, node: new.handle };
            let old = self.step(known.step).work;
            if old.kind() != new.work.kind() {
                return Err(misfit(Refusal::NodeType));
            }
            let (mut before, mut after) = (known.after.clone(), new.after.clone());
            before.sort_unstable();
            after.sort_unstable();
            if before != after {
                return Err(misfit(Refusal::Topology));
            }
            fits(&old, &new.work).map_err(misfit)?;
            match (&known.child, &new.work) {
                (Some(level), Work::Child(child)) => self.compare(level, child, changes)?,
                _ => changes.push((known.step, new.work)),
            }
        }
        Ok(())
    }
}

fn find_child(level: &Level, node: Handle) -> Option<&Level> {
    level.nodes.iter().find_map(|known| {
        let child = known.child.as_ref()?;
        if known.handle == node { Some(child) } else { find_child(child, node) }
    })
}
