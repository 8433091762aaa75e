//! A launch of a finalised graph that can be changed, and its node.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::driver::Driver;
use crate::graph::recorded_kernel::{NativeForm, RecordedKernel};
use crate::kernel::Kernel;
use crate::object::Object;
use crate::object::error::Result;

/// A kernel's launch that can be changed.
pub struct ChangeableLaunch<D: Driver> {
    node: D::GraphNode,
    /// The kernel that it was appended with.
    pub first: Arc<Object<Kernel<D>>>,
    /// Kernels that it can launch instead.
    pub alternatives: SmallVec<[Arc<Object<Kernel<D>>>; 1]>,
    /// What later launches of the graph do.
    pub recorded: RecordedKernel<D>,
    /// The same for the native library; none if there is nothing to do.
    pub form: Option<NativeForm<D>>,
    /// Whether the node does anything, as the native library has it.
    is_enabled: bool,
    /// Whether the native library was not told what it is now.
    pub(super) is_pending: bool,
    /// Whether the change that is under way has all of it saved.
    pub is_saved: bool,
}

impl<D: Driver> ChangeableLaunch<D> {
    /// A launch with its node, which does as `form` says, or is about to be switched off.
    pub fn new(
        node: D::GraphNode,
        recorded: RecordedKernel<D>,
        form: Option<NativeForm<D>>,
        alternatives: SmallVec<[Arc<Object<Kernel<D>>>; 1]>,
    ) -> Self {
        let (first, is_enabled) = (Arc::clone(&recorded.kernel), form.is_some());
        Self { node, first, alternatives, recorded, form, is_enabled, is_pending: false, is_saved: false }
    }

    /// The native node.
    pub(super) fn node(&self) -> D::GraphNode {
        self.node
    }

    /// Switches the node off if it has nothing to do, before the first launch.
    pub(super) fn switch_off(&self, driver: &D, exec: &D::GraphExec) -> Result<()> {
        if self.is_enabled { Ok(()) } else { driver.enable_node(exec, self.node, false) }
    }

    /// Tells the native library what it is now, for `node`.
    #[inline]
    pub(super) fn tell(
        &mut self,
        driver: &D,
        exec: &D::GraphExec,
        node: D::GraphNode,
        context: &D::Context,
    ) -> Result<()> {
        if let Some(form) = &self.form {
            // SAFETY: the list is as `NodeLaunch` says; addresses in it are valid for later launches by the application's
            // promise. The node is one of a kernel of the graph that was instantiated.
            self.recorded.with_native(form, |launch| unsafe {
                driver.set_kernel(exec, node, &launch.node, launch.arguments, context)
            })?;
        }
        let is_enabled = self.form.is_some();
        if is_enabled != self.is_enabled {
            driver.enable_node(exec, node, is_enabled)?;
            self.is_enabled = is_enabled;
        }
        Ok(())
    }
}
