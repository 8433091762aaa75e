//! `urCommandBufferAppendNativeCommandExp`: the application adds nodes of its own to a native graph.
//!
//! The function is called at once, with the buffer's device current and no lock held, so it may call UR and ask for native
//! handles. Into a child buffer it records a graph that becomes one node of this one. Without a child it adds to the
//! buffer's own graph: then the nodes that it added are looked for, those with nothing before them are put behind the sync
//! points, and what comes after the command comes after all of them. That costs as much as the graph is large.

use core::ffi::c_void;
use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::driver::Driver;
use crate::graph::append::{Append, Retained};
use crate::graph::command::Kind;
use crate::graph::command_buffer::CommandBuffer;
use crate::object::Object;
use crate::object::error::{Error, Result};

/// `urCommandBufferAppendNativeCommandExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is finalised; `INVALID_VALUE` for a child that is the buffer itself or of another
/// device; as [`Append::record_as`].
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the pointer goes back to the application, whose it is")]
pub fn append<D: Driver>(
    append: Append<'_, D>,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    child: Option<&Object<CommandBuffer<D>>>,
) -> Result<()> {
    let buffer = append.buffer;
    let call = || -> Result<()> {
        let _scope = buffer.state().enter()?;
        // SAFETY: the application lets its function be called with its data during this call.
        unsafe { function(data) };
        Ok(())
    };
    // Nothing is called for what could not be appended.
    append.check()?;
    let Some(child) = child else { return append_own(append, call) };
    if core::ptr::eq(child, buffer) || !Arc::ptr_eq(child.state(), buffer.state()) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            "urCommandBufferAppendNativeCommandExp: hChildCommandBuffer must be another command buffer of the same device and context",
        ));
    }
    call()?;
    append_child(append, child)
}

/// Adds a copy of another buffer's graph as one node. What its commands need is needed here too.
fn append_child<D: Driver>(append: Append<'_, D>, child: &Object<CommandBuffer<D>>) -> Result<()> {
    /// No other function locks two recordings, so two buffers that are put into each other at once do not wait for each
    /// other.
    static NESTING: Mutex<()> = Mutex::new(());
    let _nesting = NESTING.lock();
    let mut inner = child.recorded();
    inner.whole_graph(child.state())?;
    let inner = inner;
    inner.retained.check_nesting()?;
    let mut needed = Retained::default();
    needed.keep_all_of(&inner.retained);
    if let Ok(executable) = child.executable() {
        // Not locked any more when the other recording is: a launch may want both the other way round.
        let changes = executable.changes();
        if changes.memory_has_changed {
            // The recorded graph names memory objects that the buffer has let go.
            return Err(Error::unsupported("a nested command buffer whose memory objects were changed"));
        }
        needed.keep_recorded(&changes.launches, &changes.memory);
    }
    append.record_as(|graph, retained| {
        graph.child(inner.graph.raw())?;
        retained.take_all_of(needed);
        Ok(Kind::Fixed)
    })
}

/// Lets the function add to the buffer's own graph.
fn append_own<D: Driver>(append: Append<'_, D>, call: impl FnOnce() -> Result<()>) -> Result<()> {
    let buffer = append.buffer;
    let driver = buffer.state().driver;
    let before: HashSet<D::GraphNode> =
        driver.nodes(buffer.record()?.whole_graph(buffer.state())?.raw())?.into_iter().collect();
    call()?;
    let appended = append.record_as(|graph, _| {
        let native = graph.raw();
        let added: HashSet<D::GraphNode> =
            driver.nodes(native)?.into_iter().filter(|node| !before.contains(node)).collect();
        if added.is_empty() {
            return graph.empty().map(|()| Kind::Fixed);
        }
        let edges = driver.edges(native)?;
        let has_before: HashSet<_> = edges.iter().map(|(_, to)| to).collect();
        let has_after: HashSet<_> = edges.iter().map(|(from, _)| from).collect();
        let first = added.iter().filter(|node| !has_before.contains(node)).copied();
        let last = added.iter().filter(|node| !has_after.contains(node)).copied();
        graph.adopt(first.collect(), last.collect())?;
        Ok(Kind::Fixed)
    });
    // What the function has added stays, and nothing puts it behind the sync points. It is not taken out: of a function that appended
    // through UR, too, nobody knows which nodes those commands need.
    appended.inspect_err(|_| {
        let recording = buffer.recorded();
        let nodes = driver.nodes(recording.graph.raw());
        if !nodes.is_ok_and(|nodes| nodes.iter().all(|node| before.contains(node))) {
            recording.graph.note_damage();
        }
    })
}
