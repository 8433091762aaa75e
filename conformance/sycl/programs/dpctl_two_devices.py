"""Two devices: queues and memory of each, a copy from one to the other, a context of both."""
# leaks: primary context retain: dpctl keeps a list of devices with their contexts that nothing ever destroys, and the contexts what they keep.
import check
import dpctl
import dpctl.memory as memory
import numpy


def body():
    devices = check.gpus()
    if len(devices) < 2:
        raise check.Skipped("this machine has one device")
    context = dpctl.SyclContext(devices[:2])
    assert context.device_count == 2
    queues = [dpctl.SyclQueue(context, device, property="in_order") for device in devices[:2]]
    values = numpy.arange(4096, dtype=numpy.uint8)
    first = memory.MemoryUSMDevice(values.nbytes, queue=queues[0])
    second = memory.MemoryUSMDevice(values.nbytes, queue=queues[1])
    first.copy_from_host(values)
    second.copy_from_device(first)
    assert numpy.array_equal(second.copy_to_host(), values)
    assert second.sycl_device == devices[1]
    alone = memory.MemoryUSMDevice(values.nbytes, queue=dpctl.SyclQueue(devices[1]))
    alone.copy_from_device(first)
    assert numpy.array_equal(alone.copy_to_host(), values)


check.program("dpctl_two_devices", body)
