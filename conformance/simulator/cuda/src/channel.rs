//! Hardware channels: where a device has fewer than it has streams, streams share them.
//!
//! What was submitted to the streams of a channel is begun in the order of its submission, whichever stream it is for: a wait
//! that is not over yet holds up everything behind it in the channel, and so does a command that has to wait for the one before
//! it on its own stream. So what a wait waits for must not be submitted to the same channel behind it
//! (`docs/probes/channels.c`). Work that has begun holds up nobody, and neither do records of events.

use crate::device;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;

/// By device and number.
static CHANNELS: Mutex<BTreeMap<(usize, u64), Arc<Channel>>> = Mutex::new(BTreeMap::new());

/// One channel.
#[derive(Default)]
pub struct Channel {
    order: Mutex<Order>,
    turn: Condvar,
}

#[derive(Default)]
struct Order {
    taken: u64,
    begun: u64,
}

/// The channel of a stream. None before the library is initialised, when there is no stream.
pub fn of(device: usize, stream: u64) -> Option<Arc<Channel>> {
    let channels = device::config()?.channels;
    Some(CHANNELS.lock().entry((device, stream % channels)).or_default().clone())
}

impl Channel {
    /// The next place.
    pub fn take_ticket(self: &Arc<Self>) -> Ticket {
        let mut order = self.order.lock();
        order.taken += 1;
        Ticket { channel: self.clone(), place: order.taken, is_held: true }
    }

    /// Whether all that was submitted to it has begun, so that what comes now begins at once.
    pub fn is_clear(&self) -> bool {
        let order = self.order.lock();
        order.begun == order.taken
    }

    fn pass(&self, place: u64) {
        let mut order = self.order.lock();
        while order.begun + 1 < place {
            self.turn.wait(&mut order);
        }
        order.begun = place;
        self.turn.notify_all();
    }
}

/// A command's place in a channel. Dropped, it holds up nobody any more.
pub struct Ticket {
    channel: Arc<Channel>,
    place: u64,
    is_held: bool,
}

impl Ticket {
    /// Waits until everything before it has begun; until it is dropped it holds up what is behind it if it `holds`.
    pub fn wait_for_turn(mut self, holds: bool) -> Self {
        let mut order = self.channel.order.lock();
        while order.begun + 1 < self.place {
            self.channel.turn.wait(&mut order);
        }
        drop(order);
        if !holds {
            self.pass();
        }
        self
    }

    fn pass(&mut self) {
        if std::mem::take(&mut self.is_held) {
            self.channel.pass(self.place);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pass();
    }
}
