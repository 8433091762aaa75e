"""The CUDA stream behind a queue, for work that neither dpnp nor libsycl has a kernel for: cuBLAS's products, sums of our own.

Such work is submitted, not waited for. It must never leave the thread with another current context. What it costs on the host is time
that the device may stand idle, so nothing is asked twice: the stream of a queue and its context are looked up once.
"""

import ctypes
import os
import threading

import dpctl

_POINTER = ctypes.c_void_p
_MOST_QUEUES = 64
# More than dpnp's list of a queue's last events has places.
_MOST_OWN = 32
# In debug mode the adapter writes into what is freed, at once.
_FILLS = os.environ.get("UR_USM_POOL_DEBUG", "0") != "0"
_lock = threading.Lock()
_opened = None
# Of each queue the last events of such work by their keys. Later work there needs no wait for them; held, so that no other event comes
# to have one's key.
_own = {}
_own_lock = threading.Lock()


class _Driver:
    """CUDA's library and libsycl's way to a queue's stream."""

    def __init__(self):
        self.cuda = ctypes.CDLL(os.environ.get("UR_CUDA_LIBRARY") or "libcuda.so.1")
        for function in (self.cuda.cuCtxPushCurrent_v2, self.cuda.cuCtxPopCurrent_v2, self.cuda.cuStreamSynchronize):
            function.argtypes = (_POINTER,)
        self.native_of_queue = ctypes.CDLL("libsycl.so.9")._ZNK4sycl3_V15queue9getNativeERi
        self.native_of_queue.restype = ctypes.c_size_t
        self.queues = {}

    def stream(self, queue):
        """The CUDA stream of a queue and its context, or None. They stay: an entry holds its queue, as dpnp's order manager does."""
        found = self.queues.get(queue)
        if found is None:
            kind, context = ctypes.c_int32(), _POINTER()
            stream = self.native_of_queue(_POINTER(queue.addressof_ref()), ctypes.byref(kind))
            if self.cuda.cuStreamGetCtx(_POINTER(stream), ctypes.byref(context)) != 0:
                return None
            if len(self.queues) == _MOST_QUEUES:
                self.queues.clear()
            found = self.queues[queue] = stream, context.value
        return found


def driver():
    """The libraries, or None; they are looked for once."""
    global _opened
    if _opened is None:
        try:
            _opened = _Driver()
        except (OSError, AttributeError):
            _opened = False
    return _opened or None


def prepare(queue, act):
    """What `act` answers with the queue's context current; None where the queue has none. No lock is held: loading code waits for what
    runs."""
    opened = driver()
    native = opened.stream(queue)
    if native is None or opened.cuda.cuCtxPushCurrent_v2(native[1]) != 0:
        return None
    try:
        return act()
    finally:
        opened.cuda.cuCtxPopCurrent_v2(ctypes.byref(_POINTER()))


def submit(queue, put, depends):
    """Puts work on the queue's stream after those events: `put` is given stream and context, which is current, and answers whether it
    did. One thread at a time does that, so a stream's work lies together. Whether it was done; nothing was submitted else."""
    own = _own.get(queue, ())
    others = [event for event in depends if _key(event) not in own]
    if others:
        # Not by a barrier: libsycl holds one back whose events wait for a host task, and the work would be in front of it.
        dpctl.SyclEvent.wait_for(others)
    opened = driver()
    with _lock:
        native = opened.stream(queue)
        if native is None:
            return False
        stream, context = native
        if opened.cuda.cuCtxPushCurrent_v2(context) != 0:
            return False
        try:
            if not put(stream, context):
                return False
        finally:
            opened.cuda.cuCtxPopCurrent_v2(ctypes.byref(_POINTER()))
    # libsycl takes a barrier on a queue in order for its own last command, which this work is not. Other queues' work need not wait for
    # this, so the lock is given back before.
    return not queue.is_in_order or opened.cuda.cuStreamSynchronize(stream) == 0


def events(queue, arrays, depends):
    """The events of what keeps the arrays alive, and of the work that was submitted last.

    A barrier's event is on the queue's first stream, which is the one that the adapter hands out, so it comes after the work. It is
    given events that are over or of such work: without any, libsycl would let it wait for all host tasks of the queue.

    Memory that an array has allocated needs nobody who keeps it: once freed, the adapter uses it again behind all work that was
    enqueued before (and CUDA's own `cuMemFree` waits for that), but in debug mode. With a host task for each, submitting sums takes the
    host longer than they take the device.
    """
    done = queue.submit_barrier(depends or [dpctl.SyclEvent()])
    with _own_lock:
        own = _own.get(queue)
        if own is None:
            if len(_own) == _MOST_QUEUES:
                _own.clear()
            own = _own[queue] = {}
        elif len(own) == _MOST_OWN:
            del own[next(iter(own))]
        own[_key(done)] = done
    kept = [array for array in arrays if _FILLS or array.usm_data.reference_obj is not None]
    return queue._submit_keep_args_alive(kept, [done]) if kept else done, done


def _key(event):
    """What equal SYCL events have in common: a `sycl::event` is a shared pointer."""
    return _POINTER.from_address(event.addressof_ref()).value
