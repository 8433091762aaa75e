//! Graphs: not there yet, so every method keeps the default that says so.

use ur_adapter::driver::Graphs;

use super::Hip;
use crate::sys::{HipGraph, HipGraphExec, HipGraphNode};

impl Graphs for Hip {
    type Graph = HipGraph;
    type GraphExec = HipGraphExec;
    type GraphNode = HipGraphNode;
}
