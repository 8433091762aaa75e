//! Streams, host functions on them, and waits for a word of memory.
//!
//! Nothing here waits for work but `synchronize_stream` and, in AMD's runtime, `destroy_stream`.

use core::ffi::{c_int, c_void};

use ur_adapter::driver::{StreamKind, Streams};
use ur_adapter::object::error::{Error, Result};

use super::Hip;
use crate::sys::{HipStream, Ordinal, flag};

impl Streams for Hip {
    type Stream = HipStream;

    fn create_stream(&self, kind: StreamKind) -> Result<HipStream> {
        let StreamKind { priority, follows_default } = kind;
        let mut stream = HipStream::default();
        // The range counts downwards, and 0 lies in it on every device.
        let native = if priority == 0 {
            0
        } else {
            let (mut least, mut greatest): (c_int, c_int) = (0, 0);
            // SAFETY: both outputs are live locals.
            self.check("hipDeviceGetStreamPriorityRange", unsafe {
                (self.symbols.device_priority_range)(&raw mut least, &raw mut greatest)
            })?;
            if priority < 0 { greatest } else { least }
        };
        let flags = if follows_default { 0 } else { flag::hipStreamNonBlocking };
        // SAFETY: the output is a live local.
        self.check("hipStreamCreateWithPriority", unsafe {
            (self.symbols.stream_create)(&raw mut stream, flags, native)
        })?;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: HipStream) -> Result<()> {
        // SAFETY: the handle was the stream's owner.
        self.check("hipStreamDestroy", unsafe { (self.symbols.stream_destroy)(stream) })
    }

    fn synchronize_stream(&self, stream: &HipStream) -> Result<()> {
        // SAFETY: the stream is borrowed, so it is alive.
        self.check("hipStreamSynchronize", unsafe { (self.symbols.stream_synchronize)(*stream) })
    }

    fn stream_is_idle(&self, stream: &HipStream) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the stream is alive.
        self.done("hipStreamQuery", unsafe { (self.symbols.stream_query)(*stream) })
    }

    fn stream_context(&self, stream: &HipStream) -> Result<Option<Ordinal>> {
        let Some(ask) = self.symbols.stream_device else { return Ok(None) };
        let mut device = Ordinal(0);
        // SAFETY: the output is a live local and the stream is alive.
        self.check("hipStreamGetDevice", unsafe { ask(*stream, &raw mut device) })?;
        Ok(Some(device))
    }

    unsafe fn launch_host_function(
        &self,
        stream: &HipStream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        let Some(launch) = self.symbols.launch_host_function else {
            return Err(Error::unsupported("a runtime without hipLaunchHostFunc"));
        };
        // SAFETY: the stream is alive and the caller vouches for the function.
        self.check("hipLaunchHostFunc", unsafe { launch(*stream, function, data) })
    }

    unsafe fn stream_wait_value(&self, stream: &HipStream, word: usize, value: u32) -> Result<()> {
        let Some(wait) = self.symbols.stream_wait_value else {
            return Err(Error::unsupported("a runtime without hipStreamWaitValue32"));
        };
        // SAFETY: the stream is alive and the caller vouches for the word.
        let status = unsafe { wait(*stream, word, value, flag::hipStreamWaitValueGte, u32::MAX) };
        self.check("hipStreamWaitValue32", status)
    }
}
