"""What the CUDA driver answers about events that two processes share. The program behind that section of native-facts.md.

    python3 docs/probes/ipc_events.py [LIBRARY]

Prints each status beside its question. 0 is success, 600 not ready. A gate is a stream that waits for a word of host memory.
"""

import ctypes
import subprocess
import sys
import time

library = sys.argv[1] if len(sys.argv) > 1 else "libcuda.so.1"
cuda = ctypes.CDLL(library)
SHARED = 2 | 4  # disable timing, interprocess


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


cuda.cuIpcOpenEventHandle.argtypes = [ctypes.c_void_p, Handle]


def must(status, what):
    if status:
        sys.exit(f"{what}: {status}")


def context(device):
    out = ctypes.c_void_p()
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(out), device), "context")
    return out


def enter(chosen):
    must(cuda.cuCtxSetCurrent(chosen), "enter")


def make_event(flags):
    out = ctypes.c_void_p()
    return cuda.cuEventCreate(ctypes.byref(out), flags), out


def make_stream():
    out = ctypes.c_void_p()
    must(cuda.cuStreamCreate(ctypes.byref(out), 1), "stream")
    return out


def export(event):
    out = Handle()
    return cuda.cuIpcGetEventHandle(ctypes.byref(out), event), out


def open_event(handle):
    out = ctypes.c_void_p()
    return cuda.cuIpcOpenEventHandle(ctypes.byref(out), handle), out


class Gate:
    def __init__(self):
        self.host = ctypes.c_void_p()
        must(cuda.cuMemHostAlloc(ctypes.byref(self.host), 4096, 3), "host memory")
        self.word = ctypes.c_uint32.from_address(self.host.value)
        self.word.value = 0
        self.device = ctypes.c_uint64()
        must(cuda.cuMemHostGetDevicePointer_v2(ctypes.byref(self.device), self.host, 0), "its address")

    def block(self, stream):
        must(cuda.cuStreamWaitValue32_v2(stream, self.device, ctypes.c_uint32(1), 1), "wait for the word")

    def open(self):
        self.word.value = 1


def settled(question, seconds=1.0):
    """The answer, or what it was when `seconds` are over."""
    end = time.monotonic() + seconds
    while True:
        status = question()
        if status != 600 or time.monotonic() > end:
            return status


def count():
    out = ctypes.c_int()
    must(cuda.cuDeviceGetCount(ctypes.byref(out)), "count")
    return out.value


def child():
    """Does what its input says, a line a time, and answers each with a line."""
    must(cuda.cuInit(0), "init")
    contexts = [context(device) for device in range(count())]
    enter(contexts[0])
    events, streams, gates = {}, {}, {}
    for line in sys.stdin:
        verb, name, *rest = line.split()
        if verb == "device":
            enter(contexts[int(name)])
            answer = 0
        elif verb == "open":
            handle = Handle((ctypes.c_ubyte * 64)(*bytes.fromhex(rest[0])))
            answer, events[name] = open_event(handle)
        elif verb == "query":
            answer = cuda.cuEventQuery(events[name])
        elif verb == "settled":
            answer = settled(lambda: cuda.cuEventQuery(events[name]))
        elif verb == "wait":
            streams.setdefault(rest[0], make_stream() if rest[0] not in streams else None)
            answer = cuda.cuStreamWaitEvent(streams[rest[0]], events[name], 0)
        elif verb == "stream":
            answer = settled(lambda: cuda.cuStreamQuery(streams[name]))
        elif verb == "gated_record":
            gates[name] = Gate()
            if rest[0] not in streams:
                streams[rest[0]] = make_stream()
            gates[name].block(streams[rest[0]])
            answer = cuda.cuEventRecord(events[name], streams[rest[0]])
        elif verb == "plain_record":
            streams.setdefault(rest[0], make_stream())
            answer = cuda.cuEventRecord(events[name], streams[rest[0]])
        elif verb == "unblock":
            gates[name].open()
            answer = 0
        elif verb == "create":
            answer, events[name] = make_event(SHARED)
        elif verb == "export":
            answer, handle = export(events[name])
            answer = f"{answer} {bytes(handle.bytes).hex()}"
        elif verb == "same":
            answer = int(events[name].value == events[rest[0]].value)
        elif verb == "destroy":
            answer = cuda.cuEventDestroy_v2(events[name])
        print(answer, flush=True)


class Child:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__, library, "child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, line):
        """What it answers; nothing if it is gone, as after a crash of the driver."""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()
        except BrokenPipeError:
            return ""


def main():
    must(cuda.cuInit(0), "init")
    contexts = [context(device) for device in range(count())]
    enter(contexts[0])
    other = Child()

    def told(question, answer):
        print(f"{question}: {answer}", flush=True)

    told("an event for other processes with times", make_event(4)[0])
    plain = make_event(2)[1]
    told("the handle of an event that is not for other processes", export(plain)[0])
    status, event = make_event(SHARED)
    told("an event for other processes", status)
    status, handle = export(event)
    told("its handle", status)
    told("its handle once more, the same bytes", (export(event)[0], bytes(export(event)[1].bytes) == bytes(handle.bytes)))
    told("its bytes", bytes(handle.bytes).hex())
    told("opened in its own process", open_event(handle)[0])
    told("garbage opened", open_event(Handle())[0])
    text = bytes(handle.bytes).hex()
    told("opened elsewhere before any record", other(f"open a {text}"))
    told("asked there before any record", other("query a"))
    told("waited for there before any record", (other("wait a early"), other("stream early")))
    told("opened a second time", other(f"open b {text}"))
    told("the second is the first", other("same a b"))
    stream = make_stream()
    gate = Gate()
    gate.block(stream)
    told("recorded behind a gate", cuda.cuEventRecord(event, stream))
    told("asked there", (other("query a"), other("query b")))
    told("a stream there waits for it", (other("wait a one"), other("stream one")))
    second = Gate()
    second.block(stream)
    told("recorded again behind a second gate", cuda.cuEventRecord(event, stream))
    gate.open()
    told("the first gate open, the stream there", other("stream one"))
    told("the event there", other("settled a"))
    second.open()
    told("the second gate open, the event there, the stream there", (other("settled a"), other("stream one")))
    told("recorded there behind a gate", other("gated_record a three"))
    told("asked here", settled(lambda: cuda.cuEventQuery(event), 0.2))
    told("times of it", cuda.cuEventElapsedTime(ctypes.byref(ctypes.c_float()), event, event))
    mine = make_stream()
    told("a stream here waits for it", (cuda.cuStreamWaitEvent(mine, event, 0), settled(lambda: cuda.cuStreamQuery(mine), 0.2)))
    told("that gate open", other("unblock a"))
    told("the stream here", settled(lambda: cuda.cuStreamQuery(mine)))
    told("the event here", settled(lambda: cuda.cuEventQuery(event)))
    enter(contexts[0])
    out = ctypes.c_int()
    must(cuda.cuDeviceGetAttribute(ctypes.byref(out), 125, 0), "attribute")
    told("the device's attribute for such events", out.value)
    told("the handle of an opened event", other("export b").split()[0])
    third = Gate()
    third.block(stream)
    must(cuda.cuEventRecord(event, stream), "record")
    told("destroyed here with a record on its way", cuda.cuEventDestroy_v2(event))
    told("asked there", other("query a"))
    told("waited for there", (other("wait a last"), other("stream last")))
    third.open()
    told("the gate open, the event there, the stream there", (other("settled a"), other("stream last")))
    told("opened after it was destroyed", other(f"open late {text}"))
    told("destroyed there, both", (other("destroy a"), other("destroy b")))
    # The one that made it dies.
    other("create own")
    _, text = other("export own").split()
    status, mine = open_event(Handle((ctypes.c_ubyte * 64)(*bytes.fromhex(text))))
    told("opened here", status)
    told("recorded there behind a gate", other("gated_record own dying"))
    told("asked here", settled(lambda: cuda.cuEventQuery(mine), 0.2))
    other.process.kill()
    other.process.wait()
    told("its process killed, the event here", settled(lambda: cuda.cuEventQuery(mine)))
    told("recorded here then", cuda.cuEventRecord(mine, stream))
    told("asked then", settled(lambda: cuda.cuEventQuery(mine)))
    told("destroyed", cuda.cuEventDestroy_v2(mine))
    if len(contexts) > 1:
        elsewhere(told)


def elsewhere(told):
    """Two devices, and a process for each question that may end it: an empty answer is a process that crashed."""
    host = Child()
    host("create own")
    _, text = host("export own").split()
    told("opened with another device current", Child()(f"open a {text}"))
    for verb, what in (("wait", "waited for"), ("plain_record", "recorded"), ("gated_record", "recorded behind a gate")):
        guest = Child()
        guest("device 1")
        guest(f"open a {text}")
        told(f"opened there on another device and {what} there", guest(f"{verb} a far"))
        if verb == "gated_record":
            told("asked where it was made", host("query own"))
            told("asked there", guest("query a"))
            guest("unblock a")
        told("then there", (guest("settled a"), guest("stream far")))
        guest = Child()
        guest(f"open a {text}")
        guest("device 1")
        told(f"opened on its device and {what} on another", guest(f"{verb} a far"))
        told("then there", (guest("settled a"), guest("stream far")))
    maker = Child()
    maker("create own")
    maker("device 1")
    told("made here and recorded on another device", maker("plain_record own far"))
    maker = Child()
    maker("create own")
    maker("device 1")
    told("made here, never recorded, and waited for on another device", (maker("wait own far"), maker("stream far")))
    maker = Child()
    maker("create own")
    maker("gated_record own near")
    maker("device 1")
    told("made here, recorded behind a gate, and waited for on another device", (maker("wait own far"), maker("stream far")))
    maker("unblock own")
    told("then there", (maker("settled own"), maker("stream far")))


child() if "child" in sys.argv[2:] else main()
