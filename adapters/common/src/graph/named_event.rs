//! The names that nodes have for events outside of their command buffer.
//!
//! A node knows its event by the one native event that it has, and would not see a signal that is kept behind a timeline: so there is
//! none while a node names the event. Must know neither nodes nor buffers.

use core::ops::Deref;
use std::sync::Arc;

use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::event::Event;

/// An event that nodes name. While anybody has this, no signal of the event is kept
/// ([`begin_export`](crate::stream::reusable::Reusable::begin_export)).
pub struct NamedEvent<D: Driver>(Arc<Object<Event<D>>>);

/// A name as nodes, launches on their way and buffers share it.
pub type Name<D> = Arc<NamedEvent<D>>;

impl<D: Driver> Deref for NamedEvent<D> {
    type Target = Object<Event<D>>;

    fn deref(&self) -> &Object<Event<D>> {
        &self.0
    }
}

impl<D: Driver> Drop for NamedEvent<D> {
    fn drop(&mut self) {
        if let Some(reusable) = self.0.as_reusable() {
            reusable.cancel_export();
        }
    }
}

/// Lets `work` have the one native event that a node can name for an event; gives the name with what came of it.
pub(super) fn name<D: Driver, R>(
    event: &Object<Event<D>>,
    work: impl FnOnce(&D::Event) -> Result<R>,
) -> Result<(Name<D>, R)> {
    if event.as_reusable().is_some_and(|reusable| !reusable.is_of_one_device()) {
        return Err(Error::unsupported(
            "an event of several devices or processes in a command buffer (wait for it with an enqueue before the launch)",
        ));
    }
    let native = event.native()?;
    let name = Arc::new(NamedEvent(event.to_arc()));
    let made = work(native.raw())?;
    Ok((name, made))
}
