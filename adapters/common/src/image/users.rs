//! The queues that may still have work with an image, which its end waits for.
//!
//! A queue is noted before a command with the image is put on it, since nobody may release the image in between unseen. Nothing
//! native tells of that command until it is on its stream, so until then its queue is not asked whether it has work: each
//! entry counts the commands that are on their way. Its lock is a leaf; streams are asked without it.

use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::driver::Driver;
use crate::object::Object;
use crate::queue::Queue;

/// Queues that are remembered before they are asked for the first time which of them still have work.
const REMEMBERED: usize = 8;

struct User<D: Driver> {
    queue: Arc<Object<Queue<D>>>,
    /// Commands that are on their way to it.
    coming: usize,
}

type List<D> = SmallVec<[User<D>; 2]>;

struct Remembered<D: Driver> {
    list: List<D>,
    /// So many are remembered before they are asked. Twice what was left the last time: else every command would ask all queues once
    /// more than a few are busy.
    most: usize,
}

impl<D: Driver> Remembered<D> {
    /// Takes entries out.
    fn take(&mut self, which: impl Fn(&User<D>) -> bool) -> List<D> {
        let mut taken = List::new();
        for index in (0..self.list.len()).rev() {
            if which(&self.list[index]) {
                taken.push(self.list.swap_remove(index));
            }
        }
        taken
    }
}

/// The queues of one image.
pub struct Users<D: Driver> {
    remembered: Mutex<Remembered<D>>,
}

impl<D: Driver> Default for Users<D> {
    fn default() -> Self {
        Self { remembered: Mutex::new(Remembered { list: List::new(), most: REMEMBERED }) }
    }
}

/// A command on its way to a queue, which is remembered as long as this lives. Dropped when the command is on its stream, or never
/// will be.
pub struct Coming<'a, D: Driver> {
    users: &'a Users<D>,
    queue: &'a Object<Queue<D>>,
}

impl<D: Driver> Users<D> {
    /// Notes a queue that is about to get work with the image. The caller may be inside a native call of that queue, and of no
    /// other.
    #[must_use]
    pub fn note_coming<'a>(&'a self, queue: &'a Object<Queue<D>>) -> Coming<'a, D> {
        if self.is_full_with(queue) {
            self.forget_idle();
        }
        Coming { users: self, queue }
    }

    /// Counts a command on its way to a queue; whether the queue is one too many to go on without a question.
    fn is_full_with(&self, queue: &Object<Queue<D>>) -> bool {
        let mut remembered = self.remembered.lock();
        if let Some(user) = remembered.list.iter_mut().find(|user| user.is(queue)) {
            user.coming += 1;
            return false;
        }
        let released = remembered.take(User::is_released);
        remembered.list.push(User { queue: queue.to_arc(), coming: 1 });
        let is_full = remembered.list.len() > remembered.most;
        drop(remembered);
        if !released.is_empty() {
            self.forget_finished(released);
        }
        is_full
    }

    /// Forgets of released queues those whose work is known to have finished. An image that is written by one that does not live long
    /// would keep that, and its stream from the next queue.
    #[cold]
    fn forget_finished(&self, released: List<D>) {
        let busy: List<D> = released.into_iter().filter(|user| !user.is_known_idle()).collect();
        if !busy.is_empty() {
            self.remembered.lock().list.extend(busy);
        }
    }

    /// Forgets queues that have no work. Asking takes other locks, so this list's is not held.
    #[cold]
    fn forget_idle(&self) {
        let asked = self.remembered.lock().take(|user| user.coming == 0);
        let busy: List<D> = asked.into_iter().filter(User::is_busy).collect();
        let Remembered { list, most } = &mut *self.remembered.lock();
        list.extend(busy);
        *most = REMEMBERED.max(2 * list.len());
    }

    /// Takes them out, for the end of the image, to which no command is on its way.
    pub fn take(&mut self) -> impl Iterator<Item = Arc<Object<Queue<D>>>> + use<D> {
        core::mem::take(&mut self.remembered.get_mut().list).into_iter().map(|user| user.queue)
    }
}

impl<D: Driver> User<D> {
    fn is(&self, queue: &Object<Queue<D>>) -> bool {
        core::ptr::eq(&raw const *self.queue, queue)
    }

    /// Whether nobody puts anything on the queue any more.
    fn is_released(&self) -> bool {
        self.coming == 0 && self.queue.references() == 0 && !self.queue.is_deferring()
    }

    /// Whether the work of a released queue is known to have finished: nothing native is asked, and there is nobody whose commands
    /// are not told yet.
    fn is_known_idle(&self) -> bool {
        self.queue.streams().iter().all(|stream| stream.is_known_idle())
    }

    /// What a thread has put on a stream it tells before it unlocks the stream, and not before, so the lock is passed first.
    fn is_busy(&self) -> bool {
        self.queue.streams().iter().any(|stream| !stream.pass() || !stream.runs_nothing().unwrap_or(false))
    }
}

impl<D: Driver> Drop for Coming<'_, D> {
    fn drop(&mut self) {
        let mut remembered = self.users.remembered.lock();
        // Where a queue has two entries, only those with commands on their way count them.
        if let Some(user) = remembered.list.iter_mut().find(|user| user.coming > 0 && user.is(self.queue)) {
            user.coming -= 1;
        }
    }
}
