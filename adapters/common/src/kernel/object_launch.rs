//! A launch that is given memory objects or samplers: contents are brought to the queue's device first, and what the kernel
//! may write is current nowhere else afterwards.
//!
//! What stands for an image or a sampler on a device is known at the enqueue and stays; a buffer's address is told when the
//! launch is put on its stream. So a deferred launch ([`OwnedObjectLaunch`]) has a copy of all values, of which the addresses
//! are still to be set, and keeps the objects.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::buffer::command::Work;
use crate::buffer::storage::LockedBuffers;
use crate::context::DeviceState;
use crate::driver::Driver;
use crate::image::argument::ImageArguments;
use crate::kernel::argument_list::ArgumentList;
use crate::kernel::careful_launch::{CarefulLaunch, LaunchOf};
use crate::kernel::owned_launch::OwnedLaunch;
use crate::memory_object::arguments::{ObjectArguments, OwnedImages};
use crate::object::error::Result;
use crate::stream::capture::{Capture, Retained};

/// The launch.
pub(super) struct ObjectLaunch<'a, 'l, 'o, D: Driver> {
    pub launch: LaunchOf<'a, D>,
    pub list: &'a mut ArgumentList<'l>,
    pub objects: &'o ObjectArguments<'a, D>,
}

/// Launches where contents have to be there first. In a capture nothing runs, so images are seen to when the graph is launched.
fn with_images<D: Driver>(
    images: &ImageArguments<'_, D>,
    stream: &D::Stream,
    locked: &LockedBuffers<'_, '_, '_, D>,
    launch: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if locked.is_captured() {
        return launch();
    }
    images.make_current(stream)?;
    launch()?;
    images.note_writes();
    Ok(())
}

impl<D: Driver> Work<D> for ObjectLaunch<'_, '_, '_, D> {
    type Owned = OwnedObjectLaunch<D>;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        let indices = &self.objects.indices;
        for (access, index) in indices.iter().enumerate() {
            self.list.set_value(*index, locked.prepare(access)?.address());
        }
        let launch = self.launch.with(self.list);
        with_images(&self.objects.images, stream, locked, || launch.launch(driver, stream))?;
        locked.commit_all()
    }

    fn into_owned(self) -> OwnedObjectLaunch<D> {
        let launch: CarefulLaunch<'_, D> = self.launch.with(self.list);
        OwnedObjectLaunch {
            launch: launch.to_owned(),
            indices: self.objects.indices.clone(),
            images: self.objects.owned_images(),
        }
    }

    fn keep(&self, capture: &Capture<D>, device: &Arc<DeviceState<D>>) -> Result<()> {
        capture.keep(Arc::clone(self.launch.module) as Retained);
        self.objects.keep_images(capture, device)
    }
}

/// The same, deferred.
pub(super) struct OwnedObjectLaunch<D: Driver> {
    launch: OwnedLaunch<D>,
    /// Which arguments are buffers.
    indices: SmallVec<[usize; 4]>,
    images: OwnedImages<D>,
}

impl<D: Driver> Work<D> for OwnedObjectLaunch<D> {
    type Owned = Self;

    fn put_on(&mut self, _: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        for (access, index) in self.indices.iter().enumerate() {
            self.launch.values.set(*index, locked.prepare(access)?.address());
        }
        let launch = || self.launch.launch(locked.device(), stream);
        match locked.queue().filter(|_| !self.images.is_empty()) {
            Some(queue) => with_images(&self.images.on(queue)?, stream, locked, launch)?,
            None => launch()?,
        }
        locked.commit_all()
    }

    fn into_owned(self) -> Self {
        self
    }

    /// Contents of images move under their lock.
    fn may_block(&self) -> bool {
        !self.images.is_empty()
    }
}
