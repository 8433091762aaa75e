"""Queues in and out of order: copies that name what they wait for, barriers, events, times."""
# leaks: primary context retain, event: dpctl keeps a list of devices with their contexts that nothing ever destroys, and the contexts what they keep.
import check
import dpctl
import dpctl.memory as memory
import numpy


def body():
    device = check.gpus()[0]
    for properties in (("in_order",), (), ("enable_profiling",), ("in_order", "enable_profiling")):
        queue = dpctl.SyclQueue(device, property=properties)
        assert queue.is_in_order == ("in_order" in properties)
        assert queue.has_enable_profiling == ("enable_profiling" in properties)
        a = memory.MemoryUSMDevice(1 << 20, queue=queue)
        b = memory.MemoryUSMDevice(1 << 20, queue=queue)
        back = numpy.zeros(1 << 20, dtype=numpy.uint8)
        for value in range(5):
            source = numpy.full(1 << 20, value, dtype=numpy.uint8)
            one = queue.memcpy_async(a, source, source.nbytes)
            two = queue.memcpy_async(b, a, source.nbytes, [one])
            barrier = queue.submit_barrier([two])
            three = queue.memcpy_async(back, b, source.nbytes, [barrier])
            three.wait()
            assert (back == value).all(), (properties, value)
            assert three.execution_status == dpctl.event_status_type.complete
        if "enable_profiling" in properties:
            assert 0 < three.profiling_info_submit <= three.profiling_info_start <= three.profiling_info_end
        queue.wait()


check.program("dpctl_queue", body)
