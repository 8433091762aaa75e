//! Memory that launches of graphs allocate and do not free: whoever launches the graph frees it, or a later launch fails.
//!
//! An address is known here as long as the graph, or something that was instantiated from it, lives, and beyond that while its
//! memory is out. It has memory from a launch on until it is freed.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// Whether a graph with that allocation lives.
    has_graph: bool,
    /// Whether a launch has allocated it and nobody has freed it.
    is_out: bool,
}

/// A context's addresses of allocations in graphs.
#[derive(Debug, Default)]
pub struct GraphMemory {
    blocks: Mutex<BTreeMap<usize, Block>>,
}

impl GraphMemory {
    /// Notes the allocations of a graph.
    pub fn add(&self, addresses: &[usize]) {
        let mut blocks = self.blocks.lock();
        for address in addresses {
            blocks.entry(*address).or_insert(Block { has_graph: true, is_out: false }).has_graph = true;
        }
    }

    /// Notes that the graph and all that was made of it are gone.
    pub fn forget(&self, addresses: &[usize]) {
        let mut blocks = self.blocks.lock();
        for address in addresses {
            if let Some(block) = blocks.get_mut(address) {
                block.has_graph = false;
                if !block.is_out {
                    blocks.remove(address);
                }
            }
        }
    }

    /// Notes that a launch allocates.
    pub fn note_launch(&self, addresses: &[usize]) {
        let mut blocks = self.blocks.lock();
        for address in addresses {
            if let Some(block) = blocks.get_mut(address) {
                block.is_out = true;
            }
        }
    }

    /// Whether launches allocate at that address, on their way or not.
    pub fn knows(&self, address: usize) -> bool {
        self.blocks.lock().contains_key(&address)
    }

    /// Takes memory from the application, to be freed; `false` if there is none at that address.
    pub fn take(&self, address: usize) -> bool {
        let mut blocks = self.blocks.lock();
        let Some(block) = blocks.get_mut(&address).filter(|block| block.is_out) else { return false };
        block.is_out = false;
        if !block.has_graph {
            blocks.remove(&address);
        }
        true
    }

    /// Undoes [`GraphMemory::take`] for memory that could not be freed.
    pub fn put_back(&self, address: usize) {
        self.blocks.lock().entry(address).or_insert(Block { has_graph: false, is_out: true }).is_out = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_out_from_a_launch_to_its_free() {
        let memory = GraphMemory::default();
        memory.add(&[256]);
        assert!(memory.knows(256) && !memory.knows(512) && !memory.take(256));
        memory.note_launch(&[256]);
        assert!(memory.take(256) && !memory.take(256));
        memory.note_launch(&[256]);
        assert!(memory.take(256));
    }

    #[test]
    fn memory_that_is_out_is_freed_after_its_graph() {
        let memory = GraphMemory::default();
        memory.add(&[256, 512]);
        memory.note_launch(&[256]);
        memory.forget(&[256, 512]);
        assert!(memory.take(256) && !memory.take(512));
        memory.put_back(256);
        assert!(memory.take(256) && !memory.take(256));
    }

    #[test]
    fn an_address_that_no_graph_has_is_not_launched() {
        let memory = GraphMemory::default();
        memory.note_launch(&[256]);
        assert!(!memory.take(256));
    }
}
