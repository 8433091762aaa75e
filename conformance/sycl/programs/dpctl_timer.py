"""dpctl's timer reads the device's clock and the host's around work."""
# leaks: primary context retain, event: dpctl keeps a list of devices with their contexts that nothing ever destroys, and the contexts what they keep.
import check
import dpctl
import dpctl.memory as memory


def body():
    queue = dpctl.SyclQueue(check.gpus()[0], property="enable_profiling")
    timer = dpctl.SyclTimer()
    a = memory.MemoryUSMDevice(1 << 22, queue=queue)
    b = memory.MemoryUSMDevice(1 << 22, queue=queue)
    with timer(queue):
        for _ in range(10):
            b.copy_from_device(a)
    times = timer.dt
    assert times.host_dt > 0, times
    assert times.device_dt >= 0, times


check.program("dpctl_timer", body)
