"""The CUDA stream behind a queue, for work that neither dpnp nor libsycl has a kernel for: cuBLAS's products, sums of our own.

Such work is submitted, not waited for. It must never leave the thread with another current context, nor hold a lock over a native call:
a launch waits where its stream is full, and what others do may be what it waits for. What it costs on the host is time that the device may
stand idle, so nothing is asked twice: the stream of a queue and its context are looked up once.
"""

import ctypes
import itertools
import os
import threading

import dpctl

POINTER = ctypes.c_void_p
_MOST_QUEUES = 64
# So many events of a queue's own work are held before those that are over go.
_ENOUGH_OWN = 32
# So many of the oldest are asked when another one comes: more than one, so that they become fewer.
_LOOKED_AT = 2
# In debug mode the adapter writes into what is freed, at once.
_FILLS = os.environ.get("UR_USM_POOL_DEBUG", "0") != "0"
_MOST_ARGUMENTS = 8
# Those that no thread's launch uses now.
_places = []
_opened = None
_own_lock = threading.Lock()


class PerQueue:
    """What is made for each queue that comes, by `make`, which answers None if it cannot; all goes when there are many, once `clear` has
    seen the queues. An entry holds its queue, as dpnp's order manager does."""

    def __init__(self, make, clear=lambda queues: None):
        self._make, self._clear, self._made = make, clear, {}

    def get(self, queue):
        found = self._made.get(queue)
        if found is None:
            found = self._make(queue)
            if found is None:
                return None
            if len(self._made) >= _MOST_QUEUES:
                self._clear(list(self._made))
                self._made.clear()
            # Of two threads one has made what nobody uses.
            found = self._made.setdefault(queue, found)
        return found


# Of each queue the events of such work by their keys, the last ones and all that are not over. Later work there needs no wait for them;
# held, so that no other event comes to have one's key.
_own = PerQueue(lambda queue: {})
# An event that is over.
_OVER = dpctl.SyclEvent()


class _Driver:
    """CUDA's library and libsycl's way to a queue's stream."""

    def __init__(self):
        self.cuda = ctypes.CDLL(os.environ.get("UR_CUDA_LIBRARY") or "libcuda.so.1")
        for function in (self.cuda.cuCtxPushCurrent_v2, self.cuda.cuCtxPopCurrent_v2, self.cuda.cuStreamSynchronize):
            function.argtypes = (POINTER,)
        self.cuda.cuLaunchKernel.argtypes = (POINTER, *[ctypes.c_uint] * 7, *[POINTER] * 3)
        self.native_of_queue = ctypes.CDLL("libsycl.so.9")._ZNK4sycl3_V15queue9getNativeERi
        self.native_of_queue.restype = ctypes.c_size_t
        # The CUDA stream of a queue and its context. They stay as long as the queue.
        self.stream = PerQueue(self._stream).get

    def _stream(self, queue):
        kind, context = ctypes.c_int32(), POINTER()
        stream = self.native_of_queue(POINTER(queue.addressof_ref()), ctypes.byref(kind))
        if self.cuda.cuStreamGetCtx(POINTER(stream), ctypes.byref(context)) != 0:
            return None
        return stream, context.value


def driver():
    """The libraries, or None; they are looked for once."""
    global _opened
    if _opened is None:
        try:
            _opened = _Driver()
        except (OSError, AttributeError):
            _opened = False
    return _opened or None


def in_context(native, act):
    """What `act` answers, given a queue's stream and its context, which is current meanwhile; None where there are none."""
    cuda = driver().cuda
    if native is None or cuda.cuCtxPushCurrent_v2(native[1]) != 0:
        return None
    try:
        return act(*native)
    finally:
        cuda.cuCtxPopCurrent_v2(ctypes.byref(POINTER()))


def submit(queue, memories, put, depends, needs_context=True):
    """Puts work on the queue's stream after those events: `put` is given stream and context, which is current if that is needed, and
    answers whether it did. Other threads' work may come between what it puts there. The events of what keeps the memory alive and of the
    work, or None if nothing was submitted."""
    own = _own.get(queue)
    others = [event for event in depends if _key(event) not in own]
    if others:
        # Not by a barrier: libsycl holds one back whose events wait for a host task, and the work would be in front of it.
        dpctl.SyclEvent.wait_for(others)
    native = driver().stream(queue)
    if not (in_context(native, put) if needs_context else native and put(*native)):
        return None
    # libsycl takes a barrier on a queue in order for its own last command, which this work is not.
    if queue.is_in_order and driver().cuda.cuStreamSynchronize(native[0]) != 0:
        return None
    return _events(queue, own, memories, depends)


class _Places:
    """Where a launch's arguments lie."""

    def __init__(self):
        self.values = (ctypes.c_uint64 * _MOST_ARGUMENTS)()
        first, step = ctypes.addressof(self.values), ctypes.sizeof(ctypes.c_uint64)
        self.addresses = (POINTER * _MOST_ARGUMENTS)(*range(first, first + _MOST_ARGUMENTS * step, step))


def launch(queue, memories, function, groups, threads, arguments, depends):
    """As `submit`, a launch of work-groups of threads with arguments of 8 bytes each. The driver takes it whatever context is current."""
    try:
        places = _places.pop()
    except IndexError:
        places = _Places()
    places.values[: len(arguments)] = arguments
    call = driver().cuda.cuLaunchKernel

    def put(stream, context):
        return call(function, groups, 1, 1, threads, 1, 1, 0, stream, places.addresses, None) == 0

    try:
        return submit(queue, memories, put, depends, needs_context=False)
    finally:
        _places.append(places)


def _events(queue, own, memories, depends):
    """The events of what keeps the memory alive, and of the work that was submitted last.

    A barrier's event is on the queue's first stream, which is the one that the adapter hands out, so it comes after the work. It is
    given events that are over or of such work: without any, libsycl would let it wait for all host tasks of the queue.

    Memory that an array has allocated needs nobody who keeps it: once freed, the adapter uses it again behind all work that was
    enqueued before (and CUDA's own `cuMemFree` waits for that), but in debug mode. With a host task for each, submitting sums takes the
    host longer than they take the device.
    """
    done = queue.submit_barrier(depends or [_OVER])
    if len(own) >= _ENOUGH_OWN:
        _forget(own)
    with _own_lock:
        own[_key(done)] = done
    kept = [memory for memory in memories if _FILLS or memory.reference_obj is not None]
    return queue._submit_keep_args_alive(kept, [done]) if kept else done, done


def _forget(own):
    """Lets the oldest events go if they are over. They are asked without the lock."""
    with _own_lock:
        oldest = list(itertools.islice(own.items(), _LOOKED_AT))
    for key, event in oldest:
        if event.execution_status != dpctl.event_status_type.complete:
            break
        with _own_lock:
            # Another thread may have been here.
            own.pop(key, None)


def _key(event):
    """What equal SYCL events have in common: a `sycl::event` is a shared pointer."""
    return POINTER.from_address(event.addressof_ref()).value
