//! An image: one native array for each device of the context that uses it, made at first need, and which of them
//! hold the contents.
//!
//! A command that uses the image on a device calls [`Image::make_current`] on its own stream: contents that another device
//! (or the memory given at creation) has are copied over there, ordered like the command itself; a command that
//! changes the image calls [`Image::note_write`] when it is on the stream. Both hold for commands that the application
//! ordered; nothing here orders two commands for it. Must never touch the host's memory after creation, and never
//! lock two images at once.

use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use ur_ffi::ur_image_format_t;

use crate::context::{Context, DeviceState};
use crate::device::deferred;
use crate::device::event_pool::PooledEvent;
use crate::device::relief::reclaiming;
use crate::driver::Driver;
use crate::driver::images::{Array, Sampling, Surface, Texture};
use crate::image::command_box::{self, CommandArray, CommandBox};
use crate::image::contents::Contents;
use crate::image::format::{Extents, Pixel, Region};
use crate::image::users::{Coming, Users};
use crate::object::Object;
use crate::object::error::Result;
use crate::queue::Queue;
use crate::stream::staging::UsedStaging;

/// An image with its native arrays.
pub struct Image<D: Driver> {
    /// The context it was made in.
    pub context: Arc<Object<Context<D>>>,
    /// The format as the application gave it.
    pub format: ur_image_format_t,
    /// What an element is.
    pub pixel: Pixel,
    /// Its extents.
    pub extents: Extents,
    /// Memory that copies between its layers have used; most images have no such copy.
    staging: OnceLock<Arc<UsedStaging<D>>>,
    copies: Mutex<Copies<D>>,
    users: Users<D>,
}

/// Where the contents are.
struct Copies<D: Driver> {
    /// Contents given at creation that no array has yet.
    initial: Option<Contents<D>>,
    devices: SmallVec<[DeviceCopy<D>; 1]>,
}

/// The image on one device.
struct DeviceCopy<D: Driver> {
    state: Arc<DeviceState<D>>,
    array: Array,
    owned: bool,
    surface: Option<Surface>,
    textures: SmallVec<[(Sampling, Texture); 1]>,
    /// Whether the array has the contents, or will when what is on the streams has run.
    valid: bool,
    /// While that may lie ahead, when the contents arrive.
    arriving: Option<Arrival<D>>,
}

/// Contents on their way to a device.
struct Arrival<D: Driver> {
    marker: PooledEvent<D>,
    /// What the image was created with, which must stay until then if it is, or was before, what comes here.
    initial: Option<Contents<D>>,
}

impl<D: Driver> Image<D> {
    /// An image without contents, or with these.
    pub fn new(
        context: Arc<Object<Context<D>>>,
        format: ur_image_format_t,
        pixel: Pixel,
        extents: Extents,
        initial: Option<Contents<D>>,
    ) -> Self {
        let (copies, staging) = (Copies { initial, devices: SmallVec::new() }, OnceLock::new());
        Self { context, format, pixel, extents, staging, copies: Mutex::new(copies), users: Users::default() }
    }

    /// Memory for copies between its layers.
    pub fn staging(&self) -> &Arc<UsedStaging<D>> {
        self.staging.get_or_init(UsedStaging::listed)
    }

    /// Makes the array of a device now, so that a failure is the creation's.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn prepare(&self, state: &Arc<DeviceState<D>>) -> Result<()> {
        reclaiming(&state.device, || self.with(state, |_, _| Ok(())))
    }

    /// Takes over an array that exists and has contents; `owned` ones go with the image.
    pub fn adopt(&self, state: Arc<DeviceState<D>>, array: Array, owned: bool) {
        let textures = SmallVec::new();
        let copy = DeviceCopy { state, array, owned, surface: None, textures, valid: true, arriving: None };
        self.copies.lock().devices.push(copy);
    }

    /// Handle value of the array on a device, which alone is current then: whoever gets it may write there unseen. Blocks until the
    /// contents are there.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn native(&self, state: &Arc<DeviceState<D>>) -> Result<usize> {
        self.prepare(state)?;
        state.native.on_scratch_stream(|stream| {
            self.make_current(state, stream, None)?;
            state.driver.synchronize_stream(stream)
        })?;
        self.note_write(state);
        self.with(state, |copies, index| Ok(copies.devices[index].array.value()))
    }

    /// The object by which kernels on a device read and write the image; its array there is made first, if there is none. Where
    /// there is none, called without any lock.
    ///
    /// # Errors
    /// What the native library answers when one has to be made.
    pub fn surface(&self, state: &Arc<DeviceState<D>>) -> Result<u64> {
        let surface = || {
            self.with(state, |copies, index| {
                let copy = &mut copies.devices[index];
                if let Some(surface) = &copy.surface {
                    return Ok(surface.value());
                }
                let _scope = state.enter()?;
                Ok(copy.surface.insert(state.driver.create_surface(&copy.array)?).value())
            })
        };
        reclaiming(&state.device, surface)
    }

    /// The object by which kernels on a device sample the image.
    ///
    /// # Errors
    /// What the native library answers when it has to be made.
    pub fn texture(&self, state: &Arc<DeviceState<D>>, sampling: &Sampling) -> Result<u64> {
        self.with(state, |copies, index| {
            let copy = &mut copies.devices[index];
            if let Some((_, texture)) = copy.textures.iter().find(|(made, _)| made == sampling) {
                return Ok(texture.value());
            }
            let _scope = state.enter()?;
            let texture = state.driver.create_texture(&copy.array, sampling)?;
            let value = texture.value();
            copy.textures.push((*sampling, texture));
            Ok(value)
        })
    }

    /// Sees to it that there is an array on the device of a queue that is about to get work with the image, and that the image
    /// does not go before that work has ended, if what this gives lives until the work is on its stream. Where there is no array
    /// yet, called without any lock.
    ///
    /// # Errors
    /// What the native library answers when the array has to be made and cannot.
    pub fn prepare_for<'a>(&'a self, queue: &'a Object<Queue<D>>) -> Result<Coming<'a, D>> {
        self.prepare(&queue.device)?;
        Ok(self.users.note_coming(queue))
    }

    /// Orders the image's contents on a device before what comes next on the stream; copies them there if another
    /// device has them. A command that changes all of `region` needs no contents where that is the whole image.
    ///
    /// # Errors
    /// What the native library answers; the image is then where it was.
    pub fn make_current(
        &self,
        state: &Arc<DeviceState<D>>,
        stream: &D::Stream,
        replaced: Option<&Region>,
    ) -> Result<CommandArray> {
        let overwritten = replaced.is_some_and(|region| *region == Region::whole(&self.extents));
        self.with(state, |copies, index| {
            if !copies.devices[index].valid && !overwritten {
                self.fetch(copies, index, stream)?;
            }
            copies.devices[index].await_arrival(stream)?;
            Ok(CommandArray::new(&copies.devices[index].array, self.extents, self.pixel))
        })
    }

    /// Notes that a device's array has the contents now, and no other.
    pub fn note_write(&self, state: &Arc<DeviceState<D>>) {
        let mut copies = self.copies.lock();
        copies.initial = None;
        for copy in &mut copies.devices {
            copy.valid = Arc::ptr_eq(&copy.state, state);
        }
    }

    /// Runs `work` with the copy of a device, made first if there is none.
    fn with<R>(&self, state: &Arc<DeviceState<D>>, work: impl FnOnce(&mut Copies<D>, usize) -> Result<R>) -> Result<R> {
        let mut copies = self.copies.lock();
        let index = self.index(&mut copies, state)?;
        work(&mut copies, index)
    }

    fn index(&self, copies: &mut MutexGuard<'_, Copies<D>>, state: &Arc<DeviceState<D>>) -> Result<usize> {
        if let Some(index) = copies.devices.iter().position(|copy| Arc::ptr_eq(&copy.state, state)) {
            return Ok(index);
        }
        let array = {
            let _scope = state.enter()?;
            state.driver.create_array(&self.extents.array(&self.pixel))?
        };
        let (state, textures) = (Arc::clone(state), SmallVec::new());
        let copy = DeviceCopy { state, array, owned: true, surface: None, textures, valid: false, arriving: None };
        copies.devices.push(copy);
        Ok(copies.devices.len() - 1)
    }

    /// Copies the contents to a device that lacks them, if there are any.
    fn fetch(&self, copies: &mut Copies<D>, index: usize, stream: &D::Stream) -> Result<()> {
        let [width, height, depth] = self.extents.size;
        let whole =
            |array: &Array| CommandArray::new(array, self.extents, self.pixel).part(&Region::whole(&self.extents));
        let (from, other) = if let Some(contents) = &copies.initial {
            // They stay with the marker until they are copied.
            (CommandBox::of_contents(contents, [width * self.pixel.bytes(), height, depth]), None)
        } else if let Some(other) = copies.devices.iter().position(|copy| copy.valid) {
            (whole(&copies.devices[other].array), Some(other))
        } else {
            // The image was never written.
            return Ok(());
        };
        if let Some(other) = other {
            copies.devices[other].await_arrival(stream)?;
        }
        // Of a command that failed behind its copy the application has no event, so nothing else orders that copy before this one.
        copies.devices[index].await_arrival(stream)?;
        let copy = &mut copies.devices[index];
        {
            let _scope = copy.state.enter_for_transfer()?;
            command_box::copy(copy.state.driver, stream, whole(&copy.array), from)?;
        }
        let marker = PooledEvent::record(&copy.state, stream, false);
        let Ok(marker) = marker else {
            // The copy is on the stream but nobody can be told when it is over: wait for it here.
            let waited = copy.state.driver.synchronize_stream(stream);
            copy.valid = waited.is_ok();
            return waited;
        };
        copy.valid = true;
        // Those of an arrival that lies ahead still are copied before these are.
        let initial = copies.initial.take().or_else(|| copy.arriving.take()?.initial);
        copy.arriving = Some(Arrival { marker, initial });
        Ok(())
    }
}

impl<D: Driver> DeviceCopy<D> {
    /// Lets a stream wait for contents that are on their way.
    fn await_arrival(&mut self, stream: &D::Stream) -> Result<()> {
        let Some(Arrival { marker, .. }) = &self.arriving else { return Ok(()) };
        if self.state.driver.event_is_complete(marker.raw())? {
            self.arriving = None;
            return Ok(());
        }
        self.state.driver.stream_wait(stream, marker.raw())
    }

    /// Gives the native objects back. Nobody is left to tell of a failure.
    fn destroy(self) {
        let driver = self.state.driver;
        // Without the device's scope they are left alone: in another scope their numbers may name other objects.
        if let Ok(_scope) = self.state.enter() {
            for (_, texture) in self.textures {
                let _ = driver.destroy_texture(texture);
            }
            if let Some(surface) = self.surface {
                let _ = driver.destroy_surface(surface);
            }
        }
        if self.owned {
            let _ = driver.destroy_array(self.array);
        }
    }
}

impl<D: Driver> Drop for Image<D> {
    /// Waits for the queues that may still use the arrays: nothing native says that destroying one does. One of them may
    /// be waiting for the host task that this is in, so it is done where waiting is allowed.
    fn drop(&mut self) {
        let users: SmallVec<[_; 2]> = self.users.take().collect();
        let devices = core::mem::take(&mut self.copies.get_mut().devices);
        deferred::wait(move || {
            for stream in users.iter().flat_map(|queue| queue.streams()) {
                let _ = stream.wait_until_reached();
            }
            drop(users);
            // Destroying an array waits for the whole device.
            deferred::run(move || devices.into_iter().for_each(DeviceCopy::destroy));
        });
    }
}
