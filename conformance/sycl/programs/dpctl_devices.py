"""dpctl lists the devices, and describes them as the same ones each time."""
import check
import dpctl


def body():
    devices = check.gpus()
    assert dpctl.SyclDevice("cuda:gpu:0") == devices[0]
    assert dpctl.SyclDevice("gpu") in devices
    assert len({hash(device) for device in devices}) == len(devices)
    for index, device in enumerate(devices):
        assert device.backend == dpctl.backend_type.cuda, device.backend
        assert device.max_compute_units > 0 and device.global_mem_size > 1 << 28 and device.name
        assert device.has_aspect_usm_device_allocations and device.has_aspect_fp64
        assert dpctl.SyclDevice(device.filter_string) == device
        assert device.get_unpartitioned_parent_device() == device
        assert dpctl.SyclDevice(f"cuda:gpu:{index}") == device
    for wrong in ("cuda:gpu:99", "level_zero:gpu:0", "nonsense"):
        try:
            dpctl.SyclDevice(wrong)
        except (dpctl.SyclDeviceCreationError, ValueError):
            continue
        raise AssertionError(f"{wrong} gave a device")


check.program("dpctl_devices", body)
