//! Metadata nodes: what names a kernel, hints of loops, alias scopes, lines.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::Writer;
use crate::model::Id;

/// Nodes by number, and the named lists.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    nodes: Vec<String>,
    named: BTreeMap<&'static str, Vec<usize>>,
    known: HashMap<String, usize>,
    alias_nodes: HashMap<Id, usize>,
}

impl Metadata {
    /// Adds a node that has no equal.
    pub(super) fn add(&mut self, text: String) -> usize {
        self.nodes.push(text);
        self.nodes.len() - 1
    }

    /// The node with this text, which may be shared.
    pub(super) fn node(&mut self, text: &str) -> usize {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let node = self.add(text.to_owned());
        self.known.insert(text.to_owned(), node);
        node
    }

    /// A node that names itself first, as LLVM's loops and scopes do, and then the others.
    pub(super) fn distinct(&mut self, rest: &[usize]) -> usize {
        let node = self.nodes.len();
        let mut text = format!("distinct !{{!{node}");
        for other in rest {
            let _ = write!(text, ", !{other}");
        }
        text.push('}');
        self.add(text)
    }

    pub(super) fn name(&mut self, list: &'static str, node: usize) {
        self.named.entry(list).or_default().push(node);
    }

    pub(super) fn write(&self, text: &mut String) {
        for (name, list) in &self.named {
            let list: Vec<String> = list.iter().map(|node| format!("!{node}")).collect();
            let _ = writeln!(text, "!{name} = !{{{}}}", list.join(", "));
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let _ = writeln!(text, "!{at} = {node}");
        }
    }
}

impl Writer<'_> {
    pub(super) fn annotate(&mut self, function: &str, key: &str, value: u32) {
        let node = self.metadata.add(format!("!{{{function}, !\"{key}\", i32 {value}}}"));
        self.metadata.name("nvvm.annotations", node);
    }

    pub(super) fn write_versions(&mut self) {
        let node = self.metadata.node("!{i32 2, i32 0, i32 3, i32 1}");
        self.metadata.name("nvvmir.version", node);
    }

    /// The list of alias scopes that `list` names (`SPV_INTEL_memory_access_aliasing`); `None` if it is none.
    pub(super) fn alias_list(&mut self, list: Id) -> Option<usize> {
        if let Some(&known) = self.metadata.alias_nodes.get(&list) {
            return Some(known);
        }
        let mut nodes = Vec::new();
        let definition = self.module.find(list)?.instruction;
        if definition.opcode != crate::grammar::op::ALIAS_SCOPE_LIST_DECL_INTEL {
            return None;
        }
        for &scope in self.module.operands(definition).get(1..)? {
            nodes.push(self.alias_scope(scope)?);
        }
        let names: Vec<String> = nodes.iter().map(|node| format!("!{node}")).collect();
        let node = self.metadata.add(format!("!{{{}}}", names.join(", ")));
        self.metadata.alias_nodes.insert(list, node);
        Some(node)
    }

    fn alias_scope(&mut self, scope: Id) -> Option<usize> {
        if let Some(&known) = self.metadata.alias_nodes.get(&scope) {
            return Some(known);
        }
        let definition = self.module.find(scope)?.instruction;
        let domain = self.module.operands(definition).get(1).copied()?;
        let domain = match self.metadata.alias_nodes.get(&domain) {
            Some(&known) => known,
            None => {
                let node = self.metadata.distinct(&[]);
                self.metadata.alias_nodes.insert(domain, node);
                node
            }
        };
        let node = self.metadata.distinct(&[domain]);
        self.metadata.alias_nodes.insert(scope, node);
        Some(node)
    }
}
