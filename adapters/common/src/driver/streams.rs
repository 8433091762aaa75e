//! Streams, and what a stream does besides copies and kernels: host functions and waits for a word of memory.
//!
//! Manuals: CUDA Driver API, Stream Management, Execution Control (`cuLaunchHostFunc`) and Stream Memory Operations; HIP
//! runtime API, Stream Management and Stream Memory Operations. The order of commands is decided in [`crate::command`].

use core::ffi::c_void;

use super::{Contexts, Handle, unsupported};
use crate::object::error::Result;

/// What a stream is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamKind {
    /// -1 (high), 0 or 1 (low), clamped to the device's range.
    pub priority: i32,
    /// Whether it keeps an order with the library's default stream: each waits for what the other was given before.
    pub follows_default: bool,
}

/// Streams.
pub trait Streams: Contexts {
    /// `CUstream` / `hipStream_t`; the null handle is the library's default stream.
    type Stream: Handle;

    /// A stream. **Needs the context.** `cuStreamCreateWithPriority`, after `cuCtxGetStreamPriorityRange` for a priority.
    fn create_stream(&self, kind: StreamKind) -> Result<Self::Stream>;
    /// Ends a stream; work in flight still runs to its end, for which HIP waits ([`super::Driver::STREAM_ENDS_WAIT`]).
    /// `cuStreamDestroy`.
    fn destroy_stream(&self, stream: Self::Stream) -> Result<()>;
    /// Blocks until everything submitted so far has finished. `cuStreamSynchronize`.
    fn synchronize_stream(&self, stream: &Self::Stream) -> Result<()>;
    /// Whether everything submitted so far has finished. `cuStreamQuery`.
    fn stream_is_idle(&self, stream: &Self::Stream) -> Result<bool>;
    /// The context that a stream belongs to, `None` when the library cannot tell. `cuStreamGetCtx` /
    /// `hipStreamGetDevice`.
    fn stream_context(&self, _stream: &Self::Stream) -> Result<Option<Self::Context>> {
        Ok(None)
    }
    /// Calls `function` with `data` on a thread of the library's once everything submitted so far has finished; later
    /// work waits for its return. It is not called when the device is lost before. `cuLaunchHostFunc`.
    ///
    /// # Safety
    /// `function` may be called with `data` on any thread, makes no native call and does not unwind.
    unsafe fn launch_host_function(
        &self,
        stream: &Self::Stream,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()>;
    /// Later work of `stream` waits until the word is at least `value`. Beyond `i32::MAX` libraries differ in what that means, so
    /// neither is ever more. Only for devices with
    /// [`super::DeviceProperties::stream_value_waits`]. `cuStreamWaitValue32_v2(GEQ)` / `hipStreamWaitValue32`.
    ///
    /// # Safety
    /// `word` lies in host memory of [`super::Memory::allocate_host`], is a multiple of 4 and stays valid until the wait is
    /// over.
    unsafe fn stream_wait_value(&self, _stream: &Self::Stream, _word: usize, _value: u32) -> Result<()> {
        unsupported("a stream that waits for a word of memory")
    }
}
