"""USM of the three kinds as buffers of Python: copies with NumPy arrays and among themselves, what they say of themselves."""
# leaks: primary context retain: dpctl keeps a list of devices with their contexts that nothing ever destroys, and the contexts what they keep.
import check
import dpctl
import dpctl.memory as memory
import numpy


def body():
    queue = dpctl.SyclQueue(check.gpus()[0], property="in_order")
    kinds = {"device": memory.MemoryUSMDevice, "host": memory.MemoryUSMHost, "shared": memory.MemoryUSMShared}
    values = numpy.arange(10000, dtype=numpy.int32)
    for name, kind in kinds.items():
        source = kind(values.nbytes, queue=queue)
        assert source.get_usm_type() == name, source.get_usm_type()
        assert source.nbytes == values.nbytes
        source.copy_from_host(values.view(numpy.uint8))
        for other in kinds.values():
            target = other(values.nbytes, queue=queue)
            target.memset(0xFF)
            target.copy_from_device(source)
            back = target.copy_to_host().view(numpy.int32)
            assert numpy.array_equal(back, values), (name, other)
    shared = memory.MemoryUSMShared(4096, alignment=256, queue=queue)
    shared.memset(7)
    view = numpy.asarray(shared)
    assert (view == 7).all()
    view[:] = 9
    assert (numpy.frombuffer(shared.copy_to_host(), dtype=numpy.uint8) == 9).all()


check.program("dpctl_memory", body)
