"""Bad input through dpctl: exceptions of Python, and everything works afterwards."""
import check
import dpctl
import dpctl.memory as memory
import numpy


def raises(work, *kinds):
    try:
        work()
    except kinds:
        return
    raise AssertionError(f"no {kinds} was raised")


def body():
    device = check.gpus()[0]
    queue = dpctl.SyclQueue(device, property="in_order")
    raises(lambda: memory.MemoryUSMDevice(0, queue=queue), ValueError, RuntimeError)
    raises(lambda: memory.MemoryUSMDevice(2 * device.global_mem_size, queue=queue), memory.USMAllocationError)
    block = memory.MemoryUSMDevice(64, queue=queue)
    raises(lambda: block.copy_from_host(numpy.zeros(65, dtype=numpy.uint8)), ValueError)
    raises(lambda: queue.memcpy(block, memory.MemoryUSMDevice(32, queue=queue), -1), OverflowError, ValueError, RuntimeError)
    raises(lambda: queue.memcpy(numpy.zeros(4), [1, 2], 4), TypeError)
    raises(lambda: dpctl.SyclQueue(device, property="nonsense"), ValueError)
    block.memset(3)
    assert (block.copy_to_host() == 3).all()


check.program("bad/dpctl_bad_input", body)
