//! A graph in words: DOT, as `cuGraphDebugDotPrint` writes it.

use super::Graph;
use super::node::Work;
use std::fmt::Write;

/// The text; `verbose` tells what each node does.
pub fn text(graph: &Graph, verbose: bool) -> String {
    let mut text = String::from("digraph dot {\n");
    write_graph(&mut text, graph, verbose, &mut 0);
    text.push_str("}\n");
    text
}

fn write_graph(text: &mut String, graph: &Graph, verbose: bool, number: &mut usize) {
    let own = *number;
    *number += 1;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "subgraph cluster_{own} {{\nlabel=\"graph_{own}\" graph[style=\"dashed\"];");
    let nodes = graph.snapshot();
    for (place, node) in nodes.iter().enumerate() {
        let detail = if verbose { detail(&node.work) } else { String::new() };
        let kind = node.work.name();
        let _ = writeln!(text, "\"graph_{own}_node_{place}\"[shape=\"record\" label=\"{place}\\n{kind}{detail}\"];");
        if let Work::Child(child) = &node.work {
            write_graph(text, child, verbose, number);
        }
    }
    for (place, node) in nodes.iter().enumerate() {
        for before in &node.after {
            let _ = writeln!(text, "\"graph_{own}_node_{before}\" -> \"graph_{own}_node_{place}\";");
        }
    }
    text.push_str("}\n");
}

fn detail(work: &Work) -> String {
    match work {
        Work::Kernel(kernel) => {
            let shape = kernel.shape();
            format!("\\n{} {:?} {:?}", kernel.name(), shape.grid, shape.block)
        }
        Work::Copy(copy) => format!("\\n{:?} bytes, rows, slices", copy.what.extent),
        Work::Fill(fill) => format!("\\n{:?} of {} bytes", fill.what.extent, fill.what.width),
        Work::Alloc(block) => format!("\\n{:#x}, {} bytes", block.address, block.size),
        Work::Free(address) => format!("\\n{address:#x}"),
        _ => String::new(),
    }
}
