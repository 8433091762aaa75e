//! What is current on the calling thread: the CUDA driver's context, the HIP runtime's device. Both are the application's;
//! a test puts them where it likes, works, and finds them there again. Works on real libraries and on simulated ones.

use core::ffi::c_int;
use core::ptr::null_mut;

use crate::native::{Cuda, Hip, NativeContext};

/// Where a test's thread is while it works on the first device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No context of CUDA's; HIP's last device, since HIP knows no nowhere.
    Nowhere,
    /// An own context of CUDA's on the first device; HIP's first device.
    FirstDevice,
    /// The same on the last device.
    LastDevice,
}

/// The calling thread's current context and device, chosen by a test; given up when it goes.
pub struct Current {
    cuda: Option<Cuda>,
    hip: Option<Hip>,
    context: NativeContext,
    device: c_int,
}

impl Current {
    /// Takes the calling thread there, in each library that the adapter has loaded. Must go before the fixture ends, on
    /// the same thread.
    #[must_use]
    pub fn at(place: Place) -> Self {
        let (cuda, hip) = (Cuda::loaded(), Hip::loaded());
        let context = match (&cuda, place) {
            (None, _) | (_, Place::Nowhere) => null_mut(),
            (Some(cuda), Place::FirstDevice) => cuda.create(0),
            (Some(cuda), Place::LastDevice) => cuda.create(cuda.device_count() - 1),
        };
        let device = match (&hip, place) {
            (None, _) | (_, Place::FirstDevice) => 0,
            (Some(hip), _) => hip.device_count() - 1,
        };
        let current = Self { cuda, hip, context, device };
        current.put_back();
        current
    }

    /// Whether there is anything to look at.
    #[must_use]
    pub fn is_seen(&self) -> bool {
        self.cuda.is_some() || self.hip.is_some()
    }

    /// Fails unless context and device are where the test put them.
    #[track_caller]
    pub fn expect_unchanged(&self, call: &str) {
        if let Some(cuda) = &self.cuda {
            assert_eq!(cuda.current(), self.context, "{call} changed the thread's current context");
        }
        if let Some(hip) = &self.hip {
            assert_eq!(hip.current(), self.device, "{call} changed the thread's current device");
        }
    }

    /// Works, and fails if that changed anything.
    #[track_caller]
    pub fn after<R>(&self, call: &str, work: impl FnOnce() -> R) -> R {
        let result = work();
        self.expect_unchanged(call);
        result
    }

    /// Takes the thread back, for tests that failed the very call which would have done so.
    pub fn put_back(&self) {
        if let Some(hip) = &self.hip {
            hip.set_current(self.device);
        }
        if let Some(cuda) = &self.cuda {
            cuda.set_current(self.context);
        }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        if let Some(hip) = &self.hip {
            hip.set_current(0);
        }
        if let Some(cuda) = &self.cuda {
            cuda.set_current(null_mut());
            if !self.context.is_null() {
                cuda.destroy(self.context);
            }
        }
    }
}
