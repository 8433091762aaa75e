//! Streams, host functions on them, and waits for a word of memory.
//!
//! Nothing here waits for work but `synchronize_stream`.

use core::ffi::{c_int, c_void};

use ur_adapter::driver::{StreamKind, Streams};
use ur_adapter::object::error::{Error, Result};

use super::Cuda;
use crate::sys::{self, CUcontext, CUstream};

impl Streams for Cuda {
    type Stream = CUstream;

    fn create_stream(&self, kind: StreamKind) -> Result<CUstream> {
        let StreamKind { priority, follows_default } = kind;
        // The range counts downwards, and 0 lies in it on every device.
        let (mut least, mut greatest): (c_int, c_int) = (0, 0);
        if priority != 0 {
            // SAFETY: both outputs are live locals.
            self.check("cuCtxGetStreamPriorityRange", unsafe {
                (self.symbols.context_priority_range)(&raw mut least, &raw mut greatest)
            })?;
        }
        let native = match priority {
            ..0 => greatest,
            0 => 0,
            1.. => least,
        };
        let mut stream = CUstream::default();
        let flags = if follows_default { 0 } else { sys::STREAM_NON_BLOCKING };
        // SAFETY: the output is a live local.
        self.check("cuStreamCreateWithPriority", unsafe {
            (self.symbols.stream_create)(&raw mut stream, flags, native)
        })?;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: CUstream) -> Result<()> {
        // SAFETY: the handle was the stream's owner.
        self.check("cuStreamDestroy", unsafe { (self.symbols.stream_destroy)(stream) })
    }

    fn synchronize_stream(&self, stream: &CUstream) -> Result<()> {
        // SAFETY: the stream is borrowed, so it is alive.
        self.check("cuStreamSynchronize", unsafe { (self.symbols.stream_synchronize)(*stream) })
    }

    fn stream_is_idle(&self, stream: &CUstream) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the stream is alive.
        self.done("cuStreamQuery", unsafe { (self.symbols.stream_query)(*stream) })
    }

    fn stream_context(&self, stream: &CUstream) -> Result<Option<CUcontext>> {
        let mut context = CUcontext::default();
        // SAFETY: the output is a live local and the stream is borrowed.
        self.check("cuStreamGetCtx", unsafe { (self.symbols.stream_context)(*stream, &raw mut context) })?;
        Ok(Some(context))
    }

    unsafe fn launch_host_function(
        &self,
        stream: &CUstream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the stream is borrowed and the caller vouches for the function.
        self.check("cuLaunchHostFunc", unsafe { (self.symbols.launch_host_function)(*stream, function, data) })
    }

    unsafe fn stream_wait_value(&self, stream: &CUstream, word: usize, value: u32) -> Result<()> {
        let Some(wait) = self.symbols.stream_wait_value else {
            return Err(Error::unsupported("a driver without cuStreamWaitValue32_v2"));
        };
        // SAFETY: the stream is alive and the caller vouches for the word.
        self.check("cuStreamWaitValue32", unsafe { wait(*stream, word, value, sys::WAIT_VALUE_AT_LEAST) })
    }
}
