//! Events that nodes named once and name no more, while launches that used them may be on their way.
//!
//! Launches of one executable graph run one after the other, on whichever streams. So all that came before a launch has
//! finished when that launch has, and one native event behind the first launch after a change lets go of all that the change
//! replaced. It costs a record for each change of events that is launched, and graphs without such changes nothing.

use std::collections::VecDeque;

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::graph::named_event::Name;

type Events<D> = Vec<Name<D>>;

/// The events.
pub struct RetiredEvents<D: Driver> {
    /// Those that no launch came after yet.
    recent: Events<D>,
    /// Those before a launch, with what says that it has finished; the oldest first.
    marked: VecDeque<(PooledEvent<D>, Events<D>)>,
}

impl<D: Driver> Default for RetiredEvents<D> {
    fn default() -> Self {
        Self { recent: Vec::new(), marked: VecDeque::new() }
    }
}

impl<D: Driver> RetiredEvents<D> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.marked.is_empty()
    }

    /// Keeps an event that launches before the next one use.
    pub fn add(&mut self, event: Name<D>) {
        self.recent.push(event);
    }

    /// Whether the next launch has to be followed by a native event.
    pub fn want_marker(&self) -> bool {
        !self.recent.is_empty()
    }

    /// Takes the native event behind the launch that all of them are before.
    pub fn mark(&mut self, marker: PooledEvent<D>) {
        self.marked.push_back((marker, core::mem::take(&mut self.recent)));
    }

    /// Moves those to `gone` that nothing uses any more.
    pub fn let_go(&mut self, driver: &D, gone: &mut Events<D>) {
        while let Some((marker, _)) = self.marked.front()
            // Of a lost device there is no answer; the events then go with the graph.
            && driver.event_is_complete(marker.raw()).unwrap_or(false)
        {
            gone.extend(self.marked.pop_front().into_iter().flat_map(|(_, events)| events));
        }
    }
}
