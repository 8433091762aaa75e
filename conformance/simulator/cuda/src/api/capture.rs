//! Stream capture.

use super::args::{Out, Slice};
use super::graph_node::check_edges;
use super::guard::{Rules, call};
use crate::graph::capture::{self, Mode};
use crate::graph::{GRAPHS, Graph};
use crate::stream;
use crate::sys::*;
use core::cell::RefCell;
use core::ffi::{c_int, c_uint};

fn begin(stream: Handle, mode: c_int) -> Result {
    let mode = Mode::of(mode)?;
    if matches!(stream, 0 | CU_STREAM_LEGACY) {
        return Err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    capture::begin(&stream::resolve(stream)?, mode, None)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> CUresult {
    call!(cuStreamBeginCapture_v2, { begin(stream, mode) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCaptureToGraph(
    stream: Handle,
    graph: Handle,
    after: Slice<Handle>,
    data: Slice<CUgraphEdgeData>,
    count: usize,
    mode: c_int,
) -> CUresult {
    call!(cuStreamBeginCaptureToGraph, {
        let mode = Mode::of(mode)?;
        let graph = Graph::lookup(graph)?;
        check_edges(&data, count)?;
        let after = after.read(count)?;
        capture::begin(&stream::resolve(stream)?, mode, Some((graph, after)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamEndCapture(stream: Handle, out: Out<Handle>) -> CUresult {
    call!(cuStreamEndCapture, {
        match capture::end(&stream::resolve(stream)?) {
            Ok(graph) => {
                if !out.is_wanted()
                    && let Some(graph) = GRAPHS.get(graph)
                {
                    graph.destroy();
                }
                out.put_if(graph);
                Ok(())
            }
            Err(error) => {
                if error != CUDA_ERROR_ILLEGAL_STATE {
                    out.put_if(0);
                }
                Err(error)
            }
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamIsCapturing(stream: Handle, status: Out<c_int>) -> CUresult {
    call!(cuStreamIsCapturing, {
        status.put(capture::info(&*stream::resolve(stream)?).map_or(0, |(status, ..)| status))
    })
}

thread_local! {
    /// The tail that was told last to this thread: it stays until the thread asks again.
    static TOLD: RefCell<(Vec<Handle>, Vec<CUgraphEdgeData>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

struct Info {
    status: Out<c_int>,
    id: Out<u64>,
    graph: Out<Handle>,
    tail: Out<*const Handle>,
    data: Option<Out<*const CUgraphEdgeData>>,
    count: Out<usize>,
}

fn info(stream: Handle, out: &Info) -> Result {
    out.status.required()?;
    let Some((status, id, graph, tail)) = capture::info(&*stream::resolve(stream)?) else { return out.status.put(0) };
    out.status.put(status)?;
    out.id.put_if(id);
    if status != 1 {
        return Ok(());
    }
    out.graph.put_if(graph);
    out.count.put_if(tail.len());
    TOLD.with(|told| {
        let mut told = told.borrow_mut();
        told.1 = vec![CUgraphEdgeData::default(); tail.len()];
        told.0 = tail;
        out.tail.put_if(told.0.as_ptr());
        if let Some(data) = &out.data {
            data.put_if(told.1.as_ptr());
        }
    });
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetCaptureInfo_v2(
    stream: Handle,
    status: Out<c_int>,
    id: Out<u64>,
    graph: Out<Handle>,
    tail: Out<*const Handle>,
    count: Out<usize>,
) -> CUresult {
    call!(cuStreamGetCaptureInfo_v2, { info(stream, &Info { status, id, graph, tail, data: None, count }) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetCaptureInfo_v3(
    stream: Handle,
    status: Out<c_int>,
    id: Out<u64>,
    graph: Out<Handle>,
    tail: Out<*const Handle>,
    data: Out<*const CUgraphEdgeData>,
    count: Out<usize>,
) -> CUresult {
    call!(cuStreamGetCaptureInfo_v3, { info(stream, &Info { status, id, graph, tail, data: Some(data), count }) })
}

const SET: c_uint = 1;

fn set_tail(stream: Handle, tail: &Slice<Handle>, count: usize, flags: c_uint) -> Result {
    if flags > SET {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    capture::set_tail(&*stream::resolve(stream)?, &tail.read(count)?, flags == SET)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamUpdateCaptureDependencies(
    stream: Handle,
    tail: Slice<Handle>,
    count: usize,
    flags: c_uint,
) -> CUresult {
    call!(cuStreamUpdateCaptureDependencies, { set_tail(stream, &tail, count, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamUpdateCaptureDependencies_v2(
    stream: Handle,
    tail: Slice<Handle>,
    data: Slice<CUgraphEdgeData>,
    count: usize,
    flags: c_uint,
) -> CUresult {
    call!(cuStreamUpdateCaptureDependencies_v2, {
        check_edges(&data, count)?;
        set_tail(stream, &tail, count, flags)
    })
}

/// Of a mode that there is not, the real driver says nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cuThreadExchangeStreamCaptureMode(mode: super::args::InOut<c_int>) -> CUresult {
    call!(cuThreadExchangeStreamCaptureMode, Rules::Usual, {
        let wanted = Mode::of(mode.get()?).unwrap_or(Mode::Global);
        mode.put(capture::exchange_mode(wanted) as c_int)
    })
}
